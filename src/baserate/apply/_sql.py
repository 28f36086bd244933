"""SQL: export a calibrator or a policy as expressions or as a query, for the warehouse that holds the scores.

Formulas of calibrators come first, then those of policies, then the text that `as_sql` returns. DuckDB relations use
the same formulas, with searches in lists instead of nested CASE expressions (see `_duckdb`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from sys import float_info
from typing import Any, NamedTuple, Unpack, overload

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._calibrator_forms import Between, ClassForm, Form, Knots, Line, LogOdds, OneVsRest, Softmax, Steps
from baserate._cut import DIGITS, Treatment
from baserate._domains import wrong_option
from baserate._errors import OptionError, keyword
from baserate._policy import REFUSE, Policy, spellings
from baserate._tally import Group
from baserate.apply._policy_lookup import ScoreRanges, score_ranges
from baserate.apply._sql_dialects import CaseExpression, Dialect, WhenBranch, find_dialect, format_case, format_inline
from baserate.apply._task import (
    PolicyColumnOptions,
    ScoreColumns,
    Task,
    policy_task,
    score_columns,
    unsupported_artifact_error,
)

Expression = str | CaseExpression
PiecewiseSql = Callable[[Knots | Steps, str], str]
"""From a piecewise form and a score to an expression."""

NULL = "NULL"
_ONE = "1e0"
_MAX_LOG_ODDS = "7e2"
"""Log-odds beyond which exp overflows in some engines; there probabilities are within 1e-304 of 0 or 1."""
_TINY = "1e-300"
"""Scores nearer to 0 count as 0 where their products would raise an error."""


class Piecewise(NamedTuple):
    """Pieces of a calibrator: piece i begins at threshold at[i − 1], and is value[i] + slope[i]·(x − start[i])."""

    at: Floats
    value: Floats
    slope: Floats
    start: Floats

    @property
    def flat(self) -> bool:
        """Whether all pieces are constant."""
        return not self.slope.any()


def to_piecewise(form: Knots | Steps) -> Piecewise:
    """Return the pieces of a form, with the slopes that NumPy computes.

    >>> to_piecewise(Knots(np.array([0.25, 0.75]), np.array([0.1, 0.6]))).slope.tolist()
    [0.0, 1.0, 0.0]
    """
    if isinstance(form, Steps):
        zeros = np.zeros(len(form.y))
        return Piecewise(form.x, form.y, zeros, zeros)
    with np.errstate(over="ignore"):
        slope = np.concatenate([[0.0], np.diff(form.y) / np.diff(form.x), [0.0]])
    # Knots that nearly touch have no slope that a float can hold: there the calibrator jumps.
    slope[~np.isfinite(slope)] = 0.0
    # A start of 0 keeps a flat piece flat however far it reaches: 0·(x − start) would be NaN where x − start overflows.
    start = np.where(slope == 0, 0.0, np.concatenate([[0.0], form.x]))
    return Piecewise(form.x, np.concatenate([form.y[:1], form.y]), slope, start)


def number_literal(value: float) -> str:
    """Return a number as a literal that engines read as the same double.

    >>> number_literal(0.1), number_literal(-2.0), number_literal(1e-300)
    ('0.1e0', '(-2.0e0)', '1e-300')
    """
    # Without an exponent, engines read a literal as a decimal.
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def is_finite(score: str) -> str:
    """Return the condition that a score is a finite number."""
    # Some engines order NaN above all numbers, others compare it with none: a range excludes it in both.
    return f"{score} BETWEEN {number_literal(-float_info.max)} AND {number_literal(float_info.max)}"


def is_valid(form: Form | ClassForm, scores: Sequence[str]) -> str:
    """Return the condition that a calibrator takes these scores."""
    check = (lambda score: f"{score} BETWEEN 0e0 AND {_ONE}") if form.of_probabilities else is_finite
    condition = " AND ".join(map(check, scores))
    if form.of_probabilities and len(scores) > 1:
        condition += f" AND {' + '.join(scores)} > 0e0"
    return condition


def binary_formula(form: Form, score: str, piecewise: PiecewiseSql) -> str:
    """Return the probability of the positive class, for a valid score."""
    if isinstance(form, LogOdds):
        return _log_odds_formula(form, score)
    if isinstance(form, Line):
        return _sigmoid_of_negative(f"{number_literal(-form.slope)} * {score} - {number_literal(form.intercept)}")
    if isinstance(form, Between):
        low, high = bounds_formulas(form, score, piecewise)
        return f"{high} / ({_ONE} - {low} + {high})"
    return piecewise(form, score)


def bounds_formulas(form: Between, score: str, piecewise: PiecewiseSql) -> tuple[str, str]:
    """Return the Venn–Abers bounds p₀ and p₁ of a valid score."""
    return piecewise(form.low, score), piecewise(form.high, score)


def multiclass_formulas(form: ClassForm, scores: Sequence[str], piecewise: PiecewiseSql) -> list[str]:
    """Return the probability of each class, for valid scores."""
    if isinstance(form, Softmax):
        return _softmax_formulas(form, scores)
    binary = [f"({binary_formula(one, score, piecewise)})" for one, score in zip(form.forms, scores, strict=True)]
    return _normalize(form, binary)


def _log_odds_formula(form: LogOdds, score: str) -> str:
    p = score
    if form.nearest:
        p = f"least(greatest({score}, {number_literal(form.nearest)}), {number_literal(1 - form.nearest)})"
    complement = f"({_ONE} - {p})"
    if form.a == form.b == 1:  # an offset of log-odds needs no logarithm; the factor is at most 1, and cannot overflow
        factor = number_literal(form.factor)
        if form.c > 0:
            return f"{p} / ({p} + {complement} * {factor})"
        return f"{p} * {factor} / ({p} * {factor} + {complement})"
    if form.a == form.b:
        negative = f"(ln({p}) - ln({complement})) * {number_literal(-form.a)} - {number_literal(form.c)}"
    else:
        slopes = number_literal(-form.a), number_literal(form.b)
        negative = f"ln({p}) * {slopes[0]} + ln({complement}) * {slopes[1]} - {number_literal(form.c)}"
    if form.nearest:
        return _sigmoid_of_negative(negative)
    certain = f"WHEN {p} <= 0e0 THEN 0e0 WHEN {p} >= {_ONE} THEN {_ONE}"
    return f"CASE {certain} ELSE {_sigmoid_of_negative(negative)} END"


def _sigmoid_of_negative(x: str) -> str:
    """Return 1/(1 + exp(x)), the probability for log-odds of −x."""
    return f"{_ONE} / ({_ONE} + exp(least(greatest({x}, -{_MAX_LOG_ODDS}), {_MAX_LOG_ODDS})))"


def _softmax_formulas(form: Softmax, scores: Sequence[str]) -> list[str]:
    # 1/Σⱼ exp(xⱼ − xₖ) needs no largest x to be safe from overflow.
    near = number_literal(form.nearest)
    p = [f"greatest({score}, {near})" if form.nearest else score for score in scores]
    terms = zip(form.weight, p, form.bias, strict=True)
    logits = [f"({number_literal(w)} * ln({each}) + {number_literal(b)})" for w, each, b in terms]

    def ratio(one: int, other: int) -> str:
        if one == other:
            return _ONE
        difference = f"{logits[other]} - {logits[one]}"
        value = f"exp(least(greatest({difference}, -{_MAX_LOG_ODDS}), {_MAX_LOG_ODDS}))"
        return value if form.nearest else f"CASE WHEN {p[other]} > 0e0 THEN {value} ELSE 0e0 END"

    def share(one: int) -> str:
        value = f"{_ONE} / ({' + '.join(ratio(one, other) for other in range(len(p)))})"
        return value if form.nearest else f"CASE WHEN {p[one]} > 0e0 THEN {value} ELSE 0e0 END"

    return [share(one) for one in range(len(p))]


def _normalize(form: OneVsRest, probabilities: Sequence[str]) -> list[str]:
    """Divide one-vs-rest probabilities by their sum; all classes are equal where it vanishes."""
    total = f"({' + '.join(probabilities)})"
    equal, least = number_literal(1 / len(form.forms)), number_literal(float_info.min)
    return [f"CASE WHEN {total} < {least} THEN {equal} ELSE {p} / {total} END" for p in probabilities]


def probability_sql(form: Form, score: str, dialect: Dialect) -> Expression:
    """Return the probability of the positive class for any engine, where the score is valid."""
    if isinstance(form, (Knots, Steps)):
        expression: Expression = piecewise_case(form, score)
    else:
        expression = binary_formula(form, score, partial(piecewise_inline, dialect))
    if not (dialect.underflows and _may_underflow(form)):
        return expression
    at_zero = number_literal(float(form(np.zeros(1))[0]))
    return CaseExpression((WhenBranch((f"{score} BETWEEN -{_TINY} AND {_TINY}",), at_zero),), expression)


def _may_underflow(form: Form) -> bool:
    """Return whether the formula multiplies a score by a number that may be less than 1."""
    if isinstance(form, LogOdds):
        return form.a == form.b == 1 and form.c <= 0
    return isinstance(form, (Knots, Line))


def piecewise_inline(dialect: Dialect, form: Knots | Steps, score: str) -> str:
    """Return the pieces of a form as nested cases in one line."""
    # Bare numbers are decimals in PostgreSQL, which would compute with them as such.
    return f"CAST({format_inline(piecewise_case(form, score))} AS {dialect.double_type})"


def piecewise_case(form: Knots | Steps, score: str) -> Expression:
    """Return the pieces of a form as nested cases, as deep as a binary search goes."""
    return _binary_case(to_piecewise(form), score, 0, len(form.x))


def _binary_case(pieces: Piecewise, score: str, first: int, last: int) -> Expression:
    """Return the pieces from the first to the last."""
    if first == last:
        value, slope, start = (number_literal(each[first]) for each in (pieces.value, pieces.slope, pieces.start))
        return f"{value} + {slope} * ({score} - {start})" if pieces.slope[first] else value
    middle = (first + last + 1) // 2
    low, high = _binary_case(pieces, score, first, middle - 1), _binary_case(pieces, score, middle, last)
    return CaseExpression((WhenBranch((f"{score} < {number_literal(pieces.at[middle - 1])}",), low),), high)


_RangeValues = Callable[[ScoreRanges], Sequence[Expression]]
"""From score ranges to a value for each of them."""


class GroupBranch(NamedTuple):
    """Rows that share their score ranges: the conditions for belonging to them, and their thresholds."""

    any_of: tuple[str, ...]
    ranges: ScoreRanges
    begins: Sequence[str]
    """Thresholds, in SQL."""


@dataclass(frozen=True, slots=True)
class RowColumns:
    """Columns that a policy reads, in SQL: a finite score as a double, groups and the id as text."""

    score: str
    groups: Sequence[str] = ()
    id: str | None = None
    random_number: str | None = None
    """Hexadecimal digits of the random number, where a sub-query computed them."""
    branches: Sequence[GroupBranch] = ()
    """Groups, where an engine looked them up; otherwise each group is a condition on its labels."""


def action_sql(policy: Policy, row: RowColumns, dialect: Dialect, *, refusal: str = NULL) -> str:
    """Return the action for a row with a finite score; `refusal` where the policy refuses its group."""
    return format_case(action_case(policy, row, dialect, refusal=refusal, no_id=NULL))


def chance_sql(policy: Policy, action: str, row: RowColumns, dialect: Dialect, *, refusal: str = NULL) -> str:
    """Return the probability of an action, for a row with a finite score."""
    return format_case(chance_case(policy, action, row, dialect, refusal=refusal))


def action_case(
    policy: Policy, row: RowColumns, dialect: Dialect, *, refusal: str = NULL, no_id: str | None = None
) -> Expression:
    """Return the action before it is laid out; `no_id` where a random number needs an id that is NULL."""

    def values(ranges: ScoreRanges) -> list[Expression]:
        return [_range_action(policy, ranges, at, row, dialect, no_id) for at in range(len(ranges.actions))]

    otherwise = refusal if policy.otherwise == REFUSE else dialect.action(policy.otherwise)
    return _by_group(policy, row, dialect, values, otherwise)


def chance_case(policy: Policy, action: str, row: RowColumns, dialect: Dialect, *, refusal: str = NULL) -> Expression:
    """Return the probability of an action before it is laid out."""

    def values(ranges: ScoreRanges) -> list[Expression]:
        return [number_literal(ranges.chance(at, action)) for at in range(len(ranges.actions))]

    otherwise = refusal if policy.otherwise == REFUSE else number_literal(float(policy.otherwise == action))
    return _by_group(policy, row, dialect, values, otherwise)


def random_number_case(policy: Policy, row: RowColumns, dialect: Dialect) -> Expression:
    """Return the digits of a row's random number; NULL where its action is not random, so that nothing is hashed."""

    def values(ranges: ScoreRanges) -> list[Expression]:
        return [_random_number(policy, row, dialect) if random else NULL for random in ranges.is_random]

    return _by_group(policy, row, dialect, values, NULL)


def is_random(policy: Policy, row: RowColumns, dialect: Dialect) -> str:
    """Return the condition that a row with a finite score is decided at random."""

    def values(ranges: ScoreRanges) -> list[Expression]:
        return ["true" if random else "false" for random in ranges.is_random]

    return format_case(_by_group(policy, row, dialect, values, "false"))


def in_any_group(groups: Iterable[Group], row: RowColumns, dialect: Dialect) -> str:
    """Return the condition that a row belongs to one of these groups."""
    return " OR ".join(f"({in_group(group, row, dialect)})" for group in groups)


def in_group(group: Group, row: RowColumns, dialect: Dialect) -> str:
    """Return the condition that a row belongs to a group."""
    return " AND ".join(_label_condition(text, label, dialect) for text, label in zip(row.groups, group, strict=True))


def _label_condition(column: str, label: object, dialect: Dialect) -> str:
    texts = [dialect.quote_text(text) for text in spellings(label)]
    return f"{column} = {texts[0]}" if len(texts) == 1 else f"{column} IN ({', '.join(texts)})"


def _by_group(policy: Policy, row: RowColumns, dialect: Dialect, values: _RangeValues, otherwise: str) -> Expression:
    """Return a value for each row; groups with equal expressions share a branch, and `otherwise` needs none."""
    if not policy.needs_group:
        ranges = score_ranges(policy.by_group[()])
        return _threshold_case([*map(number_literal, ranges.thresholds)], row.score, values(ranges))
    conditions: dict[Expression, list[str]] = {}
    for any_of, ranges, begins in row.branches or _group_branches(policy, row, dialect):
        conditions.setdefault(_threshold_case(begins, row.score, values(ranges)), []).extend(any_of)
    branches = tuple(WhenBranch(tuple(any_of), value) for value, any_of in conditions.items() if value != otherwise)
    return CaseExpression(branches, otherwise) if branches else otherwise


def _group_branches(policy: Policy, row: RowColumns, dialect: Dialect) -> list[GroupBranch]:
    """Return branches with conditions on the labels of groups."""
    conditions: dict[Treatment, list[str]] = {}
    for group, treatment in policy.by_group.items():
        conditions.setdefault(treatment, []).append(in_group(group, row, dialect))
    pairs = [(score_ranges(treatment), tuple(any_of)) for treatment, any_of in conditions.items()]
    return [GroupBranch(any_of, ranges, [*map(number_literal, ranges.thresholds)]) for ranges, any_of in pairs]


def _threshold_case(begins: Sequence[str], score: str, values: Sequence[Expression]) -> Expression:
    """Return one value for each score range, the highest first; equal neighbors become one."""
    steps = [(values[0], None), *zip(values[1:], begins, strict=True)]
    distinct = [next(equal) for _, equal in groupby(steps, key=lambda step: step[0])]
    lowest = distinct[0][0]
    branches = [WhenBranch((f"{score} >= {begin}",), value) for value, begin in reversed(distinct) if begin is not None]
    return CaseExpression(tuple(branches), lowest) if branches else lowest


def _random_number(policy: Policy, row: RowColumns, dialect: Dialect) -> str:
    return row.random_number or dialect.sha256(f"{dialect.quote_text(f'{policy.key}:')} || {row.id}")


def _range_action(
    policy: Policy, ranges: ScoreRanges, at: int, row: RowColumns, dialect: Dialect, no_id: str | None
) -> Expression:
    """Return the action in a score range: a constant, or the one that the random number selects."""
    if not ranges.is_random[at]:
        return dialect.action(ranges.actions[at][0])
    assert row.id is not None  # noqa: S101  (tasks check the columns that a policy needs)
    # No arithmetic: u < chance exactly when the hexadecimal digits of u sort before those of the edge.
    digits = _random_number(policy, row, dialect)
    pairs = zip(ranges.actions[at], [*ranges.edges, None], strict=True)
    distinct = [list(equal)[-1] for _, equal in groupby(pairs, key=lambda pair: pair[0])]
    branches = [
        WhenBranch((f"{digits} < '{end:0{DIGITS}x}'",), dialect.action(name))
        for name, end in distinct
        if end is not None
    ]
    absent = [] if no_id is None else [WhenBranch((f"{row.id} IS NULL",), no_id)]
    return CaseExpression((*absent, *branches), dialect.action(distinct[-1][0]))


Subqueries = Mapping[str, Mapping[str, Expression]]
"""Sub-queries by name, and the columns of each."""


def policy_expressions(task: Task, dialect: Dialect) -> dict[str, str]:
    """Return the expressions of the new columns, by name."""
    return _column_expressions(task, _cast_columns(task, dialect), dialect)


def policy_query(task: Task, table: str, dialect: Dialect) -> str:
    """Return a query that selects every column of a table, then the new ones."""
    # Each step is a lateral sub-query, so that its names cannot clash with those of the table.
    subqueries, row = _subqueries(task, dialect)
    new = [
        f"{each} AS {dialect.quote_name(name)}"
        for name, each in _column_expressions(task, row, dialect, depth=1).items()
    ]
    columns = ",\n  ".join(["t.*", *new])
    joins = [_lateral_join(name, subquery) for name, subquery in subqueries.items()]
    source = "\n".join([f"FROM {_quote_table(table, dialect)} AS t", *joins])
    return f"SELECT\n  {columns}\n{source}"


def _cast_columns(task: Task, dialect: Dialect, table: str = "") -> RowColumns:
    """Cast the columns of a table to the types that a policy needs."""

    def cast(name: str, kind: str) -> str:
        return f"CAST({table}{dialect.quote_name(name)} AS {kind})"

    return RowColumns(
        cast(task.scores[0], dialect.double_type),
        [cast(name, dialect.text_type) for name in task.groups],
        None if task.id is None else cast(task.id, dialect.text_type),
    )


def _subqueries(task: Task, dialect: Dialect) -> tuple[Subqueries, RowColumns]:
    """Return sub-queries that compute the columns and the random number once, and where they then are."""
    row = _cast_columns(task, dialect, "t.")
    groups = {f"group_{at}": text for at, text in enumerate(row.groups, 1)}
    ids = {} if row.id is None else {"id": row.id}
    steps: dict[str, Mapping[str, Expression]] = {"inputs": {"score": row.score, **groups, **ids}}
    row = RowColumns("inputs.score", [f"inputs.{name}" for name in groups], "inputs.id" if ids else None)
    if ids:
        steps["randomized"] = {"random_number": random_number_case(task.policy, row, dialect)}
        row = replace(row, random_number="randomized.random_number")
    return steps, row


def _lateral_join(name: str, columns: Mapping[str, Expression]) -> str:
    selection = ",\n    ".join(f"{format_case(each, 2)} AS {column}" for column, each in columns.items())
    return f"CROSS JOIN LATERAL (\n  SELECT\n    {selection}\n) AS {name}"


def _column_expressions(task: Task, row: RowColumns, dialect: Dialect, *, depth: int = 0) -> dict[str, str]:
    """Return the expressions of the new columns; NULL where a row cannot be decided."""
    valid = is_finite(row.score) if row.id is None else f"{is_finite(row.score)} AND {row.id} IS NOT NULL"

    def guard(expression: Expression) -> str:
        return format_case(CaseExpression((WhenBranch((valid,), expression),)), depth)

    policy, (action, *chances) = task.policy, task.new_columns
    expressions = {action: guard(action_case(policy, row, dialect))}
    for name, each in zip(chances, policy.actions, strict=False):  # no columns unless the options ask for chances
        # Bare numbers are decimals in PostgreSQL.
        expressions[name] = f"CAST({guard(chance_case(policy, each, row, dialect))} AS {dialect.double_type})"
    return expressions


def _quote_table(name: str, dialect: Dialect) -> str:
    """Quote the name of a table, with its schema and catalog if it has them."""
    # A name that contains a dot itself cannot be given: a dot always ends a schema or a catalog.
    parts = name.split(".")
    if not all(parts):
        raise wrong_option("table", name, "a name such as 'scores' or 'schema.scores'")
    return ".".join(map(dialect.quote_name, parts))


@overload
def as_sql(calibrator: Calibrator, /, *, dialect: str = ..., score: ScoreColumns | None = ...) -> str: ...
@overload
def as_sql(
    calibrator: Calibrator | MulticlassCalibrator, /, *, dialect: str = ..., score: ScoreColumns | None = ...
) -> str | dict[str, str]: ...
@overload
def as_sql(
    policy: Policy, /, *, dialect: str = ..., table: str | None = ..., **options: Unpack[PolicyColumnOptions]
) -> str | dict[str, str]: ...


def as_sql(
    artifact: Calibrator | MulticlassCalibrator | Policy,
    /,
    *,
    dialect: str = "duckdb",
    table: str | None = None,
    **options: Any,
) -> str | dict[str, str]:
    """Export a calibrator or a policy as SQL: an expression, or a query if a table is named.

    Where `apply` would raise an error for a row, the result is NULL: where a score is missing, infinite or no
    probability although one is needed, where a policy refuses the group, and where a randomized policy has no id.
    Numbers have all their digits and an exponent, so that engines read them as doubles; names and text are quoted.

    Parameters
    ----------
    artifact
        A binary or multiclass calibrator, or a policy.
    dialect
        duckdb, postgresql (or postgres) or spark. They differ in how names and text are quoted, and in how ids are
        hashed.
    table
        Name of a table, perhaps with its schema: ``schema.scores``. The result is then a query, for policies only, that
        selects every column of the table and then the new ones; it hashes each row at most once.
    **options
        ``score``: name of the score column; for a multiclass calibrator, one for each class, in their order or by their
        names. By default, those that the calibrator was fitted on or the policy was chosen on. For policies also
        ``group`` (a column for each attribute, which may contain text, whole numbers or booleans), ``id`` (whole
        numbers or text), ``name`` (name of the new column, by default action) and ``chances`` (whether to add the
        probability of each action).

    Returns
    -------
    str or dict
        The text. Several expressions, one for each class or with the chances, are returned by their names.

    Raises
    ------
    OptionError
        If an option does not exist or does not suit the artifact.
    UnknownNameError
        If there is no such dialect.

    Examples
    --------
    >>> from baserate import Cut
    >>> policy = Policy(by_group={("f",): Cut((0.4,)), ("m",): Cut((0.5,))}, otherwise="refer", attributes=("sex",))
    >>> print(as_sql(policy, score="risk", dialect="spark"))
    CASE
      WHEN CAST(`risk` AS DOUBLE) BETWEEN (-1.7976931348623157e+308) AND 1.7976931348623157e+308 THEN
        CASE
          WHEN CAST(`sex` AS STRING) = 'f' THEN
            CASE
              WHEN CAST(`risk` AS DOUBLE) >= 0.4e0 THEN 'flag'
              ELSE 'pass'
            END
          WHEN CAST(`sex` AS STRING) = 'm' THEN
            CASE
              WHEN CAST(`risk` AS DOUBLE) >= 0.5e0 THEN 'flag'
              ELSE 'pass'
            END
          ELSE 'refer'
        END
    END
    """
    language = find_dialect(dialect)
    if isinstance(artifact, Policy):
        return _policy_sql(artifact, language, table, options)
    if not isinstance(artifact, (Calibrator, MulticlassCalibrator)):
        raise unsupported_artifact_error(artifact)
    unknown = [*["table"] * (table is not None), *(options.keys() - {"score"})]
    if unknown:
        raise OptionError(f"{min(unknown)} is not an option for a calibrator; the options are: dialect, score.")
    return _calibrator_sql(artifact, language, options.get("score"))


def _policy_sql(
    policy: Policy, dialect: Dialect, table: str | None, options: Mapping[str, Any]
) -> str | dict[str, str]:
    if "missing" in options:
        raise OptionError(
            "missing is not an option in SQL, where rows that cannot be decided get NULL", remedy="leave it out."
        )
    task = policy_task(policy, options)
    if table is not None:
        return policy_query(task, table, dialect)
    expressions = policy_expressions(task, dialect)
    if len(expressions) > 1:
        return expressions
    if options.get("name"):
        raise OptionError(
            f"{keyword('name')} names a column, but an expression has no name",
            remedy=f"leave it out, or name a table with {keyword('table')}.",
        )
    return expressions[task.new_columns[0]]


def _calibrator_sql(
    calibrator: Calibrator | MulticlassCalibrator, dialect: Dialect, score: ScoreColumns | None
) -> str | dict[str, str]:
    names = [dialect.quote_name(name) for name in score_columns(calibrator, score)]

    def guard(expression: Expression) -> str:
        return format_case(CaseExpression((WhenBranch((is_valid(calibrator.form, names),), expression),)))

    if isinstance(calibrator, Calibrator):
        return guard(probability_sql(calibrator.form, names[0], dialect))
    expressions = multiclass_formulas(calibrator.form, names, partial(piecewise_inline, dialect))
    return {label: guard(each) for label, each in zip(calibrator.labels, expressions, strict=True)}
