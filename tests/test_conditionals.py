"""Conditionals by their statistics and support: which family, why none, which labels."""

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.derive.labels import FiniteConditional
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.readings import normal_form
from gibbsppl.errors import CompileError
from gibbsppl.families import FAMILIES
from gibbsppl.pieces.split import Piece, View


def derived(model, name, **options):
    return conditional_of(model.graph, model.graph.statement(name), model.data, **options)


PRIORS = {
    "Normal": lambda: gp.Normal("v", 0, tau=1),
    "Gamma": lambda: gp.Gamma("v", 2, rate=1),
    "InverseGamma": lambda: gp.InverseGamma("v", 2, 1),
    "Exponential": lambda: gp.Exponential("v", rate=1),
    "ChiSquared": lambda: gp.ChiSquared("v", 4),
    "LogNormal": lambda: gp.LogNormal("v", 0, tau=1),
    "Beta": lambda: gp.Beta("v", 2, 2),
    "Uniform": lambda: gp.Uniform("v", 0, 1),
    "HalfNormal": lambda: gp.HalfNormal("v", tau=1),
}

CHILDREN = {
    "Normal mean": lambda v, y: gp.Normal(y, v, tau=2, observed=0.3),
    "Normal mean, scaled": lambda v, y: gp.Normal(y, 3 * v - 1, tau=2, observed=0.3),
    "Normal tau": lambda v, y: gp.Normal(y, 0, tau=v, observed=0.3),
    "Normal tau, scaled": lambda v, y: gp.Normal(y, 0, tau=4 * v, observed=0.3),
    "Normal var": lambda v, y: gp.Normal(y, 0, var=v, observed=0.3),
    "Normal sigma squared": lambda v, y: gp.Normal(y, 0, sigma=gp.sqrt(v), observed=0.3),
    "LogNormal mean of logs": lambda v, y: gp.LogNormal(y, v, tau=2, observed=0.3),
    "LogNormal mean of a log": lambda v, y: gp.LogNormal(y, gp.log(v), tau=2, observed=0.3),
    "Poisson rate": lambda v, y: gp.Poisson(y, rate=v, observed=2),
    "Poisson rate, scaled": lambda v, y: gp.Poisson(y, rate=3 * v, observed=2),
    "Exponential rate": lambda v, y: gp.Exponential(y, rate=v, observed=0.3),
    "Exponential scale": lambda v, y: gp.Exponential(y, scale=v, observed=0.3),
    "Gamma rate": lambda v, y: gp.Gamma(y, 2, rate=v, observed=0.3),
    "Gamma scale": lambda v, y: gp.Gamma(y, 2, scale=v, observed=0.3),
    "Weibull rate": lambda v, y: gp.Weibull(y, 2, rate=v, observed=0.3),
    "Pareto shape": lambda v, y: gp.Pareto(y, v, minimum=0.1, observed=0.3),
    "Laplace rate": lambda v, y: gp.Laplace(y, 0, rate=v, observed=0.3),
    "Bernoulli p": lambda v, y: gp.Bernoulli(y, v, observed=1),
    "Bernoulli complement": lambda v, y: gp.Bernoulli(y, 1 - v, observed=1),
    "Binomial p": lambda v, y: gp.Binomial(y, 5, v, observed=2),
    "Geometric p": lambda v, y: gp.Geometric(y, v, observed=2),
    "NegativeBinomial p": lambda v, y: gp.NegativeBinomial(y, n=3, p=v, observed=2),
}

REALS = ("Normal mean", "Normal mean, scaled", "LogNormal mean of logs")
RATES = (
    "Normal tau", "Normal tau, scaled", "Poisson rate", "Poisson rate, scaled", "Exponential rate",
    "Gamma rate", "Weibull rate", "Pareto shape", "Laplace rate",
)  # fmt: skip
SCALES = ("Normal var", "Normal sigma squared", "Exponential scale", "Gamma scale")
PROBABILITIES = (
    "Bernoulli p", "Bernoulli complement", "Binomial p", "Geometric p", "NegativeBinomial p",
)  # fmt: skip

CONJUGATE = (
    {("Normal", child): "Normal" for child in REALS}
    | {(p, c): "Gamma" for p in ("Gamma", "Exponential", "ChiSquared") for c in RATES}
    | {("InverseGamma", child): "InverseGamma" for child in SCALES}
    | {(p, c): "Beta" for p in ("Beta", "Uniform") for c in PROBABILITIES}
    | {("LogNormal", "LogNormal mean of a log"): "LogNormal"}
)
# Pairs that a smaller table would miss: a third statistic, a bound, a change of variable.
BEYOND = {
    ("Gamma", "Normal var"): "GeneralizedInverseGaussian",
    ("InverseGamma", "Normal tau"): "GeneralizedInverseGaussian",
    ("InverseGamma", "Poisson rate"): "GeneralizedInverseGaussian",
    ("Uniform", "Exponential rate"): "Gamma",
    ("HalfNormal", "Normal tau"): "ModifiedHalfNormal",
    ("HalfNormal", "Exponential rate"): "ModifiedHalfNormal",
}
# Pairs whose statistics belong to no family together.
NONE = (
    ("LogNormal", "Normal tau"),
    ("Beta", "Normal mean"),
)


def pair(prior, child):
    with gp.Model() as m:
        CHILDREN[child](PRIORS[prior](), "y")
    return m


@pytest.mark.parametrize(("prior", "child"), CONJUGATE, ids=map(" ".join, CONJUGATE))
def test_the_family_is_found_whatever_the_spelling(prior, child):
    found = derived(pair(prior, child), "v")

    assert isinstance(found, Conditional), found.reason
    assert found.family.name == CONJUGATE[prior, child]
    assert not found.elements


@pytest.mark.parametrize(("prior", "child"), BEYOND, ids=map(" ".join, BEYOND))
def test_no_table_of_pairs_is_asked(prior, child):
    found = derived(pair(prior, child), "v")

    assert isinstance(found, Conditional), found.reason
    assert found.family.name == BEYOND[prior, child]


@pytest.mark.parametrize(("prior", "child"), NONE, ids=map(" ".join, NONE))
def test_what_no_family_owns_says_why(prior, child):
    found = derived(pair(prior, child), "v")
    refusal = found.refusal if isinstance(found, LogConcave) else found

    assert isinstance(refusal, NotConjugate)
    assert "v" in refusal.reason
    assert refusal.offending
    assert {p.factor for p in refusal.offending} <= {"v", "y"}


@pytest.mark.parametrize(("prior", "child"), CONJUGATE, ids=map(" ".join, CONJUGATE))
def test_conjugate_pairs_stay_so_with_every_other_child_of_their_kind(prior, child):
    """The unit is a variable with all its children, whatever their families."""
    others = [c for (p, c), family in CONJUGATE.items() if p == prior and c != child]
    with gp.Model() as m:
        v = PRIORS[prior]()
        for n, name in enumerate([child, *others]):
            CHILDREN[name](v, f"y{n}")
    found = derived(m, "v")

    assert isinstance(found, Conditional)
    assert found.family.name == CONJUGATE[prior, child]
    assert len({p.factor for ps in found.pieces for p in ps} - {"v"}) == len(others) + 1


# ---- pieces of the match ---------------------------------------------------------------------


def test_each_statistic_is_owned_by_its_pieces():
    with gp.Model(coords={"n": 3}) as m:
        mu, tau = gp.Normal("mu", 1, tau=2), gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", mu, tau=tau, dims="n", observed=[1.0, 2.0, 3.0])
    found = derived(m, "mu")
    owners = {
        str(s): {p.factor for p in ps} for s, ps in zip(found.statistics, found.pieces, strict=True)
    }

    assert owners == {"mu": {"mu", "y"}, "mu**2": {"mu", "y"}}


def test_a_parameter_that_must_be_known_is_the_priors_own():
    """A Weibull prior is conjugate to a density of the same power alone."""
    with gp.Model() as m:
        v = gp.Weibull("v", 2.5, rate=1)
        gp.Potential("pull", -3 * v**2.5)
    same = derived(m, "v")
    with gp.Model() as m:
        v = gp.Weibull("v", 2.5, rate=1)
        gp.Potential("pull", -3 * v)
    other = derived(m, "v")

    assert same.family.name == "Weibull"
    assert dict(same.known) == {"shape": sp.Rational(5, 2)}
    assert not isinstance(other, Conditional)


def test_the_support_is_part_of_the_match():
    """The statistics of a gamma between two bounds are those of a truncated gamma."""
    with gp.Model() as m:
        v = gp.Gamma("v", 2, rate=1, upper=3)
        gp.Poisson("y", rate=v, observed=2)
    with gp.Model() as whole:
        v = gp.Gamma("v", 2, rate=1)
        gp.Poisson("y", rate=v, observed=2)

    assert derived(m, "v").truncated
    assert not derived(whole, "v").truncated


def test_a_bound_from_a_child_is_part_of_the_match():
    with gp.Model() as m:
        v = gp.Gamma("v", 2, rate=1)
        gp.Uniform("y", 0, v, observed=2)
    found = derived(m, "v")

    assert isinstance(found, Conditional)
    assert [(limit.factor, limit.side) for limit in found.limits] == [("y", "lower")]


def test_a_refusal_names_the_nearest_family():
    with gp.Model(coords={"n": 3}) as m:
        alpha = gp.Exponential("alpha", rate=1)
        gp.Gamma("y", alpha, rate=2, dims="n", observed=[1.0, 2.0, 3.0])
    found = derived(m, "alpha").refusal

    assert "loggamma(alpha)" in found.reason
    assert "(0, oo)" in found.reason
    assert found.nearest in FAMILIES


def share_seen_squared():
    with gp.Model(coords={"g": 2, "k": 3}) as m:
        w = gp.Dirichlet("w", 1.5, dims=("g", "k"), event="k")
        gp.Normal("y", w.at("k", 0) ** 2, sigma=0.1, dims="g", observed=[0.3, 0.1])
    return m


def share_beside_one_that_is_zero():
    with gp.Model(coords={"k": 3}) as m:
        w = gp.Dirichlet("w", gp.Data("a", [2.0, 0.0, 1.1], dims="k"), dims="k")
        gp.Normal("y", w[0] ** 2, sigma=0.1, observed=0.3)
    return m


def direction_seen_through_an_exponential():
    with gp.Model(coords={"k": 3}) as m:
        v = gp.VonMisesFisher("v", gp.Data("mu", [0.0, 0.6, 0.8], dims="k"), 2.0, dims="k")
        gp.Normal("y", gp.exp(v[0]), sigma=0.5, observed=1.3)
    return m


def counts_seen_cubed():
    with gp.Model(coords={"k": 3}) as m:
        n = gp.Multinomial("n", 5, gp.Data("p", [0.2, 0.3, 0.5], dims="k"), dims="k")
        gp.Normal("y", n**3 / 20, sigma=1, dims="k", observed=[1.0, 2.0, 3.0])
    return m


def wishart_of_a_covariance():
    with gp.Model(coords={"k": 2, "i": 3}) as m:
        S = gp.Wishart("S", 4, V=gp.Data("V", np.eye(2), dims=("k", "k'")), dims=("k", "k'"))
        mean = gp.Data("mean", [0.0, 0.0], dims="k")
        y = [[1.0, 2.0], [0.3, -1.0], [0.0, 0.5]]
        gp.MvNormal("y", mean, cov=S, dims=("i", "k"), observed=y)
    return m


@pytest.mark.parametrize(
    "model",
    [
        share_seen_squared,
        share_beside_one_that_is_zero,
        direction_seen_through_an_exponential,
        counts_seen_cubed,
        wishart_of_a_covariance,
    ],
)
def test_values_whose_entries_are_tied_are_moved_where_no_family_owns_them(model):
    sampler = gp.compile(model())
    (step,) = sampler.schedule.steps

    assert (step.kind, step.kernel, step.is_by_element) == ("move", "slice", True)
    assert sampler.verify().proved


@pytest.mark.parametrize("kernel", [gp.Slice(), gp.RandomWalk(), gp.NUTS()])
def test_a_move_of_shares_may_be_asked_for(kernel):
    with gp.Model(coords={"k": 3}) as m:
        w = gp.Dirichlet("w", 0.5, dims="k")
        gp.Multinomial("n", 6, w, dims="k", observed=[1, 2, 3])
    sampler = gp.compile(m, kernels={"w": kernel})

    assert sampler.schedule.steps[0].kind == "move"
    assert sampler.verify().proved


def test_exact_refuses_a_fallback_and_names_it():
    with gp.Model() as m:
        v = gp.StudentT("v", nu=3, mu=0, tau=1)
        gp.StudentT("y", nu=3, mu=v, tau=1, observed=2.0)

    with pytest.raises(CompileError, match="v: no family on"):
        gp.compile(m, exact=True, rewrites=False)


def test_only_latent_variables_can_be_asked_for_by_element():
    with pytest.raises(CompileError, match="'y' is not a latent variable"):
        gp.compile(pair("Normal", "Normal mean"), blocks={"y": "elements"})


def test_other_words_for_blocks_are_refused():
    with pytest.raises(CompileError, match="expected one of 'elements'"):
        gp.compile(pair("Normal", "Normal mean"), blocks={"v": "columns"})


# ---- labels ----------------------------------------------------------------------------------

LABELS = {
    "Categorical": (lambda: gp.Categorical("z", gp.Data("p", [0.2, 0.3, 0.5], dims="k")), 0, 3),
    "Binomial": (lambda: gp.Binomial("z", 4, 0.3), 0, 5),
    "DiscreteUniform": (lambda: gp.DiscreteUniform("z", -2, 3), -2, 6),
}


def test_a_gate_in_a_square_is_drawn_from_its_log_odds():
    """Of a variable that is 0 or 1 the square is the variable."""
    with gp.Model() as m:
        z = gp.Bernoulli("z", 0.3)
        gp.Normal("y", 2.0 * z, tau=3, observed=0.7)
    found = derived(m, "z")

    assert isinstance(found, Conditional)
    assert (found.family.name, found.statistics) == ("Bernoulli", (found.place,))
    (parameter,) = gp.compile(m).schedule.step("z").parameters
    total = sum(c.value for c in parameter.contributions)
    log_odds = total.xreplace(dict.fromkeys(total.atoms(Leaf), 0.7))
    assert float(log_odds) == pytest.approx(np.log(0.3 / 0.7) - 3 * ((0.7 - 2) ** 2 - 0.7**2) / 2)


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_a_finite_support_are_enumerated(name):
    build, lower, size = LABELS[name]
    with gp.Model(coords={"k": 3}) as m:
        z = build()
        gp.Normal("y", 2.0 * z, tau=1, observed=0.7)
    found = derived(m, "z")

    assert isinstance(found, FiniteConditional)
    assert (found.lower, found.size, found.elements) == (lower, size, False)
    # A density that is the same for all labels leaves no piece.
    assert {p.factor for p in found.pieces} == ({"y"} if name == "DiscreteUniform" else {"y", "z"})


def test_limits_that_differ_by_element_are_covered():
    with gp.Model(coords={"n": 3}) as m:
        total = gp.Data("total", [2, 5, 3], dims="n")
        k = gp.Binomial("k", total, 0.5, dims="n")
        gp.Normal("y", k, tau=1, dims="n", observed=[1.0, 2.0, 3.0])
    found = derived(m, "k")

    assert (found.lower, found.size) == (0, 6)


def test_factors_that_do_not_mention_a_label_are_left_out():
    with gp.Model(coords={"n": 4, "k": 2}) as m:
        p = gp.Dirichlet("p", 1, dims="k")
        z = gp.Categorical("z", p, dims="n")
        mu = gp.Normal("mu", 0, tau=1, dims="k")
        gp.Normal("y", mu[z], tau=1, dims="n", observed=np.arange(4.0))
    found = derived(m, "z")

    assert {piece.factor for piece in found.pieces} == {"z", "y"}


@pytest.mark.parametrize(
    ("declare", "expected"),
    [
        (lambda z: gp.Potential("p", z * z.lag("t", 1)), True),
        (lambda z: gp.Normal("y", z.sum("t"), tau=1, observed=1.0), True),
        (lambda z: gp.Normal("y", z, tau=1, dims="t", observed=np.zeros(4)), False),
        (lambda z: gp.Normal("y", z * 2, tau=1 + z, dims="t", observed=np.zeros(4)), False),
    ],
    ids=["neighbours", "a sum", "one each", "twice in one factor"],
)
def test_labels_that_meet_in_a_factor_are_drawn_one_by_one(declare, expected):
    with gp.Model(coords={"t": 4}) as m:
        declare(gp.Bernoulli("z", 0.4, dims="t"))

    assert derived(m, "z").elements is expected


def test_counts_without_limits_are_no_labels():
    """Two visits leave no family."""
    with gp.Model() as m:
        n = gp.Poisson("n", rate=3)
        gp.Binomial("y", n, 0.5, observed=1)
        gp.Binomial("x", n, 0.5, observed=2)

    assert isinstance(derived(m, "n"), NotConjugate)


# ---- normal form -----------------------------------------------------------------------------

T, I, K = Dim("t"), Dim("i"), Dim("k")
X, G = Array("x"), Array("g")


def form(statistic, *indices, place=X[T], event=(), over=(I, T, K)):
    views = tuple(View(X, i) for i in indices)
    ranges = tuple(Range(d, 0, 3) for d in over)
    return normal_form(Piece("f", statistic, views, sp.S.One, ranges), place, event)


def test_a_gathered_statistic_is_written_in_the_place():
    assert form(X[G[I]] ** 2, (G[I],)) == X[T] ** 2
    assert form(sp.log(X[T - 1]), (T - 1,)) == sp.log(X[T])


def test_what_is_read_at_the_same_index_moves_along():
    power = Array("k")

    assert form(X[G[I]] ** power[G[I]], (G[I],)) == X[T] ** power[T]


def test_what_varies_over_the_sum_has_no_normal_form():
    power = Array("k")

    assert form(X[G[I]] ** power[I], (G[I],)) is None


def test_two_entries_of_an_event_are_a_pair():
    entry = Dim("entry")
    place = Leaf(X, entry)
    found = form(X[T] * X[K], (T,), (K,), place=place, event=(entry,))

    assert str(found) in {"x[entry]*x[entry']", "x[entry']*x[entry]"}


def test_vectors_along_another_axis_than_the_last_are_refused():
    with gp.Model(coords={"j": 2, "k": 3}) as m:
        p = gp.Dirichlet("p", 1.0, dims=("j", "k"), event="j")
        gp.Categorical("z", p, dims=("n", "k"), event="j", observed=np.zeros((4, 3), dtype=int))
    with pytest.raises(CompileError, match=r"p: a value of Dirichlet is along j, .*: k, j\."):
        gp.compile(m)
