"""The row of a function of the language: all that may be known of it.

A fact left out of a row is not known. The rows are in `gibbsppl.algebra.functions`.

>>> import sympy as sp
>>> row = Function(of=sp.sinh, numpy="sinh", derivative=sp.cosh, bends=S_SHAPED[::-1])
>>> row.printed("x"), row.is_bounded, row.bends[0].kind
('sinh(x)', False, 'concave')
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import sympy as sp

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.intervals import INF, End, Interval

Kind = Literal["constant", "affine", "convex", "concave", "unknown"]
Monotone = Literal["increasing", "decreasing", "neither"]


@dataclass(frozen=True, slots=True)
class Bend:
    """The curvature and direction of a function of one argument, where this is between two ends."""

    kind: Kind
    monotone: Monotone
    lower: End = -INF
    upper: End = INF


# The first that holds is taken.
S_SHAPED = (Bend("convex", "increasing", upper=0), Bend("concave", "increasing", lower=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """The known facts of a function of the language.

    ``numpy`` is the name in `gibbsppl.runtime.functions`; ``near_one`` names the form that takes
    the last argument less 1, ``of_exponential`` the form that takes the log of the last argument.
    ``text`` (else a call), ``latex``, ``loop`` (Python, for compiled loops) and ``bugs`` are
    written with the arguments put in; a function without the last two has no such form.
    ``in_full`` writes the function by others, ``relation`` is the sign of an indicator.
    ``derivative`` (by the last argument), ``by_earlier`` (by earlier ones, at their places),
    ``inverse`` and ``log`` are expressions of the arguments; the inverse is infinite at ends that
    the function does not reach. ``symmetric``: ``1 - f(x)`` is ``f(-x)``. Values are ``between``
    two ends; an increasing function, never falling in an argument, crosses a value at a point
    (``at``). ``bends``: the curvature (``bends_given``: in the last argument, a first one given);
    ``second``: the second derivative is between two ends.
    ``defined``: where the last argument has to be, if the function is no number elsewhere.
    ``finite``: where arguments are. ``fades``: near to zero. ``is_correction``: the log of a ratio
    that is near to one where the argument is likely; draws without it are proposals.
    """

    of: type[sp.Function]
    numpy: str
    near_one: str = ""
    of_exponential: str = ""
    text: str = ""
    latex: str = ""
    loop: str = ""
    bugs: str = ""
    in_full: Callable[..., Expr] | None = None
    relation: str = ""
    derivative: Callable[..., Expr] | None = None
    by_earlier: Mapping[int, Callable[..., Expr]] = field(default_factory=dict)
    inverse: Callable[[Expr], Expr] | None = None
    log: Callable[[Expr], Expr] | None = None
    symmetric: bool = False
    between: Interval = (-INF, INF)
    at: tuple[Fraction, Fraction] | None = None
    increasing: bool = False
    bends: tuple[Bend, ...] = ()
    bends_given: tuple[tuple[Interval, Bend], ...] = ()
    second: Interval = (-INF, INF)
    defined: Interval = (-INF, INF)
    finite: bool = False
    fades: bool = False
    is_correction: bool = False

    @property
    def is_bounded(self) -> bool:
        """Whether values are between two numbers."""
        return not any(map(math.isinf, self.between))

    def printed(self, *arguments: str) -> str:
        """The text of the function at arguments."""
        inside = ", ".join(arguments)
        return self.text.format(inside) if self.text else f"{self.numpy}({inside})"
