"""ClassMap: a score for each of several classes -> a probability for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._class_rows import MulticlassRows
from baserate._errors import ShapeError
from baserate._files import write_text
from baserate._form_json import as_json
from baserate._forms import ClassForm
from baserate._immutable import FrozenMapping
from baserate._map import (
    KIND as OF_TWO,
    SCHEMA_VERSION,
    Calibrator,
    Fitted,
    Parameter,
    head,
    made_of,
    numbers,
    refuse,
    text_of,
)
from baserate._numeric.threads import mapped
from baserate._plurals import count_of, there_are
from baserate._sealed import opened_json, sealed_json

KIND = "baserate/class-map"
_BLOCK = 1 << 15
"""Numbers that fit the cache with what is computed of them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassCalibrator:
    """A formula for the probabilities of several classes, and where it comes from.

    Call it with an array of scores, a row for each row and a column for each of the `labels`, in their order.

    >>> from baserate._forms import Softmax
    >>> rarer = MulticlassCalibrator(Softmax(np.ones(2), np.log([0.25, 1.0])), ("cat", "dog"), method="prior")
    >>> rarer([[0.5, 0.5], [0.8, 0.2]]).round(9).tolist()
    [[0.2, 0.8], [0.5, 0.5]]
    >>> rarer
    ClassMap(prior, softmax; classes: cat, dog)
    """

    form: ClassForm
    labels: tuple[str, ...]
    """Classes, as text."""
    method: str
    fitted: Fitted | None = None
    """None where nothing was fitted."""
    parameters: tuple[Parameter, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    """Class -> name of the column that held its score."""
    notes: tuple[str, ...] = ()
    """What a reader should know of the fit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "columns", FrozenMapping(self.columns))
        if len(self.labels) != self.form.classes or len(set(self.labels)) != len(self.labels):
            raise ShapeError(
                f"{there_are(len(self.labels), 'label')} for {self.form.classes} classes; give one for each."
            )

    def __repr__(self) -> str:
        fitted = "" if self.fitted is None else f"; fitted on {count_of(self.fitted.rows, 'row')}"
        return f"ClassMap({self.method}, {self.form.kind}; classes: {', '.join(self.labels)}{fitted})"

    def __call__(self, scores: npt.ArrayLike) -> Floats:
        """Probabilities of scores, a row for each row; what is missing or cannot be is refused, with its places."""
        given = numbers(scores)
        if given.ndim != 2 or given.shape[1] != len(self.labels):
            raise ShapeError(f"scores have shape {given.shape}; give a column for each of {len(self.labels)} classes.")
        found = np.empty(given.shape)

        def fill(place: slice) -> bool:
            x = given[place].astype(np.float64)
            fit = bool(x.min() >= 0 and x.max() <= 1) if self.form.of_probabilities else bool(np.isfinite(x).all())
            # What sums to 0 says nothing of any class.
            fit = fit and (not self.form.of_probabilities or bool((x.sum(axis=1) > 0).all()))
            if fit:
                found[place] = self.form(x)
            return fit

        step = max(_BLOCK // len(self.labels), 1)
        blocks = [slice(start, start + step) for start in range(0, len(given), step)]
        if not all(mapped(fill, blocks, size=given.size)):
            _refuse(given, of_probabilities=self.form.of_probabilities)
        return found

    def was_fitted_on(self, rows: MulticlassRows) -> bool:
        """Whether these are the very rows it was fitted on, so that it looks better on them than it is."""
        return self.fitted is not None and self.fitted.digest == rows.digest

    def to_json(self) -> str:
        """Return the map as versioned JSON with a seal; every number survives exactly."""
        content = {"labels": list(self.labels), **head(self), "form": as_json(self.form)}
        return sealed_json(KIND, SCHEMA_VERSION, content)

    @classmethod
    def from_json(cls, text: str) -> MulticlassCalibrator:
        """Read what `to_json` wrote, checking its form."""
        made: MulticlassCalibrator = made_of(
            cls, opened_json(text, [KIND], SCHEMA_VERSION, what="map of classes"), ("labels",)
        )
        return made

    def __reduce__(self) -> tuple[Callable[[str], MulticlassCalibrator], tuple[str]]:
        # Pickled as its file, so that what comes back is checked, and cannot be changed either.
        return MulticlassCalibrator.from_json, (self.to_json(),)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map to a file, as JSON."""
        write_text(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MulticlassCalibrator:
        """Read a map that `save` wrote, in this release or an earlier one."""
        return cls.from_json(text_of(path))


def load_calibrator(path: str | os.PathLike[str]) -> Calibrator | MulticlassCalibrator:
    """Read a map of two classes or of several, whichever the file holds."""
    text = text_of(path)
    written = opened_json(text, [OF_TWO, KIND], SCHEMA_VERSION, what="map")
    return Calibrator.from_json(text) if written["kind"] == OF_TWO else MulticlassCalibrator.from_json(text)


def _refuse(given: npt.NDArray[np.float64], *, of_probabilities: bool) -> None:
    """Say which rows cannot be mapped, and why."""
    # One number stands for each row: a probability where all is well, and otherwise what is wrong.
    refuse(np.where(np.isfinite(given).all(axis=1), 0.5, np.nan), of_probabilities=False)
    within = ((given >= 0) & (given <= 1)).all(axis=1)
    refuse(np.where(within, 0.5, 2.0), of_probabilities=of_probabilities)
    nothing = np.flatnonzero(given.sum(axis=1) <= 0)
    raise ShapeError(f"{len(nothing)} of {len(given)} rows give probability 0 to every class; leave them out.")
