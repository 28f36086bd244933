"""`baserate groups`: read, decide, and see groups side by side."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import DRAWS
from baserate.cli._ask import answer, explain, tallies
from baserate.cli._options import (
    LEVEL,
    Reading,
    Verb,
    Writing,
    bundled,
    check_group,
    command,
    complete_two_class,
    grouped,
    names,
    one_threshold,
    whole,
    writing,
)
from baserate.cli._settings import Stated, bind_settings, stated

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate._tally import Tallies
    from baserate.measure import Measure

_EXAMPLES = (
    (
        "by race and by sex, then by both at once",
        "baserate groups people.csv --truth sick --score risk --group race,sex",
    ),
    (
        "what a policy that was saved does to groups",
        "baserate groups new.csv --policy policy.json",
    ),
    (
        "other measures, also of ranks and probabilities, for a program",
        "baserate groups people.csv --truth sick --score risk --group site --measures fnr,auc,observed_expected --json",
    ),
    (
        "each group against one that you choose, and only groups with 100 rows or more",
        "baserate groups people.csv --truth sick --score risk --group race --reference Caucasian --min-group-size 100",
    ),
    ("labels that somebody predicted", "baserate groups people.csv --truth sick --predicted says --group race"),
)


@dataclass(frozen=True, slots=True)
class Looking:
    """What decides, and what is looked at."""

    threshold: float | None
    policy: str | None
    measures: tuple[tuple[str, ...], ...]
    level: float
    draws: int
    seed: int
    reference: str | None
    min_group_size: int

    def __post_init__(self) -> None:
        if self.policy is not None and self.threshold is not None:
            raise click.UsageError("--policy and --threshold both decide; leave out one of them.")

    @property
    def loaded(self) -> "Policy | None":
        """The policy, if one decides."""
        if self.policy is None:
            return None
        from baserate.cli._policies import loaded

        return loaded(self.policy)

    def chosen(self, stated: Stated) -> "list[Measure] | None":
        """Measures with the numbers that they depend on; None for the usual ones."""
        return bind_settings(stated.settings, [name for each in self.measures for name in each]) or None


def _cutoff(text: str) -> float:
    return one_threshold(text, "give one, which decides for every group.")


def looking(verb: Verb) -> Verb:
    """Add the options that say what to look at; the verb gets them as `looking`."""
    return bundled(verb, Looking, "looking", (*_LOOKING, *_DEALING))


def glancing(verb: Verb) -> Verb:
    """Add those of groups alone, which are not dealt anew; the verb gets them as `looking`."""
    return bundled(verb, Looking, "looking", _LOOKING, draws=0, seed=0, reference=None, min_group_size=1)


_LOOKING = (
    click.option(
        "--threshold",
        type=_cutoff,
        metavar="NUMBER",
        help="Flag scores at or above it; otherwise 0.5 if scores are probabilities.",
    ),
    click.option(
        "--policy",
        type=click.Path(),
        metavar="FILE",
        help="What decides instead: names of columns, and of groups, are taken from it, too.",
    ),
    click.option(
        "--measures",
        type=names,
        metavar="NAMES",
        shell_complete=complete_two_class,
        multiple=True,
        help="Measures by any of their names, separated by commas; otherwise flag rate, sensitivity, FPR, precision "
        "and accuracy.",
    ),
    LEVEL,
)
_DEALING = (
    click.option(
        "--draws",
        type=whole(DRAWS),
        default=10_000,
        show_default=True,
        help="How often groups are dealt anew, to see what chance alone would do.",
    ),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same gives the same."),
    click.option(
        "--reference",
        metavar="GROUP",
        help="Group that the others are compared with: its label, or COLUMN=LABEL,… where there are several columns. "
        "[default: the largest]",
    ),
    click.option(
        "--min-group-size",
        type=click.IntRange(1),
        default=30,
        show_default=True,
        metavar="ROWS",
        help="Rows on which a measure of a group must rest for the group to be tested, for example negatives for the "
        "FPR.",
    ),
)


@command("groups", examples=_EXAMPLES)
@grouped
@looking
@stated
@writing
def groups(reading: Reading, looking: Looking, stated: Stated, writing: Writing) -> None:
    """Compare groups: measures of each, differences from a reference group, and how far they lie apart in all.

    Every number has its interval, and base rates beside it; numbers that rest on few rows are marked. Each group is
    tested against the reference group, with Holm-adjusted p-values; groups below the minimum size are listed but not
    tested. The greatest gap between groups stands beside what chance alone would give if they were alike. It says how
    groups differ, not whether that is right. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a
    pattern of such files, or - for stdin.
    """
    from baserate.cli._side_by_side import page

    policy, measures = looking.loaded, looking.chosen(stated)  # before reading, so that a slip is told at once
    asked = completed(reading, policy)
    columns = reading.group or asked.group
    found = _found(tallies(asked, quiet=writing.quiet), columns, policy, looking, measures)
    explain(asked, found.data, writing)
    answer(found, lambda: page(found, asked, policy, writing.digits), writing)


def completed(reading: Reading, policy: "Policy | None") -> Reading:
    """What is read, with the names that a policy knows; groups there must be."""
    from baserate.cli._policies import filled

    if policy is not None and reading.predicted:
        raise click.UsageError("--predicted holds labels, which are decided already; leave out it or --policy.")
    asked = reading if policy is None else filled(reading, policy)
    check_group(reading.group or asked.group)
    return asked


def _found(
    read: "Tallies",
    columns: tuple[str, ...],
    policy: "Policy | None",
    looking: Looking,
    measures: "list[Measure] | None",
) -> "Results":
    """Each attribute alone, and then all of them together."""
    from baserate import Results, equalize
    from baserate.infer import Interval

    options: dict[str, Any] = {
        "decided": looking.threshold if policy is None else policy,
        "measures": measures,
        "interval": Interval(level=looking.level, seed=looking.seed),
        "draws": looking.draws,
        "min_size": looking.min_group_size,
    }
    sets = [(name,) for name in columns] + ([columns] if len(columns) > 1 else [])
    named = _reference(looking.reference, columns)
    parts = {
        ", ".join(by): equalize.groups(
            read, by=by, reference={name: named[name] for name in by} if {*by} <= {*named} else None, **options
        )
        for by in sets
    }
    *_, last = parts.values()
    together = {name: [each for part in parts.values() for each in part.columns[name]] for name in last.columns}
    by = [name for name, part in parts.items() for _ in range(len(part))]
    notes = dict.fromkeys(note for part in parts.values() for note in part.data["notes"])
    data = {**last.data, "by": list(parts), "notes": list(notes), "reference": named or None}
    return Results({"by": by, **together}, data)


def _reference(given: str | None, columns: tuple[str, ...]) -> dict[str, str]:
    """Column -> label of the reference group; a bare label is of the only column."""
    if given is None:
        return {}
    if len(columns) == 1:
        return {columns[0]: given.removeprefix(f"{columns[0]}=")}
    found = dict(each.partition("=")[::2] for each in given.split(","))
    strange = [name for name in found if name not in columns]
    if strange:
        raise click.BadParameter(
            f"{given!r} names no column of --group; expected COLUMN=LABEL, with columns {', '.join(columns)}.",
            param_hint="'--reference'",
        )
    return found
