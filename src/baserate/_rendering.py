"""Objects that people read: `print` shows them as text, notebooks as HTML.

`baserate.text` describes each type as a page, from which both are made. It is a later layer that imports the types, so
that it is loaded by name, and only when an object is shown.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, ClassVar

from baserate._formatting import count_of
from baserate._lazy import load_object, unknown_member

_WIDTH = 100
"""Characters of a line where no terminal limits them."""


class Renderable:
    """Base of classes that notebooks show as HTML."""

    __slots__ = ()
    _page_function: ClassVar[str] = "baserate.text:object_page"
    """Module and function that describe an object as a page."""

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: without scripts, links and styles of its own, and with all labels escaped."""
        html: str = load_object(self._page_function)(self).html()
        return html

    if not TYPE_CHECKING:  # or type checkers would accept every name

        def __getattr__(self, name):  # noqa: ANN001, ANN204
            raise unknown_member(self, name)


class Printable(Renderable):
    """Base of classes that `print` shows as a text of several lines."""

    __slots__ = ()

    def text(self, width: int | None = None, *, explain: bool = False) -> str:
        """Return the object as plain text.

        Parameters
        ----------
        width
            Characters of the longest line; by default the width of the terminal.
        explain
            Whether to show definitions of numbers and methods of intervals.
        """
        page = load_object(self._page_function)(self)
        text: str = page.plain_text(terminal_width() if width is None else width, explain=explain)
        return text

    def __str__(self) -> str:
        return self.text().rstrip("\n")


def terminal_width() -> int:
    """Return the number of characters in a line of the terminal, or 100 where there is none."""
    return max(get_terminal_size((_WIDTH, 24)).columns, 40)


_LONGEST = 48
"""Characters of a value within a short representation."""
_LONGEST_NUMBER = len("0.123456")


def short_repr(value: Any) -> str:  # noqa: ANN401  (any dataclass)
    """Represent a dataclass in one line: fields that differ from their defaults, long values by their size.

    Classes take it as `__repr__`, since the representation of arrays fills pages.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Fit:
    ...     name: str
    ...     slope: float
    ...     levels: tuple[float, ...] = ()
    ...     seed: int = 0
    >>> short_repr(Fit("a", 0.123456789, (0.1,) * 30)), short_repr(Fit("b", 2.0, seed=1))
    ("Fit(name='a', slope=0.123457, levels=<30 items>)", "Fit(name='b', slope=2.0, seed=1)")
    """
    shown = []
    for field in fields(value):
        content = getattr(value, field.name)
        if field.repr and not _is_default(content, field):
            shown.append(f"{field.name}={_short_value(content)}")
    return f"{type(value).__name__}({', '.join(shown)})"


def _is_default(content: object, field: Any) -> bool:  # noqa: ANN401  (a field of a dataclass)
    default = field.default if field.default_factory is MISSING else field.default_factory()
    # Arrays have no single truth, and are never defaults.
    return type(content) is type(default) and not hasattr(content, "dtype") and bool(content == default)


def _short_value(content: Any) -> str:  # noqa: ANN401  (content of any field)
    """Represent the content of a field."""
    if hasattr(content, "dtype") and content.shape:
        return f"<{' × '.join(map(str, content.shape))} numbers>"
    if isinstance(content, float):
        exact = repr(float(content))
        return exact if len(exact) <= _LONGEST_NUMBER else f"{content:.6g}"
    if isinstance(content, str):
        return repr(content if len(content) <= _LONGEST else f"{content[: _LONGEST - 1]}…")
    if isinstance(content, (Mapping, tuple, list)):
        text = _short_items(content)
        return text if len(text) <= _LONGEST else f"<{count_of(len(content), 'item')}>"
    function = content.func if isinstance(content, partial) else content
    text = str(getattr(function, "__name__", None) or repr(function))
    return text if len(text) <= 2 * _LONGEST and "\n" not in text else f"{type(content).__name__}(…)"


def _short_items(content: Any) -> str:  # noqa: ANN401  (a mapping or sequence)
    """Represent the items of a container."""
    if isinstance(content, Mapping):
        return f"{{{', '.join(f'{key!r}: {_short_value(each)}' for key, each in content.items())}}}"
    items = ", ".join(map(_short_value, content))
    if isinstance(content, list):
        return f"[{items}]"
    return f"({items},)" if len(content) == 1 else f"({items})"
