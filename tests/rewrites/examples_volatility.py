"""Small models with normal observations, the logs of whose variances are linear in unknowns."""

import gibbsppl as gp
from rewrites.examples import COVARIATES, GROUPS, MEASURED, masked

RETURNS = [0.3, -1.2, 0.02, 2.5, -0.7, 0.4]


def volatility():
    """A level, an autoregression about it, no return of zero."""
    with gp.Model(coords={"t": 6}) as m:
        mu, tau = gp.Normal("mu", 0, tau=0.5), gp.Gamma("tau", 3, rate=0.5)
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(mu, tau=tau)
        h[1:] = gp.Normal(mu + 0.9 * (h.lag("t") - mu), tau=tau)
        gp.Normal("y", 0, tau=gp.exp(-h), dims="t", observed=RETURNS)
    return m


def volatility_with_a_mean():
    """A mean that is subtracted; the deviation is the exponential of half of the state."""
    with gp.Model(coords={"t": 6}) as m:
        mean = gp.Normal("mean", 0, tau=1)
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(0, tau=1)
        h[1:] = gp.Normal(h.lag("t"), tau=2)
        gp.Normal("y", mean, sigma=gp.exp(h / 2), dims="t", observed=RETURNS)
    return m


def returns_of_which_some_are_zero():
    """Where a return is zero, its log density is linear, and there is no label."""
    with gp.Model(coords={"t": 6}) as m:
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(0, tau=1)
        h[1:] = gp.Normal(h.lag("t"), tau=2)
        y = [0.3, 0.0, 0.02, 2.5, 0.0, 0.4]
        gp.Normal("y", 0, sigma=gp.exp(h / 2), dims="t", observed=y)
    return m


def returns_with_gaps():
    with gp.Model(coords={"t": 6}) as m:
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(0, tau=1)
        h[1:] = gp.Normal(h.lag("t"), tau=2)
        gp.Normal("y", 0.5, tau=gp.exp(-h), dims="t", observed=masked(RETURNS, 1, 3))
    return m


def variances_by_covariates():
    """Coefficients of the log variance, and others of the mean."""
    with gp.Model() as m:
        x = gp.Data("x", COVARIATES, dims=("i", "j"))
        a, b = (gp.Normal(n, 0, tau=1, dims="j") for n in ("a", "b"))
        gp.Normal("y", x @ a, tau=gp.exp(x @ b), dims="i", observed=MEASURED)
    return m


def variances_of_groups():
    """Several observations of each, and a precision besides."""
    with gp.Model(coords={"g": 3}) as m:
        group = gp.Index("group", GROUPS, of="g", dims="i")
        level, tau = gp.Normal("level", 0, tau=1), gp.Gamma("tau", 2, rate=1)
        h = gp.Normal("h", level, tau=2, dims="g")
        gp.Normal("y", 0, tau=tau * gp.exp(-h[group]), dims="i", observed=MEASURED)
    return m


def a_single_variance():
    with gp.Model() as m:
        h = gp.Normal("h", 1, tau=0.5)
        gp.Normal("y", 0.5, tau=gp.exp(-h), observed=2.0)
    return m


VARIANCES = (
    volatility,
    volatility_with_a_mean,
    returns_of_which_some_are_zero,
    returns_with_gaps,
    variances_by_covariates,
    variances_of_groups,
    a_single_variance,
)
