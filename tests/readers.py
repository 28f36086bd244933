"""One table, from every kind of source: arrays, frames, lazy frames, streams and files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

Table = Mapping[str, Any]


class Stream:
    """Something that can only be read once, as a stream of Arrow batches."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def _csv(table: Table, folder: Path, name: str, separator: str = ",") -> str:
    path = folder / name
    pl.DataFrame(dict(table), strict=False).write_csv(path, separator=separator)
    return str(path)


def _write_gzip(table: Table, folder: Path) -> str:
    import gzip

    plain = Path(_csv(table, folder, "plain.csv"))
    packed = folder / "packed.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    return str(packed)


def _parquet(table: Table, folder: Path) -> str:
    path = folder / "table.parquet"
    pq.write_table(pa.table(dict(table)), path)
    return str(path)


def _parts(table: Table, folder: Path) -> str:
    """Three files in a folder."""
    inside = folder / "parts"
    inside.mkdir(exist_ok=True)
    whole = pa.table(dict(table))
    for part in range(3):
        pq.write_table(
            whole.slice(part * len(whole) // 3, (part + 1) * len(whole) // 3 - part * len(whole) // 3),
            inside / f"part-{part}.parquet",
        )
    return str(inside)


def _pattern(table: Table, folder: Path) -> str:
    """Two CSV files, by a pattern."""
    frame = pl.DataFrame(dict(table), strict=False)
    half = len(frame) // 2
    frame[:half].write_csv(folder / "half-1.csv")
    frame[half:].write_csv(folder / "half-2.csv")
    return str(folder / "half-*.csv")


def _json(table: Table, folder: Path) -> str:
    path = folder / "table.jsonl"
    pl.DataFrame(dict(table), strict=False).write_ndjson(path)
    return str(path)


def _arrow(table: Table, folder: Path, kind: str) -> str:
    path = folder / f"table-{kind}.arrow"
    whole = pa.table(dict(table))
    opened = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with pa.OSFile(str(path), "wb") as sink, opened(sink, whole.schema) as writer:
        writer.write_table(whole)
    return str(path)


def _relation(table: Table, _folder: Path) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(pa.table(dict(table)))


READERS: dict[str, Callable[[Table, Path], Any]] = {
    "lists": lambda table, _: table,
    "pandas": lambda table, _: pd.DataFrame(table),
    "pandas, Arrow types": lambda table, _: pa.table(dict(table)).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, nullable": lambda table, _: pd.DataFrame(table).convert_dtypes(),
    "polars": lambda table, _: pl.DataFrame(dict(table), strict=False),
    "polars, lazy": lambda table, _: pl.LazyFrame(dict(table), strict=False),
    "pyarrow": lambda table, _: pa.table(dict(table)),
    "duckdb": _relation,
    "stream": lambda table, _: Stream(pa.table(dict(table))),
    "batches": lambda table, _: pa.table(dict(table)).to_reader(),
    "csv": lambda table, folder: _csv(table, folder, "table.csv"),
    "tsv": lambda table, folder: _csv(table, folder, "table.tsv", separator="\t"),
    "csv, gzip": _write_gzip,
    "csv, pattern": _pattern,
    "parquet": _parquet,
    "parquet, folder": _parts,
    "json lines": _json,
    "arrow file": lambda table, folder: _arrow(table, folder, "file"),
    "arrow stream": lambda table, folder: _arrow(table, folder, "stream"),
}

BY_DUCKDB = {"duckdb", "stream", "csv", "parquet", "parquet, folder", "json lines", "arrow file"}
"""Readers that DuckDB serves, without those that differ in the spelling only."""
