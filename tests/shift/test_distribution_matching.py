"""Prevalence by matching histograms and kernel densities, and by chosen thresholds: brute force, influence, errors."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from baserate import FitError, NotAProbabilityError, OptionError, Tally, Target, shift, tally

Floats = npt.NDArray[np.float64]
KERNELS = ("kdey-ml", "kdey-hd", "kdey-cs")
MATCHING = ("dys", *KERNELS)
SELECTING = ("t50", "max", "x", "ms", "ms2")


def simulate(n: int, share: float, seed: int, distance: float = 1.5) -> tuple[Any, Floats]:
    """Simulate labels and posteriors that are calibrated at a prevalence of 0.4."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    score = expit(logit(0.4) + distance * (distance * truth + rng.normal(size=n)) - distance**2 / 2)
    return truth, score


VALIDATION = simulate(300, 0.4, 1)
SCORES = simulate(250, 0.2, 2)[1]


def estimate(method: str, validation: Tally | None = None, target: Target | None = None, **options: Any) -> Any:  # noqa: ANN401
    own = tally(*VALIDATION) if validation is None else validation
    return shift.estimate_prevalence(Target(SCORES) if target is None else target, own, method=method, **options)


def density(places: Floats, centers: Floats, bandwidth: float) -> Floats:
    """Sum kernels one by one, at distances of vectors (p, 1 − p)."""
    width = bandwidth / np.sqrt(2)
    kernels: Floats = np.exp(-(((places[:, None] - centers) / width) ** 2) / 2) / width / np.sqrt(2 * np.pi)
    means: Floats = kernels.mean(axis=1)
    return means


@pytest.mark.parametrize("bandwidth", [0.03, 0.1, 0.4])
def test_kernel_estimates_equal_brute_force(bandwidth: float) -> None:
    truth, score = VALIDATION
    classes = score[truth], score[~truth]
    first, second = (density(SCORES, each, bandwidth) for each in classes)
    best = minimize_scalar(
        lambda q: -np.log(q * first + (1 - q) * second).sum(), bounds=(0, 1), method="bounded", options={"xatol": 1e-9}
    )
    assert estimate("kdey-ml", bandwidth=bandwidth).value == pytest.approx(best.x, abs=2e-4)
    places = np.linspace(-3, 4, 6001)
    one, other, mixed = (density(places, each, bandwidth) for each in (*classes, SCORES))
    best = minimize_scalar(
        lambda q: ((np.sqrt(q * one + (1 - q) * other) - np.sqrt(mixed)) ** 2).sum(),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert estimate("kdey-hd", bandwidth=bandwidth).value == pytest.approx(best.x, abs=2e-4)

    def divergence(q: float) -> float:
        mixture = q * one + (1 - q) * other
        worth: float = 0.5 * np.log((mixture**2).sum()) - np.log((mixture * mixed).sum())
        return worth

    best = minimize_scalar(divergence, bounds=(0, 1), method="bounded", options={"xatol": 1e-9})
    assert estimate("kdey-cs", bandwidth=bandwidth).value == pytest.approx(best.x, abs=2e-4)


@pytest.mark.parametrize("divergence", ["hellinger", "topsoe"])
@pytest.mark.parametrize("bins", [2, 8, 25])
def test_histograms_of_least_divergence_equal_brute_force(divergence: str, bins: int) -> None:
    truth, score = VALIDATION
    first, second, mixed = (
        np.histogram(each, bins=bins, range=(0, 1))[0] / len(each) for each in (score[truth], score[~truth], SCORES)
    )

    def distance(q: float) -> float:
        m = q * first + (1 - q) * second
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [np.nan_to_num(p * np.log(2 * p / (m + mixed))) for p in (m, mixed)]
        return float(((np.sqrt(m) - np.sqrt(mixed)) ** 2).sum() if divergence == "hellinger" else np.sum(parts))

    best = minimize_scalar(distance, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    assert estimate("dys", bins=bins, divergence=divergence).value == pytest.approx(best.x, abs=2e-6)


def brute_force(method: str) -> float:
    """Select thresholds one by one, the strictest of equal ones."""
    truth, score = VALIDATION
    rows = []
    for threshold in np.unique(score)[::-1]:
        tpr, fpr = ((score[each] >= threshold).mean() for each in (truth, ~truth))
        if tpr != fpr:
            rows.append((tpr, fpr, ((threshold <= SCORES).mean() - fpr) / (tpr - fpr)))
    tpr, fpr, shares = np.transpose(rows)
    if method in ("ms", "ms2"):
        return float(np.median(shares[tpr - fpr > 0.25] if method == "ms2" else shares))
    loss = {"t50": np.abs(tpr - 0.5), "max": fpr - tpr, "x": np.abs(1 - tpr - fpr)}[method]
    return float(shares[np.argmin(loss)])


@pytest.mark.parametrize("method", SELECTING)
def test_chosen_thresholds_equal_brute_force(method: str) -> None:
    result = estimate(method)
    assert result.unclipped == pytest.approx(brute_force(method), abs=1e-12)
    if method in ("t50", "max", "x"):
        (note,) = result.notes
        assert note.startswith("the threshold is 0.")
        # It is acc at that threshold.
        threshold = max(np.unique(VALIDATION[1]), key=lambda each: -abs(each - float(note.split()[3].rstrip(","))))
        other = estimate("acc", threshold=threshold)
        assert result.value == pytest.approx(other.value, abs=1e-12)
        assert result.estimate.low == pytest.approx(other.estimate.low, abs=1e-12)
        assert result.variance == pytest.approx(other.variance, rel=1e-12)


@pytest.mark.parametrize("method", MATCHING)
def test_influence_is_the_derivative_by_one_more_row(method: str) -> None:
    truth, score = VALIDATION
    places, amounts = [5, 40, 200, 290], np.full(300, 10_000)
    result = estimate(method, tally(truth, score, count=amounts))
    order = np.argsort(-np.unique(score))
    for place in places:
        at = int(np.flatnonzero(np.unique(score)[order] == score[place])[0])
        more = amounts.copy()
        more[place] += 10
        changed = estimate(method, tally(truth, score, count=more)).unclipped - result.unclipped
        own = result.influence[0 if truth[place] else 1, at]
        assert changed / 10 == pytest.approx(own, rel=0.01, abs=2e-9)


@pytest.mark.parametrize("method", KERNELS)
def test_variance_from_the_target_is_that_of_the_bootstrap(method: str) -> None:
    rng = np.random.default_rng(3)
    own, target = tally(*VALIDATION), simulate(2000, 0.3, 5)[1]
    shares = [estimate(method, own, Target(rng.choice(target, 2000))).value for _ in range(300)]
    result = estimate(method, own, Target(target))
    assert np.sqrt(result.target_variance) == pytest.approx(np.std(shares), rel=0.15)


@given(st.sampled_from(MATCHING + SELECTING), st.integers(0, 10**6))
def test_estimates_are_shares_within_their_intervals(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, score = simulate(int(rng.integers(40, 200)), 0.4, seed)
    target = Target(np.round(rng.random(int(rng.integers(1, 60))), int(rng.integers(1, 4))))
    try:
        result = estimate(method, tally(truth, score), target)
    except FitError:
        return
    assert 0 <= result.estimate.low <= result.value <= result.estimate.high <= 1
    assert result.value == pytest.approx(min(max(result.unclipped, 0.0), 1.0), abs=1e-12)
    assert result.standard_error > 0


@pytest.mark.parametrize("method", [*MATCHING, *SELECTING])
def test_estimates_approach_the_truth(method: str) -> None:
    own, target = tally(*simulate(40_000, 0.4, 3)), Target(simulate(40_000, 0.15, 4)[1])
    result = estimate(method, own, target)
    # The bias of smoothing remains.
    assert result.value == pytest.approx(0.15, abs=0.025 if method == "kdey-ml" else 0.015)
    assert result.standard_error < 0.01


def test_the_bias_of_kdey_ml_grows_with_the_bandwidth() -> None:
    own, target = tally(*simulate(40_000, 0.4, 3)), Target(simulate(40_000, 0.05, 4)[1])
    bias = [
        {method: abs(estimate(method, own, target, bandwidth=width).value - 0.05) for method in KERNELS}
        for width in (0.02, 0.1, 0.3)
    ]
    assert bias[0]["kdey-ml"] < bias[1]["kdey-ml"] < bias[2]["kdey-ml"]
    assert bias[2]["kdey-ml"] > 0.03
    assert max(each["kdey-hd"] for each in bias) < 0.015
    assert "biases it at any number of rows" in estimate("kdey-ml", own, target).notes[0]


@pytest.mark.parametrize("method", MATCHING)
def test_labelled_rows_count(method: str) -> None:
    truth, score = simulate(400, 0.2, 9)
    target = Target(SCORES, labelled=tally(truth, score))
    with_labels, without = estimate(method, None, target), estimate(method)
    assert with_labels.labelled == 400
    assert with_labels.standard_error < without.standard_error


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "dys", "bins": 1}, OptionError, "bins is 1; expected a whole number from 2 to 10,000"),
        (
            {"method": "dys", "divergence": "hd"},
            OptionError,
            "divergence is 'hd'; expected one of 'hellinger', 'topsoe'",
        ),
        ({"method": "kdey-hd", "bandwidth": 0.001}, OptionError, "bandwidth is 0.001; expected a bandwidth from 0.01"),
        ({"method": "kdey", "bins": 3}, OptionError, "bins"),
    ],
)
def test_wrong_options_raise(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        estimate(**options)


@pytest.mark.parametrize("method", MATCHING)
def test_scores_that_are_no_probabilities_raise(method: str) -> None:
    with pytest.raises(NotAProbabilityError, match="takes probabilities"):
        estimate(method, None, Target(SCORES + 1))


def test_weak_scores_have_no_threshold_for_ms2() -> None:
    truth, score = simulate(3000, 0.4, 1, distance=0.3)
    with pytest.raises(FitError, match=r"no threshold has TPR − FPR above 0\.25 in validation; the largest is 0\.1"):
        estimate("ms2", tally(truth, score))


@pytest.mark.parametrize("method", KERNELS)
@pytest.mark.parametrize("bandwidth", [0, 1e-9, 11, np.nan])
def test_bandwidths_beyond_the_grid_are_refused(method: str, bandwidth: float) -> None:
    with pytest.raises(OptionError, match=r"expected a bandwidth from 0\.01 to 10"):
        estimate(method, bandwidth=bandwidth)
