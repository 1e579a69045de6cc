"""Every kernel on a small model, with bugs that a check of its moves must catch.

A `Row` has a model small enough to be drawn thousands of times, the step looked at, what generated
code calls, whether the step is reversible, and `Bug`s: functions of the runtime with what takes
their place. `test_balance` says that no kernel is left out.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from typing import Any
from unittest import mock

import numpy as np
from conftest import clear_caches

import gibbsppl as gp
from gibbsppl.runtime.log_chi import MEANS
from gibbsppl.runtime.modal import OF_PROPOSAL

X = np.array([[1.0, 0.5, -0.3], [1.0, -1.0, 0.8], [0.2, 0.6, 1.0], [-0.5, 0.3, 0.4]])


@dataclass(frozen=True)
class Bug:
    """A function of the package by its place, and what makes the wrong one of the right one."""

    place: str
    wrong: Callable[[Any], Any]

    @contextmanager
    def planted(self):
        """With the wrong function in place of the right one."""
        right = reduce(getattr, self.place.split(".")[1:], gp)
        with mock.patch(self.place, self.wrong(right)):
            yield


@dataclass(frozen=True, eq=False)
class Row:
    """A step of a small model: what it is called, what code calls, bugs of it."""

    declare: Callable[[Callable[[Any], Any]], None]
    step: str
    calls: str
    bugs: Mapping[str, Bug]
    kernels: Mapping[Any, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    patches: Mapping[str, Any] = field(default_factory=dict)
    reversible: bool = True
    replicates: int = 600
    sizes: Mapping[str, int] = field(default_factory=lambda: {"i": 2, "k": 3, "n": 4, "t": 6})

    def model(self, seen=lambda values: values):
        """The model declared, its observed values as they are ``seen``: None, they are drawn."""
        with gp.Model(coords=dict(self.sizes)) as model:
            self.declare(seen)
        return model


    @contextmanager
    def patched(self):
        """With constants of the package replaced, and nothing kept of what was found by others."""
        with ExitStack() as stack:
            for place, value in self.patches.items():
                stack.enter_context(mock.patch(place, value))
            yield


@cache
def compiled(row):
    """The sampler of a row."""
    with row.patched():
        if row.patches:
            clear_caches()
        found = gp.compile(row.model(), kernels=dict(row.kernels), **row.settings)
    if row.patches:
        clear_caches()
    return found


# ---- what is wrong ---------------------------------------------------------------------------


def instead(wrong):
    """Something else, whatever was there."""
    return lambda _right: wrong


def first_value(density):
    """A log density that is computed once and then kept."""
    kept = []

    def stale(x):
        if not kept:
            kept.append(density(x))
        return kept[0]

    return stale


def stale_density(at):
    """A move of which the log density, an argument, is computed once."""

    def factory(right):
        def wrong(*given, **named):
            given = list(given)
            given[at] = first_value(given[at])
            return right(*given, **named)

        return wrong

    return factory


def stale_surface(right):
    """A path along which the log density is the first one, its gradient the right one."""

    def wrong(rng, s, joint, surface, *more, **named):
        kept = []

        def stale(arrays):
            value, slopes = surface(arrays)
            kept.append(value)
            return kept[0], slopes

        return right(rng, s, joint, stale, *more, **named)

    return wrong


def no_jacobian(right):
    """Slopes of coordinates that are right, without the log of the Jacobian."""

    def wrong(*given):
        right(*given)
        return 0.0

    return wrong


def all_given_the_old(right):
    """Elements moved in turn, each given all others as they were before."""
    del right

    def wrong(x, indices, density_at, ends, move):
        new, old = np.array(x), np.array(x)
        lower, upper = (np.broadcast_to(b, new.shape) for b in ends)
        for at in indices:
            new[at] = move(at, old[at], density_at(old, at), lower[at], upper[at])
        return new

    return wrong


def always(right):
    """Every proposal that is possible is accepted."""

    def wrong(rng, log_ratio):
        probability, _ = right(rng, log_ratio)
        return probability, np.asarray(log_ratio) > -np.inf

    return wrong


def interval_from_the_value(right):
    """Intervals of slices that begin at the current value."""

    def wrong(rng, x, *more):
        left, interval_end = right(rng, x, *more)
        return np.maximum(left, x), interval_end

    return wrong


def with_slope(slope):
    """A line whose log Jacobian is another function of the right one's values, and the place."""

    def factory(right):
        def wrong(x, k, j):
            line = right(x, k, j)
            if line is None:
                return None
            own = line.log_slope
            return replace(line, log_slope=lambda new, t: slope(own(new, t), new, t))

        return wrong

    return factory


def with_points(at):
    """A line whose points are others: a function of the value, both entries, and the place."""

    def factory(right):
        def wrong(x, k, j):
            line = right(x, k, j)
            if line is None:
                return None
            return replace(line, at=lambda t: at(line.at, x, k, j, t))

        return wrong

    return factory


def renormalised(at, x, k, t):
    """One share changed, and all divided by their sum: the map is another one."""
    new = np.array(x)
    new[k] *= math.exp(t)
    return new / new.sum()


def ends_early(right):
    """Counts that never give their last unit."""

    def wrong(n, k, j):
        line = right(n, k, j)
        lower, upper = min(line.lower + 1, 0), max(line.upper - 1, 0)
        return replace(line, lower=lower, upper=upper)

    return wrong


def one_entry(at, x, k, j, t):
    """One entry changed, and all divided by their length: areas are not kept."""
    del at, j
    new = np.array(x)
    new[k] += t
    return new / np.sqrt((new**2).sum())


def the_normal_part_too(right):
    """A density besides the normal part that has half of that part in it."""

    def wrong(rng, x, mean, noise, log_density, *, apart):
        def density(at):
            return log_density(at) - ((at - mean) ** 2).sum() / 2

        return right(rng, x, mean, noise, density, apart=apart)

    return wrong


def another_mean(right):
    """Ellipses about a mean that is not that of the draw."""

    def wrong(rng, x, mean, noise, log_density, *, apart):
        return right(rng, x, mean + 2.0, noise, log_density, apart=apart)

    return wrong


def by_another_length(right):
    """The log density of a proposal by twice the squared length."""
    return lambda length, *more: right(2 * length, *more)


def first_number(right):
    """A log density of arrays that is computed once and then kept."""
    kept = {}

    def stale(self, arrays):
        return kept.setdefault("found", right(self, arrays))

    return stale


def of_the_next(right):
    """The log densities of a batch, each that of the proposal after it."""
    return lambda self, arrays: np.roll(right(self, arrays), -1)


def with_weights_of_the_next(right):
    """A batch with the log density of proposing each, that of the one after it."""

    def wrong(*given):
        away, judged = right(*given)
        judged[OF_PROPOSAL] = np.roll(judged[OF_PROPOSAL], -1)
        return away, judged

    return wrong


def uncorrected(right):
    """A proposal that is always accepted."""

    def wrong(rng, s, name, joint, given):
        return right(rng, s, name, joint, (given[0], lambda _: 0.0))

    return wrong


def noise_of_another_size(size):
    """Normal numbers of draws that are stretched."""

    def factory(right):
        def wrong(rng, *given, **named):
            return right(Stretched(rng, size), *given, **named)

        return wrong

    return factory


class Stretched:
    """A stream whose normal numbers are too large, or too small."""

    def __init__(self, rng, size):
        self._rng, self._size = rng, size

    def standard_normal(self, *shape):
        return self._size * self._rng.standard_normal(*shape)

    def __getattr__(self, name):
        return getattr(self._rng, name)



def noise_of_a_method(size):
    """The same of a method, whose first argument is no stream."""

    def factory(right):
        return lambda self, rng, *given: right(self, Stretched(rng, size), *given)

    return factory


def half_of_the_density(at):
    """A draw by half of its log density."""

    def factory(right):
        def wrong(*given, **named):
            given, density = list(given), given[at]
            given[at] = lambda x: np.asarray(density(x)) / 2
            return right(*given, **named)

        return wrong

    return factory


def symmetric(right):
    """Proposals that are taken to be symmetric."""

    def wrong(rng, x, at, log_density, proposal, *more, **named):
        return right(rng, x, at, log_density, gp.Proposal(proposal.draw), *more, **named)

    return wrong


def first_label_at_times(right):
    """The first label in place of a draw, now and then."""
    return lambda rng, log_weights: right(rng, log_weights) * (rng.random() > 0.3)


def at_the_next_place(right):
    """Labels of a scan put at the next place."""
    return lambda *given: np.roll(right(*given), 1)


def without_steps(right):
    """A chain whose labels are drawn alone."""

    def wrong(rng, log_weights, log_transitions, **named):
        return right(rng, log_weights, 0 * log_transitions, **named)

    return wrong


# ---- kernels of one's own --------------------------------------------------------------------


def own_steps(rng, value, log_density):
    """A random walk."""
    new = value + 1.5 * rng.standard_normal(np.shape(value))
    with np.errstate(all="ignore"):
        ratio = np.sum(log_density(new)) - np.sum(log_density(value))
    return new if np.log(rng.random()) < ratio else value


def to_the_right(rng, value):
    """Steps of the log, larger ones on average."""
    return value * np.exp(1.0 + 0.8 * rng.standard_normal(np.shape(value)))


def of_the_right(new, old):
    """The log density of these."""
    return -np.log(new) - (np.log(new / old) - 1.0) ** 2 / (2 * 0.8**2)


# ---- models ----------------------------------------------------------------------------------


def precision(seen):
    tau = gp.Gamma("tau", 3, rate=2)
    gp.Normal("y", 0, tau=tau, dims="i", observed=seen(np.zeros(2)))


def location(seen):
    mu = gp.Normal("mu", 0, sigma=1)
    tau = gp.Gamma("tau", 3, rate=2)
    gp.Normal("y", mu, tau=tau, dims="i", observed=seen(np.zeros(2)))


def chances(seen):
    p = gp.Beta("p", 2, 3, dims="i")
    gp.Bernoulli("y", p, dims="i", observed=seen([0, 1]))


def count(seen):
    c = gp.Poisson("c", 1.5)
    gp.Normal("y", c, sigma=2, observed=seen(2.0))


def counts(seen):
    c = gp.Poisson("c", 2, dims="k")
    gp.Normal("y", c.sum("k"), sigma=1, observed=seen(5.0))


def reals(seen):
    x = gp.Normal("x", 0, sigma=1, dims="k")
    gp.Normal("y", x.sum("k") / 3, sigma=0.1, observed=seen(0.5))


def positives(seen):
    x = gp.Gamma("x", 2, rate=2, dims="k")
    gp.Poisson("y", gp.exp(-x.sum("k")), observed=seen(1))


def levels(seen):
    x = gp.Array("x", dims="k")
    x[0] = gp.Normal(0, sigma=1)
    x[1:] = gp.Normal(x.lag("k"), sigma=0.2)
    gp.Poisson("y", gp.exp(x), dims="k", observed=seen([1, 0, 2]))


def long_levels(seen):
    x = gp.Array("x", dims="t")
    x[0] = gp.Normal(0, sigma=1)
    x[1:] = gp.Normal(x.lag("t"), sigma=0.2)
    gp.Poisson("y", gp.exp(x), dims="t", observed=seen([1, 0, 2, 1, 2, 0]))


def normal_levels(seen):
    x = gp.Array("x", dims="k")
    x[0] = gp.Normal(0, sigma=1)
    x[1:] = gp.Normal(x.lag("k"), sigma=0.7)
    gp.Normal("y", x, sigma=1, dims="k", observed=seen([1, 0, 2]))


def coefficients(seen):
    x = gp.Data("x", X[:, :3], dims=("n", "k"))
    beta = gp.Normal("beta", 0, sigma=1, dims="k")
    gp.Normal("y", x @ beta, sigma=1, dims="n", observed=seen(np.zeros(4)))


def log_counts(seen):
    x = gp.Data("x", X[:2, :2], dims=("i'", "i"))
    beta = gp.Normal("beta", 0, sigma=1.5, dims="i")
    gp.Poisson("y", gp.exp(x @ beta - 3), dims="i'", observed=seen([0, 1]))


def levelled_counts(seen):
    """Counts by coefficients whose mean is drawn, too."""
    x = gp.Data("x", X[:2, :2], dims=("i'", "i"))
    level = gp.Normal("level", 0, sigma=0.5)
    beta = gp.Normal("beta", level, sigma=1.5, dims="i")
    gp.Poisson("y", gp.exp(x @ beta - 3), dims="i'", observed=seen([0, 1]))


def process(seen):
    t = np.arange(3.0)
    cov = gp.Data("K", np.exp(-0.5 * np.subtract.outer(t, t) ** 2) + 0.1 * np.eye(3), ("k", "k'"))
    x = gp.MvNormal("x", 0.3, cov=cov, dims="k", event="k")
    gp.Poisson("y", gp.exp(x), dims="k", observed=seen([1, 0, 3]))


def sparse_effects(seen):
    level = gp.Normal("level", -4, sigma=1)
    effect = gp.Normal("effect", 0, sigma=1, dims="k")
    gp.Poisson("y", gp.exp(level + effect), dims="k", observed=seen([1, 0, 2]))


def effects(seen):
    x = gp.Normal("x", 0.2, sigma=1, dims="k")
    gp.Binomial("y", 20, gp.Phi(x), dims="k", observed=seen([1, 0, 3]))


def returns(seen):
    h = gp.Array("h", dims="k")
    h[0] = gp.Normal(0, sigma=1.5)
    h[1:] = gp.Normal(h.lag("k"), sigma=0.8)
    gp.Normal("y", 0, sigma=gp.exp(h / 2), dims="k", observed=seen([0.3, -1.7, 0.05]))


def gates(seen):
    gate = gp.Bernoulli("gate", 0.4, dims="k")
    gp.Normal("y", 2 * gate + gate.sum("k") / 2, sigma=1, dims="k", observed=seen(np.zeros(3)))


def labels(seen):
    z = gp.Categorical("z", gp.Data("p", [0.2, 0.3, 0.5], dims="k"), dims="i")
    place = gp.Data("place", [0.0, 1.0, 3.0], dims="k")
    gp.Normal("y", place[z], sigma=1, dims="i", observed=seen([0.3, 1.7]))


def hidden(seen):
    start = gp.Data("start", [0.2, 0.3, 0.5], dims="k")
    moves = gp.Data("moves", [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], ("k", "k'"))
    place = gp.Data("place", [0.0, 1.0, 3.0], dims="k")
    z = gp.Array("z", dims="n", event="k")
    z[0] = gp.Categorical(start)
    z[1:] = gp.Categorical(moves[z.lag("n")])
    gp.Normal("y", place[z], sigma=2, dims="n", observed=seen([0.3, 1.7, 0.2, 2.2]))


def mixture(seen):
    weight = gp.Dirichlet("weight", gp.Data("a", [1.0, 2.0, 1.5], dims="k"), dims="k")
    z = gp.Categorical("z", weight, dims="n")
    place = gp.Data("place", [0.0, 1.0, 3.0], dims="k")
    gp.Normal("y", place[z], sigma=1, dims="n", observed=seen([0.3, 1.7, 0.2, 2.2]))


def shares(seen):
    w = gp.Dirichlet("x", gp.Data("a", [0.8, 1.5, 2.0], dims="k"), dims="k")
    gp.Normal("y", gp.exp(w).sum("k"), sigma=0.3, observed=seen(4.2))


def units(seen):
    n = gp.Multinomial("x", 3, p=gp.Data("p", [0.2, 0.3, 0.5], dims="k"), dims="k")
    gp.Normal("y", gp.exp(n / 3).sum("k"), sigma=1, observed=seen(5.0))


def directions(seen):
    mu = gp.Data("mu", [0.0, 0.0, 1.0], dims="k")
    v = gp.VonMisesFisher("x", mu=mu, kappa=1.0, dims="k")
    gp.Poisson("y", gp.exp(v.sum("k")), observed=seen(2))


def matrices(seen):
    scale = gp.Data("scale", [[1.0, 0.4], [0.4, 1.5]], dims=("i", "i'"))
    m = gp.Wishart("x", 4.0, V=scale, dims=("i", "i'"))
    gp.Poisson("y", gp.exp(-m.at("i", 0).at("i'", 0) / 4), observed=seen(1))


# ---- rows ------------------------------------------------------------------------------------

RUNTIME = "gibbsppl.runtime"


# A mixture that is not near to what it stands for, so that the correction matters.
CRUDE = tuple(m + 2.0 for m in MEANS)

ROWS = {
    "slice of a positive number": Row(
        precision, "tau", "slice_batch", kernels={"tau": gp.Slice()},
        bugs={
            "no Jacobian": Bug(
                f"{RUNTIME}.moves._of_log", instead(lambda f: lambda t: f(math.exp(t)))
            ),
            "a stale density": Bug(f"{RUNTIME}.slice_batch", stale_density(2)),
        },
    ),
    "slice of numbers between bounds": Row(
        chances, "p", "slice_batch", kernels={"p": gp.Slice()},
        bugs={
            "an interval from the value on": Bug(
                f"{RUNTIME}.moves._stepped_out", interval_from_the_value
            ),
            "a stale density": Bug(f"{RUNTIME}.moves._inside", instead(first_value)),
        },
    ),
    "slice of a count": Row(
        count, "c", "slice_integers",
        bugs={"a stale density": Bug(f"{RUNTIME}.slice_integers", stale_density(2))},
    ),
    "slice in turn": Row(
        reals, "x", "slice_elements", kernels={"x": gp.Slice()}, reversible=False,
        bugs={"others as before": Bug(f"{RUNTIME}.selections._in_turn", all_given_the_old)},
    ),
    "slice by colour": Row(
        long_levels, "x[1:]", "slice_colours", kernels={"x": gp.Slice()}, reversible=False,
        bugs={"others as before": Bug(f"{RUNTIME}.selections._in_turn", all_given_the_old)},
    ),
    "slice of a part": Row(
        levels, "x[0]", "slice_part", kernels={"x": gp.Slice()},
        bugs={"a stale density": Bug(f"{RUNTIME}.slice_part", stale_density(3))},
    ),
    "slice of shares": Row(
        shares, "x", "slice_tied shared_out", reversible=False, replicates=300,
        bugs={
            "no Jacobian": Bug(f"{RUNTIME}.shared_out", with_slope(lambda *_: 0.0)),
            "half of the Jacobian": Bug(
                f"{RUNTIME}.shared_out", with_slope(lambda own, *_: own / 2)
            ),
            "a share that is not given up": Bug(
                f"{RUNTIME}.shared_out",
                with_points(lambda at, x, k, j, t: renormalised(at, x, k, t)),
            ),
            "a stale density": Bug(f"{RUNTIME}.slice_tied", stale_density(2)),
        },
    ),
    "slice of counts with a sum": Row(
        units, "x", "slice_tied exchanged", reversible=False,
        bugs={
            "a Jacobian": Bug(
                f"{RUNTIME}.exchanged", with_slope(lambda _, new, t: 1.5 * new[0])
            ),
            "an end too early": Bug(f"{RUNTIME}.exchanged", ends_early),
            "a stale density": Bug(f"{RUNTIME}.slice_tied", stale_density(2)),
        },
    ),
    "slice of directions": Row(
        directions, "x", "slice_tied turned", reversible=False,
        bugs={
            "a Jacobian": Bug(
                f"{RUNTIME}.turned", with_slope(lambda _, new, t: 3 * new[0])
            ),
            "one entry alone": Bug(f"{RUNTIME}.turned", with_points(one_entry)),
            "a stale density": Bug(f"{RUNTIME}.slice_tied", stale_density(2)),
        },
    ),
    "slice of matrices": Row(
        matrices, "x", "slice_matrices sheared", reversible=False,
        bugs={
            "no Jacobian": Bug(f"{RUNTIME}.sheared", with_slope(lambda *_: 0.0)),
            "the Jacobian of vectors": Bug(
                f"{RUNTIME}.sheared",
                with_slope(lambda own, new, _: own * len(new) / (len(new) + 1)),
            ),
            "a Jacobian of shears": Bug(
                f"{RUNTIME}.sheared", with_slope(lambda own, new, t: own + t * (own == 0))
            ),
            "a stale density": Bug(f"{RUNTIME}.slice_matrices", stale_density(2)),
        },
    ),
    "random walk of numbers between bounds": Row(
        chances, "p", "walk_batch", kernels={"p": gp.RandomWalk()},
        bugs={
            "no Jacobian": Bug(
                f"{RUNTIME}.walks.log_slope", instead(lambda u, *_: np.zeros(np.shape(u)))
            ),
            "always accepted": Bug(f"{RUNTIME}.walks.is_accepted", always),
            "a stale density": Bug(f"{RUNTIME}.walk_batch", stale_density(2)),
        },
    ),
    "random walk of a count": Row(
        count, "c", "walk_integers", kernels={"c": gp.RandomWalk()},
        bugs={
            "ends that attract": Bug(f"{RUNTIME}.walks.reflected", instead(np.clip)),
            "always accepted": Bug(f"{RUNTIME}.walks.is_accepted", always),
        },
    ),
    "random walk in turn": Row(
        long_levels, "x[1:]", "walk_elements", kernels={"x": gp.RandomWalk()}, reversible=False,
        bugs={
            "always accepted": Bug(f"{RUNTIME}.walks.is_accepted", always),
        },
    ),
    "random walk of a part": Row(
        levels, "x[0]", "walk_part", kernels={"x": gp.RandomWalk()},
        bugs={"always accepted": Bug(f"{RUNTIME}.walks.is_accepted", always)},
    ),
    "random walk of a vector": Row(
        positives, "x", "walk_vectors", kernels={"x": gp.RandomWalk()},
        bugs={
            "no Jacobian": Bug(
                f"{RUNTIME}.walks.log_slope", instead(lambda u, *_: np.zeros(np.shape(u)))
            ),
            "always accepted": Bug(f"{RUNTIME}.walks.is_accepted", always),
            "a stale density": Bug(f"{RUNTIME}.walk_vectors", stale_density(2)),
        },
    ),
    "random walk of shares": Row(
        shares, "x", "walk_tied shared_out", kernels={"x": gp.RandomWalk()}, reversible=False,
        bugs={
            "no Jacobian": Bug(f"{RUNTIME}.shared_out", with_slope(lambda *_: 0.0)),
            "always accepted": Bug(f"{RUNTIME}.walks.is_accepted", always),
            "a stale density": Bug(f"{RUNTIME}.walk_tied", stale_density(2)),
        },
    ),
    "random walk of matrices": Row(
        matrices, "x", "walk_matrices sheared", kernels={"x": gp.RandomWalk()}, reversible=False,
        bugs={
            "no Jacobian": Bug(f"{RUNTIME}.sheared", with_slope(lambda *_: 0.0)),
            "a stale density": Bug(f"{RUNTIME}.walk_matrices", stale_density(2)),
        },
    ),
    "elliptical slice of a vector": Row(
        process, "x", "elliptical_slice", kernels={"x": gp.EllipticalSlice()},
        bugs={
            "the normal part counted twice": Bug(
                f"{RUNTIME}.elliptical.along_ellipses", the_normal_part_too
            ),
            "another mean": Bug(f"{RUNTIME}.elliptical.along_ellipses", another_mean),
        },
    ),
    "elliptical slice of each element": Row(
        effects, "x", "elliptical_slice", kernels={"x": gp.EllipticalSlice()},
        bugs={
            "a stale density": Bug(f"{RUNTIME}.elliptical.along_ellipses", stale_density(4)),
            "another mean": Bug(f"{RUNTIME}.elliptical.along_ellipses", another_mean),
        },
    ),
    "proposals about the mode": Row(
        levelled_counts, "beta", "modal_proposal", replicates=1500,
        settings={"blocks": {"beta": "proposed"}},
        bugs={
            "no proposal ratio": Bug(f"{RUNTIME}.modal._log_t", instead(lambda *_: 0.0)),
            "lengths in other units": Bug(f"{RUNTIME}.modal._log_t", by_another_length),
            "a stale density": Bug(f"{RUNTIME}.modal.LogDensity.__call__", first_number),
        },
    ),
    "proposals about the mode in batches": Row(
        log_counts, "beta", "modal_proposal", replicates=1500,
        bugs={
            "no proposal ratio": Bug(f"{RUNTIME}.modal._log_t", instead(lambda *_: 0.0)),
            "lengths in other units": Bug(f"{RUNTIME}.modal._log_t", by_another_length),
            "densities of the next one": Bug(f"{RUNTIME}.modal.LogDensity.many", of_the_next),
            "weights of the next one": Bug(f"{RUNTIME}.modal._batch", with_weights_of_the_next),
        },
    ),
    "proposals about the mode, others moving along": Row(
        sparse_effects, "level", "modal_proposal", replicates=1500, settings={"interweave": False},
        patches={"gibbsppl.planning.modal.MOST_PROPOSED": 1},
        bugs={"lengths in other units": Bug(f"{RUNTIME}.modal._log_t", by_another_length)},
    ),
    "corrected joint draw": Row(
        returns, "h", "corrected_draw", settings={"rewrites": {"log chi-squared": True}},
        patches={
            "gibbsppl.rewrites.volatility.MEANS": CRUDE,
            "gibbsppl.runtime.log_chi.MEANS": CRUDE,
        },
        bugs={"no correction": Bug(f"{RUNTIME}.corrected_draw", uncorrected)},
    ),
    "no-U-turn paths": Row(
        positives, "x", "nuts", kernels={"x": gp.NUTS(max_depth=4)},
        bugs={"a stale density": Bug(f"{RUNTIME}.nuts", stale_surface)},
    ),
    "paths of a length": Row(
        positives, "x", "hmc", kernels={"x": gp.HMC()},
        bugs={
            "always accepted": Bug(f"{RUNTIME}.loops.trajectories.exp", instead(lambda _: 1.0)),
        },
    ),
    "no-U-turn paths of shares": Row(
        shares, "x", "nuts", kernels={"x": gp.NUTS(max_depth=4)},
        bugs={
            "no Jacobian": Bug(f"{RUNTIME}.loops.unconstrained._slopes_of_shares", no_jacobian),
            "a stale density": Bug(f"{RUNTIME}.nuts", stale_surface),
        },
    ),
    "paths of a length of matrices": Row(
        matrices, "x", "hmc", kernels={"x": gp.HMC()},
        bugs={"no Jacobian": Bug(f"{RUNTIME}.loops.unconstrained._slopes_of_matrix", no_jacobian)},
    ),
    "swap": Row(
        gates, "gate", "swap", kernels={"gate": gp.Swap()},
        bugs={"always accepted": Bug(f"{RUNTIME}.swaps.is_accepted", always)},
    ),
    "over-relaxed number": Row(
        location, "mu", "over_relaxed_normal", kernels={"mu": gp.OverRelaxed(-0.5)},
        bugs={
            "noise of another size": Bug(
                f"{RUNTIME}.over_relaxed_normal", noise_of_another_size(2.0)
            )
        },
    ),
    "over-relaxed vector": Row(
        coefficients, "beta", "over_relaxed_mvnormal", kernels={"beta": gp.OverRelaxed(-0.5)},
        bugs={
            "noise of another size": Bug(
                f"{RUNTIME}.over_relaxed_mvnormal", noise_of_another_size(2.0)
            )
        },
    ),
    "a kernel of one's own": Row(
        precision, "tau", "own_move", kernels={"tau": own_steps},
        bugs={"a stale density": Bug(f"{RUNTIME}.own_move", stale_density(3))},
    ),
    "a proposal of one's own": Row(
        precision, "tau", "proposal_move", kernels={"tau": gp.Proposal(to_the_right, of_the_right)},
        bugs={
            "no proposal ratio": Bug(f"{RUNTIME}.proposal_move", symmetric),
            "always accepted": Bug(f"{RUNTIME}.user_kernels.is_accepted", always),
        },
    ),
    "adaptive rejection of a number": Row(
        precision, "tau", "log_concave", kernels={"tau": gp.AdaptiveRejection()},
        bugs={"half of the density": Bug(f"{RUNTIME}.log_concave", half_of_the_density(1))},
    ),
    "adaptive rejection in turn": Row(
        reals, "x", "log_concave_elements", kernels={"x": gp.AdaptiveRejection()}, reversible=False,
        bugs={"others as before": Bug(f"{RUNTIME}.selections._in_turn", all_given_the_old)},
    ),
    "adaptive rejection by colour": Row(
        long_levels, "x[1:]", "log_concave_colours", kernels={"x": gp.AdaptiveRejection()},
        reversible=False,
        bugs={"others as before": Bug(f"{RUNTIME}.selections._in_turn", all_given_the_old)},
    ),
    "adaptive rejection of a part": Row(
        levels, "x[0]", "log_concave_part", kernels={"x": gp.AdaptiveRejection()},
        bugs={"half of the density": Bug(f"{RUNTIME}.log_concave_part", half_of_the_density(3))},
    ),
    "draw from a family": Row(
        location, "mu", "normal",
        bugs={
            "noise of another size": Bug(f"{RUNTIME}.normal", noise_of_another_size(2.0)),
        },
    ),
    "draw of a vector": Row(
        coefficients, "beta", "mvnormal",
        bugs={
            "noise of another size": Bug(f"{RUNTIME}.mvnormal", noise_of_another_size(2.0)),
        },
    ),
    "joint draw": Row(
        normal_levels, "x", "",
        bugs={
            "noise of another size": Bug(f"{RUNTIME}.joint.Joint.draw", noise_of_a_method(2.0)),
        },
    ),
    "draw of labels": Row(
        labels, "z", "labels",
        bugs={"the first label at times": Bug(f"{RUNTIME}.labels", first_label_at_times)},
    ),
    "draw of a chain of labels": Row(
        hidden, "z", "chain",
        bugs={"no steps": Bug(f"{RUNTIME}.chain", without_steps)},
    ),
    "scan of labels with a table": Row(
        mixture, "z", "scan", settings={"collapse": ("weight",)}, reversible=False,
        bugs={"at the next place": Bug(f"{RUNTIME}.scan", at_the_next_place)},
    ),
    "cycle": Row(
        precision, "tau", "slice_batch walk_batch",
        kernels={"tau": gp.Cycle(gp.RandomWalk(), gp.Slice(), symmetric=True)},
        bugs={"always accepted": Bug(f"{RUNTIME}.walks.is_accepted", always)},
    ),
    "mixture": Row(
        precision, "tau", "chosen_part", kernels={"tau": gp.Mix(gp.RandomWalk(), gp.Exact())},
        bugs={"always accepted": Bug(f"{RUNTIME}.walks.is_accepted", always)},
    ),
}  # fmt: skip
