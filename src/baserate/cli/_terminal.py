"""Terminal: messages on stderr, data on stdout or in a file, color, width, progress bars."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from time import monotonic
from typing import TextIO

import click

from baserate._errors import OptionError

WIDTH = 100
"""Width of a page that no terminal limits."""


def print_message(message: str) -> None:
    """Print a message on stderr."""
    from baserate._formatting import replace_unprintable  # help prints no message, and need not load it

    click.echo("\n".join(map(replace_unprintable, message.rstrip("\n").split("\n"))), err=True)


def print_note(note: str) -> None:
    """Print a note on stderr: wrapped on a terminal, and in one line elsewhere, where programs read it."""
    if _is_terminal(sys.stderr):
        from textwrap import wrap

        width = max(_columns(sys.stderr), 40)
        print_message("\n".join(wrap(note, width, break_on_hyphens=False)))
    else:
        print_message(note)


def write_output(text: str, path: str | None) -> None:
    """Write data to stdout, or whole or not at all to a file."""
    ended = text if text.endswith("\n") or not text else f"{text}\n"
    if path is None or path == "-":
        click.echo(ended, nl=False)
        return
    from baserate._files import write_text  # slow to import, and help does not need it

    try:
        write_text(path, click.unstyle(ended))
    except OSError as error:
        raise OptionError(f"cannot write {path} ({error.strerror})", remedy="name another file.") from error


def use_color() -> bool | None:
    """Return True for FORCE_COLOR, False for NO_COLOR or a dumb terminal, None for color on terminals only."""
    # NO_COLOR wins over FORCE_COLOR, as in other programs (no-color.org).
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def terminal_width() -> int:
    """Return the number of columns that a table may take."""
    # COLUMNS also counts without a terminal, such as for a pager behind a pipe.
    if _is_terminal(sys.stdout) or os.environ.get("COLUMNS", "").isdigit():
        import shutil  # slow to import, and help does not need it

        return max(shutil.get_terminal_size((WIDTH, 24)).columns, 40)
    return WIDTH


def _columns(stream: TextIO) -> int:
    """Return the number of columns of the terminal of a stream: stdout may be a pipe where stderr is a terminal."""
    return os.get_terminal_size(stream.fileno()).columns


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


Progress = Callable[[], float | None]
"""Percentage that is done; None or a negative number while that is unknown."""

_WIDTH = 30


@contextmanager
def progress_bar(
    progress: Progress,
    rows: int | None = None,
    *,
    quiet: bool = False,
    stream: TextIO | None = None,
    after: float = 1.0,
    every: float = 0.1,
) -> Iterator[None]:
    """Draw a bar while the body runs: only on a terminal, and only if it takes longer than `after` seconds.

    With the number of `rows`, it shows how many are done in a second.
    """
    stream = stream or sys.stderr
    if quiet or not stream.isatty():
        yield
        return
    done = Event()
    # A thread, since the engines do not return to Python before the work is done.
    drawer = Thread(
        target=_draw_progress, args=(partial(_line, progress, rows), stream, done, (after, every)), daemon=True
    )
    drawer.start()
    try:
        yield
    finally:
        done.set()
        drawer.join()


@contextmanager
def progress_counter(*, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar of counted steps while the body runs."""
    percent = 0.0

    def watch(done: int, parts: int) -> None:
        nonlocal percent
        percent = 100 * done / parts

    with progress_bar(lambda: percent, quiet=quiet):
        yield watch


def bar(percent: float | None, seconds: float, rows: int | None = None) -> str:
    """Return one line of progress.

    >>> bar(50, 3)
    '[###############               ]  50%   3 s'
    >>> bar(50, 3, 9_000_000)
    '[###############               ]  50%   3 s   1.5 million rows/s'
    >>> bar(None, 12)
    'reading …  12 s'
    """
    if percent is None or percent < 0:
        return f"reading …  {seconds:.0f} s"
    from baserate._formatting import format_pace

    percent = min(percent, 100.0)
    rate = f"   {format_pace(rows * percent / 100, seconds)}" if rows and seconds else ""
    return f"[{'#' * int(_WIDTH * percent / 100):{_WIDTH}}] {percent:3.0f}%   {seconds:.0f} s{rate}"


def _line(progress: Progress, rows: int | None, seconds: float) -> str:
    return bar(progress(), seconds, rows)


def _draw_progress(line: Callable[[float], str], stream: TextIO, done: Event, pace: tuple[float, float]) -> None:
    after, every = pace
    began = monotonic()
    if done.wait(after):
        return
    while True:
        stream.write(f"\r\x1b[K{line(monotonic() - began)}")  # to the start of the line, and erase it
        stream.flush()
        if done.wait(every):
            break
    stream.write("\r\x1b[K")
    stream.flush()
