"""
PPV and NPV by prevalence
=========================

Precision (PPV) and negative predictive value (NPV) at other prevalences, with the same sensitivity and specificity.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.prevalence(tally(truth, score), threshold=0.3, prevalence=0.02)
