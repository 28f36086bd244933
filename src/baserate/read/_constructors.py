"""The types of two and of several classes, made from predictions in any form: arrays, tables, files, classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt

from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.read import _arrays, _multiclass_arrays
from baserate.read._coercion import NOUNS, check_options, coerce
from baserate.read._decorators import accepts_predictions
from baserate.read._predictions import CHOICES, OwnData, PredictionOptions, Scores, TableSource

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")


class Constructor(Protocol[P, R_co]):
    """A function of two arrays, or of a table and the names of its columns."""

    __name__: str

    @overload
    def __call__(self, truth: npt.ArrayLike, score: Scores, /, *args: P.args, **options: P.kwargs) -> R_co: ...
    @overload
    def __call__(
        self, data: TableSource | OwnData | MulticlassRows, /, **options: Unpack[PredictionOptions]
    ) -> R_co: ...
    @overload
    def __call__(
        self,
        *,
        truth: npt.ArrayLike,
        score: Scores = ...,
        predicted: npt.ArrayLike = ...,
        weight: npt.ArrayLike | None = ...,
        count: npt.ArrayLike | None = ...,
        positive: object = ...,
        labels: Iterable[object] | None = ...,
    ) -> R_co: ...


def _accepts_tables(
    noun: str,
) -> Callable[[Callable[Concatenate[npt.ArrayLike, npt.ArrayLike, P], R]], Constructor[P, R]]:
    """Let a function of two arrays take predictions in any form, and make a noun of `NOUNS` of them."""
    known = {*NOUNS[noun].roles, *CHOICES}

    def decorate(function: Any) -> Any:
        name = function.__name__

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            check_options(name, options, known)
            if len(args) == 2 and all(isinstance(each, np.ndarray) and each.ndim == 1 for each in args):
                return function(args[0], args[1], **options)
            data, rest = coerce(name, noun, args, options, frozenset())
            if rest:
                raise OptionError(f"{name} was given {len(args)} arrays; expected two.", remedy="Name all others.")
            return data

        return call

    return decorate


tally = _accepts_tables("tally")(_arrays.tally)
confusion = _accepts_tables("confusion")(_multiclass_arrays.confusion)
class_scores = _accepts_tables("class rows")(_multiclass_arrays.class_scores)


@accepts_predictions("curve")
def curve(curve: Tally | Curve, **predictions: Unpack[PredictionOptions]) -> Curve:
    """Make the curve of predictions: confusion matrices at all thresholds.

    Parameters
    ----------
    curve
        A tally.

    Returns
    -------
    Curve
        Confusion matrices at all thresholds, from the strictest on.

    Examples
    --------
    >>> from baserate import tally
    >>> curve([1, 0, 1], [0.9, 0.6, 0.4]).at(0.5).tp
    1.0
    >>> curve(tally([1, 0, 1], [0.9, 0.6, 0.4])).at(0.5).tp
    1.0
    """
    return curve if isinstance(curve, Curve) else Curve(curve)
