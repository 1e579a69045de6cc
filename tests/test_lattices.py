"""Models on lattices: sweeps against all states, large lattices against what is known of them."""

import numpy as np
import pytest
from references import ising as ising_exactly
from references import potts_segmentation as segmentation_by_hand
from references.monte_carlo import disagreements, mean_and_error
from replays import beside

import gibbsppl as gp
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.code.costs import AN_ELEMENT, worth_of
from gibbsppl.initial.search import initial_state
from models import ising, potts_segmentation


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4)])
def test_a_sweep_of_spins_leaves_all_states_as_likely_as_they_are(shape, periodic):
    sampler = gp.compile(ising.model(*shape, coupling=0.5, periodic=periodic))
    start, _ = initial_state(np.random.default_rng(1), sampler.graph, sampler.data)
    steps = sampler.schedule.steps
    found = enumerate_sweep(sampler.graph, sampler.program, steps, sampler.data, start)
    spin = 2 * np.array([s["up"] for s in found.states]) - 1
    weight = np.exp(-0.5 * ising.energy(spin, periodic=periodic) * np.prod(shape))

    assert found.passed
    assert found.posterior == pytest.approx(weight / weight.sum(), rel=1e-10)


def test_a_sweep_of_labels_of_a_picture_leaves_all_states_as_likely_as_they_are():
    """The labels alone, given means and precisions: labels are what colours are of."""
    picture = np.array([[90.0, 100, 130], [80, 120, 140]])
    mean, tau = np.array([90.0, 130]), np.array([0.01, 0.004])
    with gp.Model(coords={"row": 2, "col": 3, "class": 2}) as m:
        half = gp.Data("half", [0.5, 0.5], dims="class")
        centre, precision = gp.Data("mean", mean, dims="class"), gp.Data("tau", tau, dims="class")
        label = gp.Categorical("label", half, dims=("row", "col"), event="class")
        gp.Potential("down", gp.equals(label, label.lag("row", 1)))
        gp.Potential("right", gp.equals(label, label.lag("col", 1)))
        pixels = {"dims": ("row", "col"), "observed": picture}
        gp.Normal("brightness", centre[label], tau=precision[label], **pixels)
    sampler = gp.compile(m)
    start, _ = initial_state(np.random.default_rng(1), m.graph, m.data)
    found = enumerate_sweep(
        m.graph, sampler.program, sampler.schedule.steps, sampler.data, start
    )
    labels = np.array([s["label"] for s in found.states])
    alike = (labels[:, 1:] == labels[:, :-1]).sum((1, 2)) + (
        labels[:, :, 1:] == labels[:, :, :-1]
    ).sum((1, 2))
    fit = np.log(tau[labels]) / 2 - tau[labels] * (picture - mean[labels]) ** 2 / 2
    weight = np.exp(alike + fit.sum((1, 2)) - (alike + fit.sum((1, 2))).max())

    assert "in 2 colours" in str(sampler)
    assert found.passed
    assert found.posterior == pytest.approx(weight / weight.sum(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("coupling", [0.2, 0.35])
def test_a_large_lattice_has_the_energy_that_onsager_found(coupling):
    # (a lattice that is many times longer than spins are correlated differs by less than its error)
    sampler = gp.compile(ising.model(96, 96, coupling))
    draws = sampler.sample(draws=2000, warmup=500, chains=2, seed=3, progress=False)
    found = {"energy": ising.quantities(draws)["energy"]}

    assert disagreements(found, {"energy": (ising_exactly.onsager_energy(coupling), 0)}) == {}


@pytest.mark.slow
@pytest.mark.parametrize("coupling", [0.5, 0.6])
def test_a_large_lattice_keeps_the_magnetisation_that_yang_found(coupling):
    sampler = gp.compile(ising.model(96, 96, coupling))
    init = {"up": np.ones((96, 96), dtype=int)}
    settings = {"draws": 2000, "warmup": 500, "chains": 2, "seed": 3, "progress": False}
    found = ising.quantities(sampler.sample(init=init, **settings))
    exact = {
        "energy": (ising_exactly.onsager_energy(coupling), 0),
        "magnetisation": (ising_exactly.yang_magnetisation(coupling), 0),
    }

    assert disagreements(found, exact) == {}


@pytest.mark.slow
def test_the_reference_of_the_picture_is_that_of_a_sampler_that_takes_pixels_one_by_one():
    draws = segmentation_by_hand.run(np.random.default_rng(7), potts_segmentation.PICTURE, 3000)
    found = potts_segmentation.quantities(draws)

    assert disagreements(found, potts_segmentation.REFERENCE) == {}
    assert mean_and_error(found["borders"])[1] < 1


# ---- in loops ----------------------------------------------------------------------------------


def two_before():
    """Counts of which each sees the two before it, the first of them known: three colours."""
    with gp.Model(coords={"i": 80}) as model:
        x = gp.Array("x", dims="i")
        x[:3] = 1
        x[3:] = gp.Bernoulli(0.4)
        gp.Potential("tied", 0.3 * x * x.lag("i", 1) - 0.7 * x * x.lag("i", 2))
    return model


LATTICES = {
    "whose ends meet": lambda: ising.model(10, 9),
    "with ends": lambda: ising.model(9, 10, periodic=False),
    "small": lambda: ising.model(2, 2),
    "of three colours": two_before,
}


@pytest.mark.parametrize("name", LATTICES)
def test_a_sweep_of_spins_in_loops_is_the_one_in_numpy(name):
    sampler = gp.compile(LATTICES[name]())
    program = sampler.loops()
    (chain,), _ = sampler.initial_states(1, seed=3)

    assert ("inverse_probability" in str(program.sweep_value)) == (name != "small")
    for _ in range(4):
        assert beside(sampler, chain.state, chain.rng, program).far == []


def test_what_loops_save_grows_with_the_positions_that_tables_say():
    few, many = (gp.compile(ising.model(side, side)).loops() for side in (16, 64))
    saved = [worth_of(p.sweep_value, p.known_sizes).saved for p in (few, many)]
    per_spin = (saved[1] - saved[0]) / (64**2 - 16**2)

    assert per_spin > AN_ELEMENT
