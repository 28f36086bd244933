"""A tally at another prevalence, as the tests of several rooms want it."""

from baserate import Tally, calibrate


def carried(t: Tally, at: float | None = None) -> Tally:
    """Carry probabilities that are right at a prevalence, or at the derived one, to that of the rows."""
    result = calibrate.offset(t) if at is None else calibrate.prevalence(at=at, to=t.prevalence)
    return t.with_scores(result(t.score))
