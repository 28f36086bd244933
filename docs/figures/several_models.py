"""
ROC curves of several models
============================

Pass a mapping from names to tallies. A classifier with predicted labels only is a confusion matrix, and a point. The
figure is as wide as a column of a journal, and has the names of the paper.
"""

from baserate import Counts, draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
other = 0.5 * score + 0.5 * population.logit_normal(means=(-2, -1), prevalence=0.2).draw(800, 8).score
models = {"new": tally(truth, score), "old": tally(truth, other), "nurse": Counts(tp=110, fp=90, fn=50, tn=550)}
draw.roc(models, hull=False, width="85mm", labels={"new": "Model A", "old": "Model B", "nurse": "Triage nurse"})
