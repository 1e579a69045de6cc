"""Simulated data of the programs of ecology."""

import numpy as np

from bugs_programs import Field

PROGRAMS = Field("ecology")


def expit(x):
    return 1 / (1 + np.exp(-x))


def first_of(histories):
    """The position, counted from 1, of the first capture in each row."""
    return histories.argmax(1) + 1


def missing_where(condition, values):
    return np.where(condition, np.nan, values)


@PROGRAMS.program("lambda p", inits=lambda data: {"N": data["y"].max(1)}, thin=10)
def n_mixture(rng):
    """Repeated counts at sites, some animals of which are not seen."""
    abundance = rng.poisson(5.0, 30)
    return {"R": 30, "T": 5, "y": rng.binomial(abundance[:, None], 0.6, (30, 5))}


@PROGRAMS.program(
    "alpha.psi beta.psi beta2.psi alpha.p beta.p n.occ psi.mean p.mean",
    inits=lambda data: {"z": data["y"].filled(0).max(1)},
)
def occupancy_covariates(rng):
    """Detections at sites that are occupied or not, by forest cover, wind and hour."""
    n, most = 80, 4
    visits = rng.integers(2, most + 1, n)
    none = np.arange(most) >= visits[:, None]
    forest, wind, hour = rng.normal(size=n), rng.normal(size=(n, most)), rng.normal(size=(n, most))
    z = rng.binomial(1, expit(0.7 + 1.2 * forest - 0.6 * forest**2))
    p = expit(0.6 - 0.8 * wind + 0.4 * hour)
    y = rng.binomial(1, z[:, None] * p)
    return {
        "nsite": n,
        "nvisit": visits,
        "forest": forest.round(2),
        "wind": missing_where(none, wind.round(2)),
        "hour": missing_where(none, hour.round(2)),
        "y": missing_where(none, y),
    }


@PROGRAMS.program(
    "psi1 mu.phi sd.eps g p psi.end growth.mean turnover.mean n.end",
    inits=lambda data: {"z": np.ones(data["y"].shape)},
    thin=3,
)
def dynamic_occupancy(rng):
    """Sites are lost and colonised from year to year."""
    sites, years, visits = 50, 8, 4
    phi = expit(1.4 + 0.8 * rng.normal(size=years - 1))
    z = np.zeros((sites, years), int)
    z[:, 0] = rng.binomial(1, 0.6, sites)
    for k in range(1, years):
        z[:, k] = rng.binomial(1, np.where(z[:, k - 1], phi[k - 1], 0.25))
    y = rng.binomial(visits, 0.5 * z)
    return {"nsite": sites, "nyear": years, "J": visits, "y": y}


def alive_where_unseen(data):
    """Starts of states: alive up to the last capture, then dead, where states are not data."""
    f = data["f"].astype(int)
    z = np.zeros(data["y"].shape)
    known = ~np.ma.getmaskarray(data["z"])
    later = np.arange(z.shape[1]) >= f[:, None]
    return {"z": missing_where(known | ~later, z)}


@PROGRAMS.program("phi.sex p.time difference female.better life", inits=alive_where_unseen)
def cjs_states(rng):
    """Survival by sex and recapture by occasion, of states alive and dead."""
    n, occasions = 70, 6
    sex = rng.integers(1, 3, n)
    marked = rng.integers(1, occasions, n)
    y = np.zeros((n, occasions), int)
    z = np.full((n, occasions), np.nan)
    p = np.array([0.6, 0.75, 0.5, 0.7, 0.6])
    for i in range(n):
        y[i, marked[i] - 1] = alive = 1
        for t in range(marked[i], occasions):
            alive = rng.binomial(1, alive * (0.8, 0.6)[sex[i] - 1])
            y[i, t] = rng.binomial(1, alive * p[t - 1])
        last = np.nonzero(y[i])[0][-1]
        z[i, marked[i] : last + 1] = 1
    return {"nind": n, "n.occasions": occasions, "sex": sex, "f": marked, "y": y, "z": z}


def recaptured(rng, phi, p, releases):
    """An m-array: of those released at t, when they were seen first again, or never (last)."""
    last = len(phi)
    m = np.zeros((last, last + 1), int)
    for t in range(last):
        cells = np.zeros(last + 1)
        stay = 1.0
        for j in range(t, last):
            cells[j] = stay * phi[j] * p
            stay *= phi[j] * (1 - p)
        cells[last] = 1 - cells.sum()
        m[t] = rng.multinomial(releases[t], cells)
    return m


@PROGRAMS.program("mean.phi beta sigma sigma2 mean.p fit bpv", thin=2)
def cjs_marray(rng):
    """Survival with winter severity and noise of years, of an m-array, with a check of fit."""
    years = 12
    winter = rng.normal(size=years - 1).round(2)
    phi = expit(0.5 - 0.6 * winter + 0.5 * rng.normal(size=years - 1))
    releases = rng.integers(60, 100, years - 1)
    marr = recaptured(rng, phi, 0.6, releases)
    return {"T": years, "winter": winter, "rel": releases, "marr": marr}


@PROGRAMS.program(
    "phi p b N Nsuper",
    inits=lambda data: {"z": np.maximum.accumulate(data["y"], 1).filled(0)},
    thin=8,
)
def jolly_seber(rng):
    """Entry, survival and abundance of an open population, with rows of zeros."""
    occasions, rows = 5, 110
    y = []
    for entry in rng.choice(occasions, 70, p=[0.35, 0.2, 0.15, 0.15, 0.15]):
        alive, row = 1, [0] * occasions
        for t in range(entry, occasions):
            row[t] = int(rng.binomial(1, alive * 0.6))
            alive = rng.binomial(1, alive * 0.75)
        if any(row):
            y.append(row)
    y += [[0] * occasions] * (rows - len(y))
    return {"M": rows, "n.occ": occasions, "y": y}


def place_before(data):
    """Starts of states that are not data: the place before, or where the animal is seen next."""
    y, f = data["y"].filled(3).astype(int), data["f"].astype(int)
    z = np.full(y.shape, np.nan)
    for i, first in enumerate(f):
        here = y[i, first - 1]
        for t in range(first, y.shape[1]):
            if y[i, t] < 3:
                here = y[i, t]
            else:
                z[i, t] = here
    return {"z": z}


@PROGRAMS.program("phiA phiB psiAB psiBA pA pB nA nB", inits=place_before)
def multistate(rng):
    """Survival in two colonies and movement between them."""
    n, occasions = 100, 6
    f = rng.integers(1, occasions, n)
    y = np.full((n, occasions), np.nan)
    move = np.array([[0.8 * 0.7, 0.8 * 0.3, 0.2], [0.65 * 0.2, 0.65 * 0.8, 0.35], [0, 0, 1]])
    seen = (0.65, 0.75, 0.0)
    for i in range(n):
        z = rng.integers(0, 2)
        y[i, f[i] - 1] = z + 1
        for t in range(f[i], occasions):
            z = rng.choice(3, p=move[z])
            y[i, t] = z + 1 if rng.random() < seen[z] else 3
    later = np.arange(occasions) >= f[:, None]
    z = np.where(later & (y < 3), y, np.nan)
    return {"nind": n, "n.occasions": occasions, "f": f, "y": y, "z": z}


@PROGRAMS.program(
    "omega p c N trap.response happy", inits=lambda data: {"z": np.ones(data["yaug"].shape[0])}
)
def closed_behaviour(rng):
    """A closed population whose animals are trapped more easily after the first time."""
    rows, occasions = 90, 6
    y = np.zeros((60, occasions), int)
    for i in range(60):
        for j in range(occasions):
            y[i, j] = rng.binomial(1, 0.6 if y[i, :j].any() else 0.35)
    y = y[y.any(1)]
    return {
        "M": rows,
        "T": occasions,
        "yaug": np.vstack([y, np.zeros((rows - len(y), occasions), int)]),
    }


@PROGRAMS.program(
    "omega mean.p sd N missed p.bar", inits=lambda data: {"z": np.ones(data["y"].shape)}, thin=3
)
def closed_heterogeneity(rng):
    """A closed population whose animals differ in detection."""
    rows, occasions = 100, 12
    y = rng.binomial(occasions, expit(-0.4 + 0.8 * rng.normal(size=70)))
    y = np.sort(y[y > 0])[::-1]
    return {"M": rows, "T": occasions, "n": len(y), "y": np.pad(y, (0, rows - len(y)))}


@PROGRAMS.program("sigma esw D r p.detect N", thin=2)
def distance_sampling(rng):
    """Distances of animals from lines, by the zeros trick, and counts of lines."""
    lines, width, sigma = 14, 80.0, 35.0
    length = rng.uniform(1.0, 3.0, lines).round(1)
    near, counts = [], []
    for km in length:
        present = rng.poisson(rng.gamma(4, 1 / 4) * 0.5 * 2 * width * km * 0.1)
        x = rng.uniform(0, width, present)
        x = x[rng.random(present) < np.exp(-(x**2) / (2 * sigma**2))]
        counts.append(len(x))
        near += list(x.round(1))
    return {
        "W": width,
        "nline": lines,
        "len": length,
        "count": counts,
        "n": len(near),
        "x": near,
        "zeros": [0] * len(near),
    }


@PROGRAMS.program("mean.r sigma.proc sigma.obs team lambda N.end decline doubled", thin=5)
def count_trend(rng):
    """Exponential growth with noise of process and observation, with years without a count."""
    years = 26
    log_size = 4.6 + np.cumsum(rng.normal(0.03, 0.15, years))
    y = log_size[:, None] + [0, 0.2] + rng.normal(0, 0.08, (years, 2))
    y[[5, 6, 17], 1] = np.nan
    y[11] = np.nan
    y[-3:] = np.nan
    return {"T": years, "y": y.round(3)}


@PROGRAMS.program("r K sigma N.next poor last", thin=2)
def ricker(rng):
    """Ricker dynamics with noise, and Poisson counts of plots."""
    years, plots = 30, 4
    size = [60.0]
    for _ in range(years - 1):
        size.append(size[-1] * np.exp(0.8 * (1 - size[-1] / 150) + rng.normal(0, 0.25)))
    y = rng.poisson(np.array(size)[:, None] / plots, (years, plots))
    return {"n": years, "plots": plots, "y": y}


@PROGRAMS.program(
    "sj sa p fec sigma.y mlam N.end",
    inits=lambda data: {
        "N1": np.r_[40.0, np.full(len(data["y"]) - 1, 30)],
        "Nad": np.r_[60.0, np.full(len(data["y"]) - 1, 60)],
    },
    thin=5,
)
def integrated_population(rng):
    """Counts, an m-array of young and adults, and productivity, in one model."""
    years, sj, sa, p, fec = 9, 0.3, 0.6, 0.6, 2.6
    young, adult = 40, 60
    y, f = [], fec * np.exp(rng.normal(0, 0.15, years))
    for t in range(years):
        y.append(rng.normal(young + adult, 6.0))
        size = young + adult
        young, adult = rng.poisson(f[t] / 2 * sj * size), rng.poisson(sa * size)
    broods = rng.integers(25, 45, years)
    releases = rng.integers(50, 80, 2 * (years - 1))
    rows = []
    for first, group in ((sj, releases[: years - 1]), (sa, releases[years - 1 :])):
        for t in range(years - 1):
            phi = np.full(years - 1, sa)
            phi[t] = first
            rows.append(recaptured(rng, phi, p, group)[t])
    return {
        "nyears": years,
        "y": np.round(y),
        "R": broods,
        "J": rng.poisson(broods * f),
        "m": np.array(rows),
        "rel": releases,
    }


@PROGRAMS.program("b.young b.adult r ratio s.young s.adult wet", thin=3)
def ring_recovery(rng):
    """Recoveries of birds ringed as young and as adults."""
    years, r, ratio, sa = 8, 0.3, 0.6, 0.65
    rain = rng.normal(size=years).round(2)
    sj = expit(-0.4 + 0.5 * rain)
    releases = rng.integers(250, 400, (2, years))
    found = np.zeros((2, years, years + 1), int)
    for group in range(2):
        for t in range(years):
            cells = np.zeros(years + 1)
            survival, share = (sj[t], r * ratio) if group == 0 else (sa, r)
            cells[t] = (1 - survival) * share
            for j in range(t + 1, years):
                cells[j] = survival * sa ** (j - t - 1) * (1 - sa) * r
            cells[years] = 1 - cells.sum()
            found[group, t] = rng.multinomial(releases[group, t], cells)
    return {
        "K": years,
        "rain": rain,
        "rel.young": releases[0],
        "rel.adult": releases[1],
        "young": found[0],
        "adult": found[1],
    }


@PROGRAMS.program(
    "b capture Ntotal density escaped",
    inits=lambda data: {"N": data["catch"].sum(1) + 5},
    thin=3,
)
def removal(rng):
    """Catches of successive passes in reaches of a stream."""
    reaches, passes = 24, 3
    length = rng.uniform(4.0, 12.0, reaches).round(1)
    shade, kind = rng.normal(size=reaches).round(2), rng.integers(1, 3, reaches)
    left = rng.poisson(length * np.exp(0.8 + 0.4 * shade))
    catch = np.zeros((reaches, passes), int)
    for j in range(passes):
        catch[:, j] = rng.binomial(left, np.array([0.5, 0.65])[kind - 1])
        left = left - catch[:, j]
    return {
        "reaches": reaches,
        "passes": passes,
        "len": length,
        "shade": shade,
        "type": kind,
        "catch": catch,
    }


@PROGRAMS.program("mu beta first sd.alpha sd.eps index.last change", thin=5)
def count_glmm(rng):
    """Pairs at sites over years, with missing counts."""
    years, sites = 10, 16
    year = (np.arange(years) - 4.5) / 3
    new = rng.binomial(1, 0.25, (years, sites))
    effects = rng.normal(2.0, 0.6, sites) + rng.normal(0, 0.2, years)[:, None]
    y = rng.poisson(np.exp(effects + 0.15 * year[:, None] - 0.25 * new)).astype(float)
    y[rng.random((years, sites)) < 0.12] = np.nan
    return {"nyear": years, "nsite": sites, "year": year.round(4), "newobs": new, "C": y}


@PROGRAMS.program(
    "mu mu.elev sd.elev sd.psi sd.p rho rich.mean rich.sd",
    inits=lambda data: {"z": np.ones(data["y"].shape)},
    thin=4,
)
def community(rng):
    """Species with correlated occupancy and detection at sites."""
    species, sites = 18, 24
    visits = rng.integers(4, 7, sites)
    eta = rng.multivariate_normal([0.3, 0.0], [[1.0, 0.4], [0.4, 0.6]], species)
    elevation = rng.normal(size=sites).round(2)
    slope = rng.normal(0.5, 0.7, species)
    z = rng.binomial(1, expit(eta[:, 0] + slope * elevation[:, None]))
    y = rng.binomial(visits[:, None], z * expit(eta[:, 1]))
    return {
        "nsite": sites,
        "nspec": species,
        "nrep": visits,
        "elev": elevation,
        "S": np.eye(2),
        "y": y,
    }
