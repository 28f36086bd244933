"""Names that are resolved on first use, so that who wants one need not load the others."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def resolver(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], object]:
    """Make the `__getattr__` of a package, from a mapping of its modules to the names that they define.

    A name that is that of its module means the module.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def resolve(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name]}")
        value: object = module if home[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return resolve
