"""`baserate draw population`: theory in closed form, and a sample over it."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import ROWS
from baserate.cli._ask import headline, tallies
from baserate.cli._failures import debug
from baserate.cli._options import Choices, Reading, Verb, bundled, command, whole, zeros_and_ones
from baserate.cli._picture import Picture, picture
from baserate.cli._population import FAMILIES, SHARE, Asked, Option
from baserate.cli._say import say

if TYPE_CHECKING:
    from baserate._tally import Tally

WHAT = ("densities", "roc", "pr")


@dataclass(frozen=True, slots=True)
class Beside:
    """What is drawn, and how many rows are drawn at random beside it."""

    what: Any
    sample: int | None
    seed: int | None

    def __post_init__(self) -> None:
        if self.seed is not None and self.sample is None:
            raise click.UsageError("--seed is for rows that are drawn at random; add how many, such as --sample 300.")


def _beside(verb: Verb) -> Verb:
    return bundled(verb, Beside, "beside", _BESIDE)


_BESIDE = (
    click.option(
        "--what",
        type=click.Choice(WHAT),
        default="densities",
        show_default=True,
        help="Scores of both classes, or a curve.",
    ),
    click.option(
        "--sample", type=whole(ROWS._replace(high=10**7)), metavar="ROWS", help="Draw so many rows of it at random."
    ),
    click.option("--seed", type=click.IntRange(min=0), help="The same gives the same rows; otherwise 0."),
)


@click.group(
    "population",
    short_help="Draw curves of a population known in closed form.",
    cls=Choices,
    what="population",
    examples=(
        ("what 300 rows show of it", "baserate draw population binormal --means 0,1 --sample 300 -o scores.svg"),
        (
            "rows of a file against a theory of them",
            "baserate draw population logit-normal people.csv --truth sick --score risk --what roc -o roc.svg",
        ),
    ),
)
@debug
def population() -> None:
    """Draw theory: a classifier whose score distributions are known, and a sample if there is one.

    Choose a population; the sample is drawn from it at random, or read from FILE.
    """


def _drawn(family: str, reading: Reading, beside: Beside, picture: Picture, **parameters: object) -> None:
    """Draw a population of that family."""
    from baserate import draw
    from baserate.draw import importing

    importing()
    asked = Asked(family.replace("-", "_"), parameters)
    sample = _sample(asked, reading, beside, quiet=picture.quiet)
    picture.keep(draw.population(asked.population(), sample=sample, what=beside.what))


def _sample(asked: Asked, reading: Reading, beside: Beside, *, quiet: bool) -> "Tally | None":
    """Rows of a file, or drawn at random; None if neither is asked for."""
    if reading.file and beside.sample is not None:
        raise click.UsageError("FILE and --sample are two samples; leave out one of them.")
    if beside.sample is not None:
        from baserate import tally

        return tally(*asked.population().draw(beside.sample, beside.seed or 0))
    if not reading.file:
        return None
    from baserate.measure import header

    read = tallies(reading, quiet=quiet)
    if len(read.models) > 1:
        raise click.UsageError(f"a sample is of one score, and there are {len(read.models)}; name one with --score.")
    if not quiet:
        say(headline(reading, header(read, [])))
    return read.tally


def _added(name: str, told: str, options: tuple[Option, ...]) -> click.Command:
    """Make the command of a family, with its parameters."""
    # Some families call their parameters as reading calls labels, so that these must be 0 and 1.
    made: Verb = zeros_and_ones(_beside(picture(partial(_drawn, name))))
    every: tuple[Option, ...] = (SHARE, *options)
    for option in reversed(every):
        made = option(made)
    made.__doc__ = told
    examples = (
        ("the scores of 300 rows, over their densities", f"baserate draw population {name} --sample 300 -o {name}.svg"),
    )
    return command(name, examples=examples)(made)


for _name, (_told, _options) in FAMILIES.items():
    population.add_command(_added(_name, _told, _options))
