"""Descriptions of models: their source, log density and forward simulation.

A `Model` is what is declared, in order: data, indices, variables, named functions, potentials. What
is observed is part of it, as values and masks.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from against_reference.table import ROWS
from against_reference.trees import Expr, World
from against_reference.vectors import (
    VECTOR_ROWS,
    draw_categorical,
    log_categorical,
    log_normal,
    log_student,
    states_of,
)

ROUNDS = 300  # of rejection, for a truncated value


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
            return f'{self.name} = gp.Index("{self.name}", {values}, of="{self.of}", dims={self.dims})'
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
        words += [f"{n}={e.python()}" for n, e in (("lower", self.lower), ("upper", self.upper)) if e]
        return f"gp.{self.family}({', '.join(words)}"


@dataclass(frozen=True, slots=True)
class Variable:
    """A random array.

    ``mask`` is 1 where it is observed (None: nowhere), ``of`` the dim that labels point into;
    ``event`` its last dims, that one value has. ``regions``: declared as a `gp.Array`. ``censoring``
    maps "event", "lower", "upper" to expressions.
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
        words = [f"dims={self.dims}", *([f"event={event}"] if event else []), *self.observed(values)]
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
        yield f"{self.name} = {part.python(self.name)}{', ' if part.written else ', '}{', '.join(words)})"


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

    def source(self, settings=True):
        """A script that declares the model and compiles it."""
        lines = []
        for item in self.items:
            lines += item.python(self.values) if isinstance(item, Variable) else [item.python()]
        asked = ", ".join(f"{n}={t}" for n, t in self.settings.items()) if settings else ""
        body = "\n    ".join([f'with gp.Model(coords={dict(self.sizes)}, name="m{self.seed}") as model:',
                              *lines])
        return (f"import numpy as np\nimport gibbsppl as gp\n\n{body}\n\n"
                f"sampler = gp.compile(model{', ' if asked else ''}{asked})\n")

    # ---- density -----------------------------------------------------------------------------

    def log_terms(self, arrays, states):
        """The log density of each part and term: name to arrays (elements, states)."""
        world = World(self.lengths, {**self.known, **arrays}, states)
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
                    world = World(self.lengths, arrays, states)
                    for at in positions(item, part, self):
                        weights = weights + simulate_element(rng, item, part, at, world, mask)
            elif isinstance(item, Term):
                world = World(self.lengths, arrays, states)
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


# ---- one element -------------------------------------------------------------------------------


def scalar_law(part, at, world):
    """The law of one number, its parameters, and whether they are inside of their supports."""
    row = ROWS[part.family]
    written = {n: np.asarray(e.value(at, world), float) for n, e in part.written.items()}
    made = row.spellings.get(tuple(written)) if row.spellings else None
    parameters = written if made is None else made(**written)
    return row, row.law(**parameters), parameters


def bounds(part, at, world):
    return [None if e is None else np.asarray(e.value(at, world), float)
            for e in (part.lower, part.upper)]


def log_between(row, law, lower, upper):
    """The log of the probability of what is between two bounds, they included."""
    if lower is None and upper is None:
        return 0.0
    below = None if lower is None else (np.ceil(lower) - 1 if row.whole else lower)
    above = None if upper is None else (np.floor(upper) if row.whole else upper)
    with np.errstate(all="ignore"):
        if below is None:
            return np.log(law.cdf(above))
        if above is None:
            return np.log(law.sf(below))
        from_left, from_right = law.cdf(above) - law.cdf(below), law.sf(below) - law.sf(above)
        return np.log(np.where(law.cdf(above) < 0.5, from_left, from_right))


def log_element(variable, part, at, world):
    """The log density of one value, a number or a vector."""
    with np.errstate(all="ignore"):
        if part.family == "Categorical":
            p = label_probabilities(variable, part, at, world)
            return log_categorical(world.read(variable.name, at.values()), p)
        if part.family in VECTOR_ROWS:
            row, parameters = vector_parameters(variable, part, at, world)
            return row.log_density(vector_value(variable, at, world), **parameters)
        return log_number(variable, part, at, world)


def log_number(variable, part, at, world):
    row, law, parameters = scalar_law(part, at, world)
    x = world.read(variable.name, at.values())
    lower, upper = bounds(part, at, world)
    seen = np.where(_inside(row, parameters, lower, upper, x), law.logpdf(x), -np.inf)
    for where, low, high in _censored(variable.censoring, x, at, world):
        low = low if lower is None else (lower if low is None else np.maximum(low, lower))
        high = high if upper is None else (upper if high is None else np.minimum(high, upper))
        seen = np.where(where, log_between(row, law, low, high), seen)
    return seen - log_between(row, law, lower, upper)


def _inside(row, parameters, lower, upper, x):
    low, high = row.support(**parameters)
    inside = (x >= low) & (x <= high) & (not row.whole or x == np.rint(x))
    inside &= lower is None or x >= lower
    return inside & (upper is None or x <= upper)


def _censored(censoring, x, at, world):
    """Where only bounds are known, and which."""
    value = {n: np.asarray(e.value(at, world), float) for n, e in censoring.items()}
    if "event" in value:
        unseen = value["event"] == 0
        if set(value) == {"event"}:
            yield unseen, x, None
        else:
            yield unseen, value.get("lower"), value.get("upper")
        return
    if "lower" in value:
        yield x <= value["lower"], None, value["lower"]
    if "upper" in value:
        yield x >= value["upper"], value["upper"], None


def along(expr, at, dims, world):
    """The values of an expression along event dims, last."""
    sizes = [world.sizes[d] for d in dims]
    cells = [expr.value({**at, **dict(zip(dims, p, strict=True))}, world)
             for p in product(*map(range, sizes))]
    cells = np.broadcast_arrays(*(np.asarray(c, float) for c in cells))
    return np.stack(cells, -1).reshape(len(cells[0]), *sizes)


def label_probabilities(variable, part, at, world):
    """The probabilities of a label, along its dim or the copy of it."""
    p = part.written["p"]
    dim = next((d for d in (f"{variable.of}'", variable.of) if d in p.dims), variable.of)
    return along(p, at, (dim,), world)


def event_of(variable):
    return variable.event if len(variable.event) < 2 else (variable.event[0], variable.event[0] + "'")


def vector_parameters(variable, part, at, world):
    row = VECTOR_ROWS[part.family]
    k = event_of(variable)[0]
    written = {}
    for name, expr in part.written.items():
        axes = row.parameters[name][1] if name in row.parameters else 2
        dims = (k, f"{k}'")[:axes]
        written[name] = along(expr, at, dims, world) if axes else expr.value(at, world)
    made = row.spellings.get(tuple(written)) if row.spellings else None
    return row, written if made is None else made(**written)


def vector_value(variable, at, world):
    array = world.arrays[variable.name]
    return array[(slice(None), *at.values())]


# ---- draws of one element ----------------------------------------------------------------------


def simulate_element(rng, variable, part, at, world, mask):
    """Put draws of one value in its place; the log weights that are due."""
    place = (slice(None), *at.values())
    array, known = world.arrays[variable.name], mask[tuple(at.values())]
    if part.number is not None:
        array[place] = part.number
        return 0.0
    if np.all(known):
        return log_element(variable, part, at, world)
    if part.family == "Categorical":
        p = label_probabilities(variable, part, at, world)
        array[place] = draw_categorical(rng, world.states, p)
        return 0.0
    if part.family in VECTOR_ROWS:
        row, parameters = vector_parameters(variable, part, at, world)
        drawn = row.draw(rng, world.states, **parameters)
        if np.any(known):
            return _partly_known(variable, part, (row, parameters), (place, known), drawn, world)
        array[place] = drawn
        return 0.0
    row, law, _ = scalar_law(part, at, world)
    array[place], weight = draw_number(rng, law, bounds(part, at, world), world.states)
    return weight if row.proper else weight - law.rvs_logpdf(array[place])


def draw_number(rng, law, limits, states):
    """Draws between bounds, by rejection; minus infinity as the weight where none was found."""
    drawn = np.array(np.broadcast_to(law.rvs(rng, states), states), float)
    lower, upper = (np.broadcast_to(math.copysign(math.inf, s) if b is None else b, states)
                    for s, b in zip((-1, 1), limits, strict=True))
    for _ in range(ROUNDS):
        wrong = (drawn < lower) | (drawn > upper)
        if not wrong.any():
            return drawn, 0.0
        drawn[wrong] = np.broadcast_to(law.rvs(rng, states), states)[wrong]
    return drawn, np.where(wrong, -np.inf, 0.0)


def _partly_known(variable, part, law, where, drawn, world):
    """A vector of which some entries are known: the others from their marginal distribution."""
    (row, parameters), (place, known) = law, where
    array = world.arrays[variable.name]
    array[place] = np.where(known, array[place], drawn)
    at = dict(zip(variable.batch, place[1:], strict=True))
    missing = np.flatnonzero(~known)
    scale = np.linalg.inv(parameters["tau"])[:, missing][:, :, missing]
    marginal = {**parameters, "mu": parameters["mu"][:, missing], "tau": np.linalg.inv(scale)}
    proposal = (log_normal if row.name == "MvNormal" else log_student)(
        array[place][:, missing], **marginal)
    return log_element(variable, part, at, world) - proposal


assert states_of(np.zeros(2)) == 2
