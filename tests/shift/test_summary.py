"""Summary in the sample and at the deployment prevalence: values, notes and groups."""

import numpy as np
import pytest

from baserate import NotBinaryError, OptionError, Results, Tallies, infer, measure, read, shift

RNG = np.random.default_rng(5)
TRUTH = RNG.random(300) < 0.3
RISK = np.clip(RNG.normal(0.3 + 0.3 * TRUTH, 0.2), 0.01, 0.99).round(3)
TABLE = {
    "sick": TRUTH.astype(int),
    "risk": RISK,
    "raw": RISK * 10 - 3,
    "says": (RISK > 0.4).astype(int),
    "site": np.where(RNG.random(300) < 0.4, "north", "coast"),
}


def read_tallies(**columns: object) -> Tallies:
    result: Tallies = read.tallies(TABLE, truth="sick", **columns)  # type: ignore[arg-type]
    return result


def values_by(result: Results, *names: str) -> dict[tuple[object, ...], float]:
    return {tuple(row[name] for name in names): row["value"] for row in result.rows()}


def test_numbers_are_those_of_reweighed_and_corrected_tallies() -> None:
    data = read_tallies(score="risk")
    sample = data.tally
    result = shift.summary(data, prevalence=0.05)
    values = values_by(result, "measure", "where", "scores")
    deployment = shift.reweigh(sample, prevalence=0.05)
    corrected = deployment.with_scores(
        shift.reprior(deployment.score, sample_prevalence=sample.prevalence, prevalence=0.05)
    )
    assert values["brier", "here", "as given"] == measure.brier(sample)
    assert values["brier", "there", "as given"] == pytest.approx(measure.brier(deployment))
    assert values["brier", "there", "corrected"] == pytest.approx(measure.brier(corrected))
    assert values["auc", "there", "as given"] == pytest.approx(values["auc", "here", "as given"])
    assert {name for name, _, scores in values if scores == "corrected"} == {"brier", "brier_skill", "log_loss"}
    interval = infer.estimate("precision", deployment, threshold=0.5)
    (row,) = (row for row in result.rows() if row["measure"] == "precision" and row["where"] == "there")
    assert (row["low"], row["high"], row["how"]) == (interval.low, interval.high, interval.how)
    assert {row["prevalence"] for row in result.rows()} == {sample.prevalence, 0.05}
    assert result.data["deployment"]["gamma"] == pytest.approx(
        shift.gamma(sample_prevalence=sample.prevalence, prevalence=0.05)
    )
    assert result.data["prevalence"] == sample.prevalence


def test_gamma_and_prevalence_give_the_same_results() -> None:
    data = read_tallies(score="risk")
    times = shift.gamma(sample_prevalence=data.tally.prevalence, prevalence=0.05)
    one, other = shift.summary(data, prevalence=0.05), shift.summary(data, gamma=times)
    names = ("measure", "where", "scores")
    assert values_by(one, *names) == pytest.approx(values_by(other, *names), nan_ok=True)


def test_the_noted_threshold_flags_the_same_rows() -> None:
    data = read_tallies(score="risk")
    (note,) = (
        note for note in shift.summary(data, prevalence=0.05, threshold=[0.4]).data["notes"] if "thresholds" in note
    )
    output = float(note.rpartition(" as ")[2].rstrip("."))
    corrected = shift.reprior(RISK, sample_prevalence=data.tally.prevalence, prevalence=0.05)
    assert output == pytest.approx(
        shift.reprior_threshold(0.4, sample_prevalence=0.05, prevalence=data.tally.prevalence)
    )
    assert (RISK == 0.4).any()
    assert ((corrected >= output) == (RISK >= 0.4)).all()


def test_groups_have_prevalences_of_their_own() -> None:
    data = read_tallies(score="risk", group="site")
    result = shift.summary(data, prevalence=0.05, interval=None)
    deployment = shift.reweigh(data, prevalence=0.05)
    for group, tally in deployment.models["risk"].items():
        rows = [row for row in result.rows() if row["group"] == {"site": group[0]} and row["where"] == "there"]
        assert {row["prevalence"] for row in rows} == {tally.prevalence}
        values = {(row["measure"], row["scores"]): row["value"] for row in rows}
        assert values["brier", "as given"] == pytest.approx(measure.brier(tally))
    assert any("each group its own" in note for note in result.data["notes"])


def test_only_probabilities_are_corrected() -> None:
    result = shift.summary(
        read_tallies(score=["risk", "raw"], predicted="says"), prevalence=0.05, threshold=0.5, interval=None
    )
    assert {row["model"] for row in result.rows() if row["scores"] == "corrected"} == {"risk"}
    assert {row["model"] for row in result.rows()} == {"risk", "raw", "says"}
    alone = shift.summary(read_tallies(score="raw"), prevalence=0.05, threshold=0.5, interval=None)
    assert {row["scores"] for row in alone.rows()} == {"as given"}
    assert not any("correct" in note for note in alone.data["notes"])


def test_an_interval_method_is_used_where_supported() -> None:
    data = read_tallies(score="risk")
    hows = {
        (row["measure"], row["where"]): row["how"]
        for row in shift.summary(data, prevalence=0.05, interval=infer.IntervalOptions(method="logit")).rows()
    }
    assert hows["precision", "there"] == "logit, prevalence known"
    assert hows["precision", "here"] == "Wilson"
    jeffreys = shift.summary(
        data, prevalence=0.05, measures=["accuracy"], interval=infer.IntervalOptions(method="jeffreys")
    )
    assert jeffreys.data["interval"]["method"] == "jeffreys"
    assert "Jeffreys" in {row["how"] for row in jeffreys.rows()}
    with pytest.raises(OptionError, match="makes no interval of f1"):
        shift.summary(data, prevalence=0.05, measures=["f1"], interval=infer.IntervalOptions(method="hanley-mcneil"))


def test_one_class_raises() -> None:
    one = read.tallies({"y": [1, 1], "p": [0.2, 0.8]}, truth="y", score="p", positive=1)
    with pytest.raises(NotBinaryError, match="there are no negatives"):
        shift.summary(one, prevalence=0.1)


PETS = {
    "is": np.array(["cat", "dog", "fish"])[RNG.integers(0, 3, 200)],
    "home": np.where(RNG.random(200) < 0.5, "town", "farm"),
}
CHANCES = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.2, 0.3, 0.5]])
PROBABILITIES = np.stack([RNG.dirichlet(6 * CHANCES[["cat", "dog", "fish"].index(name)]) for name in PETS["is"]])
PETS |= {f"p_{name}": PROBABILITIES[:, at] for at, name in enumerate(["cat", "dog", "fish"])}
SHARES = {"cat": 0.1, "dog": 0.2, "fish": 0.7}


@pytest.mark.parametrize("group", [None, "home"])
def test_decisions_of_many_classes(group: str | None) -> None:
    grouped = {} if group is None else {"group": group}
    rows = read.class_rows(PETS, truth="is", score=["p_*"], **grouped)  # type: ignore[arg-type]
    result = shift.class_summary(rows, prevalence=SHARES, interval=None)
    values = {
        (row["where"], row["scores"]): row["value"]
        for row in result.rows()
        if row["measure"] == "accuracy" and row["group"] is None
    }
    confusion = rows.confusion()
    assert values["here", "as given"] == pytest.approx(confusion.correct.sum() / confusion.total)
    recall = confusion.correct / confusion.truth
    assert values["there", "as given"] == pytest.approx(float(recall @ [0.1, 0.2, 0.7]))
    before = (confusion.truth / confusion.total).tolist()
    corrected = shift.reprior(PROBABILITIES, sample_prevalence=before, prevalence=[0.1, 0.2, 0.7]).argmax(axis=1)
    codes = np.array([["cat", "dog", "fish"].index(name) for name in PETS["is"]])
    hits = [float((corrected[codes == at] == at).mean()) for at in range(3)]
    assert values["there", "corrected"] == pytest.approx(float(np.dot(hits, [0.1, 0.2, 0.7])))
    # Decisions by probabilities at the deployment shares are better.
    assert values["there", "corrected"] > values["there", "as given"]
    shares = {
        row["class"]: row["prevalence"]
        for row in result.rows()
        if row["where"] == "there" and row["group"] is None and row["class"]
    }
    assert shares == pytest.approx(SHARES)
    assert result.data["deployment"]["prevalences"] == pytest.approx(SHARES)


def test_labels_alone_are_not_corrected() -> None:
    table = {"is": ["a", "b", "c", "a"], "called": ["a", "b", "a", "b"]}
    result = shift.class_summary(read.confusions(table, truth="is", predicted="called"), prevalence=[0.2, 0.3, 0.5])
    assert {row["scores"] for row in result.rows()} == {"as given"}
    assert {row["where"] for row in result.rows()} == {"here", "there"}


def test_scores_of_many_classes_are_not_changed() -> None:
    rows = read.class_rows(PETS, truth="is", score=["p_*"])
    with pytest.raises(OptionError, match="hand_till cannot be computed at other shares"):
        shift.class_summary(rows, prevalence=SHARES, measures=["hand_till"])
