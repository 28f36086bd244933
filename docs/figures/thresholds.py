"""
Performance by threshold
========================

Any measures of a confusion matrix, for every threshold. The flag rate shows the workload.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.thresholds(tally(truth, score), "sensitivity", "precision", "f1", "flag_rate", band=True, threshold=0.3)
