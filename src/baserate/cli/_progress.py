"""A bar on stderr while long work goes on."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from time import monotonic
from typing import TextIO

from baserate._formatting import format_pace

Progress = Callable[[], float | None]
"""How many per cent are done; None or a negative number while that is unknown."""

_WIDTH = 30


@contextmanager
def shown(
    progress: Progress,
    rows: int | None = None,
    *,
    quiet: bool = False,
    stream: TextIO | None = None,
    after: float = 1.0,
    every: float = 0.1,
) -> Iterator[None]:
    """Draw a bar while the body runs: only on a terminal, and only if it takes longer than `after` seconds.

    With the number of `rows`, it tells how many are done in a second.
    """
    stream = stream or sys.stderr
    if quiet or not stream.isatty():
        yield
        return
    done = Event()
    drawer = Thread(target=_draw, args=(partial(_line, progress, rows), stream, done, (after, every)), daemon=True)
    drawer.start()
    try:
        yield
    finally:
        done.set()
        drawer.join()


@contextmanager
def counted(*, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Draw a bar while the body runs, which tells how many of how many are done."""
    percent = 0.0

    def watch(done: int, parts: int) -> None:
        nonlocal percent
        percent = 100 * done / parts

    with shown(lambda: percent, quiet=quiet):
        yield watch


def bar(percent: float | None, seconds: float, rows: int | None = None) -> str:
    """One line on how far it is, of how many rows.

    >>> bar(50, 3)
    '[###############               ]  50 %   3 s'
    >>> bar(50, 3, 9_000_000)
    '[###############               ]  50 %   3 s   1.5 million rows/s'
    >>> bar(None, 12)
    'reading …  12 s'
    """
    if percent is None or percent < 0:
        return f"reading …  {seconds:.0f} s"
    percent = min(percent, 100.0)
    rate = f"   {format_pace(rows * percent / 100, seconds)}" if rows and seconds else ""
    return f"[{'#' * int(_WIDTH * percent / 100):{_WIDTH}}] {percent:3.0f} %   {seconds:.0f} s{rate}"


def _line(progress: Progress, rows: int | None, seconds: float) -> str:
    return bar(progress(), seconds, rows)


def _draw(line: Callable[[float], str], stream: TextIO, done: Event, pace: tuple[float, float]) -> None:
    after, every = pace
    began = monotonic()
    if done.wait(after):
        return
    while True:
        stream.write(f"\r\x1b[K{line(monotonic() - began)}")
        stream.flush()
        if done.wait(every):
            break
    stream.write("\r\x1b[K")
    stream.flush()
