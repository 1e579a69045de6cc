"""BUGS programs and data that are read without error, what is made of them, and random trees."""

from time import process_time

from hypothesis import strategies as st

from gibbsppl.bugs.expressions import BINARY, PREFIX
from gibbsppl.bugs.syntax import (
    LINKS,
    Assignment,
    Call,
    Declaration,
    Everything,
    Loop,
    Number,
    Operation,
    Program,
    Reference,
    Restriction,
    Stochastic,
)

PROGRAMS = (
    """\
model {
  for (i in 1:N) {
    for (j in 1:T) {
      Y[i, j] ~ dnorm(mu[i, j], tau.c)
      mu[i, j] <- alpha[i] + beta[i] * (x[j] - mean(x[]))
    }
    alpha[i] ~ dnorm(alpha.c, tau.alpha); beta[i] ~ dnorm(beta.c, tau.beta)
  }
  tau.c ~ dgamma(1.0E-3, .001)
  sigma <- 1 / sqrt(tau.c)  # the error of one weight
  alpha.c ~ dnorm(0, 1e-4)
  beta.c ~ dflat()
}
""",
    """\
var p[N, 3], b[2], Omega[2, 2];
data {
  D <- dim(Y)
  for (i in 1:D[1]) { z[i] <- log(Y[i, 1]) }
}
model {
  for (i in 1:N) {
    logit(p[i, 1]) = inprod(X[i, ], b) - 2 ^ -1
    log(p[i, 2]) <- X[i, 1:2] %*% b[1:2]
    r[i] ~ dbin(p[i, g[i]], n[i])
    t[i] ~ dweib(shape, lambda[i])I(cens[i], )
    u[i] ~ dnorm(0, 1) T(, step(x[i] - 1) + 3)
    v[i] ~ dnorm(0, 1) C(a, b[1])
    w[i] <- ifelse(x[i] >= 1 && !y[i] || x[i] == -2, 0, max(x[i], 0))
  }
  b[1:2] ~ dmnorm(mu[], Omega[,])
  Omega ~ dwish(R[1:2, 1:2], 2)
  T ~ dnorm(0, 1) ; I[1] <- T ; C <- I[1]**2
}
""",
    """\
model rats {
\tfor (k in c(1, 3, 5)) {
\t\ty[k] ~ dcat(P[k,]) /* a label */
\t}
}
Data
list(P = structure(.Data = c(1), .Dim = c(1, 1)))
""".replace("\n", "\r\n"),
)

DATA = (
    """\
"N" <-
3
`y` <- c(1, NA, 3L)
X = structure(c(1, 2, -3.5e1, .4), .Dim = c(2L, 2L))
k <- 1:5; q <- TRUE # as R writes it
""",
    """\
list(N = 2, T = 5, x = c(8.0, 15, 22),
     Y = structure(.Data = c(1, 2, NA, 4), .Dim = c(2, 2)))
""",
    "age[] Y[,1] Y[,2]\n30 1 2.5\n31 NA 4\nEND\n\nlist(N = 2)",
    '{"N": 2, "y": [1.5, null, 3], "Y": [[1, 2], [3, 4]], "q": true}',
)


def mutated(rng, source, words):
    """A text with a few pieces taken out, doubled, turned round or replaced by words."""
    for _ in range(rng.randint(1, 3)):
        first, last = sorted(rng.randint(0, len(source)) for _ in range(2))
        last = min(last, first + rng.choice((1, 1, 2, 5, 30)))
        piece = source[first:last]
        new = rng.choice(("", piece * 2, piece[::-1], rng.choice(words), f" {rng.choice(words)} "))
        source = source[:first] + new + source[last:]
    return source


def seconds(task):
    """The CPU seconds that a task takes."""
    started = process_time()
    task()
    return process_time() - started


# ---- trees -----------------------------------------------------------------------------------

NAMES = st.sampled_from(
    ["x", "mu", "tau.c", "beta_1", "T", "I", "C", "E", "e1", "model", "data", "var", "a.b_c.2"]
)
FUNCTIONS = st.sampled_from(["exp", "dnorm", "inprod", "loggam", "var", "data", "f.g"])
NUMBERS = st.one_of(
    st.integers(0, 10).map(float), st.floats(0, allow_nan=False, allow_infinity=False)
)


def _larger(inner):
    """Expressions made of expressions."""
    indices = st.lists(st.one_of(inner, st.builds(Everything)), min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Reference, NAMES, indices),
        st.builds(Call, FUNCTIONS, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Operation, st.sampled_from(sorted(PREFIX)), st.tuples(inner)),
        st.builds(Operation, st.sampled_from(sorted(BINARY)), st.tuples(inner, inner)),
    )


REFERENCES = st.builds(Reference, NAMES)
EXPRESSIONS = st.recursive(
    st.one_of(NUMBERS.map(Number), REFERENCES), _larger, max_leaves=12
)
_SMALL = st.recursive(st.one_of(NUMBERS.map(Number), REFERENCES), _larger, max_leaves=3)
_TARGETS = st.one_of(
    REFERENCES,
    st.builds(
        Reference,
        NAMES,
        st.lists(st.one_of(_SMALL, st.builds(Everything)), min_size=1, max_size=2).map(tuple),
    ),
)
_BOUNDS = st.one_of(st.none(), _SMALL)
_RESTRICTIONS = st.builds(Restriction, st.sampled_from("TIC"), _BOUNDS, _BOUNDS)
_LINES = st.one_of(
    st.builds(
        Stochastic,
        _TARGETS,
        st.builds(Call, FUNCTIONS, st.lists(_SMALL, max_size=3).map(tuple)),
        st.one_of(st.none(), _RESTRICTIONS),
    ),
    st.builds(Assignment, _TARGETS, st.one_of(st.none(), st.sampled_from(LINKS)), EXPRESSIONS),
)
_STATEMENTS = st.recursive(
    _LINES,
    lambda inner: st.builds(Loop, NAMES, _SMALL, st.lists(inner, max_size=3).map(tuple)),
    max_leaves=4,
)
_DECLARATIONS = st.lists(
    st.builds(
        Declaration,
        NAMES,
        st.one_of(st.none(), st.lists(_SMALL, min_size=1, max_size=2).map(tuple)),
    ),
    max_size=3,
    unique_by=lambda d: d.name,
).map(tuple)
TREES = st.builds(
    Program,
    st.just(""),
    st.just("text"),
    _DECLARATIONS,
    st.one_of(st.none(), st.lists(_STATEMENTS, max_size=2).map(tuple)),
    st.lists(_STATEMENTS, min_size=1, max_size=4).map(tuple),
)
