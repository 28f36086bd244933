"""Cut: actions by score; RandomizedCut: a random choice between cuts, made by a hash of the row's ID."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import ceil, fsum, isnan

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._counts import Counts, combine_counts
from baserate._curve import Curve
from baserate._errors import MissingValuesError, OptionError, ShapeError
from baserate._formatting import count_of

RandomNumbers = npt.NDArray[np.uint64]

DIGITS = 13
"""Hexadecimal digits of a random number."""
RANGE = 1 << 4 * DIGITS
"""Random numbers are below this: 2⁵², so that a float64 holds each exactly."""
_UNUSED = np.uint64(64 - 4 * DIGITS)


def id_text(identifier: object) -> str:
    """Write an ID as it is hashed: whole numbers in decimal, text unchanged; anything else is refused.

    >>> id_text(7), id_text("007")
    ('7', '007')
    """
    if identifier is None:
        raise MissingValuesError("an ID is missing, which random assignment needs", remedy="give one for every row.")
    if isinstance(identifier, str):
        return str(identifier)
    if isinstance(identifier, (int, np.integer)) and not isinstance(identifier, bool):
        return str(int(identifier))
    # Other types, such as floats, have several spellings, and each would get another decision.
    raise OptionError(f"an ID is {identifier!r}; expected a whole number or text.")


def random_number(key: str, text: str) -> int:
    """Return the random number of one ID, given as text.

    >>> random_number("key", "7")
    2324648756100697
    """
    return int(random_numbers(key, [text])[0])


def random_numbers(key: str, texts: Sequence[str]) -> RandomNumbers:
    """Return the random number of each ID, given as text: leading digits of SHA-256 of the policy's key and the ID."""
    from hashlib import sha256  # slow to import, and rarely needed

    begin = sha256(f"{key}:".encode())

    def digest(text: str) -> bytes:
        hashed = begin.copy()  # the common prefix is hashed once, which saves a quarter of the time
        hashed.update(text.encode())
        return hashed.digest()

    try:
        digests = b"".join(map(digest, texts))
    except UnicodeEncodeError as error:
        raise OptionError(f"the ID {error.object!r} is not valid UTF-8 text", remedy="correct it.") from error
    # A digest is four 64-bit words; the first, big-endian, has the leading digits that SQL and Python exports use.
    return np.frombuffer(digests, dtype=">u8")[::4].astype(np.uint64) >> _UNUSED


def describe_treatment(treatment: Treatment) -> str:
    """Describe a cut or randomized cut in a few words.

    >>> describe_treatment(Cut((0.5,))), describe_treatment(Cut((0.2, 0.7), ("pass", "refer", "flag")))
    ('flag ≥ 0.5', 'pass < 0.2 ≤ refer < 0.7 ≤ flag')
    >>> describe_treatment(RandomizedCut((Cut((0.4,)), Cut((np.inf,))), (0.25, 0.75)))
    'flag ≥ 0.4 (25%) or nobody (75%)'
    """
    if isinstance(treatment, RandomizedCut):
        parts = zip(map(describe_treatment, treatment.cuts), treatment.chances, strict=True)
        text = " or ".join(f"{cut} ({100 * chance:.3g}%)" for cut, chance in parts)
        return text.replace(f" or {FLAG} ", " or ")
    if not treatment.thresholds:
        return f"{treatment.actions[0]} everybody"
    if treatment.actions == (PASS, FLAG):
        return f"{FLAG} nobody" if treatment.threshold == np.inf else f"{FLAG} ≥ {treatment.threshold:.6g}"
    first, *others = treatment.actions
    steps = (f" < {at:.6g} ≤ {action}" for at, action in zip(treatment.thresholds, others, strict=True))
    return first + "".join(steps)


def random_edge(chance: float) -> int:
    """Return the first random number not below a probability: u < chance exactly if number < edge.

    >>> random_edge(0.5) == RANGE // 2
    True
    """
    return ceil(chance * RANGE)


PASS, REFER, FLAG = "pass", "refer", "flag"
_USUAL = {PASS, REFER, FLAG}
_WHOLE = 1e-9
"""Tolerance for the sum of probabilities, for rounding."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Ascending thresholds, and an action for each range of scores between them, lowest first.

    A score at a threshold belongs to the range above it. The usual actions are `pass` and `flag`; `refer` abstains;
    any others are risk bands. `flag` below `pass` reverses the direction of the scores.

    >>> Cut((0.5,))
    Cut(thresholds=(0.5,), actions=('pass', 'flag'))
    >>> Cut((0.2, 0.7), ("pass", "refer", "flag")).action(0.2)
    'refer'
    """

    thresholds: tuple[float, ...]
    actions: tuple[str, ...] = (PASS, FLAG)

    def __post_init__(self) -> None:
        # Both zeros are one threshold, and are written as one.
        object.__setattr__(self, "thresholds", tuple(float(at) + 0.0 for at in self.thresholds))
        object.__setattr__(self, "actions", tuple(self.actions))
        if any(map(isnan, self.thresholds)):
            raise MissingValuesError("a threshold is NaN", remedy="give a number, or inf to flag nothing.")
        if any(low >= high for low, high in pairwise(self.thresholds)):
            raise OptionError(
                f"thresholds are {self.thresholds}; expected ascending numbers, each once.",
                option="thresholds",
                value=self.thresholds,
            )
        if len(self.actions) != len(self.thresholds) + 1:
            what = f"{count_of(len(self.actions), 'action')} for {count_of(len(self.thresholds), 'threshold')}"
            raise ShapeError(what, remedy="give one action more than thresholds: one for each range of scores.")
        names: list[object] = [*self.actions]  # callers may not use a type checker
        if not all(isinstance(name, str) and name for name in names):
            raise OptionError(f"actions are {self.actions}; expected names.", option="actions", value=self.actions)
        if any(low == high for low, high in pairwise(self.actions)):
            raise OptionError(
                f"actions are {self.actions}; expected neighbors that differ.", option="actions", value=self.actions
            )

    @property
    def threshold(self) -> float:
        """The threshold of a cut that passes or flags."""
        if self.actions != (PASS, FLAG):
            raise OptionError(f"a cut into {', '.join(self.actions)} has no single threshold; see `thresholds`.")
        return self.thresholds[0]

    @property
    def has_table(self) -> bool:
        """Whether the actions are pass, flag and perhaps refer, so that there is a confusion matrix."""
        return has_table(self.actions)

    def action(self, score: float) -> str:
        """Return the action for a score."""
        if isnan(score):
            raise MissingValuesError("the score is NaN", remedy="give a number.")
        return self.actions[bisect_right(self.thresholds, score)]

    def stretches(self, curve: Curve) -> Counts[Floats]:
        """Return counts for each score range: rows in it against all others.

        The flag rate of a range is its share of all rows, and its precision is the risk within it.

        >>> from baserate import curve, tally
        >>> c = curve(tally([1, 1, 0, 1, 0], [0.9, 0.8, 0.6, 0.4, 0.1]))
        >>> each = Cut((0.3, 0.7), ("low", "medium", "high")).stretches(c)
        >>> each.tp.tolist(), each.fp.tolist()
        ([0.0, 1.0, 2.0], [1.0, 1.0, 0.0])
        """
        upward = curve.at(np.array([-np.inf, *self.thresholds]))
        moments = upward.moments and (_score_range_counts(upward.squares), _score_range_counts(upward.rows))
        return replace(_score_range_counts(upward), moments=moments, reweighed=upward.reweighed)

    def tables(self, curve: Curve) -> dict[str, Counts[float]]:
        """Return counts for each action: rows that get it against all others.

        >>> from baserate import curve, tally
        >>> c = curve(tally([1, 1, 0, 1, 0], [0.9, 0.8, 0.6, 0.4, 0.1]))
        >>> Cut((0.3, 0.7), ("look", "pass", "look")).tables(c)["look"]
        Counts(tp=2.0, fp=1.0, fn=1.0, tn=1.0)
        """
        each = self.stretches(curve)
        places = {action: [at for at, other in enumerate(self.actions) if other == action] for action in self.actions}
        return {action: _merge_ranges([each[at] for at in several]) for action, several in places.items()}

    def counts(self, curve: Curve) -> Counts[float]:
        """Return the counts of rows that are flagged and not flagged; referred rows are in no cell.

        >>> from baserate import curve, tally
        >>> c = curve(tally([1, 1, 0, 1, 0], [0.9, 0.8, 0.6, 0.4, 0.1]))
        >>> Cut((0.3, 0.7), ("pass", "refer", "flag")).counts(c)
        Counts(tp=2.0, fp=0.0, fn=0.0, tn=1.0)
        """
        if not self.has_table:
            raise OptionError(f"a cut into {', '.join(self.actions)} has no confusion matrix; see `stretches`.")
        if self.actions in ((PASS, FLAG), (PASS, REFER, FLAG)):  # a shortcut for the usual cuts
            low, high = (curve.at(at) for at in (self.thresholds[0], self.thresholds[-1]))
            moments = high.moments and (_between(low.squares, high.squares), _between(low.rows, high.rows))
            return replace(_between(low, high), moments=moments, reweighed=high.reweighed)
        return merge_tables(self.tables(curve), nobody=curve.at(np.inf))


@dataclass(frozen=True, slots=True)
class RandomizedCut:
    """Cuts with the probability of each; a hash of the row's ID chooses one, so that decisions are reproducible.

    >>> half = RandomizedCut((Cut((0.4,)), Cut((0.7,))), (0.5, 0.5))
    >>> half.chances_at(0.5)
    {'flag': 0.5, 'pass': 0.5}
    >>> half.chances_at(0.9)
    {'flag': 1.0, 'pass': 0.0}
    """

    cuts: tuple[Cut, ...]
    chances: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cuts", tuple(self.cuts))
        object.__setattr__(self, "chances", tuple(map(float, self.chances)))
        if len(self.cuts) < 2 or len({*self.cuts}) < len(self.cuts):
            raise OptionError("a randomized cut needs two or more different cuts", remedy="use a Cut for a single one.")
        if len(self.chances) != len(self.cuts):
            what = f"{count_of(len(self.chances), 'chance')} for {count_of(len(self.cuts), 'cut')}"
            raise ShapeError(what, remedy="give one for each.")
        if not (all(0 < each < 1 for each in self.chances) and abs(fsum(self.chances) - 1) <= _WHOLE):
            raise OptionError(
                f"chances are {self.chances}; expected numbers between 0 and 1 that add up to 1.",
                option="chances",
                value=self.chances,
            )
        # Chances below the resolution of random numbers would leave a cut without any number, and so never used.
        edges = (0, *self.edges, RANGE)
        if any(low >= high for low, high in pairwise(edges)):
            raise OptionError(
                f"chances are {self.chances}; expected at least 2⁻⁵², the resolution of random numbers.",
                option="chances",
                value=self.chances,
            )

    @property
    def edges(self) -> tuple[int, ...]:
        """First random number of each cut but the first."""
        return tuple(map(random_edge, accumulate(self.chances[:-1])))

    @property
    def actions(self) -> tuple[str, ...]:
        """All actions, each once, in the order of the cuts."""
        return tuple(dict.fromkeys(action for cut in self.cuts for action in cut.actions))

    @property
    def has_table(self) -> bool:
        """Whether the actions are pass, flag and perhaps refer, so that there is a confusion matrix."""
        return has_table(self.actions)

    def select(self, number: int) -> Cut:
        """Return the cut that a random number selects."""
        return self.cuts[bisect_right(self.edges, number)]

    def chances_at(self, score: float) -> dict[str, float]:
        """Return the probability of every action at a score."""
        of: dict[str, list[float]] = {action: [] for action in sorted(self.actions)}
        for cut, chance in zip(self.cuts, self.chances, strict=True):
            of[cut.action(score)].append(chance)
        return {action: certain_share(each, len(self.cuts)) for action, each in of.items()}

    def tables(self, curve: Curve) -> dict[str, Counts[float]]:
        """Return expected counts for each action: rows that get it against all others."""
        each = [cut.tables(curve) for cut in self.cuts]
        # At +inf nothing is flagged: the table of an action that a cut does not have.
        nobody = curve.at(np.inf)
        by_action = {action: [tables.get(action, nobody) for tables in each] for action in self.actions}
        return {action: combine_counts(tables, self.chances) for action, tables in by_action.items()}

    def counts(self, curve: Curve) -> Counts[float]:
        """Return the expected counts of rows that are flagged and not flagged.

        >>> from baserate import curve, tally
        >>> c = curve(tally([1, 1, 0, 1, 0], [0.9, 0.8, 0.6, 0.4, 0.1]))
        >>> RandomizedCut((Cut((0.3,)), Cut((0.7,))), (0.25, 0.75)).counts(c)
        Counts(tp=2.25, fp=0.25, fn=0.75, tn=1.75)
        """
        if not self.has_table:
            raise OptionError(f"a cut into {', '.join(self.actions)} has no confusion matrix; see `tables`.")
        return merge_tables(self.tables(curve), nobody=curve.at(np.inf))


Treatment = Cut | RandomizedCut
"""How the scores of a group are decided."""


def flags_from(treatment: Treatment | None) -> float | None:
    """Return the threshold of a plain cut into pass and flag, otherwise None.

    >>> flags_from(Cut((0.5,))), flags_from(Cut((0.3, 0.6), ("pass", "refer", "flag")))
    (0.5, None)
    """
    return treatment.threshold if isinstance(treatment, Cut) and treatment.actions == (PASS, FLAG) else None


def has_table(actions: Iterable[str]) -> bool:
    """Return whether the actions are pass and flag, and perhaps refer."""
    return {PASS, FLAG} <= {*actions} <= _USUAL


def merge_tables(tables: dict[str, Counts[float]], *, nobody: Counts[float]) -> Counts[float]:
    """Combine the counts of rows that are flagged and not flagged; referred rows are in no cell."""
    flagged, not_flagged = (tables.get(action, nobody) for action in (FLAG, PASS))

    def combine(high: Counts[float], low: Counts[float]) -> Counts[float]:
        return Counts(tp=high.tp, fp=high.fp, fn=low.tp, tn=low.fp)

    moments = nobody.moments and (
        combine(flagged.squares, not_flagged.squares),
        combine(flagged.rows, not_flagged.rows),
    )
    return replace(combine(flagged, not_flagged), moments=moments, reweighed=nobody.reweighed)


def certain_share(chances: Sequence[float], cuts: int) -> float:
    """Add probabilities; those of all cuts are exactly 1, whatever rounding gives."""
    return 1.0 if len(chances) == cuts else fsum(chances)


def actions_of(treatments: Iterable[Treatment]) -> tuple[str, ...]:
    """Return all actions, each once: pass, refer and flag first, then others in their order."""
    actions = dict.fromkeys(action for each in treatments for action in each.actions)
    usual = (each for each in (PASS, REFER, FLAG) if each in actions)
    return (*usual, *(each for each in actions if each not in _USUAL))


def _score_range_counts(upward: Counts[Floats]) -> Counts[Floats]:
    """Turn counts at or above each threshold into counts between it and the next, against all others."""
    inside = [np.append(each[:-1] - each[1:], each[-1:]) for each in (upward.tp, upward.fp)]
    return Counts(*inside, *(total[0] - each for total, each in zip((upward.tp, upward.fp), inside, strict=True)))


def _between(low: Counts[float], high: Counts[float]) -> Counts[float]:
    """Return the counts of passing below one threshold and flagging from another on."""
    return Counts(tp=high.tp, fp=high.fp, fn=low.fn, tn=low.tn)


def _merge_ranges(tables: Sequence[Counts[float]]) -> Counts[float]:
    """Return the counts of several score ranges together against all others."""
    first = tables[0]

    def cells(of: Sequence[Counts[float]]) -> Counts[float]:
        tp, fp = (fsum(getattr(each, cell) for each in of) for cell in ("tp", "fp"))
        # With weights the ranges may add up to slightly more than the class, and Counts refuses negative cells.
        return Counts(tp=tp, fp=fp, fn=max(of[0].positives - tp, 0.0), tn=max(of[0].negatives - fp, 0.0))

    moments = first.moments and (cells([each.squares for each in tables]), cells([each.rows for each in tables]))
    return first if len(tables) == 1 else replace(cells(tables), moments=moments, reweighed=first.reweighed)
