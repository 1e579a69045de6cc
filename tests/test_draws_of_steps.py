"""Draws of single steps: each step alone, all else held, against the joint density.

A step is compiled by itself and drawn many times from one state. What it draws of one element is
compared with the log joint density as a function of that element, integrated over a grid, or summed
over whole numbers. All that the step does not draw must stay as it is, to the last bit.
"""

import functools
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from scipy import stats
from test_runtime_draws import discrete

import gibbsppl as gp
from gibbsppl.algebra.expressions import Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.program import load
from gibbsppl.code.source import write_numpy
from gibbsppl.initial.search import initial_state
from gibbsppl.kernels.move import Move
from gibbsppl.model.along_draws import DRAW, along_draws
from gibbsppl.model.density import free_elements, log_density, log_joint, regions
from gibbsppl.model.evaluation import evaluate
from gibbsppl.runtime.moves import freeze
from gibbsppl.schedule.sweeps import Schedule

DRAWS = 700
WARM = 20
# A move is close to independent of its start after as many; fewer draws are kept of one.
MOVES, DRAWS_OF_MOVES = 8, 300
# Elements looked at in each step.
MOST = 3
GROUP = [0, 0, 2, 2, 1]
SEEN = np.array([0.13, 0.13, 0.64, 0.1, 0.54])
RISING = np.array([0.1, 0.5, 1.5, 2.0])


def masked(values, missing):
    return np.ma.array(values, mask=missing)


# ---- densities that are constant in a variable, on a support that is not ---------------------


def between_a_value_and_one_more():
    with gp.Model() as m:
        x = gp.Uniform("x", 0, 5)
        th = gp.Uniform("th", x, x + 1)
        gp.Normal("z", th, sigma=0.1, observed=4.0)
    return m


def around_a_centre():
    with gp.Model(coords={"i": 5}) as m:
        th = gp.Normal("th", 0, sigma=3)
        w = gp.Uniform("w", th - 0.5, th + 0.5, dims="i")
        gp.Normal("z", w, sigma=1, dims="i", observed=SEEN)
    return m


def from_a_start_with_a_width():
    with gp.Model(coords={"i": 5}) as m:
        a = gp.Normal("a", 0, sigma=3)
        w = gp.Gamma("w", 2, rate=1)
        gp.Uniform("y", a, a + w, dims="i", observed=SEEN)
    return m


def a_range_of_four():
    with gp.Model(coords={"i": 5}) as m:
        a = gp.DiscreteUniform("a", 0, 9)
        gp.DiscreteUniform("y", a, a + 3, dims="i", observed=[4, 5, 5, 4, 6])
    return m


def a_chain_of_steps_up():
    with gp.Model(coords={"t": 4}) as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Uniform(0, 1)
        x[1:] = gp.Uniform(x.lag("t", 1), x.lag("t", 1) + 1)
        gp.Normal("y", x, sigma=1, dims="t", observed=RISING)
    return m


# ---- order -----------------------------------------------------------------------------------


def a_chain_above_its_past():
    with gp.Model(coords={"t": 5}) as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Gamma(2, rate=1)
        x[1:] = gp.Pareto(2, minimum=x.lag("t", 1))
        gp.Poisson("y", x, dims="t", observed=[1, 2, 3, 4, 9])
    return m


def values_in_order():
    with gp.Model(coords={"t": 4}) as m:
        x = gp.Uniform("x", 0, 3, dims="t")
        gp.Constraint("rising", x.lag("t", 1) < x)
        gp.Normal("y", x, sigma=1, dims="t", observed=RISING)
    return m


def between_two_of_its_own():
    with gp.Model(coords={"t": 3}) as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Gamma(3, rate=1)
        x[1] = gp.Uniform(0, x[0])
        x[2] = gp.Uniform(x[1], x[0])
    return m


def not_far_above_another():
    """The first pair is an element and itself, which says nothing."""
    with gp.Model(coords={"k": 3, "i": 5}) as m:
        g = gp.Index("g", GROUP, of="k", dims="i")
        h = gp.Index("h", [0, 1, 0, 0, 2], of="k", dims="i")
        a = gp.Uniform("a", 0, 10, dims="k")
        gp.Constraint("near", a[g] <= a[h] + 1.5)
    return m


def not_above_another():
    """The last element is compared with itself."""
    with gp.Model(coords={"i": 5}) as m:
        g = gp.Index("g", [1, 2, 3, 4, 4], of="i", dims="i")
        a = gp.Uniform("a", 0, 10, dims="i")
        gp.Constraint("rising", a <= a[g])
        gp.Normal("y", a, sigma=1, dims="i", observed=[1.0, 2, 3, 4, 5])
    return m


# ---- missing values --------------------------------------------------------------------------


def missing_values_below_a_bound():
    with gp.Model(coords={"k": 3, "i": 5}) as m:
        g = gp.Index("g", [0, 0, 2, 1, 1], of="k", dims="i")
        th = gp.Pareto("th", 2, minimum=0.5, dims="k")
        seen = masked([0.13, 0, 0.64, 0, 5.4], [0, 1, 0, 1, 0])
        gp.Uniform("x", 0, th[g], dims="i", observed=seen)
    return m


def missing_values_above_a_bound():
    with gp.Model(coords={"k": 3, "i": 5}) as m:
        g = gp.Index("g", [0, 0, 2, 1, 1], of="k", dims="i")
        a = gp.Gamma("a", 2, rate=1, dims="k")
        gp.Pareto("x", 2, minimum=a[g], dims="i", observed=masked(SEEN + 1, [0, 1, 0, 1, 0]))
    return m


def a_chain_with_gaps():
    with gp.Model(coords={"t": 5}) as m:
        seen = masked([0.1, 0.3, 0, 0.8, 0], [0, 0, 1, 0, 1])
        x = gp.Array("x", dims="t", observed=seen)
        x[0] = gp.Uniform(0, 1)
        x[1:] = gp.Uniform(x.lag("t", 1), 2)
    return m


def missing_counts():
    with gp.Model(coords={"k": 3, "i": 5}) as m:
        g = gp.Index("g", [0, 0, 2, 1, 1], of="k", dims="i")
        n = gp.DiscreteUniform("n", 0, 9, dims="k")
        gp.Binomial("y", n[g], 0.4, dims="i", observed=masked([2, 1, 3, 2, 0], [0, 1, 0, 1, 0]))
    return m


# ---- whole numbers ---------------------------------------------------------------------------


def a_count_above_a_real():
    with gp.Model() as m:
        x = gp.Gamma("x", 2, rate=1)
        n = gp.DiscreteUniform("n", 0, 9)
        gp.Constraint("above", n >= x)
    return m


def a_shrinking_count():
    with gp.Model(coords={"t": 5}) as m:
        seen = masked([0, 7, 6, 4, 4], [1, 0, 0, 0, 0])
        n = gp.Array("n", dims="t", observed=seen)
        n[0] = gp.Poisson(9)
        n[1:] = gp.Binomial(n.lag("t", 1), 0.8)
    return m


def one_count_above_another():
    with gp.Model() as m:
        n = gp.Geometric("n", 0.2)
        b = gp.Geometric("b", 0.3)
        gp.Constraint("above", n >= b)
    return m


def counts_of_which_some_are_seen():
    with gp.Model(coords={"k": 3}) as m:
        p = gp.Dirichlet("p", 1, dims="k")
        n = gp.Multinomial("n", 12, p, dims="k")
        gp.Binomial("y", n, 0.5, dims="k", observed=[1, 1, 2])
    return m


def counts_with_a_ceiling():
    with gp.Model(coords={"k": 4}) as m:
        p = gp.Dirichlet("p", 1, dims="k")
        n = gp.Multinomial("n", 12, p, dims="k")
        gp.Binomial("y", n, 0.5, dims="k", observed=[1, 1, 2, 0])
        gp.Constraint("few", n <= 4)
    return m


# ---- elements that are given -----------------------------------------------------------------


def half_flat_beside_a_constant():
    with gp.Model(coords={"t": 4}) as m:
        x = gp.Array("x", dims="t")
        x[0] = -2.0
        x[1:] = gp.HalfFlat()
        for j, y in enumerate((3, 5, 1), start=1):
            gp.Poisson(f"y_{j}", x[j], observed=y)
    return m


def half_normal_beside_a_constant():
    with gp.Model(coords={"t": 4}) as m:
        x = gp.Array("x", dims="t")
        x[0] = -2.0
        x[1:] = gp.HalfNormal(sigma=2)
        for j, y in enumerate((3, 5, 1), start=1):
            gp.Poisson(f"y_{j}", x[j], observed=y)
    return m


def powers_beside_a_constant():
    """Concave after a log, which the constant has none of."""
    with gp.Model(coords={"t": 4}) as m:
        x = gp.Array("x", dims="t")
        x[0] = -2.0
        x[1:] = gp.HalfFlat()
        for j, power in enumerate((1.5, 0.5, 0.7), start=1):
            gp.Exponential(f"y_{j}", rate=x[j] ** power, observed=1.0)
            gp.Exponential(f"z_{j}", rate=x[j] ** (2 * power), observed=1.0)
    return m


# ---- changes of variable ---------------------------------------------------------------------


def sd_of_data_with_gaps():
    with gp.Model(coords={"i": 5}) as m:
        sd = gp.Uniform("sd", 0, 5)
        gp.Normal("y", 0, sigma=sd, dims="i", observed=masked(SEEN, [0, 1, 0, 0, 1]))
    return m


def sd_of_groups():
    """The last group has no data."""
    with gp.Model(coords={"k": 4, "i": 5}) as m:
        g = gp.Index("g", GROUP, of="k", dims="i")
        sd = gp.Uniform("sd", 0, 5, dims="k")
        gp.Normal("y", 0, sigma=sd[g], dims="i", observed=SEEN)
    return m


def sd_of_groups_with_one_given():
    with gp.Model(coords={"k": 3, "i": 5}) as m:
        g = gp.Index("g", GROUP, of="k", dims="i")
        sd = gp.Uniform("sd", 0, 5, dims="k", observed=masked([0.0, 0.7, 0.0], [1, 0, 1]))
        gp.Normal("y", 0, sigma=sd[g], dims="i", observed=SEEN)
    return m


def sd_with_a_prior_for_each_region():
    with gp.Model(coords={"t": 5}) as m:
        sd = gp.Array("sd", dims="t")
        sd[0] = gp.Uniform(0, 2)
        sd[1:] = gp.HalfCauchy(1)
        gp.Normal("y", 0, sigma=sd, dims="t", observed=SEEN)
    return m


def sd_with_other_bounds_in_each_region():
    with gp.Model(coords={"t": 5}) as m:
        sd = gp.Array("sd", dims="t")
        sd[:2] = gp.Uniform(0, 2)
        sd[2:] = gp.Uniform(1, 5)
        gp.Normal("y", 0, sigma=sd, dims="t", observed=SEEN)
    return m


def rate_with_a_heavy_tail_in_a_region():
    with gp.Model(coords={"t": 5}) as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.HalfCauchy(1)
        x[1:] = gp.HalfNormal(sigma=2)
        gp.Gamma("y", x, rate=1, dims="t", observed=SEEN)
    return m


def sd_in_order():
    with gp.Model(coords={"t": 4}) as m:
        sd = gp.Uniform("sd", 0, 9, dims="t")
        gp.Constraint("rising", sd.lag("t", 1) <= sd)
        gp.Normal("y", 0, sigma=sd, dims="t", observed=RISING)
    return m


def sd_in_order_with_one_given():
    with gp.Model(coords={"t": 4}) as m:
        sd = gp.Uniform("sd", 0, 9, dims="t", observed=masked([0.0, 0.7, 0, 0], [1, 0, 1, 1]))
        gp.Constraint("rising", sd.lag("t", 1) <= sd)
        gp.Normal("y", 0, sigma=sd, dims="t", observed=RISING)
    return m


def heavy_tailed_sd_in_order():
    with gp.Model(coords={"t": 4}) as m:
        sd = gp.HalfCauchy("sd", 1, dims="t")
        gp.Constraint("rising", sd.lag("t", 1) < sd)
        gp.Normal("y", 0, sigma=sd, dims="t", observed=RISING)
    return m


def powers_in_order():
    """Each element is a power of its own of what is drawn."""
    with gp.Model(coords={"t": 4}) as m:
        c = gp.Data("c", [1.0, 2, 0.5, 1.5], dims="t")
        x = gp.Uniform("x", 0, 5, dims="t")
        gp.Constraint("rising", x.lag("t", 1) <= x)
        gp.Exponential("y", rate=x**c, dims="t", observed=np.ones(4))
    return m


def flat_sd_in_order():
    with gp.Model(coords={"t": 4, "r": 3}) as m:
        sd = gp.HalfFlat("sd", dims="t")
        gp.Constraint("rising", sd.lag("t", 1) < sd)
        seen = np.outer([1.0, 0.5, 2.0], RISING)
        gp.Normal("y", 0, sigma=sd, dims=("r", "t"), observed=seen)
    return m


def powers_of_groups_with_one_given():
    with gp.Model(coords={"k": 3, "i": 5}) as m:
        c = gp.Data("c", [1.0, 2, 3, 0.5, 1.5], dims="i")
        g = gp.Index("g", [0, 0, 2, 1, 1], of="k", dims="i")
        x = gp.HalfFlat("x", dims="k", observed=masked([0, 0.7, 0], [1, 0, 1]))
        gp.Exponential("w", rate=x[g] ** c, dims="i", observed=SEEN)
    return m


MODELS = {
    f.__name__: f
    for f in (
        between_a_value_and_one_more,
        around_a_centre,
        from_a_start_with_a_width,
        a_range_of_four,
        a_chain_of_steps_up,
        a_chain_above_its_past,
        values_in_order,
        between_two_of_its_own,
        not_far_above_another,
        not_above_another,
        missing_values_below_a_bound,
        missing_values_above_a_bound,
        a_chain_with_gaps,
        missing_counts,
        a_count_above_a_real,
        a_shrinking_count,
        one_count_above_another,
        counts_of_which_some_are_seen,
        half_flat_beside_a_constant,
        half_normal_beside_a_constant,
        powers_beside_a_constant,
        sd_of_data_with_gaps,
        sd_of_groups,
        sd_of_groups_with_one_given,
        sd_with_a_prior_for_each_region,
        sd_with_other_bounds_in_each_region,
        rate_with_a_heavy_tail_in_a_region,
        sd_in_order,
        sd_in_order_with_one_given,
        heavy_tailed_sd_in_order,
        powers_in_order,
        flat_sd_in_order,
        powers_of_groups_with_one_given,
    )
}
STEPS = 3
# An upper bound of the comparisons made in this file.
LEVEL = 1e-4 / (STEPS * MOST * len(MODELS))


# ---- one step, alone -------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """A compiled model, a start, and the state after a few sweeps, which is held."""

    sampler: object
    start: dict
    state: dict

    @property
    def values(self):
        return {**self.sampler.data, **self.state}


@functools.cache
def held(build):
    """The model at a state that a few sweeps have reached."""
    sampler = gp.compile(build(), rewrites=False)
    return swept(sampler, sampler.program)


def swept(sampler, program):
    """The model at a state that a few sweeps of a program have reached."""
    rng = np.random.default_rng(3)
    mend = sampler.program.mended_by(rng, sampler.constants)
    start, _ = initial_state(rng, sampler.graph, sampler.data, mend=mend)
    state = copied(start)
    for _ in range(WARM):
        program.sweep(rng, state, sampler.constants)
    return Held(sampler, copied(start), copied({name: state[name] for name in start}))


def source_of(model, step):
    """The program of one step."""
    return write_numpy(Schedule(model.sampler.graph, (step,), (model.sampler.graph,)))


def free_positions(model, step):
    """Where the elements are that the step draws, as index tuples of the array."""
    statement, sizes = step.statement, model.sampler.graph.sizes
    free = free_elements(statement, model.values, sizes)
    over = regions(statement, sizes)
    indices = [evaluate(i, over, model.values, sizes) for i in statement.target.indices]
    full = [np.broadcast_to(i, free.shape).astype(int) for i in indices]
    return [tuple(int(i[w]) for i in full) for w in map(tuple, np.argwhere(free))]


def chosen(positions):
    """The first and the last element, and others between."""
    places = np.linspace(0, len(positions) - 1, min(MOST, len(positions)))
    return [positions[int(p)] for p in places]


def drawn(model, step, source, only=None):
    """The array after each of many draws of the step from the same state of all else.

    ``only`` is the one element that a step draws which takes them one after the other.
    """
    program, rng = load(source), np.random.default_rng(12)
    constants, name = program.prepare(model.sampler.data), step.variables[0]
    if step.is_by_element:
        constants |= {elements_of(step, constants): [only]}
    found, state = [], copied(model.state)
    for repeat in range(DRAWS_OF_MOVES if isinstance(step, Move) else DRAWS):
        state = state if isinstance(step, Move) else copied(model.state)
        for _ in range(moves_before(step, repeat)):
            program.sweep(rng, state, constants)
        freeze(state)
        found.append(np.array(state[name]))
    return np.array(found)


def elements_of(step, constants):
    """Under which name a step finds the elements that it draws one by one, or by colour."""
    stem = step.variables[0] + ("_colours" if step.is_coloured else "_elements")
    return next(name for name in constants if name.startswith(stem))


def are_all_listed(model, step, source):
    """Whether a step that takes elements in several calls takes each that is free, once."""
    constants = load(source).prepare(model.sampler.data)
    listed = []
    for at in constants[elements_of(step, constants)]:
        number = np.arange(model.state[step.variables[0]].size)
        shape = model.state[step.variables[0]].shape
        chosen = number.reshape(shape)[at].ravel()
        listed += [tuple(map(int, np.unravel_index(n, shape))) for n in chosen]
    return sorted(listed) == sorted(free_positions(model, step))


def copied(state):
    """A state of its own, as arrays."""
    return {name: np.array(value) for name, value in state.items()}


def moves_before(step, repeat):
    """How many draws to make before one is kept: moves forget their start, and adapt at first."""
    if not isinstance(step, Move):
        return 1
    return MOVES if repeat else 10 * MOVES


def is_all_else_kept(before, after, positions):
    """Whether the elements at no position of those are as they were, to the last bit."""
    rest = np.ones(np.shape(before), dtype=bool)
    for at in positions:
        rest[at] = False
    return bool((np.asarray(after)[..., rest] == np.asarray(before)[rest]).all())


def are_given_kept(model):
    """Whether what no step draws is after the sweeps as it was at the start."""
    free = {name: [] for name in model.start}
    for step in model.sampler.schedule.steps:
        free[step.variables[0]] += free_positions(model, step)
    return all(is_all_else_kept(model.start[n], model.state[n], free[n]) for n in free)


# ---- the conditional by the joint density ----------------------------------------------------


def read_along(expr, name):
    """The expression with an array read at each of many candidates."""
    if not expr.args:
        return expr
    args = tuple(read_along(a, name) for a in expr.args)
    if isinstance(expr, Leaf) and expr.array.name == name:
        return Leaf(*args, DRAW)
    return expr.func(*args)


def log_joints(model, name, candidates):
    """The log joint density with an array replaced by each candidate, candidates first."""
    count = len(candidates)
    graph = along_draws(model.sampler.graph, {name}, count)
    along = Range(DRAW, 0, count)
    potentials = [  # (others are read along the draws already)
        p
        if p.of is None
        else replace(p, over=(*p.over, along), log_density=read_along(p.log_density, name))
        for p in graph.potentials
    ]
    values = {**model.values, name: np.moveaxis(np.asarray(candidates, dtype=float), 0, -1)}
    terms = [log_density(f, values, graph.sizes) for f in (*graph.statements, *potentials)]
    return sum(t.reshape(-1, count).sum(0) for t in terms)


def log_density_at(model, name, at):
    """The log joint density as a function of one element, at an array of its values."""

    def log_density_of(x):
        candidates = np.repeat(model.state[name][None].astype(float), len(x), axis=0)
        candidates[(slice(None), *at)] = x
        return log_joints(model, name, candidates)

    return log_density_of


def grid_about(draws):
    """Where the draws are, closely, and far beyond on both sides."""
    low, high = draws.min(), draws.max()
    width = max(high - low, 1e-3 * abs(low), 1e-9)
    away = width * np.geomspace(1e-4, 1e3, 150)
    inside = np.quantile(draws, np.linspace(0, 1, 201))
    return np.unique(np.r_[low - away, np.linspace(low, high, 400), inside, high + away])


def with_edges(grid, log_density_of):
    """The grid, closer to where the density ends: its poles are there, if any."""
    inside = np.isfinite(log_density_of(grid))
    for k in np.flatnonzero(inside[1:] != inside[:-1]):
        low, high = grid[k : k + 2]
        for _ in range(6):
            between = np.linspace(low, high, 101)
            there = np.isfinite(log_density_of(between))
            last = np.flatnonzero(there[1:] != there[:-1])[0]
            low, high = between[last : last + 2]
        end, sign = (high, 1) if inside[k + 1] else (low, -1)
        width = abs(grid[k + 1 if sign > 0 else k] - end)
        grid = np.r_[grid, low, high, end + sign * width * np.geomspace(1e-9, 1, 100)]
    return np.unique(grid)


def weights_of(log_densities):
    """The densities, the largest of which is 1."""
    finite = np.isfinite(log_densities)
    return np.exp(np.where(finite, log_densities, -np.inf) - log_densities[finite].max())


def distribution(grid, log_densities):
    """The integral of a density by the trapezoid rule, as a function."""
    density = weights_of(log_densities)
    steps = np.diff(grid) * (density[1:] + density[:-1]) / 2
    total = np.r_[0, np.cumsum(steps)]
    return lambda x: np.interp(x, grid, total / total[-1])


def chances(values, log_densities):
    """A distribution of whole numbers from the log densities of all of them."""
    weights = weights_of(log_densities)
    return stats.rv_discrete(values=(values, weights / weights.sum()))


def fit(model, step, at, draws):
    """The p-value of draws of one element against the joint density."""
    log_density_of = log_density_at(model, step.variables[0], at)
    if step.statement.support.is_discrete:
        x = np.arange(max(0, draws.min() - 40), draws.max() + 41)
        return discrete(draws, chances(x, log_density_of(x)))
    grid = with_edges(grid_about(draws), log_density_of)
    return stats.kstest(draws, distribution(grid, log_density_of(grid))).pvalue


def fit_of_counts(model, step, draws):
    """The p-value of draws of whole numbers that have a sum, against all that have it."""
    total, size = int(draws[0].sum()), draws.shape[1]
    every = [c for c in product(range(total + 1), repeat=size) if sum(c) == total]
    place = {c: k for k, c in enumerate(every)}
    found = [place[tuple(int(n) for n in draw)] for draw in draws]
    log_densities = log_joints(model, step.variables[0], every)
    return discrete(found, chances(range(len(every)), log_densities))


def fits(model, step, source):
    """The p-value of each element looked at; 0 where others change, or are not drawn."""
    positions, name = free_positions(model, step), step.variables[0]
    found = None if step.is_by_element else drawn(model, step, source)
    if step.statement.support.kind == "counts":
        yield fit_of_counts(model, step, found)
        return
    for at in chosen(positions):
        alone = drawn(model, step, source, at) if step.is_by_element else found
        yield fit(model, step, at, alone[(slice(None), *at)])
        changed = [at] if step.is_by_element else positions
        if not is_all_else_kept(model.state[name], alone, changed):
            yield 0.0
    if step.is_by_element and not are_all_listed(model, step, source):
        yield 0.0


def steps_of(model):
    """The steps that are looked at: those of numbers, and of counts."""
    kinds = ("real", "integer", "counts")
    return [s for s in model.sampler.schedule.steps if s.statement.support.kind in kinds]


@pytest.mark.parametrize("name", MODELS)
def test_each_step_alone_draws_from_its_conditional(name):
    model = held(MODELS[name])
    steps = steps_of(model)

    assert np.isfinite(log_joint(model.sampler.graph, model.values))
    assert 0 < len(steps) <= STEPS
    assert are_given_kept(model)
    for step in steps:
        found = list(fits(model, step, source_of(model, step)))
        assert min(found) > LEVEL, (step.statement.name, found)


def test_a_ceiling_of_counts_is_not_dropped():
    """What no family owns is moved under its ceiling, not drawn as if there were none."""
    sampler = gp.compile(counts_with_a_ceiling())

    assert [s.kind for s in sampler.schedule.steps if "n" in s.variables] == ["move"]
    assert sampler.verify(seed=0).proved


# ---- spoilt programs -------------------------------------------------------------------------


@dataclass(frozen=True)
class Bug:
    """What the program of one step says, and what it is changed to."""

    build: object
    step: str
    right: str
    wrong: str


GIVEN = 's["sd"][c["sd_missing"]] = 1 / sqrt(u_sd)'
SPOILT = {
    "a limit forgotten": Bug(between_a_value_and_one_more, "x", "maximum(0, th - 1)", "0"),
    "the limit of another child": Bug(
        around_a_centre, "th", "(w - 0.5).max(axis=0)", "(w - 0.5).min(axis=0)"
    ),
    "what comes after forgotten": Bug(
        values_in_order, "x", "minimum(upper[:3], x[1:])", "upper[:3]"
    ),
    "the wrong neighbour": Bug(
        values_in_order, "x", "maximum(lower[1:], x[:3])", "maximum(lower[1:], x[0])"
    ),
    "the bound of another missing value": Bug(
        missing_values_below_a_bound, "x", '"],))[c["x_missing"]]', '"],))[::-1][c["x_missing"]]'
    ),
    "one label too far": Bug(
        a_count_above_a_real, "n", "at_most(x, positions)", "at_most(x, positions + 1)"
    ),
    "a count one too large": Bug(one_count_above_another, "n", 's["b"] + u_n', 's["b"] + u_n + 1'),
    "a move by another rate": Bug(a_shrinking_count, "n[0]", "log(9)", "log(30)"),
    "counts that add what is seen of others": Bug(
        counts_of_which_some_are_seen, "n", 'u_n + c["y"]', 'u_n + c["y"][::-1]'
    ),
    "a change not undone": Bug(sd_of_groups, "sd", "1 / sqrt(u_sd)", "1 / u_sd"),
    "a forgotten Jacobian": Bug(sd_of_groups_with_one_given, "sd", "- 1.5", "- 0.5"),
    "a forgotten Jacobian of a log": Bug(
        powers_beside_a_constant, "x[1:]", "eta_1[1:] += 1", "eta_1[1:] += 0"
    ),
    "a constant that changes": Bug(
        half_flat_beside_a_constant, "x[1:]", 's["x"][1:] =', 's["x"][0] += 1e-15; s["x"][1:] ='
    ),
    "a given value that changes": Bug(
        sd_of_groups_with_one_given, "sd", GIVEN, f'{GIVEN}; s["sd"] = 1 / sqrt(1 / s["sd"] ** 2)'
    ),
    "a given element among those to draw": Bug(
        sd_in_order_with_one_given, "sd", ", 2, sd_known)", ", 2)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_a_step_of_a_spoilt_program_does_not(name):
    bug = SPOILT[name]
    model = held(bug.build)
    step = model.sampler.schedule.step(bug.step)
    source = source_of(model, step)

    assert bug.right in source, source
    assert min(fits(model, step, source.replace(bug.right, bug.wrong))) < LEVEL


def test_given_values_that_sweeps_change_are_seen():
    """A value that changes at once and then stays differs from the start alone."""
    sampler = held(sd_of_groups_with_one_given).sampler
    wrong = sampler.source.replace(GIVEN, f'{GIVEN}; s["sd"][1] = 0.7 + 1e-15')

    assert GIVEN in sampler.source, sampler.source
    assert not are_given_kept(swept(sampler, load(wrong)))
