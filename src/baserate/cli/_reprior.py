"""`baserate reprior`: read, correct for another prevalence, write."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from baserate.cli._failures import debug
from baserate.cli._maps import MISSING, TARGET, columns, written
from baserate.cli._options import Verb, bundled, check_place, command, names, or_none
from baserate.cli._priors import GAMMAS, Prior, gamma, of_classes, prior
from baserate.cli._say import put, say

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator

_EXAMPLES = (
    (
        "trained where half are sick, used where one in fifty is",
        "baserate reprior people.csv --score risk --from 0.5 --to 0.02 -o out.parquet",
    ),
    (
        "trained on every tenth negative",
        "baserate reprior people.csv --score risk --under-sampled 10 --name p -o out.csv",
    ),
    (
        "the correction itself, for `baserate apply` and `baserate export`",
        "baserate reprior --score risk --from 0.5 --to 0.02 --map map.json",
    ),
    (
        "many classes, a probability for each",
        "baserate reprior pets.csv --scores p_ --from cat=0.5,dog=0.5 --to cat=0.2,dog=0.8 -o out.csv",
    ),
)


@dataclass(frozen=True, slots=True)
class Repriors:
    """What is corrected, from where to where, and where it goes."""

    file: tuple[str, ...]
    score: str | None
    scores: tuple[str, ...]
    from_: Prior | None
    to: Prior | None
    gamma: float | None
    under_sampled: float | None
    over_sampled: float | None
    name: str | None
    missing: str
    output: str | None
    map: str | None
    quiet: bool

    def __post_init__(self) -> None:
        if bool(self.score) == bool(self.scores):
            few = "are two ways to read; leave out one" if self.score else "say where probabilities stand; give one"
            raise click.UsageError(f"--score (of two classes) and --scores (of many, one for each) {few} of them.")
        self._check_prior()
        self._check_places()

    def _check_prior(self) -> None:
        """See that there is one way to say from where to where."""
        times = gamma(self.gamma, self.under_sampled, self.over_sampled)
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
        if self.output is None and self.map is None:
            raise click.UsageError(
                "nothing would be written; name a file for the rows with -o, or for the map with --map."
            )
        if bool(self.file) != (self.output is not None):
            lacking = "name the FILE that the rows are in" if self.output else "name a file for the rows with -o"
            raise click.UsageError(f"{lacking}, or write the map alone, with --map.")
        if self.output == self.map == "-":
            raise click.UsageError("rows and map cannot both go to stdout; name a file for one of them.")
        for path in (self.output, self.map):
            if path not in (None, "-"):
                check_place(Path(str(path)))


def _repriors(verb: Verb) -> Verb:
    return bundled(verb, Repriors, "asked", _OPTIONS)


_OPTIONS = (
    click.argument("file", type=click.Path(allow_dash=True), nargs=-1, metavar="[FILE...]"),
    click.option("--score", metavar="COLUMN", help="Column of probabilities of the positive class."),
    click.option(
        "--scores",
        type=names,
        callback=or_none,
        metavar="COLUMNS",
        help="Columns of probabilities, one for each class: p_ if they are called p_cat and p_dog, or cat=c1,dog=c2.",
    ),
    click.option(
        "--from",
        "from_",
        type=prior,
        metavar="SHARE",
        help="Prevalence that the scores are right for, such as 0.5; of many classes cat=0.5,dog=0.5.",
    ),
    click.option(
        "--to", type=prior, metavar="SHARE", help="Prevalence that they are to be right for, in the same form."
    ),
    *GAMMAS,
    click.option(
        "--name",
        metavar="NAME",
        help="Name of the new column; otherwise that of the score and _corrected. Of many classes CLASS=NAME,….",
    ),
    MISSING,
    click.option("-o", "--output", type=click.Path(allow_dash=True), metavar="FILE", help=TARGET),
    click.option(
        "--map", type=click.Path(allow_dash=True), metavar="MAP", help="Write the correction itself there, as JSON."
    ),
    click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors."),
    debug,
)


@command("reprior", examples=_EXAMPLES)
@_repriors
def reprior(asked: Repriors) -> None:
    """Correct probabilities for another prevalence: every row and column stays, and corrected ones join them.

    Scores are probabilities that are right where the classes have the shares --from, and are made right for where they
    have the shares --to; nothing is fitted. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a
    pattern of such files, or - for stdin. The output is written whole or not at all.
    """
    from baserate import OptionError

    map_ = _made(asked)
    made = columns(map_, asked.name) if asked.name else _named(map_)
    if asked.output is not None:
        try:
            written(map_, asked.file, asked.output, quiet=asked.quiet, score=None, to=made, missing=asked.missing)
        except OptionError as error:
            # What is called to= there is --name here, where --to is something else.
            told = str(error).replace("with to=", "with --name")
            raise OptionError(f"name{told.removeprefix('to')}" if told.startswith("to ") else told) from error
    if asked.map is not None:
        put(map_.to_json(), asked.map)
    if not asked.quiet:
        _tell(map_, asked)


def _made(asked: Repriors) -> "Calibrator | MulticlassCalibrator":
    """Make the correction, which knows its columns."""
    from baserate import MulticlassCalibrator
    from baserate.shift import prevalence_of_gamma, reprior_map

    times = gamma(asked.gamma, asked.under_sampled, asked.over_sampled)
    if times is not None:
        found = reprior_map(from_=0.5, to=prevalence_of_gamma(times, at=0.5))
    elif isinstance(asked.from_, dict) and isinstance(asked.to, dict):
        found = reprior_map(from_=asked.from_, to=of_classes(asked.to, list(asked.from_)))
    else:
        assert asked.from_ is not None  # noqa: S101  (for the type checker)
        assert asked.to is not None  # noqa: S101  (for the type checker)
        found = reprior_map(from_=asked.from_, to=asked.to)
    if isinstance(found, MulticlassCalibrator):
        return replace(found, columns=_columns(asked.scores, found.labels))
    return replace(found, columns={"score": str(asked.score)})


def _columns(scores: tuple[str, ...], labels: tuple[str, ...]) -> dict[str, str]:
    """Column of each class: named with it, or all beginning alike."""
    if all("=" in each for each in scores):
        found = {label.strip(): column.strip() for label, _, column in (each.rpartition("=") for each in scores)}
        if {*found} != {*labels} or len(scores) != len(labels):
            raise click.UsageError(f"--scores names {', '.join(found)}; name one column for each: {', '.join(labels)}.")
        return found
    if len(scores) > 1:
        each = ",".join(f"{label}=COLUMN" for label in labels)
        raise click.UsageError(f"say which class each column is of: --scores {each}")
    return {label: scores[0].removesuffix("*") + label for label in labels}


def _named(map_: "Calibrator | MulticlassCalibrator") -> str | dict[str, str]:
    """Names of the new columns, if nobody says otherwise."""
    from baserate import MulticlassCalibrator

    made = {of: f"{column}_corrected" for of, column in map_.columns.items()}
    return made if isinstance(map_, MulticlassCalibrator) else made["score"]


def _tell(map_: "Calibrator | MulticlassCalibrator", asked: Repriors) -> None:
    """Say what one probability became, as an example."""
    from baserate import MulticlassCalibrator

    if isinstance(map_, MulticlassCalibrator):
        (after,) = map_([[1 / len(map_.labels)] * len(map_.labels)]).tolist()
        became = ", ".join(f"{label} {_short(each)}" for label, each in zip(map_.labels, after, strict=True))
        say(f"where every class had the same probability, it becomes: {became}.")
    else:
        say(f"0.5 becomes {_short(float(map_([0.5])[0]))}.")
    if asked.map not in (None, "-"):
        say(f"wrote {asked.map}: {map_!r}; apply it with: baserate apply {asked.map} FILE -o OUT")


def _short(value: float) -> str:
    return f"{value:.4g}"
