"""Syntax trees of source files, parsed once for all tests."""

import ast
from functools import cache
from pathlib import Path

import baserate

HOME = Path(baserate.__file__).parent
ROOT = Path(__file__).parents[1]
_GENERATED = {"_build", "made"}
"""Folders of the documentation that Sphinx writes."""


@cache
def modules(folder: Path = HOME) -> dict[Path, ast.Module]:
    """Parse all modules of a folder, by default of the package."""
    paths = (path for path in sorted(folder.rglob("*.py")) if not _GENERATED & {*path.relative_to(folder).parts})
    return {path: _parse(path) for path in paths}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a module."""
    return tuple(ast.walk(_parse(path)))


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
