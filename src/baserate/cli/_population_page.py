"""Pages of exact results of a population."""

from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import Any

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._formatting import UNDEFINED, footnote_mark, format_count, format_exact, format_number
from baserate._results import Results
from baserate.cli._curve import causes_of_undefined
from baserate.measure import DEFAULT_MEASURES, MEASURES, Measure, describe, find_measure
from baserate.text import Page, Row, Section, Table, align_decimals

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
        f"prevalence {', '.join(format_number(100 * each, 4) for each in shares)} %",
    ]
    # Average precision is that of one prevalence.
    whole = ("auc", "average_precision") if shares == [data["prevalence"]] else ("auc",)
    known = [name for name in whole if not isnan(data.get(name, nan))]
    if "normal" in family and "d_prime" in data:
        parts.append(f"d′ {format_number(data['d_prime'], 4)}")
    return " · ".join([*parts, *(f"{name.replace('_', ' ')} {format_number(data[name], 4)}" for name in known)])


def measures_page(results: Results, digits: int) -> Page:
    """Return best thresholds, then measures over all thresholds, then other thresholds."""
    rows = results.rows()
    panels = [_best(rows, digits), _whole(rows, digits), _others(rows, digits)]
    notes = [f"{sign} {why}." for why, sign in _signs(rows).items()]
    return Page(population_headline(results.data), tuple(panel for panel in panels if panel), tuple(notes))


def curve_page(results: Results, digits: int) -> Page:
    """The points of a curve."""
    axes = [name for name in results.columns if name not in {"model", "group", "threshold"}]
    causes = causes_of_undefined(results)
    signs = {name: footnote_mark(at) for at, name in enumerate(causes, start=1)}
    table = {
        _threshold(row["threshold"]): [_cell(row[name], digits, signs.get(name, "")) for name in axes]
        for row in results.rows()
    }
    notes = tuple(f"{signs[name]} {why}" for name, why in causes.items())
    return Page(population_headline(results.data), (_table(axes, table),), notes)


def study_page(results: Results, digits: int) -> Page:
    """One panel for each prevalence, one row for each size."""
    rows = results.rows()
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    several = any(row["undefined"] for row in rows)
    heads = [head for name in measures for head in (name.replace("_", " "), "± sd", "exact")]
    panels = []
    for share in dict.fromkeys(row["prevalence"] for row in rows):
        lines: dict[int, list[str]] = {}
        for row in (row for row in rows if row["prevalence"] == share):
            cells = (_cell(row[name], digits) for name in ("value", "sd", "theory"))
            lines.setdefault(row["size"], []).extend(cells)
        for row in (row for row in rows if several and row["prevalence"] == share and row["measure"] == measures[0]):
            lines[row["size"]].append(format_count(row["undefined"], digits))
        sized = tuple(Row(name, tuple(lines[size])) for name, size in zip(_sizes(lines), lines, strict=True))
        corner = f"rows, {format_number(100 * share, 4)} % positive"
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


def _best(rows: Sequence[Mapping[str, Any]], digits: int) -> Table | None:
    best = [row for row in rows if row["best"]]
    signs = _signs(rows)
    lines = []
    for row in best:
        sign = signs.get(_LIMIT if row["how"] == "limit" else row["why"], "")
        place = UNDEFINED if row["threshold"] is None else _threshold(row["threshold"])
        value = UNDEFINED if row["value"] is None else format_number(row["value"], digits)
        meaning = describe(MEASURES[row["measure"]]).summary
        lines.append(Row(row["measure"].replace("_", " "), (place, value + sign), meaning))
    return Table("best", ("score ≥", "value"), (Section("", tuple(lines)),)) if best else None


def _whole(rows: Sequence[Mapping[str, Any]], digits: int) -> Table | None:
    whole = [row for row in rows if row["threshold"] is None and not row["best"]]
    lines = [
        Row(
            row["measure"].replace("_", " "),
            (_cell(row["value"], digits),),
            row["why"] or describe(MEASURES[row["measure"]]).summary,
        )
        for row in whole
    ]
    return Table("over all thresholds", ("",), (Section("", tuple(lines)),)) if whole else None


def _others(rows: Sequence[Mapping[str, Any]], digits: int) -> Table | None:
    inner = [row for row in rows if row["threshold"] is not None and not row["best"]]
    signs = _signs(rows)
    table: dict[str, list[str]] = {}
    for row in inner:
        cell = _cell(row["value"], digits, signs.get(row["why"], ""))
        table.setdefault(_threshold(row["threshold"]), []).append(cell)
    return _table(list(dict.fromkeys(row["measure"] for row in inner)), table) if inner else None


def _table(measures: Sequence[str], table: Mapping[str, Sequence[str]]) -> Table:
    lines = (Row(name, tuple(cells)) for name, cells in zip(align_decimals(list(table)), table.values(), strict=True))
    return Table("score ≥", tuple(name.replace("_", " ") for name in measures), (Section("", tuple(lines)),))


def _signs(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the sign of each footnote: limits first, then causes of undefined values."""
    limits = [_LIMIT for row in rows if row["how"] == "limit"]
    whys = [row["why"] for row in rows if row["why"] and (row["best"] or row["threshold"] is not None)]
    return {why: footnote_mark(at) for at, why in enumerate(dict.fromkeys([*limits, *whys]), start=1)}


def _threshold(value: float) -> str:
    """Format a threshold; twelve digits drop rounding errors of quantiles."""
    return format_exact(float(f"{value:.12g}"))


def _sizes(lines: Mapping[int, object]) -> list[str]:
    names = [format_count(size, 4) for size in lines]
    return [name.rjust(max(map(len, names))) for name in names]


def _cell(value: float | None, digits: int, sign: str = "") -> str:
    return UNDEFINED + sign if value is None else format_number(value, digits)


def _format_parameter(value: object) -> str:
    return ", ".join(format_exact(each) for each in value) if isinstance(value, tuple) else str(value)
