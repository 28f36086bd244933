"""Decision curves beside those of dcurves, in R: 750 people, 105 with cancer."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from baserate import Counts, Results, calibration, decide, measure, read, shift, tally
from tests.golden.conftest import Columns

Floats = npt.NDArray[np.float64]
near = partial(pytest.approx, rel=0, abs=1e-12)
THRESHOLDS = np.arange(100) / 100


@pytest.fixture(scope="module")
def people(columns: Columns) -> dict[str, Any]:
    result = columns("df_binary.csv")
    truth = np.array([text == "True" for text in result["cancer"]])
    return {"cancer": truth} | {
        name: np.array(result[name], dtype=float) for name in ("age", "famhistory", "cancerpredmarker")
    }


def simulate(people: dict[str, Any], score: str, **options: Any) -> Results:  # noqa: ANN401
    return decide.net_benefit_curve(read.tallies(people, truth="cancer", score=score), **options)


def select_strategy(result: Results, strategy: str, column: str = "net_benefit") -> Floats:
    here = np.array(result.columns["strategy"]) == strategy
    values: Floats = np.asarray(result.columns[column], dtype=float)[here]
    return values


def select_variable(table: dict[str, list[str]], variable: str, column: str) -> Floats:
    return np.array([float(x) for x, name in zip(table[column], table["variable"], strict=True) if name == variable])


def test_family_history_at_all_thresholds(people: dict[str, Any], columns: Columns) -> None:
    table = columns("dcurves/r_dca_famhistory.csv")
    result = simulate(people, "famhistory", thresholds=THRESHOLDS)
    assert select_variable(table, "famhistory", "threshold") == near(THRESHOLDS)
    for column in ("net_benefit", "tp_rate", "fp_rate"):
        assert select_strategy(result, "all", column) == pytest.approx(select_variable(table, "all", column), rel=1e-12)
        assert select_strategy(result, "none", column).tolist() == select_variable(table, "none", column).tolist()
        # At threshold 0 they move a score of 0 below it; see the next test.
        ours, expected = select_strategy(result, "model", column), select_variable(table, "famhistory", column)
        assert ours[1:] == pytest.approx(expected[1:], rel=1e-12)


def test_at_threshold_zero_everybody_is_flagged(people: dict[str, Any], load_published: Callable[[str], Any]) -> None:
    # Who would act at any probability acts on all: a score of 0 is at least 0, as 0.1 is at least 0.1. They subtract a
    # little from scores of 0, so that a rule "at least 0" passes those; with scores of 1e-9 they would not.
    everybody, nobody, nudged = load_published("dcurves/reference.json")["threshold_0_famhistory"]
    result = simulate(people, "famhistory", thresholds=[0])
    assert select_strategy(result, "all") == near([everybody])
    assert select_strategy(result, "none") == near([nobody])
    assert select_strategy(result, "model") == near([everybody])
    counts = Counts(tp=24, fp=91, fn=81, tn=554)
    assert measure.net_benefit(counts, at=0) == near(nudged)


def test_age_as_a_probability_at_all_thresholds(people: dict[str, Any], columns: Columns) -> None:
    table = columns("dcurves/r_simple_binary_dca_result_df.csv")
    people = people | {"risk": calibration.logistic(tally(people["cancer"], people["age"]))(people["age"])}
    result = simulate(people, "risk", thresholds=THRESHOLDS)
    for column in ("net_benefit", "tp_rate", "fp_rate"):
        assert select_strategy(result, "model", column) == pytest.approx(
            select_variable(table, "age", column), rel=1e-9, abs=1e-12
        )
        assert select_strategy(result, "all", column) == pytest.approx(select_variable(table, "all", column), rel=1e-12)


def test_net_benefit_at_a_threshold_of_one_quarter(
    people: dict[str, Any], load_published: Callable[[str], Any]
) -> None:
    printed = load_published("dcurves/reference.json")["net_benefit_at_0.25_[all,none,model]"][
        "cancer~cancerpredmarker"
    ]
    result = simulate(people, "cancerpredmarker", thresholds=[0.25])
    ours = [select_strategy(result, strategy)[0] for strategy in ("all", "none", "model")]
    assert ours == pytest.approx(printed, abs=5e-8)
    assert ours == near([0.14 - 0.86 / 3, 0, 0.064])
    assert select_strategy(result, "model", "low") < 0.064 < select_strategy(result, "model", "high")
    # Theirs is per 100 cases.
    assert 100 * select_strategy(result, "model", "net_reduction")[0] == near(100 * (0.064 - (0.14 - 0.86 / 3)) * 3)
    assert select_strategy(result, "model", "standardized")[0] == near(0.064 / 0.14)


def test_cases_and_controls_at_a_stated_prevalence(load_published: Callable[[str], Any]) -> None:
    everybody, _, printed = load_published("dcurves/reference.json")["net_benefit_at_0.25_[all,none,model]"][
        "casecontrol prevalence=0.15 ~cancerpredmarker"
    ]
    # 144 of 750 are flagged at 0.25; no other numbers of cases, and of flagged ones, give what they print.
    counts = Counts(tp=114, fn=306, fp=30, tn=300)
    truth, score = [1] * 420 + [0] * 330, [0.9] * 114 + [0.1] * 306 + [0.9] * 30 + [0.1] * 300
    # Theirs takes the risks to be right at the stated prevalence, and does not adjust them.
    here = read.tallies({"case": truth, "risk": score}, truth="case", score="risk")
    result = decide.net_benefit_curve(here, thresholds=[0.25], prevalence=0.15, sample_prevalence="deployment")
    assert select_strategy(result, "model")[0] == pytest.approx(printed, abs=5e-9)
    assert select_strategy(result, "all")[0] == pytest.approx(everybody, abs=5e-9)
    assert measure.net_benefit(shift.reweigh(counts, prevalence=0.15), at=0.25) == near(
        select_strategy(result, "model")[0]
    )
    # What is known leaves nothing in doubt.
    assert (
        select_strategy(result, "all", "low")
        == select_strategy(result, "all")
        == select_strategy(result, "all", "high")
    )


def test_range_of_thresholds_where_the_model_is_useful(people: dict[str, Any]) -> None:
    result = simulate(people, "cancerpredmarker")
    own, everybody = select_strategy(result, "model"), select_strategy(result, "all")
    better = own > np.maximum(everybody, 0) + 1e-12
    (output,) = result.data["useful"]
    marked = np.zeros(99, dtype=bool)
    for low, high in output["ranges"]:
        marked |= (np.arange(1, 100) / 100 >= low) & (np.arange(1, 100) / 100 <= high)
    assert marked.tolist() == better.tolist()
    assert better[[4, 24]].all()


def test_test_harm_and_interventions_avoided(people: dict[str, Any]) -> None:
    # dcurves 1.1.7 (Python): dca(…, harm={"cancerpredmarker": 0.0333, "famhistory": 0.01}, nper=100).
    expected = {
        "cancerpredmarker": (
            [0.07224385964912, 0.05410740740741, 0.03070000000000, 0.00536666666667],
            [-42.73666666666670, 8.69666666666667, 53.20999999999999, 65.80500000000001],
        ),
        "famhistory": (
            [0.01561403508772, 0.00851851851852, -0.01844444444444, -0.05888888888889],
            [-150.33333333333334, -32.33333333333334, 38.46666666666665, 56.16666666666666],
        ),
    }
    for score, (benefit, avoided) in expected.items():
        harm = {"cancerpredmarker": 0.0333, "famhistory": 0.01}[score]
        result = simulate(people, score, thresholds=[0.05, 0.1, 0.25, 0.4], harm=harm)
        assert select_strategy(result, "model") == near(benefit)
        assert 100 * select_strategy(result, "model", "net_reduction") == pytest.approx(avoided, abs=1e-10)
        assert 100 * select_strategy(result, "none", "net_reduction") == pytest.approx([-180, -40, 44, 65], abs=1e-10)
        assert not select_strategy(result, "all", "net_reduction").any()


def test_test_harm_at_a_stated_prevalence(people: dict[str, Any]) -> None:
    # dcurves 1.1.7 (Python): dca(…, harm={"cancerpredmarker": 0.0333}, prevalence=0.05, nper=100).
    options: dict[str, Any] = {"thresholds": [0.1, 0.25], "prevalence": 0.05, "sample_prevalence": "deployment"}
    result = simulate(people, "cancerpredmarker", harm="3.33%", **options)
    assert select_strategy(result, "model") == near([-0.02345626922604, -0.03436312292359])
    avoided = 100 * select_strategy(result, "model", "net_reduction")
    assert avoided == pytest.approx([28.88935769656699, 69.69106312292359], abs=1e-10)
