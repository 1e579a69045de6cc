"""The exact transition matrix of a sweep: what it says of chains, and proposals of labels in it."""

import itertools
import math

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks import proposals
from gibbsppl.checks.transition import MIXED, TransitionMatrix
from gibbsppl.errors import CompileError, RunError

SHIFT = np.array([0.6, 0.3])  # (a label up, a label down; 0.1: two labels up)


def shifted(rng, value):
    step = rng.choice([1, -1, 2], p=[*SHIFT, 0.1], size=value.shape)
    return value + step


def log_density(new, old):
    steps = np.asarray(new - old)
    found = np.select([steps == 1, steps == -1, steps == 2], [*SHIFT, 0.1], 0.0)
    with np.errstate(divide="ignore"):
        return np.log(found)


def together(rng, value):
    return np.array(rng.permutation(np.ravel(value)).reshape(value.shape))


def of_together(new, old):
    """All orders of the labels are proposed alike."""
    if sorted(np.ravel(new)) != sorted(np.ravel(old)):
        return -np.inf
    orders = {tuple(o) for o in itertools.permutations(np.ravel(old).tolist())}
    return -np.log(len(orders))


def one(kernel, **settings):
    with gp.Model(coords={"k": 4}, name="one") as model:
        p = gp.Data("p", [0.1, 0.2, 0.3, 0.4], dims="k")
        z = gp.Categorical("z", p, event="k")
        gp.Poisson("y", gp.exp(0.5 * z), observed=2)
    return gp.compile(model, kernels={"z": kernel}, **settings)


def several(kernel, **settings):
    with gp.Model(coords={"k": 3, "i": 3}, name="several") as model:
        p = gp.Data("p", [0.2, 0.3, 0.5], dims="k")
        side = gp.Bernoulli("side", 0.3)
        z = gp.Categorical("z", p, dims="i", event="k")
        gp.Normal("y", z * (1 + side), sigma=1.5, dims="i", observed=[0.5, 1.0, 3.0])
    return gp.compile(model, kernels={"z": kernel}, **settings)


EACH = gp.Proposal(shifted, log_density, by_element=True)
WHOLE = gp.Proposal(together, of_together)
KERNELS = {
    "one": (one, gp.Proposal(shifted, log_density)),
    "each": (several, EACH),
    "all at once": (several, gp.Mix(WHOLE, EACH, weights=(0.3, 0.7))),
    "beside an exact draw": (several, gp.Cycle(WHOLE, gp.Exact(), symmetric=True)),
}


# ---- proposals -------------------------------------------------------------------------------


@pytest.mark.parametrize("scan", ["systematic", "random", "symmetric"])
@pytest.mark.parametrize("name", KERNELS)
def test_proposals_leave_the_exact_posterior_as_it_is(name, scan):
    make, kernel = KERNELS[name]
    found = make(kernel, scan=scan).transition_matrix()

    assert found.passed
    assert found.is_irreducible
    assert found.is_reversible == (scan != "systematic" or make is one)
    np.testing.assert_allclose(found.transition.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["one", *(pytest.param(n, marks=pytest.mark.slow) for n in ("each", "all at once"))]
)
def test_sweeps_move_as_often_as_the_matrix_says(name):
    """By sweeps from one state: where each of the states is reached, and how often."""
    make, kernel = KERNELS[name]
    sampler = make(kernel)
    found, rng, count = sampler.transition_matrix(), np.random.default_rng(4), 3000
    start = int(np.argmax(found.posterior))
    reached = np.zeros(len(found.states))
    for _ in range(count):
        state = {n: np.array(a) for n, a in found.states[start].items()}
        sampler.program.sweep(rng, state, sampler.constants)
        reached[[all(np.array_equal(s[n], state[n]) for n in s) for s in found.states]] += 1
    expected = found.transition[start] * count
    error = np.sqrt(count * found.transition[start] * (1 - found.transition[start]))

    # (of so many states the largest of normal errors, up to a chance of a millionth)
    assert (np.abs(reached - expected) <= 6 * error + 1e-9).all()


def test_a_ratio_without_the_proposals_is_seen(monkeypatch):
    sampler, own = one(KERNELS["one"][1]), proposals._accepted

    def by_density_alone(log_p, log_q):
        with np.errstate(all="ignore"):
            moves = np.exp(log_q) * np.exp(np.minimum(log_p[None] - log_p[:, None], 0.0))
        np.fill_diagonal(moves, 0.0)
        return moves + np.diag(1 - moves.sum(axis=1))

    assert sampler.transition_matrix().passed
    monkeypatch.setattr(proposals, "_accepted", by_density_alone)
    assert not sampler.transition_matrix().passed
    monkeypatch.setattr(proposals, "_accepted", own)


def test_a_proposal_without_its_probabilities_is_refused():
    with pytest.raises(CompileError, match="moved by your proposal shifted, expected an exact"):
        one(gp.Proposal(shifted)).transition_matrix()
    level = gp.Proposal(shifted, lambda new, old: 0.0)
    with pytest.raises(CompileError, match="adds up to a probability of 4 from one state"):
        one(level).transition_matrix()


# ---- what the matrix says --------------------------------------------------------------------


def matrix(transition, posterior=None):
    transition = np.array(transition, float)
    size = len(transition)
    if posterior is None:
        system = np.vstack([transition.T - np.eye(size), np.ones(size)])
        posterior = np.linalg.lstsq(system, np.eye(size + 1)[-1], rcond=None)[0]
    states = tuple({"z": np.array(j)} for j in range(size))
    return TransitionMatrix(states, np.array(posterior, float), transition, 0.0, 1e-13, "chain")


def test_two_states_have_the_known_figures():
    a, b = 0.2, 0.3
    chain = matrix([[1 - a, a], [b, 1 - b]])

    assert chain.is_irreducible
    assert chain.is_reversible
    assert chain.second_eigenvalue == pytest.approx(1 - a - b)
    assert chain.spectral_gap == pytest.approx(a + b)
    assert chain.relaxation_time == pytest.approx(1 / (a + b))
    time = chain.autocorrelation_time(lambda s: s["z"])
    assert time == pytest.approx((2 - a - b) / (a + b))
    for t in range(6):
        assert chain.distance(t) == pytest.approx(max(a, b) / (a + b) * (1 - a - b) ** t)
    assert chain.mixing_time == 2


def test_autocorrelations_add_up_to_their_time():
    found = several(EACH).transition_matrix()

    def function(state):
        return state["z"][0] + 2.0 * state["side"]

    values = np.array([function(s) for s in found.states], float)
    centred = values - found.posterior @ values
    total, power = 0.0, centred
    for _ in range(2000):
        power = found.transition @ power
        total += (found.posterior * centred) @ power
    expected = 1 + 2 * total / (found.posterior @ centred**2)

    assert found.autocorrelation_time(function) == pytest.approx(expected, rel=1e-9)


def test_mixing_takes_the_least_number_of_sweeps():
    for slow in (0.5, 0.1, 0.013, 0.001):
        chain = matrix([[1 - slow, slow, 0], [slow, 1 - 2 * slow, slow], [0, slow, 1 - slow]])
        sweeps = int(chain.mixing_time)
        assert chain.distance(sweeps) <= MIXED < chain.distance(sweeps - 1)


def test_chains_that_stay_or_go_round_never_converge():
    apart = matrix([[1, 0], [0, 1]], [0.4, 0.6])
    round_ = matrix([[0, 1], [1, 0]])

    assert not apart.is_irreducible
    assert round_.is_irreducible
    for chain in (apart, round_):
        assert chain.second_eigenvalue == 1.0
        assert chain.spectral_gap == 0.0
        assert chain.relaxation_time == chain.mixing_time == math.inf
    assert round_.autocorrelation_time(lambda s: s["z"]) == pytest.approx(0.0)
    with pytest.raises(RunError, match="not all states are reached from one another"):
        apart.autocorrelation_time(lambda s: s["z"])


def test_impossible_states_have_no_part_in_it():
    chain = matrix([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]], [0.5, 0.5, 0])

    assert chain.is_irreducible
    assert chain.spectral_gap == pytest.approx(1.0)
    assert chain.mixing_time == 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _: 3.0, "the same number at all possible states"),
        (lambda s: np.array([s["z"], 1]), "expected a number: of an array, name an element"),
        (lambda _: "a", "expected a number"),
        (lambda s: np.log(0.0 * s["z"]), "found -inf of the function at z=0"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_functions_are_checked(function, message):
    with pytest.raises(RunError, match=message):
        matrix([[0.5, 0.5], [0.2, 0.8]]).autocorrelation_time(function)


@pytest.mark.parametrize("sweeps", [-1, 0.5, True, "a"])
def test_the_number_of_sweeps_is_checked(sweeps):
    with pytest.raises(RunError, match="expected a number of sweeps"):
        matrix([[0.5, 0.5], [0.2, 0.8]]).distance(sweeps)


def test_it_is_printed_with_its_states():
    text = str(one(gp.Exact()).transition_matrix())

    assert text.splitlines()[0] == "one: one sweep over 4 states"
    assert "relaxation time    1" in text
    assert text.splitlines()[-1].split()[:2] == ["z=3", "0.2402"]
    assert "posterior" not in str(several(EACH).transition_matrix())


# ---- refusals --------------------------------------------------------------------------------


def test_what_has_no_matrix_is_refused_by_name():
    with gp.Model() as numbers:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, observed=1.5)
    with pytest.raises(CompileError, match=r"mu: its support is .*only models of labels"):
        gp.compile(numbers).transition_matrix()
    with pytest.raises(CompileError, match="z: it is moved by slice, expected an exact draw"):
        several(gp.Slice()).transition_matrix()
    with pytest.raises(CompileError, match="z by slice: it is moved by slice, expected"):
        several(gp.Mix(gp.Exact(), gp.Slice())).transition_matrix()
    with gp.Model(coords={"i": 13}) as large:
        gp.Bernoulli("z", 0.5, dims="i")
    with pytest.raises(CompileError, match="8192 states, expected at most 4096"):
        gp.compile(large).transition_matrix()
