"""Performance without labels of several classes: the expected confusion matrix of decisions for the highest score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, make_read_only
from baserate._confusion import Confusion, Confusions
from baserate._domains import unused_option
from baserate._errors import FitError, OptionError, advice
from baserate._numeric.distinct import Codes
from baserate._results import Results
from baserate._rows import MulticlassRows, MulticlassTarget
from baserate.infer import normal_quantile, t_widening
from baserate.measure import MEASURES, Measure, describe, multiclass
from baserate.measure.multiclass import check_class_probabilities
from baserate.shift._adjusted_measures import (
    LEAST_SHARE,
    Precision,
    bound_value,
    central_differences,
    remove_class,
    row_limits,
    row_values,
)
from baserate.shift._data import MulticlassData, MulticlassPrevalence, Sample
from baserate.shift._moment_matching import precision_weight
from baserate.shift._multiclass_likelihood import GmmFit, LikelihoodRatios, estimate_gmm, fit_likelihood_ratios

Assume = Literal["label shift", "covariate shift", "label-shift", "covariate-shift"]
"""What changed between validation and target; a hyphen may take the place of the space, as in the shell."""

BINARY_ASSUMPTIONS: dict[str, str] = {
    "label shift": (
        "Assumed: label shift. The scores of each class are distributed as in validation, and only the prevalence has "
        "changed, to the estimated one."
    ),
    "covariate shift": (
        "Assumed: covariate shift. The probability of the positive class at each score is that of the validation data, "
        "and only the distribution of scores has changed; posteriors were not adjusted to another prevalence."
    ),
}
INFLUENCE_METHOD = "influence functions of target and validation"
UNCHECKED_PROBABILITIES = (
    "Probabilities were taken as calibrated: there are no validation data to test or recalibrate them on, and "
    "intervals do not include their miscalibration."
)
TARGET_ONLY_METHOD = "influence functions of the target, probabilities taken as calibrated"


def reject_options(options: Mapping[str, Any]) -> None:
    """Raise if options of the validation data are given without validation data."""
    if options:
        name, value = next(iter(options.items()))
        raise unused_option(name, value, "there are no validation data")


class ExpectedTable(NamedTuple):
    """An expected confusion matrix: rows are the true classes, columns the decisions."""

    cells: Floats
    variances: Callable[[Floats], tuple[float, float]]
    """Variances of a number with these slopes in the cells, from the target and from validation."""
    notes: tuple[str, ...] = ()
    absent: tuple[int, ...] = ()
    """Classes whose share has an interval that contains 0."""


def sum_by_decision(columns: Floats, decisions: Codes, mass: Floats, width: int) -> Floats:
    """Sum columns, such as probabilities of the classes, by decision.

    >>> sum_by_decision(np.array([[0.75, 0.25], [0.5, 0.5]]), np.array([0, 1]), np.ones(2), 2).tolist()
    [[0.75, 0.5], [0.25, 0.5]]
    """
    return np.stack([np.bincount(decisions, weights=each * mass, minlength=width) for each in columns.T])


def products_by_decision(rows: Floats, decisions: Codes, squares: Floats, width: int) -> Floats:
    """Sum products of the columns of rows by decision, of shape (K, D, D)."""
    parts = (np.flatnonzero(decisions == at) for at in range(width))
    return np.stack([(rows[part] * squares[part, None]).T @ rows[part] for part in parts])


def quadratic_form(slopes: Floats, sums: Floats) -> float:
    """Compute the variance of a sum whose terms, for decision d, are features times the column d of the slopes."""
    return float(np.einsum("ld,dlk,kd->", slopes, sums, slopes))


_MAX_RATIO = 2.0
"""Largest ratio between the share of a class and the sum of its cells; beyond it, cells are not augmented."""


def label_shift_table(data: MulticlassData, shares: MulticlassPrevalence, fit: GmmFit) -> ExpectedTable:
    r"""Expect class l with the share :math:`q_l`, and decisions at the rates of its validation rows.

    The weight :math:`v_l=q_l^2a_lφ_ln/n_l` of validation at a score is that of `gmm`. Its mean in the target less that
    in validation at the shares q estimates 0, and is added: :math:`T_{ld}=q_lR_{ld}+\bar v_{ld}-\sum_kq_k \bar
    v_{kld}`, scaled to add up to :math:`q_l`. Rates without it are right, too, and less precise. This is the augmented
    estimator of Robins, Rotnitzky and Zhao [@robins1994], consistent whether or not the calibration is right. The
    variance is that of the influences of the rows of both samples.
    """
    parts = _TableMoments.of(data, fit, shares)
    total = data.target.total
    absent = tuple(at for at, each in enumerate(shares.estimates) if each.low == 0)
    return ExpectedTable(total * parts.cells, lambda slopes: parts.variances(total * slopes), shares.notes, absent)


@dataclass(frozen=True, slots=True, eq=False)
class _TableMoments:
    """Means and products of features, by class and decision."""

    q: Floats
    rates: Floats
    gain: Floats
    weight: Floats
    """Mean weight of validation, of shape (K, K, K): by class of its rows, class, decision."""
    scale: Floats
    """Share of each class over the sum of its cells before scaling."""
    cells: Floats
    lead: Floats
    rest: Floats
    """Covariance of the shares from labelled rows of the target."""
    target: _DecisionSums
    classes: tuple[_DecisionSums, ...]

    @staticmethod
    def of(data: MulticlassData, fit: GmmFit, shares: MulticlassPrevalence) -> _TableMoments:
        """Sum over the rows of both samples."""
        width = len(data.labels)
        # A class at 0 would divide by 0 in rates and slopes.
        q = np.maximum(shares.value, LEAST_SHARE)
        q /= q.sum()
        side, old = data.validation, data.validation.as_rows().decision()
        places = [np.flatnonzero(data.truth == k) for k in range(width)]
        classes = tuple(_DecisionSums.of(side.subset(own), fit.features.old[own], old[own]) for own in places)
        target = _DecisionSums.of(data.target, fit.features.new, data.target.as_rows().decision())
        rates = np.stack([each.share for each in classes])
        weight = np.stack([each.mean[:, :width].T for each in classes])
        cells, scale, gain = _augmented_cells(q, rates, (weight, target.mean[:, :width].T), fit.features.gain)
        take = precision_weight(data, fit.covariance)
        # What labelled rows add to the covariance; 0 without them.
        rest = shares.covariance - take @ fit.covariance @ take.T
        return _TableMoments(
            q, rates, gain, weight * gain[:, None], scale, cells, take @ fit.lead, rest, target, classes
        )

    def variances(self, slopes: Floats) -> tuple[float, float]:
        """Compute the variances of a number with these slopes in the cells, from the target and from validation."""
        rate = self.cells / self.q[:, None]
        level = (slopes * rate).sum(axis=1)
        inner = self.scale[:, None] * (slopes - level[:, None])
        by_share = level + (inner * self.rates).sum(axis=1) - np.einsum("kld,ld->k", self.weight, inner)
        eta = np.repeat((self.lead.T @ by_share)[:, None], len(self.q), axis=1)
        eta[: len(self.q)] += self.gain[:, None] * inner
        from_labels = float(by_share @ self.rest @ by_share)
        parts = [each.variance(-eta, own) for each, own in zip(self.classes, inner, strict=True)]
        return self.target.variance(eta) + max(from_labels, 0.0), float(self.q**2 @ parts)


def _augmented_cells(
    q: Floats, rates: Floats, means: tuple[Floats, Floats], gain: Floats
) -> tuple[Floats, Floats, Floats]:
    """Compute cells that add up to the shares, their scaling, and gains; a gain is 0 where augmentation is unsound."""
    weight, new = means
    raw = np.maximum(q[:, None] * rates + gain[:, None] * (new - np.tensordot(q, weight, axes=1)), 0.0)
    total = raw.sum(axis=1)
    # Cells that add up to half the share or to twice as much show that the augmentation is mostly noise.
    sound = (total < _MAX_RATIO * q) & (q < _MAX_RATIO * total)
    raw = np.where(sound[:, None], raw, q[:, None] * rates)
    scale = q / np.where(sound, total, q)
    return raw * scale[:, None], scale, np.where(sound, gain, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _DecisionSums:
    """Sums of features, and of their products, by decision."""

    share: Floats
    """Share of each decision."""
    mean: Floats
    """Mean of the features of each decision, times its share; a row for each decision."""
    squares: Floats
    """Sum of squared weights of each decision, over the squared total."""
    single: Floats
    double: Floats
    bessel: float

    @staticmethod
    def of(side: Sample, features: Floats, decisions: Codes) -> _DecisionSums:
        """Sum over the rows of a sample."""
        width, total = side.score.shape[1], side.total
        mass = np.ones(len(features)) if side.amount is None else side.amount
        squares = mass if side.squares is None else side.squares
        share = np.bincount(decisions, weights=mass, minlength=width) / total
        return _DecisionSums(
            share,
            sum_by_decision(features, decisions, mass, width).T / total,
            np.bincount(decisions, weights=squares, minlength=width) / total**2,
            sum_by_decision(features, decisions, squares, width).T / total**2,
            products_by_decision(features, decisions, squares, width) / total**2,
            side.bessel,
        )

    def variance(self, eta: Floats, own: Floats | float = 0.0) -> float:
        """Compute the variance of the mean of features times the column `eta` of their decision, plus `own`."""
        width = len(self.share)
        own = np.broadcast_to(np.asarray(own, dtype=np.float64), width)
        middle = float(np.einsum("jd,dj->", eta, self.mean) + own @ self.share)
        deviation = own - middle
        total = np.einsum("id,dij,jd->", eta, self.double, eta) + 2 * np.einsum(
            "jd,dj,d->", eta, self.single, deviation
        )
        return float(total + deviation**2 @ self.squares) * self.bessel


_ROWS_PER_FUNCTION = 10
"""Validation rows required for each function of the scores in a regression."""
_MIN_EIGENVALUE = 1e-9
"""Eigenvalue, relative to the largest, below which a function is a sum of others."""
_MAX_OUTSIDE = 0.1
"""Largest share of the target without similar validation rows."""
_MIN_RESIDUAL = 1e-6
"""Least value of 1 − leverage, by which residuals are divided."""


def covariate_shift_table(data: MulticlassData, fit: LikelihoodRatios, *, level: float) -> ExpectedTable:
    r"""Expect recalibrated probabilities m, plus the mean error of m among similar rows of validation.

    Among rows with the same decision, errors y − m of validation are regressed on functions b of the scores: 1, m, √m
    and m² of each class, as far as there are rows for them. The target gets :math:`m+b^⊤β`. That is right if either the
    errors or the ratio of both densities is a sum of the functions, and nearly so if both almost are: a generalized
    regression estimator, doubly robust [@deville1992]. Each validation row changes a cell by its weight :math:`\bar
    b^⊤(\sum bb^⊤)^{-1}b_i` times its residual over 1 − leverage (jackknife, HC3 [@mackinnon1985]). Raises if more than
    a tenth of the target lies outside the scores of validation.
    """
    # Back from likelihood ratios, each known up to a factor of its row, to probabilities.
    plain = (fit.across * fit.at[:, None]).T
    plain /= plain.sum(axis=1, keepdims=True)
    side, width = data.target, len(data.labels)
    mass = np.ones(len(plain)) if side.amount is None else side.amount
    rows = side.as_rows().decision(), mass
    p, errors = plain, np.zeros((width, width, width))
    if fit.line is not None:  # else probabilities were not recalibrated
        p, errors = _correct_errors(data, fit, plain, rows)
    sums = products_by_decision(p, rows[0], mass if side.squares is None else side.squares, width)

    def variances(slopes: Floats) -> tuple[float, float]:
        return quadratic_form(slopes, sums), quadratic_form(slopes, errors)

    notes = (*_misfit_notes(p - plain, rows, errors, level=level),)
    return ExpectedTable(np.maximum(sum_by_decision(p, *rows, width), 0.0), variances, notes)


def _correct_errors(
    data: MulticlassData, fit: LikelihoodRatios, plain: Floats, rows: tuple[Codes, Floats]
) -> tuple[Floats, Floats]:
    """Add the regressed errors to probabilities; return also the covariance of their sums by decision."""
    (decisions, mass), width = rows, len(data.labels)
    old = data.validation.as_rows().decision()
    p, errors = np.empty(plain.shape), np.zeros((width, width, width))
    for region in _regions(old, decisions, width):
        part = _ErrorRegression.of(data, fit, np.flatnonzero(np.isin(old, region)))
        members = np.flatnonzero(np.isin(decisions, region))
        b = _basis(plain[members], part.kind)
        part.check_support(b, mass[members])
        p[members] = plain[members] + b @ part.slopes
        for at in region:
            own = decisions[members] == at
            errors[at] = part.covariance_of(mass[members][own] @ b[own])
    return p, errors


def _regions(old: Codes, new: Codes, width: int) -> Iterator[list[int]]:
    """Group decisions whose rows are regressed jointly: each is its own group if validation has enough rows of it."""
    rows = np.bincount(old, minlength=width)
    enough = rows >= _ROWS_PER_FUNCTION * width
    few = np.flatnonzero(~enough)
    regions = [[int(at)] for at in np.flatnonzero(enough)]
    if rows[few].sum() >= _ROWS_PER_FUNCTION * width or not regions:
        regions.append(few.tolist())
    else:
        regions[int(np.argmin(rows[enough]))].extend(few.tolist())
    yield from (each for each in regions if np.isin(new, each).any())


class _ErrorRegression(NamedTuple):
    """A regression of the errors of some validation rows on functions of their probabilities."""

    kind: int
    inner: Floats
    """Inverse of the products of the functions, in linearly independent directions."""
    slopes: Floats
    rows: Floats
    residual: Floats
    """Residuals over 1 − leverage, times the root of squared weights."""
    leverage: Floats

    @staticmethod
    def of(data: MulticlassData, fit: LikelihoodRatios, places: Cells) -> _ErrorRegression:
        """Regress the errors of some validation rows."""
        width = len(data.labels)
        side = data.validation.subset(places)
        amount = np.ones(len(places)) if side.amount is None else side.amount
        squares = amount if side.squares is None else side.squares
        calibrated = fit.calibrated[places]
        kind = int(np.clip(len(places) // (_ROWS_PER_FUNCTION * width), 0, 3))
        whole = _basis(calibrated, kind)
        # Probabilities add up to the constant, so that the functions are linearly dependent.
        size, axes = np.linalg.eigh((whole * amount[:, None]).T @ whole)
        distinct = size > _MIN_EIGENVALUE * size[-1]
        inner = np.asarray((axes[:, distinct] / size[distinct]) @ axes[:, distinct].T)
        error = np.eye(width)[data.truth[places]] - calibrated
        slopes = inner @ (whole * amount[:, None]).T @ error
        each = np.einsum("ij,ij->i", whole @ inner, whole)
        own = each * squares / amount  # of a single row, where some are counted together
        residual = (error - whole @ slopes) * (np.sqrt(squares) / np.maximum(1 - own, _MIN_RESIDUAL))[:, None]
        return _ErrorRegression(kind, inner, slopes, whole, residual, each)

    def covariance_of(self, total: Floats) -> Floats:
        """Compute the covariance of the added corrections of each class, at a sum of functions."""
        influence = self.residual * (self.rows @ (self.inner @ total))[:, None]
        return np.asarray(influence.T @ influence)

    def check_support(self, b: Floats, mass: Floats) -> None:
        """Raise if much of the target lies where validation has no rows."""
        # Leverage measures the distance from the validation rows; none of them has more than the largest.
        far = np.einsum("ij,ij->i", b @ self.inner, b) > self.leverage.max() * (1 + _MIN_RESIDUAL)
        share = float(mass[far].sum() / mass.sum())
        if share > max(_MAX_OUTSIDE, 2 * b.shape[1] / len(self.rows)):
            raise FitError(
                f"{share:.0%} of the rows of some decision have scores where validation has none, so that their "
                "accuracy is unknown",
                remedy="give validation rows with such scores.",
            )


def _basis(p: Floats, kind: int) -> Floats:
    """Return a constant, and with more rows the probabilities, their roots and their squares."""
    columns = [np.ones((len(p), 1)), p, np.sqrt(np.maximum(p, 0.0)), p * p]
    return np.concatenate(columns[: kind + 1], axis=1)


def _misfit_notes(change: Floats, rows: tuple[Codes, Floats], errors: Floats, *, level: float) -> Iterator[str]:
    """Note if the correction of the expected accuracy is more than chance."""
    decisions, mass = rows
    gap = float(mass @ change[np.arange(len(change)), decisions]) / float(mass.sum())
    error = sqrt(quadratic_form(np.eye(change.shape[1]), errors)) / float(mass.sum())
    if abs(gap) > normal_quantile(level) * error:
        yield (
            "the calibration curve does not fit the validation data: the correction by its errors changes the expected "
            f"accuracy by {gap:+.3g} (standard error {error:.2g})."
        )


_ASSUMPTIONS = {
    "label shift": (
        "Assumed: label shift. The scores of each class are distributed as in the validation data, and only the shares "
        "have changed; decisions have the rates of the validation data, at the estimated shares."
    ),
    "covariate shift": (
        "Assumed: covariate shift. The probability of each class at given scores is that of the validation data, and "
        "only the distribution of scores has changed."
    ),
}
_BLOCK = 256
"""Tables of a block."""


def multiclass_performance(
    target: MulticlassTarget,
    validation: Any,  # noqa: ANN401  (checked here)
    assume: str,
    measures: Iterable[str | Measure] | str,
    options: dict[str, Any],
) -> Results:
    """Estimate the performance in an unlabelled target of several classes."""
    averages, level = options.pop("averages", None), options.pop("level")
    if validation is not None and not isinstance(validation, MulticlassRows):
        raise OptionError(
            f"{type(validation).__name__} has no score for each class",
            remedy="give MulticlassRows for a MulticlassTarget.",
        )
    if validation is None:
        if assume == "label shift":
            raise OptionError("under label shift the shares must be estimated first", remedy="give validation data.")
        reject_options(options)
    data = None if validation is None else MulticlassData.of(target, validation)
    expected = _table_as_given(target) if data is None else _expect_table(data, assume, options, level)
    table = Confusion(make_read_only(expected.cells), target.labels if validation is None else validation.labels)
    plain = multiclass.summary(Confusions({(): table}), measures=measures, averages=averages)
    # The rarest class has the fewest degrees of freedom for its part of the variance.
    wide = 1.0 if data is None else t_widening(float(data.class_rows.min()) - 1, level)
    target_only = data is None or not (assume == "label shift" or options.get("recalibrate", True))
    how = TARGET_ONLY_METHOD if target_only else INFLUENCE_METHOD
    bound = _TableIntervals(expected, table, averages, wide, level, how, _effective_rows(target))
    rows = [row | bound(row) for row in plain.rows()]
    notes = [_ASSUMPTIONS[assume], *target.intake.notes, *plain.data["notes"], *expected.notes]
    header = {
        "rows": len(target),
        "assume": assume,
        "classes": list(table.labels),
        "prevalences": plain.data["prevalences"],
        "validation": None if validation is None else len(validation),
        "notes": notes,
    }
    return Results({name: [row.get(name) for row in rows] for name in plain.columns}, header)


def _effective_rows(target: MulticlassTarget) -> float:
    """Compute the effective number of rows of the target (Kish)."""
    times = np.ones(len(target.score)) if target.count is None else target.count
    mass = times if target.weight is None else times * target.weight
    return float(mass.sum() ** 2 / (mass if target.weight is None else mass * target.weight).sum())


def _table_as_given(target: MulticlassTarget) -> ExpectedTable:
    """Expect the probabilities without recalibration."""
    rows = MulticlassRows(np.zeros(len(target.score), dtype=np.uint8), target.score, target.labels)
    check_class_probabilities(rows, advice("validation", "give a validation set to recalibrate them on."))
    p = np.asarray(target.score, dtype=np.float64)
    p = p / p.sum(axis=1, keepdims=True)
    weight = np.ones(len(p)) if target.weight is None else target.weight
    mass = weight if target.count is None else weight * target.count
    width, decisions = p.shape[1], rows.decision()
    sums = products_by_decision(p, decisions, weight * mass, width)
    return ExpectedTable(sum_by_decision(p, decisions, mass, width), lambda slopes: (quadratic_form(slopes, sums), 0.0))


def _expect_table(data: MulticlassData, assume: str, options: dict[str, Any], level: float) -> ExpectedTable:
    """Expect a table from validation, under label shift at the estimated shares."""
    if assume == "label shift":
        return label_shift_table(data, *estimate_gmm(data, level=level, **options))
    return covariate_shift_table(data, fit_likelihood_ratios(data, **options), level=level)


class _TableIntervals(NamedTuple):
    """Intervals of tidy rows by the delta method on the expected table."""

    expected: ExpectedTable
    table: Confusion
    averages: object
    wide: float
    level: float
    how: str
    rows: float

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        name, value = row["measure"], row["value"]
        if name not in (MEASURES.keys() | multiclass.MEASURES.keys()) or value is None:
            return {}
        slopes = self._slopes(row)
        how = "; ".join(filter(None, (row["how"], self.how)))
        if slopes is None:
            return {"level": self.level, "how": how, "why": "its influence function has no closed form"}
        target, validation = self.expected.variances(slopes)
        own = multiclass.MEASURES if row["class"] is None and row["average"] is None else MEASURES
        variance, z = max(target + validation, 0.0), normal_quantile(self.level)
        reach = z * ((target + validation * self.wide**2) / variance) ** 0.5 if variance > 0 else z
        low, high = bound_value(value, Precision(variance, reach, self.rows, self.level), describe(own[name]).span)
        tables = (remove_class(self.table, at) for at in self.expected.absent)
        ends = [value, *row_limits(row, tables, self.averages)]
        return {"low": min(low, *ends), "high": max(high, *ends), "level": self.level, "how": how}

    def _slopes(self, row: dict[str, Any]) -> Floats | None:
        """Differentiate the measure of a row by each cell; None at a corner, or where the measure is undefined."""
        shape, labels = self.table.mass.shape, self.table.labels

        def measure_tables(tables: Floats) -> Floats:
            parts = range(0, len(tables), _BLOCK)
            stacks = (tables[start : start + _BLOCK].reshape(-1, *shape) for start in parts)
            return np.concatenate(
                [row_values(row, Confusion(make_read_only(each), labels), self.averages) for each in stacks]
            )

        slopes = central_differences(measure_tables, self.table.mass.ravel())
        return None if slopes is None else slopes.reshape(shape)
