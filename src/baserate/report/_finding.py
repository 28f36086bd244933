"""Finding: what a reader of a report should know, with a permanent code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from baserate._immutable import FrozenMapping
from baserate.report._commands import Snippet, Step, spell_step

if TYPE_CHECKING:
    from baserate.report._report import Report

Severity = Literal["serious", "caution", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "caution", "note")
"""Serious: a number does not mean what it seems to. Caution: it may mislead. Note: worth knowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to know: a sentence with the numbers, why it matters, and what to do."""

    code: str
    """Permanent: it never means anything else, in no release."""
    title: str
    severity: Severity
    sentence: str
    why: str
    remedy: str
    """What to do, in a sentence or two."""
    command: Snippet | None = None
    """The same to be typed, with the files, columns and costs of the report; None where words alone can say it."""
    model: str | None = None
    """The model that it is about; None where it is about all of them, or about the rows."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """Numbers of the sentence in full, by name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", FrozenMapping(self.numbers))

    @property
    def anchor(self) -> str:
        """Its page in the documentation."""
        return f"findings/{self.code}"


class Said(NamedTuple):
    """What a check found: a sentence, and the numbers in it."""

    sentence: str
    numbers: Mapping[str, Any]


Look = Callable[["Report"], Said | None]
"""Looks at the report of one model, or of all of them, and says what it found, if anything."""
Suggest = Callable[["Report", Mapping[str, Any]], Step | None]
"""Takes the same report and the numbers of the sentence, and suggests a step, if there is one that can be typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A finding that might be made: what is always told of it, and the look that decides."""

    code: str
    title: str
    severity: Severity
    why: str
    remedy: str
    look: Look
    suggest: Suggest | None = None
    whole: bool = False
    """Whether it looks at all models together, once."""

    def found(self, report: Report, model: str | None = None) -> Finding | None:
        """Look, and say what was found."""
        said = self.look(report)
        if said is None:
            return None
        step = None if self.suggest is None else self.suggest(report, said.numbers)
        command = None if step is None else spell_step(report, step, model)
        told = {name: getattr(self, name) for name in ("code", "title", "severity", "why", "remedy")}
        return Finding(**told, sentence=said.sentence, command=command, numbers=said.numbers, model=model)
