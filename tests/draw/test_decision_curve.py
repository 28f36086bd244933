"""Decision curves."""

from typing import Any

import numpy as np
import pytest

from baserate import NotAProbabilityError, OptionError, decide, draw, tally
from tests.draw.drawings import check_repainting, lines_of, make_tallies

TALLY = tally([1, 0, 1, 0, 0], [0.9, 0.6, 0.4, 0.2, 0.1])


def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    check_repainting(draw.decision_curve(make_tallies()))
    check_repainting(draw.decision_curve(make_tallies(models=2, group=True), level=None))


def test_net_benefit_by_hand() -> None:
    ax = draw.decision_curve(TALLY, thresholds=[0.1, 0.3, 0.5]).ax
    none, everybody, model, _, useful = lines_of(ax)
    assert none[:, 1].tolist() == [0, 0]
    # Of five, two are positive: flagging all at ½ finds 2 and errs 3 times.
    assert np.allclose(everybody, [[0.1, 0.4 - 0.6 / 9], [0.3, 0.4 - 0.6 * 3 / 7], [0.5, -0.2]])
    assert np.allclose(model, [[0.1, 0.4 - 0.6 / 9], [0.3, 0.4 - 0.2 * 3 / 7], [0.5, 0]])
    assert useful[:, 0].tolist() == [0.3, 0.3]


def test_numbers_are_those_of_decide_at_the_stated_prevalence() -> None:
    drawing = draw.decision_curve(make_tallies(), prevalence=0.05)
    expected = decide.net_benefit_curve(make_tallies(), prevalence=0.05)
    assert sum(len(drawing.parts[name]) for name in ("model", "all", "none")) == len(expected)
    model = [row["net_benefit"] for row in expected.rows() if row["strategy"] == "model"]
    assert lines_of(drawing.ax)[2][:, 1].tolist() == model
    ranges = [[row["low"], row["high"]] for row in drawing.parts["useful"].rows()]
    assert ranges == expected.data["useful"][0]["ranges"]


@pytest.mark.parametrize("models", [1, 3])
def test_legend_states_whether_scores_were_adjusted(models: int) -> None:
    def legend_title(**options: Any) -> str:  # noqa: ANN401
        legend = draw.decision_curve(make_tallies(models=models), **options).ax.get_legend()
        assert legend is not None
        return legend.get_title().get_text()

    assert legend_title(prevalence=0.05) == "At 5% prevalence, scores adjusted"
    assert legend_title(prevalence=0.05, sample_prevalence="deployment") == "At 5% prevalence, scores not adjusted"
    assert legend_title() == ""
    assert legend_title(sample_prevalence=0.5).endswith("prevalence, scores adjusted")


def test_adjusted_scores_are_those_of_decide() -> None:
    origins: tuple[Any, ...] = (None, 0.5, "deployment")
    for origin in origins:
        drawing = draw.decision_curve(make_tallies(), prevalence=0.05, sample_prevalence=origin)
        expected = decide.net_benefit_curve(make_tallies(), prevalence=0.05, sample_prevalence=origin)
        model = [row["net_benefit"] for row in expected.rows() if row["strategy"] == "model"]
        assert lines_of(drawing.ax)[2][:, 1].tolist() == model
        assert drawing.parts["model"].data["scores"] == expected.data["scores"]


def test_the_axis_is_limited_below() -> None:
    low, high = draw.decision_curve(make_tallies()).ax.get_ylim()
    assert -0.25 * high < low < 0


@pytest.mark.parametrize(("grouped", "lines"), [(False, 1), (True, 3)])
def test_equal_lines_of_flagging_all_are_drawn_once(grouped: bool, lines: int) -> None:  # noqa: FBT001
    data = make_tallies(group=True) if grouped else make_tallies(models=3)
    dotted = [line for line in draw.decision_curve(data).ax.get_lines() if line.get_linestyle() == ":"]
    assert len(dotted) == lines


def test_bands_are_of_a_single_model_with_a_level() -> None:
    assert len(draw.decision_curve(make_tallies()).ax.collections) == 1
    assert not draw.decision_curve(make_tallies(), level=None).ax.collections
    assert not draw.decision_curve(make_tallies(models=2)).ax.collections


@pytest.mark.parametrize("kind", ["net_benefit", "standardized", "net_reduction"])
def test_kinds_draw_their_columns_with_bands(kind: Any) -> None:  # noqa: ANN401
    options: dict[str, Any] = {"thresholds": [0.1, 0.3, 0.5], "harm": 0.01}
    drawing = draw.decision_curve(make_tallies(), kind=kind, **options)
    check_repainting(drawing)
    expected = decide.net_benefit_curve(make_tallies(), **options)
    rows = [row for row in expected.rows() if row["strategy"] == "model"]
    assert lines_of(drawing.ax)[2][:, 1].tolist() == [row[kind] for row in rows]
    bounds = "" if kind == "net_benefit" else f"{kind}_"
    corners = drawing.ax.collections[0].get_paths()[0].vertices
    assert {row[f"{bounds}low"] for row in rows} <= set(np.asarray(corners)[:, 1])
    titles = {"net_benefit": "Net benefit", "standardized": "Standardized net benefit"}
    assert drawing.ax.get_ylabel() == titles.get(kind, "Net interventions avoided per 100")


def test_net_interventions_avoided_are_per_100() -> None:
    ax = draw.decision_curve(TALLY, kind="net_reduction", thresholds=[0.1, 0.3, 0.5]).ax
    everybody, none, *_ = lines_of(ax)
    assert everybody[:, 1].tolist() == [0, 0]
    # Of five, three are negative, and two positive: flagging none avoids 3 and misses 2.
    assert np.allclose(none[:, 1], [0.6 - 0.4 * 9, 0.6 - 0.4 * 7 / 3, 0.2])
    assert ax.yaxis.get_major_formatter()(-0.25) == "−25"


def test_simultaneous_bands_are_of_every_model() -> None:
    drawing = draw.decision_curve(make_tallies(models=3), band="simultaneous", seed=1)
    check_repainting(drawing)
    assert len(drawing.ax.collections) == 3
    legend = drawing.ax.get_legend()
    assert legend is not None
    assert "95% simultaneous band" in [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "benefit"}, "kind is 'benefit'; expected one of 'net_benefit', 'standardized', 'net_reduction'"),
        ({"band": "both"}, "band is 'both'; expected one of 'pointwise', 'simultaneous'"),
    ],
)
def test_wrong_choices_raise(options: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(OptionError, match=message):
        draw.decision_curve(TALLY, **options)


def test_single_class_is_drawn_and_other_scores_raise() -> None:
    drawing = draw.decision_curve(tally([0, 0, 0], [0.1, 0.5, 0.9]))
    assert not len(drawing.parts["useful"])
    with pytest.raises(NotAProbabilityError):
        draw.decision_curve(tally([0, 1], [-1, 3]))
