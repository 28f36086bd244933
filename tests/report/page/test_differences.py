"""Differences between groups on the page equal those of Python."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from baserate import fairness
from baserate.measure import MEASURES
from tests.report.page.models import CONFIDENCE, at_prevalence, model_payload, states
from tests.report.page.node import CORE_MODULES, Page, find_differences

RATES = ("flag_rate", "sensitivity", "fpr", "precision", "specificity", "npv")


@pytest.mark.quick(1)
@pytest.mark.parametrize("threshold", [0.4, 0.7])
def test_differences_equal_those_of_python(threshold: float) -> None:
    page = Page(*CORE_MODULES, "differences.js")
    level, z = CONFIDENCE
    wanted = []
    for tallies, prevalence in states((None, 0.02, 0.4)):
        if not tallies.attributes:
            continue
        model = page.keep("expand", model_payload(tallies))
        factors = page.keep("factorsFor", model.part("everybody"), prevalence)
        place = page.keep("thresholdIndex", model.part("threshold"), threshold)
        tables = [page.keep("tableAt", model.part("groups", at), place, factors) for at in range(len(tallies.groups))]
        moved = at_prevalence(tallies, prevalence)
        # The page has the thresholds of the scores alone.
        scores = tallies.pooled("risk").score
        cut = float(min(scores[scores >= threshold], default=np.inf))
        reference = tallies.groups[1]
        rows = fairness.group_differences(moved, policy=cut, measures=RATES, reference=reference, min_group=1)
        weighted = tallies.pooled("risk").weighted and prevalence is None
        for row in rows.rows():
            assert row["measure"] in MEASURES
            at = tallies.groups.index((row["group"]["site"],))
            arguments = row["measure"], tables[at], tables[1], {"level": level, "z": z}
            numbers = {name: nan if row[name] is None else row[name] for name in ("value", "low", "high")}
            # Of weighted rows the page has a series for the quantile of t, which is inexact for a few rows.
            sizes = [len(tally.score) for tally in tallies.models["risk"].values()]
            series = 1e-5 if min(sizes) > 20 and row["measure"] == "flag_rate" else 0.01
            wanted.append((page.ask("compareShares", *arguments).call, numbers, series if weighted else 1e-12, row))
    answers = page.answers()
    assert len(wanted) > 300
    for call, numbers, within, row in wanted:
        assert find_differences(answers[call], numbers, within) == [], row
