"""Evaluate a classifier where it will be used: at the prevalence, the costs and the groups of deployment.

Common jobs take labels and scores as arrays, a table or file with names of its columns, or a fitted classifier::

    report = baserate.evaluate(y, p, prevalence="2%", fp=1, fn=20)   # print(report), report.save("report.html")
    table = baserate.compare(y, {"lr": p, "rf": q}, prevalence="2%", fp=1, fn=20)
    policy = baserate.choose_threshold(y, p, prevalence="2%", fp=1, fn=20)
    calibrator = baserate.calibrate(y, p, "isotonic")
    fair = baserate.equalize(y, p, "equalized-odds", group=g, fp=1, fn=20)
    share = baserate.estimate_prevalence(new_p, y, p)
    auc = baserate.measure.auc(y, p)

A tally is how much of each class sits at each score; everything else is a function of tallies::

    tally(truth, score)  ->  Tally  ->  Curve  ->  Counts  ->  numbers

Names are resolved on first use, so that ``import baserate`` costs next to nothing.
"""

from typing import TYPE_CHECKING

from baserate._lazy import attach

if TYPE_CHECKING:
    from baserate import (
        apply as apply,
        calibration as calibration,
        decide as decide,
        draw as draw,
        fairness as fairness,
        infer as infer,
        measure as measure,
        population as population,
        read as read,
        report as report,
        shift as shift,
    )
    from baserate._calibrator import (
        Calibrator as Calibrator,
        MulticlassCalibrator as MulticlassCalibrator,
        load_calibrator as load_calibrator,
    )
    from baserate._confusion import Confusion as Confusion, Confusions as Confusions
    from baserate._costs import CostMatrix as CostMatrix, Costs as Costs
    from baserate._counts import Counts as Counts
    from baserate._curve import Curve as Curve, Mixture as Mixture
    from baserate._cut import Cut as Cut, RandomizedCut as RandomizedCut
    from baserate._errors import (
        BaserateError as BaserateError,
        DataError as DataError,
        EmptyDataError as EmptyDataError,
        FileFormatError as FileFormatError,
        FitError as FitError,
        InfeasibleError as InfeasibleError,
        MissingValuesError as MissingValuesError,
        NoSuchFileError as NoSuchFileError,
        NotAProbabilityError as NotAProbabilityError,
        NotBinaryError as NotBinaryError,
        NotInstalledError as NotInstalledError,
        NotNumericError as NotNumericError,
        OptionError as OptionError,
        ShapeError as ShapeError,
        UnknownAttributeError as UnknownAttributeError,
        UnknownLabelError as UnknownLabelError,
        UnknownNameError as UnknownNameError,
        UsageError as UsageError,
        WeightError as WeightError,
    )
    from baserate._jobs import calibrate as calibrate, choose_threshold as choose_threshold, equalize as equalize
    from baserate._policy import Policy as Policy, load_policy as load_policy
    from baserate._population import Population as Population
    from baserate._results import Estimate as Estimate, Results as Results
    from baserate._rows import (
        LabelSets as LabelSets,
        MulticlassRows as MulticlassRows,
        MulticlassTarget as MulticlassTarget,
        Rows as Rows,
        Target as Target,
    )
    from baserate._tally import ReadSummary as ReadSummary, Tallies as Tallies, Tally as Tally
    from baserate._version import __version__ as __version__
    from baserate.decide import compare as compare
    from baserate.read import (
        class_scores as class_scores,
        confusion as confusion,
        curve as curve,
        label_sets as label_sets,
        tally as tally,
    )
    from baserate.report import (
        Finding as Finding,
        MulticlassReport as MulticlassReport,
        Plan as Plan,
        Report as Report,
        evaluate as evaluate,
        run as run,
    )
    from baserate.shift import estimate_prevalence as estimate_prevalence

if not TYPE_CHECKING:  # or type checkers would accept every name
    __getattr__, __dir__ = attach(__name__)
