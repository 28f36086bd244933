"""`baserate population`: theoretical score distributions, and what to compute of them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._domains import POINTS, REPEATS, ROWS
from baserate.cli._curve import CURVES
from baserate.cli._declarations import (
    CONTEXT_OBJECT,
    FORMATS,
    NameChoice,
    OptionSpec,
    Output,
    argument,
    command,
    group,
    option,
)
from baserate.cli._io import FEW, print_messages, print_results
from baserate.cli._options import MeasureNames, MeasureSettings, Points, Seed, bind_settings, thresholds_option
from baserate.cli._size import simulate_size
from baserate.cli._terminal import progress_bar
from baserate.cli._values import (
    complete_measures,
    join_lists,
    read_names,
    read_numbers,
    whole_number,
)

if TYPE_CHECKING:
    from baserate._population import Population
    from baserate._results import Results


@dataclass(frozen=True, slots=True)
class PopulationRequest:
    """Family and parameters of a population, which is made when a command needs it, so that help loads nothing."""

    family: str
    parameters: Mapping[str, Any]

    def population(self) -> "Population":
        """Make the population."""
        from baserate.population import FAMILIES

        return FAMILIES[self.family](**self.parameters)

    def label_results(self, results: "Results") -> "Results":
        """Add the family and its parameters to the header of results."""
        from baserate import Results

        return Results(results.columns, {"family": self.family, "parameters": dict(self.parameters), **results.data})


@group(
    "population",
    noun="population",
    examples="""
    # the threshold with the highest F1, at a prevalence of 50%
    baserate population linear measure f1
    # several measures, at a prevalence of 2%
    baserate population linear --prevalence 0.02 measure f1,mcc,auc
    # an exact curve, to plot
    baserate population retrieval --level ER+ --prevalence 0.1 curve pr -o pr.csv
    # sampling distribution of the AUC
    baserate population binormal --means 0,1 study --sizes 30,300,3000
    # simulated predictions
    baserate population linear draw 1000 --seed 7 -o people.csv
    """,
)
def population() -> None:
    """Compute exact results of theoretical score distributions.

    Choose a population, then what to do with it. Every number is exact, except where samples are simulated.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationMeasures:
    """Options that say what to measure of a population, and at which thresholds."""

    measures: Annotated[
        tuple[str, ...], argument(type=read_names, nargs=-1, callback=join_lists, shell_complete=complete_measures)
    ]
    threshold: Annotated[
        tuple[float, ...], thresholds_option("Thresholds to tabulate at, with commas.", default=None)
    ] = ()
    points: Annotated[int, option(type=whole_number(POINTS)), "Number of thresholds, without --threshold."] = 11


@command(
    "measure",
    examples="""
    # the usual measures
    baserate population linear measure
    # two of them at three thresholds
    baserate population linear measure f1,mcc --threshold 0.25,0.5,0.75
    """,
)
def measure(
    request: Annotated[PopulationRequest, CONTEXT_OBJECT],
    choice: PopulationMeasures,
    settings: MeasureSettings,
    output: Output,
) -> None:
    """Find the best threshold of MEASURES.

    Other thresholds are tabulated below. Without MEASURES, the usual ones; `baserate list measures` lists all.
    """
    from baserate import population as library
    from baserate.cli._population_page import choose_measures, each_measure_once, measures_page

    typed = choice.measures
    bound = bind_settings(settings.to_settings(), () if "all" in typed else typed)
    measures = choose_measures(typed) if "all" in typed or not bound else each_measure_once(bound)
    summary = library.summary(request.population(), *measures, points=choice.points, thresholds=choice.threshold)
    results = request.label_results(summary)
    _print_messages(results, output)
    print_results(results, lambda: measures_page(results, output.digits), output)


@command("curve", examples="# to read\nbaserate population linear curve roc --points 11")
def curve(
    request: Annotated[PopulationRequest, CONTEXT_OBJECT],
    what: Annotated[str, argument(type=NameChoice(CURVES), metavar="CURVE")],
    output: Output,
    *,
    points: Annotated[Points, option(default=f"101; in tables {FEW}"), "Number of points."] = None,
) -> None:
    """Tabulate a curve exactly.

    CURVE is roc, pr (precision–recall), det, gain (also called CAP), lift or lorenz.
    """
    from baserate import population as library
    from baserate.cli._population_page import curve_page

    n_points = points or (FEW if output.is_page else 101)
    results = request.label_results(library.table(request.population(), what, points=n_points))
    _print_messages(results, output)
    print_results(results, lambda: curve_page(results, output.digits), output)


Numbers = Annotated[tuple[float, ...], option(type=read_numbers, metavar="NUMBERS")]
_SIZES = (30.0, 100.0, 300.0, 1000.0, 3000.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Options of a simulation study."""

    sizes: Annotated[Numbers, option(default="30,100,300,1000,3000"), "Sample sizes."] = _SIZES
    prevalences: Annotated[Numbers, option(default="that of the population"), "Prevalences."] = ()
    measures: Annotated[MeasureNames, option(default="auc,average_precision"), "Measures over all thresholds."] = (
        "auc",
        "average_precision",
    )
    repeats: Annotated[int, option(type=whole_number(REPEATS)), "Number of samples of each kind."] = 200
    seed: Seed = 0


@command(
    "study",
    examples="""
    # against sample size
    baserate population linear study --sizes 30,100,300,1000,3000
    # against class balance
    baserate population linear study --sizes 300 --prevalences 0.5,0.2,0.1,0.05
    """,
)
def study(request: Annotated[PopulationRequest, CONTEXT_OBJECT], design: Study, output: Output) -> None:
    """Simulate samples: mean and standard deviation of measures.

    The exact values stand beside them.
    """
    from baserate import population as library
    from baserate.cli._population_page import study_page

    sizes = [int(size) if size == int(size) else size for size in design.sizes]
    results = request.label_results(
        library.simulation_study(
            request.population(),
            sizes=sizes,  # type: ignore[arg-type]  # a fraction is refused there
            prevalences=design.prevalences or None,
            measures=design.measures,
            repeats=design.repeats,
            seed=design.seed,
            watch=partial(progress_bar, quiet=output.quiet),
        )
    )
    _print_messages(results, output)
    print_results(results, lambda: study_page(results, output.digits), output)


@command("draw", examples="# a file of predictions\nbaserate population linear draw 1000 --seed 7 -o people.csv")
def draw(
    request: Annotated[PopulationRequest, CONTEXT_OBJECT],
    rows: Annotated[int, argument(type=whole_number(ROWS._replace(low=0)))],
    output: Output,
    *,
    seed: Seed = 0,
    positives: Annotated[
        int | None,
        option(type=whole_number(ROWS._replace(low=0)), default="a random number"),
        "Exact number of positives.",
    ] = None,
) -> None:
    """Simulate ROWS of labels and scores.

    The output is CSV, which `baserate measure` reads, unless another format is requested.
    """
    from baserate import population as library
    from baserate.cli._population_page import draw_page

    simulated = library.simulate_rows(request.population(), rows, seed=seed, positives=positives)
    results = request.label_results(simulated)
    ending = (output.path or "").rpartition(".")[2].lower()
    if not (output.json or output.format_ or ending in FORMATS):
        output = replace(output, format_="csv")
    print_results(results, lambda: draw_page(results, output.digits), output)


def _print_messages(results: "Results", output: Output) -> None:
    """Print messages about results on stderr."""
    from baserate.cli._population_page import population_headline

    print_messages(population_headline(results.data), results.data, output, inferred=False)


Prevalence = Annotated[float, option("--prevalence", type=float), "Prevalence, from 0 to 1."]
Pair = tuple[float, float]


def _pair_option(default: str, help: str) -> OptionSpec:  # noqa: A002  (that of click)
    """Declare an option of two numbers: that of negatives, and that of positives."""
    return option(type=read_numbers, metavar="TWO", default=default, help=help)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """Scores on [0, 1] with densities 2 − 2x and 2x."""

    prevalence: Prevalence = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Binormal:
    """Normal scores."""

    prevalence: Prevalence = 0.5
    means: Annotated[Pair, _pair_option("0,1", "Means of negatives, positives.")] = (0.0, 1.0)
    sds: Annotated[Pair, _pair_option("1,1", "Standard deviations of negatives, positives.")] = (1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogitNormal:
    """Scores on [0, 1] with normal log-odds."""

    prevalence: Prevalence = 0.5
    means: Annotated[Pair, _pair_option("-1,1", "Mean log-odds of negatives, positives.")] = (-1.0, 1.0)
    sds: Annotated[Pair, _pair_option("1,1", "Standard deviations of negatives, positives.")] = (1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beta:
    """Scores on [0, 1] with beta distributions."""

    prevalence: Prevalence = 0.5
    negative: Annotated[Pair, _pair_option("1,2", "Both shapes of negatives.")] = (1.0, 2.0)
    positive: Annotated[Pair, _pair_option("2,1", "Both shapes of positives.")] = (2.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """Saito and Rehmsmeier's five levels of performance."""

    prevalence: Prevalence = 0.5
    level: Annotated[str, "random, ER- (poor early retrieval), ER+, excellent or perfect."]


FAMILIES: dict[str, type] = {
    "linear": Linear,
    "binormal": Binormal,
    "logit-normal": LogitNormal,
    "beta": Beta,
    "retrieval": Retrieval,
}
"""Families of populations by the names of the shell, with their parameters."""


def make_request(name: str, parameters: Any) -> PopulationRequest:  # noqa: ANN401  (a dataclass of a family)
    """Request a population of a family."""
    return PopulationRequest(
        name.replace("-", "_"), {each.name: getattr(parameters, each.name) for each in fields(parameters)}
    )


def _add_family(name: str, family: type) -> None:
    """Add a family of populations with its parameters and all commands."""

    def set_population(context: click.Context, parameters: Any) -> None:  # noqa: ANN401
        context.obj = make_request(name, parameters)

    set_population.__doc__ = family.__doc__
    # `group` reads the annotation: it declares the options of the family, which a closure cannot state.
    set_population.__annotations__["parameters"] = family
    command_group = group(name)(set_population)
    for verb in (measure, curve, study, simulate_size, draw):
        command_group.add_command(verb)
    population.add_command(command_group)


for _name, _family in FAMILIES.items():
    _add_family(_name, _family)
