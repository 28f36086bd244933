"""Summary of what was read: rows, rows dropped and why, the positive label, columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from baserate._formatting import count_of

Reasons = Mapping[str, Mapping[str, int]]
"""Column -> what is wrong with it -> in how many rows."""


@dataclass(frozen=True, slots=True)
class ReadSummary:
    """What was read, what was dropped and why.

    >>> ReadSummary(read=10, dropped=2, reasons={"p": {"NaN": 2}}, positive="sick", negative="well").description
    '10 rows read, 2 of them dropped (p: 2 NaN); positive = sick, negative = well'
    >>> ReadSummary(read=10, labelled=3).description, ReadSummary(read=10, labelled=0).description
    ('10 rows read; 3 with truth; positive = True, negative = False', '10 rows read; none with truth')
    """

    read: int
    """Rows read, also those that were then dropped."""
    dropped: int = 0
    """Rows left out because something in them is missing or unknown."""
    reasons: Reasons = field(default_factory=dict)
    """What was wrong in the dropped rows; a row may be wrong in several ways."""
    positive: object = True
    """Label of the positive class."""
    negative: object = False
    """Label of the other class; None when it does not occur."""
    columns: Mapping[str, str | list[str]] = field(default_factory=dict)
    """Which column was read as what: truth, score, group and so on."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    classes: tuple[object, ...] = ()
    """Labels of all classes, where none of them is the positive one."""
    labelled: int | None = None
    """Rows in use whose truth is known, where it may be unknown; None where every row has one."""

    @property
    def description(self) -> str:
        """The summary as one sentence."""
        dropped = f", {self.dropped} of them dropped ({describe_reasons(self.reasons)})" if self.dropped else ""
        known = "" if self.labelled is None else f"; {self.labelled or 'none'} with truth"
        return f"{count_of(self.read, 'row')} read{dropped}{known}{self._labels}"

    @property
    def _labels(self) -> str:
        if self.classes:
            return f"; classes: {', '.join(map(str, self.classes))}"
        negative = "" if self.negative is None else f", negative = {self.negative}"
        return "" if self.labelled == 0 else f"; positive = {self.positive}{negative}"


def describe_reasons(reasons: Reasons) -> str:
    """List the reasons why rows were dropped.

    >>> describe_reasons({"p": {"NaN": 2, "missing": 1}, "sex": {"missing": 4}})
    'p: 2 NaN, 1 missing; sex: 4 missing'
    """
    return "; ".join(
        f"{column}: " + ", ".join(f"{many} {what}" for what, many in kinds.items()) for column, kinds in reasons.items()
    )
