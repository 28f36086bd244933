"""Performance without labels, of several classes: what probabilities promise of decisions for the highest score."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats, sealed
from baserate._class_rows import ClassRows
from baserate._confusion import Confusion
from baserate._confusions import Confusions
from baserate._errors import BadOption
from baserate._numeric.codes import Codes
from baserate._results import Results
from baserate._target import ClassTarget
from baserate.infer._binomial import two_sided
from baserate.infer._moments import widening
from baserate.measure import MEASURES, Measure, about, multiclass
from baserate.measure.multiclass._scored import check_class_probabilities
from baserate.shift._assumed import ALONE, HOW, TOLD, refuse_idle
from baserate.shift._scale import Sure, around
from baserate.shift._several._corrected import values
from baserate.shift._several._mlls import Fit, calibrated, mlls, prepared, turned
from baserate.shift._several._pair import Pair
from baserate.shift._several._result import Shares
from baserate.shift._slopes import differences

_AT_ONCE = 256
"""Tables that are measured together."""


class Promise(NamedTuple):
    """Probabilities of the target's rows, what is decided of each, and how validation and target move them."""

    probability: Floats
    decided: Codes
    mass: Floats
    squares: Floats
    x: Floats | None = None
    """What weights multiply, a row for each row; None where nothing was fitted."""
    spread: Floats | None = None
    """Covariance, from validation, of weights and of levels of log-probabilities."""
    own: Floats | None = None
    """How much each row moves those levels, through the shares that are estimated from it."""
    rest: Floats | None = None
    """Covariance of levels that comes from rows of the target whose truth is known."""


def performance(
    target: ClassTarget,
    validation: Any,  # noqa: ANN401  (checked here)
    assume: str,
    measures: Iterable[str | Measure] | str,
    options: dict[str, Any],
) -> Results:
    """Measure what happens in a target of several classes without truth, as far as probabilities tell."""
    averages, level = options.pop("averages", None), options.pop("level")
    if validation is not None and not isinstance(validation, ClassRows):
        raise BadOption(f"{type(validation).__name__} has no score for each class; give ClassRows for a ClassTarget.")
    found = None
    if assume == "label shift":
        if validation is None:
            raise BadOption("under label shift the shares must be estimated first; give a validation set.")
        found = mlls(target, validation, level=level, **options)
    if validation is None:
        refuse_idle(options)
    promise = _bare(target) if validation is None else _promised(target, validation, found, options)
    table = _expected(promise, target.labels if validation is None else validation.labels)
    plain = multiclass.summary(Confusions({(): table}), measures=measures, averages=averages)
    wide = 1.0 if validation is None else widening(float(validation.support.min()) - 1, level)
    judge = _Judge(promise, _Sums(promise), table, averages, wide, level)
    rows = [row | judge(row) for row in plain.rows()]
    notes = [TOLD[assume], *target.intake.notes, *plain.data["notes"], *(() if found is None else found.notes)]
    data = {
        "rows": len(target),
        "assume": assume,
        "classes": list(table.labels),
        "prevalences": plain.data["prevalences"],
        "validation": None if validation is None else len(validation),
        "notes": notes,
    }
    return Results({name: [row.get(name) for row in rows] for name in plain.columns}, data)


def _bare(target: ClassTarget) -> Promise:
    """Probabilities as they are."""
    rows = ClassRows(np.zeros(len(target.score), dtype=np.uint8), target.score, target.labels)
    check_class_probabilities(rows, "give a validation set to recalibrate them on.")
    p = np.asarray(target.score, dtype=np.float64)
    weight = np.ones(len(p)) if target.weight is None else target.weight
    times = np.ones(len(p)) if target.count is None else target.count
    return Promise(p / p.sum(axis=1, keepdims=True), rows.decision(), weight * times, weight * weight * times)


def _promised(target: ClassTarget, validation: ClassRows, found: Shares | None, options: dict[str, Any]) -> Promise:
    """Probabilities that are right in validation, or at the shares that were found."""
    pair = Pair.of(target, validation)
    fit = prepared(pair, **options)
    shares = fit.at if found is None else found.value
    p = (fit.across * shares[:, None]).T
    p /= p.sum(axis=1, keepdims=True)
    mass = np.ones(len(p)) if pair.target.amount is None else pair.target.amount
    squares = mass if pair.target.squares is None else pair.target.squares
    plain = Promise(p, pair.target.as_rows().decision(), mass, squares)
    x = None if fit.x is None else fit.x.T
    own, rest = (None, None) if found is None else _by_target(pair, fit, shares)
    return plain._replace(x=x, spread=_by_validation(pair, fit, found), own=own, rest=rest)


def _by_validation(pair: Pair, fit: Fit, found: Shares | None) -> Floats | None:
    """Covariance of weights and levels, summed over what each validation row does to them."""
    if fit.line is None:
        return None
    width = len(pair.labels)
    # Where probabilities are not carried to other shares, those of validation do not divide them.
    moved = calibrated(pair, fit, shares=found is not None)
    if found is not None:
        own = found.moved if pair.kept is None else found.moved[pair.kept]
        moved[:, width:] += own * _over(found.value)
    return pair.validation.squared(moved)


def _by_target(pair: Pair, fit: Fit, q: Floats) -> tuple[Floats, Floats]:
    """How much each row of the target moves the levels through the shares; and what known rows add."""
    inner, known = turned(pair, fit, q), pair.seen > 0
    seen = (inner[known] / q[known, None]) * _over(q)
    return (fit.across / (q @ fit.across)).T @ inner * _over(q), seen.T @ (seen * pair.seen_squares[known, None])


def _over(q: Floats) -> Floats:
    """One over the shares; nothing of a class that is not there."""
    return np.where(q > 0, 1 / np.where(q > 0, q, 1.0), 0.0)


def _expected(promise: Promise, labels: tuple[object, ...]) -> Confusion:
    """Table of what is promised: rows are the classes, columns what is decided."""
    cells = np.zeros((len(labels), len(labels)))
    np.add.at(cells.T, promise.decided, promise.probability * promise.mass[:, None])
    return Confusion(sealed(cells), labels)


class _Sums:
    """Sums over the rows that are decided alike, from which the variance of any measure follows."""

    def __init__(self, promise: Promise) -> None:
        width = promise.probability.shape[1]
        parts = [np.flatnonzero(promise.decided == at) for at in range(width)]
        p = [promise.probability[part] for part in parts]
        mass, squares = ([each[part][:, None] for part in parts] for each in (promise.mass, promise.squares))
        self.level = np.stack([(a * w).sum(axis=0) for a, w in zip(p, mass, strict=True)])
        self.pairs = np.stack([(a * w).T @ a for a, w in zip(p, mass, strict=True)])
        self.noise = np.stack([(a * w).T @ a for a, w in zip(p, squares, strict=True)])
        self.x = self.x_pairs = self.shared = self.own = None
        if promise.x is not None:
            x = [promise.x[part] for part in parts]
            self.x = np.stack([(a * b * w).sum(axis=0) for a, b, w in zip(p, x, mass, strict=True)])
            self.x_pairs = np.stack([(a * b * w).T @ a for a, b, w in zip(p, x, mass, strict=True)])
        if promise.own is not None and promise.rest is not None:
            own = [promise.own[part] for part in parts]
            self.shared = np.stack([(a * w).T @ b for a, b, w in zip(p, own, squares, strict=True)])
            self.own = sum((b * w).T @ b for b, w in zip(own, squares, strict=True)) + promise.rest

    def variances(self, slopes: Floats, spread: Floats | None) -> tuple[float, float]:
        """Variance of what has these slopes in the cells: from the target, and from validation."""
        level = np.einsum("dl,ld->l", self.level, slopes) - np.einsum("dlk,kd->l", self.pairs, slopes)
        target = float(np.einsum("ld,dlk,kd->", slopes, self.noise, slopes))
        if self.shared is not None and self.own is not None:
            target += 2 * float(np.einsum("ld,dlm,m->", slopes, self.shared, level)) + float(level @ self.own @ level)
        if spread is None or self.x is None or self.x_pairs is None:
            return target, 0.0
        weight = np.einsum("dl,ld->l", self.x, slopes) - np.einsum("dlk,kd->l", self.x_pairs, slopes)
        both = np.concatenate([weight, level])
        return target, float(both @ spread @ both)


class _Judge(NamedTuple):
    """Gives a tidy row its interval."""

    promise: Promise
    sums: _Sums
    table: Confusion
    averages: object
    wide: float
    level: float

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        name, value = row["measure"], row["value"]
        if name not in (MEASURES.keys() | multiclass.MEASURES.keys()) or value is None:
            return {}
        slopes = self._slopes(row)
        how = ALONE if self.promise.spread is None and self.promise.own is None else HOW
        how = "; ".join(filter(None, (row["how"], how)))
        if slopes is None:
            return {"level": self.level, "how": how, "why": "how much each row moves it has no closed form"}
        target, validation = self.sums.variances(slopes, self.promise.spread)
        own = multiclass.MEASURES if row["class"] is None and row["average"] is None else MEASURES
        variance, z = max(target + validation, 0.0), two_sided(self.level)
        reach = z * ((target + validation * self.wide**2) / variance) ** 0.5 if variance > 0 else z
        rows = float(self.promise.mass.sum() ** 2 / self.promise.squares.sum())
        low, high = around(value, Sure(variance, reach, rows, self.level), about(own[name]).span)
        return {"low": min(low, value), "high": max(high, value), "level": self.level, "how": how}

    def _slopes(self, row: dict[str, Any]) -> Floats | None:
        """Change with each cell; None where it has a corner, or no value."""
        shape, labels = self.table.mass.shape, self.table.labels

        def measured(tables: Floats) -> Floats:
            parts = range(0, len(tables), _AT_ONCE)
            stacks = (tables[start : start + _AT_ONCE].reshape(-1, *shape) for start in parts)
            return np.concatenate([values(row, Confusion(sealed(each), labels), self.averages) for each in stacks])

        found = differences(measured, self.table.mass.ravel())
        return None if found is None else found.reshape(shape)
