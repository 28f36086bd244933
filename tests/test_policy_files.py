"""Policy files: round trips, validation, and files of earlier releases."""

import copy
import json
import pickle
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from baserate import Costs, Cut, FileFormatError, OptionError, Policy, RandomizedCut, ShapeError, UnknownLabelError
from baserate._calibrator import shift_log_odds
from baserate._files import format_file
from baserate._policy import group_texts, label_text, spellings
from tests.schemas import check_schema

OLD = Path(__file__).parent / "old"

DRAW = RandomizedCut((Cut((0.3,)), Cut((-inf, 0.6), ("pass", "refer", "flag")), Cut((inf,))), (0.25, 0.35, 0.4))
POLICY = Policy(
    by_group={("f", 1): Cut((0.1 + 0.2,)), ("m", 1): DRAW, ("m", False): Cut((0.5,), ("flag", "pass"))},
    otherwise="refer",
    attributes=("sex", "site"),
    calibrator=shift_log_odds(1.0),
    rule="cost",
    settings={"costs": Costs(fp=1, fn=20), "require": ("f1 >= 0.3",), "threshold": inf, "prices": {"wait": (0, -inf)}},
    columns={"truth": "sick", "score": "risk", "id": "who"},
    positive="1",
    prevalence=0.02,
    chosen_on="ab" * 32,
    notes=("für später",),
)
SIMPLE = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
TEXT = POLICY.to_json()

_labels = st.text(max_size=4) | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
_thresholds = st.lists(st.floats(allow_nan=False), unique=True, max_size=4).map(sorted)


@st.composite
def cuts(draw: st.DrawFn) -> Cut:
    """Cuts with actions of any name."""
    thresholds = tuple(draw(_thresholds.filter(lambda given: len({each + 0.0 for each in given}) == len(given))))
    names = ["pass", "flag", "refer", "ü 'x'"]
    actions = [draw(st.sampled_from(names))]
    for _ in thresholds:
        actions.append(draw(st.sampled_from([name for name in names if name != actions[-1]])))
    return Cut(thresholds, tuple(actions))


@st.composite
def randomized_cuts(draw: st.DrawFn) -> RandomizedCut:
    several = draw(st.lists(cuts(), min_size=2, max_size=4, unique=True))
    weights = [draw(st.integers(1, 9)) for _ in several]
    return RandomizedCut(tuple(several), tuple(each / sum(weights) for each in weights))


@given(st.dictionaries(st.text(max_size=4), cuts() | randomized_cuts(), min_size=1, max_size=4), st.text(min_size=1))
def test_policies_fit_the_schema_and_round_trip(groups: dict[str, Cut | RandomizedCut], otherwise: str) -> None:
    by_group: dict[tuple[object, ...], Cut | RandomizedCut] = {(label,): each for label, each in groups.items()}
    policy = Policy(by_group=by_group, otherwise=otherwise, attributes=("site",))
    check_schema(json.loads(policy.to_json()), "policy")
    again = Policy.from_json(policy.to_json())
    assert again == policy
    assert again.to_json() == policy.to_json()
    assert again.key == policy.key


def test_all_fields_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    POLICY.save(path)
    check_schema(json.loads(path.read_text(encoding="utf-8")), "policy")
    for again in (Policy.load(path), copy.deepcopy(POLICY), pickle.loads(pickle.dumps(POLICY))):  # noqa: S301
        assert again.to_json() == TEXT
        assert again.settings == POLICY.settings
        assert again.by_group == POLICY.by_group
        assert again.calibrator is not None
        assert (again.needs_group, again.needs_id, again.prevalence) == (True, True, 0.02)
        assert repr(again) == (
            "Policy(cost; after prevalence; 3 groups by sex, site: f, 1 flag ≥ 0.3; "
            "m, 1 flag ≥ 0.3 (25%) or pass < -inf ≤ refer < 0.6 ≤ flag (35%) or nobody (40%); "
            "m, False flag < 0.5 ≤ pass; needs group and id)"
        )
    assert repr(SIMPLE) == "Policy(fixed; flag ≥ 0.5)"


def test_file_is_readable() -> None:
    assert '"group": {"sex": "f", "site": 1}' in TEXT
    assert "[0.30000000000000004]" in TEXT
    assert '{"chance": 0.35, "thresholds": ["-inf", 0.6], "actions": ["pass", "refer", "flag"]}' in TEXT
    assert all(len(line) <= 120 for line in TEXT.splitlines())
    assert "NaN" not in TEXT
    assert "Infinity" not in TEXT


def test_key_depends_only_on_the_content() -> None:
    result: dict[str, Any] = {"by_group": POLICY.by_group, "otherwise": "refer", "attributes": POLICY.attributes}
    bare = Policy(**result)
    assert bare.key == Policy(**result, notes=("another",)).key
    keys = {
        bare.key,
        Policy(**result, rule="other").key,
        Policy(**result, columns={"score": "p"}).key,
        Policy(**result, chosen_on="cd" * 32).key,
        Policy(**result | {"otherwise": "pass"}).key,
        Policy(**result | {"by_group": dict(reversed([*POLICY.by_group.items()]))}).key,
    }
    assert len(keys) == 6


def edited_text(**changes: object) -> str:
    return json.dumps(json.loads(TEXT) | changes)


BROKEN: dict[str, tuple[str, str]] = {
    "empty": ("", "not JSON"),
    "truncated": (TEXT[: len(TEXT) // 2], "not JSON: .*broken or no policy"),
    "a map": (shift_log_odds(1.0).to_json(), "this is a calibrator, not a policy"),
    "a list": ("[1, 2]", 'its "kind" is not'),
    "newer": (edited_text(schema_version=2), "schema version 2, but this release reads 1; upgrade baserate"),
    "edited threshold": (TEXT.replace("0.6]", "0.61]"), "was changed after it was written"),
    "edited action": (TEXT.replace('"refer"', '"pass"'), "was changed after it was written"),
    "without seal": (edited_text(seal=None), "was changed"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_tampered_file_raises(name: str, tmp_path: Path) -> None:
    text, words = BROKEN[name]
    (tmp_path / "policy.json").write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=words):
        Policy.load(tmp_path / "policy.json")


FORGED: list[tuple[dict[str, object], str]] = [
    ({"groups": []}, "has no cut"),
    ({"groups": [{"group": {"sex": "f"}, "thresholds": [], "actions": ["flag"]}]}, "a group has"),
    ({"attributes": []}, "a group has"),
    ({"groups": json.loads(TEXT)["groups"][:1] * 2}, "is listed twice"),
    ({"otherwise": ""}, "expected an action"),
    ({"prevalence": 2}, "prevalence is 2"),
    ({"needs_id": False}, "needs_id is False; expected True by the other fields"),
    ({"key": "ab" * 32}, "key is"),
    ({"map": {"kind": "baserate/map"}}, "schema version, None"),
    ({"settings": {"costs": {"tp": 0, "fp": "x", "fn": 1, "tn": 0}}}, "not a policy"),
    ({"positive": 7}, "not a policy"),
    ({"notes": [7]}, "not a policy"),
]


@pytest.mark.parametrize(("changes", "words"), FORGED, ids=[words for _, words in FORGED])
def test_sealed_content_is_validated(changes: dict[str, object], words: str) -> None:
    content = {key: value for key, value in json.loads(TEXT).items() if key not in {"kind", "schema_version", "seal"}}
    with pytest.raises(FileFormatError, match=words):
        Policy.from_json(format_file(Policy.file_kind, content | changes))
    with pytest.raises(FileFormatError, match="the fields of the policy are"):
        Policy.from_json(format_file(Policy.file_kind, changes))


def test_binary_file_raises(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_bytes(b"PAR1\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="is not text, so no policy"):
        Policy.load(tmp_path / "policy.json")


def test_unstorable_values_raise() -> None:
    for settings in ({"rule": object()}, {"price": nan}, {"several": [{1}]}):
        with pytest.raises(OptionError, match="expected numbers, text or costs"):
            Policy(by_group={(): Cut((0.5,))}, otherwise="refuse", settings=settings)
    for label in (None, nan, ("a",)):
        with pytest.raises(OptionError, match="expected text, a number or a boolean"):
            Policy(by_group={(label,): Cut((0.5,))}, otherwise="refuse", attributes=("site",))
    for attributes in (("sex", "sex"), ("",), (7,)):
        group = ("f",) * len(attributes)
        with pytest.raises(OptionError, match="attributes are"):
            Policy(by_group={group: Cut((0.5,))}, otherwise="refuse", attributes=attributes)  # type: ignore[arg-type]


@given(_labels)
def test_labels_match_by_their_text(label: object) -> None:
    assert label_text(label) in spellings(label)
    assert len({*spellings(label)}) == len(spellings(label))
    policy = Policy(by_group={(label,): Cut((0.5,))}, otherwise="pass", attributes=("site",))
    for spelling in spellings(label):
        assert policy.action(0.9, [spelling]) == "flag"
        assert group_texts(policy)[(spelling,)] == (label,)
    assert policy.action(0.9, [label]) == "flag"


def test_labels_of_equal_text_raise() -> None:
    for one, other in ((1, "1"), (True, "true"), (2.0, "2")):
        with pytest.raises(OptionError, match="files write alike"):
            Policy(by_group={(one,): Cut((0.5,)), (other,): Cut((0.6,))}, otherwise="refuse", attributes=("site",))


def test_unlisted_groups() -> None:
    strict = Policy(by_group={("f",): Cut((0.4,))}, otherwise="refuse", attributes=("sex",))
    with pytest.raises(UnknownLabelError, match=r"no cut for the group sex = 'x', and this policy refuses others"):
        strict.action(0.5, ["x"])
    with pytest.raises(UnknownLabelError, match="sex = None"):
        strict.action(0.5, [None])
    with pytest.raises(ShapeError, match="0 values of a group; this policy uses sex"):
        strict.action(0.5)
    assert POLICY.treatment(["f", None]) == Cut((), ("refer",))
    assert POLICY.actions == ("pass", "refer", "flag")
    assert strict.actions == ("pass", "flag")


@pytest.mark.parametrize("path", sorted(OLD.glob("policy-*.json")), ids=lambda path: path.stem)
def test_policies_of_earlier_releases_decide_the_same(path: Path) -> None:
    policy = Policy.load(path)
    wanted = json.loads(path.with_suffix(".wanted").read_text(encoding="utf-8"))
    assert policy.key == wanted["key"]
    for case in wanted["cases"]:
        assert policy.action(case["score"], case["group"], id=case["id"]) == case["action"]
    check_schema(json.loads(path.read_text(encoding="utf-8")), "policy")
