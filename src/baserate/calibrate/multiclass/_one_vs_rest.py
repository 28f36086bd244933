"""Each class against the rest, by a fit of two classes."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from baserate._class_map import ClassMap
from baserate._class_rows import ClassRows
from baserate._errors import CannotFit
from baserate._forms import OneVsRest
from baserate._map import Map, Parameter
from baserate._tally import Tally
from baserate.calibrate.multiclass._given import Given


def one_vs_rest(rows: ClassRows, fit: Callable[[Tally], Map]) -> ClassMap:
    """Fit each class against all others by its own score, then divide by the sum.

    `fit` makes a map of two classes, and says what scores it takes. The sum of what it finds is not 1 of itself, so
    after division no class is exactly as it was fitted [@zadrozny2002].

    >>> from baserate import Map, scored
    >>> from baserate._forms import Line
    >>> rows = scored(["cat", "dog"], [[2.0, -1.0], [-1.0, 1.0]])
    >>> one_vs_rest(rows, lambda tally: Map(Line(0.0, 1.0), method="as it is"))([[0.0, 0.0]]).tolist()
    [[0.5, 0.5]]
    """
    given = Given.of(rows)
    given.refuse_absent("temperature")
    maps = [_fitted(given, at, fit) for at in range(len(given.labels))]
    named = list(zip(given.labels, maps, strict=True))
    return ClassMap(
        OneVsRest(tuple(each.form for each in maps)),
        given.labels,
        method=f"one-vs-rest-{maps[0].method}",
        fitted=given.fitted,
        parameters=tuple(_parameters(named)),
        columns=given.columns,
        notes=tuple(f"{name}: {note}" for name, each in named for note in each.notes),
    )


def _fitted(given: Given, at: int, fit: Callable[[Tally], Map]) -> Map:
    try:
        return fit(given.rows.against_rest(at))
    except CannotFit as error:
        raise CannotFit(f"{given.labels[at]} against the rest: {error}") from error


def _parameters(named: list[tuple[str, Map]]) -> Iterator[Parameter]:
    for name, each in named:
        yield from (replace(told, name=f"{told.name} of {name}") for told in each.parameters)
