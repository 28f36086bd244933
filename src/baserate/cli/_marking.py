"""What is shown on curves of scores: how far they may lie, and where somebody decides."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from baserate.cli._options import LEVEL, Reading, Verb, bundled, each_once, thresholds
from baserate.cli._policies import filled, loaded

if TYPE_CHECKING:
    from baserate._policy import Policy


@dataclass(frozen=True, slots=True)
class Marking:
    """Whether there is a band, how sure it and intervals are, and which points are marked."""

    band: bool
    simultaneous: bool
    level: float
    threshold: tuple[tuple[float, ...], ...]
    policy: str | None

    def read(self, reading: Reading) -> "tuple[Reading, dict[str, Any]]":
        """Take names of columns from the policy, if there is one; return them, and the options of the figure."""
        found: Policy | None = None if self.policy is None else loaded(self.policy)
        options = {
            "band": "simultaneous" if self.simultaneous else self.band,
            "level": self.level,
            "threshold": each_once(self.threshold) or None,
            "policy": found,
        }
        return (reading if found is None else filled(reading, found)), options

    def points(self, reading: Reading) -> "tuple[Reading, dict[str, Any]]":
        """Do so for a figure that shows marks alone."""
        filled_in, options = self.read(reading)
        return filled_in, {name: options[name] for name in ("threshold", "policy")}


def marking(verb: Verb) -> Verb:
    """Add the options of a curve whose band is of each point by itself; the verb gets them as `marking`."""
    return bundled(verb, Marking, "marking", (_BAND, LEVEL, *_MARKS), simultaneous=False)


def marking_together(verb: Verb) -> Verb:
    """Add those of a curve that may have a band for the whole of it."""
    return bundled(verb, Marking, "marking", (_BAND, _TOGETHER, LEVEL, *_MARKS))


def marks_alone(verb: Verb) -> Verb:
    """Add those that mark where somebody decides."""
    return bundled(verb, Marking, "marking", _MARKS, band=False, simultaneous=False, level=0.95)


_BAND = click.option("--band", is_flag=True, help="Shade how far it may lie, at each point by itself.")
_TOGETHER = click.option("--simultaneous", is_flag=True, help="Shade how far the curve may lie as a whole.")
_MARKS = (
    click.option(
        "--threshold",
        type=thresholds,
        metavar="NUMBERS",
        multiple=True,
        help="Mark what comes of flagging scores at or above it; several with commas.",
    ),
    click.option(
        "--policy",
        type=click.Path(),
        metavar="FILE",
        help="Mark what comes of a policy: names of columns, and of groups, are taken from it, too.",
    ),
)
