"""The table of distributions: one row each, facts only. Algorithms read rows, never names.

A row says how a user may write the parameters, where the values are, the log density (SymPy), how
to simulate; an exponential family also says its statistics, how to draw from their coefficients
(the natural parameters), its log partition function and where that is finite. Natural parameters
are nowhere written down: they are what multiplies the statistics in a log density.

>>> from gibbsppl.algebra.expressions import Array
>>> x, mu, tau = (Array(n)[()] for n in ("x", "mu", "tau"))
>>> FAMILIES["Normal"].log_density(x, (), mu=mu, tau=tau)
-(-mu + x)**2*tau/2 + log(tau)/2 - log(2*pi)/2

A new distribution is one row, in the module of its support, and its name in the tuple below:

- `real`; `positive`, with `lengths` of normal vectors, `survival` times and `generalized` Gammas;
  `bounded`
- whole numbers: `discrete`, `inflated` at zero
- vectors and matrices: `multivariate`; angles and unit vectors: `directional`

`rows` says what a row holds. `masses` has the log probability of an interval, for any row.
"""

from __future__ import annotations

from collections.abc import Mapping

from gibbsppl.families.bounded import BETA, KUMARASWAMY, UNIFORM
from gibbsppl.families.directional import VON_MISES, VON_MISES_FISHER
from gibbsppl.families.discrete import (
    BERNOULLI,
    BETA_BINOMIAL,
    BINOMIAL,
    CATEGORICAL,
    CHINESE_RESTAURANT_TABLE,
    DISCRETE_UNIFORM,
    GEOMETRIC,
    HYPERGEOMETRIC,
    NEGATIVE_BINOMIAL,
    POISSON,
)
from gibbsppl.families.generalized import (
    BETA_PRIME,
    FISHER_SNEDECOR,
    GENERALIZED_INVERSE_GAUSSIAN,
    INVERSE_GAUSSIAN,
    MODIFIED_HALF_NORMAL,
    POLYA_GAMMA,
)
from gibbsppl.families.inflated import (
    ZERO_INFLATED_BINOMIAL,
    ZERO_INFLATED_NEGATIVE_BINOMIAL,
    ZERO_INFLATED_POISSON,
)
from gibbsppl.families.lengths import CHI, MAXWELL, NAKAGAMI, RAYLEIGH
from gibbsppl.families.multivariate import (
    DIRICHLET,
    HUANG_WAND,
    INVERSE_WISHART,
    MULTINOMIAL,
    MV_STUDENT_T,
    MVNORMAL,
    WISHART,
)
from gibbsppl.families.positive import (
    CHI_SQUARED,
    EXPONENTIAL,
    GAMMA,
    HALF_CAUCHY,
    HALF_FLAT,
    HALF_NORMAL,
    HALF_STUDENT_T,
    INVERSE_GAMMA,
    LOG_NORMAL,
    PARETO,
    WEIBULL,
)
from gibbsppl.families.real import (
    ASYMMETRIC_LAPLACE,
    CAUCHY,
    FLAT,
    GUMBEL,
    LAPLACE,
    LOGISTIC,
    NORMAL,
    STUDENT_T,
)
from gibbsppl.families.rows import Family, Natural, Parameter, inverse
from gibbsppl.families.survival import (
    BETA_EXPONENTIAL,
    BURR_XII,
    FRECHET,
    GENERALIZED_GAMMA,
    GOMPERTZ,
    LOMAX,
)

__all__ = ["FAMILIES", "Family", "Natural", "Parameter", "inverse"]

# The order is the one in which families are tried on the statistics of a conditional.
FAMILIES: Mapping[str, Family] = {
    row.name: row
    for row in (
        NORMAL,
        GAMMA,
        INVERSE_GAMMA,
        BETA,
        LOG_NORMAL,
        EXPONENTIAL,
        HALF_NORMAL,
        LAPLACE,
        PARETO,
        WEIBULL,
        CHI_SQUARED,
        INVERSE_GAUSSIAN,
        BETA_PRIME,
        BETA_EXPONENTIAL,
        GENERALIZED_INVERSE_GAUSSIAN,
        MODIFIED_HALF_NORMAL,
        POLYA_GAMMA,
        VON_MISES,
        UNIFORM,
        STUDENT_T,
        CAUCHY,
        ASYMMETRIC_LAPLACE,
        LOGISTIC,
        HALF_CAUCHY,
        HALF_STUDENT_T,
        GUMBEL,
        RAYLEIGH,
        MAXWELL,
        CHI,
        NAKAGAMI,
        GENERALIZED_GAMMA,
        FISHER_SNEDECOR,
        LOMAX,
        BURR_XII,
        GOMPERTZ,
        FRECHET,
        KUMARASWAMY,
        FLAT,
        HALF_FLAT,
        BERNOULLI,
        BINOMIAL,
        POISSON,
        GEOMETRIC,
        NEGATIVE_BINOMIAL,
        CHINESE_RESTAURANT_TABLE,
        BETA_BINOMIAL,
        ZERO_INFLATED_POISSON,
        ZERO_INFLATED_BINOMIAL,
        ZERO_INFLATED_NEGATIVE_BINOMIAL,
        CATEGORICAL,
        DISCRETE_UNIFORM,
        HYPERGEOMETRIC,
        DIRICHLET,
        MULTINOMIAL,
        MVNORMAL,
        MV_STUDENT_T,
        WISHART,
        INVERSE_WISHART,
        HUANG_WAND,
        VON_MISES_FISHER,
    )
}
