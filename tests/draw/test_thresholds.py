"""Measures against the threshold."""

from math import inf

import numpy as np
import pytest

from baserate import NotBinaryError, OptionError, UnknownNameError, curve, decide, draw, infer, measure, shift, tally
from tests.draw.drawings import check_repainting, legend_of, lines_of, make_tallies

TALLY = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])


def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    check_repainting(draw.thresholds(make_tallies(), threshold=[0.3, 0.5]))
    check_repainting(draw.thresholds(make_tallies(), "precision", "npv", band=True, prevalence=0.02))


def test_lines_are_constant_between_scores() -> None:
    drawing = draw.thresholds(TALLY, "sensitivity")
    (line,) = drawing.ax.get_lines()
    assert line.get_drawstyle() == "steps-post"
    path = np.asarray(line.get_path().cleaned().vertices)
    for at in (0.95, 0.9, 0.85, 0.8, 0.75, 0.61, 0.6, 0.5, 0.3, 0.2, 0.1):
        x = np.asarray(line.get_xdata(), dtype=float)
        place = np.flatnonzero(x >= at)[-1]
        assert np.asarray(line.get_ydata())[place] == measure.sensitivity(curve(TALLY).at(at))
    assert path[:, 0].min() == 0
    assert path[:, 0].max() == 1


def test_numbers_equal_those_of_measure() -> None:
    rows = draw.thresholds(make_tallies()).parts["curve"].rows()
    names = list(dict.fromkeys(row["measure"] for row in rows))
    assert names == ["sensitivity", "specificity", "precision", "f1", "flag_rate"]
    for name in names:
        own = {row["threshold"]: row["value"] for row in rows if row["measure"] == name}
        whole = measure.curves(make_tallies(), name).rows()
        expected = {row["threshold"]: row[name] for row in whole}
        assert own == {at: expected[at] for at in own}
        assert {inf, *list(expected)[-1:]} <= {*own}


def test_bands_are_those_of_infer_at_the_prevalence() -> None:
    there = shift.reweigh(make_tallies(), prevalence=0.02)
    result = draw.thresholds(make_tallies(), "precision", band=True, level=0.9, prevalence=0.02).parts["curve"]
    expected = infer.confidence_bands(there, "precision", level=0.9, points=300)
    for mine, other in (("value", "precision"), ("low", "low"), ("high", "high")):
        assert np.array_equal(result.columns[mine], expected.columns[other], equal_nan=True)
    assert "90% confidence band, pointwise" in legend_of(draw.thresholds(make_tallies(), band=True, level=0.9).ax)


def test_marks_are_lines_with_their_numbers() -> None:
    chosen = decide.youden(curve(TALLY))
    drawing = draw.thresholds(TALLY, "precision", threshold=[0.65, inf], policy=chosen)
    assert [line[0, 0] for line in lines_of(drawing.ax)[1:]] == [0.65, chosen.threshold]
    assert drawing.parts["marks"].rows()[0]["precision"] == 2 / 3
    assert legend_of(drawing.ax)[-2:] == ["Threshold 0.65", "Policy youden"]


def test_measures_beyond_0_to_1_extend_the_axis() -> None:
    assert draw.thresholds(TALLY, "f1").ax.get_ylim() == (-0.02, 1.02)
    top = draw.thresholds(make_tallies(), "lift").ax.get_ylim()[1]
    assert top > 2
    assert draw.thresholds(TALLY, "precision").ax.get_ylabel() == "Precision (PPV)"
    assert draw.thresholds(tally([1, 0, 1], [-3, 5, 10])).ax.get_lines()[0].get_xdata()[0] == 10  # type: ignore[index]


def test_constant_scores_and_one_class_are_drawn() -> None:
    constant = draw.thresholds(tally([1, 0], [0.5, 0.5]), "sensitivity")
    assert lines_of(constant.ax)[0].tolist() == [[1, 0], [0.5, 1], [0, 1]]
    single = draw.thresholds(tally([True, True], [0.5, 0.6]), "sensitivity", "specificity")
    assert np.isnan(lines_of(single.ax)[1][:, 1]).all()


def test_invalid_options_raise() -> None:
    with pytest.raises(OptionError, match="several models"):
        draw.thresholds(make_tallies(models=2))
    with pytest.raises(UnknownNameError, match="no measure"):
        draw.thresholds(TALLY, "sense")
    with pytest.raises(OptionError, match="auc has one value for a whole curve"):
        draw.thresholds(TALLY, "auc")
    with pytest.raises(OptionError, match="simultaneous bands exist for roc and det only"):
        draw.thresholds(TALLY, "f1", band="simultaneous")  # type: ignore[call-overload]
    with pytest.raises(NotBinaryError, match="no negatives"):
        draw.thresholds(tally([True, True], [0.5, 0.6]), prevalence=0.1)


def test_constant_parts_are_drawn_to_their_ends() -> None:
    rng = np.random.default_rng(4)
    score = rng.random(5000)
    result = draw.thresholds(tally(score > 0.3, score), "precision").parts["curve"].rows()
    assert max(row["threshold"] for row in result if row["value"] is not None) > score.max() - 0.01
    between = [row["threshold"] for row in result if 0.4 < row["threshold"] < 0.9]
    assert len(between) > 50  # where precision is 1 at every threshold
