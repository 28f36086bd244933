"""Comparisons of models at a stated prevalence: laws, formulas by hand, and plain bootstraps of each class."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss

from baserate import Costs, Counts, Curve, Rows, Tally, measure, shift
from baserate._errors import OptionError
from baserate.infer import (
    Comparison,
    Question,
    _comparison,
    _influence_differences,
    _mcnemar,
    _model_bootstrap,
    compare,
)
from baserate.infer._model_bootstrap import unique_rows
from baserate.infer._paired_comparison import depends_on_prevalence
from baserate.measure import MEASURES, describe
from baserate.measure._registry import Settings

Array = npt.NDArray[Any]
STATED = Settings(costs=Costs(fp=1, fn=5), at=0.2, specificity=0.8, sensitivity=0.8, precision=0.8)
INVARIANT = ("auc", "gini", "ks", "partial_auc", "sensitivity", "specificity", "fpr", "youden", "balanced_accuracy")
TABLES = ("precision", "npv", "accuracy", "flag_rate", "f1", "mcc", "expected_cost", "net_benefit")
SMOOTH = ("brier", "log_loss", "brier_skill", "average_precision", "cap_area")
OTHERS = ("pr_auc", "ece", "calibration_slope", "observed_expected")


@pytest.fixture(autouse=True)
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_model_bootstrap, "MAX_SAMPLES", 299)
    monkeypatch.setattr(_mcnemar, "N_TABLES", 1999)
    monkeypatch.setattr(_comparison, "_PERCENTILE_SAMPLES", 199)


def sample(size: int = 80, seed: int = 0, share: float = 0.4) -> Rows:
    """Two models with scores in steps of 0.01; the first is better."""
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < share
    raw = [strength * truth + rng.normal(size=size) for strength in (1.5, 0.8)]
    return Rows(truth, {name: np.round(1 / (1 + np.exp(-each)), 2) for name, each in zip("ab", raw, strict=True)})


def numbers(result: Comparison) -> list[float]:
    return [*result.values, result.difference.value, result.difference.low, result.difference.high, result.p]


@pytest.mark.parametrize("name", MEASURES)
def test_the_sample_prevalence_gives_the_same_values(name: str) -> None:
    rows, function = sample(), STATED.apply(MEASURES[name])
    (plain,) = compare(rows, measure=function)
    (stated,) = compare(rows, measure=function, prevalence=float(rows.truth.mean()))
    assert stated.values == pytest.approx(plain.values, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", INVARIANT)
def test_measures_that_do_not_depend_on_the_prevalence_keep_their_numbers(name: str) -> None:
    assert not depends_on_prevalence(MEASURES[name])
    (plain,), (stated,) = (compare(sample(), measure=name, prevalence=at) for at in (None, 0.01))
    assert plain == stated


@pytest.mark.parametrize("name", [*TABLES, *SMOOTH, *OTHERS])
def test_all_others_depend_on_the_prevalence(name: str) -> None:
    assert depends_on_prevalence(STATED.apply(MEASURES[name]))


def test_tables_by_bayes_theorem() -> None:
    truth = np.repeat([True, False], [40, 60])
    # a flags 30 of 40 positives and 6 of 60 negatives; b flags 20 and 3.
    a = np.repeat([0.9, 0.1, 0.9, 0.1], [30, 10, 6, 54])
    b = np.repeat([0.9, 0.1, 0.9, 0.1], [20, 20, 3, 57])
    names = ("precision", "npv", "expected_cost", "accuracy")
    results = compare(truth, {"a": a, "b": b}, measure=names, prevalence="5%", fp=1, fn=5)
    ppv, npv, cost, accuracy = (each.values for each in results)
    assert ppv == pytest.approx(
        (0.05 * 0.75 / (0.05 * 0.75 + 0.95 * 0.1), 0.05 * 0.5 / (0.05 * 0.5 + 0.95 * 0.05)), rel=1e-12
    )
    assert npv == pytest.approx(
        (0.95 * 0.9 / (0.95 * 0.9 + 0.05 * 0.25), 0.95 * 0.95 / (0.95 * 0.95 + 0.05 * 0.5)), rel=1e-12
    )
    assert cost == pytest.approx((0.05 * 0.25 * 5 + 0.95 * 0.1, 0.05 * 0.5 * 5 + 0.95 * 0.05), rel=1e-12)
    assert accuracy == pytest.approx((0.05 * 0.75 + 0.95 * 0.9, 0.05 * 0.5 + 0.95 * 0.95), rel=1e-12)


@pytest.mark.parametrize("name", [*TABLES, *SMOOTH, *OTHERS])
def test_swapping_the_models_changes_signs_only(name: str) -> None:
    rows, function = sample(), STATED.apply(MEASURES[name])
    (one,) = compare(rows, measure=function, models=["a", "b"], prevalence=0.05)
    (other,) = compare(rows, measure=function, models=["b", "a"], prevalence=0.05)
    expected = [-one.difference.value, -one.difference.high, -one.difference.low]
    assert [other.difference.value, other.difference.low, other.difference.high] == pytest.approx(expected, rel=1e-9)
    assert other.p == pytest.approx(one.p, rel=1e-9)


@pytest.mark.parametrize("name", [*TABLES, *SMOOTH, *OTHERS])
def test_repeated_negatives_give_the_value_of_their_prevalence(name: str) -> None:
    rows, function = sample(), STATED.apply(MEASURES[name])
    repeated = replace(rows, count=np.where(rows.truth, 1, 7))
    share = rows.truth.sum() / repeated.count.sum()  # type: ignore[union-attr]
    (expected,) = compare(repeated, measure=function)
    (stated,) = compare(rows, measure=function, prevalence=float(share))
    assert stated.values == pytest.approx(expected.values, rel=1e-9)


@pytest.mark.parametrize("name", [*TABLES, *SMOOTH, *OTHERS])
def test_the_sample_prevalence_does_not_matter(name: str) -> None:
    """Weights of a class, however large, leave a comparison at a stated prevalence as it was."""
    rows, function = sample(), STATED.apply(MEASURES[name])
    weighted = replace(rows, weight=np.where(rows.truth, 16.0, 1.0))
    results = [compare(each, measure=function, prevalence=0.05)[0] for each in (rows, weighted)]
    assert numbers(results[1]) == pytest.approx(numbers(results[0]), rel=1e-6)


@pytest.mark.parametrize("name", [*TABLES, *SMOOTH, *OTHERS])
def test_counts_are_repetition_and_the_order_of_rows_does_not_matter(name: str) -> None:
    rows, function = sample(30), STATED.apply(MEASURES[name])
    times = np.random.default_rng(1).integers(1, 4, 30)
    place = np.random.default_rng(2).permutation(np.repeat(np.arange(30), times))
    long = Rows(rows.truth[place], {model: score[place] for model, score in rows.score.items()})
    results = [compare(each, measure=function, prevalence=0.1)[0] for each in (replace(rows, count=times), long)]
    assert numbers(results[1]) == pytest.approx(numbers(results[0]), rel=1e-9)


@pytest.mark.parametrize("name", ["precision", "expected_cost", "brier", "average_precision", "ece"])
def test_clusters_of_one_row_vary_as_rows_do(name: str) -> None:
    rows, function = sample(400), STATED.apply(MEASURES[name])
    results = [
        compare(each, measure=function, prevalence=0.05)[0]
        for each in (rows, replace(rows, cluster=np.arange(len(rows))))
    ]
    widths = [each.difference.high - each.difference.low for each in results]
    assert widths[1] == pytest.approx(widths[0], rel=0.2)


def _value(function: Any, tally: Tally) -> float:  # noqa: ANN401  (a measure of any noun)
    of = describe(function).of
    data = tally if of is Tally else Curve(tally) if of is Curve else Curve(tally).at(0.5)
    return float(function(data))


def _bootstrap_differences(rows: Rows, function: Any, prevalence: float, n_samples: int) -> Array:  # noqa: ANN401
    """Sample rows, or clusters of them, with replacement; rescale the classes to the prevalence."""
    rng = np.random.default_rng(3)
    classes = [np.flatnonzero(rows.truth), np.flatnonzero(~rows.truth)]
    clusters = None if rows.cluster is None else [np.flatnonzero(rows.cluster == at) for at in np.unique(rows.cluster)]
    differences = []
    for _ in range(n_samples):
        if clusters is None:
            place = np.concatenate([rng.choice(each, len(each)) for each in classes])
        else:
            place = np.concatenate([clusters[at] for at in rng.integers(0, len(clusters), len(clusters))])
        tallies = [Tally.of_rows(rows.truth[place], score[place]) for score in rows.score.values()]
        a, b = (_value(function, shift.reweigh(each, prevalence=prevalence)) for each in tallies)
        differences.append(a - b)
    return np.array(differences)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(
    "name", ["precision", "expected_cost", "f1", "brier", "average_precision", "calibration_slope"]
)
def test_intervals_are_as_wide_as_those_of_a_plain_bootstrap_of_each_class(name: str, *, clustered: bool) -> None:
    rows, function = sample(900, seed=5), STATED.apply(MEASURES[name])
    if clustered:  # clusters of nine rows with both classes
        rows = replace(rows, cluster=np.random.default_rng(4).integers(0, 100, len(rows)))
    # At a lower one the bootstrap of average precision is too narrow: it rests on few negatives.
    (result,) = compare(rows, measure=function, prevalence=0.2)
    spread = float(_bootstrap_differences(rows, function, 0.2, 400).std(ddof=1))
    half = (result.difference.high - result.difference.low) / 2
    # 400 samples know the standard deviation to 3.5%; a t interval of 100 clusters is 2% wider than a normal one.
    assert half / (1.96 * spread) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize(
    ("name", "peer"), [("brier", brier_score_loss), ("average_precision", average_precision_score)]
)
def test_values_are_those_of_scikit_learn_with_weights(name: str, peer: Callable[..., float]) -> None:
    rows = sample(300)
    weight = np.where(rows.truth, 0.05 / rows.truth.sum(), 0.95 / (~rows.truth).sum())
    (result,) = compare(rows, measure=name, prevalence=0.05)
    expected = [peer(rows.truth, rows.score[model], sample_weight=weight) for model in "ab"]
    assert result.values == pytest.approx(expected, rel=1e-9)


def test_mcnemar_does_not_fit_reweighted_rows() -> None:
    question = Question(method="mcnemar-mid-p")
    for name in ("accuracy", "flag_rate", "error_rate"):
        with pytest.raises(OptionError, match="counts rows, and a stated prevalence reweights them"):
            compare(sample(), measure=name, prevalence=0.05, question=question)
    (plain,), (stated,) = (
        compare(sample(), measure="sensitivity", prevalence=at, question=question) for at in (None, 0.05)
    )
    assert plain == stated


def test_methods_state_that_the_prevalence_is_known() -> None:
    results = compare(sample(), measure=["accuracy", "brier", "ece", "auc"], prevalence=0.05)
    assert ["prevalence known" in str(each.difference.how) for each in results] == [True, True, True, False]


def test_the_prevalence_itself_does_not_differ() -> None:
    (result,) = compare(sample(), measure="prevalence", prevalence=0.05)
    assert result.values == pytest.approx((0.05, 0.05))
    assert (result.difference.value, result.p) == (0, 1)


def test_groups_are_compared_at_the_same_prevalence() -> None:
    rows = sample(120)
    group = np.arange(120) % 2
    rows = replace(rows, group=group, groups=(("x",), ("y",)), attributes=("site",))
    results = compare(rows, measure=["precision", "prevalence"], prevalence=0.05)
    assert [each.values[0] for each in results[1::2]] == pytest.approx([0.05] * 3)
    for at, each in enumerate(results[2::2]):
        counts = Curve(Tally.of_rows(rows.truth[group == at], rows.score["a"][group == at])).at(0.5)
        stated: Counts[float] = shift.reweigh(counts, prevalence=0.05)
        assert each.values[0] == pytest.approx(measure.precision(stated))


def test_a_group_of_one_class_has_a_reason() -> None:
    rows = sample(60)
    rows = replace(rows, group=rows.truth.astype(np.intp), groups=(("n",), ("p",)), attributes=("side",))
    results = compare(rows, measure=["brier", "specificity"], prevalence=0.05)
    reasons = [(each.measure, each.why) for each in results if each.group]
    assert reasons[0] == ("brier", "there are no positives that could be reweighted")
    assert reasons[2] == ("brier", "there are no negatives that could be reweighted")
    assert isnan(results[2].p)
    assert results[3].measure == "specificity"
    assert not isnan(results[3].difference.value)  # it needs no positives


def test_perfect_models_have_wide_intervals() -> None:
    truth = np.repeat([True, False], [10, 90])
    a = np.where(truth, 1.0, 0.0)
    rows = Rows(truth, {"a": a, "b": np.where(truth, 0.9, 0.1)})
    (brier,) = compare(rows, measure="brier", prevalence=0.5)
    # A positive row counts for a twentieth: as if there were twenty rows.
    assert brier.difference.high > 0.1
    (cost,) = compare(rows, measure="expected_cost", costs=Costs(fp=1, fn=5), prevalence=0.5)
    assert (cost.difference.value, cost.p) == (0, 1)
    assert cost.difference.high > 0.1


@pytest.mark.parametrize("prevalence", [0, 1, -0.1, 2.0, float("nan")])
def test_impossible_prevalences_raise(prevalence: float) -> None:
    with pytest.raises(OptionError, match="prevalence"):
        compare(sample(), prevalence=prevalence)


def test_predictions_come_in_any_form() -> None:
    rows = sample()
    expected = compare(rows, measure="precision", prevalence=0.05)
    scores = dict(rows.score)
    assert compare(rows.truth, scores, measure="precision", prevalence="5%") == expected
    table = {"y": rows.truth, **scores}
    assert compare(table, truth="y", score=["a", "b"], measure="precision", prevalence=0.05) == expected


def test_class_masses_of_samples_are_fixed() -> None:
    cells = unique_rows(sample(), ["a", "b"]).reweigh(0.05)
    masses = cells.sample_masses(np.random.default_rng(0), 7)
    shares = masses[:, cells.truth].sum(axis=1) / masses.sum(axis=1)
    assert shares == pytest.approx(np.full(7, 0.05), rel=1e-12)


@pytest.mark.slow
def test_tests_at_a_prevalence_keep_their_significance_level() -> None:
    rng = np.random.default_rng(8)
    names = ("precision", "npv", "expected_cost", "brier", "average_precision")
    functions = [STATED.apply(MEASURES[name]) for name in names]
    rejections = dict.fromkeys(names, 0)
    truth = np.repeat([True, False], [160, 240])
    for _ in range(400):
        shared = truth * 1.2 + rng.normal(size=400)
        scores = {name: 1 / (1 + np.exp(2 - shared - rng.normal(size=400))) for name in "ab"}
        for each in compare(truth, scores, measure=functions, prevalence=0.05):
            rejections[each.measure] += each.p < 0.05
    # 400 samples: a Monte-Carlo error of 1.1%.
    assert all(0.01 < count / 400 < 0.085 for count in rejections.values()), rejections


def test_partial_measures_state_their_own_options() -> None:
    benefit = partial(measure.net_benefit, at=0.2)
    (result,) = compare(sample(), measure=benefit, prevalence=0.05)
    (cost,) = compare(sample(), measure="expected_cost", costs=Costs(fp=1, fn=4), prevalence=0.05)
    # net benefit = prevalence − cost/(fn − tp + fp), in units of true positives
    assert result.difference.value == pytest.approx(-cost.difference.value / 4)


def test_contributions_to_average_precision_are_those_of_deleted_rows() -> None:
    rows = sample(40)
    cells = unique_rows(rows, ["a", "b"]).reweigh(0.05)
    mass, score = cells.mass, cells.score["a"]
    true, false = _influence_differences.deletion_slopes(cells.tally("a"))
    distinct = np.unique(score)[::-1]
    whole = average_precision_score(cells.truth, score, sample_weight=mass)
    for at in range(len(cells)):
        step = mass[at] / cells.times[at]
        less = mass - step * (np.arange(len(cells)) == at)
        slope = (whole - average_precision_score(cells.truth, score, sample_weight=less)) / step
        expected = (true if cells.truth[at] else false)[np.flatnonzero(distinct == score[at])[0]]
        assert slope == pytest.approx(expected, rel=1e-9, abs=1e-12)
