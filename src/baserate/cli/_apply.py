"""`baserate apply`: apply a calibrator or a policy to rows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import click

from baserate.cli._declarations import Quiet, argument, check_place, command, option
from baserate.cli._files import ROWS_FILE, MissingScore, load_calibrator_or_policy, parse_columns, write_rows
from baserate.cli._options import FILES

_EXAMPLES = (
    ("calibrated probabilities beside the scores", "baserate apply map.json people.csv -o calibrated.csv"),
    (
        "files of any size and format, with a name for the new column",
        "baserate apply map.json 'parts/*.parquet' -o out.parquet --score risk --to p",
    ),
    ("in the middle of a pipe", "zcat people.csv.gz | baserate apply map.json - -o - | head"),
    ("both probabilities of a Venn–Abers calibrator", "baserate apply venn-abers.json people.csv -o out.csv --bounds"),
    ("what a policy does with each row", "baserate apply policy.json new.parquet --id patient -o decisions.parquet"),
    (
        "with the probability of each action, and another group column",
        "baserate apply policy.json new.csv --id patient --group gender --chances -o decisions.csv",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions:
    """What to apply to what, and where the rows go."""

    what: Annotated[str, argument(type=click.Path(), metavar="MAP_OR_POLICY")]
    file: Annotated[
        tuple[str, ...],
        argument(type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="FILE...", note=f"FILE is {FILES}"),
    ]
    path: Annotated[str, option("-o", "--output", type=click.Path(allow_dash=True), metavar="FILE", help=ROWS_FILE)]
    score: Annotated[
        str | None,
        option(
            metavar="COLUMN",
            default="that of the calibrator or policy",
            help="Column with the scores; of several classes CLASS=COLUMN,….",
        ),
    ] = None
    to: Annotated[
        str | None,
        option(
            metavar="NAME",
            default="action, or that of the score and _calibrated",
            help="Name of the new column; of several classes CLASS=NAME,….",
        ),
    ] = None
    bounds: Annotated[
        bool, option(help="Both probabilities of a Venn–Abers calibrator, as NAME_low and NAME_high.")
    ] = False
    id_: Annotated[
        str | None,
        option(
            metavar="COLUMN",
            help="Column with unique row IDs, whole numbers or text; a randomized policy requires it.",
        ),
    ] = None
    group: Annotated[
        tuple[str, ...],
        option(
            multiple=True,
            metavar="COLUMN",
            default="those of the policy",
            help="Column with groups; repeat it, one for each attribute of the policy.",
        ),
    ] = ()
    chances: Annotated[bool, option(help="Probability of each action of a policy, as NAME_chance_ACTION.")] = False
    missing: MissingScore = "refuse"
    quiet: Quiet = False

    def __post_init__(self) -> None:
        if self.path != "-":
            check_place(Path(self.path))

    def check(self, *, policy: bool) -> None:
        """See that no option is for the other kind of file."""
        of_policies = {"--id": self.id_, "--group": self.group, "--chances": self.chances}
        given = [name for name, value in ({"--bounds": self.bounds} if policy else of_policies).items() if value]
        if given:
            kinds = ("maps", "a policy") if policy else ("policies", "a map")
            raise click.UsageError(f"{given[0]} is for {kinds[0]}, and {self.what} holds {kinds[1]}; leave it out.")


@command("apply", examples=_EXAMPLES)
def apply(apply_options: ApplyOptions) -> None:
    """Apply a calibrator or a policy to rows.

    Every column stays, and probabilities or actions join them. MAP_OR_POLICY is a file that holds one of them. The
    output is written whole or not at all.
    """
    from baserate import Policy

    loaded = load_calibrator_or_policy(apply_options.what)
    apply_options.check(policy=isinstance(loaded, Policy))
    settings: dict[str, Any] = {"missing": apply_options.missing}
    if isinstance(loaded, Policy):
        settings |= {
            "score": apply_options.score,
            "to": apply_options.to,
            "id": apply_options.id_,
            "chances": apply_options.chances,
        }
        settings |= {"group": apply_options.group or None}
    else:
        settings |= {"score": parse_columns(loaded, apply_options.score), "to": parse_columns(loaded, apply_options.to)}
        settings |= {"bounds": apply_options.bounds}
    write_rows(loaded, apply_options.file, apply_options.path, quiet=apply_options.quiet, **settings)
