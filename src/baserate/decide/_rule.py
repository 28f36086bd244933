"""The foundation of decision rules: the `rule` decorator, searches over thresholds, and policies on raw scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, wraps
from inspect import getdoc, signature
from itertools import groupby
from math import inf, isinf
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats
from baserate._calibrator import Calibrator
from baserate._calibrator_forms import Between, Steps
from baserate._costs import Costs
from baserate._curve import Curve
from baserate._cut import Cut, RandomizedCut, Treatment
from baserate._domains import check_prevalence
from baserate._errors import FitError, OptionError
from baserate._formatting import format_name
from baserate._numeric.distinct import separate_precisions
from baserate._policy import REFUSE, Policy
from baserate._tally import Tallies, Tally
from baserate.decide._evaluation import find_model
from baserate.decide._requirements import Requirement
from baserate.infer import SAME_ROWS
from baserate.measure import Measure, describe, undefined_reason
from baserate.read import OfPredictions, PredictionOptions, accepts_predictions, read_worded_options


def separate_float32(policy: Policy, score: Floats) -> Policy:
    """Return a policy with the same decisions on float32 scores and on the decimal digits of these scores.

    Among float32 scores, a threshold that is a float32 becomes a short decimal between the two readings: 0.1 in place
    of 0.10000000149011612. The same rows of `score` are flagged, and a note of the policy documents the change.
    Policies of other scores do not change.

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
        f"scores have float32 precision: a threshold of {before!r} became {after!r}, which flags the same rows "
        "in these data and in a text file with these scores."
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


_SHARED_SECTIONS = {
    "Parameters": "curve\n    Curve of the data, with both classes.",
    "Returns": "Policy\n    Policy that flags from the strictest best threshold on.",
}
"""Sections of the docstring of a rule that states no others."""


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
) -> Callable[[Callable[Concatenate[Curve, Options], Cut]], OfPredictions[Curve, Options, Policy]]:
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
    ) -> OfPredictions[Curve, Options, Policy]:
        @wraps(function)
        def choose_cut(curve: Curve, /, *args: Options.args, **options: Options.kwargs) -> Policy:
            check_curve(curve)
            cut = function(curve, *args, **options)
            # Without the curve, which is the first argument.
            arguments = dict(list(_bind_arguments(function, curve, *args, **options).items())[1:])
            settings = _plain_settings(arguments)
            if curve.tally.reweighed:
                settings["prevalence"] = curve.tally.prevalence
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
            # A threshold that was given instead of chosen stays as typed.
            return separate_float32(policy, curve.tally.score) if data_used else policy

        choose_cut.__doc__ = _complete_docstring(getdoc(function) or "")
        # `wraps` copies the annotations of the inner function, which returns a Cut.
        choose_cut.__annotations__["return"] = Policy
        # Costs of actions are no costs of outcomes.
        choose = accepts_predictions("curve", costs=function.__name__ != "actions")(choose_cut)
        vars(choose)["rule"] = RuleInfo(function, gains)
        return choose

    return decorate


def _complete_docstring(written: str) -> str:
    """Add the sections that most rules share, Parameters and Returns, where a docstring lacks them."""
    later = [written.index(heading) for heading in ("\n\nRaises\n", "\n\nExamples\n") if heading in written]
    start = min(later, default=len(written))
    body = written[:start]
    for section, text in _SHARED_SECTIONS.items():
        if f"\n{section}\n" not in body:
            body += f"\n\n{section}\n{'-' * len(section)}\n{text}"
    return body + written[start:]


def use_midpoints(rule: Rule) -> Rule:
    """Make a rule report thresholds midway between neighboring scores.

    A threshold moves to the middle between the score that it is at, and the next lower score of the data. The same
    rows of the data are flagged, but of new rows also those with a score between the middle and the old threshold.
    A threshold at or below the lowest score, or above the highest, stays. After a calibrator the middle is that of
    calibrated scores.

    Parameters
    ----------
    rule
        Rule that chooses on data, with its options bound by `functools.partial`.

    Returns
    -------
    callable
        Rule whose policies have the setting `midpoints`; the bootstrap and cross-validation use middles, too.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.youden(c).threshold, decide.use_midpoints(decide.youden)(c).threshold
    (0.8, 0.75)
    """

    def choose(curve: Curve) -> Policy:
        policy = rule(curve)
        if policy.chosen_on is None:
            raise OptionError(
                "midpoints are for thresholds that a rule chooses, and these are stated", remedy="leave midpoints out."
            )
        moved = replace(
            policy,
            by_group={(): _move_to_midpoints(policy.cut, curve)},
            settings={**policy.settings, "midpoints": True},
        )
        return separate_float32(moved, curve.tally.score)

    info = rule_info(rule)
    if info is not None:
        # Without `gains`: fast searches return scores.
        vars(choose)["rule"] = RuleInfo(lambda curve: _move_to_midpoints(info.cut(curve), curve), None)
    return choose


def _move_to_midpoints(cut: Cut, curve: Curve) -> Cut:
    """Move each threshold to the middle of the lowest score that it includes and the highest that it does not."""
    # Bootstrap samples have scores without rows.
    score = curve.tally.score[curve.tally.mass.any(axis=0)][::-1]
    above = np.searchsorted(score, cut.thresholds)
    moved = [
        middle_of(float(score[at - 1]), float(score[at])) if 0 < at < len(score) else threshold
        for at, threshold in zip(above.tolist(), cut.thresholds, strict=True)
    ]
    # Two thresholds without a score between them have one middle.
    return replace(cut, thresholds=tuple(moved)) if len({*moved}) == len(moved) else cut


def rule_info(choose: Callable[..., Policy]) -> RuleInfo | None:
    """Return the internals of a rule, with options bound by `functools.partial`; None for other functions."""
    if isinstance(choose, partial):
        inner = rule_info(choose.func)
        # A positional argument would take the place of the curve or of a class total.
        if inner is None or choose.args:
            return None
        options = read_worded_options(choose.keywords)
        gains = inner.gains and partial(inner.gains, **options)
        return RuleInfo(partial(inner.cut, **options), gains)
    # Callables with slots, and built-in ones, have no `__dict__`.
    return vars(choose).get("rule") if hasattr(choose, "__dict__") else None


def check_curve(curve: object) -> None:
    """Raise an error unless the argument is a curve with positive mass."""
    if isinstance(curve, Tally):
        raise OptionError("a rule takes a curve", remedy="make one of the tally with baserate.curve(…).")
    if not isinstance(curve, Curve):
        raise OptionError(f"{type(curve).__name__} is not a Curve", remedy="make one with baserate.curve(…).")
    if not curve.total:
        raise FitError("the curve has no mass, so no threshold is better than another", remedy="give rows.")


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
    # Gains are differences of sums: their rounding errors scale with the largest of them, not with the maximum.
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


def note_skipped(measure: Measure, n_skipped: int, *, of: str = "threshold") -> Iterator[str]:
    """Yield a note with the number of thresholds, or bands, that were skipped because the measure is infinite there."""
    if n_skipped:
        name = format_name(describe(measure).name)
        places, were = (f"1 {of}", "was") if n_skipped == 1 else (f"{n_skipped} {of}s", "were")
        yield f"{places} with an infinite {name} {were} skipped: an infinity never wins a search."


def can_be_infinite(measure: Measure, toward: Toward) -> bool:
    """Return whether the better end of the range of a measure is infinite."""
    low, high = describe(measure).span
    return bool(np.isinf(high if toward == "high" else low))


def threshold_at(curve: Curve, place: int | None) -> float:
    """Return the threshold at an index of the curve; infinity at index 0, where nothing is flagged."""
    assert place is not None  # noqa: S101  (for the type checker)
    return float(curve.tally.score[place - 1]) if place else float("inf")


def middle_of(low: float, high: float) -> float:
    """Return the middle of two scores, also of very large ones; above the lower one if any number is.

    >>> middle_of(0.5, 0.75), middle_of(-1e308, 1.5e308), middle_of(1.0, float(np.nextafter(1, 2)))
    (0.625, 2.5e+307, 1.0000000000000002)
    """
    total = low + high
    middle = total / 2 if np.isfinite(total) else low / 2 + high / 2
    return middle if middle > low else high


def threshold_of_greatest_gain(curve: Curve, gains: Gains) -> float:
    """Return the threshold of greatest gain: a vertex of the ROC convex hull if both weights are positive."""
    return threshold_at(curve, index_of_greatest_gain(curve.tally.mass, gains))


def index_of_greatest_gain(mass: Cells, gains: Gains) -> int | None:
    """Return the index of the threshold of greatest gain."""
    # One cumulative sum of the weighted masses serves both classes.
    running = np.empty(mass.shape[1] + 1)
    running[0] = 0.0  # nothing is flagged
    # `float`: masses may be stored as uint8, in which products with whole numbers overflow.
    np.cumsum(mass[0] * float(gains.positive) - mass[1] * float(gains.negative), out=running[1:])
    return strictest_maximum(running)


def no_best_error(measure: Measure, curve: Curve, worth: Floats) -> FitError:
    """Build the error for a measure without a finite value at any candidate threshold."""
    infinite = int(np.count_nonzero(np.isinf(worth)))
    if infinite:
        name = describe(measure).name
        return FitError(
            f"{name} is infinite at {infinite} of {len(worth)} thresholds and finite at none, so none is best",
            remedy="use another measure, or more rows.",
        )
    return undefined_error(measure, curve)


def undefined_error(measure: Measure, curve: Curve) -> FitError:
    """Build the error for a measure that is undefined at every threshold."""
    cause = undefined_reason(measure, curve.at(float(curve.tally.score[-1]))) or "it is undefined"
    what = f"{describe(measure).name} is undefined at every threshold: {cause}"
    has_both = bool(curve.positives and curve.negatives)
    remedy = "give scores that vary, or use another measure." if has_both else "give rows of both classes."
    return FitError(what, remedy=remedy)


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
    measures = [setting for setting in settings.values() if isinstance(setting, partial)]
    more = {name: value for measure in measures for name, value in measure.keywords.items()}
    return more | {name: as_setting(setting) for name, setting in settings.items()}


def as_setting(setting: Any) -> Any:  # noqa: ANN401  (any option of a rule)
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
    # Rules call their variable keyword parameter `options`.
    more: dict[str, Any] = arguments.pop("options", {})
    arguments.pop("predictions", None)  # of `accepts_predictions`, always empty
    return arguments | more


@accepts_predictions("tallies")
def choose_policy(
    tallies: Tallies,
    rule: Rule,
    *,
    model: str | None = None,
    calibrator: Calibrator | None = None,
    midpoints: bool = False,
    **predictions: Unpack[PredictionOptions],
) -> Policy:
    """Choose a policy on all rows, with everything that applying it to new rows needs.

    Parameters
    ----------
    tallies
        Data to choose on.
    rule
        Rule with its options bound by `functools.partial`, or any function from a curve to a policy.
    model
        Name of the model; needed where there are several.
    calibrator
        Calibrator to apply first. The rule then chooses among calibrated probabilities, and the policy is expressed on
        the raw scores.
    midpoints
        Whether thresholds are midway between neighboring scores; see `use_midpoints`.

    Returns
    -------
    Policy
        The policy with its columns, the positive class and the calibrator.

    Examples
    --------
    >>> from functools import partial
    >>> from baserate import Costs, decide, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> policy = decide.choose_policy(t, partial(decide.cost, costs=Costs(fp=1, fn=20)))
    >>> policy.threshold, dict(policy.columns), policy.prevalence
    (0.4, {'truth': 'sick', 'score': 'risk'}, 0.5)
    """
    name = find_model(tallies, model)
    if name == tallies.intake.columns.get("predicted"):
        raise OptionError(f"{name} contains labels, and a policy is for scores", remedy="name a column of scores.")
    tally = tallies.pooled(name)
    rule = use_midpoints(rule) if midpoints else rule
    policy = rule(Curve(tally)) if calibrator is None else _choose_after_calibrator(calibrator, tally, rule)
    truth = tallies.intake.columns.get("truth")
    columns = {**({"truth": truth} if isinstance(truth, str) else {}), "score": name}
    return replace(policy, columns=columns, positive=str(tallies.intake.positive))


def _choose_after_calibrator(calibrator: Calibrator, tally: Tally, rule: Rule) -> Policy:
    """Let a rule choose among calibrated scores, and express the policy on the raw scores."""
    policy = on_raw_scores(rule(Curve(tally.with_scores(calibrator(tally.score)))), calibrator, scores=tally.score)
    notes = (*policy.notes, *[SAME_ROWS] * calibrator.was_fitted_on(tally))
    return replace(policy, chosen_on=policy.chosen_on and tally.digest, notes=notes)


def on_raw_scores(policy: Policy, calibrator: Calibrator, /, *, scores: npt.ArrayLike = ()) -> Policy:
    """Return the policy on raw scores that equals a policy on calibrated scores.

    Applying it needs no calibrator: comparing with a number is the same in every language and on every machine, which
    exponentials and logarithms are not. The new policy stores the calibrator.

    Parameters
    ----------
    policy
        Policy on calibrated scores.
    calibrator
        Calibrator from raw scores to calibrated ones.
    scores
        Raw scores of the data. A threshold that is the calibrated value of one of them becomes the least such score;
        any other becomes the least number that the calibrator maps to it or above. Where all are float32, thresholds
        also separate their decimal digits.

    Returns
    -------
    Policy
        Policy on raw scores with the same decisions.

    Examples
    --------
    >>> from baserate import Cut, calibration, decide
    >>> halved = calibration.prevalence(sample_prevalence=0.5, prevalence=0.2)
    >>> policy = Policy(by_group={(): Cut((0.2, 0.5), ("pass", "refer", "flag"))}, otherwise="refuse")
    >>> decide.on_raw_scores(policy, halved, scores=[0.5, 0.8]).cut
    Cut(thresholds=(0.5, 0.8), actions=('pass', 'refer', 'flag'))
    """
    if policy.calibrator is not None:
        raise OptionError("the policy is on raw scores already", remedy="give one on calibrated scores.")
    scores = np.unique(np.asarray(scores, dtype=np.float64))
    by_group = {group: _invert_treatment(each, calibrator, scores) for group, each in policy.by_group.items()}
    return separate_float32(replace(policy, by_group=by_group, calibrator=calibrator), scores)


def _invert_treatment(treatment: Treatment, calibrator: Calibrator, scores: Floats) -> Treatment:
    if isinstance(treatment, Cut):
        return _invert_cut(treatment, calibrator, scores)
    cuts: dict[Cut, float] = {}
    for cut, chance in zip(treatment.cuts, treatment.chances, strict=True):
        inverted = _invert_cut(cut, calibrator, scores)
        cuts[inverted] = cuts.get(inverted, 0.0) + chance
    return RandomizedCut(tuple(cuts), tuple(cuts.values())) if len(cuts) > 1 else next(iter(cuts))


def _invert_cut(cut: Cut, calibrator: Calibrator, scores: Floats) -> Cut:
    if isinstance(calibrator.form, (Steps, Between)):
        steps = _invert_steps(cut, calibrator, _step_edges(calibrator.form))
    elif calibrator.never_falls:
        starts = [None, *(_least_score(calibrator, at, scores) for at in cut.thresholds)]
        # Thresholds may coincide on raw scores: the later action overwrites the earlier one, whose range is empty.
        steps = dict(zip(starts, cut.actions, strict=True))
    else:
        what = f"{calibrator.method} does not increase with the score, so no threshold before it is equivalent"
        raise OptionError(what, remedy="use a monotone calibrator.")
    runs = [next(same_action) for _, same_action in groupby(steps.items(), key=lambda item: item[1])]
    return Cut(tuple(start for start, _ in runs if start is not None), tuple(action for _, action in runs))


def _invert_steps(cut: Cut, calibrator: Calibrator, edges: list[float]) -> dict[float | None, str]:
    """Return where actions begin under a calibrator that is constant between its edges and need not increase."""
    actions = [cut.action(float(calibrator([at])[0])) for at in (_score_below(edges), *edges)]
    steps: dict[float | None, str] = dict(zip([None, *edges], actions, strict=True))
    # Keep the actions of both ends even if no score reaches them, so that the policy has all its actions.
    if cut.actions[0] not in actions:
        steps = {None: cut.actions[0], -inf: actions[0], **dict(zip(edges, actions[1:], strict=True))}
    return steps if cut.actions[-1] in actions else steps | {inf: cut.actions[-1]}


def _step_edges(form: Steps | Between) -> list[float]:
    x = form.x if isinstance(form, Steps) else np.union1d(form.low.x, form.high.x)
    edges: list[float] = x.tolist()
    return edges


def _score_below(edges: list[float]) -> float:
    """Return a score below all edges; any number where there are none."""
    return float(np.nextafter(edges[0], -inf)) if edges else 0.5


def _least_score(calibrator: Calibrator, threshold: float, scores: Floats) -> float:
    """Find the least score that the calibrator maps to a threshold or above, by bisection over all floats."""
    if isinf(threshold):  # flags none or all, on either scale
        return threshold
    if len(scores):
        same = scores[calibrator(scores) == threshold]
        if len(same):
            return float(same[0])
    low, high = (0.0, 1.0) if calibrator.form.of_probabilities else (-np.finfo(float).max, np.finfo(float).max)
    if calibrator([low])[0] >= threshold:
        return -inf
    if calibrator([high])[0] < threshold:
        return inf
    # Bisect over ranks of floats, not over values: 64 steps are exact, and calibrators need not be invertible.
    first, last = _float_rank(low), _float_rank(high)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if calibrator([_float_at_rank(middle)])[0] >= threshold else (middle, last)
    return _float_at_rank(last)


def _float_rank(number: float) -> int:
    """Return the rank of a number among all floats, in ascending order."""
    # The bits of IEEE 754 floats, read as integers, ascend with the number; negative ones by magnitude.
    bits = int(np.float64(number).view(np.int64))
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _float_at_rank(place: int) -> float:
    """Return the float at a rank."""
    return float(np.int64(place).view(np.float64)) if place >= 0 else -float(np.int64(-place).view(np.float64))
