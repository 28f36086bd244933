"""Files of a tally: versioned, checked, readable by later releases, and written whole or not at all."""

import contextlib
import gc
import io
import itertools
import json
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from baserate import Calibrator, Cut, FileFormatError, Policy, Tally, _files, load_calibrator, load_policy, tally
from baserate._calibrator_forms import LogOdds
from baserate._files import FileSource
from tests.schemas import ValidationError, check_schema

OLD = Path(__file__).parent / "old"

PLAIN = tally([1, 0, 0], [0.9, 0.1, 0.1])
WEIGHTED = tally([1, 0, 0], [0.9, 0.1, 0.1], weight=[0.5, 1, 2])
KINDS = [PLAIN, WEIGHTED, PLAIN.round_scores(0.5), Tally.sum([])]


@pytest.mark.parametrize("kept", KINDS, ids=["plain", "weighted", "rounded", "empty"])
def test_saved_files_fit_the_schema_and_load(kept: Tally, tmp_path: Path) -> None:
    path = tmp_path / "tally.json"
    kept.save(path)
    check_schema(json.loads(path.read_text(encoding="utf-8")), "tally")
    assert Tally.load(path).digest == kept.digest
    assert Tally.load(path).weighted == kept.weighted
    assert [p.name for p in tmp_path.iterdir()] == ["tally.json"]


@pytest.mark.parametrize("path", sorted(OLD.glob("tally-*.json")), ids=lambda path: path.stem)
def test_files_of_past_releases_stay_readable(path: Path) -> None:
    wanted = json.loads((OLD / f"{path.stem}.digest").read_text(encoding="utf-8"))
    read = Tally.load(path)
    assert (read.digest, read.total, read.weighted) == (wanted["digest"], wanted["total"], wanted["weighted"])


def change_fields(**changes: object) -> str:
    return json.dumps(json.loads(WEIGHTED.to_json()) | changes)


def drop_field(name: str) -> str:
    return json.dumps({key: value for key, value in json.loads(WEIGHTED.to_json()).items() if key != name})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[1, 2]", '"kind" is not'),
        (change_fields(kind="something else"), '"kind" is not'),
        (change_fields(schema_version=2), "schema version 2, but this release reads 1; upgrade"),
        (drop_field("rows"), "with the fields"),
        (drop_field("squares"), "with the fields"),
        (change_fields(extra=1), "with the fields"),
        (change_fields(resolution=-1), "null or a number above 0"),
        (change_fields(resolution="fine"), "null or a number above 0"),
        (change_fields(score=[0.1, 0.9]), "distinct and decreasing"),
        (change_fields(score="high"), "score holds something else than numbers"),
        (change_fields(score=["0.9", "0.1"]), "score holds something else than numbers"),
        (change_fields(rows=[1, 0, 0, 2]), "rows has shape"),
        (change_fields(rows=[[True, False], [False, True]]), "rows holds something else than numbers"),
        (change_fields(schema_version=True), "unknown schema version, True"),
        (change_fields(resolution=True), "null or a number above 0"),
        (change_fields(rows=[[1], [2]]), "rows has shape"),
        (change_fields(rows=[[1, 0], [2]]), "not a tally"),
        (change_fields(rows=[[0.5, 0], [0, 2]]), "fractions"),
        (change_fields(mass=[[-0.5, 0], [0, 3]]), "negative"),
    ],
)
def test_files_that_are_no_tally_raise(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        Tally.from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        change_fields(kind="x"),
        change_fields(schema_version=2),
        change_fields(schema_version=True),
        change_fields(resolution=0),
        change_fields(resolution=True),
        change_fields(score=["0.9", "0.1"]),
        change_fields(rows=[1, 0, 0, 2]),
        change_fields(rows=[[1, 0]]),
        change_fields(rows=[[0.5, 0], [0, 2]]),
        change_fields(mass=[[-1, 0], [0, 3]]),
        change_fields(extra=1),
        drop_field("score"),
        drop_field("squares"),
    ],
)
def test_files_that_violate_the_schema_raise(text: str) -> None:
    with pytest.raises(ValidationError):
        check_schema(json.loads(text), "tally")
    with pytest.raises(FileFormatError):
        Tally.from_json(text)


def test_failed_writes_keep_the_existing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tally.json"
    PLAIN.save(path)
    before = path.read_bytes()

    def raise_disk_full(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", raise_disk_full)
    with pytest.raises(OSError, match="full"):
        WEIGHTED.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["tally.json"]


def test_an_interrupt_at_any_point_leaves_no_draft(tmp_path: Path) -> None:
    """Ctrl-C can come before every single instruction, also right after the draft was made."""
    for at in itertools.count():
        folder = tmp_path / str(at)
        folder.mkdir()
        interrupted = _interrupt_write_at(folder / "t.txt", at)
        if not {path.name for path in folder.iterdir()} <= {"t.txt"}:
            gc.collect()  # a context that was never entered ends with its generator
        assert {path.name for path in folder.iterdir()} <= {"t.txt"}, f"before instruction {at}"
        if not interrupted:
            break
    assert at > 50
    assert (folder / "t.txt").read_text() == "whole"


def _interrupt_write_at(path: Path, instruction: int) -> bool:
    """Write a file with an interrupt before one instruction; return whether there were that many instructions."""
    countdown = itertools.count(instruction, -1)

    def trace(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401  (itself)
        if frame.f_code.co_filename not in {_files.__file__, contextlib.__file__}:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and next(countdown) == 0:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with _files.draft_file(path) as draft:
            draft.write_text("whole")
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_drafts_of_other_processes_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0")
    other = tmp_path / ".t.txt.0"
    other.write_text("another's")
    with pytest.raises(FileExistsError), _files.draft_file(tmp_path / "t.txt"):
        pass
    assert other.read_text() == "another's"


LOADERS = {"a calibrator": load_calibrator, "a policy": load_policy}


@pytest.mark.parametrize("wanted", LOADERS)
@pytest.mark.parametrize("contained", LOADERS)
def test_loaders_refuse_each_others_files_by_name(wanted: str, contained: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    saved = {
        "a calibrator": Calibrator(LogOdds(1.0, 1.0, -0.5), "offset"),
        "a policy": Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"),
    }
    saved[contained].save(path)
    if wanted == contained:
        assert repr(LOADERS[wanted](path)) == repr(saved[contained])
        return
    other = LOADERS[contained].__name__
    with pytest.raises(FileFormatError, match=rf"this is {contained}, not {wanted}; use baserate\.{other}, or name"):
        LOADERS[wanted](path)


@pytest.mark.parametrize("loader", LOADERS.values())
def test_loaders_take_paths_and_open_files_alike(loader: Callable[[FileSource], object], tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    if loader is load_policy:
        Policy(by_group={(): Cut((0.5,))}, otherwise="refuse").save(path)
    else:
        Calibrator(LogOdds(1.0, 1.0, -0.5), "offset").save(path)
    expected = repr(loader(path))
    assert repr(loader(str(path))) == expected
    with path.open(encoding="utf-8") as text, path.open("rb") as content:
        assert repr(loader(text)) == repr(loader(content)) == expected
    with pytest.raises(FileFormatError, match="the file is not text"):
        loader(io.BytesIO(b"\xff\xfe"))
