"""Classifiers, each with the table of its own sample: typed by hand, or read from a file."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from baserate._errors import BaserateError, OptionError
from baserate.cli._ask import tallies
from baserate.cli._classes import Classes, read_classes
from baserate.cli._options import Reading

if TYPE_CHECKING:
    from baserate._confusion import Confusion
    from baserate._counts import Counts
    from baserate._read_summary import ReadSummary
    from baserate._tally import Tallies

CELLS = ("tp", "fn", "fp", "tn")
"""Cells of a table in the order in which they are typed: the positives first."""
_HOW = "give TP,FN,FP,TN in this order, such as M1=150,40,60,250, or by name, M1=tp:150,fn:40,fp:60,tn:250."
_MIDDLE = 0.5
_MOST = 1e15
"""The greatest count: up to here every whole number is exact."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A table with the name of its classifier."""

    name: str
    cells: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a classifier did on its own sample."""

    name: str
    table: "Counts[float] | Confusion"
    threshold: float | None = None
    intake: "ReadSummary | None" = None


def typed(text: str) -> Typed:
    """Read a table: M1=150,40,60,250 in the order TP,FN,FP,TN; or M1=tp:150,fn:40,fp:60,tn:250 in any.

    >>> typed("M1=150,40,60,250") == typed("M1=tn:250,tp:150,fn:40,fp:60")
    True
    """
    name, _, cells = (part.strip() for part in text.rpartition("="))
    if not name:
        raise click.BadParameter(f"{text!r} names no classifier; {_HOW}")
    parts = cells.split(",")
    if len(parts) != len(CELLS):
        raise click.BadParameter(f"{text!r} has {len(parts)} of the {len(CELLS)} cells; {_HOW}")
    named = [part.partition(":") for part in parts if ":" in part]
    if not named:
        return Typed(name, tuple(_count(part, text) for part in parts))
    found = {cell.strip().lower(): count for cell, _, count in named}
    if set(found) != set(CELLS):
        raise click.BadParameter(f"{text!r} does not name each of the {len(CELLS)} cells once; {_HOW}")
    return Typed(name, tuple(_count(found[cell], text) for cell in CELLS))


def _count(cell: str, text: str) -> float:
    try:
        found = float(cell)
    except ValueError:
        found = math.nan
    if not 0 <= found <= _MOST:
        raise click.BadParameter(f"{cell.strip()!r} in {text!r} is no count; counts are numbers from 0 to {_MOST:g}.")
    return found


def by_hand(tables: Iterable[Typed]) -> Iterator[Sample]:
    """Samples that were typed."""
    from baserate import Counts

    for each in tables:
        tp, fn, fp, tn = each.cells
        yield Sample(each.name, Counts(tp=tp, fn=fn, fp=fp, tn=tn))


def of_two(asked: Reading, cuts: Sequence[float], *, quiet: bool) -> Iterator[Sample]:
    """Read samples of two classes: one of each file and model."""
    from baserate import Curve

    for one, name in _files(asked):
        with _told_where(one, asked):
            found = tallies(one, quiet=quiet)
            places = {model: _cut(found, model, asked, cuts) for model in found.models}
        for model, cut in places.items():
            counts = Curve(found.pooled(model)).at(_MIDDLE if cut is None else cut)
            yield Sample(_named(name, model, asked, list(places)), counts, cut, found.intake)


def of_many(asked: Reading, costs: str, cross_table: str | None, *, quiet: bool) -> Iterator[Sample]:
    """Read samples of several classes, one of each file: labels, or tables that were counted before."""
    from baserate import Confusions

    wanted = Classes(scores=(), labels=(), average=(), costs=costs, cross_table=cross_table)
    for one, name in _files(asked):
        with _told_where(one, asked):
            found = read_classes(one, wanted, quiet=quiet)
        assert isinstance(found, Confusions)  # noqa: S101  (for the type checker: costs treat classes alike)
        yield Sample(name, found.pooled, intake=found.intake)


def check_names(samples: Sequence[Sample]) -> None:
    """Refuse two classifiers of one name."""
    for name, times in Counter(sample.name for sample in samples).items():
        if times > 1:
            raise click.UsageError(f"{times} classifiers are called {name!r}; give each a name of its own.")


def _files(asked: Reading) -> Iterator[tuple[Reading, str]]:
    """What to read of each file, and its name: without folder and ending where that tells them apart."""
    if asked.file.count("-") > 1:
        raise click.UsageError("stdin can be read once; name a file for every other classifier.")
    short = ["stdin" if each == "-" else PurePath(each).stem or each for each in asked.file]
    apart = len(set(short)) == len(short)
    for file, name in zip(asked.file, short, strict=True):
        yield replace(asked, file=(file,)), name if apart else file


def _named(file: str, model: str, asked: Reading, models: Sequence[str]) -> str:
    """Name of a classifier: that of its file, of its column where one file has several, or both."""
    if len(models) == 1:
        return file
    return model if len(asked.file) == 1 else f"{file} {model}"


@contextmanager
def _told_where(one: Reading, asked: Reading) -> Iterator[None]:
    """Say which of several files an error is about."""
    try:
        yield
    except BaserateError as error:
        if len(asked.file) == 1 or str(error).startswith(one.file[0]):
            raise
        raise type(error)(f"{one.file[0]}: {error}") from error


def _cut(found: "Tallies", model: str, asked: Reading, cuts: Sequence[float]) -> float | None:
    """Threshold of a model; labels have none."""
    if model == found.intake.columns.get("predicted"):
        return None
    if cuts:
        return cuts[asked.score.index(model) if len(cuts) > 1 else 0]
    if found.pooled(model).probable:
        return _MIDDLE
    score = found.pooled(model).score
    raise OptionError(
        f"{model} runs from {score[-1]:.6g} to {score[0]:.6g}, so its scores are not probabilities; give a threshold."
    )
