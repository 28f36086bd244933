"""Score distributions of both classes."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import (
    Counts,
    Cut,
    OptionError,
    Policy,
    Tallies,
    UnknownNameError,
    curve,
    decide,
    draw,
    measure,
    read,
    tally,
)
from tests.draw.drawings import check_repainting, legend_of, lines_of, make_tallies
from tests.strategies import Rows, rows

TALLY = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])


def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    check_repainting(draw.scores(make_tallies(), threshold=[0.3, 0.5]))
    check_repainting(draw.scores(make_tallies(models=2, group=True), model="risk1", bins=7))


@given(rows(st.floats(-50, 50) | st.floats(0, 1)), st.floats(-60, 60), st.integers(1, 30))
def test_bins_above_a_threshold_contain_the_flagged_rows(data: Rows, at: float, bins: int) -> None:
    own = tally(data.truth, data.score, positive=True)
    parts = draw.scores(own, threshold=at, bins=bins).parts
    table = curve(own).at(at)
    result = parts["bins"].rows()
    for name, flagged, all_of in (("positives", table.tp, table.positives), ("negatives", table.fp, table.negatives)):
        above = [row for row in result if row["class"] == name and row["from"] >= at]
        assert sum(row["mass"] for row in above) == (flagged if above else 0)
        assert sum(row["mass"] for row in result if row["class"] == name) == all_of
        shares = [row["share"] for row in result if row["class"] == name]
        assert sum(shares) == pytest.approx(1) if all_of else set(shares) == {None}
    edges = {row["from"] for row in result} | {row["to"] for row in result}
    assert at in edges


def test_bins_have_nearly_equal_widths() -> None:
    result = draw.scores(make_tallies(), threshold=0.4321, bins=20).parts["bins"].rows()
    widths = [row["to"] - row["from"] for row in result]
    assert max(widths) < 1.2 * min(widths)
    assert result[0]["from"] == 0
    assert result[-1]["to"] == 1


def test_a_score_at_an_edge_belongs_to_the_bin_above() -> None:
    scores = [at / 10 for at in range(10)]
    result = draw.scores(tally([1] * 10 + [0], [*scores, 0.0]), bins=10).parts["bins"].rows()
    assert [row["from"] for row in result[:10]] == scores
    assert [row["mass"] for row in result[:10]] == [1] * 10


def test_axis_of_other_scores_runs_from_lowest_to_highest() -> None:
    result = draw.scores(tally([1, 0, 1], [-3, 5, 10]), bins=4).parts["bins"].rows()
    assert (result[0]["from"], result[-1]["to"]) == (-3, 10)
    for score in (7, -1e90):
        constant = draw.scores(tally([1, 0], [score, score]), threshold=score).parts["bins"].rows()
        assert sum(row["share"] for row in constant) == 2
    with pytest.raises(OptionError, match=r"scores of score reach 1e\+305, beyond the range of an axis"):
        draw.scores(tally([1, 0], [1e305, 0]))


def test_the_legend_gives_the_flagged_shares() -> None:
    drawing = draw.scores(TALLY, threshold=[0.65, inf])
    assert legend_of(drawing.ax) == [
        "Positives (n = 3)",
        "Negatives (n = 3)",
        "Threshold 0.65: sensitivity 66.7%, FPR 33.3%",
    ]
    assert [line.tolist() for line in lines_of(drawing.ax)] == [[[0.65, 0], [0.65, 1]]]


def test_single_class_is_drawn() -> None:
    drawing = draw.scores(tally([True, True], [0.1, 0.6]), threshold=0.5)
    assert legend_of(drawing.ax) == ["Positives (n = 2)", "Threshold 0.5: sensitivity 50.0%"]


def test_weights_change_masses_but_not_rows() -> None:
    heavy = tally([1, 1, 0], [0.1, 0.9, 0.5], weight=[3.0, 1.0, 1.0])
    result = draw.scores(heavy, bins=2).parts["bins"].rows()
    assert [row["share"] for row in result[:2]] == [0.75, 0.25]
    assert [row["rows"] for row in result[:2]] == [1, 1]


def test_groups_are_pooled_and_policies_need_one_threshold() -> None:
    table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    grouped = read.tallies(table, truth="sick", score="risk", group="sex")
    assert len(draw.scores(grouped, threshold=0.5).parts["marks"]) == 1
    chosen = decide.youden(curve(grouped.pooled("risk")))
    (mark,) = draw.scores(grouped, policy=chosen).parts["marks"].rows()
    assert mark["threshold"] == chosen.threshold
    assert mark["sensitivity"] == measure.sensitivity(curve(grouped.pooled("risk")).at(chosen.threshold))
    apart = Policy(by_group={("f",): Cut((0.7,)), ("m",): Cut((0.3,))}, otherwise="refuse", attributes=("sex",))
    with pytest.raises(OptionError, match="the policy fixed has no single threshold"):
        draw.scores(grouped, policy=apart)


def test_several_models_need_a_name() -> None:
    several = make_tallies(models=2)
    with pytest.raises(OptionError, match=r"several models \(risk0, risk1\), but this figure shows one; name it"):
        draw.scores(several)
    with pytest.raises(UnknownNameError, match="no model 'risk9'"):
        draw.scores(several, model="risk9")
    with pytest.raises(OptionError, match="bins is 0"):
        draw.scores(TALLY, bins=0)
    named = draw.scores(several, model="risk1").parts["bins"].rows()
    alone = draw.scores(Tallies({"risk1": several.models["risk1"]})).parts["bins"].rows()
    assert named == alone


def test_predicted_labels_raise() -> None:
    table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "says": [1, 1, 0, 0]}
    both = read.tallies(table, truth="sick", score="risk", predicted="says")
    assert np.isclose(sum(row["share"] for row in draw.scores(both).parts["bins"].rows()), 2)
    with pytest.raises(OptionError, match="labels have no scores"):
        draw.scores(both, model="says")
    with pytest.raises(OptionError, match="labels have no scores"):
        draw.scores({"rule": Counts(tp=1, fp=1, fn=1, tn=1)})
