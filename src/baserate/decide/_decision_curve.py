"""Decision curves: net benefit of models against the threshold probability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import HARM, SHARE, ShareLike, check_domain, parse_share, parse_shares, unused_option
from baserate._errors import NotBinaryError, NotNumericError, OptionError, ShapeError, unknown_name
from baserate._formatting import format_exact, format_share
from baserate._numeric.cumulative import run_in_background
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.decide._decision_bands import BAND_METHOD, combination_covariance, local_level
from baserate.infer import (
    FIXED_METHOD,
    LINEAR_FIXED_METHOD,
    LINEAR_METHOD,
    EstimateRequest,
    Seed,
    bound_weighted_cells,
    make_generator,
)
from baserate.measure import (
    check_probabilities,
    check_tallies,
    concatenate,
    flag_rate,
    group_attributes,
    net_benefit,
    net_reduction,
    results_data,
    standardized_net_benefit,
    threshold_odds,
)
from baserate.read import PredictionOptions, accepts_predictions
from baserate.shift import check_prevalence, reprior_threshold as score_threshold, reweigh

STRATEGIES = ("model", "all", "none")
_TOLERANCE = 1e-12
"""Difference that rounding can cause."""
CalibrationPrevalence = ShareLike | Literal["deployment"] | None
"""Prevalence at which scores are calibrated: a number, or the deployment prevalence; None is that of the data."""
Harm = ShareLike | Mapping[str, ShareLike] | None
"""Harm of applying a test, in units of net benefit: a number, or one for each model by name; None is 0."""


@accepts_predictions("tallies")
def net_benefit_curve(  # noqa: PLR0913  (options by name)
    tallies: Tallies,
    *,
    thresholds: npt.ArrayLike | None = None,
    prevalence: ShareLike | None = None,
    sample_prevalence: CalibrationPrevalence = None,
    harm: Harm = None,
    level: ShareLike | None = 0.95,
    simultaneous: bool = False,
    seed: Seed = 0,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    r"""Tabulate net benefit against the threshold probability: the decision curve [@vickers2006].

    At each threshold probability there are three strategies: to flag by the `model`, to flag `all`, and to flag
    `none`, whose net benefit is 0. The scores must be probabilities.

    At a stated prevalence, masses are reweighted (`shift.reweigh`) and scores adjusted (`shift.reprior`), since a
    probability that is calibrated in the sample is not at another prevalence.

    A test that is costly or invasive harms everybody whom it is applied to. Its `harm` is subtracted from the net
    benefit of the model: 0.01 if a clinician would apply the test to at most 100 people to find one more positive.

    Rows with a weight, such as the inverse probability of the treatment that they had, are reweighted: intervals follow
    from the squares of the weights (robust variance), and take the weights as known.

    Parameters
    ----------
    tallies
        Data of one or several models, in groups or not.
    thresholds
        Threshold probabilities from 0 to below 1; 0.01 to 0.99 by default.
    prevalence
        Deployment prevalence, where it is not that of the data.
    sample_prevalence
        Prevalence at which the scores are calibrated, such as that of the training data; that of the data by default.
        "deployment" keeps the scores: they are calibrated at the deployment prevalence already, or are to be evaluated
        unadjusted.
    harm
        Harm of applying the test, in units of net benefit, from 0 to 1: of all models, or of each by name.
    level
        Confidence level of the intervals; None for no intervals.
    simultaneous
        False for intervals of each threshold by itself. True for bands that contain the curves of all models at all
        thresholds together: sup-t bands [@montielolea2019], with Bonferroni's correction for the number of models. Each
        group, and each of the three columns with bounds, has bands of its own.
    seed
        Seed or NumPy generator of simultaneous bands.

    Returns
    -------
    Results
        One row per model, group, strategy and threshold: `net_benefit` with `low` and `high`, `standardized` and
        `net_reduction` as in `baserate.measure`, each with bounds `_low` and `_high`, and with the harm subtracted;
        `tp_rate`, `fp_rate` and `flag_rate` are shares of all. `data["useful"]` lists the ranges where a model beats
        both other strategies, `data["scores"]` the adjustment.

    Examples
    --------
    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0, 0], "risk": [0.9, 0.6, 0.4, 0.2, 0.1]}, truth="sick", score="risk")
    >>> results = net_benefit_curve(t, thresholds=[0.1, 0.3, 0.5])
    >>> [(row["strategy"], row["threshold"], round(row["net_benefit"], 3)) for row in results.rows()][1:6]
    [('model', 0.3, 0.314), ('model', 0.5, 0.0), ('all', 0.1, 0.333), ('all', 0.3, 0.143), ('all', 0.5, -0.2)]
    >>> results.data["useful"]
    [{'model': None, 'group': None, 'ranges': [[0.3, 0.3]]}]
    >>> net_benefit_curve(t, thresholds=[0.1], prevalence=0.1).data["scores"]
    {'adjusted': True, 'sample_prevalence': 0.4, 'prevalence': 0.1}
    >>> results = net_benefit_curve(t, thresholds=[0.3], harm=0.05, level=None)
    >>> [(row["strategy"], round(row["net_benefit"], 3)) for row in results.rows()]
    [('model', 0.264), ('all', 0.143), ('none', 0.0)]
    """
    prevalence, level = parse_share(prevalence), parse_share(level)
    check_tallies(tallies)
    at = as_threshold_probabilities(thresholds)
    if level is not None:
        EstimateRequest(level)
    elif simultaneous:
        raise unused_option("simultaneous", simultaneous, "there are no intervals; leave it out, or give a level")
    if prevalence is not None:
        check_prevalence("prevalence", prevalence)
    adjusted = tallies if prevalence is None else reweigh(tallies, prevalence=prevalence)
    adjustments = _score_adjustments(tallies, sample_prevalence, prevalence)
    harms = as_harms(harm, tallies.models)
    request = CurveRequest(at, level, make_generator(seed) if simultaneous and level is not None else None, harms)
    size = 3 * sum(len(tally.score) for *_, tally in adjusted.walk())
    # The digest in the header is computed in another thread while the curves are tabulated.
    with run_in_background(lambda: results_data(adjusted, []), size=size) as head:
        columns = _tabulate(adjusted, adjustments, request)
    data = head() | {"level": level, "simultaneous": request.rng is not None}
    data |= {"useful": list(_useful_ranges(adjusted, columns, at))}
    data |= _describe_scores(tallies, adjustments, prevalence)
    return Results(columns, data | describe_harms(harms, data["notes"]))


class CurveRequest(NamedTuple):
    """Thresholds of decision curves, the level of intervals, the generator of simultaneous bands, and harms."""

    at: Floats
    level: float | None
    rng: np.random.Generator | None
    harms: Mapping[str, float]


def as_harms(harm: Harm, models: Iterable[str]) -> dict[str, float]:
    """Return the harm of each model; 0 for those that are not named.

    >>> as_harms(0.01, ["a", "b"]), as_harms({"b": "2%"}, ["a", "b"])
    ({'a': 0.01, 'b': 0.01}, {'a': 0.0, 'b': 0.02})
    """
    names = list(models)
    if harm is None:
        return dict.fromkeys(names, 0.0)
    given = parse_shares(harm)
    if not isinstance(given, Mapping):
        check_domain("harm", given, HARM)
        return dict.fromkeys(names, float(given or 0.0))
    unknown = [name for name in given if name not in names]
    if unknown:
        raise unknown_name("model", unknown[0], names)
    for name, each in given.items():
        check_domain(f"harm of {name}", each, HARM)
    return {name: float(given.get(name, 0.0)) for name in names}


def describe_harms(harms: Mapping[str, float], notes: Iterable[str]) -> dict[str, Any]:
    """Describe the harms of tests in the data of results, and add them to the notes; nothing without any."""
    if not any(harms.values()):
        return {}
    first = next(iter(harms.values()))
    same = all(each == first for each in harms.values())
    parts = "" if same else ", ".join(f"{name} {format_exact(each)}" for name, each in harms.items())
    what = f"a test harm of {format_exact(first)}" if same else f"test harms ({parts})"
    verb = "was" if same else "were"
    return {"harm": dict(harms), "notes": [*notes, f"{what} {verb} subtracted from the net benefit of models."]}


class Adjustment(NamedTuple):
    """Prevalence at which scores are calibrated, and the one that they are adjusted to."""

    from_: float
    to: float


def _score_adjustments(
    tallies: Tallies, origin: CalibrationPrevalence, prevalence: float | None
) -> dict[str, Adjustment]:
    """Return the adjustment of the scores of each model; empty where they are kept."""
    if origin == "deployment" or (origin is None and prevalence is None):
        return {}
    origin = parse_share(origin)
    if isinstance(origin, str):
        what = f"sample_prevalence is {origin!r}; expected a prevalence, 'deployment' or None."
        raise OptionError(what, option="sample_prevalence", value=origin)
    if origin is not None:
        check_prevalence("sample_prevalence", origin)
    adjustments = {}
    for model in tallies.models:
        # Of all groups together: a score is adjusted equally in each of them.
        own = tallies.pooled(model).prevalence
        if not 0 < own < 1:
            raise NotBinaryError("there is only one class, so no prevalence to adjust to", remedy="give both classes.")
        from_ = own if origin is None else float(origin)
        adjustments[model] = Adjustment(from_, own if prevalence is None else float(prevalence))
    return adjustments


def _tabulate(tallies: Tallies, adjustments: Mapping[str, Adjustment], request: CurveRequest) -> dict[str, Any]:
    """Tabulate every model and group, one below the other."""
    parts: list[dict[str, Any]] = []
    for model, group, tally in tallies.walk():
        check_probabilities(tally)
        cuts = adjust_thresholds(request.at, adjustments[model]) if model in adjustments else request.at
        name = model if len(tallies.models) > 1 else None
        columns = _strategy_columns(tally, cuts, request, model)
        size = len(columns["threshold"])
        parts.append({"model": [name] * size, "group": [group_attributes(tallies, group)] * size, **columns})
    return {name: concatenate([part[name] for part in parts]) for name in parts[0]}


def adjust_thresholds(at: Floats, adjustment: Adjustment) -> Floats:
    """Return the raw scores whose adjusted values reach each probability.

    The result is lower than the formula by a relative 1e-12, so that a score whose adjusted value equals the
    probability is flagged in spite of rounding.
    """
    if adjustment.from_ == adjustment.to:
        return at
    return score_threshold(at, sample_prevalence=adjustment.from_, prevalence=adjustment.to) * (1 - _TOLERANCE)


def _describe_scores(
    tallies: Tallies, adjustments: Mapping[str, Adjustment], prevalence: float | None
) -> dict[str, Any]:
    """Describe whether scores were adjusted, and between which prevalences: data of the results, and their notes."""
    if not adjustments:
        return {"scores": {"adjusted": False, "sample_prevalence": None, "prevalence": prevalence}}
    is_stated = prevalence is not None
    first, *others = adjustments.values()
    if all(other == first for other in others):
        origin = f"{'the scores ' if is_stated else ''}from {format_share(first.from_)}"
        where = f"to a prevalence of {format_share(first.to)}, {origin}"
        prevalences: dict[str, Any] = {"sample_prevalence": first.from_, "prevalence": first.to}
    else:
        where = "to the stated prevalence, the scores from that of each model" if is_stated else "for each model"
        pairs = zip(("sample_prevalence", "prevalence"), zip(*adjustments.values(), strict=True), strict=True)
        prevalences = {name: dict(zip(adjustments, values, strict=True)) for name, values in pairs}
    what, caveat = ("classes and scores", "; the prevalence is taken as known") if is_stated else ("scores", "")
    note = f"{what} were adjusted {where}{caveat}."
    return {"scores": {"adjusted": True, **prevalences}, "notes": [*tallies.intake.notes, note]}


@accepts_predictions("curve")
def net_benefits(
    curve: Curve,
    thresholds: npt.ArrayLike | None = None,
    *,
    harm: ShareLike | None = None,
    **predictions: Unpack[PredictionOptions],
) -> dict[str, Floats]:
    """Compute the columns of a decision curve without intervals.

    Parameters
    ----------
    curve
        Curve of probabilities.
    thresholds
        Threshold probabilities from 0 to below 1; 0.01 to 0.99 by default.
    harm
        Harm of applying the test, in units of net benefit, from 0 to 1; it is subtracted.

    Returns
    -------
    dict of str to numpy.ndarray
        Columns of equal length, `threshold` first; `all` is the net benefit of flagging everybody.

    Examples
    --------
    >>> from baserate import curve, tally
    >>> results = net_benefits(curve(tally([1, 0, 1, 0, 0], [0.9, 0.6, 0.4, 0.2, 0.1])), [0.1, 0.3, 0.5])
    >>> results["net_benefit"].round(3).tolist(), results["all"].round(3).tolist()
    ([0.333, 0.314, 0.0], [0.333, 0.143, -0.2])
    """
    check_probabilities(curve.tally)
    at = as_threshold_probabilities(thresholds)
    weight = threshold_odds(at)
    everybody = ratio(curve.positives - weight * curve.negatives, curve.total)
    (of_model,) = as_harms(harm, [""]).values()
    return {"threshold": at, **_net_benefit_columns(curve.at(at), at, harm=of_model), "all": everybody}


def as_threshold_probabilities(values: npt.ArrayLike | None) -> Floats:
    """Check threshold probabilities and sort them, each once; 0.01 to 0.99 by default."""
    if values is None:
        # Quotients are the doubles nearest to 0.01, 0.02, …, as people type them; multiples of 0.01 are not.
        return np.arange(1, 100) / 100
    try:
        at = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        what = f"thresholds are {values!r}; expected numbers, such as [0.1, 0.2]."
        raise NotNumericError(what) from error
    if at.ndim > 1 or not len(at):
        raise ShapeError(f"thresholds have shape {at.shape}; expected one or several in a row.")
    invalid = ~((at == 0) | ((at >= SHARE.low) & (at <= SHARE.high)))
    if invalid.any():
        raise OptionError(
            f"{invalid.sum()} of {invalid.size} thresholds, first {at[invalid][0]:g}, are neither 0 nor {SHARE.words}",
            remedy="leave them out; at 1 nobody would be flagged.",
        )
    return np.unique(at)


def _strategy_columns(tally: Tally, cuts: Floats, request: CurveRequest, model: str) -> dict[str, Any]:
    """Tabulate the three strategies, one below the other; the model flags scores at or above each of the cuts."""
    curve, at = Curve(tally), request.at
    tables: list[Counts[Any]] = [curve.at(cuts), curve.at(-np.inf), curve.at(np.inf)]
    parts = [_strategy_rows(name, table, request, model) for name, table in zip(STRATEGIES, tables, strict=True)]
    columns = {name: np.concatenate([np.broadcast_to(part[name], at.shape) for part in parts]) for name in parts[0]}
    return columns | {"why": np.tile(_reasons(tally, at), len(parts))}


def _strategy_rows(name: str, counts: Counts[Any], request: CurveRequest, model: str) -> dict[str, Any]:
    """Return the columns of one strategy: numbers where all thresholds have the same table, otherwise arrays."""
    at, level = request.at, request.level
    harm = request.harms[model] if name == "model" else 0.0
    numbers = _net_benefit_columns(counts, at, harm=harm)
    # At a known prevalence, the net benefit of flagging all or none has no sampling error; a threshold of 0 flags all.
    blind = (np.not_equal(name, "model") | (at == 0)) & counts.reweighed
    idle = blind | (name == "none")
    certain = {
        "net_benefit": idle,
        "standardized": idle | (at == 0),
        "net_reduction": blind | (name == "all") | (at == 0),
    }
    columns: dict[str, Any] = {"threshold": at, "strategy": np.array(name, dtype=np.object_)}
    for column, each in _combinations(name, counts, at, numbers["standardized"]).items():
        reach = _find_reach(counts, each, certain[column], request)
        columns |= _interval_columns(column, numbers[column], reach, most=1.0 - harm * each.harm_scale)
    method = LINEAR_FIXED_METHOD if counts.reweighed else LINEAR_METHOD
    method = method if request.rng is None else f"{method}, {BAND_METHOD}"
    return {
        **columns,
        **{column: numbers[column] for column in ("tp_rate", "fp_rate", "flag_rate")},
        "level": np.array(level, dtype=np.object_),
        "how": np.where(idle, FIXED_METHOD, method).astype(np.object_) if level else np.array(None, dtype=np.object_),
    }


class CellCombination(NamedTuple):
    """A number that is linear in the cells, to first order: factors of their shares of all rows, and a scale."""

    factors: Mapping[str, Any]
    scale: Any
    """Factor of the deviations of the combination."""
    harm_scale: Any
    """Units of the number that one unit of net benefit makes."""


def _combinations(name: str, counts: Counts[Any], at: Floats, standardized: Floats) -> dict[str, CellCombination]:
    r"""Return the combination of cells of each column that has bounds.

    The standardized net benefit θ is a ratio to the prevalence. At a fixed prevalence it is net benefit, rescaled.
    Otherwise its deviation is that of :math:`p_{TP}-wp_{FP}-θ(p_{TP}+p_{FN})`, divided by the prevalence.
    """
    odds, inverse = threshold_odds(at), _inverse_odds(at)
    benefit = {"tp": 1.0, "fp": -odds}
    per_positive = _inverse_prevalence(counts)
    relative: dict[str, Any] = {"tp": 1.0 - standardized, "fp": -odds}
    # Flagging all leaves no positive out in any sample.
    relative |= {} if name == "all" else {"fn": -standardized}
    return {
        "net_benefit": CellCombination(benefit, 1.0, 1.0),
        "standardized": CellCombination(benefit if counts.reweighed else relative, per_positive, per_positive),
        "net_reduction": CellCombination({"tn": 1.0, "fn": -inverse}, 1.0, inverse),
    }


def _find_reach(
    counts: Counts[Any], combination: CellCombination, certain: Bools, request: CurveRequest
) -> tuple[Floats, Floats] | None:
    """Return how far bounds are below and above a combination of cells; None without intervals."""
    if request.level is None:
        return None
    size = len(request.at)
    factors: dict[str, Any] = {name: np.broadcast_to(each, size) for name, each in combination.factors.items()}
    usable = ~(certain | np.isnan(sum(factors.values())))
    if not usable.any() or not np.any(counts.total):
        return np.zeros(size), np.zeros(size)
    # A factor of 0 keeps thresholds without an interval out of the arithmetic.
    factors = {name: np.where(usable, each, 0.0) for name, each in factors.items()}
    level = request.level
    if request.rng is not None:
        each_model = 1 - (1 - level) / len(request.harms)
        level = local_level(combination_covariance(counts, factors, size), each_model, request.rng)
    low, high = bound_weighted_cells(counts, factors, level)
    value = sum(each * ratio(getattr(counts, name), counts.total) for name, each in factors.items())
    below, above = (
        combination.scale * np.where(usable, np.maximum(each, 0.0), 0.0) for each in (value - low, high - value)
    )
    return below, above


def _interval_columns(
    column: str,
    value: Floats,
    reach: tuple[Floats, Floats] | None,
    *,
    most: Any,  # noqa: ANN401  (a number, or many)
) -> dict[str, Floats]:
    """Return a column with its bounds, which are at most the value of a faultless model."""
    names = ("low", "high") if column == "net_benefit" else (f"{column}_low", f"{column}_high")
    if reach is None:
        return {column: value, **{name: np.full(len(value), np.nan) for name in names}}
    below, above = reach
    return {column: value, names[0]: value - below, names[1]: np.maximum(np.minimum(value + above, most), value)}


def _net_benefit_columns(counts: Counts[Any], at: Floats, *, harm: float = 0.0) -> dict[str, Any]:
    total = counts.total
    # The odds of a threshold of 0 cannot be inverted; 0.5 is a placeholder that becomes NaN below.
    reduction: Floats = net_reduction(counts, at=np.where(at > 0, at, 0.5)) - harm * _inverse_odds(at)
    return {
        "net_benefit": net_benefit(counts, at=at) - harm,
        "standardized": standardized_net_benefit(counts, at=at) - harm * _inverse_prevalence(counts),
        "net_reduction": np.where(at > 0, reduction, np.nan),
        "tp_rate": ratio(counts.tp, total),
        "fp_rate": ratio(counts.fp, total),
        "flag_rate": flag_rate(counts),
    }


def _inverse_prevalence(counts: Counts[Any]) -> Any:  # noqa: ANN401  (a number, or many)
    """Return rows per positive; NaN without positives, where nothing is standardized."""
    return np.where(np.greater(counts.positives, 0), ratio(counts.total, counts.positives), np.nan)


def _inverse_odds(at: Floats) -> Floats:
    """Return how many interventions one false negative outweighs; 0 at a threshold of 0, where none is avoided."""
    return np.where(at > 0, 1 / threshold_odds(np.where(at > 0, at, 0.5)), 0.0)


def _reasons(tally: Tally, at: Floats) -> npt.NDArray[np.object_]:
    """Return why a number of each row is undefined."""
    if not tally.total:
        return np.full(len(at), "there are no rows", dtype=np.object_)
    missing = [] if tally.positives else ["there are no positives, so the net benefit is not standardized"]
    at_zero = "; ".join([*missing, "at a threshold of 0 there is no net reduction"])
    reasons = np.full(len(at), missing[0] if missing else None, dtype=np.object_)
    reasons[at == 0] = at_zero
    return reasons


def _useful_ranges(tallies: Tallies, columns: dict[str, Any], at: Floats) -> Iterator[dict[str, Any]]:
    """List the ranges of thresholds where each model beats both other strategies."""
    # Relies on the order of the rows in `_tabulate`: by model and group, then strategy, then threshold.
    worth = np.asarray(columns["net_benefit"]).reshape(-1, len(STRATEGIES), len(at))
    several = len(tallies.models) > 1
    for (model, group, _), (own, everybody, nobody) in zip(tallies.walk(), worth, strict=True):
        better = own > np.maximum(everybody, nobody) + _TOLERANCE
        name = model if several else None
        yield {"model": name, "group": group_attributes(tallies, group), "ranges": _find_runs(better, at)}


def _find_runs(better: Bools, at: Floats) -> list[list[float]]:
    """Return the first and last threshold of each run of true values."""
    # As integers: `diff` of booleans is XOR, which does not distinguish starts from ends.
    steps = np.diff(np.concatenate([[0], better.astype(np.int8), [0]]))
    first, last = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
    return [[float(at[start]), float(at[end])] for start, end in zip(first, last, strict=True)]
