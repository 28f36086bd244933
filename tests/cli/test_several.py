"""`baserate decide` for several classes: snapshots, JSON, and refused options."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baserate import decide, read
from baserate.text._tables import display_width
from tests.cli.shell import fits_terminal, matches_snapshot, render_pages, run, write_people
from tests.cli.test_classes import PETS, pets
from tests.schemas import read_results

COSTS = """\
,cat,dog,fish
cat,0,1,2
dog,1,0,2
fish,5,5,0
"""
SHARES = ("--shares", "cat=0.2,dog=0.7,fish=0.1")

VIEWS: dict[str, tuple[str, ...]] = {
    "several": (),
    "several-abstain": ("--abstain-cost", "0.6"),
    "several-shares": (*SHARES, "--abstain-cost", "0.5", "--count", "times"),
    "several-plain": ("--no-interval",),
    "several-md": ("--abstain-cost", "0.6", "--format", "md"),
}


def base_command(folder: Path) -> tuple[object, ...]:
    """The file, and what is asked of it each time."""
    path = folder / "costs.csv"
    path.write_text(COSTS, encoding="utf-8")
    return pets(folder), "--truth", "is", "--scores", "p_", "--costs", path


def run_json(*typed: object) -> dict[str, Any]:
    result = run("decide", *typed, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("decide", *base_command(tmp_path), *VIEWS[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


@pytest.mark.parametrize("name", ["several-abstain", "several-shares"])
def test_pages_fit_the_terminal(name: str, tmp_path: Path) -> None:
    assert fits_terminal("decide", *base_command(tmp_path), *VIEWS[name], widths=(60, 80, 100, 140))


def command_for_many_classes(folder: Path, many: int) -> tuple[object, ...]:
    rng = np.random.default_rng(0)
    names = [f"class number {at}" for at in range(many)]
    score = rng.dirichlet([0.2] * many, 200)
    lines = [
        ",".join([names[row % many], *map(repr, [*each[:-1].tolist(), 1 - float(each[:-1].sum())])])
        for row, each in enumerate(score)
    ]
    data, costs = folder / "many.csv", folder / "many_costs.csv"
    data.write_text("\n".join([",".join(["y", *(f"p {name}" for name in names)]), *lines]), encoding="utf-8")
    table = [",".join([name, *("0" if name == other else "1" for other in names)]) for name in names]
    costs.write_text("\n".join([",".join(["", *names]), *table]), encoding="utf-8")
    mapped = ",".join(f"{name}=p {name}" for name in names)
    return data, "--truth", "y", "--scores", mapped, "--costs", costs, "--abstain-cost", "0.4"


def test_pages_of_many_long_class_names_fit_the_terminal(tmp_path: Path) -> None:
    for width, shown in render_pages("decide", *command_for_many_classes(tmp_path, 12), widths=(80, 100, 200)):
        assert max(map(display_width, shown.splitlines())) <= width
        assert "referred" in shown
        assert all(f"class number {at}" in shown for at in range(12))


@pytest.mark.slow
def test_too_large_matrix_is_left_to_other_formats(tmp_path: Path) -> None:
    shown = run("decide", *command_for_many_classes(tmp_path, 41), "-q").stdout
    assert "The confusion matrix of 41 classes is too large to show; --format csv contains it." in shown


def test_json_equals_the_results_of_the_library(tmp_path: Path) -> None:
    typed = base_command(tmp_path)
    output = run_json(*typed, *SHARES, "--abstain-cost", "0.5", "--level", "0.9")
    rows = read.class_rows(typed[0], truth="is", score=["p_*"])
    costs = read.cost_matrix(tmp_path / "costs.csv", truth="rows")
    shares = {"cat": 0.2, "dog": 0.7, "fish": 0.1}
    wanted = decide.multiclass_summary(rows, costs, refer=0.5, prevalence=shares, level=0.9)
    assert output["rows"] == wanted.rows()
    assert output["data"]["deployment"]["prevalences"] == pytest.approx(shares)
    assert output["data"]["refer"] == 0.5


def test_each_row_gets_the_cheapest_class(tmp_path: Path) -> None:
    """By hand: to overlook a fish is dear, so that doubtful pets are called fish."""
    output = run_json(*base_command(tmp_path))
    cells = [row["value"] for row in output["rows"] if row["measure"] == "cell"]
    assert cells == [2, 1, 1, 1, 2, 0, 0, 0, 2]
    numbers = {(row["rule"], row["measure"]): row["value"] for row in output["rows"]}
    assert numbers["least cost", "cost_realised"] == pytest.approx((1 + 2 + 1) / 9)
    assert numbers["highest probability", "cost_realised"] == pytest.approx((1 + 1 + 5 + 5) / 9)


def test_labels_of_a_cost_table_are_those_of_the_rows(tmp_path: Path) -> None:
    """Numbers in the data are written as text in a cross-table."""
    data, costs = tmp_path / "digits.csv", tmp_path / "costs.csv"
    data.write_text("y,p_0,p_1\n0,0.9,0.1\n1,0.2,0.8\n1,0.7,0.3\n", encoding="utf-8")
    costs.write_text(",1,0\n1,0,5\n0,1,0\n", encoding="utf-8")
    output = run_json(data, "--truth", "y", "--scores", "p_", "--costs", costs)
    cells = {(row["class"], row["against"]): row["value"] for row in output["rows"] if row["measure"] == "cell"}
    assert cells == {(1, 1): 2, (1, 0): 0, (0, 1): 0, (0, 0): 1}


def test_messages_on_stderr(tmp_path: Path) -> None:
    data, costs = tmp_path / "bold.csv", tmp_path / "costs.csv"
    rows = [f"{'cat' if at % 2 else 'dog'},0.99,0.01" for at in range(40)]
    data.write_text("\n".join(["is,p_cat,p_dog", *rows]), encoding="utf-8")
    costs.write_text(",cat,dog\ncat,0,1\ndog,1,0\n", encoding="utf-8")
    output = run("decide", data, "--truth", "is", "--scores", "p_cat,p_dog", "--costs", costs).stderr
    assert "the posteriors predict a cost of 0.01 per row, but it is 0.5 (" in output
    assert output.endswith("they are not calibrated on these rows. See `baserate reliability`.\n")
    right = run("decide", *base_command(tmp_path)).stderr
    assert "not calibrated" not in right
    assert "rule =" not in right
    assert "optimistic" not in right


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--score", "p_cat"), "--score is for two classes; --scores and --costs decide several"),
        (("--positive", "cat"), "--positive is for two classes"),
        (("--rule", "youden"), "--rule is for two classes"),
        (("--fn", "3"), "--fn is for two classes"),
        (("--prevalence", "0.2"), "--prevalence is for two classes"),
        (("--coverage", "80%"), "--coverage is for two classes"),
        (("--measures", "f1"), "--measures is for two classes"),
        (("--n-bootstrap", "0"), "--n-bootstrap is for two classes"),
        (("--folds", "5"), "--folds is for two classes"),
        (("--judge-on", "pets.csv"), "--judge-on is for two classes"),
        (("--group", "home"), "--group is for two classes; give a file with the rows of one group"),
        (("--seed", "1"), "--seed is for two classes; several have one kind of interval"),
        (("--interval", "wilson"), "--interval is for two classes; several have one kind of interval"),
        (("--shares", "0.2"), "of several classes give each its share, such as --shares cat=0.2"),
        (("--shares", "cat=0.5,dog=0.5"), "--shares has no share for fish; give one to each of 3 classes."),
        (("--shares", "cat=0.5,dog=0.2,fsh=0.3"), "there is no class 'fsh'. Did you mean 'fish'?"),
        (("--abstain-cost", "inf"), "'inf' holds an infinite number"),
        (("--costs", "nothing.csv"), "nothing.csv"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("decide", *base_command(tmp_path), *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--costs", "costs.csv"), "--costs is for several classes, each with a probability in --scores; of two"),
        (("--shares", "a=0.5,b=0.5"), "of two classes give --prevalence."),
        (("--labels", "a,b"), "of two classes name the positive one with --positive."),
    ],
)
def test_binary_options_are_refused_for_several_classes(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("decide", write_people(tmp_path), "--truth", "sick", "--score", "risk", *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_costs_are_needed_for_every_class(tmp_path: Path) -> None:
    file, *typed = base_command(tmp_path)
    lacking = run("decide", file, *typed[:4])
    assert (lacking.exit_code, "give --costs FILE" in lacking.stderr) == (2, True)
    (tmp_path / "costs.csv").write_text(",cat,dog\ncat,0,1\ndog,1,0\n", encoding="utf-8")
    some = run("decide", file, *typed)
    assert (some.exit_code, "no costs for the class 'fish'" in some.stderr) == (2, True)


def test_scores_that_are_no_probabilities_are_refused(tmp_path: Path) -> None:
    file, *typed = base_command(tmp_path)
    Path(str(file)).write_text(PETS.replace("0.7,0.2,0.1", "7,0.2,0.1"), encoding="utf-8")
    result = run("decide", file, *typed)
    assert (result.exit_code, result.stdout) == (3, "")
    assert "they are not probabilities" in result.stderr
