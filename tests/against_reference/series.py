"""Series of a draft: arrays filled by regions, each element of which sees the one before."""

from against_reference.models import Part, Variable
from against_reference.scalars import BINARY, COUNT, LABEL, POSITIVE, REAL, UNIT
from against_reference.trees import At, Lag, Number, Read, call
from against_reference.variables import SCALARS, add, label, observed, scalar_part, some_dims
from against_reference.vectors import SIMPLEX

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
    lagged = Lag(x, t)
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
    from_before = At(P, of, Lag(z, t))
    rest = Part("Categorical", {"p": from_before})
    parts = tuple(_on_region(draft, p, dims, t, a, b) for p, a, b in (
        (first, 0, 1), (rest, 1, draft.size(t))))
    mask = ~observed(draft, dims, share=1.0) if draft.chance(0.25) else None
    return add(draft, Variable(name, dims, LABEL, parts, of=of, mask=mask, regions=True))


def transitions_into(draft, of):
    found = [s.expr for s in draft.sources if isinstance(s.expr, Read)
             and s.expr.axes == (of, f"{of}'") and s.kind == UNIT]
    if found:
        return draft.one_of(found)
    part = Part("Dirichlet", {"a": draft.known(POSITIVE, ())})
    return add(draft, Variable(draft.fresh("P"), (of, f"{of}'"), SIMPLEX, (part,),
                               event=(f"{of}'",)))
