"""Groups of draws that belong to others: computed, written, read, and shown by ArviZ."""

import warnings

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.errors import ModelError, RunError
from gibbsppl.output.draws import Draws

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    import arviz as az

GROUPS = ("log_likelihood", "posterior_predictive", "prior", "prior_predictive")
LEVEL = 1e-6


@pytest.fixture(scope="module")
def eight():
    """The sampler of a model with labels, data, a computed quantity, and its draws."""
    with gp.Model(coords={"school": ["Choate", "Deerfield", "Exeter"]}) as model:
        x = gp.Data("x", [1.0, 2.0, 3.0], dims="school")
        slope = gp.Normal("slope", 1, sigma=2)
        gp.Deterministic("double", 2 * slope)
        gp.Normal("y", slope * x, sigma=1, dims="school", observed=[1.0, 2.5, 2.0])
        gp.Poisson("n", 3, dims="school", observed=[1, 2, 5])
    sampler = gp.compile(model)
    return sampler, sampler.sample(200, chains=2, seed=1, progress=False)


@pytest.fixture(scope="module")
def whole(eight):
    sampler, draws = eight
    return sampler.with_groups(
        draws, log_likelihood=True, posterior_predictive=True, prior=1000, seed=2
    )


def test_groups_have_the_names_shapes_and_labels_of_arviz(eight, whole):
    assert tuple(whole.groups) == GROUPS
    tree = whole.to_datatree()
    assert set(GROUPS) < set(tree.children)
    for name in ("log_likelihood", "posterior_predictive", "prior_predictive"):
        assert list(tree[name].data_vars) == ["y", "n"]
        assert list(tree[name]["school"].values) == ["Choate", "Deerfield", "Exeter"]
    assert tree["posterior_predictive"]["n"].dims == ("chain", "draw", "school")
    assert list(tree["prior"].data_vars) == ["slope", "double"]
    assert tree["prior"]["slope"].shape == (1, 1000)
    some = eight[0].with_groups(eight[1], log_likelihood="y", posterior_predictive=["n"])
    assert list(some.groups["log_likelihood"]) == ["y"]
    assert list(some.groups["posterior_predictive"]) == ["n"]


def test_draws_of_the_prior(whole):
    prior, seen = whole.groups["prior"], whole.groups["prior_predictive"]
    assert stats.kstest(prior["slope"][0], stats.norm(1, 2).cdf).pvalue > LEVEL
    np.testing.assert_array_equal(prior["double"], 2 * prior["slope"])
    residuals = seen["y"] - prior["slope"][..., None] * [1.0, 2.0, 3.0]
    assert stats.kstest(residuals.ravel(), "norm").pvalue > LEVEL
    assert seen["n"].dtype.kind == "i"


def test_a_prior_that_cannot_be_simulated_is_told():
    with gp.Model(name="flat") as model:
        mu = gp.Flat("mu")
        gp.Normal("y", mu, sigma=1, observed=1.0)
    sampler = gp.compile(model)
    draws = Draws({"mu": np.zeros((1, 4))})
    with pytest.raises(ModelError, match=r"mu: .*give it a proper prior"):
        sampler.with_groups(draws, prior=True)


def same(one, other):
    """Whether two draws are alike in all that they have."""
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])
        assert one.dims_of(name) == other.dims_of(name)
    # (a file has positions where there are no labels)
    assert {d: list(c) for d, c in one.coords.items()} == {
        d: list(c) for d, c in other.coords.items() if d in one.coords
    }
    assert one.attributes == other.attributes
    assert set(one.groups) == set(other.groups)
    return all(same(g, other.groups[n]) for n, g in one.groups.items())


@pytest.mark.parametrize("writer", ["h5netcdf", "xarray"])
def test_files_have_the_groups(eight, whole, tmp_path, monkeypatch, writer):
    sampler, draws = eight
    later = sampler.simulate(draws, "n", new={"school": 5})
    if writer == "xarray":
        monkeypatch.setattr("gibbsppl.output.netcdf.written", lambda _: None)
    kept = whole.with_groups(predictions=later)
    kept.save(tmp_path / "draws.nc")
    again = gp.load_draws(tmp_path / "draws.nc")
    assert same(kept, again)
    assert again.groups["predictions"]["n"].shape == (2, 200, 5)
    assert again.loo().elpd == whole.loo().elpd


def test_thinned_draws_keep_the_groups_of_each_draw(whole):
    thin = whole.thinned(4)
    np.testing.assert_array_equal(
        thin.groups["log_likelihood"]["y"], whole.groups["log_likelihood"]["y"][:, 3::4]
    )
    assert thin.groups["prior"].draws == 1000


def test_groups_that_do_not_belong_are_refused(whole):
    with pytest.raises(RunError, match=r"found 'priors', expected names among .*mean 'prior'"):
        whole.with_groups(priors=whole.groups["prior"])
    with pytest.raises(RunError, match=r"\(1, 1000\), expected \(2, 200\): one for each"):
        whole.with_groups(log_likelihood=whole.groups["prior"])


SHOWN = {
    "trace": lambda data: az.plot_trace(data, var_names=["slope"]),
    "rank": lambda data: az.plot_rank(data, var_names=["slope"]),
    "forest": az.plot_forest,
    "pair": lambda data: az.plot_pair(data, var_names=["slope", "double"]),
    "ppc": lambda data: az.plot_ppc(data, var_names=["y"], num_pp_samples=10),
    "prior ppc": lambda data: az.plot_ppc(data, group="prior", var_names=["n"]),
    "prior and posterior": lambda data: az.plot_dist_comparison(data, var_names=["slope"]),
    "loo": lambda data: az.plot_khat(az.loo(data, var_name="y", pointwise=True)),
    "loo_pit": lambda data: az.plot_loo_pit(data, y="y"),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # (of matplotlib and ArviZ)
@pytest.mark.parametrize("plot", SHOWN)
def test_arviz_shows_them_by_one_call(whole, plot):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    SHOWN[plot](whole.to_arviz())
    plt.gcf().canvas.draw()
    plt.close("all")


@pytest.mark.filterwarnings("ignore::UserWarning")  # (of ArviZ, of few observations)
def test_packages_of_arviz_1_read_the_groups_as_they_are(whole):
    """Its base finds dims and labels, its statistics are those of the package."""
    import arviz_base
    import arviz_stats

    tree, summary = whole.to_datatree(), whole.summary()
    again = arviz_base.extract(tree, group="posterior_predictive", var_names="y", combined=False)

    assert again.dims == ("chain", "draw", "school")
    assert list(again["school"].values) == ["Choate", "Deerfield", "Exeter"]
    assert float(arviz_stats.ess(tree)["slope"]) == pytest.approx(summary["slope"]["ess_bulk"])
    assert float(arviz_stats.rhat(tree)["slope"]) == pytest.approx(summary["slope"]["r_hat"])
    theirs, ours = arviz_stats.loo(tree, var_name="y", reff=1.0), whole.loo("y")
    noise = stats.norm.isf(LEVEL) * np.linalg.norm(ours.errors["y"])
    assert abs(theirs.elpd - ours.elpd) < noise


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_arviz_has_loo_of_them(whole):
    theirs = az.loo(whole.to_arviz(), var_name="y", pointwise=True, reff=1.0)
    ours = whole.loo("y")
    noise = stats.norm.isf(LEVEL) * ours.errors["y"].max()
    assert np.abs(theirs.loo_i.to_numpy() - ours.pointwise["y"]).max() < noise


def test_draws_of_which_some_are_rarer(eight):
    sampler, _ = eight
    draws = sampler.sample(40, chains=2, seed=1, keep={"slope": 4, "double": 1}, progress=False)
    whole = sampler.with_groups(draws, log_likelihood=True, posterior_predictive="y")
    found = whole.groups["log_likelihood"]["y"]
    exact = stats.norm(draws["slope"][..., None] * [1.0, 2.0, 3.0]).logpdf([1.0, 2.5, 2.0])
    np.testing.assert_allclose(found, exact, rtol=1e-12)
    assert whole.groups["posterior_predictive"]["y"].shape == (2, 10, 3)
    assert whole.thinned(4).groups["log_likelihood"].draws == 10


def test_draws_say_which_groups_they_have(whole):
    assert repr(whole).splitlines()[-1] == f"with {', '.join(GROUPS)}"
