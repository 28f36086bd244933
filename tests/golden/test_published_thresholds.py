"""Published thresholds: the twenty cases, the model population, pROC's aSAH data, and peers that search for them."""

from collections.abc import Callable
from functools import partial
from math import inf, sqrt

import numpy as np
import pytest

from baserate import Costs, Counts, Curve, Policy, curve, decide, measure, population, tally

Columns = Callable[[str], dict[str, list[str]]]
near = partial(pytest.approx, rel=0, abs=1e-12)

# Scores 1.00, 0.95, … 0.05; classes in that order.
CLASSES = [1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]


@pytest.fixture
def twenty() -> Curve:
    return curve(tally(CLASSES, [(20 - place) / 20 for place in range(20)]))


@pytest.mark.parametrize("rule", ["youden", "closest", "balanced"])
def test_three_rules_agree_on_the_twenty_cases(twenty: Curve, rule: str) -> None:
    result = decide.find_rule(rule)(twenty)
    assert result.threshold == 0.65
    assert measure.youden(twenty.at(result.threshold)) == near(0.6190476190476191)


def test_precision_equals_recall_in_the_twenty_cases(twenty: Curve) -> None:
    result = decide.break_even(twenty)
    assert result.threshold == 0.75
    counts = twenty.at(result.threshold)
    assert measure.precision(counts) == near(measure.sensitivity(counts))


def test_highest_sensitivity_at_a_specificity_of_nine_tenths(twenty: Curve) -> None:
    for same in ("specificity >= 0.9", "TNR>=90%", "fpr <= 0.1"):
        assert decide.require(twenty, same, maximize="sensitivity").threshold == 0.8


def grid(cells: int, prevalence: float = 0.5) -> Curve:
    """The model population in so many slices of equal width: class 0 of density 2 − 2x, class 1 of density 2x."""
    edges = np.arange(cells + 1) / cells
    share = np.concatenate([prevalence * np.diff(edges**2), (1 - prevalence) * np.diff(1 - (1 - edges) ** 2)])
    return curve(tally(np.repeat([True, False], cells), np.tile(edges[:-1], 2), weight=share))


CELLS = 100_000


@pytest.mark.parametrize(
    ("rule", "threshold"),
    [
        (decide.youden, 0.5),
        (decide.closest, 0.5),
        (decide.balanced, 0.5),
        (decide.break_even, 0.5),
        (partial(decide.best, measure="f1"), (3 - sqrt(5)) / 2),
        (partial(decide.best, measure="mcc"), 0.5),
        (partial(decide.best, measure="kappa"), 0.5),
        (partial(decide.require, require="specificity >= 0.9", maximize="sensitivity"), 1 - sqrt(0.1)),
    ],
)
def test_rules_on_the_model_population(rule: Callable[[Curve], Policy], threshold: float) -> None:
    assert rule(grid(CELLS)).threshold == pytest.approx(threshold, abs=2 / CELLS)


def test_values_at_the_thresholds_of_the_model_population() -> None:
    c = grid(CELLS)
    assert measure.youden(c.at(decide.youden(c).threshold)) == pytest.approx(0.5, abs=1e-9)
    even = c.at(decide.break_even(c).threshold)
    assert measure.precision(even) == pytest.approx(0.75, abs=1e-4)
    strict = c.at(decide.require(c, "specificity >= 0.9", maximize="sensitivity").threshold)
    assert measure.sensitivity(strict) == pytest.approx(0.5324555320336759, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "threshold"), [("f1", 2 - sqrt(3)), ("mcc", sqrt(2) - 1), ("kappa", sqrt(2) - 1), ("accuracy", 1 / 3)]
)
def test_where_class_1_is_twice_as_frequent(name: str, threshold: float) -> None:
    assert decide.best(grid(CELLS, 2 / 3), name).threshold == pytest.approx(threshold, abs=2 / CELLS)
    assert decide.youden(grid(CELLS, 2 / 3)).threshold == pytest.approx(0.5, abs=2 / CELLS)


@pytest.mark.quick(2)
@pytest.mark.parametrize("prevalence", [0.5, 0.1])
@pytest.mark.parametrize("costs", [Costs(), Costs(fp=1, fn=4), Costs(fp=3, fn=1, tp=-1)])
def test_least_cost_on_populations_is_the_closed_form_in_the_limit(costs: Costs, prevalence: float) -> None:
    for whole in (population.linear(), population.binormal(means=(0, 1.5))):
        result = population.least_cost_threshold(whole.at_prevalence(prevalence), costs)
        edges = whole.positive.ppf(np.arange(1, CELLS) / CELLS)
        ends = np.concatenate([[-inf], edges, [inf]])
        masses = [np.diff(each.cdf(ends)) / 2 for each in (whole.positive, whole.negative)]
        scores = np.concatenate([[edges[0] - 1], edges])
        c = curve(tally(np.repeat([True, False], CELLS), np.tile(scores, 2), weight=np.concatenate(masses)))
        chosen = decide.cost(c, costs, prevalence=prevalence).threshold
        reached = measure.expected_cost(whole.at_prevalence(prevalence).at(chosen), costs=costs)
        assert reached == pytest.approx(result.value, abs=1e-6)
        if not result.at_end:
            assert chosen == pytest.approx(result.threshold, abs=1e-2)


def test_the_youden_point_of_asah(columns: Columns) -> None:
    rows = columns("aSAH.csv")
    c = curve(tally(rows["outcome"], np.array(rows["s100b"], dtype=float), positive="Poor"))
    result = decide.youden(c)
    assert result.threshold == 0.22  # pROC prints 0.205, halfway to the score below
    counts = result.cut.counts(c)
    assert (counts.tp, counts.fp, counts.tn, counts.fn) == (26, 14, 58, 15)


def test_closest_differs_from_youden_on_asah(columns: Columns) -> None:
    """PyCM calls them equivalent; they are not."""
    rows = columns("aSAH.csv")
    ndka = curve(tally(rows["outcome"], np.array(rows["ndka"], dtype=float), positive="Poor"))
    wfns = curve(tally(rows["outcome"], np.array(rows["wfns"], dtype=float), positive="Poor"))
    assert (decide.closest(ndka).threshold, decide.youden(ndka).threshold) == (12.75, 11.09)
    assert (decide.closest(wfns).threshold, decide.youden(wfns).threshold) == (3, 4)


def test_asymmetric_costs_prefer_the_less_accurate_classifier() -> None:
    costs = Costs(fn=1, fp=10)
    accurate, careful = Counts(tp=40, fn=10, fp=10, tn=40), Counts(tp=30, fn=20, fp=5, tn=45)
    assert measure.accuracy(accurate) > measure.accuracy(careful)
    assert measure.expected_cost(accurate, costs=costs) == near(1.1)
    assert measure.expected_cost(careful, costs=costs) == near(0.7)
    # As a scorer with both points, the rule of least cost takes the careful one of the two.
    both = curve(tally([1] * 50 + [0] * 50, [3] * 30 + [2] * 10 + [1] * 10 + [3] * 5 + [2] * 5 + [1] * 40))
    assert decide.best(both, "accuracy").threshold == 2
    assert measure.expected_cost(both.at(3.0), costs=costs) < measure.expected_cost(both.at(2.0), costs=costs)


def test_scikit_learns_grid_never_beats_the_exact_search() -> None:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.model_selection import TunedThresholdClassifierCV

    class FixedProbabilities(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """A classifier whose probabilities are its one feature."""

        def fit(self, X: object, y: object) -> "FixedProbabilities":  # noqa: ARG002, N803  (scikit-learn's names)
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, X: np.ndarray) -> np.ndarray:  # noqa: N803
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    truth, score = population.binormal(means=(0, 1.5), prevalence=0.05).draw(1000, 0)
    p = 1 / (1 + np.exp(-score))
    fitted = FixedProbabilities().fit(p[:, None], truth)
    tuned = TunedThresholdClassifierCV(fitted, scoring="f1", cv="prefit", refit=False).fit(
        p[:, None], truth.astype(int)
    )
    c = curve(tally(truth, p))
    ours = measure.f1(c.at(decide.best(c, "f1").threshold))
    assert ours == np.nanmax(measure.f1(c.counts))
    assert ours >= tuned.best_score_
    assert ours > measure.f1(c.at(float(tuned.best_threshold_)))  # the grid misses it here
