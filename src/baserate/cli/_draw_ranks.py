"""Figures of how well scores tell the classes apart."""

import click

from baserate.cli._options import Reading, command, reading
from baserate.cli._picture import Picture, picture, pictured


@command(
    "gain",
    examples=(("who is found first", "baserate draw gain people.csv --truth sick --score risk -o gain.svg"),),
)
@reading
@picture
def gain(reading: Reading, picture: Picture) -> None:
    """Draw the share of positives that is found against the share of everybody who is flagged."""
    from baserate import draw

    pictured(reading, picture, draw.gain)


@command(
    "lift",
    examples=(
        ("better than chance, so many times", "baserate draw lift people.csv --truth sick --score risk -o lift.svg"),
    ),
)
@reading
@picture
def lift(reading: Reading, picture: Picture) -> None:
    """Draw how many times as many positives are found as by chance."""
    from baserate import draw

    pictured(reading, picture, draw.lift)


RANKS: tuple[click.Command, ...] = (gain, lift)
