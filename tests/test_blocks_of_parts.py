"""Blocks that are a part of their array: rows of which others are known, or have another prior."""

import numpy as np
import pytest
from references.monte_carlo import disagreements

import gibbsppl as gp
from gibbsppl.code.numpy_text import statements
from gibbsppl.initial.search import initial_state
from gibbsppl.kernels import block
from gibbsppl.model.density import log_joint
from gibbsppl.pieces.dependence import region_of, slices_of

RNG = np.random.default_rng(1)
DESIGN, DESIGNS = RNG.standard_normal((20, 2)), RNG.standard_normal((20, 2, 2))
SEEN = RNG.standard_normal((20, 3))
TAU, SCALE = [1.0, 2.0, 3.0], np.array([[2.0, 0.5], [0.5, 1.0]])


def observed_sums(b):
    """Observations whose means are sums of the elements of each row, with the same weights."""
    X = gp.Data("X", DESIGN, dims=("i", "k"))
    gp.Normal("y", (X * b).sum("k"), sigma=1, dims=("i", "j"), observed=SEEN)


def all_but_the_first_row():
    with gp.Model(coords={"j": 3, "i": 20, "k": 2}) as m:
        b = gp.Array("b", dims=("j", "k"))
        b[0, :] = 0.0
        b[1:, :] = gp.Normal(0, tau=gp.Data("tau", TAU, dims="j"))
        observed_sums(b)
    return m


def all_but_the_last_column():
    with gp.Model(coords={"j": 3, "i": 20, "k": 2}) as m:
        b = gp.Array("b", dims=("k", "j"))
        b[:, :2] = gp.Normal(0, tau=gp.Data("tau", TAU, dims="j"))
        b[:, 2] = 1.0
        observed_sums(b)
    return m


def one_row():
    with gp.Model(coords={"j": 3, "i": 20, "k": 2}) as m:
        b = gp.Array("b", dims=("j", "k"))
        b[:2, :] = 1.0
        b[2, :] = gp.Normal(0, tau=gp.Data("tau", TAU, dims="j")[2])
        observed_sums(b)
    return m


def vectors_but_the_first():
    with gp.Model(coords={"j": 3, "k": 2}) as m:
        b = gp.Array("b", dims=("j", "k"))
        b[0, :] = 0.0
        Q = gp.Data("Q", SCALE, dims=("k", "k'"))
        b[1:, :] = gp.MvNormal(gp.Data("centre", [0.5, 1.0], dims="k"), tau=Q)
        gp.Normal("y", b, sigma=1, dims=("j", "k"), observed=SEEN[:3, :2])
    return m


def matrices_but_the_first():
    with gp.Model(coords={"j": 3, "i": 20, "k": 2, "l": 2}) as m:
        b = gp.Array("b", dims=("k", "j", "l"))
        b[:, 0, :] = 0.0
        b[:, 1:, :] = gp.Normal(0, tau=gp.Data("tau", TAU, dims="j"))
        X = gp.Data("X", DESIGNS, dims=("i", "k", "l"))
        mean = (X * b).sum("l").sum("k")
        gp.Normal("y", mean, sigma=1, dims=("i", "j"), observed=SEEN)
    return m


def a_square_of_one_entry():
    """An observation of the first entry of each row, beside those of sums."""
    with gp.Model(coords={"j": 3, "i": 20, "k": 2}) as m:
        b = gp.Array("b", dims=("j", "k"))
        b[0, :] = 0.0
        b[1:, :] = gp.Normal(0, sigma=1)
        observed_sums(b)
        gp.Normal("z", b.at("k", 1), sigma=0.3, dims="j", observed=[0.5, 1.0, 2.0])
    return m


def rows_of_two_priors():
    """Drawn apart where the user asks for that; the two are independent given the data."""
    with gp.Model(coords={"j": 3, "i": 20, "k": 2}) as m:
        b = gp.Array("b", dims=("j", "k"))
        b[0, :] = gp.Normal(1, sigma=0.5)
        b[1:, :] = gp.Normal(0, tau=gp.Data("tau", TAU, dims="j"))
        observed_sums(b)
    return m


PARTS = [
    all_but_the_first_row,
    all_but_the_last_column,
    one_row,
    vectors_but_the_first,
    matrices_but_the_first,
    a_square_of_one_entry,
    rows_of_two_priors,
]


def compiled(build, **settings):
    sampler = gp.compile(build(), blocks=False, **settings)
    assert {step.kind for step in sampler.schedule.steps} == {"block"}
    return sampler


def gaussian(sampler):
    """The mean of ``b`` and the covariance of its free elements, from the log joint density.

    That is quadratic, so that second differences are exact, whatever the step.
    """
    graph, data = sampler.graph, sampler.data
    state, _ = initial_state(np.random.default_rng(2), graph, data)
    free = np.zeros(state["b"].shape, dtype=bool)
    for statement in graph.latent:
        free[slices_of(region_of(graph, statement))] = True
    start, places = np.where(free, 0.0, state["b"]), np.argwhere(free)

    def at(*moved):
        b = start.copy()
        for n in moved:
            b[tuple(places[n])] += 1.0
        return log_joint(graph, {**data, "b": b})

    count, own = range(len(places)), at()
    one = np.array([at(n) for n in count])
    two = np.array([[at(n, m) for m in count] for n in count])
    precision = -(two - one[:, None] - one + own)
    slope = one - own + np.diag(precision) / 2
    mean = start.copy()
    mean[free] = np.linalg.solve(precision, slope)
    return mean, free, np.linalg.inv(precision)


def wrong(sampler, draws=4000, thin=1):
    """The means, squares and products of draws that are not those of the dense posterior."""
    b = sampler.sample(draws, chains=2, warmup=20, seed=3, thin=thin, progress=False)["b"]
    mean, free, covariance = gaussian(sampler)
    gaps = np.asarray(b) - mean
    assert (gaps[..., ~free] == 0).all()
    moved = gaps[..., free]
    found = {str(n): moved[..., n] for n in range(len(covariance))}
    found |= {f"{n}, {m}": moved[..., n] * moved[..., m] for n, m in np.ndindex(covariance.shape)}
    expected = dict.fromkeys(found, (0.0, 0.0))
    expected |= {f"{n}, {m}": (covariance[n, m], 0.0) for n, m in np.ndindex(covariance.shape)}
    return disagreements(found, expected)


@pytest.mark.parametrize("build", PARTS)
def test_a_part_is_drawn_from_the_dense_posterior_and_the_rest_stays(build):
    sampler = compiled(build)
    assert sampler.verify().proved
    assert wrong(sampler) == {}


@pytest.mark.parametrize("build", PARTS)
def test_a_part_can_be_over_relaxed(build):
    sampler = compiled(build, kernels={"b": gp.OverRelaxed(-0.5)})
    assert "over_relaxed" in sampler.source
    assert wrong(sampler) == {}


@pytest.mark.parametrize("build", PARTS)
def test_conditional_moments_of_a_part_are_those_of_the_dense_posterior(build):
    sampler = compiled(build)
    draws = sampler.sample(2, chains=1, warmup=0, seed=3, progress=False)
    mean, free, covariance = gaussian(sampler)
    found = np.asarray(sampler.conditional_mean(draws)["b"])
    np.testing.assert_allclose(found, np.broadcast_to(mean, found.shape), atol=1e-9)
    sd = np.asarray(sampler.conditional_sd(draws)["b"])[..., free]
    expected = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(sd, np.broadcast_to(expected, sd.shape), atol=1e-9)


GROUP, WORDS = RNG.integers(0, 3, 30), RNG.integers(0, 4, 30)
PAIRS, COUNTS = RNG.standard_normal((30, 2)), RNG.integers(0, 9, (4, 3))


def simplexes():
    first, flat = np.array([9.0, 1.0, 1.0, 1.0]), np.ones(4)
    with gp.Model(coords={"j": 3, "k": 4}) as m:
        x = gp.Array("x", dims=("j", "k"))
        x[0, :] = gp.Dirichlet(gp.Data("first", first, dims="k"))
        x[1:, :] = gp.Dirichlet(gp.Data("flat", flat, dims="k"))
        group = gp.Index("group", GROUP, of="j", dims="i")
        gp.Categorical("y", x[group], dims="i", observed=WORDS)
    total = np.stack([first, flat, flat])
    np.add.at(total, (GROUP, WORDS), 1)
    return m, total / total.sum(axis=1, keepdims=True)


def precision_matrices():
    with gp.Model(coords={"j": 3, "k": 2}) as m:
        x, scale = gp.Array("x", dims=("j", "k", "k'")), gp.Data("V", SCALE, dims=("k", "k'"))
        x[0, :, :] = gp.Wishart(9, V=scale)
        x[1:, :, :] = gp.Wishart(4, V=scale)
        group = gp.Index("group", GROUP, of="j", dims="i")
        zero = gp.Data("zero", np.zeros(2), dims="k")
        gp.MvNormal("y", zero, tau=x[group], dims=("i", "k"), observed=PAIRS)
    own = [PAIRS[j == GROUP] for j in range(3)]
    scales = [np.linalg.inv(np.linalg.inv(SCALE) + rows.T @ rows) for rows in own]
    sizes = [nu + len(rows) for nu, rows in zip((9, 4, 4), own, strict=True)]
    return m, np.stack([size * V for size, V in zip(sizes, scales, strict=True)])


def rates_by_column():
    with gp.Model(coords={"j": 3, "k": 4}) as m:
        x = gp.Array("x", dims=("k", "j"))
        x[:, 0] = gp.Gamma(2, rate=1)
        x[:, 1:] = gp.Gamma(5, rate=1)
        gp.Poisson("y", x, dims=("k", "j"), observed=COUNTS)
    return m, (np.array([2, 5, 5]) + COUNTS) / 2


@pytest.mark.parametrize("build", [simplexes, precision_matrices, rates_by_column])
def test_parts_of_other_kinds_have_their_own_posteriors(build):
    model, mean = build()
    sampler = gp.compile(model)
    assert len(sampler.schedule.steps) == 2
    assert sampler.verify().proved
    x = np.asarray(sampler.sample(2000, chains=2, warmup=1, seed=3, progress=False)["x"])
    places = list(np.ndindex(mean.shape))
    found = {str(at): x[(..., *at)] for at in places}
    assert disagreements(found, {str(at): (mean[at], 0.0) for at in places}) == {}


def test_the_same_is_said_of_a_part_as_of_the_whole():
    shown = str(compiled(all_but_the_first_row))
    assert "-sum(X*X[i, k₁], i)/2 - tau*[k = k₁]/2" in shown


def test_a_part_whose_precision_is_singular_is_told_by_its_place():
    with gp.Model(coords={"j": 3, "i": 20, "k": 2}) as m:
        b = gp.Array("b", dims=("j", "k"))
        b[0, :] = 0.0
        b[1:, :] = gp.Flat()
        X = gp.Data("X", np.repeat(DESIGN[:, :1], 2, axis=1), dims=("i", "k"))
        gp.Normal("y", (X * b).sum("k"), sigma=1, dims=("i", "j"), observed=SEEN)
    told = r"b: the conditional of b at 1 would be MvNormal .* nearly coincides"
    with pytest.raises(gp.RunError, match=told):
        gp.compile(m, blocks=False).sample(5, warmup=20, seed=1, progress=False)


# ---- planted bugs ----------------------------------------------------------------------------


def test_a_part_that_is_drawn_as_the_whole_is_seen(monkeypatch):
    monkeypatch.setattr(block, "kept_axes_text", lambda place, writer: "")
    with pytest.raises((AssertionError, gp.RunError)):
        test_a_part_is_drawn_from_the_dense_posterior_and_the_rest_stays(one_row)


def test_squares_that_are_added_to_another_entry_are_seen(monkeypatch):
    right = statements._index
    moved = {"[:, 1, 1]": "[:, 0, 0]"}

    def wrong(writer, let, add):
        index = right(writer, let, add)
        return moved.get(index, index)

    monkeypatch.setattr(statements, "_index", wrong)
    with pytest.raises(AssertionError):
        test_a_part_is_drawn_from_the_dense_posterior_and_the_rest_stays(a_square_of_one_entry)
