"""Programs of densities by ones and zeros: products of many exponentials, which expand to much."""

import numpy as np

C = 1000
ROWS = 50


def regression(count):
    """A normal regression by the ones trick, with coefficients of so many columns."""
    sums = " + ".join(f"b{k} * x[i, {k}]" for k in range(1, count + 1))
    priors = "\n".join(f"  b{k} ~ dnorm(0, 0.001)" for k in range(count + 1))
    text = f"""model {{
  for (i in 1:N) {{
    ones[i] ~ dbern(p[i])
    p[i] <- sqrt(tau / 6.2831853) * exp(-0.5 * tau * pow(y[i] - mu[i], 2)) / C
    mu[i] <- b0 + {sums}
  }}
{priors}
  tau ~ dgamma(0.01, 0.01)
}}"""
    x, noise = np.random.default_rng(count).normal(size=(2, ROWS, count))
    return text, {"N": ROWS, "C": C, "x": x, "y": x.sum(1) + noise[:, 0], "ones": np.ones(ROWS)}


# A survival model with a cured share, a gamma frailty of each group and two causes of failure, each
# with a baseline of its own, by the zeros trick; what is observed is a product of powers.
CURED = """model {
  for (i in 1:N) {
    zeros[i] ~ dpois(phi[i])
    phi[i] <- -log(L[i]) + C
    L[i] <- pow(f[i], d[i]) * pow(S[i], 1 - d[i])
    eta[i] <- b[1] * x[i, 1] + b[2] * x[i, 2] + b[3] * x[i, 3]
    xi[i] <- g[1] * x[i, 1] + g[2] * x[i, 2]
    H1[i] <- w[group[i]] * pow(t[i], a[1]) * exp(b0[1] + eta[i])
    H2[i] <- w[group[i]] * pow(t[i], a[2]) * exp(b0[2] + xi[i])
    h1[i] <- w[group[i]] * a[1] * pow(t[i], a[1] - 1) * exp(b0[1] + eta[i])
    h2[i] <- w[group[i]] * a[2] * pow(t[i], a[2] - 1) * exp(b0[2] + xi[i])
    logit(cured[i]) <- c[1] + c[2] * x[i, 3]
    h[i] <- h1[i] * equals(k[i], 1) + h2[i] * equals(k[i], 2)
    f[i] <- (1 - cured[i]) * h[i] * exp(-H1[i] - H2[i])
    S[i] <- cured[i] + (1 - cured[i]) * exp(-H1[i] - H2[i])
  }
  for (j in 1:J) {
    w[j] ~ dgamma(theta, theta)
  }
  theta ~ dgamma(2, 1)
  for (m in 1:2) {
    a[m] ~ dgamma(2, 2)
    b0[m] ~ dnorm(0, 0.1)
    c[m] ~ dnorm(0, 0.1)
    g[m] ~ dnorm(0, 0.1)
  }
  for (m in 1:3) {
    b[m] ~ dnorm(0, 0.1)
  }
  hazard.ratio[1] <- exp(b[1])
  hazard.ratio[2] <- exp(b[2])
  median.time <- pow(log(2) / exp(b0[1]), 1 / a[1])
}"""


def cured(rng):
    """Times of two causes, a third of them censored."""
    k = rng.integers(0, 3, ROWS)
    own = {"x": rng.normal(size=(ROWS, 3)), "t": rng.exponential(1.0, ROWS), "k": k}
    group = rng.integers(1, 6, ROWS)
    known = {"N": ROWS, "C": C, "J": 5, "group": group, "d": (k > 0).astype(int)}
    return {**known, **own, "zeros": np.zeros(ROWS, dtype=int)}


# Two tests without a gold standard: the probability of what is seen is a sum of products, with
# covariates of prevalence, sensitivity and specificity, by the ones trick.
TESTS = """model {
  for (i in 1:N) {
    ones[i] ~ dbern(p[i])
    p[i] <- like[i] / C
    like[i] <- ill[i] + well[i]
    ill[i] <- prev[i] * s1[i] * s2[i] * dens1[i]
    well[i] <- (1 - prev[i]) * u1[i] * u2[i] * dens0[i]
    prev[i] <- exp(e[i]) / (1 + exp(e[i]))
    e[i] <- a[1] + a[2] * x[i] + a[3] * z[i] + a[4] * x[i] * z[i]
    s1[i] <- pow(se1[i], y1[i]) * pow(1 - se1[i], 1 - y1[i])
    s2[i] <- pow(se2[i], y2[i]) * pow(1 - se2[i], 1 - y2[i])
    u1[i] <- pow(1 - sp1[i], y1[i]) * pow(sp1[i], 1 - y1[i])
    u2[i] <- pow(1 - sp2[i], y2[i]) * pow(sp2[i], 1 - y2[i])
    se1[i] <- 1 / (1 + exp(-b[1] - b[2] * x[i]))
    se2[i] <- 1 / (1 + exp(-b[3] - b[4] * z[i]))
    sp1[i] <- 1 / (1 + exp(-b[5] - b[6] * x[i]))
    sp2[i] <- 1 / (1 + exp(-b[7] - b[8] * z[i]))
    dens1[i] <- sqrt(tau[1]) * exp(-0.5 * tau[1] * pow(m[i] - mu1[i], 2))
    dens0[i] <- sqrt(tau[2]) * exp(-0.5 * tau[2] * pow(m[i] - mu0[i], 2))
    mu1[i] <- q[1] + q[2] * x[i] + q[3] * z[i]
    mu0[i] <- r[1] + r[2] * x[i] + r[3] * z[i]
  }
  for (k in 1:4) {
    a[k] ~ dnorm(0, 0.4)
  }
  for (k in 1:8) {
    b[k] ~ dnorm(0, 0.4)
  }
  for (k in 1:3) {
    q[k] ~ dnorm(0, 0.1)
    r[k] ~ dnorm(0, 0.1)
  }
  tau[1] ~ dgamma(1, 1)
  tau[2] ~ dgamma(1, 1)
  Se1 <- 1 / (1 + exp(-b[1]))
  Se2 <- 1 / (1 + exp(-b[3]))
}"""


def tests(rng):
    """Two tests and a marker, of persons with two covariates."""
    x, z, m = rng.normal(size=(3, ROWS))
    y1, y2 = rng.integers(0, 2, (2, ROWS))
    return {"N": ROWS, "C": C, "x": x, "z": z, "m": m, "y1": y1, "y2": y2, "ones": np.ones(ROWS)}


TRICKS = {
    **{f"ones_{count}": regression(count) for count in (1, 3, 4, 6)},
    "cured": (CURED, cured(np.random.default_rng(1))),
    "two_tests": (TESTS, tests(np.random.default_rng(2))),
}
