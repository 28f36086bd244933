"""Write the pages and lists that come from the code; with --check, only say whether they are fresh."""

import doctest
import json
import re
import sys
from collections.abc import Callable, Iterator
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
from baserate.report import CHECKS, _run

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
"""Where the measures stand, below `baserate.measure`."""
PLAN_SCHEMA = "../src/baserate/schemas/plan-1.json"
SEVERITIES = {
    "serious": "a number does not mean what it seems to",
    "caution": "a number may mislead",
    "note": "worth knowing",
}


def references() -> dict[str, str]:
    """Every entry of references.bib, by key, as one line to read."""
    found = {}
    for entry in (DOCS / "references.bib").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"@\w+\{(\w+), ", entry):
            fields = dict(re.findall(r"(\w+) = \{(.*?)\}(?:,|\})", entry))
            authors = fields["author"].replace(" and ", "; ")
            where = fields.get("journal") or fields.get("booktitle") or fields["publisher"]
            place = " ".join(filter(None, [where.replace("\\", ""), fields.get("volume"), f"({fields['year']})"]))
            doi = f" doi:{fields['doi']}" if "doi" in fields else ""
            found[match[1]] = f"{authors.rstrip('.')}. *{fields['title']}*. {place}.{doi}"
    return found


def measures_page() -> str:
    """One entry for each measure, by what it takes."""
    lines = [
        "# Measures",
        "",
        "<!-- Written by docs/generate.py from the fields of the measures; edit those, then run `make pages`. -->",
        "",
        "Each is a function in `baserate.measure`, and every name below finds it: `measure.find_measure('recall')`.",
        "It is undefined, NaN, exactly in the cases listed; `measure.undefined_reason` tells which.",
        "",
        "Those of all classes together stand in `baserate.measure.multiclass`, with a `named` of their own. In their",
        "formulas C is the table, truth in rows, with K labels; t and p are its sums by truth and by decision (shares",
        "where it is about information), n is the sum of all.",
        "",
    ]
    for noun, title in CHAPTERS.items():
        lines += [f"## {title}", ""]
        for home, function in everywhere():
            if describe(function).of is noun:
                lines += entry(describe(function), home)
    lines += ["## Curves as tables", "", "`measure.table(curve, name)` tabulates them at every threshold.", ""]
    lines += ["| name | along x | along y |", "|---|---|---|"]
    lines += [f"| `{name}` | {x} | {y} |" for name, (x, y) in TABLES.items()]
    cited = sorted({key for _, function in everywhere() for key in describe(function).references})
    told = references()
    return "\n".join([*lines, "", "## References", "", *(f"- **{key}**: {told[key]}" for key in cited), ""])


def everywhere() -> Iterator[tuple[str, Measure]]:
    """All measures, each with the package that it stands in."""
    return ((home, function) for home, measures in REGISTRIES.items() for function in measures.values())


def entry(described: MeasureInfo, home: str) -> Iterator[str]:
    """Write all fields of one measure."""
    low, high = (f"{end:g}".replace("inf", "∞").replace("-", "−") for end in described.span)
    best = {"high": "high is good", "low": "low is good", None: "neither end is better"}[described.best]
    yield from (f"### {home}{described.name}", "", described.summary, "")
    if described.formula:
        # Names such as TP are one symbol each, not a product of letters.
        formula = re.sub(r"(?<![A-Za-z])([A-Z]{2,})", r"{\\mathrm{\1}}", described.formula)
        yield from (f"$${formula}$$", "")
    yield f"- from {low} to {high}; {best}"
    yield f"- undefined when {', or '.join(described.causes)}"
    if described.aliases:
        yield f"- also called {', '.join(described.aliases)}"
    if described.references:
        yield f"- see {', '.join(described.references)}"
    yield ""


def cli_page() -> str:
    """Write what every command takes, from click."""
    lines = [
        "# Command line",
        "",
        "<!-- Written by docs/generate.py from the commands; edit those, then run `make pages`. -->",
        "",
        "Data go to stdout, messages to stderr. Exit codes: 0 fine, 1 a requirement failed, 2 usage, 3 unusable data,",
        "4 a defect of baserate (please report it), 130 interrupted, 141 broken pipe. See [errors](errors.md).",
        "Colour is used on terminals alone; `NO_COLOR` forbids and `FORCE_COLOR` demands it. Nothing is sent anywhere.",
        "",
        "Tables are for people and may change. For programs there are `--format csv` and `--json`, with all digits, in",
        "the shape of a [schema](../src/baserate/schemas/results-1.json) that comes with the package:",
        '`{"schema_version": 1, "data": {…}, "rows": […]}`.',
        "",
        "- `data` says what was read: `read` rows, of which `refused` were dropped for the `reasons` given; `rows` is",
        "  what the rest stands for, which is more where there is a `--count`; then the labels, the prevalence, a",
        "  digest of scores and classes, the columns, and notes.",
        "- A row of `measure` holds one `value`, with its `measure`, `model` (null if there is only one), `group`",
        "  (null for everybody), `class` (of many) and `threshold`; and its interval: `low` and `high` at a `level`,",
        "  and `how` it was made. An undefined value or bound is null, with the reason in `why`; infinite ones are",
        "  `inf` and `-inf`.",
        "- A row of `compare` holds a `model` and an `other`, the `value` of each, their `difference` with its",
        "  interval, the `p` of the `test`, and `p_adjusted`: Holm-adjusted over all of the rows. Intervals are not",
        "  adjusted. P-values are in full; `p_is_bound` marks those that are upper bounds, since the method can show",
        "  no less (bootstrap samples, permutations). Text shows p-values below 0.0001 as `< 0.0001`.",
        "- A row of `groups` is of a `table`: `group` (a number of a group, and the `trials` it rests on),",
        "  `difference` (`group` less the reference group, in `other`, with `p`, `p_adjusted` over all groups tested",
        "  for the same measure, and in `why` the reason where a group is too small to be tested) or `gap` (how far",
        "  groups lie apart, by `kind`; `max_difference_all` describes all groups, also those below the minimum size).",
        "- A row of `reliability` is one of `measure`, with `top` for the most probable class, the prevalence that it",
        "  was `adjusted` from, its null reference (`floor`, the median of what a perfect model would score, with",
        "  `floor_low` and `floor_high`) and a `p`; or a test (`measure` ends in `_test`) with its statistic in",
        "  `value`, its `freedom` and `p`. `verdicts` in `data` say whether another prevalence would do. With",
        "  `--curve` it holds a `probability`, the `share` seen (or the likelihood `ratio`, and the one `implied`),",
        "  `low`, `high`, the `mass` of rows, and the ends of the bin, `lower` and `upper`.",
        "- A row of `check` holds a `requirement` (its `measure`, `sense` and `bound`), the `value` found with its",
        "  interval, whether it `holds`, the `verdict` (`holds`, `fails` or `undecided`), the `margin` by which it is",
        "  kept, the `rows` it is of and, where it is undecided, the `rows_needed` to decide. `holds` in `data` is",
        "  about all of them.",
        "- A row of `equalize` holds a `value` of a `group`, with its interval: in the `set` `with parity` what the",
        "  policy gives, and its `change` from `without parity`, which is each group's own cheapest cut. Beside",
        "  measures and cells there are the `threshold` (with its `action`, and of a lottery its `chance`), the",
        "  `base_rate`, the share decided by lot (`lottery`), what is `forgone` in sensitivity, and the `gap` of",
        "  each `rate`. `table` is `account`; with `--frontier` and `--held-out` rows of these follow. `data` holds",
        "  the `cost` of a case, the `cost_without` the parity, and its `price`.",
        "- A row of `shift` is one of `measure`, with `where` it holds (`here`, as the rows are, or `there`), at which",
        "  `prevalence` (of many classes, that of its own), and of what `scores` (`as given` or `corrected`). `to` in",
        "  `data` says where there is. With `--curve` each row holds at its `prevalence`.",
        "- The first row of `prevalence`, or one for each `class`, is the estimate: its `measure` is `prevalence`.",
        "  Tests of label shift follow, as in `reliability`; then measures with the `prevalence` they hold at, the",
        "  `scores` measured (`as given` or `corrected`), and the `set` they are about (`target` or `validation`).",
        "  `data` tells of both: of the target beside `method` and `assume`, of validation in `validation`.",
        "- A row of `expect` is one of `measure`, as it is expected without labels; `data` repeats what was assumed in",
        "  `assume`, and holds the expected `prevalence`, with its interval in `estimate` where it was estimated.",
        "- A row of `curve` holds what the curve shows at one threshold; with a band, `low` and `high` too.",
        "- A row of `benefit` holds the `net_benefit` of one `strategy` at one threshold, with `low` and `high`, and",
        "  shares of everybody; `net_reduction` is per case. `useful` in `data` says from where to where each model",
        "  has a higher net benefit than flagging all and none. With `--compare` it holds the `difference` of a model",
        "  from the one `against`.",
        "- A row of `costs` holds what `per` cases cost a `model` at its `prevalence` (in `value`), the `total` of its",
        "  sample, the prevalence `measured` there, its table, and whether it is the `cheapest`. A row whose `measure`",
        "  is `iso_cost` is a line through `fpr` and `tpr`: its `slope`, its `intercept`, and in `value` the cost.",
        "- A row of `cost-curve` holds the least `cost` at one `probability_cost`, and the strictest `threshold` and",
        "  the `laxest` that attain it; `marked` in `data` says what is best at your costs. With `--kind brier` it",
        "  holds a `cost_proportion` and the `loss`, `least` and `regret` there.",
        "- A row of `hull` holds a `classifier` (a model, `none` or `all`) at a `threshold`, and from which slope to",
        "  which it is the best; or one that never is, without a slope, and with its `gap`, `factor` and `area`. `at`",
        "  in `data` says what is best at your costs, `hybrid` how to reach a rate, `reversible` who is below the",
        "  diagonal. With `--ratios` it holds scores from `lower` to `upper`, their likelihood `ratio` with `low` and",
        "  `high`, and the `posterior`; with `--combine` the weights of two scores and their AUCs.",
        "- A row of `show` for a policy holds scores of a `group` from `lower` on and below `upper`, an `action` and",
        "  its `chance`; for other files a `name` and a `value`. `data` is what the file holds.",
        "- The row of `size` holds how many `rows` are needed, and which `half_width` or `power` they reach.",
        "- `settings` in `data` holds the numbers that measures depend on: the `costs` of `expected_cost`, the",
        "  threshold probability `at` of net benefit, and `beta`.",
        "- In `population`, `best` marks the best value of a measure, with `how` = `limit` where no threshold attains",
        "  it. A row of its `study` holds the mean in `value`, then `sd`, the exact `theory`, and how many of the",
        "  `repeats` were `undefined`. A row of its `draw` holds `truth` and `score`. The verbs `measure`, `curve`,",
        "  `study` and `draw` are the same for all populations, and described once.",
        "",
        "Text files need a header. An empty cell is missing; `NA`, `null` and their like are missing in numbers, and",
        "labels elsewhere. Folders called `sex=f` give the Parquet files below them a column, unless they have it",
        "themselves. Files are written whole or not at all.",
        "",
    ]
    program = app.make_context("baserate", [], resilient_parsing=True)
    for job, commands in GROUPS.items():
        lines += [f"| {job} | |", "|---|---|"]
        lines += [f"| [{name}](#baserate-{name}) | {summary} |" for name, (_, summary) in commands.items()]
        lines += [""]
    lines += command_entry(app, program)
    for name in VERBS:
        verb = app.get_command(program, name)
        assert verb is not None  # noqa: S101  (for the type checker)
        lines += walked(verb, verb.make_context(name, [], parent=program, resilient_parsing=True), [])
    return "\n".join(lines)


def walked(command: click.Command, context: click.Context, seen: list[click.Command]) -> Iterator[str]:
    """Write the entry of a command and of those below it, once where several share them."""
    yield from command_entry(command, context)
    for name, below in command.commands.items() if isinstance(command, click.Group) else ():
        if below not in seen:
            seen.append(below)
            yield from walked(below, below.make_context(name, [], parent=context, resilient_parsing=True), seen)


def command_entry(command: click.Command, context: click.Context) -> Iterator[str]:
    """Usage, help, examples and options of one command."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"## {context.command_path}", "", "```text", usage, "```", "")
    yield from (cleandoc(command.help or ""), "")
    examples = getattr(command, "examples", ())
    if examples:
        yield from ("```sh", *(line for what, typed in examples for line in (f"# {what}", typed)), "```", "")
    yield from ("| option | meaning |", "|---|---|")
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if isinstance(option, click.Option) and record:
            yield f"| `{escaped(record[0])}` | {escaped(' '.join(record[1].split()))} |"
    yield ""


def escaped(text: str) -> str:
    """Keep a table's bars apart from the text's."""
    return text.replace("|", "\\|")


def errors_page() -> str:
    """Draw the tree of errors, then say what each one means."""
    told, _, rest = cleandoc(errors.__doc__ or "").partition("::")
    tree, _, outro = dedent(rest).strip("\n").partition("\n\n")
    lines = [
        "# Errors",
        "",
        "<!-- Written by docs/generate.py from the tree of errors; edit that, then run `make pages`. -->",
        "",
        f"{told.strip()} In a shell, the message is one line on stderr and the kind of error is the exit code.",
        "",
        *("```text", dedent(tree), "```", "", " ".join(outro.split()), ""),
        *("Any other exception is a defect of baserate: exit code 4, and `--debug` prints its traceback.", ""),
    ]
    return "\n".join([*lines, *(line for kind in family(BaserateError) for line in error_entry(kind))])


def family(kind: type[BaserateError]) -> Iterator[type[BaserateError]]:
    """Walk the tree in the order in which it is written."""
    yield kind
    for child in kind.__subclasses__():
        yield from family(child)


def error_entry(kind: type[BaserateError]) -> Iterator[str]:
    """Meaning, exit code and place of one error."""
    code = "that of its branch" if kind is BaserateError else exit_code(kind)
    place = [each.__name__ for each in reversed(kind.__mro__) if issubclass(each, BaserateError)]
    meaning, _, example = cleandoc(kind.__doc__ or "").partition("\n\n")
    yield from (f"## {kind.__name__}", "", meaning, "")
    if example:
        yield from ("```text", " ".join(example.split()).removeprefix("For example: "), "```", "")
    yield from (f"- exit code: {code}", f"- place: {' → '.join(place)}", "")


def findings_page() -> str:
    """List what a report may say about itself."""
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
        *("| code | what is found | severity |", "|---|---|---|"),
        *(f"| [{code}]({code}.md) | {check.title} | {check.severity} |" for code, check in CHECKS.items()),
        "",
        "In Python they are `report.findings`, and `baserate.report.CHECKS` holds all checks.",
        "",
        *("```{toctree}", ":hidden:", ":glob:", "", "BR*", "```", ""),
    ]
    return "\n".join(lines)


def finding_page(code: str) -> str:
    """When it is reported, why it matters, what to do, and an example, which the docstring of its look holds."""
    check = CHECKS[code]
    told, _, example = cleandoc(check.find.__doc__ or "").partition(">>> ")
    lines = [
        f"# {code}: {check.title}",
        "",
        "<!-- Written by docs/generate.py from the checks; edit those, then run `make pages`. -->",
        "",
        f"*{check.severity.capitalize()}*: {SEVERITIES[check.severity]}.",
        "",
        *("## When it is reported", "", told.strip(), ""),
        *("## Why it matters", "", check.why, ""),
        *("## What to do", "", check.remedy, ""),
        *("## Example", "", "```python", f">>> {example.strip()}", "", "```", ""),
        *suggested(code, f">>> {example}"),
        *("[All findings](index.md)", ""),
    ]
    return "\n".join(lines)


def suggested(code: str, example: str) -> Iterator[str]:
    """What the report of an example suggests to type: for the same rows in files, and in Python."""
    names: dict[str, Any] = {}
    for each in doctest.DocTestParser().get_examples(example):
        if not each.source.startswith("print("):
            exec(each.source, names)  # noqa: S102  (our own docstring)
    report = names["report"]
    files = tuple(f"{sample}.csv" for sample in report.models) if report.plan.apart else ("people.csv",)
    for kept in (replace(report, plan=replace(report.plan, files=files)), report):
        # Checks are made again, since commands depend on where the rows are.
        command = next(each.command for each in _run.find_all(kept) if each.code == code)
        if command is None:
            return
        there = " and ".join(f"`{file}`" for file in files)
        what = f"With the same rows in {there}:" if command.language == "sh" else "In Python:"
        yield from (what, "", f"```{command.language}", command.text, "```", "")


def plan_schema() -> str:
    """Write the rules that a plan may name into its schema; the rest of the schema is edited by hand."""
    known = ", ".join(json.dumps(name) for name in (None, *plan_rules()))
    schema = (DOCS / PLAN_SCHEMA).read_text(encoding="utf-8")
    return re.sub(r'(?m)^( *"rule": .*"enum": )\[.*?\]', lambda start: f"{start[1]}[{known}]", schema)


PAGES: dict[str, Callable[[], str]] = {
    PLAN_SCHEMA: plan_schema,
    "measures.md": measures_page,
    "cli.md": cli_page,
    "errors.md": errors_page,
    "findings/index.md": findings_page,
    **{f"findings/{code}.md": partial(finding_page, code) for code in CHECKS},
}


def main(*, check: bool) -> int:
    """Write the pages, or compare them with what would be written."""
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
