"""Predictions against what is known of them, from draws made by hand: no sampler takes part."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.model import along_draws
from gibbsppl.output.draws import Draws
from gibbsppl.predict.prediction import predicted

RNG = np.random.default_rng(20)
COUNT = 4000
# One in a million: for all z-scores of one comparison together.
FAMILY_WISE = 1e-6


def shaped(values):
    """Draws as a run returns them: two chains, one after the other."""
    arrays = {n: np.reshape(v, (2, -1, *np.shape(v)[1:])) for n, v in values.items()}
    dims = {n: tuple(f"{n} {k}" for k in range(a.ndim - 2)) for n, a in arrays.items()}
    return Draws(arrays, dims)


def worst_score(found, expected, error):
    """The largest z-score, as a multiple of the largest that chance explains."""
    scores = np.abs((np.asarray(found) - expected) / error)
    return scores.max() / stats.norm.isf(FAMILY_WISE / 2 / scores.size)


def regression(rows=5):
    with gp.Model(coords={"row": rows, "column": 2}) as model:
        x = gp.Data("x", np.arange(2.0 * rows).reshape(rows, 2), dims=("row", "column"))
        offset = gp.Data("offset", np.zeros(rows), dims="row")
        beta = gp.Normal("beta", 0, tau=1, dims="column")
        tau = gp.Gamma("tau", 2, rate=2)
        line = (x * beta).sum("column") + offset
        gp.Normal("y", line, tau=tau, dims="row", observed=np.zeros(rows))
    return model


REGRESSION = shaped({"beta": RNG.normal(size=(COUNT, 2)), "tau": RNG.gamma(3, size=COUNT)})


def asked(model, draws, new, **options):
    return predicted(model.graph, model.data, draws, new, **options)


def test_total_variance_of_a_regression():
    x, offset = RNG.normal(size=(3, 2)), RNG.normal(size=3)
    prediction = asked(regression(), REGRESSION, {"x": x, "offset": offset})
    means = REGRESSION.stacked("beta") @ x.T + offset
    variance = means.var(axis=0) + np.mean(1 / REGRESSION.stacked("tau"))
    np.testing.assert_allclose(prediction.mean, means.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(prediction.variance, variance, rtol=1e-12)
    np.testing.assert_allclose(prediction.sd, np.sqrt(variance), rtol=1e-12)
    assert prediction.dims == ("row",)
    assert not prediction.simulated
    assert prediction.redrawn == ()


def test_draws_taken_in_parts_give_the_same(monkeypatch):
    new = {"x": np.ones((3, 2)), "offset": np.arange(3.0)}
    whole = asked(regression(), REGRESSION, new)
    monkeypatch.setattr(along_draws, "LARGEST", 1000)
    parts = asked(regression(), REGRESSION, new)
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=1e-12)
    np.testing.assert_allclose(parts.variance, whole.variance, rtol=1e-12)


def test_data_of_the_same_size_are_new_data():
    x = np.full((5, 2), 3.0)
    prediction = asked(regression(), REGRESSION, {"x": x, "offset": np.zeros(5)})
    expected = 3 * REGRESSION.stacked("beta").sum(axis=-1).mean()
    np.testing.assert_allclose(prediction.mean, expected, rtol=1e-12)


def test_without_new_data_the_old_positions_are_predicted():
    prediction = asked(regression(), REGRESSION, {})
    x = np.arange(10.0).reshape(5, 2)
    expected = (REGRESSION.stacked("beta") @ x.T).mean(axis=0)
    np.testing.assert_allclose(prediction.mean, expected, rtol=1e-12)


def groups():
    with gp.Model(coords={"group": ["a", "b", "c"], "member": 4}) as model:
        mu = gp.Normal("mu", 0, tau=1)
        theta = gp.Normal("theta", mu, tau=4, dims="group")
        group = gp.Index("group_of", [0, 1, 2, 2], of="group", dims="member")
        gp.Poisson("count", gp.exp(theta[group]), dims="member", observed=[1, 2, 3, 4])
    return model


GROUPS = shaped({"mu": RNG.normal(size=COUNT), "theta": RNG.normal(size=(COUNT, 3)) / 4})


def test_old_groups_keep_their_draws():
    prediction = asked(groups(), GROUPS, {"group_of": [2, 0]})
    rates = np.exp(GROUPS.stacked("theta"))[:, [2, 0]]
    np.testing.assert_allclose(prediction.mean, rates.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        prediction.variance, rates.var(axis=0) + rates.mean(axis=0), rtol=1e-12
    )


def test_new_groups_are_drawn_from_the_model():
    prediction = asked(groups(), GROUPS, {"group": 2, "group_of": [0, 1, 1]})
    assert prediction.redrawn == ("theta",)
    # Given mu, exp(theta) is log-normal; its own draws add to the Monte Carlo error.
    mu = GROUPS.stacked("mu")
    expected = np.exp(mu + 1 / 8)
    error = np.sqrt(np.mean(expected**2 * np.expm1(1 / 4)) / COUNT)
    assert worst_score(prediction.mean, expected.mean(), error) < 1
    assert prediction.mean[1] == prediction.mean[2] != prediction.mean[0]
    assert "drawn from the model at the new positions: theta" in repr(prediction)


def mixture(points=3):
    with gp.Model(coords={"point": points, "component": 2}) as model:
        weight = gp.Dirichlet("weight", 1, dims="component", event="component")
        mu = gp.Normal("mu", 0, tau=1, dims="component")
        z = gp.Categorical("z", weight, dims="point", event="component")
        gp.Normal("y", mu[z], tau=4, dims="point", observed=np.zeros(points))
    return model


MIXTURE = shaped(
    {
        "weight": RNG.dirichlet([2, 3], size=COUNT),
        "mu": RNG.normal([-2, 3], size=(COUNT, 2)),
        "z": np.zeros((COUNT, 3), dtype=int),
    }
)


def test_labels_of_new_points_are_summed_out():
    prediction = asked(mixture(), MIXTURE, {"point": 3})
    assert prediction.redrawn == ("z",)
    weight, mu = MIXTURE.stacked("weight"), MIXTURE.stacked("mu")
    given, second = (weight * mu).sum(-1), (weight * mu**2).sum(-1)
    error = np.sqrt(np.mean(second - given**2) / COUNT)
    assert worst_score(prediction.mean, given.mean(), error) < 1
    kept = asked(mixture(), MIXTURE, {"point": 0})
    np.testing.assert_allclose(kept.mean, mu[:, 0].mean(), rtol=1e-12)


def test_same_draws_same_prediction_and_a_seed_changes_it():
    one, two = (asked(mixture(), MIXTURE, {"point": 3}).mean for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert (asked(mixture(), MIXTURE, {"point": 3}, seed=5).mean != one).all()


def test_draws_of_a_file_give_the_same_prediction(tmp_path):
    draws = replace(MIXTURE, attributes={"seed": [1, 2, 3, 4]})  # (that of a Generator)
    draws.save(tmp_path / "draws.nc")
    both = draws, gp.load_draws(tmp_path / "draws.nc")
    np.testing.assert_array_equal(*(asked(mixture(), d, {"point": 3}).mean for d in both))


def test_vectors_and_truncated_values_are_simulated():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    with gp.Model(coords={"row": 1, "k": 2}) as model:
        mu = gp.Normal("mu", 0, tau=1)
        spread = gp.Data("spread", cov, dims=("k", "k'"))
        gp.MvNormal("v", mu, cov=spread, dims=("row", "k"), event="k", observed=[[0.0, 0.0]])
        gp.Normal("t", 0, tau=1, lower=0, observed=1.0)
    draws = shaped({"mu": RNG.normal(size=COUNT)})
    vector, bounded = (asked(model, draws, {}, name=n) for n in ("v", "t"))
    assert vector.simulated
    assert bounded.simulated
    mu = draws.stacked("mu")
    noise = np.sqrt(np.diag(cov))
    assert worst_score(vector.mean[0], mu.mean(), noise / np.sqrt(COUNT)) < 1
    total = noise**2 + mu.var()
    # Of a normal variable; the draws of mu, close to normal, are fixed, which only lessens it.
    assert worst_score(vector.variance[0], total, total * np.sqrt(2 / COUNT)) < 1
    half = stats.halfnorm
    assert worst_score(bounded.mean, half.mean(), half.std() / np.sqrt(COUNT)) < 1
    _, variance, _, excess = half.stats(moments="mvsk")
    error = variance * np.sqrt((excess + 2) / COUNT)
    assert worst_score(bounded.variance, variance, error) < 1


def test_a_series_reads_its_own_predictions():
    with gp.Model(coords={"time": 4}) as model:
        slope = gp.Normal("slope", 0, tau=1)
        y = gp.Array("y", dims="time", observed=np.zeros(4))
        y[0] = gp.Normal(5, tau=100)
        y[1:] = gp.Normal(slope * y.lag("time", 1), tau=100)
    slope = RNG.normal(0.5, 0.1, size=COUNT)
    prediction = asked(model, shaped({"slope": slope}), {})
    powers = slope[:, None] ** np.arange(4)
    # Each step adds a hundredth to the variance, multiplied by the squares of later slopes.
    spread = 0.01 * np.cumsum(powers**2, axis=-1)
    error = np.sqrt(spread.mean(axis=0) / COUNT)
    assert worst_score(prediction.mean, 5 * powers.mean(axis=0), error) < 1


@pytest.mark.parametrize(
    ("model", "draws", "new", "message"),
    [
        (regression(), REGRESSION, {"x": np.ones((3, 2))}, "needs offset too"),
        (regression(), REGRESSION, {"x": np.ones(3)}, r"shape \(3,\), expected one axis"),
        (regression(), REGRESSION, {"x": np.ones((3, 4))}, "'column' has size 2 in the model"),
        (regression(), REGRESSION, {"x": [[np.nan, 1.0]]}, r"\(0, 0\) is missing or not finite"),
        (regression(), REGRESSION, {"x": np.ones((0, 2))}, "size 0"),
        (regression(), REGRESSION, {"x": np.ones((3, 2)), "offset": np.ones(4)}, "has size 4"),
        (regression(), REGRESSION, {"beta": np.ones(2)}, "it is drawn"),
        (regression(), REGRESSION, {"y": np.ones(2)}, "it is what is predicted"),
        (regression(), REGRESSION, {"ofset": 3}, "Did you mean 'offset'"),
        (regression(), REGRESSION, {"rows": [1, 2]}, "expected the name of data"),
        (regression(), shaped({"beta": np.ones((8, 2))}), {}, "tau: y depends on it"),
        (
            regression(),
            shaped({"beta": np.ones((8, 3)), "tau": np.ones(8)}),
            {},
            "draws of this model",
        ),
        (groups(), GROUPS, {"group_of": [3]}, r"whole numbers from 0 to 2 \('group'\)"),
        (groups(), GROUPS, {"group_of": [0.5]}, "whole numbers"),
        (mixture(), MIXTURE, {"component": 3}, "event dimension"),
    ],
)
def test_wrong_questions_are_refused(model, draws, new, message):
    with pytest.raises(RunError, match=message):
        asked(model, draws, new)


def test_new_positions_of_an_old_size_have_to_be_named():
    with gp.Model(coords={"point": 2, "component": 2}) as model:
        x = gp.Data("x", [1.0, 2.0], dims="point")
        z = gp.Categorical("z", 0.5, dims="point", event="component")
        mu = gp.Normal("mu", 0, tau=1, dims="component")
        gp.Normal("y", mu[z] * x, tau=1, dims="point", observed=[0.0, 0.0])
    draws = shaped({"z": np.zeros((8, 2), dtype=int), "mu": np.ones((8, 2))})
    with pytest.raises(RunError, match="say whether its positions are new"):
        asked(model, draws, {"x": [3.0, 4.0]})
    kept = asked(model, draws, {"x": [3.0, 4.0], "point": 0})
    np.testing.assert_allclose(kept.mean, [3.0, 4.0])


def test_one_of_several_observed_variables_has_to_be_named():
    with gp.Model() as model:
        mu = gp.Normal("mu", 0, tau=1)
        gp.Normal("first", mu, tau=1, observed=0.0)
        gp.Normal("second", mu, tau=4, observed=0.0)
    draws = shaped({"mu": RNG.normal(size=10)})
    with pytest.raises(RunError, match="first, second"):
        asked(model, draws, {})
    difference = asked(model, draws, {}, name="first").variance
    difference = difference - asked(model, draws, {}, name="second").variance
    assert difference == pytest.approx(0.75, rel=1e-12)


def test_a_prediction_prints_as_a_table():
    prediction = asked(regression(), shaped({"beta": np.ones((4, 2)), "tau": np.ones(4)}), {})
    assert repr(prediction).splitlines() == [
        "y (row: 5), predicted from 4 draws",
        "            mean          sd",
        "y[0]        1.00        1.00",
        "y[1]        5.00        1.00",
        "y[2]        9.00        1.00",
        "y[3]       13.00        1.00",
        "y[4]       17.00        1.00",
    ]


def test_draws_from_the_prior_include_the_observed():
    model = regression()
    prior = gp.simulate(model, seed=3, draws=1000)
    assert prior["y"].shape == (1000, 5)
    x = np.arange(10.0).reshape(5, 2)
    # E[tau^-1] of a Gamma(2, rate 2) is 2; the coefficients are standard normal.
    variance = (x**2).sum(axis=1) + 2
    assert worst_score(prior["y"].mean(axis=0), 0, np.sqrt(variance / 1000)) < 1
    again = gp.simulate(model, seed=3, draws=2)
    np.testing.assert_array_equal(again["beta"], prior["beta"][:2])
