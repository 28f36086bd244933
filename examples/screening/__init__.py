"""Evaluate a screening test on a simulated population, and write a report.

Run as ``python -m examples.screening [FOLDER]``; `make demo` does it.
"""
