"""Figures beside a report: those that fit it, in a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from baserate.cli._say import say

if TYPE_CHECKING:
    from baserate._tallies import Tallies
    from baserate.draw import Drawing
    from baserate.report import Report


def fitting(report: "Report") -> "dict[str, Callable[[Tallies], Drawing]]":  # noqa: ARG001  (others will look at it)
    """Figures that fit a report, by name, each ready to be drawn."""
    from baserate import draw

    return {"gain": draw.gain}


def check_folder(folder: Path) -> None:
    """Say now, rather than after long work, that figures cannot be written."""
    from baserate.draw._drawing import importing

    importing()
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"{folder} is a file; name a folder with --figures.")
    if not folder.parent.is_dir():
        raise click.UsageError(f"there is no folder {folder.parent}; make it, or name another with --figures.")


def write(report: "Report", data: "Tallies", folder: Path, *, quiet: bool) -> None:
    """Draw them, each into a file of its own, and say which."""
    figures = fitting(report)
    try:
        folder.mkdir(exist_ok=True)
        for name, draw in figures.items():
            draw(data).save(folder / f"{name}.svg")
    except OSError as error:
        raise click.UsageError(f"cannot write into {folder} ({error.strerror}); name another folder.") from error
    if not quiet:
        say(f"wrote {len(figures)} figure{'s' * (len(figures) > 1)} into {folder}: {', '.join(figures)}")
