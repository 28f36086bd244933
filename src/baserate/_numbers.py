"""Numbers as a person reads them."""

import math

NOTHING = 1e-12
"""A difference below it is nothing but rounding."""
UNDEFINED = "–"
_LONG = 1e15
"""From here on, whole numbers are no longer shown in full."""
_MARKS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int) -> str:
    """Show so many significant digits, but never cut whole ones; thousands stand apart, exact 0 and 1 bare.

    >>> [number(value, 4) for value in (0.5, 0.063404, 12.3456, 1234567.8, 0.00001234, 0, 0.99999, 1, float("-inf"))]
    ['0.5000', '0.06340', '12.35', '1 234 568', '1.234e-05', '0', '1.000', '1', '−∞']
    """
    if value in (0, 1) or math.isinf(value):
        return plain(value)
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    if -5 < exponent < 15:
        return f"{value:,.{max(digits - 1 - exponent, 0)}f}".replace(",", " ").replace("-", "−")
    return f"{value:.{digits - 1}e}".replace("-", "−", value < 0)


def amount(value: float, digits: int) -> str:
    """Show a count, whole where it is whole and not too long to read.

    >>> amount(20000.0, 4), amount(18.75, 4), amount(1268.4, 4), amount(1e300, 4)
    ('20 000', '18.75', '1 268', '1.000e+300')
    """
    whole = abs(value) < _LONG and value == int(value)
    return f"{value:,.0f}".replace(",", " ").replace("-", "−") if whole else number(value, digits)


def pace(rows: float, seconds: float) -> str:
    """Tell how many rows a second, in words.

    >>> pace(2_430_000, 2.0), pace(90_210, 4.0)
    ('1.2 million rows/s', '23 000 rows/s')
    """
    each = rows / seconds
    return f"{each / 1e6:.1f} million rows/s" if each >= 1e6 else f"{amount(float(f'{each:.2g}'), 2)} rows/s"


def plain(value: float) -> str:
    """Show a threshold in full: rounded, it would flag others.

    >>> plain(0.5), plain(float("inf")), plain(-2.0), plain(0.1 + 0.2), plain(1e-7)
    ('0.5', '∞', '−2', '0.30000000000000004', '1e-07')
    """
    return str(float(value)).removesuffix(".0").replace("inf", "∞").replace("-", "−", value < 0)


def percent(level: float) -> str:
    """Show a confidence level in full: 99.99999 % are not 100 %.

    >>> percent(0.95), percent(0.57), percent(0.9999999)
    ('95', '57', '99.99999')
    """
    return f"{100 * level:.14g}"  # without the trace that a product leaves


def mark(which: int) -> str:
    """Sign of a footnote.

    >>> mark(12)
    '¹²'
    """
    return str(which).translate(_MARKS)
