"""`baserate benefit`: read, tell what acting on a model is worth at each probability to act from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import POINTS, SHARE
from baserate.cli._ask import answer, carried, carried_line, remark, rows, tallies
from baserate.cli._intervals import Intervals, closed
from baserate.cli._options import Reading, Verb, Writing, bundled, command, each_once, reading, whole, writing
from baserate.cli._prices import prevalence

if TYPE_CHECKING:
    from baserate._results import Results

FEW = 20
"""Thresholds that a person wants to read."""
MOST = 100
"""Thresholds that make a smooth line."""
_ENDS = (0.01, 0.99)
_USUAL = tuple(at / 20 for at in range(1, 20))
"""To read, where nobody says which."""
_NEAR = 1e-9

_EXAMPLES = (
    ("for whom is it worth using?", "baserate benefit people.csv --truth sick --score risk"),
    (
        "where people would act from 5, 10 or 25 %",
        "baserate benefit people.csv --truth sick --score risk --at 5%,10%,25%",
    ),
    (
        "at every site, between two thresholds",
        "baserate benefit people.csv --truth sick --score risk --group site --from 0.05 --to 0.35",
    ),
    (
        "where 15 % are sick; scores are adjusted to that, too",
        "baserate benefit people.csv --truth sick --score risk --prevalence 0.15",
    ),
    (
        "cases and controls were sampled, and scores are right where 15 % are sick",
        "baserate benefit sample.csv --truth sick --score risk --prevalence 0.15 --keep-scores",
    ),
    (
        "which of two models is worth more?",
        "baserate benefit people.csv --truth sick --score risk --score old --compare",
    ),
    ("a decision curve, to plot", "baserate benefit people.csv --truth sick --score risk -o curve.csv"),
)


@dataclass(frozen=True, slots=True)
class Acting:
    """From which probabilities on one would act, and what is asked about them."""

    at: tuple[tuple[float, ...], ...]
    from_: float | None
    to: float | None
    points: int | None
    prevalence: float | None
    scores_from: float | None
    keep_scores: bool
    compare: bool

    def __post_init__(self) -> None:
        for name, given in (("--from", self.from_), ("--to", self.to), ("--points", self.points)):
            if self.at and given is not None:
                raise click.UsageError(f"--at and {name} both say which thresholds; give one of them.")
        low, high = self._ends
        if low >= high:
            raise click.UsageError(f"thresholds from {low:g} to {high:g} are none; let --from be less than --to.")
        if self.compare and self.prevalence is not None:
            raise click.UsageError(
                "--compare is at the prevalence of the rows; leave out --prevalence, or compare two decision curves."
            )
        self._check_scores()

    def _check_scores(self) -> None:
        """See that there is one way to say where scores are right, and that it matters."""
        if self.keep_scores and self.scores_from is not None:
            raise click.UsageError("--keep-scores and --scores-from contradict each other; leave out one of them.")
        if self.keep_scores and self.prevalence is None:
            raise click.UsageError("--keep-scores is for --prevalence; state it, or leave out --keep-scores.")
        if self.compare and self.scores_from is not None:
            raise click.UsageError("--compare takes scores as they are; leave out --scores-from.")

    @property
    def options(self) -> dict[str, Any]:
        """Options of `decide.benefit` and `draw.decision_curve`."""
        origin = None if self.keep_scores else self.scores_from or "sample"
        return {"thresholds": self.thresholds, "prevalence": self.prevalence, "scores_from": origin}

    @property
    def thresholds(self) -> list[float] | None:
        """All of them; None is what is usual."""
        if self.at:
            return sorted(each_once(self.at))
        low, high = self._ends
        if self.points is not None:
            apart = (high - low) / (self.points - 1)
            return [*(_neat(low + apart * place) for place in range(self.points - 1)), high]
        return None if self.from_ is None and self.to is None else steps(low, high, most=MOST)

    @property
    def few(self) -> Sequence[float] | None:
        """Those to read, where all may be too many; None if each was asked for."""
        if self.at or self.points is not None:
            return None
        return _USUAL if self.from_ is None and self.to is None else steps(*self._ends, most=FEW)

    @property
    def _ends(self) -> tuple[float, float]:
        low, high = _ENDS
        return low if self.from_ is None else self.from_, high if self.to is None else self.to


def steps(low: float, high: float, *, most: int) -> list[float]:
    """Numbers from the lowest on in steps of 1, 2 or 5 of their place, and the highest; at most so many.

    >>> steps(0.05, 0.35, most=5), steps(0.1, 0.2, most=3)
    ([0.05, 0.15, 0.25, 0.35], [0.1, 0.15, 0.2])
    """
    least = (high - low) / (most - 1)
    place = 10.0 ** math.floor(math.log10(least))
    step = next(each * place for each in (1, 2, 5, 10) if each * place >= least * (1 - _NEAR))
    found = [_neat(low + step * at) for at in range(math.floor((high - low) / step * (1 - _NEAR)) + 1)]
    return [*found, high]


def _neat(value: float) -> float:
    """A number without the traces that sums leave."""
    return float(f"{value:.12g}")


def _probabilities(text: str) -> tuple[float, ...]:
    return tuple(map(_probability, text.split(",")))


def _probability(text: str) -> float:
    """Read a probability from which on one would act; per cent must be called so."""
    bare = text.strip().removesuffix("%")
    try:
        found = float(bare) / (100 if bare != text.strip() else 1)
    except ValueError:
        found = math.nan
    if found != 0 and not SHARE.holds(found):
        raise click.BadParameter(
            f"{text.strip()!r} is no probability to act from; expected 0 or {SHARE.words}, such as 0.05 or 5%."
        )
    return found


def _acting(verb: Verb) -> Verb:
    return bundled(verb, Acting, "acting", (*_ACTING, _COMPARE))


def alone(verb: Verb) -> Verb:
    """Add the options of a decision curve that is not compared; the verb gets them as `acting`."""
    return bundled(verb, Acting, "acting", _ACTING, compare=False)


_ACTING = (
    click.option(
        "--at",
        type=_probabilities,
        metavar="NUMBERS",
        multiple=True,
        help="Thresholds: probabilities from which on one would act, such as 0.05,0.1 or 5%,10%. Otherwise 0.01 to "
        f"0.99, and at most {FEW} of them in tables to read.",
    ),
    click.option("--from", "from_", type=_probability, metavar="NUMBER", help="The lowest threshold instead."),
    click.option("--to", type=_probability, metavar="NUMBER", help="The highest threshold instead."),
    click.option("--points", type=whole(POINTS), help="So many thresholds, evenly spaced."),
    click.option(
        "--prevalence",
        type=prevalence,
        metavar="SHARE",
        help="Share of positives where it will be used, such as 0.15 or 15%; otherwise that of the rows.",
    ),
    click.option(
        "--scores-from",
        type=prevalence,
        metavar="SHARE",
        help="Prevalence at which the scores are calibrated, such as that of the training data; otherwise that of the "
        "rows. Scores are adjusted from it to --prevalence.",
    ),
    click.option(
        "--keep-scores/--adjust-scores",
        default=False,
        help="With --prevalence, take scores as they are instead of adjusting them to it.  [default: --adjust-scores]",
    ),
)
_COMPARE = click.option(
    "--compare",
    is_flag=True,
    help="Tabulate how much more each model is worth than those named after it, on the same rows.",
)


@command("benefit", examples=_EXAMPLES)
@reading
@_acting
@closed
@writing
def benefit(reading: Reading, acting: Acting, intervals: Intervals, writing: Writing) -> None:
    """Tell what a model is worth to those who would act from some probability on: its decision curve.

    At each threshold its net benefit stands beside those of flagging all and of flagging none. At another prevalence,
    scores are adjusted to it before they are compared with a threshold. Scores must be
    probabilities; labels of --predicted flag the same at every threshold above 0. FILE is a CSV, TSV, Parquet,
    JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate.cli._decision_curve import differences_page, page

    found = (_compared if acting.compare else _found)(reading, acting, intervals.sure, writing)
    few = acting.few if writing.form in {"table", "md"} else None
    every = len(set(found.columns["threshold"]))
    left_out = [_left_out(few, every)] if few and len(few) < every else []
    data = {**found.data, "notes": [*found.data["notes"], *left_out]}
    remark(carried_line(reading, data), data, writing, inferred=reading.positive is None)
    laid_out = differences_page if acting.compare else page
    answer(found, lambda: laid_out(found, reading, writing.digits, few), writing)


def _found(reading: Reading, acting: Acting, sure: float | None, writing: Writing) -> "Results":
    from baserate import decide

    read = tallies(reading, quiet=writing.quiet)
    found = decide.benefit(read, **acting.options, level=sure)
    return carried(found, read, acting.prevalence)


def _compared(reading: Reading, acting: Acting, sure: float | None, writing: Writing) -> "Results":
    if sure is None:
        raise click.UsageError("a difference comes with its interval; leave out either --compare or --no-interval.")
    several = any(name.endswith("*") for name in reading.score)  # what a name begins with may name many
    if len(reading.score) + bool(reading.predicted) == 1 and not several:
        raise click.UsageError("it takes two models to compare: repeat --score, or leave out --compare.")
    from baserate import decide

    read = rows(reading, quiet=writing.quiet)
    return decide.benefit_difference(read, thresholds=acting.thresholds, level=sure)


def _left_out(few: Sequence[float], every: int) -> str:
    return f"{len(few)} of {every} thresholds are shown; --at or --points shows others, --format csv all."
