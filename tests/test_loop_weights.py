"""Labels and counts drawn by weights instead of their logs, added up where they are drawn."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from kernels_called import Called
from replays import beside

import gibbsppl as gp
from gibbsppl.code.arrays import additions
from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.expressions import (
    ONE,
    Apply,
    Element,
    Number,
    Position,
    Span,
    elements,
)
from gibbsppl.code.arrays.statements import Add, Argument, Draw, Let, Store
from gibbsppl.code.arrays.sweeps import Array, Sweep, every
from gibbsppl.code.arrays.weights import as_product, by_weights
from gibbsppl.code.loop_program import for_loops
from gibbsppl.initial.search import initial_state
from gibbsppl.runtime.loops import weights as plain_weights
from gibbsppl.runtime.loops.labels import weights_of_logs
from gibbsppl.runtime.loops.weights import (
    LANES,
    UNITS_PER_LABEL,
    label_in,
    shares_added,
    shares_in,
    sums_by_lane,
    units_of,
)
from gibbsppl.schedule.deferral import passing
from models import (
    bayesian_lasso,
    lda,
    ordered_probit,
    poisson_factorisation,
    poisson_tensor,
    robust_regression,
    seeds,
)

SIZES = (1, 2, 3, 7, 8, 9, 15, 16, 17, 20, 50, 63)


class Given:
    """A stream of numbers that are known."""

    def __init__(self, values):
        self.values = iter(values)

    def random(self):
        return next(self.values)


def ends_of(weights):
    ends = np.empty(LANES)
    sums_by_lane(weights, ends)
    return ends


def some_weights(size, seed=1):
    rng = np.random.default_rng(seed)
    return rng.gamma(0.3, size=size) * (rng.random(size) < 0.8) + (size == 1)


# ---- labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_each_label_has_its_share_of_thresholds(size):
    weights, count = some_weights(size), 20_000
    uniform = (np.arange(count) + 0.5) / count
    stream = Given(uniform)
    found = np.array([label_in(stream, weights, ends_of(weights)) for _ in range(count)])

    shares = np.bincount(found, minlength=size) / count
    assert np.abs(shares - weights / weights.sum()).max() <= 1.01 / count
    order = np.argsort([k % LANES * size + k // LANES for k in range(size)])
    assert (np.diff(np.argsort(order)[found]) >= 0).all()  # lane after lane


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("uniform", [0.0, 0.5, 1.0 - 2.0**-53])
def test_a_label_is_one_of_them_at_the_ends_too(size, uniform):
    for seed in range(20):
        weights = some_weights(size, seed) + 1e-300
        assert 0 <= label_in(Given([uniform]), weights, ends_of(weights)) < size


@pytest.mark.parametrize("size", SIZES)
def test_compiled_labels_are_those_of_plain_loops(size):
    weights, ends = some_weights(size), np.empty(LANES)
    shares = [np.zeros(size), np.zeros(size)]
    for module, out in zip((plain_weights, Called("weights")), shares, strict=True):
        rng = np.random.default_rng(3)
        module.sums_by_lane(weights, ends)
        for n in (0, 1, 5, 10_000):
            module.shares_added(rng, weights, n, ends, out)

    assert np.array_equal(*shares)


def test_sums_tell_whether_digits_are_lost():
    for lost in ([1e-320, 0.0], [0.0, 0.0], [1.0, np.nan], [1.0, np.inf], [1e308] * 10):
        with np.errstate(over="ignore"):
            assert ends_of(np.array(lost))[-1] == 0.0
    for kept in ([1e-280, 0.0], [1.0] * 100, [0.0] * 40 + [3.0]):
        assert ends_of(np.array(kept))[-1] == pytest.approx(sum(kept), rel=1e-14)


@pytest.mark.parametrize("spoilt", [[-np.inf, -np.inf], [0.0, np.nan], [np.inf, 0.0]])
def test_weights_of_logs_need_numbers(spoilt):
    with pytest.raises(ValueError, match="probability zero"):
        weights_of_logs(np.array(spoilt))


# ---- counts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 40, UNITS_PER_LABEL * 9 + 1, 10**7])
def test_counts_share_out_their_total(n):
    weights, rng = some_weights(9), np.random.default_rng(2)
    weights[4] = 0.0
    out = np.full(9, 77)
    shares_in(rng, weights, n, ends_of(weights), out)

    assert out.sum() == n
    assert (out[weights == 0.0] == 0).all()


@pytest.mark.parametrize("n", [20, UNITS_PER_LABEL * 3 + 5])
def test_counts_have_the_moments_of_shares(n):
    times = 4000
    weights = np.array([0.5, 1.5, 3.0])
    rng, ends, out = np.random.default_rng(5), ends_of(weights), np.zeros((times, 3))
    for row in out:
        shares_in(rng, weights, n, ends, row)
    p = weights / weights.sum()
    error = np.sqrt(n * p * (1 - p) / times)

    assert (np.abs(out.mean(axis=0) - n * p) < 4.5 * error).all()
    assert np.allclose(out.var(axis=0), n * p * (1 - p), rtol=4.5 * np.sqrt(3 / times))


def test_counts_are_added_to_all_arrays():
    weights = some_weights(20)
    outs = np.zeros(20), np.ones(20), np.full(20, 2.0)
    shares_added(np.random.default_rng(1), weights, 30, ends_of(weights), *outs)

    assert all(np.array_equal(outs[0] + k, outs[k]) for k in (1, 2))
    assert outs[0].sum() == 30


@pytest.mark.parametrize("size", [0, 1, 8, 20])
def test_a_row_that_is_fetched_is_as_it_was(size):
    table = np.arange(3.0 * size).reshape(3, size)
    for module in (plain_weights, Called("weights")):
        module.fetch_row(table[1])

    assert np.array_equal(table.ravel(), np.arange(3.0 * size))


@pytest.mark.parametrize(
    ("n", "found"), [(0, 0), (3.0, 3), (16, 16), (17, -1), (-2, -1), (1.5, -1), (np.nan, -1)]
)
def test_units_are_few_and_whole(n, found):
    assert units_of(n, 2) == found


@pytest.mark.parametrize("n", [-2, 1.5])
def test_what_is_no_total_is_refused(n):
    with pytest.raises(ValueError, match=r"negative|whole number"):
        shares_added(None, np.ones(2), n, ends_of(np.ones(2)), np.zeros(2))


# ---- the passes ----------------------------------------------------------------------------------


def log(name):
    return Apply("log", (Element(name),))


@pytest.mark.parametrize(
    ("logs", "found"),
    [
        (log("a"), "a"),
        (Apply("+", (log("a"), Apply("log", (Apply("*", (Element("b"), Element("c"))),)))),
         "a * b * c"),
        (Number(0), "1"),
        (Apply("where", (Element("o"), log("a"), Number(-np.inf))), "where(o, a, 0)"),
        (Apply("neg", (log("a"),)), None),
        (Apply("+", (log("a"), Element("b"))), None),
        (Element("b"), None),
    ],
)  # fmt: skip
def test_exponentials_are_products_where_logs_are_sums_of_logs(logs, found):
    assert found == (None if as_product(logs) is None else str(as_product(logs)))


def kernels_of(program):
    return {s.kernel for s in every(program.sweep_value.statements) if isinstance(s, Draw)}


def factorised(counts, **settings):
    return gp.compile(poisson_factorisation.model(counts=counts, topics=3, **settings))


def small_counts(sparse=False):
    counts = np.random.default_rng(1).poisson(2.0, (5, 4)) * np.array([1, 1, 0, 20])
    if not sparse:
        return counts
    from scipy.sparse import csr_array

    return csr_array(counts)


def topics(number=3):
    return gp.compile(lda.model(corpus=lda.bars(documents=4, length=10, side=2), topics=number))


SPLIT = {
    "table": lambda: factorised(small_counts()),
    "sparse": lambda: factorised(small_counts(sparse=True)),
    "tensor": lambda: gp.compile(poisson_tensor.model()),
}


def swept(program, state, sweeps=3, seed=4):
    arrays = program.arrays_of(copy.deepcopy(state))
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        program.plain().sweep(program.arguments(rng, arrays), sweeps)
    return arrays, rng.bit_generator.state


@pytest.mark.parametrize("name", SPLIT)
def test_counts_are_added_where_they_are_drawn_in_the_same_chain(name):
    sampler = SPLIT[name]()
    (chain,), _ = sampler.initial_states(1, seed=2)
    stored, without = sampler.loops(), sampler.loops(keep=())

    assert {"shares_in"} <= kernels_of(stored)
    adding = {"units_of", "label_in", "shares_added"}
    assert adding <= kernels_of(without) - kernels_of(stored)
    assert ("fetch_row" in kernels_of(without)) == (name == "sparse")
    (auxiliary,) = sampler.program.auxiliary
    ours, theirs = swept(without, chain.state), swept(stored, chain.state)
    assert ours[1] == theirs[1]
    assert set(theirs[0]) - set(ours[0]) == {auxiliary}
    assert all(np.array_equal(a, theirs[0][n]) for n, a in ours[0].items())


AUXILIARY = (seeds, robust_regression, bayesian_lasso, ordered_probit)


@pytest.mark.parametrize("model", AUXILIARY, ids=lambda m: m.__name__)
def test_chains_are_the_same_without_auxiliary_variables_in_the_state(model):
    sampler = gp.compile(model.model())
    rng = np.random.default_rng(1)
    state, _ = initial_state(rng, sampler.graph, sampler.data)
    stored, without = sampler.loops(), sampler.loops(keep=())
    ours, theirs = swept(without, state), swept(stored, state)

    assert passing(sampler.schedule) == sampler.program.auxiliary
    assert set(theirs[0]) - set(ours[0]) == set(sampler.program.auxiliary)
    assert ours[1] == theirs[1]
    assert all(np.allclose(a, theirs[0][n], rtol=1e-12) for n, a in ours[0].items())


def test_auxiliary_variables_stay_where_their_step_is_not_the_first_to_read_them():
    assert passing(gp.compile(seeds.model(), scan="random").schedule) == ()


def test_what_is_recorded_stays_in_the_state():
    sampler = SPLIT["table"]()
    (auxiliary,) = sampler.program.auxiliary

    assert auxiliary in sampler.loops(keep=(auxiliary,)).module.state
    draws = sampler.sample(
        3, warmup=2, chains=1, seed=1, keep=[auxiliary, "theta"], backend="compiled",
        progress=False,
    )  # fmt: skip
    assert np.array_equal(draws[auxiliary].sum(axis=-1)[0, 0], small_counts())


def test_labels_of_topics_are_drawn_by_products():
    sampler = topics(12)
    (chain,), _ = sampler.initial_states(1, seed=2)

    assert "label_of_weights" in kernels_of(sampler.loops())
    for _ in range(4):
        assert beside(sampler, chain.state, chain.rng).far == []


@pytest.mark.parametrize("name", SPLIT)
def test_counts_in_loops_are_those_in_numpy(name):
    sampler = SPLIT[name]()
    (chain,), _ = sampler.initial_states(1, seed=2)

    for _ in range(3):
        assert beside(sampler, chain.state, chain.rng).far == []


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_products_that_leave_the_range_of_numbers_are_made_of_logs(scale):
    sampler = topics()
    (chain,), _ = sampler.initial_states(1, seed=2)
    program = sampler.loops()
    states = []
    for factor in (1.0, scale):
        state = copy.deepcopy(chain.state)
        state["theta"], state["phi"] = state["theta"] * factor, state["phi"] * factor
        only = replace(
            program.sweep_value,
            statements=tuple(
                s
                for s in program.sweep_value.statements
                if "z" in writes([s]) or isinstance(s, Let)
            ),
        )
        one = replace(program, sweep_value=only)
        states.append(swept(one, state, sweeps=1)[0]["z"])

    assert np.array_equal(*states)


# ---- what may not be added up at once ------------------------------------------------------------


def shared_out(*more, place=None):
    """A sweep that shares out counts to places of a table, and adds them up by a group."""
    row, k = Span.whole("row"), Span.whole("k")
    here, at = Position("row"), Position("k")
    logs = Apply("+", (Apply("log", (Element("a", (here, at)),)), log_at("b", at)))
    target = Element("split", (here, at))
    shares = Draw(
        (target,), "multinomial", (Argument(logs, (k,)), Argument(Element("n", (here,)))), (row,),
        (k,),
    )  # fmt: skip
    group = Element("group", (here,)) if place is None else place
    return Sweep(
        "shares",
        {
            "a": Array(("row", "k"), "data"), "b": Array(("k",), "state"),
            "n": Array(("row",), "data", "int"), "group": Array(("row",), "data", "int"),
            "moved": Array(("row",), "state", "int"), "out": Array(("g", "k"), "state"),
        },
        (
            Let("split", (row, k), Number(0), type="int", is_empty=True),
            shares,
            *more,
            Let("sum", (Span.whole("g"), k), Number(0)),
            Add("sum", (group, at), target, (row, k)),
            Store(Element("out", (Position("g"), at)), Element("sum", (Position("g"), at)),
                  (Span.whole("g"), k)),
        ),
    )  # fmt: skip


def log_at(name, place):
    return Apply("log", (Element(name, (place,)),))


def added(sweep):
    found = additions.added_where_drawn(by_weights(sweep))
    return "units_of" in {s.kernel for s in every(found.statements) if isinstance(s, Draw)}


def test_sums_by_group_are_added_up_where_counts_are_drawn():
    assert added(shared_out())
    assert "split[" not in str(for_loops(shared_out(), {}, {}))


def test_counts_that_something_else_reads_are_stored():
    reads = Store(Element("b", (Position("k"),)), Element("split", (Number(0), Position("k"))),
                  (Span.whole("k"),))  # fmt: skip

    assert not added(shared_out(reads))


def test_a_place_that_changes_after_the_draw_is_read_after_it():
    moved = Element("moved", (Position("row"),))
    changes = Store(moved, ONE, (Span.whole("row"),))

    assert added(shared_out(place=moved))
    assert not added(shared_out(changes, place=moved))


def test_a_sum_that_has_begun_with_something_is_left_alone():
    sweep = shared_out()
    begun = tuple(
        replace(s, value=ONE) if isinstance(s, Let) and s.name == "sum" else s
        for s in sweep.statements
    )

    assert not added(replace(sweep, statements=begun))


def test_counts_that_one_token_reads_are_neighbours():
    sampler = gp.compile(
        lda.model(corpus=lda.bars(documents=4, length=10, side=2), topics=3),
        collapse=("theta", "phi"),
    )
    (scan,) = (s for s in sampler.loops().sweep_value.statements if "token" in str(s).split("\n")[0]
               and "draw" in str(s))  # fmt: skip
    (weights,) = (s for s in scan.body if isinstance(s, Let) and s.dims)
    (label,) = weights.dims
    tables = [e for e in elements(weights.value) if len(e.indices) > 1]

    assert len(tables) == 2
    assert all(e.indices[-1] == Position(label.dim) for e in tables)
