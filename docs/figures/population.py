"""
A population and a sample
=========================

The theory as lines, and what 800 rows make of it.
"""

from baserate import draw, population, tally

sick = population.logit_normal(means=(-2, 0), prevalence=0.2)
truth, score = sick.draw(800, 7)
draw.population(sick, sample=tally(truth, score))

# %%
# Its ROC curve is known exactly, too.

draw.population(sick, sample=tally(truth, score), what="roc")
