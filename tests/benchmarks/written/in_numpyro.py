"""Models in NumPyro: NUTS with default settings, four chains, one after the other.

Each is the model of the row with the same name. Levels of hierarchies are written about their mean
(non-centred) where data are few, as its own guide does; labels are summed out, as it needs.
"""

from functools import partial
from time import process_time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import logsumexp, ndtr
from numpyro.infer import NUTS

PACKAGES = ("numpyro", "jax")
WARMUP, CHAINS = 1000, 4
# So many draws are made by a call, which is compiled once; more by several calls.
BLOCK = 1000
SLOPES_SD = 2.0


def nuts(model, names, warmup=WARMUP, block=BLOCK):
    """A workload: what of the data makes a turn.

    The kernel is called within a function that is compiled once: `numpyro.infer.MCMC` compiles anew
    at each call and for each chain, which would be counted as sampling.
    """

    def ready(data):
        given = {n: jnp.asarray(x) for n, x in data.items()}
        kernel = NUTS(model)

        @partial(jax.jit, static_argnames="count")
        def warmed(state, given, count):
            return jax.lax.fori_loop(0, count, lambda _, s: kernel.sample(s, (given,), {}), state)

        @jax.jit
        def drawn(state, given):
            def one(state, _):
                state = kernel.sample(state, (given,), {})
                every = kernel.postprocess_fn((given,), {})(state.z)
                return state, {name: every[name] for name in names}

            return jax.lax.scan(one, state, None, length=block)

        def run(seed, size):
            """CPU seconds of warm-up and of sampling, and draws by name of all chains."""
            seconds, chains = np.zeros(2), []
            for key in jax.random.split(jax.random.PRNGKey(seed), CHAINS):
                state, kept = kernel.init(key, warmup, None, (given,), {}), []
                began = process_time()
                state = jax.block_until_ready(warmed(state, given, warmup))
                between = process_time()
                for _ in range(-(-size // block)):
                    state, found = jax.block_until_ready(drawn(state, given))
                    kept.append(found)
                seconds += between - began, process_time() - between
                chains.append({n: np.concatenate([k[n] for k in kept]) for n in names})
            return seconds, {n: np.stack([c[n] for c in chains]) for n in names}

        began = process_time()
        state = kernel.init(jax.random.PRNGKey(0), warmup, None, (given,), {})
        warmed.lower(state, given, warmup).compile()
        drawn.lower(state, given).compile()
        compiling = process_time() - began

        def turn(seed, size):
            (warming, sampling), draws = run(seed + 1, size)
            return {
                "size": next(iter(draws.values())).shape[1], "sampling": float(sampling),
                "warming": float(warming), "compiling": compiling, "draws": draws,
            }  # fmt: skip

        return turn

    return ready


def sample(name, found, **how):
    """A variable."""
    return numpyro.sample(name, found, **how)


def normal(name, mean, precision, shape=()):
    """A normal variable by its precision."""
    return sample(name, dist.Normal(mean, precision**-0.5).expand(shape))


def about(name, mean, precision, shape):
    """A normal array, by its distance from the mean."""
    unit = sample(f"{name}_unit", dist.Normal(0, 1).expand(shape))
    return numpyro.deterministic(name, mean + precision**-0.5 * unit)


def eight_schools(d):
    mu = normal("mu", 0, 1e-4)
    tau = sample("tau", dist.Gamma(0.5, 12.5))
    theta = about("theta", mu, tau, d["effect"].shape)
    sample("y", dist.Normal(theta, d["standard_error"]), obs=d["effect"])


def rats(d):
    alpha_c, beta_c = normal("alpha.c", 0, 1e-4), normal("beta.c", 0, 1e-4)
    tau_c, tau_a, tau_b = (sample(n, dist.Gamma(1e-3, 1e-3)) for n in ("tau.c", "tau.a", "tau.b"))
    number = (d["Y"].shape[0],)
    alpha, beta = normal("alpha", alpha_c, tau_a, number), normal("beta", beta_c, tau_b, number)
    line = alpha[:, None] + beta[:, None] * (d["x"] - d["x"].mean())
    sample("y", dist.Normal(line, tau_c**-0.5), obs=d["Y"])
    numpyro.deterministic("alpha0", alpha_c - d["x"].mean() * beta_c)


def pumps(d):
    alpha = sample("alpha", dist.Exponential(1.0))
    beta = sample("beta", dist.Gamma(0.1, 1.0))
    theta = sample("theta", dist.Gamma(alpha, beta).expand(d["x"].shape))
    sample("y", dist.Poisson(theta * d["t"]), obs=d["x"])


def slopes(d, precision=SLOPES_SD**-2):
    return d["x"] @ normal("beta", 0, precision, (d["x"].shape[1],))


def logit(d):
    sample("y", dist.Bernoulli(logits=slopes(d)), obs=d["y"])


def probit(d):
    sample("y", dist.Bernoulli(probs=jnp.clip(ndtr(slopes(d)), 1e-7, 1 - 1e-7)), obs=d["y"])


def grouped_logit(d):
    tau = sample("tau", dist.Gamma(1, 0.5))
    u = normal("u", 0, tau, (50,))
    line = slopes(d) + u[d["group"]]
    sample("y", dist.Binomial(d["trials"], logits=line), obs=d["y"])


def log_normal_rates(d):
    alpha, tau = normal("alpha", 0, 0.01), sample("tau", dist.Gamma(1, 0.1))
    u = normal("u", alpha, tau, d["y"].shape)
    sample("y", dist.Poisson(d["t"] * jnp.exp(u)), obs=d["y"])


def volatility(d):
    mu, phi = normal("mu", 0, 0.1), sample("phi", dist.Uniform(-1, 1))
    tau = sample("tau", dist.Gamma(2.5, 0.1))
    unit = sample("unit", dist.Normal(0, 1).expand(d["y"].shape))
    noise = unit * tau**-0.5
    _, h = jax.lax.scan(lambda at, e: (phi * at + e,) * 2, 0.0, noise)
    sample("y", dist.Normal(0, jnp.exp((mu + h) / 2)), obs=d["y"])


def regression(d):
    tau, tau_beta = (sample(n, dist.Gamma(1e-2, 1e-2)) for n in ("tau", "tau_beta"))
    line = normal("intercept", 0, 1e-2) + slopes(d, tau_beta)
    sample("y", dist.Normal(line, tau**-0.5), obs=d["y"])


def horseshoe(d):
    tau, columns = sample("tau", dist.Gamma(1e-2, 1e-2)), (d["x"].shape[1],)
    overall = sample("overall", dist.HalfCauchy(1.0))
    local = sample("local", dist.HalfCauchy(1.0).expand(columns))
    beta = about("beta", 0, tau / (local * overall) ** 2, columns)
    line = normal("intercept", 0, 1e-2) + d["x"] @ beta
    sample("y", dist.Normal(line, tau**-0.5), obs=d["y"])


def mixture(d, number=3):
    weight = sample("weight", dist.Dirichlet(jnp.ones(number)))
    tau = sample("tau", dist.Gamma(2, 1).expand((number,)))
    mu = normal("mu", 4, 0.05, (number,))
    terms = dist.Normal(mu, tau**-0.5).log_prob(d["y"][:, None]) + jnp.log(weight)
    numpyro.factor("y", logsumexp(terms, axis=1).sum())
    for power in range(1, number + 1):
        numpyro.deterministic(f"mu{power}", (mu**power).sum())
        numpyro.deterministic(f"weight{power}", (weight * mu**power).sum())
    numpyro.deterministic("tau1", tau.sum())


def hidden_markov(d, states=4):
    moves = sample("P", dist.Dirichlet(jnp.ones((states, states))))
    rate = sample("rate", dist.Gamma(2, 0.1).expand((states,)))
    terms = dist.Poisson(rate).log_prob(d["y"][:, None])

    def step(now, term):
        return logsumexp(now[:, None] + jnp.log(moves), axis=0) + term, None

    last, _ = jax.lax.scan(step, terms[0] - jnp.log(states), terms[1:])
    numpyro.factor("y", logsumexp(last))
    for power in range(1, states + 1):
        numpyro.deterministic(f"rate{power}", (rate**power).sum())
    numpyro.deterministic("moves2", (moves**2).sum())


def small_topics(d, documents=50, topics=5, vocabulary=40):
    theta = sample("theta", dist.Dirichlet(jnp.full((documents, topics), 0.5)))
    phi = sample("phi", dist.Dirichlet(jnp.full((topics, vocabulary), 0.5)))
    numpyro.factor("w", jnp.log((theta @ phi)[d["document"], d["word"]]).sum())
    numpyro.deterministic("theta2", (theta**2).sum())
    numpyro.deterministic("phi2", (phi**2).sum())


def one_way(d):
    mu = normal("mu", 0, 1e-6)
    tau, tau_theta = (sample(n, dist.Gamma(1e-3, 1e-3)) for n in ("tau", "tau_theta"))
    theta = normal("theta", mu, tau_theta, d["y"].shape[:1])
    sample("y", dist.Normal(theta[:, None], tau**-0.5), obs=d["y"])


def local_level(d):
    tau_flow = sample("tau_flow", dist.Gamma(2, 15_000))
    tau_level = sample("tau_level", dist.Gamma(2, 1500))
    first = normal("first", 1000, 1e-6)
    unit = sample("unit", dist.Normal(0, 1).expand((d["y"].shape[0] - 1,)))
    level = first + jnp.concatenate([jnp.zeros(1), jnp.cumsum(unit * tau_level**-0.5)])
    sample("y", dist.Normal(level, tau_flow**-0.5), obs=d["y"])


MIXTURE = (*(f"{n}{k}" for n in ("mu", "weight") for k in (1, 2, 3)), "tau1")
REGRESSION = ("intercept", "beta", "tau", "tau_beta")
WORKLOADS = {
    "eight schools": nuts(eight_schools, ("mu", "tau", "theta")),
    "rats_1": nuts(rats, ("alpha0", "beta.c")),
    "pump_1": nuts(pumps, ("theta", "alpha", "beta")),
    "logit 1000 x 10": nuts(logit, ("beta",)),
    "logit 50000 x 50": nuts(logit, ("beta",), warmup=300, block=100),
    "probit 1000 x 10": nuts(probit, ("beta",)),
    "binomial logit, 50 groups": nuts(grouped_logit, ("beta", "tau")),
    "Poisson, log-normal effects": nuts(log_normal_rates, ("alpha", "tau")),
    "stochastic volatility, T = 500": nuts(volatility, ("mu", "phi", "tau")),
    "regression 442 x 10": nuts(regression, REGRESSION),
    "regression 10000 x 50": nuts(regression, REGRESSION),
    "horseshoe 200 x 500": nuts(horseshoe, ("tau", "intercept", "beta"), warmup=300, block=100),
    "horseshoe 1000 x 200": nuts(horseshoe, ("tau", "intercept", "beta"), warmup=300, block=100),
    "mixture of 2000": nuts(mixture, MIXTURE),
    "mixture of 200000": nuts(mixture, MIXTURE, warmup=300, block=100),
    "hidden Markov, T = 5000": nuts(
        hidden_markov, (*(f"rate{k}" for k in (1, 2, 3, 4)), "moves2"), warmup=300, block=100
    ),
    "one-way normal, 10000 groups": nuts(one_way, ("mu", "tau", "tau_theta")),
    "one-way normal, 100000 groups": nuts(
        one_way, ("mu", "tau", "tau_theta"), warmup=300, block=100
    ),
    "topics of 50 x 100 words": nuts(small_topics, ("theta2", "phi2")),
    "local level, T = 1000": nuts(
        local_level, ("tau_flow", "tau_level"), warmup=300, block=100
    ),
}
