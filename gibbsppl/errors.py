"""The exceptions a user can see: one per audience.

Each message names the variable, what was found, what was expected and what to do.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, TypeVar


class GibbspplError(Exception):
    """The root of every error that gibbsppl raises on purpose."""


class ModelError(GibbspplError):
    """The model or its data, as declared, is not a model: shapes, names, values, supports."""


class CompileError(GibbspplError):
    """The model is a model, but no sampler of the kind that was asked for can be made of it."""


class RunError(GibbspplError):
    """A run cannot start or go on: initial values, memory, a state that is not finite."""


class StartError(RunError):
    """A run cannot start from values that were found for it; from others it may."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that was most likely meant, if any is near; letters may be large or small.

    >>> nearest("Mu", ["tau", "mu"])
    'mu'
    """
    small = {n.lower(): n for n in known}
    found = get_close_matches(name.lower(), small, n=1)
    return small[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What to add to a message about a name that is not known: a question, or nothing.

    >>> did_you_mean("thetta", ["theta", "mu"])
    " Did you mean 'theta'?"
    """
    near = nearest(name, known)
    return "" if near is None else f" Did you mean {near!r}?"


F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


def calls_told(error: type[GibbspplError]) -> Callable[[F], F]:
    """A decorator: what a function cannot be called with is an error of ours, not of Python.

    >>> @calls_told(RunError)
    ... def sample(draws, *, seed=None): ...
    >>> sample(10, sed=1)
    Traceback (most recent call last):
    gibbsppl.errors.RunError: sample() got an unexpected keyword argument 'sed'; expected \
(draws, *, seed=None). Did you mean 'seed'?
    """

    def decorated(function: F) -> F:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except TypeError as caught:
                # (what went wrong inside of the function has a frame of its own)
                if caught.__traceback__ is None or caught.__traceback__.tb_next is not None:
                    raise
                raise error(_misfit(function, caught)) from None

        return called  # type: ignore[return-value]

    return decorated


def methods_told(error: type[GibbspplError]) -> Callable[[C], C]:
    """The same for the methods of a class, and for making one of it."""

    def decorated(own: C) -> C:
        for name, method in list(vars(own).items()):
            if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
                setattr(own, name, calls_told(error)(method))
        return own

    return decorated


def _misfit(function: Callable[..., Any], caught: TypeError) -> str:
    """What a call had that does not fit a function, and what fits."""
    taken = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    bare = inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in taken])
    unknown = re.search(r"unexpected keyword argument '(\w+)'", str(caught))
    meant = did_you_mean(unknown.group(1), [p.name for p in taken]) if unknown else ""
    said = str(caught).replace(".__init__()", "()")
    return f"{said}; expected {bare}.{meant}"
