"""Models at the sizes of benchmarks, with data that are made up of them.

Each function returns what is declared; those of data return arrays, the same for each seed.
"""

import counts_by_hand
import machine
import markov_by_hand
import numpy as np
from scipy.sparse import coo_array

import gibbsppl as gp
from models import (
    bayesian_matrix_factorisation,
    factorisation_machine,
    gaussian_mixture,
    hidden_markov,
    iris,
    ising,
    lda,
    rats,
)

USERS, ITEMS = 6040, 3706
COUNTS = (6000, 4000)


def ratings(cells=900_000, seed=0):
    """User, item and rating: some users and items have far more of them than others."""
    rng = np.random.default_rng(seed)
    of_user, of_item = rng.pareto(1.2, USERS) + 0.2, rng.pareto(1.0, ITEMS) + 0.1
    user = rng.choice(USERS, 5 * cells, p=of_user / of_user.sum())
    item = rng.choice(ITEMS, 5 * cells, p=of_item / of_item.sum())
    found = rng.permutation(np.unique(user * ITEMS + item))[:cells]
    user, item = np.divmod(np.sort(found), ITEMS)
    left, right = rng.normal(size=(USERS, 8)), rng.normal(size=(ITEMS, 8))
    truth = (left[user] * right[item]).sum(axis=1) / 3
    return user, item, truth + rng.normal(size=len(user)) / 3


def factorisation(found, factors):
    """Bayesian matrix factorisation of such ratings."""
    names = range(USERS), range(ITEMS)
    return bayesian_matrix_factorisation.model(found, names, factors, level=0.0, nu=factors + 1)


def features(rows=90_000):
    """Two ids for each row, its value, and the group of each feature."""
    return machine.ratings(USERS, ITEMS, rows)


ATTRIBUTES = {"age": 7, "occupation": 21, "genre": 18}


def attributes(rows=90_000, seed=2):
    """The same rows; each user also has an age and an occupation, each item a genre."""
    (columns, y, _), rng = features(rows), np.random.default_rng(seed)
    user, item = columns.T
    found = {"user": user, "item": item - USERS, "y": y}
    for name, kinds in ATTRIBUTES.items():
        of = found["item"] if name == "genre" else user
        found[name] = rng.integers(kinds, size=ITEMS if name == "genre" else USERS)
        found["y"] = found["y"] + rng.normal(size=kinds)[found[name]][of]
    return found


def with_attributes(found, factors):
    """A factorisation machine of two ids and what is known of these, five features for a row."""
    user, item = found["user"], found["item"]
    own = [found[name][item if name == "genre" else user] for name in ATTRIBUTES]
    sizes = (USERS, ITEMS, *ATTRIBUTES.values())
    first = np.cumsum((0, *sizes[:-1]))
    columns = np.stack([user, item, *own], axis=1) + first
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return factorisation_machine.model(columns, found["y"], groups, factors=factors, level=0)


def ids(found, factors):
    """A factorisation machine of two ids."""
    return factorisation_machine.model(*found, factors=factors, level=0)


def counts(cells=1_000_000):
    """Where counts are not zero, and these."""
    return counts_by_hand.data(*COUNTS, cells)


def sparse_counts(cells, factors, shape=COUNTS):
    """A factorisation of counts of which most are zero, observed as a sparse array."""
    user, item, count = cells
    table = coo_array((count, (user, item)), shape=shape)
    coords = {"user": range(shape[0]), "item": range(shape[1]), "factor": range(factors)}
    with gp.Model(coords=coords, name="counts") as model:
        theta = gp.Gamma("theta", 0.3, rate=1.0, dims=("user", "factor"))
        phi = gp.Gamma("phi", 0.3, rate=1.0, dims=("item", "factor"))
        rate = gp.sum(theta * phi, "factor")
        gp.Poisson("y", rate, dims=("user", "item"), observed=table)
    return model


def topics(number):
    """The stories of Reuters."""
    return lda.model(topics=number)


def numbers(n=100_000, components=5, seed=1):
    """Values about means that are apart by five standard deviations."""
    rng = np.random.default_rng(seed)
    return 5.0 * rng.integers(components, size=n) + rng.normal(size=n)


def mixture(values, components):
    """A mixture of normal numbers."""
    return gaussian_mixture.model(values, components)


def pairs(n=100_000, components=10, seed=1):
    """Pairs about centres that overlap."""
    rng = np.random.default_rng(seed)
    centres = 5 * rng.normal(size=(components, 2))
    return centres[rng.integers(components, size=n)] + rng.normal(size=(n, 2)), centres


def vectors(n=100_000, components=20, size=10, seed=1):
    """Vectors about centres that are apart by some six standard deviations."""
    rng = np.random.default_rng(seed)
    centres = 1.5 * rng.normal(size=(components, size))
    return centres[rng.integers(components, size=n)] + rng.normal(size=(n, size)), centres


def mixture_of_vectors(values, components):
    """A mixture of normal vectors, each with a precision of its own."""
    size = values.shape[1]
    names, prior_mean = [f"y{j}" for j in range(size)], np.zeros(size)
    return iris.model(values, measurements=names, components=components, prior_mean=prior_mean)


def chain(positions=100_000, states=5):
    """Counts of a hidden Markov chain."""
    return markov_by_hand.made_up(positions, states)


def markov(found, states):
    """The hidden Markov model."""
    return hidden_markov.model(found, states=states)


def spins(size=512, coupling=0.3):
    """The Ising model on a square whose ends meet."""
    return ising.model(size, size, coupling)


def mixed(rows=425_112, groups=20_426, covariates=4, seed=1):
    """A linear mixed model: a level for each group, and coefficients of covariates."""
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(groups, size=rows))
    x = np.column_stack([np.ones(rows), rng.normal(size=(rows, covariates))])
    y = x @ rng.normal(size=covariates + 1) + rng.normal(size=groups)[group]
    y += rng.normal(size=rows)
    coords = {"row": rows, "group": groups, "covariate": covariates + 1}
    with gp.Model(coords=coords, name="mixed") as found:
        of_row = gp.Index("group_of", group, of="group", dims="row")
        design = gp.Data("design", x, dims=("row", "covariate"))
        tau, tau_level = (gp.Gamma(n, 0.01, rate=0.01) for n in ("tau", "tau_level"))
        beta = gp.Normal("beta", 0, tau=1e-4, dims="covariate")
        level = gp.Normal("level", 0, tau=tau_level, dims="group")
        gp.Normal("y", design @ beta + level[of_row], tau=tau, dims="row", observed=y)
    return found


def many_weights(number=5000, days=20, seed=1):
    """Weights of many rats on many days."""
    rng = np.random.default_rng(seed)
    day = np.arange(days) * 7.0 + 8
    level, growth = 243 + 14 * rng.normal(size=number), 6.2 + 0.5 * rng.normal(size=number)
    lines = level[:, None] + growth[:, None] * (day - day.mean())
    return lines + 6 * rng.normal(size=lines.shape), day


def many_rats(number=5000, days=20):
    """Rats: as many growth lines."""
    weights, day = many_weights(number, days)
    return rats.model(weights, day.tolist())


def groups(number, each=5, seed=1):
    """Normal values of groups."""
    rng = np.random.default_rng(seed)
    y = 3 + rng.normal(size=(number, 1)) + rng.normal(size=(number, each))
    with gp.Model(coords={"group": number, "value": each}, name="groups") as found:
        mu = gp.Normal("mu", 0, tau=1e-6)
        tau, tau_theta = (gp.Gamma(n, 0.001, rate=0.001) for n in ("tau", "tau_theta"))
        theta = gp.Normal("theta", mu, tau=tau_theta, dims="group")
        gp.Normal("y", theta, tau=tau, dims=("group", "value"), observed=y)
    return found
