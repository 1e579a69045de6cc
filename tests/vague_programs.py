"""Programs of BUGS with vague priors on the scale of an exponential, and data simulated for them.

They have the forms of well-known examples of the volumes, covariates as they were measured: a value
of its prior moves a mean by thousands of orders of magnitude.
"""

import numpy as np

KIDNEY = """
model {  # infections of kidney patients: Weibull times with frailties, censored on the right
  for (i in 1:N) {
    for (j in 1:M) {
      t[i,j] ~ dweib(r, mu[i,j]) I(t.cen[i,j],)
      log(mu[i,j]) <- alpha + beta.age * age[i,j] + beta.sex * sex[i] + beta.dis[disease[i]] + b[i]
    }
    b[i] ~ dnorm(0, tau)
  }
  beta.dis[1] <- 0
  for (k in 2:4) { beta.dis[k] ~ dnorm(0, 1.0E-4) }
  alpha ~ dnorm(0, 1.0E-4); beta.age ~ dnorm(0, 1.0E-4); beta.sex ~ dnorm(0, 1.0E-4)
  tau ~ dgamma(1.0E-3, 1.0E-3)
  r ~ dgamma(1, 1.0E-3)
}"""

SALM = """
model {  # colonies by dose, which is not centred
  for (i in 1:6) {
    for (j in 1:3) {
      y[i,j] ~ dpois(mu[i,j])
      log(mu[i,j]) <- alpha + beta * log(x[i] + 10) + gamma * x[i] + lambda[i,j]
      lambda[i,j] ~ dnorm(0, tau)
    }
  }
  alpha ~ dnorm(0, 1.0E-6); beta ~ dnorm(0, 1.0E-6); gamma ~ dnorm(0, 1.0E-6)
  tau ~ dgamma(1.0E-3, 1.0E-3)
}"""

QUADRATIC = """
model {  # the same counts by a polynomial of the dose
  for (i in 1:6) {
    for (j in 1:3) { y[i,j] ~ dpois(mu[i]) }
    log(mu[i]) <- alpha + beta * x[i] + gamma * x[i] * x[i]
  }
  alpha ~ dnorm(0, 1.0E-6); beta ~ dnorm(0, 1.0E-6); gamma ~ dnorm(0, 1.0E-6)
}"""

ORANGE = """
model {  # growth of orange trees: a logistic curve for each
  for (i in 1:K) {
    for (j in 1:n) {
      Y[i,j] ~ dnorm(eta[i,j], tau.c)
      eta[i,j] <- phi[i,1] / (1 + phi[i,2] * exp(phi[i,3] * x[j]))
    }
    phi[i,1] <- exp(theta[i,1])
    phi[i,2] <- exp(theta[i,2]) - 1
    phi[i,3] <- -exp(theta[i,3])
    for (k in 1:3) { theta[i,k] ~ dnorm(mu[k], tau[k]) }
  }
  for (k in 1:3) { mu[k] ~ dnorm(0, 1.0E-4); tau[k] ~ dgamma(1.0E-3, 1.0E-3) }
  tau.c ~ dgamma(1.0E-3, 1.0E-3)
}"""

SCHOOLS = """
model {  # examination results: normal effects of schools, the log precision linear in the intake
  for (p in 1:N) {
    Y[p] ~ dnorm(mu[p], tau[p])
    mu[p] <- alpha[school[p],1] + alpha[school[p],2] * x[p] + alpha[school[p],3] * VR[p,1]
      + beta[1] * x[p] * x[p] + beta[2] * VR[p,2] + beta[3] * gender[p]
    log(tau[p]) <- theta + phi * x[p]
  }
  for (k in 1:3) { beta[k] ~ dnorm(0, 1.0E-4) }
  theta ~ dnorm(0, 1.0E-4)
  phi ~ dnorm(0, 1.0E-4)
  for (j in 1:M) { alpha[j,1:3] ~ dmnorm(gamma[1:3], T[1:3,1:3]) }
  gamma[1:3] ~ dmnorm(mn[1:3], prec[1:3,1:3])
  T[1:3,1:3] ~ dwish(R[1:3,1:3], 3)
}"""

BIOPS = """
model {  # grades of biopsies, none above the true one
  for (i in 1:ns) {
    nbiops[i] <- sum(biopsies[i,])
    true[i] ~ dcat(p[])
    biopsies[i,1:4] ~ dmulti(error[true[i],], nbiops[i])
  }
  error[1,1] <- 1; error[1,2] <- 0; error[1,3] <- 0; error[1,4] <- 0
  error[2,3] <- 0; error[2,4] <- 0; error[3,4] <- 0
  error[2,1:2] ~ ddirch(prior[1:2])
  error[3,1:3] ~ ddirch(prior[1:3])
  error[4,1:4] ~ ddirch(prior[1:4])
  p[1:4] ~ ddirch(prior[])
}"""

YEARS = """
model {  # counts by the year of our Lord
  for (i in 1:30) { y[i] ~ dpois(mu[i]); log(mu[i]) <- a + b * year[i] }
  a ~ dnorm(0, 1.0E-6)
  b ~ dnorm(0, 1.0E-6)
}"""

WEIBULL = """
model {  # times by a polynomial of the dose; a shape of which nothing is known
  for (i in 1:30) { t[i] ~ dweib(r, mu[i]); log(mu[i]) <- a + b * d[i] + c * d[i] * d[i] }
  a ~ dnorm(0, 1.0E-3); b ~ dnorm(0, 1.0E-3); c ~ dnorm(0, 1.0E-3)
  r ~ dexp(0.001)
}"""

GAMMA = """
model {  # sizes of which the mean is an exponential of a polynomial of the time
  for (i in 1:20) { y[i] ~ dgamma(s, s / mu[i]); mu[i] <- exp(a + b * t[i] + c * t[i] * t[i]) }
  a ~ dnorm(0, 1.0E-4); b ~ dnorm(0, 1.0E-4); c ~ dnorm(0, 1.0E-4)
  s ~ dgamma(0.001, 0.001)
}"""


def kidney(rng):
    """Two times for each of twenty patients, a quarter of them censored."""
    age, sex = rng.integers(10, 70, (20, 2)).astype(float), rng.integers(0, 2, 20)
    disease = np.concatenate([[1, 2, 3, 4], rng.integers(1, 5, 16)])
    log_mu = -4.5 + 0.003 * age - 1.9 * sex[:, None] + rng.normal(0, 0.5, (20, 1))
    log_mu += np.array([0, 0.1, 0.6, -1.2])[disease - 1][:, None]
    t = (rng.exponential(size=(20, 2)) / np.exp(log_mu)) ** (1 / 1.2)
    is_censored = rng.random((20, 2)) < 0.25
    censored = np.where(is_censored, t * rng.random((20, 2)), 0.0)
    seen = {"t": np.ma.array(t, mask=is_censored), "t.cen": censored}
    return {"N": 20, "M": 2, **seen, "age": age, "sex": sex, "disease": disease}


def salm(rng):
    """Three plates at each of six doses."""
    x = np.array([0.0, 10, 33, 100, 333, 1000])
    effect = rng.normal(0, 0.25, (6, 3))
    rate = np.exp((2.2 + 0.31 * np.log(x + 10) - 0.00097 * x)[:, None] + effect)
    return {"x": x, "y": rng.poisson(rate)}


def orange(rng):
    """The girth of five trees at seven ages, in days."""
    x = np.array([118.0, 484, 664, 1004, 1231, 1372, 1582])
    theta = np.array([5.3, 2.1, -5.9]) + rng.normal(0, [0.15, 0.15, 0.1], (5, 3))
    most, ratio, rate = np.exp(theta[:, :1]), np.exp(theta[:, 1:2]) - 1, np.exp(theta[:, 2:])
    girth = most / (1 + ratio * np.exp(-rate * x)) + rng.normal(0, 7, (5, 7))
    return {"K": 5, "n": 7, "x": x, "Y": girth}


def schools(rng):
    """The results of 150 pupils of ten schools, by an intake score of standard deviation 14."""
    school = np.concatenate([np.arange(1, 11), rng.integers(1, 11, 140)])
    x, vr = rng.normal(0, 14, 150).round(2), rng.integers(0, 2, (150, 2))
    gender = rng.integers(0, 2, 150)
    alpha = np.array([-0.3, 0.03, 1.0]) + rng.normal(0, [0.2, 0.01, 0.2], (10, 3))
    mean = (alpha[school - 1] * np.stack([np.ones(150), x, vr[:, 0]], 1)).sum(1)
    noise = rng.normal(size=150) * np.exp(-0.25 + 0.0015 * x)
    y = mean + 0.0003 * x**2 + 0.4 * vr[:, 1] + 0.17 * gender + noise
    seen = {"N": 150, "M": 10, "Y": y, "school": school, "x": x, "VR": vr, "gender": gender}
    return seen | {"mn": np.zeros(3), "prec": 1e-4 * np.eye(3), "R": np.diag([0.1, 0.005, 0.1])}


def biops(rng):
    """One to three biopsies of each of eighty hearts."""
    error = np.array([[1, 0, 0, 0], [0.3, 0.7, 0, 0], [0.1, 0.3, 0.6, 0], [0.05, 0.1, 0.25, 0.6]])
    true, number = rng.choice(4, 80, p=[0.15, 0.3, 0.25, 0.3]), rng.integers(1, 4, 80)
    found = [rng.multinomial(n, error[k]) for n, k in zip(number, true, strict=True)]
    return {"ns": 80, "biopsies": np.array(found), "prior": np.ones(4)}


def years(rng):
    """A count for each of thirty years."""
    year = np.arange(1970.0, 2000)
    return {"year": year, "y": rng.poisson(np.exp(1 + 0.03 * (year - 1985)))}


def weibull(rng):
    """Thirty times, at doses from 10 to 200."""
    d = rng.uniform(10, 200, 30)
    return {"d": d, "t": rng.weibull(1.5, 30) * np.exp(3 + 0.01 * d)}


def growth(rng):
    """Twenty sizes along time."""
    t = np.arange(0.0, 100, 5)
    return {"t": t, "y": 60 * np.exp(-5 * np.exp(-0.08 * t)) + 0.1 + rng.exponential(size=20)}


PROGRAMS = {
    "kidney": (KIDNEY, kidney),
    "salm": (SALM, salm),
    "quadratic": (QUADRATIC, salm),
    "orange": (ORANGE, orange),
    "schools": (SCHOOLS, schools),
    "biops": (BIOPS, biops),
    "years": (YEARS, years),
    "weibull": (WEIBULL, weibull),
    "gamma": (GAMMA, growth),
}
