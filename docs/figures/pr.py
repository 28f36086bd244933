"""
Precision–recall curve
======================

Precision (PPV) against recall (sensitivity). Faint lines join points of equal F1; the dashed line is the precision of
random flags. ``prevalence=0.02`` adjusts the curve to another prevalence.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.pr(tally(truth, score), band=True, threshold=0.5)
