"""
Cost curve
==========

Lowest expected cost of any threshold, for all costs and prevalences. The mark shows the stated costs and prevalence.
"""

from baserate import Costs, draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.cost_curve(tally(truth, score), costs=Costs(fp=1, fn=5), prevalence=0.05)
