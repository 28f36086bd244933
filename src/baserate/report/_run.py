"""Run of a plan: read the data, measure it, and add the findings; `evaluate` makes the plan from arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy.typing as npt

from baserate._confusion import Confusion, Confusions
from baserate._costs import CostsLike
from baserate._curve import Curve
from baserate._domains import MIN_GROUP, ShareLike
from baserate._errors import NotBinaryError, OptionError, keyword, unknown_name
from baserate._policy import Policy
from baserate._rows import MulticlassRows, Rows
from baserate._tally import ReadSummary, Tallies, Tally
from baserate.read import (
    FittedClassifier,
    LabelText,
    PredictionOptions,
    Predictions,
    Scores,
    TableSource,
    accepts_predictions,
)
from baserate.report import _findings_data, _findings_performance, _findings_use
from baserate.report._commands import python_literal
from baserate.report._findings import REGISTRY, Check
from baserate.report._measurements import PlanData, Progress, measure_plan
from baserate.report._multiclass_report import MulticlassReport
from baserate.report._multiclass_run import (
    ClassSource,
    evaluate_classes,
    find_classes,
    names_classes,
    read_classes,
    select_options,
)
from baserate.report._plan import Plan, name_samples
from baserate.report._report import SEVERITIES, Finding, Report

if TYPE_CHECKING:
    from baserate.draw import Drawing, FigureType
    from baserate.read import Watch

MODULES = (_findings_data, _findings_performance, _findings_use)
"""Modules whose import fills the registry; without this use, a linter would remove the imports."""
CHECKS: dict[str, Check] = dict(sorted(REGISTRY.items()))
"""Code -> entry of each finding; a code never changes its meaning."""


def find_all(report: Report) -> tuple[Finding, ...]:
    """Return the findings of a report that its plan does not ignore: the most severe first, then by their codes."""
    return tuple(sorted(_run_checks(report), key=lambda finding: SEVERITIES.index(finding.severity)))


def _run_checks(report: Report) -> Iterator[Finding]:
    """Yield findings check by check, on all models at once or on each of them."""
    by_model = {model: report.of(model) for model in report.models}
    unknown = [code for code in report.plan.ignore if code not in CHECKS]
    if unknown:
        raise unknown_name("finding", unknown[0], CHECKS)
    for check in (check for code, check in CHECKS.items() if code not in report.plan.ignore):
        subjects = [(report, None)] if check.whole else [(each, model) for model, each in by_model.items()]
        findings = (check.run(subject, model) for subject, model in subjects)
        yield from (finding for finding in findings if finding is not None)


def read_plan_data(plan: Plan, source: Any = None, *, watch: Watch | None = None) -> PlanData:  # noqa: ANN401  (any table)
    """Read the files of a plan, or the table that is passed with it."""
    if source is None and not plan.files:
        raise OptionError("the plan names no files.", remedy="Pass the rows: run(plan, table).")
    if plan.apart:
        return PlanData(_read_samples(plan, source, watch))
    table = list(plan.files) if source is None else source
    # Tallies are enough for one model; ids and paired comparisons need the rows.
    return as_plan_data(_read_table("rows" if plan.id or len(plan.score) > 1 else "tallies", plan, table, watch))


def as_plan_data(data: Tallies | Rows) -> PlanData:
    """Return data that were read as those of a plan."""
    if isinstance(data, Tallies):
        return PlanData(data)
    # Rows whose id occurred before, not the number of such ids.
    repeated = None if data.id is None else len(data) - len(set(data.id.tolist()))
    several = len({*data.score} - {data.intake.columns.get("predicted")}) > 1
    return PlanData(data.tallies(), data if several else None, repeated)


def _read_table(what: str, plan: Plan, table: Any, watch: Watch | None) -> Any:  # noqa: ANN401  (Tallies or Rows)
    """Read tallies or rows with the columns and labels of a plan."""
    from baserate import read

    labels = {name: _as_text_label(getattr(plan, name)) for name in ("positive", "negative")}
    arguments: dict[str, Any] = {**plan.columns, **labels, "missing": plan.missing, "watch": watch}
    return getattr(read, what)(table, **arguments)


def _as_text_label(label: object) -> object:
    """Return a text label as the label of any type that is written so: a plan file stores labels as text."""
    return LabelText(label) if isinstance(label, str) else label


def _read_samples(plan: Plan, source: Any, watch: Watch | None) -> Tallies:  # noqa: ANN401  (a mapping of tables)
    """Read separate samples; each becomes a model of its own."""
    tables: Mapping[str, Any] = name_samples(plan.files) if source is None else source
    parts: dict[str, Tallies] = {name: _read_table("tallies", plan, table, watch) for name, table in tables.items()}
    several = len(plan.score) > 1
    models = {
        f"{name}: {model}" if several else name: groups
        for name, part in parts.items()
        for model, groups in part.models.items()
    }
    return Tallies(models, intake=_merge_read_summaries([part.intake for part in parts.values()]))


def _merge_read_summaries(intakes: list[ReadSummary]) -> ReadSummary:
    """Merge the summaries of several reads."""
    labels = {(str(each.positive), str(each.negative)) for each in intakes}
    if len(labels) > 1:
        classes = "; ".join(f"positive = {positive}, negative = {negative}" for positive, negative in sorted(labels))
        raise OptionError(
            f"the samples have different classes ({classes}).",
            remedy=f"Name both: {keyword('positive')}, {keyword('negative')}.",
        )
    reasons: dict[str, dict[str, int]] = {}
    for each in intakes:
        for column, kinds in each.reasons.items():
            for what, many in kinds.items():
                counted = reasons.setdefault(column, {})
                counted[what] = counted.get(what, 0) + many
    return replace(
        intakes[0],
        read=sum(each.read for each in intakes),
        dropped=sum(each.dropped for each in intakes),
        reasons=reasons,
        notes=tuple(dict.fromkeys(note for each in intakes for note in each.notes)),
    )


def run(
    plan: Plan,
    source: Any = None,  # noqa: ANN401  (any table)
    *,
    watch: Watch | None = None,
    progress: Progress | None = None,
) -> Report:
    """Read the data of a plan, measure it, and return the report with its findings.

    Parameters
    ----------
    plan
        Columns, deployment, decision and intervals.
    source
        Table in place of the plan's files: a frame, a mapping of columns, or a path. If the plan's samples are `apart`,
        a mapping from their names to tables.
    watch
        Function that is called with the progress of reading.
    progress
        Function that is called with the number of finished steps.

    Returns
    -------
    Report
        All numbers with intervals, policies and findings.

    Examples
    --------
    >>> from baserate import Plan, run
    >>> table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    >>> run(Plan(truth="sick", score="risk"), table).here.sensitivity.value
    0.5
    """
    return run_on_data(plan, read_plan_data(plan, source, watch=watch), progress)


def run_on_data(
    plan: Plan, rows: PlanData, progress: Progress | None = None, *, arrays: Mapping[str, Any] | None = None
) -> Report:
    """Run a plan on data that was read; `arrays` maps columns to the arguments of `evaluate` that hold them."""
    _check_model_labels(plan, rows.tallies.models)
    report = measure_plan(plan, rows, progress)
    if arrays is not None:
        report = replace(report, data={**report.data, "arrays": arrays})
    return replace(report, findings=find_all(report))


def _check_model_labels(plan: Plan, models: Iterable[str]) -> None:
    """Refuse a name for readers of a model that is not evaluated."""
    unknown = [name for name in plan.model_labels or () if name not in {*models}]
    if unknown:
        raise unknown_name("model", unknown[0], models)


class EvaluateOptions(PredictionOptions, total=False):
    """Keywords of `evaluate`, for type checkers."""

    prevalence: ShareLike | Mapping[Any, ShareLike] | None
    costs: CostsLike | None
    threshold: float | None
    rule: str | None
    policy: Policy | None
    level: ShareLike
    method: str | None
    seed: int
    reference: Any
    min_group: int
    ignore: Sequence[str]
    title: str | None
    outcome_name: str | None
    flag_name: str | None
    model_labels: Mapping[str, str] | None


class MulticlassEvaluateOptions(TypedDict, total=False):
    """Keywords of `evaluate` on several classes that were read, for type checkers."""

    level: ShareLike
    method: str | None
    seed: int
    ignore: Sequence[str]
    title: str | None
    outcome_name: str | None


@overload
def evaluate(truth: npt.ArrayLike, score: Scores | None = None, /, **options: Unpack[EvaluateOptions]) -> Report: ...
@overload
def evaluate(table: TableSource, /, **options: Unpack[EvaluateOptions]) -> Report: ...
@overload
def evaluate(
    truth: Mapping[Any, npt.ArrayLike], score: Mapping[Any, npt.ArrayLike], /, **options: Unpack[EvaluateOptions]
) -> Report: ...
@overload
def evaluate(
    estimator: FittedClassifier | Mapping[str, FittedClassifier],
    X: Any,  # noqa: ANN401, N803
    y: npt.ArrayLike,
    /,
    **options: Unpack[EvaluateOptions],
) -> Report: ...
@overload
def evaluate(data: Tally | Curve | Tallies | Rows, /, **options: Unpack[EvaluateOptions]) -> Report: ...
@overload
def evaluate(
    data: MulticlassRows | Confusion | Confusions, /, **options: Unpack[MulticlassEvaluateOptions]
) -> MulticlassReport: ...
@overload
def evaluate(**options: Unpack[EvaluateOptions]) -> Report: ...
@accepts_predictions("plan data")
def evaluate(  # noqa: PLR0913  (options of a plan)
    data: Predictions | Tallies | Rows | MulticlassRows | Confusions,
    /,
    *,
    prevalence: ShareLike | Mapping[Any, ShareLike] | None = None,
    costs: CostsLike | None = None,
    threshold: float | None = None,
    rule: str | None = None,
    policy: Policy | None = None,
    level: ShareLike = 0.95,
    method: str | None = None,
    seed: int = 0,
    reference: Any = None,
    min_group: int = MIN_GROUP,
    ignore: Sequence[str] = (),
    title: str | None = None,
    outcome_name: str | None = None,
    flag_name: str | None = None,
    model_labels: Mapping[str, str] | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Report | MulticlassReport:
    """Evaluate predictions at deployment: measures with intervals, a threshold, groups, models, and findings.

    For several models, scores are a mapping from names to arrays, or a frame. For separate samples, labels and scores
    are two mappings with the same names. A fitted classifier of scikit-learn does, too: ``evaluate(estimator, X, y)``.

    Of more than two classes the result is a :class:`baserate.MulticlassReport`: give a matrix with a column of scores
    for each class, predicted labels as ``predicted=``, or of a table ``score="p_*"`` or a mapping from classes to
    columns. Of the options below, `level`, `method`, `seed`, `ignore`, `title` and `outcome_name` hold for it. Type
    checkers know its type where the data are read first: ``evaluate(baserate.class_scores(y, P))``.

    Parameters
    ----------
    data
        Data that were read: a tally, tallies by group, or rows; of several classes, rows or confusion matrices.
    prevalence
        Prevalence in deployment, such as 0.02 or "2%": of everybody, or a mapping from groups to theirs.
    costs
        Costs of outcomes in deployment; ``fp=1, fn=20`` for those of the errors.
    threshold, rule, policy
        Decision: a threshold, the name of a rule that chooses one, or a policy; see :class:`baserate.Plan`.
    level, method, seed
        Options of confidence intervals. The default method is a closed form without resampling.
    reference
        Group that the others are compared with: its label, a tuple of labels, or a mapping from columns to labels. The
        default is the largest.
    min_group
        Least number of rows that a tested rate of a group rests on; smaller groups are listed without a test.
    ignore
        Codes of findings to leave out, such as ``["BR004"]``.
    title, outcome_name, flag_name
        Words for readers: the title of the report, the positive outcome ("re-offended") and the decision for a flagged
        person ("detained").
    model_labels
        Names of models for readers, such as ``{"risk": "Model A"}``.

    Returns
    -------
    Report or MulticlassReport
        All numbers with intervals, policies and findings; or those of several classes.

    Examples
    --------
    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    >>> report.here.auc.value, round(report.here.auc.low, 2), round(report.here.auc.high, 2)
    (0.75, 0.2, 0.97)
    >>> table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    >>> report = baserate.evaluate(table, truth="sick", score="risk", prevalence="10%", fp=1, fn=20)
    >>> report.policy.threshold, round(report.there.precision.value, 3)
    (0.4, 0.182)
    >>> baserate.evaluate(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]]).numbers.accuracy.value
    0.6666666666666666
    """
    use: dict[str, Any] = {"prevalence": prevalence, "costs": costs, "threshold": threshold, "rule": rule}
    use |= {"policy": policy, "level": level, "method": method, "seed": seed}
    use |= {"reference": reference, "min_group": min_group, "ignore": ignore, "title": title}
    use |= {"outcome_name": outcome_name, "flag_name": flag_name, "model_labels": model_labels}
    if isinstance(data, (MulticlassRows, Confusions)):
        return evaluate_classes(ClassSource(data), select_options(use))
    if isinstance(data, Predictions) and names_classes(data):
        return evaluate_classes(read_classes(data), select_options(use))
    try:
        return _evaluate_two_classes(data, use)
    except NotBinaryError:
        source = find_classes(data) if isinstance(data, Predictions) else None
        if source is None:
            raise
    return evaluate_classes(source, select_options(use))


def _evaluate_two_classes(data: Predictions | Tallies | Rows, use: dict[str, Any]) -> Report:
    """Make the plan of a call, and run it."""
    if not isinstance(data, Predictions):
        return run_on_data(_plan_of_data(data, use), as_plan_data(data))
    if isinstance(data.truth, Mapping):
        return _evaluate_samples(data, use)
    if data.table is not None:
        files = data.table if isinstance(data.table, (str, os.PathLike)) else ()
        plan = Plan(files=files, **_plan_columns(data.columns), **_plan_choices(data), **use)
        return run(plan, None if files else data.table)
    named = data.as_table()
    plan = Plan(**_plan_columns(named.columns), **_plan_choices(data), **use)
    return run_on_data(plan, read_plan_data(plan, named.table), arrays=_array_expressions(data, named.columns))


def _plan_of_data(data: Tallies | Rows, use: Mapping[str, Any]) -> Plan:
    """Return the plan of data that were read, which name their columns if a table had them."""
    read = data.intake.columns
    models = tuple(data.models if isinstance(data, Tallies) else data.score)
    predicted = read.get("predicted")
    columns: dict[str, Any] = {"score": tuple(each for each in models if each != predicted), "predicted": predicted}
    columns |= {"group": data.attributes, "truth": read.get("truth", "truth")}
    for name in ("positive", "negative"):
        label = getattr(data.intake, name)
        columns[name] = None if isinstance(label, bool) else label
    return Plan(**columns, **use)


def _plan_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return names of columns as fields of a plan."""
    return {role: each for role, each in columns.items() if each is not None}


def _plan_choices(data: Predictions) -> dict[str, Any]:
    """Return how to read the columns, as fields of a plan; `labels` has only ordered the columns of a matrix."""
    return {name: each for name, each in data.choices.items() if name != "labels"}


def _evaluate_samples(data: Predictions, use: Mapping[str, Any]) -> Report:
    """Evaluate separate samples: two mappings, of labels and of scores, with the same names."""
    truth, score = data.truth, data.columns.get("score")
    if data.columns.keys() != {"truth", "score"} or not isinstance(score, Mapping) or {*score} != {*truth}:
        raise OptionError(
            "separate samples need two mappings, truth and score, with the same names, and no other columns."
        )
    tables = {str(name): {"truth": truth[name], "score": score[name]} for name in truth}
    arrays = {str(name): {each: _item_expression(each, name) for each in ("truth", "score")} for name in truth}
    plan = Plan(apart=True, score=("score",), **_plan_choices(data), **use)
    return run_on_data(plan, read_plan_data(plan, tables), arrays=arrays)


def _array_expressions(data: Predictions, columns: Mapping[str, Any]) -> dict[str, str]:
    """Return the expression of the array behind each column, for suggested statements."""
    expressions: dict[str, str] = {}
    for role, names in columns.items():
        if isinstance(names, str):
            expressions[names] = role
        else:
            expressions |= zip(names, _argument_expressions(role, data.columns[role]), strict=True)
    return expressions


def _argument_expressions(name: str, value: Any) -> list[str]:  # noqa: ANN401  (an array, or several by name)
    """Return the expression of each array that an argument holds."""
    keys = value if isinstance(value, Mapping) else getattr(value, "columns", None)
    return [name] if keys is None else [_item_expression(name, key) for key in keys]


def _item_expression(name: str, key: object) -> str:
    """Return the expression of an item of a mapping or a frame.

    >>> _item_expression("score", "risk"), _item_expression("score", 1)
    ('score["risk"]', 'score[1]')
    """
    return f"{name}[{python_literal(key)}]"


_MOST_GROUPS = 6
"""Groups beyond which curves of each would hide each other."""


@accepts_predictions("tallies", at=1)
def draw_figures(
    report: Report, tallies: Tallies, **predictions: Unpack[PredictionOptions]
) -> Iterator[tuple[str, Drawing]]:
    """Draw every figure that fits a report: with its policies, costs, deployment prevalence and names of models.

    Parameters
    ----------
    report : Report
        Report with the policies to mark.
    tallies : Tallies
        Data of the report, with all models and groups.

    Yields
    ------
    name : str
        Name of the figure in `baserate.draw.FIGURES`.
    drawing : Drawing
        Figure with its numbers.

    Examples
    --------
    >>> import baserate
    >>> table = {"sick": [1, 1, 0, 1, 0, 0], "risk": [0.9, 0.8, 0.7, 0.4, 0.2, 0.1]}
    >>> report = baserate.run(Plan(truth="sick", score=("risk",)), table)
    >>> tallies = baserate.read.tallies(table, truth="sick", score="risk")
    >>> [name for name, _ in draw_figures(report, tallies)][:3]
    ['roc', 'pr', 'gain']
    """
    from baserate.draw import FIGURES
    from baserate.shift import reweigh

    stated = report.plan.prevalence
    # One prevalence for all is an option of the figures; those of groups change the class weights beforehand.
    in_deployment = reweigh(tallies, prevalence=stated) if isinstance(stated, Mapping) else tallies
    for name, options in _figure_options(report).items():
        figure = FIGURES[name]
        data = _figure_tallies(report, in_deployment if figure.at_deployment else tallies, figure)
        labels = {model: label for model, label in (report.plan.model_labels or {}).items() if model in data.models}
        yield name, figure.function(data, **options, **({"labels": labels} if labels else {}))


def _figure_options(report: Report) -> dict[str, dict[str, Any]]:
    """Return the figures that fit a report, with their options."""
    views = {model: report.of(model).here for model in report.models}
    policies = {model: report.policies[model] for model, view in views.items() if "auc" in view}
    both_classes = all(view.positives.value and view.negatives.value for view in views.values())
    figures = _curve_options(report, policies) if both_classes else {}
    if policies and all("brier" in views[model] for model in policies):
        figures["reliability"] = {}
        if both_classes:
            by_group = isinstance(report.plan.prevalence, Mapping)
            origin = {"sample_prevalence": report.data["prevalence"]} if by_group else {}
            figures["decision-curve"] = {"prevalence": report.prevalence, **origin}
    if report.groups:
        figures["groups"] = {"policy": dict(report.policies)}
    return figures


def _curve_options(report: Report, policies: Mapping[str, Policy]) -> dict[str, dict[str, Any]]:
    """Return the figures of both classes, with the policies to mark."""
    plan = report.plan
    has_costs = plan.costs is not None and (report.prevalence is not None or not plan.apart)
    prevalence = report.data["prevalence"] if report.prevalence is None else report.prevalence
    costs: dict[str, Any] = {"costs": plan.costs, "prevalence": prevalence} if has_costs else {}
    thresholds = {model: each.flags_from for model, each in policies.items() if each.flags_from is not None}
    marks: dict[str, Any] = {"policy": policies} if policies else {}
    figures = {"roc": {**marks, **costs}, "pr": {**marks, "prevalence": report.prevalence}, "gain": marks}
    if len(thresholds) == len(policies):
        figures["prevalence"] = {"threshold": thresholds or None, "prevalence": report.prevalence}
    if len(thresholds) == len(policies) == 1:
        figures["scores"] = {"policy": policies}
        figures["thresholds"] = {"policy": policies, "prevalence": report.prevalence}
    return figures | ({"cost-curve": costs} if has_costs and policies else {})


def _figure_tallies(report: Report, tallies: Tallies, figure: FigureType) -> Tallies:
    """Return the data of a figure: without labels where it takes none, and pooled where there are many groups."""
    from baserate.draw import pool_groups, split_labels

    if figure.groups == "required":
        return tallies
    scored, _ = split_labels(tallies)
    data = tallies if scored is None or figure.takes_labels else scored
    by_group = any(policy.needs_group for policy in report.policies.values())
    return data if by_group or len(data.groups) <= _MOST_GROUPS else pool_groups(data)
