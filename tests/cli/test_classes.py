"""`baserate measure` of several classes: snapshots, JSON, and refused options."""

import json
from pathlib import Path
from typing import Any

import pytest

from baserate.text._tables import display_width
from tests.cli.shell import matches_snapshot, render_pages, run, write_people
from tests.schemas import check_schema
from tests.tiers import slow

PETS = """\
is,called,p_cat,p_dog,p_fish,home,times
cat,cat,0.7,0.2,0.1,town,1
cat,cat,0.5,0.3,0.2,town,2
cat,dog,0.3,0.6,0.1,farm,1
cat,cat,0.4,0.35,0.25,farm,4
dog,dog,0.1,0.8,0.1,town,1
dog,cat,0.6,0.3,0.1,farm,1
dog,dog,0.2,0.7,0.1,farm,3
fish,cat,0.4,0.3,0.3,town,1
fish,dog,0.2,0.5,0.3,farm,1
"""
LABELS = ("--truth", "is", "--predicted", "called")
SCORES = ("--truth", "is", "--scores", "p_")

VIEWS: dict[str, tuple[str, ...]] = {
    "classes": LABELS,
    "classes-scores": SCORES,
    "classes-groups": (*LABELS, "--group", "home", "--measures", "f1,kappa"),
    "classes-md": (*LABELS, "--average", "none", "--format", "md"),
    "classes-weights": (*LABELS, "--average", "cat=1,dog=2,fish=0", "--average", "micro", "--measures", "recall,kappa"),
    "classes-plain": (*LABELS, "--no-interval"),
    "classes-scores-plain": (*SCORES, "--no-interval"),
    "classes-counted": (*LABELS, "--count", "times", "--labels", "fish,dog,cat,bird", "--measures", "precision"),
}


def pets(folder: Path) -> Path:
    path = folder / "pets.csv"
    path.write_text(PETS, encoding="utf-8")
    return path


def rows(*typed: object) -> list[dict[str, Any]]:
    result = run("measure", *typed, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    actual = json.loads(result.stdout)
    check_schema(actual)
    return list(actual["rows"])


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("measure", pets(tmp_path), *VIEWS[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


@pytest.mark.slow
def test_pages_of_many_long_class_names_fit_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    labels = [f"class number {at}" for at in range(25)]
    lines = [f"{labels[at % 25]},{labels[at * at % 25]}" for at in range(500)]
    path.write_text("\n".join(["y,z", *lines]), encoding="utf-8")
    for width, shown in render_pages("measure", path, "--truth", "y", "--predicted", "z", widths=(60, 80, 100, 200)):
        assert max(map(display_width, shown.splitlines())) <= width
        assert all(label in shown for label in labels)
        # Whatever the width, every row of the table adds up to what it does.
        assert shown.count("y ↓ z →") >= 1
    markdown = run("measure", path, "--truth", "y", "--predicted", "z", "--format", "md").stdout
    assert "| class number 7 |" in markdown


def test_json_holds_every_cell_and_number(tmp_path: Path) -> None:
    result = rows(pets(tmp_path), *LABELS)
    cells = {(row["class"], row["against"]): row["value"] for row in result if row["measure"] == "cell"}
    assert cells == {
        ("cat", "cat"): 3,
        ("cat", "dog"): 1,
        ("cat", "fish"): 0,
        ("dog", "cat"): 1,
        ("dog", "dog"): 2,
        ("dog", "fish"): 0,
        ("fish", "cat"): 1,
        ("fish", "dog"): 1,
        ("fish", "fish"): 0,
    }
    precision = {(row["class"], row["average"]): row for row in result if row["measure"] == "precision"}
    assert precision["cat", None]["value"] == 0.6
    assert precision["fish", None]["value"] is None
    assert precision["fish", None]["why"] == "the class is never predicted"
    assert precision[None, "macro"]["value"] == pytest.approx((0.6 + 0.5) / 2)
    output = "mean of 2 of 3 classes, without fish"
    assert precision[None, "macro"]["how"].startswith(f"{output}; ")
    plain = rows(pets(tmp_path), *LABELS, "--no-interval")
    assert [row["how"] for row in plain if row["average"] == "macro" and row["measure"] == "precision"] == [output]
    (accuracy,) = (row for row in result if row["measure"] == "accuracy")
    assert accuracy["value"] == pytest.approx(5 / 9)
    assert [accuracy[name] for name in ("class", "against", "average", "group")] == [None] * 4


def test_json_describes_the_data(tmp_path: Path) -> None:
    result = run("measure", pets(tmp_path), *LABELS, "--json")
    data = json.loads(result.stdout)["data"]
    assert data["classes"] == ["cat", "dog", "fish"]
    assert data["truth_in"] == "rows"
    assert data["rows"] == 9
    assert data["prevalences"]["fish"] == pytest.approx(2 / 9)
    assert data["notes"] == ["never predicted, of 3 classes: fish."]
    assert "note: never predicted, of 3 classes: fish." in result.stderr
    assert "positive" not in result.stderr


def test_scores_of_each_class_are_measured(tmp_path: Path) -> None:
    path = pets(tmp_path)
    result = rows(path, *SCORES)
    pairs = {(row["class"], row["against"]) for row in result if row["measure"] == "pairwise_auc"}
    assert len(pairs) == 6
    (hand_till,) = (row for row in result if row["measure"] == "hand_till")
    assert hand_till["how"] == "mean of 3 pairs of classes; influence function on log-odds, t quantiles"
    for spelled in ("p_*", "p_cat,p_dog,p_fish", "cat=p_cat,dog=p_dog,fish=p_fish"):
        assert rows(path, "--truth", "is", "--scores", spelled) == result
    given = run("measure", "-", *SCORES, "--json", "-q", given=PETS).stdout
    assert json.loads(given)["rows"] == result


def test_arbitrary_scores_get_rank_measures(tmp_path: Path) -> None:
    path = tmp_path / "ranks.csv"
    path.write_text("y,s_a,s_b\na,3,1\nb,1,-2\nb,0,7\n", encoding="utf-8")
    result = run("measure", path, "--truth", "y", "--scores", "s_", "--json")
    measured = {row["measure"] for row in json.loads(result.stdout)["rows"]}
    assert "hand_till" in measured
    assert not measured & {"brier", "log_loss"}
    assert "note: brier is left out: in 3 of 3 rows the scores are outside [0, 1]" in result.stderr
    answer = run("measure", path, "--truth", "y", "--scores", "s_", "--measures", "brier")
    assert answer.exit_code == 3
    assert "are not probabilities" in answer.stderr


@pytest.mark.parametrize("more", [("--no-interval",), slow(())])
def test_all_measures_on_request(more: tuple[str, ...], tmp_path: Path) -> None:
    from baserate import Confusion, MulticlassRows, measure

    result = rows(pets(tmp_path), *SCORES, "--measures", "all", "--average", "macro", *more)
    whole = {row["measure"] for row in result if row["class"] is None and row["average"] is None}
    several = measure.multiclass.MEASURES.items()
    assert whole == {name for name, m in several if measure.describe(m).of in (Confusion, MulticlassRows)}
    assert {row["measure"] for row in result if row["average"] == "macro"} == set(measure.MEASURES)


def test_ambiguous_names_mean_all_classes_without_averages(tmp_path: Path) -> None:
    path = pets(tmp_path)
    (kappa,) = (row for row in rows(path, *LABELS, "--measures", "kappa") if row["measure"] == "kappa")
    assert (kappa["class"], kappa["average"]) == (None, None)
    both = [
        row for row in rows(path, *LABELS, "--measures", "kappa", "--average", "macro") if row["measure"] == "kappa"
    ]
    assert [(row["class"], row["average"]) for row in both] == [
        *(("cat", None), ("dog", None), ("fish", None)),
        *((None, "macro"), (None, None)),
    ]


def test_cross_table_equals_the_rows_it_counts(tmp_path: Path) -> None:
    path = tmp_path / "cross.csv"
    path.write_text("is,cat,dog,fish\ncat,3,1,0\ndog,1,2,0\nfish,1,1,0\n", encoding="utf-8")
    assert rows(path, "--cross-table", "rows") == rows(pets(tmp_path), *LABELS)
    turned = rows(path, "--cross-table", "columns", "--measures", "recall", "--average", "none")
    straight = rows(path, "--cross-table", "rows", "--measures", "precision", "--average", "none")
    assert [row["value"] for row in turned[9:]] == [row["value"] for row in straight[9:]]
    shown = run("measure", path, "--cross-table", "rows").stdout
    assert "truth ↓ decided →" in shown


def test_cost_matrix_gives_expected_costs(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text(",fish,cat,dog\ncat,9,0,1\ndog,9,5,0\nfish,0,2,4\n", encoding="utf-8")
    (cost,) = (row for row in rows(pets(tmp_path), *LABELS, "--costs", path) if row["measure"] == "expected_cost")
    assert cost["value"] == pytest.approx((1 + 5 + 2 + 4) / 9)


def test_two_classes_may_be_measured_as_several(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("y,z\nill,ill\nill,well\nwell,well\n", encoding="utf-8")
    refused = run("measure", path, "--truth", "y", "--predicted", "z")
    assert refused.exit_code == 3
    assert "name the positive one: --positive ill or --positive well" in refused.stderr
    result = rows(path, "--truth", "y", "--predicted", "z", "--average", "macro", "--measures", "recall")
    assert [row["value"] for row in result if row["measure"] == "sensitivity"] == [0.5, 1, 0.75]


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        (("--truth", "is"), 2, "no column to evaluate is named"),
        (LABELS[2:], 2, "missing option '--truth'"),
        ((*LABELS, "--scores", "p_"), 2, "give either --scores or --predicted"),
        ((*SCORES, "--positive", "cat"), 2, "none is positive; leave out --positive"),
        ((*LABELS, "--threshold", "0.5"), 2, "--threshold is for two classes"),
        (
            (*LABELS, "--average", "mean"),
            2,
            "there is no average of classes 'mean'. Known are: macro, weighted, micro.",
        ),
        ((*LABELS, "--average", "cow=1"), 2, "there is no class 'cow'"),
        ((*LABELS, "--average", "cat=1"), 2, "the classes are"),
        ((*LABELS, "--average", "cat=x,dog=1,fish=1"), 2, "'x' is not a weight"),
        ((*LABELS, "--measures", "auc"), 2, "auc cannot be computed: labels have neither ranks nor probabilities"),
        ((*LABELS, "--measures", "kapa"), 2, "Did you mean 'kappa'"),
        ((*LABELS, "--labels", "cat,dog"), 3, "2 of 9 rows cannot be used (is: 2 unknown label)"),
        (("--truth", "is", "--scores", "q_"), 2, "there is no column 'q_*'"),
        (("--truth", "is", "--scores", "p_cat,p_dog"), 3, "for which there is no score"),
        (("--truth", "is", "--score", "p_cat", "--average", "macro"), 2, "no --score"),
        (("--cross-table", "rows", "--truth", "is"), 2, "a cross-table has no columns of rows"),
        (
            ("--truth", "is", "--score", "p_cat"),
            3,
            "or evaluate all of them: `baserate measure` with --scores or --predicted",
        ),
        (("--truth", "is", "--average", "macro"), 2, "many classes need --predicted, --scores or --cross-table"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    result = run("measure", pets(tmp_path), *typed)
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr
    assert not result.stdout


def test_errors_come_before_reading(tmp_path: Path) -> None:
    result = run("measure", tmp_path / "none.csv", *LABELS, "--measures", "kapa")
    assert "Did you mean 'kappa'" in result.stderr


def test_two_labels_are_measured_as_binary(tmp_path: Path) -> None:
    result = run("measure", write_people(tmp_path), "--truth", "sick", "--predicted", "says", "--json")
    assert json.loads(result.stdout)["data"]["positive"] == 1
    assert "positive = 1, inferred" in result.stderr


def test_labels_only_order_the_classes(tmp_path: Path) -> None:
    path = pets(tmp_path)
    (plain,) = (row for row in rows(path, *SCORES) if row["measure"] == "accuracy")
    result = run("measure", path, *SCORES, "--labels", "fish,cat,dog", "--json")
    actual = json.loads(result.stdout)
    assert actual["data"]["classes"] == ["fish", "cat", "dog"]
    assert [row["value"] for row in actual["rows"] if row["measure"] == "accuracy"] == [plain["value"]]
    assert "note: p_* is taken for the scores 'p_cat', 'p_dog', 'p_fish'." in result.stderr
    assert run("measure", path, *SCORES, "--labels", "fish,cat").exit_code == 3
    output = run("measure", path, "--truth", "is", "--scores", "times,p_cat,p_dog").stderr
    assert "for which there is no score among 'times', 'p_cat', 'p_dog'" in output


def test_errors_about_class_columns_name_flags(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("y,q1,q2\na,1,0\nb,0,1\n", encoding="utf-8")
    assert (
        "name the class of each: --scores 'a'='q1',…."
        in run("measure", path, "--truth", "y", "--scores", "q1,q2").stderr
    )
    assert run("measure", path, "--truth", "y", "--scores", "a=q1,b=q2").exit_code == 0
    twice = run("measure", path, "--truth", "y", "--scores", "a=q1,a=q2")
    assert (twice.exit_code, "a class is named twice" in twice.stderr) == (2, True)


def test_numeric_labels_match_in_several_spellings(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("y,z\n1,1.0\n0,0.0\n1,1.0\n", encoding="utf-8")
    result = run("measure", path, "--truth", "y", "--predicted", "z", "--json")
    actual = json.loads(result.stdout)
    assert actual["data"]["positive"] == 1
    assert next(row["value"] for row in actual["rows"] if row["measure"] == "accuracy") == 1


def test_class_weights_are_given_once_and_separately(tmp_path: Path) -> None:
    path = pets(tmp_path)
    for given in ("cat=1,cat=2,dog=1", "macro,cat=1"):
        result = run("measure", path, *LABELS, "--average", given)
        assert (result.exit_code, "weights are given once for each class" in result.stderr) == (2, True)
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("y,z\n1,1\n2,2\n3,1\n", encoding="utf-8")
    actual = rows(numbers, "--truth", "y", "--predicted", "z", "--average", "1=1,2.0=1,3=2", "--measures", "recall")
    assert actual[-1]["value"] == 0.5


def test_cross_table_takes_labels_but_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "cross.csv"
    path.write_text(",a,b\na,3,1\nb,0,4\n", encoding="utf-8")
    result = run("measure", path, "--cross-table", "rows", "--labels", "b,a,c", "--json")
    assert json.loads(result.stdout)["data"]["classes"] == ["b", "a", "c"]
    for more in (("--scores", "p_"), ("--positive", "a")):
        assert run("measure", path, "--cross-table", "rows", *more).exit_code == 2


@pytest.mark.slow
def test_many_classes_show_their_most_frequent_errors(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    lines = [f"k{at % 60},k{at % 60 if at % 7 else 0}" for at in range(600)]
    path.write_text("\n".join(["y,z", *lines]), encoding="utf-8")
    shown = run("measure", path, "--truth", "y", "--predicted", "z").stdout
    assert "y ↓ z → the most frequent errors" in shown
    assert "% of each row" not in shown
    assert shown.count(" → k0 ") == 20


def test_weighted_kappa_and_top_k_have_names(tmp_path: Path) -> None:
    from baserate import measure, read

    path = pets(tmp_path)
    result = {
        row["measure"]: row["value"] for row in rows(path, *SCORES, "--measures", "linear_kappa,quadratic kappa,top 1")
    }
    table = read.class_rows(path, truth="is", score="p_*")
    for weights in ("linear", "quadratic"):
        assert result[f"{weights}_kappa"] == measure.multiclass.kappa(table.confusion(), weights=weights)
    assert result["top_1_accuracy"] == measure.multiclass.accuracy(table.confusion())
    shown = run("measure", path, *LABELS, "--measures", "quadratic kappa", "--explain").stdout
    assert "Cohen's kappa with quadratic weights" in shown


def write_stages(folder: Path) -> Path:
    path = folder / "stages.csv"
    rows = [("low", 0.1), ("low", 0.4), ("mid", 0.3), ("mid", 0.6), ("mid", 0.5), ("high", 0.9), ("high", 0.45)]
    lines = [f"{stage},{risk},{'ab'[at % 2]}" for at, (stage, risk) in enumerate(rows)]
    path.write_text("\n".join(["stage,risk,site", *lines]) + "\n", encoding="utf-8")
    return path


ORDERED = ("--truth", "stage", "--score", "risk", "--labels", "low,mid,high")


@pytest.mark.parametrize("name", ["ordered-classes", "ordered-classes-groups"])
def test_ordered_classes_share_one_score(name: str, tmp_path: Path) -> None:
    groups = ("--group", "site") if "groups" in name else ()
    result = run("measure", write_stages(tmp_path), *ORDERED, *groups, "-q")
    assert result.exit_code == 0
    assert matches_snapshot(result.stdout, name)


def test_json_of_ordered_classes(tmp_path: Path) -> None:
    rows = json.loads(run("measure", write_stages(tmp_path), *ORDERED, "--json").stdout)["rows"]
    values = {(row["class"], row["against"]): row["value"] for row in rows}
    # low: .1, .4; mid: .3, .5, .6; high: .45, .9
    assert values["mid", "low"] == 5 / 6
    assert values["high", "low"] == 1
    assert values["high", "mid"] == 4 / 6
    assert values[None, None] == pytest.approx((5 / 6 + 1 + 4 / 6) / 3)
    assert rows[-1]["low"] < rows[-1]["value"] < rows[-1]["high"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--measures", "hand_till"), "one --score of all --labels has one measure, ordinal_auc"),
        (("--score", "site"), "ordered classes have one score; give one --score"),
        (("--positive", "low"), "of many classes none is positive"),
    ],
)
def test_ordered_classes_have_one_score_and_one_measure(more: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("measure", write_stages(tmp_path), *ORDERED, *more)
    assert result.exit_code == 2
    assert message in result.stderr
