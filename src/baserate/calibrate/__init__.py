"""Tally or rows -> Map: scores made into probabilities."""
