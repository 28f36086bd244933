"""`prevalence`: the shares of the classes where nobody knows the truth."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import Any, overload

import numpy as np

from baserate._errors import OptionError, UnknownNameError
from baserate._formatting import count_of
from baserate._numeric.logistic import NEAREST
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Tallies, Tally
from baserate._target import MulticlassTarget, Target
from baserate.calibrate import tally_of
from baserate.shift import _several as several
from baserate.shift._several import Shares
from baserate.shift._two._assumption import (
    beside_binned,
    calibration_fit,
    calibration_notes,
    disagreements,
    tested,
)
from baserate.shift._two._bins import jointly
from baserate.shift._two._given import Given
from baserate.shift._two._likelihood import Posterior
from baserate.shift._two._methods import METHODS as OF_TWO, called
from baserate.shift._two._result import Prevalence

METHODS = tuple(dict.fromkeys((*OF_TWO, *several.METHODS)))
"""Names of the methods; hdy and binned are for two classes alone, gmm for several."""
ALIASES = {
    **dict.fromkeys(("em", "emq", "sld", "saerens"), "mlls"),
    **dict.fromkeys(("cm", "bbse-hard", "gacc"), "acc"),
    **dict.fromkeys(("scm", "bbse", "bbse-soft", "gpacc", "smm"), "pacc"),
    "cm-m": "cm-map",
    "scm-m": "scm-map",
    "rlls-soft": "rlls",
    "elsa": "gmm",
}
"""Names that others give to the same method."""

DEFAULT = "binned"
"""Method of two classes: it needs no calibration that could be wrong."""
DEFAULT_OF_CLASSES = "gmm"
"""Method of several classes: it does not depend on whether a calibration is right."""


@overload
def prevalence(
    target: Target,
    validation: Tally | Tallies | Rows,
    *,
    method: str | None = ...,
    level: float = ...,
    **options: Any,  # noqa: ANN401
) -> Prevalence: ...
@overload
def prevalence(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    method: str | None = ...,
    level: float = ...,
    **options: Any,  # noqa: ANN401
) -> Shares: ...
def prevalence(
    target: Any, validation: Any, *, method: str | None = None, level: float = 0.95, **options: Any
) -> Prevalence | Shares:
    """Estimate the share of the positive class, or of each of several, among scores without truth.

    It assumes label shift: the scores of each class are distributed as in the validation set, and only the shares of
    the classes differ; `label_shift` tests that. The interval includes how few rows validation has. `METHODS` names the
    methods, and `ALIASES` what others call them. Without one it is the likelihood of histograms, "binned", which needs
    no calibration; of several classes moments, "gmm". Notes say where tests reject what the estimate rests on. Options
    are those of the method: `bins` of binned, `recalibrate` and `at` of mlls and gmm, `threshold` of those with hard
    decisions, `alpha` of those with a prior or a penalty. A `MulticlassTarget` and `MulticlassRows` give `Shares` of
    the classes.

    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> validation = tally(truth, rng.normal(1.5 * truth, 1.0))
    >>> target = Target(rng.normal(1.5 * (rng.random(5000) < 0.1), 1.0))
    >>> shift.prevalence(target, validation)
    Prevalence(0.105078, 0.0656881 to 0.140993, by binned)
    """
    if isinstance(target, MulticlassTarget):
        return _of_classes(
            target, validation, resolve_method(method or DEFAULT_OF_CLASSES), {"level": level, **options}
        )
    name = _check_two(resolve_method(method or DEFAULT))
    given = Given(target, tally_of(validation), level)
    given.check_information()
    found = _of_two(given, name, options)
    labelled = 0 if target.labelled is None else int(target.labelled.rows.sum(dtype=np.int64))
    notes = (*found.notes, *_certain(given, found), *given.notes())
    return replace(found, rows=len(target), labelled=labelled, notes=notes)


def _of_two(given: Given, name: str, options: dict[str, Any]) -> Prevalence:
    """Estimate, and test what the estimate rests on."""
    found: Prevalence
    if name == "binned":
        found, joint = called(jointly, (given,), name, options)
        tests = tested(given, found, joint)
        return replace(found, checks=tests.checks, notes=(*found.notes, *disagreements(given, found, tests)))
    found = called(OF_TWO[name], (given,), name, options)
    if name != "mlls":
        return found
    assert found.at is not None  # noqa: S101  (for the type checker)
    fitted = options.get("recalibrate", True) in (True, "logistic")
    check = calibration_fit(given, Posterior(found.map, found.at), fitted=fitted)
    notes = (*found.notes, *calibration_notes(check), *beside_binned(given, check))
    return replace(found, checks=(check,), notes=notes)


def _of_classes(target: MulticlassTarget, validation: MulticlassRows, name: str, options: dict[str, Any]) -> Shares:
    if not isinstance(validation, MulticlassRows):
        raise OptionError(f"{type(validation).__name__} has no score for each class; give ClassRows for a ClassTarget.")
    found: Shares = called(several.method(name), (target, validation), name, options)
    return found


def _check_two(name: str) -> str:
    """Refuse a method that is for several classes alone."""
    if name in OF_TWO:
        return name
    raise OptionError(f"{name} is for several classes; of two, take one of {', '.join(OF_TWO)}.")


def resolve_method(method: str) -> str:
    """Find the method of that name, or of another name for it.

    >>> resolve_method("BBSE"), resolve_method("Saerens")
    ('pacc', 'mlls')
    """
    wanted = method.lower().replace("_", "-").replace(" ", "-")
    name = ALIASES.get(wanted, wanted)
    if name not in METHODS:
        raise UnknownNameError(f"no method is called {method!r}; known are: {', '.join([*METHODS, *ALIASES])}.")
    return name


def options_of(name: str, *, many: bool = False) -> tuple[str, ...]:
    """Name the options that a method has besides the level, of two classes or of many.

    >>> options_of("mlls"), options_of("acc"), options_of("acc", many=True)
    (('recalibrate', 'at'), ('threshold',), ())
    """
    function = several.method(name) if many else OF_TWO[_check_two(name)]
    kinds = signature(function).parameters.values()
    return tuple(each.name for each in kinds if each.kind is each.KEYWORD_ONLY and each.name != "level")


def _certain(given: Given, found: Prevalence) -> tuple[str, ...]:
    """Tell how many rows of the target have no finite log-odds."""
    if found.map is None or not found.map.form.of_probabilities:
        return ()
    score, rows = given.score, given.target.rows
    there = (score < NEAREST) | (score > 1 - NEAREST)
    many = int(there.sum() if rows is None else rows[there].sum())
    certain = count_of(many, "row of the target has", "rows of the target have")
    return (f"{certain} a probability of 0 or 1, or next to it.",) if many else ()
