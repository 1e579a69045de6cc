"""Passes over sweeps as values: what statements compute is the same before and after.

Statements are carried out in two ways: position by position, by a plain interpreter in this file
that knows reductions and draws as they are meant; and as the printed text of loops, uncompiled,
after the passes. Small sweeps written by hand show what each pass does; random ones, that nothing
else changes.
"""

import copy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.buffers import buffered
from gibbsppl.code.arrays.contraction import contracted
from gibbsppl.code.arrays.evaluation import OPERATIONS, computed
from gibbsppl.code.arrays.exponentials import united
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Number,
    Position,
    Reduce,
    Size,
    Span,
    walk,
)
from gibbsppl.code.arrays.few import written_out
from gibbsppl.code.arrays.fusion import fused
from gibbsppl.code.arrays.gathers import gathered
from gibbsppl.code.arrays.halves import halved
from gibbsppl.code.arrays.lifting import lifted
from gibbsppl.code.arrays.numbers import SMALL
from gibbsppl.code.arrays.parting import parted
from gibbsppl.code.arrays.sharing import shared
from gibbsppl.code.arrays.statements import (
    Add,
    Argument,
    Density,
    Draw,
    Let,
    Loop,
    Store,
    expressions_of,
)
from gibbsppl.code.arrays.storage import declared, stored_axes
from gibbsppl.code.arrays.sweeps import Array, Sweep, every
from gibbsppl.code.arrays.tabulation import tabulated
from gibbsppl.code.loop_program import LoopProgram, for_loops, made_by
from gibbsppl.runtime import functions
from gibbsppl.runtime.loops import concave, draws, labels, matrices, vectors

SIZES = {"i": 4, "j": 3, "k": 3}
DATA = {
    "x": Array(("i",), "data"),
    "w": Array(("i", "j"), "data"),
    "m": Array(("j", "j"), "data"),
    "c": Array(("k",), "data"),
    "g": Array(("i",), "data", "int"),
    "h": Array(("i",), "data", "int"),
    "l": Array(("i", "k"), "data"),
}
STATE = {
    "a": Array(("i",), "state"),
    "b": Array(("j",), "state"),
    "t": Array(("k",), "state"),
    "u": Array(("i", "j"), "state"),
    "q": Array(("k", "j"), "state"),
    "v": Array((), "state"),
    "y": Array((), "state"),
    "z": Array(("i",), "state", "int"),
}
I, J, K = Position("i"), Position("j"), Position("k")
NARROW = Number(-0.5)
EVERY_I, EVERY_J, EVERY_K = Span.whole("i"), Span.whole("j"), Span.whole("k")


def el(array, *indices):
    return Element(array, indices)


def call(function, *arguments):
    return Apply(function, arguments)


def times(*factors):
    return Apply("*", factors)


def plus(*terms):
    return Apply("+", terms)


def total(span, body, by="sum"):
    spans = span if isinstance(span, tuple) else (span,)
    return Reduce(body, spans, by)


def one_hot(index, axis):
    return call("equals", index, axis)


def sweep_of(*statements, monitors=(), outputs=()):
    return Sweep("tiny", {**DATA, **STATE}, statements, monitors, outputs)


def values_of(seed):
    """Data and a state: numbers are of the size of one, indices those of groups."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, array in {**DATA, **STATE}.items():
        shape = tuple(SIZES[d] for d in array.dims)
        is_index = array.type == "int"
        drawn = rng.integers(SIZES["k"], size=shape) if is_index else rng.normal(size=shape)
        found[name] = np.asarray(drawn)
    found["l"][1] = -np.inf
    return {n: found[n] for n in DATA}, {n: found[n] for n in STATE}


# ---- position by position ------------------------------------------------------------------------

KERNELS = {
    "bernoulli": draws.bernoulli,
    "normal": draws.normal,
    "gamma": draws.gamma,
    "labels": labels.labels,
    "dirichlet": vectors.dirichlet,
    "mvnormal": vectors.mvnormal,
    "logdet": matrices.logdet,
    "inverse": matrices.inverse,
    "solution": matrices.solution,
}
REDUCED = {"sum": np.sum, "product": np.prod, "max": np.max, "min": np.min,
           "log_sum_exp": np.logaddexp.reduce}  # fmt: skip


class Interpreter:
    """Carries out statements on arrays, one position after the other, as they are meant."""

    def __init__(self, arrays, sizes, rng):
        self.arrays, self.sizes, self.rng = arrays, sizes, rng

    def carry_out(self, statements, at):
        """Carry out statements at a position of the loops around them."""
        for s in statements:
            self.one(s, at)

    def one(self, s, at):
        match s:
            case Let(name=name, dims=dims, value=value):
                kind = np.int64 if s.type == "int" else float
                made = np.full([self.value(d.stop, at) for d in dims], 0, kind)
                for here in self.positions(dims, at):
                    made[tuple(here[d.dim] for d in dims)] = self.value(value, here)
                self.arrays[name] = made
            case Add():
                joined = {"sum": np.add, "max": np.maximum, "min": np.minimum}[s.by]
                for here in self.positions(s.over, at):
                    place = self.place(s.indices, here)
                    old = self.arrays[s.array][place]
                    self.arrays[s.array][place] = joined(old, self.value(s.value, here))
            case Store(target=target):
                found = [
                    (self.place(target.indices, here), self.value(s.value, here))
                    for here in self.positions(s.over, at)
                ]
                for place, value in found:
                    self.arrays[target.array][place] = value
            case Loop():
                for here in self.positions(s.over, at):
                    self.carry_out(s.body, here)
            case Draw():
                for here in self.positions(s.over, at):
                    self.drawn(s, here)

    def drawn(self, s, at):
        """Draw at one position."""
        arguments = [self.argument(a, at) for a in s.arguments]
        target, *_ = s.targets
        rng = (self.rng,) if s.is_random else ()
        if s.density is not None:
            found = self.by_density(s.density, arguments, at)
        elif s.own:
            found = np.empty([self.value(d.stop, at) for d in s.own])
            KERNELS[s.kernel](*rng, *arguments, found)
        else:
            found = KERNELS[s.kernel](*rng, *arguments)
        for here in self.positions(s.own, at):
            own = tuple(here[d.dim] for d in s.own)
            self.arrays[target.array][self.place(target.indices, here)] = np.asarray(found)[own]

    def argument(self, a, at):
        if not a.own:
            return self.value(a.value, at)
        shape = [self.value(d.stop, at) for d in a.own]
        found = [self.value(a.value, here) for here in self.positions(a.own, at)]
        return np.array(found, dtype=float).reshape(shape)

    def by_density(self, density, arguments, at):
        work = concave.concave_work()
        concave.concave_start(work, *arguments)
        while concave.concave_next(self.rng, work):
            self.arrays[density.argument] = np.array(work[0])
            self.carry_out(density.body, at)
            work[1] = self.value(density.value, at)
        return work[0]

    def positions(self, spans, at):
        """The positions of spans, the first slowest; a span may end where an outer one is."""
        if not spans:
            yield at
            return
        first, *rest = spans
        for p in range(int(self.value(first.start, at)), int(self.value(first.stop, at))):
            yield from self.positions(tuple(rest), {**at, first.dim: p})

    def place(self, indices, at):
        return tuple(int(self.value(i, at)) for i in indices)

    def value(self, expr, at):
        match expr:
            case Number(value=value):
                return value
            case Size(dim=dim):
                return self.sizes[dim]
            case Position(dim=dim, shift=shift):
                return at[dim] + shift
            case Element(array=array, indices=indices):
                return self.arrays[array][self.place(indices, at)][()]
            case Reduce():
                return self.reduced(expr, at)
            case Apply(function="entry", arguments=(whole, *places)):
                return np.linalg.inv(self.matrix(whole, at))[self.place(places, at)]
            case Apply(function="where", arguments=(condition, yes, no)):
                return self.value(yes if self.value(condition, at) else no, at)
            case Apply(function=function, arguments=arguments):
                found = [self.value(a, at) for a in arguments]
                named = OPERATIONS.get(function) or getattr(functions, function)
                return np.asarray(named(*found), dtype=float)[()]
        raise TypeError(expr)

    def reduced(self, e, at):
        if e.by == "logdet":
            return np.linalg.slogdet(self.matrix(e, at))[1]
        found = [self.value(e.body, here) for here in self.positions(e.spans, at)]
        start = {"max": [-np.inf], "min": [np.inf], "log_sum_exp": [-np.inf]}.get(e.by, [])
        return REDUCED[e.by]([*found, *start])

    def matrix(self, e, at):
        shape = [self.value(d.stop, at) for d in e.spans]
        return np.reshape([self.value(e.body, here) for here in self.positions(e.spans, at)], shape)


def interpreted(sweep, seed=1):
    """The state that a sweep leaves, carried out position by position; what it prepares first."""
    data, state = values_of(seed)
    arrays = copy.deepcopy({**data, **state})
    sizes = {**SIZES, **sweep.sizes}
    for table in sweep.tables:
        made = made_by(table, arrays, sizes)
        arrays |= made
        for name, values in made.items():
            sizes |= dict(zip(sweep.arrays[name].dims, values.shape, strict=False))
    work = Interpreter(arrays, sizes, np.random.default_rng(seed))
    with np.errstate(all="ignore"):
        work.carry_out((*sweep.prepare, *sweep.statements), {})
    return {n: work.arrays[n] for n in STATE}, work.rng.bit_generator.state


def printed(sweep, seed=1):
    """The state that the text of a sweep leaves, after all passes."""
    data, state = values_of(seed)
    sizes = {Dim(d): n for d, n in SIZES.items()}
    program = LoopProgram.of(for_loops(sweep, {}, data), data, sizes)
    arrays = program.arrays_of(copy.deepcopy(state))
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        program.plain().sweep(program.arguments(rng, arrays))
    return {**state, **arrays}, rng.bit_generator.state


def assert_same(ours, theirs):
    (ours, stream), (theirs, other) = ours, theirs
    assert stream == other
    for name in STATE:
        size = np.abs(theirs[name][np.isfinite(theirs[name])])
        atol = 1e-10 * np.max(size, initial=1.0)
        np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=atol, err_msg=name)


def passed(sweep, *passes):
    for one in passes:
        sweep = one(sweep)
    return sweep


def reductions(sweep):
    """The reductions that are left in a sweep."""
    statements = every((*sweep.statements, *sweep.prepare))
    found = (e for s in statements for x in expressions_of(s) for e in walk(x))
    return [e for e in found if isinstance(e, Reduce)]


# ---- contraction ---------------------------------------------------------------------------------

Z, G, H = el("z", I), el("g", I), el("h", I)
REDUCTIONS = {
    "a sum": (el("b", J), total(EVERY_I, times(el("w", I, J), el("a", I)))),
    "a sum over two": (el("v"), total((EVERY_I, EVERY_J), times(el("w", I, J), el("b", J)))),
    "a sum of no dim of its own": (el("t", K), total(EVERY_I, el("v"))),
    "a sum of a product with a matrix": (
        el("b", J),
        total(
            (EVERY_I, Span("n", ZERO, Size("j"))),
            times(el("u", I, Position("n")), el("m", Position("n"), J)),
        ),
    ),
    "a sum of a part": (el("v"), total(Span("i", ONE, Size("i")), el("x", I))),
    "a sum of neighbours": (
        el("v"),
        total(Span("i", ONE, Size("i")), times(el("x", I), el("a", Position("i", -1)))),
    ),
    "scattered by data": (el("t", K), total(EVERY_I, times(one_hot(G, K), el("a", I)))),
    "scattered by the state": (el("t", K), total(EVERY_I, times(one_hot(Z, K), el("x", I)))),
    "a count": (el("t", K), total(EVERY_I, one_hot(Z, K))),
    "of what members of a group share": (
        el("t", K),
        total((EVERY_I, EVERY_J), times(one_hot(Z, K), el("w", I, J), el("q", Z, J))),
    ),
    "of what members of a group of data share": (
        el("t", K),
        total((EVERY_I, EVERY_J), times(one_hot(G, K), el("u", I, J), el("q", G, J))),
    ),
    "of a factor that members share": (
        el("t", K),
        total((EVERY_I, EVERY_J), times(one_hot(Z, K), el("w", I, J), el("t", Z))),
    ),
    "of what members share and what not": (
        el("t", K),
        total(
            (EVERY_I, EVERY_J),
            times(one_hot(Z, K), plus(el("x", I), el("t", Z)), el("b", J), el("t", Z)),
        ),
    ),
    "scattered by two": (
        el("t", K),
        total(
            Span("k2", ZERO, Size("k")),
            times(
                total(EVERY_I, times(one_hot(Z, K), one_hot(G, Position("k2")), el("x", I))),
                el("c", Position("k2")),
            ),
        ),
    ),
    "two conditions on one group": (
        el("t", K),
        total(EVERY_I, times(one_hot(Z, K), one_hot(G, K), el("x", I))),
    ),
    "a condition on what is summed": (
        el("t", K),
        total(EVERY_I, times(one_hot(Z, K), el("x", I), el("t", K))),
    ),
    "at a group of its own": (el("a", I), total(Span("n", ZERO, Size("i")), times(
        one_hot(el("z", Position("n")), el("g", I)), el("x", Position("n"))))),
    "a maximum": (el("b", J), total(EVERY_I, el("w", I, J), "max")),
    "a minimum": (el("b", J), total(EVERY_I, el("w", I, J), "min")),
    "a maximum by group": (
        el("t", K),
        total(EVERY_I, call("where", one_hot(Z, K), el("x", I), Number(-np.inf)), "max"),
    ),
    "a minimum by group": (
        el("t", K),
        total(EVERY_I, call("where", one_hot(G, K), el("a", I), Number(np.inf)), "min"),
    ),
    "a maximum by two groups": (
        el("t", K),
        total(
            EVERY_I,
            call("where", times(one_hot(G, K), one_hot(Z, K)), el("x", I), Number(-np.inf)),
            "max",
        ),
    ),
    "a maximum at a group of its own": (
        el("a", I),
        total(
            Span("n", ZERO, Size("i")),
            call(
                "where",
                one_hot(el("g", Position("n")), el("h", I)),
                call("exp", el("x", Position("n"))),
                Number(-np.inf),
            ),
            "max",
        ),
    ),
    "a product": (el("b", J), total(EVERY_I, el("w", I, J), "product")),
    "a log of a sum": (el("a", I), total(EVERY_K, el("l", I, K), "log_sum_exp")),
    "a determinant": (
        el("v"),
        total(
            (EVERY_J, Span("j2", ZERO, Size("j"))),
            plus(
                times(Number(5.0), one_hot(J, Position("j2"))),
                times(el("b", J), el("b", Position("j2"))),
            ),
            "logdet",
        ),
    ),
    "an inverse": (
        el("b", J),
        call(
            "entry",
            total(
                (Span("p", ZERO, Size("j")), Span("q", ZERO, Size("j"))),
                plus(
                    times(Number(5.0), one_hot(Position("p"), Position("q"))),
                    times(el("b", Position("p")), el("c", Position("q"))),
                ),
                "inverse",
            ),
            J,
            Number(1),
        ),
    ),
    "a symmetric sum": (
        el("b", J),
        total(
            Span("j2", ZERO, Size("j")),
            times(
                Position("j2"),
                total(EVERY_I, times(el("a", I), el("w", I, J), el("w", I, Position("j2")))),
            ),
        ),
    ),
    "sums in a sum": (
        el("v"),
        total(EVERY_I, call("**", total(EVERY_J, times(el("w", I, J), el("b", J))), Number(2))),
    ),
}
OVER = {"i": EVERY_I, "j": EVERY_J, "k": EVERY_K}


def set_to(target, value):
    over = tuple(OVER[d] for d in ("i", "j", "k") if d in target.free)
    return Store(target, value, over)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_become_arrays_of_the_same_values(name):
    target, value = REDUCTIONS[name]
    new = Let("new", tuple(OVER[i.dim] for i in target.indices), value)
    sweep = sweep_of(new, set_to(target, el("new", *target.indices)))
    done = contracted(sweep)

    assert reductions(done) == []
    assert_same(interpreted(done), interpreted(sweep))
    assert_same(printed(sweep), interpreted(sweep))


@pytest.mark.parametrize("index", [Z, G])
@pytest.mark.parametrize("by", ["sum", "max"])
def test_in_a_loop_over_groups_members_are_reduced(index, by):
    """With data as the index these are spans of tables; with labels, a condition."""
    rest = times(el("x", I), plus(el("a", I), el("v")))
    if by == "sum":
        value = total(EVERY_I, times(one_hot(index, K), rest))
    else:
        value = total(EVERY_I, call("where", one_hot(index, K), rest, Number(-np.inf)), "max")
    sweep = sweep_of(Loop((EVERY_K,), (Store(el("t", K), value),)))
    done = contracted(sweep)

    assert reductions(done) == []
    assert bool(done.tables) == (index == G)
    assert_same(interpreted(done), interpreted(sweep))
    assert_same(printed(sweep), interpreted(sweep))


def test_a_sum_may_end_where_the_loop_around_it_is():
    value = total(Span("n", ZERO, plus(I, ONE)), el("a", Position("n")))
    sweep = sweep_of(Loop((EVERY_I,), (Store(el("a", I), value),)))

    assert_same(printed(sweep), interpreted(sweep))


def test_a_sum_over_what_one_factor_has_alone_goes_before_the_others():
    """A matrix is multiplied by the sum of vectors, not by each of them."""
    target, value = REDUCTIONS["a sum of a product with a matrix"]
    smaller = total((EVERY_I, EVERY_J), times(el("u", I, J), el("w", I, J), el("c", K)))
    added, kept = (
        [s for s in contracted(sweep_of(set_to(*case))).statements if isinstance(s, Add)]
        for case in ((target, value), (el("t", K), smaller))
    )

    assert [str(s) for s in added] == [
        "add sum_u[n] += u[i, n]  for i, n in 0..size(j)",
        "add sum_m_sum_u[j] += sum_u[n] * m[n, j]  for n in 0..size(j), j",
    ]
    # (what would be summed first is no larger than one of the others)
    assert [str(s.over[0]) for s in kept] == ["i"]


def test_a_one_hot_sum_visits_each_position_once():
    (_, added, _) = contracted(
        sweep_of(set_to(*REDUCTIONS["scattered by the state"]))
    ).statements

    assert str(added) == "add sum_x[z[i]] += x[i]  for i"


def test_what_members_of_a_group_share_is_no_part_of_their_sum():
    shared_ = REDUCTIONS["of what members of a group share"]
    (_, of_members, _, of_groups, _) = contracted(sweep_of(set_to(*shared_))).statements

    assert str(of_members) == "add sum_w[z[i], j] += w[i, j]  for i, j"
    assert str(of_groups) == "add sum_q_sum_w[k] += q[k, j] * sum_w[k, j]  for k, j"


def test_no_element_of_a_group_leaves_what_a_reduction_starts_from():
    data, _ = values_of(1)
    empty = {k for k in range(SIZES["k"]) if k not in data["g"]}
    sweep = sweep_of(set_to(*REDUCTIONS["a minimum by group"]))
    found, _ = printed(sweep)

    assert {k for k in range(SIZES["k"]) if found["t"][k] == np.inf} == empty


# ---- lifting -------------------------------------------------------------------------------------

LIFTED = {
    "of fewer dims": (
        Store(el("u", I, J), times(call("exp", el("b", J)), el("x", I)), (EVERY_I, EVERY_J)),
    ),
    "a part of a sum": (
        Store(
            el("u", I, J),
            plus(call("log1p", call("exp", el("b", J))), el("w", I, J)),
            (EVERY_I, EVERY_J),
        ),
    ),
    "changed in between": (
        Let("first", (EVERY_I, EVERY_J), times(call("exp", el("b", J)), el("x", I))),
        Store(el("b", J), plus(el("b", J), ONE), (EVERY_J,)),
        Let("second", (EVERY_I, EVERY_J), times(call("exp", el("b", J)), el("x", I))),
        Store(el("u", I, J), plus(el("first", I, J), el("second", I, J)), (EVERY_I, EVERY_J)),
    ),
    "changed by the loop itself": (
        Loop(
            (EVERY_I,),
            (
                Let("here", (), call("exp", el("v"))),
                Store(el("v"), call("expit", plus(el("here"), el("x", I)))),
                Store(el("a", I), el("here")),
            ),
        ),
    ),
    "in a loop that leaves it": (
        Loop(
            (EVERY_I,),
            (
                Let("here", (), call("exp", el("v"))),
                Store(el("a", I), plus(el("here"), el("x", I))),
            ),
        ),
    ),
    "added to in the loop": (
        Loop(
            (EVERY_I,),
            (
                Let("here", (), call("exp", el("v"))),
                Add("here", (), el("w", I, J), (EVERY_J,)),
                Store(el("a", I), el("here")),
            ),
        ),
    ),
}


def by_density(body=(), value=None):
    """A draw of y by a log density with some statements, between bounds."""
    quadratic = times(Number(-1.0), call("exp", el("v")), call("**", el("new"), Number(2)))
    value = plus(quadratic, times(el("new"), el("y"))) if value is None else value
    ends = Argument(Number(-np.inf)), Argument(Number(np.inf))
    arguments = (Argument(ZERO), *ends, Argument(ZERO))
    return (
        Let("drawn", (), ZERO),
        Let("distance", (), ZERO),
        Draw(
            (el("drawn"), el("distance")),
            "concave",
            arguments,
            density=Density("new", value, body),
        ),
        Store(el("y"), el("drawn")),
    )


LIFTED |= {
    "of a log density": by_density(),
    "of a log density in a loop": (
        Loop(
            (EVERY_I,),
            (
                *by_density(
                    value=plus(
                        times(Number(-1.0), call("**", el("new"), Number(2))),
                        times(
                            Number(-1.0),
                            total(
                                EVERY_J,
                                call("softplus", plus(el("b", J), el("w", I, J), el("new"))),
                            ),
                        ),
                    )
                ),
                Store(el("a", I), el("y")),
            ),
        ),
    ),
    "sums of a log density": by_density(
        value=plus(
            times(Number(-1.0), call("**", el("new"), Number(2))),
            times(el("new"), total(EVERY_I, call("expit", plus(el("a", I), el("v"))))),
            total(EVERY_I, times(Number(-1.0), call("softplus", plus(el("a", I), el("new"))))),
        )
    ),
    "of a log density that changes the state": (
        Store(el("b", Number(0)), ZERO),
        *by_density(
            body=(Store(el("b", Number(0)), el("new")),),
            value=times(NARROW, total(EVERY_J, call("exp", call("**", el("b", J), Number(2))))),
        ),
    ),
}


@pytest.mark.parametrize("name", LIFTED)
def test_what_is_lifted_out_of_loops_leaves_all_values(name):
    sweep = passed(sweep_of(*LIFTED[name]), contracted)
    done = lifted(sweep)

    assert_same(interpreted(done), interpreted(sweep))
    assert_same(printed(sweep), interpreted(sweep))


def test_dear_functions_are_computed_once_for_each_position_that_they_depend_on():
    first, second = lifted(sweep_of(*LIFTED["of fewer dims"])).statements

    assert str(first) == "let b_part[j] = exp(b[j])"
    assert str(second) == "set u[i, j] = b_part[j] * x[i]  for i, j"


def test_what_a_loop_changes_stays_in_it():
    (loop,) = lifted(sweep_of(*LIFTED["changed by the loop itself"])).statements

    assert str(loop.body[0]) == "let here = exp(v)"


def test_what_does_not_move_with_the_argument_goes_out_of_a_log_density():
    *_, draw, _ = lifted(sweep_of(*LIFTED["of a log density"])).statements

    assert "exp" not in str(draw.density.value)


# ---- parameters of draws -------------------------------------------------------------------------


def normal(target, linear, quadratic, *over):
    """A normal draw whose precision is positive."""
    squared = times(Number(-1.0), call("exp", quadratic))
    return Draw((target,), "normal", (Argument(linear), Argument(squared)), over)


PARTED = {
    "of one precision": (normal(el("a", I), el("x", I), el("v"), EVERY_I),),
    "of a precision by column": (
        normal(el("u", I, J), el("w", I, J), el("b", J), EVERY_I, EVERY_J),
    ),
    "of a precision for each": (normal(el("a", I), el("y"), el("x", I), EVERY_I),),
    "one by one": (Loop((EVERY_I,), (normal(el("a", I), el("y"), el("v")),)),),
    "changed by the loop itself": (
        Loop((EVERY_I,), (normal(el("v"), el("x", I), el("v")), Store(el("a", I), el("v")))),
    ),
    "of data alone": (normal(el("u", I, J), el("b", J), el("x", I), EVERY_I, EVERY_J),),
    "of numbers": (normal(el("a", I), el("x", I), ONE, EVERY_I),),
}


@pytest.mark.parametrize("name", PARTED)
def test_draws_apart_from_their_parameters_leave_all_values(name):
    sweep = sweep_of(*PARTED[name])

    assert_same(printed(sweep), interpreted(sweep))


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("of one precision", ["a_deviation", "a_variance"]),
        ("of a precision by column", ["u_deviation", "u_variance"]),
        ("of a precision for each", []),
        ("one by one", ["a_deviation", "a_variance"]),
        ("changed by the loop itself", []),
        ("of data alone", []),
    ],
)
def test_parameters_that_positions_share_are_computed_before_the_draws(name, before):
    done = passed(sweep_of(*PARTED[name]), parted, lifted, shared)

    assert sorted({s.name for s in done.statements if isinstance(s, Let)} - {"v_part"}) == before


# ---- exponentials --------------------------------------------------------------------------------

NEW = el("new")
HALF = call("neg", call("/", NEW, Number(2)))
EXPONENTIALS = {
    "of three multiples": ((NEW, call("neg", NEW), HALF), 1),
    "of two": ((times(Number(3), NEW), NEW), 1),
    "of one": ((NEW,), 1),
    "of no whole multiples": ((NEW, times(Number(0.3), NEW)), 2),
    "of high multiples": ((NEW, times(Number(5), NEW)), 2),
    "of other numbers": ((NEW, plus(NEW, el("v"))), 2),
}


@pytest.mark.parametrize("name", EXPONENTIALS)
def test_exponentials_of_one_number_are_powers_of_one(name):
    arguments, count = EXPONENTIALS[name]
    value = times(Number(-1.0), plus(*(call("exp", a) for a in arguments), times(NEW, NEW)))
    sweep = sweep_of(*by_density(value=value))
    done = united(sweep)

    assert str(done).count("exp(") == count
    assert_same(printed(sweep), interpreted(sweep))


@pytest.mark.parametrize("far", [-800.0, -1e4, 800.0, 1e4])
def test_powers_of_an_exponential_are_those_of_their_own_far_out(far):
    value = plus(call("exp", NEW), call("exp", HALF))
    (*_, draw, _) = united(sweep_of(*by_density(value=value))).statements
    arrays = {"new": np.array(far)}
    with np.errstate(all="ignore"):
        found = computed(draw.density.body, arrays, {})
        value = computed([Let("f", (), draw.density.value)], arrays | found, {})["f"]
        np.testing.assert_allclose(value, np.exp(far) + np.exp(-far / 2), rtol=1e-12)


# ---- sharing -------------------------------------------------------------------------------------


def summed(name, value):
    """A new array that is a sum."""
    return (Let(name, (), ZERO), Add(name, (), value, (EVERY_I,)))


SHARED = {
    "twice the same": (
        *summed("first", el("a", I)),
        *summed("second", el("a", I)),
        Store(el("v"), plus(el("first"), el("second"))),
    ),
    "under other names of dims": (
        *summed("first", el("a", I)),
        Let("second", (), ZERO),
        Add("second", (), el("a", Position("n")), (Span("n", ZERO, Size("i")),)),
        Store(el("v"), plus(el("first"), el("second"))),
    ),
    "changed in between": (
        *summed("first", el("a", I)),
        Store(el("a", I), plus(el("a", I), ONE), (EVERY_I,)),
        *summed("second", el("a", I)),
        Store(el("v"), times(el("first"), el("second"))),
    ),
    "drawn in between": (
        *summed("first", el("a", I)),
        Draw((el("a", I),), "normal", (Argument(el("first")), Argument(Number(-0.5))), (EVERY_I,)),
        *summed("second", el("a", I)),
        Store(el("v"), times(el("first"), el("second"))),
    ),
    "changed back": (
        *summed("first", el("a", I)),
        Store(el("a", I), plus(el("a", I), ONE), (EVERY_I,)),
        *summed("second", el("a", I)),
        Store(el("a", I), plus(el("a", I), Number(-1)), (EVERY_I,)),
        *summed("third", el("a", I)),
        Store(el("v"), plus(el("first"), times(el("second"), el("third")))),
    ),
    "changed in a loop in between": (
        *summed("first", el("a", I)),
        Loop((EVERY_I,), (Store(el("a", I), times(el("a", I), el("x", I))),)),
        *summed("second", el("a", I)),
        Store(el("v"), times(el("first"), el("second"))),
    ),
    "of data": (
        *summed("first", call("exp", el("x", I))),
        *summed("second", call("exp", el("x", I))),
        Store(el("v"), plus(el("first"), el("second"), el("v"))),
    ),
    "of data of data": (
        *summed("first", call("exp", el("x", I))),
        *summed("second", times(el("first"), el("x", I))),
        Store(el("v"), plus(el("second"), el("v"))),
    ),
    "sums of what is shared": (
        *summed("first", el("a", I)),
        *summed("second", el("a", I)),
        *summed("third", times(el("first"), el("a", I))),
        *summed("fourth", times(el("second"), el("a", I))),
        Store(el("v"), plus(el("third"), el("fourth"))),
    ),
}
WEIGHTS = Argument(times(el("c", K), Number(0.5)), (EVERY_K,))
PAIR = (EVERY_J, Span("j2", ZERO, Size("j")))
MATRIX = plus(
    times(Number(4.0), one_hot(J, Position("j2"))), times(el("c", J), el("c", Position("j2")))
)
# Kernels that leave other numbers in their arguments than they have found there.
OVERWRITTEN = {
    "labels": (
        Loop((EVERY_I,), (Draw((el("z", I),), "labels", (WEIGHTS,)), Store(el("a", I), Z))),
        Draw((el("z", I),), "labels", (WEIGHTS,), (EVERY_I,)),
        Draw((el("z", I),), "labels", (WEIGHTS,), (EVERY_I,)),
    ),
    "matrices": (
        Loop((EVERY_I,), (Store(el("a", I), total(PAIR, MATRIX, "logdet")),)),
        Store(el("v"), total(PAIR, MATRIX, "logdet")),
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_what_is_shared_leaves_all_values(name):
    sweep = sweep_of(*SHARED[name])

    assert_same(interpreted(shared(sweep)), interpreted(sweep))
    assert_same(printed(sweep), interpreted(sweep))


@pytest.mark.parametrize(
    ("name", "sums"),
    [
        ("twice the same", 1),
        ("under other names of dims", 1),
        ("changed in between", 2),
        ("drawn in between", 2),
        ("changed back", 3),
        ("changed in a loop in between", 2),
        ("of data", 0),
        ("of data of data", 0),
        ("sums of what is shared", 2),
    ],
)
def test_what_is_equal_is_summed_once_as_long_as_it_holds(name, sums):
    done = shared(sweep_of(*SHARED[name]))

    assert sum(isinstance(s, Add) for s in done.statements) == sums
    assert bool(done.prepare) == (sums == 0)


@pytest.mark.parametrize("name", OVERWRITTEN)
@pytest.mark.parametrize("seed", range(3))
def test_arrays_that_kernels_overwrite_are_made_anew_for_each(name, seed):
    sweep = sweep_of(*OVERWRITTEN[name])

    assert_same(printed(sweep, seed), interpreted(sweep, seed))


def test_what_a_kernel_overwrites_is_neither_shared_nor_prepared():
    done = passed(sweep_of(*OVERWRITTEN["labels"]), buffered, contracted, lifted, shared)
    all_drawn = [s for s in every(done.statements) if isinstance(s, Draw)]
    given = [a.value.array for s in all_drawn for a in s.arguments]

    assert len(set(given)) == len(given)
    assert not set(given) & {s.name for s in done.prepare if isinstance(s, Let)}


TWO = (EVERY_I, Span("i2", ZERO, Size("i")))
OF_DATA = plus(
    times(Number(4.0), one_hot(I, Position("i2"))), times(el("x", I), el("x", Position("i2")))
)
OF_STATE = plus(
    times(Number(9.0), one_hot(I, Position("i2"))), times(el("a", I), el("a", Position("i2")))
)


def entries(matrix):
    """An entry of the inverse at each position, and the log determinant, twice."""
    inverted = total(TWO, matrix, "inverse")
    entry = call("entry", inverted, I, I)
    more = times(entry, total(TWO, matrix, "logdet"))
    return (
        Store(el("v"), plus(total((EVERY_I,), entry), total(TWO, matrix, "logdet"))),
        Store(el("a", I), plus(el("a", I), more), (EVERY_I,)),
    )


@pytest.mark.parametrize(
    ("matrix", "in_sweep", "beforehand"),
    [(OF_DATA, [], ["inverse", "logdet"]), (OF_STATE, ["inverse", "logdet"], [])],
    ids=["of data", "of the state"],
)
def test_functions_of_a_matrix_are_computed_once(matrix, in_sweep, beforehand):
    sweep = sweep_of(*entries(matrix))
    done = passed(sweep, buffered, contracted, lifted, shared)

    for found, expected in ((done.statements, in_sweep), (done.prepare, beforehand)):
        assert sorted(s.kernel for s in every(found) if isinstance(s, Draw)) == expected
    assert_same(printed(sweep), interpreted(sweep))


@pytest.mark.parametrize("matrix", [OF_DATA, OF_STATE], ids=["of data", "of the state"])
def test_an_inverse_times_a_vector_is_solved_for(matrix):
    """Also the sum of a row; not that of a diagonal, nor what has another vector for each row."""
    other = Position("i2")
    entry = call("entry", total(TWO, matrix, "inverse"), I, other)
    every_other = (Span("i2", ZERO, Size("i")),)

    def kernels(*values):
        sweep = sweep_of(*(Store(el("a", I), v, (EVERY_I,)) for v in values))
        assert_same(printed(sweep), interpreted(sweep))
        done = passed(sweep, buffered, contracted, lifted, shared)
        return [s.kernel for s in every((*done.statements, *done.prepare)) if isinstance(s, Draw)]

    assert kernels(total(every_other, times(entry, el("x", other)))) == ["solution"]
    assert kernels(total(every_other, entry)) == ["solution"]
    of_rows = plus(el("x", I), el("x", other))
    assert kernels(total(every_other, times(entry, call("exp", of_rows)))) == ["inverse"]


def test_a_matrix_that_changes_in_between_has_another_inverse():
    sweep = sweep_of(*entries(OF_STATE), *entries(OF_STATE))
    done = passed(sweep, buffered, contracted, lifted, shared)

    assert sum(isinstance(s, Draw) for s in every(done.statements)) == 4
    assert_same(printed(sweep), interpreted(sweep))


def test_monitors_share_with_no_sweep():
    (monitor, *_) = summed("sum in a monitor", el("a", I))
    sweep = sweep_of(
        *summed("first", el("a", I)),
        Store(el("v"), el("first")),
        monitors=(monitor, Add("sum in a monitor", (), el("a", I), (EVERY_I,))),
        outputs=("sum in a monitor",),
    )

    assert len(shared(sweep).monitors) == len(sweep.monitors)


def test_what_depends_on_data_alone_is_computed_as_evaluation_does():
    data, _ = values_of(1)
    done = shared(sweep_of(*SHARED["of data"]))
    found = computed(done.prepare, data, SIZES)

    assert [float(v) for v in found.values() if v.ndim == 0] == [
        pytest.approx(np.exp(data["x"]).sum())
    ]


# ---- fusion --------------------------------------------------------------------------------------


def drawn(array, *eta):
    """A draw of all elements of an array over i."""
    arguments = tuple(map(Argument, eta))
    return Draw((el(array, I),), "normal", arguments, (EVERY_I,))


FUSED = {
    "two draws": (drawn("a", el("x", I), NARROW), drawn("a", el("a", I), NARROW)),
    "two draws of two arrays": (
        drawn("a", el("x", I), NARROW),
        Draw(
            (el("u", I, J),),
            "normal",
            (Argument(el("a", I)), Argument(NARROW)),
            (EVERY_I, EVERY_J),
        ),
        drawn("a", el("u", I, Number(0)), NARROW),
    ),
    "a draw and a sum of it": (drawn("a", el("x", I), NARROW), *summed("s", el("a", I)),
                               Store(el("v"), el("s"))),
    "a sum and what reads it": (
        *summed("s", el("x", I)),
        Store(el("a", I), times(el("s"), el("x", I)), (EVERY_I,)),
    ),
    "a read past a write": (
        Let("old", (EVERY_I,), el("a", I)),
        Store(el("a", I), el("x", I), (EVERY_I,)),
        Store(el("u", I, J), times(el("old", I), el("b", J)), (EVERY_I, EVERY_J)),
    ),
    "neighbours": (
        Store(el("a", I), times(el("x", I), el("v")), (EVERY_I,)),
        Let("before", (Span("i", ONE, Size("i")),), el("a", Position("i", -1))),
        Store(el("a", I), el("before", I), (Span("i", ONE, Size("i")),)),
    ),
    "the next element": (
        Let("after", (EVERY_I,), el("a", Number(3))),
        Store(el("a", I), el("x", I), (EVERY_I,)),
        Store(el("a", I), el("after", I), (EVERY_I,)),
    ),
    "a gather": (
        Store(el("a", I), el("x", I), (EVERY_I,)),
        Let("read", (EVERY_I,), el("a", el("g", I))),
        Store(el("a", I), plus(el("read", I), el("a", I)), (EVERY_I,)),
    ),
    "a scatter": (
        Let("s", (EVERY_K,), ZERO),
        Add("s", (Z,), el("a", I), (EVERY_I,)),
        Store(el("a", I), el("s", Z), (EVERY_I,)),
    ),
    "an index that is drawn": (
        Draw((el("z", I),), "labels", (WEIGHTS,), (EVERY_I,)),
        Let("s", (EVERY_K,), ZERO),
        Add("s", (Z,), el("x", I), (EVERY_I,)),
        Store(el("t", K), el("s", K), (EVERY_K,)),
    ),
    "axes exchanged": (
        Store(el("u", I, J), el("w", I, J), (EVERY_I, EVERY_J)),
        Let("s", (EVERY_J,), ZERO),
        Add("s", (J,), el("u", I, J), (EVERY_J, EVERY_I)),
        Store(el("b", J), el("s", J), (EVERY_J,)),
    ),
    "a number changed by a loop": (
        Loop((EVERY_I,), (Store(el("v"), times(el("v"), el("x", I))),)),
        Store(el("a", I), el("v"), (EVERY_I,)),
        Loop((EVERY_I,), (Store(el("v"), plus(el("v"), el("a", I))),)),
    ),
    "vectors": (
        Draw(
            (el("u", I, J),),
            "mvnormal",
            (
                Argument(times(el("a", I), el("b", J)), (EVERY_J,)),
                Argument(
                    times(Number(-1.0), one_hot(J, Position("j2"))),
                    (EVERY_J, Span("j2", ZERO, Size("j"))),
                ),
            ),
            (EVERY_I,),
            (EVERY_J,),
        ),
        Let("s", (EVERY_J,), ZERO),
        Add("s", (J,), el("u", I, J), (EVERY_I, EVERY_J)),
        Store(el("b", J), el("s", J), (EVERY_J,)),
    ),
}


@pytest.mark.parametrize("name", FUSED)
def test_fused_loops_leave_all_values_and_the_order_of_draws(name):
    sweep = sweep_of(*FUSED[name])
    done = replace(sweep, statements=fused(declared(sweep.statements)[1]))
    empty = [replace(s, value=ZERO) for s in sweep.statements if isinstance(s, Let)]
    made = replace(done, statements=(*empty, *done.statements))

    assert_same(interpreted(made), interpreted(sweep))
    assert_same(printed(sweep), interpreted(sweep))


def test_statements_over_one_dim_are_one_loop():
    (_, let, *rest) = FUSED["a draw and a sum of it"]
    statements = declared((FUSED["a draw and a sum of it"][0], let, *rest))[1]
    loops = [s for s in fused(statements) if isinstance(s, Loop)]

    assert len(loops) == 1
    assert len(loops[0].body) == 2


@pytest.mark.parametrize("name", ["two draws", "neighbours", "a gather", "a scatter"])
def test_what_depends_on_more_than_its_own_position_is_no_one_loop(name):
    loops = [s for s in fused(declared(FUSED[name])[1]) if isinstance(s, Loop)]

    assert len(loops) > 1


# ---- storage -------------------------------------------------------------------------------------


def axes_of(*statements):
    """Which axes of new arrays are stored."""
    locals_, made = declared(statements)
    return stored_axes(fused(made), locals_)


def test_an_axis_that_one_loop_stands_for_is_not_stored():
    found = axes_of(
        Let("new", (EVERY_I, EVERY_J), times(el("x", I), el("b", J))),
        Store(el("u", I, J), el("new", I, J), (EVERY_I, EVERY_J)),
    )

    assert found == {"new": (False, False)}


def test_an_axis_read_in_another_loop_is_stored():
    found = axes_of(
        Let("new", (EVERY_I, EVERY_J), times(el("x", I), el("b", J))),
        Let("s", (EVERY_I,), ZERO),
        Add("s", (I,), el("new", I, J), (EVERY_I, EVERY_J)),
        Store(el("b", J), el("new", Number(0), J), (EVERY_J,)),
    )

    assert found["new"] == (True, True)


@pytest.mark.parametrize(
    "index", [Position("i", -1), Number(0), el("g", I)], ids=["shifted", "fixed", "gathered"]
)
def test_an_axis_read_elsewhere_than_here_is_stored(index):
    found = axes_of(
        Let("new", (EVERY_I,), el("x", I)),
        Store(el("a", I), el("new", index), (Span("i", ONE, Size("i")),)),
    )

    assert found == {"new": (True,)}


def test_a_buffer_of_a_kernel_has_the_axes_of_the_kernel_alone():
    sweep = buffered(sweep_of(FUSED["vectors"][0]))

    found = axes_of(*sweep.statements)

    assert found == {"u_from_1": (False, True), "u_from_2": (False, True, True)}


# ---- halves --------------------------------------------------------------------------------------


def outer(value):
    """A matrix of sums, added to a state with its rows and columns apart."""
    pair = (EVERY_J, Span("j2", ZERO, Size("j")))
    read = times(el("outer", J, Position("j2")), plus(Position("j2"), J, J))
    return (
        Let("outer", pair, ZERO),
        Add("outer", (J, Position("j2")), value, (EVERY_I, *pair)),
        Let("s", (EVERY_J,), ZERO),
        Add("s", (J,), read, pair),
        Store(el("b", J), el("s", J), (EVERY_J,)),
    )


SYMMETRIC = times(el("a", I), el("w", I, J), el("w", I, Position("j2")))
OTHER = times(el("u", I, J), el("w", I, J), el("w", I, Position("j2")))


@pytest.mark.parametrize(("value", "is_halved"), [(SYMMETRIC, True), (OTHER, False)])
def test_symmetric_sums_are_added_up_for_one_half(value, is_halved):
    sweep = sweep_of(*outer(value))
    done = halved(sweep)

    assert (done != sweep) == is_halved
    assert_same(interpreted(done), interpreted(sweep))
    assert_same(printed(sweep), interpreted(sweep))


def test_symmetric_sums_by_group_are_added_up_for_one_half():
    pair, centred = (EVERY_J, Span("j2", ZERO, Size("j"))), plus(el("w", I, J), el("q", Z, J))
    value = times(centred, plus(el("w", I, Position("j2")), el("q", Z, Position("j2"))))
    read = total(pair, times(el("outer", K, J, Position("j2")), plus(J, J, Position("j2"))))
    sweep = sweep_of(
        Let("outer", (EVERY_K, *pair), ZERO),
        Add("outer", (Z, J, Position("j2")), value, (EVERY_I, *pair)),
        Store(el("t", K), read, (EVERY_K,)),
    )
    _, half, mirror, *_ = halved(sweep).statements

    assert str(half).endswith("for i, j, j2 in 0..j + 1")
    assert str(mirror) == "set outer[k, j2, j] = outer[k, j, j2]  for k, j, j2 in 0..j"
    assert_same(interpreted(halved(sweep)), interpreted(sweep))
    assert_same(printed(sweep), interpreted(sweep))


# ---- small vectors -------------------------------------------------------------------------------

J2 = Position("j2")
PAIR = (EVERY_J, Span("j2", ZERO, Size("j")))
SQUARED = total(PAIR, times(el("b", J), el("b", J2), el("m", J, J2)))
LARGEST = total(EVERY_J, el("b", J), "max")
VECTORS = sweep_of(
    Draw(
        (el("u", I, J),),
        "mvnormal",
        (
            Argument(el("w", I, J), (EVERY_J,)),
            Argument(times(NARROW, one_hot(J, J2)), PAIR),
        ),
        (EVERY_I,),
        (EVERY_J,),
    ),
    Store(el("v"), plus(SQUARED, LARGEST)),
    Store(el("y"), total((EVERY_I, EVERY_J), times(el("x", I), el("u", I, J)))),
)


def test_sums_over_small_vectors_are_written_out():
    done = written_out(VECTORS, SIZES)

    assert "size(j)" not in str(done)
    assert str(done.statements[1].value).count("m[") == SIZES["j"] ** 2
    assert [e.by for e in reductions(done)] == ["max", "sum"]
    assert_same(interpreted(done), interpreted(VECTORS))
    assert_same(printed(done), interpreted(VECTORS))


def test_what_is_not_drawn_as_a_whole_keeps_its_size():
    alone = sweep_of(*VECTORS.statements[1:])

    assert written_out(alone, SIZES) == alone
    assert written_out(VECTORS, SIZES | {"j": SMALL + 1}) == VECTORS


# ---- functions of picked elements ----------------------------------------------------------------

EXP_OF_GROUP = call("exp", el("t", Z))
PICKED = {
    "of fewer elements": (Store(el("a", I), EXP_OF_GROUP, (EVERY_I,)),),
    "in a sum": (Store(el("v"), total(EVERY_I, times(el("x", I), EXP_OF_GROUP))),),
    "in a loop": (Loop((EVERY_I,), (Store(el("a", I), EXP_OF_GROUP),)),),
    "twice": (
        Store(el("a", I), EXP_OF_GROUP, (EVERY_I,)),
        Store(el("v"), total(EVERY_I, times(el("x", I), EXP_OF_GROUP))),
    ),
    "changed in between": (
        Store(el("a", I), EXP_OF_GROUP, (EVERY_I,)),
        Store(el("t", K), ONE, (EVERY_K,)),
        Store(el("v"), total(EVERY_I, times(el("x", I), EXP_OF_GROUP))),
    ),
}
LEFT = {
    "of one position each": (Store(el("t", K), call("exp", el("t", K)), (EVERY_K,)),),
    "of more elements": (Store(el("t", K), call("exp", el("a", K)), (EVERY_K,)),),
    "changed by the loop itself": (
        Loop((EVERY_I,), (Store(el("t", Z), call("expit", el("t", Z))),)),
    ),
}


@pytest.mark.parametrize("name", [*PICKED, *LEFT])
def test_functions_of_picked_elements_are_computed_for_each_element(name):
    sweep = sweep_of(*{**PICKED, **LEFT}[name])
    done = gathered(sweep, SIZES)
    made = [s.name for s in done.statements if isinstance(s, Let)]

    assert len(made) == (0 if name in LEFT else 2 if name == "changed in between" else 1)
    assert_same(interpreted(done), interpreted(sweep))
    assert_same(printed(done), interpreted(sweep))


# ---- tables by whole numbers ---------------------------------------------------------------------

Z_BEFORE, ONE_BEFORE = el("z", Position("i", -1)), call("at_most", ONE, I)
SPIN = Array(("i",), "state", "int", limits=(0, SIZES["k"]))


def spins(value):
    """Draws of z one after the other, each with log odds that the one before is a part of."""
    return Sweep(
        "spins",
        {**DATA, **STATE, "z": SPIN},
        (Loop((EVERY_I,), (Draw((Z,), "bernoulli", (Argument(value),)),)),),
    )


IN_STEPS = {
    "of the one before": call("where", ONE_BEFORE, times(el("v"), Z_BEFORE), ZERO),
    "with a number": plus(el("v"), call("where", ONE_BEFORE, call("neg", Z_BEFORE), Number(2))),
    "by two numbers": plus(
        call("where", ONE_BEFORE, plus(Number(-0.5), times(Number(0.3), Z_BEFORE, el("v"))), ZERO),
        call("/", ONE_BEFORE, Number(4)),
    ),
    "a product": call("where", ONE_BEFORE, times(el("v"), Z_BEFORE, Z_BEFORE), ONE),
}


@pytest.mark.parametrize("name", IN_STEPS)
def test_parameters_by_whole_numbers_are_read_from_tables(name):
    sweep = spins(IN_STEPS[name])
    done = tabulated(sweep, {"i": 100})
    (draw,) = done.statements[0].body[-1:]

    assert draw.kernel == "bernoulli_of"
    assert str(draw.arguments[0].value).startswith("z_inverse_probability[")
    assert_same(printed(done), interpreted(sweep))


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (IN_STEPS["of the one before"], SIZES["k"]),
        (times(el("x", I), call("where", ONE_BEFORE, Z_BEFORE, ZERO)), 100),
        (call("exp", call("where", ONE_BEFORE, Z_BEFORE, ZERO)), 100),
        (call("where", ONE_BEFORE, times(el("a", I), Z_BEFORE), ZERO), 100),
    ],
    ids=["more numbers than draws", "a coefficient of its own", "of no sum", "of the state"],
)
def test_other_parameters_are_computed_by_the_draws(value, size):
    assert tabulated(spins(value), {"i": size}) == spins(value)


def round_the_end(end, other):
    """The spin after each, or where there is none the first one."""
    after, first = el("z", Position("i", 1)), el("z", ZERO)
    inside = call("below", I, plus(Size("i"), Number(-1)))
    return plus(
        call("where", inside, times(el("v"), after), ZERO),
        call("where", call("equals", other, Number(end)), times(el("v"), first), ZERO),
    )


@pytest.mark.parametrize(
    ("end", "other", "is_one"), [(3, I, True), (2, I, False), (3, Position("i", 1), False)]
)
def test_what_holds_at_an_end_and_elsewhere_is_one_number(end, other, is_one):
    """One number has as many values as there are draws, two of them have more."""
    sweep = spins(round_the_end(end, other))
    done = tabulated(sweep, SIZES)

    assert (done != sweep) == is_one
    assert_same(printed(done), interpreted(sweep))


# ---- random sweeps -------------------------------------------------------------------------------

INDICES = {"i": (I, el("g", I)), "j": (J,), "k": (K, el("z", I), el("g", I))}


@st.composite
def expressions(draw, arrays, dims, depth):
    """An expression of arrays at positions of some dims, or reduced over others."""
    kind = draw(st.sampled_from(("element", "element", "number", *(("call", "sum") * (depth > 0)))))
    if kind == "number":
        return Number(draw(st.sampled_from((0.5, 2.0, -1.0))))
    if kind == "element":
        return draw(element(arrays, dims))
    inner = expressions(arrays, dims, depth - 1)
    if kind == "call":
        function = draw(st.sampled_from(("+", "*", "expit", "neg", "where")))
        if function == "where":
            condition = call("at_most", draw(inner), draw(inner))
            return call("where", condition, draw(inner), draw(inner))
        count = 2 if function in "+*" else 1
        return call(function, *(draw(inner) for _ in range(count)))
    over = draw(st.sampled_from([d for d in "ijk" if d not in dims] or ["n"]))
    of = "i" if over == "n" else over
    span = Span(over, ZERO, Size(of))
    if over == "n":  # (another name of the positions along i)
        body = times(el("x", Position("n")), draw(inner))
        return total(span, body)
    body = draw(expressions(arrays, (*dims, over), depth - 1))
    if over == "i" and "k" in dims and draw(st.booleans()):
        body = times(one_hot(draw(st.sampled_from((Z, G))), K), body)
    return total(span, body, draw(st.sampled_from(("sum", "max"))) if depth == 1 else "sum")


@st.composite
def element(draw, arrays, dims):
    """An element of an array at positions of some dims; of y where there is none."""
    possible = [n for n, own in arrays.items() if all(_index_of(d, dims) for d in own)]
    name = draw(st.sampled_from(sorted(possible)))
    return el(name, *(draw(st.sampled_from(_index_of(d, dims))) for d in arrays[name]))


def _index_of(dim, dims):
    return [i for i in INDICES[dim] if i.free <= set(dims)]


@st.composite
def statements(draw, arrays, new):
    """A statement over dims; ``arrays`` gets the name of a new one."""
    kind = draw(st.sampled_from(("let", "store", "draw", "loop", "add")))
    if kind in ("let", "add"):
        dims = draw(st.sampled_from(((), ("i",), ("j",), ("i", "j"), ("k",))))
        value = draw(expressions(dict(arrays), dims, 2))
        over = tuple(OVER[d] for d in dims)
        here = tuple(Position(d) for d in dims)
        name = f"new {len(new)}"
        new.append(name)
        if kind == "let":
            found = (Let(name, over, call("expit", value)),)
        else:
            more = draw(st.sampled_from([d for d in "ijk" if d not in dims]))
            term = draw(expressions(dict(arrays), (*dims, more), 1))
            found = (Let(name, over, ZERO), Add(name, here, term, (*over, OVER[more])))
        arrays[name] = dims
        return found
    target = draw(st.sampled_from(("a", "b", "t", "u", "v", "y")))
    dims = STATE[target].dims
    over, here = tuple(OVER[d] for d in dims), tuple(Position(d) for d in dims)
    value = call("expit", draw(expressions(dict(arrays), dims, 2)))
    if kind == "store" and target not in value.arrays:
        return (Store(el(target, *here), value, over),)
    if kind == "loop" and over:
        return (Loop(over, (Store(el(target, *here), value),)),)
    name = f"new {len(new)}"
    new.append(name)
    arrays[name] = dims
    precision = call("neg", plus(ONE, call("expit", draw(expressions(dict(arrays), dims, 1)))))
    precision = NARROW if name in precision.arrays or target in precision.arrays else precision
    eta = (Argument(el(name, *here)), Argument(precision))
    return (Let(name, over, value), Draw((el(target, *here),), "normal", eta, over))


@st.composite
def sweeps(draw):
    """A sweep of some statements, each of which may read what those before it have made."""
    known = {**DATA, **STATE}.items()
    arrays = {n: a.dims for n, a in known if a.type == "float" and n not in ("l", "m")}
    new = []
    count = draw(st.integers(2, 6))
    return sweep_of(*(s for _ in range(count) for s in draw(statements(arrays, new))))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(sweeps())
def test_random_sweeps_leave_the_same_state_in_loops(sweep):
    assert_same(printed(sweep), interpreted(sweep))


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, derandomize=True)
@given(sweeps())
def test_many_random_sweeps_leave_the_same_state_in_loops(sweep):
    assert_same(printed(sweep), interpreted(sweep))
