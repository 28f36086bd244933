"""Cuts and policies as values."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baserate import BadOption, BadShape, Cut, MissingValues, Policy, curve, measure, tally
from baserate.shift import reweigh
from tests.strategies import Rows, like, rows


@given(rows(), st.lists(st.floats(-3, 3), min_size=1, max_size=4, unique=True))
def test_every_row_gets_the_action_of_its_stretch(data: Rows, edges: list[float]) -> None:
    cut = Cut(tuple(sorted(edges)), tuple(f"band {place}" for place in range(len(edges) + 1)))
    table = cut.stretches(curve(tally(data.truth, data.score)))
    got = [cut.action(score) for score in data.score]
    for place, action in enumerate(cut.actions):
        inside = np.array([each == action for each in got])
        assert table.tp[place] == (inside & data.truth).sum()
        assert table.fp[place] == (inside & ~data.truth).sum()
        assert table[place].total == len(data.truth)


@given(rows(), st.data())
def test_weights_go_with_it(data: Rows, draw: st.DataObject) -> None:
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


def test_without_referral_it_is_the_table_at_the_threshold() -> None:
    c = curve(tally([1, 0, 1], [0.9, 0.5, 0.1]))
    assert repr(Cut((0.5,)).counts(c)) == repr(c.at(0.5))
    carried = Cut((0.5,)).counts(reweigh(c, to=0.1))
    assert carried.reweighed
    assert measure.prevalence(carried) == pytest.approx(0.1)


def test_wrong_cuts_are_refused() -> None:
    with pytest.raises(MissingValues):
        Cut((nan,))
    with pytest.raises(BadOption, match="ascending"):
        Cut((0.5, 0.2), ("a", "b", "c"))
    with pytest.raises(BadShape, match="3 actions for 1 thresholds"):
        Cut((0.5,), ("a", "b", "c"))
    with pytest.raises(BadOption, match="is a name"):
        Cut((0.5,), ("a", ""))
    with pytest.raises(BadOption, match="leave out the threshold"):
        Cut((0.5,), ("a", "a"))
    with pytest.raises(BadOption, match="no single threshold"):
        _ = Cut((0.5,), ("low", "high")).threshold
    with pytest.raises(BadOption, match="no 2×2 table"):
        Cut((0.5,), ("low", "high")).counts(curve(tally([1, 0], [1, 0])))
    assert Cut((inf,)).counts(curve(tally([1, 0], [1, 0]))).flagged == 0


def test_a_policy_says_what_it_asks_of_a_row() -> None:
    alike = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
    assert (alike.needs_group, alike.threshold, alike.cut) == (False, 0.5, Cut((0.5,)))
    apart = Policy(by_group={("f",): Cut((0.4,)), ("m",): Cut((0.5,))}, otherwise="pass", attributes=("sex",))
    assert apart.needs_group
    with pytest.raises(BadOption, match="for each group by sex"):
        _ = apart.cut
    with pytest.raises(BadShape, match="has not one value for each"):
        Policy(by_group={("f",): Cut((0.4,))}, otherwise="refuse")
    with pytest.raises(BadOption, match="decides nothing"):
        Policy(by_group={}, otherwise="refuse")
