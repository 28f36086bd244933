"""
Decision curve
==============

Net benefit of the model by threshold probability, compared with flagging all and flagging none.
"""

import numpy as np

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.decision_curve(tally(truth, score))

# %%
# At a prevalence of 5%, classes are reweighted and scores are adjusted to that prevalence, as the legend states. Use
# ``sample_prevalence="deployment"`` if the scores are already calibrated at that prevalence.

draw.decision_curve(tally(truth, score), prevalence=0.05, thresholds=[at / 200 for at in range(1, 61)])

# %%
# Interventions avoided per 100 people, compared with flagging all.

draw.decision_curve(tally(truth, score), kind="net_reduction", thresholds=[at / 100 for at in range(5, 61)])

# %%
# Two models with simultaneous bands, which contain both curves at all thresholds; the second test has a harm.

noisy = 1 / (1 + np.exp(-np.log(score / (1 - score)) - np.random.default_rng(0).normal(size=len(score))))
models = {"new": score, "noisy": noisy}
draw.decision_curve(truth, models, band="simultaneous", harm={"noisy": 0.01})
