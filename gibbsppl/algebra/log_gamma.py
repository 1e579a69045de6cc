"""The log of the gamma function as an expression, whatever number it is of.

SymPy makes logs of factorials of whole and half numbers, digit by digit: of the number of trials of
a large study alone that takes minutes. Here only those that floats can hold are made.

>>> loggamma(5)
log(24)
>>> loggamma(10_000_000)
loggamma(10000000)
"""

from __future__ import annotations

import sympy as sp

# The largest argument with a gamma function that is a float.
MOST = 171


class loggamma(sp.loggamma):  # noqa: N801  (it prints as SymPy's does)
    """The log of the gamma function."""

    @classmethod
    def eval(cls, z: sp.Expr) -> sp.Expr | None:  # type: ignore[override]
        """SymPy's value of a number; none where that is one of many digits, or of a name of one."""
        if not z.is_Number or z > MOST:
            return None
        return super().eval(z)


def log_choose(n: sp.Expr, k: sp.Expr) -> sp.Expr:
    """The log of a binomial coefficient."""
    return loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1)
