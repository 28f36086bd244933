"""What is judged: the tally of each model and group, or of each class and the likeliest one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isnan, log
from typing import Any, Literal, NamedTuple

from baserate._arrays import Reals
from baserate._calibrator import Calibrator, MulticlassCalibrator, shift_log_odds
from baserate._domains import PREVALENCE
from baserate._errors import OptionError
from baserate._rows import MulticlassRows
from baserate._tally import Tallies, Tally
from baserate.infer._reliability._intrinsic import derived_prevalence
from baserate.measure import header, multiclass, named_group

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

    data: Tallies | MulticlassRows
    how: str
    notes: tuple[str, ...] = ()


SAME_ROWS = "the map was fitted to these very rows, so what follows it looks better than it is."


def mapped(data: Tallies | MulticlassRows, by: Calibrator | MulticlassCalibrator, *, how: str | None = None) -> After:
    """The same rows with the probabilities that a map gives them; it is noted if they are those it was fitted on.

    >>> from baserate import calibrate, infer, read
    >>> table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    >>> data = read.tallies(table, truth="sick", score="risk")
    >>> infer.mapped(data, calibrate.fit(data, "offset")).notes
    ('the map was fitted to these very rows, so what follows it looks better than it is.',)
    """
    how = how or f"mapped by {by.method}"
    if isinstance(data, MulticlassRows):
        if not isinstance(by, MulticlassCalibrator) or by.labels != tuple(map(str, data.labels)):
            of = "two classes" if isinstance(by, Calibrator) else f"the classes {', '.join(by.labels)}"
            raise OptionError(f"the map is of {of}, but there are scores for {', '.join(map(str, data.labels))}.")
        return After(replace(data, score=by(data.score)), how, (SAME_ROWS,) * by.was_fitted_on(data))
    if not isinstance(by, Calibrator):
        raise OptionError(
            f"the map is of the classes {', '.join(by.labels)}, but there is one score; map all of theirs."
        )
    if len(data.models) > 1:
        raise OptionError(
            f"there are several scores ({', '.join(data.models)}), but a map is of one score: read it alone."
        )
    ((model, groups),) = data.models.items()
    after = {group: tally.rescored(by(tally.score)) for group, tally in groups.items()}
    same = by.was_fitted_on(data.pooled(model))
    return After(replace(data, models={model: after}, decisions={}), how, (SAME_ROWS,) * same)


def parted(
    data: Tallies | MulticlassRows, prevalence: Prevalence = None, after: After | None = None
) -> tuple[list[Part], dict[str, Any]]:
    """Parts, each once more after an adjustment or a calibration if there is one, and what they were made from.

    Before a calibration, scores that are no probabilities cannot be judged, and are left out.
    """
    if after is not None and (prevalence is not None or type(after.data) is not type(data)):
        raise OptionError("what is judged after is the same data once more, without a prevalence.")
    if isinstance(data, MulticlassRows):
        if prevalence is not None:
            raise OptionError("a prevalence is for two classes; of many there is one for each: leave it out.")
        return list(_of_classes(data, after)), multiclass.header(data, data.decided(), [])
    if not (prevalence is None or prevalence == "derived" or PREVALENCE.holds(prevalence)):
        raise OptionError(
            f"prevalence is {prevalence!r}; expected {PREVALENCE.words}, or 'derived'. Give one of these."
        )
    if isinstance(data, Tallies):
        return list(_of_two(data, prevalence, after)), header(data, [])
    raise OptionError(f"{type(data).__name__} is neither Tallies nor ClassRows; read them with baserate.read.")


def _of_two(tallies: Tallies, prevalence: Prevalence, after: After | None) -> Iterator[Part]:
    labels = tallies.intake.columns.get("predicted")
    judged = {model: after is None or _probabilities(tallies.pooled(model).score) for model in tallies.models}
    for model, group, tally in tallies.walk():
        if model == labels:
            raise OptionError(f"{model} holds labels, which are no probabilities; leave predicted= out.")
        name = model if len(tallies.models) > 1 else None
        fixed = {"model": name, "group": named_group(tallies, group), "class": None, "top": False, **AS_GIVEN}
        shown = model if group is None else f"{model} of {', '.join(map(str, group))}"
        if judged[model]:
            yield Part(tally, fixed, shown)
        if after is not None:
            assert isinstance(after.data, Tallies)  # noqa: S101  (for the type checker)
            moved = after.data.pooled(model) if group is None else after.data.models[model][group]
            yield Part(moved, fixed | {"calibrated": after.how}, shown)
        if prevalence is not None:
            at = derived_prevalence(tally).value if prevalence == "derived" else float(prevalence)
            # With a single class, or certainties alone, there is nothing to adjust; notes say so.
            if not isnan(at) and tally.positives and tally.negatives:
                added = log(tally.positives / tally.negatives) - log(at / (1 - at))
                yield Part(tally.rescored(shift_log_odds(added)(tally.score)), fixed | {"adjusted": at}, shown)


def _of_classes(classes: MulticlassRows, after: After | None = None) -> Iterator[Part]:
    if after is None:
        yield from _each_class(classes)
        return
    assert isinstance(after.data, MulticlassRows)  # noqa: S101  (for the type checker)
    judged = _probabilities(classes.score)
    for before, part in zip(_each_class(classes), _each_class(after.data), strict=True):
        yield from (before,) * judged
        yield part._replace(fixed={**part.fixed, "calibrated": after.how})


def _probabilities(score: Reals) -> bool:
    """Whether they can be judged as such; of other scores, only what was made of them can be."""
    return not score.size or bool(score.min() >= 0 and score.max() <= 1)


def _each_class(classes: MulticlassRows) -> Iterator[Part]:
    for group, rows in multiclass.walk(classes):
        assert isinstance(rows, MulticlassRows)  # noqa: S101  (for the type checker)
        of = "" if group is None else f" of {', '.join(map(str, group.values()))}"
        fixed = {"model": None, "group": group, "class": None, "top": False, **AS_GIVEN}
        for at, label in enumerate(rows.labels):
            yield Part(rows.against_rest(at), fixed | {"class": label}, f"{label}{of}")
        yield Part(rows.top_class(), fixed | {"top": True}, f"the likeliest class{of}")
