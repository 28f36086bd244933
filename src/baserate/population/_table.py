"""Exact curves and numbers of a population, as tidy rows."""

from collections.abc import Iterable, Iterator
from math import inf, isnan, nan
from typing import Any

import numpy as np

from baserate import _domains
from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import check_domain
from baserate._errors import OptionError
from baserate._numeric.distribution_functions import atoms, is_discrete, point_mass, support
from baserate._numeric.distributions import CLOSED_FORM, Distribution
from baserate._population import Population
from baserate._results import Results
from baserate._tally import Tally
from baserate.measure import TABLES, Measure, about, known, named, settings_notes, settings_of, why
from baserate.population._best import best, check

COLUMNS = ("measure", "model", "group", "class", "threshold", "value", "low", "high", "level", "how", "why")
POINTS = 101
_RARE = 1e-3
"""Chance beyond which scores without an end are not worth a look."""


def thresholds(population: Population, points: int = POINTS) -> Floats:
    """Thresholds to look at, strictest first: evenly spread over the scores, all atoms if scores are discrete.

    The first flags nothing and the last everything; that takes ±inf where scores have no end.

    >>> from baserate import population
    >>> population.thresholds(population.linear(), points=5).tolist()
    [1.0, 0.75, 0.5, 0.25, 0.0]
    """
    check(population)
    check_domain("points", points, _domains.POINTS)
    classes = (population.negative, population.positive)
    if all(map(is_discrete, classes)):
        return np.concatenate([[inf], np.unique(np.concatenate([atoms(each) for each in classes]))[::-1]])
    lows, highs = zip(*(_outer(population, at) for at in (0, 1)), strict=True)
    top, bottom = max(highs), min(lows)
    table = population.at(np.array([top, bottom]))
    strictest = [inf] * bool(table.flagged[0] > 0)
    laxest = [-inf] * bool(table.passed[1] > 0)
    room = max(points - len(strictest) - len(laxest), 0)
    # Multiply, then divide: tenths are then the numbers that people write.
    steps = np.arange(room - 1, -1, -1) if room > 1 else np.full(room, 0.5)
    inner = bottom + steps * (top - bottom) / max(room - 1, 1)
    return np.concatenate([strictest, inner, laxest])


def table(population: Population, *what: str | Measure, points: int = POINTS, at: Iterable[float] = ()) -> Results:
    """Tabulate a named curve (`roc`, `pr`, `det`, `gain`, `lift`, `lorenz`), or any measures, exactly.

    At the thresholds `at`, strictest first, otherwise at so many `points`, evenly spread over the scores.

    >>> from baserate import population
    >>> exact = population.table(population.linear(), "roc", at=[0.75, 0.5])
    >>> exact.columns["fpr"].tolist(), exact.columns["sensitivity"].tolist()
    ([0.0625, 0.25], [0.4375, 0.75])
    """
    check(population)
    given = np.array(sorted(at, reverse=True), dtype=np.float64)
    places = given if len(given) else thresholds(population, points)
    measures = [function for each in what for function in _measures(each)]
    unfit = [about(measure).name for measure in measures if about(measure).of is not Counts]
    if unfit:
        raise OptionError(
            f"{', '.join(unfit)} has one value for a whole curve, not one at each threshold; leave it out."
        )
    counts = population.at(places)
    columns: dict[str, Any] = {name: [None] * len(places) for name in ("model", "group")} | {"threshold": places}
    columns |= {about(measure).name: np.asarray(measure(counts)) for measure in measures}
    return Results(columns, header(population))


def summary(population: Population, *measures: str | Measure, points: int = 11, at: Iterable[float] = ()) -> Results:
    """Tell the exact best value of each measure and where it is, then its values at thresholds, as tidy rows.

    The column `best` marks the best ones; where no threshold attains it, `how` says "limit". A measure without a better
    end has no best value, and one of a whole curve only its value.

    >>> from baserate import population
    >>> row = population.summary(population.linear(), "mcc").rows()[0]
    >>> row["threshold"], row["value"], row["best"]
    (0.5, 0.5, True)
    """
    chosen = [known(each) for each in measures]
    rows = [row for measure in chosen for row in _best_rows(population, measure)]
    of_tables = [measure for measure in chosen if about(measure).of is Counts]
    if of_tables:
        places = table(population, points=points, at=at).columns["threshold"]
        rows += [_row(measure, population, threshold) for measure in of_tables for threshold in places]
    columns = {name: [row.get(name) for row in rows] for name in (*COLUMNS, "best")}
    data = header(population)
    skipped = [row["measure"].replace("_", " ") for row in rows if row.get("skipped")]
    notes = [f"thresholds with an infinite {name} were skipped: an infinity never wins a search." for name in skipped]
    settings = settings_of(chosen)
    notes += settings_notes(settings)
    return Results(columns, data | {"notes": [*data["notes"], *notes]} | ({"settings": settings} if settings else {}))


def theory(population: Population, measure: str | Measure) -> float:
    """Exact value of a measure over all thresholds: what it is on an infinite sample. NaN where none is known.

    >>> from baserate import population
    >>> theory(population.linear(), "ks")
    0.5
    """
    check(population)
    function = known(measure)
    told = about(function)
    if told.of is not Curve:
        raise OptionError(f"{told.name} is not a measure over all thresholds; `best` and `table` tell of others.")
    if any(margin in told.needs and _empty(population, margin) for margin in ("positives", "negatives")):
        return nan
    if is_discrete(population.negative) and is_discrete(population.positive):
        return float(function(Curve(_tally(population))))
    return _EXACT[told.name](population) if told.name in _EXACT else nan


def header(population: Population) -> dict[str, Any]:
    """What the numbers were made from."""
    return {
        "population": {"negative": _described(population.negative), "positive": _described(population.positive)},
        "prevalence": population.prevalence,
        "auc": population.auc,
        "d_prime": population.d_prime,
        "average_precision": population.average_precision,
        "notes": [],
    }


def _described(distribution: Distribution) -> str:
    """A distribution in words that are the same every time: those of SciPy tell where in memory they are."""
    if isinstance(distribution, CLOSED_FORM):
        return repr(distribution)
    family = getattr(distribution, "dist", None)
    if family is None:
        return type(distribution).__name__
    named = vars(distribution)
    given = [*map(str, named.get("args", ())), *(f"{name}={value}" for name, value in named.get("kwds", {}).items())]
    return f"scipy.stats.{family.name}({', '.join(given)})"


def _greatest_distance(population: Population) -> float:
    return max(best(population, "youden").value, -best(population, "youden", toward="low").value)


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
    "ks": _greatest_distance,
}
"""Measures of whole curves, where scores have a density."""


def _tally(population: Population) -> Tally:
    """Discrete scores as the tally that they are."""
    classes = (population.positive, population.negative)
    score = np.unique(np.concatenate([atoms(each) for each in classes]))[::-1]
    shares = (population.prevalence, 1 - population.prevalence)
    cells = np.array([share * point_mass(each, score) for share, each in zip(shares, classes, strict=True)])
    return Tally(score, cells, cells**2, (cells > 0).astype(np.uint8))


def _best_rows(population: Population, measure: Measure) -> Iterator[dict[str, Any]]:
    told = about(measure)
    if told.of is Curve:
        value = theory(population, measure)
        yield {"measure": told.name, "value": value, "best": False, "why": _UNKNOWN if isnan(value) else None}
    elif told.of is not Counts:
        raise OptionError(f"{told.name} is of probabilities, not of ranks or tables; leave it out.")
    elif told.best is not None:
        try:
            found = best(population, measure)
        except OptionError as error:
            yield {"measure": told.name, "value": nan, "best": True, "why": str(error).partition(";")[0]}
            return
        how = None if found.attained else "limit"
        row = {"measure": told.name, "threshold": found.threshold, "value": found.value, "how": how, "best": True}
        yield row | {"skipped": found.skipped}


_UNKNOWN = "a class is missing, or no formula is known"


def _row(measure: Measure, population: Population, threshold: float) -> dict[str, Any]:
    counts = population.at(float(threshold))
    value = float(measure(counts))
    reason = why(measure, counts) if isnan(value) else None
    return {"measure": about(measure).name, "threshold": float(threshold), "value": value, "best": False, "why": reason}


def _measures(what: str | Measure) -> list[Measure]:
    return [known(what)] if callable(what) else [named(name) for name in TABLES.get(what.lower(), (what,))]


def _outer(population: Population, which: int) -> tuple[float, float]:
    """Least and greatest score of a class; where it has none, one that hardly anybody goes beyond."""
    distribution = (population.negative, population.positive)[which]
    low, high = support(distribution)
    least, most = float(distribution.ppf(_RARE)), float(distribution.isf(_RARE))
    # As round as the spread of the scores allows.
    unit = 10.0 ** np.floor(np.log10(max(most - least, 1e-300) / 2))
    return max(low, float(np.floor(least / unit) * unit)), min(high, float(np.ceil(most / unit) * unit))


def _empty(population: Population, margin: str) -> bool:
    return population.prevalence == (0 if margin == "positives" else 1)
