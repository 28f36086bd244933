"""Lazy exports: the names of a package, listed once and imported on first use."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast

    from baserate._other_names import OtherName


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Make the `__getattr__` and the `__dir__` of a package from the imports under its `if TYPE_CHECKING:`.

    The package lists each name once, in an import that type checkers read and Python never runs. The first such block
    is the public interface, and becomes `__all__`. A second block lists names for other packages of baserate.

    Parameters
    ----------
    package
        Its dotted name, `__name__`.

    Returns
    -------
    resolve, list_names
        Functions to be assigned to `__getattr__` and `__dir__` of the package.
    """

    @cache
    def read_exports() -> tuple[dict[str, str], list[str]]:
        # Parsed on the first use of a name: `import baserate` alone reads no source and does not load `ast`.
        import ast

        # The loader also reads packages in zip files, and needs no pathlib, which is slow to import.
        spec: Any = sys.modules[package].__spec__
        source = spec.loader.get_source(package)
        blocks = [dict(_imports(node)) for node in ast.parse(source).body if _is_listing(node)]
        homes = {name: home for block in blocks for name, home in block.items()}
        return homes, sorted(blocks[0])

    def resolve(name: str) -> object:
        if name == "__all__":
            return read_exports()[1]
        home = read_exports()[0].get(name)
        if home is None:
            raise unknown_attribute(package, name)
        # "from package import module" lists a module of the package, any other import a name in a module.
        value: object = import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return resolve, lambda: list(read_exports()[1])


def load_object(path: str) -> Any:  # noqa: ANN401  (whatever stands there)
    """Load a function of a later layer by "module:name", for methods that render an object.

    The layer imports the type, so that an import in the module of the type would make a cycle.
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def unknown_attribute(package: str, name: str) -> AttributeError:
    """Make the error for a name that a package does not have; it says what baserate calls it.

    >>> print(unknown_attribute("baserate", "roc_auc_score"))
    module 'baserate' has no attribute 'roc_auc_score'. Use baserate.measure.auc(y_true, y_score).
    >>> print(unknown_attribute("baserate.draw", "ROC"))
    module 'baserate.draw' has no attribute 'ROC'. Use baserate.draw.roc.
    >>> print(unknown_attribute("baserate", "tallly"))
    module 'baserate' has no attribute 'tallly'. Did you mean 'tally'?
    """
    what = f"module {package!r} has no attribute {name!r}."
    if name.startswith("_"):  # asked for by tools, such as IPython and copy
        return AttributeError(what)
    from baserate._errors import UnknownAttributeError

    return UnknownAttributeError(what, remedy=suggest_attribute(package, name), value=name)


def unknown_member(owner: object, name: str) -> AttributeError:
    """Make the error for a name that an object does not have; it says what to use.

    >>> import baserate
    >>> print(unknown_member(baserate.Counts(1, 2, 3, 4), "ppv"))
    'Counts' has no attribute 'ppv'. Use baserate.measure.precision(counts).
    """
    what = f"{type(owner).__name__!r} has no attribute {name!r}."
    if name.startswith("_"):  # looked for by tools, such as copy and NumPy, also before fields are set
        return AttributeError(what)
    from baserate._errors import UnknownAttributeError, suggest
    from baserate._other_names import find_other_member

    measure = load_object("baserate.measure:resolve_name")(name, load_object("baserate.measure:MEASURES"))
    used = find_other_member([each.__name__ for each in type(owner).__mro__], name, measure)
    remedy = f"Use {used}." if used else suggest(name, [each for each in dir(owner) if not each.startswith("_")])
    return UnknownAttributeError(what, remedy=remedy, value=name)


_PACKAGES = (
    *("measure", "draw", "decide", "infer", "calibration", "shift"),
    *("fairness", "apply", "read", "report", "population", "sklearn"),
)
"""Packages whose names may be looked for in another one."""


def suggest_attribute(package: str, name: str) -> str:
    """Say what to use in place of a name that a package does not have.

    >>> suggest_attribute("baserate", "MetricFrame")
    'Use baserate.fairness.group_table or baserate.fairness.group_gaps.'
    >>> suggest_attribute("baserate", "roc_auc_score")
    'Use baserate.measure.auc(y_true, y_score).'
    >>> suggest_attribute("baserate.measure", "reweigh"), suggest_attribute("baserate.decide", "youdenn")
    ('Use baserate.shift.reweigh.', "Did you mean 'youden'?")
    """
    from importlib.util import find_spec

    from baserate._errors import nearest, suggest
    from baserate._other_names import OTHER_NAMES, find_other_name, squash

    if name.isidentifier() and find_spec(f"{package}.{name}") is not None:
        return f"Import it first: import {package}.{name}."
    here = package.partition(".")[2]
    own = _list_names(package)
    places = [_spell(f"{each}.{name}") for each in _PACKAGES if name in _list_names(f"baserate.{each}")]
    same = [f"{package}.{each}" for each in own if squash(each) == squash(name)]
    if same:
        return f"Use {_join([*places, *same])}."
    other = find_other_name(name)
    if other is not None:
        return _advise(other, here)
    near = suggest(name, own, cutoff=0.75)
    if near:
        return near
    if places:
        return f"Use {_join(places)}."
    word = next(iter(nearest(name, OTHER_NAMES, cutoff=0.85)), None)
    return suggest(name, own) if word is None else _advise(OTHER_NAMES[word], here)


def _advise(other: "OtherName", package: str) -> str:
    """Name what to use, the names of the package first; in the shell, where Python has none."""
    if not other.python:
        return f"In the shell: baserate {other.commands[0]}."
    own = [each for each in other.python if package and each.rpartition(".")[0] == package]
    return f"Use {_join([_spell(each) for each in own or other.python])}."


def _spell(name: str) -> str:
    """Write a name with its package, and a measure as a call."""
    package, _, last = name.rpartition(".")
    is_measure = package == "measure" and last in ("summary", *import_module("baserate.measure").MEASURES)
    return f"baserate.{name}(y_true, y_score)" if is_measure else f"baserate.{name}"


def _join(names: Sequence[str]) -> str:
    return " or ".join(names[:3])


def _list_names(package: str) -> list[str]:
    try:
        return dir(import_module(package))
    except ImportError:  # scikit-learn is optional
        return []


def _is_listing(node: "ast.stmt") -> bool:
    import ast

    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _imports(block: "ast.stmt") -> Iterator[tuple[str, str]]:
    """Pair each name that a block imports with the module that holds it."""
    import ast

    for node in ast.walk(block):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.name, str(node.module)
