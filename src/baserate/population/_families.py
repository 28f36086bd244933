"""Families of populations, their exact curves and values as tidy rows, and simulation studies of samples from them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import product
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate import _domains
from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import MEAN, SHAPE, SPREAD, Domain, check_domain
from baserate._errors import OptionError, nearest, unknown_name
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
    note_settings,
    undefined_reason,
)
from baserate.population._best_threshold import best_threshold

Pair = tuple[float, float]


def linear(*, prevalence: float = 0.5) -> Population:
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
    return Population(Linear(rising=False), Linear(rising=True), prevalence)


def binormal(*, means: Pair = (0.0, 1.0), sds: Pair = (1.0, 1.0), prevalence: float = 0.5) -> Population:
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
    return _normal_population(Normal, means, sds, prevalence)


def logit_normal(*, means: Pair = (-1.0, 1.0), sds: Pair = (1.0, 1.0), prevalence: float = 0.5) -> Population:
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
    return _normal_population(LogitNormal, means, sds, prevalence)


def _normal_population(
    family: type[Normal] | type[LogitNormal], means: Pair, sds: Pair, prevalence: float
) -> Population:
    (low, high), (low_sd, high_sd) = _check_pair("means", means, MEAN), _check_pair("sds", sds, SPREAD)
    return Population(family(low, low_sd), family(high, high_sd), prevalence)


def beta(*, negative: Pair = (1.0, 2.0), positive: Pair = (2.0, 1.0), prevalence: float = 0.5) -> Population:
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


def retrieval(level: str, *, prevalence: float = 0.5) -> Population:
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


def thresholds(population: Population, points: int = POINTS) -> Floats:
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
    >>> population.thresholds(population.linear(), points=5).tolist()
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


def table(population: Population, *what: str | Measure, points: int = POINTS, at: Iterable[float] = ()) -> Results:
    """Tabulate a named curve (`roc`, `pr`, `det`, `gain`, `lift`, `lorenz`), or any measures, exactly.

    Parameters
    ----------
    population
        Population to tabulate.
    *what
        Names of curves or measures.
    points
        Number of thresholds, evenly spaced over the scores.
    at
        Thresholds to use instead.

    Returns
    -------
    Results
        One row for each threshold, strictest first.

    Examples
    --------
    >>> from baserate import population
    >>> exact = population.table(population.linear(), "roc", at=[0.75, 0.5])
    >>> exact.columns["fpr"].tolist(), exact.columns["sensitivity"].tolist()
    ([0.0625, 0.25], [0.4375, 0.75])
    """
    check_population(population)
    stated = np.array(sorted(at, reverse=True), dtype=np.float64)
    places = stated if len(stated) else thresholds(population, points)
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


def summary(population: Population, *measures: str | Measure, points: int = 11, at: Iterable[float] = ()) -> Results:
    """Tabulate the exact best value of each measure with its threshold, then values at other thresholds.

    Parameters
    ----------
    population
        Population to summarize.
    *measures
        Names of measures, or measures.
    points
        Number of thresholds, evenly spaced over the scores.
    at
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
        places = table(population, points=points, at=at).columns["threshold"]
        rows += [_threshold_row(measure, population, threshold) for measure in of_tables for threshold in places]
    columns = {name: [row.get(name) for row in rows] for name in (*COLUMNS, "best")}
    data = describe_population(population)
    skipped = [row["measure"].replace("_", " ") for row in rows if row.get("skipped")]
    notes = [f"thresholds with an infinite {name} were skipped: infinities are never best." for name in skipped]
    settings = collect_settings(functions)
    notes += note_settings(settings)
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


Watch = Callable[[Callable[[], float | None]], AbstractContextManager[object]]
"""Context manager made from a function that returns the percentage done; shows progress while the study runs."""

SIZES = (30, 100, 300, 1000, 3000)


def simulation_study(  # noqa: PLR0913  (each is a dimension of the study)
    population: Population,
    *,
    sizes: Iterable[int] = SIZES,
    prevalences: Iterable[float] | None = None,
    measures: Iterable[str | Measure] = ("auc", "average_precision"),
    repeats: int = 200,
    seed: int = 0,
    watch: Watch | None = None,
) -> Results:
    """Run a simulation study: mean and standard deviation of measures over random samples, beside the exact value.

    Every sample has its own generator, seeded by seed, size, prevalence and number of the sample. So results do not
    depend on what else is in the study.

    Parameters
    ----------
    population
        Population to sample from.
    sizes
        Sample sizes.
    prevalences
        Prevalences; the default is that of the population.
    measures
        Measures over all thresholds.
    repeats
        Number of samples of each size and prevalence.
    seed
        Random seed.
    watch
        Context manager that shows progress, called with a function that returns the percentage done.

    Returns
    -------
    Results
        One row for each prevalence, size and measure: `value` is the mean, `sd` the standard deviation and `theory` the
        exact value. Samples of a single class are omitted, counted in `undefined`, and noted.

    Examples
    --------
    >>> from baserate import population
    >>> rows = population.simulation_study(population.linear(), sizes=[100], measures=["auc"], repeats=50).rows()
    >>> [(round(row["value"], 2), round(row["sd"], 2), round(row["theory"], 4)) for row in rows]
    [(0.84, 0.04, 0.8333)]
    """
    check_population(population)
    functions = [as_measure(each) for each in ([measures] if isinstance(measures, str) else measures)]
    unfit = [describe(measure).name for measure in functions if describe(measure).of is not Curve]
    if unfit:
        raise OptionError(
            f"{', '.join(unfit)} requires a threshold", remedy="choose measures over all thresholds, such as auc."
        )
    shares = [population.prevalence] if prevalences is None else list(prevalences)
    study = _Study(functions, _check_integer(repeats, "repeats"), _check_integer(seed, "seed", least=0))
    cases = [(population.at_prevalence(share), _check_integer(size, "sizes")) for share, size in product(shares, sizes)]
    if not cases or not functions:
        raise OptionError("there is nothing to study", remedy="give at least one size, prevalence and measure.")
    with nullcontext() if watch is None else watch(lambda: 100 * study.done / (len(cases) * repeats)):
        rows = [row for each, size in cases for row in study.summarize(each, size)]
    columns = (*COLUMNS, "size", "prevalence", "sd", "theory", "repeats", "undefined")
    data = {
        **describe_population(population),
        "prevalences": shares,
        "seed": seed,
        "notes": list(_note_single_classes(rows)),
    }
    return Results({name: [row.get(name) for row in rows] for name in columns}, data)


@dataclass(slots=True)
class _Study:
    """Measures, repeats and seed of a study, and the number of finished samples."""

    measures: list[Measure]
    repeats: int
    seed: int
    done: int = field(default=0, init=False)

    def summarize(self, population: Population, size: int) -> Iterator[dict[str, Any]]:
        """Yield one row for each measure."""
        values = np.array([self._measure_sample(population, size, repeat) for repeat in range(self.repeats)])
        for measure, column in zip(self.measures, values.T, strict=True):
            yield {
                "measure": describe(measure).name,
                "size": size,
                "prevalence": population.prevalence,
                "theory": exact_value(population, measure),
                "repeats": self.repeats,
                **_summarize_values(column),
            }

    def _measure_sample(self, population: Population, size: int, repeat: int) -> list[float]:
        """Draw a sample and compute all measures; NaN if it has a single class."""
        # A seed takes integers only: the bits of the prevalence are one, and distinct for distinct prevalences.
        share = int(np.float64(population.prevalence).view(np.uint64))
        truth, score = population.draw(size, np.random.default_rng([self.seed, size, share, repeat]))
        curve = Curve(Tally.of_rows(truth, score))
        self.done += 1
        both = 0 < np.count_nonzero(truth) < size
        return [float(measure(curve)) if both else nan for measure in self.measures]


def _summarize_values(values: Floats) -> dict[str, Any]:
    defined = values[~np.isnan(values)]
    count = len(defined)
    mean = float(defined.mean()) if count else nan
    spread = sqrt(float(np.sum((defined - mean) ** 2)) / (count - 1)) if count > 1 else nan
    why = None if count else "every sample contains a single class"
    return {"value": mean, "sd": spread, "undefined": len(values) - count, "how": "mean of samples", "why": why}


def _note_single_classes(rows: list[dict[str, Any]]) -> Iterator[str]:
    undefined = {(row["size"], row["prevalence"]): row["undefined"] for row in rows if row["undefined"]}
    for (size, share), count in undefined.items():
        samples = f"{count} of {rows[0]['repeats']} samples of {size} rows at prevalence {share:g}"
        yield f"{samples} have a single class and are omitted."


def _check_integer(value: object, name: str, least: int = 1) -> int:
    number = isinstance(value, (int, float, np.integer, np.floating)) and isfinite(value)
    if not number or value != int(value) or value < least:  # type: ignore[call-overload,operator]  # a number
        raise OptionError(f"{name} is {value!r}; expected whole numbers of {least} or more.", option=name, value=value)
    return int(value)  # type: ignore[call-overload,no-any-return]  # a number


class Screening(NamedTuple):
    """Simulated predictions: label, score and site of each person."""

    sick: npt.NDArray[np.bool_]
    risk: npt.NDArray[np.float64]
    site: npt.NDArray[np.str_]


def simulate_screening(rows: int = 20_000, seed: int = 2026) -> Screening:
    """Simulate people screened at three sites, with a risk score that is miscalibrated in a realistic way.

    Each person belongs to a site: north (60%, prevalence 4%), coast (30%, 8%) or hill (10%, 15%). The sick have a
    marker from N(d, 1), the healthy from N(0, 1); d is 1.8, 1.6 and 1.1 at the three sites. The score is that of an
    overfitted model, trained at a prevalence of 12% with d = 1.7: its log-odds are 1.3 times too far from their middle.
    So it ranks well, is overconfident, and overestimates risk where the disease is rare. Scores have four digits, so
    there are ties.

    Parameters
    ----------
    rows
        Number of people.
    seed
        Random seed.

    Returns
    -------
    Screening
        Label, score and site of each person.

    Examples
    --------
    >>> people = simulate_screening(5)
    >>> people.risk.tolist(), people.site[:2].tolist()
    ([0.0928, 0.061, 0.0178, 0.017, 0.0289], ['north', 'coast'])
    """
    # Do not reorder what uses `rng`: examples, tests and documentation contain numbers of these people.
    rng = np.random.default_rng(seed)
    sites = np.array(["north", "coast", "hill"])
    site = rng.choice(3, size=rows, p=[0.6, 0.3, 0.1])
    sick = rng.random(rows) < np.array([0.04, 0.08, 0.15])[site]
    marker = rng.normal(size=rows) + np.where(sick, np.array([1.8, 1.6, 1.1])[site], 0.0)
    evidence = 1.7 * marker - 1.7**2 / 2
    log_odds = np.log(0.12 / 0.88) + 1.3 * evidence
    return Screening(sick, np.round(1 / (1 + np.exp(-log_odds)), 4), sites[site])


def screening_csv(people: Screening) -> str:
    """Write screened people as a CSV file of predictions.

    >>> screening_csv(simulate_screening(1)).splitlines()[0]
    'sick,risk,site'
    """
    lines = (f"{sick:d},{risk:.4f},{site}\n" for sick, risk, site in zip(*people, strict=True))
    return "sick,risk,site\n" + "".join(lines)


def simulate_rows(population: Population, rows: int, *, seed: int = 0, positives: int | None = None) -> Results:
    """Simulate labels and scores of a population, as tidy rows.

    Parameters
    ----------
    population
        Population to sample from.
    rows
        Number of rows.
    seed
        Random seed.
    positives
        Exact number of positives; the default is a random number.

    Returns
    -------
    Results
        Columns `truth` (0 or 1) and `score`, in random order.

    Examples
    --------
    >>> from baserate import population
    >>> [row["truth"] for row in simulate_rows(population.linear(), 4, seed=7, positives=2).rows()]
    [1, 0, 1, 0]
    """
    truth, score = population.draw(rows, seed, positives=positives)
    header = {"prevalence": population.prevalence, "seed": seed, "notes": []}
    return Results({"truth": truth.astype(int), "score": score}, header)
