"""Judge a screening test on a generated population, and leave a report to open.

Run as ``python -m examples.screening [FOLDER]``; `make demo` does it.
"""
