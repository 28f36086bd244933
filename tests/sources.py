"""Syntax trees of source files, parsed once for all tests."""

import ast
from functools import cache
from pathlib import Path

import baserate

HOME = Path(baserate.__file__).parent


@cache
def modules() -> dict[Path, ast.Module]:
    """All modules with their syntax trees."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(HOME.rglob("*.py"))}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module."""
    return tuple(ast.walk(modules()[path]))
