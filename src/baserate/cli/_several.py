"""`baserate decide` for several classes: options -> the cheapest class for each row, and a page of what that costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import click

from baserate._formatting import format_count
from baserate.cli._ask import answer, headline, remark
from baserate.cli._classes import MANY, SCORED, Classes, costs, numbered, read_classes
from baserate.cli._deciding import Deciding
from baserate.cli._intervals import Intervals
from baserate.cli._options import Reading, Verb, Writing, bundled
from baserate.cli._priors import Prior, of_classes, prior
from baserate.text import (
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    describe_files,
    estimate_cell,
    interval_footnotes,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._costs import CostMatrix
    from baserate._results import Results
    from baserate._rows import MulticlassRows

Line = Mapping[str, Any]

_HINT = " See `baserate reliability`."
_INSTEAD = {
    "labels": "of two classes name the positive one with --positive",
    "costs": "of two classes give --fp and --fn",
    "shares": "of two classes give --prevalence",
}
"""Option of several classes -> what to give of two."""
_SHORT = 14
_PLACES = 9


@dataclass(frozen=True, slots=True)
class Several:
    """Several classes: their posteriors, what decisions cost, and how the classes are shared out."""

    scores: tuple[str, ...]
    labels: tuple[str, ...]
    costs: str | None
    shares: Prior | None

    def __post_init__(self) -> None:
        for name, instead in _INSTEAD.items():
            if getattr(self, name) and not self.scores:
                raise click.UsageError(
                    f"--{name} is for several classes, with a probability for each in --scores; {instead}."
                )
        if self.scores and self.costs is None:
            raise click.UsageError(
                "several classes are decided by what that costs; give --costs FILE, a cross-table with truth in rows."
            )
        if isinstance(self.shares, float):
            raise click.UsageError("of several classes give each its share, such as --shares cat=0.2,dog=0.7,fish=0.1.")


def several(verb: Verb) -> Verb:
    """Add the options for several classes; the verb gets them as `several`."""
    return bundled(verb, Several, "several", _SEVERAL)


_SEVERAL = (
    *SCORED,
    click.option(
        "--costs", metavar="FILE", help="Of several classes: cross-table of what decisions cost, truth in rows."
    ),
    click.option(
        "--shares",
        type=prior,
        metavar="SHARES",
        help="Of several classes: decide for where they have these shares, such as cat=0.2,dog=0.8.",
    ),
)


def check(reading: Reading, deciding: Deciding, intervals: Intervals) -> None:
    """Refuse options that several classes have no use for."""
    given = [
        *(name for name in ("score", "positive", "negative") if getattr(reading, name)),
        *(each.name for each in fields(deciding) if each.name != "abstain_cost" and _given(deciding, each.name)),
    ]
    if given:
        raise click.UsageError(
            f"--{given[0].replace('_', '-')} is for two classes; several are decided by --scores and --costs: leave it "
            "out."
        )
    if reading.group:
        raise click.UsageError("--group is for two classes here; keep the rows of one group, and decide those.")
    for name in ("interval", "seed"):
        if getattr(intervals, name) is not None:
            raise click.UsageError(f"--{name} is for two classes; here there is one kind of interval: leave it out.")


def _given(deciding: Deciding, name: str) -> bool:
    return getattr(deciding, name) not in (None, ())


def decided(reading: Reading, deciding: Deciding, several: Several, intervals: Intervals, writing: Writing) -> None:
    """Read, decide, and hand over what that gives."""
    from baserate import decide

    check(reading, deciding, intervals)
    matrix = costs(several.costs)
    assert matrix is not None  # noqa: S101  (for the type checker)
    wanted = Classes(several.scores, several.labels, (), several.costs, None)
    rows: MulticlassRows = read_classes(reading, wanted, quiet=writing.quiet)  # type: ignore[assignment]  # scores make rows
    found = decide.class_summary(
        rows,
        _spelled(matrix, rows),
        refer=deciding.abstain_cost,
        shares=of_classes(several.shares, rows.labels, flag="--shares") if isinstance(several.shares, dict) else None,
        level=intervals.sure,
    )
    found = _with_hint(found)
    line = headline(reading, found.data)
    remark(line, found.data, writing, inferred=False)
    answer(found, lambda: page(found, reading, several, writing.digits), writing)


def _spelled(costs: "CostMatrix", rows: "MulticlassRows") -> "CostMatrix":
    """The same costs with classes as the rows have them: a file holds text."""
    from baserate import CostMatrix
    from baserate.read import Spelled, resolved

    return CostMatrix(costs.cost, [resolved(Spelled(name), rows.labels) for name in costs.labels])


def _with_hint(found: "Results") -> "Results":
    """Say where to look where posteriors do not keep what they promise."""
    from baserate.decide import BROKEN

    notes = [f"{note}{_HINT}" if note.endswith(BROKEN) else note for note in found.data["notes"]]
    return replace(found, data={**found.data, "notes": notes})


def page(found: "Results", asked: Reading, several: Several, digits: int) -> Page:
    """Lay the numbers out."""
    reasons = Footnotes()
    rows = found.rows()
    panels = [
        _sentence(found.data, several),
        _table(rows, found.data, asked, digits),
        _rules(rows, reasons, digits),
    ]
    return Page(headline(asked, found.data), tuple(panels), reasons.footnotes() + interval_footnotes(rows, found.data))


def _sentence(data: Line, several: Several) -> str:
    """Say what is done with each row."""
    refer = data["refer"]
    left = "" if refer is None else f", or is referred for {refer:g} where that is cheaper"
    done = f"each row gets the class of least expected cost by {describe_files([str(several.costs)])}{left}."
    if "to" in data:
        each = [f"{shorten_label(name)} {100 * share:.4g}\N{NO-BREAK SPACE}%" for name, share in data["to"].items()]
        done = f"where the shares are {', '.join(each)}, {done}"
    return done[:1].upper() + done[1:]


def _table(rows: Sequence[Line], data: Line, asked: Reading, digits: int) -> Table | str:
    """Truth in rows, decisions in columns, and what is referred."""
    names = data["decisions"]
    if len(names) > MANY:
        return f"The table of {len(names)} classes is too large to show; --format csv holds it."
    cells = iter([row["value"] for row in rows if row["measure"] == "cell"])
    lines = [[next(cells) for _ in names] for _ in names]
    referred = [row["value"] for row in rows if row["measure"] == "referred"]
    for line, mass in zip(lines, referred if any(referred) else (), strict=False):
        line.append(mass)
    lines.append([sum(column) for column in zip(*lines, strict=True)])
    shown = tuple(
        Row(shorten_label(name), _masses(line, digits)) for name, line in zip([*names, "total"], lines, strict=True)
    )
    last = (*["referred"] * any(referred), "total")
    columns = (*(shorten_label(name, _SHORT) for name in names), *last)
    full = Table(f"{shorten_label(asked.truth)} ↓ decided →", columns, (Section("", shown, apart=True),), upright=True)
    return replace(full, narrow=numbered(full, kept=len(last)))


def _masses(line: Sequence[float], digits: int) -> tuple[str, ...]:
    """Masses and their sum, without the trace that products leave."""
    return tuple(format_count(round(mass, _PLACES), digits) for mass in (*line, sum(line)))


def _rules(rows: Sequence[Line], reasons: Footnotes, digits: int) -> Table:
    """What both rules cost."""
    by: dict[str, dict[str, Line]] = {}
    for row in rows:
        if row["class"] is None:
            by.setdefault(row["rule"], {})[row["measure"]] = row
    heads = {"cost_expected": "expected cost", "cost_realised": "realised cost", "referred_share": "share referred"}
    columns = [name for name in heads if name in next(iter(by.values()))]
    lines = [
        Row(rule, tuple(estimate_cell(found[name], reasons, digits=digits, several=False) for name in columns))
        for rule, found in by.items()
    ]
    return Table("rule", tuple(heads[name] for name in columns), (Section("", tuple(lines)),))
