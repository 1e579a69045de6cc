"""Simulated data of the programs of econometrics."""

import numpy as np

from bugs_programs import Field

PROGRAMS = Field("econometrics")


def _columns(*columns):
    return np.column_stack(columns)


def _filtered(errors, start, step):
    """A series of which each value is a function of the one before and of an error."""
    series = [start]
    for error in errors:
        series.append(step(series[-1], error))
    return np.array(series[1:])


@PROGRAMS.program("beta gamma ratio pval")
def heteroskedastic(rng):
    """Food expenditure, the variance of which grows with income as a power of it."""
    n = 60
    income = np.exp(rng.normal(1.0, 0.5, n))
    owner = rng.integers(0, 2, n)
    sd = np.exp(0.5 * (-1.5 + 1.4 * np.log(income)))
    y = 1.0 + 0.6 * income - 0.5 * owner + sd * rng.normal(size=n)
    return {"n": n, "y": y, "inc": income, "owner": owner}


@PROGRAMS.program("phi alpha sigma m y.ahead stationary")
def ar3_gaps(rng):
    """A series by an autoregression of order three, some values of which are missing."""
    series = [1.5, 1.5, 1.5]
    for error in rng.normal(0, 0.7, 140):
        series.append(0.6 + 0.5 * series[-1] + 0.3 * series[-2] - 0.2 * series[-3] + error)
    y = np.array(series[-90:])
    y[[20, 21, 40, 63]] = np.nan
    return {"T": 90, "p": 3, "y": y}


@PROGRAMS.program("mu phi theta sigma f decay")
def arma11(rng):
    """Inflation by an ARMA(1, 1), with forecasts."""
    errors = rng.normal(0, 0.5, 220)
    y = np.full(220, 2.0)
    for t in range(1, 220):
        y[t] = 2.0 + 0.7 * (y[t - 1] - 2.0) + errors[t] + 0.4 * errors[t - 1]
    return {"N": 120, "H": 4, "y": y[100:]}


@PROGRAMS.program("mu omega a b uncond VaR")
def garch11(rng):
    """Daily returns, the conditional variance of which is a GARCH(1, 1)."""
    h, r, returns = 1.0, 0.0, []
    for z in rng.normal(size=400):
        h = 0.25 + 0.35 * r**2 + 0.45 * h
        r = np.sqrt(h) * z
        returns.append(0.1 + r)
    return {"T": 200, "r": returns[-200:]}


@PROGRAMS.program("mu phi sig vol.last beta", thin=4)
def stochastic_volatility(rng):
    """Returns of an exchange rate whose log variance is a latent AR(1)."""
    h = _filtered(rng.normal(size=300), -0.5, lambda x, e: -0.5 + 0.85 * (x + 0.5) + 0.5 * e)
    return {"n": 120, "y": np.exp(0.5 * h[-120:]) * rng.normal(size=120)}


@PROGRAMS.program("sigma.y sd.a sd.b beta.end change above", thin=4)
def moving_beta(rng):
    """The market model of an asset, the intercept and the beta of which move as random walks."""
    n = 100
    market = rng.normal(0, 2.0, n)
    alpha = 0.2 + np.cumsum(rng.normal(0, 0.15, n))
    beta = 0.8 + np.cumsum(rng.normal(0, 0.12, n))
    excess = alpha + beta * market + rng.normal(0, 0.6, n)
    return {"T": n, "z": _columns(excess, market)}


@PROGRAMS.program("a A rho lr irf2 granger")
def var1(rng):
    """Output growth and interest by a vector autoregression of order one."""
    a = np.array([0.5, 0.3])
    A = np.array([[0.5, -0.2], [0.25, 0.6]])
    errors = rng.multivariate_normal([0, 0], [[0.5, 0.15], [0.15, 0.3]], 150)
    y = _filtered(errors, np.array([0.5, 0.9]), lambda x, e: a + A @ x + e)
    return {"N": 80, "R": [[1, 0], [0, 1]], "y": y[-80:]}


@PROGRAMS.program("b1 b2 s rho gap")
def sur(rng):
    """Investment of two firms by seemingly unrelated regressions."""
    n = 40
    value = rng.normal(5, 1.5, (n, 2))
    capital = rng.normal(3, 1.0, (n, 2))
    errors = rng.multivariate_normal([0, 0], [[0.8, 0.45], [0.45, 0.6]], n)
    invest = _columns(
        1.0 + 0.5 * value[:, 0] + 0.3 * capital[:, 0],
        -0.5 + 0.3 * value[:, 1] + 0.7 * capital[:, 1],
    )
    one = np.ones(n)
    return {
        "n": n,
        "X1": _columns(one, value[:, 0], capital[:, 0]),
        "X2": _columns(one, value[:, 1], capital[:, 1]),
        "I": invest + errors,
    }


@PROGRAMS.program(
    "b sigma hours0 me share",
    inits=lambda data: {"ystar": np.where(data["pos"] == 0, -1.0, np.nan)},
)
def tobit(rng):
    """Hours of work of wives, many of which are zero."""
    n = 80
    wage, kids = rng.normal(0, 1, n), rng.integers(0, 3, n)
    star = 1.0 + 1.2 * wage - 0.9 * kids + rng.normal(0, 1.3, n)
    return {
        "n": n,
        "pos": star > 0,
        "ystar": np.where(star > 0, star, np.nan),
        "wage": wage,
        "kids": kids,
    }


@PROGRAMS.program("asc b.cost b.time wtp share.car", inits=lambda data: {"b.cost": -0.1})
def mode_choice(rng):
    """The choice among bus, train and car by cost and time: a conditional logit."""
    n = 120
    cost = rng.uniform(1, 5, (n, 3)) + np.array([0, 1, 2])
    minutes = rng.uniform(2, 8, (n, 3)) - np.array([0, 0.5, 1.5])
    utility = np.array([0, 0.4, 0.9]) - 0.7 * cost - 0.4 * minutes + rng.gumbel(size=(n, 3))
    return {
        "N": n,
        "J": 3,
        "choice": 1 + utility.argmax(1),
        "cost": cost,
        "time": minutes,
    }


@PROGRAMS.program("beta cut pr dpr", inits=lambda data: {"cut0": [-1.0, 0.0, 1.0]})
def ordered_probit(rng):
    """Ratings of bonds in four classes by leverage and size."""
    n = 110
    x = _columns(rng.normal(size=n), rng.normal(size=n))
    star = x @ [-0.9, 0.6] + rng.normal(size=n)
    return {"n": n, "x": x, "rating": 1 + np.searchsorted([-1.0, 0.1, 1.1], star)}


@PROGRAMS.program("mu.a rho beta sd.a sd.e longrun icc")
def dynamic_panel(rng):
    """A panel of firms of unequal lengths: lagged outcome, regressor, random intercepts."""
    firms = 16
    length = rng.integers(5, 10, firms)
    x = rng.normal(size=(firms, 9))
    y = np.full((firms, 9), np.nan)
    for i in range(firms):
        effect = rng.normal(1.0, 0.6)
        y[i, 0] = 2 * effect + rng.normal()
        for t in range(1, length[i]):
            y[i, t] = effect + 0.5 * y[i, t - 1] + 0.8 * x[i, t] + rng.normal(0, 0.5)
    return {"F": firms, "n": length, "x": x, "y": y}


@PROGRAMS.program("g b irr visits")
def hurdle(rng):
    """Visits to the doctor: whether there are any, and how many."""
    n = 100
    x = rng.normal(size=n)
    some = rng.random(n) < 1 / (1 + np.exp(-(0.5 + 0.8 * x)))
    counts = rng.poisson(np.exp(0.9 + 0.4 * x), (200, n))
    positive = counts[(counts > 0).argmax(0), np.arange(n)]
    return {"n": n, "x": x, "y": np.where(some, positive, 0)}


@PROGRAMS.program("alpha beta d rho.uv ols.bias")
def instrument(rng):
    """The return to schooling with two instruments: the reduced form is bivariate normal."""
    n = 120
    z = _columns(rng.normal(size=n), rng.integers(0, 2, n))
    u, v = rng.multivariate_normal([0, 0], [[0.6, 0.5], [0.5, 1.0]], n).T
    school = 1.0 + z @ [0.9, 0.8] + v
    return {"n": n, "Z": z, "W": _columns(school, 0.5 + 0.7 * school + u), "S0": np.eye(2)}


@PROGRAMS.program("mu phi sigma p11 p22 dur.rec last.rec", thin=2)
def markov_switching(rng):
    """Growth of output in recessions and expansions that follow a Markov chain."""
    state, states = 1, []
    for u in rng.random(120):
        state = state if u < (0.8, 0.9)[state] else 1 - state
        states.append(state)
    mean = np.array([-1.5, 1.2])[states]
    y = [mean[0]]
    for t in range(1, 120):
        y.append(mean[t] + 0.3 * (y[-1] - mean[t - 1]) + rng.normal(0, 0.6))
    return {"T": 120, "y": y}


@PROGRAMS.program("k m s2 year delta", thin=2)
def mean_shift(rng):
    """A real interest rate, the mean and the variance of which change at an unknown quarter."""
    y = np.concatenate([rng.normal(1.0, 0.6, 35), rng.normal(2.4, 1.1, 25)])
    return {"N": 60, "y": y}
