"""Scripts of the page: modules in one text, without comments and white space.

Nothing is renamed, so that a reader of a page can format the script and read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import dirname, join, normpath
from string import ascii_letters, digits
from typing import NamedTuple

from baserate._errors import FileFormatError

_IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.{1,2}/[\w./-]+\.js)";[ \t]*\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) ([A-Za-z_$][\w$]*)", re.MULTILINE)
_UNSUPPORTED = re.compile(r"^\s*(?:import|export)\b.*|^.*\bimport\s*\(.*", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*(?:(?!\*/)[\s\S])*\*/)
    |(?P<space>\s+)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<word>[\w$]+(?:\.[\w$]+)*)
    |(?P<template>`)
    |(?P<sign>\+\+|--|[^\w$\s"'`/+\-{}\]),]+|[\s\S])""",
    re.VERBOSE,
)
_REGULAR_EXPRESSION = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_VALUES = {"return", "typeof", "case", "in", "of", "void", "throw", "await", "else", "do"}
"""Words after which a slash begins a regular expression; after other words and closing brackets it divides."""
_LETTERS = frozenset(f"{ascii_letters}{digits}_$")
_BEFORE_DIVISION = _LETTERS | set(")]}`\"'")
_STYLE_COMMENT = re.compile(r"/\*(?:(?!\*/)[\s\S])*\*/")


class _Module(NamedTuple):
    script: str
    """Text that takes imports from other scopes, without the word export."""
    exports: tuple[str, ...]


def inline_scripts(read: Callable[[str], str], entry: str) -> str:
    r"""Return JavaScript modules as one script, each after those that it imports, in a scope of its own.

    Comments and white space are left out. `read` returns the text of a file.

    >>> files = {"main.js": 'import { one } from "./a.js";\none();\n', "a.js": "// One.\nexport const one = () => 1;\n"}
    >>> print(inline_scripts(files.__getitem__, "main.js"), end="")
    const $a=(()=>{const one=()=>1;return{one};})();
    const{one}=$a;one();
    """
    modules: dict[str, _Module] = {}
    _load_module(read, entry, modules, ())
    *others, (_, main) = modules.items()
    scopes = (
        f"const {_scope_name(name)} = (() => {{\n{module.script}return {{ {', '.join(module.exports)} }};\n}})();\n"
        for name, module in others
    )
    return "".join(f"{compact_script(each)}\n" for each in (*scopes, main.script))


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
    text = "".join(text for kind, text in _tokens(read(name)) if kind != "comment")
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


def compact_script(text: str) -> str:
    r"""Return a script without comments, and without white space that separates no words.

    Statements end with semicolons, which Prettier ensures, so that line breaks have no meaning.

    >>> compact_script("const a = [\n  1, // one\n  2,\n];\nreturn `${a[0] + +a[1]} / ${ a }` + / +/.source;")
    'const a=[1,2];return`${a[0]+ +a[1]} / ${a}`+/ +/.source;'
    """
    parts = [""]
    for kind, token in _tokens(text):
        if kind in ("space", "comment"):
            continue
        if token in ("]", "}", ")") and parts[-1] == "," and parts[-2] not in (",", "["):
            parts.pop()
        if _needs_space(parts[-1], token):
            parts.append(" ")
        parts.append(token if kind != "template" else _compact_template(token))
    return "".join(parts)


def compact_style(text: str) -> str:
    r"""Return a style sheet without comments, line breaks and indentation.

    >>> compact_style("/* Colors */\n.a { color: red; }\n@media print {\n  .b { top: 0; }\n}\n")
    '.a{color:red}@media print{.b{top:0}}'
    """
    plain = re.sub(r"\s+", " ", _STYLE_COMMENT.sub("", text))
    return re.sub(r";?\s*([{};])\s*", r"\1", plain).replace(": ", ":").strip()


def _needs_space(before: str, token: str) -> bool:
    """Return whether two tokens would become another one without white space between them."""
    last, first = before[-1:], token[0]
    return (last in _LETTERS and first in _LETTERS) or (first in "+-/" and last == first)


def _compact_template(template: str) -> str:
    """Return a template literal with its expressions compacted, and its text as it is."""
    parts: list[str] = []
    at = 0
    while (start := _find_expression(template, at)) >= 0:
        end = _expression_end(template, start)
        parts += [template[at:start], compact_script(template[start:end])]
        at = end
    return "".join([*parts, template[at:]])


def _find_expression(text: str, at: int) -> int:
    """Return where the next expression of a template literal begins; −1 where there is none before its end."""
    match = re.compile(r"(?:[^\\`$]|\\[\s\S]|\$(?!\{))*").match(text, at + (at == 0))
    end = match.end() if match else at
    return end + 2 if text.startswith("${", end) else -1


def _expression_end(text: str, at: int) -> int:
    """Return where the expression of a template literal that begins at a place ends: at its closing brace."""
    depth = 0
    for _, part in _tokens(text, at):
        if part == "}" and depth == 0:
            return at
        depth += {"{": 1, "}": -1}.get(part, 0)
        at += len(part)
    raise FileFormatError("a template literal has no end.", remedy="Close it.")


def _template_end(text: str, at: int) -> int:
    """Return where a template literal that begins at a place ends."""
    part = at
    while (start := _find_expression(text[at:], part - at)) >= 0:
        part = _expression_end(text, at + start)
    match = re.compile(r"(?:[^\\`]|\\[\s\S])*`").match(text, part + (part == at))
    if match is None:
        raise FileFormatError("a template literal has no end.", remedy="Close it.")
    return match.end()


def _tokens(text: str, at: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each token of a script: a template literal is one token."""
    before = ""
    while match := _TOKEN.match(text, at):
        kind, end = str(match.lastgroup), match.end()
        if kind == "template":
            end = _template_end(text, at)
        elif match[0] == "/" and (before in _BEFORE_VALUES or before[-1:] not in _BEFORE_DIVISION):
            regular = _REGULAR_EXPRESSION.match(text, at)
            kind, end = ("string", regular.end()) if regular else (kind, end)
        token = text[at:end]
        yield kind, token
        before = before if kind in ("space", "comment") else token
        at = end
