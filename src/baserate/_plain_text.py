"""Text that does nothing but be read: in a terminal, and in Markdown."""

import re
from collections.abc import Iterable

_STYLE = re.compile(r"\x1b\[[0-9]m")
_SPECIAL = re.compile(r"([\\`*_|<>\[\]])")


def printable(text: str) -> str:
    r"""Text that cannot steer a terminal: control characters are shown as �.

    >>> printable("a\x1b[2Jb")
    'a�[2Jb'
    """
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def escaped(text: str) -> str:
    r"""Text that Markdown leaves alone.

    >>> print(escaped("a|b_c"))
    a\|b\_c
    """
    return _SPECIAL.sub(r"\\\1", text)


def listed(parts: Iterable[str]) -> str:
    """Put parts together as a sentence does.

    >>> listed(["one", "two", "three"]), listed(["one", "two"])
    ('one, two and three', 'one and two')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def bold(text: str) -> str:
    r"""Text that a terminal shows bold, without blanks at its end; whoever writes it to a file strips that.

    >>> bold("a ")
    '\x1b[1ma\x1b[0m'
    """
    return f"\x1b[1m{text.rstrip()}\x1b[0m"


def faint(text: str) -> str:
    r"""Text that a terminal shows faint, likewise.

    >>> faint("a ")
    '\x1b[2ma\x1b[0m'
    """
    return f"\x1b[2m{text.rstrip()}\x1b[0m"


def unstyled(text: str) -> str:
    r"""Text without what makes it bold or faint.

    >>> unstyled(bold("a") + " b")
    'a b'
    """
    return _STYLE.sub("", text)
