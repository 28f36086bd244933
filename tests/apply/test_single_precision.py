"""Policies chosen on float32 scores agree on frames and files of the same rows."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import baserate
from baserate import Costs, Counts, Curve, Policy, Tallies, apply, calibration, curve, decide, read, tally
from baserate.fairness import Goal, optimal_policy
from baserate.report._page import page_payload
from tests.report.page.node import Page
from tests.tiers import take_in_tiers

COSTS = Costs(fp=1, fn=3)
SEEDS = range(8)
RULES: dict[str, Callable[[Curve], Policy]] = {
    "cost": partial(decide.cost, costs=COSTS),
    "youden": decide.youden,
    "closest": decide.closest,
    "capacity": partial(decide.capacity, share=0.3),
    "best": partial(decide.best, measure="f1"),
}


def people(seed: int, rows: int = 300) -> pd.DataFrame:
    """Simulate scores of two digits as float32, which rounds them."""
    rng = np.random.default_rng(seed)
    sick = rng.random(rows) < 0.4
    risk = np.round(1 / (1 + np.exp(1 - 1.5 * sick - rng.normal(size=rows))), 2).astype(np.float32)
    return pd.DataFrame({"sick": sick.astype(int), "risk": risk, "site": rng.choice(["a", "b"], rows)})


def row_sources(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """Return frames of every library, and paths of files, with the same rows."""
    frame.to_csv(folder / "pandas.csv", index=False)
    frame.to_parquet(folder / "rows.parquet", index=False)
    pl.from_pandas(frame).write_csv(folder / "polars.csv")
    frame.to_json(folder / "rows.jsonl", orient="records", lines=True, double_precision=15)
    duckdb.from_df(frame).write_csv(str(folder / "duckdb.csv"))
    names = ("pandas.csv", "rows.parquet", "polars.csv", "rows.jsonl", "duckdb.csv")
    doubled = frame.assign(risk=frame["risk"].astype(np.float64))
    return {name: folder / name for name in names} | {
        "frame": frame,
        "polars": pl.from_pandas(frame),
        "double": doubled,
    }


def flagged_rows(policy: Policy, place: Any, folder: Path) -> list[bool]:  # noqa: ANN401  (a file, or a frame)
    """Return whether each row is flagged."""
    query: Any = {"score": "risk"} | ({"group": "site"} if policy.needs_group else {})
    if not isinstance(place, Path):
        return [action == "flag" for action in apply.frame(policy, place, **query)["action"]]
    out = folder / "out.parquet"
    apply.file(policy, place, out, **query)
    result = pd.read_parquet(out)["action"]
    out.unlink()
    return [action == "flag" for action in result]


def cells(counts: Counts[float]) -> list[float]:
    return [counts.tp, counts.fp, counts.fn, counts.tn]


def tallies(frame: pd.DataFrame, **more: Any) -> Tallies:  # noqa: ANN401
    return read.tallies(frame, truth="sick", score="risk", **more)


@pytest.mark.slow
@pytest.mark.parametrize("rule", take_in_tiers(RULES, 2))
def test_flags_agree_in_all_sources(rule: str, tmp_path: Path) -> None:
    moved = 0
    seeds = SEEDS[:2]
    for seed in seeds:
        frame = people(seed)
        original = tallies(frame)
        policy = decide.choose_policy(original, RULES[rule])
        wanted = flagged_rows(policy, frame, tmp_path)
        assert sum(wanted) == policy.cut.counts(curve(original.tally)).flagged
        for name, place in row_sources(frame, tmp_path).items():
            assert flagged_rows(policy, place, tmp_path) == wanted, name
        moved += bool(policy.notes and "float32" in policy.notes[-1])
    assert moved == len(seeds)


def test_exported_code_flags_the_same_rows() -> None:
    for seed in SEEDS:
        frame = people(seed)
        policy = decide.choose_policy(tallies(frame), decide.youden)
        wanted = [action == "flag" for action in apply.frame(policy, frame)["action"]]
        result: dict[str, Any] = {}
        exec(apply.as_python(policy, name="decide"), result)  # noqa: S102  (what we wrote ourselves)
        text = [float(str(each)) for each in frame["risk"]]
        for scores in (frame["risk"].tolist(), frame["risk"], text):
            assert [result["decide"](each) == "flag" for each in scores] == wanted
        sql = apply.as_sql(policy, dialect="duckdb", score="risk")
        expression = sql["action"] if isinstance(sql, dict) else sql
        for kind in ("FLOAT", "DOUBLE", "VARCHAR"):  # a text is read as its digits
            rows = duckdb.from_df(frame).project(f"risk::{kind} AS risk").project(f"{expression} AS action").fetchall()
            assert [row[0] == "flag" for row in rows] == wanted


def test_groups_and_randomized_rows_get_the_same_actions(tmp_path: Path) -> None:
    moved = 0
    for seed in SEEDS:
        frame = people(seed, 600).assign(who=range(600))
        policy = optimal_policy(tallies(frame, group="site"), Goal("equalized-odds", costs=COSTS))
        query: Any = {"score": "risk", "group": "site", "id": "who"}
        frame.to_csv(tmp_path / "rows.csv", index=False)
        wanted = apply.frame(policy, frame, **query)["action"].tolist()
        result = apply.frame(policy, pd.read_csv(tmp_path / "rows.csv"), **query)["action"].tolist()
        assert result == wanted
        moved += any("float32" in note for note in policy.notes)
    assert moved


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", [calibration.logistic, calibration.isotonic, calibration.beta])
def test_thresholds_after_calibration_give_the_same_actions(method: Any, tmp_path: Path) -> None:  # noqa: ANN401
    for seed in SEEDS:
        frame = people(seed)
        original = tallies(frame)
        policy = decide.choose_policy(original, decide.youden, calibrator=method(original.tally))
        frame.to_csv(tmp_path / "rows.csv", index=False)
        assert flagged_rows(policy, tmp_path / "rows.csv", tmp_path) == flagged_rows(policy, frame, tmp_path)


def test_counts_at_a_lowered_threshold_are_those_at_the_score() -> None:
    for seed in SEEDS:
        result = curve(tallies(people(seed)).tally)
        for rule in RULES.values():
            policy = rule(result)
            score = min(result.tally.score[result.tally.score >= policy.threshold])
            assert cells(policy.cut.counts(result)) == cells(result.at(float(score)))
            assert score - policy.threshold < 1e-7


def test_lowered_threshold_is_noted_and_survives_saving() -> None:
    result = curve(tally([1, 0], np.array([0.1, 0.05], dtype=np.float32)))
    policy = decide.youden(result)
    assert policy.threshold == 0.1
    output = "scores have float32 precision: a threshold of 0.10000000149011612 became 0.1, which flags the same rows"
    assert policy.notes == (f"{output} in these data and in a text file with these scores.",)
    assert Policy.from_json(policy.to_json()) == policy


def test_other_policies_are_unchanged() -> None:
    single = float(np.float32(0.1))
    result = curve(tally([1, 0], np.array([0.1, 0.05], dtype=np.float32)))
    assert decide.fixed(result, single).threshold == single  # somebody gave it
    assert decide.bands(result, thresholds=[single]).cut.thresholds == (single,)
    double = decide.youden(curve(tally([1, 0, 0], [single, 0.05, 0.03])))
    assert (double.threshold, double.notes) == (single, ())
    exact = decide.youden(curve(tally([1, 0], np.array([0.5, 0.25], dtype=np.float32))))
    assert (exact.threshold, exact.notes) == (0.5, ())


def test_page_export_flags_the_same_rows(tmp_path: Path) -> None:
    frame = people(3)
    report = baserate.evaluate(frame["sick"].to_numpy(), frame["risk"].to_numpy(), costs=COSTS)
    page = Page("view.js", "export.js")
    loaded = page.keep("loadReport", page_payload(report))
    every = report.sketches[0].threshold.tolist()
    state = {"model": 0, "who": -1, "prevalence": None, "fp": 1, "fn": 3, "parity": "single"}
    for at in every:
        page.ask("policyOf", page.keep("makeView", loaded, {**state, "threshold": at}))
    texts = [each for each in page.answers() if isinstance(each, str)]
    assert len(texts) == len(every) == len(np.unique(frame["risk"]))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    text = pd.read_csv(tmp_path / "rows.csv")["risk"].to_numpy()
    for policy in map(Policy.from_json, texts):
        own, other = (apply.actions(policy, scores).is_flagged for scores in (frame["risk"].to_numpy(), text))
        assert np.array_equal(own, other)
