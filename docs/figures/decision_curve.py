"""
Decision curve
==============

Net benefit of the model by threshold probability, compared with flagging all and flagging none.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.decision_curve(tally(truth, score))

# %%
# At a prevalence of 5%, classes are reweighted and scores are adjusted to that prevalence, as the legend states. Use
# ``sample_prevalence="deployment"`` if the scores are already calibrated at that prevalence.

draw.decision_curve(tally(truth, score), prevalence=0.05, thresholds=[at / 200 for at in range(1, 61)])
