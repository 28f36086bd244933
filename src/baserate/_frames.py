"""Columns -> a frame of any library: the door through which results leave."""

from importlib.util import find_spec
from math import nan
from sys import modules
from typing import Any

from baserate._errors import NotInstalledError, UnknownNameError

_BACKENDS = ("pandas", "polars", "pyarrow")
_NUMBERS = {"threshold", "value", "low", "high", "level"}
"""Columns that hold numbers even where all of them are missing or whole."""


def frame(columns: dict[str, list[Any]], backend: str | None) -> Any:  # noqa: ANN401  (a frame of the chosen library)
    """Return the columns as a frame of pandas, Polars or PyArrow."""
    import narwhals.stable.v2 as nw

    name: Any = _at_hand() if backend is None else backend
    if name not in _BACKENDS:
        raise UnknownNameError(f"there is no kind of frame {backend!r}. Known are: {', '.join(_BACKENDS)}.")
    if find_spec(name) is None:
        raise NotInstalledError(f"a {name} frame needs {name}, which is not installed; run: pip install {name}.")
    schema = _schema(columns)
    if name == "pandas":  # whose whole numbers cannot be missing: let it choose
        filled = {key: [nan if each is None else each for each in columns[key]] for key in columns.keys() & _NUMBERS}
        return nw.DataFrame.from_dict(columns | filled, backend=name).to_native()
    return nw.DataFrame.from_dict(columns, schema=schema, backend=name).to_native()


def arrow_stream(columns: dict[str, list[Any]], requested_schema: object) -> object:
    """Return the columns as an Arrow stream; the embedded engine makes it, so that PyArrow is not needed."""
    import duckdb
    import numpy as np

    with duckdb.connect() as engine:
        arrays = {str(at): np.array(column, dtype=object) for at, column in enumerate(columns.values())}
        engine.register("columns", arrays)
        kinds = {"String": "VARCHAR", "Float64": "DOUBLE", "Int64": "BIGINT", "Boolean": "BOOLEAN"}
        picked = ", ".join(
            f'"{at}"::{kinds[str(kind)]} AS "{name.replace(chr(34), chr(34) * 2)}"'
            for at, (name, kind) in enumerate(_schema(columns).items())
        )
        return engine.sql(f"SELECT {picked} FROM columns").__arrow_c_stream__(requested_schema)


def _at_hand() -> str:
    """The first library that is imported already, otherwise the first that is installed."""
    for name in _BACKENDS:
        if name in modules:
            return name
    for name in _BACKENDS:
        if find_spec(name) is not None:
            return name
    raise NotInstalledError(
        f"a frame needs one of {', '.join(_BACKENDS)}; install one, for example: pip install polars."
    )


def _schema(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """One type for each column; what mixes types is text."""
    import narwhals.stable.v2 as nw

    found: dict[str, Any] = {}
    for name, column in columns.items():
        kinds = {type(value) for value in column if value is not None}
        huge = any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in column)
        if (kinds or name in _NUMBERS) and kinds <= {int, float} and not huge:
            found[name] = nw.Int64() if kinds == {int} and name not in _NUMBERS else nw.Float64()
        elif kinds == {bool}:
            found[name] = nw.Boolean()
        else:
            found[name] = nw.String()
            columns[name] = [None if value is None else str(value) for value in column]
    return found
