r"""The functions of the language: one row each, with all known facts.

Comes in: SymPy's functions, and those that are made here. Goes out: how each is computed and
written, and what algebra may conclude of its values (`gibbsppl.algebra.function_rows`).
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

from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from typing import cast

import sympy as sp

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.function_rows import S_SHAPED, Bend, Function
from gibbsppl.algebra.intervals import ABOVE_ZERO, BELOW_ZERO, HALF, INF, ONE, ZERO, ZERO_TO_ONE
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.tails import beta_density, crossing, gamma_density, normal_density


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
LogBesselKByOrder = _function("LogBesselKByOrder", "The derivative of LogBesselK(v, x) by v.")
LogFoxWright = _function(
    "LogFoxWright",
    "LogFoxWright(a, z): log sum(gamma((a+k)/2) z**k/k!, k).",
    lambda a, z: loggamma(a / 2) if z == 0 else None,  # (one term of the sum is left)
)
LogFoxWrightByShape = _function("LogFoxWrightByShape", "The derivative of LogFoxWright(a, z) by a.")
LogPolyaGamma = _function("LogPolyaGamma", "LogPolyaGamma(b, x): log density of PG(b, 0) at x.")
LogStirling = _function("LogStirling", "LogStirling(n, l): log Stirling number, first kind.")
LogChiRatio = _function("LogChiRatio", "LogChiRatio(u): log chi-squared(1) by ten normals.")
XLogY = _function("XLogY", "XLogY(c, x): c * log(x), and 0 where c is 0.")
Weighted = _function("Weighted", "Weighted(w, x): w * x, and 0 where w is 0, whatever x is.")
# (a fifth argument is what it is where the interval is narrow)
LogMass = _function("LogMass", "LogMass(log_cdf_l, log_cdf_u, log_sf_l, log_sf_u): log P(l<x<u).")


def _by_tail(tails: tuple[Expr, ...], place: int) -> Expr:
    """The derivative of the log of a mass by a tail: of the tail that it is computed from."""
    below, sign = (True, 2 * place - 1) if place < 2 else (False, 5 - 2 * place)
    slope = sign * sp.exp(tails[place] - LogMass(*tails))
    is_below = Below(tails[1], tails[2])
    return Where(is_below, slope, sp.S.Zero) if below else Where(is_below, sp.S.Zero, slope)


def _by_drift(z: Expr, d: Expr, log_of: Expr) -> Expr:
    """The derivative of a probability of passage by the drift, divided by what a log is of."""
    return (z + d) * crossing(z, d, LogPhi(-z - d) - log_of) - normal_density(z, log_of)


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
        derivative=lambda x: 2 * AtMost(0, x) - 1,
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
        derivative=normal_density,
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
        derivative=lambda x: normal_density(x, LogPhi(x)),
        between=BELOW_ZERO,
        increasing=True,
        bends=(Bend("concave", "increasing"),),
        # (1 less is minus the variance of a normal variable above an end: M. R. Sampford, 1953,
        # "Some inequalities on Mill's ratio", Annals of Mathematical Statistics 24)
        second=(-ONE, ZERO),
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
        derivative=lambda a, x: gamma_density(a, x, LogGammaP(a, x)),
        between=BELOW_ZERO,
        bends_given=((ABOVE_ZERO, Bend("concave", "increasing", lower=0)),),
        defined=ABOVE_ZERO,
    ),
    Function(
        of=LogGammaQ,
        numpy="log_gamma_q",
        derivative=lambda a, x: -gamma_density(a, x, LogGammaQ(a, x)),
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
        derivative=lambda a, x: 1 - gamma_density(a, x, LogGammaU(a, x) - x),
    ),
    Function(
        of=LogBetaI,
        numpy="log_beta_i",
        near_one="log_beta_i_1p",
        derivative=lambda a, b, x: beta_density(a, b, x, LogBeta(a, b) + LogBetaI(a, b, x)),
        between=BELOW_ZERO,
    ),
    Function(
        of=LogBeta,
        numpy="log_beta",
        in_full=lambda a, b: loggamma(a) + loggamma(b) - loggamma(a + b),
        derivative=lambda a, b: Digamma(b) - Digamma(a + b),
        by_earlier={0: lambda a, b: Digamma(a) - Digamma(a + b)},
    ),
    Function(
        of=LogRising,
        numpy="log_rising",
        in_full=lambda a, m: loggamma(a + m) - loggamma(a),
        derivative=lambda a, m: Digamma(a + m),
        by_earlier={0: lambda a, m: Digamma(a + m) - Digamma(a)},
    ),
    Function(
        of=LogPassageP,
        numpy="log_passage_p",
        derivative=lambda z, d: _by_drift(z, d, LogPassageP(z, d)),
        by_earlier={0: lambda z, d: d * crossing(z, d, LogPhi(-z - d) - LogPassageP(z, d))},
        between=BELOW_ZERO,
    ),
    Function(
        of=LogPassageQ,
        numpy="log_passage_q",
        derivative=lambda z, d: -_by_drift(z, d, LogPassageQ(z, d)),
        by_earlier={0: lambda z, d: -d * crossing(z, d, LogPhi(-z - d) - LogPassageQ(z, d))},
        between=BELOW_ZERO,
    ),
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
        by_earlier={0: LogBesselKByOrder},
    ),
    Function(of=LogBesselKByOrder, numpy="log_bessel_k_by_order"),
    Function(
        of=LogFoxWright,
        numpy="log_fox_wright",
        derivative=lambda a, z: sp.exp(LogFoxWright(a + 1, z) - LogFoxWright(a, z)),
        by_earlier={0: LogFoxWrightByShape},
    ),
    Function(of=LogFoxWrightByShape, numpy="log_fox_wright_by_shape"),
    Function(of=LogPolyaGamma, numpy="log_polya_gamma"),
    Function(of=LogStirling, numpy="log_stirling"),
    Function(of=LogChiRatio, numpy="log_chi_ratio", is_correction=True),
    Function(
        of=LogMass,
        numpy="log_mass",
        # (what it is where the interval is narrow says nothing more: it has no slope of its own)
        derivative=lambda *tails: _by_tail(tails, 3) if len(tails) == 4 else sp.S.Zero,
        by_earlier={n: lambda *tails, n=n: _by_tail(tails, n) for n in range(4)},
        between=BELOW_ZERO,
    ),
    Function(
        of=XLogY,
        numpy="xlogy",
        near_one="xlog1py",
        in_full=lambda c, x: c * sp.log(x),
        derivative=lambda c, x: Weighted(c, 1 / x),
        by_earlier={0: lambda _, x: sp.log(x)},
    ),
    Function(
        of=Weighted,
        numpy="weighted",
        derivative=lambda w, _: w,
        by_earlier={0: lambda _, x: x},
    ),
)

FUNCTIONS: Mapping[type[Expr], Function] = {row.of: row for row in ROWS}


def functions_that(hold: Callable[[Function], bool | str]) -> tuple[type[sp.Function], ...]:
    """SymPy's functions of the rows for which a condition holds."""
    return tuple(row.of for row in ROWS if hold(row))


INDICATORS = functions_that(lambda row: row.relation)
BOUNDED = functions_that(lambda row: row.is_bounded)
INCREASING = functions_that(lambda row: row.increasing)
FADING = functions_that(lambda row: row.fades)
CORRECTIONS = functions_that(lambda row: row.is_correction)


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
