"""What is asked for: which columns hold the scores, and what the new ones are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._calibrator_forms import Between
from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate.read import check_there

Scores = str | Sequence[str] | Mapping[str, str]
"""Name of a column; for several classes one for each, in their order or by their names."""


class Asked(TypedDict, total=False):
    """Options of those who apply a map, as keywords."""

    score: Scores | None
    to: Scores | None
    bounds: bool
    missing: Literal["refuse", "keep"]


@dataclass(frozen=True, slots=True)
class Task:
    """A map, the columns that it reads, and those that it makes."""

    map: Calibrator | MulticlassCalibrator
    scores: tuple[str, ...]
    made: tuple[str, ...]
    bounds: bool
    keep: bool
    """Whether what is missing stays so, instead of being refused."""

    @staticmethod
    def of(
        map_: Calibrator | MulticlassCalibrator,
        *,
        score: Scores | None = None,
        to: Scores | None = None,
        bounds: bool = False,
        missing: str = "refuse",
    ) -> Task:
        """Check the keywords and fill in the rest."""
        if not isinstance(map_, (Calibrator, MulticlassCalibrator)):
            raise OptionError(f"{type(map_).__name__} is no map; read one with load_map, or fit one.")
        if missing not in ("refuse", "keep"):
            raise OptionError(f"missing is {missing!r}; it is 'refuse' or 'keep'.")
        if bounds and not isinstance(map_.form, Between):
            raise OptionError(f"{map_.method} makes one probability, not two; bounds are those of venn-abers.")
        scores = columns(map_, score)
        made = tuple(f"{name}_calibrated" for name in scores) if to is None else _named(map_, to, "to")
        if bounds:
            made = (made[0], f"{made[0]}_low", f"{made[0]}_high")
        if len({*made}) < len(made):
            raise OptionError("two of the new columns have the same name; give each its own with to=.")
        return Task(map_, scores, made, bounds, missing == "keep")

    @property
    def used(self) -> tuple[str, ...]:
        """All columns that are read."""
        return self.scores

    def check(self, there: Sequence[object], *, capitals: bool = True) -> None:
        """See that the scores are there, and the new names are not; without `capitals` a is A."""
        for name in self.scores:
            check_there(name, there)
        check_new(self.made, there, capitals=capitals)


def check_new(made: Sequence[str], there: Sequence[object], *, capitals: bool = True) -> None:
    """See that the new names are not taken; without `capitals` a is A."""
    taken = {str(name) if capitals else str(name).casefold() for name in there}
    for name in made:
        if (name if capitals else name.casefold()) in taken:
            raise OptionError(f"there is a column {name!r} already; name the new one otherwise with to=.")


def columns(map_: Calibrator | MulticlassCalibrator, score: Scores | None) -> tuple[str, ...]:
    """Columns that hold the scores: those that are named, or else those that the map was fitted on."""
    if score is not None:
        return _named(map_, score, "score")
    if isinstance(map_, Calibrator):
        if "score" not in map_.columns:
            raise OptionError('the map does not know which column holds the scores; name it, such as score="risk".')
        return (map_.columns["score"],)
    if not {*map_.labels} <= {*map_.columns}:
        raise OptionError("the map does not know which columns hold the scores; name one for each class with score=.")
    return tuple(map_.columns[label] for label in map_.labels)


def _named(map_: Calibrator | MulticlassCalibrator, given: Scores, option: str) -> tuple[str, ...]:
    """One name for each class, in their order; of two classes one alone."""
    if isinstance(map_, Calibrator):
        if not isinstance(given, str) or not given:
            raise OptionError(f"{option} is {given!r}; this map takes the name of one column.")
        return (given,)
    if isinstance(given, str):
        raise OptionError(f"{option} is {given!r}; name one column for each class: {', '.join(map_.labels)}.")
    if isinstance(given, Mapping):
        if {*given} != {*map_.labels}:
            raise OptionError(
                f"{option} names {', '.join(given) or 'no class'}; the classes are {', '.join(map_.labels)}."
            )
        given = [given[label] for label in map_.labels]
    if len(given) != len(map_.labels) or not all(given):
        raise OptionError(
            f"{option} has {count_of(len(given), 'name')}; name one column for each of {len(map_.labels)} classes."
        )
    return tuple(given)
