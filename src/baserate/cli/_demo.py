"""`baserate demo`: write generated predictions, and evaluate them."""

import shlex
from pathlib import Path
from typing import Annotated

import click

from baserate._errors import OptionError
from baserate.cli._declarations import argument, command
from baserate.cli._terminal import write_output

_EXAMPLES = (("in the folder baserate-demo", "baserate demo"),)
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


@command("demo", examples=_EXAMPLES)
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
    from baserate.cli._people import as_csv, screening

    text = as_csv(screening())
    if path.exists():
        if not path.is_file() or path.read_bytes() != text.encode():
            raise OptionError(f"{path} is there already, and is not of this demo", remedy="name another folder.")
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot make the folder {path.parent} ({error.strerror})", remedy="name another.") from error
    write_output(text, str(path))
