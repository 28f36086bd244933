"""Calibrators applied to files: rows, columns and formats are kept, and failures leave nothing behind."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from baserate import (
    BaserateError,
    FileFormatError,
    MissingValuesError,
    NoSuchFileError,
    NotAProbabilityError,
    NotNumericError,
    OptionError,
    UnknownNameError,
    apply,
)
from baserate._calibrator import shift_log_odds
from baserate._calibrator_forms import Form
from tests.apply.forms import (
    CLASS_FORMS,
    CLOSE,
    FORMS,
    LABELS,
    binary_calibrator,
    edges,
    forms,
    multiclass_calibrator,
    scores,
)
from tests.apply.tables import read, write
from tests.tiers import some, take_in_tiers

MAP = binary_calibrator(FORMS["rarer"])
CSV = 'who,risk,note\n007,0.50,"a, b"\n08,1e-1,\n9,.25,"say ""x"""\n'
WANTED = MAP([0.5, 0.1, 0.25]).tolist()


def read_column(path: Path, name: str = "risk_calibrated") -> list[float]:
    return [float(row[name]) for row in read(path)]


def test_text_stays_unchanged(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(CSV)
    assert apply.file(MAP, tmp_path / "in.csv", tmp_path / "out.csv").rows == 3
    given, result = (list(csv.reader(io.StringIO((tmp_path / name).read_text()))) for name in ("in.csv", "out.csv"))
    assert [row[:3] for row in result] == given
    assert result[0][3:] == ["risk_calibrated"]
    assert read_column(tmp_path / "out.csv") == WANTED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    "name", ["out.csv", "out.tsv", "out.parquet", "out.jsonl", "out.ndjson", "out.json", "out.csv.gz", "out.tsv.gz"]
)
@pytest.mark.parametrize(
    "source",
    take_in_tiers(
        ["in.csv", "in.tsv", "in.csv.gz", "in.parquet", "in.jsonl", "in.arrow"], {"in.csv", "in.parquet"}.__contains__
    ),
)
def test_every_format_to_every_other(source: str, name: str, tmp_path: Path) -> None:
    table = pa.table({"who": ["007", "08", None], "risk": [0.5, 0.1, 0.25], "n": [1, 2, 3]})
    write(table, tmp_path / source)
    assert apply.file(MAP, tmp_path / source, tmp_path / name).rows == 3
    rows = read(tmp_path / name)
    assert list(rows[0]) == ["who", "risk", "n", "risk_calibrated"]
    assert [row["who"] or None for row in rows] == ["007", "08", None]
    assert [float(row["risk"]) for row in rows] == [0.5, 0.1, 0.25]
    assert [int(row["n"]) for row in rows] == [1, 2, 3]
    assert read_column(tmp_path / name) == WANTED


def test_column_types_are_kept(tmp_path: Path) -> None:
    table = pa.table(
        {"at": pa.array([1, 2], pa.timestamp("us")), "risk": pa.array([0.5, 0.1], pa.float32()), "l": [[1], []]}
    )
    write(table, tmp_path / "in.parquet")
    apply.file(MAP, tmp_path / "in.parquet", tmp_path / "out.parquet")
    result = pq.read_table(tmp_path / "out.parquet")
    assert result.select(table.column_names).to_pydict() == table.to_pydict()
    assert result.schema.field("risk").type == pa.float32()
    assert result["risk_calibrated"].to_pylist() == MAP(np.array([0.5, 0.1], dtype=np.float32)).tolist()


def test_json_values_stay_unchanged(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"risk": 0.5, "deep": {"a": [1, "x"]}, "t": True},
        {"risk": "0.1", "late": "3", "t": None},
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    apply.file(MAP, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    first, second = read(tmp_path / "out.jsonl")
    assert first == {**rows[0], "late": None, "risk_calibrated": WANTED[0]}
    assert second == {**rows[1], "deep": None, "risk_calibrated": WANTED[1]}


@pytest.mark.quick(2)
@pytest.mark.parametrize("form", take_in_tiers(FORMS, some(FORMS, 3)))
def test_forms_agree_in_files(form: str, tmp_path: Path) -> None:
    x = edges(FORMS[form])
    pq.write_table(pa.table({"risk": x}), tmp_path / "in.parquet")
    apply.file(binary_calibrator(FORMS[form]), tmp_path / "in.parquet", tmp_path / "out.parquet")
    np.testing.assert_allclose(read_column(tmp_path / "out.parquet"), binary_calibrator(FORMS[form])(x), **CLOSE)


@pytest.mark.slow
@given(forms, scores)
@settings(max_examples=20, deadline=None)
def test_random_forms_agree_in_files(tmp_path_factory: pytest.TempPathFactory, form: Form, given: list[float]) -> None:
    folder, x = tmp_path_factory.mktemp("any"), np.concatenate([given, edges(form)])
    (folder / "in.csv").write_text("risk\n" + "".join(f"{each!r}\n" for each in x.tolist()))
    apply.file(binary_calibrator(form), folder / "in.csv", folder / "out.csv")
    np.testing.assert_allclose(read_column(folder / "out.csv"), binary_calibrator(form)(x), **CLOSE)


@pytest.mark.parametrize("form", CLASS_FORMS)
def test_several_classes_have_a_column_each(form: str, tmp_path: Path) -> None:
    p = np.random.default_rng(3).dirichlet([1, 1, 1], 20)
    pq.write_table(pa.table({f"p_{label}": p[:, at] for at, label in enumerate(LABELS)}), tmp_path / "in.parquet")
    apply.file(multiclass_calibrator(CLASS_FORMS[form]), tmp_path / "in.parquet", tmp_path / "out.parquet")
    result = np.array([list(row.values())[3:] for row in read(tmp_path / "out.parquet")])
    np.testing.assert_allclose(result, multiclass_calibrator(CLASS_FORMS[form])(p), **CLOSE)


def test_bounds_are_two_more_columns(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(CSV)
    between = binary_calibrator(FORMS["between"])
    apply.file(between, tmp_path / "in.csv", tmp_path / "out.csv", name="p", bounds=True)
    low, high = between.bounds([0.5, 0.1, 0.25])
    assert read_column(tmp_path / "out.csv", "p_low") == low.tolist()
    assert read_column(tmp_path / "out.csv", "p_high") == high.tolist()


@pytest.mark.slow
def test_many_rows_keep_their_order(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random(400_000)
    pq.write_table(pa.table({"at": np.arange(len(x)), "risk": x}), tmp_path / "in.parquet", row_group_size=30_000)
    knots = binary_calibrator(FORMS["many knots"])
    assert apply.file(knots, tmp_path / "in.parquet", tmp_path / "out.parquet").rows == len(x)
    result = pq.read_table(tmp_path / "out.parquet")
    assert np.array_equal(result["at"].to_numpy(), np.arange(len(x)))
    assert np.array_equal(result["risk"].to_numpy(), x)
    assert np.array_equal(result["risk_calibrated"].to_numpy(), knots(x))


@pytest.mark.parametrize("source", ["part-*.csv", ".", ["part-1.csv", "part-2.csv"]])
def test_patterns_folders_and_lists(source: str | list[str], tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "part-1.csv").write_text("risk\n0.5\n0.1\n")
    (folder / "part-2.csv").write_text("risk\n0.25\n")
    sources: Any = [folder / each for each in source] if isinstance(source, list) else str(folder / source)
    assert apply.file(MAP, sources, tmp_path / "out.csv").rows == 3
    assert read_column(tmp_path / "out.csv") == WANTED


def test_unnamed_and_duplicate_columns(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(',a,a,"A,b",Risk,risk\n0,x,y,z,,0.5\n')
    apply.file(MAP, tmp_path / "in.csv", tmp_path / "out.csv")
    assert list(csv.reader((tmp_path / "out.csv").read_text().splitlines())) == [
        ["", "a", "a", "A,b", "Risk", "risk", "risk_calibrated"],
        ["0", "x", "y", "z", "", "0.5", str(WANTED[0])],
    ]
    with pytest.raises(FileFormatError, match="rename them, or write CSV"):
        apply.file(MAP, tmp_path / "in.csv", tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_empty_files(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("who,risk\n")
    assert apply.file(MAP, tmp_path / "in.csv", tmp_path / "out.csv").rows == 0
    assert (tmp_path / "out.csv").read_text() == "who,risk,risk_calibrated\n"


@pytest.mark.parametrize("name", ["in.csv", "in.parquet", "in.jsonl"])
def test_missing_scores_are_refused_with_their_rows(name: str, tmp_path: Path) -> None:
    write(pa.table({"risk": [0.1, None, 0.2, None, None, None, None, None]}), tmp_path / name)
    with pytest.raises(MissingValuesError) as refused:
        apply.file(MAP, tmp_path / name, tmp_path / "out.csv")
    assert str(refused.value) == (
        "6 of 8 rows have a score that is missing, NaN or infinite in 'risk' (rows 2, 4, 5, 6, 7 and 1 more, counted "
        "from 1); fill them in, or keep those rows without a result with missing='keep'."
    )
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_frames_and_files_raise_the_same_errors(tmp_path: Path) -> None:
    write(pa.table({"risk": [0.1, 1.5, None, -1.0]}), tmp_path / "in.parquet")
    with pytest.raises(NotAProbabilityError) as of_file:
        apply.file(MAP, tmp_path / "in.parquet", tmp_path / "out.parquet", missing="keep")
    with pytest.raises(NotAProbabilityError) as of_frame:
        apply.frame(MAP, pq.read_table(tmp_path / "in.parquet"), missing="keep")
    assert str(of_file.value) == str(of_frame.value)
    assert "2 of 4 rows have a score outside [0, 1] in 'risk' (rows 2, 4, counted from 1)" in str(of_file.value)


def test_missing_scores_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,risk\n,0.5\n,NA\n,nan\n,\n,-inf\n,0.25\n")
    write(pa.table({"risk": [0.5, None, float("nan"), float("inf"), 0.25]}), tmp_path / "in.parquet")
    apply.file(MAP, tmp_path / "in.csv", tmp_path / "out.csv", missing="keep")
    kept = [row["risk_calibrated"] for row in read(tmp_path / "out.csv")]
    assert kept == [str(WANTED[0]), "", "", "", "", str(WANTED[2])]
    apply.file(MAP, tmp_path / "in.parquet", tmp_path / "out.parquet", missing="keep")
    result = [row["risk_calibrated"] for row in read(tmp_path / "out.parquet")]
    assert result == [WANTED[0], None, None, None, WANTED[2]]


def test_rows_of_probability_0_for_all_classes_raise(tmp_path: Path) -> None:
    write(pa.table({f"p_{label}": [0.2, 0.0] for label in LABELS}), tmp_path / "in.parquet")
    with pytest.raises(
        BaserateError, match=r"1 of 2 rows give probability 0 to every class .* \(row 2, counted from 1"
    ):
        apply.file(multiclass_calibrator(CLASS_FORMS["priors"]), tmp_path / "in.parquet", tmp_path / "out.parquet")


Made = Callable[[Path], object]
BAD: dict[str, tuple[str, str, dict[str, Any], type[BaserateError], str]] = {
    "no such column": (CSV, "out.csv", {"score": "rsk"}, UnknownNameError, "no column 'rsk'. Did you mean 'risk'?"),
    "a name that is taken": (CSV, "out.csv", {"name": "note"}, OptionError, "there is a column 'note' already"),
    "words for numbers": (
        "risk\n0.5\nhigh\n",
        "out.csv",
        {},
        NotNumericError,
        "1 of 2 values of risk are not numbers (the first is 'high')",
    ),
    "a long row": ("risk\n0.5\n0.4,7\n", "out.csv", {}, FileFormatError, "line 3 of "),
    "no ending": (CSV, "out", {}, OptionError, "does not say what to write; end it in .parquet, .csv"),
    "another ending": (CSV, "out.xlsx", {}, OptionError, "does not say what to write"),
    "packed Parquet": (CSV, "out.parquet.gz", {}, OptionError, "does not say what to write"),
    "no folder": (CSV, "no/out.csv", {}, OptionError, "(No such file or directory); name another file."),
    "a file for a folder": (CSV, "in.csv/out.csv", {}, OptionError, "(Not a directory); name another file."),
    "a folder": (CSV, "folder.csv", {}, OptionError, "is a folder; name a file in it."),
    "the source": (CSV, "in.csv", {}, OptionError, "is one of the files that are read; name another to write."),
}


@pytest.mark.parametrize("name", BAD)
def test_failures_leave_no_files_behind(name: str, tmp_path: Path) -> None:
    text, target, query, error, message = BAD[name]
    (tmp_path / "in.csv").write_text(text)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(error) as refused:
        apply.file(MAP, tmp_path / "in.csv", tmp_path / target, **query)
    assert message in str(refused.value)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder.csv", "in.csv"]
    assert (tmp_path / "in.csv").read_text() == text


def test_target_must_differ_from_the_source(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(CSV)
    (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
    with pytest.raises(OptionError, match="is one of the files that are read"):
        apply.file(MAP, tmp_path, tmp_path / "link.csv")
    assert (tmp_path / "in.csv").read_text() == CSV


def test_an_old_target_survives_a_failed_run(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("precious")
    (tmp_path / "in.csv").write_text("risk\n" + "0.5\n" * 300_000 + "7\n")
    with pytest.raises(NotAProbabilityError, match=r"\(row 300001, counted from 1\)"):
        apply.file(MAP, tmp_path / "in.csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]
    (tmp_path / "in.csv").write_text(CSV)
    (tmp_path / "out.csv").chmod(0o640)
    apply.file(MAP, tmp_path / "in.csv", tmp_path / "out.csv")
    assert read_column(tmp_path / "out.csv") == WANTED
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o640


def test_mixed_formats_raise(tmp_path: Path) -> None:
    write(pa.table({"risk": [0.5]}), tmp_path / "a.parquet")
    write(pa.table({"risk": [0.5], "more": [1]}), tmp_path / "b.parquet")
    with pytest.raises(FileFormatError, match="not all of the files have the column 'more'"):
        apply.file(MAP, tmp_path / "*.parquet", tmp_path / "out.csv")
    with pytest.raises(FileFormatError, match="do not agree on the column 'more'"):
        apply.file(MAP, [tmp_path / "b.parquet", tmp_path / "a.parquet"], tmp_path / "out.csv")
    with pytest.raises(NoSuchFileError, match="there is no file"):
        apply.file(MAP, tmp_path / "c.parquet", tmp_path / "out.csv")


def test_progress_can_be_watched(tmp_path: Path) -> None:
    write(pa.table({"risk": [0.5]}), tmp_path / "in.parquet")
    output: list[float | None] = []

    @contextmanager
    def watch(percent: Callable[[], float | None], rows: int | None) -> Iterator[None]:
        yield
        output.extend([percent(), rows])

    written = apply.file(MAP, tmp_path / "in.parquet", tmp_path / "out.csv", watch=watch)
    assert output[0] is None or 0 <= output[0] <= 100
    assert output[1] == 1
    assert written.seconds > 0
    apply.file(MAP, tmp_path / "out.csv", tmp_path / "again.csv", watch=watch, name="p")
    assert output[3] is None


INTERRUPTED = """
import glob, os, signal, threading, time
from baserate import apply, load_calibrator

def interrupt():
    while not any(os.path.getsize(draft) for draft in glob.glob(".out.csv.*")):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
threading.Thread(target=interrupt, daemon=True).start()
apply.file(load_calibrator("map.json"), "in.parquet", "out.csv")
"""
"""It interrupts itself as soon as the draft has a size: another process could be late on a busy machine."""


@pytest.mark.slow
def test_interruption_leaves_no_files_behind(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(binary_calibrator(FORMS["many between"]).to_json())
    for rows in (3_000_000, 12_000_000):
        x = np.random.default_rng(0).random(rows)
        pq.write_table(pa.table({"risk": x, "other": x[::-1]}), tmp_path / "in.parquet")
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
        )
        if done.returncode:
            break
        (tmp_path / "out.csv").unlink()  # it was through before its thread had a turn
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "map.json"]


def test_wide_rows_get_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(pa.table({"risk": [0.5] * 3000, "text": [f"{at}" * 2000 for at in range(3000)]}), tmp_path / "in.parquet")
    monkeypatch.setattr("baserate.apply._files._MEMORY_LIMIT", "2MB")
    assert apply.file(MAP, tmp_path / "in.parquet", tmp_path / "out.parquet").rows == 3000
    assert read_column(tmp_path / "out.parquet") == [WANTED[0]] * 3000


def test_unwritable_folders_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.csv").write_text(CSV)

    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("baserate.apply._files.draft_file", refuse)
    with pytest.raises(OptionError, match=r"cannot write .*out.csv \(Permission denied\); name another file\."):
        apply.file(MAP, tmp_path / "in.csv", tmp_path / "out.csv")


def test_calibrators_without_columns_need_a_score_option(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(CSV)
    with pytest.raises(OptionError, match="does not store the name of the score column"):
        apply.file(shift_log_odds(1.0), tmp_path / "in.csv", tmp_path / "out.csv")
