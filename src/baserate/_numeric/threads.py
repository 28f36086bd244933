"""Parallel work on large arrays, where threads pay."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


_MIN_PARALLEL = 1_000_000
"""Numbers from which threads pay."""
_BLOCK = 1 << 15
"""Numbers of a block; larger ones would leave the cache."""


def cache_blocks(size: int) -> list[slice]:
    """Divide a range into slices that fit the cache.

    >>> cache_blocks(40_000)
    [slice(0, 32768, None), slice(32768, 65536, None)]
    """
    return [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]


def parallel_map(function: Callable[[Item], Result], items: Iterable[Item], *, size: int) -> list[Result]:
    """Apply a function to every item, in threads if `size` numbers are many; NumPy and hashing release the GIL."""
    if size < _MIN_PARALLEL:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and rarely needed

    # More threads than cores would only wait for each other.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


@contextmanager
def run_in_background(function: Callable[[], Result], *, size: int) -> Iterator[Callable[[], Result]]:
    """Run a function in a thread while the body runs, if `size` numbers are many; yield a function for its result."""
    if size < _MIN_PARALLEL:
        yield function
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and rarely needed

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(function).result
