"""`baserate measure` of many classes: options -> Confusions or ClassRows, and a page of their numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import click

from baserate._errors import UnknownNameError
from baserate._formatting import format_count
from baserate.cli._ask import check_truth
from baserate.cli._options import Reading, Verb, bundled, names, or_none
from baserate.cli._progress import shown
from baserate.text import (
    EVERYBODY,
    Cell,
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    describe_omitted_classes,
    estimate_cell,
    interval_footnotes,
    interval_heading,
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
    def asked(self) -> bool:
        """Whether anything of it was asked for, so that no class is the positive one."""
        return bool(self.scores or self.labels or self.average or self.costs or self.cross_table)


def classes(verb: Verb) -> Verb:
    """Add the options for many classes; the verb gets them as `classes`."""
    return bundled(verb, Classes, "classes", _CLASSES)


def of_labels(reading: Reading) -> bool:
    """Whether there may be any number of classes."""
    return bool(reading.predicted and not (reading.score or reading.positive or reading.negative))


def read_classes(
    asked: Reading, wanted: Classes, *, quiet: bool, alike: bool = False
) -> "Tallies | Confusions | MulticlassRows":
    """Read what was asked for: two classes become tallies unless they are to be treated alike."""
    from baserate import read

    if wanted.cross_table:
        return _crossed(asked, wanted)
    check_truth(asked)
    if asked.positive or asked.negative:
        raise click.UsageError("of many classes none is positive; leave out --positive and --negative.")
    if asked.score or (wanted.scores and asked.predicted):
        raise click.UsageError("of many classes give --scores or --predicted, one of them, and no --score.")
    reading: dict[str, Any] = {
        "missing": "drop" if asked.missing == "drop" else "refuse",
        "watch": partial(shown, quiet=quiet),
        **{name: getattr(asked, name) for name in ("truth", "group", "weight", "count") if getattr(asked, name)},
    }
    labels = [read.Spelled(each) for each in wanted.labels] or None
    if wanted.scores:
        return read.class_rows(asked.file, score=columns_of(wanted.scores), labels=labels, **reading)
    if not asked.predicted:
        raise click.UsageError("many classes need --predicted, --scores or --cross-table.")
    if wanted.asked or alike:
        return read.confusions(asked.file, predicted=asked.predicted, labels=labels, **reading)
    return read.decisions(asked.file, predicted=asked.predicted, **reading)


def _crossed(asked: Reading, wanted: Classes) -> "Confusions":
    from baserate import Confusions, ReadSummary, read
    from baserate.read import resolved

    given = [asked.truth, asked.score, asked.predicted, asked.group, asked.weight, asked.count, wanted.scores]
    if any(given) or asked.positive or asked.negative:
        raise click.UsageError("a cross-table has no columns of rows; leave out --truth, --predicted and their like.")
    if len(asked.file) > 1:
        raise click.UsageError("give one cross-table at a time.")
    table = read.cross_table(asked.file[0], truth="rows" if wanted.cross_table == "rows" else "columns")
    if wanted.labels:
        table = table.over(resolved(read.Spelled(each), table.labels) for each in wanted.labels)
    intake = ReadSummary(int(table.total), positive=None, negative=None, classes=table.labels)
    return Confusions({(): table}, intake=intake)


def columns_of(scores: Sequence[str]) -> Any:  # noqa: ANN401  (what read.class_rows takes)
    """Columns, or the column of each class: cat=p1,dog=p2. One name alone is the beginning of several."""
    from baserate import read

    if all("=" in each for each in scores):
        pairs = [each.rpartition("=") for each in scores]
        mapped = {read.Spelled(name): column for name, _, column in pairs}
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
    from baserate.read import Spelled, resolved

    name, _, weight = text.rpartition("=")
    meant = resolved(Spelled(name.strip()), labels)
    if meant not in labels:
        raise UnknownNameError(f"there is no class {name!r} to weigh; the classes are: {', '.join(map(str, labels))}.")
    try:
        return meant, float(weight)
    except ValueError as error:
        raise click.BadParameter(f"{weight!r} is not a weight.", param_hint="--average") from error


def known(names: Sequence[str]) -> list[str] | Literal["usual", "all"]:
    """Measures of two classes or of many, by any of their names; none means the usual ones."""
    from baserate.measure import multiclass

    if "all" in names:
        return "all"
    for name in names:
        multiclass.meant(name)
    return list(dict.fromkeys(names)) or "usual"


def require_costs(names: Sequence[str], path: str | None) -> None:
    """Refuse the expected cost of several classes without what decisions cost."""
    from baserate.measure import about, multiclass

    asked = [about(each).name for name in names if name != "all" for each in multiclass.meant(name)]
    if "expected_cost" in asked and path is None:
        raise click.UsageError("expected_cost needs what decisions cost; give it: --costs costs.csv, truth in rows.")


def costs(path: str | None) -> "CostMatrix | None":
    """Read what each decision costs for each true class, truth in rows."""
    if path is None:
        return None
    from baserate import read

    return read.costs(path, truth="rows")


def page(found: "Results", asked: Reading, headline: str, digits: int) -> Page:
    """Lay the numbers out."""
    sheet = _Sheet(found, asked, digits)
    panels = tuple(sheet.panels())
    return Page(headline, panels, sheet.reasons.footnotes() + interval_footnotes(found.rows(), found.data))


class _Sheet:
    """Rows by group, and the reasons why some numbers are undefined, in the order of their mention."""

    def __init__(self, found: "Results", asked: Reading, digits: int) -> None:
        self.asked, self.data, self.digits = asked, found.data, digits
        self.reasons = Footnotes()
        self.groups: dict[tuple[object, ...] | None, list[Mapping[str, Any]]] = {}
        for row in found.rows():
            group = None if row["group"] is None else tuple(row["group"].values())
            self.groups.setdefault(group, []).append(row)

    def panels(self) -> Iterator[Table]:
        """Return the table, then classes, then all together; groups stand beside each other in what is of all."""
        everybody = self.groups[None]
        many = len(self.data["classes"]) > MANY
        yield self._confused(everybody) if many else self._table(everybody)
        yield from self._by_class(everybody)
        yield from self._together()

    def _table(self, rows: Sequence[Mapping[str, Any]]) -> Table:
        """Counts and shares of each row, truth in rows."""
        classes = self.data["classes"]
        cells = [row["value"] for row in rows if row["measure"] == "cell"]
        lines = [cells[at : at + len(classes)] for at in range(0, len(cells), len(classes))]
        counts = [self._line(name, [*line, sum(line)]) for name, line in zip(classes, lines, strict=True)]
        decided = [sum(column) for column in zip(*lines, strict=True)]
        shares = [self._shares(name, line) for name, line in zip(classes, lines, strict=True)]
        sections = (
            Section("", (*counts, self._line("total", [*decided, sum(decided)])), apart=True),
            Section("% of each row", tuple(shares), apart=True),
        )
        names = tuple(shorten_label(name, _SHORT) for name in classes)
        full = Table(self._corner(), (*names, "total"), sections, upright=True)
        return replace(full, narrow=numbered(full))

    def _confused(self, rows: Sequence[Mapping[str, Any]]) -> Table:
        """The most frequent errors, where a table of all classes would be too large to read."""
        cells = [row for row in rows if row["measure"] == "cell"]
        total: dict[str, float] = {}
        for row in cells:
            total[str(row["class"])] = total.get(str(row["class"]), 0.0) + row["value"]
        wrong = [row for row in cells if row["class"] != row["against"]]
        most = sorted(wrong, key=lambda row: -row["value"])[:_MOST]
        lines = [
            Row(
                f"{shorten_label(row['class'])} → {shorten_label(row['against'])}",
                (format_count(row["value"], self.digits), _percent(row["value"] / total[str(row["class"])])),
            )
            for row in most
        ]
        title = f"{self._corner()} the most frequent errors"
        return Table(title, ("count", "% of the truth"), (Section("", tuple(lines)),), upright=True)

    def _corner(self) -> str:
        truth = shorten_label(self.asked.truth or "truth")
        decided = shorten_label(
            self.asked.predicted or ("highest score" if self.data["columns"].get("score") else "decided")
        )
        return f"{truth} ↓ {decided} →"

    def _line(self, name: object, masses: Sequence[float]) -> Row:
        return Row(shorten_label(name), tuple(format_count(mass, self.digits) for mass in masses))

    def _shares(self, name: object, masses: Sequence[float]) -> Row:
        total = sum(masses)
        if not total:
            return Row(
                shorten_label(name), tuple(self.reasons.undefined("no row is of this class") for _ in (*masses, total))
            )
        return Row(shorten_label(name), tuple(_percent(mass / total) for mass in (*masses, total)))

    def _by_class(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
        """Measures beside each other, classes and averages below each other."""
        classes = self.data["classes"]
        of_each = [row for row in rows if row["measure"] not in {"cell", "pairwise_auc"}]
        columns = list(dict.fromkeys(row["measure"] for row in of_each if row["class"] is not None))
        if not columns:
            return
        found = {(row["measure"], str(row["class"]), row["average"]): row for row in of_each}
        each = [(shorten_label(name), (str(name), None)) for name in classes]
        average = [(name, ("None", name)) for name in dict.fromkeys(row["average"] for row in of_each) if name]
        sections = [
            Section(
                title, tuple(Row(name, tuple(self._cell(found.get((m, *key))) for m in columns)) for name, key in lines)
            )
            for title, lines in (("", each), ("averages", average))
            if lines
        ]
        heads = tuple(name.replace("_", " ") for name in columns)
        yield Table("each class against the rest", heads, tuple(sections))

    def _together(self) -> Iterator[Table]:
        """Measures of all classes; with groups, a column for each, averages too."""
        several = len(self.groups) > 1
        names = {
            key: row
            for row in self.groups[None]
            for key in [(row["measure"], row["average"])]
            if row["class"] is None and (several or row["average"] is None)
        }
        if not names:
            return
        by = {
            group: {(row["measure"], row["average"]): row for row in rows if row["class"] is None}
            for group, rows in self.groups.items()
        }
        lines = [
            Row(
                " ".join(filter(None, [average, name.replace("_", " ")])),
                tuple(self._cell(rows.get((name, average)), several=several) for rows in by.values()),
                "" if several else self._meaning(name),
            )
            for name, average in names
        ]
        heads = (
            tuple(EVERYBODY if group is None else ", ".join(map(shorten_label, group)) for group in by)
            if several
            else (interval_heading(self.data),)
        )
        title = (
            f"all classes by {', '.join(map(shorten_label, self.asked.group))}" if several else "all classes together"
        )
        yield Table("" if not several else title, heads, (Section("" if several else title, tuple(lines)),))

    def _meaning(self, name: str) -> str:
        from baserate.measure import about, multiclass

        return about(multiclass.named(name)).summary

    def _cell(self, row: Mapping[str, Any] | None, *, several: bool = True) -> Cell:
        shown = estimate_cell(row, self.reasons, digits=self.digits, several=several)
        if row is None or row["value"] is None:
            return shown
        # An average that leaves classes out says so.
        marks = "".join(map(self.reasons.mark, describe_omitted_classes(row)))
        return shown + marks if isinstance(shown, str) else shown._replace(value=shown.value + marks)


def numbered(panel: Table, *, kept: int = 1) -> Table:
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


SCORED = (
    click.option(
        "--scores",
        type=names,
        callback=or_none,
        metavar="COLUMNS",
        help="Columns of scores, one for each class: p_cat,p_dog, or p_ for all that begin so, or cat=c1,dog=c2.",
    ),
    click.option(
        "--labels",
        type=names,
        callback=or_none,
        metavar="LABELS",
        help="All classes, in order; otherwise those that occur.",
    ),
)
"""Options for a score of each class."""
_CLASSES = (
    *SCORED,
    click.option(
        "--average",
        type=names,
        metavar="NAMES",
        multiple=True,
        help="Averages over classes: none, macro, weighted, micro, or weights such as cat=1,dog=2.",
    ),
    click.option("--costs", metavar="FILE", help="Cross-table of what decisions cost, truth in rows."),
    click.option(
        "--cross-table",
        type=click.Choice(["rows", "columns"]),
        help="FILE is itself a table of counts, with truth in its rows or columns.",
    ),
)
