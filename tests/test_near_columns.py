"""A covariate far from zero, beside a level under a flat prior: the digits that there are stay."""

from dataclasses import replace

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.runtime.joint import Joint, drawn, joint_in
from gibbsppl.runtime.matrices import mvnormal_information
from gibbsppl.runtime.patterns import Pattern
from gibbsppl.runtime.pencils import Pencil

AT, N = 10_000.0, 40

# So many groups, which of their slopes are near one another, and how the matrix is factorised.
LAYOUTS = {
    "blocks": (1, []),
    "many blocks": (60, []),
    "band": (60, [(j, j + 1) for j in range(59)]),
    "sparse": (30, [(j, 7 * j % 30) for j in range(1, 30) if 7 * j % 30 != j]),
}


def regressions(count, tied, at):
    """Precision and right side of levels and slopes, by pairs, with covariates about a value."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(count, N)).round(6)
    y = 3 + 2 * x + rng.normal(size=(count, N))
    x = x + at
    Q, h = np.zeros((2 * count, 2 * count)), np.zeros(2 * count)
    for j in range(count):
        columns = np.stack([np.ones(N), x[j]], 1)
        Q[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = columns.T @ columns
        h[2 * j : 2 * j + 2] = columns.T @ y[j]
    for j, k in tied:
        a, b = 2 * j + 1, 2 * k + 1
        Q[[a, b], [a, b]] += 5.0
        Q[[a, b], [b, a]] -= 5.0
    return Q, h


def exactly(count, tied):
    """Means and standard deviations, by covariates about zero: no digits are lost."""
    Q, h = regressions(count, tied, 0.0)
    covariance = np.linalg.inv(Q)
    mean = covariance @ h
    sd = np.sqrt(np.diag(covariance))
    level, slope = np.arange(0, 2 * count, 2), np.arange(1, 2 * count, 2)
    variance = covariance[level, level] + AT**2 * covariance[slope, slope]
    sd[level] = np.sqrt(variance - 2 * AT * covariance[level, slope])
    mean[level] -= AT * mean[slope]
    return mean, sd


@pytest.mark.parametrize("name", LAYOUTS)
def test_joint_draws_keep_their_digits_whatever_the_layout(name):
    count, tied = LAYOUTS[name]
    Q, h = regressions(count, tied, AT)
    i, j = np.nonzero(np.triu(Q, 1))
    x = drawn((len(h),), [((0, len(h)),)])
    joint = Joint({"x": x}, [("x", (i,), "x", (j,))], dense=2, in_blocks=name == "many blocks")
    if name == "sparse":
        joint.layout = replace(joint.layout, kind="sparse", groups=(np.arange(60)[None],))
        joint.order = joint.rank = np.arange(60)
        joint.in_order = True
        joint._fill(Pattern.of({"x": x}, [("x", (i,), "x", (j,))]))
    given = ({"x": (h, -np.diag(Q) / 2)}, [-Q[i, j]])
    state = {"x": np.zeros(len(h))}
    mean, sd = exactly(count, tied)

    assert joint.layout.kind == name.removeprefix("many ")
    np.testing.assert_allclose(joint.mean(state, given)["x"], mean, rtol=1e-6)
    np.testing.assert_allclose(joint.sd(state, given)["x"], sd, rtol=1e-6)


def test_a_border_keeps_its_digits():
    """Sixty levels, and a slope that all of their groups share."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, N)).round(6)
    y = rng.normal(size=(60, 1)) + 2 * x + rng.normal(size=(60, N))
    far = x + AT
    names = {"level": (60,), "slope": ()}
    arrays = {n: drawn(s, [tuple((0, k) for k in s)]) for n, s in names.items()}
    joint = Joint(arrays, [("level", (np.arange(60),), "slope", ())])
    slopes = (far * y).sum(), -(far**2).sum() / 2
    own = {"level": (y.sum(1), np.full(60, -N / 2)), "slope": slopes}
    given = own, [-far.sum(1)]
    centred = x - x.mean(1, keepdims=True)
    slope = (centred * y).sum() / (centred**2).sum()
    mean, sd = joint.mean({}, given), joint.sd({}, given)

    assert joint.border == 1
    assert mean["slope"] == pytest.approx(slope, rel=1e-6)
    np.testing.assert_allclose(mean["level"], y.mean(1) - slope * far.mean(1), rtol=1e-6)
    assert sd["slope"] == pytest.approx((centred**2).sum() ** -0.5, rel=1e-6)


def test_a_pencil_keeps_its_digits():
    Q, h = regressions(1, [], AT)
    x = drawn((2,), [((0, 2),)])
    joint = Joint({"x": x}, [("x", (0,), "x", (1,))])
    pencil = Pencil(joint, [({"x": -np.diag(Q) / 2}, [-Q[0, 1]]), ({"x": -0.5e-9}, [0.0])])
    mean, sd = exactly(1, [])

    np.testing.assert_allclose(pencil.mean({}, ({"x": h}, (1.0, 0.0)))["x"], mean, rtol=1e-6)
    rows, diagonal = pencil.rows[0], pencil.scaled((1.0, 0.0))[0]
    np.testing.assert_allclose(np.sqrt((rows**2 / diagonal[:, None]).sum(0)), sd, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 3, 300])
def test_draws_of_blocks_keep_their_digits(count):
    """One matrix, a few and many are factorised in three ways."""

    class Still:
        """No noise, so that a draw is the mean."""

        def standard_normal(self, size):
            return np.zeros(size)

    Q, h = regressions(1, [], AT)
    several = (np.tile(h, (count, 1)), np.tile(Q, (count, 1, 1))) if count > 1 else (h, Q)
    mean, _ = exactly(1, [])

    found = mvnormal_information(Still(), *several)
    np.testing.assert_allclose(found, np.broadcast_to(mean, found.shape), rtol=1e-6)


def model_of(at, kind):
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    y = 3 + 2 * x + rng.normal(size=N)
    with gp.Model() as model:
        if kind == "scalars":
            column = gp.Data("x", x + at, dims="i")
            mean = gp.Flat("a") + gp.Flat("b") * column
        else:
            columns = gp.Data("X", np.stack([np.ones(N), x + at], 1), dims=("i", "k"))
            mean = (columns * gp.Flat("w", dims="k")).sum("k")
        tau = gp.Gamma("tau", 1, rate=1) if kind != "known" else 1.0
        gp.Normal("y", mean, tau=tau, dims="i", observed=y)
    x = x + at
    return model, x, y


@pytest.mark.parametrize("kind", ["scalars", "vector", "known"])
def test_a_level_and_a_slope_far_from_zero(kind):
    model, x, y = model_of(AT, kind)
    sampler = gp.compile(model)
    draws = sampler.sample(2000, warmup=20, chains=2, seed=1, progress=False)
    b = draws["b"] if kind == "scalars" else draws["w"][..., 1]
    far = x - x.mean()
    slope = far @ y / (far @ far)

    error = b.std() / np.sqrt(b.size)
    assert abs(b.mean() - slope) < 5 * error
    assert sampler.verify().proved
    (step,) = (s for s in sampler.schedule.steps if s.name != "tau")
    if kind == "scalars":
        chains, _ = sampler.initial_states(1, 1)
        state, constants = chains[0].state, sampler.constants
        given = sampler.program.given_rest[step.name](state, constants)
        joint = joint_in(constants, step.name)
        assert joint.mean(state, given)["b"] == pytest.approx(slope, rel=1e-6)
        assert joint.sd(state, given)["b"] == pytest.approx(
            1 / np.sqrt(state["tau"] * (far @ far)), rel=1e-6
        )


@pytest.mark.parametrize(("kind", "named"), [("scalars", "a and b"), ("vector", r"w\[0\] and w")])
def test_columns_that_rounding_cannot_tell_apart_are_named(kind, named):
    model, *_ = model_of(1e8, kind)

    with pytest.raises(RunError, match=rf"what multiplies {named}.* nearly coincides.*[Cc]entre"):
        gp.compile(model).initial_states(1, 1)
