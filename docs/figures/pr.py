"""
Precision and recall
====================

The flagged who are positive, against the positives who are flagged. Faint lines join points of equal F1; the dashed
one is the precision of flagging at random. ``prevalence=0.02`` would carry the curve to another prevalence.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.pr(tally(truth, score), band=True, threshold=0.5)
