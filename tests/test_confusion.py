"""Confusion matrices of several classes and their costs: errors, immutability and sums."""

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from baserate import Confusion, CostMatrix, OptionError, ShapeError, UnknownNameError, WeightError, measure

CELLS = np.array([[5, 1, 0], [2, 3, 0], [0, 0, 4.0]])


def make_weighted_table(seed: int = 0, labels: str = "abc") -> Confusion:
    """A table of drawn weights, with what standard errors need; the last class is never predicted."""
    rng = np.random.default_rng(seed)
    truth, decided = rng.integers(3, size=200), rng.integers(2, size=200)
    weight = rng.uniform(0.1, 3, 200)
    parts = np.zeros((3, 3, 3))
    for part, amount in zip(parts, (weight, weight**2, np.ones(200)), strict=True):
        np.add.at(part, (truth, decided), amount)
    squares, rows = (Confusion(part, tuple(labels)) for part in parts[1:])
    return Confusion(parts[0], tuple(labels), moments=(squares, rows))


def test_orientation_of_truth_must_be_stated() -> None:
    rows, columns = (Confusion.of_matrix(CELLS, "abc", truth=truth) for truth in ("rows", "columns"))
    assert np.array_equal(rows.mass, CELLS)
    assert np.array_equal(columns.mass, CELLS.T)
    assert rows.labels == ("a", "b", "c")
    assert Confusion.of_matrix(CELLS, truth="rows").labels == (0, 1, 2)
    assert np.array_equal(rows.transpose().mass, columns.mass)
    with pytest.raises(OptionError, match="truth is 'diagonal'; expected 'rows' or 'columns'"):
        Confusion.of_matrix(CELLS, truth="diagonal")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="truth"):
        Confusion.of_matrix(CELLS)  # type: ignore[call-arg]


def test_stacks_are_transposed_table_by_table() -> None:
    stack = Confusion.of_matrix(np.array([CELLS, 2 * CELLS]), truth="columns")
    assert stack.shape == (2,)
    assert np.array_equal(stack.mass[1], 2 * CELLS.T)
    assert repr(stack) == "Confusion(0, 1, 2; (2,) tables)"
    assert np.array_equal(stack.total, [15, 30])


@pytest.mark.parametrize("cells", [3, [1, 2], [[1, 2, 3], [4, 5, 6]], np.zeros((0, 0)), np.zeros((2, 3, 2))])
def test_tables_must_be_square(cells: npt.ArrayLike) -> None:
    with pytest.raises(ShapeError, match=r"the table has shape .* give as many rows as columns"):
        Confusion.of_matrix(cells, truth="rows")


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf])
def test_invalid_cells_raise(bad: float) -> None:
    with pytest.raises(WeightError, match="1 of 4 cells are negative, NaN or infinite"):
        Confusion.of_matrix(np.array([[1, bad], [0, 2]]), truth="rows")


def test_labels_must_be_distinct() -> None:
    with pytest.raises(ShapeError, match="there are 2 labels for 3 classes"):
        Confusion(CELLS, ("a", "b"))
    with pytest.raises(OptionError, match="the label 'a' is given twice"):
        Confusion(CELLS, ("a", "b", "a"))


def test_tables_are_frozen_copies() -> None:
    cells = CELLS.copy()
    c = Confusion.of_matrix(cells, "abc", truth="rows")
    cells[0, 0] = 99
    assert c.mass[0, 0] == 5
    with pytest.raises(ValueError, match="read-only"):
        c.mass[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        c.labels = ("x", "y", "z")  # type: ignore[misc]


def test_margins() -> None:
    c = Confusion.of_matrix(CELLS, "abc", truth="rows")
    assert (c.truth.tolist(), c.predicted.tolist(), c.correct.tolist()) == ([6, 5, 4], [7, 4, 4], [5, 3, 4])
    assert (c.total, c.disagreement, c.alternatives) == (15, 3, 2)
    assert c.chance_disagreement == 15**2 - (6 * 7 + 5 * 4 + 4 * 4)
    assert c.truth_spread == 15**2 - (36 + 25 + 16)
    assert c.predicted_spread == 15**2 - (49 + 16 + 16)
    assert c.any_spread == c.truth_spread + c.predicted_spread
    assert repr(c) == "Confusion(a, b, c; 15, of which 12 on the diagonal)"


def test_a_stack_is_indexed_with_its_moments() -> None:
    one = make_weighted_table()
    stack = Confusion(
        np.array([one.mass, 2 * one.mass]),
        one.labels,
        moments=(
            Confusion(np.array([one.squares.mass, 4 * one.squares.mass]), one.labels),
            Confusion(np.array([one.rows.mass, one.rows.mass]), one.labels),
        ),
    )
    assert np.array_equal(stack[1].mass, 2 * one.mass)
    assert np.array_equal(stack[1].squares.mass, 4 * one.squares.mass)
    assert np.array_equal(stack[::-1][1].rows.mass, one.rows.mass)
    assert stack[::-1].shape == (2,)
    with pytest.raises(ShapeError):
        one[0]


def test_over_reorders_and_adds_classes() -> None:
    c = Confusion.of_matrix(CELLS, "abc", truth="rows")
    wider = c.over("cbxa")
    assert wider.labels == ("c", "b", "x", "a")
    assert wider.mass.tolist() == [[4, 0, 0, 0], [0, 3, 0, 2], [0, 0, 0, 0], [0, 1, 0, 5]]
    assert np.array_equal(wider.over("axbc").over("abcx").mass[:3, :3], CELLS)
    with pytest.raises(UnknownNameError, match=r"the class 'b' is not among \['c', 'a'\]; name every class"):
        c.over("ca")


def test_tables_add_up_by_label() -> None:
    first = Confusion.of_matrix([[1, 2], [3, 4]], "ab", truth="rows")
    second = Confusion.of_matrix([[10, 20], [30, 40]], "ca", truth="rows")
    both = first + second
    assert both.labels == ("a", "b", "c")
    assert both.mass.tolist() == [[41, 2, 30], [3, 4, 0], [20, 0, 10]]
    assert sum([second], start=first).mass.tolist() == (first + second).mass.tolist()
    assert np.array_equal((0 + first).mass, first.mass)
    assert both.moments is None
    with pytest.raises(TypeError):
        _ = first + 1
    with pytest.raises(OptionError, match="no tables to add up"):
        Confusion.sum([])


def test_derived_tables_have_moments() -> None:
    plain, heavy = Confusion.of_matrix(CELLS, "abc", truth="rows"), make_weighted_table()
    assert plain.squares is plain.rows is plain
    both = plain + heavy
    assert np.allclose(both.squares.mass, CELLS + heavy.squares.mass)
    assert np.array_equal(both.rows.mass, CELLS + heavy.rows.mass)
    assert np.array_equal(heavy.transpose().squares.mass, heavy.squares.mass.T)
    assert np.array_equal(heavy.over("cab").rows.mass, heavy.rows.over("cab").mass)
    each = heavy.one_vs_rest()
    assert np.array_equal(each.rows.tp, heavy.rows.correct)
    assert np.allclose(each.squares.fn, heavy.squares.truth - heavy.squares.correct)
    assert each.rows.total.tolist() == [200, 200, 200]


@pytest.mark.parametrize("seed", range(5))
def test_empty_cells_are_exactly_zero_in_one_vs_rest(seed: int) -> None:
    heavy = make_weighted_table(seed)
    each = heavy.one_vs_rest()
    # The last class is never predicted, whatever rounding makes of sums of weights and their differences.
    assert (each.tp[2], each.fp[2]) == (0, 0)
    assert np.isnan(measure.precision(each)[2])
    assert np.allclose(each.total, heavy.total)
    alone = Confusion(np.diag(heavy.mass.sum(axis=1)), heavy.labels).one_vs_rest()
    assert not alone.fp.any()
    assert not alone.fn.any()
    only = Confusion(heavy.mass * np.array([[1], [0], [0]]), heavy.labels)
    assert only.one_vs_rest().tn[0] == 0
    assert (only.truth_spread, only.one_vs_rest().negatives[0]) == (0, 0)


def test_costs_are_matched_by_label() -> None:
    c = Confusion.of_matrix(CELLS, "abc", truth="rows")
    costs = CostMatrix([[0, 1, 2], [3, 0, 4], [5, 6, -1]], "abc")
    assert costs.total(c) == 1 * 1 + 2 * 3 - 4
    assert costs.total(c.over("cab")) == costs.total(c)
    assert costs.total(Confusion.of_matrix([[0, 7], [0, 0]], "cb", truth="rows")) == 42
    assert np.array_equal(costs.total(Confusion(np.array([CELLS, 2 * CELLS]), c.labels)), [3, 6])
    with pytest.raises(UnknownNameError, match="no costs for the class 0; give"):
        costs.total(Confusion.of_matrix(CELLS, truth="rows"))


@pytest.mark.parametrize(
    ("cost", "labels", "error", "message"),
    [
        ([[0, 1], [1, 0]], "abc", ShapeError, r"the costs have shape \(2, 2\) for 3 classes"),
        ([0, 1], "ab", ShapeError, r"shape \(2,\)"),
        ([[0, np.nan], [np.inf, 0]], "ab", OptionError, "2 of 4 costs are not a cost from -1e15 to 1e15"),
        ([[0, 1], [1, 0]], "aa", OptionError, "the label 'a' is given twice"),
    ],
)
def test_invalid_cost_matrices_raise(cost: npt.ArrayLike, labels: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CostMatrix(cost, labels)


def test_costs_are_frozen() -> None:
    cells = np.zeros((2, 2))
    costs = CostMatrix(cells, "ab")
    cells[0, 0] = 9
    assert costs.cost[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        costs.cost[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        costs.labels = ()  # type: ignore[misc]
