"""Sentences about a choice: actions by score, the rule, and the uncertainty of thresholds."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isinf
from typing import Any

from baserate._cut import FLAG, PASS, REFER, Cut
from baserate._formatting import format_exact, format_level, format_number, join_words
from baserate._policy import Policy, policy_content
from baserate.text._tables import shorten_label

Content = Mapping[str, Any]

_DASH = "\N{NO-BREAK SPACE}–\N{NO-BREAK SPACE}"


def describe_choice(model: str, policy: Content, costs: Content | None = None) -> str:
    """Describe the actions of a policy and its rule; `costs` are those that were given with the command.

    >>> describe_choice("risk", {"rule": "youden", "thresholds": [0.65], "actions": ["pass", "flag"], "settings": {}})
    'Flag risk ≥ 0.65 (rule: greatest sensitivity + specificity).'
    """
    rule = describe_rule(policy["rule"], {"costs": costs, **policy["settings"]})
    return f"{describe_actions(model, policy['thresholds'], policy['actions'])} (rule: {rule})."


def describe_policy(policy: Policy, model: str) -> str:
    """Describe the actions of a policy on the scores of a model, and its rule.

    >>> describe_policy(Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"), "risk")
    'Flag risk ≥ 0.5 (rule: as given).'
    """
    only, settings = policy.by_group.get(()), {"costs": None, **policy_content(policy)["settings"]}
    if isinstance(only, Cut):
        form = {"rule": policy.rule, "thresholds": only.thresholds, "actions": only.actions, "settings": settings}
        return describe_choice(model, form)
    depends = (
        f"depends on {', '.join(map(shorten_label, policy.attributes))}"
        if policy.needs_group
        else "is the same for everybody"
    )
    randomization = ", and where cuts disagree a lot decides, which the id draws" if policy.needs_id else ""
    return f"What is done {depends}{randomization} (rule: {describe_rule(policy.rule, settings)})."


def describe_rule(name: str, settings: Content) -> str:
    """Describe the rule of a choice, by its entry in the registry; other rules by their name and settings.

    >>> describe_rule("best", {"measure": "f1", "toward": "high"})
    'greatest f1'
    >>> describe_rule("coin", {"sides": 2})
    'coin, sides 2'
    """
    from baserate.decide import DECISION_RULES, describe_share  # imported here: formatting a table needs no rules

    entry = DECISION_RULES.get(name)
    if "parity" in settings:
        text = _describe_parity(name, settings)
    elif entry is not None and entry.describe is not None:
        text = entry.describe(settings)
    else:
        return ", ".join([name, *(f"{_words(each)} {value}" for each, value in settings.items() if value is not None)])
    where = f", at a prevalence of {describe_share(settings['prevalence'])}" if "prevalence" in settings else ""
    return f"{text}{where}"


def describe_score_ranges(model: str, thresholds: Sequence[float]) -> list[str]:
    """List the score range of each action, lowest first.

    >>> describe_score_ranges("risk", [0.2, 0.7])
    ['risk < 0.2', '0.2 ≤ risk < 0.7', 'risk ≥ 0.7']
    """
    if not thresholds:
        return [f"any {model}"]
    between = [f"{format_exact(low)} ≤ {model} < {format_exact(high)}" for low, high in pairwise(thresholds)]
    return [f"{model} < {format_exact(thresholds[0])}", *between, f"{model} ≥ {format_exact(thresholds[-1])}"]


def describe_threshold_intervals(cutoffs: Sequence[Content], digits: int) -> str:
    """Describe the confidence intervals of thresholds; empty without intervals."""
    with_interval = [row for row in cutoffs if row["low"] is not None]
    if not with_interval:
        return ""
    bounds = [
        f"{format_number(row['low'], digits)}{_DASH}{format_number(row['high'], digits)}" for row in with_interval
    ]
    what = "interval of the cut-off" if len(cutoffs) == 1 else "intervals of the cut-offs"
    return f"{format_level(with_interval[0]['level'])}\N{NO-BREAK SPACE}% {what}: {join_words(bounds)}."


def describe_fold_thresholds(cuts: Sequence[Sequence[float]], many: int, digits: int) -> str:
    """Describe the range of the thresholds chosen without each fold, except those of another number.

    >>> describe_fold_thresholds([[0.2], [0.2], [0.2]], 1, 4)
    'Chosen without each of 3 folds in turn: 0.2000.'
    """
    same_number = [each for each in cuts if len(each) == many]
    each_place = [sorted({min(at), max(at)}) for at in zip(*same_number, strict=True)]
    ranges = [_DASH.join(format_number(end, digits) for end in ends) for ends in each_place]
    fewer = f", of which {len(cuts) - len(same_number)} gave another number" * (len(same_number) < len(cuts))
    return f"Chosen without each of {len(cuts)} folds in turn{fewer}: {join_words(ranges)}." if ranges else ""


def describe_actions(model: str, thresholds: Sequence[float], actions: Sequence[str]) -> str:
    """Describe the action for each range of scores.

    >>> describe_actions("risk", [0.5], ["pass", "flag"])
    'Flag risk ≥ 0.5'
    """
    if not thresholds:
        return f"{actions[0].capitalize()} everybody"
    if not {*actions} <= {PASS, REFER, FLAG}:
        return f"Cut {model} at {join_words(map(format_exact, thresholds))}"
    if list(actions) == [PASS, FLAG]:
        return (
            "Flag nobody"
            if isinf(thresholds[0]) and thresholds[0] > 0
            else f"Flag {model} ≥ {format_exact(thresholds[0])}"
        )
    parts = [
        f"{action} {scores}" for action, scores in zip(actions, describe_score_ranges(model, thresholds), strict=True)
    ]
    sentence = join_words(parts)
    return sentence[:1].upper() + sentence[1:]


def _describe_parity(name: str, settings: Content) -> str:
    """Describe which parity constraint is satisfied, how strictly, and among which policies."""
    from baserate.decide import describe_costs

    bound = settings["within"]
    each = (
        [f"{rate} within {format_exact(value)}" for rate, value in bound.items()] if isinstance(bound, Mapping) else []
    )
    within = f"({', '.join(each)})" if each else f"within {format_exact(bound)}"
    best = (
        f"best {_words(settings['objective'])}"
        if "objective" in settings
        else f"least cost with {describe_costs(settings)}"
    )
    return f"{best} that keeps {join_words(settings['parity'])} {within}{_AMONG.get(name, f', {name}')}"


_AMONG = {
    "equalized": "",
    "deterministic": ", without lots",
    "group-blind": ", with one cut-off for everybody",
    "reject-option": ", by a band that favours some groups (reject option)",
    "crossing": ", where the ROC curves of two groups cross",
}


def _words(name: str) -> str:
    return name.replace("_", " ")
