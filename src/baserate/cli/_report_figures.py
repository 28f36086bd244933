"""Figures of a report, in a folder."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from baserate.cli._terminal import print_message

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._tally import Tallies
    from baserate.draw import Drawing
    from baserate.report import Report

OF_LABELS = ("roc", "pr", "gain", "prevalence")
"""Figures of classifiers that give labels alone, too."""
AT_DEPLOYMENT = ("roc", "pr", "prevalence", "thresholds", "decision-curve", "cost-curve")
"""Figures at the deployment prevalence, if one was stated; the others show the sample."""
MANY = 6
"""Groups beyond which curves of each would hide each other."""


def fitting(report: "Report") -> "dict[str, Callable[[Tallies], Drawing]]":
    """Figures that fit a report, by name, each as a function of tallies."""
    from baserate import draw

    views = {model: report.of(model).here for model in report.models}
    policies = {model: report.policies[model] for model, view in views.items() if "auc" in view}
    figures: dict[str, Callable[[Tallies], Drawing]] = {}
    both = all(view.positives.value and view.negatives.value for view in views.values())
    if both:
        figures |= _of_curves(report, policies)
    if policies and all("brier" in views[model] for model in policies):
        figures["reliability"] = draw.reliability
        figures |= {"decision-curve": partial(draw.decision_curve, **_adjust_tallies(report))} if both else {}
    if report.groups:
        figures["groups"] = partial(draw.groups, policy=dict(report.policies))
    return figures


def _adjust_tallies(report: "Report") -> dict[str, Any]:
    """Return the prevalence of a decision curve, and that of the sample, from which its scores are adjusted."""
    own = isinstance(report.plan.prevalence, Mapping)  # then the classes were reweighted before, group by group
    return {"prevalence": report.prevalence, **({"scores_from": report.data["prevalence"]} if own else {})}


def _of_curves(report: "Report", policies: "Mapping[str, Policy]") -> "dict[str, Callable[[Tallies], Drawing]]":
    """Figures of both classes, with the policies marked."""
    from baserate import draw

    plan = report.plan
    known = plan.costs is not None and (report.prevalence is not None or not plan.apart)
    where = report.data["prevalence"] if report.prevalence is None else report.prevalence
    cost: dict[str, Any] = {"costs": plan.costs, "prevalence": where} if known else {}
    cuts = {model: each.flags_from for model, each in policies.items() if each.flags_from is not None}
    marks: dict[str, Any] = {"policy": policies} if policies else {}
    figures: dict[str, Callable[[Tallies], Drawing]] = {
        "roc": partial(draw.roc, **marks, **cost),
        "pr": partial(draw.pr, **marks, prevalence=report.prevalence),
        "gain": partial(draw.gain, **marks),
    }
    if len(cuts) == len(policies):
        figures["prevalence"] = partial(draw.prevalence, threshold=cuts or None, at=report.prevalence)
    if len(cuts) == len(policies) == 1:
        figures["scores"] = partial(draw.scores, policy=policies)
        figures["thresholds"] = partial(draw.thresholds, policy=policies, prevalence=report.prevalence)
    return figures | ({"cost-curve": partial(draw.cost_curve, **cost)} if known and policies else {})


def check_folder(folder: Path) -> None:
    """Say now, rather than after long work, that figures cannot be written."""
    from baserate.draw import import_matplotlib

    import_matplotlib()
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"{folder} is a file; name a folder with --figures.")
    if not folder.parent.is_dir():
        raise click.UsageError(f"there is no folder {folder.parent}; make it, or name another with --figures.")


def _rows(report: "Report", data: "Tallies", name: str) -> "Tallies":
    """What a figure is of: without labels where it takes none, and without groups if these are many."""
    from baserate.draw import pool_groups, split_labels

    if name == "groups":
        return data
    scored, _ = split_labels(data)
    rows = data if scored is None or name in OF_LABELS else scored
    needed = any(policy.needs_group for policy in report.policies.values())
    return rows if needed or len(rows.groups) <= MANY else pool_groups(rows)


def _by_group(report: "Report", data: "Tallies") -> "Tallies":
    """Give groups the prevalences stated for them; one prevalence of everybody is left to the figures themselves."""
    from baserate import shift

    stated = report.plan.prevalence
    return shift.reweigh(data, to=stated) if isinstance(stated, Mapping) else data


def write(report: "Report", data: "Tallies", folder: Path, *, quiet: bool) -> None:
    """Draw the figures, each into its own file, and print their names."""
    figures = fitting(report)
    in_use = _by_group(report, data)
    try:
        folder.mkdir(exist_ok=True)
        for name, draw in figures.items():
            draw(_rows(report, in_use if name in AT_DEPLOYMENT else data, name)).save(folder / f"{name}.svg")
    except OSError as error:
        raise click.UsageError(f"cannot write into {folder} ({error.strerror}); name another folder.") from error
    if not quiet:
        many = f"{len(figures)} figure{'s' * (len(figures) != 1)}" if figures else "no figure, since none fits,"
        print_message(f"wrote {many} into {folder}{': ' * bool(figures)}{', '.join(figures)}")
