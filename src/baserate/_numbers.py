"""Numbers as a person reads them."""

import math

NOTHING = 1e-12
"""A difference below it is nothing but rounding."""
UNDEFINED = "–"
SMALLEST_SHOWN = 0.0001
"""Smaller p-values say no more to a person: they are shown as "< 0.0001", and JSON and CSV hold them in full."""
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


def format_p(p: float | None, digits: int = 2, *, is_bound: bool | None = False) -> str:
    """Show a p-value: tiny ones as "< 0.0001", upper bounds with their sign, missing ones as a dash.

    >>> [format_p(p) for p in (0.0123, 0.00012, 1.2e-15, 1.0, None)]
    ['0.012', '0.00012', '< 0.0001', '1', '–']
    >>> format_p(0.0002, is_bound=True), format_p(0.00005, is_bound=True)
    ('≤ 0.00020', '< 0.0001')
    """
    if p is None or math.isnan(p):
        return UNDEFINED
    if p < SMALLEST_SHOWN:
        return f"< {SMALLEST_SHOWN}"
    return f"{'≤ ' if is_bound else ''}{number(p, digits)}"


def format_p_phrase(p: float | None, digits: int = 2, *, is_bound: bool | None = False, name: str = "p") -> str:
    """Show a p-value with its name, as in a sentence.

    >>> format_p_phrase(0.0123), format_p_phrase(1e-9, name="Holm-adjusted p")
    ('p = 0.012', 'Holm-adjusted p < 0.0001')
    """
    shown = format_p(p, digits, is_bound=is_bound)
    return f"{name} {shown}" if shown[0] in "<≤" else f"{name} = {shown}"


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


def unadjusted(level: float) -> str:
    """Say that intervals beside adjusted p-values are not adjusted themselves.

    >>> unadjusted(0.95)
    '95 % confidence intervals are not adjusted for multiplicity.'
    """
    return f"{percent(level)} % confidence intervals are not adjusted for multiplicity."


def mark(which: int) -> str:
    """Sign of a footnote.

    >>> mark(12)
    '¹²'
    """
    return str(which).translate(_MARKS)
