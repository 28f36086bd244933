"""The registry of calibrators: names, aliases, options, and the scores that each one takes."""

import numpy as np
import pytest

from baserate import NotAProbabilityError, UnknownNameError, calibration, class_scores, tally
from baserate.calibration import CALIBRATORS, CalibratorEntry

RNG = np.random.default_rng(0)
P = RNG.random(400)
TALLY = tally(RNG.random(400) < P**2, P)
OTHER_SCORES = tally(RNG.random(400) < P, 8 * P - 4)
ROWS = class_scores(RNG.choice(["a", "b", "c"], 200), RNG.dirichlet([1, 1, 1], 200))
BINARY = [entry for entry in CALIBRATORS if entry.binary is not None]


def test_names_and_aliases_are_unique() -> None:
    names = [name for entry in CALIBRATORS for name in (entry.name, *entry.aliases)]
    assert len({*names}) == len(names)
    assert "choose" not in names


@pytest.mark.parametrize("entry", BINARY, ids=lambda entry: entry.name)
def test_aliases_fit_the_same_calibrator(entry: CalibratorEntry) -> None:
    expected = calibration.fit(TALLY, entry.name).to_json()
    for alias in (*entry.aliases, entry.name.upper(), entry.name.replace("-", "_")):
        assert calibration.fit(TALLY, alias).to_json() == expected


@pytest.mark.parametrize("name", ["platt", "sigmoid", "one-vs-rest-platt", "bcts", "Vector_Scaling"])
def test_aliases_of_multiclass_calibrators(name: str) -> None:
    assert calibration.fit(ROWS, name).method in calibration.MULTICLASS_METHODS


@pytest.mark.parametrize("entry", BINARY, ids=lambda entry: entry.name)
def test_entries_state_which_scores_they_take(entry: CalibratorEntry) -> None:
    if entry.any_score:
        calibration.fit(OTHER_SCORES, entry.name)
    else:
        with pytest.raises(NotAProbabilityError):
            calibration.fit(OTHER_SCORES, entry.name)


def test_entries_list_their_options() -> None:
    options = {entry.name: entry.options for entry in CALIBRATORS}
    assert options["logistic"] == ("smoothed", "scale")
    assert options["histogram"] == ("bins", "by")
    assert options["isotonic"] == ("strict",)
    assert options["strict-isotonic"] == options["prior"] == ()


def test_choose_accepts_aliases_and_reports_the_typed_name() -> None:
    choice = calibration.choose(TALLY, methods=["none", "platt"], folds=3)
    assert [row["method"] for row in choice.results.rows()] == ["none", "platt"]


def test_unknown_names_suggest_a_near_one() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'isotonic'\?"):
        calibration.fit(TALLY, "isotone")
