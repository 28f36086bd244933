"""Errors: one line on stderr and an exit code."""

import shlex
from ast import literal_eval
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NoReturn

import click

from baserate._errors import (
    BaserateError,
    DataError,
    InfeasibleError,
    ask_whether_meant,
    nearest,
    spell_keyword,
    suggest,
)
from baserate.cli._terminal import print_message

FINE, UNMET, USAGE, DATA, INTERNAL = 0, 1, 2, 3, 4
INTERRUPTED, BROKEN_PIPE = 130, 141  # what a shell reports of SIGINT and SIGPIPE


_FLAGS = {"scores": ("scores", "score"), "labels": ("labels", "scores")}
"""Options of the library -> flags that commands have for them, the first choice first, if not just that name."""
_WORDINGS = {
    "all labels": "evaluate all of them: `baserate measure` with --scores or --predicted, and without --cluster.",
    "calibrate first": "for this, make them probabilities with `baserate calibrate`.",
    "commands": "{0}",
    "class of each score": "name the class of each: --scores {0}={1},….",
    "costs": "--fp 1 --fn 20",
    "costs beside prevalence": "give --fp and --fn as well, or leave --prevalence out.",
    "goal of one model": "or show of one model that it reaches a --goal.",
    "interval": "--interval {0}",
    "labelled rows": "evaluate them with `baserate measure`",
    "list measures": "`baserate list measures` lists them.",
    "one model": "give one --score.",
    "one prevalence": "for it, name one prevalence with --prevalence instead of --curve.",
    "other file": "name a file that contains a {0}.",
    "otherwise": "--otherwise pass, flag or refer",
    "rate": "--at-{0} 0.9",
    "threshold probability": "--net-benefit-at 0.1",
    "two labels": "name both classes with --positive and --negative.",
    "validation": "give labelled data to recalibrate them on, with --validation.",
}
"""Steps that the library advises, in words for the shell."""


class ShellError(Exception):
    """An error of the library, in words for the command that raised it."""

    def __init__(self, error: BaserateError, flags: Collection[str]) -> None:
        super().__init__(render_for_shell(error, flags))
        self.exit_code = exit_code(type(error))


def render_for_shell(error: BaserateError, flags: Collection[str]) -> str:
    """Write the message of an error with the flags of a command; options without a flag stay as in Python.

    >>> from baserate._errors import keyword
    >>> error = BaserateError(f"name a class: {keyword('positive', 'very sick')}", remedy=f"leave {keyword('id')} out.")
    >>> render_for_shell(error, ["--positive"])
    "name a class: --positive 'very sick'; leave id= out."
    """

    def spell(name: str, value: str) -> str:
        flag = next((each for each in _FLAGS.get(name, (name,)) if _flag(each) in flags), None)
        return spell_keyword(name, value) if flag is None else " ".join([_flag(flag), *_spell_value(value)])

    return error.render(spell, _WORDINGS)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _spell_value(value: str) -> list[str]:
    """Spell the `repr` of a value for a shell: nothing for a flag that is set, … for what is too long."""
    if value in ("", "True"):
        return []
    try:
        return [shlex.quote(str(literal_eval(value)))]
    except (ValueError, SyntaxError):
        return ["…"]


def report_error(error: Exception, *, traced: bool) -> int:
    """Print an error in one line, and return its exit code."""
    if isinstance(error, click.Abort):
        return report_interruption()
    if traced:
        import traceback

        print_message("".join(traceback.format_exception(error)))
    if isinstance(error, click.ClickException):
        print_message(f"baserate: {_describe_click_error(error)}")
        return _print_notes(error, error.exit_code)
    if isinstance(error, ShellError):
        print_message(f"baserate: {error}")
        return _print_notes(error, error.exit_code)
    if isinstance(error, BaserateError):
        return report_error(ShellError(error, ()), traced=False)
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        print_message(f"baserate: the system refuses: {error.strerror or error}{where}.")
        return exit_code(type(error))
    message = f"{type(error).__name__}: {error}".splitlines()[0]
    print_message(
        f"baserate: internal error: {message}. This is a defect of baserate; rerun with --debug for the traceback."
    )
    return exit_code(type(error))


def _print_notes(error: Exception, code: int) -> int:
    """Print the lines below the message of an error, and return its exit code."""
    for line in getattr(error, "__notes__", ()):
        print_message(line)
    return code


def refuse_unknown_name(
    context: click.Context,
    what: str,
    typed: str,
    names: Iterable[str],
    *,
    meant: Sequence[str] = (),
    aliases: Mapping[str, str] | None = None,
) -> NoReturn:
    """Refuse an unknown name; name what is meant, what another tool calls so, or the nearest, and list all."""
    names, others = list(names), aliases or {}
    near = [others.get(each, each) for each in nearest(typed, [*names, *others], most=2)]
    question = ask_whether_meant(meant or suggest_known_or_commands(typed, names) or near)
    listing = "" if meant else f"There are: {', '.join(names)}."
    context.fail(" ".join(filter(None, [f"there is no {what} {typed!r}.", question, listing])))


def suggest_known_or_commands(typed: str, known: Collection[str]) -> list[str]:
    """List what a word of another tool is called among known names, or the commands that it means."""
    from baserate._other_names import find_other_name, suggest_known  # only now, for quick help

    other = find_other_name(typed)
    return suggest_known(typed, known) or [f"`baserate {each}`" for each in (other.commands if other else ())]


def refuse_choice(typed: str, choices: Sequence[str]) -> str:
    """Return the message about a text that is none of the choices.

    >>> refuse_choice("yuden", ["youden", "cost"])
    "'yuden' is not one of 'youden', 'cost'. Did you mean 'youden'?"
    >>> refuse_choice("cutpointr", ["youden", "cost"])
    "'cutpointr' is not one of 'youden', 'cost'. Did you mean 'youden'?"
    """
    elsewhere = [each if " " in each else repr(each) for each in suggest_known_or_commands(typed, choices)]
    question = ask_whether_meant(elsewhere) or suggest(typed, choices)
    return f"{typed!r} is not one of {', '.join(map(repr, choices))}. {question}".rstrip()


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
    """Report an interruption, and return its exit code."""
    print_message("baserate: interrupted.")
    return INTERRUPTED


def _describe_click_error(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    message = message[:1].lower() + message[1:]
    if not message.endswith((".", "?", ")")):
        message += "."
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} Try: {context.command_path} --help" if context else message
