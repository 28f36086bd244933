"""Text of a report: natural frequencies, headline numbers, models, groups, findings, and next commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from baserate._domains import MIN_GROUP
from baserate._formatting import format_count, format_number, join_words, unadjusted_note
from baserate._results import Results
from baserate.measure import MEASURES, describe
from baserate.report._commands import next_commands
from baserate.report._natural_frequencies import (
    NEGATIVES,
    POPULATION,
    POSITIVES,
    NaturalFrequencies,
    natural_frequencies,
)
from baserate.report._report import VIEW_PARTS, Finding, Report, View, Where, view_rows
from baserate.text import (
    CONFUSION_CELLS,
    Block,
    Bullet,
    BulletList,
    CellFormatter,
    GroupKey,
    Page,
    Pivot,
    Table,
    TidyRow,
    confusion_table,
    describe_class,
    describe_files,
    describe_policy,
    describe_positive,
    describe_rows,
    format_bounds,
    group_key,
    interval_heading,
    measure_label,
    results_page,
    shorten_label,
)

_SIGNS = {"serious": "!!", "caution": "!", "note": "·"}
_MAX_LINES = 12
"""Groups, and differences of groups, that a table shows; a sentence counts the others."""
_MAX_PAIRS = 3
"""Pairs of models whose differences a table shows."""
_NAME, _HALF = 24, 17
"""Characters of a name beside numbers, and beside another name, in a terminal of 80 columns."""
_SUMMARY_DIGITS = 3
"""Significant digits of numbers in the summary for notebooks."""
_ESTIMATE_COLUMNS = ("value", "low", "high", "level", "how", "why")
_DIGEST = 12
"""Characters of a digest that identify it."""
_VALUE = "value"
"""Column of a number beside its p-value."""
_SPACE = "\N{NO-BREAK SPACE}"
_CORNER = f"of {POPULATION} people"
_GROUP_COLUMNS = ("prevalence", "flag_rate", "sensitivity", "fpr", "precision")


def render_summary(report: Report) -> str:
    """Return the decision, the key numbers and the findings of a report as HTML for notebooks."""
    return _ReportPage(report, _SUMMARY_DIGITS).summary().html()


def render_markdown(report: Report) -> str:
    """Return a report as Markdown."""
    return report_page(report).markdown()


def report_page(report: Report, digits: int = 4) -> Page:
    """Return the page of a report.

    Parameters
    ----------
    report
        Report of one or several models.
    digits
        Significant digits of numbers.
    """
    layout = _ReportPage(report, digits)
    panels = tuple(layout.panels())
    return Page(report_headline(report), panels, layout.footnotes())


def view_page(view: View) -> Page:
    """Return the page of a view: all its numbers."""
    rows = view_rows(view)
    numbers = Results({name: [row[name] for row in rows] for name in ("measure", *_ESTIMATE_COLUMNS)})
    page = results_page(numbers, None)
    return replace(page, headline=view.title)


def report_headline(report: Report) -> str:
    """Return one line on the data of a report."""
    data, shares = report.data, report.select(part="data", measure="prevalence", group=None, where="here")
    share = f"{format_number(100 * data['prevalence'], 4)}%"
    if shares[0]["low"] is not None and not report.plan.apart:
        share += f" ({' – '.join(format_bounds(100 * shares[0]['low'], 100 * shares[0]['high'], 4, 2))})"
    parts = [
        *([describe_files(report.plan.files)] if report.plan.files else []),
        describe_rows(data),
        describe_positive(report.plan.truth, data),
        f"prevalence {share}",
        *["weighted"] * bool(data["weighted"]),
        f"digest {data['digest'][:_DIGEST]}",
        f"baserate {data['version']}",
    ]
    return " · ".join(parts)


class _ReportPage:
    """Panels of a report in their order, and the formatter that collects their footnotes."""

    def __init__(self, report: Report, digits: int) -> None:
        self.report, self.format = report, CellFormatter(digits)
        self.by_model = {model: report.of(model) for model in report.models}

    def panels(self) -> Iterator[Table | Block | str]:
        """Yield all panels of the page."""
        yield from map(_describe_decision, self.by_model.values())
        if len(self.by_model) == 1:
            yield from self._single_model(next(iter(self.by_model.values())))
        else:
            yield from self._several_models()
        if self.report.groups:
            yield from self._groups()
        yield _finding_list(self.report)
        yield next_commands(self.report)

    def summary(self) -> Page:
        """Return the page without natural frequencies, meanings, groups and commands, for a notebook."""
        decisions = map(_describe_decision, self.by_model.values())
        if len(self.by_model) == 1:
            numbers = self._number_table(next(iter(self.by_model.values())), explained=False)
        else:
            numbers = self._model_table()
        findings = tuple(Bullet(_finding_heading(self.report, each), each.sentence) for each in self.report.findings)
        panels = (*decisions, numbers, BulletList("Findings", findings) if findings else "Findings: none.")
        return Page(report_headline(self.report), panels, self.format.reasons.footnotes())

    def footnotes(self) -> tuple[str, ...]:
        """Return reasons of undefined numbers, methods of intervals, and notes on the data."""
        data = {"interval": {"level": self.report.plan.level, "clusters": False}}
        notes = (f"note: {shorten_label(note, 500)}" for note in self.report.data["notes"])
        return (*self.format.footnotes(None, data), *notes)

    def _single_model(self, report: Report) -> Iterator[Table | str]:
        """Yield natural frequencies, and the headline numbers with their meanings."""
        people = natural_frequencies(report.there)
        yield _describe_frequencies(report, people)
        yield _frequency_table(report, people)
        if people.has_people("referred_positives", "referred_negatives"):
            yield "Rates of decisions exclude referred people."
        yield self._number_table(report)

    def _number_table(self, report: Report, *, explained: bool = True) -> Table:
        """Return the headline numbers, perhaps with their meanings."""
        numbers = _headline_numbers(report)
        heading = interval_heading({"interval": {"level": report.plan.level}})
        pivot = Pivot(
            line=itemgetter("name"),
            column=lambda _row: heading,
            cell=lambda row: self.format.estimate(row, several=False),
            label=str,
            meaning=lambda name: _measure_meaning(report, numbers[name]) if explained else "",
        )
        return pivot.table({**row, "name": name} for name, row in numbers.items())

    def _several_models(self) -> Iterator[Table | str]:
        """Yield a column for each model, and differences between models."""
        yield f"Of {POPULATION} people {_describe_prevalence(self.report)}:"
        yield self._model_table()
        yield from self._model_differences()

    def _model_table(self) -> Table:
        """Return natural frequencies and headline numbers with a column for each model."""
        counts = {"true positives": "tp", "false negatives": "fn", "false positives": "fp"}
        rows: list[TidyRow] = []
        for model, report in self.by_model.items():
            people = natural_frequencies(report.there)
            rows += (
                {"model": model, "name": name, "people": people.format_cells(cell)} for name, cell in counts.items()
            )
            rows += ({**row, "model": model, "name": name} for name, row in _headline_numbers(report).items())
        pivot = Pivot(
            line=itemgetter("name"),
            column=itemgetter("model"),
            section=lambda row: "people" in row,
            cell=lambda row: row["people"] if "people" in row else self.format.estimate(row),
            heading=lambda model: shorten_label(model, _NAME),
            title=lambda _section: "",
            label=str,
            apart={True},
        )
        return pivot.table(rows, corner=_CORNER)

    def _model_differences(self) -> Iterator[Table | str]:
        """Yield differences between models, pair by pair."""
        rows = self.report.select(part="differences")
        pairs = list(dict.fromkeys((row["model"], row["other"]) for row in rows))
        pivot = self._differences(section=lambda _row: "", line=itemgetter("measure"), label=measure_label)
        columns = (_VALUE, "p", "p_adjusted")[: 3 if len(rows) > 1 else 2]
        for pair in pairs[:_MAX_PAIRS]:
            names = " − ".join(shorten_label(name, _NAME) for name in pair)
            own = [row for row in rows if (row["model"], row["other"]) == pair]
            cuts = ", each at its own threshold" if any(row["threshold"] is not None for row in own) else ""
            yield f"{names}{cuts}, {_describe_difference_prevalence(self.report, own)}:"
            yield pivot.table(_with_p_values(own, columns), corner="differences")
        if len(rows) > 1:
            yield f"Holm-adjusted p: for several comparisons. {unadjusted_note(self.report.plan.level)}"
        if len(pairs) > _MAX_PAIRS:
            yield f"{len(pairs) - _MAX_PAIRS} more pairs of models are not listed; JSON and CSV contain all."

    def _differences(
        self, *, section: Callable[[TidyRow], str], line: Callable[[TidyRow], Any], label: Callable[[Any], str]
    ) -> Pivot:
        """Return the layout of differences: the difference with its interval, and a p-value."""
        return Pivot(
            section=section,
            line=line,
            column=itemgetter("column"),
            cell=lambda row: (
                self.format.estimate({**row, "measure": f"differences of {row['measure']}"})
                if row["column"] == _VALUE
                else self.format.p_value(row, row["column"])
            ),
            heading={_VALUE: "", "p": "p", "p_adjusted": "Holm-adjusted p"}.__getitem__,
            label=label,
        )

    def _groups(self) -> Iterator[Table | str]:
        """Yield a table of groups for each model, at the prevalence of the headline numbers, and differences."""
        yield _describe_group_prevalence(self.report)
        by = f"by {', '.join(map(shorten_label, self.report.plan.group))}"
        pivot = Pivot(
            line=group_key,
            column=itemgetter("measure"),
            cell=lambda row: self.format.count(row) if row["measure"] == "rows" else self.format.estimate(row),
            heading=measure_label,
            label=_group_label,
        )
        for model, report in self.by_model.items():
            rows = [row for group in report.groups[:_MAX_LINES] for row in _group_rows(report, group)]
            yield pivot.table(rows, corner=f"{_model_prefix(self.report, model)}{by}")
        yield from _describe_rest(len(self.report.groups), "groups")
        for model, report in self.by_model.items():
            yield from self._group_differences(report, _model_prefix(self.report, model))

    def _group_differences(self, report: Report, prefix: str) -> Iterator[Table | str]:
        """Yield differences from the largest group, and the number of comparisons without a test."""
        rows = report.select(part="group_differences")
        tested = [row for row in rows if row["p_adjusted"] is not None]
        strongest = sorted(range(len(tested)), key=lambda at: tested[at]["p_adjusted"])[:_MAX_LINES]
        if tested:
            if report.prevalence is not None:
                yield "Differences are tested in the sample, at its own prevalence:"
            pivot = self._differences(
                section=lambda row: measure_label(row["measure"]),
                line=lambda row: (group_key(row), tuple(row["other_group"].items())),
                label=lambda pair: " − ".join(map(_group_label, pair)),
            )
            lines = _with_p_values([tested[at] for at in sorted(strongest)], (_VALUE, "p_adjusted"))
            yield pivot.table(lines, corner=f"{prefix}differences from the largest group")
            family = f"Holm-adjusted p: over all {len(tested)} comparisons of groups in four measures."
            yield f"{family} {unadjusted_note(report.plan.level)}"
        if len(tested) > _MAX_LINES:
            rest = f"the table lists the {_MAX_LINES} with the smallest p; JSON and CSV contain all."
            yield f"Of {len(tested)} differences, {rest}"
        if len(tested) < len(rows):
            few = f"a group has fewer than {MIN_GROUP} rows for the measure"
            yield f"{len(rows) - len(tested)} of {len(rows)} comparisons are not tested: {few}."


def _with_p_values(rows: Iterable[TidyRow], columns: Sequence[str]) -> Iterator[TidyRow]:
    """Yield each row once for each of its columns: the value, and a p-value."""
    return ({**row, "column": column} for row in rows for column in columns)


def _group_label(group: GroupKey) -> str:
    """Return the values of a group."""
    return ", ".join(shorten_label(value) for _, value in group or ())


def _group_rows(report: Report, group: Mapping[str, object]) -> Iterator[TidyRow]:
    """Yield the numbers of one group in the order of their columns."""
    yield {"measure": "rows", "group": group, "value": report.within(**group).here.rows.value}
    rows: dict[str, TidyRow] = {
        row["measure"]: row for row in report.select(group=group, where=report.place) if row["part"] in VIEW_PARTS
    }
    rows["fpr"] = _complement(rows["specificity"], "fpr")
    yield from (rows[name] for name in _GROUP_COLUMNS)


def _model_prefix(report: Report, model: str) -> str:
    """Return the name of a model, where there are several."""
    return f"{shorten_label(model)}: " if len(report.models) > 1 else ""


def _describe_decision(report: Report) -> str:
    """Describe the decisions on the scores of a model, and the reason of a default threshold."""
    plan, policy, name = report.plan, report.policy, shorten_label(report.model)
    if report.model == plan.predicted:
        return f"Predicted labels of {name} are the decisions: rows with the positive label are flagged."
    decision = describe_policy(policy, name)
    decision = decision if name in decision else f"{name}: {decision}"
    if plan.threshold is None and plan.policy is None and plan.chooses is None:
        why = "0.5, since the scores are probabilities" if policy.rule == "fixed" else "Youden's threshold"
        return f"{decision.partition(' (rule')[0]} (default: {why})."
    return decision


def _describe_prevalence(report: Report) -> str:
    """Describe the prevalence of the natural frequencies."""
    if report.prevalence is not None:
        return f"at the deployment prevalence of {_percent(report.prevalence)}"
    if report.plan.apart:
        return "at the prevalence of each sample"
    return f"at the sample prevalence of {_percent(report.data['prevalence'])}"


def _describe_difference_prevalence(report: Report, rows: Sequence[TidyRow]) -> str:
    """Describe the prevalence of the differences between models."""
    if any(row["where"] == "there" for row in rows):
        return _describe_prevalence(report)
    return "in each sample" if report.plan.apart else "in the sample"


def _describe_group_prevalence(report: Report) -> str:
    """Describe the prevalences of the table of groups."""
    if report.prevalence is None:
        return "Groups in the sample, each at its own prevalence:"
    overall = f"Groups at the deployment prevalence ({_percent(report.prevalence)} overall"
    if isinstance(report.plan.prevalence, Mapping):
        return f"{overall}), each at its stated prevalence, or else at that of the sample:"
    return (
        f"{overall}). The odds of being positive are multiplied by the same factor in every group. State a prevalence "
        "for each group if the factors differ:"
    )


def _percent(share: float) -> str:
    """Format a share in percent."""
    return f"{100 * share:.4g}%"


def _describe_frequencies(report: Report, people: NaturalFrequencies) -> str:
    """Describe the natural frequencies in a few sentences."""
    start = f"Of {POPULATION} people {_describe_prevalence(report)}, {_format_people(people, *POSITIVES)} are positive"
    if not people.has_people("tp", "fp"):
        return f"{start}. Nobody is flagged."
    outcomes = [f"{_format_people(people, name)} {what}" for name, what in _OUTCOMES.items() if name in people.whole]
    return (
        f"{start}: {join_words(outcomes)}. Of {_format_people(people, *NEGATIVES)} negatives, "
        f"{_format_people(people, 'fp')} are flagged (false positives). Of {_format_people(people, 'tp', 'fp')} "
        f"flagged people, {_format_people(people, 'tp')} are positive."
    )


_OUTCOMES = {
    "tp": "of them are flagged (true positives)",
    "referred_positives": "are referred",
    "fn": "are missed (false negatives)",
}


def _format_people(people: NaturalFrequencies, *cells: str) -> str:
    """Format a number of people in a sentence."""
    return people.format_cells(*cells).replace("<1", f"fewer than{_SPACE}1")


def _frequency_table(report: Report, people: NaturalFrequencies) -> Table:
    """Return the confusion matrix of 1000 people."""
    classes = {name: describe_class(name, report.plan.truth, report.data) for name in CONFUSION_CELLS}

    def text(*cells: str) -> str:
        count = people.format_cells(*cells)
        return count if count == "<1" else format_count(int(count), 4)

    return confusion_table(_CORNER, classes, people.whole, text)


def _headline_numbers(report: Report) -> dict[str, TidyRow]:
    """Return the headline numbers by name; names of those that depend on the prevalence contain it."""
    at = "" if report.prevalence is None else f" at {_percent(report.prevalence)}"
    numbers: dict[str, TidyRow | None] = {name: _find_number(report, name) for name in ("sensitivity", "specificity")}
    numbers[f"precision{at}"] = _find_number(report, "precision")
    if at:
        numbers["precision in the sample"] = _find_number(report, "precision", "here")
    ranks = _find_number(report, "auc")
    numbers["auc"] = ranks
    if report.plan.costs is not None:
        numbers[f"cost of {POPULATION} people"] = _scale_to_population(_find_number(report, "expected_cost"))
    elif (expected := _find_number(report, "observed_expected")) is not None:
        numbers[f"O/E ratio{at}"] = expected
    else:
        numbers[f"npv{at}"] = _find_number(report, "npv")
    # Predicted labels have no AUC; their flag rate takes its place.
    numbers[f"flag rate{at}"] = None if ranks else _find_number(report, "flag_rate")
    return {name: row for name, row in numbers.items() if row is not None}


def _find_number(report: Report, name: str, where: Where | None = None) -> TidyRow | None:
    """Return a number of everybody: at the deployment prevalence if one was stated, or at the stated place."""
    own = {"measure": name, "model": report.model, "group": None, "other": None, "where": where or report.place}
    return next((row for row in report.select(**own) if row["part"] in VIEW_PARTS), None)


def _scale_to_population(row: TidyRow | None) -> TidyRow | None:
    """Return a number per person as one per 1000 people."""
    if row is None:
        return None
    return {**row, **{name: row[name] and POPULATION * row[name] for name in ("value", "low", "high")}}


_OPPOSITE = {"value": "value", "low": "high", "high": "low"}
"""Number of a complement -> the number that it is one less of."""


def _complement(row: TidyRow, name: str) -> TidyRow:
    """Return one less a share, with its interval reversed."""
    ends = {to: None if row[end] is None else 1 - row[end] for to, end in _OPPOSITE.items()}
    return {**row, **ends, "measure": name}


def _measure_meaning(report: Report, row: TidyRow) -> str:
    """Return a sentence on a measure; for a cost, with the costs of flagging nobody and everybody."""
    if row["measure"] != "expected_cost":
        return describe(MEASURES[row["measure"]]).summary
    flat = {what: _find_number(report, f"cost_of_flagging_{what}") for what in ("nobody", "everybody")}
    costs = [
        f"{format_number(POPULATION * row['value'], 4)} to flag {what}" for what, row in flat.items() if row is not None
    ]
    return f"Expected cost of the decisions {_describe_prevalence(report)}; {' or '.join(costs)}."


def _describe_rest(many: int, what: str) -> Iterator[str]:
    """Yield a sentence on the lines that a table omits."""
    if many > _MAX_LINES:
        yield f"{many - _MAX_LINES} more {what} are not listed; JSON and CSV contain all."


def _finding_list(report: Report) -> Block | str:
    """Return all findings; the remedy of a code stands once, behind the last of its models."""
    last = {each.code: at for at, each in enumerate(report.findings)}
    points = tuple(_finding_bullet(report, each, last=last[each.code] == at) for at, each in enumerate(report.findings))
    return BulletList("Findings", points) if points else "Findings: none."


def _finding_bullet(report: Report, finding: Finding, *, last: bool) -> Bullet:
    """Return the bullet of a finding; only the last one of a code has the remedy."""
    head = _finding_heading(report, finding)
    if not last or finding.command is None:
        return Bullet(head, finding.sentence, finding.remedy if last else "")
    return Bullet(head, finding.sentence, finding.remedy, finding.command.text, finding.command.language)


def _finding_heading(report: Report, finding: Finding) -> str:
    """Return the heading of a finding: severity, code, title and model."""
    of = f" ({shorten_label(finding.model)})" if finding.model is not None and len(report.models) > 1 else ""
    return f"{_SIGNS[finding.severity]} {finding.code} {finding.title}{of}"
