"""What is looked for in every report, by permanent codes."""

from __future__ import annotations

from collections.abc import Iterator

from baserate.report._finding import SEVERITIES, Check, Finding
from baserate.report._report import Report

CHECKS: dict[str, Check] = {}
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
