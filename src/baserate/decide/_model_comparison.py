"""Comparison of models where they will be used: at planned thresholds, stated costs and the deployment prevalence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan, nan
from typing import Any, NamedTuple, Unpack

from baserate import infer
from baserate._costs import Costs, CostsLike, as_costs
from baserate._counts import Counts
from baserate._domains import ShareLike, check_prevalence, parse_share
from baserate._errors import OptionError, advice, keyword
from baserate._formatting import format_share
from baserate._results import Results
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.decide._planned_policy import DEFAULT_THRESHOLD, choose_planned_policy
from baserate.infer import Alternative, Comparison, Question, Seed
from baserate.measure import (
    REQUIREMENTS,
    Measure,
    Settings,
    as_measure,
    collect_settings,
    describe,
    find_missing_options,
    names_as_typed,
    note_cautions,
    note_settings,
    option_of,
    results_data,
)
from baserate.read import PredictionOptions, accepts_predictions
from baserate.shift import reweigh

DEFAULT_MEASURES = (
    *("expected_cost", "net_benefit", "precision", "npv", "sensitivity", "specificity"),
    *("auc", "average_precision", "brier"),
)
"""Measures by which models are compared, in the order of the table."""
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSetting:
    """Where models are used, and how they are compared there."""

    measures: Sequence[str | Measure] | None = None
    """Measures; None for the usual ones that the data and the setting allow."""
    models: Sequence[str] | Sequence[Pair] | None = None
    """Names to compare each with each, or pairs; None for all models."""
    prevalence: float | None = None
    costs: Costs | None = None
    threshold: float | Mapping[str, float] | None = None
    """Stated thresholds; None if they are planned ones."""
    decisions: bool = True
    """Whether decisions are compared; False for policies without single thresholds."""
    question: Question = field(default_factory=Question)
    seed: Seed = 0


class ModelComparison(NamedTuple):
    """Comparisons, the thresholds of the models, the measures, and notes about what was assumed or left out."""

    comparisons: tuple[Comparison, ...]
    thresholds: dict[str, float | None]
    measures: tuple[Measure, ...]
    notes: tuple[str, ...]


@accepts_predictions("rows")
def compare(  # noqa: PLR0913  (a setting, and a question about it)
    rows: Rows,
    *,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    models: Sequence[str] | Sequence[Pair] | None = None,
    prevalence: ShareLike | None = None,
    costs: CostsLike | None = None,
    threshold: float | Mapping[str, float] | None = None,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    level: ShareLike = 0.95,
    method: str | None = None,
    seed: int = 0,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Compare models where they will be used: expected cost, net benefit, PPV, AUC and other measures.

    Each model decides at its own planned threshold: the one of least expected cost at the deployment prevalence, as
    :func:`baserate.evaluate` chooses it. Differences have confidence intervals and p-values of paired tests; the
    prevalence counts as known.

    Parameters
    ----------
    rows
        Labels and the scores of two or more models: ``compare(y, {"lr": p, "rf": q})``.
    measures
        Name or function of a measure, or several. By default, in this order: expected cost and net benefit (if costs
        are stated), PPV, NPV, sensitivity, specificity, AUC, average precision, and Brier score (of probabilities).
    models
        Names to compare each with each, or pairs of names; by default, all. A difference is the first less the second.
    prevalence
        Deployment prevalence, such as 0.05 or "5%"; by default that of the sample. Groups are compared at the same
        one.
    costs
        Costs of outcomes: ``fp=1, fn=5``, a mapping, or :class:`baserate.Costs`. They choose the thresholds, and
        determine the threshold probability of net benefit.
    threshold
        Threshold of all models, or a mapping from models to theirs. No threshold is then chosen. Without costs and
        thresholds, probabilities of 0.5 and above are flagged.
    alternative
        "two-sided"; "greater" or "less" for a difference on that side; "better" if the first model is the better one.
    margin
        How much worse the first model may be, for a test of non-inferiority.
    level
        Confidence level of the intervals.
    method
        Method of the test, as in :class:`baserate.infer.Question`; by default, the one that fits the measure.
    seed
        Seed of simulations.

    Returns
    -------
    Results
        One row for each measure, group and pair of models: values and thresholds of both, difference, interval,
        p-value, and the p-value adjusted by Holm's method for all rows. `data` has the prevalence, the costs, the
        thresholds, and notes about what was assumed.

    Raises
    ------
    OptionError
        If there are fewer than two models, or a measure of costs is named without costs.

    See Also
    --------
    baserate.infer.compare : The same tests at any thresholds, as objects.
    baserate.decide.net_benefit_difference : Differences in net benefit at many threshold probabilities.

    Examples
    --------
    >>> import baserate
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> lr = [0.9, 0.8, 0.6, 0.3, 0.5, 0.4, 0.3, 0.2, 0.2, 0.1]
    >>> rf = [0.9, 0.5, 0.4, 0.2, 0.8, 0.6, 0.4, 0.3, 0.1, 0.1]
    >>> table = baserate.compare(y, {"lr": lr, "rf": rf}, prevalence="5%", fp=1, fn=5)
    >>> cost = table.rows()[0]
    >>> cost["measure"], round(cost["value"], 4), round(cost["other_value"], 4), round(cost["difference"], 4)
    ('expected_cost', 0.0625, 0.1875, -0.125)
    >>> table.data["thresholds"], table.data["deployment"], table.data["costs"]["fn"]
    ({'lr': 0.6, 'rf': 0.9}, {'prevalence': 0.05}, 5)
    """
    share = parse_share(prevalence)
    if share is not None:
        check_prevalence("prevalence", share)
    if margin and measures is None:
        raise OptionError(
            f"margin is {margin:g}, but the usual measures have different scales.",
            remedy=f"Name the measure, for example {keyword('measures', 'auc')}.",
            option="margin",
            value=margin,
        )
    listed = [measures] if isinstance(measures, str) or callable(measures) else measures
    setting = ComparisonSetting(
        measures=None if listed is None else list(listed),
        models=models,
        prevalence=share,
        costs=as_costs(costs),
        threshold=threshold,
        question=Question(alternative, margin, parse_share(level), method),
        seed=seed,
    )
    comparison = compare_models(rows, setting)
    return infer.tabulate_comparisons(comparison.comparisons, _describe_data(rows, setting, comparison))


def _describe_data(rows: Rows, setting: ComparisonSetting, comparison: ModelComparison) -> dict[str, Any]:
    """Return the data of a table of comparisons: the rows, the setting, and notes."""
    stated = collect_settings(comparison.measures)
    return {
        **results_data(
            rows.tallies(), [*comparison.notes, *note_settings(stated), *note_cautions(comparison.measures)]
        ),
        "seed": setting.seed if isinstance(setting.seed, int) else None,
        **({} if setting.prevalence is None else {"deployment": {"prevalence": setting.prevalence}}),
        "costs": None if setting.costs is None else asdict(setting.costs),
        "thresholds": comparison.thresholds,
        **({"settings": stated} if stated else {}),
        **names_as_typed(setting.measures),
    }


def compare_models(rows: Rows, setting: ComparisonSetting) -> ModelComparison:
    """Compare models at stated or planned thresholds, by stated or usual measures."""
    models = _name_models(rows, setting)
    notes: list[str] = []
    named = DEFAULT_MEASURES if setting.measures is None else setting.measures
    measures = [_bind(as_measure(each), setting.costs) for each in named]
    if setting.measures is None:
        reasons = list(_explain_left_out(rows, setting, models))
        measures = [each for each in measures if not any(reason.applies(each) for reason in reasons)]
        notes += [reason.note for reason in reasons]
    _check_measures(setting, measures, notes)
    decides = any(describe(each).of is Counts for each in measures)
    if setting.prevalence is not None:
        notes.append(f"Classes are reweighted to a prevalence of {format_share(setting.prevalence)}, which is known.")
    threshold = setting.threshold
    if decides and threshold is None:
        threshold, note = _plan_thresholds(rows, setting, models)
        notes.append(note)
    comparisons = infer.compare(
        rows,
        measure=measures,
        models=setting.models,
        threshold=threshold,
        question=setting.question,
        prevalence=setting.prevalence,
        seed=setting.seed,
    )
    if setting.question.method == "venkatraman":
        notes.append("p is that of equal ROC curves, intervals are those of the difference in AUC: both may disagree.")
    cuts = [at for each in comparisons for at in zip(each.models, each.thresholds, strict=True)]
    thresholds = dict.fromkeys(models) | {name: at for name, at in cuts if at is not None}
    return ModelComparison(comparisons, thresholds, tuple(measures), tuple(notes))


def _name_models(rows: Rows, setting: ComparisonSetting) -> list[str]:
    """Return the names of the models to compare; raise for fewer than two."""
    stated = rows.score if setting.models is None else setting.models
    names = list(dict.fromkeys(name for each in stated for name in ([each] if isinstance(each, str) else each)))
    if len(names) < 2:
        raise OptionError(
            f"there is one model, {names[0]!r}; expected two or more." if names else "there are no models to compare.",
            remedy='Give scores by name, such as {"a": p1, "b": p2}.',
            option="score",
        )
    return names


def _bind(measure: Measure, costs: Costs | None) -> Measure:
    """Bind costs, and the threshold probability that they imply, to a measure that depends on them."""
    at = nan if costs is None else costs.threshold_probability
    return Settings(costs=costs, at=None if isnan(at) else at).apply(measure)


def _has_costs(measure: Measure) -> bool:
    """Return whether a measure depends on costs, or on the threshold probability that they imply."""
    return option_of(measure) in _OF_COSTS


_OF_COSTS = ("costs", "at")
"""Options of measures that follow from the costs of errors."""


class _LeftOut(NamedTuple):
    """Usual measures that a comparison leaves out, and the reason."""

    applies: Callable[[Measure], bool]
    note: str


def _explain_left_out(rows: Rows, setting: ComparisonSetting, models: Sequence[str]) -> Iterator[_LeftOut]:
    """Yield which of the usual measures the data and the setting do not allow."""
    labels = rows.intake.columns.get("predicted")
    raw = [name for name in models if name != labels and not _has_probabilities(rows, name)]
    is_raw = f"scores of {', '.join(raw)} are not probabilities"
    if setting.costs is None:
        note = "Expected cost and net benefit are left out: the costs of errors are not stated."
        yield _LeftOut(_has_costs, note)
    elif isnan(setting.costs.threshold_probability):
        note = "Net benefit is left out: an error costs no more than a correct decision."
        yield _LeftOut(lambda each: option_of(each) == "at", note)
    if not setting.decisions:
        note = "Measures of decisions are left out: a model has no single threshold."
        yield _LeftOut(lambda each: describe(each).of is Counts, note)
    elif raw and setting.costs is None and setting.threshold is None:
        note = f"Measures of decisions are left out: {is_raw}, and neither costs nor thresholds are stated."
        yield _LeftOut(lambda each: describe(each).of is Counts, note)
    if labels in models and (setting.models is not None or len(models) < 3):
        yield _LeftOut(lambda each: describe(each).of is not Counts, f"{labels} contains labels, which have no ranks.")
    elif raw:
        yield _LeftOut(lambda each: describe(each).of is Tally, f"Brier score is left out: {is_raw}.")


def _has_probabilities(rows: Rows, model: str) -> bool:
    """Return whether the scores of a model can be probabilities; unknown names are refused later."""
    score = rows.score.get(model)
    return score is None or not len(score) or bool(score.min() >= 0 and score.max() <= 1)


def _check_measures(setting: ComparisonSetting, measures: Sequence[Measure], notes: Sequence[str]) -> None:
    """Refuse measures without the costs that they need, and settings that no measure uses."""
    if not measures:
        raise OptionError(
            f"there is no measure to compare by. {' '.join(notes)}".strip(),
            remedy=f"Name one, or give {advice('costs', 'fp=1, fn=5')} with your costs, or {keyword('threshold')}.",
        )
    for name, option in find_missing_options(measures):
        if option not in _OF_COSTS:
            example = advice("rate", f"partial(measure.{name}, {option}=0.9)", option)
            raise OptionError(f"{name} needs {REQUIREMENTS[option]}.", remedy=f"Give {example}.", option=option)
        costs, at = advice("costs", "fp=1, fn=5"), advice("threshold probability", f"partial(measure.{name}, at=0.1)")
        other = ", or a threshold probability" if option == "at" else ""
        raise OptionError(
            f"{name} needs the costs of errors{other}.",
            remedy=f"Give {costs}, with your costs{f'; or {at}' if other else ''}.",
            option="costs",
        )
    if any(describe(each).of is Counts for each in measures):
        # Costs choose thresholds, or enter a measure.
        if setting.costs is not None and setting.threshold is not None and not any(map(_has_costs, measures)):
            raise OptionError("costs have no use: thresholds are stated, and no measure depends on costs.")
        return
    names = ", ".join(describe(each).name for each in measures)
    for option, value in (("thresholds", setting.threshold), ("costs", setting.costs)):
        if value is not None:
            raise OptionError(f"{option} have no use: no decision enters {names}.", remedy="Leave them out.")


def _plan_thresholds(
    rows: Rows, setting: ComparisonSetting, models: Sequence[str]
) -> tuple[dict[str, float] | None, str]:
    """Return the threshold of least cost of each model, or None for the default; and a note."""
    if setting.costs is None:
        return None, f"Costs and thresholds are not stated: scores of {DEFAULT_THRESHOLD:g} and above are flagged."
    tallies = rows.tallies()
    if setting.prevalence is not None:
        tallies = reweigh(tallies, prevalence=setting.prevalence)
    scored = [name for name in models if name in tallies.models and name != rows.intake.columns.get("predicted")]
    policies = {name: choose_planned_policy(tallies, name, costs=setting.costs) for name in scored}
    note = "Each threshold is the cheapest one on these rows, which favors every model: on other rows they cost more."
    return {name: policy.threshold for name, policy in policies.items()}, note
