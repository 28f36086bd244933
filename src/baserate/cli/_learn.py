"""`baserate demo`: write generated predictions, and evaluate them."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import click
from click.shell_completion import get_completion_class

from baserate._errors import OptionError, UnknownNameError
from baserate.cli._declarations import Output, argument, command
from baserate.cli._io import print_results
from baserate.cli._terminal import write_output
from baserate.text import Page, Row, Section, Table

_DEMO_EXAMPLES = (("in the folder baserate-demo", "baserate demo"),)
NAME, PAGE = "people.csv", "report.html"


def steps(file: str) -> list[tuple[str, list[str]]]:
    """Titles of the steps, and the arguments of each."""
    columns = [file, "--truth", "sick", "--score", "risk"]
    sites = ["--positive", "1", "--group", "site", "--threshold", "0.2"]
    used = ["--positive", "1", "--group", "site", "--prevalence", "0.02", "--fp", "1", "--fn", "20"]
    return [
        (
            "What is it worth where one in fifty is sick?",
            ["report", *columns, *used],
        ),
        ("Is the score any good?", ["measure", *columns]),
        ("Is it as good at every site, and at a lower threshold?", ["measure", *columns, *sites]),
        ("Do as many fall sick as it says?", ["reliability", *columns, "--positive", "1", "--curve", "binned"]),
        ("What could be had at other thresholds?", ["curve", "roc", *columns, "--positive", "1", "--points", "9"]),
        ("Two numbers for a program:", ["measure", *columns, "--positive", "1", "--measures", "auc,ks", "--json"]),
        ("A page to explore, in any browser:", ["report", *columns, *used, "-o", str(Path(file).with_name(PAGE))]),
    ]


@command("demo", examples=_DEMO_EXAMPLES)
def demo(
    context: click.Context,
    folder: Annotated[Path, argument(required=False, type=click.Path(file_okay=False, path_type=Path))] = Path(
        "baserate-demo"
    ),
) -> None:
    """Write generated predictions and evaluate them, step by step.

    The predictions go to FOLDER/people.csv: 20 000 people are screened at three sites, where the same score meets
    different prevalences. The last step leaves a page to explore, FOLDER/report.html.
    """
    path = folder / NAME
    _write(path)
    click.echo(f"{path}: 20 000 generated people: whether each is sick, a risk score, and a site.")
    root = context.find_root().command
    for remark, typed in steps(str(path)):
        click.echo(f"\n{remark}\n" + click.style(f"$ baserate {shlex.join(typed)}", bold=True))
        with root.make_context("baserate", list(typed), parent=context) as inner:
            root.invoke(inner)
    click.echo(
        "\nGo on with your own file: baserate report FILE --truth COLUMN --score COLUMN; or see what else there "
        "is: baserate --help, baserate list measures."
    )


def _write(path: Path) -> None:
    """Write the predictions, unless they are there already; never overwrite another file."""
    from baserate.population import screening_csv, simulate_screening

    text = screening_csv(simulate_screening())
    if path.exists():
        if not path.is_file() or path.read_bytes() != text.encode():
            raise OptionError(f"{path} is there already, and is not of this demo", remedy="name another folder.")
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot make the folder {path.parent} ({error.strerror})", remedy="name another.") from error
    write_output(text, str(path))


_LIST_EXAMPLES = (
    ("all of them", "baserate list measures"),
    ("measures by words", "baserate list measures threat score"),
    ("the meaning of a code", "baserate list findings BR007"),
    ("decision rules, with their names in other software", "baserate list rules"),
)


_KINDS = {"MulticlassRows": "classrows"}
"""Type that a measure is of -> its name in the output, which is older than that of the class."""


def _measures(words: str) -> list[dict[str, Any]]:
    from baserate.measure import MEASURES, describe, multiclass, search

    measures = [describe(MEASURES[name]) for name in search(words)]
    measures += [describe(multiclass.MEASURES[name]) for name in multiclass.search(words)]
    return [
        {
            "name": each.name,
            "of": _KINDS.get(each.of.__name__, each.of.__name__.lower()),
            "best": each.best,
            "least": float(each.span[0]),
            "greatest": float(each.span[1]),
            "meaning": each.summary,
            "formula": each.formula,
            "also": ", ".join(each.aliases),
            "undefined": ", or ".join(each.causes),
        }
        for each in measures
    ]


def _curves(words: str) -> list[dict[str, Any]]:
    from baserate.measure import TABLES

    rows = [{"name": name, "x": x, "y": y} for name, (x, y) in TABLES.items()]
    return [row for row in rows if all(word in " ".join(row.values()) for word in words.lower().split())]


def _parities(words: str) -> list[dict[str, Any]]:
    from baserate.equalize import PARITIES

    rows = [
        {
            "name": each.name,
            "measures": ", ".join(each.measures),
            "promise": each.description,
            "silent": each.limitation,
            "chosen": each.enforceable,
        }
        for each in PARITIES.values()
    ]
    return [row for row in rows if all(word in " ".join(map(str, row.values())) for word in words.lower().split())]


def _findings(words: str) -> list[dict[str, Any]]:
    from baserate.report import CHECKS

    names = ("code", "title", "severity", "why", "remedy")
    rows = [{name: getattr(each, name) for name in names} for each in CHECKS.values()]
    return [row for row in rows if all(word in " ".join(row.values()).lower() for word in words.lower().split())]


def _page_of_measures(rows: list[dict[str, Any]]) -> Page:
    titles = {
        "counts": "at a threshold",
        "curve": "over all thresholds",
        "tally": "of scores as probabilities",
        "confusion": "of all classes together",
        "classrows": "of a score for each class",
        "labelsets": "of sets of labels",
    }
    sections = [
        Section(title, tuple(Row(row["name"], (), _describe(row)) for row in rows if row["of"] == of))
        for of, title in titles.items()
    ]
    return Page("", (Table("", (), tuple(section for section in sections if section.rows)),))


def _describe(row: dict[str, Any]) -> str:
    """Summary of a measure, and those other names that the summary does not mention."""
    summary = row["meaning"]
    names = [
        name
        for name in filter(None, row["also"].split(", "))
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", summary, re.IGNORECASE)
    ]
    return f"{summary} Also: {', '.join(names)}." if names else summary


def _page_of_curves(rows: list[dict[str, Any]]) -> Page:
    descriptions = (f"{row['y']} against {row['x']}".replace("_", " ") for row in rows)
    lines = tuple(Row(row["name"], (), each) for row, each in zip(rows, descriptions, strict=True))
    return Page("", (Table("curve", (), (Section("", lines),)),))


def _page_of_findings(rows: list[dict[str, Any]]) -> Page:
    lines = tuple(Row(row["code"], (), f"{row['title']} ({row['severity']}). {row['why']}") for row in rows)
    return Page("", (Table("finding", (), (Section("", lines),)),))


def _page_of_parities(rows: list[dict[str, Any]]) -> Page:
    titles = {
        True: "to choose by, with `baserate equalize`",
        False: "to measure alone, with `baserate groups`",
    }
    sections = [
        Section(title, tuple(Row(row["name"], (), _describe_parity(row)) for row in rows if row["chosen"] == chosen))
        for chosen, title in titles.items()
    ]
    return Page("", (Table("", (), tuple(section for section in sections if section.rows)),))


def _describe_parity(row: dict[str, Any]) -> str:
    promise = row["promise"]
    return f"{promise[:1].upper()}{promise[1:]}. Silent about {row['silent']}."


_Entry = tuple[str, str, Iterable[str]]
"""Name, meaning and aliases of an entry of a registry."""


def _rules(words: str) -> list[dict[str, Any]]:
    from baserate.decide import list_command_line_rules

    rules = list_command_line_rules()
    rows = _select_entries(lambda: ((name, each.summary, each.aliases) for name, each in rules.items()))(words)
    return [{**row, "plan": rules[row["name"]].in_plans} for row in rows]


def _page_of_rules(rows: list[dict[str, Any]]) -> Page:
    titles = {True: "for `baserate decide` and `baserate report`", False: "for `baserate decide`"}
    sections = [
        Section(title, tuple(Row(row["name"], (), _describe(row)) for row in rows if row["plan"] == in_plans))
        for in_plans, title in titles.items()
    ]
    return Page("", (Table("", (), tuple(section for section in sections if section.rows)),))


def _calibrators() -> Iterator[_Entry]:
    from baserate.calibrate import CALIBRATORS

    return ((each.name, f"{each.summary[:1].upper()}{each.summary[1:]}.", each.aliases) for each in CALIBRATORS)


def _estimators() -> Iterator[_Entry]:
    from baserate.shift import ESTIMATORS

    return ((each.name, each.description, each.aliases) for each in ESTIMATORS)


def _figures() -> Iterator[_Entry]:
    from baserate.draw import FIGURES

    return ((name, each.summary, each.aliases) for name, each in FIGURES.items())


def _dialects() -> Iterator[_Entry]:
    from baserate.apply import DIALECTS

    return ((name, "SQL dialect.", each.aliases) for name, each in DIALECTS.items())


def _select_entries(entries: Callable[[], Iterable[_Entry]]) -> Callable[[str], list[dict[str, Any]]]:
    """Return a function from words to the entries that contain all of them."""

    def select(words: str) -> list[dict[str, Any]]:
        rows = [{"name": name, "meaning": meaning, "also": ", ".join(also)} for name, meaning, also in entries()]
        return [row for row in rows if all(word in " ".join(row.values()).lower() for word in words.lower().split())]

    return select


def _page_of_entries(corner: str) -> Callable[[list[dict[str, Any]]], Page]:
    """Return a function from rows to their page, whose table has this corner."""

    def make_page(rows: list[dict[str, Any]]) -> Page:
        lines = tuple(Row(row["name"], (), _describe(row)) for row in rows)
        return Page("", (Table(corner, (), (Section("", lines),)),))

    return make_page


_REGISTRIES: dict[str, Callable[[], Iterable[_Entry]]] = {
    "calibrators": _calibrators,
    "estimators": _estimators,
    "figures": _figures,
    "dialects": _dialects,
}
_LISTS: dict[str, tuple[Callable[[str], list[dict[str, Any]]], Callable[[list[dict[str, Any]]], Page]]] = {
    "measures": (_measures, _page_of_measures),
    "curves": (_curves, _page_of_curves),
    "parities": (_parities, _page_of_parities),
    "findings": (_findings, _page_of_findings),
    "rules": (_rules, _page_of_rules),
    **{
        name: (_select_entries(entries), _page_of_entries(name.removesuffix("s")))
        for name, entries in _REGISTRIES.items()
    },
}
"""Kind of names -> the function that selects rows by words, and the one that lays them out."""


@command("list", examples=_LIST_EXAMPLES)
def list_(
    what: Annotated[str, argument(type=click.Choice([*_LISTS]))],
    words: Annotated[tuple[str, ...], argument(nargs=-1)],
    output: Output,
) -> None:
    """List measures, rules, calibrators and other names.

    With WORDS, those whose names or meaning contain all of them.
    """
    from baserate import Results

    select_rows, make_page = _LISTS[what]
    rows = select_rows(" ".join(words))
    if not rows:
        raise UnknownNameError(f"none of the {what} is called or described so; `baserate list {what}` lists them all.")
    results = Results(
        {name: [row[name] for row in rows] for name in rows[0]}, data={"what": what, "words": list(words)}
    )
    print_results(results, lambda: make_page(rows), output)


_COMPLETION_EXAMPLES = (
    ("in ~/.bashrc", 'eval "$(baserate completion bash)"'),
    ("in ~/.zshrc", 'eval "$(baserate completion zsh)"'),
    ("once, for fish", "baserate completion fish > ~/.config/fish/completions/baserate.fish"),
)


@command("completion", examples=_COMPLETION_EXAMPLES)
def completion(
    context: click.Context, shell: Annotated[str, argument(type=click.Choice(["bash", "zsh", "fish"]))]
) -> None:
    """Print the completion script of a shell.

    It completes commands, options and names of measures in SHELL.
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  (click knows all three)
    write_output(kind(context.find_root().command, {}, "baserate", "_BASERATE_COMPLETE").source(), None)
