"""Yardstick's two-class example, unweighted and weighted, as it checks itself against scikit-learn."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from baserate import Counts, Curve, Tally, curve, measure, tally

Columns = Callable[[str], dict[str, list[str]]]

near = partial(pytest.approx, rel=0, abs=1e-12)
same = partial(np.testing.assert_allclose, rtol=0, atol=1e-12)


@pytest.fixture(params=["unweighted", "weighted"])
def weighted(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "weighted")


@pytest.fixture(scope="module")
def make_tallies(columns: Columns) -> Callable[[Any], dict[bool, Tally]]:
    """Tally a score column of the example, without weights and with them."""
    truth = columns("two_class_example.csv")["truth"]
    weight = np.array(columns("yardstick_weights-two-class-example.csv")["weight"], dtype=float)

    def both(score: Any) -> dict[bool, Tally]:  # noqa: ANN401  (whatever a score may be)
        return {
            False: tally(truth, score, positive="Class1"),
            True: tally(truth, score, weight=weight, positive="Class1"),
        }

    return both


@pytest.fixture
def score_tally(columns: Columns, make_tallies: Callable[[Any], dict[bool, Tally]], *, weighted: bool) -> Tally:
    return make_tallies(np.array(columns("two_class_example.csv")["Class1"], dtype=float))[weighted]


@pytest.fixture
def decision_counts(
    columns: Columns, make_tallies: Callable[[Any], dict[bool, Tally]], *, weighted: bool
) -> Counts[float]:
    predicted = np.array(columns("two_class_example.csv")["predicted"])
    return curve(make_tallies(predicted == "Class1")[weighted]).at(1)


@pytest.fixture
def values(load_published: Callable[[str], Any], *, weighted: bool) -> dict[str, float]:
    """The published binary values by name."""
    entries = load_published("yardstick_sklearn_reference.json")
    known: dict[str, Any] = {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
    if weighted:
        known = {name: entry["case_weight"] for name, entry in known.items() if "case_weight" in entry}
        known = {name: entry for name, entry in known.items() if isinstance(entry, dict)}
    values = {name: entry["binary"] for name, entry in known.items() if "binary" in entry}
    values["mn_log_loss_sum"] = known["mn_log_loss"]["binary_sum"]
    # Curves stand in files of their own.
    return {name: value for name, value in values.items() if isinstance(value, float)}


DECIDED: dict[str, Callable[[Counts[float]], Any]] = {
    "accuracy": measure.accuracy,
    "bal-accuracy": measure.balanced_accuracy,
    "f_meas": measure.f1,
    "f_meas_beta_.5": partial(measure.f_beta, beta=0.5),
    "kap": measure.kappa,
    "mcc": measure.mcc,
    "npv": measure.npv,
    "ppv": measure.precision,
    "precision": measure.precision,
    "recall": measure.sensitivity,
}
SCORED: dict[str, Callable[[Tally], float]] = {
    "average-precision": lambda t: measure.average_precision(curve(t)),
    "mn_log_loss": measure.log_loss,
    "mn_log_loss_sum": lambda t: measure.log_loss(t) * t.total,
    "roc-auc": lambda t: measure.auc(curve(t)),
}
ONLY_UNWEIGHTED, ONLY_WEIGHTED = {"accuracy"}, {"bal-accuracy", "npv", "ppv"}
OF_GROUPS = {"demographic_parity", "equal_opportunity", "equalized_odds"}


def test_every_published_value_has_its_measure(values: dict[str, float], *, weighted: bool) -> None:
    expected = (DECIDED.keys() | SCORED.keys()) - (ONLY_UNWEIGHTED if weighted else ONLY_WEIGHTED)
    assert values.keys() - OF_GROUPS == expected


@pytest.mark.parametrize(
    ("weighted", "name"),
    [(False, name) for name in DECIDED if name not in ONLY_WEIGHTED]
    + [(True, name) for name in DECIDED if name not in ONLY_UNWEIGHTED],
)
def test_measures_of_the_decisions(
    name: str, decision_counts: Counts[float], values: dict[str, float], *, weighted: bool
) -> None:
    assert DECIDED[name](decision_counts) == near(values[name])


@pytest.mark.parametrize("name", SCORED)
def test_measures_of_the_scores(name: str, score_tally: Tally, values: dict[str, float]) -> None:
    # The sums reach 10⁴, so that 10⁻¹² is relative there.
    assert SCORED[name](score_tally) == pytest.approx(values[name], rel=1e-12)


@pytest.mark.parametrize("weighting", ["linear", "quadratic"])
def test_weighted_kappa_of_two_classes_is_kappa(
    weighting: str, decision_counts: Counts[float], load_published: Callable[[str], Any], *, weighted: bool
) -> None:
    entry = load_published("yardstick_sklearn_reference.json")["kap"]
    entry = entry["case_weight"] if weighted else entry
    assert measure.kappa(decision_counts) == near(entry[f"{weighting}_binary"])


def test_roc_curve(score_tally: Tally, columns: Columns, *, weighted: bool) -> None:
    name = "yardstick_py-roc-curve_case_weight_binary.csv" if weighted else "yardstick_py_roc-curve_binary.csv"
    theirs = {title: np.array(column, dtype=float) for title, column in columns(name).items()}
    # Theirs runs from the laxest threshold, which it puts at −∞ and at the lowest score both.
    assert theirs[".threshold"][0] == -np.inf
    ours = measure.table(curve(score_tally), "sensitivity", "specificity")
    assert len(ours["threshold"]) == len(theirs[".threshold"]) - 1 == 501
    same(ours["threshold"][::-1], theirs[".threshold"][1:])
    same(ours["sensitivity"][::-1], theirs["sensitivity"][1:])
    same(ours["specificity"][::-1], theirs["specificity"][1:])
    everything = curve(score_tally).at(-np.inf)
    assert measure.sensitivity(everything) == near(theirs["sensitivity"][0])
    assert measure.specificity(everything) == near(theirs["specificity"][0])


def test_pr_curve(score_tally: Tally, columns: Columns, *, weighted: bool) -> None:
    name = "yardstick_py-pr-curve_case_weight_binary.csv" if weighted else "yardstick_py_pr-curve_binary.csv"
    theirs = {title: np.array(column, dtype=float) for title, column in columns(name).items()}
    ours = measure.table(curve(score_tally), "pr")
    assert len(ours["threshold"]) == 501
    same(ours["threshold"], theirs[".threshold"])
    same(ours["sensitivity"], theirs["recall"])
    same(ours["precision"][1:], theirs["precision"][1:])
    # At +∞ nothing is flagged: theirs draws precision 1, for which there is no evidence.
    assert theirs["precision"][0] == 1
    assert np.isnan(ours["precision"][0])


def test_other_values_of_the_unweighted_example(
    columns: Columns, make_tallies: Callable[[Any], dict[bool, Tally]]
) -> None:
    t = make_tallies(np.array(columns("two_class_example.csv")["Class1"], dtype=float))[False]
    pr = measure.table(curve(t), "pr")
    trapezoid = np.trapezoid(np.append(1, pr["precision"][1:]), pr["sensitivity"])
    # Given with seven and eight digits.
    assert trapezoid == pytest.approx(0.9464467, rel=0, abs=5e-8)
    assert measure.brier(t) == pytest.approx(0.10561859, rel=0, abs=5e-9)
    # Their gain capture is the Gini coefficient by another name.
    assert measure.gini(curve(t)) == near(2 * 0.939313857389967 - 1)


def gain_capture(c: Curve) -> float:
    gain = measure.table(c, "gain")
    return float(np.trapezoid(gain["sensitivity"], gain["flag_rate"]) - 0.5) / ((1 - c.tally.prevalence) / 2)


def test_gain_capture_equals_gini(score_tally: Tally) -> None:
    c = curve(score_tally)
    assert gain_capture(c) == near(measure.gini(c))
    assert gain_capture(c) == near(measure.accuracy_ratio(c))


PATHOLOGY = Counts(tp=231, fp=32, fn=27, tn=54)


def test_rows_of_the_pathology_example(columns: Columns) -> None:
    rows = columns("pathology.csv")
    c = curve(tally(rows["pathology"], np.array(rows["scan"]) == "abnorm", positive="abnorm")).at(1)
    assert (c.tp, c.fp, c.fn, c.tn) == (PATHOLOGY.tp, PATHOLOGY.fp, PATHOLOGY.fn, PATHOLOGY.tn)


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("sensitivity", 231 / 258),
        ("specificity", 54 / 86),
        ("precision", 231 / 263),
        ("npv", 54 / 81),
        ("prevalence", 258 / 344),
        ("flag_rate", 263 / 344),
        ("accuracy", 285 / 344),
        ("balanced_accuracy", (231 / 258 + 54 / 86) / 2),
        ("youden", 231 / 258 + 54 / 86 - 1),
        ("f1", 462 / 521),
    ],
)
def test_pathology_table(name: str, exact: float) -> None:
    assert measure.find_measure(name)(PATHOLOGY) == near(exact)


def test_pathology_at_another_prevalence() -> None:
    # Yardstick's ppv(prevalence = .5), of which five digits are published.
    even = Counts(tp=231 / 258, fn=27 / 258, fp=32 / 86, tn=54 / 86)
    assert measure.precision(even) == pytest.approx(0.70642, abs=5e-6)


def test_known_pr_curve() -> None:
    pr = measure.table(curve(tally(["Yes", "Yes", "No", "Yes"], [0.9, 0.4, 0.35, 0.7], positive="Yes")), "pr")
    same(pr["threshold"], [np.inf, 0.9, 0.7, 0.4, 0.35])
    same(pr["sensitivity"], [0, 1 / 3, 2 / 3, 1, 1])
    # Its first releases left the first precision missing too; later ones draw 1.
    same(pr["precision"], [np.nan, 1, 1, 1, 0.75])
