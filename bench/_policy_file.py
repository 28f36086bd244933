"""Benchmark of applying a policy to a large Parquet file, beside a plain copy of the file."""

from functools import partial
from pathlib import Path

from baserate import Cut, Policy, RandomizedCut
from bench._apply import read_both_ends, time_beside_copy
from bench._benchmark import Outcome

_CHECKED = 2000
"""Rows at each end of the file that are decided again one by one."""
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
"""Thresholds of all 20 sites, so that no row is refused; one site decides scores between 0.1 and 0.9 at random."""


def decide_file(n: int, repeats: int) -> Outcome:
    """Decide about every row of a Parquet file, beside a plain copy of the file."""
    return time_beside_copy(_OURS, POLICY, partial(_check_file, POLICY), n, repeats)


def _check_file(policy: Policy, rows: int, n: int, target: Path) -> None:
    for columns in read_both_ends(rows, n, target):
        values = (columns[name][:_CHECKED].tolist() for name in ("risk", "site", "id", "action"))
        for risk, site, id_, action in zip(*values, strict=True):
            if policy.action(risk, [site], id=id_) != action:
                raise ArithmeticError("The file differs from the decisions of the policy.")
