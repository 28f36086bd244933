"""Options of every figure, and the steps from rows to its file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._domains import INCHES
from baserate.cli._declarations import Quiet, check_place, omit, option
from baserate.cli._files import fill_from_policy, load_policy
from baserate.cli._io import adjusted_headline, describe_adjustment, read_tallies
from baserate.cli._options import Level, Reading
from baserate.cli._terminal import print_message
from baserate.cli._values import flatten, read_numbers, read_thresholds

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._tally import Tallies
    from baserate.draw import Drawing

_PIXELS = 20_000
"""Dots each way: 1.6 GB of them fit into memory."""
ENDINGS = ("svg", "png", "pdf", "csv", "json")


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOptions:
    """Where a figure is written, and how it looks."""

    path: Annotated[
        str,
        option(
            "-o",
            "--output",
            type=click.Path(),
            metavar="FILE",
            help="Output file: .svg, .png or .pdf for the figure, .csv or .json for its numbers.",
        ),
    ]
    size: Annotated[
        tuple[float, ...] | None,
        option(type=read_numbers, metavar="W,H", help="Width and height in inches, from 0.5 to 100."),
    ] = None
    dpi: Annotated[int, option(type=click.IntRange(20, 2400), help="Dots per inch of a .png.")] = 200
    title: Annotated[str | None, option(metavar="TEXT", help="Title above the figure.")] = None
    quiet: Quiet = False

    def __post_init__(self) -> None:
        check_place(Path(self.path))
        if Path(self.path).suffix.lstrip(".").lower() not in ENDINGS:
            raise click.UsageError(
                f"{self.path} is no kind of picture that we write; end the name in .svg, .png or .pdf, or in .csv or "
                ".json for the numbers."
            )
        if self.size is not None and (len(self.size) != 2 or not all(map(INCHES.holds, self.size))):
            raise click.UsageError(f"--size is width and height, each {INCHES.words}; for example --size 6,4.")
        if self.size is not None and max(self.size) * self.dpi > _PIXELS:
            raise click.UsageError(
                f"--size and --dpi make {max(self.size) * self.dpi:,.0f} dots; expected at most {_PIXELS:,} each way. "
                "Give fewer inches, or fewer dots per inch."
            )

    def save(self, drawing: "Drawing") -> None:
        """Write it, and say where."""
        if self.size is not None:
            drawing.figure.set_size_inches(self.size[0], self.size[1])
        if self.title is not None:
            drawing.ax.set_title(self.title, parse_math=False)
        try:
            drawing.save(self.path, dpi=self.dpi)
        except OSError as error:
            raise click.UsageError(f"cannot write {self.path} ({error.strerror}); name another file.") from error
        if not self.quiet:
            print_message(f"wrote {self.path}")


def draw_figure(
    reading: Reading, figure_options: FigureOptions, make: "Callable[[Tallies], Drawing]", *, to: float | None = None
) -> None:
    """Read predictions, draw a figure of them, and print what was read."""
    from baserate.draw import import_matplotlib

    import_matplotlib()  # before reading, so that what is not installed is told at once
    read = read_tallies(reading, quiet=figure_options.quiet)
    drawing = make(read)
    if not figure_options.quiet:
        data = describe_adjustment(next(iter(drawing.parts.values())), read, to).data
        print_message(adjusted_headline(reading, data))
        if reading.positive is None:
            print_message(f"positive = {data['positive']}, inferred; name it with --positive.")
        for note in data["notes"]:
            print_message(f"note: {note}")
    figure_options.save(drawing)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkOptions:
    """Options of curves: band, confidence level, thresholds and policies to mark."""

    band: Annotated[bool, option(help="Pointwise confidence band.")] = False
    simultaneous: Annotated[bool, option(help="Simultaneous confidence band, for the whole curve.")] = False
    level: Level = 0.95
    threshold: Annotated[
        tuple[tuple[float, ...], ...],
        option(type=read_thresholds, metavar="NUMBERS", multiple=True, help="Thresholds to mark, with commas."),
    ] = ()
    policy: Annotated[
        str | None,
        option(type=click.Path(), metavar="FILE", help="Policy to mark; it also names the columns and groups."),
    ] = None

    def read(self, reading: Reading) -> "tuple[Reading, dict[str, Any]]":
        """Take names of columns from the policy, if any; return the options of reading and of the figure."""
        policy: Policy | None = None if self.policy is None else load_policy(self.policy)
        options = {
            "band": "simultaneous" if self.simultaneous else self.band,
            "level": self.level,
            "threshold": flatten(self.threshold) or None,
            "policy": policy,
        }
        return (reading if policy is None else fill_from_policy(reading, policy)), options

    def points(self, reading: Reading) -> "tuple[Reading, dict[str, Any]]":
        """Do so for a figure that shows marks alone."""
        filled_in, options = self.read(reading)
        return filled_in, {name: options[name] for name in ("threshold", "policy")}


PointwiseMarking = Annotated[MarkOptions, omit("simultaneous")]
"""Options of a curve whose band is pointwise alone."""
ThresholdMarking = Annotated[MarkOptions, omit("band", "simultaneous", "level")]
"""Options of a figure without a band."""
