"""Methods by name, and data of any kind -> Map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from functools import partial
from inspect import signature
from typing import Any, TypeVar, overload

from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import OptionError, UnknownNameError
from baserate._rows import MulticlassRows
from baserate.calibrate import multiclass
from baserate.calibrate._beta import beta
from baserate.calibrate._closed import identity, logistic, offset, temperature
from baserate.calibrate._data import Data, remembered, tally_of
from baserate.calibrate._pieces import histogram, isotonic, venn_abers

Method = Callable[..., Calibrator]
ClassMethod = Callable[..., MulticlassCalibrator]

METHODS: Mapping[str, Method] = {
    "identity": identity,
    "offset": offset,
    "temperature": temperature,
    "logistic": logistic,
    "beta": beta,
    "histogram": histogram,
    "isotonic": isotonic,
    "strict-isotonic": partial(isotonic, strict=True),
    "venn-abers": venn_abers,
}
"""Of two classes, the simplest first."""


def _one_vs_rest(method: Method, rows: MulticlassRows, *, probabilities: bool | None = None) -> MulticlassCalibrator:
    """Fit each class against the rest; the scores of all classes together decide whether they are probabilities."""
    stated = all_probabilities(rows) if probabilities is None else probabilities
    return multiclass.one_vs_rest(rows, partial(method, probabilities=stated))


CLASS_METHODS: Mapping[str, ClassMethod] = {
    **multiclass.METHODS,
    "one-vs-rest-logistic": partial(_one_vs_rest, logistic),
    "one-vs-rest-beta": partial(_one_vs_rest, beta),
    "one-vs-rest-isotonic": partial(_one_vs_rest, isotonic),
    "one-vs-rest-venn-abers": partial(_one_vs_rest, venn_abers),
}
"""Of several classes."""


@overload
def fit(data: Data, method: str = ..., *, probabilities: bool | None = ..., **options: Any) -> Calibrator: ...  # noqa: ANN401
@overload
def fit(
    data: MulticlassRows,
    method: str = ...,
    *,
    probabilities: bool | None = ...,
    **options: Any,  # noqa: ANN401
) -> MulticlassCalibrator: ...
def fit(
    data: Data | MulticlassRows,
    method: str = "logistic",
    *,
    probabilities: bool | None = None,
    **options: Any,
) -> Calibrator | MulticlassCalibrator:
    """Fit a map to data by the method of that name, or by the one that `choose` picks; options are those of the method.

    Of several classes the plain names of what works on one score mean one against the rest. `probabilities` says
    whether scores are probabilities; by default they are if those of all rows lie in [0, 1].

    >>> from baserate import calibrate, read
    >>> table = {"sick": [0, 1, 0, 1, 1, 0], "risk": [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]}
    >>> found = calibrate.fit(read.tallies(table, truth="sick", score="risk"), "logistic")
    >>> found, dict(found.columns)
    (Calibrator(logistic, log-odds; fitted on 6 rows), {'truth': 'sick', 'score': 'risk'})
    """
    check_method("fit", method)
    if method == "choose":
        from baserate.calibrate._choose import choose

        return choose(data, probabilities=probabilities, **options).map
    stated = all_probabilities(data) if probabilities is None else probabilities
    if isinstance(data, MulticlassRows):
        return with_options(class_method, method, options, probabilities=stated)(data)
    return remembered(with_options(named, method, options, probabilities=stated)(tally_of(data)), data)


def all_probabilities(data: Data | MulticlassRows) -> bool:
    """Whether the scores of all rows, of all classes, lie in [0, 1].

    Cross-fitting decides it once: a fold may lack the few scores that lie outside.
    """
    if not isinstance(data, MulticlassRows):
        return tally_of(data).probable
    return not data.score.size or bool(data.score.min() >= 0 and data.score.max() <= 1)


def check_method(function: str, method: object) -> None:
    """Refuse anything but a name, above all an array of scores beside an array of labels."""
    if not isinstance(method, str):
        what = f"{type(method).__name__} of {len(method)}" if isinstance(method, Sized) else repr(method)
        raise OptionError(
            f"method is {what}; expected a name, such as 'logistic'. Tally arrays of labels and scores first: "
            f"calibrate.{function}(baserate.tally(y, p), 'logistic')."
        )


Made = TypeVar("Made")


def with_options(
    find: Callable[[str], Callable[..., Made]], method: str, options: Mapping[str, Any], *, probabilities: bool
) -> Callable[[Any], Made]:
    """The method of that name with its options bound; what it has not is refused.

    Methods that take scores other than probabilities are told whether these are such.
    """
    function = find(method)
    stated = {"probabilities": probabilities} if "probabilities" in signature(function).parameters else {}

    def fitted(data: object) -> Made:
        try:
            return function(data, **{**stated, **options})
        except TypeError as error:
            if "unexpected keyword" not in str(error):
                raise
            raise OptionError(f"{method} has no option {', '.join(options)}; leave it out.") from error

    return fitted


def named(method: str) -> Method:
    """The method of that name, of two classes."""
    return _found(METHODS, method)


def class_method(method: str) -> ClassMethod:
    """The method of that name, of several classes."""
    return _found(CLASS_METHODS, method if method in CLASS_METHODS else f"one-vs-rest-{method}", shown=method)


def _found(known: Mapping[str, Made], name: str, shown: str | None = None) -> Made:
    if name in known:
        return known[name]
    from difflib import get_close_matches

    asked = shown or name
    near = get_close_matches(asked.replace("_", "-"), known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UnknownNameError(f"there is no method {asked!r}.{hint} Known are: {', '.join(known)}, and choose.")
