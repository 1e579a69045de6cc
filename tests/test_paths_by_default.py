"""Which variables move along paths by default, and how that is told."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.comparing.variants import candidates_of

X = np.linspace(0.2, 4, 8)


def curve(count=3, *, jumps=False):
    with gp.Model(coords={"i": 8}, name="curve") as model:
        names = ("power", "half", "bend")[:count]
        power, half, bend = (*(gp.Gamma(n, 2, rate=1) for n in names), 1.5)[:3]
        dose = gp.Data("dose", X, dims="i")
        mean = dose**power / (half + dose**power) ** bend
        if jumps:
            mean = gp.where(half < dose, mean, 2 * mean)
        gp.Normal("y", mean, sigma=0.3, dims="i", observed=X / (1 + X))
    return model


def owners(sampler):
    return {s.name: s.kernel for s in sampler.schedule.fallbacks}


def test_elements_that_all_depend_on_one_another_move_together():
    sampler = gp.compile(curve())

    assert owners(sampler) == {"power, half, bend": "NUTS"}
    assert "fallback: power, half, bend are moved by NUTS" in str(sampler)
    assert "\n    half: no family" in str(sampler)
    assert sampler.schedule.asked == ()
    assert sampler.verify().proved


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (lambda: curve(2), {}),
        (lambda: curve(jumps=True), {}),
        (curve, {"kernels": {"power": gp.Slice()}}),
        (curve, {"blocks": False}),
    ],
    ids=["a pair", "conditions", "a kernel", "no blocks"],
)
def test_others_are_moved_by_slices(model, settings):
    assert set(owners(gp.compile(model(), **settings)).values()) == {"slice"}


def test_each_is_tried_in_place_of_the_other():
    for sampler, way in ((gp.compile(curve()), "power, half, bend one by one"),
                         (gp.compile(curve(2)), "power, half together by NUTS")):  # fmt: skip
        graph, data = sampler.graph, sampler.data
        assert way in candidates_of(graph, data, sampler.schedule, sampler.settings)


def in_sequence():
    """Log variances that are computed from innovations, one after the other."""
    with gp.Model(coords={"t": 8}, name="innovations") as model:
        phi, sigma = gp.Uniform("phi", -1, 1), gp.HalfNormal("sigma", sigma=1)
        eps = gp.Normal("eps", 0, sigma=1, dims="t")
        h = gp.Array("h", dims="t")
        h[0] = sigma * eps[0]
        h[1:] = phi * h.lag("t") + sigma * eps
        y = np.random.default_rng(1).normal(size=8)
        gp.Normal("y", 0, sigma=gp.exp(h / 2), dims="t", observed=y)
    return model


def test_innovations_move_together_with_the_parameters_of_their_series():
    sampler = gp.compile(in_sequence())
    (step,) = sampler.schedule.steps

    assert set(step.variables) == {"phi", "sigma", "eps"}
    assert not sampler.schedule.rewrites  # (labels make no joint draw of innovations)
    assert sampler.verify().passed
