"""
Precision and NPV against the prevalence
========================================

What a flag means elsewhere, if sensitivity and specificity stay.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.prevalence(tally(truth, score), threshold=0.3, at=0.02)
