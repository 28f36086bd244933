"""Calibration: intervals, noise floors, tests and curves."""
