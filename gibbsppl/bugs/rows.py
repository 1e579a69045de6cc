"""The rows of the tables of distributions and functions: facts, no algorithms.

A distribution of BUGS is a family of gibbsppl, with the parameters in a spelling of the family;
some need an auxiliary variable beside the value, or labels along an extra dimension. Unsupported
names are rows as well, with the reason, and the alternative to write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from math import prod
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over
from gibbsppl.bugs.grids import Array, Grid

# Whole numbers below it are floats without rounding.
LARGEST_EXACT = 2.0**53


@dataclass(frozen=True, slots=True)
class Meaning:
    """A family by name, with arguments named as in one of the family's spellings."""

    family: str
    arguments: Mapping[str, Expr]


@dataclass(frozen=True, slots=True, eq=False)
class Auxiliary:
    """An auxiliary variable (data augmentation): integrated out, the row's distribution is left.

    ``meaning`` is called with the arguments of the row's. There is one variable for each value of
    the distribution; with ``axes`` of 1 one for each position of the value's event dim.
    """

    meaning: Callable[..., Meaning]
    axes: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labels along a dim of the model alone: categories defined by parameters.

    ``count`` is the number of labels, from the parameters in order: the size of a vector, a known
    number (else None). ``tables(count)`` are data along the dim, by name; whole numbers are
    positions in a vector parameter. The meaning gets the leaf of each table by name.
    """

    count: Callable[..., int]
    tables: Callable[[int], Mapping[str, Array]] = lambda _count: {}


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """A distribution, by its names in JAGS and OpenBUGS; messages use the first name.

    ``parameters``: the number of axes of each parameter, by name, in order.
    ``meaning``: the family and its arguments, from the parameters as expressions, in order. A
    vector parameter is given by its entry at the event dim ``event[0]``, a matrix by its entry at
    ``event[0]`` and the primed dim. Rows that name ``event``, auxiliaries or tables of labels get
    them by keyword.
    ``event``: the number of axes of a value (0: a number).
    ``values_from``: the smallest value in BUGS, where the family counts from 0.
    ``weights``: the parameter whose entries need not sum to one, though the family's must.
    ``increasing``: the vector parameter that must increase.
    ``positive``: the family of the same density on positive values alone, if it has another name.
    ``certain``: the parameter that can make a value certain: the probability of 1, or the weights.
    ``alone``: the univariate meaning, for a vector or a matrix of one entry.
    """

    names: tuple[str, ...]
    parameters: Mapping[str, int]
    meaning: Callable[..., Meaning]
    event: int = 0
    values_from: int = 0
    weights: str | None = None
    increasing: str | None = None
    positive: str | None = None
    certain: str | None = None
    alone: Callable[..., Meaning] | None = None
    labels: Labels | None = None
    auxiliaries: Mapping[str, Auxiliary] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """An observation whose value tells the interval of the first parameter.

    ``bounds(value, *others)`` are the ends, with the other parameters as numbers (vectors along the
    last axis): ``lower < first parameter <= upper``. ``ends(value, count)`` are the same ends as
    positions in a vector of ``count`` cut points: the lower position, whether there is a lower end,
    the upper position, whether there is an upper end.
    """

    names: tuple[str, ...]
    parameters: Mapping[str, int]
    bounds: Callable[..., tuple[Array, Array]]
    ends: Callable[[Array, int], tuple[Array, Array, Array, Array]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LogLikelihood:
    """An observation whose log density is its parameter, for any value: a potential."""

    names: tuple[str, ...]
    parameters: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Sites:
    """The sites of a field: pairs of neighbours as positions from 0, each pair once, and data.

    ``of_pairs`` are numbers along the pairs, ``of_sites`` along the sites, by name.
    """

    first: Array
    second: Array
    of_pairs: Mapping[str, Array]
    of_sites: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A Markov random field: the log density is a sum over sites and over pairs of neighbours.

    ``known`` names the parameters that are numbers; ``sites`` makes sites from these, in order.
    ``site(x, ...)`` and ``pair(x, y, ...)`` are log densities, of one value and of two neighbours
    (less the mean, the vector parameter ``centre``, if there is one). The other parameters and the
    data of the site or of the pair are given by keyword.
    ``is_centred``: whether the values sum to zero. ``family``: the family of the values without
    this density.
    """

    names: tuple[str, ...]
    parameters: Mapping[str, int]
    known: tuple[str, ...]
    sites: Callable[..., Sites]
    site: Callable[..., Expr]
    pair: Callable[..., Expr]
    centre: str | None = None
    is_centred: bool = False
    family: str = "Flat"


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A distribution or function without a meaning here: the reason, and the alternative."""

    names: tuple[str, ...]
    reason: str
    instead: str

    @property
    def message(self) -> str:
        """The message of an error.

        >>> Unsupported(("dpick",), "not supported", "write ifelse(z, a, b)").message
        'dpick: not supported; write ifelse(z, a, b).'
        """
        return f"{self.names[0]}: {self.reason}; {self.instead}."


@dataclass(frozen=True, slots=True)
class Template:
    """An array as one expression along axes (none for a number).

    Lengths may differ: ``within`` is then 1 at positions within the lengths and 0 beyond,
    ``count()`` the number of positions within, ``lengths`` their number along each axis (None:
    all).
    """

    expr: Expr
    axes: tuple[Dim, ...] = ()
    sizes: tuple[int, ...] = ()
    within: Expr = sp.S.One
    count: Callable[[], Expr] | None = None
    lengths: tuple[Grid | None, ...] = ()

    @property
    def number(self) -> Expr:
        """The number of entries."""
        return sp.Integer(prod(self.sizes)) if self.count is None else self.count()


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function or an operator, by its names; ``least`` to ``most`` arguments (None: any number).

    Of numbers: ``numeric`` takes arrays, position by position, and ``symbolic`` expressions.
    ``of_arrays``: ``numeric(*arrays, axes=...)`` takes arrays with axes of positions first, then
    ``axes[n]`` axes of the n-th argument itself; ``symbolic`` takes and gives `Template`, of
    different lengths if the function ``is_fold``; repeated entries make no difference if it
    ``may_repeat``, too. ``symbolic`` is None for a function without an expression; ``reason`` tells
    why, and what to write for random variables. ``counts`` are the arguments, by position, that
    must be known numbers even then, and are passed on as numbers.
    ``undoes`` is the link on the left side whose inverse this function is.
    """

    names: tuple[str, ...]
    numeric: Callable[..., ArrayLike]
    symbolic: Callable[..., Any] | None
    least: int = 1
    most: int | None = 1
    of_arrays: bool = False
    is_fold: bool = False
    may_repeat: bool = False
    counts: tuple[int, ...] = ()
    reason: str = ""
    undoes: str = ""

    def takes(self, count: int) -> bool:
        """Whether the function may have ``count`` arguments.

        >>> Function(("sum",), np.sum, None, most=None).takes(5)
        True
        """
        return self.least <= count and (self.most is None or count <= self.most)

    def of_numbers(self, *arrays: Array, **axes: tuple[int, ...]) -> Array:
        """The value of numbers; floats where integers of 64 bits may be too short for it.

        >>> Function(("prod",), np.prod, None).of_numbers(np.array([4 * 10**9, 3 * 10**9]))
        array(1.2e+19)
        """
        found = np.asarray(self.numeric(*arrays, **axes))
        if found.dtype.kind not in "iu":
            return found
        as_floats = (np.asarray(a, dtype=np.float64) for a in arrays)
        floats = np.asarray(self.numeric(*as_floats, **axes))
        return found if (np.abs(floats) < LARGEST_EXACT).all() else floats


# What a value of no, one and two axes is called.
SHAPES = ("a number", "a vector", "a matrix")

Row = Distribution | Interval | LogLikelihood | Field | Unsupported


def meaning_of(
    row: Distribution | Auxiliary,
    parameters: Sequence[Expr],
    event: tuple[Dim, ...] = (),
    others: Mapping[str, Leaf] | None = None,
) -> Meaning:
    """The meaning of a distribution; parameters in order, ``others`` are auxiliaries and tables."""
    given = {"event": event, **(others or {})}
    of_number = row.alone if isinstance(row, Distribution) and row.event and not event else None
    meaning = row.meaning if of_number is None else of_number
    kinds = signature(meaning).parameters.items()
    return meaning(*parameters, **{n: given[n] for n, p in kinds if p.kind == p.KEYWORD_ONLY})


def shares(weights: Expr, dim: Dim) -> Expr:
    """An entry of a vector of weights, divided by their sum.

    >>> from gibbsppl.algebra.expressions import Array
    >>> k = Dim("k")
    >>> shares(Array("w")[k], k)
    w[k]/sum(w[k], k)
    """
    return weights / Over(weights, dim)


def expected(count: int, what: str, names: Sequence[str]) -> str:
    """The reason for a wrong number of arguments: the number found, and the number expected.

    >>> expected(3, "parameter", ["mu", "tau"])
    'found 3 parameters, expected 2 (mu, tau)'
    >>> expected(1, "parameter", [])
    'found 1 parameter, expected none'
    """
    listed = f"{len(names)} ({', '.join(names)})" if names else "none"
    return f"found {count} {what}{'' if count == 1 else 's'}, expected {listed}"
