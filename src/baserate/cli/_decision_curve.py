"""Tidy decision curves -> a page: thresholds below each other, a section for each model and group."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from baserate._formatting import format_exact, format_level, format_number
from baserate._results import Results
from baserate.cli._ask import carried_line
from baserate.cli._calibration import split_when_narrow
from baserate.cli._options import Reading
from baserate.text import (
    EVERYBODY,
    Cell,
    Footnotes,
    IntervalCell,
    Page,
    Row,
    Section,
    Table,
    align_decimals,
    estimate_cell,
    shorten_label,
)

Line = Mapping[str, Any]

MARK = "*"
_TRACE = 1e-12
"""What sums leave of 0."""
_MEANT = "true positives per case, less false ones times threshold / (1 − threshold)"
_NET_BENEFIT = f"net benefit of the model, of flagging all, of flagging none: {_MEANT}"
_DIFFERENCE = f"net benefit: how much more the first has; {_MEANT}"
_SPARED = "net reduction: so many fewer of 100 cases are flagged than by flagging all, with no more positives missed"
_PER_100 = "true positives, false positives: how many more the first has, of 100 cases"


def page(found: Results, asked: Reading, digits: int, few: Collection[float] | None) -> Page:
    """Lay out decision curves, at a few thresholds if so asked."""
    reasons = Footnotes()
    ranges = {of_group(model_of(each, found), each, asked): each["ranges"] for each in found.data["useful"]}
    curves: dict[str, dict[str, list[Line]]] = {}
    for row in _shown(found, few):
        title = of_group(model_of(row, found), row, asked)
        curves.setdefault(title, {}).setdefault(row["strategy"], []).append(row)
    sections = tuple(_curve(title, of, ranges[title], reasons, digits) for title, of in curves.items())
    heads = ("net benefit", "of all", "of none", "net reduction", "flagged")
    notes = (
        *reasons.footnotes(),
        _useful(ranges),
        *describe_scores(found.data),
        _NET_BENEFIT,
        _SPARED,
        *bounds_told(found, "net benefit and the net reduction"),
    )
    return Page(carried_line(asked, found.data), (split_when_narrow(Table("threshold", heads, sections)),), notes)


def describe_scores(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Say whether scores were adjusted; nothing where numbers are at the prevalence of the rows.

    >>> describe_scores({"scores": {"adjusted": True, "from": 0.4, "to": 0.02}})
    ('scores adjusted from 40.00 % to 2.000 % prevalence',)
    """
    scores = data["scores"]
    if not scores["adjusted"]:
        return () if scores["to"] is None else (f"scores not adjusted to {_percent(scores['to'])} prevalence",)
    ends = [scores["from"], scores["to"]]
    if any(isinstance(end, Mapping) for end in ends):
        return ("scores adjusted to the stated prevalence, from that of each model's rows",)
    return ("scores adjusted from {} to {} prevalence".format(*map(_percent, ends)),)


def _percent(share: float) -> str:
    return f"{format_number(100 * share, 4)} %"


def differences_page(found: Results, asked: Reading, digits: int, few: Collection[float] | None) -> Page:
    """Lay out differences between models, at a few thresholds if so asked."""
    reasons = Footnotes()
    pairs: dict[str, list[Line]] = {}
    for row in _shown(found, few):
        pair = f"{shorten_label(row['model'])} − {shorten_label(row['against'])}"
        pairs.setdefault(of_group(pair, row, asked), []).append(row)
    sections = tuple(_differences(title, lines, reasons, digits) for title, lines in pairs.items())
    panel = Table("threshold", ("net benefit", "true positives", "false positives"), sections)
    apart = any(_apart(row) for lines in pairs.values() for row in lines)
    signs = [f"{MARK} the interval leaves out 0, at this threshold by itself"] * apart
    notes = (*reasons.footnotes(), *signs, _DIFFERENCE, _PER_100, *bounds_told(found, "difference"))
    return Page(carried_line(asked, found.data), (split_when_narrow(panel),), notes)


def model_of(row: Line, found: Results) -> str:
    """Name of the model, also where it is the only one."""
    columns = found.data["columns"]
    return shorten_label(row["model"] or next(iter(columns.get("score") or ()), columns.get("predicted")))


def of_group(name: str, row: Line, asked: Reading) -> str:
    """Name of what a row is of, with the group where there are any."""
    if not asked.group:
        return name
    groups = [
        f"{shorten_label(attribute)} = {shorten_label(value)}" for attribute, value in (row["group"] or {}).items()
    ]
    return ", ".join([name, *(groups or [EVERYBODY])])


def _shown(found: Results, few: Collection[float] | None) -> Iterator[Line]:
    return (row for row in found.rows() if few is None or row["threshold"] in few)


def _curve(
    title: str, of: Mapping[str, Sequence[Line]], ranges: Sequence[Sequence[float]], reasons: Footnotes, digits: int
) -> Section:
    def cells(own: Line, everybody: Line, nobody: Line) -> Iterator[Cell]:
        better = any(low <= own["threshold"] <= high for low, high in ranges)
        yield marked(_spread(own, "net_benefit", reasons, digits), better=better)
        yield from (format_number(_clean(each["net_benefit"]), digits) for each in (everybody, nobody))
        yield _spared(own, reasons, digits)
        yield format_number(own["flag_rate"], digits)

    lines = zip(*(of[strategy] for strategy in ("model", "all", "none")), strict=True)
    return _section(title, of["model"], [tuple(cells(*line)) for line in lines])


def _differences(title: str, lines: Sequence[Line], reasons: Footnotes, digits: int) -> Section:
    def cells(row: Line) -> Iterator[Cell]:
        yield marked(_spread(row, "difference", reasons, digits), better=_apart(row))
        yield from (format_number(_clean(100 * row[name]), digits) for name in ("tp_rate", "fp_rate"))

    return _section(title, lines, [tuple(cells(row)) for row in lines])


def _section(title: str, lines: Sequence[Line], cells: Sequence[tuple[Cell, ...]]) -> Section:
    names = align_decimals([format_exact(line["threshold"]) for line in lines])
    return Section(title, tuple(Row(name, each) for name, each in zip(names, cells, strict=True)))


def _spread(row: Line, name: str, reasons: Footnotes, digits: int) -> Cell:
    return estimate_cell({**row, "value": _clean(row[name])}, reasons, digits=digits, several=True)


def _spared(row: Line, reasons: Footnotes, digits: int) -> Cell:
    """Interventions spared of a hundred cases."""
    names = {"value": "net_reduction", "low": "net_reduction_low", "high": "net_reduction_high"}
    if row["net_reduction"] is None:
        return reasons.undefined(row["why"])
    of_hundred = {key: None if row[name] is None else _clean(100 * row[name]) for key, name in names.items()}
    return estimate_cell({**row, **of_hundred}, reasons, digits=digits, several=True)


def _clean(value: float) -> float:
    return 0.0 if abs(value) < _TRACE else value


def marked(found: Cell, *, better: bool) -> Cell:
    """Put a sign behind a number that is better than others."""
    if not better:
        return found
    return found._replace(value=found.value + MARK) if isinstance(found, IntervalCell) else found + MARK


def _apart(row: Line) -> bool:
    """Whether the interval leaves out 0."""
    return bool(row["low"] > 0 or row["high"] < 0)


def _useful(ranges: Mapping[str, Sequence[Sequence[float]]]) -> str:
    told = "; ".join(f"{title} {_where(each)}" for title, each in ranges.items())
    sign = f"{MARK} " if any(ranges.values()) else ""
    return f"{sign}beats flagging all and flagging none: {told}"


def _where(ranges: Sequence[Sequence[float]]) -> str:
    """Say between which thresholds.

    >>> _where([[0.1, 0.3], [0.4, 0.45], [0.5, 0.5]]), _where([])
    ('from 0.1 to 0.3, from 0.4 to 0.45 and at 0.5', 'at none of the thresholds')
    """
    parts = [
        f"at {format_exact(low)}" if low == high else f"from {format_exact(low)} to {format_exact(high)}"
        for low, high in ranges
    ]
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "at none of the thresholds"


def bounds_told(found: Results, what: str) -> tuple[str, ...]:
    """What the intervals are."""
    if found.data["level"] is None:
        return ()
    how = next((row["how"] for row in found.rows() if row["how"]), None)
    if how is None:
        return ()
    return (f"{format_level(found.data['level'])} % intervals of the {what} at each place by itself: {how}.",)
