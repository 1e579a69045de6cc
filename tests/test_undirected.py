"""Undirected models: lattices, neighbours, Ising and Potts; what is wrong with a table of pairs."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

import gibbsppl as gp
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.density import log_joint
from gibbsppl.initial import initial_state

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
    "a list short": ({"lists": RING[:3]}, "found the neighbours of 3 sites"),
    "no pairs": ({"pairs": [0, 1, 2]}, "expected \\(pairs, 2\\)"),
    "a matrix of another size": ({"matrix": MATRIX[:3, :3]}, "found a matrix of shape \\(3, 3\\)"),
    "weights": ({"matrix": 0.5 * MATRIX}, "found 0.5 in the matrix"),
    "nobody": ({"lists": [[], [], [], []]}, "no two sites are neighbours"),
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
    assert sampler.verify().passed
    for _ in range(20):
        z = rng.integers(0, 3, (2, 3))
        alike = sum(z[a] == z[b] for a, b in ties)
        expected = np.log(np.array([0.2, 0.3, 0.5])[z]).sum() + 0.8 * alike
        found = log_joint(model.graph, {**model.data, "z": z})
        assert found == pytest.approx(expected, rel=1e-12)


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
    assert sampler.verify().passed
