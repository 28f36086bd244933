"""Pages of exact results of a population."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan, nan
from operator import itemgetter
from typing import Any

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._formatting import UNDEFINED, format_count, format_exact, format_number
from baserate._results import Results
from baserate.cli._curve import curve_table
from baserate.measure import DEFAULT_MEASURES, MEASURES, Measure, describe, find_measure
from baserate.text import (
    CellFormatter,
    Explanation,
    Page,
    Pivot,
    Row,
    Section,
    Table,
    TidyRow,
    align_decimals,
    list_table,
    measure_label,
)

_LIMIT = "approached, but attained by no threshold: at the end itself the measure is undefined"


def choose_measures(names: Sequence[str]) -> list[str]:
    """Measures by their own names, each once; none means the usual ones of tables and curves."""
    fit = [name for name, measure in MEASURES.items() if describe(measure).of in (Counts, Curve)]
    if "all" in names:
        return fit
    return list(dict.fromkeys(describe(find_measure(name)).name for name in names)) or [
        *DEFAULT_MEASURES[Counts],
        *DEFAULT_MEASURES[Curve],
    ]


def each_measure_once(measures: Sequence[Measure]) -> list[Measure]:
    """Measures in the order in which they were named, each once."""
    return list({describe(each).name: each for each in measures}.values())


def population_headline(data: Mapping[str, Any]) -> str:
    """Describe the population in one line."""
    family = data["family"].replace("_", "-")
    others = [
        f"{name} {_format_parameter(value)}" for name, value in data["parameters"].items() if name != "prevalence"
    ]
    shares = data.get("prevalences", [data["prevalence"]])
    parts = [
        f"{family} population",
        *others,
        f"prevalence {', '.join(format_number(100 * each, 4) for each in shares)}%",
    ]
    # Average precision is that of one prevalence.
    whole = ("auc", "average_precision") if shares == [data["prevalence"]] else ("auc",)
    defined = [name for name in whole if not isnan(data.get(name, nan))]
    if "normal" in family and "d_prime" in data:
        parts.append(f"d′ {format_number(data['d_prime'], 4)}")
    return " · ".join([*parts, *(f"{measure_label(name)} {format_number(data[name], 4)}" for name in defined)])


def measures_page(results: Results, digits: int) -> Page:
    """Return the page of best thresholds, then measures over all thresholds, then other thresholds."""
    rows, format_ = results.rows(), CellFormatter(digits)
    best = [row for row in rows if row["best"]]
    other = [row for row in rows if not row["best"] and row["threshold"] is not None]
    # Limits are numbered first, then the others in the order of their rows.
    limits = [_LIMIT for row in best if row["how"] == "limit"]
    for reason in filter(None, (*limits, *(row["why"] for row in (*best, *other)))):
        format_.reasons.mark(reason)
    value = partial(_value_cell, format_)
    thresholds = list(dict.fromkeys(map(_threshold_label, other)))
    panels = [
        list_table(
            best, {"score ≥": _threshold_label, "value": value}, label=_measure_name, meaning=_summary, corner="best"
        ),
        list_table(
            [row for row in rows if not row["best"] and row["threshold"] is None],
            {"": lambda row: format_.number(row["value"])},
            label=_measure_name,
            meaning=lambda row: row["why"] or _summary(row),
            corner="over all thresholds",
        ),
        Pivot(
            line=_threshold_label,
            column=itemgetter("measure"),
            cell=value,
            label=dict(zip(thresholds, align_decimals(thresholds), strict=True)).__getitem__,
            heading=measure_label,
        ).table(other, corner="score ≥"),
    ]
    notes = tuple(f"{note}." for note in format_.reasons.footnotes())
    return Page(population_headline(results.data), tuple(panel for panel in panels if panel.sections), notes)


def _value_cell(format_: CellFormatter, row: TidyRow) -> str:
    """Return a value with the mark of its footnote: approached but not attained, or undefined."""
    reason = _LIMIT if row["how"] == "limit" else row["why"]
    return format_.number(row["value"]) + (format_.reasons.mark(reason) if reason else "")


def _measure_name(row: TidyRow) -> str:
    return measure_label(row["measure"])


def _summary(row: TidyRow) -> Explanation:
    return Explanation(describe(find_measure(row["measure"])).summary)


def curve_page(results: Results, digits: int) -> Page:
    """Return the page of the points of a curve."""
    format_ = CellFormatter(digits)
    rows = [{**row, "threshold": _round_threshold(row["threshold"])} for row in results.rows()]
    table = curve_table(rows, results, format_, corner="score ≥")
    return Page(population_headline(results.data), (table,), format_.reasons.footnotes())


def study_page(results: Results, digits: int) -> Page:
    """One panel for each prevalence, one row for each size."""
    rows = results.rows()
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    several = any(row["undefined"] for row in rows)
    heads = [head for name in measures for head in (measure_label(name), "± sd", "exact")]
    panels = []
    for share in dict.fromkeys(row["prevalence"] for row in rows):
        lines: dict[int, list[str]] = {}
        for row in (row for row in rows if row["prevalence"] == share):
            cells = (_cell(row[name], digits) for name in ("value", "sd", "theory"))
            lines.setdefault(row["size"], []).extend(cells)
        for row in (row for row in rows if several and row["prevalence"] == share and row["measure"] == measures[0]):
            lines[row["size"]].append(format_count(row["undefined"], digits))
        sized = tuple(Row(name, tuple(lines[size])) for name, size in zip(_sizes(lines), lines, strict=True))
        corner = f"rows, {format_number(100 * share, 4)}% positive"
        panels.append(Table(corner, (*heads, *["single class"] * several), (Section("", sized),)))
    repeats = rows[0]["repeats"]
    return Page(f"{population_headline(results.data)} · {repeats} sample{'s' * (repeats > 1)} each", tuple(panels))


def draw_page(results: Results, digits: int) -> Page:
    """The rows, numbered."""
    rows = (
        Row(str(at), (str(row["truth"]), format_number(row["score"], digits)))
        for at, row in enumerate(results.rows(), 1)
    )
    return Page(population_headline(results.data), (Table("row", ("truth", "score"), (Section("", tuple(rows)),)),))


def _round_threshold(value: float) -> float:
    """Return a threshold in twelve digits, without the rounding errors of quantiles."""
    return float(f"{value:.12g}")


def _threshold_label(row: TidyRow) -> str:
    return UNDEFINED if row["threshold"] is None else format_exact(_round_threshold(row["threshold"]))


def _sizes(lines: Mapping[int, object]) -> list[str]:
    names = [format_count(size, 4) for size in lines]
    return [name.rjust(max(map(len, names))) for name in names]


def _cell(value: float | None, digits: int, sign: str = "") -> str:
    return UNDEFINED + sign if value is None else format_number(value, digits)


def _format_parameter(value: object) -> str:
    return ", ".join(format_exact(each) for each in value) if isinstance(value, tuple) else str(value)
