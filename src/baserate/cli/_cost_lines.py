"""Tidy cost curves and Brier curves -> a page: a section for each model and group."""

from collections.abc import Iterator, Mapping
from typing import Any

from baserate._formatting import format_exact, format_number
from baserate._results import Results
from baserate.cli._ask import carried_line
from baserate.cli._calibration import split_when_narrow
from baserate.cli._decision_curve import bounds_told, model_of, of_group
from baserate.cli._options import Reading
from baserate.text import Cell, Footnotes, Page, Row, Section, Table, align_decimals, estimate_cell

Line = Mapping[str, Any]

_CORNERS = {"cost": "probability cost", "brier": "cost proportion"}
_HEADS = {
    "cost": {"cost": "least cost", "trivial": "of all or none", "threshold": "threshold", "laxest": "laxest"},
    "brier": {"loss": "loss", "least": "least", "regret": "regret"},
}
_MARKED = {"threshold": "threshold", "cost": "least cost", "trivial": "of all or none", "expected_cost": "per case"}
_CUTS = {"threshold", "laxest"}
_BOUNDED = {"cost", "loss"}
_MEANT = {
    "cost": (
        "probability cost: how much of what errors can cost is due to positives",
        "least cost: that of the best threshold, as a share of the greatest",
        "of all or none: the cost of flagging all or of flagging none, whichever is less",
        "threshold, laxest: the strictest and the laxest that cost so little",
    ),
    "brier": (
        "loss: twice the cost per case, flagged from the proportion c on, if a false alarm costs c and a miss 1 − c",
        "the area under the loss is the Brier score",
        "least: that of the best threshold; regret: what is lost beside it",
    ),
}


def page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay out the curves, below where costs lie on them if that was asked."""
    kind, reasons = found.data["kind"], Footnotes()
    curves: dict[str, list[Line]] = {}
    for row in found.rows():
        curves.setdefault(of_group(model_of(row, found), row, asked), []).append(row)
    heads, x = _HEADS[kind], _CORNERS[kind].replace(" ", "_")
    sections = []
    for title, lines in curves.items():
        names = align_decimals([_place(line[x], digits) for line in lines])
        cells = (tuple(_cell(line, name, reasons, digits) for name in heads) for line in lines)
        sections.append(Section(title, tuple(Row(*each) for each in zip(names, cells, strict=True))))
    panels = [*_marked(found, asked, reasons, digits)]
    panels += [split_when_narrow(Table(_CORNERS[kind], tuple(heads.values()), tuple(sections)))]
    return Page(carried_line(asked, found.data), tuple(panels), (*reasons.footnotes(), *_meant(found)))


def _marked(found: Results, asked: Reading, reasons: Footnotes, digits: int) -> Iterator[Table]:
    """Where costs lie, and what is best there."""
    if "marked" not in found.data:
        return
    place = found.data["marked"]
    rows = [
        Row(
            of_group(model_of(line, found), line, asked),
            tuple(_cell(line, name, reasons, digits) for name in _MARKED),
        )
        for line in place["least"]
    ]
    at = f"at a probability cost of {format_number(place['probability_cost'], digits)}"
    yield split_when_narrow(Table(at, tuple(_MARKED.values()), (Section("", tuple(rows)),)))


def _meant(found: Results) -> Iterator[str]:
    if "marked" in found.data:
        place = found.data["marked"]
        told = ", ".join(f"{name} {format_exact(place[name])}" for name in ("fp", "fn", "tp", "tn"))
        yield f"per case: mean cost at costs of {told} and a prevalence of {format_exact(place['prevalence'])}"
    yield from _MEANT[found.data["kind"]]
    yield from bounds_told(found, "cost" if found.data["kind"] == "cost" else "loss")


def _place(x: float | None, digits: int) -> str:
    return "" if x is None else format_exact(float(f"{x:.{digits}g}"))


def _cell(line: Line, name: str, reasons: Footnotes, digits: int) -> Cell:
    if line[name] is None:
        return reasons.undefined(line["why"])
    if name in _BOUNDED and line.get("level") is not None:
        return estimate_cell({**line, "value": line[name]}, reasons, digits=digits, several=True)
    return format_exact(line[name]) if name in _CUTS else format_number(line[name], digits)
