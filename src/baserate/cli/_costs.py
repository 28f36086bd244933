"""`baserate costs`: read or take tables, tell what classifiers cost where they will be used."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from baserate._formatting import count_of
from baserate.cli._ask import answer, remark
from baserate.cli._intervals import Intervals, closed
from baserate.cli._options import Reading, Verb, Writing, bundled, command, numbers, sampled, thresholds, writing
from baserate.cli._prices import CELLS as PRICED, PRICES, costs_of
from baserate.cli._priors import Prior, of_classes, prior
from baserate.cli._samples import CELLS, Sample, Typed, by_hand, check_names, of_many, of_two, typed

if TYPE_CHECKING:
    from baserate._costs import CostMatrix, Costs
    from baserate._results import Results

_EXAMPLES = (
    (
        "two tables (TP,FN,FP,TN), where 38 % are sick and finding one pays",
        "baserate costs --table M1=150,40,60,250 --table M2=250,45,5,200 --fp 1 --fn 100 --tp -1 --prevalence 0.38",
    ),
    (
        "two classifiers, each with a file of its own; what a thousand people cost",
        "baserate costs old.csv new.csv --truth sick --predicted flagged --fp 1 --fn 20 --prevalence 2% --per 1000",
    ),
    (
        "two models of the same people, each with its own threshold",
        "baserate costs people.csv --truth sick --score risk --score old --threshold 0.2,0.5 --fp 1 --fn 20",
    ),
    (
        "several classes: costs and counts are cross-tables",
        "baserate costs a.csv b.csv --cross-table rows --costs costs.csv --prevalence cat=0.2,dog=0.8",
    ),
    (
        "which points of ROC space cost as much as this one?",
        "baserate costs --iso-cost 0.1,0.6 --fp 10 --fn 1 --prevalence 0.5",
    ),
)


@dataclass(frozen=True, slots=True)
class Costing:
    """Tables that were typed, what outcomes cost, and where."""

    table: tuple[Typed, ...]
    threshold: tuple[tuple[float, ...], ...]
    cross_table: str | None
    fp: float | None
    fn: float | None
    tp: float | None
    tn: float | None
    costs: str | None
    prevalence: Prior | None
    per: float
    iso_cost: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        priced = [f"--{name}" for name in PRICED if getattr(self, name) is not None]
        if not priced and self.costs is None:
            raise click.UsageError(
                "nothing says what outcomes cost; add it, such as --fp 1 --fn 20, or of several classes --costs FILE."
            )
        if priced and self.costs is not None:
            raise click.UsageError(f"--costs is for several classes and {priced[0]} for two; leave out one of them.")
        self._check_several()
        if self.costs is None and self.cross_table is not None:
            raise click.UsageError("--cross-table needs the costs of all classes; add --costs FILE.")
        if isinstance(self.prevalence, dict) and self.costs is None:
            raise click.UsageError("two classes have one prevalence; give that of the positives, such as 0.02 or 2%.")
        if self.iso_cost and not isinstance(self.prevalence, float):
            raise click.UsageError("lines of equal cost depend on the prevalence; add it, such as --prevalence 0.02.")

    def _check_several(self) -> None:
        """Refuse what is for two classes beside costs of several."""
        given = {"--table": self.table, "--threshold": self.threshold, "--iso-cost": self.iso_cost}
        for flag, value in given.items():
            if self.costs is not None and value:
                raise click.UsageError(f"{flag} is for two classes; leave out either it or --costs.")
        if self.costs is not None and isinstance(self.prevalence, float):
            raise click.UsageError("several classes need a share each; give them as in --prevalence cat=0.2,dog=0.8.")

    @property
    def cuts(self) -> tuple[float, ...]:
        """All thresholds, in order."""
        return tuple(each for several in self.threshold for each in several)


def _point(text: str) -> tuple[float, float]:
    """Read a point of ROC space."""
    found = numbers(text)
    if len(found) != 2 or not all(0 <= each <= 1 for each in found):
        raise click.BadParameter(f"{text!r} is no point; give FPR,TPR, both from 0 to 1, such as 0.1,0.6.")
    return found[0], found[1]


def _cases(text: str) -> float:
    """Read how many cases costs are of."""
    found = numbers(text)
    if len(found) != 1 or found[0] <= 0:
        raise click.BadParameter(f"{text!r} is no number of cases; give one above 0, such as 1000.")
    return found[0]


_COSTING = (
    click.option(
        "--table",
        type=typed,
        multiple=True,
        metavar="NAME=CELLS",
        help="A classifier and its counts TP,FN,FP,TN in this order, or by name, M1=tp:150,fn:40,fp:60,tn:250; repeat "
        "it for others.",
    ),
    click.option(
        "--threshold",
        type=thresholds,
        multiple=True,
        metavar="NUMBERS",
        help="Flag scores at or above it; one for all, or with commas one for each --score. Otherwise 0.5 if scores "
        "are probabilities.",
    ),
    *PRICES,
    click.option("--costs", metavar="FILE", help="Of several classes: cross-table of decisions' costs, truth in rows."),
    click.option(
        "--cross-table",
        type=click.Choice(["rows", "columns"]),
        help="Each FILE is itself a table of counts, with truth in its rows or columns.",
    ),
    click.option(
        "--prevalence",
        type=prior,
        metavar="SHARE",
        help="Share of positives where they will be used, such as 0.02 or 2%; of several classes one for each, "
        "cat=0.2,dog=0.8. Otherwise that of the samples, if it is the same in all.",
    ),
    click.option(
        "--per", type=_cases, metavar="NUMBER", default="1", help="Tell what so many cases cost; otherwise one."
    ),
    click.option(
        "--iso-cost",
        type=_point,
        multiple=True,
        metavar="FPR,TPR",
        help="Tell the line of equal cost through this point of ROC space.",
    ),
)


def _costing(verb: Verb) -> Verb:
    return bundled(verb, Costing, "costing", _COSTING)


@command("costs", examples=_EXAMPLES)
@sampled
@_costing
@closed
@writing
def costs(reading: Reading, costing: Costing, intervals: Intervals, writing: Writing) -> None:
    """Tell what classifiers cost, in all on their own samples and per case where they will be used.

    Each FILE is one classifier and its sample; --table is one that is typed. Those that were measured at different
    prevalences compare only at a stated one: add --prevalence. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a
    folder or a pattern of such files, or - for stdin.
    """
    from baserate.cli._costed import headline, page

    _check(reading, costing)
    prices = _prices(costing)  # before reading, so that a slip is told at once
    lines = list(_iso_costs(costing, prices))
    samples = list(_samples(reading, costing, quiet=writing.quiet))
    check_names(samples)
    found = _found(samples, lines, costing, prices, intervals.sure)
    line = headline(found, reading)
    remark(line, found.data, writing, inferred=reading.positive is None and found.data["positive"] is not None)
    answer(found, lambda: page(found, line, writing.digits), writing)


def _check(reading: Reading, costing: Costing) -> None:
    """Refuse what cannot be costed so."""
    columns = ("truth", "score", "predicted", "positive", "negative", "weight", "count")
    given = [f"--{name}" for name in columns if getattr(reading, name)]
    given += [f"--{name}" for name in ("threshold", "cross-table") if getattr(costing, name.replace("-", "_"))]
    if not reading.file and given:
        raise click.UsageError(f"{given[0]} is for files; name one for each classifier, or leave it out.")
    if not (reading.file or costing.table or costing.iso_cost):
        raise click.UsageError(
            "there is no classifier to cost; name files of predictions, or type tables of TP,FN,FP,TN, such as --table "
            "M1=150,40,60,250."
        )
    if costing.cuts and not reading.score:
        raise click.UsageError("--threshold is for scores; name their column with --score, or leave it out.")
    if len(costing.cuts) > 1 and len(costing.cuts) != len(reading.score):
        raise click.UsageError(
            f"--threshold holds {len(costing.cuts)}, but columns of --score number {len(reading.score)}; give one for "
            "all, or one for each in the same order."
        )
    if costing.costs is not None and (reading.score or not (reading.predicted or costing.cross_table)):
        raise click.UsageError("of several classes give --predicted or --cross-table, one of them, and no --score.")


def _prices(costing: Costing) -> "Costs | CostMatrix":
    if costing.costs is not None:
        from baserate import read

        return read.costs(costing.costs, truth="rows")
    found = costs_of(costing)
    assert found is not None  # noqa: S101  (for the type checker)
    return found


def _samples(reading: Reading, costing: Costing, *, quiet: bool) -> Iterator[Sample]:
    yield from by_hand(costing.table)
    if reading.file and costing.costs is not None:
        yield from of_many(reading, costing.costs, costing.cross_table, quiet=quiet)
    elif reading.file:
        yield from of_two(reading, costing.cuts, quiet=quiet)


def _found(
    samples: Sequence[Sample],
    lines: Sequence[dict[str, Any]],
    costing: Costing,
    prices: "Costs | CostMatrix",
    sure: float | None,
) -> "Results":
    """Rows of classifiers, then those of lines of equal cost; and what they were made from."""
    from baserate import Results

    rows, notes = _tabulated(samples, costing, prices, sure) if samples else ([], [])
    rows += lines
    columns = dict.fromkeys(name for row in rows for name in row)
    about = {"prevalence": costing.prevalence, "per": costing.per, "level": sure, "costs": _plain(prices)}
    data = {**about, **_read(samples), "notes": [*_intake_notes(samples), *notes]}
    return Results({name: [row.get(name) for row in rows] for name in columns}, data)


def _read(samples: Sequence[Sample]) -> dict[str, Any]:
    """What was read; nothing of tables that were typed."""
    intakes = {sample.name: sample.intake for sample in samples if sample.intake is not None}
    return {
        "positive": next((intake.positive for intake in intakes.values() if not intake.classes), None),
        "samples": {
            name: {"read": intake.read, "refused": intake.dropped, "columns": dict(intake.columns)}
            for name, intake in intakes.items()
        },
        "shares": _shares(samples),
    }


def _tabulated(
    samples: Sequence[Sample], costing: Costing, prices: "Costs | CostMatrix", sure: float | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each classifier, with its table and threshold; and what to say of them."""
    from baserate.decide import cost_table

    tables = _tables(samples, prices)
    there = _there(costing, tables)
    _check_carried(tables, there)
    found = cost_table(tables, prices, prevalence=there, per=costing.per, level=sure)
    rows = []
    for sample, row in zip(samples, found.rows(), strict=True):
        cells = {name: getattr(sample.table, name) for name in CELLS} if costing.costs is None else {}
        rows.append({**row, "threshold": sample.threshold, **cells})
    return rows, list(found.data["notes"])


def _tables(samples: Sequence[Sample], prices: "Costs | CostMatrix") -> dict[str, Any]:
    """Tables by name; those of several classes over all that occur in any of them."""
    from baserate import CostMatrix

    tables: dict[str, Any] = {sample.name: sample.table for sample in samples}
    if not isinstance(prices, CostMatrix):
        return tables
    for table in tables.values():
        prices.total(table)  # which refuses classes without a cost
    occurring = [label for label in prices.labels if any(label in table.labels for table in tables.values())]
    return {name: table.over(occurring) for name, table in tables.items()}


def _there(costing: Costing, tables: Mapping[str, Any]) -> Any:  # noqa: ANN401  (what cost_table takes)
    """Where they will be used, with classes as they were read."""
    if not isinstance(costing.prevalence, dict):
        return costing.prevalence
    return of_classes(costing.prevalence, next(iter(tables.values())).labels, flag="--prevalence")


def _check_carried(tables: Mapping[str, Any], there: object) -> None:
    """Say of which classifier there is nothing to carry to another prevalence."""
    from baserate import Counts, NotBinaryError

    for name, table in tables.items() if there is not None else ():
        if isinstance(table, Counts):
            shares = {"positives": table.positives, "negatives": table.negatives}
        else:
            shares = dict(zip((f"rows of {label}" for label in table.labels), table.truth.tolist(), strict=True))
        lacking = [what for what, mass in shares.items() if not mass]
        if lacking:
            raise NotBinaryError(
                f"{name} has no {' and no '.join(lacking)} that could be given a share; give a sample of all classes, "
                "or leave out prevalence=."
            )


def _iso_costs(costing: Costing, prices: "Costs | CostMatrix") -> Iterator[dict[str, Any]]:
    """A row for each line of equal cost."""
    from baserate import Costs
    from baserate.decide import iso_cost

    for fpr, tpr in costing.iso_cost:
        assert isinstance(prices, Costs)  # noqa: S101  (for the type checker)
        assert isinstance(costing.prevalence, float)  # noqa: S101  (for the type checker)
        line = iso_cost(prices, costing.prevalence, through=(fpr, tpr))
        place = dict.fromkeys(("measure", "model", "group", "class", "threshold", "low", "high", "level", "how", "why"))
        number = {"measure": "iso_cost", "prevalence": costing.prevalence, "value": costing.per * line.cost}
        yield place | number | {"fpr": fpr, "tpr": tpr, "slope": line.slope, "intercept": line.intercept}


def _shares(samples: Sequence[Sample]) -> dict[str, dict[str, float | None]]:
    """Share of each of several classes where it was measured, None where there are no rows; of two, rows tell."""
    from baserate import Confusion

    found: dict[str, dict[str, float | None]] = {}
    for sample in samples:
        if isinstance(sample.table, Confusion):
            total, masses = sample.table.total, zip(sample.table.labels, sample.table.truth.tolist(), strict=True)
            found[sample.name] = {str(label): mass / total if total else None for label, mass in masses}
    return found


def _plain(prices: "Costs | CostMatrix") -> dict[str, Any]:
    """Costs as plain numbers."""
    from baserate import Costs

    if isinstance(prices, Costs):
        return asdict(prices)
    return {"labels": list(prices.labels), "costs": prices.cost.tolist()}


def _intake_notes(samples: Sequence[Sample]) -> Iterator[str]:
    """What a reader should know of what was read, and which rows were dropped; of models in one file, once."""
    from baserate._read_summary import describe_reasons

    read = {id(sample.intake): sample.intake for sample in samples}
    for one, intake in read.items():
        if intake is not None:
            names = ", ".join(sample.name for sample in samples if id(sample.intake) == one)
            yield from (f"{names}: {note}" for note in intake.notes)
            if intake.dropped:
                rows, reasons = count_of(intake.read, "row"), describe_reasons(intake.reasons)
                yield f"{names}: {intake.dropped} of {rows} dropped ({reasons})."
