"""Report -> what its page is told, as plain values that JSON can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from baserate._costs import Costs
from baserate._results import json_ready
from baserate.equalize import MIN_SIZE
from baserate.infer import two_sided
from baserate.report._commands import plan_of
from baserate.report._report import CELLS, Report
from baserate.report._shell import spelled
from baserate.report._sketch import Sketch
from baserate.report._words import named

PANELS: dict[str, str] = {
    "BR001": "measures",
    "BR002": "roc",
    "BR003": "measures",
    "BR004": "pr",
    "BR005": "prevalence",
    "BR006": "models",
    "BR007": "reliability",
    "BR008": "thresholds",
    "BR009": "thresholds",
    "BR010": "thousand",
    "BR011": "groups",
    "BR012": "groups",
    "BR013": "scores",
    "BR014": "thresholds",
    "BR015": "thousand",
    "BR016": "findings",
    "BR017": "findings",
    "BR018": "reliability",
}
"""Code of a finding -> the panel of the page that it speaks of, by hand."""
_TOLD = ("code", "title", "severity", "sentence", "why", "remedy", "anchor")
_NUMBER = (
    *("part", "measure", "where", "value", "low", "high", "how", "why"),
    *("p", "p_adjusted", "p_is_bound", "floor", "floor_high"),
)
Plain = dict[str, Any]


def payload(report: Report) -> Plain:
    """Return all that the page shows: counts, numbers, findings and the plan; no row of the data.

    >>> import baserate
    >>> told = payload(baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.1))
    >>> told["use"], told["models"][0]["positive_mass"]
    ({'prevalence': 0.1, 'costs': {'tp': 0.0, 'fp': 1.0, 'fn': 1.0, 'tn': 0.0}, 'priced': False}, [[1, -2, 1, -1]])
    """
    plan, models = report.plan, {name: at for at, name in enumerate(report.models)}
    costs = plan.costs or Costs(fp=1.0, fn=1.0)
    return {
        "version": report.data["version"],
        "level": plan.level,
        "min_group_size": MIN_SIZE,
        "z": two_sided(plan.level),
        "data": json_ready(dict(report.data)),
        "plan": json.loads(plan.to_json()),
        "use": {"prevalence": report.prevalence, "costs": asdict(costs), "priced": plan.costs is not None},
        "models": [_model(report, at, sketch) for at, sketch in enumerate(report.sketches)],
        "numbers": _numbers(report, models),
        "findings": [
            {
                **{name: getattr(each, name) for name in _TOLD},
                "command": each.command and each.command.text,
                "model": _at(models, each.model),
                "panel": PANELS[each.code],
            }
            for each in report.findings
        ],
    }


def _model(report: Report, at: int, sketch: Sketch) -> Plain:
    """What is told of one model."""
    columns, positive = report.data["columns"], report.data["positive"]
    truth = {"truth": columns["truth"]} if isinstance(columns.get("truth"), str) else {}
    # Samples that are judged apart are named as such, and their scores are all in the columns that the plan names.
    score = report.plan.score[at % len(report.plan.score)] if report.plan.apart else sketch.name
    groups = [group for group in sketch.groups if group is not None]
    told = sketch.form
    masses = [f"{which}_{what}" for which in ("positive", "negative") for what in ("mass", "squares")]
    return {
        **told,
        **{name: told[name] and [folded(row) for row in told[name]] for name in masses},
        "kept": {**told["kept"], "bound": sketch.bound},
        "labels": sketch.name == columns.get("predicted"),
        "probable": sketch.reliability is not None,
        "columns": {**truth, "score": score} if columns else {},
        "positive": None if positive is None else str(positive),
        "attributes": [*groups[0]] if groups else [],
        "names": [named(group) for group in groups] or ["everybody"],
        "cut": _cut(report, sketch),
        "group_factors": _group_factors(report, sketch),
        "spell": spelled(plan_of(report, sketch.name)),
    }


def _group_factors(report: Report, sketch: Sketch) -> list[tuple[float, float]] | None:
    """What positives and negatives of each group weigh, so that it has the prevalence stated for it; None if none is.

    The size of a group stays, and so does a group that lacks a class: no weight makes it more frequent.
    """
    if not isinstance(report.plan.prevalence, Mapping):
        return None
    rows = report.pick(part="data", measure="prevalence", model=sketch.name, where="there")
    shares = {str(row["group"]): float(row["value"]) for row in rows}
    factors: list[tuple[float, float]] = []
    for at, group in enumerate(sketch.groups):
        positives, negatives = sketch.mass[:, at].sum(axis=1).tolist()
        share, total = shares[str(group)], positives + negatives
        both = positives and negatives
        factors.append((share * total / positives, (1 - share) * total / negatives) if both else (1.0, 1.0))
    return factors


def folded(row: list[float]) -> list[float]:
    """Write so many zeros in a row as minus their number, since most groups have nobody at most scores.

    >>> folded([3, 0, 0, 0, 1.5, 0])
    [3, -3, 1.5, -1]
    """
    found: list[float] = []
    zeros = 0
    for mass in row:
        if not mass:
            zeros += 1
            continue
        if zeros:
            found.append(-zeros)
            zeros = 0
        found.append(mass)
    return [*found, -zeros] if zeros else found


def _cut(report: Report, sketch: Sketch) -> Plain:
    """Where the plan's policy flags; where that is not from one threshold up, what it does with the rows."""
    policy = report.policies[sketch.name]
    at = policy.flags_from
    rows = report.pick(part="decisions", model=sketch.name, where="here") if at is None else []
    tables: dict[str, Plain] = {}
    for row in rows:
        if row["measure"] in CELLS:
            tables.setdefault(str(row["group"]), {})[row["measure"]] = row["value"]
    everybody = tables.get(str(None))
    groups = [tables[str(group)] for group in sketch.groups] if everybody else []
    planned = everybody and {"everybody": everybody, "groups": groups, "policy": policy.to_json()}
    return {"threshold": json_ready(at), "rule": policy.rule, "planned": planned}


def _numbers(report: Report, models: Mapping[str, int]) -> list[Plain]:
    """Rows of the report, with models and groups by their places; what is null is left out."""
    groups = {str(group): at for at, group in enumerate(report.groups)}
    found = []
    for row in report.rows():
        if row["part"] == "group_differences":  # which the findings tell; of many groups they are most of all rows
            continue
        told = {name: json_ready(row[name]) for name in _NUMBER}
        told |= {name: _at(models, row[name]) for name in ("model", "other")}
        told |= {name: None if row[name] is None else groups[str(row[name])] for name in ("group", "other_group")}
        found.append({name: value for name, value in told.items() if value is not None})
    return found


def _at(models: Mapping[str, int], name: str | None) -> int | None:
    return None if name is None else models[name]
