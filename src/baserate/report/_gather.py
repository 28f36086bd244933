"""Plan -> rows: what is judged, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from baserate._errors import OptionError
from baserate._read_summary import ReadSummary
from baserate._rows import Rows
from baserate._tally import Tallies
from baserate.read import Spelled
from baserate.report._plan import Plan

if TYPE_CHECKING:
    from baserate.read import Watch


class Gathered(NamedTuple):
    """What a plan is run on."""

    tallies: Tallies
    rows: Rows | None = None
    """Row by row, where several models are to be compared on the same ones, or rows have names."""
    repeated: int | None = None
    """Rows whose id stands before them already; None where rows have no names."""


def gathered(plan: Plan, source: Any = None, *, watch: Watch | None = None) -> Gathered:  # noqa: ANN401  (any table)
    """Read what a plan names, or the table that is handed over with it."""
    if source is None and not plan.files:
        raise OptionError("the plan names no files; hand the rows over as well: run(plan, table).")
    if plan.apart:
        return Gathered(_apart(plan, source, watch))
    table = list(plan.files) if source is None else source
    if not (plan.id or len(plan.score) > 1):
        return Gathered(_read("tallies", plan, table, watch))
    rows: Rows = _read("rows", plan, table, watch)
    repeated = None if rows.id is None else len(rows) - len(set(rows.id.tolist()))
    return Gathered(rows.tallies(), rows if len(plan.score) > 1 else None, repeated)


def _read(what: str, plan: Plan, table: Any, watch: Watch | None) -> Any:  # noqa: ANN401  (Tallies or Rows)
    from baserate import read

    labels = {name: _spelled(getattr(plan, name)) for name in ("positive", "negative")}
    asked: dict[str, Any] = {**plan.columns, **labels, "missing": plan.missing, "watch": watch}
    return getattr(read, what)(table, **asked)


def _spelled(label: object) -> object:
    """A label as text means the label that is written so, of whatever type, as it must after a trip through a file."""
    return Spelled(label) if isinstance(label, str) else label


def _apart(plan: Plan, source: Any, watch: Watch | None) -> Tallies:  # noqa: ANN401  (a mapping of tables)
    """Samples side by side, as if each were of a model of its own."""
    tables: Mapping[str, Any] = samples_of(plan.files) if source is None else source
    parts: dict[str, Tallies] = {name: _read("tallies", plan, table, watch) for name, table in tables.items()}
    several = len(plan.score) > 1
    models = {
        f"{name}: {model}" if several else name: groups
        for name, part in parts.items()
        for model, groups in part.models.items()
    }
    return Tallies(models, intake=_together([part.intake for part in parts.values()]))


def samples_of(files: tuple[str, ...]) -> dict[str, str]:
    """Return samples by the names of their files, as short as they can be told apart."""
    short = [PurePath(each).stem for each in files]
    return dict(zip(short if len({*short}) == len(short) else files, files, strict=True))


def _together(intakes: list[ReadSummary]) -> ReadSummary:
    """What was read in all."""
    labels = {(str(each.positive), str(each.negative)) for each in intakes}
    if len(labels) > 1:
        told = "; ".join(f"positive = {positive}, negative = {negative}" for positive, negative in sorted(labels))
        raise OptionError(f"the samples have different classes ({told}); name both: positive=, negative=.")
    reasons: dict[str, dict[str, int]] = {}
    for each in intakes:
        for column, kinds in each.reasons.items():
            for what, many in kinds.items():
                counted = reasons.setdefault(column, {})
                counted[what] = counted.get(what, 0) + many
    return replace(
        intakes[0],
        read=sum(each.read for each in intakes),
        dropped=sum(each.dropped for each in intakes),
        reasons=reasons,
        notes=tuple(dict.fromkeys(note for each in intakes for note in each.notes)),
    )
