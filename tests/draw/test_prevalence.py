"""Measures against the prevalence."""

import numpy as np
import pytest

from baserate import Counts, Curve, FitError, OptionError, draw, read, shift, tally
from tests.draw.drawings import check_repainting, lines_of, make_tallies

COUNTS = Counts(tp=90.0, fn=10.0, fp=20.0, tn=80.0)


def test_drawing_stores_its_numbers_and_repaints_them() -> None:
    check_repainting(draw.prevalence(make_tallies(), prevalence=0.02))
    check_repainting(draw.prevalence(make_tallies(models=2, group=True), measures=["f1"], log=False))


def test_lines_follow_bayes_theorem() -> None:
    _, _, precision, _, npv, _ = lines_of(draw.prevalence(COUNTS, prevalence=0.02).ax)
    share = precision[:, 0]
    assert np.allclose(precision[:, 1], 0.9 * share / (0.9 * share + 0.2 * (1 - share)))
    assert np.allclose(npv[:, 1], 0.8 * (1 - share) / (0.8 * (1 - share) + 0.1 * share))


def test_marks_are_at_the_prevalence_of_sample_and_deployment() -> None:
    rows, there, _, dots, *_ = lines_of(draw.prevalence(COUNTS, prevalence=0.02).ax)
    assert rows[:, 0].tolist() == [0.5, 0.5]
    assert there[:, 0].tolist() == [0.02, 0.02]
    assert np.allclose(dots, [[0.5, 90 / 110], [0.02, 0.018 / (0.018 + 0.196)]])


def test_confusion_matrix_and_its_scores_give_the_same_lines() -> None:
    scores, table = (draw.prevalence(each) for each in (make_tallies(), Curve(make_tallies().tally).at(0.5)))
    other = draw.prevalence(make_tallies(), threshold=0.3)
    for part in ("value", "low", "high"):
        assert np.allclose(scores.parts["curve"].columns[part], table.parts["curve"].columns[part])
        assert not np.allclose(scores.parts["curve"].columns[part], other.parts["curve"].columns[part])


def test_thresholds_by_model() -> None:
    drawing = draw.prevalence(make_tallies(models=2), threshold={"risk0": 0.3, "risk1": 0.6}, measures=["precision"])
    cuts = dict(zip(drawing.parts["curve"].columns["model"], drawing.parts["curve"].columns["threshold"], strict=True))
    assert cuts == {"risk0": 0.3, "risk1": 0.6}
    assert "digest" not in drawing.numbers.data
    with pytest.raises(OptionError, match=r"the model risk1 has no threshold\. Give one"):
        draw.prevalence(make_tallies(models=2), threshold={"risk0": 0.3})


def test_labels_take_no_threshold() -> None:
    table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "says": [1, 0, 1, 0]}
    data = read.tallies(table, truth="sick", score="risk", predicted="says")
    result = draw.prevalence(data, threshold=0.7, measures=["precision"]).parts["marks"]
    assert [(row["model"], row["value"]) for row in result.rows()] == [("risk", 1.0), ("says", 1.0)]
    with pytest.raises(OptionError, match=r"labels, which are decisions\. Leave it out"):
        draw.prevalence(COUNTS, threshold=0.5)


@pytest.mark.parametrize("at", [0.00001, 0.99999])
def test_axis_extends_to_rare_and_frequent_marks(at: float) -> None:
    drawing = draw.prevalence(COUNTS, prevalence=at)
    shares = drawing.parts["curve"].columns["prevalence"]
    assert at in (min(shares), max(shares))
    assert len(shares) < 2000


def test_only_single_series_have_bands() -> None:
    drawing = draw.prevalence(make_tallies())
    assert len(drawing.ax.collections) == 2
    assert not draw.prevalence(make_tallies(group=True)).ax.collections
    rows = [row for row in drawing.parts["curve"].rows() if row["prevalence"] == 0.05]
    expected = shift.prevalence_curve(make_tallies(), ("precision", "npv"), prevalences=[0.05]).rows()
    assert [(row["low"], row["high"]) for row in rows] == [(row["low"], row["high"]) for row in expected]


def test_axes_are_logarithmic_percentages_and_shares() -> None:
    ax = draw.prevalence(make_tallies(), measures=["precision"]).ax
    assert ax.get_ylim() == (-0.02, 1.02)
    assert ax.get_xscale() == "log"
    assert ax.get_ylabel() == "Precision (PPV)"
    assert ax.xaxis.get_major_formatter()(0.01, 0) == "1%"
    assert draw.prevalence(make_tallies(), log=False).ax.get_xscale() == "linear"


def test_single_class_raises() -> None:
    with pytest.raises(FitError, match="no negatives; give rows of both"):
        draw.prevalence(tally([1, 1], [0.1, 0.2]))
    with pytest.raises(OptionError, match="prevalence is 2"):
        draw.prevalence(COUNTS, prevalence=2)
