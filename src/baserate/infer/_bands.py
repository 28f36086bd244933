"""Bands: how far a curve may lie from the one that was seen, at each point or everywhere at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeGuard

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import LEVEL, check_domain
from baserate._errors import OptionError
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.infer import _known
from baserate.infer._binomial import share, usual
from baserate.infer._draws import Seed, checked_seed, in_blocks, masses
from baserate.infer._paths import Bounds, Path, Places, gain, pr, roc, roc_everywhere, roc_kolmogorov
from baserate.infer._tables import in_own_rows
from baserate.measure import TABLES, Measure, about, header, known, path_of, spread, table, tabulated, why

POINTS = 200
"""Points of a band when nobody says how many: more than can be told apart in a figure."""

_DRAWS = 2000
_AT_ONCE = 256
"""Thresholds whose draws are kept together in memory."""
_PRIOR = 0.5
"""Rows added to each cell of a 2×2 table before drawing, so that empty cells are not certain to be empty."""

_QUADRATURE = "Wilson along the curve, Wilson or Clopper–Pearson across it, added in quadrature"
_LOCAL = f"{_QUADRATURE}, at equal local levels"
_KOLMOGOROV = "Kolmogorov–Smirnov for each class"
_SHARE = "Wilson, or Clopper–Pearson where there are few hits or misses"
_DIRICHLET = f"percentiles of {_DRAWS} Dirichlet draws of the 2×2 table, half a row added to each cell"
_BY_CLASS = f"{_DIRICHLET}, within each class"


class Band(NamedTuple):
    """A curve as a table, with what it takes to draw the doubt about it."""

    columns: dict[str, Floats]
    """`threshold`, the axes of the curve, `low` and `high`: bounds of the last axis."""
    how: str
    """What made the bounds."""
    why: list[str | None]
    """Why a bound is undefined, for each row."""


def band(
    tally: Tally,
    what: str | Measure,
    *,
    level: float = 0.95,
    simultaneous: bool | Literal["kolmogorov-smirnov"] = False,
    points: int | None = POINTS,
    seed: Seed = 0,
) -> Band:
    """Tabulate a named curve (`roc`, `pr`, `det`, `gain`, `lift`, `lorenz`) or a measure of Counts, with a band.

    A band of a named curve bounds y at a given x: both classes are random, and so is the threshold that gives x. Where
    a curve runs straight up, all its points there have the same band. A band of a measure bounds it at a given
    threshold. Each bound holds by itself with confidence `level`; those of `roc` and `det` hold all together if they
    are `simultaneous`: by equal local levels, or wider ones named "kolmogorov-smirnov". At most so many `points`,
    evenly spread along the curve; None is all. Only measures that are no shares need draws, and so the `seed`.

    >>> found = band(Tally.counted(score=[0.9, 0.1], rows=[[20, 30], [10, 30]]), "roc")
    >>> {name: column.round(3).tolist()[1] for name, column in found.columns.items()}
    {'threshold': 0.9, 'fpr': 0.25, 'sensitivity': 0.4, 'low': 0.187, 'high': 0.584}
    """
    _check(what, level, simultaneous=simultaneous)
    curve = Curve(tally)
    columns = table(curve, what)
    kept = spread(path_of(columns, named=_is_curve(what)), points)
    columns = {name: column[kept] for name, column in columns.items()}
    if _is_curve(what):
        low, high, how = _of_curve(curve, what.lower(), kept, level, simultaneous=simultaneous)
    else:
        low, high, how = _of_measure(curve.at(columns["threshold"]), known(what), level, seed)
    value = list(columns.values())[-1]
    # The ends of the doubt may differ from the value by a rounding, but never in the wrong direction.
    columns |= {"low": np.minimum(low, value), "high": np.maximum(high, value)}
    return Band(columns, how, _whys(curve, what, columns))


def bands(
    tallies: Tallies,
    what: str | Measure,
    *,
    level: float = 0.95,
    simultaneous: bool | Literal["kolmogorov-smirnov"] = False,
    points: int | None = POINTS,
    seed: Seed = 0,
) -> Results:
    """Tabulate a curve or a measure with its band, as `band` does, for every model, everybody together and each group.

    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> bands(t, "precision").rows()[1]["high"], bands(t, "precision").data["level"]
    (1.0, 0.95)
    """
    hows: list[str] = []

    def columns(tally: Tally) -> Mapping[str, Any]:
        found = band(tally, what, level=level, simultaneous=simultaneous, points=points, seed=seed)
        hows.append(found.how)
        return {**found.columns, "why": found.why}

    made = tabulated(tallies, columns)
    doubt = {"level": level, "simultaneous": simultaneous, "how": hows[0]}
    return Results(made, header(tallies, []) | doubt)


Bounding = Callable[[Path, Places, float], Bounds]

_POINTWISE: dict[str, Bounding] = {"roc": roc, "pr": pr, "det": roc, "gain": gain, "lift": gain, "lorenz": gain}
_TOGETHER: dict[bool | str, tuple[Bounding, str]] = {
    True: (roc_everywhere, _LOCAL),
    "kolmogorov-smirnov": (roc_kolmogorov, _KOLMOGOROV),
}
_TOGETHER_OF = ("roc", "det")


def _check(what: str | Measure, level: float, *, simultaneous: bool | str) -> None:
    check_domain("level", level, LEVEL._replace(high=1 - 2**-53, words="a confidence level from 1e-9 to 1 - 2⁻⁵³"))
    if simultaneous is False:
        return
    if simultaneous not in _TOGETHER:
        raise OptionError(f"simultaneous is {simultaneous!r}; it is True, False or 'kolmogorov-smirnov'.")
    if not (isinstance(what, str) and what.lower() in _TOGETHER_OF):
        name = what if isinstance(what, str) else about(known(what)).name
        raise OptionError(
            f"a simultaneous band is known of {' and '.join(_TOGETHER_OF)} only, not of {name}; leave it out."
        )


def _of_curve(
    curve: Curve, what: str, kept: Places, level: float, *, simultaneous: bool | str
) -> tuple[Floats, Floats, str]:
    bounding, how = _TOGETHER[simultaneous] if simultaneous else (_POINTWISE[what], _QUADRATURE)
    if curve.positives == 0 or curve.negatives == 0:
        return *np.full((2, len(kept)), np.nan), how
    path = Path.of(curve)
    low, high = bounding(path, kept, level)
    if what in {"det", "lorenz"}:
        low, high = 1 - high, 1 - low
    if what == "lift":
        rate = path.mass[:, kept].sum(axis=0) / curve.total
        low, high = ratio(low, rate), ratio(high, rate)
    return low, high, how


def _of_measure(counts: Counts[Floats], measure: Measure, level: float, seed: Seed) -> tuple[Floats, Floats, str]:
    if counts.reweighed and (found := _known.bound_at_fixed_prevalence(counts, measure, level)):
        return found
    how = _BY_CLASS if counts.reweighed else _DIRICHLET
    if about(measure).share is not None and not counts.reweighed:
        hits, misses = (np.asarray(each) for each in share(measure, counts))
        return *usual(hits, misses, level), _SHARE
    if not np.any(counts.total):
        return *np.full((2, len(counts.tp)), np.nan), how
    parts = range(0, len(counts.tp), _AT_ONCE)
    generators = checked_seed(seed).spawn(len(parts))
    drawn = (
        _drawn(counts[start : start + _AT_ONCE], measure, level, rng)
        for start, rng in zip(parts, generators, strict=True)
    )
    low, high = np.concatenate(list(drawn), axis=1)
    return low, high, how


def _drawn(counts: Counts[Floats], measure: Measure, level: float, rng: np.random.Generator) -> Floats:
    """Percentiles of a measure of random tables: low in row 0, high in row 1."""
    mass, squares = (np.stack([each.tp, each.fp, each.fn, each.tn]) for each in (counts, counts.squares))
    if counts.reweighed:
        measure = _by_class(measure, mass[:, :1])  # the masses of the classes are the same at all thresholds
        mass, squares = (_flat(each) for each in in_own_rows(_paired(mass), _paired(squares), axis=0))
    own, others = rng.spawn(2)
    low, high = _percentiles(mass, squares, measure, level, own)
    hollow = np.flatnonzero((mass == 0).any(axis=0))
    if len(hollow):
        # Half a row in an empty cell says that there is something in it; it may also be that there is nothing.
        bare = _percentiles(mass[:, hollow], squares[:, hollow], measure, level, others, filled=False)
        low[hollow], high[hollow] = np.fmin(low[hollow], bare[0]), np.fmax(high[hollow], bare[1])
    return np.stack([low, high])


def _by_class(measure: Measure, mass: Floats) -> Measure:
    """Take a measure of tables whose classes are first given the masses that they have."""
    whole = _paired(mass).sum(axis=0, keepdims=True)

    def rescaled(drawn: Counts[Floats]) -> Floats:
        made = _paired(np.stack([drawn.tp, drawn.fp, drawn.fn, drawn.tn], axis=-2))
        made *= np.nan_to_num(ratio(whole, made.sum(axis=-3, keepdims=True)))
        found: Floats = measure(Counts(*np.moveaxis(_flat(made), -2, 0)))
        return found

    return rescaled


def _paired(cells: Floats) -> Floats:
    """Cells tp, fp, fn, tn of many tables as two decisions of two classes; the classes along the second axis."""
    return cells.reshape(*cells.shape[:-2], 2, 2, cells.shape[-1])


def _flat(pairs: Floats) -> Floats:
    """Do the reverse."""
    return pairs.reshape(*pairs.shape[:-3], 4, pairs.shape[-1])


def _percentiles(
    mass: Floats, squares: Floats, measure: Measure, level: float, rng: np.random.Generator, *, filled: bool = True
) -> tuple[Floats, Floats]:
    def make(rng: np.random.Generator, draws: int) -> Floats:
        drawn = masses(rng, draws, mass, squares, prior=_PRIOR)
        if not filled:
            drawn *= mass > 0
        found: Floats = measure(Counts(*np.moveaxis(drawn, 1, 0)))
        return found

    values = in_blocks(make, draws=_DRAWS, seed=rng, size=mass.size)
    tail = (1 - level) / 2
    # Draws themselves rather than what lies between them, which for infinite ones is nothing.
    low = np.quantile(values, tail, axis=0, method="lower")
    return low, np.quantile(values, 1 - tail, axis=0, method="higher")


def _whys(curve: Curve, what: str | Measure, columns: Mapping[str, Floats]) -> list[str | None]:
    holes = np.isnan(columns["low"])
    whys: list[str | None] = [None] * len(holes)
    places = np.flatnonzero(holes)
    if not len(places):
        return whys
    # A band of a curve needs both classes, even where the curve itself does not.
    names = (*reversed(TABLES[what.lower()]), "sensitivity", "fpr") if _is_curve(what) else (what,)
    counts = curve.at(columns["threshold"][places])
    for order, place in enumerate(places.tolist()):
        causes = (why(known(name), counts[order]) for name in names)
        whys[place] = next(filter(None, causes), None)
    return whys


def _is_curve(what: str | Measure) -> TypeGuard[str]:
    return isinstance(what, str) and what.lower() in TABLES
