"""Programs as BUGS is used: small ones of each kind, read, proved, and run for some sweeps.

What a program may need beyond exact draws is said beside it; anything else that has no exact draw
is a failure.
"""

import numpy as np
import pytest

import gibbsppl as gp

RNG = np.random.default_rng(0)
X = RNG.standard_normal(6)
DESIGN = RNG.standard_normal((6, 3))
REAL = RNG.standard_normal(8)
TWICE = RNG.integers(0, 5, (4, 3))
SEEN = RNG.integers(0, 2, (10, 3))
CAUGHT = np.array([[1, 0, 1, 0, 0], [0, 1, 1, 0, 1], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0]])
DISASTERS = [4, 5, 4, 1, 0, 4, 3, 1, 0, 1, 0, 0]

# The text, the data, and the variables that are moved by a slice sampler.
IDIOMS = {}


def idiom(name, text, *moved, **data):
    IDIOMS[name] = (text, data, set(moved))


# ---- regressions -----------------------------------------------------------------------------

idiom(
    "robust regression",
    """
    model {
      for (i in 1:N) { y[i] ~ dt(mu[i], tau, nu); mu[i] <- a + b * (x[i] - mean(x[])) }
      a ~ dnorm(0, 0.001)
      b ~ dnorm(0, 0.001)
      tau ~ dgamma(0.001, 0.001)
      nu ~ dunif(2, 50)
    }
    """,
    "nu", N=6, y=REAL[:6], x=X,
)  # fmt: skip
idiom(
    "seemingly unrelated regressions",
    """
    model {
      for (i in 1:N) {
        mu[i, 1] <- b[1] + b[2] * x[i]
        mu[i, 2] <- inprod(X[i, ], c[])
        mu[i, 3] <- d
        y[i, 1:3] ~ dmnorm(mu[i, ], Omega[, ])
      }
      for (j in 1:2) { b[j] ~ dnorm(0, 0.01) }
      c[1:3] ~ dmnorm(zero[], R[, ])
      d ~ dnorm(0, 0.01)
      Omega[1:3, 1:3] ~ dwish(R[, ], 4)
    }
    """,
    N=6, x=X, X=DESIGN, y=np.cos(DESIGN * 5), zero=np.zeros(3), R=np.eye(3),
)  # fmt: skip
idiom(
    "indicators of predictors",
    """
    model {
      for (i in 1:N) { y[i] ~ dnorm(mu[i], tau); mu[i] <- inprod(X[i, ], theta[]) }
      for (j in 1:J) { g[j] ~ dbern(0.5); b[j] ~ dnorm(0, 1); theta[j] <- g[j] * b[j] }
      tau ~ dgamma(1, 1)
    }
    """,
    N=6, J=3, X=DESIGN, y=REAL[:6],
)  # fmt: skip
idiom(
    "lasso",
    """
    model {
      for (i in 1:N) { y[i] ~ dnorm(inprod(X[i, ], b[]), tau) }
      for (j in 1:J) { b[j] ~ ddexp(0, lambda) }
      lambda ~ dunif(0.001, 10)
      tau ~ dgamma(0.1, 0.1)
    }
    """,
    N=6, J=3, X=DESIGN, y=REAL[:6],
)  # fmt: skip
idiom(
    "horseshoe",
    """
    model {
      for (i in 1:N) { y[i] ~ dnorm(inprod(X[i, ], b[]), tau) }
      for (j in 1:J) {
        b[j] ~ dnorm(0, 1 / (pow(lambda[j], 2) * pow(t, 2)))
        lambda[j] ~ dt(0, 1, 1) T(0, )
      }
      t ~ dt(0, 1, 1) T(0, )
      tau ~ dgamma(0.1, 0.1)
    }
    """,
    N=6, J=3, X=DESIGN, y=REAL[:6],
)  # fmt: skip
idiom(
    "multinomial logit",
    """
    model {
      for (i in 1:N) {
        y[i] ~ dcat(p[i, 1:K])
        for (k in 1:K) {
          p[i, k] <- phi[i, k] / sum(phi[i, 1:K])
          log(phi[i, k]) <- a[k] + b[k] * x[i]
        }
      }
      a[1] <- 0
      b[1] <- 0
      for (k in 2:K) { a[k] ~ dnorm(0, 0.1); b[k] ~ dnorm(0, 0.1) }
    }
    """,
    N=6, K=3, y=[1, 2, 3, 1, 2, 3], x=X,
)  # fmt: skip
idiom(
    "ordered logit by differences",
    """
    model {
      for (i in 1:N) {
        y[i] ~ dcat(p[i, ])
        p[i, 1] <- 1 - Q[i, 1]
        for (j in 2:3) { p[i, j] <- Q[i, j - 1] - Q[i, j] }
        p[i, 4] <- Q[i, 3]
        for (j in 1:3) { logit(Q[i, j]) <- b * x[i] - cut[j] }
      }
      b ~ dnorm(0, 0.1)
    }
    """,
    N=6, y=[1, 2, 3, 4, 2, 3], x=X, cut=[-1.0, 0.0, 1.0],
)  # fmt: skip
idiom(
    "counts with a gamma of their own",
    """
    model {
      for (i in 1:N) {
        y[i] ~ dnegbin(p[i], r)
        p[i] <- r / (r + mu[i])
        log(mu[i]) <- a + b * x[i]
      }
      r ~ dgamma(0.01, 0.01)
      a ~ dnorm(0, 0.01)
      b ~ dnorm(0, 0.01)
    }
    """,
    "r", N=6, y=[0, 1, 5, 3, 2, 9], x=X,
)  # fmt: skip
idiom(
    "missing predictors",
    """
    model {
      for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], tau); x[i] ~ dnorm(m, t) }
      a ~ dnorm(0, 0.01)
      b ~ dnorm(0, 0.01)
      tau ~ dgamma(0.1, 0.1)
      m ~ dnorm(0, 0.01)
      t ~ dgamma(0.1, 0.1)
    }
    """,
    N=5, y=REAL[:5], x=np.ma.masked_invalid([1.0, np.nan, 2.0, 3.0, np.nan]),
)  # fmt: skip
idiom(
    "names of arrays alone",
    """
    model {
      b ~ dmnorm(zero, Om)
      for (i in 1:N) { y[i] ~ dnorm(inprod(X[i, ], b), 1) }
      total <- sum(b) + mean(zero) + max(b)
    }
    """,
    N=6, X=DESIGN, y=REAL[:6], zero=[0.0, 0.0, 0.0], Om=np.eye(3),
)  # fmt: skip

# ---- hierarchies -----------------------------------------------------------------------------

idiom(
    "trials in pairs",
    """
    model {
      for (i in 1:N) {
        rc[i] ~ dbin(pc[i], nc[i])
        rt[i] ~ dbin(pt[i], nt[i])
        logit(pc[i]) <- mu[i]
        logit(pt[i]) <- mu[i] + delta[i]
        mu[i] ~ dnorm(0, 1.0E-5)
        delta[i] ~ dnorm(d, tau)
      }
      d ~ dnorm(0, 1.0E-6)
      tau ~ dgamma(0.001, 0.001)
      delta.new ~ dnorm(d, tau)
      sigma <- 1 / sqrt(tau)
    }
    """,
    N=3, rc=[3, 14, 11], nc=[39, 116, 93], rt=[3, 7, 5], nt=[38, 114, 69],
)  # fmt: skip
idiom(
    "slopes with a Wishart",
    """
    model {
      for (i in 1:N) {
        for (j in 1:T) { Y[i, j] ~ dnorm(mu[i, j], tau); mu[i, j] <- b[i, 1] + b[i, 2] * x[j] }
        b[i, 1:2] ~ dmnorm(m[], R[, ])
      }
      m[1:2] ~ dmnorm(m0[], P[, ])
      R[1:2, 1:2] ~ dwish(Om[, ], 2)
      tau ~ dgamma(0.001, 0.001)
      s <- 1 / sqrt(tau)
    }
    """,
    N=4, T=3, Y=TWICE * 1.0, x=[1.0, 2.0, 3.0], m0=[0.0, 0.0], P=np.eye(2) * 1e-4, Om=np.eye(2),
)  # fmt: skip
idiom(
    "a scale in two factors",
    """
    model {
      for (j in 1:J) {
        y[j] ~ dnorm(theta[j], precision[j])
        theta[j] <- mu + xi * eta[j]
        eta[j] ~ dnorm(0, tau)
      }
      mu ~ dnorm(0, 1.0E-4)
      xi ~ dnorm(0, 0.0016)
      tau ~ dgamma(0.5, 0.5)
      sigma <- abs(xi) / sqrt(tau)
    }
    """,
    J=4, y=[28.0, 8.0, -3.0, 7.0], precision=[0.01, 0.01, 0.004, 0.008],
)  # fmt: skip
idiom(
    "item response",
    """
    model {
      for (i in 1:N) {
        theta[i] ~ dnorm(0, 1)
        for (j in 1:J) { y[i, j] ~ dbern(p[i, j]); logit(p[i, j]) <- a[j] * (theta[i] - b[j]) }
      }
      for (j in 1:J) { a[j] ~ dnorm(0, 1) T(0, ); b[j] ~ dnorm(0, 1) }
    }
    """,
    N=10, J=3, y=SEEN,
)  # fmt: skip
idiom(
    "regions",
    """
    model {
      for (i in 1:N) { O[i] ~ dpois(mu[i]); log(mu[i]) <- log(E[i]) + a0 + b[i] }
      b[1:N] ~ car.normal(adj[], w[], num[], tau)
      a0 ~ dflat()
      tau ~ dgamma(0.5, 0.0005)
    }
    """,
    N=4, O=[1, 2, 3, 4], E=[1.0, 1.0, 2.0, 2.0],
    adj=[2, 1, 3, 2, 4, 3], w=[1] * 6, num=[1, 2, 2, 1],
)  # fmt: skip
idiom(
    "survival with censoring",
    """
    model {
      for (i in 1:N) { t[i] ~ dweib(r, mu[i]) I(c[i], ); mu[i] <- exp(b0 + b1 * x[i]) }
      r ~ dexp(0.001)
      b0 ~ dnorm(0, 0.01)
      b1 ~ dnorm(0, 0.01)
      median <- pow(log(2) * exp(-b0), 1 / r)
    }
    """,
    N=4, t=np.ma.masked_invalid([1.0, np.nan, 2.0, 3.0]), c=[0, 2, 0, 0], x=[0, 1, 0, 1],
)  # fmt: skip
idiom(
    "censored counts",
    """
    model {
      rate ~ dgamma(1, 1)
      for (i in 1:N) { n[i] ~ dpois(rate); above[i] ~ dinterval(n[i], c[i]) }
    }
    """,
    N=3, n=np.ma.masked_invalid([2, np.nan, 4]), c=[0, 8, 2], above=[1, 1, 1],
)  # fmt: skip

# ---- labels ----------------------------------------------------------------------------------

idiom(
    "change point",
    """
    model {
      for (t in 1:N) {
        D[t] ~ dpois(mu[t])
        J[t] <- 1 + step(t - change - 0.5)
        log(mu[t]) <- b[J[t]]
      }
      for (j in 1:2) { b[j] ~ dnorm(0, 0.01) }
      change ~ dcat(p[])
    }
    """,
    N=12, D=DISASTERS, p=[1 / 12] * 12,
)  # fmt: skip
idiom(
    "change point on the line",
    """
    model {
      for (t in 1:N) { D[t] ~ dpois(mu[t]); log(mu[t]) <- b[1] + step(t - change) * b[2] }
      for (j in 1:2) { b[j] ~ dnorm(0, 1.0E-6) }
      change ~ dunif(1, N)
    }
    """,
    "change", N=12, D=DISASTERS,
)  # fmt: skip
idiom(
    "choice of a model",
    """
    model {
      M ~ dcat(p[])
      for (i in 1:N) { y[i] ~ dnorm(mu[i, M], 1); mu[i, 1] <- a; mu[i, 2] <- a + b * x[i] }
      a ~ dnorm(0, 0.1)
      b ~ dnorm(0, 0.1)
    }
    """,
    N=6, y=REAL[:6], x=X, p=[0.5, 0.5],
)  # fmt: skip
idiom(
    "mixture in order",
    """
    model {
      for (i in 1:N) { y[i] ~ dnorm(mu[z[i]], tau); z[i] ~ dcat(P[]) }
      P[1] <- w
      P[2] <- 1 - w
      w ~ dunif(0, 1)
      mu[1] ~ dnorm(0, 0.01)
      mu[2] <- mu[1] + theta
      theta ~ dunif(0, 100)
      tau ~ dgamma(1, 1)
    }
    """,
    N=8, y=REAL,
)  # fmt: skip
idiom(
    "sticks",
    """
    model {
      for (i in 1:N) { z[i] ~ dcat(p[]); y[i] ~ dnorm(mu[z[i]], tau) }
      for (h in 1:H) { mu[h] ~ dnorm(0, 0.1) }
      for (h in 1:(H - 1)) { V[h] ~ dbeta(1, alpha) }
      V[H] <- 1
      p[1] <- V[1]
      for (h in 2:H) { p[h] <- V[h] * prod(left[1:(h - 1)]) }
      for (h in 1:H) { left[h] <- 1 - V[h] }
      alpha ~ dgamma(1, 1)
      tau ~ dgamma(1, 1)
    }
    """,
    N=8, H=4, y=REAL,
)  # fmt: skip
idiom(
    "classes",
    """
    model {
      pi[1:2] ~ ddirch(a[])
      for (i in 1:N) { c[i] ~ dcat(pi[]); for (j in 1:J) { y[i, j] ~ dbern(theta[c[i], j]) } }
      for (k in 1:2) { for (j in 1:J) { theta[k, j] ~ dbeta(1, 1) } }
    }
    """,
    N=10, J=3, a=[1, 1], y=SEEN,
)  # fmt: skip
idiom(
    "hidden labels in time",
    """
    model {
      z[1] ~ dcat(first[])
      for (t in 2:T) { z[t] ~ dcat(G[z[t - 1], ]) }
      for (t in 1:T) { y[t] ~ dnorm(mu[z[t]], 1) }
      for (k in 1:2) { G[k, 1:2] ~ ddirch(a[]); mu[k] ~ dnorm(0, 0.1) }
    }
    """,
    T=8, y=REAL, first=[0.5, 0.5], a=[1, 1],
)  # fmt: skip
idiom(
    "hidden switch in time",
    """
    model {
      z[1] ~ dbern(0.5)
      for (t in 2:T) { z[t] ~ dbern(g[t]); g[t] <- z[t - 1] * stay + (1 - z[t - 1]) * come }
      for (t in 1:T) { y[t] ~ dnorm(mu[z[t] + 1], 1) }
      stay ~ dbeta(1, 1)
      come ~ dbeta(1, 1)
      for (k in 1:2) { mu[k] ~ dnorm(0, 0.1) }
    }
    """,
    T=8, y=REAL,
)  # fmt: skip

# ---- what is there, and seen or not ----------------------------------------------------------

idiom(
    "zero inflation",
    """
    model {
      psi ~ dunif(0, 1)
      lambda ~ dgamma(1, 1)
      for (i in 1:N) { w[i] ~ dbern(psi); y[i] ~ dpois(w[i] * lambda) }
    }
    """,
    N=8, y=[0, 0, 3, 4, 0, 2, 0, 5],
)  # fmt: skip
idiom(
    "occupancy",
    """
    model {
      a ~ dnorm(0, 0.1)
      b ~ dnorm(0, 0.1)
      p ~ dunif(0, 1)
      for (i in 1:R) {
        z[i] ~ dbern(psi[i])
        logit(psi[i]) <- a + b * x[i]
        for (j in 1:T) { y[i, j] ~ dbern(z[i] * p) }
      }
      occupied <- sum(z[1:R])
    }
    """,
    R=6, T=3, x=X, y=SEEN[:6],
)  # fmt: skip
idiom(
    "capture with zeros added",
    """
    model {
      omega ~ dunif(0, 1)
      p ~ dunif(0, 1)
      for (i in 1:M) { z[i] ~ dbern(omega); for (j in 1:T) { y[i, j] ~ dbern(z[i] * p) } }
      N <- sum(z[])
    }
    """,
    M=12, T=3, y=np.r_[SEEN[:6], np.zeros((6, 3), int)],
)  # fmt: skip
idiom(
    "capture and survival",
    """
    model {
      phi ~ dunif(0, 1)
      p ~ dunif(0, 1)
      for (i in 1:n) {
        z[i, f[i]] <- 1
        for (t in (f[i] + 1):T) {
          z[i, t] ~ dbern(phi * z[i, t - 1])
          y[i, t] ~ dbern(p * z[i, t])
        }
      }
    }
    """,
    n=4, T=5, f=[1, 2, 1, 3], y=CAUGHT,
)  # fmt: skip
idiom(
    "abundance from repeated counts",
    """
    model {
      a ~ dnorm(0, 0.01)
      b ~ dnorm(0, 0.01)
      p ~ dunif(0, 1)
      for (i in 1:R) {
        N[i] ~ dpois(lambda[i])
        log(lambda[i]) <- a + b * x[i]
        for (t in 1:T) { y[i, t] ~ dbin(p, N[i]) }
      }
      total <- sum(N[])
    }
    """,
    "N[i]", R=4, T=3, y=TWICE, x=X[:4],
)  # fmt: skip

# ---- time and space --------------------------------------------------------------------------

idiom(
    "autoregression",
    """
    model {
      x[1] ~ dnorm(0, 1)
      for (t in 2:T) { x[t] ~ dnorm(rho * x[t - 1], tau) }
      for (t in 1:T) { y[t] ~ dnorm(x[t], 4) }
      rho ~ dunif(-1, 1)
      tau ~ dgamma(1, 1)
    }
    """,
    T=8, y=REAL,
)  # fmt: skip
idiom(
    "volatility",
    """
    model {
      h[1] ~ dnorm(mu, tau)
      for (t in 2:T) { h[t] ~ dnorm(mu + phi * (h[t - 1] - mu), tau) }
      for (t in 1:T) { y[t] ~ dnorm(0, exp(-h[t])) }
      mu ~ dnorm(0, 0.1)
      p ~ dbeta(20, 1.5)
      phi <- 2 * p - 1
      tau ~ dgamma(2.5, 0.025)
    }
    """,
    T=8, y=REAL,
)  # fmt: skip
idiom(
    "Gaussian process",
    """
    model {
      y[1:N] ~ dmnorm(mu[], Om[, ])
      for (i in 1:N) {
        mu[i] <- m
        for (j in 1:N) { S[i, j] <- s2 * exp(-phi * d[i, j]) + equals(i, j) * t2 }
      }
      Om[1:N, 1:N] <- inverse(S[, ])
      m ~ dnorm(0, 0.01)
      s2 ~ dunif(0.1, 10)
      phi ~ dunif(0.1, 5)
      t2 ~ dunif(0.1, 5)
    }
    """,
    "s2", "phi", "t2",
    N=4, y=REAL[:4], d=abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))),
)  # fmt: skip

# ---- tricks ----------------------------------------------------------------------------------

idiom(
    "zeros",
    """
    data { for (i in 1:N) { zeros[i] <- 0 } }
    model {
      for (i in 1:N) { phi[i] <- -log(rate) + rate * y[i] + 10000; zeros[i] ~ dpois(phi[i]) }
      rate ~ dgamma(1, 1)
    }
    """,
    "rate", N=4, y=[1.0, 2.0, 0.5, 1.0],
)  # fmt: skip
idiom(
    "ones",
    """
    data { for (i in 1:N) { ones[i] <- 1 } }
    model {
      for (i in 1:N) { p[i] <- rate * exp(-rate * y[i]) / 100; ones[i] ~ dbern(p[i]) }
      rate ~ dunif(0, 50)
    }
    """,
    "rate", N=4, y=[1.0, 2.0, 0.5, 1.0],
)  # fmt: skip
idiom(
    "data that are simulated to be compared",
    """
    model {
      for (i in 1:N) {
        y[i] ~ dpois(rate)
        again[i] ~ dpois(rate)
        d[i] <- pow(y[i] - rate, 2) / rate
        e[i] <- pow(again[i] - rate, 2) / rate
      }
      rate ~ dgamma(1, 1)
      p <- step(sum(e[]) - sum(d[]))
    }
    """,
    N=5, y=[1, 2, 3, 4, 5],
)  # fmt: skip


@pytest.mark.parametrize("name", IDIOMS)
def test_programs_as_they_are_written_run_with_exact_draws(name):
    text, data, moved = IDIOMS[name]
    sampler = gp.compile(gp.read_bugs(text, data))
    told = str(sampler).splitlines()
    found = {t.split()[1] for t in told if t.startswith("  fallback: ")}
    assert found == moved
    assert sampler.verify().proved
    draws = sampler.sample(20, chains=1, warmup=20, seed=1, progress=False)
    latent = {s.target.array.name for s in sampler.graph.latent}
    assert all(np.isfinite(draws[n]).all() for n in latent & set(draws))
