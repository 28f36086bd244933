"""
Likelihood ratio
================

How many times as frequent a probability is among positives as among negatives, beside what it implies.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.likelihood_ratio(tally(truth, score))
