"""Arguments of public functions: what does not fit is an error of ours, not of Python.

>>> from gibbsppl.errors import RunError
>>> @calls_told(RunError, draws=COUNT)
... def sample(draws, *, seed=None): ...
>>> sample(10, sed=1)
Traceback (most recent call last):
gibbsppl.errors.RunError: sample() got an unexpected keyword argument 'sed'; expected \
(draws, *, seed=None). Did you mean 'seed'?
>>> sample("many")
Traceback (most recent call last):
gibbsppl.errors.RunError: sample: found draws='many', expected a whole number that is not negative.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from typing import Any, Literal, Never, ParamSpec, TypeAlias, TypeGuard, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.errors import CompileError, GibbspplError, UnknownNameError, did_you_mean

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

# Counts above it could not be counted through.
LARGEST_COUNT = 2**53
LONGEST = 80

# Numbers as users give them: an array of NumPy, pandas or xarray, or lists, with None for missing.
GivenArray: TypeAlias = ArrayLike | Sequence[object]


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of an argument, and how a message says it."""

    fits: Callable[[Any], bool]
    expected: str

    def or_none(self) -> Kind:
        """The same, or None."""
        return Kind(lambda value: value is None or self.fits(value), f"{self.expected}, or None")

    def or_truth(self) -> Kind:
        """The same, or True or False."""
        expected = f"True, False or {self.expected}"
        return Kind(lambda value: isinstance(value, bool) or self.fits(value), expected)


def _is_count(value: object) -> TypeGuard[int]:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        return False
    return bool(0 <= value <= LARGEST_COUNT)


def _are_names(value: object) -> bool:
    listed = isinstance(value, Sequence) and all(isinstance(v, str) for v in value)
    return isinstance(value, str) or listed


def _is_path(value: object) -> bool:
    try:
        return isinstance(value, str | PathLike) and b"\0" not in os.fsencode(value)
    except (TypeError, ValueError):  # (of a path that is bytes; of half a character)
        return False


NAME = Kind(lambda value: isinstance(value, str), "a name")
NAMES = Kind(_are_names, "a name, or several in a list")
COUNT = Kind(_is_count, "a whole number that is not negative")
POSITIVE = Kind(lambda value: _is_count(value) and value > 0, "a whole number from 1 on")
POSITIVE_NUMBER = Kind(
    lambda value: isinstance(value, int | float | np.integer | np.floating)
    and not isinstance(value, bool)
    and bool(0 < value < np.inf),
    "a number above 0",
)
BY_NAME = Kind(
    lambda value: isinstance(value, Mapping) and all(map(is_name, value)),
    "a dict by names",
)
OFTEN = Kind(
    lambda value: BY_NAME.fits(value) and all(map(POSITIVE.fits, value.values())),
    "a dict from names to whole numbers from 1 on",
)
KEPT = Kind(
    lambda value: NAMES.fits(value) or OFTEN.fits(value),
    "names, or a dict from names to of how many draws one is kept",
)
MAPPINGS = Kind(
    lambda value: isinstance(value, Mapping)
    or (isinstance(value, Sequence) and all(isinstance(v, Mapping) for v in value)),
    "a dict, or a list of one for each chain",
)
STARTS = Kind(
    lambda value: MAPPINGS.fits(value) or hasattr(type(value), "starts"),
    "a dict, a list of one for each chain, draws or a fit",
)
# Where chains start that are given no values.
StartWord: TypeAlias = Literal["pilot", "prior", "optimum", "variational"]
START_WORDS: tuple[StartWord, ...] = get_args(StartWord)
START = Kind(
    lambda value: value in START_WORDS if isinstance(value, str) else STARTS.fits(value),
    f"{', '.join(map(repr, START_WORDS))}, {STARTS.expected}",
)
PATH = Kind(_is_path, "the path of a file")
MODEL = Kind(lambda value: hasattr(type(value), "graph"), "a gp.Model")
DRAWS = Kind(lambda value: hasattr(type(value), "stacked"), "draws, as sample() returns them")
TRUTH = Kind(lambda value: isinstance(value, bool | np.bool_), "True or False")


def calls_told(
    error: type[GibbspplError], **kinds: Kind
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: calls that do not fit a function, or whose arguments are of another kind."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            if kinds:
                _check(function, kinds, args, kwargs, error)
            try:
                return function(*args, **kwargs)
            except TypeError as caught:
                # (what went wrong inside of the function has a frame of its own)
                if caught.__traceback__ is None or caught.__traceback__.tb_next is not None:
                    raise
                raise error(_misfit(function, args, caught)) from None

        return called

    return decorated


def methods_told(error: type[GibbspplError], **kinds: Mapping[str, Kind]) -> Callable[[C], C]:
    """`calls_told` for the methods and the constructor of a class, with kinds by method."""

    def decorated(own: C) -> C:
        if "__getattr__" not in vars(own):
            own.__getattr__ = _unknown  # type: ignore[attr-defined]
        inherited = {n: m for base in reversed(own.__mro__[:-1]) for n, m in vars(base).items()}
        for name, method in inherited.items():
            public = name in ("__init__", "__getitem__") or not name.startswith("_")
            if inspect.isfunction(method) and public:
                setattr(own, name, calls_told(error, **kinds.get(name, {}))(method))
        return own

    return decorated


def _unknown(self: object, name: str) -> Never:
    """In place of an attribute that an object does not have."""
    if name.startswith("_") or name in dir(type(self)):  # (a property that fails says why)
        object.__getattribute__(self, name)
    raise no_attribute(type(self).__name__, name, dir(self))


def _check(
    function: Callable[..., object],
    kinds: Mapping[str, Kind],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    error: type[GibbspplError],
) -> None:
    try:
        given = _signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return  # (told by the call itself)
    for name, kind in kinds.items():
        if name in given and not kind.fits(given[name]):
            raise error(
                f"{function.__name__.strip('_')}: found {name}={shown(given[name])}, expected "
                f"{kind.expected}."
            )


@functools.cache
def _signature(function: Callable[..., object]) -> inspect.Signature:
    """The signature of a function, read once."""
    return inspect.signature(function)


def shown(value: Any) -> str:
    """A value as a message says it, in one short line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # (of an integer with thousands of digits, or of what holds one)
        is_number = isinstance(value, int)
        text = f"a number of {value.bit_length()} bits" if is_number else type(value).__name__
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def is_no_text(label: str | bytes) -> bool:
    """Whether a text cannot be encoded, or has a null: no printer and no file takes it."""
    try:
        return b"\0" in (label.encode() if isinstance(label, str) else label)
    except UnicodeEncodeError:
        return True


def is_name(value: object) -> TypeGuard[str]:
    """Whether a value is a text that can be printed and saved as a name."""
    return isinstance(value, str) and value != "" and not is_no_text(value)


def is_na(value: object) -> bool:
    """Whether a value is pandas' NA or None, without importing pandas."""
    return value is None or type(value).__name__ == "NAType"


def _misfit(function: Callable[..., object], args: tuple[object, ...], caught: TypeError) -> str:
    """The message on arguments that do not fit a function, with the expected signature.

    A method is that of the class of its object, wherever it is written down.
    """
    taken = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    bare = inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in taken])
    unknown = re.search(r"unexpected keyword argument '(\w+)'", str(caught))
    names = [p.name for p in taken]
    meant = hint(unknown.group(1), "argument", names) if unknown else ""
    said = str(caught)
    if "." in function.__qualname__ and args:
        said = said.replace(function.__qualname__, f"{type(args[0]).__name__}.{function.__name__}")
    said = said.replace(".__init__()", "()")
    return f"{said}; expected {bare}.{meant}"


def is_finite_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number that a float can be."""
    return _is_number(value) and abs(value) <= sys.float_info.max


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_between(what: str, value: object, above: float, below: float) -> None:
    """Raise an error unless a value is None, or a number with ``above < value < below``."""
    if value is not None and not (is_finite_number(value) and above < value < below):
        between = f"above {above:g}" if below == math.inf else f"between {above:g} and {below:g}"
        raise CompileError(f"{what}: found {value!r}, expected a number {between}.")


def hint(name: str, place: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: what serves, the nearest name, or nothing.

    >>> hint("MutableData", "gibbsppl", ["Data"])
    ' What serves: gp.Data, and model.with_data(...) for other values.'
    >>> hint("Norml", "gibbsppl", ["Normal", "Data"])
    " Did you mean 'Normal'?"
    """
    from gibbsppl.elsewhere import ROWS  # noqa: PLC0415  (only where something is wrong)

    told = ROWS.get(place, {}).get(name)
    return did_you_mean(name, known) if told is None else f" What serves: {told}."


def called_here(name: str, known: Iterable[str]) -> str | None:
    """The name that a parameter has here, if others call it by a name that is not known.

    >>> called_here("sd", ["mu", "tau", "sigma"])
    'sigma'
    """
    from gibbsppl.elsewhere import PARAMETERS  # noqa: PLC0415  (as above)

    names = set(known)
    return next((n for n in PARAMETERS.get(name, ()) if n in names), None)


def no_attribute(owner: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error of reading a name that an object does not have."""
    public = [n for n in known if not n.startswith("_")]
    return UnknownNameError(f"{owner} has no {name!r}.{hint(name, owner, public)}")


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, or that of the class of an object that can be called."""
    return str(getattr(function, "__name__", type(function).__name__))


def misfit(function: Callable[..., Any], count: int) -> TypeError | None:
    """The error of calling a function with a number of arguments; None if it takes them."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError as error:
        return error
    except ValueError:  # (functions written in C may have no signature)
        pass
    return None
