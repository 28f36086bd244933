"""Modules of JavaScript -> one script: each in a scope of its own, behind those that it needs; nothing is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import dirname, join, normpath
from typing import NamedTuple

from baserate._errors import FileFormatError

_IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.{1,2}/[\w./-]+\.js)";[ \t]*\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) ([A-Za-z_$][\w$]*)", re.MULTILINE)
_STRANGE = re.compile(r"^\s*(?:import|export)\b.*|^.*\bimport\s*\(.*", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/)[\s\S])*\*/|//.*)[ \t]*\n|/\*\* @type [^*\n]*\*/ ?", re.MULTILINE)
"""One that has its lines to itself, or tells a type: others may be text that looks like one."""
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


class _Module(NamedTuple):
    script: str
    """With what it imports taken from other scopes, and without the word export."""
    exports: tuple[str, ...]


def inlined(read: Callable[[str], str], entry: str) -> str:
    r"""Put modules into one script, each behind those that it imports; `read` gives the text of a file.

    What is private to a module stays so. What it is told of itself, in comments, is left out.

    >>> files = {"main.js": 'import { one } from "./a.js";\none();\n', "a.js": "// One.\nexport const one = () => 1;\n"}
    >>> print(inlined(files.__getitem__, "main.js"), end="")
    const $a = (() => {
    const one = () => 1;
    return { one };
    })();
    const { one } = $a;
    one();
    """
    done: dict[str, _Module] = {}
    _follow(read, entry, done, ())
    *others, (_, main) = done.items()
    scopes = (
        f"const {_scope(name)} = (() => {{\n{module.script}return {{ {', '.join(module.exports)} }};\n}})();\n"
        for name, module in others
    )
    return "".join([*scopes, main.script])


def _follow(read: Callable[[str], str], name: str, done: dict[str, _Module], above: tuple[str, ...]) -> None:
    """Read a module behind those that it imports."""
    if name in above:
        raise FileFormatError(
            f"{' imports '.join([*above[above.index(name) :], name])}: a circle; move what both need."
        )
    if name in done:
        return
    text = _COMMENT.sub("", read(name))
    text = text if text.endswith("\n") else f"{text}\n"
    for names, file in _IMPORT.findall(text):
        other = _place(name, file)
        _follow(read, other, done, (*above, name))
        for each in _listed(name, names):
            if each not in done[other].exports:
                raise FileFormatError(f"{name} imports {each} from {other}, which does not export it; export it there.")
    done[name] = _module(name, text)


def _module(name: str, text: str) -> _Module:
    script = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_scope(_place(name, found[2]))};\n", text)
    exports = tuple(found[2] for found in _EXPORT.finditer(script))
    script = _EXPORT.sub(r"\1 \2", script)
    if strange := _STRANGE.search(script):
        told = strange[0].strip()
        raise FileFormatError(
            f'{name} has {told!r}; write import {{ a }} from "./b.js"; or export function, const or class.'
        )
    return _Module(script, exports)


def _listed(name: str, names: str) -> list[str]:
    """Names between braces, none of which may be given another."""
    several = [each.strip() for each in names.split(",") if each.strip()]
    renamed = [each for each in several if not _NAME.fullmatch(each)]
    if renamed:
        raise FileFormatError(f"{name} imports {renamed[0]!r}; import names as they are: {{ a, b }}.")
    return several


def _place(name: str, file: str) -> str:
    return normpath(join(dirname(name), file))


def _scope(name: str) -> str:
    """What holds the names that a module exports.

    >>> _scope("panels/roc.js")
    '$panels_roc'
    """
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))
