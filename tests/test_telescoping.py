"""Sums over data whose terms cancel along a dim, but for those at their ends."""

import numpy as np
import pytest

import gibbsppl as gp

SEEN = np.array([20, 12, 9, 4])
SITES = np.array([[5, 3, 2, 1], [3, 2, 0, 0], [0, 4, 1, 0]])


def before(counts):
    """How many were removed before each pass."""
    return np.cumsum(counts, axis=-1) - counts


FIRST = "y[1] ~ dbin(p, N); for (t in 2:T) { y[t] ~ dbin(p, N - %s) }"
LOOPS = {
    "totals that are given": FIRST % "cum[t - 1]",
    "totals that are computed": FIRST % "cum[t - 1]" + "for (t in 1:T) { cum[t] <- sum(y[1:t]) }",
    "sums": FIRST % "sum(y[1:(t - 1)])",
    "totals before all passes": "for (t in 1:T) { y[t] ~ dbin(p, N - gone[t]) }",
}
COUNTS = {
    "counts": SEEN,
    "none at last": np.array([5, 3, 0, 0]),
    "none but at first": np.array([5, 0, 0, 0]),
    "none": np.zeros(4, dtype=int),
    "two passes": np.array([7, 2]),
}


def read(loop, counts, prior="N ~ dpois(60)"):
    data = {"y": counts, "T": len(counts)}
    if "gone" in loop:
        data["gone"] = before(counts)
    if "cum" in loop and "<-" not in loop:
        data["cum"] = np.cumsum(counts)
    return gp.read_bugs(f"model {{ p ~ dbeta(1, 1); {prior}; {loop} }}", data)


def check_exact(sampler, name, family):
    step = sampler.schedule.step(name)
    assert (step.kind, step.family.name) == ("exact", family)
    assert sampler.verify().proved


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_removal_sampling_by_a_loop_is_a_shifted_poisson(loop):
    check_exact(gp.compile(read(loop, SEEN)), "N", "Poisson")


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
def test_removal_sampling_is_exact_whatever_was_counted(counts):
    check_exact(gp.compile(read(LOOPS["totals that are given"], counts)), "N", "Poisson")


def test_what_is_left_of_a_binomial_number_is_one():
    loop = LOOPS["totals before all passes"]
    check_exact(gp.compile(read(loop, SEEN, "N ~ dbin(0.4, 150)")), "N", "Binomial")


def test_what_is_left_is_drawn_as_its_formula_says():
    """N given all is the total + Poisson(60 (1 - p)**4)."""
    loop = "for (t in 1:T) { y[t] ~ dbin(0.3, N - gone[t]) }"
    model = gp.read_bugs(
        f"model {{ N ~ dpois(60); {loop} }}", {"y": SEEN, "gone": before(SEEN), "T": 4}
    )
    draws = gp.compile(model).sample(draws=2000, chains=1, seed=1)["N"].ravel() - SEEN.sum()

    rate = 60 * 0.7**4
    assert draws.min() >= 0
    assert abs(draws.mean() - rate) < 4 * np.sqrt(rate / 2000)


def by_sites(left, counts=SITES):
    """Passes at sites; ``left`` says how many there were at each pass, of how many at first."""
    with gp.Model(coords={"site": 3, "t": 4}) as m:
        rate, p = gp.Gamma("rate", 2, rate=0.1), gp.Beta("p", 1, 1)
        n = gp.Poisson("n", rate, dims="site")
        y = gp.Array("y", dims=("site", "t"), observed=counts)
        left(y, n, p, counts)
    return m


def by_given_totals(y, n, p, counts):
    y[:, :] = gp.Binomial(n - gp.Data("gone", before(counts), dims=("site", "t")), p)


def by_lagged_totals(y, n, p, counts):
    cum = gp.Data("cum", np.cumsum(counts, axis=1), dims=("site", "t"))
    y[:, 0] = gp.Binomial(n, p)
    y[:, 1:] = gp.Binomial(n - cum.lag("t", 1), p)


@pytest.mark.parametrize("left", [by_given_totals, by_lagged_totals])
def test_removal_sampling_at_sites(left):
    check_exact(gp.compile(by_sites(left)), "n", "Poisson")


def test_removal_sampling_at_sites_by_nested_loops():
    text = """model {
      p ~ dbeta(1, 1)
      for (i in 1:3) {
        N[i] ~ dpois(20)
        y[i, 1] ~ dbin(p, N[i])
        for (t in 2:4) { y[i, t] ~ dbin(p, N[i] - sum(y[i, 1:(t - 1)])) }
      }
    }"""
    check_exact(gp.compile(gp.read_bugs(text, {"y": SITES})), "N", "Poisson")


def test_totals_that_differ_at_one_place_do_not_cancel():
    """One more died before the last pass at the last site: there is a term left in the middle."""
    died = before(SITES) + np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])
    with gp.Model(coords={"site": 3, "t": 4}) as m:
        n, p = gp.Poisson("n", 20, dims="site"), gp.Beta("p", 1, 1)
        gone = gp.Data("gone", died, dims=("site", "t"))
        gp.Binomial("y", n - gone, p, dims=("site", "t"), observed=SITES)
    sampler = gp.compile(m)

    assert sampler.schedule.step("n").kind == "move"
    assert sampler.verify().proved


def test_bounds_of_which_none_is_the_tightest_everywhere_are_kept():
    """Other counts of the same population, which are more than were removed at one site alone."""
    with gp.Model(coords={"site": 3, "t": 4, "visit": 2}) as m:
        n, p = gp.Poisson("n", 20, dims="site"), gp.Beta("p", 1, 1)
        gone = gp.Data("gone", before(SITES), dims=("site", "t"))
        gp.Binomial("y", n - gone, p, dims=("site", "t"), observed=SITES)
        more = np.array([[12, 3], [4, 2], [1, 5]])
        gp.Binomial("z", n, 0.5, dims=("site", "visit"), observed=more)
    sampler = gp.compile(m)

    assert sampler.schedule.step("n").kind == "move"
    assert sampler.verify().proved
