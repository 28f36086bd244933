"""Report -> a page that one can read in a minute: what was read, a thousand people, five numbers, what to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from baserate._formatting import format_count, format_number, format_p, join_words, unadjusted_note
from baserate.equalize import MIN_SIZE
from baserate.measure import MEASURES, about
from baserate.report._commands import ahead
from baserate.report._finding import Finding
from baserate.report._report import VIEWED, Report, Where
from baserate.report._thousand import MANY, NEGATIVES, POSITIVES, Thousand, thousand
from baserate.text import (
    Block,
    Bullet,
    BulletList,
    Cell,
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    describe_class,
    describe_files,
    describe_policy,
    describe_positive,
    describe_rows,
    estimate_cell,
    format_bounds,
    interval_footnotes,
    interval_heading,
    shorten_label,
)

Line = Mapping[str, Any]

_SIGNS = {"serious": "!!", "caution": "!", "note": "·"}
_MOST = 12
"""Groups, and differences, that are shown; how many more there are is told."""
_NAME, _HALF = 24, 17
"""Letters of a name that stands beside numbers, or beside another one, in the narrowest terminal."""
_DIGEST = 12
"""Letters of a digest that are enough to tell it from others."""
_SPACE = "\N{NO-BREAK SPACE}"
_CORNER = f"of {MANY} people"
_OF_GROUPS = ("prevalence", "flag_rate", "sensitivity", "fpr", "precision")


def page(report: Report, digits: int = 4) -> Page:
    """Lay a report out."""
    sheet = _Sheet(report, digits)
    panels = tuple(sheet.panels())
    return Page(line(report), panels, sheet.footnotes())


def line(report: Report) -> str:
    """One line on what was read."""
    data, found = report.data, report.pick(part="data", measure="prevalence", group=None, where="here")
    share = f"{format_number(100 * data['prevalence'], 4)} %"
    if found[0]["low"] is not None and not report.plan.apart:
        share += f" ({' – '.join(format_bounds(100 * found[0]['low'], 100 * found[0]['high'], 4, 2))})"
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


class _Sheet:
    """A report, and reasons why some of its numbers are undefined, in the order of their mention."""

    def __init__(self, report: Report, digits: int) -> None:
        self.report, self.digits = report, digits
        self.each = {model: report.of(model) for model in report.models}
        self.reasons = Footnotes()
        self.shown: list[Line] = []
        """Numbers of the page, of which a footnote tells how their intervals were made."""

    def panels(self) -> Iterator[Table | Block | str]:
        """All parts of the page."""
        yield from map(_done, self.each.values())
        if len(self.each) == 1:
            yield from self._alone(next(iter(self.each.values())))
        else:
            yield from self._side_by_side()
        if self.report.groups:
            yield from self._groups()
        yield _findings(self.report)
        yield ahead(self.report)

    def footnotes(self) -> tuple[str, ...]:
        """Why numbers are undefined, how intervals were made, and what else is to be known of the rows."""
        data = {"interval": {"level": self.report.plan.level, "clusters": False}}
        notes = (f"note: {shorten_label(note, 500)}" for note in self.report.data["notes"])
        return (*self.reasons.footnotes(), *interval_footnotes(self.shown, data), *notes)

    def _alone(self, report: Report) -> Iterator[Table | str]:
        people = thousand(report.there)
        yield _frequencies(report, people)
        yield _table(report, people)
        if people.some("referred_positives", "referred_negatives"):
            yield "Rates of decisions are of those who are decided, not of those who are referred."
        level = {"interval": {"level": report.plan.level}}
        rows = tuple(self._row(name, [row], _meaning(report, row)) for name, row in _five(report).items())
        yield Table("", (interval_heading(level),), (Section("", rows),))

    def _side_by_side(self) -> Iterator[Table | str]:
        """Return a column for each model, and how far they lie apart."""
        people = [thousand(each.there) for each in self.each.values()]
        cells = {"positives found": "tp", "positives missed": "fn", "false alarms": "fp"}
        counted = tuple(Row(name, tuple(each.many(at) for each in people)) for name, at in cells.items())
        five = [_five(each) for each in self.each.values()]
        names = dict.fromkeys(name for each in five for name in each)
        rows = tuple(self._row(name, [each.get(name) for each in five]) for name in names)
        sections = (Section("", counted, apart=True), Section("", rows))
        yield f"Of {MANY} people {_where(self.report)}:"
        yield Table(_CORNER, tuple(shorten_label(model, _NAME) for model in self.each), sections)
        yield from self._differences()

    def _differences(self) -> Iterator[Table | str]:
        """Return how far two models lie apart, pair by pair."""
        found = self.report.pick(part="differences")
        pairs: dict[str, list[Row]] = {}
        chance = "p" if len({(row["model"], row["other"]) for row in found}) == 1 else "p_adjusted"
        for row in found[:_MOST]:
            p = format_p(row[chance], is_bound=row["p_is_bound"])
            told = Row(_words(row["measure"]), (self._cell(_difference(row)), p))
            pairs.setdefault(f"{shorten_label(row['model'], _HALF)} − {shorten_label(row['other'], _HALF)}", []).append(
                told
            )
        if pairs:
            sections = tuple(Section(pair, tuple(rows)) for pair, rows in pairs.items())
            yield Table("differences", ("", "p" if chance == "p" else "Holm-adjusted p"), sections)
        if pairs and chance != "p":
            note = unadjusted_note(self.report.plan.level)
            yield f"Holm-adjusted p: over all pairs of models for one measure. {note}"
        yield from _more(len(found), "differences")

    def _groups(self) -> Iterator[Table | str]:
        """Return a row for each group, at the same prevalence as the headline, and say which that is."""
        yield _where_groups_are(self.report)
        for model, each in self.each.items():
            rows = tuple(self._group(each, group) for group in each.groups[:_MOST])
            by = f"{_of(self.report, model)}by {', '.join(map(shorten_label, self.report.plan.group))}"
            yield Table(by, ("rows", *map(_words, _OF_GROUPS)), (Section("", rows),))
        yield from _more(len(self.report.groups), "groups")
        for model, each in self.each.items():
            yield from self._group_differences(each, _of(self.report, model))

    def _group_differences(self, report: Report, of: str) -> Iterator[Table | str]:
        """Return the differences from the reference group, and which groups are not tested."""
        found = report.pick(part="group_differences")
        tested = [row for row in found if row["p_adjusted"] is not None]
        sections: dict[str, list[Row]] = {}
        shown = sorted(range(len(tested)), key=lambda at: tested[at]["p_adjusted"])[:_MOST]
        for row in (tested[at] for at in sorted(shown)):
            pair = " − ".join(", ".join(map(shorten_label, row[name].values())) for name in ("group", "other_group"))
            p = format_p(row["p_adjusted"], is_bound=row["p_is_bound"])
            sections.setdefault(_words(row["measure"]), []).append(Row(pair, (self._cell(_difference(row)), p)))
        if sections:
            if report.prevalence is not None:
                yield "Differences are tested in the sample, at its own prevalence:"
            columns = ("", "Holm-adjusted p")
            rows = tuple(Section(measure, tuple(each)) for measure, each in sections.items())
            yield Table(f"{of}differences from the largest group", columns, rows)
            family = f"Holm-adjusted p: over all {len(tested)} comparisons of groups in four measures."
            yield f"{family} {unadjusted_note(report.plan.level)}"
        if len(tested) > _MOST:
            yield f"Of {len(tested)} differences, the {_MOST} with the smallest p are shown; JSON and CSV hold all."
        if len(tested) < len(found):
            few = f"a group has fewer than {MIN_SIZE} rows on which the measure rests"
            yield f"Not tested are {len(found) - len(tested)} of {len(found)} comparisons: {few}."

    def _group(self, report: Report, group: Mapping[str, object]) -> Row:
        rows: dict[str, Line] = {
            row["measure"]: row for row in report.pick(group=group, where=report.place) if row["part"] in VIEWED
        }
        rows["fpr"] = _turned(rows["specificity"], "fpr")
        many = format_count(report.within(**group).here.rows.value, self.digits)
        return Row(
            ", ".join(map(shorten_label, group.values())), (many, *(self._cell(rows[name]) for name in _OF_GROUPS))
        )

    def _row(self, name: str, found: Sequence[Line | None], meaning: str = "") -> Row:
        cells = tuple("" if row is None else self._cell(row, several=len(found) > 1) for row in found)
        return Row(name, cells, meaning)

    def _cell(self, row: Line, *, several: bool = True) -> Cell:
        self.shown.append(row)
        return estimate_cell(row, self.reasons, digits=self.digits, several=several)


def _of(report: Report, model: str) -> str:
    return f"{shorten_label(model)}: " if len(report.models) > 1 else ""


def _done(report: Report) -> str:
    """What is done with the scores of a model, and why."""
    plan, policy, name = report.plan, report.policy, shorten_label(report.model)
    if report.model == plan.predicted:
        return f"Flagged are those who are positive by {name}."
    told = describe_policy(policy, name)
    told = told if name in told else f"{name}: {told}"
    if plan.threshold is None and plan.policy is None and plan.chooses is None:
        why = "0.5, as these are probabilities" if policy.rule == "fixed" else "Youden's cut-off"
        return f"{told.partition(' (rule')[0]} (nobody said where to cut, so it is {why})."
    return told


def _where(report: Report) -> str:
    """At which prevalence a thousand people are thought to be."""
    if report.prevalence is not None:
        return f"at a prevalence of {_percent(report.prevalence)}"
    if report.plan.apart:
        return "at the prevalence of each sample"
    return f"at a prevalence of {_percent(report.data['prevalence'])}, that of the sample"


def _where_groups_are(report: Report) -> str:
    """At which prevalences the table of groups holds."""
    if report.prevalence is None:
        return "Groups in the sample, each at its own prevalence:"
    overall = f"Groups at the deployment prevalence ({_percent(report.prevalence)} overall"
    if isinstance(report.plan.prevalence, Mapping):
        return f"{overall}), each at the prevalence stated for it, or else at that of the sample:"
    return (
        f"{overall}). The odds of being positive change by the same factor in every group; state a prevalence for each "
        "group if they differ:"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.4g}{_SPACE}%"


def _frequencies(report: Report, people: Thousand) -> str:
    """What happens to a thousand people, in a few sentences."""
    begun = f"Of {MANY} people {_where(report)}, {_many(people, *POSITIVES)} are positive"
    if not people.some("tp", "fp"):
        return f"{begun}. Nobody is flagged."
    own = [f"{_many(people, name)} {what}" for name, what in _FATES.items() if name in people.whole]
    alarms = f"{_many(people, 'fp')} are flagged, too" if people.some("fp") else "none is flagged"
    return (
        f"{begun}: {join_words(own)}. Of the {_many(people, *NEGATIVES)} others, {alarms}. "
        f"So of {_many(people, 'tp', 'fp')} who are flagged, {_many(people, 'tp')} are positive."
    )


_FATES = {"tp": "of them are flagged", "referred_positives": "are referred", "fn": "are missed"}


def _many(people: Thousand, *cells: str) -> str:
    return people.many(*cells).replace("<1", f"fewer than{_SPACE}1")


def _table(report: Report, people: Thousand) -> Table:
    """The 2×2 table of a thousand people, truth in rows."""
    kept = [[cell for cell in cells if cell in people.whole] for cells in (POSITIVES, NEGATIVES)]
    names = [describe_class(name, report.plan.truth, report.data) for name in ("positive", "negative")]
    lines = {name: [*((cell,) for cell in cells), tuple(cells)] for name, cells in zip(names, kept, strict=True)}
    lines["total"] = [tuple(pair) for pair in zip(*kept, strict=True)] + [tuple(kept[0] + kept[1])]
    rows = tuple(
        Row(name, tuple(format_count(int(many), 4) if (many := people.many(*each)) != "<1" else many for each in line))
        for name, line in lines.items()
    )
    columns = ("flagged", *["referred"] * (len(kept[0]) > len(("tp", "fn"))), "passed", "total")
    return Table(_CORNER, columns, (Section("", rows),), upright=True)


def _five(report: Report) -> dict[str, Line]:
    """Five numbers to know, by name; those that change with the prevalence say at which one they hold."""
    at = "" if report.prevalence is None else f" at {_percent(report.prevalence)}"
    found: dict[str, Line | None] = {name: _number(report, name) for name in ("sensitivity", "specificity")}
    found[f"precision{at}"] = _number(report, "precision")
    if at:
        found["precision in the sample"] = _number(report, "precision", "here")
    ranks = _number(report, "auc")
    found["auc"] = ranks
    if report.plan.costs is not None:
        found[f"cost of {MANY} people"] = _scaled(_number(report, "expected_cost"))
    elif (expected := _number(report, "observed_expected")) is not None:
        found[f"O/E ratio{at}"] = expected
    else:
        found[f"npv{at}"] = _number(report, "npv")
    found[f"flag rate{at}"] = None if ranks else _number(report, "flag_rate")
    return {name: row for name, row in found.items() if row is not None}


def _number(report: Report, name: str, where: Where | None = None) -> Line | None:
    """A number of everybody, at the deployment prevalence if one was stated, or in the place that is named."""
    own = {"measure": name, "model": report.model, "group": None, "other": None, "where": where or report.place}
    return next((row for row in report.pick(**own) if row["part"] in VIEWED), None)


def _scaled(row: Line | None) -> Line | None:
    if row is None:
        return None
    return {**row, **{name: row[name] and MANY * row[name] for name in ("value", "low", "high")}}


def _turned(row: Line, name: str) -> Line:
    """The share of those for whom it is not so."""
    ends = {to: None if row[end] is None else 1 - row[end] for to, end in _OPPOSITE.items()}
    return {**row, **ends, "measure": name}


_OPPOSITE = {"value": "value", "low": "high", "high": "low"}


def _meaning(report: Report, row: Line) -> str:
    if row["measure"] != "expected_cost":
        return about(MEASURES[row["measure"]]).summary
    flat = {what: _number(report, f"cost_of_flagging_{what}") for what in ("nobody", "everybody")}
    told = [f"{format_number(MANY * row['value'], 4)} to flag {what}" for what, row in flat.items() if row is not None]
    return f"What decisions cost {_where(report)}; {' or '.join(told)}."


def _difference(row: Line) -> Line:
    """The same, of which a footnote tells that it is a difference."""
    return {**row, "measure": f"differences of {row['measure']}"}


def _more(many: int, what: str) -> Iterator[str]:
    if many > _MOST:
        yield f"{many - _MOST} more {what} are not shown; JSON and CSV hold all."


def _findings(report: Report) -> Block | str:
    """All findings; what to do is said once for each code, behind the last of its models."""
    last = {each.code: at for at, each in enumerate(report.findings)}
    points = tuple(_point(report, each, last=last[each.code] == at) for at, each in enumerate(report.findings))
    return BulletList("Findings", points) if points else "Findings: none."


def _point(report: Report, found: Finding, *, last: bool) -> Bullet:
    head = _head(report, found)
    if not last or found.command is None:
        return Bullet(head, found.sentence, found.remedy if last else "")
    return Bullet(head, found.sentence, found.remedy, found.command.text, found.command.language)


def _head(report: Report, found: Finding) -> str:
    of = f" ({shorten_label(found.model)})" if found.model is not None and len(report.models) > 1 else ""
    return f"{_SIGNS[found.severity]} {found.code} {found.title}{of}"


def _words(name: str) -> str:
    return name.replace("_", " ")
