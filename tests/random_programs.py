"""Small random BUGS programs, each a deterministic function of a seed: a text and its data.

Loops from any start, nests, ragged tables, lags, ranges whose length varies, gathers, latent
labels, several lines that give one array, missing values, truncation, most distributions. All are
programs of BUGS: what a reader makes of one can be compared with what it says.
"""

from dataclasses import dataclass, field

import numpy as np

SIZE = 6  # of vectors of data, which no loop exceeds
LABELS = 3

# What the parameters of distributions are, and what their values are.
REAL = {
    "dnorm": "real positive",
    "dt": "real positive positive",
    "ddexp": "real positive",
    "dlogis": "real positive",
    "dgumbel": "real positive",
    "dnt": "real positive positive",
    "dnormmix": "reals positives shares",
}
POSITIVE = {
    "dgamma": "positive positive",
    "dexp": "positive",
    "dchisqr": "positive",
    "dlnorm": "real positive",
    "dweib": "positive positive",
    "dgen.gamma": "positive positive positive",
    "df": "positive positive",
    "dinv.gauss": "positive positive",
    "dinv.weib": "positive positive",
    "dlog.logis": "positive positive",
    "dburrXII": "positive positive",
    "dgpz": "positive positive",
    "dscaled.gamma": "positive positive",
    "dnchisqr": "positive positive",
    "dpar": "positive small",
}
UNIT = {"dbeta": "positive positive", "dunif": "zero one"}
COUNTS = {
    "dpois": "positive",
    "dnegbin": "share positive",
    "dgeom0": "share",
    "dgeom1": "share",
    "dbin": "share trials",
    "dbetabin": "positive positive trials",
    "dbern": "share",
    "dhyper": "five four four positive",
}
LABEL = {
    "dcat": "shares",
    "dordered.logit": "real cuts",
    "dordered.probit": "real cuts",
}
# Those of one of several lines that give an array: without auxiliary variables.
STEP = {n: REAL[n] for n in ("dnorm", "dt", "ddexp", "dlogis", "dgumbel")}
KINDS = {
    "real": REAL,
    "step": STEP,
    "positive": POSITIVE,
    "unit": UNIT,
    "count": COUNTS,
    "label": LABEL,
}
# Those that truncation is written for in the language.
TRUNCATED = ("dnorm", "dt", "dlogis", "dgamma", "dexp", "dlnorm", "dweib", "dpois", "dbeta",
             "ddexp", "dchisqr", "dgumbel", "dpar", "dnegbin", "dbin")  # fmt: skip


@dataclass
class Known:
    """An array that expressions may read: the first and the last position along each axis."""

    name: str
    kind: str
    ends: tuple[tuple[int, int], ...]


@dataclass
class Writer:
    """Writes a program line by line; ``loops`` are the ends of the loop variables in scope."""

    rng: np.random.Generator
    data: dict = field(default_factory=dict)
    arrays: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    loops: dict = field(default_factory=dict)
    count: int = 0

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, *options):
        return options[self.rng.integers(len(options))]

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    # ---- indices -----------------------------------------------------------------------------

    def index(self, first, last):
        """A position between two ends, whatever the loop variables are."""
        options = [str(self.rng.integers(first, last + 1))]
        for i, (low, high) in self.loops.items():
            for step in range(first - low, last - high + 1):
                options += [f"{i} + {step}" if step > 0 else f"{i} - {-step}" if step else i] * 2
            if first <= last + 1 - high and last + 1 - low <= last:
                options.append(f"{last + 1} - {i}")
            for a in self.of_kind("index", "label"):
                if len(a.ends) != 1:
                    continue
                ((low_g, high_g),) = a.ends
                inside = low_g <= low and high <= high_g
                if a.kind == "index" and inside and first == 1 and last >= LABELS:
                    options += [f"{a.name}[{i}]"] * 2
                if a.kind == "label" and inside and first == 1:
                    options += [f"{a.name}[{i}]"] * (2 if last == LABELS else 0)
        return self.pick(*options)

    def range(self, first, last):
        """A range inside of two ends, one of which may be a loop variable."""
        for i, (low, high) in self.loops.items():
            if first <= low and high <= last and self.chance(0.7):
                return self.pick(f"{first}:{i}", f"{i}:{last}", f"{first}:{i}")
        return self.pick(f"{first}:{last}", f"{first}:{self.rng.integers(first, last + 1)}")

    def element(self, array):
        """An element of an array."""
        if not array.ends:
            return array.name
        return f"{array.name}[{', '.join(self.index(*e) for e in array.ends)}]"

    def of_kind(self, *kinds):
        return [a for a in self.arrays if a.kind in kinds]

    # ---- expressions -------------------------------------------------------------------------

    def real(self, depth=2):
        """Any number."""
        options = [self.constant]
        if depth:
            options += [self.fold, self.combined, lambda: self.applied(depth)]
        found = self.of_kind("real", "positive", "unit", "data")
        if found and self.chance(0.65):
            return self.element(self.pick(*found))
        return self.pick(*options)()

    def constant(self):
        return f"{self.rng.uniform(-1, 1.5):.2f}"

    def combined(self):
        a, b = self.real(1), self.real(1)
        return self.pick(f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"({a} + {b} * 0.5)")

    def applied(self, depth):
        x, y = self.real(depth - 1), self.real(depth - 1)
        return self.pick(
            f"sin({x})", f"ilogit({x})", f"abs({x})", f"pow({x}, 2)", f"max({x}, {y})",
            f"step({x})", f"ifelse({x} > {y}, {y}, 0.3)", f"equals({self.label()}, 2)",
            f"pnorm({x}, {y}, 2)", f"logdensity.norm({x}, {y}, 0.5)", f"pexp(abs({x}), 1.5)",
            f"phi({x})", f"arctan({x})", f"interp.lin({x}, knots[], heights[])", f"-{x}",
        )  # fmt: skip

    def label(self):
        found = self.of_kind("label", "index")
        return self.element(self.pick(*found)) if found else "1"

    def fold(self):
        """A function of a range, the length of which may vary."""
        vectors = [a for a in self.of_kind("real", "data", "positive") if len(a.ends) == 1]
        matrices = [a for a in self.of_kind("real", "data") if len(a.ends) == 2]
        if matrices and self.chance(0.4):
            a = self.pick(*matrices)
            first, last = a.ends
            inside = self.pick(
                f"{self.index(*first)}, {self.range(*last)}",
                f"{self.range(*first)}, {self.index(*last)}",
                f"{first[0]}:{first[1]}, {self.range(*last)}",
            )
            return f"{self.pick('sum', 'mean', 'max')}({a.name}[{inside}])"
        a = self.pick(*vectors)
        where = self.range(*a.ends[0])
        if self.chance(0.25):
            others = [b for b in vectors if b.ends[0][0] <= a.ends[0][0]
                      and b.ends[0][1] >= a.ends[0][1]]  # fmt: skip
            return f"inprod({a.name}[{where}], {self.pick(*others).name}[{where}])"
        return f"{self.pick('sum', 'mean', 'max', 'min', 'prod')}({a.name}[{where}])"

    def positive(self):
        found = self.of_kind("positive")
        if found and self.chance(0.5):
            a = self.element(self.pick(*found))
            return self.pick(a, a, f"({a} + 0.2)", f"1 / {a}", f"{a} * 1.5")
        return self.pick(
            f"{self.rng.uniform(0.4, 2):.2f}", f"exp({self.real(1)})", f"({self.real(1)})^2 + 0.3",
            f"(0.5 + abs({self.real(1)}))",
        )  # fmt: skip

    def share(self):
        found = self.of_kind("unit")
        if found and self.chance(0.3):
            return self.element(self.pick(*found))
        x = self.real(1)
        of_one = self.pick("ilogit({})", "phi({})", "icloglog(sin({}))", "0.35", "ilogit({}) * 0.9")
        return of_one.format(x)

    def vector(self, kind):
        """A vector of as many entries as there are labels."""
        found = [a for a in self.arrays if a.kind == kind and a.ends[-1] == (1, LABELS)]
        a = self.pick(*found)
        if len(a.ends) == 1:
            return self.pick(f"{a.name}[]", f"{a.name}[1:{LABELS}]")
        return f"{a.name}[{self.index(*a.ends[0])}, 1:{LABELS}]"

    def parameter(self, kind):
        match kind:
            case "real":
                return self.real()
            case "positive":
                return self.positive()
            case "share":
                return self.share()
            case "reals" | "positives" | "shares":
                return self.vector(kind)
            case "trials":
                return "9"
            case "small":
                return "0.01"
            case "cuts":
                return "cuts[]"
        return {"zero": "0", "one": "1", "five": "5", "four": "4"}[kind]

    def distribution(self, kind):
        """A distribution of values of a kind, and its bounds."""
        table = KINDS[kind]
        called = self.pick(*table)
        given = ", ".join(self.parameter(k) for k in table[called].split())
        bounds = ""
        if called in TRUNCATED and self.chance(0.3):
            bounds = self.bounds(kind)
        return f"{called}({given}){bounds}", called

    def bounds(self, kind):
        low, high = {"real": ("-4", "4.5"), "positive": ("0.02", "9"), "unit": ("0.01", "0.99"),
                     "count": ("0", "8"), "step": ("-4", "4.5")}[kind]  # fmt: skip
        if kind == "real" and self.chance(0.3):
            low = f"-3 - {self.element(self.pick(*self.of_kind('data')))}"
        return self.pick("T({0},)", "T(,{1})", "T({0}, {1})", "I({0}, {1})").format(low, high)

    # ---- values ------------------------------------------------------------------------------

    def values(self, kind, called, shape):
        """What may be observed."""
        rng = self.rng
        found = {
            "real": lambda: rng.uniform(-2, 2, shape),
            "positive": lambda: rng.uniform(0.1, 3, shape),
            "unit": lambda: rng.uniform(0.05, 0.95, shape),
            "count": lambda: rng.integers(1 if called == "dgeom1" else 0, 4, shape),
            "label": lambda: rng.integers(1, LABELS + 1, shape),
        }[kind]()
        if called == "dbern":
            found = found % 2
        return found.round(3)

    def observe(self, name, kind, called, shape, given):
        """Give data to an array, where its elements are given; some or all may be missing."""
        how = self.rng.random()
        if how < 0.25:
            return
        known = given & (self.rng.random(shape) < (0.7 if how < 0.6 else 1.1))
        if known.any():
            self.data[name] = np.ma.MaskedArray(self.values(kind, called, shape), ~known)

    # ---- lines -------------------------------------------------------------------------------

    def write(self, line):
        for depth, (i, (low, high)) in enumerate(self.loops.items()):
            self.lines.append(f"{'  ' * depth}for ({i} in {low}:{high}) {{")
        self.lines.append(f"{'  ' * len(self.loops)}{line}")
        self.lines += ["  " * d + "}" for d in reversed(range(len(self.loops)))]

    def loop(self):
        low = int(self.rng.integers(1, 4))
        return low, int(self.rng.integers(low + 1, SIZE + 1))

    def scalar(self):
        kind = self.pick("real", "positive", "unit", "real")
        name = self.name("a")
        said, _ = self.distribution(kind)
        self.write(f"{name} ~ {said}")
        self.arrays.append(Known(name, kind, ()))

    def given_vector(self):
        """A vector, of a loop; its first element, or another one, may have a line of its own."""
        kind = self.pick("real", "real", "positive", "unit", "count", "label")
        name, (low, high) = self.name("x"), self.loop()
        ends = (low, high)
        if kind == "real" and low > 1 and self.chance(0.5):
            ends = (low - 1, high)
            value = self.pick("<- 0.3", f"<- {self.real()}", f"~ {self.distribution('step')[0]}")
            self.write(f"{name}[{low - 1}] {value}")
            lag = True
        else:
            lag = False
        self.loops = {"i": (low, high)}
        said, called = self.distribution("step" if lag else kind)
        if lag and self.chance(0.6):
            said = f"dnorm(0.7 * {name}[i - 1] + {self.real(1)}, {self.positive()})"
            called = "dnorm"
        self.write(f"{name}[i] ~ {said}")
        self.loops = {}
        if called not in ("dnt", "dnormmix") and (not lag or value[0] == "~"):
            given = np.zeros(high, dtype=bool)
            given[ends[0] - 1 :] = True
            self.observe(name, kind, called, (high,), given)
        self.arrays.append(Known(name, kind, (ends,)))

    def computed_vector(self):
        kind = self.pick("real", "positive", "unit", "real")
        name, ends = self.name("m"), self.loop()
        self.loops = {"i": ends}
        left, right = {
            "real": (f"{name}[i]", self.real),
            "positive": (f"log({name}[i])", self.real),
            "unit": (f"{self.pick('logit', 'probit', 'cloglog')}({name}[i])", self.real),
        }[kind]
        self.write(f"{left} <- {right()}")
        self.loops = {}
        self.arrays.append(Known(name, kind, (ends,)))

    def matrix(self):
        """A matrix of two loops; ragged, if the second one ends at a number of data."""
        name = self.name("y")
        (low, high), (first, last) = self.loop(), self.loop()
        self.loops = {"i": (low, high), "j": (first, last)}
        kind = self.pick("real", "positive", "count", "label")
        is_ragged = self.chance(0.4)
        given = np.zeros((high, last), dtype=bool)
        if is_ragged:
            ends = self.rng.integers(first, last + 1, high)
            self.data[f"n.{name}"] = ends
        said, called = self.distribution(kind)
        target = self.pick("i, j", "i, j", "j, i") if not is_ragged else "i, j"
        text = f"{name}[{target}] ~ {said}"
        self.loops = {}
        end = f"n.{name}[i]" if is_ragged else str(last)
        self.lines += [f"for (i in {low}:{high}) {{", f"  for (j in {first}:{end}) {{",
                       f"    {text}", "  }", "}"]  # fmt: skip
        for i in range(low, high + 1):
            given[i - 1, first - 1 : (ends[i - 1] if is_ragged else last)] = True
        if target == "j, i":
            given = given.T
        if called not in ("dnt", "dnormmix"):
            self.observe(name, kind, called, given.shape, given)
        if not is_ragged:
            both = ((low, high), (first, last))
            self.arrays.append(Known(name, kind, both if target == "i, j" else both[::-1]))

    def groups(self):
        """Observations of groups, one after the other, that start where data say."""
        name, count = self.name("r"), int(self.rng.integers(2, 5))
        ends = np.concatenate([[0], np.cumsum(self.rng.integers(1, 4, count))])
        self.data[f"{name}.ends"] = ends
        self.loops = {"i": (1, count)}
        said, called = self.distribution(self.pick("real", "positive", "count"))
        self.loops = {}
        self.lines += [f"for (i in 1:{count}) {{",
                       f"  for (j in ({name}.ends[i] + 1):{name}.ends[i + 1]) {{",
                       f"    {name}[j] ~ {said}", "  }", "}"]  # fmt: skip
        kind = next(k for k, table in KINDS.items() if called in table)
        if called not in ("dnt", "dnormmix"):
            self.observe(name, kind, called, (ends[-1],), np.ones(ends[-1], dtype=bool))

    def chosen(self):
        """A loop over numbers that data list."""
        name = self.name("s")
        chosen = np.sort(self.rng.choice(np.arange(1, SIZE + 1), 3, replace=False))
        self.data[f"{name}.at"] = chosen
        self.loops = {"i": (1, SIZE)}
        said, _ = self.distribution("step")
        self.loops = {}
        self.lines.append(f"for (i in {name}.at[]) {{ {name}[i] ~ {said} }}")

    def corner(self):
        """Effects of sum zero."""
        name = self.name("e")
        self.lines.append(f"{name}[1] <- -sum({name}[2:{LABELS}])")
        self.loops = {"k": (2, LABELS)}
        self.write(f"{name}[k] ~ {self.distribution('real')[0]}")
        self.loops = {}
        self.arrays.append(Known(name, "real", ((1, LABELS),)))

    def between(self):
        """A number above another one."""
        name, found = self.name("o"), self.of_kind("real")
        below = self.element(self.pick(*found)) if found else "0"
        bounds = f"{self.pick('T', 'I')}({below},)"
        self.write(f"{name} ~ dnorm({self.real(1)}, {self.positive()}){bounds}")
        self.arrays.append(Known(name, "real", ()))

    def lengths(self):
        """Shares of one, two and three parts."""
        name = self.name("f")
        self.lines.append(f"for (k in 2:{LABELS}) {{ {name}[k, 1:k] ~ ddirch(alpha[1:k]) }}")
        self.lines.append(f"for (k in 2:{LABELS}) {{ b{name}[k] ~ dcat({name}[k, 1:k]) }}")
        self.data[f"b{name}"] = np.ma.masked_equal([0, *self.rng.integers(1, 3, LABELS - 1)], 0)

    def field(self):
        """A field on a line of sites."""
        name, sites = self.name("h"), SIZE
        ties = [[n for n in (s - 1, s + 1) if 1 <= n <= sites] for s in range(1, sites + 1)]
        self.data[f"{name}.adj"] = np.concatenate(ties)
        self.data[f"{name}.num"] = np.array([len(t) for t in ties])
        self.data[f"{name}.w"] = np.ones(2 * sites - 2)
        said = f"car.normal({name}.adj[], {name}.w[], {name}.num[], {self.positive()})"
        self.write(f"{name}[1:{sites}] ~ {said}")
        self.arrays.append(Known(name, "real", ((1, sites),)))

    def simplex(self):
        name = self.name("q")
        if self.chance(0.5):
            self.write(f"{name}[1:{LABELS}] ~ ddirch(alpha[])")
            self.arrays.append(Known(name, "shares", ((1, LABELS),)))
        else:
            self.loops = {"k": (1, 4)}
            self.write(f"{name}[k, 1:{LABELS}] ~ ddirch(alpha[])")
            self.loops = {}
            self.arrays.append(Known(name, "shares", ((1, 4), (1, LABELS))))

    def vectors(self):
        """Vectors with a distribution of their own."""
        name = self.name("v")
        self.loops = {"k": (1, 4)} if self.chance(0.5) else {}
        at = "k, " if self.loops else ""
        said = self.pick(
            f"dmnorm({self.vector('reals')}, Omega[,])",
            f"dmnorm.vcov({self.vector('reals')}, Omega[,])",
            f"dmt({self.vector('reals')}, Omega[,], {self.positive()})",
            f"dmulti({self.vector('shares')}, 9)",
        )
        self.write(f"{name}[{at}1:{LABELS}] ~ {said}")
        ends = ((1, 4), (1, LABELS)) if self.loops else ((1, LABELS),)
        self.loops = {}
        self.arrays.append(Known(name, "count" if "dmulti" in said else "real", ends))

    def wishart(self):
        name = self.name("W")
        said = self.pick("dwish(Omega[,], 4)", "dscaled.wishart(scales[], 3)")
        self.write(f"{name}[1:{LABELS}, 1:{LABELS}] ~ {said}")
        self.write(f"det{name} <- logdet({name}[,])")
        self.arrays.append(Known(f"det{name}", "real", ()))

    def seen_interval(self):
        """A variable of which is seen between which cut points it is."""
        name, (low, high) = self.name("t"), self.loop()
        self.loops = {"i": (low, high)}
        self.write(f"{name}[i] ~ dnorm(sin({self.real(1)}), 1)")
        self.write(f"seen{name}[i] ~ dinterval({name}[i], cuts[])")
        self.loops = {}
        values = np.ma.masked_all(high, dtype=int)
        values[low - 1 :] = self.rng.integers(0, 3, high - low + 1)
        self.data[f"seen{name}"] = values
        self.arrays.append(Known(name, "real", ((low, high),)))

    def trick(self):
        """A likelihood that is written out."""
        ends = self.loop()
        name = self.name("zeros")
        self.loops = {"i": ends}
        said = self.pick(f"dpois({self.positive()})", f"dloglik({self.real()})")
        self.write(f"{name}[i] ~ {said}")
        self.loops = {}
        self.data[name] = np.zeros(ends[1], dtype=int)

    def transformed_data(self):
        name, ends = self.name("c"), self.loop()
        self.loops = {"i": ends}
        before, self.lines = self.lines, []
        known, self.arrays = self.arrays, [a for a in self.arrays if a.kind in ("data", "index")]
        self.write(f"{name}[i] <- {self.real()}")
        self.loops, block, self.lines = {}, self.lines, before
        self.arrays = [*known, Known(name, "data", (ends,))]
        return block


def random_program(seed):
    """The text and the data of a program."""
    rng = np.random.default_rng(seed)
    w = Writer(rng)
    w.data = {
        "d": rng.uniform(-1, 1.5, SIZE + 2).round(2),
        "u": rng.uniform(-1, 1.5, (SIZE, LABELS)).round(2),
        "g": rng.integers(1, LABELS + 1, SIZE),
        "cuts": np.array([-0.7, 0.8]),
        "alpha": rng.uniform(0.5, 2, LABELS).round(2),
        "Omega": np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.5]]),
        "scales": rng.uniform(0.5, 2, LABELS).round(2),
        "knots": np.array([-1.0, 0.0, 2.0]),
        "heights": rng.uniform(-1, 1, 3).round(2),
    }
    w.arrays = [
        Known("d", "data", ((1, SIZE + 2),)),
        Known("u", "data", ((1, SIZE), (1, LABELS))),
        Known("g", "index", ((1, SIZE),)),
        Known("alpha", "positives", ((1, LABELS),)),
        Known("alpha", "shares", ((1, LABELS),)),
        Known("u", "reals", ((1, SIZE), (1, LABELS))),
    ]
    block = w.transformed_data() if w.chance(0.3) else []
    w.scalar()
    for _ in range(rng.integers(2, 6)):
        w.pick(w.scalar, w.given_vector, w.given_vector, w.computed_vector, w.computed_vector,
               w.matrix, w.simplex, w.vectors, w.wishart, w.seen_interval, w.trick, w.groups,
               w.chosen, w.corner, w.between, w.lengths, w.field)()  # fmt: skip
    w.given_vector()
    lines = w.lines
    inside = "\n".join(f"  {line}" for line in lines)
    before = "\n".join(f"  {line}" for line in block)
    text = (f"data {{\n{before}\n}}\n" if block else "") + f"model {{\n{inside}\n}}\n"
    return text, w.data
