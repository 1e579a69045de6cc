"""Simulated data of the programs of cognitive modelling."""

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from bugs_programs import Field

PROGRAMS = Field("cognition")


@PROGRAMS.program("mu.d mu.c sigma.d sigma.c new.d", thin=2)
def signal_detection(rng):
    """Hits and false alarms of subjects who differ in sensitivity and in bias."""
    d, c = rng.normal(1.3, 0.5, 14), rng.normal(0.2, 0.3, 14)
    h = rng.binomial(40, norm.cdf(d / 2 - c))
    f = rng.binomial(60, norm.cdf(-d / 2 - c))
    return {"k": 14, "h": h, "f": f, "s": np.full(14, 40), "n": np.full(14, 60)}


@PROGRAMS.program("muc mur muu rho sdev", thin=10)
def pair_clustering(rng):
    """A processing tree of the recall of pairs, of subjects with correlated parameters."""
    spread = np.diag([0.6, 0.7, 0.5])
    correlated = [[1.0, 0.4, 0.2], [0.4, 1.0, 0.3], [0.2, 0.3, 1.0]]
    x = rng.multivariate_normal([0.0, 0.3, -0.4], spread @ correlated @ spread, 20)
    c, r, u = norm.cdf(x).T
    p = np.stack(
        (c * r, (1 - c) * u**2, 2 * (1 - c) * u * (1 - u), c * (1 - r) + (1 - c) * (1 - u) ** 2)
    ).T
    return {"S": 20, "n": np.full(20, 60), "k": rng.multinomial(60, p), "W": np.eye(3)}


@PROGRAMS.program("mu.a sigma.a b half.new", thin=5)
def retention(rng):
    """Forgetting: recall falls with time to an asymptote; some tests are missing."""
    a, b = rng.lognormal(-1.5, 0.5, 6), rng.uniform(0.1, 0.4, 6)
    t = np.array([1.0, 2.0, 4.0, 7.0, 12.0, 21.0, 35.0])
    theta = b[:, None] + (1.0 - b[:, None]) * np.exp(-a[:, None] * t)
    k = rng.binomial(24, theta).astype(float)
    k[0, 6] = k[3, 2] = k[5, 5] = np.nan
    return {"ns": 6, "nt": 7, "t": t, "k": k, "n": 24}


@PROGRAMS.program("theta delta delta.prior near near.prior")
def rate_comparison(rng):
    """Two rates, the first of which cannot be less; their difference before and after the data."""
    return {"s": rng.binomial([90, 85], [0.66, 0.68]), "n": np.array([90, 85])}


@PROGRAMS.program("ratio logr sd.obs T.p slower", thin=20, modules=())
def error_rates(rng):
    """Errors of drivers with and without a phone, in rides of unequal length."""
    skill = rng.normal(0.0, 0.3, 15)
    hours = np.round(rng.uniform(1.0, 4.0, (15, 2)), 1)
    y = rng.poisson(hours * np.exp(0.8 + skill[:, None] + np.array([0.0, 0.5])))
    return {"J": 15, "hours": hours, "y": y}


@PROGRAMS.program("mu sigma tau shift", inits=lambda data: {"tau": 28}, thin=2)
def change_point(rng):
    """A series of attention whose level changes once, at an unknown time."""
    t = np.arange(1, 51)
    return {"n": 50, "t": t, "c": np.where(t < 31, 32.0, 26.0) + rng.normal(0.0, 2.5, 50)}


@PROGRAMS.program("p cp never")
def insight(rng):
    """All-or-none learning: each learner answers by chance until a trial of insight."""
    at = np.array([4, 8, 10, 6, 13, 3, 9, 16])
    learnt = np.arange(1, 16) >= at[:, None]
    return {"L": 8, "T": 15, "y": rng.binomial(1, np.where(learnt, 0.93, 0.5))}


@PROGRAMS.program("mu sigma n.guess", thin=5)
def guessers(rng):
    """Scores of a test, by some who studied and some who guess."""
    knows = np.repeat([0, 1], [5, 10])
    theta = np.where(knows, expit(rng.normal(1.2, 0.5, 15)), 0.5)
    return {"p": 15, "n": 40, "k": rng.binomial(40, theta)}


@PROGRAMS.program("mu sigma best")
def instruments(rng):
    """One quantity measured with instruments of unequal precision, some of them bad."""
    sigma = np.array([0.5, 0.6, 4.0, 0.8, 1.0, 0.7, 6.0])
    return {"n": 7, "r": 4, "x": 10.0 + sigma[:, None] * rng.normal(0.0, 1.0, (7, 4))}


@PROGRAMS.program("kappa alpha beta gamma ones")
def kappa_agreement(rng):
    """Two methods of diagnosis: agreement beyond chance."""
    return {"n": 150, "d": rng.multinomial(150, [0.35, 0.08, 0.12, 0.45])}


def _beyond_deadline(data):
    missing = np.ma.getmaskarray(data["rt"])
    return {"rt": np.where(missing, data["deadline"] + 0.5, np.nan)}


@PROGRAMS.program("b sigma median p.late", inits=_beyond_deadline)
def deadline(rng):
    """Response times of which only those before a deadline are known."""
    load, limit = np.tile([0, 1, 2], 25), np.repeat([1.2, 1.6, 2.0], 25)
    time = rng.lognormal(-0.3 + 0.25 * load, 0.4)
    late = time > limit
    return {
        "N": 75, "load": load, "deadline": limit,
        "late": late.astype(int), "rt": np.where(late, np.nan, time),
    }  # fmt: skip


def _scores(data):
    return {"z": np.append(np.full(20, 20), np.nan)}


@PROGRAMS.program("theta z.mean n.pass", inits=_scores)
def failed_attempts(rng):
    """A test of fifty questions, failed twenty times with scores unknown, then passed."""
    edges = np.tile([15.0, 25.0], (20, 1))
    z = np.append(np.full(20, np.nan), 29.0)
    return {"m": 21, "n": 50, "z": z, "edges": edges, "between": np.ones(20)}


@PROGRAMS.program("phi0 gamma z n.ttb")
def take_the_best(rng):
    """Who chooses by the best cue alone, and who adds up all cues?"""
    v = np.array([0.45, 0.4, 0.35, 0.3])
    A, B = rng.binomial(1, 0.5, (2, 24, 4))
    ttb = (A - B) @ 2.0 ** np.arange(3, -1, -1) > 0
    wadd = (A - B) @ v > 0
    strategy = np.array([1, 1, 0, 1, 0, 1, 1, 0, 1, 1])
    chosen = np.where(strategy[:, None], ttb, wadd)
    y = rng.binomial(1, np.where(chosen, 0.85, 0.15))
    return {"ns": 10, "nq": 24, "nc": 4, "A": A, "B": B, "v": v, "y": y}


@PROGRAMS.program("alpha beta faster", thin=2)
def bandit(rng):
    """Learners of a two-armed bandit: values by a delta rule, choices by softmax."""
    alpha, beta = [0.2, 0.5, 0.35], [4.0, 3.0, 5.0]
    choice, r = np.zeros((2, 3, 40), dtype=int)
    for i in range(3):
        V = np.zeros(2)
        for t in range(40):
            best = 0 if t < 20 else 1
            c = rng.binomial(1, expit(beta[i] * (V[1] - V[0])))
            choice[i, t] = c + 1
            r[i, t] = rng.binomial(1, 0.85 if c == best else 0.15)
            V[c] += alpha[i] * (r[i, t] - V[c])
    return {"S": 3, "T": 40, "choice": choice, "r": r}


@PROGRAMS.program("alpha V0 slope sigma peak")
def rescorla_wagner(rng):
    """Ratings of expectancy in conditioning, some missing: acquisition and extinction."""
    us = np.concatenate((rng.binomial(1, 0.8, 25), np.zeros(20, dtype=int)))
    V = np.zeros(45)
    for t in range(1, 45):
        V[t] = V[t - 1] + 0.15 * (us[t - 1] - V[t - 1])
    rating = 10.0 + 70.0 * V + rng.normal(0.0, 6.0, 45)
    return {"T": 45, "us": us, "rating": np.where(rng.random(45) < 0.1, np.nan, rating)}


@PROGRAMS.program("mu.a sigma.a b lapse jnd", thin=3)
def psychophysics(rng):
    """Judgements of duration: a psychometric function with lapses."""
    a, b = rng.normal(0.2, 0.5, 6), 0.9
    x = np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
    p = 0.03 + 0.94 * norm.cdf((x - a[:, None]) / b)
    return {"S": 6, "M": 7, "x": x, "n": np.full((6, 7), 25), "r": rng.binomial(25, p)}


@PROGRAMS.program("mu sigma nu effect", thin=8)
def ex_gaussian(rng):
    """Response times to words and to nonwords: a normal and an exponential part."""
    cond = np.repeat([1, 2], 50)
    mean = np.array([0.45, 0.5])[cond - 1]
    rt = rng.normal(mean, 0.04) + rng.exponential(np.array([0.12, 0.2])[cond - 1])
    return {"N": 100, "cond": cond, "rt": rt}


@PROGRAMS.program("mu0 b.freq sd.w sigma pc n.cont", thin=2)
def contaminants(rng):
    """Lexical decision times, lognormal by subject and word frequency, with strange ones."""
    subj, word = (x.ravel() + 1 for x in np.indices((10, 10)))
    freq = np.linspace(-1.5, 1.5, 10)
    m = -0.5 + rng.normal(0.0, 0.15, 10)[subj - 1] - 0.08 * freq[word - 1]
    strange = rng.random(100) < 0.08
    y = np.where(strange, rng.uniform(0.0, 3.0, 100), rng.lognormal(m, 0.2))
    return {"N": 100, "S": 10, "subj": subj, "freq": freq[word - 1], "y": y}


@PROGRAMS.program("t many", inits=lambda data: {"t": 60})
def planes(rng):
    """How many planes are there, if of those seen today some had been seen before?"""
    k = rng.hypergeometric(25, 35, 20, size=2)
    return {"x": 25, "n": np.array([20, 20]), "k": k, "tmax": 150}


@PROGRAMS.program("c w r.new")
def exemplars(rng):
    """The generalised context model: categories by similarity to their members."""
    pairs = [[1, 1], [1, 2], [2, 1], [2, 3], [3, 2], [3, 4], [4, 3], [4, 4]]
    stimuli = np.array(pairs, dtype=float)
    isA = np.array([1, 1, 1, 0, 1, 0, 0, 0])
    d1, d2 = (np.abs(s[:, None] - s) for s in stimuli.T)
    s = np.exp(-1.2 * (0.7 * d1 + 0.3 * d2))
    y = rng.binomial(30, s @ isA / s.sum(1))
    return {"n": 8, "t": 30, "x": stimuli, "isA": isA, "y": y, "probe": np.array([2.0, 4.0])}


@PROGRAMS.program("base v level", thin=3)
def number_knowers(rng):
    """Children are asked for numbers of toys: up to which number does each know the words?"""
    base, v = np.array([0.25, 0.2, 0.2, 0.15, 0.1, 0.1]), 12.0
    level = np.array([1, 2, 3, 2, 6, 4, 1, 3])
    ask = np.tile(np.repeat(np.arange(1, 7), 2), (8, 1))
    answer = np.zeros((8, 12), dtype=int)
    numbers = np.arange(1, 7)
    for i, j in np.ndindex(8, 12):
        q = ask[i, j]
        known = np.where(numbers == q, v, 1.0 / v)
        known = known if q <= level[i] else np.full(6, 1.0 / v)
        weight = base * np.where((numbers <= level[i]), known, 1.0)
        answer[i, j] = 1 + rng.choice(6, p=weight / weight.sum())
    return {"C": 8, "Q": 12, "ask": ask, "answer": answer}


@PROGRAMS.program("alpha beta x z p.new")
def two_countries(rng):
    """A quiz about two countries: who is of which, and which questions are about which?"""
    x, z = np.array([1, 1, 0, 0, 1, 0, 1, 0]), np.array([1, 0, 0, 1, 1, 0, 1, 0])
    k = rng.binomial(1, np.where(x[:, None] == z, 0.85, 0.2)).astype(float)
    k[6, 3:], k[7, 5:] = np.nan, np.nan
    return {"nx": 8, "nz": 8, "k": k, "x": np.append(1.0, np.full(7, np.nan))}


@PROGRAMS.program("rho gam lambda mu.l theta", thin=3)
def prospect(rng):
    """Choices between a gamble and a sure amount: loss aversion and weighting of chances."""
    subj = np.repeat([1, 2, 3], 40)
    gain, loss = rng.integers(10, 60, 120), rng.integers(0, 40, 120)
    p = rng.choice([0.1, 0.25, 0.5, 0.75, 0.9], 120)
    sure = rng.integers(-10, 20, 120)

    def weight(q):
        return q**0.7 / (q**0.7 + (1 - q) ** 0.7) ** (1 / 0.7)

    lam = np.array([1.3, 2.0, 2.6])[subj - 1]
    u = np.where(sure < 0, -lam, 1.0) * np.abs(sure) ** 0.85
    U = weight(p) * gain**0.85 - weight(1 - p) * lam * loss**0.85
    y = rng.binomial(1, expit(0.3 * (U - u)))
    gambles = {"gain": gain, "loss": loss, "p": p, "sure": sure}
    return {"n": 120, "S": 3, "subj": subj, **gambles, "y": y}
