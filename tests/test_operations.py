"""Operations of sweeps: what is counted by hand, by what the loops do, and for which step."""

import ast
from dataclasses import replace
from functools import cache
from importlib import import_module

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.algebra.functions import FUNCTIONS as ROWS
from gibbsppl.code import operations
from gibbsppl.code.arrays.amounts import Amount
from gibbsppl.code.arrays.statements import Add, Draw
from gibbsppl.code.arrays.sweeps import every
from gibbsppl.code.loop_program import Runner
from gibbsppl.code.loop_text.expressions import kernels
from gibbsppl.code.loop_text.loading import plain
from gibbsppl.code.loop_text.statements import PROTOCOLS
from gibbsppl.code.operations import counted
from gibbsppl.families import FAMILIES
from gibbsppl.runtime.loops import functions
from gibbsppl.runtime.loops.draws import PARTED
from gibbsppl.runtime.operations import FUNCTIONS, KERNELS, Kernel
from models import ALL

MODELS = [m.__name__.rpartition(".")[2] for m in ALL]
SIZES = {"n": 30, "k": 4}


def amounts():
    """Two sizes and polynomials in them."""
    n, k = Amount.size("n"), Amount.size("k")
    return {"3": Amount.number(3), "n": n, "k": k, "n + 2": n + 2, "n*k**2 - k": n * k * k - k}


@pytest.mark.parametrize("one", amounts())
@pytest.mark.parametrize("other", amounts())
def test_amounts_add_up_and_multiply_as_numbers_do(one, other):
    a, b = amounts()[one], amounts()[other]
    x, y = a.at(SIZES), b.at(SIZES)

    assert (a + b).at(SIZES) == x + y
    assert (a - b).at(SIZES) == x - y
    assert (a * b).at(SIZES) == x * y
    np.testing.assert_allclose(a.over(b, SIZES).at(SIZES), x / y, rtol=1e-14)


def test_a_size_is_written_in_others_wherever_it_stands():
    n, k, both = Amount.size("n"), Amount.size("k"), Amount.size("both")
    sizes = {**SIZES, "both": 64}
    amount = both * both * 2 + k.over(both, sizes)

    found = amount.where({"both": n * 2 + k}, sizes)

    assert {d for m in found.terms for d, _ in m} == {"n", "k"}
    np.testing.assert_allclose(found.at(SIZES), amount.at(sizes), rtol=1e-14)


def test_leading_terms_are_those_of_which_no_other_is_a_multiple():
    n, k = Amount.size("n"), Amount.size("k")

    assert (n * k * k * 3 + n * k + k * k * k + 7).leading(SIZES) == "n*k**2 + k**3"
    assert Amount.number(7).leading(SIZES) == "1"
    assert (n * 1e9 + k * k * k).leading(SIZES, {"k"}) == "k**3 + n"
    assert (n * 0.01 + k * k * k).leading(SIZES, {"k"}) == "k**3"


# ---- rows ------------------------------------------------------------------------------------


def test_every_function_of_the_language_has_its_operations():
    forms = {n for r in ROWS.values() for n in (r.numpy, r.near_one, r.of_exponential) if n}

    assert (forms | {*functions.__all__}) - set(FUNCTIONS) == set()


def test_every_kernel_that_draws_from_a_family_has_its_operations():
    own = [f.natural for f in FAMILIES.values() if f.natural is not None]
    names = {n for row in own for n in (row.draw, row.truncated, row.over_relaxed) if n}

    assert names - set(kernels()) == set()
    assert names - set(KERNELS) == set()


def test_every_parameter_that_is_apart_from_its_draw_has_its_operations():
    assert {p.function for row in PARTED.values() for p in row.parts} - set(FUNCTIONS) == set()
    assert {row.draw for row in PARTED.values()} - set(KERNELS) == set()


def test_rows_are_of_kernels_and_those_by_log_densities_ask_for_some():
    assert set(PROTOCOLS) - set(KERNELS) == set()
    assert [n for n in PROTOCOLS if not KERNELS[n].evaluations > 0] == []
    assert [n for n in KERNELS if n not in PROTOCOLS and n not in kernels()] == []


# ---- what is counted, by what the loops do ----------------------------------------------------

# Models whose sweeps have no conditions, which the data decide.
PLAIN = (
    "gaussian", "linear_regression", "rats", "pumps", "eight_schools", "dyes", "gaussian_mixture",
    "matrix_factorisation", "factorisation_machine", "seeds", "bayesian_lasso", "hidden_markov",
    "local_level", "linear_mixed", "factor_analysis", "bayesian_matrix_factorisation", "iris",
)  # fmt: skip


class Counting(ast.NodeTransformer):
    """Arithmetic is counted as it is carried out: not that of indices, nor of log densities."""

    def visit_Subscript(self, node):
        return node

    def visit_While(self, node):
        return node

    def visit_Call(self, node):
        name = getattr(node.func, "id", "")
        if name in {"range", "divmod"}:
            return node
        self.generic_visit(node)
        return counting(node) if name == "square" else node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return counting(node)

    def visit_AugAssign(self, node):
        node.value = counting(self.visit(node.value))
        return node


def counting(node):
    """A call that counts one operation, and returns its value."""
    return ast.Call(ast.Name("counted_", ast.Load()), [node], [])


def carried_out(sampler):
    """The arithmetic of a sweep of the loops, as Python carries it out."""
    loops, total = sampler.loops(), [0]
    text = ast.fix_missing_locations(Counting().visit(ast.parse(loops.module.text)))

    def one(value):
        total[0] += 1
        return value

    scope = plain(loops.module) | {"counted_": one}
    exec(compile(text, "<loops>", "exec"), scope)  # noqa: S102  (what is counted as it runs)
    state = sampler.initial_states(1, seed=1)[0][0].state
    arguments = loops.arguments(np.random.default_rng(1), loops.arrays_of(state))
    Runner(loops, scope["run"]).sweep(arguments, 1)
    return total[0]


def arithmetic(sampler, sweep=None):
    """What is counted of arithmetic alone: without kernels, functions and log densities."""
    loops = sampler.loops()
    ones = {n: float(n in {"+", "*", "/", "**"}) for n in FUNCTIONS}
    nothing = {n: Kernel(lambda *_: 0.0) for n in KERNELS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "FUNCTIONS", ones)
        patch.setattr(operations, "KERNELS", nothing)
        found = counted(sweep or loops.sweep_value, loops.known_sizes)
    return sum(w.operations.at(found.sizes) for w in found.steps.values())


@cache
def compiled(name):
    return gp.compile(import_module(f"models.{name}").model())


@pytest.mark.parametrize("name", PLAIN)
def test_the_arithmetic_counted_is_what_the_loops_carry_out(name):
    sampler = compiled(name)

    np.testing.assert_allclose(arithmetic(sampler), carried_out(sampler), rtol=1e-12)


@pytest.mark.parametrize("name", ["rats", "linear_regression"])
def test_a_statement_that_is_not_counted_is_noticed(name):
    sampler = compiled(name)
    sweep = sampler.loops().sweep_value
    adds = [s for s in sweep.statements if isinstance(s, Add)]
    without = replace(sweep, statements=tuple(s for s in sweep.statements if s is not adds[-1]))

    assert arithmetic(sampler, without) < carried_out(sampler)


@pytest.mark.parametrize("name", MODELS)
def test_each_step_has_what_is_made_for_it(name):
    """Every step of a model has its draw, or the sweep of what it draws, under its own name."""
    sampler = compiled(name)
    loops = sampler.loops()

    found = counted(loops.sweep_value, loops.known_sizes)

    assert {s.name for s in sampler.schedule.steps} == set(found.steps)
    for draw in (s for s in every(loops.sweep_value.statements) if isinstance(s, Draw)):
        assert not draw.step or not draw.note or draw.step == draw.note
    for work in found.steps.values():
        assert work.operations.at(found.sizes) > 0


# ---- in the plates --------------------------------------------------------------------------


def factors(rows, columns, k):
    """A matrix of all entries as a product of two with ``k`` columns."""
    rng = np.random.default_rng(1)
    with gp.Model(coords={"row": rows, "column": columns, "factor": k}) as model:
        u = gp.Normal("u", 0, tau=1, dims=("row", "factor"))
        v = gp.Normal("v", 0, tau=1, dims=("column", "factor"))
        mean = gp.sum(u * v, "factor")
        y = rng.normal(size=(rows, columns))
        gp.Normal("y", mean, tau=2, dims=("row", "column"), observed=y)
    return model


def test_amounts_hold_for_other_sizes():
    """The polynomial of small data is the number of larger ones."""
    small, large = (gp.compile(factors(*sizes)).loops() for sizes in ((20, 15, 8), (40, 30, 16)))
    found = counted(small.sweep_value, small.known_sizes)
    other = counted(large.sweep_value, large.known_sizes)

    for name, work in found.steps.items():
        told = work.operations.at(large.known_sizes)
        np.testing.assert_allclose(told, other.steps[name].operations.at(other.sizes), rtol=1e-12)


def test_a_product_of_matrices_costs_its_cubes():
    costs = gp.compile(factors(20, 15, 8)).costs()

    assert costs["u"].plates == "row*factor**3 + column*factor*row + column*factor**2"
    assert costs["v"].plates == "column*factor**3 + column*factor*row + row*factor**2"
