"""The floors of the house: each room imports only from the floors below it."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import baserate

HOME = Path(baserate.__file__).parent

# Rooms of one floor do not import each other; nouns, listed one by one, import only those before them.
FLOORS: list[set[str]] = [
    {"_errors", "_plurals", "_version"},
    {"_arrays", "_domains"},
    {"_immutable"},
    {"_files", "_frames", "_forms", "_indexes", "_lazy", "_lots", "_sealed", "_plain_text", "_numbers"},
    {"_passages"},
    {"_panels"},
    {"_form_json"},
    {"_numeric"},
    *(
        {noun}
        for noun in (
            "_counts",
            "_confusion",
            "_estimate",
            "_costs",
            "_intake",
            "_tally",
            "_stack",
            "_tallies",
            "_confusions",
        )
    ),
    *(
        {noun}
        for noun in (
            "_curve",
            "_cut",
            "_rows",
            "_class_rows",
            "_label_sets",
            "_results",
            "_population",
            "_map",
            "_class_map",
            "_policy_json",
            "_policy",
            "_target",
            "_heading",
            "_sure",
            "_chosen",
        )
    ),
    {"read", "measure"},
    {"population", "infer", "calibrate", "apply"},
    {"shift"},
    {"decide"},
    {"equalize"},
    {"sklearn", "draw", "report"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
EVERYWHERE = {"numpy", "scipy"}
OUTSIDE = {
    "read": {"duckdb", "narwhals", "pyarrow"},
    "apply": {"duckdb", "narwhals"},
    "_frames": {"duckdb", "narwhals"},
    "cli": {"click"},
    "sklearn": {"sklearn"},
    "draw": {"matplotlib"},
}
"""Packages that one room alone may know."""
SLOW = ("scipy", "narwhals", "pyarrow")
"""Packages that are imported inside the functions that need them."""


def modules() -> list[Path]:
    return [path for path in sorted(HOME.rglob("*.py")) if path != HOME / "__init__.py"]


def room_of(path: Path) -> str:
    return path.relative_to(HOME).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            module = node.module or ""
            # "from baserate import x" names a room, "from baserate.x import y" one already.
            yield from (f"{module}.{alias.name}" for alias in node.names) if module == "baserate" else (module,)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HOME)))
def test_imports_point_down(path: Path) -> None:
    own = room_of(path)
    for name in imports(path):
        if name.startswith("baserate."):
            other = name.split(".")[1]
            if other in baserate.__all__ and other not in FLOOR:
                assert FLOOR[own] >= FLOOR["cli"], f"only faces use public names; {own} takes {other} from its home"
                continue
            assert other == own or FLOOR[other] < FLOOR[own], f"{own} may not import {other}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HOME)))
def test_packages_import_each_other_through_public_names(path: Path) -> None:
    own = room_of(path)
    packages = {folder.name for folder in HOME.iterdir() if (folder / "__init__.py").exists()} - {"_numeric"}
    for name in imports(path):
        package, *inner = name.removeprefix("baserate.").split(".")
        if name.startswith("baserate.") and package in packages - {own}:
            assert not any(part.startswith("_") for part in inner), f"import it from baserate.{package}: list it there"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(HOME)))
def test_only_public_names_of_chosen_packages_are_used(path: Path) -> None:
    for name in imports(path):
        package, *parts = name.split(".")
        if package == "baserate" or package in sys.stdlib_module_names:
            continue
        assert package in EVERYWHERE | OUTSIDE.get(room_of(path), set())
        assert not any(part.startswith("_") for part in parts)


def test_every_room_has_a_floor() -> None:
    assert {room_of(path) for path in modules()} == set(FLOOR)


def test_slow_packages_are_imported_only_where_they_are_used() -> None:
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(str(name).startswith(SLOW) for name in names), path
