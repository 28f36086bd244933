"""Generated predictions of the demo: people who are screened at three sites."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Screening(NamedTuple):
    """One row for each person."""

    sick: npt.NDArray[np.bool_]
    risk: npt.NDArray[np.float64]
    site: npt.NDArray[np.str_]


def screening(rows: int = 20_000, seed: int = 2026) -> Screening:
    """Generate people screened at three sites, with a risk score that is miscalibrated in a realistic way.

    Each person belongs to a site: north (60 %, prevalence 4 %), coast (30 %, 8 %) or hill (10 %, 15 %). The sick have a
    marker drawn from N(d, 1), the healthy from N(0, 1); d is 1.8, 1.6 and 1.1 at the three sites, since the machine at
    the hill is old. The score is what a model would say that was fitted long ago at prevalence 12 % with d = 1.7
    everywhere, and fitted too eagerly: its log-odds are 1.3 times as far from their middle as they should be. So it
    ranks well, is overconfident, and overestimates risk where the disease is rare. Scores are printed to four digits,
    so there are ties.
    """
    rng = np.random.default_rng(seed)
    sites = np.array(["north", "coast", "hill"])
    site = rng.choice(3, size=rows, p=[0.6, 0.3, 0.1])
    sick = rng.random(rows) < np.array([0.04, 0.08, 0.15])[site]
    marker = rng.normal(size=rows) + np.where(sick, np.array([1.8, 1.6, 1.1])[site], 0.0)
    evidence = 1.7 * marker - 1.7**2 / 2
    log_odds = np.log(0.12 / 0.88) + 1.3 * evidence
    return Screening(sick, np.round(1 / (1 + np.exp(-log_odds)), 4), sites[site])


def as_csv(people: Screening) -> str:
    """Write them as a file of predictions."""
    lines = (f"{sick:d},{risk:.4f},{site}\n" for sick, risk, site in zip(*people, strict=True))
    return "sick,risk,site\n" + "".join(lines)
