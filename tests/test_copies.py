"""Every public type can be pickled and copied, as process pools need, and its copies are equally frozen."""

import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import baserate
from baserate import (
    Counts,
    Cut,
    Policy,
    RandomizedCut,
    apply,
    calibration,
    decide,
    draw,
    fairness,
    infer,
    measure,
    population,
    read,
    shift,
    sklearn as bridge,
)

RNG = np.random.default_rng(3)
SIZE = 300
GROUP = np.where(RNG.random(SIZE) < 0.5, "a", "b")
TRUTH = RNG.random(SIZE) < np.where(GROUP == "a", 0.3, 0.5)
RISK = 1 / (1 + np.exp(0.4 - 1.5 * TRUTH - RNG.normal(size=SIZE)))
OTHER = 1 / (1 + np.exp(0.4 - 1.2 * TRUTH - RNG.normal(size=SIZE)))
TABLE = {"y": TRUTH, "p": RISK, "q": OTHER, "g": GROUP, "w": RNG.random(SIZE) + 0.5}
ROWS = read.rows(TABLE, truth="y", score=["p", "q"], group="g", weight="w")
TALLIES = read.tallies(TABLE, truth="y", score="p", group="g")
TALLY = baserate.tally(TRUTH, RISK)
CURVE = baserate.curve(TALLY)
CLASS_ROWS = baserate.class_scores(np.where(TRUTH, "yes", "no"), np.column_stack([1 - RISK, RISK]))
CONFUSION = baserate.confusion(TRUTH, RISK > 0.5)
COSTS = baserate.CostMatrix([[0, 1], [5, 0]], ["no", "yes"])
POLICY = decide.youden(CURVE)
HULL = decide.roc_convex_hull({"p": CURVE, "q": baserate.curve(baserate.tally(TRUTH, OTHER))})
REPORT = baserate.evaluate(TRUTH, {"p": RISK, "q": OTHER}, group=GROUP, prevalence=0.1)
CLASS_REPORT = baserate.evaluate(CLASS_ROWS)
GOAL = fairness.Goal("equal-opportunity")
TARGET = read.target(RISK)
BOOTSTRAP = partial(decide.bootstrap_threshold, CURVE, decide.youden, measures=["youden"], n_bootstrap=20)
SIMPLE_POLICY = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")

MAKERS: dict[str, Callable[[], Any]] = {
    "MulticlassCalibrator": lambda: calibration.fit(CLASS_ROWS, "vector"),
    "MulticlassRows": lambda: CLASS_ROWS,
    "MulticlassTarget": lambda: read.class_target(np.asarray(CLASS_ROWS.score), labels=["no", "yes"]),
    "Confusion": lambda: CONFUSION,
    "Confusions": lambda: read.confusions({**TABLE, "d": RISK > 0.5}, truth="y", predicted="d", group="g"),
    "CostMatrix": lambda: COSTS,
    "Costs": lambda: baserate.Costs(fp=1, fn=5),
    "Counts": lambda: CURVE.counts,
    "Curve": lambda: CURVE,
    "Cut": lambda: Cut((0.5,)),
    "Estimate": lambda: infer.estimate("auc", CURVE),
    "Finding": lambda: REPORT.findings[0],
    "Verdict": lambda: REPORT.of("p").verdict,
    "ReadSummary": lambda: TALLIES.intake,
    "LabelSets": lambda: baserate.label_sets(np.eye(3), score=np.eye(3), weight=[1, 2, 3]),
    "RandomizedCut": lambda: RandomizedCut((Cut((0.4,)), Cut((0.6,))), (0.3, 0.7)),
    "Calibrator": lambda: calibration.fit(TALLIES, "isotonic"),
    "Mixture": lambda: baserate.Mixture(np.array([1.0]), np.array([0.5]), np.array([0.1])),
    "Plan": lambda: REPORT.plan,
    "Policy": lambda: REPORT.policies["p"],
    "Population": lambda: population.binormal(means=(0, 1)),
    "Report": lambda: REPORT,
    "MulticlassReport": lambda: CLASS_REPORT,
    "MulticlassVerdict": lambda: CLASS_REPORT.verdict,
    "Results": lambda: measure.summary(TALLIES, threshold=0.5),
    "Rows": lambda: ROWS,
    "Tallies": lambda: TALLIES,
    "Tally": lambda: TALLY,
    "Target": lambda: read.target(TABLE, score="p", weight="w"),
    "Actions": lambda: apply.actions(SIMPLE_POLICY, RISK, chances=True),
    "WriteSummary": lambda: apply.WriteSummary(3, (), 0.1),
    "Choice": lambda: calibration.choose(TALLY, methods=["identity", "logistic"]),
    "Combination": lambda: decide.combine_scores(ROWS, ("p", "q")),
    "CorrectedEstimate": lambda: decide.bootstrap_threshold(
        CURVE, decide.youden, measures=["youden"], n_bootstrap=20
    ).performance["youden"],
    "RuleCrossValidation": lambda: decide.cross_validate_rule(TALLY, decide.youden),
    "Decisions": lambda: decide.least_cost(CLASS_ROWS, COSTS),
    "DominatedClassifier": lambda: decide.DominatedClassifier("a", 0.1, 1.0, 0.2),
    "ROCConvexHull": lambda: HULL,
    "ClassifierMixture": lambda: decide.ClassifierMixture(HULL.vertices[0], HULL.vertices[1], 0.5),
    "IsoCost": lambda: decide.IsoCost(1.0, 0.5, 0.2),
    "Requirement": lambda: decide.parse_requirements("sensitivity >= 0.9")[0],
    "ReversibleClassifier": lambda: decide.ReversibleClassifier("a", 0.4, None, None),
    "ThresholdBootstrap": BOOTSTRAP,
    "Vertex": lambda: HULL.vertices[0],
    "Drawing": lambda: draw.roc(TALLIES),
    **{
        name: partial(getattr(draw, name).from_predictions, TRUTH, RISK > 0.5 if "Matrix" in name else RISK)
        for name in dir(draw)
        if name.endswith("Display")
    },
    "RocCrossing": lambda: fairness.roc_crossings(
        baserate.curve(baserate.tally([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])),
        baserate.curve(baserate.tally([1, 1, 0, 0, 1, 0], [0.8, 0.7, 0.6, 0.5, 0.3, 0.1])),
    )[0],
    "Folds": fairness.Folds,
    "Goal": lambda: fairness.Goal(
        "equal-opportunity", within={"sensitivity": 0.1}, prevalence={("a",): 0.1, ("b",): 0.2}
    ),
    "ParityValidation": lambda: fairness.cross_validate(TALLIES, GOAL, folds=fairness.Folds(repeats=2)),
    "Parity": lambda: fairness.find_parity("equal-opportunity"),
    "ScoreScale": lambda: fairness.ScoreScale((0.0, 1.0), (0.0, 1.0)),
    "CalibratedData": lambda: infer.apply_calibrator(TALLIES, calibration.fit(TALLIES, "offset")),
    "AucPair": lambda: infer.delong_pair(read.rows(TABLE, truth="y", score=["p", "q"])),
    "ConfidenceBand": lambda: infer.confidence_band(TALLY, "roc"),
    "CalibrationTest": lambda: infer.spiegelhalter(TALLY),
    "Comparison": lambda: infer.compare(ROWS)[0],
    "CurveOptions": infer.CurveOptions,
    "DecisionTest": lambda: infer.no_information_test(Counts(tp=6, fp=1, fn=2, tn=7)),
    "NullReference": lambda: infer.null_reference("ece", TALLY),
    "IntervalOptions": infer.IntervalOptions,
    "IntrinsicCalibration": lambda: infer.intrinsic_calibration(TALLY),
    "Question": infer.Question,
    "SmoothRoc": lambda: infer.smooth_roc(TALLY, method="logcondens-smooth", n_bootstrap=0),
    "CalibrationOptions": infer.CalibrationOptions,
    "SampleSize": lambda: infer.sample_size_for_proportion("sensitivity", 0.8, 0.05, prevalence=0.1),
    "ClassVariance": lambda: infer.binormal_spread(0.7),
    "MeasureInfo": lambda: measure.describe(measure.auc),
    "Values": lambda: measure.Values("high", (0, 1), needs=("positives",)),
    "Split": lambda: measure.multiclass.Split(CLASS_ROWS),
    "BestThreshold": lambda: population.best_threshold(population.linear(), "f1"),
    "LabelText": lambda: read.LabelText("1"),
    "View": lambda: REPORT.of("p").here,
    "LabelShiftTestResult": lambda: shift.label_shift_test(read.target(RISK), TALLY),
    "Prevalence": lambda: shift.estimate_prevalence(read.target(RISK), TALLY),
    "MulticlassPrevalence": lambda: shift.estimate_prevalence(
        read.class_target(np.asarray(CLASS_ROWS.score), labels=["no", "yes"]), CLASS_ROWS, method="pacc"
    ),
    "CalibratedClassifier": lambda: bridge.CalibratedClassifier(LogisticRegression()).fit(RISK[:, None], TRUTH),
    "PolicyClassifier": lambda: bridge.PolicyClassifier(LogisticRegression()).fit(RISK[:, None], TRUTH),
}
FORMS: dict[str, Callable[[], Any]] = {
    **{f"map, {name}": partial(calibration.fit, TALLIES, name) for name in calibration.BINARY_METHODS},
    **{f"class map, {name}": partial(calibration.fit, CLASS_ROWS, name) for name in calibration.MULTICLASS_METHODS},
    "weighted tally": lambda: baserate.tally(TRUTH, RISK, weight=TABLE["w"]),
    "weighted counts": lambda: baserate.curve(baserate.tally(TRUTH, RISK, weight=TABLE["w"])).counts,
    "weighted confusion": lambda: baserate.confusion(TRUTH, RISK > 0.5, weight=TABLE["w"]),
    "policy by groups": lambda: fairness.optimal_policy(TALLIES, GOAL),
    "population of beta distributions": lambda: population.beta(positive=(3, 1), negative=(1, 3)),
}


def pickle_round_trip(value: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:  # noqa: ANN401
    return pickle.loads(pickle.dumps(value, protocol))  # noqa: S301


COPIERS: dict[str, Callable[[Any], Any]] = {
    **{f"pickle {at}": partial(pickle_round_trip, protocol=at) for at in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def list_public_packages() -> Iterator[ModuleType]:
    """Yield every package whose names users import; `cli` and `text` are for the program, and `_numeric` for us."""
    yield baserate
    for each in walk_packages(baserate.__path__, "baserate."):
        private = any(part[0] == "_" or part in {"cli", "text"} for part in each.name.split("."))
        if not private and (each.ispkg or each.name == "baserate.calibration.multiclass"):
            yield import_module(each.name)


def test_every_public_class_is_tested() -> None:
    modules = [*list_public_packages()]
    assert len(modules) >= 15
    public = {name: getattr(module, name) for module in modules for name in getattr(module, "__all__", ())}
    result = {name for name, each in public.items() if inspect.isclass(each) and not issubclass(each, Exception)}
    assert result == {*MAKERS}
    for name, make in MAKERS.items():
        assert type(make()) is public[name]


@pytest.fixture(scope="module")
def samples() -> dict[str, Any]:
    return {name: make() for name, make in (MAKERS | FORMS).items()}


@pytest.mark.parametrize("name", [*MAKERS, *FORMS])
def test_copies_are_equal_and_equally_frozen(name: str, samples: dict[str, Any]) -> None:
    for duplicate in COPIERS.values():
        check_copy(samples[name], duplicate(samples[name]))


def check_copy(value: object, again: object) -> None:
    assert type(again) is type(value)
    assert re.sub("0x[0-9a-f]+", "", repr(again)) == re.sub("0x[0-9a-f]+", "", repr(value))
    before, after = list(walk_contents(value)), list(walk_contents(again))
    assert [path for path, _ in before] == [path for path, _ in after]
    for (path, one), (_, other) in zip(before, after, strict=True):
        assert type(one) is type(other), path
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype, path
            assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f"), path
            assert one.flags.writeable == other.flags.writeable, path
        else:
            assert one == other or one != one, path  # noqa: PLR0124  (NaN)


def walk_contents(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield the content of a value with its path, down to numbers, texts and arrays."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.name not in {"ax", "painter", "lines"}]
        for name in names:
            yield from walk_contents(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from walk_contents(each, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        yield path, type(value)
        for at, each in enumerate(value):
            yield from walk_contents(each, f"{path}[{at}]")
    elif value is None or callable(value) or isinstance(value, (str, int, float, bool, np.ndarray, np.generic)):
        yield path, value
    else:
        held = vars(value) if hasattr(value, "__dict__") else {name: getattr(value, name) for name in value.__slots__}
        yield from walk_contents(held, path)


@pytest.mark.parametrize(
    "name", ["Policy", "Results", "Rows", "Tallies", "Report", "Finding", "Calibrator", "Confusions"]
)
def test_mappings_cannot_change(name: str, samples: dict[str, Any]) -> None:
    for value in (samples[name], pickle_round_trip(samples[name]), copy.deepcopy(samples[name])):
        mappings = [getattr(value, field.name) for field in dataclasses.fields(value)]
        frozen = [each for each in mappings if type(each).__name__ == "FrozenMapping"]
        assert frozen
        for mapping in frozen:
            for change in CHANGES:
                with pytest.raises(TypeError, match="cannot change"):
                    change(mapping)
            assert mapping == dict(mapping)


def _set(mapping: Any) -> None:  # noqa: ANN401
    mapping["new"] = 1


def _delete(mapping: Any) -> None:  # noqa: ANN401
    del mapping[next(iter(mapping), "new")]


def _add(mapping: Any) -> None:  # noqa: ANN401
    mapping |= {"new": 1}


CHANGES: tuple[Callable[[Any], Any], ...] = (
    *(_set, _delete, _add, lambda mapping: mapping.update(new=1), lambda mapping: mapping.pop("new", None)),
    *(lambda mapping: mapping.popitem(), lambda mapping: mapping.setdefault("new", 1), lambda mapping: mapping.clear()),
)


@pytest.mark.slow
def test_pickled_drawings_are_the_same_picture(samples: dict[str, Any]) -> None:
    value = samples["Drawing"]
    for again in (pickle_round_trip(value), copy.deepcopy(value), copy.copy(value)):
        assert again._repr_png_() == value._repr_png_()
        assert again.ax is not value.ax


def test_shared_arrays_stay_shared(samples: dict[str, Any]) -> None:
    """A tally without weights holds its counts three times, but in memory once."""
    assert TALLY.mass is TALLY.rows
    for how in COPIERS.values():
        again = how(TALLY)
        assert again.mass is again.rows
    assert samples["Tally"] is TALLY


def test_process_pools_exchange_all_types() -> None:
    """By spawn, which is what Windows and macOS do: all that is sent is pickled."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result = pool.submit(measure.summary, TALLIES, threshold=0.5).result(timeout=120)
        compared = pool.submit(infer.compare, ROWS).result(timeout=120)
        report = pool.submit(baserate.evaluate, TRUTH, RISK).result(timeout=120)
    assert result.to_json() == measure.summary(TALLIES, threshold=0.5).to_json()
    assert compared == infer.compare(ROWS)
    assert report.to_json() == baserate.evaluate(TRUTH, RISK).to_json()


def test_process_pools_map_evaluate_over_datasets() -> None:
    """One report for each dataset, as in a study of many models: whole reports travel back."""
    datasets = [(TRUTH, RISK), (TRUTH, OTHER), (TRUTH[::2], RISK[::2])]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        reports = list(pool.map(baserate.evaluate, *zip(*datasets, strict=True), timeout=120))
    for report, (truth, score) in zip(reports, datasets, strict=True):
        check_copy(baserate.evaluate(truth, score), report)
