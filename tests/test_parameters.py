"""One word for one meaning: a parameter that means the same has the same name in every public function."""

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from baserate._costs import CostsLike
from baserate._domains import ShareLike
from tests.test_public import PUBLIC

BANNED = {
    **dict.fromkeys(("to", "deployment_prevalence", "target_prevalence", "prior", "base_rate", "pi"), "prevalence"),
    **dict.fromkeys(
        ("from_", "scores_from", "calibrated_at", "prevalence_from", "training_prevalence", "train_prevalence"),
        "sample_prevalence",
    ),
    **dict.fromkeys(("cutoff", "cut_off", "cutpoint", "cut"), "threshold"),
    **dict.fromkeys(("cutoffs", "cuts_at"), "thresholds"),
    **dict.fromkeys(("conf_level", "confidence", "confidence_level", "ci"), "level"),
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
    **dict.fromkeys(("n_boot", "nboot", "bootstraps", "n_resamples", "replicates"), "n_bootstrap"),
    **dict.fromkeys(("metric", "metrics", "statistics"), "measure or measures"),
    **dict.fromkeys(("y_true", "label", "outcome", "outcomes"), "truth"),
    **dict.fromkeys(("y_score", "y_prob", "y_proba", "proba", "prob"), "score"),
    **dict.fromkeys(("y_pred", "prediction", "predictions"), "predicted"),
    **dict.fromkeys(("pos_label", "positive_class", "positive_label"), "positive"),
    **dict.fromkeys(("sensitive_features", "protected", "group_by", "groupby", "strata"), "group"),
    **dict.fromkeys(("sample_weights", "w", "case_weights"), "weight"),
    **dict.fromkeys(("clusters", "cluster_id", "id_column"), "cluster or id"),
    **dict.fromkeys(("cost", "cost_matrix", "utilities"), "costs"),
    **dict.fromkeys(("column_name", "output_column", "new_column", "into"), "name"),
}
"""Name of other tools, or an old one of ours -> the name of ours for the same thing."""
ELSEWHERE = {
    ("CostMatrix", "cost"),
    ("decide.Decisions", "cost"),
    ("decide.IsoCost", "cost"),
    ("decide.iso_cost", "cost"),
    ("fairness.ParityValidation", "cost"),
}
"""Public names whose parameter of a banned name means something else: one cost, rather than the costs of errors."""
DEFAULTS: dict[str, set[Any]] = {
    "seed": {0},
    "level": {0.95, None},
    "n_bootstrap": {1000},
    "alpha": {0.05, 2.0},
    "weight": {None},
    "count": {None},
    "sample_prevalence": {None},
    "prevalence": {None, 0.5},
}
"""Parameter -> its defaults; None is that of the data, or none, 0.5 that of a population, 2 that of an entropy."""


def public_signatures() -> Iterator[tuple[str, inspect.Signature]]:
    for package in PUBLIC:
        module = importlib.import_module(package)
        for name in dir(module):
            value = getattr(module, name)
            if not callable(value):
                continue
            label = f"{package}.{name}".removeprefix("baserate.")
            yield from _signature(label, value)
            # scikit-learn's own methods have its names: X, y and sample_weight.
            if inspect.isclass(value) and package != "baserate.sklearn":
                for method in (each for each in vars(value) if not each.startswith("_")):
                    attribute = getattr(value, method)
                    yield from _signature(f"{label}.{method}", attribute) if callable(attribute) else ()


def _signature(label: str, value: Any) -> Iterator[tuple[str, inspect.Signature]]:  # noqa: ANN401  (any callable)
    try:
        yield label, inspect.signature(value)
    except (TypeError, ValueError):  # built in, or an alias of types
        return


SIGNATURES = list(public_signatures())


def test_the_walk_sees_the_public_functions() -> None:
    labels = {label for label, _ in SIGNATURES}
    assert len(labels) > 400
    assert {"shift.reweigh", "decide.Decisions.results", "measure.net_benefit", "evaluate"} <= labels


@pytest.mark.parametrize("banned", sorted(BANNED))
def test_no_parameter_has_a_second_name(banned: str) -> None:
    # Not `**predictions`, which stands for the keywords of `baserate.read.PredictionOptions`.
    users = [
        label
        for label, signature in SIGNATURES
        if banned in signature.parameters and signature.parameters[banned].kind is not inspect.Parameter.VAR_KEYWORD
    ]
    assert [label for label in users if (label, banned) not in ELSEWHERE] == [], f"call it {BANNED[banned]}"


@pytest.mark.parametrize(("label", "name"), sorted(ELSEWHERE))
def test_exceptions_exist(label: str, name: str) -> None:
    assert any(label == each and name in signature.parameters for each, signature in SIGNATURES)


@pytest.mark.parametrize("name", sorted(DEFAULTS))
def test_defaults_of_a_parameter_agree(name: str) -> None:
    signatures = [
        (label, signature.parameters[name]) for label, signature in SIGNATURES if name in signature.parameters
    ]
    stated = {label: each.default for label, each in signatures if each.default is not each.empty}
    assert len(stated) > 2
    assert {label: default for label, default in stated.items() if default not in DEFAULTS[name]} == {}


SHARES = {
    *("ShareLike", "ShareLike | None", "ShareLike | Mapping[Any, ShareLike] | None"),
    *("PrevalenceLike", "PrevalenceLike | None", "Shares", "Shares | None"),
    *("Prevalence", "CalibrationPrevalence", "ScalarOrArray | str"),
    *map(str, (ShareLike, ShareLike | None)),
}
"""Annotations of a share, or of those of groups or classes, all of which allow text such as "5%"."""
COSTS = {
    *("CostsLike", "CostsLike | None", "CostsLike | CostMatrix", "CostMatrix", "CostMatrix | None", "ActionCosts"),
    *map(str, (CostsLike, CostsLike | None)),
}
"""Annotations of costs: those of outcomes allow a mapping; the others are of several classes or actions."""
WORDED = {"prevalence": SHARES, "sample_prevalence": SHARES, "level": SHARES, "costs": COSTS}
OTHER_WORDS = {
    *(("population.retrieval", "level"), ("measure.multiclass.expected_cost", "costs")),
    ("measure.multiclass.classification_cost", "costs"),
    ("infer.ClassVariance.per_row", "prevalence"),
}
"""One of five levels of performance, a matrix of costs, and a number that formulas of sample sizes have read."""


def test_shares_and_costs_are_annotated_as_every_function_takes_them() -> None:
    # Constructors (names with a capital) hold numbers that functions have read.
    stated = {
        (label, name): str(signature.parameters[name].annotation)
        for label, signature in SIGNATURES
        for name in WORDED
        if name in signature.parameters and not label.rpartition(".")[2][0].isupper()
    }
    assert len(stated) > 100
    assert {"draw.pr", "evaluate", "decide.cost", "decide.ROCConvexHull.at", "sklearn.scorer"} <= {
        label for label, _ in stated
    }
    others = {each: annotation for each, annotation in stated.items() if annotation not in WORDED[each[1]]}
    assert others.keys() == OTHER_WORDS, others


@pytest.mark.parametrize(
    "label",
    [
        *("shift.summary", "shift.class_summary", "shift.reweigh", "shift.reprior", "shift.reprior_threshold"),
        *("shift.reprior_calibrator", "shift.posterior_calibrator", "shift.gamma", "draw.prevalence", "draw.roc"),
        *("draw.decision_curve", "decide.net_benefit_curve", "decide.multiclass_summary", "decide.Decisions.results"),
        *("calibration.prevalence", "calibration.multiclass.reprior", "fairness.Goal", "evaluate"),
    ],
)
def test_deployment_prevalence_is_prevalence(label: str) -> None:
    assert "prevalence" in dict(SIGNATURES)[label].parameters


@pytest.mark.parametrize(
    "label",
    [
        *("shift.reprior", "shift.reprior_threshold", "shift.reprior_calibrator", "shift.gamma"),
        *("shift.prevalence_of_gamma", "shift.Prevalence", "shift.MulticlassPrevalence", "draw.decision_curve"),
        *("decide.net_benefit_curve", "calibration.prevalence", "calibration.multiclass.reprior"),
    ],
)
def test_prevalence_of_the_scores_is_sample_prevalence(label: str) -> None:
    assert "sample_prevalence" in dict(SIGNATURES)[label].parameters
