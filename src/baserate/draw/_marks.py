"""Marks: the points at which somebody decides, by a threshold or by a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import FLAG, flags_from
from baserate._domains import PLACE, check_domain
from baserate._errors import OptionError, UnknownNameError
from baserate._policy import Policy
from baserate._results import Results
from baserate._tally import Group, Tallies
from baserate.decide import evaluated
from baserate.measure import as_thresholds, header, named_group

Thresholds = float | Sequence[float] | Mapping[str, float]
"""One for all models, several for all of them, or one for each by its name."""
Policies = Policy | Mapping[str, Policy]
"""That of the only model, or one for each by its name."""
COLUMNS = ("model", "group", "threshold", "name", "tp", "fp", "fn", "tn")


def marks(tallies: Tallies, threshold: Thresholds | None, policy: Policies | None) -> Results:
    """Tabulate what comes of deciding there: a 2×2 table of every model, everybody together and each group.

    Of a policy it is the table of those who are flagged, or can be expected to be, against all others; where it has no
    single threshold, as a lottery has none, `threshold` is None.

    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> [(row["name"], row["tp"], row["fp"]) for row in marks(t, [0.5, 0.8], None).rows()]
    [('threshold 0.5', 1.0, 1.0), ('threshold 0.8', 1.0, 0.0)]
    """
    rows = [*_of_thresholds(tallies, threshold), *_of_policies(tallies, policy)]
    several = len(tallies.models) > 1
    made = [row | {"model": row["model"] if several else None} for row in rows]
    return Results({name: [row[name] for row in made] for name in COLUMNS}, header(tallies, []))


def one_place(found: Results) -> Results:
    """Marks of everybody, each of which must have a threshold for a line to stand at."""
    rows = [row for row in found.rows() if row["group"] is None]
    nowhere = [row["name"] for row in rows if row["threshold"] is None]
    if nowhere:
        raise OptionError(
            f"the {nowhere[0]} has no single threshold, so there is no place for a line; leave it out, or mark "
            "it on a ROC curve."
        )
    for row in rows:
        if isfinite(row["threshold"]):
            check_domain("threshold", row["threshold"], PLACE)
    return Results({name: [row[name] for row in rows] for name in COLUMNS}, found.data)


def _of_thresholds(tallies: Tallies, given: Thresholds | None) -> Iterator[dict[str, Any]]:
    by_model = given if isinstance(given, Mapping) else dict.fromkeys(tallies.models, given)
    _check_models(tallies, by_model)
    for model, group, tally in tallies.walk():
        for at in as_thresholds(by_model.get(model)) or ():
            yield _row(tallies, model, group, at, f"threshold {at:.6g}", Curve(tally).at(at))


def _of_policies(tallies: Tallies, given: Policies | None) -> Iterator[dict[str, Any]]:
    if given is None:
        return
    for model, policy in _by_model(tallies, given).items():
        if FLAG not in policy.actions:
            raise OptionError(
                f"the policy of {model} knows {', '.join(policy.actions)}, so there is no point at which it flags; "
                "leave it out, or give one that flags."
            )
        for group, part in evaluated(tallies, policy, model).items():
            yield _row(tallies, model, group, flags_from(part.treatment), f"policy {policy.rule}", part.tables[FLAG])


def _by_model(tallies: Tallies, given: Policies) -> Mapping[str, Policy]:
    if isinstance(given, Mapping):
        _check_models(tallies, given)
        return given
    if len(tallies.models) > 1:
        raise OptionError(
            f"there are several models ({', '.join(tallies.models)}), and a policy is of one; give a mapping from the "
            "name of the model to its policy."
        )
    return {next(iter(tallies.models)): given}


def _check_models(tallies: Tallies, given: Mapping[str, object]) -> None:
    strange = [name for name in given if name not in tallies.models]
    if strange:
        raise UnknownNameError(f"there is no model {strange[0]!r} to mark. There are: {', '.join(tallies.models)}.")


def _row(
    tallies: Tallies, model: str, group: Group | None, threshold: float | None, name: str, counts: Counts[float]
) -> dict[str, Any]:
    cells = {cell: getattr(counts, cell) for cell in ("tp", "fp", "fn", "tn")}
    return {"model": model, "group": named_group(tallies, group), "threshold": threshold, "name": name, **cells}
