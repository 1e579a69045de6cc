"""Selection of covariates, exactly: all selections, the weights integrated out."""

from itertools import product

import numpy as np


def means(
    x,
    y,
    columns,
    *,
    inclusion=0.5,
    slab=4.0,
    intercept_precision=1e-2,
    shape=1e-2,
    rate=1e-2,
    tied=False,
):
    """The posterior means of the precision, of each gate, and of each gate times its weight.

    The precision of a weight is ``slab``, or if ``tied`` that many times the noise's.
    """
    n, p = x.shape
    assert np.abs(x.mean(axis=0)).max() < 1e-9
    assert np.abs(y.mean()) < 1e-9
    log_tau = np.linspace(0.2, 1.2, 201)
    tau = np.exp(log_tau)
    slab = np.broadcast_to(slab * tau if tied else slab, tau.shape)[:, None]
    prior = (shape + n / 2) * log_tau - tau * (rate + y @ y / 2)
    prior -= np.log(n * tau + intercept_precision) / 2
    selections = np.array(list(product((False, True), repeat=p)))
    log_density, weight = np.empty((2**p, tau.size)), np.zeros((2**p, tau.size, p))
    for s, chosen in enumerate(selections):
        eigenvalues, vectors = np.linalg.eigh(x[:, chosen].T @ x[:, chosen])
        projected = vectors.T @ x[:, chosen].T @ y
        precision = tau[:, None] * eigenvalues + slab
        gain = (tau[:, None] * projected) ** 2 / precision - np.log(precision / slab)
        odds = chosen.sum() * np.log(inclusion) + (~chosen).sum() * np.log1p(-inclusion)
        log_density[s] = prior + odds + gain.sum(axis=1) / 2
        weight[s][:, chosen] = (tau[:, None] * projected / precision) @ vectors.T
    probability = np.exp(log_density - log_density.max())
    probability /= probability.sum()
    assert probability[:, [0, -1]].sum() < 1e-7
    gates = probability.sum(axis=1) @ selections
    weights = np.einsum("st,stj->j", probability, weight)
    found = {"tau": probability.sum(axis=0) @ tau}
    found |= {f"gate[{c}]": gates[j] for j, c in enumerate(columns)}
    return found | {f"weight[{c}]": weights[j] for j, c in enumerate(columns)}
