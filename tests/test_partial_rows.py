"""Rows that see elements over a part of a dim: two parts with their sums, elements beyond."""

import numpy as np
import pytest
from replays import beside
from test_loops_of_models import started

import gibbsppl as gp

RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 3))
GROUP = RNG.integers(1, 3, 6)
COUNTS = RNG.poisson(1.3, 6)

# Two loops of observations over parts of i; elements of z that no observation sees.
PROGRAMS = {
    "normal in two parts": (
        """for (i in 1:2) { y[i] ~ dnorm(inprod(x[i,], z[]), tau) }
        for (i in 3:6) { y[i] ~ dnorm(0.5 * inprod(x[i,], z[]), 2 * tau) }
        for (j in 1:3) { z[j] ~ dnorm(0, 1) }
        tau ~ dgamma(1, 1)""",
        {"x": X, "y": RNG.normal(size=6)},
    ),
    "counts in two parts": (
        """for (i in 1:3) { y[i] ~ dpois(exp(inprod(x[i,], z[]))) }
        for (i in 4:6) { y[i] ~ dpois(exp(0.5 * inprod(x[i,], z[]))) }
        for (j in 1:3) { z[j] ~ dbern(0.4) }""",
        {"x": X, "y": COUNTS},
    ),
    "groups in two parts": (
        """for (i in 1:3) { y[i] ~ dpois(exp(inprod(x[i,], z[g[i],]))) }
        for (i in 4:6) { y[i] ~ dpois(exp(0.5 * inprod(x[i,], z[g[i],]))) }
        for (h in 1:2) { for (j in 1:3) { z[h, j] ~ dbern(0.4) } }""",
        {"x": X, "g": GROUP, "y": COUNTS},
    ),
    "elements beyond": (
        """for (t in 1:2) { y[t] ~ dpois(exp(0.3 * inprod(x[t,], z[t,]))) }
        for (t in 1:4) { for (j in 1:3) { z[t, j] ~ dbern(0.4) } }""",
        {"x": X[:2], "y": COUNTS[:2]},
    ),
    "groups beyond": (
        """for (t in 1:2) { for (i in 1:6) {
            y[t, i] ~ dpois(exp(0.3 * inprod(x[i,], z[t, g[i],])))
        } }
        for (t in 1:4) { for (h in 1:2) { for (j in 1:3) { z[t, h, j] ~ dbern(0.4) } } }""",
        {"x": X, "g": GROUP, "y": np.array([COUNTS, COUNTS])},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_draw_as_numpy_does(name):
    text, data = PROGRAMS[name]
    sampler = gp.compile(gp.read_bugs(f"model {{ {text} }}", data), interweave=False)
    state, rng = started(sampler)

    assert [line for _ in range(8) for line in beside(sampler, state, rng).far] == []
