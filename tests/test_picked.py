"""Sums over rows that read what is drawn through an index of data: sums over what it picks."""

import numpy as np
import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl.code.arrays import picked
from gibbsppl.code.arrays.expressions import ONE, Apply
from gibbsppl.code.arrays.sweeps import spans_in

ROWS, RNG = 40, np.random.default_rng(1)
X, Y = RNG.normal(size=(ROWS, 3)), RNG.normal(size=ROWS)


def rows(**sizes):
    coords = {"n": ROWS, "j": 3, "g": 5, "h": 4} | sizes
    return gp.Model(coords=coords)


def index(of, size, seed=2):
    values = np.random.default_rng(seed).integers(size, size=ROWS)
    return gp.Index(f"{of}_of", values, of=of, dims="n")


def design():
    return gp.Data("x", X, dims=("n", "j"))


def levels(name="level", of="g"):
    return gp.Normal(name, 0, tau=1, dims=of)


def of_group():
    """Coefficients, and levels of few groups."""
    with rows() as m:
        beta = gp.Normal("beta", 0, tau=1, dims="j")
        mean = design() @ beta + levels()[index("g", 5)]
        gp.Normal("y", mean, tau=gp.Gamma("tau", 1, rate=1), dims="n", observed=Y)
    return m


def slopes_of_group():
    """A coefficient for each group."""
    with rows() as m:
        of, beta = index("g", 5), gp.Normal("beta", 0, tau=1, dims="j")
        slope = gp.Normal("slope", 0, tau=1, dims=("g", "j"))
        mean = design() @ beta + gp.sum(slope[of] * gp.Data("z", X**2, dims=("n", "j")), "j")
        gp.Normal("y", mean, tau=2, dims="n", observed=Y)
    return m


def crossed():
    """Two kinds of groups, of which few pairs are possible."""
    with rows() as m:
        mean = levels()[index("g", 5)] + levels("other", "h")[index("h", 4, seed=3)]
        gp.Normal("y", mean, tau=2, dims="n", observed=Y)
    return m


def of_three():
    """Two kinds of groups, and coefficients."""
    with rows() as m:
        beta = gp.Normal("beta", 0, tau=1, dims="j")
        mean = design() @ beta + levels()[index("g", 5)] + levels("other", "h")[index("h", 4, 3)]
        gp.Normal("y", mean, tau=2, dims="n", observed=Y)
    return m


def many_groups():
    """More pairs than rows."""
    with rows(g=20, h=30) as m:
        mean = levels()[index("g", 20)] + levels("other", "h")[index("h", 30, seed=3)]
        gp.Normal("y", mean, tau=2, dims="n", observed=Y)
    return m


# Of which in a sweep all rows are read.
CASES = dict.fromkeys((of_group, slopes_of_group, crossed, of_three), False) | {many_groups: True}


def sampler(model):
    return gp.compile(model(), blocks=False)


def far(made):
    (chain,), _ = made.initial_states(1, 7)
    found = (beside(made, chain.state, chain.rng, made.loops()).far for _ in range(3))
    return next(filter(None, found), [])


@pytest.mark.parametrize("model", CASES)
def test_rows_are_read_where_there_are_fewer_of_them(model):
    sweep = sampler(model).loops().sweep_value
    dims = spans_in(sweep.statements)

    assert any(d == "n" or d.endswith("_members") for d in dims) == CASES[model]


@pytest.mark.parametrize("model", CASES)
def test_sweeps_in_loops_are_those_in_numpy(model):
    assert far(sampler(model)) == []


def test_a_table_of_all_rows_for_each_group_would_be_found(monkeypatch):
    def planted(self, factors, spans, e):
        found = true(self, factors, spans, e)

        def without_group(x):
            is_equal = isinstance(x, Apply) and x.function == "equals"
            return ONE if is_equal and x.parts[1].dim not in e.free else None

        return found and picked.mapped(found, without_group)

    true = picked._Picked.of_factors
    monkeypatch.setattr(picked._Picked, "of_factors", planted)

    assert far(sampler(of_group)) != []
