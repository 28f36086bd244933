"""Counted nouns: 1 row, 2 rows."""


def count_of(many: float, one: str, several: str | None = None, *, shown: str | None = None) -> str:
    """Write a number with its noun, in the singular after 1.

    The plural is the singular with an s, unless it is given; both may be longer phrases. `shown` is the number as text.

    >>> count_of(1, "row"), count_of(2, "row"), count_of(0, "class", "classes")
    ('1 row', '2 rows', '0 classes')
    >>> count_of(1, "row has a score", "rows have scores"), count_of(20000, "row", shown="20 000")
    ('1 row has a score', '20 000 rows')
    """
    noun = one if many == 1 else f"{one}s" if several is None else several
    return f"{many if shown is None else shown} {noun}"


def there_are(many: float, one: str, several: str | None = None) -> str:
    """Say how many there are.

    >>> there_are(1, "label"), there_are(3, "label")
    ('there is 1 label', 'there are 3 labels')
    """
    return f"there {'is' if many == 1 else 'are'} {count_of(many, one, several)}"
