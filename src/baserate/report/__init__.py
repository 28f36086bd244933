"""Plan -> run -> Report: one plan of what is judged, one run, and findings with permanent codes.

May import the nouns and every room below; `draw` is its neighbour. Names are resolved on first use.
"""
