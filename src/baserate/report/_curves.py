"""Thinned curves of models for the page: exact counts at selected thresholds, without any row of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats, keep_read_only, read_only_copy
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._numeric.distinct import separate_precisions
from baserate._policy import Policy
from baserate._results import json_ready
from baserate._rows import MulticlassRows
from baserate._tally import Tallies, Tally
from baserate.decide import (
    best_index,
    precision_recall_gap,
    sensitivity_specificity_gap,
    squared_corner_distance,
    threshold_at,
)
from baserate.infer import confidence_band
from baserate.measure import bin_starts, group_attributes, inner_edges, widen_range
from baserate.report._plan import Plan

STEPS = 500
"""Steps into which each class is divided, for everybody."""
GROUP_STEPS = 100
"""Steps within a group; with more than ten groups fewer, so that the page does not grow with their number."""
_SHARED_STEPS = 1000
_FEWEST_STEPS = 20
_TAIL = 0.05
"""Share of a class, at either end, within which levels are a constant ratio apart instead of a constant distance."""
_FULL_SIZE = 2 * STEPS
"""Number of distinct scores up to which all are kept."""
_BINS = 40
_DECILES: list[float] = np.linspace(0, 1, 11).tolist()
"""Default bins of calibration errors."""
_POINTS = 100
_DIGITS = 6
_LABEL_SCORES = (1.0, 0.0)
_LARGEST_EXACT = 2.0**53
"""Floats represent every whole number up to this one."""
_CLASSES = ("positive", "negative")
_TABLE_COLUMNS: dict[str, tuple[str, ...]] = {
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
class ThinnedCurve:
    """Counts at selected thresholds, for everybody or each group of a model.

    Every threshold of the full curve has a stricter neighbor among those kept, or is one itself, such that true and
    false positive rates are less than 1/steps apart. Odds of both rates and of their complements differ by a factor of
    e^(20/steps) at most, so that PPV and NPV are within 5/steps of each other at any prevalence. `steps` are 500 for
    everybody, and fewer within each group. The curve also has the vertices of all convex hulls, the thresholds that
    rules choose, and those of the plan's policy. Counts are exact everywhere. Up to 2·steps distinct scores are all
    kept.
    """

    name: str
    threshold: Floats
    """Kept scores, strictly decreasing, without +inf; float32 scores become short decimals that flag the same rows."""
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
    """Confidence band of the ROC curve of everybody: `low` and `high` at each `fpr`."""
    digest: str
    """SHA-256 of everybody."""
    group_digest: str | None
    """SHA-256 of the groups."""

    def __repr__(self) -> str:
        return f"ThinnedCurve({self.name}: {len(self.threshold)} thresholds of {self.kept['distinct']})"

    @property
    def bound(self) -> str:
        """Sentence on how far the thinned curve may be from the full one."""
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
        """The curve as plain JSON values, with whole numbers as integers."""
        both = {"mass": self.mass, "squares": self.squares}
        tables: dict[str, Table | None] = {name: getattr(self, name) for name in _TABLE_COLUMNS}
        return {
            "name": self.name,
            "groups": [json_ready(group) for group in self.groups],
            "threshold": _compact_numbers(self.threshold),
            **{
                f"{which}_{what}": None if cells is None else _compact_numbers(cells[at])
                for what, cells in both.items()
                for at, which in enumerate(_CLASSES)
            },
            "kept": dict(self.kept),
            **{
                name: table and {key: _compact_numbers(each) for key, each in table.items()}
                for name, table in tables.items()
            },
            "digest": self.digest,
            "group_digest": self.group_digest,
        }

    @classmethod
    def of_form(cls, form: Mapping[str, Any]) -> ThinnedCurve:
        """Return the curve that `form` wrote."""
        fields: dict[str, Any] = {name: form[name] for name in ("name", "kept", "digest", "group_digest")}
        tables: dict[str, Any] = {
            name: form[name] and {key: _read_only_array(form[name][key]) for key in keys}
            for name, keys in _TABLE_COLUMNS.items()
        }
        mass, squares = ([form[f"{which}_{what}"] for which in _CLASSES] for what in ("mass", "squares"))
        return cls(
            threshold=_read_only_array(form["threshold"]),
            groups=tuple(form["groups"]),
            mass=_read_only_array(mass),
            squares=None if squares[0] is None else _read_only_array(squares),
            **fields,
            **tables,
        )


def thin_curves(tallies: Tallies, plan: Plan, policies: Mapping[str, Policy]) -> tuple[ThinnedCurve, ...]:
    """Return the thinned curve of every model, in the sample.

    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> curve = thin_curves(t, Plan(truth="sick", score="risk"), {})[0]
    >>> curve.threshold.tolist(), curve.mass[0].tolist()
    ([0.9, 0.6, 0.4, 0.1], [[1.0, 0.0, 1.0, 0.0]])
    """
    return tuple(_thin_curve(tallies, model, plan.level, policies.get(model)) for model in tallies.models)


CLASS_STEPS = 200
"""Steps into which a class and the rest are divided; with more than three classes fewer."""
_SHARED_CLASS_STEPS = 600
_FEWEST_CLASS_STEPS = 30


def thin_class_curves(rows: MulticlassRows) -> tuple[ThinnedCurve, ...]:
    """Return the thinned curve of each class against the rest; the name of a curve is that of its class.

    >>> from baserate import class_scores
    >>> rows = class_scores(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])
    >>> thin_class_curves(rows)[0]
    ThinnedCurve(a: 3 thresholds of 3)
    """
    steps = max(_FEWEST_CLASS_STEPS, min(CLASS_STEPS, _SHARED_CLASS_STEPS // len(rows.labels)))
    return tuple(
        _thin_class(str(label), tally, steps) for label, tally in zip(rows.labels, rows.one_vs_rest(), strict=True)
    )


def _thin_class(name: str, tally: Tally, steps: int) -> ThinnedCurve:
    """Return the thinned curve of one class against the rest."""
    parts = [tally.score] if len(tally.score) <= 2 * steps else list(_level_scores(tally, steps))
    threshold = np.unique(separate_precisions(np.concatenate(parts), tally.score) + 0.0)[::-1]
    return ThinnedCurve(
        name=name,
        threshold=read_only_copy(threshold),
        groups=(None,),
        mass=read_only_copy(_increments([tally], "mass", threshold)),
        squares=read_only_copy(_increments([tally], "squares", threshold)) if tally.weighted else None,
        kept={"steps": steps, "group_steps": steps, "distinct": len(tally.score)},
        scores=_histogram(tally, [tally]),
        reliability=None,
        band=None,
        digest=tally.digest,
        group_digest=None,
    )


def has_labels_only(tallies: Tallies, model: str) -> bool:
    """Return whether a model has predicted labels instead of scores."""
    return model == tallies.intake.columns.get("predicted")


def _thin_curve(tallies: Tallies, model: str, level: float, policy: Policy | None) -> ThinnedCurve:
    """Return the thinned curve of one model."""
    groups, pooled = tallies.models[model], tallies.pooled(model)
    parts, labels = list(groups.values()), has_labels_only(tallies, model)
    steps = max(_FEWEST_STEPS, min(GROUP_STEPS, _SHARED_STEPS // len(parts)))
    grouped = bool(tallies.attributes)
    # Scores of labels are 1 and 0: both are thresholds.
    threshold = (
        np.array(_LABEL_SCORES) if labels else _select_thresholds(pooled, parts if grouped else [], steps, policy)
    )
    mass = _increments(parts, "mass", threshold)
    squares = _increments(parts, "squares", threshold) if pooled.weighted else None
    return ThinnedCurve(
        name=model,
        threshold=read_only_copy(threshold),
        groups=tuple(group_attributes(tallies, group) for group in groups) if grouped else (None,),
        mass=read_only_copy(mass),
        squares=None if squares is None else read_only_copy(squares),
        kept={"steps": STEPS, "group_steps": steps, "distinct": len(pooled.score)},
        scores=_histogram(pooled, parts),
        reliability=None if labels or not pooled.probable else _reliability_bins(parts),
        band=None if labels else _roc_band(threshold, mass, squares, level),
        digest=pooled.digest,
        group_digest=Tallies({model: groups}, tallies.attributes).digest if grouped else None,
    )


def _select_thresholds(pooled: Tally, groups: Sequence[Tally], steps: int, policy: Policy | None) -> Floats:
    """Return the thresholds to keep, strictest first; all of them if there are few."""
    if len(pooled.score) <= _FULL_SIZE:
        parts = [pooled.score]
    else:
        parts = [*_level_scores(pooled, STEPS), *_rule_thresholds(Curve(pooled))]
        for group in groups:
            parts += _level_scores(group, steps)
    # A float32 score such as 0.1 is 0.100000001…; the page must export a threshold that separates the same rows as the
    # policies of Python do.
    scores = separate_precisions(np.concatenate(parts), pooled.score)
    thresholds = np.concatenate([scores, np.array([*_policy_thresholds(policy)])])
    return np.unique(thresholds[np.isfinite(thresholds)] + 0.0)[::-1]  # −0.0 becomes 0.0


def _level_scores(tally: Tally, steps: int) -> Iterator[Floats]:
    """Yield the first scores at which each class reaches its levels, and the vertices of the convex hull."""
    curve = Curve(tally)
    for running in curve.flagged_mass:
        if running[-1] > 0:
            reached = np.unique(np.searchsorted(running, _levels(running, steps)))
            yield tally.score[reached[reached > 0] - 1]
    yield curve.hull().tally.score


def _levels(running: Floats, steps: int) -> Floats:
    """Return levels of the mass of a class: evenly spaced, and near both ends a constant ratio apart."""
    # PPV at a low prevalence depends on the odds of small rates, for which even steps are too coarse.
    total = running[-1]
    first = running[np.searchsorted(running, 0.0, side="right")]
    last = total - running[np.searchsorted(running, total) - 1]
    even = total * (np.arange(1, steps + 1) / steps)
    return np.concatenate([even, _geometric_levels(first, total, steps), total - _geometric_levels(last, total, steps)])


def _geometric_levels(least: float, total: float, steps: int) -> Floats:
    """Return masses a constant ratio apart, from the smallest up to where even steps are as fine."""
    most, ratio = _TAIL * total, 1 / (_TAIL * steps)
    many = ceil((log(most) - log(least)) / ratio) if least < most else 0
    levels: Floats = least * np.exp(ratio * np.arange(many + 1))
    return levels


def _rule_thresholds(curve: Curve) -> Iterator[Floats]:
    """Yield the thresholds of rules without costs; Youden's is a vertex of the hull anyway."""
    for objective in (squared_corner_distance, sensitivity_specificity_gap, precision_recall_gap):
        place = best_index(curve, objective, toward="low")
        if place is not None:
            yield np.array([threshold_at(curve, place)])


def _policy_thresholds(policy: Policy | None) -> Iterator[float]:
    """Yield all thresholds of a policy, of any group and of randomized parts."""
    for treatment in policy.by_group.values() if policy else ():
        for cut in [treatment] if isinstance(treatment, Cut) else treatment.cuts:
            yield from cut.thresholds


def _increments(parts: Sequence[Tally], what: str, threshold: Floats) -> Floats:
    """Return sums from each threshold up to the next stricter one, of shape (2, parts, thresholds)."""

    def of(part: Tally) -> Floats:
        places = len(part.score) - np.searchsorted(part.score[::-1], threshold)
        return _sum_between(getattr(part, what), np.concatenate([[0], places]))

    return np.stack([of(part) for part in parts], axis=1)


def _sum_between(cells: Cells, edges: Places) -> Floats:
    """Return sums of columns from each edge to the next."""
    # NumPy accumulates narrow integers in 64 bits, so that counts do not wrap around. `reduceat` returns an element,
    # not 0, where two edges are equal: empty ranges stay at 0.
    nonempty = np.diff(edges) > 0
    sums = np.zeros((len(cells), len(nonempty)))
    if nonempty.any():
        sums[:, nonempty] = np.add.reduceat(cells[:, : edges[-1]], edges[:-1][nonempty], axis=1)
    return sums


def _histogram(pooled: Tally, parts: Sequence[Tally]) -> Table:
    """Return masses in bins of equal width; a score at an edge belongs to the bin above, as with thresholds."""
    score = pooled.score
    low, high = widen_range(*((0.0, 1.0) if pooled.probable else (float(score[-1]), float(score[0]))))
    edges = np.unique([low, *inner_edges(low, high, _BINS), high])

    def of(part: Tally) -> Floats:
        inner = np.searchsorted(part.score[::-1], edges[1:-1])
        return _sum_between(part.mass[:, ::-1], np.array([0, *inner, len(part.score)]))

    masses = np.stack([of(part) for part in parts], axis=1)
    return {"edges": edges, **dict(zip(_CLASSES, masses, strict=True))}


def _reliability_bins(parts: Sequence[Tally]) -> Table:
    """Return masses, sums of probabilities and sums of squared weights in ten bins of probability."""

    def of(part: Tally) -> Floats:
        score, mass, squares = part.score[::-1], part.mass[:, ::-1], part.squares[:, ::-1]
        edges = np.append(bin_starts(score, mass, bins=_DECILES), len(score))
        products = [_sum_between((row * score)[None], edges) for row in mass]  # one class at a time needs less memory
        return np.concatenate([_sum_between(mass, edges), *products, _sum_between(squares, edges)])

    masses = np.stack([of(part) for part in parts], axis=1)
    return dict(zip(_TABLE_COLUMNS["reliability"], [np.array(_DECILES), *masses], strict=True))


def _roc_band(threshold: Floats, mass: Floats, squares: Floats | None, level: float) -> Table | None:
    """Return the pointwise confidence band of the overall ROC curve through the kept thresholds."""
    if not mass.sum(axis=(1, 2)).all():
        return None
    everybody = mass.sum(axis=1)
    if squares is None:
        thin = Tally.from_counts(threshold, everybody)
    else:
        rows = np.ones(everybody.shape, dtype=np.uint8)  # a band does not use the number of rows
        thin = Tally(threshold, everybody, squares.sum(axis=1), rows)
    curve = confidence_band(thin, "roc", level=level, points=_POINTS).columns
    # Rounded: more digits than a chart can show would be a large part of the page.
    return {name: np.round(curve[name], _DIGITS) for name in _TABLE_COLUMNS["band"]}


def _read_only_array(values: Any) -> Floats:  # noqa: ANN401  (lists of numbers, as deep as they are)
    """Return nested lists of numbers as a read-only array."""
    return read_only_copy(np.array(values, dtype=np.float64))


def _compact_numbers(values: Floats) -> list[Any]:
    """Return numbers as nested lists, whole ones as integers, which are shorter in JSON."""
    if values.ndim > 1:
        return [_compact_numbers(each) for each in values]
    if len(values) and ((values == np.trunc(values)) & (np.abs(values) < _LARGEST_EXACT)).all():
        return list(values.astype(np.int64).tolist())
    return [int(each) if each.is_integer() and abs(each) < _LARGEST_EXACT else each for each in values.tolist()]
