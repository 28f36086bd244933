"""Policies of every kind, rows for them, and the expected actions; shared by tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from baserate import Cut, Policy, RandomizedCut

Row = dict[str, Any]

HALF = RandomizedCut((Cut((0.3,)), Cut((0.6,))), (0.5, 0.5))
THREE = RandomizedCut(
    (Cut((0.2,), ("look", "don't")), Cut((0.5, 0.8), ("pass", 'say "é"', "pass")), Cut((), ("flag",))), (0.2, 0.5, 0.3)
)
COLUMNS = {"score": "risk", "id": "who"}
POLICIES: dict[str, Policy] = {
    "plain": Policy(by_group={(): Cut((0.5,))}, otherwise="refuse", columns=COLUMNS),
    "nothing": Policy(by_group={(): Cut((np.inf,))}, otherwise="refuse", columns=COLUMNS),
    "bands": Policy(by_group={(): Cut((0.2, 0.7), ("low", "medium", "high"))}, otherwise="refuse", columns=COLUMNS),
    "lottery": Policy(by_group={(): HALF}, otherwise="refuse", columns=COLUMNS),
    "groups": Policy(
        by_group={("f",): Cut((0.4,)), ('it\'s "ß"',): HALF, ("m",): THREE},
        otherwise="refer",
        attributes=("site",),
        columns=COLUMNS,
    ),
    "combinations": Policy(
        by_group={("f", 1): HALF, ("f", 2): Cut((0.5,), ("flag", "pass")), ("m", 1): THREE},
        otherwise="pass",
        attributes=("site", "ward"),
        columns=COLUMNS,
    ),
    "of three": Policy(
        by_group={
            (site, ward, old): HALF if old else THREE for site in "fm" for ward in (1, 3) for old in (True, False)
        },
        otherwise="look",
        attributes=("site", "ward", "old"),
        columns=COLUMNS,
    ),
}
IDS: dict[str, list[Any]] = {
    "text": ["007", "7", "", 'a "b"', "it's", "é", "e\u0301", "日本", " x ", "1e3", "9223372036854775808", "NULL"],
    "numbers": [7, 0, -3, 2**53 + 1, 2**63 - 1, -(2**63), 10, 11, 12, 13, 14, 15],
    "large": [2**63, 2**64 - 1, *range(10)],
}
NAMES = ("who", "risk", "site", "ward", "old")


def rows_of(ids: Sequence[Any], seed: int = 0) -> list[Row]:
    """Return rows with these ids, of groups in the policies and of others."""
    rng = np.random.default_rng(seed)
    sites, wards = ["f", "m", 'it\'s "ß"', "x", None], [1, 2, 3, None]
    drawn = [(round(rng.random(), 2), sites[rng.integers(5)], wards[rng.integers(4)], rng.random() < 0.5) for _ in ids]
    return [dict(zip(NAMES, (id_, *each), strict=True)) for id_, each in zip(ids, drawn, strict=True)]


def table(rows: Sequence[Row], ids: pa.DataType | None = None) -> pa.Table:
    schema = {"who": ids or pa.array([row["who"] for row in rows]).type, "risk": pa.float64()}
    labels = {"site": pa.string(), "ward": pa.int64(), "old": pa.bool_()}
    return pa.Table.from_pylist(rows, pa.schema({**schema, **labels}))


def expected_action(policy: Policy, row: Row) -> str:
    """Return the action of the policy for a row."""
    return policy.action(row["risk"], [row[name] for name in policy.attributes], id=row["who"])
