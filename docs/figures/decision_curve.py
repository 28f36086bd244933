"""
Decision curve
==============

What acting on the model is worth, beside flagging all and flagging none.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.decision_curve(tally(truth, score))
