"""`baserate show`: the contents of a calibrator, policy, report, plan or tally."""

import json
from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._formatting import count_of, format_count, format_exact, format_number
from baserate.cli._declarations import Output, argument, command
from baserate.cli._files import load_any
from baserate.cli._io import print_messages, print_results
from baserate.text import (
    Page,
    Row,
    Section,
    Table,
    describe_files,
    format_bounds,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._cut import Treatment
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate._tally import Group, Tally
    from baserate.apply import ScoreRanges
    from baserate.report import Plan

_EXAMPLES = (
    ("what a policy does, and how it was chosen", "baserate show policy.json"),
    ("the parameters of a calibrator", "baserate show map.json"),
    ("a saved report", "baserate show report.json"),
    ("for programs", "baserate show policy.json --json"),
)
_NAME = 24
"""Letters of the name of scores, of which there may be two thresholds beside."""
_TITLE = 56
_SPACE = "\N{NO-BREAK SPACE}"
_PAIRS, _DIGITS = 4, 4
_DIGEST = 12
"""Letters of a digest that are enough to tell it from others."""


@command("show", examples=_EXAMPLES)
def show(file: Annotated[str, argument(type=click.Path(), metavar="FILE")], output: Output) -> None:
    """Show a calibrator, policy, report, plan or tally.

    FILE is one that baserate wrote. Of a policy, it lists the actions by score and group, the inputs and the origin.
    """
    from baserate import Policy, Report
    from baserate.report import Plan

    loaded = load_any(file)
    if isinstance(loaded, Report):
        from baserate.cli._report import print_report

        print_report(loaded, output)
        return
    name = describe_files([file])
    if isinstance(loaded, Policy):
        line, contents = headline(loaded, name), results(loaded)
        page_of = _policy_page(loaded, line, output.digits)
    else:
        line = f"{name} · {loaded!r}"
        contents = _plan_results(loaded) if isinstance(loaded, Plan) else _describe(loaded)
        page_of = _listing(line, contents.rows(), output.digits)
    print_messages(line, contents.data, output, inferred=False)
    print_results(contents, lambda: page_of, output)


def _describe(loaded: "Calibrator | MulticlassCalibrator | Tally") -> "Results":
    """Parameters of a calibrator, or numbers of a tally, as tidy rows."""
    from baserate import Results, Tally

    stored = _contents(loaded.to_json())
    if isinstance(loaded, Tally):
        numbers = ("positives", "negatives", "prevalence")
        values = {"rows": float(loaded.rows.sum()), **{name: getattr(loaded, name) for name in numbers}}
        rows = [{"name": name, "value": value, "low": None, "high": None} for name, value in values.items()]
        rows.append({"name": "distinct scores", "value": float(len(loaded.score)), "low": None, "high": None})
        stored = {}
    else:
        rows = [{name: getattr(each, name) for name in ("name", "value", "low", "high")} for each in loaded.parameters]
    columns = {name: [row[name] for row in rows] for name in ("name", "value", "low", "high")}
    return Results(columns, {"notes": [], **stored})


def _plan_results(plan: "Plan") -> "Results":
    """What a plan holds, as tidy rows."""
    from baserate import Results

    stored = _contents(plan.to_json())
    filled = {name: value for name, value in stored.items() if value not in (None, [], {}, False)}
    columns = {"name": list(filled), "value": [_spell(value) for value in filled.values()]}
    return Results(columns, {"notes": [], **stored})


def _contents(text: str) -> dict[str, Any]:
    """The contents of a file, without what marks its kind."""
    stored = json.loads(text)
    return {name: stored[name] for name in stored if name not in {"kind", "schema_version", "seal"}}


def _spell(value: object) -> str:
    """One value as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(_spell, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_spell(each)}" for name, each in value.items())
    return json.dumps(value)


def _listing(line: str, rows: "list[dict[str, Any]]", digits: int) -> Page:
    """Lay out names and values."""

    def format_value(row: Mapping[str, Any]) -> str:
        if isinstance(row["value"], str):
            return row["value"]
        value = format_number(row["value"], digits)
        if row["low"] is None or row["high"] is None:
            return value
        low, high = format_bounds(row["low"], row["high"], digits, digits)
        return f"{value} ({low} to {high})"

    lines = tuple(Row(str(row["name"]).replace("_", " "), (), format_value(row)) for row in rows)
    return Page(line, (Table("", (), (Section("", lines),)),) if lines else ())


def results(policy: "Policy") -> "Results":
    """Tidy rows: scores from `lower` on and below `upper`, an action, and its chance."""
    from baserate import Results

    rows = [row for group, treatment in policy.by_group.items() for row in _rows(policy, group, treatment)]
    return Results({name: [row[name] for row in rows] for name in rows[0]}, _contents(policy.to_json()))


def headline(policy: "Policy", name: str) -> str:
    """One line on what it is."""
    groups = f"{count_of(len(policy.by_group), 'group')} by {shorten_label(', '.join(policy.attributes))}"
    needs = " and ".join([*["group"] * policy.needs_group, *["id"] * policy.needs_id])
    parts = [name, groups if policy.needs_group else "the same for everybody", f"needs {needs}" if needs else ""]
    return " · ".join(filter(None, parts))


def _policy_page(policy: "Policy", line: str, digits: int) -> Page:
    """Lay it out."""
    from baserate.text import describe_policy  # which loads NumPy

    done = Table("", (), tuple(_section(policy, group, digits) for group in policy.by_group))
    about = Table("", (), (Section("how it came about", tuple(Row(*each) for each in _about(policy))),))
    return Page(line, (describe_policy(policy, _name(policy)), done, about))


def _rows(policy: "Policy", group: "Group", treatment: "Treatment") -> Iterator[dict[str, object]]:
    from baserate.apply import score_ranges

    ranges = score_ranges(treatment)
    labels = dict(zip(policy.attributes, group, strict=True)) or None
    for place, (lower, upper) in enumerate(zip((-inf, *ranges.thresholds), (*ranges.thresholds, inf), strict=True)):
        for action in dict.fromkeys(ranges.actions[place]):
            chance = ranges.chance(place, action)
            yield {"group": labels, "lower": lower, "upper": upper, "action": action, "chance": chance}


def _name(policy: "Policy") -> str:
    """What thresholds are compared with."""
    return shorten_label(policy.columns.get("score", "score"), _NAME)


def _section(policy: "Policy", group: "Group", digits: int) -> Section:
    from baserate.apply import score_ranges
    from baserate.text import describe_score_ranges

    title = ", ".join(f"{name} = {value}" for name, value in zip(policy.attributes, group, strict=True))
    ranges = score_ranges(policy.by_group[group])
    scores = describe_score_ranges(_name(policy), ranges.thresholds)
    rows = (Row(each, (), _describe_action(ranges, place, digits)) for place, each in enumerate(scores))
    return Section(shorten_label(title or "everybody", _TITLE), tuple(rows))


def _describe_action(ranges: "ScoreRanges", place: int, digits: int) -> str:
    """One action, or several with their chances."""
    if not ranges.is_random[place]:
        return shorten_label(ranges.actions[place][0])
    each = {action: 100 * ranges.chance(place, action) for action in ranges.actions[place]}
    return ", ".join(f"{shorten_label(action)}{_SPACE}{share:.{digits}g}{_SPACE}%" for action, share in each.items())


def _about(policy: "Policy") -> Iterator[tuple[str, tuple[()], str]]:
    """What else is known of it, name by name."""
    entries = {
        "other groups": _others(policy),
        "asks for": _asks(policy),
        "map": _map(policy),
        "columns": ", ".join(f"{what} {shorten_label(name)}" for what, name in policy.columns.items()),
        "positive": policy.positive and shorten_label(policy.positive),
        "chosen on": _describe_origin(policy),
        "chosen for": "" if policy.prevalence is None else f"a prevalence of {100 * policy.prevalence:.4g}{_SPACE}%",
        "key": policy.key[:_DIGEST] + (", which lots are drawn with" if policy.needs_id else ""),
    }
    yield from ((name, (), text) for name, text in entries.items() if text)


def _describe_origin(policy: "Policy") -> str:
    return f"rows with the digest {policy.chosen_on[:_DIGEST]}" if policy.chosen_on else "nobody looked at data"


def _others(policy: "Policy") -> str:
    if not policy.needs_group:
        return ""
    from baserate._policy import REFUSE

    return "refused" if policy.otherwise == REFUSE else f"{shorten_label(policy.otherwise)}, whatever the score"


def _asks(policy: "Policy") -> str:
    groups = [f"a group by {', '.join(map(shorten_label, policy.attributes))}"] * policy.needs_group
    ids = ["an id, whole numbers or text, that draws the lot"] * policy.needs_id
    return "; ".join(["a score", *groups, *ids])


def _behind(policy: "Policy") -> str:
    """Describe what the calibrator makes of the thresholds."""
    from baserate.apply import score_ranges

    assert policy.map is not None  # noqa: S101  (for the type checker)
    every = dict.fromkeys(at for treatment in policy.by_group.values() for at in score_ranges(treatment).thresholds)
    at = [each for each in every if not policy.map.form.of_probabilities or 0 <= each <= 1]
    if not at:
        return ""
    pairs = [f"{format_exact(each)} to {format_number(float(policy.map([each])[0]), _DIGITS)}" for each in at]
    more = f" and {len(pairs) - _PAIRS} more" if len(pairs) > _PAIRS else ""
    return f"; it takes {', '.join(pairs[:_PAIRS])}{more}"


def _map(policy: "Policy") -> str:
    if policy.map is None:
        return ""
    fitted = policy.map.fitted
    on = (
        f", fitted on {count_of(fitted.rows, 'row', shown=format_count(fitted.rows, 4))} ({fitted.digest[:_DIGEST]})"
        if fitted is not None
        else ""
    )
    return f"{policy.map.method}{on}{_behind(policy)}"
