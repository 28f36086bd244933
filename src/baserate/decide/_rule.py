"""The foundation of decision rules: the `rule` decorator, searches over thresholds and shared checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, wraps
from inspect import signature
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec

import numpy as np

from baserate._arrays import Cells, Floats
from baserate._costs import Costs
from baserate._curve import Curve
from baserate._cut import Cut, RandomizedCut, Treatment
from baserate._domains import check_prevalence
from baserate._errors import FitError, OptionError
from baserate._numeric.distinct import separate_precisions
from baserate._policy import REFUSE, Policy
from baserate._tally import Tally
from baserate.decide._requirements import Requirement
from baserate.measure import Measure, describe, undefined_reason


def separate_float32(policy: Policy, score: Floats) -> Policy:
    """Return a policy that decides float32 scores and the decimal digits of these scores alike.

    Among float32 scores, a threshold that is a float32 becomes a short decimal between the two readings: 0.1 in place
    of 0.10000000149011612. The same rows of `score` are flagged, and a note of the policy documents the change.
    Policies of other scores stay as they are.

    Parameters
    ----------
    policy
        Policy whose thresholds may be float32 numbers.
    score
        Scores that the policy was chosen on.

    Returns
    -------
    Policy
        The policy with such thresholds replaced.

    Examples
    --------
    >>> scores = np.array([0.9, 0.1], dtype=np.float32)
    >>> separate_float32(Policy(by_group={(): Cut((float(scores[1]),))}, otherwise="refuse"), scores).threshold
    0.1
    """
    by_group = {group: _separate_treatment(each, score) for group, each in policy.by_group.items()}
    pairs = [
        (before, after)
        for old, new in zip(policy.by_group.values(), by_group.values(), strict=True)
        for before, after in zip(_treatment_thresholds(old), _treatment_thresholds(new), strict=True)
        if before != after
    ]
    if not pairs:
        return policy
    before, after = pairs[0]
    note = (
        f"scores have float32 precision: a threshold of {before!r} became {after!r}, which flags the same rows here "
        "and in a text file with these scores."
    )
    return replace(policy, by_group=by_group, notes=(*policy.notes, note))


def _separate_treatment(treatment: Treatment, score: Floats) -> Treatment:
    if isinstance(treatment, RandomizedCut):
        return replace(treatment, cuts=tuple(_separate_cut(cut, score) for cut in treatment.cuts))
    return _separate_cut(treatment, score)


def _separate_cut(cut: Cut, score: Floats) -> Cut:
    thresholds = separate_precisions(np.array(cut.thresholds, dtype=np.float64), score)
    return replace(cut, thresholds=tuple(thresholds.tolist()))


def _treatment_thresholds(treatment: Treatment) -> Iterator[float]:
    for cut in treatment.cuts if isinstance(treatment, RandomizedCut) else (treatment,):
        yield from cut.thresholds


Options = ParamSpec("Options")
Rule = Callable[[Curve], Policy]
"""A rule whose options are bound."""
Toward = Literal["high", "low"]

RELATIVE_TOLERANCE = 1e-12
"""Relative difference up to which values are equal: sums of the same terms differ by rounding."""


class Gains(NamedTuple):
    """Weights of the gain of flagging: `positive` per unit of positives, less `negative` per unit of negatives."""

    positive: float
    negative: float


class RuleInfo(NamedTuple):
    """Internals of a rule that the bootstrap and cross-validation use to repeat its choice quickly."""

    cut: Callable[..., Cut]
    """Finds the cut, without building a policy."""
    gains: Callable[..., Gains] | None
    """Weights of a rule that maximizes a weighted sum of true and false positives, given the class totals."""


def rule(
    *,
    gains: Callable[..., Gains] | None = None,
    notes: Callable[..., Iterable[str]] | None = None,
    uses_data: Callable[..., bool] = lambda **_: True,
) -> Callable[[Callable[Concatenate[Curve, Options], Cut]], Callable[Concatenate[Curve, Options], Policy]]:
    """Turn a function that finds a cut into a rule: a function that returns a policy with its settings.

    Parameters
    ----------
    gains
        For a rule that maximizes a weighted sum of true and false positives: the weights, as a function of the total
        mass of positives and of negatives. The bootstrap then needs one cumulative sum per sample.
    notes
        Called with the curve, the cut and the options; yields notes for the reader.
    uses_data
        Called with the options; whether the choice depends on the data.
    """

    def decorate(
        function: Callable[Concatenate[Curve, Options], Cut],
    ) -> Callable[Concatenate[Curve, Options], Policy]:
        @wraps(function)
        def choose(curve: Curve, /, *args: Options.args, **options: Options.kwargs) -> Policy:
            check_curve(curve)
            cut = function(curve, *args, **options)
            # Without the curve, which is the first argument.
            arguments = dict(list(_bind_arguments(function, curve, *args, **options).items())[1:])
            settings = _plain_settings(arguments) | (
                {"prevalence": curve.tally.prevalence} if curve.tally.reweighed else {}
            )
            data_used = uses_data(**arguments)
            policy = Policy(
                by_group={(): cut},
                otherwise=REFUSE,
                rule=function.__name__.replace("_", "-"),
                settings=settings,
                prevalence=settings.get("prevalence", curve.tally.prevalence) if data_used else None,
                chosen_on=curve.tally.digest if data_used else None,
                notes=tuple(notes(curve, cut, **arguments)) if notes else (),
            )
            return separate_float32(policy, curve.tally.score) if data_used else policy

        # `wraps` copies the annotations of the inner function, which returns a Cut.
        choose.__annotations__["return"] = Policy
        vars(choose)["rule"] = RuleInfo(function, gains)
        return choose

    return decorate


def rule_info(choose: Callable[..., Policy]) -> RuleInfo | None:
    """Return the internals of a rule, with options bound by `functools.partial`; None for other functions."""
    if isinstance(choose, partial):
        inner = rule_info(choose.func)
        # A positional argument would take the place of the curve or of a class total.
        if inner is None or choose.args:
            return None
        gains = inner.gains and partial(inner.gains, **choose.keywords)
        return RuleInfo(partial(inner.cut, **choose.keywords), gains)
    return vars(choose).get("rule") if hasattr(choose, "__dict__") else None


def check_curve(curve: object) -> None:
    """Raise an error unless the argument is a curve with positive mass."""
    if isinstance(curve, Tally):
        raise OptionError("a rule takes a curve", remedy="make one of the tally first, with baserate.curve(…).")
    if not isinstance(curve, Curve):
        raise OptionError(
            f"{type(curve).__name__} is not a Curve", remedy="make one first, with baserate.curve(baserate.tally(…))."
        )
    if not curve.total:
        raise FitError("there is nothing at any score, so no threshold is better than another", remedy="give rows.")


def strictest_maximum(value: Floats) -> int | None:
    """Return the index of the greatest finite value, the first of equals; None if no value is finite.

    Infinities never win: a ratio is infinite where the denominator happens to be empty, which a few rows can cause.
    """
    at = int(np.argmax(value))  # argmax returns the first NaN, if any
    if not np.isfinite(value[at]):
        # Only now pay for a copy: most objectives are finite everywhere.
        value = np.where(np.isfinite(value), value, -np.inf)
        at = int(np.argmax(value))
        if np.isinf(value[at]):
            return None
    least = float(value.min())
    size = max(abs(float(value[at])), abs(least) if np.isfinite(least) else 0.0)
    # An earlier (stricter) value may be equal up to rounding, and wins then.
    return int(np.argmax(value[: at + 1] >= value[at] - RELATIVE_TOLERANCE * size))


def best_index(curve: Curve, measure: Callable[..., Floats], *, toward: Toward = "high") -> int | None:
    """Return the index of the threshold where a measure is best, the strictest of equals."""
    return strictest_maximum(objective_along(curve, measure, toward=toward))


def objective_along(curve: Curve, measure: Callable[..., Floats], *, toward: Toward = "high") -> Floats:
    """Compute a measure at every threshold, strictest first, with the sign changed so that greater is better."""
    # Block by block, since the cells of millions of thresholds at once would not fit the cache.
    value = np.empty(len(curve.tally.score) + 1)
    for place, counts in curve.blocks():
        value[place] = measure(counts)
    return value if toward == "high" else np.negative(value, out=value)


def count_infinite(worth: Floats) -> int:
    """Count the thresholds that a search skips because the objective is infinite there."""
    return int(np.count_nonzero(worth == np.inf))


def note_skipped(measure: Measure, many: int, *, of: str = "threshold") -> Iterator[str]:
    """Yield a note with the number of thresholds, or bands, that were skipped because the measure is infinite there."""
    if many:
        name = describe(measure).name.replace("_", " ")
        places, were = (f"1 {of}", "was") if many == 1 else (f"{many} {of}s", "were")
        yield f"{places} with an infinite {name} {were} skipped: an infinity never wins a search."


def can_be_infinite(measure: Measure, toward: Toward) -> bool:
    """Return whether the better end of the range of a measure is infinite."""
    low, high = describe(measure).span
    return bool(np.isinf(high if toward == "high" else low))


def threshold_at(curve: Curve, place: int | None) -> float:
    """Return the threshold at an index of the curve; infinity at index 0, where nothing is flagged."""
    assert place is not None  # noqa: S101  (for the type checker)
    return float(curve.tally.score[place - 1]) if place else float("inf")


def threshold_of_greatest_gain(curve: Curve, gains: Gains) -> float:
    """Return the threshold of greatest gain: a vertex of the ROC convex hull if both weights are positive."""
    return threshold_at(curve, index_of_greatest_gain(curve.tally.mass, gains))


def index_of_greatest_gain(mass: Cells, gains: Gains) -> int | None:
    """Return the index of the threshold of greatest gain."""
    # One cumulative sum of the weighted masses serves both classes.
    running = np.empty(mass.shape[1] + 1)
    running[0] = 0.0  # nothing is flagged
    np.cumsum(mass[0] * float(gains.positive) - mass[1] * float(gains.negative), out=running[1:])
    return strictest_maximum(running)


def no_best_error(measure: Measure, curve: Curve, worth: Floats) -> FitError:
    """Build the error for a measure without a finite value at any candidate threshold."""
    infinite = int(np.count_nonzero(np.isinf(worth)))
    if infinite:
        name = describe(measure).name
        return FitError(
            f"{name} is infinite at {infinite} of {len(worth)} thresholds and finite at none, so no threshold is best "
            "by it: an infinity never wins a search; take another measure, or give more rows."
        )
    return undefined_error(measure, curve)


def undefined_error(measure: Measure, curve: Curve) -> FitError:
    """Build the error for a measure that is undefined at every threshold."""
    cause = undefined_reason(measure, curve.at(float(curve.tally.score[-1]))) or "it is undefined"
    return FitError(f"{describe(measure).name} is undefined at every threshold: {cause}; give rows of both classes.")


def require_both_classes(curve: Curve, name: str) -> None:
    """Raise an error unless the curve has both classes."""
    missing = [word for word in ("positives", "negatives") if not getattr(curve, word)]
    if missing:
        raise FitError(f"{name} needs both classes, and there are no {missing[0]}", remedy="give rows of both.")


def cost_gains(positives: float, negatives: float, costs: Costs, prevalence: float | None = None) -> Gains:
    """Return what flagging saves on a positive and costs on a negative, at a stated prevalence or that of the data."""
    gains = Gains(costs.fn - costs.tp, costs.fp - costs.tn)
    if prevalence is None:
        return gains
    return Gains(gains.positive * prevalence / positives, gains.negative * (1 - prevalence) / negatives)


def check_stated_prevalence(curve: Curve, prevalence: float | None) -> None:
    """Check a stated prevalence, and that both classes are present to be reweighted to it."""
    if prevalence is None:
        return
    check_prevalence("prevalence", prevalence, ends=True)
    require_both_classes(curve, "a stated prevalence")


def join_actions(lowest: str, cuts: list[tuple[float, str]]) -> Cut:
    """Build a cut from ascending thresholds and the actions above them; leave out actions over no score."""
    steps: list[tuple[float, str]] = []
    for threshold, action in cuts:
        while steps and steps[-1][0] >= threshold:
            steps.pop()
        steps.append((threshold, action))
    return Cut(tuple(at for at, _ in steps), (lowest, *(action for _, action in steps)))


def _plain_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Convert settings to what a file can store: measures and requirements by name, with the options of measures."""
    more = {
        name: value
        for setting in settings.values()
        if isinstance(setting, partial)
        for name, value in setting.keywords.items()
    }
    return more | {name: as_setting(setting) for name, setting in settings.items()}


def as_setting(setting: Any) -> Any:  # noqa: ANN401  (whatever a rule was told)
    """Convert an option to a value that a policy file can store and that the rule accepts again."""
    if callable(setting):
        return describe(setting).name
    if isinstance(setting, Requirement):
        return str(setting)
    if isinstance(setting, np.ndarray | np.generic):
        return as_setting(setting.tolist())
    if isinstance(setting, Mapping):
        return {str(name): as_setting(each) for name, each in setting.items()}
    return tuple(map(as_setting, setting)) if isinstance(setting, list | tuple) else setting


def _bind_arguments(function: Callable[..., Any], *args: Any, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return arguments by name, with defaults, without those that are None."""
    bound = signature(function).bind(*args, **options)
    bound.apply_defaults()
    arguments = {name: value for name, value in bound.arguments.items() if value is not None}
    more: dict[str, Any] = arguments.pop("options", {})
    return arguments | more
