"""Options for a deployment: the unlabelled target, and labelled validation data."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import PREVALENCE
from baserate._errors import BaserateError, UnknownNameError
from baserate._formatting import format_count, format_number
from baserate.cli._declarations import missing_option, option, refuse_given
from baserate.cli._measure import score_columns
from baserate.cli._options import (
    ClassScores,
    Column,
    ColumnList,
    FileNames,
    Negative,
    Positive,
    Reading,
    check_score_options,
    files_argument,
)
from baserate.cli._terminal import progress_bar
from baserate.cli._values import read_prevalence, read_share
from baserate.text import describe_files, describe_rows, shorten_label

if TYPE_CHECKING:
    from baserate._rows import MulticlassRows, MulticlassTarget, Target
    from baserate._tally import ReadSummary, Tallies

_OF_VALIDATION = ("truth", "validation_score", "validation_scores", "validation_weight", "validation_count")
_OF_LABELS = ("positive", "negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentOptions(ClassScores):
    """The target, where a classifier is used, and optional labelled validation data."""

    file: Annotated[tuple[str, ...], files_argument("TARGET...")]
    score: Annotated[Column, "Column with the scores."] = None
    target_truth: Annotated[
        Column, "Column of the target with true labels, if some rows have one and others are empty."
    ] = None
    weight: Annotated[Column, "Column of the target with sampling weights."] = None
    count: Annotated[Column, "Column of the target with the number of identical rows that a row stands for."] = None
    validation: Annotated[
        FileNames, "Labelled validation data, which the model was not fitted to; may be repeated."
    ] = ()
    truth: Annotated[Column, "Column of the validation data with the true labels."] = None
    validation_score: Annotated[
        Column, option(default="that of the target"), "Column of the validation data with the scores."
    ] = None
    validation_scores: Annotated[
        ColumnList, option(default="those of the target"), "Columns of the validation data with a score for each class."
    ] = ()
    validation_weight: Annotated[Column, "Column of the validation data with sampling weights."] = None
    validation_count: Annotated[Column, "Column of the validation data with numbers of identical rows."] = None
    positive: Positive = None
    negative: Negative = None
    missing: Annotated[
        Literal["refuse", "drop"],
        "Treatment of rows with missing or unknown values, except for --target-truth.",
    ] = "refuse"

    def __post_init__(self) -> None:
        check_score_options(self.score, self.scores, "scores")
        for name, remedy in self._unused_options().items():
            refuse_given(self, [name], f"{{}} {remedy}")
        if self.validation and not self.truth:
            raise missing_option("--truth")
        if [*self.file, *self.validation].count("-") > 1:
            raise click.UsageError("stdin can be read once; name a file for the target or for --validation.")

    def _unused_options(self) -> dict[str, str]:
        """Options without use, and the remedy."""
        idle: dict[str, str] = {}
        if not self.validation:
            without = "is for labelled data; name their file with --validation, or leave it out."
            idle |= dict.fromkeys((*_OF_VALIDATION, *_OF_LABELS * (not self.target_truth)), without)
        if self.scores:
            idle |= {"validation_score": "is for two classes; of several, give --validation-scores."}
            return idle | dict.fromkeys(
                _OF_LABELS, "is for two classes; leave it out, since none of several is positive."
            )
        many = "is for several classes; give a score for each with --scores."
        return idle | dict.fromkeys(("labels", "validation_scores"), many)

    @property
    def reading(self) -> Reading:
        """The options as those of a single data set, for pages."""
        score = (self.score,) if self.score else ()
        truth = self.truth or self.target_truth
        return Reading(
            file=self.file,
            truth=truth,
            score=score,
            positive=self.positive,
            negative=self.negative,
            weight=self.weight,
            count=self.count,
            missing=self.missing,
        )


def read_target(
    deployment: DeploymentOptions, *, quiet: bool
) -> "tuple[Target | MulticlassTarget, Tallies | MulticlassRows | None]":
    """Read the target and the validation data, if there are any: of several classes where --scores names them."""
    return (_read_multiclass if deployment.scores else _read_binary)(deployment, quiet=quiet)


def _read_binary(deployment: DeploymentOptions, *, quiet: bool) -> "tuple[Target, Tallies | None]":
    """Read scores of two classes; the target has the positive class of the validation data."""
    from baserate import read

    validation = None
    labels = _class_labels(deployment)
    if deployment.validation:
        arguments = {
            "score": deployment.validation_score or deployment.score,
            **_reading_arguments(deployment, "validation", quiet=quiet),
        }
        with _name_side_in_errors("validation", "" if deployment.validation_score else "--validation-score"):
            validation = read.tallies(deployment.validation, **labels, **arguments)
        labels = _class_labels(validation.intake)
    arguments = {"score": deployment.score, **_reading_arguments(deployment, "", quiet=quiet)}
    with _name_side_in_errors("target"):
        return read.target(deployment.file, **(labels if deployment.target_truth else {}), **arguments), validation


def _read_multiclass(deployment: DeploymentOptions, *, quiet: bool) -> "tuple[MulticlassTarget, MulticlassRows | None]":
    """Read a score for each class; validation data, if any, name the classes."""
    from baserate import read
    from baserate.read import resolve_label

    if not deployment.validation:
        labels = [read.LabelText(each) for each in deployment.labels] or None
        score = score_columns(deployment.scores)
        with _name_side_in_errors("target"):
            return read.class_target(
                deployment.file, score=score, labels=labels, **_reading_arguments(deployment, "", quiet=quiet)
            ), None
    with _name_side_in_errors("validation", "" if deployment.validation_scores else "--validation-scores"):
        validation = read.class_rows(
            deployment.validation,
            score=score_columns(deployment.validation_scores or deployment.scores),
            labels=[read.LabelText(each) for each in deployment.labels] or None,
            **_reading_arguments(deployment, "validation", quiet=quiet),
        )
    score = score_columns(deployment.scores)
    if isinstance(score, Mapping):
        score = {resolve_label(name, validation.labels): column for name, column in score.items()}
    with _name_side_in_errors("target"):
        target = read.class_target(
            deployment.file, score=score, labels=validation.labels, **_reading_arguments(deployment, "", quiet=quiet)
        )
    return target, validation


def _read_class_shares(text: str, validation: "MulticlassRows") -> dict[object, float]:
    """Read CLASS=SHARE,…."""
    from baserate.read import LabelText, resolve_label

    pairs = [part.rpartition("=") for part in text.split(",")]
    message = f"{text!r} does not give a share between 0 and 1 for each class, such as cat=0.2,dog=0.8."
    return {
        resolve_label(LabelText(name.strip()), validation.labels): read_share(number, message)
        for name, _, number in pairs
    }


def _reading_arguments(deployment: DeploymentOptions, side: str, *, quiet: bool) -> dict[str, Any]:
    """Arguments for reading the target or the validation data, besides the scores."""
    columns = {
        "truth": deployment.truth if side else deployment.target_truth,
        **{name: getattr(deployment, f"{side}_{name}" if side else name) for name in ("weight", "count")},
    }
    missing = "drop" if deployment.missing == "drop" else "refuse"
    watch = partial(progress_bar, quiet=quiet)
    return {"missing": missing, "watch": watch, **{name: value for name, value in columns.items() if value}}


def _class_labels(source: "DeploymentOptions | ReadSummary") -> dict[str, Any]:
    """Labels of both classes as text, since another file may contain them as another type."""
    from baserate import read

    labels = {name: getattr(source, name) for name in _OF_LABELS}
    return {name: None if label is None else read.LabelText(label) for name, label in labels.items()}


@contextmanager
def _name_side_in_errors(side: str, other: str = "") -> Iterator[None]:
    """Name the data set and its options in errors; `other` is the option of a column that may have another name."""
    options = ("truth",) if side == "target" else ("score", "scores", "weight", "count")
    try:
        yield
    except BaserateError as error:
        unknown = other and isinstance(error, UnknownNameError)
        hint = f"If the score has another name in the validation data, give it with {other}." if unknown else ""
        raise error.with_options({name: f"{side}_{name}" for name in options}, where=side, hint=hint) from error


def deployment_headline(deployment: DeploymentOptions, data: Mapping[str, Any]) -> str:
    """Describe the target and the validation data in one line."""
    parts = [describe_files(deployment.file), describe_rows(data)]
    parts += [f"{format_count(data['labelled'], 4)} labelled"] * bool(data["labelled"])
    parts += ["weighted"] * bool(data["weighted"])
    validation = data.get("validation")
    if validation is None:
        return " · ".join(parts)
    parts += [f"validation: {describe_files(deployment.validation)}", describe_rows(validation)]
    if data.get("positive") is None:
        parts += [f"{len(validation['prevalences'])} classes"]
    else:
        share = format_number(100 * validation["prevalence"], 4)
        parts += [
            f"positive: {shorten_label(deployment.truth)} = {shorten_label(data['positive'])}",
            f"validation prevalence {share}%",
        ]
    doubts = [f"doubtful: {'; '.join(data['doubts'])}"] if data.get("doubts") else []
    return " · ".join([*parts, *["weighted"] * bool(validation["weighted"]), *doubts])


def _check_shares(text: str) -> str:
    """Check a prevalence, or leave shares of classes for later, when the classes are known."""
    if "=" not in text:
        read_share(
            text,
            f"{text!r} is not a prevalence; expected {PREVALENCE.words}, such as 0.02 or 2%; of several classes a "
            "share for each, such as cat=0.2,dog=0.8.",
        )
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration:
    """Options of probabilities that are not recalibrated."""

    no_recalibration: Annotated[
        bool, "Scores taken as calibrated probabilities, not recalibrated on the validation data."
    ] = False
    sample_prevalence: Annotated[
        str | None,
        option(
            type=_check_shares,
            metavar="SHARE",
            default="that of the validation data",
            help="Prevalence at which the scores are calibrated, with --no-recalibration; of several classes "
            "CLASS=SHARE,….",
        ),
    ] = None

    def read_sample_prevalence(self, validation: "Tallies | MulticlassRows | None") -> float | dict[object, float]:
        """Return the prevalence of --sample-prevalence, or of several classes their shares."""
        from baserate import MulticlassRows

        text = str(self.sample_prevalence)
        return _read_class_shares(text, validation) if isinstance(validation, MulticlassRows) else read_prevalence(text)
