"""Policy: the decision for a score, by group; it can be saved, loaded, applied and reproduced."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from math import inf, isfinite, isinf, isnan
from typing import Any, ClassVar

import numpy as np

from baserate._arrays import FrozenMapping
from baserate._calibrator import Calibrator
from baserate._costs import Costs
from baserate._cut import (
    Cut,
    RandomizedCut,
    Treatment,
    actions_of,
    describe_treatment,
    flags_from,
    id_text,
    random_number,
)
from baserate._errors import (
    BaserateError,
    FileFormatError,
    MissingValuesError,
    OptionError,
    ShapeError,
    UnknownLabelError,
)
from baserate._files import POLICY, FileKind, FileSource, SealedFile, format_file, parse_file
from baserate._formatting import count_groups, count_of, replace_unprintable
from baserate._rendering import Printable
from baserate._tally import Group

_INFINITE = {"inf": inf, "-inf": -inf}
_DERIVED = ("notes", "needs_group", "needs_id", "key")
"""Fields that change no decision, or follow from the others."""
_FIELDS = (
    *("rule", "settings", "columns", "positive", "map", "attributes", "groups", "otherwise", "prevalence", "chosen_on"),
    *_DERIVED,
)


def policy_content(policy: Policy) -> dict[str, Any]:
    """Return the fields that determine decisions, as JSON values."""
    # Notes are left out on purpose: the key is a hash of the content, so rewording a note must not change decisions.
    return {
        "rule": policy.rule,
        "settings": {name: _setting_to_json(name, setting) for name, setting in policy.settings.items()},
        "columns": {name: _setting_to_json(name, column) for name, column in policy.columns.items()},
        "positive": policy.positive,
        # The file format says "map"; another key would change the hash, and with it random decisions.
        "map": None if policy.calibrator is None else json.loads(policy.calibrator.to_json()),
        "attributes": list(policy.attributes),
        "groups": [
            {
                "group": dict(zip(policy.attributes, map(_label, group), strict=True)) or None,
                **_treatment_to_json(treatment),
            }
            for group, treatment in policy.by_group.items()
        ],
        "otherwise": policy.otherwise,
        "prevalence": policy.prevalence,
        "chosen_on": policy.chosen_on,
    }


def policy_key(policy: Policy) -> str:
    """Return the SHA-256 of the content as JSON with sorted keys; random assignment uses it as its key."""
    from hashlib import sha256  # slow to import, and not always needed

    # Any change of this text, even of a blank, would change every random decision of saved policies.
    return sha256(json.dumps(policy_content(policy), sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def policy_to_json(policy: Policy) -> str:
    """Write a policy as versioned JSON with a seal."""
    derived = {"notes": list(policy.notes), **_derived_fields(policy)}
    return format_file(POLICY, policy_content(policy) | derived)


def _derived_fields(policy: Policy) -> dict[str, Any]:
    """Return the fields of a file that follow from others; readers in other languages need not derive them."""
    return {"needs_group": policy.needs_group, "needs_id": policy.needs_id, "key": policy.key}


def policy_from_json(text: str, make: Callable[..., Policy]) -> Policy:
    """Read and check what `policy_to_json` wrote; `make` is called with the fields of a policy."""
    form = parse_file(text, POLICY)
    if set(form) != set(_FIELDS):
        raise FileFormatError(f"the fields of the policy are {sorted(form)}; expected {sorted(_FIELDS)}.")
    try:
        policy = make(**_read_fields(form))
        derived = _derived_fields(policy)
    except (BaserateError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise FileFormatError(f"not a policy: {error}") from error
    for name, value in derived.items():
        if form[name] != value:
            raise FileFormatError(f"not a policy: {name} is {form[name]!r}; expected {value!r} by the other fields.")
    return policy


def _read_fields(form: dict[str, Any]) -> dict[str, Any]:
    attributes = tuple(form["attributes"])
    groups = {}
    for each in form["groups"]:
        labels = each["group"] or {}
        if tuple(labels) != attributes:
            raise OptionError(f"a group has {list(labels)}; expected a value for each of {list(attributes)}.")
        group = tuple(labels.values())
        if group in groups:
            raise OptionError(f"the group {labels} is listed twice.")
        groups[group] = _treatment_from_json(each)
    calibrator = None if form["map"] is None else Calibrator.from_json(json.dumps(form["map"]))
    plain = {name: form[name] for name in ("rule", "positive", "otherwise", "prevalence", "chosen_on")}
    return {
        **plain,
        "attributes": attributes,
        "by_group": groups,
        "calibrator": calibrator,
        "settings": {name: _setting_from_json(name, value) for name, value in form["settings"].items()},
        "columns": {name: _setting_from_json("", value) for name, value in form["columns"].items()},
        "notes": tuple(form["notes"]),
    }


def _label(value: object) -> object:
    """Check that a file can hold a group's label."""
    if isinstance(value, (str, int)) or (isinstance(value, float) and isfinite(value)):
        return value
    raise OptionError(f"a label of a group is {value!r}; expected text, a number or a boolean.")


def _treatment_to_json(treatment: Treatment) -> dict[str, Any]:
    if isinstance(treatment, RandomizedCut):
        pairs = zip(treatment.chances, treatment.cuts, strict=True)
        # The file format says "lottery"; renaming the key would make saved policies unreadable.
        return {"lottery": [{"chance": chance, **_treatment_to_json(cut)} for chance, cut in pairs]}
    return {"thresholds": [_number_to_json(at) for at in treatment.thresholds], "actions": list(treatment.actions)}


def _treatment_from_json(form: Mapping[str, Any]) -> Treatment:
    if "lottery" in form:
        parts = form["lottery"]
        return RandomizedCut(tuple(map(_cut_from_json, parts)), tuple(each["chance"] for each in parts))
    return _cut_from_json(form)


def _cut_from_json(form: Mapping[str, Any]) -> Cut:
    return Cut(tuple(_INFINITE.get(at, at) for at in form["thresholds"]), tuple(form["actions"]))


def _number_to_json(value: float) -> float | str:
    """Return a number, or the name of an infinite one, which JSON lacks."""
    return value if not isinf(value) else "inf" if value > 0 else "-inf"


def _setting_to_json(name: str, setting: Any) -> Any:  # noqa: ANN401  (any setting of a rule)
    """Make a setting fit for JSON."""
    if isinstance(setting, Costs):
        return {name: float(cost) for name, cost in asdict(setting).items()}
    if isinstance(setting, float) and not isnan(setting):
        return _number_to_json(float(setting))  # float() also makes a plain one of NumPy's float64
    if isinstance(setting, (tuple, list)):
        return [_setting_to_json(name, each) for each in setting]
    if isinstance(setting, Mapping):
        return {str(key): _setting_to_json(name, value) for key, value in setting.items()}
    if setting is None or isinstance(setting, (str, int)):
        return setting
    raise OptionError(f"the setting {name} is {setting!r}; expected numbers, text or costs.")


def _setting_from_json(name: str, value: Any) -> Any:  # noqa: ANN401  (any setting of a rule)
    if isinstance(value, dict) and name == "costs" and {*value} == {each.name for each in fields(Costs)}:
        return Costs(**value)
    if isinstance(value, dict):
        return {key: _setting_from_json("", each) for key, each in value.items()}
    if isinstance(value, list):
        return tuple(_setting_from_json("", each) for each in value)
    return _INFINITE.get(value, value) if isinstance(value, str) else value


_MOST_GROUPS = 4
"""Groups in the representation of a policy."""
REFUSE = "refuse"
"""Value of `otherwise` that makes an unlisted group an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Printable, SealedFile):
    """A cut or randomized cut for each group, an action for all others, and how the policy was chosen.

    Without groups it has one cut, for the group `()`. Labels match by their text: the number 1 in a Parquet file is the
    text 1 in a CSV file.

    >>> by_sex = {("f",): Cut((0.4,)), ("m",): RandomizedCut((Cut((0.5,)), Cut((0.6,))), (0.3, 0.7))}
    >>> policy = Policy(by_group=by_sex, otherwise="refer", attributes=("sex",))
    >>> policy
    Policy(fixed; 2 groups by sex: f flag ≥ 0.4; m flag ≥ 0.5 (30%) or ≥ 0.6 (70%); needs group and id)
    >>> policy.action(0.45, ["f"]), policy.action(0.55, ["m"], id=7), policy.action(0.9, [None])
    ('flag', 'flag', 'refer')
    >>> Policy.from_json(policy.to_json()) == policy
    True
    """

    file_kind: ClassVar[FileKind] = POLICY
    by_group: Mapping[Group, Treatment]
    otherwise: str
    """Action for a group that is not listed, or missing; "refuse" makes it an error."""
    attributes: tuple[str, ...] = ()
    """Names of the columns that define groups."""
    calibrator: Calibrator | None = None
    """Calibrator that was applied before choosing, if any; thresholds are on the raw scores."""
    rule: str = "fixed"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the rule: costs, prevalence, requirements."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Names of the columns of the data that it was chosen on, by role: truth, score, id."""
    positive: str | None = None
    """The positive class, as text."""
    prevalence: float | None = None
    """Prevalence for which it was chosen; None if no data were used."""
    chosen_on: str | None = None
    """Digest of the tally on which it was chosen; None if no data were used."""
    notes: tuple[str, ...] = ()
    """Warnings about the choice."""

    def __post_init__(self) -> None:
        self._check_treatments()
        self._check_descriptions()
        by_group = {tuple(map(_as_python, group)): treatment for group, treatment in self.by_group.items()}
        for name, mapping in (("by_group", by_group), ("settings", self.settings), ("columns", self.columns)):
            object.__setattr__(self, name, FrozenMapping(mapping))
        self._check_spellings()
        policy_content(self)  # refuses values that a file cannot hold

    def _check_treatments(self) -> None:
        """Check that every group has a cut, and all others an action."""
        if not self.by_group:
            raise OptionError("the policy has no cut", remedy="give one for each group, or for ().")
        treatments: list[object] = [*self.by_group.values()]  # callers may not use a type checker
        strange = [each for each in treatments if not isinstance(each, (Cut, RandomizedCut))]
        if strange:
            what = f"the cut of a group is {strange[0]!r}"
            raise OptionError(what, remedy="give a Cut, such as Cut((0.5,)), or a RandomizedCut.")
        if not self.otherwise or not isinstance(self.otherwise, str):
            what = f"otherwise is {self.otherwise!r}; expected an action, or 'refuse'."
            raise OptionError(what, option="otherwise", value=self.otherwise)
        mismatched = [group for group in self.by_group if len(group) != len(self.attributes)]
        if mismatched:
            raise ShapeError(f"the group {mismatched[0]} has not one label for each of {self.attributes}.")

    def _check_descriptions(self) -> None:
        """Check attributes, texts and prevalence."""
        names: list[object] = [*self.attributes]
        if not all(isinstance(name, str) and name for name in names) or len({*names}) < len(names):
            raise OptionError(
                f"attributes are {self.attributes}; expected names of columns, each once.",
                option="attributes",
                value=self.attributes,
            )
        texts: list[object] = [self.rule, *self.notes, *([] if self.positive is None else [self.positive])]
        if not all(isinstance(each, str) for each in texts):
            raise OptionError("the rule, the positive class or a note is not text", remedy="give text.")
        if self.prevalence is not None and not 0 <= self.prevalence <= 1:
            what = f"prevalence is {self.prevalence}; expected a number from 0 to 1."
            raise OptionError(what, option="prevalence", value=self.prevalence)

    def _check_spellings(self) -> None:
        """Refuse two groups whose labels are written the same way."""
        for place, attribute in enumerate(self.attributes):
            owner: dict[str, object] = {}
            for label in dict.fromkeys(group[place] for group in self.by_group):
                for spelling in spellings(label):
                    other = owner.setdefault(spelling, label)
                    if other is not label and other != label:
                        what = f"{attribute} has {other!r} and {label!r}, which files write alike"
                        raise OptionError(what, remedy="keep one.")

    def __repr__(self) -> str:
        needs = " and ".join([*["group"] * self.needs_group, *["id"] * self.needs_id])
        after = f"; after {self.calibrator.method}" if self.calibrator is not None else ""
        return f"Policy({self.rule}{after}; {self._describe_cuts()}{f'; needs {needs}' if needs else ''})"

    def _describe_cuts(self) -> str:
        """Describe the cut of each group; of many groups, the first ones."""
        if not self.attributes:
            return describe_treatment(self.by_group[()])
        names = (replace_unprintable(", ".join(map(str, group))) for group in self.by_group)
        cuts = [f"{name} {describe_treatment(cut)}" for name, cut in zip(names, self.by_group.values(), strict=True)]
        more = f" and {len(cuts) - _MOST_GROUPS} more" if len(cuts) > _MOST_GROUPS else ""
        return f"{count_groups(len(cuts), self.attributes)}: {'; '.join(cuts[:_MOST_GROUPS])}{more}"

    @property
    def needs_group(self) -> bool:
        """Whether the decision depends on the group of a row."""
        return bool(self.attributes)

    @property
    def needs_id(self) -> bool:
        """Whether the decision depends on the ID of a row: some scores are decided at random."""
        return any(isinstance(each, RandomizedCut) for each in self.by_group.values())

    @property
    def actions(self) -> tuple[str, ...]:
        """All actions, each once."""
        rest = () if self.otherwise == REFUSE or not self.needs_group else (Cut((), (self.otherwise,)),)
        return actions_of([*self.by_group.values(), *rest])

    @property
    def cut(self) -> Cut:
        """The cut of a policy without groups and randomization."""
        if self.needs_group:
            by = ", ".join(self.attributes)
            raise OptionError(f"this policy has a cut for each group by {by}", remedy="see `by_group`.")
        treatment = self.by_group[()]
        if isinstance(treatment, RandomizedCut):
            raise OptionError("this policy is randomized between several cuts", remedy="see `by_group`.")
        return treatment

    @property
    def threshold(self) -> float:
        """The threshold of a policy without groups that passes or flags."""
        return self.cut.threshold

    @property
    def flags_from(self) -> float | None:
        """The threshold if there is one, otherwise None."""
        return flags_from(self.by_group.get(()))

    @property
    def key(self) -> str:
        """SHA-256 of the content, the key of random assignment: different policies assign independently."""
        return policy_key(self)

    def treatment(self, group: Sequence[object] = ()) -> Treatment:
        """Return the cut of a group, given a value for each attribute; an unlisted group may be an error."""
        if len(group) != len(self.attributes):
            expected = ", ".join(self.attributes) or "none"
            raise ShapeError(f"{count_of(len(group), 'value')} of a group; this policy uses {expected}.")
        # Labels match by text, not by value: a CSV file has the text "1" where a Parquet file has the number 1.
        texts = tuple(map(label_text, group))
        for known, treatment in self.by_group.items():
            if all(text in spellings(label) for text, label in zip(texts, known, strict=True)):
                return treatment
        if self.otherwise == REFUSE:
            described = ", ".join(f"{name} = {value!r}" for name, value in zip(self.attributes, group, strict=True))
            raise UnknownLabelError(
                f"there is no cut for the group {described}, and this policy refuses others",
                remedy="leave such rows out, or choose a policy that covers them.",
            )
        return Cut((), (self.otherwise,))

    def action(self, score: float, group: Sequence[object] = (), *, id: object = None) -> str:  # noqa: A002
        """Return the action for one row; use `baserate.apply` for many."""
        if not isfinite(score):
            raise MissingValuesError(f"the score is {score}", remedy="give a finite number.")
        treatment = self.treatment(group)
        if isinstance(treatment, Cut):
            return treatment.action(score)
        actions = {cut.action(score) for cut in treatment.cuts}
        if len(actions) == 1:  # no ID is needed where all cuts agree
            return actions.pop()
        return treatment.select(random_number(self.key, id_text(id))).action(score)

    def to_json(self) -> str:
        """Return versioned JSON with a checksum that restores every number exactly."""
        return policy_to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Policy:
        """Read what `to_json` wrote, checking its form."""
        return policy_from_json(text, cls)


def load_policy(source: FileSource) -> Policy:
    """Read a policy, as `Policy.load` does.

    Parameters
    ----------
    source
        File that `save`, `baserate decide` or `baserate equalize` wrote: its path, or an open file.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    FileFormatError
        If the file contains no policy, was changed, or was written by a later release. The message names what the
        file contains instead, such as a calibrator, which `load_calibrator` reads.
    """
    return Policy.load(source)


def _as_python(label: object) -> object:
    """Convert a NumPy label to a Python one."""
    return label.item() if isinstance(label, np.generic) else label


def label_text(value: object) -> str | None:
    """Return the text of a label as files hold it; None if it is missing.

    >>> label_text(1), label_text(True), label_text(0.5), label_text("f"), label_text(None)
    ('1', 'true', '0.5', 'f', None)
    """
    if value is None or (isinstance(value, (float, np.floating)) and isnan(value)):
        return None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def spellings(label: object) -> tuple[str, ...]:
    """Return all spellings of a label in different file formats.

    >>> spellings(1), spellings(True), spellings("f"), spellings(2.5)
    (('1', '1.0'), ('true', 'True', 'TRUE'), ('f',), ('2.5',))
    """
    text = label_text(label)
    if text is None:
        return ()
    if isinstance(label, (bool, np.bool_)):  # before int, of which bool is a subclass
        return (text, text.title(), text.upper())
    if isinstance(label, (int, np.integer)):
        return (text, f"{text}.0")
    whole = isinstance(label, (float, np.floating)) and text.endswith(".0")
    return (text, text.removesuffix(".0")) if whole else (text,)


def group_texts(policy: Policy) -> dict[tuple[str, ...], Group]:
    """Map all texts of a policy's groups to the groups."""
    return {texts: group for group in policy.by_group for texts in product(*(spellings(label) for label in group))}
