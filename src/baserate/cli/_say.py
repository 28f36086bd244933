"""Where words go: data to stdout or a file, messages to stderr; and whether there is colour."""

import os
import sys
from typing import TextIO

import click

from baserate._errors import OptionError
from baserate._formatting import replace_unprintable

WIDTH = 100
"""Of a page that no terminal limits."""


def say(message: str) -> None:
    """Tell the person, on stderr."""
    click.echo("\n".join(map(replace_unprintable, message.rstrip("\n").split("\n"))), err=True)


def put(text: str, path: str | None) -> None:
    """Hand over the data: to stdout, or whole or not at all to a file."""
    ended = text if text.endswith("\n") or not text else f"{text}\n"
    if path is None or path == "-":
        click.echo(ended, nl=False)
        return
    from baserate._files import write_text  # slow to import, and help does not need it

    try:
        write_text(path, click.unstyle(ended))
    except OSError as error:
        raise OptionError(f"cannot write {path} ({error.strerror}); name another file.") from error


def colour() -> bool | None:
    """True if FORCE_COLOR asks for it, False if NO_COLOR or a dumb terminal forbids it, None: on terminals only."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def room() -> int:
    """How many columns a table may take."""
    if _terminal(sys.stdout) or os.environ.get("COLUMNS", "").isdigit():
        import shutil  # slow to import, and help does not need it

        return max(shutil.get_terminal_size((WIDTH, 24)).columns, 40)
    return WIDTH


def _terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()
