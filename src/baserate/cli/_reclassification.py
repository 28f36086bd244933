"""`baserate reclassify`: net reclassification improvement, integrated discrimination improvement, and their tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import click

from baserate._formatting import format_count, format_level, format_p
from baserate.cli._compare import read_models
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import headline, report_results
from baserate.cli._options import Column, Level, Reading
from baserate.cli._values import join_distinct, read_thresholds
from baserate.text import (
    CellFormatter,
    CellWriter,
    Explanation,
    Page,
    Row,
    Section,
    Table,
    TidyRow,
    describe_group,
    list_table,
    measure_label,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._results import Results

_EXAMPLES = """
# the second score is the old model; three categories of risk
baserate reclassify people.csv --truth sick --score risk --score old --thresholds 0.1,0.3
# without categories: continuous NRI and IDI
baserate reclassify people.csv --truth sick --score risk --score old
"""
_MEANINGS = {
    "nri": "Positives that move up less those that move down, plus the reverse of negatives.",
    "continuous_nri": "The same, counting any change of the probability.",
    "idi": "Mean change of the probability of positives, less that of negatives.",
}
_FEW = 12
"""Categories up to which tables are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclassificationOptions:
    """Options of a reclassification: thresholds, and how it is tested."""

    thresholds: Annotated[
        tuple[float, ...],
        option(type=read_thresholds, metavar="NUMBERS", multiple=True, callback=join_distinct, default="no categories"),
        "Ascending probabilities between categories, with commas.",
    ] = ()
    method: Annotated[
        Literal["asymptotic"] | None,
        option(default="by data"),
        "Normal intervals and tests with the published variance, as in Hmisc.",
    ] = None
    level: Level = 0.95
    id_: Annotated[Column, "Column with row IDs, to join several files."] = None
    cluster: Annotated[Column, "Column with clusters of dependent rows."] = None


@command("reclassify", examples=_EXAMPLES)
def reclassify(reading: Reading, reclassification_options: ReclassificationOptions, output: Output) -> None:
    """Compare two models by NRI, IDI and reclassification.

    The first score is the new model, the second the old one. The net reclassification improvement is no proper measure:
    it can favor a model that is miscalibrated or contains noise. Decide with `baserate compare` instead.
    """
    from baserate import infer

    options = reclassification_options
    if reading.predicted:
        raise click.UsageError("labels have neither NRI nor IDI; leave out --predicted, or use `baserate compare`.")
    rows = read_models(reading, options.id_, options.cluster, quiet=output.quiet)
    results = infer.net_reclassification(
        rows, thresholds=sorted(options.thresholds), level=options.level, method=options.method
    )
    report_results(results, reclassification_page, reading, output)


def reclassification_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page of a reclassification: a table for each class, then the numbers."""
    rows, form = results.rows(), CellFormatter(digits)
    cells = [row for row in rows if row["measure"] == "cell" and row["group"] is None]
    numbers = [row for row in rows if row["measure"] != "cell"]
    pairs = list(dict.fromkeys((row["model"], row["other"]) for row in rows))
    several = len(pairs) > 1 or any(row["group"] for row in rows)

    def section(row: TidyRow) -> str:
        return _name_pair(row) + (f", {describe_group(row['group'])}" if row["group"] else "") if several else ""

    columns: dict[str, CellWriter] = {
        "estimate": form.estimate,
        "p": lambda row: "" if row["p"] is None else format_p(row["p"], min(digits, 3), is_bound=row["p_is_bound"]),
    }
    corner = "" if several else _name_pair(rows[0])
    table = list_table(numbers, columns, label=_label, section=section, meaning=_meaning, corner=corner)
    panels = (*_category_tables(cells, results.data["category_thresholds"], digits), table)
    return Page(headline(reading, results.data), panels, (*form.reasons.footnotes(), *_describe_methods(numbers)))


def _describe_methods(numbers: Sequence[TidyRow]) -> Iterator[Explanation]:
    """Yield the methods of intervals and tests, with the numbers that they are of."""
    by_method: dict[str, dict[str, None]] = {}
    for row in numbers:
        if row["how"] and row["level"] is not None:
            by_method.setdefault(row["how"], {})[measure_label(row["measure"])] = None
    for how, names in by_method.items():
        brief = f"Intervals: {format_level(numbers[0]['level'])}% confidence." if numbers[0]["level"] else ""
        yield Explanation(f"{', '.join(names)}: {how}.", brief=brief)


def _category_tables(cells: Sequence[TidyRow], thresholds: Sequence[float], digits: int) -> Iterator[Table]:
    """Yield a table for each pair and class: categories of the old model in lines, of the new one in columns."""
    if len(thresholds) >= _FEW:
        return
    by_table: dict[tuple[str, str], list[TidyRow]] = {}
    for row in cells:
        by_table.setdefault((_name_pair(row), row["class"]), []).append(row)
    for (_, label), own in by_table.items():
        names = list(dict.fromkeys(row["from"] for row in own))
        masses = [row["value"] for row in own]
        lines = [masses[at : at + len(names)] for at in range(0, len(masses), len(names))]
        rows = [
            Row(name, tuple(format_count(mass, digits) for mass in (*line, sum(line))))
            for name, line in zip(names, lines, strict=True)
        ]
        title = f"{label}s: {shorten_label(own[0]['other'])} ↓ {shorten_label(own[0]['model'])} →"
        yield Table(title, (*names, "total"), (Section("", tuple(rows), apart=True),), upright=True)


def _name_pair(row: TidyRow) -> str:
    return f"{shorten_label(row['model'])} − {shorten_label(row['other'])}"


def _label(row: TidyRow) -> str:
    name, _, label = row["measure"].rpartition("_")
    return f"  {label}" if label in ("positives", "negatives") and name else measure_label(row["measure"])


def _meaning(row: TidyRow) -> Explanation:
    return Explanation(_MEANINGS.get(row["measure"], ""))
