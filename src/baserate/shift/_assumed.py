"""What is assumed of a target without truth, and what its intervals then rest on; in words."""

from collections.abc import Mapping
from typing import Any, Literal

from baserate._errors import OptionError

Assume = Literal["label shift", "covariate shift"]

TOLD: dict[str, str] = {
    "label shift": (
        "Assumed: label shift. The scores of each class are distributed as in validation, and only the prevalence has "
        "changed, to the estimated one."
    ),
    "covariate shift": (
        "Assumed: covariate shift. The chance of the positive class at each score is what it was, and only the scores "
        "are distributed otherwise; posteriors were not carried to another prevalence."
    ),
}
HOW = "influence functions of target and validation"
UNTESTED = (
    "Probabilities were taken as right: there is no validation set to test or recalibrate them on, and intervals do "
    "not include how wrong they are."
)
ALONE = "influence functions of the target, probabilities taken as right"


def refuse_idle(options: Mapping[str, Any]) -> None:
    """Refuse options that are about the validation set, where there is none."""
    if options:
        raise OptionError(f"{next(iter(options))}= has no use without a validation set; leave it out.")
