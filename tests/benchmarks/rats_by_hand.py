"""The rats model as a complete program written by hand: what ``gibbsppl run models/rats.py`` does.

    python tests/benchmarks/rats_by_hand.py [draws] [warmup] [chains]

It reads the data, draws, and prints means and standard deviations. The sweep is what a good
practitioner would write: sums that depend on data alone are computed once.
"""

import json
import sys
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[2] / "models" / "data" / "rats.json"


def prepare(weights, days):
    """What depends on the data alone."""
    weights, age = np.asarray(weights, float), np.asarray(days, float)
    centred = age - age.mean()
    level = weights.mean(axis=1)
    slope = weights @ centred / (centred @ centred)
    fitted = level[:, None] + slope[:, None] * centred
    return {
        "rats": len(weights),
        "days": len(days),
        "squared_ages": centred @ centred,
        "level": level,
        "slope": slope,
        "residual": ((weights - fitted) ** 2).sum(),
    }


def start(rng, c):
    """A dispersed state."""
    return {
        "mu_a": rng.normal(240, 20),
        "mu_b": rng.normal(6, 2),
        "tau_a": rng.gamma(2) / 400,
        "tau_b": rng.gamma(2) * 4,
        "a": c["level"] + rng.normal(0, 10, c["rats"]),
        "b": c["slope"] + rng.normal(0, 1, c["rats"]),
        "tau": rng.gamma(2) / 50,
    }


def sweep(rng, s, c, mean_precision=1e-4, shape=1e-3, rate=1e-3):
    """Every variable once, from its full conditional; the days are centred, so a and b part."""
    n = c["rats"]
    a, b, tau_a, tau_b = s["a"], s["b"], s["tau_a"], s["tau_b"]
    precision = mean_precision + n * tau_a
    s["mu_a"] = mu_a = tau_a * a.sum() / precision + rng.standard_normal() / precision**0.5
    precision = mean_precision + n * tau_b
    s["mu_b"] = mu_b = tau_b * b.sum() / precision + rng.standard_normal() / precision**0.5
    gap = a - mu_a
    s["tau_a"] = tau_a = rng.standard_gamma(shape + n / 2) / (rate + gap @ gap / 2)
    gap = b - mu_b
    s["tau_b"] = tau_b = rng.standard_gamma(shape + n / 2) / (rate + gap @ gap / 2)
    tau = s["tau"]
    precision = tau_a + c["days"] * tau
    mean = (tau_a * mu_a + c["days"] * tau * c["level"]) / precision
    s["a"] = a = mean + rng.standard_normal(n) / precision**0.5
    precision = tau_b + c["squared_ages"] * tau
    mean = (tau_b * mu_b + c["squared_ages"] * tau * c["slope"]) / precision
    s["b"] = b = mean + rng.standard_normal(n) / precision**0.5
    gap_a, gap_b = a - c["level"], b - c["slope"]
    squares = c["residual"] + c["days"] * (gap_a @ gap_a) + c["squared_ages"] * (gap_b @ gap_b)
    s["tau"] = rng.standard_gamma(shape + n * c["days"] / 2) / (rate + squares / 2)


def run(draws, warmup, chains, seed=1):
    """All draws, name to array over (chain, draw, ...)."""
    data = json.loads(DATA.read_text())
    c = prepare(data["weights"], data["days"])
    kept = None
    for chain, child in enumerate(np.random.SeedSequence(seed).spawn(chains)):
        rng = np.random.default_rng(child)
        s = start(rng, c)
        kept = kept or {k: np.empty((chains, draws, *np.shape(v))) for k, v in s.items()}
        for _ in range(warmup):
            sweep(rng, s, c)
        for draw in range(draws):
            sweep(rng, s, c)
            for name, values in kept.items():
                values[chain, draw] = s[name]
    return kept


def main(draws=1000, warmup=500, chains=4):
    """Draw and print a summary."""
    kept = run(draws, warmup, chains)
    kept["alpha0"] = kept["mu_a"] - 22 * kept["mu_b"]
    for name, values in kept.items():
        flat = values.reshape(draws * chains, -1)
        for i, (mean, sd) in enumerate(zip(flat.mean(axis=0), flat.std(axis=0), strict=True)):
            label = f"{name}[{i}]" if flat.shape[1] > 1 else name
            print(f"{label:10} {mean:12.5g} {sd:12.5g}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
