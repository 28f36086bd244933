"""JSON files that know what they are, which release wrote them, and whether somebody changed them since."""

import json
from collections.abc import Iterable
from typing import Any

from baserate._errors import BadFile


def sealed_json(kind: str, version: int, content: dict[str, Any]) -> str:
    """Write content with its kind, its version and a seal: the SHA-256 of all of it."""
    form = {"kind": kind, "schema_version": version, **content}
    return json.dumps(form | {"seal": _seal(form)}, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def opened_json(text: str, kinds: Iterable[str], version: int, *, what: str) -> dict[str, Any]:
    """Read what `sealed_json` wrote; refuse what is broken, of another kind, newer, or changed."""
    try:
        form = json.loads(text)
    except ValueError as error:
        raise BadFile(f"not JSON: {error}. The file is broken or no {what}; write it again.") from error
    known = tuple(kinds)
    if not isinstance(form, dict) or form.get("kind") not in known:
        raise BadFile(f'no {what}: its "kind" is not {" or ".join(map(repr, known))}; name a file that holds one.')
    found = form.get("schema_version")
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise BadFile(f"a {what} of schema version {found!r}, which there is not; write it again.")
    if found > version:
        raise BadFile(f"a {what} of schema version {found}; this release reads {version}: upgrade baserate.")
    seal = form.pop("seal", None)
    if seal != _seal(form):
        raise BadFile(
            f"the {what} was changed after it was written: its seal does not fit. Make it anew instead of editing it, "
            "or get the original."
        )
    return form


def _seal(form: dict[str, Any]) -> str:
    from hashlib import sha256  # slow to import, and not always needed

    return sha256(json.dumps(form, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
