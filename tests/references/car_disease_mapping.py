"""The map of risks: a random walk of every district by hand; for a normal response, exactly."""

import numpy as np

from references.quadrature import expectations


def run(rng, observed, expected, outdoors, neighbours, draws, *, chains=50, warmup=500, thin=1):
    """Draws of tau (chain, draw), beta and risk (chain, draw, district): chains side by side."""
    y, size, x = np.asarray(observed), np.asarray(expected, float), np.asarray(outdoors) / 10
    n = len(y)
    rank = n - 1  # (the map is connected)
    risk = np.log((y + 0.5) / size) + 0.1 * rng.standard_normal((chains, n))
    beta = 0.1 * rng.standard_normal(chains)
    first = np.array([i for i, near in enumerate(neighbours) for j in near if i < j])
    second = np.array([j for i, near in enumerate(neighbours) for j in near if i < j])
    kept = {"tau": [], "beta": [], "risk": []}
    for sweep in range(-warmup, draws * thin):
        squares = ((risk[:, first] - risk[:, second]) ** 2).sum(axis=1)
        tau = rng.gamma(1 + rank / 2, size=chains) / (1 + squares / 2)
        for i, near in enumerate(neighbours):
            step = rng.standard_normal(chains) * 1.7 / np.sqrt(len(near) * tau + y[i] + 0.5)
            gap = risk[:, i] - risk[:, near].mean(axis=1)
            rate = size[i] * np.exp(risk[:, i] + beta * x[i])
            change = y[i] * step - rate * np.expm1(step)
            change -= tau * len(near) * step * (gap + step / 2)
            risk[:, i] += step * (np.log(rng.random(chains)) < change)
        # The level of all districts, and the slope, with all risks as they are and with the level.
        for _ in range(3):
            move = rng.standard_normal((3, chains)) * np.array([[0.06], [0.05], [0.1]])
            none = np.zeros(chains)
            for level, slope in ((move[0], none), (none, move[1]), (-move[2], move[2])):
                moved = level[:, None] + slope[:, None] * x
                rate = size * np.exp(risk + beta[:, None] * x)
                change = (y * moved - rate * np.expm1(moved)).sum(axis=1)
                change -= ((beta + slope) ** 2 - beta**2) / 2
                accepted = np.log(rng.random(chains)) < change
                risk += (accepted * level)[:, None]
                beta = beta + accepted * slope
        if sweep >= 0 and sweep % thin == 0:
            for name, value in (("tau", tau), ("beta", beta), ("risk", risk)):
                kept[name].append(value.copy())
    found = {name: np.stack(values, axis=1) for name, values in kept.items()}
    return found | {"relative": np.exp(found["risk"] + found["beta"][..., None] * x)}


def normal_means(observed, expected, outdoors, neighbours, districts):
    """Posterior means where log ratios are normal, by quadrature over log tau."""
    y, size, x = np.asarray(observed), np.asarray(expected, float), np.asarray(outdoors) / 10
    n = len(y)
    ratio = np.log((y + 0.5) / size)
    ties = np.zeros((n, n))
    for i, near in enumerate(neighbours):
        ties[i, near] = -1
        ties[i, i] = len(near)
    log_tau = np.linspace(-4, 8, 601)
    tau = np.exp(log_tau)
    X = np.concatenate([np.eye(n), x[:, None]], axis=1)
    prior = np.zeros((len(tau), n + 1, n + 1))
    prior[:, :n, :n] = tau[:, None, None] * ties
    prior[:, n, n] = 1
    Q = prior + X.T @ (size[:, None] * X)
    mean = np.linalg.solve(Q, X.T @ (size * ratio))
    covariance = np.linalg.inv(Q)
    # (a Gamma(1, rate 1) prior on tau, on the scale of its log)
    log_density = (
        (1 + (n - 1) / 2) * log_tau
        - tau
        - np.linalg.slogdet(Q)[1] / 2
        + mean @ (X.T @ (size * ratio)) / 2
    )
    rows = X[list(districts)]
    log_relative = mean @ rows.T + np.einsum("dk,tkl,dl->td", rows, covariance, rows) / 2
    return expectations(
        log_density,
        beta=mean[:, n],
        sd=tau**-0.5,
        **{"mean risk": mean[:, :n].mean(axis=1)},
        **{f"relative[{d + 1}]": np.exp(log_relative[:, k]) for k, d in enumerate(districts)},
    )
