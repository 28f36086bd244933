"""Modules of JavaScript -> one script: each in a scope of its own, in the order in which they need each other."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import dirname, join, normpath

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) (\w+)", re.MULTILINE)
_NOTE = re.compile(r"^ */\*\*(?:(?!\*/)[\s\S])*\*/\n|^ *// .*\n", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def inlined(entry: str, read: Callable[[str], str]) -> str:
    """Return one script that does what the module `entry` does; `read` gives the text of a module by its path.

    Modules name what they import, and export functions, constants and classes: all else is an error. What they are
    told of themselves, in comments, stays behind.

    >>> modules = {"main.js": 'import { one } from "./a.js";', "a.js": "export const one = 1;"}
    >>> print(inlined("main.js", lambda path: modules[path] + chr(10)), end="")
    const $a = (() => {
    const one = 1;
    return { one };
    })();
    const { one } = $a;
    """
    scripts: dict[str, str] = {}
    _add(entry, read, scripts, ())
    return "".join(scripts.values())


def _add(path: str, read: Callable[[str], str], scripts: dict[str, str], above: tuple[str, ...]) -> None:
    """Add a module after those that it needs."""
    if path in above:
        raise ValueError(f"{path} needs itself, through {' and '.join(above)}; move what both need into a third.")
    text = _NOTE.sub("", read(path))
    for _, other in _IMPORT.findall(text):
        if _place(path, other) not in scripts:
            _add(_place(path, other), read, scripts, (*above, path))
    names = [name for _, name in _EXPORT.findall(text)]
    body = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_scope(_place(path, found[2]))};\n", text)
    body = _EXPORT.sub(r"\1 \2", body)
    if strange := _LEFT.search(body):
        raise ValueError(f"{path} has {strange[0]!r}, which cannot be inlined; name what is imported or exported.")
    inner = f"const {_scope(path)} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"
    scripts[path] = inner if above else body


def _place(path: str, other: str) -> str:
    return normpath(join(dirname(path), other))


def _scope(path: str) -> str:
    """Name of what a module exports.

    >>> _scope("panels/roc.js")
    '$panels_roc'
    """
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))
