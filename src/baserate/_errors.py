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
        ├── OptionError           an option outside its domain
        ├── NoSuchFileError       nothing to read there
        └── NotInstalledError     an optional package is needed

All are `ValueError` too. Every message says what, where and how many, and ends with a remedy.

Messages mention options by `keyword` and steps by `advice`, so that each interface can spell them in its own way:
Python as
`positive='sick'`, the shell as `--positive sick`.
"""

from collections.abc import Callable, Iterable, Mapping

# Characters of Unicode's private use area, which no message holds otherwise.
_OPTION, _ADVICE, _END = "\ue000", "\ue001", "\ue002"


def keyword(name: str, *value: object) -> str:
    """Mention an option in a message, with a value if there is one.

    >>> str(OptionError(f"there are no groups; read them with {keyword('group')}."))
    'there are no groups; read them with group=.'
    >>> str(OptionError(f"name the positive class: {keyword('positive', 'ill')}."))
    "name the positive class: positive='ill'."
    """
    return f"{_OPTION}{name}={repr(value[0]) if value else ''}{_END}"


def advice(topic: str, text: str) -> str:
    """Mention a step that another interface may word otherwise, under a topic by which it finds its own words."""
    return f"{_ADVICE}{topic}={text}{_END}"


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
    from difflib import get_close_matches  # slow to import, and rarely needed

    near = dict.fromkeys(map(spell, get_close_matches(name, list(known), n=most, cutoff=cutoff)))
    return f"Did you mean {' or '.join(near)}?" if near else ""


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
        Name of the option that is outside its domain, and its value.
    """

    def __init__(
        self, what: str = "", *, remedy: str = "", where: str = "", option: str = "", value: object = None
    ) -> None:
        super().__init__(what)
        self.what, self.remedy, self.where, self.option, self.value = what, remedy, where, option, value

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
            Words of that interface for topics of `advice`.
        """
        # A sentence that ends needs a blank before the remedy, a clause a semicolon.
        between = "" if not self.remedy else " " if self.what.endswith((".", "?")) else "; "
        text, _, rest = f"{self.what}{between}{self.remedy}".partition(_OPTION)
        parts = [text]
        while rest:
            mark, _, rest = rest.partition(_END)
            name, _, value = mark.partition("=")
            text, _, rest = rest.partition(_OPTION)
            parts += [spell(name, value), text]
        return _word_advice("".join(parts), wordings or {})


def _word_advice(text: str, wordings: Mapping[str, str]) -> str:
    before, mark, rest = text.partition(_ADVICE)
    if not mark:
        return text
    inner, _, after = rest.partition(_END)
    topic, _, words = inner.partition("=")
    return before + wordings.get(topic, words) + _word_advice(after, wordings)


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
    with missing="drop".
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

    For example: 1 of 4 values of w are negative; a row counts for zero or more. Set them to 0 to leave those
    rows out.
    """


class NotAProbabilityError(DataError):
    """A score outside [0, 1] where it is used as a probability.

    For example: 3 rows have scores outside [0, 1] (from -2 to 3), so the scores are not probabilities. Rank
    measures take any score; to use this one, calibrate the scores first.
    """


class FitError(DataError):
    """The data do not determine what is to be fitted.

    For example: a threshold between 0.4 and 0.6 parts the classes, so that no slope is too steep; fit isotonic, or
    logistic with smoothed=True.
    """


class FileFormatError(DataError):
    """A file that is not of the form it claims.

    For example: line 3 of people.csv has 3 columns where the header has 2 ('0,0.4,7'); mend that line.
    """


class InfeasibleError(BaserateError):
    """Requirements that no decision meets, and the nearest that can be met.

    For example: no threshold has sensitivity >= 0.9 and specificity >= 0.9: with specificity >= 0.9, sensitivity is
    0.666667 at most, at 0.8; with sensitivity >= 0.9, specificity is 0.571429 at most, at 0.45. Ask for less of one
    of them.
    """


class UsageError(BaserateError):
    """The request cannot be met."""


class UnknownNameError(UsageError):
    """No measure, table, column or rule of that name.

    For example: there is no column 'sik'. Did you mean 'sick'? There are: 'sick', 'risk', 'site'.
    """


class OptionError(UsageError):
    """An option outside its domain.

    For example: missing is 'ignore'; it is 'refuse' or 'drop'.
    """


class NoSuchFileError(UsageError):
    """There is nothing to read: no such file, an empty folder, or a pattern that matches nothing.

    For example: there is no file peple.csv. Did you mean people.csv?
    """


class NotInstalledError(UsageError):
    """An optional package is needed, and the message says how to install it.

    For example: Arrow files need PyArrow; run: pip install 'baserate[arrow]'.
    """
