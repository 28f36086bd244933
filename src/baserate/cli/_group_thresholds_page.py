"""Page of `baserate decide --group-thresholds`: thresholds of groups with measures, and their differences."""

from collections.abc import Iterator, Sequence
from operator import itemgetter

from baserate._formatting import format_p
from baserate._results import Results
from baserate.cli._options import Reading
from baserate.decide import DIFFERENCE
from baserate.text import (
    Cell,
    CellFormatter,
    CellWriter,
    Explanation,
    GroupKey,
    Page,
    Pivot,
    Table,
    TidyRow,
    describe_choice,
    group_heading,
    group_key,
    list_table,
    measure_label,
    shorten_label,
)

_COUNTED = {"tp": "true positives", "fn": "false negatives", "fp": "false positives", "tn": "true negatives"}
_ADJUSTED = "Holm-adjusted p"


def group_thresholds_page(results: Results, reading: Reading, line: str, digits: int) -> Page:
    """Return the page of thresholds of groups."""
    rows, data, formatter = results.rows(), results.data, CellFormatter(digits)
    panels: list[Table | str] = []
    for model, policy in data["policies"].items():
        own = [row for row in rows if row["model"] in (None, model)]
        score = f"calibrated {shorten_label(model)}" if "map" in data else shorten_label(model)
        panels.append(f"All rows: {describe_choice(score, policy, data['costs'])}")
        panels.append(_group_table(own, reading, formatter))
        panels += _difference_tables([row for row in own if row["measure"] == DIFFERENCE], formatter)
    methods = {row["how"]: None for row in rows if row["measure"] in ("threshold", DIFFERENCE) and row["how"]}
    of_measures = (row for row in rows if row["measure"] not in ("threshold", DIFFERENCE))
    notes = formatter.footnotes(of_measures, data)
    return Page(line, tuple(panels), (*notes, *(Explanation(f"Thresholds: {how}.") for how in methods)))


def _group_table(rows: Sequence[TidyRow], reading: Reading, formatter: CellFormatter) -> Table:
    """Return the threshold, the counts and the measures of all rows and of each group."""
    shown = [{**row, "key": group_key(row)} for row in rows if row["measure"] != DIFFERENCE]
    groups: list[GroupKey] = list(dict.fromkeys(row["key"] for row in shown))

    def cell(row: TidyRow) -> Cell:
        return formatter.count(row) if row["measure"] in _COUNTED else formatter.estimate(row)

    def label(name: str) -> str:
        return _COUNTED.get(name) or ("threshold" if name == "threshold" else measure_label(name))

    pivot = Pivot(
        line=itemgetter("measure"),
        column=itemgetter("key"),
        section=lambda row: "counts" if row["measure"] in _COUNTED else "",
        cell=cell,
        label=label,
        heading=group_heading,
        title=lambda _section: "",
        apart={"counts"},
    )
    return pivot.table(shown, corner=f"by {', '.join(map(shorten_label, reading.group))}", columns=groups)


def _difference_tables(rows: Sequence[TidyRow], formatter: CellFormatter) -> Iterator[Table | str]:
    """Yield the differences of thresholds, if there are any."""
    if not rows:
        return
    columns: dict[str, CellWriter] = {
        "difference": formatter.estimate,
        "p": lambda row: format_p(row["p"]),
        _ADJUSTED: lambda row: format_p(row["p_adjusted"]),
    }
    yield "Differences between thresholds of groups:"
    yield list_table(rows, columns, label=_pair, corner="groups")


def _pair(row: TidyRow) -> str:
    first, second = (group_heading(group_key({"group": row[end]})) for end in ("group", "other"))
    return f"{first} − {second}"
