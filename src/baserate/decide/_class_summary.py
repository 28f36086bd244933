"""ClassRows and costs -> tidy numbers: the cheapest decisions, and what they cost beside the likeliest class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from baserate._arrays import Floats
from baserate._costs import CostMatrix
from baserate._errors import OptionError
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate.calibrate.multiclass import checked_shares
from baserate.decide._least_cost import Decisions, Shares, least_cost
from baserate.measure.multiclass import header
from baserate.shift import reprior, reweigh

COLUMNS = (
    *("rule", "measure", "model", "group", "class", "against", "threshold"),
    *("value", "low", "high", "level", "how", "why"),
)
BEST = "least cost"
MOVED = "posteriors and masses were moved from the shares of these rows to others, which are taken as known."

Row = dict[str, Any]


def class_summary(
    rows: MulticlassRows,
    costs: CostMatrix,
    *,
    refer: float | None = None,
    shares: Shares | None = None,
    level: float | None = 0.95,
) -> Results:
    """Decide each row by least expected cost, and tell what that gives beside deciding for the likeliest class.

    First come the cells of the decisions of least cost (`class` is true, `against` decided), and of each class what is
    referred; then for both rules the cost of a row by the posteriors, `cost_expected`, what it was, `cost_realised`,
    with an interval unless `level` is None, and the `referred_share`. With `shares` of the classes, posteriors are
    first moved there from the shares of these rows, and all numbers are as they would be there. Nothing is chosen on
    these rows, so nothing flatters.

    >>> from baserate import scored
    >>> rows = scored(["a", "b", "a"], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]], labels=["a", "b"])
    >>> found = class_summary(rows, CostMatrix([[0, 5], [1, 0]], ["a", "b"]))
    >>> [(row["rule"], row["value"]) for row in found.rows() if row["measure"] == "cost_realised"]
    [('least cost', 0.3333333333333333), ('highest probability', 1.6666666666666667)]
    """
    if not isinstance(rows, MulticlassRows):
        raise OptionError(f"rows are {type(rows).__name__}; give ClassRows, with a posterior for each class.")
    to = None if shares is None else checked_shares("shares", shares, rows.labels)
    there = rows if to is None else _moved(rows, to)
    decisions = least_cost(there, costs, refer=refer)
    found = decisions.results(there, shares=to, level=level)
    told = [*_cells(decisions, there, to), *_numbers(found, refer)]
    data = header(rows, rows.decided(), [])
    data["notes"] = [*rows.intake.notes, *[MOVED] * (to is not None), *found.data["notes"]]
    data |= {"refer": refer, "decisions": list(decisions.labels)}
    if to is not None:
        data["to"] = dict(zip(map(str, rows.labels), to.tolist(), strict=True))
    if level is not None:
        data["interval"] = {"level": level, "method": None, "seed": 0, "clusters": None}
    return Results({name: [row.get(name) for row in told] for name in COLUMNS}, data)


def _moved(rows: MulticlassRows, to: Floats) -> MulticlassRows:
    """The same rows with posteriors as they would be where the classes have these shares."""
    here = reweigh(rows.decided(), to=to)  # refused where a class has no rows that could stand for it
    score = reprior(rows.score, from_=rows.support / rows.total, to=to, labels=here.labels)
    return replace(rows, score=score)


def _cells(decisions: Decisions, rows: MulticlassRows, shares: Floats | None) -> Iterator[Row]:
    table = decisions.confusion(rows, shares=shares).mass.tolist()
    for label, line in zip(decisions.labels, table, strict=True):
        for other, mass in zip(decisions.labels, line, strict=True):
            yield {"rule": BEST, "measure": "cell", "class": label, "against": other, "value": mass}
    if decisions.refer is not None:
        for label, mass in zip(decisions.labels, decisions.left(rows, shares=shares).tolist(), strict=True):
            yield {"rule": BEST, "measure": "referred", "class": label, "value": mass}


def _numbers(found: Results, refer: float | None) -> Iterator[Row]:
    for row in found.rows():
        bounds = {name: row[name] for name in ("low", "high", "level", "how", "why")}
        yield {"rule": row["rule"], "measure": "cost_expected", "value": row["expected"]}
        yield {"rule": row["rule"], "measure": "cost_realised", "value": row["realised"], **bounds}
        if refer is not None:
            yield {"rule": row["rule"], "measure": "referred_share", "value": row["referred"]}
