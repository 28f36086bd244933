"""
Score distributions
===================

Scores of positives and negatives, with the shares of each class at or above the threshold.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.scores(tally(truth, score), threshold=0.3)
