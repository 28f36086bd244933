"""Curves as tables: any measures against the threshold, in one vectorised call."""

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError, UnknownNameError
from baserate.measure._about import Measure, about
from baserate.measure._registry import named

TABLES: dict[str, tuple[str, str]] = {
    "roc": ("fpr", "sensitivity"),
    "pr": ("sensitivity", "precision"),
    "det": ("fpr", "fnr"),
    "gain": ("flag_rate", "sensitivity"),
    "lift": ("flag_rate", "lift"),
    "lorenz": ("pass_rate", "fnr"),
}
"""Named curves: what runs along x, and what along y. The gain curve is also called CAP."""


def table(curve: Curve, *what: str | Measure) -> dict[str, Floats]:
    """Tabulate measures at every threshold of a curve: columns of equal length, `threshold` first.

    Name a curve (`roc`, `pr`, `det`, `gain`, `lift`, `lorenz`) to get its two axes, or any measures of Counts. Where a
    measure is undefined, as precision is when nothing is flagged, the table says NaN: no point is invented.

    >>> from baserate import curve, tally
    >>> columns = table(curve(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])), "roc", "f1")
    >>> list(columns)
    ['threshold', 'fpr', 'sensitivity', 'f1']
    >>> columns["sensitivity"].tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    measures = [measure for each in what for measure in _measures(each)]
    unfit = [about(measure).name for measure in measures if about(measure).of is not Counts]
    if unfit:
        raise OptionError(
            f"{', '.join(unfit)} has one value for a whole curve, not one at each threshold; leave it out."
        )
    threshold = curve.threshold
    columns = {about(measure).name: np.empty(len(threshold)) for measure in measures}
    for place, counts in curve.blocks():
        for measure in measures:
            columns[about(measure).name][place] = measure(counts)
    return {"threshold": threshold} | columns


def _measures(what: str | Measure) -> list[Measure]:
    if callable(what):
        return [what]
    try:
        return [named(name) for name in TABLES.get(what.lower(), (what,))]
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} Curves are: {', '.join(TABLES)}.") from error
