"""Random variables of a draft: of every distribution, latent and observed, whole and by regions."""

import numpy as np

from against_reference.models import Function, Part, Variable
from against_reference.scalars import COUNT, LABEL, POSITIVE, REAL, UNIT
from against_reference.table import (
    COUNT_ROWS,
    DISCRETE_UNIFORM,
    HYPERGEOMETRIC,
    POSITIVE_ROWS,
    REAL_ROWS,
    UNIT_ROWS,
    kind_of_parameter,
)
from against_reference.terms import Source
from against_reference.trees import Fold, Named, Number, Read, Stick, call
from against_reference.vectors import COUNTS, SIMPLEX, SPD, SPHERE, VECTOR

BOUNDS = {
    REAL: ((-0.7, None), (None, 1.3), (-1.0, 2.0), (0.0, None)),
    POSITIVE: ((0.2, None), (None, 2.5), (0.2, 3.0)),
    UNIT: ((0.1, None), (None, 0.9), (0.1, 0.9)),
    COUNT: ((1, None), (None, 6)),
}

# How often each is chosen; the others count 1.
WEIGHTS = {"Normal": 8, "Gamma": 4, "Poisson": 4, "Binomial": 3, "Bernoulli": 6, "Exponential": 2,
           "Beta": 3, "StudentT": 2, "Laplace": 2, "NegativeBinomial": 2, "HalfNormal": 2,
           "InverseGamma": 2}
APART = (HYPERGEOMETRIC.name, DISCRETE_UNIFORM.name)
SCALARS = [r for r in (*REAL_ROWS, *POSITIVE_ROWS, *UNIT_ROWS, *COUNT_ROWS) if r.name not in APART]
EVENTS = {VECTOR: REAL, SIMPLEX: UNIT, COUNTS: COUNT, SPHERE: REAL, SPD: SPD}


def some_dims(draft, most=2, without=()):
    free = [d for d in draft.sizes if d not in without]
    count = draft.one_of(range(most + 1), [2, 3, 1][: most + 1])
    return tuple(d for d in draft.sizes if d in draft.some_of(free, count))


def add(draft, variable):
    """Declare a variable; what reads it is its array."""
    draft.items.append(variable)
    kind = EVENTS.get(variable.kind, variable.kind)
    read = Read(variable.name, variable.dims)
    draft.sources.append(Source(read, kind, variable.of))
    return read


def observed(draft, dims, whole=0, share=None):
    """A mask of what is observed: all, or all but some; ``whole`` events are missing together."""
    shape = tuple(draft.size(d) for d in dims)
    mask = np.ones(shape, bool)
    if not shape or draft.chance(0.55 if share is None else 1 - share):
        return mask
    batch = shape[: len(shape) - whole]
    if batch or not whole:
        missing = draft.rng.random(batch) < 0.4
        if whole and missing.sum() > 1:
            draft.features.add("several missing events")
        if missing.any() and not missing.all():
            draft.features.add("partly observed")
        mask &= ~missing.reshape(batch + (1,) * whole)
    return mask


# ---- numbers -----------------------------------------------------------------------------------


def parameters(draft, row, dims, *, random=1, depth=1):
    """What is written for the parameters: ``random`` of them are terms of what is there."""
    spelling = draft.one_of(list(row.spellings) or [tuple(row.parameters)])
    busy = set(draft.some_of(spelling[:2] if draft.chance(0.6) else spelling, random))
    written = {}
    for name in spelling:
        kind = kind_of_parameter(row, name)
        if kind == COUNT:
            written[name] = draft.positive_count(dims)
        elif name in busy:
            written[name] = draft.term(kind, dims, depth)
        else:
            written[name] = draft.known(kind, dims)
    if row.name == "ChineseRestaurantTable":
        written["n"] = Number(draft.one_of((5, 9)))
    return written


def counts_trials(row):
    """Whether the values of a family are at most a number of trials."""
    return row.kind == COUNT and "n" in row.parameters and "NegativeBinomial" not in row.name


def scalar_part(draft, row, dims, *, random=1, depth=1, truncated=0.12):
    """A distribution of numbers, perhaps truncated by numbers or by variables."""
    if row.name == HYPERGEOMETRIC.name:
        written = {"N": Number(12), "D": draft.one_of((Number(5), Number(7))), "n": Number(4)}
        if random and (found := draft.read(COUNT, dims)) is not None:
            written["D"] = call("minimum", found, 12)
            draft.features.add("a random number of marked items")
        return Part(row.name, written), row.kind
    written = parameters(draft, row, dims, random=random, depth=depth)
    kind, bounds = row.kind, (None, None)
    if row.has_tails and kind in BOUNDS and draft.chance(truncated):
        draft.features.add("truncated")
        bounds = draft.one_of(BOUNDS[kind])
        if counts_trials(row):
            bounds = (bounds[0], None)  # (a bound beyond the number of trials is refused)
        if bounds[0] == 0.0:
            kind = POSITIVE
        bounds = [None if b is None else Number(b) for b in bounds]
        if draft.chance(0.3) and not row.whole and (x := draft.read(row.kind, dims)) is not None:
            draft.features.add("truncated by a variable")
            bounds, kind = draft.one_of(([x, None], [None, x])), row.kind
    return Part(row.name, written, lower=bounds[0], upper=bounds[1]), kind


def scalar_row(draft):
    """A family: any of them, or one that is more common."""
    rows = [r for r in SCALARS if draft.families is None or r.name in draft.families]
    if draft.chance(0.5):
        return draft.one_of(rows)
    return draft.one_of(rows, [WEIGHTS.get(r.name, 0) for r in rows])


def uniform_part(draft, dims, random):
    top = draft.term(POSITIVE, dims, 1) if random else Number(2.0)
    low, high, kind = draft.one_of((
        (Number(0.0), Number(1.0), UNIT),
        (Number(-1.5), Number(2.0), REAL),
        (Number(0.0), top, POSITIVE),
        (call("neg", top), top, REAL),
    ))
    draft.features.add("Uniform by a variable" if random else "Uniform")
    return Part("Uniform", {"lower": low, "upper": high}), kind


def simple_part(draft, dims, random):
    """A distribution of numbers."""
    if draft.chance(0.08):
        return uniform_part(draft, dims, random)
    if draft.families is None and draft.chance(0.04):
        top = draft.one_of((Number(4), Number(2)))
        return Part("DiscreteUniform", {"lower": Number(0), "upper": top}), COUNT
    row = scalar_row(draft)
    if draft.families is None and draft.chance(0.02):
        row = HYPERGEOMETRIC
    return scalar_part(draft, row, dims, random=random, depth=1 if draft.chance(0.7) else 2)


# ---- latent variables ------------------------------------------------------------------------


def scalar(draft, name=None):
    dims = some_dims(draft)
    random = int(draft.chance(0.45)) + int(draft.chance(0.15))
    part, kind = simple_part(draft, dims, min(random, len(draft.sources)))
    mask = None
    if dims and draft.chance(0.1):
        mask = ~observed(draft, dims, share=1.0)
        draft.features.add("few observed")
    return add(draft, Variable(name or draft.fresh("x"), dims, kind, (part,), mask=mask))


def probabilities(draft, of, dims):
    """The probabilities of a label: numbers, a simplex, a softmax, a broken stick."""
    found = [s for s in draft.sources if s.kind == UNIT and _sums_to_one(draft, s, of)]
    way = draft.one_of(("known", "simplex", "softmax"), [1, 6 if found else 0, 1.2])
    if way == "simplex":
        source = draft.one_of(found)
        expr, own = source.expr, _own_axis(draft, source, of)
        for d in sorted(expr.dims - set(dims) - {own}):
            expr = draft.without(expr, d, dims, SIMPLEX)
        return expr
    if way == "known" or not draft.sources:
        return draft.weights(of)
    draft.features.add("softmax")
    odds = call("exp", draft.term(REAL, (*dims, of), 1))
    if of not in odds.dims:
        odds = call("*", odds, draft.covariate(POSITIVE, (of,)))
    return call("/", odds, Fold("sum", odds, of))


def _own_axis(draft, source, of):
    variable = next(i for i in draft.items if i.name == source.expr.name)
    return variable.event[0]


def _sums_to_one(draft, source, of):
    if not isinstance(source.expr, Read):
        return False
    variable = next(i for i in draft.items if i.name == source.expr.name)
    return variable.kind == SIMPLEX and variable.event[0].rstrip("'") == of


def label(draft, name=None):
    """Labels that point into a dim."""
    of = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = some_dims(draft, 2, (of,))
    mask = ~observed(draft, dims, share=1.0) if dims and draft.chance(0.2) else None
    if draft.chance(0.1):
        part = Part("DiscreteUniform", {"lower": Number(0), "upper": Number(draft.size(of) - 1)})
    else:
        part = Part("Categorical", {"p": probabilities(draft, of, dims)})
    name = name or draft.fresh("z")
    return add(draft, Variable(name, dims, LABEL, (part,), of=of, mask=mask))


def event_dims(draft, least=2):
    """A dim for an event of that many entries or more, and dims besides."""
    large = [d for d in draft.sizes if draft.size(d) >= least]
    if not large:
        return None, ()
    event = draft.one_of(large)
    return event, some_dims(draft, 1, (event,))


def simplex(draft, name=None):
    event, dims = event_dims(draft)
    if event is None:
        return scalar(draft)
    a = draft.term(POSITIVE, (*dims, event), 1) if draft.chance(0.3) else draft.known(
        POSITIVE, (*dims, event))
    if draft.chance(0.06) and draft.size(event) > 2:
        draft.features.add("impossible entries")
        values = np.round(draft.rng.gamma(3.0, 0.5, size=draft.size(event)) + 0.1, 2)
        values[draft.rng.integers(len(values))] = 0.0
        a = draft.data("a", values, (event,))
    part = Part("Dirichlet", {"a": a})
    return add(draft, Variable(name or draft.fresh("w"), (*dims, event), SIMPLEX, (part,),
                               event=(event,)))


def transitions(draft):
    """Rows of probabilities along a dim and its copy."""
    of = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    part = Part("Dirichlet", {"a": draft.known(POSITIVE, ())})
    return add(draft, Variable(draft.fresh("P"), (of, f"{of}'"), SIMPLEX, (part,),
                               event=(f"{of}'",)))


def spare(draft):
    """A stick broken into the pieces of another dim, and labels by it."""
    pairs = [(a, b) for a in draft.sizes for b in draft.sizes
             if draft.size(b) == draft.size(a) + 1]
    if not pairs:
        return scalar(draft)
    draft.features.add("stick breaking")
    dim, into = draft.one_of(pairs)
    v = add(draft, Variable(draft.fresh("v"), (dim,), UNIT,
                            (Part("Beta", {"a": Number(1.0), "b": draft.known(POSITIVE, ())}),)))
    dims = some_dims(draft, 1, (dim, into))
    part = Part("Categorical", {"p": Stick(v, dim, into)})
    return add(draft, Variable(draft.fresh("z"), dims, LABEL, (part,), of=into))


def matrix_of(draft, event, dims):
    """A positive definite matrix that may be written: data or a variable."""
    found = [s for s in draft.sources if s.kind == SPD and event in s.expr.dims]
    if found and draft.chance(0.8):
        expr = draft.one_of(found).expr
        for d in sorted(expr.dims - set(dims) - {event, event + "'"}):
            expr = draft.without(expr, d, dims, SPD)
        return expr
    return draft.matrix(event)


def vector_part(draft, event, dims, family=None):
    family = family or draft.one_of(("MvNormal", "MvStudentT"), [4, 1])
    mu = draft.term(REAL, (*dims, event), 1) if draft.chance(0.6) else draft.known(
        REAL, (*dims, event))
    word = draft.one_of(("tau", "cov") if family == "MvNormal" else ("tau", "scale"))
    written = {} if family == "MvNormal" else {"nu": draft.known(POSITIVE, dims)}
    return Part(family, {**written, "mu": mu, word: matrix_of(draft, event, dims)})


def vector(draft, name=None):
    event, dims = event_dims(draft)
    if event is None:
        return scalar(draft)
    part = vector_part(draft, event, dims)
    return add(draft, Variable(name or draft.fresh("x"), (*dims, event), VECTOR, (part,),
                               event=(event,)))


def matrix(draft, name=None):
    event, dims = event_dims(draft)
    if event is None or draft.size(event) > 3:
        return scalar(draft)
    family = draft.one_of(("Wishart", "InverseWishart", "HuangWand"))
    p = draft.size(event)
    nu = Number(float(p + draft.one_of((1, 2, 3.5))))
    if family == "HuangWand":
        written = {"nu": Number(draft.one_of((2.0, 3.0))),
                   "scale": draft.term(POSITIVE, (*dims, event), 1)}
    else:
        word = draft.one_of(("V", "R")) if family == "Wishart" else "S"
        written = {"nu": nu, word: draft.matrix(event)}
    axes = (event, event + "'")
    return add(draft, Variable(name or draft.fresh("S"), (*dims, *axes), SPD,
                               (Part(family, written),), event=axes))


def sphere_part(draft, event, dims):
    found = [s for s in draft.sources if isinstance(s.expr, Read) and any(
        getattr(i, "kind", None) == SPHERE and i.name == s.expr.name and i.event == (event,)
        for i in draft.items)]
    if found:
        mu = draft.one_of(found).expr
        for d in sorted(mu.dims - set(dims) - {event}):
            mu = draft.without(mu, d, dims, SPHERE)
    else:
        values = draft.rng.normal(size=draft.size(event))
        mu = draft.data("pole", values / np.linalg.norm(values), (event,))
    kappa = draft.term(POSITIVE, dims, 0)
    return Part("VonMisesFisher", {"mu": mu, "kappa": call("minimum", kappa, 4.0)
                                   if not isinstance(kappa, Number) else kappa})


def sphere(draft, name=None):
    event, dims = event_dims(draft)
    if event is None:
        return scalar(draft)
    return add(draft, Variable(draft.fresh("u"), (*dims, event), SPHERE,
                               (sphere_part(draft, event, dims),), event=(event,)))


def function(draft):
    """A named function of variables."""
    kind = draft.one_of((REAL, POSITIVE, UNIT))
    dims = some_dims(draft)
    body = draft.term(kind, dims, 1)
    if isinstance(body, Number | Read):
        return
    name = draft.fresh("f")
    draft.items.append(Function(name, body))
    draft.sources.append(Source(Named(name, body), kind))
