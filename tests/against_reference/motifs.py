"""Models of the field in small: regressions, mixtures, factorisations, hierarchies, random effects.

They make what random expressions seldom make, so that every rule and every kind of step occurs.
"""

import numpy as np

from against_reference.children import censoring
from against_reference.models import Part, Term, Variable, positions
from against_reference.scalars import BINARY, COUNT, LABEL, POSITIVE, REAL, UNIT
from against_reference.series import chain
from against_reference.table import ROWS
from against_reference.terms import Source
from against_reference.trees import At, Fold, Lag, Number, Read, World, call
from against_reference.variables import add, observed, scalar_part, some_dims
from against_reference.vectors import SIMPLEX

# A link and what is observed through it: from a line to a distribution.
LINKS = {
    "logit": lambda draft, eta, dims: draft.one_of((
        Part("Bernoulli", {"logit_p": eta}), Part("Bernoulli", {"p": call("expit", eta)}),
        Part("Binomial", {"n": draft.known(COUNT, dims), "logit_p": eta}),
        Part("ZeroInflatedBinomial", {"psi": draft.term(UNIT, dims, 0), "n": Number(4),
                                      "logit_p": eta}),
        Part("NegativeBinomial", {"n": draft.term(POSITIVE, dims, 0), "p": call("expit", eta)}),
        Part("Geometric", {"p": call("expit", eta)}))),
    "probit": lambda draft, eta, dims: draft.one_of((
        Part("Bernoulli", {"p": call("Phi", eta)}),
        Part("Bernoulli", {"p": call("-", call("Phi", call("+", eta, 1.0)), call("Phi", eta))}),
        Part("Binomial", {"n": Number(3), "p": call("Phi", eta)}))),
    "log": lambda draft, eta, dims: draft.one_of((
        Part("Poisson", {"rate": call("exp", eta)}),
        Part("NegativeBinomial", {"mu": call("exp", eta), "alpha": draft.term(POSITIVE, (), 0)}),
        Part("Gamma", {"shape": Number(2.0), "rate": call("exp", eta)}),
        Part("Weibull", {"shape": draft.term(POSITIVE, (), 0), "rate": call("exp", eta)}),
        Part("Exponential", {"rate": call("exp", eta)}))),
    "at least one": lambda draft, eta, dims: Part(
        "Bernoulli", {"p": call("-", 1.0, call("exp", call("neg", call("exp", eta))))}),
    "identity": lambda draft, eta, dims: draft.one_of((
        Part("Normal", {"mu": eta, "tau": draft.term(POSITIVE, (), 1)}),
        Part("StudentT", {"nu": Number(4.0), "mu": eta, "sigma": draft.term(POSITIVE, (), 0)}),
        Part("Laplace", {"mu": eta, "rate": draft.term(POSITIVE, (), 0)}),
        Part("AsymmetricLaplace", {"mu": eta, "rate": draft.term(POSITIVE, (), 0),
                                   "q": Number(0.25)}),
        Part("Cauchy", {"mu": eta, "scale": Number(1.0)}),
        Part("Normal", {"mu": eta, "sigma": draft.term(POSITIVE, (), 0)}, lower=Number(-1.0)),
        Part("Logistic", {"mu": eta, "scale": Number(1.0)}),
        Part("Gumbel", {"mu": eta, "scale": Number(1.0)}),
        Part("LogNormal", {"mu": eta, "sigma": Number(1.0)}))),
}


def plain(draft, stem, family, dims=(), **written):
    """A variable of a distribution with numbers for parameters."""
    numbers = {n: v if hasattr(v, "dims") else Number(v) for n, v in written.items()}
    return add(draft, Variable(draft.fresh(stem), tuple(dims), ROWS[family].kind,
                               (Part(family, numbers),)))


def seen(draft, part, dims, kind=None, **more):
    """An observed variable."""
    kind = kind or ROWS[part.family].kind
    return add(draft, Variable(draft.fresh("y"), tuple(dims), kind, (part,),
                               mask=observed(draft, dims), **more))


def two(draft, count=2):
    """Some different dims."""
    return draft.some_of(list(draft.sizes), count)


def regression(draft):
    """A line through a link, with gates, groups and random effects."""
    row, term, group = two(draft, 3)
    improper = "Flat" if draft.chance(0.1) else "Normal"
    prior = draft.one_of(("Normal", "StudentT", "Laplace", improper))
    beta = plain(draft, "b", prior, (term,), **{
        "Normal": {"mu": 0.0, "sigma": 1.0}, "StudentT": {"nu": 4.0, "mu": 0.0, "sigma": 1.0},
        "Laplace": {"mu": 0.0, "rate": 1.5}, "Flat": {}}[prior])
    eta = Fold("sum", call("*", draft.covariate(REAL, (row, term)), beta), term)
    if draft.chance(0.4):
        sd = plain(draft, "s", "HalfNormal", (), sigma=1.0)
        effect = plain(draft, "u", "Normal", (group,), mu=0.0, sigma=sd)
        eta = call("+", eta, At(effect, group, draft.index(group, (row,))))
    if draft.chance(0.3):
        eta = call("where", draft.gate((row,)), eta, draft.term(REAL, (row,), 0))
    link = draft.one_of(LINKS)
    draft.features.add(f"link {link}")
    seen(draft, LINKS[link](draft, eta, (row,)), (row,))


def multinomial_logit(draft):
    row, term, of = two(draft, 3)
    if draft.size(of) < 2:
        return regression(draft)
    name = draft.fresh("b")
    parts = (Part("Normal", {}, (0, 0), (draft.size(term), 1), number=0.0),
             Part("Normal", {"mu": Number(0.0), "tau": Number(1.0)}, (0, 1),
                  (draft.size(term), draft.size(of))))
    beta = add(draft, Variable(name, (term, of), REAL, parts, regions=True))
    odds = call("exp", Fold("sum", call("*", draft.covariate(REAL, (row, term)), beta), term))
    p = call("/", odds, Fold("sum", odds, of))
    draft.features.add("multinomial logit")
    return seen(draft, Part("Categorical", {"p": p}), (row,), LABEL, of=of)


def ordered(draft):
    """Answers between cuts that are data."""
    row, of = two(draft)
    k = draft.size(of)
    if k < 2:
        return regression(draft)
    cuts = np.round(np.linspace(-1.0, 1.2, k - 1), 2) if k > 2 else np.array([0.3])
    low = draft.data("low", np.array([-9.0, *cuts]), (of,))
    high = draft.data("high", np.array([*cuts, 9.0]), (of,))
    b = plain(draft, "b", "Normal", (), mu=0.0, sigma=1.0)
    eta = call("*", b, draft.covariate(REAL, (row,)))
    link = draft.one_of(("Phi", "expit"))
    p = call("-", call(link, call("-", high, eta)), call(link, call("-", low, eta)))
    p = call("/", p, Fold("sum", p, of)) if link == "expit" else p
    draft.features.add(f"ordered by {link}")
    return seen(draft, Part("Categorical", {"p": p}), (row,), LABEL, of=of)


def factorisation(draft):
    """Counts or events whose rate is a sum of products."""
    i, j, k = two(draft, 3)
    theta = plain(draft, "theta", "Gamma", (i, k), shape=1.5, rate=1.0)
    if draft.chance(0.4) and draft.size(j) > 1:
        phi = add(draft, Variable(draft.fresh("phi"), (k, j), SIMPLEX,
                                  (Part("Dirichlet", {"a": Number(0.8)}),), event=(j,)))
    else:
        phi = plain(draft, "phi", "Gamma", (j, k), shape=1.0, rate=1.0)
    rate = Fold("sum", call("*", theta, phi), k)
    if draft.chance(0.2):
        rate = call("where", draft.gate((i, j)), rate, draft.term(POSITIVE, (i, j), 0))
    if draft.chance(0.2):
        rate = call("+", rate, draft.term(POSITIVE, (i, j), 0))
    part = draft.one_of((
        Part("Poisson", {"rate": rate}),
        Part("ZeroInflatedPoisson", {"psi": draft.term(UNIT, (), 0), "rate": rate}),
        Part("Bernoulli", {"p": call("-", 1.0, call("exp", call("neg", rate)))}),
        Part("Poisson", {"rate": rate}, lower=Number(1))), [3, 1, 2, 1])
    draft.features.add("factorisation")
    seen(draft, part, (i, j))


def mixture(draft):
    """Labels, what they point to, and what is seen of it."""
    row, of = two(draft)
    if draft.size(of) < 2:
        return regression(draft)
    if draft.chance(0.3):
        chain(draft)
    weight = add(draft, Variable(draft.fresh("w"), (of,), SIMPLEX, (
        Part("Dirichlet", {"a": draft.one_of((Number(1.0), draft.covariate(POSITIVE, (of,))))}),),
        event=(of,)))
    z = add(draft, Variable(draft.fresh("z"), (row,), LABEL, (
        Part("Categorical", {"p": weight}),), of=of,
        mask=~observed(draft, (row,), share=1.0) if draft.chance(0.2) else None))
    family = draft.one_of(("Normal", "Poisson", "Exponential", "Bernoulli", "StudentT", "Binomial",
                           "NegativeBinomial", "Weibull", "Geometric"))
    part = {
        "Normal": lambda: Part("Normal", {"mu": At(plain(
            draft, "m", "Normal", (of,), mu=0.0, sigma=2.0), of, z), "tau": draft.one_of((
                lambda: Number(1.0),
                lambda: At(plain(draft, "tau", "Gamma", (of,), shape=2.0, rate=1.0), of, z)))()}),
        "StudentT": lambda: Part("StudentT", {"nu": Number(4.0), "mu": At(plain(
            draft, "m", "Normal", (of,), mu=0.0, sigma=2.0), of, z), "sigma": Number(1.0)}),
        "Poisson": lambda: Part("Poisson", {"rate": At(plain(
            draft, "r", "Gamma", (of,), shape=2.0, rate=1.0), of, z)}),
        "Exponential": lambda: Part("Exponential", {"rate": At(plain(
            draft, "r", "Gamma", (of,), shape=2.0, rate=1.0), of, z)}),
        "Weibull": lambda: Part("Weibull", {"shape": Number(1.5), "rate": At(plain(
            draft, "r", "Gamma", (of,), shape=2.0, rate=1.0), of, z)}),
        "Bernoulli": lambda: Part("Bernoulli", {"p": At(plain(
            draft, "p", "Beta", (of,), a=1.0, b=2.0), of, z)}),
        "Geometric": lambda: Part("Geometric", {"p": At(plain(
            draft, "p", "Beta", (of,), a=2.0, b=2.0), of, z)}),
        "Binomial": lambda: Part("Binomial", {"n": Number(4), "logit_p": At(plain(
            draft, "m", "Normal", (of,), mu=0.0, sigma=1.0), of, z)}),
        "NegativeBinomial": lambda: Part("NegativeBinomial", {"n": At(plain(
            draft, "r", "Gamma", (of,), shape=2.0, rate=1.0), of, z), "p": Number(0.4)}),
    }[family]()
    draft.features.add("mixture")
    return seen(draft, part, (row,))


def occupancy(draft):
    """Detections of what may not be there, with a label that gates a label."""
    site, visit = two(draft)
    psi = plain(draft, "p", "Beta", (), a=2.0, b=1.5)
    there = add(draft, Variable(draft.fresh("there"), (site,), BINARY,
                                (Part("Bernoulli", {"p": psi}),)))
    if draft.chance(0.35):
        draft.features.add("a label gated by a label")
        there = add(draft, Variable(draft.fresh("used"), (site, visit), BINARY, (
            Part("Bernoulli", {"p": call("*", there, draft.term(UNIT, (), 0))}),)))
    b = plain(draft, "b", "Normal", (), mu=0.0, sigma=1.0)
    p = call("*", there, call(draft.one_of(("expit", "Phi")),
                              call("*", b, draft.covariate(REAL, (visit,)))))
    draft.features.add("occupancy")
    seen(draft, draft.one_of((Part("Bernoulli", {"p": p}), Part("Binomial", {
        "n": Number(3), "p": p}))), (site, visit))


def hierarchy(draft):
    """Groups with a location and a scale that are drawn too."""
    group, row = two(draft)
    mu = plain(draft, "mu", "Normal", (), mu=0.0, sigma=1.0)
    word, scale = draft.one_of((
        ("tau", lambda: plain(draft, "tau", "Gamma", (), shape=2.0, rate=1.0)),
        ("sigma", lambda: plain(draft, "s", "HalfNormal", (), sigma=1.0)),
        ("sigma", lambda: plain(draft, "s", "HalfCauchy", (), scale=1.0)),
        ("sigma", lambda: plain(draft, "s", "Exponential", (), rate=1.0)),
        ("sigma", lambda: add(draft, Variable(draft.fresh("s"), (), POSITIVE, (
            Part("Uniform", {"lower": Number(0.0), "upper": Number(3.0)}),)))),
        ("var", lambda: plain(draft, "v", "InverseGamma", (), shape=2.0, scale=1.0))))
    s = scale()
    theta = plain(draft, "theta", "Normal", (group,), mu=mu, **{word: s})
    dims = (group, row) if draft.chance(0.5) else (group,)
    if draft.chance(0.5):
        part = Part("Normal", {"mu": theta, "sigma": draft.known(POSITIVE, dims)})
    else:
        part = LINKS[draft.one_of(LINKS)](draft, theta, dims)
    draft.features.add("hierarchy")
    seen(draft, part, tuple(d for d in draft.sizes if d in dims))


def concentrations(draft):
    """Concentrations of shares and counts."""
    of, row = two(draft)
    # (of a shape below 1 the density is not concave, and auxiliary variables are needed)
    shape = 0.5 if draft.size(of) > 2 else 2.0
    alpha = plain(draft, "alpha", "Gamma", (), shape=shape, rate=1.0)
    ways = [lambda: seen(draft, Part("BetaBinomial", {
                "n": Number(5), "alpha": alpha, "beta": draft.term(POSITIVE, (), 0)}), (row,)),
            lambda: seen(draft, Part("ChineseRestaurantTable", {"n": Number(9), "alpha": alpha}),
                         (row,)),
            lambda: seen(draft, Part("NegativeBinomial", {"n": alpha, "p": draft.term(
                UNIT, (), 0)}), (row,))]
    if draft.size(of) > 1:
        ways.append(lambda: add(draft, Variable(
            draft.fresh("y"), (row, of), SIMPLEX, (Part("Dirichlet", {"a": call(
                "*", alpha, draft.covariate(POSITIVE, (of,)))}),), event=(of,),
            mask=observed(draft, (row, of), whole=1))))
    draft.features.add("concentration")
    draft.one_of(ways)()


def truncated(draft):
    """Values of which only a part is let through."""
    (row,) = two(draft, 1)
    family, kind = draft.one_of((("Poisson", POSITIVE), ("Exponential", POSITIVE),
                                 ("Geometric", UNIT), ("Weibull", POSITIVE), ("Normal", REAL),
                                 ("Gamma", POSITIVE), ("Lomax", POSITIVE), ("Pareto", POSITIVE)))
    parameter = plain(draft, "r", "Gamma", (), shape=2.0, rate=1.0) if kind == POSITIVE else (
        plain(draft, "p", "Beta", (), a=2.0, b=2.0) if kind == UNIT else
        plain(draft, "m", "Normal", (), mu=0.0, sigma=1.0))
    written, bounds = {
        "Poisson": ({"rate": parameter}, (Number(1), None)),
        "Exponential": ({"rate": parameter}, (None, Number(1.5))),
        "Geometric": ({"p": parameter}, (None, Number(4))),
        "Weibull": ({"shape": Number(1.5), "rate": parameter}, (Number(0.3), Number(2.0))),
        "Normal": ({"mu": parameter, "sigma": draft.term(POSITIVE, (), 0)}, (Number(0.0), None)),
        "Gamma": ({"shape": Number(2.0), "rate": parameter}, (None, Number(3.0))),
        "Lomax": ({"shape": parameter, "scale": Number(1.0)}, (None, Number(3.0))),
        "Pareto": ({"shape": parameter, "minimum": Number(0.5)}, (None, Number(4.0))),
    }[family]
    draft.features.add("truncated")
    seen(draft, Part(family, written, lower=bounds[0], upper=bounds[1]), (row,))


def censored(draft):
    """Lifetimes by their bounds."""
    (row,) = two(draft, 1)
    family = draft.one_of(("Weibull", "Gamma", "LogNormal", "Exponential", "Normal", "Lomax",
                           "StudentT", "Poisson", "Gompertz"))
    part, kind = scalar_part(draft, ROWS[family], (row,), random=0, truncated=0)
    first = next(iter(part.written))
    stems = {"rate": ("Gamma", {"shape": 2.0, "rate": 1.0}),
             "mu": ("Normal", {"mu": 0.0, "sigma": 1.0}),
             "shape": ("Gamma", {"shape": 3.0, "rate": 2.0})}
    name = next((n for n in ("rate", "mu", "shape") if n in part.written), first)
    if name in stems and not (name == "mu" and family == "Gamma"):
        prior, numbers = stems[name]
        part = Part(family, {**part.written, name: plain(draft, "r", prior, (), **numbers)})
    limits = censoring(draft, part, ROWS[family], (row,))
    add(draft, Variable(draft.fresh("y"), (row,), kind, (part,), censoring=limits,
                        mask=np.ones(draft.size(row), bool)))


def lattice(draft):
    """Spins or labels that are tied to their neighbours by a potential."""
    i, j = two(draft)
    draft.features.add("potential")
    if draft.chance(0.5):
        up = plain(draft, "up", "Bernoulli", (i, j), p=0.5)
        spin = call("-", call("*", 2, up), 1)
        body = call("*", 0.4, call("*", spin, Lag(spin, i)))
    else:
        of = draft.one_of([d for d in draft.sizes if d not in (i, j)])
        if draft.size(of) < 2:
            return hierarchy(draft)
        z = add(draft, Variable(draft.fresh("z"), (i, j), LABEL, (
            Part("Categorical", {"p": draft.weights(of)}),), of=of))
        body = call("*", 0.8, call("equals", z, Lag(z, i)))
        draft.sources.append(Source(z, LABEL, of))
        up = z
    if draft.size(i) < 2:
        return None
    ranges = {i: (1, draft.size(i)), j: (0, draft.size(j))}
    draft.items.append(Term(draft.fresh("down"), body, ranges))
    if draft.chance(0.6):
        level = plain(draft, "m", "Normal", (), mu=0.0, sigma=1.0)
        part = Part("Normal", {"mu": call("*", up, level), "sigma": Number(1.0)})
        return seen(draft, part, (i, j))
    return None


MOTIFS = {regression: 5, multinomial_logit: 1, ordered: 1, factorisation: 2, mixture: 3,
          occupancy: 1.5, hierarchy: 2.5, concentrations: 1, truncated: 1.5, censored: 1.5,
          lattice: 1}


def any_of(draft):
    """One of the models, or two."""
    for _ in range(2 if draft.chance(0.2) else 1):
        draft.one_of(MOTIFS, list(MOTIFS.values()))(draft)


# ---- what any model may have besides -----------------------------------------------------------


def extras(draft):
    """Potentials, constraints."""
    found = draft.readable({REAL, POSITIVE, UNIT})
    if found and draft.chance(0.12):
        dims = some_dims(draft)
        x = draft.term(draft.one_of((REAL, UNIT, POSITIVE)), dims, 1)
        body = draft.one_of((
            lambda: call("*", -0.4, call("*", x, x)),
            lambda: call("*", -0.3, call("abs", x)),
            lambda: call("neg", call("log", call("+", 1.0, call("exp", x)))),
            lambda: call("*", draft.known(REAL, dims),
                         call("/", x, call("+", 1.0, call("abs", x)))),
        ))()
        if isinstance(x, Number):
            return
        ranges = {d: (0, draft.size(d)) for d in sorted(body.dims)}
        draft.features.add("potential")
        draft.items.append(Term(draft.fresh("term"), body, ranges))
    tied = [s.expr for s in found if isinstance(s.expr, Read) and len(s.expr.axes) == 1
            and draft.size(s.expr.axes[0]) in (2, 3) and s.kind == REAL]
    if tied and draft.chance(0.06):
        x = draft.one_of(tied)
        (d,) = x.axes
        if any(getattr(i, "name", "") == x.name and i.event for i in draft.items):
            return
        draft.features.add("constraint")
        draft.items.append(Term(draft.fresh("order"), call("<", Lag(x, d), x),
                                {d: (1, draft.size(d))}, constraint=True))


def with_limits(made, values):
    """Values of what is censored, put between their bounds."""
    values = dict(values)
    for v in made.variables:
        if not v.censoring:
            continue
        (part,) = v.parts
        world = World(made.lengths, made.known, 1)
        array = np.array(values[v.name])
        for at in positions(v, part, made):
            limit = {n: float(e.value(at, world)[0]) for n, e in v.censoring.items()}
            low, high = limit.get("lower", -np.inf), limit.get("upper", np.inf)
            if limit.get("event", 0) == 0:
                place = tuple(at.values())
                array[place] = np.clip(array[place], low, high)
        values[v.name] = array
    return values

