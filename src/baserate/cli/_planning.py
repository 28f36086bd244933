"""Options that make a plan, or change one that was saved."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from baserate.cli._ask import check_truth
from baserate.cli._intervals import Intervals
from baserate.cli._maps import opened
from baserate.cli._options import Reading, Verb, bundled, check_place, one_threshold
from baserate.cli._prices import CELLS, PRICES, costs_of, prevalences

if TYPE_CHECKING:
    from baserate._costs import Costs
    from baserate.report import Plan

_CUTS = ("threshold", "rule", "policy")
"""Ways to cut; one that is given takes the place of that in a plan."""


@dataclass(frozen=True, slots=True)
class Planning:
    """Where it will be used, where to cut, and what is kept."""

    apart: bool
    id: str | None
    prevalence: float | dict[str, float] | None
    fp: float | None
    fn: float | None
    tp: float | None
    tn: float | None
    threshold: float | None
    rule: str | None
    policy: str | None
    plan: str | None
    save_plan: str | None
    save_json: str | None
    figures: Path | None

    def __post_init__(self) -> None:
        given = [f"--{name}" for name in _CUTS if getattr(self, name) is not None]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} are several ways to cut; give one.")
        for flag in ("save_plan", "save_json"):
            if getattr(self, flag) is not None:
                check_place(Path(getattr(self, flag)), f"--{flag.replace('_', '-')}")


def planning(verb: Verb) -> Verb:
    """Add the options; the verb gets them as `planning`."""
    return bundled(verb, Planning, "planning", _PLANNING)


def made(reading: Reading, planning: Planning, intervals: Intervals) -> "Plan":
    """Make a plan of what was typed, or change the one that was named."""
    from baserate.cli._policies import filled, loaded
    from baserate.report import Plan

    policy = None if planning.policy is None else loaded(planning.policy)
    if planning.plan is not None:
        known = opened(planning.plan, "plan", Plan.load)
        decided = {} if policy is None else {"policy": policy, "policy_file": planning.policy}
        given = _given(reading, planning, intervals) | decided
        instead: dict[str, Any] = dict.fromkeys((*_CUTS, "policy_file")) if {*_CUTS} & {*given} else {}
        return replace(known, **instead | given | _costs(planning, known.costs))
    if not reading.file:
        raise click.MissingParameter(param_hint="'FILE...'", param_type="argument", ctx=click.get_current_context())
    asked = reading if policy is None else filled(reading, policy)
    check_truth(asked)
    given = _given(asked, planning, intervals) | _costs(planning, None)
    return Plan(**given, policy=policy, policy_file=planning.policy)


def _given(reading: Reading, planning: Planning, intervals: Intervals) -> dict[str, Any]:
    """Fields of a plan that were given."""
    names = ("truth", "score", "predicted", "positive", "negative", "group", "weight", "count")
    found: dict[str, Any] = {"files": reading.file, **{name: getattr(reading, name) for name in names}}
    found |= {name: getattr(planning, name) for name in ("apart", "id", "prevalence", "threshold", "rule")}
    found |= {"level": intervals.level, "method": intervals.interval, "seed": intervals.seed}
    typed = click.get_current_context().get_parameter_source("missing") == ParameterSource.COMMANDLINE
    found |= {"missing": reading.missing} if typed else {}
    return {name: value for name, value in found.items() if value is not None and value is not False and value != ()}


def _costs(planning: Planning, known: "Costs | None") -> dict[str, Any]:
    """Costs that were given, in place of those that are known."""
    given = costs_of(planning)
    if given is None:
        return {}
    typed = {cell: getattr(planning, cell) for cell in CELLS if getattr(planning, cell) is not None}
    return {"costs": given if known is None else replace(known, **typed)}


def _cutoff(text: str) -> float:
    return one_threshold(text, "a report has one.")


_PLANNING = (
    click.option(
        "--prevalence",
        type=prevalences,
        metavar="SHARE",
        help="Prevalence in deployment, such as 0.02 or 2%; or of each group, such as 'north=2%,coast=5%' (of several "
        "columns 'north/f=2%'). [default: that of the sample]",
    ),
    *PRICES,
    click.option("--threshold", type=_cutoff, metavar="NUMBER", help="Flag scores at or above it."),
    click.option(
        "--rule",
        metavar="NAME",
        help="Rule that chooses: cost, youden, closest, balanced or break-even; otherwise costs, or 0.5 of "
        "probabilities.",
    ),
    click.option("--policy", type=click.Path(), metavar="FILE", help="Decide as this policy; it names columns, too."),
    click.option("--id", metavar="COLUMN", help="Column of names of rows, of which none should come twice."),
    click.option("--apart", is_flag=True, help="Judge each file as a sample of its own, beside the others."),
    click.option("--plan", type=click.Path(), metavar="FILE", help="Run this plan; flags beside it change it."),
    click.option("--save-plan", type=click.Path(), metavar="FILE", help="Write the plan there, to be run again."),
    click.option("--save-json", type=click.Path(), metavar="FILE", help="Write the whole report there, too."),
    click.option(
        "--figures",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Draw the figures that fit into this folder, as SVG.",
    ),
)
