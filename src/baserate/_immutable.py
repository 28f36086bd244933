"""Values that cannot change, also after they were copied, or sent to another process.

Pickling and deep copies of NumPy's arrays forget that these are read-only, and pickling of `types.MappingProxyType` is
impossible; so frozen classes use `FrozenMapping` for mappings, and `keep_read_only` where they hold arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NoReturn, TypeVar

import numpy as np

from baserate._arrays import make_read_only

Key = TypeVar("Key")
Item = TypeVar("Item")
Class = TypeVar("Class", bound=type)


class FrozenMapping(dict[Key, Item]):
    """A mapping that cannot change: a copy of another, read as fast as a dict.

    >>> import pickle
    >>> frozen = FrozenMapping({"a": 1})
    >>> frozen["b"] = 2
    Traceback (most recent call last):
    TypeError: this mapping cannot change; make a new one with dict(…).
    >>> pickle.loads(pickle.dumps(frozen)), frozen | {"b": 2}
    (FrozenMapping({'a': 1}), {'a': 1, 'b': 2})
    """

    __slots__ = ()

    def _refuse(self, *_args: object, **_options: object) -> NoReturn:
        raise TypeError("this mapping cannot change; make a new one with dict(…).")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __repr__(self) -> str:
        return f"FrozenMapping({super().__repr__()})"

    def __copy__(self) -> FrozenMapping[Key, Item]:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMapping, (_hold(dict(self)),)


def keep_read_only(cls: Class) -> Class:
    """Let the arrays of a frozen dataclass with slots stay read-only when it is copied or pickled."""
    names = [field.name for field in fields(cls)]

    def get_state(self: object) -> list[Any]:
        return [_hold(getattr(self, name)) for name in names]

    def set_state(self: object, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, _release(value))

    methods: dict[str, Callable[..., Any]] = {"__getstate__": get_state, "__setstate__": set_state}
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


class _ReadOnly:
    """A read-only array on its way: pickled and copied deeply, it arrives as such an array."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __reduce__(self) -> tuple[Any, ...]:
        return make_read_only, (self.array,)


def _hold(value: Any) -> Any:  # noqa: ANN401  (what a field holds)
    """Mark read-only arrays, also those in tuples and dicts."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else _ReadOnly(value)
    return _within(value, _hold)


def _release(value: Any) -> Any:  # noqa: ANN401  (what a state holds)
    """Take marks off, as in shallow copies, whose state is handed on as it is."""
    return value.array if isinstance(value, _ReadOnly) else _within(value, _release)


def _within(value: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Change the elements of a tuple or a dict; any other container pickles itself."""
    if type(value) is tuple:
        return tuple(map(change, value))
    if type(value) is dict:
        return {key: change(each) for key, each in value.items()}
    return value
