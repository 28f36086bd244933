"""Cuts, randomized cuts and policies: actions, tables and errors."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import Cut, MissingValuesError, OptionError, Policy, RandomizedCut, ShapeError, curve, measure, tally
from baserate.shift import reweigh
from tests.strategies import Rows, like, rows


@given(rows(), st.lists(st.floats(-3, 3), min_size=1, max_size=4, unique=True))
def test_actions_by_score_range(data: Rows, edges: list[float]) -> None:
    cut = Cut(tuple(sorted(edges)), tuple(f"band {place}" for place in range(len(edges) + 1)))
    table = cut.stretches(curve(tally(data.truth, data.score)))
    got = [cut.action(score) for score in data.score]
    for place, action in enumerate(cut.actions):
        inside = np.array([each == action for each in got])
        assert table.tp[place] == (inside & data.truth).sum()
        assert table.fp[place] == (inside & ~data.truth).sum()
        assert table[place].total == len(data.truth)


@given(rows(), st.data())
def test_weighted_tables(data: Rows, draw: st.DataObject) -> None:
    weight = draw.draw(like(data, st.sampled_from([0.5, 1.0, 3.0])))
    c = curve(tally(data.truth, data.score, weight=weight))
    cut = Cut((0.0, 0.5), ("pass", "refer", "flag"))
    flagged, passed = data.score >= 0.5, data.score < 0
    counts = cut.counts(c)
    assert counts.tp == pytest.approx(weight[flagged & data.truth].sum())
    assert counts.squares.tn == pytest.approx((weight**2)[passed & ~data.truth].sum())
    assert counts.rows.fp == (flagged & ~data.truth).sum()
    each = cut.stretches(c)
    assert each.rows.tp.sum() == data.truth.sum()
    assert each.squares.fp.sum() == pytest.approx((weight**2)[~data.truth].sum())


def test_table_without_referral_is_that_at_the_threshold() -> None:
    c = curve(tally([1, 0, 1], [0.9, 0.5, 0.1]))
    assert repr(Cut((0.5,)).counts(c)) == repr(c.at(0.5))
    reweighted = Cut((0.5,)).counts(reweigh(c, prevalence=0.1))
    assert reweighted.reweighed
    assert measure.prevalence(reweighted) == pytest.approx(0.1)


def test_invalid_cuts_raise() -> None:
    with pytest.raises(MissingValuesError):
        Cut((nan,))
    with pytest.raises(OptionError, match="ascending"):
        Cut((0.5, 0.2), ("a", "b", "c"))
    with pytest.raises(ShapeError, match="3 actions for 1 threshold;"):
        Cut((0.5,), ("a", "b", "c"))
    with pytest.raises(OptionError, match="expected names"):
        Cut((0.5,), ("a", ""))
    with pytest.raises(OptionError, match="expected neighbors that differ"):
        Cut((0.5,), ("a", "a"))
    with pytest.raises(OptionError, match="no single threshold"):
        _ = Cut((0.5,), ("low", "high")).threshold
    with pytest.raises(OptionError, match="no confusion matrix"):
        Cut((0.5,), ("low", "high")).counts(curve(tally([1, 0], [1, 0])))
    assert Cut((inf,)).counts(curve(tally([1, 0], [1, 0]))).flagged == 0


def test_number_instead_of_cut_raises() -> None:
    with pytest.raises(OptionError, match=r"the cut of a group is 0\.5; give a Cut"):
        Policy(by_group={(): 0.5}, otherwise="refuse")  # type: ignore[dict-item]


def test_missing_score_raises() -> None:
    with pytest.raises(MissingValuesError, match="the score is NaN"):
        Cut((0.5,)).action(nan)
    assert Cut((0.5,)).action(inf) == "flag"
    for score in (nan, inf, -inf):
        with pytest.raises(MissingValuesError, match="give a finite number"):
            Policy(by_group={(): Cut((0.5,))}, otherwise="refuse").action(score)


def test_needs_of_a_policy() -> None:
    alike = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
    assert (alike.needs_group, alike.threshold, alike.cut) == (False, 0.5, Cut((0.5,)))
    apart = Policy(by_group={("f",): Cut((0.4,)), ("m",): Cut((0.5,))}, otherwise="pass", attributes=("sex",))
    assert apart.needs_group
    with pytest.raises(OptionError, match="for each group by sex"):
        _ = apart.cut
    with pytest.raises(ShapeError, match="has not one label for each"):
        Policy(by_group={("f",): Cut((0.4,))}, otherwise="refuse")
    with pytest.raises(OptionError, match="has no cut"):
        Policy(by_group={}, otherwise="refuse")


def make_randomized_cut(*chances: float) -> RandomizedCut:
    cuts = (Cut((0.2,)), Cut((0.5,), ("flag", "pass")), Cut((-0.5, 0.5), ("pass", "refer", "flag")), Cut((inf,)))
    return RandomizedCut(cuts[: len(chances)], chances)


CHANCES = [(0.3, 0.7), (0.25, 0.25, 0.5), (0.1, 0.2, 0.3, 0.4)]


@given(rows(), st.sampled_from(CHANCES))
def test_randomized_table_is_the_weighted_mean_of_its_cuts(data: Rows, chances: tuple[float, ...]) -> None:
    draw, c = make_randomized_cut(*chances), curve(tally(data.truth, data.score))
    tables = draw.tables(c)
    assert sum(each.flagged for each in tables.values()) == pytest.approx(len(data.truth))
    for action, table in tables.items():
        chance = np.array([draw.chances_at(score)[action] for score in data.score])
        assert table.tp == pytest.approx(chance[data.truth].sum())
        assert table.fp == pytest.approx(chance[~data.truth].sum())
        assert table.total == pytest.approx(len(data.truth))
    counts = draw.counts(c)
    assert counts.tp == pytest.approx(tables["flag"].tp)
    assert counts.fn == pytest.approx(tables["pass"].tp)
    assert counts.total == pytest.approx(len(data.truth) - (tables["refer"].flagged if "refer" in tables else 0))


@given(rows(), st.data())
def test_randomized_tables_with_weights_and_prevalences(data: Rows, draw: st.DataObject) -> None:
    weight = draw.draw(like(data, st.sampled_from([0.5, 1.0, 3.0])))
    c = curve(tally(data.truth, data.score, weight=weight))
    counts = RandomizedCut((Cut((0.0,)), Cut((0.5,))), (0.25, 0.75)).counts(c)
    chance = 0.25 * (data.score >= 0) + 0.75 * (data.score >= 0.5)
    assert counts.tp == pytest.approx((chance * weight)[data.truth].sum())
    assert counts.squares.fp == pytest.approx((chance * weight**2)[~data.truth].sum())
    assert counts.rows.tn == pytest.approx((1 - chance)[~data.truth].sum())
    if data.truth.any() and not data.truth.all():
        reweighted = RandomizedCut((Cut((0.0,)), Cut((0.5,))), (0.25, 0.75)).counts(reweigh(c, prevalence=0.1))
        assert reweighted.reweighed
        assert measure.prevalence(reweighted) == pytest.approx(0.1)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=4))
def test_edges_follow_the_chances(weights: list[int]) -> None:
    draw = make_randomized_cut(*(each / sum(weights) for each in weights))
    edges = [0, *draw.edges, 2**52]
    for place, chance in enumerate(draw.chances):
        assert (edges[place + 1] - edges[place]) / 2**52 == pytest.approx(chance)
        assert draw.select(edges[place]) is draw.cuts[place]
        assert draw.select(edges[place + 1] - 1) is draw.cuts[place]


def test_a_reversed_cut_has_the_reversed_table() -> None:
    c = curve(tally([1, 0, 1, 0], [0.9, 0.5, 0.1, 0.3]))
    assert repr(Cut((0.5,), ("flag", "pass")).counts(c)) == repr(Cut((0.5,)).counts(c).reverse_decisions())
    both = Cut((0.2, 0.8), ("flag", "pass", "flag"))
    assert (both.has_table, both.counts(c).tp, both.counts(c).tn) == (True, 2.0, 2.0)


def test_invalid_randomized_cuts_raise() -> None:
    one, other = Cut((0.2,)), Cut((0.5,))
    for cuts, chances, words in (
        ((one,), (1.0,), "two or more different cuts"),
        ((one, one), (0.5, 0.5), "two or more different cuts"),
        ((one, other), (0.5, 0.6), "add up to 1"),
        ((one, other), (0.0, 1.0), "between 0 and 1"),
        ((one, other), (nan, 0.5), "between 0 and 1"),
        ((one, other), (1e-17, 1 - 1e-17), "between 0 and 1|at least 2⁻⁵²"),
        ((one, other, Cut((0.7,))), (0.5, 1e-18, 0.5), "at least 2⁻⁵²"),
    ):
        with pytest.raises(OptionError, match=words):
            RandomizedCut(cuts, chances)
    with pytest.raises(ShapeError, match="1 chance for 2 cuts"):
        RandomizedCut((one, other), (0.5,))
    with pytest.raises(OptionError, match="no confusion matrix"):
        RandomizedCut((one, Cut((0.5,), ("low", "high"))), (0.5, 0.5)).counts(curve(tally([1, 0], [1, 0])))


def test_only_rows_whose_cuts_disagree_are_random() -> None:
    policy = Policy(by_group={(): RandomizedCut((Cut((0.2,)), Cut((0.5,))), (0.5, 0.5))}, otherwise="refuse")
    assert (policy.needs_id, policy.needs_group) == (True, False)
    assert policy.action(0.1) == "pass"
    assert policy.action(0.5) == "flag"
    with pytest.raises(MissingValuesError, match="an ID is missing"):
        policy.action(0.3)
    drawn = [policy.action(0.3, id=each) for each in range(2000)]
    assert abs(drawn.count("flag") - 1000) < 120  # more than five standard errors
    with pytest.raises(OptionError, match="is randomized"):
        _ = policy.cut
