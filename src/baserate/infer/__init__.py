"""measure -> Estimate: an interval on every number, comparison of models, and how many rows are needed.

May import the nouns and `measure`. `estimate` takes a measure and what it is of, and chooses the method.
"""

from baserate.infer._estimate import estimate, methods
from baserate.infer._summary import Interval, class_summary, summary

__all__ = ["Interval", "class_summary", "estimate", "methods", "summary"]
