"""Conditionals without a finite integral are found before the run or at the draw, by name."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.errors import CompileError, RunError
from gibbsppl.initial import propriety

GROUP = [0, 0, 2]
ONE_PER_ROW = [1.0, 2.0, 3.0]
COLUMN = np.array([1.0, 2.0, 3.0, 4.0])
SEPARATED, MIXED = [0, 0, 1, 1], [0, 1, 0, 1]
# Scalars have no position to be named.
def groups(prior, child):
    """A prior for each of three groups, of which the second has no data."""
    with gp.Model(coords={"g": 3}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        child(prior("x", dims="g")[group])
    return m


def pair(prior, *children):
    with gp.Model(coords={"i": 2}) as m:
        x = prior("x")
        for n, child in enumerate(children):
            child(f"y{n}", x)
    return m


def regression(*columns, prior=lambda name, dims: gp.Flat(name, dims=dims)):
    with gp.Model(coords={"i": 4, "k": len(columns)}) as m:
        design = gp.Data("design", np.stack(columns, axis=1), dims=("i", "k"))
        x = prior("x", "k")
        mean = gp.sum(design * x, "k")
        gp.Normal("y", mean, tau=1, dims="i", observed=[1.0, 2.0, 3.0, 2.0])
    return m


def blocks_of_groups():
    """Two slopes for each group, and a group with one observation."""
    with gp.Model(coords={"g": 2, "k": 2}) as m:
        group = gp.Index("group", [0, 0, 1], of="g", dims="i")
        design = gp.Data("design", [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], dims=("i", "k"))
        x = gp.Flat("x", dims=("g", "k"))
        gp.Normal("y", gp.sum(design * x[group], "k"), tau=1, dims="i", observed=ONE_PER_ROW)
    return m


def logistic(labels, prior=gp.Flat):
    with gp.Model(coords={"i": 4}) as m:
        x = prior("x")
        column = gp.Data("column", COLUMN - 2.5, dims="i")
        gp.Bernoulli("y", logit_p=x * column, dims="i", observed=labels)
    return m


def mean(x):
    gp.Normal("y", x, tau=1, dims="i", observed=ONE_PER_ROW)


def rate(x):
    gp.Poisson("y", rate=x, dims="i", observed=[1, 2, 3])


def variance_of(*values):
    return lambda y, x: gp.Normal(y, 0, var=x, dims="i", observed=values)


def waits(*values):
    return lambda y, x: gp.Exponential(y, rate=x, dims="i", observed=values)


def root_precision_of(*values):
    return lambda y, x: gp.Normal(y, 0, tau=x**2, dims="i", observed=values)


def below(value):
    return lambda y, x: gp.Uniform(y, 0, x, observed=value)


def at_most_one(name, x):
    return gp.Constraint(name, x < gp.Data("one", 1.0))


def gamma(shape):
    return lambda name: gp.Gamma(name, shape, rate=1)


# ---- improper before the run -----------------------------------------------------------------

EMPTY_GROUPS = {
    "a flat mean": lambda: groups(gp.Flat, mean),
    "a flat rate": lambda: groups(gp.HalfFlat, rate),
}


@pytest.mark.parametrize("name", EMPTY_GROUPS)
def test_a_group_without_data_under_a_flat_prior(name):
    message = r"^x: the posterior is improper: the conditional of x at 1 would be .* proper prior"

    with pytest.raises(RunError, match=message):
        sample(EMPTY_GROUPS[name]())


def sample(model):
    return gp.compile(model).sample(20, warmup=5, chains=1, seed=1, progress=False)


def test_blocks_are_named_by_their_group():
    with pytest.raises(RunError, match=r"^x: .* at 1 would be MvNormal .* not positive definite"):
        sample(blocks_of_groups())


IMPROPER_SCALARS = {
    "a column twice": lambda: regression(COLUMN, COLUMN),
    "a column that is a sum of others": lambda: regression(COLUMN, COLUMN**2, COLUMN + COLUMN**2),
    "a bound of one value": lambda: pair(gp.HalfFlat, below(1.0)),
    "a variance of zeros": lambda: pair(gamma(0.5), variance_of(0.0, 0.0)),
    "waits of no length": lambda: pair(gp.HalfFlat, waits(0.0, 0.0), root_precision_of(0.0, 0.0)),
}


@pytest.mark.parametrize("name", IMPROPER_SCALARS)
def test_a_scalar_or_one_block(name):
    with pytest.raises(RunError, match=r"^x: the posterior is improper: .* proper prior"):
        sample(IMPROPER_SCALARS[name]())


def odds(*outcomes, prior=gp.HalfFlat, dims=None, total=lambda x: x):
    """Outcomes of a probability that goes to 1 far out, in a way that is not log-concave."""
    with gp.Model(coords={"g": 3}) as m:
        x = total(prior("x", dims=dims))
        for n, outcome in enumerate(outcomes):
            gp.Bernoulli(f"y{n}", (1 + x**2) / (2 + x**2), dims=None if total is not kept else dims,
                         observed=outcome)
    return m


def kept(x):
    return x


def spread(*values):
    with gp.Model() as m:
        scale = gp.HalfFlat("x")
        for n, value in enumerate(values):
            gp.Logistic(f"y{n}", 0, scale=scale + gp.sqrt(scale), observed=value)
    return m


def wandering(*values):
    with gp.Model() as m:
        x = gp.Flat("x")
        for n, value in enumerate(values):
            gp.Cauchy(f"y{n}", x**3, 1, observed=value)
    return m


# A density of 1/x has no integral, one of 1/x**2 has.
FAR_OUT = {
    "a success": (lambda: odds(1), r"as x goes to infinity"),
    "a success, either side": (lambda: odds(1, prior=gp.Flat), r"as x goes to -infinity"),
    "one element of three": (
        lambda: odds([0, 1, 0], dims="g", total=kept), r"as x\[1\] goes to infinity"),
    "elements that are tied": (
        lambda: odds(1, dims="g", total=lambda x: gp.sum(x**2, "g")),
        r"as x\[0\] goes to infinity"),
    "a scale of one value": (lambda: spread(1.0), r"as x goes to infinity"),
}  # fmt: skip
FAR_IN = {
    "a success and a failure": lambda: odds(1, 0),
    "a failure for each of three": lambda: odds([0, 0, 0], dims="g", total=kept),
    "a scale of two values": lambda: spread(1.0, 2.0),
    "heavy tails": lambda: wandering(1.0, 5.0),
}


@pytest.mark.parametrize("name", FAR_OUT)
def test_a_log_density_that_hardly_falls_far_out(name):
    model, where = FAR_OUT[name]
    sampler = gp.compile(model())
    assert sampler.schedule.step("x").kind in ("move", "concave")

    message = rf"^x: the posterior is improper: {where}, .* give x a proper prior"
    with pytest.raises(RunError, match=message):
        sampler.initial_states(1, seed=1)


@pytest.mark.parametrize("name", FAR_IN)
def test_a_log_density_that_falls_far_out_is_no_reason(name):
    sampler = gp.compile(FAR_IN[name]())
    assert sampler.schedule.step("x").kind in ("move", "concave")

    assert sampler.initial_states(2, seed=1)


def test_what_no_data_can_mend_is_refused_at_once():
    with pytest.raises(CompileError, match=r"^x: the conditional would be .* proper prior"):
        gp.compile(pair(gp.HalfFlat, lambda y, x: gp.Normal(y, 0, sigma=x, observed=1.0)))


# ---- improper at the draw --------------------------------------------------------------------

AT_THE_DRAW = {
    "an end that no bound cuts off": lambda: pair(gp.HalfFlat, variance_of(0.0, 0.0), at_most_one),
}


@pytest.mark.parametrize("name", AT_THE_DRAW)
def test_what_shows_at_the_draw_names_the_variable_and_what_to_do(name):
    with pytest.raises(RunError, match=r"^x: step 'x' .* finite integral.* proper prior"):
        sample(AT_THE_DRAW[name]())


BEFORE_THE_DRAW = {
    "a truncated flat mean": lambda: groups(gp.HalfFlat, mean),
    "separated labels": lambda: logistic(SEPARATED),
}


@pytest.mark.parametrize("name", BEFORE_THE_DRAW)
def test_what_shows_at_the_start_names_the_variable_and_what_to_do(name):
    with pytest.raises(RunError, match=r"^x: the posterior is improper: .* proper prior"):
        sample(BEFORE_THE_DRAW[name]())


# ---- proper ----------------------------------------------------------------------------------

PROPER = {
    "no group without data": lambda: groups(lambda name, dims: gp.Normal(name, 0, tau=1, dims=dims),
                                            mean),
    "columns of full rank": lambda: regression(COLUMN, COLUMN**2),
    "nearly the same column": lambda: regression(COLUMN, COLUMN + 1e-5 * COLUMN**2),
    "a column twice, with a prior": lambda: regression(
        COLUMN, COLUMN, prior=lambda name, dims: gp.Normal(name, 0, tau=1, dims=dims)
    ),
    "mixed labels": lambda: logistic(MIXED),
    "separated labels, with a prior": lambda: logistic(
        SEPARATED, lambda name: gp.Normal(name, 0, tau=1)
    ),
    "a bound of two values": lambda: pair(gp.HalfFlat, below(1.0), below(2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROPER)
def test_what_is_proper_runs(name):
    draws = sample(PROPER[name]())

    assert np.isfinite(draws["x"]).all()


# Natural parameters of zero, where three statistics are those of a smaller family.
EDGES = {
    "no inverse term: a Gamma": (
        lambda: pair(gamma(2.5), variance_of(0.0, 0.0)),
        stats.gamma(1.5),
    ),
    "no linear term: an inverse Gamma": (
        lambda: pair(gp.HalfFlat, variance_of(1.0, 2.0), variance_of(1.0, 1.0)),
        stats.invgamma(1.0, scale=3.5),
    ),
    "no linear term: a root of a Gamma": (
        lambda: pair(gp.HalfFlat, waits(0.0, 0.0), root_precision_of(1.0, 1.0)),
        stats.gengamma(2.5, 2),
    ),
    "no square: a Gamma": (
        lambda: pair(gp.HalfFlat, waits(0.5, 0.5), root_precision_of(0.0, 0.0)),
        stats.gamma(5.0),
    ),
}
LEVEL = 1e-4 / len(EDGES)


@pytest.mark.parametrize("name", EDGES)
def test_the_edge_of_a_domain_is_accepted(name):
    build, expected = EDGES[name]
    sampler = gp.compile(build())
    draws = np.ravel(sampler.sample(1500, warmup=0, chains=1, seed=4, progress=False)["x"])

    assert stats.kstest(draws, expected.cdf).pvalue > LEVEL


# ---- the check itself ------------------------------------------------------------------------


def test_without_a_margin_for_rounding_a_singular_block_would_pass():
    """The smallest eigenvalue of a singular precision is a rounding error of either sign."""
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(400, 5, 2))
    design = np.concatenate([columns, columns.sum(axis=-1, keepdims=True)], axis=-1)
    precision = np.swapaxes(design, -2, -1) @ design

    assert (np.linalg.eigvalsh(precision)[:, 0] > 0).any()
    assert (propriety._least_eigenvalues(-precision / 2) <= 0).all()


def test_an_improper_group_is_seen_by_the_check_alone(monkeypatch):
    """Without the check the run would start, and draw what is no number."""
    sampler = gp.compile(EMPTY_GROUPS["a flat mean"]())
    monkeypatch.setattr("gibbsppl.sampling.methods.check_proper", lambda *_: None)

    assert not starts_raise(sampler)


def starts_raise(sampler):
    try:
        sampler.initial_states(1, 1)
    except RunError:
        return True
    return False


@pytest.mark.parametrize("scale", [gp.HalfFlat, lambda name: gp.Gamma(name, 1e-9, rate=1e-9)])
def test_a_vague_scale_whose_group_moves_along_starts_or_is_told(scale):
    with gp.Model(name="groups", coords={"g": 8, "i": 3}) as model:
        mu, tau = gp.Flat("mu"), scale("tau")
        theta = gp.Normal("theta", mu, sigma=tau, dims="g")
        gp.Poisson("y", gp.exp(theta), dims=("g", "i"), observed=np.arange(24).reshape(8, 3) % 7)
    sampler = gp.compile(model)
    assert any(i.what == "scale" for i in sampler.schedule.interwoven.values())
    starts_raise(sampler)  # (no other error)
