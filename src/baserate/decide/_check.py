"""Whether a policy keeps what is required of it, on any rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, Literal, get_args

from baserate._counts import Counts
from baserate._cut import has_table
from baserate._errors import OptionError
from baserate._estimate import Estimate
from baserate._policy import Policy
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide._evaluate import Part, evaluated
from baserate.decide._judge import Row, flattery, head, in_columns, policies_of, with_settings
from baserate.decide._needed import Needed, needed
from baserate.decide._requirements import Requirement, requirements
from baserate.infer import Interval
from baserate.measure import about, check_tallies, tidy

On = Literal["bound", "estimate"]
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
_COLUMNS = (
    *("requirement", "measure", "sense", "bound", "model", "group", "value", "low", "high", "level", "how", "why"),
    *("holds", "verdict", "margin", "rows", "rows_needed"),
)


def check(
    tallies: Tallies,
    policy: Policy | Mapping[str, Policy],
    require: Any,  # noqa: ANN401  (text, a requirement, or several of either)
    *,
    on: On = "bound",
    each_group: bool | Sequence[str] = False,
    interval: Interval = Interval(),  # noqa: B008  (it is immutable)
) -> Results:
    """Tell whether requirements are kept: of everybody, and with `each_group` of each group, too.

    `require` is text such as "sensitivity >= 0.9, auc >= 0.8", of any measures, or requirements. A requirement `holds`
    where the interval's bound keeps it; it "fails" where the whole interval lies beyond, and is "undecided" otherwise;
    `on="estimate"` goes by the value alone. What is undefined does not hold. `margin` is by how much it is kept, below
    0 where it is not, and `rows_needed` how many rows like these would decide what is undecided, if the value stays
    what it is. `each_group` may be names of attributes, where rows were read in finer groups. The results
    are true, as in `assert decide.check(…)`, if every requirement holds, and false if one fails or is undecided;
    `data["holds"]` is the same. For another prevalence, carry the tallies there first, with `shift.reweigh`.

    >>> from baserate import Cut, Policy, decide, population, read
    >>> sick, risk = population.binormal(means=(0, 2)).draw(200, 1)
    >>> t = read.tallies({"sick": sick, "risk": risk}, truth="sick", score="risk")
    >>> policy = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
    >>> found = decide.check(t, policy, "sensitivity >= 0.9, fpr <= 0.5")
    >>> [(row["requirement"], row["verdict"], row["rows_needed"]) for row in found.rows()], bool(found)
    ([('sensitivity >= 0.9', 'undecided', 434), ('fpr <= 0.5', 'holds', None)], False)
    """
    check_tallies(tallies)
    if on not in get_args(On):
        raise OptionError(f"on is {on!r}; it is 'bound' or 'estimate'.")
    wanted = requirements(require)
    if not wanted:
        raise OptionError('nothing is required; give requirements, such as "sensitivity >= 0.9".')
    policies, by = policies_of(tallies, policy), _attributes(tallies, each_group)
    rows: list[Row] = []
    for model, each in policies.items():
        _check_table(each, wanted)
        parts = evaluated(tallies, each, model, by=by)
        for requirement in wanted:
            for group, part in parts.items():
                place = {"model": model, "group": None if group is None else dict(zip(by, group, strict=True))}
                rows.append(place | _checked(requirement, part, on, interval))
    told = flattery(tallies, policies) | {"on": on, "holds": all(row["holds"] for row in rows)}
    told = with_settings(told, [each.measure for each in wanted])
    several = len(tallies.models) > 1
    return Results(in_columns(_COLUMNS, rows, several=several), head(tallies, told, policies, interval))


def _attributes(tallies: Tallies, each_group: bool | Sequence[str]) -> tuple[str, ...]:  # noqa: FBT001  (not public)
    """Attributes whose groups are held to the requirements."""
    if not isinstance(each_group, bool):
        return (each_group,) if isinstance(each_group, str) else tuple(each_group)
    if each_group and not tallies.attributes:
        raise OptionError("each_group=True, but the rows were read without groups; read them with group=.")
    return tallies.attributes if each_group else ()


def _check_table(policy: Policy, wanted: Sequence[Requirement]) -> None:
    """Refuse measures of decisions where there are none to flag or pass."""
    lost = [each.name for each in wanted if about(each.measure).of is Counts]
    if lost and not has_table(policy.actions):
        raise OptionError(
            f"a policy of {', '.join(policy.actions)} has no 2×2 table, and so no {lost[0]}; require what does not "
            "depend on decisions, such as auc, or check a policy that passes and flags."
        )


def _checked(each: Requirement, part: Part, on: On, interval: Interval) -> Row:
    """Judge one requirement."""
    noun = part.counts if about(each.measure).of is Counts else part.tally
    found = interval.of(each.measure, noun)
    worst, best = _ends(each, found, on)
    verdict = UNDECIDED if isnan(worst) else HOLDS if each.kept(worst) else UNDECIDED if each.kept(best) else FAILS
    unsure = verdict == UNDECIDED and not isnan(worst)
    lacking = needed(each, noun, found, rows=part.rows, interval=interval) if unsure else Needed()
    numbers = tidy(found)
    return {
        "requirement": str(each),
        "measure": each.name,
        "sense": each.sense,
        "bound": each.bound,
        **numbers,
        "why": numbers["why"] or lacking.why,
        "holds": verdict == HOLDS,
        "verdict": verdict,
        "margin": worst - each.bound if each.sense == ">=" else each.bound - worst,
        "rows": part.rows,
        "rows_needed": lacking.rows,
    }


def _ends(each: Requirement, found: Estimate, on: On) -> tuple[float, float]:
    """What is judged: the end of the interval that keeps the bound least, and the one that keeps it most."""
    if on == "estimate":
        return found.value, found.value
    return (found.low, found.high) if each.sense == ">=" else (found.high, found.low)
