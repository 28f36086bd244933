"""Types of one classifier: errors of their constructors, and immutability."""

import dataclasses
import gc
import math
import weakref

import numpy as np
import pytest

from baserate import (
    Confusion,
    Costs,
    Counts,
    Estimate,
    FileFormatError,
    MissingValuesError,
    OptionError,
    ShapeError,
    Tally,
    WeightError,
    curve,
    tally,
)
from baserate._tally import once_per_tally


def test_invalid_counts_raise() -> None:
    with pytest.raises(WeightError, match="1 of 1 values of fp are negative, NaN or infinite"):
        Counts(tp=1, fp=-1, fn=0, tn=0)
    with pytest.raises(WeightError, match="2 of 3 values of tn"):
        Counts(np.zeros(3), np.zeros(3), np.zeros(3), np.array([1, np.nan, np.inf]))
    with pytest.raises(ShapeError, match=r"shapes \[\(2,\), \(3,\)\]; give four scalars or four arrays"):
        Counts(tp=np.zeros(2), fp=np.zeros(3), fn=np.zeros(2), tn=np.zeros(2))


def test_counts_index_and_swap_with_their_moments() -> None:
    weighted = curve(tally([1, 0, 1, 0], [4, 3, 2, 1], weight=[0.5, 2, 2, 1])).counts
    last = weighted[-2]
    assert (last.tp, last.fp, last.fn, last.tn) == (2.5, 2, 0, 1)
    assert (last.squares.tp, last.squares.fp) == (4.25, 4)
    assert (last.rows.tp, last.rows.tn) == (2, 1)
    assert (last.swap_classes().squares.tn, last.swap_classes().rows.fn) == (4.25, 1)
    assert last.shape == ()
    assert weighted.shape == (5,)


def test_counts_reverse_with_their_moments() -> None:
    weighted = curve(tally([1, 0, 1, 0], [4, 3, 2, 1], weight=[0.5, 2, 2, 1])).counts[2].reverse_decisions()
    assert (weighted.tp, weighted.fp, weighted.fn, weighted.tn) == (2, 1, 0.5, 2)
    assert (weighted.squares.tp, weighted.squares.fn, weighted.squares.fp) == (4, 0.25, 1)
    assert (weighted.rows.tp, weighted.rows.tn) == (1, 1)
    again = weighted.reverse_decisions()
    assert (again.tp, again.squares.fp, again.positives) == (0.5, 4, weighted.positives)


def test_plain_counts_are_their_own_squares_and_rows() -> None:
    c = Counts(tp=1, fp=2, fn=3, tn=4)
    assert c.squares is c
    assert c.rows is c


def test_types_are_frozen_with_their_arrays() -> None:
    t = tally([1, 0], [0.9, 0.1], weight=[1, 2])
    for array in (t.score, t.mass, t.squares, t.rows, curve(t).counts.tp):
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(array)[0] = 7
    for noun, field in ((t, "score"), (curve(t), "tally"), (Counts(1, 2, 3, 4), "tp"), (Costs(), "fp")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(noun, field, None)


def test_types_copy_writable_arrays() -> None:
    score, cells, tp = np.array([2.0, 1.0]), np.array([[1, 2], [3, 4]]), np.array([1.0, 2.0])
    t, c = Tally.from_counts(score, cells), Counts(tp, tp, tp, tp)
    score[0], cells[0, 0], tp[0] = 9, 9, 9
    assert (t.score[0], t.mass[0, 0], np.asarray(c.tp)[0]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("score", "rows", "error", "message"),
    [
        ([1.0, 2.0], [[1, 1], [1, 1]], ShapeError, "distinct and decreasing; let baserate.tally"),
        ([1.0, 1.0], [[1, 1], [1, 1]], ShapeError, "distinct and decreasing"),
        ([[1.0]], [[1], [1]], ShapeError, r"shape \(1, 1\); give one dimension"),
        ([math.inf], [[1], [1]], MissingValuesError, "NaN or infinite"),
        ([math.nan], [[1], [1]], MissingValuesError, "NaN or infinite"),
        ([2.0, math.nan, 1.0], [[1] * 3, [1] * 3], ShapeError, "distinct and decreasing"),
        ([1.0], [[1, 1], [1, 1]], ShapeError, "rows has shape"),
        ([1.0], [[-1], [1]], WeightError, "rows holds negative, NaN or infinite numbers"),
        ([1.0], [[0.5], [1]], WeightError, "rows holds fractions"),
    ],
)
def test_invalid_tallies_raise(
    score: list[float], rows: list[list[float]], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Tally.from_counts(score, rows)


def test_invalid_mass_raises() -> None:
    rows, bad = np.array([[1], [1]]), np.array([[1.0], [np.inf]])
    with pytest.raises(WeightError, match="mass holds negative, NaN or infinite"):
        Tally(np.array([1.0]), bad, rows, rows)
    with pytest.raises(ShapeError, match="squares has shape"):
        Tally(np.array([1.0]), rows, rows.T, rows)


def test_tallies_only_add_with_tallies() -> None:
    t = tally([1, 0], [2, 1])
    assert (0 + t) is t
    with pytest.raises(TypeError):
        _ = t + 1
    with pytest.raises(TypeError):
        _ = 1 + t


def test_repr_of_tallies() -> None:
    assert repr(tally([1, 0, 0, 0], [2, 1, 1, 1])) == "Tally(4 rows, 2 distinct scores from 1 to 2, prevalence 0.25)"
    assert "rounded to 0.5" in repr(tally([1, 0], [2, 1.2]).round_scores(0.5))
    assert repr(Tally.sum([])) == "Tally(no rows)"


@pytest.mark.parametrize("resolution", [0, -1, math.inf, math.nan])
def test_invalid_resolutions_raise(resolution: float) -> None:
    with pytest.raises(OptionError, match="expected the width of a bucket"):
        tally([1, 0], [2, 1]).round_scores(resolution)


def test_too_fine_resolutions_raise() -> None:
    with pytest.raises(OptionError, match="finer than scores of this size"):
        tally([1, 0], [1e12, 1]).round_scores(1e-6)


def test_sums_have_the_coarsest_resolution() -> None:
    t = tally([1, 0], [0.77, 0.12])
    assert (t + t.round_scores(0.1) + t.round_scores(0.25)).resolution == 0.25
    assert t.round_scores(0.25).round_scores(0.1).resolution == 0.25


def test_many_rows_at_one_score_are_counted_exactly() -> None:
    many = tally([1, 0], [0.5, 0.5], count=[3_000_000_000, 5_000_000_000])
    assert many.mass.dtype == np.uint64
    assert (many + many).total == 16_000_000_000
    assert curve(many).at(0.5).tp == 3_000_000_000


def test_zeros_of_both_signs_have_one_digest() -> None:
    plus, minus = (Tally.from_counts([1.0, zero], [[1, 2], [3, 4]]).digest for zero in (0.0, -0.0))
    assert plus == minus


def test_impossible_lookups_on_the_hull_raise() -> None:
    c = curve(tally([1, 0], [2, 1]))
    with pytest.raises(OptionError, match="give either fpr or tpr"):
        c.mixture()
    with pytest.raises(OptionError, match="give either fpr or tpr"):
        c.mixture(fpr=0.1, tpr=0.2)
    with pytest.raises(OptionError, match="from 0 to 1"):
        c.mixture(fpr=1.5)
    with pytest.raises(OptionError, match="has no mass"):
        curve(tally([1, 1], [2, 1])).mixture(fpr=0.5)
    with pytest.raises(OptionError, match="needs both classes"):
        curve(tally([1, 1], [2, 1])).tangent(1.0)
    with pytest.raises(MissingValuesError, match="a slope is NaN"):
        c.tangent(Costs(fp=0, fn=0).slope(0.5))
    with pytest.raises(MissingValuesError, match="a threshold is NaN"):
        c.at(math.nan)


def test_lookups_take_arrays() -> None:
    c = curve(tally([1, 0, 1, 0], [4, 3, 2, 1]))
    mixture = c.mixture(fpr=np.array([0.0, 0.25, 0.5, 1.0]))
    assert np.asarray(mixture.strict).tolist() == [4, 4, 2, 2]
    assert np.asarray(mixture.lax).tolist() == [2, 2, 1, 1]
    assert np.asarray(mixture.chance).tolist() == [0, 0.5, 0, 1]


def test_costs_are_finite_and_slopes_need_a_share() -> None:
    with pytest.raises(OptionError, match="fp is inf; expected a cost from -1e15 to 1e15"):
        Costs(fp=math.inf)
    with pytest.raises(OptionError, match="prevalence is 2; expected 0, 1 or a prevalence from 1e-12"):
        Costs().slope(prevalence=2)
    assert Costs().slope(prevalence=0) == math.inf
    assert Costs(fp=1, fn=20).slope(0.02) == pytest.approx(0.98 / 0.02 / 20)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": 0.5, "level": 95}, "between 0 and 1"),
        ({"value": 0.5, "low": 0.6, "high": 0.4}, "swap them"),
        ({"value": math.nan}, "without a reason"),
    ],
)
def test_inconsistent_estimates_raise(fields: dict[str, float], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Estimate(**fields)  # type: ignore[arg-type]


def test_undefined_estimates_need_a_reason() -> None:
    assert Estimate(math.nan, why="there are no positives").why == "there are no positives"


def make_reweighed_tally() -> Tally:
    cells = np.array([[2.0, 1.0], [0.0, 3.0]])
    return Tally(np.array([0.9, 0.4]), cells * 0.5, cells * 0.25, cells.astype(int), reweighed=True)


def test_derived_objects_stay_marked_as_reweighted() -> None:
    sample = make_reweighed_tally()
    assert repr(sample) == "Tally(6 rows, 2 distinct scores from 0.4 to 0.9, prevalence 0.5, reweighed)"
    result = [sample.round_scores(0.5), sample.with_scores([0.2, 0.1]), sample + sample, sum([sample, sample])]
    assert all(isinstance(each, Tally) and each.reweighed for each in result)
    assert curve(sample).hull().tally.reweighed
    assert curve(sample).at(0.5).reweighed
    assert curve(sample).counts[1].swap_classes().reweighed
    plain = tally([1, 0], [1, 0])
    assert not plain.reweighed
    assert not curve(plain).at(0.5).reweighed


def test_top_class_tallies_are_not_marked_as_reweighted() -> None:
    assert not make_reweighed_tally().top_class().reweighed


def test_sums_of_reweighted_and_other_parts_raise() -> None:
    with pytest.raises(OptionError, match=r"some parts are reweighted and some are not.*; add, then reweigh"):
        make_reweighed_tally() + tally([1, 0], [1, 0])
    nothing = Tally.from_counts([], np.empty((2, 0), dtype=np.uint8))
    assert (make_reweighed_tally() + nothing).reweighed


def test_files_contain_the_mark_only_where_reweighted() -> None:
    sample = make_reweighed_tally()
    assert Tally.from_json(sample.to_json()).reweighed
    assert '"reweighed": true' in sample.to_json()
    plain = tally([1, 0], [1, 0])
    assert "reweighed" not in plain.to_json()
    assert not Tally.from_json(plain.to_json()).reweighed
    for wrong in ("false", "1", "null"):
        with pytest.raises(FileFormatError, match=r'whose "reweighed" is .*; expected true, or no such field'):
            Tally.from_json(sample.to_json().replace("true", wrong))
    assert sample.digest == tally([1, 1, 1, 0, 0, 0], [0.9, 0.9, 0.4, 0.4, 0.4, 0.4]).digest


def test_multiclass_tables_stay_marked_as_reweighted() -> None:
    table = Confusion(np.array([[2.0, 1.0], [1.0, 4.0]]), ("a", "b"), reweighed=True)
    assert repr(table) == "Confusion(a, b; 8, of which 6 on the diagonal, reweighed)"
    assert table.over(["b", "a", "c"]).reweighed
    assert table.one_vs_rest().reweighed
    assert (table + table).reweighed
    stack = Confusion(np.stack([table.mass] * 2), ("a", "b"), reweighed=True)
    assert stack[0].reweighed
    # What is then in the rows was decided, and its shares were never known.
    assert not table.transpose().reweighed
    with pytest.raises(OptionError, match="add, then reweigh"):
        table + Confusion(table.mass, table.labels)


def test_a_tally_computes_sums_once_and_is_freed() -> None:
    calls: list[float] = []

    @once_per_tally
    def count_scores(data: Tally | list[float]) -> int:
        calls.append(0.0)
        return len(data.score) if isinstance(data, Tally) else len(data)

    t = tally([1, 0, 1], [0.3, 0.2, 0.1])
    assert [count_scores(t), count_scores(t), count_scores([1.0, 2.0]), count_scores([1.0])] == [3, 3, 2, 1]
    assert len(calls) == 3
    held = weakref.ref(t)
    del t
    gc.collect()
    assert held() is None
