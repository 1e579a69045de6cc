r"""The functions of the language: one row each, with all known facts.

Comes in: SymPy's functions, and those that are made here. Goes out: how each is computed and
written, and what algebra may conclude of its values. A fact left out of a row is not known.
Curvature, intervals, logs, roundings and printers read rows: a function is named there only where
something special is to be said of it.

>>> from gibbsppl.algebra.expressions import Array
>>> x = Array("x")[()]
>>> row = FUNCTIONS[Phi]
>>> row.numpy, row.printed("x"), row.latex.format("x"), row.between
('normal_cdf', 'Phi(x)', '\\Phi(x)', (Fraction(0, 1), Fraction(1, 1)))
>>> log_of(1 - Phi(x)), log_of(x + 1)
(LogPhi(-x), None)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

import sympy as sp

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.intervals import (
    ABOVE_ZERO,
    BELOW_ZERO,
    HALF,
    INF,
    ONE,
    ZERO,
    ZERO_TO_ONE,
    End,
    Interval,
)
from gibbsppl.algebra.log_gamma import loggamma

Kind = Literal["constant", "affine", "convex", "concave", "unknown"]
Monotone = Literal["increasing", "decreasing", "neither"]


def _function(
    name: str, doc: str, known: Callable[..., Expr | None] | None = None, **properties: bool
) -> type[sp.Function]:
    def assume(value: bool) -> Callable[[Expr], bool]:
        return lambda _self: value

    def of(_cls: type[Expr], *args: Expr) -> Expr | None:
        return None if known is None else known(*args)

    body: dict[str, object] = {"__doc__": doc, "__module__": __name__, "eval": classmethod(of)}
    body["_eval_is_extended_real"] = assume(True)  # noqa: FBT003
    body["_eval_evalf"] = lambda self, _prec: _of_floats(name, self.args)  # (to compare numbers)
    body |= {f"_eval_is_{p}": assume(v) for p, v in properties.items()}
    return cast("type[sp.Function]", type(name, (sp.Function,), body))


def _of_floats(name: str, args: Collection[Expr]) -> Expr | None:
    """The value of a function of the language at numbers; None at anything else."""
    if not all((n := a.evalf()).is_Number and n.is_extended_real for a in args):
        return None
    from gibbsppl.runtime import functions  # noqa: PLC0415  (declaring a model needs no SciPy)

    (own,) = (row.numpy for row in ROWS if row.of.__name__ == name)
    return sp.Float(float(getattr(functions, own)(*map(float, args))))


def _of_numbers(extreme: Callable[..., Expr]) -> Callable[..., Expr | None]:
    """The extreme of numbers, which leaves all else as it is."""
    return lambda *args: extreme(*args) if all(a.is_Number for a in args) else None


Expit = _function("Expit", "1 / (1 + exp(-x)).", positive=True)
Softplus = _function("Softplus", "log(1 + exp(x)).", positive=True)
Phi = _function("Phi", "The standard normal distribution function.", positive=True)
LogPhi = _function("LogPhi", "The log of the standard normal distribution function.")
Where = _function("Where", "Where(c, a, b): a where the indicator c is 1, b where it is 0.")
Minimum = _function("Minimum", "The smaller of two numbers.", _of_numbers(sp.Min))
Maximum = _function("Maximum", "The larger of two numbers.", _of_numbers(sp.Max))
AtMost = _function("AtMost", "AtMost(a, b): 1 where a <= b, else 0.", nonnegative=True)
Below = _function("Below", "Below(a, b): 1 where a < b, else 0.", nonnegative=True)
Equals = _function("Equals", "Equals(a, b): 1 where a == b, else 0.", nonnegative=True)
Digamma = _function("Digamma", "The derivative of the log of the gamma function.")
LogGammaP = _function("LogGammaP", "LogGammaP(a, x): log lower regularised incomplete gamma.")
LogGammaQ = _function("LogGammaQ", "LogGammaQ(a, x): log upper regularised incomplete gamma.")
LogGammaU = _function("LogGammaU", "LogGammaU(a, x): x + LogGammaQ(a, x).")
LogBetaI = _function("LogBetaI", "LogBetaI(a, b, x): log regularised incomplete beta function.")
LogBeta = _function("LogBeta", "LogBeta(a, b): loggamma(a) + loggamma(b) - loggamma(a + b).")
LogRising = _function("LogRising", "LogRising(a, m): loggamma(a + m) - loggamma(a).")
LogPassageP = _function("LogPassageP", "LogPassageP(z, d): log(Phi(z) + exp(dz+d**2/2) Phi(-z-d)).")
LogPassageQ = _function("LogPassageQ", "LogPassageQ(z, d): the log of one less that.")
LogBesselI = _function("LogBesselI", "LogBesselI(v, x): log modified Bessel function I of order v.")
LogBesselK = _function("LogBesselK", "LogBesselK(v, x): log modified Bessel function K of order v.")
LogFoxWright = _function(
    "LogFoxWright",
    "LogFoxWright(a, z): log sum(gamma((a+k)/2) z**k/k!, k).",
    lambda a, z: loggamma(a / 2) if z == 0 else None,  # (one term of the sum is left)
)
LogPolyaGamma = _function("LogPolyaGamma", "LogPolyaGamma(b, x): log density of PG(b, 0) at x.")
LogStirling = _function("LogStirling", "LogStirling(n, l): log Stirling number, first kind.")
XLogY = _function("XLogY", "XLogY(c, x): c * log(x), and 0 where c is 0.")
Weighted = _function("Weighted", "Weighted(w, x): w * x, and 0 where w is 0, whatever x is.")
# (a fifth argument is what it is where the interval is narrow)
LogMass = _function("LogMass", "LogMass(log_cdf_l, log_cdf_u, log_sf_l, log_sf_u): log P(l<x<u).")


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
    ``derivative`` (by the last argument), ``inverse`` and ``log`` are expressions of the arguments;
    the inverse is infinite at ends that the function does not reach. ``symmetric``: ``1 - f(x)`` is
    ``f(-x)``. Values are ``between`` two ends; an increasing function, never falling in an
    argument, crosses a value at a point (``at``). ``bends``: the curvature (``bends_given``: in the
    last argument, a first one given). ``finite``: where arguments are. ``fades``: near to zero.
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
    inverse: Callable[[Expr], Expr] | None = None
    log: Callable[[Expr], Expr] | None = None
    symmetric: bool = False
    between: Interval = (-INF, INF)
    at: tuple[Fraction, Fraction] | None = None
    increasing: bool = False
    bends: tuple[Bend, ...] = ()
    bends_given: tuple[tuple[Interval, Bend], ...] = ()
    finite: bool = False
    fades: bool = False

    @property
    def is_bounded(self) -> bool:
        """Whether values are between two numbers."""
        return not any(map(math.isinf, self.between))

    def printed(self, *arguments: str) -> str:
        """The text of the function at arguments."""
        inside = ", ".join(arguments)
        return self.text.format(inside) if self.text else f"{self.numpy}({inside})"


def _normal_density(x: Expr) -> Expr:
    return sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)


ROWS = (
    Function(
        of=sp.exp,
        numpy="exp",
        latex=r"\exp({})",
        loop="math.exp({})",
        bugs="exp",
        derivative=sp.exp,
        inverse=sp.log,
        log=lambda x: x,
        between=ABOVE_ZERO,
        at=(ZERO, ONE),
        increasing=True,
        bends=(Bend("convex", "increasing"),),
        fades=True,
    ),
    Function(
        of=sp.log,
        numpy="log",
        near_one="log1p",
        latex=r"\log({})",
        loop="math.log({})",
        bugs="log",
        derivative=lambda x: 1 / x,
        inverse=sp.exp,
        at=(ONE, ZERO),
        increasing=True,
        bends=(Bend("concave", "increasing"),),
    ),
    Function(
        of=sp.Abs,
        numpy="abs",
        latex=r"\left|{}\right|",
        bugs="abs",
        between=ABOVE_ZERO,
        bends=(
            Bend("convex", "increasing", lower=0),
            Bend("convex", "decreasing", upper=0),
            Bend("convex", "neither"),
        ),
        finite=True,
    ),
    Function(
        of=loggamma,
        numpy="loggamma",
        latex=r"\log\Gamma({})",
        loop="math.lgamma({})",
        bugs="loggam",
        derivative=Digamma,
        bends=(
            Bend("convex", "increasing", lower=Fraction(3, 2)),
            Bend("convex", "decreasing", lower=0, upper=Fraction(7, 5)),
            Bend("convex", "neither", lower=0),
        ),
    ),
    Function(of=Digamma, numpy="digamma", latex=r"\psi({})"),
    Function(
        of=sp.cos,
        numpy="cos",
        latex=r"\cos({})",
        bugs="cos",
        derivative=lambda x: -sp.sin(x),
        between=(-ONE, ONE),
    ),
    Function(
        of=sp.sin,
        numpy="sin",
        latex=r"\sin({})",
        bugs="sin",
        derivative=sp.cos,
        between=(-ONE, ONE),
    ),
    Function(
        of=sp.atan,
        numpy="arctan",
        latex=r"\arctan({})",
        bugs="arctan",
        derivative=lambda x: 1 / (1 + x**2),
        between=(Fraction(-8, 5), Fraction(8, 5)),
        at=(ZERO, ZERO),
        increasing=True,
        bends=S_SHAPED,
    ),
    Function(
        of=Expit,
        numpy="expit",
        latex=r"\operatorname{{expit}}({})",
        bugs="ilogit",
        derivative=lambda x: Expit(x) * Expit(-x),
        inverse=lambda y: sp.log(y) - sp.log(1 - y),
        log=lambda x: -Softplus(-x),
        symmetric=True,
        between=ZERO_TO_ONE,
        at=(ZERO, HALF),
        increasing=True,
        bends=S_SHAPED,
        fades=True,
    ),
    Function(
        of=Softplus,
        numpy="softplus",
        text="log(1 + exp({}))",
        latex=r"\log(1 + \exp({}))",
        loop="(max({0}, 0.0) + math.log1p(math.exp(-abs({0}))))",
        in_full=lambda x: sp.log(1 + sp.exp(x)),
        derivative=Expit,
        inverse=lambda y: y + sp.log(1 - sp.exp(-y)),
        between=ABOVE_ZERO,
        increasing=True,
        bends=(Bend("convex", "increasing"),),
        finite=True,
        fades=True,
    ),
    Function(
        of=Phi,
        numpy="normal_cdf",
        text="Phi({})",
        latex=r"\Phi({})",
        bugs="phi",
        derivative=_normal_density,
        log=LogPhi,
        symmetric=True,
        between=ZERO_TO_ONE,
        at=(ZERO, HALF),
        increasing=True,
        bends=S_SHAPED,
        fades=True,
    ),
    Function(
        of=LogPhi,
        numpy="normal_log_cdf",
        text="log(Phi({}))",
        latex=r"\log\Phi({})",
        in_full=lambda x: sp.log(Phi(x)),
        derivative=lambda x: sp.exp(-(x**2) / 2 - LogPhi(x)) / sp.sqrt(2 * sp.pi),
        between=BELOW_ZERO,
        increasing=True,
        bends=(Bend("concave", "increasing"),),
        finite=True,
        fades=True,
    ),
    Function(of=Where, numpy="where", bugs="ifelse"),
    Function(of=Minimum, numpy="minimum", bugs="min", increasing=True, finite=True),
    Function(of=Maximum, numpy="maximum", bugs="max", increasing=True, finite=True),
    Function(of=AtMost, numpy="at_most", relation="<=", bugs="<=", between=ZERO_TO_ONE),
    Function(of=Below, numpy="below", relation="<", bugs="<", between=ZERO_TO_ONE),
    Function(of=Equals, numpy="equals", relation="=", bugs="==", between=ZERO_TO_ONE),
    Function(
        of=LogGammaP,
        numpy="log_gamma_p",
        of_exponential="log_gamma_p_of_exp",
        between=BELOW_ZERO,
        bends_given=((ABOVE_ZERO, Bend("concave", "increasing", lower=0)),),
    ),
    Function(
        of=LogGammaQ,
        numpy="log_gamma_q",
        between=BELOW_ZERO,
        bends_given=(
            ((ONE, INF), Bend("concave", "decreasing", lower=0)),
            (ZERO_TO_ONE, Bend("convex", "decreasing", lower=0)),
        ),
    ),
    Function(
        of=LogGammaU,
        numpy="log_gamma_u",
        in_full=lambda a, x: x + LogGammaQ(a, x),
    ),
    Function(of=LogBetaI, numpy="log_beta_i", near_one="log_beta_i_1p", between=BELOW_ZERO),
    Function(
        of=LogBeta,
        numpy="log_beta",
        in_full=lambda a, b: loggamma(a) + loggamma(b) - loggamma(a + b),
    ),
    Function(
        of=LogRising,
        numpy="log_rising",
        in_full=lambda a, m: loggamma(a + m) - loggamma(a),
    ),
    Function(of=LogPassageP, numpy="log_passage_p", between=BELOW_ZERO),
    Function(of=LogPassageQ, numpy="log_passage_q", between=BELOW_ZERO),
    Function(  # (of order 0: the log of the integral of exp(x cos(t)), a log partition function)
        of=LogBesselI,
        numpy="log_bessel_i",
        derivative=lambda v, x: v / x + sp.exp(LogBesselI(v + 1, x) - LogBesselI(v, x)),
        bends_given=(((ZERO, ZERO), Bend("convex", "increasing", lower=0)),),
    ),
    Function(
        of=LogBesselK,
        numpy="log_bessel_k",
        derivative=lambda v, x: v / x - sp.exp(LogBesselK(v + 1, x) - LogBesselK(v, x)),
    ),
    Function(of=LogFoxWright, numpy="log_fox_wright"),
    Function(of=LogPolyaGamma, numpy="log_polya_gamma"),
    Function(of=LogStirling, numpy="log_stirling"),
    Function(of=LogMass, numpy="log_mass", between=BELOW_ZERO),
    Function(of=XLogY, numpy="xlogy", near_one="xlog1py", in_full=lambda c, x: c * sp.log(x)),
    Function(of=Weighted, numpy="weighted"),
)

FUNCTIONS: Mapping[type[Expr], Function] = {row.of: row for row in ROWS}


def functions_that(hold: Callable[[Function], bool | str]) -> tuple[type[sp.Function], ...]:
    """SymPy's functions of the rows for which a condition holds."""
    return tuple(row.of for row in ROWS if hold(row))


INDICATORS = functions_that(lambda row: row.relation)
BOUNDED = functions_that(lambda row: row.is_bounded)
INCREASING = functions_that(lambda row: row.increasing)
FADING = functions_that(lambda row: row.fades)


def complement_of(probability: Expr) -> Expr | None:
    """One minus the value of a symmetric function, as its value at the opposite; else None.

    >>> x = sp.Symbol("x", real=True)
    >>> complement_of(Phi(x)), complement_of(sp.exp(x))
    (Phi(-x), None)
    """
    row = FUNCTIONS.get(probability.func)
    return probability.func(-probability.args[0]) if row is not None and row.symmetric else None


def log_of(of: Expr) -> Expr | None:
    """The log of a function, or of one minus a symmetric one, if the row has a log; else None."""
    function = of if of.func in FUNCTIONS else complement_of(1 - of)
    if function is None or (log := FUNCTIONS[function.func].log) is None:
        return None
    return log(*function.args)


def in_full(expr: Expr) -> Expr:
    """An expression with functions that would be printed as calls written out, where possible.

    >>> nu, m = sp.symbols("nu m")
    >>> in_full(m * LogRising(nu, m))
    m*(-loggamma(nu) + loggamma(m + nu))
    """
    for row in ROWS:
        if row.in_full is not None and not row.text:
            expr = expr.replace(row.of, row.in_full)
    return expr
