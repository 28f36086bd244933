"""Readers and writers of files of every format, independent of the library."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def read(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a file."""
    if ".parquet" in path.name:
        return list(pq.read_table(path).to_pylist())
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    if "json" in path.name:
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text), delimiter="\t" if ".tsv" in path.name else ","))


def write(table: pa.Table, path: Path) -> None:
    """Write a table in the format of the file's suffix."""
    rows = table.to_pylist()
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if "tsv" in path.name else ",")
        writer.writerows([table.column_names, *(row.values() for row in rows)])
        path.write_bytes(gzip.compress(text.getvalue().encode()) if path.suffix == ".gz" else text.getvalue().encode())
