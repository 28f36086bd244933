"""Names of modules, functions and classes are nouns and imperative verbs: no bare participles, no private dialect."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources import HOME, ROOT, modules, nodes

FOLDERS = {HOME: 3000, ROOT / "tests": 3000, ROOT / "bench": 300, ROOT / "docs": 40, ROOT / "examples": 15}
"""Folder whose names are tested -> number of names that it exceeds, so that an empty search fails."""
BANNED = frozenset(
    {
        *("told", "found", "asked", "given", "taken", "meant", "made", "seen", "kept", "shown"),
        *("chosen", "decided", "known", "drawn", "moved", "listed", "named", "done", "said", "sure"),
        *("wrong", "refused", "apart", "alike", "together", "alone", "written", "held", "brought", "met"),
        *("ran", "built", "dealt", "begun", "hidden", "thrown"),
    }
)
"""Words that say nothing about what a name stands for."""
NOUNS = frozenset({"seed", "speed", "need", "feed"})
"""Words in -ed that are no participles."""
TERMS = frozenset(
    {
        *("adjusted", "balanced", "binned", "calibrated", "closed", "fixed", "flagged", "labelled", "passed", "pooled"),
        *("predicted", "randomized", "rejected", "unlabelled", "weighted"),
    }
)
"""Participles that are terms of the field, or words for a value: balanced accuracy, flagged rows."""


def names(path: Path) -> Iterator[tuple[str, str]]:
    yield path.stem.strip("_"), str(path)
    for node in nodes(path):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, f"{path}:{node.lineno}"


def words(name: str) -> list[str]:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip("_")).lower().split("_")


def is_participle(word: str) -> bool:
    return word in BANNED or (word.endswith("ed") and len(word) > 4 and word not in NOUNS | TERMS)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_name_is_a_bare_participle(folder: Path) -> None:
    parts = [(words(name), name, where) for path in modules(folder) for name, where in names(path)]
    assert len(parts) > FOLDERS[folder]
    bare = [f"{where} {name}" for each, name, where in parts if len(each) == 1 and is_participle(each[0])]
    assert not bare, "name it by a noun, or by a verb and its object"


@pytest.mark.parametrize(("name", "expected"), [("_told", True), ("Asked", True), ("seed", False), ("fit_beta", False)])
def test_participles_are_recognized(name: str, expected: bool) -> None:  # noqa: FBT001
    assert (len(words(name)) == 1 and is_participle(words(name)[0])) is expected
