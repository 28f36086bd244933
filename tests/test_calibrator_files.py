"""Calibrators as values and as files: errors, round trips, and edited files."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from baserate import (
    Calibrator,
    FileFormatError,
    MissingValuesError,
    MulticlassCalibrator,
    NotAProbabilityError,
    NotNumericError,
    ShapeError,
    calibration,
    class_scores,
    load_calibrator,
    tally,
)
from baserate._calibrator_forms import (
    Between,
    Knots,
    Line,
    LogOdds,
    OneVsRest,
    Softmax,
    Steps,
    form_from_json,
    form_to_json,
)
from baserate._files import CALIBRATOR, format_file
from tests.schemas import check_schema

Floats = npt.NDArray[np.float64]
OLD = Path(__file__).parent / "old"

HALF = Calibrator(LogOdds(1.0, 1.0, float(np.log(0.5))), "offset")
ANY = Calibrator(Knots(np.array([-1.0, 2.0]), np.array([0.1, 0.9])), "isotonic")
PETS = MulticlassCalibrator(Softmax(np.ones(2), np.log([0.25, 1.0])), ("cat", "dog"), "prior")


def fit_every_form() -> list[Calibrator | MulticlassCalibrator]:
    rng = np.random.default_rng(0)
    p = rng.random(300)
    t = tally(rng.random(300) < p**2, p)
    rows = class_scores(rng.choice(["a", "b", "c"], 300), rng.dirichlet([1, 1, 1], 300))
    lines = tally(rng.random(300) < p, 8 * p - 4)
    return [
        *(calibration.fit(t, name) for name in calibration.BINARY_METHODS),
        calibration.fit(lines, "logistic"),
        calibration.prevalence(sample_prevalence=0.5, prevalence=0.2),
        *(calibration.fit(rows, name) for name in calibration.MULTICLASS_METHODS),
    ]


CALIBRATORS = fit_every_form()


@pytest.mark.parametrize("result", CALIBRATORS, ids=lambda result: f"{result.method} {result.form.kind}")
def test_files_fit_the_schema_and_round_trip(result: Calibrator | MulticlassCalibrator, tmp_path: Path) -> None:
    check_schema(json.loads(result.to_json()), "map")
    path = tmp_path / "map.json"
    result.save(path)
    again = load_calibrator(path)
    new = np.random.default_rng(1).dirichlet([1, 1, 1], 50)
    scores: Floats = new if isinstance(result, MulticlassCalibrator) else new[:, 0]
    assert np.array_equal(again(scores), result(scores))
    assert again.to_json() == result.to_json() == path.read_text(encoding="utf-8")
    assert repr(again) == repr(result)


def test_every_form_is_saved_and_validated() -> None:
    kinds = {result.form.kind for result in CALIBRATORS}
    assert kinds == {"log-odds", "line", "knots", "steps", "between", "softmax", "one-vs-rest"}


def test_errors_list_the_rows_of_invalid_scores() -> None:
    with pytest.raises(MissingValuesError, match=r"2 of 4 scores are NaN or infinite \(at 1, 3, counted from 0\)"):
        HALF([0.2, np.nan, 0.3, np.inf])
    with pytest.raises(MissingValuesError, match=r"8 of 9 .* \(at 1, 2, 3, 4, 5 and 3 more, counted from 0\)"):
        ANY([0.2, *[np.nan] * 8])
    with pytest.raises(NotAProbabilityError, match=r"1 of 3 scores lie outside \[0, 1\] \(at 2, .*fit a calibrator"):
        HALF([0.2, 1.0, 1.5])
    assert ANY([-9.0, 9.0]).tolist() == [0.1, 0.9]
    with pytest.raises(MissingValuesError, match="at 0"):
        ANY([np.inf])
    venn_abers = calibration.venn_abers(tally([0, 1], [0.1, 0.2]))
    with pytest.raises(MissingValuesError, match="at 0"):
        venn_abers.bounds([np.nan])
    with pytest.raises(NotAProbabilityError, match="at 0"):
        venn_abers.bounds([1.5])
    with pytest.raises(NotNumericError, match="not numbers"):
        HALF(["a", "b"])
    with pytest.raises(ShapeError, match="has no bounds"):
        HALF.bounds([0.2])


@pytest.mark.parametrize("method", ["isotonic", "strict-isotonic", "histogram", "venn-abers"])
def test_piecewise_calibrators_store_whether_they_need_probabilities(method: str) -> None:
    """Per cent in place of shares would otherwise all be the highest probability."""
    truth, p = [0, 1, 0, 1, 1], np.array([0.1, 0.3, 0.4, 0.6, 0.9])
    result = calibration.fit(tally(truth, p), method)
    with pytest.raises(NotAProbabilityError, match="1 of 2 scores lie outside"):
        result([0.5, 40.0])
    of_margins = calibration.fit(tally(truth, 10 * p), method)
    assert of_margins([40.0]) == of_margins([9.0])
    assert Calibrator.from_json(result.to_json()).form.of_probabilities
    assert not Calibrator.from_json(of_margins.to_json()).form.of_probabilities


def test_multiclass_errors_list_the_rows() -> None:
    with pytest.raises(MissingValuesError, match=r"1 of 2 .*at 1"):
        PETS([[0.2, 0.8], [np.nan, 1.0]])
    with pytest.raises(NotAProbabilityError, match=r"1 of 2 .*at 0"):
        PETS([[-0.2, 1.2], [0.5, 0.5]])
    with pytest.raises(NotAProbabilityError, match=r"1 of 2 .*at 1"):
        PETS([[0.5, 0.5], [-0.5, -0.5]])
    with pytest.raises(ShapeError, match="1 of 2 rows give probability 0 to every class"):
        PETS([[0.0, 0.0], [0.5, 0.5]])
    with pytest.raises(ShapeError, match="a column for each of 2 classes"):
        PETS([[0.2, 0.3, 0.5]])


def test_shapes_and_types_of_scores() -> None:
    assert HALF(0.5).shape == ()
    assert HALF(np.array([[0.5, 0.8]])).shape == (1, 2)
    assert HALF(np.array([], dtype=float)).shape == (0,)
    assert HALF(np.array([0, 1])).tolist() == [0.0, 1.0]
    assert HALF(np.array([True, False])).tolist() == [1.0, 0.0]
    assert HALF(np.array([0.5], dtype=np.float32)) == pytest.approx([1 / 3])
    many = np.random.default_rng(0).random(1_500_000)
    assert np.array_equal(HALF(many)[::100_000], HALF(many[::100_000]))


def test_calibrators_are_immutable() -> None:
    with pytest.raises(AttributeError):
        HALF.method = "other"  # type: ignore[misc]
    knots: Knots = ANY.form  # type: ignore[assignment]
    with pytest.raises(ValueError, match="read-only"):
        knots.x[0] = 0.0
    with pytest.raises(TypeError):
        HALF.columns["score"] = "risk"  # type: ignore[index]


def test_probabilities_of_0_and_1_stay_or_are_clipped() -> None:
    assert HALF([0.0, 1.0]).tolist() == [0.0, 1.0]
    slope = Calibrator(LogOdds(0.5, 0.5, 0.0, 1e-12), "temperature")
    low, high = slope([0.0, 1.0])
    assert low == pytest.approx(1e-6)
    assert high == pytest.approx(1 - 1e-6)
    far = Calibrator(LogOdds(1.0, 1.0, 800.0), "offset")
    assert far([0.0, 0.5, 1.0]).tolist() == [0.0, 1.0, 1.0]
    assert Calibrator(LogOdds(1.0, 1.0, -800.0), "offset")([0.0, 0.5, 1.0]) == pytest.approx(
        [0.0, 0.0, 1.0], abs=1e-300
    )


INVALID_FORMS: list[tuple[Callable[[], object], str]] = [
    (partial(LogOdds, -1.0, 1.0, 0.0), "expected 0 or more"),
    (partial(LogOdds, 0.0, 1.0, 0.0), "nearest is 0"),
    (partial(LogOdds, 1.0, 1.0, float("nan")), "c is nan"),
    (partial(LogOdds, 1.0, 1.0, 0.0, 0.7), "nearest is 0.7"),
    (partial(Line, 0.0, -1.0), "slope is -1"),
    (partial(Knots, np.array([]), np.array([])), "no knots"),
    (partial(Knots, np.array([1.0, 0.0]), np.array([0.1, 0.2])), "do not rise"),
    (partial(Knots, np.array([0.0, 1.0]), np.array([0.1])), "2 of y for 2 knots"),
    (partial(Steps, np.array([0.0]), np.array([0.1, 1.2])), "outside"),
    (partial(Steps, np.array([0.0]), np.array([0.1])), "2 of y for 1 threshold"),
    (partial(Softmax, np.ones(2), np.zeros(3)), "one number for each"),
    (partial(Softmax, np.zeros(2), np.zeros(2)), "nearest is 0"),
    (partial(OneVsRest, (Line(0.0, 1.0),)), "forms for 1 class;"),
    (
        partial(MulticlassCalibrator, Softmax(np.ones(2), np.zeros(2)), ("a",), "prior"),
        "there is 1 label for 2 classes",
    ),
    (partial(MulticlassCalibrator, Softmax(np.ones(2), np.zeros(2)), ("a", "a"), "prior"), "2 labels for 2 classes"),
]


@pytest.mark.parametrize(("result", "words"), INVALID_FORMS, ids=[words for _, words in INVALID_FORMS])
def test_forms_are_validated(result: Callable[[], object], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        result()


def test_forms_report_whether_they_keep_the_order_of_scores() -> None:
    steps = Steps(np.array([0.5]), np.array([0.7, 0.1]))
    assert not steps.never_falls
    assert not Calibrator(steps, "histogram").rises
    assert not Between(steps, steps).never_falls
    assert not Knots(np.array([0.0, 1.0]), np.array([0.2, 0.2])).rises
    assert Knots(np.array([0.0, 1.0]), np.array([0.2, 0.2])).never_falls
    assert not LogOdds(0.0, 0.0, 1.0, 1e-12).rises
    assert not Line(1.0, 0.0).rises


def edit_json(text: str, **changes: object) -> str:
    return json.dumps(json.loads(text) | changes)


TEXT = HALF.to_json()
BROKEN: dict[str, tuple[str, str]] = {
    "empty": ("", "not JSON"),
    "truncated": (TEXT[: len(TEXT) // 2], "not JSON: .*broken or no calibrator"),
    "no map": (
        '{"kind": "baserate/tally", "schema_version": 1}',
        "this is a tally, not a calibrator",
    ),
    "another kind": ('{"kind": "other", "schema_version": 1}', "its \"kind\" is not 'baserate/map'"),
    "a list": ("[1, 2]", 'its "kind" is not'),
    "newer": (edit_json(TEXT, schema_version=2), "schema version 2, but this release reads 1; upgrade baserate"),
    "older than all": (edit_json(TEXT, schema_version=0), "unknown schema version, 0"),
    "edited": (TEXT.replace("offset", "logistic"), "was changed after it was written"),
    "edited number": (TEXT.replace("-0.69", "-0.68"), "was changed after it was written"),
    "without seal": (edit_json(TEXT, seal=None), "was changed"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_edited_files_raise(name: str, tmp_path: Path) -> None:
    text, words = BROKEN[name]
    with pytest.raises(FileFormatError, match=words):
        Calibrator.from_json(text)
    path = tmp_path / "map.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=words):
        load_calibrator(path)


FORGED = [
    ({"form": "other"}, "there is no form 'other'"),
    ({"form": "line", "intercept": 1.0}, "line with the fields"),
    ({"form": "line", "intercept": 1.0, "slope": "2"}, "'2' is not a number"),
    ({"form": "line", "intercept": 1.0, "slope": True}, "slope is True"),
    ({"form": "knots", "x": [0.0], "y": [0.1], "of_probabilities": 1}, "of_probabilities is 1"),
    ({"form": "line", "intercept": 1.0, "slope": -2.0}, "slope is -2"),
    ({"form": "knots", "x": [1.0, 0.0], "y": [0.1, 0.2], "of_probabilities": False}, "do not rise"),
    (7, "there is no form 7"),
]


@pytest.mark.parametrize(("form", "words"), FORGED, ids=[words for _, words in FORGED])
def test_a_sealed_file_is_still_checked(form: object, words: str) -> None:
    """A seal can be forged; a wrong form is refused all the same."""
    content = {key: value for key, value in json.loads(TEXT).items() if key not in {"kind", "schema_version", "seal"}}
    with pytest.raises(FileFormatError, match=f"not a calibrator: .*{words}"):
        Calibrator.from_json(format_file(CALIBRATOR, content | {"form": form}))
    with pytest.raises(FileFormatError, match="a calibrator with the fields"):
        Calibrator.from_json(format_file(CALIBRATOR, {"form": form}))
    with pytest.raises(FileFormatError, match="not a calibrator"):
        Calibrator.from_json(format_file(CALIBRATOR, content | {"parameters": [{"title": 1}]}))


def test_binary_files_are_not_multiclass_files() -> None:
    with pytest.raises(FileFormatError, match="this is a calibrator, not a multiclass calibrator"):
        MulticlassCalibrator.from_json(TEXT)
    with pytest.raises(FileFormatError, match="this is a multiclass calibrator, not a calibrator"):
        Calibrator.from_json(PETS.to_json())


def test_binary_garbage_raises(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_bytes(b"PAR1\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="is not text, so no calibrator"):
        load_calibrator(path)


def test_an_old_file_survives_a_failed_write(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    HALF.save(path)
    with pytest.raises(ValueError, match="JSON"):
        Calibrator(LogOdds(1.0, 1.0, 0.0), "offset", notes=(float("nan"),)).save(path)  # type: ignore[arg-type]
    assert Calibrator.load(path).method == "offset"
    assert [each.name for each in tmp_path.iterdir()] == ["map.json"]


def test_numbers_survive_exactly() -> None:
    x = np.nextafter(np.array([0.1, 0.2, 0.3]), 1)
    form = form_from_json(json.loads(json.dumps(form_to_json(Knots(x, x)))))
    assert np.array_equal(form.x, x)


@pytest.mark.parametrize("path", sorted(OLD.glob("map-*.json")), ids=lambda path: path.stem)
def test_calibrators_of_earlier_releases_load(path: Path) -> None:
    result = load_calibrator(path)
    wanted = json.loads(path.with_suffix(".wanted").read_text(encoding="utf-8"))
    assert result(wanted["scores"]) == pytest.approx(np.array(wanted["probabilities"]), rel=1e-14)
    assert result.fitted is not None
