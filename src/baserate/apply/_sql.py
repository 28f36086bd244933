"""A map or a policy as SQL, for the warehouse that holds the scores."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack, overload

from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import OptionError
from baserate._policy import Policy
from baserate.apply._cases import Case, When, laid_out
from baserate.apply._decision import ColumnsOfPolicy, Decision
from baserate.apply._dialects import Dialect, dialect as spoken
from baserate.apply._formulas import class_formulas, fits
from baserate.apply._halves import cases, probability
from baserate.apply._policy_sql import expressions, query
from baserate.apply._task import Scores, columns


@overload
def as_sql(map_: Calibrator, /, *, dialect: str = ..., score: Scores | None = ...) -> str: ...
@overload
def as_sql(
    map_: Calibrator | MulticlassCalibrator, /, *, dialect: str = ..., score: Scores | None = ...
) -> str | dict[str, str]: ...
@overload
def as_sql(
    policy: Policy, /, *, dialect: str = ..., table: str | None = ..., **asked: Unpack[ColumnsOfPolicy]
) -> str | dict[str, str]: ...


def as_sql(
    of: Calibrator | MulticlassCalibrator | Policy,
    /,
    *,
    dialect: str = "duckdb",
    table: str | None = None,
    **asked: Any,
) -> str | dict[str, str]:
    """Write a map or a policy as SQL: an expression, or a query if a table is named.

    Where `apply` would refuse a row, it is NULL: where a score is missing, infinite or cannot be mapped, where a policy
    refuses the group, and where one that draws lots finds no id. Numbers have all their digits and an exponent, so that
    they are doubles; names and text are quoted.

    Parameters
    ----------
    of
        A map of two classes or of several, or a policy.
    dialect
        duckdb, postgresql or spark. They differ in how names and text are quoted, and in how ids are hashed.
    table
        Name of a table, perhaps with its schema: ``schema.scores``. Then it is a query, for policies alone, that
        selects every column of the table and then the new ones; it hashes each row at most once.
    **asked
        ``score``: name of the column of scores; for a map of several classes, one for each, in their order or by their
        names. Without it, those that it was fitted or chosen on. For policies also ``group`` (a column for each
        attribute, which may hold text, whole numbers or booleans), ``id`` (whole numbers or text), ``to`` (name of the
        new column, otherwise action) and ``chances`` (whether to add the chance of each action).

    Returns
    -------
    The text. Where there are several expressions, one for each class or with the chances, they come by their names.

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
    say = spoken(dialect)
    if isinstance(of, Policy):
        return _of_policy(of, say, table, asked)
    if not isinstance(of, (Calibrator, MulticlassCalibrator)):
        raise OptionError(f"{type(of).__name__} is neither a map nor a policy; read one with load_map or Policy.load.")
    more = [*["table"] * (table is not None), *(asked.keys() - {"score"})]
    if more:
        raise OptionError(f"{min(more)} is no option for a map; there are: dialect, score.")
    return _of_map(of, say, asked.get("score"))


def _of_policy(policy: Policy, say: Dialect, table: str | None, asked: Any) -> str | dict[str, str]:  # noqa: ANN401
    if "missing" in asked:
        raise OptionError("missing is no option in SQL, where rows that cannot be decided get NULL; leave it out.")
    decision = Decision.of(policy, **asked)
    if table is not None:
        return query(decision, table, say)
    found = expressions(decision, say)
    if len(found) > 1:
        return found
    if asked.get("to"):
        raise OptionError(
            "to= names a column, but an expression has no name; leave it out, or name a table with table=."
        )
    return found[decision.made[0]]


def _of_map(map_: Calibrator | MulticlassCalibrator, say: Dialect, score: Scores | None) -> str | dict[str, str]:
    names = [say.quoted(name) for name in columns(map_, score)]

    def guarded(found: str | Case) -> str:
        return laid_out(Case((When((fits(map_.form, names),), found),)))

    if isinstance(map_, Calibrator):
        return guarded(probability(map_.form, names[0], say))
    found = class_formulas(map_.form, names, partial(cases, say))
    return {label: guarded(each) for label, each in zip(map_.labels, found, strict=True)}
