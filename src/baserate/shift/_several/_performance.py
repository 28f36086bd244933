"""Performance without labels, of several classes: what probabilities promise of decisions for the highest score."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats, make_read_only
from baserate._confusion import Confusion, Confusions
from baserate._errors import OptionError
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._target import MulticlassTarget
from baserate.infer import two_sided, widening
from baserate.measure import MEASURES, Measure, about, multiclass
from baserate.measure.multiclass import check_class_probabilities
from baserate.shift._assumed import ALONE, HOW, refuse_idle
from baserate.shift._scale import Sure, around
from baserate.shift._several._corrected import limits, values, without
from baserate.shift._several._covariate_table import under_covariate_shift
from baserate.shift._several._expected import Expected, products, quadratic, tabulated
from baserate.shift._several._gmm import estimate
from baserate.shift._several._label_table import under_label_shift
from baserate.shift._several._mlls import prepared
from baserate.shift._several._pair import Pair
from baserate.shift._slopes import differences

TOLD = {
    "label shift": (
        "Assumed: label shift. The scores of each class are distributed as in validation, and only the shares have "
        "changed; classes are decided at their rates in validation, at the estimated shares."
    ),
    "covariate shift": (
        "Assumed: covariate shift. The chance of each class at given scores is what it was, and only the scores are "
        "distributed otherwise; probabilities are those of validation."
    ),
}
_AT_ONCE = 256
"""Tables that are measured together."""


def performance(
    target: MulticlassTarget,
    validation: Any,  # noqa: ANN401  (checked here)
    assume: str,
    measures: Iterable[str | Measure] | str,
    options: dict[str, Any],
) -> Results:
    """Measure what happens in a target of several classes without truth, as far as probabilities tell."""
    averages, level = options.pop("averages", None), options.pop("level")
    if validation is not None and not isinstance(validation, MulticlassRows):
        raise OptionError(f"{type(validation).__name__} has no score for each class; give ClassRows for a ClassTarget.")
    if validation is None:
        if assume == "label shift":
            raise OptionError("under label shift the shares must be estimated first; give a validation set.")
        refuse_idle(options)
    pair = None if validation is None else Pair.of(target, validation)
    expected = _bare(target) if pair is None else _expected(pair, assume, options, level)
    table = Confusion(make_read_only(expected.cells), target.labels if validation is None else validation.labels)
    plain = multiclass.summary(Confusions({(): table}), measures=measures, averages=averages)
    wide = 1.0 if pair is None else widening(float(pair.class_rows.min()) - 1, level)
    alone = pair is None or not (assume == "label shift" or options.get("recalibrate", True))
    judge = _Judge(expected, table, averages, wide, level, ALONE if alone else HOW, _rows(target))
    rows = [row | judge(row) for row in plain.rows()]
    notes = [TOLD[assume], *target.intake.notes, *plain.data["notes"], *expected.notes]
    data = {
        "rows": len(target),
        "assume": assume,
        "classes": list(table.labels),
        "prevalences": plain.data["prevalences"],
        "validation": None if validation is None else len(validation),
        "notes": notes,
    }
    return Results({name: [row.get(name) for row in rows] for name in plain.columns}, data)


def _rows(target: MulticlassTarget) -> float:
    """How many rows of equal weight would be as sure (Kish)."""
    times = np.ones(len(target.score)) if target.count is None else target.count
    mass = times if target.weight is None else times * target.weight
    return float(mass.sum() ** 2 / (mass if target.weight is None else mass * target.weight).sum())


def _bare(target: MulticlassTarget) -> Expected:
    """Take probabilities as they are."""
    rows = MulticlassRows(np.zeros(len(target.score), dtype=np.uint8), target.score, target.labels)
    check_class_probabilities(rows, "give a validation set to recalibrate them on.")
    p = np.asarray(target.score, dtype=np.float64)
    p = p / p.sum(axis=1, keepdims=True)
    weight = np.ones(len(p)) if target.weight is None else target.weight
    mass = weight if target.count is None else weight * target.count
    width, decided = p.shape[1], rows.decision()
    sums = products(p, decided, weight * mass, width)
    return Expected(tabulated(p, decided, mass, width), lambda slopes: (quadratic(slopes, sums), 0.0))


def _expected(pair: Pair, assume: str, options: dict[str, Any], level: float) -> Expected:
    """Expect what validation says, under label shift at the estimated shares."""
    if assume == "label shift":
        return under_label_shift(pair, *estimate(pair, level=level, **options))
    return under_covariate_shift(pair, prepared(pair, **options), level=level)


class _Judge(NamedTuple):
    """Gives a tidy row its interval."""

    expected: Expected
    table: Confusion
    averages: object
    wide: float
    level: float
    how: str
    rows: float

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        name, value = row["measure"], row["value"]
        if name not in (MEASURES.keys() | multiclass.MEASURES.keys()) or value is None:
            return {}
        slopes = self._slopes(row)
        how = "; ".join(filter(None, (row["how"], self.how)))
        if slopes is None:
            return {"level": self.level, "how": how, "why": "how much each row moves it has no closed form"}
        target, validation = self.expected.variances(slopes)
        own = multiclass.MEASURES if row["class"] is None and row["average"] is None else MEASURES
        variance, z = max(target + validation, 0.0), two_sided(self.level)
        reach = z * ((target + validation * self.wide**2) / variance) ** 0.5 if variance > 0 else z
        low, high = around(value, Sure(variance, reach, self.rows, self.level), about(own[name]).span)
        tables = (without(self.table, at) for at in self.expected.absent)
        ends = [value, *limits(row, tables, self.averages)]
        return {"low": min(low, *ends), "high": max(high, *ends), "level": self.level, "how": how}

    def _slopes(self, row: dict[str, Any]) -> Floats | None:
        """Change with each cell; None where it has a corner, or no value."""
        shape, labels = self.table.mass.shape, self.table.labels

        def measured(tables: Floats) -> Floats:
            parts = range(0, len(tables), _AT_ONCE)
            stacks = (tables[start : start + _AT_ONCE].reshape(-1, *shape) for start in parts)
            return np.concatenate(
                [values(row, Confusion(make_read_only(each), labels), self.averages) for each in stacks]
            )

        found = differences(measured, self.table.mass.ravel())
        return None if found is None else found.reshape(shape)
