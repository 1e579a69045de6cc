"""Proposals about the mode of a block: exact, the same in loops, wherever they start."""

from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl.checks.ratio import ratio_check
from gibbsppl.code.costs import worth_of
from gibbsppl.code.program import load
from gibbsppl.derive.second_order import second_order
from gibbsppl.kernels.modal import ModalMove
from gibbsppl.model import memory
from gibbsppl.output.diagnostics import ess_bulk, mcse_mean
from gibbsppl.planning import recentred
from gibbsppl.planning.modal import terms_of
from gibbsppl.runtime import modal
from gibbsppl.runtime.joint import joint_in
from gibbsppl.runtime.moves import freeze

RNG = np.random.default_rng(20)
X = np.array([[1.0, -1.2], [1.0, -0.3], [1.0, 0.1], [1.0, 0.6], [1.0, 1.9], [1.0, 2.5]])
FEW = np.array([0, 1, 0, 0, 1, 0])
COUNTS = np.array([[3, 0, 2], [7, 5, 9], [0, 1, 0], [2, 2, 4], [12, 8, 9]])
# Draws of a run, and how many standard errors a mean may be off: once in 10**7 tests.
DRAWS, FAR = 12_000, 5.3


def few():
    """Two coefficients of small counts: the log density is far from normal."""
    with gp.Model(coords={"i": len(X), "k": 2}, name="few") as model:
        x = gp.Data("x", X, dims=("i", "k"))
        beta = gp.Normal("beta", 0, tau=0.1, dims="k")
        gp.Poisson("y", gp.exp(x @ beta), dims="i", observed=FEW)
    return model


def grouped(groups=5):
    """Effects of groups on counts, with a level that moves them along."""
    counts = np.resize(COUNTS, (groups, 3))
    with gp.Model(coords={"g": groups, "i": 3}, name="grouped") as model:
        level = gp.Normal("level", 0, tau=0.04)
        slope = gp.Normal("slope", 0, tau=1.0)
        effect = gp.Normal("effect", 0, tau=2.0, dims="g")
        x = gp.Data("x", [-1.0, 0.0, 1.0], dims="i")
        rate = gp.exp(level + slope * x + effect)
        gp.Poisson("y", rate, dims=("g", "i"), observed=counts)
    return model


def walking(size=40):
    """A level that walks, and a slope: what moves along is in a band."""
    x = RNG.standard_normal(size)
    with gp.Model(coords={"t": size}, name="walking") as model:
        slope = gp.Normal("slope", 0, tau=1.0)
        level = gp.Array("level", dims="t")
        level[0] = gp.Normal(0, tau=1.0)
        level[1:] = gp.Normal(level.lag("t"), tau=9.0)
        shown = gp.Data("x", x, dims="t")
        gp.Poisson("y", gp.exp(level + slope * shown), dims="t", observed=RNG.poisson(2.0, size))
    return model


def moves(sampler):
    """The steps that propose about a mode."""
    return [s for s in sampler.schedule.steps if isinstance(s, ModalMove)]


def grid_of_few():
    """The posterior of `few` on a grid that has all of it: points, and their probabilities."""
    a, b = np.meshgrid(np.linspace(-14, 5, 800), np.linspace(-12, 9, 800), indexing="ij")
    eta = a[..., None] + b[..., None] * X[:, 1]
    log_likelihood = (FEW * eta - np.exp(eta)).sum(axis=-1)
    log_density = log_likelihood - 0.05 * (a**2 + b**2)
    weight = np.exp(log_density - log_density.max())
    return np.stack([a, b]), weight / weight.sum()


def misses(draws, expected):
    """The distance of the mean of draws from what is expected, in standard errors."""
    size = np.asarray(ess_bulk(draws))
    return float(abs(draws.mean() - expected) / (draws.std() / np.sqrt(size)))


def worst_of_few(draws):
    """The worst of means, squares and tails of the draws of `few`, in standard errors."""
    points, weight = grid_of_few()
    found = []
    for k, known in enumerate(points):
        mean = (weight * known).sum()
        sd = np.sqrt((weight * (known - mean) ** 2).sum())
        beta = draws["beta"][..., k]
        for own, whole in (
            (beta, known),
            (beta**2, known**2),
            (beta > mean + sd, known > mean + sd),
            (beta < mean - sd, known < mean - sd),
        ):
            found.append(misses(np.asarray(own, dtype=float), (weight * whole).sum()))
    return max(found)


def sampled(model, **settings):
    """Draws of a run in NumPy."""
    run = {"draws": DRAWS // 2, "warmup": 200, "chains": 2, "seed": 3, "backend": "numpy"}
    return gp.compile(model).sample(progress=False, **{**run, **settings})


def test_a_density_far_from_normal_is_drawn_from():
    (step,) = moves(gp.compile(few()))
    assert not step.last
    assert worst_of_few(sampled(few())) < FAR


def test_a_walk_beside_proposals_leaves_the_posterior_as_it_is(monkeypatch):
    """As where few proposals are accepted: every second step is one of a random walk."""
    monkeypatch.setattr(modal, "LEAST_ACCEPTED", 2.0)
    draws = sampled(few())

    assert worst_of_few(draws) < FAR
    assert 0.05 < (np.diff(draws["beta"][..., 0]) != 0).mean() < 0.95


def tied(matrix, meaning="tau"):
    """The coefficients of `few`, whose prior is that of a vector, with a matrix."""
    with gp.Model(coords={"i": len(X), "k": 2}, name="tied") as model:
        x = gp.Data("x", X, dims=("i", "k"))
        known = {meaning: gp.Data("matrix", matrix, dims=("k", "k'"))}
        beta = gp.MvNormal("beta", 0, **known, dims="k", event="k")
        gp.Poisson("y", gp.exp(x @ beta), dims="i", observed=FEW)
    return model


@pytest.mark.parametrize("meaning", ["tau", pytest.param("cov", marks=pytest.mark.slow)])
def test_a_vector_is_proposed_whose_prior_has_a_matrix(meaning):
    model = tied({"tau": 0.1, "cov": 10.0}[meaning] * np.eye(2), meaning)
    assert moves(gp.compile(model))
    assert worst_of_few(sampled(model)) < FAR


def with_drawn_matrix(matrix, parameter="tau"):
    """The coefficients of `few`, whose prior is that of a vector, with a matrix that is drawn."""
    with gp.Model(coords={"i": len(X), "k": 2}) as model:
        x, one = gp.Data("x", X, dims=("i", "k")), gp.Data("one", np.eye(2), dims=("k", "k'"))
        beta = gp.MvNormal("beta", 0, **{parameter: matrix(one)}, dims="k", event="k")
        gp.Poisson("y", gp.exp(x @ beta), dims="i", observed=FEW)
    return model


DRAWN_MATRICES = {
    "a precision": lambda one: gp.Wishart("Q", 3, V=one, dims=("k", "k'"), event=("k", "k'")),
    "a covariance": lambda one: gp.InverseWishart("Q", 4, S=one, dims=("k", "k'")),
    "a scaled covariance": lambda one: gp.HalfNormal("s", sigma=1) ** 2 * one,
    "a sum": lambda one: one + gp.InverseWishart("Q", 4, S=one, dims=("k", "k'")),
}


@pytest.mark.parametrize("name", DRAWN_MATRICES)
def test_a_vector_is_proposed_whose_matrix_is_drawn(name):
    parameter = "tau" if name == "a precision" else "cov"
    model = with_drawn_matrix(DRAWN_MATRICES[name], parameter)
    sampler = gp.compile(model, blocks={"beta": "proposed"})
    assert [s.name for s in moves(sampler)] == ["beta"]
    assert sampler.verify().passed


def test_a_form_in_a_matrix_that_may_not_be_definite_is_not_concave():
    def any_numbers(one):
        return one + gp.Normal("Q", 0, sigma=1, dims=("k", "k'"))

    found = []
    for matrix in (DRAWN_MATRICES["a precision"], any_numbers):
        model = with_drawn_matrix(matrix)
        terms, beta = terms_of(model.graph, {"beta"}), model.graph.statement("beta")
        found.append(second_order(model.graph, (beta,), terms, model.data) is not None)
    assert found == [True, False]


@pytest.mark.parametrize("other", [0.5, 2.0])
def test_a_quadratic_form_is_concave_if_its_matrix_is_definite(other):
    model = tied(np.eye(2))
    data = {**model.data, "matrix": np.array([[1.0, other], [other, 1.0]])}
    terms = terms_of(model.graph, {"beta"})
    found = second_order(model.graph, (model.graph.statement("beta"),), terms, data)
    assert (found is not None) == (other < 1)


@pytest.mark.parametrize("wrong", ["no proposal", "length", "centre"])
def test_wrong_proposals_are_seen(monkeypatch, one_by_one, wrong):
    right, climbed = modal._log_t, modal._climbed
    if wrong == "no proposal":
        monkeypatch.setattr(modal, "_log_t", lambda *_: 0.0)
    elif wrong == "length":
        monkeypatch.setattr(modal, "_log_t", lambda length, *more: right(2 * length, *more))
    else:  # (a mode that depends on where the block is)


        def from_here(climb, centre):
            del centre
            return climbed(climb, climb.joint.flat(climb.s))

        monkeypatch.setattr(modal, "_climbed", from_here)
        monkeypatch.setattr(modal, "CLOSE", 50.0)
    # (of a batch the mode is found once)
    with one_by_one() if wrong == "centre" else nullcontext():
        assert worst_of_few(sampled(few())) > FAR


@pytest.fixture
def proposes_two(monkeypatch):
    """Two elements are proposed at most, so that effects move along."""
    monkeypatch.setattr("gibbsppl.planning.modal.MOST_PROPOSED", 2)
    monkeypatch.setenv("GIBBSPPL_CACHE", "")


def test_what_moves_along_leaves_the_posterior_as_it_is(proposes_two):
    sampler = gp.compile(grouped(), interweave=False)
    (step,) = moves(sampler)
    assert set(step.last) == {"level", "slope"}
    assert sampler.check_kernel(step.name, replicates=400, seed=1).passed


def test_wrong_lengths_of_what_is_proposed_are_seen(proposes_two, monkeypatch):
    """Those of a border thrice as precise as it is with what is inside moving along."""
    right = modal._along

    def wrong(rng, climb, given, now):
        found = right(rng, climb, given, now)
        return modal._Proposal(found.noise, 3 * found.here, 3 * found.there, found.stays)

    monkeypatch.setattr(modal, "_along", wrong)
    sampler = gp.compile(grouped(), interweave=False)
    assert not sampler.check_kernel(moves(sampler)[0].name, replicates=400, seed=1).passed


def test_a_level_with_effects_has_nearly_independent_draws():
    """Twenty effects move along with a level: given them it would hardly move."""
    proposed = gp.compile(grouped(20), interweave=False)
    draws = proposed.sample(
        1000, warmup=200, chains=2, seed=3, backend="numpy", progress=False
    )
    alone = gp.compile(grouped(20), exact=True, interweave=False).sample(
        1000, warmup=200, chains=2, seed=3, backend="numpy", progress=False
    )
    assert float(ess_bulk(draws["level"])) > 2 * float(ess_bulk(alone["level"]))


@pytest.mark.parametrize("model", [few, grouped, lambda: grouped(30), walking])
def test_steps_are_proved(model):
    sampler = gp.compile(model(), interweave=False)
    assert moves(sampler)
    assert sampler.verify().passed


@pytest.mark.parametrize("model", [few, lambda: grouped(30), walking])
def test_loops_make_the_same_steps(model):
    sampler = gp.compile(model(), interweave=False)
    assert moves(sampler)
    (chain,), _ = sampler.initial_states(1, 5)

    assert beside(sampler, chain.state, chain.rng).far == []


def partly_known():
    """Coefficients of which one is known."""
    with gp.Model(coords={"i": len(X), "k": 2}) as model:
        x = gp.Data("x", X, dims=("i", "k"))
        known = np.ma.masked_invalid([np.nan, -0.5])
        beta = gp.Normal("beta", 0, tau=0.1, dims="k", observed=known)
        gp.Poisson("y", gp.exp(x @ beta), dims="i", observed=FEW)
    return model


# Blocks that alone are drawn: a dense matrix, one in blocks with a border, a band with a border.
ALONE = {"few": few, "grouped": lambda: grouped(30), "walking": walking, "partly": partly_known}
# Sweeps that begin three batches.
SWEEPS = 2 * modal.BATCH + 3


@pytest.fixture
def one_by_one(monkeypatch):
    """A context in which no batch is small enough."""

    @contextmanager
    def made():
        with monkeypatch.context() as patch:
            patch.setattr("gibbsppl.kernels.modal.MOST_IN_BATCH", 0)
            patch.setenv("GIBBSPPL_CACHE", "off")
            yield

    return made


def swept(sampler, *, in_loops=False, moved=0):
    """Draws of sweeps without warm-up; before every ``moved``-th the state is moved."""
    (chain,), _ = sampler.initial_states(1, 5)
    rng, state, found = np.random.default_rng(1), dict(chain.state), []
    freeze(state)
    (step,) = moves(sampler)
    program = sampler.loops()
    arrays = program.arrays_of(state)
    arguments, runner = program.arguments(rng, arrays), program.plain()
    for n in range(SWEEPS):
        if moved and n % moved == 0:
            name = step.variables[0]
            away = 0.3 * joint_in(sampler.constants, step.name).drawn[name]
            state[name] = state[name] + away
            arrays[name] += away
        if in_loops:
            runner.sweep(arguments)
        else:
            sampler.program.sweep(rng, state, sampler.constants)
        own = arrays if in_loops else state
        found.append(np.concatenate([np.ravel(own[v]) for v in step.variables]))
    return np.array(found)


@pytest.mark.parametrize("name", ALONE)
def test_draws_of_batches_are_those_of_proposals_one_by_one(name, one_by_one, monkeypatch):
    """Also where others move the state in between: proposals do not depend on it."""
    monkeypatch.setattr("gibbsppl.planning.modal.MOST_PROPOSED", 1000)
    monkeypatch.setenv("GIBBSPPL_CACHE", "off")
    model = ALONE[name]()
    with one_by_one():
        alone = gp.compile(model, interweave=False)
        assert not moves(alone)[0].is_in_batches(alone.graph)
    sampler = gp.compile(model, interweave=False)
    (step,) = moves(sampler)
    assert step.is_in_batches(sampler.graph)
    assert not step.last
    for moved in (0, 7):
        with one_by_one():
            expected = swept(alone, moved=moved)
        for in_loops in (False, True):
            found = swept(sampler, in_loops=in_loops, moved=moved)
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def ones():
    """Two coefficients of two counts of one: far out on the left the density falls slowly."""
    with gp.Model(coords={"i": 2, "k": 2}, name="ones") as model:
        x = gp.Data("x", [[1.0, -1.0], [1.0, 1.0]], dims=("i", "k"))
        beta = gp.Normal("beta", 0, tau=1e-4, dims="k")
        gp.Poisson("y", gp.exp(x @ beta), dims="i", observed=[1, 1])
    return model


FAR_OUT = [-15.0, 0.0]


def from_far_out(*, in_loops, is_warm=False, sweeps=20):
    """Draws of sweeps from a start far out, in warm-up or after it."""
    sampler = gp.compile(ones())
    state, rng, found = {"beta": np.array(FAR_OUT)}, np.random.default_rng(1), []
    if is_warm:
        freeze(state)
    program = sampler.loops()
    arrays = program.arrays_of(state)
    arguments, runner = program.arguments(rng, arrays), program.plain()
    for _ in range(sweeps):
        if in_loops:
            with np.errstate(all="ignore"):  # (where Newton steps end far out)
                runner.sweep(arguments)
        else:
            sampler.program.sweep(rng, state, sampler.constants)
        found.append(np.copy((arrays if in_loops else state)["beta"]))
    return np.array(found)


def test_a_chain_begins_at_a_draw_about_the_mode(monkeypatch):
    """From a start that has a million times the weight of what is proposed."""
    draws = from_far_out(in_loops=False)
    assert (draws[0] != FAR_OUT).all()
    assert len(np.unique(draws, axis=0)) > 5
    np.testing.assert_allclose(from_far_out(in_loops=True), draws, rtol=1e-9)
    monkeypatch.setattr(modal.Approximation, "begins", False)
    assert (from_far_out(in_loops=False, sweeps=1) == FAR_OUT).all()


@pytest.mark.parametrize("in_loops", [False, True])
def test_nothing_is_taken_whatever_its_density_once_warm_up_is_over(in_loops):
    assert (from_far_out(in_loops=in_loops, is_warm=True) == FAR_OUT).all()


def test_draws_of_one_block_are_those_of_loops():
    settings = {"draws": 200, "warmup": 50, "chains": 1, "seed": 4, "progress": False}
    sampler = gp.compile(few())
    one, other = (sampler.sample(backend=b, **settings)["beta"] for b in ("numpy", "compiled"))
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("backend", ["numpy", pytest.param("compiled", marks=pytest.mark.slow)])
def test_a_batch_lasts_from_one_part_of_a_run_to_the_next(backend):
    sampler = gp.compile(few())
    own = {"draws": 100, "warmup": 50, "chains": 1, "seed": 4, "progress": False}
    own["backend"] = backend
    whole = sampler.sample(**own)
    gone_on = sampler.extend(sampler.sample(**{**own, "draws": 45}), more=55, progress=False)
    np.testing.assert_array_equal(gone_on["beta"], whole["beta"])


def test_blocks_that_read_what_is_drawn_have_no_batches():
    with gp.Model(coords={"i": len(X), "k": 2}) as model:
        x = gp.Data("x", X, dims=("i", "k"))
        beta = gp.Normal("beta", 0, tau=gp.Gamma("tau", 2, rate=1), dims="k")
        gp.Poisson("y", gp.exp(x @ beta), dims="i", observed=FEW)
    sampler = gp.compile(model, blocks={"beta": "proposed"})
    (step,) = moves(sampler)
    assert not step.is_in_batches(sampler.graph)
    assert "log_densities" not in sampler.source


def in_two_parts():
    """Coefficients of counts, of which the last are within limits."""
    with gp.Model(coords={"i": len(X), "k": 4}) as model:
        x = gp.Data("x", np.hstack([X, X[::-1] ** 2]), dims=("i", "k"))
        beta = gp.Array("beta", dims="k")
        beta[:2] = gp.Normal(0, tau=0.5)
        beta[2:] = gp.Uniform(-1, 1)
        gp.Poisson("y", gp.exp(x @ beta), dims="i", observed=FEW)
    return model


def test_the_other_part_of_an_array_is_drawn_beside_a_block():
    """Proposals depend on it: there are no batches, and no mode holds on."""
    sampler = gp.compile(in_two_parts())
    assert [s.name for s in sampler.schedule.steps] == ["beta[:2]", "beta[2:]"]
    (step,) = moves(sampler)
    assert [s.name for s in step.statements] == ["beta[:2]"]
    assert not step.is_in_batches(sampler.graph)
    assert not step._reads_data_alone(sampler.graph)
    (chain,), _ = sampler.initial_states(1, 5)
    assert beside(sampler, chain.state, chain.rng).far == []


def test_the_other_part_of_an_array_is_put_to_its_mode():
    model = in_two_parts()
    sampler = gp.compile(model)
    beta = sampler.maximise(seed=1).state["beta"]
    x = model.data["x"]
    slope = x.T @ (FEW - np.exp(x @ beta)) - 0.5 * beta * (np.arange(4) < 2)
    inside = np.abs(beta) < 0.999  # (the others are where their limits are)
    assert np.abs(slope[inside]).max() < 1e-3
    assert (slope * beta)[~inside & (np.arange(4) >= 2)].min(initial=1) > 0


def test_a_large_batch_is_not_made(monkeypatch):
    """It would be an array of more numbers than the limit."""
    sampler = gp.compile(few())
    (step,) = moves(sampler)
    for limit, made in ((2 * modal.BATCH, True), (2 * modal.BATCH - 1, False)):
        monkeypatch.setattr("gibbsppl.kernels.modal.MOST_IN_BATCH", limit)
        assert step.is_in_batches(sampler.graph) == made


def test_batches_are_counted_where_loops_are_weighed(one_by_one):
    """A batch is evaluated once for all of its proposals, in NumPy and in loops."""

    def worth():
        program = gp.compile(few()).loops()
        return worth_of(program.sweep_value, program.known_sizes)

    together = worth()
    with one_by_one():
        alone = worth()
    assert together.saved < alone.saved / 2
    assert together.operations < alone.operations


def test_a_batch_is_evaluated_in_parts_that_memory_has_room_for(monkeypatch):
    monkeypatch.setenv("GIBBSPPL_CACHE", "off")
    whole = gp.compile(few())
    held = whole.costs()["beta"].held
    monkeypatch.setattr(memory, "LEAST_BYTES", held / 8)
    monkeypatch.setattr(memory, "TIMES", 0)
    parts = gp.compile(few(), blocks={"beta": "proposed"})
    assert "beta_log_densities, 4)" in parts.source
    assert "beta_log_densities)" in whole.source
    assert parts.costs()["beta"].held <= held / 8
    np.testing.assert_allclose(swept(parts), swept(whole), rtol=1e-12)


@pytest.mark.parametrize(("right", "wrong"), [("exp(", "1.001 * exp("), ("y * ", "(y + 1e-3) * ")])
def test_a_wrong_log_density_of_a_batch_is_seen(right, wrong):
    sampler = gp.compile(few())
    start = sampler.source.index("def beta_log_densities(")
    before, own = sampler.source[:start], sampler.source[start:]
    assert right in own
    (chain,), _ = sampler.initial_states(1, 5)
    for source, passes in ((own, True), (own.replace(right, wrong, 1), False)):
        rows = ratio_check(
            np.random.default_rng(1), sampler.graph, load(before + source),
            sampler.schedule.steps, sampler.data, chain.state,
        )  # fmt: skip
        assert [r.passed for r in rows if r.step == "beta"] == [passes]


@pytest.mark.parametrize("at", [-500.0, -30.0, 40.0, 300.0])
def test_newton_steps_come_back_from_afar(at):
    """To where the grid is, which has all of the posterior."""
    draws = sampled(few(), draws=50, warmup=50, init={"beta": np.array([at, at / 3])})
    ends = grid_of_few()[0].reshape(2, -1)
    assert (draws["beta"] > ends.min(axis=1)).all()
    assert (draws["beta"] < ends.max(axis=1)).all()


def test_without_warm_up_the_posterior_is_left_as_it_is():
    assert worst_of_few(sampled(few(), warmup=0, init={"beta": np.array([0.5, 0.5])})) < FAR


def test_the_share_of_accepted_proposals_is_told():
    """Of a block, whose step has the names of several arrays, as of one array."""
    draws = sampled(few(), draws=300)
    assert "Proposals accepted (in the worst chain): beta" in str(draws.summary())
    settings = {"draws": 50, "warmup": 50, "chains": 1, "seed": 1, "backend": "numpy"}
    draws = gp.compile(grouped(30), interweave=False).sample(progress=False, **settings)
    assert "level, slope, effect moving along" in str(draws.summary())


def test_blocks_are_not_fitted_to_slopes_that_are_drawn_besides():
    """Abilities and difficulties given a slope: from afar the slope would be held where it is."""
    with gp.Model(coords={"person": 12, "item": 3}, name="items") as model:
        slope = gp.HalfNormal("slope", tau=0.01)
        ability = gp.Normal("ability", 0, tau=1, dims="person")
        difficulty = gp.Normal("difficulty", 0, tau=0.1, dims="item")
        right = RNG.integers(0, 2, (12, 3))
        p = gp.expit(slope * ability - difficulty)
        gp.Bernoulli("y", p, dims=("person", "item"), observed=right)

    assert not moves(gp.compile(model, rewrites=False))


def test_what_is_proposed_beside_all_draws_comes_after_these():
    names = [s.name for s in gp.compile(grouped(30), interweave=False).schedule.steps]
    assert names[-1] == "level, slope, effect moving along"


def test_levels_that_are_interwoven_are_not_proposed_along():
    with gp.Model(coords={"i": 12}, name="overdispersed") as model:
        x = gp.Data("x", np.linspace(-1, 1, 12), dims="i")
        level, slope = gp.Normal("level", 0, tau=0.5), gp.Normal("slope", 0, tau=1)
        effect = gp.Normal("effect", 0, tau=2, dims="i")
        rate = gp.exp(level + slope * x + effect)
        gp.Poisson("y", rate, dims="i", observed=np.resize([0, 2, 1, 5, 3], 12))

    assert not moves(gp.compile(model))
    assert gp.compile(model).schedule.interwoven
    assert moves(gp.compile(model, interweave=False))


def test_the_schedule_says_what_is_proposed():
    sampler = gp.compile(grouped(30), interweave=False)
    assert "effect moving along" in str(sampler)
    assert "by proposals" in str(sampler).splitlines()[0]
    told = str(sampler.explain(moves(sampler)[0].name))
    assert "certificate" in told
    assert "Newton steps" in told


# ---- in place of an auxiliary variable -----------------------------------------------------------


def logit(outcomes, coefficients, seed=4):
    """A logistic regression."""
    rng = np.random.default_rng(seed)
    with gp.Model(coords={"i": outcomes, "k": coefficients}, name="logit") as model:
        x = gp.Data("x", rng.standard_normal((outcomes, coefficients)), dims=("i", "k"))
        beta = gp.Normal("beta", 0, tau=0.25, dims="k")
        gp.Bernoulli("y", gp.expit(x @ beta), dims="i", observed=rng.integers(2, size=outcomes))
    return model


@pytest.mark.parametrize(
    ("outcomes", "coefficients", "is_proposed"),
    [(20, 8, True), (100, 10, True), (99, 10, False), (400, 20, True), (399, 20, False)],
)
def test_coefficients_are_proposed_where_outcomes_are_as_many_as_their_square(
    outcomes, coefficients, is_proposed
):
    schedule = gp.compile(logit(outcomes, coefficients)).schedule

    assert bool(schedule.proposed) == is_proposed
    assert bool(schedule.rewrites) != is_proposed


@pytest.mark.parametrize(
    "settings", [{"rewrites": {"Polya-Gamma": True}}, {"exact": True}, {"blocks": False}]
)
def test_auxiliary_variables_are_there_if_asked_for_or_nothing_is_proposed(settings):
    schedule = gp.compile(logit(100, 3), **settings).schedule

    assert [r.rule.name for r in schedule.rewrites] == ["Polya-Gamma"]
    assert not schedule.proposed


def test_auxiliary_variables_stay_where_their_terms_hold_more_than_is_proposed():
    """Student-t errors: the precision is in the same term, and is drawn besides."""
    with gp.Model(coords={"i": len(X), "k": 2}) as model:
        x, tau = gp.Data("x", X, dims=("i", "k")), gp.Gamma("tau", 2, rate=1)
        beta = gp.Normal("beta", 0, tau=0.1, dims="k")
        gp.StudentT("y", 4, mu=x @ beta, tau=tau, dims="i", observed=X[:, 1])

    assert [r.rule.name for r in gp.compile(model).schedule.rewrites] == ["power of a sum"]


def test_proposals_and_auxiliary_variables_have_the_same_posterior():
    found = []
    for rewrites in ({}, {"Polya-Gamma": True}):
        sampler = gp.compile(logit(40, 3), rewrites=rewrites)
        beta = sampler.sample(4000, warmup=300, chains=2, seed=1, progress=False)["beta"]
        values = np.stack([beta, beta**2], axis=-1).reshape(2, 4000, -1)
        flat = values.reshape(-1, values.shape[-1])
        found.append((flat.mean(axis=0), flat.std(axis=0) / np.sqrt(ess_bulk(values))))
    (one, one_error), (other, other_error) = found

    assert (np.abs(one - other) < FAR * np.hypot(one_error, other_error)).all()


# ---- many elements at once, where they pay -------------------------------------------------------


def many(size=60, columns=10, tied=0.9):
    """Coefficients of counts, of columns that are alike."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(size, columns))
    for k in range(1, columns):
        x[:, k] = tied * x[:, k - 1] + np.sqrt(1 - tied**2) * x[:, k]
    with gp.Model(coords={"i": size, "k": columns}, name="many") as model:
        design = gp.Data("design", x, dims=("i", "k"))
        beta = gp.Normal("beta", 0, tau=1.0, dims="k")
        y = rng.poisson(np.exp(1.0 + 0.3 * x[:, 0]))
        gp.Poisson("y", gp.exp(1.0 + gp.sum(design * beta, "k")), dims="i", observed=y)
    return model


def test_all_elements_are_proposed_where_one_by_one_they_hardly_move():
    sampler = gp.compile(many())
    (step,) = sampler.schedule.steps
    (choice,) = sampler.schedule.choices

    assert isinstance(step, ModalMove)
    assert not step.last
    assert (choice.made.what, choice.others[0].what) == ("proposed", "one by one")
    assert "beta proposed (alternative: one by one, sweeps" in str(sampler)
    apart = gp.compile(many(), **choice.others[0].settings)
    draws = [s.sample(800, warmup=200, chains=1, seed=1, progress=False) for s in (sampler, apart)]
    each = [ess_bulk(d["beta"]).min() for d in draws]
    costs = [s.costs().operations for s in (sampler, apart)]
    assert each[0] / costs[0] > each[1] / costs[1]
    assert sampler.verify().passed


def test_elements_are_proposed_at_once_where_that_is_asked_for():
    found = gp.compile(grouped(), blocks={("effect", "level", "slope"): "proposed"})
    (step,) = found.schedule.steps

    assert isinstance(step, ModalMove)
    assert not step.last
    with pytest.raises(gp.CompileError, match="proposed"):
        gp.compile(grouped(), blocks={("effect", "level"): "proposed"}, exact=True)


def hazards():
    """A partial likelihood (D. R. Cox, 1972, Journal of the Royal Statistical Society B 34).

    Each death is one of those at risk, in proportion to their hazards.
    """
    rng = np.random.default_rng(8)
    x = rng.standard_normal((20, 2))
    times = rng.exponential(np.exp(-x @ [0.8, -0.4]))
    is_dead = (rng.random(20) < 0.7).astype(float)
    at_risk = (times[None, :] >= times[:, None]).astype(float)
    return x, is_dead, at_risk


def test_a_partial_likelihood_is_proposed_at_once_and_has_its_posterior():
    x, is_dead, at_risk = hazards()
    with gp.Model(coords={"who": 20, "k": 2}) as model:
        own, dead = gp.Data("x", x, dims=("who", "k")), gp.Data("dead", is_dead, dims="who")
        others = gp.Data("others", x, dims=("who'", "k"))
        at = gp.Data("at", at_risk, dims=("who", "who'"))
        beta = gp.Normal("beta", 0, sigma=1, dims="k")
        hazard, every = (own * beta).sum("k"), (others * beta).sum("k")
        gp.Potential("partial", dead * (hazard - gp.log((at * gp.exp(every)).sum("who'"))))
    sampler = gp.compile(model)
    assert [s.owner for s in sampler.schedule.steps] == ["proposals about the mode"]
    assert sampler.verify().proved

    grid = np.linspace(-5, 5, 401)
    b = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1)
    eta = b @ x.T
    risk = np.log(np.exp(eta) @ at_risk.T)
    log_density = -(b**2).sum(-1) / 2 + ((eta - risk) * is_dead).sum(-1)
    weight = np.exp(log_density - log_density.max())
    mean = np.einsum("ij,ijk->k", weight, b) / weight.sum()
    draws = sampler.sample(4000, warmup=200, chains=2, seed=1, progress=False)["beta"]
    for k in range(2):
        assert abs(draws[..., k].mean() - mean[k]) < FAR * mcse_mean(draws[..., k])


# ---- what cannot be proposed ---------------------------------------------------------------------


def various():
    """Counts with a product of two variables, a t prior, labels, a bound that another one sets."""
    with gp.Model(coords={"i": len(X), "k": 2}, name="various") as model:
        x = gp.Data("x", X, dims=("i", "k"))
        beta = gp.Normal("beta", 0, tau=0.1, dims="k")
        slope = gp.Normal("slope", 0, tau=1.0)
        heavy = gp.StudentT("heavy", nu=3, mu=0, sigma=1)
        gate = gp.Bernoulli("gate", 0.5)
        share = gp.Uniform("share", 0, 1)
        alone = gp.Normal("alone", 0, tau=1.0)
        rate = slope * (x @ beta) + heavy + gate + share
        gp.Poisson("y", gp.exp(rate), dims="i", observed=FEW)
        gp.Poisson("z", gp.exp(alone), observed=2)
    return model


UNPROPOSED = {
    ("gate",): "gate is not on the whole real line, but in {0..1}",
    ("heavy",): "the log density is not certified to be concave in heavy: -2*log(heavy**2 + 3), "
    "from heavy, may bend upwards (log(heavy**2 + 3): ",
    ("beta", "slope"): "the log density is not certified to be concave in beta and slope together: "
    "-exp(gate + heavy + share + slope*sum(beta*x, k)), from y, may bend upwards (slope*sum(",
    ("alone", "beta"): "no term ties ",
}  # fmt: skip


@pytest.mark.parametrize("names", UNPROPOSED, ids=", ".join)
def test_the_reason_is_named_for_which_variables_cannot_be_proposed(names):
    with pytest.raises(gp.CompileError) as refusal:
        gp.compile(various(), blocks={names: "proposed"})
    told = " ".join(str(refusal.value).split())
    asked = f"blocks: ({', '.join(names)}) cannot be proposed: "
    assert told.startswith(asked + UNPROPOSED[names])
    assert told.endswith("; leave the block out.")


def test_a_matrix_of_second_derivatives_that_is_too_large_is_told(monkeypatch):
    monkeypatch.setattr(memory, "LEAST_BYTES", 100)
    monkeypatch.setattr(memory, "TIMES", 0)
    told = "the matrix of second derivatives of 2 elements would take 256 bytes; at most 100 bytes"
    with pytest.raises(gp.CompileError, match=told):
        gp.compile(few(), blocks={"beta": "proposed"})
    sampler = gp.compile(few())
    told = "beta not proposed together, which would take 256 bytes; at most 100 bytes are taken"
    assert moves(sampler) == []
    assert told in " ".join(str(sampler).split())


def test_what_is_proposed_is_not_drawn_jointly_with_others():
    """A normal variable that would be in a block with others is taken out of it."""
    assert [s.name for s in moves(gp.compile(grouped(), blocks={"effect": "proposed"}))] == [
        "effect"
    ]


def test_variables_that_others_alone_tie_are_proposed_in_any_order():
    """Two levels are tied by a third one, which comes after both."""
    with gp.Model(name="third") as model:
        one = gp.Normal("one", 0, tau=1.0)
        other = gp.Normal("other", 0, tau=1.0)
        third = gp.Normal("third", 0, tau=1.0)
        heavy = gp.StudentT("heavy", nu=3, mu=0, sigma=1)  # (no block of all is concave)
        for name, rate in {"y": one + third, "z": other + third, "w": third + heavy}.items():
            gp.Poisson(name, gp.exp(rate), observed=2)
    sampler = gp.compile(model, blocks={("one", "other", "third"): "proposed"})
    assert [set(s.variables) for s in moves(sampler)] == [{"one", "other", "third"}]


def test_a_location_is_drawn_once_more_where_that_pays_more_than_proposals(monkeypatch):
    """A group of many effects, of which the data say much: to propose all of them is dear."""
    rng = np.random.default_rng(9)
    with gp.Model(coords={"g": 60}, name="rates") as model:
        level = gp.Normal("level", 0, tau=0.01)
        tau = gp.Gamma("tau", 2, rate=1)
        effect = gp.Normal("effect", level, tau=tau, dims="g")
        gp.Poisson("y", gp.exp(effect), dims="g", observed=rng.poisson(4.0, 60))
    sampler = gp.compile(model)
    (choice,) = (c for c in sampler.schedule.choices if c.variables == ("level",))

    assert (choice.made.what, moves(sampler)) == ("interwoven", [])
    own = {v for i in sampler.schedule.interwoven.values() for v in i.variables}
    assert own == {"level", "tau"}
    (other,) = choice.others
    assert other.what == "also proposed, effect moving along"
    asked = gp.compile(model, **other.settings)
    assert [s.last for s in moves(asked)] == [("level",)]
    assert other.operations == asked.costs().operations > choice.made.operations
    assert sampler.verify().proved

    # (where theory finds that proposals mix faster by more than they cost, they stay)
    monkeypatch.setattr(recentred, "shares_of", lambda *_: (1.0, 0.1))
    assert [s.last for s in moves(gp.compile(model))] == [("level",)]
