"""Forms as JSON, and back: every number survives exactly, and nothing is taken on trust."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from baserate._errors import ShapeError
from baserate._forms import Between, ClassForm, Form, Knots, Line, LogOdds, OneVsRest, Softmax, Steps

FORMS: dict[str, type[Form | ClassForm]] = {
    form.kind: form for form in (LogOdds, Line, Knots, Steps, Between, Softmax, OneVsRest)
}


def as_json(form: Form | ClassForm) -> dict[str, Any]:
    """Write a form as what JSON can hold; every number survives exactly.

    >>> as_json(Line(0.5, 2.0))
    {'form': 'line', 'intercept': 0.5, 'slope': 2.0}
    """
    return {"form": form.kind} | {field.name: _written(getattr(form, field.name)) for field in fields(form)}


def of_json(written: Any) -> Any:  # noqa: ANN401  (a form of either kind)
    """Read what `as_json` wrote, checking it.

    >>> of_json({"form": "line", "intercept": 0.5, "slope": 2.0})
    Line(intercept=0.5, slope=2.0)
    """
    if not isinstance(written, dict) or written.get("form") not in FORMS:
        raise ShapeError(f"there is no form {written.get('form') if isinstance(written, dict) else written!r}.")
    kind = FORMS[written["form"]]
    wanted = {field.name for field in fields(kind)}
    if set(written) != wanted | {"form"}:
        raise ShapeError(f"a form {kind.kind} with the fields {sorted(written)}; it has {sorted(wanted | {'form'})}.")
    read = {name: _read(written[name]) for name in wanted}
    for name, value in read.items():
        if isinstance(value, bool) != (name == "of_probabilities"):
            raise ShapeError(f"{name} is {value!r}, which it cannot be.")
    return kind(**read)


def _written(value: Any) -> Any:  # noqa: ANN401  (a number, an array, or forms)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, bool):
        return value
    if isinstance(value, tuple):
        return [as_json(each) for each in value]
    return float(value) if isinstance(value, (int, float)) else as_json(value)


def _read(value: Any) -> Any:  # noqa: ANN401  (a number, an array, or forms)
    if isinstance(value, dict):
        return of_json(value)
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return tuple(of_json(each) for each in value)
    if not isinstance(value, (int, float, list)):
        raise ShapeError(f"{value!r} is not a number.")
    if isinstance(value, bool):
        return value
    return np.array(value, dtype=np.float64) if isinstance(value, list) else float(value)
