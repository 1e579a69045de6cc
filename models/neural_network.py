"""A Bayesian neural network: lengths of sea cows by age, one hidden layer.

    length[i] ~ Normal(out_bias + expit(x[i, :] @ weight + bias) @ out_weight, tau)
    weight[c, h] ~ Normal(0, tau_weight),   bias[h] ~ Normal(0, tau_bias)
    out_weight[h] ~ Normal(0, tau_out)

``x`` and the lengths are standardised. The precisions of all weights of a layer are unknown: they
decide how much a layer may bend (R. M. Neal, 1996, "Bayesian Learning for Neural Networks"; his
sampler has the scheme of ``WAYS["paths"]``: precisions by Gibbs sampling, given these all weights
together along paths of Hamiltonian dynamics). Hidden units may be exchanged, so that no weight is a
quantity of interest: the curve is, ``curve`` at the ages ``at``. The ages and lengths of 27 dugongs
are from D. A. Ratkowsky (1983), "Nonlinear Regression Modeling", one of the BUGS examples,
volume 2.
"""

import json
from pathlib import Path

import numpy as np

import gibbsppl as gp

DUGONGS = json.loads((Path(__file__).parent / "data" / "dugongs.json").read_text())
AGES, LENGTHS = (np.array(DUGONGS[n], float) for n in ("age", "length"))
AT = (2.0, 10.0, 25.0)
PRIOR, NOISE_PRIOR = (3, 3), (3, 0.3)

# Names of samplers of the same posterior, and what makes them: keyword arguments of gp.compile.
HIDDEN = "weight", "bias"
WAYS = {
    "slices": {},
    "paths of hidden weights": {"kernels": {HIDDEN: gp.NUTS()}},
    "paths": {"kernels": {(*HIDDEN, "out_weight", "out_bias"): gp.NUTS()}},
}

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/neural_network.py), a random walk on the posterior without the output weights.
REFERENCE = {
    "sigma": (0.105262, 0.000077),
    "tau_weight": (0.708692, 0.002223),
    "tau_bias": (0.748236, 0.002534),
    "tau_out": (0.495114, 0.001460),
    "curve[2]": (1.963235, 0.000100),
    "curve[10]": (2.388978, 0.000075),
    "curve[25]": (2.645030, 0.000083),
}


def model(
    x=AGES[:, None],
    y=LENGTHS,
    at=AT,
    units=3,
    prior=PRIOR,
    noise_prior=NOISE_PRIOR,
    precision=1,
):
    """The network of ``units`` hidden units that predicts ``y`` from the columns of ``x``.

    Precisions of weights are ``Gamma(*prior)``, that of the noise ``Gamma(*noise_prior)``, all of
    standardised values; ``at`` are inputs at which the curve is asked for.
    """
    at = np.reshape(at, (-1, x.shape[1]))
    centre, spread, level, scale = x.mean(axis=0), x.std(axis=0), np.mean(y), np.std(y)
    coords = {"animal": len(y), "input": x.shape[1], "unit": units, "row": len(at)}
    with gp.Model(coords=coords) as network:
        inputs = gp.Data("inputs", (x - centre) / spread, dims=("animal", "input"))
        rows = gp.Data("rows", (at - centre) / spread, dims=("row", "input"))
        tau_weight, tau_bias, tau_out = (
            gp.Gamma(name, prior[0], rate=prior[1])
            for name in ("tau_weight", "tau_bias", "tau_out")
        )
        tau = gp.Gamma("tau", noise_prior[0], rate=noise_prior[1])
        weight = gp.Normal("weight", 0, tau=tau_weight, dims=("input", "unit"))
        bias = gp.Normal("bias", 0, tau=tau_bias, dims="unit")
        out_weight = gp.Normal("out_weight", 0, tau=tau_out, dims="unit")
        out_bias = gp.Normal("out_bias", 0, tau=precision)
        mean = out_bias + gp.expit(inputs @ weight + bias) @ out_weight
        gp.Normal("y", mean, tau=tau, dims="animal", observed=(y - level) / scale)
        curve = out_bias + gp.expit(rows @ weight + bias) @ out_weight
        gp.Deterministic("curve", level + scale * curve, dims="row")
        gp.Deterministic("sigma", scale * tau**-0.5)
    return network


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    curve = {f"curve[{a:g}]": draws["curve"][..., n] for n, a in enumerate(AT)}
    return {n: draws[n] for n in ("sigma", "tau_weight", "tau_bias", "tau_out")} | curve
