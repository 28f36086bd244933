"""Labels: parse them from text, find the positive one, sort and format them, and infer classes from column names."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from baserate._errors import DataError, NotBinaryError, OptionError, UnknownLabelError, advice, keyword, suggest

_MISSING_CODES = {"na", "n/a", "nan", "null", "none", "missing", "?", "."}
"""Spellings of a missing value by programs that cannot leave a cell empty."""


class LabelText(str):
    """A label as typed in a shell or a URL: it means the label with this spelling, of whatever type.

    >>> resolve_label(LabelText("1"), [0, 1]), resolve_label(LabelText("true"), [False, True])
    (1, True)
    >>> resolve_label(LabelText("sick"), ["sick"])
    'sick'
    """

    __slots__ = ()


class Classes(NamedTuple):
    """The positive and the negative label; `negative` is None if only the positive one occurs."""

    positive: object
    negative: object


def find_classes(labels: Sequence[object], positive: object, negative: object) -> Classes:
    """Find the positive and the negative label, stated or safely inferred.

    Labels beyond the two are allowed only if both are stated.

    >>> find_classes([0, 1], None, None), find_classes(["?", "n", "y"], "y", "n")
    (Classes(positive=1, negative=0), Classes(positive='y', negative='n'))
    """
    refuse_mixed_types(labels)
    if np.ndim(positive) or np.ndim(negative):  # type: ignore[arg-type]  # a label of any type
        raise OptionError("positive or negative is more than one label", remedy="name one of each.")
    if positive is None and negative is not None:
        positive = _find_positive(labels, negative)
    if positive is None:
        return _infer_classes(labels)
    first = resolve_label(positive, labels)
    if first not in labels:
        refuse_absent(labels, first)
    others = [label for label in labels if label != first]
    if negative is not None:
        other = resolve_label(negative, labels)
        if other == first:
            raise NotBinaryError(f"positive and negative are both {first!r}", remedy="name two labels.")
        if other not in labels:
            refuse_absent(labels, other, which="negative")
        return Classes(first, other)
    if len(others) > 1:
        raise NotBinaryError(
            f"truth has more than two labels ({format_labels(labels)})",
            remedy=f"name the other class too, with {keyword('negative')}, and leave the other rows out with "
            f"{keyword('missing', 'drop')}.",
        )
    return Classes(first, others[0] if others else None)


def resolve_label(label: object, labels: Iterable[object]) -> object:
    """Find the label that a `LabelText` means; any other label means itself."""
    if not isinstance(label, LabelText):
        return label
    readings = [str(label), *_possible_values(label)]
    return next((each for each in labels for reading in readings if _equals(each, reading)), str(label))


def parse_labels(texts: Sequence[str]) -> list[object]:
    """Parse distinct texts as integers, numbers or booleans if all of them are written as such.

    Texts that would become one value stay texts: no two labels are ever merged.

    >>> parse_labels(["0", "1"]), parse_labels(["0.0", "1.0"]), parse_labels(["true", "False"])
    ([0, 1], [0.0, 1.0], [True, False])
    >>> parse_labels(["01", "1"]), parse_labels(["1.1", "1.10"])
    (['01', '1'], ['1.1', '1.10'])
    """
    for pattern, read in _FORMS:
        if texts and all(re.fullmatch(pattern, text) for text in texts):
            values = [read(text) for text in texts]
            return values if len(set(values)) == len(texts) else list(texts)
    return list(texts)


def parse_jointly(columns: Sequence[Sequence[str]]) -> list[list[object]]:
    """Parse texts of several columns with the same labels: if those of one stay text, all do.

    >>> parse_jointly([["1", "2"], ["1.0"]]), parse_jointly([["1", "2"], ["none"]])
    ([[1, 2], [1.0]], [['1', '2'], ['none']])
    """
    read = [parse_labels(texts) for texts in columns]
    if any(isinstance(label, str) for labels in read for label in labels):
        return [list(texts) for texts in columns]
    return read


def refuse_mixed_types(labels: Sequence[object], what: str = "truth", error: type[DataError] = NotBinaryError) -> None:
    """Refuse text beside numbers, since labels that look equal may differ."""
    texts = [label for label in labels if isinstance(label, (str, bytes))]
    if 0 < len(texts) < len(labels):
        raise error(
            f"{what} mixes text and numbers ({format_labels(labels)}), so that labels that look equal may differ",
            remedy="make them all of one type.",
        )


def refuse_ambiguous(labels: Sequence[object]) -> None:
    """Refuse labels without a stated or evident positive one."""
    if len(labels) > 2:
        raise NotBinaryError(
            f"truth has more than two labels ({format_labels(labels)})",
            remedy=advice(
                "two labels",
                f"name both classes with {keyword('positive')} and {keyword('negative')}, or compare one class with "
                "the rest, truth == label.",
            ),
        )
    choices = " or ".join(keyword("positive", label) for label in labels)
    raise NotBinaryError(f"truth has the labels {format_labels(labels)}", remedy=f"name the positive one: {choices}.")


def refuse_absent(labels: Sequence[object], stated: object, *, which: str = "positive") -> None:
    """Refuse a stated label that does not occur; 0 and 1 may be absent, any other label is likely a slip."""
    same = [label for label in labels if str(label) == str(stated)]
    if same:
        kinds = ("text", "a number") if isinstance(same[0], (str, bytes)) else ("a number", "text")
        what = f"{keyword(which, stated)} is {kinds[1]}, but truth holds {same[0]!r}, {kinds[0]}"
        raise NotBinaryError(what, remedy=f"pass {keyword(which, same[0])}.", option=which, value=stated)
    if not set(labels) <= {0, 1} or stated not in (0, 1):
        texts = {str(label).casefold(): label for label in labels}
        question = suggest(str(stated).casefold(), texts, spell=lambda match: format_labels([texts[match]]))
        absent = f"{keyword(which, stated)} does not occur in truth, which holds {format_labels(labels)}."
        remedy = f"If there really are no {which}s, recode truth to 0 and 1."
        raise NotBinaryError(" ".join(filter(None, [absent, question])), remedy=remedy, option=which, value=stated)


def note_missing_codes(column: str, labels: Iterable[object]) -> Iterator[str]:
    """Note labels that may be codes for missing values.

    >>> list(note_missing_codes("sex", ["f", "m", "NA"]))
    ["sex holds 'NA' as a label; if that means missing, leave those cells empty."]
    """
    for label in labels:
        if isinstance(label, str) and label.strip().casefold() in _MISSING_CODES:
            yield f"{column} holds {label!r} as a label; if that means missing, leave those cells empty."


def sort_labels(labels: Iterable[object]) -> list[object]:
    """Sort labels by value, or by type and text if they cannot be compared."""
    unsorted = list(labels)
    try:
        return sorted(unsorted)  # type: ignore[type-var]  # a TypeError is caught
    except TypeError:
        return sorted(unsorted, key=lambda label: (type(label).__name__, str(label)))


def format_labels(labels: Sequence[object], most: int = 5) -> str:
    """Format the first few labels for a message."""
    rest = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(f"{text[:57]}…" if len(text) > 60 else text for text in map(repr, labels[:most])) + rest


def _find_positive(labels: Sequence[object], negative: object) -> object:
    """Find the positive label, if the negative one is stated."""
    other = resolve_label(negative, labels)
    if other not in labels:
        refuse_absent(labels, other, which="negative")
    rest = [label for label in labels if label != other]
    if len(rest) != 1:
        raise NotBinaryError(
            f"truth holds {format_labels(labels)}, and {other!r} is negative", remedy="name the positive one too."
        )
    return rest[0]


def _infer_classes(labels: Sequence[object]) -> Classes:
    # True == 1, so that booleans and 1.0 match too; the classes keep the type of the labels.
    if labels and set(labels) <= {0, 1}:
        kind: type[Any] = type(labels[0])
        return Classes(kind(1), kind(0))
    if len(labels) > 2:
        raise NotBinaryError(
            f"truth has more than two labels ({format_labels(labels)})",
            remedy=f"name both classes, with {keyword('positive')} and {keyword('negative')}, and "
            f"leave the other rows out with {keyword('missing', 'drop')}, or "
            + advice("all labels", "evaluate all of them: read.class_rows, read.confusions."),
        )
    refuse_ambiguous(labels)
    raise AssertionError  # for the type checker


def _equals(label: object, reading: object) -> bool:
    # Python's True == 1 == 1.0 is intended: "1" names any of them. Text equals text only.
    return label == reading and isinstance(label, str) == isinstance(reading, str)


def _possible_values(text: str) -> list[object]:
    """Return the values that a text may mean besides itself."""
    readings: list[object] = []
    if text.lower() in {"true", "false"}:
        readings.append(text.lower() == "true")
    for read in (int, float):
        try:
            readings.append(read(text))
        except ValueError:
            continue
    return readings


# Leading zeros and longer strings of digits mean an identifier, not a number. 15 digits of a decimal survive float64.
_FORMS: tuple[tuple[str, Callable[[str], object]], ...] = (
    (r"0|-?[1-9][0-9]{0,17}", int),
    (r"-?(0|[1-9][0-9]{0,14})\.[0-9]{1,15}", float),
    (r"(?i:true|false)", lambda text: text.lower() == "true"),
)


def classes_from_names(columns: Sequence[str], labels: Sequence[object], stem: str = "") -> list[object]:
    """Infer the class of each column of scores from its name, without the common beginning and end of all names.

    >>> classes_from_names(["p_cat", "p_car", "p_dog"], ["car", "cat"])
    ['cat', 'car', 'dog']
    """
    if len(columns) < 2:
        raise OptionError(
            f"there is only one column of scores, {columns[0]!r}",
            remedy=f"give one for each class, or {keyword('labels')} in order if all share it.",
        )
    label_of = {text: label for label in labels for text in _spellings(label)}
    for texts in _trim_names(columns, stem):
        classes = [label_of[text] if text in label_of else _parse_like(text, labels) for text in texts]
        if set(labels) <= set(classes) and len(set(classes)) == len(classes):
            return classes
    lacking = [label for label in labels if not occurs_in_names(label, columns)]
    start = f"truth holds {format_labels(lacking or labels)}, "
    if lacking and len(lacking) < len(labels):
        raise UnknownLabelError(
            f"{start}for which there is no score among {format_labels(columns)}", remedy="add its column."
        )
    raise UnknownLabelError(
        f"{start}but the names of the scores, {format_labels(columns)}, do not contain them",
        remedy=advice(
            "class of each score",
            f"name the class of each column, for example score={{{format_labels(labels[:1])}: "
            f"{format_labels(columns[:1])}}}.",
            format_labels(labels[:1]),
            format_labels(columns[:1]),
        ),
    )


def occurs_in_names(label: object, columns: Sequence[str]) -> bool:
    """Return whether some spelling of a label is part of the name of a column."""
    return any(text in column for text in _spellings(label) for column in columns)


def _trim_names(columns: Sequence[str], stem: str) -> Iterator[list[str]]:
    """Yield the names without the stem, then without a common beginning and end, longest first; words stay whole."""
    if stem and all(column.startswith(stem) and column != stem for column in columns):
        yield [column.removeprefix(stem) for column in columns]
    start, end = _common_prefix(columns), _common_prefix([column[::-1] for column in columns])
    for before in range(start, -1, -1):
        for after in range(end, -1, -1):
            cuts = [(before, len(column) - after) for column in columns]
            parts = [(column[:i], column[i:j], column[j:]) for column, (i, j) in zip(columns, cuts, strict=True)]
            if all(
                middle and _is_word_boundary(first, middle) and _is_word_boundary(middle, last)
                for first, middle, last in parts
            ):
                yield [middle for _, middle, _ in parts]


def _is_word_boundary(one: str, other: str) -> bool:
    """Return whether these parts may be separated: not within a word or a number."""
    if not one or not other:
        return True
    return not (one[-1].isalpha() and other[0].isalpha()) and not (one[-1].isdigit() and other[0].isdigit())


def _common_prefix(names: Sequence[str]) -> int:
    """Return the length of the common beginning of all names."""
    return next((at for at, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), 0)


def _spellings(label: object) -> list[str]:
    return [str(label), *([str(int(label))] if isinstance(label, float) and label.is_integer() else [])]


def _parse_like(text: str, labels: Sequence[object]) -> Any:  # noqa: ANN401  (of the type of the labels)
    """Parse the label of a class that does not occur, as the type of those that do."""
    if labels and text.removeprefix("-").isdigit():
        for kind in (int, float):
            if all(type(label) is kind for label in labels):
                return kind(text)
    return text
