"""Test harms, bounds of standardized net benefit, simultaneous bands, and weights of confounders."""

from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from baserate import Counts, Curve, OptionError, Results, Rows, UnknownNameError, decide, read, shift, tally
from baserate.decide._decision_bands import combination_covariance, local_level, paired_covariance
from baserate.measure import threshold_odds
from tests.strategies import like, probability, rows, same

Floats = npt.NDArray[np.float64]
AT = np.array([0.05, 0.1, 0.25, 0.5, 0.9])
FACTORS = ("tp", "fp", "fn", "tn")


def make_people(n: int = 400, seed: int = 0, d: float = 1.5) -> dict[str, Any]:
    """Simulate calibrated risks of two models; 30% are sick."""
    rng = np.random.default_rng(seed)
    sick = rng.random(n) < 0.3
    noise = rng.normal(size=(2, n))
    logit = np.log(0.3 / 0.7)
    new = logit + d * (d * sick + noise[0]) - d**2 / 2
    old = logit + (sick + 0.7 * noise[0] + 0.714 * noise[1]) - 0.5
    return {"sick": sick.astype(int), "new": 1 / (1 + np.exp(-new)), "old": 1 / (1 + np.exp(-old))}


def curves(people: dict[str, Any], *score: str, **options: Any) -> Results:  # noqa: ANN401
    weights: dict[str, Any] = {"weight": "w"} if "w" in people else {}
    rows = read.tallies(people, truth="sick", score=score or ("new",), **weights)
    return decide.net_benefit_curve(rows, **({"thresholds": AT} | options))


def column(results: Results, name: str, strategy: str = "model") -> Floats:
    here = np.array(results.columns["strategy"]) == strategy
    values: Floats = np.asarray(results.columns[name], dtype=float)[here]
    return values


def true_net_benefit(at: Floats, d: float = 1.5, prevalence: float = 0.3) -> Floats:
    """Compute the net benefit in the population of `make_people`."""
    from scipy.special import logit
    from scipy.stats import norm

    cut = (logit(at) - logit(prevalence)) / d + d / 2
    worth: Floats = prevalence * norm.sf(cut - d) - at / (1 - at) * (1 - prevalence) * norm.sf(cut)
    return worth


def test_harm_is_subtracted_from_models_alone() -> None:
    people = make_people()
    plain, harmed = curves(people, "new", "old"), curves(people, "new", "old", harm={"old": "2%"})
    size = len(AT)
    harm = np.repeat([0.0, 0.02], size)
    for end in ("net_benefit", "low", "high"):
        assert column(harmed, end) == pytest.approx(column(plain, end) - harm, abs=1e-12)
        for strategy in ("all", "none"):
            assert same(column(harmed, end, strategy), column(plain, end, strategy))
    odds = np.tile(AT / (1 - AT), 2)
    assert column(harmed, "net_reduction") == pytest.approx(column(plain, "net_reduction") - harm / odds, abs=1e-12)
    share = np.mean(people["sick"])
    assert column(harmed, "standardized") == pytest.approx(column(plain, "standardized") - harm / share, abs=1e-12)
    assert harmed.data["harm"] == {"new": 0.0, "old": 0.02}
    what = "test harms (new 0, old 0.02) were subtracted from the net benefit of models."
    assert harmed.data["notes"][-1] == what
    assert "harm" not in plain.data


def test_harm_shortens_the_useful_range() -> None:
    people = make_people()
    options: dict[str, Any] = {"thresholds": None, "level": None}
    ranges = [curves(people, **options, harm=harm).data["useful"][0]["ranges"] for harm in (None, 0.05, 1)]
    lengths = [sum(high - low for low, high in each) for each in ranges]
    assert lengths[0] > lengths[1] > lengths[2] == 0


def test_harm_of_one_curve_and_of_a_difference() -> None:
    people = make_people()
    one = decide.net_benefits(Curve(tally(people["sick"], people["new"])), AT, harm=0.01)
    assert one["net_benefit"] == pytest.approx(column(curves(people, harm=0.01), "net_benefit"), abs=1e-12)
    both = Rows(people["sick"] == 1, {"new": people["new"], "old": people["old"]})
    plain, harmed = (
        decide.net_benefit_difference(both, thresholds=AT, harm=harm).columns for harm in (None, {"new": 0.01})
    )
    for end in ("difference", "low", "high"):
        assert np.asarray(harmed[end]) == pytest.approx(np.asarray(plain[end]) - 0.01, abs=1e-12)


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_bounds_of_standardized_net_benefit(prevalence: float | None) -> None:
    results = curves(make_people(), prevalence=prevalence)
    value, low, high = (column(results, f"standardized{end}") for end in ("", "_low", "_high"))
    assert (low <= value).all()
    assert (value <= high).all()
    assert (high <= 1).all()
    if prevalence is not None:
        # At a known prevalence it is net benefit, rescaled.
        for end, own in (("_low", "low"), ("_high", "high")):
            assert column(results, f"standardized{end}") * prevalence == pytest.approx(column(results, own), abs=1e-9)
    # Flagging nobody is worth 0 for certain, and flagging all depends on the prevalence alone.
    assert not column(results, "standardized_high", "none").any()
    assert (column(results, "standardized_high", "all") > column(results, "standardized", "all")).all() == (
        prevalence is None
    )


def test_standardized_bounds_are_near_the_bootstrap() -> None:
    people = make_people(2000)
    rng = np.random.default_rng(1)
    samples = []
    for _ in range(400):
        places = rng.integers(0, 2000, 2000)
        one = Curve(tally(people["sick"][places], people["new"][places]))
        samples.append(decide.net_benefits(one, [0.1, 0.25])["standardized"])
    results = curves(people, thresholds=[0.1, 0.25])
    half = (column(results, "standardized_high") - column(results, "standardized_low")) / 2
    assert half == pytest.approx(1.96 * np.std(samples, axis=0), rel=0.12)


@given(
    rows(score=probability, min_size=2).filter(lambda data: 0 < data.truth.sum() < len(data.truth)),
    st.data(),
    st.booleans(),
)
def test_covariance_of_a_curve_equals_that_of_its_rows(data: Any, more: st.DataObject, moved: bool) -> None:  # noqa: ANN401, FBT001
    weight = more.draw(like(data, st.floats(0.5, 3)))
    factors = {name: np.array(more.draw(st.lists(st.floats(-2, 2), min_size=5, max_size=5))) for name in FACTORS}
    own = tally(data.truth, data.score, positive=True, weight=weight)
    own = shift.reweigh(own, prevalence=0.2) if moved else own
    counts: Counts[Any] = Curve(own).at(AT)
    scale = {
        flag: getattr(own, name) / weight[data.truth == flag].sum()
        for flag, name in ((True, "positives"), (False, "negatives"))
    }
    mass = weight * np.where(data.truth, scale[True], scale[False])
    flagged = data.score[:, None] >= AT
    names = np.where(data.truth[:, None], np.where(flagged, "tp", "fn"), np.where(flagged, "fp", "tn"))
    value = np.select([names == name for name in FACTORS], [factors[name] for name in FACTORS])
    middle = np.empty_like(value)
    for part in (data.truth, ~data.truth) if moved else (np.ones(len(mass), dtype=np.bool_),):
        middle[part] = np.average(value[part], axis=0, weights=mass[part])
    deviation = (value - middle) * mass[:, None]
    assert same(combination_covariance(counts, factors, 5), deviation.T @ deviation, within=1e-7)


@given(rows(score=probability, min_size=2), st.data())
def test_paired_covariance_equals_that_of_the_rows(data: Any, more: st.DataObject) -> None:  # noqa: ANN401
    other, mass = more.draw(like(data, probability)), more.draw(like(data, st.floats(0.5, 3)))
    odds = threshold_odds(AT)
    scores = (data.score, other)
    flagged = [np.searchsorted(AT, score, side="right") for score in scores]
    actual = paired_covariance(data.truth, flagged, odds, (mass, mass**2))
    gain = np.where(data.truth[:, None], 1.0, -odds)
    value = np.concatenate([(score[:, None] >= AT) * gain for score in scores], axis=1)
    deviation = (value - np.average(value, axis=0, weights=mass)) * mass[:, None]
    assert same(actual, deviation.T @ deviation, within=1e-7)


def test_local_level_of_equal_and_of_independent_numbers() -> None:
    rng = np.random.default_rng(0)
    assert local_level(np.ones((7, 7)), 0.95, rng) == pytest.approx(0.95, abs=0.006)
    assert local_level(np.eye(7), 0.9, rng) == pytest.approx(0.9 ** (1 / 7), abs=0.003)
    assert local_level(np.zeros((3, 3)), 0.9, rng) == 0.9


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_simultaneous_bands_contain_pointwise_ones(prevalence: float | None) -> None:
    options: dict[str, Any] = {"prevalence": prevalence, "thresholds": None}
    point, band, wide = (
        curves(make_people(), *score, **options, simultaneous=each)
        for score, each in ((("new",), False), (("new",), True), (("new", "old"), True))
    )
    for name in ("", "standardized_", "net_reduction_"):
        low, high = ([column(each, f"{name}{end}") for each in (point, band)] for end in ("low", "high"))
        assert (low[1] <= low[0] + 1e-12).all()
        assert (high[1] >= high[0] - 1e-12).all()
    middle = slice(10, 40)
    assert (column(band, "low")[middle] < column(point, "low")[middle]).all()
    # For both models together the band of each is wider.
    assert (column(wide, "low")[middle] < column(band, "low")[middle]).all()
    assert (point.data["simultaneous"], band.data["simultaneous"]) == (False, True)
    assert "sup-t" in band.rows()[20]["how"]
    assert "sup-t" not in point.rows()[20]["how"]


def test_seeds_give_equal_bands() -> None:
    one, two, other = (curves(make_people(), simultaneous=True, seed=seed) for seed in (3, 3, 4))
    assert same(column(one, "low"), column(two, "low"))
    assert column(one, "low") == pytest.approx(column(other, "low"), abs=0.003)


def test_bands_cover_whole_curves() -> None:
    at = np.arange(5, 36) / 100
    expected, differences = true_net_benefit(at), []
    covered: list[Any] = []
    pointwise: list[Any] = []
    rival = true_net_benefit(at, 1.0)
    for seed in range(150):
        people = make_people(500, seed)
        band, point = (curves(people, thresholds=at, simultaneous=each, seed=seed) for each in (True, False))
        for each, found in ((band, covered), (point, pointwise)):
            found.append(((column(each, "low") <= expected) & (expected <= column(each, "high"))).all())
        both = Rows(people["sick"] == 1, {"new": people["new"], "old": people["old"]})
        result = decide.net_benefit_difference(both, thresholds=at, simultaneous=True, seed=seed).columns
        low, high = (np.asarray(result[end], dtype=float) for end in ("low", "high"))
        differences.append(((low <= expected - rival) & (expected - rival <= high)).all())
    assert np.mean(covered) >= 0.91
    assert np.mean(differences) >= 0.91
    assert np.mean(pointwise) < np.mean(covered)


def test_weighted_net_benefit_by_hand() -> None:
    # Flagged at 0.2 are 0.8 (weight 1), 0.6 (3) and 0.3 (2); odds are 1/4.
    people = {"sick": [1, 0, 1, 0, 0], "new": [0.8, 0.6, 0.3, 0.1, 0.05], "w": [1.0, 3.0, 2.0, 4.0, 10.0]}
    (row,) = [each for each in curves(people, thresholds=[0.2]).rows() if each["strategy"] == "model"]
    assert row["net_benefit"] == pytest.approx((1 + 2) / 20 - 3 / 20 / 4)
    assert row["standardized"] == pytest.approx(((1 + 2) - 3 / 4) / 3)
    assert row["net_reduction"] == pytest.approx((4 + 10) / 20)
    assert row["flag_rate"] == pytest.approx(6 / 20)


def test_weights_are_relative_and_no_counts() -> None:
    people = make_people()
    rng = np.random.default_rng(2)
    weight = rng.choice([0.5, 1.0, 4.0], len(people["sick"]))
    one, scaled, equal, plain = (
        curves(people | ({} if each is None else {"w": each}), simultaneous=True)
        for each in (weight, 7 * weight, np.full(len(weight), 5.0), None)
    )
    for name in ("low", "high", "standardized_low", "net_reduction_high"):
        assert column(one, name) == pytest.approx(column(scaled, name), abs=1e-9)
        # Five times the weight is not five times the rows.
        assert column(equal, name) == pytest.approx(column(plain, name), abs=1e-9)


def test_intervals_with_weights_of_confounders_cover() -> None:
    # Site decides both the prevalence and how often people are in the sample; the weights undo the selection.
    at = np.array([0.1, 0.2, 0.3])
    covered: list[Any] = []
    unweighted: list[Any] = []
    expected = true_net_benefit(at)
    for seed in range(200):
        people = make_people(1500, seed)
        rng = np.random.default_rng([seed, 1])
        chance = np.where(rng.random(1500) < np.where(people["sick"], 0.8, 0.3), 0.6, 0.15)
        kept = rng.random(1500) < chance
        sample = {name: values[kept] for name, values in people.items()}
        for found, each in ((covered, sample | {"w": 1 / chance[kept]}), (unweighted, sample)):
            results = curves(each, thresholds=at)
            found.append((column(results, "low") <= expected) & (expected <= column(results, "high")))
    assert (np.mean(covered, axis=0) >= 0.91).all()
    assert (np.mean(covered, axis=0) <= 0.99).all()
    assert np.mean(unweighted) < 0.2


@pytest.mark.parametrize(
    ("harm", "error", "message"),
    [
        (-0.1, OptionError, "harm is -0.1; expected a number from 0 to 1"),
        (inf, OptionError, "harm is inf"),
        ({"new": 2}, OptionError, "harm of new is 2"),
        ({"newer": 0.1}, UnknownNameError, "no model 'newer'. Did you mean 'new'"),
    ],
)
def test_wrong_harms_raise(harm: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        curves(make_people(), harm=harm)


def test_bands_need_a_level() -> None:
    with pytest.raises(OptionError, match="simultaneous=True has no use: there are no intervals"):
        curves(make_people(), simultaneous=True, level=None)


def test_wrong_seeds_raise() -> None:
    with pytest.raises(OptionError, match="seed is -1"):
        curves(make_people(), simultaneous=True, seed=-1)
