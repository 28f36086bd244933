"""Plan of a report: files, columns, deployment, decision rule and intervals; the same in shell, Python and JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from math import inf, isinf, isnan
from pathlib import PurePath
from typing import Any, ClassVar, Literal

import numpy as np

from baserate._arrays import FrozenMapping
from baserate._costs import Costs
from baserate._cut import has_table
from baserate._domains import MIN_GROUP, check_prevalence
from baserate._errors import BaserateError, FileFormatError, OptionError, advice, keyword, unknown_name
from baserate._files import PLAN, FileKind, JsonFile, format_file, parse_file
from baserate._policy import Policy
from baserate._rendering import Renderable, short_repr
from baserate._tally import as_group
from baserate.decide import find_rule_entry
from baserate.fairness import check_min_group
from baserate.infer import IntervalOptions
from baserate.read import Columns

_INFINITE = {"inf": inf, "-inf": -inf}
Names = tuple[str, ...] | Any
"""A name or several; stored as a tuple."""
_TEXTS = (
    *("predicted", "weight", "count", "id", "rule", "policy_file", "method"),
    *("title", "outcome_name", "flag_name"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Renderable, JsonFile):
    """Everything that a report depends on, except the rows themselves.

    Columns are named as in `baserate.read.tallies`. `prevalence` is the share of positives in deployment: of everybody,
    or a mapping from groups to theirs, such as `{"north": 0.02, "coast": 0.05}`; groups of several columns are tuples.
    `costs` are the costs of outcomes there. The decision is a `threshold`, a `policy`, or the choice of a `rule`;
    without these it is the cheapest threshold for `costs`, 0.5 for probabilities, or Youden's. A plan that is saved and
    loaded again is equal.

    >>> plan = Plan(files="people.csv", truth="sick", score="risk", prevalence=0.02, costs=Costs(fp=1, fn=20))
    >>> Plan.from_json(plan.to_json()) == plan
    True
    >>> plan.files, plan.score, plan.chooses
    (('people.csv',), ('risk',), 'cost')
    """

    file_kind: ClassVar[FileKind] = PLAN
    files: Names = ()
    """Files to read; empty where a table is passed with the plan."""
    apart: bool = False
    """Whether each file is a separate sample, evaluated beside the others."""
    truth: str = "truth"
    score: Names = ()
    predicted: str | None = None
    group: Names = ()
    weight: str | None = None
    count: str | None = None
    id: str | None = None
    positive: str | float | np.generic | None = None
    negative: str | float | np.generic | None = None
    missing: Literal["refuse", "drop"] = "refuse"
    prevalence: float | Mapping[Any, float] | None = None
    costs: Costs | None = None
    threshold: float | None = None
    rule: str | None = None
    policy: Policy | None = None
    policy_file: str | None = None
    """File of the policy, for suggested commands; None where the policy is in no file."""
    level: float = 0.95
    method: str | None = None
    """Method of confidence intervals; None for the default, which uses no resampling."""
    seed: int = 0
    reference: Any = None
    """Group that others are compared with: its label, a tuple of labels, or a mapping from columns to labels."""
    min_group: int = MIN_GROUP
    """Least number of rows of a class or group that a tested difference between groups rests on."""
    ignore: Names = ()
    """Codes of findings that are left out, such as BR004."""
    title: str | None = None
    outcome_name: str | None = None
    """The positive outcome in a reader's words, such as "re-offended"."""
    flag_name: str | None = None
    """What happens to a flagged person, such as "detained"."""
    model_labels: Mapping[str, str] | None = None
    """Name of a model -> its name for readers."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("files", "score", "group"):
            object.__setattr__(self, name, _as_names(name, getattr(self, name)))
        for name in ("positive", "negative"):
            object.__setattr__(self, name, _as_label(name, getattr(self, name)))
        for name in _TEXTS:
            if getattr(self, name) is not None and not isinstance(getattr(self, name), str):
                raise OptionError(
                    f"{name} is {getattr(self, name)!r}; expected text.",
                    remedy="Give a name, or leave it out.",
                    option=name,
                    value=getattr(self, name),
                )
        Columns.of({name: each for name, each in self.columns.items() if each})  # type: ignore[arg-type]
        self._check_use()
        self._check_cut()
        self._check_groups()
        self._check_words()

    def _check_use(self) -> None:
        """Check the data options, the costs, the seed and the intervals."""
        if self.missing not in ("refuse", "drop"):
            raise OptionError(
                f"missing is {self.missing!r}; expected 'refuse' or 'drop'.", option="missing", value=self.missing
            )
        self._check_prevalence()
        if self.costs is not None and not isinstance(self.costs, Costs):
            raise OptionError(
                f"costs is {self.costs!r}; expected Costs.",
                remedy="Give Costs(fp=1, fn=20).",
                option="costs",
                value=self.costs,
            )
        seed: object = self.seed  # a caller without a type checker may pass anything
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise OptionError(
                f"seed is {self.seed!r}; expected a whole number from 0 up.",
                remedy="Give one, so that the plan is reproducible.",
                option="seed",
                value=self.seed,
            )
        _ = self.interval  # its constructor checks level and method
        if self.apart and (self.group or len(self.files) == 1):
            raise OptionError(
                "separate samples need several files without groups.",
                remedy=f"Leave out {keyword('apart')} or {keyword('group')}.",
            )
        if self.apart and self.predicted:
            raise OptionError(
                "separate samples need scores, not predicted labels.",
                remedy=f"Leave out {keyword('predicted')}, or evaluate the samples one by one.",
            )

    def _check_prevalence(self) -> None:
        """Check the prevalence, or those of groups, which are stored under the text of their labels."""
        shares = self.prevalence if isinstance(self.prevalence, Mapping) else {None: self.prevalence}
        for group, share in shares.items():
            if share is not None:
                check_prevalence("prevalence" if group is None else f"prevalence of the group {group!r}", share)
        if not isinstance(self.prevalence, Mapping):
            return
        if not self.group or not shares:
            raise OptionError(
                f"prevalence maps groups to shares; expected at least one, and {keyword('group')} with the columns of "
                f"the groups.",
                remedy="Give one share for everybody, or name the groups.",
            )
        # As text: JSON has neither tuples nor numbers as keys, and a loaded plan must equal the saved one.
        stated = {"/".join(map(str, as_group(group))): float(share) for group, share in self.prevalence.items()}
        object.__setattr__(self, "prevalence", FrozenMapping(stated))

    def _check_groups(self) -> None:
        """Check the least size of groups and the reference group, which is stored under the text of its labels."""
        check_min_group(self.min_group)
        if self.reference is None:
            return
        if not self.group:
            raise OptionError(
                f"reference is {self.reference!r}, but there are no groups.",
                remedy=f"Give {keyword('group')}, the column with the groups.",
                option="reference",
                value=self.reference,
            )
        object.__setattr__(self, "reference", _group_text(self.reference, self.group))

    def _check_words(self) -> None:
        """Check the codes to ignore and the names of models for readers."""
        typed = _as_names("ignore", self.ignore)
        object.__setattr__(self, "ignore", tuple(dict.fromkeys(str(code).upper() for code in typed)))
        wrong = [code for code in typed if not re.fullmatch(r"BR\d{3}", str(code).upper())]
        if wrong:
            raise OptionError(
                f"ignore is {wrong[0]!r}; expected the code of a finding, such as BR004.",
                remedy="`baserate list findings` lists them.",
                option="ignore",
                value=wrong[0],
            )
        if self.model_labels is None:
            return
        if not isinstance(self.model_labels, Mapping):
            raise OptionError(
                f"model_labels is {self.model_labels!r}; expected a mapping from names of models to names for readers.",
                remedy='Give {"risk": "Model A"}.',
                option="model_labels",
                value=self.model_labels,
            )
        labels = {str(name): str(label) for name, label in self.model_labels.items()}
        object.__setattr__(self, "model_labels", FrozenMapping(labels))

    def _check_cut(self) -> None:
        """Check that at most one of threshold, rule and policy is stated, and that it decides."""
        ways = [name for name in ("threshold", "rule", "policy") if getattr(self, name) is not None]
        if len(ways) > 1:
            raise OptionError(
                f"{' and '.join(ways)} are given; expected at most one of them.", remedy="Leave out the others."
            )
        if self.threshold is not None and (not _is_number(self.threshold) or isnan(self.threshold)):
            raise OptionError(
                f"threshold is {self.threshold!r}; expected a number.",
                remedy="Give one on the scale of the scores.",
                option="threshold",
                value=self.threshold,
            )
        if self.policy is not None and not isinstance(self.policy, Policy):
            raise OptionError(
                f"policy is {type(self.policy).__name__}; expected a Policy.",
                remedy="Read one with Policy.load(…).",
                option="policy",
                value=type(self.policy).__name__,
            )
        if self.policy is not None and not has_table(self.policy.actions):
            actions = ", ".join(self.policy.actions)
            raise OptionError(
                f"the policy has the actions {actions}, so it has no confusion matrix.",
                remedy="Give one whose actions are flag and pass.",
            )
        if self.policy_file is not None and self.policy is None:
            raise OptionError(
                f"policy_file is {self.policy_file!r}, but there is no policy.",
                remedy="Read it with Policy.load(…).",
                option="policy_file",
                value=self.policy_file,
            )
        if self.rule is not None:
            entry = find_rule_entry(self.rule)
            if not entry.in_plans:
                raise OptionError(
                    f"the rule {entry.name} has options that a plan cannot contain.",
                    remedy="Choose with `baserate decide … -o policy.json`, and give the policy.",
                )
            object.__setattr__(self, "rule", entry.name)
        if self.rule == "cost" and self.costs is None:
            raise OptionError(
                "the rule cost needs the costs of errors", remedy=f"give {advice('costs', 'costs=Costs(fp=1, fn=20)')}."
            )

    @property
    def columns(self) -> dict[str, Any]:
        """Names of columns as keywords of `baserate.read`."""
        names = ("truth", "score", "predicted", "group", "weight", "count", "id")
        return {name: getattr(self, name) for name in names if getattr(self, name)}

    @property
    def interval(self) -> IntervalOptions:
        """Options of confidence intervals."""
        return IntervalOptions(self.level, self.method, self.seed)

    @property
    def chooses(self) -> str | None:
        """Name of the rule that chooses the threshold; None where it is stated, or has a default."""
        if self.threshold is not None or self.policy is not None:
            return None
        return self.rule or ("cost" if self.costs is not None else None)

    def to_json(self) -> str:
        """Return the plan as versioned JSON, which a person can edit and run again."""
        form = {each.name: _to_plain(getattr(self, each.name)) for each in fields(self)}
        return format_file(PLAN, form)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Return the plan in a JSON text; fields that it omits have their defaults."""
        return cls(**_parse_fields(text))


def _as_names(name: str, value: object) -> tuple[str, ...]:
    """Return a name, or several, as a tuple."""
    names = (value,) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(names, Iterable):
        raise OptionError(f"{name} is {value!r}; expected a name or a list of names.", option=name, value=value)
    return tuple(os.fspath(each) if isinstance(each, os.PathLike) else each for each in names)


def _group_text(reference: object, columns: tuple[str, ...]) -> str:
    """Return the labels of a group as one text, in the order of the columns.

    >>> _group_text({"sex": "f", "site": 2}, ("site", "sex")), _group_text("f", ("sex",))
    ('2/f', 'f')
    """
    if isinstance(reference, Mapping):
        unknown = [str(name) for name in reference if name not in columns]
        if unknown:
            raise unknown_name("column of groups", unknown[0], columns)
        lacking = [name for name in columns if name not in reference]
        if lacking:
            raise OptionError(
                f"reference has no label for {lacking[0]!r}; expected one for each column of groups.",
                option="reference",
                value=reference,
            )
        reference = tuple(reference[name] for name in columns)
    return "/".join(map(str, as_group(reference)))


def _as_label(name: str, value: object) -> object:
    """Return a label as a plain value that JSON can hold."""
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is not None and not isinstance(plain, (str, int, float)):
        raise OptionError(
            f"{name} is {value!r}; expected text, a number or a boolean.",
            remedy="Rename the labels.",
            option=name,
            value=value,
        )
    return plain


def _is_number(value: object) -> bool:
    """Return whether a value is a real number; True and False are not."""
    return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)


def _to_plain(value: Any) -> Any:  # noqa: ANN401  (any field)
    """Return a field as a plain value that JSON can hold."""
    if isinstance(value, Costs):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Policy):
        return json.loads(value.to_json())
    if isinstance(value, float) and isinf(value):
        return "inf" if value > 0 else "-inf"
    return list(value) if isinstance(value, tuple) else value


def _parse_fields(text: str) -> dict[str, Any]:
    """Return the fields of a plan in a JSON text, or raise an error that says what is wrong."""
    form = parse_file(text, PLAN)
    names = [each.name for each in fields(Plan)]
    unknown = [name for name in form if name not in names]
    if unknown:
        raise FileFormatError(str(unknown_name("field", unknown[0], names)), remedy="Rename or remove it.")
    try:
        return form | {
            name: _parse_field(name, form[name]) for name in ("costs", "threshold", "policy") if name in form
        }
    except (TypeError, BaserateError) as error:
        raise FileFormatError(f"not a valid plan: {error}") from error


def _parse_field(name: str, value: Any) -> Any:  # noqa: ANN401  (whatever JSON holds)
    """Return the value of a field that JSON cannot hold as such."""
    if name == "costs" and value is not None:
        return Costs(**value)
    if name == "policy" and value is not None:
        return Policy.from_json(json.dumps(value))
    return _INFINITE.get(value, value) if isinstance(value, str) else value


def name_samples(files: tuple[str, ...]) -> dict[str, str]:
    """Return files by the names of their samples: the stems, or the paths where two stems are equal."""
    short = [PurePath(each).stem for each in files]
    return dict(zip(short if len({*short}) == len(short) else files, files, strict=True))
