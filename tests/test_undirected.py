"""Undirected models: lattices, neighbours, Ising and Potts; what is wrong with a table of pairs."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

import gibbsppl as gp
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_joint
from gibbsppl.runtime.joint import joint_in

RING = [[1, 3], [0, 2], [1, 3], [2, 0]]
PAIRS = [(0, 1), (0, 3), (1, 2), (2, 3)]
MATRIX = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])


def ring(**given):
    """Spins of four sites and what ties them."""
    with gp.Model(coords={"site": 4}) as m:
        spin = 2 * gp.Bernoulli("z", 0.5, dims="site") - 1
        i, j = gp.Neighbours("border", **given, of="site")
        gp.Potential("alike", 0.6 * spin[i] * spin[j])
    return m


@pytest.mark.parametrize(
    "given",
    [
        {"lists": RING},
        {"pairs": PAIRS},
        {"pairs": [(b, a) for a, b in PAIRS]},
        {"matrix": MATRIX},
        {"matrix": sparse.csr_array(MATRIX)},
        {"matrix": sparse.coo_array(MATRIX)},
    ],
)
def test_every_way_to_say_who_is_a_neighbour_gives_each_pair_once(given):
    model = ring(**given)

    assert model.data["border_first"].tolist() == [a for a, _ in PAIRS]
    assert model.data["border_second"].tolist() == [b for _, b in PAIRS]


def test_the_density_is_that_of_the_pairs():
    model = ring(lists=RING)
    for z in product((0, 1), repeat=4):
        s = 2 * np.array(z) - 1
        expected = 4 * np.log(0.5) + 0.6 * sum(s[a] * s[b] for a, b in PAIRS)

        found = log_joint(model.graph, {**model.data, "z": np.array(z)})
        assert found == pytest.approx(expected, rel=1e-12)


BAD = {
    "its own neighbour": ({"lists": [[0, 1], [0], [], []]}, "border: 0 is its own neighbour"),
    "one direction": (
        {"lists": [[1], [], [], []]}, "1 is a neighbour of 0, but 0 is none of 1; expected both"
    ),
    "one direction in a matrix": ({"matrix": np.triu(MATRIX)}, "expected both or neither"),
    "twice in a list": ({"lists": [[1, 1], [0], [], []]}, "1 is 2 times among the neighbours of 0"),
    "twice among pairs": ({"pairs": [(0, 1), (2, 3), (1, 0)]}, "0 and 1 is there 2 times"),
    "out of range": ({"pairs": [(0, 4)]}, "found 4 in the pair"),
    "negative": ({"lists": [[-1], [], [], []]}, "found -1 in the pair"),
    "no whole number": ({"pairs": [(0, 1.5)]}, "found 1.5"),
    "a time": ({"lists": [np.array([1], "m8[D]"), [0], [], []]}, "border: found .* in the pair"),
    "a list short": ({"lists": RING[:3]}, "found the neighbours of 3 sites"),
    "no pairs": ({"pairs": [0, 1, 2]}, "expected \\(pairs, 2\\)"),
    "a matrix of another size": ({"matrix": MATRIX[:3, :3]}, "found a matrix of shape \\(3, 3\\)"),
    "weights": ({"matrix": 0.5 * MATRIX}, "found 0.5 in the matrix"),
    "nobody": ({"lists": [[], [], [], []]}, "no two sites are neighbours"),
    "words": ({"lists": [["b"], ["a"], [], []]}, "found 'b' in the pair \\(0, 'b'\\)"),
    "no number": ({"pairs": [(0, np.nan)]}, "found nan in the pair"),
    "no lists": ({"lists": [1, 0, 3, 2]}, "found neighbours that are no lists"),
    "by name": ({"lists": {0: [1], 1: [0]}}, "found neighbours that are no lists"),
    "words in a matrix": ({"matrix": [["a"] * 4] * 4}, "found a in the matrix"),
    "nothing": ({}, "found 0 of lists, pairs and matrix"),
    "two tables": ({"lists": RING, "pairs": PAIRS}, "found 2 of lists"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_of_neighbours_is_refused(name):
    given, told = BAD[name]
    with pytest.raises(gp.ModelError, match=told):
        ring(**given)


def test_rows_of_a_table_of_ones_own_add_up():
    """Without `gp.Neighbours` each row is a term: twice is twice, a site with itself a constant."""
    with gp.Model(coords={"site": 3}) as m:
        spin = 2 * gp.Bernoulli("z", 0.4, dims="site") - 1
        i = gp.Index("i", [0, 1, 1, 2], of="site", dims="pair")
        j = gp.Index("j", [1, 0, 2, 2], of="site", dims="pair")
        gp.Potential("alike", 0.3 * spin[i] * spin[j])
    sampler = gp.compile(m)
    start, _ = initial_state(np.random.default_rng(1), m.graph, m.data)
    found = enumerate_sweep(m.graph, sampler.program, sampler.schedule.steps, sampler.data, start)

    assert found.passed
    for state, p in zip(found.states, found.posterior, strict=True):
        s = 2 * np.asarray(state["z"]) - 1
        weight = np.prod(np.where(s > 0, 0.4, 0.6)) * np.exp(0.6 * s[0] * s[1] + 0.3 * s[1] * s[2])
        assert p == pytest.approx(weight * found.posterior[0] / _first(found.states[0]), rel=1e-10)


def _first(state):
    s = 2 * np.asarray(state["z"]) - 1
    return np.prod(np.where(s > 0, 0.4, 0.6)) * np.exp(0.6 * s[0] * s[1] + 0.3 * s[1] * s[2])


SEEN_TWICE = {
    "two ends of one row": lambda z, i, j: gp.expit(z[i] + 2 * z[j]),
    "a sum, and one of its elements": lambda z, i, j: 0.5 * z.at("site", 0) * z.sum("site"),
    "several rows of a sum": lambda z, i, j: gp.expit(z[i].sum("pair")),
    "two sums": lambda z, i, j: gp.expit(z[i].sum("pair")) * z.sum("site"),
    "a sum of products with a sum": lambda z, i, j: 0.3 * (z * z.sum("site")).sum("site"),
}


@pytest.mark.parametrize("kinds", [2, 3])
@pytest.mark.parametrize("name", SEEN_TWICE)
def test_what_a_term_sees_twice_counts_once(name, kinds):
    with gp.Model(coords={"site": 4, "kind": kinds}) as m:
        weight = gp.Data("weight", np.arange(1, kinds + 1) / sum(range(kinds + 1)), dims="kind")
        z = gp.Categorical("z", weight, dims="site", event="kind")
        i = gp.Index("i", [0, 1, 1, 2], of="site", dims="pair")
        j = gp.Index("j", [1, 1, 2, 2], of="site", dims="pair")
        gp.Potential("seen", SEEN_TWICE[name](z, i, j))
    sampler = gp.compile(m, blocks={"z": "elements"})
    start, _ = initial_state(np.random.default_rng(1), m.graph, m.data)
    found = enumerate_sweep(m.graph, sampler.program, sampler.schedule.steps, sampler.data, start)

    assert sampler.verify().proved
    assert found.passed


def potts(periodic):
    """Three labels on a 2 x 3 lattice, with a field; ``periodic``: columns meet."""
    with gp.Model(coords={"row": 2, "col": 3, "k": 3}) as m:
        field = gp.Data("field", [0.2, 0.3, 0.5], dims="k")
        z = gp.Categorical("z", field, dims=("row", "col"), event="k")
        gp.Potential("down", 0.8 * gp.equals(z, z.lag("row", 1)))
        gp.Potential("right", 0.8 * gp.equals(z, z.lag("col", 1)))
        if periodic:
            gp.Potential("around", 0.8 * gp.equals(z.at("col", 0), z.at("col", 2)))
    return m


@pytest.mark.parametrize("periodic", [False, True])
def test_potts_labels_have_the_posterior_of_their_definition(periodic):
    model = potts(periodic)
    sampler = gp.compile(model)
    ties = [((r, c), (r, c + 1)) for r in range(2) for c in range(2)]
    ties += [((0, c), (1, c)) for c in range(3)] + [((r, 0), (r, 2)) for r in range(2)] * periodic
    rng = np.random.default_rng(4)

    assert f"in {3 if periodic else 2} colours" in str(sampler)
    assert sampler.verify().proved
    for _ in range(20):
        z = rng.integers(0, 3, (2, 3))
        alike = sum(z[a] == z[b] for a, b in ties)
        expected = np.log(np.array([0.2, 0.3, 0.5])[z]).sum() + 0.8 * alike
        found = log_joint(model.graph, {**model.data, "z": z})
        assert found == pytest.approx(expected, rel=1e-12)


# A map in two parts, and the part of each site.
MAP = [[1, 2], [0, 2], [0, 1, 3], [2], [5], [4]]
PART = np.array([0, 0, 0, 0, 1, 1])
SEEN = np.array([0.3, -1.2, 0.8, 2.0, 1.1, -0.4])
BORDERS = [(a, b) for a, beside in enumerate(MAP) for b in beside if a < b]


def test_an_intrinsic_autoregression_that_sums_to_zero_is_the_conditioned_one():
    """What is drawn has the mean and covariance of a flat field, given that its parts sum to 0."""
    with gp.Model(coords={"site": 6, "part": 2}) as m:
        part = gp.Index("part_of", PART, of="part", dims="site")
        free = gp.Array("free", dims="site")
        free[0], free[1:4], free[4], free[5] = 0.0, gp.Flat(), 0.0, gp.Flat()
        level = gp.Normal("level", 0, tau=1, dims="part")
        tau = gp.Gamma("tau", 2, rate=1)
        i, j = gp.Neighbours("border", MAP, of="site")
        gp.Potential("smooth", -tau / 2 * (free[i] - free[j]) ** 2)
        field = gp.centred(free, "site", by=part)
        gp.Normal("y", level[part] + field, tau=2, dims="site", observed=SEEN)
    sampler = gp.compile(m)
    (step,) = (s for s in sampler.schedule.steps if s.kind == "joint")
    state = {"free": np.zeros(6), "level": np.zeros(2), "tau": 1.7}
    joint = joint_in(sampler.constants, step.name)
    given = sampler.program.given_rest[step.name](state, sampler.constants)

    groups = np.eye(2)[PART]
    centring = np.eye(6) - groups @ np.diag(1 / groups.sum(axis=0)) @ groups.T
    noise = (Unit(k, joint.size) for k in range(joint.size))
    mean = read(joint.mean(state, given), centring)
    ends = np.array([read(joint.draw(z, state, given), centring) - mean for z in noise])

    # Conditioning by kriging: Q of field and levels, A (field, levels) = 0.
    laplacian = sum(np.outer(d, d) for d in (np.eye(6)[a] - np.eye(6)[b] for a, b in BORDERS))
    design = np.hstack([np.eye(6), groups])
    Q = 2 * design.T @ design
    Q[:6, :6] += 1.7 * laplacian
    Q[6:, 6:] += np.eye(2)
    A = np.hstack([groups.T, np.zeros((2, 2))])
    S = np.linalg.inv(Q)
    gain = S @ A.T @ np.linalg.inv(A @ S @ A.T)
    expected, covariance = S @ (2 * design.T @ SEEN), S - gain @ A @ S

    np.testing.assert_allclose(mean, expected - gain @ (A @ expected), rtol=0, atol=1e-12)
    np.testing.assert_allclose(ends.T @ ends, covariance, rtol=0, atol=1e-12)
    assert sampler.verify().proved


class Unit:
    """A generator of one unit of noise."""

    def __init__(self, at, size):
        self.z = np.eye(size)[at]

    def standard_normal(self, _size):
        return self.z.copy()


def read(values, centring):
    return np.concatenate([centring @ values["free"], values["level"]])


@pytest.mark.parametrize("response", ["normal", "poisson"])
def test_what_is_centred_sums_to_zero_in_every_draw(response):
    with gp.Model(coords={"site": 6}) as m:
        free = gp.Array("free", dims="site")
        free[0], free[1:] = 0.0, gp.Flat()
        field = gp.Deterministic("field", gp.centred(free, "site"))
        level = gp.Normal("level", 0, tau=1)
        gp.Potential("smooth", -((free - free.lag("site", 1)) ** 2))
        if response == "normal":
            gp.Normal("y", level + field, tau=2, dims="site", observed=SEEN)
        else:
            gp.Poisson("y", gp.exp(level + field), dims="site", observed=[0, 3, 1, 0, 2, 1])
    sampler = gp.compile(m)
    draws = sampler.sample(draws=50, warmup=50, chains=1, seed=1, progress=False)
    scale = np.abs(draws["field"]).max()

    assert sampler.verify().proved
    assert np.abs(draws["field"].sum(axis=-1)).max() <= 6 * 6 * np.finfo(float).eps * scale
    assert draws["field"].std() > 0


def test_centring_by_what_is_no_index_is_refused():
    with gp.Model(coords={"site": 3}):
        x = gp.Normal("x", 0, tau=1, dims="site")
        weight = gp.Data("weight", [1.0, 2.0, 3.0], dims="site")
        with pytest.raises(gp.ModelError, match="expected an index along 'site'"):
            gp.centred(x, "site", by=weight)


def test_probabilities_that_are_tied_to_neighbours_are_moved():
    with gp.Model(coords={"site": 3, "kind": 2}) as m:
        p = gp.Dirichlet("p", 1, dims=("site", "kind"), event="kind")
        i, j = gp.Neighbours("border", [[1], [0, 2], [1]], of="site")
        gp.Potential("alike", -((p[i] - p[j]) ** 2).sum("kind"))

    sampler = gp.compile(m)

    assert [s.kind for s in sampler.schedule.steps] == ["move"]
    assert sampler.verify(seed=0).proved


def test_a_random_coupling_has_the_density_that_is_written():
    """Its conditional is that of the product as it stands: no normaliser is divided out."""
    with gp.Model(coords={"site": 4}) as m:
        beta = gp.Normal("beta", 0, sigma=0.5)
        spin = 2 * gp.Bernoulli("z", 0.5, dims="site") - 1
        i, j = gp.Neighbours("border", RING, of="site")
        gp.Potential("alike", beta * spin[i] * spin[j])
    sampler = gp.compile(m)
    z = np.array([1, 0, 1, 1])
    eta = sampler.program.given_rest["beta"]({"beta": 0.0, "z": z}, sampler.constants)
    s = 2 * z - 1

    assert sampler.schedule.step("beta").family.name == "Normal"
    assert float(eta[0]) == sum(s[a] * s[b] for a, b in PAIRS)
    assert sampler.verify().proved
