"""`baserate costs`: snapshots, JSON and CSV, messages, and refused options."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import Costs, Counts, measure, shift
from baserate.cli._costs import read_table
from baserate.text._tables import display_width
from tests.cli.shell import fits_terminal, matches_snapshot, run, run_program, write_people
from tests.schemas import read_results
from tests.tiers import take_in_tiers

ONE = ("--truth", "sick", "--score", "risk")
M1, M2 = ("--table", "M1=150,40,60,250"), ("--table", "M2=250,45,5,200")
FOUND_PAYS = ("--tp", "-1", "--fn", "100", "--fp", "1")
INFECTION = ("--tp", "27000", "--fp", "2000", "--fn", "37000")
INFECTED = ("--table", "A=150,170,50,630", "--table", "B=150,20,200,630")

TYPED: dict[str, tuple[str, ...]] = {
    "costs": (*M1, *M2, *FOUND_PAYS, "--prevalence", "0.38"),
    "costs-one": (*M1, *FOUND_PAYS, "--no-interval"),
    "costs-md": (*M1, *M2, *FOUND_PAYS, "--prevalence", "0.38", "--format", "md"),
    "costs-per": (*INFECTED, *INFECTION, "--prevalence", "32%", "--per", "1000", "--level", "0.9"),
    "costs-empty": ("--table", "none=0,0,0,0", "--table", "some=1,2,3,4", "--fp", "1", "--fn", "5"),
    "costs-iso": ("--iso-cost", "0.1,0.6", "--iso-cost", "0.2,0.8", "--fp", "10", "--fn", "1", "--prevalence", "0.5"),
    "costs-both": (*M1, *FOUND_PAYS, "--prevalence", "0.1", "--iso-cost", "0,1"),
}
READ: dict[str, tuple[str, ...]] = {
    "costs-models": (*ONE, "--score", "old", "--threshold", "0.7,0.5", "--fp", "1", "--fn", "3"),
    "costs-labels": (
        "--truth",
        "sick",
        "--predicted",
        "says",
        "--weight",
        "w",
        "--fp",
        "1",
        "--fn",
        "3",
        "--prevalence",
        "0.1",
    ),
}

PETS = {"a.csv": ",cat,dog\ncat,8,2\ndog,3,7\n", "b.csv": ",dog,cat\ndog,17,3\ncat,0,10\n"}
PRICES = ",cat,dog,eel\ncat,0,1,2\ndog,5,0,1\neel,1,1,0\n"
CROSSED = ("--cross-table", "rows", "--costs")


def run_json(*typed: object, given: str | None = None) -> dict[str, Any]:
    result = run("costs", *typed, "--json", "-q", given=given)
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


def pets(folder: Path) -> list[Path]:
    """Write cross-tables, and what their decisions cost behind them."""
    for name, text in {**PETS, "prices.csv": PRICES}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in (*PETS, "prices.csv")]


@pytest.mark.parametrize("name", TYPED)
def test_snapshot_of_typed_tables(name: str) -> None:
    result = run("costs", *TYPED[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


@pytest.mark.parametrize("name", READ)
def test_snapshot_of_files(name: str, tmp_path: Path) -> None:
    result = run("costs", write_people(tmp_path), *READ[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


def test_snapshot_of_several_classes(tmp_path: Path) -> None:
    *tables, prices = pets(tmp_path)
    result = run("costs", *tables, *CROSSED, prices, "--prevalence", "cat=0.2,dog=0.8", "-q")
    assert matches_snapshot(result.stdout, "costs-classes")


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("costs", "--help").stdout, "help-costs")


@pytest.mark.parametrize("name", [name for name in TYPED if name != "costs-md"])
def test_pages_fit_the_terminal(name: str) -> None:
    assert fits_terminal("costs", *TYPED[name], widths=(50, 80, 100, 140))


def costs_of(rows: Sequence[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in ("model", *names)) for row in rows]


def test_lowest_total_may_not_be_the_cheapest_classifier() -> None:
    # By the totals of samples with 38 and 59% positives, M1 seems to be the cheaper.
    output = run_json(*M1, *M2, *FOUND_PAYS, "--prevalence", "0.38")
    assert costs_of(output["rows"], "total", "value", "cheapest", "measured", "prevalence") == [
        ("M1", 3910, pytest.approx(7.82), False, 0.38, 0.38),
        ("M2", 4255, pytest.approx(5.49, abs=5e-3), True, 0.59, 0.38),
    ]
    assert costs_of(output["rows"], "tp", "fn", "fp", "tn") == [("M1", 150, 40, 60, 250), ("M2", 250, 45, 5, 200)]
    assert all(row["low"] < row["value"] < row["high"] for row in output["rows"])
    note = "M1 has the lowest total in the samples, but per case M2 is the cheapest."
    assert output["data"]["notes"] == [note]
    assert run("costs", *M1, *M2, *FOUND_PAYS, "--prevalence", "0.38").stderr == f"note: {note}\n"
    refused = run("costs", *M1, *M2, *FOUND_PAYS)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "measured at different prevalences (M1: 0.38; M2: 0.59)" in refused.stderr
    assert "state the deployment prevalence with --prevalence;" in refused.stderr


def test_published_example_of_infections() -> None:
    refused = run("costs", *INFECTED, *INFECTION)
    assert refused.exit_code == 2
    assert "(A: 0.32; B: 0.17)" in refused.stderr
    output = run_json(*INFECTED, *INFECTION, "--prevalence", "0.17", "--per", "1000")
    assert [row["total"] for row in output["rows"]] == [10_440_000, 5_190_000]
    assert output["rows"][1]["value"] == pytest.approx(5_190_000)  # its own thousand cases
    assert output["data"]["per"] == 1000


def test_costs_of_five_people_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "five.csv"
    path.write_text("ill,says\n0,0\n0,1\n0,0\n1,1\n1,0\n", encoding="utf-8")
    output = run_json(path, "--truth", "ill", "--predicted", "says", "--fn", "100", "--fp", "10")
    assert costs_of(output["rows"], "tp", "fn", "fp", "tn", "total", "value", "threshold") == [
        ("five", 1, 1, 1, 2, 110, 22, None)
    ]
    assert output["data"]["positive"] == 1


def test_cheapest_classifier_may_be_less_accurate() -> None:
    output = run_json("--table", "Φ=40,10,10,40", "--table", "Ψ=30,20,5,45", "--fn", "1", "--fp", "10")
    assert costs_of(output["rows"], "value", "cheapest") == [("Φ", 1.1, False), ("Ψ", 0.7, True)]
    assert output["data"]["notes"] == []


@given(
    st.lists(st.integers(1, 10**6), min_size=4, max_size=4),
    st.permutations(["tp", "fn", "fp", "tn"]),
    st.sampled_from([str.lower, str.upper]),
)
def test_cells_are_named_in_any_order(cells: list[int], order: list[str], spelled: Callable[[str], str]) -> None:
    by_name = dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True))
    text = ", ".join(f"{spelled(name)}: {by_name[name]}" for name in order)
    assert read_table(f"a=b={text}") == read_table(f"a=b={','.join(map(str, cells))}")
    assert (read_table(f"a=b={text}").name, read_table(f"a=b={text}").cells) == ("a=b", tuple(cells))


@pytest.mark.parametrize("prevalence", take_in_tiers(["0.05", "40%", "0.9"]))
@pytest.mark.parametrize("threshold", [(), ("--threshold", "0.64"), ("--threshold", "0.3,0.4")])
def test_costs_of_files_equal_those_of_their_tables(
    prevalence: str, threshold: tuple[str, ...], tmp_path: Path
) -> None:
    """Hypothetical tables at the stated prevalence, made by hand from rates."""
    path = write_people(tmp_path)
    output = run_json(
        path, *ONE, "--score", "old", *threshold, "--fp", "1", "--fn", "7", "--tn", "0.5", "--prevalence", prevalence
    )
    for row in output["rows"]:
        counts = Counts(**{name: row[name] for name in ("tp", "fn", "fp", "tn")})
        sensitivity, fpr = measure.sensitivity(counts), measure.fpr(counts)
        there = row["prevalence"]
        by_hand = there * (1 - sensitivity) * 7 + (1 - there) * (fpr + 0.5 * (1 - fpr))
        assert row["value"] == pytest.approx(by_hand)
        assert row["total"] == pytest.approx(Costs(fn=7, tn=0.5).total(counts))
    cuts = {(): [0.5, 0.5], ("--threshold", "0.64"): [0.64, 0.64]}
    assert costs_of(output["rows"], "threshold") == [
        (model, cut) for model, cut in zip(("risk", "old"), cuts.get(threshold, [0.3, 0.4]), strict=True)
    ]


def test_classifiers_are_named_by_their_files(tmp_path: Path) -> None:
    first, last = tmp_path / "old.csv", tmp_path / "new.csv"
    first.write_text("sick,p,q\n1,0.9,0.1\n0,0.1,0.9\n", encoding="utf-8")
    last.write_text("sick,p,q\n1,0.2,0.7\n0,0.6,0.2\n", encoding="utf-8")
    typed = (first, last, "--truth", "sick", "--score", "p", "--fp", "1", "--fn", "3")
    assert costs_of(run_json(*typed)["rows"], "total") == [("old", 0), ("new", 4)]
    both = run_json(*typed, "--score", "q", "--table", "M=1,1,1,1")["rows"]
    assert costs_of(both, "total") == [("M", 4), ("old p", 0), ("old q", 4), ("new p", 4), ("new q", 0)]
    (tmp_path / "sub").mkdir()
    again = tmp_path / "sub" / "old.csv"
    again.write_text(first.read_text(encoding="utf-8"), encoding="utf-8")
    names = [row["model"] for row in run_json(first, again, *typed[2:])["rows"]]
    assert names == [str(first), str(again)]
    assert costs_of(run_json("-", *typed[2:], given="sick,p\n1,0.9\n0,0.9\n")["rows"], "total") == [("stdin", 1)]


def test_json_describes_the_files(tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    path.write_text("y,p\n1,0.7\n0,\n,0.3\n0,0.2\n", encoding="utf-8")
    typed = ("costs", path, "--truth", "y", "--score", "p", "--fp", "1", "--fn", "2", "--missing", "drop")
    shown = run(*typed, "--json")
    assert shown.stderr.splitlines() == [
        "1 classifier · positive: y = 1 · costs: TP 0, FN 2, FP 1, TN 0",
        "positive = 1, inferred; name it with --positive.",
        "note: holes: 2 of 4 rows dropped (y: 1 missing; p: 1 missing).",
    ]
    assert read_results(shown.stdout)["data"]["samples"]["holes"]["refused"] == 2
    assert run(*typed, "-q").stderr == ""
    assert "inferred" not in run(*typed, "--positive", "1").stderr


def test_notes_of_a_file_are_given_once(tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    path.write_text("y,p,q\n1,0.7,0.1\n0,0.2,0.9\n,0.3,0.4\n", encoding="utf-8")
    output = run_json(
        path, "--truth", "y", "--score", "p", "--score", "q", "--fp", "1", "--fn", "2", "--missing", "drop"
    )
    assert output["data"]["notes"] == ["p, q: 1 of 3 rows dropped (y: 1 missing)."]


def test_large_costs_are_short() -> None:
    typed = ("--table", "M=1,1,1,2", "--fp", "1", "--fn", "1e15")
    assert "1.000e+15" in run("costs", *typed).stdout
    assert max(map(display_width, run("costs", *typed).stdout.splitlines())) <= 100


def test_empty_cross_table_is_accepted(tmp_path: Path) -> None:
    *tables, prices = pets(tmp_path)
    (tmp_path / "nobody.csv").write_text(",cat,dog\ncat,0,0\ndog,0,0\n", encoding="utf-8")
    shown = run("costs", tables[0], tmp_path / "nobody.csv", *CROSSED, prices, "-q")
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[4].split() == ["nobody", "–¹", "–¹", "0", "–¹"]
    assert "¹ there are no rows" in shown.stdout


def test_iso_cost_lines() -> None:
    output = run_json("--iso-cost", "0.1,0.6", "--fp", "10", "--fn", "1", "--prevalence", "0.5", "--per", "100")
    (line,) = output["rows"]
    assert [line[name] for name in ("measure", "slope", "intercept", "value")] == [
        "iso_cost",
        10,
        pytest.approx(-0.4),
        pytest.approx(70),
    ]
    # A classifier that lies on the line costs as much.
    beside = run_json(
        "--table", "M=60,40,10,90", "--iso-cost", "0.1,0.6", "--fp", "10", "--fn", "1", "--prevalence", "0.5"
    )["rows"]
    assert [row["value"] for row in beside] == [pytest.approx(0.7)] * 2


def test_multiclass_costs_equal_those_computed_by_hand(tmp_path: Path) -> None:
    *tables, prices = pets(tmp_path)
    shares = np.array([0.2, 0.8])
    output = run_json(*tables, *CROSSED, prices, "--prevalence", "cat=0.2,dog=0.8")
    by_hand = [shares @ [0.2 * 1, 0.3 * 5], shares @ [0, 3 / 20 * 5]]  # a cat called a dog costs 1, a dog a cat 5
    assert costs_of(output["rows"], "total", "value", "cheapest") == [
        ("a", 2 + 15, pytest.approx(by_hand[0]), False),
        ("b", 15, pytest.approx(by_hand[1]), True),
    ]
    assert output["data"]["shares"]["b"] == {"dog": pytest.approx(2 / 3), "cat": pytest.approx(1 / 3)}
    turned = run_json(tables[0], "--cross-table", "columns", "--costs", prices)["rows"]
    assert costs_of(turned, "total") == [("a", 3 + 10)]


def test_multiclass_costs_of_rows(tmp_path: Path) -> None:
    *_, prices = pets(tmp_path)
    path = tmp_path / "rows.csv"
    path.write_text("is,called,n\ncat,cat,8\ncat,dog,2\ndog,cat,3\ndog,dog,7\n", encoding="utf-8")
    typed = ("--costs", prices, "--prevalence", "cat=0.2,dog=0.8")
    rows = run_json(path, "--truth", "is", "--predicted", "called", "--count", "n", *typed)["rows"]
    table = run_json(tmp_path / "a.csv", "--cross-table", "rows", *typed)["rows"]
    assert costs_of(rows, "total", "value", "low", "high") == [
        ("rows", *costs_of(table, "total", "value", "low", "high")[0][1:])
    ]


def test_output_files_and_csv(tmp_path: Path) -> None:
    target = tmp_path / "costs.csv"
    typed = (*M1, *M2, *FOUND_PAYS, "--prevalence", "0.38", "--iso-cost", "0.1,0.6")
    result = run("costs", *typed, "-o", target)
    assert result.stdout == ""
    assert result.stderr.startswith("2 classifiers · costs: TP −1, FN 100, FP 1, TN 0 · used at a prevalence of 0.38\n")
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert [(row["model"], row["measure"], row["total"], row["slope"] != "") for row in rows] == [
        ("M1", "expected_cost", "3910.0", False),
        ("M2", "expected_cost", "4255.0", False),
        ("", "iso_cost", "", True),
    ]


def test_intervals_can_be_left_out() -> None:
    (row,) = run_json(*M1, "--fp", "1", "--fn", "2", "--no-interval")["rows"]
    assert {row[name] for name in ("low", "high", "level", "how", "why")} == {None}
    bounds = [
        (row["low"], row["high"])
        for level in ("0.8", "0.99")
        for row in run_json(*M1, "--fp", "1", "--fn", "2", "--level", level)["rows"]
    ]
    assert bounds[1][0] < bounds[0][0] < bounds[0][1] < bounds[1][1]
    (empty,) = run_json("--table", "none=0,0,0,0", "--fp", "1", "--fn", "2", "--no-interval")["rows"]
    assert (empty["value"], empty["why"]) == (None, "there are no rows")


CELLS = "give TP,FN,FP,TN in this order, such as M1=150,40,60,250, or by name, M1=tp:150,fn:40,fp:60,tn:250."


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--table", "M=1,2,3", "--fp", "1", "--fn", "1"), f"'M=1,2,3' has 3 of the 4 cells; {CELLS}"),
        (("--table", "1,2,3,4", "--fp", "1", "--fn", "1"), f"'1,2,3,4' names no classifier; {CELLS}"),
        (
            ("--table", "M=1,2,-3,4", "--fp", "1", "--fn", "1"),
            "'-3' in 'M=1,2,-3,4' is not a count; counts are numbers from 0 to 1e+15.",
        ),
        (("--table", "M=1,2,inf,4", "--fp", "1", "--fn", "1"), "'inf' in 'M=1,2,inf,4' is not a count"),
        (("--table", "M=1,,3,4", "--fp", "1", "--fn", "1"), "'' in 'M=1,,3,4' is not a count"),
        (("--table", "M=tp:1,fn:2,fp:3,fp:4", "--fp", "1", "--fn", "1"), "does not name each of the 4 cells once"),
        (("--table", "M=tp:1,2,3,4", "--fp", "1", "--fn", "1"), "does not name each of the 4 cells once"),
        (M1, "costs are missing; add them, such as --fp 1 --fn 20"),
        (
            ("--fp", "1", "--fn", "1"),
            "there is no classifier; name files of predictions, or type confusion matrices TP,FN,FP,TN",
        ),
        ((*M1, *M1, "--fp", "1", "--fn", "1"), "2 classifiers have the name 'M1'; give each a name of its own."),
        (
            (*M1, "--fp", "1", "--fn", "1", "--truth", "y"),
            "--truth is for files; name one for each classifier, or leave out",
        ),
        ((*M1, "--fp", "1", "--fn", "1", "--threshold", "1"), "--threshold is for files;"),
        ((*M1, "--fp", "nan", "--fn", "1"), "'nan' is not a number"),
        ((*M1, "--fp", "1", "--fn", "1", "--prevalence", "1"), "'1' is not a prevalence"),
        ((*M1, "--fp", "1", "--fn", "1", "--prevalence", "a=0.1,b=0.9"), "two classes have one prevalence;"),
        (
            (*M1, "--fp", "1", "--fn", "1", "--per", "0"),
            "'0' is not a number of cases; give one above 0, such as 1000.",
        ),
        ((*M1, "--fp", "1", "--fn", "1", "--iso-cost", "0.1,0.6"), "iso-cost lines depend on the prevalence; add it"),
        (
            ("--fp", "1", "--fn", "1", "--prevalence", "0.1", "--iso-cost", "0.1,1.6"),
            "'0.1,1.6' is not a point; give FPR,TPR",
        ),
        (("--fp", "1", "--fn", "1", "--prevalence", "0.1", "--iso-cost", "0.1"), "'0.1' is not a point; give FPR,TPR"),
        (
            ("--fp", "1", "--fn", "1", "--tp", "1", "--prevalence", "0.1", "--iso-cost", "0,1"),
            "--tp 1.0 --fp 1.0 --fn 1.0 --tn 0.0; expected an error on a positive",
        ),
        ((*M1, "--costs", "c.csv"), "--table is for two classes; leave out either --table or --costs."),
        (
            ("--iso-cost", "0,1", "--costs", "c.csv"),
            "--iso-cost is for two classes; leave out either",
        ),
        (
            ("--costs", "c.csv", "--fp", "1", "--fn", "1"),
            "--costs is for several classes and --fp for two; leave out one of them.",
        ),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], message: str) -> None:
    result = run("costs", *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--predicted", "says", "--threshold", "1"), "--threshold is for scores; name their column with --score"),
        (("--score", "risk", "--threshold", "1,2"), "there are 2 thresholds for 1 score;"),
        (
            ("--score", "times"),
            "times runs from 1 to 4, so its scores are not probabilities; give one with --threshold.",
        ),
        (("--score", "nothing"), "there is no column 'nothing'"),
        (
            ("--score", "risk", "--cross-table", "rows"),
            "--cross-table needs the costs of all classes; add --costs FILE.",
        ),
        (("--score", "risk", "--group", "site"), "--group has no use in `baserate costs`: each FILE is a classifier"),
        (
            ("--score", "risk", "--table", "people=1,2,3,4", "--prevalence", "0.1"),
            "2 classifiers have the name 'people'",
        ),
    ],
)
def test_invalid_files_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("costs", write_people(tmp_path), "--truth", "sick", "--fp", "1", "--fn", "1", *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--prevalence", "0.2"), "several classes need a share each; give them as in --prevalence cat=0.2,dog=0.8."),
        (("--prevalence", "cat=0.2,eel=0.8"), "there is no class 'eel'. There are: cat, dog."),
        (("--prevalence", "cat=0.2,dog=0.7"), "the shares add up to 0.9"),
        (("--truth", "is"), "a cross-table has no columns of rows; leave out --truth, --predicted and their like."),
        (("--score", "p"), "of several classes give either --predicted or --cross-table, and no --score."),
        ((), "measured at different prevalences (a: cat 0.5, dog 0.5; b: cat 0.333333, dog 0.666667)"),
    ],
)
def test_invalid_multiclass_options_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    *tables, prices = pets(tmp_path)
    result = run("costs", *tables, *CROSSED, prices, *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_shares_require_rows_of_each_class(tmp_path: Path) -> None:
    result = run("costs", "--table", "well=0,0,5,5", *M1, "--fp", "1", "--fn", "2", "--prevalence", "0.1")
    output = (
        "well has no positives that could be given a share; give a sample of all classes, or leave out --prevalence."
    )
    assert (result.exit_code, result.stderr) == (3, f"baserate: {output}\n")
    *tables, prices = pets(tmp_path)
    (tmp_path / "c.csv").write_text(",cat,eel\ncat,8,2\neel,3,7\n", encoding="utf-8")
    shares = ("--prevalence", "cat=0.2,dog=0.5,eel=0.3")
    result = run("costs", tables[0], tmp_path / "c.csv", *CROSSED, prices, *shares)
    assert result.exit_code == 3
    assert "a has no rows of eel that could be given a share" in result.stderr
    lacking = run("costs", tables[0], tmp_path / "c.csv", *CROSSED, prices, "--prevalence", "cat=0.2,dog=0.8")
    assert "--prevalence has no share for eel; give one to each of 3 classes." in lacking.stderr


def test_errors_name_the_file(tmp_path: Path) -> None:
    path, bad = write_people(tmp_path), tmp_path / "bad.csv"
    bad.write_text("sick,says\n1,1\n0,0\n", encoding="utf-8")
    result = run("costs", path, bad, *ONE, "--fp", "1", "--fn", "2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{bad}: there is no column 'risk'" in result.stderr
    twice = run("costs", "-", "-", *ONE, "--fp", "1", "--fn", "2", given="sick,risk\n1,0.4\n")
    assert "stdin can be read once; name a file for every other classifier." in twice.stderr


def test_weights_become_masses(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    (row,) = run_json(path, *ONE, "--weight", "w", "--fp", "1", "--fn", "3", "--prevalence", "0.1")["rows"]
    counts = shift.reweigh(Counts(**{name: row[name] for name in ("tp", "fn", "fp", "tn")}), prevalence=0.1)
    assert row["value"] == pytest.approx(measure.expected_cost(counts, costs=Costs(fn=3)))
    assert row["tp"] == 3.5  # 0.5 + 1.0 + 2.0 of those at 0.5 or above


@pytest.mark.slow
def test_installed_program_prints_the_same() -> None:
    result = run_program("costs", *M1, *M2, *FOUND_PAYS, "--prevalence", "0.38", "--json")
    assert result.returncode == 0
    assert [row["total"] for row in read_results(result.stdout)["rows"]] == [3910, 4255]
