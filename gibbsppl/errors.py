"""The exceptions a user can see: one per audience.

Each message names the variable, what was found, what was expected and what to do.
"""

from collections.abc import Iterable
from difflib import get_close_matches


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
