"""
Confusion matrix
================

Counts and shares of true and predicted classes; here scores from 0.3 are flagged. The labels give sensitivity,
specificity, PPV and NPV with their confidence intervals.
"""

from baserate import draw, population, tally

truth, score = population.logit_normal(means=(-2, 0), prevalence=0.2).draw(800, 7)
draw.confusion_matrix(tally(truth, score), threshold=0.3)
