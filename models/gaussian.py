"""Gaussian: a normal with unknown mean and unknown precision, independent a priori.

    y[i] ~ Normal(mu, tau),   mu ~ Normal(mu_0, tau_0),   tau ~ Gamma(shape, rate)

Neither posterior is in closed form, both conditionals are: the smallest Gibbs sampler with real
work to do. The data are Newcomb's 66 measurements of the speed of light (see ``gaussian_mean.py``).
The model is the first worked in A. E. Gelfand and A. F. M. Smith (1990), "Sampling-based approaches
to calculating marginal densities", Journal of the American Statistical Association 85, 398-409.
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

DEVIATIONS = np.loadtxt(Path(__file__).parent / "data" / "newcomb.csv", skiprows=1)

# Exact to the digits given: quadrature over tau (tests/references/gaussian.py computes it again).
REFERENCE = {
    "mu": (26.207391, 0.0),
    "tau": (0.0086611443, 0.0),
    "sigma": (10.871144, 0.0),
}


def model(y=DEVIATIONS, prior_mean=0, prior_precision=1e-4, shape=1e-3, rate=1e-3):
    """The mean and the precision of the measurements."""
    with gp.Model(coords={"measurement": range(len(y))}) as gaussian:
        mu = gp.Normal("mu", prior_mean, tau=prior_precision)
        tau = gp.Gamma("tau", shape, rate=rate)
        gp.Normal("y", mu, tau=tau, dims="measurement", observed=y)
        gp.Deterministic("sigma", 1 / gp.sqrt(tau))
    return gaussian


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return {name: draws[name] for name in ("mu", "tau", "sigma")}


def readings(y=DEVIATIONS[6:9], draws=2000):
    """The posterior of a few measurements read in three ways: draws, q, modes on two scales."""
    sampler = gp.compile(model(y, shape=2, rate=20))
    drawn = sampler.sample(draws, seed=1, progress=False)
    fit = sampler.variational(seed=1, progress=False)
    best = sampler.maximise(seed=1, progress=False)
    of_log = sampler.maximise(scale="log", seed=1, progress=False)
    return drawn, fit.sample(draws, seed=1), best.values, of_log.values


def plot(path, drawn, averaged, best, of_log):
    """A picture of draws, of draws from q and of both modes, as a file."""
    from matplotlib.figure import Figure  # noqa: PLC0415  (only a picture needs it)

    figure = Figure(figsize=(7.5, 3), dpi=80, layout="constrained")
    draw, mean, mode = figure.subplots(1, 3, sharex=True, sharey=True)
    few = slice(None, 1000)
    for axes, found, title in ((draw, drawn, "by draw"), (mean, averaged, "by mean (q)")):
        axes.plot(found["mu"].ravel()[few], found["tau"].ravel()[few], ".", ms=2, color="C0")
        axes.set_title(title)
    mode.plot(drawn["mu"].ravel()[few], drawn["tau"].ravel()[few], ".", ms=2, color="0.8")
    mode.plot(best["mu"], best["tau"], "o", color="C3", label="of tau")
    mode.plot(of_log["mu"], of_log["tau"], "x", color="C3", label="of log tau")
    mode.set_title("by mode")
    mode.legend(frameon=False)
    draw.set(ylabel="tau", xlim=(0, 50), ylim=(0, 0.05))
    for axes in (draw, mean, mode):
        axes.set(xlabel="mu")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
