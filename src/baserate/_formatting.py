"""Numbers, counted nouns and lists as text for people, and text for terminals and Markdown."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise


def count_of(many: float, one: str, several: str | None = None, *, shown: str | None = None) -> str:
    """Write a number with its noun, in the singular after 1.

    The plural is the singular with an s, unless it is given; both may be longer phrases. `shown` is the number as text.

    >>> count_of(1, "row"), count_of(2, "row"), count_of(0, "class", "classes")
    ('1 row', '2 rows', '0 classes')
    >>> count_of(1, "row has a score", "rows have scores"), count_of(20000, "row", shown="20,000")
    ('1 row has a score', '20,000 rows')
    """
    noun = one if many == 1 else f"{one}s" if several is None else several
    return f"{many if shown is None else shown} {noun}"


def count_groups(many: int, attributes: Iterable[str]) -> str:
    """Write a number of groups with the attributes that define them.

    >>> count_groups(6, ["sex", "site"])
    '6 groups by sex, site'
    """
    return f"{count_of(many, 'group')} by {', '.join(attributes)}"


def there_are(many: float, one: str, several: str | None = None) -> str:
    """Write "there is" or "there are" with a number and its noun.

    >>> there_are(1, "label"), there_are(3, "label")
    ('there is 1 label', 'there are 3 labels')
    """
    return f"there {'is' if many == 1 else 'are'} {count_of(many, one, several)}"


ROUNDING_ERROR = 1e-12
"""Differences up to this one are rounding errors."""
UNDEFINED = "–"
SMALLEST_SHOWN = 0.0001
"""Smaller p-values are shown as "< 0.0001"; JSON and CSV contain them in full."""
_MOST_DECIMALS = 14
"""More decimals would show rounding errors."""
_LONG = 1e15
"""From here on, whole numbers are no longer shown in full."""
_MARKS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_number(value: float, digits: int) -> str:
    """Format a number with this many significant digits, or more if its integer part is longer.

    Commas separate thousands; exact 0 and 1 have no decimals, and so differ from rounded numbers.

    >>> [format_number(value, 4) for value in (0.5, 0.063404, 12.3456, 1234567.8, 0.00001234)]
    ['0.5000', '0.06340', '12.35', '1,234,568', '1.234e-05']
    >>> [format_number(value, 4) for value in (0, 0.99999, 1, float("-inf"))]
    ['0', '1.000', '1', '−∞']
    """
    if value in (0, 1) or math.isinf(value):
        return format_exact(value)
    # From the rounded text: 9.9996 with four digits is 10.00, whose exponent a logarithm would miss.
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    if -5 < exponent < 15:
        return f"{value:,.{max(digits - 1 - exponent, 0)}f}".replace("-", "−")
    return f"{value:.{digits - 1}e}".replace("-", "−", value < 0)  # the sign at most, not that of the exponent


def format_alike(numbers: Sequence[float], digits: int = 2) -> list[str]:
    """Format numbers with one number of decimals: as few as tell those apart that differ, but `digits` below 10.

    >>> format_alike([0.8532, 0.8411, 0.8654]), format_alike([0.8532, 0.851, 0.8549]), format_alike([-3.0, 0.5, 12.34])
    (['0.85', '0.84', '0.87'], ['0.853', '0.851', '0.855'], ['−3.0', '0.5', '12.3'])
    >>> format_alike([1234567.8, 1230000.0, float("inf")]), format_alike([0.3, 0.1 + 0.2]), format_alike([0.0])
    (['1,234,568', '1,230,000', '∞'], ['0.30', '0.30'], ['0.00'])
    >>> format_alike([2e-12, 1e-12])
    ['2.000e-12', '1.000e-12']
    """
    finite = [each for each in numbers if math.isfinite(each)]
    largest = max(map(abs, finite), default=0.0)
    # Numbers that differ by rounding errors alone need not be told apart.
    step = min((high - low for low, high in pairwise(sorted(finite)) if high - low > 1e-9 * largest), default=math.inf)
    plain = largest == 0 or SMALLEST_SHOWN <= largest < _LONG
    scale = 0 if plain else math.floor(math.log10(largest))
    fewest = max(digits - (len(f"{largest:.0f}") - 1), 0) if plain else digits + 1
    texts: list[str] = []
    for decimals in range(fewest, _MOST_DECIMALS + 1):
        texts = [_format_fixed(each, decimals, exponent=not plain) for each in numbers]
        # Numbers whose distance is a unit of the last digit, or more, never have one text.
        if step >= 10.0 ** (scale - decimals) or len(set(texts)) == len({*numbers}):
            break
    return texts


def _format_fixed(value: float, decimals: int, *, exponent: bool) -> str:
    """Format a number with this many decimals; one that rounds to zero has no sign."""
    if math.isinf(value):
        return format_exact(value)
    if exponent:
        return f"{value + 0.0:.{decimals}e}".replace("-", "−", value < 0)  # the sign at most, not that of the exponent
    return f"{round(value, decimals) + 0.0:,.{decimals}f}".replace("-", "−")


def format_interval(value: float, low: float, high: float, digits: int = 2) -> str:
    """Format a number with its confidence interval; without bounds, which are NaN then, the number alone.

    >>> format_interval(0.8532, 0.8411, 0.8654), format_interval(0.5, float("nan"), float("nan"))
    ('0.85 (0.84 to 0.87)', '0.50')
    """
    if math.isnan(low) or math.isnan(high):
        return format_alike([value], digits)[0]
    shown, least, most = format_alike([value, low, high], digits)
    return f"{shown} ({least} to {most})"


def round_fixed(value: float, decimals: int) -> str:
    """Format a number with this many decimals and commas between thousands; halves are rounded away from zero.

    This is `toFixed` of JavaScript, so that Python and the page of a report write a number alike.

    >>> round_fixed(12.5, 0), round_fixed(20000, 0), round_fixed(-0.25, 1), round_fixed(-0.01, 1)
    ('13', '20,000', '−0.3', '0.0')
    """
    from decimal import ROUND_HALF_UP, Context, Decimal  # not every command formats with it

    exact = Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=400))
    return f"{exact or abs(exact):,f}".replace("-", "−")


def round_significant(value: float, digits: int) -> str:
    """Format a number with at most this many significant digits, without trailing zeros, and infinities as ±∞.

    This is `String(Number(value.toPrecision(digits)))` of JavaScript, but for the minus sign.

    >>> [round_significant(value, 6) for value in (0.27, 0.1171875, -1234567.8, 2e-7, float("-inf"))]
    ['0.27', '0.117188', '−1234570', '2e-7', '−∞']
    """
    from decimal import ROUND_HALF_UP, Context, Decimal

    if math.isinf(value):
        return format_exact(value)
    exact = Decimal(value).normalize(Context(prec=digits, rounding=ROUND_HALF_UP)) + 0
    if 1e-6 <= abs(exact) < 1e21 or not exact:
        text = f"{exact:f}"
    else:  # as JavaScript writes exponents
        mantissa, _, exponent = f"{exact:e}".partition("e")
        text = f"{mantissa}e{'' if exponent.startswith('-') else '+'}{int(exponent)}"
    return text.replace("-", "−", value < 0)


_MOST_PERCENT_DECIMALS = 6


def format_percent(share: float, decimals: int = 1) -> str:
    """Format a share as a percentage; near 0% and 100%, with as many decimals as tell it from them.

    >>> format_percent(0.5779), format_percent(0.5), format_percent(1), format_percent(0.99987), format_percent(-0.051)
    ('57.8%', '50.0%', '100%', '99.99%', '−5.1%')
    >>> format_percent(0.123, 0), format_percent(0.998, 0), format_percent(1e-9), format_percent(float("nan"))
    ('12%', '99.8%', '< 0.000001%', '–')
    """
    if math.isnan(share):
        return UNDEFINED
    if share in (0, 1) or math.isinf(share):
        return f"{format_exact(100 * share)}%"
    for more in range(decimals, _MOST_PERCENT_DECIMALS + 1):
        text = round_fixed(100 * share, more)
        if not 0 < share < 1 or float(text) not in (0, 100):
            return f"{text}%"
    step = 10.0**-_MOST_PERCENT_DECIMALS
    beyond = f"< {step:.{_MOST_PERCENT_DECIMALS}f}" if share < 0.5 else f"> {100 - step:.{_MOST_PERCENT_DECIMALS}f}"
    return f"{beyond}%"


def format_share(share: float) -> str:
    """Format a share as a percentage, for a sentence.

    >>> format_share(0.05)
    '5%'
    """
    return f"{100 * share:.6g}%"


def format_p(p: float | None, digits: int = 2, *, is_bound: bool | None = False) -> str:
    """Format a p-value: tiny ones as "< 0.0001", upper bounds with their sign, missing ones as a dash.

    >>> [format_p(p) for p in (0.0123, 0.00012, 1.2e-15, 1.0, None)]
    ['0.012', '0.00012', '< 0.0001', '1', '–']
    >>> format_p(0.0002, is_bound=True), format_p(0.00005, is_bound=True)
    ('≤ 0.00020', '< 0.0001')
    """
    if p is None or math.isnan(p):
        return UNDEFINED
    if p < SMALLEST_SHOWN:
        return f"< {SMALLEST_SHOWN}"
    return f"{'≤ ' if is_bound else ''}{format_number(p, digits)}"


def format_p_phrase(p: float | None, digits: int = 2, *, is_bound: bool | None = False, name: str = "p") -> str:
    """Format a p-value with its name, as in a sentence.

    >>> format_p_phrase(0.0123), format_p_phrase(1e-9, name="Holm-adjusted p")
    ('p = 0.012', 'Holm-adjusted p < 0.0001')
    """
    shown = format_p(p, digits, is_bound=is_bound)
    return f"{name} {shown}" if shown[0] in "<≤" else f"{name} = {shown}"


def format_count(value: float, digits: int) -> str:
    """Format a count, whole where it is whole and not too long to read.

    >>> format_count(20000.0, 4), format_count(18.75, 4), format_count(1268.4, 4), format_count(1e300, 4)
    ('20,000', '18.75', '1,268', '1.000e+300')
    """
    whole = abs(value) < _LONG and value == int(value)
    return f"{value:,.0f}".replace("-", "−") if whole else format_number(value, digits)


def format_pace(rows: float, seconds: float) -> str:
    """Format a speed as rows per second.

    >>> format_pace(2_430_000, 2.0), format_pace(90_210, 4.0)
    ('1.2 million rows/s', '23,000 rows/s')
    """
    each = rows / seconds
    return f"{each / 1e6:.1f} million rows/s" if each >= 1e6 else f"{format_count(float(f'{each:.2g}'), 2)} rows/s"


def format_exact(value: float) -> str:
    """Format a threshold in full: a rounded one would flag other rows.

    >>> format_exact(0.5), format_exact(float("inf")), format_exact(-2.0), format_exact(0.1 + 0.2), format_exact(1e-7)
    ('0.5', '∞', '−2', '0.30000000000000004', '1e-07')
    """
    return str(float(value)).removesuffix(".0").replace("inf", "∞").replace("-", "−", value < 0)


def format_level(level: float) -> str:
    """Format a confidence level in full: 99.99999% is not 100%.

    >>> format_level(0.95), format_level(0.57), format_level(0.9999999)
    ('95', '57', '99.99999')
    """
    return f"{100 * level:.14g}"  # 14 digits: 100 · 0.57 is 56.99999999999999


def unadjusted_note(level: float) -> str:
    """Return the note that intervals beside adjusted p-values are not adjusted themselves.

    >>> unadjusted_note(0.95)
    '95% confidence intervals are not adjusted for multiplicity.'
    """
    return f"{format_level(level)}% confidence intervals are not adjusted for multiplicity."


def footnote_mark(which: int) -> str:
    """Return the mark of a footnote by its number.

    >>> footnote_mark(12)
    '¹²'
    """
    return str(which).translate(_MARKS)


_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
_STYLE = re.compile(r"\x1b\[[0-9;]+m")
_SPECIAL = re.compile(r"([\\`*_|<>\[\]])")


def replace_unprintable(text: str) -> str:
    r"""Replace characters that could control a terminal by �; no-break spaces stay.

    >>> replace_unprintable("a\x1b[2Jb")
    'a�[2Jb'
    """
    return "".join(letter if letter.isprintable() or letter == _NO_BREAK_SPACE else "�" for letter in text)


_ABBREVIATIONS = frozenset(
    {
        *(
            "auc",
            "cap",
            "dcg",
            "ece",
            "ecce",
            "f1",
            "fdr",
            "fnr",
            "fpr",
            "ici",
            "idi",
            "ks",
            "lrap",
            "mad",
            "mce",
            "mcc",
        ),
        *("ndcg", "nir", "nnd", "nnm", "npv", "nri", "ppv", "pr", "rmsce", "roc", "rps", "sedi", "tnr", "tpr"),
    }
)
_PROPER_NAMES = {
    **{
        name: name.capitalize()
        for name in ("brier", "cox", "gini", "jaccard", "lorenz", "nagelkerke", "theil", "youden")
    },
    **{name: name.capitalize() for name in ("borko", "emax", "e50", "e90", "spiegelhalter", "hosmer", "lemeshow")},
    "r2": "R²",
}


def format_name(name: str) -> str:
    """Write the name of a measure in words, abbreviations in capitals.

    >>> format_name("average_precision"), format_name("pr_auc"), format_name("brier_skill"), format_name("f_beta")
    ('average precision', 'PR AUC', 'Brier skill', 'F beta')
    >>> format_name("observed_expected"), format_name("e_measure")
    ('observed/expected', 'E measure')
    >>> format_name("hand_till_weighted"), format_name("theil_index"), format_name("nagelkerke_r2")
    ('Hand–Till weighted', 'Theil index', 'Nagelkerke R²')
    """
    if name == "observed_expected":
        return "observed/expected"
    name = name.replace("hand_till", "Hand–Till").replace("fowlkes_mallows", "Fowlkes–Mallows")
    words = name.split("_")
    if words[0] in {"e", "f", "g"}:  # a letter is a symbol
        words[0] = words[0].upper()
    return " ".join(word.upper() if word in _ABBREVIATIONS else _PROPER_NAMES.get(word, word) for word in words)


def escape_markdown(text: str) -> str:
    r"""Escape characters that have a meaning in Markdown.

    >>> print(escape_markdown("a|b_c"))
    a\|b\_c
    """
    return _SPECIAL.sub(r"\\\1", text)


def join_words(parts: Iterable[str]) -> str:
    """Join words with commas and a final "and".

    >>> join_words(["one", "two", "three"]), join_words(["one", "two"])
    ('one, two and three', 'one and two')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def bold(text: str) -> str:
    r"""Mark text as bold for a terminal, without spaces at its end; `strip_styles` removes the marks.

    >>> bold("a ")
    '\x1b[1ma\x1b[0m'
    """
    return f"\x1b[1m{text.rstrip()}\x1b[0m"


def faint(text: str) -> str:
    r"""Mark text as faint for a terminal, without spaces at its end; `strip_styles` removes the marks.

    >>> faint("a ")
    '\x1b[2ma\x1b[0m'
    """
    return f"\x1b[2m{text.rstrip()}\x1b[0m"


def red(text: str) -> str:
    r"""Mark text as red and bold for a terminal; `strip_styles` removes the marks.

    >>> red("!!")
    '\x1b[1;31m!!\x1b[0m'
    """
    return f"\x1b[1;31m{text}\x1b[0m"


def amber(text: str) -> str:
    r"""Mark text as amber, which terminals call yellow, and bold; `strip_styles` removes the marks.

    >>> amber("!")
    '\x1b[1;33m!\x1b[0m'
    """
    return f"\x1b[1;33m{text}\x1b[0m"


def strip_styles(text: str) -> str:
    r"""Remove the marks of bold, faint and colored text.

    >>> strip_styles(bold("a") + " b")
    'a b'
    """
    return _STYLE.sub("", text)
