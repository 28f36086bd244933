"""Measures that depend on stated numbers: costs, a threshold probability, β; no command assumes one silently."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from baserate import (
    CostMatrix,
    Costs,
    Counts,
    OptionError,
    Results,
    class_scores,
    infer,
    measure,
    population,
    read,
    tally,
)
from baserate.measure import multiclass
from baserate.measure._registry import REQUIRED_OPTIONS, Settings, collect_settings
from tests.cli.shell import run, write_people
from tests.cli.test_classes import pets
from tests.schemas import read_results
from tests.tiers import take_in_tiers

ONE = ("--truth", "sick", "--score", "risk", "--positive", "1")
TWO = (*ONE, "--score", "old")
VERBS: dict[str, tuple[tuple[str, ...], str]] = {
    "measure": (("measure", "FILE", *ONE), "--measures"),
    "measure without intervals": (("measure", "FILE", *ONE, "--no-interval"), "--measures"),
    "compare": (("compare", "FILE", *TWO), "--measures"),
    "groups": (("groups", "FILE", *ONE, "--group", "sex", "--n-permutations", "20"), "--measures"),
    "shift": (("shift", "FILE", *ONE, "--prevalence", "0.1"), "--measures"),
    "decide": (("decide", "FILE", *ONE, "--n-bootstrap", "0"), "--measures"),
    "expect": (("expect", "FILE", "--score", "risk", "--assume", "covariate-shift"), "--measures"),
    "population": (("population", "linear", "measure"), ""),
}
RATES = ("specificity", "sensitivity", "precision")
OPTIONS = {
    "costs": ("--fp", "1", "--fn", "20"),
    "at": ("--net-benefit-at", "20%"),
    **{name: (f"--at-{name}", "80%") for name in RATES},
}
OF_COUNTS = [name for name in REQUIRED_OPTIONS if measure.describe(measure.MEASURES[name]).of is Counts]


def command_line(verb: str, name: str, file: Path) -> list[str]:
    parts, flag = VERBS[verb]
    return [str(file) if part == "FILE" else part for part in (*parts, *([flag] * bool(flag)), name)]


def run_json(*command_line: str) -> dict[str, Any]:
    result = run(*command_line, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


@pytest.mark.parametrize("name", REQUIRED_OPTIONS)
@pytest.mark.parametrize("verb", VERBS)
def test_measures_require_their_settings(verb: str, name: str, tmp_path: Path) -> None:
    result = run(*command_line(verb, name, write_people(tmp_path)))
    assert (result.exit_code, result.stdout) == (2, "")
    option = REQUIRED_OPTIONS[name]
    if verb == "decide" and name not in OF_COUNTS:
        assert f"{name} does not depend on the threshold" in result.stderr
        return
    assert f"{name} needs" in result.stderr
    assert OPTIONS[option][0] in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.quick(6)
@pytest.mark.parametrize("name", take_in_tiers(REQUIRED_OPTIONS, {"expected_cost", "net_benefit"}.__contains__))
@pytest.mark.parametrize("verb", VERBS)
def test_settings_are_applied_and_stated(verb: str, name: str, tmp_path: Path) -> None:
    option = REQUIRED_OPTIONS[name]
    if verb == "decide" and name not in OF_COUNTS:
        return  # refused, as tested above
    query = [*command_line(verb, name, write_people(tmp_path)), *OPTIONS[option]]
    output = run_json(*query)
    wanted: dict[str, Any] = {"costs": {"tp": 0, "fp": 1, "fn": 20, "tn": 0}, "at": 0.2}
    assert output["data"]["settings"][name] == {option: wanted.get(option, 0.8)}
    spoken = {"costs": "a false positive 1, a false negative 20", "at": "a threshold probability of 0.2"}
    words = spoken.get(option, f"a {option} of 0.8")
    assert any(words in note for note in output["data"]["notes"])
    shown = run(*query)
    assert words in shown.stderr + shown.stdout


def test_compare_uses_the_stated_costs(tmp_path: Path) -> None:
    file = write_people(tmp_path)
    options = ("--fp", "1", "--fn", "20", "--threshold", "0.5")
    (row,) = run_json(*command_line("compare", "expected_cost", file), *options)["rows"]
    table = read.rows(file, truth="sick", score=["risk", "old"])
    for model, value in (("risk", row["value"]), ("old", row["other_value"])):
        flagged = table.score[model] >= 0.5
        paid = 20 * (table.truth & ~flagged).sum() + (~table.truth & flagged).sum()
        assert value == pytest.approx(paid / len(flagged))


def test_unused_settings_are_refused(tmp_path: Path) -> None:
    file = write_people(tmp_path)
    one = run_json(*command_line("measure", "expected_cost", file), "--fp", "1", "--fn", "3", "--tp", "-2")["rows"][-1]
    cells = {row["measure"]: row["value"] for row in run_json(*command_line("measure", "accuracy", file))["rows"]}
    paid = 3 * cells["fn"] + cells["fp"] - 2 * cells["tp"]
    assert one["value"] == pytest.approx(paid / sum(cells[name] for name in ("tp", "fp", "fn", "tn")))
    for verb in ("measure", "compare", "groups", "shift", "expect", "population"):
        result = run(*command_line(verb, "accuracy", file), "--net-benefit-at", "0.1")
        assert result.exit_code == 2
        assert "none of the measures depends on --net-benefit-at; leave it out." in result.stderr
    result = run(*command_line("decide", "accuracy", file), "--beta", "2")
    assert "no named measure depends on --beta" in result.stderr
    result = run(*command_line("measure", "all", file), "--fp", "1", "--fn", "2")
    assert "--fp is for measures that are named" in result.stderr


def test_beta_defaults_to_1(tmp_path: Path) -> None:
    file = write_people(tmp_path)
    plain, f1, two = (
        run_json(*command_line("measure", name, file), *more)
        for name, more in (("f_beta", ()), ("f1", ()), ("f_beta", ("--beta", "2")))
    )
    assert plain["rows"][-1]["value"] == f1["rows"][-1]["value"]
    assert plain["data"]["settings"] == {"f_beta": {"beta": 1}}
    assert "settings" not in f1["data"]
    assert two["data"]["settings"] == {"f_beta": {"beta": 2}}
    cells = {row["measure"]: row["value"] for row in two["rows"]}
    recalled = 5 * cells["tp"] / (5 * cells["tp"] + 4 * cells["fn"] + cells["fp"])
    assert two["rows"][-1]["value"] == pytest.approx(recalled)


def test_all_measures_assume_no_costs(tmp_path: Path) -> None:
    output = run_json(*command_line("measure", "all", write_people(tmp_path)))
    top = {key: {"k": 10} for key in ("precision_at_k", "recall_at_k", "hits_at_k")}
    betas = {"f_beta": {"beta": 1}, "e_measure": {"beta": 1}}
    assert output["data"]["settings"] == betas | {"generalized_entropy": {"alpha": 2}} | top
    assert any("expected_cost, net_benefit" in note and "are left out" in note for note in output["data"]["notes"])


CHECK = ("--threshold", "0.5", "--require")


def test_requirements_use_the_stated_settings(tmp_path: Path) -> None:
    file = write_people(tmp_path)
    query = ("check", file, *ONE, *CHECK, "expected_cost <= 0.9", "--on", "estimate")
    assert "expected_cost needs the costs of errors" in run(*query).stderr
    assert run(*query, "--fp", "1", "--fn", "1").exit_code == 0
    dear = run(*query, "--fp", "1", "--fn", "20", "--json")
    assert dear.exit_code == 1
    assert json.loads(dear.stdout)["data"]["settings"]["expected_cost"]["costs"]["fn"] == 20
    unused = run("check", file, *ONE, *CHECK, "sensitivity >= 0.5", "--beta", "2")
    assert "none of the measures depends on --beta" in unused.stderr


@pytest.mark.quick(4)
@pytest.mark.parametrize("flag", ["--maximize", "--minimize", "--require"])
@pytest.mark.parametrize("name", OF_COUNTS)
def test_objectives_require_their_settings(flag: str, name: str, tmp_path: Path) -> None:
    text = f"{name} >= 0" if flag == "--require" else name
    query = ("decide", write_people(tmp_path), *ONE, flag, text, "--n-bootstrap", "0")
    result = run(*query)
    assert result.exit_code == 2
    assert f"{name} needs" in result.stderr
    result = run(*query, *OPTIONS[REQUIRED_OPTIONS[name]])
    assert result.exit_code == 0, result.stderr
    assert f"{name} is at" in result.stdout + result.stderr


def test_threshold_is_chosen_by_net_benefit(tmp_path: Path) -> None:
    file = write_people(tmp_path)
    curve = read.tallies(file, truth="sick", score="risk").tally
    for at in (0.05, 0.6):
        output = run_json(
            "decide", str(file), *ONE, "--maximize", "net benefit", "--net-benefit-at", str(at), "--n-bootstrap", "0"
        )
        (policy,) = output["data"]["policies"].values()
        odds = at / (1 - at)
        worth = {
            threshold: (
                curve.mass[0][curve.score >= threshold].sum() - odds * curve.mass[1][curve.score >= threshold].sum()
            )
            for threshold in (float("inf"), *curve.score)
        }
        assert worth[policy["thresholds"][0]] == pytest.approx(max(worth.values()))


@pytest.mark.parametrize("name", [*REQUIRED_OPTIONS, "f_beta"])
def test_simulated_sizes_use_the_stated_settings(name: str) -> None:
    threshold = None if name in REQUIRED_OPTIONS and name not in OF_COUNTS else 0.5
    query = [*("population", "binormal", "size", name, "--half-width", "0.2", "--n-simulations", "400")]
    query += ["--threshold", "0.5"] if threshold else []
    stated = OPTIONS[REQUIRED_OPTIONS[name]] if name in REQUIRED_OPTIONS else ("--beta", "2")
    if name in REQUIRED_OPTIONS:
        assert f"{name} needs" in run(*query).stderr
    output = run_json(*query, *stated)
    function = {
        "costs": partial(measure.expected_cost, costs=Costs(fp=1, fn=20)),
        "at": partial(measure.find_measure(name), at=0.2),
        **{option: partial(measure.find_measure(name), **{option: 0.8}) for option in RATES},
    }.get(REQUIRED_OPTIONS.get(name, ""), partial(measure.f_beta, beta=2))
    wanted = infer.sample_size_by_simulation(
        population.binormal(), function, 0.2, threshold=threshold, n_simulations=400
    )
    assert output["rows"][0]["rows"] == wanted.rows
    assert list(output["data"]["settings"]) == [name]


@pytest.mark.parametrize("name", REQUIRED_OPTIONS)
def test_suggested_command_states_the_settings(name: str) -> None:
    output = run("size", name, "--expect", "0.1", "--half-width", "0.1").stderr
    result = run(*output.split("`")[1].split()[1:], "--json", "-q")
    assert result.exit_code == 0, result.stderr


def test_figures_require_settings(tmp_path: Path) -> None:
    file = write_people(tmp_path)
    for verb in ("thresholds", "prevalence", "groups"):
        query = ["draw", verb, str(file), *ONE, "--measures", "net_benefit", "-o", str(tmp_path / "figure.svg")]
        query += ["--group", "sex"] * (verb == "groups")
        assert "net_benefit needs a threshold probability" in run(*query).stderr
        result = run(*query, "--net-benefit-at", "0.2")
        assert result.exit_code == 0, result.stderr


def test_several_classes_take_costs_from_a_file(tmp_path: Path) -> None:
    file = pets(tmp_path)
    query = ("measure", file, "--truth", "is", "--predicted", "called", "--measures", "expected_cost")
    result = run(*query)
    assert result.exit_code == 2
    assert "expected_cost needs a cost matrix; give it, with truth in rows: --costs costs.csv" in result.stderr
    result = run(*query, "--fp", "1", "--fn", "3")
    assert "is for two classes; of several, name a file" in result.stderr


ROWS = read.rows(
    {"y": [1, 0, 1, 0, 1, 0], "new": [0.9, 0.2, 0.7, 0.6, 0.4, 0.1], "old": [0.8, 0.6, 0.4, 0.7, 0.3, 0.2]},
    truth="y",
    score=["new", "old"],
)


def test_library_compares_at_stated_costs() -> None:
    costs = Costs(fp=1, fn=20)
    (one,) = infer.compare(ROWS, measure="expected_cost", costs=costs)
    (other,) = infer.compare(ROWS, measure=partial(measure.expected_cost, costs=costs))
    assert one == other
    assert one.values == pytest.approx(((20 + 1) / 6, (2 * 20 + 2) / 6))
    with pytest.raises(OptionError, match=r"expected_cost needs the costs of errors; give costs=Costs\(fp=…, fn=…\)"):
        infer.compare(ROWS, measure="expected_cost")
    with pytest.raises(
        OptionError, match=r"net_benefit needs a threshold probability; give partial\(measure.net_benefit"
    ):
        infer.compare(ROWS, measure=["auc", "net_benefit"])
    with pytest.raises(OptionError, match="costs= has no effect on these measures"):
        infer.compare(ROWS, costs=costs)
    infer.compare(ROWS, measure=partial(measure.net_benefit, at=0.1))


def test_library_compares_samples_and_classes_at_stated_costs() -> None:
    one, other = tally([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.6]), tally([1, 0, 1, 0], [0.9, 0.2, 0.7, 0.1])
    with pytest.raises(OptionError, match="expected_cost needs the costs of errors"):
        infer.compare_unpaired(one, other, measure="expected_cost", threshold=0.5)
    found = infer.compare_unpaired(one, other, measure="expected_cost", threshold=0.5, costs=Costs(fp=1, fn=7))
    assert found.values == (2, 0)
    a = class_scores(list("aabbcc"), [[3, 2, 1], [1, 3, 2], [1, 3, 2], [1, 3, 2], [1, 2, 3], [3, 1, 2]])
    b = class_scores(list("aabbcc"), [[3, 2, 1], [3, 1, 2], [1, 3, 2], [1, 3, 2], [1, 2, 3], [1, 2, 3]])
    with pytest.raises(OptionError, match="expected_cost requires costs of errors"):
        infer.compare_classes(a, b, measure="expected_cost")
    costs = CostMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]], list("abc"))
    found = infer.compare_classes(a, b, measure=partial(multiclass.expected_cost, costs=costs))
    assert found.values[0] == pytest.approx((1 + 2) / 6)


def test_summaries_of_the_library_state_settings() -> None:
    results = infer.summary(ROWS.tallies(), measures=["expected_cost"], fp=1, fn=3)
    assert isinstance(results, Results)
    assert results.data["settings"] == {"expected_cost": {"costs": {"tp": 0, "fp": 1, "fn": 3, "tn": 0}}}
    measures: list[Any] = [partial(measure.net_benefit, at=0.5), "auc"]
    several = (each for each in measures)  # read once
    assert measure.summary(ROWS.tallies(), measures=several).data["settings"] == {"net_benefit": {"at": 0.5}}
    assert "settings" not in measure.summary(ROWS.tallies()).data


def test_settings_are_bound_once() -> None:
    stated = Settings(costs=Costs(fn=3), at=0.1, beta=2)
    own = partial(measure.net_benefit, at=0.3)
    assert stated.apply(own) is own
    assert stated.apply(measure.auc) is measure.auc
    assert stated.apply(measure.f_beta)(Counts(tp=3, fp=1, fn=1, tn=5)) == pytest.approx(0.75)
    assert stated.idle([measure.f_beta]) == ["costs", "at"]
    assert collect_settings([stated.apply(measure.f_beta), own]) == {"f_beta": {"beta": 2}, "net_benefit": {"at": 0.3}}


@pytest.mark.parametrize(("flag", "measure"), [("--beta", "f_beta"), ("--entropy-alpha", "generalized_entropy")])
@pytest.mark.parametrize("text", ["nan", "inf", "1,2", "x"])
def test_numbers_of_measures_are_no_costs(flag: str, measure: str, text: str, tmp_path: Path) -> None:
    result = run(*command_line("measure", measure, write_people(tmp_path)), flag, text)
    assert result.exit_code == 2
    assert f"'{text}' is not a number from -1e+15 to 1e+15" in result.stderr
