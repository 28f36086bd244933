"""Sentences: files, rows and classes of a headline; actions, rules and thresholds of a policy.

Every command loads this module for its headline, so NumPy and the types that load it are imported in functions.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isinf
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from baserate._formatting import (
    count_groups,
    count_of,
    format_count,
    format_exact,
    format_level,
    format_name,
    format_number,
    format_share,
    join_words,
)
from baserate.text._tables import shorten_label

if TYPE_CHECKING:
    from baserate._policy import Policy

Content = Mapping[str, Any]

_DASH = "\N{NO-BREAK SPACE}–\N{NO-BREAK SPACE}"
_PARITY_SCOPES = {
    "equalized": "",
    "deterministic": ", without randomization",
    "group-blind": ", with one threshold for everybody",
    "reject-option": ", by a band that favors some groups (reject option)",
    "crossing": ", where the ROC curves of two groups cross",
}
"""Rule of a policy with a parity constraint -> the policies that it is the best of."""


def describe_files(files: Sequence[str]) -> str:
    """Describe the files: the first one, and the number of the others."""
    first = "stdin" if files[0] == "-" else PurePath(files[0]).name or files[0]
    return shorten_label(first) + (f" and {len(files) - 1} more" if len(files) > 1 else "")


def describe_rows(data: Mapping[str, Any]) -> str:
    """Describe the rows: used, read, dropped, and what they stand for."""
    used = format_count(data["read"] - data["refused"], 4)
    of, dropped = "", ""
    if data["refused"]:
        from baserate._tally import describe_reasons  # loads NumPy, which help must not

        of = f" of {format_count(data['read'], 4)}"
        dropped = f" ({format_count(data['refused'], 4)} dropped: {describe_reasons(data['reasons'])})"
    total = f" standing for {format_count(data['rows'], 4)}" if "count" in data["columns"] else ""
    return f"{count_of(data['read'], 'row', shown=f'{used}{of}')}{total}{dropped}"


def describe_positive(truth: str | None, data: Mapping[str, Any]) -> str:
    """Describe the positive class.

    >>> describe_positive("sick", {"positive": 1})
    'positive: sick = 1'
    """
    return f"positive: {shorten_label(truth)} = {shorten_label(data['positive'])}"


def describe_prevalence(data: Mapping[str, Any]) -> str:
    """Describe the prevalence of the sample, or the one to which results are adjusted; empty of several classes.

    >>> describe_prevalence({"prevalence": 0.14})
    'prevalence 14.00%'
    >>> describe_prevalence({"prevalence": 0.14, "deployment": {"prevalence": 0.05}})
    'at 5% prevalence (sample: 14%)'
    """
    several = "classes" in data
    if "deployment" not in data:
        return "" if several else f"prevalence {format_number(100 * data['prevalence'], 4)}%"
    shares = data["deployment"].get("prevalences") or {"": data["deployment"]["prevalence"]}
    parts = [f"{shorten_label(name)} {100 * share:.4g}%".strip() for name, share in shares.items()]
    where = ", ".join(parts[:_MOST_SHARES]) + f" and {len(parts) - _MOST_SHARES} more" * (len(parts) > _MOST_SHARES)
    sample = "" if several else f" (sample: {100 * data['prevalence']:.4g}%)"
    return f"at {where} prevalence{sample}"


_MOST_SHARES = 6
"""Shares of classes or groups to list."""


def describe_class(name: str, truth: str | None, data: Mapping[str, Any]) -> str:
    """Describe the positive or the negative class, with its label if there is one.

    >>> describe_class("negative", "sick", {"negative": 0}), describe_class("negative", "sick", {"negative": None})
    ('negative (sick = 0)', 'negative')
    """
    return name if data[name] is None else f"{name} ({shorten_label(truth)} = {shorten_label(data[name])})"


def describe_choice(model: str, policy: Content, costs: Content | None = None) -> str:
    """Describe the actions of a policy and its rule; `costs` are those of the command.

    >>> describe_choice("risk", {"rule": "youden", "thresholds": [0.65], "actions": ["pass", "flag"], "settings": {}})
    'Flag risk ≥ 0.65 (rule: greatest sensitivity + specificity).'
    """
    rule = describe_rule(policy["rule"], {"costs": costs, **policy["settings"]})
    return f"{describe_actions(model, policy['thresholds'], policy['actions'])} (rule: {rule})."


def describe_policy(policy: "Policy", model: str) -> str:
    """Describe the actions of a policy on the scores of a model, and its rule.

    >>> from baserate import Cut, Policy
    >>> describe_policy(Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"), "risk")
    'Flag risk ≥ 0.5 (rule: as given).'
    """
    from baserate._cut import Cut
    from baserate._policy import policy_content

    only, settings = policy.by_group.get(()), {"costs": None, **policy_content(policy)["settings"]}
    if isinstance(only, Cut):
        form = {"rule": policy.rule, "thresholds": only.thresholds, "actions": only.actions, "settings": settings}
        return describe_choice(model, form)
    depends = "is the same for everybody"
    if policy.needs_group:
        depends = f"depends on {', '.join(map(shorten_label, policy.attributes))}"
    random = ", and is randomized by ID where thresholds disagree" if policy.needs_id else ""
    return f"The decision {depends}{random} (rule: {describe_rule(policy.rule, settings)})."


def describe_decisions(policy: "Policy", models: Sequence[str]) -> str:
    """Describe the decisions of a policy on the scores of some models: thresholds, or what they depend on.

    >>> from baserate import Cut, Policy
    >>> describe_decisions(Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"), ["risk"])
    'Flag risk ≥ 0.5.'
    """
    from baserate._cut import Cut

    calibrator = "" if policy.calibrator is None else f", chosen on calibrated scores ({policy.calibrator.method})"
    cut = policy.by_group.get(())
    if policy.needs_group:
        random = ", some of them at random" if policy.needs_id else ""
        groups = count_groups(len(policy.by_group), map(shorten_label, policy.attributes))
        return f"Decided for each of {groups}{random}{calibrator}."
    if not isinstance(cut, Cut):
        return f"Decided at random between thresholds{calibrator}."
    return f"{describe_actions(' and '.join(models), cut.thresholds, cut.actions)}{calibrator}."


def describe_rule(name: str, settings: Content) -> str:
    """Describe the rule of a choice, by its entry in the registry; other rules by their name and settings.

    >>> describe_rule("best", {"measure": "f1", "toward": "high"})
    'greatest F1'
    >>> describe_rule("coin", {"sides": 2})
    'coin, sides 2'
    """
    from baserate.decide import DECISION_RULES  # imported here: formatting a table needs no rules

    entry = DECISION_RULES.get(name)
    if "parity" in settings:
        text = _describe_parity(name, settings)
    elif "mixing" in settings:
        text = f"scores withheld at random until the {_EQUALIZED[settings['equalize']]} is equal"
    elif entry is not None and entry.describe is not None:
        text = entry.describe(settings)
    else:
        return ", ".join(
            [name, *(f"{format_name(each)} {value}" for each, value in settings.items() if value is not None)]
        )
    where = f", at a prevalence of {format_share(settings['prevalence'])}" if "prevalence" in settings else ""
    middle = ", midway between scores" if settings.get("midpoints") else ""
    return f"{text}{where}{middle}"


def describe_score_ranges(model: str, thresholds: Sequence[float]) -> list[str]:
    """List the score range of each action, lowest first.

    >>> describe_score_ranges("risk", [0.2, 0.7])
    ['risk < 0.2', '0.2 ≤ risk < 0.7', 'risk ≥ 0.7']
    """
    if not thresholds:
        return [f"any {model}"]
    between = [f"{format_exact(low)} ≤ {model} < {format_exact(high)}" for low, high in pairwise(thresholds)]
    return [f"{model} < {format_exact(thresholds[0])}", *between, f"{model} ≥ {format_exact(thresholds[-1])}"]


def describe_threshold_intervals(thresholds: Sequence[Content], digits: int) -> str:
    """Describe the confidence intervals of thresholds; empty without intervals."""
    with_interval = [row for row in thresholds if row["low"] is not None]
    if not with_interval:
        return ""
    bounds = [
        f"{format_number(row['low'], digits)}{_DASH}{format_number(row['high'], digits)}" for row in with_interval
    ]
    what = "interval of the threshold" if len(thresholds) == 1 else "intervals of the thresholds"
    return f"{format_level(with_interval[0]['level'])}% {what}: {join_words(bounds)}."


def describe_fold_thresholds(folds: Sequence[Sequence[float]], many: int, digits: int) -> str:
    """Describe the range of the thresholds chosen without each fold, except folds with another number of them.

    >>> describe_fold_thresholds([[0.2], [0.2], [0.2]], 1, 4)
    'Chosen without each of 3 folds in turn: 0.2000.'
    """
    same_number = [each for each in folds if len(each) == many]
    each_place = [sorted({min(at), max(at)}) for at in zip(*same_number, strict=True)]
    ranges = [_DASH.join(format_number(end, digits) for end in ends) for ends in each_place]
    fewer = f" ({len(folds) - len(same_number)} with another number)" * (len(same_number) < len(folds))
    return f"Chosen without each of {len(folds)} folds in turn{fewer}: {join_words(ranges)}." if ranges else ""


def describe_actions(model: str, thresholds: Sequence[float], actions: Sequence[str]) -> str:
    """Describe the action for each range of scores.

    >>> describe_actions("risk", [0.5], ["pass", "flag"])
    'Flag risk ≥ 0.5'
    """
    from baserate._cut import FLAG, PASS, REFER

    if not thresholds:
        return f"{actions[0].capitalize()} everybody"
    if not {*actions} <= {PASS, REFER, FLAG}:
        return f"Cut {model} at {join_words(map(format_exact, thresholds))}"
    if list(actions) == [PASS, FLAG]:
        nobody = isinf(thresholds[0]) and thresholds[0] > 0
        return "Flag nobody" if nobody else f"Flag {model} ≥ {format_exact(thresholds[0])}"
    ranges = describe_score_ranges(model, thresholds)
    parts = [f"{action} {scores}" for action, scores in zip(actions, ranges, strict=True)]
    sentence = join_words(parts)
    return sentence[:1].upper() + sentence[1:]  # capitalize() would put the name of the score in lower case


_EQUALIZED = {
    "fnr": "generalized false negative rate",
    "fpr": "generalized false positive rate",
    "weighted": "expected cost of the scores",
}


def _describe_parity(name: str, settings: Content) -> str:
    """Describe a parity constraint, its tolerance, and the policies among which the rule chooses."""
    from baserate.decide import describe_costs

    if isinstance(settings["within"], Mapping):
        bounds = (f"{rate} within {format_exact(bound)}" for rate, bound in settings["within"].items())
        within = f"({', '.join(bounds)})"
    else:
        within = f"within {format_exact(settings['within'])}"
    if "objective" in settings:
        best = f"best {format_name(settings['objective'])}"
    else:
        best = f"least cost with {describe_costs(settings)}"
    return f"{best} that keeps {join_words(settings['parity'])} {within}{_PARITY_SCOPES.get(name, f', {name}')}"
