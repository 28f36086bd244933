"""Laws that hold for every measure of all classes and every table: they walk the registry."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from math import inf, isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, strategies as st

from baserate import Confusion, CostMatrix, Costs, Counts, OptionError, ShapeError, measure
from baserate.measure import describe, multiclass, undefined_reason
from tests.strategies import same

Table = npt.NDArray[np.float64]

MEASURES = {name: function for name, function in multiclass.MEASURES.items() if describe(function).of is Confusion}
"""Those of tables."""

cell = st.just(0) | st.integers(0, 4) | st.integers(0, 10**6)
quarters = st.integers(0, 40).map(lambda quarter: quarter / 4)
halves = st.integers(0, 20).map(lambda half: half / 2)
"""Half a case is the least that Krippendorff's correction knows."""

BY_ORDER = {weights: partial(multiclass.kappa, weights=weights) for weights in ("linear", "quadratic")}
"""What depends on the order of classes."""
BY_LABELS = {"bennett_s", "gwet_ac1", "confusion_entropy"}
"""What depends on how many labels there are, whether or not they occur."""
BY_MASS = {"krippendorff_alpha", "chi_squared"}
"""What depends on how much there is, and not on shares alone."""
SYMMETRIC = {
    *("accuracy", "hamming_loss", "jaccard", "class_balanced_accuracy", "expected_cost", "chance_accuracy"),
    *("mcc", "kappa", "scott_pi", "krippendorff_alpha", "gwet_ac1", "bennett_s", "joint_entropy"),
    *("mutual_information", "symmetric_theil_u", "confusion_entropy", "chi_squared", "phi_squared", "cramers_v"),
}
MIRRORED = {
    "truth_entropy": "decision_entropy",
    "truth_entropy_given_decision": "decision_entropy_given_truth",
    "truth_theil_u": "decision_theil_u",
    "truth_lambda": "decision_lambda",
}


@st.composite
def squares(draw: st.DrawFn, cell: st.SearchStrategy[float] = cell, min_size: int = 1, max_size: int = 5) -> Confusion:
    """Tables of one to five classes, of which some may be absent."""
    size = draw(st.integers(min_size, max_size))
    cells = draw(st.lists(cell, min_size=size * size, max_size=size * size))
    mass = np.array(cells, dtype=float).reshape(size, size)
    if size > 1 and draw(st.booleans()):
        gone = draw(st.integers(0, size - 1))
        mass[gone] = 0
        if draw(st.booleans()):
            mass[:, gone] = 0
    return Confusion(mass, tuple(range(size)))


def values(c: Confusion, *, without: set[str] = frozenset()) -> dict[str, Any]:  # type: ignore[assignment]
    return {name: function(c) for name, function in MEASURES.items() if name not in without}


def assert_same(first: dict[str, Any], second: dict[str, Any], *, within: float = 1e-9) -> None:
    for name, value in first.items():
        assert same(value, second[name], within=within), (name, value, second[name])


@given(squares() | squares(halves))
def test_values_are_floats_in_their_span(c: Confusion) -> None:
    for name, value in values(c).items():
        low, high = describe(MEASURES[name]).span
        assert isinstance(value, float), name
        assert isnan(value) or low - 1e-12 <= value <= high + 1e-12, name


@given(squares() | squares(st.sampled_from([0.0, 0.1, 0.7, 1e-9, 3e7])))
def test_a_measure_is_undefined_exactly_when_a_needed_margin_is_zero(c: Confusion) -> None:
    for name, value in values(c).items():
        lacks = any(getattr(c, margin) == 0 for margin in describe(MEASURES[name]).needs)
        assert isnan(value) == lacks, name
        assert (undefined_reason(MEASURES[name], c) is not None) == lacks, name


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_measures_of_an_empty_table_are_undefined_with_a_reason(classes: int) -> None:
    nothing = Confusion(np.zeros((classes, classes)), tuple(range(classes)))
    for name, value in values(nothing).items():
        assert isnan(value), name
        assert undefined_reason(MEASURES[name], nothing), name


def test_reasons_of_several_tables_raise() -> None:
    stack = Confusion(np.ones((5, 2, 2)), (0, 1))
    with pytest.raises(ShapeError, match=r"these are \(5,\) tables; give one, for example confusion\[0\]"):
        undefined_reason(multiclass.mcc, stack)
    assert undefined_reason(multiclass.mcc, stack[0]) is None


def test_reasons_name_every_zero_margin() -> None:
    constant = Confusion.of_matrix([[4, 0], [0, 0]], truth="rows")
    assert (
        undefined_reason(multiclass.mcc, constant)
        == "there is at most one true class and all rows have the same predicted class"
    )
    assert undefined_reason(multiclass.symmetric_theil_u, constant) == "truth and decisions are both constant"
    assert undefined_reason(multiclass.bennett_s, Confusion.of_matrix([[4]], truth="rows")) == (
        "there is a single label, so nothing else could be predicted"
    )


@given(st.data())
def test_a_stack_is_measured_table_by_table(data: st.DataObject) -> None:
    first = data.draw(squares())
    size = len(first.labels)
    tables = [first, *data.draw(st.lists(squares(min_size=size, max_size=size), min_size=1, max_size=3))]
    mass = np.array([table.mass for table in tables])
    row, column = Confusion(mass, first.labels), Confusion(mass[:, None], first.labels)
    for name, function in (MEASURES | BY_ORDER).items():
        alone = [function(table) for table in tables]
        assert same(function(row), alone, within=1e-12), name
        assert same(function(column), np.array(alone)[:, None], within=1e-12), name


@given(squares(), st.randoms())
def test_the_order_of_classes_does_not_matter(c: Confusion, random: Any) -> None:  # noqa: ANN401  (a generator)
    labels = list(c.labels)
    random.shuffle(labels)
    assert_same(values(c), values(c.over(labels)))
    # Reversing it leaves distances between classes as they are.
    for function in BY_ORDER.values():
        assert same(function(c), function(c.over(c.labels[::-1])), within=1e-9)


def test_distances_between_classes_follow_their_order() -> None:
    c = Confusion.of_matrix([[5, 3, 0], [0, 5, 0], [0, 0, 5]], "abc", truth="rows")
    for function in BY_ORDER.values():
        assert function(c) > function(c.over("acb"))


@given(squares(), st.integers(1, 3))
def test_classes_that_are_absent_do_not_matter(c: Confusion, more: int) -> None:
    wider = c.over([*c.labels, *(f"absent {at}" for at in range(more))])
    assert_same(values(c, without=BY_LABELS), values(wider))
    for function in BY_ORDER.values():
        assert same(function(c), function(wider), within=1e-9)


def test_some_measures_count_labels_that_are_absent() -> None:
    c = Confusion.of_matrix([[6, 2], [1, 5]], truth="rows")
    for name in BY_LABELS:
        assert MEASURES[name](c) != pytest.approx(MEASURES[name](c.over([0, 1, 2])))


@given(squares(quarters), st.sampled_from([2.0**-20, 3.0, 2.0**40]))
def test_weights_may_be_scaled(c: Confusion, scale: float) -> None:
    scaled = Confusion(c.mass * scale, c.labels)
    assert_same(values(c, without=BY_MASS), values(scaled))
    assert same(multiclass.chi_squared(c) * scale, multiclass.chi_squared(scaled), within=1e-9)
    # As cases become many, α comes to be π.
    if scale == 2.0**40:
        assert same(multiclass.krippendorff_alpha(scaled), multiclass.scott_pi(c), within=1e-9)


def test_masses_may_be_huge_and_tiny() -> None:
    cells = np.array([[9, 3, 0], [3, 5, 1], [1, 1, 4.0]])
    plain = values(Confusion(cells, tuple("abc")), without=BY_MASS)
    for scale in (1e-140, 1e140):
        assert_same(plain, values(Confusion(cells * scale, tuple("abc"))))


@given(squares())
def test_truth_and_decisions_may_be_exchanged(c: Confusion) -> None:
    mirrored = c.transpose()
    for name in SYMMETRIC:
        assert same(MEASURES[name](c), MEASURES[name](mirrored), within=1e-9), name
    for name, other in MIRRORED.items():
        assert same(MEASURES[name](c), MEASURES[other](mirrored), within=1e-9), name
    each, exchanged = c.one_vs_rest(), mirrored.one_vs_rest()
    assert same(measure.precision(each), measure.sensitivity(exchanged))
    assert same(measure.npv(each), measure.specificity(exchanged), within=1e-12)


def test_other_measures_change_when_truth_and_decisions_are_exchanged() -> None:
    c = Confusion.of_matrix([[9, 3, 0], [4, 5, 1], [1, 1, 7]], truth="rows")
    changed = {name for name, value in values(c).items() if value != pytest.approx(values(c.transpose())[name])}
    assert changed == MEASURES.keys() - SYMMETRIC


@given(squares(min_size=2, max_size=2))
def test_two_classes_equal_the_measures_of_2x2_tables(c: Confusion) -> None:
    (tp, fn), (fp, tn) = c.mass
    counts = Counts(tp=tp, fp=fp, fn=fn, tn=tn)
    for name in ("accuracy", "mcc", "kappa", "expected_cost"):
        assert same(MEASURES[name](c), measure.MEASURES[name](counts), within=1e-9), name
    for function in BY_ORDER.values():
        assert same(function(c), measure.kappa(counts), within=1e-9)
    for ours, theirs in (
        (multiclass.hamming_loss, measure.error_rate),
        (multiclass.mean_balanced_accuracy, measure.balanced_accuracy),
        (multiclass.adjusted_balanced_accuracy, measure.youden),
    ):
        assert same(ours(c), theirs(counts), within=1e-9)
    if counts.positives and counts.negatives:
        assert same(multiclass.balanced_accuracy(c), measure.balanced_accuracy(counts))
    costs, bare = Costs(tp=-1, fp=2, fn=30, tn=0.5), np.array([[-1, 30], [2, 0.5]])
    assert same(multiclass.expected_cost(c, costs=bare), measure.expected_cost(counts, costs=costs), within=1e-12)


def exact(c: Confusion) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Agreement beyond chance, the spreads of truth and decisions, and chance disagreement; all times n²."""
    cells = [[Fraction(value) for value in row] for row in c.mass.tolist()]
    truth, decided = [sum(row, Fraction()) for row in cells], [sum(row, Fraction()) for row in zip(*cells, strict=True)]
    n, right = sum(truth, Fraction()), sum((row[at] for at, row in enumerate(cells)), Fraction())

    def meeting(one: list[Fraction], other: list[Fraction]) -> Fraction:
        return sum((a * b for a, b in zip(one, other, strict=True)), Fraction())

    chance = meeting(truth, decided)
    return n * right - chance, n * n - meeting(truth, truth), n * n - meeting(decided, decided), n * n - chance


@given(squares(min_size=2))
def test_mcc_is_at_least_as_far_from_zero_as_kappa(c: Confusion) -> None:
    beyond, truth, decided, chance = exact(c)
    assume(truth * decided > 0)
    # |mcc| ≥ |κ| for any number of classes, since √(truth·decided) ≤ their arithmetic mean ≤ chance disagreement.
    assert truth * decided <= chance**2
    equal = np.array_equal(c.truth, c.predicted)
    assert (truth * decided == chance**2) == equal
    assert multiclass.mcc(c) ** 2 == pytest.approx(float(beyond**2 / (truth * decided)), rel=1e-9, abs=1e-20)
    assert multiclass.kappa(c) == pytest.approx(float(beyond / chance), rel=1e-9, abs=1e-12)
    if equal or beyond == 0:
        assert multiclass.mcc(c) == pytest.approx(multiclass.kappa(c), abs=1e-12)


@given(squares(st.integers(0, 6), min_size=2, max_size=2))
def test_mcc_is_kappa_exactly_when_errors_balance_or_there_is_no_association(c: Confusion) -> None:
    (tp, fn), (fp, tn) = c.mass
    beyond, truth, decided, chance = exact(c)
    assume(truth * decided > 0)
    same_square = beyond**2 * chance**2 == beyond**2 * truth * decided
    assert same_square == (fp == fn or tp * tn == fp * fn)


def least_correlation(truth: Table) -> float:
    """The least correlation, by trying all decisions."""
    least = inf
    for rows in product(*(list(splits(int(mass), len(truth))) for mass in truth)):
        value = multiclass.mcc(Confusion(np.array(rows, dtype=float), tuple(range(len(truth)))))
        least = least if isnan(value) else min(least, value)
    return least


def splits(total: int, parts: int) -> Any:  # noqa: ANN401  (an iterator of tuples)
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in splits(total - first, parts - 1))


@pytest.mark.parametrize("truth", [(1, 1, 1), (3, 1, 1), (6, 1, 1), (4, 1, 0), (2, 2, 1), (1, 1, 1, 1), (2, 1, 1, 0)])
def test_the_least_correlation_is_the_least_of_all_decisions(truth: tuple[int, ...]) -> None:
    c = Confusion(np.diag(np.array(truth, dtype=float)), tuple(range(len(truth))))
    assert multiclass.mcc_least(c) == pytest.approx(least_correlation(c.truth), rel=1e-12)


@given(squares() | squares(quarters))
def test_no_decisions_fall_below_the_least_correlation(c: Confusion) -> None:
    value = multiclass.mcc(c)
    assert isnan(value) or value >= multiclass.mcc_least(c) - 1e-9


@pytest.mark.parametrize("classes", range(2, 9))
def test_the_least_correlation_of_balanced_classes(classes: int) -> None:
    c = Confusion(np.eye(classes), tuple(range(classes)))
    assert multiclass.mcc_least(c) == pytest.approx(-np.sqrt(classes / 2) / (classes - 1))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5))
def test_chance_accuracy_is_the_mean_over_all_permutations(rows: list[tuple[int, int]]) -> None:
    truth, decided = zip(*rows, strict=True)
    mass = np.zeros((3, 3))
    np.add.at(mass, (list(truth), list(decided)), 1)
    shuffled = list(permutations(decided))
    hits = sum(t == d for order in shuffled for t, d in zip(truth, order, strict=True))
    expected = Fraction(hits, len(shuffled) * len(rows))
    assert multiclass.chance_accuracy(Confusion(mass, (0, 1, 2))) == pytest.approx(float(expected))


@given(squares())
def test_information_adds_up(c: Confusion) -> None:
    m = multiclass
    assume(c.total > 0)
    near = partial(pytest.approx, rel=1e-9, abs=1e-9)
    shared = m.mutual_information(c)
    assert m.truth_entropy(c) == near(shared + m.truth_entropy_given_decision(c))
    assert m.decision_entropy(c) == near(shared + m.decision_entropy_given_truth(c))
    assert m.joint_entropy(c) == near(m.truth_entropy(c) + m.decision_entropy_given_truth(c))
    assert m.cross_entropy(c) == near(m.truth_entropy(c) + m.kl_divergence(c))
    assert m.mutual_information(c, base=2) == near(shared / np.log(2))


@given(squares(min_size=2))
def test_association_does_not_care_which_class_is_which(c: Confusion) -> None:
    renamed = Confusion(np.roll(c.mass, 1, axis=-1), c.labels)
    for name in ("chi_squared", "cramers_v", "mutual_information", "truth_theil_u", "truth_lambda", "decision_lambda"):
        assert same(MEASURES[name](c), MEASURES[name](renamed), within=1e-9), name


@given(squares(min_size=2, max_size=2))
def test_phi_squared_of_two_classes_is_the_squared_correlation(c: Confusion) -> None:
    value = multiclass.mcc(c)
    assert isnan(value) or multiclass.phi_squared(c) == pytest.approx(value**2, rel=1e-9, abs=1e-12)
    assert isnan(value) or multiclass.cramers_v(c) == pytest.approx(abs(value), rel=1e-9, abs=1e-9)


@given(squares(min_size=2))
def test_perfect_decisions_are_at_the_best_end(c: Confusion) -> None:
    perfect = Confusion(np.diag(c.truth), c.labels)
    for name in ("accuracy", "balanced_accuracy", "adjusted_balanced_accuracy", "class_balanced_accuracy", "mcc"):
        assert isnan(MEASURES[name](perfect)) or MEASURES[name](perfect) == pytest.approx(1), name
    for name in ("kappa", "scott_pi", "krippendorff_alpha", "gwet_ac1", "truth_theil_u", "cramers_v", "truth_lambda"):
        assert isnan(MEASURES[name](perfect)) or MEASURES[name](perfect) == pytest.approx(1), name
    for name in ("hamming_loss", "confusion_entropy", "truth_entropy_given_decision", "kl_divergence"):
        assert isnan(MEASURES[name](perfect)) or MEASURES[name](perfect) == 0, name


@given(squares(min_size=2), st.randoms())
def test_costs_are_matched_by_their_labels(c: Confusion, random: Any) -> None:  # noqa: ANN401  (a generator)
    size = len(c.labels)
    bare = np.arange(size * size, dtype=float).reshape(size, size) - 3
    order = list(c.labels)
    random.shuffle(order)
    place = [c.labels.index(label) for label in order]
    costs = CostMatrix(bare[np.ix_(place, place)], order)
    assert same(multiclass.expected_cost(c, costs=costs), multiclass.expected_cost(c, costs=bare), within=1e-12)


def test_confusion_entropy_of_two_classes_may_exceed_one() -> None:
    share = 1 / np.e
    c = Confusion.of_matrix([[0.5 - share, share], [share, 0.5 - share]], truth="rows")
    assert multiclass.confusion_entropy(c) == pytest.approx(describe(multiclass.confusion_entropy).span[1])


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ("cubic", OptionError, "weights is 'cubic'; expected 'none', 'linear', 'quadratic' or a table"),
        ([[0, 1], [1, 0]], ShapeError, r"the weights have shape \(2, 2\) for 3 classes"),
        (np.ones((3, 3)), OptionError, "with 0 on the diagonal"),
        (np.eye(3) - 1, OptionError, "finite numbers ≥ 0"),
        (np.diag([np.nan] * 3), OptionError, "finite numbers ≥ 0"),
    ],
)
def test_weights_of_kappa_rank_disagreements(weights: npt.ArrayLike, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        multiclass.kappa(Confusion(np.ones((3, 3)), (0, 1, 2)), weights=weights)


def test_disagreements_without_weight_do_not_count() -> None:
    c = Confusion.of_matrix([[5, 3, 0], [2, 4, 1], [0, 1, 6]], "abc", truth="rows")
    merged = Confusion.of_matrix([[14, 1], [1, 6]], truth="rows")
    assert multiclass.kappa(c, weights=[[0, 0, 1], [0, 0, 1], [1, 1, 0]]) == pytest.approx(multiclass.kappa(merged))
    assert isnan(multiclass.kappa(c, weights=np.zeros((3, 3))))


@pytest.mark.parametrize("base", [1, 0, -2, inf, float("nan")])
@pytest.mark.parametrize("name", ["mutual_information", "truth_entropy", "kl_divergence", "cross_entropy"])
def test_a_unit_of_information_needs_a_base_above_one(name: str, base: float) -> None:
    function: Callable[..., float] = MEASURES[name]
    with pytest.raises(OptionError, match="expected a number above 1: 2 for bits"):
        function(Confusion(np.ones((2, 2)), (0, 1)), base=base)
