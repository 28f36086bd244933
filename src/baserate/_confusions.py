"""Confusions: one K×K table for each group, with what was read to make them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from baserate._confusion import Confusion
from baserate._errors import OptionError
from baserate._immutable import FrozenMapping
from baserate._intake import ReadSummary
from baserate._plurals import count_of
from baserate._tallies import Group


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confusions:
    """Group -> Confusion, all over the same labels.

    A group is a tuple of values, one for each of the `attributes`; ungrouped data has the single group `()`.

    >>> table = Confusion.of_matrix([[20, 5], [10, 15]], ["yes", "no"], truth="rows")
    >>> both = Confusions({("f",): table, ("m",): table}, attributes=("sex",), intake=ReadSummary(read=100))
    >>> both.pooled.total
    100.0
    """

    tables: Mapping[Group, Confusion]
    attributes: tuple[str, ...] = ()
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", FrozenMapping(self.tables))
        if not self.tables or len({table.labels for table in self.tables.values()}) > 1:
            raise OptionError("every group needs a table over the same labels; give at least one.")
        if any(len(group) != len(self.attributes) for group in self.tables):
            raise OptionError(f"a group is a tuple with a value for each attribute, here of {list(self.attributes)}.")

    def __repr__(self) -> str:
        groups = f"; {count_of(len(self.tables), 'group')} by {', '.join(self.attributes)}" if self.attributes else ""
        return f"Confusions({count_of(len(self.labels), 'class', 'classes')}{groups}; {self.intake.told})"

    @property
    def labels(self) -> tuple[object, ...]:
        """The classes, the same for every group."""
        return next(iter(self.tables.values())).labels

    @property
    def pooled(self) -> Confusion:
        """Table of all groups."""
        tables = list(self.tables.values())
        return tables[0] if len(tables) == 1 else Confusion.sum(tables)

    def walk(self) -> Iterator[tuple[Group | None, Confusion]]:
        """Give everybody together (group None), then each group if there is a grouping."""
        yield None, self.pooled
        if self.attributes:
            yield from self.tables.items()

    @property
    def digest(self) -> str:
        """SHA-256 of labels, groups and row counts: the same for the same rows in any order; weights do not enter."""
        lines = ["baserate confusions 1", _text(self.labels)]
        for group, table in self.tables.items():
            lines.append(f"{_text(group)} {table.rows.mass.astype(np.int64).tolist()}")
        return sha256("\n".join(lines).encode()).hexdigest()


def _text(labels: Iterable[object]) -> str:
    return str([str(label) for label in labels])
