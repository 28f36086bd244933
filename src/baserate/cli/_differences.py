"""Tidy comparisons -> a page: one line for each pair of models."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from baserate._formatting import (
    UNDEFINED,
    footnote_mark,
    format_exact,
    format_level,
    format_number,
    format_p,
    unadjusted_note,
)
from baserate._results import Results
from baserate.cli._ask import headline
from baserate.cli._options import Reading
from baserate.text import EVERYBODY, Page, Row, Section, Table, shorten_label

Line = Mapping[str, Any]

_NUMBERS = {
    "value": "first",
    "other_value": "second",
    "difference": "difference",
    "low": "low",
    "high": "high",
    "p": "p",
    "p_adjusted": "Holm-adjusted p",
}
_CHANCES = ("p", "p_adjusted")


def page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay the comparisons out: a section for each measure and group."""
    lines = found.rows()
    columns = [name for name in _NUMBERS if name != "p_adjusted" or len(lines) > 1]
    reasons: list[str] = []
    sections = []
    grouped = any(line["group"] for line in lines)
    for title, group in groupby(lines, key=lambda line: _title(line, grouped=grouped)):
        rows = [_row(line, columns, digits, reasons) for line in group]
        sections.append(Section(title, tuple(rows)))
    panel = Table("", tuple(_NUMBERS[name] for name in columns), tuple(sections))
    notes = [f"{footnote_mark(at)} {why}" for at, why in enumerate(reasons, start=1)]
    return Page(headline(asked, found.data), (panel,), (*notes, *_footnotes(lines)))


def _title(line: Line, *, grouped: bool) -> str:
    measure = line["measure"].replace("_", " ")
    if not grouped:
        return str(measure)
    named = ", ".join(
        f"{shorten_label(name)} = {shorten_label(value)}" for name, value in (line["group"] or {}).items()
    )
    return f"{measure}, {named or EVERYBODY}"


def _row(line: Line, columns: Sequence[str], digits: int, reasons: list[str]) -> Row:
    def cell(name: str) -> str:
        if line[name] is not None and name in _CHANCES:
            return format_p(line[name], digits, is_bound=line["p_is_bound"])
        if line[name] is not None:
            return format_number(line[name], digits)
        why = line["why"] or "undefined"
        if why not in reasons:
            reasons.append(why)
        return UNDEFINED + footnote_mark(reasons.index(why) + 1)

    return Row(f"{_model(line, '')} − {_model(line, 'other_')}", tuple(map(cell, columns)))


def _model(line: Line, which: str) -> str:
    name = shorten_label(line["other" if which else "model"])
    at = line[f"{which}threshold"]
    return name if at is None else f"{name} ≥ {format_exact(at)}"


def _footnotes(lines: Sequence[Line]) -> Iterator[str]:
    """What p means, and how it and the interval were made; for each measure where they differ."""
    yield from dict.fromkeys(filter(None, map(_asked, lines)))
    made = {measure: list(dict.fromkeys(_made(each) for each in of)) for measure, of in _by_measure(lines).items()}
    alone = len({tuple(told) for told in made.values()}) == 1
    if alone:
        yield from filter(None, next(iter(made.values())))
    else:
        yield from (f"{measure.replace('_', ' ')}: {each}" for measure, told in made.items() for each in told if each)
    tested = [line for line in lines if line["p"] is not None]
    if len(lines) > 1 and tested:
        note = unadjusted_note(tested[0]["level"])
        yield f"Holm-adjusted p: over all {len(tested)} comparisons of this table. {note}"


def _by_measure(lines: Sequence[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line["measure"], []).append(line)
    return found


def _made(line: Line) -> str:
    """How a difference was judged; numbers of rows that differ from pair to pair are not told."""
    if line["test"] is None:
        return ""
    test = line["test"].partition(":")[0] if line["test"].startswith("McNemar") else line["test"]
    level = f"{format_level(line['level'])} % interval"
    return f"p and {level}: {test}." if test == line["how"] else f"p: {test}. {level}: {line['how']}."


def _asked(line: Line) -> str:
    side, margin = line["alternative"], line["margin"]
    if side == "two-sided":
        return ""
    bound = format_exact(margin if side == "less" else 0.0 - margin)
    where = "below" if side == "less" else "above"
    return f"A small p speaks for a difference of {line['measure'].replace('_', ' ')} {where} {bound}."
