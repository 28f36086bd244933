"""Row about a policy applied to a large Parquet file, beside a bare copy of it."""

from functools import partial
from pathlib import Path

from baserate import Cut, Lottery, Policy
from bench._apply import beside_a_copy, both_ends
from bench._row import Outcome

_ROWS = 2000
"""At each end, that are asked of the policy one by one."""
_OURS = """
import json, resource, sys
from baserate import Policy, apply
rows = apply.file(Policy.load(sys.argv[1]), sys.argv[2], sys.argv[3]).rows
print(json.dumps({"rows": rows, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""
_LEVELS = Cut((0.2, 0.7), ("pass", "refer", "flag"))
POLICY = Policy(
    by_group={
        ("site 0",): Cut((0.3,)),
        ("site 1",): _LEVELS,
        ("site 2",): Lottery((Cut((0.4,)), Cut((0.8,))), (0.3, 0.7)),
    },
    otherwise="refer",
    attributes=("site",),
    columns={"score": "risk", "id": "id"},
)
"""Of 20 sites; at one of them, lots decide of scores between 0.4 and 0.8."""


def filed(n: int, repeats: int) -> Outcome:
    """Decide about every row of a Parquet file beside a bare copy of it."""
    return beside_a_copy(_OURS, POLICY, partial(_check, POLICY), n, repeats)


def _check(policy: Policy, rows: int, n: int, target: Path) -> None:
    for found in both_ends(rows, n, target):
        columns = (found[name][:_ROWS].tolist() for name in ("risk", "site", "id", "action"))
        for risk, site, id_, action in zip(*columns, strict=True):
            if policy.action(risk, [site], id=id_) != action:
                raise ArithmeticError("what was written is not what the policy says of the rows.")
