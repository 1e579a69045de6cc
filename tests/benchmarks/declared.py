"""Regressions and hierarchies of the sizes of part 0, declared, with data that are made up of them.

A function of data returns arrays by name, the same at each call; one named for a model declares it
of these. Quantities that do not depend on the order of components are monitored where labels could
be exchanged: sums of powers.
"""

import numpy as np

import gibbsppl as gp

SLOPES_TAU = 0.25


def regressors(rows, columns, seed):
    """A generator, columns of which the first is ones, and slopes that shrink."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(rows), rng.standard_normal((rows, columns - 1))])
    return rng, x, rng.standard_normal(columns) / np.sqrt(columns)


def outcomes(rows=1000, columns=10, seed=1):
    """Zeros and ones of a logistic regression."""
    rng, x, slopes = regressors(rows, columns, seed)
    return {"x": x, "y": (rng.random(rows) < 1 / (1 + np.exp(-x @ slopes))).astype(int)}


def binary(data, link):
    """Zeros and ones by a regression: ``link`` declares them of the line."""
    rows, columns = data["x"].shape
    with gp.Model(coords={"row": rows, "column": columns}, name="binary") as model:
        x = gp.Data("x", data["x"], dims=("row", "column"))
        beta = gp.Normal("beta", 0, tau=SLOPES_TAU, dims="column")
        link(x @ beta, dims="row", observed=data["y"])
    return model


def logit(data):
    """A logistic regression."""
    return binary(data, lambda line, **how: gp.Bernoulli("y", gp.expit(line), **how))


def probit(data):
    """A probit regression."""
    return binary(data, lambda line, **how: gp.Bernoulli("y", gp.Phi(line), **how))


def grouped_outcomes(rows=1000, groups=50, columns=5, trials=10, seed=2):
    """Counts of ten trials by a logistic regression with a level for each group."""
    rng, x, slopes = regressors(rows, columns, seed)
    group = rng.integers(groups, size=rows)
    line = x @ slopes + 0.7 * rng.standard_normal(groups)[group]
    y = rng.binomial(trials, 1 / (1 + np.exp(-line)))
    return {"x": x, "group": group, "y": y, "trials": np.array(trials), "groups": np.array(groups)}


def grouped_logit(data):
    """A binomial regression with a level for each group."""
    rows, columns = data["x"].shape
    coords = {"row": rows, "column": columns, "level": int(data["groups"])}
    with gp.Model(coords=coords, name="grouped_logit") as model:
        x = gp.Data("x", data["x"], dims=("row", "column"))
        group = gp.Index("group", data["group"], of="level", dims="row")
        tau = gp.Gamma("tau", 1, rate=0.5)
        beta = gp.Normal("beta", 0, tau=SLOPES_TAU, dims="column")
        u = gp.Normal("u", 0, tau=tau, dims="level")
        p = gp.expit(x @ beta + u[group])
        gp.Binomial("y", int(data["trials"]), p, dims="row", observed=data["y"])
    return model


def counts_of_units(units=200, seed=3):
    """Counts of units whose log rates are normal."""
    rng = np.random.default_rng(seed)
    exposure = rng.uniform(0.5, 3, units)
    rate = np.exp(1 + 0.6 * rng.standard_normal(units))
    return {"t": exposure, "y": rng.poisson(exposure * rate)}


def log_normal_rates(data):
    """Counts with log-normal effects."""
    with gp.Model(coords={"unit": len(data["y"])}, name="log_normal_rates") as model:
        t = gp.Data("t", data["t"], dims="unit")
        alpha = gp.Normal("alpha", 0, tau=0.01)
        tau = gp.Gamma("tau", 1, rate=0.1)
        u = gp.Normal("u", alpha, tau=tau, dims="unit")
        gp.Poisson("y", t * gp.exp(u), dims="unit", observed=data["y"])
    return model


def returns(times=500, seed=4):
    """Returns whose log variance is a stationary autoregression."""
    rng = np.random.default_rng(seed)
    h = np.empty(times)
    h[0] = -1
    for t in range(1, times):
        h[t] = -1 + 0.95 * (h[t - 1] + 1) + 0.2 * rng.standard_normal()
    return {"y": np.exp(h / 2) * rng.standard_normal(times)}


def volatility(data):
    """Stochastic volatility; the level and how fast it is come back to are drawn."""
    with gp.Model(coords={"t": len(data["y"])}, name="volatility") as model:
        mu = gp.Normal("mu", 0, tau=0.1)
        phi = gp.Uniform("phi", -1, 1)
        tau = gp.Gamma("tau", 2.5, rate=0.1)
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(mu, tau=tau)
        h[1:] = gp.Normal(mu + phi * (h.lag("t", 1) - mu), tau=tau)
        gp.Normal("y", 0, tau=gp.exp(-h), dims="t", observed=data["y"])
    return model


def sparse_regression(rows=200, columns=500, seed=5):
    """A regression of which ten columns are needed."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    weights = np.where(np.arange(columns) < 10, 1.5, 0.0)
    return {"x": x, "y": x @ weights + rng.standard_normal(rows)}


def gates(data):
    """Spike and slab of such a regression; how many gates are open is monitored, not which."""
    rows, columns = data["x"].shape
    with gp.Model(coords={"row": rows, "column": columns}, name="gates") as model:
        x = gp.Data("x", data["x"], dims=("row", "column"))
        tau = gp.Gamma("tau", 0.01, rate=0.01)
        intercept = gp.Normal("intercept", 0, tau=0.01)
        gate = gp.Bernoulli("gate", 0.05, dims="column")
        beta = gp.Normal("beta", 0, tau=4, dims="column")
        gp.Normal("y", intercept + x @ (gate * beta), tau=tau, dims="row", observed=data["y"])
        gp.Deterministic("open", gp.sum(gate, "column"))
    return model


def dense_regression(rows=10_000, columns=50, seed=6):
    """A regression of which all columns are needed."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    x -= x.mean(axis=0)
    return {"x": x, "y": x @ rng.standard_normal(columns) + rng.standard_normal(rows)}


def values(n=2000, components=3, seed=7):
    """Values about means that are apart by four standard deviations."""
    rng = np.random.default_rng(seed)
    shares = np.arange(1, components + 1) / np.arange(1, components + 1).sum()
    y = 4.0 * rng.choice(components, size=n, p=shares) + rng.standard_normal(n)
    return {"y": y, "components": np.array(components)}


def mixture(data):
    """A mixture of normal values; sums of powers of what the components have."""
    components = int(data["components"])
    coords = {"value": len(data["y"]), "component": components}
    with gp.Model(coords=coords, name="mixture") as model:
        weight = gp.Dirichlet("weight", 1, dims="component", event="component")
        tau = gp.Gamma("tau", 2, rate=1, dims="component")
        mu = gp.Normal("mu", 4, tau=0.05, dims="component")
        z = gp.Categorical("z", weight, dims="value", event="component")
        gp.Normal("y", mu[z], tau=tau[z], dims="value", observed=data["y"])
        for power in range(1, components + 1):
            gp.Deterministic(f"mu{power}", gp.sum(mu**power, "component"))
            gp.Deterministic(f"weight{power}", gp.sum(weight * mu**power, "component"))
        gp.Deterministic("tau1", gp.sum(tau, "component"))
    return model


MIXTURE = (*(f"{n}{k}" for n in ("mu", "weight") for k in (1, 2, 3)), "tau1")


def groups(size=10_000, each=5, seed=8):
    """Normal values of groups."""
    rng = np.random.default_rng(seed)
    return {"y": 3 + rng.standard_normal((size, 1)) + rng.standard_normal((size, each))}


def one_way(data):
    """A level for each group."""
    number, each = data["y"].shape
    with gp.Model(coords={"group": number, "value": each}, name="one_way") as model:
        mu = gp.Normal("mu", 0, tau=1e-6)
        tau, tau_theta = (gp.Gamma(n, 0.001, rate=0.001) for n in ("tau", "tau_theta"))
        theta = gp.Normal("theta", mu, tau=tau_theta, dims="group")
        gp.Normal("y", theta, tau=tau, dims=("group", "value"), observed=data["y"])
    return model


def levels(times=1000, seed=9):
    """A random walk, seen with errors."""
    rng = np.random.default_rng(seed)
    walk = 1000 + 40 * np.cumsum(rng.standard_normal(times))
    return {"y": walk + 120 * rng.standard_normal(times)}


def markov(data):
    """A hidden Markov model of counts, states with rates of their own; sums over states."""
    states, times = int(data["states"]), len(data["y"])
    with gp.Model(coords={"t": times, "state": states}, name="markov") as model:
        moves = gp.Dirichlet("P", 1, dims=("state", "state'"), event="state'")
        rate = gp.Gamma("rate", 2, rate=0.1, dims="state")
        z = gp.Array("z", dims="t", event="state")
        z[0] = gp.Categorical(1 / states)
        z[1:] = gp.Categorical(moves[z.lag("t", 1)])
        gp.Poisson("y", rate[z], dims="t", observed=data["y"])
        for power in range(1, states + 1):
            gp.Deterministic(f"rate{power}", gp.sum(rate**power, "state"))
        gp.Deterministic("moves2", gp.sum(gp.sum(moves**2, "state'"), "state"))
    return model


MARKOV = (*(f"rate{k}" for k in (1, 2, 3, 4)), "moves2")


def failures(pumps=100_000, seed=10):
    """Failures of pumps in hours of operation, whose rates are Gamma."""
    rng = np.random.default_rng(seed)
    hours = rng.uniform(1, 100, pumps)
    return {"t": hours, "x": rng.poisson(hours * rng.gamma(0.7, 1 / 0.9, pumps))}


def words(documents=50, each=100, topics=5, vocabulary=40, seed=11):
    """Documents of words; few topics in each document, and few words in each topic."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(topics, 0.3), documents)
    phi = rng.dirichlet(np.full(vocabulary, 0.2), topics)
    document = np.repeat(np.arange(documents), each)
    topic = [rng.choice(topics, p=shares[d]) for d in document]
    word = np.array([rng.choice(vocabulary, p=phi[k]) for k in topic])
    sizes = {"documents": documents, "topics": topics, "vocabulary": vocabulary}
    return {"document": document, "word": word} | {n: np.array(k) for n, k in sizes.items()}


def small_topics(data):
    """Topics of few documents; sums of squares, which do not depend on names of topics."""
    names = {"doc": "documents", "topic": "topics", "word": "vocabulary"}
    coords = {dim: int(data[name]) for dim, name in names.items()}
    with gp.Model(coords=coords | {"token": len(data["word"])}, name="small_topics") as model:
        doc = gp.Index("document", data["document"], of="doc", dims="token")
        theta = gp.Dirichlet("theta", 0.5, dims=("doc", "topic"), event="topic")
        phi = gp.Dirichlet("phi", 0.5, dims=("topic", "word"), event="word")
        z = gp.Categorical("z", theta[doc], dims="token", event="topic")
        gp.Categorical("w", phi[z], dims="token", event="word", observed=data["word"])
        gp.Deterministic("theta2", gp.sum(gp.sum(theta**2, "topic"), "doc"))
        gp.Deterministic("phi2", gp.sum(gp.sum(phi**2, "word"), "topic"))
    return model
