"""Indices, lags and slices.

Each function declares a bad model; its docstring is the message that it must give.
"""

import numpy as np

import gibbsppl.language as gp


def slice_of_a_variable():
    """x[t]: reading a slice is refused: positions are absolute; the lag says what is meant:
    x.lag("time", 1).
    """
    with gp.Model(coords={"t": 3}):
        gp.Normal("x", 0, sigma=1, dims="t")[1:]


def raw_codes_as_index():
    """x[school]: indexed by an array of shape (3,); declare it: gp.Index("name", codes, of="dim",
    dims=...).
    """
    with gp.Model(coords={"school": 3}):
        gp.Normal("x", 0, sigma=1, dims="school")[[0, 1, 1]]


def data_as_index():
    """x[school]: indexed by group[student], which does not say which dimension it points into;
    declare it with of="dim" (gp.Index, or the event of a Categorical).
    """
    with gp.Model(coords={"school": 3}):
        group = gp.Data("group", [0, 1], dims="student")
        gp.Normal("x", 0, sigma=1, dims="school")[group]


def index_of_another_dimension():
    """x[school]: indexed by group[student], which points into 'city', but its dimensions are
    school; use an index of one of these, or .at("dim", index).
    """
    with gp.Model(coords={"school": 3, "city": 3}):
        group = gp.Index("group", [0, 1], of="city", dims="student")
        gp.Normal("x", 0, sigma=1, dims="school")[group]


def position_of_two_dims():
    """x[i, k]: position 0 of a tensor with the dimensions i, k; name the one meant: .at("dim", 0).
    """
    with gp.Model(coords={"i": 2, "k": 2}):
        gp.Normal("x", 0, sigma=1, dims=("i", "k"))[0]


def position_beyond_the_end():
    """x[t]: position 3 of dimension 't', which has size 3; positions are 0 to 2."""
    with gp.Model(coords={"t": 3}):
        gp.Normal("x", 0, sigma=1, dims="t")[3]


def lag_before_the_start():
    """y: reads x[t - 1] at position -1 of dimension 't', whose positions are 0 to 2; declare a
    gp.Array and fill the ends by statements of their own: x[0] = ...; x[1:] = ... x.lag(...).
    """
    with gp.Model(coords={"t": 3}):
        x = gp.Normal("x", 0, sigma=1, dims="t")
        gp.Normal("y", x.lag("t", 1), sigma=1, dims="t")


def lead_beyond_the_end():
    """y[1:]: reads x[t + 1] at position 3 of dimension 't', whose positions are 0 to 2; declare a
    gp.Array and fill the ends by statements of their own: x[0] = ...; x[1:] = ... x.lag(...).
    """
    with gp.Model(coords={"t": 3}):
        x = gp.Normal("x", 0, sigma=1, dims="t")
        y = gp.Array("y", dims="t")
        y[1:] = gp.Normal(x.lag("t", -1), sigma=1)


def lag_of_a_sum():
    """total: reads x[t - 1] at position -1 of dimension 't', whose positions are 0 to 2; declare a
    gp.Array and fill the ends by statements of their own: x[0] = ...; x[1:] = ... x.lag(...).
    """
    with gp.Model(coords={"t": 3}):
        x = gp.Normal("x", 0, sigma=1, dims="t")
        gp.Deterministic("total", x.lag("t", 1).sum("t"))


def lag_along_another_dimension():
    """x[t]: lagged along 'time', but its dimensions are t; name one of them."""
    with gp.Model(coords={"t": 3}):
        gp.Normal("x", 0, sigma=1, dims="t").lag("time", 1)


def lag_of_half_a_step():
    """x[t]: a lag of 0.5 steps; expected a whole number."""
    with gp.Model(coords={"t": 3}):
        gp.Normal("x", 0, sigma=1, dims="t").lag("t", 0.5)


def lag_of_a_gathered_dimension():
    """y: reads at the index when[i] - 1, a lag of a gathered dimension; lag the index itself, or
    gather from a shifted array.
    """
    with gp.Model(coords={"t": 3}):
        when = gp.Index("when", [1, 2], of="t", dims="i")
        x = gp.Normal("x", 0, sigma=1, dims="t")
        gp.Normal("y", x.lag("t", 1)[when], sigma=1, dims="i")


def potential_whose_lags_never_exist():
    """p: no position of 't' (size 3) has all its lags; use a smaller lag."""
    with gp.Model(coords={"t": 3}):
        x = gp.Normal("x", 0, sigma=1, dims="t")
        gp.Potential("p", x * x.lag("t", 3))


def loop_over_a_variable():
    """x[t] over t: a tensor has no first element; sum or index it by a dim's name."""
    with gp.Model(coords={"t": 3}):
        list(gp.Normal("x", 0, sigma=1, dims="t"))


def function_of_numpy():
    """x: found in exp of NumPy or SciPy; a tensor has no values while the model is declared:
    write gp.exp(x).
    """
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)
        np.exp(x)


def function_of_numpy_without_a_counterpart():
    """x: found in sin of NumPy or SciPy; a tensor has no values while the model is declared:
    use the functions of gibbsppl.
    """
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)
        np.sin(x)


def sum_of_numpy():
    """x: found in add.reduce of NumPy or SciPy; a tensor has no values while the model is
    declared: write x.sum("dim").
    """
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)
        np.add.reduce(x)
