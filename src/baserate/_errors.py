"""What can go wrong, as a tree.

::

    BaserateError
    ├── DataError             the data cannot be used
    │   ├── EmptyData         no rows, or none with weight
    │   ├── BadShape          not one column of rows, or columns whose lengths or indexes differ
    │   ├── MissingValues     NaN, infinity, None
    │   ├── NotNumeric        text where numbers are needed, or numbers that float64 cannot hold
    │   ├── NotBinary         truth is not two classes, or the positive one is unknown
    │   ├── UnknownLabel      a class that is not among those named, or that has no score
    │   ├── BadWeights        negative, fractional where whole ones are needed
    │   ├── NotAProbability   outside [0, 1] where a probability is used as one
    │   ├── CannotFit         the data do not determine what is to be fitted
    │   └── BadFile           a file that is not of the form it claims
    ├── CannotMeet            requirements that no decision meets
    └── UsageError            the request cannot be met
        ├── UnknownName       no measure, table, column or rule of that name
        ├── BadOption         an option outside its domain
        ├── NoSuchFile        nothing to read there
        └── NotInstalled      an optional package is needed

All are `ValueError` too. Every message says what, where and how many, and ends with a remedy.
"""


class BaserateError(ValueError):
    """Anything that baserate refuses."""


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
