"""
Gain
====

Who is found by looking at the highest scores first.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.gain(tally(truth, score), band=True)
