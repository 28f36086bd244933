"""What is looked for in every report, by permanent codes."""

from __future__ import annotations

from collections.abc import Iterator

from baserate.report._finding import SEVERITIES, Check, Finding
from baserate.report._found_data import DROPPED, MAJORITY, REPEATED, TIES
from baserate.report._found_groups import GAPS, SMALL
from baserate.report._found_numbers import CONSTANT, FITTED, FLATTERED, MISCALIBRATED, REVERSED, WIDE
from baserate.report._found_use import BLAME, DIFFERENT, ELSEWHERE, EXTREME, LABELS, SAME
from baserate.report._report import Report

CHECKS: dict[str, Check] = {
    "BR001": CONSTANT,
    "BR002": REVERSED,
    "BR003": WIDE,
    "BR004": FLATTERED,
    "BR005": ELSEWHERE,
    "BR006": DIFFERENT,
    "BR007": MISCALIBRATED,
    "BR008": SAME,
    "BR009": EXTREME,
    "BR010": BLAME,
    "BR011": GAPS,
    "BR012": SMALL,
    "BR013": TIES,
    "BR014": LABELS,
    "BR015": MAJORITY,
    "BR016": DROPPED,
    "BR017": REPEATED,
    "BR018": FITTED,
}
"""Code -> what is looked for, by hand; a code is never given to anything else."""


def found(report: Report) -> tuple[Finding, ...]:
    """All that is found, what is serious first, and otherwise in the order of the codes."""
    return tuple(sorted(_each(report), key=lambda finding: SEVERITIES.index(finding.severity)))


def _each(report: Report) -> Iterator[Finding]:
    alone = {model: report.of(model) for model in report.models}
    for check in CHECKS.values():
        if check.whole:
            finding = check.found(report)
            yield from [finding] if finding else []
            continue
        for model, own in alone.items():
            finding = check.found(own, model)
            yield from [finding] if finding else []
