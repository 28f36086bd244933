"""Tallies: one tally for each model and group, with what was read to make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from baserate._errors import OptionError
from baserate._immutable import FrozenMapping
from baserate._intake import ReadSummary
from baserate._plurals import count_of
from baserate._tally import Tally

Group = tuple[object, ...]
"""One value for each attribute."""


def as_group(key: object) -> Group:
    """Return a group as a tuple of labels; a plain label is of one attribute.

    >>> as_group("f"), as_group(("f", "north"))
    (('f',), ('f', 'north'))
    """
    return key if isinstance(key, tuple) else (key,)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tallies:
    """Model -> group -> Tally.

    A group is a tuple of values, one for each of the `attributes`; ungrouped data has the single group `()`.

    >>> t = Tally.counted(score=[0.9, 0.4], rows=[[2, 1], [0, 3]])
    >>> both = Tallies({"risk": {("f",): t, ("m",): t}}, attributes=("sex",), intake=ReadSummary(read=12))
    >>> both.pooled("risk").total
    12.0
    >>> [(group, tally.total) for _, group, tally in both.walk()]
    [(None, 12.0), (('f',), 6.0), (('m',), 6.0)]
    """

    models: Mapping[str, Mapping[Group, Tally]]
    attributes: tuple[str, ...] = ()
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))
    decisions: Mapping[str, Tally] = field(default_factory=dict)
    """Model -> everybody, with the predicted label in place of truth; empty without predicted labels."""
    _sums: dict[str, Tally] = field(default_factory=dict, init=False)
    """What was added up already: many ask for it, and it takes as long as reading."""

    def __post_init__(self) -> None:
        models = {model: FrozenMapping(groups) for model, groups in self.models.items()}
        object.__setattr__(self, "models", FrozenMapping(models))
        keys = [list(groups) for groups in models.values()]
        if not keys or not keys[0] or any(other != keys[0] for other in keys):
            raise OptionError("every model needs a tally for each of the same groups; give at least one of both.")
        if any(len(group) != len(self.attributes) for group in keys[0]):
            raise OptionError(f"a group is a tuple with a value for each attribute, here of {list(self.attributes)}.")

    def __repr__(self) -> str:
        groups = f" in {count_of(len(self.groups), 'group')} by {', '.join(self.attributes)}" if self.attributes else ""
        return f"Tallies({', '.join(self.models)}{groups}; {self.intake.told})"

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, the same for every model."""
        return tuple(next(iter(self.models.values())))

    @property
    def tally(self) -> Tally:
        """The only tally, where there is one model and no grouping."""
        if len(self.models) > 1 or self.attributes:
            raise OptionError("there are several tallies; take tallies.models[model][group], or tallies.pooled(model).")
        return self.models[next(iter(self.models))][()]

    def pooled(self, model: str) -> Tally:
        """Tally of all groups of a model, added up once."""
        if model not in self._sums:
            groups = list(self.models[model].values())
            self._sums[model] = groups[0] if len(groups) == 1 else Tally.sum(groups)
        return self._sums[model]

    def walk(self) -> Iterator[tuple[str, Group | None, Tally]]:
        """Every model with its pooled tally (group None), then with those of its groups if there is a grouping."""
        for model, groups in self.models.items():
            yield model, None, self.pooled(model)
            if self.attributes:
                yield from ((model, group, tally) for group, tally in groups.items())

    @property
    def digest(self) -> str:
        """SHA-256 of what was tallied; of a single tally its own digest.

        It depends on scores, classes, groups and the order of models; not on names, file formats or the order of rows.
        """
        digests = [(group, tally.digest) for groups in self.models.values() for group, tally in groups.items()]
        if len(digests) == 1:
            return digests[0][1]
        lines = [f"{list(map(str, group))} {digest}" for group, digest in digests]
        return sha256("\n".join(["baserate tallies 1", *lines]).encode()).hexdigest()
