"""Benchmarks run, agree with their rivals and say so; no timing is judged here."""

import json
from pathlib import Path

import numpy as np
import pytest

import baserate as br
from bench.__main__ import main
from bench._chromium import where
from bench._row import AbsentError, Duel, Outcome, Row, duel
from bench._rows import ROWS
from bench._scores import chain


def test_list_tells_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(ROWS)
    for line, row in zip(lines, ROWS.values(), strict=True):
        assert f"{row.sense} {row.target:g}" in line
        assert f"{row.work}, beside {row.rival}" in line


def test_unknown_name_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["auc-1e6", "hull-1e"])
    message = capsys.readouterr().err
    assert stop.value.code == 2
    assert "Did you mean hull-1e6" in message
    assert all(name in message for name in ROWS)


def test_repeats_are_counted_from_one() -> None:
    with pytest.raises(SystemExit):
        main(["--repeats", "0"])


@pytest.mark.slow
def test_quick_runs_every_row_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    assert main(["--quick", "--repeats", "1", "--json", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(ROWS)
    needy = {"page-ready-1e5", "page-move-1e5"} if where() is None else set()
    assert {line.split()[0] for line in lines if line.endswith("skipped")} == needy
    assert all(line.endswith(("quick", "skipped")) for line in lines)
    form = json.loads(file.read_text(encoding="utf-8"))
    assert form["schema_version"] == 1
    assert form["quick"] is True
    assert set(form["machine"]) == {"cpu", "cores", "python", "numpy", "sklearn"}
    assert [row["name"] for row in form["rows"]] == list(ROWS)
    assert {(row["repeats"], row["reached"]) for row in form["rows"]} == {(1, None)}


def test_a_row_without_what_it_needs_is_skipped_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lame(_n: int, _repeats: int) -> Outcome:
        raise AbsentError("there is no browser; get one")

    monkeypatch.setitem(ROWS, "help", Row("", "", "<=", 1, lame))
    assert main(["help", "--json", str(tmp_path / "bench.json")]) == 0
    output = capsys.readouterr()
    assert output.out.split() == ["help", "skipped"]
    assert "help: there is no browser; get one" in output.err
    (row,) = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))["rows"]
    assert (row["ours"], row["reached"], row["note"]) == (None, None, "there is no browser; get one")


def test_sides_that_disagree_are_not_timed() -> None:
    run = duel(lambda _: Duel(lambda: 1.0, lambda: 1.1, lambda ours, rival: abs(ours - rival)))
    with pytest.raises(ArithmeticError, match=r"0\.1 apart"):
        run(10, 1)


def test_targets_are_met_from_the_right_side() -> None:
    outcome = Outcome(ours=1.0, rival=4.0)
    faster = Row("", "", ">=", 4, lambda *_: outcome)
    cheaper = Row("", "", "<=", 0.25, lambda *_: outcome)
    assert [row.ratio(outcome) for row in (faster, cheaper)] == [4, 0.25]
    assert [faster.reached(ratio) for ratio in (3.9, 4, 5)] == [False, True, True]
    assert [cheaper.reached(ratio) for ratio in (0.2, 0.25, 0.3)] == [True, True, False]


@pytest.mark.parametrize("seed", range(5))
def test_chain_finds_the_vertices_of_the_hull(seed: int) -> None:
    draw = np.random.default_rng(seed)
    # Few distinct scores make many points lie within an edge.
    c = br.curve(br.tally(draw.random(300) < 0.4, draw.integers(0, 40, 300)))
    true, false = c.flagged_mass.tolist()
    assert np.array_equal(chain(false, true), c.hull().flagged_mass[::-1].T)
