"""Prevalence estimators: the registry of methods, their lookup by name, and `estimate_prevalence`, which applies one.

To add an estimator, write one function for two classes, for several, or for both, and add one entry to `ESTIMATORS`.
Lookup by name and alias, the choices of the command line, the options of each method and the laws in the tests follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from baserate._domains import ShareLike, parse_share
from baserate._errors import OptionError, keyword, unknown_name
from baserate._formatting import count_of
from baserate._numeric.logistic import PROBABILITY_CLIP
from baserate._rows import MulticlassRows, MulticlassTarget, Rows, Target
from baserate._tally import Tallies, Tally
from baserate.calibration import pool_tally
from baserate.read import Scores, TableSource, accepts_target
from baserate.shift import _moment_matching as moment_matching
from baserate.shift._data import BinaryData, MulticlassPrevalence, Prevalence
from baserate.shift._distribution_matching import dys, kdey_cs, kdey_hd, kdey_ml
from baserate.shift._label_shift import (
    binned_note,
    calibration_notes,
    check_binned,
    check_calibration,
    disagreement_notes,
)
from baserate.shift._maximum_likelihood import Posterior, RecalibrateOption, binary_mlls, fit_binned, hdy
from baserate.shift._multiclass_kernels import multiclass_kdey_cs, multiclass_kdey_hd, multiclass_kdey_ml
from baserate.shift._multiclass_likelihood import multiclass_gmm, multiclass_mlls
from baserate.shift._threshold_selection import binary_max, binary_ms, binary_ms2, binary_t50, binary_x

BinaryFunction = Callable[..., Prevalence]
"""`(BinaryData, *, options) -> Prevalence`."""
MulticlassFunction = Callable[..., MulticlassPrevalence]
"""`(MulticlassTarget, MulticlassRows, *, level, options) -> MulticlassPrevalence`."""


@dataclass(frozen=True, slots=True)
class Estimator:
    """A method that estimates the prevalence of each class in unlabelled data.

    Every estimator assumes label shift: each class scores as in the validation data, and only the prevalences differ.
    """

    name: str
    description: str
    """What the method does, in one line."""
    assumption: str
    """What the method assumes besides label shift."""
    aliases: tuple[str, ...] = ()
    """Names of the same method in the literature and in other packages, such as QuaPy."""
    binary: BinaryFunction | None = None
    """Estimator for two classes; None if the method is for several classes only."""
    multiclass: MulticlassFunction | None = None
    """Estimator for several classes; None if the method is for two classes only."""

    def options(self, *, many: bool = False) -> tuple[str, ...]:
        """Name the options besides the level, for two classes or for many."""
        function = self.multiclass if many else self.binary
        parameters = () if function is None else signature(function).parameters.values()
        return tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name != "level")


def _binned_with_tests(data: BinaryData, *, bins: int | list[float] | None = None) -> Prevalence:
    """Estimate by `binned`, and test label shift on the same histograms."""
    estimate, joint = fit_binned(data, bins)
    tests = check_binned(data, estimate, joint)
    return replace(estimate, checks=tests.checks, notes=(*estimate.notes, *disagreement_notes(data, estimate, tests)))


def _mlls_with_test(
    data: BinaryData, *, recalibrate: RecalibrateOption = True, sample_prevalence: float | None = None
) -> Prevalence:
    """Estimate by `mlls`, and test whether its calibration fits the validation data."""
    estimate = binary_mlls(data, recalibrate=recalibrate, sample_prevalence=sample_prevalence)
    assert estimate.sample_prevalence is not None  # noqa: S101  (for the type checker)
    # A fitted curve has used up degrees of freedom of the test; a given calibrator has not.
    fitted = recalibrate in (True, "logistic")
    check = check_calibration(data, Posterior(estimate.calibrator, estimate.sample_prevalence), fitted=fitted)
    notes = (*estimate.notes, *calibration_notes(check), *binned_note(data, check))
    return replace(estimate, checks=(check,), notes=notes)


_NO_CALIBRATION = "none: scores need not be calibrated"
_FIXED_BINS = "scores are probabilities, and validation has many rows for each bin"
_PROBABILITIES = "none: probabilities need not be calibrated"

# Two classes are not computed as K = 2 of several: results would differ. A binary score has one threshold and lives in
# a tally; its intervals are Fieller's or of the profile likelihood. Those of several classes use the delta method on
# rows, which is not exact near 0 and 1. Where points agree, as of acc and pacc, they do so to rounding, not bitwise.
ESTIMATORS: tuple[Estimator, ...] = (
    Estimator(
        "binned",
        "Maximum likelihood of score histograms, in which both samples are random.",
        _NO_CALIBRATION,
        binary=_binned_with_tests,
    ),
    Estimator(
        "gmm",
        "Generalized method of moments: mean probabilities and likelihood ratios, weighted by precision.",
        "none: with a wrong calibration it is less precise, not biased",
        aliases=("elsa",),
        multiclass=multiclass_gmm,
    ),
    Estimator(
        "mlls",
        "Maximum likelihood label shift: the maximum that EM approaches, found exactly.",
        "posteriors are calibrated, after recalibration on the validation data",
        aliases=("em", "emq", "sld", "saerens"),
        binary=_mlls_with_test,
        multiclass=multiclass_mlls,
    ),
    Estimator(
        "acc",
        "Adjusted classify and count: solves the confusion matrix for the prevalence.",
        _NO_CALIBRATION,
        aliases=("cm", "bbse-hard", "gacc"),
        binary=moment_matching.binary_acc,
        multiclass=moment_matching.multiclass_acc,
    ),
    Estimator(
        "pacc",
        "Probabilistic adjusted classify and count: solves mean scores for the prevalence.",
        _PROBABILITIES,
        aliases=("scm", "bbse", "bbse-soft", "gpacc", "smm"),
        binary=moment_matching.binary_pacc,
        multiclass=moment_matching.multiclass_pacc,
    ),
    Estimator(
        "cm-l",
        "Maximum likelihood of the decisions, given the confusion matrix.",
        _NO_CALIBRATION,
        binary=moment_matching.binary_cm_l,
        multiclass=moment_matching.multiclass_cm_l,
    ),
    Estimator(
        "scm-l",
        "Maximum likelihood of mean probabilities, treated as counts.",
        _PROBABILITIES,
        binary=moment_matching.binary_scm_l,
        multiclass=moment_matching.multiclass_scm_l,
    ),
    Estimator(
        "cm-map",
        "Maximum a posteriori of the decisions, with a Dirichlet prior.",
        "a Dirichlet prior with the parameter alpha",
        aliases=("cm-m",),
        binary=moment_matching.binary_cm_map,
        multiclass=moment_matching.multiclass_cm_map,
    ),
    Estimator(
        "scm-map",
        "Maximum a posteriori of mean probabilities, with a Dirichlet prior.",
        "a Dirichlet prior with the parameter alpha",
        aliases=("scm-m",),
        binary=moment_matching.binary_scm_map,
        multiclass=moment_matching.multiclass_scm_map,
    ),
    Estimator(
        "rlls",
        "Regularized learning under label shift, by mean probabilities.",
        "class weights near 1, as far as alpha penalizes others",
        aliases=("rlls-soft",),
        binary=moment_matching.binary_rlls,
        multiclass=moment_matching.multiclass_rlls,
    ),
    Estimator(
        "rlls-hard",
        "Regularized learning under label shift, by decisions.",
        "class weights near 1, as far as alpha penalizes others",
        binary=moment_matching.binary_rlls_hard,
        multiclass=moment_matching.multiclass_rlls_hard,
    ),
    Estimator(
        "hdy",
        "Minimum Hellinger distance between histograms of posteriors.",
        "scores are probabilities, and validation has many rows for each of its bins",
        binary=hdy,
    ),
    Estimator(
        "dys",
        "Least divergence between histograms of posteriors, Hellinger's or Topsøe's.",
        _FIXED_BINS,
        binary=dys,
    ),
    Estimator(
        "kdey-hd",
        "Least Hellinger distance between kernel densities of posteriors.",
        "scores are probabilities",
        aliases=("kdey", "kdeyhd"),
        binary=kdey_hd,
        multiclass=multiclass_kdey_hd,
    ),
    Estimator(
        "kdey-cs",
        "Least Cauchy–Schwarz divergence between kernel densities of posteriors.",
        "scores are probabilities",
        aliases=("kdeycs",),
        binary=kdey_cs,
        multiclass=multiclass_kdey_cs,
    ),
    Estimator(
        "kdey-ml",
        "Maximum likelihood of the posteriors under kernel densities of the classes.",
        "a bandwidth so small that the bias of smoothing is negligible",
        aliases=("kdeyml",),
        binary=kdey_ml,
        multiclass=multiclass_kdey_ml,
    ),
    Estimator(
        "t50",
        "Adjusted classify and count at the threshold with a TPR of one half.",
        _NO_CALIBRATION,
        binary=binary_t50,
    ),
    Estimator(
        "max",
        "Adjusted classify and count at the threshold of greatest TPR − FPR.",
        _NO_CALIBRATION,
        aliases=("tmax",),
        binary=binary_max,
    ),
    Estimator(
        "x",
        "Adjusted classify and count at the threshold where FPR is 1 − TPR.",
        _NO_CALIBRATION,
        aliases=("tx",),
        binary=binary_x,
    ),
    Estimator(
        "ms",
        "Median sweep: the median of adjusted classify and count over all thresholds.",
        _NO_CALIBRATION,
        aliases=("median-sweep",),
        binary=binary_ms,
    ),
    Estimator(
        "ms2",
        "Median sweep over thresholds with TPR − FPR above 0.25.",
        _NO_CALIBRATION,
        aliases=("median-sweep-2",),
        binary=binary_ms2,
    ),
)
"""All methods, in the order of lists and messages."""

BINARY_METHODS: dict[str, BinaryFunction] = {each.name: each.binary for each in ESTIMATORS if each.binary}
MULTICLASS_METHODS: dict[str, MulticlassFunction] = {
    each.name: each.multiclass for each in ESTIMATORS if each.multiclass
}
METHODS = tuple(dict.fromkeys((*BINARY_METHODS, *MULTICLASS_METHODS)))
"""Names of the methods; some are for two classes only, `gmm` for several only."""
_BY_NAME = {each.name: each for each in ESTIMATORS}
ALIASES = {alias: name for name in METHODS for alias in _BY_NAME[name].aliases}
"""Other names of a method -> its name."""

DEFAULT_METHOD = "binned"
"""Method for two classes: it needs no calibration that could be wrong."""
DEFAULT_MULTICLASS_METHOD = "gmm"
"""Method for several classes: it does not depend on whether a calibration is right."""


@overload
def estimate_prevalence(
    target: Target,
    validation: Tally | Tallies | Rows,
    *,
    method: str | None = ...,
    level: ShareLike = ...,
    **options: Any,  # noqa: ANN401
) -> Prevalence: ...
@overload
def estimate_prevalence(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    method: str | None = ...,
    level: ShareLike = ...,
    **options: Any,  # noqa: ANN401
) -> MulticlassPrevalence: ...
@overload
def estimate_prevalence(
    target: npt.ArrayLike,
    truth: npt.ArrayLike,
    score: Scores,
    /,
    *,
    method: str | None = ...,
    level: ShareLike = ...,
    **options: Any,  # noqa: ANN401
) -> Prevalence: ...
@overload
def estimate_prevalence(
    target: TableSource,
    validation: TableSource,
    /,
    *,
    method: str | None = ...,
    level: ShareLike = ...,
    **options: Any,  # noqa: ANN401
) -> Prevalence: ...
@accepts_target
def estimate_prevalence(
    target: Any, validation: Any, /, *, method: str | None = None, level: ShareLike = 0.95, **options: Any
) -> Prevalence | MulticlassPrevalence:
    """Estimate the prevalence of the positive class, or of each of several classes, in unlabelled data.

    The estimate assumes label shift: each class scores as in the validation data, and only the prevalences differ.
    `label_shift_test` tests that assumption. The interval includes the uncertainty from the validation sample.

    Parameters
    ----------
    target : Target or MulticlassTarget
        Scores without labels; some rows may be labelled.
    validation : Tally, Tallies, Rows or MulticlassRows
        Labelled scores of the same model; `MulticlassRows` for a `MulticlassTarget`.
    method : str, optional
        One of `METHODS` or of their `ALIASES`. The default is "binned" for two classes, which needs no calibration,
        and "gmm" for several.
    level : float, default 0.95
        Confidence level of the interval.
    **options
        Options of the method: `bins` of binned and dys, `divergence` of dys, `bandwidth` of kdey-hd, kdey-cs and
        kdey-ml, `recalibrate` and `sample_prevalence` of mlls and gmm, `threshold` of methods that use hard decisions
        (two classes only), `alpha` of methods with a prior or a penalty; `delta` of rlls, `points` and `seed` of
        kdey-hd (several classes only).

    Returns
    -------
    Prevalence or MulticlassPrevalence
        The estimate with its interval; notes say which tests reject its assumptions. For a `MulticlassTarget` the
        second.

    Raises
    ------
    UnknownNameError
        If no method has that name.
    OptionError
        If the method has no such option, or is not for this number of classes.
    FitError
        If scores do not separate the classes in the validation data, so that no prevalence can be excluded.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> validation = tally(truth, rng.normal(1.5 * truth, 1.0))
    >>> target = Target(rng.normal(1.5 * (rng.random(5000) < 0.1), 1.0))
    >>> shift.estimate_prevalence(target, validation)
    Prevalence(0.105078, 0.0656881 to 0.140993, by binned)
    """
    level = parse_share(level)
    if isinstance(target, MulticlassTarget):
        name = resolve_method(method or DEFAULT_MULTICLASS_METHOD)
        return _estimate_multiclass(target, validation, name, {"level": level, **options})
    name = resolve_method(method or DEFAULT_METHOD)
    function = _binary_function(name)
    data = BinaryData(target, pool_tally(validation), level)
    # Before any method, so that all refuse useless scores with the same message.
    data.check_information()
    estimate: Prevalence = call_with_options(function, (data,), name, options)
    labelled = 0 if target.labelled is None else int(target.labelled.rows.sum(dtype=np.int64))
    notes = (*estimate.notes, *_extreme_scores_note(data, estimate), *data.notes())
    return replace(estimate, rows=len(target), labelled=labelled, notes=notes)


def _estimate_multiclass(
    target: MulticlassTarget, validation: MulticlassRows, name: str, options: dict[str, Any]
) -> MulticlassPrevalence:
    if not isinstance(validation, MulticlassRows):
        raise OptionError(
            f"{type(validation).__name__} has no score for each class",
            remedy="give MulticlassRows for a MulticlassTarget.",
        )
    shares: MulticlassPrevalence = call_with_options(_multiclass_function(name), (target, validation), name, options)
    return shares


def _binary_function(name: str) -> BinaryFunction:
    """Return the function for two classes, or raise if the method is for several only."""
    if name in BINARY_METHODS:
        return BINARY_METHODS[name]
    raise OptionError(f"{name} is for several classes", remedy=f"for two, use one of {', '.join(BINARY_METHODS)}.")


def _multiclass_function(name: str) -> MulticlassFunction:
    """Return the function for several classes, or raise if the method is for two only."""
    if name in MULTICLASS_METHODS:
        return MULTICLASS_METHODS[name]
    raise OptionError(
        f"{name} uses a single score, so it is for two classes",
        remedy=f"for several, use one of {', '.join(MULTICLASS_METHODS)}.",
    )


def resolve_method(method: str) -> str:
    """Return the name of the method that has this name or alias; case, spaces and underscores do not matter.

    >>> resolve_method("BBSE"), resolve_method("Saerens")
    ('pacc', 'mlls')
    """
    key = method.lower().replace("_", "-").replace(" ", "-")
    name = ALIASES.get(key, key)
    if name not in METHODS:
        raise unknown_name("method", method, [*METHODS, *ALIASES])
    return name


def method_options(name: str, *, many: bool = False) -> tuple[str, ...]:
    """Name the options that a method has besides the level, for two classes or for many.

    >>> method_options("mlls"), method_options("acc"), method_options("acc", many=True)
    (('recalibrate', 'sample_prevalence'), ('threshold',), ())
    """
    (_multiclass_function if many else _binary_function)(name)  # raises if there is no such function
    return _BY_NAME[name].options(many=many)


def call_with_options(
    function: Callable[..., Any], data: tuple[Any, ...], name: str, options: Mapping[str, Any]
) -> Any:  # noqa: ANN401  (what the function returns)
    """Call a method with its options; refuse options that it does not have."""
    accepted = list(signature(function).parameters)[len(data) :]
    unknown = [option for option in options if option not in accepted]
    if unknown:
        has = f"its options are {', '.join(accepted)}" if accepted else "it has no options"
        of_mlls = name == DEFAULT_METHOD and unknown[0] in ("recalibrate", "sample_prevalence")
        other = f"; {keyword('method', 'mlls')} takes it" if of_mlls else ""
        raise OptionError(f"{keyword(unknown[0])} has no use for {name}; {has}{other}.")
    return function(*data, **options)


def _extreme_scores_note(data: BinaryData, estimate: Prevalence) -> tuple[str, ...]:
    """Note how many rows of the target have no finite log-odds."""
    if estimate.calibrator is None or not estimate.calibrator.form.of_probabilities:
        return ()
    score, rows = data.score, data.target.rows
    extreme = (score < PROBABILITY_CLIP) | (score > 1 - PROBABILITY_CLIP)
    many = int(extreme.sum() if rows is None else rows[extreme].sum())
    certain = count_of(many, "unlabelled row has", "unlabelled rows have")
    return (f"{certain} a probability of 0 or 1, or next to it.",) if many else ()
