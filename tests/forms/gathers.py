"""Latent arrays read through indices: by data, nested, by two, by labels."""

import numpy as np

import gibbsppl as gp
from forms.form import Form, codes, numbers

N = 24


def long_table():
    with gp.Model(coords={"g": 5, "n": N}) as m:
        group = gp.Index("group", codes(N, 5), of="g", dims="n")
        x = gp.Data("x", numbers(N), dims="n")
        a = gp.Normal("a", 0, tau=0.1, dims="g")
        b = gp.Normal("b", 0, tau=0.1, dims="g")
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", a[group] + b[group] * x, tau=tau, dims="n", observed=numbers(N, seed=5))
    return m


def group_without_data():
    with gp.Model(coords={"g": 4, "n": 6}) as m:
        group = gp.Index("group", [0, 0, 1, 1, 3, 3], of="g", dims="n")
        theta = gp.Normal("theta", 1, tau=2, dims="g")
        tau = gp.Gamma("tau", 2, rate=1, dims="g")
        gp.Normal("y", theta[group], tau=tau[group], dims="n", observed=numbers(6))
    return m


def nested():
    with gp.Model(coords={"region": 2, "school": 4, "student": N}) as m:
        region = gp.Index("region_of", [0, 1, 1, 0], of="region", dims="school")
        school = gp.Index("school_of", codes(N, 4), of="school", dims="student")
        mu = gp.Normal("mu", 0, tau=0.1, dims="region")
        theta = gp.Normal("theta", mu[region], tau=1, dims="school")
        shift = gp.Normal("shift", 0, tau=1, dims="region")
        gp.Normal(
            "y", theta[school] + shift[region[school]], tau=2, dims="student", observed=numbers(N)
        )
    return m


def by_two_indices():
    with gp.Model(coords={"row": 3, "column": 4, "n": N}) as m:
        row = gp.Index("row_of", codes(N, 3), of="row", dims="n")
        column = gp.Index("column_of", codes(N, 4, seed=9), of="column", dims="n")
        theta = gp.Normal("theta", 0, tau=1, dims=("row", "column"))
        gp.Normal("y", theta[row, column], tau=2, dims="n", observed=numbers(N))
    return m


def one_axis_of_two():
    with gp.Model(coords={"row": 3, "column": 4, "n": N}) as m:
        row = gp.Index("row_of", codes(N, 3), of="row", dims="n")
        theta = gp.Normal("theta", 0, tau=1, dims=("row", "column"))
        tau = gp.Gamma("tau", 1, rate=1, dims="column")
        gp.Normal("y", theta[row], tau=tau, dims=("n", "column"), observed=numbers(N, 4))
    return m


def two_children_through_different_indices():
    with gp.Model(coords={"g": 3, "n": N, "k": 7}) as m:
        first = gp.Index("first", codes(N, 3), of="g", dims="n")
        second = gp.Index("second", codes(7, 3, seed=4), of="g", dims="k")
        x = gp.Normal("x", 0, tau=1, dims="g")
        gp.Normal("y", 2 * x[first] + 1, tau=2, dims="n", observed=numbers(N))
        gp.Normal("z", -x[second], tau=3, dims="k", observed=numbers(7, seed=8))
        gp.Normal("w", x, tau=1, dims="g", observed=[0.1, 0.2, 0.3])
    return m


def paired_comparisons():
    with gp.Model(coords={"player": 5, "n": N}) as m:
        first = gp.Index("first", codes(N, 5), of="player", dims="n")
        second = gp.Index("second", codes(N, 5, seed=6), of="player", dims="n")
        x = gp.Normal("x", 0, tau=1, dims="player")
        gp.Normal("y", x[first] - x[second], tau=1, dims="n", observed=numbers(N))
    return m


def neighbours():
    with gp.Model(coords={"site": 6}) as m:
        other = gp.Index("other", [1, 2, 3, 4, 5, 0], of="site", dims="site")
        x = gp.Normal("x", 0, tau=1, dims="site")
        gp.Potential("near", -0.4 * (x - x[other]) ** 2)
        gp.Normal("y", x, tau=1, dims="site", observed=numbers(6))
    return m


def factorisation():
    with gp.Model(coords={"user": 6, "item": 5, "factor": 2, "n": 30}) as m:
        user = gp.Index("user_of", codes(30, 6), of="user", dims="n")
        item = gp.Index("item_of", codes(30, 5, seed=7), of="item", dims="n")
        U = gp.Normal("U", 0, tau=1, dims=("user", "factor"))
        V = gp.Normal("V", 0, tau=1, dims=("item", "factor"))
        gp.Normal("r", (U[user] * V[item]).sum("factor"), tau=2, dims="n", observed=numbers(30))
    return m


def factorisation_with_biases():
    with gp.Model(coords={"user": 6, "item": 5, "factor": 2, "n": 30}) as m:
        user = gp.Index("user_of", codes(30, 6), of="user", dims="n")
        item = gp.Index("item_of", codes(30, 5, seed=7), of="item", dims="n")
        mu = gp.Normal("mu", 3, tau=1)
        a = gp.Normal("a", 0, tau=1, dims="user")
        U = gp.Normal("U", 0, tau=1, dims=("user", "factor"))
        V = gp.Normal("V", 0, tau=1, dims=("factor", "item"))
        tau = gp.Gamma("tau", 2, rate=1)
        mean = mu + a[user] + (U[user] * V[item]).sum("factor")
        gp.Normal("r", mean, tau=tau, dims="n", observed=numbers(30) + 3)
    return m


def tensor_factorisation():
    dims = {"i": 3, "j": 4, "k": 2, "f": 2}
    with gp.Model(coords=dims) as m:
        A = gp.Normal("A", 0, tau=1, dims=("i", "f"))
        B = gp.Normal("B", 0, tau=1, dims=("f", "j"))
        C = gp.Normal("C", 0, tau=1, dims=("k", "f"))
        gp.Normal("y", (A * B * C).sum("f"), tau=2, dims=("i", "j", "k"), observed=numbers(3, 4, 2))
    return m


def poisson_factorisation_by_sums():
    with gp.Model(coords={"i": 3, "j": 4}) as m:
        a = gp.Gamma("a", 2, rate=1, dims="i")
        b = gp.Gamma("b", 2, rate=1, dims="j")
        gp.Poisson("y", rate=a * b, dims=("i", "j"), observed=np.arange(12).reshape(3, 4))
    return m


FORMS = (
    Form(long_table, {"a": "Normal", "b": "Normal", "tau": "Gamma"}),
    Form(group_without_data, {"theta": "Normal", "tau": "Gamma"}),
    Form(nested, {"mu": "Normal", "theta": "Normal", "shift": "Normal"}),
    Form(by_two_indices, {"theta": "Normal"}),
    Form(one_axis_of_two, {"theta": "Normal", "tau": "Gamma"}),
    Form(two_children_through_different_indices, {"x": "Normal"}),
    Form(paired_comparisons, {"x": "each Normal"}),
    Form(neighbours, {"x": "each Normal"}),
    Form(factorisation, {"U": "block MvNormal", "V": "block MvNormal"}),
    Form(
        factorisation_with_biases,
        {
            "mu": "Normal",
            "a": "Normal",
            "tau": "Gamma",
            "U": "block MvNormal",
            "V": "block MvNormal",
        },
    ),
    Form(tensor_factorisation, dict.fromkeys("ABC", "block MvNormal")),
    Form(poisson_factorisation_by_sums, {"a": "Gamma", "b": "Gamma"}),
)
