"""Numeric options at the ends of their domains, and errors beyond them before memory is allocated."""

import re
from collections.abc import Callable
from fractions import Fraction
from math import inf, nan, sqrt
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import baserate
from baserate import (
    Costs,
    OptionError,
    _domains,
    calibration,
    decide,
    draw,
    fairness,
    infer,
    measure,
    population,
    read,
    shift,
)
from baserate._arrays import Floats
from baserate._domains import Domain
from baserate.infer._bootstrap import sample_in_blocks

RNG = np.random.default_rng(0)
TRUTH = np.arange(200) % 2 == 0
RISK = np.clip(0.3 * TRUTH + 0.7 * RNG.random(200), 0, 1)
TABLE = {"y": TRUTH, "p": RISK, "g": np.arange(200) % 3}
TALLIES = read.tallies(TABLE, truth="y", score="p", group="g")
TALLY = baserate.tally(TRUTH, RISK)
CURVE = baserate.curve(TALLY)
CLASSES = baserate.class_scores(TRUTH, np.column_stack([1 - RISK, RISK]))
TINY, HUGE, MANY = 5e-324, 1e308, 10**9

REFUSED: dict[str, Callable[[], object]] = {
    "evaluate, prevalence": lambda: baserate.evaluate(TRUTH, RISK, prevalence=TINY),
    "evaluate, level": lambda: baserate.evaluate(TRUTH, RISK, level=TINY),
    "costs": lambda: Costs(fn=HUGE),
    "small costs": lambda: Costs(fp=TINY),
    "NaN as a cost": lambda: Costs(fp=nan),
    "matrix of costs": lambda: baserate.CostMatrix(np.array([[0.0, HUGE], [1.0, 0.0]]), "ab"),
    "slope": lambda: Costs().slope(TINY),
    "interval": lambda: infer.estimate("auc", CURVE, level=1 - 1e-16),
    "band": lambda: infer.confidence_band(TALLY, "roc", level=TINY),
    "question": lambda: infer.Question(level=TINY),
    "margin": lambda: infer.Question(alternative="better", margin=HUGE),
    "slopes, level": lambda: decide.hull_likelihood_ratios(CURVE, level=TINY),
    "slopes, prevalence": lambda: decide.hull_likelihood_ratios(CURVE, prevalence=TINY),
    "cost, prevalence": lambda: decide.cost(CURVE, Costs(fn=5), prevalence=TINY),
    "ranges": lambda: decide.roc_convex_hull({"p": CURVE}).ranges(TINY),
    "thresholds to act from": lambda: decide.net_benefit_curve(TALLIES, thresholds=[TINY]),
    "net benefit": lambda: measure.net_benefit(CURVE.counts, at=TINY),
    "trial, draws": lambda: decide.summary(TALLIES, "youden", n_bootstrap=MANY),
    "trial, folds": lambda: decide.summary(TALLIES, "youden", folds=MANY),
    "cost curve": lambda: decide.cost_curve(CURVE, points=MANY),
    "resampled rules": lambda: decide.bootstrap_threshold(CURVE, decide.youden, n_bootstrap=MANY),
    "groups": lambda: fairness.compare_groups(TALLIES, n_permutations=MANY),
    "deal": lambda: fairness.Folds(repeats=MANY),
    "ece": lambda: measure.ece(TALLY, bins=MANY),
    "reliability": lambda: infer.CalibrationOptions(n_simulations=MANY),
    "floor": lambda: infer.null_reference("ece", TALLY, n_simulations=10**21),
    "histogram": lambda: calibration.histogram(TALLY, bins=MANY),
    "folds": lambda: calibration.cross_fit(TALLY, folds=MANY),
    "folds of classes": lambda: calibration.cross_fit(CLASSES, "temperature", folds=MANY),
    "curves": lambda: measure.curves(TALLIES, "roc", points=MANY),
    "reweigh": lambda: shift.reweigh(TALLY, prevalence=TINY),
    "reweigh by many": lambda: shift.reweigh(CURVE.counts[3], prevalence=np.array([0.1, TINY])),
    "gamma": lambda: shift.reweigh(TALLY, gamma=HUGE),
    "prevalence, bins": lambda: shift.estimate_prevalence(read.target(RISK), TALLY, method="binned", bins=MANY),
    "prevalence, level": lambda: shift.estimate_prevalence(read.target(RISK), TALLY, level=TINY),
    "population": lambda: population.linear(prevalence=TINY),
    "means": lambda: population.binormal(means=(0, HUGE)),
    "standard deviations": lambda: population.logit_normal(sds=(TINY, 1)),
    "shapes": lambda: population.beta(negative=(TINY, 1)),
    "rows": lambda: population.linear().draw(MANY, 1),
    "table": lambda: population.table(population.linear(), "f1", points=MANY),
    "scores": lambda: draw.scores(TALLIES, bins=MANY),
    "place": lambda: draw.scores(TALLIES, threshold=HUGE),
    "size, half-width": lambda: infer.sample_size_for_auc(0.8, TINY, prevalence=0.1),
    "size, prevalence": lambda: infer.sample_size_for_auc(0.8, 0.05, prevalence=TINY),
    "size, draws": lambda: infer.sample_size_by_simulation(
        population.linear(), "f1", 0.1, threshold=0.5, n_simulations=MANY
    ),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("what", REFUSED)
def test_options_outside_their_domain_raise(what: str) -> None:
    with pytest.raises(OptionError) as caught:
        REFUSED[what]()
    assert re.search("expected|are not a|are neither 0 nor a number from", str(caught.value))


DOMAINS = {name: each for name, each in vars(_domains).items() if isinstance(each, Domain)}


@pytest.mark.parametrize("name", DOMAINS)
def test_domains_include_their_ends_and_example(name: str) -> None:
    domain = DOMAINS[name]
    kind = int if domain.whole else float
    for value in (kind(domain.low), kind(domain.high), kind(domain.example)):
        assert domain.holds(value)
    assert not any(map(domain.holds, (nan, inf, -inf, True, "1", None, 1j, 10**400, np.array([1.0, 2.0]))))
    step = 1 if domain.whole else 2.0**-30 * max(abs(domain.low), abs(domain.high), 1e-12)
    assert not domain.holds(kind(domain.high) + step)
    assert not domain.holds(kind(domain.low) - max(step, abs(domain.low) * 2**-30))


@pytest.mark.parametrize("level", [_domains.LEVEL.low, _domains.LEVEL.high])
def test_intervals_at_both_ends_of_levels(level: float) -> None:
    """Against the definition: Wilson's bounds solve |p − x/n| = z·√(p(1 − p)/n)."""
    z = NormalDist().inv_cdf(0.5 + level / 2) if level < 0.5 else -NormalDist().inv_cdf((1 - level) / 2)
    result = infer.estimate("sensitivity", baserate.Counts(tp=38, fn=162, fp=1, tn=9), level=level, method="wilson")
    x, n = 38, 200
    middle, half = (x + z**2 / 2) / (n + z**2), z / (n + z**2) * sqrt(x * (n - x) / n + z**2 / 4)
    assert result.low == pytest.approx(middle - half, rel=1e-12)
    assert result.high == pytest.approx(middle + half, rel=1e-12)


@pytest.mark.quick(2)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("prevalence", [_domains.PREVALENCE.low, _domains.PREVALENCE.high])
@pytest.mark.parametrize("costs", [Costs(fp=1e-15, fn=1e15), Costs(fp=1e15, fn=1e-15)])
def test_numbers_at_both_ends_of_prevalences_and_costs(prevalence: float, costs: Costs) -> None:
    """Against fractions: precision and expected cost by their definitions."""
    counts = baserate.Counts(tp=38, fn=162, fp=30, tn=70)
    moved = shift.reweigh(counts, prevalence=prevalence)
    share = Fraction(prevalence)
    tp, fp = share * 38 / 200, (1 - share) * 30 / 100
    assert measure.precision(moved) == pytest.approx(float(tp / (tp + fp)), rel=1e-12)
    paid = Fraction(costs.fp) * fp + Fraction(costs.fn) * share * 162 / 200
    assert measure.expected_cost(moved, costs=costs) == pytest.approx(float(paid), rel=1e-12)
    assert np.isfinite(decide.cost(CURVE, costs, prevalence=prevalence).threshold) or costs.fp > costs.fn
    assert baserate.evaluate(TRUTH, RISK, prevalence=prevalence, costs=costs).there.precision.value is not None


def test_samples_too_large_for_memory_raise_before_allocation() -> None:
    def make_data(rng: np.random.Generator, many: int) -> Floats:
        return rng.random((many, 200))

    with pytest.raises(OptionError, match=r"keeping 10000000 samples of 200 numbers takes 29\.8 GiB of memory"):
        sample_in_blocks(make_data, n_samples=10**7, seed=0, size=200)
    kept = sample_in_blocks(make_data, n_samples=3000, seed=0, size=200)
    assert kept.shape == (3000, 200)


def test_memory_check_counts_groups() -> None:
    wide = read.tallies({"y": TRUTH, "p": RISK, "g": np.arange(len(TRUTH)) % 100}, truth="y", score="p", group="g")
    with pytest.raises(OptionError, match=r"of memory; expected at most 4 GiB\. Reduce the number of permutations\."):
        fairness.compare_groups(wide, n_permutations=10**7, min_group=1)


def test_names_of_domains_are_unique() -> None:
    source = Path(str(_domains.__file__)).read_text(encoding="utf-8")
    names = [line.split(" = ")[0] for line in source.splitlines() if line.split(" = ")[0].isupper()]
    assert sorted(names) == sorted(set(names))
