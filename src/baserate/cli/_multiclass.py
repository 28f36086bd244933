"""`baserate measure` of many classes: options -> Confusions or MulticlassRows, and a page of their numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import click

from baserate._errors import UnknownNameError
from baserate._formatting import format_count
from baserate.cli._io import check_truth
from baserate.cli._options import Reading
from baserate.cli._terminal import progress_bar
from baserate.text import (
    EVERYBODY,
    CellFormatter,
    GroupKey,
    Page,
    Pivot,
    Row,
    Section,
    Table,
    TidyRow,
    group_key,
    interval_heading,
    measure_label,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._confusion import Confusions
    from baserate._costs import CostMatrix
    from baserate._results import Results
    from baserate._rows import MulticlassRows
    from baserate._tally import Tallies

_SHORT = 14
"""Letters of a class above a column."""
MANY = 40
"""Classes from which their table is not shown whole."""
_MOST = 20
"""Errors that are shown instead."""


@dataclass(frozen=True, slots=True)
class Classes:
    """What is asked of many classes."""

    scores: tuple[str, ...]
    labels: tuple[str, ...]
    average: tuple[tuple[str, ...], ...]
    costs: str | None
    cross_table: str | None

    @property
    def is_requested(self) -> bool:
        """Whether anything of it was asked for, so that no class is the positive one."""
        return bool(self.scores or self.labels or self.average or self.costs or self.cross_table)


def of_labels(reading: Reading) -> bool:
    """Whether there may be any number of classes."""
    return bool(reading.predicted and not (reading.score or reading.positive or reading.negative))


def read_classes(
    asked: Reading, wanted: Classes, *, quiet: bool, alike: bool = False
) -> "Tallies | Confusions | MulticlassRows":
    """Read what was asked for: two classes become tallies unless they are to be treated alike."""
    from baserate import read

    if wanted.cross_table:
        return _read_cross_table(asked, wanted)
    check_truth(asked)
    if asked.positive or asked.negative:
        raise click.UsageError("of many classes none is positive; leave out --positive and --negative.")
    if asked.score or (wanted.scores and asked.predicted):
        raise click.UsageError("of many classes give --scores or --predicted, one of them, and no --score.")
    reading: dict[str, Any] = {
        "missing": "drop" if asked.missing == "drop" else "refuse",
        "watch": partial(progress_bar, quiet=quiet),
        **{name: getattr(asked, name) for name in ("truth", "group", "weight", "count") if getattr(asked, name)},
    }
    labels = [read.LabelText(each) for each in wanted.labels] or None
    if wanted.scores:
        return read.class_rows(asked.file, score=columns_of(wanted.scores), labels=labels, **reading)
    if not asked.predicted:
        raise click.UsageError("many classes need --predicted, --scores or --cross-table.")
    if wanted.is_requested or alike:
        return read.confusions(asked.file, predicted=asked.predicted, labels=labels, **reading)
    return read.decisions(asked.file, predicted=asked.predicted, **reading)


def _read_cross_table(asked: Reading, wanted: Classes) -> "Confusions":
    from baserate import Confusions, ReadSummary, read
    from baserate.read import resolve_label

    given = [asked.truth, asked.score, asked.predicted, asked.group, asked.weight, asked.count, wanted.scores]
    if any(given) or asked.positive or asked.negative:
        raise click.UsageError("a cross-table has no columns of rows; leave out --truth, --predicted and their like.")
    if len(asked.file) > 1:
        raise click.UsageError("give one cross-table at a time.")
    table = read.cross_table(asked.file[0], truth="rows" if wanted.cross_table == "rows" else "columns")
    if wanted.labels:
        table = table.over(resolve_label(read.LabelText(each), table.labels) for each in wanted.labels)
    intake = ReadSummary(int(table.total), positive=None, negative=None, classes=table.labels)
    return Confusions({(): table}, intake=intake)


def columns_of(scores: Sequence[str]) -> Any:  # noqa: ANN401  (what read.class_rows takes)
    """Columns, or the column of each class: cat=p1,dog=p2. One name alone is the beginning of several."""
    from baserate import read

    if all("=" in each for each in scores):
        pairs = [each.rpartition("=") for each in scores]
        mapped = {read.LabelText(name): column for name, _, column in pairs}
        if len(mapped) < len(pairs):
            raise click.UsageError("a class is named twice in --scores; give each class one column.")
        return mapped
    if len(scores) == 1:
        return [scores[0] if scores[0].endswith("*") else f"{scores[0]}*"]
    return list(scores)


def averages(given: Sequence[Sequence[str]], labels: Sequence[object]) -> list[str | Mapping[Any, float]] | None:
    """Read averages: names, or a weight for each class as in cat=1,dog=2. None if there are none, empty if `none`."""
    found: list[str | Mapping[Any, float]] = []
    for each in given:
        weights = [_weight(part, labels) for part in each if "=" in part]
        if weights and len(dict(weights)) < len(each):
            raise click.UsageError(
                "weights are given once for each class, and apart from other averages: --average twice."
            )
        found += [dict(weights)] if weights else [part for part in each if part != "none"]
    return found if given else None


def _weight(text: str, labels: Sequence[object]) -> tuple[object, float]:
    from baserate.read import LabelText, resolve_label

    name, _, weight = text.rpartition("=")
    meant = resolve_label(LabelText(name.strip()), labels)
    if meant not in labels:
        raise UnknownNameError(f"there is no class {name!r} to weigh; the classes are: {', '.join(map(str, labels))}.")
    try:
        return meant, float(weight)
    except ValueError as error:
        raise click.BadParameter(f"{weight!r} is not a weight.", param_hint="--average") from error


def parse_class_measures(names: Sequence[str]) -> list[str] | Literal["usual", "all"]:
    """Measures of two classes or of many, by any of their names; none means the usual ones."""
    from baserate.measure import multiclass

    if "all" in names:
        return "all"
    for name in names:
        multiclass.find_measures(name)
    return list(dict.fromkeys(names)) or "usual"


def require_costs(names: Sequence[str], path: str | None) -> None:
    """Refuse the expected cost of several classes without what decisions cost."""
    from baserate.measure import describe, multiclass

    asked = [describe(each).name for name in names if name != "all" for each in multiclass.find_measures(name)]
    if "expected_cost" in asked and path is None:
        raise click.UsageError("expected_cost needs what decisions cost; give it: --costs costs.csv, truth in rows.")


def costs(path: str | None) -> "CostMatrix | None":
    """Read what each decision costs for each true class, truth in rows."""
    if path is None:
        return None
    from baserate import read

    return read.cost_matrix(path, truth="rows")


def page(results: "Results", reading: Reading, headline: str, digits: int) -> Page:
    """Return the page of some results."""
    layout = _ClassPage(results, reading, digits)
    panels = tuple(layout.panels())
    return Page(headline, panels, layout.format.footnotes(results.rows(), results.data))


class _ClassPage:
    """Rows by group, and the formatter that collects the footnotes of their cells."""

    def __init__(self, results: "Results", reading: Reading, digits: int) -> None:
        self.reading, self.data, self.format = reading, results.data, CellFormatter(digits)
        self.groups: dict[GroupKey, list[TidyRow]] = {}
        for row in results.rows():
            self.groups.setdefault(group_key(row), []).append(row)

    def panels(self) -> Iterator[Table]:
        """Yield the confusion matrix, then classes, then measures of all classes, with a column for each group."""
        everybody = self.groups[None]
        cells = [row for row in everybody if row["measure"] == "cell"]
        yield self._frequent_errors(cells) if len(self.data["classes"]) > MANY else self._confusion_matrix(cells)
        yield from self._by_class(everybody)
        yield from self._all_classes()

    def _confusion_matrix(self, cells: Sequence[TidyRow]) -> Table:
        """Return counts and shares of each row, truth in rows."""
        classes = self.data["classes"]
        masses = [row["value"] for row in cells]
        lines = [masses[at : at + len(classes)] for at in range(0, len(masses), len(classes))]
        counts = [self._count_line(name, [*line, sum(line)]) for name, line in zip(classes, lines, strict=True)]
        totals = [sum(column) for column in zip(*lines, strict=True)]
        shares = [self._share_line(name, line) for name, line in zip(classes, lines, strict=True)]
        sections = (
            Section("", (*counts, self._count_line("total", [*totals, sum(totals)])), apart=True),
            Section("% of each row", tuple(shares), apart=True),
        )
        names = tuple(shorten_label(name, _SHORT) for name in classes)
        full = Table(self._corner(), (*names, "total"), sections, upright=True)
        return replace(full, narrow=number_columns(full))

    def _frequent_errors(self, cells: Sequence[TidyRow]) -> Table:
        """Return the most frequent errors, where a table of all classes would be too large to read."""
        total: dict[str, float] = {}
        for row in cells:
            total[str(row["class"])] = total.get(str(row["class"]), 0.0) + row["value"]
        errors = [row for row in cells if row["class"] != row["against"]]
        most = sorted(errors, key=lambda row: -row["value"])[:_MOST]
        lines = [
            Row(
                f"{shorten_label(row['class'])} → {shorten_label(row['against'])}",
                (self.format.count(row), _percent(row["value"] / total[str(row["class"])])),
            )
            for row in most
        ]
        title = f"{self._corner()} the most frequent errors"
        return Table(title, ("count", "% of the truth"), (Section("", tuple(lines)),), upright=True)

    def _corner(self) -> str:
        """Return the names of the label and of the decision."""
        truth = shorten_label(self.reading.truth or "truth")
        scores = "highest score" if self.data["columns"].get("score") else "decided"
        return f"{truth} ↓ {shorten_label(self.reading.predicted or scores)} →"

    def _count_line(self, name: object, masses: Sequence[float]) -> Row:
        """Return counts of one class."""
        return Row(shorten_label(name), tuple(format_count(mass, self.format.digits) for mass in masses))

    def _share_line(self, name: object, masses: Sequence[float]) -> Row:
        """Return the decisions on one class in percent."""
        total = sum(masses)
        if not total:
            undefined = (self.format.mark_undefined("no row is of this class") for _ in (*masses, total))
            return Row(shorten_label(name), tuple(undefined))
        return Row(shorten_label(name), tuple(_percent(mass / total) for mass in (*masses, total)))

    def _by_class(self, rows: Sequence[TidyRow]) -> Iterator[Table]:
        """Yield classes and averages in lines, measures in columns."""
        places = {str(name): at for at, name in enumerate(self.data["classes"])}
        measures = [row for row in rows if row["measure"] not in {"cell", "pairwise_auc"}]
        columns = list(dict.fromkeys(row["measure"] for row in measures if row["class"] is not None))
        averages = [row for row in measures if row["average"]]
        classes = [row for row in measures if not row["average"] and str(row["class"]) in places]
        pivot = Pivot(
            line=lambda row: (row["average"], None if row["average"] else str(row["class"])),
            column=itemgetter("measure"),
            section=lambda row: "averages" if row["average"] else "",
            cell=self.format.average,
            label=lambda line: line[0] or shorten_label(line[1]),
            heading=measure_label,
        )
        if columns:
            classes.sort(key=lambda row: places[str(row["class"])])
            yield pivot.table([*classes, *averages], corner="each class against the rest", columns=columns)

    def _all_classes(self) -> Iterator[Table]:
        """Yield measures of all classes; with groups, a column for each, and averages too."""
        several = len(self.groups) > 1
        rows = [
            {**row, "subject": group}
            for group, rows in self.groups.items()
            for row in rows
            if row["class"] is None and (several or row["average"] is None)
        ]
        lines = {_whole_line(row) for row in rows if row["subject"] is None}
        if not lines:
            return
        title = "all classes together"
        if several:
            title = f"all classes by {', '.join(map(shorten_label, self.reading.group))}"
        pivot = Pivot(
            line=_whole_line,
            column=itemgetter("subject"),
            section=lambda _row: "" if several else title,
            cell=partial(self.format.average, several=several),
            label=lambda line: " ".join(filter(None, [line[1], measure_label(line[0])])),
            heading=self._group_heading if several else lambda _group: interval_heading(self.data),
            meaning=lambda line: self._meaning(line[0]),
        )
        shown = [row for row in rows if _whole_line(row) in lines]
        yield pivot.table(shown, corner=title if several else "", columns=list(self.groups))

    def _group_heading(self, group: GroupKey) -> str:
        """Return the values of a group."""
        return EVERYBODY if group is None else ", ".join(shorten_label(value) for _, value in group)

    def _meaning(self, name: str) -> str:
        """Return the summary of a measure of several classes."""
        from baserate.measure import describe, multiclass

        return describe(multiclass.find_measure(name)).summary


def _whole_line(row: TidyRow) -> tuple[str, str | None]:
    """Return the measure and the average that a line of all classes is of."""
    return (row["measure"], row["average"])


def number_columns(panel: Table, *, kept: int = 1) -> Table:
    """The same table with numbers for names of columns, all but the last ones, and nothing where there is nothing."""
    many = len(panel.columns) - kept
    wide = len(str(many))
    sections = []
    for section in panel.sections:
        sparse = _whole_percent if section.title else _sparse
        rows = [
            Row(
                f"{at:>{wide}} {row.name}" if at <= many else row.name,
                tuple(map(sparse, map(str, row.cells))),
            )
            for at, row in enumerate(section.rows, start=1)
        ]
        sections.append(replace(section, rows=tuple(rows)))
    numbers = tuple(map(str, range(1, many + 1)))
    return replace(panel, columns=(*numbers, *panel.columns[many:]), sections=tuple(sections))


def _sparse(cell: str) -> str:
    return "·" if cell == "0" else cell


def _whole_percent(cell: str) -> str:
    if "." not in cell:
        return _sparse(cell)
    return f"{float(cell):.0f}" if float(cell) >= 0.5 else "<1"


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.1f}"


"""Options for a score of each class."""
