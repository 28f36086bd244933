"""Isotonic regression with one more point: its value there, for every place the point could be put."""

import numpy as np

from baserate._arrays import Floats


def with_one_hit(hits: Floats, total: Floats) -> Floats:
    r"""Share of hits at each place after the isotonic regression of all places and one more hit at that place.

    The path of running sums (total, hits) has a greatest convex minorant, whose slopes are the regression. One more hit
    at place i moves all points before i by (−1, −1); the slope at i is that of the edge of the minorant that joins what
    is before i with what is not. That slope grows with i, so the two ends of the edge never go back: all of it takes
    one walk from left to right [@vovk2015].
    """
    x, y = np.concatenate([[0.0], np.cumsum(total)]).tolist(), np.concatenate([[0.0], np.cumsum(hits)]).tolist()
    after = _next_corner(x, y)
    before = [0]
    """Corners of the minorant of the points before i."""
    found = np.empty(len(hits))
    left, right = 0, 1
    for place in range(1, len(x)):
        right = max(right, place)
        while True:
            at = before[left]
            run, rise = x[right] - x[at] + 1, y[right] - y[at] + 1
            if left + 1 < len(before):
                # Is the next corner below the line from the end on the right?
                other = before[left + 1]
                if (y[right] - y[other] + 1) * run > rise * (x[right] - x[other] + 1):
                    left += 1
                    continue
            other = after[right]
            if other and (y[other] - y[at] + 1) * run <= rise * (x[other] - x[at] + 1):
                right = other
                continue
            break
        found[place - 1] = rise / run
        _add_corner(before, place, x, y)
        left = min(left, len(before) - 1)
    return found


def _next_corner(x: list[float], y: list[float]) -> list[int]:
    """Of the minorant of each point and those after it, the corner that follows the point; 0 where none does."""
    after = [0] * len(x)
    for at in range(len(x) - 2, -1, -1):
        other = at + 1
        while after[other]:
            beyond = after[other]
            if (y[other] - y[at]) * (x[beyond] - x[at]) < (y[beyond] - y[at]) * (x[other] - x[at]):
                break
            other = beyond
        after[at] = other
    return after


def _add_corner(corners: list[int], at: int, x: list[float], y: list[float]) -> None:
    """Add a point on the right to a minorant."""
    while len(corners) > 1:
        last, one = corners[-1], corners[-2]
        if (y[last] - y[one]) * (x[at] - x[one]) < (y[at] - y[one]) * (x[last] - x[one]):
            break
        corners.pop()
    corners.append(at)
