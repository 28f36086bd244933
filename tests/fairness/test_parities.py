"""The registry of parities: names, aliases and entries."""

import re
from itertools import chain

import pytest

from baserate import UnknownNameError
from baserate.fairness import PARITIES, Goal, find_parity
from baserate.measure import MEASURES

FAIRLEARN = {
    "demographic_parity": "demographic-parity",
    "selection_rate_parity": "demographic-parity",
    "true_positive_rate_parity": "equal-opportunity",
    "false_positive_rate_parity": "predictive-equality",
    "false_negative_rate_parity": "fnr-parity",
    "true_negative_rate_parity": "tnr-parity",
    "equalized_odds": "equalized-odds",
    "DemographicParity": "demographic-parity",
    "TruePositiveRateParity": "equal-opportunity",
    "FalsePositiveRateParity": "predictive-equality",
    "EqualizedOdds": "equalized-odds",
    "ErrorRateParity": "accuracy-parity",
}
AIF360 = {
    "statistical_parity_difference": "demographic-parity",
    "Statistical parity difference": "demographic-parity",
    "equal_opportunity_difference": "equal-opportunity",
    "Equal opportunity difference": "equal-opportunity",
    "equalized_odds_difference": "equalized-odds",
    "error_rate_difference": "accuracy-parity",
}


@pytest.mark.parametrize(("name", "canonical"), [*FAIRLEARN.items(), *AIF360.items()])
def test_names_of_fairlearn_and_aif360_are_accepted(name: str, canonical: str) -> None:
    assert find_parity(name) is PARITIES[canonical]


def test_aliases_are_distinct_and_in_canonical_form() -> None:
    names = [*PARITIES, *chain.from_iterable(each.aliases for each in PARITIES.values())]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in names)


def test_a_goal_stores_the_canonical_name() -> None:
    assert repr(Goal("demographic_parity")) == repr(Goal("demographic-parity"))


def test_every_entry_has_known_measures_and_describes_its_limits() -> None:
    for name, each in PARITIES.items():
        assert each.name == name
        assert set(each.measures) <= set(MEASURES)
        assert each.description
        assert each.limitation


def test_parities_of_the_page_have_up_to_two_rates_that_it_can_equalize() -> None:
    offered = [each for each in PARITIES.values() if each.page_id is not None]
    assert [each.page_id for each in offered] == [each.name for each in offered]
    assert all(each.enforceable and len({*each.rates}) <= 2 for each in offered)


def test_an_unknown_parity_raises_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'equalized-odds'"):
        find_parity("equalised odds")
    with pytest.raises(UnknownNameError, match="Known are: demographic-parity"):
        find_parity("xyz")
