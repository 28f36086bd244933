"""`baserate apply`: read, map, write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from baserate.cli._failures import debug
from baserate.cli._maps import MISSING, TARGET, columns, loaded, written
from baserate.cli._options import Verb, bundled, check_place, command

_EXAMPLES = (
    ("calibrated probabilities beside the scores", "baserate apply map.json people.csv -o calibrated.csv"),
    ("any size, any kind, any name", "baserate apply map.json 'parts/*.parquet' -o out.parquet --score risk --to p"),
    ("in the middle of a pipe", "zcat people.csv.gz | baserate apply map.json - -o - | head"),
    ("both probabilities of a Venn–Abers map", "baserate apply venn-abers.json people.csv -o out.csv --bounds"),
)


@dataclass(frozen=True, slots=True)
class Applying:
    """What to apply to what, and where the rows go."""

    map: str
    file: tuple[str, ...]
    output: str
    score: str | None
    to: str | None
    bounds: bool
    missing: Literal["refuse", "keep"]
    quiet: bool

    def __post_init__(self) -> None:
        if self.output != "-":
            check_place(Path(self.output))


def applying(verb: Verb) -> Verb:
    """Add the options that say what to apply to what; the verb gets them as `applying`."""
    return bundled(verb, Applying, "applying", _APPLYING)


_APPLYING = (
    click.argument("map", type=click.Path(), metavar="MAP"),
    click.argument("file", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="FILE..."),
    click.option(
        "-o",
        "--output",
        type=click.Path(allow_dash=True),
        required=True,
        metavar="FILE",
        help=TARGET,
    ),
    click.option(
        "--score",
        metavar="COLUMN",
        help="Column of scores, if it is not the one that the map was fitted on; for a map of several classes "
        "CLASS=COLUMN,….",
    ),
    click.option(
        "--to",
        metavar="NAME",
        help="Name of the new column; otherwise that of the score and _calibrated. For a map of several classes "
        "CLASS=NAME,….",
    ),
    click.option(
        "--bounds", is_flag=True, help="Add both probabilities of a Venn–Abers map, as NAME_low and NAME_high."
    ),
    MISSING,
    click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors."),
    debug,
)


@command("apply", examples=_EXAMPLES)
@applying
def apply(applying: Applying) -> None:
    """Apply a map to rows of any number: every column stays, and calibrated probabilities join them.

    MAP is a file that holds a map. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such
    files, or - for stdin. The output is written whole or not at all.
    """
    map_ = loaded(applying.map)
    written(
        map_,
        applying.file,
        applying.output,
        quiet=applying.quiet,
        score=columns(map_, applying.score),
        to=columns(map_, applying.to),
        bounds=applying.bounds,
        missing=applying.missing,
    )
