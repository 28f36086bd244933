"""A bar on stderr while long work goes on."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TextIO

Progress = Callable[[], float | None]
"""How many per cent are done; None or a negative number while that is unknown."""

_WIDTH = 30


@contextmanager
def shown(
    progress: Progress, *, quiet: bool = False, stream: TextIO | None = None, after: float = 1.0, every: float = 0.1
) -> Iterator[None]:
    """Draw a bar while the body runs: only on a terminal, and only if it takes longer than `after` seconds."""
    stream = stream or sys.stderr
    if quiet or not stream.isatty():
        yield
        return
    done = Event()
    drawer = Thread(target=_draw, args=(progress, stream, done, (after, every)), daemon=True)
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


def bar(percent: float | None, seconds: float) -> str:
    """One line on how far it is.

    >>> bar(50, 3)
    '[###############               ]  50 %   3 s'
    >>> bar(None, 12)
    'reading …  12 s'
    """
    if percent is None or percent < 0:
        return f"reading …  {seconds:.0f} s"
    percent = min(percent, 100.0)
    return f"[{'#' * int(_WIDTH * percent / 100):{_WIDTH}}] {percent:3.0f} %   {seconds:.0f} s"


def _draw(progress: Progress, stream: TextIO, done: Event, pace: tuple[float, float]) -> None:
    after, every = pace
    began = monotonic()
    if done.wait(after):
        return
    while True:
        stream.write(f"\r\x1b[K{bar(progress(), monotonic() - began)}")
        stream.flush()
        if done.wait(every):
            break
    stream.write("\r\x1b[K")
    stream.flush()
