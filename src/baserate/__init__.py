"""Judge a classifier where it will be used: at the prevalence, the costs and the groups of deployment.

A tally is how much of each class sits at each score; everything else is a function of tallies::

    tally(truth, score)  ->  Tally  ->  Curve  ->  Counts  ->  numbers

Names are resolved on first use, so that ``import baserate`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from baserate._version import __version__

if TYPE_CHECKING:
    from baserate import apply, calibrate, decide, draw, equalize, infer, measure, population, read, report, shift
    from baserate._class_map import ClassMap, load_map
    from baserate._class_rows import ClassRows
    from baserate._confusion import Confusion
    from baserate._confusions import Confusions
    from baserate._costs import CostMatrix, Costs
    from baserate._counts import Counts
    from baserate._curve import Curve, Mixture, curve
    from baserate._cut import Cut, Lottery
    from baserate._errors import (
        BadFile,
        BadOption,
        BadShape,
        BadWeights,
        BaserateError,
        CannotFit,
        CannotMeet,
        DataError,
        EmptyData,
        MissingValues,
        NoSuchFile,
        NotAProbability,
        NotBinary,
        NotInstalled,
        NotNumeric,
        UnknownLabel,
        UnknownName,
        UsageError,
    )
    from baserate._estimate import Estimate
    from baserate._intake import Intake
    from baserate._label_sets import LabelSets
    from baserate._map import Map
    from baserate._policy import Policy
    from baserate._population import Population
    from baserate._results import Results
    from baserate._rows import Rows
    from baserate._tallies import Tallies
    from baserate._tally import Tally
    from baserate._target import ClassTarget, Target
    from baserate.read import confusion, label_sets, scored, tally
    from baserate.report import Finding, Plan, Report, evaluate, run

_ROOMS = (
    "apply",
    "calibrate",
    "decide",
    "draw",
    "equalize",
    "infer",
    "measure",
    "population",
    "read",
    "report",
    "shift",
)
_HOMES = (
    *("_errors", "_counts", "_costs", "_estimate", "_tally", "read", "_curve", "_confusion"),
    *("_intake", "_tallies", "_confusions", "_rows", "_class_rows", "_label_sets", "_results", "_population"),
    *("_map", "_class_map", "_target", "_cut", "_policy", "report"),
)

__all__ = [
    "BadFile",
    "BadOption",
    "BadShape",
    "BadWeights",
    "BaserateError",
    "CannotFit",
    "CannotMeet",
    "ClassMap",
    "ClassRows",
    "ClassTarget",
    "Confusion",
    "Confusions",
    "CostMatrix",
    "Costs",
    "Counts",
    "Curve",
    "Cut",
    "DataError",
    "EmptyData",
    "Estimate",
    "Finding",
    "Intake",
    "LabelSets",
    "Lottery",
    "Map",
    "MissingValues",
    "Mixture",
    "NoSuchFile",
    "NotAProbability",
    "NotBinary",
    "NotInstalled",
    "NotNumeric",
    "Plan",
    "Policy",
    "Population",
    "Report",
    "Results",
    "Rows",
    "Tallies",
    "Tally",
    "Target",
    "UnknownLabel",
    "UnknownName",
    "UsageError",
    "__version__",
    "apply",
    "calibrate",
    "confusion",
    "curve",
    "decide",
    "draw",
    "equalize",
    "evaluate",
    "infer",
    "label_sets",
    "load_map",
    "measure",
    "population",
    "read",
    "report",
    "run",
    "scored",
    "shift",
    "tally",
]


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"baserate.{name}")
    if name in __all__:
        homes = (import_module(f"baserate.{home}") for home in _HOMES)
        value: object = next(
            getattr(home, name) for home in homes if name in (*vars(home), *getattr(home, "__all__", ()))
        )
        globals()[name] = value
        return value
    raise AttributeError(f"module 'baserate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
