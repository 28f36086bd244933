"""Text of a report: the verdict, then numbers, models, groups, findings and next commands; methods on request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from baserate._formatting import count_of, format_count, format_percent, join_words, unadjusted_note
from baserate._policy import policy_content
from baserate._results import Results
from baserate.measure import MEASURES, describe
from baserate.report._commands import next_commands
from baserate.report._findings import describe_place
from baserate.report._natural_frequencies import POPULATION, NaturalFrequencies, natural_frequencies
from baserate.report._report import VIEW_PARTS, Finding, Report, View, Where, view_rows
from baserate.report._verdict import Verdict, brief_percent, verdict
from baserate.text import (
    CONFUSION_CELLS,
    Block,
    Bullet,
    BulletList,
    Cell,
    CellFormatter,
    Explanation,
    GroupKey,
    Page,
    Pivot,
    Statement,
    Table,
    TidyRow,
    WarningText,
    confusion_table,
    describe_class,
    describe_files,
    describe_positive,
    describe_rows,
    describe_rule,
    group_key,
    measure_label,
    results_page,
    shorten_label,
)

_MAX_LINES = 12
"""Groups, and differences of groups, that a table shows; a sentence counts the others."""
_MAX_PAIRS = 3
"""Pairs of models whose differences a table shows."""
_NAME, _HALF = 24, 17
"""Characters of a name beside numbers, and beside another name, in a terminal of 80 columns."""
_SUMMARY_DIGITS = 4
"""Significant digits of numbers in the summary for notebooks."""
_ESTIMATE_COLUMNS = ("value", "low", "high", "level", "how", "why")
_DIGEST = 12
"""Characters of a digest that identify it."""
_VALUE = "value"
"""Column of a number beside its p-value."""
_GROUP_COLUMNS = ("prevalence", "flag_rate", "sensitivity", "fpr", "precision")
_SHORT_LABELS = {"precision": "PPV", "observed_expected": "O/E", "auc": "AUC", "npv": "NPV"}
"""Names of measures in tables of a report; the others begin with a capital letter."""


def render_summary(report: Report) -> str:
    """Return the verdict, the key numbers and the findings of a report as HTML for notebooks."""
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
        Significant digits of numbers; percentages have three decimals less.
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
    share = format_percent(data["prevalence"])
    if shares[0]["low"] is not None and not report.plan.apart:
        share += f" ({' to '.join(format_percent(shares[0][end]) for end in ('low', 'high'))})"
    parts = [
        *([shorten_label(report.plan.title)] if report.plan.title else []),
        *([describe_files(report.plan.files)] if report.plan.files else []),
        describe_rows(data),
        describe_positive(report.plan.truth, data),
        f"sample prevalence {share}",
        *["weighted"] * bool(data["weighted"]),
    ]
    return " · ".join(parts)


class _ReportPage:
    """Panels of a report in their order, and the formatter that collects their footnotes."""

    def __init__(self, report: Report, digits: int) -> None:
        self.report, self.format = report, CellFormatter(digits)
        self.by_model = {model: report.of(model) for model in report.models}
        self.notes: list[str] = []
        """Sentences on tables, which stand below all results."""

    def panels(self) -> Iterator[Table | Block | str]:
        """Yield all panels of the page."""
        yield from map(self._verdict, self.by_model.values())
        if len(self.by_model) == 1:
            yield from self._single_model(next(iter(self.by_model.values())))
        else:
            yield f"{_describe_people(self.report)}:"
            yield self._model_table()
            yield from self._model_differences()
        if self.report.groups:
            yield from self._groups()
        yield _finding_list(self.report)
        yield next_commands(self.report)

    def summary(self) -> Page:
        """Return the page without the confusion matrix, groups and commands, for a notebook."""
        verdicts = map(self._verdict, self.by_model.values())
        single = len(self.by_model) == 1
        numbers = self._number_table(next(iter(self.by_model.values()))) if single else self._model_table()
        bullets = tuple(_finding_bullet(self.report, each, last=False) for each in self.report.findings)
        findings = BulletList("Findings", bullets, _describe_ignored_codes(self.report)).without_explanations()
        panels = (*verdicts, numbers, findings if bullets else "Findings: none.")
        return Page(report_headline(self.report), panels, self.format.reasons.footnotes())

    def footnotes(self) -> tuple[str, ...]:
        """Return reasons of undefined numbers, methods of intervals, notes on the data, and their digest."""
        data = {"interval": {"level": self.report.plan.level, "clusters": False}}
        notes = (f"note: {shorten_label(note, 500)}" for note in self.report.data["notes"])
        digest = f"Digest of the data {self.report.data['digest'][:_DIGEST]}, baserate {self.report.data['version']}."
        return (*notes, *dict.fromkeys(self.notes), *self.format.footnotes(None, data), digest)

    def _verdict(self, report: Report) -> Statement:
        """Return the verdict on a model."""
        title = f"Verdict: {_model_label(report, report.model)}" if len(self.by_model) > 1 else "Verdict"
        answer = verdict(report)
        texts = (answer.sentence, answer.measure_line, _describe_origin(report))
        warnings = tuple(WarningText(each.severity, each.text) for each in answer.warnings)
        return Statement(title, tuple(filter(None, texts)), warnings, _banner_of(answer))

    def _single_model(self, report: Report) -> Iterator[Table | str]:
        """Yield the headline numbers, and the confusion matrix of 1,000 people."""
        people = natural_frequencies(report.there)
        yield self._number_table(report)
        yield f"{_describe_people(report)}:"
        yield _frequency_table(report, people)
        if people.has_people("referred_positives", "referred_negatives"):
            yield "Rates of decisions exclude referred people."

    def _number_table(self, report: Report) -> Table:
        """Return the headline numbers, with their meanings."""
        numbers = _headline_numbers(report)
        heading = f"{100 * report.plan.level:.14g}% CI"
        pivot = Pivot(
            line=itemgetter("name"),
            column=lambda _row: heading,
            cell=self._cell,
            label=str,
            section=_scale,
            title=lambda _scale: "",
            meaning=lambda name: _measure_meaning(numbers[name]),
            apart={"number", "cost"},
        )
        rows = [{**row, "name": name} for name, row in numbers.items()]
        table = pivot.table(rows, corner="Performance")
        return replace(table, narrow=replace(pivot, label=_narrow_name).table(rows, corner="Performance"))

    def _cell(self, row: TidyRow) -> Cell:
        """Return a share as a percentage, and another number with its significant digits."""
        named = {**row, "measure": f"differences of {measure_label(row['measure'])}"} if "column" in row else row
        if _scale(row) == "percent":
            return self.format.rate(named)
        return self.format.estimate(named, several=len(self.by_model) > 1)

    def _model_table(self) -> Table:
        """Return natural frequencies and headline numbers with a column for each model."""
        counts = {"True positives": "tp", "False negatives": "fn", "False positives": "fp"}
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
            section=lambda row: "people" if "people" in row else _scale(row),
            cell=lambda row: row["people"] if "people" in row else self._cell(row),
            heading=lambda model: _model_label(self.report, model),
            title=lambda _section: "",
            label=str,
            apart={"people", "number", "cost"},
        )
        return pivot.table(rows)

    def _model_differences(self) -> Iterator[Table | str]:
        """Yield differences between models, pair by pair."""
        rows = self.report.select(part="differences")
        pairs = list(dict.fromkeys((row["model"], row["other"]) for row in rows))
        pivot = self._differences(section=_scale, line=itemgetter("measure"), label=_measure_name, title=lambda _: "")
        columns = (_VALUE, "p", "p_adjusted")[: 3 if len(rows) > 1 else 2]
        for pair in pairs[:_MAX_PAIRS]:
            names = " − ".join(_model_label(self.report, name) for name in pair)
            own = [row for row in rows if (row["model"], row["other"]) == pair]
            cuts = ", each at its own threshold" if any(row["threshold"] is not None for row in own) else ""
            deployed = any(row["where"] == "there" for row in own)
            where = (
                describe_place(self.report)
                if deployed
                else "in each sample"
                if self.report.plan.apart
                else "in the sample"
            )
            yield f"{names}{cuts}, {where}:"
            yield pivot.table(_with_p_values(own, columns), corner="Differences")
        if len(rows) > 1:
            self.notes.append(f"Holm-adjusted p: over all {len(rows)} comparisons of models. {self._multiplicity_note}")
        if len(pairs) > _MAX_PAIRS:
            self.notes.append(
                f"{len(pairs) - _MAX_PAIRS} more pairs of models are not listed; JSON and CSV contain all."
            )

    @property
    def _multiplicity_note(self) -> str:
        return unadjusted_note(self.report.plan.level)

    def _differences(
        self,
        *,
        section: Callable[[TidyRow], str],
        line: Callable[[TidyRow], Any],
        label: Callable[[Any], str],
        title: Callable[[Any], str],
    ) -> Pivot:
        """Return the layout of differences: the difference with its interval, and a p-value."""
        return Pivot(
            section=section,
            line=line,
            column=itemgetter("column"),
            cell=lambda row: self._cell(row) if row["column"] == _VALUE else self.format.p_value(row, row["column"]),
            heading={_VALUE: "", "p": "p", "p_adjusted": "Holm-adjusted p"}.__getitem__,
            label=label,
            title=title,
        )

    def _groups(self) -> Iterator[Table | str]:
        """Yield a table of groups for each model, at the prevalence of the headline numbers, and differences."""
        yield _describe_group_prevalence(self.report)
        if self.report.prevalence is not None and not isinstance(self.report.plan.prevalence, Mapping):
            self.notes.append(_GROUP_PREVALENCES)
        by = f"By {', '.join(map(shorten_label, self.report.plan.group))}"
        pivot = Pivot(
            line=group_key,
            column=itemgetter("measure"),
            cell=lambda row: self.format.count(row) if row["measure"] == "rows" else self._cell(row),
            heading=lambda measure: {"fpr": "FPR"}.get(measure) or _measure_name(measure),
            label=_group_label,
        )
        for model, report in self.by_model.items():
            rows = [row for group in report.groups[:_MAX_LINES] for row in _group_rows(report, group)]
            yield pivot.table(rows, corner=f"{_model_prefix(self.report, model)}{by}")
        if len(self.report.groups) > _MAX_LINES:
            omitted = len(self.report.groups) - _MAX_LINES
            self.notes.append(f"{count_of(omitted, 'more group')} not listed; JSON and CSV contain all.")
        for model, report in self.by_model.items():
            yield from self._group_differences(report, _model_prefix(self.report, model))

    def _group_differences(self, report: Report, prefix: str) -> Iterator[Table | str]:
        """Yield differences from the reference group, and the number of comparisons without a test."""
        rows = report.select(part="group_differences")
        tested = [row for row in rows if row["p_adjusted"] is not None]
        strongest = sorted(range(len(tested)), key=lambda at: tested[at]["p_adjusted"])[:_MAX_LINES]
        if tested:
            pivot = self._differences(
                section=itemgetter("measure"),
                title=lambda measure: {"fpr": "False positive rate"}.get(measure) or _measure_name(measure),
                line=lambda row: (group_key(row), tuple(row["other_group"].items())),
                label=lambda pair: " − ".join(map(_group_label, pair)),
            )
            lines = _with_p_values([tested[at] for at in sorted(strongest)], (_VALUE, "p_adjusted"))
            yield f"{prefix}Differences from {_reference(report)}, tested in the sample, at its own prevalence:"
            yield pivot.table(lines)
            family = f"Holm-adjusted p: over all {len(tested)} comparisons of groups."
            self.notes.append(f"{prefix}{family} {self._multiplicity_note}")
        if len(tested) > _MAX_LINES:
            rest = f"the table lists the {_MAX_LINES} with the smallest p; JSON and CSV contain all."
            self.notes.append(f"{prefix}Of {len(tested)} differences, {rest}")
        if len(tested) < len(rows):
            few = f"a group has fewer than {report.plan.min_group} rows for the measure"
            self.notes.append(f"{prefix}{len(rows) - len(tested)} of {len(rows)} comparisons are not tested: {few}.")


def _reference(report: Report) -> str:
    """Return the group that others are compared with."""
    return f"the {'reference' if report.plan.reference is not None else 'largest'} group"


def _banner_of(answer: Verdict) -> WarningText | None:
    """Return the banner of a verdict, if it has one."""
    return None if answer.banner is None else WarningText(answer.banner.severity, answer.banner.text)


def _scale(row: TidyRow) -> str:
    """Return how a number is written: as a percentage, as a number, or as a cost."""
    if row["measure"] == "expected_cost":
        return "cost"
    return "percent" if describe(MEASURES[row["measure"]]).percent else "number"


def _measure_name(measure: str) -> str:
    """Return the name of a measure, with a capital letter.

    >>> _measure_name("precision"), _measure_name("auc"), _measure_name("brier")
    ('PPV', 'AUC', 'Brier')
    """
    name = _SHORT_LABELS.get(measure) or measure_label(measure)
    return name[:1].upper() + name[1:]


def _narrow_name(name: str) -> str:
    """Return the name of a headline number for a narrow terminal.

    >>> _narrow_name("PPV (precision) at 2% prevalence"), _narrow_name("Cost per 1,000 people in the sample")
    ('PPV at 2%', 'Cost per 1,000 in the sample')
    """
    return re.sub(r" \(\w+\)| prevalence| people", "", name)


def _model_label(report: Report, model: str) -> str:
    """Return the name of a model for readers."""
    return shorten_label((report.plan.model_labels or {}).get(model, model), _NAME)


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
    return f"{_model_label(report, model)}: " if len(report.models) > 1 else ""


def _describe_origin(report: Report) -> str:
    """Describe the rule that chose the threshold, or the default; nothing where the user stated it."""
    plan, policy = report.plan, report.policy
    if report.model == plan.predicted or plan.threshold is not None:
        return ""
    if plan.policy is None and plan.chooses is None:
        why = "0.5, since the scores are probabilities" if policy.rule == "fixed" else "that of Youden's index"
        return f"Default threshold: {why}."
    rule = describe_rule(policy.rule, {"costs": None, **policy_content(policy)["settings"]})
    return f"Rule: {rule}."


def _describe_samples(report: Report) -> str:
    """Describe the prevalence of numbers: that of deployment, or of the sample or samples."""
    return "in each sample" if report.plan.apart and report.prevalence is None else describe_place(report)


def _describe_group_prevalence(report: Report) -> str:
    """Describe the prevalences of the table of groups."""
    if report.prevalence is None:
        return "Groups in the sample, each at its own prevalence:"
    overall = f"Groups {describe_place(report)} overall"
    if isinstance(report.plan.prevalence, Mapping):
        return f"{overall}, each at its stated prevalence, or else at that of the sample:"
    return f"{overall}:"


_GROUP_PREVALENCES = (
    "Prevalences of groups: the odds of being positive are multiplied by the same factor in every group. State a "
    "prevalence for each group if the factors differ."
)


def _describe_people(report: Report) -> str:
    """Describe the prevalence of numbers of 1,000 people."""
    where = f"at the sample prevalence ({brief_percent(report.data['prevalence'])})"
    if report.prevalence is not None or report.plan.apart:
        where = _describe_samples(report)
    return f"Per {POPULATION:,} people {where}"


def _frequency_table(report: Report, people: NaturalFrequencies) -> Table:
    """Return the confusion matrix of 1,000 people, in the words of the reader."""
    plan = report.plan
    classes = {name: describe_class(name, plan.truth, report.data) for name in CONFUSION_CELLS}
    if plan.outcome_name:
        words = (shorten_label(plan.outcome_name, _NAME), f"not {shorten_label(plan.outcome_name, _NAME)}")
        classes = {name: each.replace(name, word, 1) for (name, each), word in zip(classes.items(), words, strict=True)}

    def text(*cells: str) -> str:
        count = people.format_cells(*cells)
        return count if count == "<1" else format_count(int(count), 4)

    table = confusion_table("", classes, people.whole, text)
    if plan.flag_name is None:
        return table
    flagged = shorten_label(plan.flag_name, _NAME)
    words_by_name = {"flagged": flagged, "not flagged": f"not {flagged}"}
    columns = tuple(words_by_name.get(each, each) for each in table.columns)
    narrow = table.narrow and replace(table.narrow, columns=(flagged, *table.narrow.columns[1:]))
    return replace(table, columns=columns, narrow=narrow)


def _headline_numbers(report: Report) -> dict[str, TidyRow]:
    """Return the headline numbers by name; names of those that depend on the prevalence contain it."""
    at = describe_place(report)
    numbers: dict[str, TidyRow | None] = {
        "Sensitivity (recall)": _find_number(report, "sensitivity"),
        "Specificity": _find_number(report, "specificity"),
        f"PPV (precision) {at}": _find_number(report, "precision"),
    }
    if report.prevalence is not None:
        numbers["PPV (precision) in the sample"] = _find_number(report, "precision", "here")
    numbers |= {f"{name} {at}": _find_number(report, key) for name, key in (("NPV", "npv"), ("Flag rate", "flag_rate"))}
    numbers["AUC"] = _find_number(report, "auc")
    numbers[f"O/E {at}"] = _find_number(report, "observed_expected")
    if report.plan.costs is not None:
        numbers[f"Cost per {POPULATION:,} people {at}"] = _scale_to_population(_find_number(report, "expected_cost"))
    return {name: row for name, row in numbers.items() if row is not None}


def _find_number(report: Report, name: str, where: Where | None = None) -> TidyRow | None:
    """Return a number of everybody: at the deployment prevalence if one was stated, or at the stated place."""
    own = {"measure": name, "model": report.model, "group": None, "other": None, "where": where or report.place}
    return next((row for row in report.select(**own) if row["part"] in VIEW_PARTS), None)


def _scale_to_population(row: TidyRow | None) -> TidyRow | None:
    """Return a number per person as one per 1,000 people."""
    if row is None:
        return None
    return {**row, **{name: row[name] and POPULATION * row[name] for name in ("value", "low", "high")}}


_OPPOSITE = {"value": "value", "low": "high", "high": "low"}
"""Number of a complement -> the number that it is one less of."""


def _complement(row: TidyRow, name: str) -> TidyRow:
    """Return one less a share, with its interval reversed."""
    ends = {to: None if row[end] is None else 1 - row[end] for to, end in _OPPOSITE.items()}
    return {**row, **ends, "measure": name}


def _measure_meaning(row: TidyRow) -> Explanation:
    """Return a sentence on a measure."""
    if row["measure"] == "expected_cost":
        return Explanation("Expected cost of the decisions.")
    return Explanation(describe(MEASURES[row["measure"]]).summary)


def _finding_list(report: Report) -> Block | str:
    """Return all findings; the remedy of a code stands once, behind the last of its models."""
    last = {each.code: at for at, each in enumerate(report.findings)}
    points = tuple(_finding_bullet(report, each, last=last[each.code] == at) for at, each in enumerate(report.findings))
    rest = _describe_ignored_codes(report)
    return BulletList("Findings", points, rest) if points else f"Findings: none. {rest}".rstrip()


def _describe_ignored_codes(report: Report) -> str:
    """Describe the codes that the plan ignores."""
    codes = report.plan.ignore
    option = "--ignore" if report.plan.files else "ignore"
    return f"Ignored: {join_words(codes)}. Leave out {option} to list them." if codes else ""


def _finding_bullet(report: Report, finding: Finding, *, last: bool) -> Bullet:
    """Return the bullet of a finding; only the last one of a code has the reason, the remedy and the command."""
    of = _model_prefix(report, finding.model) if finding.model is not None else ""
    bullet = Bullet(f"{finding.code} {of}{finding.headline}", finding.sentence, severity=finding.severity)
    if not last:
        return bullet
    bullet = bullet._replace(remedy=finding.remedy, why=finding.why)
    return (
        bullet
        if finding.command is None
        else bullet._replace(command=finding.command.text, language=finding.command.language)
    )
