"""Smoothing with reflection, against the integral of Gaussians and all their images, summed up on a fine mesh."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from baserate._numeric.smoothers import GaussianSmoother
from tests.tiers import tiered

Floats = npt.NDArray[np.float64]

PLACE = np.array([0, 1e-9, 0.2, 0.2005, 0.37, 0.9, 1.0])
MASS = np.array([0.1, -0.3, 0.2, -0.2, 0.5, -0.1, 0.2])


def density(at: Floats, place: Floats, mass: Floats, width: float) -> Floats:
    """Of each mass and its images in the mirrors at 0 and 1."""
    turns = 2 * np.arange(-int(5 * width) - 1, int(5 * width) + 2)
    images = np.concatenate([turns[:, None] + place, turns[:, None] - place], axis=1)
    found = np.zeros(len(at))
    for image in images:
        kernel = np.exp(-((at[:, None] - image) ** 2) / (2 * width**2)) / (width * np.sqrt(2 * np.pi))
        found += kernel @ np.concatenate([mass, mass])
    return found


def integral(place: Floats, mass: Floats, width: float) -> float:
    """Of the absolute value, exact but for where it changes its sign."""
    at = np.linspace(0, 1, 20_001 if width > 0.01 else 400_001)
    return float(np.trapezoid(np.abs(density(at, place, mass, width)), at))


@pytest.mark.parametrize(
    "width", tiered([1e-3, 2e-3, 5e-3, 0.02, 0.05, 0.1, 0.3, 1.0, 3.0], {5e-3, 0.05, 1.0}.__contains__)
)
def test_equals_the_integral(width: float) -> None:
    # What is left are changes of sign, of ours and of the mesh.
    assert GaussianSmoother(PLACE, MASS).absolute(width) == pytest.approx(integral(PLACE, MASS, width), rel=1e-6)


@pytest.mark.parametrize("place", [0.0, 1e-12, 0.3, 0.5, 1 / 3, 1 - 2**-53, 1.0])
@pytest.mark.parametrize("width", [1e-3, 0.01, 0.1, 1.0, 100.0])
def test_no_mass_is_lost_at_the_ends(place: float, width: float) -> None:
    assert GaussianSmoother(np.array([place]), np.array([0.7])).absolute(width) == pytest.approx(0.7, rel=1e-8)


def test_opposite_masses_at_one_place_are_none() -> None:
    assert GaussianSmoother(np.array([0.3, 0.3]), np.array([1.0, -1.0])).absolute(0.01) == pytest.approx(0, abs=1e-12)


def test_far_masses_do_not_meet_in_a_narrow_kernel() -> None:
    assert GaussianSmoother(np.array([0.2, 0.8]), np.array([1.0, -1.0])).absolute(1e-3) == pytest.approx(2, rel=1e-6)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 1)), min_size=1, max_size=8))
def test_it_falls_with_the_width_down_to_the_sum(pairs: list[tuple[float, float]]) -> None:
    place, mass = map(np.array, zip(*pairs, strict=True))
    found = [GaussianSmoother(place, mass).absolute(width) for width in (1e-3, 0.01, 0.05, 0.2, 1.0, 10.0)]
    room = 1e-6 * np.abs(mass).sum() + 1e-300
    assert all(wide <= narrow + room for narrow, wide in pairwise(found))
    assert found[0] <= np.abs(mass).sum() * (1 + 1e-6)
    assert found[-1] == pytest.approx(abs(mass.sum()), abs=room)
