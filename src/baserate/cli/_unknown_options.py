"""Options that a command does not have: the reason, the command that has them, or the name that is meant.

The words that mean the same in every command are in `REASONS`: a command accepts each of them, or says why not.
"""

from collections.abc import Mapping

import click

from baserate._errors import ask_whether_meant, nearest
from baserate._other_names import find_other_option

_CALIBRATION = ("reliability", "calibrate")
_COSTS = ("benefit", "costs", "cost-curve", "hull")
_FILES = ("apply", "export", "show")
_NO_DATA = ("demo", "list", "completion")
_THEORY = ("size", "population", "draw population")
_UNLABELLED = ("prevalence", "expect")


def _each(commands: tuple[str, ...], reason: str) -> dict[str, str]:
    return dict.fromkeys(commands, reason)


_STORED = "a file holds its {0}; state it where the file is made, with `baserate decide` or `baserate calibrate`."
_ESTIMATED = "the command estimates the prevalence; at a known one, use `baserate measure --prevalence`."
_BY_CLASS = "the figure shows each class by itself, which is the same at every prevalence."
_POOLED = (
    "the figure pools all rows; draw the rows of each group from a file of their own, or use `baserate draw groups`."
)
_WITHOUT_COSTS = "nothing here depends on costs; use `baserate decide`, `baserate costs` or `baserate draw cost-curve`."
_AS_THRESHOLD = (
    "the threshold probability stands for the costs, FP / (FP + FN); state it with --thresholds, or use "
    "`baserate decide`."
)
_EVERY_THRESHOLD = "the numbers are those of all thresholds; use `baserate measure --threshold` for one."
_FIXED = "the computation has no random numbers."
_BEFORE = "it belongs to the population; write it before the command, as in `baserate population linear {0} measure`."
_COST_REASONS = {
    "": _WITHOUT_COSTS,
    **_each(("benefit", "draw decision-curve"), _AS_THRESHOLD),
    **_each(_FILES, _STORED.format("costs")),
}
REASONS: dict[str, dict[str, str]] = {
    "prevalence": {
        "": "nothing here depends on the prevalence; use `baserate measure --prevalence`.",
        **_each(_FILES, _STORED.format("prevalence")),
        "apply": "a file is applied as it is; adjust probabilities to a prevalence with `baserate reprior`.",
        **_each(_UNLABELLED, _ESTIMATED),
        "draw scores": _BY_CLASS,
        "draw likelihood-ratio": _BY_CLASS,
        "population": _BEFORE.format("--prevalence 2%"),
    },
    "sample_prevalence": {
        "": "scores are used as they are; adjust them first with `baserate reprior`.",
        **_each(_FILES, _STORED.format("prevalence")),
        "apply": "a file is applied as it is; adjust probabilities to a prevalence with `baserate reprior`.",
        "calibrate": "the calibrator maps scores of any prevalence; state that of its probabilities with --prevalence.",
        **_each(_THEORY, "a population has one prevalence; state it with --prevalence."),
    },
    "measures": {
        "": "the command has numbers of its own; use `baserate measure --measures`.",
        "report": "a report has the usual measures; name others with `baserate measure --measures`.",
        **_each(_FILES, "the command computes no measures; use `baserate measure --measures`."),
        "curve": "a curve has the measures of its axes; name others with `baserate draw thresholds --measures`.",
        "draw": "the figure has measures of its own; name others with `baserate draw thresholds --measures`.",
        **_each(_CALIBRATION, "calibration has measures of its own; name others with `baserate measure --measures`."),
        "check": "write each measure with its bound, as in --require 'sensitivity >= 0.9'.",
        "equalize": "the parity names the rates; compare groups by others with `baserate groups --measures`.",
        "size": "name one measure as MEASURE, as in `baserate size auc`.",
        "population": "name them as MEASURES, as in `baserate population linear measure f1,auc`.",
    },
    "policy": {
        "": "no single decision is evaluated; use `baserate measure --policy`.",
        "compare": "a policy is of one model; evaluate it with `baserate measure --policy`.",
        "decide": "the command makes a policy, with -o; evaluate one with `baserate measure --policy`.",
        "equalize": "the command makes a policy, with -o; compare groups under one with `baserate groups --policy`.",
        "curve": "a curve has every threshold; mark a policy in one with `baserate draw roc --policy`.",
        "draw": "the figure marks no decision; mark a policy with `baserate draw roc --policy`.",
        **_each(("shift", "costs"), "use `baserate measure --policy FILE --prevalence SHARE`."),
        **_each(_UNLABELLED, "unlabelled data are estimated at thresholds; state that of the policy with --threshold."),
        **_each(("export", "show"), "the policy is FILE; name it without an option."),
        "apply": "the policy comes first, as in `baserate apply policy.json FILE`.",
    },
    "cluster": {
        "": "intervals take rows as independent; use `baserate measure --cluster` or `baserate compare --cluster`.",
        **_each((*_FILES, *_THEORY, "reprior", "hull"), "there are no intervals; use `baserate measure --cluster`."),
    },
    "group": {
        "": "the result is of all rows; use `baserate groups` or `baserate measure --group`.",
        "draw": _POOLED,
        "costs": "each FILE is a classifier; give the rows of each group in a file of their own.",
        "reprior": "every row is adjusted alike; give the rows of each group in a file of their own.",
        **_each(_UNLABELLED, "the target is one sample; give the rows of each group in a file of their own."),
        **_each(_THEORY, "there are no rows of groups; use `baserate groups`."),
        "show": "a file holds its groups; use `baserate groups --policy FILE` to compare them.",
    },
    "costs": {
        "": "the cost of each error is stated with --fp and --fn.",
        **_each(("curve", "reliability", "calibrate", "reprior", "draw pr", "draw scores"), _WITHOUT_COSTS),
        **_each(("benefit", "draw decision-curve"), _AS_THRESHOLD),
        **_each(_FILES, _STORED.format("costs")),
    },
    **dict.fromkeys(("fp", "fn", "tp", "tn"), _COST_REASONS),
    "threshold": {
        "": _EVERY_THRESHOLD,
        "reclassify": "categories of probability have --thresholds; use `baserate compare` for decisions at one.",
        **_each(("benefit", "draw decision-curve"), "threshold probabilities are listed with --thresholds."),
        **_each(
            (*_CALIBRATION, "reprior"), "probabilities are used without decisions; use `baserate measure --threshold`."
        ),
        "equalize": "the command chooses the thresholds; compare groups at one with `baserate groups --threshold`.",
        **_each(
            ("cost-curve", "hull"), "the command finds the best thresholds; use `baserate costs --threshold` for one."
        ),
        **_each(_FILES, _STORED.format("threshold")),
        "size": "--expect states the value; for one threshold use `baserate population linear size --threshold`.",
    },
    "predicted": {
        "": "labels have no thresholds; name the column of scores with --score.",
        **_each((*_FILES, *_THEORY), "the command reads no labels; use `baserate measure --predicted`."),
    },
    "truth": {"": "the command needs no labels; use `baserate measure --truth`."},
    "score": {"": "the command reads no scores; use `baserate measure --score`."},
    "level": {
        "": "there are no intervals; use `baserate measure --level`.",
        "population": "the results are exact, without intervals; use `baserate population linear size --level`.",
    },
    "seed": {"": _FIXED, "size": "the formulas have no random numbers; use `baserate population linear size --seed`."},
    "n_bootstrap": {
        "": "intervals need no number of bootstrap samples; use `baserate decide --n-bootstrap` for thresholds.",
    },
}
"""Word -> command or its first words -> why it does not have the option; the reason of "" is for all others."""
_NOTHING_READ = "the command reads no predictions; `baserate --help` lists those that do."


def explain_unknown_option(error: click.NoSuchOption, context: click.Context) -> click.UsageError:
    """Make the error about an option that a command does not have."""
    flag = error.option_name
    flags = _flags_of(context)
    words, word = list(map(_word, flags)), _word(flag)
    path = context.command_path.partition(" ")[2]
    is_group = isinstance(context.command, click.Group)
    return click.UsageError(
        _find_place(flag, context)
        or (f"there is no option {flag}." if is_group else "")
        or _find_reason(flag, word, path)
        or _find_meant(flag, word, flags, words, path)
        or _find_nearest(flag, flags, path),
        context,
    )


def _flags_of(context: click.Context) -> list[str]:
    parameters = context.command.get_params(context)
    visible = (each for each in parameters if isinstance(each, click.Option) and not each.hidden)
    return [flag for each in visible for flag in each.opts if flag.startswith("--")]


def _find_place(flag: str, context: click.Context) -> str:
    """Say where an option belongs that another command of the line has."""
    if isinstance(context.command, click.Group):
        if not _is_below(flag, context.command, context):
            return ""
        return f"{flag} belongs after the command, as in: {context.command_path} COMMAND … {flag} …"
    parent = context.parent
    if parent is not None and flag in _flags_of(parent):
        return f"{flag} belongs before {context.info_name}, as in: {parent.command_path} {flag} … {context.info_name}"
    return ""


def _is_below(flag: str, group: click.Group, context: click.Context) -> bool:
    """Return whether a command below a group has an option."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None  # noqa: S101  (for the type checker: it was listed)
        inner = click.Context(command, parent=context, info_name=name)
        if flag in _flags_of(inner) or (isinstance(command, click.Group) and _is_below(flag, command, inner)):
            return True
    return False


def _find_reason(flag: str, word: str, path: str) -> str:
    """Find the reason why a command does not have an option whose name means the same in all commands."""
    if word not in REASONS:
        return ""
    reason = _NOTHING_READ if path in _NO_DATA else _longest_match(REASONS[word], path)
    return f"{flag} has no use in `baserate {path}`: {reason}"


def _longest_match(reasons: Mapping[str, str], path: str) -> str:
    parts = path.split()
    starts = (" ".join(parts[:length]) for length in range(len(parts), -1, -1))
    return next(reasons[start] for start in starts if start in reasons)


def _find_meant(flag: str, word: str, flags: list[str], words: list[str], path: str) -> str:
    """Find the option that another tool calls so, or the reason why the command does not have it either."""
    other = find_other_option(word, words)
    if other is not None:
        return f"there is no option {flag}. {ask_whether_meant([flags[words.index(other)]])}"
    other = find_other_option(word, REASONS)
    if other is None:
        return ""
    meant = _flag(other)
    return f"there is no option {flag}, which is {meant} in other commands. {_find_reason(meant, other, path)}"


def _find_nearest(flag: str, flags: list[str], path: str) -> str:
    """Suggest the options that are spelled most like an unknown one."""
    unknown = f"there is no option {flag}."
    near = nearest(flag, flags, most=2)
    if near or path in _NO_DATA:
        return " ".join(filter(None, [unknown, ask_whether_meant(near)]))
    elsewhere = nearest(flag, [_flag(word) for word in REASONS])
    return f"{unknown} {_find_reason(elsewhere[0], _word(elsewhere[0]), path)}" if elsewhere else unknown


def _flag(word: str) -> str:
    return f"--{word.replace('_', '-')}"


def _word(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_").lower()
