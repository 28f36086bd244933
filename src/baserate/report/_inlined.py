"""Modules of JavaScript -> one script: no file is fetched, and nothing is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import dirname, join, normpath
from typing import NamedTuple

from baserate._errors import BadFile

_IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.{1,2}/[\w./-]+\.js)";[ \t]*\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
_DEFINED = re.compile(
    r"^(export )?(?:(?:async )?function\*? ?|class |(?:const|let) )"
    r"([A-Za-z_$][\w$]*(?![\w$]|\s*,)|\[[\w$, ]+\]|\{[\w$, ]+\})",
    re.MULTILINE,
)
"""A name, or several in brackets, as they are."""
_BEGUN = re.compile(r"^(?:export )?(?:(?:async )?function|const|let|var|class)\b", re.MULTILINE)
_STRANGE = re.compile(r"^\s*(?:import|export)\b.*|^.*\bimport\s*\(.*", re.MULTILINE)
_COMMENT = re.compile(r"/\*[\s\S]*?\*/|//.*")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


class _Module(NamedTuple):
    text: str
    """Without imports, and without the word export."""
    imports: dict[str, list[str]]
    """File -> names."""
    defines: list[str]
    exports: set[str]


def inlined(read: Callable[[str], str], entry: str) -> str:
    r"""Put modules into one, each behind those that it imports; `read` gives the text of a file.

    >>> files = {"main.js": 'import { one } from "./a.js";\none();\n', "a.js": "export const one = () => 1;\n"}
    >>> print(inlined(files.__getitem__, "main.js"), end="")
    const one = () => 1;
    one();
    """
    done: dict[str, _Module] = {}
    _follow(read, entry, done, ())
    home: dict[str, str] = {}
    for name, module in done.items():
        for defined in module.defines:
            if defined in home:
                raise BadFile(f"{defined} is defined in {home[defined]} and in {name}; give one of them another name.")
            home[defined] = name
        for file, names in module.imports.items():
            missing = [each for each in names if each not in done[file].exports]
            if missing:
                raise BadFile(f"{name} imports {missing[0]} from {file}, which does not export it; export it there.")
    return "".join(module.text if module.text.endswith("\n") else f"{module.text}\n" for module in done.values())


def _follow(read: Callable[[str], str], name: str, done: dict[str, _Module], above: tuple[str, ...]) -> None:
    """Parse a module behind those that it imports."""
    if name in above:
        raise BadFile(f"{' imports '.join([*above[above.index(name) :], name])}: a circle; move what both need.")
    if name in done:
        return
    module = _parsed(name, read(name))
    for file in module.imports:
        _follow(read, file, done, (*above, name))
    done[name] = module


def _parsed(name: str, text: str) -> _Module:
    imports: dict[str, list[str]] = {}
    for names, file in _IMPORT.findall(text):
        several = [each.strip() for each in names.split(",") if each.strip()]
        renamed = [each for each in several if not _NAME.fullmatch(each)]
        if renamed:
            raise BadFile(f"{name} imports {renamed[0]!r}; import names as they are: {{ a, b }}.")
        imports.setdefault(normpath(join(dirname(name), file)), []).extend(several)
    rest = _IMPORT.sub("", text)
    defined = _DEFINED.findall(rest)
    if len(defined) != len(_BEGUN.findall(rest)):
        raise BadFile(f"{name} defines something at its top in a way that is not known; write const a = …; for each.")
    bare = _EXPORT.sub("", rest)
    if strange := _STRANGE.search(_COMMENT.sub("", bare)):
        told = strange[0].strip()
        raise BadFile(f'{name} has {told!r}; write import {{ a }} from "./b.js"; or export function, const or class.')
    own = [(name, exported) for exported, names in defined for name in _NAME.findall(names)]
    return _Module(bare, imports, [name for name, _ in own], {name for name, exported in own if exported})
