"""Studies of samples: means near the theory, spreads that shrink, seeds that decide everything."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import sqrt

import jsonschema
import pytest

from baserate import OptionError, Population, curve as read, measure, population, tally
from tests.schemas import RESULTS


def test_means_stay_near_the_theory_and_spreads_shrink() -> None:
    found = population.simulation_study(population.linear(), sizes=[30, 300, 3000], repeats=100, seed=1)
    for name in ("auc", "average_precision"):
        rows = [row for row in found.rows() if row["measure"] == name]
        assert [row["size"] for row in rows] == [30, 300, 3000]
        assert all(abs(row["value"] - row["theory"]) < 5 * row["sd"] / sqrt(100) for row in rows[1:])
        # Ten times the rows, a third of the spread.
        assert [rows[k]["sd"] / rows[k + 1]["sd"] for k in (0, 1)] == pytest.approx([sqrt(10)] * 2, rel=0.35)
    assert all(row["theory"] == pytest.approx(5 / 6) for row in found.rows())
    jsonschema.validate(json.loads(found.to_json()), RESULTS)


def test_imbalance_widens_the_spread() -> None:
    found = population.simulation_study(
        population.linear(), sizes=[300], prevalences=[0.5, 0.05], measures=["auc"], repeats=100
    )
    balanced, rare = found.rows()
    assert rare["sd"] > 1.5 * balanced["sd"]
    assert rare["theory"] == balanced["theory"]


def test_precision_moves_with_the_balance() -> None:
    found = population.simulation_study(
        population.linear(), sizes=[300], prevalences=[0.5, 2 / 3], measures=["AP"], repeats=20
    )
    assert [row["theory"] for row in found.rows()] == pytest.approx([0.8333333, 0.9043697], abs=1e-7)
    assert [row["measure"] for row in found.rows()] == ["average_precision"] * 2


def values(population_: Population, **asked: object) -> dict[tuple[object, ...], object]:
    rows = population.simulation_study(population_, **asked).rows()  # type: ignore[arg-type]
    return {(row["measure"], row["size"], row["prevalence"]): (row["value"], row["sd"]) for row in rows}


def test_a_seed_decides_everything_and_order_nothing() -> None:
    made = population.binormal()
    whole = values(made, sizes=[20, 50], prevalences=[0.5, 0.2], repeats=10, seed=3)
    assert whole == values(made, sizes=[50, 20], prevalences=[0.2, 0.5], repeats=10, seed=3)
    alone = values(made, sizes=[50], prevalences=[0.2], measures=["auc"], repeats=10, seed=3)
    assert alone["auc", 50, 0.2] == whole["auc", 50, 0.2]
    assert values(made, sizes=[20], repeats=10, seed=4) != values(made, sizes=[20], repeats=10, seed=3)


def test_one_draw_can_be_repeated_by_hand() -> None:
    import numpy as np

    made = population.linear()
    row = population.simulation_study(made, sizes=[40], measures=["auc"], repeats=1, seed=9).rows()[0]
    bits = int(np.float64(0.5).view(np.uint64))
    truth, score = made.draw(40, np.random.default_rng([9, 40, bits, 0]))
    assert row["value"] == measure.auc(read(tally(truth, score)))
    assert row["sd"] is None  # of one draw


def test_samples_of_a_single_class_are_counted_and_noted() -> None:
    found = population.simulation_study(population.linear(), sizes=[10, 1], prevalences=[0.05], repeats=60)
    some, none = ([row for row in found.rows() if row["size"] == size] for size in (10, 1))
    assert all(0 < row["undefined"] < 60 and row["value"] is not None for row in some)
    assert all(row["undefined"] == 60 and row["why"] == "every draw holds a single class" for row in none)
    assert found.data["notes"][1] == (
        "60 of 60 draws of 1 rows at prevalence 0.05 hold a single class and are left out."
    )
    jsonschema.validate(json.loads(found.to_json()), RESULTS)


def test_progress_goes_from_nothing_to_everything() -> None:
    seen: list[float | None] = []

    @contextmanager
    def watch(progress: Callable[[], float | None]) -> Iterator[None]:
        seen.append(progress())
        yield
        seen.append(progress())

    population.simulation_study(population.linear(), sizes=[10, 20], repeats=5, watch=watch)
    assert seen == [0, 100]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"measures": ["auc", "f1"]}, "f1 needs a threshold; a study takes measures over all thresholds"),
        ({"sizes": [0]}, "sizes is 0; give whole numbers of 1 or more"),
        ({"sizes": [2.5]}, "sizes is 2.5; give whole numbers"),
        ({"repeats": 0}, "repeats is 0"),
        ({"sizes": []}, "there is nothing to study"),
        ({"prevalences": [1.5]}, "prevalence is 1.5; expected 0, 1 or a prevalence from 1e-12 to 1 - 1e-12"),
    ],
)
def test_invalid_studies_raise(asked: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        population.simulation_study(population.linear(), **asked)  # type: ignore[arg-type]


def test_simulated_rows_are_those_of_the_population() -> None:
    linear = population.linear(prevalence=0.3)
    results = population.simulate_rows(linear, 50, seed=3, positives=20)
    truth, score = linear.draw(50, 3, positives=20)
    assert [row["truth"] for row in results.rows()] == truth.astype(int).tolist()
    assert [row["score"] for row in results.rows()] == score.tolist()
    assert (results.data["prevalence"], results.data["seed"]) == (0.3, 3)
