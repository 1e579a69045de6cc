"""Choices between ways to draw normal variables: theory against sweeps, and what is told."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.code.trials import Trial
from gibbsppl.comparing.variants import variants_of
from gibbsppl.derive.quadratic import quadratic_of
from gibbsppl.output.diagnostics import ess_bulk
from gibbsppl.planning import (
    augmentation,
    information,
    large_blocks,
    mixing,
    normal_blocks,
    proposing,
)
from gibbsppl.planning.alternatives import LEAST_GAIN
from gibbsppl.planning.information import rate_of_scales
from gibbsppl.planning.large_blocks import rate_of_many
from gibbsppl.planning.mixing import rate_of, rate_of_sweep, share_of
from gibbsppl.planning.normal_blocks import normal_block, sparse_block
from models import eight_schools, rats
from models.bugs import CASES

Y = np.array([2.0, -1.0, 0.5, 3.0, 1.0, -2.0])


def groups(**settings):
    """Groups of unequal information about a location, scales known: all is normal."""
    with gp.Model(name="groups", coords={"j": 6}) as model:
        sd = gp.Data("sd", [0.5, 1.0, 2.0, 3.0, 0.7, 1.5], dims="j")
        mu = gp.Normal("mu", 0, tau=0.01)
        theta = gp.Normal("theta", mu, tau=1, dims="j")
        gp.Normal("y", theta, sigma=sd, dims="j", observed=Y)
    return gp.compile(model, **settings)


def lagged(**settings):
    """A series with a missing value of what follows it, and a level."""
    with gp.Model(name="lagged", coords={"t": 6}) as model:
        level = gp.Normal("level", 1, tau=0.5)
        x = gp.Array("x", dims="t")
        x[0] = 0.3
        x[1:] = gp.Normal(0.9 * x.lag("t", 1) + level, tau=2)
        seen = np.ma.masked_array(Y, np.arange(6) == 2)
        z = gp.Normal("z", x - level, tau=4, dims="t", observed=seen)
        gp.Normal("w", z.sum("t"), tau=0.5, observed=1.0)
    return gp.compile(model, **settings)


def line(by, **settings):
    """A line through points, whose coefficients are tied unless the covariate is about 0."""
    with gp.Model(name="line", coords={"i": 6}) as model:
        a, b = gp.Normal("a", 0, tau=1e-4), gp.Normal("b", 0, tau=1e-4)
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Data("x", by + np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]), dims="i")
        gp.Normal("y", a + b * x, tau=tau, dims="i", observed=Y)
    return gp.compile(model, **settings)


def pairs(**settings):
    """Level and slope of each of 30 units, with their means: pairs that the data tie."""
    x = np.array([-3.0, -1.0, 1.0, 4.0])
    rng = np.random.default_rng(3)
    with gp.Model(name="pairs", coords={"i": 30, "k": 2, "t": 4}) as model:
        design = gp.Data("design", np.stack([np.ones(4), x], axis=1), dims=("t", "k"))
        mean = gp.Normal("mean", 0, tau=1e-4, dims="k")
        unit = gp.Gamma("unit", 2, rate=1, dims="k")
        beta = gp.Normal("beta", mean, tau=unit, dims=("i", "k"))
        noise = gp.Gamma("noise", 2, rate=1)
        seen = rng.normal(size=(30, 1)) + rng.normal(1, 0.3, (30, 1)) * x + rng.normal(size=(30, 4))
        gp.Normal("y", gp.sum(beta * design, "k"), tau=noise, dims=("i", "t"), observed=seen)
    return gp.compile(model, **settings)


def block_of(sampler, names):
    """The quadratic log density of some arrays, in the graph in which they are drawn."""
    schedule = sampler.schedule
    graph = schedule.graph_of(schedule.drawing(names[0])[0])
    statements = tuple(s for s in graph.latent if s.target.array.name in names)
    return graph, quadratic_of(graph, statements, sampler.data)


def values_of(sampler, seed=3):
    (chain,), _ = sampler.initial_states(1, seed)
    return {**sampler.data, **chain.state}


# ---- the precision matrix at a state ------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "names"), [(groups, ("mu", "theta")), (lagged, ("x", "z", "level"))]
)
def test_the_precision_and_what_is_linear_are_derivatives_of_the_log_density(made, names):
    sampler = made(rewrites={"unseen": False})
    graph, quadratic = block_of(sampler, names)
    values = values_of(sampler)
    block = normal_block(graph, quadratic, values)
    order = len(block.precision)

    def log_density(vector):
        moved = {}
        for name, rows in block.numbers.items():
            array = np.array(values[name], dtype=float)
            array[rows >= 0] = vector[rows[rows >= 0]]
            moved[name] = array
        return sampler.log_density({n: v for n, v in {**values, **moved}.items() if n in latent})

    latent = {s.target.array.name for s in sampler.graph.latent}
    unit, zero = np.eye(order), np.zeros(order)
    at_zero = log_density(zero)
    # (differences of a quadratic function are its derivatives: what is left is rounding)
    size = 1e3 * np.finfo(float).eps * (1 + abs(at_zero) + np.abs(block.precision).max())
    for i in range(order):
        up, down = log_density(unit[i]), log_density(-unit[i])
        assert (up - down) / 2 == pytest.approx(block.linear[i], abs=size)
        for j in range(i, order):
            both = log_density(unit[i] + unit[j]) - up - log_density(unit[j]) + at_zero
            assert -both == pytest.approx(block.precision[i, j], abs=4 * size)


# ---- rates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_rate_is_that_of_a_gauss_seidel_iteration(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(7, 7))
    q = root @ root.T + 0.1 * np.eye(7)
    parts = np.split(rng.permutation(7), [2, 3, 5])
    order = np.concatenate(parts)
    number = np.repeat(np.arange(4), [len(p) for p in parts])
    own = q[np.ix_(order, order)]
    lower = np.where(number[:, None] >= number, own, 0.0)
    exact = np.abs(np.linalg.eigvals(np.linalg.solve(lower, lower - own))).max()

    drawn = [mixing.Drawn(np.eye(7)[:, p]) for p in parts]
    assert rate_of(q, drawn) == pytest.approx(exact, rel=2e-3)

    in_turn, one_by_one = mixing.Drawn(np.eye(7)[:, order], in_turn=True), np.eye(7)[:, order].T
    assert rate_of(q, [in_turn]) == pytest.approx(
        rate_of(q, [mixing.Drawn(column[:, None]) for column in one_by_one])
    )


def test_effective_draws_of_the_worst_element_are_those_of_all_autocovariances():
    root = np.random.default_rng(4).standard_normal((5, 5))
    precision = root @ root.T + np.diag([0.1, 1, 1, 5, 9])
    covariance, lower = np.linalg.inv(precision), np.tril(precision)
    left = np.eye(5) - np.linalg.solve(lower, precision)
    power, total = np.eye(5), covariance.copy()
    for _ in range(20_000):
        power = power @ left
        total += 2 * power @ covariance
    expected = (np.diag(covariance) / np.diag(total)).min()
    found = mixing.worst_share(precision, [mixing.Drawn(np.eye(5), in_turn=True)])

    assert found == pytest.approx(expected)


def lag_one(sampler, names, sweeps=4000):
    """The largest eigenvalue of the regression of states of a chain on those before."""
    draws = sampler.sample(sweeps, warmup=50, chains=1, seed=1, backend="numpy", progress=False)
    x = np.column_stack([np.reshape(draws[n][0], (sweeps, -1)) for n in names])
    x = x - x.mean(axis=0)
    found = np.linalg.lstsq(x[:-1], x[1:])[0]
    return np.abs(np.linalg.eigvals(found)).max()


# (the error of a correlation over so many draws, five times)
FAR = 5 / np.sqrt(4000)
BY_SWEEPS = [
    (groups, ("mu", "theta"), {"interweave": False}),
    (groups, ("mu", "theta"), {"interweave": True}),
    (lagged, ("x", "z", "level"), {"rewrites": {"unseen": False}}),
]


@pytest.mark.parametrize(("made", "names", "how"), BY_SWEEPS)
def test_the_rate_is_that_of_the_sweeps_that_are_made(made, names, how):
    ways = dict.fromkeys(names, "alone") | ({"x": "elements"} if "x" in names else {})
    sampler = made(blocks=ways, **how)
    graph, quadratic = block_of(sampler, names)
    values = values_of(sampler)
    block = normal_block(graph, quadratic, values)
    rate = rate_of_sweep(sampler.schedule, graph, block, values)

    assert rate > 0
    assert lag_one(sampler, names) == pytest.approx(rate, abs=FAR)


def test_an_interwoven_direction_left_out_is_seen(monkeypatch):
    monkeypatch.setattr(mixing, "moved_along", lambda *_: [])
    with pytest.raises(AssertionError):
        test_the_rate_is_that_of_the_sweeps_that_are_made(*BY_SWEEPS[1])


# Of exact draws, all at once, one by one, along directions of their own.
OF_MANY = [
    *BY_SWEEPS,
    (groups, ("mu", "theta"), {}),
    (lagged, ("x", "z", "level"), {"rewrites": {"unseen": False}, "interweave": False}),
]


@pytest.mark.parametrize(("made", "names", "how"), OF_MANY)
@pytest.mark.parametrize("apart", [True, False])
def test_the_rate_of_many_is_that_of_few(made, names, how, apart):
    """By the power method on a sparse matrix, as by all powers of a dense one."""
    ways = dict.fromkeys(names, "alone") | ({"x": "elements"} if "x" in names else {})
    sampler = made(**({"blocks": ways} if apart else {}), **how)
    graph, quadratic = block_of(sampler, names)
    values = values_of(sampler)
    of = sampler.schedule, graph
    few = rate_of_sweep(*of, normal_block(graph, quadratic, values), values)
    many = rate_of_many(*of, sparse_block(graph, quadratic, values), values)

    assert many == pytest.approx(few, rel=0.02, abs=1e-9)


def test_a_rate_of_many_without_a_draw_is_seen(monkeypatch):
    monkeypatch.setattr(large_blocks, "moved_along", lambda *_: [])
    with pytest.raises(AssertionError):
        test_the_rate_of_many_is_that_of_few(*BY_SWEEPS[1], apart=True)


@pytest.mark.parametrize(("noise", "way"), [(0.5, "one after the other"), (30.0, "jointly")])
def test_many_groups_are_joined_with_their_location_where_that_pays(noise, way):
    """More than theory has a matrix for: of a group that the data know well, and hardly."""
    rng = np.random.default_rng(5)
    with gp.Model(name="many", coords={"j": 500}) as model:
        mu = gp.Normal("mu", 0, tau=1e-4)
        theta = gp.Normal("theta", mu, tau=1, dims="j")
        y = rng.standard_normal(500) * np.hypot(1, noise)
        gp.Normal("y", theta, sigma=noise, dims="j", observed=y)
    found = choice_of(gp.compile(model, interweave=False), "mu")

    assert found.made.what == way
    assert 0 < min(found.made.share, found.others[0].share) < 1


def test_theory_is_not_asked_of_many_that_are_tied_to_all_others(monkeypatch):
    """The products of all pairs of 450 coefficients in 30 rows are six million."""
    monkeypatch.setattr(large_blocks, "sparse_block", None)
    rng = np.random.default_rng(6)
    with gp.Model(name="wide", coords={"row": 30, "column": 450}) as model:
        x = gp.Data("x", rng.standard_normal((30, 450)), dims=("row", "column"))
        level = gp.Normal("level", 0, tau=0.01)
        beta = gp.Normal("beta", 0, tau=4, dims="column")
        gp.Normal("y", level + x @ beta, tau=1, dims="row", observed=rng.standard_normal(30))
    schedule = gp.compile(model).schedule

    assert [{*s.variables} for s in schedule.steps] == [{"beta", "level"}]


def test_what_a_scale_misses_is_what_its_group_leaves_open():
    """Complete less missing information is that of the density with the group integrated out."""
    rng, tau, known = np.random.default_rng(4), 0.8, 2.0
    y = rng.normal(size=40) * 1.3
    with gp.Model(name="scaled", coords={"j": 40}) as model:
        own = gp.Gamma("tau", 2, rate=1)
        theta = gp.Normal("theta", 0, tau=own, dims="j")
        gp.Normal("y", theta, tau=known, dims="j", observed=y)
    sampler = gp.compile(model, interweave=False)
    graph, quadratic = block_of(sampler, ("theta",))

    def marginal(log_tau):
        t = np.exp(log_tau)
        variance = 1 / t + 1 / known
        return 2 * log_tau - t - np.sum(np.log(variance) + y**2 / variance) / 2

    h = 1e-3
    exact = -(marginal(np.log(tau) + h) - 2 * marginal(np.log(tau)) + marginal(np.log(tau) - h))
    draws = known * y / (tau + known) + rng.normal(size=(400, 40)) / np.sqrt(tau + known)
    # (the curvature of the density of the logarithm given the group: t times its rate)
    complete = tau * (1 + np.sum(draws**2, axis=1) / 2)
    states = [{**sampler.data, "tau": np.float64(tau), "theta": d} for d in draws[:50]]
    rate = rate_of_scales(sampler.schedule, graph, quadratic, states)
    few = complete[:50].mean()
    error = 5 * np.std(complete, ddof=1) * (1 / np.sqrt(50) + 1 / np.sqrt(400)) / few

    assert rate == pytest.approx(1 - exact / h**2 / few, abs=error + 10 * h**2)
    assert 0.2 < rate < 1


# ---- what is chosen -----------------------------------------------------------------------------


def choice_of(sampler, name):
    return next(c for c in sampler.schedule.choices if name in c.variables)


def test_coefficients_are_joined_where_they_are_tied_and_not_elsewhere():
    tied, free = line(50.0), line(0.0)

    assert [s.name for s in tied.schedule.steps] == ["a, b", "tau"]
    assert [s.name for s in free.schedule.steps] == ["a", "b", "tau"]
    assert choice_of(tied, "a").others[0].share < 0.01
    found = choice_of(free, "a")
    assert found.made.share == pytest.approx(found.others[0].share)
    assert found.made.operations < found.others[0].operations
    assert "  a, b one after the other (alternative: jointly, sweeps " in str(free)
    # (one after the other would mix so slowly that nothing was counted by the compiler)
    assert np.isnan(choice_of(tied, "a").others[0].operations)
    assert "  a, b jointly (alternative: one after the other, sweeps " in str(tied)
    assert "mixing more than 100 times slower)" in " ".join(str(tied).split())


def test_what_is_asked_for_is_no_choice():
    joined = line(0.0, blocks={("a", "b"): "together"})

    assert [s.name for s in joined.schedule.steps] == ["a, b", "tau"]
    assert line(50.0, blocks={"a": "alone"}).schedule.choices == ()
    assert joined.schedule.choices == line(0.0, scan="random").schedule.choices == ()


@pytest.mark.parametrize("made", [lambda: line(50.0), lambda: line(0.0), groups, lagged, pairs])
def test_the_settings_of_an_alternative_make_it(made):
    sampler = made()
    ways = [(s.name, s.owner) for s in sampler.schedule.steps]
    assert sampler.schedule.choices
    for choice in sampler.schedule.choices:
        for other in choice.others:
            found = sampler._with(**other.settings)
            assert [(s.name, s.owner) for s in found.schedule.steps] != ways
            assert found.verify().passed
            if other.operations == other.operations:
                assert found.costs().operations == pytest.approx(other.operations)


def test_each_choice_has_most_effective_draws_per_operation_of_its_candidates():
    sampler = gp.compile(rats.model())
    (choice,) = sampler.schedule.choices

    assert choice.made.by_theory > max(o.by_theory for o in choice.others)
    assert choice.made.operations == pytest.approx(sampler.costs().operations)


def test_all_ways_of_pairs_are_among_the_candidates():
    """With or without updates of locations, and jointly: they mix alike, and cost about as much."""
    (choice,) = (c for c in pairs().schedule.choices if "beta" in c.variables)
    ways = {choice.made.what, *(c.what for c in choice.others)}
    values = [c.by_theory for c in choice.others]

    apart = "one after the other"
    assert ways == {apart, f"{apart}, without updates of locations", "jointly"}
    assert values == sorted(values, reverse=True)
    assert values[0] <= LEAST_GAIN * choice.made.by_theory


def test_the_cheapest_way_is_taken_where_scales_mix_worst():
    case = CASES["birats_1"]
    sampler = gp.compile(gp.read_bugs(case.model, case.data))
    (choice,) = sampler.schedule.choices

    assert choice.made.what == "each array at once, without updates of locations"
    assert len(choice.others) == 4
    assert all(o.operations > LEAST_GAIN * choice.made.operations for o in choice.others)
    assert [s.owner for s in sampler.schedule.steps] == ["MvNormal", "Normal", "Gamma", "Gamma"]


def test_a_scale_that_a_group_leaves_open_keeps_its_non_centred_update():
    sampler = gp.compile(eight_schools.model())
    choice = next(c for c in sampler.schedule.choices if c.made.what == "interwoven")

    assert choice.variables == ("tau", "theta")
    assert choice.others[0].share < 0.25


def test_equal_models_have_equal_choices():
    first, second = line(0.0), line(0.0)

    assert str(first) == str(second)
    assert first.schedule.choices == second.schedule.choices


def test_alternatives_are_counted_compared_and_told_in_the_same_terms():
    sampler = line(0.0)
    alternatives = sampler.costs(alternatives=True).alternatives
    (found,) = (a for a in alternatives if a.name == "a, b jointly")
    (candidate,) = choice_of(sampler, "a").others
    compared = sampler.compare({"now": {}, "other": candidate.settings}, draws=50, warmup=10)

    assert found.operations == candidate.operations == compared["other"].operations
    assert found.mixing == "mixing equally fast"
    assert found.mixing in str(sampler.costs(alternatives=True))
    parts = (sampler.graph, sampler.data, sampler.schedule, sampler.settings)
    assert variants_of(*parts)["a, b jointly"] == candidate.settings


def test_shares_fall_with_the_rate():
    assert share_of(0.0) == 1.0
    assert share_of(0.9) == pytest.approx(0.1 / 1.9)
    assert share_of(1.0) == 0.0


def test_draws_record_the_choices(tmp_path):
    sampler = line(0.0)
    sampler.sample(5, warmup=2, chains=1, seed=1, progress=False).save(tmp_path / "draws.nc")
    found = gp.load_draws(tmp_path / "draws.nc").attributes["choices"].splitlines()

    assert found[0] == str(choice_of(sampler, "a"))
    assert found[-1] == "(mixing by theory, on average over 4 states of a chain with seed 0)"


def test_a_kernel_is_checked_whatever_other_observations_have_chosen():
    """Weak data leave a series tied, so that other observations may be drawn in other steps."""
    with gp.Model(name="outliers", coords={"t": 5}) as model:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(x.lag("t", 1), tau=1)
        gp.StudentT("y", nu=4, mu=x, tau=2, dims="t", observed=[0.1, 0.4, -0.3, 8.0, 0.2])
    sampler = gp.compile(model)
    (name,) = (s.name for s in sampler.schedule.steps if "x" in s.variables)

    assert sampler.check_kernel(name, replicates=20, seed=1).passed


def test_theory_is_silent_of_an_improper_block():
    text = "model { a ~ dflat()  for (i in 1:N) { c[i] ~ dnorm(a, 1) }  q <- exp(a) }"
    (choice,) = gp.compile(gp.read_bugs(text, {"N": 3})).schedule.choices

    assert choice.variables == ("a", "c")
    assert np.isnan([c.share for c in (choice.made, *choice.others)]).all()


# ---- with auxiliary variables or without ---------------------------------------------------------


def trials(rate, rows=1, count=5000, **settings):
    """Counts of many trials by a level: auxiliary variables hardly vary, all is normal."""
    with gp.Model(name="trials", coords={"row": rows}) as model:
        level = gp.Normal("level", 0, tau=1e-4)
        seen = np.full(rows, round(rate * count))
        gp.Binomial("y", count, gp.expit(level), dims="row", observed=seen)
    return gp.compile(model, **settings)


@pytest.mark.parametrize("rate", [0.5, 0.2, 0.03])
@pytest.mark.parametrize("largest", [normal_blocks.LARGEST, 0])
def test_the_information_that_auxiliary_variables_miss_is_the_rate(rate, largest, monkeypatch):
    monkeypatch.setattr(normal_blocks, "LARGEST", largest)  # (0: element by element)
    augmented = trials(rate, rewrites={"Polya-Gamma": True})
    plain = trials(rate, rewrites={"Polya-Gamma": False})
    draws = augmented.sample(4000, warmup=200, chains=1, seed=1, progress=False)["level"][0]
    own, there = (Trial(s.schedule, s.data) for s in (augmented, plain))
    states = [{**plain.data, "level": np.float64(x)} for x in draws[:4]]
    blocks = (
        proposing.block_of(own.schedule, ("level",), own.data, quadratic_of),
        augmentation._with_auxiliary(own, states),
        proposing.block_of(there.schedule, ("level",), there.data, proposing.to_second_order),
        states,
    )
    found = information.rate_of_augmentation(*blocks)

    assert found == 1 - information.forgotten(*blocks).least
    lagged = np.corrcoef(draws[:-1], draws[1:])[0, 1]
    assert abs(found - lagged) < 5 * np.sqrt((1 - lagged**2) / len(draws)) + 5 / len(draws)


def outcomes_of_groups(**settings):
    """Outcomes of ten groups, by six covariates of which some are known to within a third."""
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=(300, 6)), rng.integers(0, 10, 300)
    at = x @ [1, -1, 0.5, 0, 0, 2] + rng.normal(size=10)[group]
    with gp.Model(name="outcomes", coords={"i": 300, "k": 6, "j": 10}) as model:
        shown, of = gp.Data("x", x, dims=("i", "k")), gp.Index("of", group, dims="i", of="j")
        beta = gp.Normal("beta", 0, sigma=2, dims="k")
        tau = gp.Gamma("tau", shape=1, rate=1)
        u = gp.Normal("u", 0, tau=tau, dims="j")
        seen = rng.random(300) < 1 / (1 + np.exp(-at))
        eta = gp.sum(shown * beta, "k") + u[of]
        gp.Bernoulli("y", gp.expit(eta), dims="i", observed=seen.astype(int))
    return gp.compile(model, **settings)


def test_a_scale_is_not_drawn_once_more_where_others_are_slower_than_it():
    sampler = outcomes_of_groups()
    choice = choice_of(sampler, "tau")
    (other,) = choice.others

    assert (choice.made.what, other.what) == ("not interwoven", "interwoven")
    assert choice.made.share > other.share / 1.3
    assert choice.made.operations < other.operations / 1.5
    settings = {**other.settings, "rewrites": {"Polya-Gamma": True}}
    assert outcomes_of_groups(**settings).schedule.steps[0].name == "tau_with_u"


def test_a_scale_with_nothing_slower_beside_it_is_drawn_once_more(monkeypatch):
    """Planted: as if auxiliary variables held nothing back."""
    monkeypatch.setattr(
        "gibbsppl.deriving.forgotten_of", lambda *_: information.Forgotten(1.0, {})
    )
    assert choice_of(outcomes_of_groups(), "tau").made.what == "interwoven"


def test_an_array_is_forgotten_at_least_as_fast_as_the_slowest_direction_of_all():
    trial = Trial((sampler := outcomes_of_groups()).schedule, sampler.data)
    (chain,), _ = sampler.initial_states(1, 3)
    for _ in range(50):
        sampler.program.sweep(chain.rng, chain.state, sampler.constants)
    states = [{**trial.known, **chain.state}]
    found = augmentation.forgotten_of(sampler.graph, trial, states)

    assert found.of.keys() == {"u", "beta"}
    assert 0 < found.least <= min(found.of.values()) < max(found.of.values()) < 1
    given = proposing.block_of(trial.schedule, ("u", "beta"), trial.data, quadratic_of)
    latent = [s for s in sampler.graph.latent if s.target.array.name in found.of]
    there = proposing.to_second_order(sampler.graph, latent, trial.data)
    blocks = (normal_block(*given, states[0]), normal_block(sampler.graph, there, states[0]))
    for name, share in found.of.items():
        one, whole = (
            np.linalg.inv(b.precision)[np.ix_(b.numbers[name], b.numbers[name])] for b in blocks
        )
        assert share == pytest.approx(np.linalg.eigvals(np.linalg.solve(whole, one)).real.min())


@pytest.mark.parametrize(("seed", "sigma"), [(12, 1.5e7), (18, 1.2e7), (3, 1e9)])
def test_theory_is_silent_where_rounding_leaves_no_digits(seed, sigma):
    """Two equal columns, whose difference is known by a prior that is nearly flat."""
    rng = np.random.default_rng(seed)
    x, group = rng.normal(size=60), rng.integers(0, 6, 60)
    with gp.Model(name="equal", coords={"i": 60, "k": 2, "j": 6}) as model:
        shown = gp.Data("x", np.stack([x, x], 1), dims=("i", "k"))
        of = gp.Index("of", group, dims="i", of="j")
        beta = gp.Normal("beta", 0, sigma=sigma, dims="k")
        tau = gp.Gamma("tau", shape=1, rate=1)
        u = gp.Normal("u", 0, tau=tau, dims="j")
        eta = gp.sum(shown * beta, "k") + u[of]
        gp.Bernoulli("y", gp.expit(eta), dims="i", observed=rng.integers(0, 2, 60))
    assert "tau_with_u" in [
        s.name for s in gp.compile(model, rewrites={"Polya-Gamma": True}).schedule.steps
    ]


@pytest.mark.slow
def test_effective_draws_an_operation_are_more_where_a_scale_is_not_drawn_once_more():
    sampler = outcomes_of_groups()
    choice = choice_of(sampler, "tau")
    other = outcomes_of_groups(
        **{**choice.others[0].settings, "rewrites": {"Polya-Gamma": True}}
    )
    found = []
    for s in (sampler, other):
        draws = s.sample(10_000, chains=4, warmup=500, seed=2, progress=False)
        every = [draws[n].reshape(4, 10_000, -1) for n in ("beta", "u", "tau")]
        worst = min(ess_bulk(x[..., k]) for x in every for k in range(x.shape[-1]))
        found.append(worst / s.costs().operations)
    assert found[0] > 1.5 * found[1]


def test_auxiliary_variables_are_used_where_they_pay():
    case = CASES["seeds_1"]
    seeds = gp.compile(gp.read_bugs(case.model, case.data))
    (choice,) = (c for c in seeds.schedule.choices if "Polya-Gamma" in c.made.what)

    assert [r.rule.name for r in seeds.schedule.rewrites] == ["Polya-Gamma"]
    assert choice.others[0].operations > LEAST_GAIN * choice.made.operations
    assert choice.made.by_theory > choice.others[0].by_theory
    other = gp.compile(gp.read_bugs(case.model, case.data), **choice.others[0].settings)
    assert not other.schedule.rewrites
    assert 'without "Polya-Gamma", sweeps' in str(seeds)
    assert 'without "Polya-Gamma"' in variants_of(
        seeds.graph, seeds.data, seeds.schedule, seeds.settings
    )


def medians(tied, **settings):
    """Laplace errors about two coefficients, whose columns are ``tied`` or are not."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(80, 2)) + tied * rng.normal(size=(80, 1))
    with gp.Model(name="medians", coords={"i": 80, "k": 2}) as model:
        beta = gp.Normal("beta", 0, sigma=10, dims="k")
        tau = gp.Gamma("tau", 1, rate=1)
        seen = x.sum(1) + rng.laplace(size=80)
        gp.Laplace("y", gp.Data("x", x, dims=("i", "k")) @ beta, rate=tau, dims="i", observed=seen)
    return gp.compile(model, **settings)


@pytest.mark.parametrize(("tied", "is_augmented"), [(0.0, False), (6.0, True)])
def test_coefficients_of_laplace_errors_are_drawn_one_by_one_where_nothing_ties_them(
    tied, is_augmented
):
    sampler = medians(tied)
    choice = choice_of(sampler, "beta")
    made = f'{"with" if is_augmented else "without"} "distance"'

    assert [r.rule.name for r in sampler.schedule.rewrites] == ["distance"] * is_augmented
    assert choice.made.what == made
    assert sampler.verify().passed
    asked = medians(tied, rewrites={"distance": not is_augmented})
    assert bool(asked.schedule.rewrites) is not is_augmented


@pytest.mark.parametrize("tied", [0.0, 6.0])
def test_the_theory_of_terms_with_kinks_is_that_of_draws(tied):
    """Effective draws of a sweep of the worst coefficient, as found and as told, to a factor."""
    sampler = medians(tied)
    choice = choice_of(sampler, "beta")
    told = {c.what: c.share for c in (choice.made, *choice.others)}
    for wanted, what in ((True, 'with "distance"'), (False, 'without "distance"')):
        if np.isnan(told[what]):
            continue
        asked = medians(tied, rewrites={"distance": wanted})
        draws = asked.sample(1500, warmup=100, chains=4, seed=1, progress=False)
        least = min(draws.summary()[f"beta[{k}]"]["ess_bulk"] for k in range(2)) / 6000
        assert 0.4 < least / told[what] < 2.5


def test_all_is_proposed_where_auxiliary_variables_are_dear():
    rng = np.random.default_rng(2)
    with gp.Model(name="logit", coords={"row": 200, "k": 3}) as model:
        x = gp.Data("x", rng.normal(size=(200, 3)), dims=("row", "k"))
        beta = gp.Normal("beta", 0, tau=0.25, dims="k")
        y = rng.integers(2, size=200)
        gp.Bernoulli("y", gp.expit(x @ beta), dims="row", observed=y)
    sampler = gp.compile(model)

    assert not sampler.schedule.rewrites
    told = 'beta without "Polya-Gamma", proposed (alternatives: with "Polya-Gamma", sweeps 4 times'
    assert told in str(sampler)
    assert gp.compile(model, rewrites={"Polya-Gamma": True}).schedule.rewrites


def test_a_number_alone_is_proposed_in_batches_where_that_pays():
    sampler = trials(0.2, rows=30, count=4)
    (step,) = sampler.schedule.steps

    assert step.learns_acceptance
    assert "level without" in str(sampler)
    assert ", proposed (alternatives: one by one, sweeps " in " ".join(str(sampler).split())
    asked = trials(0.2, rows=30, count=4, blocks={"level": "elements"})
    own, other = sampler.costs().operations, asked.costs().operations
    assert own < other / 2


def test_a_number_that_others_are_drawn_beside_is_drawn_exactly():
    with gp.Model(name="shape", coords={"i": 4}) as model:
        shape = gp.Exponential("shape", rate=1)
        rate = gp.Gamma("rate", 2, rate=1)
        gp.Gamma("y", shape, rate=rate, dims="i", observed=[0.5, 1.0, 2.0, 0.7])
    assert not gp.compile(model).schedule.proposed


def test_coefficients_of_all_categories_are_proposed_at_once():
    """With auxiliary variables they would be taken apart by category, and hardly move."""
    rng = np.random.default_rng(3)
    with gp.Model(name="votes", coords={"row": 60, "term": 2, "cat": 3}) as model:
        b = gp.Normal("b", 0, tau=0.1, dims=("term", "cat"))
        odds = gp.exp(gp.Data("x", rng.normal(size=(60, 2)), dims=("row", "term")) @ b)
        seen = rng.integers(3, size=60)
        gp.Categorical("y", odds / odds.sum("cat"), dims="row", event="cat", observed=seen)
    sampler = gp.compile(model)
    (step,) = sampler.schedule.steps

    assert step.learns_acceptance
    assert set(step.variables) == {"b"}
    assert gp.compile(model, exact=True).schedule.parts


def test_laplace_errors_keep_their_variances_where_theory_is_silent(monkeypatch):
    monkeypatch.setattr(augmentation, "is_quick", lambda _: False)
    monkeypatch.setenv("GIBBSPPL_CACHE", "off")
    sampler = medians(0.0)

    assert [r.rule.name for r in sampler.schedule.rewrites] == ["distance"]
    assert not any(c.made.is_known for c in sampler.schedule.choices if "distance" in c.made.what)
