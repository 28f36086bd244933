"""Decisions of least cost among several classes, compared with all other decisions."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import (
    CostMatrix,
    EmptyDataError,
    MissingValuesError,
    MulticlassRows,
    NotAProbabilityError,
    OptionError,
    ShapeError,
    UnknownNameError,
    class_scores,
    decide,
    infer,
    measure,
    shift,
)
from tests.strategies import Array

TRIAGE = CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], ["home", "ward", "theatre"])


@st.composite
def posteriors(draw: st.DrawFn, width: int = 3) -> Array:
    """Shares of small whole numbers, so that many are tied, 0 or 1."""
    part = st.lists(st.integers(0, 4), min_size=width, max_size=width).filter(any)
    parts = np.array(draw(st.lists(part, min_size=1, max_size=12)), dtype=float)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def matrices(width: int = 3) -> st.SearchStrategy[CostMatrix]:
    cells = st.lists(st.integers(-2, 9), min_size=width * width, max_size=width * width)
    return cells.map(lambda each: CostMatrix(np.reshape(each, (width, width)), "abcdefgh"[:width]))


@given(posteriors(), matrices())
def test_no_decision_is_cheaper_on_any_row(p: Array, costs: CostMatrix) -> None:
    result = decide.least_cost(p, costs)
    for other in range(3):
        assert (result.cost <= p @ costs.cost[:, other] + 1e-9).all()
    likeliest = p.argmax(axis=1)
    assert (result.cost <= (p @ costs.cost)[np.arange(len(p)), likeliest] + 1e-9).all()
    np.testing.assert_allclose(result.cost, (p @ costs.cost)[np.arange(len(p)), result.codes])


@given(posteriors(width=4))
def test_equal_costs_give_the_most_probable_class(p: Array) -> None:
    result = decide.least_cost(p, CostMatrix(1 - np.eye(4), "abcd"))
    # Equal shares come from equal whole numbers, so they are equal to the last bit.
    assert result.codes.tolist() == p.argmax(axis=1).tolist()
    np.testing.assert_allclose(result.cost, 1 - p.max(axis=1), atol=1e-12)


@given(st.lists(st.integers(0, 64), min_size=1), st.integers(1, 9), st.integers(1, 9))
def test_two_classes_are_a_threshold_rule(parts: list[int], alarm: int, miss: int) -> None:
    p = np.array(parts) / 64
    costs = CostMatrix([[0, miss], [alarm, 0]], ["sick", "well"])
    result = decide.least_cost(np.column_stack([p, 1 - p]), costs)
    # With the positive class first, it wins at the threshold itself, as everywhere else.
    wanted = np.array(parts) * (alarm + miss) >= 64 * alarm
    assert (result.codes == 0).tolist() == wanted.tolist()


@given(posteriors(), matrices(), st.integers(0, 5))
def test_referred_rows_would_cost_more_to_decide(p: Array, costs: CostMatrix, refer: int) -> None:
    plain, result = decide.least_cost(p, costs), decide.least_cost(p, costs, refer=refer)
    assert (result.cost <= plain.cost).all()
    np.testing.assert_array_equal(result.codes[~result.is_referred], plain.codes[~result.is_referred])
    assert (plain.cost[result.is_referred] > refer).all()
    assert (plain.cost[~result.is_referred] <= refer + 1e-9).all()
    assert result.to_labels() == ["refer" if code < 0 else costs.labels[code] for code in result.codes]


@given(posteriors(), matrices(), st.permutations([0, 1, 2]))
def test_labels_name_the_columns(p: Array, costs: CostMatrix, order: list[int]) -> None:
    named = [costs.labels[at] for at in order]
    result = decide.least_cost(p[:, order], costs, labels=named)
    # Costs may cancel to 0, up to the rounding of a sum in another order.
    np.testing.assert_allclose(result.cost, decide.least_cost(p, costs).cost, atol=1e-14)
    assert (p @ costs.cost)[np.arange(len(p)), result.codes] == pytest.approx(result.cost)


def test_ties_go_to_the_first_class_of_the_costs() -> None:
    assert decide.least_cost([[0.1, 0.2, 0.7]], CostMatrix(np.ones((3, 3)), "abc")).to_labels() == ["a"]
    even = CostMatrix(1 - np.eye(2), ["no", "yes"])
    assert decide.least_cost([[0.5, 0.5]], even).to_labels() == ["no"]
    assert decide.least_cost([[0.5, 0.5]], even, labels=["yes", "no"]).to_labels() == ["no"]
    assert decide.least_cost([[0.5, 0.5]], even, refer=0.5).to_labels() == ["no"]
    # 0.1 + 0.2 is a little more than 0.3, which is no reason to prefer the second class.
    thirds = CostMatrix([[0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3]], ["a", "b"])
    assert decide.least_cost([[0.3, 0.7], [0.7, 0.3]], thirds).to_labels() == ["a", "a"]


def people(weight: Array | None = None, count: Array | None = None) -> MulticlassRows:
    score = np.array([[0.6, 0.3, 0.1], [0.9, 0.1, 0.0], [0.1, 0.2, 0.7], [0.4, 0.35, 0.25]])
    truth = ["theatre", "home", "theatre", "ward"]
    return class_scores(truth, score, labels=["home", "ward", "theatre"], weight=weight, count=count)


def test_costs_beside_those_of_the_most_probable_class() -> None:
    rows = people()
    result = decide.least_cost(rows, TRIAGE)
    assert result.to_labels() == ["ward", "home", "theatre", "ward"]
    assert result.confusion(rows).mass.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    best, likeliest = result.results(rows).rows()
    assert best["realised"] == pytest.approx((3 + 0 + 0 + 0) / 4)
    assert likeliest["realised"] == pytest.approx((9 + 0 + 0 + 2) / 4)
    assert best["expected"] == pytest.approx(result.cost.mean())
    assert likeliest["expected"] == pytest.approx((1.5 + 0.2 + 0.6 + 0.7 + 2.25) / 4)
    assert repr(result) == f"Decisions(4 rows; expected cost {result.cost.mean():.6g} per row)"


def test_referred_rows_cost_the_referral_and_are_in_no_cell() -> None:
    rows = people(weight=np.array([2.0, 1.0, 1.0, 1.0]))
    result = decide.least_cost(rows, TRIAGE, refer=0.5)
    assert result.to_labels() == ["refer", "home", "refer", "refer"]
    table = result.confusion(rows)
    assert table.total == 1
    best, likeliest = result.results(rows).rows()
    assert best["referred"] == pytest.approx(0.8)
    assert best["realised"] == pytest.approx(0.5 * 4 / 5)
    assert likeliest["realised"] == pytest.approx((2 * 9 + 0 + 0 + 2) / 5)
    assert repr(result).startswith("Decisions(4 rows, 3 of them referred")


def test_counts_equal_repeated_rows() -> None:
    times = np.array([3, 1, 2, 1])
    rows = people(count=times)
    result = decide.least_cost(rows, TRIAGE)
    repeated = class_scores(
        np.repeat(["theatre", "home", "theatre", "ward"], times),
        np.repeat(rows.score, times, axis=0),
        labels=["home", "ward", "theatre"],
    )
    again = decide.least_cost(repeated, TRIAGE)
    assert result.confusion(rows).mass.tolist() == again.confusion(repeated).mass.tolist()
    for one, other in zip(result.results(rows).rows(), again.results(repeated).rows(), strict=True):
        assert one == pytest.approx(other)


def test_costs_may_have_more_classes_than_occur() -> None:
    two = class_scores(["ward", "home"], [[0.5, 0.5], [0.2, 0.8]], labels=["ward", "home"])
    result = decide.least_cost(two, TRIAGE)
    assert result.labels == ("home", "ward", "theatre")
    assert result.to_labels() == ["ward", "home"]
    assert result.confusion(two).mass.sum() == 2


def test_posteriors_are_adjusted_before_deciding() -> None:
    p = np.array([[0.5, 0.3, 0.2]])
    moved = shift.reprior(p, sample_prevalence=[0.5, 0.3, 0.2], prevalence=[0.9, 0.09, 0.01])
    assert decide.least_cost(p, TRIAGE).to_labels() == ["ward"]
    assert decide.least_cost(moved, TRIAGE).to_labels() == ["home"]


def test_realised_costs_approach_expected_ones_where_posteriors_are_right() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1.0, 1.0, 1.0], 20_000)
    truth = (p.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    rows = MulticlassRows(np.minimum(truth, 2), p, TRIAGE.labels)
    best, likeliest = decide.least_cost(rows, TRIAGE).results(rows).rows()
    assert best["realised"] == pytest.approx(best["expected"], abs=0.04)
    assert likeliest["realised"] == pytest.approx(likeliest["expected"], abs=0.06)
    assert best["realised"] < likeliest["realised"]


def simulate(rows: int, *, sharper: float = 1.0, weight: bool = False) -> MulticlassRows:
    """Simulate rows with calibrated posteriors, or overconfident ones."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet([2.0, 1.0, 1.0], rows)
    truth = np.minimum((p.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1), 2)
    output = p**sharper / (p**sharper).sum(axis=1, keepdims=True)
    return MulticlassRows(truth, output, TRIAGE.labels, weight=rng.uniform(0.5, 2, rows) if weight else None)


def test_interval_without_referrals_is_that_of_the_table() -> None:
    rows = simulate(200)
    result = decide.least_cost(rows, TRIAGE)
    best, likeliest = result.results(rows, level=0.9).rows()
    measured = partial(measure.multiclass.expected_cost, costs=TRIAGE)
    for row, table in ((best, result.confusion(rows)), (likeliest, rows.confusion())):
        wanted = infer.estimate(measured, table, level=0.9)
        assert (row["realised"], row["low"], row["high"]) == pytest.approx((wanted.value, wanted.low, wanted.high))
        assert (row["level"], row["how"]) == (0.9, wanted.how)


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("shares", [None, [0.2, 0.3, 0.5]])
def test_interval_with_referrals_is_close_to_that_of_a_mean(
    weight: bool,  # noqa: FBT001  (a case)
    shares: list[float] | None,
) -> None:
    rows = simulate(5000, weight=weight)
    result = decide.least_cost(rows, TRIAGE, refer=0.5)
    best = result.results(rows, prevalence=shares).rows()[0]
    cost = np.where(result.is_referred, 0.5, TRIAGE.cost[rows.truth, result.codes])
    mass = np.ones(5000) if rows.weight is None else rows.weight
    own = np.array([np.average(cost[rows.truth == at], weights=mass[rows.truth == at]) for at in range(3)])
    to = np.bincount(rows.truth, weights=mass) / mass.sum() if shares is None else np.array(shares)
    assert best["realised"] == pytest.approx(to @ own)
    reweighted = mass * (to / np.bincount(rows.truth, weights=mass))[rows.truth]
    apart = cost - (to @ own if shares is None else own[rows.truth])
    error = np.sqrt((reweighted**2 * apart**2).sum())
    assert best["low"] < best["realised"] < best["high"]
    assert best["high"] - best["low"] == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_confusion_matrix_is_reweighted_to_shares() -> None:
    rows, shares = simulate(300), {"theatre": 0.5, "home": 0.2, "ward": 0.3}
    result = decide.least_cost(rows, TRIAGE)
    table = result.confusion(rows, prevalence=shares)
    assert table.reweighed
    np.testing.assert_allclose(table.mass, shift.reweigh(result.confusion(rows), prevalence=shares).mass)
    some = decide.least_cost(rows, TRIAGE, refer=0.5)
    # What is referred belongs to its class, too.
    mass = some.confusion(rows, prevalence=shares).truth + some.referred_mass(rows, prevalence=shares)
    np.testing.assert_allclose(mass / mass.sum(), [0.2, 0.3, 0.5])
    np.testing.assert_allclose(some.referred_mass(rows), np.bincount(rows.truth[some.is_referred], minlength=3))


@pytest.mark.parametrize("refer", [None, 0.5])
def test_shares_of_the_rows_change_no_cost(refer: float | None) -> None:
    rows = simulate(300, weight=True)
    result = decide.least_cost(rows, TRIAGE, refer=refer)
    original, reweighted = (
        result.results(rows).rows(),
        result.results(rows, prevalence=rows.support / rows.total).rows(),
    )
    for one, other in zip(original, reweighted, strict=True):
        for name in ("expected", "realised", "referred"):
            assert one[name] == pytest.approx(other[name])


def test_wrong_posteriors_are_noted() -> None:
    for sharper, output in ((1.0, 0), (4.0, 1)):
        rows = simulate(2000, sharper=sharper)
        for refer in (None, 0.5):
            notes = decide.least_cost(rows, TRIAGE, refer=refer).results(rows).data["notes"]
            assert len(notes) == output
            assert all(note.endswith("they are not calibrated on these rows.") for note in notes)


def test_no_level_and_a_class_named_refer() -> None:
    costs = CostMatrix([[0, 1], [4, 0]], ["refer", "keep"])
    rows = class_scores(["refer", "keep", "keep"], [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], labels=["refer", "keep"])
    result = decide.least_cost(rows, costs, refer=0.3)
    bare, sure = (result.results(rows, level=level).rows()[0] for level in (None, 0.95))
    assert bare["realised"] == sure["realised"] == pytest.approx((0.3 + 0 + 0.3) / 3)
    assert [bare[name] for name in ("low", "high", "level", "how")] == [None] * 4
    assert sure["low"] < sure["realised"] < sure["high"]


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (lambda: decide.least_cost([[0.5, 0.5]], TRIAGE), ShapeError, r"posteriors have shape \(1, 2\).*3 classes"),
        (lambda: decide.least_cost([0.5, 0.5], TRIAGE), ShapeError, r"shape \(2,\)"),
        (lambda: decide.least_cost([[0.5, 0.5, 0.5]], TRIAGE), NotAProbabilityError, "in 1 of 1 rows"),
        (
            lambda: decide.least_cost([[0.5, np.nan, 0.5]], TRIAGE),
            MissingValuesError,
            "1 of 1 rows have NaN posteriors",
        ),
        (lambda: decide.least_cost(np.zeros((0, 3)), TRIAGE), EmptyDataError, "no rows to decide"),
        (
            lambda: decide.least_cost([[1, 0]], TRIAGE, labels=["home", "x"]),
            UnknownNameError,
            "no costs for the class 'x'",
        ),
        (lambda: decide.least_cost(people(), TRIAGE, labels="abc"), OptionError, "labels= has no effect"),
        (lambda: decide.least_cost(people(), TRIAGE, refer=np.inf), OptionError, "refer is inf"),
        (lambda: decide.least_cost(people(), np.eye(3)), OptionError, "costs are ndarray"),  # type: ignore[arg-type]
        (
            lambda: decide.least_cost([[1, 0, 0]], TRIAGE).confusion(people()),
            ShapeError,
            "1 decision for 4 rows",
        ),
        (lambda: decide.least_cost([[1, 0, 0]], TRIAGE).results(people()), ShapeError, "1 decision for 4 rows"),
        (lambda: decide.least_cost([[1, 0, 0]], TRIAGE).referred_mass(people()), ShapeError, "1 decision for 4 rows"),
        (
            lambda: decide.least_cost(people(), TRIAGE).results(people(), prevalence=[0.5, 0.6, 0.2]),
            OptionError,
            "prevalence is .* that add up to 1",
        ),
    ],
)
def test_errors(work: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        work()
