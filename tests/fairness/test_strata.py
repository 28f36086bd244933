"""Differences within strata, pooled, with a test of homogeneity; intersections against what attributes explain."""

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings, strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from baserate import OptionError, Tallies, Tally, fairness, read
from baserate.fairness._intersections import _make_design
from tests.fairness.test_groups import people

BERKELEY = {
    "A": ((512, 313), (89, 19)),
    "B": ((353, 207), (17, 8)),
    "C": ((120, 205), (202, 391)),
    "D": ((138, 279), (131, 244)),
    "E": ((53, 138), (94, 299)),
    "F": ((22, 351), (24, 317)),
}
"""Admitted and rejected men, then women, by department (Bickel et al. 1975; `UCBAdmissions` of R)."""


def count_tallies(tables: dict[tuple[str, str], tuple[int, int]], names: tuple[str, str] = ("sex", "dept")) -> Tallies:
    """Make tallies of flagged and other rows of each group and stratum; the decision is the outcome."""
    parts: dict[tuple[object, ...], Tally] = {
        key: Tally.from_counts([1.0, 0.0], [[a, 0], [0, b]]) for key, (a, b) in tables.items()
    }
    return Tallies({"admitted": parts}, names)


@pytest.fixture(scope="module")
def berkeley() -> Tallies:
    return count_tallies(
        {(sex, dept): pair for dept, each in BERKELEY.items() for sex, pair in zip("mf", each, strict=True)}
    )


def of_kind(results: Any, kind: str) -> list[dict[str, Any]]:  # noqa: ANN401
    return [row for row in results.rows() if row["kind"] == kind]


class TestBerkeley:
    def test_the_difference_vanishes_within_departments(self, berkeley: Tallies) -> None:
        results = fairness.stratified_differences(berkeley, control="dept", measures=["flag_rate"], reference="m")
        (crude,), (pooled,), (test,) = (of_kind(results, kind) for kind in ("crude", "pooled", "homogeneity"))
        # epiR 2.0.57: epi.2by2(..., method = "cohort.count"), ARisk.crude.wald and ARisk.mh.sato
        assert crude["value"] == pytest.approx(-0.1416454, abs=1e-7)
        numbers = [pooled[name] for name in ("value", "low", "high")]
        assert numbers == pytest.approx([0.0184252, -0.01063204, 0.04748244], abs=1e-7)
        assert (crude["p"] < 1e-20, pooled["p"] > 0.2) == (True, True)
        assert (test["degrees"], test["p"] < 0.01) == (5, True)

    def test_the_department_that_differs_is_found(self, berkeley: Tallies) -> None:
        results = fairness.stratified_differences(
            berkeley, control="dept", measures=["flag_rate"], reference="m", min_group=1
        )
        strata = {row["stratum"]["dept"]: row for row in of_kind(results, "stratum")}
        assert [name for name, row in strata.items() if row["p_adjusted"] < 0.05] == ["A"]
        for dept, ((a, b), (c, d)) in BERKELEY.items():
            row = strata[dept]
            wanted = confint_proportions_2indep(c, c + d, a, a + b, method="newcomb")
            assert (row["low"], row["high"]) == pytest.approx(wanted, abs=1e-9)
            assert (row["trials"], row["other_trials"]) == (c + d, a + b)
        weights = {dept: (a + b) * (c + d) / (a + b + c + d) for dept, ((a, b), (c, d)) in BERKELEY.items()}
        for dept, weight in weights.items():
            assert strata[dept]["weight"] == pytest.approx(weight / sum(weights.values()))

    def test_intersections_equal_residuals_of_least_squares(self, berkeley: Tallies) -> None:
        results = fairness.intersection_excess(berkeley, measures=["flag_rate"], min_group=1)
        rows = of_kind(results, "excess")
        labels = [tuple(row["group"].values()) for row in rows]
        counts = {(s, d): pair for d, each in BERKELEY.items() for s, pair in zip("mf", each, strict=True)}
        sizes = [sum(counts[key]) for key in labels]
        shares = [counts[key][0] / sum(counts[key]) for key in labels]
        fit = sm.WLS(shares, _make_design(labels), weights=sizes).fit()
        assert [row["value"] for row in rows] == pytest.approx(list(fit.resid), abs=1e-12)
        assert [row["expected"] for row in rows] == pytest.approx(list(fit.fittedvalues), abs=1e-12)
        (joint,) = of_kind(results, "joint")
        assert joint["degrees"] == 5
        assert joint["p"] < 0.01


cells = st.tuples(st.integers(0, 30), st.integers(0, 30))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
def test_pooled_differences_equal_the_formula(strata: list[Any]) -> None:
    tables = {(sex, str(at)): pair for at, each in enumerate(strata) for sex, pair in zip("mf", each, strict=True)}
    kept = {key: pair for key, pair in tables.items() if sum(pair)}
    if {sex for sex, _ in kept} != {"m", "f"}:
        return
    t = count_tallies(kept)
    results = fairness.stratified_differences(t, control="dept", measures=["flag_rate"], reference="m", min_group=1)
    (pooled,) = of_kind(results, "pooled")
    both = [each for each in strata if sum(each[0]) and sum(each[1])]
    assert len([row for row in of_kind(results, "stratum") if row["weight"] > 0]) == len(both)
    if not both:
        assert pooled["why"] == "no stratum has rows of both groups for this measure"
        return
    (a, b), (c, d) = np.array(both, dtype=float).transpose(1, 2, 0)
    n, m = a + b, c + d
    weight = n * m / (n + m)
    assert pooled["value"] == pytest.approx(float(np.sum(weight * (c / m - a / n)) / weight.sum()), abs=1e-12)
    assert pooled["low"] <= pooled["value"] <= pooled["high"]


def test_one_stratum_is_the_crude_difference() -> None:
    t = count_tallies({("m", "A"): (60, 40), ("f", "A"): (45, 55)})
    results = fairness.stratified_differences(t, control="dept", measures=["flag_rate"], reference="m")
    (crude,), (pooled,), (test,) = (of_kind(results, kind) for kind in ("crude", "pooled", "homogeneity"))
    assert pooled["value"] == pytest.approx(crude["value"])
    assert test["why"] == "there is a single stratum with both groups"


def test_strata_without_a_group_are_reported() -> None:
    t = count_tallies({("m", "A"): (60, 40), ("f", "A"): (45, 55), ("m", "B"): (70, 30)})
    results = fairness.stratified_differences(t, control="dept", measures=["flag_rate"], reference="m")
    _, row = of_kind(results, "stratum")
    assert (row["stratum"], row["weight"], row["value"], row["trials"]) == ({"dept": "B"}, 0, None, 0)
    assert row["why"] == "there are no rows of the group for this measure"
    assert (
        results.data["notes"] == ["dept = B has no rows of sex = f."]
        or "dept = B has no rows of sex = f." in (results.data["notes"])
    )


@pytest.mark.parametrize("name", ["sensitivity", "auc", "brier", "f1"])
def test_other_measures_are_pooled_too(name: str) -> None:
    data = people(1500)
    t = read.tallies(data, truth="sick", score="risk", group=["sex", "site"])
    results = fairness.stratified_differences(t, control="site", measures=[name], relative_to="rest")
    (pooled,) = of_kind(results, "pooled")
    strata = of_kind(results, "stratum")
    assert pooled["value"] == pytest.approx(sum(row["weight"] * row["value"] for row in strata), abs=1e-12)
    assert pooled["low"] < pooled["value"] < pooled["high"]
    # No narrower than that of all rows would be, and narrower than any stratum.
    assert pooled["high"] - pooled["low"] < min(row["high"] - row["low"] for row in strata)
    (test,) = of_kind(results, "homogeneity")
    assert 0 < test["p"] <= 1


def test_weights_of_rows_count_with_their_effective_size() -> None:
    data = people(1500)
    plain, equal, unequal = (
        read.tallies(data | {"w": weight}, truth="sick", score="risk", group=["sex", "site"], weight="w")
        for weight in (np.ones(1500), np.full(1500, 3.0), np.where(np.arange(1500) % 2, 0.2, 1.8))
    )
    widths = []
    for t in (plain, equal, unequal):
        (row,) = of_kind(fairness.stratified_differences(t, control="site", by="sex", measures=["flag_rate"]), "pooled")
        widths.append(row["high"] - row["low"])
    assert widths[1] == pytest.approx(widths[0], rel=1e-9)
    assert widths[2] / widths[0] == pytest.approx(np.sqrt(1.64), rel=0.1)  # Kish: 1 + cv²


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"control": "age"}, "control is 'age'; expected some of the attributes"),
        ({"control": ()}, "control is empty"),
        ({"control": "site", "by": "site"}, "'site' defines both groups and strata"),
        ({"control": ["sex", "site"]}, "no attribute is left to define groups"),
        ({"control": "site", "relative_to": "overall"}, "strata compare independent groups"),
    ],
)
def test_wrong_strata_are_refused(options: dict[str, Any], message: str) -> None:
    t = read.tallies(people(), truth="sick", score="risk", group=["sex", "site"])
    with pytest.raises(OptionError, match=message):
        fairness.stratified_differences(t, **options)


class TestIntersections:
    def test_additive_groups_have_no_excess(self) -> None:
        tables = {("f", "a"): (80, 20), ("f", "b"): (50, 50), ("m", "a"): (60, 40), ("m", "b"): (30, 70)}
        results = fairness.intersection_excess(count_tallies(tables), measures=["flag_rate"])
        assert [row["value"] for row in of_kind(results, "excess")] == pytest.approx([0] * 4, abs=1e-12)
        (joint,) = of_kind(results, "joint")
        assert joint["p"] == pytest.approx(1)

    def test_an_excess_is_a_share_of_the_interaction(self) -> None:
        # With equal sizes, each residual is a quarter of the difference of differences.
        tables = {("f", "a"): (90, 10), ("f", "b"): (50, 50), ("m", "a"): (60, 40), ("m", "b"): (30, 70)}
        rows = of_kind(fairness.intersection_excess(count_tallies(tables), measures=["flag_rate"]), "excess")
        assert [row["value"] for row in rows] == pytest.approx([0.025, -0.025, -0.025, 0.025])
        assert {round(row["p"], 6) for row in rows} == {round(rows[0]["p"], 6)}

    def test_small_intersections_are_not_tested(self) -> None:
        tables = {("f", "a"): (90, 10), ("f", "b"): (5, 5), ("m", "a"): (60, 40), ("m", "b"): (30, 70)}
        rows = of_kind(fairness.intersection_excess(count_tallies(tables), measures=["flag_rate"]), "excess")
        assert [row["p"] is None for row in rows] == [False, True, False, False]
        assert rows[1]["why"] == "not tested: it has 10 rows, fewer than the minimum of 50"

    @pytest.mark.parametrize("name", ["auc", "brier", "precision", "kappa"])
    def test_other_measures(self, name: str) -> None:
        t = read.tallies(people(2000), truth="sick", score="risk", group=["sex", "site"])
        results = fairness.intersection_excess(t, measures=[name], min_group=1)
        for row in of_kind(results, "excess"):
            assert row["value"] == pytest.approx(row["observed"] - row["expected"], abs=1e-12)
            assert row["low"] < row["value"] < row["high"]
        (joint,) = of_kind(results, "joint")
        assert (joint["degrees"], joint["p"] > 0.001) == (2, True)  # (2 − 1)(3 − 1)

    def test_a_single_attribute_is_refused(self) -> None:
        t = read.tallies(people(), truth="sick", score="risk", group="sex")
        with pytest.raises(OptionError, match="expected 2 attributes or more"):
            fairness.intersection_excess(t)

    def test_the_joint_test_rejects_rarely_without_interaction(self) -> None:
        rng = np.random.default_rng(5)
        shares = {("f", "a"): 0.5, ("f", "b"): 0.3, ("m", "a"): 0.35, ("m", "b"): 0.15}
        rejected = 0
        for _ in range(400):
            tables = {key: (int(hit := rng.binomial(80, p)), 80 - int(hit)) for key, p in shares.items()}
            results = fairness.intersection_excess(count_tallies(tables), measures=["flag_rate"])
            (joint,) = of_kind(results, "joint")
            rejected += joint["p"] < 0.05
        assert 0.025 <= rejected / 400 <= 0.08


def test_tables_of_attributes_contain_strata_and_intersections() -> None:
    data = people(900) | {"age": np.random.default_rng(2).choice(["old", "young"], 900)}
    t = read.tallies(data, truth="sick", score="risk", group=["sex", "site", "age"])
    options: dict[str, Any] = {"measures": ["fpr"], "min_group": 1}
    results = fairness.compare_attributes(
        t, ["sex", "site"], control="age", intersections=True, ratios=True, n_permutations=100, **options
    )
    assert [*dict.fromkeys(results.columns["table"])] == [
        *("group", "difference", "ratio", "gap", "stratum", "intersection")
    ]
    alone = fairness.stratified_differences(t, by="sex", control="age", **options)
    shown = [row for row in results.rows() if row["table"] == "stratum" and row["by"] == "sex"]
    assert [{name: row[name] for name in alone.columns} for row in shown] == alone.rows()
    excess = fairness.intersection_excess(t, by=["sex", "site"], **options)
    shown = [row for row in results.rows() if row["table"] == "intersection"]
    assert [{name: row[name] for name in excess.columns} for row in shown] == excess.rows()
