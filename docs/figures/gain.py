"""
Cumulative gain
===============

Sensitivity by the share of people flagged, from the highest score down.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.gain(tally(truth, score), band=True)
