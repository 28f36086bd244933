"""
Cost curve
==========

The least cost of any threshold, at all costs and prevalences at once; the mark is where ours are.
"""

from baserate import Costs, draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.cost_curve(tally(truth, score), costs=Costs(fp=1, fn=5), prevalence=0.05)
