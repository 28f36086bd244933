"""Lots without dice: a number for each record that its id and a key decide, the same on every machine and in any batch.

A lot is the first 13 hexadecimal digits of SHA-256 of the UTF-8 text `key:id`, a whole number below 2⁵²: u = lot / 2⁵²
is uniform on [0, 1), and exact as a float.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
import numpy.typing as npt

from baserate._errors import MissingValuesError, OptionError

Lots = npt.NDArray[np.uint64]

DIGITS = 13
"""Hexadecimal digits of a lot."""
RANGE = 1 << 4 * DIGITS
"""Lots are below this."""
_UNUSED = np.uint64(64 - 4 * DIGITS)


def text_of_id(given: object) -> str:
    """Write an id as it is hashed: whole numbers in decimal, text unchanged; anything else is refused.

    >>> text_of_id(7), text_of_id("007")
    ('7', '007')
    """
    if given is None:
        raise MissingValuesError("an id is missing, so no lot can be drawn; give every row one.")
    if isinstance(given, str):
        return str(given)
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        return str(int(given))
    raise OptionError(
        f"an id is {given!r}, of type {type(given).__name__}; ids are whole numbers or text, since others are written "
        "in more than one way."
    )


def lot(key: str, text: str) -> int:
    """Draw the lot of one id, given as text.

    >>> lot("key", "7")
    2324648756100697
    """
    return int(lots(key, [text])[0])


def lots(key: str, texts: Sequence[str]) -> Lots:
    """Draw the lot of each id, given as text."""
    from hashlib import sha256  # slow to import, and rarely needed

    begin = sha256(f"{key}:".encode())

    def digest(text: str) -> bytes:
        hashed = begin.copy()  # what all have in common is hashed once, which saves a quarter of the time
        hashed.update(text.encode())
        return hashed.digest()

    try:
        digests = b"".join(map(digest, texts))
    except UnicodeEncodeError as error:
        raise OptionError(f"the id {error.object!r} is no text that UTF-8 can hold; mend it.") from error
    return np.frombuffer(digests, dtype=">u8")[::4].astype(np.uint64) >> _UNUSED


def edge(chance: float) -> int:
    """First lot whose u is not below the chance: u < chance exactly when lot < edge.

    >>> edge(0.5) == RANGE // 2
    True
    """
    return ceil(chance * RANGE)
