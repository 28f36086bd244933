"""Families of populations, and their exact curves and values as tidy rows."""

from collections.abc import Callable, Iterable, Iterator
from math import inf, isnan, nan
from typing import Any

import numpy as np

from baserate import _domains
from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import MEAN, SHAPE, SPREAD, Domain, ShareLike, check_domain, parse_share
from baserate._errors import OptionError, nearest, unknown_name
from baserate._formatting import format_name
from baserate._numeric.distributions import (
    Beta,
    Distribution,
    Linear,
    LogitNormal,
    Normal,
    Point,
    atoms,
    is_discrete,
    point_mass,
    support,
)
from baserate._population import Population, check_population, describe_population
from baserate._results import Results
from baserate._tally import Tally
from baserate.measure import (
    TABLES,
    Measure,
    as_measure,
    collect_settings,
    describe,
    find_measure,
    note_cautions,
    note_settings,
    undefined_reason,
)
from baserate.population._best_threshold import best_threshold

Pair = tuple[float, float]


def linear(*, prevalence: ShareLike = 0.5) -> Population:
    """Make a population with linear densities on [0, 1]: 2 − 2x for negatives, 2x for positives.

    Every curve can be derived by hand: TPR 1 − t², FPR (1 − t)², AUC 5/6. At prevalence ½ the score is calibrated.

    Parameters
    ----------
    prevalence
        Share of positives.

    Returns
    -------
    Population
        The population.

    Examples
    --------
    >>> linear().posterior(0.3)
    0.3
    """
    prevalence = parse_share(prevalence)
    return Population(Linear(rising=False), Linear(rising=True), prevalence)


def binormal(*, means: Pair = (0.0, 1.0), sds: Pair = (1.0, 1.0), prevalence: ShareLike = 0.5) -> Population:
    """Make a population with normal scores.

    Parameters
    ----------
    means
        Means of negatives and of positives.
    sds
        Standard deviations of negatives and of positives.
    prevalence
        Share of positives.

    Returns
    -------
    Population
        The population.

    Examples
    --------
    >>> round(binormal(means=(0, 1)).auc, 6)
    0.76025
    """
    prevalence = parse_share(prevalence)
    return _normal_population(Normal, means, sds, prevalence)


def logit_normal(*, means: Pair = (-1.0, 1.0), sds: Pair = (1.0, 1.0), prevalence: ShareLike = 0.5) -> Population:
    """Make a population with normal log-odds: the curves of `binormal`, on the scale of a probability.

    Parameters
    ----------
    means
        Means of the log-odds of negatives and of positives.
    sds
        Standard deviations of the log-odds of negatives and of positives.
    prevalence
        Share of positives.

    Returns
    -------
    Population
        The population.

    Examples
    --------
    >>> round(logit_normal(means=(0, 1)).auc, 6)
    0.76025
    """
    prevalence = parse_share(prevalence)
    return _normal_population(LogitNormal, means, sds, prevalence)


def _normal_population(
    family: type[Normal] | type[LogitNormal], means: Pair, sds: Pair, prevalence: float
) -> Population:
    (low, high), (low_sd, high_sd) = _check_pair("means", means, MEAN), _check_pair("sds", sds, SPREAD)
    return Population(family(low, low_sd), family(high, high_sd), prevalence)


def beta(*, negative: Pair = (1.0, 2.0), positive: Pair = (2.0, 1.0), prevalence: ShareLike = 0.5) -> Population:
    """Make a population with beta distributions of scores on [0, 1].

    Parameters
    ----------
    negative
        Two shape parameters for negatives.
    positive
        Two shape parameters for positives.
    prevalence
        Share of positives.

    Returns
    -------
    Population
        The population.

    Examples
    --------
    >>> round(beta(negative=(1, 4), positive=(1, 1)).auc, 12)
    0.8
    """
    prevalence = parse_share(prevalence)
    low, high = (_check_pair(*pair, SHAPE) for pair in (("negative", negative), ("positive", positive)))
    return Population(Beta(*low), Beta(*high), prevalence)


LEVELS: dict[str, tuple[Distribution, Distribution]] = {
    "random": (Normal(0, 1), Normal(0, 1)),
    "ER-": (Beta(1, 1), Beta(4, 1)),
    "ER+": (Beta(1, 4), Beta(1, 1)),
    "excellent": (Normal(0, 1), Normal(3, 1)),
    "perfect": (Point(0), Point(1)),
}
"""Five levels of performance, from none to perfect; scores of negatives, then of positives [@saito2015]."""

# Papers print a minus sign or a dash in place of the hyphen.
_SPELLINGS = {
    "er−": "ER-",
    "er–": "ER-",
    "poor early retrieval": "ER-",
    "poor": "ER-",
    "good early retrieval": "ER+",
    "good": "ER+",
}


def retrieval(level: str, *, prevalence: ShareLike = 0.5) -> Population:
    """Make a population with one of Saito and Rehmsmeier's five levels of performance.

    Their ROC curves do not depend on the prevalence; their precision–recall curves do [@saito2015].

    Parameters
    ----------
    level
        `random`; `ER-`, poor early retrieval; `ER+`, good early retrieval, with the AUC of `ER-`; `excellent`; or
        `perfect`.
    prevalence
        Share of positives.

    Returns
    -------
    Population
        The population.

    Examples
    --------
    >>> [round(retrieval(level).auc, 4) for level in LEVELS]
    [0.5, 0.8, 0.8, 0.9831, 1.0]
    """
    prevalence = parse_share(prevalence)
    spellings = {name.lower(): name for name in LEVELS} | _SPELLINGS
    plain = " ".join(str(level).lower().replace("_", " ").split())
    if plain not in spellings:
        raise unknown_name("level", level, LEVELS, near=[spellings[each] for each in nearest(plain, spellings)])
    negative, positive = LEVELS[spellings[plain]]
    return Population(negative, positive, prevalence)


FAMILIES: dict[str, Callable[..., Population]] = {
    "linear": linear,
    "binormal": binormal,
    "logit_normal": logit_normal,
    "beta": beta,
    "retrieval": retrieval,
}
"""Constructors by name."""


def _check_pair(name: str, values: Pair, domain: Domain) -> Pair:
    try:
        negative, positive = map(float, values)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"{name} is {values!r}; expected two numbers, for example (0, 1).", option=name, value=values
        ) from error
    for each in (negative, positive):
        check_domain(name, each, domain)
    return negative, positive


COLUMNS = ("measure", "model", "group", "class", "threshold", "value", "low", "high", "level", "how", "why")
POINTS = 101
_TAIL = 1e-3
"""Tail probability at which the range of unbounded scores ends."""


def default_thresholds(population: Population, points: int = POINTS) -> Floats:
    """List thresholds to tabulate, strictest first: evenly spaced over the scores, or all atoms of discrete scores.

    The first flags nothing and the last everything; both are infinite if scores are unbounded.

    Parameters
    ----------
    population
        Population to tabulate.
    points
        Number of thresholds of continuous scores.

    Returns
    -------
    array
        The thresholds, in decreasing order.

    Examples
    --------
    >>> from baserate import population
    >>> population.default_thresholds(population.linear(), points=5).tolist()
    [1.0, 0.75, 0.5, 0.25, 0.0]
    """
    check_population(population)
    check_domain("points", points, _domains.POINTS)
    classes = (population.negative, population.positive)
    if all(map(is_discrete, classes)):
        return np.concatenate([[inf], _discrete_scores(population)])
    lows, highs = zip(*map(_score_range, classes), strict=True)
    top, bottom = max(highs), min(lows)
    ends = population.at(np.array([top, bottom]))
    strictest = [inf] * bool(ends.flagged[0] > 0)
    laxest = [-inf] * bool(ends.not_flagged[1] > 0)
    n_inner = max(points - len(strictest) - len(laxest), 0)
    # Multiply, then divide: tenths are then the nearest floats to 0.1, 0.2 and so on.
    steps = np.arange(n_inner - 1, -1, -1) if n_inner > 1 else np.full(n_inner, 0.5)
    inner = bottom + steps * (top - bottom) / max(n_inner - 1, 1)
    return np.concatenate([strictest, inner, laxest])


def table(
    population: Population, *what: str | Measure, points: int = POINTS, thresholds: Iterable[float] = ()
) -> Results:
    """Tabulate a named curve (`roc`, `pr`, `det`, `gain`, `lift`, `lorenz`), or any measures, exactly.

    Parameters
    ----------
    population
        Population to tabulate.
    *what
        Names of curves or measures.
    points
        Number of thresholds, evenly spaced over the scores.
    thresholds
        Thresholds to use instead.

    Returns
    -------
    Results
        One row for each threshold, strictest first.

    Examples
    --------
    >>> from baserate import population
    >>> exact = population.table(population.linear(), "roc", thresholds=[0.75, 0.5])
    >>> exact.columns["fpr"].tolist(), exact.columns["sensitivity"].tolist()
    ([0.0625, 0.25], [0.4375, 0.75])
    """
    check_population(population)
    stated = np.array(sorted(thresholds, reverse=True), dtype=np.float64)
    places = stated if len(stated) else default_thresholds(population, points)
    measures = [function for each in what for function in _resolve_measures(each)]
    unfit = [describe(measure).name for measure in measures if describe(measure).of is not Counts]
    if unfit:
        raise OptionError(
            f"{', '.join(unfit)} has one value for a whole curve, not one at each threshold", remedy="leave it out."
        )
    # One call for all thresholds, since a measure takes arrays of tables.
    counts = population.at(places)
    columns: dict[str, Any] = {name: [None] * len(places) for name in ("model", "group")} | {"threshold": places}
    columns |= {describe(measure).name: np.asarray(measure(counts)) for measure in measures}
    return Results(columns, describe_population(population))


def summary(
    population: Population, *measures: str | Measure, points: int = 11, thresholds: Iterable[float] = ()
) -> Results:
    """Tabulate the exact best value of each measure with its threshold, then values at other thresholds.

    Parameters
    ----------
    population
        Population to summarize.
    *measures
        Names of measures, or measures.
    points
        Number of thresholds, evenly spaced over the scores.
    thresholds
        Thresholds to use instead.

    Returns
    -------
    Results
        Tidy rows. The column `best` marks best values; `how` is "limit" if no threshold attains one. A measure without
        a better end has no best value, and a measure of the whole curve has a single value.

    Examples
    --------
    >>> from baserate import population
    >>> row = population.summary(population.linear(), "mcc").rows()[0]
    >>> row["threshold"], row["value"], row["best"]
    (0.5, 0.5, True)
    """
    functions = [as_measure(each) for each in measures]
    rows = [row for measure in functions for row in _best_rows(population, measure)]
    of_tables = [measure for measure in functions if describe(measure).of is Counts]
    if of_tables:
        places = table(population, points=points, thresholds=thresholds).columns["threshold"]
        rows += [_threshold_row(measure, population, threshold) for measure in of_tables for threshold in places]
    columns = {name: [row.get(name) for row in rows] for name in (*COLUMNS, "best")}
    data = describe_population(population)
    skipped = [format_name(row["measure"]) for row in rows if row.get("skipped")]
    notes = [f"thresholds with an infinite {name} were skipped: infinities are never best." for name in skipped]
    settings = collect_settings(functions)
    notes += [*note_settings(settings), *note_cautions(functions)]
    return Results(columns, data | {"notes": [*data["notes"], *notes]} | ({"settings": settings} if settings else {}))


def exact_value(population: Population, measure: str | Measure) -> float:
    """Compute the exact value of a measure over all thresholds: its limit for large samples.

    Parameters
    ----------
    population
        Population to measure.
    measure
        Name of a measure of a whole curve, or the measure.

    Returns
    -------
    float
        Exact value; NaN if a class is absent or no formula is known.

    Examples
    --------
    >>> from baserate import population
    >>> exact_value(population.linear(), "ks")
    0.5
    """
    check_population(population)
    function = as_measure(measure)
    info = describe(function)
    if info.of is not Curve:
        raise OptionError(
            f"{info.name} is not a measure over all thresholds", remedy="use `best_threshold` or `table`."
        )
    if any(margin in info.needs and _has_no_class(population, margin) for margin in ("positives", "negatives")):
        return nan
    if is_discrete(population.negative) and is_discrete(population.positive):
        return float(function(Curve(_exact_tally(population))))
    return _EXACT[info.name](population) if info.name in _EXACT else nan


def _exact_ks(population: Population) -> float:
    # The greatest distance in either direction; Youden's index has a sign.
    return max(best_threshold(population, "youden").value, -best_threshold(population, "youden", toward="low").value)


def _cap_area(population: Population) -> float:
    return population.prevalence / 2 + (1 - population.prevalence) * population.auc


_EXACT = {
    "auc": lambda population: population.auc,
    "gini": lambda population: 2 * population.auc - 1,
    "accuracy_ratio": lambda population: 2 * population.auc - 1,
    "cap_area": _cap_area,
    "lorenz_gini": lambda population: 2 * _cap_area(population) - 1,
    "average_precision": lambda population: population.average_precision,
    "pr_auc": lambda population: population.average_precision,
    "pr_auc_trapezoid": lambda population: population.average_precision,
    "ks": _exact_ks,
}
"""Measures of whole curves, where scores have a density."""


def _exact_tally(population: Population) -> Tally:
    """Return discrete scores as a tally of probabilities."""
    score = _discrete_scores(population)
    classes = (population.prevalence, population.positive), (1 - population.prevalence, population.negative)
    cells = np.array([share * point_mass(each, score) for share, each in classes])
    return Tally(score, cells, cells**2, (cells > 0).astype(np.uint8))


def _discrete_scores(population: Population) -> Floats:
    """Return the atoms of both classes, in falling order."""
    return np.unique(np.concatenate([atoms(population.negative), atoms(population.positive)]))[::-1]


def _best_rows(population: Population, measure: Measure) -> Iterator[dict[str, Any]]:
    info = describe(measure)
    if info.of is Curve:
        value = exact_value(population, measure)
        yield {"measure": info.name, "value": value, "best": False, "why": _UNKNOWN if isnan(value) else None}
    elif info.of is not Counts:
        raise OptionError(
            f"{info.name} is a measure of probabilities, not of ranks or confusion matrices", remedy="leave it out."
        )
    elif info.best is not None:
        try:
            optimum = best_threshold(population, measure)
        except OptionError as error:
            yield {"measure": info.name, "value": nan, "best": True, "why": str(error).partition(";")[0]}
            return
        how = None if optimum.attained else "limit"
        row = {"measure": info.name, "threshold": optimum.threshold, "value": optimum.value, "how": how, "best": True}
        yield row | {"skipped": optimum.has_infinities}


_UNKNOWN = "a class is missing, or no formula is known"


def _threshold_row(measure: Measure, population: Population, threshold: float) -> dict[str, Any]:
    counts = population.at(float(threshold))
    value = float(measure(counts))
    reason = undefined_reason(measure, counts) if isnan(value) else None
    return {
        "measure": describe(measure).name,
        "threshold": float(threshold),
        "value": value,
        "best": False,
        "why": reason,
    }


def _resolve_measures(what: str | Measure) -> list[Measure]:
    return [as_measure(what)] if callable(what) else [find_measure(name) for name in TABLES.get(what.lower(), (what,))]


def _score_range(distribution: Distribution) -> tuple[float, float]:
    """Return the least and greatest score of a class; an unbounded class ends at a rounded 0.1% quantile."""
    low, high = support(distribution)
    least, most = float(distribution.ppf(_TAIL)), float(distribution.isf(_TAIL))
    # A power of ten between a twentieth and half of the range: the ends are round numbers.
    unit = 10.0 ** np.floor(np.log10(max(most - least, 1e-300) / 2))
    return max(low, float(np.floor(least / unit) * unit)), min(high, float(np.ceil(most / unit) * unit))


def _has_no_class(population: Population, margin: str) -> bool:
    return population.prevalence == (0 if margin == "positives" else 1)
