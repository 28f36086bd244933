"""Pages of objects that people print or show in a notebook: one function for each type.

A page of many rows has the first ones. The modules of the types are not imported, since a page is of an object that
exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

from baserate._cut import RandomizedCut
from baserate._formatting import (
    UNDEFINED,
    count_of,
    format_count,
    format_exact,
    format_interval,
    format_level,
    format_number,
    format_p,
    format_share,
)
from baserate._results import Estimate
from baserate.text._blocks import Bullet, BulletList
from baserate.text._grid import Column, Grid, label_column, number_column
from baserate.text._pivot import confusion_table
from baserate.text._results import format_plain, results_page
from baserate.text._sentences import describe_policy, describe_score_ranges
from baserate.text._tables import EVERYBODY, Page, Row, Section, Table, shorten_label

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._confusion import Confusion, Confusions
    from baserate._costs import CostMatrix
    from baserate._counts import Counts
    from baserate._curve import Curve
    from baserate._cut import Cut, Treatment
    from baserate._policy import Policy
    from baserate._rows import Rows
    from baserate._tally import Tallies, Tally
    from baserate.infer import Comparison, SampleSize, SmoothRoc
    from baserate.shift import MulticlassPrevalence, Prevalence

_DIGITS = 4
_MAX_ROWS = 10
"""First rows of a tally, a curve or a table of data."""
_MAX_CLASSES = 12
"""Classes of a confusion matrix that are shown."""
_CELLS = ("tp", "fp", "fn", "tn")
_SCORES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Scores whose calibrated probabilities are shown."""
_RATES = (0.01, 0.05, 0.1, 0.2, 0.5)
"""False positive rates at which smooth ROC curves are shown."""


def object_page(value: object) -> Page:
    """Return the page of an object of one of the types in `PAGES`."""
    return PAGES[type(value).__name__](value)


def _counts_page(counts: Counts[Any]) -> Page:
    """Return the confusion matrix, or the first of many."""
    if not counts.shape:
        cells = {name: float(getattr(counts, name)) for name in _CELLS}

        def text(*names: str) -> str:
            return format_count(sum(cells[name] for name in names), _DIGITS)

        classes = {"positive": "positive", "negative": "negative"}
        return Page(f"total {format_count(counts.total, _DIGITS)}", (confusion_table("", classes, cells, text),))
    columns = {name: getattr(counts, name).ravel() for name in _CELLS}
    return Page(count_of(counts.tp.size, "confusion matrix", "confusion matrices"), (_first_rows(columns),))


def _confusion_page(confusion: Confusion) -> Page:
    """Return the matrix with true classes in rows; of a stack, its size."""
    if confusion.shape:
        return Page(f"{' × '.join(map(str, confusion.shape))} confusion matrices", ())
    total = format_count(confusion.total, _DIGITS)
    agreed = format_number(100 * confusion.agreement / confusion.total, _DIGITS) if confusion.total else UNDEFINED
    table, rest = _square_table("true", confusion.labels, confusion.mass.tolist())
    return Page(f"total {total} · predicted correctly {agreed}%", (table, *rest))


def _confusions_page(confusions: Confusions) -> Page:
    pooled = _confusion_page(confusions.pooled)
    groups = [f"{count_of(len(confusions.tables), 'group')} together"] if confusions.attributes else []
    return Page(" · ".join([*groups, pooled.headline]), pooled.panels, (confusions.intake.description,))


def _cost_matrix_page(costs: CostMatrix) -> Page:
    table, rest = _square_table("true", costs.labels, costs.cost.tolist())
    return Page("costs of each decision, by true class", (table, *rest))


def _square_table(
    corner: str, labels: Sequence[object], cells: Sequence[Sequence[float]]
) -> tuple[Table, tuple[str, ...]]:
    """Return a table with classes in rows and columns, and a sentence on those that it omits."""
    names = tuple(map(shorten_label, labels[:_MAX_CLASSES]))
    rows = (tuple(map(_format_mass, line[:_MAX_CLASSES])) for line in cells)
    section = Section("", tuple(Row(name, line) for name, line in zip(names, rows, strict=False)))
    omitted = len(labels) - len(names)
    rest = (f"{count_of(omitted, 'more class', 'more classes')} not shown.",) if omitted else ()
    return Table(corner, names, (section,), upright=True), rest


def _curve_page(curve: Curve) -> Page:
    """Return the counts at the strictest thresholds."""
    at = curve.threshold
    counts = curve.at(at[:_MAX_ROWS])
    columns = {"threshold": at, **{name: getattr(counts, name) for name in _CELLS}}
    return Page(_tally_headline(curve.tally), (_first_rows(columns, len(at)),))


def _tally_page(tally: Tally) -> Page:
    """Return the classes at the highest scores."""
    positives, negatives = tally.mass
    columns = {"score": tally.score, "positives": positives, "negatives": negatives}
    return Page(_tally_headline(tally), (_first_rows(columns),))


def _tally_headline(tally: Tally) -> str:
    return repr(tally).partition("(")[2].removesuffix(")").replace(", ", " · ")


def _tallies_page(tallies: Tallies) -> Page:
    """Return rows, positives and prevalence of each model and group."""
    subjects = list(islice(tallies.walk(), 4 * _MAX_ROWS))
    many = len(tallies.models) * (1 + len(tallies.groups) * bool(tallies.attributes))
    rows = [int(tally.rows.sum()) for *_, tally in subjects]
    shares = [tally.positives / tally.total if tally.total else None for *_, tally in subjects]
    columns = [label_column("model", (shorten_label(model) for model, *_ in subjects))]
    columns += _group_columns(tallies.attributes, [group for _, group, _ in subjects])
    columns += [number_column("rows", (format_count(each, _DIGITS) for each in rows))]
    columns += [number_column("prevalence", (_format_optional(each) for each in shares))]
    return Page(tallies.intake.description, (Grid(tuple(columns), _describe_rest(many - len(subjects))),))


def _group_columns(attributes: Sequence[str], groups: Sequence[Sequence[object] | None]) -> Iterator[Column]:
    for at, name in enumerate(attributes):
        yield label_column(
            shorten_label(name), (EVERYBODY if group is None else shorten_label(group[at]) for group in groups)
        )


def _rows_page(rows: Rows) -> Page:
    """Return the first rows of the data."""
    first = range(min(len(rows), _MAX_ROWS))
    columns = [label_column("truth", ("positive" if rows.truth[at] else "negative" for at in first))]
    groups = [rows.groups[rows.group[at]] if rows.attributes else () for at in first]
    columns += _group_columns(rows.attributes, groups)
    others = {**rows.score, **{name: getattr(rows, name) for name in ("weight", "count", "id", "cluster")}}
    for name, column in others.items():
        if column is not None:
            columns.append(number_column(shorten_label(name), (format_plain(column[at]) for at in first)))
    return Page(rows.intake.description, (Grid(tuple(columns), _describe_rest(len(rows) - len(first))),))


def _first_rows(columns: Mapping[str, Any], many: int | None = None) -> Grid:
    """Return a grid of the first elements of arrays, which are `many` each."""
    many = len(next(iter(columns.values()))) if many is None else many
    shown = [number_column(name, map(_format_mass, column[:_MAX_ROWS].tolist())) for name, column in columns.items()]
    return Grid(tuple(shown), _describe_rest(many - _MAX_ROWS))


def _describe_rest(omitted: int) -> str:
    return f"{count_of(omitted, 'more row')}." if omitted > 0 else ""


def _policy_page(policy: Policy) -> Page:
    """Return the action for each group and score, with the probability of each cut where it is randomized."""
    model = shorten_label(policy.columns.get("score", "score"))
    rows = [
        (group, scores, action, chance)
        for group, treatment in policy.by_group.items()
        for cut, chance in _split_cuts(treatment)
        for scores, action in zip(describe_score_ranges(model, cut.thresholds), cut.actions, strict=True)
        # Of many groups, the scores that are passed follow from those that are flagged.
        if not policy.attributes or action != "pass" or len(cut.actions) == 1
    ]
    columns = list(_group_columns(policy.attributes, [group for group, *_ in rows]))
    columns += [label_column("scores", (row[1] for row in rows)), label_column("action", (row[2] for row in rows))]
    if policy.needs_id:
        columns += [number_column("probability", (f"{chance:.4g}" for *_, chance in rows))]
    return Page("", (describe_policy(policy, model), Grid(tuple(columns))), tuple(_describe_origin(policy)))


def _split_cuts(treatment: Treatment) -> Iterable[tuple[Cut, float]]:
    """Return the cuts of a treatment with their probabilities."""
    if isinstance(treatment, RandomizedCut):
        return zip(treatment.cuts, treatment.chances, strict=True)
    return [(treatment, 1.0)]


def _describe_origin(policy: Policy) -> Iterator[str]:
    """Yield what else a reader of a policy should know."""
    if policy.attributes:
        yield "Other groups are refused." if policy.otherwise == "refuse" else f"Other groups: {policy.otherwise}."
    if policy.calibrator is not None:
        yield f"Thresholds are on raw scores; they were chosen after calibration ({policy.calibrator.method})."
    if policy.prevalence is not None:
        yield f"Chosen for a prevalence of {format_share(policy.prevalence)}."
    yield from policy.notes


def _calibrator_page(calibrator: Calibrator | MulticlassCalibrator) -> Page:
    """Return the parameters, and the probabilities of some scores."""
    panels: list[Grid] = []
    if calibrator.parameters:
        levels = {each.level for each in calibrator.parameters} - {None}
        heading = "value" + "".join(f" ({format_level(level)}% CI)" for level in levels if len(levels) == 1 and level)
        names = label_column("parameter", (shorten_label(each.name) for each in calibrator.parameters))
        panels.append(Grid((names, number_column(heading, map(_format_parameter, calibrator.parameters)))))
    if not hasattr(calibrator, "labels") and calibrator.form.of_probabilities:
        scores = number_column("score", map(format_exact, _SCORES))
        shown = (format_number(each, _DIGITS) for each in calibrator(_SCORES).tolist())
        panels.append(Grid((scores, number_column("probability", shown))))
    parts = [f"{calibrator.method} calibrator"]
    if hasattr(calibrator, "labels"):
        parts.append(f"classes: {', '.join(map(shorten_label, calibrator.labels[:_MAX_CLASSES]))}")
    if calibrator.fitted is not None:
        parts.append(f"fitted on {count_of(calibrator.fitted.rows, 'row')}")
    return Page(" · ".join(parts), tuple(panels), tuple(calibrator.notes))


def _format_parameter(parameter: Any) -> str:  # noqa: ANN401  (a parameter of either kind of calibrator)
    if parameter.low is None or parameter.high is None:
        return format_number(parameter.value, _DIGITS)
    return format_interval(parameter.value, parameter.low, parameter.high)


def _comparison_page(comparison: Comparison) -> Page:
    values = zip(comparison.models, map(_format_optional, comparison.values), strict=True)
    group = ", ".join(f"{name} = {value}" for name, value in comparison.group or ())
    facts = [
        *values,
        ("difference", str(comparison.difference)),
        ("p", format_p(comparison.p, is_bound=comparison.p_is_bound)),
        ("test", comparison.test),
    ]
    return _facts_page(f"{comparison.measure}{' of ' * bool(group)}{group}", facts)


def _prevalence_page(prevalence: Prevalence) -> Page:
    facts = [
        ("prevalence", str(prevalence.estimate)),
        ("method", prevalence.method),
        ("interval", prevalence.estimate.how or ""),
        ("unlabelled rows", format_count(prevalence.rows, _DIGITS)),
    ]
    page = _facts_page("estimated prevalence of the positive class", facts)
    return Page(page.headline, page.panels, tuple(prevalence.notes))


def _class_prevalence_page(prevalence: MulticlassPrevalence) -> Page:
    facts = zip(map(str, prevalence.labels), prevalence.estimates, strict=True)
    page = _facts_page(f"estimated prevalence of each class by {prevalence.method}", facts)
    return Page(page.headline, page.panels, tuple(prevalence.notes))


def _sample_size_page(size: SampleSize) -> Page:
    names = {"rows": "rows", "positives": "positives", "negatives": "negatives", "trials": f"trials ({size.among})"}
    facts = [(shown, format_count(getattr(size, name), 9)) for name, shown in names.items() if getattr(size, name)]
    facts += [("samples of this size", str(size.samples))] if size.samples > 1 else []
    numbers = {"half-width": size.half_width, "power": size.power}
    facts += [(name, format_number(each, _DIGITS)) for name, each in numbers.items() if each is not None]
    return _facts_page("required sample size", [*facts, ("method", size.how)])


def _smooth_roc_page(smooth: SmoothRoc) -> Page:
    """Return the AUC, the parameters and some points."""
    facts: list[tuple[str, object]] = [("AUC", str(smooth.auc)), ("interval", smooth.auc.how or "")]
    facts += [
        (name.replace("_", " "), str(value) if name.startswith("knots") else format_number(value, _DIGITS))
        for name, value in smooth.parameters.items()
    ]
    facts += [(f"TPR at FPR {rate:g}", format_number(smooth.tpr(rate), _DIGITS)) for rate in _RATES]
    return _facts_page(f"smooth ROC curve by {smooth.method}", facts)


def _plan_page(plan: Any) -> Page:  # noqa: ANN401  (a plan of a report, which is a later layer)
    """Return the fields of a plan that are not empty."""
    contents = {each.name: getattr(plan, each.name) for each in fields(plan)}
    shown = {name: each for name, each in contents.items() if each is not None and each != () and each is not False}
    lists = {name: ", ".join(each) for name, each in shown.items() if isinstance(each, tuple)}
    return _facts_page("plan of a report", {**shown, **lists}.items())


def _finding_page(finding: Any) -> Page:  # noqa: ANN401  (a finding of a report, which is a later layer)
    heading = f"{finding.severity}: {finding.code} {finding.headline}"
    command, language = (finding.command.text, finding.command.language) if finding.command else ("", "sh")
    bullet = Bullet(heading, f"{finding.sentence} {finding.why}", finding.remedy, command, language)
    return Page("", (BulletList("Finding", (bullet,)),))


def _facts_page(headline: str, facts: Iterable[tuple[str, object]]) -> Page:
    """Return a page of names and values."""
    names, values = zip(*facts, strict=True)
    shown = (repr(each) if not isinstance(each, (str, Estimate)) else str(each) for each in values)
    columns = (label_column("", map(shorten_label, names)), label_column("", (shorten_label(e, 100) for e in shown)))
    return Page(headline, (Grid(columns),))


def _format_optional(value: float | None) -> str:
    return UNDEFINED if value is None or value != value else format_number(value, _DIGITS)  # noqa: PLR0124  (NaN)


def _format_mass(value: float) -> str:
    return format_exact(value) if abs(value) == inf else format_plain(value)


PAGES: Mapping[str, Callable[[Any], Page]] = {
    "Calibrator": _calibrator_page,
    "Comparison": _comparison_page,
    "Confusion": _confusion_page,
    "Confusions": _confusions_page,
    "CostMatrix": _cost_matrix_page,
    "Counts": _counts_page,
    "Curve": _curve_page,
    "Finding": _finding_page,
    "MulticlassCalibrator": _calibrator_page,
    "MulticlassPrevalence": _class_prevalence_page,
    "Plan": _plan_page,
    "Policy": _policy_page,
    "Prevalence": _prevalence_page,
    "Results": results_page,
    "Rows": _rows_page,
    "SampleSize": _sample_size_page,
    "SmoothRoc": _smooth_roc_page,
    "Tallies": _tallies_page,
    "Tally": _tally_page,
}
"""Name of a type -> function that describes an object of it as a page."""
