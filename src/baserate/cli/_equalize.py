"""`baserate equalize`: group thresholds under a parity constraint, and their options."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import click
from click.shell_completion import CompletionItem

from baserate._domains import FOLDS, REPEATS
from baserate.cli._declarations import Output, command, omit, option
from baserate.cli._io import (
    PolicyFile,
    adjusted_headline,
    describe_adjustment,
    print_messages,
    print_results,
    read_tallies,
    save_policy,
)
from baserate.cli._options import GroupReading, IndependentIntervals, Intervals, OutcomeCosts, Reading, check_group
from baserate.cli._terminal import progress_counter
from baserate.cli._values import (
    complete_two_class,
    read_by_name,
    read_prevalences,
    read_share,
    read_threshold,
    whole_number,
)

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._tally import Group, Tallies
    from baserate.equalize import Goal

    Way = Callable[[Tallies, Goal], Policy]
    from baserate._results import Results
    from baserate._tally import Tallies

_WAYS = {
    "deterministic": "--deterministic",
    "blind": "--blind",
    "crossing": "--crossing",
    "favour": "--favour",
    "reversal": "--reversal",
}
"""Ways to choose, of which one is taken."""
_FOR = {
    "favourable": "favour",
    "around": "favour",
    "objective": "favour",
    "folds": "held_out",
    "repeats": "held_out",
}
"""Option -> the one that it belongs to."""


def match_group(text: str, here: "Tallies") -> "Group":
    """Return the group that is written so; of several attributes, their labels with a stroke between them."""
    from baserate._policy import spellings

    known = {"/".join(labels): group for group in here.groups for labels in product(*map(spellings, group))}
    return known.get(text.strip(), tuple(text.strip().split("/")))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _read_tolerance(text: str) -> float:
    if text.strip() in {"inf", "∞"}:
        return math.inf
    told = f"{text!r} is no tolerance; give how far rates may lie apart, such as 0.02 or 2%, or inf."
    return read_share(text, told, ends=True)


def _read_tolerances(text: str) -> float | dict[str, float]:
    return read_by_name(text, _read_tolerance)


def _read_middle(text: str) -> float:
    return read_threshold(text, "a band lies around one.")


def _complete_parity(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from baserate.equalize import PARITIES

    known = (each for each in PARITIES.values() if each.enforceable and each.name.startswith(incomplete))
    return [CompletionItem(each.name, help=each.description) for each in known]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParityOptions(OutcomeCosts):
    """What shall be equal, how strictly, at what costs, and how it is reached."""

    parity: Annotated[
        tuple[str, ...],
        option(
            multiple=True,
            metavar="NAME",
            shell_complete=_complete_parity,
            help="Parity constraint, such as equalized-odds; `baserate list parities` lists them; may be repeated.",
        ),
    ]
    within: Annotated[
        float | dict[str, float],
        option(
            type=_read_tolerances,
            metavar="NUMBER",
            help="Greatest difference between the rates of two groups, inf for no bound; or one for each rate, such as "
            "sensitivity=0.02,fpr=0.05.",
        ),
    ] = 0
    prevalence: Annotated[
        float | dict[str, float] | None,
        option(
            type=read_prevalences,
            metavar="SHARE",
            default="that of the sample",
            help="Prevalence in deployment, such as 2%, or of each group, such as 'f=2%,m=3%'; of several columns "
            "'f/north=2%'.",
        ),
    ] = None
    deterministic: Annotated[bool, option(help="One threshold for each group, without randomization.")] = False
    blind: Annotated[bool, option(help="One threshold for all, so that the policy needs no group.")] = False
    crossing: Annotated[bool, option(help="The point where the ROC curves of two groups cross.")] = False
    favour: Annotated[
        tuple[str, ...],
        option(
            multiple=True,
            metavar="GROUP",
            help="Reject option: group that is favored in a band of uncertain scores; may be repeated.",
        ),
    ] = ()
    favourable: Annotated[
        str | None, option(type=click.Choice(["pass", "flag"]), help="Favorable action, with --favour.")
    ] = None
    around: Annotated[
        float | None,
        option(type=_read_middle, metavar="NUMBER", default="the best", help="Middle of the band, with --favour."),
    ] = None
    objective: Annotated[
        str | None,
        option(
            metavar="MEASURE",
            shell_complete=complete_two_class,
            default="cost",
            help="Measure that the band optimizes, with --favour.",
        ),
    ] = None
    reversal: Annotated[bool, option(help="Flags below a threshold, where that is better.")] = False
    otherwise: Annotated[
        str,
        option(
            type=click.Choice(["refuse", "pass", "flag", "refer"]),
            help="Action for unknown groups, and for groups that lack a class.",
        ),
    ] = "refuse"
    frontier: Annotated[bool, option(help="Table of the cost at every tolerance.")] = False
    held_out: Annotated[bool, option(help="Table of the disparities by cross-validation.")] = False
    folds: Annotated[
        int | None,
        option(type=whole_number(FOLDS), metavar="NUMBER", default="5", help="Number of folds of --held-out."),
    ] = None
    repeats: Annotated[
        int | None, option(type=whole_number(REPEATS), metavar="NUMBER", default="1", help="Repetitions of --held-out.")
    ] = None

    def __post_init__(self) -> None:
        for told in self._slips():
            raise click.UsageError(told)

    @property
    def goal(self) -> "Goal":
        """The parity, its tolerance and the costs, without what depends on data."""
        from baserate import Costs
        from baserate.equalize import Goal

        names = [name for each in self.parity for name in each.split(",")]
        return Goal(names, within=self.within, costs=self.outcome_costs or Costs())

    def shares(self, here: "Tallies") -> "float | dict[Group, float] | None":
        """Prevalences of the options, by group."""
        if not isinstance(self.prevalence, dict):
            return self.prevalence
        return {match_group(name, here): value for name, value in self.prevalence.items()}

    def way(self, here: "Tallies") -> "Way":
        """How to choose."""
        from baserate import equalize

        if self.favour:
            given: dict[str, Any] = {"favourable": self.favourable, "around": self.around, "objective": self.objective}
            favour = [match_group(each, here) for each in self.favour]
            return partial(equalize.reject_option, favour=favour, otherwise=self.otherwise, **given)
        others = {
            "deterministic": equalize.deterministic_thresholds,
            "blind": equalize.common_threshold,
            "crossing": equalize.choose_roc_crossing,
        }
        for name, choose in others.items():
            if getattr(self, name):
                return partial(choose, otherwise=self.otherwise)
        return partial(equalize.optimal_policy, otherwise=self.otherwise, reversal=self.reversal)

    def _slips(self) -> Iterator[str]:
        """What says two things, or nothing."""
        ways = [flag for name, flag in _WAYS.items() if getattr(self, name)]
        if len(ways) > 1:
            yield f"{ways[0]} and {ways[1]} are two ways to choose; give one of them."
        for name, owner in _FOR.items():
            if getattr(self, name) is not None and not getattr(self, owner):
                yield f"--{name} is for {_flag(owner)}; give that, too, or leave it out."
        if self.favour and self.favourable is None:
            yield "--favour needs the action that is a favour: --favourable pass, or --favourable flag."


_READ = ("--truth sick --score risk --group sex", "--fp 2 --fn 1")
_EXAMPLES = (
    (
        "equalized odds at the least cost, and the policy for new rows",
        f"baserate equalize people.csv {_READ[0]} --parity equalized-odds {_READ[1]} -o policy.json",
    ),
    (
        "a tolerance of 0.02, without randomization, for groups by two columns",
        f"baserate equalize people.csv {_READ[0]},site --parity equal-opportunity --within 0.02 --deterministic",
    ),
    (
        "at prevalences of 2 % of women and 3.3 % of men",
        f"baserate equalize people.csv {_READ[0]} --parity equal-opportunity --prevalence 'f=2%,m=3.3%'",
    ),
    (
        "the price of fairness at every tolerance, and cross-validation",
        f"baserate equalize people.csv {_READ[0]} --parity equalized-odds {_READ[1]} --frontier --held-out",
    ),
    (
        "one threshold for all, without the group attribute",
        f"baserate equalize people.csv {_READ[0]} --parity demographic-parity --within 5% --blind",
    ),
)


@command("equalize", examples=_EXAMPLES)
def equalize(
    reading: GroupReading,
    parity_options: ParityOptions,
    policy_file: Annotated[PolicyFile, omit("map")],
    intervals: IndependentIntervals,
    output: Annotated[Output, omit("path")],
) -> None:
    """Choose group thresholds under a parity constraint.

    No policy of these scores and groups that meets the parity constraint has a lower expected cost. Some cases may be
    decided at random, which --deterministic forbids. Shown are the thresholds and rates of each group, those without
    the constraint, the price of fairness, and the disparities before and after; -o writes the policy, to be applied to
    new rows. There is no verdict: the right parity is yours to choose.
    """
    from baserate.cli._parity_page import page

    goal = parity_options.goal  # before reading, so that errors come at once
    _check(reading, policy_file, output)
    sample = read_tallies(reading, quiet=output.quiet)
    goal = replace(goal, prevalence=parity_options.shares(sample))
    policy = parity_options.way(sample)(sample, goal)
    results = _tabulate(sample, goal, policy, parity_options, intervals, quiet=output.quiet)
    results = describe_adjustment(results, sample, parity_options.prevalence)
    line = adjusted_headline(reading, results.data)
    print_messages(line, results.data, output, inferred=reading.positive is None)
    if policy_file.path is not None:
        save_policy(policy, policy_file, output)
    if policy_file.path != "-":
        print_results(results, lambda: page(results, reading, line, output.digits), output)


def _check(reading: Reading, policy_file: PolicyFile, output: Output) -> None:
    """Refuse what cannot be made equal so."""
    models = [*reading.score, *filter(None, [reading.predicted])]
    check_group(reading.group)
    if not models:
        raise click.MissingParameter(param_hint="'--score'", param_type="option", ctx=click.get_current_context())
    if len(models) > 1:
        raise click.UsageError(f"a policy is of one model, and {' and '.join(models)} are {len(models)}; give one.")
    if policy_file.path == "-" and output.form != "table":
        raise click.UsageError("-o - writes the policy to stdout, where the numbers would go; name a file for it.")


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
    from baserate import equalize
    from baserate.infer import IntervalOptions

    interval, otherwise = intervals.to_interval(), parity_options.otherwise
    results = equalize.impact(sample, goal, policy, interval=interval, otherwise=otherwise)
    if parity_options.frontier:
        with progress_counter(quiet=quiet) as watch:
            results = _append_table(
                results, equalize.frontier(sample, goal, otherwise=otherwise, watch=watch), "frontier"
            )
    if parity_options.held_out:
        options = {"folds": parity_options.folds, "repeats": parity_options.repeats, "seed": intervals.seed}
        deal = equalize.Folds(**{name: value for name, value in options.items() if value is not None})
        settings: dict[str, Any] = {
            "choose": parity_options.way(sample),
            "interval": interval or IntervalOptions(),
            "otherwise": otherwise,
        }
        with progress_counter(quiet=quiet) as watch:
            held_out = equalize.cross_validate(sample, goal, deal=deal, watch=watch, **settings)
        results = _append_table(_without_hint(results), held_out.results(), "held_out")
    return results


def _without_hint(results: "Results") -> "Results":
    """Leave out the note that names --held-out, where it was given."""
    from baserate.equalize import SAME_DATA_NOTE

    return replace(
        results, data={**results.data, "notes": [note for note in results.data["notes"] if note != SAME_DATA_NOTE]}
    )


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
