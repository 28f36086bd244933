"""Differences from a reference group, minimum sizes, and type I error."""

from collections.abc import Mapping
from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep

from baserate import OptionError, Results, Tallies, Tally, UnknownNameError, fairness, read, shift
from baserate._domains import MIN_GROUP

Cells = tuple[int, int, int, int]
"""True and false positives, false and true negatives."""

MASKED: dict[str, Cells] = {
    "large": (600, 450, 400, 550),
    "other": (480, 200, 320, 600),
    "tiny": (3, 3, 3, 2),
}
"""FPR 0.45, 0.25 and 0.6: two large groups that differ by 0.2, and one with 5 negatives at the far end."""


def tallies(tables: Mapping[Any, Cells], attributes: tuple[str, ...] = ("g",)) -> Tallies:
    """Make tallies of groups with these confusion matrices; scores are 1 and 0."""
    result = {
        key if isinstance(key, tuple) else (key,): Tally.from_counts([1.0, 0.0], [[tp, fn], [fp, tn]])
        for key, (tp, fp, fn, tn) in tables.items()
    }
    return Tallies({"m": result}, attributes)


def select_rows(result: Results, **wanted: object) -> list[dict[str, Any]]:
    return [row for row in result.rows() if all(row[name] == value for name, value in wanted.items())]


class TestMasking:
    def test_large_groups_differ_beside_a_tiny_one(self) -> None:
        result = fairness.compare_groups(tallies(MASKED), measures=["fpr"])
        (pair,) = select_rows(result, table="difference", group={"g": "other"})
        assert pair["other"] == {"g": "large"}
        assert pair["value"] == pytest.approx(0.25 - 0.45)
        low, high = confint_proportions_2indep(200, 800, 450, 1000, method="newcomb")
        assert (pair["low"], pair["high"]) == pytest.approx((low, high), abs=1e-9)
        assert pair["p_adjusted"] < 1e-10
        (gap,) = select_rows(result, kind="max_difference")
        assert gap["value"] == pytest.approx(0.2)
        assert gap["p"] < 0.001

    def test_a_tiny_group_in_the_gap_would_hide_them(self) -> None:
        """Without a minimum size, the test over all groups detects nothing."""
        result = fairness.group_gaps(tallies(MASKED), measures=["fpr"], min_group=1)
        (gap,) = select_rows(result, kind="max_difference")
        assert gap["group"] == {"g": "tiny"}
        assert gap["p"] > 0.05

    def test_a_tiny_group_is_listed_without_a_test(self) -> None:
        result = fairness.compare_groups(tallies(MASKED), measures=["fpr"])
        (tiny,) = select_rows(result, table="difference", group={"g": "tiny"})
        assert tiny["value"] == pytest.approx(3 / 5 - 0.45)
        assert tiny["low"] < tiny["value"] < tiny["high"]
        assert (tiny["p"], tiny["p_adjusted"], tiny["p_is_bound"], tiny["trials"]) == (None, None, None, 5)
        assert tiny["why"] == "not tested: g = tiny has 5 negatives, fewer than the minimum of 50"
        (group,) = select_rows(result, table="group", group={"g": "tiny"})
        assert (group["trials"], group["small"]) == (5, True)
        (all_groups,) = select_rows(result, kind="max_difference_all")
        assert all_groups["value"] == pytest.approx(3 / 5 - 0.25)
        assert (all_groups["p"], all_groups["floor"]) == (None, None)
        wanted = "fpr: excluded from tests and gaps, with fewer than the minimum of 50: g = tiny (5 negatives)."
        assert result.data["notes"].count(wanted) == 1
        assert result.data["min_group"] == 50

    def test_p_values_are_adjusted_over_the_groups_and_measures_that_are_tested(self) -> None:
        tables = {**MASKED, "third": (100, 90, 100, 110), "fourth": (100, 80, 100, 120)}
        for names in (["fpr"], ["fpr", "sensitivity"]):
            result = fairness.group_differences(tallies(tables), measures=names)
            tested = [row for row in result.rows() if row["p"] is not None]
            assert len(tested) == 3 * len(names)
            wanted = multipletests([row["p"] for row in tested], method="holm")[1]
            assert [row["p_adjusted"] for row in tested] == pytest.approx(wanted.tolist(), rel=1e-12)

    def test_sizes_are_those_of_the_rows_that_a_measure_rests_on(self) -> None:
        tables = {"a": (60, 50, 40, 50), "b": (10, 40, 10, 60), "c": (45, 3, 45, 10)}
        result = fairness.group_differences(tallies(tables), measures=["sensitivity", "fpr", "precision", "flag_rate"])
        tested = {(row["measure"], row["group"]["g"]): row["p"] is not None for row in result.rows()}
        assert tested == {
            ("sensitivity", "b"): False,
            ("sensitivity", "c"): True,
            ("fpr", "b"): True,
            ("fpr", "c"): False,
            ("precision", "b"): True,
            ("precision", "c"): False,
            ("flag_rate", "b"): True,
            ("flag_rate", "c"): True,
        }

    @pytest.mark.parametrize(("least", "tested"), [(100, True), (101, False)])
    def test_groups_of_the_minimum_size_are_tested(self, least: int, *, tested: bool) -> None:
        tables = {"a": (70, 50, 40, 50), "b": (50, 40, 50, 60)}
        (row,) = fairness.group_differences(tallies(tables), measures=["sensitivity"], min_group=least).rows()
        assert row["trials"] == 100
        assert (row["p"] is not None) == tested

    def test_default_minimum(self) -> None:
        assert MIN_GROUP == 50
        for size, tested in ((49, False), (50, True)):
            tables = {"a": (70, 50, 40, 50), "b": (size, 40, 0, 60)}
            (row,) = fairness.group_differences(tallies(tables), measures=["sensitivity"]).rows()
            assert (row["p"] is not None) == tested

    def test_small_groups_alone_are_not_tested(self) -> None:
        result = fairness.compare_groups(tallies({"a": (5, 5, 5, 5), "b": (6, 2, 4, 3)}), measures=["fpr"])
        (row,) = select_rows(result, table="difference")
        assert row["p"] is None
        assert row["why"].startswith("not tested: g = ")
        (gap,) = select_rows(result, kind="max_difference")
        assert (gap["value"], gap["p"]) == (None, None)
        assert gap["why"] == "fewer than two groups meet the minimum size of 50"
        assert any(note.startswith("fpr: no group is tested") for note in result.data["notes"])

    def test_weighted_rows_count_as_rows(self) -> None:
        rng = np.random.default_rng(3)
        table = {
            "y": rng.integers(0, 2, 400),
            "p": rng.random(400),
            "g": np.repeat(["a", "b"], [380, 20]),
            "w": np.full(400, 50.0),
        }
        t = read.tallies(table, truth="y", score="p", group="g", weight="w")
        (row,) = fairness.group_differences(t, measures=["flag_rate"]).rows()
        assert (row["trials"], row["p"]) == (20, None)


class TestReference:
    def test_the_sign_follows_the_reference(self) -> None:
        one, other = (
            select_rows(
                fairness.group_differences(tallies(MASKED), measures=["fpr"], reference=name), group={"g": group}
            )[0]
            for name, group in (("large", "other"), ("other", "large"))
        )
        assert one["value"] == pytest.approx(-other["value"])
        assert (one["low"], one["high"]) == pytest.approx((-other["high"], -other["low"]))
        assert one["p"] == pytest.approx(other["p"])

    def test_reference_by_label_tuple_or_attributes(self) -> None:
        tables = {("f", 1): (50, 50, 50, 50), ("f", 2): (70, 50, 50, 50), ("m", 1): (40, 50, 50, 50)}
        t = tallies(tables, ("sex", "site"))
        for name in [("m", 1), ("m", "1"), {"site": 1, "sex": "m"}]:
            result = fairness.group_differences(t, measures=["fpr"], reference=name)
            assert {str(row["other"]) for row in result.rows()} == {"{'sex': 'm', 'site': 1}"}
            assert result.data["reference"] == {"sex": "m", "site": 1}
        default = fairness.group_differences(t, measures=["fpr"])
        assert {str(row["other"]) for row in default.rows()} == {"{'sex': 'f', 'site': 2}"}
        assert default.data["reference"] is None

    def test_the_default_is_the_largest_group_that_meets_the_minimum(self) -> None:
        tables = {"many": (5, 500, 5, 500), "few": (60, 50, 60, 50), "fewer": (50, 40, 50, 40)}
        result = fairness.group_differences(tallies(tables), measures=["sensitivity", "fpr"])
        assert {row["other"]["g"] for row in select_rows(result, measure="fpr")} == {"many"}
        assert {row["other"]["g"] for row in select_rows(result, measure="sensitivity")} == {"few"}

    def test_small_reference_prevents_tests(self) -> None:
        result = fairness.group_differences(tallies(MASKED), measures=["fpr"], reference="tiny")
        assert [row["p"] for row in result.rows()] == [None, None]
        assert all("g = tiny has 5 negatives" in row["why"] for row in result.rows())

    def test_invalid_options_raise(self) -> None:
        t = tallies(MASKED)
        with pytest.raises(
            UnknownNameError, match=r"reference is 'larges'; expected one of: .*Did you mean g = large\?"
        ):
            fairness.compare_groups(t, reference="larges")
        with pytest.raises(OptionError, match="expected a label for each of: g"):
            fairness.group_differences(t, reference=("large", "x"))
        with pytest.raises(OptionError, match="reference has 'sex'; expected a label for each of: g"):
            fairness.group_differences(t, reference={"sex": "f"})
        for wrong in (0, 2.5, True, "30"):
            with pytest.raises(OptionError, match=r"min_group is .*; expected a whole number of 1 or more"):
                fairness.group_gaps(t, min_group=wrong)  # type: ignore[arg-type]

    def test_precision_at_another_prevalence(self) -> None:
        t = shift.reweigh(tallies({name: MASKED[name] for name in ("large", "other")}), prevalence=0.05)
        (row,) = fairness.group_differences(t, measures=["precision"]).rows()
        odds = [0.05 / 0.95 * tpr / fpr for tpr, fpr in ((0.6, 0.25), (0.6, 0.45))]
        assert row["value"] == pytest.approx(odds[0] / (1 + odds[0]) - odds[1] / (1 + odds[1]))
        assert row["p"] < 0.001


class TestCalibration:
    @pytest.mark.slow
    def test_equal_groups_raise_no_more_false_alarms_than_the_level(self) -> None:
        """Any Holm-adjusted p below 0.05 among four groups and four measures, in samples of equal groups."""
        rng = np.random.default_rng(11)
        alarms, many = 0, 60
        for _ in range(many):
            tables = {}
            for at, size in enumerate((400, 300, 120, 60)):
                positives = int(rng.binomial(size, 0.45))
                tp, fp = int(rng.binomial(positives, 0.7)), int(rng.binomial(size - positives, 0.3))
                tables[at] = (tp, fp, positives - tp, size - positives - fp)
            measures = ["flag_rate", "sensitivity", "fpr", "precision"]
            result = fairness.group_differences(tallies(tables), measures=measures)
            alarms += min(row["p_adjusted"] for row in result.rows() if row["p"] is not None) < 0.05
        assert alarms <= 0.05 * many + 2 * sqrt(0.05 * 0.95 * many)

    def test_p_values_of_large_groups_are_those_of_a_normal_test(self) -> None:
        (row,) = fairness.group_differences(
            tallies({"a": (0, 520, 0, 480), "b": (0, 450, 0, 450)}), measures=["fpr"]
        ).rows()
        spread = sqrt(0.52 * 0.48 / 1000 + 0.5 * 0.5 / 900)
        assert row["p"] == pytest.approx(2 * norm.sf(0.02 / spread), rel=0.02)
        assert not isnan(row["p_adjusted"])
