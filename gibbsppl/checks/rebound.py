"""Copies of functions of a module that call other ones than the module has.

Nothing is changed in the module itself: who else calls it, in other threads too, sees nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any

Function = Callable[..., object]


def noted(
    module: Mapping[str, Any],
    tables: Iterable[Mapping[str, Function]],
    noting: Callable[[str, Function], Function],
) -> dict[str, Function]:
    """The functions of steps in some tables, by their names in a module, each noting its step."""
    return {
        name: noting(step, function)
        for table in tables
        for step, function in table.items()
        for name, own in module.items()
        if own is function
    }


def rebound(module: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """The names of a module, with what is changed; its own functions, undecorated, call that.

    >>> source = "def half(x): return x / two()" + chr(10) + "def two(): return 2"
    >>> exec(source, module := {})
    >>> rebound(module, {"two": lambda: 2.5})["half"](5.0), module["half"](5.0)
    (2.0, 2.5)
    """
    scope = {**module, **changed}
    left = {name: value for name, value in module.items() if name not in changed}
    for name, value in left.items():
        own = inspect.unwrap(value) if isinstance(value, FunctionType) else None
        if isinstance(own, FunctionType) and own.__globals__ is module:
            copy = FunctionType(own.__code__, scope, name, own.__defaults__, own.__closure__)
            copy.__kwdefaults__ = own.__kwdefaults__
            scope[name] = copy
    for name, value in left.items():
        if isinstance(value, tuple) and value and all(isinstance(v, FunctionType) for v in value):
            scope[name] = tuple(scope[v.__name__] for v in value)
    return scope
