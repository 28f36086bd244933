"""`baserate hull`: snapshots, JSON and CSV, messages, and refused options."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from baserate import Costs, Counts, Curve, decide, read
from baserate.cli._hull import FEW
from baserate.decide import CHOSEN_NOTE as CHOSEN, _hull_tables
from tests.cli.shell import PEOPLE, fits_terminal, matches_snapshot, run, run_program, write_people
from tests.schemas import read_results
from tests.tiers import take_in_tiers

ONE = ("--truth", "sick", "--score", "risk")
TWO = (*ONE, "--score", "old")
ABC = ("--truth", "y", "--score", "A", "--score", "B", "--predicted", "C")
TABLES = {"A": (63, 28), "B": (77, 77), "C": (24, 88)}
"""True and false positives among 100 each: three classifiers that only label."""
DUE = ("--fp", "1", "--fn", "5", "--prevalence", "10%")

VIEWS: dict[str, tuple[str, ...]] = {
    "hull": TWO,
    "hull-labels": (*TWO, "--predicted", "says", "--prevalence", "0.1"),
    "hull-priced": (*TWO, "--fp", "1", "--fn", "5"),
    "hull-due": (*TWO, *DUE, "--fpr", "0.1"),
    "hull-md": (*TWO, *DUE, "--tpr", "60%", "--format", "md"),
    "hull-ratios": (*TWO, "--ratios", "--level", "0.9"),
    "hull-ratios-md": (*ONE, "--ratios", "--prevalence", "0.02", "--format", "md"),
    "hull-combine": (*TWO, "--combine"),
    "hull-combine-md": (*TWO, "--combine", "--format", "md"),
}
REVERSED = {"hull-below": (), "hull-reversed": ("--reverse",)}


def run_json(*typed: object, given: str | None = None) -> dict[str, Any]:
    result = run("hull", *typed, "--json", "-q", given=given)
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


def write_classifiers(folder: Path) -> Path:
    """Write decisions of three classifiers on a hundred rows of each class."""
    sides = [(1, [true for true, _ in TABLES.values()]), (0, [false for _, false in TABLES.values()])]
    lines = [
        ",".join(map(str, [y, *(int(at < each) for each in flagged)])) for y, flagged in sides for at in range(100)
    ]
    path = folder / "abc.csv"
    path.write_text("\n".join(["y,A,B,C", *lines, ""]), encoding="utf-8")
    return path


def write_crossing_scores(folder: Path) -> Path:
    """Write two scores that change their places on the front many times."""
    rng = np.random.default_rng(1)
    truth = rng.random(5000) < 0.3
    scores = rng.normal(truth, 1, size=(2, 5000)).T
    lines = [f"{int(y)},{risk:.4f},{old:.4f}" for y, (risk, old) in zip(truth, scores, strict=True)]
    path = folder / "many.csv"
    path.write_text("\n".join(["sick,risk,old", *lines, ""]), encoding="utf-8")
    return path


@pytest.mark.quick(5)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("hull", write_people(tmp_path), *VIEWS[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


@pytest.mark.parametrize("name", REVERSED)
def test_snapshot_below_the_diagonal(name: str, tmp_path: Path) -> None:
    assert matches_snapshot(run("hull", write_classifiers(tmp_path), *ABC, *REVERSED[name], "-q").stdout, name)


def test_snapshot_of_help() -> None:
    shown = run("hull", "--help").stdout
    assert matches_snapshot(shown, "help-hull")
    assert "--group" not in shown


@pytest.mark.parametrize("name", [name for name in VIEWS if not name.endswith("md")])
def test_pages_fit_the_terminal(name: str, tmp_path: Path) -> None:
    assert fits_terminal("hull", write_people(tmp_path), *VIEWS[name], widths=(50, 80, 100, 140))


def test_textbook_example_of_three_classifiers(tmp_path: Path) -> None:
    output = run_json(write_classifiers(tmp_path), *ABC, "--fpr", "0.14")
    best = [row for row in output["rows"] if row["fpr"] is not None]
    assert [(row["classifier"], row["threshold"], row["fpr"], row["tpr"]) for row in best] == [
        ("none", "inf", 0, 0),
        ("A", 1, 0.28, 0.63),
        ("all", "-inf", 1, 1),
    ]
    assert [row["slope_to"] for row in best] == pytest.approx([2.25, 37 / 72, 0])
    below = {row["classifier"]: row for row in output["rows"] if row["fpr"] is None}
    assert list(below) == ["B", "C"]
    # Above B, on the edge from A to (1, 1).
    assert below["B"]["gap"] == pytest.approx(0.63 + 37 / 72 * (0.77 - 0.28) - 0.77)
    (turned,) = output["data"]["reversible"]
    assert (turned["classifier"], turned["fpr"], turned["tpr"]) == ("C", pytest.approx(0.12), pytest.approx(0.76))
    half = output["data"]["hybrid"]
    assert (half["strict"]["classifier"], half["lax"]["classifier"]) == ("none", "A")
    assert [half[name] for name in ("chance", "fpr", "tpr")] == pytest.approx([0.5, 0.14, 0.315])
    assert [row["chance"] for row in output["rows"]] == pytest.approx([0.5, 0.5, 0, None, None], nan_ok=True)


def test_reversal_is_offered_and_applied(tmp_path: Path) -> None:
    path = write_classifiers(tmp_path)
    offered = run("hull", path, *ABC, "-q").stdout
    assert "--reverse includes it reversed" in offered
    output = run_json(path, *ABC, "--reverse", "--fpr", "0.06")
    assert [row["classifier"] for row in output["rows"] if row["fpr"] is not None] == ["none", "C", "all"]
    assert [row["reversed"] for row in output["rows"][:3]] == [False, True, False]
    shown = run("hull", path, *ABC, "--reverse", "--fpr", "0.06", "-q").stdout
    assert "at random, in 50.00% of cases flag what C passes, in the others flag nothing." in " ".join(shown.split())
    # As a score, C is flagged below a threshold instead.
    scored = run("hull", path, "--truth", "y", "--score", "C", "--reverse", "--fpr", "12%", "-q").stdout
    assert "with a true positive rate of 0.7600: flag C < 1." in " ".join(scored.split())


@pytest.mark.parametrize("typed", ["--fp 1 --fn 5", "--fp 3 --fn 1", "--fp 0 --fn 1", "--fp 1 --fn 1 --tp -4 --tn 0.5"])
@pytest.mark.parametrize("prevalence", take_in_tiers([0.02, 0.4, 0.9]))
def test_best_vertex_has_the_least_cost(typed: str, prevalence: float, tmp_path: Path) -> None:
    path = write_people(tmp_path)
    at = run_json(path, *TWO, *typed.split(), "--prevalence", prevalence)["data"]["at"]
    costs = Costs(**{name: at[name] for name in ("fp", "fn", "tp", "tn")})
    tallies = read.tallies(path, truth="sick", score=["risk", "old"])
    every = []
    for model in ("risk", "old"):
        counts = Curve(tallies.pooled(model)).at(np.array([np.inf, *tallies.pooled(model).score]))
        tpr, fpr = counts.tp / counts.positives, counts.fp / counts.negatives
        sick, well = tpr * costs.tp + (1 - tpr) * costs.fn, fpr * costs.fp + (1 - fpr) * costs.tn
        every.append(np.min(prevalence * sick + (1 - prevalence) * well))
    assert at["cost"] == pytest.approx(min(every))


def test_ranges_are_adjacent_and_contain_the_best(tmp_path: Path) -> None:
    output = run_json(write_people(tmp_path), *TWO, *DUE)
    rows = [row for row in output["rows"] if row["fpr"] is not None]
    for name in ("slope", "ratio", "prevalence"):
        assert [row[f"{name}_from"] for row in rows[1:]] == [row[f"{name}_to"] for row in rows[:-1]]
    at = output["data"]["at"]
    (best,) = [row for row in rows if row["prevalence_from"] < at["prevalence"] <= row["prevalence_to"]]
    assert (best["classifier"], best["threshold"]) == (at["best"]["classifier"], at["best"]["threshold"])
    assert best["ratio_from"] < 5 <= float(best["ratio_to"])
    assert best["cost"] == at["cost"] == min(row["cost"] for row in rows)


def test_rate_of_a_vertex_needs_no_randomization(tmp_path: Path) -> None:
    shown = " ".join(run("hull", write_people(tmp_path), *TWO, "--tpr", "0.5", "-q").stdout.split())
    assert "A true positive rate of 0.5000, with a false positive rate of 0: flag old ≥ 0.81." in shown
    assert run_json(write_people(tmp_path), *TWO, "--fpr", "1")["data"]["hybrid"]["tpr"] == 1
    assert run_json(write_people(tmp_path), *TWO, "--fpr", "0")["data"]["hybrid"]["tpr"] == 0.5


def test_cost_of_a_mixture_is_the_average_of_its_vertices(tmp_path: Path) -> None:
    output = run_json(write_people(tmp_path), *TWO, *DUE, "--fpr", "0.1")
    rows = [row for row in output["rows"] if row["fpr"] is not None]
    for name in ("fpr", "tpr", "cost"):
        assert output["data"]["hybrid"][name] == pytest.approx(sum(row["chance"] * row[name] for row in rows))


def test_tables_show_few_vertices_and_csv_all(tmp_path: Path) -> None:
    path = write_crossing_scores(tmp_path)
    every = [row for row in run_json(path, *TWO)["rows"] if row["fpr"] is not None]
    assert len(every) > FEW + 5
    result = run("hull", path, *TWO, "--positive", "1")
    names = [line.split()[0] for line in result.stdout.splitlines() if " – " in line and line.startswith("  ")]
    assert (names[0], names[-1]) == ("none", "all")
    assert {"risk", "old"} < set(names)
    assert FEW <= len(names) <= FEW + 2
    shown = f"{len(names)} of {len(every)} vertices are shown; --format csv has all."
    assert result.stderr == f"note: {CHOSEN}\nnote: {shown}\n"
    target = tmp_path / "front.csv"
    assert run("hull", path, *TWO, "-o", target, "-q").stdout == ""
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert [row["classifier"] for row in rows if row["fpr"]] == [row["classifier"] for row in every]
    ratios = run("hull", path, *ONE, "--positive", "1", "--ratios")
    longest = len(run_json(path, *ONE, "--ratios")["rows"])
    assert longest > FEW
    output = f"at most {FEW} ranges of each score are shown; --format csv has all, up to {longest}."
    assert ratios.stderr == f"note: {output}\n"
    assert output in run("hull", path, *ONE, "--ratios", "--format", "md").stdout


def test_models_at_the_same_vertex_are_named() -> None:
    table = "sick,risk,old\n1,0.9,3\n1,0.8,2\n0,0.3,1\n"
    output = run_json("-", *TWO, given=table)
    assert [(row["classifier"], row["others"]) for row in output["rows"]] == [
        ("none", None),
        ("risk", "old"),
        ("all", None),
    ]
    shown = run("hull", "-", *TWO, "-q", given=table).stdout
    assert "  risk, old" in shown
    assert "Each model is among the best somewhere." in shown


def test_single_model_has_no_dominated_models(tmp_path: Path) -> None:
    assert "Each model" not in run("hull", write_people(tmp_path), *ONE, "-q").stdout


def test_constant_scores_have_a_reason() -> None:
    table = "sick,risk,old\n1,0.9,1\n0,0.3,1\n"
    assert run_json("-", *TWO, given=table)["rows"][-1]["gap"] is None
    shown = run("hull", "-", *TWO, "-q", given=table).stdout
    assert "¹ all scores are equal, so that they can only flag nothing or everything" in shown


def test_likelihood_ratios_equal_those_computed_by_hand(tmp_path: Path) -> None:
    output = run_json(
        write_classifiers(tmp_path), "--truth", "y", "--predicted", "A", "--ratios", "--prevalence", "0.1"
    )
    high, low = output["rows"]
    assert (high["positives"], high["negatives"], low["positives"], low["negatives"]) == (63, 28, 37, 72)
    assert (high["ratio"], low["ratio"]) == pytest.approx((63 / 28, 37 / 72))
    assert high["posterior"] == pytest.approx(0.1 * 0.63 / (0.1 * 0.63 + 0.9 * 0.28))
    error = np.sqrt(1 / 63 - 1 / 100 + 1 / 28 - 1 / 100)
    assert (high["low"], high["high"]) == pytest.approx(tuple(2.25 * np.exp([-1.959964 * error, 1.959964 * error])))
    wider = run_json(write_classifiers(tmp_path), "--truth", "y", "--predicted", "A", "--ratios", "--level", "99%")[
        "rows"
    ][0]
    assert wider["low"] < high["low"] < high["high"] < wider["high"]
    assert wider["posterior"] == pytest.approx(63 / 91)  # at the prevalence of the rows


def test_weights_give_the_stated_auc(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    (row,) = run_json(path, *TWO, "--combine")["rows"]
    lines = list(csv.DictReader(io.StringIO(PEOPLE)))
    truth, risk, old = ([float(line[name]) for line in lines] for name in ("sick", "risk", "old"))
    both = row["first_weight"] * np.array(risk) + row["second_weight"] * np.array(old)
    assert [row[name] for name in ("first_auc", "second_auc", "auc")] == pytest.approx(
        [roc_auc_score(truth, each) for each in (risk, old, both)]
    )
    assert row["exact"]
    assert row["auc"] >= max(row["first_auc"], row["second_auc"])
    shown = run("hull", path, *TWO, "--combine", "-q").stdout
    assert f"Rank by risk + {row['second_weight']:.3f}·old." in shown


def test_searched_weights_are_stated_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    combine = decide.combine_scores
    monkeypatch.setattr(_hull_tables, "combine_scores", lambda rows: combine(rows, limit=3))
    shown = " ".join(run("hull", write_people(tmp_path), *TWO, "--combine", "-q").stdout.split())
    assert "these are the best weights of a search." in shown


def test_too_few_rows_for_held_out_folds() -> None:
    table = "sick,risk,old\n1,0.9,1\n0,0.3,2\n0,0.4,1\n"
    (row,) = run_json("-", *TWO, "--combine", given=table)["rows"]
    assert (row["held_out"], row["why"]) == (None, "there are too few rows of a class to hold some out")
    assert "¹ there are too few rows of a class" in run("hull", "-", *TWO, "--combine", "-q", given=table).stdout


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--group", "site"), "--group has no use for a hull; give a file with rows of one group, or leave it out."),
        (("--fpr", "0.1", "--tpr", "0.5"), "--fpr and --tpr both determine the mixture; give one of them."),
        (("--ratios", "--combine"), "--ratios and --combine give different tables; leave out one of them."),
        (("--level", "0.9"), "--level is for likelihood ratios; add --ratios, or leave it out."),
        (("--ratios", "--fp", "1", "--fn", "2"), "--fp has no use beside --ratios; leave out one of them."),
        (("--ratios", "--fpr", "0"), "--fpr has no use beside --ratios; leave out one of them."),
        (("--ratios", "--reverse"), "--reverse has no use beside --ratios; leave out one of them."),
        (("--combine", "--prevalence", "0.1"), "--prevalence has no use beside --combine; leave out one of them."),
        (("--combine", "--level", "0.9"), "--level has no use beside --combine; leave out one of them."),
        (("--combine",), "--combine takes two scores, not 1; name two, each with --score."),
        (("--combine", "--score", "risk"), "--combine takes two scores, not 1; name two"),
        (("--combine", "--score", "old", "--score", "w"), "--combine takes two scores, not 3; name two"),
        (("--combine", "--score", "ri*"), "--combine takes two scores, not 1; name two"),
        (("--combine", "--predicted", "says"), "--predicted has no use beside --combine, which takes two scores"),
        (
            ("--fp", "0", "--fn", "1"),
            "one kind of error costs nothing, so that the prevalence changes nothing; add --prevalence",
        ),
        (("--fp", "1", "--fn", "-3"), "--tp 0.0 --fp 1.0 --fn -3.0 --tn 0.0; expected errors to cost more"),
        (("--fp", "0", "--fn", "0", "--prevalence", "0.1"), "expected errors to cost more"),
        (("--fpr", "1.2"), "'1.2' is not a rate; give a number from 0 to 1, such as 0.1 or 10%"),
        (("--prevalence", "1"), "'1' is not a prevalence"),
        (("--score", "nothing"), "there is no column 'nothing'"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("hull", write_people(tmp_path), *ONE, *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("typed", [ONE, (*ONE, "--ratios"), (*TWO, "--combine")])
def test_single_class_exits_with_3(typed: tuple[str, ...]) -> None:
    table = "sick,risk,old\n1,0.9,1\n1,0.3,2\n"
    result = run("hull", "-", *typed, "--positive", "1", given=table)
    assert (result.exit_code, result.stdout) == (3, "")
    assert len(result.stderr.splitlines()) == 1
    assert "class" in result.stderr


def test_reserved_model_names_are_refused() -> None:
    result = run("hull", "-", "--truth", "sick", "--score", "all", given="sick,all\n1,0.9\n0,0.3\n")
    assert result.exit_code == 2
    assert "a classifier is called 'all', which is reserved; give it another name." in result.stderr


def test_predicted_labels_are_one_vertex(tmp_path: Path) -> None:
    output = run_json(write_people(tmp_path), "--truth", "sick", "--predicted", "says")
    (own,) = [row for row in output["rows"] if row["classifier"] == "says"]
    assert (own["threshold"], own["fpr"], own["tpr"]) == (None, pytest.approx(1 / 6), 0.5)
    assert output["data"]["notes"] == []  # nothing was chosen
    assert decide.roc_convex_hull({"says": Counts(tp=2, fp=1, fn=2, tn=5)}).auc == pytest.approx(output["data"]["auc"])


@pytest.mark.slow
def test_installed_program_prints_the_same() -> None:
    result = run_program("hull", "-", *ONE, "--json", given=PEOPLE)
    assert result.returncode == 0
    assert [row["threshold"] for row in read_results(result.stdout)["rows"]] == ["inf", 0.92, 0.64, 0.22, "-inf"]
    assert "stdin · 10 rows" in result.stderr
