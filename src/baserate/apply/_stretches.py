"""A cut or a lottery as stretches of scores: where all of its cuts agree, and where the lot decides between which."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from sys import float_info

from baserate._cut import RandomizedCut, Treatment, certain_share


@dataclass(frozen=True, slots=True)
class Stretches:
    """Finite thresholds, ascending, and what is done between them: one action, or one for each cut of a lottery."""

    at: tuple[float, ...]
    drawn: tuple[tuple[str, ...], ...]
    """For each stretch, lowest first: the action that all cuts take, or what each of them does."""
    edges: tuple[int, ...] = ()
    """First lot of each cut but the first."""
    chances: tuple[float, ...] = (1.0,)
    """Chance of each cut."""

    @property
    def open(self) -> tuple[bool, ...]:
        """For each stretch, whether the lot decides."""
        return tuple(len(each) > 1 for each in self.drawn)

    def chance(self, place: int, action: str) -> float:
        """Chance of an action in a stretch."""
        if not self.open[place]:
            return float(self.drawn[place][0] == action)
        pairs = zip(self.drawn[place], self.chances, strict=True)
        return certain_share([chance for each, chance in pairs if each == action], len(self.chances))


def stretches(treatment: Treatment) -> Stretches:
    """Divide finite scores where what is done with them changes.

    >>> from baserate import Cut
    >>> found = stretches(RandomizedCut((Cut((0.4,)), Cut((0.7,))), (0.5, 0.5)))
    >>> found.at, found.drawn
    ((0.4, 0.7), (('pass',), ('flag', 'pass'), ('flag',)))
    """
    cuts = treatment.cuts if isinstance(treatment, RandomizedCut) else (treatment,)
    lowest = -float_info.max
    begins = [lowest, *sorted({at for cut in cuts for at in cut.thresholds if isfinite(at) and at > lowest})]
    steps = [(at, _agreed(tuple(cut.action(at) for cut in cuts))) for at in begins]
    kept = [step for place, step in enumerate(steps) if not place or step[1] != steps[place - 1][1]]
    return Stretches(tuple(at for at, _ in kept[1:]), tuple(drawn for _, drawn in kept), *_of_lots(treatment))


def _of_lots(treatment: Treatment) -> tuple[tuple[int, ...], tuple[float, ...]]:
    return (treatment.edges, treatment.chances) if isinstance(treatment, RandomizedCut) else ((), (1.0,))


def _agreed(actions: tuple[str, ...]) -> tuple[str, ...]:
    return actions[:1] if len({*actions}) == 1 else actions
