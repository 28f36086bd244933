"""What a row is, and how its two sides are measured."""

import gc
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any, Literal, NamedTuple

_TOLERANCE = 1e-9


class AbsentError(RuntimeError):
    """What a row needs is not on this machine; it says what, and how to get it."""


class Outcome(NamedTuple):
    """Medians of both sides."""

    ours: float
    rival: float
    unit: Literal["seconds", "bytes"] = "seconds"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Our work beside a rival's, and the ratio to reach: rival/ours at least, or ours/rival at most, the target."""

    work: str
    rival: str
    sense: Literal[">=", "<="]
    target: float
    run: Callable[[int, int], Outcome]
    """From the size of the data and the number of repeats."""
    n: int = 1
    repeats: int = 5

    def ratio(self, outcome: Outcome) -> float:
        """Return rival/ours where more is better, otherwise ours/rival."""
        return outcome.rival / outcome.ours if self.sense == ">=" else outcome.ours / outcome.rival

    def reached(self, ratio: float) -> bool:
        """Whether the target is met."""
        return ratio >= self.target if self.sense == ">=" else ratio <= self.target


class Duel(NamedTuple):
    """Two ways to the same result, and how far apart two results are."""

    ours: Callable[[], Any]
    rival: Callable[[], Any]
    gap: Callable[[Any, Any], float]


def duel(prepare: Callable[[int], Duel], *, slow: bool = False) -> Callable[[int, int], Outcome]:
    """Time both sides after a rehearsal that sees them agree.

    The rehearsal is the warm-up of both; where the rival is slow (over 20 s), only ours is warmed up in full size.
    """

    def run(n: int, repeats: int) -> Outcome:
        sides = prepare(max(n // 100, min(n, 200)) if slow else n)
        gap = sides.gap(sides.ours(), sides.rival())
        if not gap <= _TOLERANCE:
            raise ArithmeticError(f"ours and the rival's results are {gap:g} apart; they must agree to be compared.")
        if slow:
            sides = prepare(n)
            sides.ours()
        ours, rival = medians([sides.ours, sides.rival], repeats)
        return Outcome(ours, rival)

    return run


def peak(prepare: Callable[[int], Duel]) -> Callable[[int, int], Outcome]:
    """Measure the peak of our extra memory, the result included, beside one array of n float64."""

    def run(n: int, repeats: int) -> Outcome:
        prepare(2).ours()  # what is imported on first use does not count
        work = prepare(n).ours
        tops, kept = zip(*(_traced(work) for _ in range(repeats)), strict=True)
        top, array = median(tops), 8 * n
        note = f"peak of {top / array:.2f} arrays with the result, {(top - median(kept)) / array:.2f} without it"
        return Outcome(top, array, "bytes", note)

    return run


def medians(runs: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Seconds that each takes, all run in turns."""
    rounds = [[_seconds(run) for run in runs] for _ in range(repeats)]
    return [median(times) for times in zip(*rounds, strict=True)]


def _seconds(run: Callable[[], object]) -> float:
    gc.collect()
    start = perf_counter()
    result = run()
    stop = perf_counter()
    del result  # only now, since its user would keep it
    return stop - start


def _traced(work: Callable[[], object]) -> tuple[int, int]:
    """Bytes at the peak, and bytes that the result keeps."""
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        kept, top = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return top, kept
