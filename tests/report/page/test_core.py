"""The numbers that the page computes equal those of Python, in all states."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from baserate import BaserateError, Costs, Counts, Curve, Policy, Tallies, Tally, decide, infer, measure, shift
from baserate._results import Estimate
from baserate._tally import ReadSummary
from baserate.decide._decision_curve import Adjustment, adjust_thresholds, net_benefits
from baserate.decide._rule import strictest_maximum
from baserate.infer import CurveOptions
from baserate.infer._binomial import normal_quantile
from baserate.infer._rate_intervals import TRANSFORMATIONS, has_rate_interval
from baserate.measure import MEASURES, describe
from baserate.measure._calibration_curve import fit_calibration_curve as smoothed
from baserate.report._natural_frequencies import apportion
from tests.report.page.models import (
    CONFIDENCE,
    PREVALENCES,
    at_prevalence,
    cells_payload,
    costs_payload,
    has_both_classes,
    model_payload,
    sample_indices,
    states,
)
from tests.report.page.node import CORE_MODULES, PAGE, Page, Ref, find_differences
from tests.tiers import slow

COUNT_MEASURES = [name for name, each in MEASURES.items() if describe(each).of is Counts]
SHARES = [name for name in COUNT_MEASURES if describe(MEASURES[name]).share]
RATE_MEASURES = ["f1", "mcc", "balanced_accuracy", "youden", "average_odds", "expected_cost"]
"""Measures that combine the rates of both classes, with an interval in closed form."""
COSTS_TO_TEST = [
    Costs(),
    Costs(fp=1, fn=20),
    Costs(fp=0, fn=1),
    Costs(fp=1, fn=0),
    Costs(fp=0, fn=0),
    Costs(fp=3, fn=7, tp=1),
]


class PageState:
    """Tallies at a prevalence, in Python and on the page."""

    def __init__(self, page: Page, tallies: Tallies, prevalence: float | None) -> None:
        self.model = page.keep("expand", model_payload(tallies))
        self.factors = page.keep("factorsFor", self.model.part("everybody"), prevalence)
        self.threshold = self.model.part("threshold")
        moved = at_prevalence(tallies, prevalence)
        groups = moved.models["risk"].values()
        self.parts: list[tuple[Ref, Tally]] = [(self.model.part("everybody"), moved.pooled("risk"))]
        self.parts += [(self.model.part("groups", at), tally) for at, tally in enumerate(groups)]
        self.scores = tallies.pooled("risk").score
        share = tallies.pooled("risk").prevalence
        self.adjustment = Adjustment(share, prevalence) if prevalence is not None and 0 < share < 1 else None
        """How scores are adjusted to the prevalence."""

    def place(self, threshold: float) -> int:
        """Return the index of a threshold that is a score or infinite."""
        return 0 if threshold == inf else int(np.searchsorted(-self.scores, -threshold)) + 1

    def at(self, place: int) -> float:
        """Return the threshold at an index."""
        return float(self.scores[place - 1]) if place else inf


def all_states(page: Page, prevalences: tuple[float | None, ...] = PREVALENCES) -> list[PageState]:
    """Return all states, each stored on a page."""
    return [PageState(page, *each) for each in states(prevalences)]


def test_tables_at_thresholds_equal_those_of_python() -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(1)
    for state in all_states(page):
        for part, tally in state.parts:
            curve = Curve(tally)
            for place in sample_indices(tally, rng):
                counts = curve.at(state.at(place))
                page.expect(cells_payload(counts), "tableAt", part, place, state.factors)
    page.check()


def test_all_measures_of_a_table_equal_those_of_python() -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(2)
    tables = [Counts(*rng.integers(0, 4, 4)) for _ in range(100)]
    tables += [Counts(*np.exp(rng.uniform(-3, 14, 4))) for _ in range(100)]
    for counts in tables:
        for name in COUNT_MEASURES:
            page.expect(MEASURES[name](counts), f"MEASURES.{name}", cells_payload(counts))
    page.check()
    assert len(COUNT_MEASURES) > 30


@pytest.mark.parametrize("costs", COSTS_TO_TEST)
def test_expected_cost_equals_that_of_python(costs: Costs) -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(3)
    for _ in range(50):
        counts = Counts(*rng.integers(0, 5, 4))
        page.expect(
            measure.expected_cost(counts, costs=costs), "expectedCost", cells_payload(counts), costs_payload(costs)
        )
    page.check()


@pytest.mark.slow
def test_measures_along_a_curve_equal_those_of_python() -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(4)
    for state in all_states(page, (None, 0.02)):
        part, tally = state.parts[int(rng.integers(len(state.parts)))]
        curve = Curve(tally)
        tables = [curve.at(float(at)) for at in (inf, *state.scores)]
        for name in rng.choice(COUNT_MEASURES, 4, replace=False):
            page.expect([MEASURES[name](each) for each in tables], "measureAlong", part, state.factors, str(name))
    page.check()


def bounds_payload(result: Estimate) -> dict[str, Any] | None:
    """Return an interval in the form of the page; None where it is undefined."""
    if np.isnan(result.low):
        return None
    return {"low": result.low, "high": result.high, "how": result.how}


def has_closed_form(name: str, counts: Counts[float]) -> bool:
    """Return whether the interval of a share needs no bootstrap."""
    return not (counts.reweighed and name == "jaccard")


@pytest.mark.parametrize("prevalences", [(None, 0.02), slow(PREVALENCES)])
def test_intervals_of_shares_equal_those_of_python(prevalences: tuple[float | None, ...]) -> None:
    page, rng, observed = Page(*CORE_MODULES), np.random.default_rng(5), set()
    for state in all_states(page, prevalences):
        for part, tally in state.parts:
            curve = Curve(tally)
            for place in sample_indices(tally, rng, 2):
                counts = curve.at(state.at(place))
                table = page.keep("tableAt", part, place, state.factors)
                some = rng.choice(SHARES, len(SHARES) // 2, replace=False).tolist()
                for name in filter(partial(has_closed_form, counts=counts), some):
                    result = infer.estimate(name, counts, level=CONFIDENCE[0])
                    observed.add(result.how)
                    page.expect(bounds_payload(result), "interval", name, table, *CONFIDENCE)
    page.check()
    assert len(observed - {None}) == 6, observed  # Wilson, Clopper–Pearson, known, logit, and two kinds of quadrature


@pytest.mark.quick(2)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.99, 1 - 1e-9])
def test_intervals_at_any_level_equal_those_of_python(level: float) -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(6)
    for _ in range(60):
        counts: Counts[float] = Counts(*rng.integers(0, 60, 4))
        if counts.positives and counts.negatives and rng.random() < 0.5:
            counts = shift.reweigh(counts, prevalence=float(rng.random()))
        for name in filter(partial(has_closed_form, counts=counts), SHARES):
            result = bounds_payload(infer.estimate(name, counts, level=level))
            page.expect(result, "interval", name, cells_payload(counts), level, normal_quantile(level))
    page.check()


def test_rate_intervals_are_those_of_the_page() -> None:
    script = (PAGE / "rate_intervals.js").read_text(encoding="utf-8")
    table = script.partition("export const RATE_INTERVALS = {")[2].partition("\n};")[0]
    assert re.findall(r"(?m)^  (\w+): ", table) == RATE_MEASURES
    # Functions of one other measure are not on the page, which so needs none of their intervals.
    derived = {describe(each).name for each in TRANSFORMATIONS}
    bounded = [name for name in COUNT_MEASURES if has_rate_interval(MEASURES[name]) and name not in derived]
    assert bounded == sorted(RATE_MEASURES, key=COUNT_MEASURES.index)


def expect_rate_intervals(page: Page, counts: Counts[float], table: Any, costs: Costs) -> set[str | None]:  # noqa: ANN401
    """Add a call for each measure that combines rates; return the methods in Python."""
    methods = set()
    for name in RATE_MEASURES:
        function = partial(measure.expected_cost, costs=costs) if name == "expected_cost" else MEASURES[name]
        result = infer.estimate(function, counts, level=CONFIDENCE[0])
        methods.add(result.how)
        page.expect(bounds_payload(result), "interval", name, table, *CONFIDENCE, costs_payload(costs))
    return methods - {None}


@pytest.mark.parametrize("prevalences", [(None, 0.02), slow(PREVALENCES)])
def test_intervals_of_combined_rates_equal_those_of_python(prevalences: tuple[float | None, ...]) -> None:
    page, rng, observed = Page(*CORE_MODULES), np.random.default_rng(9), set()
    for at, state in enumerate(all_states(page, prevalences)):
        for part, tally in state.parts:
            curve = Curve(tally)
            for place in sample_indices(tally, rng, 2):
                table = page.keep("tableAt", part, place, state.factors)
                costs = COSTS_TO_TEST[at % len(COSTS_TO_TEST)]
                observed |= expect_rate_intervals(page, curve.at(state.at(place)), table, costs)
    page.check()
    assert len(observed) == 7, observed


@pytest.mark.parametrize("prevalence", [None, 0.02, 0.5])
def test_intervals_of_combined_rates_with_empty_cells_equal_those_of_python(prevalence: float | None) -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(10)
    for cells in product((0, 1, 7, 400), repeat=4):
        counts: Counts[float] = Counts(*cells)
        if prevalence is not None:
            if not (counts.positives and counts.negatives):
                continue
            counts = shift.reweigh(counts, prevalence=prevalence)
        elif not counts.total:
            continue
        expect_rate_intervals(page, counts, cells_payload(counts), COSTS_TO_TEST[int(rng.integers(6))])
    page.check()


def test_other_measures_have_no_interval() -> None:
    page = Page(*CORE_MODULES)
    for name in COUNT_MEASURES:
        if name not in SHARES and name not in RATE_MEASURES:
            page.expect(None, "interval", name, cells_payload(Counts(tp=5, fp=3, fn=2, tn=9)), *CONFIDENCE)
    page.expect(
        None,
        "interval",
        "jaccard",
        cells_payload(shift.reweigh(Counts(tp=5, fp=3, fn=2, tn=9), prevalence=0.1)),
        *CONFIDENCE,
    )
    page.check()


@pytest.mark.slow
def test_ppv_and_npv_by_prevalence_equal_those_of_python() -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(8)
    at = np.array([1e-6, 1e-3, 0.02, 0.5, 0.9, 0.999])
    for tallies, _ in states((None,)):
        if not has_both_classes(tallies):
            continue
        tally = tallies.pooled("risk")
        model = page.keep("expand", model_payload(tallies))
        for place in sample_indices(tally, rng):
            curve = Curve(tally)
            counts = curve.at(float(curve.threshold[place]))
            result = {
                name: [
                    value_payload(infer.estimate(name, shift.reweigh(counts, prevalence=float(each)))) for each in at
                ]
                for name in ("precision", "npv")
            }
            factors = {"positive": 1, "negative": 1, "known": False}
            page.expect(
                result,
                "predictiveValues",
                page.keep("tableAt", model.part("everybody"), place, factors),
                at,
                *CONFIDENCE,
            )
    page.check()


def value_payload(result: Estimate) -> dict[str, float]:
    return {"value": result.value, "low": result.low, "high": result.high}


RULES: dict[str, Callable[..., Policy]] = {
    str(model_payload.page_function): model_payload.function
    for model_payload in decide.page_rules().values()
    if model_payload.needs_no_options
}


def test_every_rule_with_a_button_has_a_function() -> None:
    script = (PAGE / "rules.js").read_text(encoding="utf-8")
    functions = re.findall(r"(?m)^  (\w+): ", script.partition("export const choose = {")[2].partition("\n};")[0])
    for rule in decide.page_rules().values():
        assert rule.page_function in functions, f"add a function {rule.page_function} to `choose` of rules.js"


@pytest.mark.slow
@pytest.mark.parametrize("prevalences", [(None, 0.02), slow(PREVALENCES)])
def test_rules_choose_the_thresholds_of_python(prevalences: tuple[float | None, ...]) -> None:
    page, n_chosen = Page(*CORE_MODULES), 0
    for state in all_states(page, prevalences):
        for part, tally in state.parts:
            curve = Curve(tally)
            rules = {f"cost {at}": (partial(decide.cost, costs=costs), costs) for at, costs in enumerate(COSTS_TO_TEST)}
            for name, (rule, costs) in (rules | {name: (rule, Costs()) for name, rule in RULES.items()}).items():
                try:
                    place = state.place(rule(curve).threshold)
                except BaserateError:
                    place = -1
                n_chosen += place >= 0
                page.expect(place, f"choose.{name.split()[0]}", part, costs_payload(costs), state.factors)
            for share in (0, 0.1, 0.25, 0.5, 1):
                place = state.place(decide.capacity(curve, share=share).threshold)
                page.expect(place, "capacityIndex", part, share, state.factors)
    page.check()
    assert n_chosen > 1000


def test_ties_are_broken_by_the_strictest_threshold() -> None:
    page = Page(*CORE_MODULES)
    # Sums of tenths differ by rounding alone.
    values = [0.0, 0.1 + 0.2, 0.3, nan, 0.3, -5]
    page.expect(1, "strictestMaximum", values)
    page.expect(1, "strictestMaximum", [0.0, 0.3, 0.1 + 0.2, 0.1])
    page.expect(-1, "strictestMaximum", [nan, nan])
    page.expect(0, "strictestMaximum", [1, nan, inf, inf])  # infinities never win a search
    page.expect(2, "strictestMaximum", [inf, -inf, 3, 2])
    page.expect(-1, "strictestMaximum", [inf, nan])
    page.expect(-1, "strictestMaximum", [-inf, nan])
    for value in ([0.0, 0.3, 0.1 + 0.2, 0.1], [1, nan, inf, inf], [nan, 2, 2 + 1e-13, 3 - 1]):
        page.expect(strictest_maximum(np.array(value)), "strictestMaximum", value)
    page.check()


def test_capacity_is_reached_despite_rounding() -> None:
    page, tally = Page(*CORE_MODULES), Tally.from_counts(np.arange(100, 0, -1), [[1, 0] * 50, [0, 1] * 50])
    model = page.keep("expand", model_payload(Tallies({"risk": {(): tally}}, (), ReadSummary(read=100))))
    shares = [many / 100 for many in range(101)]
    assert any(share * 100 < many for many, share in enumerate(shares))
    for many, share in enumerate(shares):
        assert Curve(tally).at(decide.capacity(Curve(tally), share=share).threshold).flagged == many
        page.expect(
            many, "capacityIndex", model.part("everybody"), share, {"positive": 1, "negative": 1, "known": False}
        )
    page.check()


def test_threshold_index_flags_the_rows_of_the_threshold() -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(9)
    for state in all_states(page, (None,)):
        part, tally = state.parts[0]
        scores = tally.score
        for at in [inf, -inf, *rng.choice(scores, 3), *rng.uniform(scores[-1] - 0.1, scores[0] + 0.1, 5)]:
            place = page.keep("thresholdIndex", state.threshold, float(at))
            page.expect(cells_payload(Curve(tally).at(float(at))), "tableAt", part, place, state.factors)
    page.check()


def test_hull_vertices_equal_those_of_python() -> None:
    page = Page(*CORE_MODULES)
    for state in all_states(page):
        for part, tally in state.parts:
            if not tally.weighted:
                page.expect([state.place(at) for at in Curve(tally).hull().threshold], "hull", part)
    page.check()


def test_weighted_hulls_equal_those_of_python() -> None:
    page, wanted = Page(*CORE_MODULES), []
    for state in all_states(page, (None,)):
        for part, tally in state.parts:
            if tally.weighted and tally.positives and tally.negatives:
                wanted.append((state, tally))
                page.ask("hull", part)
    query = [each for each in page.answers() if isinstance(each, list)]
    assert len(query) == len(wanted) > 20
    for result, (state, tally) in zip(query, wanted, strict=True):
        curve, hull = Curve(tally), Curve(tally).hull()
        true, false = curve.flagged_mass / np.array([[tally.positives], [tally.negatives]])
        own = [int(np.count_nonzero(tally.score >= state.at(place))) for place in result]
        one, other = hull.flagged_mass / np.array([[tally.positives], [tally.negatives]])
        grid = np.linspace(0, 1, 50)
        assert find_differences(np.interp(grid, false[own], true[own]).tolist(), np.interp(grid, other, one)) == []


def test_decision_curves_equal_those_of_python() -> None:
    page, at, adjusted = Page(*CORE_MODULES), np.array([0.0, 0.01, 0.2, 0.5, 0.77, 0.99]), 0
    for state in all_states(page):
        for part, tally in (state.parts[0], state.parts[-1]):
            if not (tally.probable and tally.total):
                continue
            kept = net_benefits(Curve(tally), at)
            cuts = at if state.adjustment is None else adjust_thresholds(at, state.adjustment)
            model = measure.net_benefit(Curve(tally).at(cuts), at=at)
            output = {"model": model, "unadjusted": kept["net_benefit"], "all": kept["all"]}
            page.expect(output, "decisionCurve", state.threshold, part, at, state.factors)
            where = {"probability": 0.2, "score": 0.2}
            page.expect(kept["net_benefit"][2], "netBenefit", part, state.threshold, where, state.factors)
            counts = Curve(tally).at(0.3)
            fixed = [measure.net_benefit(counts, at=float(each)) for each in at]
            page.expect(fixed, "fixedBenefit", cells_payload(counts), at)
            adjusted += not np.allclose(model, kept["net_benefit"])
    page.check()
    assert adjusted > 50


@pytest.mark.slow
def test_decision_curves_at_a_prevalence_equal_those_of_decide() -> None:
    page, at = Page(*CORE_MODULES), np.arange(1, 100) / 100
    for tallies, prevalence in states((None, 0.02, 0.3)):
        pooled = tallies.pooled("risk")
        if not (pooled.probable and pooled.positives and pooled.negatives):
            continue
        state = PageState(page, tallies, prevalence)
        result = decide.net_benefit_curve(tallies, thresholds=at, prevalence=prevalence, level=None)
        worth = np.asarray(result.columns["net_benefit"], dtype=float).reshape(-1, 3, len(at))[0]
        kept = decide.net_benefit_curve(
            tallies, thresholds=at, prevalence=prevalence, sample_prevalence="deployment", level=None
        )
        output = {"model": worth[0], "unadjusted": list(kept.columns["net_benefit"])[: len(at)], "all": worth[1]}
        page.expect(output, "decisionCurve", state.threshold, state.parts[0][0], at, state.factors)
    page.check()


@pytest.mark.quick(8)
@pytest.mark.parametrize("costs", COSTS_TO_TEST)
@pytest.mark.parametrize("prevalence", [1e-6, 0.3, 0.5, 0.999])
def test_iso_cost_lines_have_the_slope_of_python_and_end_in_the_square(costs: Costs, prevalence: float) -> None:
    page, slope = Page(*CORE_MODULES), costs.slope(prevalence)
    points = [(x, y) for x in (0.0, 0.25, 1.0) for y in (0.0, 0.6, 1.0)]
    for x, y in points:
        page.ask("isoCost", costs_payload(costs), prevalence, {"fpr": x, "tpr": y})
    for (x, y), result in zip(points, page.answers(), strict=True):
        assert find_differences(result["slope"], slope) == []
        for end in (0, 1):
            away, up = result["x"][end] - x, result["y"][end] - y
            assert all(-1e-9 <= result[axis][end] <= 1 + 1e-9 for axis in "xy")
            # Along the line, what false alarms cost is what found positives save.
            if np.isfinite(slope):
                assert up == pytest.approx(slope * away, abs=1e-9 * max(1, abs(slope)))
            else:
                assert away == 0


def test_reliability_bins_equal_those_of_python() -> None:
    page = Page(*CORE_MODULES)
    for tallies, prevalence in states((None, 0.02, 0.7)):
        moved = at_prevalence(tallies, prevalence)
        pooled = moved.pooled("risk")
        if not pooled.probable:
            continue
        output = model_payload(tallies)
        model = page.keep("expand", output)
        factors = page.keep("factorsFor", model.part("everybody"), prevalence)
        groups = [*moved.models["risk"].values()]
        query = [(pooled, [*range(len(groups))])] + [(tally, [at]) for at, tally in enumerate(groups)]
        for tally, places_ in query:
            table = infer.calibration_curve(tally, "binned", options=CurveOptions(level=CONFIDENCE[0]))
            names = {"probability": "predicted"}
            many = range(len(table["mass"]))
            bins = [{names.get(name, name): float(table[name][at]) for name in table} for at in many]
            page.expect(bins, "reliabilityBins", output["reliability"], places_, factors, CONFIDENCE[1])
    page.check()


def test_isotonic_fit_equals_that_of_python() -> None:
    page, wanted = Page(*CORE_MODULES), []
    for state in all_states(page, (None, 0.02)):
        part, tally = state.parts[-1]
        if tally.probable:
            wanted.append(tally)
            page.ask("isotonic", state.threshold, part, state.factors)
    query = [each for each in page.answers() if isinstance(each, dict)]
    assert len(query) == len(wanted) > 50
    for result, tally in zip(query, wanted, strict=True):
        edges = np.array(result["edges"])
        step = np.minimum(np.searchsorted(edges, tally.score, side="right") - 1, len(result["share"]) - 1)
        fit = smoothed(tally, "isotonic")
        assert edges[0] == tally.score[-1]
        assert edges[-1] == tally.score[0]
        assert find_differences(np.array(result["share"])[step].tolist(), fit) == []


def test_natural_frequencies_equal_those_of_python() -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(10)
    for _ in range(300):
        c = dict(zip(("tp", "fn", "fp", "tn"), np.exp(rng.uniform(-5, 5, 4)) * (rng.random(4) < 0.8), strict=True))
        whole = sum(c.values())
        if not whole:
            continue
        exact = {name: 1000 * each / whole for name, each in c.items()}
        many = apportion([exact["tp"] + exact["fn"], exact["fp"] + exact["tn"]], 1000)
        (tp, fn), (fp, tn) = (
            apportion([exact["tp"], exact["fn"]], many[0]),
            apportion([exact["fp"], exact["tn"]], many[1]),
        )
        page.expect({"tp": tp, "fp": fp, "fn": fn, "tn": tn}, "naturalFrequencies", {k: float(v) for k, v in c.items()})
    page.check()


def test_sums_of_tables_equal_those_of_python() -> None:
    page, rng = Page(*CORE_MODULES), np.random.default_rng(11)
    for state in all_states(page, (None, 0.3)):
        tally = state.parts[0][1]
        place = int(rng.integers(len(tally.score) + 1))
        tables = [page.keep("tableAt", part, place, state.factors) for part, _ in state.parts[1:]]
        page.expect(cells_payload(Curve(tally).at(state.at(place))), "sumCounts", tables)
    page.check()
