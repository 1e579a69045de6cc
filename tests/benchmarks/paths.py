"""Effective draws per CPU second of what slices move one after the other, and of paths instead.

The worst scalar of a chain tells, compiled; two digits are known. Run from the root:
``python tests/benchmarks/paths.py [NAMES]``.
"""

import sys

import numpy as np
from measuring import drawn_in

import gibbsppl as gp
from gibbsppl.output.diagnostics import ess_bulk
from models import bugs, neural_network, posteriordb

DRAWS = 20_000


def of_bugs(name):
    case = bugs.MORE[name]
    return gp.read_bugs(case.model, data=case.data)


def of_posteriordb(name):
    return posteriordb.POSTERIORS[name].model()


def curve(count, noise, shape):
    """Values of a curve with noise, whose parameters are drawn before."""
    rng = np.random.default_rng(5)
    with gp.Model(coords={"i": count}, name="curve") as declared:
        x = gp.Data("x", np.linspace(0.1, 4, count), dims="i")
        mean, at = shape(x)
        known = at(np.linspace(0.1, 4, count)) + noise * rng.standard_normal(count)
        gp.Normal("y", mean, sigma=noise, dims="i", observed=known)
    return declared


def logistic(x):
    a, b, c = (gp.LogNormal(n, 0, sigma=1) for n in "abc")
    return gp.log(a) + gp.expit(b * x - c), lambda x: 0.2 + 1 / (1 + np.exp(2 - 1.5 * x))


def exponentials(x):
    a, b = gp.Gamma("a", 2, rate=1), gp.Gamma("b", 2, rate=1)
    c = gp.Gamma("c", 2, rate=4)
    return gp.exp(-a * x) * gp.exp(gp.exp(-b) - c), lambda x: 0.9 * np.exp(-0.8 * x)


def powers(x):
    a, b, c = gp.Gamma("a", 2, rate=1), gp.Gamma("b", 2, rate=1), gp.Gamma("c", 2, rate=1)
    d = gp.Gamma("d", 2, rate=1)
    return (a * x**b) / (c + d * x**b), lambda x: x**2 / (1 + x**2)


def pair(x):
    a, b = gp.Gamma("a", 2, rate=1), gp.Gamma("b", 2, rate=1)
    return x**a / (b + x**a), lambda x: x**2 / (1 + x**2)


def weak(x):
    """Parameters that the data hardly tie."""
    a, b, c = (gp.Normal(n, 0, sigma=1) for n in "abc")
    return gp.exp(a / 10) + gp.exp(b / 10) * 0.1 * x + gp.expit(c) / 10, lambda x: 1.1 + 0.1 * x


def latent(size, length):
    """A smooth process of which exponentials are seen, with its length."""
    rng, x = np.random.default_rng(5), np.linspace(0, 1, size)
    with gp.Model(coords={"t": size}, name="process") as declared:
        apart = gp.Data("apart", (x[:, None] - x) ** 2, dims=("t", "t'"))
        same = gp.Data("same", np.eye(size), dims=("t", "t'"))
        rho, zero = gp.Gamma("rho", 4, rate=4 / length), gp.Data("zero", 0 * x, dims="t")
        cov = gp.exp(-apart / (2 * rho**2)) + 0.01 * same
        f = gp.MvNormal("f", zero, cov=cov, dims="t", event="t")
        y = np.exp(np.sin(4 * x)) + 0.3 * rng.standard_normal(size)
        gp.Normal("y", gp.exp(f), sigma=0.3, dims="t", observed=y)
    return declared


CASES = {
    "neural network": (neural_network.model, ("weight", "bias")),
    "network of 8": (lambda: neural_network.model(units=8), ("weight", "bias")),
    "fire": (lambda: of_bugs("fire"), ("theta", "alpha", "sigma")),
    "Gaussian process": (lambda: of_posteriordb("gp_pois_regr-gp_regr"), ("rho", "alpha", "sigma")),
    "logistic curve": (lambda: curve(40, 0.1, logistic), ("a", "b", "c")),
    "exponentials": (lambda: curve(40, 0.1, exponentials), ("a", "b", "c")),
    "ratio of powers": (lambda: curve(40, 0.1, powers), ("a", "b", "c", "d")),
    "parameters hardly tied": (lambda: curve(40, 0.1, weak), ("a", "b", "c")),
    "latent process of 10": (lambda: latent(10, 0.3), ("rho", "f")),
    "ring": (lambda: of_bugs("ring"), ("x", "y")),
    "pair of a curve": (lambda: curve(40, 0.1, pair), ("a", "b")),
    "garch": (lambda: of_posteriordb("garch-garch11"), ("mu", "alpha0", "alpha1", "beta1")),
    "otrees": (lambda: of_bugs("otrees"), ("theta",)),
    "bones": (lambda: of_bugs("bones"), ("theta",)),
}


def rate(sampler):
    """Effective draws per CPU second of the worst scalar, CPU microseconds a sweep, and means."""
    run = {"warmup": 1000, "chains": 2, "seed": 1, "progress": False, "backend": "compiled"}
    draws, taken = drawn_in(sampler, DRAWS, run)
    found = {n: np.asarray(draws[n], float) for n in draws}
    effective = {n: ess_bulk(a) for n, a in found.items()}
    worst = min(float(np.nanmin(e)) for e in effective.values())
    means = {
        n: (a.mean(axis=(0, 1)), a.std(axis=(0, 1)) / np.sqrt(effective[n]))
        for n, a in found.items()
    }
    return worst / taken, taken / (2 * DRAWS) * 1e6, means


def apart(one, other):
    """The largest difference of two means, by its Monte Carlo error."""
    with np.errstate(all="ignore"):
        found = [abs(one[n][0] - other[n][0]) / np.hypot(one[n][1], other[n][1]) for n in one]
    return max(float(np.nanmax(f)) for f in found if not np.isnan(f).all())


def main(wanted):
    print(f"{'':24}slices    paths   us a sweep of each   means apart, by their error")
    for name, (declare, names) in CASES.items():
        if wanted and name not in wanted:
            continue
        ways = {"kernels": dict.fromkeys(names, gp.Slice())}, {"kernels": {names: gp.NUTS()}}
        (one, us, own), (other, more, theirs) = (rate(gp.compile(declare(), **w)) for w in ways)
        told = f"{us:10.3g} {more:9.3g} {apart(own, theirs):10.2g}"
        default = [s.kernel for s in gp.compile(declare()).schedule.fallbacks]
        print(f"{name:22}{one:8.2g} {other:8.2g} {told}  {default}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
