"""Points that the line of a curve does not need: exact for ROC, as scikit-learn has it for the others."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import det_curve, precision_recall_curve, roc_curve

import baserate
from baserate import OptionError, measure, read
from tests.strategies import Array, Rows, few, rows

both = rows(few, min_size=2).filter(lambda data: 0 < data.truth.sum() < len(data.truth))
LINEAR = ("roc", "gain", "lorenz")


def axes_of(columns: dict[str, Array]) -> Array:
    return np.column_stack(list(columns.values())[1:])


def area(columns: dict[str, Array]) -> float:
    x, y = axes_of(columns).T
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def test_three_points_suffice_where_scikit_learn_has_four() -> None:
    truth, score = [0, 0, 0, 0, 1, 1, 1, 1], list(range(8))
    assert len(roc_curve(truth, score, drop_intermediate=True)[2]) == 4
    columns = measure.table(truth, score, "roc", drop_intermediate=True)
    assert columns["threshold"].tolist() == [np.inf, 4, 0]
    assert axes_of(columns).tolist() == [[0, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize("what", LINEAR)
@given(both)
def test_areas_stay_and_every_point_is_a_corner(what: str, data: Rows) -> None:
    full, short = (measure.table(data.truth, data.score, what, drop_intermediate=each) for each in (False, True))
    assert area(short) == pytest.approx(area(full), rel=1e-15, abs=1e-15)
    points = axes_of(short)
    assert (points[0] == axes_of(full)[0]).all()
    assert (points[-1] == axes_of(full)[-1]).all()
    for before, at, after in zip(points, points[1:], points[2:], strict=False):
        (a, b), (c, d) = at - before, after - at
        assert abs(a * d - b * c) > 1e-12
    # Every point that was left out lies on the line.
    order = slice(None, None, 1 if points[-1, 0] > points[0, 0] else -1)
    y = np.interp(axes_of(full)[:, 0], *points[order].T)
    inner = ~np.isin(axes_of(full)[:, 0], points[:, 0])
    np.testing.assert_allclose(y[inner], axes_of(full)[inner, 1], atol=1e-12)


@given(both)
def test_no_fewer_points_draw_the_roc_curve(data: Rows) -> None:
    columns = measure.table(data.truth, data.score, "roc", drop_intermediate=True)
    theirs = roc_curve(data.truth, data.score, drop_intermediate=True)
    assert set(columns["threshold"]) <= set(theirs[2])


def test_no_point_can_be_left_out() -> None:
    columns = measure.table([1, 0, 1, 1, 0, 0, 1], [7, 6, 5, 5, 4, 4, 3], "roc", drop_intermediate=True)
    points = axes_of(columns)
    for left in combinations(range(len(points)), len(points) - 1):
        rest = points[list(left)]
        assert {tuple(each) for each in rest} != {tuple(each) for each in points}
        gone = next(each for each in range(len(points)) if each not in left)
        if 0 < gone < len(points) - 1:
            step, other = points[gone] - points[gone - 1], points[gone + 1] - points[gone]
            assert step[0] * other[1] != step[1] * other[0]


@given(both)
def test_precision_recall_points_are_those_of_scikit_learn(data: Rows) -> None:
    columns = measure.table(data.truth, data.score, "pr", drop_intermediate=True)
    precision, recall, threshold = precision_recall_curve(data.truth, data.score, drop_intermediate=True)
    # Their last point has no threshold; ours begins where nothing is flagged.
    assert columns["threshold"][:0:-1].tolist() == threshold.tolist()
    np.testing.assert_allclose(columns["precision"][:0:-1], precision[:-1], rtol=1e-12)
    np.testing.assert_allclose(columns["sensitivity"][:0:-1], recall[:-1], rtol=1e-12)


@given(both)
def test_det_points_contain_those_of_scikit_learn(data: Rows) -> None:
    columns = measure.table(data.truth, data.score, "det", drop_intermediate=True)
    fpr, fnr, _ = det_curve(data.truth, data.score, drop_intermediate=True)
    ours = {(round(x, 9), round(y, 9)) for x, y in axes_of(columns)}
    # They also leave out points at either end, where a rate is 0 or 1.
    inner = (fnr > 0) & (fnr < 1) & (fpr > 0) & (fpr < 1)
    assert {(round(float(x), 9), round(float(y), 9)) for x, y in zip(fpr[inner], fnr[inner], strict=True)} <= ours
    full = axes_of(measure.table(data.truth, data.score, "det"))
    for rate in np.unique(full[:, 1]):
        level = full[full[:, 1] == rate, 0]
        assert {(round(float(x), 9), round(float(rate), 9)) for x in (level.min(), level.max())} <= ours


def test_weighted_points_and_several_curves() -> None:
    truth, score, weight = [1, 1, 1, 0, 0], [5, 4, 3, 2, 1], [0.1, 0.7, 0.2, 0.3, 0.1]
    short = measure.table(truth, score, "roc", weight=weight, drop_intermediate=True)
    assert short["threshold"].tolist() == [np.inf, 3, 1]
    both_curves = measure.table(truth, score, "roc", "pr", weight=weight, drop_intermediate=True)
    # A point stays that one of the curves needs.
    assert both_curves["threshold"].tolist() == [np.inf, 5, 4, 3, 1]


def test_tables_of_groups_and_a_number_of_points() -> None:
    table = {"y": [1, 0, 1, 0, 1, 0], "p": [6, 5, 4, 3, 2, 1], "g": list("aabbbb")}
    tallies = read.tallies(table, truth="y", score="p", group="g")
    results = measure.curves(tallies, "roc", drop_intermediate=True)
    assert len(results.rows()) < len(measure.curves(tallies, "roc").rows()) + 1
    assert len(measure.curves(tallies, "roc", drop_intermediate=True, points=2).rows()) == 3 * 2


@pytest.mark.parametrize("what", ["lift", "precision", measure.f1])
def test_other_columns_are_refused(what: str) -> None:
    with pytest.raises(OptionError, match="drop_intermediate= is for roc, gain, lorenz, pr and det"):
        measure.table([1, 0], [0.2, 0.1], what, drop_intermediate=True)


@given(st.integers(1, 5))
def test_constant_scores_have_two_points(size: int) -> None:
    curve = baserate.curve([1] * size + [0], [0.5] * (size + 1))
    assert len(measure.table(curve, "roc", drop_intermediate=True)["threshold"]) == 2
