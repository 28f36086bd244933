"""`baserate check`: read, decide as a policy does, and tell whether what is required holds."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from baserate.cli._ask import answer, carried, carried_line, remark, tallies
from baserate.cli._failures import UNMET
from baserate.cli._intervals import Intervals, always
from baserate.cli._options import Reading, Verb, Writing, bundled, command, one_threshold, scored, writing
from baserate.cli._prices import prevalence
from baserate.cli._say import say
from baserate.cli._settings import Stated, stated

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate.decide import Requirement

_EXAMPLES = (
    (
        "a policy that was saved, in CI: exit code 1 unless the bounds of intervals keep it",
        "baserate check new.csv --policy policy.json --require 'sensitivity >= 0.9, precision >= 20%'",
    ),
    (
        "a cut-off, where one in fifty is sick",
        "baserate check new.csv --truth sick --score risk --threshold 0.4 --require 'npv >= 99%' --prevalence 2%",
    ),
    (
        "in each group, too",
        "baserate check new.csv --policy policy.json --require 'fpr <= 10%' --group sex",
    ),
    (
        "the values alone, of ranks and probabilities, too",
        "baserate check new.csv --policy policy.json --require 'auc >= 0.8, brier <= 0.1' --on estimate",
    ),
)


@dataclass(frozen=True)
class Checking:
    """What is held to what, and where."""

    policy: str | None
    threshold: float | None
    require: tuple[str, ...]
    on: str
    prevalence: float | None

    def __post_init__(self) -> None:
        if (self.policy is None) == (self.threshold is None):
            raise click.UsageError(
                "give one of --policy (a file that `baserate decide` wrote) and --threshold (a cut-off)."
            )

    @cached_property
    def taken(self) -> "Policy":
        """The policy of the file, or the one that a cut-off means."""
        from baserate import Cut, Policy
        from baserate.cli._policies import loaded

        if self.policy is not None:
            return loaded(self.policy)
        assert self.threshold is not None  # noqa: S101  (for the type checker)
        return Policy(by_group={(): Cut((self.threshold,))}, otherwise="refuse")

    @cached_property
    def wanted(self) -> "tuple[Requirement, ...]":
        """What is required."""
        from baserate.decide import requirements

        return requirements(self.require)


def _cutoff(text: str) -> float:
    return one_threshold(text, "give one, or a policy with --policy.")


def checking(verb: Verb) -> Verb:
    """Add the options that say what must hold; the verb gets them as `checking`."""
    return bundled(verb, Checking, "checking", _CHECKING)


_CHECKING = (
    click.option(
        "--policy", type=click.Path(), metavar="FILE", help="What decides: names of columns are taken from it, too."
    ),
    click.option(
        "--threshold", type=_cutoff, metavar="NUMBER", help="Flag scores at or above it, instead of --policy."
    ),
    click.option(
        "--require",
        multiple=True,
        required=True,
        metavar="TEXT",
        help="What must hold, of any measures, such as 'sensitivity >= 0.9, auc >= 80%'; may be repeated.",
    ),
    click.option(
        "--on",
        type=click.Choice(["bound", "estimate"]),
        default="bound",
        show_default=True,
        help="Go by the bound of the interval, or by the value alone.",
    ),
    click.option(
        "--prevalence",
        type=prevalence,
        metavar="SHARE",
        help="Check for where so many are positive, such as 0.02 or 2%; otherwise for these rows.",
    ),
)


@command("check", examples=_EXAMPLES)
@scored
@checking
@stated
@always
@writing
def check(reading: Reading, checking: Checking, stated: Stated, intervals: Intervals, writing: Writing) -> None:
    """Tell whether what is required of decisions holds: exit code 0 if all of it does, 1 if not.

    A requirement holds where the bound of its interval keeps it, fails where the whole interval lies beyond, and is
    undecided otherwise: then the rows are told that would decide. Columns, groups and the positive class are those that
    the policy was chosen on, unless named here. With --group, it must hold in each group, too. FILE is a CSV, TSV,
    Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate.cli._checked import page, verdict
    from baserate.cli._policies import filled

    policy, wanted = checking.taken, stated.require(checking.wanted)  # before reading, so that a slip is told at once
    asked = filled(reading, policy)
    found = _found(asked, reading.group, checking, wanted, intervals, quiet=writing.quiet)
    line = carried_line(asked, found.data)
    remark(line, found.data, writing, inferred=asked.positive is None)
    answer(found, lambda: page(found, policy, line, writing.digits), writing)
    if not writing.quiet and (writing.form in {"json", "csv"} or writing.output not in {None, "-"}):
        say(verdict(found))
    if not found.data["holds"]:
        click.get_current_context().exit(UNMET)


def _found(
    asked: Reading,
    groups: tuple[str, ...],
    checking: Checking,
    wanted: "tuple[Requirement, ...]",
    intervals: Intervals,
    *,
    quiet: bool,
) -> "Results":
    from baserate import decide, shift

    here = tallies(asked, quiet=quiet)
    read = here if checking.prevalence is None else shift.reweigh(here, to=checking.prevalence)
    of: dict[str, Any] = {"on": checking.on, "interval": intervals.chosen, "each_group": tuple(dict.fromkeys(groups))}
    return carried(decide.check(read, checking.taken, wanted, **of), here, checking.prevalence)
