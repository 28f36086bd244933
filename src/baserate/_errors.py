"""What can go wrong, as a tree.

::

    BaserateError
    ├── DataError             the data cannot be used
    │   ├── EmptyData         no rows, or none with weight
    │   ├── BadShape          not one column of rows, or columns of different lengths
    │   ├── MissingValues     NaN, infinity, None
    │   ├── NotNumeric        text where numbers are needed, or numbers that float64 cannot hold
    │   ├── NotBinary         truth is not two classes, or the positive one is unknown
    │   ├── BadWeights        negative, fractional where whole ones are needed
    │   ├── NotAProbability   outside [0, 1] where a probability is used as one
    │   └── BadFile           a file that is not of the form it claims
    └── UsageError            the request cannot be met
        ├── UnknownName       no measure, table, column or rule of that name
        ├── BadOption         an option outside its domain
        ├── NoSuchFile        nothing to read there
        └── NotInstalled      an optional package is needed

Both branches are `ValueError` too. Every message says what, where and how many, and ends with a remedy.
"""


class BaserateError(ValueError):
    """Anything that baserate refuses."""


class DataError(BaserateError):
    """The data cannot be used."""


class EmptyData(DataError):
    """There are no rows, or none with weight."""


class BadShape(DataError):
    """Not one column of rows, or columns of different lengths."""


class MissingValues(DataError):
    """NaN, infinity or None where a value is needed."""


class NotNumeric(DataError):
    """Text where numbers are needed, or numbers that a float64 cannot hold exactly."""


class NotBinary(DataError):
    """Truth is not two classes, or which one is positive is unknown."""


class BadWeights(DataError):
    """Weights that are negative, or counts that are not whole."""


class NotAProbability(DataError):
    """A score outside [0, 1] where it is used as a probability."""


class BadFile(DataError):
    """A file that is not of the form it claims."""


class UsageError(BaserateError):
    """The request cannot be met."""


class UnknownName(UsageError):
    """No measure, table, column or rule of that name."""


class BadOption(UsageError):
    """An option outside its domain."""


class NoSuchFile(UsageError):
    """There is nothing to read: no such file, an empty folder, or a pattern that matches nothing."""


class NotInstalled(UsageError):
    """An optional package is needed, and the message says how to install it."""
