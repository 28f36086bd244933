"""`baserate population`: make a population in closed form, then measure, tabulate, study or draw."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import POINTS, REPEATS, ROWS
from baserate.cli._ask import answer
from baserate.cli._curve import CURVES, FEW
from baserate.cli._failures import debug, in_flags
from baserate.cli._options import (
    FORMATS,
    Choices,
    Verb,
    Writing,
    command,
    complete_measures,
    each_once,
    names,
    numbers,
    thresholds,
    whole,
    writing,
)
from baserate.cli._progress import shown
from baserate.cli._say import say
from baserate.cli._settings import Stated, bind_settings, stated
from baserate.cli._size import simulated

if TYPE_CHECKING:
    from baserate._population import Population
    from baserate._results import Results


@dataclass(frozen=True, slots=True)
class Asked:
    """Which population; it is made when a verb wants it, so that help loads nothing."""

    family: str
    parameters: Mapping[str, Any]

    def population(self) -> "Population":
        """Make it."""
        from baserate.population import FAMILIES

        return FAMILIES[self.family](**self.parameters)

    def told(self, found: "Results") -> "Results":
        """Results that remember which population they are of."""
        from baserate import Results

        return Results(found.columns, {"family": self.family, "parameters": dict(self.parameters), **found.data})


@click.group(
    "population",
    cls=Choices,
    what="population",
    examples=(
        ("at which threshold is F1 highest, if half are positive?", "baserate population linear measure f1"),
        ("the same if two in a hundred are", "baserate population linear --prevalence 0.02 measure f1,mcc,auc"),
        ("an exact curve, to plot", "baserate population retrieval --level ER+ --prevalence 0.1 curve pr -o pr.csv"),
        ("how far does an AUC stray?", "baserate population binormal --means 0,1 study --sizes 30,300,3000"),
        ("rows to try things on", "baserate population linear draw 1000 --seed 7 -o people.csv"),
    ),
)
@debug
def population() -> None:
    """Work out theory: a classifier whose score distributions are known in closed form.

    Choose a population, then what to do with it. Every number is exact, except where samples are drawn.
    """


SHARE = click.option(
    "--prevalence", type=float, default=0.5, show_default=True, help="Share of positives, from 0 to 1."
)


@command(
    "measure",
    examples=(
        ("the usual measures", "baserate population linear measure"),
        ("two of them at three thresholds", "baserate population linear measure f1,mcc --threshold 0.25,0.5,0.75"),
    ),
)
@click.argument("measures", type=names, nargs=-1, shell_complete=complete_measures)
@click.option("--threshold", type=thresholds, metavar="NUMBERS", multiple=True, help="Thresholds to tabulate at.")
@click.option("--points", type=whole(POINTS), default=11, show_default=True, help="Otherwise, at so many.")
@stated
@writing
@click.pass_obj
def measure(
    asked: Asked,
    measures: tuple[tuple[str, ...], ...],
    threshold: tuple[tuple[float, ...], ...],
    points: int,
    stated: Stated,
    writing: Writing,
) -> None:
    """Tell the best threshold of MEASURES.

    Then what other thresholds give. Without MEASURES, the usual ones; `baserate list measures` lists all.
    """
    from baserate import population as room
    from baserate.cli._theory import chosen, each_measure_once, page

    typed = [name for each in measures for name in each]
    named = bind_settings(stated.settings, [] if "all" in typed else typed)
    wanted = chosen(typed) if "all" in typed or not named else each_measure_once(named)
    at = each_once(threshold)
    found = asked.told(room.summary(asked.population(), *wanted, points=points, at=at))
    _explain(found, writing)
    answer(found, lambda: page(found, writing.digits), writing)


@command("curve", examples=(("to read", "baserate population linear curve roc --points 11"),))
@click.argument("what", type=click.Choice(CURVES), metavar="CURVE")
@click.option("--points", type=whole(POINTS), help=f"So many; otherwise 101, and {FEW} in tables to read.")
@writing
@click.pass_obj
def curve(asked: Asked, what: str, points: int | None, writing: Writing) -> None:
    """Tabulate a curve exactly.

    CURVE is roc, pr (precision–recall), det, gain (also called CAP), lift or lorenz.
    """
    from baserate import population as room
    from baserate.cli._theory import curve_page

    many = points or (FEW if writing.form in {"table", "md"} else 101)
    found = asked.told(room.table(asked.population(), what, points=many))
    _explain(found, writing)
    answer(found, lambda: curve_page(found, writing.digits), writing)


@command(
    "study",
    examples=(
        ("against sample size", "baserate population linear study --sizes 30,100,300,1000,3000"),
        ("against class balance", "baserate population linear study --sizes 300 --prevalences 0.5,0.2,0.1,0.05"),
    ),
)
@click.option("--sizes", type=numbers, default="30,100,300,1000,3000", show_default=True, help="Rows in a sample.")
@click.option("--prevalences", type=numbers, help="Shares of positives; otherwise that of the population.")
@click.option("--measures", type=names, default="auc,average_precision", show_default=True, help="Over all thresholds.")
@click.option("--repeats", type=whole(REPEATS), default=200, show_default=True, help="Samples of each kind.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same gives the same.")
@writing
@click.pass_obj
def study(  # noqa: PLR0913, PLR0917  (one for each option)
    asked: Asked,
    sizes: tuple[float, ...],
    prevalences: tuple[float, ...] | None,
    measures: tuple[str, ...],
    repeats: int,
    seed: int,
    writing: Writing,
) -> None:
    """Draw samples again and again.

    Tell mean and standard deviation of measures over the samples, beside the exact value.
    """
    from baserate import population as room
    from baserate.cli._theory import study_page

    whole = [int(size) if size == int(size) else size for size in sizes]
    found = asked.told(
        room.study(
            asked.population(),
            sizes=whole,  # type: ignore[arg-type]  # a fraction is refused there
            prevalences=prevalences,
            measures=measures,
            repeats=repeats,
            seed=seed,
            watch=partial(shown, quiet=writing.quiet),
        )
    )
    _explain(found, writing)
    answer(found, lambda: study_page(found, writing.digits), writing)


@command("draw", examples=(("a file of predictions", "baserate population linear draw 1000 --seed 7 -o people.csv"),))
@click.argument("rows", type=whole(ROWS._replace(low=0)))
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same gives the same.")
@click.option(
    "--positives", type=whole(ROWS._replace(low=0)), help="Exactly so many; otherwise as many as chance gives."
)
@writing
@click.pass_obj
def draw(asked: Asked, rows: int, seed: int, positives: int | None, writing: Writing) -> None:
    """Draw ROWS at random: truth and score.

    They come as CSV unless another format is asked for; `baserate measure` reads them.
    """
    from baserate import Results
    from baserate.cli._theory import draw_page

    made = asked.population()
    truth, score = made.draw(rows, seed, positives=positives)
    data = {"prevalence": made.prevalence, "seed": seed, "notes": []}
    found = asked.told(Results({"truth": truth.astype(int), "score": score}, data))
    ending = (writing.output or "").rpartition(".")[2].lower()
    if not (writing.json or writing.format_ or ending in FORMATS):
        writing = replace(writing, format_="csv")
    answer(found, lambda: draw_page(found, writing.digits), writing)


def _explain(found: "Results", writing: Writing) -> None:
    """Say on stderr what the reader of the numbers should know, unless told to be quiet."""
    from baserate.cli._theory import headline

    if writing.quiet:
        return
    if writing.form in {"json", "csv"} or writing.output not in {None, "-"}:
        say(headline(found.data))
    for note in found.data["notes"]:
        say(f"note: {in_flags(note)}")


Option = Callable[[Verb], Verb]


def _pair(flag: str, default: str, told: str) -> Option:
    return click.option(flag, type=numbers, default=default, show_default=True, metavar="TWO", help=told)


FAMILIES: dict[str, tuple[str, tuple[Option, ...]]] = {
    "linear": ("Scores on [0, 1] with densities 2 − 2x and 2x.", ()),
    "binormal": (
        "Normal scores.",
        (
            _pair("--means", "0,1", "Means of negatives, positives."),
            _pair("--sds", "1,1", "Their standard deviations."),
        ),
    ),
    "logit-normal": (
        "Scores on [0, 1] with normal log-odds.",
        (
            _pair("--means", "-1,1", "Mean log-odds of negatives, positives."),
            _pair("--sds", "1,1", "Their standard deviations."),
        ),
    ),
    "beta": (
        "Scores on [0, 1] with beta distributions.",
        (
            _pair("--negative", "1,2", "The two shapes among negatives."),
            _pair("--positive", "2,1", "The two shapes among positives."),
        ),
    ),
    "retrieval": (
        "Saito and Rehmsmeier's five levels of performance.",
        (
            click.option(
                "--level", required=True, help="random, ER- (poor early retrieval), ER+, excellent or perfect."
            ),
        ),
    ),
}
"""Families by the names of the shell, with what they are and their parameters."""


def _add(name: str, told: str, options: Sequence[Option]) -> None:
    """Add a family of populations with its parameters and all verbs."""

    def chosen(context: click.Context, /, **parameters: object) -> None:
        context.obj = Asked(name.replace("-", "_"), parameters)

    made: Verb = click.pass_context(chosen)
    every: tuple[Option, ...] = (SHARE, *options, debug)
    for option in reversed(every):
        made = option(made)
    group = click.group(name, cls=Choices, help=told)(made)
    for verb in (measure, curve, study, simulated, draw):
        group.add_command(verb)
    population.add_command(group)


for _name, (_told, _options) in FAMILIES.items():
    _add(_name, _told, _options)
