"""Calibration as calzone, relplot, probcal, model-diagnostics and uncertainty-calibration measure it; and who is right.

calzone leaves the lowest row out of its bins of equal mass, and p = 0 out of all: `as_calzone_bins` does that here, and
only here. Ours count every row.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from scipy.special import expit, logit

from baserate import Tally, infer, measure, read, shift, tally
from baserate.measure._calibration_bins import By
from baserate.measure._calibration_slope import calibration_offset, fit_recalibration
from tests.prevalence import adjust_to_sample
from tests.tiers import take_in_tiers

Floats = npt.NDArray[np.float64]
Columns = Callable[[str], dict[str, list[str]]]
Published = Callable[[str], Any]

PRINTED, EXACT = 0.49863799264980607, 0.4986383612484696
BUNDLED = ("simulated_welldata", "simulated_misdata", "simulated_data_subgroup")

Z = 1.959963984540054
near = partial(pytest.approx, rel=1e-9, abs=1e-12)


class Data(NamedTuple):
    """Whether it happened, and the probability that it would."""

    truth: npt.NDArray[np.bool_]
    p: Floats

    @property
    def tally(self) -> Tally:
        return tally(self.truth, self.p)

    def top(self) -> "Data":
        """The likelier class, as calzone takes it: of equal ones, the first."""
        flagged = self.p > 0.5
        return Data(flagged == self.truth, np.where(flagged, self.p, 1 - self.p))

    def clip(self, nearest: float = 1e-7) -> "Data":
        """Probabilities as calzone moves them before it takes log-odds."""
        return Data(self.truth, np.clip(self.p, nearest, 1 - nearest))

    def adjusted(self, prevalence: float) -> "Data":
        """The same rows at the scores that `calibrate` gives them."""
        order = np.unique(self.p, return_inverse=True)[1]
        score = adjust_to_sample(self.tally, prevalence).score[::-1]
        return Data(self.truth, score[order])


def as_calzone_bins(data: Data, bins: int = 10) -> tuple[Tally, list[float]]:
    """Rows and edges of calzone's bins of equal mass, (lo, hi] from the lowest probability on, which is in none."""
    edges = np.quantile(data.p, np.linspace(0, 1, bins + 1))
    there = data.p > edges[0]
    edges[0], edges[-1] = 0, 1
    return tally(data.truth[there], data.p[there]), edges.tolist()


def binned_measures(data: Data, bins: int = 10) -> dict[str, float]:
    """Binned numbers by the names of calzone."""
    result: dict[str, float] = {}
    for suffix, part in {"": data, " topclass": data.top()}.items():
        cut, edges = as_calzone_bins(part, bins)
        kinds: list[tuple[str, Tally, int | list[float]]] = [("H", part.tally, bins), ("C", cut, edges)]
        for kind, t, given in kinds:
            result[f"ECE-{kind}{suffix}"] = measure.ece(t, bins=given)
            result[f"MCE-{kind}{suffix}"] = measure.mce(t, bins=given)
            if not suffix:
                check = infer.hosmer_lemeshow(t, bins=given, by="width")
                assert check.freedom is not None
                # It takes two degrees of freedom off whatever the rows, and never simulates.
                p = stats.chi2.sf(check.statistic, check.freedom - 2)
                result |= {f"HL-{kind} score": check.statistic, f"HL-{kind} p-value": float(p)}
    return result


def unbinned_measures(data: Data, nearest: float = 0.0) -> dict[str, float]:
    """The other numbers by the names of calzone, lines after its clipping."""
    t, cut = data.tally, data.clip(nearest).tally
    z = infer.spiegelhalter(t)
    result = {"SpiegelhalterZ score": z.statistic, "SpiegelhalterZ p-value": z.p, "Loess ICI": measure.ici(t)}
    return result | {"COX ICI": measure.cox_ici(cut)} | line(cut)


def line(t: Tally) -> dict[str, float]:
    """Intercept and slope with Wald's bounds, by the names of calzone: its variance is that of a line that is right."""
    fit = fit_recalibration(t)
    result: dict[str, float] = {}
    for at, name, value in ((1, "coef", float(fit.slope)), (0, "intercept", float(fit.intercept))):
        reach = Z * float(np.sqrt(fit.covariance[at, at]))
        result |= {f"COX {name}": value, f"COX {name} lowerci": value - reach, f"COX {name} upperci": value + reach}
    return result


def assert_equal(ours: dict[str, float], theirs: dict[str, Any], *, rel: float = 1e-9) -> None:
    """All numbers that both have; and there are some."""
    before_and_after = [name for name in ours if name in theirs]
    assert before_and_after
    for name in before_and_after:
        # calzone takes a p-value from 1, so it knows no more than 16 digits after the point; and for its test of Hosmer
        # and Lemeshow it moves the shares of bins without one of the classes by 1e-7.
        within = max(rel, 3e-5) if name.startswith("HL-C") else rel
        assert ours[name] == pytest.approx(theirs[name], rel=within, abs=1e-11), name


@pytest.fixture(scope="module")
def data(columns: Columns) -> Data:
    """Rows of which half of the positives were lost."""
    rows = columns("calzone_prevalence.csv")
    return Data(np.array(rows["y"], dtype=float) == 1, np.array(rows["p"], dtype=float))


@pytest.fixture(scope="module")
def facts(load_published: Published) -> dict[str, Any]:
    result = load_published("calzone_prevalence_reference.json")
    assert isinstance(result, dict)
    return result


@pytest.fixture(scope="module")
def peers(load_published: Published) -> dict[str, Any]:
    result = load_published("calib_peers_reference.json")
    assert isinstance(result, dict)
    return result


@pytest.fixture(scope="module")
def bundled_values(load_published: Published) -> dict[str, Any]:
    result = load_published("calzone_bundled_reference.json")
    assert isinstance(result, dict)
    return result


@pytest.fixture(scope="module")
def before_and_after(data: Data) -> dict[str, Data]:
    return {"before": data, "after": data.adjusted(PRINTED)}


def test_rows_of_the_page(data: Data) -> None:
    assert (len(data.p), data.truth.sum()) == (3760, 1241)
    assert data.tally.prevalence == pytest.approx(0.3300531914893617, rel=1e-15)


PAGE = {
    "before": {
        "ECE-H topclass": 0.014081013182402267,
        "ECE-H": 0.0841517729106883,
        "COX coef": 0.9400481147756811,
        "COX coef lowerci": 0.8754203499121679,
        "COX coef upperci": 1.0046758796391944,
        "COX intercept": -0.6897839569176842,
        "COX intercept lowerci": -0.7837388214288888,
        "COX intercept upperci": -0.5958290924064796,
        "COX ICI": 0.0841517733462589,
        "Loess ICI": 0.07961758926734244,
    },
    "after": {
        "ECE-H topclass": 0.010355911839501922,
        "ECE-H": 0.013671230516636386,
        "COX coef": 0.9400481147756811,
        "COX coef lowerci": 0.8754203499121679,
        "COX coef upperci": 1.0046758796391944,
        "COX intercept": -0.029403495083063648,
        "COX intercept lowerci": -0.12775157222121533,
        "COX intercept upperci": 0.06894458205508802,
        "COX ICI": 0.007508966220374058,
        "Loess ICI": 0.008745511902314453,
    },
}


@pytest.mark.parametrize("when", ["before", "after"])
def test_all_values_of_the_page(before_and_after: dict[str, Data], when: str) -> None:
    t = before_and_after[when].tally
    assert_equal(unbinned_measures(before_and_after[when]), PAGE[when], rel=1e-11)
    assert measure.ece(t) == near(PAGE[when]["ECE-H"])
    assert measure.ece(t.top_class()) == near(PAGE[when]["ECE-H topclass"])


@pytest.mark.parametrize("when", ["before", "after"])
def test_all_values_of_calzone(before_and_after: dict[str, Data], facts: dict[str, Any], when: str) -> None:
    theirs = facts["calzone_0.1.0_eps1e-10_matches_page"][when]
    result = binned_measures(before_and_after[when]) | unbinned_measures(before_and_after[when])
    assert len([name for name in result if name in theirs]) == 22
    assert_equal(result, theirs)
    for kind, by in (("H", "width"), ("C", "mass")):
        check = infer.hosmer_lemeshow(before_and_after[when].tally, by=by)  # type: ignore[call-overload]
        # Without its lowest row the statistic differs in the ninth digit.
        p = theirs[f"HL-{kind} p-value (df=nbins, validation)"]
        simulated = "simulated" in check.how
        assert check.p == (pytest.approx(p, abs=0.03) if simulated else pytest.approx(p, rel=1e-7, abs=1e-12))
        assert check.freedom == theirs[f"HL-{kind} df"] + 2 == 10


def test_calzone_clips_at_1e_7_by_default(data: Data, facts: dict[str, Any]) -> None:
    theirs = facts["calzone_0.1.0_default_eps1e-7"]
    assert_equal(binned_measures(data), theirs["before"])
    assert_equal(unbinned_measures(data), theirs["before"], rel=1e-7)
    assert_equal(line(data.clip().tally), theirs["before"])
    after = data.clip().adjusted(theirs["after"]["Optimal prevalence"])
    assert_equal(binned_measures(after) | unbinned_measures(after, 1e-7), theirs["after"], rel=1e-7)


def test_recalibration_lines_with_a_fixed_parameter(data: Data, facts: dict[str, Any]) -> None:
    theirs = facts["calzone_0.1.0_eps1e-10_matches_page"]["before"]
    result = calibration_offset(data.tally)
    assert float(result.value) == near(theirs["COX fix_slope intercept"])
    bounds = [float(result.value + side * Z * np.sqrt(result.variance)) for side in (-1, 1)]
    assert bounds == near(theirs["COX fix_slope intercept CI"])


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("kind", "by"), [("H", "width"), ("C", "mass")])
@pytest.mark.parametrize("suffix", ["", " topclass"])
def test_curves_in_bins(
    before_and_after: dict[str, Data], facts: dict[str, Any], *, when: str, kind: str, by: By, suffix: str
) -> None:
    theirs = facts["calzone_0.1.0_eps1e-10_matches_page"][when][f"bins-{kind}{suffix}"]
    part = before_and_after[when].top() if suffix else before_and_after[when]
    ours = infer.calibration_curve(part.tally, "binned", options=infer.CurveOptions(by=by))
    assert ours["mass"].sum() == len(part.p)
    counts = np.array(theirs["counts"])
    there = counts > 0
    if kind == "H":
        assert ours["mass"].tolist() == counts[there].tolist()
    else:
        # Ours has the lowest row, too; all other bins are the same.
        assert (ours["mass"] - counts).tolist() == [1, *[0] * 9]
        cut, edges = as_calzone_bins(part)
        ours = infer.calibration_curve(cut, "binned", options=infer.CurveOptions(bins=edges))
        assert ours["mass"].tolist() == counts.tolist()
    assert ours["share"] == near(np.array(theirs["reliability"])[there])
    assert ours["probability"] == near(np.array(theirs["confidence"])[there])


def test_a_row_with_probability_0_is_in_a_bin() -> None:
    # calzone's bins are (lo, hi] without exception: it would say 0.1 here, and 0 rows in the lowest bin.
    t = tally([1, 0, 1], [0.0, 0.1, 0.9])
    assert measure.ece(t) == pytest.approx((1 - 0.1 + 0.1) / 3)
    cut, _ = as_calzone_bins(Data(np.array([True, False, True]), np.array([0.0, 0.1, 0.9])))
    assert measure.ece(cut) == pytest.approx(0.1)
    assert infer.calibration_curve(t)["mass"].tolist() == [2, 1]


def test_the_exact_prevalence(data: Data, facts: dict[str, Any]) -> None:
    t, theirs = data.tally, facts["exact_prevalence"]
    result, moved = infer.derived_prevalence(t), calibration_offset(t)
    assert [result.value, float(moved.value)] == pytest.approx([EXACT, -0.7024979226775016], rel=1e-13)
    assert float(np.sqrt(moved.variance)) == pytest.approx(theirs["se_c"], rel=1e-9)
    assert float(np.sqrt(moved.variance)) == pytest.approx(0.048406, abs=5e-7)
    # With the sandwich variance the interval is 2% wider than that of the page.
    assert [result.low, result.high] == pytest.approx([0.47494, 0.52234], abs=1e-3)
    wide = infer.estimate("calibration_in_the_large", t)
    assert [result.low, result.high] == near(expit(logit(t.prevalence) - np.array([wide.high, wide.low])))
    # The reference takes 1.96 standard errors.
    bounds = expit(logit(t.prevalence) - (moved.value + np.array([1.96, -1.96]) * theirs["se_c"]))
    assert bounds == near(theirs["eta_ci95"])
    after = adjust_to_sample(t)
    assert after.score == pytest.approx(adjust_to_sample(t, EXACT).score, rel=1e-12)
    assert measure.mean_probability(after) == pytest.approx(t.prevalence, rel=1e-13)
    assert measure.ece(after) == pytest.approx(0.0136712452, abs=5e-11)
    assert measure.calibration_intercept(after) == pytest.approx(-0.0294021, abs=5e-8)
    assert abs(measure.calibration_in_the_large(after)) < 1e-13


def test_reprior_is_the_adjustment_of_the_page(data: Data) -> None:
    """σ(logit p + logit ȳ − logit η), as posteriors that were made for η and are carried to ȳ."""
    t = data.tally
    after = shift.reprior(t.score, sample_prevalence=PRINTED, prevalence=t.prevalence)
    assert after == pytest.approx(expit(logit(t.score) + logit(t.prevalence) - logit(PRINTED)), rel=1e-12)
    assert measure.ece(t.with_scores(after)) == pytest.approx(0.013671230516636386, rel=1e-9)


def test_the_exact_prevalence_has_the_least_log_loss(data: Data) -> None:
    t = data.tally
    here, printed = (measure.log_loss(adjust_to_sample(t, at)) for at in (EXACT, PRINTED))
    assert here < printed
    for aside in (1e-5, -1e-5):
        assert measure.log_loss(adjust_to_sample(t, EXACT + aside)) > here


def test_the_adjustment_adds_a_constant_to_all_log_odds(data: Data) -> None:
    t = data.tally
    moved = logit(adjust_to_sample(t, PRINTED).score) - logit(t.score)
    assert moved == pytest.approx(logit(t.prevalence) - logit(PRINTED), rel=1e-6)


def rows_of(columns: Columns, name: str, kind: int, group: str | None = None) -> Data:
    rows = columns(f"{name}.csv")
    label, p = np.array(rows["label"], dtype=float), np.array(rows[f"proba_{kind}"], dtype=float)
    there = np.ones(len(p), dtype=bool) if group is None else np.array(rows["subgroup_1"]) == group
    return Data(label[there] == kind, p[there])


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize("kind", [0, 1])
def test_bundled_data(columns: Columns, bundled_values: dict[str, Any], name: str, kind: int) -> None:
    rows, theirs = rows_of(columns, name, kind), bundled_values[name][f"class{kind}"]
    result = unbinned_measures(rows)
    names = ("SpiegelhalterZ score", "SpiegelhalterZ p-value", "Loess ICI")
    assert_equal(binned_measures(rows) | {each: result[each] for each in names}, theirs)
    if kind:
        assert_equal(unbinned_measures(rows, 1e-7), theirs, rel=1e-8)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_line_of_class_0_mirrors_that_of_class_1(
    columns: Columns, bundled_values: dict[str, Any], name: str
) -> None:
    """calzone takes the probabilities of class 1 whichever class is asked for, so it says the same of both.

    We are right: naming the classes the other way round negates all log-odds and swaps hits and misses, which negates
    the intercept and leaves the slope. Its COX ICI of class 0 takes the line of class 1 to probabilities of class 0.
    """
    zero, one = (rows_of(columns, name, kind).clip().tally for kind in (0, 1))
    theirs = bundled_values[name]
    assert theirs["class0"]["COX intercept"] == theirs["class1"]["COX intercept"]
    ours, mirror = line(one), line(zero)
    assert ours["COX intercept"] == pytest.approx(theirs["class1"]["COX intercept"], rel=1e-8)
    assert mirror["COX intercept"] == pytest.approx(-ours["COX intercept"], rel=1e-7)
    assert mirror["COX intercept lowerci"] == pytest.approx(-ours["COX intercept upperci"], rel=1e-7)
    assert mirror["COX coef"] == pytest.approx(ours["COX coef"], rel=1e-7)
    assert measure.cox_ici(zero) == pytest.approx(measure.cox_ici(one), rel=1e-6)
    x = logit(rows_of(columns, name, 0).clip().p)
    wrong = np.abs(expit(ours["COX intercept"] + ours["COX coef"] * x) - expit(x)).mean()
    assert wrong == pytest.approx(theirs["class0"]["COX ICI"], rel=1e-7)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize("bins", [15, 20])
def test_other_numbers_of_bins(columns: Columns, bundled_values: dict[str, Any], name: str, bins: int) -> None:
    assert_equal(binned_measures(rows_of(columns, name, 1), bins), bundled_values[name][f"class1_bins{bins}"])


def test_hosmer_lemeshow_of_calzone_with_a_bin_of_one_class(columns: Columns, bundled_values: dict[str, Any]) -> None:
    # calzone moves its share to 1e-7 before it tests: in the fifth digit that is the whole disagreement.
    cut, edges = as_calzone_bins(rows_of(columns, "simulated_welldata", 1), 20)
    theirs = bundled_values["simulated_welldata"]["class1_bins20"]["HL-C score"]
    curve = infer.calibration_curve(cut, options=infer.CurveOptions(bins=edges))
    mean, share, mass = curve["probability"], curve["share"], curve["mass"]
    assert {0.0, 1.0} & set(share)

    def statistic(share: Floats) -> float:
        return float(np.sum(mass * (share - mean) ** 2 / (mean * (1 - mean))))

    assert statistic(np.clip(share, 1e-7, 1 - 1e-7)) == near(theirs)
    ours = infer.hosmer_lemeshow(cut, bins=edges).statistic
    assert ours == near(statistic(share))
    assert ours != pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("name", BUNDLED)
def test_measures_after_a_prevalence_adjustment(columns: Columns, bundled_values: dict[str, Any], name: str) -> None:
    theirs = bundled_values[name]["class1_prevadj"]
    rows = rows_of(columns, name, 1)
    after = rows.clip().adjusted(theirs["Optimal prevalence"])
    assert_equal(binned_measures(after) | unbinned_measures(after, 1e-7), theirs, rel=1e-7)
    # Its search stops early; ours solves for it.
    exact = infer.derived_prevalence(rows.clip().tally).value
    assert exact == pytest.approx(theirs["Optimal prevalence"], abs=1e-5)
    least, result = (measure.log_loss(rows.clip().adjusted(at).tally) for at in (exact, theirs["Optimal prevalence"]))
    assert least <= result + 1e-15


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", BUNDLED)
def test_measures_of_the_likelier_class(columns: Columns, bundled_values: dict[str, Any], name: str) -> None:
    rows, theirs = rows_of(columns, name, 1), bundled_values[name]["topclass_transform"]
    top = rows.top()
    assert rows.tally.top_class().score == pytest.approx(top.tally.score, abs=0)
    assert_equal({key: value for key, value in binned_measures(top).items() if "topclass" not in key}, theirs)
    assert_equal(unbinned_measures(top, 1e-7), theirs, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("group", take_in_tiers(["A", "B"]))
def test_measures_of_groups(columns: Columns, bundled_values: dict[str, Any], group: str) -> None:
    rows = rows_of(columns, "simulated_data_subgroup", 1, group)
    theirs = bundled_values["simulated_data_subgroup"][f"subgroup_1={group}"]
    assert len(rows.p) == theirs["n"]
    assert_equal(binned_measures(rows), theirs)
    table = columns("simulated_data_subgroup.csv")
    typed = {"y": [float(each) for each in table["label"]], "p": [float(each) for each in table["proba_1"]]}
    tallies = read.tallies(typed | {"g": table["subgroup_1"]}, truth="y", score="p", group="g")
    result = infer.calibration_summary(tallies, options=infer.CalibrationOptions(n_simulations=0))
    (value,) = (
        row["value"]
        for row in result.rows()
        if row["measure"] == "ece" and not row["top"] and row["group"] == {"g": group}
    )
    assert value == near(theirs["ECE-H"])


@pytest.mark.parametrize("when", ["before", "after"])
def test_uncertainty_calibration(before_and_after: dict[str, Data], peers: dict[str, Any], when: str) -> None:
    t, theirs = before_and_after[when].tally, peers[when]
    assert measure.rmsce_debiased(t) == near(theirs["unc_l2_debiased_10eqmass"])
    assert measure.rmsce(t) == near(theirs["unc_l2_plugin_10eqmass"])
    assert measure.ece(t, by="mass") == near(theirs["unc_l1_plugin_10eqmass"])


def test_uncertainty_calibration_puts_the_larger_bins_first(
    before_and_after: dict[str, Data], peers: dict[str, Any]
) -> None:
    # 3760 rows in 15 bins: it has ten bins of 251 rows before five of 250; ours are as even as can be, anywhere.
    for when, rows in before_and_after.items():
        p = np.sort(rows.p)
        cuts = np.cumsum([len(part) for part in np.array_split(p, 15)])[:-1]
        edges = [0.0, *((p[cuts - 1] + p[cuts]) / 2).tolist(), 1.0]
        assert measure.rmsce(rows.tally, bins=edges) == near(peers[when]["unc_l2_plugin_15eqmass"])
        assert measure.rmsce_debiased(rows.tally, bins=edges) == near(peers[when]["unc_l2_debiased_15eqmass"])
        masses = infer.calibration_curve(rows.tally, options=infer.CurveOptions(bins=15, by="mass"))["mass"]
        assert (set(masses), masses.sum()) == ({250, 251}, 3760)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_model_diagnostics(before_and_after: dict[str, Data], peers: dict[str, Any], when: str) -> None:
    t = before_and_after[when].tally
    for ours, theirs, score in (("brier", "brier", measure.brier), ("log", "logloss", measure.log_loss)):
        wanted = peers[when][f"{theirs}_decomposition"]
        for part in ("miscalibration", "discrimination", "uncertainty"):
            assert measure.find_measure(f"{ours}_{part}")(t) == near(wanted[part]), part
        assert score(t) == near(wanted["score"]) == near(peers[when][f"sk_{theirs}"])
    assert measure.mean_probability(t) == near(peers[when]["mean_p"])
    assert measure.observed_expected(t) == near(peers[when]["O_over_E"])
    assert measure.ici(t, smoother="isotonic") == near(peers[when]["iso_ICI(mean|iso-p|)"])
    steps = np.unique(infer.calibration_curve(t, "isotonic")["share"])
    assert len(steps) == peers[when]["iso_n_steps"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_probcal(before_and_after: dict[str, Data], peers: dict[str, Any], when: str) -> None:
    t, theirs = before_and_after[when].tally, peers[when]["probcal_0.4.0"]
    result, z, lr = infer.hosmer_lemeshow(t), infer.spiegelhalter(t), infer.cox_test(t)
    statistic, freedom, p = theirs["hosmer_lemeshow(10 equal-mass, ddof=0)"]
    assert [result.statistic, result.freedom] == near([statistic, freedom], abs=0)
    # Where expected counts are small, ours is simulated.
    assert result.p == (pytest.approx(p, abs=0.03) if "simulated" in result.how else near(p, abs=0))
    assert [z.statistic, z.p] == near(theirs["spiegelhalter"])
    fit = [measure.calibration_intercept(t), measure.calibration_slope(t)]
    assert [lr.statistic, lr.p, *fit, lr.freedom] == near(theirs["calibration_test LR"], abs=0)
    assert measure.calibration_slope(t) == near(theirs["calibration_slope"])
    # Its intercept is the one with slope 1.
    assert measure.calibration_in_the_large(t) == pytest.approx(theirs["calibration_intercept"], rel=1e-9, abs=1e-14)
    assert measure.ecce_mad(t) == near(theirs["ecce"][0])


def reflect_residuals(data: Data, at: Floats, width: float) -> tuple[Floats, Floats]:
    """Residuals and rows, smoothed by a Gaussian that is reflected at 0 and 1, by summing it up at each place."""
    left, right = np.zeros(len(at)), np.zeros(len(at))
    for image in (data.p, -data.p, 2 - data.p):
        for part in np.array_split(np.arange(len(at)), max(len(at) // 200, 1)):
            kernel = np.exp(-((at[part, None] - image) ** 2) / (2 * width**2)) / (width * np.sqrt(2 * np.pi))
            left[part] += kernel @ (data.p - data.truth)
            right[part] += kernel.sum(axis=1)
    return left, right


def smooth_error_on_a_grid(data: Data, width: float) -> float:
    """Sum of what relplot sums.

    Rows are shared out among the two neighbours of a thousand places, and smoothed; those at 0 and 1 are not reflected,
    as all others are. Summed is a mesh of 200 points, both ends in full, over a density that is 1e-4 too high.
    """
    place = np.linspace(0, 1, max(2000, round(20 / width)) // 2 + 1)
    step = len(place) - 1
    mesh = np.linspace(0, 1, max(round(10 / width), 200))
    below = np.minimum((data.p * step).astype(int), step - 1)
    over = data.p * step - below
    kernel = np.exp(-((place[:, None] - place) ** 2) / (2 * width**2)) * (np.abs(place[:, None] - place) <= 0.5)
    for image in (-place[1:], 2 - place[:-1]):
        away = np.abs(place[:, None] - image)
        inside = slice(1, None) if image[0] < 0 else slice(None, -1)
        kernel[:, inside] += np.exp(-(away**2) / (2 * width**2)) * (away <= 0.5)
    sums = []
    for values in (data.p - data.truth, np.ones(len(data.p))):
        grid = np.bincount(below, values * (1 - over), minlength=step + 1)
        grid += np.bincount(below + 1, values * over, minlength=step + 1)
        sums.append(np.interp(mesh, place, kernel @ grid / (width * np.sqrt(2 * np.pi))))
    return float(np.sum(np.abs(sums[0])) / np.sum(sums[1] + 1e-4))


def smooth_error_by_integral(data: Data, width: float) -> float:
    """The integral itself, by trapezoids on a mesh that is ten times as fine."""
    at = np.linspace(0, 1, 2001)
    residual, _ = reflect_residuals(data, at, width)
    return float(np.trapezoid(np.abs(residual), at)) / len(data.p)


@pytest.mark.slow
@pytest.mark.parametrize("when", take_in_tiers(["before", "after"]))
def test_relplot(before_and_after: dict[str, Data], peers: dict[str, Any], when: str) -> None:
    """relplot counts ends of a mesh in full, and does not reflect rows next to 0 and 1: it is up to a hundredth off.

    We are right: ours equals the integral. Its width, too, is that of ten halvings, the next above a multiple of 2⁻¹⁰.
    """
    rows, theirs = before_and_after[when], peers[when]
    fixed, width = theirs["smECE_sigma0.05"], theirs["smECE_width"]
    assert smooth_error_on_a_grid(rows, 0.05) == pytest.approx(fixed, rel=1e-9)
    assert smooth_error_on_a_grid(rows, width) == pytest.approx(theirs["smECE"], rel=1e-9)
    for at, result in ((0.05, fixed), (width, theirs["smECE"])):
        exact = smooth_error_by_integral(rows, at)
        assert measure.smooth_ece(rows.tally, width=at) == pytest.approx(exact, rel=3e-5)
        assert result != pytest.approx(exact, rel=1e-3)
    ours = measure.smooth_ece(rows.tally)
    assert smooth_error_by_integral(rows, ours) == pytest.approx(ours, rel=3e-5)
    assert ours == pytest.approx(theirs["smECE"], rel=0.03)
    assert abs(width - ours) < 2**-9 + 0.01 * ours
