"""Shapes and names of dimensions.

Each function declares a bad model; its docstring is the message that it must give.
"""

import numpy as np

import gibbsppl.language as gp


def data_with_too_few_dims():
    """x: the array has 2 axes (shape (2, 3)), but dims name 1 (i); name one dimension per axis."""
    with gp.Model():
        gp.Data("x", np.ones((2, 3)), dims="i")


def data_of_the_wrong_size():
    """x: dimension 'rat' has size 30, but the array has 29 along it (shape (29,)); pass the array
    with the axes (rat), or give the dimension that size.
    """
    with gp.Model(coords={"rat": 30}):
        gp.Data("x", np.ones(29), dims="rat")


def transposed_observed_array():
    """weight: dimension 'rat' has size 30, but the array has 5 along it (shape (5, 30)); pass the
    array with the axes (rat, day), or give the dimension that size.
    """
    with gp.Model(coords={"rat": 30, "day": 5}):
        gp.Normal("weight", 0, sigma=1, dims=("rat", "day"), observed=np.ones((5, 30)))


def unknown_dimension():
    """x: unknown dimension 'rta'; known are rat: add it to the model's coords, or declare data
    along it before.
    """
    with gp.Model(coords={"rat": 30}):
        gp.Normal("x", 0, sigma=1, dims="rta")


def one_dimension_twice():
    """S: dimension 'factor' is named twice; no array has one dimension twice: a square matrix has
    dims ("factor", "factor'").
    """
    with gp.Model(coords={"factor": 2}):
        gp.Data("S", np.eye(2), dims=("factor", "factor"))


def empty_dimension():
    """coords: dimension 'rat' has labels of shape (0,); expected one or more labels in a row: a
    dimension without positions holds no variables.
    """
    gp.Model(coords={"rat": []})


def dimension_of_size_zero():
    """coords: dimension 'rat' has labels of shape (0,); expected one or more labels in a row: a
    dimension without positions holds no variables.
    """
    gp.Model(coords={"rat": 0})


def empty_observed_array():
    """y: the observed array of shape (0,) is empty; expected one or more values: leave observed=
    out for a latent variable.
    """
    with gp.Model():
        gp.Normal("y", 0, sigma=1, dims="i", observed=[])


def primed_name_in_coords():
    """coords: the dimension name "factor'" is not a word; primes and subscripts are kept for the
    second side of square matrices and for copies: choose another name.
    """
    gp.Model(coords={"factor'": 2})


def argument_that_varies_more_than_its_variable():
    """y: mu has the dimension 'rat', along which one value of y (dims: none) cannot vary; add it
    to dims=, or sum or index it away.
    """
    with gp.Model(coords={"rat": 3}):
        mu = gp.Normal("mu", 0, sigma=1, dims="rat")
        gp.Normal("y", mu, sigma=1)


def raw_array_as_argument():
    """y: parameter mu: found an array of shape (3,), whose axes have no names; expected a number
    or a tensor: wrap it as gp.Data("name", values, dims=...).
    """
    with gp.Model(coords={"rat": 3}):
        gp.Normal("y", [1.0, 2.0, 3.0], sigma=1, dims="rat")


def ragged_data():
    """x: found values of type <U21; expected real numbers in a rectangular array: convert them
    first.
    """
    with gp.Model():
        gp.Data("x", [1, "a"], dims="i")


def product_that_shares_two_dims():
    """(x[i, k]) @ (x[i, k]): the two share the dimensions i, k; @ sums over exactly one that both
    have: write (a * b).sum("dim") and name what is summed.
    """
    with gp.Model(coords={"i": 2, "k": 2}):
        x = gp.Normal("x", 0, sigma=1, dims=("i", "k"))
        return x @ x


def product_that_shares_none():
    """(x[i]) @ (y[k]): the two share the dimensions none; @ sums over exactly one that both have:
    write (a * b).sum("dim") and name what is summed.
    """
    with gp.Model(coords={"i": 2, "k": 2}):
        x = gp.Normal("x", 0, sigma=1, dims="i")
        y = gp.Normal("y", 0, sigma=1, dims="k")
        return x @ y


def sum_over_a_dimension_that_is_not_there():
    """x[i]: summed along 'k', but its dimensions are i; name one of them."""
    with gp.Model(coords={"i": 2, "k": 2}):
        gp.Normal("x", 0, sigma=1, dims="i").sum("k")


def scalar_in_the_place_of_a_matrix():
    """x: tau is 1; expected a matrix with the dimensions (k, k'): the identity is gp.Data of
    numpy.eye.
    """
    with gp.Model(coords={"k": 2}):
        gp.MvNormal("x", 0, tau=1, dims="k")


def event_that_could_be_either_dim():
    """theta: a value of Dirichlet has one dimension of the dims of theta (doc, topic); found no
    single choice: name it with event="dim".
    """
    with gp.Model(coords={"doc": 2, "topic": 3}):
        gp.Dirichlet("theta", 0.1, dims=("doc", "topic"))


def event_that_is_no_dim_of_the_variable():
    """theta: a value of Dirichlet has one dimension of the dims of theta (doc); found topic: name
    it with event="dim".
    """
    with gp.Model(coords={"doc": 2, "topic": 3}):
        gp.Dirichlet("theta", 0.1, dims="doc", event="topic")


def event_of_a_number():
    """x: event=doc, but a value of Normal is a number without dimensions of its own; leave event=
    out.
    """
    with gp.Model(coords={"doc": 2}):
        gp.Normal("x", 0, sigma=1, dims="doc", event="doc")


def label_without_event():
    """z: the probabilities of Categorical have, beside the dims of z (none), the dimensions none;
    expected one of them as event: name it with event="dim".
    """
    with gp.Model():
        gp.Categorical("z", 0.5)


def potential_with_other_dims():
    """p: dims name k, but the expression has the dimensions i; leave dims out, or name these."""
    with gp.Model(coords={"i": 2, "k": 2}):
        x = gp.Normal("x", 0, sigma=1, dims="i")
        gp.Potential("p", -(x**2), dims="k")


def event_over_another_dimension():
    """t: event= has the dimensions row, which t lacks (i); add them to dims=, or index them
    away.
    """
    with gp.Model():
        event = gp.Data("event", [1, 0], dims="row")
        gp.Censored("t", gp.Exponential(rate=1), event=event, dims="i", observed=[1.0, 2.0])


def stick_into_too_few_pieces():
    """v[break]: broken along 'break' (size 3) into 'part' (size 3); expected another dimension
    with one more position, for what is left of the stick.
    """
    with gp.Model(coords={"break": 3, "part": 3}):
        v = gp.Beta("v", 1, 1, dims="break")
        gp.stick_breaking(v, "break", into="part")
