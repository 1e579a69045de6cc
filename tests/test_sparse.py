"""Sparse observations: the posterior of the dense array, at the cost of the stored entries."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from references.monte_carlo import BATCHES, mean_and_error
from scipy import sparse, stats

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over, substitute
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import UNIT
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.errors import ModelError, RunError
from gibbsppl.initial.search import data_scale, initial_state
from gibbsppl.kernels.block import BlockDraw
from gibbsppl.kernels.exact import ExactDraw
from gibbsppl.kernels.labels import FiniteDraw
from gibbsppl.language import sparse as language_sparse
from gibbsppl.language.certain import is_certain
from gibbsppl.model import density
from gibbsppl.model.density import log_joint, log_terms
from gibbsppl.model.graph import Potential
from models import poisson_factorisation, reuters

LEVEL = 1e-3
CLOSED = (ExactDraw, BlockDraw, FiniteDraw)
DOCS, WORDS, TOPICS = 7, 6, 2


def counts(*shape, rate=0.5):
    return np.random.default_rng(0).poisson(rate, shape)


def table():
    return gp.Model(coords={"doc": DOCS, "topic": TOPICS, "word": WORDS})


# ---- models of an array of observations -------------------------------------------------------


def factorised(y):
    with table() as model:
        theta = gp.Gamma("theta", 0.5, rate=0.1, dims=("doc", "topic"))
        phi = gp.Dirichlet("phi", 0.5, dims=("topic", "word"), event="word")
        gp.Poisson("y", theta @ phi, dims=("doc", "word"), observed=y)
    return model


def factorised_with_hyperpriors(y):
    with table() as model:
        rate = gp.Gamma("rate", 2, rate=1, dims="doc")
        theta = gp.Gamma("theta", 0.5, rate=rate, dims=("doc", "topic"))
        phi = gp.Gamma("phi", 0.5, rate=1, dims=("topic", "word"))
        exposure = gp.Data("exposure", np.linspace(0, 2, DOCS), dims="doc")
        gp.Poisson("y", exposure * (theta @ phi) + 0.1, dims=("doc", "word"), observed=y)
    return model


def log_linear(y):
    with table() as model:
        a = gp.Normal("a", 0, tau=1, dims="doc")
        b = gp.Normal("b", 0, tau=1, dims="word")
        gp.Poisson("y", gp.exp(a + b), dims=("doc", "word"), observed=y)
    return model


def network(y):
    with gp.Model(coords={"node": DOCS, "group": 2}) as model:
        u = gp.Gamma("u", 1, rate=1, dims=("node", "group"))
        v = gp.Gamma("v", 1, rate=1, dims=("node'", "group"))
        linked = 1 - gp.exp(-(u * v).sum("group"))
        gp.Bernoulli("y", linked, dims=("node", "node'"), observed=y)
    return model


def logistic(y):
    with table() as model:
        a = gp.Normal("a", 0, tau=1, dims="doc")
        b = gp.Normal("b", 0, tau=1, dims="word")
        gp.Bernoulli("y", logit_p=a + b, dims=("doc", "word"), observed=y)
    return model


def trials(y):
    with table() as model:
        p = gp.Beta("p", 1, 1, dims="doc")
        n = gp.Data("n", np.full(WORDS, 9), dims="word")
        gp.Binomial("y", n, p, dims=("doc", "word"), observed=y)
    return model


def overdispersed(y):
    with table() as model:
        mu = gp.Gamma("mu", 1, rate=1, dims="doc")
        gp.NegativeBinomial("y", mu=mu, alpha=2, dims=("doc", "word"), observed=y)
    return model


def structural_zeros(y):
    with table() as model:
        mu = gp.Gamma("mu", 1, rate=1, dims="doc")
        psi = gp.Beta("psi", 1, 1)
        gp.ZeroInflatedPoisson("y", psi=psi, rate=mu, dims=("doc", "word"), observed=y)
    return model


def gaussian(y):
    with table() as model:
        theta = gp.Normal("theta", 0, tau=1, dims=("doc", "topic"))
        phi = gp.Normal("phi", 0, tau=1, dims=("topic", "word"))
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", theta @ phi, tau=tau, dims=("doc", "word"), observed=y)
    return model


def times(y):
    with table() as model:
        rate = gp.Gamma("rate", 1, rate=1, dims="doc")
        gp.Exponential("y", rate=rate, dims=("doc", "word"), observed=y)
    return model


def clustered(y):
    with table() as model:
        weight = gp.Dirichlet("weight", 1, dims="topic", event="topic")
        z = gp.Categorical("z", weight, dims="doc")
        rate = gp.Gamma("rate", 1, rate=1, dims=("topic", "word"))
        gp.Poisson("y", rate[z], dims=("doc", "word"), observed=y)
    return model


def of_three_dims(y):
    with gp.Model(coords={"a": 4, "b": 3, "c": 5, "k": 2}) as model:
        a, b, c = (gp.Gamma(n.upper(), 1, rate=1, dims=(n, "k")) for n in "abc")
        gp.Poisson("y", (a * b * c).sum("k"), dims=("a", "b", "c"), observed=y)
    return model


def of_one_dim(y):
    with gp.Model() as model:
        rate = gp.Gamma("rate", 1, rate=1)
        gp.Poisson("y", rate, dims="i", observed=y)
    return model


CASES = (
    (factorised, counts(DOCS, WORDS)),
    (factorised_with_hyperpriors, counts(DOCS, WORDS)),
    (log_linear, counts(DOCS, WORDS)),
    (network, np.minimum(counts(DOCS, DOCS), 1)),
    (logistic, np.minimum(counts(DOCS, WORDS), 1)),
    (trials, counts(DOCS, WORDS)),
    (overdispersed, counts(DOCS, WORDS)),
    (structural_zeros, counts(DOCS, WORDS)),
    (gaussian, 0.7 * counts(DOCS, WORDS)),
    (times, 0.7 * counts(DOCS, WORDS)),
    (clustered, counts(DOCS, WORDS)),
    (of_three_dims, counts(4, 3, 5)),
    (of_one_dim, counts(9)),
    (factorised, np.zeros((DOCS, WORDS), int)),
)
IDS = [f"{model.__name__}{'' if y.any() else '_of_zeros'}" for model, y in CASES]
each_case = pytest.mark.parametrize(("model", "y"), CASES, ids=IDS)


def both(model, y):
    """The model with dense and with sparse observations."""
    return model(y), model(sparse.coo_array(y))


def state_of(model, seed):
    return initial_state(np.random.default_rng(seed), model.graph, model.data)[0]


def disagrees(dense, graph, data, seed):
    """Whether the log joint densities at a random point differ by more than rounding."""
    state = state_of(dense, seed)
    ours, theirs = ((g, {**d, **state}) for g, d in ((graph, data), (dense.graph, dense.data)))
    size = sum(abs(t) for t in (*log_terms(*ours).values(), *log_terms(*theirs).values()))
    return abs(log_joint(*ours) - log_joint(*theirs)) > RELATIVE_TOLERANCE * size


# ---- the posterior is that of the dense array ------------------------------------------------


@each_case
def test_the_log_joint_is_that_of_the_dense_array(model, y):
    dense, stored = both(model, y)

    assert not any(disagrees(dense, stored.graph, stored.data, seed) for seed in range(3))


def without_subtraction(graph):
    """The graph in which what is stored adds its log density, and is not taken out of the zeros."""
    zeros, rows = graph.potentials
    (row,) = rows.over
    places = {
        r.dim: Array(f"{rows.of}_{r.dim.name}", nonnegative=True)[row.dim] for r in zeros.over
    }
    whole = rows.log_density + substitute(zeros.log_density, places)
    return replace(graph, potentials=(zeros, replace(rows, log_density=whole)))


@pytest.mark.parametrize("model", [factorised, factorised_with_hyperpriors, gaussian])
def test_the_comparison_finds_what_is_forgotten(model):
    y = counts(DOCS, WORDS)
    dense, stored = both(model, y)
    zeros, rows = stored.graph.potentials
    shorter = replace(rows.over[0], stop=rows.over[0].stop - 1)
    wrong = (
        without_subtraction(stored.graph),
        replace(stored.graph, potentials=(rows,)),
        replace(stored.graph, potentials=(zeros,)),
        replace(stored.graph, potentials=(zeros, replace(rows, over=(shorter,)))),
    )

    assert all(disagrees(dense, graph, stored.data, seed=1) for graph in wrong)


def split_of_the_table(y, of_cells, of_rows):
    """What is shared out of each cell: as of the stored entries, and nothing of zeros."""
    found = np.zeros_like(of_cells)
    found[np.nonzero(y)] = of_rows
    return found


@each_case
def test_the_parameters_of_conditionals_are_those_of_the_dense_array(model, y):
    dense, stored = (gp.compile(m) for m in both(model, y))
    state = state_of(dense, seed=2)
    same = {name: np.copy(value) for name, value in state.items()}
    for sampler, values in ((dense, state), (stored, same)):
        sampler.program.augment(np.random.default_rng(3), values, sampler.constants)
    for name in (same.keys() & state.keys()) - dense.graph.variables.keys():
        moved = np.shape(state[name]) != np.shape(same[name])
        state[name] = split_of_the_table(y, state[name], same[name]) if moved else same[name]
    for step in stored.schedule.steps:
        name = step.statement.name
        if name not in dense.graph.variables or not isinstance(step, CLOSED):
            continue
        found, expected = (
            s.program.given_rest[name](values, s.constants)
            for s, values in ((stored, same), (dense, state))
        )
        if isinstance(step, FiniteDraw):
            found, expected = ((w - w.max(axis=-1, keepdims=True),) for w in (found, expected))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=RELATIVE_TOLERANCE, atol=RELATIVE_TOLERANCE)


@each_case
def test_every_conditional_passes_the_ratio_check(model, y):
    assert gp.compile(model(sparse.coo_array(y))).verify().proved


def same_steps(model, y):
    """Whether the samplers of the dense and of the sparse array draw in the same way."""
    of_dense, of_stored = (
        {
            # (auxiliary variables are named for the factor that they belong to)
            (s.statement.name.replace(".zeros", ""), s.kind, s.family.name if s.family else "")
            for s in sampler.schedule.steps
        }
        for sampler in map(gp.compile, both(model, y))
    )
    return of_dense == of_stored


@pytest.mark.parametrize(("model", "y"), CASES[:-1], ids=IDS[:-1])
def test_the_same_is_drawn_in_the_same_way_unless_zeros_are_of_two_kinds(model, y):
    assert same_steps(model, y) == (model is not structural_zeros)


def test_what_is_measured_has_the_scale_of_all_cells():
    y = 0.7 * counts(DOCS, WORDS)
    dense, stored = both(gaussian, y)
    scales = [data_scale(m.graph, m.data) for m in (dense, stored)]

    assert scales[0] == pytest.approx(scales[1], rel=RELATIVE_TOLERANCE)
    assert scales[0] != pytest.approx(np.sqrt(np.mean(stored.data["y"] ** 2)), rel=LEVEL)


def test_a_start_is_drawn_from_the_prior():
    dense, stored = both(factorised_with_hyperpriors, counts(DOCS, WORDS))
    notes = [initial_state(np.random.default_rng(4), m.graph, m.data)[1] for m in (dense, stored)]

    assert notes[0] == notes[1]
    assert notes[1]["rate"] == "prior"


def rates(y, draws):
    """The rate of every cell, and the total."""
    rate = np.moveaxis(draws["theta"] @ draws["phi"], (0, 1), (-2, -1))
    return {"total": rate.sum(axis=(0, 1)), **{at: rate[at] for at in np.ndindex(y.shape)}}


def far_apart(ours, theirs):
    """The quantities whose means are further apart than Monte Carlo errors explain."""
    allowed = stats.t.isf(LEVEL / (2 * len(ours)), 2 * (BATCHES - 1))
    found = set()
    for name in ours:
        (a, error_a), (b, error_b) = map(mean_and_error, (ours[name], theirs[name]))
        if abs(a - b) > allowed * np.hypot(error_a, error_b):
            found.add(name)
    return found


def test_the_posterior_is_that_of_the_dense_array():
    y = counts(4, 3, rate=1.5)
    settings = {"draws": 2000, "warmup": 200, "chains": 2, "progress": False}

    def sampled(observed, seed):
        with gp.Model(coords={"doc": 4, "topic": 2, "word": 3}) as model:
            theta = gp.Gamma("theta", 2, rate=1, dims=("doc", "topic"))
            phi = gp.Dirichlet("phi", 1, dims=("topic", "word"), event="word")
            gp.Poisson("y", theta @ phi, dims=("doc", "word"), observed=observed)
        return rates(y, gp.compile(model).sample(seed=seed, **settings))

    of_dense, of_stored = sampled(y, 1), sampled(sparse.csc_array(y), 2)
    first = np.unravel_index(np.argmax(y), y.shape)
    one_lost = y.copy()
    one_lost[first] = 0

    assert far_apart(of_dense, of_stored) == set()
    assert far_apart(of_dense, sampled(sparse.csc_array(one_lost), 3)) >= {"total", first}


# ---- how a sparse array is read --------------------------------------------------------------


def with_duplicates(y):
    row, column = np.nonzero(y)
    twice = (np.concatenate([row, row[:2]]), np.concatenate([column, column[:2]]))
    return sparse.coo_array((np.concatenate([y[row, column], [2, 3]]), twice), shape=y.shape)


def with_stored_zeros(y):
    found = sparse.csr_array(y)
    found.data[:2] = 0
    return found


def in_another_order(y):
    row, column = np.nonzero(y)
    order = np.random.default_rng(5).permutation(len(row))
    return sparse.coo_array((y[row, column][order], (row[order], column[order])), shape=y.shape)


READ = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "bsr": sparse.bsr_array,
    "dia": sparse.dia_array,
    "matrix": sparse.csr_matrix,
    "coo_matrix": sparse.coo_matrix,
    "floats": lambda y: sparse.csr_array(y.astype(float)),
    "small": lambda y: sparse.coo_array(y.astype(np.int8)),
    "unsigned": lambda y: sparse.coo_array(y.astype(np.uint16)),
    "duplicates": with_duplicates,
    "stored zeros": with_stored_zeros,
    "order": in_another_order,
}


@pytest.mark.parametrize("how", READ)
def test_every_format_is_the_same_table(how):
    observed = READ[how](counts(DOCS, WORDS))
    before = observed.copy()
    dense = observed.toarray()
    data = factorised(observed).data

    assert np.array_equal(data["y"], dense[np.nonzero(dense)])
    assert [data["y_doc"].tolist(), data["y_word"].tolist()] == [
        a.tolist() for a in np.nonzero(dense)
    ]
    assert (observed != before).nnz == 0


def test_booleans_that_are_stored_twice_are_one():
    twice = sparse.coo_array(([True, True, True], ([0, 0, 1], [2, 2, 0])), shape=(DOCS, WORDS))

    assert logistic(twice).data["y"].tolist() == [1, 1]


def test_a_sum_of_small_integers_does_not_overflow():
    twice = sparse.coo_array(
        (np.full(3, 100, np.int8), ([0, 0, 0], [1, 1, 1])), shape=(DOCS, WORDS)
    )

    assert factorised(twice).data["y"].tolist() == [300]


def test_the_graph_says_what_is_observed():
    model = of_one_dim(sparse.coo_array([0, 3, 0, 1]))

    assert str(model.graph).splitlines() == [
        "rate ~ Gamma(shape=1, rate=1)",
        "log density += sum(-rate, i), for y observed",
        "log density += sum(y[y_rows]*log(rate) - loggamma(y[y_rows] + 1), y_rows), for y observed",
    ]


def test_a_sampler_shows_the_table():
    sampler = gp.compile(factorised(sparse.coo_array(counts(DOCS, WORDS))))

    assert "y_split[y_rows, topic]" in str(sampler)
    assert "from y.zeros" in sampler.explain("theta")
    assert "-sum(phi[topic, word]*theta[doc, topic], topic)" in sampler.explain()


def test_the_model_of_stories_takes_a_whole_vocabulary_as_sparse():
    documents, words = 5, None
    small = poisson_factorisation.model(documents=documents, words=words)
    counts, vocabulary = reuters.table(documents, words)
    dense = poisson_factorisation.model(counts)

    assert small.data["counts"].size == np.count_nonzero(counts) < counts.size / 2
    assert small.size("vocab") == len(vocabulary)
    assert not disagrees(dense, small.graph, small.data, seed=6)


# ---- memory ----------------------------------------------------------------------------------


def large(size, stored, topics=5):
    rng = np.random.default_rng(7)
    at = rng.integers(size, size=(2, stored))
    y = sparse.coo_array((rng.integers(1, 5, stored), tuple(at)), shape=(size, size))
    with gp.Model(coords={"doc": size, "topic": topics, "word": size}) as model:
        theta = gp.Gamma("theta", 0.5, rate=0.1, dims=("doc", "topic"))
        phi = gp.Dirichlet("phi", 0.5, dims=("topic", "word"), event="word")
        gp.Poisson("y", theta @ phi, dims=("doc", "word"), observed=y)
    return model


def everything(size, stored):
    """Declare, compile, start, sweep, evaluate, verify."""
    sampler = gp.compile(large(size, stored))
    (chain,), _ = sampler.initial_states(1, seed=1)
    for _ in range(2):
        sampler.program.sweep(chain.rng, chain.state, sampler.constants)
    joint = log_joint(sampler.graph, {**sampler.data, **chain.state})
    draws = sampler.sample(draws=2, warmup=1, chains=1, seed=2, progress=False)
    return np.isfinite(joint) and sampler.verify().proved and "theta" in draws


def bytes_for(function, *arguments):
    """The largest memory in use at any time while a function runs, and what it returns."""
    tracemalloc.start()
    try:
        found = function(*arguments)
        return tracemalloc.get_traced_memory()[1], found
    finally:
        tracemalloc.stop()


def test_nothing_is_as_large_as_the_cells():
    size = 20_000
    peak, passed = bytes_for(everything, size, 50_000)

    assert passed
    # Not even one byte for each cell; a log density of them would take eight.
    assert peak < size**2


def additive(rows, columns):
    return gp.Poisson, (gp.exp(rows.sum("topic") + columns.sum("topic")),), {}


def with_squares(rows, columns):
    return gp.Normal, ((rows * columns).sum("topic"),), {"tau": gp.Gamma("tau", 1, rate=1)}


def links(rows, columns):
    weight = (gp.exp(rows) * gp.exp(columns)).sum("topic")
    return gp.Bernoulli, (1 - gp.exp(-weight),), {}


@pytest.mark.parametrize("distribution", [additive, with_squares, links])
def test_the_log_joint_of_others_is_summed_without_cells(distribution):
    size, stored = 3_000, 500
    at = np.random.default_rng(10).integers(size, size=(2, stored))
    at = np.unique(at, axis=1)
    y = sparse.coo_array((np.ones(at.shape[1]), tuple(at)), shape=(size, size))

    def declare(observed):
        with gp.Model(coords={"row": size, "topic": 2, "column": size}) as model:
            rows = gp.Normal("rows", 0, tau=9, dims=("row", "topic"))
            columns = gp.Normal("columns", 0, tau=9, dims=("column", "topic"))
            family, values, named = distribution(rows, columns)
            family("y", *values, **named, dims=("row", "column"), observed=observed)
        return model

    peak, _ = bytes_for(state_of, declare(y), 11)
    dense = declare(y.toarray())

    assert peak < size**2
    assert not disagrees(dense, declare(y).graph, declare(y).data, seed=11)


def test_the_ceiling_finds_an_array_of_cells(monkeypatch):
    def over_cells(expr, over, values, sizes):
        yield float(density.evaluate(expr, over, values, sizes).sum())

    model = large(3_000, 500)
    values = {**model.data, **state_of(model, 8)}
    peak, joint = bytes_for(log_joint, model.graph, values)
    monkeypatch.setattr(density, "_sums", over_cells)
    of_cells, same = bytes_for(log_joint, model.graph, values)

    assert peak < 3_000**2 < of_cells
    assert joint == pytest.approx(same, rel=RELATIVE_TOLERANCE)


# ---- errors ----------------------------------------------------------------------------------

SOME = np.array([[0, 3, 0], [1, 0, 0]])
WHAT_ELSE = language_sparse.WHAT_ELSE


def declared(family, *parameters, observed=SOME, dims=("doc", "word"), missing=None, **named):
    with gp.Model(coords={"doc": 2}):
        observed = sparse.coo_array(observed)
        family("y", *parameters, dims=dims, observed=observed, missing=missing, **named)


def gamma():
    declared(gp.Gamma, 2, rate=1)


def positive_truncated():
    declared(gp.Poisson, 2, lower=1)


def labels():
    with gp.Model(coords={"doc": 2, "label": 4}):
        p = gp.Dirichlet("p", 1, dims="label", event="label")
        gp.Categorical("y", p, dims=("doc", "word"), event="label", observed=sparse.coo_array(SOME))


def vectors():
    declared(gp.Multinomial, 3, 1 / 3, event="word")


def not_a_number():
    declared(gp.Poisson, 2, observed=np.where(SOME == 3, np.nan, SOME))


def infinite():
    declared(gp.Poisson, 2, observed=np.where(SOME == 1, np.inf, SOME))


def complex_numbers():
    declared(gp.Poisson, 2, observed=SOME.astype(complex))


def not_whole():
    declared(gp.Poisson, 2, observed=SOME / 2)


def negative():
    declared(gp.Poisson, 2, observed=-SOME)


def more_than_trials():
    declared(gp.Binomial, 2, 0.5)


def too_few_rows():
    declared(gp.Poisson, 2, observed=SOME[:1])


def too_few_dims():
    declared(gp.Poisson, 2, dims="doc")


def no_columns():
    declared(gp.Poisson, 2, observed=SOME[:, :0])


def marked_as_missing():
    declared(gp.Poisson, 2, missing=0)


def filled_in_regions():
    with gp.Model(coords={"doc": 2}):
        gp.Array("y", dims=("doc", "word"), observed=sparse.coo_array(SOME))


def censored():
    with gp.Model():
        seen = gp.Exponential(rate=1)
        gp.Censored("y", seen, upper=9, dims=("doc", "word"), observed=sparse.coo_array(SOME))


def rate_of_unknown_sign():
    with gp.Model(coords={"doc": 2}):
        a = gp.Normal("a", 0, sigma=1, dims="doc")
        gp.Poisson("y", a + 1, dims=("doc", "word"), observed=sparse.coo_array(SOME))


def bound_that_is_drawn():
    with gp.Model(coords={"doc": 2}):
        n = gp.Poisson("n", 5, dims="doc")
        gp.Binomial("y", n, 0.5, dims=("doc", "word"), observed=sparse.coo_array(SOME))


def read(function):
    with gp.Model(coords={"doc": 2}):
        y = gp.Poisson("y", 2, dims=("doc", "word"), observed=sparse.coo_array(SOME))
        function(y)


def read_by_a_statement():
    read(lambda y: gp.Normal("x", y, sigma=1, dims=("doc", "word")))


def read_by_a_potential():
    read(lambda y: gp.Potential("x", y * 2))


def read_by_a_constraint():
    read(lambda y: gp.Constraint("x", y < 2))


def read_by_a_function():
    read(lambda y: gp.Deterministic("x", y * 2))


def data():
    with gp.Model():
        gp.Data("y", sparse.coo_array(SOME), dims=("doc", "word"))


IS_READ = r"^x: reads y\[doc, word\], which is observed as a sparse array: .* declare .* gp.Data"
ERRORS = {
    gamma: r"^y: found a sparse array, but Gamma on \(0, oo\) has no log density at 0, .* dense",
    positive_truncated: r"^y: found a sparse array, but Poisson on \{1\.\.oo\} has no log density",
    labels: "^y: found a sparse array for Categorical, .* expected .* dense array",
    vectors: "^y: found a sparse array for Multinomial, .* expected .* dense array",
    not_a_number: r"^y: found nan at position \(0, 1\) of a sparse array; expected finite numbers",
    infinite: r"^y: found inf at position \(1, 0\) of a sparse array; expected finite numbers",
    complex_numbers: "^y: found a sparse array of complex128; expected real numbers: convert",
    not_whole: r"^y: found 1\.5 at position doc=0, word=1 \(and 1 more\); expected a whole",
    negative: r"^y: found -3 at position doc=0, word=1 \(and 1 more\); expected a whole",
    more_than_trials: r"^y: found 3 at position doc=0, word=1; expected a whole .* \{0\.\.2\}",
    too_few_rows: "^y: dimension 'doc' has size 2, but the array has 1 along it",
    too_few_dims: r"^y: the array has 2 axes \(shape \(2, 3\)\), but dims name 1",
    no_columns: r"^y: the observed array of shape \(2, 0\) is empty; expected one or more values",
    marked_as_missing: "^y: found missing= with a sparse array, whose zeros are all data; .* dense",
    filled_in_regions: "^y: found a sparse array for a gp.Array, .* expected a dense one",
    censored: "^y: found a sparse array of censored values; expected a dense one",
    rate_of_unknown_sign: r"^y: rate is a\[doc\] \+ 1, which is not known to be a number in",
    bound_that_is_drawn: r"^y: found a sparse array, but how large its values can be is drawn",
    read_by_a_statement: IS_READ,
    read_by_a_potential: IS_READ,
    read_by_a_constraint: IS_READ,
    read_by_a_function: IS_READ,
    data: "^y: found a sparse matrix; sparse data are not read yet: pass .toarray",
}


@pytest.mark.parametrize("wrong", ERRORS)
def test_what_cannot_be_sparse_is_refused_by_name(wrong):
    with pytest.raises(ModelError, match=ERRORS[wrong]):
        wrong()


@pytest.mark.parametrize("wrong", [w for w in ERRORS if "dense" in ERRORS[w]])
def test_what_to_do_is_said(wrong):
    with pytest.raises(ModelError) as caught:
        wrong()

    assert WHAT_ELSE in str(caught.value) or ".toarray()" in str(caught.value)


def parameters():
    """What a probability is made of, and whether it is certain to be one."""
    with gp.Model(coords={"i": 2, "k": 3}):
        a = gp.Normal("a", 0, sigma=1)
        p, q = gp.Beta("p", 1, 1, dims="i"), gp.Uniform("q", 0, 1)
        x, w = gp.Gamma("x", 1, rate=1), gp.Dirichlet("w", 1, dims="k", event="k")
        half = gp.Uniform("half", -0.5, 0.5)
        share, more = gp.Data("share", [0.0, 1.0], dims="i"), gp.Data("more", [0.0, 2.0], dims="i")
        z = gp.Bernoulli("z", 0.5)
        return (
            (p * q, True),
            (1 - p, True),
            (1 - p * share, True),
            (p**2 * (1 - q), True),
            (1 - gp.exp(-x), True),
            (gp.expit(a), True),
            (1 - gp.Phi(a) * w, True),
            (gp.where(z, p, 1 - q), True),
            (gp.stick_breaking(p, "i"), True),
            (share, True),
            (a, False),
            (x, False),
            (1 - x, False),
            (half, False),
            (-p, False),
            (p + q, False),
            (1 - p * more, False),
            (1 - gp.exp(x), False),
            (1 - gp.exp(-a), False),
            (gp.exp(a), False),
            (gp.where(z, p, x), False),
            (p * half, False),
        )


@pytest.mark.parametrize(
    ("tensor", "certain"), [pytest.param(*p, id=str(p[0])) for p in parameters()]
)
def test_a_probability_is_certain_by_its_form(tensor, certain):
    assert is_certain(tensor.model, tensor.expr, UNIT) == certain


# ---- prediction ------------------------------------------------------------------------------


def sampled_with_another():
    """Words of documents as a sparse array, and a length of each, which is dense."""
    with gp.Model(coords={"doc": DOCS, "word": WORDS}) as model:
        rate = gp.Gamma("rate", 2, rate=1, dims="doc")
        y = sparse.coo_array(counts(DOCS, WORDS))
        gp.Poisson("y", rate, dims=("doc", "word"), observed=y)
        gp.Poisson("length", 10 * rate, dims="doc", observed=np.arange(DOCS))
    sampler = gp.compile(model)
    return sampler, sampler.sample(draws=50, warmup=10, chains=2, seed=9, progress=False)


def test_what_is_sparse_is_not_predicted():
    sampler, draws = sampled_with_another()

    with pytest.raises(
        RunError, match=r"^y: observed as a sparse array, .* compute what is wanted"
    ):
        sampler.predict(draws, {"doc": 2}, "y")


def test_what_is_not_sparse_is_predicted_beside_it():
    sampler, draws = sampled_with_another()

    assert sampler.predict(draws, {"doc": 2}, "length").mean.shape == (2,)
    assert sampler.predict(draws, {"doc": 2}).name == "length"


def test_the_same_seed_gives_the_same_draws():
    runs = [sampled_with_another()[1]["rate"] for _ in range(2)]

    assert np.array_equal(*runs)


def test_a_power_that_overflows_in_parts_is_that_of_the_sum():
    dense, stored = both(log_linear, counts(DOCS, WORDS))
    state = {"a": np.full(DOCS, 800.0), "b": np.full(WORDS, -800.0)}
    joints = [log_joint(m.graph, {**m.data, **state}) for m in (dense, stored)]

    assert np.isfinite(joints[0])
    assert joints[0] == pytest.approx(joints[1], rel=RELATIVE_TOLERANCE)


def test_a_sum_between_bounds_is_over_these_positions():
    i, k, x = Dim("i"), Dim("k"), Array("x")
    inner = Over(x[k] * i, k, 1, 3)
    values, sizes = {"x": np.array([1.0, 2.0, 4.0, 8.0])}, {i: 3, k: 4}
    over = (Range(i, 0, 3),)

    assert density.evaluate(inner, over, values, sizes).tolist() == [0.0, 6.0, 12.0]
    assert (
        density.log_density(
            Potential("p", inner, (*over, Range(Dim("j"), 0, 2)), "y", is_sparse=True),
            values,
            sizes,
        )
        == 36
    )
