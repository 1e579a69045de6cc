"""Effective draws per CPU second of arrays that a dense normal prior ties: three ways to move them.

Element by element, along an ellipse, and both, with the one that the compiler chooses. The worst
element of a chain tells, compiled; two digits are known. Run from the root:
``python tests/benchmarks/ellipses.py``.
"""


import numpy as np
from measuring import drawn_in

import gibbsppl as gp
from gibbsppl.output.diagnostics import ess_bulk

DRAWS = 10_000


def smooth(size, length):
    x = np.linspace(0, 1, size)
    return np.exp(-((x[:, None] - x) ** 2) / (2 * length**2)) + 1e-6 * np.eye(size)


def alike(size, correlation):
    return (1 - correlation) * np.eye(size) + correlation


def counts(rng, f, truth):
    gp.Poisson("y", gp.exp(f), dims="t", observed=rng.poisson(np.exp(truth)))


def deviations(rng, f, truth):
    sd = np.exp(truth) + 0.1
    gp.Normal("y", 0, sigma=gp.exp(f) + 0.1, dims="t", observed=sd * rng.standard_normal(len(sd)))


def curves(rng, f, truth):
    y = np.exp(truth) + 0.3 * rng.standard_normal(len(truth))
    gp.Normal("y", gp.exp(f), sigma=0.3, dims="t", observed=y)


CASES = {
    "smooth process of 50, counts": (smooth(50, 0.2), counts),
    "smooth process of 50, standard deviations": (smooth(50, 0.2), deviations),
    "smooth process of 50, exp(f)": (smooth(50, 0.2), curves),
    "rougher process of 40, exp(f)": (smooth(40, 0.05), curves),
    "smooth process of 8, exp(f)": (smooth(8, 0.2), curves),
    "40 with correlations 0.3, counts": (alike(40, 0.3), counts),
    "40 with correlations 0.3, exp(f)": (alike(40, 0.3), curves),
    "8 with correlations 0.3, exp(f)": (alike(8, 0.3), curves),
}


def model(cov, observed):
    rng = np.random.default_rng(5)
    truth = np.linalg.cholesky(cov) @ rng.standard_normal(len(cov))
    with gp.Model(coords={"t": len(cov)}, name="process") as declared:
        known = gp.Data("cov", cov, dims=("t", "t'"))
        observed(rng, gp.MvNormal("f", 0, cov=known, dims="t", event="t"), truth)
    return declared


def rate(sampler):
    """Effective draws per CPU second of the worst element, and CPU microseconds a sweep."""
    run = {"warmup": 500, "chains": 2, "seed": 1, "progress": False, "backend": "compiled"}
    draws, taken = drawn_in(sampler, DRAWS, run)
    return float(np.min(ess_bulk(np.asarray(draws["f"])))) / taken, taken / (2 * DRAWS) * 1e6


def main():
    print(f"{'':45}one by one   ellipse      both   us a sweep of each; chosen")
    for name, (cov, observed) in CASES.items():
        declared = model(cov, observed)
        by_element = gp.compile(declared, blocks={"f": "elements"})
        own = gp.Slice() if by_element.schedule.fallbacks else gp.AdaptiveRejection()
        ways = [{"f": gp.EllipticalSlice()}, {"f": gp.Cycle(gp.EllipticalSlice(), own)}]
        others = [gp.compile(declared, kernels=way) for way in ways]
        found = [rate(sampler) for sampler in (by_element, *others)]
        rates = "".join(f"{r:10.1f}" for r, _ in found)
        chosen = ", ".join(s.owner for s in gp.compile(declared).schedule.steps)
        told = ", ".join(f"{t:.1f}" for _, t in found)
        print(f"{name:45}{rates}   {told}; {chosen}", flush=True)


if __name__ == "__main__":
    main()
