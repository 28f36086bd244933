"""`baserate reprior`: adjust probabilities to another prevalence."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from baserate.cli._declarations import Quiet, argument, check_place, command, option
from baserate.cli._files import ROWS_FILE, MissingScore, parse_columns, write_rows
from baserate.cli._options import FILES, SamplingRatios
from baserate.cli._terminal import print_message, write_output
from baserate.cli._values import Prior, match_classes, names, read_prior

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator

_EXAMPLES = (
    (
        "from a training prevalence of 50 % to 2 %",
        "baserate reprior people.csv --score risk --from 0.5 --to 0.02 -o out.parquet",
    ),
    (
        "trained on every tenth negative",
        "baserate reprior people.csv --score risk --under-sampled 10 --name p -o out.csv",
    ),
    (
        "the calibrator itself, for `baserate apply` and `baserate export`",
        "baserate reprior --score risk --from 0.5 --to 0.02 --map map.json",
    ),
    (
        "many classes, a probability for each",
        "baserate reprior pets.csv --scores p_ --from cat=0.5,dog=0.5 --to cat=0.2,dog=0.8 -o out.csv",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepriorOptions(SamplingRatios):
    """What is corrected, from where to where, and where it goes."""

    file: Annotated[
        tuple[str, ...],
        argument(
            type=click.Path(allow_dash=True), nargs=-1, required=False, metavar="[FILE...]", note=f"FILE is {FILES}"
        ),
    ] = ()
    score: Annotated[str | None, option(metavar="COLUMN", help="Column with probabilities of the positive class.")] = (
        None
    )
    scores: Annotated[
        tuple[str, ...],
        option(
            type=names,
            metavar="COLUMNS",
            help="Columns with a probability for each class: p_ for p_cat and p_dog, or cat=c1,dog=c2.",
        ),
    ] = ()
    from_: Annotated[
        Prior | None,
        option(
            type=read_prior,
            metavar="SHARE",
            help="Prevalence at which the scores are calibrated, such as 0.5; of several classes cat=0.5,dog=0.5.",
        ),
    ] = None
    to: Annotated[
        Prior | None, option(type=read_prior, metavar="SHARE", help="Prevalence in deployment, in the same form.")
    ] = None
    name: Annotated[
        str | None,
        option(
            metavar="NAME",
            default="that of the score and _corrected",
            help="Name of the new column; of several classes CLASS=NAME,….",
        ),
    ] = None
    missing: MissingScore = "refuse"
    path: Annotated[
        str | None, option("-o", "--output", type=click.Path(allow_dash=True), metavar="FILE", help=ROWS_FILE)
    ] = None
    map: Annotated[
        str | None,
        option(type=click.Path(allow_dash=True), metavar="MAP", help="File for the calibrator itself, as JSON."),
    ] = None
    quiet: Quiet = False

    def __post_init__(self) -> None:
        if bool(self.score) == bool(self.scores):
            few = "are two ways to read; leave out one" if self.score else "say where probabilities stand; give one"
            raise click.UsageError(f"--score (of two classes) and --scores (of many, one for each) {few} of them.")
        self._check_prior()
        self._check_places()

    def _check_prior(self) -> None:
        """Refuse prevalences and sampling ratios that contradict each other."""
        times = self.odds_ratio
        if times is not None and (self.from_ is not None or self.to is not None or self.scores):
            raise click.UsageError(
                "--gamma, --under-sampled and --over-sampled are for two classes, instead of --from and --to."
            )
        if times is None and (self.from_ is None or self.to is None):
            raise click.UsageError(
                "from where to where? Give both prevalences, such as --from 0.5 --to 0.02, or how rows were sampled, "
                "such as --under-sampled 10."
            )
        if times is None and any(isinstance(each, dict) != bool(self.scores) for each in (self.from_, self.to)):
            raise click.UsageError(
                "of many classes give each a share, such as cat=0.2,dog=0.8, in both --from and --to, and columns with "
                "--scores; of two classes the prevalence alone, and --score."
            )

    def _check_places(self) -> None:
        """See that something is read if something is written, and that it can be."""
        if self.path is None and self.map is None:
            raise click.UsageError(
                "nothing would be written; name a file for the rows with -o, or for the map with --map."
            )
        if bool(self.file) != (self.path is not None):
            lacking = "name the FILE that the rows are in" if self.path else "name a file for the rows with -o"
            raise click.UsageError(f"{lacking}, or write the map alone, with --map.")
        if self.path == self.map == "-":
            raise click.UsageError("rows and map cannot both go to stdout; name a file for one of them.")
        for path in (self.path, self.map):
            if path not in (None, "-"):
                check_place(Path(str(path)))


@command("reprior", examples=_EXAMPLES)
def reprior(options: RepriorOptions) -> None:
    """Adjust probabilities to another prevalence, row by row.

    Every row and column stays, and adjusted probabilities join them; nothing is fitted. Scores are probabilities that
    are calibrated at the prevalence --from. The output is written whole or not at all.
    """
    from baserate import OptionError

    calibrator = _make_calibrator(options)
    names = parse_columns(calibrator, options.name) if options.name else _name_columns(calibrator)
    if options.path is not None:
        try:
            write_rows(
                calibrator,
                options.file,
                options.path,
                quiet=options.quiet,
                score=None,
                to=names,
                missing=options.missing,
            )
        except OptionError as error:
            # What is called to= there is --name here, where --to is something else.
            raise error.with_options({"to": "name"}) from error
    if options.map is not None:
        write_output(calibrator.to_json(), options.map)
    if not options.quiet:
        _print_example(calibrator, options)


def _make_calibrator(options: RepriorOptions) -> "Calibrator | MulticlassCalibrator":
    """Make the calibrator, with the names of its columns."""
    from baserate import MulticlassCalibrator
    from baserate.shift import prevalence_of_gamma, reprior_calibrator

    times = options.odds_ratio
    if times is not None:
        calibrator = reprior_calibrator(from_=0.5, to=prevalence_of_gamma(times, at=0.5))
    elif isinstance(options.from_, dict) and isinstance(options.to, dict):
        calibrator = reprior_calibrator(from_=options.from_, to=match_classes(options.to, list(options.from_)))
    else:
        assert options.from_ is not None  # noqa: S101  (for the type checker)
        assert options.to is not None  # noqa: S101  (for the type checker)
        calibrator = reprior_calibrator(from_=options.from_, to=options.to)
    if isinstance(calibrator, MulticlassCalibrator):
        return replace(calibrator, columns=_columns(options.scores, calibrator.labels))
    return replace(calibrator, columns={"score": str(options.score)})


def _columns(scores: tuple[str, ...], labels: tuple[str, ...]) -> dict[str, str]:
    """Column of each class: named with it, or all beginning alike."""
    if all("=" in each for each in scores):
        by_class = {label.strip(): column.strip() for label, _, column in (each.rpartition("=") for each in scores)}
        if {*by_class} != {*labels} or len(scores) != len(labels):
            raise click.UsageError(
                f"--scores names {', '.join(by_class)}; name one column for each: {', '.join(labels)}."
            )
        return by_class
    if len(scores) > 1:
        each = ",".join(f"{label}=COLUMN" for label in labels)
        raise click.UsageError(f"say which class each column is of: --scores {each}")
    return {label: scores[0].removesuffix("*") + label for label in labels}


def _name_columns(map_: "Calibrator | MulticlassCalibrator") -> str | dict[str, str]:
    """Names of the new columns, if nobody says otherwise."""
    from baserate import MulticlassCalibrator

    made = {of: f"{column}_corrected" for of, column in map_.columns.items()}
    return made if isinstance(map_, MulticlassCalibrator) else made["score"]


def _print_example(map_: "Calibrator | MulticlassCalibrator", options: RepriorOptions) -> None:
    """Say what one probability became, as an example."""
    from baserate import MulticlassCalibrator

    if isinstance(map_, MulticlassCalibrator):
        (after,) = map_([[1 / len(map_.labels)] * len(map_.labels)]).tolist()
        became = ", ".join(f"{label} {_short(each)}" for label, each in zip(map_.labels, after, strict=True))
        print_message(f"where every class had the same probability, it becomes: {became}.")
    else:
        print_message(f"0.5 becomes {_short(float(map_([0.5])[0]))}.")
    if options.map not in (None, "-"):
        print_message(f"wrote {options.map}: {map_!r}; apply it with: baserate apply {options.map} FILE -o OUT")


def _short(value: float) -> str:
    return f"{value:.4g}"
