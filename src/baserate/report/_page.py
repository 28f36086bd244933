"""Report -> a page: one text of HTML that fetches nothing, and that the browser lets do no more than it must."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib import resources

from baserate._errors import FileFormatError, OptionError
from baserate._version import __version__
from baserate.report._inlined import inlined
from baserate.report._payload import payload
from baserate.report._report import Report

_HOLE = re.compile(r"\{\{(\w+)\}\}")
_LONGEST = 80
"""Letters of a title."""
_MARKUP = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_ENDS = re.compile(r"</(?:script|style)|<!--", re.IGNORECASE)
"""What ends a script or a style, or begins a comment, wherever it stands in it."""


def html(report: Report) -> str:
    """Return the page of a report; the same bytes for the same report.

    >>> import baserate
    >>> text = html(baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    >>> text.startswith("<!doctype html>"), "http://" in text.split("<body>")[0]
    (True, False)
    """
    if len(report.sketches) != len(report.models):
        raise OptionError(
            "this report holds no curves: it comes from a file of an earlier release. Run its plan again: "
            "baserate.run(report.plan), or `baserate report --plan plan.json -o report.html`."
        )
    style, script = _inert("style.css", _asset("style.css")), _inert("main.js", inlined(_asset, "main.js"))
    parts = {
        "policy": _policy(script, style),
        "version": escape(__version__),
        "title": escape(title(report)),
        "style": style,
        "payload": _embedded(report),
        "script": script,
    }
    # In one go: what stands in a part is never taken for a hole.
    return _HOLE.sub(lambda hole: parts[hole[1]], _asset("index.html"))


def framed(report: Report) -> str:
    """Return the page in a frame that keeps it from all else in a notebook, and is there after it was exported."""
    return (
        f'<iframe sandbox="allow-scripts allow-downloads" allow="clipboard-write" srcdoc="{escape(html(report))}" '
        f'title="{escape(title(report))}" style="border: 0" width="100%" height="900" loading="lazy"></iframe>'
    )


def title(report: Report) -> str:
    """Name the models that the page is about; a long name is cut."""
    told = f"{', '.join(report.models)}: a report of baserate"
    short = told if len(told) <= _LONGEST else f"{told[: _LONGEST - 1]}…"
    return short.encode("utf-8", "replace").decode("utf-8")


def _asset(name: str) -> str:
    return resources.files("baserate.report").joinpath("page", name).read_text(encoding="utf-8")


def _inert(name: str, text: str) -> str:
    """See that HTML would not end a script or a style in its middle."""
    if found := _ENDS.search(text):
        raise FileFormatError(f"{name} holds {found[0]!r}, at which HTML would end it; write it in two parts.")
    return text


def _policy(script: str, style: str) -> str:
    """What the page may do: run this script, show this style, and nothing else."""
    allowed = {"script-src": script, "style-src": style}
    hashes = [f"{what} 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for what, text in allowed.items()]
    return "; ".join(["default-src 'none'", *hashes, "base-uri 'none'", "form-action 'none'"])


def _embedded(report: Report) -> str:
    """The payload as JSON of ASCII letters, without any that mean something to HTML."""
    text = json.dumps(payload(report), allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&]", lambda found: _MARKUP[found[0]], text)
