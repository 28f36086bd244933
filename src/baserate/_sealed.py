"""JSON files that know what they are, which release wrote them, and whether somebody changed them since."""

import json
from collections.abc import Iterable
from typing import Any

from baserate._errors import FileFormatError

_WIDTH = 100
"""So long may a line be."""


def sealed_json(kind: str, version: int, content: dict[str, Any]) -> str:
    """Write content with its kind, its version and a seal: the SHA-256 of all of it."""
    form = {"kind": kind, "schema_version": version, **content}
    return _laid_out(form | {"seal": _seal(form)}) + "\n"


def opened_json(text: str, kinds: Iterable[str], version: int, *, what: str) -> dict[str, Any]:
    """Read what `sealed_json` wrote; refuse what is broken, of another kind, newer, or changed."""
    try:
        form = json.loads(text)
    except ValueError as error:
        raise FileFormatError(f"not JSON: {error}. The file is broken or no {what}; write it again.") from error
    known = tuple(kinds)
    if not isinstance(form, dict) or form.get("kind") not in known:
        raise FileFormatError(
            f'no {what}: its "kind" is not {" or ".join(map(repr, known))}; name a file that holds one.'
        )
    found = form.get("schema_version")
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise FileFormatError(f"a {what} of schema version {found!r}, which there is not; write it again.")
    if found > version:
        raise FileFormatError(f"a {what} of schema version {found}; this release reads {version}: upgrade baserate.")
    seal = form.pop("seal", None)
    if seal != _seal(form):
        raise FileFormatError(
            f"the {what} was changed after it was written: its seal does not fit. Make it anew instead of editing it, "
            "or get the original."
        )
    return form


def _laid_out(value: Any, margin: str = "") -> str:  # noqa: ANN401  (whatever JSON holds)
    """JSON that people can read: what fits a line stands in one."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(margin) + len(line) <= _WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    inner = margin + " "
    if isinstance(value, list):
        begin, end, parts = "[", "]", [_laid_out(each, inner) for each in value]
    else:
        named = ((json.dumps(name, ensure_ascii=False), each) for name, each in value.items())
        begin, end, parts = "{", "}", [f"{name}: {_laid_out(each, inner)}" for name, each in named]
    return f"{begin}\n{inner}" + f",\n{inner}".join(parts) + f"\n{margin}{end}"


def _seal(form: dict[str, Any]) -> str:
    from hashlib import sha256  # slow to import, and not always needed

    return sha256(json.dumps(form, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
