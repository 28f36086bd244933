"""Registry of calibrators: one table, the lookup by name, and `fit`.

To add a calibrator, write a function and add one entry to `CALIBRATORS`: `fit`, `choose`, cross-fitting, the command
line and the documentation then offer it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, TypeVar, overload

import numpy.typing as npt

from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import OptionError, UnknownNameError, nearest, unknown_name
from baserate._rows import MulticlassRows
from baserate.calibration import _nonparametric, _parametric, multiclass
from baserate.calibration._fit_data import Data, add_column_names, pool_tally
from baserate.read import Scores, TableSource, accepts_predictions

BinaryFit = Callable[..., Calibrator]
MulticlassFit = Callable[..., MulticlassCalibrator]
_ONE_VS_REST = "one-vs-rest-"


@dataclass(frozen=True, slots=True)
class CalibratorEntry:
    """A calibrator in the registry: its names, its functions, and which scores it takes."""

    name: str
    """Name for `fit`, `choose` and the command line."""
    summary: str
    """Description in one line."""
    binary: BinaryFit | None = None
    """Function from a tally to a calibrator; None where there is none for two classes."""
    multiclass: MulticlassFit | None = None
    """Function from rows to a multiclass calibrator; None where there is none."""
    one_vs_rest: bool = False
    """Whether the binary function is also offered for each class against the rest."""
    any_score: bool = False
    """Whether it takes any score; otherwise scores must be probabilities."""
    aliases: tuple[str, ...] = ()
    """Other names that are accepted."""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options of the binary function, apart from `probabilities`."""
        if self.binary is None:
            return ()
        fixed = self.binary.keywords if isinstance(self.binary, partial) else {}
        parameters = list(signature(self.binary).parameters)[1:]
        return tuple(name for name in parameters if name not in ("probabilities", "predictions") and name not in fixed)


# The simplest first: among equally good calibrators `choose` takes the first.
CALIBRATORS: tuple[CalibratorEntry, ...] = (
    CalibratorEntry(
        "identity",
        "probabilities without a change",
        _parametric.identity,
        multiclass.identity,
        aliases=("none", "uncalibrated"),
    ),
    CalibratorEntry(
        "offset",
        "a constant added to log-odds, which corrects the prevalence",
        _parametric.offset,
        aliases=("intercept", "calibration-in-the-large"),
    ),
    CalibratorEntry(
        "prior",
        "a bias for each class, which corrects the class shares",
        multiclass=multiclass.prior,
        aliases=("prior-correction",),
    ),
    CalibratorEntry(
        "temperature",
        "log-odds times a slope",
        _parametric.temperature,
        multiclass.temperature,
        aliases=("temperature-scaling",),
    ),
    CalibratorEntry(
        "bias-corrected",
        "temperature scaling with a bias for each class",
        multiclass=multiclass.bias_corrected,
        aliases=("bcts", "bias-corrected-temperature-scaling"),
    ),
    CalibratorEntry(
        "vector", "a slope and a bias for each class", multiclass=multiclass.vector, aliases=("vector-scaling",)
    ),
    CalibratorEntry(
        "logistic",
        "a logistic curve of log-odds or scores (Platt scaling)",
        _parametric.logistic,
        one_vs_rest=True,
        any_score=True,
        aliases=("platt", "platt-scaling", "sigmoid"),
    ),
    CalibratorEntry(
        "beta",
        "a logistic curve with two slopes of ln p and ln(1 − p)",
        _parametric.beta,
        one_vs_rest=True,
        aliases=("beta-calibration",),
    ),
    CalibratorEntry(
        "histogram",
        "the share of positives in bins",
        _nonparametric.histogram,
        any_score=True,
        aliases=("binning", "histogram-binning"),
    ),
    CalibratorEntry(
        "isotonic",
        "isotonic regression, with ties",
        _nonparametric.isotonic,
        one_vs_rest=True,
        any_score=True,
        aliases=("isotonic-regression", "pav", "pava"),
    ),
    CalibratorEntry(
        "strict-isotonic",
        "centered isotonic regression, without ties",
        partial(_nonparametric.isotonic, strict=True),
        any_score=True,
        aliases=("centered-isotonic", "cir"),
    ),
    CalibratorEntry(
        "venn-abers",
        "isotonic regression with two bounds for every score",
        _nonparametric.venn_abers,
        one_vs_rest=True,
        any_score=True,
        aliases=("ivap",),
    ),
)


def _fit_one_vs_rest(
    binary: BinaryFit, rows: MulticlassRows, *, probabilities: bool | None = None
) -> MulticlassCalibrator:
    """Fit each class against the rest; the scores of all classes determine whether they are probabilities."""
    stated = all_probabilities(rows) if probabilities is None else probabilities
    return multiclass.one_vs_rest(rows, partial(binary, probabilities=stated))


def _multiclass_functions(entry: CalibratorEntry) -> dict[str, MulticlassFit]:
    if entry.multiclass is not None:
        return {entry.name: entry.multiclass}
    if entry.one_vs_rest and entry.binary is not None:
        return {_ONE_VS_REST + entry.name: partial(_fit_one_vs_rest, entry.binary)}
    return {}


BINARY_METHODS: Mapping[str, BinaryFit] = {
    entry.name: entry.binary for entry in CALIBRATORS if entry.binary is not None
}
"""Binary calibrators by name, the simplest first."""
MULTICLASS_METHODS: Mapping[str, MulticlassFit] = {
    name: function for entry in CALIBRATORS for name, function in _multiclass_functions(entry).items()
}
"""Multiclass calibrators by name, the simplest first."""
_NAMES = {alias: entry.name for entry in CALIBRATORS for alias in entry.aliases}
"""Alias -> name."""


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
@overload
def fit(
    truth: npt.ArrayLike,
    score: Scores,
    method: str = ...,
    *,
    probabilities: bool | None = ...,
    **options: Any,  # noqa: ANN401
) -> Calibrator: ...
@overload
def fit(
    table: TableSource,
    method: str = ...,
    *,
    probabilities: bool | None = ...,
    **options: Any,  # noqa: ANN401
) -> Calibrator: ...
@accepts_predictions("fit")
def fit(
    data: Data | MulticlassRows, /, method: str = "logistic", *, probabilities: bool | None = None, **options: Any
) -> Calibrator | MulticlassCalibrator:
    """Fit a calibrator to data by the name of its method, or by the method that `choose` selects.

    Parameters
    ----------
    data
        A tally, tallies by group, or rows.
    method
        Name or alias of a method, such as "logistic" or "platt"; or "choose". For several classes, the names of binary
        methods mean one against the rest.
    probabilities
        Whether scores are probabilities; by default they are if those of all rows lie in [0, 1].
    **options
        Options of the method.

    Returns
    -------
    Calibrator or MulticlassCalibrator
        The calibrator, which stores what it was fitted on.

    Raises
    ------
    UnknownNameError
        If there is no such method.
    FitError
        If the data do not determine the calibrator.

    Examples
    --------
    >>> from baserate import calibration, read
    >>> table = {"sick": [0, 1, 0, 1, 1, 0], "risk": [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]}
    >>> calibrator = calibration.fit(read.tallies(table, truth="sick", score="risk"), "logistic")
    >>> calibrator
    Calibrator(logistic, log-odds: intercept -0.07701, slope 0.7207; fitted on 6 rows)
    """
    check_method("fit", method)
    if method == "choose":
        from baserate.calibration._cross_fitting import choose

        return choose(data, probabilities=probabilities, **options).calibrator
    stated = all_probabilities(data) if probabilities is None else probabilities
    if isinstance(data, MulticlassRows):
        return bind_options(find_multiclass, method, options, probabilities=stated)(data)
    calibrator = bind_options(find_binary, method, options, probabilities=stated)(pool_tally(data))
    return add_column_names(calibrator, data)


def all_probabilities(data: Data | MulticlassRows) -> bool:
    """Return whether the scores of all rows and classes lie in [0, 1].

    Cross-fitting decides this once: a fold may lack the few scores that lie outside.
    """
    if not isinstance(data, MulticlassRows):
        return pool_tally(data).probable
    return not data.score.size or bool(data.score.min() >= 0 and data.score.max() <= 1)


def check_method(function: str, method: object) -> None:
    """Refuse anything but a name, above all an array of scores beside an array of labels."""
    if not isinstance(method, str):
        text = f"{type(method).__name__} of {len(method)}" if isinstance(method, Sized) else repr(method)
        what = f"method is {text}; expected a name, such as 'logistic'."
        remedy = f"Tally arrays of labels and scores first: calibration.{function}(baserate.tally(y, p), 'logistic')."
        raise OptionError(what, remedy=remedy, option="method", value=text)


AnyFit = TypeVar("AnyFit")


def bind_options(
    find: Callable[[str], Callable[..., AnyFit]], method: str, options: Mapping[str, Any], *, probabilities: bool
) -> Callable[[Any], AnyFit]:
    """Return the function of a method with its options bound; unknown options raise an error when it is called."""
    function = find(method)
    # Functions that accept probabilities only, as most multiclass ones, have no such option.
    stated = {"probabilities": probabilities} if "probabilities" in signature(function).parameters else {}

    def fit_data(data: object) -> AnyFit:
        try:
            return function(data, **{**stated, **options})
        except (TypeError, UnknownNameError) as error:
            # Any other TypeError is a defect, and must not be reported as an option.
            if "unexpected keyword" not in str(error) and "there is no option" not in str(error):
                raise
            raise OptionError(f"{method} has no option {', '.join(options)}", remedy="leave it out.") from error

    return fit_data


def find_binary(method: str) -> BinaryFit:
    """Return the binary fitting function of a name or an alias.

    >>> find_binary("Platt").__name__
    'logistic'
    """
    return _find_function(BINARY_METHODS, _resolve_alias(method), method)


def find_multiclass(method: str) -> MulticlassFit:
    """Return the multiclass fitting function of a name or an alias; binary names mean one against the rest."""
    name = _resolve_alias(method)
    return _find_function(MULTICLASS_METHODS, name if name in MULTICLASS_METHODS else _ONE_VS_REST + name, method)


def _resolve_alias(method: str) -> str:
    """Return the name in the registry, from an alias in any capitals, with hyphens or underscores."""
    name = method.lower().replace("_", "-")
    prefix = _ONE_VS_REST if name.startswith(_ONE_VS_REST) else ""
    base = name.removeprefix(prefix)
    return prefix + _NAMES.get(base, base)


def _find_function(methods: Mapping[str, AnyFit], name: str, method: str) -> AnyFit:
    """Return the function of a resolved name; the error names the method as the user did."""
    if name in methods:
        return methods[name]
    others = (alias for alias, own in _NAMES.items() if own in methods)
    plain = method.lower().replace("_", "-")
    raise unknown_name("method", method, [*methods, "choose"], near=nearest(plain, [*methods, *others]))
