"""The summary of decisions among several classes."""

import numpy as np
import pytest

from baserate import CostMatrix, EmptyDataError, MulticlassRows, OptionError, class_scores, decide, shift
from tests.schemas import read_results

TRIAGE = CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], ["home", "ward", "theatre"])
TO = {"home": 0.9, "ward": 0.08, "theatre": 0.02}


@pytest.fixture
def rows() -> MulticlassRows:
    rng = np.random.default_rng(2)
    p = rng.dirichlet([1.0, 1.0, 1.0], 120)
    truth = np.minimum((p.cumsum(axis=1) < rng.random((120, 1))).sum(axis=1), 2)
    return MulticlassRows(truth, p[:, [2, 0, 1]], ("theatre", "home", "ward"))


def values_by_rule(rows: MulticlassRows, **query: object) -> dict[tuple[str, str], float]:
    result = decide.multiclass_summary(rows, TRIAGE, **query)  # type: ignore[call-overload]
    return {(row["rule"], row["measure"]): row["value"] for row in result.rows() if row["class"] is None}


def test_rows_agree_with_the_decisions(rows: MulticlassRows) -> None:
    result = decide.multiclass_summary(rows, TRIAGE, refer=0.5, level=0.9)
    decisions = decide.least_cost(rows, TRIAGE, refer=0.5)
    output = read_results(result.to_json())
    cells = {(row["class"], row["against"]): row["value"] for row in output["rows"] if row["measure"] == "cell"}
    table = decisions.confusion(rows)
    assert cells == {
        (true, decided): table.mass[at, to]
        for at, true in enumerate(TRIAGE.labels)
        for to, decided in enumerate(TRIAGE.labels)
    }
    left = {row["class"]: row["value"] for row in output["rows"] if row["measure"] == "referred"}
    assert left == dict(zip(TRIAGE.labels, decisions.referred_mass(rows).tolist(), strict=True))
    for row in decisions.results(rows, level=0.9).rows():
        (realised,) = (r for r in output["rows"] if (r["rule"], r["measure"]) == (row["rule"], "cost_realised"))
        assert [realised[name] for name in ("value", "low", "high", "level", "how")] == [
            row[name] for name in ("realised", "low", "high", "level", "how")
        ]
    assert output["data"]["interval"]["level"] == 0.9
    assert output["data"]["decisions"] == ["home", "ward", "theatre"]
    assert "same" not in output["data"]


def test_posteriors_are_adjusted_to_stated_shares(rows: MulticlassRows) -> None:
    moved = shift.reprior(
        rows.score,
        sample_prevalence=rows.support / rows.total,
        prevalence=[TO[str(label)] for label in rows.labels],
        labels=rows.labels,
    )
    adjusted = MulticlassRows(rows.truth, moved, rows.labels)
    by_hand = decide.least_cost(adjusted, TRIAGE, refer=0.5)
    wanted = by_hand.results(adjusted, prevalence=TO).rows()[0]
    result = decide.multiclass_summary(rows, TRIAGE, refer=0.5, prevalence=TO)
    assert values_by_rule(rows, refer=0.5, prevalence=TO)["least cost", "cost_realised"] == wanted["realised"]
    cells = [row["value"] for row in result.rows() if row["measure"] == "cell"]
    np.testing.assert_allclose(cells, by_hand.confusion(adjusted, prevalence=TO).mass.ravel())
    assert result.data["deployment"]["prevalences"] == pytest.approx(TO)
    assert any("taken as known" in note for note in result.data["notes"])
    # Posteriors that know the shares decide more cheaply there than those that do not.
    unmoved = decide.least_cost(rows, TRIAGE, refer=0.5).results(rows, prevalence=TO).rows()[0]
    assert wanted["realised"] < unmoved["realised"]


def test_optional_rows_are_absent_by_default(rows: MulticlassRows) -> None:
    result = decide.multiclass_summary(rows, TRIAGE, level=None)
    assert "interval" not in result.data
    assert {row["measure"] for row in result.rows()} == {"cell", "cost_expected", "cost_realised"}
    assert all(row["low"] is None for row in result.rows())


def test_errors(rows: MulticlassRows) -> None:
    with pytest.raises(OptionError, match="multiclass_summary needs labels and scores"):
        decide.multiclass_summary(rows.score, TRIAGE)  # type: ignore[call-overload]
    absent = class_scores(["home", "ward"], [[0.5, 0.3, 0.2]] * 2, labels=["home", "ward", "theatre"])
    with pytest.raises(EmptyDataError, match="no rows of the class 'theatre'"):
        decide.multiclass_summary(absent, TRIAGE, prevalence=TO)
    assert len(decide.multiclass_summary(absent, TRIAGE)) == 9 + 4
