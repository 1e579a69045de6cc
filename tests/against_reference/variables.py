"""Random variables of a draft: of every distribution, latent and observed, whole and by regions."""

import numpy as np
from against_reference.models import Part, Variable
from against_reference.scalars import ANGLE, BINARY, COUNT, LABEL, POSITIVE, REAL, UNIT
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
from against_reference.trees import Call, Fold, Lag, Number, Read, Stick, call
from against_reference.vectors import COUNTS, SIMPLEX, SPD, SPHERE, VECTOR

BOUNDS = {
    REAL: ((-0.7, None), (None, 1.3), (-1.0, 2.0), (0.0, None)),
    POSITIVE: ((0.2, None), (None, 2.5), (0.2, 3.0)),
    UNIT: ((0.1, None), (None, 0.9), (0.1, 0.9)),
    COUNT: ((1, None), (None, 6)),
}
LIMITS = {REAL: (-0.5, 1.2), POSITIVE: (0.3, 1.5), UNIT: (0.2, 0.7), COUNT: (1, 4)}

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


def observed(draft, dims, sizes=None, whole=0, share=None):
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


def simple_part(draft, kind, dims, random):
    """A distribution of numbers of a kind, or of any."""
    if draft.chance(0.08):
        return uniform_part(draft, dims, random)
    if draft.families is None and draft.chance(0.04):
        top = draft.one_of((Number(4), Number(2)))
        return Part("DiscreteUniform", {"lower": Number(0), "upper": top}), COUNT
    row = scalar_row(draft)
    if draft.families is None and draft.chance(0.02):
        row = HYPERGEOMETRIC
    return scalar_part(draft, row, dims, random=random, depth=1 if draft.chance(0.7) else 2)


# ---- latent variables --------------------------------------------------------------------------


def latent(draft):
    """Declare a latent variable, or one of which some elements are known."""
    ways = {scalar: 10, label: 2, simplex: 1.5, vector: 1.5, matrix: 0.8, series: 2, chain: 0.8,
            sphere: 0.3, transitions: 0.5, function: 0.8 if draft.sources else 0, spare: 0.3}
    draft.one_of(ways, list(ways.values()))(draft)


def scalar(draft, name=None):
    dims = some_dims(draft)
    random = int(draft.chance(0.45)) + int(draft.chance(0.15))
    part, kind = simple_part(draft, None, dims, min(random, len(draft.sources)))
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


def matrix_of(draft, event, dims, word):
    """A positive definite matrix that may be written for ``word``: data or a variable."""
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
    return Part(family, {**written, "mu": mu, word: matrix_of(draft, event, dims, word)})


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


# ---- series ------------------------------------------------------------------------------------

SERIES = {
    REAL: lambda draft, x, dims: draft.one_of((
        lambda: Part("Normal", {"mu": x, "sigma": draft.term(POSITIVE, dims, 1)}),
        lambda: Part("Normal", {"mu": call("*", draft.term(REAL, dims, 0), x),
                                "tau": draft.known(POSITIVE, dims)}),
        lambda: Part("Normal", {"mu": call("+", call("*", 0.6, x), draft.term(REAL, dims, 1)),
                                "var": draft.known(POSITIVE, dims)}),
        lambda: Part("StudentT", {"nu": Number(4.0), "mu": x,
                                  "sigma": draft.known(POSITIVE, dims)}),
        lambda: Part("Laplace", {"mu": x, "rate": draft.term(POSITIVE, dims, 0)}),
        lambda: Part("Normal", {"mu": x, "sigma": Number(1.0)}, lower=call("-", x, 1.5)),
    ))(),
    POSITIVE: lambda draft, x, dims: draft.one_of((
        lambda: Part("Gamma", {"shape": Number(3.0), "rate": call("/", 3.0, x)}),
        lambda: Part("LogNormal", {"mu": call("log", x), "sigma": draft.known(POSITIVE, dims)}),
        lambda: Part("InverseGamma", {"shape": Number(3.5), "scale": x}),
        lambda: Part("Exponential", {"scale": call("+", x, 0.2)}),
    ))(),
    COUNT: lambda draft, x, dims: draft.one_of((
        lambda: Part("Poisson", {"rate": call("+", call("*", 0.5, x),
                                              draft.term(POSITIVE, dims, 0))}),
        lambda: Part("Binomial", {"n": call("+", x, 1), "p": draft.term(UNIT, dims, 0)}),
    ))(),
    BINARY: lambda draft, x, dims: Part("Bernoulli", {"p": draft.one_of((
        call("expit", call("+", call("*", draft.term(REAL, dims, 0), x), Number(-0.3))),
        call("where", x, draft.term(UNIT, dims, 0), draft.known(UNIT, ())),
    ))}),
    UNIT: lambda draft, x, dims: Part("Beta", {"mu": x, "kappa": draft.known(POSITIVE, dims)}),
}


def series(draft, name=None, mask=None):
    """An array filled by regions: its first elements, then those that see the one before."""
    t = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in draft.sizes if d == t or d in some_dims(draft, 1, (t,)))
    kind = draft.one_of(SERIES, [5, 2, 1, 1.5, 0.5])
    name = name or draft.fresh("x")
    draft.features.add(f"series of {kind}")
    x = Read(name, dims)
    family = {REAL: "Normal", POSITIVE: "Gamma", COUNT: "Poisson", BINARY: "Bernoulli",
              UNIT: "Beta"}[kind]
    row = next(r for r in SCALARS if r.name == family)
    first, _ = scalar_part(draft, row, tuple(d for d in dims if d != t), random=0, truncated=0)
    cut = 1
    if kind == REAL and draft.chance(0.15):
        draft.features.add("known number in a region")
        first = Part(family, {}, number=draft.one_of((0.0, 0.7)))
    lagged: Call | Lag = Lag(x, t)
    if kind == REAL and draft.size(t) > 2 and draft.chance(0.25):
        draft.features.add("second lag")
        cut, lagged = 2, call("-", call("*", 1.2, Lag(x, t)), call("*", 0.3, Lag(x, t, 2)))
    draft.lagged = t
    rest = SERIES[kind](draft, lagged, dims)
    draft.lagged = None
    if draft.rng.random() < 0.15 and draft.sources and kind == REAL:
        gate = draft.gate(dims)
        mu = next(n for n in rest.written if n == "mu")
        rest = Part(rest.family, {**rest.written, mu: call("where", gate, rest.written[mu], 0.4)},
                    lower=rest.lower)
    parts = tuple(_on_region(draft, p, dims, t, a, b) for p, a, b in (
        (first, 0, cut), (rest, cut, draft.size(t))))
    if mask is None and draft.chance(0.35):
        mask = observed(draft, dims, share=0.7)
        draft.features.add("observed series")
        if parts[0].number is not None:
            mask[tuple(slice(0, cut) if d == t else slice(None) for d in dims)] = False
    return add(draft, Variable(name, dims, kind, parts, mask=mask, regions=True))


def _on_region(draft, part, dims, t, start, stop):
    starts = tuple(start if d == t else 0 for d in dims)
    stops = tuple(stop if d == t else draft.size(d) for d in dims)
    return Part(part.family, part.written, starts, stops, part.lower, part.upper, part.number,
                dims.index(t))


def chain(draft, name=None):
    """Labels each of which sees the one before: a hidden Markov chain."""
    of = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    free = [d for d in draft.sizes if d != of and draft.size(d) > 1]
    if not free:
        return label(draft)
    t = draft.one_of(free)
    dims = tuple(d for d in draft.sizes if d == t or d in some_dims(draft, 1, (t, of)))
    draft.features.add("chain of labels")
    P = transitions_into(draft, of)
    name = name or draft.fresh("z")
    z = Read(name, dims)
    first = Part("Categorical", {"p": draft.weights(of)})
    from_before = At_label(P, of, Lag(z, t))
    rest = Part("Categorical", {"p": from_before})
    parts = tuple(_on_region(draft, p, dims, t, a, b) for p, a, b in (
        (first, 0, 1), (rest, 1, draft.size(t))))
    mask = ~observed(draft, dims, share=1.0) if draft.chance(0.25) else None
    return add(draft, Variable(name, dims, LABEL, parts, of=of, mask=mask, regions=True))


def At_label(P, of, z):  # noqa: N802  (reads as the tree that it makes)
    from against_reference.trees import At

    return At(P, of, z)


def transitions_into(draft, of):
    found = [s.expr for s in draft.sources if isinstance(s.expr, Read)
             and s.expr.axes == (of, f"{of}'") and s.kind == UNIT]
    if found:
        return draft.one_of(found)
    part = Part("Dirichlet", {"a": draft.known(POSITIVE, ())})
    return add(draft, Variable(draft.fresh("P"), (of, f"{of}'"), SIMPLEX, (part,),
                               event=(f"{of}'",)))


def function(draft):
    """A named function of variables."""
    from against_reference.models import Function
    from against_reference.trees import Named

    kind = draft.one_of((REAL, POSITIVE, UNIT))
    dims = some_dims(draft)
    body = draft.term(kind, dims, 1)
    if isinstance(body, Number | Read):
        return
    name = draft.fresh("f")
    draft.items.append(Function(name, body))
    draft.sources.append(Source(Named(name, body), kind))


# ---- observed variables ------------------------------------------------------------------------


def child(draft):
    """Declare an observed variable that depends on what is there."""
    last = [s for s in draft.sources if s.kind not in (SPD,)]
    draft.near = tuple(s.expr for s in draft.some_of(last, 2))
    chosen = [s.expr for s in last if s.kind in (LABEL, BINARY)]
    if chosen and draft.chance(0.6):
        draft.near = (*draft.near[:1], draft.one_of(chosen))
    ways = {seen_scalar: 8, seen_label: 1, seen_counts: 0.7, seen_vector: 1, seen_simplex: 0.3,
            seen_sphere: 0.2, seen_matrix: 0.2, seen_series: 0.8}
    draft.one_of(ways, list(ways.values()))(draft)
    draft.near = ()


def _dims(draft):
    near = set().union(*(e.dims for e in draft.near)) if draft.near else set()
    near = draft.some_of(sorted(d for d in near if d in draft.sizes), 2)
    dims = [*near, *(d for d in some_dims(draft, 1) if d not in near)][:2]
    return tuple(d for d in draft.sizes if d in dims)


def seen_scalar(draft):
    dims = _dims(draft)
    part, kind = simple_part(draft, None, dims, 1 + int(draft.chance(0.3)))
    row = next((r for r in SCALARS if r.name == part.family), None)
    limits = {}
    if row is not None and row.has_tails and row.kind in LIMITS and draft.chance(0.12):
        limits = censoring(draft, part, row, dims)
    mask = np.ones(tuple(draft.size(d) for d in dims), bool) if limits else observed(draft, dims)
    floats = row is not None and row.whole and draft.chance(0.1)
    add(draft, Variable(draft.fresh("y"), dims, kind, (part,), mask=mask, censoring=limits,
                        floats=floats))


def censoring(draft, part, row, dims):
    """What is known of values by their bounds."""
    if any(b is not None for b in (part.lower, part.upper)):
        return {}
    low, high = map(Number, LIMITS[row.kind])
    if row.parameters.keys() == {"lower", "upper"} or row.name == "Pareto":
        return {}
    draft.features.add("censored")
    if "n" in row.parameters and row.kind == COUNT:
        return {"lower": low} if row.name != "NegativeBinomial" else {}
    ways = [{"lower": low}, {"upper": high}, {"lower": low, "upper": high}]
    if dims:
        event = draft.covariate("flag", (draft.one_of(dims),))
        ways += [{"event": event}, {"event": event, "upper": high},
                 {"event": event, "lower": low, "upper": high}] * 2
    return draft.one_of(ways)


def seen_label(draft):
    of = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != of)
    part = Part("Categorical", {"p": probabilities(draft, of, dims)})
    add(draft, Variable(draft.fresh("y"), dims, LABEL, (part,), of=of,
                        mask=observed(draft, dims)))


def seen_counts(draft):
    event = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != event)
    p = probabilities(draft, event, dims)
    if f"{event}'" in p.dims:
        event = f"{event}'"
    n = draft.one_of((Number(5), Number(2))) if not draft.chance(0.2) else draft.positive_count(dims)
    part = Part("Multinomial", {"n": n, "p": p})
    # (a total that is drawn cannot be that of counts that are missing)
    total_known = isinstance(n, Number)
    axes = (*dims, event)
    mask = observed(draft, axes, whole=1, share=None if total_known else 0)
    add(draft, Variable(draft.fresh("y"), axes, COUNTS, (part,), event=(event,), mask=mask))


def seen_vector(draft):
    event = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != event)
    part = vector_part(draft, event, dims)
    axes = (*dims, event)
    whole = 1 if draft.calm or draft.chance(0.4) else 0
    if not whole:
        draft.features.add("vectors partly observed")
    add(draft, Variable(draft.fresh("y"), axes, VECTOR, (part,), event=(event,),
                        mask=observed(draft, axes, whole=whole)))


def seen_simplex(draft):
    event = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != event)
    axes = (*dims, event)
    part = Part("Dirichlet", {"a": draft.term(POSITIVE, axes, 1)})
    add(draft, Variable(draft.fresh("y"), axes, SIMPLEX, (part,), event=(event,),
                        mask=observed(draft, axes, whole=1)))


def seen_sphere(draft):
    event = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != event)
    axes = (*dims, event)
    add(draft, Variable(draft.fresh("y"), axes, SPHERE, (sphere_part(draft, event, dims),),
                        event=(event,), mask=observed(draft, axes, whole=1)))


def seen_matrix(draft):
    matrix(draft, draft.fresh("y"))
    last = draft.items[-1]
    if last.kind == SPD:
        from dataclasses import replace

        draft.items[-1] = replace(last, mask=observed(draft, last.dims, whole=2))
        draft.sources.pop()
    else:
        seen_scalar(draft)


def seen_series(draft):
    dims = None
    before = len(draft.items)
    series(draft, draft.fresh("y"))
    from dataclasses import replace

    variable = draft.items[-1]
    assert len(draft.items) > before
    mask = observed(draft, variable.dims)
    if variable.parts[0].number is not None:
        stops = variable.parts[0].stops
        mask[tuple(map(slice, variable.parts[0].starts, stops))] = False
    draft.items[-1] = replace(variable, mask=mask)
    assert dims is None
    assert ANGLE
