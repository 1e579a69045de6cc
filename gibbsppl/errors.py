"""The exceptions a user can see: one per audience.

Each message names the variable, what was found, what was expected and what to do.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class GibbspplError(Exception):
    """The root of every error that gibbsppl raises on purpose."""


class ModelError(GibbspplError):
    """The model or its data, as declared, is not a model: shapes, names, values, supports."""


class UnknownNameError(GibbspplError, AttributeError):
    """The package, or one of its objects, has nothing of that name."""


class CompileError(GibbspplError):
    """The model is valid, but no sampler with the settings asked for can be made."""


class ImproperError(CompileError):
    """A conditional that has no finite integral, whatever the values of all else."""


class TooLargeError(CompileError):
    """A number that a sampler needs, and that is larger than any float."""


class NotLoweredError(CompileError):
    """A part of a model that the array language does not have yet."""


class RunError(GibbspplError):
    """A run cannot start or go on: initial values, memory, a state that is not finite."""


class StartError(RunError):
    """A run cannot start from the values found, though other values may do."""


@contextmanager
def told_of(name: str, kind: type[GibbspplError] = CompileError) -> Iterator[None]:
    """A context in which a number that is too large is said to be of a variable or a step."""
    try:
        yield
    except TooLargeError as error:
        raise kind(f"{name}: {error}") from error


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that was most likely meant, if any is near; letters may be large or small.

    >>> nearest("Mu", ["tau", "mu"])
    'mu'
    """
    small = {n.lower(): n for n in known}
    found = get_close_matches(name.lower(), small, n=1)
    return small[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: a question, or nothing.

    >>> did_you_mean("thetta", ["theta", "mu"])
    " Did you mean 'theta'?"
    """
    near = nearest(name, known)
    return "" if near is None else f" Did you mean {near!r}?"


def counted(number: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "step"), counted(8, "step")
    ('1 step', '8 steps')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
