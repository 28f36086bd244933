"""`baserate reliability`: read, judge whether probabilities are right."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

import click

from baserate._domains import BINS, DRAWS, POINTS
from baserate._formatting import format_count
from baserate.cli._ask import answer, explain, tallies
from baserate.cli._classes import SCORED, Classes, read_classes
from baserate.cli._options import Reading, Verb, Writing, bundled, command, level, reading, share, whole, writing

if TYPE_CHECKING:
    from baserate import infer
    from baserate._results import Results
    from baserate._rows import MulticlassRows
    from baserate._tally import Tallies

CURVES = ("binned", "isotonic", "lowess", "likelihood-ratio")
IN_BINS = ("binned", "likelihood-ratio")
FEW = 25
"""Points of a curve that a person wants to read."""

_EXAMPLES = (
    ("are the probabilities right?", "baserate reliability people.csv --truth sick --score risk"),
    ("at every site", "baserate reliability people.csv --truth sick --score risk --group site"),
    (
        "does a map help on new rows?",
        "baserate reliability new.csv --truth sick --score risk --map map.json",
    ),
    (
        "would they be, told the prevalence here?",
        "baserate reliability people.csv --truth sick --score risk --prevalence derived",
    ),
    ("many classes, a probability for each", "baserate reliability pets.csv --truth is --scores p_"),
    (
        "a calibration curve, to plot",
        "baserate reliability people.csv --truth sick --score risk --curve isotonic -o curve.csv",
    ),
)


@dataclass(frozen=True, slots=True)
class Judging:
    """What is judged, and how; None is what was not asked for."""

    scores: tuple[str, ...]
    labels: tuple[str, ...]
    bins: int | None
    by: Literal["width", "mass"] | None
    fitted: bool
    prevalence: float | Literal["derived"] | None
    level: float | None
    seed: int | None
    draws: int | None
    smoother: Literal["lowess", "isotonic"] | None
    map: str | None
    curve: str | None
    points: int | None
    band: Literal["consistency", "confidence"] | None

    def __post_init__(self) -> None:
        for name, of in self._idle().items():
            given = getattr(self, name)
            if given is not None and given is not False:  # 0 is a choice
                raise click.UsageError(f"--{name} {of}")
        if self.labels and not self.scores:
            raise click.UsageError("--labels is for many classes; give a probability for each with --scores.")
        if self.scores and self.prevalence is not None:
            raise click.UsageError("--prevalence is for two classes; of many there is one for each: leave it out.")
        if self.map and self.prevalence is not None:
            raise click.UsageError("--map and --prevalence both say what comes after; leave out one of them.")

    def _idle(self) -> dict[str, str]:
        """Options without use, and what to do about it."""
        if self.curve is None:
            return dict.fromkeys(("points", "band"), "is for curves; add one, such as --curve isotonic.")
        idle = dict.fromkeys(
            ("fitted", "prevalence", "draws", "smoother", "map"), "is for numbers and tests; leave out it or --curve."
        )
        if self.curve in IN_BINS:
            needs_no = "is for bands that are drawn, of --curve isotonic or --curve lowess; leave it out."
            return idle | dict.fromkeys(("band", "seed"), needs_no)
        return idle | dict.fromkeys(("bins", "by"), f"is for bins, which {self.curve} does without; leave it out.")

    @property
    def classes(self) -> Classes:
        """What is asked of many classes."""
        return Classes(self.scores, self.labels, (), None, None)


def judging(verb: Verb) -> Verb:
    """Add the options that say what is judged, and how; the verb gets them as `judging`."""
    return bundled(verb, Judging, "judging", _JUDGING)


def _prevalence(text: str) -> float | Literal["derived"]:
    """Read a prevalence, or that it is to be found."""
    if text.strip().lower() == "derived":
        return "derived"
    return share(text, f"{text!r} is no prevalence; give a number between 0 and 1, or derived.")


_JUDGING = (
    *SCORED,
    click.option("--bins", type=whole(BINS), help="How many bins numbers in bins have; 10 if not named."),
    click.option(
        "--by",
        type=click.Choice(["width", "mass"]),
        help="Bins of equal width, or with equally many rows; otherwise what is usual for each.",
    ),
    click.option(
        "--fitted",
        is_flag=True,
        help="Model fitted to these rows: the Hosmer–Lemeshow test has up to two degrees of freedom fewer.",
    ),
    click.option(
        "--prevalence",
        type=_prevalence,
        metavar="derived|NUMBER",
        help="Judge before and after an adjustment to the prevalence of the rows: from this one, or from the one that "
        "fits best.",
    ),
    click.option(
        "--level",
        type=level,
        metavar="SHARE",
        help="Confidence of intervals, and quantile of noise floors, such as 0.9 or 90%; otherwise 0.95.",
    ),
    click.option("--seed", type=click.IntRange(0), metavar="NUMBER", help="Seed of random draws; otherwise 0."),
    click.option(
        "--draws",
        type=whole(DRAWS._replace(low=0)),
        help="How often a perfect model is drawn for the noise floors; otherwise 500, and 0 for none.",
    ),
    click.option(
        "--smoother",
        type=click.Choice(["lowess", "isotonic"]),
        help="Curve from which ici, e50, e90 and emax measure; otherwise lowess.",
    ),
    click.option(
        "--map",
        type=click.Path(exists=True, dir_okay=False),
        metavar="MAP",
        help="Judge before and after this map, which `baserate calibrate` wrote.",
    ),
    click.option("--curve", type=click.Choice(CURVES), help="Tabulate this calibration curve instead."),
    click.option(
        "--points",
        type=whole(POINTS),
        help=f"At most so many points of each curve; otherwise all, and {FEW} in tables to read.",
    ),
    click.option(
        "--band",
        type=click.Choice(["consistency", "confidence"]),
        help="Bounds of a curve: of what would be seen if all were right, or around what was seen; otherwise "
        "consistency.",
    ),
)


@command("reliability", examples=_EXAMPLES)
@reading
@judging
@writing
def reliability(reading: Reading, judging: Judging, writing: Writing) -> None:
    """Tell whether probabilities are right: whether 20 % happen of what was given a chance of 20 %.

    Chance alone puts distances from calibration above 0, so each stands beside its noise floor: what a perfectly
    calibrated model of the same size would score. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a
    pattern of such files, or - for stdin.
    """
    if reading.predicted:
        raise click.UsageError(
            "labels are no probabilities; instead of --predicted give a column of probabilities with --score, or one "
            "for each class with --scores."
        )
    if bool(reading.score) == bool(judging.scores):
        few = "are two ways to read; leave out one" if reading.score else "say where probabilities stand; give one"
        raise click.UsageError(f"--score (of two classes) and --scores (of many, one for each) {few} of them.")
    read = _read(reading, judging, quiet=writing.quiet)
    if judging.curve:
        _tabulated(read, reading, judging, writing)
        return
    from baserate.cli._calibration import page

    found = _judged(read, judging, quiet=writing.quiet)
    explain(reading, found.data, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)


def _read(asked: Reading, judging: Judging, *, quiet: bool) -> "Tallies | MulticlassRows":
    if not judging.scores:
        return tallies(asked, quiet=quiet)
    found = read_classes(asked, judging.classes, quiet=quiet)
    from baserate import MulticlassRows

    assert isinstance(found, MulticlassRows)  # noqa: S101  (for the type checker)
    return found


def _judged(read: "Tallies | MulticlassRows", judging: Judging, *, quiet: bool) -> "Results":
    from baserate import infer
    from baserate.cli._progress import counted

    given = {name: getattr(judging, name) for name in ("bins", "by", "fitted", "level", "seed", "draws", "smoother")}
    asked = infer.Reliability(**{name: value for name, value in given.items() if value is not None})
    after = _after(read, judging.map) if judging.map else None
    with counted(quiet=quiet) as watch:
        return infer.reliability(read, asked=asked, prevalence=judging.prevalence, after=after, watch=watch)


def _after(read: "Tallies | MulticlassRows", path: str) -> "infer.After":
    from baserate import infer
    from baserate.cli._maps import loaded

    found = loaded(path)
    return infer.mapped(read, found, how=f"mapped by {PurePath(path).name} ({found.method})")


def _tabulated(read: "Tallies | MulticlassRows", reading: Reading, judging: Judging, writing: Writing) -> None:
    from baserate import infer
    from baserate.cli._calibration_curve import page

    few = judging.points is None and writing.form in {"table", "md"}
    given = {name: getattr(judging, name) for name in ("bins", "by", "band", "level", "seed")}
    drawn = infer.Drawn(**{name: value for name, value in given.items() if value is not None})
    what = str(judging.curve).replace("-", "_")
    found = infer.reliability_curves(read, what, drawn=drawn, points=FEW if few else judging.points)
    left_out = [_left_out(found)] if few and found.data["longest"] > FEW else []
    explain(reading, {**found.data, "notes": [*found.data["notes"], *left_out]}, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)


def _left_out(found: "Results") -> str:
    most = format_count(found.data["longest"], 4)
    return f"at most {FEW} of up to {most} points of each curve are shown; --points N shows more, --format csv all."
