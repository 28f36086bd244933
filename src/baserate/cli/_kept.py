"""Options for what is kept of a choice: a map before it, and a file of the policy."""

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from baserate.cli._maps import loaded
from baserate.cli._options import Verb, Writing, bundled, check_place
from baserate.cli._say import put, say

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator
    from baserate._policy import Policy


@dataclass(frozen=True, slots=True)
class Keeping:
    """What scores go through first, and where the policy goes."""

    map: str | None
    output: str | None

    def __post_init__(self) -> None:
        if self.output not in (None, "-"):
            check_place(Path(str(self.output)))

    @property
    def loaded(self) -> "Calibrator | None":
        """The map, if one was named; one of several classes is refused."""
        if self.map is None:
            return None
        from baserate import Calibrator, OptionError

        found = loaded(self.map)
        if not isinstance(found, Calibrator):
            raise OptionError(f"{self.map} is a map of several classes; a cut-off is of one score.")
        return found

    @property
    def name(self) -> str:
        """Name of the map's file."""
        return PurePath(self.map or "").name


def keeping(verb: Verb) -> Verb:
    """Add the options; the verb gets them as `keeping`."""
    return bundled(verb, Keeping, "keeping", _KEEPING)


def keeping_alone(verb: Verb) -> Verb:
    """Add that for the file alone, where nothing comes before the cuts; the verb gets it as `keeping`."""
    return bundled(verb, Keeping, "keeping", (_OUTPUT,), map=None)


def keep(policy: "Policy", keeping: Keeping, writing: Writing) -> None:
    """Write the policy, and say how it is used."""
    put(policy.to_json(), keeping.output)
    if keeping.output != "-" and not writing.quiet:
        lots = " --id COLUMN" if policy.needs_id else ""
        say(f"wrote {keeping.output}: {policy!r}; apply it with: baserate apply {keeping.output} FILE{lots} -o OUT")


_OUTPUT = click.option(
    "-o", "--output", type=click.Path(allow_dash=True), metavar="POLICY", help="Write the policy there, as JSON."
)
_KEEPING = (
    click.option(
        "--map",
        type=click.Path(),
        metavar="MAP",
        help="Cut what this map makes of the scores, which `baserate calibrate` wrote; the policy takes it along.",
    ),
    _OUTPUT,
)
