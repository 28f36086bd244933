"""
ROC curve
=========

How many of the positives are found, for how many negatives that are flagged with them. The hull shows what mixing
cut-offs could reach, the band what these rows can show, and the line through the best point all that costs the same.
"""

from baserate import Costs, draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.roc(tally(truth, score), band=True, costs=Costs(fp=1, fn=5), threshold=0.5)
