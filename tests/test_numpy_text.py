"""How NumPy source is printed from the array language: ways of sums, names, data together."""

from functools import cache, partial

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.code.arrays.expressions import (
    TWO,
    Apply,
    Element,
    Number,
    Position,
    Reduce,
    Span,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.code.module import module_of
from gibbsppl.code.numpy_text import functions
from gibbsppl.code.numpy_text.functions import Added, lines_of
from gibbsppl.code.numpy_text.products import contraction_of
from gibbsppl.code.numpy_text.statements import sum_lines
from gibbsppl.code.numpy_text.ways import ByGroup, BySegment, Facts, OfProduct, OfSquares, way_of

n, k = Position("n"), Position("k")
x, w = Element("x", (n,)), Element("w", (n,))
z, mu = Element("z", (n,)), Element("mu", (k,))
N, K = Span.whole("n"), Span.whole("k")


@cache
def schedule():
    """That of a mixture: labels ``z`` of points ``y``, with groups ``g`` that are data."""
    with gp.Model(coords={"n": 6, "k": 3}) as model:
        g = gp.Index("g", [0, 1, 2, 0, 1, 2], dims="n", of="k")
        u = gp.Normal("mu", 0, tau=1, dims="k")
        p = gp.Dirichlet("p", 1, dims="k")
        labels = gp.Categorical("z", p, dims="n")
        gp.Normal("y", u[labels] + u[g], tau=1, dims="n", observed=np.arange(6.0))
    return gp.compile(model).schedule


def writer(*, keeps=True):
    """A writer of a function of a module with nothing else."""
    return module_of(schedule()).writer(keeps=keeps)


def facts(*data):
    return Facts(lambda e: e.arrays <= set(data), lambda _: True)


def hot(index):
    return Apply("equals", (index, k))


@pytest.mark.parametrize(
    ("body", "spans", "expected"),
    [
        (product([hot(z), x]), (N,), BySegment((z,), ("k",), x)),
        (product([hot(Element("g", (n,))), x]), (N,), ByGroup(Element("g", (n,)), "k", "n", x)),
        (Apply("**", (x, TWO)), (N,), OfSquares(x)),
        (product([x, w]), (N,), OfProduct((x, w))),
        # A factor that knows the group makes it a product over all groups.
        (product([hot(z), mu, x]), (N,), OfProduct((hot(z), mu, x))),
    ],
    ids=["labels", "groups of data", "squares", "product", "the group elsewhere"],
)
def test_each_sum_is_done_in_its_way(body, spans, expected):
    assert way_of(Reduce(body, spans), facts("g"), is_once=False) == expected


def test_what_is_computed_once_needs_no_groups():
    g = Element("g", (n,))

    way = way_of(Reduce(product([hot(g), x]), (N,)), facts("g", "x"), is_once=True)

    assert isinstance(way, BySegment)


@pytest.mark.parametrize(
    ("axes", "summed", "kind", "dims"),
    [
        ([("a", "k"), ("k", "b")], "k", "matrix product", ("a", "b")),
        ([("k", "a"), ("k", "b")], "k", "matrix product", ("a", "b")),
        ([("k",), ("k", "l"), ("l",)], "kl", "form", ()),
        ([("k",), ("k",), ("k",)], "k", "of vectors", ()),
        ([("a", "k"), ("a", "k")], "k", "einsum", ("a",)),
        ([("a", "k")], "k", "sum", ("a",)),
    ],
)
def test_products_are_matrix_products_where_axes_stand_so(axes, summed, kind, dims):
    found = contraction_of(axes, frozenset(summed), dims)

    assert (found.kind, found.dims) == (kind, dims)


def eta(*adds):
    spelled = partial(sum_lines, full=False)
    return Added(Let("eta", (N,), Number(0)), adds, spelled)


def added(value, span=N):
    return Add("eta", (n,), value, (span,), "y")


def test_what_is_gathered_twice_has_a_name_whatever_its_dims_are_called():
    there = Element("mu", (Element("z", (Position("m"),)),))
    whole = Reduce(product([there, Element("p", (Element("z", (Position("m"),)),))]), (
        Span.whole("m", "n"),
    ))  # fmt: skip
    lines = lines_of(own := writer(), [eta(added(Element("mu", (z,))), added(whole))])

    assert lines[0] == "mu_read = mu[z]"
    assert own.names.of("mu") == "mu"
    assert sum("mu[z]" in line for line in lines) == 1


def test_what_is_gathered_once_is_read_in_place():
    assert lines_of(writer(), [eta(added(Element("mu", (z,))))]) == ["eta = mu[z]  # from y"]


def test_other_positions_are_another_reading():
    first, rest = Span("n", Number(0), Number(3)), Span("n", Number(3), Number(6))
    value = Element("mu", (z,))
    lines = lines_of(writer(), [eta(added(value, first), added(value, rest))])

    assert lines[1:] == ["eta[:3] += mu[z[:3]]  # from y", "eta[3:] += mu[z[3:]]  # from y"]


def test_a_name_goes_after_the_names_that_it_reads():
    """The gather inside of another is named first, though it is found last."""
    inner = Element("z", (Element("z", (n,)),))
    outer = Element("mu", (inner,))
    lines = lines_of(writer(), [eta(added(outer), added(product([outer, inner])))])

    assert lines[:2] == ["z_read = z[z]", "mu_read = mu[z_read]"]


def test_readings_at_other_positions_taken_for_one_are_seen(monkeypatch):
    """Planted: the ranges of a reading are left out."""
    true = functions._reading

    def planted(own, e, ranges):
        del ranges
        return true(own, e, {})

    monkeypatch.setattr(functions, "_reading", planted)
    with pytest.raises(AssertionError):
        test_other_positions_are_another_reading()


def test_data_are_put_together_and_numbers_go_last():
    y, own = Element("y", (n,)), writer(keeps=False)
    g = Element("g", (n,))
    text = own.text(total([y, negative(x_of(g)), Element("mu", (g,)), Number(3)]))

    assert text.code == "mu[g] + y_2"
    assert own.hoisted.lines[0][1] == "-arange(0, n_n) + 3 + y"


def x_of(e):
    return Position(e.indices[0].dim)
