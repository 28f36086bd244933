"""Lazy exports: the names of a package, listed once and imported on first use."""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast


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
    from baserate._other_names import suggest_attribute

    return UnknownAttributeError(what, remedy=suggest_attribute(package, name), value=name)


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
