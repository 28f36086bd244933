"""Run a plan; or hand over arrays, which makes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from baserate._costs import Costs
from baserate._errors import OptionError, UnknownNameError
from baserate._policy import Policy
from baserate.report._build import Progress, built
from baserate.report._findings import found
from baserate.report._gather import Gathered, gathered
from baserate.report._plan import Plan, known_names
from baserate.report._report import Report
from baserate.report._shell import literal

if TYPE_CHECKING:
    from baserate.read import Watch


class More(TypedDict, total=False):
    """What else can be said of arrays, as keywords."""

    predicted: Any
    weight: Any
    count: Any
    id: Any
    positive: str | float | None
    negative: str | float | None
    missing: Literal["refuse", "drop"]
    threshold: float | None
    rule: str | None
    policy: Policy | None
    level: float
    method: str | None
    seed: int


def run(
    plan: Plan,
    source: Any = None,  # noqa: ANN401  (any table)
    *,
    watch: Watch | None = None,
    progress: Progress | None = None,
) -> Report:
    """Read what a plan names, measure it, and look at what was found.

    `source` is a table in place of the plan's files: a frame, a mapping of columns, a path; of samples `apart`, a
    mapping from their names to tables. `watch` is told how far reading is, `progress` how many steps are done.

    >>> from baserate import Plan, run
    >>> table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    >>> run(Plan(truth="sick", score="risk"), table).here.sensitivity.value
    0.5
    """
    return of_rows(plan, gathered(plan, source, watch=watch), progress)


def of_rows(
    plan: Plan, rows: Gathered, progress: Progress | None = None, *, arrays: Mapping[str, Any] | None = None
) -> Report:
    """Do the same with rows that were read already; `arrays` says which argument of `evaluate` holds which column."""
    report = built(plan, rows, progress)
    if arrays is not None:
        report = replace(report, data={**report.data, "arrays": arrays})
    return replace(report, findings=found(report))


def evaluate(
    truth: Any,  # noqa: ANN401  (any array)
    score: Any = None,  # noqa: ANN401  (any array)
    *,
    group: Any = None,  # noqa: ANN401  (any array)
    prevalence: float | Mapping[Any, float] | None = None,
    costs: Costs | None = None,
    **more: Unpack[More],
) -> Report:
    """Judge predictions where they will be used: measures with intervals, a cut-off, groups, models, and findings.

    Parameters
    ----------
    truth, score
        Arrays, lists or columns, one value for each row. Several models are a mapping from their names to scores.
        Samples of their own are two mappings with the same names.
    group
        What tells who is who: an array, or a mapping from attributes to arrays.
    prevalence
        Share of positives in deployment: of everybody, or a mapping from groups to theirs.
    costs
        What outcomes cost in deployment.
    predicted, weight, count, id
        Arrays too: labels of a classifier without scores, weights, counts and names of rows.
    positive, negative, missing
        As in :func:`baserate.read.tallies`.
    threshold, rule, policy
        Where scores are cut, the name of a rule that chooses, or a policy; see :class:`baserate.Plan`.
    level, method, seed
        How intervals are made. Those of the default are closed forms: nothing is resampled.

    Examples
    --------
    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    >>> report.here.auc.value, round(report.here.auc.low, 2), round(report.here.auc.high, 2)
    (0.75, 0.2, 0.97)
    >>> report.frame("pandas").query("measure == 'precision' and part == 'decisions'")["value"].tolist()
    [0.5]
    """
    told: dict[str, Any] = _known(more)
    given = {name: told.pop(name) for name in ("predicted", "weight", "count", "id") if name in told}
    if isinstance(truth, Mapping):
        if group is not None or given or not isinstance(score, Mapping) or {*score} != {*truth}:
            raise OptionError(
                "samples of their own are two mappings, truth and score, with the same names and no more."
            )
        tables = {str(name): {"truth": truth[name], "score": score[name]} for name in truth}
        samples = {str(name): {each: _item(each, name) for each in ("truth", "score")} for name in truth}
        plan = Plan(apart=True, score=("score",), prevalence=prevalence, costs=costs, **told)
        return of_rows(plan, gathered(plan, tables), arrays=samples)
    table: dict[str, Any] = {}
    arrays: dict[str, str] = {}
    columns: dict[str, Any] = {
        "truth": _put(table, {"truth": truth})[0],
        "score": _put(table, _several("score", score)),
        "group": _put(table, _several("group", group)),
        **{name: _put(table, {name: each})[0] for name, each in given.items() if each is not None},
    }
    for name, several in (("score", score), ("group", group)):
        arrays |= zip(columns[name], _items(name, several), strict=True)
    arrays |= {columns[name]: name for name in columns if name not in {"score", "group"}}
    plan = Plan(prevalence=prevalence, costs=costs, **columns, **told)
    return of_rows(plan, gathered(plan, table), arrays=arrays)


def _known(more: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords, each of which must be one of ours."""
    known = [*More.__annotations__]
    for name in more:
        if name not in known:
            raise UnknownNameError(f"there is no option {name!r}.{known_names(name, known)}")
    return dict(more)


def _several(name: str, given: Any) -> dict[str, Any]:  # noqa: ANN401  (an array, or several by name)
    """Arrays by name; one alone is called by what it is. A frame is several, too."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(key): each for key, each in given.items()}
    return {str(key): given[key] for key in given.columns} if hasattr(given, "columns") else {name: given}


def _items(name: str, given: Any) -> list[str]:  # noqa: ANN401  (an array, or several by name)
    """Return how each of the arrays is written that `_several` takes from an argument of this name."""
    if given is None:
        return []
    keys = given if isinstance(given, Mapping) else getattr(given, "columns", None)
    return [name] if keys is None else [_item(name, key) for key in keys]


def _item(name: str, key: object) -> str:
    """Return how the item of a mapping or a frame is written.

    >>> _item("score", "risk"), _item("score", 1)
    ('score["risk"]', 'score[1]')
    """
    return f"{name}[{literal(key)}]"


def _put(table: dict[str, Any], arrays: Mapping[str, Any]) -> tuple[str, ...]:
    """Put columns into a table, and tell their names; one that is taken gets a mark."""
    names: list[str] = []
    for name, array in arrays.items():
        free = name
        while free in table:
            free += "_"
        table[free] = array
        names.append(free)
    return tuple(names)
