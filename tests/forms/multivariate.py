"""Vectors and matrices."""

import numpy as np

import gibbsppl as gp
from forms.form import Form, codes, numbers

SQUARE = ("k", "k'")
R = np.array([[1.0, 0.3], [0.3, 2.0]])


def bivariate():
    with gp.Model(coords={"k": 2}) as m:
        tau = gp.Data("tau", np.linalg.inv([[1, 0.8], [0.8, 1]]), dims=SQUARE)
        mu = gp.Data("mu", [0.0, 1.0], dims="k")
        gp.MvNormal("x", mu, tau=tau, dims="k", event="k")
    return m


def bivariate_by_element():
    return bivariate()


def covariance():
    with gp.Model(coords={"k": 2}) as m:
        cov = gp.Data("cov", np.array([[1, 0.8], [0.8, 1]]), dims=SQUARE)
        gp.MvNormal("x", 0, cov=cov, dims="k", event="k")
    return m


def covariance_by_element():
    return covariance()


def wishart():
    with gp.Model(coords={"k": 2, "n": 20}) as m:
        scale = gp.Data("R", R, dims=SQUARE)
        L = gp.Wishart("L", 3, R=scale, dims=SQUARE, event=SQUARE)
        mu = gp.MvNormal("mu", 0, tau=scale, dims="k", event="k")
        gp.MvNormal("x", mu, tau=L, dims=("n", "k"), event="k", observed=numbers(20, 2))
    return m


def inverse_wishart():
    with gp.Model(coords={"k": 2, "n": 20}) as m:
        scale = gp.Data("R", R, dims=SQUARE)
        S = gp.InverseWishart("S", 5, scale, dims=SQUARE, event=SQUARE)
        mu = gp.MvNormal("mu", 0, tau=scale, dims="k", event="k")
        gp.MvNormal("x", mu, cov=S, dims=("n", "k"), event="k", observed=numbers(20, 2))
    return m


def groups_of_vectors():
    with gp.Model(coords={"g": 3, "k": 2, "n": 12}) as m:
        scale = gp.Data("R", R, dims=SQUARE)
        group = gp.Index("group", codes(12, 3), of="g", dims="n")
        mu = gp.MvNormal("mu", 0, tau=scale, dims="k", event="k")
        L = gp.Wishart("L", 3, R=scale, dims=SQUARE, event=SQUARE)
        b = gp.MvNormal("b", mu, tau=L, dims=("g", "k"), event="k")
        x = gp.Data("x", numbers(12, 2), dims=("n", "k"))
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", (b[group] * x).sum("k"), tau=tau, dims="n", observed=numbers(12, seed=4))
    return m


def mixture_of_vectors():
    with gp.Model(coords={"c": 2, "k": 2, "n": 10}) as m:
        scale = gp.Data("R", R, dims=SQUARE)
        w = gp.Dirichlet("w", 1, dims="c")
        mu = gp.MvNormal("mu", 0, tau=scale, dims=("c", "k"), event="k")
        z = gp.Categorical("z", w, dims="n")
        gp.MvNormal("x", mu[z], tau=scale, dims=("n", "k"), event="k", observed=numbers(10, 2))
    return m


def matrix_per_group():
    with gp.Model(coords={"c": 2, "k": 2, "n": 10}) as m:
        scale = gp.Data("R", R, dims=SQUARE)
        group = gp.Index("group", codes(10, 2), of="c", dims="n")
        L = gp.Wishart("L", 3, R=scale, dims=("c", *SQUARE), event=SQUARE)
        gp.MvNormal("x", 0, tau=L[group], dims=("n", "k"), event="k", observed=numbers(10, 2))
    return m


def scaled_matrix():
    with gp.Model(coords={"k": 2, "n": 10}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        scale = gp.Data("R", R, dims=SQUARE)
        gp.MvNormal("x", 0, tau=tau * scale, dims=("n", "k"), event="k", observed=numbers(10, 2))
    return m


def missing_entries():
    x = np.ma.masked_array(numbers(5, 2), mask=[[0, 1], [0, 0], [1, 1], [0, 0], [1, 0]])
    with gp.Model(coords={"k": 2, "n": 5}) as m:
        tau = gp.Data("tau", R, dims=SQUARE)
        mu = gp.MvNormal("mu", 0, tau=tau, dims="k", event="k")
        gp.MvNormal("x", mu, tau=tau, dims=("n", "k"), event="k", observed=x)
    return m


def mean_shared_by_entries():
    with gp.Model(coords={"k": 2, "n": 5}) as m:
        tau = gp.Data("tau", R, dims=SQUARE)
        mu = gp.Normal("mu", 0, tau=1)
        gp.MvNormal("x", mu, tau=tau, dims=("n", "k"), event="k", observed=numbers(5, 2))
    return m


def labels_of_covariances(prior=gp.InverseWishart, **of):
    """The label is read as the index of a matrix alone."""
    with gp.Model(coords={"g": 2, "k": 2, "n": 6}) as m:
        scale = gp.Data("V", R, dims=SQUARE)
        matrix = prior("S", nu=4, **{of.get("scale", "S"): scale}, dims=("g", *SQUARE))
        z = gp.Categorical("z", gp.Data("half", [0.5, 0.5], dims="g"), dims="n", event="g")
        told = {of.get("as_", "cov"): matrix[z]}
        gp.MvNormal("y", 0, **told, dims=("n", "k"), event="k", observed=numbers(6, 2))
    return m


def labels_of_precisions():
    return labels_of_covariances(gp.Wishart, scale="V", as_="tau")


FORMS = (
    Form(labels_of_covariances, {"S": "InverseWishart", "z": "labels"}),
    Form(labels_of_precisions, {"S": "Wishart", "z": "labels"}),
    Form(bivariate, {"x": "block MvNormal"}),
    Form(bivariate_by_element, {"x": "each Normal"}, blocks={"x": "elements"}),
    Form(covariance, {"x": "block MvNormal"}),
    Form(covariance_by_element, {"x": "each Normal"}, blocks={"x": "elements"}),
    Form(wishart, {"L": "Wishart", "mu": "block MvNormal"}),
    Form(inverse_wishart, {"S": "InverseWishart", "mu": "block MvNormal"}),
    Form(
        groups_of_vectors,
        {"mu": "block MvNormal", "L": "Wishart", "b": "block MvNormal", "tau": "Gamma"},
    ),
    Form(mixture_of_vectors, {"w": "Dirichlet", "mu": "block MvNormal", "z": "labels"}),
    Form(matrix_per_group, {"L": "Wishart"}),
    Form(scaled_matrix, {"tau": "Gamma"}),
    Form(missing_entries, {"mu": "block MvNormal", "x": "each Normal"}),
    Form(mean_shared_by_entries, {"mu": "Normal"}),
)
