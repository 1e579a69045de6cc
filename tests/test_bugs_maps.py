"""Fields on maps in BUGS programs: the densities, the constraint, what is refused."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.model.density import log_joint

N = 6
TIED = [[2], [1, 3], [2, 4, 6], [3, 5], [4, 6], [5, 3]]
ADJ = [j for near in TIED for j in near]
NUM = [len(near) for near in TIED]
WEIGHTS = [1.0 + 0.5 * ((i + 1) * j % 3) for i, near in enumerate(TIED) for j in near]
COUNTS = [3, 5, 2, 8, 6, 7]

INTRINSIC = """
model {
  for (i in 1:N) { y[i] ~ dpois(exp(alpha + b[i])) }
  b[1:N] ~ car.normal(adj[], weights[], num[], tau)
  alpha ~ dnorm(0, 0.1)
  tau ~ dgamma(2, 1)
}
"""
PROPER = """
model {
  for (i in 1:N) { y[i] ~ dnorm(b[i], 4); m[i] <- 0.5 + slope * i }
  b[1:N] ~ car.proper(m[], C[], adj[], num[], M[], tau, gamma)
  slope ~ dnorm(0, 1)
  gamma ~ dunif(0, 0.9)
  tau ~ dgamma(2, 1)
}
"""
MANY = """
model {
  for (k in 1:2) {
    for (i in 1:N) { y[k,i] ~ dnorm(b[k,i], 1) }
    b[k, 1:N] ~ car.normal(adj[], weights[], num[], tau[k])
    tau[k] ~ dgamma(2, 1)
  }
}
"""


def intrinsic(**changes):
    data = {"N": N, "y": COUNTS, "adj": ADJ, "weights": WEIGHTS, "num": NUM}
    return gp.read_bugs(INTRINSIC, {**data, **changes})


def weights_matrix():
    W = np.zeros((N, N))
    for i, j, w in zip(np.repeat(np.arange(N), NUM), np.array(ADJ) - 1, WEIGHTS, strict=True):
        W[i, j] = w
    return W


def test_an_intrinsic_field_has_the_density_of_its_structure_matrix():
    model = intrinsic()
    W = weights_matrix()
    Q = np.diag(W.sum(axis=1)) - W
    rng = np.random.default_rng(1)

    def rest(free, tau):
        values = {**model.data, "b.free": free, "tau": tau, "alpha": 0.3}
        b = free - free.mean()
        own = (N - 1) / 2 * np.log(tau) - tau / 2 * b @ Q @ b
        own += sum(y * (0.3 + x) - np.exp(0.3 + x) for y, x in zip(COUNTS, b, strict=True))
        return log_joint(model.graph, values) - own - np.log(tau) + tau

    found = [rest(np.append(0.0, rng.normal(size=N - 1)), rng.gamma(2)) for _ in range(5)]
    np.testing.assert_allclose(found, found[0], rtol=1e-10)


def test_a_proper_field_has_the_density_of_its_precision_matrix():
    W = weights_matrix()
    M = 1 / W.sum(axis=1)
    C = (W * M[:, None])[np.repeat(np.arange(N), NUM), np.array(ADJ) - 1]
    data = {"N": N, "y": np.linspace(0, 1, N), "adj": ADJ, "num": NUM, "C": C, "M": M}
    model = gp.read_bugs(PROPER, data)
    rng = np.random.default_rng(1)

    def rest(b, tau, gamma, slope):
        named = {"b": b, "tau": tau, "gamma": gamma, "slope": slope}
        Q = tau * (np.eye(N) - gamma * W * M[:, None]) / M[:, None]
        away = b - 0.5 - slope * np.arange(1, N + 1)
        own = np.linalg.slogdet(Q)[1] / 2 - N / 2 * np.log(2 * np.pi) - away @ Q @ away / 2
        own += -2 * ((data["y"] - b) ** 2).sum() - slope**2 / 2 + np.log(tau) - tau
        return log_joint(model.graph, {**model.data, **named}) - own

    draws = (
        (rng.normal(size=N), rng.gamma(2), rng.uniform(0, 0.9), rng.normal()) for _ in range(5)
    )
    found = [rest(*d) for d in draws]
    np.testing.assert_allclose(found, found[0], rtol=1e-10)
    assert gp.compile(model).verify().proved


def test_values_sum_to_zero_and_conditionals_hold():
    sampler = gp.compile(intrinsic())
    assert sampler.verify().proved
    draws = sampler.sample(50, warmup=20, seed=1, progress=False)
    np.testing.assert_allclose(draws["b"].sum(axis=-1), 0, atol=1e-12)


def test_fields_in_a_loop_have_a_mean_of_zero_each():
    y = np.random.default_rng(1).normal(size=(2, N))
    data = {"N": N, "y": y, "adj": ADJ, "weights": WEIGHTS, "num": NUM}
    sampler = gp.compile(gp.read_bugs(MANY, data))
    assert sampler.verify().proved
    draws = sampler.sample(20, warmup=20, seed=1, progress=False)
    assert draws["b"].shape == (4, 20, 2, N)
    np.testing.assert_allclose(draws["b"].sum(axis=-1), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num": [1, 2, 3, 2, 2, 1]}, "line 4.*found 12 neighbours and 12 weights, but num says"),
        ({"adj": [3, *ADJ[1:]]}, "among the neighbours of site 1, but not the other way"),
        ({"weights": [2.5, *WEIGHTS[1:]]}, "expected the same: the precision matrix is symmetric"),
        ({"N": 7, "y": [*COUNTS, 1]}, "found 6 sites in num, and 7 values of b"),
        ({"b": [0.1] * N}, "b ~ car.normal gives a part of an array, or what is observed"),
    ],
)
def test_maps_that_do_not_fit_are_refused_by_line(changes, message):
    with pytest.raises(gp.BugsError, match=f"(?s){message}"):
        intrinsic(**changes)
