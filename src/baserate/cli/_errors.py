"""Errors: one line on stderr and an exit code."""

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import NoReturn

import click

from baserate._errors import BaserateError, DataError, InfeasibleError
from baserate.cli._terminal import print_message

FINE, UNMET, USAGE, DATA, INTERNAL = 0, 1, 2, 3, 4
INTERRUPTED, BROKEN_PIPE = 130, 141  # what a shell reports of SIGINT and SIGPIPE


_OPTIONS = (
    *("truth", "score", "predicted", "group", "weight", "count"),
    *("positive", "negative", "missing", "threshold", "measures", "points", "scores", "labels"),
    *("prevalence", "flag_rate", "alpha", "level", "seed"),
    *("to", "table", "measure", "alternative", "margin", "method", "id", "cluster"),
    *("validation_score", "validation_scores", "validation_weight", "validation_count", "target_truth"),
)
_KEYWORD = re.compile(rf"""\b({"|".join(_OPTIONS)})=(?:'([^']*)'|"([^"]*)"|(-?\d+(?:\.\d+)?|[A-Za-z]\w*)?)""")
_LONGEST = 100
_ASIDES = {
    r"to= names a column, but": "--name names a column, but",
    r"smoothed=True": "--smoothed",
    r"and this figure shows one; say which with model=\.": "and this figure shows one; give one --score.",
    r"give a mapping from the name of the model to its policy\.": "give one --score.",
    r"give costs= as well, or leave prevalence= out\.": "give --fp and --fn as well, or leave --prevalence out.",
    r"costs=Costs\(fp=1, fn=20\)": "--fp 1 --fn 20",
    r"equalize\.cross_validate": "--held-out",
    r"otherwise= an action": "--otherwise pass, flag or refer",
    r"give a threshold\.": "give one with --threshold.",
    r"name the class of each column, for example score=\{(.*): (.*)\}\.": r"name the class of each: --scores \1=\2,….",
    r"judge all of them: read\.class_rows, read\.confusions\.": "judge all of them: `baserate measure` with "
    "--scores or --predicted, and without --cluster.",
    r"take sample_size_for_proportion_test for one model\.": "show of one model that it reaches a --goal.",
    r"reweigh a tally to one prevalence for it\.": "for it, name one prevalence with --to instead of --curve.",
    r"compare it with the positive one first\.": "name both classes with --positive and --negative.",
    r"judge them as they are \(read\.tallies, read\.class_rows\)": "judge them with `baserate measure`",
    r"give a validation set to recalibrate them on\.": "give rows with a truth to recalibrate them on, with "
    "--validation.",
    r"method='([\w-]+)' makes no": r"--interval \1 makes no",
    r"to use this one, calibrate the scores first\.": "for this, make them probabilities with `baserate calibrate`.",
    r"Costs\(tp=(.*), fp=(.*), fn=(.*), tn=(.*)\):": r"--tp \1 --fp \2 --fn \3 --tn \4:",
    r"(there is no measure .*)Known are: [\w, ]*\.": r"\1`baserate list measures` lists them.",
}
"""What is said differently in a shell."""


def rephrase_for_shell(message: str) -> str:
    """Turn remedies in Python into remedies for the shell.

    >>> rephrase_for_shell("name the positive one, perhaps positive='very sick'; or pass it as weight= instead.")
    "name the positive one, perhaps --positive 'very sick'; or pass it as --weight instead."
    """

    def flag(match: re.Match[str]) -> str:
        name, *values = match.groups()
        value = next((each for each in values if each is not None), None)
        name = name.replace("_", "-")
        if value is None:
            return f"--{name}"
        return f"--{name} {shlex.quote(value) if len(value) <= _LONGEST else '…'}"

    for aside, replacement in _ASIDES.items():
        message = re.sub(aside, replacement, message)
    return _KEYWORD.sub(flag, message)


def report_error(error: Exception, *, traced: bool) -> int:
    """Say what went wrong, and return the exit code for it."""
    if isinstance(error, click.Abort):
        return report_interruption()
    if traced:
        import traceback

        print_message("".join(traceback.format_exception(error)))
    if isinstance(error, click.ClickException):
        print_message(f"baserate: {_describe_click_error(error)}")
        return error.exit_code
    if isinstance(error, BaserateError):
        message, *quoted = str(error).split("\n")  # what was typed is shown as it was, with a caret under the place
        print_message("\n".join([f"baserate: {rephrase_for_shell(message)}", *quoted]))
        return exit_code(type(error))
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        print_message(f"baserate: the system refuses: {error.strerror or error}{where}.")
        return exit_code(type(error))
    message = f"{type(error).__name__}: {error}".splitlines()[0]
    print_message(
        f"baserate: internal error: {message}. This is our fault; rerun with --debug to see where it happened."
    )
    return exit_code(type(error))


def refuse_unknown_name(
    context: click.Context, what: str, typed: str, known: Iterable[str], synonyms: Sequence[str] = ()
) -> NoReturn:
    """Refuse a word that is no command, and name the nearest."""
    from difflib import get_close_matches  # slow to import, and rarely needed

    known = list(known)
    near = synonyms or get_close_matches(typed, known, n=2)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    context.fail(f"there is no {what} {typed!r}.{hint} There are: {', '.join(known)}.")


def exit_code(kind: type[Exception]) -> int:
    """Exit code of a kind of error.

    >>> exit_code(DataError), exit_code(KeyError)
    (3, 4)
    """
    if issubclass(kind, InfeasibleError):
        return UNMET
    if issubclass(kind, DataError):
        return DATA
    return USAGE if issubclass(kind, (BaserateError, OSError)) else INTERNAL


def report_interruption() -> int:
    """Say that it was, and return the exit code for it."""
    print_message("baserate: interrupted.")
    return INTERRUPTED


def _describe_click_error(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    message = message[:1].lower() + message[1:]
    if not message.endswith((".", "?", ")")):
        message += "."
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} Try: {context.command_path} --help" if context else message
