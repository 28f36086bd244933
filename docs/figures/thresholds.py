"""
Measures against the threshold
==============================

Any measures of decisions; the flag rate says how much work a cut-off makes.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.thresholds(tally(truth, score), "sensitivity", "precision", "f1", "flag_rate", band=True, threshold=0.3)
