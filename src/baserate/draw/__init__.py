"""Values -> Drawing: figures for papers and slides, the only home of matplotlib (extra `plot`).

May import the nouns and every room below; `report` is its neighbour. Each figure is a function of tallies, in the
manner of scikit-learn's displays: it computes once, keeps the numbers, and paints on axes of your own if you give them.
Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate.draw._cost_curve import cost_curve as cost_curve
    from baserate.draw._decision_curve import decision_curve as decision_curve
    from baserate.draw._drawing import Drawing as Drawing
    from baserate.draw._gain import gain as gain, lift as lift
    from baserate.draw._groups import groups as groups
    from baserate.draw._likelihood_ratio import likelihood_ratio as likelihood_ratio
    from baserate.draw._population import population as population
    from baserate.draw._pr import pr as pr
    from baserate.draw._prevalence import prevalence as prevalence
    from baserate.draw._reliability import reliability as reliability
    from baserate.draw._roc import roc as roc
    from baserate.draw._scores import scores as scores
    from baserate.draw._thresholds import thresholds as thresholds

if TYPE_CHECKING:  # for other packages of baserate
    from baserate.draw._data import apart as apart, together as together
    from baserate.draw._drawing import importing as importing

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
