"""The parser of requirements: accepted spellings, and errors that point at a character."""

import pytest
from hypothesis import given, strategies as st

from baserate import Counts, OptionError, UnknownNameError, curve, decide, measure, tally
from baserate.measure import MEASURES, describe


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("specificity>=0.9", ["specificity >= 0.9"]),
        ("specificity>=0.9, precision>=0.3", ["specificity >= 0.9", "precision >= 0.3"]),
        ("  TNR  >=  90 %  and  PPV >= .3", ["specificity >= 0.9", "precision >= 0.3"]),
        ("false alarm rate ≤ 1e-2; recall ≥ 1", ["fpr <= 0.01", "sensitivity >= 1"]),
        ("mcc >= -0.5 && lift >= 2.", ["mcc >= -0.5", "lift >= 2"]),
        ("fdr<=5%", ["fdr <= 0.05"]),
    ],
)
def test_spellings_of_requirements(text: str, wanted: list[str]) -> None:
    assert list(map(str, decide.parse_requirements(text))) == wanted


@given(st.sampled_from([name for name, each in MEASURES.items() if describe(each).of is Counts]), st.floats(-9, 9))
def test_requirements_round_trip_through_text(name: str, bound: float) -> None:
    for sense in (">=", "<="):
        [result] = decide.parse_requirements(f"{name} {sense} {bound!r}")
        assert (result.measure, result.sense, result.bound) == (MEASURES[name], sense, bound)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("specificity=>0.9", 11, "=> is not a bound; write >= or <="),
        ("specificity > 0.9", 12, "> is not a bound"),
        ("precision = 0.3", 10, "= is not a bound"),
        ("specificity>=0.9, precision", 27, "expected after 'precision'"),
        ("specificity>=0.9,", 17, "a measure is expected here"),
        (">= 0.9", 0, "a measure is expected here"),
        ("", 0, "a measure is expected here"),
        ("precision >= high", 13, "a number is expected here"),
        ("precision >= 0.3 recall >= 0.2", 17, "a comma is expected here"),
        ("precision >= 0.3 %% ", 18, "a comma is expected here"),
        ("auc >= 0.9", 0, "auc does not depend on the threshold"),
        ("specificity >= 0.9, specificty >= 0.8", 20, "Did you mean 'specificity'"),
    ],
)
def test_errors_point_at_the_character(text: str, place: int, message: str) -> None:
    with pytest.raises((OptionError, UnknownNameError), match="the requirements cannot be read") as error:
        decide.parse_requirements(text, of_decisions=True)
    first, line, caret = str(error.value).split("\n")
    assert message in first
    assert line == f"  {text}"
    assert caret == f"  {' ' * place}^"


def test_unknown_measures_raise() -> None:
    with pytest.raises(UnknownNameError):
        decide.parse_requirements("wisdom >= 0.9")


def test_number_as_requirement_raises() -> None:
    with pytest.raises(OptionError, match="is not a requirement; write it"):
        decide.parse_requirements(0.9)


def test_requirement_constructor() -> None:
    strict = decide.Requirement(measure.specificity, ">=", 0.9)
    assert decide.parse_requirements([strict, "precision >= 0.3"])[0] is strict
    assert decide.parse_requirements(strict) == (strict,)
    for wrong in ((measure.fpr, "<", 0.9), (measure.fpr, "<=", float("nan")), (len, ">=", 0.9)):
        with pytest.raises(OptionError):
            decide.Requirement(*wrong)


def test_rules_reject_measures_without_threshold() -> None:
    [ranks] = decide.parse_requirements("auc >= 0.8")
    assert ranks == decide.Requirement(measure.auc, ">=", 0.8)
    with pytest.raises(OptionError, match=r"auc does not depend on the threshold.*decide\.check"):
        decide.require(curve(tally([1, 0], [0.9, 0.1])), ranks)
    with pytest.raises(OptionError, match="at character 13: auc does not depend on the threshold"):
        decide.require(curve(tally([1, 0], [0.9, 0.1])), "f1 >= 0.5,  auc >= 0.8")


def test_undefined_values_do_not_satisfy_requirements() -> None:
    nothing = Counts(tp=0, fp=0, fn=1, tn=1)
    for text in ("precision >= 0", "precision <= 1"):
        [each] = decide.parse_requirements(text)
        assert not each.holds_for(nothing)
