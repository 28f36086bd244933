"""Errors, as a tree, and the parts of their messages.

::

    BaserateError
    ├── DataError                 the data cannot be used
    │   ├── EmptyDataError        no rows, or none with weight
    │   ├── ShapeError            not one column of rows, or columns whose lengths or indexes differ
    │   ├── MissingValuesError    NaN, infinity, None
    │   ├── NotNumericError       text where numbers are needed, or numbers that float64 cannot hold
    │   ├── NotBinaryError        truth is not two classes, or the positive one is unknown
    │   ├── UnknownLabelError     a class that is not among those named, or that has no score
    │   ├── WeightError           negative, fractional where whole ones are needed
    │   ├── NotAProbabilityError  outside [0, 1] where a probability is used as one
    │   ├── FitError              the data do not determine what is to be fitted
    │   └── FileFormatError       a file that is not of the form it claims
    ├── InfeasibleError           requirements that no decision meets
    └── UsageError                the request cannot be met
        ├── UnknownNameError      no measure, table, column or rule of that name
        │   └── UnknownAttributeError   no function of that name; also an `AttributeError`
        ├── OptionError           an option outside its domain
        ├── NoSuchFileError       nothing to read there
        └── NotInstalledError     an optional package is needed

All are `ValueError` too. Every message says what, where and how many, and ends with a remedy.

Messages mention options by `keyword` and steps by `advice`, so that each interface spells them in its own way: Python
as `positive='sick'`, the shell as `--positive sick`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Self

# Characters of Unicode's private use area, which no message holds otherwise.
_OPTION, _ADVICE, _FIELD, _END = "\ue000", "\ue001", "\ue002", "\ue003"
_ABSENT = object()  # None is a value that a message may show
_LONGEST = 60
"""Characters of a value that a message shows."""


def keyword(name: str, value: object = _ABSENT) -> str:
    """Mention an option in a message, with a value if there is one.

    >>> str(OptionError(f"there are no groups; read them with {keyword('group')}."))
    'there are no groups; read them with group=.'
    >>> str(OptionError(f"name the positive class: {keyword('positive', 'ill')}."))
    "name the positive class: positive='ill'."
    """
    text = "" if value is _ABSENT else repr(value)
    return _mark_option(name, text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}…")


def advice(topic: str, text: str, *details: object) -> str:
    """Mention a step that other interfaces word in their own way.

    Parameters
    ----------
    topic
        The name by which an interface finds its wording.
    text
        The step in Python.
    *details
        What the wording of an interface fills in.
    """
    return f"{_ADVICE}{topic}{''.join(f'{_FIELD}{each}' for each in details)}{_FIELD}{text}{_END}"


def spell_keyword(name: str, value: str) -> str:
    """Spell an option as Python does."""
    return f"{name}={value}"


def suggest(
    name: str,
    known: Iterable[str],
    *,
    most: int = 1,
    cutoff: float = 0.6,
    spell: Callable[[str], str] = repr,
) -> str:
    """Ask whether the nearest known names are meant; return nothing if none is near.

    >>> suggest("scor", ["truth", "score"]), suggest("scor", ["truth"])
    ("Did you mean 'score'?", '')
    """
    return ask_whether_meant(map(spell, nearest(name, known, most=most, cutoff=cutoff)))


def nearest(name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """List the known names that are nearest to a misspelled one, the nearest first."""
    from difflib import get_close_matches  # slow to import, and rarely needed

    return get_close_matches(name, list(known), n=most, cutoff=cutoff)


def ask_whether_meant(names: Iterable[str]) -> str:
    """Ask whether one of some names is meant; nothing if there is none."""
    alternatives = " or ".join(dict.fromkeys(names))
    return f"Did you mean {alternatives}?" if alternatives else ""


class BaserateError(ValueError):
    """Anything that baserate refuses.

    Parameters
    ----------
    what
        What is wrong, with the value and how many rows it concerns.
    remedy
        What to do about it, in the imperative.
    where
        File, column or line, if one is to blame.
    option, value
        Name of the option that is outside its domain, and its value. An error that names no option is about the one
        that its message mentions first, so that a form can mark the field.
    """

    def __init__(
        self, what: str = "", *, remedy: str = "", where: str = "", option: str = "", value: object = None
    ) -> None:
        self.what, self.remedy, self.where, self.value = what, remedy, where, value
        self.option = option or _first_option(what + remedy)
        # Unpickling calls the class with the rendered text alone, and then restores the attributes.
        super().__init__(self.render())

    def __str__(self) -> str:
        return self.render()

    def render(
        self, spell: Callable[[str, str], str] = spell_keyword, wordings: Mapping[str, str] | None = None
    ) -> str:
        """Write the message for an interface.

        Parameters
        ----------
        spell
            Spells an option, from its name and the `repr` of its value, which is empty if the message mentions none.
        wordings
            Wordings of that interface for topics of `advice`; `{0}` stands for the first detail, and so on.
        """
        # A sentence that ends needs a blank before the remedy, a clause a semicolon, a line nothing.
        between = " " if self.what.endswith((".", "?")) else "; "
        between = "" if not self.remedy or self.what.endswith("\n") else between
        return _word_advice(_spell_options(f"{self.what}{between}{self.remedy}", spell), wordings or {})

    def with_options(self, names: Mapping[str, str], *, where: str = "", hint: str = "") -> Self:
        """Return the error with other names of its options.

        Parameters
        ----------
        names
            Name of an option -> name that it has in another function or command.
        where
            File, table or data set in which it happened, to stand in front of the message.
        hint
            A sentence to add to the remedy.
        """

        def rename(name: str, value: str) -> str:
            return _mark_option(names.get(name, name), value)

        what, remedy = (_spell_options(text, rename) for text in (self.what, self.remedy))
        return type(self)(
            f"{where}: {what}" if where else what,
            remedy=" ".join(filter(None, [remedy, hint])),
            where=where or self.where,
            option=names.get(self.option, self.option),
            value=self.value,
        )


def _mark_option(name: str, value: str) -> str:
    return f"{_OPTION}{name}={value}{_END}"


def _first_option(text: str) -> str:
    """Return the name of the option that a text mentions first; nothing if it mentions none."""
    return text.partition(_OPTION)[2].partition("=")[0]


def _spell_options(text: str, spell: Callable[[str, str], str]) -> str:
    first, *rest = text.split(_OPTION)
    parts = [first]
    for each in rest:
        mark, _, after = each.partition(_END)
        name, _, value = mark.partition("=")
        parts += [spell(name, value), after]
    return "".join(parts)


def _word_advice(text: str, wordings: Mapping[str, str]) -> str:
    first, *rest = text.split(_ADVICE)
    parts = [first]
    for each in rest:
        mark, _, after = each.partition(_END)
        topic, *details, plain = mark.split(_FIELD)
        parts += [wordings[topic].format(*details) if topic in wordings else plain, after]
    return "".join(parts)


def unknown_name(
    kind: str, name: object, known: Iterable[object], *, near: Iterable[str] | None = None, listing: str = ""
) -> "UnknownNameError":
    """Make the error for a name that is not known; it suggests the nearest names and lists all.

    Parameters
    ----------
    kind
        What the name is a name of.
    name
        The name as it was typed.
    known
        All names.
    near
        Names to suggest, if not those that are spelled most like it.
    listing
        The sentence that lists all names.

    Examples
    --------
    >>> print(unknown_name("rule", "cots", ["cost", "youden"]))
    there is no rule 'cots'. Did you mean 'cost'? Known are: cost, youden.
    """
    names = [str(each) for each in known]
    question = _ask_about_other_name(str(name), names) if kind in _NAMED_ELSEWHERE else ""
    question = question or ask_whether_meant(map(repr, nearest(str(name), names) if near is None else near))
    return UnknownNameError(
        " ".join(filter(None, [f"there is no {kind} {name!r}.", question])),
        remedy=listing or f"Known are: {', '.join(names)}.",
        value=name,
    )


_NAMED_ELSEWHERE = ("measure", "rule", "method", "parity", "figure", "calibration curve")
"""Kinds of names that other tools have for what baserate does."""


def _ask_about_other_name(name: str, known: list[str]) -> str:
    """Ask whether the names of what another tool calls so are meant; of other kinds, functions or commands."""
    from baserate._other_names import find_other_name, suggest_known  # rarely needed

    near = suggest_known(name, known)
    if near:
        return ask_whether_meant(map(repr, near))
    other = find_other_name(name)
    if other is None:
        return ""
    commands = " or ".join(f"`baserate {each}`" for each in other.commands)
    functions = " or ".join(f"baserate.{each}" for each in other.python)
    return ask_whether_meant([advice("commands", functions or commands, commands or functions)])


class DataError(BaserateError):
    """The data cannot be used."""


class EmptyDataError(DataError):
    """There are no rows, or none with weight.

    For example: people.csv is empty; give a table with a header and at least one row.
    """


class ShapeError(DataError):
    """Not one column of rows, or columns whose lengths or indexes differ.

    For example: the columns have different lengths (y 4, p 3); give one value of each for every row.
    """


class MissingValuesError(DataError):
    """NaN, infinity or None where a value is needed.

    For example: 4 of 5 rows cannot be used (p: 2 missing, 1 NaN, 1 infinite). Fill them in, or leave them out
    with missing='drop'.
    """


class NotNumericError(DataError):
    """Text where numbers are needed, or numbers that a float64 cannot hold exactly.

    For example: 2 of 3 values of p are not numbers (the first is '0,5'); write decimal points in place of
    commas.
    """


class NotBinaryError(DataError):
    """Truth is not two classes, or which one is positive is unknown.

    For example: truth has the labels 'ill', 'well'; name the positive one: positive='ill' or positive='well'.
    """


class UnknownLabelError(DataError):
    """A class that is not among those that were named, or that has no score.

    For example: truth holds 'fish', for which there is no score among 'p_cat', 'p_dog'; add its column.
    """


class WeightError(DataError):
    """Weights that are negative, or counts that are not whole.

    For example: 1 of 4 values of w are negative; expected 0 or more. Set them to 0 to leave those rows out.
    """


class NotAProbabilityError(DataError):
    """A score outside [0, 1] where it is used as a probability.

    For example: 3 rows have scores outside [0, 1] (from -2 to 3), so the scores are not probabilities. Rank
    measures take any score; to use this one, calibrate the scores first.
    """


class FitError(DataError):
    """The data do not determine what is to be fitted.

    For example: a threshold between 0.4 and 0.6 separates the classes, so that no finite slope fits best; fit
    isotonic, or logistic with smoothed=True.
    """


class FileFormatError(DataError):
    """A file that is not of the form it claims.

    For example: line 3 of people.csv has 3 columns where the header has 2 ('0,0.4,7'); correct that line.
    """


class InfeasibleError(BaserateError):
    """Requirements that no decision meets, and the nearest that can be met.

    For example: no threshold has sensitivity >= 0.9 and specificity >= 0.9: with specificity >= 0.9, sensitivity is
    0.666667 at most, at 0.8; with sensitivity >= 0.9, specificity is 0.571429 at most, at 0.45; relax one
    of them.
    """


class UsageError(BaserateError):
    """The request cannot be met."""


class UnknownNameError(UsageError):
    """No measure, table, column or rule of that name.

    For example: there is no column 'sik'. Did you mean 'sick'? There are: 'sick', 'risk', 'site'.
    """


class UnknownAttributeError(UnknownNameError, AttributeError):
    """No name in a module of baserate; the message says what baserate calls it.

    For example: module 'baserate' has no attribute 'roc_auc_score'. Use baserate.measure.auc(y_true, y_score).
    """


class OptionError(UsageError):
    """An option outside its domain.

    For example: missing is 'ignore'; expected 'refuse' or 'drop'.
    """


class NoSuchFileError(UsageError):
    """There is nothing to read: no such file, an empty folder, or a pattern that matches nothing.

    For example: there is no file peple.csv. Did you mean people.csv?
    """


class NotInstalledError(UsageError):
    """An optional package is needed, and the message says how to install it.

    For example: Arrow files need PyArrow; run: pip install 'baserate[arrow]'.
    """
