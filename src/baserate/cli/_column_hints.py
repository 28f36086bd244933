"""The columns of a file, and the complete command to type, where a command names no column of labels or scores."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baserate._errors import BaserateError
from baserate.cli._common_flags import TYPED
from baserate.text import describe_files

if TYPE_CHECKING:
    from baserate.read import Inspection

_OTHER_SOURCES = ("policy", "plan", "cross_table", "table", "truths")
"""Options that may stand for columns."""
_GROUPED = ("groups", "equalize")
"""Commands, and figures, that need groups."""
_ALSO = {
    "the prevalence in deployment is missing": "--prevalence 2%",
    "costs are missing": "--fp 1 --fn 20",
}
"""What else a message says is missing -> an example."""


def describe_missing_columns(message: str, context: click.Context) -> list[str]:
    """Describe the columns of the files of a command that names too few of them; nothing for other commands."""
    params, typed = context.params, list(context.meta.get(TYPED, ()))
    files: Sequence[str] = params.get("file") or ()
    # Names of columns that were typed as files, as in `baserate measure people.csv sick risk`.
    strays = [each for each in files[1:] if not Path(each).exists() and Path(each).suffix == ""]
    files, typed = [each for each in files if each not in strays], [each for each in typed if each not in strays]
    if not files or "-" in files or not _lacks_columns(params, context.info_name):
        return []
    from baserate.read import inspect_columns

    try:
        found = inspect_columns(files)
    except BaserateError as error:
        return [f"{error}"]
    if found is None:
        return []
    wanted = dict(_choose_columns(found, context))
    lacking = [flag for flag, names in wanted.items() if not names]
    lacking += ["the other --score"] if context.info_name == "compare" and len(wanted.get("--score", "2.")) == 1 else []
    lines = found.lines(describe_files(files))
    if lacking:
        return [*lines, f"No column looks right for {' and '.join(lacking)}; name yours."]
    words = [f"{flag} {shlex.quote(name)}" for flag, names in wanted.items() for name in names]
    words += [example for what, example in _ALSO.items() if what in message]
    return [*lines, f"Type: {context.command_path} {shlex.join(typed)} {' '.join(words)}"]


def _lacks_columns(params: dict[str, Any], command: str | None) -> bool:
    """Return whether a command that needs labels and scores, or also groups, names too few columns."""
    if "truth" not in params or "validation" in params or any(params.get(name) for name in _OTHER_SOURCES):
        return False
    if command in _GROUPED and not params.get("group"):
        return True
    return params["truth"] is None or not any(params.get(name) for name in ("score", "scores", "predicted"))


def _choose_columns(found: "Inspection", context: click.Context) -> Iterator[tuple[str, list[str]]]:
    """Yield each option that is missing, with the likeliest columns."""
    params, command = context.params, context.info_name
    labels = found.candidates("labels")
    if params["truth"] is None:
        yield "--truth", [each.name for each in labels[:1]]
        if labels and labels[0].positive is not None and not (params.get("positive") or params.get("negative")):
            yield "--positive", [labels[0].positive]
    if not any(params.get(name) for name in ("score", "scores", "predicted")):
        yield "--score", [each.name for each in found.candidates("scores")[: 2 if command == "compare" else 1]]
    if command in _GROUPED and not params.get("group"):
        yield "--group", [each.name for each in found.candidates("groups")[:1]]
