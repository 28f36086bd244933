"""Options for measures that depend on what is stated: costs, a threshold probability, β."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import click

from baserate.cli._options import Verb, bundled, share
from baserate.cli._prices import CELLS, PRICES, costs_of, price

if TYPE_CHECKING:
    from baserate.decide import Requirement
    from baserate.measure import Measure, Settings

_FLAGS = {"costs": "--fp, --fn, --tp and --tn", "at": "--net-benefit-at", "beta": "--beta"}
_EXAMPLES = {"costs": "--fp 1 --fn 20", "at": "--net-benefit-at 0.1"}
_WHAT = {"costs": "what errors cost", "at": "a threshold probability"}


def probability(text: str) -> float:
    """Read a threshold probability."""
    return share(text, f"{text!r} is no probability; give a number between 0 and 1, both excluded, such as 0.1 or 10%.")


NET_BENEFIT_AT = click.option(
    "--net-benefit-at",
    type=probability,
    metavar="SHARE",
    help="Threshold probability of net benefit, such as 0.1 or 10%.",
)
BETA = click.option("--beta", type=price, metavar="NUMBER", help="β of f-beta and e-measure; otherwise 1.")
SETTINGS = (*PRICES, NET_BENEFIT_AT, BETA)


@dataclass(frozen=True, slots=True)
class Stated:
    """Numbers that measures depend on, as they were typed."""

    fp: float | None
    fn: float | None
    tp: float | None
    tn: float | None
    net_benefit_at: float | None
    beta: float | None

    @property
    def settings(self) -> "Settings":
        """The same as the library takes it."""
        from baserate.measure import Settings

        return Settings(costs_of(self), self.net_benefit_at, self.beta)

    @property
    def given(self) -> bool:
        """Whether anything was stated."""
        return any(getattr(self, name) is not None for name in (*CELLS, "net_benefit_at", "beta"))

    def bind(self, measures: "Iterable[str | Measure] | str") -> "list[Measure] | Literal['usual', 'all']":
        """Bind what was stated to the measures; refuse what is missing, and what is of no use."""
        if isinstance(measures, str):
            return self._whole(measures)
        return bind_settings(self.settings, measures)

    def require(self, wanted: "Sequence[Requirement]") -> "tuple[Requirement, ...]":
        """Bind what was stated to the measures of requirements."""
        bound = bind_settings(self.settings, [each.measure for each in wanted])
        return tuple(replace(each, measure=measure) for each, measure in zip(wanted, bound, strict=True))

    def refuse_for_classes(self) -> None:
        """Refuse costs and the like where there are several classes."""
        if self.given:
            raise click.UsageError(
                "--fp, --fn, --tp, --tn, --net-benefit-at and --beta are for two classes; of many, --costs "
                "names a file with what decisions cost."
            )

    def _whole(self, measures: str) -> "Literal['usual', 'all']":
        if self.given:
            idle = next(name for name in (*CELLS, "net_benefit_at", "beta") if getattr(self, name) is not None)
            raise click.UsageError(
                f"--{idle.replace('_', '-')} is for measures that are named; name them, such as --measures "
                "expected_cost,net_benefit."
            )
        return "all" if measures == "all" else "usual"


def bind_settings(settings: "Settings", measures: "Iterable[str | Measure]") -> "list[Measure]":
    """Bind numbers to measures; refuse those that are missing, and those that are of no use."""
    from baserate.measure import known

    found = [settings.apply(known(each)) for each in measures]
    refuse_unstated(found)
    for option in settings.idle(found):
        raise click.UsageError(f"no measure here depends on {_FLAGS[option]}; leave it out.")
    return found


def refuse_unstated(measures: "Iterable[Measure]") -> None:
    """Refuse measures that depend on numbers which were not stated."""
    from baserate.measure import unstated

    for name, option in unstated(measures):
        raise click.UsageError(f"{name} needs {_WHAT[option]}; give it, for example {_EXAMPLES[option]}.")


def example_of(measure: str) -> list[str]:
    """Options that a suggested command needs for a measure that depends on stated numbers."""
    from baserate.measure import REQUIRED

    return [_EXAMPLES[REQUIRED[measure]]] if measure in REQUIRED else []


def stated(verb: Verb) -> Verb:
    """Add the options; the verb gets them as `stated`."""
    return bundled(verb, Stated, "stated", SETTINGS)
