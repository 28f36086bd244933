"""All findings by permanent code, and the run of every check over a report."""

from __future__ import annotations

from collections.abc import Iterator

from baserate.report import _findings_data, _findings_performance, _findings_use
from baserate.report._checks import REGISTRY, Check
from baserate.report._report import SEVERITIES, Finding, Report

MODULES = (_findings_data, _findings_performance, _findings_use)
"""Modules whose import fills the registry."""
CHECKS: dict[str, Check] = dict(sorted(REGISTRY.items()))
"""Code -> entry of each finding; a code never changes its meaning."""


def find_all(report: Report) -> tuple[Finding, ...]:
    """Return all findings of a report: the most severe first, then in the order of their codes."""
    return tuple(sorted(_run_checks(report), key=lambda finding: SEVERITIES.index(finding.severity)))


def _run_checks(report: Report) -> Iterator[Finding]:
    """Yield findings check by check, on all models at once or on each of them."""
    by_model = {model: report.of(model) for model in report.models}
    for check in CHECKS.values():
        subjects = [(report, None)] if check.whole else [(each, model) for model, each in by_model.items()]
        findings = (check.run(subject, model) for subject, model in subjects)
        yield from (finding for finding in findings if finding is not None)
