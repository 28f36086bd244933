"""A choice in words: what is done with which scores, by which rule, and how sure the cut-offs are."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import isinf
from typing import Any

from baserate._cut import FLAG, PASS, REFER, Cut
from baserate._formatting import count_of, format_exact, format_level, format_number, join_words
from baserate._policy import Policy, policy_content
from baserate.text._tables import shorten_label

Content = Mapping[str, Any]

_DASH = "\N{NO-BREAK SPACE}–\N{NO-BREAK SPACE}"


def describe_choice(model: str, policy: Content, costs: Content | None = None) -> str:
    """Say what is done, and why; `costs` are those that were given.

    >>> describe_choice("risk", {"rule": "youden", "thresholds": [0.65], "actions": ["pass", "flag"], "settings": {}})
    'Flag risk ≥ 0.65 (rule: greatest sensitivity + specificity).'
    """
    rule = describe_rule(policy["rule"], {"costs": costs, **policy["settings"]})
    return f"{describe_actions(model, policy['thresholds'], policy['actions'])} (rule: {rule})."


def describe_policy(policy: Policy, model: str) -> str:
    """Say what a policy does with the scores of a model, and by which rule.

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
    lots = ", and where cuts disagree a lot decides, which the id draws" if policy.needs_id else ""
    return f"What is done {depends}{lots} (rule: {describe_rule(policy.rule, settings)})."


def describe_rule(name: str, settings: Content) -> str:
    """Say by which rule a choice was made; a rule that has no words of its own is told by its name and settings.

    >>> describe_rule("best", {"measure": "f1", "toward": "high"})
    'greatest f1'
    >>> describe_rule("coin", {"sides": 2})
    'coin, sides 2'
    """
    if "parity" not in settings and name not in {*_DESCRIBERS, *_DESCRIPTIONS}:
        return ", ".join([name, *(f"{_words(each)} {value}" for each, value in settings.items() if value is not None)])
    where = f", at a prevalence of {_share(settings['prevalence'])}" if "prevalence" in settings else ""
    told = (
        _equal(name, settings)
        if "parity" in settings
        else _DESCRIBERS[name](settings)
        if name in _DESCRIBERS
        else _DESCRIPTIONS[name]
    )
    return f"{told}{where}"


def describe_score_ranges(model: str, thresholds: Sequence[float]) -> list[str]:
    """Scores of each stretch, lowest first.

    >>> describe_score_ranges("risk", [0.2, 0.7])
    ['risk < 0.2', '0.2 ≤ risk < 0.7', 'risk ≥ 0.7']
    """
    if not thresholds:
        return [f"any {model}"]
    between = [f"{format_exact(low)} ≤ {model} < {format_exact(high)}" for low, high in pairwise(thresholds)]
    return [f"{model} < {format_exact(thresholds[0])}", *between, f"{model} ≥ {format_exact(thresholds[-1])}"]


def describe_threshold_intervals(cutoffs: Sequence[Content], digits: int) -> str:
    """Say between which bounds cut-offs lie; nothing if nobody knows."""
    known = [row for row in cutoffs if row["low"] is not None]
    if not known:
        return ""
    bounds = [f"{format_number(row['low'], digits)}{_DASH}{format_number(row['high'], digits)}" for row in known]
    what = "interval of the cut-off" if len(cutoffs) == 1 else "intervals of the cut-offs"
    return f"{format_level(known[0]['level'])}\N{NO-BREAK SPACE}% {what}: {join_words(bounds)}."


def describe_fold_thresholds(cuts: Sequence[Sequence[float]], many: int, digits: int) -> str:
    """Say between what the cut-offs lie that were chosen without each fold, those of another number left out.

    >>> describe_fold_thresholds([[0.2], [0.2], [0.2]], 1, 4)
    'Chosen without each of 3 folds in turn: 0.2000.'
    """
    alike = [each for each in cuts if len(each) == many]
    each_place = [sorted({min(at), max(at)}) for at in zip(*alike, strict=True)]
    ranges = [_DASH.join(format_number(end, digits) for end in ends) for ends in each_place]
    fewer = f", of which {len(cuts) - len(alike)} gave another number" * (len(alike) < len(cuts))
    return f"Chosen without each of {len(cuts)} folds in turn{fewer}: {join_words(ranges)}." if ranges else ""


def describe_actions(model: str, thresholds: Sequence[float], actions: Sequence[str]) -> str:
    """Say what is done with which scores.

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
    told = join_words(parts)
    return told[:1].upper() + told[1:]


def _costs(settings: Content) -> str:
    """Costs of errors, and of the rest where it is not free; those that nobody gave are 1 for an error."""
    costs = settings.get("costs") or {"fp": 1.0, "fn": 1.0, "tp": 0.0, "tn": 0.0}
    shown = [name for name in ("fp", "fn", "tp", "tn") if costs[name] or name in ("fp", "fn")]
    return ", ".join(f"{name.upper()}\N{NO-BREAK SPACE}{costs[name]:g}" for name in shown)


def _equal(name: str, settings: Content) -> str:
    """Say which parity is kept, how strictly, and among what, if it is not among all policies."""
    bound = settings["within"]
    each = (
        [f"{rate} within {format_exact(value)}" for rate, value in bound.items()] if isinstance(bound, Mapping) else []
    )
    within = f"({', '.join(each)})" if each else f"within {format_exact(bound)}"
    best = f"best {_words(settings['objective'])}" if "objective" in settings else f"least cost with {_costs(settings)}"
    return f"{best} that keeps {join_words(settings['parity'])} {within}{_AMONG.get(name, f', {name}')}"


def _best(settings: Content) -> str:
    return _goal("greatest" if settings["toward"] == "high" else "least", settings["measure"], settings)


def _requirement(settings: Content) -> str:
    if "minimize" in settings:
        objective = _goal("least", settings["minimize"], settings)
    else:
        objective = _goal("greatest", settings.get("maximize", "sensitivity + specificity"), settings)
    return f"{objective}, with {_words(join_words(settings['require']))}"


def _goal(most: str, measure: str, settings: Content) -> str:
    if measure == "expected_cost":
        return f"{most} cost with {_costs(settings)}"
    return f"{most} {_words(measure)}"


def _capacity(settings: Content) -> str:
    if "share" in settings:
        return f"at most {_share(settings['share'])} of everybody"
    return f"at most {count_of(settings['at_most'], 'row', shown=format(settings['at_most'], 'g'))}"


def _bands(settings: Content) -> str:
    if "shares" in settings:
        return f"bands that hold at most {join_words(map(_share, settings['shares']))}, from above"
    if "risks" in settings:
        return f"bands that begin at a risk of {join_words(map(_share, settings['risks']))}"
    return "bands as given"


def _abstain(settings: Content) -> str:
    if "refer" in settings:
        return f"least cost with {_costs(settings)}, and {settings['refer']:g} for a referred case"
    return f"least cost of a decided case with {_costs(settings)}, at least {_share(settings['coverage'])} decided"


_AMONG = {
    "equalized": "",
    "deterministic": ", without lots",
    "group-blind": ", with one cut-off for everybody",
    "reject-option": ", by a band that favours some groups (reject option)",
    "crossing": ", where the ROC curves of two groups cross",
}
_DESCRIPTIONS: dict[str, str] = {
    "youden": "greatest sensitivity + specificity",
    "closest": "closest to the upper left corner of the ROC curve",
    "balanced": "sensitivity = specificity",
    "break-even": "precision = recall",
    "fixed": "as given",
}
_DESCRIBERS: dict[str, Callable[[Content], str]] = {
    "best": _best,
    "cost": lambda told: f"least cost with {_costs(told)}",
    "require": _requirement,
    "capacity": _capacity,
    "bands": _bands,
    "abstain": _abstain,
}


def _share(value: float) -> str:
    return f"{100 * value:.6g}\N{NO-BREAK SPACE}%"


def _words(name: str) -> str:
    return name.replace("_", " ")
