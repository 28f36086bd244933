"""
Population and sample
=====================

Score distributions of a population in closed form, compared with a sample of 800 rows.
"""

from baserate import draw, population, tally

sick = population.logit_normal(means=(-2, 0), prevalence=0.2)
truth, score = sick.draw(800, 7)
draw.population(sick, sample=tally(truth, score))

# %%
# The exact ROC curve of the population, compared with that of the sample.

draw.population(sick, sample=tally(truth, score), what="roc")
