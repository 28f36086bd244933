"""`baserate apply`: read, map or decide, write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from baserate.cli._failures import debug
from baserate.cli._maps import MISSING, TARGET, columns, written
from baserate.cli._options import Verb, bundled, check_place, command
from baserate.cli._policies import loaded_either

_EXAMPLES = (
    ("calibrated probabilities beside the scores", "baserate apply map.json people.csv -o calibrated.csv"),
    ("any size, any kind, any name", "baserate apply map.json 'parts/*.parquet' -o out.parquet --score risk --to p"),
    ("in the middle of a pipe", "zcat people.csv.gz | baserate apply map.json - -o - | head"),
    ("both probabilities of a Venn–Abers map", "baserate apply venn-abers.json people.csv -o out.csv --bounds"),
    ("what a policy does with each row", "baserate apply policy.json new.parquet --id patient -o decisions.parquet"),
    (
        "with the chance of each action, where the groups have another name",
        "baserate apply policy.json new.csv --id patient --group gender --chances -o decisions.csv",
    ),
)


@dataclass(frozen=True, slots=True)
class Applying:
    """What to apply to what, and where the rows go."""

    what: str
    file: tuple[str, ...]
    output: str
    score: str | None
    to: str | None
    bounds: bool
    id_: str | None
    group: tuple[str, ...]
    chances: bool
    missing: Literal["refuse", "keep"]
    quiet: bool

    def __post_init__(self) -> None:
        if self.output != "-":
            check_place(Path(self.output))

    def check(self, *, policy: bool) -> None:
        """See that no option is for the other kind of file."""
        of_policies = {"--id": self.id_, "--group": self.group, "--chances": self.chances}
        given = [name for name, value in ({"--bounds": self.bounds} if policy else of_policies).items() if value]
        if given:
            kinds = ("maps", "a policy") if policy else ("policies", "a map")
            raise click.UsageError(f"{given[0]} is for {kinds[0]}, and {self.what} holds {kinds[1]}; leave it out.")


def applying(verb: Verb) -> Verb:
    """Add the options that say what to apply to what; the verb gets them as `applying`."""
    return bundled(verb, Applying, "applying", _APPLYING)


_APPLYING = (
    click.argument("what", type=click.Path(), metavar="MAP_OR_POLICY"),
    click.argument("file", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="FILE..."),
    click.option(
        "-o",
        "--output",
        type=click.Path(allow_dash=True),
        required=True,
        metavar="FILE",
        help=TARGET,
    ),
    click.option(
        "--score",
        metavar="COLUMN",
        help="Column of scores, if it is not the one that the map or policy was made on; for a map of several classes "
        "CLASS=COLUMN,….",
    ),
    click.option(
        "--to",
        metavar="NAME",
        help="Name of the new column; otherwise action, or of a map that of the score and _calibrated. For a map of "
        "several classes CLASS=NAME,….",
    ),
    click.option(
        "--bounds", is_flag=True, help="Add both probabilities of a Venn–Abers map, as NAME_low and NAME_high."
    ),
    click.option(
        "--id",
        "id_",
        metavar="COLUMN",
        help="Column of ids, which draw the lots of a policy that has any: whole numbers or text, no two alike.",
    ),
    click.option(
        "--group",
        multiple=True,
        metavar="COLUMN",
        help="Column of groups, if it has another name than in the policy; repeat it, one for each in their order.",
    ),
    click.option("--chances", is_flag=True, help="Add the chance of each action of a policy, as NAME_chance_ACTION."),
    MISSING,
    click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors."),
    debug,
)


@command("apply", examples=_EXAMPLES)
@applying
def apply(applying: Applying) -> None:
    """Apply a map or a policy to rows of any number: every column stays, and probabilities or actions join them.

    MAP_OR_POLICY is a file that holds one of them. FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a
    pattern of such files, or - for stdin. The output is written whole or not at all.
    """
    from baserate import Policy

    found = loaded_either(applying.what)
    applying.check(policy=isinstance(found, Policy))
    asked: dict[str, Any] = {"missing": applying.missing}
    if isinstance(found, Policy):
        asked |= {"score": applying.score, "to": applying.to, "id": applying.id_, "chances": applying.chances}
        asked |= {"group": applying.group or None}
    else:
        asked |= {"score": columns(found, applying.score), "to": columns(found, applying.to)}
        asked |= {"bounds": applying.bounds}
    written(found, applying.file, applying.output, quiet=applying.quiet, **asked)
