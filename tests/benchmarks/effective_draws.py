"""Effective draws per CPU second of small models, compiled, beside JAGS: the same text for both.

``SMALL`` has the models, `turns` measures. Of compiled
loops the time of many draws less that of one is taken, from the same seed, so that starts, warm-up
and what is loaded are left out; of JAGS the time of the draws alone, adaptation and warm-up left
out. The effective size is ArviZ's, in bulk: the smallest of the monitored scalars.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import process_time

import arviz
import jags
import large_models
import numpy as np

import gibbsppl as gp
from models import eight_schools, linear_regression
from models.bugs import CASES

SCHOOLS = """
model {
  for (j in 1:J) {
    y[j] ~ dnorm(theta[j], precision[j])
    theta[j] ~ dnorm(mu, tau)
  }
  mu ~ dnorm(0, 1.0E-4)
  tau ~ dgamma(0.5, 12.5)
  sd <- 1 / sqrt(tau)
}
"""
REGRESSION = """
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu[i], tau)
    mu[i] <- intercept + inprod(x[i,], beta[])
  }
  for (j in 1:P) { beta[j] ~ dnorm(0, tau.beta) }
  intercept ~ dnorm(0, 0.01)
  tau ~ dgamma(0.01, 0.01)
  tau.beta ~ dgamma(0.01, 0.01)
}
"""
GROUPS = """
model {
  for (i in 1:N) { y[i] ~ dnorm(theta[group[i]], tau) }
  for (j in 1:J) { theta[j] ~ dnorm(mu, tau.theta) }
  mu ~ dnorm(0, 1.0E-6)
  tau ~ dgamma(0.001, 0.001)
  tau.theta ~ dgamma(0.001, 0.001)
}
"""


@dataclass(frozen=True, slots=True)
class Small:
    """A text with its data, what is monitored, and how it is run by either side."""

    text: str
    data: Mapping
    inits: Mapping
    monitors: tuple
    settings: Mapping = field(default_factory=dict)  # of gp.compile
    draws: int = 20_000
    of_jags: int = 10_000
    warmup: int = 1000
    adapt: int = 1000
    modules: tuple = ("glm",)

    @property
    def model(self):
        """The model as gibbsppl reads it."""
        return gp.read_bugs(self.text, self.data, monitor=self.monitors)

    def sampler(self):
        """The compiled model."""
        return gp.compile(self.model, **self.settings)


def of_case(name, monitors, **how):
    """An example of the BUGS volumes."""
    case = CASES[name]
    found = jags.read(case.data), jags.read(case.inits), tuple(monitors.split())
    return Small(case.model.read_text(encoding="utf-8"), *found, **how)


def schools(**how):
    """Eight schools, the precision between them from a Gamma."""
    errors = np.array(eight_schools.STANDARD_ERRORS, dtype=float)
    data = {"J": 8, "y": eight_schools.EFFECTS, "precision": errors**-2}
    return Small(SCHOOLS, data, {}, ("mu", "sd", "theta"), draws=100_000, **how)


def regression(**how):
    """Diabetes: 442 patients, ten covariates."""
    x, y = linear_regression.X, linear_regression.Y
    data = {"N": len(y), "P": x.shape[1], "x": x, "y": y}
    monitors = "intercept", "beta", "tau", "tau.beta"
    return Small(REGRESSION, data, {}, monitors, **how)


def groups(size=10_000, each=5, **how):
    """Normal values of many groups, made up."""
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(size), each)
    y = 3 + rng.normal(size=size)[group] + rng.normal(size=size * each)
    data = {"N": len(y), "J": size, "y": y, "group": group + 1}
    monitors = "mu", "tau", "tau.theta"
    return Small(GROUPS, data, {}, monitors, draws=2000, of_jags=1000, warmup=200, **how)


def many_rats():
    """5,000 rats on 20 days, the text that of 30."""
    weights, day = large_models.many_weights()
    data = {"N": len(weights), "T": len(day), "Y": weights, "x": day}
    text = CASES["rats_1"].model.read_text(encoding="utf-8")
    inits = {"tau.c": 1, "tau.alpha": 1, "tau.beta": 1, "alpha.c": 243, "beta.c": 6}
    monitors = "alpha0", "beta.c", "sigma", "tau.alpha", "tau.beta"
    how = {"draws": 5000, "of_jags": 250, "warmup": 100, "adapt": 100}
    return Small(text, data, inits, monitors, APART, **how)


# Settings of gp.compile with which a sweep costs least for what it brings.
APART = {"blocks": False, "interweave": False}
LOOSE = {"blocks": False}
SMALL = {
    "rats": lambda: of_case(
        "rats_1", "alpha0 beta.c sigma tau.alpha tau.beta", draws=50_000, settings=APART
    ),
    "pumps": lambda: of_case(
        "pump_1", "theta alpha beta", draws=50_000, settings={"collapse": ("beta",)}
    ),
    "eight schools": lambda: schools(settings=LOOSE),
    "dyes": lambda: of_case(
        "dyes_1", "theta sigma2.within sigma2.between f.between", draws=100_000, settings=LOOSE
    ),
    "line": lambda: of_case("line_1", "alpha beta sigma", draws=100_000, settings=LOOSE),
    "regression 442 x 10": lambda: regression(settings=APART),
    "asia": lambda: of_case(
        "asia_1", "smoking tuberculosis lung.cancer bronchitis either xray", draws=200_000
    ),
    "one-way normal, 10,000 groups": lambda: groups(settings=LOOSE),
    "seeds": lambda: of_case("seeds_1", "alpha0 alpha1 alpha2 alpha12 sigma", modules=()),
    "rats 5000 x 20": many_rats,
}


def smallest(draws):
    """The smallest bulk effective size of scalars that are not constant."""
    scalars = [x for x in jags.scalars(draws).values() if np.ptp(x)]
    return min(float(arviz.ess(x, method="bulk")) for x in scalars)


def ours(sampler, small, seed):
    """Effective draws per CPU second, start-up left out."""
    run = {"warmup": small.warmup, "chains": 4, "seed": seed, "keep": small.monitors}
    run |= {"backend": "compiled", "progress": False}
    seconds = []
    for count in (4, small.draws):
        began = process_time()
        draws = sampler.sample(count, **run)
        seconds.append(process_time() - began)
    return smallest({m: draws[m] for m in small.monitors}) / (seconds[1] - seconds[0])


def theirs(small, seed):
    """The same of JAGS."""
    found = run_of_jags(small, seed)
    return smallest(found.draws) / found.sampling


def run_of_jags(small, seed):
    """A run of JAGS."""
    run = {"draws": small.of_jags, "warmup": small.warmup, "adapt": small.adapt}
    run |= {"modules": small.modules, "seed": seed}
    return jags.run(small.text, small.data, small.inits, small.monitors, **run)


def turns(name, count):
    """Of each turn effective draws per CPU second: ours and those of JAGS."""
    small = SMALL[name]()
    sampler = small.sampler()
    ours(sampler, replace(small, draws=4), seed=0)  # (what is compiled is loaded)
    for seed in range(1, count + 1):
        yield ours(sampler, small, seed), theirs(small, seed)
