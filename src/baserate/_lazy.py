"""Names that are resolved on first use, so that who wants one need not load the others."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def resolver(package: str, home: Mapping[str, str]) -> Callable[[str], object]:
    """Make the `__getattr__` of a package, from a mapping of names to the modules in it that define them.

    A name whose home is called the same is that module.
    """

    def resolve(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name]}")
        value: object = module if home[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return resolve
