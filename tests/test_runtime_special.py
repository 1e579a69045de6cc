"""Draws of the less common families against their distribution functions.

All cases of a family are drawn in one call, so that regimes meet element by element. Every
comparison is a p-value; each is held against the family-wise level divided by their number.
"""

from typing import Any

import numpy as np
import pytest
from scipy import special, stats
from test_runtime_truncated import FAR, INF, cdf_of, on_logs, p_value

from gibbsppl import runtime
from gibbsppl.runtime.draws import TINY

N = 2000
COMPARISONS = 300
LEVEL = 1e-4 / COMPARISONS


def power_sum(p: float, *terms: tuple[float, float]) -> Any:
    """The log density of v = log x for ``(p - 1) log x + sum of coefficient x**rate``."""
    return lambda v: p * v + sum(c * np.exp(r * v) for c, r in terms if c)


def gig(eta_1: float, eta_2: float, eta_3: float) -> Any:
    return power_sum(eta_1 + 1, (eta_2, 1), (eta_3, -1))


def mhn(eta_1: float, eta_2: float, eta_3: float) -> Any:
    return power_sum(eta_1 + 1, (eta_2, 1), (eta_3, 2))


def inverse_gaussian(eta_1: float, eta_2: float) -> Any:
    return gig(-1.5, eta_1, eta_2)


def beta_prime(eta_1: float, eta_2: float) -> Any:
    return lambda v: (eta_1 + 1) * v + eta_2 * np.logaddexp(0, v)


# ---- cases: natural parameters, then the bounds where there are any --------------------------

GIG = [
    (0.5, -1.0, -2.0), (-1.5, -1.0, -2.0), (-1.0, -1.0, -1.0), (-1.0, -1e-3, -1e-3),
    (-1.0, -1e-100, -1e-100), (-1.0, -1e-300, -1e-300), (1.0, -1e-300, -1e-300),
    (-3.0, -1e-300, -1e-300), (-0.9, -1e-10, -1.0), (-1.1, -1.0, -1e-10), (2.0, -1.0, 0.0),
    (-4.0, 0.0, -3.0), (1e-6 - 1, -1.0, 0.0), (-1e-6 - 1, 0.0, -1.0), (1e-6 - 1, -1.0, -1e-20),
    (1e8, -1.0, -1.0), (-1e8, -1.0, -1.0), (1e8, -1.0, -1e16), (-300.0, -1e4, -1e4),
    (3.0, -1e8, -1e8), (3.0, -1e-150, -1e150), (3.0, -1e300, -1e-300), (-3.0, -1e-300, -1e300),
    (3.0, -1e200, -1e-190), (50.0, -1e-5, -2e4), (0.0, -1.0, -1e-9),
]  # fmt: skip
CUT_GIG = [
    (0.5, -1.0, -2.0, 0.0, 1.0), (0.5, -1.0, -2.0, 50.0, INF), (0.5, -1.0, -2.0, 0.0, 1e-2),
    (0.5, -1.0, -2.0, 2.0, 2.0 + 1e-9), (-4.0, -1.0, 0.0, 0.5, INF), (3.0, 0.0, -1.0, 0.0, 9.0),
    (-1.0, 0.0, 0.0, 1.0, 7.0), (-1.0, -1e-9, -1e-9, 1.0, INF), (1e8, -1.0, -1e16, 0.0, 1.6e8),
    (-2.0, 0.0, 0.0, 1.0, INF), (-1e4, -1.0, -1.0, 1e-9, 1.0),
]  # fmt: skip
BENT_GIG = [
    (-3.0, 2.0, 1.0, 0.5, 2.0), (0.5, 3.0, 0.0, 0.0, 4.0), (-0.999, 3.0, 0.0, 0.0, 4.0),
    (-9.0, 1.0, -3.0, 0.0, 6.0), (-9.0, 1.0, -3.0, 0.1, 20.0), (2.0, 1.0, -3.0, 0.0, 6.0),
    (-3.0, 1.0, -30.0, 0.0, 6.0), (7.0, -3.0, 1.0, 0.1, INF), (-2.5, 0.0, 3.0, 0.2, INF),
    (0.5, -3.0, 2.0, 0.01, 9.0), (-50.0, 9.0, 1.0, 1.0, 1.0 + 1e-9), (0.0, 1e9, -1e9, 0.5, 2.0),
    (-1e4, 1e3, -1e3, 1e-3, 20.0), (-2.0, 1e9, 1e9, 0.5, 2.0),
]  # fmt: skip
MHN = [
    (2.0, -1.0, -1.0), (2.0, 1.0, -1.0), (-0.5, -1.0, -1.0), (-0.5, 1.0, -1.0), (0.0, 3.0, -1.0),
    (-0.5, 30.0, -1.0), (-0.5, 1e4, -1.0), (1e-6 - 1, 5.0, -1.0), (1e-6 - 1, 8.5, -1.0),
    (1e-6 - 1, 1e-3, -1.0), (1e-6 - 1, -5.0, -1.0), (1e8, 5.0, -1.0), (1e8, 1e8, -1.0),
    (1e8, -1e8, -1.0), (3.0, -1e4, -1.0), (3.0, 1e6, -1.0), (3.0, 0.0, -1.0), (-0.5, 0.0, -1e-9),
    (2.0, -1.0, 0.0), (2.0, -1.0, -1e-12), (2.0, 1e-160, -1e-300), (-0.9, 1e-147, -1e-295),
    (-0.999, 2.0, -1e-8),
]  # fmt: skip
CUT_MHN = [
    (2.0, 1.0, -1.0, 4.0, INF), (2.0, 1.0, -1.0, 0.0, 0.1), (2.0, -1.0, -1.0, 9.0, INF),
    (-0.5, 3.0, -1.0, 0.0, 0.5), (-0.5, 3.0, -1.0, 6.0, INF), (-5.0, 3.0, -1.0, 0.1, INF),
    (-5.0, 30.0, -1.0, 0.1, INF), (-5.0, 10.35, -1.0, 0.05, INF), (-5.0, 3.0, 0.0, 0.5, 9.0),
    (-5.0, -3.0, -1.0, 0.2, INF), (-5.0, 0.0, 0.0, 0.2, INF), (4.0, 9.0, 0.0, 0.0, 2.0),
    (-50.0, 9.0, -1.0, 1.0, 1.0 + 1e-9), (-0.5, 3.0, -1.0, 1.4, 1.4 + 1e-9),
    (-5.0, 1e-3, -1.0, 0.1, 50.0), (-5.0, 0.0, -1.0, 0.5, 2.0),
]  # fmt: skip
BENT_MHN = [
    (0.0, -1.0, 0.6, 0.5, 2.2), (0.0, -1.0, 0.6, 0.0, 2.2), (2.0, 3.0, 1.0, 0.0, 4.0),
    (-0.999, 3.0, 1e-3, 0.0, 4.0), (4.0, -9.0, 1.0, 0.0, 6.0), (4.0, -9.0, 1e-3, 0.0, 1.0),
    (-5.0, -9.0, 1.0, 0.1, 10.0), (-5.0, 0.0, 1e9, 0.1, 10.0), (1e8, -1e9, 1.0, 0.5, 2.0),
    (30.0, -2.0, 0.01, 1e-5, 250.0), (-50.0, 9.0, 1.0, 1.0, 1.0 + 1e-9), (9.0, -1.0, 9.0, 0.0, 5.0),
    (-0.5, 1e-9, 1e-18, 0.0, 1e9), (3.0, -1e-4, 1e-300, 0.0, 1e6),
]  # fmt: skip
INVERSE_GAUSSIAN = [
    (-1.0, -1.0), (-1e-9, -1.0), (0.0, -1.0), (-1.0, -1e-9), (-1e9, -1.0), (-1e8, -1e8),
    (-1e-300, -1e-300), (-1e-150, -1e150), (-1e-300, -1e-10), (-1e300, -1e-300),
]  # fmt: skip
BETA_PRIME = [
    (1.0, -5.0), (1e-3 - 1, -1.0), (1e-6 - 1, -3.0), (3.0, -4.05), (1e8, -2e8), (1e8, -1e8 - 2.5),
]  # fmt: skip
CUT_BETA_PRIME = [
    (1.0, -5.0, 0.1, 2.0), (1.0, -5.0, 1e20, INF), (-3.0, -5.0, 0.1, INF), (3.0, -2.0, 0.0, 9.0),
    (1e8, -2e8, 1.001, INF), (1.0, -5.0, 3.0, 3.0 + 1e-9), (-5.0, 6.0, 0.1, 30.0),
    (-5.0, 20.0, 0.1, 0.9), (1e-6 - 1, -2e-6, 0.5, INF), (-0.5, 20.0, 0.0, 5.0),
    (-1.0, 0.0, 1e-9, 1e9),
]  # fmt: skip

FAMILIES = {
    "generalized_inverse_gaussian": (GIG, gig),
    "truncated_generalized_inverse_gaussian": (CUT_GIG + BENT_GIG, gig),
    "modified_half_normal": (MHN, mhn),
    "truncated_modified_half_normal": (CUT_MHN + BENT_MHN, mhn),
    "inverse_gaussian": (INVERSE_GAUSSIAN, inverse_gaussian),
    "beta_prime": (BETA_PRIME, beta_prime),
    "truncated_beta_prime": (CUT_BETA_PRIME, beta_prime),
}


def drawn(family: str, cases: Any, size: tuple[int, ...]) -> Any:
    return getattr(runtime, family)(np.random.default_rng(11), *np.transpose(cases), size=size)


def uniform_of(family: str, case: tuple[float, ...], x: Any) -> Any:
    log_density = FAMILIES[family][1]
    if family.startswith("truncated"):
        *eta, lower, upper = case
        return on_logs(x, log_density(*eta), lower, upper)
    return on_logs(x, log_density(*case), 0.0, INF)


@pytest.mark.parametrize("family", FAMILIES)
def test_draws_follow_their_distribution_functions(family: str) -> None:
    cases = FAMILIES[family][0]
    x = drawn(family, cases, (N, len(cases)))
    p = {case: p_value(uniform_of(family, case, x[:, j])) for j, case in enumerate(cases)}
    assert {case: value for case, value in p.items() if not value > LEVEL} == {}
    assert ((x > 0) & (x < INF)).all()
    if family.startswith("truncated"):
        lower, upper = np.transpose(cases)[-2:]
        assert ((x > lower) & (x < upper)).all()


# ---- one number, drawn without arrays ---------------------------------------------------------

# (where a log density bends upwards, one number is drawn as an array is)
PLAIN = [
    (family, case)
    for family in [*FAMILIES][:4]
    for case in FAMILIES[family][0]
    if case not in BENT_GIG + BENT_MHN
]


def one_by_one(family: str, case: tuple[float, ...]) -> Any:
    draw, rng = getattr(runtime, family), np.random.default_rng(15)
    return np.array([draw(rng, *case, size=()) for _ in range(N)])


@pytest.mark.parametrize(("family", "case"), PLAIN)
def test_single_draws_follow_their_distribution_functions(family: str, case: Any) -> None:
    x = one_by_one(family, case)
    assert p_value(uniform_of(family, case, x)) > LEVEL
    lower, upper = case[-2:] if family.startswith("truncated") else (0.0, INF)
    assert ((x > lower) & (x < upper)).all()


@pytest.mark.parametrize(("family", "case"), PLAIN)
def test_single_draws_are_those_of_an_array_of_one(family: str, case: Any) -> None:
    """The same algorithm with the same random numbers: only roundings may differ."""
    draw, rngs = getattr(runtime, family), [np.random.default_rng(16) for _ in range(2)]
    pairs = [(draw(rngs[0], *case, size=()), draw(rngs[1], *case, size=(1,))[0]) for _ in range(50)]
    single, array = np.transpose(pairs)
    np.testing.assert_allclose(single, array, rtol=1e-12)
    assert rngs[0].bit_generator.state == rngs[1].bit_generator.state


def test_the_reference_agrees_with_scipy() -> None:
    t = np.geomspace(0.01, 20, 50)
    cases = (
        (gig(0.5, -1.0, -2.0), stats.geninvgauss(1.5, 8**0.5, scale=2**0.5)),
        (inverse_gaussian(-1.0, -2.0), stats.invgauss(2**0.5 / 4, scale=4.0)),
        (beta_prime(1.0, -5.0), stats.betaprime(2.0, 3.0)),
        (mhn(2.0, 0.0, -0.5), stats.chi(3)),
    )
    for log_density, reference in cases:
        # The grid's cells are a ten-thousandth of the range: their curvature is 1e-6 of the mass.
        np.testing.assert_allclose(
            on_logs(t, log_density, 0.0, INF), reference.cdf(t), atol=1e-6
        )


@pytest.mark.parametrize("scale", [1e20, 1e100, 1e200, 1e300])
def test_a_huge_concentration_keeps_the_mode(scale: float) -> None:
    """The mode of a sharp density solves ``p = a x - b / x``, whatever the size of a and b."""
    x = runtime.generalized_inverse_gaussian(
        np.random.default_rng(12), scale, -scale, -2 * scale, size=(50,)
    )
    # log x is off by a few roundings, and by the spread of the draws, below 1e-9.
    np.testing.assert_allclose(x, 2.0, rtol=1e-9 if scale == 1e20 else 1e-13)


@pytest.mark.parametrize("size", [(), (1,)])
def test_a_mode_below_the_smallest_number_keeps_the_scale(size: tuple[int, ...]) -> None:
    """The draws are those of a mode of 1, moved: with the same random numbers."""
    a, b = 1e300, 1e-320
    w = np.sqrt(a) * np.sqrt(b)
    logs = []
    for eta in ((-1.0, -a, -b), (-1.0, -w, -w)):
        rng = np.random.default_rng(22)
        x = [runtime.generalized_inverse_gaussian(rng, *eta, size=size) for _ in range(200)]
        logs.append(np.log(np.ravel(x)))
    seen = logs[0] > np.log(TINY)
    assert 0 < seen.sum() < seen.size
    expected = logs[1] + (np.log(b) - np.log(a)) / 2
    np.testing.assert_allclose(logs[0][seen], expected[seen], rtol=1e-12)


# ---- angles and directions -------------------------------------------------------------------


def angles(concentration: float) -> Any:
    return cdf_of(lambda t: -2 * concentration * np.sin(t / 2) ** 2, -np.pi, np.pi)


CONCENTRATIONS = (0.0, 1e-9, 0.1, 0.25, 0.5, 2.0, 50.0, 1e6, 1e10, 1e16, 1e20)


def test_von_mises_draws_follow_their_distribution_function() -> None:
    k = np.array(CONCENTRATIONS)
    x = runtime.von_mises(np.random.default_rng(13), k, 0.0, size=(20 * N, k.size))
    assert x.shape == (20 * N, k.size)
    assert (np.abs(x) < np.pi).all()
    assert min(p_value(angles(k)(x[:, j])) for j, k in enumerate(CONCENTRATIONS)) > LEVEL
    assert p_value(stats.vonmises(2.0).cdf(x[:, 5])) > LEVEL


@pytest.mark.parametrize("mean", [-3.1, -1.0, 0.5, 3.0, np.pi])
def test_von_mises_draws_turn_with_their_mean(mean: float) -> None:
    k = 3.0
    x = runtime.von_mises(
        np.random.default_rng(14), k * np.cos(mean), k * np.sin(mean), size=(N,)
    )
    assert (np.abs(x) < np.pi).all()
    turned = np.angle(np.exp(1j * (x - mean)))
    assert p_value(angles(k)(turned)) > LEVEL


def test_a_huge_concentration_of_angles_is_normal() -> None:
    x = runtime.von_mises(np.random.default_rng(15), 1e300, 0.0, size=(N,))
    assert p_value(stats.norm.cdf(x * 1e150)) > LEVEL


def cosine(concentration: float, d: int) -> Any:
    """Of ``y = (1 - cos) / 2``, on the scale of its log odds."""
    half = (d - 1) / 2
    return lambda z: (
        half * (special.log_expit(z) + special.log_expit(-z))
        - 2 * concentration * special.expit(z)
    )


@pytest.mark.parametrize("d", [2, 3, 10, 1000])
@pytest.mark.parametrize("concentration", [0.0, 1e-3, 1.0, 30.0, 1e6, 1e8])
def test_directions_follow_their_distribution_function(d: int, concentration: float) -> None:
    rng = np.random.default_rng(16)
    mean = rng.standard_normal(d)
    mean /= np.linalg.norm(mean)
    x = runtime.von_mises_fisher(rng, concentration * mean, size=(N, d))
    np.testing.assert_allclose((x * x).sum(-1), 1, rtol=1e-14)
    y = ((x - mean) ** 2).sum(-1) / 4
    cdf = cdf_of(cosine(concentration, d), -FAR, FAR)
    if concentration < 1e7:  # above, the digits of x show in the chord
        assert p_value(cdf(special.logit(y))) > LEVEL
    # The part across the mean has no direction of its own: its angle to another axis is known.
    other = rng.standard_normal(d)
    other -= (other @ mean) * mean
    across = x - (x @ mean)[:, None] * mean
    t = (across @ other) / np.linalg.norm(across, axis=1) / np.linalg.norm(other)
    if d == 2:
        assert stats.binomtest(int((t > 0).sum()), N).pvalue > LEVEL
    else:
        assert p_value(stats.beta((d - 2) / 2, (d - 2) / 2).cdf((1 + t) / 2)) > LEVEL


def test_directions_have_their_own_means() -> None:
    eta = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, -3e300, 4e300], [0.0, 1e-320, 0.0]])
    x = runtime.von_mises_fisher(np.random.default_rng(17), eta, size=(N, 4, 3))
    assert x.shape == (N, 4, 3)
    for row in (0, 3):
        for axis in range(3):  # on the sphere, a coordinate is uniform
            assert p_value((1 + x[:, row, axis]) / 2) > LEVEL
    w = np.expm1(2.0 * (x[:, 1, 0] + 1)) / np.expm1(4.0)
    assert p_value(w) > LEVEL
    np.testing.assert_allclose(x[:, 2], np.broadcast_to([0.0, -0.6, 0.8], (N, 3)), atol=1e-14)


# ---- shapes, errors --------------------------------------------------------------------------

ONE = {
    "generalized_inverse_gaussian": (0.5, -1.0, -2.0),
    "truncated_generalized_inverse_gaussian": (0.5, -1.0, -2.0, 0.5, 1.0),
    "modified_half_normal": (0.5, 1.0, -2.0),
    "truncated_modified_half_normal": (-0.5, 1.0, -2.0, 0.5, 1.0),
    "inverse_gaussian": (-1.0, -2.0),
    "beta_prime": (1.0, -5.0),
    "truncated_beta_prime": (1.0, -5.0, 0.5, 1.0),
    "von_mises": (1.0, -5.0),
}


@pytest.mark.parametrize("family", ONE)
def test_single_values_and_empty_arrays(family: str) -> None:
    draw, rng = getattr(runtime, family), np.random.default_rng(18)
    assert isinstance(draw(rng, *ONE[family], size=()), float)
    assert draw(rng, *ONE[family], size=(0,)).shape == (0,)
    assert draw(rng, *ONE[family], size=(4, 2)).shape == (4, 2)


def test_single_directions_and_empty_arrays() -> None:
    rng = np.random.default_rng(19)
    for size in ((3,), (0, 3), (4, 2, 3)):
        assert runtime.von_mises_fisher(rng, np.ones(3), size=size).shape == size


NAN = np.nan
IMPROPER = [
    ("generalized_inverse_gaussian", (0.5, 1.0, -1.0)),
    ("generalized_inverse_gaussian", (0.5, -1.0, 1.0)),
    ("generalized_inverse_gaussian", (0.5, 0.0, -1.0)),
    ("generalized_inverse_gaussian", (-1.0, -1.0, 0.0)),
    ("generalized_inverse_gaussian", (-1.0, 0.0, 0.0)),
    ("generalized_inverse_gaussian", (-1.0, 0.0, -1.0)),
    ("generalized_inverse_gaussian", (NAN, -1.0, -1.0)),
    ("generalized_inverse_gaussian", (1.0, NAN, -1.0)),
    ("truncated_generalized_inverse_gaussian", (0.5, 0.0, -1.0, 1.0, INF)),
    ("truncated_generalized_inverse_gaussian", (0.5, 1.0, -1.0, 1.0, INF)),
    ("truncated_generalized_inverse_gaussian", (0.5, -1.0, 1.0, 0.0, 1.0)),
    ("truncated_generalized_inverse_gaussian", (0.5, -1.0, NAN, 1.0, 2.0)),
    ("truncated_generalized_inverse_gaussian", (-1.5, -1.0, 0.0, 0.0, 1.0)),
    ("modified_half_normal", (-1.0, 1.0, -1.0)),
    ("modified_half_normal", (1.0, 1.0, 1.0)),
    ("modified_half_normal", (1.0, 0.0, 0.0)),
    ("modified_half_normal", (NAN, 1.0, -1.0)),
    ("modified_half_normal", (1.0, NAN, -1.0)),
    ("modified_half_normal", (-0.5, 1.0, NAN)),
    ("truncated_modified_half_normal", (1.0, 1.0, 0.0, 1.0, INF)),
    ("truncated_modified_half_normal", (1.0, -1.0, 1.0, 1.0, INF)),
    ("truncated_modified_half_normal", (1.0, 1.0, NAN, 1.0, 2.0)),
    ("truncated_modified_half_normal", (-1.0, 1.0, 1.0, 0.0, 1.0)),
    ("truncated_modified_half_normal", (-1.0, 1.0, -1.0, 0.0, 1.0)),
    ("truncated_modified_half_normal", (-1.0, 1.0, -1.0, 2.0, 1.0)),
    ("inverse_gaussian", (1.0, -1.0)),
    ("inverse_gaussian", (-1.0, 0.0)),
    ("inverse_gaussian", (NAN, -1.0)),
    ("beta_prime", (-1.0, -1.0)),
    ("beta_prime", (1.0, -2.0)),
    ("beta_prime", (1.0, 2.0)),
    ("truncated_beta_prime", (-1.0, -1.0, 0.0, 1.0)),
    ("truncated_beta_prime", (1.0, -2.0, 1.0, INF)),
    ("truncated_beta_prime", (1.0, NAN, 1.0, 2.0)),
    ("von_mises", (INF, 0.0)),
    ("von_mises", (NAN, 0.0)),
]


@pytest.mark.parametrize("case", IMPROPER, ids=str)
def test_improper_parameters_raise_and_give_no_value(case: Any) -> None:
    family, arguments = case
    for size in ((), (3,)):
        with pytest.raises(ValueError):
            getattr(runtime, family)(np.random.default_rng(20), *arguments, size=size)


def test_a_direction_that_is_no_number_raises() -> None:
    for size in ((3,), (5, 3)):
        with pytest.raises(ValueError, match="finite"):
            runtime.von_mises_fisher(np.random.default_rng(21), np.array([1.0, NAN, 0]), size=size)


# ---- planted bugs: the comparisons above must see them ---------------------------------------


@pytest.mark.parametrize(
    ("family", "case", "bug"),
    [
        ("generalized_inverse_gaussian", (0.5, -1.0, -2.0), (0.5, -2.0, -1.0)),
        ("generalized_inverse_gaussian", (-1.5, -1.0, -2.0), (-0.5, -1.0, -2.0)),
        ("generalized_inverse_gaussian", (-1.0, -1e-300, -1e-300), (-1.0, -1e-300, -1e-250)),
        ("inverse_gaussian", (-1.0, -1.0), (-1.0, -1.5)),
        ("modified_half_normal", (-0.5, 1.0, -1.0), (-0.5, 0.0, -1.0)),
        ("modified_half_normal", (1e-6 - 1, 8.5, -1.0), (1e-6 - 1, 9.0, -1.0)),
        ("beta_prime", (1.0, -5.0), (1.0, -6.0)),
        ("truncated_beta_prime", (-5.0, 20.0, 0.1, 0.9), (-5.0, 18.0, 0.1, 0.9)),
    ],
)
def test_planted_bugs_are_caught(family: str, case: Any, bug: Any) -> None:
    for x in (drawn(family, [bug], (N, 1))[:, 0], one_by_one(family, bug)):
        assert p_value(uniform_of(family, case, x)) < LEVEL
