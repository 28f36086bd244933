"""What is judged: the tally of each model and group, or of each class and the likeliest one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan, log
from numbers import Real
from typing import Any, Literal, NamedTuple

from baserate._class_rows import ClassRows
from baserate._errors import BadOption
from baserate._map import shifted
from baserate._tallies import Tallies
from baserate._tally import Tally
from baserate.infer._reliability._intrinsic import derived_prevalence
from baserate.measure._summary import header, named_group
from baserate.measure.multiclass import _summary as of_classes

Prevalence = float | Literal["derived"] | None
AS_GIVEN = {"adjusted": None, "calibrated": None}


class Part(NamedTuple):
    """A tally that is judged, and what it is of."""

    tally: Tally
    fixed: Mapping[str, Any]
    shown: str

    @property
    def as_given(self) -> bool:
        """Whether probabilities are those that were given."""
        return self.fixed["adjusted"] is None and self.fixed["calibrated"] is None


@dataclass(frozen=True, slots=True)
class After:
    """The same rows with other probabilities, and how these were made; `notes` are what a reader should know."""

    data: Tallies | ClassRows
    how: str
    notes: tuple[str, ...] = ()


def parted(
    data: Tallies | ClassRows, prevalence: Prevalence = None, after: After | None = None
) -> tuple[list[Part], dict[str, Any]]:
    """Parts, each once more after an adjustment or a calibration if there is one, and what they were made from."""
    if after is not None and (prevalence is not None or type(after.data) is not type(data)):
        raise BadOption("what is judged after is the same data once more, without a prevalence.")
    if isinstance(data, ClassRows):
        if prevalence is not None:
            raise BadOption("a prevalence is for two classes; of many there is one for each: leave it out.")
        return list(_of_classes(data, after)), of_classes.header(data, data.decided(), [])
    if not (prevalence is None or prevalence == "derived" or (isinstance(prevalence, Real) and 0 < prevalence < 1)):
        raise BadOption(f"prevalence is {prevalence!r}; give one between 0 and 1, both excluded, or 'derived'.")
    if isinstance(data, Tallies):
        return list(_of_two(data, prevalence, after)), header(data, [])
    raise BadOption(f"{type(data).__name__} is neither Tallies nor ClassRows; read them with baserate.read.")


def _of_two(tallies: Tallies, prevalence: Prevalence, after: After | None) -> Iterator[Part]:
    labels = tallies.intake.columns.get("predicted")
    for model, group, tally in tallies.walk():
        if model == labels:
            raise BadOption(f"{model} holds labels, which are no probabilities; leave predicted= out.")
        name = model if len(tallies.models) > 1 else None
        fixed = {"model": name, "group": named_group(tallies, group), "class": None, "top": False, **AS_GIVEN}
        shown = model if group is None else f"{model} of {', '.join(map(str, group))}"
        yield Part(tally, fixed, shown)
        if after is not None:
            assert isinstance(after.data, Tallies)  # noqa: S101  (for the type checker)
            mapped = after.data.pooled(model) if group is None else after.data.models[model][group]
            yield Part(mapped, fixed | {"calibrated": after.how}, shown)
        if prevalence is not None:
            at = derived_prevalence(tally).value if prevalence == "derived" else float(prevalence)
            # With a single class, or certainties alone, there is nothing to adjust; notes say so.
            if not isnan(at) and tally.positives and tally.negatives:
                added = log(tally.positives / tally.negatives) - log(at / (1 - at))
                yield Part(tally.rescored(shifted(added)(tally.score)), fixed | {"adjusted": at}, shown)


def _of_classes(classes: ClassRows, after: After | None = None) -> Iterator[Part]:
    if after is None:
        yield from _each_class(classes)
        return
    assert isinstance(after.data, ClassRows)  # noqa: S101  (for the type checker)
    for before, part in zip(_each_class(classes), _each_class(after.data), strict=True):
        yield from (before, part._replace(fixed={**part.fixed, "calibrated": after.how}))


def _each_class(classes: ClassRows) -> Iterator[Part]:
    for group, rows in of_classes.walk(classes):
        assert isinstance(rows, ClassRows)  # noqa: S101  (for the type checker)
        of = "" if group is None else f" of {', '.join(map(str, group.values()))}"
        fixed = {"model": None, "group": group, "class": None, "top": False, **AS_GIVEN}
        for at, label in enumerate(rows.labels):
            yield Part(rows.against_rest(at), fixed | {"class": label}, f"{label}{of}")
        yield Part(rows.top_class(), fixed | {"top": True}, f"the likeliest class{of}")
