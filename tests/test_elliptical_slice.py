"""Elliptical slice sampling: against exact posteriors, and by the joint-distribution test."""

import re

import numpy as np
import pytest
from scipy import integrate, linalg, stats

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.output.diagnostics import ess_bulk, mcse_mean
from gibbsppl.planning.normal_blocks import NormalBlock
from gibbsppl.planning.turning import MOVES, angles_of, turned
from gibbsppl.runtime import joint
from gibbsppl.runtime.elliptical import along_ellipses, elliptical_slice
from gibbsppl.runtime.joint import Joint, drawn
from gibbsppl.schedule.choices import SEED

LEVEL = 1e-6
K = np.exp(-0.5 * np.subtract.outer(np.arange(4.0), np.arange(4.0)) ** 2) + 0.1 * np.eye(4)
COUNTS = [1, 0, 3, 4]


def process():
    """A dense precision: a Gaussian process, and counts."""
    cov = gp.Data("K", K, dims=("t", "t'"))
    x = gp.MvNormal("x", 0.3, cov=cov, dims="t", event="t")
    gp.Poisson("y", gp.exp(x), dims="t", observed=COUNTS)


def walk():
    """A banded one: each level depends on the one before; both have normal observations, too."""
    tau = gp.Gamma("tau", 3, rate=1)
    x = gp.Array("x", dims="t")
    x[0] = gp.Normal(0, sigma=1)
    x[1:] = gp.Normal(x.lag("t"), tau=tau)
    gp.Poisson("y", gp.exp(x), dims="t", observed=COUNTS)
    gp.Normal("w", x, sigma=0.7, dims="t", observed=[0.0, 0.2, 0.3, 0.1])


def effects():
    """Elements that are independent given the rest: an ellipse each."""
    mu = gp.Normal("mu", 0, sigma=1)
    x = gp.Normal("x", mu, sigma=0.8, dims="t")
    gp.Binomial("y", 5, gp.Phi(x), dims="t", observed=COUNTS)


def partly_known():
    known = np.ma.masked_array([0.3, 0.0, 0.0, -0.2], [0, 1, 1, 0])
    cov = gp.Data("K", K, dims=("t", "t'"))
    x = gp.MvNormal("x", 0, cov=cov, dims="t", event="t", observed=known)
    gp.Poisson("y", gp.exp(x), dims="t", observed=COUNTS)


def scaled_process():
    """A matrix of data times a number of the state, which no draw factorises."""
    tau = gp.Gamma("tau", 3, rate=3)
    steps = np.subtract.outer(np.arange(16.0), np.arange(16.0))
    known = np.linalg.inv(np.exp(-0.5 * steps**2) + 0.1 * np.eye(16))
    precision = tau * gp.Data("Q", known, dims=("u", "u'"))
    x = gp.MvNormal("x", 0.3, tau=precision, dims="u", event="u")
    gp.Poisson("y", gp.exp(x), dims="u", observed=4 * COUNTS)


MODELS = {f.__name__: f for f in (process, walk, effects, partly_known, scaled_process)}


def compiled(declare, **settings):
    with gp.Model(coords={"t": 4}) as model:
        declare()
    kernels = {"x": gp.EllipticalSlice()}
    return gp.compile(model, kernels=kernels, rewrites=False, **settings)


LONG = {"scaled_process": pytest.mark.slow}


@pytest.mark.parametrize("name", [pytest.param(n, marks=LONG.get(n, ())) for n in MODELS])
def test_steps_leave_the_joint_distribution_as_it_is(name):
    sampler = compiled(MODELS[name])

    assert sampler.verify().proved
    assert "elliptical slice" in str(sampler)
    assert sampler.check_kernel("x", seed=1, replicates=500).passed


def test_a_normal_part_that_is_not_what_is_drawn_is_seen(monkeypatch):
    def wider(self, *args):
        mean, noise = normal(self, *args)
        return mean, 2 * noise

    normal = Joint.normal
    sampler = compiled(process)
    monkeypatch.setattr(joint.Joint, "normal", wider)
    assert not sampler.check_kernel("x", seed=1, replicates=500).passed


BUGS_OF_PARTS = {
    "products": (walk, r"x_x\[1:\] \+= tau", "x_x[1:] += 1.1 * tau"),
    "squares": (walk, r"x_squares -= 1", "x_squares -= 2"),
    "elements": (walk, r"x_linear = w_2", "x_linear = 0.1 + w_2"),
    "place": (walk, r'\("x", \(arange\(1, n_t\),', '("x", (arange(1, n_t) % 2,'),
    "scale": (scaled_process, r"\}, \(tau,", "}, (1.5 * tau,"),
    "fixed matrix": (scaled_process, r"x_x = ", "x_x = 2 * "),
    "rest": (process, r"eta_1 \* exp", "1.1 * eta_1 * exp"),
}


@pytest.mark.parametrize("name", BUGS_OF_PARTS)
def test_a_wrong_part_is_seen_by_the_proof(name):
    declare, right, wrong = BUGS_OF_PARTS[name]
    sampler = compiled(declare)
    assert sampler.verify().proved
    source, count = re.subn(right, wrong, sampler.source, count=1)
    assert count == 1, sampler.source
    found = verify(sampler.graph, load(source), sampler.schedule.steps, sampler.data)
    assert {r.step for r in found.rows if not r.passed} & {"x", "x[1:]", "(sweeps)"}


def test_no_number_is_drawn_that_is_not_used():
    """Of a density that is all normal the first angle is taken."""
    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    x = np.zeros(3)
    along_ellipses(ours, x, x, x + 1, lambda v: np.zeros(v.shape), apart=True)
    theirs.standard_exponential(3), theirs.uniform(0, 1, 3)

    assert ours.random() == theirs.random()


@pytest.mark.parametrize("apart", [True, False])
def test_a_density_with_a_rest_is_left_as_it_is(apart):
    """The normal part is another one than the target: the rest makes up for it."""
    rng = np.random.default_rng(1)
    count = 20_000
    reference = Joint({"x": drawn((count,), [((0, count),)])}, [])
    given = {"x": (np.full(count, 0.5), np.full(count, -0.25))}, []
    target, part = stats.norm(1.0, 0.6), stats.norm(1.0, 2**0.5)
    x = target.rvs(size=count, random_state=rng)

    def rest(v):
        return target.logpdf(v) - part.logpdf(v)

    if not apart:
        few = Joint({"x": drawn((2,), [((0, 2),)])}, [])
        given = {"x": (np.full(2, 0.5), np.full(2, -0.25))}, []
        moved = [
            elliptical_slice(rng, {"x": p}, "x", (lambda v: rest(v).sum(), given), few)
            for p in x.reshape(-1, 2)[:4000]
        ]
    else:
        moved = elliptical_slice(rng, {"x": x}, "x", (rest, given), reference, by_element=True)
    moved = np.ravel(moved)

    assert stats.kstest(moved, target.cdf).pvalue > LEVEL
    assert (moved != x[: moved.size]).mean() > 0.99


def test_the_normal_part_has_its_mean_and_its_lengths():
    rng = np.random.default_rng(2)
    t = np.arange(1, 5)
    chain = Joint({"x": drawn((5,), [((0, 5),)])}, [("x", (t,), "x", (t - 1,))])
    given = {"x": (rng.standard_normal(5), -2 - rng.random(5))}, [rng.random(4)]
    precision = np.diag(-2 * given[0]["x"][1]) - np.diag(given[1][0], 1) - np.diag(given[1][0], -1)
    exact = stats.multivariate_normal(
        linalg.solve(precision, given[0]["x"][0]), linalg.inv(precision)
    )
    mean, noise = chain.normal(rng, {"x": np.zeros(5)}, given)
    point = rng.standard_normal(5)
    length = chain.distance(given, point - mean)

    assert -length / 2 == pytest.approx(exact.logpdf(point) - exact.logpdf(mean))
    assert mean == pytest.approx(exact.mean)
    assert np.abs(noise).max() > 0


def test_independent_effects_have_their_exact_posteriors():
    with gp.Model(coords={"t": 4}) as model:
        x = gp.Normal("x", 0.2, sigma=0.8, dims="t")
        gp.Binomial("y", 5, gp.Phi(x), dims="t", observed=COUNTS)
    sampler = gp.compile(model, kernels={"x": gp.EllipticalSlice()}, rewrites=False)
    draws = sampler.sample(4000, warmup=50, chains=2, seed=1, progress=False)["x"]
    for k, y in enumerate(COUNTS):
        def density(v, power=0, y=y):
            likelihood = stats.binom.pmf(y, 5, stats.norm.cdf(v))
            return v**power * stats.norm.pdf(v, 0.2, 0.8) * likelihood

        mean = integrate.quad(density, -8, 8, args=(1,))[0] / integrate.quad(density, -8, 8)[0]
        own = draws[..., k]
        assert abs(own.mean() - mean) < stats.norm.isf(LEVEL / 8) * mcse_mean(own)


NOT_NORMAL = {
    "gamma": lambda: gp.Gamma("x", 2, rate=1, dims="t"),
    "half normal": lambda: gp.HalfNormal("x", sigma=1, dims="t"),
    "truncated": lambda: gp.Normal("x", 0, sigma=1, lower=0, dims="t"),
    "exponential": lambda: gp.Exponential("x", rate=1, dims="t"),
    "uniform": lambda: gp.Uniform("x", 0, 1, dims="t"),
    "flat": lambda: gp.Flat("x", dims="t"),
    "labels": lambda: gp.Bernoulli("x", 0.4, dims="t"),
    "simplex": lambda: gp.Dirichlet("x", 1, dims="t"),
}


@pytest.mark.parametrize("observed", ["counts", "normal"])
@pytest.mark.parametrize("name", NOT_NORMAL)
def test_it_is_refused_where_nothing_is_normal(name, observed):
    with gp.Model(coords={"t": 2}) as model:
        x = NOT_NORMAL[name]()
        if observed == "counts" or name == "flat":
            gp.Poisson("y", gp.exp(x), dims="t", observed=[1, 2])
        else:
            gp.Normal("y", x, sigma=1, dims="t", observed=[0.3, 0.5])
    with pytest.raises(gp.CompileError, match=r"kernels\['x'\]: an elliptical slice needs a Gauss"):
        gp.compile(model, kernels={"x": gp.EllipticalSlice()})


def test_a_potential_is_no_part_of_what_is_normal():
    """A square of the wrong sign would leave no precision to draw from."""
    with gp.Model() as model:
        x = gp.Normal("x", 0, sigma=1)
        gp.Potential("wide", 0.8 * x**2)
        gp.Potential("ends", -0.1 * x**4)
    sampler = gp.compile(model, kernels={"x": gp.EllipticalSlice()})
    draws = sampler.sample(2000, warmup=50, chains=2, seed=1, progress=False)["x"]
    weight = [integrate.quad(lambda v, p=p: v**p * np.exp(0.3 * v**2 - 0.1 * v**4), -9, 9)[0]
              for p in (0, 2)]  # fmt: skip
    gap = (draws**2).mean() - weight[1] / weight[0]
    assert abs(gap) < stats.norm.isf(LEVEL) * mcse_mean(draws**2)


def test_a_first_value_may_be_read_in_any_way_by_later_ones():
    with gp.Model(coords={"t": 3}) as model:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.Normal(gp.expit(x.lag("t")), sigma=1)
    with pytest.raises(gp.CompileError, match="elliptical slice needs a Gaussian prior"):
        gp.compile(model, kernels={"x": gp.EllipticalSlice()})


def test_it_is_asked_for_by_a_value_not_by_its_class():
    with gp.Model() as model:
        gp.Normal("x", 0, sigma=1)
    with pytest.raises(gp.CompileError, match=r"write gp.EllipticalSlice\(\)"):
        gp.compile(model, kernels={"x": gp.EllipticalSlice})


def by_default(declare, **settings):
    with gp.Model(coords={"t": 4}) as model:
        declare()
    return gp.compile(model, **settings)


def told(sampler):
    return [(s.name, s.owner) for s in sampler.schedule.steps if "x" in s.variables]


def curve():
    """A Gaussian process, and what is no concave function of it."""
    cov = gp.Data("K", K, dims=("t", "t'"))
    x = gp.MvNormal("x", 0.3, cov=cov, dims="t", event="t")
    gp.Normal("y", gp.exp(x), sigma=1, dims="t", observed=COUNTS)


def test_a_dense_prior_has_an_ellipse_beside_draws_of_its_elements():
    sampler = by_default(curve, rewrites=False)  # (where not all is left open, nothing is chosen)

    beside = [("x by elliptical slice", "elliptical slice"), ("x", "slice")]
    assert beside == told(sampler)
    assert "2 steps, 1 fallback, 1 beside others" in str(sampler)
    assert "beside other draws" in sampler.explain("x by elliptical slice")
    assert sampler.verify().proved


@pytest.mark.slow
def test_an_ellipse_beside_other_draws_leaves_the_joint_distribution_as_it_is():
    assert by_default(curve, rewrites=False).check_kernel("x", seed=1, replicates=500).passed


@pytest.mark.slow
def test_an_ellipse_beside_other_draws_with_a_wrong_normal_part_is_seen(monkeypatch):
    def wider(self, *args):
        mean, noise = normal(self, *args)
        return mean, 4 * noise

    normal = Joint.normal
    sampler = by_default(curve, rewrites=False)
    monkeypatch.setattr(joint.Joint, "normal", wider)
    assert not sampler.check_kernel("x", seed=1, replicates=4000, sweeps=1).passed


@pytest.mark.parametrize("declare", [walk, effects])
def test_elements_with_colours_have_no_ellipse_beside(declare):
    owners = {owner for _, owner in told(by_default(declare))}
    assert "elliptical slice" not in owners


@pytest.mark.parametrize(
    "settings",
    [{"exact": True}, {"blocks": {"x": "elements"}}, {"kernels": {"x": gp.Slice()}}],
    ids=["exact", "elements", "asked"],
)
def test_an_ellipse_beside_is_left_out_where_the_user_says_otherwise(settings):
    assert [name for name, _ in told(by_default(process, **settings))] == ["x"]


# ---- the choice between ellipses, elements and both ----------------------------------------------


def smooth(size, length):
    t = np.linspace(0, 1, size)
    return np.exp(-(np.subtract.outer(t, t) ** 2) / (2 * length**2)) + 1e-6 * np.eye(size)


def alike(size):
    return 0.7 * np.eye(size) + 0.3


def growth(cov, noise=0.3, **settings):
    """Exponentials of a process, seen with noise: no concave log density."""
    size = len(cov)
    truth = np.linalg.cholesky(cov) @ np.random.default_rng(5).standard_normal(size)
    with gp.Model(coords={"t": size}) as model:
        known = gp.Data("cov", cov, dims=("t", "t'"))
        x = gp.MvNormal("x", 0, cov=known, dims="t", event="t")
        gp.Normal("y", gp.exp(x), sigma=noise, dims="t", observed=np.exp(truth))
    return gp.compile(model, **settings)


WAYS = [(smooth(30, 0.2), 2.0, "elliptical slice"), (alike(20), 0.3, "slice")]


@pytest.mark.parametrize(("cov", "noise", "owner"), WAYS, ids=["smooth", "hardly tied"])
def test_theory_chooses_between_ellipses_and_elements(cov, noise, owner):
    sampler = growth(cov, noise)

    assert told(sampler) == [("x", owner)]
    assert "(alternatives: " in str(sampler)


@pytest.mark.slow
@pytest.mark.parametrize(("cov", "noise", "_"), WAYS, ids=["smooth", "hardly tied"])
def test_what_theory_prefers_has_most_effective_draws_an_operation(cov, noise, _):
    (choice,) = growth(cov, noise).schedule.choices
    run = {"warmup": 200, "chains": 2, "seed": 1, "progress": False, "backend": "numpy"}
    rates = {}
    for candidate in (choice.made, *choice.others):
        asked = growth(cov, noise, **candidate.settings)
        assert candidate.operations == asked.costs().operations
        size = np.min(ess_bulk(asked.sample(300, **run)["x"]))
        rates[candidate.what] = float(size) / candidate.operations
    assert max(rates, key=rates.__getitem__) == choice.made.what


def test_a_choice_is_made_where_the_log_density_bends_upwards():
    """At small values of the exponential more is curved the wrong way than the prior is."""
    sampler = growth(smooth(12, 0.05))
    (choice,) = sampler.schedule.choices

    assert all(0 <= c.share <= 1 for c in (choice.made, *choice.others))
    assert sampler.verify().proved


def test_moves_of_what_is_all_normal_leave_nothing():
    rng = np.random.default_rng(3)
    root = rng.standard_normal((6, 6))
    precision = root @ root.T + np.eye(6)
    x = rng.standard_normal(6)
    part = NormalBlock({"x": np.arange(6)}, np.zeros(6), precision)
    block = NormalBlock({"x": np.arange(6)}, -precision @ x, precision)  # (its slope there)
    angles = angles_of(np.random.default_rng(SEED), lambda z: np.zeros(len(z)), MOVES)
    found = turned(block, part, x).matrix @ precision
    taken = ((1 - np.cos(angles)) ** 2 + np.sin(angles) ** 2).reshape(-1) / 2

    error = stats.norm.isf(LEVEL) * taken.std() / MOVES**0.5
    np.testing.assert_allclose(found, found[0, 0] * np.eye(6), atol=1e-9)
    assert abs(found[0, 0] - 1) < error
