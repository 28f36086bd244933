"""How engines that speak SQL differ: names, text, and how text is hashed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from baserate._errors import UnknownNameError


class Dialect(NamedTuple):
    """What a policy needs to be written in one of them."""

    name: str
    quoted: Callable[[str], str]
    """Name of a column, whatever it is made of."""
    literal: Callable[[str], str]
    """Text."""
    text: str
    """Type of text."""
    double: str
    """Type of numbers of 64 bits."""
    hashed: Callable[[str], str]
    """Text -> its SHA-256 in small hexadecimal digits, which compare as bytes do."""
    underflows: bool = False
    """Whether a product that is too small for a double is an error, not 0."""
    categories: str | None = None
    """Type of actions, where that is another than text."""

    def action(self, name: str) -> str:
        """Name of an action, as a value."""
        return self.literal(name) + (f"::{self.categories}" if self.categories else "")


def _doubled(mark: str) -> Callable[[str], str]:
    return lambda text: mark + text.replace(mark, mark * 2) + mark


def _escaped(text: str) -> str:
    """Text as Spark reads it: it knows backslashes, and takes two literals side by side for one."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect("duckdb", _doubled('"'), _doubled("'"), "VARCHAR", "DOUBLE", "sha256({})".format),
    "postgresql": Dialect(
        "postgresql",
        _doubled('"'),
        _doubled("'"),
        "text",
        "double precision",
        "encode(sha256(convert_to({}, 'UTF8')), 'hex') COLLATE \"C\"".format,
        underflows=True,
    ),
    "spark": Dialect("spark", _doubled("`"), _escaped, "STRING", "DOUBLE", "sha2({}, 256)".format),
}


def dialect(name: str) -> Dialect:
    """Find a dialect by its name.

    >>> dialect("PostgreSQL").literal("it's")
    "'it''s'"
    """
    found = {**DIALECTS, "postgres": DIALECTS["postgresql"]}.get(name.lower())
    if found is None:
        raise UnknownNameError(f"there is no dialect {name!r}. Known are: {', '.join(DIALECTS)}.")
    return found
