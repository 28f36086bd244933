"""`baserate draw`: one command for each figure."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import BINS, INCHES, ROWS
from baserate.cli._benefit import DecisionCurveOptions
from baserate.cli._cost_curve import CostCurveOptions
from baserate.cli._declarations import Quiet, check_place, command, group, omit, option
from baserate.cli._groups import GroupOptions, complete_reading
from baserate.cli._io import (
    adjusted_headline,
    describe_adjustment,
    fill_from_policy,
    headline,
    load_policy,
    read_tallies,
)
from baserate.cli._options import (
    ClosedFormIntervals,
    GroupReading,
    Level,
    MeasureSettings,
    OptionalReading,
    OutcomeCosts,
    Prevalence,
    Reading,
    bind_settings,
)
from baserate.cli._population import FAMILIES, PopulationRequest, make_request
from baserate.cli._terminal import print_message
from baserate.cli._values import (
    complete_two_class,
    flatten,
    names,
    read_numbers,
    read_prevalence,
    read_threshold,
    read_thresholds,
    whole_number,
)

if TYPE_CHECKING:
    from baserate import infer
    from baserate._policy import Policy
    from baserate._tally import Tallies, Tally
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RocOptions(OutcomeCosts):
    """Options of a ROC curve: hull, costs, prevalence."""

    no_hull: Annotated[bool, option(help="Without the convex hull, which mixtures of thresholds reach.")] = False
    prevalence: Annotated[
        float | None,
        option(
            type=read_prevalence, metavar="SHARE", help="Prevalence in deployment, where the costs arise, such as 2%."
        ),
    ] = None


@command(
    "roc",
    examples=(
        ("a ROC curve", "baserate draw roc people.csv --truth sick --score risk -o roc.svg"),
        (
            "the cheapest threshold, if a false negative costs 20 false positives at 2 %",
            "baserate draw roc people.csv --truth sick --score risk --fp 1 --fn 20 --prevalence 2% -o roc.svg",
        ),
        (
            "a simultaneous band, and a threshold",
            "baserate draw roc people.csv --truth sick --score risk --simultaneous --threshold 0.5 -o roc.png",
        ),
    ),
)
def roc(reading: Reading, roc: RocOptions, marks: MarkOptions, figure_options: FigureOptions) -> None:
    """Draw the ROC curve.

    The AUC is labelled with its interval. With costs, an iso-cost line touches the best point of all. Predicted labels
    are a point.
    """
    from baserate import draw

    reading, options = marks.read(reading)
    make = partial(draw.roc, hull=not roc.no_hull, costs=roc.outcome_costs, prevalence=roc.prevalence, **options)
    draw_figure(reading, figure_options, make)


@command(
    "pr",
    examples=(
        ("precision against recall", "baserate draw pr people.csv --truth sick --score risk -o pr.svg"),
        (
            "at a prevalence of 2 %",
            "baserate draw pr people.csv --truth sick --score risk --prevalence 0.02 --threshold 0.5 -o pr.svg",
        ),
    ),
)
def pr(
    reading: Reading,
    marks: PointwiseMarking,
    figure_options: FigureOptions,
    *,
    no_iso_f1: Annotated[bool, option(help="Without lines of equal F1.")] = False,
    prevalence: Prevalence = None,
) -> None:
    """Draw the precision–recall curve.

    It has the steps that average precision adds up. Behind it are lines of equal F1, and the prevalence, which is the
    precision of chance.
    """
    from baserate import draw

    reading, options = marks.read(reading)
    make = partial(draw.pr, iso_f1=not no_iso_f1, prevalence=prevalence, **options)
    draw_figure(reading, figure_options, make, to=prevalence)


@command(
    "scores",
    examples=(
        (
            "score distributions, and a threshold",
            "baserate draw scores people.csv --truth sick --score risk --threshold 0.5 -o scores.svg",
        ),
    ),
)
def scores(
    reading: Annotated[Reading, omit("predicted", "group")],
    marks: ThresholdMarking,
    figure_options: FigureOptions,
    *,
    bins: Annotated[
        int | None, option(type=whole_number(BINS), default="10 to 40", help="Approximate number of bins.")
    ] = None,
) -> None:
    """Draw the score distributions of both classes."""
    from baserate import draw

    reading, options = marks.points(reading)
    draw_figure(reading, figure_options, partial(draw.scores, bins=bins, **options))


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdMeasures:
    """Options that say what to draw against the threshold."""

    measures: Annotated[
        tuple[str, ...],
        option(
            type=names,
            metavar="NAMES",
            shell_complete=complete_two_class,
            default="sensitivity, specificity, precision, f1 and flag-rate",
            help="Measures of decisions, with commas.",
        ),
    ] = ()
    prevalence: Prevalence = None


@command(
    "thresholds",
    examples=(
        (
            "the usual measures",
            "baserate draw thresholds people.csv --truth sick --score risk -o thresholds.svg",
        ),
        (
            "two measures, at a prevalence of 2 %",
            "baserate draw thresholds people.csv --truth sick --score risk --measures ppv,npv --prevalence 2% -o t.svg",
        ),
    ),
)
def thresholds(
    reading: Annotated[Reading, omit("predicted", "group")],
    choice: ThresholdMeasures,
    settings: MeasureSettings,
    marks: PointwiseMarking,
    figure_options: FigureOptions,
) -> None:
    """Draw measures against the threshold."""
    from baserate import draw

    bound = bind_settings(settings.to_settings(), choice.measures)
    reading, options = marks.read(reading)
    adjusted = {"prevalence": choice.prevalence, **options}
    draw_figure(reading, figure_options, lambda read: draw.thresholds(read, *bound, **adjusted), to=choice.prevalence)


@command(
    "gain",
    examples=(("cumulative gains", "baserate draw gain people.csv --truth sick --score risk -o gain.svg"),),
)
def gain(reading: Reading, marks: PointwiseMarking, figure_options: FigureOptions) -> None:
    """Draw the cumulative gain curve.

    It shows the share of positives that are flagged against the share of all that are flagged.
    """
    from baserate import draw

    reading, options = marks.read(reading)
    draw_figure(reading, figure_options, partial(draw.gain, **options))


@command(
    "lift",
    examples=(("the lift over chance", "baserate draw lift people.csv --truth sick --score risk -o lift.svg"),),
)
def lift(reading: Reading, marks: PointwiseMarking, figure_options: FigureOptions) -> None:
    """Draw the lift curve.

    It shows how many times as many positives are flagged as by chance.
    """
    from baserate import draw

    reading, options = marks.read(reading)
    draw_figure(reading, figure_options, partial(draw.lift, **options))


CURVES = ("binned", "isotonic", "lowess")
_FILE = "people.csv --truth sick --score risk"


@dataclass(frozen=True, slots=True, kw_only=True)
class BinOptions:
    """How probabilities are put into bins, and how sure bounds are."""

    bins: Annotated[int | None, option(type=whole_number(BINS), default="10", help="Number of bins.")] = None
    by: Annotated[
        Literal["width", "mass"] | None,
        option(type=click.Choice(["width", "mass"]), default="mass", help="Bins of equal width or mass."),
    ] = None
    level: Level = 0.95

    def to_curve_settings(self, **more: Any) -> "infer.CurveOptions":  # noqa: ANN401  (other settings)
        """Make the settings that the library takes."""
        from baserate import infer

        given = {"bins": self.bins, "by": self.by, "level": self.level, **more}
        return infer.CurveOptions(**{name: value for name, value in given.items() if value is not None})


@command(
    "reliability",
    examples=(
        ("a calibration curve with its band", f"baserate draw reliability {_FILE} -o reliability.svg"),
        ("in bins", f"baserate draw reliability {_FILE} --curve binned -o reliability.svg"),
    ),
)
def reliability(
    reading: Annotated[Reading, omit("predicted")],
    binning: BinOptions,
    figure_options: FigureOptions,
    *,
    curve: Annotated[
        Literal["binned", "isotonic", "lowess"] | None,
        option(type=click.Choice(CURVES), default="isotonic; binned with --bins or --by", help="Calibration curve."),
    ] = None,
    band: Annotated[
        str | None,
        option(
            type=click.Choice(["consistency", "confidence"]),
            default="consistency",
            help="Band of a curve: consistency with perfect calibration, or confidence around the curve.",
        ),
    ] = None,
) -> None:
    """Draw a reliability diagram (calibration curve).

    It shows the observed share of positives against the predicted probability, with counts below. A single score has
    intervals in bins, or a band around a curve; several scores or groups have lines alone.
    """
    from baserate import draw

    curve = curve or ("binned" if binning.bins or binning.by else "isotonic")
    if curve == "binned" and band:
        raise click.UsageError("--band is for --curve isotonic or --curve lowess; leave it out, or take one of them.")
    if curve != "binned" and (binning.bins or binning.by):
        raise click.UsageError(f"--bins and --by are for bins, which {curve} does without; leave them out.")
    draw_figure(
        reading, figure_options, partial(draw.reliability, what=curve, drawn=binning.to_curve_settings(band=band))
    )


@command(
    "likelihood-ratio",
    examples=(
        (
            "calibration at any prevalence",
            f"baserate draw likelihood-ratio {_FILE} -o ratios.svg",
        ),
    ),
)
def likelihood_ratio(
    reading: Annotated[Reading, omit("predicted")], binning: BinOptions, figure_options: FigureOptions
) -> None:
    """Draw the likelihood ratios of the probabilities.

    They show how many times as frequent a probability is among positives as among negatives, at any prevalence; beside
    them stand those that the probabilities imply.
    """
    from baserate import draw

    draw_figure(reading, figure_options, partial(draw.likelihood_ratio, drawn=binning.to_curve_settings()))


@command(
    "decision-curve",
    examples=(
        ("net benefit at the usual threshold probabilities", f"baserate draw decision-curve {_FILE} -o benefit.svg"),
        ("at a prevalence of 2 %", f"baserate draw decision-curve {_FILE} --prevalence 2% --to 0.2 -o benefit.svg"),
    ),
)
def decision_curve(
    reading: Reading,
    curve_options: Annotated[DecisionCurveOptions, omit("compare")],
    intervals: ClosedFormIntervals,
    figure_options: FigureOptions,
) -> None:
    """Draw decision curves (net benefit).

    They show net benefit against the threshold probability, beside flagging all and flagging none. Thick lines at the
    bottom mark where a model is better than both. Scores must be probabilities; at another prevalence they are adjusted
    to it.
    """
    from baserate import draw

    draw_figure(
        reading, figure_options, partial(draw.decision_curve, **curve_options.options, level=intervals.confidence)
    )


@command(
    "cost-curve",
    examples=(
        (
            "a false negative costs 20 false positives, at a prevalence of 2 %",
            f"baserate draw cost-curve {_FILE} --fp 1 --fn 20 --prevalence 0.02 -o costs.svg",
        ),
        ("a Brier curve", f"baserate draw cost-curve {_FILE} --kind brier -o brier.svg"),
    ),
)
def cost_curve(
    reading: Reading,
    cost_options: Annotated[CostCurveOptions, omit("points")],
    intervals: ClosedFormIntervals,
    figure_options: FigureOptions,
) -> None:
    """Draw cost curves.

    They show the expected cost of the best threshold at any costs and any prevalence.
    """
    from baserate import draw

    settings: Any = {
        "costs": cost_options.outcome_costs,
        "prevalence": cost_options.prevalence,
        "kind": cost_options.kind,
    }
    draw_figure(reading, figure_options, partial(draw.cost_curve, level=intervals.confidence, **settings))


def _read_single_threshold(text: str) -> float:
    return read_threshold(text, "draw a figure for each.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrevalenceCurveOptions:
    """What decides, what is measured, and where it is marked."""

    threshold: Annotated[
        float | None,
        option(
            type=_read_single_threshold,
            metavar="NUMBER",
            default="0.5 for probabilities",
            help="Threshold: scores at or above it are flagged.",
        ),
    ] = None
    measures: Annotated[
        tuple[str, ...] | None,
        option(
            type=names,
            metavar="NAMES",
            shell_complete=complete_two_class,
            default="precision and NPV",
            help="Measures of decisions, with commas.",
        ),
    ] = None
    at: Annotated[
        float | None,
        option(type=read_prevalence, metavar="SHARE", help="Prevalence in deployment to mark, such as 0.02 or 2%."),
    ] = None
    linear: Annotated[bool, option(help="Linear prevalence axis rather than a logarithmic one.")] = False
    level: Level = 0.95


@command(
    "prevalence",
    examples=(
        (
            "PPV and NPV, with 2 % marked",
            f"baserate draw prevalence {_FILE} --threshold 0.3 --at 2% -o prevalence.svg",
        ),
    ),
)
def prevalence(
    reading: Reading, carried: PrevalenceCurveOptions, settings: MeasureSettings, figure_options: FigureOptions
) -> None:
    """Draw PPV and NPV against the prevalence.

    Other measures of decisions can take their place.
    """
    from baserate import draw

    measures = bind_settings(settings.to_settings(), carried.measures or ())
    figure_settings: Any = {"measures": measures} if measures else {}
    figure_settings |= {
        "threshold": carried.threshold,
        "at": carried.at,
        "log": not carried.linear,
        "level": carried.level,
    }
    draw_figure(reading, figure_options, partial(draw.prevalence, **figure_settings))


@command(
    "groups",
    examples=(
        ("measures by site", f"baserate draw groups {_FILE} --group site -o groups.svg"),
        ("by a saved policy", "baserate draw groups new.csv --policy policy.json -o groups.svg"),
    ),
)
def groups(
    reading: GroupReading,
    group_options: Annotated[GroupOptions, omit("draws", "seed", "reference", "min_group_size")],
    settings: MeasureSettings,
    figure_options: FigureOptions,
) -> None:
    """Draw measures by group, with intervals.

    Hollow dots rest on few rows. The figure says how groups differ, not whether that is right.
    """
    from baserate import draw

    policy, measures = (
        group_options.decision_policy,
        group_options.bind_measures(settings),
    )  # before reading, so that errors come at once
    full_reading = complete_reading(reading, policy)
    make = partial(
        draw.groups, threshold=group_options.threshold, policy=policy, measures=measures, level=group_options.level
    )
    draw_figure(full_reading, figure_options, make)


WHAT = ("densities", "roc", "pr")


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """Options of a figure of a population: its kind, and a simulated sample."""

    what: Annotated[Any, option(type=click.Choice(WHAT), help="Score densities of both classes, or a curve.")] = (
        "densities"
    )
    sample: Annotated[
        int | None,
        option(
            type=whole_number(ROWS._replace(high=10**7)),
            metavar="ROWS",
            help="Number of simulated rows to draw beside it.",
        ),
    ] = None
    seed: Annotated[int | None, option(type=click.IntRange(min=0), default="0", help="Random seed of the rows.")] = None

    def __post_init__(self) -> None:
        if self.seed is not None and self.sample is None:
            raise click.UsageError("--seed is for rows that are drawn at random; add how many, such as --sample 300.")


@group(
    "population",
    noun="population",
    examples=(
        ("300 simulated rows", "baserate draw population binormal --means 0,1 --sample 300 -o scores.svg"),
        (
            "a sample and a theory of it",
            "baserate draw population logit-normal people.csv --truth sick --score risk --what roc -o roc.svg",
        ),
    ),
)
def population() -> None:
    """Draw a theoretical population, with a sample of it.

    Choose a population; a sample is simulated from it, or read from FILE.
    """


def _sample(
    request: PopulationRequest, reading: Reading, sample_options: SampleOptions, *, quiet: bool
) -> "Tally | None":
    """Read a sample from a file, or simulate one; None without either."""
    if reading.file and sample_options.sample is not None:
        raise click.UsageError("FILE and --sample are two samples; leave out one of them.")
    if sample_options.sample is not None:
        from baserate import tally

        return tally(*request.population().draw(sample_options.sample, sample_options.seed or 0))
    if not reading.file:
        return None
    from baserate.measure import results_data

    read = read_tallies(reading, quiet=quiet)
    if len(read.models) > 1:
        raise click.UsageError(f"a sample is of one score, and there are {len(read.models)}; name one with --score.")
    if not quiet:
        print_message(headline(reading, results_data(read, [])))
    return read.tally


def _make_command(name: str, family: type) -> click.Command:
    """Make the command of a family, with its parameters."""

    def draw_family(
        parameters: Any,  # noqa: ANN401  (a dataclass of the family)
        # Some families call their parameters as reading calls labels, so that these must be 0 and 1.
        reading: Annotated[OptionalReading, omit("group", "predicted", "positive", "negative")],
        sample_options: SampleOptions,
        figure_options: FigureOptions,
    ) -> None:
        from baserate import draw
        from baserate.draw import import_matplotlib

        import_matplotlib()
        request = make_request(name, parameters)
        sample = _sample(request, reading, sample_options, quiet=figure_options.quiet)
        figure_options.save(draw.population(request.population(), sample=sample, what=sample_options.what))

    draw_family.__doc__ = family.__doc__
    draw_family.__annotations__["parameters"] = family
    examples = (
        ("the scores of 300 rows, over their densities", f"baserate draw population {name} --sample 300 -o {name}.svg"),
    )
    return command(name, examples=examples)(draw_family)


for _name, _family in FAMILIES.items():
    population.add_command(_make_command(_name, _family))


@group(
    "draw",
    noun="figure",
    examples=(
        ("a ROC curve with its band", "baserate draw roc people.csv --truth sick --score risk --band -o roc.svg"),
        ("cumulative gains", "baserate draw gain people.csv --truth sick --score risk -o gain.svg"),
    ),
)
def draw() -> None:
    """Draw figures for papers: ROC, PR, calibration and more.

    Choose a figure, then name the file of predictions; the output is SVG, PNG or PDF, or the numbers. The colors suit
    color-blind readers, and the same numbers always make the same file. Needs matplotlib: pip install 'baserate[plot]'.
    """


_FIGURES: tuple[click.Command, ...] = (
    *(roc, pr, scores, thresholds, gain, lift),
    *(reliability, likelihood_ratio, decision_curve, cost_curve),
    *(prevalence, groups, population),
)
for _figure in _FIGURES:
    draw.add_command(_figure)
