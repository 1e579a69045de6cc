"""Rao-Blackwell estimates: exact draw by draw, and better than the draws on average."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import integrate, stats
from test_parts import in_columns

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.output.draws import Draws
from gibbsppl.predict import conditional_means
from gibbsppl.predict.conditional_means import Conditionals
from gibbsppl.schedule.staleness import stale_after
from models import hidden_markov

# One in a million, for all comparisons of one test together.
LEVEL = 1e-6
# No number here is made by more operations than this, each of which rounds once.
ROUNDING = 100 * np.finfo(float).eps

Y = np.array([0.3, -1.2, 2.0, 0.8, 1.7])
X = np.array([[1.0, -0.5], [1.0, 0.2], [1.0, 1.5], [1.0, -1.1], [1.0, 0.4]])
WORDS, DOCUMENTS = np.array([0, 1, 1, 2, 1, 0, 2]), np.array([0, 0, 0, 1, 1, 1, 1])
CENTRES, B = np.array([-1.0, 1.0, 2.0]), np.array([[1.0, 2.0, 1.0], [2.0, 1.0, 1.0]])


def data(name, values, dims):
    return gp.Data(name, values, dims=dims)


# ---- models, each with what is known of its conditionals ---------------------------------------


def normal():
    with gp.Model(coords={"i": 5}, name="normal") as m:
        mu, tau = gp.Normal("mu", 1, tau=0.5), gp.Gamma("tau", 2, rate=3)
        gp.Normal("y", mu, tau=tau, dims="i", observed=Y)
    return m


def normal_means(d):
    shape, rate = 2 + 5 / 2, 3 + ((Y - d["mu"][..., None]) ** 2).sum(-1) / 2
    precision = 0.5 + 5 * d["tau"]
    return {
        "mu": ((0.5 + d["tau"] * Y.sum()) / precision, precision**-0.5),
        "tau": (shape / rate, shape**0.5 / rate),
    }


def regression():
    with gp.Model(coords={"i": 5, "p": 2}, name="regression") as m:
        beta, tau = gp.Normal("beta", 0, tau=0.1, dims="p"), gp.Gamma("tau", 2, rate=3)
        gp.Normal("y", (data("x", X, ("i", "p")) * beta).sum("p"), tau=tau, dims="i", observed=Y)
    return m


def regression_means(d):
    precision = 0.1 * np.eye(2) + d["tau"][..., None, None] * (X.T @ X)
    beta = np.linalg.solve(precision, (d["tau"][..., None] * (X.T @ Y))[..., None])[..., 0]
    sd = np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=-2, axis2=-1))
    rate = 3 + ((Y - d["beta"] @ X.T) ** 2).sum(-1) / 2
    return {"beta": (beta, sd), "tau": (4.5 / rate, 4.5**0.5 / rate)}


def slopes():
    """Blocks, one for each group, whose dims come after those of the batch in no order."""
    with gp.Model(coords={"p": 2, "g": 3, "i": 5}, name="slopes") as m:
        tau = gp.Gamma("tau", 2, rate=3)
        beta = gp.Normal("beta", 0, tau=0.1, dims=("p", "g"))
        mean = (data("x", X, ("i", "p")) * beta).sum("p")
        gp.Normal("y", mean, tau=tau, dims=("i", "g"), observed=np.outer(Y, [1, 2, 3]))
    return m


def slopes_means(d):
    precision = 0.1 * np.eye(2) + d["tau"][..., None, None] * (X.T @ X)
    right = d["tau"][..., None, None] * (X.T @ np.outer(Y, [1, 2, 3]))
    sd = np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=-2, axis2=-1))[..., None]
    return {"beta": (np.linalg.solve(precision, right), sd + np.zeros((2, 3)))}


def walk():
    """Statements of one array: a first element, then the others one by one."""
    with gp.Model(coords={"t": 5}, name="walk") as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(x.lag("t", 1), tau=2)
        gp.Normal("y", x, tau=3, dims="t", observed=Y)
    return m


def walk_means(d):
    x = d["x"]
    before = np.concatenate([np.zeros_like(x[..., :1]), x[..., :-1]], -1)
    after = np.concatenate([x[..., 1:], np.zeros_like(x[..., :1])], -1)
    left, right = np.array([1, 2, 2, 2, 2]), np.array([2, 2, 2, 2, 0])
    precision = left + right + 3
    mean = (left * before + right * after + 3 * Y) / precision
    return {"x": (mean, precision**-0.5 + np.zeros_like(mean))}


def missing():
    with gp.Model(coords={"i": 5}, name="missing") as m:
        mu = gp.Normal("mu", 0, tau=1)
        gp.Normal("y", mu, tau=4, dims="i", observed=np.ma.masked_array(Y, [0, 1, 0, 0, 1]))
    return m


def missing_means(d):
    is_known = np.array([1, 0, 1, 1, 0], bool)
    mean = np.where(is_known, Y, d["mu"][..., None])
    return {
        "y": (mean, np.where(is_known, 0.0, 0.5) + np.zeros_like(mean)),
        "mu": (4 * d["y"].sum(-1) / 21, np.full(d["mu"].shape, 21**-0.5)),
    }


def joint_means(d):
    """Of missing values together with their mean: what the values seen say of both."""
    is_known = np.array([1, 0, 1, 1, 0], bool)
    mean = np.full(d["mu"].shape, 4 * Y[is_known].sum() / 13)
    return {
        "y": (
            np.where(is_known, Y, mean[..., None]),
            np.where(is_known, 0.0, np.sqrt(1 / 4 + 1 / 13)) + np.zeros((*mean.shape, 5)),
        ),
        "mu": (mean, np.full(mean.shape, 13**-0.5)),
    }


def last_means(d):
    """Of missing values their mean; of this what the values seen say."""
    return {"y": missing_means(d)["y"], "mu": joint_means(d)["mu"]}


def topics():
    with gp.Model(coords={"doc": 2, "k": 2, "vocab": 3, "n": 7}, name="topics") as m:
        doc = gp.Index("doc_of", DOCUMENTS, of="doc", dims="n")
        theta = gp.Dirichlet("theta", 0.7, dims=("doc", "k"), event="k")
        phi = gp.Dirichlet("phi", data("b", B, ("k", "vocab")), dims=("k", "vocab"), event="vocab")
        z = gp.Categorical("z", theta[doc], dims="n")
        gp.Categorical("word", phi[z], dims="n", observed=WORDS)
    return m


def counted(z, of, sizes):
    """How many labels of each kind there are, by what they belong to."""
    one_hot = (z[..., None] == np.arange(sizes[1])).astype(float)
    return np.stack([one_hot[..., of == i, :].sum(-2) for i in range(sizes[0])], -2)


def topics_means(d):
    a = counted(d["z"], DOCUMENTS, (2, 2)) + 0.7
    b = np.swapaxes(counted(d["z"], WORDS, (3, 2)), -1, -2) + B

    def shares(a):
        total = a.sum(-1, keepdims=True)
        return a / total, np.sqrt(a * (total - a) / (total + 1)) / total

    return {"theta": shares(a), "phi": shares(b)}


def collapsed_probabilities(d):
    """T. Griffiths and M. Steyvers 2004, PNAS 101: the labels, topics integrated out."""
    z = d["z"]
    weights = np.zeros((*z.shape, 2))
    for n in range(7):
        rest = np.delete(z, n, -1)
        own = counted(rest, np.delete(DOCUMENTS, n), (2, 2))[..., DOCUMENTS[n], :]
        seen = np.swapaxes(counted(rest, np.delete(WORDS, n), (3, 2)), -1, -2) + B
        weights[..., n, :] = (own + 0.7) * seen[..., WORDS[n]] / seen.sum(-1)
    return weights / weights.sum(-1, keepdims=True)


def mixture():
    with gp.Model(coords={"i": 5, "k": ["low", "mid", "high"]}, name="mixture") as m:
        w = gp.Dirichlet("w", 1.5, dims="k", event="k")
        z = gp.Categorical("z", w, dims="i")
        gp.Normal("y", data("centre", CENTRES, "k")[z], tau=1.5, dims="i", observed=Y)
    return m


def mixture_probabilities(d):
    logs = np.log(d["w"])[..., None, :] - 1.5 * (Y[:, None] - CENTRES) ** 2 / 2
    weights = np.exp(logs - logs.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def mixture_means(d):
    p, k = mixture_probabilities(d), np.arange(3)
    mean = p @ k
    a = 1.5 + (d["z"][..., None] == k).sum(-2)
    total = a.sum(-1, keepdims=True)
    return {
        "z": (mean, np.sqrt((p * (k - mean[..., None]) ** 2).sum(-1))),
        "w": (a / total, np.sqrt(a * (total - a) / (total + 1)) / total),
    }


def beta_binomial():
    with gp.Model(coords={"i": 2}, name="coins") as m:
        p = gp.Beta("p", 2, 3, dims="i")
        gp.Binomial("heads", 10, p, dims="i", observed=[7, 1])
    return m


def beta_binomial_means(d):
    a, b, zero = np.array([9, 3]), np.array([6, 12]), np.zeros(d["p"].shape)
    return {"p": (a / 15 + zero, np.sqrt(a * b / 16) / 15 + zero)}


TOGETHER = {"unseen": False}  # missing values are drawn with all others
EXACT = {
    "normal": (normal, normal_means, {}),
    "regression": (regression, regression_means, {}),
    "slopes": (slopes, slopes_means, {}),
    "walk": (walk, walk_means, {"blocks": {"x": "elements"}}),
    "missing": (missing, missing_means, {"blocks": False, "rewrites": TOGETHER}),
    "missing, jointly": (missing, joint_means, {"rewrites": TOGETHER}),
    "missing, drawn last": (missing, last_means, {}),
    "topics": (topics, topics_means, {}),
    "topics integrated out": (topics, topics_means, {"collapse": ("theta", "phi")}),
    "mixture": (mixture, mixture_means, {}),
    "beta-binomial": (beta_binomial, beta_binomial_means, {}),
}


@cache
def sampler_of(name):
    model, _, settings = EXACT[name]
    return gp.compile(model(), **settings)


@cache
def drawn(name, chains=2, draws=20, seed=1):
    return sampler_of(name).sample(draws, warmup=20, chains=chains, seed=seed, progress=False)


# ---- draw by draw ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXACT)
def test_means_and_sds_are_those_known_of_the_conditionals(name):
    sampler, draws = sampler_of(name), drawn(name)
    expected = EXACT[name][1](draws)
    means = sampler.conditional_mean(draws, list(expected))
    sds = sampler.conditional_sd(draws, list(expected))
    for variable, (mean, sd) in expected.items():
        np.testing.assert_allclose(means[variable], mean, rtol=ROUNDING)
        np.testing.assert_allclose(sds[variable], sd, rtol=ROUNDING)
        assert means[variable].shape == draws[variable].shape
        assert means.dims_of(variable) == draws.dims_of(variable)


@pytest.mark.parametrize("name", ["normal", "topics integrated out", "mixture"])
def test_means_of_other_draws_are_seen(name, monkeypatch):
    """Planted: the state of the draw before."""
    right = conditional_means._Of._states

    def wrong(self, step, part):
        return right(self, step, [max(draw - 1, 0) for draw in part])

    monkeypatch.setattr(conditional_means._Of, "_states", wrong)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        test_means_and_sds_are_those_known_of_the_conditionals(name)


def test_chains_of_labels_are_smoothed_along_with_other_draws():
    """The probabilities of a draw are the same whatever draws there are beside it."""
    sampler = gp.compile(hidden_markov.model())
    draws = sampler.sample(4, warmup=10, chains=2, seed=1, progress=False)
    every = sampler.conditional_probabilities(draws, "z")["z"]
    for chain in range(2):
        for draw in range(4):
            values = {n: draws[n][chain : chain + 1, draw : draw + 1] for n in draws}
            one = sampler.conditional_probabilities(replace(draws, values=values), "z")["z"]
            np.testing.assert_allclose(one[0, 0], every[chain, draw], rtol=ROUNDING)


def test_draws_taken_in_parts_give_the_same(monkeypatch):
    for name in ("slopes", "mixture"):
        sampler, draws = sampler_of(name), drawn(name)
        whole = sampler.conditional_mean(draws)
        monkeypatch.setattr(conditional_means, "LARGEST", 60)
        parts = sampler.conditional_mean(draws)
        monkeypatch.undo()
        assert list(whole) == list(parts)
        for variable in whole:
            np.testing.assert_allclose(parts[variable], whole[variable], rtol=ROUNDING)


def test_probabilities_of_labels():
    found = sampler_of("mixture").conditional_probabilities(drawn("mixture"))
    assert list(found) == ["z"]
    expected = mixture_probabilities(drawn("mixture"))
    np.testing.assert_allclose(found["z"], expected, rtol=ROUNDING)
    assert found.dims_of("z") == ("i", "k")
    row = found.summary(max_rows=None)["z[4, high]"]
    assert row["mean"] == pytest.approx(expected[..., 4, 2].mean())


def test_probabilities_of_labels_with_what_they_share_integrated_out():
    name = "topics integrated out"
    found = sampler_of(name).conditional_probabilities(drawn(name), "z")
    np.testing.assert_allclose(found["z"], collapsed_probabilities(drawn(name)), rtol=ROUNDING)


def test_labels_without_a_dim_of_their_own_get_one():
    with gp.Model(coords={"i": 3}) as m:
        z = gp.Bernoulli("z", 0.3, dims="i")
        gp.Normal("y", 2 * z, sigma=1, dims="i", observed=[0.0, 1.0, 2.0])
    sampler = gp.compile(m)
    found = sampler.conditional_probabilities(sampler.sample(3, warmup=20, seed=1, progress=False))
    odds = 0.3 / 0.7 * np.exp(2 * np.arange(3.0) - 2)
    np.testing.assert_allclose(found["z"][0, 0, :, 1], odds / (1 + odds), rtol=ROUNDING)
    assert found.dims_of("z") == ("i", "z_label")


def test_labels_that_are_known_have_probability_one():
    with gp.Model(coords={"i": 3, "k": 3}) as m:
        w = gp.Dirichlet("w", 1, dims="k", event="k")
        gp.Categorical("z", w, dims="i", observed=np.ma.masked_array([2, 0, 1], [0, 1, 0]))
    sampler = gp.compile(m)
    draws = sampler.sample(5, warmup=20, chains=1, seed=1, progress=False)
    found = sampler.conditional_probabilities(draws, "z")["z"]
    assert (found[..., 0, :] == [0, 0, 1]).all()
    assert (found[..., 2, :] == [0, 1, 0]).all()
    np.testing.assert_allclose(found[..., 1, :], draws["w"], rtol=ROUNDING)


def test_a_uniform_sd_and_a_bounded_mean():
    """The precision is a truncated Gamma, its root is asked for; and a truncated normal."""
    with gp.Model(coords={"i": 5}) as m:
        sd, mu = gp.Uniform("sd", 0, 2), gp.Normal("mu", 0, tau=1, lower=0)
        gp.Normal("y", mu, sigma=sd, dims="i", observed=Y)
    sampler = gp.compile(m)
    draws = sampler.sample(5, warmup=20, chains=1, seed=1, progress=False)
    found = sampler.conditional_mean(draws)
    for n in range(5):
        squares = ((Y - draws["mu"][0, n]) ** 2).sum()
        precision = stats.gamma(2, scale=2 / squares)
        root, error = integrate.quad(lambda u, of=precision: of.pdf(u) / u**0.5, 1 / 4, np.inf)
        mass = precision.sf(1 / 4)
        assert found["sd"][0, n] == pytest.approx(root / mass, rel=0, abs=error / mass)
        tau = draws["sd"][0, n] ** -2
        centre, spread = tau * Y.sum() / (1 + 5 * tau), (1 + 5 * tau) ** -0.5
        expected = stats.truncnorm(-centre / spread, np.inf, centre, spread).mean()
        assert found["mu"][0, n] == pytest.approx(expected, rel=ROUNDING)
        sd = stats.truncnorm(-centre / spread, np.inf, centre, spread).std()
        assert sampler.conditional_sd(draws, "mu")["mu"][0, n] == pytest.approx(sd, rel=ROUNDING)


# ---- on average ------------------------------------------------------------------------------

CHAINS = 60
ESTIMATED = ["normal", "regression", "mixture", "topics integrated out"]


def chain_means(name):
    """The average of each chain, of the draws and of the means: one column per element."""
    draws = drawn(name, CHAINS, 60, 7)
    found = sampler_of(name).conditional_mean(draws)
    return [
        np.concatenate([d[n].mean(axis=1).reshape(CHAINS, -1) for n in found], axis=1)
        for d in (draws, found)
    ]


def differs(plain, better):
    """Whether the averages differ by more than chance, chains being independent."""
    gap = plain - better
    score = np.abs(gap.mean(axis=0)) / gap.std(axis=0, ddof=1) * CHAINS**0.5
    return 2 * stats.t.sf(score.max(), CHAINS - 1) * gap.shape[1] < LEVEL


def p_of_no_gain(plain, better):
    """That of the hypothesis of no smaller variance: E. Pitman and W. Morgan 1939, Biometrika 31.

    Of pairs, the sum and the difference are correlated as the first varies more than the second.
    """
    r = [np.corrcoef(a + b, a - b)[0, 1] for a, b in zip(plain.T, better.T, strict=True)]
    score = np.array(r) * np.sqrt((CHAINS - 2) / (1 - np.square(r)))
    return stats.t.sf(score, CHAINS - 2)


@pytest.mark.parametrize("name", ESTIMATED)
def test_averages_agree_with_those_of_the_draws(name):
    plain, better = chain_means(name)
    assert not differs(plain, better)
    # Planted: off by a fifth of a posterior standard deviation.
    draws = drawn(name, CHAINS, 60, 7)
    first = next(iter(sampler_of(name).conditional_mean(draws)))
    assert differs(plain, better + draws[first].std() / 5)


@pytest.mark.parametrize("name", ESTIMATED)
def test_monte_carlo_error_is_smaller(name):
    plain, better = chain_means(name)
    assert p_of_no_gain(plain, better).min() * plain.shape[1] < LEVEL
    assert p_of_no_gain(better, plain).min() * plain.shape[1] > LEVEL  # (nowhere larger)
    # Planted: the draws of other chains, which are no better.
    assert p_of_no_gain(plain, plain[::-1]).min() * plain.shape[1] > LEVEL


def test_a_mean_that_does_not_vary_has_no_error():
    found = sampler_of("beta-binomial").conditional_mean(drawn("beta-binomial"))["p"]
    assert (found == found[0, 0]).all()
    assert drawn("beta-binomial")["p"].std() > 0


def test_they_are_summarised_like_draws():
    name = "mixture"
    found = sampler_of(name).conditional_mean(drawn(name), "w")
    row = found.summary()["w[low]"]
    assert row["mean"] == pytest.approx(found["w"][..., 0].mean())
    assert row["mcse_mean"] > 0


# ---- what is refused -------------------------------------------------------------------------


def refused(sampler, draws, name, words, ask="conditional_mean"):
    with pytest.raises(RunError, match=words):
        getattr(sampler, ask)(draws, name)


def test_what_has_no_closed_form_is_refused_by_name():
    with gp.Model(coords={"i": 5}) as m:
        a = gp.Normal("a", 0, sigma=2)
        gp.Bernoulli("y", logit_p=a * data("x", Y, "i"), dims="i", observed=[0, 1, 1, 0, 1])
    sampler = gp.compile(m, blocks={"a": "elements"})
    draws = sampler.sample(5, warmup=20, chains=1, seed=1, progress=False)
    refused(sampler, draws, "a", "a: it is drawn by adaptive rejection, not from a closed form")
    refused(sampler, draws, None, "found no variable with a formula for the mean")


def test_what_the_draws_lack_is_named():
    sampler = sampler_of("normal")
    draws = sampler.sample(5, warmup=20, chains=1, seed=1, keep=["mu"], progress=False)
    refused(sampler, draws, "mu", "tau: the conditional of mu depends on it, but it is not among")
    refused(sampler, draws, "tau", "draws: found no variable 'tau'")


def test_auxiliary_variables_can_be_kept():
    with gp.Model(coords={"i": 5}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        gp.StudentT("y", nu=4, mu=mu, tau=2, dims="i", observed=Y)
    sampler = gp.compile(m)
    (name,) = sampler.schedule.auxiliary
    without = sampler.sample(5, warmup=20, chains=1, seed=1, progress=False)
    refused(sampler, without, "mu", f"{name}: .* name it in keep=")
    draws = sampler.sample(5, warmup=20, chains=1, seed=1, keep=["mu", name], progress=False)
    scale = 2 * 2 / 4 * draws[name]  # -a (1 + tau (y - mu)**2 / nu), a the variable
    expected = (scale * Y).sum(-1) / (0.1 + scale.sum(-1))
    found = sampler.conditional_mean(draws, "mu")["mu"]
    np.testing.assert_allclose(found, expected, rtol=ROUNDING)


def test_what_is_not_latent_or_not_a_label_is_refused():
    sampler, draws = sampler_of("normal"), drawn("normal")
    refused(sampler, draws, "tau", "tau: found real values", "conditional_probabilities")
    more = replace(draws, values={**draws.values, "y": np.zeros((2, 20, 5))}, dims={"y": ("i",)})
    refused(sampler, more, "y", "y: it is not drawn")
    other = Draws({"mu": np.zeros((1, 3, 2)), "tau": np.ones((1, 3))}, {"mu": ("j",)})
    refused(sampler, other, "mu", "mu: the draws have shape")


def test_a_mean_that_is_infinite_is_refused():
    with gp.Model() as m:
        var = gp.InverseGamma("var", 0.25, scale=1)
        gp.Normal("y", 0, var=var, observed=1.0)
    sampler = gp.compile(m)
    draws = sampler.sample(5, warmup=20, chains=1, seed=1, progress=False)
    refused(sampler, draws, "var", "var: the mean of its conditional is not finite")


def test_what_holds_for_one_draw_of_a_sweep_is_refused():
    """Of a logit the first category has a variable that the draw of the second makes stale."""
    sampler = gp.compile(in_columns(), rewrites={"Polya-Gamma": True})
    assert stale_after(sampler.schedule) == {"y_omega"}
    draws = sampler.sample(2, warmup=2, chains=1, seed=1, progress=False)
    refused(sampler, draws, "one", "one: its conditional depends on y_omega, which is int")


def test_what_a_sweep_leaves_stale_is_not_read():
    """Planted: a sweep that ends with the labels, what they share being integrated out."""
    schedule = sampler_of("topics integrated out").schedule
    assert stale_after(schedule) == frozenset()
    late = replace(schedule, steps=schedule.steps[::-1], graphs=schedule.graphs[::-1])
    assert stale_after(late) == {"theta", "phi"}
    plain = sampler_of("topics")
    model = Conditionals(plain.schedule, plain.program, plain.constants, plain.data)
    own = conditional_means._Of(
        model, drawn("topics"), "z", (plain.schedule.step("z"),), "mean", frozenset({"theta"})
    )
    with pytest.raises(RunError, match="z: its conditional depends on theta, which is integrated"):
        own.values()
