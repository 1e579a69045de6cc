"""The sign of rational functions and of second derivatives, from coefficients.

Where bounds alone do not tell (`gibbsppl.analysis.bounds`): `coefficients` of polynomials whose
terms have one sign, `derivatives` of curves, `samples` that show where no proof is to be found.
"""

from gibbsppl.analysis.signs.coefficients import sign_by_coefficients
from gibbsppl.analysis.signs.derivatives import sign_of_second_derivative

__all__ = ["sign_by_coefficients", "sign_of_second_derivative"]
