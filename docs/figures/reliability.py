"""
Calibration plot (reliability diagram)
======================================

Predicted probabilities and observed frequencies. The consistency band contains the curve of a perfectly calibrated
model of this size; the bars show the number of rows.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.reliability(tally(truth, score))

# %%
# Bins with Wilson's intervals.

draw.reliability(tally(truth, score), what="binned")

# %%
# A local regression (LOWESS) instead of isotonic regression; the fit and its band are clipped to [0, 1].

draw.reliability(tally(truth, score), what="lowess")
