"""Made-up BUGS programs are read as models or refused by line: nothing else happens."""

import contextlib

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import gibbsppl as gp
from gibbsppl.bugs.distributions import DISTRIBUTIONS
from gibbsppl.bugs.rows import Unsupported

DATA = {
    "N": 3,
    "s": 1.5,
    "v": [0.2, 0.5, 0.3],
    "w": [[0.5, 0.2], [0.1, 0.9], [2.0, 1.0]],
    "g": [1, 2, 1],
    "one": [1.0, 1.0],
    "P": [[2.0, 0.3], [0.3, 1.0]],
}
# Numbers, vectors, and how they are combined; what does not fit together is to be refused.
NUMBERS = (
    *("0", "1", "0.5", "2", "s", "N", "i", "v[i]", "w[i,1]", "w[i,g[i]]", "g[i]"),
    *("a", "b[i]", "b[g[i]]", "b[2]", "c[i,1]", "c[i,g[i]]", "z[i]", "b[z[i]]", "d[1]", "d[z[i]]"),
    *("q", "b[i-1]", "b[i+1]", "P[1,2]", "d[3]"),
)
VECTORS = (
    "v[]",
    "w[i,]",
    "w[,2]",
    "b[]",
    "b[1:2]",
    "c[i,]",
    "c[,1]",
    "d[]",
    "d[1:2]",
    "one[]",
    "b",
)
OF_NUMBERS = (
    *("exp({})", "log({})", "sqrt({})", "ilogit({})", "phi({})", "-{}", "step({})", "abs({})"),
    *("({0} + {1})", "({0} - {1})", "{0} * {1}", "({0} / {1})", "pow({0}, {1})", "({0} < {1})"),
    *("equals({0}, {1})", "max({0}, {1})", "ifelse({0}, {1}, 1)", "!{0}", "round({0})"),
)
OF_VECTORS = (
    "sum({})",
    "mean({})",
    "inprod({}, one[])",
    "max({})",
    "sd({})",
    "rank({})[1]",
    "t({})",
)
TARGETS = ("a", "b[i]", "c[i,1]", "c[i,j]", "c[i,1:2]", "d[1:2]", "d[j]", "z[i]", "q", "b[g[i]]")
LOOPS = ("for (i in 1:N)", "for (i in 1:N)", "for (i in 2:N)", "for (i in 1:2)", "")
INNER = ("for (j in 1:2)", "for (j in 1:g[i])", "for (j in i:N)")
LINKS = ("{}", "{}", "log({})", "logit({})", "probit({})", "cloglog({})")
BOUNDS = ("", "", "", " T(0,)", " T(,{})", " I({},)", " I(0, 3)", " C(,1)")
NAMES = sorted(n for n, row in DISTRIBUTIONS.items() if not isinstance(row, Unsupported))
# What gives the names that a program reads and does not give.
OTHERWISE = {
    "a": "a ~ dnorm(0, 1)",
    "b": "for (i in 1:N) { b[i] ~ dgamma(1, 1) }",
    "c": "for (i in 1:N) { for (j in 1:2) { c[i,j] ~ dnorm(a, 1) } }",
    "d": "d[1:2] ~ ddirch(one[])",
    "z": "for (i in 1:N) { z[i] ~ dcat(d[]) }",
    "q": "q <- exp(a) + 1",
}

SCALARS = st.recursive(
    st.sampled_from(NUMBERS),
    lambda inner: st.one_of(
        st.builds(str.format, st.sampled_from(OF_NUMBERS), inner, inner),
        st.builds(str.format, st.sampled_from(OF_VECTORS), st.sampled_from(VECTORS)),
    ),
    max_leaves=3,
)
PARAMETERS = (SCALARS, st.sampled_from(VECTORS), st.sampled_from(("P[,]", "inverse(P[,])", "w[,]")))


@st.composite
def lines(draw):
    """A line of a program in its loops, and the name that it gives."""
    target = draw(st.sampled_from(TARGETS))
    if draw(st.booleans()):
        name = draw(st.sampled_from(NAMES))
        axes = DISTRIBUTIONS[name].parameters.values()
        parameters = [draw(PARAMETERS[n]) for n in axes]
        bound = draw(st.sampled_from(BOUNDS)).format(draw(SCALARS))
        body = f"{target} ~ {name}({', '.join(parameters)}){bound}"
    else:
        value = draw(st.one_of(SCALARS, SCALARS, st.sampled_from(VECTORS)))
        body = f"{draw(st.sampled_from(LINKS)).format(target)} <- {value}"
    if "j]" in target:
        body = f"{draw(st.sampled_from(INNER))} {{ {body} }}"
    loop = draw(st.sampled_from(LOOPS)) if "i" in target or draw(st.booleans()) else ""
    return f"{loop} {{ {body} }}" if loop else body, target[0]


@st.composite
def programs(draw):
    """A few made-up lines, and what gives the other names."""
    made = draw(st.lists(lines(), min_size=1, max_size=3))
    given = {name for _, name in made}
    return "\n".join([*(t for t, _ in made), *(t for n, t in OTHERWISE.items() if n not in given)])


PROGRAMS = programs()


def outcome(text, observed):
    """What becomes of a program: a model, or an error of ours, which says where it is."""
    data = dict(DATA)
    if observed:
        data |= {"b": np.ma.masked_equal([0.5, 9, 1.0], 9), "z": [1, 2, 1]}
    try:
        model = gp.read_bugs(f"model {{\n{text}\n}}", data)
    except gp.GibbspplError:
        return "refused"
    assert str(model.graph)
    return model


SETTINGS = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}


@settings(**SETTINGS, derandomize=True, max_examples=150, phases=[Phase.generate])
@given(PROGRAMS, st.booleans())
def test_programs_are_read_or_refused(text, observed):
    outcome(text, observed)


@pytest.mark.slow
@settings(**SETTINGS, max_examples=5000)
@given(PROGRAMS, st.booleans())
def test_many_programs_are_read_or_refused(text, observed):
    outcome(text, observed)


@pytest.mark.slow
@settings(**SETTINGS, max_examples=300)
@given(PROGRAMS, st.booleans())
def test_what_is_read_is_compiled_or_refused(text, observed):
    model = outcome(text, observed)
    if model != "refused":
        with contextlib.suppress(gp.GibbspplError):
            assert gp.compile(model).source
