"""Models compared on the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from itertools import combinations
from math import isfinite, isinf, isnan, nan, sqrt
from typing import Any

import numpy as np

from baserate._costs import Costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import EmptyDataError, OptionError, UnknownNameError
from baserate._formatting import count_of
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.infer import _auc
from baserate.infer._alike import Alike, Place, alike
from baserate.infer._binomial import two_sided
from baserate.infer._columns import of_columns
from baserate.infer._comparing._comparison import Comparison, ComparisonRequest, Grouped, adjusted, of_group
from baserate.infer._comparing._influence_difference import has_closed_form, studentized
from baserate.infer._comparing._mcnemar import TESTS, Discordant, McNemar, interval, p_at
from baserate.infer._comparing._paired import AS_SHARES, Drawn, as_shares, joint, of_tables
from baserate.infer._comparing._question import LEAST, Question, hybrid, of_normal, of_student
from baserate.infer._delong import Influence, influence, same_ranks
from baserate.infer._draws import Seed
from baserate.infer._moments import Units, widening
from baserate.measure import Measure, Settings, about, known, require_stated, why

AREAS = {"auc": 1.0, "gini": 2.0, "accuracy_ratio": 2.0}
"""Measures that are an AUC but for a scale and a shift: how much they change when it changes by 1."""

Pair = tuple[str, str]
_MIDDLE = 0.5
_SAME = "the same predictions in every row"


def compare(  # noqa: PLR0913  (each is a part of the question)
    rows: Rows,
    *,
    measure: str | Measure | Iterable[str | Measure] = "auc",
    models: Sequence[str] | Sequence[Pair] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    question: Question = Question(),  # noqa: B008  (it is immutable)
    costs: Costs | None = None,
    seed: Seed = 0,
) -> tuple[Comparison, ...]:
    """Compare models on the same rows: the difference of a measure, its interval, and a p-value.

    The test follows from the measure, unless the question names a method. AUC, and what is an AUC on another scale:
    DeLong's paired test. Shares of rows that the label alone chooses (accuracy, sensitivity, specificity and their
    complements, flag rate): McNemar's mid-p test, and an interval that excludes 0 exactly where the test rejects. Brier
    score, log loss, their skill, and average precision: t test of what each row adds, with fourth-moment degrees of
    freedom; KS: the same at the thresholds of the sample. Other measures of a confusion matrix: simulated joint tables
    of the label and both decisions. All else: random weights for rows (Bayesian bootstrap), the same for both models.
    Of clustered rows whole clusters get a weight, and what rows add is summed within them. Where rows show no variance,
    few of them are not taken for proof: limits of shares of as many rows take their place.

    Parameters
    ----------
    rows
        Truth and the scores of two or more models. Groups are compared one by one after everybody.
    measure
        A name, a function of baserate.measure, perhaps with options chosen by `functools.partial`, or several.
    models
        Names to compare each with each, or pairs of names; otherwise all. A difference is the first less the second.
    threshold
        At or above which a score is flagged, for measures that need it: one for all, or one for each model by name;
        otherwise 0.5 if scores are probabilities.
    question
        Alternative, margin, level and method.
    costs
        What outcomes cost, for the measure expected_cost; a threshold probability of net benefit is given by
        `functools.partial(measure.net_benefit, at=0.1)`. Without such a number these measures are refused.
    seed
        The same gives the same draws.

    Examples
    --------
    >>> truth = np.array([1, 1, 1, 0, 0, 0, 0], dtype=bool)
    >>> new, old = np.array([9, 7, 6, 8, 3, 2, 1.0]), np.array([7, 3, 9, 8, 6, 2, 1.0])
    >>> compare(Rows(truth, {"new": new, "old": old}))[0]
    Comparison(auc: new 0.833333, old 0.75; difference 0.0833333 (-0.281884 to 0.448551), p 0.654721)
    """
    if not isinstance(rows, Rows):
        raise OptionError(f"{type(rows).__name__} is not Rows; read them first, with baserate.read.rows(…).")
    chosen = list(dict.fromkeys(Settings(costs=costs).apply(known(each)) for each in _several(measure)))
    if not chosen:
        raise OptionError("there is no measure to compare by; name one, for example measure='auc'.")
    require_stated(chosen)
    if costs is not None and Settings(costs=costs).idle(chosen):
        raise OptionError(
            "costs are given, but no measure depends on them; compare by expected_cost, or leave them out."
        )
    pairs = {at: _pairs(rows, models, each) for at, each in enumerate(chosen)}
    names = list(dict.fromkeys(name for each in pairs.values() for pair in each for name in pair))
    decided = any(about(each).of is Counts for each in chosen)
    cuts = _cuts(rows, names, threshold) if decided else {}
    found: list[Comparison] = []
    for group, place in _walk(rows):
        cells = alike(rows, names, place)
        if not len(cells):
            raise EmptyDataError(f"there are no rows{of_group(group)}; give at least one, with a weight above 0.")
        for at, each in enumerate(chosen):
            found += _Case(ComparisonRequest(each, question), cells, cuts, seed, group).compared(pairs[at])
    return adjusted(found)


@dataclass(slots=True)
class _Case:
    """One measure on one group of rows."""

    asked: ComparisonRequest
    cells: Alike
    cuts: Mapping[str, float | None]
    seed: Seed
    group: Grouped
    tallies: dict[str, Tally] = field(default_factory=dict)

    def compared(self, pairs: Sequence[Pair]) -> Iterator[Comparison]:
        """Compare each pair by the method that is asked for, or that fits."""
        told = about(self.asked.measure)
        method = _method(self.asked, self.cells)
        left = [pair for pair in pairs if not self._same(*pair)]
        names = list(dict.fromkeys(name for pair in left for name in pair))
        by: Any = None
        if told.of is Counts:
            by = partial(self._decided, method)
        elif left and method == "delong":
            by = partial(self._delong, names, influence(self.cells, names))
        elif left and method == "influence":
            by = self._studentized
        elif left:
            by = partial(self._resampled, names, of_columns(self.asked.measure, self.cells, names, self.seed))
        for pair in pairs:
            yield by(pair) if pair in left else self._identical(pair)

    def _found(self, pair: Pair, bounds: tuple[float, float], how: str, **more: Any) -> Comparison:  # noqa: ANN401
        values = self._values(pair)
        if isnan(values[0] - values[1]):
            more["why"] = self._why(pair)
        return self.asked.found(values, bounds, how, **self._place(pair), **more)

    def _place(self, pair: Pair) -> dict[str, Any]:
        """Say what is compared: models, of whom, and at which thresholds."""
        at = (self.cuts.get(pair[0]), self.cuts.get(pair[1])) if self._decides else (None, None)
        return {"models": pair, "group": self.group, "thresholds": at}

    @property
    def _units(self) -> float:
        """How many independent units a value rests on: clusters, rows, or for ranks those of the smaller class."""
        cells = self.cells
        if cells.cluster is not None:
            return cells.clusters
        positives = int(cells.times[cells.truth].sum())
        rows = int(cells.times.sum())
        return min(positives, rows - positives) if about(self.asked.measure).of is Curve else rows

    @property
    def _decides(self) -> bool:
        return about(self.asked.measure).of is Counts

    def _tally(self, model: str) -> Tally:
        if model not in self.tallies:
            self.tallies[model] = self.cells.tally(model)
        return self.tallies[model]

    def _noun(self, model: str) -> Any:  # noqa: ANN401  (what the measure takes)
        tally = self._tally(model)
        if self._decides:
            return Curve(tally).at(self._cut(model))
        return Curve(tally) if about(self.asked.measure).of is Curve else tally

    def _cut(self, model: str) -> float:
        cut = self.cuts[model]
        return _MIDDLE if cut is None else cut

    def _values(self, pair: Pair) -> tuple[float, float]:
        first, second = (float(self.asked.measure(self._noun(model))) for model in pair)
        return first, second

    def _why(self, pair: Pair) -> str | None:
        reasons = {model: why(self.asked.measure, self._noun(model)) for model in pair}
        if len(set(reasons.values())) == 1:
            return reasons[pair[0]]
        return "; ".join(f"{model}: {reason}" for model, reason in reasons.items() if reason)

    def _same(self, first: str, second: str) -> bool:
        """Whether both give the same scores, and not only the same two: labels may agree by chance."""
        one, other = self.cells.score[first], self.cells.score[second]
        alike_ = np.array_equal(one, other) and not ((one == one.min()) | (one == one.max())).all()
        return alike_ and (not self._decides or self._cut(first) == self._cut(second))

    def _identical(self, pair: Pair, how: str = _SAME) -> Comparison:
        """What is the same is not different, and certainly not worse."""
        asked = 0.0 if self._side == "two-sided" else self.asked.question.margin
        p = LEAST if asked > 0 else 1.0
        return self._found(pair, (0.0, 0.0), how, statistic=0.0, p=p, test=how)

    @property
    def _side(self) -> Any:  # noqa: ANN401  (one of three words)
        return self.asked.question.side(about(self.asked.measure))

    @property
    def _bound(self) -> float:
        return self.asked.question.bound(about(self.asked.measure))

    def _delong(self, names: Sequence[str], rows: Influence, pair: Pair) -> Comparison:
        """DeLong's test; where it knows no variance, Newcombe's limits."""
        scale = AREAS[about(self.asked.measure).name]
        first, second = self._values(pair)
        variance = rows.variance_of_difference(names.index(pair[0]), names.index(pair[1]))
        error = scale * sqrt(variance) if variance >= 0 else nan
        if not error > 0:
            return self._without_variance(pair, scale)
        half = two_sided(self.asked.question.level) * error
        z = (first - second - self._bound) / error
        how, p = "DeLong, paired", of_normal(z, self._side)
        if self.cells.cluster is not None:
            # With eight clusters a normal quantile gave 9 % false alarms instead of 5.
            freedom = self.cells.clusters - 1
            how, p = "DeLong, paired, clusters by Obuchowski", of_student(z, freedom, self._side)
            half *= widening(freedom, self.asked.question.level)
        bounds = (first - second - half, first - second + half)
        return self._found(pair, bounds, how, statistic=z, p=p, test=how)

    def _without_variance(self, pair: Pair, scale: float) -> Comparison:
        areas = [_area(self.cells, self._tally(model)) for model in pair]
        values = areas[0].value, areas[1].value
        if self._function(pair):
            return self._identical(pair, "the same ranks in every row")

        def interval(level: float) -> tuple[float, float]:
            low, high = hybrid(values, _auc.score(areas[0], level), _auc.score(areas[1], level))
            return scale * low, scale * high

        if isnan(values[0] - values[1]):
            return self._found(pair, (nan, nan), "")
        how = "Newcombe's score limits of both areas as if independent: these rows show no variance"
        value = scale * (values[0] - values[1])
        statistic = 0.0 if value == self._bound else nan
        return self.asked.by_intervals(self._values(pair), interval, how, **self._place(pair), statistic=statistic)

    def _function(self, pair: Pair) -> bool:
        """Whether one model surely is a function of the other; perfect ones may rank a few rows alike by chance."""
        imperfect = _auc.area(self._tally(pair[0])).variance > 0
        return imperfect and same_ranks(*(self.cells.score[model] for model in pair))

    def _decided(self, method: str, pair: Pair) -> Comparison:
        """Draws of the joint table, and McNemar's test if it is that."""
        flagged = [self.cells.score[model] >= self._cut(model) for model in pair]
        table = joint(self.cells, flagged[0], flagged[1])
        values = self._values(pair)
        value = values[0] - values[1]
        if isnan(value):
            return self._found(pair, (nan, nan), "")
        if method in TESTS:
            return self._mcnemar(TESTS[method], table.discordant(self.asked.measure), pair)
        drawn = of_tables(self.asked.measure, table, self.seed, turned=pair[0] > pair[1])
        bounds = drawn.interval(value, self.asked.question.level)
        tested = drawn.test(value, self._side, self._bound)
        if table.agree and self._side == "two-sided":
            tested = {"p": 1.0}
        return self._found(pair, bounds, drawn.told, **tested, test=drawn.told)

    def _mcnemar(self, test: McNemar, seen: Discordant, pair: Pair) -> Comparison:
        """One of McNemar's tests, and the interval that agrees with it."""
        bounds = interval(test, seen, self.asked.question.level)
        how = f"{test.name}: {count_of(seen.first, 'row')} against {seen.second}"
        made = f"{test.name}, inverted"
        if self.asked.question.margin:
            p = p_at(test, seen, self._bound, self._side)
            return self._found(pair, bounds, made, p=p, test=f"{how}, at the margin")
        tested = test.tested(seen.first, seen.second, self._side)
        return self._found(pair, bounds, made, **tested._asdict(), test=how)

    def _studentized(self, pair: Pair) -> Comparison:
        """T test of what rows add to the difference; where they show no variance, limits of shares."""
        values = self._values(pair)
        if not isfinite(values[0] - values[1]):
            return self._unbounded(pair, values)
        found = studentized(self.asked.measure, self.cells, pair, values)
        if not found.usable(max(map(abs, values))):
            return self._unvaried(pair, values)
        t, p = found.test(self._side, self._bound)
        bounds = found.interval(self.asked.question.level)
        return self._found(pair, bounds, found.how, statistic=t, p=p, test=found.how)

    def _unbounded(self, pair: Pair, values: tuple[float, float]) -> Comparison:
        """No interval and no test of a difference that is infinite or undefined, with the reason."""
        infinite = [model for model, value in zip(pair, values, strict=True) if isinf(value)]
        if isnan(sum(values)) or len(infinite) == len(pair):
            return self._found(pair, (nan, nan), "")
        name = about(self.asked.measure).name
        reason = f"{name} of {infinite[0]} is infinite: a row has probability 0 of its own class"
        return self._found(pair, (nan, nan), "", why=reason)

    def _unvaried(self, pair: Pair, values: tuple[float, float]) -> Comparison:
        """Limits of shares where rows show no variance, unless both models rank all rows alike."""
        if values[0] == values[1] and self._function(pair):
            return self._identical(pair, "the same ranks in every row")
        shares = as_shares(self.asked.measure, values, Units(self._units))
        return self.asked.by_intervals(values, shares, AS_SHARES, **self._place(pair))

    def _resampled(self, names: Sequence[str], columns: tuple[Any, str], pair: Pair) -> Comparison:
        """Draws with random weights for rows."""
        values = self._values(pair)
        value = values[0] - values[1]
        if isnan(value):
            return self._found(pair, (nan, nan), "")
        draws, how = columns
        with np.errstate(invalid="ignore"):  # infinite ones
            apart = draws[:, names.index(pair[0])] - draws[:, names.index(pair[1])]
        drawn = Drawn(apart, how, Units(self._units))
        if drawn.still(max(map(abs, values))) and not (value == 0 and self._function(pair)):
            shares = as_shares(self.asked.measure, values, drawn.units)
            return self.asked.by_intervals(values, shares, AS_SHARES, **self._place(pair))
        bounds = drawn.interval(value, self.asked.question.level)
        return self._found(pair, bounds, drawn.told, **drawn.test(value, self._side, self._bound), test=drawn.told)


def matched(measure: Measure) -> bool:
    """Whether a measure is a share of rows that truth alone chooses, so that McNemar's tests are of it."""
    told = about(measure)
    return told.of is Counts and told.share is not None and set(told.needs) <= {"total", "positives", "negatives"}


def _method(asked: ComparisonRequest, cells: Alike) -> str:
    """Return the method that was asked for, if it fits, otherwise the one that does."""
    told, method = about(asked.measure), asked.question.method
    area = told.name in AREAS and told.of is Curve
    unfit = _no_mcnemar(cells)
    if method is None:
        return "delong" if area else _default(asked.measure, unfit)
    if method == "delong" and not area:
        raise OptionError(f"DeLong's test is of areas ({', '.join(AREAS)}), not of {told.name}; use method='resample'.")
    if method in TESTS and not matched(asked.measure):
        raise OptionError(
            f"McNemar's test is of shares of rows that truth alone chooses, such as accuracy, sensitivity or "
            f"specificity, not of {told.name}; use method='resample'."
        )
    if method in TESTS and unfit:
        raise OptionError(f"McNemar's test {unfit}; use method='resample'.")
    return method


def _default(measure: Measure, unfit: str | None) -> str:
    """Method for all that is no AUC."""
    if has_closed_form(measure):
        return "influence"
    return "resample" if unfit or not matched(measure) else "mcnemar-mid-p"


def _no_mcnemar(cells: Alike) -> str | None:
    if cells.weight is not None:
        return "counts rows, and these have weights"
    if cells.cluster is not None:
        return "needs rows that are independent, and these are clustered"
    return None


def _area(cells: Alike, tally: Tally) -> _auc.Area:
    """AUC with numbers of rows; of clusters that have such rows, where there are clusters."""
    found = _auc.area(tally)
    if cells.cluster is None:
        return found
    there = [len(np.unique(cells.cluster[cells.truth == positive])) for positive in (True, False)]
    return found._replace(positives=float(there[0]), negatives=float(there[1]))


def _several(measure: Any) -> list[Any]:  # noqa: ANN401  (one measure or several)
    return [measure] if isinstance(measure, str) or callable(measure) else list(measure)


def _pairs(rows: Rows, models: Any, measure: Measure) -> list[Pair]:  # noqa: ANN401  (names, or pairs of them)
    """Pairs to compare; labels have neither ranks nor probabilities."""
    labels = rows.intake.columns.get("predicted")
    given = list(rows.score) if models is None else list(models)
    decides = about(measure).of is Counts
    if models is None and not decides:
        given = [model for model in given if model != labels]
    named = all(isinstance(each, str) for each in given)
    pairs = list(combinations(given, 2)) if named else [tuple(each) for each in given]
    for name in given if named else [name for pair in pairs for name in pair]:
        _check_model(rows, name)
        if name == labels and not decides:
            raise OptionError(
                f"{name} holds labels, which have neither ranks nor probabilities; compare it by a measure of the 2×2 "
                "table, such as sensitivity."
            )
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise OptionError(
            f"there is only {', '.join(map(repr, given)) or 'no model'} to compare by {about(measure).name}; give two "
            "or more scores of the same rows."
        )
    return pairs


def _check_model(rows: Rows, name: object) -> None:
    if name not in rows.score:
        near = get_close_matches(str(name), rows.score, n=2)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise UnknownNameError(f"there is no model {name!r}.{hint} There are: {', '.join(map(repr, rows.score))}.")


def _cuts(rows: Rows, names: Sequence[str], threshold: Any) -> dict[str, float | None]:  # noqa: ANN401
    """At or above which score each model flags; None for labels."""
    by_name = isinstance(threshold, Mapping)
    for name in threshold if by_name else ():
        _check_model(rows, name)
    return {
        name: None
        if name == rows.intake.columns.get("predicted")
        else cut(name, rows.score[name], threshold.get(name) if by_name else threshold)
        for name in names
    }


def cut(name: str, score: Any, threshold: Any) -> float:  # noqa: ANN401  (checked here)
    if threshold is None and not len(score):
        return _MIDDLE
    if threshold is None:
        least, most = float(score.min()), float(score.max())
        if not (least >= 0 and most <= 1):
            raise OptionError(
                f"{name} runs from {least:.6g} to {most:.6g}, so its scores are not probabilities; give a threshold."
            )
        return _MIDDLE
    try:
        found = float(threshold)
    except (TypeError, ValueError):
        found = nan
    if isnan(found):
        raise OptionError(f"threshold is {threshold!r}; give a number, or a mapping from models to numbers.")
    return found


def _walk(rows: Rows) -> Iterator[tuple[Grouped, Place]]:
    """Everybody, then each group."""
    yield None, slice(None)
    if rows.attributes:
        for at, group in enumerate(rows.groups):
            yield tuple(zip(rows.attributes, group, strict=True)), np.flatnonzero(rows.group == at)
