"""Scans of labels with variables integrated out: weights, draws, posteriors, and bugs planted."""

import importlib.util
import re
from dataclasses import replace
from functools import cache
from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
import test_collapsing as declared
from scipy import stats
from test_collapsing import IDS, NAMED, compiled, data, labels, started, weights
from test_rewrites_driver import is_refused, ordered
from test_rewrites_sampling import disagreements, moments

import gibbsppl as gp
import models
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.code import scan_loops as written
from gibbsppl.errors import CompileError
from gibbsppl.model.density import log_joint
from gibbsppl.rewrites import collapsing
from gibbsppl.run import chains
from gibbsppl.runtime import kept_modules as keeping
from gibbsppl.runtime import scans as running
from gibbsppl.runtime.cache_folder import VARIABLE
from gibbsppl.schedule.staleness import check_fresh
from models import iris

LEVEL = 1e-3
SWEEPS = 3


@pytest.fixture(params=["interpreted", "compiled"])
def how(request, monkeypatch):
    """Scans interpreted, and compiled where that is possible."""
    if request.param == "compiled" and importlib.util.find_spec("numba") is None:
        pytest.skip("numba is not installed: scans cannot be compiled")
    monkeypatch.setattr(running, "is_compiled", lambda: request.param == "compiled")
    return request.param


def test_what_was_compiled_of_a_scan_is_found_again(monkeypatch, tmp_path):
    """As by another process: a module is imported again, for which nothing has been compiled."""
    pytest.importorskip("numba")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    made = []

    def imported(text, name):
        made.append(getattr(keeping.imported(text, name), name))
        return SimpleNamespace(**{name: made[-1]})

    monkeypatch.setattr(running, "imported", imported)
    sampler = compiled(*NAMED[IDS[0]])
    for _ in range(2):
        running._compiled.cache_clear()
        state = started(sampler, seed=1)
        sampler.program.sweep(np.random.default_rng(1), state, sampler.constants)
    running._compiled.cache_clear()
    hits = [sum(f.stats.cache_hits.values()) for f in made]
    assert hits == [0, 1]


# ---- weights and draws -----------------------------------------------------------------------


def scans_of(sampler):
    """The scans of a sampler, each with the graph that it draws in."""
    pairs = zip(sampler.schedule.steps, sampler.schedule.graphs, strict=True)
    return [(step, graph) for step, graph in pairs if step.kind == "scan"]


def log_joint_by_label(step, graph, data, state, where):
    """The interpreter's log joint density for each label of one element."""
    name, scan = step.variables[0], step.conditional
    found = []
    for label in range(scan.lower, scan.lower + scan.size):
        z = np.array(state[name])
        z[where] = label
        found.append(log_joint(graph, {**data, **state, name: z}))
    return np.array(found)


def places(step):
    """The elements that a scan draws, in its order."""
    ranges = {r.dim: range(r.start, r.stop) for r in step.statement.over}
    return list(product(*(ranges[i] for i in step.statement.target.indices)))


def gap_of_weights(sampler, seed=1):
    """The largest difference of log weights from the joint density's, in units of the tolerance."""
    state, gaps = started(sampler, seed), []
    for step, graph in scans_of(sampler):
        given = sampler.program.given_rest[step.statement.name](state, sampler.constants)
        for where in places(step):
            joint = log_joint_by_label(step, graph, sampler.data, state, where)
            own, best = given[(slice(None), *where)], joint.argmax()
            with np.errstate(invalid="ignore"):
                both = np.array([own - own[best], joint - joint[best]])
            size = 1 + np.abs([own[best], joint[best]]).max()
            possible = np.isfinite(both)
            if not np.array_equal(*possible):
                return np.inf
            gap = np.abs(np.subtract(*both[:, possible[0]])).max()
            gaps.append(gap / (RELATIVE_TOLERANCE * size))
    return np.max(gaps)


def drawn_slowly(rng, step, graph, data, state):
    """The labels after a scan: each element by the inverse of its distribution function."""
    name, scan = step.variables[0], step.conditional
    z = np.array(state[name])
    for where in places(step):
        logs = log_joint_by_label(step, graph, data, {**state, name: z}, where)
        cumulated = np.cumsum(np.exp(logs - logs.max()))
        z[where] = scan.lower + int((cumulated[:-1] <= rng.random() * cumulated[-1]).sum())
    return z


def draws_disagree(sampler):
    """Whether a sweep draws other labels first than the slow reference, from the same numbers."""
    state = started(sampler)
    (step, graph), *_ = scans_of(sampler)
    assert sampler.schedule.steps[0] is step
    name = step.variables[0]
    for seed in range(SWEEPS):
        expected = drawn_slowly(np.random.default_rng(seed), step, graph, sampler.data, state)
        sampler.program.sweep(np.random.default_rng(seed), state, sampler.constants)
        if any(state[name][where] != expected[where] for where in places(step)):
            return True
    return False


@pytest.mark.parametrize("case", IDS)
def test_log_weights_are_those_of_the_joint_density(case, how):
    sampler = compiled(*NAMED[case])

    assert gap_of_weights(sampler) <= 1
    assert gap_of_weights(sampler, seed=2) <= 1


def test_a_scan_solves_equations():
    """Of vectors with their means integrated out: an inverse matrix times a vector of sums."""
    own = slice(0, 2)
    flowers, names = np.array(iris.FLOWERS)[::25, own], iris.MEASUREMENTS[own]
    model = iris.model(flowers, measurements=names, components=2, prior_mean=(6, 3))
    sampler = gp.compile(model, collapse=("mu",))

    assert gap_of_weights(sampler) <= 1
    assert not draws_disagree(sampler)


@pytest.mark.parametrize("case", IDS)
def test_draws_are_those_of_a_slow_reference(case, how):
    assert not draws_disagree(compiled(*NAMED[case]))


@pytest.mark.parametrize("case", IDS)
def test_every_conditional_passes_the_ratio_check(case):
    sampler = compiled(*NAMED[case])

    assert scans_of(sampler)
    assert sampler.verify().proved


def normalised(weights):
    """Log weights without what all labels share."""
    weights = np.asarray(weights)
    return weights - np.logaddexp.reduce(weights, axis=0)


@pytest.mark.parametrize("case", IDS)
def test_all_at_once_each_label_has_the_weights_that_it_has_alone(case):
    """At one state: what the others were is the same, and what an element adds is taken off."""
    model, names = NAMED[case]
    exact = compiled(model, names)
    if any(step.conditional.recomputed for step, _ in scans_of(exact)):
        with pytest.raises(CompileError, match=r"^approximate: .* computed anew"):
            gp.compile(model(), collapse=names, approximate=True)
        return
    sampler = gp.compile(model(), collapse=names, approximate=True)
    state = started(exact)
    for step, _ in scans_of(exact):
        given, at_once = (
            normalised(s.program.given_rest[step.statement.name](state, s.constants))
            for s in (exact, sampler)
        )
        assert np.allclose(given, at_once, rtol=0, atol=RELATIVE_TOLERANCE)


# ---- planted bugs ----------------------------------------------------------------------------


def not_taken_off(monkeypatch):
    true = written.changes

    def planted(work, label, *, is_added):
        if is_added:
            true(work, label, is_added=True)

    monkeypatch.setattr(written, "changes", planted)


def added_at_the_wrong_place(monkeypatch):
    true = written.changes

    def planted(work, label, *, is_added):
        moved = tuple(replace(c, at=(*c.at[:-1], sp.S.Zero)) for c in work.scan.changes)
        scan = replace(work.scan, changes=moved) if is_added else work.scan
        true(replace(work, scan=scan), label, is_added=is_added)

    monkeypatch.setattr(written, "changes", planted)


def seen(check):
    """Whether a check sees a bug, or no label can be drawn: units are taken off where none are."""
    try:
        return check()
    except (ValueError, gp.RunError) as error:
        return "all labels have probability zero" in str(error)


def difference_with(monkeypatch, terms=lambda t: t, changes=lambda c: c):
    true = collapsing.difference

    def planted(*args):
        found, own, kept = true(*args)
        return [(terms(t), *rest) for t, *rest in found], [c for c in own if changes(c)], kept

    monkeypatch.setattr(collapsing, "difference", planted)


def the_wrong_sign(monkeypatch):
    difference_with(monkeypatch, terms=lambda t: -t)


def a_total_out_of_date(monkeypatch):
    difference_with(monkeypatch, changes=lambda c: "_sum_" not in c.array.name)


PLANTED = (not_taken_off, added_at_the_wrong_place, the_wrong_sign, a_total_out_of_date)


@pytest.mark.parametrize("bug", PLANTED, ids=lambda f: f.__name__)
def test_planted_bugs_are_caught(bug, monkeypatch):
    """By the weights, and by the draws."""
    with monkeypatch.context() as planted:
        bug(planted)
        sampler = gp.compile(declared.topics(), collapse=("theta", "phi"))

    assert gap_of_weights(sampler) > 1
    assert seen(lambda: draws_disagree(sampler))
    assert not sampler.verify().passed


@pytest.mark.parametrize("bug", [not_taken_off, added_at_the_wrong_place, a_total_out_of_date])
def test_the_check_sees_sums_that_are_not_kept_up(bug, monkeypatch):
    with monkeypatch.context() as planted:
        bug(planted)
        sampler = gp.compile(declared.topics(), collapse=("theta", "phi"))

    rows = {row.step: row.passed for row in sampler.verify().rows}

    # (where no sweep is possible, there is nothing kept to compare)
    assert not rows["z keeps" if "z keeps" in rows else "(sweeps)"]


def test_sums_are_computed_anew_now_and_then(monkeypatch):
    """What has gone wrong in them does not stay; a chain goes on as if it had never stopped."""
    sampler = compiled(declared.topics, ("theta", "phi"))
    monkeypatch.setattr(chains, "SWEEPS_BETWEEN_RENEWALS", 4)
    chain = chains.Chain(dict(started(sampler)), np.random.default_rng(1))
    chains.advance(sampler.program, sampler.constants, chain, 2)
    right = chain.state["phi_sum_1"].copy()
    chain.state["phi_sum_1"] += 1
    chains.advance(sampler.program, sampler.constants, chain, 2)
    wrong = chain.state["phi_sum_1"].sum()
    chains.advance(sampler.program, sampler.constants, chain)

    assert wrong > right.sum()
    assert chain.state["phi_sum_1"].sum() == pytest.approx(right.sum())


def test_sums_of_what_is_drawn_otherwise_are_computed_before_each_scan():
    """The concentration is in the sums: each sweep draws it anew."""
    kept = {
        model.__name__: "not in s" in compiled(model, ("w",)).program.source
        for model in (declared.normals, declared.a_concentration)
    }

    assert kept == {"normals": True, "a_concentration": False}


# ---- exact posteriors ------------------------------------------------------------------------

# All but the labels is integrated out: a state of the chain is a state of the labels.
ENUMERATED = (
    (declared.topics, ("theta", "phi")),
    (declared.topics_of_a_table, ("theta", "phi")),
    (declared.counts, ("w", "rate")),
    (declared.answers, ("w", "p")),
    (declared.words_by_group, ("w", "phi")),
    (declared.normals_and_precisions, ("w", "mu", "tau")),
    pytest.param(declared.vectors_and_covariances, ("w", "mu", "cov"), marks=pytest.mark.slow),
    (declared.gates_of_weights, ("b", "tau")),
    (declared.labels_of_groups, ("mu",)),
)
DRAWS = 4000


def enumerated(sampler):
    """All states of the labels, their posterior, and the scan's transition matrix."""
    ((step, graph),) = scans_of(sampler)
    name, size = step.variables[0], step.conditional.size
    state = started(sampler)
    shape = np.shape(state[name])
    states = list(product(range(size), repeat=int(np.prod(shape))))
    number = {z: i for i, z in enumerate(states)}
    logs = [log_joint(graph, {**sampler.data, name: np.reshape(z, shape)}) for z in states]
    posterior = np.exp(np.array(logs) - max(logs))
    matrix = np.eye(len(states))
    given = sampler.program.given_rest[step.statement.name]
    found = [
        given({**state, name: np.reshape(z, shape)}, sampler.constants).reshape(size, -1)
        for z in states
    ]
    for place in range(len(states[0])):
        move = np.zeros_like(matrix)
        for i, z in enumerate(states):
            odds = np.exp(found[i][:, place] - found[i][:, place].max())
            for label, p in enumerate(odds / odds.sum()):
                move[i, number[(*z[:place], label, *z[place + 1 :])]] += p
        matrix = matrix @ move
    return number, posterior / posterior.sum(), matrix


def p_value(sampler, number, posterior, thin, seed=3):
    """That of chi-square of how often each state was drawn; rare states are taken together."""
    draws = sampler.sample(draws=DRAWS, warmup=thin, thin=thin, chains=1, seed=seed, progress=False)
    seen = np.zeros(len(number))
    for z in np.asarray(draws["z"]).reshape(DRAWS, -1):
        seen[number[tuple(map(int, z))]] += 1
    expected = DRAWS * posterior
    rare = expected < 5
    counted, hoped = (np.append(a[~rare], a[rare].sum()) for a in (seen, expected))
    kept = hoped > 0
    return stats.chisquare(counted[kept], hoped[kept]).pvalue


def needed_thinning(matrix):
    """How many sweeps apart draws are independent: to less than one in all of them."""
    second = np.sort(np.abs(np.linalg.eigvals(matrix)))[-2]
    return int(np.ceil(np.log(1 / DRAWS) / np.log(second)))


@pytest.mark.parametrize(("model", "names"), ENUMERATED)
def test_draws_are_from_the_exact_posterior(model, names):
    sampler = compiled(model, names)
    number, posterior, matrix = enumerated(sampler)
    rounding = 16 * np.finfo(float).eps * len(number) * len(posterior)

    assert np.abs(posterior @ matrix - posterior).max() <= rounding
    assert p_value(sampler, number, posterior, needed_thinning(matrix)) > LEVEL / len(ENUMERATED)


@pytest.mark.slow
@pytest.mark.parametrize("bug", PLANTED, ids=lambda f: f.__name__)
def test_planted_bugs_are_seen_in_the_posterior(bug, monkeypatch):
    number, posterior, matrix = enumerated(compiled(declared.topics, ("theta", "phi")))
    with monkeypatch.context() as planted:
        bug(planted)
        sampler = gp.compile(declared.topics(), collapse=("theta", "phi"))

    thinning = needed_thinning(matrix)
    assert seen(lambda: p_value(sampler, number, posterior, thinning) < LEVEL / len(PLANTED))


# ---- the same posterior ----------------------------------------------------------------------

COMPARED = (
    (declared.counts, ("rate",)),
    (declared.a_concentration, ("w",)),
    pytest.param(declared.normals, ("w", "mu"), marks=pytest.mark.slow),
    pytest.param(declared.a_mean_of_means, ("mu",), marks=pytest.mark.slow),
    pytest.param(declared.topics_of_a_table, ("phi",), marks=pytest.mark.slow),
)


@cache
def plain_moments(model):
    return moments(gp.compile(model()), 2)


@pytest.mark.parametrize(("model", "names"), COMPARED)
def test_the_posterior_is_the_same_as_without(model, names):
    assert disagreements(moments(compiled(model, names), 1), plain_moments(model)) == {}


def test_the_comparison_sees_a_bug(monkeypatch):
    the_wrong_sign(monkeypatch)
    sampler = gp.compile(declared.counts(), collapse=("rate",))

    assert disagreements(moments(sampler, 1), plain_moments(declared.counts))


# ---- the order of the draws ------------------------------------------------------------------


def test_a_schedule_that_reads_what_is_stale_is_refused():
    """z is drawn without w and mu: both come after it, and tau, which reads mu, not between."""
    schedule = compiled(declared.normals, ("w", "mu")).schedule
    names = [s.statement.name for s in schedule.steps]
    verdicts = set()
    for order in permutations(range(4)):
        at = {names[i]: place for place, i in enumerate(order)}
        wrong = at["w"] < at["z"] or at["mu"] < at["z"] or at["z"] < at["tau"] < at["mu"]
        verdicts.add(wrong)
        assert is_refused(ordered(schedule, order)) is wrong, [names[i] for i in order]

    assert verdicts == {True, False}
    z, w, mu, tau = map(names.index, ("z", "w", "mu", "tau"))
    with pytest.raises(CompileError, match=r"tau: its draw reads mu, which is stale: z was drawn"):
        check_fresh(ordered(schedule, (z, tau, mu, w)))


# ---- what is not refused must be right -------------------------------------------------------


def children_of_a_region(mean):
    y = gp.Array("y", dims="n", observed=declared.MEASURED)
    y[0] = gp.Normal(0, tau=1)
    y[1:] = gp.Normal(mean, tau=1)


def labels_by_region(first):
    rate, group = gp.Beta("mu", 1, 2, dims="j"), gp.Index("group", declared.SEEN, of="j", dims="n")
    z = gp.Array("z", dims="n")
    z[:2] = first
    z[2:] = gp.Bernoulli(rate[group])
    gp.Normal("y", 2 * z, tau=1, dims="n", observed=declared.MEASURED)


def cells_twice():
    p, group = gp.Beta("mu", 1, 2, dims=("k", "j")), gp.Index("group", [0, 0, 1], "j", dims="i")
    gp.Bernoulli("y", p[labels(), group], dims=("n", "i"), observed=declared.ANSWERED)


def words(name, p, count=3):
    phi = gp.Dirichlet(name, 1, dims=("k", "j"), event="j")
    y = np.random.default_rng(1).integers(0, 2, (4, count))
    gp.Categorical("y", phi[labels(p)], dims=("n", "i"), event="j", observed=y)


def a_sum_in_a_weight():
    x = gp.Normal("x", 0, tau=1, dims=("k", "j"))[labels(weights("mu"))]
    gp.Normal("y", x.sum("j"), tau=1, dims="n", observed=declared.MEASURED)


def a_function_in_a_weight():
    b = gp.Normal("b", 0, tau=1, dims="k")
    gp.Bernoulli("y", gp.Phi(b[labels(weights("mu"))]), dims="n", observed=declared.SEEN)


def probabilities_by_steps():
    """Pieces broken off a stick, each of what the one before has left."""
    r, piece = gp.Beta("r", 1, 2, dims="k"), gp.Array("piece", dims="k")
    piece[0] = r[0]
    piece[1:] = r * (1 - r.lag("k", 1)) * piece.lag("k", 1) / r.lag("k", 1)
    rate = gp.Gamma("mu", 2, rate=1, dims="k")
    gp.Poisson("y", rate[labels(piece / piece.sum("k"))], dims="n", observed=declared.COUNTED)


def one_label():
    z = gp.Categorical("z", weights("mu"), event="k")
    gp.Normal("y", data("c", [0, 1], "k")[z], tau=1, observed=0.3)


def labels_named(name):
    declared.mixture(z=gp.Categorical(name, data("p", [0.3, 0.7], "k"), dims="n", event="k"))


LONG = 1200
NAMES = ("u", "label", "weights", "range")
DECLARED = {
    "children of a region": lambda: children_of_a_region(declared.mean()[labels()]),
    "factors of a region": lambda: children_of_a_region(labels(weights("mu"))),
    "a region that is known": lambda: labels_by_region(1),
    "labels by region": lambda: labels_by_region(gp.Bernoulli(0.4)),
    "cells twice": cells_twice,
    "words of a document": lambda: words("mu", None),
    "words of a long document": lambda: words("phi", weights("mu"), LONG),
    "a sum in a weight": a_sum_in_a_weight,
    "a function in a weight": a_function_in_a_weight,
    "probabilities by steps": probabilities_by_steps,
    "one label": one_label,
    "no chance": lambda: declared.mixture(z=labels(data("p", [0, 1], "k"))),
} | {f"a label named {n}": lambda n=n: labels_named(n) for n in NAMES}

# Marks are strict: what has been mended must be taken off the list.
BOTH = [(name, how) for how in ("interpreted", "compiled") for name in DECLARED]


@pytest.mark.parametrize(("name", "how"), BOTH, indirect=["how"])
def test_what_is_not_refused_is_right(name, how):
    with declared.two(j=2, i=LONG if "long" in name else 3) as m:
        DECLARED[name]()
    try:
        sampler = gp.compile(m, collapse=("mu",))
    except CompileError as error:
        said = str(error)
    else:
        assert gap_of_weights(sampler) <= 1
        assert not draws_disagree(sampler)
        return
    assert re.match(r"collapse: .*\b(mu|z)\b", said)


def a_bound_that_is_infinite():
    """What is seen only where a label is 1, by a latent utility that is bounded there."""
    there = gp.Bernoulli("z", gp.Beta("mu", 2, 1.5), dims="i")
    effect = gp.Normal("b", 0, sigma=1)
    seen = there * gp.Phi(effect * gp.Data("d", [-0.4, 0.7], dims="j"))
    partly = np.ma.masked_array([[0, 1], [0, 0], [1, 0]], [[1, 0], [1, 1], [0, 0]])
    gp.Bernoulli("y", seen, dims=("i", "j"), observed=partly)
    cov = gp.Data("cov", [[1.1, 0.1], [0.1, 1.1]], dims=("j", "j'"))
    gp.MvNormal("w", (1 - there) * effect, cov=cov, dims=("i", "j"), event="j",
                observed=[[0.4, 1.0], [-2.0, 0.0], [1.0, 1.0]])


def test_a_bound_that_is_infinite_is_written_in_loops():
    with declared.two(j=2, i=3) as m:
        a_bound_that_is_infinite()
    sampler = gp.compile(m, collapse=("mu",))

    assert "-math.inf) <= y_utility" in sampler.source
    assert sampler.verify().proved
    assert np.isfinite(sampler.sample(20, warmup=5, chains=1, seed=1)["b"]).all()


@pytest.mark.parametrize("numba", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_label_without_a_possible_value_is_an_error(numba, monkeypatch):
    """Planted: sums over all words that are infinite, so that no topic has any weight."""
    monkeypatch.setattr(running, "is_compiled", lambda: numba)
    corpus = models.lda.bars(documents=3, length=6, side=2)
    sampler = gp.compile(models.lda.model(corpus=corpus, topics=2), collapse=("theta", "phi"))
    ((chain,), _) = sampler.initial_states(1, 1)
    sampler.program.sweep(chain.rng, chain.state, sampler.constants)
    chain.state["phi_sum_1"] = np.full(2, np.inf)

    with pytest.raises(ValueError, match="all labels have probability zero"):
        sampler.program.sweep(chain.rng, chain.state, sampler.constants)
