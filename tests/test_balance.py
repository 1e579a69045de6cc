"""Every kernel leaves its conditional as it is, in detailed balance if it is reversible.

Of each row of `kernel_rows` parameters and data are drawn together; one step is then made given the
data, its tuning fixed. Draws of the conditional are exact, so what is compared has no tolerance: a
family of tests (`gibbsppl.checks.geweke.compared`), flows between cells of values among them, at a
level shared out among all rows. Each bug of a row must fail where the right kernel passes.
"""

import importlib
import inspect
import pkgutil
import re
from functools import cache

import numpy as np
import pytest
from kernel_rows import ROWS, compiled

import gibbsppl as gp
from gibbsppl import kernels, runtime
from gibbsppl.checks.geweke import ROUNDINGS, compared
from gibbsppl.checks.one_step import program_of
from gibbsppl.kernels import OFFERED
from gibbsppl.kernels.ascent import Ascent
from gibbsppl.kernels.move import MOVES_OF_TIED
from gibbsppl.kernels.readings import Reading
from gibbsppl.predict.prior import prior_draws
from gibbsppl.runtime import modal
from gibbsppl.runtime.moves import freeze
from gibbsppl.schedule.steps import Step

# The right kernels fail by chance for one choice of seeds in so many.
CHOICES = 1000
LEVEL = 1 / CHOICES / len(ROWS)
WARMUP = 60

# Rows that are quick, of the commonest moves; all others are slow tests.
EVERYDAY = {
    "slice of a positive number",
    "slice of shares",
    "random walk of a count",
    "over-relaxed number",
    "draw from a family",
    "mixture",
}
MARKS = {name: () if name in EVERYDAY else (pytest.mark.slow,) for name in ROWS}
NAMES = [pytest.param(name, marks=MARKS[name]) for name in ROWS]
BUGS = [
    pytest.param(name, bug, marks=MARKS[name]) for name, row in ROWS.items() for bug in row.bugs
]
# Rows whose steps are the same with other tuning: a slice of few whole numbers; Newton steps to the
# mode, from wherever they begin.
UNMOVED = {
    "slice of counts with a sum",
    "proposals about the mode",
    "proposals about the mode in batches",
}


@cache
def drawn_together(row):
    """Draws of everything, so many as replicates, once more for fresh draws, and for warm-up."""
    model = row.model(lambda _: None)
    count = 2 * row.replicates + WARMUP
    return prior_draws(np.random.default_rng(5), model.graph, model.data, count)


def for_other_data(tuning):
    """Tuning without the proposals of a batch that are left, which were made given other data."""
    for own in tuning.values():
        if isinstance(own, modal.Approximation):
            own.placed[modal.LEFT] = 0.0
    return tuning


class Replicates:
    """The program of one step of a row, and states that it is made in."""

    def __init__(self, row):
        self.row, self.sampler = row, compiled(row)
        self.program = program_of(self.sampler.schedule, row.step)
        self.latent = self.sampler.graph.drawn
        self.draws = drawn_together(row)
        self.constants = {}

    def state(self, k):
        """The latent arrays of a draw."""
        return {n: np.array(self.draws[n][k]) for n in self.latent}

    def constants_of(self, k):
        """What the program prepares of the observed arrays of a draw."""
        seen = {n: v[k] for n, v in self.draws.items() if n not in self.latent}
        key = b"".join(v.tobytes() for v in seen.values())
        if key not in self.constants:
            self.constants[key] = self.program.prepare({**self.sampler.data, **seen})
        return self.constants[key]

    def tuned(self, rng):
        """The tuning after warm-up, in states of their own."""
        tuning = {}
        for k in range(WARMUP):
            state = self.state(k) | for_other_data(tuning)
            self.program.sweep(rng, state, self.constants_of(k))
            tuning = {n: v for n, v in state.items() if n.startswith("~")}
        freeze(tuning)
        return tuning

    def moved(self, seed=7):
        """Values of functions: of fresh draws, of others before a step, and after it."""
        with self.row.patched():
            return self._moved(seed)

    def _moved(self, seed):
        rng, size = np.random.default_rng(seed), self.row.replicates
        tuning, after = self.tuned(rng), []
        for k in range(WARMUP, WARMUP + size):
            state = self.state(k) | for_other_data(tuning)
            self.program.sweep(rng, state, self.constants_of(k))
            after.append({n: np.array(state[n]) for n in self.latent})
        arrays = {n: np.array([a[n] for a in after]) for n in self.latent}
        spans = slice(WARMUP + size, None), slice(WARMUP, WARMUP + size)
        fresh, before = ({n: v[s] for n, v in self.draws.items()} for s in spans)
        functions = [functions_of(self.latent, a) for a in (fresh, before, before | arrays)]
        return {name: np.array([f[name] for f in functions], dtype=float) for name in functions[0]}


@np.errstate(all="ignore")  # (far out, where a bug may lead)
def functions_of(latent, values):
    """Numbers of each draw: entries, their squares, products with others and with what is seen."""
    found = {}
    flat = {n: np.reshape(v, (len(v), -1)).astype(float) for n, v in values.items()}
    for name in latent:
        x = flat[name]
        found[f"first of {name}"], found[f"last of {name}"] = x[:, 0], x[:, -1]
        found[f"square of {name}"] = (x**2).sum(axis=1)
        found[f"steps of {name}"] = (np.diff(x, axis=1) ** 2).sum(axis=1)
        found[f"product of {name}"] = x[:, 0] * x[:, -1]
        for other in flat.keys() - {name}:
            found[f"means of {name} and {other}"] = x.mean(axis=1) * flat[other].mean(axis=1)
            away = x.mean(axis=1) - flat[other].mean(axis=1)
            found[f"distance of {name} and {other}"] = away**2
            found[f"last of {name} and {other}"] = x[:, -1] * flat[other][:, -1]
    return {name: found[name] for name in sorted(found)}


def roundings(row):
    """The roundings behind a value: of each entry, in each sweep of a warm-up or a move."""
    return ROUNDINGS * max(row.sizes.values()) * (1 + WARMUP)


def found_of(row):
    """The tests of a row; None where a step leads out of the support, or fails."""
    try:
        samples = Replicates(row).moved()
        return compared(samples, LEVEL, operations=roundings(row), reversible=row.reversible)
    except (ArithmeticError, ValueError, RuntimeWarning, gp.RunError):
        return None


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_leaves_its_conditional_as_it_is(name):
    found = found_of(ROWS[name])

    assert found is not None
    assert found.passed, f"\n{found}"


@pytest.mark.parametrize(("name", "bug"), BUGS, ids=lambda v: v)
def test_a_planted_bug_is_caught(name, bug):
    row = ROWS[name]
    with row.bugs[bug].planted():
        found = found_of(row)

    assert found is None or not found.passed, f"\n{found}"


# ---- adaptation ------------------------------------------------------------------------------


# From so many streams a step is made from one state: one of whole numbers has few outcomes.
STREAMS = 20


def steps_before_and_after_others(row, end):
    """Whether steps from one state are the same after others; and whether they may adapt."""
    with row.patched():
        made, tuning = Replicates(row), {}

        def swept(k, seed):
            state = made.state(k) | for_other_data(tuning)
            made.program.sweep(np.random.default_rng(seed), state, made.constants_of(k))
            return state

        for k in range(WARMUP):
            tuning |= {n: v for n, v in swept(k, k).items() if n.startswith("~")}
        adapts = any(v.adapting for v in tuning.values())
        end(tuning)
        before = [swept(0, seed) for seed in range(STREAMS)]
        for k in range(WARMUP):
            swept(k, k)
        after = [swept(0, seed) for seed in range(STREAMS)]
    pairs = [(a[n], b[n]) for a, b in zip(before, after, strict=True) for n in made.latent]
    return all(np.array_equal(a, b) for a, b in pairs), adapts


@pytest.mark.parametrize("name", NAMES)
def test_what_is_learnt_in_warm_up_is_fixed_afterwards(name):
    same, _ = steps_before_and_after_others(ROWS[name], freeze)

    assert same


@pytest.mark.parametrize("name", NAMES)
def test_adaptation_that_goes_on_is_seen(name):
    same, adapts = steps_before_and_after_others(ROWS[name], lambda _: None)

    assert same is (not adapts or name in UNMOVED)


# ---- no kernel is left out -------------------------------------------------------------------


def leaves_of(kernel):
    """A kernel, and those that it is made of."""
    yield kernel
    for part in getattr(kernel, "parts", ()):
        yield from leaves_of(part)


def kinds_of_steps():
    """The steps of the package that draw or move, by their classes without subclasses."""
    for found in pkgutil.iter_modules(kernels.__path__):
        module = importlib.import_module(f"{kernels.__name__}.{found.name}")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            own = issubclass(kind, Step) and kind.__module__ == module.__name__
            if own and not kind.__subclasses__() and not issubclass(kind, (Reading, Ascent)):
                yield kind


def moves_of_runtime():
    """The functions of generated code that draw with the current value at hand."""
    for name in runtime.__all__:
        function = getattr(runtime, name)
        if inspect.isfunction(function):
            asked = list(inspect.signature(function, follow_wrapped=False).parameters)
            sees = asked[1:2] in (["x"], ["s"]) or {"x", "alpha"} <= {*asked}
            if asked[:1] == ["rng"] and sees:
                yield name


def test_every_kind_of_step_has_a_row():
    found = {type(s) for row in ROWS.values() for s in compiled(row).schedule.steps}

    assert set(kinds_of_steps()) - found == set()


def test_every_kernel_that_may_be_asked_for_has_a_row():
    asked = [k for row in ROWS.values() for one in row.kernels.values() for k in leaves_of(one)]

    assert {*OFFERED} - {type(k) for k in asked} == set()


def test_every_move_of_generated_code_has_a_row_that_calls_it():
    lines = {line for _, line in MOVES_OF_TIED.values()}
    told = {call for row in ROWS.values() for call in row.calls.split()}

    assert {*moves_of_runtime(), *lines} - told == set()


@pytest.mark.parametrize("name", ROWS)
def test_a_row_calls_what_it_says_and_has_a_bug(name):
    source = compiled(ROWS[name]).source
    called = set(re.findall(r"runtime\.(\w+)", source))

    assert set(ROWS[name].calls.split()) <= called
    assert ROWS[name].bugs
