"""Sketch: the curve of a model thinned for the eye, with exact counts; no row of the data is in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats, read_only_copy
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._immutable import keep_read_only
from baserate._numeric.single_precision import separate_precisions
from baserate._policy import Policy
from baserate._results import json_ready
from baserate._tally import Tallies, Tally
from baserate.decide import apart, best_at, from_perfection, threshold_at, uneven
from baserate.infer import band
from baserate.measure import firsts, inner_edges, named_group, widened
from baserate.report._choice import is_of_labels
from baserate.report._plan import Plan

STEPS = 500
"""Into so many parts each class is divided, of everybody."""
GROUP_STEPS = 100
"""The same of a group; of many groups fewer, so that all have about as many as ten."""
_SHARED_STEPS = 1000
_FEWEST_STEPS = 20
_RARE = 0.05
"""Below this share of a class, and above what it leaves, levels are a constant ratio apart, which is as fine there."""
_FEW = 2 * STEPS
"""Distinct scores up to which none is left out."""
_BINS = 40
_TENTHS: list[float] = np.linspace(0, 1, 11).tolist()
"""Edges of the bins in which calibration errors are measured by default."""
_POINTS = 100
_DIGITS = 6
_LABELS = (1.0, 0.0)
_EXACT = 2.0**53
"""Up to here floats tell whole numbers apart."""
_CLASSES = ("positive", "negative")
_TABLES: dict[str, tuple[str, ...]] = {
    "scores": ("edges", "positive", "negative"),
    "reliability": (
        *("edges", "positive", "negative", "positive_sum", "negative_sum"),
        *("positive_squares", "negative_squares"),
    ),
    "band": ("fpr", "low", "high"),
}
Places = npt.NDArray[np.intp]
Table = Mapping[str, Floats]


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sketch:
    """What each of some thresholds gives, for everybody or each group of a model.

    Every threshold of the full curve has a stricter neighbour among those kept, or is one itself, such that true and
    false positive rates are less than 1/steps apart. Odds of both rates and of their complements differ by a factor
    of e^(20/steps) at most, so that PPV and NPV are within 5/steps of each other at any prevalence. `steps` are 500 for
    everybody, and fewer within each group. Vertices of the hulls of everybody and of all groups are kept, too,
    the points that rules choose among these rows, and the thresholds of the plan's policy. Counts are exact everywhere.
    Of up to 2·steps distinct scores none is left out.
    """

    name: str
    threshold: Floats
    """Kept scores, strictly decreasing, without the +inf at which nothing is flagged; of float32 scores, short decimals
    that flag the same."""
    groups: tuple[Mapping[str, object] | None, ...]
    """Attributes of each group; a single None where there are no groups."""
    mass: Floats
    """Mass from each threshold up to the one before, of shape (2, groups, thresholds), positives first."""
    squares: Floats | None
    """Sum of squared weights, likewise; None where rows have no weights."""
    kept: Mapping[str, int]
    """Steps for everybody and for a group, and how many distinct scores there are."""
    scores: Table
    """Masses in bins of equal width: `edges`, then `positive` and `negative` with a row for each group."""
    reliability: Table | None
    """Masses, sums of scores and of squared weights in tenths; None where scores cannot be probabilities."""
    band: Table | None
    """Where the ROC curve of everybody may run: at each `fpr` from `low` to `high`."""
    digest: str
    """SHA-256 of everybody."""
    group_digest: str | None
    """SHA-256 of the groups."""

    def __repr__(self) -> str:
        return f"Sketch({self.name}: {len(self.threshold)} thresholds of {self.kept['distinct']})"

    @property
    def bound(self) -> str:
        """How far what is seen may be from the full curve, in words."""
        if self.kept["distinct"] <= 2 * self.kept["steps"]:
            return "All thresholds are kept; counts are exact."
        steps, fewer = self.kept["steps"], self.kept["group_steps"]
        grouped = f" ({1 / fewer:.2g} and {5 / fewer:.2g} in a group)" if self.groups != (None,) else ""
        return (
            f"{len(self.threshold)} of {self.kept['distinct']} thresholds are kept, with exact counts; between two of "
            f"them rates move by less than {1 / steps:g}, and PPV and NPV by {5 / steps:g} at any prevalence{grouped}."
        )

    @property
    def form(self) -> dict[str, Any]:
        """All of it as JSON can hold it, whole numbers as such."""
        both = {"mass": self.mass, "squares": self.squares}
        tables: dict[str, Table | None] = {name: getattr(self, name) for name in _TABLES}
        return {
            "name": self.name,
            "groups": [json_ready(group) for group in self.groups],
            "threshold": _short(self.threshold),
            **{
                f"{which}_{what}": None if cells is None else _short(cells[at])
                for what, cells in both.items()
                for at, which in enumerate(_CLASSES)
            },
            "kept": dict(self.kept),
            **{name: table and {key: _short(each) for key, each in table.items()} for name, table in tables.items()},
            "digest": self.digest,
            "group_digest": self.group_digest,
        }

    @classmethod
    def of_form(cls, form: Mapping[str, Any]) -> Sketch:
        """Read what `form` told."""
        told: dict[str, Any] = {name: form[name] for name in ("name", "kept", "digest", "group_digest")}
        tables: dict[str, Any] = {
            name: form[name] and {key: _array(form[name][key]) for key in keys} for name, keys in _TABLES.items()
        }
        mass, squares = ([form[f"{which}_{what}"] for which in _CLASSES] for what in ("mass", "squares"))
        return cls(
            threshold=_array(form["threshold"]),
            groups=tuple(form["groups"]),
            mass=_array(mass),
            squares=None if squares[0] is None else _array(squares),
            **told,
            **tables,
        )


def sketched(tallies: Tallies, plan: Plan, policies: Mapping[str, Policy]) -> tuple[Sketch, ...]:
    """Sketch every model, as the rows are.

    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> sketch = sketched(t, Plan(truth="sick", score="risk"), {})[0]
    >>> sketch.threshold.tolist(), sketch.mass[0].tolist()
    ([0.9, 0.6, 0.4, 0.1], [[1.0, 0.0, 1.0, 0.0]])
    """
    return tuple(_sketch(tallies, model, plan.level, policies.get(model)) for model in tallies.models)


def _sketch(tallies: Tallies, model: str, level: float, policy: Policy | None) -> Sketch:
    groups, pooled = tallies.models[model], tallies.pooled(model)
    parts, labels = list(groups.values()), is_of_labels(tallies, model)
    steps = max(_FEWEST_STEPS, min(GROUP_STEPS, _SHARED_STEPS // len(parts)))
    grouped = bool(tallies.attributes)
    threshold = np.array(_LABELS) if labels else _kept(pooled, parts if grouped else [], steps, policy)
    mass = _increments(parts, "mass", threshold)
    squares = _increments(parts, "squares", threshold) if pooled.weighted else None
    return Sketch(
        name=model,
        threshold=read_only_copy(threshold),
        groups=tuple(named_group(tallies, group) for group in groups) if grouped else (None,),
        mass=read_only_copy(mass),
        squares=None if squares is None else read_only_copy(squares),
        kept={"steps": STEPS, "group_steps": steps, "distinct": len(pooled.score)},
        scores=_histogram(pooled, parts),
        reliability=None if labels or not pooled.probable else _reliability(parts),
        band=None if labels else _band(threshold, mass, squares, level),
        digest=pooled.digest,
        group_digest=Tallies({model: groups}, tallies.attributes).digest if grouped else None,
    )


def _kept(pooled: Tally, groups: Sequence[Tally], steps: int, policy: Policy | None) -> Floats:
    """Thresholds that are kept, strictest first; all of them where there are few."""
    if len(pooled.score) <= _FEW:
        seen = [pooled.score]
    else:
        seen = [*_observed(pooled, STEPS), *_ruled(Curve(pooled))]
        for group in groups:
            seen += _observed(group, steps)
    # What the page exports must separate float32 scores as the policies of Python do.
    scores = separate_precisions(np.concatenate(seen), pooled.score)
    found = np.concatenate([scores, np.array([*_cuts(policy)])])
    return np.unique(found[np.isfinite(found)] + 0.0)[::-1]  # −0.0 becomes 0.0


def _observed(tally: Tally, steps: int) -> Iterator[Floats]:
    """First scores at which levels of each class are reached, and the vertices of the hull."""
    curve = Curve(tally)
    for running in curve.flagged_mass:
        if running[-1] > 0:
            reached = np.unique(np.searchsorted(running, _levels(running, steps)))
            yield tally.score[reached[reached > 0] - 1]
    yield curve.hull().tally.score


def _levels(running: Floats, steps: int) -> Floats:
    """Masses of a class that are told apart: evenly spread, and near both ends a constant ratio apart."""
    total = running[-1]
    first = running[np.searchsorted(running, 0.0, side="right")]
    last = total - running[np.searchsorted(running, total) - 1]
    even = total * (np.arange(1, steps + 1) / steps)
    return np.concatenate([even, _rising(first, total, steps), total - _rising(last, total, steps)])


def _rising(least: float, total: float, steps: int) -> Floats:
    """Masses from the least that there is up to the first from which on even steps are as fine."""
    most, ratio = _RARE * total, 1 / (_RARE * steps)
    many = ceil((log(most) - log(least)) / ratio) if least < most else 0
    found: Floats = least * np.exp(ratio * np.arange(many + 1))
    return found


def _ruled(curve: Curve) -> Iterator[Floats]:
    """Where rules that need not be told costs would cut; Youden's point is a vertex of the hull anyway."""
    for objective in (from_perfection, apart, uneven):
        place = best_at(curve, objective, toward="low")
        if place is not None:
            yield np.array([threshold_at(curve, place)])


def _cuts(policy: Policy | None) -> Iterator[float]:
    """Thresholds of a policy, in any group and any lot."""
    for treatment in policy.by_group.values() if policy else ():
        for cut in [treatment] if isinstance(treatment, Cut) else treatment.cuts:
            yield from cut.thresholds


def _increments(parts: Sequence[Tally], what: str, threshold: Floats) -> Floats:
    """Sums from each threshold up to the one before, of shape (2, parts, thresholds)."""

    def of(part: Tally) -> Floats:
        places = len(part.score) - np.searchsorted(part.score[::-1], threshold)
        return _sums(getattr(part, what), np.concatenate([[0], places]))

    return np.stack([of(part) for part in parts], axis=1)


def _sums(cells: Cells, edges: Places) -> Floats:
    """Sums of columns from each edge to the next. NumPy adds narrow whole numbers in 64 bits: none wraps around."""
    there = np.diff(edges) > 0
    found = np.zeros((len(cells), len(there)))
    if there.any():
        found[:, there] = np.add.reduceat(cells[:, : edges[-1]], edges[:-1][there], axis=1)
    return found


def _histogram(pooled: Tally, parts: Sequence[Tally]) -> Table:
    """Masses in bins of equal width; a score at an edge belongs to the bin above it, as with thresholds."""
    score = pooled.score
    low, high = widened(*((0.0, 1.0) if pooled.probable else (float(score[-1]), float(score[0]))))
    edges = np.unique([low, *inner_edges(low, high, _BINS), high])

    def of(part: Tally) -> Floats:
        inner = np.searchsorted(part.score[::-1], edges[1:-1])
        return _sums(part.mass[:, ::-1], np.array([0, *inner, len(part.score)]))

    masses = np.stack([of(part) for part in parts], axis=1)
    return {"edges": edges, **dict(zip(_CLASSES, masses, strict=True))}


def _reliability(parts: Sequence[Tally]) -> Table:
    """Masses in tenths of probability, the sums of these probabilities, and those of squared weights."""

    def of(part: Tally) -> Floats:
        score, mass, squares = part.score[::-1], part.mass[:, ::-1], part.squares[:, ::-1]
        edges = np.append(firsts(score, mass, bins=_TENTHS), len(score))
        return np.concatenate([_sums(each, edges) for each in (mass, mass * score, squares)])

    found = np.stack([of(part) for part in parts], axis=1)
    return dict(zip(_TABLES["reliability"], [np.array(_TENTHS), *found], strict=True))


def _band(threshold: Floats, mass: Floats, squares: Floats | None, level: float) -> Table | None:
    """Pointwise band of the ROC curve of everybody through the thresholds that are kept."""
    if not mass.sum(axis=(1, 2)).all():
        return None
    everybody = mass.sum(axis=1)
    if squares is None:
        thin = Tally.counted(threshold, everybody)
    else:
        rows = np.ones(everybody.shape, dtype=np.uint8)  # of which a band asks nothing
        thin = Tally(threshold, everybody, squares.sum(axis=1), rows)
    found = band(thin, "roc", level=level, points=_POINTS).columns
    return {name: np.round(found[name], _DIGITS) for name in _TABLES["band"]}


def _array(values: Any) -> Floats:  # noqa: ANN401  (lists of numbers, as deep as they are)
    return read_only_copy(np.array(values, dtype=np.float64))


def _short(values: Floats) -> list[Any]:
    """Numbers as lists, whole ones without a point."""
    if values.ndim > 1:
        return [_short(each) for each in values]
    if len(values) and ((values == np.trunc(values)) & (np.abs(values) < _EXACT)).all():
        return list(values.astype(np.int64).tolist())
    return [int(each) if each.is_integer() and abs(each) < _EXACT else each for each in values.tolist()]
