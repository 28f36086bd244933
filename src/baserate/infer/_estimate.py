"""`estimate`: a measure, with an interval made by the method that suits it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isinf, isnan, nan
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import LEVEL, check_domain
from baserate._errors import OptionError, ShapeError
from baserate._estimate import Estimate
from baserate._rows import LabelSets, MulticlassRows, Rows
from baserate._tally import Tally
from baserate.infer import (
    _auc,
    _binomial,
    _clusters,
    _confusion_intervals as _confusions,
    _known,
    _ks,
    _means,
    _moments,
    _net,
    _resample,
    _tables,
    _weights,
)
from baserate.infer._draws import Seed, checked_seed, percentiles
from baserate.infer._found import Found
from baserate.infer._reliability import _intervals as reliability
from baserate.infer._tails import heavy_tail
from baserate.measure import (
    Measure,
    about,
    accuracy_ratio,
    auc,
    cap_area,
    gini,
    known,
    ks,
    lorenz_gini,
    multiclass,
    pr_auc,
    why,
)

Data = Tally | Curve | Counts[float] | Confusion | Rows | MulticlassRows | LabelSets
Noun = Tally | Curve | Counts[float] | Confusion | MulticlassRows | LabelSets


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """What kind of interval is wanted."""

    level: float = 0.95
    method: str | None = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        if not isinstance(self.level, _binomial.NormalLevel):  # which p-values look for, as far out as it takes
            check_domain("level", self.level, LEVEL)
        checked_seed(self.seed)


class Case(NamedTuple):
    """A number, what it was measured of, and what is wanted."""

    measure: Measure
    noun: Any
    value: float
    asked: EstimateRequest

    @property
    def tally(self) -> Tally:
        """The tally, where the noun is one or a curve of one."""
        found = self.noun.tally if isinstance(self.noun, Curve) else self.noun
        assert isinstance(found, Tally)  # noqa: S101  (for the type checker)
        return found


Way = Callable[[Case], Found]
"""Makes the bounds of a number."""


def estimate(
    measure: str | Measure,
    data: Data,
    *,
    threshold: float | None = None,
    level: float = 0.95,
    method: str | None = None,
    seed: Seed = 0,
) -> Estimate:
    """Estimate a measure with its confidence interval at `level`.

    `data` is what the measure takes, or what that can be made of: of a tally, measures of a 2×2 table are taken at a
    `threshold`. Rows in clusters give intervals that know it. Options of a measure are chosen with `functools.partial`.
    Without `method` the interval is one whose coverage was studied; `methods` names the others. What was reweighed has
    known shares of the classes: only methods that keep them are taken. Random draws depend on the `seed` alone, not on
    the order of rows.

    >>> from baserate import Counts, infer, tally
    >>> found = infer.estimate("sensitivity", Counts(tp=81, fp=20, fn=182, tn=300))
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4), found.how
    (0.308, 0.2553, 0.3662, 'Wilson')
    >>> perfect = infer.estimate("auc", tally([1] * 10 + [0] * 90, range(100, 0, -1)))
    >>> perfect.value, round(perfect.low, 3), perfect.high
    (1.0, 0.769, 1.0)
    """
    asked = EstimateRequest(level, method, seed)
    chosen = _chosen(measure, data)
    if isinstance(data, Rows) and data.cluster is not None:
        return _clustered(chosen, data, threshold, asked)
    return judged(chosen, noun_of(chosen, data, threshold), asked)


def methods(measure: str | Measure, data: Data) -> tuple[str, ...]:
    """Name the methods that make an interval of this measure of such data; the first is the default's own family.

    >>> from baserate import Counts, infer
    >>> infer.methods("precision", Counts(tp=1, fp=1, fn=1, tn=1))
    ('wilson', 'clopper-pearson', 'jeffreys', 'agresti-coull', 'draws', 'stratified', 'bootstrap')
    """
    chosen = _chosen(measure, data)
    return tuple(name for name in ways(chosen, reweighed=_known.reweighed(data)) if name)


def judged(measure: Measure, noun: Noun, asked: EstimateRequest) -> Estimate:
    """Do the same with what the measure takes."""
    if isinstance(noun, Counts | Confusion) and noun.shape:
        raise ShapeError(f"these are {noun.shape} tables; take an interval of one, for example counts[0].")
    value = float(measure(noun))
    if isnan(value):
        return Estimate(nan, why=why(measure, noun) or "it is undefined")
    reweighed = _known.reweighed(noun)
    known_ways = _OF_ROWS if isinstance(noun, LabelSets) else ways(measure, reweighed=reweighed)
    if asked.method is not None and asked.method not in known_ways:
        names = ", ".join(filter(None, known_ways))
        told = f"known are: {names}" if names else "there is one kind only, so leave it out"
        where = " where the shares of the classes are known" if reweighed else ""
        raise OptionError(f"method={asked.method!r} makes no interval of {about(measure).name}{where}; {told}.")
    found = known_ways[asked.method or ""](Case(measure, noun, value, asked))
    return framed(value, found, measure, asked)


def framed(value: float, found: Found, measure: Measure, asked: EstimateRequest) -> Estimate:
    """Put value and bounds together: inside the span, and the value between them."""
    if isnan(found.low) or isnan(found.high):
        return Estimate(value, level=asked.level, how=found.how, why=found.why or "the interval is undefined")
    least, most = about(measure).span
    low, high = min(max(found.low, least), value), max(min(found.high, most), value)
    return Estimate(value, low, high, asked.level, found.how)


def ways(measure: Measure, *, reweighed: bool = False) -> Mapping[str, Way]:
    """Ways to make an interval of a measure, by name; the one without a name is taken by default.

    Of what was reweighed, those alone that leave the shares of the classes as they are.
    """
    told = about(measure)
    if told.of in (Counts, Confusion):
        return _ways_of_tables(measure, reweighed=reweighed)
    if reweighed:
        kept = {name: way for name, way in ways(measure).items() if name not in ("resample", "bootstrap")}
        return kept | ({"": partial(_moved, way="stratified")} if kept[""] is _moved else {})
    if told.of in (MulticlassRows, LabelSets):
        return _OF_ROWS
    if reliability.known(measure):
        return {"": _calibration} | _RESAMPLED
    return _RANKS.get(measure, {"": _moved}) | _RESAMPLED


def _ways_of_tables(measure: Measure, *, reweighed: bool) -> Mapping[str, Way]:
    if _net.closed(measure, reweighed=reweighed):
        return _WORTH | (_BY_CLASS if reweighed else _NAMED_TABLES)
    if reweighed:
        return _AT_KNOWN_SHARES[_known.kind(measure)]
    if about(measure).share:
        return _SHARES
    return _CONFUSIONS if about(measure).of is Confusion else _TABLES


def closed(measure: Measure, *, reweighed: bool, method: str | None) -> bool:
    """Whether an interval is made without draws, of two classes."""
    way = ways(measure, reweighed=reweighed)[method or ""]
    return (way.func if isinstance(way, partial) else way) not in (_table, _moved, _resampled, _calibration)


def _chosen(measure: str | Measure, data: object) -> Measure:
    if isinstance(measure, str) and isinstance(data, Confusion | MulticlassRows | LabelSets):
        return multiclass.named(measure)
    return known(measure)


def noun_of(measure: Measure, data: object, threshold: float | None = None) -> Any:  # noqa: ANN401  (what the measure takes)
    """Make what the measure takes of what there is."""
    wanted = about(measure).of
    if isinstance(data, Rows):
        data = _only(data)
    if wanted is Counts and isinstance(data, Tally | Curve):
        if threshold is None:
            raise OptionError(f"{about(measure).name} is of decisions: give a threshold=.")
        return (data if isinstance(data, Curve) else Curve(data)).at(float(threshold))
    if threshold is not None:
        raise OptionError(f"threshold={threshold} has no use: it cuts a tally for a measure of a 2×2 table.")
    if wanted is Curve and isinstance(data, Tally):
        return Curve(data)
    if wanted is Tally and isinstance(data, Curve):
        return data.tally
    if wanted is Confusion and isinstance(data, MulticlassRows):
        return data.decided()
    if isinstance(data, LabelSets) and "parts" in vars(measure):
        return data  # whatever is averaged over classes is averaged over labels, too
    if not isinstance(data, wanted):
        told = f"{about(measure).name} takes {wanted.__name__}, not {type(data).__name__}"
        hint = "; average it with multiclass.averaged(…)" if isinstance(data, Confusion | MulticlassRows) else ""
        raise OptionError(f"{told}{hint}.")
    return data


def _only(rows: Rows) -> Tally:
    """Tally of rows that have one score, and no groups to be told apart."""
    if len(rows.score) > 1 or rows.attributes:
        several = "several models" if len(rows.score) > 1 else f"groups ({', '.join(rows.attributes)})"
        raise OptionError(f"these rows have {several}; infer.summary judges each.")
    return rows.tallies().tally


def _share(case: Case, *, name: str | None = None) -> Found:
    return Found(*_binomial.interval(_binomial.share(case.measure, case.noun), case.asked.level, name))


def _table(case: Case, *, way: _tables.Way = "draws") -> Found:
    noun, seed, level = case.noun, case.asked.seed, case.asked.level
    weighted = isinstance(noun, Counts) and noun.moments is not None and way != "bootstrap"
    noun = _weights.steadied(noun) if weighted else noun
    found = middle(_tables.drawn(case.measure, noun, way=way, seed=seed), level, _tables.how(way))
    if way != "bootstrap" and _tables.has_empty_cells(noun):
        # Half a row in an empty cell says that there is something in it; it may also be that there is nothing.
        bare = _tables.drawn(case.measure, noun, way=way, seed=seed, filled=False)
        other = middle(bare, level, "")
        if not other.why:
            found = found._replace(low=min(found.low, other.low), high=max(found.high, other.high))
    return _wider(case, found) if weighted and not found.why else found


def _wider(case: Case, found: Found) -> Found:
    """Make an interval of weighted rows as much wider as a t quantile is: their variance was estimated."""
    factor = _moments.widening(_weights.freedom(case.measure, case.noun), case.asked.level)
    low, high = _moments.widened((found.low, found.high), case.value, about(case.measure).span, factor)
    return found._replace(low=low, high=high)


def _cells(case: Case) -> Found:
    """Interval of a measure of a K×K table by the delta method, or by draws where there are no derivatives."""
    return _confusions.interval(case.measure, case.noun, case.value, case.asked.level) or _table(case)


def _predictive(case: Case, *, name: _known.Logit | None = None) -> Found:
    low, high = _known.predictive(case.noun, case.measure, case.asked.level, name=name)
    how = _known.how(case.noun, case.measure) if name is None else _known.NAMES[name]
    return Found(low, high, how, "a cell is empty, so its logarithm is infinite" if isnan(low + high) else None)


def _everybody(case: Case) -> Found:
    return Found(*_known.everybody(case.noun, case.measure, case.asked.level), _known.SUMMED)


def _worth(case: Case) -> Found:
    how = _net.LINEAR_FIXED_METHOD if case.noun.reweighed else _net.LINEAR_METHOD
    return Found(*_net.interval(case.noun, case.measure, case.asked.level), how)


def _exact(case: Case) -> Found:
    return Found(case.value, case.value, _known.FIXED_METHOD)


def middle(draws: Floats, level: float, how: str) -> Found:
    """Middle of the draws that are defined."""
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return Found(nan, nan, how, "no draw is defined")
    left_out = len(draws) - len(defined)
    told = f"{len(draws)} {how}" + (f", of which {left_out} undefined" if left_out else "")
    return Found(*percentiles(defined, level), told)


def _area(case: Case, *, name: str | None = None) -> Found:
    plain = case.measure is auc
    found = _auc.area(case.tally, case.value if plain else (case.value + 1) / 2)
    if name is None:
        low, high, how = _auc.usual(found, case.asked.level)
    else:
        make, how = _auc.METHODS[name]
        if "delong" in name and isnan(found.variance):
            return Found(nan, nan, how, "a class has a single row")
        low, high = make(found, case.asked.level)
    reason = "the AUC is 0 or 1, where log-odds are infinite" if isnan(low) else None
    return Found(low, high, how, reason) if plain else Found(2 * low - 1, 2 * high - 1, how, reason)


def _greatest(case: Case) -> Found:
    return Found(*_ks.interval(case.tally, case.asked.level), _ks.HOW)


def _closed(case: Case) -> Found:
    how = "influence function within each class" if case.tally.reweighed else "influence function"
    if isinf(case.value):
        return Found(nan, nan, how, "the value is infinite")
    if case.tally.rows.sum(dtype=np.int64) < 2:
        return Found(nan, nan, how, "there is a single row")
    heavy = heavy_tail(case.tally) if case.measure in _moments.UNBOUNDED else None
    if heavy:
        return Found(nan, nan, how, heavy)
    return Found(*_moments.interval(case.measure, case.tally, case.value, case.asked.level), how)


def _calibration(case: Case) -> Found:
    if isinf(case.value):
        return Found(nan, nan, "plug-in", "the value is infinite")
    asked = reliability.Asked(case.measure, case.tally, case.value, case.asked.level)
    return reliability.interval(asked)


def _captured(case: Case) -> Found:
    """Interval of the area under the gain curve, through that of the AUC which belongs to it."""
    how = "from that of the AUC, prevalence known" if case.tally.reweighed else "influence function"
    if not case.tally.negatives:
        return Found(nan, nan, how, "there are no negatives, so nothing can vary")
    low, high = _auc.captured(case.tally, case.asked.level)
    return Found(2 * low - 1, 2 * high - 1, how) if case.measure is lorenz_gini else Found(low, high, how)


def _moved(case: Case, *, way: _resample.Way = "resample") -> Found:
    """Interval by mean and variance of draws, for numbers between 0 and what a perfect ranking would have."""
    measure, tally, asked = case.measure, case.tally, case.asked
    draws = _resample.drawn(measure, tally, way=way, seed=asked.seed, draws=_resample.FEW)
    rows = tally.rows.sum(axis=1, dtype=np.int64)
    perfect = Tally(np.array([1.0, 0.0]), np.diag([tally.positives, tally.negatives]), np.eye(2), np.eye(2))
    span = about(measure).span[0], float(measure(Curve(perfect)))
    freedom = _moments.freedom_of(measure, tally)
    moments = _moments.of_draws(case.value, draws, span, float(rows.min()), freedom)
    low, high = (span[0] + (span[1] - span[0]) * bound for bound in _moments.bounded(moments, asked.level))
    if measure is pr_auc and tally.negatives:
        low = min(low, _moments.unseen_area(measure, tally, case.value, asked.level))
    return Found(low, high, f"share as sure as {_resample.FEW} {_resample.how(tally, way)}")


def _resampled(case: Case, *, way: _resample.Way) -> Found:
    draws = _resample.drawn(case.measure, case.tally, way=way, seed=case.asked.seed)
    return middle(draws, case.asked.level, _resample.how(case.tally, way))


def _of_rows(case: Case) -> Found:
    return _means.interval(case.measure, case.noun, level=case.asked.level, seed=case.asked.seed)


def _clustered(measure: Measure, rows: Rows, threshold: float | None, asked: EstimateRequest) -> Estimate:
    if asked.method is not None:
        raise OptionError(f"method={asked.method!r} is for independent rows; these are in clusters: leave it out.")
    noun = noun_of(measure, rows, threshold)
    value = float(measure(noun))
    if isnan(value):
        return Estimate(nan, why=why(measure, noun) or "it is undefined")
    plugged = reliability.plug_in(measure)
    if plugged:  # whatever rows belong to, drawing them again adds chance to chance
        return framed(value, plugged, measure, asked)
    found = _clusters.interval(measure, rows, threshold=threshold, level=asked.level, seed=asked.seed)
    return framed(value, Found(*found), measure, asked)


_OF_ROWS: dict[str, Way] = {"": _of_rows}
_TABLES: dict[str, Way] = {
    "": _table,
    "draws": _table,
    "stratified": partial(_table, way="stratified"),
    "bootstrap": partial(_table, way="bootstrap"),
}
_NAMED_TABLES: dict[str, Way] = {name: way for name, way in _TABLES.items() if name}
_CONFUSIONS: dict[str, Way] = {"": _cells, "influence": _cells, **_NAMED_TABLES}
_SHARES: dict[str, Way] = {
    "": _share,
    **{name: partial(_share, name=name) for name in _binomial.METHODS},
    **_NAMED_TABLES,
}
_WORTH: dict[str, Way] = {"": _worth, "mover": _worth}
"""By the method of variance estimates recovery."""
_BY_CLASS: dict[str, Way] = {"stratified": partial(_table, way="stratified")}
_AT_KNOWN_SHARES: dict[_known.Kind, dict[str, Way]] = {
    "within": {"": _share, **{name: _SHARES[name] for name in _binomial.METHODS}, **_BY_CLASS},
    "predictive": {"": _predictive, **{name: partial(_predictive, name=name) for name in _known.LOGITS}, **_BY_CLASS},
    "everybody": {"": _everybody, **_BY_CLASS},
    "known": {"": _exact},
    "other": {"": _BY_CLASS["stratified"], **_BY_CLASS},
}
"""Of tables that were reweighed: chance is within classes."""
_AREAS: dict[str, Way] = {"": _area, **{name: partial(_area, name=name) for name in _auc.METHODS}}
_RANKS: dict[Measure, dict[str, Way]] = {
    **dict.fromkeys((auc, gini, accuracy_ratio), _AREAS),
    **{measure: {"": _captured, "influence": _captured} for measure in (cap_area, lorenz_gini)},
    **{measure: {"": _closed, "influence": _closed} for measure in _moments.KNOWN},
    ks: {"": _greatest, "newcombe": _greatest},
}
"""Of ranks and probabilities, those with an interval of their own."""
CLOSED = frozenset(_RANKS)
"""Measures of ranks and probabilities that need no draws."""
_RESAMPLED: dict[str, Way] = {
    "resample": partial(_resampled, way="resample"),
    "stratified": partial(_resampled, way="stratified"),
    "bootstrap": partial(_resampled, way="bootstrap"),
}
