"""Simulated data of the programs of epidemiology."""

import numpy as np

from bugs_programs import Field

PROGRAMS = Field("epidemiology")


def expit(x):
    return 1 / (1 + np.exp(-x))


@PROGRAMS.program("b0 b1 rate R0 epidemic period")
def sir_chain_binomial(rng):
    """Infections and recoveries of each day in classes, with and without masks."""
    classes, days = 8, 12
    size = rng.integers(22, 32, classes)
    kind = np.arange(classes) % 2 + 1
    first = np.full(classes, 2)
    cases, recovered = np.zeros((2, classes, days), int)
    for h in range(classes):
        ill, well = 2, size[h] - 2
        for t in range(1, days):
            risk = 1 - np.exp(-(0.7, 0.45)[kind[h] - 1] * ill / size[h])
            cases[h, t] = rng.binomial(well, risk)
            recovered[h, t] = rng.binomial(ill, 1 - np.exp(-0.3))
            well -= cases[h, t]
            ill += cases[h, t] - recovered[h, t]
    return {
        "H": classes,
        "T": days,
        "size": size,
        "type": kind,
        "I0": first,
        "C": np.where(np.arange(days) == 0, np.nan, cases),
        "D": np.where(np.arange(days) == 0, np.nan, recovered),
    }


@PROGRAMS.program("alpha beta RR rho sigma nhigh spread")
def disease_map(rng):
    """Observed and expected deaths of the regions of a map."""
    rows, columns = 3, 4
    place = np.array([(i, j) for i in range(rows) for j in range(columns)])
    near = (np.abs(place[:, None] - place).sum(2) == 1).astype(int)
    n = rows * columns
    precision = 8 * (0.8 * (np.diag(near.sum(1)) - near) + 0.2 * np.eye(n))
    effects = rng.multivariate_normal(np.zeros(n), np.linalg.inv(precision))
    expected, deprivation = rng.uniform(20, 90, n).round(1), rng.normal(size=n).round(2)
    observed = rng.poisson(expected * np.exp(0.05 + 0.2 * deprivation + effects))
    return {"n": n, "W": near, "E": expected, "depr": deprivation, "O": observed}


@PROGRAMS.program("sd.u sd.v mouth ratio mid third", thin=5)
def disease_walk(rng):
    """Incidence in districts in a row."""
    n = 30
    people = rng.integers(4, 20, n) * 1000
    u = 2.0 + np.cumsum(rng.normal(0, 0.25, n))
    cases = rng.poisson(people / 1000 * np.exp(u + rng.normal(0, 0.3, n)))
    return {"N": n, "pop": people, "cases": cases}


@PROGRAMS.program("theta slope OR Q ppp bias large.study")
def meta_funnel(rng):
    """Log odds ratios of tables, with an effect of small studies."""
    k = 14
    n = rng.integers(25, 250, k)
    base = rng.normal(-1.0, 0.4, k)
    a = rng.binomial(n, expit(base + 0.3 + 6 / n))
    c = rng.binomial(n, expit(base))
    return {"k": k, "a": a, "b": n - a, "c": c, "d": n - c}


@PROGRAMS.program("d tau OR resdev d.new better RD", thin=3)
def meta_random(rng):
    """Trials with two arms, whose effects vary."""
    trials = 15
    n = rng.integers(60, 240, (trials, 2))
    base = rng.normal(-1.0, 0.5, trials)
    p = expit(base[:, None] + np.outer(rng.normal(-0.6, 0.35, trials), [0, 1]))
    return {"ns": trials, "n": n, "r": rng.binomial(n, p)}


@PROGRAMS.program("d sd d34 best or23", thin=3)
def network_meta(rng):
    """A network of four treatments in trials of two and three arms."""
    arms = [(1, 2), (1, 2), (1, 2), (1, 3), (1, 3), (1, 3), (2, 3), (2, 4), (2, 4)]
    arms += [(1, 4), (3, 4), (3, 4), (1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4)]
    d = np.array([0.0, -0.4, -0.7, -0.9])
    trials = len(arms)
    t, n, r = np.full((3, trials, 3), np.nan)
    for i, own in enumerate(arms):
        k = len(own)
        index = np.array(own) - 1
        noise = rng.normal(0, 0.3 / np.sqrt(2), k)
        sizes = rng.integers(80, 220, k)
        logit = rng.normal(-0.5, 0.4) + (d[index] + noise) - (d[index[0]] + noise[0])
        t[i, :k], n[i, :k], r[i, :k] = own, sizes, rng.binomial(sizes, expit(logit))
    return {"ns": trials, "nt": 4, "na": [len(own) for own in arms], "t": t, "n": n, "r": r}


@PROGRAMS.program("pi Se Sp PPV first.better", thin=2)
def no_gold_standard(rng):
    """Two tests in two populations of different prevalence."""
    n = np.array([300, 300])
    y = []
    for k, pi in enumerate((0.12, 0.55)):
        yes = np.outer([0.9, 0.1], [0.8, 0.2]).ravel()
        no = np.outer([0.07, 0.93], [0.03, 0.97]).ravel()
        y.append(rng.multinomial(n[k], pi * yes + (1 - pi) * no))
    return {"n": n, "y": np.array(y)}


@PROGRAMS.program("prev sens spec ill risk.ratio")
def latent_class(rng):
    """Three imperfect tests of patients of unknown status, in two age groups."""
    n = 150
    group = rng.integers(1, 3, n)
    ill = rng.binomial(1, np.array([0.25, 0.55])[group - 1])
    p = np.where(ill[:, None] == 1, [0.9, 0.8, 0.85], [0.1, 0.05, 0.15])
    return {"n": n, "group": group, "test": rng.binomial(1, p)}


@PROGRAMS.program("N unseen completeness share b0 b odds", thin=5)
def case_registers(rng):
    """Cases on three registers, two of which depend on each other."""
    x = np.array([(i, j, k) for i in (1, 0) for j in (1, 0) for k in (1, 0)])
    design = np.column_stack([x, x[:, 0] * x[:, 1]])
    y = rng.poisson(np.exp(3.8 + design @ [-0.3, -0.5, 0.1, 0.9])).astype(float)
    y[-1] = np.nan
    return {"X": design, "y": y}


@PROGRAMS.program("a b sigma RR risk0 risk1 check", thin=5)
def ecological_regression(rng):
    """Deaths of areas by the proportion of people who are exposed."""
    areas = 30
    n = rng.integers(200, 600, areas)
    x = rng.beta(1, 1, areas).round(3)
    u = rng.normal(0, 0.2, areas)
    p = x * expit(-2.2 + 1.1 + u) + (1 - x) * expit(-2.2 + u)
    return {"areas": areas, "n": n, "x": x, "y": rng.binomial(n, p)}


@PROGRAMS.program("sigma young old.rate peak beta", thin=3)
def age_period_cohort(rng):
    """Deaths by age and period, with effects of birth cohorts."""
    ages, periods = 7, 5
    years = rng.uniform(2e4, 6e4, (ages, periods)).round()
    age = -7.1 + 2.6 * np.log1p(np.arange(ages)) / np.log(ages)
    period = np.array([0, 0.1, 0.25, 0.1, 0])
    cohort = np.cumsum(np.r_[0, rng.normal(0.05, 0.15, ages + periods - 2)])
    index = ages - 1 - np.arange(ages)[:, None] + np.arange(periods)
    deaths = rng.poisson(years * np.exp(age[:, None] + period + cohort[index]))
    return {"A": ages, "P": periods, "py": years, "deaths": deaths}


@PROGRAMS.program("beta gamma shift sd.w sd.x OR attenuation")
def measurement_error(rng):
    """An outcome by an exposure that is measured with error, and well in a sample."""
    n, validated = 160, 60
    sex = rng.integers(0, 2, n)
    x = rng.normal(0.3 + 0.4 * sex, 1.0)
    w = 0.3 + 0.8 * x + rng.normal(0, 0.6, n)
    y = rng.binomial(1, expit(-0.5 + 1.0 * x + 0.5 * sex))
    x[validated:] = np.nan
    return {"n": n, "sex": sex, "x": x.round(3), "w": w.round(3), "y": y}


@PROGRAMS.program("lor inter RERI synergy AF p.value stratum", thin=3)
def case_control(rng):
    """Cases and controls by smoking, drinking and age."""
    cells = np.array([(a, s, d) for a in (1, 2, 3) for s in (1, 2) for d in (1, 2)])
    age, smoke, drink = cells.T
    n = rng.integers(40, 90, len(cells))
    logit = np.array([-1.6, -1.0, -0.8])[age - 1] + 0.8 * (smoke - 1) + 0.5 * (drink - 1)
    p = expit(logit + 0.6 * (smoke - 1) * (drink - 1))
    return {
        "cells": len(cells),
        "ages": 3,
        "age": age,
        "smoke": smoke,
        "drink": drink,
        "n": n,
        "r": rng.binomial(n, p),
    }


@PROGRAMS.program("beta OR lambda any")
def matched_sets(rng):
    """Sets of a case and three controls, with three risk factors."""
    sets = 50
    x = np.stack(
        [
            rng.binomial(1, 0.4, (sets, 4)),
            rng.normal(size=(sets, 4)).round(2),
            rng.binomial(1, 0.3, (sets, 4)),
        ],
        axis=2,
    )
    e = np.exp(x @ [0.9, 0.5, 0.0])
    for i in range(sets):
        case = rng.choice(4, p=e[i] / e[i].sum())
        x[i, [0, case]] = x[i, [case, 0]]
    return {"sets": sets, "x": x, "case": np.ones(sets)}


@PROGRAMS.program("b mu shape cv trend std theta.new worst", thin=2)
def cohort_rates(rng):
    """Deaths and person-years of plants at three levels of exposure."""
    plants = 14
    years = rng.uniform(800, 4000, (plants, 3)).round()
    theta = rng.gamma(5, 4.0 / 5, plants)
    deaths = rng.poisson(years / 1000 * theta[:, None] * [1, 1.3, 1.9])
    return {"plants": plants, "py": years, "w": years.sum(1), "d": deaths}


@PROGRAMS.program("nat a b LD50 LD90 extremes", thin=2)
def dose_response(rng):
    """Deaths by dose, with natural mortality."""
    dose = np.repeat([0, 1, 2, 4, 8, 16, 32], 3)
    n = rng.integers(20, 35, len(dose))
    normal = rng.normal(size=200_000)  # the probit curve, as a share
    scale = 2.0 * (np.log10(np.maximum(dose, 0.001)) - np.log10(5))
    killed = np.where(dose > 0, [(normal < s).mean() for s in scale], 0)
    return {"N": len(dose), "dose": dose, "n": n, "dead": rng.binomial(n, 0.08 + 0.92 * killed)}


def between(data):
    """Starts of times, within what is known of them, and of their distribution."""
    low, high = data["lim"].filled(0).T
    status = data["status"].filled(0)
    times = np.choose(status.astype(int), [low / 2, (low + high) / 2, high + 1])
    return {"t": times, "v": 1, "b": [-2, 0]}


@PROGRAMS.program("v b median S5 HR ageing", inits=between, thin=2)
def screening(rng):
    """Times of onset between visits, of smokers and others."""
    n = 90
    smoker = rng.integers(0, 2, n)
    onset = 7.0 * np.exp(-0.5 * smoker) * rng.weibull(1.7, n)
    limits, status = np.zeros((n, 2)), np.zeros(n, int)
    for i in range(n):
        visits = np.cumsum(rng.uniform(1.0, 2.0, 6)).round(1)
        seen = np.searchsorted(visits, onset[i])
        k = min(max(seen, 1), 5)
        limits[i] = visits[k - 1], visits[k]
        status[i] = 0 if seen == 0 else 2 if seen == 6 else 1
    return {"n": n, "smoker": smoker, "lim": limits, "status": status}


@PROGRAMS.program("sigma delay cases.last cases.before rising mean.delay", thin=6)
def reporting_delay(rng):
    """Cases by week of onset and delay of the report, as known at the end."""
    weeks, longest = 18, 5
    x = 3.2 + np.cumsum(rng.normal(0.03, 0.2, weeks))
    delay = np.array([0.3, 0.35, 0.2, 0.1, 0.05])
    y = rng.poisson(np.exp(x)[:, None] * delay).astype(float)
    y[np.add.outer(np.arange(weeks), np.arange(longest)) >= weeks] = np.nan
    return {
        "T": weeks,
        "D": longest,
        "y": y,
        "prior": np.ones(longest),
        "week": np.arange(longest),
    }


@PROGRAMS.program("lambda se sp fall adults half.age prevalence", thin=3)
def seroprevalence(rng):
    """Positive tests by age, with a validated assay and a force of infection that fell."""
    age = np.array([3, 7, 11, 15, 20, 25, 30, 35, 40, 50, 60])
    n = rng.integers(60, 120, len(age))
    prev = 1 - np.exp(-0.04 * np.maximum(0, age - 16) - 0.015 * np.minimum(age, 16))
    return {
        "G": len(age),
        "age": age,
        "since": 16,
        "n": n,
        "pos": rng.binomial(n, 0.9 * prev + 0.04 * (1 - prev)),
        "n.ill": 120,
        "tp": 108,
        "n.well": 200,
        "tn": 193,
        "w": np.array([8, 8, 8, 10, 10, 10, 10, 10, 12, 12, 10]),
    }
