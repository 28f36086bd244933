"""Every public function that takes predictions takes them in every form, with equal results."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import baserate
from baserate import (
    Confusion,
    CostMatrix,
    Costs,
    Counts,
    Curve,
    Cut,
    MulticlassRows,
    Policy,
    Tally,
    UnknownNameError,
    decide,
    fairness,
    infer,
    measure,
    read,
    shift,
)
from tests.forms import CLASS, GROUP, MATRIX, OTHER, SCORE, TRUTH, list_forms, make_own, simplify, spread
from tests.test_public import list_functions


class Call(NamedTuple):
    """A call of a function that takes predictions."""

    kind: str
    """Kind of data in `tests.forms`."""
    options: Mapping[str, Any] = {}
    before: tuple[Any, ...] = ()
    """Arguments before the predictions."""
    after: tuple[Any, ...] = ()
    """Arguments after them."""


POLICY = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
GOAL = fairness.Goal("equal-opportunity")
MIXING_POLICY = fairness.calibrated_equalized_odds(TRUTH, SCORE, group=GROUP)
MATRIX_COSTS = CostMatrix([[0, 1, 2], [3, 0, 1], [1, 1, 0]], ["cat", "dog", "fox"])
THREE = {"cat": 0.2, "dog": 0.3, "fox": 0.5}

CALLS: dict[str, Call] = {
    # Common jobs
    "baserate.calibrate": Call("tallies", {"prevalence": "10%"}),
    "baserate.choose_threshold": Call("tallies", {"fp": 1, "fn": 5}),
    "baserate.equalize": Call("groups", {"parity": "equal-opportunity"}),
    "baserate.evaluate": Call("tallies", {"prevalence": 0.1}),
    "baserate.tally": Call("tally"),
    "baserate.curve": Call("tally"),
    "baserate.class_scores": Call("classes"),
    "baserate.confusion": Call("confusion"),
    # Measures
    "baserate.measure.curves": Call("tallies", after=("roc",)),
    "baserate.measure.summary": Call("tallies"),
    "baserate.measure.table": Call("curve", after=("roc",)),
    "baserate.measure.multiclass.summary": Call("classes"),
    "baserate.measure.multiclass.pairwise_auc": Call("classes"),
    "baserate.measure.multiclass.pairwise_ordinal_auc": Call("classes"),
    "baserate.measure.multiclass.per_class": Call("classes", before=("auc",)),
    "baserate.measure.multiclass.undefined_classes": Call("classes", before=("auc",)),
    # Inference
    "baserate.infer.apply_calibrator": Call("tallies", {"by": baserate.calibrate(TRUTH, SCORE)}),
    "baserate.infer.bootstrap": Call("tally", {"n_bootstrap": 20}, (["ece"],)),
    "baserate.infer.calibration_curve": Call("tally"),
    "baserate.infer.calibration_curves": Call("tallies"),
    "baserate.infer.calibration_summary": Call("tallies", {"options": infer.CalibrationOptions(n_simulations=0)}),
    "baserate.infer.calibration_tests": Call("tally"),
    "baserate.infer.confidence_band": Call("tally", {"seed": 1}, after=("roc",)),
    "baserate.infer.confidence_bands": Call("tallies", {"seed": 1}, after=("roc",)),
    "baserate.infer.cox_test": Call("tally"),
    "baserate.infer.compare": Call("two models", {"prevalence": "10%"}),
    "baserate.infer.delong_pair": Call("two models"),
    "baserate.infer.derived_prevalence": Call("tally"),
    "baserate.infer.ecce_test": Call("tally"),
    "baserate.infer.estimate": Call("tally", before=("auc",)),
    "baserate.infer.hosmer_lemeshow": Call("tally"),
    "baserate.infer.intrinsic_calibration": Call("tally"),
    "baserate.infer.methods": Call("tally", before=("auc",)),
    "baserate.infer.multiclass_summary": Call("classes"),
    "baserate.infer.no_information_test": Call("confusion"),
    "baserate.infer.null_reference": Call("tally", {"n_simulations": 20}, ("ece",)),
    "baserate.infer.null_references": Call("tally", {"n_simulations": 20}, ([measure.ece],)),
    "baserate.infer.slope_test": Call("tally"),
    "baserate.infer.smooth_roc": Call("tally"),
    "baserate.infer.smooth_roc_curves": Call("tallies", {"method": "density", "n_bootstrap": 20}),
    "baserate.infer.spiegelhalter": Call("tally"),
    "baserate.infer.summary": Call("tallies"),
    "baserate.infer.symmetry_test": Call("confusion"),
    # Calibration
    **{
        f"baserate.calibration.{name}": Call("tally")
        for name in ("beta", "histogram", "identity", "isotonic", "logistic", "offset", "temperature", "venn_abers")
    },
    "baserate.calibration.choose": Call("tallies", {"methods": ["identity", "logistic"]}),
    "baserate.calibration.cross_fit": Call("tallies"),
    "baserate.calibration.fit": Call("tallies"),
    **{
        f"baserate.calibration.multiclass.{name}": Call("classes")
        for name in ("bias_corrected", "identity", "prior", "temperature", "vector")
    },
    "baserate.calibration.multiclass.assign_folds": Call("classes", {"folds": 2}),
    "baserate.calibration.multiclass.cross_fit": Call(
        "classes", {"fit": baserate.calibration.multiclass.vector, "folds": 2}
    ),
    "baserate.calibration.multiclass.one_vs_rest": Call("classes", {"fit": baserate.calibration.logistic}),
    # Prevalence
    "baserate.shift.class_summary": Call("classes", {"prevalence": THREE}),
    "baserate.shift.prevalence_curve": Call("tally"),
    "baserate.shift.prevalence_curves": Call("tallies", {"measures": ["precision"], "thresholds": [0.5]}),
    "baserate.shift.prevalence_table": Call("tally"),
    "baserate.report.draw_figures": Call("tallies", before=(baserate.evaluate(TRUTH, SCORE),)),
    "baserate.shift.reweigh": Call("tally", {"prevalence": "10%"}),
    "baserate.shift.summary": Call("tallies", {"prevalence": "10%"}),
    # Decisions
    "baserate.decide.abstain": Call("curve", {"costs": {"fp": 1, "fn": 5}, "refer": 0.2}),
    "baserate.decide.actions": Call("curve", {"costs": {"pass": (0, 5), "flag": (1, 0)}}),
    "baserate.decide.balanced": Call("curve"),
    "baserate.decide.bands": Call("curve", {"thresholds": [0.3, 0.6]}),
    "baserate.decide.best": Call("curve", {"measure": "f1"}),
    "baserate.decide.bootstrap_threshold": Call(
        "curve", {"rule": decide.youden, "measures": ["sensitivity"], "n_bootstrap": 20}
    ),
    "baserate.decide.break_even": Call("curve"),
    "baserate.decide.brier_curve": Call("curve"),
    "baserate.decide.capacity": Call("curve", {"share": 0.2}),
    "baserate.decide.cheapest_thresholds": Call("tallies", {"fp": 1, "fn": 5, "prevalence": "10%"}),
    "baserate.decide.check": Call("tallies", {"policy": POLICY, "require": "sensitivity >= 0.5"}),
    "baserate.decide.choose_policy": Call("tallies", {"rule": decide.youden}),
    "baserate.decide.closest": Call("curve"),
    "baserate.compare": Call("two models", {"prevalence": "10%", "costs": {"fp": 1, "fn": 5}}),
    "baserate.decide.combination_table": Call("two models"),
    "baserate.decide.combine_scores": Call("two models"),
    "baserate.decide.cost": Call("curve", {"fp": 1, "fn": 5}),
    "baserate.decide.cost_curve": Call("curve"),
    "baserate.decide.cost_curves": Call("tallies"),
    "baserate.decide.cross_validate_rule": Call(
        "tally", {"rule": decide.youden, "measures": ["sensitivity"], "folds": 2}
    ),
    "baserate.decide.decision_tables": Call("tallies", {"policy": POLICY}),
    "baserate.decide.evaluate_policy": Call("tallies", {"policy": POLICY}),
    "baserate.decide.fixed": Call("curve", {"threshold": 0.5}),
    "baserate.decide.hull_likelihood_ratios": Call("curve"),
    "baserate.decide.hull_table": Call("tallies"),
    "baserate.decide.likelihood_ratio_table": Call("tallies"),
    "baserate.decide.multiclass_summary": Call("classes", {"costs": MATRIX_COSTS}),
    "baserate.decide.net_benefit_curve": Call("tallies", {"thresholds": [0.2]}),
    "baserate.decide.net_benefit_difference": Call("two models", {"thresholds": [0.2]}),
    "baserate.decide.net_benefits": Call("curve", {"thresholds": [0.2]}),
    "baserate.decide.require": Call("curve", {"require": "sensitivity >= 0.5"}),
    "baserate.decide.roc_convex_hull": Call("two models"),
    "baserate.decide.summary": Call("tallies", {"rule": decide.youden}),
    "baserate.decide.youden": Call("curve"),
    # Fairness
    **{
        f"baserate.fairness.{name}": Call("groups", {"goal": GOAL})
        for name in (
            *("choose_roc_crossing", "common_threshold", "deterministic_thresholds"),
            *("frontier", "impact", "optimal_policy"),
        )
    },
    "baserate.fairness.calibrated_equalized_odds": Call("groups", {"costs": {"fp": 1, "fn": 5}}),
    "baserate.fairness.mixing_impact": Call("groups", {"policy": MIXING_POLICY}),
    "baserate.fairness.cross_validate": Call("grouped rows", {"goal": GOAL}),
    "baserate.fairness.reject_option": Call("groups", {"goal": GOAL, "favor": "a", "favorable": "flag"}),
    **{
        f"baserate.fairness.{name}": Call("groups", {"policy": POLICY})
        for name in (
            *("compare_groups", "decompose_entropy", "group_differences", "group_gaps", "group_ratios", "group_table"),
        )
    },
    "baserate.fairness.multicalibration": Call("groups", {"min_group": 1, "n_simulations": 50}),
    "baserate.fairness.compare_attributes": Call("groups", {"attributes": ["group"], "policy": POLICY}),
    # Figures
    **{
        f"baserate.draw.{name}": Call("tallies")
        for name in (
            "det",
            *("decision_curve", "gain", "lift", "likelihood_ratio", "pr", "prevalence", "reliability"),
            *("roc", "scores", "thresholds"),
        )
    },
    "baserate.draw.cost_curve": Call("tallies", {"fp": 1, "fn": 5, "prevalence": "10%"}),
    "baserate.draw.groups": Call("groups", {"threshold": 0.5}),
}
"""Function -> a call of it."""


TARGETS: dict[str, dict[str, Any]] = {
    "baserate.estimate_prevalence": {},
    "baserate.shift.label_shift_test": {},
    "baserate.shift.estimate_performance": {"assume": "label shift"},
    "baserate.shift.prevalence_summary": {},
}
"""Functions of unlabelled scores and of validation data, and options of a call."""

PAIRS = {
    "baserate.infer.compare_classes": "classes",
    "baserate.infer.independent_pair": "tally",
    "baserate.fairness.roc_crossings": "curve",
}
"""Functions of two samples, and the kind of each."""

NO_PREDICTIONS = """
    baserate.load_calibrator baserate.load_policy
    baserate.calibration.prevalence baserate.calibration.multiclass.reprior
    baserate.decide.find_rule baserate.decide.iso_cost baserate.decide.on_raw_scores
    baserate.decide.parse_requirements baserate.decide.probability_cost baserate.fairness.find_parity
    baserate.infer.alpha_of_auc_test baserate.infer.binormal_pair baserate.infer.binormal_spread
    baserate.infer.detectable_auc baserate.infer.hypothetical_pair baserate.infer.power_of_auc_difference
    baserate.infer.power_of_auc_test baserate.infer.power_of_proportion_difference
    baserate.infer.power_of_proportion_test baserate.infer.reported_pair baserate.infer.sample_size_by_simulation
    baserate.infer.sample_size_for_auc baserate.infer.sample_size_for_auc_difference
    baserate.infer.sample_size_for_auc_test baserate.infer.sample_size_for_observed_expected
    baserate.infer.sample_size_for_proportion baserate.infer.sample_size_for_proportion_difference
    baserate.infer.sample_size_for_proportion_test baserate.infer.tabulate_comparisons
    baserate.measure.describe baserate.measure.find_measure baserate.measure.measure baserate.measure.search
    baserate.measure.multiclass.find_measure baserate.measure.multiclass.find_measures
    baserate.measure.multiclass.search baserate.measure.multiclass.average_over_classes
    baserate.apply.as_python baserate.apply.as_sql
    baserate.shift.adjusted_summary baserate.shift.gamma baserate.shift.gamma_of_counts
    baserate.shift.gamma_of_sampling baserate.shift.npv baserate.shift.posterior_calibrator baserate.shift.ppv
    baserate.shift.prevalence_of_gamma baserate.shift.reprior_calibrator baserate.shift.reprior_threshold
    baserate.sklearn.scorer baserate.sklearn.scorers
"""
UNLABELLED = """
    baserate.apply.actions baserate.apply.file baserate.apply.frame baserate.decide.least_cost
    baserate.fairness.mix_scores baserate.shift.expected_tally baserate.shift.reprior
    baserate.read.target baserate.read.class_target
"""
READERS = """
    baserate.read.class_rows baserate.read.confusions baserate.read.decisions baserate.read.rows
    baserate.read.tallies
"""
OTHERS: dict[str, str] = {
    **dict.fromkeys(NO_PREDICTIONS.split(), "takes no predictions"),
    **dict.fromkeys(UNLABELLED.split(), "takes scores without labels, in any form"),
    **dict.fromkeys(READERS.split(), "reads a table or a file"),
    "baserate.read.label_columns": "reads a table or a file, and has tests of its own",
    "baserate.measure.multiclass.per_row": "takes sets of labels, which have tests of their own",
    "baserate.run": "takes a table or a file, whose columns the plan names",
    "baserate.label_sets": "makes the type from matrices or sets, which no column of a table can hold",
    "baserate.decide.cost_table": "takes tables of decisions by name",
    "baserate.decide.rank_by_hull": "takes a hull, and decisions by name",
    "baserate.measure.undefined_reason": "takes what the measure takes",
    "baserate.read.join": "joins rows that were read",
    "baserate.draw.confusion_matrix": "takes predicted labels in place of scores, too, and has tests of its own",
    **dict.fromkeys(("baserate.read.cost_matrix", "baserate.read.cross_table"), "reads a matrix from a file"),
    **dict.fromkeys(
        ("baserate.fairness.intersection_excess", "baserate.fairness.stratified_differences"),
        "needs groups by several attributes, and has tests of its own",
    ),
    "baserate.shift.quantification_study": "takes two samples, and has tests of its own",
    "baserate.infer.compare_unpaired": "takes two samples, each a pair of labels and scores, and has tests of its own",
}
"""Public functions that do not take labels and scores, and the reason."""

ALIASES = {
    "baserate.shift.estimate_prevalence": "baserate.estimate_prevalence",
    "baserate.decide.compare": "baserate.compare",
    **{f"baserate.report.{name}": f"baserate.{name}" for name in ("evaluate", "run")},
    **{f"baserate.read.{name}": f"baserate.{name}" for name in ("tally", "confusion", "class_scores", "label_sets")},
}
"""Second name of a function -> its first."""
FUNCTIONS = dict(list_functions())


def test_every_public_function_is_classified() -> None:
    """A new function belongs into one of the tables above."""
    classified = [*CALLS, *TARGETS, *PAIRS, *OTHERS, *ALIASES]
    population = [name for name in FUNCTIONS if name.startswith(("baserate.population.", "baserate.draw.population"))]
    assert sorted([*classified, *population]) == sorted(FUNCTIONS)
    assert all(FUNCTIONS[name] is FUNCTIONS[other] for name, other in ALIASES.items())


def list_differences(function: Callable[..., Any], call: Call, folder: Path) -> dict[str, str]:
    """Return the forms of data that do not give the result of the library's own type."""
    expected = simplify(function(*call.before, make_own(call.kind), *call.after, **call.options))
    found = {}
    for name, form in list_forms(call.kind, folder):
        if not (form.args or not call.after):
            continue  # keywords cannot stand before other arguments
        try:
            result = simplify(function(*call.before, *form.args, *call.after, **call.options, **form.options))
        except Exception as error:  # noqa: BLE001  (any one is a failure)
            result = repr(error)
        if result != expected:
            found[name] = f"{result} != {expected}"[:2000]
    return found


@pytest.mark.parametrize("name", CALLS)
def test_all_forms_give_equal_results(name: str, tmp_path: Path) -> None:
    assert list_differences(FUNCTIONS[name], CALLS[name], tmp_path) == {}


KINDS: dict[type, str] = {
    Counts: "counts",
    Curve: "curve",
    Tally: "tally",
    Confusion: "confusion",
    MulticlassRows: "classes",
}
OPTIONS: dict[str, dict[str, float]] = {"costs": {"fp": 1, "fn": 5}, "at": {"at": 0.2}}
OPTIONS |= {name: {name: 0.8} for name in ("specificity", "sensitivity", "precision")}


@pytest.mark.parametrize("name", measure.MEASURES)
def test_all_forms_give_equal_measures(name: str, tmp_path: Path) -> None:
    function = measure.MEASURES[name]
    about = measure.describe(function)
    options = OPTIONS[str(about.option)] if about.option_required else {}
    own: dict[str, Any] = {"costs": Costs(**options)} if "fp" in options else dict(options)
    expected = simplify(function(make_own(KINDS[about.of]), **own))
    for form_name, form in list_forms(KINDS[about.of], tmp_path):
        assert (form_name, simplify(function(*form.args, **options, **form.options))) == (form_name, expected)


OF_CLASSES = [name for name, each in measure.multiclass.MEASURES.items() if measure.describe(each).of in KINDS]
"""Measures of sets of labels have tests of their own."""


@pytest.mark.parametrize("name", sorted(OF_CLASSES))
def test_all_forms_give_equal_measures_of_several_classes(name: str, tmp_path: Path) -> None:
    function = measure.multiclass.MEASURES[name]
    options = {"costs": MATRIX_COSTS} if name == "expected_cost" else {}
    kind = KINDS[measure.describe(function).of]
    assert list_differences(function, Call(kind, options), tmp_path) == {}


@pytest.mark.parametrize("name", PAIRS)
def test_both_samples_may_be_pairs_of_arrays_or_own_types(name: str) -> None:
    if PAIRS[name] == "classes":
        arrays = (CLASS, MATRIX), (CLASS, MATRIX[:, [0, 2, 1]])
        own: list[Any] = [baserate.class_scores(*each) for each in arrays]
    else:
        arrays = (TRUTH, SCORE), (TRUTH, OTHER)
        own = [baserate.tally(*each) if PAIRS[name] == "tally" else baserate.curve(*each) for each in arrays]
    expected = simplify(FUNCTIONS[name](*own))
    assert simplify(FUNCTIONS[name](*arrays)) == expected
    assert simplify(FUNCTIONS[name](own[0], arrays[1])) == expected
    tables = [spread({"truth": truth, "score": score})[0] for truth, score in arrays if PAIRS[name] != "classes"]
    if tables:
        assert simplify(FUNCTIONS[name](*tables, truth="truth", score="score")) == expected
    with pytest.raises(UnknownNameError, match="Did you mean 'weight'"):
        FUNCTIONS[name](*arrays, sample_weight=1)


def list_targets(folder: Path) -> Iterator[tuple[str, Any]]:
    for name, make in {"list": list, "pandas": pd.Series, "Polars": pl.Series, "PyArrow": pa.array}.items():
        yield name, make(OTHER)
    yield "matrix", np.column_stack([1 - OTHER, OTHER])
    frame = pl.DataFrame({"score": OTHER})
    frame.write_csv(folder / "target.csv")
    yield from {"Polars frame": frame, "pandas frame": frame.to_pandas(), "file": folder / "target.csv"}.items()


@pytest.mark.parametrize("name", TARGETS)
def test_targets_and_validation_data_may_have_any_form(name: str, tmp_path: Path) -> None:
    function, options = FUNCTIONS[name], TARGETS[name]
    own, target = make_own("tallies"), read.target(OTHER)
    before = (shift.estimate_prevalence(target, own),) if name.endswith("prevalence_summary") else ()
    expected = simplify(function(*before, target, own, **options))
    for form_name, each in list_targets(tmp_path):
        is_table = not isinstance(each, list) and (hasattr(each, "columns") or isinstance(each, Path))
        if not is_table:
            assert (form_name, simplify(function(*before, each, TRUTH, SCORE, **options))) == (form_name, expected)
        names = {"truth": "truth", "score": "score"}
        found = simplify(function(*before, each, {"truth": TRUTH, "score": SCORE}, **names, **options))
        assert (form_name, found) == (form_name, expected)


def test_an_expected_tally_takes_a_target_of_any_form(tmp_path: Path) -> None:
    expected = simplify(shift.expected_tally(read.target(OTHER)))
    for _, each in list_targets(tmp_path):
        is_table = not isinstance(each, list) and (hasattr(each, "columns") or isinstance(each, Path))
        assert simplify(shift.expected_tally(each, score="score" if is_table else None)) == expected
