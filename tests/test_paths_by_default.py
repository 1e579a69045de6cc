"""Which variables move along paths by default, and how that is told."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.comparing.variants import candidates_of
from gibbsppl.planning import along_paths, alternatives

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


# ---- what theory finds on a ridge ----------------------------------------------------------------


def product(noise=0.03, extra=False):
    """Two numbers of which little but the product is known, and maybe one that is known apart."""
    with gp.Model(name="product") as model:
        a, b = gp.Gamma("a", 2, rate=1), gp.Gamma("b", 2, rate=1)
        gp.Normal("y", gp.log(a) + gp.log(b), sigma=noise, observed=1.0)
        if extra:
            c = gp.Gamma("c", 2, rate=1)
            gp.Normal("z", gp.log(c) + 0.01 * gp.log(a), sigma=1, observed=0.5)
    return model


def choices_of_paths(sampler):
    return [c for c in sampler.schedule.choices if "NUTS" in c.made.what + c.others[0].what]


@pytest.mark.parametrize("extra", [False, True])
def test_numbers_on_a_ridge_move_together(extra):
    """Of what is hardly tied to them, nothing moves along."""
    sampler = gp.compile(product(extra=extra))
    (choice,) = choices_of_paths(sampler)

    assert owners(sampler) == {"a, b": "NUTS"}
    assert "a, b together by NUTS (alternative: one by one" in str(sampler)
    assert choice.others[0].share < along_paths.SHARE
    assert sampler.verify().passed


def test_the_ways_to_move_on_a_ridge_are_asked_for_by_their_settings():
    sampler = gp.compile(product())
    (choice,) = choices_of_paths(sampler)
    made, other = (gp.compile(product(), **c.settings) for c in (choice.made, *choice.others))

    assert made.schedule.ways == sampler.schedule.ways
    assert [s.name for s in other.schedule.steps] == ["a", "b"]
    assert other.costs().operations == pytest.approx(choice.others[0].operations)


def test_a_wide_ridge_is_moved_on_one_by_one():
    """Where theory finds a hundredth of an effective draw, sweeps being seven times cheaper."""
    (choice,) = choices_of_paths(gp.compile(product(0.1)))

    assert choice.made.what == "one by one"
    assert choices_of_paths(gp.compile(product(0.5))) == []


@pytest.mark.parametrize("limit", ["MOST_POSITIONS", "MOST_TERMS"])
def test_theory_is_not_asked_where_that_takes_long(limit, monkeypatch):
    def planted(*_):
        raise AssertionError

    monkeypatch.setattr(along_paths if limit == "MOST_TERMS" else alternatives, limit, 0)
    monkeypatch.setattr(along_paths, "known_of", planted)
    assert "NUTS" not in owners(gp.compile(product())).values()


@pytest.mark.parametrize("settings", [{"exact": True}, {"kernels": {"a": gp.Slice()}},
                                      {"order": ("a", "b")}], ids=str)  # fmt: skip
def test_nothing_moves_along_a_ridge_where_the_user_says_how_to_draw(settings):
    assert choices_of_paths(gp.compile(product(), **settings)) == []


def test_a_ring_is_no_ridge():
    """What is known on average over states ties no two numbers."""
    with gp.Model() as model:
        x, y = gp.Normal("x", 0, sigma=1), gp.Normal("y", 0, sigma=1)
        gp.Normal("r", gp.sqrt(x**2 + y**2), sigma=0.05, observed=1.0)

    assert "NUTS" not in owners(gp.compile(model)).values()


def two_groups():
    """Outcomes of animals in litters: in each of two groups two numbers of a prior."""
    n = np.array([[13, 12, 9, 9], [12, 11, 10, 9]])
    with gp.Model(coords={"g": 2, "j": 4}) as model:
        a, b = (gp.Gamma(v, 1, rate=1e-3, dims="g") for v in "ab")
        p = gp.Beta("p", a, b, dims=("g", "j"))
        trials = gp.Data("n", n, dims=("g", "j"))
        gp.Binomial("r", trials, p, dims=("g", "j"), observed=n - [[1, 0, 1, 0], [0, 1, 4, 2]])
    return model


def test_numbers_of_a_prior_move_together_without_what_it_is_of():
    sampler = gp.compile(two_groups())

    assert owners(sampler) == {"a, b": "NUTS"}
    assert "p integrated out" in str(sampler)
    assert sampler.verify().passed
    (choice,) = choices_of_paths(sampler)
    again = gp.compile(two_groups(), **choice.made.settings)
    assert again.schedule.ways == sampler.schedule.ways
