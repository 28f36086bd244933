"""Measures by group."""

from itertools import pairwise

import numpy as np
import pytest

from baserate import Cut, OptionError, Policy, Tallies, draw, fairness, read, tally
from tests.draw.drawings import check_repainting, lines_of, make_tallies, panels_of, spans_of


def make_many_groups(groups: int, rows: int = 2000) -> Tallies:
    """Return tallies of many groups of very different sizes, with long names."""
    rng = np.random.default_rng(4)
    sick = rng.random(rows) < 0.4
    table = {
        "sick": sick,
        "risk": np.clip(0.3 * sick + 0.7 * rng.random(rows), 0, 1),
        "site": [f"a very long name of a place in $ number {at}" for at in rng.integers(0, groups, rows)],
    }
    return read.tallies(table, truth="sick", score="risk", group="site")


def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    drawing = draw.groups(make_tallies(group=True, models=2))
    check_repainting(drawing)
    again = drawing.plot()
    for one, other in zip(panels_of(drawing.ax), panels_of(again.ax), strict=True):
        assert all(map(np.array_equal, lines_of(one), lines_of(other)))
    assert tuple(again.figure.get_size_inches()) == tuple(drawing.figure.get_size_inches())


def test_dots_and_intervals_are_those_of_the_table() -> None:
    drawing = draw.groups(make_tallies(group=True), threshold=0.4, measures=["sensitivity", "auc"], level=0.9)
    for panel, measure in zip(panels_of(drawing.ax), ("sensitivity", "auc"), strict=True):
        expected = fairness.group_table(make_tallies(group=True), policy=0.4, measures=[measure]).columns["value"]
        dots = [line[0] for line in lines_of(panel) if len(line) == 1]
        assert [x for x, _ in dots] == list(expected)
        assert [y for _, y in dots] == [0, 1, 2]
        rows = [row for row in drawing.rows() if row["measure"] == measure]
        assert spans_of(panel, 0) == [[row["low"], row["high"]] for row in rows]
        assert {row["level"] for row in rows} == {0.9}


def test_names_contain_counts_and_few_rows_have_hollow_dots() -> None:
    drawing = draw.groups(make_tallies(60, group=True), measures=["flag_rate"])
    (panel,) = panels_of(drawing.ax)
    counts = [row["rows"] for row in drawing.rows()]
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert names == [
        f"{name} (n\u00a0=\u00a0{rows})" for name, rows in zip(("everybody", "north", "south"), counts, strict=True)
    ]
    hollow = [line.get_markerfacecolor() == "white" for line in panel.get_lines() if len(line.get_xdata()) == 1]  # type: ignore[arg-type]
    assert hollow == [row["small"] for row in drawing.rows()]
    assert [text.get_text() for text in drawing.ax.texts] == ["Site"]


def test_policy_in_place_of_a_threshold() -> None:
    data = make_tallies(group=True)
    policy = Policy(by_group={(): Cut((0.7,))}, otherwise="refuse")
    result, other = draw.groups(data, policy=policy), draw.groups(data, threshold=0.7)
    assert result.numbers.columns["value"] == other.numbers.columns["value"]
    with pytest.raises(OptionError, match="Leave out one"):
        draw.groups(data, policy=policy, threshold=0.7)


def test_undefined_measures_have_no_dot() -> None:
    rows = {"sick": [1, 0, 0, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    data = read.tallies(rows, truth="sick", score="risk", group="sex")
    (panel,) = panels_of(draw.groups(data, measures=["sensitivity"]).ax)
    assert sorted(line[0, 1] for line in lines_of(panel) if len(line) == 1) == [0, 1]


@pytest.mark.slow
def test_fifty_groups_fit_and_long_names_are_shortened() -> None:
    result, few = draw.groups(make_many_groups(50)), draw.groups(make_many_groups(2))
    result.figure.draw_without_rendering()
    labels = result.ax.child_axes[0].get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert len(boxes) == 51
    assert all(upper.y0 >= lower.y1 - 1 for upper, lower in pairwise(boxes))
    assert all(box.x0 >= 0 and box.x1 <= result.figure.bbox.x1 for box in boxes)
    assert result.figure.get_size_inches()[1] > few.figure.get_size_inches()[1]
    assert labels[1].get_text().startswith("a very long name of a place in \\$\nnumber 0")
    assert "…" not in str(result.rows()[1]["group"])


def test_data_without_groups_raise() -> None:
    with pytest.raises(OptionError, match="group="):
        draw.groups(make_tallies())
    with pytest.raises(OptionError, match="Tally has no groups"):
        draw.groups(tally([0, 1], [0.1, 0.9]))
