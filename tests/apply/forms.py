"""Calibrators of every form, scores at their thresholds, and strategies for both; shared by tests."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, FitSource, MulticlassCalibrator
from baserate._calibrator_forms import Between, ClassForm, Form, Knots, Line, LogOdds, OneVsRest, Softmax, Steps

CLOSE: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-300}
"""Beyond log-odds of 700, SQL stops at 1e-304."""


def steps(at: list[float], values: list[float]) -> Steps:
    return Steps(np.array(at), np.array(values))


def uneven_knots(pieces: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Return unevenly spaced knots and their values."""
    rng = np.random.default_rng(seed)
    return np.unique(rng.beta(0.3, 1.0, pieces)), np.sort(rng.random(pieces))


def _between(pieces: int) -> Between:
    x, y = uneven_knots(pieces)
    return Between(Steps(x, np.concatenate([[0.0], 0.9 * y])), Steps(x, np.concatenate([y, [1.0]])))


FORMS: dict[str, Form] = {
    "rarer": LogOdds(1.0, 1.0, np.log(0.25)),
    "likelier": LogOdds(1.0, 1.0, 3.0),
    "nearest": LogOdds(1.0, 1.0, 1.0, nearest=1e-6),
    "temperature": LogOdds(0.7, 0.7, 0.0),
    "logistic": LogOdds(1.3, 1.3, -0.4, nearest=1e-9),
    "beta": LogOdds(1.4, 0.6, 0.2),
    "beta with one arm": LogOdds(0.0, 1.1, 0.2, nearest=1e-9),
    "line": Line(-0.3, 2.5),
    "flat line": Line(-0.3, 0.0),
    "one knot": Knots(np.array([0.5]), np.array([0.3])),
    "two knots": Knots(np.array([0.2, 0.7]), np.array([0.1, 0.6])),
    "knots of probabilities": Knots(np.array([0.2, 0.7]), np.array([0.1, 0.6]), of_probabilities=True),
    "many knots": Knots(*uneven_knots(3000)),
    "no step": steps([], [0.4]),
    "one step": steps([0.5], [0.1, 0.7]),
    "many steps": steps(uneven_knots(3000)[0].tolist(), [0.0, *uneven_knots(3000)[1].tolist()]),
    "between": Between(steps([0.3, 0.6], [0.0, 0.2, 0.5]), steps([0.3, 0.7], [0.1, 0.6, 1.0])),
    "many between": _between(2000),
}

CLASS_FORMS: dict[str, ClassForm] = {
    "priors": Softmax(np.ones(3), np.log([0.25, 1.0, 2.0])),
    "temperature": Softmax(np.full(3, 0.5), np.zeros(3)),
    "vectors": Softmax(np.array([1.2, 0.0, -0.3]), np.array([0.1, -2.0, 0.5]), nearest=1e-9),
    "steep": Softmax(np.full(3, 400.0), np.zeros(3)),
    "one against all": OneVsRest((FORMS["beta"], Knots(*uneven_knots(200)), FORMS["between"])),
    "none of them": OneVsRest((steps([], [0.0]), steps([0.5], [0.0, 0.2]), steps([], [0.0]))),
}
LABELS = ("cat", "dog", "fish")


def binary_calibrator(form: Form) -> Calibrator:
    return Calibrator(form, method="made", columns={"truth": "sick", "score": "risk"}, positive="1")


def multiclass_calibrator(form: ClassForm) -> MulticlassCalibrator:
    columns = {label: f"p_{label}" for label in LABELS}
    return MulticlassCalibrator(
        form, LABELS, method="made", columns=columns, fitted=FitSource("ab12", 9, (0.2, 0.3, 0.5))
    )


def edges(form: Form) -> Floats:
    """Return scores at the ends, at and beside every threshold, and in between."""
    x = [each for part in _parts(form) if isinstance(part, (Knots, Steps)) for each in part.x.tolist()]
    near = [np.nextafter(each, side) for each in x[:200] for side in (-np.inf, np.inf)]
    wide = [] if form.of_probabilities else [-1e300, -7.5, 2.0, 1e300]
    plain = [0.0, 5e-324, 1e-300, 1e-17, 1e-9, 0.1, 1 / 3, 0.5, 0.7, 1 - 1e-9, float(np.nextafter(1, 0)), 1.0]
    return np.array([*plain, *wide, *x, *near])


def _parts(form: Form) -> list[Form]:
    return [form.low, form.high] if isinstance(form, Between) else [form]


_share = st.floats(0, 1)
_slope = st.floats(0.01, 20)
_move = st.floats(-20, 20)
_nearest = st.sampled_from([0.0, 1e-12, 1e-6, 0.01])


@st.composite
def _knots(draw: st.DrawFn, kind: type[Knots] | type[Steps], more: int) -> Any:  # noqa: ANN401  (either of the two)
    x = sorted(draw(st.sets(st.integers(-500, 1500), min_size=1 - more, max_size=40)))
    y = draw(st.lists(_share, min_size=len(x) + more, max_size=len(x) + more))
    return kind(np.array(x) / 997, np.array(y, dtype=float))


_steps = _knots(Steps, 1)


def _order_bounds(pair: tuple[Steps, Steps]) -> Between:
    low, high = pair
    return Between(Steps(low.x, low.y / 2), Steps(high.x, high.y / 2 + 0.5))


forms: st.SearchStrategy[Form] = st.one_of(
    st.builds(LogOdds, _slope, _slope, _move, _nearest),
    st.builds(lambda a, c, nearest: LogOdds(a, a, c, nearest), _slope | st.just(1.0), _move, _nearest),
    st.builds(Line, _move, _slope),
    _knots(Knots, 0),
    _steps,
    st.tuples(_steps, _steps).map(_order_bounds),
)
scores = st.lists(_share | st.sampled_from([0.0, 1.0, 1e-12, 0.5]), min_size=1, max_size=30)
