"""Benchmarks of baserate and its peers: `python -m bench` runs all of them, `python -m bench --list` lists them.

Both sides run alternately in one process, so that a busy machine slows both. Each benchmark first checks that both
sides agree. The result is the ratio of the two times; no timing makes a run fail.
"""
