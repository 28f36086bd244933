"""SQL dialects: one table of how engines quote, type and hash, and the layout of CASE expressions.

To add a dialect, add an entry to `_DIALECTS`; `as_sql` and the command line accept its name and its aliases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from baserate._errors import nearest, unknown_name


class Dialect(NamedTuple):
    """An SQL dialect: everything in which one engine differs from the others."""

    name: str
    quote_name: Callable[[str], str]
    """Quote the name of a column, whatever characters it contains."""
    quote_text: Callable[[str], str]
    """Quote text."""
    text_type: str
    double_type: str
    """Type of floating-point numbers of 64 bits."""
    sha256: Callable[[str], str]
    """Expression of text -> its SHA-256 in lower-case hexadecimal digits, which compare as bytes do."""
    aliases: tuple[str, ...] = ()
    """Other names that are accepted."""
    underflows: bool = False
    """Whether a product that is too small for a double raises an error instead of becoming 0."""
    enum_type: str | None = None
    """Type of actions, where it is not text."""

    def action(self, name: str) -> str:
        """Return an action as a value."""
        return self.quote_text(name) + (f"::{self.enum_type}" if self.enum_type else "")


def _quote_with(mark: str) -> Callable[[str], str]:
    return lambda text: mark + text.replace(mark, mark * 2) + mark


def _quote_spark_text(text: str) -> str:
    # Spark reads backslashes as escapes, and joins two literals side by side: '' would not be a quote.
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_DIALECTS = (
    Dialect(
        "duckdb",
        quote_name=_quote_with('"'),
        quote_text=_quote_with("'"),
        text_type="VARCHAR",
        double_type="DOUBLE",
        sha256="sha256({})".format,
    ),
    Dialect(
        "postgresql",
        quote_name=_quote_with('"'),
        quote_text=_quote_with("'"),
        text_type="text",
        double_type="double precision",
        # Only the collation "C" compares digits and letters by their bytes.
        sha256="encode(sha256(convert_to({}, 'UTF8')), 'hex') COLLATE \"C\"".format,
        aliases=("postgres",),
        underflows=True,
    ),
    Dialect(
        "spark",
        quote_name=_quote_with("`"),
        quote_text=_quote_spark_text,
        text_type="STRING",
        double_type="DOUBLE",
        sha256="sha2({}, 256)".format,
    ),
)
DIALECTS: dict[str, Dialect] = {entry.name: entry for entry in _DIALECTS}


def find_dialect(name: str) -> Dialect:
    """Return the dialect of a name or an alias, whatever its capitals.

    >>> find_dialect("Postgres").quote_text("it's")
    "'it''s'"
    """
    for entry in DIALECTS.values():
        if name.lower() in (entry.name, *entry.aliases):
            return entry
    raise unknown_name("dialect", name, DIALECTS, near=nearest(name.lower(), DIALECTS))


_INDENT = "  "


class WhenBranch(NamedTuple):
    """A WHEN branch, for rows in which any of the conditions holds."""

    any_of: tuple[str, ...]
    then: str | CaseExpression


@dataclass(frozen=True, slots=True)
class CaseExpression:
    """A CASE expression: the first branch that holds counts; without `otherwise`, other rows are NULL."""

    branches: tuple[WhenBranch, ...]
    otherwise: str | CaseExpression | None = None


def format_case(expression: str | CaseExpression, depth: int = 0) -> str:
    """Lay out an expression over several lines, indented by `depth` steps.

    Only CASE expressions are laid out: text and names stay unchanged, whatever line breaks they contain.

    >>> inner = CaseExpression((WhenBranch(("y",), "1"),), "2")
    >>> print(format_case(CaseExpression((WhenBranch(("a", "b"), "0"), WhenBranch(("x",), inner)))))
    CASE
      WHEN a
        OR b THEN 0
      WHEN x THEN
        CASE
          WHEN y THEN 1
          ELSE 2
        END
    END
    """
    if isinstance(expression, str):
        return expression
    begin = f"\n{_INDENT * depth}"
    either = f"{begin}{_INDENT * 2}OR "
    parts = [
        f"{begin}{_INDENT}WHEN {either.join(branch.any_of)} THEN{_format_branch(branch.then, depth)}"
        for branch in expression.branches
    ]
    parts += (
        [] if expression.otherwise is None else [f"{begin}{_INDENT}ELSE{_format_branch(expression.otherwise, depth)}"]
    )
    return f"CASE{''.join(parts)}{begin}END"


def _format_branch(expression: str | CaseExpression, depth: int) -> str:
    deeper = depth + 2
    return f" {expression}" if isinstance(expression, str) else f"\n{_INDENT * deeper}{format_case(expression, deeper)}"


def format_inline(expression: str | CaseExpression) -> str:
    """Lay out an expression in one line, for use within another expression.

    >>> format_inline(CaseExpression((WhenBranch(("a", "b"), "0"),), "1"))
    'CASE WHEN a OR b THEN 0 ELSE 1 END'
    """
    if isinstance(expression, str):
        return expression
    parts = [f"WHEN {' OR '.join(branch.any_of)} THEN {format_inline(branch.then)}" for branch in expression.branches]
    parts += [] if expression.otherwise is None else [f"ELSE {format_inline(expression.otherwise)}"]
    return f"CASE {' '.join(parts)} END"
