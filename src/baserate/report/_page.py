"""HTML page of a report: its data as JSON, the scripts in one, and a content security policy that allows no network."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from html import escape
from importlib import resources
from typing import Any, NamedTuple

from baserate._costs import Costs
from baserate._counts import Counts
from baserate._errors import FileFormatError, OptionError
from baserate._results import json_ready
from baserate._version import __version__
from baserate.decide import page_rules
from baserate.fairness import PARITIES
from baserate.infer import normal_quantile
from baserate.measure import MEASURES, describe
from baserate.report._commands import plan_of, spell_plan
from baserate.report._curves import ThinnedCurve
from baserate.report._findings import format_group
from baserate.report._measurements import GROUP_MEASURES, INVARIANT_MEASURES
from baserate.report._report import CELLS, Report
from baserate.report._run import CHECKS
from baserate.report._scripts import compress_text, inline_scripts
from baserate.report._verdict import verdict

_FINDING_FIELDS = ("code", "title", "severity", "headline", "sentence", "why", "remedy", "anchor")
_NUMBER_FIELDS = (
    *("part", "measure", "where", "value", "low", "high", "how", "why"),
    *("p", "p_adjusted", "p_is_bound", "floor", "floor_high"),
    *("model_value", "other_value", "other_threshold"),
)
JsonObject = dict[str, Any]


def page_payload(report: Report) -> JsonObject:
    """Return the data of the page: counts, numbers, findings and the plan, but no row of the sample.

    >>> import baserate
    >>> payload = page_payload(baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.1))
    >>> payload["use"], payload["models"][0]["positive_mass"]
    ({'prevalence': 0.1, 'costs': {'tp': 0.0, 'fp': 1.0, 'fn': 1.0, 'tn': 0.0}, 'priced': False}, [[1, -2, 1, -1]])
    """
    plan, models = report.plan, {name: at for at, name in enumerate(report.models)}
    costs = plan.costs or Costs(fp=1.0, fn=1.0)
    return {
        "version": report.data["version"],
        "level": plan.level,
        "min_group_size": plan.min_group,
        "z": normal_quantile(plan.level),
        "data": json_ready(dict(report.data)),
        "plan": json.loads(plan.to_json()),
        "use": {"prevalence": report.prevalence, "costs": asdict(costs), "priced": plan.costs is not None},
        "measures": _measure_payload(),
        "invariant_measures": INVARIANT_MEASURES,
        "compared": _compared_measures(report),
        "group_measures": GROUP_MEASURES,
        "rules": [
            {"id": name, "label": each.page_label, "hint": each.summary, "function": each.page_function}
            for name, each in page_rules().items()
        ],
        "parities": _parity_payload(),
        "models": [_model_payload(report, at, curve) for at, curve in enumerate(report.sketches)],
        "numbers": _number_payload(report, models),
        "findings": [
            {
                **{name: getattr(each, name) for name in _FINDING_FIELDS},
                "command": each.command and each.command.text,
                "model": _model_place(models, each.model),
                "panel": CHECKS[each.code].panel,
            }
            for each in report.findings
        ],
    }


def _measure_payload() -> dict[str, JsonObject]:
    """Return the text and format of each measure with a label, in the order of the page."""
    entries = [describe(measure) for measure in MEASURES.values()]
    labeled = [each for each in entries if each.page is not None]
    # Accuracy comes first in the registry, but it says little where a class is rare: rates of everybody come last.
    labeled.sort(key=lambda each: (each.of is not Counts, each.of is Counts and "total" in each.needs))
    return {
        each.name: {
            "label": each.page,
            "hint": each.summary,
            "format": "percent" if each.percent else "number",
            "unit": each.span == (0, 1),
            "of_scores": each.of is not Counts,
        }
        for each in labeled
    }


def _compared_measures(report: Report) -> dict[str, JsonObject]:
    """Return the text and format of measures of differences that the page does not compute itself."""
    names = dict.fromkeys(row["measure"] for row in report.select(part="differences"))
    entries = [describe(MEASURES[name]) for name in names]
    return {
        each.name: {
            "label": each.name.replace("_", " ").capitalize(),
            "hint": each.summary,
            "format": "percent" if each.percent else "number",
        }
        for each in entries
        if each.page is None
    }


def _parity_payload() -> list[JsonObject]:
    """Return the parities that the page offers, with the rates that are equal; fairness.js solves up to two rates."""
    offered = [each for each in PARITIES.values() if each.page_id is not None]
    return [
        {
            "id": each.name,
            "label": each.name.replace("-", " ").capitalize(),
            "hint": f"Lowest cost such that {each.description}.",
            "rates": each.rates,
        }
        for each in offered
    ]


def _model_payload(report: Report, place: int, curve: ThinnedCurve) -> JsonObject:
    """Return the data of one model."""
    columns, positive = report.data["columns"], report.data["positive"]
    truth = {"truth": columns["truth"]} if isinstance(columns.get("truth"), str) else {}
    # Separate samples are stored as models under their own names, with scores in the columns of the plan.
    score = report.plan.score[place % len(report.plan.score)] if report.plan.apart else curve.name
    groups = [group for group in curve.groups if group is not None]
    form = curve.form
    masses = [f"{which}_{what}" for which in ("positive", "negative") for what in ("mass", "squares")]
    return {
        **form,
        **{name: form[name] and [fold_zeros(row) for row in form[name]] for name in masses},
        "kept": {**form["kept"], "bound": curve.bound},
        "label": (report.plan.model_labels or {}).get(curve.name, curve.name),
        "labels": curve.name == columns.get("predicted"),
        "probable": curve.reliability is not None,
        "columns": {**truth, "score": score} if columns else {},
        "positive": None if positive is None else str(positive),
        "attributes": [*groups[0]] if groups else [],
        "names": [format_group(group) for group in groups] or ["everybody"],
        "cut": _decision_payload(report, curve),
        "verdict": _verdict_payload(report, curve.name),
        "group_factors": _group_factors(report, curve),
        "group_differences": _difference_payload(report, curve),
        "spell": spell_plan(plan_of(report, curve.name)),
    }


def _difference_payload(report: Report, curve: ThinnedCurve) -> JsonObject | None:
    """Return the difference of each group from the reference group at the planned threshold; None without any.

    Each list has an entry for each group, in the order of `names`, and null where a number is undefined, not tested or
    of the reference group. `p` is Holm-adjusted over all groups and measures of the model; `trials` are the rows that a
    rate rests on, and groups with fewer than `min_group` are not tested. `where` is "here": the report tests groups in
    the sample. `reference` is the index of the reference group. If the plan names none and the largest group has too
    few trials for a measure, that measure has a `reference` of its own.
    """
    rows = report.select(part="group_differences", model=curve.name)
    if not rows:
        return None
    places = {str(group): at for at, group in enumerate(curve.groups)}
    trials = report.select(part="support", model=curve.name)
    measures = {name: _measure_differences(name, rows, trials, places) for name in GROUP_MEASURES}
    reference = measures[GROUP_MEASURES[0]]["reference"]
    for each in measures.values():
        if each["reference"] == reference:
            del each["reference"]
    return {"reference": reference, "min_group": report.plan.min_group, "where": "here", "measures": measures}


_DIFFERENCE_COLUMNS = {"value": "value", "low": "low", "high": "high", "p": "p_adjusted"}


def _measure_differences(
    measure: str, rows: Iterable[JsonObject], trials: Iterable[JsonObject], places: Mapping[str, int]
) -> JsonObject:
    """Return the differences of one measure as lists with an entry for each group, and the reference group."""
    own = {places[str(row["group"])]: row for row in rows if row["measure"] == measure}
    sizes = {places[str(row["group"])]: row["value"] for row in trials if row["measure"] == measure}
    lists: JsonObject = {
        name: [json_ready(own[at][column]) if at in own else None for at in range(len(places))]
        for name, column in _DIFFERENCE_COLUMNS.items()
    }
    reference = places[str(next(iter(own.values()))["other_group"])]
    return {**lists, "trials": [sizes[at] for at in range(len(places))], "reference": reference}


def _verdict_payload(report: Report, model: str) -> JsonObject:
    """Return the verdict at the settings of the plan; the page computes all but the warnings anew for others."""
    result = verdict(report, model)
    warnings = [warning._asdict() for warning in result.warnings]
    texts = {"decision": result.decision, "people": result.people, "costs": result.costs}
    return {**texts, "warnings": warnings, "banner": result.banner and result.banner._asdict()}


def _group_factors(report: Report, curve: ThinnedCurve) -> list[tuple[float, float]] | None:
    """Return weights of positives and negatives that give each group its stated prevalence; None if none is stated.

    The size of a group stays, and so does a group that lacks a class: no weight makes it more frequent.
    """
    if not isinstance(report.plan.prevalence, Mapping):
        return None
    rows = report.select(part="data", measure="prevalence", model=curve.name, where="there")
    shares = {str(row["group"]): float(row["value"]) for row in rows}
    factors: list[tuple[float, float]] = []
    for at, group in enumerate(curve.groups):
        positives, negatives = curve.mass[:, at].sum(axis=1).tolist()
        share, total = shares[str(group)], positives + negatives
        # A group without one of the classes keeps its weights: no factor makes an absent class appear.
        both = positives and negatives
        factors.append((share * total / positives, (1 - share) * total / negatives) if both else (1.0, 1.0))
    return factors


def fold_zeros(row: Iterable[float]) -> list[float]:
    """Replace runs of zeros by minus their length: most groups have no row at most scores.

    >>> fold_zeros([3, 0, 0, 0, 1.5, 0])
    [3, -3, 1.5, -1]
    """
    folded: list[float] = []
    zeros = 0
    for mass in row:
        if not mass:
            zeros += 1
            continue
        if zeros:
            folded.append(-zeros)
            zeros = 0
        folded.append(mass)
    return [*folded, -zeros] if zeros else folded


def _decision_payload(report: Report, curve: ThinnedCurve) -> JsonObject:
    """Return the threshold of a policy; for a policy without a single one, its decisions on the sample."""
    policy = report.policies[curve.name]
    at = policy.flags_from
    rows = report.select(part="decisions", model=curve.name, where="here") if at is None else []
    tables: dict[str, JsonObject] = {}
    for row in rows:
        if row["measure"] in CELLS:
            tables.setdefault(str(row["group"]), {})[row["measure"]] = row["value"]
    everybody = tables.get(str(None))
    groups = [tables[str(group)] for group in curve.groups] if everybody else []
    planned = everybody and {"everybody": everybody, "groups": groups, "policy": policy.to_json()}
    return {"threshold": json_ready(at), "rule": policy.rule, "planned": planned}


def _number_payload(report: Report, models: Mapping[str, int]) -> list[JsonObject]:
    """Return the numbers with models and groups as indices, without null values."""
    groups = {str(group): at for at, group in enumerate(report.groups)}
    numbers = []
    for row in report.rows():
        # With many groups these are most rows. Models hold the differences; the page computes the others, or states
        # them in a finding.
        if row["part"] in ("group_differences", "multicalibration") or _is_computed(report, row):
            continue
        number = {name: json_ready(row[name]) for name in _NUMBER_FIELDS}
        if row["part"] == "differences":
            number["threshold"] = json_ready(row["threshold"])
        number |= {name: _model_place(models, row[name]) for name in ("model", "other")}
        number |= {name: None if row[name] is None else groups[str(row[name])] for name in ("group", "other_group")}
        numbers.append({name: value for name, value in number.items() if value is not None})
    return numbers


def _is_computed(report: Report, row: Mapping[str, Any]) -> bool:
    """Return whether the page computes a number of a group with its interval: a count or share at one threshold."""
    if row["part"] != "decisions" or row["group"] is None or report.policies[row["model"]].flags_from is None:
        return False
    return row["measure"] in CELLS or describe(MEASURES[row["measure"]]).share is not None


def _model_place(models: Mapping[str, int], name: str | None) -> int | None:
    """Return the index of a model; None for none."""
    return None if name is None else models[name]


_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_LONGEST = 80
"""Letters of the longest title."""
_STYLES, _LOADER = ("style.css", "layout.css"), "loader.js"
_CLOSING_TAGS = re.compile(r"</(?:script|style)|<!--", re.IGNORECASE)
"""Text at which HTML ends a script or a style, or begins a comment, even inside a string."""


def render_html(report: Report) -> str:
    """Return the page of a report; equal reports give equal bytes.

    >>> import baserate
    >>> text = render_html(baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    >>> text.startswith("<!doctype html>"), "http://" in text.split("<body>")[0]
    (True, False)
    """
    # Files of early releases have no curves, and a page cannot be drawn without them.
    if len(report.sketches) != len(report.models):
        raise OptionError(
            "the report has no curves, since an early release wrote its file.",
            remedy=(
                "Run its plan again: baserate.run(report.plan), or `baserate report --plan plan.json -o report.html`."
            ),
        )
    return assemble_page("index.html", "main.js", page_title(report), page_payload(report))


def assemble_page(template: str, entry: str, title: str, payload: JsonObject) -> str:
    """Return a page: a template with the style, the scripts that an entry module needs, and a payload."""
    style = "".join(_check_inert(name, _read_asset(name)) for name in _STYLES)
    loader, script = _check_inert(_LOADER, _read_asset(_LOADER)), page_script(entry)
    parts = {
        "policy": _content_security_policy([loader, script.text], style),
        "version": escape(__version__),
        "title": escape(title),
        "style": style,
        "payload": compress_text(_payload_json(payload)),
        "script": script.packed,
        "loader": loader,
    }
    # One pass, so that braces within a part are never replaced.
    return _PLACEHOLDER.sub(lambda match: parts[match[1]], _read_asset(template))


def render_frame(report: Report) -> str:
    """Return the page in a sandboxed frame for notebooks, complete also after an export of the notebook."""
    return frame_page(render_html(report), page_title(report))


def frame_page(page: str, name: str) -> str:
    """Return a page in a sandboxed frame."""
    document, title = escape(page), escape(name)
    return (
        f'<iframe sandbox="allow-scripts allow-downloads" allow="clipboard-write" srcdoc="{document}" '
        f'title="{title}" style="border: 0" width="100%" height="900" loading="lazy"></iframe>'
    )


def page_title(report: Report) -> str:
    """Return the title of the page: that of the plan, or the names of the models, shortened."""
    labels = report.plan.model_labels or {}
    names = ", ".join(labels.get(name, name) for name in report.models)
    return shorten_title(report.plan.title or names)


def shorten_title(name: str) -> str:
    """Return the title of a page from the name of its report, shortened."""
    title = f"{name}: classifier report"
    short = title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
    # Names of columns may hold lone surrogates, which UTF-8 cannot encode.
    return short.encode("utf-8", "replace").decode("utf-8")


def _read_asset(name: str) -> str:
    """Return the text of a file of the page."""
    return resources.files("baserate.report").joinpath("page", name).read_text(encoding="utf-8")


class PageScript(NamedTuple):
    """The script of a page: its text, which the browser runs, and the compressed text, which the file contains."""

    text: str
    packed: str


@cache
def page_script(entry: str) -> PageScript:
    """Return the script with an entry module; all pages share it, and to compress it takes time."""
    text = inline_scripts(_read_asset, entry)
    return PageScript(text, compress_text(text))


def _check_inert(name: str, text: str) -> str:
    """Raise an error if HTML would end a script or a style before its end."""
    if match := _CLOSING_TAGS.search(text):
        raise FileFormatError(f"{name} contains {match[0]!r}, at which HTML ends it.", remedy="Split the string.")
    return text


def _content_security_policy(scripts: Iterable[str], style: str) -> str:
    """Return the policy that allows these scripts and this style by their hashes, and nothing else."""
    allowed = [f"script-src {' '.join(map(_policy_hash, scripts))}", f"style-src {_policy_hash(style)}"]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])


def _policy_hash(text: str) -> str:
    """Return the hash of a text as a content security policy states it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _payload_json(payload: JsonObject) -> str:
    """Return the payload as JSON."""
    # JSON has no NaN: an undefined number that is not null must fail here, not in the browser.
    return json.dumps(payload, allow_nan=False, separators=(",", ":"))
