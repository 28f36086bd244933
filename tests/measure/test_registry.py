import doctest
import math
import re
from inspect import signature
from typing import Any

import pytest

import baserate
from baserate import (
    Confusion,
    Costs,
    Counts,
    Curve,
    LabelSets,
    MulticlassRows,
    OptionError,
    ShapeError,
    Tally,
    UnknownNameError,
    measure,
)
from baserate.measure import MEASURES, TABLES, describe, find_measure, multiclass, search, undefined_reason
from baserate.measure._registry import _MARGINS

CURVE = baserate.curve(baserate.tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]))


REGISTRIES = pytest.mark.parametrize("registry", [measure, multiclass], ids=lambda registry: registry.__name__)


@REGISTRIES
def test_every_measure_is_registered_under_its_own_name(registry: Any) -> None:  # noqa: ANN401
    for name, function in registry.MEASURES.items():
        assert (describe(function).name, function.__name__) == (name, name)
        assert getattr(registry, name) is function


@REGISTRIES
def test_the_entry_of_every_measure_is_consistent(registry: Any) -> None:  # noqa: ANN401
    of_two, of_many = {Counts, Curve, Tally}, {Confusion, MulticlassRows, LabelSets}
    for name, function in registry.MEASURES.items():
        output = describe(function)
        assert output.of in (of_two if registry is measure else of_many), name
        assert output.best in ("high", "low", None), name
        assert output.span[0] < output.span[1], name
        assert output.formula, name
        assert output.references or registry is measure, name
        assert output.needs, name
        assert all(hasattr(output.of, margin) or margin in _MARGINS for margin in output.needs), name
        assert len(output.causes) == len(output.needs), name


def test_labels_of_the_page_are_distinct() -> None:
    labels = [describe(function).page for function in MEASURES.values() if describe(function).page]
    assert len(labels) == len(set(labels)) == 22


def test_measures_shown_as_percentages() -> None:
    numbers = {
        name for name, function in MEASURES.items() if describe(function).page and not describe(function).percent
    }
    assert numbers == {
        *("f1", "mcc", "expected_cost", "auc", "average_precision", "brier", "brier_skill", "log_loss"),
        *("calibration_slope", "calibration_in_the_large", "observed_expected"),
    }


def test_options_are_keywords_of_their_measures() -> None:
    options = {name: describe(function).option for name, function in MEASURES.items() if describe(function).option}
    assert options == {
        **dict.fromkeys(("net_benefit", "standardized_net_benefit", "net_reduction"), "at"),
        **dict.fromkeys(("f_beta", "e_measure"), "beta"),
        **dict.fromkeys(("precision_at_k", "recall_at_k", "hits_at_k"), "k"),
        "weighted_kappa": "costs",
        "expected_cost": "costs",
        "sensitivity_at_specificity": "specificity",
        **dict.fromkeys(("specificity_at_sensitivity", "precision_at_sensitivity"), "sensitivity"),
        "sensitivity_at_precision": "precision",
        "generalized_entropy": "alpha",
    }
    assert all(option in signature(MEASURES[name]).parameters for name, option in options.items())


def check_summary(summary: str) -> None:
    """Check that a summary is one whole sentence in plain text that leans on no other."""
    assert re.match(r"[A-Z]", summary), summary
    assert re.search(r"[\w)]\.$", summary), summary
    assert ". " not in summary, f"more than one sentence: {summary}"
    assert len(summary) <= 105, summary
    assert summary.count("(") == summary.count(")"), summary
    assert not re.search(r"[\\$`{}\n]|:math:|  ", summary), f"markup: {summary}"
    leaning = r"the same|it|this|these|those|what|that (?:curve|regression|one)|former|latter"
    assert not re.search(rf"\b(?:{leaning})\b", summary, re.IGNORECASE), f"leans on another: {summary}"
    # Words that a sentence cannot end with: something that followed was cut off.
    open_words = "a|an|and|as|at|by|for|from|in|is|leave|of|on|or|over|that|the|to|where|which|with"
    assert not re.search(rf"\b(?:{open_words})\.$", summary), f"cut off: {summary}"


@REGISTRIES
def test_every_summary_is_one_complete_sentence(registry: Any) -> None:  # noqa: ANN401
    for function in registry.MEASURES.values():
        check_summary(describe(function).summary)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("top-1 accuracy", "has the highest score"),
        ("top-7 accuracy", "among the 7 highest scores"),
        ("linear kappa", "with linear weights"),
        ("quadratic kappa", "with quadratic weights"),
    ],
)
def test_a_measure_with_bound_options_has_its_own_summary(name: str, words: str) -> None:
    special = describe(multiclass.find_measure(name))
    check_summary(special.summary)
    assert special.summary not in {describe(function).summary for function in multiclass.MEASURES.values()}
    assert words in special.summary


@pytest.mark.parametrize(
    "summary",
    [
        "Slope of a logistic regression of what happened on the log-odds in.",
        "Expected calibration error in as many bins of equal mass as leave.",
        "Intercept of that regression, next to its slope in.",
        "The same without what chance adds.",
        "Median distance of the probabilities from that curve.",
        r"Mean of \sum p.",
        "Disorder (of the errors.",
        "No end",
    ],
)
def test_truncated_and_dependent_summaries_are_detected(summary: str) -> None:
    with pytest.raises(AssertionError):
        check_summary(summary)


@REGISTRIES
def test_docstrings_begin_with_the_fields_and_end_with_examples(registry: Any) -> None:  # noqa: ANN401
    for name, function in registry.MEASURES.items():
        described, doc = describe(function), function.__doc__
        assert doc.startswith(f"{described.summary}\n\n:math:`{described.formula}`\n\n"), name
        assert doc.count(described.summary) == 1, name
        assert all(other in doc for other in described.aliases), name
        assert all(f"[@{key}]" in doc for key in described.references), name
        assert doctest.DocTestParser().get_examples(doc), name


def test_a_measure_needs_no_formula_other_names_or_references() -> None:
    def hits(c: Counts[float]) -> float:
        return c.tp

    result = measure.measure("Number of true positives.", values=measure.Values("high", (0, math.inf), ("total",)))(
        hits
    )
    assert result.__doc__ == "Number of true positives."
    described = describe(result)
    assert (described.formula, described.aliases, described.references) == (None, (), ())


@REGISTRIES
def test_no_two_measures_share_a_name(registry: Any) -> None:  # noqa: ANN401
    names = [other.lower() for function in registry.MEASURES.values() for other in describe(function).aliases]
    assert len(names) == len(set(names))
    assert not set(names) & set(registry.MEASURES)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("recall", "sensitivity"),
        ("TPR", "sensitivity"),
        ("hit rate", "sensitivity"),
        ("CDR", "sensitivity"),
        ("selectivity", "specificity"),
        ("PPV", "precision"),
        ("confidence", "precision"),
        ("fall-out", "fpr"),
        ("Fall_Out", "fpr"),
        ("type I error rate", "fpr"),
        ("type II error rate", "fnr"),
        ("miss rate", "fnr"),
        ("FOR", "false_omission_rate"),
        ("informedness", "youden"),
        ("threat score", "jaccard"),
        ("P+R-1", "borko"),
        ("P+R−1", "borko"),
        ("LR+", "positive_likelihood_ratio"),
        ("LR-", "negative_likelihood_ratio"),
        ("balanced-accuracy", "balanced_accuracy"),
        (" F1 Score ", "f1"),
        ("AUROC", "auc"),
    ],
)
def test_measures_are_found_by_aliases(spelling: str, name: str) -> None:
    assert find_measure(spelling) is MEASURES[name]


def test_an_unknown_name_lists_all_names_and_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"no measure 'sensitivit'. Did you mean 'sensitivity' or") as caught:
        find_measure("sensitivit")
    assert all(name in str(caught.value) for name in MEASURES)
    with pytest.raises(UnknownNameError, match=r"no measure 'zzzz'. Known are: accuracy"):
        find_measure("zzzz")


def test_search_covers_names_aliases_and_summaries() -> None:
    assert set(search("harmonic mean")) == {"f1", "f_beta"}
    assert search("share flagged negatives") == ["specificity", "fpr"]
    assert search("Matthews") == ["mcc"]
    assert search("nothing of the kind") == []


def test_the_reason_lists_every_zero_margin() -> None:
    empty = Counts(tp=0, fp=0, fn=0, tn=4)
    assert undefined_reason(measure.mcc, empty) == "there are no positives and nothing is flagged"
    assert (
        undefined_reason(measure.kappa, empty)
        == "truth and decision are constant and equal, so chance alone agrees fully"
    )
    assert undefined_reason(measure.npv, empty) is None


def test_a_reason_needs_a_single_table() -> None:
    with pytest.raises(ShapeError, match=r"these are \(5,\) tables; give one"):
        undefined_reason(measure.precision, CURVE.counts)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TABLES)
def test_tables_have_their_axes_and_one_row_for_each_threshold(name: str) -> None:
    columns = measure.table(CURVE, name)
    assert list(columns) == ["threshold", *TABLES[name]]
    assert {len(column) for column in columns.values()} == {5}


def test_a_table_accepts_functions_names_and_aliases() -> None:
    columns = measure.table(CURVE, "roc", measure.mcc, "recall", "F1 score")
    assert list(columns) == ["threshold", "fpr", "sensitivity", "mcc", "f1"]
    assert math.isnan(columns["mcc"][0])
    assert columns["f1"][2] == measure.f1(CURVE.at(0.8))


def test_a_table_adds_no_points() -> None:
    precision = measure.table(CURVE, "pr")["precision"]
    assert math.isnan(precision[0])
    assert precision[1] == 1


def test_a_table_refuses_measures_without_threshold() -> None:
    with pytest.raises(OptionError, match="auc, brier has one value for a whole curve"):
        measure.table(CURVE, "auc", "f1", "brier")
    with pytest.raises(UnknownNameError):
        measure.table(CURVE, "rock")


@pytest.mark.parametrize("beta", [0, -1, math.inf, math.nan])
def test_beta_lies_between_precision_and_recall(beta: float) -> None:
    with pytest.raises(OptionError, match=r"use precision .* or sensitivity"):
        measure.f_beta(Counts(1, 1, 1, 1), beta=beta)


@pytest.mark.parametrize("interval", [(0.5, 0.5), (0.9, 0.1), (-0.1, 1), (0, 1.1), (math.nan, 1)])
def test_a_partial_area_needs_an_interval_of_rates(interval: tuple[float, float]) -> None:
    with pytest.raises(OptionError, match="is not one of rates"):
        measure.partial_auc(CURVE, fpr=interval)


def test_a_partial_area_runs_along_one_axis() -> None:
    with pytest.raises(OptionError, match="either fpr or tpr"):
        measure.partial_auc(CURVE, fpr=(0, 1), tpr=(0, 1))


def test_a_partial_area_takes_the_right_side_of_steps() -> None:
    # The curve rises at FPR 0 to ½, runs to FPR ½, rises there to 1, runs to 1.
    assert measure.partial_auc(CURVE, fpr=(0, 0.5)) == 0.25
    assert measure.partial_auc(CURVE, fpr=(0.5, 1)) == 0.5
    assert measure.partial_auc(CURVE, fpr=(0, 0.5), standardized=True) == pytest.approx((1 + 0.125 / 0.375) / 2)
    assert measure.partial_auc(CURVE, tpr=(0.5, 1)) == 0.25
    assert measure.partial_auc(CURVE, tpr=(0, 0.5), standardized=True) == 1


def test_partial_areas_without_positives_are_undefined() -> None:
    assert math.isnan(measure.partial_auc(baserate.curve(baserate.tally([0, 0], [1, 2])), fpr=(0, 0.5)))


def test_log_loss_is_infinite_for_a_wrong_certainty() -> None:
    wrong, right = baserate.tally([1, 0], [0.0, 0.5]), baserate.tally([1, 0], [1.0, 0.0])
    assert measure.log_loss(wrong) == math.inf
    assert measure.log_loss_skill(wrong) == -math.inf
    assert (measure.log_loss(right), measure.log_loss_skill(right), measure.brier_skill(right)) == (0, 1, 1)


def test_areas_are_defined_with_extreme_weights() -> None:
    curve = baserate.curve(baserate.tally([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6], weight=[1e20, 1, 1, 1]))
    assert measure.pr_auc(curve) == pytest.approx(1)
    assert measure.average_precision(curve) == pytest.approx(1)


def test_costs_may_be_negative() -> None:
    counts = Counts(tp=150, fp=60, fn=40, tn=250)
    assert measure.expected_cost(counts, costs=Costs(tp=-1, fn=100, fp=1, tn=0)) * counts.total == 3910
    assert measure.expected_cost(counts) == measure.error_rate(counts)


@pytest.mark.parametrize("name", ["ordinal_auc", "quadratic kappa", "Hand-Till"])
def test_measures_of_several_classes_are_named_as_such(name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"^{name} is a measure of several classes; name one of two classes"):
        find_measure(name)
    assert not hasattr(measure, "ordinal_auc")
