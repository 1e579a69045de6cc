"""One value of an array: its log density, and its draws."""

import math
from itertools import product

import numpy as np

from against_reference.scalars import OfSciPy
from against_reference.table import ROWS
from against_reference.trees import World
from against_reference.vectors import (
    VECTOR_ROWS,
    draw_categorical,
    log_categorical,
    log_normal,
    log_student,
)

SMALLEST = 1e-5  # of parameters, and the inverse of the largest
ROUNDS = 8  # of rejection, for a truncated value

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
        inside = (_both(np.maximum, low, lower), _both(np.minimum, high, upper))
        seen = np.where(where, log_between(row, law, *inside), seen)
    density = seen - log_between(row, law, lower, upper)
    keep = _keep_digits(parameters) if world.strict else _are_numbers(parameters)
    return np.where(keep, density, np.nan)


def _are_numbers(parameters):
    keep = np.array([True])
    for value in parameters.values():
        keep = keep & np.isfinite(value)
    return keep


def _keep_digits(parameters):
    """Whether parameters are moderate; a law that is all but certain loses digits too."""
    keep = np.array([True])
    for name, value in parameters.items():
        size = np.abs(value)
        keep = keep & ((value == 0) | ((size > SMALLEST) & (size < 1 / SMALLEST)))
        if name in ("p", "psi", "q"):
            keep = keep & ((value == 1) | (1 - value > SMALLEST))
    return keep


def _both(narrower, a, b):
    """The narrower of two bounds, if there are two."""
    return a if b is None else b if a is None else narrower(a, b)


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
    found = along(p, at, (dim,), world)
    return found / found.sum(-1, keepdims=True) if world.are_weights else found


def event_of(variable):
    first = variable.event[0]
    return variable.event if len(variable.event) < 2 else (first, f"{first}'")


def written_of_vector(variable, part, at, world):
    """What is written as parameters of a vector, each with its number of event axes."""
    row = VECTOR_ROWS[part.family]
    k = event_of(variable)[0]
    found = {}
    for name, expr in part.written.items():
        axes = row.parameters[name][1] if name in row.parameters else 2
        dims = (k, f"{k}'")[:axes]
        value = along(expr, at, dims, world) if axes else expr.value(at, world)
        found[name] = (value, axes)
    return found


def vector_parameters(variable, part, at, world):
    row = VECTOR_ROWS[part.family]
    found = written_of_vector(variable, part, at, world)
    written = {name: value for name, (value, _) in found.items()}
    made = row.spellings.get(tuple(written)) if row.spellings else None
    return row, written if made is None else made(**written)


def vector_value(variable, at, world):
    array = world.arrays[variable.name]
    return array[(slice(None), *at.values())]


# ---- draws of one element ----------------------------------------------------------------------


class LostError(ValueError):
    """No state is left that has a law for a value."""


def simulate_element(rng, variable, part, at, world, mask):
    """Put draws of one value in its place; the log weights that are due.

    A state that has no law for the value, as a value before it was rounded to the end of its
    support, or a parameter overflows, or the probability between the value's bounds underflows, is
    lost: its weight is not known (NaN), and it goes on as a copy of one that is not.
    """
    if part.number is not None:
        world.arrays[variable.name][(slice(None), *at.values())] = part.number
        return 0.0
    known = mask[tuple(at.values())]
    kept = _has_law(variable, part, at, world)
    if part.family in ROWS and not known:
        kept = kept & _reaches_its_bounds(part, at, world)
    lost = ~np.broadcast_to(kept, world.states)
    if lost.any():
        _replace_by_others(world, lost)
    weight = _drawn(rng, variable, part, at, world, known)
    return np.where(lost, np.nan, weight)


def _reaches_its_bounds(part, at, world):
    """Whether the probability between the bounds of a value, if it has any, is a number above 0."""
    lower, upper = bounds(part, at, world)
    if lower is None and upper is None:
        return np.True_
    with np.errstate(all="ignore"):
        row, law, _ = scalar_law(part, at, world)
        return np.isfinite(log_between(row, law, lower, upper))


def _has_law(variable, part, at, world):
    """Whether the parameters of a value are numbers, and those of a distribution."""
    with np.errstate(all="ignore"):
        if part.family == "Categorical":
            p = label_probabilities(variable, part, at, world)
            return np.isfinite(p).all(-1) & (p.sum(-1) > 0)
        if part.family in VECTOR_ROWS:
            return _has_vector_law(variable, part, at, world)
        _, law, parameters = scalar_law(part, at, world)
        found = law.is_defined() if isinstance(law, OfSciPy) else np.True_
        for p in parameters.values():
            found = found & np.isfinite(p)
        return found


def _has_vector_law(variable, part, at, world):
    found = np.True_
    for value, axes in written_of_vector(variable, part, at, world).values():
        inside = tuple(range(-axes, 0))
        found = found & np.isfinite(value).all(inside)
        if axes == 2:
            found = found & (np.linalg.slogdet(value)[0] > 0)
    return found


def _replace_by_others(world, lost):
    """Put states that are not lost in the places of those that are."""
    left = np.flatnonzero(~lost)
    if not len(left):
        raise LostError("no state has a law for a value")
    copied = np.resize(left, lost.sum())
    for array in world.arrays.values():
        if len(array) > 1:
            array[lost] = array[copied]


def _drawn(rng, variable, part, at, world, known):
    """Put draws of one value in its place, where it is not known; the log weights that are due."""
    place = (slice(None), *at.values())
    array = world.arrays[variable.name]
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
    array[place] = draw_number(rng, part, at, world)
    row, law, _ = scalar_law(part, at, world)
    return 0.0 if row.proper else -law.rvs_logpdf(array[place])


def draw_number(rng, part, at, world):
    """Draws between bounds: by rejection, and where that fails by the distribution function."""
    row, law, _ = scalar_law(part, at, world)
    drawn = np.array(np.broadcast_to(law.rvs(rng, world.states), world.states), float)
    limits = bounds(part, at, world)
    lower, upper = (np.broadcast_to(math.copysign(math.inf, s) if b is None else b, world.states)
                    for s, b in zip((-1, 1), limits, strict=True))
    for _ in range(ROUNDS):
        wrong = (drawn < lower) | (drawn > upper)
        if not wrong.any():
            return drawn
        again = np.broadcast_to(law.rvs(rng, world.states), world.states)
        drawn[wrong] = again[wrong]
    left = np.flatnonzero((drawn < lower) | (drawn > upper))
    some = {n: a[left] if len(a) > 1 else a for n, a in world.arrays.items()}
    if len(left):
        _, law, _ = scalar_law(part, at, World(world.sizes, some, len(left)))
        drawn[left] = by_quantiles(rng, law, lower[left], upper[left], whole=row.whole)
    return drawn


def by_quantiles(rng, law, lower, upper, *, whole):
    """Draws between bounds by bisection of the distribution function, from the smaller tail."""
    u = rng.random(len(lower))
    below = np.ceil(lower) - 1 if whole else lower
    right = law.cdf(below) > 0.5
    share = (1 - u) * law.cdf(below) + u * law.cdf(upper)
    rest = (1 - u) * law.sf(below) + u * law.sf(upper)

    def is_reached(x):
        return np.where(right, law.sf(x) <= rest, law.cdf(x) >= share)

    step, least = 1.0, np.where(np.isfinite(below), below, np.minimum(upper, 0.0) - 1.0)
    most = np.where(np.isfinite(upper), upper, np.maximum(below, 0.0) + 1.0)
    for _ in range(200):
        outside = np.isneginf(below) & is_reached(least)
        short = np.isposinf(upper) & ~is_reached(most)
        if not (outside | short).any():
            break
        least, most = np.where(outside, least - step, least), np.where(short, most + step, most)
        step *= 2
    for _ in range(80):
        middle = np.floor((least + most) / 2) if whole else (least + most) / 2
        reached = is_reached(middle)
        least, most = np.where(reached, least, middle), np.where(reached, middle, most)
    return most


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
