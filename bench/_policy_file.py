"""Row about a policy applied to a large Parquet file, beside a bare copy of it."""

from functools import partial
from pathlib import Path

from baserate import Cut, Policy, RandomizedCut
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
POLICY = Policy(
    by_group={
        **{(f"site {at}",): Cut((0.3 + at / 100,)) for at in range(18)},
        ("site 18",): Cut((0.2, 0.7), ("pass", "refer", "flag")),
        ("site 19",): RandomizedCut((Cut((0.1,)), Cut((0.9,))), (0.3, 0.7)),
    },
    otherwise="refuse",
    attributes=("site",),
    columns={"score": "risk", "id": "id"},
)
"""Of all 20 sites, so that every row is decided; at one of them, lots decide of scores between 0.1 and 0.9."""


def filed(n: int, repeats: int) -> Outcome:
    """Decide about every row of a Parquet file beside a bare copy of it."""
    return beside_a_copy(_OURS, POLICY, partial(_check, POLICY), n, repeats)


def _check(policy: Policy, rows: int, n: int, target: Path) -> None:
    for found in both_ends(rows, n, target):
        columns = (found[name][:_ROWS].tolist() for name in ("risk", "site", "id", "action"))
        for risk, site, id_, action in zip(*columns, strict=True):
            if policy.action(risk, [site], id=id_) != action:
                raise ArithmeticError("what was written is not what the policy says of the rows.")
