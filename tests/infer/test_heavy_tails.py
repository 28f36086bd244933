"""Heavy tails of the log loss: shapes of known distributions, refusals, and no refusal of ordinary models."""

import numpy as np
import pytest
from scipy.special import expit, logit

from baserate import MulticlassRows, Rows, Tally, infer
from baserate.infer._variances import explain_heavy_tail, pareto_shape


def scored(rng: np.random.Generator, rows: int, freedom: float) -> Tally:
    """Log-odds that are a line of scores with Student's t distribution in both classes."""
    truth = rng.random(rows) < 0.3
    score = rng.standard_t(freedom, rows) + 1.5 * truth
    return Tally.of_rows(truth, expit(np.clip(logit(0.3) + 1.5 * (score - 0.75), -700, 36)))


@pytest.mark.parametrize("shape", [-0.3, 0.0, 0.5, 1.0])
def test_shape_of_a_generalized_pareto_distribution(shape: float) -> None:
    uniform = (np.arange(2000) + 0.5) / 2000
    excess = -np.log(uniform) if shape == 0 else (uniform**-shape - 1) / shape
    assert pareto_shape(3 * excess) == pytest.approx(shape, abs=0.05)


def test_cauchy_scores_have_no_interval_of_log_loss() -> None:
    rng = np.random.default_rng(0)
    reasons = [infer.estimate("log_loss", scored(rng, 1000, 1.0)).why for _ in range(20)]
    assert all(reason is not None and "infinite" in reason for reason in reasons)
    t = scored(rng, 1000, 1.0)
    assert infer.estimate("log_loss_skill", t).why == infer.estimate("log_loss", t).why
    assert infer.estimate("brier", t).why is None  # which is bounded


@pytest.mark.parametrize("rows", [60, 300, 2000])
def test_normal_scores_are_not_rejected(rows: int) -> None:
    rng = np.random.default_rng(rows)
    refused = [explain_heavy_tail(scored(rng, rows, 1e6)) is not None for _ in range(150)]
    assert sum(refused) <= 1


def test_clusters_raise_too() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random(1200) < 0.3
    score = expit(np.clip(1.5 * (rng.standard_cauchy(1200) + truth), -700, 36))
    rows = Rows(truth, {"risk": score}, cluster=np.arange(1200) // 30)
    reason = infer.estimate("log_loss", rows).why
    assert reason is not None
    assert "infinite" in reason


def test_several_classes_raise_too() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 1500)
    for noise, refused in ((rng.standard_cauchy((1500, 3)), True), (rng.normal(size=(1500, 3)), False)):
        odds = np.clip(1.5 * (noise + np.eye(3)[truth]), -200, 200)
        odds -= odds.max(axis=1, keepdims=True)
        score = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
        reason = infer.estimate("log_loss", MulticlassRows(truth, score, ("a", "b", "c"))).why
        assert (reason is not None and "infinite" in reason) == refused
