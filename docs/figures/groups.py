"""
Performance by group
====================

Estimates with confidence intervals for each group. Estimates from few rows are marked.
"""

import numpy as np

from baserate import draw, population, read

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
site = np.random.default_rng(1).choice(["north", "south", "coast", "hill"], 800, p=[0.5, 0.3, 0.15, 0.05])
people = read.tallies({"sick": truth, "risk": score, "site": site}, truth="sick", score="risk", group="site")
draw.groups(people, threshold=0.3, measures=["flag_rate", "sensitivity", "fpr"])
