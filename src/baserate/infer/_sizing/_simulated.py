"""How many rows are needed for any measure, by drawing samples from a population."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, inf, isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import DRAWS, HALF_WIDTH, check_domain
from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate._population import Population
from baserate._tally import Tally
from baserate.infer._draws import Seed, checked_seed
from baserate.infer._sizing._size import LARGEST, Size, check_inside, sized
from baserate.measure import Measure, about, known

_COUNTED, _DRAWN = 20_000, 2000
"""Samples of each size, of counts and of rows."""
_CAP = 8_000_000
"""Rows drawn for one size; where fewer than 400 samples would fit, smaller samples are drawn and scaled."""
_FEWEST = 400
_RARE = 10
"""Rows of the rarer class that a sample should hold."""
_LEAST = "no fewer than ten rows of the rarer class"
_ROUNDS = 8
_BATCHES = 10

Draw = Callable[[np.random.Generator, int, int], Floats]
"""With a generator, rows and a number of samples, gives the measure of each of them."""


def size_by_simulation(  # noqa: PLR0913  (each is something that one knows or wants)
    population: Population,
    measure: str | Measure,
    half_width: float,
    *,
    threshold: float | None = None,
    level: float = 0.95,
    draws: int | None = None,
    seed: Seed = 0,
) -> Size:
    r"""Rows needed to know a measure of a population to within a half-width, for any measure.

    Half-width is half the distance h between the quantiles (1 ± level)/2 of the measure over samples. It is simulated
    at sizes n that close in on the answer, each found by regression on :math:`1/\sqrt n` through those near it, until
    new samples of that very size agree with what is wanted: what they gave is told, with its standard error. That of
    the rows is, relatively, about twice that of the half-width, or :math:`2/\sqrt{draws}`.

    Measures of decisions need a threshold, and 20 000 samples of counts are drawn; of others 2000 samples of rows, or
    fewer if they are large. Samples of more than 20 000 rows, or of more than so many that 20 of the rarer class are
    expected, are not drawn: smaller ones are, and their half-width is scaled. Samples in which the measure is undefined
    are left out; ten rows of the rarer class are expected at least.

    Measures of probabilities, such as the Brier score, the calibration slope or the ratio O/E, are those of a
    calibrated model: each score is replaced by its posterior probability at the prevalence of the population. The
    scores themselves may be no probabilities, or wrong ones, and a ratio O/E far from 1 has another precision. With
    prevalence φ, O/E then has variance :math:`E[p(1-p)]/(nφ^2)`, at most :math:`(1-φ)/(nφ)`: that bound is the formula
    of [@riley2021], which takes the expected number E as fixed, so that it asks for more rows.

    >>> from baserate import population
    >>> found = size_by_simulation(population.linear(), "accuracy", 0.03, threshold=0.5)  # z²·0.75·0.25/h² = 800
    >>> 720 < found.rows < 880
    True
    >>> found = size_by_simulation(population.binormal(prevalence=0.1), "observed_expected", 0.2)
    >>> 600 < found.rows < 865  # 864.3 = (1 − φ)/φ · (1.96/0.2)²
    True
    >>> found.how
    '2000 simulated samples of a calibrated model'
    """
    function = known(measure)
    check_inside("level", level, "0.95")
    check_domain("half_width", half_width, HALF_WIDTH)
    if draws is not None:
        fewest = DRAWS._replace(low=_FEWEST, words=f"a whole number from {_FEWEST} to {DRAWS.high:,}")
        check_domain("draws", draws, fewest)
    check_inside("prevalence", population.prevalence, "0.1")
    least = ceil(_RARE / min(population.prevalence, 1 - population.prevalence))
    counted = about(function).of is Counts
    work = _Work(
        _drawing(population, function, threshold),
        draws or (_COUNTED if counted else _DRAWN),
        LARGEST if counted else max(_CAP // _FEWEST, 2 * least),
        level,
        checked_seed(seed),
    )
    rows, last = _closing_in(work, half_width, least)
    if not isfinite(last.half):
        raise OptionError(
            f"{about(function).name} is undefined or infinite in too many samples, even of {rows:.0e} rows; ask for "
            "another measure, or at another threshold."
        )
    parts = [*_describe(last, rows, calibrated=about(function).of is Tally), *([_LEAST] if rows == least else [])]
    return sized(rows, population.prevalence, **last.scaled(rows), how=", ".join(parts))


class _Seen(NamedTuple):
    """What samples of a size gave."""

    rows: int
    half: float
    error: float
    """Standard error of that."""
    draws: int
    undefined: int

    def scaled(self, rows: int) -> dict[str, float]:
        """Half-width and its standard error with so many rows."""
        factor = sqrt(self.rows / rows)
        return {"half_width": self.half * factor, "error": self.error * factor}


@dataclass(frozen=True, slots=True)
class _Work:
    """What draws samples, how many, of how many rows at most, and how wide they turn out."""

    draw: Draw
    draws: int
    most: int
    level: float
    rng: np.random.Generator

    def seen(self, rows: int) -> _Seen:
        """Draw samples of that size, or of the largest that is drawn."""
        size = min(rows, self.most)
        many = self.draws if self.most == LARGEST else max(min(self.draws, _CAP // size), _FEWEST)
        # One after the other: distributions of scipy.stats hold the generator while they draw, so threads mix them up.
        values = self.draw(self.rng, size, many)
        halves = np.array([self._half(batch) for batch in np.array_split(values, _BATCHES)])
        with np.errstate(invalid="ignore"):
            error = float(np.std(halves, ddof=1) / sqrt(_BATCHES))
        return _Seen(size, self._half(values), error, many, int(np.isnan(values).sum()))

    def _half(self, values: Floats) -> float:
        """Half the distance of the quantiles; infinite if the measure is undefined in most samples."""
        there = values[~np.isnan(values)]
        if len(there) < len(values) / 2:
            return inf
        tail = (1 - self.level) / 2
        with np.errstate(invalid="ignore"):
            low, high = np.quantile(there, (tail, 1 - tail), method="hazen")
            return float(high - low) / 2 if isfinite(high - low) else inf


def _drawing(population: Population, measure: Measure, threshold: float | None) -> Draw:
    """How samples are drawn: of decisions, their four counts at once; otherwise row by row."""
    told = about(measure)
    if told.of is Counts:
        if threshold is None:
            raise OptionError(f"{told.name} needs a threshold; give a threshold.")
        at = population.at(threshold)
        cells = np.array([at.tp, at.fp, at.fn, at.tn])
        cells /= cells.sum()

        def counted(rng: np.random.Generator, rows: int, many: int) -> Floats:
            found = rng.multinomial(rows, cells, size=many).T.astype(np.float64)
            values: Floats = np.asarray(measure(Counts(*found)), dtype=np.float64)
            return values

        return counted
    if told.of not in (Curve, Tally):
        raise OptionError(f"{told.name} is of several classes; a population has two.")
    if threshold is not None:
        raise OptionError(f"{told.name} is over all thresholds; leave the threshold out.")

    def drawn(rng: np.random.Generator, rows: int, many: int) -> Floats:
        return np.array([_one(population, measure, rows, rng) for _ in range(many)])

    return drawn


def _one(population: Population, measure: Measure, rows: int, rng: np.random.Generator) -> float:
    probabilities = about(measure).of is Tally
    truth, score = population.draw_calibrated(rows, rng) if probabilities else population.draw(rows, rng)
    if not 0 < np.count_nonzero(truth) < rows:
        return nan
    tally = Tally.of_rows(truth, score)
    return float(measure(tally if probabilities else Curve(tally)))


def _closing_in(work: _Work, wanted: float, least: int) -> tuple[int, _Seen]:
    """Simulate at sizes ever nearer to the answer, until one is as wide as wanted but for chance."""
    rows, seen = max(1000, least), list[_Seen]()
    for _ in range(_ROUNDS):
        last = work.seen(rows)
        seen.append(last)
        reached = last.scaled(rows)
        if abs(reached["half_width"] - wanted) <= reached["error"] or (rows == least and last.half <= wanted):
            break
        rows = _solved(seen, wanted, least)
    else:
        rows = max(rows, least)
        last = work.seen(rows)
    return rows, last


def _solved(seen: list[_Seen], wanted: float, least: int) -> int:
    r"""Rows at which :math:`h=k/\sqrt n` reaches what is wanted, with k from all sizes near the last."""
    last = seen[-1]
    near = [each for each in seen if isfinite(each.half) and 1 / 2 <= each.rows / last.rows <= 2]
    weight = sum(each.draws for each in near)
    if not weight:  # undefined or infinite in too many samples
        rows = 10 * last.rows
    else:
        k = sum(each.draws * each.half * sqrt(each.rows) for each in near) / weight
        rows = ceil((k / wanted) ** 2)
    if rows > LARGEST:
        raise OptionError(f"more than {LARGEST:.0e} rows would be needed to know it within {wanted}; ask for less.")
    return max(rows, least)


def _describe(last: _Seen, rows: int, *, calibrated: bool) -> Iterator[str]:
    yield count_of(last.draws, "simulated sample") + " of a calibrated model" * calibrated
    if last.rows != rows:
        yield f"of {count_of(last.rows, 'row')}, scaled"
    if last.undefined:
        yield f"{last.undefined} of them undefined and left out"
