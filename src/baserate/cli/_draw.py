"""`baserate draw`: the figures that there are."""

import click

from baserate.cli._draw_ranks import RANKS
from baserate.cli._draw_worth import WORTH
from baserate.cli._failures import debug
from baserate.cli._options import Choices


@click.group(
    "draw",
    cls=Choices,
    what="figure",
    examples=(
        ("a ROC curve with its band", "baserate draw roc people.csv --truth sick --score risk --band -o roc.svg"),
        ("who is found first", "baserate draw gain people.csv --truth sick --score risk -o gain.svg"),
    ),
)
@debug
def draw() -> None:
    """Draw a figure for a paper or a slide, as SVG, PNG or PDF; or write its numbers.

    Choose a figure, then name the file of predictions. Colours are those that a colour-blind person can tell apart, and
    the same numbers always make the same file. Needs matplotlib: pip install 'baserate[plot]'.
    """


for each in (*RANKS, *WORTH):
    draw.add_command(each)
