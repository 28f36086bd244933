"""`reweigh`: the same decisions and scores as if the classes had other shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, make_read_only
from baserate._confusion import Confusion, Confusions
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import FACTOR, PREVALENCE
from baserate._errors import EmptyDataError, NotBinaryError, OptionError, UnknownLabelError
from baserate._policy import spellings
from baserate._tally import Group, Tallies, Tally, as_group
from baserate.calibrate.multiclass import checked_shares
from baserate.shift._gamma import checked_gamma, checked_prevalence

Noun = TypeVar("Noun", Tally, Curve, Tallies, Confusion, Confusions)
Shares = float | Floats | Mapping[Any, float] | Sequence[float]


@overload
def reweigh(noun: Noun, *, to: Shares | None = None, gamma: float | None = None) -> Noun: ...
@overload
def reweigh(noun: Counts[Any], *, to: float | None = None, gamma: float | None = None) -> Counts[Any]: ...
@overload
def reweigh(noun: Counts[Any], *, to: Floats, gamma: None = None) -> Counts[Floats]: ...
@overload
def reweigh(noun: Counts[Any], *, to: None = None, gamma: Floats) -> Counts[Floats]: ...
def reweigh(noun: Any, *, to: Any = None, gamma: Any = None) -> Any:
    r"""Give the classes other shares: masses of each times a constant, so that as much as there was is there.

    The population has the prevalence `to`, or negatives are `gamma` times as frequent as here; of a `Confusion`, `to`
    gives every class its share, by label or in order. Whatever is the same within a class stays: scores, TPR, FPR, ROC
    curve, AUC, KS, likelihood ratios. Precision becomes :math:`TP/(TP+γFP)`, accuracy :math:`(TP+γTN)/(P+γN)`. That is
    right where the classes look there as they do here (label shift).

    The result is marked: the shares are exact, and intervals know chance within classes alone. An array of prevalences
    makes many tables of one `Counts`. Of `Tallies`, `to` is the prevalence of everybody. Groups keep prevalences of
    their own, those that the same γ leads to, since a group is as frequent among the positives, and among the
    negatives, as it was. Intervals of a group take its prevalence as known, too. So it is with `Confusions`.

    Of `Tallies` with groups, `to` may also map groups to prevalences of their own: the size of each group stays as it
    is in the sample, and a group that is not named keeps the prevalence that it has there.

    >>> from baserate import Counts, measure
    >>> c = reweigh(Counts(tp=950, fn=50, fp=200, tn=800), gamma=10)
    >>> round(measure.accuracy(c), 10), round(measure.prevalence(c), 10), round(c.total)
    (0.8136363636, 0.0909090909, 2000)
    >>> test = Counts(tp=99, fn=1, fp=1, tn=99)
    >>> measure.precision(reweigh(test, to=np.array([0.02, 0.06, 0.10]))).round(4).tolist()
    [0.6689, 0.8634, 0.9167]
    """
    if (to is None) == (gamma is None):
        raise OptionError("give either to=, the share of positives (of several classes, of each), or gamma=.")
    if isinstance(noun, Curve):
        return Curve(reweigh(noun.tally, to=to, gamma=gamma))
    make: Callable[[Any, Any, Any], Any] | None = _MAKERS.get(type(noun))
    if make is not None:
        return make(noun, to, gamma)
    raise OptionError(
        f"{type(noun).__name__} cannot be reweighed; give a Tally, Curve, Tallies, Counts, Confusion or Confusions."
    )


def _tally(tally: Tally, to: object, gamma: object) -> Tally:
    return _times(tally, *_factors(tally, to, gamma))


def _factors(tally: Tally, to: Any, gamma: Any) -> tuple[float, float]:  # noqa: ANN401  (checked here)
    """What positives and negatives are multiplied with."""
    positives, negatives = tally.positives, tally.negatives
    _check_both(positives, negatives)
    if to is None:
        checked_gamma(gamma)
        to = positives / (positives + gamma * negatives)
        rest = gamma * negatives / (positives + gamma * negatives)
    else:
        checked_prevalence("to", to)
        rest = 1 - to
    return float(to * tally.total / positives), float(rest * tally.total / negatives)


def _times(tally: Tally, positive: float, negative: float) -> Tally:
    by = np.array([[positive], [negative]])
    return replace(
        tally, mass=make_read_only(tally.mass * by), squares=make_read_only(tally.squares * by**2), reweighed=True
    )


def _tallies(tallies: Tallies, to: object, gamma: object) -> Tallies:
    if isinstance(to, Mapping):
        return _by_group(tallies, to)
    models = {}
    for model, groups in tallies.models.items():
        factors = _factors(tallies.pooled(model), to, gamma)
        models[model] = {group: _times(tally, *factors) for group, tally in groups.items()}
    return replace(tallies, models=models)


def _by_group(tallies: Tallies, to: Mapping[Any, float]) -> Tallies:
    """Give each named group a prevalence of its own; all are marked, since their prevalences are taken as known."""
    shares = {_group_of(tallies, key): share for key, share in to.items()}
    models = {
        model: {
            group: _tally(tally, shares[group], None) if group in shares else replace(tally, reweighed=True)
            for group, tally in groups.items()
        }
        for model, groups in tallies.models.items()
    }
    return replace(tallies, models=models)


def _group_of(tallies: Tallies, key: object) -> Group:
    """Return the group with this label, or with these labels; text also names it as files and shells write it."""
    group = as_group(key)
    if group in tallies.groups:
        return group
    names = {"/".join(labels): group for group in tallies.groups for labels in product(*map(spellings, group))}
    text = "/".join(map(str, group))
    if text not in names:
        known = ", ".join(dict.fromkeys("/".join(map(str, each)) for each in tallies.groups if each))
        raise UnknownLabelError(
            f"a prevalence is stated for the group {text!r}, which is not in the data. "
            f"Groups are: {known or 'none; name the column of groups'}."
        )
    return names[text]


def _counts(counts: Counts[Any], to: object, gamma: object) -> Counts[Any]:
    return times(counts, *_both_factors(counts, to, gamma))


def times(counts: Counts[Any], first: Floats | float, second: Floats | float) -> Counts[Any]:
    """Multiply positives and negatives, each with its factor, as with shares that are known."""
    one = np.ones_like(first)
    squares, rows = _cells(counts.squares, first**2, second**2), _cells(counts.rows, one, one)
    return Counts(*_cells(counts, first, second), moments=(Counts(*squares), Counts(*rows)), reweighed=True)


def masses(counts: Counts[Any], *, to: Floats) -> Counts[Floats]:
    """Do the same with the mass alone, which is all that values need."""
    return Counts(*_cells(counts, *_both_factors(counts, to, None)), reweighed=True)


def _both_factors(counts: Counts[Any], to: object, gamma: object) -> tuple[Floats, Floats]:
    """What positives and negatives are multiplied with, in each table."""
    positives, negatives = np.asarray(counts.positives), np.asarray(counts.negatives)
    _check_both(positives, negatives)
    given = _numbers("gamma" if to is None else "to", gamma if to is None else to)
    total = positives + negatives
    if to is None:
        whole = positives + given * negatives
        return total / whole, given * total / whole
    return given * total / positives, (1 - given) * total / negatives


def _cells(counts: Counts[Any], first: Floats | float, second: Floats | float) -> tuple[Floats, ...]:
    cells = counts.tp * first, counts.fp * second, counts.fn * first, counts.tn * second
    return tuple(make_read_only(np.asarray(cell)) for cell in cells)


def _numbers(name: str, given: Any) -> Floats:  # noqa: ANN401  (checked here)
    """Prevalences or γ, one or many."""
    if np.ndim(given) == 0:
        (checked_gamma if name == "gamma" else partial(checked_prevalence, "to"))(given)
        return np.asarray(given, dtype=np.float64)
    found: Floats = np.asarray(given, dtype=np.float64)
    domain = FACTOR if name == "gamma" else PREVALENCE
    wrong = ~((found >= domain.low) & (found <= domain.high))
    if wrong.any():
        raise OptionError(f"{wrong.sum()} of {wrong.size} values of {name} are not {domain.words}; leave them out.")
    return found


def _confusion(table: Confusion, to: object, gamma: object) -> Confusion:
    return _each_times(table, _class_factors(table, to, gamma))


def _class_factors(table: Confusion, to: Any, gamma: object) -> Floats:  # noqa: ANN401  (checked here)
    """What each class is multiplied with, in each table."""
    if gamma is not None or isinstance(to, float | int):
        raise OptionError(f"a table of {len(table.labels)} classes needs a share for each: give to= as a mapping.")
    shares = checked_shares("to", to, table.labels)
    missing = table.truth.reshape(-1, len(table.labels)).min(axis=0) == 0
    if missing.any():
        label = table.labels[int(missing.argmax())]
        raise EmptyDataError(f"there is nothing of the class {label!r} that could be given a share; add rows of it.")
    found: Floats = shares * np.asarray(table.total)[..., None] / table.truth
    return found


def _each_times(table: Confusion, factors: Floats) -> Confusion:
    by = factors[..., None]
    squares = Confusion(make_read_only(table.squares.mass * by**2), table.labels)
    return Confusion(make_read_only(table.mass * by), table.labels, moments=(squares, table.rows), reweighed=True)


def _confusions(tables: Confusions, to: object, gamma: object) -> Confusions:
    factors = _class_factors(tables.pooled, to, gamma)
    return replace(tables, tables={group: _each_times(table, factors) for group, table in tables.tables.items()})


_MAKERS: dict[type, Callable[[Any, Any, Any], Any]] = {
    Tally: _tally,
    Tallies: _tallies,
    Counts: _counts,
    Confusion: _confusion,
    Confusions: _confusions,
}


def _check_both(positives: npt.ArrayLike, negatives: npt.ArrayLike) -> None:
    for name, mass in (("positives", positives), ("negatives", negatives)):
        if np.size(mass) and not np.min(mass) > 0:
            raise NotBinaryError(f"there are no {name} that could be given a share; give rows of both classes.")
