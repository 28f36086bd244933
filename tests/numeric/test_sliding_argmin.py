"""Least values in moving windows."""

import numpy as np
from hypothesis import given, strategies as st

from baserate._numeric.cumulative import sliding_argmin


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 5)), min_size=1, max_size=40))
def test_every_window_is_searched(given: list[tuple[int, int]]) -> None:
    value = np.array([float(each) for each, _ in given])
    first = np.minimum(
        np.maximum.accumulate([max(at - back, 0) for at, (_, back) in enumerate(given)]), np.arange(len(value))
    )
    found = sliding_argmin(value, first)
    for last, (start, at) in enumerate(zip(first, found, strict=True)):
        window = value[start : last + 1]
        assert start <= at <= last
        assert value[at] == window.min()
        assert not (value[at + 1 : last + 1] == window.min()).any()  # the last of equals
