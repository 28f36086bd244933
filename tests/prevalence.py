"""Tallies of probabilities at another prevalence, for tests of several packages."""

from baserate import Tally, calibrate


def adjust_to_sample(t: Tally, at: float | None = None) -> Tally:
    """Adjust probabilities from the prevalence `at`, or from the derived one, to that of the sample."""
    calibrator = calibrate.offset(t) if at is None else calibrate.prevalence(at=at, to=t.prevalence)
    return t.with_scores(calibrator(t.score))
