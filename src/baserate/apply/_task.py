"""Application tasks: a calibrator or a policy, the columns it reads and adds, and the errors of rows it cannot take.

Arrays, frames and files all check the same `Task` and raise the same errors, so that their messages do not differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypedDict, cast

from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._calibrator_forms import Between
from baserate._domains import wrong_option
from baserate._errors import (
    DataError,
    MissingValuesError,
    NotAProbabilityError,
    OptionError,
    ShapeError,
    UnknownLabelError,
    keyword,
)
from baserate._formatting import count_of
from baserate._policy import Policy
from baserate.read import check_column

AnyCalibrator = Calibrator | MulticlassCalibrator
ScoreColumns = str | Sequence[str] | Mapping[str, str]
"""Name of a column; for several classes one for each, in their order or by their names."""
ACTION_COLUMN = "action"


class CalibratorOptions(TypedDict, total=False):
    """Keyword options for applying a calibrator."""

    score: ScoreColumns | None
    name: ScoreColumns | None
    bounds: bool
    missing: Literal["refuse", "keep"]


class PolicyColumnOptions(TypedDict, total=False):
    """Keyword options that name the columns a policy reads and adds."""

    score: str | None
    group: str | Sequence[str] | None
    id: str | None
    name: str | None
    chances: bool


class PolicyOptions(PolicyColumnOptions, total=False):
    """Keyword options for applying a policy."""

    missing: Literal["refuse", "keep"]


_POLICY_OPTIONS = tuple(PolicyOptions.__annotations__)


@dataclass(frozen=True, slots=True)
class Task:
    """A calibrator or a policy, the columns that it reads, and the columns that it adds."""

    artifact: AnyCalibrator | Policy
    scores: tuple[str, ...]
    """Score columns: one, or one for each class."""
    new_columns: tuple[str, ...]
    """Probabilities, then their bounds; or the action, then the chance of each action."""
    keep_missing: bool
    """Whether rows without a score stay, with nothing in the new columns, instead of raising an error."""
    bounds: bool = False
    """Whether a Venn–Abers calibrator adds its two bounds."""
    groups: tuple[str, ...] = ()
    """Group columns, one for each attribute of a policy."""
    id: str | None = None
    """Id column; None where nothing is randomized."""

    @property
    def is_policy(self) -> bool:
        """Whether a policy decides; otherwise a calibrator computes probabilities."""
        return isinstance(self.artifact, Policy)

    @property
    def policy(self) -> Policy:
        """The policy; only where `is_policy`."""
        return cast("Policy", self.artifact)

    @property
    def calibrator(self) -> AnyCalibrator:
        """The calibrator; only where not `is_policy`."""
        return cast("AnyCalibrator", self.artifact)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        return tuple(dict.fromkeys([*self.scores, *self.groups, *([] if self.id is None else [self.id])]))

    @property
    def number_columns(self) -> tuple[str, ...]:
        """New columns that hold numbers."""
        return self.new_columns[1:] if self.is_policy else self.new_columns

    def check_columns(self, names: Sequence[object], *, case_sensitive: bool = True) -> None:
        """Check that the columns to read exist in a table, and that the new ones do not."""
        for name in self.columns:
            check_column(name, names)
        existing = {str(name) if case_sensitive else str(name).casefold() for name in names}
        for name in self.new_columns:
            if (name if case_sensitive else name.casefold()) in existing:
                raise OptionError(
                    f"there is a column {name!r} already", remedy=f"choose another with {keyword('name')}."
                )


def unsupported_artifact_error(artifact: object) -> OptionError:
    """Build the error for an object that is neither a calibrator nor a policy."""
    kind = type(artifact).__name__
    return OptionError(
        f"{kind} is neither a calibrator nor a policy", remedy="read one with load_calibrator or load_policy."
    )


def make_task(artifact: AnyCalibrator | Policy, **options: Any) -> Task:  # noqa: ANN401  (CalibratorOptions or PolicyOptions)
    """Check the options for applying a calibrator or a policy, and fill in the default columns."""
    return policy_task(artifact, options) if isinstance(artifact, Policy) else _calibrator_task(artifact, **options)


def _calibrator_task(
    calibrator: AnyCalibrator,
    *,
    score: ScoreColumns | None = None,
    name: ScoreColumns | None = None,
    bounds: bool = False,
    missing: str = "refuse",
) -> Task:
    if not isinstance(calibrator, (Calibrator, MulticlassCalibrator)):
        raise OptionError(
            f"{type(calibrator).__name__} is not a calibrator", remedy="read one with load_calibrator, or fit one."
        )
    _check_missing_option(missing)
    if bounds and not isinstance(calibrator.form, Between):
        raise OptionError(f"{calibrator.method} has no bounds", remedy="fit venn-abers, which has.")
    scores = score_columns(calibrator, score)
    new = tuple(f"{each}_calibrated" for each in scores) if name is None else _column_names(calibrator, name, "name")
    if bounds:
        new = (new[0], f"{new[0]}_low", f"{new[0]}_high")
    if len({*new}) < len(new):
        raise OptionError(
            "two of the new columns have the same name", remedy=f"give each its own with {keyword('name')}."
        )
    return Task(calibrator, scores, new, missing == "keep", bounds=bounds)


def policy_task(policy: Policy, options: Mapping[str, Any]) -> Task:
    """Check the options for applying a policy, and fill in the columns that it names itself."""
    unknown = options.keys() - {*_POLICY_OPTIONS}
    if unknown:
        options_ = ", ".join(_POLICY_OPTIONS)
        raise OptionError(f"{min(unknown)} is not an option for a policy; the options are: {options_}.")
    missing = options.get("missing", "refuse")
    _check_missing_option(missing)
    score = options.get("score") or policy.columns.get("score")
    if not score:
        raise OptionError(
            "the policy does not store the name of the score column",
            remedy=f"name it, such as {keyword('score', 'risk')}.",
        )
    name = options.get("name") or ACTION_COLUMN
    new = (name, *(f"{name}_chance_{action}" for action in policy.actions if options.get("chances")))
    groups, id_ = _group_columns(policy, options.get("group")), _id_column(policy, options.get("id"))
    return Task(policy, (score,), new, missing == "keep", groups=groups, id=id_)


def _check_missing_option(missing: str) -> None:
    if missing not in ("refuse", "keep"):
        raise wrong_option("missing", missing, "'refuse' or 'keep'")


def score_columns(calibrator: AnyCalibrator, score: ScoreColumns | None) -> tuple[str, ...]:
    """Return the score columns: those that the options name, otherwise those that the calibrator was fitted on."""
    if score is not None:
        return _column_names(calibrator, score, "score")
    if isinstance(calibrator, Calibrator):
        if "score" not in calibrator.columns:
            raise OptionError(
                "the calibrator does not store the name of the score column",
                remedy=f"name it, such as {keyword('score', 'risk')}.",
            )
        return (calibrator.columns["score"],)
    if not {*calibrator.labels} <= {*calibrator.columns}:
        raise OptionError(
            "the calibrator does not store the names of the score columns",
            remedy=f"name one for each class with {keyword('score')}.",
        )
    return tuple(calibrator.columns[label] for label in calibrator.labels)


def _column_names(calibrator: AnyCalibrator, names: ScoreColumns, option: str) -> tuple[str, ...]:
    """Return one column for each class, in their order; a single one for a binary calibrator."""
    if isinstance(calibrator, Calibrator):
        if not isinstance(names, str) or not names:
            raise wrong_option(option, names, "the name of one column")
        return (names,)
    labels = calibrator.labels
    if isinstance(names, str):
        raise wrong_option(option, names, f"one column for each class: {', '.join(labels)}")
    if isinstance(names, Mapping):
        if {*names} != {*labels}:
            raise OptionError(f"{option} names {', '.join(names) or 'no class'}; the classes are {', '.join(labels)}.")
        names = [names[label] for label in labels]
    if len(names) != len(labels) or not all(names):
        raise OptionError(
            f"{option} has {count_of(len(names), 'name')}", remedy=f"name one column for each of {len(labels)} classes."
        )
    return tuple(names)


def _group_columns(policy: Policy, group: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return one column for each attribute; by default they are called like the attributes."""
    if group is None:
        return policy.attributes
    names = (group,) if isinstance(group, str) else tuple(group)
    if len(names) != len(policy.attributes):
        attributes = ", ".join(policy.attributes) or "no group"
        raise OptionError(
            f"group names {count_of(len(names), 'column')}, but this policy requires {attributes}",
            remedy="name one for each.",
        )
    return names


def _id_column(policy: Policy, id_: str | None) -> str | None:
    """Return the id column of a randomized policy; other policies ignore the option."""
    if not policy.needs_id:
        return None
    name = policy.columns.get("id") if id_ is None else id_
    if not name:
        raise OptionError(
            "this policy is randomized by the ids of rows, but no column of ids is named",
            remedy=f"name it, such as {keyword('id', 'patient')}.",
        )
    return name


MAX_EXAMPLES = 5
"""Row numbers, groups and columns that a message lists."""

ErrorKind = Literal["missing", "outside", "nothing"]
"""A score missing or infinite; no probability where one is needed; probability 0 for every class."""


class RowErrors(NamedTuple):
    """Rows with one kind of error: how many of how many, and the first row numbers."""

    kind: ErrorKind
    rows: int
    total: int
    first: Sequence[int]
    """Counted from 1."""


def error_kinds(task: Task) -> tuple[ErrorKind, ...]:
    """Return the kinds of errors that a task raises, in the order in which they are reported."""
    kinds: list[ErrorKind] = [] if task.keep_missing else ["missing"]
    if not task.is_policy and task.calibrator.form.of_probabilities:
        kinds.append("outside")
        if len(task.scores) > 1:
            kinds.append("nothing")
    return tuple(kinds)


def row_error(errors: RowErrors, task: Task) -> DataError:
    """Return the exception for rows with unusable scores: what, where, how many, and the remedy.

    >>> from baserate._calibrator import shift_log_odds
    >>> print(row_error(RowErrors("missing", 7, 9, [1, 2, 3, 5, 6]), make_task(shift_log_odds(1.0), score="risk")))
    7 of 9 rows have a score that is missing, NaN or infinite in 'risk' (rows 1, 2, 3, 5, 6 and 2 more, counted from 1);
    fill them in, or keep those rows without a result with missing='keep'.
    """
    more = ", …" if len(task.scores) > MAX_EXAMPLES else ""
    where = f"in {', '.join(map(repr, task.scores[:MAX_EXAMPLES]))}{more} ({format_rows(errors)})"
    count = f"{errors.rows} of {errors.total} rows"
    if errors.kind == "missing":
        return MissingValuesError(
            f"{count} have a score that is missing, NaN or infinite {where}",
            remedy=f"fill them in, or keep those rows without a result with {keyword('missing', 'keep')}.",
        )
    if errors.kind == "outside":
        return NotAProbabilityError(
            f"{count} have a score outside [0, 1] {where}, but this calibrator takes probabilities",
            remedy="give those, or fit a calibrator on scores of this kind.",
        )
    return ShapeError(f"{count} give probability 0 to every class {where}", remedy="leave them out.")


def format_rows(errors: RowErrors) -> str:
    """Format row numbers for a message.

    >>> format_rows(RowErrors("missing", 1, 9, [4]))
    'row 4, counted from 1'
    """
    numbers = ", ".join(map(str, errors.first))
    more = f" and {errors.rows - len(errors.first)} more" if errors.rows > len(errors.first) else ""
    return f"row{'s' if errors.rows > 1 else ''} {numbers}{more}, counted from 1"


GroupTexts = tuple[str | None, ...]
"""Spelling of a group, one text for each attribute; None is missing."""


def unknown_groups_error(
    attributes: Sequence[str], rows_by_group: Mapping[GroupTexts, int], total: int, *, others: tuple[int, int] = (0, 0)
) -> DataError:
    """Return the exception for rows of groups that a policy refuses, the largest groups first.

    `rows_by_group` is the number of rows of each group, and `others` the number of further groups and of their rows.

    >>> print(unknown_groups_error(["sex"], {("x",): 3, (None,): 1}, 9))
    4 of 9 rows are of groups that this policy refuses: sex = 'x' (3 rows), sex missing (1 row); leave them out, or
    choose a policy whose `otherwise` is an action.
    """
    largest = sorted(rows_by_group.items(), key=lambda item: (-item[1], str(item[0])))[:MAX_EXAMPLES]
    groups = [f"{_format_group(attributes, texts)} ({rows} row{'' if rows == 1 else 's'})" for texts, rows in largest]
    rest = len(rows_by_group) + others[0] - len(groups)
    more = f" and {rest} more group{'' if rest == 1 else 's'}" if rest else ""
    return UnknownLabelError(
        f"{sum(rows_by_group.values()) + others[1]} of {total} rows are of groups that this policy refuses: "
        f"{', '.join(groups)}{more}",
        remedy="leave them out, or choose a policy whose `otherwise` is an action.",
    )


def _format_group(attributes: Sequence[str], texts: GroupTexts) -> str:
    pairs = zip(attributes, texts, strict=True)
    return ", ".join(f"{name} missing" if text is None else f"{name} = {text!r}" for name, text in pairs)


def missing_ids(name: str, errors: RowErrors) -> DataError:
    """Return the exception for rows without an id, where a policy is randomized.

    >>> print(missing_ids("who", RowErrors("missing", 1, 9, [4])))
    1 of 9 rows have no id in 'who' (row 4, counted from 1), which this randomized policy needs; give every row one.
    """
    return MissingValuesError(
        f"{errors.rows} of {errors.total} rows have no id in {name!r} ({format_rows(errors)}), which this randomized "
        "policy needs",
        remedy="give every row one.",
    )


def invalid_ids(name: str, types: str) -> OptionError:
    """Return the exception for ids of several types, or of a type that can be written in more than one way.

    >>> print(invalid_ids("who", "DOUBLE"))
    ids in 'who' hold DOUBLE; expected whole numbers or text, all of one kind, since others have several spellings.
    Convert them first.
    """
    return OptionError(
        f"ids in {name!r} hold {types}; expected whole numbers or text, all of one kind, since others have several "
        "spellings.",
        remedy="Convert them first.",
    )


def duplicate_ids_note(name: str, count: int, total: int) -> str:
    """Return the note on rows that share their id with an earlier one, among randomized rows.

    >>> duplicate_ids_note("who", 2, 9)
    "2 of 9 randomized rows share an id in 'who' with another, and so its random number; give each record its own id."
    """
    return (
        f"{count} of {total} randomized rows share an id in {name!r} with another, and so its random number; give each "
        "record its own id."
    )
