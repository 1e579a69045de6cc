"""Expressions of models: their source, and their values element by element.

The value of an expression at positions of dims is an array with one entry for each of several
states at once. A position is a number, or an array with one for each state, as a latent label is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special


@dataclass(frozen=True, slots=True)
class World:
    """Values of arrays, each with one leading axis of states (of length 1 for data).

    ``strict``: a density of parameters so large or small that digits are lost is not a number.
    ``are_weights``: probabilities of labels are weights, divided by their sum, as in BUGS.
    """

    sizes: Mapping[str, int]
    arrays: Mapping[str, Any]
    states: int
    strict: bool = False
    are_weights: bool = False

    def read(self, name, at):
        """The element of an array at positions."""
        array = self.arrays[name]
        if all(np.ndim(p) == 0 for p in at):
            for p, length in zip(at, array.shape[1:], strict=True):
                assert 0 <= p < length, (name, at)
            return array[(slice(None), *(int(p) for p in at))]
        state = np.arange(self.states) if len(array) > 1 else np.zeros(self.states, int)
        return array[(state, *(np.broadcast_to(p, self.states).astype(int) for p in at))]


class Expr:
    """An expression; ``dims`` are those that it has."""

    __slots__ = ()
    dims: frozenset

    @property
    def parts(self):
        """The expressions that it is made of."""
        return ()

    def value(self, at, world):
        raise NotImplementedError

    def python(self):
        raise NotImplementedError

    def walk(self):
        """The expression and all that is in it."""
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class Number(Expr):
    number: float
    dims: frozenset = frozenset()

    def value(self, at, world):
        return np.array([float(self.number)])

    def python(self):
        return repr(self.number)


@dataclass(frozen=True, slots=True)
class Read(Expr):
    """An array of the model as a whole, at the positions of its axes."""

    name: str
    axes: tuple

    @property
    def dims(self):
        return frozenset(self.axes)

    def value(self, at, world):
        return world.read(self.name, [at[d] for d in self.axes])

    def python(self):
        return self.name


@dataclass(frozen=True, slots=True)
class Named(Expr):
    """A named function of others."""

    name: str
    body: Expr

    @property
    def dims(self):
        return self.body.dims

    @property
    def parts(self):
        return (self.body,)

    def value(self, at, world):
        return self.body.value(at, world)

    def python(self):
        return self.name


@dataclass(frozen=True, slots=True)
class Lag(Expr):
    body: Expr
    dim: str
    steps: int = 1

    @property
    def dims(self):
        return self.body.dims

    @property
    def parts(self):
        return (self.body,)

    def value(self, at, world):
        return self.body.value({**at, self.dim: at[self.dim] - self.steps}, world)

    def python(self):
        return f'{enclosed(self.body)}.lag("{self.dim}", {self.steps})'


@dataclass(frozen=True, slots=True)
class At(Expr):
    """An expression at a position of one of its dims: a number, or what an index says."""

    body: Expr
    dim: str
    index: Any

    @property
    def dims(self):
        rest = self.body.dims - {self.dim}
        return rest if isinstance(self.index, int) else rest | self.index.dims

    @property
    def parts(self):
        return (self.body,) if isinstance(self.index, int) else (self.body, self.index)

    def value(self, at, world):
        if isinstance(self.index, int):
            position = self.index
        else:
            position = self.index.value(at, world)
            position = int(position[0]) if len(position) == 1 else position
        return self.body.value({**at, self.dim: position}, world)

    def python(self):
        index = self.index if isinstance(self.index, int) else self.index.python()
        return f'{enclosed(self.body)}.at("{self.dim}", {index})'


@dataclass(frozen=True, slots=True)
class Fold(Expr):
    """A sum or a product over a dim; up to the position itself if it is ``running``."""

    how: str
    body: Expr
    dim: str
    running: bool = False

    @property
    def dims(self):
        return self.body.dims if self.running else self.body.dims - {self.dim}

    @property
    def parts(self):
        return (self.body,)

    def value(self, at, world):
        stop = at[self.dim] + 1 if self.running else world.sizes[self.dim]
        total = np.array([float(self.how == "prod")])
        for n in range(world.sizes[self.dim]):
            term = self.body.value({**at, self.dim: n}, world)
            inside = np.asarray(n < stop)
            if self.how == "sum":
                total = total + np.where(inside, term, 0.0)
            else:
                total = total * np.where(inside, term, 1.0)
        return total

    def python(self):
        how = ("cum" if self.running else "") + self.how
        return f'gp.{how}({self.body.python()}, "{self.dim}")'


@dataclass(frozen=True, slots=True)
class Stick(Expr):
    """The weights of a stick broken along a dim; the last one is what is left."""

    body: Expr
    dim: str
    into: str

    @property
    def dims(self):
        return self.body.dims - {self.dim} | {self.into}

    @property
    def parts(self):
        return (self.body,)

    def value(self, at, world):
        left, weights = np.array([1.0]), []
        for n in range(world.sizes[self.dim]):
            broken = self.body.value({**at, self.dim: n}, world)
            weights.append(left * broken)
            left = left * (1 - broken)
        weights = np.broadcast_arrays(*weights, left)
        position = at[self.into]
        if np.ndim(position) == 0:
            return weights[position]
        return np.choose(position, weights)

    def python(self):
        return f'gp.stick_breaking({self.body.python()}, "{self.dim}", into="{self.into}")'


# Each function by its name: how it is written, and what it is.
FUNCTIONS = {
    "+": ("({} + {})", lambda a, b: a + b),
    "-": ("({} - {})", lambda a, b: a - b),
    "*": ("({} * {})", lambda a, b: a * b),
    "/": ("({} / {})", lambda a, b: a / b),
    "**": ("({} ** {})", lambda a, b: a**b),
    "neg": ("(-{})", lambda a: -a),
    "exp": ("gp.exp({})", np.exp),
    "log": ("gp.log({})", np.log),
    "sqrt": ("gp.sqrt({})", np.sqrt),
    "abs": ("gp.abs({})", np.abs),
    "expit": ("gp.expit({})", special.expit),
    "logit": ("gp.logit({})", lambda p: np.log(p) - np.log1p(-p)),
    "Phi": ("gp.Phi({})", special.ndtr),
    "loggamma": ("gp.loggamma({})", special.gammaln),
    "where": ("gp.where({}, {}, {})", lambda c, a, b: np.where(c != 0, a, b)),
    "minimum": ("gp.minimum({}, {})", np.minimum),
    "maximum": ("gp.maximum({}, {})", np.maximum),
    "step": ("gp.step({})", lambda a: (a >= 0).astype(float)),
    "equals": ("gp.equals({}, {})", lambda a, b: (a == b).astype(float)),
    "<": ("({} < {})", lambda a, b: (a < b).astype(float)),
}


@dataclass(frozen=True, slots=True)
class Call(Expr):
    function: str
    args: tuple
    dims: frozenset = field(default=frozenset())

    def __post_init__(self):
        object.__setattr__(self, "dims", frozenset().union(*(a.dims for a in self.args)))

    @property
    def parts(self):
        return self.args

    def value(self, at, world):
        with np.errstate(all="ignore"):
            if self._is_between_two():
                return self._between_two(at, world)
            return FUNCTIONS[self.function][1](*(a.value(at, world) for a in self.args))

    def _is_between_two(self):
        """Whether it is a difference of two values of one distribution function."""
        names = {getattr(a, "function", "") for a in self.args}
        return self.function == "-" and names in ({"Phi"}, {"expit"})

    def _between_two(self, at, world):
        """The difference from the tail in which both are small: 1 - f(x) is f(-x)."""
        of = FUNCTIONS[self.args[0].function][1]
        high, low = (a.args[0].value(at, world) for a in self.args)
        return np.where(high + low > 0, of(-low) - of(-high), of(high) - of(low))

    def python(self):
        return FUNCTIONS[self.function][0].format(*(a.python() for a in self.args))


def call(function, *args):
    """A function of expressions and numbers."""
    return Call(function, tuple(a if isinstance(a, Expr) else Number(a) for a in args))


def enclosed(expr):
    """The source of an expression that a method can be called on."""
    text = expr.python()
    return text if isinstance(expr, Read | Named) else f"({text})"
