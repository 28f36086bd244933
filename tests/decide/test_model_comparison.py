"""`baserate.compare`: models where they will be used, at planned thresholds, stated costs and a stated prevalence."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import baserate
from baserate import Costs, OptionError, Rows, UnknownNameError, infer, measure
from baserate.decide import DEFAULT_MEASURES
from tests.cli.shell import run

Array = npt.NDArray[Any]


def sample(size: int = 200, seed: int = 3) -> tuple[Array, dict[str, Array]]:
    """Labels, and probabilities of two models."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(size) < 0.4).astype(int)
    raw = {"lr": 1.5 * truth + rng.normal(size=size) - 1, "rf": 0.9 * truth + rng.normal(size=size) - 1}
    return truth, {name: np.round(1 / (1 + np.exp(-each)), 3) for name, each in raw.items()}


TRUTH, SCORES = sample()
RAW = {"lr": 10 * SCORES["lr"], "rf": SCORES["rf"]}


def row(results: baserate.Results, name: str) -> dict[str, Any]:
    return next(each for each in results.rows() if each["measure"] == name)


def test_the_usual_measures_come_in_their_order() -> None:
    results = baserate.compare(TRUTH, SCORES, prevalence=0.05, fp=1, fn=5)
    assert [each["measure"] for each in results.rows()] == list(DEFAULT_MEASURES)
    assert {(each["model"], each["other"]) for each in results.rows()} == {("lr", "rf")}
    adjusted = [each["p_adjusted"] for each in results.rows()]
    assert adjusted == pytest.approx(infer.holm([each["p"] for each in results.rows()]))


@pytest.mark.parametrize("prevalence", [None, 0.05, "30%"])
def test_thresholds_are_those_of_evaluate(prevalence: float | str | None) -> None:
    results = baserate.compare(TRUTH, SCORES, prevalence=prevalence, fp=1, fn=5)
    report = baserate.evaluate(TRUTH, SCORES, prevalence=prevalence, fp=1, fn=5)
    planned = {model: policy.flags_from for model, policy in report.policies.items()}
    assert results.data["thresholds"] == planned
    assert (row(results, "npv")["threshold"], row(results, "npv")["other_threshold"]) == tuple(planned.values())
    assert row(results, "auc")["threshold"] is None


def test_costs_are_those_of_the_cheapest_thresholds_by_hand() -> None:
    results = baserate.compare(TRUTH, SCORES, prevalence=0.05, fp=1, fn=5)
    least = {}
    for name, score in SCORES.items():
        costs = []
        for at in [np.inf, *np.unique(score)]:
            missed, alarms = np.mean(score[TRUTH == 1] < at), np.mean(score[TRUTH == 0] >= at)
            costs.append(0.05 * 5 * missed + 0.95 * alarms)
        least[name] = min(costs)
    cost = row(results, "expected_cost")
    assert (cost["value"], cost["other_value"]) == pytest.approx((least["lr"], least["rf"]), rel=1e-12)
    benefit = row(results, "net_benefit")
    assert (benefit["value"], benefit["other_value"]) == pytest.approx(
        tuple(0.05 - each / 5 for each in least.values()), rel=1e-12
    )
    assert benefit["difference"] == pytest.approx(-cost["difference"] / 5)


def test_numbers_are_those_of_infer_at_the_same_thresholds() -> None:
    results = baserate.compare(TRUTH, SCORES, prevalence=0.05, fp=1, fn=5, seed=4)
    names = ["precision", "sensitivity", "average_precision", "brier"]
    expected = infer.compare(
        TRUTH, SCORES, measure=names, threshold=results.data["thresholds"], prevalence=0.05, seed=4
    )
    for each in expected:
        one = row(results, each.measure)
        numbers = [one[name] for name in ("value", "other_value", "difference", "low", "high", "p")]
        d = each.difference
        assert numbers == [*each.values, d.value, d.low, d.high, each.p]


def test_predictions_come_in_any_form(tmp_path: Path) -> None:
    expected = baserate.compare(TRUTH, SCORES, prevalence=0.05, fp=1, fn=5).rows()
    rows = Rows(TRUTH.astype(bool), SCORES)
    assert baserate.compare(rows, prevalence="5%", costs={"fp": 1, "fn": 5}).rows() == expected
    table = {"y": TRUTH, **SCORES}
    options: dict[str, Any] = {"prevalence": 0.05, "costs": Costs(fp=1, fn=5)}
    assert baserate.compare(table, truth="y", score=["lr", "rf"], **options).rows() == expected
    file = tmp_path / "p.csv"
    file.write_text(
        "y,lr,rf\n" + "".join(f"{y},{a},{b}\n" for y, a, b in zip(TRUTH, *SCORES.values(), strict=True)),
        encoding="utf-8",
    )
    assert baserate.compare(str(file), truth="y", score=["lr", "rf"], **options).rows() == expected


def test_the_data_state_the_setting() -> None:
    data = baserate.compare(TRUTH, SCORES, prevalence=0.05, fp=1, fn=5).data
    assert data["deployment"] == {"prevalence": 0.05}
    assert data["costs"] == {"tp": 0, "fp": 1, "fn": 5, "tn": 0}
    assert data["prevalence"] == pytest.approx(TRUTH.mean())
    notes = " ".join(data["notes"])
    assert "cheapest one on these rows, which favors every model" in notes
    assert "net_benefit is at a threshold probability of 0.166667." in notes
    assert "5%, which is known" in notes


def test_without_costs_nothing_is_assumed_about_them() -> None:
    results = baserate.compare(TRUTH, SCORES, prevalence=0.05)
    assert [each["measure"] for each in results.rows()] == list(DEFAULT_MEASURES[2:])
    assert results.data["thresholds"] == {"lr": 0.5, "rf": 0.5}
    assert results.data["costs"] is None
    assert "the costs of errors are not stated" in results.data["notes"][0]
    assert "scores of 0.5 and above are flagged" in results.data["notes"][-1]
    for name in ("expected_cost", "net_benefit"):
        with pytest.raises(OptionError, match=rf"{name} needs the costs of errors.*\. Give fp=1, fn=5"):
            baserate.compare(TRUTH, SCORES, measures=["auc", name])


def test_scores_that_are_no_probabilities_need_costs_or_thresholds() -> None:
    results = baserate.compare(TRUTH, RAW)
    assert [each["measure"] for each in results.rows()] == ["auc", "average_precision"]
    assert any("scores of lr are not probabilities" in note for note in results.data["notes"])
    costly = baserate.compare(TRUTH, RAW, fp=1, fn=5)
    assert [each["measure"] for each in costly.rows()] == list(DEFAULT_MEASURES[:-1])
    stated = baserate.compare(TRUTH, RAW, threshold={"lr": 5, "rf": 0.5})
    assert [each["measure"] for each in stated.rows()] == list(DEFAULT_MEASURES[2:-1])
    plain = baserate.compare(TRUTH, SCORES, threshold=0.5)
    assert row(stated, "precision")["value"] == row(plain, "precision")["value"]


def test_stated_thresholds_are_not_chosen() -> None:
    results = baserate.compare(TRUTH, SCORES, threshold=0.3, fp=1, fn=5)
    assert results.data["thresholds"] == {"lr": 0.3, "rf": 0.3}
    assert not any("favors" in note for note in results.data["notes"])
    assert row(results, "expected_cost")["value"] == pytest.approx(
        measure.expected_cost(TRUTH, SCORES["lr"], threshold=0.3, costs=Costs(fp=1, fn=5))
    )


def test_net_benefit_needs_errors_that_cost_something() -> None:
    results = baserate.compare(TRUTH, SCORES, costs={"fp": 1, "fn": 0})
    assert "net_benefit" not in {each["measure"] for each in results.rows()}
    assert any(note.startswith("Net benefit is left out") for note in results.data["notes"])
    with pytest.raises(OptionError, match="net_benefit needs the costs"):
        baserate.compare(TRUTH, SCORES, costs={"fp": 1, "fn": 0}, measures="net_benefit")


def test_costs_of_all_outcomes_give_the_threshold_probability() -> None:
    assert Costs(fp=3, tn=1, fn=9, tp=1).threshold_probability == pytest.approx(2 / 10)
    assert np.isnan(Costs(fp=1, tn=1, fn=9).threshold_probability)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (SCORES["lr"], "there is one model, 'score'; expected two or more. Give scores by name"),
        ({"lr": SCORES["lr"]}, 'such as {"a": p1, "b": p2}'),
    ],
)
def test_one_model_is_refused_with_a_remedy(score: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(OptionError, match=message):
        baserate.compare(TRUTH, score)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": "auc", "fp": 1, "fn": 5}, "costs have no use: no decision enters auc"),
        ({"measures": "auc", "threshold": 0.5}, "thresholds have no use"),
        ({"margin": 0.1, "alternative": "better"}, "the usual measures have different scales"),
        ({"prevalence": {"a": 0.1}}, "expected a prevalence"),
        ({"prevalence": "often"}, "prevalence is 'often'"),
        ({"fp": 1}, "costs have no fn"),
        ({"measure": "auc"}, "Did you mean 'measures'"),
        ({"measures": "accuracy", "method": "mcnemar", "prevalence": 0.05}, "a stated prevalence reweights them"),
        ({"models": ["lr"]}, "there is one model, 'lr'"),
        ({"measures": []}, "there is no measure to compare by. Name one"),
        ({"measures": "npv", "threshold": 0.5, "fp": 1, "fn": 5}, "thresholds are stated, and no measure depends on"),
    ],
)
def test_impossible_requests_raise(options: dict[str, Any], message: str) -> None:
    with pytest.raises((OptionError, UnknownNameError), match=message):
        baserate.compare(TRUTH, SCORES, **options)


def test_three_models_are_compared_in_pairs() -> None:
    scores = {**SCORES, "old": np.clip(SCORES["rf"] * 0.8, 0, 1)}
    results = baserate.compare(TRUTH, scores, measures=["auc", "npv"], fp=1, fn=5)
    pairs = [("lr", "rf"), ("lr", "old"), ("rf", "old")]
    assert [(each["model"], each["other"]) for each in results.rows()] == pairs * 2
    assert len(baserate.compare(TRUTH, scores, measures="npv", models=["lr", "old"])) == 1
    with pytest.raises(UnknownNameError, match="no model 'new'"):
        baserate.compare(TRUTH, scores, models=["lr", "new"])


def test_groups_share_thresholds_and_prevalence() -> None:
    site = np.where(np.arange(len(TRUTH)) % 3, "north", "south")
    results = baserate.compare(TRUTH, SCORES, group=site, measures=["npv", "prevalence"], prevalence=0.05, fp=1, fn=5)
    rows = results.rows()
    assert [each["group"] for each in rows[::2]] == [None, {"group": "north"}, {"group": "south"}]
    assert len({each["threshold"] for each in rows}) == 1
    assert [each["value"] for each in rows[1::2]] == pytest.approx([0.05] * 3)


def test_labels_are_compared_by_decisions_alone() -> None:
    table = {"y": TRUTH, **SCORES, "says": (SCORES["lr"] > 0.4).astype(int)}
    results = baserate.compare(table, truth="y", score=["lr", "rf"], predicted="says", measures=["auc", "npv"])
    assert [(each["measure"], each["other"]) for each in results.rows()] == [
        *(("auc", "rf"), ("npv", "rf")),
        *(("npv", "says"), ("npv", "says")),
    ]
    pair = baserate.compare(table, truth="y", score="lr", predicted="says", fp=1, fn=5, prevalence=0.05)
    assert [each["measure"] for each in pair.rows()] == list(DEFAULT_MEASURES[:6])
    assert "says contains labels" in " ".join(pair.data["notes"])
    assert row(pair, "npv")["other_threshold"] is None


def test_a_measure_of_a_comparison_is_its_difference() -> None:
    results = baserate.compare(TRUTH, SCORES, prevalence=0.05, fp=1, fn=5)
    for name in ("npv", "auc", "brier"):
        wanted, number = row(results, name), results[name]
        assert (number.value, number.low, number.high) == (wanted["difference"], wanted["low"], wanted["high"])
        assert number.value == wanted["value"] - wanted["other_value"]


def test_printed_comparisons_are_the_table_of_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = [",".join(map(str, each)) for each in zip(TRUTH, SCORES["lr"], SCORES["rf"], strict=True)]
    path = tmp_path / "models.csv"
    path.write_text("\n".join(["y,lr,rf", *lines]), encoding="utf-8")
    printed = str(baserate.compare(TRUTH, SCORES, prevalence=0.05, fp=1, fn=5)).splitlines()
    arguments = ("--truth", "y", "--score", "lr", "--score", "rf", "--prevalence", "5%", "--fp", "1", "--fn", "5")
    shell = run("compare", path, *arguments).stdout.splitlines()
    start = next(at for at, line in enumerate(shell) if line.lstrip().startswith("lr "))
    # Below the table, the shell and Python name different ways to the explanations.
    table = shell[start : shell.index("", start + 1)] if "" in shell[start + 1 :] else shell[start:]
    assert len(table) > 5
    assert printed[printed.index(table[0]) :][: len(table)] == table
