"""Models in the form of the payload, with every score kept; and tallies of many kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from baserate import Costs, Counts, Tallies, Tally, shift
from baserate._arrays import Cells
from baserate._tally import Group, ReadSummary
from baserate.infer._binomial import normal_quantile
from baserate.measure._calibration_bins import bin_starts
from baserate.report._page import fold_zeros

LEVEL = 0.95
CONFIDENCE = (LEVEL, normal_quantile(LEVEL))
PREVALENCES = (None, 1e-6, 0.02, 0.3, 0.999)
BINS = 10


def model_payload(tallies: Tallies) -> dict[str, Any]:
    """Return the only model of these tallies in the form of the payload."""
    (name,) = tallies.models
    pooled, groups = tallies.pooled(name), tallies.models[name]
    columns = tallies.intake.columns
    result: dict[str, Any] = {
        "name": name,
        "labels": name == columns.get("predicted"),
        "probable": pooled.probable,
        "digest": pooled.digest,
        "group_digest": tallies.digest if tallies.attributes else None,
        "columns": {"truth": columns["truth"], "score": name} if "truth" in columns else {},
        "positive": str(tallies.intake.positive),
        "attributes": list(tallies.attributes),
        "groups": [dict(zip(tallies.attributes, group, strict=True)) or None for group in groups],
        "threshold": pooled.score.tolist(),
        "reliability": None,
    }
    for kind in ("mass", "squares"):
        rows = [_align_cells(pooled, tally, getattr(tally, kind)) for tally in groups.values()]
        output = kind == "mass" or pooled.weighted
        result[f"positive_{kind}"] = [fold_zeros(row[0].tolist()) for row in rows] if output else None
        result[f"negative_{kind}"] = [fold_zeros(row[1].tolist()) for row in rows] if output else None
    if pooled.probable:
        result["reliability"] = _reliability_payload(groups)
    return result


def _align_cells(pooled: Tally, tally: Tally, cells_payload: Cells) -> Cells:
    """Return the cells of a group at the scores of everybody."""
    result = np.zeros((2, len(pooled.score)))
    result[:, np.searchsorted(-pooled.score, -tally.score)] = cells_payload
    return result


def _reliability_payload(groups: Mapping[Any, Tally]) -> dict[str, Any]:
    kinds = {"": "mass", "_sum": "mass", "_squares": "squares"}
    result: dict[str, Any] = {"edges": np.linspace(0, 1, BINS + 1).tolist()}
    for ending, kind in kinds.items():
        for row, sign in enumerate(("positive", "negative")):
            result[sign + ending] = []
            for tally in groups.values():
                each = getattr(tally, kind)[row] * (tally.score if ending == "_sum" else 1.0)
                sample_indices = [*bin_starts(tally.score[::-1], tally.positive, bins=BINS).tolist(), len(each)]
                upward = each[::-1]
                result[sign + ending].append(
                    [float(upward[sample_indices[at] : sample_indices[at + 1]].sum()) for at in range(BINS)]
                )
    return result


def sample_tallies() -> Iterator[Tallies]:
    """Yield tallies of many kinds: tied, tiny, of one class, weighted, huge; with and without groups."""
    rng = np.random.default_rng(20)
    for rows in (1, 2, 7, 40, 400):
        for decimals in (1, 3, 12):
            yield _without_groups(_simulate_tally(rng, rows, decimals))
            yield _without_groups(_simulate_tally(rng, rows, decimals, weighted=True))
    yield _without_groups(_simulate_tally(rng, 30, 2, share=0.0))
    yield _without_groups(_simulate_tally(rng, 30, 2, share=1.0))
    yield _without_groups(Tally.from_counts([3.5, 1.0, -2.0], [[700_000, 12, 5], [3, 40, 900_000]]))
    yield _without_groups(Tally.from_counts([0.5], [[13], [13]]))
    for many in (2, 3, 4):
        for weighted in (False, True):
            for rows in (3, 30, 150):
                yield with_groups(*(_simulate_tally(rng, rows + 5 * at, 2, weighted=weighted) for at in range(many)))
    yield with_groups(
        _simulate_tally(rng, 60, 2),
        _simulate_tally(rng, 9, 2, share=0.0),
        _simulate_tally(rng, 60, 1),
        _simulate_tally(rng, 8, 1, share=1.0),
    )


def with_groups(*tallies: Tally) -> Tallies:
    """Return tallies of groups by site."""
    sites = ("north", "south", "east", "west")
    groups: dict[Group, Tally] = {(site,): tally for site, tally in zip(sites, tallies, strict=False)}
    return Tallies({"risk": groups}, ("site",), ReadSummary(read=0, columns={"truth": "sick", "score": "risk"}))


def _without_groups(tally: Tally) -> Tallies:
    return Tallies({"risk": {(): tally}}, (), ReadSummary(read=0, columns={"truth": "sick", "score": "risk"}))


def _simulate_tally(
    rng: np.random.Generator, rows: int, decimals: int, *, weighted: bool = False, share: float | None = None
) -> Tally:
    sick = rng.random(rows) < (rng.uniform(0.1, 0.7) if share is None else share)
    score = np.round(1 / (1 + np.exp(1 - 1.5 * sick - rng.normal(size=rows))), decimals)
    return Tally.of_rows(sick, score, weight=rng.uniform(0.1, 5, rows) if weighted else None)


def has_both_classes(tallies: Tallies) -> bool:
    """Return whether both classes have rows."""
    pooled = tallies.pooled("risk")
    return pooled.positives > 0 and pooled.negatives > 0


def at_prevalence(tallies: Tallies, prevalence: float | None) -> Tallies:
    """Reweight tallies to a prevalence, if there is one."""
    return tallies if prevalence is None else shift.reweigh(tallies, prevalence=prevalence)


def states(prevalences: tuple[float | None, ...] = PREVALENCES) -> Iterator[tuple[Tallies, float | None]]:
    """Yield all tallies in the sample, and at prevalences from tiny to nearly 1."""
    for tallies in sample_tallies():
        yield from ((tallies, each) for each in prevalences if each is None or has_both_classes(tallies))


def cells_payload(counts: Counts[float]) -> dict[str, Any]:
    """Return a confusion matrix in the form of the page."""
    names = ("tp", "fp", "fn", "tn")
    squares = None if counts.moments is None else {name: getattr(counts.squares, name) for name in names}
    return {name: getattr(counts, name) for name in names} | {"squares": squares, "known": counts.reweighed}


def costs_payload(costs: Costs) -> dict[str, float]:
    """Return costs in the form of the page."""
    return {name: getattr(costs, name) for name in ("tp", "fp", "fn", "tn")}


def sample_indices(tally: Tally, rng: np.random.Generator, many: int = 4) -> list[int]:
    """Return indices of some thresholds, including both ends."""
    last = len(tally.score)
    return sorted({0, last, *rng.integers(0, last + 1, many).tolist()})


def unusual_names() -> list[str]:
    """Return names with characters that need escaping."""
    return [
        "plain",
        'a "quoted" \\name\\',
        "</script><script>alert(1)</script>",
        "emoji \U0001f9ea\U0001f469\u200d\U0001f52c",
        "\u202eright to left \u05e9\u05dc\u05d5\u05dd",
        "lines\u2028and\u2029paragraphs\x85",
        "tab\tnew\nline\r\x00\x1f\x7f\x80",
        "\uffff\U00010000",
        "__proto__",
        "constructor",
        "0",
        "x" * 10_000,
        "\U0001f9ea" * 99,
    ]
