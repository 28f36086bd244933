"""
Likelihood ratio curve
======================

Likelihood ratio of each predicted probability (its frequency among positives divided by that among negatives), compared
with the ratio that the probability implies.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.likelihood_ratio(tally(truth, score))
