"""Readings and matches: own family first, then the smallest; truncated; parameters solved for."""

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.changes import EXPONENTIAL, POWER, SHIFT
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.readings import alpha, direct_view, in_place, normal_form, reading_of
from gibbsppl.pieces.split import Piece, View


def derived(*statements, dims=3):
    """The conditional of x, after the prior and children that the functions declare."""
    with gp.Model(coords={"i": dims}) as m:
        x = statements[0]()
        for child in statements[1:]:
            child(x)
    return conditional_of(m.graph, m.graph.statement("x"), m.data)


def normal_tau(x):
    gp.Normal("y", 0, tau=x, dims="i", observed=[0.3, -1.0, 2.0])


def normal_sd(x):
    gp.Normal("z", 0, sigma=x, dims="i", observed=[0.3, -1.0, 2.0])


def waits(x):
    gp.Exponential("w", rate=x, dims="i", observed=[0.3, 1.0, 2.0])


def below(x):
    gp.Uniform("b", 0, x, dims="i", observed=[0.3, 1.0, 2.0])


def kept_counts(x):
    gp.Binomial("k", x, 0.6, observed=3)


# Prior, children, the family, whether truncated, the change of variable, what is known.
MATCHES = {
    "the own family": (lambda: gp.Gamma("x", 2, rate=1), (normal_tau, waits), "Gamma", False, None),
    "a smaller family": (lambda: gp.Exponential("x", rate=1), (waits,), "Gamma", False, None),
    "truncated by the prior": (
        lambda: gp.Gamma("x", 2, rate=1, upper=3), (waits,), "Gamma", True, None
    ),
    "truncated by a child": (lambda: gp.Gamma("x", 2, rate=1), (below,), "Gamma", True, None),
    "a uniform prior": (lambda: gp.Uniform("x", 0, 9), (waits,), "Gamma", True, None),
    "after a change": (lambda: gp.HalfFlat("x"), (normal_sd,), "Gamma", False, POWER),
    "after a change, truncated": (
        lambda: gp.Uniform("x", 0, 9), (normal_sd,), "Gamma", True, POWER
    ),
    "three statistics": (
        lambda: gp.InverseGamma("x", 2, 1), (normal_tau,), "GeneralizedInverseGaussian", False, None
    ),
    "counts": (lambda: gp.Poisson("x", rate=4.0), (kept_counts,), "Poisson", False, SHIFT),
}  # fmt: skip


@pytest.mark.parametrize("name", MATCHES)
def test_the_match_is(name):
    prior, children, family, truncated, change = MATCHES[name]
    found = derived(prior, *children)

    assert isinstance(found, Conditional)
    assert (found.family.name, found.truncated) == (family, truncated)
    assert (found.change and found.change.transform) == change


def test_known_parameters_are_solved_for():
    """What is left of a number of trials has its number of trials."""
    found = derived(lambda: gp.Binomial("x", 9, 0.3), kept_counts)

    assert found.family.name == "Binomial"
    assert str(dict(found.known)["n"]) == "9 - k"


def test_matches_do_not_depend_on_the_order_of_children():
    orders = [(normal_tau, waits, below), (below, waits, normal_tau)]
    found = [derived(lambda: gp.Gamma("x", 2, rate=1), *children) for children in orders]

    assert len({(f.family.name, f.truncated, str(f.known), f.statistics) for f in found}) == 1


@pytest.mark.parametrize("power", [1.3, 2.5, 3, "by element"])
def test_the_odds_of_a_power_are_seen(power):
    """``1 + x**3`` is left a sum, ``1 + x**1.3`` is no polynomial in tenth roots of x."""
    with gp.Model(coords={"i": 3}) as m:
        told = gp.Data("c", [1.3, 0.4, 2.0], dims="i") if power == "by element" else power
        gp.BurrXII("x", c=told, k=1.7, scale=1, dims="i")
    found = conditional_of(m.graph, m.graph.statement("x"), m.data)

    assert isinstance(found, Conditional)
    assert (found.family.name, found.change.transform) == ("BetaPrime", POWER)
    assert gp.compile(m).verify().proved


@pytest.mark.parametrize("power", [0.5, 1.7, 3, "by element"])
def test_the_rest_of_a_power_is_seen(power):
    """``log(1 - x**c)`` is written as ``log(1 - exp(-t))``, which keeps its digits near 1."""
    with gp.Model(coords={"i": 3}) as m:
        told = gp.Data("c", [1.3, 0.4, 2.0], dims="i") if power == "by element" else power
        gp.Kumaraswamy("x", a=told, b=1.7, dims="i")
    found = conditional_of(m.graph, m.graph.statement("x"), m.data)

    assert isinstance(found, Conditional)
    assert (found.family.name, found.change.transform) == ("Beta", POWER)
    assert gp.compile(m).verify().proved


def test_the_rest_of_an_exponential_is_seen():
    """A time that was not survived by some and survived by others: ``exp(-x)`` is a share."""
    with gp.Model() as m:
        x = gp.Exponential("x", rate=2.5)
        gp.Bernoulli("y", 1 - gp.exp(-x), dims="i", observed=[0, 1, 1])
    found = conditional_of(m.graph, m.graph.statement("x"), m.data)

    assert (found.family.name, found.change.transform) == ("Beta", EXPONENTIAL)
    assert gp.compile(m).verify().proved


# ---- pieces in one place ---------------------------------------------------------------------

G, I, K = Dim("g"), Dim("i"), Dim("k")
X, Y = Array("x", positive=True), Array("y")


def piece(statistic, index, *over):
    return Piece("f", statistic, (View(X, (index,)),), sp.S.One, over)


def test_views_by_another_index_have_the_statistic_of_the_place():
    code = Array("code")[I]
    of_group = piece(sp.log(X[code]), code, Range(I, 0, 9))

    assert normal_form(of_group, X[G], ()) == sp.log(X[G])
    shaped = piece(X[code] ** Array("k")[code], code, Range(I, 0, 9))
    assert normal_form(shaped, X[G], ()) == X[G] ** Array("k")[G]


def test_what_differs_within_a_sum_has_no_place():
    code = Array("code")[I]
    assert normal_form(piece(X[code] ** Y[I], code, Range(I, 0, 9)), X[G], ()) is None


def test_bound_names_do_not_matter():
    one, two = (Over(Y[d] * X[d], d) for d in (I, K))

    assert one != two
    assert alpha(one) == alpha(two)
    assert alpha(Over(Y[I], I)) != alpha(Over(Y[I] ** 2, I))


def reading(*densities):
    with gp.Model(coords={"g": 3}) as m:
        gp.Gamma("x", 2, rate=1, dims="g")
    statement = m.graph.statement("x")
    pieces = tuple(
        Piece("f", s, (View(X, (G,)),), c, (Range(G, 0, 3),)) for s, c in densities
    )
    return reading_of(statement, pieces, (), ("batch",), m.graph.sizes, elements=False)


def test_pieces_that_cancel_are_gone():
    found = reading((X[G], sp.S.One), (sp.log(X[G]), sp.S.One), (X[G], -sp.S.One))

    assert [p.statistic for p in found.pieces] == [sp.log(X[G])]
    assert len(reading((X[G], sp.S.One), (X[G], sp.Integer(-2))).pieces) == 2


def test_only_what_shows_each_element_once_is_direct():
    found = reading((X[G], sp.S.One))
    whole, part = Range(I, 0, 3), Range(I, 0, 2)

    def direct(index, *over):
        return direct_view(View(X, (index,)), over, found.statement, found.over)

    assert direct(I, whole) == {I: G}
    assert direct(I, part) is None
    assert direct(Array("code")[I], whole) is None
    assert direct(I, whole, Range(K, 0, 2)) is None
    assert direct(sp.Integer(0)) is None


@pytest.mark.parametrize(("last", "family"), [(4, "Dirichlet"), (3, None)])
def test_a_sum_of_some_entries_of_a_simplex_is_not_known(last, family):
    """What weighs all entries alike tells nothing; what weighs the first three alike does."""
    program = f"""model {{
        for (i in 1:2) {{
            p[i, 1:4] ~ ddirch(a[])
            w[i] ~ dgamma(1, 1)
            for (k in 1:{last}) {{
                z[i, k] ~ dpois(w[i] * p[i, k])
            }}
        }}
    }}"""
    model = gp.read_bugs(program, {"a": np.ones(4), "z": np.zeros((2, last))})
    (p,) = (s for s in model.graph.latent if s.family.event)
    found = conditional_of(model.graph, p, model.data)

    assert (found.family.name if isinstance(found, Conditional) else None) == family


@pytest.mark.parametrize(("along", "family"), [("k", None), ("j", "Dirichlet")])
def test_entries_of_several_values_are_no_total(along, family):
    """Entries that are read one each from another row of shares add up to anything."""
    with gp.Model(coords={"i": 3, "j": 3, "k": 3}) as m:
        p = gp.Dirichlet("p", 2, dims=("i", "k"), event="k")
        row = gp.Index("row", [0, 2, 1], of="i", dims=along)
        gp.Potential("more", p.at("i", row))
    found = conditional_of(m.graph, m.graph.statement("p"), m.data)

    assert (found.family.name if isinstance(found, Conditional) else None) == family


def test_entries_that_cancel_are_looked_for_in_the_same_range():
    with gp.Model(coords={"k": 3}) as m:
        gp.Dirichlet("p", 2, dims="k", event="k")
    statement, p, k = m.graph.statement("p"), Array("p", positive=True), Dim("k")
    pieces = [
        Piece("f", sp.log(p[k]), (View(p, (k,)),), c, (Range(k, start, 3),))
        for c, start in ((sp.S.One, 0), (-sp.S.One, 1))
    ]
    found = reading_of(statement, tuple(pieces), (), ("batch",), m.graph.sizes, elements=False)

    assert len(found.pieces) == 2


def test_what_is_read_beside_the_place_is_read_where_the_view_is():
    """The first of a series sees the data of the second."""
    with gp.Model(coords={"k": 4}) as model:
        b = gp.Gamma("b", 2.0, rate=1.0)
        x = gp.Array("x", dims="k")
        x[0] = gp.Poisson(rate=1.0)
        d = gp.Data("d", [1.0, 2.0, 3.0, 4.0], dims="k")
        x[1:] = gp.Poisson(rate=0.5 * x.lag("k", 1) + b * d)

    assert gp.compile(model).verify().proved


@pytest.mark.parametrize(("shift", "form"), [(0, "log(d[k] + x[k])"), (-1, "None")])
def test_statistics_of_shifted_views(shift, form):
    k = Dim("k")
    x, d = Array("x"), Array("d")
    view = View(x, (k - 1,))
    seen = sp.log(x[k - 1] + d[k - 1 - shift])
    piece = Piece("y", seen, (view,), sp.S.One, (Range(k, 1, 4),))

    assert str(in_place(piece, x[k], ())) == form


def test_sums_inside_of_functions_keep_their_sizes():
    """What is moved has terms in normal form, in which bound dims have other names."""
    with gp.Model(coords={"i": 2, "k": 4}) as model:
        a = gp.InverseGamma("a", shape=2, scale=1.7, dims=("i", "k"))
        gp.Frechet("b", shape=a.sum("i"), scale=3.5, upper=2.5, dims="k")

    assert gp.compile(model).verify().proved


@pytest.mark.parametrize(("read", "form"), [("k", "None"), ("g[k]", "log(d[k] + x[k])")])
def test_dims_of_a_factor_are_not_those_of_the_variable_that_have_their_names(read, form):
    k = Dim("k")
    x, d, at = Array("x"), Array("d"), Array("g")[k]
    seen = sp.log(x[at] + d[{"k": k, "g[k]": at}[read]])
    piece = Piece("y", seen, (View(x, (at,)),), sp.S.One, (Range(k, 0, 4),))

    assert str(in_place(piece, x[k], ())) == form


def test_a_variable_read_at_its_own_and_at_other_positions_of_data_has_its_density():
    with gp.Model(coords={"i": 2}) as model:
        x = gp.Gamma("x", shape=1.2, rate=1.0, dims="i")
        at = gp.Index("at", [1, 0], of="i", dims="i")
        c = gp.Data("c", [1.0, 7.0], dims="i")
        gp.Potential("p", gp.log(x + c) + 2 * gp.log(x[at] + c))

    assert gp.compile(model).verify().passed
