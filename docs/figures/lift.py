"""
Lift curve
==========

Sensitivity divided by the share of people flagged: how many times more positives are flagged than at random.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.lift(tally(truth, score))
