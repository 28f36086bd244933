"""`baserate equalize`: read groups, choose the cheapest policy that keeps a parity, and say what it does to whom."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from baserate.cli._ask import answer, carried, carried_line, remark, tallies
from baserate.cli._equalizing import Equalizing, equalizing
from baserate.cli._intervals import Intervals, independent
from baserate.cli._kept import Keeping, keep, keeping_alone
from baserate.cli._options import Reading, Writing, check_group, command, grouped, showing
from baserate.cli._progress import counted

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate._tally import Tallies
    from baserate.equalize import Goal

_READ = ("--truth sick --score risk --group sex", "--fp 2 --fn 1")
_EXAMPLES = (
    (
        "equal sensitivity and false positive rates at the least cost, and the policy for new rows",
        f"baserate equalize people.csv {_READ[0]} --parity equalized-odds {_READ[1]} -o policy.json",
    ),
    (
        "rates that differ by 0.02 at most, without lots, for groups by two columns",
        f"baserate equalize people.csv {_READ[0]},site --parity equal-opportunity --within 0.02 --deterministic",
    ),
    (
        "where one in fifty women and one in thirty men is sick",
        f"baserate equalize people.csv {_READ[0]} --parity equal-opportunity --prevalence 'f=2%,m=3.3%'",
    ),
    (
        "what the parity costs at every tolerance, and whether it carries over",
        f"baserate equalize people.csv {_READ[0]} --parity equalized-odds {_READ[1]} --frontier --held-out",
    ),
    (
        "one threshold for everybody, so that nobody need tell the group",
        f"baserate equalize people.csv {_READ[0]} --parity demographic-parity --within 5% --blind",
    ),
)


@command("equalize", examples=_EXAMPLES)
@grouped
@equalizing
@keeping_alone
@independent
@showing
def equalize(
    reading: Reading, equalizing: Equalizing, keeping: Keeping, intervals: Intervals, writing: Writing
) -> None:
    """Choose cut-offs for groups so that they are treated alike, at the least cost, and say what that does to whom.

    A parity names what shall be equal; no policy of these scores and groups that keeps it is cheaper. Some cases may
    be decided by lot, which --deterministic forbids. Shown are the cut-offs and rates of each group, what they would be
    without the parity, what it costs, and how far groups lie apart before and after; -o writes the policy, to be
    applied to new rows. There is no verdict: which parity is right is not for a program to say. FILE is a CSV, TSV,
    Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate.cli._equalized import page

    goal = equalizing.goal  # before reading, so that a slip is told at once
    _check(reading, keeping, writing)
    here = tallies(reading, quiet=writing.quiet)
    goal = replace(goal, prevalence=equalizing.shares(here))
    policy = equalizing.way(here)(here, goal)
    found = _found(here, goal, policy, equalizing, intervals, quiet=writing.quiet)
    found = carried(found, here, equalizing.prevalence)
    line = carried_line(reading, found.data)
    remark(line, found.data, writing, inferred=reading.positive is None)
    if keeping.output is not None:
        keep(policy, keeping, writing)
    if keeping.output != "-":
        answer(found, lambda: page(found, reading, line, writing.digits), writing)


def _check(reading: Reading, keeping: Keeping, writing: Writing) -> None:
    """Refuse what cannot be made equal so."""
    models = [*reading.score, *filter(None, [reading.predicted])]
    check_group(reading.group)
    if not models:
        raise click.MissingParameter(param_hint="'--score'", param_type="option", ctx=click.get_current_context())
    if len(models) > 1:
        raise click.UsageError(f"a policy is of one model, and {' and '.join(models)} are {len(models)}; give one.")
    if keeping.output == "-" and writing.form != "table":
        raise click.UsageError("-o - writes the policy to stdout, where the numbers would go; name a file for it.")


def _found(
    here: "Tallies", goal: "Goal", policy: "Policy", equalizing: Equalizing, intervals: Intervals, *, quiet: bool
) -> "Results":
    """What the policy does, and below it what else was asked for."""
    from baserate import equalize
    from baserate.infer import Interval

    interval, otherwise = intervals.chosen, equalizing.otherwise
    found = equalize.account(here, goal, policy, interval=interval, otherwise=otherwise)
    if equalizing.frontier:
        with counted(quiet=quiet) as watch:
            found = _below(found, equalize.frontier(here, goal, otherwise=otherwise, watch=watch), "frontier")
    if equalizing.held_out:
        given = {"folds": equalizing.folds, "repeats": equalizing.repeats, "seed": intervals.seed}
        deal = equalize.Deal(**{name: value for name, value in given.items() if value is not None})
        of: dict[str, Any] = {
            "choose": equalizing.way(here),
            "interval": interval or Interval(),
            "otherwise": otherwise,
        }
        with counted(quiet=quiet) as watch:
            held = equalize.held_out(here, goal, deal=deal, watch=watch, **of)
        found = _below(_without_hint(found), held.results(), "held_out")
    return found


def _without_hint(found: "Results") -> "Results":
    """Leave out the note that names --held-out, where it was given."""
    from baserate.equalize import SAME

    return replace(found, data={**found.data, "notes": [note for note in found.data["notes"] if note != SAME]})


def _below(found: "Results", more: "Results", table: str) -> "Results":
    """Put another table below; what else is told of it goes under its name."""
    from baserate._results import Results

    rows = [*found.rows(), *(row | {"table": table} for row in more.rows())]
    told = {name: value for name, value in more.data.items() if name not in found.data}
    notes = [note for note in more.data.get("notes", ()) if note not in found.data["notes"]]
    data = {**found.data, table: told, "notes": [*found.data["notes"], *notes]}
    return Results(
        {name: [row.get(name) for row in rows] for name in dict.fromkeys([*found.columns, *more.columns])}, data
    )
