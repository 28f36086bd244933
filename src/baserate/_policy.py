"""Policy: what to do with a score, for every group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isnan
from types import MappingProxyType
from typing import Any

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import BadOption, BadShape, MissingValues
from baserate._tallies import Group

PASS, REFER, FLAG = "pass", "refer", "flag"
REFUSE = "refuse"
"""What is done with a row of a group that a policy does not know: an error."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Ascending thresholds, and an action for each stretch of scores between them, lowest first.

    A score at a threshold belongs to the stretch above it. Two actions, `pass` and `flag`, are the usual; a third,
    `refer`, leaves the case to somebody else; any others are bands.

    >>> Cut((0.5,))
    Cut(thresholds=(0.5,), actions=('pass', 'flag'))
    >>> Cut((0.2, 0.7), ("pass", "refer", "flag")).action(0.2)
    'refer'
    """

    thresholds: tuple[float, ...]
    actions: tuple[str, ...] = (PASS, FLAG)

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", tuple(map(float, self.thresholds)))
        object.__setattr__(self, "actions", tuple(self.actions))
        if any(map(isnan, self.thresholds)):
            raise MissingValues("a threshold is NaN; give a number, or inf to flag nothing.")
        if any(low >= high for low, high in pairwise(self.thresholds)):
            raise BadOption(f"thresholds are {self.thresholds}; give them ascending, each once.")
        if len(self.actions) != len(self.thresholds) + 1:
            raise BadShape(
                f"{len(self.actions)} actions for {len(self.thresholds)} thresholds; give one more action than that: "
                "one for each stretch of scores."
            )
        if not all(self.actions):
            raise BadOption(f"actions are {self.actions}; an action is a name.")
        if any(low == high for low, high in pairwise(self.actions)):
            raise BadOption(f"actions are {self.actions}; neighbours that are alike are one: leave out the threshold.")

    @property
    def threshold(self) -> float:
        """Where flagging begins, of a cut that passes or flags."""
        if self.actions != (PASS, FLAG):
            raise BadOption(f"a cut into {', '.join(self.actions)} has no single threshold; see `thresholds`.")
        return self.thresholds[0]

    @property
    def has_table(self) -> bool:
        """Whether it passes some and flags others, and does nothing else but refer: then there is a 2×2 table."""
        return self.actions in ((PASS, FLAG), (PASS, REFER, FLAG))

    def action(self, score: float) -> str:
        """What is done with a score."""
        return self.actions[int(np.searchsorted(self.thresholds, score, side="right"))]

    def stretches(self, curve: Curve) -> Counts[Floats]:
        """Return a 2×2 table for each action: those who get it against all others.

        So its flag rate is the share of everybody who gets the action, and its precision the risk of those.

        >>> from baserate import curve, tally
        >>> c = curve(tally([1, 1, 0, 1, 0], [0.9, 0.8, 0.6, 0.4, 0.1]))
        >>> each = Cut((0.3, 0.7), ("low", "medium", "high")).stretches(c)
        >>> each.tp.tolist(), each.fp.tolist()
        ([0.0, 1.0, 2.0], [1.0, 1.0, 0.0])
        """
        upward = curve.at(np.array([-np.inf, *self.thresholds]))
        moments = upward.moments and (_apart(upward.squares), _apart(upward.rows))
        return replace(_apart(upward), moments=moments, reweighed=upward.reweighed)

    def counts(self, curve: Curve) -> Counts[float]:
        """Return the 2×2 table of what is passed and flagged; what is referred is in none of its cells.

        >>> from baserate import curve, tally
        >>> c = curve(tally([1, 1, 0, 1, 0], [0.9, 0.8, 0.6, 0.4, 0.1]))
        >>> Cut((0.3, 0.7), ("pass", "refer", "flag")).counts(c)
        Counts(tp=2.0, fp=0.0, fn=0.0, tn=1.0)
        """
        if not self.has_table:
            raise BadOption(f"a cut into {', '.join(self.actions)} has no 2×2 table; see `stretches`.")
        low, high = (curve.at(at) for at in (self.thresholds[0], self.thresholds[-1]))
        moments = high.moments and (_between(low.squares, high.squares), _between(low.rows, high.rows))
        return replace(_between(low, high), moments=moments, reweighed=high.reweighed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A cut for each group, what to do with all others, and how it came about.

    Ungrouped, it is one cut for the group `()`.
    """

    by_group: Mapping[Group, Cut]
    otherwise: str
    """Action for a group that is not listed, or missing; "refuse" makes it an error."""
    attributes: tuple[str, ...] = ()
    """What groups are made by."""
    rule: str = "fixed"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the rule was told: costs, prevalence, requirements."""
    chosen_on: str | None = None
    """Digest of the tally that the cut was chosen on; None if nobody looked at data."""
    notes: tuple[str, ...] = ()
    """What a reader should know of the choice."""

    def __post_init__(self) -> None:
        if not self.by_group:
            raise BadOption("a policy without a cut decides nothing; give one for each group, or for ().")
        wrong = [group for group in self.by_group if len(group) != len(self.attributes)]
        if wrong:
            raise BadShape(f"group {wrong[0]} has not one value for each of the attributes {self.attributes}.")
        for name in ("by_group", "settings"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def needs_group(self) -> bool:
        """Whether it asks to which group a row belongs."""
        return bool(self.attributes)

    @property
    def cut(self) -> Cut:
        """The one cut of a policy that treats everybody alike."""
        if self.needs_group:
            raise BadOption(f"this policy has a cut for each group by {', '.join(self.attributes)}; see `by_group`.")
        return self.by_group[()]

    @property
    def threshold(self) -> float:
        """Where it flags, if it treats everybody alike and does nothing else."""
        return self.cut.threshold


def _apart(upward: Counts[Floats]) -> Counts[Floats]:
    """From what lies at or above each threshold, to what lies between it and the next, against all others."""
    inside = [np.append(each[:-1] - each[1:], each[-1:]) for each in (upward.tp, upward.fp)]
    return Counts(*inside, *(total[0] - each for total, each in zip((upward.tp, upward.fp), inside, strict=True)))


def _between(low: Counts[float], high: Counts[float]) -> Counts[float]:
    """What is passed below a threshold and flagged from another on."""
    return Counts(tp=high.tp, fp=high.fp, fn=low.fn, tn=low.tn)
