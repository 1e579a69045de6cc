"""Labels, gates and whole numbers."""

import numpy as np

import gibbsppl as gp
from forms.form import Form, codes, numbers

Y = np.r_[numbers(8) - 2, numbers(6, seed=5) / 2 + 3]


def mixture():
    with gp.Model(coords={"k": 2, "n": 14}) as m:
        w = gp.Dirichlet("w", 1, dims="k")
        mu = gp.Normal("mu", 0, sigma=5, dims="k")
        tau = gp.Gamma("tau", 1, rate=1, dims="k")
        z = gp.Categorical("z", w, dims="n")
        gp.Normal("y", mu[z], tau=tau[z], dims="n", observed=Y)
    return m


def topics():
    with gp.Model(coords={"doc": 3, "topic": 2, "vocab": 5, "token": 24}) as m:
        doc = gp.Index("doc_of", codes(24, 3), of="doc", dims="token")
        theta = gp.Dirichlet("theta", 0.5, dims=("doc", "topic"), event="topic")
        phi = gp.Dirichlet("phi", 0.5, dims=("topic", "vocab"), event="vocab")
        z = gp.Categorical("z", theta[doc], dims="token", event="topic")
        gp.Categorical("word", phi[z], dims="token", event="vocab", observed=codes(24, 5, seed=8))
    return m


def label_of_a_label():
    with gp.Model(coords={"a": 2, "b": 3, "n": 10}) as m:
        w = gp.Dirichlet("w", 1, dims="a")
        P = gp.Dirichlet("P", 1, dims=("a", "b"), event="b")
        mu = gp.Normal("mu", 0, tau=1, dims="b")
        u = gp.Categorical("u", w, dims="n")
        v = gp.Categorical("v", P[u], dims="n", event="b")
        gp.Normal("y", mu[v], tau=2, dims="n", observed=numbers(10))
    return m


def label_and_index():
    with gp.Model(coords={"k": 2, "g": 3, "n": 14}) as m:
        group = gp.Index("group", codes(14, 3), of="g", dims="n")
        mu = gp.Normal("mu", 0, tau=1, dims=("g", "k"))
        w = gp.Dirichlet("w", 1, dims="k")
        z = gp.Categorical("z", w, dims="n")
        gp.Normal("y", mu[group, z], tau=2, dims="n", observed=Y)
    return m


def label_of_a_group():
    with gp.Model(coords={"k": 2, "g": 4, "n": 14}) as m:
        group = gp.Index("group", codes(14, 4), of="g", dims="n")
        w = gp.Dirichlet("w", 1, dims="k")
        mu = gp.Normal("mu", 0, tau=0.2, dims="k")
        z = gp.Categorical("z", w, dims="g")
        gp.Normal("y", mu[z[group]], tau=2, dims="n", observed=Y)
    return m


def gates():
    with gp.Model(coords={"n": 14}) as m:
        p = gp.Beta("p", 1, 1)
        theta = gp.Normal("theta", 0, tau=0.1, dims="n")
        z = gp.Bernoulli("z", p, dims="n")
        gp.Normal("y", z * theta, tau=2, dims="n", observed=Y)
    return m


def one_gate():
    with gp.Model() as m:
        theta = gp.Normal("theta", 0, tau=0.1)
        z = gp.Bernoulli("z", 0.3)
        gp.Normal("y", z * theta, tau=2, dims="n", observed=Y)
    return m


def variable_selection():
    with gp.Model(coords={"n": 14, "p": 3}) as m:
        design = gp.Data("X", numbers(14, 3), dims=("n", "p"))
        gate = gp.Bernoulli("gate", 0.5, dims="p")
        beta = gp.Normal("beta", 0, tau=1, dims="p")
        gp.Normal("y", design @ (gate * beta), tau=1, dims="n", observed=Y)
    return m


def choice():
    with gp.Model(coords={"n": 14}) as m:
        a, b = gp.Normal("a", 0, tau=0.1), gp.Normal("b", 1, tau=0.1)
        z = gp.Bernoulli("z", 0.4, dims="n")
        gp.Normal("y", gp.where(z, a, b), tau=2, dims="n", observed=Y)
    return m


def label_in_arithmetic():
    with gp.Model(coords={"n": 14}) as m:
        step = gp.Normal("step", 0, tau=0.1)
        z = gp.DiscreteUniform("z", -1, 2, dims="n")
        gp.Normal("y", step * z, tau=2, dims="n", observed=Y)
    return m


def small_binomial():
    with gp.Model(coords={"n": 5}) as m:
        p = gp.Beta("p", 2, 2)
        k = gp.Binomial("k", 3, p, dims="n")
        gp.Normal("y", k, tau=1, dims="n", observed=[0.2, 1.1, 3.3, 2.0, 0.9])
    return m


def discrete_uniform():
    with gp.Model() as m:
        total = gp.DiscreteUniform("total", 3, 9)
        gp.Binomial("x", total, 0.5, dims="n", observed=[3, 2, 3])
    return m


def unknown_counts():
    with gp.Model(coords={"n": 6}) as m:
        lam = gp.Gamma("lam", 2, rate=1)
        N = gp.Poisson("N", rate=lam, dims="n")
        gp.Binomial("y", N, 0.4, dims="n", observed=[1, 2, 0, 3, 1, 1])
    return m


def zero_inflated():
    with gp.Model(coords={"n": 8}) as m:
        lam = gp.Gamma("lam", 2, rate=1)
        z = gp.Bernoulli("z", 0.6, dims="n")
        gp.Poisson("y", rate=lam * z + 0.01, dims="n", observed=[0, 0, 3, 2, 0, 5, 0, 1])
    return m


def ising():
    with gp.Model(coords={"row": 3, "column": 3}) as m:
        s = gp.Bernoulli("s", 0.5, dims=("row", "column"))
        x = 2 * s - 1
        gp.Potential("down", 0.4 * x * x.lag("row", 1))
        gp.Potential("across", 0.4 * x * x.lag("column", 1))
    return m


def ising_pairs():
    """Four spins, few enough to enumerate."""
    with gp.Model(coords={"row": 2, "column": 2}) as m:
        s = gp.Bernoulli("s", 0.3, dims=("row", "column"))
        x = 2 * s - 1
        gp.Potential("down", 0.6 * x * x.lag("row", 1))
        gp.Potential("across", -0.5 * x * x.lag("column", 1))
    return m


def potts():
    with gp.Model(coords={"site": 4, "colour": 3}) as m:
        flat = gp.Data("flat", [0.3, 0.3, 0.4], dims="colour")
        z = gp.Categorical("z", flat, dims="site", event="colour")
        gp.Potential("same", 0.7 * gp.equals(z, z.lag("site", 1)))
    return m


def labelled_multinomial():
    with gp.Model(coords={"k": 2, "w": 3, "n": 4}) as m:
        pi = gp.Dirichlet("pi", 1, dims="k")
        phi = gp.Dirichlet("phi", 1, dims=("k", "w"), event="w")
        z = gp.Categorical("z", pi, dims="n")
        table = [[2, 2, 1], [0, 1, 4], [3, 2, 0], [1, 1, 3]]
        gp.Multinomial("x", 5, phi[z], dims=("n", "w"), event="w", observed=table)
    return m


FORMS = (
    Form(mixture, {"z": "labels", "w": "Dirichlet", "mu": "Normal", "tau": "Gamma"}),
    Form(topics, {"z": "labels", "theta": "Dirichlet", "phi": "Dirichlet"}),
    Form(
        label_of_a_label,
        {"u": "labels", "v": "labels", "w": "Dirichlet", "P": "Dirichlet", "mu": "Normal"},
    ),
    Form(label_and_index, {"z": "labels", "mu": "Normal", "w": "Dirichlet"}),
    Form(label_of_a_group, {"z": "labels", "mu": "Normal", "w": "Dirichlet"}),
    Form(gates, {"z": "Bernoulli", "theta": "Normal", "p": "Beta"}),
    Form(one_gate, {"z": "Bernoulli", "theta": "Normal"}),
    Form(variable_selection, {"gate": "each Bernoulli", "beta": "block MvNormal"}),
    Form(choice, {"z": "labels", "a": "Normal", "b": "Normal"}),
    Form(label_in_arithmetic, {"z": "labels", "step": "Normal"}),
    Form(small_binomial, {"k": "labels", "p": "Beta"}),
    Form(discrete_uniform, {"total": "labels"}),
    Form(unknown_counts, {"N": "Poisson", "lam": "Gamma"}),
    Form(zero_inflated, {"z": "labels", "lam": "concave"}),
    Form(ising, {"s": "each Bernoulli"}),
    Form(potts, {"z": "chain"}, blocks={}),
    Form(labelled_multinomial, {"z": "labels", "pi": "Dirichlet", "phi": "Dirichlet"}),
)
