"""Parameters: how they are named, and their values.

Each function declares a bad model; its docstring is the message that it must give.
"""

import gibbsppl.language as gp


def standard_deviation_by_position():
    """x: positional value 2 of Normal could be tau or sigma or var; a parameterisation is always
    named: write tau=... or sigma=... or var=....
    """
    with gp.Model():
        gp.Normal("x", 0, 1)


def rate_by_position():
    """x: positional value 2 of Gamma could be rate or mu or scale; a parameterisation is always
    named: write rate=... or mu=... or scale=....
    """
    with gp.Model():
        gp.Gamma("x", 1, 2)


def rate_or_scale_by_position():
    """x: positional value 1 of Exponential could be rate or scale; a parameterisation is always
    named: write rate=... or scale=....
    """
    with gp.Model():
        gp.Exponential("x", 2)


def too_many_positions():
    """x: 3 positional values for Beta, which takes (a, b) or (mu, kappa); name the parameters."""
    with gp.Model():
        gp.Beta("x", 1, 2, 3)


def unknown_parameter():
    """x: Normal with the parameters mu, sd; expected (mu, tau) or (mu, sigma) or (mu, var). Did you
    mean sigma where sd is written?
    """
    with gp.Model():
        gp.Normal("x", 0, sd=1)


def two_scales_at_once():
    """x: Normal with the parameters mu, sigma, tau; expected (mu, tau) or (mu, sigma) or (mu,
    var).
    """
    with gp.Model():
        gp.Normal("x", 0, sigma=1, tau=1)


def missing_parameter():
    """x: Gamma with the parameters shape; expected (shape, rate) or (shape, scale) or (mu, shape)
    or (mu, sigma).
    """
    with gp.Model():
        gp.Gamma("x", 1)


def parameter_twice():
    """x: Normal got mu twice, by position and by name; drop one."""
    with gp.Model():
        gp.Normal("x", 0, mu=0, sigma=1)


def negative_precision():
    """x: tau: found -1; expected a number in (0, oo): correct the value, or choose a distribution
    that can have it.
    """
    with gp.Model():
        gp.Normal("x", 0, tau=-1)


def zero_standard_deviation_in_data():
    """x: sigma: found 0 at position i=1; expected a number in (0, oo): correct the value, or
    choose a distribution that can have it.
    """
    with gp.Model():
        s = gp.Data("s", [1.0, 0.0, 2.0], dims="i")
        gp.Normal("x", 0, sigma=s, dims="i")


def probability_above_one():
    """x: p: found 1.5; expected a number in (0, 1): correct the value, or choose a distribution
    that can have it.
    """
    with gp.Model():
        gp.Bernoulli("x", 1.5)


def probabilities_that_do_not_sum_to_one():
    """z: p: found [0.5, 0.3, 0.1]; expected probabilities of sum one: correct the value, or choose
    a distribution that can have it.
    """
    with gp.Model(coords={"k": 3}):
        p = gp.Data("p", [0.5, 0.3, 0.1], dims="k")
        gp.Categorical("z", p)


def probabilities_of_one_row_that_do_not_sum_to_one():
    """z: p: found [0.5, 0.6] at position i=1; expected probabilities of sum one: correct the
    value, or choose a distribution that can have it.
    """
    with gp.Model(coords={"k": 2}):
        p = gp.Data("p", [[0.5, 0.5], [0.5, 0.6]], dims=("i", "k"))
        gp.Categorical("z", p, dims="i")


def matrix_that_is_not_positive_definite():
    """x: cov: found [[1, 2], [2, 1]]; expected a symmetric positive definite matrix:
    correct the value, or choose a distribution that can have it.
    """
    with gp.Model(coords={"k": 2}):
        s = gp.Data("S", [[1.0, 2.0], [2.0, 1.0]], dims=("k", "k'"))
        gp.MvNormal("x", 0, cov=s, dims="k")


def matrix_that_is_not_symmetric():
    """x: cov: found [[1.0, 0.5], [0.1, 1.0]]; expected a symmetric positive definite matrix:
    correct the value, or choose a distribution that can have it.
    """
    with gp.Model(coords={"k": 2}):
        s = gp.Data("S", [[1.0, 0.5], [0.1, 1.0]], dims=("k", "k'"))
        gp.MvNormal("x", 0, cov=s, dims="k")


def number_of_trials_that_is_not_whole():
    """x: n: found 2.5; expected a whole number in {0..oo}: correct the value, or choose a
    distribution that can have it.
    """
    with gp.Model():
        gp.Binomial("x", 2.5, 0.5)


def bounds_in_the_wrong_order():
    """x: its lower bound 3 is not below its upper bound 1; give the bounds in order."""
    with gp.Model():
        gp.Uniform("x", 3, 1)


def truncation_in_the_wrong_order():
    """x: its lower bound 2 is not below its upper bound 1; give the bounds in order."""
    with gp.Model():
        gp.Normal("x", 0, sigma=1, lower=2, upper=1)


def truncation_of_a_vector():
    """p: lower= truncates, but Dirichlet has no distribution function in closed form; truncation
    is not supported there: leave the bound out.
    """
    with gp.Model(coords={"k": 2}):
        gp.Dirichlet("p", 1, dims="k", lower=0.1)


def infinite_parameter():
    """x: parameter mu: found the number inf; expected a finite one."""
    with gp.Model():
        gp.Normal("x", float("inf"), sigma=1)


def parameter_that_is_text():
    """x: parameter mu: found 'mu'; expected a number or a tensor of the model (a distribution
    becomes one when it is given a name).
    """
    with gp.Model():
        gp.Normal("x", mu="mu", sigma=1)


def number_outside_the_reals():
    """expression of 0: its value is zoo; expected a finite real number."""
    with gp.Model():
        gp.log(0)


def precision_that_may_be_negative():
    """y: tau is x, a variable on the real line, and must be a number in (0, oo); give x a prior
    there, or transform it, as in gp.exp(x).
    """
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)
        gp.Normal("y", 0, tau=x)


def negative_entry_of_a_simplex_parameter():
    """p: a: found -1; expected a number in (0, oo): correct the value, or choose a distribution
    that can have it.
    """
    with gp.Model(coords={"k": 2}):
        gp.Dirichlet("p", gp.Data("a", [1.0, -1.0], dims="k"), dims="k")


def simplex_without_a_possible_entry():
    """p: a: all entries at position row=1 are 0; expected a positive one: 0 says that an entry
    is impossible, and one at least is not.
    """
    with gp.Model(coords={"row": 2, "k": 2}):
        a = gp.Data("a", [[1.0, 0.0], [0.0, 0.0]], dims=("row", "k"))
        gp.Dirichlet("p", a, dims=("row", "k"), event="k")


def misspelled_parameter():
    """x: Normal with the parameters mu, sgima; expected (mu, tau) or (mu, sigma) or (mu, var).
    Did you mean sigma where sgima is written?
    """
    with gp.Model():
        gp.Normal("x", 0, sgima=1)


def misspelled_option():
    """x: Normal with the parameters mu, observd, sigma; expected (mu, tau) or (mu, sigma) or
    (mu, var). Did you mean observed where observd is written?
    """
    with gp.Model():
        gp.Normal("x", 0, sigma=1, observd=2.0)


def constraint_that_is_no_comparison():
    """order: found a - b; expected a comparison, such as a < b, or a product of comparisons,
    which is 1 where the constraint holds and 0 elsewhere.
    """
    with gp.Model():
        a, b = gp.Normal("a", 0, sigma=1), gp.Normal("b", 0, sigma=1)
        gp.Constraint("order", a - b)


def constraint_on_data():
    """order: Below(x, 2) depends on no variable; a constraint is on variables: check data
    before the model is declared.
    """
    with gp.Model():
        x = gp.Data("x", 1.0)
        gp.Constraint("order", x < 2)


def censored_with_a_latent_limit():
    """y: upper is limit, which is not known; expected numbers or data, by which to tell what is
    censored: give it as gp.Data.
    """
    with gp.Model():
        limit = gp.Normal("limit", 5, sigma=1)
        gp.Censored("y", gp.Normal(0, sigma=1), upper=limit, dims="i", observed=[1.0, 2.0])


def censored_where_the_support_is_unknown():
    """y: a bound of its support is top, which is not known; expected numbers or data, by which
    to tell what is censored: give it as gp.Data.
    """
    with gp.Model():
        top = gp.Pareto("top", 2, minimum=1)
        gp.Censored("y", gp.Uniform(0, top), event=[1, 0], dims="i", observed=[0.5, 0.6])


def censored_without_a_distribution_function():
    """y: Categorical has no distribution function in closed form, so its values cannot be
    censored: choose another distribution.
    """
    with gp.Model(coords={"k": 2}):
        gp.Censored("y", gp.Categorical(0.5, event="k"), upper=1, dims="i", observed=[1, 0])


def censored_variable_in_the_place_of_a_distribution():
    """y: censored x; expected a distribution without a name, as in gp.Censored("y",
    gp.Exponential(rate=rate), ...).
    """
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)
        gp.Censored("y", x, upper=5, observed=1.0)


def censored_by_nothing():
    """y: nothing says which values are censored; give event= (1: seen exactly), or a detection
    limit as lower= or upper=.
    """
    with gp.Model():
        gp.Censored("y", gp.Normal(0, sigma=1), dims="i", observed=[1.0, 2.0])


def detection_limit_outside_the_support():
    """y: lower= has 0 at position (0,); expected a limit inside (0, oo), where values can be on
    both sides of it: correct it.
    """
    with gp.Model():
        gp.Censored("y", gp.Exponential(rate=1), lower=0, dims="i", observed=[1.0, 2.0])


def detection_limits_out_of_order():
    """y: lower= has 2 at position (0,); expected a limit below upper=: correct it."""
    with gp.Model():
        normal = gp.Normal(0, sigma=1)
        gp.Censored("y", normal, lower=2, upper=1, dims="i", observed=[1.0, 2.0])


def interval_out_of_order():
    """y: lower= has 2 at position (0,); expected a bound below upper=: correct it."""
    with gp.Model():
        normal = gp.Normal(0, sigma=1)
        gp.Censored("y", normal, event=0, lower=2, upper=1, dims="i", observed=[1.0, 2.0])


def too_few_degrees_of_freedom_for_a_matrix():
    """S: nu: found 1; expected a number in (2, oo): correct the value, or choose a distribution
    that can have it.
    """
    with gp.Model(coords={"k": 3}):
        v = gp.Data("v", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], dims=("k", "k'"))
        gp.Wishart("S", 1, V=v, dims=("k", "k'"))


def degrees_of_freedom_that_may_be_too_few_for_a_matrix():
    """S: nu is nu, a variable on (0, oo), and must be a number in (1, oo); give nu a prior there,
    or transform it, as in gp.exp(nu) + 1.
    """
    with gp.Model(coords={"k": 2}):
        v = gp.Data("v", [[1.0, 0.0], [0.0, 1.0]], dims=("k", "k'"))
        gp.InverseWishart("S", gp.Gamma("nu", 2, rate=1), S=v, dims=("k", "k'"))


def covariance_of_entries_drawn_apart():
    """x: cov is Q[k, k'], whose entries are drawn apart, on the real line: such a matrix is not
    symmetric; expected a symmetric positive definite matrix: give Q a gp.Wishart or
    gp.InverseWishart prior, or make one of what is drawn, as in scale**2 * correlations."""
    with gp.Model(coords={"k": 2, "n": 3}):
        entries = gp.Normal("Q", 0, sigma=1, dims=("k", "k'"))
        gp.MvNormal("x", 0, cov=entries, dims=("n", "k"), event="k", observed=[[1.0, 1.0]] * 3)
