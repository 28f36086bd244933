"""
ROC curve
=========

Sensitivity against the false positive rate, with a confidence band. The convex hull shows points that random mixtures
of thresholds reach. The iso-cost line touches it at the threshold of lowest cost.
"""

from baserate import Costs, draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.roc(tally(truth, score), band=True, costs=Costs(fp=1, fn=5), threshold=0.5)
