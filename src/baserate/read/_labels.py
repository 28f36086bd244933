"""Labels: which are there, which one is positive, and what they are when all one has is text."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from baserate._errors import DataError, NotBinaryError, OptionError

_ABSENT = {"na", "n/a", "nan", "null", "none", "missing", "?", "."}
"""How missing values are written by programs that cannot leave a cell empty."""


class Spelled(str):
    """A label as it is typed in a shell or a URL: it means the label that is written so, of whatever type.

    >>> resolved(Spelled("1"), [0, 1]), resolved(Spelled("true"), [False, True]), resolved(Spelled("sick"), ["sick"])
    (1, True, 'sick')
    """

    __slots__ = ()


class Classes(NamedTuple):
    """The two labels of truth; `negative` is None when there is no other label than the positive one."""

    positive: object
    negative: object


def classes(labels: Sequence[object], positive: object, negative: object) -> Classes:
    """Find the positive and the negative label, named or safely inferred.

    Labels beyond the two are allowed only when both are named.

    >>> classes([0, 1], None, None), classes(["ill", "well"], "ill", None), classes(["?", "n", "y"], "y", "n")
    (Classes(positive=1, negative=0), Classes(positive='ill', negative='well'), Classes(positive='y', negative='n'))
    """
    refuse_mixed(labels)
    if np.ndim(positive) or np.ndim(negative):  # type: ignore[arg-type]  # anything may be asked its dimensions
        raise OptionError("positive or negative is more than one label; name one of each.")
    if positive is None and negative is not None:
        positive = _opposite(labels, negative)
    if positive is None:
        return _inferred(labels)
    found = resolved(positive, labels)
    if found not in labels:
        refuse_absent(labels, found)
    others = [label for label in labels if label != found]
    if negative is not None:
        other = resolved(negative, labels)
        if other == found:
            raise NotBinaryError(f"positive and negative are both {found!r}; name two labels.")
        if other not in labels:
            refuse_absent(labels, other, which="negative")
        return Classes(found, other)
    if len(others) > 1:
        raise NotBinaryError(
            f"truth has more than two labels ({listed(labels)}); name the other class too, with negative=, and leave "
            'the other rows out with missing="drop".'
        )
    return Classes(found, others[0] if others else None)


def resolved(label: object, labels: Iterable[object]) -> object:
    """Find the label that a spelling means; a label that is not a spelling means itself."""
    if not isinstance(label, Spelled):
        return label
    readings = [str(label), *_readings(label)]
    return next((found for found in labels for reading in readings if _same(found, reading)), str(label))


def parsed(texts: Sequence[str]) -> list[object]:
    """Read distinct texts as whole numbers, numbers or booleans if each is written as such, as a CSV file means it.

    Texts that would become one value stay texts: no two labels are ever merged.

    >>> parsed(["0", "1"]), parsed(["0.0", "1.0"]), parsed(["true", "False"])
    ([0, 1], [0.0, 1.0], [True, False])
    >>> parsed(["01", "1"]), parsed(["1.1", "1.10"])
    (['01', '1'], ['1.1', '1.10'])
    """
    for pattern, read in _FORMS:
        if texts and all(re.fullmatch(pattern, text) for text in texts):
            values = [read(text) for text in texts]
            return values if len(set(values)) == len(texts) else list(texts)
    return list(texts)


def parsed_alike(columns: Sequence[Sequence[str]]) -> list[list[object]]:
    """Read texts of several columns that hold the same labels: if those of one stay text, all do.

    >>> parsed_alike([["1", "2"], ["1.0"]]), parsed_alike([["1", "2"], ["none"]])
    ([[1, 2], [1.0]], [['1', '2'], ['none']])
    """
    read = [parsed(texts) for texts in columns]
    if any(isinstance(label, str) for labels in read for label in labels):
        return [list(texts) for texts in columns]
    return read


def refuse_mixed(labels: Sequence[object], what: str = "truth", error: type[DataError] = NotBinaryError) -> None:
    """Text beside numbers: equal-looking labels may differ."""
    texts = [label for label in labels if isinstance(label, (str, bytes))]
    if 0 < len(texts) < len(labels):
        raise error(
            f"{what} mixes text and numbers ({listed(labels)}), so that equal-looking labels may differ; make them all "
            "of one type."
        )


def refuse_ambiguous(labels: Sequence[object]) -> None:
    """Nobody said which label is positive, and it cannot be told."""
    if len(labels) > 2:
        raise NotBinaryError(
            f"truth has more than two labels ({listed(labels)}); compare it with the positive one first."
        )
    choices = " or ".join(f"positive={listed([label])}" for label in labels)
    raise NotBinaryError(f"truth has the labels {listed(labels)}; name the positive one: {choices}.")


def refuse_absent(labels: Sequence[object], named: object, *, which: str = "positive") -> None:
    """Nobody is of that class: among zeros or ones that may be, among other labels it is more likely a slip."""
    alike = [label for label in labels if str(label) == str(named)]
    if alike:
        kinds = ("text", "a number") if isinstance(alike[0], (str, bytes)) else ("a number", "text")
        raise NotBinaryError(
            f"{which}={named!r} is {kinds[1]}, but truth holds {alike[0]!r}, {kinds[0]}; pass {which}={alike[0]!r}."
        )
    if not set(labels) <= {0, 1} or named not in (0, 1):
        from difflib import get_close_matches  # slow to import, and rarely needed

        texts = {str(label).casefold(): label for label in labels}
        near = get_close_matches(str(named).casefold(), texts, n=1)
        hint = f"Did you mean {listed([texts[near[0]]])}? " if near else ""
        raise NotBinaryError(
            f"{which}={named!r} does not occur in truth, which holds {listed(labels)}. {hint}"
            f"If there really are no {which}s, recode truth to 0 and 1."
        )


def doubtful(column: str, labels: Iterable[object]) -> Iterator[str]:
    """Labels that may be meant as missing.

    >>> list(doubtful("sex", ["f", "m", "NA"]))
    ["sex holds 'NA' as a label; if that means missing, leave those cells empty."]
    """
    for label in labels:
        if isinstance(label, str) and label.strip().casefold() in _ABSENT:
            yield f"{column} holds {label!r} as a label; if that means missing, leave those cells empty."


def ordered(labels: Iterable[object]) -> list[object]:
    """Labels in order of size, or of their text where they have no size."""
    found = list(labels)
    try:
        return sorted(found)  # type: ignore[type-var]  # what has no order is caught
    except TypeError:
        return sorted(found, key=lambda label: (type(label).__name__, str(label)))


def listed(labels: Sequence[object], most: int = 5) -> str:
    """Name the first few."""
    rest = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(f"{text[:57]}…" if len(text) > 60 else text for text in map(repr, labels[:most])) + rest


def _opposite(labels: Sequence[object], negative: object) -> object:
    """Find the label that is left when the negative one is named."""
    other = resolved(negative, labels)
    if other not in labels:
        refuse_absent(labels, other, which="negative")
    left = [label for label in labels if label != other]
    if len(left) != 1:
        raise NotBinaryError(
            f"truth holds {listed(labels)}, of which {other!r} is negative; name the positive one too."
        )
    return left[0]


def _inferred(labels: Sequence[object]) -> Classes:
    if labels and set(labels) <= {0, 1}:
        kind: type[Any] = type(labels[0])
        return Classes(kind(1), kind(0))
    if len(labels) > 2:
        raise NotBinaryError(
            f"truth has more than two labels ({listed(labels)}); name both classes, with positive= and negative=, and "
            'leave the other rows out with missing="drop", or judge all of them: read.class_rows, read.confusions.'
        )
    refuse_ambiguous(labels)
    raise AssertionError  # for the type checker


def _same(label: object, reading: object) -> bool:
    return label == reading and isinstance(label, str) == isinstance(reading, str)


def _readings(text: str) -> list[object]:
    """What a text may mean besides itself."""
    readings: list[object] = []
    if text.lower() in {"true", "false"}:
        readings.append(text.lower() == "true")
    for read in (int, float):
        try:
            readings.append(read(text))
        except ValueError:
            continue
    return readings


_FORMS: tuple[tuple[str, Callable[[str], object]], ...] = (
    (r"0|-?[1-9][0-9]{0,17}", int),
    (r"-?(0|[1-9][0-9]{0,14})\.[0-9]{1,15}", float),
    (r"(?i:true|false)", lambda text: text.lower() == "true"),
)
