"""Objects that people read: `print` shows them as text, notebooks as HTML.

`baserate.text` describes each type as a page, from which both are made. It is a later layer that imports the types, so
that it is loaded by name, and only when an object is shown.
"""

from shutil import get_terminal_size
from typing import ClassVar

from baserate._lazy import load_object

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


class Printable(Renderable):
    """Base of classes that `print` shows as a text of several lines."""

    __slots__ = ()

    def text(self, width: int | None = None) -> str:
        """Return the object as plain text.

        Parameters
        ----------
        width
            Characters of the longest line; by default the width of the terminal.
        """
        page = load_object(self._page_function)(self)
        text: str = page.plain_text(terminal_width() if width is None else width)
        return text

    def __str__(self) -> str:
        return self.text().rstrip("\n")


def terminal_width() -> int:
    """Return the number of characters in a line of the terminal, or 100 where there is none."""
    return max(get_terminal_size((_WIDTH, 24)).columns, 40)
