"""A choice in words: what is done with which scores, by which rule, and how sure the cut-offs are."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import isinf
from typing import Any

from baserate._cut import FLAG, PASS, REFER, Cut
from baserate._numbers import number, percent, plain
from baserate._panels import label
from baserate._plain_text import listed
from baserate._plurals import count_of
from baserate._policy import Policy
from baserate._policy_json import content

Line = Mapping[str, Any]

_DASH = "\N{NO-BREAK SPACE}–\N{NO-BREAK SPACE}"


def sentence(model: str, policy: Line, costs: Line | None = None) -> str:
    """Say what is done, and why; `costs` are those that were given.

    >>> sentence("risk", {"rule": "youden", "thresholds": [0.65], "actions": ["pass", "flag"], "settings": {}})
    'Flag risk ≥ 0.65 (rule: greatest sensitivity + specificity).'
    """
    rule = rule_told(policy["rule"], {"costs": costs, **policy["settings"]})
    return f"{done(model, policy['thresholds'], policy['actions'])} (rule: {rule})."


def policy_told(policy: Policy, model: str) -> str:
    """Say what a policy does with the scores of a model, and by which rule.

    >>> policy_told(Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"), "risk")
    'Flag risk ≥ 0.5 (rule: as given).'
    """
    only, settings = policy.by_group.get(()), {"costs": None, **content(policy)["settings"]}
    if isinstance(only, Cut):
        form = {"rule": policy.rule, "thresholds": only.thresholds, "actions": only.actions, "settings": settings}
        return sentence(model, form)
    depends = (
        f"depends on {', '.join(map(label, policy.attributes))}" if policy.needs_group else "is the same for everybody"
    )
    lots = ", and where cuts disagree a lot decides, which the id draws" if policy.needs_id else ""
    return f"What is done {depends}{lots} (rule: {rule_told(policy.rule, settings)})."


def rule_told(name: str, settings: Line) -> str:
    """Say by which rule a choice was made; a rule that has no words of its own is told by its name and settings.

    >>> rule_told("best", {"measure": "f1", "toward": "high"})
    'greatest f1'
    >>> rule_told("coin", {"sides": 2})
    'coin, sides 2'
    """
    if "parity" not in settings and name not in {*_TOLD, *_PLAIN}:
        return ", ".join([name, *(f"{_words(each)} {value}" for each, value in settings.items() if value is not None)])
    where = f", at a prevalence of {_share(settings['prevalence'])}" if "prevalence" in settings else ""
    told = _equal(name, settings) if "parity" in settings else _TOLD[name](settings) if name in _TOLD else _PLAIN[name]
    return f"{told}{where}"


def scores_of(model: str, thresholds: Sequence[float]) -> list[str]:
    """Scores of each stretch, lowest first.

    >>> scores_of("risk", [0.2, 0.7])
    ['risk < 0.2', '0.2 ≤ risk < 0.7', 'risk ≥ 0.7']
    """
    if not thresholds:
        return [f"any {model}"]
    between = [f"{plain(low)} ≤ {model} < {plain(high)}" for low, high in pairwise(thresholds)]
    return [f"{model} < {plain(thresholds[0])}", *between, f"{model} ≥ {plain(thresholds[-1])}"]


def interval_told(cutoffs: Sequence[Line], digits: int) -> str:
    """Say between which bounds cut-offs lie; nothing if nobody knows."""
    known = [row for row in cutoffs if row["low"] is not None]
    if not known:
        return ""
    bounds = [f"{number(row['low'], digits)}{_DASH}{number(row['high'], digits)}" for row in known]
    what = "interval of the cut-off" if len(cutoffs) == 1 else "intervals of the cut-offs"
    return f"{percent(known[0]['level'])}\N{NO-BREAK SPACE}% {what}: {listed(bounds)}."


def folds_told(cuts: Sequence[Sequence[float]], many: int, digits: int) -> str:
    """Say between what the cut-offs lie that were chosen without each fold, those of another number left out.

    >>> folds_told([[0.2], [0.2], [0.2]], 1, 4)
    'Chosen without each of 3 folds in turn: 0.2000.'
    """
    alike = [each for each in cuts if len(each) == many]
    each_place = [sorted({min(at), max(at)}) for at in zip(*alike, strict=True)]
    ranges = [_DASH.join(number(end, digits) for end in ends) for ends in each_place]
    fewer = f", of which {len(cuts) - len(alike)} gave another number" * (len(alike) < len(cuts))
    return f"Chosen without each of {len(cuts)} folds in turn{fewer}: {listed(ranges)}." if ranges else ""


def done(model: str, thresholds: Sequence[float], actions: Sequence[str]) -> str:
    """Say what is done with which scores.

    >>> done("risk", [0.5], ["pass", "flag"])
    'Flag risk ≥ 0.5'
    """
    if not thresholds:
        return f"{actions[0].capitalize()} everybody"
    if not {*actions} <= {PASS, REFER, FLAG}:
        return f"Cut {model} at {listed(map(plain, thresholds))}"
    if list(actions) == [PASS, FLAG]:
        return "Flag nobody" if isinf(thresholds[0]) and thresholds[0] > 0 else f"Flag {model} ≥ {plain(thresholds[0])}"
    parts = [f"{action} {scores}" for action, scores in zip(actions, scores_of(model, thresholds), strict=True)]
    told = listed(parts)
    return told[:1].upper() + told[1:]


def _costs(settings: Line) -> str:
    """Costs of errors, and of the rest where it is not free; those that nobody gave are 1 for an error."""
    costs = settings.get("costs") or {"fp": 1.0, "fn": 1.0, "tp": 0.0, "tn": 0.0}
    shown = [name for name in ("fp", "fn", "tp", "tn") if costs[name] or name in ("fp", "fn")]
    return ", ".join(f"{name.upper()}\N{NO-BREAK SPACE}{costs[name]:g}" for name in shown)


def _equal(name: str, settings: Line) -> str:
    """Say which parity is kept, how strictly, and among what, if it is not among all policies."""
    bound = settings["within"]
    each = [f"{rate} within {plain(value)}" for rate, value in bound.items()] if isinstance(bound, Mapping) else []
    within = f"({', '.join(each)})" if each else f"within {plain(bound)}"
    best = f"best {_words(settings['objective'])}" if "objective" in settings else f"least cost with {_costs(settings)}"
    return f"{best} that keeps {listed(settings['parity'])} {within}{_AMONG.get(name, f', {name}')}"


def _best(settings: Line) -> str:
    return _goal("greatest" if settings["toward"] == "high" else "least", settings["measure"], settings)


def _required(settings: Line) -> str:
    if "minimize" in settings:
        objective = _goal("least", settings["minimize"], settings)
    else:
        objective = _goal("greatest", settings.get("maximize", "sensitivity + specificity"), settings)
    return f"{objective}, with {_words(listed(settings['require']))}"


def _goal(most: str, measure: str, settings: Line) -> str:
    if measure == "expected_cost":
        return f"{most} cost with {_costs(settings)}"
    return f"{most} {_words(measure)}"


def _capacity(settings: Line) -> str:
    if "share" in settings:
        return f"at most {_share(settings['share'])} of everybody"
    return f"at most {count_of(settings['at_most'], 'row', shown=format(settings['at_most'], 'g'))}"


def _bands(settings: Line) -> str:
    if "shares" in settings:
        return f"bands that hold at most {listed(map(_share, settings['shares']))}, from above"
    if "risks" in settings:
        return f"bands that begin at a risk of {listed(map(_share, settings['risks']))}"
    return "bands as given"


def _abstain(settings: Line) -> str:
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
_PLAIN: dict[str, str] = {
    "youden": "greatest sensitivity + specificity",
    "closest": "closest to the upper left corner of the ROC curve",
    "balanced": "sensitivity = specificity",
    "break-even": "precision = recall",
    "fixed": "as given",
}
_TOLD: dict[str, Callable[[Line], str]] = {
    "best": _best,
    "cost": lambda told: f"least cost with {_costs(told)}",
    "require": _required,
    "capacity": _capacity,
    "bands": _bands,
    "abstain": _abstain,
}


def _share(value: float) -> str:
    return f"{100 * value:.6g}\N{NO-BREAK SPACE}%"


def _words(name: str) -> str:
    return name.replace("_", " ")
