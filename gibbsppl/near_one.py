"""How functions are called: with all digits near 1, and where exponentials underflow.

The interpreter and the back end both read these tables. What is added to 1 is passed alone, so that
the 1 does not take its digits; what something is the exponential of, where that may be too small
for a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from gibbsppl.expressions import FUNCTIONS, Expr, LogBetaI, LogGammaP, XLogY

# The NumPy forms of functions whose last argument is 1 and something else, of that alone.
BEYOND_ONE: Mapping[Any, str] = {sp.log: "log1p", XLogY: "xlog1py", LogBetaI: "log_beta_i_1p"}
# Those of functions whose last argument is an exponential, of the exponent.
OF_EXPONENTIALS: Mapping[Any, str] = {LogGammaP: "log_gamma_p_of_exp"}


def called_as(expr: Expr) -> tuple[str, tuple[Expr, ...]]:
    """The name of a function's NumPy form and its arguments, with all of their digits."""
    *first, last = expr.args
    if expr.func in BEYOND_ONE and (rest := beyond_one(last)) is not None:
        return BEYOND_ONE[expr.func], (*first, rest)
    if expr.func in OF_EXPONENTIALS and isinstance(last, sp.exp):
        return OF_EXPONENTIALS[expr.func], (*first, *last.args)
    return FUNCTIONS[expr.func], expr.args


def beyond_one(expr: Expr) -> Expr | None:
    """What a sum has besides the number 1, which would take its digits; None if it has no 1.

    >>> x = sp.Symbol("x")
    >>> beyond_one(1 - x), beyond_one(2 - x)
    (-x, None)
    """
    number, rest = expr.as_coeff_Add()
    return rest if number == 1 and rest != 0 else None
