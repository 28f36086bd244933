"""`baserate size`: sample sizes, by formula or by simulation of a population."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import click
from click.core import ParameterSource

from baserate._domains import HALF_WIDTH, RATE, SAMPLES, SHARE, SPREAD_RATIO, parse_share
from baserate.cli._declarations import CONTEXT_OBJECT, Output, argument, command, option
from baserate.cli._io import print_messages, print_results
from baserate.cli._options import Level, MeasureSettings, Seed, bind_settings, example_options
from baserate.cli._values import Number, complete_two_class, read_level, whole_number

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate.cli._population import PopulationRequest
    from baserate.infer import SampleSize
    from baserate.measure import MeasureInfo
    from baserate.text import Page

_AREAS = ("auc", "partial_auc")
_OF_INTERVALS, _OF_TESTS = ("level",), ("power", "alpha", "one_sided")
_OF_SOME = ("flag_rate", "correlation", "fpr", "paired", "discordance", "spread_ratio", *_OF_INTERVALS, *_OF_TESTS)
_SHARE = Number(SHARE._replace(low=0, high=1))
_INSIDE = Number(SHARE)


def _read_rates(text: str) -> tuple[float, ...]:
    """Read the two ends of an interval of rates."""
    ends = tuple(map(parse_share, text.split(",")))
    if len(ends) != 2 or not all(map(RATE.holds, ends)) or not ends[0] < ends[1]:
        raise click.BadParameter(f"{text!r} is not an interval of rates; give two from 0 to 1, such as 0,0.2 or 0,20%.")
    return ends


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeOptions:
    """The expected value, the precision or the difference to reach, and assumptions."""

    expect: Annotated[float, option(type=_SHARE), "Expected value."]
    half_width: Annotated[
        float | None,
        option(type=Number(HALF_WIDTH._replace(high=0.5 - 1e-9))),  # at 0.5 an interval of a share is all of [0, 1]
        "Half-width of the confidence interval to reach.",
    ] = None
    against: Annotated[float | None, option(type=_SHARE), "Value of another model, to show a difference from it."] = (
        None
    )
    goal: Annotated[float | None, option(type=_INSIDE), "Value to show a difference from."] = None
    power: Annotated[float, option(type=_INSIDE), "Power of the test."] = 0.8
    alpha: Annotated[float, option(type=_INSIDE), "Significance level (type I error)."] = 0.05
    one_sided: Annotated[bool, "One-sided test."] = False
    prevalence: Annotated[float | None, option(type=_INSIDE), "Prevalence of the rows."] = None
    flag_rate: Annotated[float | None, option(type=_INSIDE), "Share of flagged rows, for precision and npv."] = None
    correlation: Annotated[
        float | None,
        option(type=Number(SHARE._replace(low=-1, high=1)), default="rows of its own for each model"),
        "Correlation between the estimates of two AUCs on the same rows.",
    ] = None
    paired: Annotated[bool, option(default="rows of its own for each model"), "Two shares on the same rows."] = False
    discordance: Annotated[float | None, option(type=_SHARE), "Share of rows on which paired models differ."] = None
    spread_ratio: Annotated[
        float | None,
        option(type=Number(SPREAD_RATIO), default="1"),
        "Standard deviation of the scores of positives over that of negatives, for an AUC or a partial one.",
    ] = None
    fpr: Annotated[
        tuple[float, ...] | None,
        option(type=_read_rates, metavar="LOW,HIGH"),
        "Interval of false positive rates, for partial_auc.",
    ] = None
    level: Level = 0.95

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.half_width, self.against, self.goal)) != 1:
            raise click.UsageError(
                "the aim is missing, or there are two; give one of --half-width (of an interval), --against (a "
                "difference from another model) and --goal (a difference from a value)."
            )
        if self.expect in {self.against, self.goal}:
            raise click.UsageError(f"{self.expect} is expected of both; no number of rows shows a difference.")

    @property
    def test(self) -> dict[str, Any]:
        """Options of a test."""
        return {"power": self.power, "alpha": self.alpha, "sides": 1 if self.one_sided else 2}

    @property
    def ratio(self) -> float:
        """Standard deviation of the scores of positives over that of negatives."""
        return 1.0 if self.spread_ratio is None else self.spread_ratio

    def refuse_unused(self, measure: str, *names: str) -> None:
        """Refuse options that have no use for the measure and the aim."""
        # Not by value: power, alpha and the level have defaults.
        source = click.get_current_context().get_parameter_source
        used = {*names, *(_OF_INTERVALS if self.half_width is not None else _OF_TESTS)}
        typed = {name for name in _OF_SOME if source(name) is ParameterSource.COMMANDLINE}
        for name in sorted(typed - used):
            raise click.UsageError(f"--{name.replace('_', '-')} has no use for this aim of {measure}; leave it out.")


_AUC = "baserate size auc --expect 0.8 --prevalence 0.1"
_SENSITIVITY = "baserate size sensitivity --expect 0.9 --prevalence 0.1"


@command(
    "size",
    examples=f"""
    # AUC to ± 0.03
    {_AUC} --half-width 0.03
    # AUC, with scores of positives twice as spread
    {_AUC} --half-width 0.03 --spread-ratio 2
    # sensitivity to ± 0.05
    {_SENSITIVITY} --half-width 0.05
    # to show that sensitivity exceeds 0.8
    {_SENSITIVITY} --goal 0.8
    # to show a higher AUC than another model, on the same rows
    {_AUC} --against 0.75 --correlation 0.5 --power 0.9
    # to show a higher partial AUC, up to a false positive rate of 0.2
    baserate size partial_auc --expect 0.12 --against 0.1 --fpr 0,0.2 --prevalence 0.1 --correlation 0.5
    # to show a higher sensitivity than another model, on the same rows
    {_SENSITIVITY} --against 0.8 --paired
    # any measure
    baserate population binormal --prevalence 0.1 size f1 --half-width 0.03 --threshold 1
    """,
)
def size(
    measure: Annotated[str, argument(shell_complete=complete_two_class)], plan: SizeOptions, output: Output
) -> None:
    """Calculate the number of rows that MEASURE needs.

    MEASURE is auc, partial_auc or a share such as sensitivity; others are simulated: `baserate population`.
    """
    from baserate.measure import describe, find_measure

    about_measure = describe(find_measure(measure))
    is_area = about_measure.name in _AREAS
    if not is_area and about_measure.share is None:
        raise click.UsageError(
            f"measure is {about_measure.name}; expected auc or a share of rows. "
            f"Simulate it with `{_simulation_command(about_measure, plan)}`."
        )
    needed = _size_for_area(about_measure.name, plan) if is_area else _size_for_share(about_measure.name, plan)
    options = {name: value for name, value in asdict(plan).items() if value is not None and value is not False}
    for name in _OF_TESTS if plan.half_width else _OF_INTERVALS:
        options.pop(name, None)
    _print_sizes(
        _make_results(about_measure.name, needed, options, _describe_assumptions(about_measure.name, plan, needed)),
        output,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """Options of a simulation."""

    half_width: Annotated[float, option(type=Number(HALF_WIDTH)), "Half-width of the interval that estimates lie in."]
    threshold: Annotated[
        float | None, option(type=float), "Threshold of measures of decisions: scores at or above it are flagged."
    ] = None
    level: Annotated[
        float, option(type=read_level, metavar="SHARE"), "Share of simulated samples in that interval."
    ] = 0.95
    n_simulations: Annotated[
        int | None,
        option(type=whole_number(SAMPLES._replace(low=400)), default="20000, or 2000 of rows"),
        "Number of simulated samples of each size.",
    ] = None
    seed: Seed = 0


@command(
    "size",
    examples="""
    # any measure at a threshold
    baserate population binormal size f1 --half-width 0.03 --threshold 1
    # over all thresholds
    baserate population linear size average-precision --half-width 0.02
    """,
)
def simulate_size(
    request: Annotated["PopulationRequest", CONTEXT_OBJECT],
    measure: Annotated[str, argument(shell_complete=complete_two_class)],
    simulation: Simulation,
    settings: MeasureSettings,
    output: Output,
) -> None:
    """Simulate the number of rows that MEASURE needs.

    Measures of probabilities, such as brier or observed-expected, are those of a calibrated model: the posterior
    probability of each score, at the prevalence of the population, takes the place of the score.
    """
    from baserate import Tally
    from baserate.infer import sample_size_by_simulation
    from baserate.measure import collect_settings, describe, note_cautions, note_settings

    options = {name: value for name, value in asdict(simulation).items() if value is not None}
    population = request.population()
    (function,) = bind_settings(settings.to_settings(), [measure])
    about_measure = describe(function)
    needed = sample_size_by_simulation(population, function, **options)
    data: dict[str, Any] = {"prevalence": population.prevalence, "calibrated": about_measure.of is Tally}
    measure_settings = collect_settings([function])
    data |= {"settings": measure_settings} if measure_settings else {}
    notes = [
        *_simulation_notes(about_measure, population.prevalence, simulation),
        *note_settings(measure_settings),
        *note_cautions([function]),
    ]
    _print_sizes(request.label_results(_make_results(about_measure.name, needed, options, notes, data)), output)


def _simulation_notes(measure: "MeasureInfo", prevalence: float, simulation: Simulation) -> Iterator[str]:
    """Describe the error of the simulation, and its scores."""
    from baserate import Tally
    from baserate.infer import sample_size_for_observed_expected

    yield "The rows have, relatively, about twice the Monte-Carlo error of the half-width."
    if measure.of is Tally:
        yield (
            f"{measure.name} is of probabilities: the posterior probabilities at prevalence {prevalence:g} take the "
            "place of the scores, so this is the sample size for a calibrated model."
        )
    if measure.name == "observed_expected":
        fixed = sample_size_for_observed_expected(simulation.half_width, prevalence=prevalence, level=simulation.level)
        yield (
            f"With a fixed expected number, (1 − φ)/(φ·SE²) requires {fixed.rows:,} rows (Riley et al. 2021); "
            "the simulation lets it vary together with the observed number."
        )


def _simulation_command(measure: "MeasureInfo", plan: SizeOptions) -> str:
    """Write the command that simulates a measure, with the numbers on the command line and defaults for the rest."""
    from baserate import Counts

    parts = ["baserate population binormal", f"--prevalence {0.5 if plan.prevalence is None else plan.prevalence:g}"]
    parts += [f"size {measure.name}", f"--half-width {0.05 if plan.half_width is None else plan.half_width:g}"]
    parts += ["--threshold 0.5"] * (measure.of is Counts)
    return " ".join([*parts, *example_options(measure.name)])


def _size_for_area(measure: str, plan: SizeOptions) -> "SampleSize":
    from baserate import infer

    if plan.prevalence is None:
        raise click.UsageError("an AUC needs positives and negatives; give --prevalence, the share of positives.")
    if measure == "partial_auc":
        return _size_for_partial_area(plan, plan.prevalence)
    plan.refuse_unused("auc", "correlation" if plan.against is not None else "spread_ratio")
    assumed: dict[str, Any] = {"prevalence": plan.prevalence, "spread_ratio": plan.ratio}
    if plan.half_width is not None:
        return infer.sample_size_for_auc(plan.expect, plan.half_width, level=plan.level, **assumed)
    if plan.goal is not None:
        return infer.sample_size_for_auc_test(plan.expect, null=plan.goal, **assumed, **plan.test)
    pair = infer.hypothetical_pair(plan.expect, plan.against or 0.0, correlation=plan.correlation)
    return infer.sample_size_for_auc_difference(pair, prevalence=plan.prevalence, **plan.test)


def _size_for_partial_area(plan: SizeOptions, prevalence: float) -> "SampleSize":
    from baserate import infer

    if plan.against is None:
        raise click.UsageError("rows for a partial AUC are those that show a difference from another; give --against.")
    if plan.fpr is None:
        raise click.UsageError("partial_auc needs false positive rates; give them, for example --fpr 0,0.2.")
    plan.refuse_unused("partial_auc", "correlation", "spread_ratio", "fpr")
    pair = infer.hypothetical_pair(
        plan.expect,
        plan.against,
        correlation=plan.correlation,
        fpr=(plan.fpr[0], plan.fpr[1]),
        spread_ratio=plan.ratio,
    )
    return infer.sample_size_for_auc_difference(pair, prevalence=prevalence, **plan.test)


def _size_for_share(measure: str, plan: SizeOptions) -> "SampleSize":
    from baserate import infer

    margins: dict[str, Any] = {"prevalence": plan.prevalence, "flag_rate": plan.flag_rate}
    plan.refuse_unused(measure, *(["flag_rate"] if plan.against is None else ["paired", "discordance"]))
    if plan.half_width is not None:
        return infer.sample_size_for_proportion(measure, plan.expect, plan.half_width, level=plan.level, **margins)
    if plan.goal is not None:
        return infer.sample_size_for_proportion_test(measure, plan.expect, goal=plan.goal, **margins, **plan.test)
    return infer.sample_size_for_proportion_difference(
        measure,
        plan.expect,
        plan.against or 0.0,
        prevalence=plan.prevalence,
        paired=plan.paired or plan.discordance is not None,
        discordance=plan.discordance,
        **plan.test,
    )


def _describe_assumptions(measure: str, plan: SizeOptions, needed: "SampleSize") -> Iterator[str]:
    """Yield the assumptions of the formula."""
    if needed.positives is not None and measure != "prevalence":
        yield "Positives and negatives are expected numbers at the prevalence; chance brings more or fewer."
    if needed.samples > 1:
        yield "Each of the two models has rows of its own, and needs this number."
    elif plan.against is not None and measure not in _AREAS and plan.discordance is None:
        yield "The models are assumed to err independently; if they err on the same rows, fewer suffice: --discordance."
    if measure == "partial_auc" or (measure == "auc" and plan.against is None):
        ratio = "equal" if plan.ratio == 1 else f"{plan.ratio:g} times as large among positives"
        yield f"Scores are assumed to be normal in both classes; standard deviations are {ratio} (--spread-ratio)."
    if plan.half_width is not None:
        yield "The half-width is that of the interval if the estimate equals the expected value."


def _make_results(
    measure: str,
    needed: "SampleSize",
    options: Mapping[str, Any],
    notes: Iterable[str],
    data: Mapping[str, Any] | None = None,
) -> "Results":
    from baserate import Results

    row = {"measure": measure, **asdict(needed)}
    about = {**(data or {}), "asked": dict(options), "notes": list(notes)}
    return Results({name: [value] for name, value in row.items()}, about)


def _print_sizes(results: "Results", output: Output) -> None:
    print_messages(_headline(results), results.data, output, inferred=False)
    print_results(results, lambda: _page(results, output.digits), output)


def _headline(results: "Results") -> str:
    from baserate._formatting import format_exact, format_name
    from baserate.cli import _population_page

    parts = [_population_page.population_headline(results.data)] if "family" in results.data else []
    parts.append(format_name(results.rows()[0]["measure"]))
    for name, value in results.data["asked"].items():
        label = _SPOKEN.get(name, name.replace("_", " "))
        text = " to ".join(map(format_exact, value)) if isinstance(value, tuple | list) else format_exact(value)
        parts.append(label if value is True else f"{label} {text}")
    return " · ".join(parts)


_SPOKEN = {"half_width": "half-width", "one_sided": "one-sided", "fpr": "false positive rates"}


def _page(results: "Results", digits: int) -> "Page":
    from baserate._formatting import format_count, format_number
    from baserate.text import Explanation, Page, Row, Section, Table

    row = results.rows()[0]
    counts = [("rows", row["rows"], "each of two samples" if row["samples"] > 1 else "")]
    counts += [(name, row[name], "expected") for name in ("positives", "negatives") if row[name] is not None]
    if row["among"] in {"flagged", "passed"}:
        among = "not flagged" if row["among"] == "passed" else row["among"]
        counts.append((among, row["trials"], "expected"))
    lines = tuple(Row(name, (format_count(value, digits),), meaning) for name, value, meaning in counts)
    reached = "half-width" if row["power"] is None else "power"
    value = format_number(row["half_width"] if row["power"] is None else row["power"], digits)
    error = f" ± {format_number(row['error'], 2)}" if row["error"] else ""
    reached_row = Row(reached, (value + error,), Explanation(row["how"]))
    sections = (Section("", lines, apart=True), Section("reached", (reached_row,), apart=True))
    return Page(_headline(results), (Table("needed", ("",), sections),))
