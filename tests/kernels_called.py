"""Compiled kernels that Python may call: those that sweeps call have no wrappers for that."""

from functools import cache
from importlib import import_module


class Called:
    """A module of compiled kernels, each compiled once more, with what they call as it is."""

    def __init__(self, name):
        self._module = import_module(f"gibbsppl.runtime.compiled.{name}")

    def __getattr__(self, name):
        return called(getattr(self._module, name))


@cache
def called(kernel):
    """A kernel that Python calls; what is none as it is.

    (Numba would keep it under the name of the one that sweeps call, and take one for the other.)
    """
    from gibbsppl.runtime.compiled import making

    return making(cache=False)(kernel.py_func) if hasattr(kernel, "py_func") else kernel
