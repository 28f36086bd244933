"""Benchmarks run and agree with their peers; no test judges a timing."""

import json
from pathlib import Path

import numpy as np
import pytest

import baserate as br
from bench.__main__ import main
from bench._benchmark import Benchmark, MissingToolError, Outcome, Pair, time_pair
from bench._chromium import find_chromium
from bench._registry import BENCHMARKS
from bench._scores import monotone_chain


def test_list_shows_every_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(BENCHMARKS)
    for line, benchmark in zip(lines, BENCHMARKS.values(), strict=True):
        assert f"{benchmark.sense} {benchmark.target:g}" in line
        assert f"{benchmark.work}, beside {benchmark.peer}" in line


def test_unknown_name_lists_the_benchmarks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["auc-1e6", "hull-1e"])
    message = capsys.readouterr().err
    assert stop.value.code == 2
    assert "Did you mean hull-1e6" in message
    assert all(name in message for name in BENCHMARKS)


def test_repeats_must_be_positive() -> None:
    with pytest.raises(SystemExit):
        main(["--repeats", "0"])


@pytest.mark.slow
def test_quick_run_of_every_benchmark_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    assert main(["--quick", "--repeats", "1", "--json", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(BENCHMARKS)
    skipped = {"page-load-1e5", "page-control-1e5"} if find_chromium() is None else set()
    assert {line.split()[0] for line in lines if line.endswith("skipped")} == skipped
    assert all(line.endswith(("quick", "skipped")) for line in lines)
    form = json.loads(file.read_text(encoding="utf-8"))
    assert form["schema_version"] == 1
    assert form["quick"] is True
    assert set(form["machine"]) == {"cpu", "cores", "python", "numpy", "sklearn"}
    assert [row["name"] for row in form["rows"]] == list(BENCHMARKS)
    assert {(row["repeats"], row["reached"]) for row in form["rows"]} == {(1, None)}


def test_benchmark_without_its_tool_is_skipped_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_without_browser(_n: int, _repeats: int) -> Outcome:
        raise MissingToolError("there is no browser; get one")

    monkeypatch.setitem(BENCHMARKS, "help", Benchmark("", "", "<=", 1, run_without_browser))
    assert main(["help", "--json", str(tmp_path / "bench.json")]) == 0
    output = capsys.readouterr()
    assert output.out.split() == ["help", "skipped"]
    assert "help: there is no browser; get one" in output.err
    (row,) = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))["rows"]
    assert (row["ours"], row["reached"], row["note"]) == (None, None, "there is no browser; get one")


def test_disagreeing_results_raise() -> None:
    run = time_pair(lambda _: Pair(lambda: 1.0, lambda: 1.1, lambda ours, peer: abs(ours - peer)))
    with pytest.raises(ArithmeticError, match=r"differ by 0\.1;"):
        run(10, 1)


def test_targets_bound_ratios_from_below_or_above() -> None:
    outcome = Outcome(ours=1.0, peer=4.0)
    faster = Benchmark("", "", ">=", 4, lambda *_: outcome)
    cheaper = Benchmark("", "", "<=", 0.25, lambda *_: outcome)
    assert [each.ratio(outcome) for each in (faster, cheaper)] == [4, 0.25]
    assert [faster.meets_target(ratio) for ratio in (3.9, 4, 5)] == [False, True, True]
    assert [cheaper.meets_target(ratio) for ratio in (0.2, 0.25, 0.3)] == [True, True, False]


@pytest.mark.parametrize("seed", range(5))
def test_monotone_chain_finds_the_vertices_of_the_hull(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # With few distinct scores, many points lie on an edge of the hull.
    curve = br.curve(br.tally(rng.random(300) < 0.4, rng.integers(0, 40, 300)))
    true_positives, false_positives = curve.flagged_mass.tolist()
    assert np.array_equal(monotone_chain(false_positives, true_positives), curve.hull().flagged_mass[::-1].T)
