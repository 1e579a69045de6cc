"""Observed values and data.

Each function declares a bad model; its docstring is the message that it must give.
"""

import numpy as np
from scipy.sparse import coo_array

import gibbsppl.language as gp


def nan_in_observed():
    """y: found nan at position (1,); expected finite numbers: mark missing entries by
    missing=numpy.nan, a numpy masked array, None, or as pandas does.
    """
    with gp.Model():
        gp.Normal("y", 0, sigma=1, dims="i", observed=[1.0, float("nan")])


def infinity_in_data():
    """x: found inf at position (1,); expected finite numbers: mark missing entries by
    missing=numpy.nan, a numpy masked array, None, or as pandas does.
    """
    with gp.Model():
        gp.Data("x", [1.0, float("inf")], dims="i")


def masked_data():
    """x: the entry at position (1,) is missing; data must be complete: leave these rows out of the
    table, or draw what is missing: let the array be observed= of a distribution of its own, and use
    that variable in its place.
    """
    with gp.Model():
        gp.Data("x", np.ma.masked_equal([1.0, -9.0], -9), dims="i")


def sparse_data():
    """x: found a sparse matrix; sparse data are not read yet: pass .toarray(), or the stored
    entries as a long table with gp.Index for rows and columns.
    """
    with gp.Model():
        gp.Data("x", coo_array(np.eye(2)), dims=("i", "k"))


def text_as_data():
    """x: found values of type <U1; expected real numbers in a rectangular array: convert them
    first.
    """
    with gp.Model():
        gp.Data("x", ["a", "b"], dims="i")


def mask_of_the_wrong_shape():
    """y: missing= is an array of bool and shape (1,); expected the value that stands for missing,
    or booleans of shape (2,).
    """
    with gp.Model():
        gp.Normal("y", 0, sigma=1, dims="i", observed=[1.0, 2.0], missing=[True])


def negative_count():
    """x: found -1 at position pump=b (and 1 more); expected a whole number in {0..oo}: correct the
    value, or choose a distribution that can have it.
    """
    with gp.Model(coords={"pump": ["a", "b", "c"]}):
        gp.Poisson("x", 2, dims="pump", observed=[3, -1, -2])


def count_that_is_not_whole():
    """x: found 3.5 at position i=0; expected a whole number in {0..oo}: correct the value, or
    choose a distribution that can have it.
    """
    with gp.Model():
        gp.Poisson("x", 2, dims="i", observed=[3.5, 1])


def more_successes_than_trials():
    """x: found 4 at position i=1; expected a whole number in {0..n[i]}: correct the value, or
    choose a distribution that can have it.
    """
    with gp.Model():
        n = gp.Data("n", [5, 3], dims="i")
        gp.Binomial("x", n, 0.5, dims="i", observed=[4, 4])


def label_beyond_its_dimension():
    """w: found 4 at position i=1; expected a whole number in {0..3}: correct the value, or choose
    a distribution that can have it.
    """
    with gp.Model(coords={"word": 4, "topic": 2}):
        phi = gp.Dirichlet("phi", 1, dims=("topic", "word"), event="word")
        gp.Categorical("w", phi.at("topic", 0), dims="i", observed=[1, 4])


def negative_value_of_a_positive_variable():
    """x: found -0.5 at position i=1; expected a number in (0, oo): correct the value, or choose a
    distribution that can have it.
    """
    with gp.Model():
        gp.Gamma("x", 1, rate=1, dims="i", observed=[1.0, -0.5])


def value_beyond_a_truncation():
    """x: found 3 at position i=1; expected a number in (0, 2): correct the value, or choose a
    distribution that can have it.
    """
    with gp.Model():
        gp.Normal("x", 0, sigma=1, lower=0, upper=2, dims="i", observed=[1.0, 3.0])


def shares_that_do_not_sum_to_one():
    """p: found [0.5, 0.4] at position i=1; expected probabilities of sum one: correct the value,
    or choose a distribution that can have it.
    """
    with gp.Model(coords={"k": 2}):
        gp.Dirichlet("p", 1, dims=("i", "k"), event="k", observed=[[0.5, 0.5], [0.5, 0.4]])


def counts_of_another_total():
    """x: found [4, 5]; expected counts of sum 10: correct the value, or choose a distribution that
    can have it.
    """
    with gp.Model(coords={"k": 2}):
        gp.Multinomial("x", 10, 0.5, dims="k", observed=[4, 5])


def counts_with_one_missing():
    """x: the value is partly missing; a value of Multinomial is observed whole or not at all: mask
    all of it.
    """
    with gp.Model(coords={"k": 2}):
        observed = np.ma.masked_equal([4, -1], -1)
        gp.Multinomial("x", 10, 0.5, dims="k", observed=observed)


def observed_matrix_that_is_not_positive_definite():
    """S: found [[1, 2], [2, 1]]; expected a symmetric positive definite matrix: correct
    the value, or choose a distribution that can have it.
    """
    with gp.Model(coords={"k": 2}):
        v = gp.Data("V", np.eye(2), dims=("k", "k'"))
        gp.Wishart("S", 3, V=v, dims=("k", "k'"), observed=[[1.0, 2.0], [2.0, 1.0]])


def observed_that_is_latent():
    """y: observed=x; expected an array, or a gp.Data with the dims ()."""
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)
        gp.Normal("y", 0, sigma=1, observed=x)


def index_beyond_its_dimension():
    """group: found 8 at position (1,); expected whole numbers from 0 to 7, the positions along
    'school': count from 0.
    """
    with gp.Model(coords={"school": 8}):
        gp.Index("group", [1, 8], of="school", dims="student")


def index_counted_from_one():
    """group: found 2 at position (1,); expected whole numbers from 0 to 1, the positions along
    'school': count from 0.
    """
    with gp.Model(coords={"school": 2}):
        gp.Index("group", [1, 2, 2], of="school", dims="student")


def index_that_is_not_whole():
    """group: found 0.5 at position (0,); expected whole numbers from 0 to 1, the positions along
    'school': count from 0.
    """
    with gp.Model(coords={"school": 2}):
        gp.Index("group", [0.5, 1], of="school", dims="student")


def index_of_an_unknown_dimension():
    """group: unknown dimension 'scool'; known are school: add it to the model's coords, or declare
    data along it before.
    """
    with gp.Model(coords={"school": 2}):
        gp.Index("group", [0, 1], of="scool", dims="student")


def simplex_with_a_share_where_none_can_be():
    """p: found 0.5 at position k=2; expected 0, as a is 0 there: correct the value, or choose a
    distribution that can have it.
    """
    with gp.Model(coords={"k": 3}):
        a = gp.Data("a", [1.0, 2.0, 0.0], dims="k")
        gp.Dirichlet("p", a, dims="k", observed=[0.2, 0.3, 0.5])


def event_that_is_no_event():
    """t: event= has 2 at position (1,); expected 1 (seen exactly) or 0: correct it."""
    with gp.Model():
        times = [1.0, 2.0]
        gp.Censored("t", gp.Exponential(rate=1), event=[1, 2], dims="i", observed=times)


def censored_value_outside_of_its_bounds():
    """y: observed= has 2 at position (1,); expected a value between lower= and upper=: correct
    it.
    """
    with gp.Model():
        normal = gp.Normal(0, sigma=1)
        gp.Censored("y", normal, event=[1, 0], lower=0, upper=1, dims="i", observed=[5.0, 2.0])


def censored_without_values():
    """y: a censored variable without values; give observed=, with the bound in the place of a
    value that is censored.
    """
    with gp.Model():
        gp.Censored("y", gp.Normal(0, sigma=1), upper=1)


def censored_with_missing_values():
    """y: some values are missing; expected a value or a bound for each: leave the missing ones
    out (they tell nothing).
    """
    with gp.Model():
        y = np.ma.masked_equal([1.0, -9.0], -9)
        gp.Censored("y", gp.Normal(0, sigma=1), upper=1, dims="i", observed=y)


def censored_value_outside_the_support():
    """y: found -1 at position i=0; expected a number in (0, oo): correct the value, or choose a
    distribution that can have it.
    """
    with gp.Model():
        gp.Censored("y", gp.Exponential(rate=1), event=[1, 0], dims="i", observed=[-1.0, 2.0])
