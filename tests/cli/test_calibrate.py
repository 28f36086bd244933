"""`baserate calibrate`: snapshots, JSON, the written calibrator, and refused options."""

import json
from pathlib import Path

import numpy as np
import pytest

from baserate import Calibrator, MulticlassCalibrator, calibration, load_calibrator, measure, read
from baserate.text._tables import display_width
from tests.cli.shell import matches_snapshot, run, write_people
from tests.cli.test_classes import pets
from tests.cli.test_reliability import write_screening
from tests.schemas import read_results
from tests.tiers import take_in_tiers

ONE = ("--truth", "sick", "--score", "risk", "--positive", "1")
QUICK = ("--n-simulations", "50", "-q")
CLASSES = ("--truth", "is", "--scores", "p_")


def animals(folder: Path) -> Path:
    """Overconfident probabilities of three classes."""
    rng = np.random.default_rng(3)
    p = rng.dirichlet([1, 1, 1], 300)
    softer = p**0.5 / (p**0.5).sum(axis=1, keepdims=True)
    truth = [rng.choice(["cat", "dog", "fish"], p=row) for row in softer]
    path = folder / "animals.csv"
    lines = (f"{label},{','.join(f'{each:.6f}' for each in row)}\n" for label, row in zip(truth, p, strict=True))
    path.write_text("is,p_cat,p_dog,p_fish\n" + "".join(lines), encoding="utf-8")
    return path


VIEWS: dict[str, tuple[str, ...]] = {
    "calibrate-offset": (*ONE, "--with", "offset", *QUICK),
    "calibrate-choose": (*ONE, *QUICK),
    "calibrate-beta-80": (*ONE, "--with", "beta", *QUICK),
    "calibrate-isotonic-md": (*ONE, "--with", "isotonic", "--format", "md", *QUICK),
    "calibrate-groups": (*ONE, "--with", "logistic", "--group", "site", "--n-simulations", "0", "-q"),
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    width = 80 if name.endswith("80") else 100
    result = run("calibrate", write_screening(tmp_path), *VIEWS[name], env={"COLUMNS": str(width)})
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)
    if not name.endswith("md"):
        assert max(map(display_width, result.stdout.splitlines())) <= width


def test_snapshot_of_multiclass_output(tmp_path: Path) -> None:
    result = run("calibrate", animals(tmp_path), *CLASSES, "--with", "temperature", "--n-simulations", "0", "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, "calibrate-classes")


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "method",
    take_in_tiers(
        [*calibration.BINARY_METHODS, "choose"], {"logistic", "isotonic", "histogram", "choose"}.__contains__
    ),
)
def test_written_calibrator_is_fitted_to_all_rows(method: str, tmp_path: Path) -> None:
    file, out = write_screening(tmp_path), tmp_path / "map.json"
    result = run("calibrate", file, *ONE, "--with", method, "--n-simulations", "0", "-o", out)
    assert result.exit_code == 0, result.stderr
    assert f"wrote {out}: Calibrator(" in result.stderr
    assert f"baserate apply {out} FILE -o OUT" in result.stderr
    data = read.tallies(file, truth="sick", score="risk", positive=1)
    actual = load_calibrator(out)
    assert isinstance(actual, Calibrator)
    assert actual.was_fitted_on(data.tally)
    assert actual.to_json() == calibration.fit(data, method).to_json()


def test_calibration_after_is_cross_fitted(tmp_path: Path) -> None:
    file = write_screening(tmp_path)
    result = run(
        "calibrate", file, *ONE, "--with", "isotonic", "--n-simulations", "0", "--folds", "3", "--seed", "4", "--json"
    )
    actual = read_results(result.stdout)
    data = read.tallies(file, truth="sick", score="risk", positive=1)
    after = calibration.cross_fit(data.tally, "isotonic", folds=3, seed=4)
    own = data.tally.with_scores(calibration.isotonic(data.tally)(data.tally.score))
    value = {(row["measure"], row["calibrated"] is None): row["value"] for row in actual["rows"] if not row["top"]}
    assert value["brier", True] == pytest.approx(measure.brier(data.tally))
    assert value["brier", False] == pytest.approx(measure.brier(after))
    assert measure.brier(own) < measure.brier(after)
    assert actual["data"]["map"]["method"] == "isotonic"
    assert {row["calibrated"] for row in actual["rows"]} == {
        None,
        "cross-fitted: isotonic, each row by a calibrator fitted without it",
    }


def test_json_contains_the_choice(tmp_path: Path) -> None:
    result = run("calibrate", write_screening(tmp_path), *ONE, "--n-simulations", "0", "--json")
    choice = read_results(result.stdout)["data"]["choice"]
    assert {row["method"] for row in choice["methods"]} == set(calibration.BINARY_METHODS)
    assert [row["method"] for row in choice["methods"] if row["chosen"]] == [choice["verdict"].split()[0]]


@pytest.mark.slow
def test_options_reach_the_method(tmp_path: Path) -> None:
    file, out = write_screening(tmp_path), tmp_path / "map.json"
    for typed, kind in (
        (("--with", "beta", "--shape", "ab"), "beta-ab"),
        (("--with", "logistic", "--smoothed", "--scale", "score"), "logistic"),
        (("--with", "histogram", "--bins", "4", "--by", "width"), "histogram"),
    ):
        result = run("calibrate", file, *ONE, *typed, "--n-simulations", "0", "-o", out)
        assert result.exit_code == 0, result.stderr
        assert load_calibrator(out).method == kind
    histogram = load_calibrator(out)
    assert isinstance(histogram, Calibrator)
    assert len(np.unique(histogram(np.linspace(0, 1, 99)))) == 4


def test_multiclass_calibrator_is_fitted(tmp_path: Path) -> None:
    file, out = animals(tmp_path), tmp_path / "map.json"
    for method in ("choose", "vector", "isotonic"):
        result = run("calibrate", file, *CLASSES, "--with", method, "--n-simulations", "0", "-o", out, "--json")
        assert result.exit_code == 0, result.stderr
        actual = load_calibrator(out)
        assert isinstance(actual, MulticlassCalibrator)
        assert dict(actual.columns) == {"cat": "p_cat", "dog": "p_dog", "fish": "p_fish"}
        value = {
            (row["measure"], row["class"], row["calibrated"] is None): row["value"]
            for row in read_results(result.stdout)["rows"]
        }
        assert value["calibration_slope", "cat", True] < 0.8
        assert value["calibration_slope", "cat", False] > value["calibration_slope", "cat", True]
    assert actual.method == "one-vs-rest-isotonic"


def test_clusters_stay_in_one_fold(tmp_path: Path) -> None:
    file = write_screening(tmp_path)
    plain, clustered = (
        run("calibrate", file, *ONE, "--with", "isotonic", "--n-simulations", "0", "--json", *more)
        for more in ((), ("--cluster", "site", "--folds", "2"))
    )
    assert plain.exit_code == clustered.exit_code == 0
    assert read_results(plain.stdout)["data"]["map"]["folds"] == 5
    assert read_results(clustered.stdout)["data"]["map"]["folds"] == 2


def test_calibrator_can_be_written_to_stdout(tmp_path: Path) -> None:
    result = run(
        "calibrate", write_screening(tmp_path), *ONE, "--with", "offset", "--n-simulations", "0", "-o", "-", "-q"
    )
    assert Calibrator.from_json(result.stdout).method == "offset"


def test_nothing_is_written_without_output(tmp_path: Path) -> None:
    file = write_screening(tmp_path)
    result = run("calibrate", file, *ONE, "--with", "offset", "--n-simulations", "0")
    assert "no calibrator was written; -o calibrator.json writes it." in result.stderr
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [
        (("--with", "spline"), 2, "there is no method 'spline'."),
        (("--with", "isotonc"), 2, "Did you mean 'isotonic'?"),
        (("--predicted", "says"), 2, "labels cannot be calibrated"),
        (("--score", "old"), 2, "a calibrator has one score"),
        (("--with", "offset", "--bins", "3"), 2, "--bins is for --with histogram"),
        (("--with", "offset", "--smoothed"), 2, "--smoothed is for --with logistic"),
        (("--labels", "a,b"), 2, "--labels is for several classes"),
        (("-o", "nowhere/map.json"), 2, "there is no folder nowhere"),
        (("-o", "-", "--json"), 2, "name a file for the calibrator"),
        (("--folds", "1"), 2, "folds"),
        (("--with", "venn-abers", "--weight", "w"), 2, "leave --weight out"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], code: int, words: str, tmp_path: Path) -> None:
    result = run("calibrate", write_people(tmp_path), *ONE, *typed)
    assert (result.exit_code, result.stdout) == (code, "")
    assert words in result.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["people.csv"]


def test_fit_errors_name_flags(tmp_path: Path) -> None:
    path = tmp_path / "parted.csv"
    path.write_text("y,p\n0,0.1\n0,0.2\n1,0.8\n1,0.9\n", encoding="utf-8")
    result = run("calibrate", path, "--truth", "y", "--score", "p", "--with", "logistic")
    assert result.exit_code == 3
    assert "a threshold between 0.2 and 0.8 separates the classes" in result.stderr
    assert "logistic with --smoothed." in result.stderr
    one = tmp_path / "one.csv"
    one.write_text("y,p\n0,0.1\n0,0.2\n", encoding="utf-8")
    single = run("calibrate", one, "--truth", "y", "--score", "p", "--with", "isotonic")
    assert single.exit_code == 3
    assert "all rows are negative" in single.stderr


def test_existing_calibrator_survives_a_failed_run(tmp_path: Path) -> None:
    file, out = write_screening(tmp_path), tmp_path / "map.json"
    assert run("calibrate", file, *ONE, "--with", "offset", "--n-simulations", "0", "-o", out).exit_code == 0
    before = out.read_text(encoding="utf-8")
    path = tmp_path / "parted.csv"
    path.write_text("sick,risk\n0,0.1\n0,0.2\n1,0.8\n1,0.9\n", encoding="utf-8")
    assert run("calibrate", path, *ONE, "--with", "beta", "-o", out).exit_code == 3
    assert out.read_text(encoding="utf-8") == before


def test_few_rows_are_noted(tmp_path: Path) -> None:
    result = run("calibrate", write_people(tmp_path), *ONE, "--with", "offset", "--n-simulations", "0")
    assert result.exit_code == 0, result.stderr
    assert "note: it was fitted on 10 rows, too few to rely on." in result.stderr


@pytest.mark.slow
def test_calibrator_is_assessed_on_other_rows(tmp_path: Path) -> None:
    file, out = write_screening(tmp_path), tmp_path / "map.json"
    run("calibrate", file, *ONE, "--with", "offset", "--n-simulations", "0", "-o", out, "-q")
    same = run("reliability", file, *ONE, "--calibrator", out, *QUICK[:2])
    assert same.exit_code == 0, same.stderr
    assert "the calibrator was fitted to the same rows, so results after calibration are optimistic." in same.stderr
    assert "after" in same.stdout
    rows = file.read_text(encoding="utf-8").splitlines()
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join(rows[:-1]) + "\n", encoding="utf-8")
    other = run("reliability", fewer, *ONE, "--calibrator", out, *QUICK[:2], "--json")
    assert other.exit_code == 0, other.stderr
    assert "fitted to the same rows" not in other.stderr
    after = [row for row in read_results(other.stdout)["rows"] if row["calibrated"]]
    assert {row["calibrated"] for row in after} == {"calibrated by map.json (offset)"}


def test_multiclass_calibrator_is_assessed(tmp_path: Path) -> None:
    file, out = animals(tmp_path), tmp_path / "map.json"
    run("calibrate", file, *CLASSES, "--with", "temperature", "--n-simulations", "0", "-o", out, "-q")
    result = run("reliability", file, *CLASSES, "--calibrator", out, "--n-simulations", "0")
    assert result.exit_code == 0, result.stderr
    assert "fitted to the same rows" in result.stderr


@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [
        (("--sample-prevalence", "derived"), 2, "--calibrator and --sample-prevalence"),
        (("--curve", "binned"), 2, "--calibrator is for numbers and tests"),
        (("--score", "old"), 2, "a calibrator applies to one"),
    ],
)
def test_options_that_exclude_a_calibrator_are_refused(
    typed: tuple[str, ...], code: int, words: str, tmp_path: Path
) -> None:
    out = tmp_path / "map.json"
    calibration.prevalence(sample_prevalence=0.5, prevalence=0.2).save(out)
    result = run("reliability", write_people(tmp_path), *ONE, "--calibrator", out, *typed)
    assert result.exit_code == code
    assert words in result.stderr


def test_calibrator_of_another_kind_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "map.json"
    calibration.prevalence(sample_prevalence=0.5, prevalence=0.2).save(out)
    result = run("reliability", pets(tmp_path), "--truth", "is", "--scores", "p_", "--calibrator", out)
    assert result.exit_code == 2
    assert "is of two classes, but the scores are of" in result.stderr
    missing = run("reliability", write_people(tmp_path), *ONE, "--calibrator", tmp_path / "no.json")
    assert missing.exit_code == 2
    out.write_text(json.dumps({"kind": "other"}), encoding="utf-8")
    broken = run("reliability", write_people(tmp_path), *ONE, "--calibrator", out)
    assert broken.exit_code == 3
    assert "map.json" in broken.stderr


def write_margins(folder: Path) -> Path:
    """Margins, which are not probabilities."""
    rng = np.random.default_rng(0)
    margin = rng.normal(size=200)
    truth = rng.random(200) < 1 / (1 + np.exp(-2 * margin))
    path = folder / "raw.csv"
    lines = (f"{int(y)},{x:.4f}\n" for y, x in zip(truth, margin, strict=True))
    path.write_text("y,margin\n" + "".join(lines), encoding="utf-8")
    return path


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", take_in_tiers(["logistic", "isotonic", "venn-abers", "choose"], 2))
def test_arbitrary_scores_become_probabilities(method: str, tmp_path: Path) -> None:
    file, out = write_margins(tmp_path), tmp_path / "map.json"
    result = run("calibrate", file, "--truth", "y", "--score", "margin", "--with", method, *QUICK[:2], "-o", out)
    assert result.exit_code == 0, result.stderr
    assert "the scores are not probabilities, so only the calibrated ones are evaluated." in result.stderr
    assert "all numbers: cross-fitted" in result.stdout
    assert "before" not in result.stdout.split("all numbers")[0]
    actual = load_calibrator(out)
    assert isinstance(actual, Calibrator)
    assert 0 < actual([-1.0])[0] < actual([1.0])[0] < 1
    judged = run(
        "reliability", file, "--truth", "y", "--score", "margin", "--calibrator", out, "--n-simulations", "0", "--json"
    )
    assert {row["calibrated"] for row in read_results(judged.stdout)["rows"]} == {
        f"calibrated by map.json ({actual.method})"
    }


def test_calibrator_is_written_even_if_not_assessable(tmp_path: Path) -> None:
    path, out = tmp_path / "few.csv", tmp_path / "map.json"
    path.write_text("y,p\n0,0.1\n1,0.3\n0,0.4\n0,0.2\n1,0.9\n0,0.6\n", encoding="utf-8")
    result = run(
        "calibrate", path, "--truth", "y", "--score", "p", "--with", "logistic", "--n-simulations", "0", "-o", out
    )
    assert result.exit_code == 0, result.stderr
    assert "note: the calibrator cannot be assessed on other rows: without fold" in result.stderr
    assert "after" not in result.stdout
    assert load_calibrator(out).method == "logistic"


@pytest.mark.parametrize(
    "method", take_in_tiers(["logistic", "histogram", "isotonic", "strict-isotonic", "venn-abers", "choose"], 2)
)
def test_scores_slightly_above_1_are_calibrated_and_applied(method: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    score = rng.integers(1, 100, 113) / 100
    score[7] = 2.07
    sick = (rng.random(113) < 0.1 + 0.7 * score).astype(int)
    file, out, mapped = (tmp_path / name for name in ("marker.csv", "map.json", "mapped.csv"))
    lines = "".join(f"{truth},{each}\n" for truth, each in zip(sick, score, strict=True))
    file.write_text("sick,marker\n" + lines, encoding="utf-8")
    query = (
        "--truth",
        "sick",
        "--score",
        "marker",
        "--positive",
        "1",
        "--with",
        method,
        "--n-simulations",
        "0",
        "-o",
        out,
    )
    result = run("calibrate", file, *query, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["data"]["map"]["method"] == Calibrator.load(out).method
    result = run("apply", out, file, "-o", mapped)
    assert result.exit_code == 0, result.stderr
    after = np.loadtxt(mapped, delimiter=",", skiprows=1)[:, -1]
    np.testing.assert_allclose(after, Calibrator.load(out)(score), rtol=1e-12)
