"""`baserate demo`, `baserate list` and `baserate completion`: a worked example, the entries of registries, shells."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import click
from click.shell_completion import get_completion_class

from baserate._errors import OptionError, UnknownNameError
from baserate.cli._declarations import NameChoice, Output, argument, command, omit
from baserate.cli._io import print_results
from baserate.cli._terminal import write_output
from baserate.text import Page, list_table

_DEMO_EXAMPLES = "# in the folder baserate-demo\nbaserate demo"
NAME, PAGE = "people.csv", "report.html"


def steps(file: str) -> list[tuple[str, list[str]]]:
    """Titles of the steps, and the arguments of each."""
    columns = [file, "--truth", "sick", "--score", "risk"]
    sites = ["--positive", "1", "--group", "site", "--threshold", "0.2"]
    used = ["--positive", "1", "--group", "site", "--prevalence", "0.02", "--fp", "1", "--fn", "20"]
    return [
        ("Performance at a prevalence of 2%, with costs:", ["report", *columns, *used]),
        ("Performance in the sample:", ["measure", *columns]),
        ("Performance by site, at a lower threshold:", ["measure", *columns, *sites]),
        ("Calibration, in bins of predicted risk:", ["reliability", *columns, "--positive", "1", "--curve", "binned"]),
        ("The ROC curve:", ["curve", "roc", *columns, "--positive", "1", "--points", "9"]),
        ("Two numbers, for a program:", ["measure", *columns, "--positive", "1", "--measures", "auc,ks", "--json"]),
        ("An interactive report, for any browser:", ["report", *columns, *used, "-o", str(Path(file).with_name(PAGE))]),
    ]


@command("demo", examples=_DEMO_EXAMPLES)
def demo(
    context: click.Context,
    folder: Annotated[Path, argument(required=False, type=click.Path(file_okay=False, path_type=Path))] = Path(
        "baserate-demo"
    ),
) -> None:
    """Write generated predictions and evaluate them, step by step.

    The predictions go to FOLDER/people.csv: 20,000 people screened at three sites with different prevalences. The last
    step writes an interactive page, FOLDER/report.html.
    """
    path = folder / NAME
    _write_predictions(path)
    click.echo(f"{path}: 20,000 generated people: label (sick), score (risk) and site.")
    root = context.find_root().command
    for remark, typed in steps(str(path)):
        click.echo(f"\n{remark}\n" + click.style(f"$ baserate {shlex.join(typed)}", bold=True))
        with root.make_context("baserate", list(typed), parent=context) as inner:
            root.invoke(inner)
    click.echo(
        "\nContinue with your own file: baserate report FILE --truth COLUMN --score COLUMN. All commands: baserate "
        "--help. All measures: baserate list measures."
    )


def _write_predictions(path: Path) -> None:
    """Write the predictions, unless the file contains them already; never overwrite another file."""
    from baserate.population import screening_csv, simulate_screening

    text = screening_csv(simulate_screening())
    if path.exists():
        if not path.is_file() or path.read_bytes() != text.encode():
            raise OptionError(f"{path} exists, and is not of this demo", remedy="name another folder.")
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot make the folder {path.parent} ({error.strerror})", remedy="name another.") from error
    write_output(text, str(path))


_Row = dict[str, Any]
_KINDS = {"MulticlassRows": "classrows"}
"""Type that a measure is of -> its name in the output, which is older than that of the class."""


def _measures(words: str) -> list[_Row]:
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


def _curves() -> Iterator[_Row]:
    from baserate.measure import TABLES

    return ({"name": name, "x": x, "y": y} for name, (x, y) in TABLES.items())


def _parities() -> Iterator[_Row]:
    from baserate.fairness import PARITIES

    for each in PARITIES.values():
        texts = {"promise": each.description, "silent": each.limitation, "chosen": each.enforceable}
        yield {"name": each.name, "measures": ", ".join(each.measures), **texts}


def _findings() -> Iterator[_Row]:
    from baserate.report import CHECKS, MULTICLASS_CHECKS

    names = ("code", "title", "severity", "why", "remedy")
    checks = (*CHECKS.values(), *MULTICLASS_CHECKS.values())
    return ({name: getattr(each, name) for name in names} for each in checks)


def _rules() -> Iterator[_Row]:
    from baserate.decide import list_command_line_rules

    rules = list_command_line_rules()
    return ({**_entry(name, each.summary, each.aliases), "plan": each.in_plans} for name, each in rules.items())


def _calibrators() -> Iterator[_Row]:
    from baserate.calibration import CALIBRATORS

    return (_entry(each.name, f"{each.summary[:1].upper()}{each.summary[1:]}.", each.aliases) for each in CALIBRATORS)


def _estimators() -> Iterator[_Row]:
    from baserate.shift import ESTIMATORS

    return (_entry(each.name, each.description, each.aliases) for each in ESTIMATORS)


def _figures() -> Iterator[_Row]:
    from baserate.draw import FIGURES

    return (_entry(name, each.summary, each.aliases) for name, each in FIGURES.items())


def _dialects() -> Iterator[_Row]:
    from baserate.apply import DIALECTS

    return (_entry(name, "SQL dialect.", each.aliases) for name, each in DIALECTS.items())


def _entry(name: str, meaning: str, aliases: Iterable[str]) -> _Row:
    return {"name": name, "meaning": meaning, "also": ", ".join(aliases)}


def _select_rows(rows: Iterable[_Row], words: str) -> list[_Row]:
    """Return the rows whose texts contain all words."""
    terms = words.lower().split()
    return [row for row in rows if all(word in " ".join(map(str, row.values())).lower() for word in terms)]


def _describe_entry(row: _Row) -> str:
    """Return the summary of an entry, and those other names that the summary does not mention."""
    summary = row["meaning"]
    names = [
        name
        for name in filter(None, row["also"].split(", "))
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", summary, re.IGNORECASE)
    ]
    return f"{summary} Also: {', '.join(names)}." if names else summary


def _describe_parity(row: _Row) -> str:
    promise = row["promise"]
    return f"{promise[:1].upper()}{promise[1:]}. Does not constrain {row['silent']}."


class _List(NamedTuple):
    """A kind of names: its rows, the meaning of a row, and the sections that rows are in by the value of a column."""

    rows: Callable[[], Iterable[_Row]]
    meaning: Callable[[_Row], str] = _describe_entry
    sections: tuple[str, dict[Any, str]] | None = None

    def page(self, rows: Sequence[_Row], corner: str) -> Page:
        """Return names and meanings, in sections with titles or under the kind of names."""
        names: dict[str, Any] = {"label": lambda row: str(next(iter(row.values()))), "meaning": self.meaning}
        if self.sections is None:
            return Page("", (list_table(rows, {}, **names, corner=corner),))
        column, titles = self.sections
        ordered = [row for value in titles for row in rows if row[column] == value]
        return Page("", (list_table(ordered, {}, **names, section=lambda row: titles[row[column]]),))


_MEASURES = {
    "counts": "at a threshold",
    "curve": "over all thresholds",
    "tally": "of scores as probabilities",
    "confusion": "of all classes together",
    "classrows": "of a score for each class",
    "labelsets": "of sets of labels",
}
_PARITIES = {True: "to choose by, with `baserate equalize`", False: "to measure alone, with `baserate groups`"}
_RULES = {True: "for `baserate decide` and `baserate report`", False: "for `baserate decide`"}
_LISTS = {
    "measures": _List(tuple, sections=("of", _MEASURES)),
    "curves": _List(_curves, lambda row: f"{row['y']} against {row['x']}".replace("_", " ")),
    "parities": _List(_parities, _describe_parity, ("chosen", _PARITIES)),
    "findings": _List(_findings, lambda row: f"{row['title']} ({row['severity']}). {row['why']}"),
    "rules": _List(_rules, sections=("plan", _RULES)),
    "calibrators": _List(_calibrators),
    "estimators": _List(_estimators),
    "figures": _List(_figures),
    "dialects": _List(_dialects),
}


@command(
    "list",
    examples="""
    # all of them
    baserate list measures
    # measures by words
    baserate list measures threat score
    # the meaning of a code
    baserate list findings BR007
    # decision rules, with their names in other software
    baserate list rules
    """,
)
def list_(
    what: Annotated[str, argument(type=NameChoice([*_LISTS]), metavar="KIND")],
    words: Annotated[tuple[str, ...], argument(nargs=-1)],
    output: Annotated[Output, omit("explain")],
) -> None:
    """List measures, rules, calibrators and other names.

    KIND is measures, curves, parities, findings, rules, calibrators, estimators, figures or dialects. With WORDS, those
    whose names or meaning contain all of them.
    """
    from baserate import Results

    typed = " ".join(words)
    # Measures have a search of their own, which ranks them and finds aliases.
    rows = _measures(typed) if what == "measures" else _select_rows(_LISTS[what].rows(), typed)
    if not rows:
        raise UnknownNameError(
            f"no name or description among the {what} contains {typed!r}", remedy=f"`baserate list {what}` lists all."
        )
    header = {"what": what, "words": list(words)}
    results = Results({name: [row[name] for row in rows] for name in rows[0]}, data=header)
    print_results(results, lambda: _LISTS[what].page(rows, what.removesuffix("s")), output)


@command(
    "completion",
    examples="""
    # in ~/.bashrc
    eval "$(baserate completion bash)"
    # in ~/.zshrc
    eval "$(baserate completion zsh)"
    # once, for fish
    baserate completion fish > ~/.config/fish/completions/baserate.fish
    """,
)
def completion(context: click.Context, shell: Annotated[Literal["bash", "zsh", "fish"], argument()]) -> None:
    """Print the completion script of a shell.

    It completes commands, options and names of measures in SHELL.
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  (click knows all three)
    write_output(kind(context.find_root().command, {}, "baserate", "_BASERATE_COMPLETE").source(), None)
