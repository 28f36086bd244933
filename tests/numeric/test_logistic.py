"""Logistic regression on sums: the witness is statsmodels, on rows."""

import numpy as np
import numpy.typing as npt
import pytest
import statsmodels.api as sm
from scipy.optimize import brentq
from scipy.special import expit, logit

from baserate._numeric.logistic import line, shift

Floats = npt.NDArray[np.float64]


def test_a_shift_at_the_very_end_of_where_it_may_lie_is_as_sharp() -> None:
    # The other offset has no mass, so what is looked for is where the search begins.
    offset = logit(np.array([0.7, 0.1]))
    found, _ = shift(offset, np.array([[2.0, 0.0], [0.0, 3.0]]), np.array([[1.0, 0.0], [0.0, 4.0]]))
    assert found == pytest.approx([np.log(2) - offset[0], np.log(3 / 4) - offset[1]], rel=1e-13)
