"""
Decision curve
==============

What acting on the model is worth, beside flagging all and flagging none.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.decision_curve(tally(truth, score))

# %%
# Where 5 % are positive: classes are reweighted and scores adjusted to that prevalence, and the legend says so. Scores
# that are right there already are kept with ``scores_from=None``.

draw.decision_curve(tally(truth, score), prevalence=0.05, thresholds=[at / 200 for at in range(1, 61)])
