"""Descriptions of models: their source, log density and forward simulation.

A `Model` is what is declared, in order: data, indices, variables, named functions, potentials. What
is observed is part of it, as values and masks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from against_reference.elements import log_element, simulate_element
from against_reference.trees import Expr, World


@dataclass(frozen=True, slots=True)
class Known:
    """An array of known numbers, or an index ``of`` a dim."""

    name: str
    dims: tuple
    values: Any
    of: str | None = None

    def python(self):
        values = f"np.array({self.values.tolist()})" if self.dims else repr(self.values.item())
        if self.of is not None:
            words = f'{values}, of="{self.of}", dims={self.dims}'
            return f'{self.name} = gp.Index("{self.name}", {words})'
        return f'{self.name} = gp.Data("{self.name}", {values}, dims={self.dims})'


@dataclass(frozen=True, slots=True)
class Part:
    """One distribution on a region of an array, or a known number there.

    ``starts`` and ``stops`` are those of the region, for each axis that is no event's. ``written``
    are the parameters in the spelling that is used, ``lower`` and ``upper`` truncate.
    """

    family: str
    written: Mapping
    starts: tuple = ()
    stops: tuple = ()
    lower: Expr | None = None
    upper: Expr | None = None
    number: float | None = None
    along: int | None = None

    @property
    def where(self):
        """The region as it is written: a position, or a slice for each axis."""
        return ", ".join(
            str(a) if n == self.along and b == a + 1 and a == 0 else f"{a}:{b}"
            for n, (a, b) in enumerate(zip(self.starts, self.stops, strict=True)))

    @property
    def exprs(self):
        bounds = (b for b in (self.lower, self.upper) if b is not None)
        return (*self.written.values(), *bounds)

    def python(self, name=None):
        """The distribution as source; with a name, the start of a declaration."""
        words = [f'"{name}"'] if name else []
        words += [f"{n}={e.python()}" for n, e in self.written.items()]
        bounds = {"lower": self.lower, "upper": self.upper}
        words += [f"{n}={e.python()}" for n, e in bounds.items() if e is not None]
        return f"gp.{self.family}({', '.join(words)}"


@dataclass(frozen=True, slots=True)
class Variable:
    """A random array.

    ``mask`` is 1 where it is observed (None: nowhere), ``of`` the dim that labels point into;
    ``event`` its last dims, that one value has. ``regions``: declared as a `gp.Array`.
    ``censoring`` maps "event", "lower", "upper" to expressions. ``floats``: whole numbers are
    given as floats.
    """

    name: str
    dims: tuple
    kind: str
    parts: tuple
    event: tuple = ()
    of: str | None = None
    mask: Any = None
    regions: bool = False
    censoring: Mapping = field(default_factory=dict)
    floats: bool = False

    @property
    def batch(self):
        return self.dims[: len(self.dims) - len(self.event)]

    def observed(self, values):
        """The word that gives the values, if any are known."""
        if self.mask is None or not self.mask.any():
            return []
        array = values[self.name]
        whole = self.kind in ("count", "binary", "label", "counts") and not self.floats
        array = np.where(self.mask, array, 0)
        array = array.astype(int) if whole else array
        text = f"np.array({array.tolist()})"
        if not self.mask.all():
            text = f"np.ma.masked_array({array.tolist()}, mask={(~self.mask).tolist()})"
        return [f"observed={text}"]

    def python(self, values):
        """The lines that declare it."""
        event = (self.of,) if self.of else self.event
        words = [f"dims={self.dims}", *self.observed(values)]
        words += [f"event={event}"] if event else []
        if self.regions:
            yield f'{self.name} = gp.Array("{self.name}", {", ".join(words)})'
            for part in self.parts:
                where = part.where + ", :" * len(self.event)
                what = repr(part.number) if part.number is not None else part.python() + ")"
                yield f"{self.name}[{where}] = {what}"
            return
        (part,) = self.parts
        if self.censoring:
            words += [f"{n}={e.python()}" for n, e in self.censoring.items()]
            yield f'{self.name} = gp.Censored("{self.name}", {part.python()}), {", ".join(words)})'
            return
        if part.family == "DiscreteUniform" and self.of:
            words = [w for w in words if not w.startswith("event=")] + [f'of="{self.of}"']
        yield f"{self.name} = {part.python(self.name)}, {', '.join(words)})"


@dataclass(frozen=True, slots=True)
class Function:
    """A named function of variables."""

    name: str
    body: Expr

    def python(self):
        return f'{self.name} = gp.Deterministic("{self.name}", {self.body.python()})'


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the log density, or a constraint (its body is then 1 where it holds)."""

    name: str
    body: Expr
    ranges: Mapping
    constraint: bool = False

    def python(self):
        what = "Constraint" if self.constraint else "Potential"
        return f'gp.{what}("{self.name}", {self.body.python()})'


@dataclass(frozen=True, slots=True)
class Model:
    """All that is declared, in order, and the values of what is observed."""

    seed: int
    sizes: Mapping
    items: tuple
    settings: Mapping = field(default_factory=dict)
    values: Mapping = field(default_factory=dict)
    features: frozenset = frozenset()
    in_bugs: bool = False

    @property
    def variables(self):
        return tuple(i for i in self.items if isinstance(i, Variable))

    @property
    def lengths(self):
        """The sizes of all dims, copies too."""
        return {**self.sizes, **{f"{d}'": n for d, n in self.sizes.items()}}

    @property
    def known(self):
        """The arrays of data, with a leading axis of one state."""
        return {i.name: np.asarray(i.values, float)[None] for i in self.items
                if isinstance(i, Known)}

    @property
    def latent(self):
        """The parts of which not all is observed, each with its variable; numbers are none."""
        return tuple(
            (v, p) for v in self.variables for p in v.parts
            if p.number is None and any(
                v.mask is None or not np.all(v.mask[tuple(at[d] for d in v.batch)])
                for at in positions(v, p, self)))

    def source(self, settings=True):
        """A script that declares the model and compiles it."""
        lines = []
        for item in self.items:
            lines += item.python(self.values) if isinstance(item, Variable) else [item.python()]
        asked = ", ".join(f"{n}={t}" for n, t in self.settings.items()) if settings else ""
        head = f'with gp.Model(coords={dict(self.sizes)}, name="m{self.seed}") as model:'
        body = "\n    ".join([head, *lines])
        return (f"import numpy as np\nimport gibbsppl as gp\n\n{body}\n\n"
                f"sampler = gp.compile(model{', ' if asked else ''}{asked})\n")

    # ---- density -----------------------------------------------------------------------------

    def log_terms(self, arrays, states, *, strict=True):
        """The log density of each part and term: name to arrays (elements, states).

        NaN where a parameter is infinite or no number; if ``strict``, also where parameters are so
        large or so small that digits are lost.
        """
        world = World(
            self.lengths, {**self.known, **arrays}, states, strict=strict, are_weights=self.in_bugs
        )
        found = {}
        for item in self.items:
            if isinstance(item, Variable):
                for n, part in enumerate(item.parts):
                    if part.number is None:
                        found[f"{item.name} {n}"] = _stacked([
                            log_element(item, part, at, world) for at in positions(item, part, self)
                        ], states)
            elif isinstance(item, Term):
                found[item.name] = _stacked([
                    _log_term(item, at, world) for at in _along(item.ranges)
                ], states)
        return found

    # ---- simulation --------------------------------------------------------------------------

    def simulated(self, rng, states, fixed=None):
        """Draws of all variables in order, and the log weights that they have.

        With ``fixed`` values what is observed has these, and the weight is their density, that of
        the potentials, and what an improper density lacks; without, the weight is that of the
        latter two.
        """
        arrays = dict(self.known)
        weights = np.zeros(states)
        for item in self.items:
            if isinstance(item, Variable):
                shape = tuple(self.lengths[d] for d in item.dims)
                arrays[item.name] = np.zeros((states, *shape))
                mask = np.zeros(shape, bool) if item.mask is None or fixed is None else item.mask
                if mask.any():
                    arrays[item.name][:, mask] = np.asarray(fixed[item.name], float)[mask]
                for part in item.parts:
                    world = World(self.lengths, arrays, states, are_weights=self.in_bugs)
                    for at in positions(item, part, self):
                        weights = weights + simulate_element(rng, item, part, at, world, mask)
            elif isinstance(item, Term):
                world = World(self.lengths, arrays, states, are_weights=self.in_bugs)
                for at in _along(item.ranges):
                    weights = weights + _log_term(item, at, world)
        own = {v.name for v in self.variables}
        return {n: a for n, a in arrays.items() if n in own}, np.broadcast_to(weights, states)


def _stacked(rows, states):
    return np.array([np.broadcast_to(r, states) for r in rows]).reshape(-1, states)


def _along(ranges):
    for at in product(*(range(a, b) for a, b in ranges.values())):
        yield dict(zip(ranges, at, strict=True))


def positions(variable, part, model):
    """The positions of the batch dims of a part's region."""
    stops = part.stops or tuple(model.lengths[d] for d in variable.batch)
    starts = part.starts or (0,) * len(stops)
    return _along({d: (a, b) for d, a, b in zip(variable.batch, starts, stops, strict=True)})


def _log_term(term, at, world):
    value = term.body.value(at, world)
    with np.errstate(divide="ignore"):
        return np.log(value) if term.constraint else value
