"""Types of benchmarks, and functions that measure time and memory of both sides."""

import gc
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Any, Literal, NamedTuple

_TOLERANCE = 1e-9


class MissingToolError(RuntimeError):
    """A benchmark needs a program that is not installed; the message names it, and how to install it."""


class Outcome(NamedTuple):
    """Medians of both sides."""

    ours: float
    peer: float
    unit: Literal["seconds", "bytes"] = "seconds"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Work of ours and of a peer, with the target of their ratio: peer/ours at least, or ours/peer at most."""

    work: str
    peer: str
    sense: Literal[">=", "<="]
    target: float
    run: Callable[[int, int], Outcome]
    """Function of the size of the data and the number of repeats."""
    n: int = 1
    repeats: int = 5

    def ratio(self, outcome: Outcome) -> float:
        """Return peer/ours where more is better, otherwise ours/peer."""
        return outcome.peer / outcome.ours if self.sense == ">=" else outcome.ours / outcome.peer

    def meets_target(self, ratio: float) -> bool:
        """Return whether a ratio meets the target."""
        return ratio >= self.target if self.sense == ">=" else ratio <= self.target


class Pair(NamedTuple):
    """Two computations of the same result, and the distance between their results."""

    ours: Callable[[], Any]
    peer: Callable[[], Any]
    gap: Callable[[Any, Any], float]
    """Distance in excess of the known inaccuracy of the peer, which is to be 0 up to rounding."""


def time_pair(
    prepare: Callable[[int], Pair], *, slow: bool = False, clock: Callable[[], float] = perf_counter
) -> Callable[[int, int], Outcome]:
    """Return a benchmark that checks that both sides agree, and then times them by a clock: of the wall or the CPU.

    The check is also the warm-up of both sides. Where the peer is slow (over 20 s), the check uses less data, and only
    our side warms up with all data.
    """

    def run(n: int, repeats: int) -> Outcome:
        sides = prepare(max(n // 100, min(n, 200)) if slow else n)
        gap = sides.gap(sides.ours(), sides.peer())
        if not gap <= _TOLERANCE:  # written so that NaN fails, too
            raise ArithmeticError(f"The results of baserate and its peer differ by {gap:g}; expected agreement.")
        if slow:
            sides = prepare(n)
            sides.ours()
        ours, peer = median_seconds([sides.ours, sides.peer], repeats, clock=clock)
        return Outcome(ours, peer, note="CPU time of all threads" if clock is process_time else "")

    return run


def trace_memory(prepare: Callable[[int], Pair]) -> Callable[[int, int], Outcome]:
    """Return a benchmark of our peak of additional memory, with the result, beside one array of n float64."""

    def run(n: int, repeats: int) -> Outcome:
        prepare(2).ours()  # modules imported on first use are not memory of the computation
        work = prepare(n).ours
        peaks, results = zip(*(_trace_allocations(work) for _ in range(repeats)), strict=True)
        peak, array = median(peaks), 8 * n
        note = f"peak of {peak / array:.2f} arrays with the result, {(peak - median(results)) / array:.2f} without it"
        return Outcome(peak, array, "bytes", note)

    return run


def median_seconds(
    runs: Sequence[Callable[[], object]], repeats: int, *, clock: Callable[[], float] = perf_counter
) -> list[float]:
    """Time each function `repeats` times; return the median of each.

    The functions take turns, so that a slow phase of the machine affects all of them.
    """
    rounds = [[_time_once(run, clock) for run in runs] for _ in range(repeats)]
    return [median(times) for times in zip(*rounds, strict=True)]


def _time_once(run: Callable[[], object], clock: Callable[[], float]) -> float:
    gc.collect()  # garbage of the previous function would be collected at the expense of this one
    start = clock()
    result = run()
    stop = clock()
    del result  # after the clock stops: a user would still need the result
    return stop - start


def _trace_allocations(work: Callable[[], object]) -> tuple[int, int]:
    """Return the bytes at the peak, and the bytes of the result."""
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        size, peak = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return peak, size
