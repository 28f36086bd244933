"""Options -> rows whose truth nobody knows, and others with a truth to learn from."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import PREVALENCE
from baserate._errors import BaserateError, UnknownNameError
from baserate._formatting import format_count, format_number
from baserate.cli._classes import SCORED, columns_of
from baserate.cli._options import Reading, Verb, bundled, names, or_none, share
from baserate.cli._progress import shown
from baserate.text import describe_files, describe_rows, shorten_label

if TYPE_CHECKING:
    from baserate._read_summary import ReadSummary
    from baserate._rows import MulticlassRows
    from baserate._tally import Tallies
    from baserate._target import MulticlassTarget, Target

_OF_VALIDATION = ("truth", "validation_score", "validation_scores", "validation_weight", "validation_count")
_OF_LABELS = ("positive", "negative")


@dataclass(frozen=True, slots=True)
class Deployed:
    """Where a classifier is used, and where it was seen to work; validation may be left out."""

    file: tuple[str, ...]
    score: str | None
    scores: tuple[str, ...]
    labels: tuple[str, ...]
    target_truth: str | None
    weight: str | None
    count: str | None
    validation: tuple[str, ...]
    truth: str | None
    validation_score: str | None
    validation_scores: tuple[str, ...]
    validation_weight: str | None
    validation_count: str | None
    positive: str | None
    negative: str | None
    missing: str

    def __post_init__(self) -> None:
        if bool(self.score) == bool(self.scores):
            few = "are two ways to read; leave out one" if self.score else "say where scores stand; give one"
            raise click.UsageError(f"--score (of two classes) and --scores (of many, one for each) {few} of them.")
        for name, remedy in self._idle().items():
            if getattr(self, name):
                raise click.UsageError(f"--{name.replace('_', '-')} {remedy}")
        if self.validation and not self.truth:
            raise click.MissingParameter(param_hint="'--truth'", param_type="option", ctx=click.get_current_context())
        if [*self.file, *self.validation].count("-") > 1:
            raise click.UsageError("stdin can be read once; name a file for the target or for --validation.")

    def _idle(self) -> dict[str, str]:
        """Options without use, and what to do about it."""
        found: dict[str, str] = {}
        if not self.validation:
            without = "is of rows with a truth; name their file with --validation, or leave it out."
            found |= dict.fromkeys((*_OF_VALIDATION, *_OF_LABELS * (not self.target_truth)), without)
        if self.scores:
            found |= {"validation_score": "is for two classes; of many there is one for each: --validation-scores."}
            return found | dict.fromkeys(_OF_LABELS, "is for two classes; of many none is positive: leave it out.")
        many = "is for many classes; give a score for each with --scores."
        return found | dict.fromkeys(("labels", "validation_scores"), many)

    @property
    def reading(self) -> Reading:
        """The same as if it had one set of rows, for those who lay it out."""
        score = (self.score,) if self.score else ()
        truth = self.truth or self.target_truth
        return Reading(
            self.file, truth, score, None, self.positive, self.negative, (), self.weight, self.count, self.missing
        )


def deployed(verb: Verb) -> Verb:
    """Add the options that say what to read; the verb gets them as `deployed`."""
    return bundled(verb, Deployed, "deployed", _DEPLOYED)


def read_two(asked: Deployed, *, quiet: bool) -> "tuple[Target, Tallies | None]":
    """Read scores of two classes; what is positive in validation is so in the target."""
    from baserate import read

    validation = None
    known = _labels(asked)
    if asked.validation:
        given = {"score": asked.validation_score or asked.score, **_given(asked, "validation", quiet=quiet)}
        with _reading("validation", "" if asked.validation_score else "--validation-score"):
            validation = read.tallies(asked.validation, **known, **given)
        known = _labels(validation.intake)
    given = {"score": asked.score, **_given(asked, "", quiet=quiet)}
    with _reading("target"):
        return read.target(asked.file, **(known if asked.target_truth else {}), **given), validation


def read_many(asked: Deployed, *, quiet: bool) -> "tuple[MulticlassTarget, MulticlassRows | None]":
    """Read a score for each class; the classes are those of validation, if there is one."""
    from baserate import read
    from baserate.read import resolved

    if not asked.validation:
        labels = [read.Spelled(each) for each in asked.labels] or None
        score = columns_of(asked.scores)
        with _reading("target"):
            return read.class_target(asked.file, score=score, labels=labels, **_given(asked, "", quiet=quiet)), None
    with _reading("validation", "" if asked.validation_scores else "--validation-scores"):
        validation = read.class_rows(
            asked.validation,
            score=columns_of(asked.validation_scores or asked.scores),
            labels=[read.Spelled(each) for each in asked.labels] or None,
            **_given(asked, "validation", quiet=quiet),
        )
    score = columns_of(asked.scores)
    if isinstance(score, Mapping):
        score = {resolved(name, validation.labels): column for name, column in score.items()}
    with _reading("target"):
        target = read.class_target(asked.file, score=score, labels=validation.labels, **_given(asked, "", quiet=quiet))
    return target, validation


def shares_at(text: str, validation: "MulticlassRows") -> dict[object, float]:
    """Read CLASS=SHARE,…."""
    from baserate.read import Spelled, resolved

    pairs = [part.rpartition("=") for part in text.split(",")]
    slip = f"{text!r} does not give a share between 0 and 1 for each class, such as cat=0.2,dog=0.8."
    return {resolved(Spelled(name.strip()), validation.labels): share(given, slip) for name, _, given in pairs}


def _given(asked: Deployed, side: str, *, quiet: bool) -> dict[str, Any]:
    """What is asked of one of the two, besides its scores."""
    columns = {
        "truth": asked.truth if side else asked.target_truth,
        **{name: getattr(asked, f"{side}_{name}" if side else name) for name in ("weight", "count")},
    }
    missing = "drop" if asked.missing == "drop" else "refuse"
    watch = partial(shown, quiet=quiet)
    return {"missing": missing, "watch": watch, **{name: value for name, value in columns.items() if value}}


def _labels(named: "Deployed | ReadSummary") -> dict[str, Any]:
    """Labels of both classes as they are written: another file may hold them as another type."""
    from baserate import read

    labels = {name: getattr(named, name) for name in _OF_LABELS}
    return {name: None if label is None else read.Spelled(label) for name, label in labels.items()}


@contextmanager
def _reading(side: str, other: str = "") -> Iterator[None]:
    """Say in which of the two something is wrong, in terms of its options; `other` names a column that may differ."""
    words = "truth" if side == "target" else "score|scores|weight|count"
    try:
        yield
    except BaserateError as error:
        told = re.sub(rf"\b({words})=", rf"{side}_\1=", str(error))
        if other and isinstance(error, UnknownNameError):
            told += f" If the score has another name there, give it with {other}."
        raise type(error)(f"{side}: {told}") from error


def header(intake: "ReadSummary", rows: int) -> dict[str, Any]:
    """What was read of rows without truth, as every verb tells it."""
    return {
        "rows": rows,
        "labelled": intake.labelled or 0,
        "read": intake.read,
        "refused": intake.dropped,
        "reasons": {column: dict(kinds) for column, kinds in intake.reasons.items()},
        "weighted": "weight" in intake.columns,
        "columns": dict(intake.columns),
    }


def renamed(notes: Iterable[str], column: str) -> list[str]:
    """Notes, each once, that name the column of scores where the library knows it as the score."""
    called = (
        re.sub(r"^(log_loss of )?score(?= runs| is infinite)", lambda found: (found[1] or "") + column, note)
        for note in notes
    )
    return list(dict.fromkeys(called))


def headline(asked: Deployed, data: Mapping[str, Any]) -> str:
    """One line on what was read."""
    parts = [describe_files(asked.file), describe_rows(data)]
    parts += [f"{format_count(data['labelled'], 4)} with truth"] * bool(data["labelled"])
    parts += ["weighted"] * bool(data["weighted"])
    seen = data.get("validation")
    if seen is None:
        return " · ".join(parts)
    parts += [f"validation: {describe_files(asked.validation)}", describe_rows(seen)]
    if data.get("positive") is None:
        parts += [f"{len(seen['prevalences'])} classes"]
    else:
        share = format_number(100 * seen["prevalence"], 4)
        parts += [
            f"positive: {shorten_label(asked.truth)} = {shorten_label(data['positive'])}",
            f"prevalence there {share} %",
        ]
    doubts = [f"doubtful: {'; '.join(data['doubts'])}"] if data.get("doubts") else []
    return " · ".join([*parts, *["weighted"] * bool(seen["weighted"]), *doubts])


def _stated(text: str) -> str:
    """See that a prevalence was typed, or shares of classes; which classes there are is known later."""
    if "=" not in text:
        share(
            text,
            f"{text!r} is no prevalence; expected {PREVALENCE.words}, such as 0.02 or 2%; of many classes a "
            "share for each, such as cat=0.2,dog=0.8.",
        )
    return text


AS_THEY_ARE = (
    click.option(
        "--no-recalibration",
        is_flag=True,
        help="Take scores as probabilities that are right, instead of recalibrating them on validation.",
    ),
    click.option(
        "--at",
        type=_stated,
        metavar="SHARE",
        help="Prevalence that probabilities taken as they are were right for; otherwise that of validation. Of many "
        "classes CLASS=SHARE,….",
    ),
)
"""Options that leave probabilities as they are."""
_DEPLOYED = (
    click.argument("file", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="TARGET..."),
    click.option("--score", metavar="COLUMN", help="Column of scores."),
    *SCORED,
    click.option(
        "--target-truth",
        metavar="COLUMN",
        help="Column of what really is in the target, where it is known of some rows and empty in the others.",
    ),
    click.option("--weight", metavar="COLUMN", help="Column of how much each row of the target should matter."),
    click.option("--count", metavar="COLUMN", help="Column of how many identical rows each of them stands for."),
    click.option(
        "--validation",
        type=click.Path(allow_dash=True),
        multiple=True,
        metavar="FILE",
        help="File of rows with a truth, which the model was not fitted to; repeat it for several.",
    ),
    click.option("--truth", metavar="COLUMN", help="Column of what really is, in validation."),
    click.option(
        "--validation-score", metavar="COLUMN", help="Column of scores in validation; otherwise that of the target."
    ),
    click.option(
        "--validation-scores",
        type=names,
        callback=or_none,
        metavar="COLUMNS",
        help="Columns of scores in validation, one for each class; otherwise those of the target.",
    ),
    click.option("--validation-weight", metavar="COLUMN", help="Column of weights in validation."),
    click.option("--validation-count", metavar="COLUMN", help="Column of counts in validation."),
    click.option("--positive", metavar="LABEL", help="Label of the positive class; 1 or true if not named."),
    click.option("--negative", metavar="LABEL", help="Label of the other class, where truth has more than two."),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "drop"]),
        default="refuse",
        show_default=True,
        help="What to do with rows in which something is missing or unknown; a missing --target-truth is neither.",
    ),
)
