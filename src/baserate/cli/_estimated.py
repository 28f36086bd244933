"""An estimated prevalence -> tidy rows: itself, tests of what it assumes, and measures there and in validation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any, Literal, NamedTuple

from baserate import infer, shift
from baserate._confusion import Confusions
from baserate._errors import BaserateError
from baserate._formatting import format_number
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._tally import Tallies
from baserate._target import MulticlassTarget, Target
from baserate.cli._deployed import header, renamed
from baserate.infer import Check
from baserate.measure import COLUMNS, Measure, tidy
from baserate.shift import GIVEN, NAME, SIZE, Assumption, Prevalence, Shares, doubts

TARGET, VALIDATION = "target", "validation"
MORE = ("p", "p_adjusted", "freedom", "prevalence", "scores", "set")
"""Columns beside those of every measure."""

Line = dict[str, Any]


class Wanted(NamedTuple):
    """What is asked for besides the estimate."""

    measures: Sequence[str | Measure] | Literal["usual", "all"]
    threshold: Sequence[float] | None = None
    bins: int | None = None


def of_two(found: Prevalence, target: Target, validation: Tallies, wanted: Wanted) -> Results:
    """Everything on two classes."""
    level = found.estimate.level or 0.95
    asked: dict[str, Any] = {"measures": wanted.measures, "threshold": wanted.threshold}
    there = shift.corrected(found, **asked)
    plain = infer.summary(
        Tallies({"score": {(): found.validation}}, intake=validation.intake),
        **asked,
        interval=infer.Interval(level=level),
    )
    bins = {} if wanted.bins is None else {"bins": wanted.bins}
    tested, told, doubtful = _tested(target, validation, bins, found.checks)
    doubtful += _elsewhere(found, target, validation)
    notes = [*target.intake.notes, *plain.data["notes"], *told, *there.data["notes"]]
    share = {"prevalence": found.validation.prevalence, "scores": GIVEN}
    rows = [
        {**dict.fromkeys(COLUMNS), "measure": "prevalence", **tidy(found.estimate), "set": TARGET},
        *tested,
        *({**row, "set": TARGET} for row in there.rows()),
        *({**row, **share, "set": VALIDATION} for row in plain.rows()),
    ]
    data = {
        **header(target.intake, len(target)),
        **{name: plain.data[name] for name in ("positive", "negative", "settings") if name in plain.data},
        "prevalence": found.value,
        **_common(found, plain, level),
        "doubts": doubtful,
        "notes": renamed(notes, next(iter(validation.models))),
    }
    return Results({name: [row.get(name) for row in rows] for name in (*COLUMNS, *MORE)}, data)


def of_many(found: Shares, target: MulticlassTarget, validation: MulticlassRows, wanted: Wanted) -> Results:
    """Everything on many classes."""
    level = found.estimates[0].level or 0.95
    there = shift.corrected(found, measures=wanted.measures)
    decided = Confusions({(): validation.decided()}, intake=validation.intake)
    plain = infer.class_summary(decided, measures=wanted.measures, interval=infer.Interval(level=level))
    tested, told, doubtful = _tested(target, validation, {})
    notes = [*target.intake.notes, *plain.data["notes"], *told, *there.data["notes"]]
    columns = tuple(there.columns)
    rows = [
        *(
            {**dict.fromkeys(columns), "measure": "prevalence", "class": label, **tidy(each), "set": TARGET}
            for label, each in zip(found.labels, found.estimates, strict=True)
        ),
        *tested,
        *({**row, "scores": GIVEN, "set": TARGET} for row in there.rows()),
        *({**row, "scores": GIVEN, "set": VALIDATION} for row in plain.rows()),
    ]
    data = {
        **header(target.intake, len(target)),
        **{name: plain.data[name] for name in ("classes", "truth_in")},
        "prevalences": dict(zip(map(str, found.labels), found.value.tolist(), strict=True)),
        **_common(found, plain, level),
        "doubts": doubtful,
        "notes": list(dict.fromkeys(notes)),
    }
    return Results({name: [row.get(name) for row in rows] for name in (*columns, *MORE)}, data)


def _common(found: Prevalence | Shares, plain: Results, level: float) -> dict[str, Any]:
    """What is told of any number of classes."""
    own = ("rows", "read", "refused", "reasons", "prevalence", "prevalences", "weighted", "digest", "columns")
    unclipped = found.unclipped.tolist() if isinstance(found, Shares) else found.unclipped
    return {
        "assume": "label shift",
        "method": found.method,
        "recalibrated": found.map is not None,
        "unclipped": unclipped,
        "validation": {name: plain.data[name] for name in own if name in plain.data},
        "interval": {"level": level, "method": None, "seed": 0, "clusters": None},
    }


def _tested(
    target: Any,  # noqa: ANN401  (of two classes or many)
    validation: Any,  # noqa: ANN401
    bins: Mapping[str, Any],
    own: Sequence[Check] = (),
) -> tuple[list[Line], Iterable[str], list[str]]:
    """Rows of the tests of label shift and of calibration, what they say in words, and in short what they reject."""
    curve = [check for check in own if check.name == NAME]
    try:
        found: Assumption = shift.label_shift(target, validation, **bins)
    except BaserateError as error:
        return [_test(check, check.p) for check in curve], [f"label shift was not tested: {error}"], doubts(curve)
    rows = [_test(check, p) for check, p in zip(found.checks, found.adjusted, strict=True)]
    rows += [_test(check, check.p) for check in curve]
    return rows, found.told, doubts([*found.checks, *curve])


def _elsewhere(found: Prevalence, target: Target, validation: Tallies) -> list[str]:
    """What the default method estimates, if the calibration of another does not fit and it lies apart."""
    if not any(check.name == NAME and check.p < SIZE for check in found.checks):
        return []
    own, other = found.estimate, shift.prevalence(target, validation, level=found.estimate.level or 0.95).estimate
    if own.low <= other.value <= own.high and other.low <= own.value <= other.high:
        return []
    return [f"estimates disagree: binned gives {format_number(other.value, 3)}"]


def _test(check: Check, adjusted: float) -> Line:
    """The row of a test."""
    return {
        "measure": f"{check.name}_test",
        "value": check.statistic,
        "p": None if isnan(check.p) else check.p,
        "p_adjusted": None if isnan(adjusted) else adjusted,
        "freedom": check.freedom,
        "how": check.how,
        "why": check.why,
    }


def prevalences(rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Rows of the estimate itself, which come first."""
    for row in rows:
        if row["measure"] != "prevalence" or row["set"] != TARGET:
            return
        yield row
