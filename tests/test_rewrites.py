"""Each rule is an identity: the auxiliary variable summed or integrated out, the old term is left.

Exact, in every place in which a term can stand (`rewrites.examples`); and seen to fail when any one
term of any rule's log density is altered.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from rewrites import (
    examples,
    examples_gates,
    examples_hidden,
    examples_models,
    examples_positive,
    examples_rejected,
    examples_volatility,
)
from rewrites.marginals import compared, log_marginal

import gibbsppl as gp
from gibbsppl.algebra.expressions import Over, mentions
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_density, log_joint
from gibbsppl.model.graph import Statement
from gibbsppl.rewrites import tables
from gibbsppl.rewrites.applied import applications
from gibbsppl.rewrites.driver import REWRITES
from gibbsppl.rewrites.rows import Facts

EXAMPLES = {
    "Polya-Gamma": (*examples.LOGITS, *examples_gates.LOGITS, *examples_models.LOGITS),
    "latent normal between": (
        *examples.INTERVALS,
        *examples_models.INTERVALS,
        *examples_gates.INTERVALS,
    ),
    "latent normal": (*examples.PROBITS, *examples_gates.PROBITS),
    "share out": (*examples.SUMS, *examples_models.SUMS),
    "at least one": examples.EVENTS,
    "power of a sum": (*examples_positive.POWERS, *examples_models.POWERS),
    "power of a ratio": examples_positive.RATIOS,
    "distance": examples_positive.DISTANCES,
    "tables of customers": examples_positive.TABLES,
    "fraction": examples_positive.FRACTIONS,
    "hidden value": examples_hidden.HIDDEN,
    "rejected draws": examples_rejected.REJECTED,
    "log chi-squared": examples_volatility.VARIANCES,
}
# Terms that a rule could take apart and does not.
NOT_FOUND = {
    ("power of a sum", "degrees_of_freedom"): "the square is multiplied out: no sign is known",
}
CASES = [
    pytest.param(
        rule, model, id=f"{rule.name}-{model.__name__}",
        marks=[pytest.mark.xfail(reason=NOT_FOUND[rule.name, model.__name__])]
        if (rule.name, model.__name__) in NOT_FOUND else (),
    )
    for rule in REWRITES for model in EXAMPLES.get(rule.name, ())
]  # fmt: skip
FOUND = [c for c in CASES if not c.marks]
STATES = range(3)


@cache
def declared(model):
    """A model's graph and data: both frozen, made once."""
    made = model()
    return made.graph, made.data


def latent(graph):
    return {s.target.array.name for s in graph.latent}


def made(rule, model):
    """All rewrites of a model by a rule."""
    graph, data = declared(model)
    return list(applications(graph, data, rule, latent(graph)))


def values_of(model, seed):
    """Random values of all that is unknown, and the data."""
    graph, data = declared(model)
    state, _ = initial_state(np.random.default_rng(seed), graph, data)
    return {**data, **state}


def test_every_rule_has_examples():
    assert set(EXAMPLES) == {r.name for r in REWRITES}
    assert all(len(EXAMPLES[r.name]) >= 3 for r in REWRITES)


# ---- the marginal is preserved ---------------------------------------------------------------


@pytest.mark.parametrize(("rule", "model"), CASES)
def test_the_marginal_is_the_old_term(rule, model):
    rewrites = made(rule, model)

    assert rewrites
    for seed in STATES:
        values = values_of(model, seed)
        for rewrite in rewrites:
            found = compared(rewrite, values)
            assert found.passed, (rewrite.term, found)


@pytest.mark.parametrize(("rule", "model"), FOUND)
def test_the_joint_density_is_that_of_all_rewrites_together(rule, model):
    """What is left after the last one, and all the sums and integrals: nothing is lost between."""
    rewrites, (graph, _) = made(rule, model), declared(model)
    last = rewrites[-1]
    values = {**last.data, **values_of(model, 7)}
    added = [log_marginal(r.statement, last.graph, values)[0].sum() for r in rewrites]
    names = {r.statement.name for r in rewrites}
    kept = [f for f in last.graph.factors if f.name not in names]
    left = [log_density(f, values, last.graph.sizes).sum() for f in kept]
    tolerance = sum(compared(r, values_of(model, 7)).tolerance.sum() for r in rewrites)

    assert abs(log_joint(graph, values) - sum(added) - sum(left)) <= tolerance


SPARSE = (
    examples.poisson_factorisation_of_few,
    examples.poisson_table,
    examples.a_background_of_a_region,
)


@pytest.mark.parametrize("model", SPARSE, ids=lambda f: f.__name__)
def test_sparse_counts_are_split_in_a_table_of_those_that_are_not_zero(model, monkeypatch):
    monkeypatch.setattr(tables, "LEAST_POSITIONS", 1)
    monkeypatch.setattr(tables, "LARGEST_SHARE", 1.0)
    (rule,) = (r for r in REWRITES if r.name == "share out")
    (rewrite,) = made(rule, model)
    (rows,) = rewrite.statement.over
    (factor,) = (f for f in rewrite.before.factors if f.name == rewrite.factor)
    data = rewrite.data["y"][tuple(slice(r.start, r.stop) for r in factor.over)]

    assert len(rows) == np.count_nonzero(data)
    for seed in STATES:
        assert compared(rewrite, values_of(model, seed)).passed


def test_counts_that_are_drawn_are_never_in_a_table(monkeypatch):
    """Where a count is not known, no position can be left out."""
    monkeypatch.setattr(tables, "LEAST_POSITIONS", 1)
    monkeypatch.setattr(tables, "LARGEST_SHARE", 1.0)
    (rule,) = (r for r in REWRITES if r.name == "share out")
    (rewrite,) = made(rule, examples.poisson_factorisation_with_gaps)

    assert len(rewrite.statement.over) == 2
    assert compared(rewrite, values_of(examples.poisson_factorisation_with_gaps, 1)).passed


def test_a_table_that_is_mostly_full_is_not_made(monkeypatch):
    monkeypatch.setattr(tables, "LEAST_POSITIONS", 1)
    (rule,) = (r for r in REWRITES if r.name == "share out")
    over = {
        model: made(rule, model)[0].statement.over
        for model in (examples.poisson_factorisation, examples.poisson_factorisation_of_few)
    }

    assert [len(o) for o in over.values()] == [2, 1]


# ---- nothing else changes --------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "model"), FOUND)
def test_a_rule_leaves_nothing_of_its_own_term(rule, model):
    last = made(rule, model)[-1]

    assert list(applications(last.graph, last.data, rule, latent(declared(model)[0]))) == []


@pytest.mark.parametrize(("rule", "model"), FOUND)
def test_nothing_but_the_factor_of_the_term_changes(rule, model):
    for rewrite in made(rule, model):
        before, after = rewrite.before, rewrite.graph
        own = {rewrite.statement.name, f"{rewrite.statement.name}_ratio"}
        kept = [f for f in after.factors if f.name not in own]
        gone = {f.name for f in before.factors} - {f.name for f in kept}
        added = set(after.variables) - set(before.variables)
        aux = rewrite.variable

        assert aux in added
        assert after.statements[-1] is rewrite.statement
        assert gone <= {rewrite.factor} & {p.name for p in before.potentials}
        there = [f for f in before.factors if f.name not in gone]
        assert [f.name for f in there] == [f.name for f in kept]
        for old, new in zip(there, kept, strict=True):
            if old.name != rewrite.factor:
                assert new is old
            assert not mentions(new.log_density, (aux,))
            assert new.over == old.over
            if isinstance(old, Statement):
                assert new.support == old.support
                assert (new.target, new.known, new.event) == (old.target, old.known, old.event)
        assert after.constants == before.constants
        assert after.deterministics == before.deterministics
        assert all(after.variables[n] is v for n, v in before.variables.items())
        assert all(after.sizes[d] == n for d, n in before.sizes.items())
        assert set(rewrite.data) == set(declared(model)[1]) | {
            n for n in after.variables
            if after.variables[n].kind != "random" and n not in declared(model)[0].variables
        }  # fmt: skip


def test_names_that_are_taken_are_not_taken_again():
    graph, _ = declared(examples.probits_of_trials)
    (rule,) = (r for r in REWRITES if r.name == "latent normal")
    rewrites = made(rule, examples.probits_of_trials)
    names = [n for r in rewrites for n in set(r.graph.variables) - set(r.before.variables)]

    assert len(names) == len(set(names)) == 4
    assert not set(names) & set(graph.variables)


# ---- planted bugs ----------------------------------------------------------------------------


def alterations(density):
    """The log density with one of its terms left out, doubled, or of the wrong sign."""
    for term in sp.Add.make_args(density):
        for times in (-1, 1, -2):
            yield f"{times:+d} of {term}", density + times * term
    for total in density.atoms(Over):
        for term in sp.Add.make_args(total.body):
            for times in (-1, 1, -2):
                body = total.body + times * term
                if body == 0:
                    continue
                yield (
                    f"{times:+d} of {term} inside",
                    density.xreplace({total: total.func(body, *total.args[1:])}),
                )


def altered(rewrite, density):
    row = replace(rewrite.statement, arguments=(("log", sp.sympify(density)),))
    statements = (*rewrite.graph.statements[:-1], row)
    return replace(rewrite, statement=row, graph=replace(rewrite.graph, statements=statements))


# For each rule an example in which no exponent or count makes a term vanish.
PLANTED = {
    "Polya-Gamma": examples.trials_of_which_some_are_none,
    "latent normal between": examples.readings_to_whole_numbers,
    "latent normal": examples.probits_of_trials,
    "share out": examples.poisson_factorisation,
    "at least one": examples.noisy_or,
    "power of a sum": examples_positive.robust_regression,
    "power of a ratio": examples_positive.ratios_of_precisions,
    "distance": examples_positive.medians_of_groups,
    "tables of customers": examples_positive.scattered_counts,
    "fraction": examples_positive.clusters_of_groups,
    "hidden value": examples_hidden.found_between_two_visits,
    "rejected draws": examples_rejected.products_of_which_some_are_not_counted,
    "log chi-squared": examples_volatility.variances_of_groups,
}


@pytest.mark.parametrize(
    ("name", "model"),
    [
        *PLANTED.items(),
        ("power of a sum", examples_models.a_latent_covariance),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("Polya-Gamma", examples_gates.a_hidden_state_of_each_term),
                ("latent normal", examples_gates.probits_of_those_who_are_there),
                ("at least one", examples.links_of_which_some_are_unknown),
            )
        ),
    ],
)
def test_every_alteration_of_a_rule_is_seen(name, model):
    """Of each rule in one example; and where a factor without dims has a sum over one."""
    (rule,) = (r for r in REWRITES if r.name == name)
    (rewrite, *_) = made(rule, model)
    values = values_of(model, 2)
    unseen = [
        what
        for what, density in alterations(rewrite.statement.log_density)
        if compared(altered(rewrite, density), values).passed
    ]

    assert compared(rewrite, values).passed
    assert unseen == []


@pytest.mark.parametrize("rule", REWRITES, ids=lambda r: r.name)
def test_a_support_that_is_too_small_or_too_large_is_seen(rule):
    (rewrite, *_) = made(rule, PLANTED[rule.name])
    support, values = rewrite.statement.support, values_of(PLANTED[rule.name], 2)
    step = sp.Rational(1, 2) if support.kind == "real" else sp.S.One
    wrong = [replace(support, upper=support.upper - step)]
    if support.kind != "counts":
        wrong.append(replace(support, lower=support.lower + step))
    wrong = [w for w in wrong if w != support]

    assert wrong
    for other in wrong:
        row = replace(rewrite.statement.family, support=lambda _event, other=other, **_: other)
        statement = replace(rewrite.statement, family=row)
        assert not compared(replace(rewrite, statement=statement), values).passed, other


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("Polya-Gamma", examples.trials_of_which_some_are_none),
        ("latent normal", examples.probits_of_trials),
        ("at least one", examples.noisy_or),
        ("fraction", examples_positive.clusters_of_groups),
    ],
)
def test_a_table_with_a_wrong_row_is_seen(name, model):
    (rule,) = (r for r in REWRITES if r.name == name)
    (rewrite, *_) = made(rule, model)
    (rows,) = {n for n, v in rewrite.graph.variables.items() if v.kind != "random"} - set(
        declared(model)[0].variables
    )
    wrong = rewrite.data[rows].copy()
    wrong[0] = wrong[-1]

    assert compared(rewrite, values_of(model, 1)).passed
    assert not compared(
        replace(rewrite, data={**rewrite.data, rows: wrong}), values_of(model, 1)
    ).passed


# ---- what does not fit -----------------------------------------------------------------------


def test_facts_take_nothing_for_granted():
    graph, data = declared(examples.trials_of_which_some_are_none)
    facts = Facts(graph, data, "y")
    (y,) = (s for s in graph.statements if s.name == "y")
    trials = dict(y.arguments)["n"]

    assert facts.is_data(trials)
    assert facts.is_count(trials, y.over)
    assert facts.is_nonnegative(trials)
    assert not facts.is_positive(trials)
    assert not facts.is_count(trials / 2, y.over)


def test_counts_above_a_gate_are_counts():
    with gp.Model(coords={"i": 4}) as model:
        b = gp.Poisson("b", rate=2, dims="i")
        some = gp.Poisson("some", rate=3, lower=1 - gp.equals(b, 0), dims="i")
        gp.Poisson("below", rate=3, lower=gp.equals(b, 0) - 1, dims="i")
        gp.Normal("y", b + some, sigma=1, dims="i", observed=[1.0, 2.0, 0.0, 4.0])
    facts = Facts(model.graph, model.data, "b")
    some, below = (model.graph.statement(name) for name in ("some", "below"))

    assert facts.is_count(some.target, some.over)
    assert not facts.is_count(below.target, below.over)


def test_a_zero_inflated_count_of_which_zeros_have_the_probability_of_no_event():
    """Its events are one at least where it is not zero: bounds that are no numbers are read."""
    with gp.Model(coords={"i": 4, "k": 2}) as model:
        a = gp.Gamma("a", shape=1, rate=1, dims="k")
        mu = gp.Normal("mu", 0, sigma=3)
        b = gp.ZeroInflatedPoisson("b", psi=1 - gp.exp(-a.sum("k")), rate=2, dims="i")
        gp.Normal("y", mu + b, sigma=1, dims="i", observed=[1.0, 2.0, 0.0, 4.0])

    assert gp.compile(model).verify().proved
