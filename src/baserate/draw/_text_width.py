"""Widths of text at a size, and text that is wrapped to a width."""

from __future__ import annotations

import re
from functools import lru_cache

from baserate.draw._style import SMALL_TEXT_SIZE

_PART = re.compile(r"[^ ]+ *")
_BREAKS = re.compile(r"[^_/.,;:\-]*[_/.,;:\-]*")
"""Where a name without spaces may be broken."""


@lru_cache(4096)
def text_width(text: str, size: float = SMALL_TEXT_SIZE, *, bold: bool = False) -> float:
    """Return the width of text, in points: that of its longest line."""
    from matplotlib import rc_context
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    from baserate.draw._style import STYLE

    with rc_context(STYLE):
        font = FontProperties(size=size, weight="bold" if bold else "normal")
        lines = text.replace(r"\$", "$").split("\n")
        widths = [text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines]
    return float(max(widths))


def wrap_text(text: str, width: float, size: float = SMALL_TEXT_SIZE, *, bold: bool = False) -> str:
    r"""Wrap text to a width in points, at spaces; a word that is too long is broken.

    >>> wrap_text("one two three", 40), wrap_text("a_long_name", 40)
    ('one two\nthree', 'a_long_\nname')
    """
    lines = [""]
    for part in (piece for line in text.split("\n") for piece in [*_pieces(line, width, size, bold=bold), "\n"]):
        if part == "\n":
            lines.append("")
        elif text_width((lines[-1] + part).rstrip(" "), size, bold=bold) <= width or not lines[-1]:
            lines[-1] += part
        else:
            lines.append(part)
    return "\n".join(line.rstrip(" ") for line in lines[:-1])


def _pieces(line: str, width: float, size: float, *, bold: bool) -> list[str]:
    """Split a line into words, and words that are too long into parts that fit."""
    pieces = []
    for word in _PART.findall(line):
        if text_width(word.rstrip(" "), size, bold=bold) <= width:
            pieces.append(word)
            continue
        for part in filter(None, _BREAKS.findall(word)):
            while text_width(part, size, bold=bold) > width and len(part) > 1:
                fits = next(
                    (end for end in range(len(part) - 1, 1, -1) if text_width(part[:end], size, bold=bold) <= width), 1
                )
                pieces.append(part[:fits])
                part = part[fits:]  # noqa: PLW2901  (the rest of the part)
            pieces.append(part)
    return pieces


def shorten_text(text: str, width: float, size: float = SMALL_TEXT_SIZE) -> str:
    """Cut a line of text to a width in points, with an ellipsis.

    >>> shorten_text("a name", 100), shorten_text("a long name", 40)
    ('a name', 'a long na…')
    """
    if text_width(text, size) <= width:
        return text
    ends = range(len(text) - 1, 0, -1)
    return next((cut for end in ends if text_width(cut := f"{text[:end]}…", size) <= width), "…")


def fit_lines(text: str, width: float, most: int) -> str:
    r"""Wrap text to a width in points, and cut it after a number of lines.

    >>> fit_lines("one two three four five", 40, 2)
    'one two\nthree fou…'
    """
    lines = wrap_text(text, width).split("\n")
    if len(lines) <= most:
        return "\n".join(lines)
    last = " ".join(lines[most - 1 :])
    return "\n".join([*lines[: most - 1], shorten_text(last, width)])
