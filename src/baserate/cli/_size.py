"""`baserate size`: how many rows are needed; and the same for a population, by simulation."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from baserate._domains import DRAWS, HALF_WIDTH, SHARE, SPREAD_RATIO
from baserate.cli._ask import answer
from baserate.cli._options import Number, Writing, bundled, command, complete_two_class, level, whole, writing
from baserate.cli._say import say
from baserate.cli._settings import Stated, bind_settings, example_of, stated

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate.infer import Size
    from baserate.measure import About
    from baserate.text import Page

_EXAMPLES = (
    ("to know an AUC to ± 0.03", "baserate size auc --half-width 0.03 --expect 0.8 --prevalence 0.1"),
    (
        "the same, if positives are spread twice as far as negatives",
        "baserate size auc --half-width 0.03 --expect 0.8 --prevalence 0.1 --spread-ratio 2",
    ),
    ("to know a sensitivity", "baserate size sensitivity --half-width 0.05 --expect 0.9 --prevalence 0.1"),
    ("to show that it is above a goal", "baserate size sensitivity --expect 0.9 --goal 0.8 --prevalence 0.1"),
    (
        "to show that one model ranks better than another on the same rows",
        "baserate size auc --expect 0.8 --against 0.75 --correlation 0.5 --prevalence 0.1 --power 0.9",
    ),
    (
        "to show that one model finds more than another on the same rows",
        "baserate size sensitivity --expect 0.9 --against 0.8 --paired --prevalence 0.1",
    ),
    ("any measure", "baserate population binormal --prevalence 0.1 size f1 --half-width 0.03 --threshold 1"),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is expected and what is wanted."""

    expect: float
    half_width: float | None
    against: float | None
    goal: float | None
    power: float
    alpha: float
    one_sided: bool
    prevalence: float | None
    flag_rate: float | None
    correlation: float | None
    paired: bool
    discordance: float | None
    spread_ratio: float | None
    level: float

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.half_width, self.against, self.goal)) != 1:
            raise click.UsageError(
                "give one of --half-width (to know it so well), --against (to show a difference from another model) "
                "and --goal (to show that it is above or below that)."
            )
        if self.expect in {self.against, self.goal}:
            raise click.UsageError(f"{self.expect} is expected of both, and no number of rows shows a difference.")

    @property
    def test(self) -> dict[str, Any]:
        """Options of a test."""
        return {"power": self.power, "alpha": self.alpha, "sides": 1 if self.one_sided else 2}

    @property
    def ratio(self) -> float:
        """Spread of positives over that of negatives."""
        return 1.0 if self.spread_ratio is None else self.spread_ratio

    def only(self, measure: str, *names: str) -> None:
        """Refuse options that do not belong to what is asked."""
        source = click.get_current_context().get_parameter_source
        used = {*names, *(_OF_INTERVALS if self.half_width is not None else _OF_TESTS)}
        given = {name for name in _OF_SOME if source(name) is ParameterSource.COMMANDLINE}
        for name in sorted(given - used):
            flag = name.replace("_", "-")
            raise click.UsageError(f"--{flag} means nothing for what is asked of {measure}; leave it out.")


_OF_INTERVALS, _OF_TESTS = ("level",), ("power", "alpha", "one_sided")
_OF_SOME = ("flag_rate", "correlation", "paired", "discordance", "spread_ratio", *_OF_INTERVALS, *_OF_TESTS)
_SHARE = Number(SHARE._replace(low=0, high=1))
_INSIDE = Number(SHARE)
_OPTIONS = (
    click.option("--expect", type=_SHARE, required=True, help="The value that is expected."),
    click.option(
        "--half-width",
        type=Number(HALF_WIDTH._replace(high=0.5 - 1e-9)),
        help="Wanted: half the width of the interval.",
    ),
    click.option(
        "--against", type=_SHARE, help="Wanted: to show a difference from another model that reaches so much."
    ),
    click.option("--goal", type=_INSIDE, help="Wanted: to show a difference from that number."),
    click.option("--power", type=_INSIDE, default=0.8, show_default=True, help="Chance to show it, if it is there."),
    click.option("--alpha", type=_INSIDE, default=0.05, show_default=True, help="Chance to show it, if it is not."),
    click.option("--one-sided", is_flag=True, help="Test on one side only."),
    click.option("--prevalence", type=_INSIDE, help="Share of positives among the rows."),
    click.option("--flag-rate", type=_INSIDE, help="Share of rows that are flagged, for precision and npv."),
    click.option(
        "--correlation",
        type=Number(SHARE._replace(low=-1, high=1)),
        help="Of the estimates of two AUCs on the same rows; otherwise each model has its own.",
    ),
    click.option("--paired", is_flag=True, help="Two shares are of the same rows; otherwise each model has its own."),
    click.option("--discordance", type=_SHARE, help="Share of these rows on which paired models differ."),
    click.option(
        "--spread-ratio",
        type=Number(SPREAD_RATIO),
        help="Standard deviation of the scores of positives over that of negatives, for an AUC. [default: 1]",
    ),
    click.option(
        "--level", type=level, metavar="SHARE", default="0.95", show_default=True, help="Confidence of the interval."
    ),
)


def _planning(verb: Any) -> Any:  # noqa: ANN401  (a decorator of verbs)
    return bundled(verb, Plan, "plan", _OPTIONS)


@command("size", examples=_EXAMPLES)
@click.argument("measure", shell_complete=complete_two_class)
@_planning
@writing
def size(measure: str, plan: Plan, writing: Writing) -> None:
    """Tell how many rows are needed to know MEASURE, or to show a difference.

    MEASURE is auc or a share such as sensitivity or precision; others are simulated: `baserate population`.
    """
    from baserate.measure import about, named

    told = about(named(measure))
    if told.name != "auc" and told.share is None:
        raise click.UsageError(
            f"measure is {told.name}; expected auc or a share of rows. Simulate it with `{_simulation(told, plan)}`."
        )
    found = _of_auc(plan) if told.name == "auc" else _of_share(told.name, plan)
    asked = {name: value for name, value in asdict(plan).items() if value is not None and value is not False}
    for name in _OF_TESTS if plan.half_width else _OF_INTERVALS:
        asked.pop(name, None)
    _show(_results(told.name, found, asked, _notes(told.name, plan, found)), writing)


@command(
    "size",
    summary="Find the number of rows that MEASURE needs.",
    examples=(
        ("any measure at a threshold", "baserate population binormal size f1 --half-width 0.03 --threshold 1"),
        ("over all thresholds", "baserate population linear size average-precision --half-width 0.02"),
    ),
)
@click.argument("measure", shell_complete=complete_two_class)
@click.option("--half-width", type=Number(HALF_WIDTH), required=True, help="Half of what is wanted.")
@click.option("--threshold", type=float, help="Flag scores at or above it; for measures of decisions.")
@click.option(
    "--level",
    type=level,
    metavar="SHARE",
    default="0.95",
    show_default=True,
    help="Share of samples that lie so close.",
)
@click.option(
    "--draws", type=whole(DRAWS._replace(low=400)), help="Samples of each size; otherwise 20000, or 2000 of rows."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same gives the same.")
@stated
@writing
@click.pass_obj
def simulated(asked: Any, /, measure: str, stated: Stated, writing: Writing, **options: Any) -> None:  # noqa: ANN401
    """Tell how many rows are needed to know MEASURE, by drawing samples.

    Measures of probabilities, such as brier or observed-expected, are those of a calibrated model: the posterior
    probability of each score, at the prevalence of the population, takes the place of the score.
    """
    from baserate import Tally
    from baserate.infer import size_by_simulation
    from baserate.measure import about, settings_notes, settings_of

    made = asked.population()
    (function,) = bind_settings(stated.settings, [measure])
    told = about(function)
    found = size_by_simulation(made, function, **options)
    given = {option: value for option, value in options.items() if value is not None}
    calibrated = told.of is Tally
    data: dict[str, Any] = {
        "prevalence": made.prevalence,
        "calibrated": calibrated,
    }
    settings = settings_of([function])
    data |= {"settings": settings} if settings else {}
    notes = [*_simulation_notes(told, made.prevalence, given), *settings_notes(settings)]
    _show(asked.told(_results(told.name, found, given, notes, data)), writing)


def _simulation_notes(measure: "About", prevalence: float, given: Mapping[str, Any]) -> Iterator[str]:
    """Say how the rows were found, and which scores they are of."""
    from baserate import Tally

    yield "The rows have, relatively, about twice the Monte-Carlo error of the half-width."
    if measure.of is Tally:
        yield (
            f"{measure.name} is of probabilities: the posterior probabilities at prevalence {prevalence:g} take the "
            "place of the scores, so this is the sample size for a calibrated model."
        )
    if measure.name == "observed_expected":
        rows = _rows_for_ratio(prevalence, given["half_width"], given["level"])
        yield (
            f"With the expected number taken as fixed, (1 − φ)/(φ·SE²) asks for {rows:,} rows (Riley et al. 2021); "
            "the simulation lets it vary together with the observed number."
        )


def _rows_for_ratio(prevalence: float, half_width: float, level: float) -> int:
    """Rows for O/E with a known E: SE² = (1 − φ)/(nφ) is that of ln(O/E), which near 1 is that of O/E [@riley2021]."""
    from math import ceil

    from scipy.special import ndtri

    error = half_width / float(ndtri((1 + level) / 2))
    return ceil((1 - prevalence) / (prevalence * error**2))


def _simulation(measure: "About", plan: Plan) -> str:
    """Write the command that simulates a measure: with the numbers that were typed, and the usual ones for the rest."""
    from baserate import Counts

    parts = ["baserate population binormal", f"--prevalence {0.5 if plan.prevalence is None else plan.prevalence:g}"]
    parts += [f"size {measure.name}", f"--half-width {0.05 if plan.half_width is None else plan.half_width:g}"]
    parts += ["--threshold 0.5"] * (measure.of is Counts)
    return " ".join([*parts, *example_of(measure.name)])


def _of_auc(plan: Plan) -> "Size":
    from baserate import infer

    if plan.prevalence is None:
        raise click.UsageError("an AUC needs positives and negatives; give --prevalence, the share of positives.")
    plan.only("auc", "correlation" if plan.against is not None else "spread_ratio")
    assumed: dict[str, Any] = {"prevalence": plan.prevalence, "spread_ratio": plan.ratio}
    if plan.half_width is not None:
        return infer.size_of_auc(plan.expect, plan.half_width, level=plan.level, **assumed)
    if plan.goal is not None:
        return infer.size_to_show_auc(plan.expect, null=plan.goal, **assumed, **plan.test)
    pair = infer.assumed_pair(plan.expect, plan.against or 0.0, correlation=plan.correlation)
    return infer.size_to_show_auc_difference(pair, prevalence=plan.prevalence, **plan.test)


def _of_share(measure: str, plan: Plan) -> "Size":
    from baserate import infer

    margins: dict[str, Any] = {"prevalence": plan.prevalence, "flag_rate": plan.flag_rate}
    plan.only(measure, *(["flag_rate"] if plan.against is None else ["paired", "discordance"]))
    if plan.half_width is not None:
        return infer.size_of_share(measure, plan.expect, plan.half_width, level=plan.level, **margins)
    if plan.goal is not None:
        return infer.size_to_show_share(measure, plan.expect, goal=plan.goal, **margins, **plan.test)
    return infer.size_to_show_share_difference(
        measure,
        plan.expect,
        plan.against or 0.0,
        prevalence=plan.prevalence,
        paired=plan.paired or plan.discordance is not None,
        discordance=plan.discordance,
        **plan.test,
    )


def _notes(measure: str, plan: Plan, found: "Size") -> Iterator[str]:
    """What was assumed, in words."""
    if found.positives is not None and measure != "prevalence":
        yield "Positives and negatives are as many as the prevalence leads one to expect; chance brings more or fewer."
    if found.samples > 1:
        yield "Each of the two models has rows of its own, so many are needed for each."
    elif plan.against is not None and measure != "auc" and plan.discordance is None:
        yield "The models are taken to err independently; if they err on the same rows, fewer will do: --discordance."
    if measure == "auc" and plan.against is None:
        times = "equal" if plan.ratio == 1 else f"{plan.ratio:g} times as large among positives"
        yield f"Scores are taken to be normal in both classes, with standard deviations {times} (--spread-ratio)."
    if plan.half_width is not None:
        yield "The half-width is that of the interval if exactly what is expected is seen."


def _results(
    measure: str, found: "Size", asked: Mapping[str, Any], notes: Iterable[str], data: Mapping[str, Any] | None = None
) -> "Results":
    from baserate import Results

    row = {"measure": measure, **asdict(found)}
    about = {**(data or {}), "asked": dict(asked), "notes": list(notes)}
    return Results({name: [value] for name, value in row.items()}, about)


def _show(found: "Results", writing: Writing) -> None:
    if not writing.quiet:
        if writing.form in {"json", "csv"} or writing.output not in {None, "-"}:
            say(_headline(found))
        for note in found.data["notes"]:
            say(f"note: {note}")
    answer(found, lambda: _page(found, writing.digits), writing)


def _headline(found: "Results") -> str:
    from baserate._formatting import format_exact
    from baserate.cli import _theory

    parts = [_theory.headline(found.data)] if "family" in found.data else []
    parts.append(found.rows()[0]["measure"].replace("_", " "))
    for name, value in found.data["asked"].items():
        told = _SPOKEN.get(name, name.replace("_", " "))
        parts.append(told if value is True else f"{told} {format_exact(value)}")
    return " · ".join(parts)


_SPOKEN = {"half_width": "half-width", "one_sided": "one-sided"}


def _page(found: "Results", digits: int) -> "Page":
    from baserate._formatting import format_count, format_number
    from baserate.text import Page, Row, Section, Table

    row = found.rows()[0]
    counts = [("rows", row["rows"], "each of two samples" if row["samples"] > 1 else "")]
    counts += [(name, row[name], "expected") for name in ("positives", "negatives") if row[name] is not None]
    if row["among"] in {"flagged", "passed"}:
        counts.append((row["among"], row["trials"], "expected"))
    lines = tuple(Row(name, (format_count(value, digits),), told) for name, value, told in counts)
    reached = "half-width" if row["power"] is None else "power"
    value = format_number(row["half_width"] if row["power"] is None else row["power"], digits)
    error = f" ± {format_number(row['error'], 2)}" if row["error"] else ""
    kept = (
        Section("", lines, apart=True),
        Section("reached", (Row(reached, (value + error,), row["how"]),), apart=True),
    )
    return Page(_headline(found), (Table("needed", ("",), kept),))
