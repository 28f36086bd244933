"""`baserate draw`: one command for each figure of the registry, made from its entry.

A figure whose options are those of its entry (data, marks, band) needs nothing in this module. Other options are
declared by a function under `@own_options`, which turns them into arguments of the figure's function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import click

from baserate._domains import BINS, INCHES, ROWS
from baserate.cli._calibration import CurveBins
from baserate.cli._cost_curves import CostCurveOptions
from baserate.cli._curve import BandOptions
from baserate.cli._decision_curves import DecisionCurveOptions
from baserate.cli._declarations import Quiet, check_place, command, group, omit, option
from baserate.cli._fairness import GroupOptions, complete_reading, match_groups
from baserate.cli._io import (
    adjust_prevalence,
    describe_adjustment,
    fill_from_policy,
    headline,
    load_policy,
    read_tallies,
)
from baserate.cli._options import (
    ClosedFormIntervals,
    FileName,
    Level,
    MeasureNames,
    MeasureSettings,
    OptionalReading,
    OutcomeCosts,
    Prevalence,
    PrevalenceShare,
    Reading,
    bind_settings,
    thresholds_option,
)
from baserate.cli._population import FAMILIES, PopulationRequest, make_request
from baserate.cli._smooth_roc import Smooth
from baserate.cli._terminal import print_message
from baserate.cli._values import (
    read_numbers,
    single_threshold,
    whole_number,
)
from baserate.draw import FIGURES

if TYPE_CHECKING:
    from baserate._tally import Tally
    from baserate.draw import Drawing, FigureType


def read_length(text: str) -> float:
    """Read a length with its unit, in inches."""
    from baserate import OptionError
    from baserate.draw import parse_length

    try:
        return parse_length("width", text)
    except OptionError as error:
        raise click.BadParameter(
            f"{text!r} is not a length from 0.5 to 100 inches; give one with its unit, such as 85mm."
        ) from error


def read_label(text: str) -> tuple[str, str]:
    """Read a name in the data, and the text in its place."""
    name, sign, words = text.partition("=")
    if not (name and sign and words):
        raise click.BadParameter(f'{text!r} is not NAME=TEXT; give, for example, risk="Model A".')
    return name, words


_MOST_PIXELS = 20_000
"""Pixels each way: a square of them takes 1.6 GB of memory."""
ENDINGS = ("svg", "pdf", "eps", "png", "tiff", "tif", "csv", "json")
_FILE = "people.csv --truth sick --score risk"


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOptions:
    """Output file and looks of a figure."""

    path: Annotated[
        str,
        option("-o", "--output", type=click.Path(), metavar="FILE"),
        "Output file: .svg, .pdf, .eps, .png or .tiff for the figure, .csv or .json for its numbers.",
    ]
    width: Annotated[
        float | None,
        option(type=read_length, metavar="LENGTH", default="120mm"),
        "Width with its unit, such as 85mm, 180mm or 3.35in; the height fits it.",
    ] = None
    size: Annotated[
        tuple[float, ...] | None,
        option(type=read_numbers, metavar="W,H"),
        "Width and height in inches, from 0.5 to 100.",
    ] = None
    dpi: Annotated[int, option(type=click.IntRange(20, 2400)), "Dots per inch of a .png or .tiff."] = 300
    title: Annotated[str | None, option(metavar="TEXT"), "Title above the figure."] = None
    xlabel: Annotated[str | None, option(metavar="TEXT"), "Title of the x-axis."] = None
    ylabel: Annotated[str | None, option(metavar="TEXT"), "Title of the y-axis."] = None
    label: Annotated[
        tuple[tuple[str, str], ...],
        option(type=read_label, metavar="NAME=TEXT", multiple=True),
        "Text in place of the name of a model, group or class; repeatable.",
    ] = ()
    quiet: Quiet = False

    def __post_init__(self) -> None:
        check_place(Path(self.path))
        if Path(self.path).suffix.lstrip(".").lower() not in ENDINGS:
            raise click.UsageError(
                f"the ending of {self.path} is not a format of figures; end the name in .svg, .pdf, .eps, .png or "
                ".tiff, or in .csv or .json for the numbers."
            )
        if self.size is not None and (len(self.size) != 2 or not all(map(INCHES.holds, self.size))):
            raise click.UsageError(f"--size is width and height, each {INCHES.words}; for example --size 6,4.")
        if self.size is not None and self.width is not None:
            raise click.UsageError("--width and --size both state the width; leave out one of them.")
        inches = max(self.size or (self.width or 0.0,))
        if inches * self.dpi > _MOST_PIXELS:
            raise click.UsageError(
                f"the size and --dpi make {inches * self.dpi:,.0f} dots; expected at most {_MOST_PIXELS:,} each "
                "way. Give fewer inches, or fewer dots per inch."
            )
        names = [name for name, _ in self.label]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise click.UsageError(f"--label states {twice!r} twice; leave out one of them.")

    @property
    def look(self) -> dict[str, Any]:
        """Keywords of all figures: size and words."""
        width, height = self.size or (self.width, None)
        words = {"title": self.title, "xlabel": self.xlabel, "ylabel": self.ylabel}
        return {"width": width, "height": height, **words, **({"labels": dict(self.label)} if self.label else {})}

    def save(self, drawing: "Drawing") -> None:
        """Write a figure, and print the name of its file."""
        try:
            drawing.save(self.path, dpi=self.dpi)
        except OSError as error:
            raise click.UsageError(f"cannot write {self.path} ({error.strerror}); name another file.") from error
        if not self.quiet:
            print_message(f"wrote {self.path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkOptions(BandOptions):
    """Options of curves: band, confidence level, thresholds and policies to mark."""

    level: Level = 0.95
    threshold: Annotated[tuple[float, ...], thresholds_option("Thresholds to mark, with commas.", default=None)] = ()
    policy: Annotated[FileName, "Policy to mark; it also names the columns and groups."] = None

    def arguments(self, figure: "FigureType") -> dict[str, Any]:
        """Make the arguments of a figure's function; load the policy."""
        marks = {
            "threshold": self.threshold or None,
            "policy": None if self.policy is None else load_policy(self.policy),
        }
        band = {"band": "simultaneous" if self.simultaneous else self.band, "level": self.level}
        return marks if figure.band == "none" else {**band, **marks}


class Call(NamedTuple):
    """Arguments of a figure's function."""

    keywords: dict[str, Any]
    positional: tuple[Any, ...] = ()
    adjusted_to: float | dict[str, float] | None = None
    """Prevalence that the classes are reweighted to, or that of each group, for the headline."""
    reweighed: bool = False
    """Whether the function needs reweighted rows, since it takes no prevalence."""


class _OwnOptions(NamedTuple):
    """Options of one figure: the function that declares them and makes the call, and examples of the command."""

    make_call: Callable[..., Call]
    examples: str
    reading: Any = None
    """Options of reading, if not those that follow from the entry."""


_OWN_OPTIONS: dict[str, _OwnOptions] = {}


def own_options(
    name: str,
    examples: str = "",
    reading: Any = None,  # noqa: ANN401  (an annotation)
) -> Callable[[Callable[..., Call]], Callable[..., Call]]:
    """Declare the options of a figure beside those of its entry, by the parameters of a function."""

    def decorate(function: Callable[..., Call]) -> Callable[..., Call]:
        _OWN_OPTIONS[name] = _OwnOptions(function, examples, reading)
        return function

    return decorate


def _make_command(figure: "FigureType") -> click.Command:
    """Make the command of a figure."""
    default = f"# with the usual options\nbaserate draw {figure.name} {_FILE} -o {figure.name}.svg"
    own = _OWN_OPTIONS.get(figure.name, _OwnOptions(lambda: Call({}), default))

    def draw_figure(
        reading: Reading, figure_options: FigureOptions, marks: MarkOptions | None = None, **options: object
    ) -> None:
        own_call = own.make_call(**options)  # before reading, so that errors come at once
        call = (
            own_call if marks is None else own_call._replace(keywords={**own_call.keywords, **marks.arguments(figure)})
        )
        _draw(figure, _complete(reading, figure, call), figure_options, call)

    annotations = {
        "reading": own.reading or _reading_options(figure),
        **{name: each.annotation for name, each in signature(own.make_call).parameters.items()},
        **({"marks": _mark_options(figure)} if figure.marks else {}),
        "figure_options": FigureOptions,
    }
    defaults = {name: each.default for name, each in signature(own.make_call).parameters.items()}
    draw_figure.__doc__ = "\n\n".join(filter(None, [figure.summary, figure.details]))
    draw_figure.__signature__ = Signature(  # type: ignore[attr-defined]  # which `command` reads
        [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=each, default=defaults.get(name, Parameter.empty))
            for name, each in annotations.items()
        ]
    )
    return command(figure.name, examples=own.examples or default)(draw_figure)


def _reading_options(figure: "FigureType") -> Any:  # noqa: ANN401  (an annotation)
    """Options of reading that fit a figure."""
    takes_labels = figure.takes_labels or figure.groups == "required"
    omitted = [*["predicted"] * (not takes_labels), *["group"] * (figure.groups == "pooled")]
    return Annotated[Reading, omit(*omitted)]


def _mark_options(figure: "FigureType") -> Any:  # noqa: ANN401  (an annotation)
    """Options of marks and bands that fit a figure."""
    omitted = {"none": ("band", "simultaneous", "level"), "pointwise": ("simultaneous",), "simultaneous": ()}
    return Annotated[MarkOptions, omit(*omitted[figure.band])]


def _complete(reading: Reading, figure: "FigureType", call: Call) -> Reading:
    """Take the names of columns from the policy, if any."""
    policy = call.keywords.get("policy")
    if figure.groups == "required":
        return complete_reading(reading, policy)
    return reading if policy is None else fill_from_policy(reading, policy)


def _draw(figure: "FigureType", reading: Reading, figure_options: FigureOptions, call: Call) -> None:
    """Read predictions, draw a figure of them, and print what was read."""
    from baserate.draw import import_matplotlib

    import_matplotlib()  # before reading, so that a missing package is reported at once
    tallies = read_tallies(reading, quiet=figure_options.quiet)
    prevalence = match_groups(call.adjusted_to, tallies) if call.reweighed else None
    drawing = figure.function(
        adjust_prevalence(tallies, prevalence), *call.positional, **call.keywords, **figure_options.look
    )
    if not figure_options.quiet:
        data = describe_adjustment(next(iter(drawing.parts.values())), tallies, call.adjusted_to).data
        print_message(headline(reading, data))
        if reading.positive is None:
            print_message(f"positive = {data['positive']}, inferred; name it with --positive.")
        for note in data["notes"]:
            print_message(f"note: {note}")
    figure_options.save(drawing)


@dataclass(frozen=True, slots=True, kw_only=True)
class RocOptions(OutcomeCosts):
    """Options of a ROC curve: hull, costs, prevalence."""

    no_hull: Annotated[bool, "Without the convex hull, which mixtures of thresholds reach."] = False
    smooth: Smooth = None
    prevalence: Annotated[PrevalenceShare, "Prevalence in deployment, where the costs arise, such as 2%."] = None


@own_options(
    "roc",
    f"""
    # a ROC curve
    baserate draw roc {_FILE} -o roc.svg
    # the cheapest threshold, if a false negative costs 20 false positives at 2%
    baserate draw roc {_FILE} --fp 1 --fn 20 --prevalence 2% -o roc.svg
    # a smooth curve by maximum likelihood, with its band
    baserate draw roc {_FILE} --smooth binormal-ml --band -o roc.svg
    # a simultaneous band, and a threshold
    baserate draw roc {_FILE} --simultaneous --threshold 0.5 -o roc.png
    """,
)
def _call_roc(roc: RocOptions) -> Call:
    costs = roc.outcome_costs
    return Call({"hull": not roc.no_hull, "smooth": roc.smooth, "costs": costs, "prevalence": roc.prevalence})


@own_options(
    "pr",
    f"""
    # precision against recall
    baserate draw pr {_FILE} -o pr.svg
    # at a prevalence of 2%
    baserate draw pr {_FILE} --prevalence 0.02 --threshold 0.5 -o pr.svg
    """,
)
def _call_pr(
    *, no_iso_f1: Annotated[bool, "Without lines of equal F1."] = False, prevalence: Prevalence = None
) -> Call:
    return Call({"iso_f1": not no_iso_f1, "prevalence": prevalence}, adjusted_to=prevalence)


@own_options(
    "scores",
    f"# score distributions, and a threshold\nbaserate draw scores {_FILE} --threshold 0.5 -o scores.svg",
)
def _call_scores(
    *,
    bins: Annotated[
        int | None, option(type=whole_number(BINS), default="10 to 40"), "Approximate number of bins."
    ] = None,
) -> Call:
    return Call({"bins": bins})


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdMeasures(MeasureSettings):
    """Options of measures against the threshold."""

    measures: Annotated[
        MeasureNames,
        option(default="sensitivity, specificity, precision, f1 and flag-rate"),
        "Measures of decisions, with commas.",
    ] = ()
    prevalence: Prevalence = None


@own_options(
    "thresholds",
    f"""
    # the usual measures
    baserate draw thresholds {_FILE} -o thresholds.svg
    # two measures, at a prevalence of 2%
    baserate draw thresholds {_FILE} --measures ppv,npv --prevalence 2% -o t.svg
    """,
)
def _call_thresholds(choice: ThresholdMeasures) -> Call:
    measures = bind_settings(choice.to_settings(), choice.measures)
    return Call({"prevalence": choice.prevalence}, tuple(measures), choice.prevalence)


def _call_reweighed(*, prevalence: Prevalence = None) -> Call:
    return Call({}, adjusted_to=prevalence, reweighed=True)


for _name, _purpose in {"gain": "cumulative gains", "lift": "lift"}.items():
    own_options(
        _name,
        f"""
        # {_purpose}
        baserate draw {_name} {_FILE} -o {_name}.svg
        # at a prevalence of 2%
        baserate draw {_name} {_FILE} --prevalence 2% -o {_name}.svg
        """,
    )(_call_reweighed)

_CalibrationBins = Annotated[CurveBins, omit("scores", "labels")]


@own_options(
    "reliability",
    f"""
    # a calibration curve with its band
    baserate draw reliability {_FILE} -o reliability.svg
    # in bins
    baserate draw reliability {_FILE} --curve binned -o reliability.svg
    """,
)
def _call_reliability(
    bins: _CalibrationBins,
    *,
    curve: Annotated[
        Literal["binned", "isotonic", "lowess"] | None,
        option(default="isotonic; binned with --bins or --by"),
        "Calibration curve.",
    ] = None,
    prevalence: Prevalence = None,
) -> Call:
    what = curve or ("binned" if bins.bins or bins.by else "isotonic")
    bins.check_curve(what)
    keywords = {"what": what, "options": bins.to_curve_settings()}
    return Call(keywords, adjusted_to=prevalence, reweighed=True)


@own_options("likelihood-ratio")
def _call_likelihood_ratio(bins: Annotated[CurveBins, omit("scores", "labels", "band")]) -> Call:
    return Call({"options": bins.to_curve_settings()})


@own_options(
    "decision-curve",
    f"""
    # net benefit at the usual threshold probabilities
    baserate draw decision-curve {_FILE} -o benefit.svg
    # at a prevalence of 2%
    baserate draw decision-curve {_FILE} --prevalence 2% --thresholds 0:20% -o benefit.svg
    # interventions avoided per 100
    baserate draw decision-curve {_FILE} --kind net-reduction --thresholds 2%:40% -o avoided.svg
    # two models with simultaneous bands
    baserate draw decision-curve {_FILE} --score old --simultaneous -o bands.svg
    """,
    reading=Reading,
)
def _call_decision_curve(
    curve_options: Annotated[DecisionCurveOptions, omit("compare")], intervals: ClosedFormIntervals
) -> Call:
    band = "simultaneous" if curve_options.simultaneous else "pointwise"
    own = {"kind": curve_options.curve_kind, "band": band, "level": intervals.confidence}
    return Call({**curve_options.options, **own})


@own_options(
    "cost-curve",
    f"""
    # a false negative costs 20 false positives, at a prevalence of 2%
    baserate draw cost-curve {_FILE} --fp 1 --fn 20 --prevalence 0.02 -o costs.svg
    # a Brier curve
    baserate draw cost-curve {_FILE} --kind brier -o brier.svg
    """,
    reading=Reading,
)
def _call_cost_curve(cost_options: Annotated[CostCurveOptions, omit("points")], intervals: ClosedFormIntervals) -> Call:
    settings = {name: getattr(cost_options, name) for name in ("prevalence", "kind")}
    return Call({"costs": cost_options.outcome_costs, "level": intervals.confidence, **settings})


@dataclass(frozen=True, slots=True, kw_only=True)
class PrevalenceCurveOptions(MeasureSettings):
    """Options of a prevalence curve: threshold, measures, and the prevalence to mark."""

    threshold: Annotated[
        float | None,
        option(type=single_threshold("draw a figure for each."), metavar="NUMBER", default="0.5 for probabilities"),
        "Threshold: scores at or above it are flagged.",
    ] = None
    measures: Annotated[MeasureNames, option(default="precision and NPV"), "Measures of decisions, with commas."] = ()
    prevalence: Annotated[PrevalenceShare, "Prevalence in deployment to mark, such as 0.02 or 2%."] = None
    linear: Annotated[bool, "Linear prevalence axis rather than a logarithmic one."] = False
    level: Level = 0.95


@own_options(
    "prevalence",
    f"""
    # PPV and NPV, with 2% marked
    baserate draw prevalence {_FILE} --threshold 0.3 --prevalence 2% -o prevalence.svg
    """,
)
def _call_prevalence(curve: PrevalenceCurveOptions) -> Call:
    measures = bind_settings(curve.to_settings(), curve.measures)
    settings = {name: getattr(curve, name) for name in ("threshold", "prevalence", "level")}
    return Call({**({"measures": measures} if measures else {}), "log": not curve.linear, **settings})


@own_options(
    "groups",
    f"""
    # measures by site
    baserate draw groups {_FILE} --group site -o groups.svg
    # by a saved policy
    baserate draw groups new.csv --policy policy.json -o groups.svg
    """,
)
def _call_groups(
    group_options: Annotated[GroupOptions, omit("n_permutations", "seed", "reference", "min_group")],
    settings: MeasureSettings,
) -> Call:
    decisions = {"threshold": group_options.threshold, "policy": group_options.decision_policy}
    keywords = {**decisions, "measures": group_options.bind_measures(settings), "level": group_options.level}
    return Call(keywords, adjusted_to=group_options.prevalence, reweighed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixOptions:
    """Options of a confusion matrix: decisions, prevalence, shares."""

    threshold: Annotated[
        float | None,
        option(type=single_threshold("draw a figure for each."), metavar="NUMBER", default="0.5 for probabilities"),
        "Threshold: scores at or above it are flagged.",
    ] = None
    policy: Annotated[FileName, "Policy that decides; it also names the columns and groups."] = None
    prevalence: Prevalence = None
    normalize: Annotated[
        Literal["true", "pred", "all", "none"], "Shares of the true class, of the predicted class, or of all."
    ] = "true"
    level: Level = 0.95

    def __post_init__(self) -> None:
        if self.policy is not None and self.threshold is not None:
            raise click.UsageError("--policy and --threshold both state the decisions; leave out one of them.")


@own_options(
    "confusion-matrix",
    f"""
    # at a threshold
    baserate draw confusion-matrix {_FILE} --threshold 0.3 -o matrix.svg
    # predicted labels, at a prevalence of 2%
    baserate draw confusion-matrix people.csv --truth sick --predicted says --prevalence 2% -o matrix.svg
    """,
)
def _call_confusion_matrix(matrix: MatrixOptions) -> Call:
    settings = {name: getattr(matrix, name) for name in ("threshold", "prevalence", "level")}
    policy = None if matrix.policy is None else load_policy(matrix.policy)
    normalize = None if matrix.normalize == "none" else matrix.normalize
    return Call({"policy": policy, "normalize": normalize, **settings}, adjusted_to=matrix.prevalence)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """Options of a figure of a population: its kind, and a simulated sample."""

    what: Annotated[Literal["densities", "roc", "pr"], "Score densities of both classes, or a curve."] = "densities"
    sample: Annotated[
        int | None,
        option(type=whole_number(ROWS._replace(high=10**7)), metavar="ROWS"),
        "Number of simulated rows to draw beside it.",
    ] = None
    seed: Annotated[int | None, option(type=click.IntRange(min=0), default="0"), "Random seed of the rows."] = None

    def __post_init__(self) -> None:
        if self.seed is not None and self.sample is None:
            raise click.UsageError("--seed is for simulated rows; add their number, such as --sample 300.")


_POPULATION = FIGURES["population"]


def _choose_population() -> None: ...


_choose_population.__doc__ = f"{_POPULATION.summary}\n\n{_POPULATION.details}"
population = group(
    "population",
    noun="population",
    examples=f"""
    # 300 simulated rows
    baserate draw population binormal --means 0,1 --sample 300 -o scores.svg
    # a sample and a theoretical distribution
    baserate draw population logit-normal {_FILE} --what roc -o roc.svg
    """,
)(_choose_population)


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

    tallies = read_tallies(reading, quiet=quiet)
    if len(tallies.models) > 1:
        raise click.UsageError(f"a sample has one score, and there are {len(tallies.models)}; name one with --score.")
    if not quiet:
        print_message(headline(reading, results_data(tallies, [])))
    return tallies.tally


def _make_family_command(name: str, family: type) -> click.Command:
    """Make the command of a family of populations, with its parameters."""

    def draw_family(
        parameters: Any,  # noqa: ANN401  (a dataclass of the family)
        # Some families name their parameters as reading names labels, so that labels must be 0 and 1.
        reading: Annotated[OptionalReading, omit("group", "predicted", "positive", "negative")],
        sample_options: SampleOptions,
        figure_options: FigureOptions,
    ) -> None:
        from baserate import draw
        from baserate.draw import import_matplotlib

        import_matplotlib()
        request = make_request(name, parameters)
        sample = _sample(request, reading, sample_options, quiet=figure_options.quiet)
        drawing = draw.population(request.population(), sample=sample, what=sample_options.what, **figure_options.look)
        figure_options.save(drawing)

    draw_family.__doc__ = family.__doc__
    # `command` reads the annotation: it declares the options of the family, which a closure cannot state.
    draw_family.__annotations__["parameters"] = family
    examples = f"""
    # the scores of 300 rows, over their densities
    baserate draw population {name} --sample 300 -o {name}.svg
    """
    return command(name, examples=examples)(draw_family)


for _name, _family in FAMILIES.items():
    population.add_command(_make_family_command(_name, _family))


@group(
    "draw",
    noun="figure",
    aliases={alias: name for name, each in FIGURES.items() for alias in each.aliases},
    examples=f"""
    # a ROC curve with its band
    baserate draw roc {_FILE} --band -o roc.svg
    # a column of a journal, with the names of the paper
    baserate draw roc {_FILE} --width 85mm --label risk="Model A" -o roc.tiff
    """,
)
def draw() -> None:
    """Draw figures for papers: ROC, PR, calibration and more.

    Choose a figure, then name the file of predictions; the output is SVG, PDF, EPS, PNG or TIFF, or the numbers. Lines
    differ in color, dashes and markers, and equal numbers always make equal files. Text has 7 to 8 points at every
    width. Needs matplotlib: pip install 'baserate[plot]'.
    """


for _figure in FIGURES.values():
    draw.add_command(population if _figure.name == "population" else _make_command(_figure))
