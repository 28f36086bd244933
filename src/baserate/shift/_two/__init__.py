"""The share of the positive class in a target without truth: one file for each family of methods."""
