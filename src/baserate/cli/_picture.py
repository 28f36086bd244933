"""Options that every figure has, and the way from rows to a file of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from baserate._domains import INCHES
from baserate.cli._ask import carried, carried_line, tallies
from baserate.cli._failures import debug, in_flags
from baserate.cli._options import Reading, Verb, bundled, check_place, numbers
from baserate.cli._say import say

if TYPE_CHECKING:
    from baserate._tally import Tallies
    from baserate.draw import Drawing

_PIXELS = 20_000
"""Dots each way: 1.6 GB of them fit into memory."""
ENDINGS = ("svg", "png", "pdf", "csv", "json")


@dataclass(frozen=True, slots=True)
class Picture:
    """Where a figure is written, and how it looks."""

    output: str
    size: tuple[float, ...] | None
    dpi: int
    title: str | None
    quiet: bool

    def __post_init__(self) -> None:
        check_place(Path(self.output))
        if Path(self.output).suffix.lstrip(".").lower() not in ENDINGS:
            raise click.UsageError(
                f"{self.output} is no kind of picture that we write; end the name in .svg, .png or .pdf, or in .csv or "
                ".json for the numbers."
            )
        if self.size is not None and (len(self.size) != 2 or not all(map(INCHES.holds, self.size))):
            raise click.UsageError(f"--size is width and height, each {INCHES.words}; for example --size 6,4.")
        if self.size is not None and max(self.size) * self.dpi > _PIXELS:
            raise click.UsageError(
                f"--size and --dpi make {max(self.size) * self.dpi:,.0f} dots; expected at most {_PIXELS:,} each way. "
                "Give fewer inches, or fewer dots per inch."
            )

    def keep(self, drawing: "Drawing") -> None:
        """Write it, and say where."""
        if self.size is not None:
            drawing.figure.set_size_inches(self.size[0], self.size[1])
        if self.title is not None:
            drawing.ax.set_title(self.title, parse_math=False)
        try:
            drawing.save(self.output, dpi=self.dpi)
        except OSError as error:
            raise click.UsageError(f"cannot write {self.output} ({error.strerror}); name another file.") from error
        if not self.quiet:
            say(f"wrote {self.output}")


def picture(verb: Verb) -> Verb:
    """Add the options of every figure; the verb gets them as `picture`."""
    return bundled(verb, Picture, "picture", _PICTURE)


def pictured(
    reading: Reading, picture: Picture, make: "Callable[[Tallies], Drawing]", *, to: float | None = None
) -> None:
    """Read, say what was read and where it was carried to, draw and write."""
    from baserate.draw import importing

    importing()  # before reading, so that what is not installed is told at once
    read = tallies(reading, quiet=picture.quiet)
    drawing = make(read)
    if not picture.quiet:
        data = carried(next(iter(drawing.parts.values())), read, to).data
        say(carried_line(reading, data))
        if reading.positive is None:
            say(f"positive = {data['positive']}, inferred; name it with --positive.")
        for note in data["notes"]:
            say(f"note: {in_flags(note)}")
    picture.keep(drawing)


_PICTURE = (
    click.option(
        "-o",
        "--output",
        type=click.Path(),
        metavar="FILE",
        required=True,
        help="Where to write: .svg, .png or .pdf for the picture, .csv or .json for its numbers.",
    ),
    click.option("--size", type=numbers, metavar="W,H", help="Width and height in inches, from 0.5 to 100."),
    click.option(
        "--dpi", type=click.IntRange(20, 2400), default=200, show_default=True, help="Dots per inch of a .png."
    ),
    click.option("--title", metavar="TEXT", help="What to write above it."),
    click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors."),
    debug,
)
