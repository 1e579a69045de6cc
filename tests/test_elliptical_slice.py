"""Elliptical slice sampling: against exact posteriors, and by the joint-distribution test."""

import numpy as np
import pytest
from scipy import integrate, linalg, stats

import gibbsppl as gp
from gibbsppl.output.diagnostics import mcse_mean
from gibbsppl.runtime import joint
from gibbsppl.runtime.elliptical import along_ellipses, elliptical_slice
from gibbsppl.runtime.joint import Joint, drawn

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


MODELS = {f.__name__: f for f in (process, walk, effects, partly_known)}


def compiled(declare, **settings):
    with gp.Model(coords={"t": 4}) as model:
        declare()
    kernels = {"x": gp.EllipticalSlice()}
    return gp.compile(model, kernels=kernels, rewrites=False, **settings)


@pytest.mark.parametrize("name", MODELS)
def test_steps_leave_the_joint_distribution_as_it_is(name):
    sampler = compiled(MODELS[name])

    assert sampler.verify().proved
    assert "elliptical slice" in str(sampler)
    assert sampler.check_kernel("x", seed=1, replicates=500).passed


def test_a_normal_part_that_is_not_what_is_drawn_is_seen(monkeypatch):
    def wider(self, *args):
        mean, noise, log_density = normal(self, *args)
        return mean, 2 * noise, log_density

    normal = Joint.normal
    sampler = compiled(process)
    monkeypatch.setattr(joint.Joint, "normal", wider)
    assert not sampler.check_kernel("x", seed=1, replicates=500).passed


def test_no_number_is_drawn_that_is_not_used():
    """Of a density that is all normal the first angle is taken."""
    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    x = np.zeros(3)
    along_ellipses(ours, x, x, x + 1, lambda v: np.zeros(v.shape), apart=True)
    theirs.standard_exponential(3), theirs.uniform(0, 1, 3)

    assert ours.random() == theirs.random()


@pytest.mark.parametrize("apart", [True, False])
def test_a_density_that_is_all_normal_is_left_as_it_is(apart):
    """The reference is another one than the target: the rest makes up for it."""
    rng = np.random.default_rng(1)
    count = 20_000
    reference = Joint({"x": drawn((count,), [((0, count),)])}, [])
    given = {"x": (np.full(count, 0.5), np.full(count, -0.25))}, []
    target = stats.norm(1.0, 0.6)
    x = target.rvs(size=count, random_state=rng)
    if not apart:
        few = Joint({"x": drawn((2,), [((0, 2),)])}, [])
        given = {"x": (np.full(2, 0.5), np.full(2, -0.25))}, []
        moved = [
            elliptical_slice(rng, {"x": p}, "x", lambda v: target.logpdf(v).sum(), few, given)
            for p in x.reshape(-1, 2)[:4000]
        ]
    else:
        moved = elliptical_slice(rng, {"x": x}, "x", target.logpdf, reference, given)
    moved = np.ravel(moved)

    assert stats.kstest(moved, target.cdf).pvalue > LEVEL
    assert (moved != x[: moved.size]).mean() > 0.99


def test_the_terms_of_the_normal_part_are_its_log_density():
    rng = np.random.default_rng(2)
    t = np.arange(1, 5)
    chain = Joint({"x": drawn((5,), [((0, 5),)])}, [("x", (t,), "x", (t - 1,))])
    given = {"x": (rng.standard_normal(5), -2 - rng.random(5))}, [rng.random(4)]
    precision = np.diag(-2 * given[0]["x"][1]) - np.diag(given[1][0], 1) - np.diag(given[1][0], -1)
    exact = stats.multivariate_normal(
        linalg.solve(precision, given[0]["x"][0]), linalg.inv(precision)
    )
    mean, noise, log_density = chain.normal(rng, {"x": np.zeros(5)}, given)
    points = rng.standard_normal((2, 5))
    gap = log_density(points[0]).sum() - log_density(points[1]).sum()

    assert gap == pytest.approx(exact.logpdf(points[0]) - exact.logpdf(points[1]))
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
    sampler = by_default(curve)

    beside = [("x by elliptical slice", "elliptical slice"), ("x", "slice")]
    assert beside == told(sampler)
    assert "2 steps, 1 fallback, 1 beside others" in str(sampler)
    assert "beside other draws" in sampler.explain("x by elliptical slice")
    assert sampler.verify().proved


@pytest.mark.slow
def test_an_ellipse_beside_other_draws_leaves_the_joint_distribution_as_it_is():
    assert by_default(curve).check_kernel("x", seed=1, replicates=500).passed


@pytest.mark.slow
def test_an_ellipse_beside_other_draws_with_a_wrong_normal_part_is_seen(monkeypatch):
    def wider(self, *args):
        mean, noise, log_density = normal(self, *args)
        return mean, 4 * noise, log_density

    normal = Joint.normal
    sampler = by_default(curve)
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
