"""Maps and policies that are named in a shell, and rows that they are applied to."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from baserate._formatting import format_count, format_pace
from baserate.cli._progress import shown
from baserate.cli._say import say

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._policy import Policy

Kept = TypeVar("Kept")
TARGET = "Write there: .parquet, .csv, .tsv or .jsonl, the last three also with .gz; or - for CSV on stdout."
MISSING = click.option(
    "--missing",
    type=click.Choice(["refuse", "keep"]),
    default="refuse",
    show_default=True,
    help="What to do where a score is missing: refuse the file, or keep the row with nothing in the new column.",
)

_LONG = 1.0
"""Seconds from which on it matters how fast it went."""


def loaded(path: str) -> "Calibrator | MulticlassCalibrator":
    """Read a map; what is wrong with it is told with its name."""
    from baserate import load_calibrator

    return opened(path, "map", load_calibrator)


def opened(path: str, what: str, load: Callable[[str], Kept]) -> Kept:
    """Read what a file should hold; what is wrong with it is told with its name."""
    from baserate import FileFormatError, NoSuchFileError

    try:
        return load(path)
    except FileFormatError as error:
        told = str(error) if str(path) in str(error) else f"{path} is no {what} to use: {error}"
        raise FileFormatError(told) from error
    except OSError as error:
        raise NoSuchFileError(f"the {what} {path} cannot be opened: {error.strerror}; check the path.") from error


def columns(map_: "Calibrator | MulticlassCalibrator", text: str | None) -> str | dict[str, str] | None:
    """Names as they are typed: one, or for several classes CLASS=NAME,…."""
    from baserate import MulticlassCalibrator

    if text is None or not isinstance(map_, MulticlassCalibrator):
        return text
    pairs = [part.rpartition("=") for part in text.split(",")]
    return {label.strip(): name.strip() for label, _, name in pairs}


def written(
    what: "Calibrator | MulticlassCalibrator | Policy",
    files: tuple[str, ...],
    target: str,
    *,
    quiet: bool,
    **asked: Any,  # noqa: ANN401
) -> None:
    """Apply a map or a policy to files of rows, and say how many were written, and what is worth knowing of them."""
    from baserate.apply import file

    found = file(what, files, target, watch=partial(shown, quiet=quiet), **asked)
    if quiet:
        return
    for note in found.notes:
        say(f"note: {note}")
    where = "stdout" if target == "-" else target
    rate = f" ({format_pace(found.rows, found.seconds)})" if found.seconds > _LONG else ""
    say(f"{format_count(found.rows, 4)} row{'' if found.rows == 1 else 's'} written to {where}{rate}.")
