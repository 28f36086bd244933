"""`baserate groups` and `baserate equalize`: disparities of groups, and thresholds under a parity constraint."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, Literal

import click
from click.shell_completion import CompletionItem

from baserate._domains import FOLDS, MIN_GROUP, REPEATS, SAMPLES
from baserate.cli._declarations import (
    Output,
    command,
    flag_of,
    given_flags,
    given_values,
    missing_option,
    omit,
    option,
    refuse_given,
)
from baserate.cli._io import (
    PolicyFile,
    adjust_prevalence,
    check_stdout,
    describe_adjustment,
    headline,
    name_as_typed,
    print_messages,
    print_notes,
    print_results,
    read_tallies,
    save_policy,
)
from baserate.cli._multicalibration import MulticalibrationOptions, multicalibration_page
from baserate.cli._options import (
    Columns,
    GroupPrevalences,
    IndependentIntervals,
    Intervals,
    Level,
    MeasureSettings,
    MinGroup,
    OutcomeCosts,
    PolicyOption,
    Reading,
    Reference,
    Seed,
    bind_settings,
    check_group,
    read_reference,
    two_class_measures,
)
from baserate.cli._terminal import progress_counter
from baserate.cli._values import (
    complete_two_class,
    read_by_name,
    read_share,
    single_threshold,
    whole_number,
)

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate._tally import Group, Tallies
    from baserate.fairness import Goal
    from baserate.measure import Measure

    PolicyChooser = Callable[[Tallies, Goal], Policy]

_GROUPS_EXAMPLES = """
# by race and by sex, then by both at once
baserate groups people.csv --truth sick --score risk --group race,sex
# a saved policy by group
baserate groups new.csv --policy policy.json
# at a prevalence of 2%
baserate groups people.csv --truth sick --score risk --group sex --prevalence 2%
# other measures, also of ranks and probabilities, for a program
baserate groups people.csv --truth sick --score risk --group site --measures fnr,auc,observed_expected --json
# a reference group, and only groups with 100 rows or more
baserate groups people.csv --truth sick --score risk --group race --reference Caucasian --min-group 100
# each group against everybody, with ratios such as disparate impact
baserate groups people.csv --truth sick --score risk --group race --relative-to overall --ratios
# within age classes, and pooled over them
baserate groups people.csv --truth sick --score risk --group sex --control age
# whether intersections differ by more than both attributes explain
baserate groups people.csv --truth sick --score risk --group race,sex --intersections
# predicted labels
baserate groups people.csv --truth sick --predicted says --group race
# calibration in all values of both columns and their intersections
baserate groups people.csv --truth sick --score risk --group race,sex --multicalibration
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions(PolicyOption):
    """Options of a comparison of groups: decisions, prevalence, measures, tests."""

    threshold: Annotated[
        float | None,
        option(
            type=single_threshold("give one, which decides for every group."),
            metavar="NUMBER",
            default="0.5 for probabilities",
        ),
        "Threshold: scores at or above it are flagged.",
    ] = None
    prevalence: GroupPrevalences = None
    measures: Annotated[tuple[str, ...], two_class_measures("flag rate, sensitivity, FPR, precision and accuracy")] = ()
    level: Level = 0.95
    n_permutations: Annotated[
        int, option(type=whole_number(SAMPLES)), "Number of permutations, or simulations, for the null distribution."
    ] = 10_000
    seed: Seed = 0
    relative_to: Annotated[
        Literal["reference", "rest", "overall"],
        "What each group is compared with: a reference group, all other rows, or all rows.",
    ] = "reference"
    reference: Reference = None
    ratios: Annotated[bool, "Ratios in addition to differences."] = False
    control: Annotated[
        Columns, "Columns that define strata, with commas or repeated; groups are compared within these and pooled."
    ] = ()
    intersections: Annotated[bool, "Excess of each combination of groups over what its columns explain."] = False
    min_group: MinGroup = None

    def __post_init__(self) -> None:
        self.refuse_both(self.threshold)
        if self.relative_to != "reference" and self.reference is not None:
            raise click.UsageError(f"--relative-to {self.relative_to} needs no --reference; leave one of both out.")
        if self.relative_to == "overall" and self.control:
            raise click.UsageError("--control compares independent groups; use --relative-to rest, or reference.")

    def check_columns(self, groups: tuple[str, ...]) -> None:
        """Refuse strata by a column of groups, and intersections of a single column."""
        both = [name for name in self.control if name in groups]
        if both:
            raise click.UsageError(f"{both[0]} is a column of both --group and --control; name different columns.")
        if self.intersections and len(groups) == 1:
            raise click.UsageError("--intersections needs several columns; give --group COLUMN,COLUMN.")

    def bind_measures(self, settings: MeasureSettings) -> "list[Measure] | None":
        """Measures with the numbers that they depend on; None for the usual ones."""
        return bind_settings(settings.to_settings(), self.measures) or None


@command("groups", examples=_GROUPS_EXAMPLES)
def groups(
    reading: Reading,
    group_options: GroupOptions,
    overlapping: MulticalibrationOptions,
    settings: MeasureSettings,
    output: Output,
) -> None:
    """Compare groups: measures, differences and disparities.

    Every number has its interval, and base rates beside it; numbers that rest on few rows are marked. Each group is
    tested against the reference group, with Holm-adjusted p-values; groups below the minimum size are listed but not
    tested. The greatest disparity stands beside its null distribution under permutation of the groups. It says how
    groups differ, not whether that is right.
    """
    from baserate import fairness
    from baserate.cli._fairness_page import groups_page
    from baserate.infer import IntervalOptions

    if overlapping.multicalibration:
        _test_calibration(reading, group_options, overlapping, output)
        return
    # Before reading, so that errors come at once.
    policy, measures = group_options.decision_policy, group_options.bind_measures(settings)
    full_reading = complete_reading(reading, policy)
    columns = reading.group or full_reading.group
    group_options.check_columns(columns)
    more = [name for name in group_options.control if name not in full_reading.group]
    full_reading = replace(full_reading, group=(*full_reading.group, *more))
    sample, prevalence = read_tallies(full_reading, quiet=output.quiet), group_options.prevalence
    results = fairness.compare_attributes(
        adjust_prevalence(sample, match_groups(prevalence, sample)),
        columns,
        relative_to=group_options.relative_to,
        reference=read_reference(group_options.reference, columns),
        ratios=group_options.ratios,
        control=group_options.control,
        intersections=group_options.intersections,
        policy=group_options.threshold if policy is None else policy,
        measures=measures,
        interval=IntervalOptions(level=group_options.level, seed=group_options.seed),
        n_permutations=group_options.n_permutations,
        min_group=group_options.min_group or MIN_GROUP,
    )
    results = name_as_typed(describe_adjustment(results, sample, prevalence), group_options.measures)
    print_notes(full_reading, results.data, output)
    print_results(results, lambda: groups_page(results, full_reading, policy, output.digits), output)


def _test_calibration(
    reading: Reading, group_options: GroupOptions, overlapping: MulticalibrationOptions, output: Output
) -> None:
    """Test calibration in overlapping groups, and print the results."""
    overlapping.check(group_options)
    check_group(reading.group)
    if reading.predicted:
        raise click.UsageError("labels are not probabilities; give --score in place of --predicted.")
    results = overlapping.run(
        read_tallies(reading, quiet=output.quiet),
        level=group_options.level,
        seed=group_options.seed,
        min_group=group_options.min_group or MIN_GROUP,
        n_simulations=group_options.n_permutations,
    )
    print_notes(reading, results.data, output)
    print_results(
        results, lambda: multicalibration_page(results, headline(reading, results.data), output.digits), output
    )


def complete_reading(reading: Reading, policy: "Policy | None") -> Reading:
    """Complete the options of reading with the columns of a policy; require groups."""
    from baserate.cli._io import fill_from_policy

    if policy is not None and reading.predicted:
        raise click.UsageError("--predicted holds decisions already; leave out --predicted or --policy.")
    full_reading = reading if policy is None else fill_from_policy(reading, policy)
    check_group(reading.group or full_reading.group)
    return full_reading


_CHOOSERS = ("deterministic", "blind", "crossing", "favor", "reversal")
"""Options for other policies than the optimal one, of which one may be given."""


_OWNERS = {
    "favor": ("favorable", "around"),
    "held_out": ("folds", "repeats"),
    "withhold": ("threshold",),
}
"""Option -> options that belong to it."""
_OF_DECISIONS = ("parity", "prevalence", *_CHOOSERS, "objective", "frontier", "held_out")
"""Options of parities of decisions, which withheld scores do not have."""


def match_group(text: str, tallies: "Tallies") -> "Group":
    """Return the group with this spelling; of several attributes, their labels with a stroke between them."""
    from baserate._policy import spellings

    # Labels such as 1 and True have several spellings, and a shell gives one of them.
    groups_by_text = {"/".join(labels): group for group in tallies.groups for labels in product(*map(spellings, group))}
    return groups_by_text.get(text.strip(), tuple(text.strip().split("/")))


def match_groups(
    prevalence: float | Mapping[str, float] | None, tallies: "Tallies"
) -> "float | dict[Group, float] | None":
    """Return one prevalence, or one for each group."""
    if not isinstance(prevalence, Mapping):
        return prevalence
    return {match_group(name, tallies): value for name, value in prevalence.items()}


def _read_tolerance(text: str) -> float:
    if text.strip() in {"inf", "∞"}:
        return math.inf
    return read_share(
        text, f"{text!r} is not a tolerance; give a difference between rates, such as 0.02 or 2%, or inf.", ends=True
    )


def _complete_parity(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from baserate.fairness import PARITIES

    parities = (each for each in PARITIES.values() if each.enforceable and each.name.startswith(incomplete))
    return [CompletionItem(each.name, help=each.description) for each in parities]


def _read_tolerances(text: str) -> float | dict[str, float]:
    return read_by_name(text, _read_tolerance)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityOptions(OutcomeCosts):
    """Options of a parity constraint: rates, tolerance, costs, prevalence, and the kind of policy."""

    parity: Annotated[
        tuple[str, ...],
        option(multiple=True, metavar="NAME", shell_complete=_complete_parity),
        "Parity constraint, such as equalized-odds; `baserate list parities` lists them; may be repeated.",
    ] = ()
    within: Annotated[
        float | dict[str, float],
        option(
            type=_read_tolerances,
            metavar="NUMBER",
            help="Greatest difference between the rates of two groups, inf for no bound; or one for each rate, such as "
            "sensitivity=0.02,fpr=0.05.",
        ),
    ] = 0
    prevalence: GroupPrevalences = None
    deterministic: Annotated[bool, "One threshold for each group, without randomization."] = False
    blind: Annotated[bool, "One threshold for all, so that the policy needs no group."] = False
    crossing: Annotated[bool, "The point where the ROC curves of two groups cross."] = False
    favor: Annotated[
        tuple[str, ...],
        option(multiple=True, metavar="GROUP"),
        "Reject option: group that is favored in a band of uncertain scores; may be repeated.",
    ] = ()
    favorable: Annotated[Literal["pass", "flag"] | None, "Favorable action, with --favor."] = None
    around: Annotated[
        float | None,
        option(type=single_threshold("a band lies around one."), metavar="NUMBER", default="the best"),
        "Middle of the band, with --favor.",
    ] = None
    objective: Annotated[
        str | None,
        option(metavar="MEASURE", shell_complete=complete_two_class, default="cost"),
        "Measure to maximize in place of the least cost, such as f1, balanced_accuracy or mcc; with --favor, any "
        "measure of decisions.",
    ] = None
    withhold: Annotated[
        Literal["fnr", "fpr", "weighted"] | None,
        "Calibrated equalized odds, in place of --parity: mean of the scores that becomes equal by withholding scores "
        "at random.",
    ] = None
    threshold: Annotated[
        float | None,
        option(type=single_threshold("give one."), metavar="NUMBER", default="that of the costs"),
        "Threshold of the decisions, with --withhold.",
    ] = None
    reversal: Annotated[bool, "Flags below a threshold, where that is better."] = False
    otherwise: Annotated[
        Literal["refuse", "pass", "flag", "refer"],
        "Action for unknown groups, and for groups that lack a class.",
    ] = "refuse"
    frontier: Annotated[bool, "Table of the cost at every tolerance."] = False
    held_out: Annotated[bool, "Table of the disparities by cross-validation."] = False
    folds: Annotated[
        int | None, option(type=whole_number(FOLDS), metavar="NUMBER", default="5"), "Number of folds of --held-out."
    ] = None
    repeats: Annotated[
        int | None, option(type=whole_number(REPEATS), metavar="NUMBER", default="1"), "Repetitions of --held-out."
    ] = None

    def __post_init__(self) -> None:
        ways = given_flags(self, _CHOOSERS)
        if len(ways) > 1:
            raise click.UsageError(f"{ways[0]} and {ways[1]} are two ways to choose; give one of them.")
        for owner, names in _OWNERS.items():
            if not getattr(self, owner):
                flag = flag_of(owner)
                refuse_given(self, names, f"{{}} is for {flag}; give {flag}, too, or leave out {{}}.")
        if self.withhold is not None:
            names = (*_OF_DECISIONS, *(["within"] if self.within else []))
            refuse_given(self, names, "{} is for parities of decisions; leave out {} or --withhold.")
        elif not self.parity:
            raise missing_option("--parity")
        if self.favor and self.favorable is None:
            raise click.UsageError("--favor needs the favorable action: --favorable pass, or --favorable flag.")

    @property
    def goal(self) -> "Goal":
        """The parity, its tolerance, costs and objective, without prevalences, which depend on the data."""
        from baserate import Costs
        from baserate.fairness import Goal

        names = [name for each in self.parity for name in each.split(",")]
        # The reject option takes any measure, so that it has its own argument.
        objective = None if self.favor or self.objective == "cost" else self.objective
        return Goal(names, within=self.within, costs=self.outcome_costs or Costs(), objective=objective)

    def note_costs(self, policy: "Policy") -> "Policy":
        """Add a note to the policy if costs matter and none were stated."""
        from baserate.fairness import NO_COSTS_NOTE

        if self.outcome_costs is not None or (self.objective not in (None, "cost") and not self.favor):
            return policy
        return replace(policy, notes=(*policy.notes, NO_COSTS_NOTE))

    def policy_chooser(self, tallies: "Tallies") -> "PolicyChooser":
        """Return the function that chooses the policy."""
        from baserate import fairness

        if self.favor:
            return partial(
                fairness.reject_option,
                favor=[match_group(each, tallies) for each in self.favor],
                favorable=self.favorable or "pass",
                around=self.around,
                objective=None if self.objective == "cost" else self.objective,
                otherwise=self.otherwise,
            )
        others = {
            "deterministic": fairness.deterministic_thresholds,
            "blind": fairness.common_threshold,
            "crossing": fairness.choose_roc_crossing,
        }
        for name, choose in others.items():
            if getattr(self, name):
                return partial(choose, otherwise=self.otherwise)
        return partial(fairness.optimal_policy, otherwise=self.otherwise, reversal=self.reversal)


_COLUMNS = ("--truth sick --score risk --group sex", "--fp 2 --fn 1")
_EQUALIZE_EXAMPLES = f"""
# equalized odds at the least cost, and the policy for new rows
baserate equalize people.csv {_COLUMNS[0]} --parity equalized-odds {_COLUMNS[1]} -o policy.json
# a tolerance of 0.02, without randomization, for groups by two columns
baserate equalize people.csv {_COLUMNS[0]},site --parity equal-opportunity --within 0.02 --deterministic
# at prevalences of 2% of women and 3.3% of men
baserate equalize people.csv {_COLUMNS[0]} --parity equal-opportunity --prevalence 'f=2%,m=3.3%'
# the price of fairness at every tolerance, and cross-validation
baserate equalize people.csv {_COLUMNS[0]} --parity equalized-odds {_COLUMNS[1]} --frontier --held-out
# the greatest F1 under equalized odds
baserate equalize people.csv {_COLUMNS[0]} --parity equalized-odds --objective f1
# calibrated equalized odds: equal means of calibrated scores
baserate equalize people.csv {_COLUMNS[0]} --withhold fnr {_COLUMNS[1]} -o policy.json
# one threshold for all, without the group attribute
baserate equalize people.csv {_COLUMNS[0]} --parity demographic-parity --within 5% --blind
"""


@command("equalize", examples=_EQUALIZE_EXAMPLES)
def equalize(
    reading: Reading,
    parity_options: ParityOptions,
    policy_file: Annotated[PolicyFile, omit("calibrator")],
    intervals: IndependentIntervals,
    output: Annotated[Output, omit("path")],
) -> None:
    """Choose group thresholds under a parity constraint.

    No policy of these scores and groups that meets the parity constraint has a lower expected cost. Some cases may be
    decided at random, which --deterministic forbids. Shown are the thresholds and rates of each group, those without
    the constraint, the price of fairness, and the disparities before and after; -o writes the policy, to be applied to
    new rows. --withhold equalizes means of calibrated scores instead. There is no verdict: the right parity is yours to
    choose.
    """
    from baserate.cli._mixing_page import mixing_page
    from baserate.cli._parity_page import equalize_page

    goal = None if parity_options.withhold else parity_options.goal  # before reading, so that errors come at once
    _check_options(reading, policy_file, output)
    sample = read_tallies(reading, quiet=output.quiet)
    if goal is None:
        policy, results = _withhold_scores(sample, parity_options, intervals)
    else:
        # Only now, since names of groups match their labels in the data.
        goal = replace(goal, prevalence=match_groups(parity_options.prevalence, sample))
        policy = parity_options.note_costs(parity_options.policy_chooser(sample)(sample, goal))
        results = _tabulate(sample, goal, policy, parity_options, intervals, quiet=output.quiet)
        results = describe_adjustment(results, sample, parity_options.prevalence)
    line = headline(reading, results.data)
    print_messages(line, results.data, output, inferred=reading.positive is None)
    if policy_file.path is not None:
        save_policy(policy, policy_file, output)
    if policy_file.path != "-":
        page = mixing_page if parity_options.withhold else equalize_page
        print_results(results, lambda: page(results, line, output.digits), output)


def _withhold_scores(
    sample: "Tallies", parity_options: ParityOptions, intervals: Intervals
) -> "tuple[Policy, Results]":
    """Choose a policy that withholds scores, and tabulate its impact."""
    from baserate import Costs, fairness

    policy = fairness.calibrated_equalized_odds(
        sample,
        parity_options.withhold or "weighted",
        costs=parity_options.outcome_costs or Costs(),
        threshold=parity_options.threshold,
        otherwise=parity_options.otherwise,
    )
    policy = parity_options.note_costs(policy)
    return policy, fairness.mixing_impact(sample, policy, interval=intervals.to_interval())


def _check_options(reading: Reading, policy_file: PolicyFile, output: Output) -> None:
    """Refuse more or less than one model, and two outputs to stdout."""
    models = [*reading.score, *filter(None, [reading.predicted])]
    check_group(reading.group)
    if not models:
        raise missing_option("--score")
    if len(models) > 1:
        raise click.UsageError(f"a policy is of one model, not of {' and '.join(models)}; give one.")
    check_stdout(policy_file.path, output)


def _tabulate(
    sample: "Tallies",
    goal: "Goal",
    policy: "Policy",
    parity_options: ParityOptions,
    intervals: Intervals,
    *,
    quiet: bool,
) -> "Results":
    """Tabulate the policy by group, then the frontier and the cross-validation if requested."""
    from baserate import fairness
    from baserate.infer import IntervalOptions

    interval, otherwise = intervals.to_interval(), parity_options.otherwise
    results = fairness.impact(sample, goal, policy, interval=interval, otherwise=otherwise)
    if parity_options.frontier:
        with progress_counter(quiet=quiet) as watch:
            frontier = fairness.frontier(sample, goal, otherwise=otherwise, watch=watch)
        results = _append_table(results, frontier, "frontier")
    if parity_options.held_out:
        options = given_values(parity_options, ("folds", "repeats")) | given_values(intervals, ["seed"])
        folds = fairness.Folds(**options)
        with progress_counter(quiet=quiet) as watch:
            held_out = fairness.cross_validate(
                sample,
                goal,
                folds=folds,
                watch=watch,
                choose=parity_options.policy_chooser(sample),
                interval=interval or IntervalOptions(),
                otherwise=otherwise,
            )
        # The note that recommends --held-out goes, since it was given.
        notes = [note for note in results.data["notes"] if note != fairness.SAME_DATA_NOTE]
        results = replace(results, data={**results.data, "notes": notes})
        results = _append_table(results, held_out.results(), "held_out")
    return results


def _append_table(results: "Results", more: "Results", table: str) -> "Results":
    """Append another table; its header goes under its own name."""
    from baserate._results import Results

    rows = [*results.rows(), *(row | {"table": table} for row in more.rows())]
    header = {name: value for name, value in more.data.items() if name not in results.data}
    notes = [note for note in more.data.get("notes", ()) if note not in results.data["notes"]]
    data = {**results.data, table: header, "notes": [*results.data["notes"], *notes]}
    return Results(
        {name: [row.get(name) for row in rows] for name in dict.fromkeys([*results.columns, *more.columns])}, data
    )
