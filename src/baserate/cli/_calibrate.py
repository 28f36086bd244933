"""`baserate calibrate`: read, fit a map, judge before and after on rows that it has not seen, write the map."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import BINS, DRAWS, FOLDS
from baserate.cli._ask import answer, explain, rows, tallies
from baserate.cli._classes import SCORED, Classes, read_classes
from baserate.cli._options import Reading, Verb, Writing, bundled, check_place, command, level, reading, showing, whole
from baserate.cli._say import put, say

if TYPE_CHECKING:
    from baserate import infer
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._results import Results
    from baserate._rows import MulticlassRows, Rows
    from baserate._tally import Tallies
    from baserate.calibrate import Choice

_EXAMPLES = (
    (
        "fit a map, see what it does to rows it has not seen, and keep it",
        "baserate calibrate people.csv --truth sick --score risk --with beta -o map.json",
    ),
    ("let the data choose the method", "baserate calibrate people.csv --truth sick --score risk -o map.json"),
    (
        "tell it the prevalence here, and nothing else",
        "baserate calibrate people.csv --truth sick --score risk --with offset -o map.json",
    ),
    ("then use it", "baserate apply map.json new.parquet -o calibrated.parquet"),
)
_OPTIONS_OF = {"smoothed": "logistic", "scale": "logistic", "shape": "beta", "bins": "histogram", "by": "histogram"}


@dataclass(frozen=True, slots=True)
class Fitting:
    """What is fitted, how it is judged, and where the map goes."""

    with_: str
    scores: tuple[str, ...]
    labels: tuple[str, ...]
    smoothed: bool
    scale: str | None
    shape: str | None
    bins: int | None
    by: str | None
    cluster: str | None
    folds: int
    seed: int
    level: float | None
    draws: int | None
    output: str | None

    def __post_init__(self) -> None:
        for name, method in _OPTIONS_OF.items():
            if name in self.options and self.with_ != method:
                raise click.UsageError(f"--{name} is for --with {method}; leave it out.")
        if self.labels and not self.scores:
            raise click.UsageError("--labels is for many classes; give a score for each with --scores.")
        if self.scores and self.cluster:
            raise click.UsageError("--cluster is for two classes; leave it out.")
        if self.output not in (None, "-"):
            check_place(Path(str(self.output)))

    @property
    def options(self) -> dict[str, Any]:
        """Options of the method that were given."""
        return {name: value for name in _OPTIONS_OF if (value := getattr(self, name)) not in (None, False)}


def _methods(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a method."""
    from baserate.calibrate import CLASS_METHODS, METHODS

    known = dict.fromkeys(("choose", *METHODS, *CLASS_METHODS))
    return [name for name in known if name.startswith(incomplete)]


def _fitting(verb: Verb) -> Verb:
    return bundled(verb, Fitting, "fitting", _FITTING)


_FITTING = (
    click.option(
        "--with",
        "with_",
        default="choose",
        show_default=True,
        metavar="METHOD",
        shell_complete=_methods,
        help="offset (the prevalence alone), temperature, logistic, beta, histogram, isotonic, strict-isotonic, "
        "venn-abers, identity; or choose, by log-loss on rows that were left out. Of many classes also prior, "
        "bias-corrected, vector, and the others as one-vs-rest-….",
    ),
    *SCORED,
    click.option("--smoothed", is_flag=True, help="Of logistic: Platt's targets, finite where classes are parted."),
    click.option(
        "--scale",
        type=click.Choice(["log-odds", "score"]),
        help="Of logistic: what its curve is of; otherwise log-odds, if all scores lie between 0 and 1.",
    ),
    click.option("--shape", type=click.Choice(["abm", "ab", "am", "a"]), help="Of beta: which numbers are free."),
    click.option("--bins", type=whole(BINS), help="Of histogram: how many bins; otherwise 10."),
    click.option("--by", type=click.Choice(["width", "mass"]), help="Of histogram: of equal what; otherwise mass."),
    click.option("--cluster", metavar="COLUMN", help="Rows of one cluster stay in one fold."),
    click.option(
        "--folds",
        type=whole(FOLDS),
        default=5,
        show_default=True,
        help="Each part of the rows is judged by a map that was fitted to the others.",
    ),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of folds and draws."),
    click.option("--level", type=level, metavar="SHARE", help="Confidence of intervals; otherwise 0.95."),
    click.option(
        "--draws", type=whole(DRAWS._replace(low=0)), help="Draws for the noise floors; otherwise 500, and 0 for none."
    ),
    click.option(
        "-o", "--output", type=click.Path(allow_dash=True), metavar="MAP", help="Write the map there, as JSON."
    ),
)


@command("calibrate", examples=_EXAMPLES)
@reading
@_fitting
@showing
def calibrate(reading: Reading, fitting: Fitting, writing: Writing) -> None:
    """Make probabilities right: fit a map from scores to probabilities, and show what it does.

    Before and after are judged as `baserate reliability` does. After is honest: every row is mapped by what was fitted
    to other rows. The map that is written is fitted to all of them. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow
    file, a folder or a pattern of such files, or - for stdin.
    """
    if reading.predicted:
        raise click.UsageError("labels cannot be calibrated; instead of --predicted give scores with --score.")
    if len(reading.score) != (0 if fitting.scores else 1):
        raise click.UsageError("a map is of one score: give one with --score, or one for each class with --scores.")
    if fitting.output == "-" and writing.form != "table":
        raise click.UsageError("-o - writes the map to stdout, where the numbers would go; name a file for the map.")
    data = _read(reading, fitting, quiet=writing.quiet)
    found, choice = _fitted(data, fitting, quiet=writing.quiet)
    judged = _judged(data, found, choice, fitting, quiet=writing.quiet)
    explain(reading, judged.data, writing)
    _write(found, fitting, writing)
    if fitting.output != "-":
        from baserate.cli._calibrated import page

        answer(judged, lambda: page(judged, reading, writing.digits), writing)


def _read(asked: Reading, fitting: Fitting, *, quiet: bool) -> "Tallies | Rows | MulticlassRows":
    if fitting.cluster:
        return rows(asked, quiet=quiet, cluster=fitting.cluster)
    if not fitting.scores:
        return tallies(asked, quiet=quiet)
    found = read_classes(asked, Classes(fitting.scores, fitting.labels, (), None, None), quiet=quiet)
    from baserate import MulticlassRows

    assert isinstance(found, MulticlassRows)  # noqa: S101  (for the type checker)
    return found


def _fitted(
    data: "Tallies | Rows | MulticlassRows", fitting: Fitting, *, quiet: bool
) -> "tuple[Calibrator | MulticlassCalibrator, Choice | None]":
    from baserate import calibrate as room

    if fitting.with_ != "choose":
        return room.fit(data, fitting.with_, **fitting.options), None
    from baserate.cli._progress import counted

    with counted(quiet=quiet) as watch:
        choice = room.choose(data, folds=fitting.folds, seed=fitting.seed, watch=watch)
    return choice.map, choice


def _judged(
    data: "Tallies | Rows | MulticlassRows",
    found: "Calibrator | MulticlassCalibrator",
    choice: "Choice | None",
    fitting: Fitting,
    *,
    quiet: bool,
) -> "Results":
    """Numbers before and after, with what they are of."""
    from baserate import FitError, NotAProbabilityError, Results, Rows, infer
    from baserate.cli._progress import counted

    with counted(quiet=quiet) as watch:
        after, lacking = _after(data, found, fitting, watch)
    given: dict[str, Any] = {"level": fitting.level, "seed": fitting.seed, "draws": fitting.draws}
    asked = infer.Reliability(**{name: value for name, value in given.items() if value is not None})
    before = data.tallies() if isinstance(data, Rows) else data
    try:
        with counted(quiet=quiet) as watch:
            judged = infer.reliability(before, asked=asked, after=after, watch=watch)
    except NotAProbabilityError as error:
        if after is not None:
            raise
        raise FitError(f"the scores are no probabilities, and {lacking[0]}") from error
    map_ = {"method": found.method, "parameters": [asdict(each) for each in found.parameters], "folds": fitting.folds}
    # That certainties have no log-odds is said of the rows already.
    notes = [*lacking, *(note for note in found.notes if "finite log-odds" not in note)]
    told = {"map": map_, "notes": [*judged.data["notes"], *notes]}
    if choice:
        told |= {"choice": {"verdict": choice.verdict, "methods": choice.results.rows()}}
    return Results(judged.columns, {**judged.data, **told})


def _after(
    data: "Tallies | Rows | MulticlassRows",
    found: "Calibrator | MulticlassCalibrator",
    fitting: Fitting,
    watch: Callable[[int, int], None],
) -> "tuple[infer.After | None, list[str]]":
    """The same rows, each mapped by what was fitted without it; or why that cannot be had."""
    from baserate import FitError, calibrate as room, infer

    options = fitting.options if fitting.with_ != "choose" else {}
    try:
        after = room.crossfitted(data, fitting.with_, folds=fitting.folds, seed=fitting.seed, watch=watch, **options)
    except FitError as error:
        return None, [f"the map cannot be judged on rows that it has not seen: {error}"]
    what = found.method if fitting.with_ != "choose" else "whatever was chosen without each fold"
    return infer.After(after, f"cross-fitted: {what}, each row by a map that was fitted without it"), []


def _write(found: "Calibrator | MulticlassCalibrator", fitting: Fitting, writing: Writing) -> None:
    if fitting.output is None:
        if not writing.quiet:
            say("no map was written; -o map.json writes it.")
        return
    put(found.to_json(), fitting.output)
    if fitting.output != "-" and not writing.quiet:
        say(f"wrote {fitting.output}: {found!r}; apply it with: baserate apply {fitting.output} FILE -o OUT")
