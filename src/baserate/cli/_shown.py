"""A policy -> a page: what is done with which scores of whom, what it needs, and how it came about."""

import json
from collections.abc import Iterator
from math import inf

from baserate._cut import Treatment
from baserate._formatting import count_of, format_count, format_exact, format_number
from baserate._policy import REFUSE, Policy
from baserate._results import Results
from baserate._tally import Group
from baserate.apply import Stretches, stretches
from baserate.text import Page, Row, Section, Table, describe_policy, describe_score_ranges, shorten_label

_NAME = 24
"""Letters of the name of scores, of which there may be two thresholds beside."""
_TITLE = 56
_SPACE = "\N{NO-BREAK SPACE}"
_PAIRS, _DIGITS = 4, 4
_DIGEST = 12
"""Letters of a digest that are enough to tell it from others."""


def results(policy: Policy) -> Results:
    """Tidy rows: scores from `lower` on and below `upper`, an action, and its chance."""
    rows = [row for group, treatment in policy.by_group.items() for row in _rows(policy, group, treatment)]
    kept = json.loads(policy.to_json())
    return Results(
        {name: [row[name] for row in rows] for name in rows[0]},
        {name: kept[name] for name in kept if name not in {"kind", "schema_version", "seal"}},
    )


def headline(policy: Policy, name: str) -> str:
    """One line on what it is."""
    groups = f"{count_of(len(policy.by_group), 'group')} by {shorten_label(', '.join(policy.attributes))}"
    needs = " and ".join([*["group"] * policy.needs_group, *["id"] * policy.needs_id])
    parts = [name, groups if policy.needs_group else "the same for everybody", f"needs {needs}" if needs else ""]
    return " · ".join(filter(None, parts))


def page(policy: Policy, line: str, digits: int) -> Page:
    """Lay it out."""
    done = Table("", (), tuple(_section(policy, group, digits) for group in policy.by_group))
    about = Table("", (), (Section("how it came about", tuple(Row(*each) for each in _about(policy))),))
    return Page(line, (describe_policy(policy, _name(policy)), done, about))


def _rows(policy: Policy, group: Group, treatment: Treatment) -> Iterator[dict[str, object]]:
    found = stretches(treatment)
    named = dict(zip(policy.attributes, group, strict=True)) or None
    for place, (lower, upper) in enumerate(zip((-inf, *found.at), (*found.at, inf), strict=True)):
        for action in dict.fromkeys(found.drawn[place]):
            chance = found.chance(place, action)
            yield {"group": named, "lower": lower, "upper": upper, "action": action, "chance": chance}


def _name(policy: Policy) -> str:
    """What thresholds are compared with."""
    return shorten_label(policy.columns.get("score", "score"), _NAME)


def _section(policy: Policy, group: Group, digits: int) -> Section:
    named = ", ".join(f"{name} = {value}" for name, value in zip(policy.attributes, group, strict=True))
    found = stretches(policy.by_group[group])
    scores = describe_score_ranges(_name(policy), found.at)
    rows = (Row(each, (), _done(found, place, digits)) for place, each in enumerate(scores))
    return Section(shorten_label(named or "everybody", _TITLE), tuple(rows))


def _done(found: Stretches, place: int, digits: int) -> str:
    """One action, or several with their chances."""
    if not found.open[place]:
        return shorten_label(found.drawn[place][0])
    each = {action: 100 * found.chance(place, action) for action in found.drawn[place]}
    return ", ".join(f"{shorten_label(action)}{_SPACE}{share:.{digits}g}{_SPACE}%" for action, share in each.items())


def _about(policy: Policy) -> Iterator[tuple[str, tuple[()], str]]:
    """What else is known of it, name by name."""
    told = {
        "other groups": _others(policy),
        "asks for": _asks(policy),
        "map": _map(policy),
        "columns": ", ".join(f"{what} {shorten_label(name)}" for what, name in policy.columns.items()),
        "positive": policy.positive and shorten_label(policy.positive),
        "chosen on": _chosen_on(policy),
        "chosen for": "" if policy.prevalence is None else f"a prevalence of {100 * policy.prevalence:.4g}{_SPACE}%",
        "key": policy.key[:_DIGEST] + (", which lots are drawn with" if policy.needs_id else ""),
    }
    yield from ((name, (), text) for name, text in told.items() if text)


def _chosen_on(policy: Policy) -> str:
    return f"rows with the digest {policy.chosen_on[:_DIGEST]}" if policy.chosen_on else "nobody looked at data"


def _others(policy: Policy) -> str:
    if not policy.needs_group:
        return ""
    return "refused" if policy.otherwise == REFUSE else f"{shorten_label(policy.otherwise)}, whatever the score"


def _asks(policy: Policy) -> str:
    groups = [f"a group by {', '.join(map(shorten_label, policy.attributes))}"] * policy.needs_group
    ids = ["an id, whole numbers or text, that draws the lot"] * policy.needs_id
    return "; ".join(["a score", *groups, *ids])


def _behind(policy: Policy) -> str:
    """What the map makes of thresholds, which are what was cut."""
    assert policy.map is not None  # noqa: S101  (for the type checker)
    every = dict.fromkeys(at for treatment in policy.by_group.values() for at in stretches(treatment).at)
    at = [each for each in every if not policy.map.form.of_probabilities or 0 <= each <= 1]
    if not at:
        return ""
    pairs = [f"{format_exact(each)} to {format_number(float(policy.map([each])[0]), _DIGITS)}" for each in at]
    more = f" and {len(pairs) - _PAIRS} more" if len(pairs) > _PAIRS else ""
    return f"; it takes {', '.join(pairs[:_PAIRS])}{more}"


def _map(policy: Policy) -> str:
    if policy.map is None:
        return ""
    fitted = policy.map.fitted
    on = (
        f", fitted on {count_of(fitted.rows, 'row', shown=format_count(fitted.rows, 4))} ({fitted.digest[:_DIGEST]})"
        if fitted is not None
        else ""
    )
    return f"{policy.map.method}{on}{_behind(policy)}"
