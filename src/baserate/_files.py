"""JSON files of baserate: an envelope of kind, schema version and seal; and files written whole or not at all.

A seal is the SHA-256 of everything else in the file, so that a file that was cut short or edited is refused.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, Self

from baserate._errors import FileFormatError, NoSuchFileError, advice

FileSource = str | os.PathLike[str] | IO[str] | IO[bytes]
"""Path of a file, or an open file."""


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write next to the target, then rename: an existing file survives a failed run, and keeps its mode."""
    with draft_file(path) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def draft_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make an empty file next to the target, which replaces the target after the body, or is removed if it fails."""
    from secrets import token_hex  # slow to import, and rarely needed

    # In the same folder, since renaming is atomic only within one file system.
    target = Path(path)
    draft = target.with_name(f".{target.name}.{token_hex(4)}")
    ours = True
    try:
        # Created within `try`: an interrupt may come as soon as the file exists.
        try:
            draft.touch(exist_ok=False)
        except FileExistsError:
            ours = False  # another process made it, and its file must not be removed
            raise
        yield draft
        if target.exists():
            draft.chmod(target.stat().st_mode)
        draft.replace(target)
    except BaseException:
        if ours:
            draft.unlink(missing_ok=True)
        raise


def read_text(source: FileSource, noun: str) -> str:
    """Read a text file by its path, or one that is open; the noun names its expected content in messages."""
    try:
        if isinstance(source, (str, os.PathLike)):
            return Path(source).read_text(encoding="utf-8")
        content = source.read()
        return content if isinstance(content, str) else content.decode("utf-8")
    except FileNotFoundError as error:
        raise NoSuchFileError(f"there is no file {source}.", remedy="Check the path.", where=str(source)) from error
    except UnicodeDecodeError as error:
        name = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", "the file")
        raise FileFormatError(f"{name} is not text, so no {noun}", remedy="name a file that holds one.") from error


class FileKind(NamedTuple):
    """Kind of JSON file that `save` writes and `load` reads."""

    kind: str
    """Its field "kind"."""
    noun: str
    loader: str
    """What loads it, as a name of `baserate`."""
    version: int = 1
    """The newest schema version."""
    sealed: bool = False
    indent: int | None = None
    """Indentation of files without a seal; None for a single line."""


CALIBRATOR = FileKind("baserate/map", "calibrator", "load_calibrator", sealed=True)
MULTICLASS_CALIBRATOR = FileKind("baserate/class-map", "multiclass calibrator", "load_calibrator", sealed=True)
POLICY = FileKind("baserate/policy", "policy", "load_policy", sealed=True)
PLAN = FileKind("baserate/plan", "plan", "Plan.load", indent=1)
REPORT = FileKind("baserate/report", "report", "Report.load")
MULTICLASS_REPORT = FileKind("baserate/class-report", "multiclass report", "MulticlassReport.load")
TALLY = FileKind("baserate/tally", "tally", "Tally.load")
FILE_KINDS = (CALIBRATOR, MULTICLASS_CALIBRATOR, POLICY, PLAN, REPORT, MULTICLASS_REPORT, TALLY)
_KIND = re.compile(r'"kind":\s*"({})"'.format("|".join(each.kind for each in FILE_KINDS)))


class JsonFile:
    """Base of classes with files that `to_json` writes and `from_json` reads."""

    __slots__ = ()
    file_kind: ClassVar[FileKind]

    def to_json(self) -> str:
        """Return versioned JSON that restores every number exactly."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the JSON of `to_json`, checking its form."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, as JSON."""
        write_text(path, self.to_json())

    @classmethod
    def load(cls, source: FileSource) -> Self:
        """Read a file that `save` wrote, in this release or an earlier one."""
        return cls.from_json(read_text(source, cls.file_kind.noun))


class SealedFile(JsonFile):
    """Files with a seal; objects are pickled as such files, too."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        # Pickled as its file, so that loading checks the content, and arrays are read-only again.
        return type(self).from_json, (self.to_json(),)


def format_file(kind: FileKind, content: dict[str, Any]) -> str:
    """Write content in the envelope of its kind."""
    form = {"kind": kind.kind, "schema_version": kind.version, **content}
    if kind.sealed:
        return _format_json(form | {"seal": _seal(form)}) + "\n"
    return json.dumps(form, ensure_ascii=False, indent=kind.indent) + "\n" * (kind.indent is not None)


def parse_file(text: str, *kinds: FileKind) -> dict[str, Any]:
    """Return the content of a text in the envelope of one of some kinds; refuse any other text.

    A text is refused that is broken, of another kind, of a later schema version, or changed after it was sealed.
    """
    noun = kinds[0].noun
    try:
        form = json.loads(text)
    except ValueError as error:
        raise FileFormatError(
            f"not JSON: {error}. The file is broken or no {noun}", remedy="write it again."
        ) from error
    by_name = {each.kind: each for each in kinds}
    if not isinstance(form, dict) or form.get("kind") not in by_name:
        if isinstance(form, dict):
            _refuse_other_kind(form.get("kind"), noun)
        raise FileFormatError(
            f'not a {noun}: its "kind" is not {" or ".join(map(repr, by_name))}', remedy="name a file that holds one."
        )
    kind = by_name[form.pop("kind")]
    version = form.pop("schema_version", None)
    _check_version(version, kind)
    if kind.sealed and form.pop("seal", None) != _seal({"kind": kind.kind, "schema_version": version, **form}):
        raise FileFormatError(
            f"the {noun} was changed after it was written: its seal does not fit.",
            remedy="Make it anew instead of editing it, or get the original.",
        )
    return form


def _refuse_other_kind(name: object, noun: str) -> None:
    """Refuse a file of another kind of ours, and name what loads it."""
    other = next((each for each in FILE_KINDS if each.kind == name), None)
    if other is not None:
        raise FileFormatError(
            f"this is a {other.noun}, not a {noun}",
            remedy=advice("other file", f"use baserate.{other.loader}, or name a file that holds a {noun}.", noun),
        )


def find_file_kind(text: str) -> FileKind | None:
    """Return the kind of a file from its text, even if the file is broken; None for any other text."""
    match = _KIND.search(text)
    return next(each for each in FILE_KINDS if each.kind == match[1]) if match else None


def _check_version(version: object, kind: FileKind) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:  # True == 1 in Python
        raise FileFormatError(f"a {kind.noun} of an unknown schema version, {version!r}", remedy="write it again.")
    if version > kind.version:
        raise FileFormatError(
            f"a {kind.noun} of schema version {version}, but this release reads {kind.version}",
            remedy="upgrade baserate.",
        )


_JSON_WIDTH = 100
"""Longest line of a sealed file."""


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

    # Of the parsed values with sorted keys: a file that was only reformatted keeps its seal.
    return sha256(json.dumps(form, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
