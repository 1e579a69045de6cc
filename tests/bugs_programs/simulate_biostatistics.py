"""Simulated data of the programs of biostatistics."""

import numpy as np

from bugs_programs import Field

PROGRAMS = Field("biostatistics")


def _expit(x):
    return 1 / (1 + np.exp(-x))


@PROGRAMS.program("mu sd.b rho sigma at8 late")
def growth_curves(rng):
    """Heights of children at unequal ages: intercepts and slopes that are correlated."""
    children = 25
    visits = rng.integers(3, 6, children)
    child = np.repeat(np.arange(children), visits)
    age = rng.uniform(4, 10, child.size)
    effects = rng.multivariate_normal([110, 6], [[25, 3], [3, 1.5]], children)
    height = effects[child, 0] + effects[child, 1] * (age - 7) + rng.normal(0, 1.5, child.size)
    return {
        "n": child.size,
        "N": children,
        "child": child + 1,
        "age": np.round(age, 2),
        "y": np.round(height, 1),
        "R": [[20, 0], [0, 1]],
    }


@PROGRAMS.program("beta sd.rw hr1 cross surv", thin=4)
def waning_effect(rng):
    """Infections by interval of follow-up: a vaccine's effect that wanes, a random walk."""
    n, intervals = 90, 6
    arm = np.arange(n) % 2
    base, effect = 0.25, np.linspace(-1.8, 0.0, intervals)
    events = np.full((n, intervals), np.nan)
    exposure = np.full((n, intervals), np.nan)
    last = np.full(n, intervals)
    for i in range(n):
        for j in range(intervals):
            wait = rng.exponential(1 / (base * np.exp(effect[j] * arm[i])))
            events[i, j] = wait < 1
            exposure[i, j] = min(wait, 1)
            if wait < 1:
                last[i] = j + 1
                break
    return {"n": n, "K": intervals, "last": last, "arm": arm, "d": events, "e": exposure}


@PROGRAMS.program("beta hr S.placebo S.drug p.benefit")
def cox_counting(rng):
    """Remission times in two groups: proportional hazards as a counting process."""
    n = 36
    drug = np.arange(n) % 2
    time = np.ceil(rng.exponential(8 * np.exp(1.1 * drug)))
    end = rng.integers(10, 30, n)
    seen = time <= end
    time = np.minimum(time, end)
    distinct = np.unique(time[seen])
    return {
        "N": n,
        "T": distinct.size,
        "obs.t": time,
        "fail": seen,
        "Z": np.where(drug, 0.5, -0.5),
        "t": [*distinct, distinct[-1] + 1],
    }


@PROGRAMS.program(
    "r beta theta w1 hr.sex", thin=4, inits=lambda data: {"r": 1.0, "beta": [-2.5, 0.0]}
)
def shared_frailty(rng):
    """Infections of catheters of patients, who share a gamma frailty; Weibull times."""
    patients = 30
    sex = np.repeat(rng.integers(0, 2, patients), 3)
    frailty = np.repeat(rng.gamma(2.0, 0.5, patients), 3)
    rate = np.exp(-2.5 - 1.0 * sex) * frailty
    time = (rng.exponential(size=3 * patients) / rate) ** (1 / 1.3)
    end = rng.uniform(8, 25, 3 * patients)
    return {
        "N": 3 * patients,
        "M": patients,
        "pat": np.repeat(np.arange(patients), 3) + 1,
        "sex": sex,
        "time": np.minimum(time, end),
        "event": time < end,
    }


@PROGRAMS.program("beta gamma alpha sd.y sd.b h0 surv", thin=2)
def joint_model(rng):
    """A biomarker measured at visits until death or dropout, and the hazard that it moves."""
    n = 40
    level = rng.normal(0, 1.0, n)
    treated = np.arange(n) % 2
    time = rng.exponential(1 / (0.12 * np.exp(0.8 * level - 0.5 * treated)))
    end = rng.uniform(4, 9, n)
    death = time < end
    time = np.minimum(time, end)
    visits = np.minimum(6, 1 + np.floor(time).astype(int))
    y = np.full((n, 6), np.nan)
    for i in range(n):
        at = np.arange(visits[i])
        y[i, at] = 5.0 + level[i] + 0.3 * at + rng.normal(0, 0.5, visits[i])
    return {"n": n, "m": visits, "y": y, "time": time, "death": death, "trt": treated}


@PROGRAMS.program("mu pi phi ratio equiv sigma1 sigma2 carry")
def crossover(rng):
    """Two formulations in a crossover trial with two periods: are they bioequivalent?"""
    n = 24
    sequence = np.where(np.arange(n) < 12, 1, -1)
    effect = rng.normal(0, 0.3, n)
    mean = 4.0 + 0.05 * np.array([[1, -1]]) * sequence[:, None] + 0.03 * np.array([[1, -1]])
    y = np.exp(mean + effect[:, None] + rng.normal(0, 0.12, (n, 2)))
    return {"N": n, "seq": sequence, "auc": y}


@PROGRAMS.program("a ptox mtd over p.next")
def crm_dose(rng):
    """Dose finding by continual reassessment: toxicities at five doses."""
    given = np.array([3, 3, 6, 6, 3])
    return {
        "D": 5,
        "target": 0.25,
        "skel": [0.05, 0.12, 0.25, 0.4, 0.55],
        "n": given,
        "y": rng.binomial(given, [0.02, 0.08, 0.2, 0.35, 0.55]),
    }


@PROGRAMS.program("b0 or sd.c icc p.new diff")
def cluster_trial(rng):
    """A trial of which whole practices are randomised: uptake of screening."""
    clusters = 18
    arm = np.arange(clusters) % 2
    size = rng.integers(12, 30, clusters)
    p = _expit(-0.6 + 0.9 * arm + rng.normal(0, 0.6, clusters))
    return {"J": clusters, "trt": arm, "m": size, "s": rng.binomial(size, p)}


@PROGRAMS.program("b sigma mx sx g mean.all x.first", thin=2)
def not_at_random(rng):
    """Quality of life, missing the more often the lower it is; some covariates missing too."""
    n = 90
    x = rng.normal(5, 1.2, n)
    y = 2.0 + 0.8 * x + rng.normal(0, 0.8, n)
    missing = rng.random(n) < _expit(-1.0 - 1.2 * (y - 6))
    x = np.where(rng.random(n) < 0.12, np.nan, x)
    x[0] = np.nan
    missing[0] = False
    return {"n": n, "x": x, "y": np.where(missing, np.nan, y), "r": missing}


@PROGRAMS.program("beta or.sd mu.x lambda sd.x sd.w", thin=2)
def exposure_error(rng):
    """Disease and blood pressure, which is measured twice with error."""
    n = 100
    x = rng.normal(0, 1, n)
    w = x[:, None] + rng.normal(0, 0.5, (n, 2))
    w[rng.random(n) < 0.3, 1] = np.nan
    return {"n": n, "w": w, "y": rng.binomial(1, _expit(-0.5 + 1.0 * x))}


@PROGRAMS.program("pop sd.i sigma auc tmax thalf", thin=2)
def one_compartment(rng):
    """Concentrations after an oral dose: one compartment, persons with rates of their own."""
    persons, times = 8, np.array([0.5, 1, 2, 3, 4, 6, 9, 12])
    ka = np.exp(0.3 + rng.normal(0, 0.2, persons))[:, None]
    ke = np.exp(-1.6 + rng.normal(0, 0.2, persons))[:, None]
    volume = np.exp(2.0 + rng.normal(0, 0.2, persons))[:, None]
    mean = 100 * ka / (volume * (ka - ke)) * (np.exp(-ke * times) - np.exp(-ka * times))
    y = mean * np.exp(rng.normal(0, 0.12, mean.shape))
    return {"N": persons, "T": times.size, "dose": 100, "time": times, "conc": y}


@PROGRAMS.program("p01 p10 sens spec prev.end ever1")
def screening_chain(rng):
    """An infection that comes and goes, tested at visits by an imperfect test."""
    n, visits = 40, 8
    first = rng.integers(1, 4, n)
    y = np.full((n, visits), np.nan)
    for i in range(n):
        state = rng.random() < 0.3
        for t in range(first[i] - 1, visits):
            y[i, t] = rng.random() < (0.9 if state else 0.05)
            state = rng.random() < (0.8 if state else 0.15)
    return {"n": n, "T": visits, "first": first, "y": y}


@PROGRAMS.program("incl b size sigma top")
def biomarkers(rng):
    """Which of six markers go with a response: indicators of inclusion."""
    n = 60
    x = rng.normal(size=(n, 6))
    x[:, 1] = 0.6 * x[:, 0] + 0.8 * x[:, 1]
    return {"n": n, "P": 6, "X": x, "y": x @ [0.8, 0, 0, -0.6, 0, 0.25] + rng.normal(0, 0.9, n)}
