"""How long large BUGS programs take to be read and compiled, and that it grows with the data alone.

    python tests/benchmarks/bugs_size.py [largest number of rows]

CPU seconds for a normal mixture and for a linear mixed model with crossed effects, at sizes that
double, beside those of JAGS where it is installed (its times for the mixed model: up to the size
that takes it a minute).
"""

# Threads and paths are set before what reads them is imported.
# ruff: noqa: E402

import os
import sys
from pathlib import Path
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import jags
import numpy as np

import gibbsppl as gp

MIXTURE = """
model {
  for (i in 1:N) {
    z[i] ~ dcat(p[])
    y[i] ~ dnorm(mu[z[i]], tau)
  }
  for (k in 1:3) { mu[k] ~ dnorm(0, 0.01) }
  p[1:3] ~ ddirch(ones[])
  tau ~ dgamma(1, 1)
}
"""
MIXED = """
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu[i], tau)
    mu[i] <- inprod(X[i,], beta[]) + u[region[i]] + v[person[i]]
  }
  for (k in 1:4) { beta[k] ~ dnorm(0, 0.001) }
  for (j in 1:R) { u[j] ~ dnorm(0, tau.u) }
  for (j in 1:P) { v[j] ~ dnorm(0, tau.v) }
  tau ~ dgamma(0.01, 0.01)
  tau.u ~ dgamma(1, 1)
  tau.v ~ dgamma(1, 1)
}
"""
LONGEST_OF_JAGS = 60.0


def mixture(n, rng):
    """Values around three means."""
    y = rng.choice([-2.0, 0.0, 3.0], n) + rng.normal(size=n)
    return MIXTURE, {"N": n, "y": y, "ones": np.ones(3)}


def mixed(n, rng):
    """Rows with four covariates, effects of regions and of a person for each twenty rows."""
    persons = max(n // 20, 1)
    data = {"N": n, "R": 50, "P": persons, "X": rng.normal(size=(n, 4))}
    data |= {"region": rng.integers(1, 51, n), "person": rng.integers(1, persons + 1, n)}
    return MIXED, {**data, "y": rng.normal(size=n)}


def seconds(text, data):
    """CPU seconds of reading, and of compiling."""
    started = process_time()
    model = gp.read_bugs(text, data)
    read = process_time()
    gp.compile(model)
    return read - started, process_time() - read


def main(arguments):
    """A line for each size."""
    largest = int(arguments[0]) if arguments else 400_000
    rng = np.random.default_rng(1)
    for name, make, sizes in (
        ("mixture", mixture, (5_000, 10_000, 20_000)),
        ("mixed", mixed, (largest // 8, largest // 4, largest // 2, largest)),
    ):
        patient = jags.present()
        for n in sizes:
            text, data = make(n, rng)
            read, compiled = seconds(text, data)
            theirs = float("nan")
            if patient:
                found = jags.run(text, data, {}, ["tau"], draws=1, warmup=0, adapt=0, chains=1)
                theirs, patient = found.compiling, found.compiling < LONGEST_OF_JAGS / 2
            print(
                f"{name:8} {n:8} rows: read {read:6.2f} s, compiled {compiled:6.2f} s; "
                f"JAGS {theirs:6.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
