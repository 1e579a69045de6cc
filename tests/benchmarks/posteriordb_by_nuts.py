"""The posteriors of ``models/posteriordb`` in NumPyro, for its NUTS (``pip install numpyro``).

Each is written as the published program is: with its parameters, flat where that is silent, and
eight schools not centred. Numbers are of double precision, one thread.
"""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

from time import process_time

import numpy as np

from models.posteriordb import POSTERIORS, tables
from models.posteriordb.programs import Rates, Regression

try:
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from jax.scipy.special import xlog1py, xlogy
except ImportError:
    numpyro = None
MISSING = "numpyro is not installed (pip install numpyro)"


def present():
    """Whether NumPyro can be imported."""
    return numpyro is not None


def scalars(name, draws, warmup, seed, chains=4):
    """Draws of NUTS by scalar, (chain, draw), and the CPU seconds of these draws alone.

    What is traced and compiled, and the warm-up, come before the clock starts.
    """
    numpyro.enable_x64()
    kernel = numpyro.infer.NUTS(program_of(name))
    keys = jax.random.split(jax.random.PRNGKey(seed), chains)
    states = [kernel.init(key, warmup, None, (), {}) for key in keys]

    def sweep(state, _):
        state = kernel.sample(state, (), {})
        return state, state.z

    def loop(count):
        run = jax.jit(lambda state: jax.lax.scan(sweep, state, length=count))
        return run.lower(states[0]).compile()

    loops = {count: loop(count) for count in {warmup, draws}}
    warm, run = loops[warmup], loops[draws]
    states = [warm(state)[0] for state in states]
    jax.block_until_ready(states)
    began = process_time()
    found = [run(state)[1] for state in states]
    jax.block_until_ready(found)
    seconds = process_time() - began
    constrained = jax.vmap(kernel.postprocess_fn((), {}))
    found = [constrained(z) for z in found]
    return by_scalar({n: np.stack([z[n] for z in found]) for n in found[0]}), seconds


def by_scalar(draws):
    """Each element as a scalar of its own, named as posteriordb names it."""
    found = {}
    for name, values in draws.items():
        if values.ndim == 2:
            found[name] = values
        for i in range(values.shape[2] if values.ndim > 2 else 0):
            found[f"{name}[{i + 1}]"] = values[..., i]
    return found


def program_of(name):
    """The program of a posterior."""
    row = POSTERIORS[name].row
    if isinstance(row, Regression):
        return regression(row)
    if isinstance(row, Rates):
        return rates(row)
    return PROGRAMS[name]()


def flat(name, *shape, of=None):
    """A parameter with a constant density on the real line, or on another support."""
    support = dist.constraints.real if of is None else of
    law = dist.ImproperUniform(support, (), shape)
    return numpyro.sample(name, law)


def regression(row):
    """A regression, normal or logistic."""
    x, y = row.design()
    terms = x.shape[1]

    def coefficients(name, *shape):
        if row.sd is None:
            return flat(name, *shape)
        return numpyro.sample(name, dist.Normal(jnp.zeros(shape), row.sd).to_event(len(shape)))

    def program():
        mean = x @ coefficients("beta", terms)
        if row.level:
            mean = mean + coefficients("alpha")
        if row.noise is None:
            numpyro.sample("y", dist.Bernoulli(logits=mean), obs=y)
            return
        law, parameters = row.noise
        numpyro.sample("y", dist.Normal(mean, scale(law, *parameters.values())), obs=y)

    return program


def scale(law, *parameters, name="sigma"):
    """A positive parameter."""
    if law == "HalfFlat":
        return flat(name, of=dist.constraints.positive)
    return numpyro.sample(name, getattr(dist, law)(*parameters))


def rates(row):
    """Rates of successes."""

    def program():
        for name, counts in row.observed.items():
            rate = numpyro.sample(name, dist.Uniform(0, 1))
            for i, (successes, trials) in enumerate(counts):
                numpyro.sample(f"k_{name}_{i}", dist.Binomial(trials, rate), obs=successes)

    return program


def schools():
    """Eight schools, not centred."""
    columns = tables.table("eight_schools")

    def program():
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        apart = numpyro.sample("apart", dist.Normal(jnp.zeros(8), 1).to_event(1))
        theta = numpyro.deterministic("theta", mu + tau * apart)
        numpyro.sample("y", dist.Normal(theta, columns["sigma"]), obs=columns["y"])

    return program


def radon():
    """All counties alike."""
    columns = tables.table("radon_mn")

    def program():
        alpha, beta = (numpyro.sample(n, dist.Normal(0, 10)) for n in ("alpha", "beta"))
        mean = alpha + beta * columns["floor"]
        noise = scale("HalfNormal", 1, name="sigma_y")
        numpyro.sample("y", dist.Normal(mean, noise), obs=columns["log_radon"])

    return program


def moving_average():
    """One lag, one moving average."""
    y = tables.table("arma")["y"]

    def program():
        mu = numpyro.sample("mu", dist.Normal(0, 10))
        phi, theta = (numpyro.sample(n, dist.Normal(0, 2)) for n in ("phi", "theta"))
        first = y[0] - mu - phi * mu

        def step(error, pair):
            error = pair[1] - mu - phi * pair[0] - theta * error
            return error, error

        _, later = jax.lax.scan(step, first, (y[:-1], y[1:]))
        errors = jnp.concatenate([first[None], later])
        law = dist.Normal(0, scale("HalfCauchy", 2.5))
        numpyro.factor("y", law.log_prob(errors).sum())

    return program


def volatility():
    """A GARCH(1, 1) process."""
    y = tables.table("garch")["y"]

    def program():
        mu, alpha0 = flat("mu"), scale("HalfFlat", name="alpha0")
        alpha1 = flat("alpha1", of=dist.constraints.unit_interval)
        beta1 = flat("beta1", of=dist.constraints.interval(0.0, 1 - alpha1))

        def step(variance, before):
            variance = alpha0 + alpha1 * (before - mu) ** 2 + beta1 * variance
            return variance, variance

        first = jnp.asarray(0.25)
        _, later = jax.lax.scan(step, first, y[:-1])
        variances = jnp.concatenate([first[None], later])
        numpyro.sample("y", dist.Normal(mu, jnp.sqrt(variances)), obs=y)

    return program


def gaussian_process():
    """Eleven values of a smooth curve."""
    columns = tables.table("gaussian_process")
    apart = (columns["x"][:, None] - columns["x"]) ** 2

    def program():
        rho = numpyro.sample("rho", dist.Gamma(25, 4))
        alpha, sigma = scale("HalfNormal", 2, name="alpha"), scale("HalfNormal", 1)
        covariance = alpha**2 * jnp.exp(-apart / (2 * rho**2)) + sigma * jnp.eye(len(apart))
        law = dist.MultivariateNormal(jnp.zeros(len(apart)), covariance)
        numpyro.sample("y", law, obs=columns["y"])

    return program


def avoidance():
    """Dogs: each shock and each one avoided multiplies the chance of a shock."""
    columns = tables.dogs()
    later = columns["avoided"] + columns["shocks"] > 0
    y, avoided, shocks = (columns[n][later] for n in ("y", "avoided", "shocks"))

    def program():
        a, b = (numpyro.sample(n, dist.Uniform(0, 1)) for n in ("a", "b"))
        numpyro.sample("y", dist.Bernoulli(probs=a**shocks * b**avoided), obs=y)

    return program


def two_normals():
    """Two normal distributions, labels summed out, the lower mean first."""
    y = tables.table("two_normals")["y"]

    def program():
        ordered = dist.constraints.ordered_vector
        mu = flat("mu", 2, of=ordered)
        numpyro.factor("mu_prior", dist.Normal(0, 2).log_prob(mu).sum())
        sigma = numpyro.sample("sigma", dist.HalfNormal(jnp.full(2, 2.0)).to_event(1))
        theta = numpyro.sample("theta", dist.Beta(5, 5))
        both = dist.Normal(mu, sigma).log_prob(y[:, None])
        shares = jnp.log(jnp.stack([theta, 1 - theta]))
        numpyro.factor("y", jax.nn.logsumexp(shares + both, axis=1).sum())

    return program


def captures():
    """Animals that are there or not, caught or not on three occasions."""
    caught = tables.table("captures")["captures"]

    def program():
        omega, p = (numpyro.sample(n, dist.Uniform(0, 1)) for n in ("omega", "p"))
        seen = jnp.log(omega) + xlogy(caught, p) + xlog1py(3 - caught, -p)
        unseen = jnp.log(omega * (1 - p) ** 3 + 1 - omega)
        numpyro.factor("caught", jnp.where(caught > 0, seen, unseen).sum())

    return program


PROGRAMS = {
    "eight_schools-eight_schools_noncentered": schools,
    "radon_mn-radon_pooled": radon,
    "arma-arma11": moving_average,
    "garch-garch11": volatility,
    "gp_pois_regr-gp_regr": gaussian_process,
    "dogs-dogs_hierarchical": avoidance,
    "low_dim_gauss_mix-low_dim_gauss_mix": two_normals,
    "M0_data-M0_model": captures,
}
