"""Precision–recall curves."""

import numpy as np
import pytest
from hypothesis import given

from baserate import Counts, FitError, NotBinaryError, curve, draw, measure, shift, tally
from tests.draw.drawings import check_repainting, legend_of, lines_of, make_tallies
from tests.strategies import Rows, rows

TALLY = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])


@pytest.mark.slow
def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    check_repainting(draw.pr(make_tallies(models=2), threshold=[0.3, 0.5], prevalence=0.02))
    check_repainting(draw.pr(make_tallies(group=True), band=True, iso_f1=False))
    check_repainting(draw.pr({"risk": TALLY, "rule": Counts(tp=2, fp=1, fn=1, tn=2)}))


@given(rows())
def test_area_of_the_steps_is_average_precision(data: Rows) -> None:
    if data.truth.all() or not data.truth.any():
        return
    own = tally(data.truth, data.score)
    drawing = draw.pr(own, iso_f1=False)
    (line, *_) = drawing.ax.get_lines()
    assert line.get_drawstyle() == "steps-pre"
    recall, precision = np.asarray(line.get_xydata()).T
    assert np.nansum(np.diff(recall) * precision[1:]) == pytest.approx(measure.average_precision(curve(own)))


def test_prevalence_reweights_curve_points_marks_and_chance() -> None:
    rule = Counts(tp=2, fp=1, fn=1, tn=2)
    parts = draw.pr({"risk": TALLY, "rule": rule}, prevalence=0.1, threshold=0.65).parts
    expected = measure.table(shift.reweigh(curve(TALLY), prevalence=0.1), "pr")
    assert np.array_equal(parts["curve"].columns["precision"], expected["precision"], equal_nan=True)
    there = measure.precision(shift.reweigh(rule, prevalence=0.1))
    assert parts["points"].rows()[0]["precision"] == pytest.approx(there)
    assert parts["marks"].rows()[0]["precision"] == pytest.approx(there)
    assert parts["prevalence"].rows()[0]["precision"] == pytest.approx(0.1)
    assert parts["average_precision"].rows()[0]["value"] == pytest.approx(
        measure.average_precision(shift.reweigh(curve(TALLY), prevalence=0.1))
    )


def test_lines_of_equal_f1() -> None:
    result = draw.pr(TALLY).parts["iso_f1"]
    recall, precision, f1 = (np.asarray(result.columns[name]) for name in ("sensitivity", "precision", "f1"))
    assert np.allclose(2 * precision * recall / (precision + recall), f1)
    assert precision.max() == pytest.approx(1)
    assert np.unique(f1).tolist() == [0.2, 0.4, 0.6, 0.8]
    assert {text.get_text() for text in draw.pr(TALLY).ax.texts} == {"F1 0.2", "F1 0.4", "F1 0.6", "F1 0.8"}


def test_groups_have_prevalences_of_their_own() -> None:
    assert any("Chance: prevalence 50%" in label for label in legend_of(draw.pr(TALLY).ax))
    drawing = draw.pr(make_tallies(group=True), iso_f1=False)
    assert "Chance: prevalence of each" in legend_of(drawing.ax)
    shares = [row["precision"] for row in drawing.parts["prevalence"].rows()]
    assert shares == [tally_.prevalence for *_, tally_ in make_tallies(group=True).walk()]
    assert [line[0, 1] for line in lines_of(drawing.ax)[-3:]] == shares


def test_precision_is_undefined_where_nothing_is_flagged() -> None:
    line = lines_of(draw.pr(TALLY, iso_f1=False).ax)[0]
    assert np.isnan(line[0, 1])
    assert np.isnan(lines_of(draw.pr(TALLY, threshold=2.0, iso_f1=False).ax)[1][0, 1])


def test_single_class_raises() -> None:
    with pytest.raises(FitError, match="precision–recall curve needs both classes, and there are no positives"):
        draw.pr(tally([False, False], [0.1, 0.2]))
    with pytest.raises((FitError, NotBinaryError), match="no negatives"):
        draw.pr(tally([True, True], [0.1, 0.2]), prevalence=0.1)
