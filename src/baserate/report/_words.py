"""Numbers, groups and places as the sentences of findings tell them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

from baserate._estimate import Estimate
from baserate._formatting import count_of
from baserate.report._report import Report, View

_LONG = 1000
"""From here on a number has more than three digits before its point, and none behind it."""


def number(value: float) -> str:
    """Three significant digits at most, but never cut whole ones; 1 is 1 alone, and whole numbers are told in full.

    >>> print(*(number(value) for value in (0.5, 0.06341, 12.346, 0.9999, 1, -0.25, float("inf"))), sep=", ")
    0.5, 0.0634, 12.3, 1.00, 1, −0.25, ∞
    >>> print(number(1234.5), number(20000), sep=", ")
    1 234, 20 000
    """
    told = f"{value:,.0f}".replace(",", " ") if abs(value) >= _LONG else f"{value:.3g}"
    return ("1.00" if told == "1" and value != 1 else told).replace("inf", "∞").replace("-", "−", value < 0)


def counted(many: float, things: str) -> str:
    """A number of things, whose name is given in the plural.

    >>> counted(1, "flagged rows"), counted(20000, "positives")
    ('1 flagged row', '20 000 positives')
    """
    return count_of(many, things.removesuffix("s"), things, shown=number(many))


def ranged(found: Estimate) -> str:
    """A number with its interval, if it has one.

    >>> ranged(Estimate(0.84, 0.8123, 0.87)), ranged(Estimate(-0.5, -0.75, 0.1)), ranged(Estimate(0.5))
    ('0.84 (0.812–0.87)', '−0.5 (−0.75 to 0.1)', '0.5')
    """
    if isnan(found.low):
        return number(found.value)
    between = " to " if found.low < 0 else "–"
    return f"{number(found.value)} ({number(found.low)}{between}{number(found.high)})"


def in_full(**found: Estimate | None) -> dict[str, float]:
    """Numbers by name, the bounds of each behind it; what is None or has no interval is left out.

    >>> in_full(auc=Estimate(0.8, 0.7, 0.9), precision=None, floor=Estimate(0.1))
    {'auc': 0.8, 'auc_low': 0.7, 'auc_high': 0.9, 'floor': 0.1}
    """
    told: dict[str, float] = {}
    for name, each in found.items():
        if each is not None:
            ends = {name: each.value, f"{name}_low": each.low, f"{name}_high": each.high}
            told |= {end: value for end, value in ends.items() if not isnan(value)}
    return told


def named(group: Mapping[str, object]) -> str:
    """A group in words.

    >>> named({"sex": "f", "site": "north"})
    'sex = f, site = north'
    """
    return ", ".join(f"{name} = {value}" for name, value in group.items())


def known(view: View, name: str) -> Estimate | None:
    """A number of a report; None where it is not told, or undefined."""
    found: Estimate | None = getattr(view, name, None)
    return None if found is None or isnan(found.value) else found


def prevalence(report: Report) -> Estimate | None:
    """Share of positives where the model will be used; that of the rows, if none was stated."""
    stated = report.prevalence
    return known(report.here, "prevalence") if stated is None else Estimate(stated)


def place(report: Report) -> str:
    """Where a number of `there` holds."""
    stated = report.prevalence
    return "in the sample" if stated is None else f"at a prevalence of {number(stated)}"


def threshold(report: Report) -> float | None:
    """The threshold of a model; None where there is none, or several."""
    rows = report.pick(part="cut", measure="threshold", group=None)
    return rows[0]["value"] if rows else None


def cut(report: Report) -> str:
    """The threshold in words; a policy may have several, and a model of labels has none."""
    found = threshold(report)
    if found is not None:
        return f"the threshold {number(found)}"
    return "the column of predicted labels" if known(report.here, "distinct_scores") is None else "the policy"
