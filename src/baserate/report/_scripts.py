"""Scripts of the page: modules in one text without comments; and compression of what a page contains."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from collections.abc import Callable
from posixpath import dirname, join, normpath
from typing import NamedTuple

from baserate._errors import FileFormatError

_IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.{1,2}/[\w./-]+\.js)";[ \t]*\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) ([A-Za-z_$][\w$]*)", re.MULTILINE)
_UNSUPPORTED = re.compile(r"^\s*(?:import|export)\b.*|^.*\bimport\s*\(.*", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/)[\s\S])*\*/|//.*)[ \t]*\n|/\*\* @type [^*\n]*\*/ ?", re.MULTILINE)
"""A comment on lines of its own, or a type: elsewhere a string may look like a comment."""


class _Module(NamedTuple):
    script: str
    """Text that takes imports from other scopes, without the word export."""
    exports: tuple[str, ...]


def inline_scripts(read: Callable[[str], str], entry: str) -> str:
    r"""Return JavaScript modules as one script, each after those that it imports, in a scope of its own.

    Comments are left out. `read` returns the text of a file.

    >>> files = {"main.js": 'import { one } from "./a.js";\none();\n', "a.js": "// One.\nexport const one = () => 1;\n"}
    >>> print(inline_scripts(files.__getitem__, "main.js"), end="")
    const $a = (() => {
    const one = () => 1;
    return { one };
    })();
    const { one } = $a;
    one();
    """
    modules: dict[str, _Module] = {}
    _load_module(read, entry, modules, ())
    *others, (_, main) = modules.items()
    scopes = (
        f"const {_scope_name(name)} = (() => {{\n{module.script}return {{ {', '.join(module.exports)} }};\n}})();\n"
        for name, module in others
    )
    return "".join([*scopes, main.script])


def compress_text(text: str) -> str:
    """Return a text as `loader.js` decompresses it: gzip in Base64, whose letters have no meaning in HTML.

    >>> from base64 import b64decode
    >>> gzip.decompress(b64decode(compress_text("one();"))).decode()
    'one();'
    """
    # Without a time, so that equal texts give equal results.
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _load_module(
    read: Callable[[str], str], name: str, modules: dict[str, _Module], importers: tuple[str, ...]
) -> None:
    """Load a module after those that it imports."""
    if name in importers:
        raise FileFormatError(
            f"{' imports '.join([*importers[importers.index(name) :], name])}: circular import.",
            remedy="Move the shared code to a third module.",
        )
    if name in modules:
        return
    text = _COMMENT.sub("", read(name))
    text = text if text.endswith("\n") else f"{text}\n"
    for names, file in _IMPORT.findall(text):
        other = _resolve_path(name, file)
        _load_module(read, other, modules, (*importers, name))
        for each in _imported_names(name, names):
            if each not in modules[other].exports:
                raise FileFormatError(
                    f"{name} imports {each} from {other}, which does not export it.", remedy="Export it."
                )
    modules[name] = _module(name, text)


def _module(name: str, text: str) -> _Module:
    """Return a module with its imports replaced and its exports listed."""
    script = _IMPORT.sub(lambda match: f"const {{{match[1]}}} = {_scope_name(_resolve_path(name, match[2]))};\n", text)
    exports = tuple(match[2] for match in _EXPORT.finditer(script))
    script = _EXPORT.sub(r"\1 \2", script)
    if match := _UNSUPPORTED.search(script):
        statement = match[0].strip()
        raise FileFormatError(
            f"{name} contains the statement {statement!r}, which cannot be inlined.",
            remedy='Write import { a } from "./b.js"; or export function, const or class.',
        )
    return _Module(script, exports)


def _imported_names(name: str, names: str) -> list[str]:
    """Return the names of an import; renaming ("a as b") is not supported."""
    several = [each.strip() for each in names.split(",") if each.strip()]
    renamed = [each for each in several if not _NAME.fullmatch(each)]
    if renamed:
        raise FileFormatError(f"{name} imports {renamed[0]!r}.", remedy="Import without renaming: { a, b }.")
    return several


def _resolve_path(name: str, file: str) -> str:
    """Return the path of an imported module, relative to the folder of the page."""
    return normpath(join(dirname(name), file))


def _scope_name(name: str) -> str:
    """Return the name of the constant that holds the exports of a module.

    >>> _scope_name("panels/roc.js")
    '$panels_roc'
    """
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))
