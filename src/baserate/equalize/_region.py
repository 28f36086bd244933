"""Region: what a group can have in ROC space, and the cuts and lotteries that reach a point of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baserate._arrays import Bools, Floats, Value
from baserate._costs import Costs
from baserate._curve import Curve
from baserate._cut import FLAG, PASS, Cut, RandomizedCut, Treatment

CLOSE = 1e-12
"""Distance in ROC space, and chance, that are nothing but rounding."""
BESIDE = 1e-9
"""Distance from a hull that a linear program may leave."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The upper hull of a group's curve, strictest vertex first; all that lies between it and the diagonal can be had.

    A class that is not there has the rates of the other one, and no weight: then the region is the diagonal.
    """

    curve: Curve
    threshold: Floats
    turned: Bools
    """Where what is below the threshold is flagged."""
    fpr: Floats
    tpr: Floats
    positive: float
    """Share of everybody, in all groups, who are in this one and positive."""
    negative: float

    @property
    def flag_rate(self) -> Floats:
        """Share of the group that is flagged."""
        found: Floats = (self.positive * self.tpr + self.negative * self.fpr) / (self.positive + self.negative)
        return found

    def rate(self, name: str) -> Floats:
        """One of the rates at every vertex: flag_rate, sensitivity or fpr."""
        return {"flag_rate": self.flag_rate, "sensitivity": self.tpr, "fpr": self.fpr}[name]

    def weights(self, name: str) -> tuple[float, float]:
        """How a rate is made of the false and the true positive rate."""
        both = self.positive + self.negative
        mixed = self.negative / both, self.positive / both
        return {"flag_rate": mixed, "sensitivity": (0.0, 1.0), "fpr": (1.0, 0.0)}[name]

    def gains(self, costs: Costs) -> tuple[float, float]:
        """What the false positive rate costs, and the true positive rate saves, of a case of everybody."""
        return self.negative * (costs.fp - costs.tn), self.positive * (costs.fn - costs.tp)

    def fixed(self, costs: Costs) -> float:
        """What a case costs if nobody here is flagged, in cases of everybody."""
        return self.positive * costs.fn + self.negative * costs.tn

    def cost(self, costs: Costs, fpr: Value, tpr: Value) -> Value:
        """What a case of everybody costs for what is done in this group."""
        dear, saved = self.gains(costs)
        return self.fixed(costs) + dear * fpr - saved * tpr

    def height(self, fpr: Floats | float) -> Floats:
        """Greatest true positive rate at a false positive rate."""
        # Of vertices at one rate, which are at its ends, the highest counts.
        top = np.append(self.fpr[1:] > self.fpr[:-1], [True])
        found: Floats = np.interp(fpr, self.fpr[top], self.tpr[top])
        return found

    def forgone(self, fpr: float, tpr: float) -> float:
        """How much more sensitive the group could be at a false positive rate: what is thrown away below the hull."""
        lost = float(self.height(fpr)) - tpr
        return 0.0 if lost <= BESIDE else lost

    def binds(self, fpr: float, tpr: float) -> bool:
        """Whether neither rate could be better without the other's getting worse, by scores that are used.

        Neither end of the hull uses them, nor does what lies beyond all positives.
        """
        enough = float(self.fpr[np.argmax(self.tpr)])
        return self.forgone(fpr, tpr) == 0 and BESIDE < fpr + tpr < 2 - BESIDE and fpr <= enough + BESIDE

    def cut(self, at: int) -> Cut:
        """Return the cut of a vertex."""
        actions = (FLAG, PASS) if self.turned[at] else (PASS, FLAG)
        return Cut((float(self.threshold[at]),), actions)

    def treatment(self, fpr: float, tpr: float) -> Treatment:
        """Reach a point: by one cut at a vertex, by two on an edge, otherwise by three.

        Of all mixtures of vertices that reach a point below the hull it is the one that leaves the fewest people to a
        lot: those with scores between its strictest and its laxest cut.
        """
        along = self.fpr + self.tpr
        right = int(np.clip(np.searchsorted(along, fpr + tpr), 1, len(along) - 1))
        left = right - 1
        if self._below(left, right, fpr, tpr) <= CLOSE:
            return self._on_edge(left, right, fpr, tpr)
        strict, lax = self._narrowest(fpr, tpr)
        corners = [strict, lax - 1, lax]
        matrix = np.array([self.fpr[corners], self.tpr[corners], np.ones(3)])
        return self._mixed(corners, np.linalg.solve(matrix, np.array([fpr, tpr, 1.0])))

    def _below(self, left: int, right: int, fpr: float, tpr: float) -> float:
        """How far a point is below the line through two vertices."""
        run, rise = self.fpr[right] - self.fpr[left], self.tpr[right] - self.tpr[left]
        across = rise * (fpr - self.fpr[left]) - run * (tpr - self.tpr[left])
        return float(across / np.hypot(run, rise))

    def _on_edge(self, left: int, right: int, fpr: float, tpr: float) -> Treatment:
        run, rise = self.fpr[right] - self.fpr[left], self.tpr[right] - self.tpr[left]
        chance = ((fpr - self.fpr[left]) * run + (tpr - self.tpr[left]) * rise) / (run * run + rise * rise)
        if self.turned[left] or self.turned[right] or self.curve.tally.reweighed:
            return self._mixed([left, right], np.array([1 - chance, chance]))
        return self._tightened(left, right, float(chance))

    def _tightened(self, left: int, right: int, chance: float) -> Treatment:
        """Use thresholds between two vertices that lie on the edge itself, so that fewer people draw lots."""
        mass, score = self.curve.tally.mass, self.curve.tally.score
        first, last = (int(np.searchsorted(-score, -self.threshold[at], side="right")) for at in (left, right))
        steps = np.cumsum(mass[:, first:last], axis=1, dtype=np.float64)
        true, false = steps[:, -1]
        on = np.flatnonzero(steps[0] * false == steps[1] * true)
        part = np.concatenate([[0.0], (steps[0, on] + steps[1, on]) / (true + false)])
        threshold = np.concatenate([[self.threshold[left]], score[first:last][on]])
        at = int(np.clip(np.searchsorted(part, chance), 1, len(part) - 1))
        lax = (chance - part[at - 1]) / (part[at] - part[at - 1])
        return lottery([Cut((float(threshold[place]),)) for place in (at - 1, at)], np.array([1 - lax, lax]))

    def _mixed(self, vertices: list[int], chances: Floats) -> Treatment:
        return lottery([self.cut(at) for at in vertices], chances)

    def _narrowest(self, fpr: float, tpr: float) -> tuple[int, int]:
        """Two vertices whose chord passes below a point, with the fewest people between them."""
        share, lax = self.flag_rate, len(self.fpr) - 1
        best, found = np.inf, (0, lax)
        for strict in range(int(np.searchsorted(self.fpr, fpr, side="right")) - 1, -1, -1):
            # The further left a chord begins, the further left it may end.
            lax = max(lax, strict + 1)
            while lax - 1 > strict and self.fpr[lax - 1] >= fpr and self._below(strict, lax - 1, fpr, tpr) <= 0:
                lax -= 1
            if self._below(strict, lax, fpr, tpr) <= 0 and share[lax] - share[strict] < best:
                best, found = share[lax] - share[strict], (strict, lax)
        return found


def region(curve: Curve, *, positive: float, negative: float, reversal: bool = False) -> Region:
    """What a group can have; with `reversal`, also by flagging what is below a threshold."""
    hull = curve.hull()
    threshold, false, true = hull.threshold, *roc(hull)
    turned = np.zeros(len(threshold), dtype=bool)
    if reversal:
        back = Curve(curve.tally.rescored(-curve.tally.score)).hull()
        # Flagged is what is at most −threshold, so what is below the next higher score.
        above = np.append(np.inf, curve.tally.score)[np.searchsorted(-curve.tally.score, back.threshold[1:])]
        threshold = np.concatenate([threshold, [-np.inf], above])
        false, true = (np.concatenate(pair) for pair in zip((false, true), roc(back), strict=True))
        turned = np.append(turned, np.ones(len(above) + 1, dtype=bool))
        kept = _hull(false, true)
        threshold, false, true, turned = threshold[kept], false[kept], true[kept], turned[kept]
    return Region(curve, threshold, turned, false, true, positive, negative)


def roc(curve: Curve) -> tuple[Floats, Floats]:
    """Return false and true positive rates; those of the other class for one that is not there."""
    true, false = curve.flagged_mass
    true, false = (each if each[-1] else other for each, other in ((true, false), (false, true)))
    return false / false[-1], true / true[-1]


def _hull(false: Floats, true: Floats) -> list[int]:
    """Places of the vertices of the upper hull, by a monotone chain; of equal points, the first given."""
    kept: list[int] = []
    for at in np.lexsort((np.arange(len(false)), true, false)).tolist():
        if kept and false[at] == false[kept[-1]] and true[at] == true[kept[-1]]:
            continue
        while len(kept) > 1 and not _turns_right(false, true, (kept[-2], kept[-1], at)):
            kept.pop()
        kept.append(at)
    return kept


def _turns_right(false: Floats, true: Floats, places: tuple[int, int, int]) -> bool:
    (x0, x1, x2), (y0, y1, y2) = false[[*places]], true[[*places]]
    one, other = (y1 - y0) * (x2 - x1), (y2 - y1) * (x1 - x0)
    return bool(one - other > 1e-14 * (abs(one) + abs(other)))


def lottery(cuts: list[Cut], chances: Floats) -> Treatment:
    """Return a lottery, or the one cut that is left when the others have no chance but rounding."""
    kept = [(cut, float(chance)) for cut, chance in zip(cuts, chances, strict=True) if chance > CLOSE]
    if len(kept) == 1:
        return kept[0][0]
    whole = sum(chance for _, chance in kept)
    return RandomizedCut(tuple(cut for cut, _ in kept), tuple(chance / whole for _, chance in kept))
