"""Powers with floats as exponents: one variable each in algebra of polynomials."""

import numpy as np
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.polynomials import cancelled, factored, quotient
from gibbsppl.analysis.signs.coefficients import sign_by_coefficients

# What a float is exactly: as a polynomial in a root, one of a degree of 10**15.
OF_A_FLOAT = sp.Rational(0.72)
a = sp.Symbol("a", positive=True)
b = sp.Symbol("b", positive=True)
c = sp.Symbol("c", positive=True)
POWER = (a + b) ** OF_A_FLOAT


def test_sums_with_a_power_that_is_a_float_are_factored():
    assert factored(a * POWER + b * POWER) == (a + b) * POWER
    assert factored(3 * POWER + 7) == 3 * POWER + 7


def test_quotients_with_a_power_that_is_a_float_are_put_in_lowest_terms():
    assert cancelled((a**2 - a * POWER) / a) == a - POWER
    assert quotient(sp.S.One, 1 - 1 / (1 + c**OF_A_FLOAT)).subs(c, 1) == 2


def test_the_sign_of_a_sum_with_a_power_that_is_a_float_is_told():
    assert sign_by_coefficients(3 * POWER + 7) == "positive"
    assert sign_by_coefficients(3 * (1 - a) ** OF_A_FLOAT + 7) == "unknown"


def test_zeros_or_counts_of_a_fractional_number_are_compiled():
    with gp.Model(coords={"i": 1, "k": 2, "t": 3}) as model:
        x = gp.Gamma("x", shape=1.5, rate=1, dims=("k", "i"))
        n = gp.Data("n", np.array([0.72]), dims="i")
        gp.ZeroInflatedNegativeBinomial(
            "y",
            psi=0.3,
            n=n,
            p=1 - gp.exp(-(x.at("k", 1) ** -0.5)),
            dims=("i", "t"),
            observed=np.ma.masked_array([[1.0, 0.0, 0.0]], mask=[[False, True, True]]),
        )

    assert gp.compile(model, kernels={"x": gp.Slice()}).verify().proved


def test_numbers_with_very_many_digits_are_not_factored():
    x, y = sp.symbols("x y", positive=True)
    large = sp.Rational(10) ** 300
    assert factored(large**2 * x**2 - y**2) == large**2 * x**2 - y**2
    assert factored(10**20 * x**2 - y**2).is_Mul
