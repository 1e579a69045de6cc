"""Random expressions of what a model has so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from against_reference.models import Known
from against_reference.scalars import ANGLE, BINARY, COUNT, LABEL, POSITIVE, REAL, UNIT
from against_reference.trees import At, Expr, Fold, Lag, Number, Read, call

NUMBERS = {
    REAL: (0.0, 1.0, -0.5, 2.3),
    POSITIVE: (1.0, 2.0, 0.5, 1.7, 3.5),
    UNIT: (0.5, 0.3, 0.8),
    COUNT: (3, 1, 7),
}


@dataclass(frozen=True, slots=True)
class Source:
    """What can be read: an expression, of a kind; ``of`` is the dim that labels point into."""

    expr: Expr
    kind: str
    of: str | None = None


def _rules():
    """To each kind, what its terms are made of, how, and how often."""
    yield REAL, (REAL, REAL), lambda a, b: call("+", a, b), 2
    yield REAL, (REAL,), lambda a: call("*", 2.0, a), 1
    yield REAL, (REAL,), lambda a: call("neg", a), 1
    yield REAL, (REAL, REAL), lambda a, b: call("*", a, b), 2
    yield REAL, (REAL, REAL), lambda a, b: call("-", a, b), 1
    yield REAL, (POSITIVE,), lambda a: call("log", a), 1
    yield REAL, (UNIT,), lambda a: call("logit", a), 1
    yield REAL, (POSITIVE, REAL), lambda a, b: call("*", a, b), 1
    yield REAL, (POSITIVE,), lambda a: a, 1
    yield REAL, (UNIT,), lambda a: a, 1
    yield REAL, (COUNT,), lambda a: a, 1
    yield REAL, (REAL,), lambda a: call("abs", a), 1
    yield REAL, (REAL, REAL), lambda a, b: call("maximum", a, b), 1
    yield REAL, ("gate", REAL, REAL), lambda g, a, b: call("where", g, a, b), 3
    yield REAL, ("gate", REAL), lambda g, a: call("*", g, a), 2
    yield REAL, ("gate", REAL, REAL), mixed, 1
    yield POSITIVE, (POSITIVE,), lambda a: call("*", 2.0, a), 1
    yield POSITIVE, (POSITIVE, POSITIVE), lambda a, b: call("*", a, b), 2
    yield POSITIVE, (POSITIVE,), lambda a: call("/", 1.0, a), 1
    yield POSITIVE, (POSITIVE,), lambda a: call("**", a, 2.0), 1
    yield POSITIVE, (POSITIVE,), lambda a: call("sqrt", a), 1
    yield POSITIVE, (REAL,), lambda a: call("exp", a), 3
    yield POSITIVE, (POSITIVE, POSITIVE), lambda a, b: call("+", a, b), 2
    yield POSITIVE, (POSITIVE, POSITIVE), lambda a, b: call("/", a, b), 1
    yield POSITIVE, (UNIT,), lambda a: a, 1
    yield POSITIVE, (UNIT,), lambda a: call("/", a, call("-", 1.0, a)), 1
    yield POSITIVE, (UNIT,), lambda a: call("neg", call("log", a)), 1
    yield POSITIVE, (POSITIVE,), lambda a: call("**", a, -0.5), 1
    yield POSITIVE, (COUNT,), lambda a: call("+", a, 0.5), 1
    yield POSITIVE, ("gate", POSITIVE, POSITIVE), lambda g, a, b: call("where", g, a, b), 3
    yield POSITIVE, ("gate", POSITIVE, POSITIVE), mixed, 1
    yield UNIT, (UNIT,), lambda a: call("-", 1.0, a), 1
    yield UNIT, (UNIT, UNIT), lambda a, b: call("*", a, b), 1
    yield UNIT, (REAL,), lambda a: call("expit", a), 3
    yield UNIT, (UNIT,), lambda a: call("**", a, 2.0), 1
    yield UNIT, (POSITIVE,), lambda a: call("/", a, call("+", 1.0, a)), 1
    yield UNIT, (POSITIVE,), lambda a: call("exp", call("neg", a)), 1
    yield UNIT, (POSITIVE,), lambda a: call("-", 1.0, call("exp", call("neg", a))), 2
    yield UNIT, (REAL,), lambda a: call("Phi", a), 2
    yield UNIT, ("gate", UNIT, UNIT), lambda g, a, b: call("where", g, a, b), 3
    yield UNIT, ("gate", UNIT, UNIT), mixed, 1
    yield COUNT, (COUNT,), lambda a: call("+", a, 1), 1


def mixed(g, a, b):
    """One of two, by a gate as a factor."""
    return call("+", call("*", g, a), call("*", call("-", 1, g), b))


RULES = {
    kind: [(kinds, make, weight) for k, kinds, make, weight in _rules() if k == kind]
    for kind in (REAL, POSITIVE, UNIT, COUNT)
}


@dataclass(slots=True)
class Draft:
    """A model that is being written.

    ``lagged`` is the dim along which earlier elements may be read at the moment; ``near`` are the
    sources to be preferred.
    """

    rng: Any
    sizes: Mapping
    items: list = field(default_factory=list)
    sources: list = field(default_factory=list)
    features: set = field(default_factory=set)
    lagged: str | None = None
    near: tuple = ()
    calm: bool = False
    families: Any = None

    # ---- choices -----------------------------------------------------------------------------

    def chance(self, probability):
        return self.rng.random() < probability

    def one_of(self, options, weights=None):
        options = list(options)
        if weights is not None:
            weights = np.asarray(weights, float) / np.sum(weights)
        return options[self.rng.choice(len(options), p=weights)]

    def some_of(self, options, count):
        return [options[i] for i in self.rng.permutation(len(options))[:count]]

    def size(self, dim):
        return self.sizes[dim.rstrip("'")]

    def fresh(self, stem):
        taken = {i.name for i in self.items}
        return next(f"{stem}{n}" for n in range(1000) if f"{stem}{n}" not in taken)

    # ---- data --------------------------------------------------------------------------------

    def data(self, stem, values, dims, of=None):
        """Declare an array of known numbers; its reading."""
        name = self.fresh(stem)
        self.items.append(Known(name, tuple(dims), np.asarray(values), of))
        return Read(name, tuple(dims))

    def covariate(self, kind, dims):
        shape = tuple(self.size(d) for d in dims)
        rng = self.rng
        if kind == "flag":
            values = np.resize(rng.permutation([0, 1]), int(np.prod(shape))).reshape(shape)
            if values.size > 2:
                values = rng.permutation(values.ravel()).reshape(shape)
            return self.data("flag", values, dims)
        if kind == COUNT:
            return self.data("count", rng.integers(1, 6, size=shape), dims)
        values = {
            REAL: lambda: rng.normal(size=shape),
            POSITIVE: lambda: rng.gamma(3.0, 0.5, size=shape) + 0.1,
            UNIT: lambda: rng.uniform(0.1, 0.9, size=shape),
        }[kind]()
        return self.data(f"d_{kind}", np.round(values, 2), dims)

    def index(self, of, dims):
        """Positions along a dim, for each position of others."""
        shape = tuple(self.size(d) for d in dims)
        return self.data("at", self.rng.integers(self.size(of), size=shape), dims, of.rstrip("'"))

    def weights(self, dim):
        values = np.round(self.rng.dirichlet(np.full(self.size(dim), 4.0)), 2) + 0.01
        values[0] += 1 - values.sum()
        return self.data("weights", np.round(values, 2), (dim,))

    def matrix(self, dim):
        n = self.size(dim)
        a = np.round(self.rng.normal(size=(n, n)), 1)
        return self.data("matrix", np.round(a @ a.T * 0.3 + 1.2 * np.eye(n), 3), (dim, dim + "'"))

    # ---- reading -----------------------------------------------------------------------------

    def is_simplex(self, source):
        name = getattr(source.expr, "name", None)
        return any(getattr(i, "kind", "") == "simplex" and i.name == name for i in self.items)

    def readable(self, kinds):
        return [s for s in self.sources if s.kind in kinds]

    def read(self, kind, dims):
        """Something random of the kind inside of dims, or None."""
        found = self.readable({kind, ANGLE} if kind == REAL else {kind})
        # (what reads entries of a simplex is seldom drawn)
        if (kind == UNIT and len(found) > 1) or self.chance(0.7):
            found = [s for s in found if s.kind != UNIT or not self.is_simplex(s)]
        close = [s for s in found if s.expr in self.near]
        if close and self.chance(0.7):
            found = close
        if not found:
            return None
        source = self.one_of(found)
        expr = source.expr
        for d in sorted(expr.dims & set(dims)):
            others = [e for e in dims if e != d]
            if self.chance(0.06) and not self.lagged:
                self.features.add("gather along its own")
                expr = At(expr, d, self.index(d, (self.one_of(others or [d]),)))
            elif self.chance(0.06) and kind in (REAL, POSITIVE) and not self.lagged:
                self.features.add("cumulated")
                expr = Fold("sum", expr, d, running=True)
            elif self.lagged == d and self.chance(0.6):
                self.features.add("lag of another")
                expr = Lag(expr, d)
        for d in sorted(expr.dims - set(dims)):
            expr = self.without(expr, d, dims, kind)
        return expr

    def without(self, expr, dim, dims, kind):
        """The expression, no more along a dim: summed, gathered or read at one position."""
        labels = [s for s in self.sources if s.kind == LABEL and s.of == dim.rstrip("'")
                  and s.expr.dims <= set(dims) and dim not in s.expr.dims]
        ways = {"at": 1, "index": 3 if dims else 0, "label": 6 if labels else 0,
                "sum": 3 if kind in (REAL, POSITIVE) and self.size(dim) > 1 else 0,
                "prod": 0.7 if kind == UNIT else 0, "running": 0}
        way = self.one_of(ways, list(ways.values()))
        self.features.add(f"read by {way}")
        if way == "at":
            return At(expr, dim, int(self.rng.integers(-1, self.size(dim)) % self.size(dim)))
        if way == "index":
            return At(expr, dim, self.index(dim, (self.one_of(sorted(dims)),)))
        if way == "label":
            return At(expr, dim, self.one_of(labels).expr)
        if way == "prod":
            return Fold("prod", expr, dim)
        if dims and self.chance(0.6):
            expr = call("*", self.covariate(kind, (self.one_of(sorted(dims)), dim)), expr)
        return Fold("sum", expr, dim)

    def known(self, kind, dims):
        """A number, or data."""
        if dims and self.chance(0.25):
            return self.covariate(kind, (self.one_of(sorted(dims)),))
        return Number(self.one_of(NUMBERS[kind]))

    def gate(self, dims):
        """What is 0 or 1: by data, by a label, by a latent indicator."""
        found = [s for s in self.sources if s.kind in (BINARY, LABEL) and s.expr.dims <= set(dims)]
        if found and self.chance(0.6):
            source = self.one_of(found)
            self.features.add(f"gate by {source.kind}")
            if source.kind == BINARY:
                return source.expr
            return call("equals", source.expr, int(self.rng.integers(self.size(source.of))))
        self.features.add("gate by data")
        along = self.one_of(sorted(dims))
        if self.chance(0.2):
            return call("step", self.covariate(REAL, (along,)))
        if self.chance(0.1) and (x := self.read(REAL, dims)) is not None:
            self.features.add("gate by a comparison")
            return call("step", x)
        return self.covariate("flag", (along,))

    def term(self, kind, dims, depth=1):
        """An expression of a kind inside of dims; random where that can be had."""
        plain = self.read(kind, dims) if depth == 0 or self.chance(0.6) else None
        if plain is not None or depth == 0:
            return plain if plain is not None else self.known(kind, dims)
        rules = [r for r in RULES[kind] if dims or "gate" not in r[0]]
        there = {s.kind for s in self.sources}
        kinds, make, _ = self.one_of(rules, [w * (8 if there & set(k) else 1) for k, _, w in rules])
        parts = []
        for k in kinds:
            if k == "gate":
                parts.append(self.gate(dims))
            elif not any(p.dims or not isinstance(p, Number) for p in parts) or self.chance(0.5):
                parts.append(self.term(k, dims, depth - 1))
            else:
                parts.append(self.known(k, dims))
        if all(isinstance(p, Number) for p in parts):
            return self.known(kind, dims)
        return make(*parts)

    def positive_count(self, dims):
        """A number of trials."""
        found = self.read(COUNT, dims) if self.chance(0.12) else None
        if found is not None:
            self.features.add("a random number of trials")
        return found if found is not None else self.known(COUNT, dims)
