"""Choose a method by what it loses on rows that it has not seen, and say whether the difference matters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import DataError, FitError, OptionError
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.calibrate import multiclass
from baserate.calibrate._crossfit import FOLDS, Watch, dealt, left_out
from baserate.calibrate._data import Data
from baserate.calibrate._methods import (
    CLASS_METHODS,
    METHODS,
    all_probabilities,
    class_method,
    fit,
    named,
    with_options,
)
from baserate.calibrate._parameters import LEVEL, WIDE

COLUMNS = ("method", "chosen", "log_loss", "difference", "low", "high", "level", "matters", "why")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Choice:
    """The map that was chosen, fitted to all rows, and the table and the words that say why.

    `results` has a row for each method: its cross-validated log-loss, by how much that is above the lowest with an
    interval, and whether that is more than chance explains (`matters`).
    """

    map: Calibrator | MulticlassCalibrator
    results: Results
    verdict: str

    def __repr__(self) -> str:
        return f"Choice({self.map.method}; {self.verdict})"


class _Asked(NamedTuple):
    """Which methods, of what scores, how often, and who wants to know how far it is."""

    methods: Sequence[str]
    probabilities: bool
    folds: int
    seed: int
    watch: Watch


class _Losses(NamedTuple):
    """What each method loses in each cell, or why it cannot be fitted; and how much each cell weighs."""

    of: Mapping[str, Floats]
    why: Mapping[str, str]
    mass: Floats
    squares: Floats


def choose(
    data: Data | MulticlassRows,
    *,
    methods: Iterable[str] | None = None,
    probabilities: bool | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    watch: Watch | None = None,
) -> Choice:
    """Fit every method without each fold, and take the one with the lowest log-loss on what was left out.

    Of equal ones the simplest wins. The intervals of differences take rows as independent. `watch` is told how many
    fits of how many are done. `probabilities` says whether scores are such; by default, if those of all rows lie in
    [0, 1].

    >>> import numpy as np
    >>> from baserate import calibrate, tally
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.random(2000)
    >>> found = calibrate.choose(tally(rng.random(2000) < 0.3 + 0.4 * risk, risk), methods=["identity", "logistic"])
    >>> found.map.method, found.results.rows()[0]["matters"]
    ('logistic', True)
    """
    known = CLASS_METHODS if isinstance(data, MulticlassRows) else METHODS
    wanted = list(dict.fromkeys(known if methods is None else methods))
    if not wanted:
        raise OptionError("there is no method to choose from; name some, or leave methods= out.")
    whole = all_probabilities(data) if probabilities is None else probabilities
    asked = _Asked(wanted, whole, folds, seed, watch or (lambda _done, _all: None))
    losses = _class_losses(data, asked) if isinstance(data, MulticlassRows) else _losses(data, asked)
    if not losses.of:
        raise FitError(f"no method can be fitted. {' '.join(f'{name}: {why}' for name, why in losses.why.items())}")
    best = min(losses.of, key=lambda name: _mean(losses.of[name], losses.mass))
    rows = [_row(name, best, losses) for name in wanted]
    results = Results({name: [row[name] for row in rows] for name in COLUMNS}, {"folds": folds, "seed": seed})
    return Choice(fit(data, best, probabilities=whole), results, _verdict(rows, best))


def _losses(data: Data, asked: _Asked) -> _Losses:
    """Of two classes: a cell is a fold, a score and a class."""
    parts = list(left_out(dealt(data, folds=asked.folds, seed=asked.seed)))
    folds = [Tally.sum(fold.values()) for fold, _ in parts]
    of: dict[str, Floats] = {}
    why: dict[str, str] = {}
    for at, name in enumerate(asked.methods):
        try:
            fitted = with_options(named, name, {}, probabilities=asked.probabilities)
            found = [_minus_logs(fitted(rest)(fold.score)) for fold, (_, rest) in zip(folds, parts, strict=True)]
            of[name] = np.concatenate([each.ravel() for each in found])
        except (DataError, OptionError) as error:
            why[name] = str(error)
        asked.watch(at + 1, len(asked.methods))
    mass, squares = (
        np.concatenate([np.asarray(getattr(fold, cells), dtype=np.float64).ravel() for fold in folds])
        for cells in ("mass", "squares")
    )
    return _Losses(of, why, mass, squares)


def _minus_logs(p: Floats) -> Floats:
    """What is lost if it happens, and if it does not."""
    with np.errstate(divide="ignore"):
        return -np.stack([np.log(p), np.log1p(-p)])


def _class_losses(data: MulticlassRows, asked: _Asked) -> _Losses:
    """Of several classes: a cell is a row."""
    multiclass.folds_of(data, asked.folds, seed=asked.seed)  # which says what is wrong, for all methods alike
    of: dict[str, Floats] = {}
    why: dict[str, str] = {}
    for at, name in enumerate(asked.methods):
        try:
            fitted = with_options(class_method, name, {}, probabilities=asked.probabilities)
            after = multiclass.crossfitted(data, fitted, folds=asked.folds, seed=asked.seed)
            with np.errstate(divide="ignore"):
                of[name] = -np.log(after.score[np.arange(len(data)), data.truth])
        except (DataError, OptionError) as error:
            why[name] = str(error)
        asked.watch(at + 1, len(asked.methods))
    weight = np.ones(len(data)) if data.weight is None else data.weight
    count = np.ones(len(data)) if data.count is None else data.count
    return _Losses(of, why, weight * count, weight**2 * count)


def _mean(loss: Floats, mass: Floats) -> float:
    """Mean loss; where there is no mass nothing is lost."""
    there = mass > 0
    return float((loss[there] * mass[there]).sum() / mass.sum())


def _row(name: str, best: str, losses: _Losses) -> dict[str, Any]:
    """One method beside the best."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"method": name, "chosen": name == best}
    if name in losses.why:
        return row | {"why": losses.why[name]}
    row["log_loss"] = _mean(losses.of[name], losses.mass)
    if not isfinite(row["log_loss"]):
        return row | {"difference": inf, "matters": True, "why": "it gave probability 0 to what happened."}
    if name == best:
        return row
    difference, low, high = _difference(losses.of[name], losses.of[best], losses)
    bounds = {"difference": difference, "low": low, "high": high, "level": LEVEL}
    return row | bounds | {"matters": bool(low > 0)}


def _difference(one: Floats, other: Floats, losses: _Losses) -> tuple[float, float, float]:
    """Mean difference, with the bounds of a mean of as many differences as there are rows."""
    there = losses.mass > 0
    apart = one[there] - other[there]
    mass, squares = losses.mass[there], losses.squares[there]
    mean = float((mass * apart).sum() / mass.sum())
    reach = float(WIDE * np.sqrt((squares * (apart - mean) ** 2).sum()) / mass.sum())
    return mean, mean - reach, mean + reach


def _verdict(rows: Sequence[Mapping[str, Any]], best: str) -> str:
    """The choice in words: by how much, whether that matters, and what is simpler and as good."""
    by_name = {row["method"]: row for row in rows if row["log_loss"] is not None}
    told = [f"{best} has the lowest log-loss, {by_name[best]['log_loss']:.4f}"]
    if best != "identity" and "identity" in by_name:
        told.append(_told(by_name["identity"], "the probabilities as they are"))
    others = [row for name, row in by_name.items() if name not in (best, "identity")]
    if others:
        second = min(others, key=lambda row: row["log_loss"])
        told.append(_told(second, f"{second['method']}, the next"))
    names = list(by_name)
    for name in names[: names.index(best)]:
        if not by_name[name]["matters"]:
            told.append(f"{name} is simpler, and as good as chance allows to tell")
            break
    return "; ".join(told) + "."


def _told(row: Mapping[str, Any], beside: str) -> str:
    if row["low"] is None:
        return f"{beside}{',' * (',' in beside)} gave probability 0 to what happened"
    verdict = "more than chance" if row["matters"] else "chance may explain it"
    return f"{row['difference']:.2g} below {beside} ({row['low']:.2g} to {row['high']:.2g}: {verdict})"
