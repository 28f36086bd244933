"""Files that cannot be used, each with its error; tests of `read` and of the shell read them."""

import bz2
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from baserate import (
    BaserateError,
    EmptyDataError,
    FileFormatError,
    MissingValuesError,
    NoSuchFileError,
    NotBinaryError,
    NotNumericError,
    UnknownNameError,
)

GOOD = "y,p\n1,0.9\n0,0.2\n1,0.4\n0,0.1\n"


@dataclass(frozen=True)
class BadFile:
    """A function that writes the file into a folder, the path to read, and the expected error."""

    make: Callable[[Path], object]
    error: type[BaserateError]
    message: str
    source: str = "bad.csv"


def write_text(content: str | bytes, name: str = "bad.csv") -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def write_table(columns: dict[str, list[object]], name: str) -> Callable[[Path], object]:
    return lambda folder: pq.write_table(pa.table(columns), folder / name)


def write_truncated_parquet(folder: Path) -> None:
    whole = folder / "whole.parquet"
    pq.write_table(pa.table({"y": [0, 1] * 500, "p": [0.1, 0.9] * 500}), whole)
    (folder / "bad.parquet").write_bytes(whole.read_bytes()[:-200])
    whole.unlink()


def write_several(*makers: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda folder: [make(folder) for make in makers]


def write_truncated_arrow(folder: Path) -> None:
    with pa.OSFile(str(folder / "whole"), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("y", pa.int8())])) as file:
        file.write_table(pa.table({"y": pa.array([0, 1], pa.int8())}))
    (folder / "bad.arrow").write_bytes((folder / "whole").read_bytes()[:-40])
    (folder / "whole").unlink()


BAD: dict[str, BadFile] = {
    "empty file": BadFile(write_text(""), EmptyDataError, "bad.csv is empty; give a table"),
    "only blank lines": BadFile(write_text("\n\n  \n"), EmptyDataError, "bad.csv is empty"),
    "header only": BadFile(write_text("y,p\n"), EmptyDataError, "there are no rows"),
    "missing column": BadFile(
        write_text("truth,p\n1,0.5\n"), UnknownNameError, "there is no column 'y'. There are: 'truth', 'p'."
    ),
    "misspelt column": BadFile(
        write_text("Y,prob\n1,0.5\n"),
        UnknownNameError,
        "there is no column 'y'. Did you mean 'Y'? There are: 'Y', 'prob'.",
    ),
    "no header": BadFile(
        write_text("1,0.5\n0,0.4\n"), UnknownNameError, "there is no column 'y'. There are: '1', '0.5'."
    ),
    "duplicate column names": BadFile(
        write_text("y,p,p\n1,0.5,0.6\n"), FileFormatError, "there are 2 columns 'p'; rename all but one"
    ),
    "wrong encoding": BadFile(
        write_text("y,p\nth\xe9,0.5\ncaf\xe9,0.4\n".encode("latin-1")),
        FileFormatError,
        "line 2 of {path} is not UTF-8 text",
    ),
    "wrong encoding in the header": BadFile(
        write_text("y,p,caf\xe9\n1,0.5,a\n".encode("latin-1")),
        FileFormatError,
        "the header of {path} is not UTF-8 text",
    ),
    "UTF-16": BadFile(write_text(GOOD.encode("utf-16")), FileFormatError, "bad.csv is UTF-16 text; convert it first"),
    "bytes that are not a table": BadFile(
        write_text(b"\x7fELF\0\0\1\2" * 50), FileFormatError, "is not a table: neither CSV"
    ),
    "a long row": BadFile(
        write_text("y,p\n1,0.5\n0,0.4,7\n"),
        FileFormatError,
        "line 3 of {path} has 3 columns where the header has 2 ('0,0.4,7')",
    ),
    "a short row": BadFile(
        write_text("y,p\n1,0.5\n0\n"), FileFormatError, "line 3 of {path} has 1 column where the header has 2 ('0')"
    ),
    "an open quote": BadFile(
        write_text('y,p\n1,"0.5\n0,0.4\n'), FileFormatError, "line 2 of {path} opens a quote that is never closed"
    ),
    "words for numbers": BadFile(
        write_text("y,p\n1,0.5\n0,high\n1,low\n"),
        NotNumericError,
        "2 of 3 values of p are not numbers (the first is 'high')",
    ),
    "decimal commas": BadFile(
        write_text("y;p\n1;0,5\n0;0,25\n"), NotNumericError, "2 of 2 values of p are not numbers (the first is '0,5')"
    ),
    "long cells": BadFile(
        write_text(f"y,p\n1,{'x' * 10_000}\n"),
        NotNumericError,
        f"1 of 1 values of p are not numbers (the first is '{'x' * 60}')",
    ),
    "missing scores": BadFile(
        write_text("y,p\n1,0.5\n0,\n1,NA\n0,nan\n1,inf\n"),
        MissingValuesError,
        "4 of 5 rows cannot be used (p: 2 missing, 1 NaN, 1 infinite). Fill them in, or leave them out",
    ),
    "three labels": BadFile(
        write_text("y,p\nyes,0.5\nno,0.4\nmaybe,0.2\n"),
        NotBinaryError,
        "truth has more than two labels ('maybe', 'no', 'yes'); name both classes",
    ),
    "labels without a positive one": BadFile(
        write_text("y,p\nyes,0.5\nno,0.4\n"),
        NotBinaryError,
        "truth has the labels 'no', 'yes'; name the positive one: ",
    ),
    "truncated Parquet": BadFile(
        write_truncated_parquet, FileFormatError, "bad.parquet cannot be read: ", "bad.parquet"
    ),
    "text that is called Parquet": BadFile(
        write_text(GOOD, "bad.parquet"),
        FileFormatError,
        "bad.parquet is not a Parquet file: its first bytes are b'y,p\\n'",
        "bad.parquet",
    ),
    "truncated Arrow": BadFile(write_truncated_arrow, FileFormatError, "is not a whole Arrow file", "bad.arrow"),
    "truncated gzip": BadFile(
        lambda folder: (folder / "bad.csv.gz").write_bytes(gzip.compress(GOOD.encode() * 9)[:30]),
        FileFormatError,
        "bad.csv.gz cannot be unpacked: ",
        "bad.csv.gz",
    ),
    "packed otherwise": BadFile(
        lambda folder: (folder / "bad.csv.bz2").write_bytes(bz2.compress(GOOD.encode())),
        FileFormatError,
        "bad.csv.bz2 is packed with bzip2; unpack it first, or pack it with gzip.",
        "bad.csv.bz2",
    ),
    "broken JSON": BadFile(
        write_text('{"y": 1, "p": 0.5}\n{"y": 0, "p"\n', "bad.jsonl"),
        FileFormatError,
        "bad.jsonl cannot be read: ",
        "bad.jsonl",
    ),
    "JSON without the column": BadFile(
        write_text('{"y": 1, "q": 0.5}\n', "bad.jsonl"), UnknownNameError, "there is no column 'p'", "bad.jsonl"
    ),
    "no such file": BadFile(
        write_text(GOOD, "bed.csv"), NoSuchFileError, "there is no file {path}. Did you mean {folder}/bed.csv?"
    ),
    "a pattern that matches nothing": BadFile(write_text(GOOD), NoSuchFileError, "no file matches {path}", "*.parquet"),
    "a folder without tables": BadFile(
        write_text("notes", "notes.md"), NoSuchFileError, "there are no tables in the folder {folder}", "."
    ),
    "two headers": BadFile(
        write_several(write_text(GOOD, "a.csv"), write_text("p,y\n0.5,1\n", "b.csv")),
        FileFormatError,
        "b.csv has another header than {folder}/a.csv",
        "*.csv",
    ),
    "two types": BadFile(
        write_several(
            write_table({"y": [0, 1], "p": [0.1, 0.2]}, "a.parquet"),
            write_table({"y": [0, 1], "p": ["a", "b"]}, "b.parquet"),
        ),
        FileFormatError,
        "the files do not agree on the column 'p': it is ",
        "*.parquet",
    ),
    "a column that is not in all files": BadFile(
        write_several(
            write_table({"y": [0, 1], "p": [0.1, 0.2]}, "a.parquet"), write_table({"y": [0, 1]}, "b.parquet")
        ),
        FileFormatError,
        "the files do not agree on the column 'p': it is DOUBLE in 1 of 2 files",
        "*.parquet",
    ),
    "two kinds of file": BadFile(
        write_several(write_text(GOOD, "a.csv"), write_table({"y": [0, 1], "p": [0.1, 0.2]}, "b.parquet")),
        FileFormatError,
        "are of several kinds (csv, parquet); name files of one kind",
        ".",
    ),
}
