"""What others rely on."""

import subprocess
import sys

import pytest

import baserate
from baserate import (
    apply,
    calibrate,
    decide,
    draw,
    equalize,
    infer,
    measure,
    population,
    read,
    report,
    shift,
    sklearn as bridge,
)
from baserate.measure import multiclass

NAMES = {
    *(
        "BadFile",
        "BadOption",
        "BadShape",
        "BadWeights",
        "BaserateError",
        "CannotFit",
        "CannotMeet",
        "DataError",
        "EmptyData",
    ),
    *("MissingValues", "ClassMap", "Map", "load_map"),
    *("NoSuchFile", "NotAProbability", "NotBinary", "NotInstalled", "NotNumeric"),
    *("UnknownLabel", "UnknownName", "UsageError"),
    *("ClassRows", "ClassTarget", "Target", "Confusion", "Confusions", "CostMatrix", "LabelSets", "Population"),
    *(
        "Costs",
        "Counts",
        "Curve",
        "Cut",
        "Estimate",
        "Intake",
        "Lottery",
        "Mixture",
        "Policy",
        "Results",
        "Rows",
        "Tallies",
        "Tally",
    ),
    *("confusion", "curve", "label_sets", "scored", "tally", "__version__"),
    *("apply", "calibrate", "decide", "draw", "equalize", "infer", "measure", "population", "read", "report", "shift"),
    *("Finding", "Plan", "Report", "evaluate", "run"),
}
TOOLS = {
    *("MEASURES", "TABLES", "USUAL", "About", "Measure"),
    *("about", "curves", "measure", "multiclass", "named", "search", "summary", "table", "why"),
}
MULTICLASS_TOOLS = {
    *("AVERAGES", "MEASURES", "USUAL", "Split", "averaged", "each", "meant", "named", "pairwise_auc"),
    *("search", "summary", "undefined"),
}
THEORY = {
    *("FAMILIES", "LEVELS", "Best", "beta", "binormal", "linear", "logit_normal", "retrieval"),
    *("best", "cheapest", "study", "summary", "table", "theory", "thresholds", "where"),
}

CALIBRATION = {
    *("CLASS_METHODS", "METHODS", "Choice", "beta", "choose", "crossfitted", "fit", "histogram", "identity"),
    *("isotonic", "logistic", "multiclass", "offset", "prevalence", "temperature", "venn_abers"),
}
CLASS_CALIBRATION = {
    *("bias_corrected", "crossfitted", "folds_of", "identity", "one_vs_rest", "prior", "reprior"),
    *("temperature", "vector"),
}

INFERENCE = {
    *("METHODS", "Interval", "class_summary", "estimate", "methods", "summary", "Band", "band", "bands"),
    *("Comparison", "Question", "compare", "compare_classes", "compare_unpaired", "tidy"),
    *("Size", "size_by_simulation", "size_of_auc", "size_of_share", "size_to_show_auc", "size_to_show_auc_difference"),
    *("size_to_show_share", "size_to_show_share_difference", "alpha_to_show_auc", "detectable_auc", "power_of_auc"),
    *("power_of_auc_difference", "power_of_share", "power_of_share_difference"),
    *("AucPair", "Spread", "assumed_pair", "binormal_pair", "binormal_spread", "delong_pair", "stated_pair"),
    *("tallied_pair",),
    *("Reliability", "reliability", "Drawn", "reliability_curve", "reliability_curves", "Floor", "floor", "floors"),
    *("Check", "checks", "cox_test", "ecce_test", "hosmer_lemeshow", "slope_test", "spiegelhalter"),
    *("Intrinsic", "After", "mapped", "derived_prevalence", "intrinsic", "resampled"),
}


SHIFT = {
    *("ALIASES", "METHODS", "Assumption", "Prevalence", "Shares", "against", "class_summary", "corrected", "expected"),
    *("gamma", "summary"),
    *("gamma_of_counts", "gamma_of_sampling", "label_shift", "npv", "performance", "posterior", "ppv", "prevalence"),
    *("prevalence_of_gamma", "reprior", "reprior_map", "reweigh", "table", "threshold"),
}
DECISIONS = {
    *("RULES", "Trial", "Combination", "Corrected", "CrossValidated", "Decisions", "Dominated", "Front", "Hybrid"),
    *("IsoCost", "Requirement", "Reversible", "Sureness", "Vertex", "abstain", "actions", "balanced", "bands"),
    *(
        "benefit",
        "benefit_difference",
        "best",
        "break_even",
        "brier_curve",
        "capacity",
        "check",
        "chosen",
        "class_summary",
    ),
    *(
        "closest",
        "combined",
        "cost",
        "cost_curve",
        "cost_curves",
        "cost_table",
        "crossvalidated",
        "fixed",
        "front",
        "iso_cost",
    ),
    *("judge", "least_cost", "named", "net_benefits", "probability_cost", "ranked", "require", "requirements"),
    *("resampled", "slopes", "summary", "tables", "unmapped", "youden"),
}
EQUALITY = {
    *(
        "PARITIES",
        "Crossing",
        "Deal",
        "Goal",
        "HeldOut",
        "Parity",
        "Scale",
        "account",
        "blind",
        "crossing",
        "crossings",
    ),
    *("deterministic", "differences", "frontier", "gaps", "group_table", "groups", "held_out", "optimum", "parity"),
    *("reject_option",),
}
DRAWINGS = {
    *("Drawing", "cost_curve", "decision_curve", "gain", "groups", "lift", "likelihood_ratio"),
    *("population", "pr", "prevalence", "reliability", "roc", "scores", "thresholds"),
}
REPORTS = {"CHECKS", "Finding", "Plan", "Report", "View", "evaluate", "run"}

ROOMS = [
    apply,
    baserate,
    calibrate,
    calibrate.multiclass,
    decide,
    draw,
    equalize,
    infer,
    measure,
    multiclass,
    population,
    read,
    report,
    shift,
    bridge,
]


def test_the_public_names_are_these() -> None:
    assert set(dir(baserate)) == NAMES
    assert set(measure.__all__) == TOOLS | set(measure.MEASURES)
    assert set(multiclass.__all__) == {*MULTICLASS_TOOLS, *multiclass.MEASURES}
    assert set(population.__all__) == THEORY
    assert set(dir(read)) == {
        *("Spelled", "class_rows", "class_target", "confusion", "confusions", "costs", "cross_table", "decisions"),
        *("joined", "label_sets", "rows", "scored", "tallies", "tally", "target"),
    }
    assert set(dir(apply)) == {"Actions", "Written", "actions", "as_python", "as_sql", "file", "frame"}
    assert set(dir(infer)) == INFERENCE
    assert set(dir(calibrate)) == CALIBRATION
    assert set(calibrate.multiclass.__all__) == CLASS_CALIBRATION
    assert set(dir(shift)) == SHIFT
    assert set(dir(decide)) == DECISIONS
    assert set(dir(equalize)) == EQUALITY
    assert set(dir(report)) == REPORTS
    assert set(dir(draw)) == DRAWINGS
    assert set(bridge.__all__) == {"CalibratedBy", "PolicyClassifier", "scorer", "scorers"}


def test_dir_lists_the_public_names_of_every_package() -> None:
    """Also before any of them is loaded."""
    code = """
import importlib, pkgutil, baserate
packages = [each.name for each in pkgutil.walk_packages(baserate.__path__, "baserate.") if each.ispkg]
public = ["baserate", *(name for name in packages if not any(part[0] == "_" for part in name.split(".")))]
print(len(public), [name for name in public if dir(mod := importlib.import_module(name)) != sorted(mod.__all__)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split(" ", 1)[1].strip() == "[]"
    assert int(done.stdout.split()[0]) >= 15


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_every_public_name_is_there(room: object) -> None:
    for name in room.__all__:  # type: ignore[attr-defined]
        assert getattr(room, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tallly'"):
        _ = getattr(baserate, "tal" + "lly")


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert baserate.__version__ == version("baserate")


def test_importing_loads_neither_numpy_nor_anything_slow() -> None:
    def loaded(code: str) -> set[str]:
        told = subprocess.run(
            [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
            capture_output=True,
            text=True,
            check=True,
        )
        return set(told.stdout.split())

    assert "numpy" not in loaded("import baserate")
    used = loaded("import baserate; baserate.measure.auc(baserate.curve(baserate.tally([0, 1], [1, 2])))")
    assert not used & {"scipy", "scipy.stats", "sklearn", "pandas", "duckdb", "narwhals", "click"}
    tabled = loaded("from baserate import read; read.tallies({'y': [0, 1], 'p': [1, 2]}, truth='y', score='p')")
    assert not tabled & {"scipy", "pandas", "duckdb", "narwhals"}
    theory = loaded("from baserate import population as p; p.best(p.linear(), 'f1'); p.binormal().average_precision")
    assert not theory & {"scipy.stats", "pandas", "duckdb", "narwhals"}
    mapped = loaded(
        "from baserate._calibrator import shifted; from baserate import apply; m = shifted(1.0); "
        "apply.frame(m, {'p': [0.5]}, score='p'); apply.as_sql(m, score='p'); apply.as_python(m)"
    )
    assert not mapped & {"scipy", "pandas", "duckdb", "narwhals"}
    assert "baserate._population" in theory - used - tabled
