"""Calibrators: fitted formulas from scores to probabilities, which can be called, saved and loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, FrozenMapping
from baserate._calibrator_forms import (
    Between,
    ClassForm,
    Form,
    Knots,
    LogOdds,
    Steps,
    form_from_json,
    form_to_json,
)
from baserate._errors import (
    BaserateError,
    FileFormatError,
    MissingValuesError,
    NotAProbabilityError,
    NotNumericError,
    ShapeError,
)
from baserate._files import (
    CALIBRATOR,
    MULTICLASS_CALIBRATOR,
    FileKind,
    FileSource,
    SealedFile,
    find_file_kind,
    format_file,
    parse_file,
    read_text,
)
from baserate._formatting import count_of, replace_unprintable, there_are
from baserate._numeric.cumulative import cache_blocks, parallel_map
from baserate._rendering import Renderable
from baserate._rows import MulticlassRows
from baserate._tally import Tally

_MOST_PARAMETERS = 4
"""Parameters in the representation of a calibrator."""
_SHOWN = 5
"""Number of positions that an error message lists."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A fitted parameter with its standard error and confidence interval; None where there is none."""

    name: str
    value: float
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None


@dataclass(frozen=True, slots=True)
class FitSource:
    """Data that a calibrator was fitted on: the digest of its tally or rows, their number, the share of each class."""

    digest: str
    rows: int
    prevalence: float | tuple[float, ...]
    """Share of the positive class; of several classes, that of each."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Calibrator(Renderable, SealedFile):
    """Formula from scores to probabilities, and how it was fitted.

    Call it with an array of scores. Probabilities never decrease with the score if `never_falls`, and increase strictly
    if `rises`.

    >>> half_as_likely = Calibrator(LogOdds(1.0, 1.0, np.log(0.5)), method="offset")
    >>> half_as_likely([0.0, 0.5, 0.8]).round(4).tolist()
    [0.0, 0.3333, 0.6667]
    >>> half_as_likely
    Calibrator(offset, log-odds -0.6931)
    >>> Calibrator.from_json(half_as_likely.to_json())([0.5]).round(4).tolist()
    [0.3333]
    """

    file_kind: ClassVar[FileKind] = CALIBRATOR
    form: Form
    method: str
    fitted: FitSource | None = None
    """None if the formula was stated, not fitted."""
    parameters: tuple[Parameter, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    """Names of the columns it was fitted on, by what they hold: truth, score."""
    positive: str | None = None
    """The positive class, as text."""
    notes: tuple[str, ...] = ()
    """Warnings about the fit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", FrozenMapping(self.columns))

    def __repr__(self) -> str:
        fitted = "" if self.fitted is None else f"; fitted on {count_of(self.fitted.rows, 'row')}"
        return f"Calibrator({self.method}, {describe_form(self)}{fitted})"

    def __call__(self, scores: npt.ArrayLike) -> Floats:
        """Return the probabilities of scores, in the same shape; invalid scores are refused, with their positions."""
        array = as_scores(scores)
        flat = array.reshape(-1)
        probabilities = np.empty(flat.shape)

        def fill(place: slice) -> bool:
            x = flat[place].astype(np.float64, copy=False)  # perhaps the caller's memory: forms must not write into it
            valid = _are_valid(x, of_probabilities=self.form.of_probabilities)
            if valid:
                probabilities[place] = self.form(x)
            return valid

        # Blocks are only checked for being valid; the message needs the positions among all scores.
        if not all(parallel_map(fill, cache_blocks(len(flat)), size=len(flat))):
            refuse_scores(flat, of_probabilities=self.form.of_probabilities)
        return probabilities.reshape(array.shape)

    def bounds(self, scores: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return p₀ and p₁ of a Venn–Abers calibrator: the probabilities if the row were negative, and positive."""
        if not isinstance(self.form, Between):
            raise ShapeError(f"{self.method} has no bounds", remedy="fit venn-abers, which has.")
        array = as_scores(scores).astype(np.float64, copy=False)
        refuse_scores(array.reshape(-1), of_probabilities=self.form.of_probabilities)
        return self.form.bounds(array)

    @property
    def rises(self) -> bool:
        """Whether a higher score always means a higher probability, where it was fitted."""
        return self.form.rises

    @property
    def never_falls(self) -> bool:
        """Whether a higher score never means a lower probability."""
        return self.form.never_falls

    def was_fitted_on(self, tally: Tally) -> bool:
        """Return whether the calibrator was fitted on these rows, on which it looks better than on others."""
        return self.fitted is not None and self.fitted.digest == tally.digest

    def to_json(self) -> str:
        """Return versioned JSON with a checksum that restores every number exactly."""
        content = {"positive": self.positive, **file_head(self), "form": form_to_json(self.form)}
        return format_file(CALIBRATOR, content)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the JSON of `to_json`, checking its form."""
        calibrator: Self = from_file_content(cls, parse_file(text, CALIBRATOR), ("positive",))
        return calibrator


def describe_form(calibrator: Calibrator | MulticlassCalibrator) -> str:
    """Describe the formula of a calibrator: its parameters, or the number of its knots or steps."""
    form = calibrator.form
    if isinstance(form, (Knots, Steps, Between)):
        steps = form.low if isinstance(form, Between) else form
        return count_of(len(steps.y), "knot" if isinstance(form, Knots) else "step")
    if isinstance(form, LogOdds) and form.a == form.b == 1 and form.c:
        return f"{form.kind} {form.c:+.4g}"
    numbers = [f"{replace_unprintable(each.name)} {each.value:.4g}" for each in calibrator.parameters]
    more = [f"{len(numbers) - _MOST_PARAMETERS} more"] if len(numbers) > _MOST_PARAMETERS else []
    return f"{form.kind}{': ' * bool(numbers)}{', '.join(numbers[:_MOST_PARAMETERS] + more)}"


def shift_log_odds(log_odds: float, *, method: str = "prevalence") -> Calibrator:
    """Make a calibrator that adds a constant to all log-odds, as a change of prevalence does.

    >>> shift_log_odds(np.log(4))([0.2, 0.5]).round(9).tolist()
    [0.5, 0.8]
    """
    return Calibrator(LogOdds(1.0, 1.0, float(log_odds)), method=method)


def as_scores(scores: npt.ArrayLike) -> npt.NDArray[Any]:
    """Convert scores to an array of numbers."""
    array = np.asarray(scores)
    if array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise NotNumericError(f"scores hold {array.dtype}, not numbers", remedy="convert them first.") from error
    return array


def _are_valid(x: Floats, *, of_probabilities: bool) -> bool:
    # Two reductions and no mask; a NaN becomes the minimum, and fails the comparison.
    return bool(x.min() >= 0 and x.max() <= 1) if of_probabilities else bool(np.isfinite(x).all())


def refuse_scores(flat: npt.NDArray[Any], *, of_probabilities: bool) -> None:
    """Refuse scores that are missing, or no probabilities where those are needed."""
    missing = ~np.isfinite(flat)
    if missing.any():
        raise MissingValuesError(
            f"{missing.sum()} of {len(flat)} scores are NaN or infinite ({_list_positions(missing)})",
            remedy="leave them out, or fill them in.",
        )
    outside = (flat < 0) | (flat > 1)
    if of_probabilities and outside.any():
        raise NotAProbabilityError(
            f"{outside.sum()} of {len(flat)} scores lie outside [0, 1] ({_list_positions(outside)}), but this "
            "calibrator takes probabilities",
            remedy="give those, or fit a calibrator on scores of this kind.",
        )


def _list_positions(invalid: Bools) -> str:
    at = np.flatnonzero(invalid)
    more = f" and {len(at) - _SHOWN} more" if len(at) > _SHOWN else ""
    return f"at {', '.join(map(str, at[:_SHOWN]))}{more}, counted from 0"


def file_head(of: Any) -> dict[str, Any]:  # noqa: ANN401  (either kind of calibrator)
    """Return the fields that both kinds of calibrator file share."""
    return {
        "method": of.method,
        "columns": dict(of.columns),
        "fitted": None if of.fitted is None else asdict(of.fitted),
        "parameters": [asdict(each) for each in of.parameters],
        "notes": list(of.notes),
    }


def from_file_content(cls: Any, content: dict[str, Any], own: tuple[str, ...]) -> Any:  # noqa: ANN401  (either kind of calibrator)
    """Make a calibrator from the content of its file, with the `own` fields of its kind."""
    wanted = {"method", "columns", "fitted", "parameters", "notes", "form", *own}
    if set(content) != wanted:
        raise FileFormatError(f"a calibrator with the fields {sorted(content)}; expected {sorted(wanted)}.")
    try:
        fitted = content["fitted"]
        # JSON has no tuples, and a list would make equal sources unequal.
        if fitted is not None and isinstance(fitted["prevalence"], list):
            fitted = fitted | {"prevalence": tuple(fitted["prevalence"])}
        return cls(
            form=form_from_json(content["form"]),
            method=str(content["method"]),
            fitted=None if fitted is None else FitSource(**fitted),
            parameters=tuple(Parameter(**each) for each in content["parameters"]),
            columns={str(key): value for key, value in content["columns"].items()},
            notes=tuple(map(str, content["notes"])),
            **{name: content[name] for name in own},
        )
    except (BaserateError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise FileFormatError(f"not a calibrator: {error}") from error


_BLOCK = 1 << 15
"""Scores that fit the CPU cache with intermediate results."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassCalibrator(Renderable, SealedFile):
    """Formula for the probabilities of several classes, and how it was fitted.

    Call it with a matrix of scores that has a column for each of the `labels`, in their order.

    >>> from baserate._calibrator_forms import Softmax
    >>> rarer = MulticlassCalibrator(Softmax(np.ones(2), np.log([0.25, 1.0])), ("cat", "dog"), method="prior")
    >>> rarer([[0.5, 0.5], [0.8, 0.2]]).round(9).tolist()
    [[0.2, 0.8], [0.5, 0.5]]
    >>> rarer
    MulticlassCalibrator(prior, softmax; classes: cat, dog)
    """

    file_kind: ClassVar[FileKind] = MULTICLASS_CALIBRATOR
    form: ClassForm
    labels: tuple[str, ...]
    """Classes, as text."""
    method: str
    fitted: FitSource | None = None
    """None if the formula was stated, not fitted."""
    parameters: tuple[Parameter, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    """Class -> name of the column that held its score."""
    notes: tuple[str, ...] = ()
    """Warnings about the fit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "columns", FrozenMapping(self.columns))
        if len(self.labels) != self.form.classes or len(set(self.labels)) != len(self.labels):
            raise ShapeError(
                f"{there_are(len(self.labels), 'label')} for {self.form.classes} classes", remedy="give one for each."
            )

    def __repr__(self) -> str:
        fitted = "" if self.fitted is None else f"; fitted on {count_of(self.fitted.rows, 'row')}"
        classes = ", ".join(map(replace_unprintable, self.labels))
        return f"MulticlassCalibrator({self.method}, {describe_form(self)}; classes: {classes}{fitted})"

    def __call__(self, scores: npt.ArrayLike) -> Floats:
        """Return the probabilities of each row; invalid scores are refused, with their positions."""
        array = as_scores(scores)
        if array.ndim != 2 or array.shape[1] != len(self.labels):
            raise ShapeError(
                f"scores have shape {array.shape}", remedy=f"give a column for each of {len(self.labels)} classes."
            )
        probabilities, needs_probabilities = np.empty(array.shape), self.form.of_probabilities

        def fill(place: slice) -> bool:
            x = array[place].astype(np.float64)
            valid = _are_valid(x, of_probabilities=needs_probabilities)
            # Probabilities that are all 0 cannot be normalized.
            valid = valid and (not needs_probabilities or bool((x.sum(axis=1) > 0).all()))
            if valid:
                probabilities[place] = self.form(x)
            return valid

        step = max(_BLOCK // len(self.labels), 1)
        blocks = [slice(start, start + step) for start in range(0, len(array), step)]
        if not all(parallel_map(fill, blocks, size=array.size)):
            _refuse_class_scores(array, of_probabilities=needs_probabilities)
        return probabilities

    def was_fitted_on(self, rows: MulticlassRows) -> bool:
        """Return whether the calibrator was fitted on these rows, on which it looks better than on others."""
        return self.fitted is not None and self.fitted.digest == rows.digest

    def to_json(self) -> str:
        """Return versioned JSON with a checksum that restores every number exactly."""
        content = {"labels": list(self.labels), **file_head(self), "form": form_to_json(self.form)}
        return format_file(MULTICLASS_CALIBRATOR, content)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the JSON of `to_json`, checking its form."""
        calibrator: Self = from_file_content(cls, parse_file(text, MULTICLASS_CALIBRATOR), ("labels",))
        return calibrator


def load_calibrator(source: FileSource) -> Calibrator | MulticlassCalibrator:
    """Read a binary or multiclass calibrator, whichever the file contains.

    Parameters
    ----------
    source
        File that `save` or `baserate calibrate` wrote: its path, or an open file.

    Returns
    -------
    Calibrator or MulticlassCalibrator
        The calibrator.

    Raises
    ------
    FileFormatError
        If the file contains no calibrator, was changed, or was written by a later release. The message names what the
        file contains instead, such as a policy, which `load_policy` reads.
    """
    text = read_text(source, CALIBRATOR.noun)
    # Not by parsing: a broken or later file must fail in the class of its kind, whose message names that.
    if find_file_kind(text) == MULTICLASS_CALIBRATOR:
        return MulticlassCalibrator.from_json(text)
    return Calibrator.from_json(text)


def _refuse_class_scores(scores: npt.NDArray[np.float64], *, of_probabilities: bool) -> None:
    """Refuse rows with scores that are missing, no probabilities, or all 0."""
    # `refuse_scores` takes one number per row: a valid probability, or one that is invalid in the same way.
    refuse_scores(np.where(np.isfinite(scores).all(axis=1), 0.5, np.nan), of_probabilities=False)
    within = ((scores >= 0) & (scores <= 1)).all(axis=1)
    refuse_scores(np.where(within, 0.5, 2.0), of_probabilities=of_probabilities)
    zero = int((scores.sum(axis=1) <= 0).sum())
    raise ShapeError(f"{zero} of {len(scores)} rows give probability 0 to every class", remedy="leave them out.")
