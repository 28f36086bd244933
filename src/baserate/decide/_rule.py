"""What a rule is: a function from a curve to a cut, which then is a policy that knows how it came about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, wraps
from inspect import signature
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec

import numpy as np

from baserate._arrays import Cells, Floats
from baserate._costs import Costs
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._domains import check_prevalence
from baserate._errors import FitError, OptionError
from baserate._policy import REFUSE, Policy
from baserate._tally import Tally
from baserate.decide._precision import separate
from baserate.decide._requirements import Requirement
from baserate.measure import Measure, about, why

Options = ParamSpec("Options")
Choose = Callable[[Curve], Policy]
"""A rule with its options given."""
Toward = Literal["high", "low"]

EQUAL = 1e-12
"""Part of the largest value by which two may differ and still be equal: sums differ by rounding alone."""


class Gains(NamedTuple):
    """What flagging is worth: so much for a unit of positives, less so much for a unit of negatives."""

    positive: float
    negative: float


class Told(NamedTuple):
    """What a rule knows of itself."""

    cut: Callable[..., Cut]
    """Finds the cut, and nothing else."""
    gains: Callable[..., Gains] | None
    """Of a rule that makes a weighted sum of true and false positives greatest: the weights, from how much there is of
    both classes."""


def rule(
    *,
    gains: Callable[..., Gains] | None = None,
    notes: Callable[..., Iterable[str]] | None = None,
    looks: Callable[..., bool] = lambda **_: True,
) -> Callable[[Callable[Concatenate[Curve, Options], Cut]], Callable[Concatenate[Curve, Options], Policy]]:
    """Make a function that finds a cut into a rule: what it returns is a policy, which remembers its settings.

    `notes` is called with the curve, the cut and the options, and says what a reader should know; `looks`, with
    the options, whether the rule looks at the data.
    """

    def decorate(
        function: Callable[Concatenate[Curve, Options], Cut],
    ) -> Callable[Concatenate[Curve, Options], Policy]:
        @wraps(function)
        def choose(curve: Curve, /, *args: Options.args, **options: Options.kwargs) -> Policy:
            check_curve(curve)
            cut = function(curve, *args, **options)
            given = dict(list(_given(function, curve, *args, **options).items())[1:])
            settings = _plain(given) | ({"prevalence": curve.tally.prevalence} if curve.tally.reweighed else {})
            looked = looks(**given)
            policy = Policy(
                by_group={(): cut},
                otherwise=REFUSE,
                rule=function.__name__.replace("_", "-"),
                settings=settings,
                prevalence=settings.get("prevalence", curve.tally.prevalence) if looked else None,
                chosen_on=curve.tally.digest if looked else None,
                notes=tuple(notes(curve, cut, **given)) if notes else (),
            )
            return separate(policy, curve.tally.score) if looked else policy

        choose.__annotations__["return"] = Policy
        vars(choose)["rule"] = Told(function, gains)
        return choose

    return decorate


def told(choose: Callable[..., Policy]) -> Told | None:
    """Return what a rule knows of itself, with the options that `functools.partial` gave it; None if it is no rule."""
    if isinstance(choose, partial):
        inner = told(choose.func)
        if inner is None or choose.args:
            return None
        gains = inner.gains and partial(inner.gains, **choose.keywords)
        return Told(partial(inner.cut, **choose.keywords), gains)
    return vars(choose).get("rule") if hasattr(choose, "__dict__") else None


def check_curve(curve: object) -> None:
    """Refuse what is no curve of something."""
    if isinstance(curve, Tally):
        raise OptionError("a rule takes a curve; make one of the tally first, with baserate.curve(…).")
    if not isinstance(curve, Curve):
        raise OptionError(
            f"{type(curve).__name__} is not a Curve; make one first, with baserate.curve(baserate.tally(…))."
        )
    if not curve.total:
        raise FitError("there is nothing at any score, so no threshold is better than another; give rows.")


def strictest(value: Floats) -> int | None:
    """Place of the greatest finite value, the first of equals; None if no value is finite.

    Infinities never win: a ratio is infinite where a handful of rows leave nothing to divide by.
    """
    at = int(np.argmax(value))  # the first NaN, if there is one
    if not np.isfinite(value[at]):
        value = np.where(np.isfinite(value), value, -np.inf)
        at = int(np.argmax(value))
        if np.isinf(value[at]):
            return None
    least = float(value.min())
    size = max(abs(float(value[at])), abs(least) if np.isfinite(least) else 0.0)
    # Before it, something may be as good but for rounding.
    return int(np.argmax(value[: at + 1] >= value[at] - EQUAL * size))


def best_at(curve: Curve, measure: Callable[..., Floats], *, toward: Toward = "high") -> int | None:
    """Place of the threshold at which something made of the 2×2 tables is best, the strictest of equals."""
    return strictest(worth_along(curve, measure, toward=toward))


def worth_along(curve: Curve, measure: Callable[..., Floats], *, toward: Toward = "high") -> Floats:
    """Something made of the 2×2 table at every threshold, strictest first, so signed that more is better."""
    value = np.empty(len(curve.tally.score) + 1)
    for place, counts in curve.blocks():
        value[place] = measure(counts)
    return value if toward == "high" else np.negative(value, out=value)


def infinitely_good(worth: Floats) -> int:
    """Count the thresholds that a search skips, since they are infinitely good."""
    return int(np.count_nonzero(worth == np.inf))


def skipped_note(measure: Measure, many: int, *, of: str = "threshold") -> Iterator[str]:
    """Say how many thresholds, or bands, were skipped since the measure is infinitely good there."""
    if many:
        name = about(measure).name.replace("_", " ")
        places, were = (f"1 {of}", "was") if many == 1 else (f"{many} {of}s", "were")
        yield f"{places} with an infinite {name} {were} skipped: an infinity never wins a search."


def may_be_infinite(measure: Measure, toward: Toward) -> bool:
    """Whether the better end of the span of a measure is infinite."""
    low, high = about(measure).span
    return bool(np.isinf(high if toward == "high" else low))


def threshold_at(curve: Curve, place: int | None) -> float:
    """Threshold at a place of the curve."""
    assert place is not None  # noqa: S101  (for the type checker)
    return float(curve.tally.score[place - 1]) if place else float("inf")


def steepest(curve: Curve, gains: Gains) -> float:
    """Threshold at which the gain is greatest: a point of the hull, if both gains are positive."""
    return threshold_at(curve, greatest(curve.tally.mass, gains))


def greatest(mass: Cells, gains: Gains) -> int | None:
    """Place of the threshold at which the gain is greatest."""
    running = np.empty(mass.shape[1] + 1)
    running[0] = 0.0
    np.cumsum(mass[0] * float(gains.positive) - mass[1] * float(gains.negative), out=running[1:])
    return strictest(running)


def no_best(measure: Measure, curve: Curve, worth: Floats) -> FitError:
    """Say that a measure has no finite value at any threshold that takes part."""
    infinite = int(np.count_nonzero(np.isinf(worth)))
    if infinite:
        name = about(measure).name
        return FitError(
            f"{name} is infinite at {infinite} of {len(worth)} thresholds and finite at none, so no threshold is best "
            "by it: an infinity never wins a search; take another measure, or give more rows."
        )
    return undefined(measure, curve)


def undefined(measure: Measure, curve: Curve) -> FitError:
    """Say that a measure has no value at any threshold."""
    cause = why(measure, curve.at(float(curve.tally.score[-1]))) or "it is undefined"
    return FitError(f"{about(measure).name} is undefined at every threshold: {cause}; give rows of both classes.")


def both_classes(curve: Curve, name: str) -> None:
    """Refuse a curve of one class."""
    missing = [word for word in ("positives", "negatives") if not getattr(curve, word)]
    if missing:
        raise FitError(f"{name} needs both classes, and there are no {missing[0]}; give rows of both.")


def gains_of(positives: float, negatives: float, costs: Costs, prevalence: float | None = None) -> Gains:
    """What flagging saves of a positive and costs of a negative, at a prevalence or at that of the data."""
    gains = Gains(costs.fn - costs.tp, costs.fp - costs.tn)
    if prevalence is None:
        return gains
    return Gains(gains.positive * prevalence / positives, gains.negative * (1 - prevalence) / negatives)


def checked_prevalence(curve: Curve, prevalence: float | None) -> None:
    """Refuse what is no prevalence, and a stated one where a class is not there to be made so frequent."""
    if prevalence is None:
        return
    check_prevalence("prevalence", prevalence, ends=True)
    both_classes(curve, "a stated prevalence")


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    """Settings as a file can hold them: measures and requirements by name, and what a measure was given beside it."""
    more = {
        name: value
        for setting in given.values()
        if isinstance(setting, partial)
        for name, value in setting.keywords.items()
    }
    return more | {name: as_setting(setting) for name, setting in given.items()}


def as_setting(setting: Any) -> Any:  # noqa: ANN401  (whatever a rule was told)
    """Return what a rule was told as a file can hold it, and gives it back."""
    if callable(setting):
        return about(setting).name
    if isinstance(setting, Requirement):
        return str(setting)
    if isinstance(setting, np.ndarray | np.generic):
        return as_setting(setting.tolist())
    if isinstance(setting, Mapping):
        return {str(name): as_setting(each) for name, each in setting.items()}
    return tuple(map(as_setting, setting)) if isinstance(setting, list | tuple) else setting


def _given(function: Callable[..., Any], *args: Any, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Arguments by name, defaults among them; what nobody gave is left out."""
    bound = signature(function).bind(*args, **options)
    bound.apply_defaults()
    named = {name: value for name, value in bound.arguments.items() if value is not None}
    more: dict[str, Any] = named.pop("options", {})
    return named | more
