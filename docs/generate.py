"""Write the pages of the documentation that are generated from the code; `--check` lists stale pages instead."""

import doctest
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent
from typing import Any

import click

from baserate import BaserateError, Confusion, Counts, Curve, LabelSets, MulticlassRows, Tally, _errors as errors
from baserate.cli import GROUPS, VERBS, app, exit_code
from baserate.decide import plan_rules
from baserate.measure import MEASURES, TABLES, Measure, MeasureInfo, describe, multiclass
from baserate.report import CHECKS, MULTICLASS_CHECKS, _run

DOCS = Path(__file__).parent
CHAPTERS = {
    Counts: "Of a 2×2 table (`Counts`)",
    Curve: "Of a curve (`Curve`)",
    Tally: "Of scores as probabilities (`Tally`)",
    Confusion: "Of all classes together (`Confusion`)",
    MulticlassRows: "Of a score for each class (`MulticlassRows`)",
    LabelSets: "Of sets of labels (`LabelSets`)",
}
REGISTRIES = {"": MEASURES, "multiclass.": multiclass.MEASURES}
"""Prefix of the subpackage of `baserate.measure` -> its measures."""
PLAN_SCHEMA = "../src/baserate/schemas/plan-1.json"
RESULTS_SCHEMA = "../src/baserate/schemas/results-1.json"
ROW_KINDS = {
    "number": (
        *("measure", "reliability", "shift", "shift --curve", "prevalence", "expect", "costs", "reclassify"),
        *("population … measure", "population … study"),
    ),
    "comparison": ("compare",),
    "point": ("curve", "benefit", "cost-curve", "population … curve"),
    "calibration": ("reliability --curve",),
    "disparity": ("groups",),
    "equality": ("equalize",),
    "decision": ("decide",),
    "check": ("check",),
    "vertex": ("hull",),
    "pool": ("hull --ratios",),
    "combination": ("hull --combine",),
    "stretch": ("show policy.json",),
    "size": ("size", "population … size"),
    "entry": ("list",),
    "drawn": ("population … draw",),
}
"""Row of the schema of results -> the commands that print such rows."""
COLUMN_TYPES = {
    "value": "number",
    "share": "number",
    "chance": "number",
    "label": "label",
    "group": "object",
    "is_bound": "boolean",
}
"""Definition of the schema -> its type in words."""
SEVERITIES = {
    "serious": "a number does not mean what it seems to",
    "caution": "a number may mislead",
    "note": "worth knowing",
}


def read_references() -> dict[str, str]:
    """Read the entries of references.bib as text, by key."""
    entries = {}
    # A line is an entry, in the fixed layout of our file: no parser of BibTeX is needed.
    for entry in (DOCS / "references.bib").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"@\w+\{(\w+), ", entry):
            fields = dict(re.findall(r"(\w+) = \{(.*?)\}(?:,|\})", entry))
            authors = fields["author"].replace(" and ", "; ")
            where = fields.get("journal") or fields.get("booktitle") or fields["publisher"]
            place = " ".join(filter(None, [where.replace("\\", ""), fields.get("volume"), f"({fields['year']})"]))
            doi = f" doi:{fields['doi']}" if "doi" in fields else ""
            entries[match[1]] = f"{authors.rstrip('.')}. *{fields['title']}*. {place}.{doi}"
    return entries


def format_measures_page() -> str:
    """Format the page of measures, by type of data."""
    lines = [
        "# Measures",
        "",
        "<!-- Written by docs/generate.py from the fields of the measures; edit those, then run `make pages`. -->",
        "",
        "Each is a function in `baserate.measure`, and every name below finds it: `measure.find_measure('recall')`.",
        "It is undefined (NaN) exactly in the cases listed; `measure.undefined_reason` returns the reason.",
        "",
        "Measures of several classes are in `baserate.measure.multiclass`, with their own `find_measure`. In their",
        "formulas, C is the confusion matrix of K classes with true classes in rows; t and p are its row and column",
        "sums (shares in measures of information), and n is the total.",
        "",
    ]
    for kind, title in CHAPTERS.items():
        lines += [f"## {title}", ""]
        for prefix, function in list_measures():
            if describe(function).of is kind:
                lines += measure_entry(describe(function), prefix)
    lines += ["## Curves as tables", "", "`measure.table(curve, name)` tabulates them at every threshold.", ""]
    lines += ["| name | along x | along y |", "|---|---|---|"]
    lines += [f"| `{name}` | {x} | {y} |" for name, (x, y) in TABLES.items()]
    cited = sorted({key for _, function in list_measures() for key in describe(function).references})
    entries = read_references()
    return "\n".join([*lines, "", "## References", "", *(f"- **{key}**: {entries[key]}" for key in cited), ""])


def list_measures() -> Iterator[tuple[str, Measure]]:
    """Yield all measures, each with the prefix of its subpackage."""
    return ((prefix, function) for prefix, measures in REGISTRIES.items() for function in measures.values())


def measure_entry(info: MeasureInfo, prefix: str) -> Iterator[str]:
    """Yield the lines of one measure."""
    low, high = (f"{end:g}".replace("inf", "∞").replace("-", "−") for end in info.span)
    best = {"high": "high is good", "low": "low is good", None: "neither end is better"}[info.best]
    yield from (f"### {prefix}{info.name}", "", info.summary, "")
    if info.formula:
        # Names such as TP are one symbol each, not a product of letters.
        formula = re.sub(r"(?<![A-Za-z])([A-Z]{2,})", r"{\\mathrm{\1}}", info.formula)
        yield from (f"$${formula}$$", "")
    yield f"- from {low} to {high}; {best}"
    yield f"- undefined when {', or '.join(info.causes)}"
    if info.aliases:
        yield f"- also called {', '.join(info.aliases)}"
    if info.references:
        yield f"- see {', '.join(info.references)}"
    yield ""


def format_cli_page() -> str:
    """Format the page of all commands with their options."""
    lines = [
        "# Command line",
        "",
        "<!-- Written by docs/generate.py from the commands; edit those, then run `make pages`. -->",
        "",
        "Data go to stdout, messages to stderr. Exit codes: 0 fine, 1 a requirement failed, 2 usage, 3 unusable data,",
        "4 a defect of baserate (please report it), 130 interrupted, 141 broken pipe. See [errors](errors.md).",
        "Color is used on terminals only; `NO_COLOR` forbids and `FORCE_COLOR` forces it. No data are sent anywhere.",
        "",
        "Tables are for people and may change. For programs there are `--format csv` and `--json`, with all digits, in",
        "the shape of a [schema](../src/baserate/schemas/results-1.json) that comes with the package:",
        '`{"schema_version": 1, "data": {…}, "rows": […]}`.',
        "",
        "- `data` describes the data: rows `read`, rows `refused` and the `reasons`, the `rows` that they stand for",
        "  (more with `--count`), labels, prevalence, a digest of scores and classes, columns, and notes. `settings`",
        "  contains the numbers that measures depend on, such as the `costs` of `expected_cost`.",
        "- `rows` contains one row for each number, with the columns of [the tables below](#columns-of-results).",
        "  Undefined numbers are null, with the reason in `why`; infinite ones are `inf` and `-inf`. P-values have all",
        "  digits; text shows those below 0.0001 as `< 0.0001`.",
        "",
        "Text files need a header. An empty cell is missing; `NA`, `null` and their like are missing in numbers, and",
        "labels elsewhere. Parquet files in a folder called `sex=f` get the column `sex`, unless they contain it.",
        "Files are written whole or not at all.",
        "",
    ]
    # Resilient parsing makes contexts without the required arguments, and runs no callbacks.
    program = app.make_context("baserate", [], resilient_parsing=True)
    for job, commands in GROUPS.items():
        lines += [f"| {job} | |", "|---|---|"]
        lines += [f"| [{name}](#baserate-{name}) | {summary} |" for name, (_, summary) in commands.items()]
        lines += [""]
    lines += command_entry(app, program)
    for name in VERBS:
        verb = app.get_command(program, name)
        assert verb is not None  # noqa: S101  (for the type checker)
        lines += command_entries(verb, verb.make_context(name, [], parent=program, resilient_parsing=True), [])
    return "\n".join([*lines, *result_column_tables()])


def result_column_tables() -> Iterator[str]:
    """Yield tables of the columns of each kind of row, from the schema of results."""
    schema = json.loads((DOCS / RESULTS_SCHEMA).read_text(encoding="utf-8"))
    definitions = schema["$defs"]
    yield from ("## Columns of results", "")
    for kind, commands in ROW_KINDS.items():
        producers = ", ".join(f"`{each}`" for each in commands)
        yield from (f"### Rows of {producers}", "", definitions[kind]["description"], "")
        yield from ("| column | type | meaning |", "|---|---|---|")
        for name, column in definitions[kind]["properties"].items():
            yield f"| `{name}` | {name_column_type(column)} | {column['description']} |"
        yield ""
    yield from ("### Fields of `data`", "", "Some commands add these fields.", "", "| field | meaning |", "|---|---|")
    for name in schema["properties"]["data"]["properties"]:
        yield f"| `{name}` | {definitions[name]['description']} |"
    yield ""


def name_column_type(column: Mapping[str, Any]) -> str:
    """Name the JSON type of a column, without null."""
    if "enum" in column:
        return ", ".join(f"`{each}`" for each in column["enum"] if each is not None)
    if "anyOf" in column:
        return " or ".join(name_column_type(each) for each in column["anyOf"] if each != {"type": "null"})
    if "$ref" in column:
        return COLUMN_TYPES[column["$ref"].removeprefix("#/$defs/")]
    types = [column["type"]] if isinstance(column["type"], str) else column["type"]
    return " or ".join(each for each in types if each != "null")


def command_entries(command: click.Command, context: click.Context, visited: list[click.Command]) -> Iterator[str]:
    """Yield the lines of a command and of its subcommands; a subcommand that several groups share comes once."""
    yield from command_entry(command, context)
    for name, subcommand in command.commands.items() if isinstance(command, click.Group) else ():
        if subcommand not in visited:
            visited.append(subcommand)
            yield from command_entries(
                subcommand, subcommand.make_context(name, [], parent=context, resilient_parsing=True), visited
            )


def command_entry(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield usage, help, examples and options of one command."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"## {context.command_path}", "", "```text", usage, "```", "")
    yield from (cleandoc(command.help or ""), "")
    examples = getattr(command, "examples", ())
    if examples:
        yield from ("```sh", *(line for title, example in examples for line in (f"# {title}", example)), "```", "")
    yield from ("| option | meaning |", "|---|---|")
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if isinstance(option, click.Option) and record:
            yield f"| `{escape_bars(record[0])}` | {escape_bars(' '.join(record[1].split()))} |"
    yield ""


def escape_bars(text: str) -> str:
    """Escape bars, which separate the columns of a table."""
    return text.replace("|", "\\|")


def format_errors_page() -> str:
    """Format the page of errors: their tree, then each of them."""
    summary, _, rest = cleandoc(errors.__doc__ or "").partition("::")
    tree, _, outro = dedent(rest).strip("\n").partition("\n\n")
    lines = [
        "# Errors",
        "",
        "<!-- Written by docs/generate.py from the tree of errors; edit that, then run `make pages`. -->",
        "",
        f"{summary.strip()} In a shell, the message is one line on stderr and the kind of error is the exit code.",
        "",
        *("```text", dedent(tree), "```", "", " ".join(outro.split()), ""),
        *("Any other exception is a defect of baserate: exit code 4, and `--debug` prints its traceback.", ""),
    ]
    return "\n".join([*lines, *(line for kind in list_errors(BaserateError) for line in error_entry(kind))])


def list_errors(kind: type[BaserateError]) -> Iterator[type[BaserateError]]:
    """Yield an error class and its subclasses, depth first."""
    yield kind
    for child in kind.__subclasses__():
        yield from list_errors(child)


def error_entry(kind: type[BaserateError]) -> Iterator[str]:
    """Yield the meaning, exit code and place of one error."""
    code = "that of its branch" if kind is BaserateError else exit_code(kind)
    place = [each.__name__ for each in reversed(kind.__mro__) if issubclass(each, BaserateError)]
    meaning, _, example = cleandoc(kind.__doc__ or "").partition("\n\n")
    yield from (f"## {kind.__name__}", "", meaning, "")
    if example:
        yield from ("```text", " ".join(example.split()).removeprefix("For example: "), "```", "")
    yield from (f"- exit code: {code}", f"- place: {' → '.join(place)}", "")


def format_findings_page() -> str:
    """Format the list of findings."""
    lines = [
        "# Findings",
        "",
        "<!-- Written by docs/generate.py from the checks; edit those, then run `make pages`. -->",
        "",
        "A report checks itself, and lists what a reader should know before trusting a number: one sentence with the",
        "numbers, why it matters, and what to do, with a complete command where one can do it: the user's own files,",
        "columns and costs, or Python where the rows were in memory. Codes are stable: a code is never reused or",
        "redefined. There are no verdicts on people or models.",
        "",
        *(f"- **{severity}**: {meaning}" for severity, meaning in SEVERITIES.items()),
        "",
        *("| code | finding | severity |", "|---|---|---|"),
        *(f"| [{code}]({code}.md) | {check.title} | {check.severity} |" for code, check in CHECKS.items()),
        "",
        "Reports on several classes have their own findings:",
        "",
        *("| code | finding | severity |", "|---|---|---|"),
        *(f"| [{code}]({code}.md) | {check.title} | {check.severity} |" for code, check in MULTICLASS_CHECKS.items()),
        "",
        "In Python they are `report.findings`; `CHECKS` and `MULTICLASS_CHECKS` of `baserate.report` hold all checks.",
        "",
        *("```{toctree}", ":hidden:", ":glob:", "", "BR*", "```", ""),
    ]
    return "\n".join(lines)


ALL_CHECKS: dict[str, Any] = {**CHECKS, **MULTICLASS_CHECKS}


def format_finding_page(code: str) -> str:
    """Format the page of a finding: when it is reported, why it matters, what to do, and an example."""
    check = ALL_CHECKS[code]
    condition, _, example = cleandoc(check.find.__doc__ or "").partition(">>> ")
    lines = [
        f"# {code}: {check.title}",
        "",
        "<!-- Written by docs/generate.py from the checks; edit those, then run `make pages`. -->",
        "",
        f"*{check.severity.capitalize()}*: {SEVERITIES[check.severity]}.",
        "",
        *("## When it is reported", "", condition.strip(), ""),
        *("## Why it matters", "", check.why, ""),
        *("## What to do", "", check.remedy, ""),
        *("## Example", "", "```python", f">>> {example.strip()}", "", "```", ""),
        *(suggested_commands(code, f">>> {example}") if code in CHECKS else ()),
        *("[All findings](index.md)", ""),
    ]
    return "\n".join(lines)


def suggested_commands(code: str, example: str) -> Iterator[str]:
    """Yield the command that the report of an example suggests, for rows in files and in Python."""
    names: dict[str, Any] = {}
    for each in doctest.DocTestParser().get_examples(example):
        if not each.source.startswith("print("):  # only the report is needed
            exec(each.source, names)  # noqa: S102  (our own docstring)
    report = names["report"]
    files = tuple(f"{sample}.csv" for sample in report.models) if report.plan.apart else ("people.csv",)
    for variant in (replace(report, plan=replace(report.plan, files=files)), report):
        # The checks run again, since their commands depend on whether the rows come from files.
        command = next(each.command for each in _run.find_all(variant) if each.code == code)
        if command is None:
            return
        file_list = " and ".join(f"`{file}`" for file in files)
        caption = f"With the same rows in {file_list}:" if command.language == "sh" else "In Python:"
        yield from (caption, "", f"```{command.language}", command.text, "```", "")


def format_plan_schema() -> str:
    """Update the rules in the schema of plans; the rest of the schema is edited by hand."""
    rules = ", ".join(json.dumps(name) for name in (None, *plan_rules()))
    schema = (DOCS / PLAN_SCHEMA).read_text(encoding="utf-8")
    return re.sub(r'(?m)^( *"rule": .*"enum": )\[.*?\]', lambda match: f"{match[1]}[{rules}]", schema)


PAGES: dict[str, Callable[[], str]] = {
    PLAN_SCHEMA: format_plan_schema,
    "measures.md": format_measures_page,
    "cli.md": format_cli_page,
    "errors.md": format_errors_page,
    "findings/index.md": format_findings_page,
    **{f"findings/{code}.md": partial(format_finding_page, code) for code in ALL_CHECKS},
}


def main(*, check: bool) -> int:
    """Write the pages, or list those that differ from the code; return 1 if a checked page is stale."""
    stale = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"stale: {', '.join(stale)}; run make pages", file=sys.stderr)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
