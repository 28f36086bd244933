"""Cases of SQL that a person can read: every branch on a line of its own, and what is nested further to the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_STEP = "  "


class When(NamedTuple):
    """A branch: it is taken where any of these conditions holds."""

    any_of: tuple[str, ...]
    then: str | Case


@dataclass(frozen=True, slots=True)
class Case:
    """Branches, of which the first that is taken counts, and what holds otherwise; without that it is NULL."""

    branches: tuple[When, ...]
    rest: str | Case | None = None


def laid_out(of: str | Case, depth: int = 0) -> str:
    """Write an expression that begins so many steps to the right.

    Only the layout of cases is ours: text and names stay as they are, whatever line breaks they hold.

    >>> inner = Case((When(("y",), "1"),), "2")
    >>> print(laid_out(Case((When(("a", "b"), "0"), When(("x",), inner)))))
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
    if isinstance(of, str):
        return of
    begin = f"\n{_STEP * depth}"
    either = f"{begin}{_STEP * 2}OR "
    parts = [f"{begin}{_STEP}WHEN {either.join(each.any_of)} THEN{_then(each.then, depth)}" for each in of.branches]
    parts += [] if of.rest is None else [f"{begin}{_STEP}ELSE{_then(of.rest, depth)}"]
    return f"CASE{''.join(parts)}{begin}END"


def _then(of: str | Case, depth: int) -> str:
    deeper = depth + 2
    return f" {of}" if isinstance(of, str) else f"\n{_STEP * deeper}{laid_out(of, deeper)}"


def in_line(of: str | Case) -> str:
    """Write an expression in one line, for where it is a part of another.

    >>> in_line(Case((When(("a", "b"), "0"),), "1"))
    'CASE WHEN a OR b THEN 0 ELSE 1 END'
    """
    if isinstance(of, str):
        return of
    parts = [f"WHEN {' OR '.join(each.any_of)} THEN {in_line(each.then)}" for each in of.branches]
    parts += [] if of.rest is None else [f"ELSE {in_line(of.rest)}"]
    return f"CASE {' '.join(parts)} END"
