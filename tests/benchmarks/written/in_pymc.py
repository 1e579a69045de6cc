"""Models in PyMC, sampled by nutpie: NUTS with default settings, four chains on one core."""

from time import process_time

import numpy as np
import nutpie
import pymc as pm

PACKAGES = ("pymc", "nutpie")
WARMUP, CHAINS = 1000, 4
SLOPES_SD = 2.0


def nuts(declare, names, warmup=WARMUP):
    """A workload: what of the data makes a turn; draws of ``names`` alone are kept."""

    def ready(data):
        began = process_time()
        with pm.Model() as model:
            declare(data)
        compiled = nutpie.compile_pymc_model(model, var_names=list(names))
        compiling = process_time() - began
        run = {"chains": CHAINS, "cores": 1, "tune": warmup, "progress_bar": False}
        run["save_warmup"] = False

        def turn(seed, size):
            clock = [process_time()]
            for draws in (1, size):  # (from one seed: what both have in common is the warm-up)
                trace = nutpie.sample(compiled, draws=draws, seed=seed, **run)
                clock.append(process_time())
            first, whole = np.diff(clock)
            return {
                "sampling": max(1e-6, float(whole - first)), "warming": float(first),
                "compiling": compiling,
                "draws": {n: trace.posterior[n].to_numpy() for n in names},
            }  # fmt: skip

        return turn

    return ready


def normal(name, mean, precision, **how):
    return pm.Normal(name, mean, tau=precision, **how)


def eight_schools(d):
    mu, tau = normal("mu", 0, 1e-4), pm.Gamma("tau", 0.5, 12.5)
    unit = pm.Normal("unit", 0, 1, shape=len(d["effect"]))
    theta = pm.Deterministic("theta", mu + tau**-0.5 * unit)
    pm.Normal("y", theta, d["standard_error"], observed=d["effect"])


def rats(d):
    alpha_c, beta_c = normal("alpha.c", 0, 1e-4), normal("beta.c", 0, 1e-4)
    tau_c, tau_a, tau_b = (pm.Gamma(n, 1e-3, 1e-3) for n in ("tau.c", "tau.a", "tau.b"))
    number = len(d["Y"])
    alpha = normal("alpha", alpha_c, tau_a, shape=number)
    beta = normal("beta", beta_c, tau_b, shape=number)
    line = alpha[:, None] + beta[:, None] * (d["x"] - d["x"].mean())
    pm.Normal("y", line, tau=tau_c, observed=d["Y"])
    pm.Deterministic("alpha0", alpha_c - d["x"].mean() * beta_c)
    pm.Deterministic("sigma", tau_c**-0.5)


def pumps(d):
    alpha, beta = pm.Exponential("alpha", 1.0), pm.Gamma("beta", 0.1, 1.0)
    theta = pm.Gamma("theta", alpha, beta, shape=len(d["x"]))
    pm.Poisson("y", theta * d["t"], observed=d["x"])


def logit(d):
    beta = pm.Normal("beta", 0, SLOPES_SD, shape=d["x"].shape[1])
    pm.Bernoulli("y", logit_p=d["x"] @ beta, observed=d["y"])


def regression(d):
    tau, tau_beta = (pm.Gamma(n, 1e-2, 1e-2) for n in ("tau", "tau_beta"))
    beta = normal("beta", 0, tau_beta, shape=d["x"].shape[1])
    pm.Normal("y", normal("intercept", 0, 1e-2) + d["x"] @ beta, tau=tau, observed=d["y"])


REGRESSION = ("intercept", "beta", "tau", "tau_beta")
WORKLOADS = {
    "eight schools": nuts(eight_schools, ("mu", "tau", "theta")),
    "rats_1": nuts(rats, ("alpha0", "beta.c")),
    "rats 5000 x 20": nuts(rats, ("alpha0", "beta.c", "sigma")),
    "pump_1": nuts(pumps, ("theta", "alpha", "beta")),
    "pumps, 100000": nuts(pumps, ("alpha", "beta"), warmup=300),
    "logit 1000 x 10": nuts(logit, ("beta",)),
    "regression 442 x 10": nuts(regression, REGRESSION),
    "regression 10000 x 50": nuts(regression, REGRESSION),
}
