"""`baserate groups`: measures of groups, differences and disparities."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._domains import DRAWS
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import print_notes, print_results, read_tallies
from baserate.cli._options import GroupReading, Level, MeasureSettings, Reading, Seed, bind_settings, check_group
from baserate.cli._values import complete_two_class, names, read_threshold, whole_number

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
        "a saved policy by group",
        "baserate groups new.csv --policy policy.json",
    ),
    (
        "other measures, also of ranks and probabilities, for a program",
        "baserate groups people.csv --truth sick --score risk --group site --measures fnr,auc,observed_expected --json",
    ),
    (
        "a reference group, and only groups with 100 rows or more",
        "baserate groups people.csv --truth sick --score risk --group race --reference Caucasian --min-group-size 100",
    ),
    ("predicted labels", "baserate groups people.csv --truth sick --predicted says --group race"),
)


def _read_single_threshold(text: str) -> float:
    return read_threshold(text, "give one, which decides for every group.")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """What decides, and what is looked at."""

    threshold: Annotated[
        float | None,
        option(
            type=_read_single_threshold,
            metavar="NUMBER",
            default="0.5 for probabilities",
            help="Threshold: scores at or above it are flagged.",
        ),
    ] = None
    policy: Annotated[
        str | None,
        option(type=click.Path(), metavar="FILE", help="Policy that decides; it also names the columns and groups."),
    ] = None
    measures: Annotated[
        tuple[tuple[str, ...], ...],
        option(
            type=names,
            metavar="NAMES",
            shell_complete=complete_two_class,
            multiple=True,
            default="flag rate, sensitivity, FPR, precision and accuracy",
            help="Measures by any of their names, with commas.",
        ),
    ] = ()
    level: Level = 0.95
    draws: Annotated[
        int, option(type=whole_number(DRAWS), help="Number of permutations for the null distribution.")
    ] = 10_000
    seed: Seed = 0
    reference: Annotated[
        str | None,
        option(
            metavar="GROUP",
            default="the largest",
            help="Reference group: its label, or COLUMN=LABEL,… where there are several columns.",
        ),
    ] = None
    min_group_size: Annotated[
        int,
        option(
            type=click.IntRange(1),
            metavar="ROWS",
            help="Least number of rows that a tested measure rests on, for example negatives for the FPR.",
        ),
    ] = 30

    def __post_init__(self) -> None:
        if self.policy is not None and self.threshold is not None:
            raise click.UsageError("--policy and --threshold both decide; leave out one of them.")

    @property
    def decision_policy(self) -> "Policy | None":
        """The policy, if one decides."""
        if self.policy is None:
            return None
        from baserate.cli._io import load_policy

        return load_policy(self.policy)

    def bind_measures(self, settings: MeasureSettings) -> "list[Measure] | None":
        """Measures with the numbers that they depend on; None for the usual ones."""
        return bind_settings(settings.to_settings(), [name for each in self.measures for name in each]) or None


@command("groups", examples=_EXAMPLES)
def groups(reading: GroupReading, group_options: GroupOptions, settings: MeasureSettings, output: Output) -> None:
    """Compare groups: measures, differences and disparities.

    Every number has its interval, and base rates beside it; numbers that rest on few rows are marked. Each group is
    tested against the reference group, with Holm-adjusted p-values; groups below the minimum size are listed but not
    tested. The greatest disparity stands beside its null distribution under permutation of the groups. It says how
    groups differ, not whether that is right.
    """
    from baserate.cli._group_page import page

    policy, measures = (
        group_options.decision_policy,
        group_options.bind_measures(settings),
    )  # before reading, so that errors come at once
    full_reading = complete_reading(reading, policy)
    columns = reading.group or full_reading.group
    results = _compare_groups(read_tallies(full_reading, quiet=output.quiet), columns, policy, group_options, measures)
    print_notes(full_reading, results.data, output)
    print_results(results, lambda: page(results, full_reading, policy, output.digits), output)


def complete_reading(reading: Reading, policy: "Policy | None") -> Reading:
    """Complete the options of reading with the columns of a policy; require groups."""
    from baserate.cli._io import fill_from_policy

    if policy is not None and reading.predicted:
        raise click.UsageError("--predicted holds labels, which are decided already; leave out it or --policy.")
    full_reading = reading if policy is None else fill_from_policy(reading, policy)
    check_group(reading.group or full_reading.group)
    return full_reading


def _compare_groups(
    read: "Tallies",
    columns: tuple[str, ...],
    policy: "Policy | None",
    group_options: GroupOptions,
    measures: "list[Measure] | None",
) -> "Results":
    """Each attribute alone, and then all of them together."""
    from baserate import Results, equalize
    from baserate.infer import IntervalOptions

    options: dict[str, Any] = {
        "decided": group_options.threshold if policy is None else policy,
        "measures": measures,
        "interval": IntervalOptions(level=group_options.level, seed=group_options.seed),
        "draws": group_options.draws,
        "min_size": group_options.min_group_size,
    }
    sets = [(name,) for name in columns] + ([columns] if len(columns) > 1 else [])
    named = _reference(group_options.reference, columns)
    parts = {
        ", ".join(by): equalize.compare_groups(
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
    labels = dict(each.partition("=")[::2] for each in given.split(","))
    unknown = [name for name in labels if name not in columns]
    if unknown:
        raise click.BadParameter(
            f"{given!r} names no column of --group; expected COLUMN=LABEL, with columns {', '.join(columns)}.",
            param_hint="'--reference'",
        )
    return labels
