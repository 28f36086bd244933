"""Report: values alone. A table of numbers, what they were made from, the policies, and what was found."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any, Literal

from baserate._calibrator import read_file_text
from baserate._counts import Counts
from baserate._errors import BaserateError, FileFormatError, OptionError, UnknownNameError
from baserate._estimate import Estimate
from baserate._files import write_text
from baserate._formatting import count_of, strip_styles
from baserate._immutable import FrozenMapping
from baserate._policy import Policy
from baserate._results import Results, json_ready
from baserate.report._commands import Snippet
from baserate.report._finding import Finding
from baserate.report._plan import Plan
from baserate.report._sketch import Sketch

KIND = "baserate/report"
SCHEMA_VERSION = 1
Where = Literal["here", "there"]
COLUMNS = (
    *("part", "measure", "model", "group", "other", "other_group", "where", "prevalence", "threshold"),
    *("value", "low", "high", "level", "how", "why", "p", "p_adjusted", "p_is_bound", "floor", "floor_high", "small"),
)
"""Of every row. `part` says what a number is of; `where` is "here" in the sample, "there" in deployment."""
CELLS = ("tp", "fp", "fn", "tn")
_ESTIMATE = ("value", "low", "high", "level", "how", "why")
_INFINITE = {"inf": float("inf"), "-inf": float("-inf")}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report:
    """What one run of a plan found.

    Every number is a row of `numbers`, and an attribute of a view: `report.here.auc` in the sample,
    `report.there.precision` at the deployment prevalence (of numbers that hold for the sample alone, such as `rows`,
    `there` has none), `report.of("risk").here.auc` of one of several models,
    `report.within(site="north").here.sensitivity` of a group; `report.gaps` are those between groups, and
    `report.differences` those between models.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.1)
    >>> report.here.auc.value, report.here.precision.value, round(report.there.precision.value, 4)
    (0.75, 0.5, 0.1)
    """

    plan: Plan
    data: Mapping[str, Any]
    """What was read: rows, those refused and why, the digest; and the release that made the report."""
    numbers: Results
    policies: Mapping[str, Policy]
    """Model -> what is done with its scores."""
    findings: tuple[Finding, ...] = ()
    group: Mapping[str, object] | None = field(default=None, kw_only=True)
    """The group that views are of; None for everybody."""
    sketches: tuple[Sketch, ...] = field(default=(), kw_only=True)
    """The curve of each model, thinned for the eye; none in files of releases that did not draw a page."""

    def __post_init__(self) -> None:
        for name in ("data", "policies"):
            object.__setattr__(self, name, FrozenMapping(getattr(self, name)))

    def __repr__(self) -> str:
        codes = ", ".join(dict.fromkeys(found.code for found in self.findings)) or "none"
        return f"Report({', '.join(self.models)}; {count_of(self.data['rows'], 'row')}; findings: {codes})"

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.policies)

    @property
    def model(self) -> str:
        """Name of the only model."""
        if len(self.policies) > 1:
            raise OptionError(f"there are several models; take one with report.of({self.models[0]!r}).")
        return self.models[0]

    @property
    def policy(self) -> Policy:
        """What is done with the scores of the only model."""
        return self.policies[self.model]

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
        return float(self.pick(part="data", measure="prevalence", group=None, where="there")[0]["value"])

    @property
    def groups(self) -> tuple[Mapping[str, object], ...]:
        """The groups, each a mapping from attribute to value."""
        found = {str(row["group"]): row["group"] for row in self.pick(part="data", measure="rows") if row["group"]}
        return tuple(found.values())

    @property
    def gaps(self) -> Results:
        """How far groups lie apart, beside what chance alone would give."""
        return self._part("gaps")

    @property
    def group_differences(self) -> Results:
        """How far each group lies apart from the largest one; p_adjusted is over all groups and measures of a model."""
        return self._part("group_differences")

    @property
    def differences(self) -> Results:
        """How far two models lie apart; p_adjusted is over all pairs of models for one measure."""
        return self._part("differences")

    def _part(self, name: str) -> Results:
        found = self.pick(part=name)
        return Results({column: [row[column] for row in found] for column in COLUMNS}, self.data)

    def of(self, model: str) -> Report:
        """The same of one model alone; what was found of it, and of all of them, stays."""
        if model not in self.policies:
            raise UnknownNameError(f"there is no model {model!r}. Known are: {', '.join(self.models)}.")
        kept = [at for at, name in enumerate(self.numbers.columns["model"]) if name in (model, None)]
        columns = {name: [column[at] for at in kept] for name, column in self.numbers.columns.items()}
        found = tuple(each for each in self.findings if each.model in (model, None))
        numbers = Results(columns, self.numbers.data)
        own = tuple(each for each in self.sketches if each.name == model)
        return replace(self, numbers=numbers, policies={model: self.policies[model]}, findings=found, sketches=own)

    def within(self, **group: object) -> Report:
        """The same, whose views are of one group, named by its attributes."""
        found = [each for each in self.groups if {key: str(value) for key, value in each.items()} == _texts(group)]
        if not found:
            known = "; ".join(", ".join(f"{key}={value!r}" for key, value in each.items()) for each in self.groups)
            raise UnknownNameError(f"there is no group {group}. Known are: {known or 'none: the rows have no groups'}.")
        return replace(self, group=found[0])

    def pick(self, **wanted: object) -> list[dict[str, Any]]:
        """Rows of the numbers that have these values: part, measure, model, group, where."""
        columns = self.numbers.columns
        kept: Sequence[int] = range(len(self.numbers))
        for name, value in wanted.items():
            column = columns[name]
            kept = [at for at in kept if column[at] == value]
        return Results({name: [column[at] for at in kept] for name, column in columns.items()}).rows()

    def rows(self) -> list[dict[str, Any]]:
        """One mapping for each number."""
        return self.numbers.rows()

    def frame(self, backend: str | None = None) -> Any:  # noqa: ANN401  (a frame of the chosen library)
        """Return the numbers as a frame of pandas, Polars or PyArrow."""
        return self.numbers.frame(backend)

    def text(self, width: int = 100) -> str:
        """Return the report as one reads it in a terminal."""
        from baserate.report._text import page

        return strip_styles(page(self).text(width))

    def markdown(self) -> str:
        """Return the same for GitHub."""
        from baserate.report._text import page

        return page(self).markdown()

    def html(self) -> str:
        """Return the report as a page to explore in a browser: one text that needs no network, and holds no row."""
        from baserate.report._page import html

        return html(self)

    def _repr_html_(self) -> str | None:
        """The page in a frame of its own, for notebooks; nothing where there are no curves to draw."""
        from baserate.report._page import framed

        return framed(self) if self.sketches else None

    def to_json(self) -> str:
        """Return everything as JSON of a fixed, versioned shape; numbers in full."""
        form = {
            "kind": KIND,
            "schema_version": SCHEMA_VERSION,
            "plan": json.loads(self.plan.to_json()),
            "data": json_ready(dict(self.data)),
            "policies": {model: json.loads(policy.to_json()) for model, policy in self.policies.items()},
            "findings": [json_ready(_told(found)) for found in self.findings],
            "rows": [json_ready(row) for row in self.rows()],
            "curves": [sketch.form for sketch in self.sketches],
        }
        return json.dumps(form, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read what `to_json` wrote."""
        return _read(text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file: .html is a page to explore, .json all of it, .csv numbers, .md and .txt text."""
        ending = Path(path).suffix.lstrip(".").lower()
        texts = {
            "html": self.html,
            "json": self.to_json,
            "csv": self.numbers.to_csv,
            "md": self.markdown,
            "txt": self.text,
        }
        if ending not in texts:
            known = "end it in .html, .json, .csv, .md or .txt"
            raise OptionError(f"{Path(path).name} has no ending that we know; {known}.")
        write_text(path, texts[ending]())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Report:
        """Read a report that `save` wrote as JSON."""
        return cls.from_json(read_file_text(path, "report"))


class View:
    """Numbers of one model and group at one prevalence, by the names of their measures."""

    __slots__ = ("_report", "_where")

    def __init__(self, report: Report, where: Where) -> None:
        self._report, self._where = report, where

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_"):
            raise AttributeError(name)
        rows = list(self._rows(name))
        if not rows:
            raise AttributeError(self._missing(name))
        return estimate_of(rows[0])

    def __dir__(self) -> list[str]:
        return sorted([*self._names(), "counts"])

    def __contains__(self, name: str) -> bool:
        return any(True for _ in self._rows(name))

    @property
    def counts(self) -> Counts[float]:
        """The 2×2 table."""
        return Counts(**{cell: next(self._rows(cell))["value"] for cell in CELLS})

    def _names(self) -> list[str]:
        return sorted({called(row) for row in self._all()})

    def _missing(self, name: str) -> str:
        """Say that a number is not in this view, and in which one it is."""
        names = ", ".join(self._names())
        if self._where == "there" and name in View(self._report, "here"):
            return f"{name!r} is a number of the sample: read report.here.{name}. Numbers in deployment: {names}."
        return f"there is no {name!r} in this report. There are: {names}."

    def _all(self) -> list[dict[str, Any]]:
        own = {"group": self._report.group, "other": None, "where": self._where}
        models = [self._report.model, None]  # None is of the rows, whatever the model
        return [row for model in models for row in self._report.pick(**own, model=model)]

    def _rows(self, name: str) -> Iterator[dict[str, Any]]:
        return (row for row in self._all() if called(row) == name)


VIEWED = ("data", "cut", "decisions", "ranks", "probabilities", "constant", "costs")
"""Parts whose measures have names of their own."""


def called(row: Mapping[str, Any]) -> str:
    """Name of a number among all of one model and group: its measure, with the part where that is told twice."""
    return str(row["measure"] if row["part"] in VIEWED else f"{row['part']}_{row['measure']}")


def estimate_of(row: Mapping[str, Any]) -> Estimate:
    """The number of a row, with its interval."""
    told = {name: row[name] for name in _ESTIMATE}
    return Estimate(**told | {name: nan if told[name] is None else told[name] for name in ("value", "low", "high")})


def _texts(group: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value) for key, value in group.items()}


def _told(found: Finding) -> dict[str, Any]:
    names = ("code", "title", "severity", "model", "sentence", "why", "remedy")
    command = found.command and found.command._asdict()
    plain = {**{name: getattr(found, name) for name in names}, "command": command}
    return {**plain, "numbers": dict(found.numbers), "anchor": found.anchor}


def _read(text: str) -> Report:
    try:
        form = json.loads(text)
    except ValueError as error:
        raise FileFormatError(f"not JSON: {error}. The file is broken or no report; write it again.") from error
    if not isinstance(form, dict) or form.get("kind") != KIND:
        raise FileFormatError(f'no report: its "kind" is not {KIND!r}; name a file that holds one.')
    if form.get("schema_version") != SCHEMA_VERSION:
        raise FileFormatError(
            f"a report of schema version {form.get('schema_version')!r}; this release reads {SCHEMA_VERSION}: upgrade "
            "baserate."
        )
    try:
        rows = [{name: _number(value) for name, value in _completed(row, form).items()} for row in form["rows"]]
        plan = Plan.from_json(json.dumps(form["plan"]))
        rows += _unwritten(plan, rows)
        numbers = Results({name: [row[name] for row in rows] for name in COLUMNS}, form["data"])
        policies = {model: Policy.from_json(json.dumps(each)) for model, each in form["policies"].items()}
        found, sketches = tuple(map(_finding, form["findings"])), tuple(map(Sketch.of_form, form.get("curves", ())))
        return Report(plan, form["data"], numbers, policies, found, sketches=sketches)
    except BaserateError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FileFormatError(f"not a report: {error!r}; write it again.") from error


def _unwritten(plan: Plan, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in deployment that files of the first release lack: what is the same there, and the stated prevalence."""
    if not isinstance(plan.prevalence, float) or any(
        (row["part"], row["measure"], row["where"]) == ("data", "prevalence", "there") for row in rows
    ):
        return []
    there = {"where": "there", "prevalence": plan.prevalence}
    same = [row | there for row in rows if row["part"] == "cut" and row["measure"].startswith("threshold")]
    same += [row | there for row in rows if row["measure"] == "auc" and row["part"] == "ranks" and not row["group"]]
    shares = [row for row in rows if (row["part"], row["measure"], row["group"]) == ("data", "prevalence", None)]
    stated = {**there, **dict.fromkeys(("low", "high", "level", "why")), "value": plan.prevalence, "how": "stated"}
    return [*same, *(row | stated for row in shares)]


def _completed(row: Mapping[str, Any], form: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give a row of an early release the columns that came later.

    Early releases wrote the Holm-adjusted p-value of paired models into `p`, without the raw one.
    """
    if "p_adjusted" in row:
        return row
    later = {"p_adjusted": None, "p_is_bound": None}
    if row["part"] == "differences" and not form["plan"].get("apart"):
        several = len(form["policies"]) > 2
        later["p_adjusted"] = row["p"]
        return {**row, **later, "p": None if several else row["p"]}
    return {**row, **later}


def _finding(form: Mapping[str, Any]) -> Finding:
    told = {name: value for name, value in form.items() if name != "anchor"}
    command = form.get("command")  # reports of early releases have none
    told["command"] = None if command is None else Snippet(**command)
    return Finding(**told | {"numbers": {name: _number(value) for name, value in form["numbers"].items()}})


def _number(value: Any) -> Any:  # noqa: ANN401  (any cell of a row)
    return _INFINITE.get(value, value) if isinstance(value, str) else value
