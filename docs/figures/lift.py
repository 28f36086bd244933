"""
Lift
====

How many times as many positives are found as by chance.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.lift(tally(truth, score))
