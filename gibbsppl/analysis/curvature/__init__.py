"""Whether a log density is concave in an array, with the rules that show it.

Comes in: an expression, or the pieces of a conditional, the name of an array (all its elements vary
together) and the bounds of the elements of all arrays. Goes out: a `Curvature`, with its rule and
the curvatures of parts, or a `Certificate` with a curvature for each term. No data are read: a
curvature holds for all values within the bounds. An expression is read where it is defined: a log
where its argument is positive.

`reader` has a rule for each kind of expression, with `bends` of powers and compositions, `curves`
of one place, `squares` and `sums` of terms that are concave only together; `kinds` are the answers.

>>> from gibbsppl.algebra.expressions import Array, Dim, Over
>>> from gibbsppl.algebra.functions import Softplus
>>> x, n, b, k = Array("x"), Array("n", positive=True)[()], Array("b"), Dim("k")
>>> print(curvature_of(-n * Softplus(Over(x[k] * b[k], k)), "b", {}.get))
-n*log(1 + exp(sum(b[k]*x[k], k)))  concave: a negative multiple of a convex function
  log(1 + exp(sum(b[k]*x[k], k)))   convex: a convex function of an affine one
    sum(b[k]*x[k], k)               affine: a sum over k
      b[k]*x[k]                     affine: a multiple of an affine function
        b[k]                        affine: an element of b
"""

from gibbsppl.algebra.function_rows import Kind, Monotone
from gibbsppl.analysis.curvature.bends import POWERS
from gibbsppl.analysis.curvature.kinds import (
    AFFINE,
    CONCAVE,
    CONVEX,
    MIRRORED,
    REVERSED,
    Certificate,
    Curvature,
)
from gibbsppl.analysis.curvature.reader import curvature_of

__all__ = [
    "AFFINE",
    "CONCAVE",
    "CONVEX",
    "MIRRORED",
    "POWERS",
    "REVERSED",
    "Certificate",
    "Curvature",
    "Kind",
    "Monotone",
    "curvature_of",
]
