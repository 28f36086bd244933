"""Prevalence estimates beside peers: five data sets at six prevalences, unit vectors, and cases of early stopping."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit, logit

from baserate import Tally, Target, shift, tally
from baserate._numeric.mixture import BinCounts, ProfileLikelihood, unconstrained_log_likelihood
from tests.tiers import tiered_rows

Floats = npt.NDArray[np.float64]
SETS = ("gauss", "gauss_miscal", "breast_cancer", "adult_lr", "adult_nb")
PREVALENCES = ("0.05", "0.10", "0.30", "0.50", "0.70", "0.90")
PLACES = [(name, at) for name in SETS for at in PREVALENCES]
OPTIMA = {
    "acc": "own.CM_inverse_unclipped",
    "pacc": "own.SCM_inverse_unclipped",
    "cm-l": "own.CM-L_converged",
    "scm-l": "own.SCM-L_converged",
    "cm-map": "own.CM-M_alpha3",
    "scm-map": "own.SCM-M_alpha3",
}


Sides = Callable[[str, str], tuple[Target, Tally]]


@pytest.fixture(scope="session")
def sides(reference: Path) -> Sides:
    def read(name: str, at: str) -> tuple[Target, Tally]:
        with np.load(reference / f"shift_{name}.npz") as file:
            return Target(file[f"target_{at}_p"]), tally(file["val_y"], file["val_p"])

    return read


@pytest.mark.quick(6)
@pytest.mark.parametrize(("name", "at"), PLACES)
def test_maximum_likelihood_finds_the_exact_optimum(shifts: dict[str, Any], sides: Sides, name: str, at: str) -> None:
    target, validation = sides(name, at)
    closed = shifts["own_closed_forms"][name]
    raw = shift.estimate_prevalence(
        target, validation, method="mlls", recalibrate=False, sample_prevalence=closed["pi"]
    )
    assert raw.value == pytest.approx(closed[at]["MLLS_raw"]["q"], abs=1e-10)
    if raw.value < 1:
        assert raw.standard_error == pytest.approx(closed[at]["MLLS_raw"]["fisher_se"], rel=1e-9)
    result = shift.estimate_prevalence(target, validation, method="mlls")
    assert result.value == pytest.approx(closed[at]["MLLS_recalibrated"]["q"], abs=1e-10)
    # Theirs takes the logistic curve as the truth, ours what the rows show: near where the curve fits.
    assert result.standard_error == pytest.approx(closed[at]["MLLS_recalibrated"]["se_full"], rel=0.12)


@pytest.mark.parametrize(("name", "at"), tiered_rows(PLACES, 3))
@pytest.mark.parametrize("method", OPTIMA)
def test_means_find_the_exact_optimum(shifts: dict[str, Any], sides: Sides, name: str, at: str, method: str) -> None:
    result = shift.estimate_prevalence(*sides(name, at), method=method)
    theirs = shifts["estimates"][name][at][OPTIMA[method]]
    ours = result.unclipped if "unclipped" in OPTIMA[method] else result.value
    assert ours == pytest.approx(theirs, abs=2e-8)  # they are printed with eight digits
    if method in ("acc", "pacc"):
        closed = shifts["own_closed_forms"][name][at][method.upper()]
        assert result.unclipped == pytest.approx(closed["q_unclipped"], abs=1e-12)
        assert result.standard_error == pytest.approx(closed["se_full"], rel=1e-2)  # theirs lose a degree of freedom


@pytest.mark.quick(6)
@pytest.mark.parametrize(("name", "at"), PLACES)
def test_other_implementations_agree_up_to_their_precision(
    shifts: dict[str, Any], sides: Sides, name: str, at: str
) -> None:
    """QuaPy's solvers stop at some 1e-5, its grid for HDy has steps of 1/99; abstention and sipka clip the same."""
    theirs = shifts["estimates"][name][at]
    target, validation = sides(name, at)

    def ours(method: str) -> float:
        return shift.estimate_prevalence(target, validation, method=method).value

    for method, peer in (("rlls", "quapy.RLLS_soft"), ("rlls-hard", "quapy.RLLS_hard"), ("bbse", "quapy.BBSEsoft")):
        assert ours(method) == pytest.approx(theirs[peer], abs=5e-5)
    assert ours("emq") == pytest.approx(theirs["own.EM_converged(pre-calibrated bcts)"], abs=2e-5)
    assert ours("hdy") == pytest.approx(theirs["quapy.HDy"], abs=1.1 / 99)


class Match(NamedTuple):
    """A method, its name in QuaPy, and how far both are apart at most."""

    method: str
    peer: str
    within: float
    options: Mapping[str, Any] = {}


MATCHES = (
    Match("dys", "quapy.DyS_HD", 1e-5),
    Match("dys", "quapy.DyS_topsoe", 1e-5, {"divergence": "topsoe"}),
    # They maximize by SLSQP, which stops at some 1e-4 where the likelihood is flat.
    Match("kdey-ml", "quapy.KDEyML", 3e-4),
    # Their integral is a mean over 10,000 random points.
    Match("kdey-hd", "quapy.KDEyHD", 3e-3),
    # SLSQP again; ours is the closed form, which tests/shift checks by brute force.
    Match("kdey-cs", "quapy.KDEyCS", 3e-3),
    Match("t50", "quapy.T50", 1e-8),
    Match("max", "quapy.MAX", 1e-8),
    Match("x", "quapy.X", 1e-8),
    Match("ms", "quapy.MS", 1e-8),
    Match("ms2", "quapy.MS2", 1e-8),
)


@pytest.mark.parametrize(("name", "at"), tiered_rows(PLACES, 3))
@pytest.mark.parametrize("match", MATCHES, ids=lambda match: match.peer)
def test_matching_and_threshold_methods_agree_with_quapy(
    shifts: dict[str, Any], sides: Sides, name: str, at: str, match: Match
) -> None:
    result = shift.estimate_prevalence(*sides(name, at), method=match.method, **match.options)
    assert result.value == pytest.approx(shifts["estimates"][name][at][match.peer], abs=match.within)


@pytest.mark.quick(6)
@pytest.mark.parametrize(("name", "at"), PLACES)
def test_the_goodness_of_fit_is_at_least_as_likely(shifts: dict[str, Any], sides: Sides, name: str, at: str) -> None:
    """The reference stops its EM a little early: our mixture fits at least as well, so G is no larger."""
    target, validation = sides(name, at)
    theirs = shifts["own_closed_forms"][name][at]["GOF_LR_deciles_of_pooled"]
    pooled = np.concatenate([np.repeat(validation.score, validation.rows.sum(axis=0, dtype=np.int64)), target.score])
    edges = np.unique(np.quantile(pooled, np.linspace(0, 1, 11)[1:-1]))
    check = shift.label_shift_test(target, validation, bins=edges.tolist()).checks[0]
    assert theirs["G"] - 1e-6 <= check.statistic <= theirs["G"] + 1e-9
    if name != "adult_nb":  # whose many ones leave a bin empty, which theirs counts
        assert check.freedom == theirs["df"]
        assert check.p == pytest.approx(theirs["p"], abs=1e-6)
    result = shift.estimate_prevalence(target, validation, method="binned", bins=edges.tolist())
    assert result.value == pytest.approx(theirs["q"], abs=5e-6)


@pytest.mark.parametrize("name", ["gof_tiny", "gof_tiny_violated"])
def test_the_tiny_tables_of_bins(shifts: dict[str, Any], name: str) -> None:
    given = shifts["unit_vectors"][name]
    first, second, mixed = (np.array(given[which], dtype=float) for which in ("n1", "n0", "t"))
    observed = BinCounts(first, second, mixed)
    result = ProfileLikelihood(observed).maximum
    assert result.share == pytest.approx(given["q"], abs=5e-6)
    assert 2 * (unconstrained_log_likelihood(observed) - result.log_likelihood) == pytest.approx(given["G"], abs=1e-7)


def test_the_tiny_posteriors(shifts: dict[str, Any]) -> None:
    rows = tally([1, 0] * 50, [0.9, 0.2, 0.6, 0.4] * 25)
    for name in ("mlls_tiny", "mlls_tiny_pi0.3", "mlls_tiny_pi0.7"):
        given = shifts["unit_vectors"][name]
        result = shift.estimate_prevalence(
            Target(np.array(given["p"])), rows, method="mlls", recalibrate=False, sample_prevalence=given["pi"]
        )
        assert result.value == pytest.approx(given["q"], abs=1e-12)
        if "fisher_se" in given:
            assert result.standard_error == pytest.approx(given["fisher_se"], rel=1e-12)


def test_weak_scores_converge() -> None:
    """AUC 0.53, π = ½, q = 0.1: there QuaPy stops at .166 and mlquantify at .410, where the likelihood still climbs.

    Their rule measures how fast EM moves, not how far it has to go. Ours is where the slope of the likelihood is 0.
    """
    rng = np.random.default_rng(20)
    weak = 0.1
    score = rng.normal(weak * (rng.random(20_000) < 0.1), 1.0)
    posterior = expit(weak * score - weak**2 / 2)
    validation = tally([0, 1] * 400, np.tile([0.45, 0.55], 400))
    result = shift.estimate_prevalence(
        Target(posterior), validation, method="mlls", recalibrate=False, sample_prevalence=0.5
    )
    ratio = np.exp(logit(posterior))
    slope = ((ratio - 1) / (result.value * ratio + 1 - result.value)).sum()
    assert abs(slope) < 1e-6
    share, steps = 0.5, 0
    while True:  # EM, by the rule of both peers
        member = share * ratio / (share * ratio + 1 - share)
        before, share, steps = share, float(member.mean()), steps + 1
        if abs(share - before) < 1e-4:
            break
    assert abs(share - result.value) > 0.05  # and EM has hardly moved when it stops


def test_performance_without_labels_equals_that_of_the_tiny_posteriors(shifts: dict[str, Any]) -> None:
    given = shifts["unit_vectors"]["cbpe_tiny"]
    same = ("accuracy", "precision", "specificity", "f1", "average_precision")
    names = {name: name for name in same} | {"sensitivity": "recall", "auc": "roc_auc"}
    result = shift.estimate_performance(Target(np.array(given["p"])), assume="covariate shift", measures=list(names))
    for row in result.rows():
        if row["measure"] in names:
            assert row["value"] == pytest.approx(given[names[row["measure"]]], abs=1e-12)


@pytest.mark.parametrize(("name", "at"), [place for place in PLACES if place[0] in ("gauss", "adult_lr")])
def test_performance_without_labels_equals_that_of_adjusted_posteriors(
    shifts: dict[str, Any], sides: Sides, name: str, at: str
) -> None:
    """Nearer to what was realised than posteriors that nobody adjusted, wherever the prevalence has changed much."""
    theirs = shifts["cbpe"][f"{name}/{at}"]
    target, validation = sides(name, at)
    names = {"accuracy": "accuracy", "precision": "precision", "sensitivity": "recall", "f1": "f1", "auc": "roc_auc"}
    result = shift.estimate_performance(
        target, validation, assume="label shift", measures=list(names), recalibrate=False
    )
    rows = {row["measure"]: row["value"] for row in result.rows()}
    for ours, peer in names.items():
        assert rows[ours] == pytest.approx(theirs["cbpe_on_EM_adjusted"][peer], abs=2e-5)
    if at in ("0.05", "0.90"):
        realised = theirs["realised"]["precision"]
        assert abs(rows["precision"] - realised) < abs(theirs["cbpe"]["precision"] - realised) / 3
