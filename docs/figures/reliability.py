"""
Reliability
===========

Whether probabilities are right. A perfect model of this size would stay within the band; the bars say how many rows a
point rests on.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.reliability(tally(truth, score))

# %%
# In bins, as it is often drawn; the intervals are Wilson's.

draw.reliability(tally(truth, score), what="binned")

# %%
# A local regression (LOWESS) instead of the isotonic one; the fit and its band are clipped to [0, 1].

draw.reliability(tally(truth, score), what="lowess")
