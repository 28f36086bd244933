"""Which column is what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Required, TypedDict

from baserate._errors import FileFormatError, OptionError, UnknownNameError


class Named(TypedDict, total=False):
    """Columns by what they hold, as keywords."""

    truth: Required[str]
    score: str | Sequence[str] | Mapping[Any, str]
    predicted: str
    group: str | Sequence[str]
    weight: str
    count: str
    id: str
    cluster: str


class NamedTarget(TypedDict, total=False):
    """Columns of rows most of which have no truth, as keywords."""

    truth: str
    score: str | Sequence[str] | Mapping[Any, str]
    weight: str
    count: str


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns by what they hold."""

    truth: str = ""
    """Empty where nobody knows it."""
    score: tuple[str, ...] = ()
    predicted: str | None = None
    group: tuple[str, ...] = ()
    weight: str | None = None
    count: str | None = None
    id: str | None = None
    cluster: str | None = None
    stem: str = ""
    """What the names of the scores begin with, if they were named by that."""

    @staticmethod
    def of(named: Named) -> Columns:
        """Check the keywords and fill in the rest."""
        given = _known(named, [field.name for field in fields(Columns) if field.name != "stem"])
        if "truth" not in given:
            raise OptionError('say which column holds the truth, for example truth="outcome".')
        columns = Columns._made(given)
        if not columns.score and columns.predicted is None:
            raise OptionError('name a column to judge: score="risk" for numbers, predicted="decision" for labels.')
        return columns

    @staticmethod
    def of_target(named: NamedTarget) -> Columns:
        """Do the same where the truth may be unknown."""
        columns = Columns._made(_known(named, list(NamedTarget.__annotations__)))
        if not columns.score:
            raise OptionError('say which column holds the scores, for example score="risk".')
        return columns

    @staticmethod
    def _made(given: dict[str, Any]) -> Columns:
        columns = Columns(**given | {name: _tuple(given.get(name)) for name in ("score", "group")})
        # Whatever a caller without a type checker gave.
        names: list[object] = [*(given[name] for name in given if name == "truth"), *columns.used]
        strange = [name for name in names if not isinstance(name, str) or not name]
        if strange:
            raise OptionError(f"{strange[0]!r} is not the name of a column; names are text, and not empty.")
        counts = [*Counter(columns.models).items(), *Counter(columns.group).items()]
        twice = [name for name, times in counts if times > 1]
        if twice:
            raise OptionError(f"the column {twice[0]!r} is named twice; name each once.")
        return columns

    @property
    def models(self) -> tuple[str, ...]:
        """What is judged: scores, then predicted labels."""
        return self.score + ((self.predicted,) if self.predicted is not None else ())

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that hold numbers."""
        return tuple(dict.fromkeys([*self.score, *self.amounts]))

    @property
    def amounts(self) -> tuple[str, ...]:
        """Weight and count, if there are any."""
        return tuple(_given(self.weight, self.count))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns that hold labels."""
        return tuple(dict.fromkeys(_given(self.truth or None, self.predicted, *self.group, self.cluster)))

    @property
    def used(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        return tuple(dict.fromkeys([*self.labels, *self.numbers, *_given(self.id)]))

    @property
    def told(self) -> dict[str, str | list[str]]:
        """What was named, without what was not."""
        pairs: Iterator[tuple[str, str | tuple[str, ...] | None]] = (
            (field.name, getattr(self, field.name)) for field in fields(self) if field.name != "stem"
        )
        return {name: list(value) if isinstance(value, tuple) else value for name, value in pairs if value}

    def found(self, there: Sequence[object]) -> Columns:
        """See that every column is there once; a score `p_*` becomes all columns whose names begin so."""
        taken = {*self.labels, *self.amounts, *_given(self.id)}
        stems = [name[:-1] for name in self.score if name.endswith("*") and name not in there]
        scores = (name for given in self.score for name in _matching(given, there, taken))
        found = replace(self, score=tuple(dict.fromkeys(scores)), stem=stems[0] if len(stems) == 1 else "")
        for name in found.used:
            check_there(name, there)
        return found


def check_there(name: str, there: Sequence[object]) -> None:
    """See that a column is there once; if it is not, name the nearest."""
    if name not in there:
        texts = [other for other in there if isinstance(other, str) and len(other) < 200]
        alike = [other for other in texts if other.strip().lower() == name.strip().lower()]
        near = get_close_matches(name, texts, n=2, cutoff=0.5) or alike
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise UnknownNameError(f"there is no column {name!r}.{hint} There are: {_listed(there)}.")
    if there.count(name) > 1:
        raise FileFormatError(f"there are {there.count(name)} columns {name!r}; rename all but one.")


def _matching(name: str, there: Sequence[object], taken: set[str]) -> list[str]:
    """Columns that a name means: of `p_*` all that begin so and have no other part to play."""
    if not name.endswith("*") or name in there:
        return [name]
    texts = [other for other in there if isinstance(other, str) and other not in taken]
    return [other for other in texts if other.startswith(name[:-1])] or [name]


def _known(named: Mapping[str, Any], kinds: Sequence[str]) -> dict[str, Any]:
    """What was named, if there are such kinds of columns; None is as good as nothing."""
    unknown = named.keys() - set(kinds)
    if unknown:
        raise OptionError(f"there is no kind of column {min(unknown)!r}. Known are: {', '.join(kinds)}.")
    return {kind: name for kind, name in named.items() if name is not None}


def _given(*names: str | None) -> list[str]:
    return [name for name in names if name is not None]


def _tuple(given: Any) -> tuple[str, ...]:  # noqa: ANN401  (checked when it is used)
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _listed(names: Sequence[object], most: int = 20) -> str:
    shown = ", ".join(repr(name if len(str(name)) <= 60 else f"{str(name)[:57]}…") for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown or "none"
