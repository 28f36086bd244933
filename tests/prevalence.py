"""Tallies of probabilities at another prevalence, for tests of several packages."""

from baserate import Tally, calibration


def adjust_to_sample(t: Tally, at: float | None = None) -> Tally:
    """Adjust probabilities from the prevalence `at`, or from the derived one, to that of the sample."""
    calibrator = (
        calibration.offset(t) if at is None else calibration.prevalence(sample_prevalence=at, prevalence=t.prevalence)
    )
    return t.with_scores(calibrator(t.score))
