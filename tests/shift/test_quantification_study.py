"""Quantification studies: errors beside those of QuaPy, protocols, seeds, coverage, several classes, errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from baserate import FitError, MulticlassRows, OptionError, Results, UnknownNameError, shift, tally
from tests.schemas import read_results

Floats = npt.NDArray[np.float64]


def simulate(n: int, share: float, seed: int, distance: float = 1.5) -> tuple[Any, Floats]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    score = 1 / (1 + np.exp(distance**2 / 2 + 0.4 - distance * (distance * truth + rng.normal(size=n))))
    return truth.astype(int), score


VALIDATION, TEST = simulate(1000, 0.4, 1), simulate(3000, 0.3, 2)


def study(**options: Any) -> Results:  # noqa: ANN401
    chosen: dict[str, Any] = {"methods": ["acc", "pacc"], "repeats": 2} | options
    return shift.quantification_study(VALIDATION, TEST, **chosen)


def values(results: Results, measure: str, method: str = "acc") -> dict[float | None, Any]:
    rows = [row for row in results.rows() if (row["measure"], row["method"]) == (measure, method)]
    return {row["prevalence"]: row["value"] for row in rows}


def errors(true: list[float], estimated: list[float], size: int) -> tuple[float, float, float]:
    """Compute absolute error, relative absolute error and Kullback–Leibler divergence of one sample."""
    p, q = (np.array(each) for each in (true, estimated))
    smooth = 1 / (2 * size)
    a, b = ((each + smooth) / (1 + len(p) * smooth) for each in (p, q))
    return float(np.abs(p - q).mean()), float((np.abs(a - b) / a).mean()), float((a * np.log(a / b)).sum())


@pytest.mark.parametrize(
    ("true", "estimated", "size", "expected"),
    # QuaPy 0.2.3: quapy.error.ae, rae and kld with eps=1/(2·size).
    [
        ([0.95, 0.05], [0.9, 0.1], 500, (0.05, 0.51648419620214, 0.016481371661849)),
        ([1.0, 0.0], [0.98, 0.02], 500, (0.02, 10.009990009990013, 0.017123732167549)),
        ([0.3, 0.7], [0.35, 0.65], 500, (0.05, 0.118719816493761, 0.005605095857511)),
        ([0.2, 0.5, 0.3], [0.25, 0.45, 0.3], 100, (0.1 / 3, 0.11430411333816305, 0.00779293515243655)),
    ],
)
def test_errors_are_those_of_quapy(
    true: list[float], estimated: list[float], size: int, expected: tuple[float, float, float]
) -> None:
    assert errors(true, estimated, size) == pytest.approx(expected, rel=1e-10)


def test_errors_of_single_samples() -> None:
    results = study(prevalences=3, repeats=1, size=200)
    bias, mae, rae, kld = (values(results, name) for name in ("bias", "mae", "rae", "kld"))
    assert list(bias) == [None, 0.0, 0.5, 1.0]
    for share in (0.0, 0.5, 1.0):
        estimate = share + bias[share]
        assert (mae[share], rae[share], kld[share]) == pytest.approx(
            errors([share, 1 - share], [estimate, 1 - estimate], 200)
        )
    assert mae[None] == pytest.approx(np.mean([mae[share] for share in (0.0, 0.5, 1.0)]))


def test_samples_have_the_shares_of_the_protocol() -> None:
    app, npp, upp = (study(protocol=each, repeats=30, prevalences=3) for each in ("app", "npp", "upp"))
    assert [results.data["samples"] for results in (app, npp, upp)] == [90, 30, 30]
    assert [list(values(results, "mae")) for results in (npp, upp)] == [[None], [None]]
    read_results(app.to_json())
    assert {row["samples"] for row in app.rows() if row["prevalence"] == 0.5} == {30}


def test_seeds_decide_samples_and_methods_see_the_same_ones() -> None:
    one, two, other = (study(seed=seed) for seed in (1, 1, 2))
    assert one.columns["value"] == two.columns["value"]
    assert one.columns["value"] != other.columns["value"]
    alone = study(seed=1, methods=["pacc"])
    assert values(alone, "mae", "pacc") == values(one, "mae", "pacc")


def test_methods_have_names_aliases_and_options() -> None:
    results = study(methods={"ACC": {"threshold": 0.3}, "kdey": {"bandwidth": 0.2}}, prevalences=3)
    assert set(results.columns["method"]) == {"ACC", "kdey"}
    assert results.data["methods"] == {"ACC": {"threshold": 0.3}, "kdey": {"bandwidth": 0.2}}
    plain = study(methods="acc", prevalences=3)
    assert values(plain, "mae") != values(results, "mae", "ACC")


def test_default_methods_are_accurate_and_their_intervals_cover() -> None:
    results = shift.quantification_study(VALIDATION, TEST, prevalences=6, repeats=8)
    methods = list(dict.fromkeys(results.columns["method"]))
    assert methods == ["binned", "mlls", "acc", "pacc", "dys", "kdey-hd", "ms"]
    for method in methods:
        assert values(results, "mae", method)[None] < 0.05
        assert values(results, "coverage", method)[None] > 0.9
    for row in results.rows():
        assert row["low"] <= row["value"] <= row["high"]


def test_tallies_tables_and_counts_are_accepted() -> None:
    own = shift.quantification_study(tally(*VALIDATION), tally(*TEST), methods="acc", repeats=2, seed=3)
    assert own.columns["value"] == study(methods="acc", seed=3).columns["value"]
    tables = [dict(zip(("y", "p"), sample, strict=True)) for sample in (VALIDATION, TEST)]
    options: dict[str, Any] = {"truth": "y", "score": "p", "methods": "acc", "repeats": 2, "seed": 3}
    of_tables = shift.quantification_study(tables[0], tables[1], **options)  # type: ignore[arg-type]
    assert of_tables.columns["value"] == own.columns["value"]


def test_failures_are_counted_and_noted() -> None:
    weak = simulate(2000, 0.4, 1, distance=0.3)
    results = shift.quantification_study(weak, TEST, methods=["ms2", "pacc"], prevalences=2)
    assert values(results, "mae", "ms2")[None] is None
    row = next(row for row in results.rows() if row["method"] == "ms2")
    assert (row["failed"], row["samples"]) == (20, 20)
    assert row["why"].startswith("no estimate succeeded: no threshold has TPR − FPR above 0.25")
    assert results.data["notes"][0].startswith("ms2 failed in 20 samples")
    assert values(results, "mae", "pacc")[None] is not None
    read_results(results.to_json())


def simulate_classes(n: int, seed: int) -> MulticlassRows:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=[0.4, 0.3, 0.3]).astype(np.uint8)
    logs = rng.normal(size=(n, 3)) + 2 * np.eye(3)[truth]
    score = np.exp(logs)
    return MulticlassRows(truth, score / score.sum(axis=1, keepdims=True), ("a", "b", "c"))


@pytest.mark.parametrize(("protocol", "samples"), [("app", 2 * 6), ("upp", 8), ("npp", 8)])
def test_several_classes(protocol: Any, samples: int) -> None:  # noqa: ANN401
    old, new = simulate_classes(800, 1), simulate_classes(900, 2)
    results = shift.quantification_study(
        old, new, methods=["acc", "kdey-cs"], protocol=protocol, prevalences=3, repeats=2 if protocol == "app" else 8
    )
    assert results.data["samples"] == samples
    assert set(results.columns["measure"]) == {"mae", "rae", "kld", "coverage", "width"}
    assert set(results.columns["prevalence"]) == {None}
    assert values(results, "mae")[None] < 0.06
    # The classes of the test set may have another order.
    order = [2, 0, 1]
    turned = MulticlassRows(
        np.argsort(order)[new.truth].astype(np.uint8), np.asarray(new.score)[:, order], ("c", "a", "b")
    )
    other = shift.quantification_study(
        old, turned, methods=["acc"], protocol=protocol, prevalences=3, repeats=2 if protocol == "app" else 8
    )
    assert values(other, "mae")[None] == pytest.approx(values(results, "mae")[None], abs=1e-6)


def test_progress_is_watched() -> None:
    seen = []

    @contextmanager
    def watch(progress: Callable[[], float | None]) -> Iterator[None]:
        seen.append(progress())
        yield
        seen.append(progress())

    study(watch=watch)
    assert seen == [0, 100]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"protocol": "apx"}, OptionError, "protocol is 'apx'; expected one of 'app', 'upp', 'npp'"),
        ({"size": 0}, OptionError, "size is 0; expected a whole number of rows from 1"),
        ({"prevalences": 1}, OptionError, "prevalences is 1; expected a whole number from 2"),
        ({"repeats": 0}, OptionError, "repeats is 0; expected a whole number"),
        ({"repeats": 1.5}, OptionError, "repeats is 1.5; expected a whole number"),
        ({"prevalences": 2001}, OptionError, "prevalences=2001 of 2 classes and repeats=10 make 20,010 samples"),
        ({"seed": -1}, OptionError, "seed is -1; expected a whole number of 0 or more"),
        ({"methods": []}, OptionError, "there is no method to study"),
        ({"methods": ["ac"]}, UnknownNameError, "there is no method 'ac'"),
        ({"methods": ["gmm"]}, OptionError, "gmm is for several classes"),
        ({"methods": {"acc": {"bins": 3}}}, OptionError, "bins= has no use for acc"),
    ],
)
def test_wrong_options_raise(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        study(**({"repeats": 10 if "prevalences" in options else 2} | options))


def test_wrong_data_raise() -> None:
    with pytest.raises(FitError, match="the test set lacks a class"):
        shift.quantification_study(VALIDATION, (np.ones(10, dtype=int), np.linspace(0, 1, 10)))
    with pytest.raises(OptionError, match="validation and test have different kinds"):
        shift.quantification_study(VALIDATION, simulate_classes(50, 1))
    rows = simulate_classes(90, 1)
    renamed = MulticlassRows(rows.truth, rows.score, ("a", "b", "x"))
    with pytest.raises(OptionError, match="the test set has other classes"):
        shift.quantification_study(simulate_classes(90, 1), renamed)


def test_a_study_of_the_validation_data_is_marked_as_optimistic() -> None:
    old, new = (tally(*simulate(200, 0.4, seed)) for seed in (1, 2))
    study = partial(shift.quantification_study, methods="acc", size=20, repeats=1, prevalences=2)
    assert study(old, new).data["notes"] == []
    wanted = "the test set is the validation data, so the errors are optimistic: use other rows."
    assert study(old, old).data["notes"] == [wanted]
