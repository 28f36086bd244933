"""Exact curves as tables, and simulation studies."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf, isnan, log, sqrt

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from baserate import (
    Counts,
    Curve,
    OptionError,
    Population,
    UnknownNameError,
    curve,
    measure,
    population,
    tally,
)
from tests.schemas import check_schema


def test_thresholds_run_from_flagging_nothing_to_everything() -> None:
    for result in (*map(population.retrieval, population.LEVELS), population.linear(), population.logit_normal()):
        at = population.default_thresholds(result, points=11)
        assert (np.diff(at) < 0).all()
        counts = result.at(at)
        assert counts.flagged[0] == counts.not_flagged[-1] == 0
    assert population.default_thresholds(population.linear(), points=11).tolist() == [k / 10 for k in range(10, -1, -1)]
    assert population.default_thresholds(population.binormal(), points=11)[[0, -1]].tolist() == [inf, -inf]
    assert len(population.default_thresholds(population.binormal(), points=11)) == 11
    assert population.default_thresholds(population.retrieval("perfect")).tolist() == [inf, 1, 0]
    mixed = Population(stats.uniform(), stats.binom(2, 0.5), 0.5)
    assert population.default_thresholds(mixed, points=5).tolist() == [inf, 2, 4 / 3, 2 / 3, 0]


def test_tables_hold_curves_and_measures() -> None:
    actual = population.linear(prevalence=0.25)
    result = population.table(actual, "pr", "f1", measure.mcc, points=5)
    assert list(result.columns) == ["model", "group", "threshold", "sensitivity", "precision", "f1", "mcc"]
    assert list(result.columns["threshold"]) == [1, 0.75, 0.5, 0.25, 0]
    np.testing.assert_array_equal(result.columns["f1"], measure.f1(actual.at(np.linspace(1, 0, 5))))
    assert result.rows()[0]["precision"] is None
    assert result.data["prevalence"] == 0.25
    assert result.data["auc"] == pytest.approx(5 / 6)
    check_schema(json.loads(result.to_json()))
    at = population.table(actual, "roc", thresholds=[0.1, inf, 0.9])
    assert list(at.columns["threshold"]) == [inf, 0.9, 0.1]


def test_results_describe_their_population() -> None:
    output = population.table(Population(stats.norm(1.5, scale=2), population.linear().positive, 0.5), "roc").data
    assert output["population"] == {"negative": "scipy.stats.norm(1.5, scale=2)", "positive": "Linear(rising=True)"}
    assert "0x" not in population.table(Population(stats.binom(3, 0.5), _CustomDistribution(), 0.5), "roc").to_json()


class _CustomDistribution:
    """A user's distribution, with the methods that are required."""

    def __init__(self) -> None:
        uniform = stats.uniform()
        self.pdf, self.cdf, self.sf, self.ppf, self.isf, self.rvs = (
            getattr(uniform, name) for name in ("pdf", "cdf", "sf", "ppf", "isf", "rvs")
        )


def test_summaries_list_best_values_first() -> None:
    result = population.summary(population.linear(), "precision", "F1 score", "flag_rate", "auc", thresholds=[1.0, 0.5])
    rows = result.rows()
    assert [(row["measure"], row["best"], row["how"]) for row in rows[:3]] == [
        ("precision", True, "limit"),
        ("f1", True, None),
        ("auc", False, None),
    ]
    inner = {(row["measure"], row["threshold"]): row for row in rows[3:]}
    assert len(inner) == 6
    assert (inner["precision", 1.0]["value"], inner["precision", 1.0]["why"]) == (None, "nothing is flagged")
    assert inner["flag_rate", 0.5]["value"] == 0.5
    check_schema(json.loads(result.to_json()))


@pytest.mark.quick(5)
@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize(
    "name", ["auc", "gini", "accuracy_ratio", "cap_area", "lorenz_gini", "ks", "average_precision", "pr_auc"]
)
def test_exact_values_are_limits_of_large_samples(name: str, share: float) -> None:
    result = population.binormal(means=(0, 1.2), sds=(1, 1.5), prevalence=share)
    truth, score = result.draw(200_000, 5, positives=int(200_000 * share))
    sampled = measure.find_measure(name)(curve(tally(truth, score)))
    assert population.exact_value(result, name) == pytest.approx(sampled, abs=0.01)


def test_exact_values_of_a_reversed_score() -> None:
    result = population.binormal(means=(1, 0))
    assert population.exact_value(result, "gini") < 0
    assert population.exact_value(result, "ks") == pytest.approx(2 * stats.norm.cdf(0.5) - 1, rel=0, abs=1e-14)


def test_measures_without_an_exact_value() -> None:
    assert isnan(population.exact_value(population.linear(), "partial_auc"))
    assert isnan(population.exact_value(population.linear(prevalence=1), "auc"))
    row = population.summary(population.linear(), "partial_auc").rows()[0]
    assert row["value"] is None
    assert "no formula is known" in row["why"]


def test_invalid_tables_raise() -> None:
    linear = population.linear()
    with pytest.raises(OptionError, match="auc has one value for a whole curve"):
        population.table(linear, "auc")
    with pytest.raises(UnknownNameError, match="no measure 'rocc'"):
        population.table(linear, "rocc")
    with pytest.raises(OptionError, match="points is 1; expected a whole number from 2 to 1,000,000"):
        population.table(linear, "roc", points=1)
    with pytest.raises(OptionError, match="f1 is not a measure over all thresholds"):
        population.exact_value(linear, "f1")
    with pytest.raises(OptionError, match="brier is a measure of probabilities"):
        population.summary(linear, "brier")


def test_means_stay_near_the_theory_and_spreads_shrink() -> None:
    result = population.simulation_study(population.linear(), sizes=[30, 300, 3000], repeats=100, seed=1)
    for name in ("auc", "average_precision"):
        rows = [row for row in result.rows() if row["measure"] == name]
        assert [row["size"] for row in rows] == [30, 300, 3000]
        assert all(abs(row["value"] - row["theory"]) < 5 * row["sd"] / sqrt(100) for row in rows[1:])
        # Ten times the rows, a third of the spread.
        assert [rows[k]["sd"] / rows[k + 1]["sd"] for k in (0, 1)] == pytest.approx([sqrt(10)] * 2, rel=0.35)
    assert all(row["theory"] == pytest.approx(5 / 6) for row in result.rows())
    check_schema(json.loads(result.to_json()))


def test_imbalance_widens_the_spread() -> None:
    result = population.simulation_study(
        population.linear(), sizes=[300], prevalences=[0.5, 0.05], measures=["auc"], repeats=100
    )
    balanced, rare = result.rows()
    assert rare["sd"] > 1.5 * balanced["sd"]
    assert rare["theory"] == balanced["theory"]


def test_precision_moves_with_the_balance() -> None:
    result = population.simulation_study(
        population.linear(), sizes=[300], prevalences=[0.5, 2 / 3], measures=["AP"], repeats=20
    )
    assert [row["theory"] for row in result.rows()] == pytest.approx([0.8333333, 0.9043697], abs=1e-7)
    assert [row["measure"] for row in result.rows()] == ["average_precision"] * 2


def run_study(population_: Population, **query: object) -> dict[tuple[object, ...], object]:
    rows = population.simulation_study(population_, **query).rows()  # type: ignore[arg-type]
    return {(row["measure"], row["size"], row["prevalence"]): (row["value"], row["sd"]) for row in rows}


def test_studies_depend_on_the_seed_but_not_on_order() -> None:
    result = population.binormal()
    whole = run_study(result, sizes=[20, 50], prevalences=[0.5, 0.2], repeats=10, seed=3)
    assert whole == run_study(result, sizes=[50, 20], prevalences=[0.2, 0.5], repeats=10, seed=3)
    alone = run_study(result, sizes=[50], prevalences=[0.2], measures=["auc"], repeats=10, seed=3)
    assert alone["auc", 50, 0.2] == whole["auc", 50, 0.2]
    assert run_study(result, sizes=[20], repeats=10, seed=4) != run_study(result, sizes=[20], repeats=10, seed=3)


def test_a_sample_of_a_study_can_be_reproduced() -> None:
    result = population.linear()
    row = population.simulation_study(result, sizes=[40], measures=["auc"], repeats=1, seed=9).rows()[0]
    bits = int(np.float64(0.5).view(np.uint64))
    truth, score = result.draw(40, np.random.default_rng([9, 40, bits, 0]))
    assert row["value"] == measure.auc(curve(tally(truth, score)))
    assert row["sd"] is None  # of one sample


def test_samples_of_a_single_class_are_counted_and_noted() -> None:
    result = population.simulation_study(population.linear(), sizes=[10, 1], prevalences=[0.05], repeats=60)
    some, none = ([row for row in result.rows() if row["size"] == size] for size in (10, 1))
    assert all(0 < row["undefined"] < 60 and row["value"] is not None for row in some)
    assert all(row["undefined"] == 60 and row["why"] == "every sample contains a single class" for row in none)
    assert result.data["notes"][1] == (
        "60 of 60 samples of 1 rows at prevalence 0.05 have a single class and are omitted."
    )
    check_schema(json.loads(result.to_json()))


def test_progress_goes_from_0_to_100_percent() -> None:
    observed: list[float | None] = []

    @contextmanager
    def watch(progress: Callable[[], float | None]) -> Iterator[None]:
        observed.append(progress())
        yield
        observed.append(progress())

    population.simulation_study(population.linear(), sizes=[10, 20], repeats=5, watch=watch)
    assert observed == [0, 100]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"measures": ["auc", "f1"]}, "f1 requires a threshold; choose measures over all thresholds"),
        ({"sizes": [0]}, "sizes is 0; expected whole numbers of 1 or more"),
        ({"sizes": [2.5]}, "sizes is 2.5; expected whole numbers"),
        ({"repeats": 0}, "repeats is 0"),
        ({"sizes": []}, "there is nothing to study"),
        ({"prevalences": [1.5]}, "prevalence is 1.5; expected 0, 1 or a prevalence from 1e-12 to 1 - 1e-12"),
    ],
)
def test_invalid_studies_raise(query: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        population.simulation_study(population.linear(), **query)  # type: ignore[arg-type]


Floats = npt.NDArray[np.float64]

SIZES = (300, 3000, 300_000)
POPULATIONS = {
    "linear": population.linear(prevalence=0.5),
    "linear, twice as many": population.linear(prevalence=2 / 3),
    "ER+": population.retrieval("ER+", prevalence=1 / 11),
    "binormal": population.binormal(means=(0, 1), sds=(1, 2), prevalence=0.3),
}


def band_width(rows: int) -> float:
    return sqrt(log(2 / 1e-6) / (2 * rows))


def draw_curve(source: Population, size: int) -> Curve:
    truth, score = source.draw(size, 2026, positives=round(size * source.prevalence))
    return curve(tally(truth, score))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", POPULATIONS)
def test_roc_curves_lie_within_the_band(name: str, size: int) -> None:
    actual = POPULATIONS[name]
    c = draw_curve(actual, size)
    result = measure.table(c, "roc")
    assert np.max(np.abs(result["sensitivity"] - actual.tpr(result["threshold"]))) < band_width(round(c.positives))
    assert np.max(np.abs(result["fpr"] - actual.fpr(result["threshold"]))) < band_width(round(c.negatives))


@pytest.mark.quick(4)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("curve_", ["precision", "f1", "mcc"])
@pytest.mark.parametrize("name", POPULATIONS)
def test_other_curves_lie_within_the_band_of_the_rates(name: str, curve_: str, size: int) -> None:
    # Each rises with the true positive rate and falls with the false one, so corners of the band bound it.
    result, function = POPULATIONS[name], measure.find_measure(curve_)
    c = draw_curve(result, size)
    t = np.quantile(c.tally.score, np.linspace(0.02, 0.98, 97))
    value = function(c.at(t))
    wide, narrow = band_width(round(c.positives)), band_width(round(c.negatives))
    low = function(shift_rates(result, t, -wide, narrow))
    high = function(shift_rates(result, t, wide, -narrow))
    assert (value >= np.nan_to_num(low, nan=-1) - 1e-12).all()
    assert (value <= np.nan_to_num(high, nan=1) + 1e-12).all()
    if size == SIZES[-1]:
        assert np.max(np.abs(value - function(result.at(t)))) < 0.02


def shift_rates(source: Population, t: Floats, true: float, false: float) -> Counts[Floats]:
    tpr, fpr = np.clip(source.tpr(t) + true, 0, 1), np.clip(source.fpr(t) + false, 0, 1)
    share = source.prevalence
    return Counts(share * tpr, (1 - share) * fpr, share * (1 - tpr), (1 - share) * (1 - fpr))


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_best_threshold_of_a_sample_is_nearly_as_good_as_the_best(name: str) -> None:
    result = POPULATIONS[name]
    c = draw_curve(result, SIZES[-1])
    threshold = float(c.threshold[np.argmax(measure.table(c, "youden")["youden"])])
    best = population.best_threshold(result, "youden").value
    assert 0 <= best - measure.youden(result.at(threshold)) < 0.005


@pytest.mark.parametrize("name", POPULATIONS)
def test_areas_converge(name: str) -> None:
    result = POPULATIONS[name]
    small, large = draw_curve(result, SIZES[0]), draw_curve(result, SIZES[-1])
    for function, exact in ((measure.auc, result.auc), (measure.average_precision, result.average_precision)):
        # |AUC − exact| is at most the sum of both bands; precision is steeper, by at most 1/π.
        allowed = (band_width(round(large.positives)) + band_width(round(large.negatives))) / result.prevalence
        assert abs(function(large) - exact) < allowed
        assert abs(function(large) - exact) < 0.016
        assert abs(function(small) - exact) < 0.2


def test_simulated_rows_are_those_of_the_population() -> None:
    linear = population.linear(prevalence=0.3)
    results = population.simulate_rows(linear, 50, seed=3, positives=20)
    truth, score = linear.draw(50, 3, positives=20)
    assert [row["truth"] for row in results.rows()] == truth.astype(int).tolist()
    assert [row["score"] for row in results.rows()] == score.tolist()
    assert (results.data["prevalence"], results.data["seed"]) == (0.3, 3)
