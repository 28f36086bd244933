"""Judge a classifier where it will be used: at the prevalence, the costs and the groups of deployment.

A tally is how much of each class sits at each score; everything else is a function of tallies::

    tally(truth, score)  ->  Tally  ->  Curve  ->  Counts  ->  numbers

Names are resolved on first use, so that ``import baserate`` costs next to nothing.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate import (
        apply as apply,
        calibrate as calibrate,
        decide as decide,
        draw as draw,
        equalize as equalize,
        infer as infer,
        measure as measure,
        population as population,
        read as read,
        report as report,
        shift as shift,
    )
    from baserate._class_map import ClassMap as ClassMap, load_map as load_map
    from baserate._class_rows import ClassRows as ClassRows
    from baserate._confusion import Confusion as Confusion
    from baserate._confusions import Confusions as Confusions
    from baserate._costs import CostMatrix as CostMatrix, Costs as Costs
    from baserate._counts import Counts as Counts
    from baserate._curve import Curve as Curve, Mixture as Mixture, curve as curve
    from baserate._cut import Cut as Cut, Lottery as Lottery
    from baserate._errors import (
        BadFile as BadFile,
        BadOption as BadOption,
        BadShape as BadShape,
        BadWeights as BadWeights,
        BaserateError as BaserateError,
        CannotFit as CannotFit,
        CannotMeet as CannotMeet,
        DataError as DataError,
        EmptyData as EmptyData,
        MissingValues as MissingValues,
        NoSuchFile as NoSuchFile,
        NotAProbability as NotAProbability,
        NotBinary as NotBinary,
        NotInstalled as NotInstalled,
        NotNumeric as NotNumeric,
        UnknownLabel as UnknownLabel,
        UnknownName as UnknownName,
        UsageError as UsageError,
    )
    from baserate._estimate import Estimate as Estimate
    from baserate._intake import Intake as Intake
    from baserate._label_sets import LabelSets as LabelSets
    from baserate._map import Map as Map
    from baserate._policy import Policy as Policy
    from baserate._population import Population as Population
    from baserate._results import Results as Results
    from baserate._rows import Rows as Rows
    from baserate._tallies import Tallies as Tallies
    from baserate._tally import Tally as Tally
    from baserate._target import ClassTarget as ClassTarget, Target as Target
    from baserate._version import __version__ as __version__
    from baserate.read import confusion as confusion, label_sets as label_sets, scored as scored, tally as tally
    from baserate.report import Finding as Finding, Plan as Plan, Report as Report, evaluate as evaluate, run as run

__getattr__, __dir__ = attach(__name__)
