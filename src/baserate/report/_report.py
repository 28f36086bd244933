"""Report and its parts: the table of numbers, views of it, findings, and the JSON file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from baserate._arrays import FrozenMapping
from baserate._counts import Counts
from baserate._errors import (
    BaserateError,
    FileFormatError,
    OptionError,
    UnknownNameError,
    ask_whether_meant,
    unknown_name,
)
from baserate._files import REPORT, FileKind, JsonFile, format_file, parse_file, write_text
from baserate._formatting import count_of, format_number, replace_unprintable
from baserate._lazy import load_object
from baserate._policy import Policy
from baserate._rendering import Printable, Renderable
from baserate._results import Estimate, Results, estimate_of, json_ready
from baserate.measure import resolve_name, suggest_names
from baserate.report._curves import ThinnedCurve
from baserate.report._plan import Plan

if TYPE_CHECKING:
    from baserate.report._verdict import Verdict

Where = Literal["here", "there"]
COLUMNS = (
    *("part", "measure", "model", "group", "other", "other_group", "where", "prevalence", "threshold"),
    *("value", "low", "high", "level", "how", "why", "p", "p_adjusted", "p_is_bound", "floor", "floor_high", "small"),
    *("model_value", "other_value", "other_threshold"),
)
"""Columns of the table of numbers. `part` is the kind of number; `where` is "here" (sample) or "there" (deployment).

The last three belong to differences between models: the number of each, and the threshold of the second one.
"""
_LATER_COLUMNS = ("model_value", "other_value", "other_threshold")
"""Columns that reports of early releases lack."""
CELLS = ("tp", "fp", "fn", "tn")
_INFINITE = {"inf": float("inf"), "-inf": float("-inf")}


class Snippet(NamedTuple):
    """A complete command for a shell, or Python statements, to copy and run."""

    language: Literal["sh", "python"]
    text: str


Severity = Literal["serious", "caution", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "caution", "note")
"""Serious: a number does not mean what it seems to. Caution: it may mislead. Note: worth knowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Renderable):
    """What a reader of a report should know: a headline with its number, the evidence, why it matters, what to do."""

    code: str
    """Permanent identifier, such as "BR004"; no release reuses it."""
    title: str
    """What all findings of a code have in common."""
    severity: Severity
    sentence: str
    """The evidence, with confidence intervals."""
    why: str
    remedy: str
    """What to do, in a sentence or two."""
    command: Snippet | None = None
    """The remedy as a command with the files, columns and costs of the report; None where no command can do it."""
    model: str | None = None
    """Name of the model; None for a finding about all models or about the rows."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """Numbers of the headline and of the evidence at full precision, by name."""
    headline: str = ""
    """The finding in a few words, with its number; in files of early releases the title."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", FrozenMapping(self.numbers))
        object.__setattr__(self, "headline", self.headline or self.title)

    def __repr__(self) -> str:
        of = "" if self.model is None else f" of {replace_unprintable(self.model)}"
        return f"Finding({self.code}{of}, {self.severity}: {self.headline})"

    @property
    def anchor(self) -> str:
        """Its page in the documentation."""
        return f"findings/{self.code}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report(Printable, JsonFile):
    """Results of a plan: numbers with intervals, policies, and findings. `print` shows it as the terminal does.

    Every number is a row of `numbers`, and an attribute of a view: `report.here.auc` in the sample,
    `report.there.precision`, also named `report.there.ppv`, at the deployment prevalence (of numbers that hold for the
    sample alone, such as `rows`, `there` has none), `report.of("risk").here.auc` of one of several models,
    `report.within(site="north").here.sensitivity` of a group; `report.gaps` are those between groups, and
    `report.differences` those between models.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.1)
    >>> report.here.auc.value, report.here.precision.value, round(report.there.precision.value, 4)
    (0.75, 0.5, 0.1)
    """

    _page_function: ClassVar[str] = "baserate.report._text:report_page"
    file_kind: ClassVar[FileKind] = REPORT
    plan: Plan
    data: Mapping[str, Any]
    """Summary of the data: rows read and dropped, classes, columns, the digest, and the release of baserate."""
    numbers: Results
    policies: Mapping[str, Policy]
    """Model -> policy that decides on its scores."""
    findings: tuple[Finding, ...] = ()
    group: Mapping[str, object] | None = field(default=None, kw_only=True)
    """Group of the views; None for everybody."""
    sketches: tuple[ThinnedCurve, ...] = field(default=(), kw_only=True)
    """Thinned curve of each model, for the page; empty in files of early releases."""

    def __post_init__(self) -> None:
        # Frozen dataclasses set fields by object.__setattr__; mappings become read-only.
        for name in ("data", "policies"):
            object.__setattr__(self, name, FrozenMapping(getattr(self, name)))

    def __repr__(self) -> str:
        codes = ", ".join(dict.fromkeys(finding.code for finding in self.findings)) or "none"
        models = ", ".join(map(replace_unprintable, self.models))
        return f"Report({models}; {count_of(self.data['rows'], 'row')}; findings: {codes})"

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.policies)

    @property
    def model(self) -> str:
        """Name of the only model."""
        if len(self.policies) > 1:
            raise OptionError(
                "the report has several models.", remedy=f"Select one with report.of({self.models[0]!r})."
            )
        return self.models[0]

    @property
    def policy(self) -> Policy:
        """Policy of the only model."""
        return self.policies[self.model]

    @property
    def verdict(self) -> Verdict:
        """Answer for the only model: the decision, its consequences per 1,000 people, key measures, and warnings."""
        answer: Verdict = load_object("baserate.report._verdict:verdict")(self)
        return answer

    @property
    def here(self) -> View:
        """Numbers in the sample."""
        return View(self, "here")

    @property
    def there(self) -> View:
        """Numbers at the deployment prevalence; in the sample, if none was stated."""
        return View(self, self.place)

    @property
    def place(self) -> Where:
        """Where headline numbers hold: "there" if a deployment prevalence was stated, otherwise "here"."""
        return "here" if self.plan.prevalence is None else "there"

    @property
    def prevalence(self) -> float | None:
        """Deployment prevalence of everybody, as stated or as prevalences of groups add up to; None if none was."""
        if not isinstance(self.plan.prevalence, Mapping):
            return self.plan.prevalence
        return float(self.select(part="data", measure="prevalence", group=None, where="there")[0]["value"])

    @property
    def groups(self) -> tuple[Mapping[str, object], ...]:
        """The groups, each a mapping from attribute to value."""
        groups = {str(row["group"]): row["group"] for row in self.select(part="data", measure="rows") if row["group"]}
        return tuple(groups.values())

    @property
    def gaps(self) -> Results:
        """Greatest differences between groups, with their null reference."""
        return self._part("gaps")

    @property
    def group_differences(self) -> Results:
        """Difference of each group from the largest one; Holm-adjusted over all groups and measures of a model."""
        return self._part("group_differences")

    @property
    def differences(self) -> Results:
        """Differences between models, as `baserate.compare` computes them; Holm-adjusted over all of them."""
        return self._part("differences")

    def _part(self, name: str) -> Results:
        """Return the rows of one part of the table of numbers."""
        rows = self.select(part=name)
        return Results({column: [row[column] for row in rows] for column in COLUMNS}, self.data)

    def of(self, model: str) -> Report:
        """Return the report of one model, with its findings and those about all models."""
        if model not in self.policies:
            raise unknown_name("model", model, self.models)
        places = [at for at, name in enumerate(self.numbers.columns["model"]) if name in (model, None)]
        columns = {name: [column[at] for at in places] for name, column in self.numbers.columns.items()}
        findings = tuple(each for each in self.findings if each.model in (model, None))
        numbers = Results(columns, self.numbers.data)
        curves = tuple(each for each in self.sketches if each.name == model)
        policies = {model: self.policies[model]}
        return replace(self, numbers=numbers, policies=policies, findings=findings, sketches=curves)

    def within(self, **group: object) -> Report:
        """Return a report whose views are of one group, for example `report.within(site="north")`."""
        groups = [each for each in self.groups if {key: str(value) for key, value in each.items()} == _as_texts(group)]
        if not groups:
            known = "; ".join(", ".join(f"{key}={value!r}" for key, value in each.items()) for each in self.groups)
            raise UnknownNameError(f"the report has no group {group}. Known are: {known or 'none'}.")
        return replace(self, group=groups[0])

    def select(self, **values: object) -> list[dict[str, Any]]:
        """Return the rows of the table of numbers with these values in these columns."""
        columns = self.numbers.columns
        # Column by column, each time over the rows that remain: reports of many groups have thousands of rows.
        places: Sequence[int] = range(len(self.numbers))
        for name, value in values.items():
            column = columns[name]
            places = [at for at in places if column[at] == value]
        return Results({name: [column[at] for at in places] for name, column in columns.items()}).rows()

    def rows(self) -> list[dict[str, Any]]:
        """Return one mapping for each number."""
        return self.numbers.rows()

    def frame(self, backend: str | None = None) -> Any:  # noqa: ANN401  (a frame of the chosen library)
        """Return the numbers as a frame of pandas, Polars or PyArrow."""
        return self.numbers.frame(backend)

    def markdown(self) -> str:
        """Return the report as Markdown for GitHub."""
        return _render("markdown", self)

    def html(self, *, framed: bool = False) -> str:
        """Return the report as an interactive page: one HTML text that needs no network and contains no row.

        Parameters
        ----------
        framed
            Whether to return the page in a sandboxed frame, which notebooks show by `IPython.display.HTML`.
        """
        return _render("frame" if framed else "html", self)

    def _repr_html_(self) -> str:
        """Return the headline, the key numbers and the findings as HTML for notebooks, without scripts."""
        return _render("summary", self)

    def to_json(self) -> str:
        """Return the report as JSON with a versioned schema and numbers at full precision."""
        form = {
            "plan": json.loads(self.plan.to_json()),
            "data": json_ready(dict(self.data)),
            "policies": {model: json.loads(policy.to_json()) for model, policy in self.policies.items()},
            "findings": [json_ready(finding_form(finding)) for finding in self.findings],
            "rows": [json_ready(row) for row in self.rows()],
            "curves": [curve.form for curve in self.sketches],
        }
        return format_file(REPORT, form)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read what `to_json` wrote."""
        return _parse_report(text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file: .html is a page to explore, .json all of it, .csv numbers, .md and .txt text."""
        ending = Path(path).suffix.lstrip(".").lower()
        texts: dict[str, Callable[[], str]] = {
            "html": self.html,
            "json": self.to_json,
            "csv": self.numbers.to_csv,
            "md": self.markdown,
            "txt": partial(self.text, FILE_WIDTH),
        }
        if ending not in texts:
            raise OptionError(f"{Path(path).name} has an unknown file type; expected .html, .json, .csv, .md or .txt.")
        write_text(path, texts[ending]())


RENDERERS: Mapping[str, str] = {
    "markdown": "baserate.report._text:render_markdown",
    "html": "baserate.report._page:render_html",
    "frame": "baserate.report._page:render_frame",
    "summary": "baserate.report._text:render_summary",
}
"""Output format -> module and function that renders a report."""


def _render(form: str, report: Report) -> str:
    """Return a report in one of the formats of `RENDERERS`."""
    text: str = load_object(RENDERERS[form])(report)
    return text


class View(Printable):
    """Numbers of one model and group at one prevalence, as attributes named by their measures.

    Any name of a measure works: `view.ppv`, `view.precision` and `view["positive predictive value"]` are one number.
    """

    __slots__ = ("_report", "_where")
    _page_function = "baserate.report._text:view_page"

    def __init__(self, report: Report, where: Where) -> None:
        self._report, self._where = report, where

    def __getattr__(self, name: str) -> Estimate:
        # Copying and unpickling look up private names before `_report` is set, which would recurse.
        if name.startswith("_"):
            raise AttributeError(name)
        row = self._find(name)
        if row is None:
            raise AttributeError(self._missing(name))
        return estimate_of(row)

    def __getitem__(self, name: str) -> Estimate:
        row = self._find(name)
        if row is None:
            raise UnknownNameError(self._missing(name), value=name)
        return estimate_of(row)

    def __dir__(self) -> list[str]:
        return sorted([*self._names(), "counts", "text", "title"])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __repr__(self) -> str:
        rows = self._rows_by_name()
        numbers = ", ".join(f"{name} {estimate_of(rows[name])}" for name in _REPR_NUMBERS if name in rows)
        return f"View({self.title}{': ' * bool(numbers)}{numbers})"

    @property
    def title(self) -> str:
        """The model, the group, and the prevalence of the numbers."""
        report = self._report
        group = (f"{name} = {value}" for name, value in (report.group or {}).items())
        names = map(replace_unprintable, [*report.models, *group])
        where = "in the sample" if self._where == "here" else "in deployment"
        shares = self._rows_by_name().get("prevalence")
        share = f", prevalence {format_number(shares['value'], 4)}" if shares and shares["value"] is not None else ""
        return f"{', '.join(names)} {where}{share}"

    @property
    def counts(self) -> Counts[float]:
        """The confusion matrix."""
        return Counts(*(self[cell].value for cell in CELLS))

    def _find(self, name: str) -> dict[str, Any] | None:
        """Return the row of the number that a name means, or None."""
        rows = self._rows_by_name()
        if name not in rows:
            _ = self._report.model  # raises an error if there are several
        return rows.get(resolve_name(name, rows) or name)

    def _names(self) -> list[str]:
        """Return the names of all numbers of this view."""
        return sorted(self._rows_by_name())

    def _missing(self, name: str) -> str:
        """Return the message for a number that this view lacks, with the view that contains it."""
        names = self._names()
        listing = ", ".join(names)
        if self._where == "there" and name in View(self._report, "here"):
            return f"{name!r} is known in the sample only: use report.here.{name}. Known in deployment: {listing}."
        question = ask_whether_meant(map(repr, suggest_names(name, names)))
        parts = [f"the report has no number {name!r}.", question, f"Known are: {listing}."]
        return " ".join(filter(None, parts))

    def _rows_by_name(self) -> dict[str, dict[str, Any]]:
        """Return all rows of this view; of several models, those that describe the data."""
        own = {"group": self._report.group, "other": None, "where": self._where}
        # Both places are searched, the model's own first: a name is unique within one of them.
        models = [*self._report.models, None] if len(self._report.models) == 1 else [None]
        rows = [row for model in models for row in self._report.select(**own, model=model)]
        by_name: dict[str, dict[str, Any]] = {}
        for row in rows:
            by_name.setdefault(number_name(row), row)
        return by_name


def view_rows(view: View) -> list[dict[str, Any]]:
    """Return one mapping for each number of a view, with its name in the view as `measure`."""
    return [{**row, "measure": name} for name, row in view._rows_by_name().items()]  # noqa: SLF001  (its public names are numbers)


_REPR_NUMBERS = ("sensitivity", "specificity", "precision", "auc")
"""Numbers in the `repr` of a view."""
FILE_WIDTH = 100
"""Characters of a line of a text file, which must not depend on a terminal."""
VIEW_PARTS = ("data", "cut", "decisions", "ranks", "probabilities", "constant", "costs")
"""Parts whose measures need no prefix in the names of a view."""


def number_name(row: Mapping[str, Any]) -> str:
    """Return the attribute name of a number: its measure, after the part where two parts have the same measure."""
    return str(row["measure"] if row["part"] in VIEW_PARTS else f"{row['part']}_{row['measure']}")


def _as_texts(group: Mapping[str, object]) -> dict[str, str]:
    """Return the attributes of a group with their values as text."""
    return {key: str(value) for key, value in group.items()}


def finding_form(finding: Finding) -> dict[str, Any]:
    """Return a finding as a mapping for JSON."""
    names = ("code", "title", "severity", "model", "headline", "sentence", "why", "remedy")
    command = finding.command and finding.command._asdict()
    form = {**{name: getattr(finding, name) for name in names}, "command": command}
    return {**form, "numbers": dict(finding.numbers), "anchor": finding.anchor}


def _parse_report(text: str) -> Report:
    """Return the report in a JSON text, or raise an error that says what is wrong."""
    form = parse_file(text, REPORT)
    try:
        rows = [
            {name: parse_number(value) for name, value in _add_later_columns(row, form).items()} for row in form["rows"]
        ]
        plan = Plan.from_json(json.dumps(form["plan"]))
        rows += _missing_deployment_rows(plan, rows)
        numbers = Results({name: [row[name] for row in rows] for name in COLUMNS}, form["data"])
        policies = {model: Policy.from_json(json.dumps(each)) for model, each in form["policies"].items()}
        findings = tuple(map(parse_finding, form["findings"]))
        curves = tuple(map(ThinnedCurve.of_form, form.get("curves", ())))  # files of early releases have none
        return Report(plan, form["data"], numbers, policies, findings, sketches=curves)
    except BaserateError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FileFormatError(f"not a valid report: {error!r}.", remedy="Save it again.") from error


def _missing_deployment_rows(plan: Plan, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows at the deployment prevalence that files of the first release lack."""
    if not isinstance(plan.prevalence, float) or any(
        (row["part"], row["measure"], row["where"]) == ("data", "prevalence", "there") for row in rows
    ):
        return []
    deployment = {"where": "there", "prevalence": plan.prevalence}
    same = [row | deployment for row in rows if row["part"] == "cut" and row["measure"].startswith("threshold")]
    aucs = [row for row in rows if (row["part"], row["measure"]) == ("ranks", "auc") and not row["group"]]
    same += [row | deployment for row in aucs]
    shares = [row for row in rows if (row["part"], row["measure"], row["group"]) == ("data", "prevalence", None)]
    stated = {**deployment, **dict.fromkeys(("low", "high", "level", "why")), "value": plan.prevalence, "how": "stated"}
    return [*same, *(row | stated for row in shares)]


def _add_later_columns(row: Mapping[str, Any], form: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row of an early release with the columns that later releases added.

    Early releases wrote the Holm-adjusted p-value of paired models into `p`, without the raw one.
    """
    row = {**dict.fromkeys(_LATER_COLUMNS), **row}
    if "p_adjusted" in row:
        return row
    later = {"p_adjusted": None, "p_is_bound": None}
    if row["part"] == "differences" and not form["plan"].get("apart"):
        several = len(form["policies"]) > 2
        later["p_adjusted"] = row["p"]
        return {**row, **later, "p": None if several else row["p"]}
    return {**row, **later}


def parse_finding(form: Mapping[str, Any]) -> Finding:
    """Return the finding of a mapping from JSON."""
    fields = {name: value for name, value in form.items() if name != "anchor"}
    command = form.get("command")  # reports of early releases have none
    fields["command"] = None if command is None else Snippet(**command)
    return Finding(**fields | {"numbers": {name: parse_number(value) for name, value in form["numbers"].items()}})


def parse_number(value: Any) -> Any:  # noqa: ANN401  (any cell of a row)
    """Return a number that JSON cannot hold, from its text."""
    return _INFINITE.get(value, value) if isinstance(value, str) else value
