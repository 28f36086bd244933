"""Performance without labels: what calibrated probabilities promise of the target, measure by measure.

Under covariate shift the chance at each score is what it was. A row with probability p is p of a positive and 1 − p of
a negative; the target then has a tally, and every measure of a tally, curve or 2×2 table has a value [@bialek2024].
Under label shift the classes score as they did, and validation at the prevalence of the target, which is estimated
first, is what the target would be if its truth were known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isinf, isnan, log, log1p, nan
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, make_read_only, ratio
from baserate._calibrator import Calibrator
from baserate._errors import NotAProbabilityError, OptionError
from baserate._estimate import Estimate
from baserate._formatting import format_exact, format_number
from baserate._numeric.distinct import occurrences, run_sums, summed_columns
from baserate._numeric.threads import mapped
from baserate._results import Results
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Tallies, Tally
from baserate._target import MulticlassTarget, Target
from baserate.calibrate import tally_of
from baserate.infer import Check, two_sided
from baserate.measure import COLUMNS, Measure, Place, about, as_thresholds, planned, settings_data, tidy, why
from baserate.shift._assumed import ALONE, HOW, TOLD, UNTESTED, Assume, refuse_idle
from baserate.shift._corrected import corrected
from baserate.shift._prevalence import prevalence
from baserate.shift._scale import Sure, around
from baserate.shift._several._performance import performance as of_classes
from baserate.shift._slopes import Slopes, slopes
from baserate.shift._summary import GIVEN
from baserate.shift._two._assumption import calibration_fit, calibration_notes, doubts
from baserate.shift._two._curve import Curve, fitted_curve
from baserate.shift._two._given import Given, reach
from baserate.shift._two._likelihood import Posterior, made_right, moved_by
from baserate.shift._two._methods import called
from baserate.shift._two._result import Prevalence

_POOLED = 1 << 12
_CELLS = ("tp", "fp", "fn", "tn")


def performance(
    target: Target | MulticlassTarget,
    validation: Tally | Tallies | Rows | MulticlassRows | None = None,
    *,
    assume: Assume,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: float | Iterable[float] | None = None,
    level: float = 0.95,
    **options: Any,  # noqa: ANN401  (of `prevalence`, by maximum likelihood)
) -> Results:
    """Measure what happens in a target without truth, as far as validation and probabilities tell.

    Say what you `assume`: nothing in the target can tell it. Under label shift the validation set, which is needed, is
    measured at the prevalence that `prevalence` estimates. Under covariate shift scores are recalibrated on the
    validation set by a curve that is straight within bins, and the target is measured with these probabilities; it is
    refused if more than 5 % of it lies outside the scores of validation. Without a validation set, scores are taken as
    probabilities that are right. So they are with ``recalibrate=False``, or as a `Calibrator` makes them;
    ``"logistic"`` fits
    a logistic curve. Under label shift these three estimate by mlls, where probabilities are right `at` a prevalence.
    Notes say whether the calibration fits the validation data. Intervals are for the population of the target, not for
    what these very rows will turn out to be, and include how few rows validation has. Of a `MulticlassTarget` the
    measures
    are those of decisions for the highest score as it is given, with an option `averages`, as of
    `baserate.measure.multiclass.summary`.

    >>> import numpy as np
    >>> from baserate import Target, shift
    >>> p = np.array([0.95, 0.8, 0.6, 0.45, 0.3, 0.2, 0.05])
    >>> found = shift.performance(Target(p), assume="covariate shift", measures=["accuracy", "auc"])
    >>> [(row["measure"], round(row["value"], 7)) for row in found.rows() if row["measure"] in ("accuracy", "auc")]
    [('accuracy', 0.7642857), ('auc', 0.843488)]
    """
    if assume not in TOLD:
        raise OptionError(f"assume is {assume!r}; it is 'label shift' or 'covariate shift'.")
    if isinstance(target, MulticlassTarget):
        if threshold is not None:
            raise OptionError(f"threshold={threshold} has no use: of several classes the highest score decides.")
        return of_classes(target, validation, assume, measures, {"level": level, **options})
    if isinstance(validation, MulticlassRows):
        raise OptionError(
            "the validation set is of several classes, but the target is not; read.class_target reads one."
        )
    measures = measures if isinstance(measures, str) else list(measures)
    cuts = as_thresholds(threshold)
    own = None if validation is None else tally_of(validation)
    if assume == "label shift" and own is not None and _default(options):
        return _at_estimate(target, own, measures, cuts, level)
    made = _promised(target, own, assume, level, {**options, "thresholds": cuts})
    data = Tallies({"score": {(): made.tally}})
    tasks, notes = planned(data, measures, cuts, _Judge(made, level))
    # Most measures are of a table, and cost next to nothing: threads pay for a few of ranks in larger targets only.
    rows = mapped(lambda task: task() | {"model": None}, tasks, size=len(made.tally.score) // 4)
    head = _header(made, assume, notes) | settings_data(measures, rows)
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, head)


def _default(options: Mapping[str, Any]) -> bool:
    """Whether nothing is said of how probabilities are made."""
    return set(options) <= {"recalibrate"} and options.get("recalibrate", True) is True


def _at_estimate(
    target: Target,
    validation: Tally,
    measures: Sequence[str | Measure] | Literal["usual", "all"],
    cuts: list[float] | None,
    level: float,
) -> Results:
    """Measure validation at the estimated prevalence: under label shift, that is what happens in the target."""
    found = prevalence(target, validation, level=level)
    results = corrected(found, measures=measures, threshold=cuts)
    each = target.total / validation.total
    rows = [
        {**row, "model": None, **({"value": each * row["value"]} if row["measure"] in _CELLS else {})}
        for row in results.rows()
        if row["scores"] == GIVEN
    ]
    head = {
        **_header(Promised(target, found.validation, None, found, Given(target, validation, level)), "label shift", []),
        **{name: results.data[name] for name in ("settings",) if name in results.data},
        "prevalence": found.value,
    }
    head["notes"] = list(dict.fromkeys([*head["notes"], *results.data["notes"], *_flagged(target, rows)]))
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, head)


def _flagged(target: Target, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How much of the target itself is flagged, which need not be what is expected of validation at the estimate."""
    cuts = dict.fromkeys(row["threshold"] for row in rows if row["threshold"] is not None)
    mass = np.ones(len(target.score)) if target.mass is None else target.mass
    shares = [100 * float(np.dot(mass, target.score >= cut)) / target.total for cut in cuts]
    return [
        f"{format_number(share, 4)} % of the target itself are flagged at {format_exact(cut)}; counts and rates are "
        f"those that label "
        "shift leads to expect."
        for share, cut in zip(shares, cuts, strict=True)
    ]


class Promised(NamedTuple):
    """A target with what is promised of it, and how that was come by."""

    target: Target
    tally: Tally
    """Expected masses of both classes at each score."""
    posterior: Posterior | None
    """None where scores are taken as they are."""
    found: Prevalence | None
    """The estimated prevalence, under label shift."""
    given: Given | None
    curve: Curve | None = None
    """The curve that scores were recalibrated by, where it has no formula."""
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()


def expected(target: Target, by: Calibrator | None = None) -> Tally:
    """Tally of what probabilities promise: at each score its mass times p, and times 1 − p.

    `by` makes scores probabilities; without it they are.

    >>> import numpy as np
    >>> from baserate import Target
    >>> expected(Target(np.array([0.75, 0.75, 0.5]))).mass.tolist()
    [[1.5, 0.5], [0.5, 0.5]]
    """
    seen = _sorted(target)
    if by is None and not (seen.score[-1] >= 0 and seen.score[0] <= 1):
        raise NotAProbabilityError(
            f"scores of the target go from {seen.score[-1]:.6g} to {seen.score[0]:.6g}, but must be probabilities; "
            "give a validation set to recalibrate them on."
        )
    return _shared(seen, seen.score if by is None else by(seen.score))


class _Sorted(NamedTuple):
    """Distinct scores, falling, with what sits at each."""

    score: Floats
    mass: Cells
    squares: Cells
    rows: Cells


def _sorted(target: Target) -> _Sorted:
    if target.mass is None or target.squares is None or target.rows is None:
        score, rows = occurrences(target.score)
        return _Sorted(score, rows, rows, rows)
    values = np.asarray(target.score, dtype=np.float64) + 0.0
    score, tables = summed_columns(values, [each[None] for each in (target.mass, target.squares, target.rows)])
    return _Sorted(score, *(table[0] for table in tables))


def _shared(seen: _Sorted, p: Floats) -> Tally:
    mass = np.empty((2, len(p)))
    # Where every score is one row, as most are, nothing need be multiplied.
    each: Cells | float = 1.0 if seen.mass.dtype.kind == "u" and seen.mass.max() == 1 else seen.mass
    np.multiply(each, p, out=mass[0])
    np.subtract(each, mass[0], out=mass[1])
    make_read_only(mass)
    squares = (
        mass if seen.squares is seen.mass else make_read_only(np.stack([seen.squares * p, seen.squares * (1 - p)]))
    )
    # Nobody knows of which class a row is; all are counted, with the negatives.
    rows = np.zeros((2, len(p)), dtype=seen.rows.dtype)
    rows[1] = seen.rows
    return Tally(seen.score, mass, squares, make_read_only(rows))


def _promised(
    target: Target, validation: Tally | None, assume: str, level: float, options: Mapping[str, Any]
) -> Promised:
    cuts, options = options["thresholds"], {name: each for name, each in options.items() if name != "thresholds"}
    if assume == "covariate shift" and validation is None:
        refuse_idle({name: value for name, value in options.items() if name != "recalibrate"})
        by = options.get("recalibrate")
        made = by if isinstance(by, Calibrator) else None
        return Promised(target, expected(target, made), None, None, None, notes=(UNTESTED,))
    if validation is None:
        raise OptionError("under label shift the prevalence must be estimated first; give a validation set.")
    given, seen = Given(target, validation, level), _sorted(target)
    if _default(options):
        curve = fitted_curve(validation, seen.score, seen.mass, cuts or _usual_cuts(validation))
        check = curve.fit()
        promised = _shared(seen, curve.of_falling(seen.score))
        return Promised(target, promised, None, None, given, curve, (check,), curve.notes(check))
    right = called(made_right, (given,), "performance", options)
    found = prevalence(target, validation, method="mlls", level=level, **options) if assume == "label shift" else None
    at = right.at if found is None else found.value
    fitted = options.get("recalibrate") == "logistic"
    check = calibration_fit(given, right, fitted=fitted) if found is None else found.checks[0]
    notes = calibration_notes(check) if found is None else ()
    probability = _probability(right.log_ratio(seen.score), at)
    return Promised(target, _shared(seen, probability), right, found, given, None, (check,), notes)


def _usual_cuts(validation: Tally) -> list[float]:
    """Thresholds of decisions where none is named."""
    return [0.5] if validation.probable else []


def _probability(log_ratio: Floats, at: float) -> Floats:
    """Posterior at a prevalence, of how many times as likely a score is among positives."""
    with np.errstate(over="ignore"):
        against = np.exp(-log_ratio)
    found: Floats = at / (at + (1 - at) * against)
    return found


class _Judge:
    """Gives a number its interval, by how much each row of either set moves it."""

    def __init__(self, made: Promised, level: float) -> None:
        self.made, self.level = made, level
        # Neighbours are pooled where there are very many: what rows move need not be known to the last digit.
        self.few = _neighbours_pooled(made.tally)
        self.mass, self.squares = self.few.mass.sum(axis=0), self.few.squares.sum(axis=0)
        self.chance = ratio(np.asarray(self.few.mass[0], dtype=np.float64), self.mass)

    def __call__(self, measure: Measure, noun: Any, place: Place) -> Estimate:  # noqa: ANN401  (what it takes)
        value = float(measure(noun))
        if isnan(value):
            return Estimate(nan, why=why(measure, noun) or "it is undefined")
        how = ALONE if self.made.given is None else HOW
        end = self.made.found is not None and self.made.found.value in (0.0, 1.0)
        found = None if end or isinf(value) else slopes(measure, self.few, place.threshold)
        if found is None:
            cause = "the value is infinite" if isinf(value) else "how much each row moves it has no closed form"
            cause = "the estimated prevalence is 0 or 1" if end else cause
            return Estimate(value, level=self.level, how=how, why=cause)
        rows = float(self.mass.sum() ** 2 / self.squares.sum())
        low, high = around(value, Sure(*self._variance(found), rows, self.level), about(measure).span)
        return Estimate(value, min(low, value), max(high, value), self.level, how)

    def _variance(self, found: Slopes) -> tuple[float, float]:
        """Variance of a number, and how many standard errors its interval reaches."""
        made = self.made
        own = self.chance * found.positive + (1 - self.chance) * found.negative
        if made.given is None:
            return float(self.squares @ own**2), two_sided(self.level)
        if made.curve is not None:
            moved = made.curve.moved_by(self.few.score, self.mass * (found.positive - found.negative))
            return reach(made.given.validation, moved, float(self.squares @ own**2), self.level)
        assert made.posterior is not None  # noqa: S101  (for the type checker)
        change = self.mass * (found.positive - found.negative) * self.chance * (1 - self.chance)
        level = made.posterior.at if made.found is None else made.found.value
        with np.errstate(divide="ignore"):
            ratios = np.log(self.chance) - np.log1p(-self.chance) - (log(level) - log1p(-level))
        moved = made.posterior.moved_by(change, ratios, made.given.validation, carried=made.found is not None)
        spread = float(self.squares @ own**2)
        if made.found is not None:
            rate = float(change.sum()) / (level * (1 - level))
            moved = moved + rate * made.found.moved
            by = moved_by(ratios, made.found, self.mass, made.given)
            spread = float(self.squares @ (own + rate * by) ** 2)
            spread += rate**2 * max(made.found.spread - float(self.squares @ by**2), 0.0)
        return reach(made.given.validation, moved, spread, self.level)


def _neighbours_pooled(tally: Tally) -> Tally:
    """Pool as many neighbours as leave some thousands, each named by its lowest score."""
    each = len(tally.score) // _POOLED
    if each < 2:
        return tally
    starts = np.arange(0, len(tally.score), each)
    ends = np.append(starts[1:], len(tally.score)) - 1
    mass = make_read_only(run_sums(tally.mass, starts))
    squares = mass if tally.squares is tally.mass else make_read_only(run_sums(tally.squares, starts))
    return Tally(make_read_only(tally.score[ends]), mass, squares, make_read_only(np.ones(mass.shape, dtype=np.uint8)))


def _header(made: Promised, assume: str, notes: list[str]) -> dict[str, Any]:
    """What the numbers were made from."""
    found, target = made.found, made.target
    return {
        "rows": len(target),
        "assume": assume,
        "prevalence": made.tally.prevalence,
        "estimate": None if found is None else tidy(found.estimate),
        "validation": None if made.given is None else int(made.given.validation.rows.sum(dtype=np.int64)),
        "calibration": [_tidy_check(check) for check in made.checks],
        "doubts": doubts(made.checks if found is None else found.checks),
        "notes": [
            *(TOLD[assume], *made.notes, *target.intake.notes, *notes),
            *(() if found is None else found.notes),
        ],
    }


def _tidy_check(check: Check) -> dict[str, Any]:
    """A test as it is written to files."""
    undefined = check.why is not None
    return {
        "name": check.name,
        "statistic": None if undefined else check.statistic,
        "p": None if undefined else check.p,
        "freedom": check.freedom,
        "how": check.how,
        "why": check.why,
    }
