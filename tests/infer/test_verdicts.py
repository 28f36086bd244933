"""Test results are neither true nor false: `assert` must not pass for any result."""

from collections.abc import Callable

import numpy as np
import pytest

from baserate import Rows, UsageError, infer, shift, tally

rng = np.random.default_rng(1)
RISK = rng.random(200)
SICK = rng.random(200) < RISK
SAMPLE = tally(SICK, RISK)
MODELS = Rows(SICK, {"new": RISK, "old": rng.random(200)})

FOUND: dict[str, tuple[Callable[[], object], str]] = {
    "Comparison": (lambda: infer.compare(MODELS, measure="auc")[0], "comparison.p < 0.05"),
    "CalibrationTest": (lambda: infer.spiegelhalter(SAMPLE), "test.p < 0.05"),
    "NullReference": (lambda: infer.null_reference("ece", SAMPLE, draws=50), "reference.within"),
    "IntrinsicCalibration": (lambda: infer.intrinsic_calibration(SAMPLE, draws=50), "intrinsic.calibrated"),
    "LabelShiftTestResult": (lambda: shift.LabelShiftTestResult((infer.spiegelhalter(SAMPLE),), ()), "result.rejected"),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_test_result_is_neither_true_nor_false(name: str) -> None:
    make, remedy = FOUND[name]
    found = make()
    assert type(found).__name__ == name
    with pytest.raises(UsageError, match=f"n? ?{name} is neither true nor false; .*{remedy}"):
        bool(found)


@pytest.mark.parametrize("name", FOUND)
def test_what_the_message_tells_to_look_at_is_there(name: str) -> None:
    make, remedy = FOUND[name]
    _, _, rest = remedy.partition(".")
    assert eval(f"found.{rest}", {"found": make()}) in {True, False, None}  # noqa: S307  (our own message)
