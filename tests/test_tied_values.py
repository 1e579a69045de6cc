"""Values whose entries are tied: moved together where no term sees two, by what changes with two.

A simplex, counts of a total, a direction, a positive definite matrix. The sweep in loops evaluates
what an entry changes, by sums that are kept up to date; the sweep in NumPy the density of each row.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.checks.geweke import geweke
from gibbsppl.code.arrays.statements import Add
from gibbsppl.code.lowering import moved_entries as lowered
from gibbsppl.derive.colours import Chart, Pattern
from gibbsppl.planning import by_colour
from gibbsppl.runtime import tied
from gibbsppl.schedule import moved_entries

RNG = np.random.default_rng(0)
WEIGHTS = np.linspace(0.7, 2, 4)
TABLE, WIDE, Z = RNG.standard_normal((4, 3)), RNG.gamma(2, size=(8, 4)), np.arange(8) % 3
COUNTS, NUMBERS = RNG.poisson(2, 8), RNG.standard_normal((3, 3))


def shares(*dims):
    """Shares that each of several values has."""
    return gp.Dirichlet("p", gp.Data("alpha", WEIGHTS, dims="k"), dims=(*dims, "k"))


def normal_means(*, observed=True):
    p, m = shares("i"), gp.Data("m", TABLE, dims=("k", "j"))
    tau = gp.Gamma("tau", 2, rate=1)
    y = NUMBERS if observed else None
    gp.Normal("y", gp.sum(p * m, "k"), tau=tau, dims=("i", "j"), observed=y)


def factors():
    """Shares of profiles that are drawn, too, with a precision for each value."""
    p, m = shares("i"), gp.Normal("m", 0, sigma=1, dims=("k", "j"))
    tau = gp.Gamma("tau", 2, rate=1, dims="i")
    gp.Normal("y", gp.sum(p * m, "k"), tau=tau, dims=("i", "j"), observed=NUMBERS)


def curves():
    p, m = shares("i"), gp.Data("m", TABLE, dims=("k", "j"))
    mu = gp.exp(gp.sum(p * m, "k"))
    gp.Poisson("y", mu, dims=("i", "j"), observed=np.abs(np.rint(NUMBERS)))


def one_simplex():
    p, x = shares(), gp.Data("x", WIDE, dims=("n", "k"))
    gp.Poisson("y", gp.sum(p * x, "k"), dims="n", observed=COUNTS)


def by_group():
    """Rows of data that each see one of the values."""
    p, x = shares("i"), gp.Data("x", WIDE, dims=("n", "k"))
    z = gp.Index("z", Z, of="i", dims="n")
    gp.Poisson("y", gp.sum(p[z] * x, "k"), dims="n", observed=COUNTS)


def more_than_entries():
    """Sums in which other terms stand beside those of entries."""
    p, x = shares("i"), gp.Data("x", WIDE, dims=("n", "k"))
    z, b = gp.Index("z", Z, of="i", dims="n"), gp.Gamma("b", 2, rate=3, dims="k")
    gp.Poisson("y", gp.sum(p[z] * x + b, "k"), dims="n", observed=COUNTS)


def entries_by_index():
    """Entries that an index of data shows, some of them twice."""
    p, x = shares("i"), gp.Data("x", WIDE, dims=("n", "t"))
    z, of = gp.Index("z", Z, of="i", dims="n"), gp.Index("of", [2, 0, 2, 1], of="k", dims="t")
    gp.Poisson("y", gp.sum(p[z, of] * x, "t"), dims="n", observed=COUNTS)


def pairs():
    """Values that are seen two by two, as a list of pairs says; one is paired with itself."""
    p = shares("i")
    one = gp.Index("one", [0, 1, 2, 3, 0, 4, 2, 1], of="i", dims="n")
    two = gp.Index("two", [1, 2, 3, 4, 2, 4, 0, 3], of="i", dims="n")
    gp.Normal("y", gp.sum(p[one] * p[two], "k"), sigma=0.3, dims="n", observed=WIDE[:, 0])


def chain():
    p = shares("i")
    gp.Potential("steps", -4 * (p - p.lag("i", 1)) ** 2)


def all_together():
    """Values that one term sees all of."""
    p = shares("i")
    gp.Normal("y", gp.exp(p).sum("k").sum("i") ** 2, sigma=20, observed=90.0)


def two_axes():
    p, v = shares("i", "j"), gp.Data("v", np.arange(4.0), dims="k")
    gp.Normal("y", gp.sum(p * v, "k"), sigma=0.5, dims=("i", "j"), observed=NUMBERS)


def marginal_mixtures():
    p, y = shares("i"), gp.Data("y", NUMBERS[0], dims="i")
    at = gp.Data("at", [-2.0, 0.0, 2.0, 4.0], dims="k")
    gp.Potential("mixture", gp.log(gp.sum(p * gp.exp(-((y - at) ** 2) / 2), "k")))


def counts():
    m = gp.Data("m", TABLE, dims=("k", "j"))
    p = gp.Multinomial("p", 7, p=gp.Data("q", [0.1, 0.2, 0.3, 0.4], dims="k"), dims=("i", "k"))
    gp.Normal("y", gp.sum(p * m, "k"), sigma=2, dims=("i", "j"), observed=3 * NUMBERS)


def with_missing():
    known = RNG.dirichlet(np.ones(4), 3)
    known[1] = np.nan
    c, v = gp.Gamma("c", 2, rate=1), gp.Data("v", np.arange(4.0), dims="k")
    a = c * gp.Data("alpha", WEIGHTS, dims="k")
    p = gp.Dirichlet("p", a, dims=("i", "k"), observed=known, missing=np.nan)
    gp.Normal("y", gp.sum(p * v, "k"), sigma=0.5, dims="i", observed=NUMBERS[0])


def with_rest():
    """Values of which the first has a statement of its own."""
    p = gp.Array("p", dims=("i", "k"))
    p[0, :] = gp.Dirichlet(gp.Data("first", 2 * WEIGHTS, dims="k"))
    p[1:, :] = gp.Dirichlet(gp.Data("alpha", WEIGHTS, dims="k"))
    v = gp.Data("v", np.arange(4.0), dims="k")
    gp.Normal("y", gp.sum(p * v, "k"), sigma=0.5, dims="i", observed=NUMBERS[0])


def directions():
    mu, w = gp.Data("mu", [0.0, 0.0, 0.0, 1.0], dims="k"), gp.Data("w", WEIGHTS, dims="k")
    p = gp.VonMisesFisher("p", mu=mu, kappa=2.0, dims=("i", "k"))
    gp.Normal("y", gp.sum(w * p, "k") ** 2, sigma=0.5, dims="i", observed=NUMBERS[0])


def covariances():
    one = np.eye(2)
    c = gp.Data("c", one, dims=("a", "a'"))
    scale = gp.Data("V", 2 * one, dims=("a", "a'"))
    p = gp.InverseWishart("p", S=scale, nu=4, dims=("i", "a", "a'"))
    zero = gp.Data("zero", np.zeros(2), dims="a")
    y = RNG.standard_normal((3, 8, 2))
    gp.MvNormal("y", zero, cov=p + c, dims=("i", "n", "a"), observed=y)


# The colours that a model's values have; how its operations grow with the number of entries.
MODELS = {
    normal_means: Pattern((0,), 1),
    factors: Pattern((0,), 1),
    curves: Pattern((0,), 1),
    one_simplex: Pattern((), 1),
    by_group: Pattern((0,), 1),
    more_than_entries: Pattern((0,), 1),
    entries_by_index: Pattern((0,), 1),
    pairs: 3,
    chain: Pattern((1,), 2),
    all_together: 3,
    two_axes: Pattern((0, 0), 1),
    marginal_mixtures: Pattern((0,), 1),
    counts: Pattern((0,), 1),
    with_missing: Pattern((0,), 1),
    with_rest: Pattern((0,), 1),
    directions: Pattern((0,), 1),
    covariances: Pattern((0,), 1),
}
NAMES = [m.__name__ for m in MODELS]


@cache
def model_of(make, **settings):
    many = 5 if make is pairs else 3
    with gp.Model(coords={"i": many, "j": 3, "k": 4, "n": 8, "a": 2, "t": 4}, name="tied") as model:
        make(**settings)
    return model


@cache
def sampler_of(make, **settings):
    return gp.compile(model_of(make, **settings), rewrites=False)


def moves(sampler):
    return [s for s in sampler.schedule.steps if s.kernel == "slice" and s.variables == ("p",)]


@pytest.mark.parametrize("make", MODELS, ids=NAMES)
def test_values_that_no_term_sees_together_have_one_colour(make):
    expected, steps = MODELS[make], moves(sampler_of(make))

    assert steps
    for step in steps:
        if isinstance(expected, Pattern):
            assert step.colours == expected
        else:
            assert isinstance(step.colours, Chart)
            assert step.colours.count == expected


@pytest.mark.parametrize("make", MODELS, ids=NAMES)
def test_the_log_density_of_each_value_is_the_models(make):
    assert sampler_of(make).verify().passed


def differences(sampler, sweeps=3):
    ((start, *_), _) = sampler.initial_states(1, 7)
    program = sampler.loops()
    state, rng = start.state, start.rng
    return [line for _ in range(sweeps) for line in beside(sampler, state, rng, program).far]


@pytest.mark.parametrize("make", MODELS, ids=NAMES)
def test_what_changes_in_loops_is_the_log_density_in_numpy(make):
    assert differences(sampler_of(make)) == []


KEPT = (curves, one_simplex, by_group, more_than_entries, marginal_mixtures, directions)


@pytest.mark.parametrize("make", KEPT, ids=[m.__name__ for m in KEPT])
def test_sums_over_entries_are_kept_however_they_are_written(make):
    sampler = sampler_of(make)

    (step,) = moves(sampler)
    assert len(moved_entries.terms_of_entries(step, sampler.schedule.whole).kept) == 1


READ_AT_EQUAL_POSITIONS = """
model {
  for (i in 1:3) {
    y[i] ~ dpois(inprod(p[i, i, 1:4], x[i, ]))
    for (j in 1:3) { p[i, j, 1:4] ~ ddirch(a[]) }
  }
}
"""


def test_values_that_are_read_at_two_equal_positions_keep_no_sums():
    x = RNG.gamma(2, size=(3, 4))
    data = {"x": x, "y": np.array([1, 0, 3]), "a": WEIGHTS}
    sampler = gp.compile(gp.read_bugs(READ_AT_EQUAL_POSITIONS, data), rewrites=False)

    assert sampler.verify().proved
    assert differences(sampler) == []


@pytest.mark.parametrize("scan", ["random", "symmetric"])
def test_sums_are_made_anew_in_every_order_of_steps(scan):
    assert differences(gp.compile(model_of(factors), rewrites=False, scan=scan)) == []


# ---- costs -----------------------------------------------------------------------------------


def operations(make, **sizes):
    every = {"i": 3, "k": 4, "j": 30, **sizes}
    with gp.Model(coords=every, name="large") as model:
        make(every)
    return gp.compile(model, rewrites=False).costs().operations


def large_means(sizes):
    rng = np.random.default_rng(1)
    i, j, k = (sizes[d] for d in "ijk")
    p = gp.Dirichlet("p", gp.Data("alpha", np.full(k, 1.5), dims="k"), dims=("i", "k"))
    m = gp.Data("m", rng.standard_normal((k, j)), dims=("k", "j"))
    y = rng.standard_normal((i, j))
    gp.Normal("y", gp.sum(p * m, "k"), sigma=1, dims=("i", "j"), observed=y)


def large_simplex(sizes):
    rng = np.random.default_rng(1)
    j, k = (sizes[d] for d in "jk")
    p = gp.Dirichlet("p", gp.Data("alpha", np.full(k, 1.5), dims="k"), dims="k")
    x = gp.Data("x", rng.gamma(2, size=(j, k)), dims=("j", "k"))
    gp.Poisson("y", gp.sum(p * x, "k"), dims="j", observed=rng.poisson(2, j))


@pytest.mark.parametrize(
    ("make", "along", "degree"),
    [(large_means, "i", 1), (large_means, "k", 2), (large_simplex, "k", 1)],
    ids=["rows", "entries of rows", "entries of one simplex"],
)
def test_operations_grow_no_faster_than(make, along, degree):
    few, many = (operations(make, **{along: n}) for n in (20, 40))

    assert 2 ** (degree - 1) < many / few <= 2**degree


# ---- planted bugs ----------------------------------------------------------------------------


def without(field):
    """The terms of a value, of which some are left out."""
    right = moved_entries.terms_of_entries

    def wrong(step, graph):
        return replace(right(step, graph), **{field: ()})

    return lowered, "terms_of_entries", wrong


def stale(k, name, *_):
    return Add(name, tuple(lowered.ZERO for _ in k.over), lowered.ZERO, ())


def of_two_alone(w, p, coefficient, rows):
    value, statements = lowered_product(w, p, coefficient, rows)
    return value, [replace(s, value=lowered.ZERO) if "others" in s.name else s for s in statements]


lowered_product = lowered._product

PLANTED = {
    "what one entry changes left out": (*without("parameters"), counts),
    "terms by entry of two values left out": (*without("entries"), chain),
    "products of two entries left out": (*without("products"), factors),
    "terms of a whole value left out": (*without("rows"), by_group),
    "sums that are not brought up to date": (lowered, "brought_up", stale, by_group),
    "sums that do not move with entries": (lowered, "_steps", lambda *_: [], one_simplex),
    "products without the other entries": (lowered, "_product", of_two_alone, normal_means),
}


@pytest.mark.parametrize("name", PLANTED)
def test_terms_that_loops_leave_out_are_found(name, monkeypatch):
    module, function, wrong, make = PLANTED[name]
    monkeypatch.setattr(module, function, wrong)

    assert differences(gp.compile(model_of(make), rewrites=False)) != []


def test_values_of_one_colour_that_one_term_sees_are_found(monkeypatch):
    """Of neighbours that move at once, each by what it saw before."""
    monkeypatch.setattr(by_colour, "colours_of", lambda *_: Pattern((0,), 1))

    assert not gp.compile(model_of(chain), rewrites=False).verify().passed


def joint_distribution(make, **settings):
    sampler = gp.compile(model_of(make, **settings), rewrites=False)
    given = (sampler.graph, sampler.data, sampler.program)
    return geweke(np.random.default_rng(3), *given, replicates=400, sweeps=3)


FREE = [normal_means, pairs, directions]


@pytest.mark.slow
@pytest.mark.parametrize("make", FREE, ids=[m.__name__ for m in FREE])
def test_moves_of_values_leave_the_joint_distribution_as_it_is(make):
    assert joint_distribution(make).passed


@pytest.mark.slow
def test_shares_that_move_by_a_wrong_jacobian_are_found(monkeypatch):
    right = tied.shared_out

    def wrong(w, k, j):
        along = right(w, k, j)
        return replace(along, log_slope=lambda new, t: 2 * along.log_slope(new, t))

    monkeypatch.setattr(runtime, "shared_out", wrong)

    assert not joint_distribution(normal_means).passed


# ---- random walks ----------------------------------------------------------------------------

WALKS = [(m, gp.RandomWalk()) for m in (factors, by_group, pairs, counts, directions, covariances)]
WALKS += [(normal_means, gp.RandomWalk(scale=0.5)), (chain, gp.RandomWalk(0.5, target_accept=0.3))]


@pytest.mark.parametrize(("make", "kernel"), WALKS, ids=lambda v: getattr(v, "__name__", str(v)))
def test_random_walks_of_values_in_loops_are_those_in_numpy(make, kernel):
    sampler = gp.compile(model_of(make), kernels={"p": kernel}, rewrites=False)

    assert sampler.schedule.step("p").is_coloured
    assert sampler.verify().passed
    assert differences(sampler) == []


@pytest.mark.slow
@pytest.mark.parametrize("make", [normal_means, counts], ids=["shares", "counts"])
def test_random_walks_of_values_leave_the_joint_distribution_as_it_is(make):
    sampler = gp.compile(model_of(make), kernels={"p": gp.RandomWalk()}, rewrites=False)
    assert sampler.check_kernel("p", replicates=600, seed=3, level=1e-3).passed
