"""Random models in the language's own notation, as values that print as source.

``random_models()`` is a strategy of hypothesis. A `RandomModel` is made of lines of source; its
observed values are simulated from the model itself, so that the state they come from is inside all
supports. A failure is replayed by running the source that it prints.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import sympy as sp
from hypothesis import assume
from hypothesis import strategies as st

import gibbsppl as gp
from gibbsppl.algebra.supports import Support
from gibbsppl.families import FAMILIES

DIMS = ("i", "j", "k")

# Short words for where a value can be; what fits a parameter is an expression of that kind.
REAL, POSITIVE, UNIT, COUNT = "real", "positive", "unit", "count"

NUMBERS = {
    REAL: ("0", "1", "-0.5", "2.3"),
    POSITIVE: ("1", "2", "0.5", "1.7", "3.5"),
    UNIT: ("0.5", "0.3", "0.8"),
    COUNT: ("3", "1", "7"),
}
BOUNDS = {
    REAL: (("-0.7", None), (None, "1.3"), ("-1", "2"), ("0", None)),
    POSITIVE: (("0.2", None), (None, "2.5"), ("0.2", "3")),
    UNIT: (("0.1", None), (None, "0.9"), ("0.1", "0.9")),
    COUNT: (("1", None), (None, "6")),
}
LIMITS = {
    REAL: {"lower": "-0.5", "upper": "1.2"},
    POSITIVE: {"lower": "0.3", "upper": "1.5"},
    UNIT: {"lower": "0.2", "upper": "0.7"},
    COUNT: {"lower": "1", "upper": "4"},
}

# Rows written by hand below, and those that cannot be simulated.
APART = {"Flat", "HalfFlat", "Uniform", "Categorical", "DiscreteUniform", "Hypergeometric"}
SCALARS = tuple(f for f in FAMILIES.values() if f.event == 0 and f.name not in APART)


@dataclass(frozen=True, slots=True)
class Term:
    """An expression of the language: its text and the dims that it has."""

    text: str
    dims: frozenset = frozenset()
    random: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One variable: its distribution as text, its dims, where its values are, how it is seen."""

    name: str
    family: str
    arguments: str
    dims: tuple
    kind: str
    of: str | None = None
    event: tuple = ()
    observed: bool = False
    censoring: tuple = ()

    def source(self, values):
        """The declaration; with values where the variable is observed."""
        options = [f"dims={self.dims + self.event!r}"]
        if self.event:
            options.append(f"event={self.event!r}")
        seen = self.observed and values is not None
        if seen:
            options.append(f"observed=np.array({values[self.name].tolist()})")
        if seen and self.censoring:
            inner = f"gp.{self.family}({self.arguments})"
            limits = [f"{side}={value}" for side, value in self.censoring]
            return called(self.name, "Censored", inner, *limits, *options)
        return called(self.name, self.family, self.arguments, *options)


def called(name, function, *arguments):
    """A line of source that declares a variable or data under its name."""
    return f'{name} = gp.{function}("{name}", {", ".join(arguments)})'


@dataclass(frozen=True, slots=True)
class RandomModel:
    """Sizes of dims, lines that declare data, lines that declare variables."""

    sizes: Mapping
    data: tuple
    lines: tuple

    def source(self, values=None):
        """The model as source; the children are observed where values are given."""
        declared = [*self.data, *(line.source(values) for line in self.lines)]
        head = f"with gp.Model(coords={dict(self.sizes)!r}) as model:"
        return "\n    ".join([head, *declared]) + "\n"

    def simulated(self, seed):
        """A draw of all variables from the model itself."""
        drawn = gp.simulate(built(self.source()), seed=seed)
        return {name: value[0] for name, value in drawn.items()}

    @property
    def latent(self):
        """The names of the variables that are not observed."""
        return tuple(line.name for line in self.lines if not line.observed)


def built(source):
    """The model that a source declares."""
    names = {"gp": gp, "np": np}
    exec(source, names)  # noqa: S102  (the source is the tests' own)
    return names["model"]


@dataclass(slots=True)
class Writer:
    """Writes one model: what has been declared so far."""

    draw: object
    sizes: Mapping
    data: dict = field(default_factory=dict)
    lines: list = field(default_factory=list)

    def one_of(self, options):
        return self.draw(st.sampled_from(list(options)))

    def chance(self, out_of=2):
        """Whether a rare choice is made; hypothesis shrinks towards not."""
        return self.draw(st.integers(0, out_of - 1)) == out_of - 1

    # ---- data ------------------------------------------------------------------------------

    def covariate(self, kind, dims):
        """Known numbers along the dims."""
        name = f"{kind}_{''.join(dims)}"
        shape = tuple(self.sizes[d] for d in dims)
        rng = np.random.default_rng([len(name), *map(ord, name)])
        values = {
            REAL: rng.normal(size=shape),
            POSITIVE: rng.gamma(3.0, 0.5, size=shape) + 0.1,
            UNIT: rng.uniform(0.1, 0.9, size=shape),
            "flag": (np.arange(np.prod(shape)).reshape(shape) + 1) % 2,
        }[kind]
        return self.known_array(name, np.round(values, 2), dims)

    def known_array(self, name, values, dims):
        """Declare data; their name."""
        self.data[name] = called(name, "Data", f"{values.tolist()}", f"dims={dims!r}")
        return name

    def index(self, of, along):
        """Positions along one dim for each position of another; all of them where there is room."""
        name = f"{of}_of_{along}"
        codes = [(2 * n + n // self.sizes[of]) % self.sizes[of] for n in range(self.sizes[along])]
        self.data[name] = called(name, "Index", f"{codes}", f"of={of!r}", f"dims={along!r}")
        return name

    def weights(self, dim):
        """Known probabilities along a dim."""
        n = self.sizes[dim]
        return self.known_array(f"weights_{dim}", np.arange(1, n + 1) / (n * (n + 1) / 2), (dim,))

    def matrix(self, dim):
        """A known positive definite matrix."""
        values = np.eye(self.sizes[dim]) * 1.5 + 0.3
        return self.known_array(f"matrix_{dim}", values, (dim, f"{dim}'"))

    # ---- terms -----------------------------------------------------------------------------

    def atoms(self, kind, dims):
        """Ways to read a latent variable of a kind inside the dims."""
        found = []
        for line in self.lines:
            if line.kind != kind or line.event:
                continue
            rest = [d for d in line.dims if d not in dims]
            if not rest:
                found.append(("plain", line))
            if len(rest) == 1 and dims:
                found.append(("gather", line))
            # (A sum over a single position is one element, which nobody would write.)
            if len(rest) == 1 and kind in (REAL, POSITIVE) and self.sizes[rest[0]] > 1:
                found.append(("sum", line))
            if len(line.dims) == 1 and any(
                z.kind == "label" and z.of == line.dims[0] and set(z.dims) <= set(dims)
                for z in self.lines
            ):
                found.append(("label", line))
        return found

    def read(self, kind, dims):
        """A latent variable, as it is, gathered, or summed over with a design."""
        found = self.atoms(kind, dims)
        if not found:
            return None
        how, line = self.one_of(found)
        inside = frozenset(line.dims)
        if how == "plain":
            return Term(line.name, inside, random=True)
        if how == "label":
            labels = [
                z for z in self.lines
                if z.kind == "label" and z.of == line.dims[0] and set(z.dims) <= set(dims)
            ]
            z = self.one_of(labels)
            return Term(f"{line.name}[{z.name}]", frozenset(z.dims), random=True)
        (out,) = inside - set(dims)
        free = sorted(set(dims) - inside)
        if how == "gather":
            if not free:
                return None
            index = self.index(out, self.one_of(free))
            return Term(f"{line.name}[{index}]", inside - {out} | {index[-1]}, random=True)
        if not dims or self.chance():
            return Term(f'{line.name}.sum("{out}")', inside - {out}, random=True)
        along = self.one_of(sorted(dims))
        design = self.covariate(kind, (along, out))
        text = f'({design} * {line.name}).sum("{out}")'
        return Term(text, inside - {out} | {along}, random=True)

    def known(self, kind, dims):
        """A number, or data."""
        if kind in (REAL, POSITIVE, UNIT) and dims and self.chance(4):
            along = self.one_of(sorted(dims))
            return Term(self.covariate(kind, (along,)), frozenset({along}))
        return Term(self.one_of(NUMBERS[kind]))

    def gate(self, dims):
        """What is 0 or 1: a latent indicator or data."""
        found = [n for n in self.lines if n.kind == "binary" and set(n.dims) <= set(dims)]
        if found and self.chance():
            line = self.one_of(found)
            return Term(line.name, frozenset(line.dims), random=True)
        along = self.one_of(sorted(dims))
        return Term(self.covariate("flag", (along,)), frozenset({along}))

    def term(self, kind, dims, depth):
        """An expression of a kind inside the dims; random where that can be had."""
        plain = self.read(kind, dims)
        if depth == 0 or (plain is not None and not self.chance(3)):
            return plain or self.known(kind, dims)
        rules = RULES[kind] if dims else tuple(r for r in RULES[kind] if "{g}" not in r[0])
        rule, kinds = self.one_of(rules)
        parts = {}
        for n, k in enumerate(kinds):
            parts["abc"[n]] = (
                self.term(k, dims, depth - 1) if n == 0 or self.chance() else self.known(k, dims)
            )
        if "{g}" in rule:
            parts["g"] = self.gate(dims)
        if not any(p.random for p in parts.values()):
            return self.known(kind, dims)
        text = rule.format(**{n: p.text for n, p in parts.items()})
        inside = frozenset().union(*(p.dims for p in parts.values()))
        return Term(text, inside, random=True)

    # ---- lines -----------------------------------------------------------------------------

    def some_dims(self, *, least=0):
        """Up to two dims."""
        count = self.draw(st.integers(least, 2))
        return tuple(sorted(self.draw(st.permutations(DIMS))[:count]))

    def latent(self, name):
        """Declare a latent variable."""
        way = self.one_of(("scalar",) * 8 + ("uniform", "label", "discrete", "vector"))
        dims = self.some_dims()
        # (A vector of one entry is a constant, or a scalar.)
        if way == "vector" and not [d for d in DIMS if d not in dims and self.sizes[d] > 1]:
            way = "scalar"
        if way == "uniform":
            self.lines.append(self.uniform(name, dims))
        elif way == "label":
            self.lines.append(self.label(name, dims))
        elif way == "discrete":
            self.lines.append(Line(name, "DiscreteUniform", "lower=0, upper=4", dims, COUNT))
        elif way == "vector":
            self.lines.append(self.vector(name, dims))
        else:
            family = self.one_of(SCALARS)
            self.lines.append(self.scalar(name, family, dims, depth=self.draw(st.integers(0, 2))))

    def uniform(self, name, dims):
        top = self.term(POSITIVE, dims, 1)
        lower, upper, kind = self.one_of(
            (
                ("0", "1", UNIT),
                ("-1.5", "2", REAL),
                ("0", top.text, POSITIVE),
                (f"-({top.text})", top.text, REAL),
            )
        )
        return Line(name, "Uniform", f"lower={lower}, upper={upper}", dims, kind)

    def label(self, name, dims):
        of = self.one_of([d for d in DIMS if d not in dims])
        simplex = [
            n
            for n in self.lines
            if n.kind == "simplex" and n.event == (of,) and set(n.dims) <= set(dims)
        ]
        p = self.one_of(simplex).name if simplex else self.weights(of)
        return Line(name, "Categorical", f"p={p}", dims, "label", of=of)

    def vector(self, name, dims):
        event = self.one_of([d for d in DIMS if d not in dims and self.sizes[d] > 1])
        if self.chance():
            mu = self.term(REAL, (*dims, event), 1)
            arguments = f"mu={mu.text}, {self.one_of(('tau', 'cov'))}={self.matrix(event)}"
            return Line(name, "MvNormal", arguments, dims, "vector", event=(event,))
        a = self.term(POSITIVE, (*dims, event), 1)
        return Line(name, "Dirichlet", f"a={a.text}", dims, "simplex", event=(event,))

    def scalar(self, name, family, dims, depth, *, child=False):
        """A variable of a row of the table; its parameters are numbers or terms of earlier ones."""
        spelling = self.one_of([tuple(family.parameters), *family.spellings])
        rows = {**family.spelled, **family.parameters}
        main = self.one_of(spelling)
        arguments = {}
        for n in spelling:
            kind = kind_of(rows[n].support)
            busy = n == main if child else depth > 0 and n == main
            arguments[n] = (
                self.term(kind, dims, max(depth, 1))
                if busy or (depth > 0 and self.chance(3))
                else self.known(kind, dims)
            ).text
        kind = kind_of(family.support((), **{n: sp.Symbol(n) for n in family.parameters}))
        if family.log_cdf is not None and self.chance(8):
            for side, value in zip(("lower", "upper"), self.one_of(BOUNDS[kind]), strict=True):
                arguments |= {} if value is None else {side: value}
            if arguments.get("lower") == "0":
                kind = POSITIVE
        if family.name == "Bernoulli":
            kind = "binary"
        # (One customer is at one table for certain: such a variable is a constant.)
        assume(family.name != "ChineseRestaurantTable" or arguments["n"] != "1")
        written = ", ".join(f"{n}={v}" for n, v in arguments.items())
        return Line(name, family.name, written, dims, kind)

    def child(self, name):
        """Declare an observed variable, along the dims of a latent one and perhaps one more."""
        more = set(self.one_of(self.lines).dims) | {d for d in DIMS if self.chance(4)}
        dims = tuple(sorted(more)) if self.chance() else self.some_dims()
        simplexes = [n for n in self.lines if n.kind == "simplex"]
        vectors = [n for n in self.lines if n.kind == "vector"]
        if simplexes and self.chance():
            p = self.one_of(simplexes)
            along = tuple(sorted({*p.dims, *dims} - {*p.event}))
            if self.chance():
                arguments = f"n=5, p={p.name}"
                line = Line(name, "Multinomial", arguments, along, "counts", event=p.event)
            else:
                line = Line(name, "Categorical", f"p={p.name}", along, "label", of=p.event[0])
        elif vectors and self.chance():
            v = self.one_of(vectors)
            along = tuple(sorted({*v.dims, *dims} - {*v.event}))
            matrix = self.matrix(v.event[0])
            if self.chance():
                arguments = f"mu={v.name}, tau={matrix}"
                line = Line(name, "MvNormal", arguments, along, "vector", event=v.event)
            else:
                both = tuple(sorted({*along, *v.event}))
                line = Line(name, "Normal", f"mu={v.name}, tau=2", both, REAL)
        else:
            family = self.one_of(SCALARS)
            line = self.scalar(name, family, dims, self.draw(st.integers(1, 2)), child=True)
            if family.log_cdf is not None and "lower=" not in line.arguments and (
                "upper=" not in line.arguments
            ) and self.chance(8):
                line = replace(line, censoring=self.censoring(line))
        self.lines.append(replace(line, observed=True))

    def censoring(self, line):
        kind = COUNT if line.kind == "binary" else line.kind
        sides = self.one_of((("lower",), ("upper",), ("lower", "upper"), ("event",)))
        if line.kind == "binary" or (sides == ("event",) and not line.dims):
            return ()
        if sides == ("event",):
            return (("event", self.covariate("flag", (line.dims[0],))),)
        return tuple((s, LIMITS[kind][s]) for s in sides)


def kind_of(support: Support):
    """The short word for a support of a parameter or of a family."""
    if support.kind == "integer":
        return COUNT
    lower, upper = sp.sympify(support.lower), sp.sympify(support.upper)
    if lower == 0 and upper == 1:
        return UNIT
    return POSITIVE if lower.is_nonnegative or lower.is_Symbol else REAL


# To each kind, what its terms are made of: a text with places, and the kinds of the places.
RULES = {
    REAL: (
        ("{a} + {b}", (REAL, REAL)),
        ("2 * {a}", (REAL,)),
        ("-({a})", (REAL,)),
        ("({a}) * ({b})", (REAL, REAL)),
        ("({a}) - ({b})", (REAL, REAL)),
        ("gp.log({a})", (POSITIVE,)),
        ("gp.logit({a})", (UNIT,)),
        ("({a}) * ({b})", (POSITIVE, REAL)),
        ("{a}", (POSITIVE,)),
        ("{a}", (UNIT,)),
        ("gp.where({g}, {a}, {b})", (REAL, REAL)),
        ("({g}) * ({a})", (REAL,)),
        ("gp.abs({a})", (REAL,)),
        ("{a}", (COUNT,)),
    ),
    POSITIVE: (
        ("2 * ({a})", (POSITIVE,)),
        ("({a}) * ({b})", (POSITIVE, POSITIVE)),
        ("1 / ({a})", (POSITIVE,)),
        ("({a}) ** 2", (POSITIVE,)),
        ("gp.sqrt({a})", (POSITIVE,)),
        ("gp.exp({a})", (REAL,)),
        ("{a} + {b}", (POSITIVE, POSITIVE)),
        ("({a}) / ({b})", (POSITIVE, POSITIVE)),
        ("{a}", (UNIT,)),
        ("({a}) / (1 - ({a}))", (UNIT,)),
        ("-gp.log({a})", (UNIT,)),
        ("({a}) ** -0.5", (POSITIVE,)),
        ("gp.where({g}, {a}, {b})", (POSITIVE, POSITIVE)),
        ("{a} + 0.5", (COUNT,)),
    ),
    UNIT: (
        ("1 - ({a})", (UNIT,)),
        ("({a}) * ({b})", (UNIT, UNIT)),
        ("gp.expit({a})", (REAL,)),
        ("({a}) ** 2", (UNIT,)),
        ("({a}) / (1 + ({a}))", (POSITIVE,)),
        ("gp.exp(-({a}))", (POSITIVE,)),
        ("1 - gp.exp(-({a}))", (POSITIVE,)),
        ("gp.Phi({a})", (REAL,)),
        ("gp.where({g}, {a}, {b})", (UNIT, UNIT)),
    ),
    COUNT: (("{a} + 1", (COUNT,)),),
}


@st.composite
def random_models(draw):
    """Models of 1 to 4 latent variables and 1 to 3 observed ones."""
    sizes = {d: draw(st.integers(1, 4)) for d in DIMS}
    writer = Writer(draw, sizes)
    for n in range(draw(st.integers(1, 4))):
        writer.latent("abcd"[n])
    for n in range(draw(st.integers(1, 3))):
        writer.child(f"y{n}")
    return RandomModel(sizes, tuple(writer.data.values()), tuple(writer.lines))
