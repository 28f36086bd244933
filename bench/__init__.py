"""Benchmarks, each beside its rival: `python -m bench` runs them all, `python -m bench --list` says what they are.

Both sides run in one process and in turns, so that a busy machine slows both, and each row first sees that the two
agree. What counts is the ratio; nothing fails because of a timing.
"""
