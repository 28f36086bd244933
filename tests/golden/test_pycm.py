"""PyCM's verified cases with two classes: values that it took from the literature."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from baserate import Costs, Counts, measure, tally

near = partial(pytest.approx, rel=0, abs=1e-12)


@pytest.fixture(scope="module")
def cases(load_published: Callable[[str], Any]) -> list[dict[str, Any]]:
    entries = load_published("pycm_verified_cases.json")["cases"]
    assert isinstance(entries, list)
    return entries


def optimized_precision(c: Counts[float]) -> float:
    tpr, tnr = measure.sensitivity(c), measure.specificity(c)
    return measure.accuracy(c) - abs(tnr - tpr) / (tnr + tpr)


def index_of_balanced_accuracy(c: Counts[float]) -> float:
    """Of García et al. (2009), at weight 1."""
    tpr, tnr = measure.sensitivity(c), measure.specificity(c)
    return (1 + tpr - tnr) * tpr * tnr


COVERED: dict[str, Callable[[Counts[float]], Any]] = {
    "ACC": measure.accuracy,
    "TNR": measure.specificity,
    "TPR": measure.sensitivity,
    # Of a table they mean the area under its one ROC point.
    "AUC_2x2": measure.balanced_accuracy,
    "OP": optimized_precision,
    "IBA": index_of_balanced_accuracy,
    "GM": measure.g_mean,
    "PLR": measure.positive_likelihood_ratio,
    "NLR": measure.negative_likelihood_ratio,
}


def published_values(cases: list[dict[str, Any]]) -> Iterator[tuple[Counts[float], str, float]]:
    for case in cases:
        if "matrix_tp_fn_fp_tn" in case:
            tp, fn, fp, tn = case["matrix_tp_fn_fp_tn"]
            for name, value in case.items():
                if isinstance(value, float):
                    yield Counts(tp=tp, fn=fn, fp=fp, tn=tn), name, value


def test_every_single_value_of_a_binary_table_is_covered(cases: list[dict[str, Any]]) -> None:
    assert {name for _, name, _ in published_values(cases)} == COVERED.keys()


@pytest.mark.parametrize("name", COVERED)
def test_binary_tables(cases: list[dict[str, Any]], name: str) -> None:
    matching = [(c, value) for c, given, value in published_values(cases) if given == name]
    assert matching
    for c, value in matching:
        assert COVERED[name](c) == near(value)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("TPR", 0.8731774862637585, 1.0398659919971112),
        ("TNR", 0.4205300089203393, 0.6064970181066877),
        ("PPV", 0.18751037940411688, 0.3914369890169358),
        ("NPV", 0.9492581037307116, 1.0162591376485988),
        ("prevalence", 0.10779717474937288, 0.23548640734017934),
    ],
)
def test_published_normal_intervals_stand_around_our_rates(name: str, low: float, high: float) -> None:
    # They are value ± 1.96·SE, so that their middle is the value, even where they leave [0, 1].
    assert measure.find_measure(name)(Counts(tp=22, fn=1, fp=54, tn=57)) == near((low + high) / 2)


def test_no_information_rate(cases: list[dict[str, Any]]) -> None:
    case = next(case for case in cases if "NIR" in case)
    (tp, fn), (fp, tn) = case["matrix"]
    prevalence = measure.prevalence(Counts(tp=tp, fn=fn, fp=fp, tn=tn))
    assert max(prevalence, 1 - prevalence) == near(case["NIR"])


def test_net_benefit_is_a_cost_with_its_sign_turned(cases: list[dict[str, Any]]) -> None:
    case = next(case["net_benefit"] for case in cases if "net_benefit" in case)
    rest = case["n"] - case["tp"] - case["fp"]
    costs = Costs(tp=-1, fp=case["w"], fn=0, tn=0)
    # How those not flagged divide is not published, and costs nothing either way.
    for fn in (0, 40, rest):
        c = Counts(tp=case["tp"], fp=case["fp"], fn=fn, tn=rest - fn)
        assert -measure.expected_cost(c, costs=costs) == near(case["NB"])


@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_proper_scores(cases: list[dict[str, Any]], name: str) -> None:
    case = next(case for case in cases if name in case)
    truth, probability = case["y_true"], case["y_prob"]
    function = measure.find_measure(name)
    assert function(tally(truth, probability)) == near(case[name])
    expected = case[f"{name}_weights_2_2_3_3"]
    assert function(tally(truth, probability, weight=[2, 2, 3, 3])) == near(expected)
    # As values, weights and counts are the same; and only their proportions matter.
    assert function(tally(truth, probability, count=[2, 2, 3, 3])) == near(expected)
    assert function(tally(truth, probability, weight=np.array([2, 2, 3, 3]) / 7)) == near(expected)
