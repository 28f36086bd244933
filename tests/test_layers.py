"""The layers of the package: each imports only from earlier ones, and packages through their public names."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import baserate
from tests.sources import HOME, modules as parsed_modules, nodes

# Modules and packages of one layer do not import each other.
LAYERS: list[set[str]] = [
    {"_other_names"},
    {"_errors", "_version", "_formatting"},
    {"_lazy"},
    {"_rendering"},
    {"_domains"},
    {"_arrays", "_files"},
    {"_numeric"},
    # Types, each of which imports only those before it.
    *(
        {name}
        for name in (
            *("_calibrator_forms", "_counts", "_results", "_tally", "_confusion", "_costs", "_curve"),
            *("_cut", "_rows", "_population", "_calibrator", "_policy"),
        )
    ),
    {"read"},
    {"measure"},
    {"population", "infer", "calibration", "apply"},
    {"shift"},
    {"decide"},
    {"fairness"},
    {"_jobs"},
    {"text"},
    {"sklearn", "draw"},
    {"report"},
    {"cli"},
    {"__main__"},
]
LAYER = {name: at for at, names in enumerate(LAYERS) for name in names}
EVERYWHERE = {"numpy", "scipy"}
OUTSIDE = {
    "read": {"duckdb", "narwhals", "pyarrow"},
    "apply": {"duckdb", "narwhals"},
    "_results": {"duckdb", "narwhals"},
    "cli": {"click"},
    "sklearn": {"sklearn"},
    "draw": {"matplotlib", "PIL"},
}
"""Packages that only one part may import."""
SLOW = ("scipy", "narwhals", "pyarrow")
"""Packages that are imported inside the functions that need them."""


def modules() -> list[Path]:
    return [path for path in parsed_modules() if path != HOME / "__init__.py"]


def part_of(path: Path) -> str:
    return path.relative_to(HOME).parts[0].removesuffix(".py")


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Names of modules that a file imports."""
    return tuple(_find_imports(path))


def _find_imports(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            module = node.module or ""
            # "from baserate import x" names a package, "from baserate.x import y" one already.
            yield from (f"{module}.{alias.name}" for alias in node.names) if module == "baserate" else (module,)


def all_imports() -> Iterator[tuple[Path, str, str]]:
    """Each module with its package, and the names that it imports."""
    for path in modules():
        yield from ((path.relative_to(HOME), part_of(path), name) for name in imports(path))


def test_imports_point_down() -> None:
    for path, own, name in all_imports():
        if name.startswith("baserate."):
            other = name.split(".")[1]
            if other in dir(baserate) and other not in LAYER:
                assert LAYER[own] >= LAYER["cli"], f"{path}: import {other} from its module"
                continue
            assert other == own or LAYER[other] < LAYER[own], f"{path} may not import {other}"


def test_packages_import_each_other_through_public_names() -> None:
    packages = {folder.name for folder in HOME.iterdir() if (folder / "__init__.py").exists()} - {"_numeric"}
    for path, own, name in all_imports():
        package, *inner = name.removeprefix("baserate.").split(".")
        if name.startswith("baserate.") and package in packages - {own}:
            assert not any(part.startswith("_") for part in inner), f"{path}: list {name} in baserate.{package}"


def test_only_public_names_of_chosen_packages_are_used() -> None:
    for path, own, name in all_imports():
        package, *parts = name.split(".")
        if package == "baserate" or package in sys.stdlib_module_names:
            continue
        assert package in EVERYWHERE | OUTSIDE.get(own, set()), path
        assert not any(part.startswith("_") for part in parts), path


def test_every_part_has_a_layer() -> None:
    assert {part_of(path) for path in modules()} == set(LAYER)


def test_slow_packages_are_imported_only_where_they_are_used() -> None:
    for path in modules():
        for node in parsed_modules()[path].body:
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(str(name).startswith(SLOW) for name in names), path
