"""Each class against the rest, by a fit of two classes."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from baserate._calibrator import Calibrator, MulticlassCalibrator, Parameter
from baserate._calibrator_forms import OneVsRest
from baserate._errors import FitError
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.calibrate.multiclass._given import Given


def one_vs_rest(rows: MulticlassRows, fit: Callable[[Tally], Calibrator]) -> MulticlassCalibrator:
    """Fit each class against all others by its own score, then divide by the sum.

    `fit` makes a map of two classes, and says what scores it takes. The sum of what it finds is not 1 of itself, so
    after division no class is exactly as it was fitted [@zadrozny2002].

    >>> from baserate import Calibrator, scored
    >>> from baserate._calibrator_forms import Line
    >>> rows = scored(["cat", "dog"], [[2.0, -1.0], [-1.0, 1.0]])
    >>> one_vs_rest(rows, lambda tally: Calibrator(Line(0.0, 1.0), method="as it is"))([[0.0, 0.0]]).tolist()
    [[0.5, 0.5]]
    """
    given = Given.of(rows)
    given.refuse_absent("temperature")
    maps = [_fitted(given, at, fit) for at in range(len(given.labels))]
    named = list(zip(given.labels, maps, strict=True))
    return MulticlassCalibrator(
        OneVsRest(tuple(each.form for each in maps)),
        given.labels,
        method=f"one-vs-rest-{maps[0].method}",
        fitted=given.fitted,
        parameters=tuple(_parameters(named)),
        columns=given.columns,
        notes=tuple(f"{name}: {note}" for name, each in named for note in each.notes),
    )


def _fitted(given: Given, at: int, fit: Callable[[Tally], Calibrator]) -> Calibrator:
    try:
        return fit(given.rows.against_rest(at))
    except FitError as error:
        raise FitError(f"{given.labels[at]} against the rest: {error}") from error


def _parameters(named: list[tuple[str, Calibrator]]) -> Iterator[Parameter]:
    for name, each in named:
        yield from (replace(told, name=f"{told.name} of {name}") for told in each.parameters)
