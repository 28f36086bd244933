"""Cross-fitting and the choice of a calibrator: folds, leakage, and comparison of methods."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.linear_model import LogisticRegression

from baserate import (
    Calibrator,
    FitError,
    MulticlassRows,
    NotAProbabilityError,
    OptionError,
    Tally,
    calibration,
    measure,
    read,
    tally,
)
from baserate.calibration._cross_fitting import assign_folds, iterate_folds

Floats = npt.NDArray[np.float64]


def simulate_overconfident(size: int, seed: int = 0) -> tuple[npt.NDArray[np.bool_], Floats]:
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 1000, size) / 1000
    return rng.random(size) < 0.3 + 0.4 * p, p


def make_table(size: int, seed: int = 0) -> dict[str, Floats]:
    truth, p = simulate_overconfident(size, seed)
    return {"y": truth.astype(float), "p": p, "sex": np.arange(size) % 2 + 0.0}


def test_folds_partition_all_rows() -> None:
    t = tally(*simulate_overconfident(1003))
    parts = [fold[()] for fold in assign_folds(t, folds=4)]
    assert Tally.sum(parts).digest == t.digest
    assert np.ptp([part.rows.sum() for part in parts]) <= 1
    # Not stratified: with equal prevalences a fit would contain the prevalence of the rows that it leaves out.
    assert np.ptp([part.rows[0].sum() for part in parts]) > 1


def test_billions_of_rows_are_split_by_their_counts() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3_000_000, (2, 1000))
    t = Tally.from_counts(np.linspace(0.999, 0.001, 1000), counts)
    parts = [fold[()] for fold in assign_folds(t, folds=5)]
    assert Tally.sum(parts).digest == t.digest
    shares = np.array([part.rows.sum() for part in parts]) / t.rows.sum()
    assert shares == pytest.approx([0.2] * 5, abs=1e-4)
    after = calibration.cross_fit(t, "offset")
    assert measure.mean_probability(after) == pytest.approx(t.prevalence, rel=1e-3)


def test_rest_contains_all_other_folds() -> None:
    t = tally(*simulate_overconfident(500))
    for fold, rest in iterate_folds(assign_folds(t, folds=5)):
        assert Tally.sum([fold[()], rest]).digest == t.digest


def test_weights_stay_with_their_rows() -> None:
    truth, p = simulate_overconfident(300)
    weight = np.random.default_rng(1).random(300)
    t = tally(truth, p, weight=weight)
    parts = [fold[()] for fold in assign_folds(t, folds=3)]
    whole = Tally.sum(parts)
    assert whole.rows.tolist() == t.rows.tolist()
    assert whole.mass == pytest.approx(t.mass)
    assert whole.squares == pytest.approx(t.squares)


def test_seed_determines_the_folds() -> None:
    t = tally(*simulate_overconfident(300))
    one, same, other = (calibration.cross_fit(t, "isotonic", seed=seed).digest for seed in (1, 1, 2))
    assert one == same != other


def test_rows_are_not_fitted_to_themselves() -> None:
    """Noise is fitted well on the rows of the fit, but not on rows that were left out."""
    rng = np.random.default_rng(0)
    t = tally(rng.random(400) < 0.5, rng.random(400))
    own = t.with_scores(calibration.isotonic(t)(t.score))
    after = calibration.cross_fit(t, "histogram", bins=100)
    itself = t.with_scores(calibration.histogram(t, bins=100)(t.score))
    assert measure.brier(itself) < measure.brier(own) < 0.25 < measure.brier(after)


def test_every_fit_has_both_classes() -> None:
    t = tally([1, 1, 0, 0, 0, 0], [0.3, 0.8, 0.2, 0.4, 0.1, 0.9])
    for seed in range(40):
        for folds, many in ((2, 2), (5, 5), (20, 6)):
            parts = assign_folds(t, folds=folds, seed=seed)
            assert len(parts) == many
            assert all(rest.positives and rest.negatives for _, rest in iterate_folds(parts))
    with pytest.raises(FitError, match="one row of a class"):
        calibration.cross_fit(tally([1, 0, 0], [0.3, 0.2, 0.1]), "offset")
    with pytest.raises(FitError, match=r"without fold 1 of 4: a threshold between .* separates the classes"):
        calibration.cross_fit(tally([1, 1, 0, 0], [0.8, 0.9, 0.2, 0.1]), "logistic")
    one_cluster = {"y": [1, 1, 0, 0], "p": [0.1, 0.2, 0.3, 0.4], "who": [1, 1, 2, 3]}
    with pytest.raises(FitError, match="all rows of a class are in one fold of every partition"):
        calibration.cross_fit(read.rows(one_cluster, truth="y", score="p", cluster="who"), "isotonic")


def test_groups_are_preserved() -> None:
    data = read.tallies(make_table(400), truth="y", score="p", group="sex")
    after = calibration.cross_fit(data, "logistic")
    assert after.groups == data.groups
    for group in data.groups:
        assert after.models["p"][group].rows.sum() == data.models["p"][group].rows.sum()
        assert after.models["p"][group].positives == data.models["p"][group].positives
    assert measure.log_loss(after.pooled("p")) < measure.log_loss(data.pooled("p"))


def test_clusters_stay_together() -> None:
    """Copies of a row leak its label, unless they stay in one fold."""
    rng = np.random.default_rng(5)
    truth, p = rng.random(60) < 0.5, rng.random(60)
    copies = {"y": np.repeat(truth, 10), "p": np.repeat(p, 10), "who": np.repeat(np.arange(60), 10)}
    apart = read.rows(copies, truth="y", score="p")
    together = read.rows(copies, truth="y", score="p", cluster="who")
    leaking, honest = (
        measure.brier(calibration.cross_fit(data, "histogram", bins=60).tally) for data in (apart, together)
    )
    assert leaking < 0.05
    assert honest > 0.25
    order = rng.permutation(600)
    shuffled = read.rows({name: column[order] for name, column in copies.items()}, truth="y", score="p", cluster="who")
    one, other = (calibration.cross_fit(data, "isotonic").tally for data in (together, shuffled))
    assert one.digest == other.digest


def test_choice_of_the_better_method_reports_the_difference() -> None:
    truth, p = simulate_overconfident(4000)
    result = calibration.choose(tally(truth, p))
    rows = {row["method"]: row for row in result.results.rows()}
    assert set(rows) == set(calibration.BINARY_METHODS)
    assert rows["identity"]["matters"]
    assert rows["identity"]["low"] > 0
    assert [row["method"] for row in rows.values() if row["chosen"]] == [result.calibrator.method]
    assert result.calibrator.method == "logistic" or not rows["logistic"]["matters"]
    assert f"{result.calibrator.method} has the lowest log-loss" in result.verdict
    assert "more than chance" in result.verdict
    assert min(row["log_loss"] for row in rows.values()) == rows[result.calibrator.method]["log_loss"]
    assert isinstance(result.calibrator, Calibrator)
    assert result.calibrator.was_fitted_on(tally(truth, p))


def test_calibrated_probabilities_stay_nearly_unchanged() -> None:
    rng = np.random.default_rng(2)
    p = rng.beta(1, 3, 3000)
    result = calibration.choose(tally(rng.random(3000) < p, p))
    rows = {row["method"]: row for row in result.results.rows()}
    assert rows["identity"]["chosen"] or not rows["identity"]["matters"]
    assert rows["temperature"]["matters"] in (None, False)


def test_differences_of_losses_equal_a_computation_by_hand() -> None:
    """The table equals a computation with one loss for each row."""
    t = tally(*simulate_overconfident(200, seed=4))
    result = calibration.choose(t, methods=["identity", "logistic"], folds=3, seed=9)
    losses: dict[str, list[float]] = {"identity": [], "logistic": []}
    for fold, rest in iterate_folds(assign_folds(t, folds=3, seed=9)):
        for name, each in losses.items():
            p = calibration.BINARY_METHODS[name](rest)(fold[()].score)
            for truth, many in zip((p, 1 - p), fold[()].rows, strict=True):
                each.extend(np.repeat(-np.log(truth), many.astype(int)))
    rows = {row["method"]: row for row in result.results.rows()}
    for name, lost in losses.items():
        assert rows[name]["log_loss"] == pytest.approx(np.mean(lost))
    best, other = sorted(losses, key=lambda name: float(np.mean(losses[name])))
    apart = np.array(losses[other]) - np.array(losses[best])
    assert rows[other]["difference"] == pytest.approx(apart.mean())
    reach = 1.959963984540054 * apart.std() / np.sqrt(len(apart))
    assert (rows[other]["low"], rows[other]["high"]) == pytest.approx((apart.mean() - reach, apart.mean() + reach))


def test_methods_that_cannot_be_fitted_have_a_reason() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=300)
    result = calibration.choose(tally(rng.random(300) < 1 / (1 + np.exp(-score)), score))
    rows = {row["method"]: row for row in result.results.rows()}
    assert "from -" in rows["beta"]["why"]
    assert rows["beta"]["log_loss"] is None
    assert result.calibrator.method in {"logistic", "strict-isotonic", "venn-abers", "histogram"}
    with pytest.raises(FitError, match=r"no method can be fitted\. offset: scores go from"):
        calibration.choose(tally([0, 1, 0, 1], [-1, 2, 3, 4]), methods=["offset"])


def test_methods_with_infinite_loss_are_not_chosen() -> None:
    result = calibration.choose(tally(*simulate_overconfident(300)), methods=["isotonic", "histogram", "logistic"])
    rows = {row["method"]: row for row in result.results.rows()}
    assert (rows["isotonic"]["log_loss"], rows["isotonic"]["matters"]) == (float("inf"), True)
    assert "probability 0" in rows["isotonic"]["why"]
    assert result.calibrator.method != "isotonic"


def test_choice_is_repeated_in_each_fold() -> None:
    t = tally(*simulate_overconfident(600))
    nested = calibration.cross_fit(t, "choose", folds=3, methods=["identity", "logistic"])
    assert measure.log_loss(nested) == pytest.approx(measure.log_loss(calibration.cross_fit(t, "logistic", folds=3)))


def test_progress_is_reported() -> None:
    observed: list[tuple[int, int]] = []
    calibration.choose(
        tally(*simulate_overconfident(100)),
        methods=["offset", "logistic"],
        watch=lambda done, all_: observed.append((done, all_)),
    )
    assert observed == [(1, 2), (2, 2)]
    with pytest.raises(OptionError, match="folds is 0"):
        calibration.choose(tally(*simulate_overconfident(100)), folds=0)


ANY_SCORE = ("logistic", "histogram", "isotonic", "strict-isotonic", "venn-abers")
"""Methods that take scores of any size."""


def simulate_biomarker(size: int = 113) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Scores above 0 of which one lies above 1, so that four folds of five look like probabilities."""
    rng = np.random.default_rng(3)
    score = rng.integers(1, 100, size) / 100
    truth = rng.random(size) < 0.1 + 0.7 * score
    score[7], truth[7] = 2.07, True
    return truth, score


@pytest.mark.parametrize("method", [*ANY_SCORE, "choose"])
def test_all_rows_decide_whether_scores_are_probabilities(method: str) -> None:
    data = tally(*simulate_biomarker())
    after = calibration.cross_fit(data, method)
    assert after.probable
    assert after.rows.sum() == 113
    parts = [fold[()] for fold in assign_folds(data)]
    assert sum(part.probable for part in parts) == 4  # otherwise this tests nothing


@pytest.mark.parametrize("method", [name for name in calibration.BINARY_METHODS if name not in ANY_SCORE])
def test_methods_of_probabilities_refuse_a_score_outside(method: str) -> None:
    with pytest.raises(NotAProbabilityError, match=f"but {method} changes probabilities; fit logistic or isotonic"):
        calibration.cross_fit(tally(*simulate_biomarker()), method)


def test_folds_without_the_score_outside_are_fitted_on_the_same_scale() -> None:
    data = tally(*simulate_biomarker())
    after = calibration.cross_fit(data, "logistic")
    expected = []
    for fold, rest in iterate_folds(assign_folds(data)):
        x = np.repeat(np.tile(rest.score, 2), rest.rows.ravel().astype(int))[:, None]
        y = np.repeat([1, 0], rest.rows.sum(axis=1).astype(int))
        reference = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(x, y)
        expected.append(reference.predict_proba(fold[()].score[:, None])[:, 1])
    np.testing.assert_allclose(np.unique(after.score), np.unique(np.concatenate(expected)), rtol=1e-4)


def test_choice_compares_all_methods_on_one_scale() -> None:
    rows = calibration.choose(tally(*simulate_biomarker())).results.rows()
    compared = {row["method"] for row in rows if row["log_loss"] is not None}
    assert compared == set(ANY_SCORE)
    for row in rows:
        if row["method"] not in ANY_SCORE:
            assert f"{row['method']} changes probabilities" in row["why"]


@pytest.mark.parametrize("kind", ["rows", "clusters", "tallies", "weighted"])
def test_data_of_every_type_use_one_scale(kind: str) -> None:
    truth, score = simulate_biomarker()
    table = {"y": truth.astype(int), "x": score, "who": np.arange(113) // 2, "w": 1 + np.arange(113) % 3}
    names: dict[str, Any] = {"truth": "y", "score": "x"}
    makers: dict[str, Callable[[], Any]] = {
        "rows": lambda: read.rows(table, **names),
        "clusters": lambda: read.rows(table, **names, cluster="who"),
        "tallies": lambda: read.tallies(table, **names),
        "weighted": lambda: read.tallies(table, **names, weight="w"),
    }
    after = calibration.cross_fit(makers[kind](), "isotonic")
    assert after.pooled("x").probable


def test_probabilities_option_overrides_the_range_of_scores() -> None:
    data = tally(*simulate_overconfident(200))
    assert calibration.fit(data, "isotonic").form.of_probabilities
    assert calibration.fit(data, "isotonic", probabilities=False)([7.0]) == calibration.fit(data, "isotonic")([0.999])
    assert calibration.fit(data, probabilities=False).form.kind == "line"
    with pytest.raises(NotAProbabilityError, match="scores are not probabilities, but beta changes probabilities"):
        calibration.fit(data, "beta", probabilities=False)
    chosen = calibration.choose(data, probabilities=False, methods=["beta", "logistic"])
    assert chosen.calibrator.form.kind == "line"
    assert calibration.cross_fit(data, probabilities=False).digest != calibration.cross_fit(data).digest


def test_multiclass_scores_of_all_rows_determine_the_scale() -> None:
    rng = np.random.default_rng(5)
    score = rng.random((60, 3))
    truth = score.argmax(axis=1)
    truth[::4] = rng.integers(0, 3, 15)
    score[0, 0] = 3.5  # of one class alone: the scores of the others lie in [0, 1]
    rows = MulticlassRows(truth, score, ("a", "b", "c"))
    for method in ("one-vs-rest-logistic", "one-vs-rest-isotonic", "one-vs-rest-venn-abers"):
        result = calibration.fit(rows, method)
        np.testing.assert_allclose(result(score).sum(axis=1), 1)
        after = calibration.cross_fit(rows, method, folds=3)
        np.testing.assert_allclose(after.score.sum(axis=1), 1)
    assert calibration.choose(rows, folds=3).calibrator.method.startswith("one-vs-rest")
    with pytest.raises(NotAProbabilityError):
        calibration.cross_fit(rows, "one-vs-rest-beta", folds=3)
