"""`baserate apply`, `baserate export` and `baserate show`: use and inspect calibrators, policies and other files."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._formatting import count_of, format_count, format_exact, format_number
from baserate.cli._declarations import (
    Output,
    OutputFile,
    Quiet,
    argument,
    check_place,
    command,
    option,
    refuse_given,
)
from baserate.cli._io import (
    ROWS_FILE,
    MissingScore,
    load_any,
    load_calibrator_or_policy,
    parse_columns,
    print_messages,
    print_results,
    write_rows,
)
from baserate.cli._options import Column, Columns, NewName, files_argument
from baserate.cli._terminal import write_output
from baserate.cli._values import RegisteredName
from baserate.text import (
    Page,
    Row,
    Section,
    Table,
    describe_files,
    format_bounds,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._cut import Treatment
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate._tally import Group, Tally
    from baserate.apply import ScoreRanges
    from baserate.report import Plan

_APPLY_EXAMPLES = """
# calibrated probabilities beside the scores
baserate apply calibrator.json people.csv -o calibrated.csv
# files of any size and format, with a name for the new column
baserate apply calibrator.json 'parts/*.parquet' -o out.parquet --score risk --name p
# in the middle of a pipe
zcat people.csv.gz | baserate apply calibrator.json - -o - | head
# both probabilities of a Venn–Abers calibrator
baserate apply venn-abers.json people.csv -o out.csv --bounds
# the action of a policy for each row
baserate apply policy.json new.parquet --id patient -o decisions.parquet
# with the probability of each action, and another group column
baserate apply policy.json new.csv --id patient --group gender --chances -o decisions.csv
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions:
    """A calibrator or policy, the rows to apply it to, and the output file."""

    what: Annotated[str, argument(type=click.Path(), metavar="CALIBRATOR_OR_POLICY")]
    file: Annotated[tuple[str, ...], files_argument()]
    path: Annotated[str, option("-o", "--output", type=click.Path(allow_dash=True), metavar="FILE"), ROWS_FILE]
    score: Annotated[
        Column,
        option(default="that of the calibrator or policy"),
        "Column with the scores; of several classes CLASS=COLUMN,….",
    ] = None
    name: Annotated[
        NewName,
        option(default="action, or that of the score and _calibrated"),
        "Name of the new column; of several classes CLASS=NAME,….",
    ] = None
    bounds: Annotated[bool, "Both probabilities of a Venn–Abers calibrator, as NAME_low and NAME_high."] = False
    id_: Annotated[Column, "Column with unique row IDs, whole numbers or text; a randomized policy requires it."] = None
    group: Annotated[
        Columns,
        option(default="those of the policy"),
        "Columns with groups, with commas or repeated, one for each attribute of the policy.",
    ] = ()
    chances: Annotated[bool, "Probability of each action of a policy, as NAME_chance_ACTION."] = False
    missing: MissingScore = "refuse"
    quiet: Quiet = False

    def __post_init__(self) -> None:
        if self.path != "-":
            check_place(Path(self.path))

    def check(self, *, policy: bool) -> None:
        """Refuse options for the other kind of file."""
        if policy:
            refuse_given(self, ["bounds"], f"{{}} is for calibrators, and {self.what} contains a policy; leave it out.")
        else:
            message = f"{{}} is for policies, and {self.what} contains a calibrator; leave it out."
            refuse_given(self, ("id_", "group", "chances"), message)


@command("apply", examples=_APPLY_EXAMPLES)
def apply(apply_options: ApplyOptions) -> None:
    """Apply a calibrator or a policy to rows.

    Every column stays, and probabilities or actions join them. CALIBRATOR_OR_POLICY is a file that contains either. The
    output is written whole or not at all.
    """
    from baserate import Policy

    loaded = load_calibrator_or_policy(apply_options.what)
    apply_options.check(policy=isinstance(loaded, Policy))
    settings: dict[str, Any] = {"missing": apply_options.missing}
    if isinstance(loaded, Policy):
        settings |= {
            "score": apply_options.score,
            "name": apply_options.name,
            "id": apply_options.id_,
            "chances": apply_options.chances,
        }
        settings |= {"group": apply_options.group or None}
    else:
        settings |= {
            "score": parse_columns(loaded, apply_options.score),
            "name": parse_columns(loaded, apply_options.name),
        }
        settings |= {"bounds": apply_options.bounds}
    write_rows(loaded, apply_options.file, apply_options.path, quiet=apply_options.quiet, **settings)


_EXPORT_EXAMPLES = """
# a calibrator as an expression for the warehouse
baserate export calibrator.json --to sql
# a calibrator as a function for a service
baserate export calibrator.json --to python --name chance -o chance.py
# a policy as a query for PostgreSQL
baserate export policy.json --to sql --dialect postgresql --table clinic.scores -o decide.sql
# a policy as a function for a service
baserate export policy.json --to python --name triage -o triage.py
"""
_OF_SQL = ("dialect", "score", "table", "group", "id", "chances")
_OF_POLICIES = ("table", "group", "id", "chances")


def _list_dialects() -> dict[str, str]:
    from baserate.apply import DIALECTS

    return dict.fromkeys(DIALECTS, "")


def _find_dialect_name(text: str) -> str:
    from baserate.apply import find_dialect

    return find_dialect(text).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Options that say what to write, and which columns it reads and makes."""

    file: Annotated[str, argument(type=click.Path(), metavar="FILE")]
    to: Annotated[Literal["sql", "python"], "Target language."]
    dialect: Annotated[
        str | None,
        option(type=RegisteredName(_list_dialects, _find_dialect_name), metavar="NAME", default="duckdb"),
        "SQL dialect; `baserate list dialects` lists them.",
    ] = None
    score: Annotated[
        Column,
        option(default="that of the calibrator or policy"),
        "Column with the scores, in SQL; of several classes CLASS=COLUMN,….",
    ] = None
    table: Annotated[
        NewName, option(default="an expression"), "Table to query, such as clinic.scores; for policies."
    ] = None
    group: Annotated[
        Columns,
        option(default="those of the policy"),
        "Columns with groups, in SQL, with commas or repeated, one for each attribute of the policy.",
    ] = ()
    id: Annotated[Column, "Column with row IDs, for a randomized policy."] = None
    name: Annotated[
        NewName,
        option(default="calibrated; of a policy decide, or action in SQL"),
        "Name of the function, or of the new column of a query.",
    ] = None
    chances: Annotated[bool, "Probability of each action of a policy, as NAME_chance_ACTION."] = False
    path: OutputFile = None

    def check(self, *, policy: bool) -> None:
        """Refuse options that have no use for this language and this kind of file."""
        if self.to == "python":
            refuse_given(self, _OF_SQL, "{} is for SQL; a function takes scores, not columns: leave it out.")
        if not policy:
            message = f"{{}} is for policies, and {self.file} contains a calibrator; leave it out."
            refuse_given(self, _OF_POLICIES, message)
        if self.to == "sql" and not policy:
            refuse_given(self, ["name"], "{} is for Python; an expression has none: leave it out.")


@command("export", examples=_EXPORT_EXAMPLES)
def export(export: Export) -> None:
    """Export a calibrator or a policy to SQL or Python.

    FILE is a calibrator or a policy. SQL is an expression, or of a policy with --table a query that keeps every column;
    of several classes it is a list of columns. NULL stands where `baserate apply` would refuse a row: where a score is
    missing or infinite, where the policy refuses the group, and where the id of a randomized policy is missing. Python
    is a function of the standard library alone, which raises ValueError there.
    """
    from baserate import Policy
    from baserate.apply import as_python

    loaded = load_calibrator_or_policy(export.file)
    export.check(policy=isinstance(loaded, Policy))
    write_output(
        as_python(loaded, name=export.name) if export.to == "python" else _write_sql(loaded, export), export.path
    )


def _write_sql(loaded: "Calibrator | MulticlassCalibrator | Policy", export: Export) -> str:
    from baserate import Policy
    from baserate.apply import as_sql, find_dialect

    dialect = export.dialect or "duckdb"
    if isinstance(loaded, Policy):
        expressions = as_sql(
            loaded,
            dialect=dialect,
            table=export.table,
            score=export.score,
            group=export.group or None,
            id=export.id,
            name=export.name,
            chances=export.chances,
        )
    else:
        expressions = as_sql(loaded, dialect=dialect, score=parse_columns(loaded, export.score))
    if isinstance(expressions, str):
        return expressions
    return ",\n".join(f"{each} AS {find_dialect(dialect).quote_name(name)}" for name, each in expressions.items())


_SHOW_EXAMPLES = """
# actions of a policy, and how it was chosen
baserate show policy.json
# the parameters of a calibrator
baserate show calibrator.json
# a saved report
baserate show report.json
# for programs
baserate show policy.json --json
"""
_NAME = 24
"""Letters of the name of a score, which may stand between two thresholds."""
_TITLE = 56
_SPACE = "\N{NO-BREAK SPACE}"
_PAIRS, _DIGITS = 4, 4
_DIGEST = 12
"""Letters of a digest that distinguish it from others."""


@command("show", examples=_SHOW_EXAMPLES)
def show(file: Annotated[str, argument(type=click.Path(), metavar="FILE")], output: Output) -> None:
    """Show a calibrator, policy, report, plan or tally.

    FILE is one that baserate wrote. Of a policy, it lists the actions by score and group, the inputs and the origin.
    """
    from baserate import MulticlassReport, Policy, Report
    from baserate.report import Plan

    loaded = load_any(file)
    if isinstance(loaded, Report | MulticlassReport):
        from baserate.cli._report import print_report

        print_report(loaded, output)
        return
    name = describe_files([file])
    if isinstance(loaded, Policy):
        line, contents = _policy_headline(loaded, name), _policy_results(loaded)
        page_of = _policy_page(loaded, line, output.digits)
    else:
        line = f"{name} · {loaded!r}"
        contents = _plan_results(loaded) if isinstance(loaded, Plan) else _tabulate_content(loaded)
        page_of = _listing(line, contents.rows(), output.digits)
    print_messages(line, contents.data, output, inferred=False)
    print_results(contents, lambda: page_of, output)


def _tabulate_content(loaded: "Calibrator | MulticlassCalibrator | Tally") -> "Results":
    """Parameters of a calibrator, or numbers of a tally, as tidy rows."""
    from baserate import Results, Tally

    stored = _contents(loaded.to_json())
    if isinstance(loaded, Tally):
        numbers = ("positives", "negatives", "prevalence")
        values = {"rows": float(loaded.rows.sum()), **{name: getattr(loaded, name) for name in numbers}}
        rows = [{"name": name, "value": value, "low": None, "high": None} for name, value in values.items()]
        rows.append({"name": "distinct scores", "value": float(len(loaded.score)), "low": None, "high": None})
        stored = {}
    else:
        rows = [{name: getattr(each, name) for name in ("name", "value", "low", "high")} for each in loaded.parameters]
    columns = {name: [row[name] for row in rows] for name in ("name", "value", "low", "high")}
    return Results(columns, {"notes": [], **stored})


def _plan_results(plan: "Plan") -> "Results":
    """The contents of a plan, as tidy rows."""
    from baserate import Results

    stored = _contents(plan.to_json())
    filled = {name: value for name, value in stored.items() if value not in (None, [], {}, False)}
    columns = {"name": list(filled), "value": [_format_value(value) for value in filled.values()]}
    return Results(columns, {"notes": [], **stored})


def _contents(text: str) -> dict[str, Any]:
    """The contents of a file, without its kind, version and seal."""
    stored = json.loads(text)
    return {name: stored[name] for name in stored if name not in {"kind", "schema_version", "seal"}}


def _format_value(value: object) -> str:
    """Format one value as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(_format_value, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_format_value(each)}" for name, each in value.items())
    return json.dumps(value)


def _listing(line: str, rows: "list[dict[str, Any]]", digits: int) -> Page:
    """Return a page of names and values."""

    def format_value(row: Mapping[str, Any]) -> str:
        if isinstance(row["value"], str):
            return row["value"]
        value = format_number(row["value"], digits)
        if row["low"] is None or row["high"] is None:
            return value
        low, high = format_bounds(row["low"], row["high"], digits, digits)
        return f"{value} ({low} to {high})"

    lines = tuple(Row(str(row["name"]).replace("_", " "), (), format_value(row)) for row in rows)
    return Page(line, (Table("", (), (Section("", lines),)),) if lines else ())


def _policy_results(policy: "Policy") -> "Results":
    """Tidy rows: scores from `lower` on and below `upper`, an action, and its chance."""
    from baserate import Results

    rows = [row for group, treatment in policy.by_group.items() for row in _policy_rows(policy, group, treatment)]
    return Results({name: [row[name] for row in rows] for name in rows[0]}, _contents(policy.to_json()))


def _policy_headline(policy: "Policy", name: str) -> str:
    """Describe a policy in one line."""
    groups = f"{count_of(len(policy.by_group), 'group')} by {shorten_label(', '.join(policy.attributes))}"
    needs = " and ".join([*["group"] * policy.needs_group, *["id"] * policy.needs_id])
    parts = [name, groups if policy.needs_group else "the same for all groups", f"needs {needs}" if needs else ""]
    return " · ".join(filter(None, parts))


def _policy_page(policy: "Policy", line: str, digits: int) -> Page:
    """Return the page of a policy."""
    from baserate.text import describe_policy  # which loads NumPy

    done = Table("", (), tuple(_section(policy, group, digits) for group in policy.by_group))
    about = Table("", (), (Section("origin", tuple(Row(*each) for each in _describe_inputs(policy))),))
    return Page(line, (describe_policy(policy, _score_name(policy)), done, about))


def _policy_rows(policy: "Policy", group: "Group", treatment: "Treatment") -> Iterator[dict[str, object]]:
    from baserate.apply import score_ranges

    ranges = score_ranges(treatment)
    labels = dict(zip(policy.attributes, group, strict=True)) or None
    for place, (lower, upper) in enumerate(zip((-inf, *ranges.thresholds), (*ranges.thresholds, inf), strict=True)):
        for action in dict.fromkeys(ranges.actions[place]):
            chance = ranges.chance(place, action)
            yield {"group": labels, "lower": lower, "upper": upper, "action": action, "chance": chance}


def _score_name(policy: "Policy") -> str:
    """Name of the scores that thresholds are compared with."""
    return shorten_label(policy.columns.get("score", "score"), _NAME)


def _section(policy: "Policy", group: "Group", digits: int) -> Section:
    from baserate.apply import score_ranges
    from baserate.text import describe_score_ranges

    title = ", ".join(f"{name} = {value}" for name, value in zip(policy.attributes, group, strict=True))
    ranges = score_ranges(policy.by_group[group])
    scores = describe_score_ranges(_score_name(policy), ranges.thresholds)
    rows = (Row(each, (), _describe_action(ranges, place, digits)) for place, each in enumerate(scores))
    return Section(shorten_label(title or "all groups", _TITLE), tuple(rows))


def _describe_action(ranges: "ScoreRanges", place: int, digits: int) -> str:
    """Return one action, or several with their probabilities."""
    if not ranges.is_random[place]:
        return shorten_label(ranges.actions[place][0])
    each = {action: 100 * ranges.chance(place, action) for action in ranges.actions[place]}
    return ", ".join(f"{shorten_label(action)}{_SPACE}{share:.{digits}g}%" for action, share in each.items())


def _describe_inputs(policy: "Policy") -> Iterator[tuple[str, tuple[()], str]]:
    """Yield the inputs and the origin of a policy, by name."""
    entries = {
        "other groups": _describe_other_groups(policy),
        "requires": _describe_requirements(policy),
        "calibrator": _describe_calibrator(policy),
        "columns": ", ".join(f"{what} {shorten_label(name)}" for what, name in policy.columns.items()),
        "positive": policy.positive and shorten_label(policy.positive),
        "chosen on": _describe_origin(policy),
        "chosen for": "" if policy.prevalence is None else f"a prevalence of {100 * policy.prevalence:.4g}%",
        "key": policy.key[:_DIGEST] + (", of its random decisions" if policy.needs_id else ""),
    }
    yield from ((name, (), text) for name, text in entries.items() if text)


def _describe_origin(policy: "Policy") -> str:
    return f"rows with the digest {policy.chosen_on[:_DIGEST]}" if policy.chosen_on else "no data"


def _describe_other_groups(policy: "Policy") -> str:
    if not policy.needs_group:
        return ""
    from baserate._policy import REFUSE

    return "refused" if policy.otherwise == REFUSE else f"{shorten_label(policy.otherwise)}, at every score"


def _describe_requirements(policy: "Policy") -> str:
    groups = [f"a group by {', '.join(map(shorten_label, policy.attributes))}"] * policy.needs_group
    ids = ["an id, whole numbers or text, for random decisions"] * policy.needs_id
    return "; ".join(["a score", *groups, *ids])


def _describe_thresholds(policy: "Policy") -> str:
    """Describe the calibrated thresholds."""
    from baserate.apply import score_ranges

    assert policy.calibrator is not None  # noqa: S101  (for the type checker)
    every = dict.fromkeys(at for treatment in policy.by_group.values() for at in score_ranges(treatment).thresholds)
    # A calibrator of probabilities is defined from 0 to 1; thresholds may be infinite, to flag all or nothing.
    at = [each for each in every if not policy.calibrator.form.of_probabilities or 0 <= each <= 1]
    if not at:
        return ""
    pairs = [f"{format_exact(each)} to {format_number(float(policy.calibrator([each])[0]), _DIGITS)}" for each in at]
    more = f" and {len(pairs) - _PAIRS} more" if len(pairs) > _PAIRS else ""
    return f"; it maps {', '.join(pairs[:_PAIRS])}{more}"


def _describe_calibrator(policy: "Policy") -> str:
    if policy.calibrator is None:
        return ""
    fitted = policy.calibrator.fitted
    on = (
        f", fitted on {count_of(fitted.rows, 'row', shown=format_count(fitted.rows, 4))} ({fitted.digest[:_DIGEST]})"
        if fitted is not None
        else ""
    )
    return f"{policy.calibrator.method}{on}{_describe_thresholds(policy)}"
