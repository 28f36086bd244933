"""
DET curve
=========

False negative rate against the false positive rate on normal deviate scales. Models that are hard to tell apart in the
corner of a ROC curve stand apart here; normally distributed scores give straight lines.
"""

from baserate import draw, population, tally

models = {name: population.binormal(means=(0, mean), prevalence=0.3) for name, mean in {"old": 2.0, "new": 2.6}.items()}
draw.det({name: tally(*each.draw(2000, 7)) for name, each in models.items()})
