"""Files are written whole or not at all."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from baserate._errors import FileFormatError


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write next to the target, then rename: an existing file survives a failed run, and keeps its mode."""
    with draft_file(path) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def draft_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make an empty file next to the target, which takes its place once the body is through, or else is removed."""
    from secrets import token_hex  # slow to import, and rarely needed

    target = Path(path)
    draft = target.with_name(f".{target.name}.{token_hex(4)}")
    ours = True
    try:
        # Within, since an interrupt may come as soon as the file is there.
        try:
            draft.touch(exist_ok=False)
        except FileExistsError:
            ours = False
            raise
        yield draft
        if target.exists():
            draft.chmod(target.stat().st_mode)
        draft.replace(target)
    except BaseException:
        if ours:
            draft.unlink(missing_ok=True)
        raise


_JSON_WIDTH = 100
"""Longest line of a JSON file."""


def format_sealed_json(kind: str, version: int, content: dict[str, Any]) -> str:
    """Write content with its kind, its version and a seal: the SHA-256 of all of it."""
    form = {"kind": kind, "schema_version": version, **content}
    return _format_json(form | {"seal": _seal(form)}) + "\n"


def parse_sealed_json(text: str, kinds: Iterable[str], version: int, *, what: str) -> dict[str, Any]:
    """Read the text of `format_sealed_json`; refuse text that is broken, of another kind, newer, or changed."""
    try:
        form = json.loads(text)
    except ValueError as error:
        raise FileFormatError(
            f"not JSON: {error}. The file is broken or no {what}", remedy="write it again."
        ) from error
    known = tuple(kinds)
    if not isinstance(form, dict) or form.get("kind") not in known:
        raise FileFormatError(
            f'no {what}: its "kind" is not {" or ".join(map(repr, known))}', remedy="name a file that holds one."
        )
    schema = form.get("schema_version")
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
        raise FileFormatError(f"a {what} of an unknown schema version, {schema!r}", remedy="write it again.")
    if schema > version:
        raise FileFormatError(
            f"a {what} of schema version {schema}, but this release reads {version}", remedy="upgrade baserate."
        )
    seal = form.pop("seal", None)
    if seal != _seal(form):
        raise FileFormatError(
            f"the {what} was changed after it was written: its seal does not fit.",
            remedy="Make it anew instead of editing it, or get the original.",
        )
    return form


def _format_json(value: Any, margin: str = "") -> str:  # noqa: ANN401  (whatever JSON holds)
    """Format JSON for people: values that fit a line are on one line."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(margin) + len(line) <= _JSON_WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    inner = margin + " "
    if isinstance(value, list):
        begin, end, parts = "[", "]", [_format_json(each, inner) for each in value]
    else:
        named = ((json.dumps(name, ensure_ascii=False), each) for name, each in value.items())
        begin, end, parts = "{", "}", [f"{name}: {_format_json(each, inner)}" for name, each in named]
    return f"{begin}\n{inner}" + f",\n{inner}".join(parts) + f"\n{margin}{end}"


def _seal(form: dict[str, Any]) -> str:
    from hashlib import sha256  # slow to import, and not always needed

    return sha256(json.dumps(form, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
