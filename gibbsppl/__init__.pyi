"""gibbsppl: a compiler that derives, explains, checks and runs Gibbs samplers."""

# Written by tests/stub.py from the table of distributions; a test compares the two.

from typing import overload

from numpy.typing import ArrayLike as _ArrayLike

from gibbsppl import runtime as runtime
from gibbsppl.bugs.inits import read_inits as read_inits
from gibbsppl.bugs.read import read_bugs as read_bugs
from gibbsppl.bugs.syntax import BugsError as BugsError
from gibbsppl.bugs.write import write_bugs as write_bugs
from gibbsppl.compiling import compile as compile
from gibbsppl.errors import CompileError as CompileError
from gibbsppl.errors import GibbspplError as GibbspplError
from gibbsppl.errors import ModelError as ModelError
from gibbsppl.errors import RunError as RunError
from gibbsppl.kernels import AdaptiveRejection as AdaptiveRejection
from gibbsppl.kernels import Cycle as Cycle
from gibbsppl.kernels import EllipticalSlice as EllipticalSlice
from gibbsppl.kernels import Exact as Exact
from gibbsppl.kernels import HMC as HMC
from gibbsppl.kernels import Mix as Mix
from gibbsppl.kernels import NUTS as NUTS
from gibbsppl.kernels import OverRelaxed as OverRelaxed
from gibbsppl.kernels import Proposal as Proposal
from gibbsppl.kernels import RandomWalk as RandomWalk
from gibbsppl.kernels import Slice as Slice
from gibbsppl.kernels import Swap as Swap
from gibbsppl.language.arrays import Array as Array
from gibbsppl.language.censoring import Censored as Censored
from gibbsppl.language.data import Data as Data
from gibbsppl.language.data import Index as Index
from gibbsppl.language.distributions import Distribution as Distribution
from gibbsppl.language.formulas import formula as formula
from gibbsppl.language.functions import Phi as Phi
from gibbsppl.language.functions import abs as abs
from gibbsppl.language.functions import centred as centred
from gibbsppl.language.functions import cumprod as cumprod
from gibbsppl.language.functions import cumsum as cumsum
from gibbsppl.language.functions import equals as equals
from gibbsppl.language.functions import exp as exp
from gibbsppl.language.functions import expit as expit
from gibbsppl.language.functions import log as log
from gibbsppl.language.functions import loggamma as loggamma
from gibbsppl.language.functions import logit as logit
from gibbsppl.language.functions import max as max
from gibbsppl.language.functions import maximum as maximum
from gibbsppl.language.functions import min as min
from gibbsppl.language.functions import minimum as minimum
from gibbsppl.language.functions import prod as prod
from gibbsppl.language.functions import sqrt as sqrt
from gibbsppl.language.functions import step as step
from gibbsppl.language.functions import stick_breaking as stick_breaking
from gibbsppl.language.functions import sum as sum
from gibbsppl.language.functions import where as where
from gibbsppl.language.model import Model as Model
from gibbsppl.language.neighbours import Neighbours as Neighbours
from gibbsppl.language.potentials import Constraint as Constraint
from gibbsppl.language.potentials import Deterministic as Deterministic
from gibbsppl.language.potentials import Potential as Potential
from gibbsppl.language.tensors import Tensor as Tensor
from gibbsppl.output.draws import Draws as Draws
from gibbsppl.output.model_comparison import compare_models as compare_models
from gibbsppl.output.until import until as until
from gibbsppl.predict import baselines as baselines
from gibbsppl.predict.predictive import predictive as predictive
from gibbsppl.predict.prior import simulate as simulate
from gibbsppl.sampler import Sampler as Sampler
from gibbsppl.sampling.resuming import load_draws as load_draws
from gibbsppl.sampling.resuming import resume as resume
from gibbsppl.schedule.scanning import RandomScan as RandomScan
from gibbsppl.language.statements import Names as _Names
from gibbsppl.language.statements import Observations as _Observations
from gibbsppl.language.tensors import Value as _Value

__version__: str

@overload
def Normal(
    name: str,
    /,
    mu: _Value,
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The normal (Gaussian) distribution, with the precision ``tau``, the standard deviation
    ``sigma`` or the variance ``var``.

    Parameters: mu, tau; or mu, sigma with tau = 1/sigma**2; or mu, var with tau = 1/var.
        mu     the real line
        tau    (0, oo)
        sigma  (0, oo)
        var    (0, oo)
    Values: the real line.
    Log density: log(tau)/2 - tau*(x - mu)**2/2 - log(2*pi)/2
    Mean: mu
    Variance: 1/tau
    Exponential family, with the statistics x, x**2.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Normal("x", mu=0, tau=1)
    """
@overload
def Normal(
    mu: _Value,
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Normal(
    name: str,
    /,
    mu: _Value,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Normal(
    mu: _Value,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Normal(
    name: str,
    /,
    mu: _Value,
    *,
    var: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Normal(
    mu: _Value,
    *,
    var: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Gamma(
    name: str,
    /,
    shape: _Value,
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The gamma distribution; ``mu`` is the mean, ``sigma`` the standard deviation.

    Parameters: shape, rate; or shape, scale with rate = 1/scale; or mu, shape with rate =
        shape/mu; or mu, sigma with shape = mu**2/sigma**2 and rate = mu/sigma**2.
        shape  (0, oo)
        rate   (0, oo)
        scale  (0, oo)
        mu     (0, oo)
        sigma  (0, oo)
    Values: (0, oo).
    Log density: shape*log(rate) + (shape - 1)*log(x) - rate*x - loggamma(shape)
    Mean: shape/rate
    Variance: shape/rate**2
    Exponential family, with the statistics log(x), x.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Gamma("x", shape=1, rate=1)
    """
@overload
def Gamma(
    shape: _Value,
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Gamma(
    name: str,
    /,
    shape: _Value,
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Gamma(
    shape: _Value,
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Gamma(
    name: str,
    /,
    *,
    mu: _Value,
    shape: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Gamma(
    *,
    mu: _Value,
    shape: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Gamma(
    name: str,
    /,
    mu: _Value,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Gamma(
    mu: _Value,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def InverseGamma(
    name: str,
    /,
    shape: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The inverse gamma distribution: that of ``1/x`` for x from Gamma(shape, scale).

    Parameters: shape, scale.
        shape  (0, oo)
        scale  (0, oo)
    Values: (0, oo).
    Log density: shape*log(scale) - scale/x - loggamma(shape) - (shape + 1)*log(x)
    Mean: scale/(shape - 1) where 1 < shape, else oo
    Variance: scale**2/((shape - 1)**2*(shape - 2)) where 2 < shape, else oo
    Exponential family, with the statistics log(x), 1/x.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.InverseGamma("x", shape=1, scale=1)
    """
@overload
def InverseGamma(
    shape: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Beta(
    name: str,
    /,
    a: _Value,
    b: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The beta distribution of a probability; ``mu`` is the mean, ``kappa`` is ``a + b``.

    Parameters: a, b; or mu, kappa with a = kappa*mu and b = kappa*(1 - mu).
        a      (0, oo)
        b      (0, oo)
        mu     (0, 1)
        kappa  (0, oo)
    Values: (0, 1).
    Log density:
    (a - 1)*log(x) + loggamma(a + b) + (b - 1)*log(1 - x) - loggamma(a) - loggamma(b)
    Mean: a/(a + b)
    Variance: a*b/((a + b)**2*(a + b + 1))
    Exponential family, with the statistics log(x), log(1 - x).

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Beta("x", a=1, b=1)
    """
@overload
def Beta(
    a: _Value,
    b: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Beta(
    name: str,
    /,
    mu: _Value,
    *,
    kappa: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Beta(
    mu: _Value,
    *,
    kappa: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def LogNormal(
    name: str,
    /,
    mu: _Value,
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The log-normal distribution: ``log(x)`` is from Normal(mu, tau).

    Parameters: mu, tau; or mu, sigma with tau = 1/sigma**2; or mu, var with tau = 1/var.
        mu     the real line
        tau    (0, oo)
        sigma  (0, oo)
        var    (0, oo)
    Values: (0, oo).
    Log density: log(tau)/2 - log(x) - tau*(log(x) - mu)**2/2 - log(2*pi)/2
    Mean: exp(mu + 1/(2*tau))
    Variance: exp(2*mu + 2/tau + log_gamma_p(1, 1/tau))
    Exponential family, with the statistics log(x), log(x)**2.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.LogNormal("x", mu=0, tau=1)
    """
@overload
def LogNormal(
    mu: _Value,
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def LogNormal(
    name: str,
    /,
    mu: _Value,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def LogNormal(
    mu: _Value,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def LogNormal(
    name: str,
    /,
    mu: _Value,
    *,
    var: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def LogNormal(
    mu: _Value,
    *,
    var: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Exponential(
    name: str,
    /,
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The exponential distribution; ``scale`` is the mean.

    Parameters: rate; or scale with rate = 1/scale.
        rate   (0, oo)
        scale  (0, oo)
    Values: (0, oo).
    Log density: log(rate) - rate*x
    Mean: 1/rate
    Variance: 1/rate**2
    Exponential family, with the statistics x.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Exponential("x", rate=1)
    """
@overload
def Exponential(
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Exponential(
    name: str,
    /,
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Exponential(
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def HalfNormal(
    name: str,
    /,
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The half-normal distribution: the size of a Normal(0, tau).

    Parameters: tau; or sigma with tau = 1/sigma**2.
        tau    (0, oo)
        sigma  (0, oo)
    Values: (0, oo).
    Log density: log(tau)/2 + log(2/pi)/2 - tau*x**2/2
    Mean: sqrt(1/tau)*sqrt(2)/sqrt(pi)
    Variance: (1 - 2/pi)/tau
    Exponential family, with the statistics x**2.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.HalfNormal("x", tau=1)
    """
@overload
def HalfNormal(
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def HalfNormal(
    name: str,
    /,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def HalfNormal(
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Laplace(
    name: str,
    /,
    mu: _Value,
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Laplace (double exponential) distribution.

    Parameters: mu, rate; or mu, scale with rate = 1/scale.
        mu     the real line
        rate   (0, oo)
        scale  (0, oo)
    Values: the real line.
    Log density: log(rate) - rate*abs(mu - x) - log(2)
    Mean: mu
    Variance: 2/rate**2
    Exponential family, with the statistics abs(mu - x), given mu.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Laplace("x", mu=0, rate=1)
    """
@overload
def Laplace(
    mu: _Value,
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Laplace(
    name: str,
    /,
    mu: _Value,
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Laplace(
    mu: _Value,
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Pareto(
    name: str,
    /,
    shape: _Value,
    minimum: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Pareto distribution: ``P(x > t) = (minimum/t)**shape``.

    Parameters: shape, minimum.
        shape    (0, oo)
        minimum  (0, oo)
    Values: (minimum, oo).
    Log density: log(shape) + shape*log(minimum) - (shape + 1)*log(x)
    Mean: minimum*shape/(shape - 1) where 1 < shape, else oo
    Variance: minimum**2*shape/((shape - 1)**2*(shape - 2)) where 2 < shape, else oo
    Exponential family, with the statistics log(x), given minimum.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Pareto("x", shape=1, minimum=1)
    """
@overload
def Pareto(
    shape: _Value,
    minimum: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Weibull(
    name: str,
    /,
    shape: _Value,
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Weibull distribution: ``P(x > t) = exp(-rate*t**shape)``, as in BUGS.

    Parameters: shape, rate; or shape, scale with rate = scale**(-shape).
        shape  (0, oo)
        rate   (0, oo)
        scale  (0, oo)
    Values: (0, oo).
    Log density: log(rate) + log(shape) + (shape - 1)*log(x) - rate*x**shape
    Mean: exp(loggamma(1/shape + 1) - log(rate)/shape)
    Variance: rate**(-2/shape)*(exp(loggamma(2/shape + 1)) - exp(2*loggamma(1/shape + 1)))
    Exponential family, with the statistics x**shape, given shape.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Weibull("x", shape=1, rate=1)
    """
@overload
def Weibull(
    shape: _Value,
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Weibull(
    name: str,
    /,
    shape: _Value,
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Weibull(
    shape: _Value,
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def ChiSquared(
    name: str,
    /,
    nu: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The chi-squared distribution, of ``nu`` degrees of freedom.

    Parameters: nu.
        nu  (0, oo)
    Values: (0, oo).
    Log density: (nu/2 - 1)*log(x) - x/2 - nu*log(2)/2 - loggamma(nu/2)
    Mean: nu
    Variance: 2*nu
    Exponential family, with the statistics log(x).

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.ChiSquared("x", nu=1)
    """
@overload
def ChiSquared(
    nu: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def InverseGaussian(
    name: str,
    /,
    mu: _Value,
    lam: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The inverse Gaussian (Wald) distribution.

    Parameters: mu, lam.
        mu   (0, oo)
        lam  (0, oo)
    Values: (0, oo).
    Log density: log(lam)/2 - 3*log(x)/2 - lam*(x - mu)**2/(2*mu**2*x) - log(2*pi)/2
    Mean: mu
    Variance: mu**3/lam
    Exponential family, with the statistics x, 1/x.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.InverseGaussian("x", mu=1, lam=1)
    """
@overload
def InverseGaussian(
    mu: _Value,
    lam: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def BetaPrime(
    name: str,
    /,
    a: _Value,
    b: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The beta prime distribution: that of the odds ``p/(1 - p)`` for p from Beta(a, b).

    Parameters: a, b.
        a  (0, oo)
        b  (0, oo)
    Values: (0, oo).
    Log density:
    (a - 1)*log(x) + loggamma(a + b) - loggamma(a) - loggamma(b) - (a + b)*log(x + 1)
    Mean: a/(b - 1) where 1 < b, else oo
    Variance: a*(a + b - 1)/((b - 1)**2*(b - 2)) where 2 < b, else oo
    Exponential family, with the statistics log(x), log(x + 1).

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.BetaPrime("x", a=1, b=1)
    """
@overload
def BetaPrime(
    a: _Value,
    b: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def BetaExponential(
    name: str,
    /,
    a: _Value,
    b: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The beta exponential distribution: ``exp(-x)`` is from Beta(a, b).

    Parameters: a, b.
        a  (0, oo)
        b  (0, oo)
    Values: (0, oo).
    Log density: loggamma(a + b) + (b - 1)*log_gamma_p(1, x) - a*x - loggamma(a) - loggamma(b)
    Exponential family, with the statistics x, log_gamma_p(1, x).

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.BetaExponential("x", a=1, b=1)
    """
@overload
def BetaExponential(
    a: _Value,
    b: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def GeneralizedInverseGaussian(
    name: str,
    /,
    p: _Value,
    a: _Value,
    b: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The generalised inverse Gaussian distribution: density proportional to ``x**(p -
    1)*exp(-(a*x + b/x)/2)``.

    Parameters: p, a, b.
        p  the real line
        a  (0, oo)
        b  (0, oo)
    Values: (0, oo).
    Log density:
    (p - 1)*log(x) + p*(log(a) - log(b))/2 - a*x/2 - b/(2*x) - log_bessel_k(p, sqrt(a)*sqrt(b))
      - log(2)
    Mean:
    2*p/a where b = 0, else where([a = 0], where([1 < -p], b/(2*(-p - 1)), oo),
      sqrt(b)*exp(log_bessel_k(p + 1, sqrt(a)*sqrt(b))
      - log_bessel_k(p, sqrt(a)*sqrt(b)))/sqrt(a))
    Variance:
    where([b = 0], 2*p*(2*p + 2)/a**2, where([a = 0], where([2 < -p], b**2/(2*(-2*p - 2)*(-p
      - 2)), oo), b*exp(log_bessel_k(p + 2, sqrt(a)*sqrt(b)) - log_bessel_k(p,
      sqrt(a)*sqrt(b)))/a)) - where([b = 0], 2*p/a, where([a = 0], where([1 < -p], b/(2*(-p
      - 1)), oo), sqrt(b)*exp(log_bessel_k(p + 1, sqrt(a)*sqrt(b)) - log_bessel_k(p,
      sqrt(a)*sqrt(b)))/sqrt(a)))**2
    Exponential family, with the statistics log(x), x, 1/x.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.GeneralizedInverseGaussian("x", p=0, a=1, b=1)
    """
@overload
def GeneralizedInverseGaussian(
    p: _Value,
    a: _Value,
    b: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def ModifiedHalfNormal(
    name: str,
    /,
    a: _Value,
    b: _Value,
    c: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The modified half-normal distribution: density proportional to ``x**(a - 1)*exp(-b*x**2 +
    c*x)``.

    Parameters: a, b, c.
        a  (0, oo)
        b  (0, oo)
        c  the real line
    Values: (0, oo).
    Log density:
    c*x + a*log(b)/2 + (a - 1)*log(x) + log(2) - b*x**2 - log_fox_wright(a, c/sqrt(b))
    Mean: exp(log_fox_wright(a + 1, c/sqrt(b)) - log_fox_wright(a, c/sqrt(b)))/sqrt(b)
    Variance:
    exp(log_fox_wright(a + 2, c/sqrt(b)) - log_fox_wright(a, c/sqrt(b)))/b
      - exp(2*log_fox_wright(a + 1, c/sqrt(b)) - 2*log_fox_wright(a, c/sqrt(b)))/b
    Exponential family, with the statistics log(x), x, x**2.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.ModifiedHalfNormal("x", a=1, b=1, c=0)
    """
@overload
def ModifiedHalfNormal(
    a: _Value,
    b: _Value,
    c: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def PolyaGamma(
    name: str,
    /,
    b: _Value,
    c: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Polya-Gamma distribution of Polson, Scott and Windle (2013).

    Parameters: b, c.
        b  (0, oo)
        c  the real line
    Values: (0, oo).
    Log density: log_polya_gamma(b, x) + b*(log(1 + exp(c)) - c/2 - log(2)) - c**2*x/2
    Mean:
    b*exp(log_gamma_p(1, maximum(abs(c), 1e-9)))*expit(maximum(abs(c), 1e-9))/(2*maximum(abs(c),
      1e-9))
    Variance:
    b*where([abs(c) < 0.1], 1/24 - c**2*(1/120 - c**2*(17/13440 - 31*c**2/181440)),
      (2*exp(log_gamma_p(1, maximum(abs(c), 0.1)))*expit(maximum(abs(c), 0.1)) - (1
      - exp(2*log_gamma_p(1, maximum(abs(c), 0.1)))*expit(maximum(abs(c),
      0.1))**2)*maximum(abs(c), 0.1))/(4*maximum(abs(c), 0.1)**3))
    Exponential family, with the statistics x, given b.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.PolyaGamma("x", b=1, c=0)
    """
@overload
def PolyaGamma(
    b: _Value,
    c: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def VonMises(
    name: str,
    /,
    mu: _Value,
    kappa: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The von Mises distribution of an angle, in radians.

    Parameters: mu, kappa.
        mu     the real line
        kappa  (0, oo)
    Values: (-pi, pi).
    Log density: kappa*(cos(mu)*cos(x) + sin(mu)*sin(x)) - log_bessel_i(0, kappa) - log(2*pi)
    Exponential family, with the statistics cos(x), sin(x).

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.VonMises("x", mu=0, kappa=1)
    """
@overload
def VonMises(
    mu: _Value,
    kappa: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Uniform(
    name: str,
    /,
    lower: _Value,
    upper: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The uniform distribution between two bounds.

    Parameters: lower, upper.
        lower  the real line
        upper  the real line
    Values: (lower, upper).
    Log density: -log(upper - lower)
    Mean: lower/2 + upper/2
    Variance: (upper - lower)**2/12

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Uniform("x", lower=0, upper=1)
    """
@overload
def Uniform(
    lower: _Value,
    upper: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def StudentT(
    name: str,
    /,
    nu: _Value,
    mu: _Value,
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Student-t distribution, with ``nu`` degrees of freedom and a location.

    Parameters: nu, mu, tau; or nu, mu, sigma with tau = 1/sigma**2.
        nu     (0, oo)
        mu     the real line
        tau    (0, oo)
        sigma  (0, oo)
    Values: the real line.
    Log density:
    log(tau)/2 + loggamma(nu/2 + 0.5) - log(nu)/2 - loggamma(nu/2)
      - (nu/2 + 0.5)*log(tau*(x - mu)**2/nu + 1) - log(pi)/2
    Mean: mu where 1 < nu, else nan
    Variance: nu/(tau*(nu - 2)) where 2 < nu, else oo

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.StudentT("x", nu=1, mu=0, tau=1)
    """
@overload
def StudentT(
    nu: _Value,
    mu: _Value,
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def StudentT(
    name: str,
    /,
    nu: _Value,
    mu: _Value,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def StudentT(
    nu: _Value,
    mu: _Value,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Cauchy(
    name: str,
    /,
    mu: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Cauchy distribution.

    Parameters: mu, scale.
        mu     the real line
        scale  (0, oo)
    Values: the real line.
    Log density: -log(scale) - log((x - mu)**2/scale**2 + 1) - log(pi)

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Cauchy("x", mu=0, scale=1)
    """
@overload
def Cauchy(
    mu: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def AsymmetricLaplace(
    name: str,
    /,
    mu: _Value,
    *,
    rate: _Value,
    q: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The asymmetric Laplace distribution of quantile regression: ``mu`` is its ``q``-quantile.

    Parameters: mu, rate, q; or mu, scale, q with rate = 1/scale.
        mu     the real line
        rate   (0, oo)
        q      (0, 1)
        scale  (0, oo)
    Values: the real line.
    Log density: log(q) + log(rate) + log(1 - q) - rate*(abs(mu - x)/2 + (q - 0.5)*(x - mu))
    Mean: mu + (1/q - 1/(1 - q))/rate
    Variance: (1/q**2 + 1/(1 - q)**2)/rate**2

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.AsymmetricLaplace("x", mu=0, rate=1, q=1/2)
    """
@overload
def AsymmetricLaplace(
    mu: _Value,
    *,
    rate: _Value,
    q: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def AsymmetricLaplace(
    name: str,
    /,
    mu: _Value,
    *,
    scale: _Value,
    q: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def AsymmetricLaplace(
    mu: _Value,
    *,
    scale: _Value,
    q: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Logistic(
    name: str,
    /,
    mu: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The logistic distribution.

    Parameters: mu, scale.
        mu     the real line
        scale  (0, oo)
    Values: the real line.
    Log density: (mu - x)/scale - log(scale) - 2*log(1 + exp((mu - x)/scale))
    Mean: mu
    Variance: scale**2*pi**2/3

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Logistic("x", mu=0, scale=1)
    """
@overload
def Logistic(
    mu: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def HalfCauchy(
    name: str,
    /,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The half-Cauchy distribution: the size of a Cauchy(0, scale).

    Parameters: scale.
        scale  (0, oo)
    Values: (0, oo).
    Log density: log(2/pi) - log(scale) - log(x**2/scale**2 + 1)

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.HalfCauchy("x", scale=1)
    """
@overload
def HalfCauchy(
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def HalfStudentT(
    name: str,
    /,
    nu: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The half-t distribution: the size of a StudentT with location 0.

    Parameters: nu, scale.
        nu     (0, oo)
        scale  (0, oo)
    Values: (0, oo).
    Log density:
    loggamma(nu/2 + 0.5) + log(2) - log(nu)/2 - log(scale) - loggamma(nu/2)
      - (nu/2 + 0.5)*log(x**2/(nu*scale**2) + 1) - log(pi)/2
    Mean:
    2*scale*sqrt(nu)*exp(loggamma(nu/2 + 0.5) - loggamma(nu/2))/((nu - 1)*sqrt(pi)) where 1 <
      nu, else oo
    Variance:
    (nu*scale**2 - 4*nu*scale**2*(nu - 2)*exp(2*loggamma(nu/2 + 0.5)
      - 2*loggamma(nu/2))/((nu - 1)**2*pi))/(nu - 2) where 2 < nu, else oo

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.HalfStudentT("x", nu=1, scale=1)
    """
@overload
def HalfStudentT(
    nu: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Gumbel(
    name: str,
    /,
    mu: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Gumbel distribution, of the greatest of many values.

    Parameters: mu, scale.
        mu     the real line
        scale  (0, oo)
    Values: the real line.
    Log density: (mu - x)/scale - log(scale) - exp((mu - x)/scale)
    Mean: mu + scale*EulerGamma
    Variance: scale**2*pi**2/6

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Gumbel("x", mu=0, scale=1)
    """
@overload
def Gumbel(
    mu: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Rayleigh(
    name: str,
    /,
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Rayleigh distribution: the length of two Normal(0, tau).

    Parameters: tau; or sigma with tau = 1/sigma**2.
        tau    (0, oo)
        sigma  (0, oo)
    Values: (0, oo).
    Log density: log(x) + log(tau) - tau*x**2/2
    Mean: sqrt(1/tau)*sqrt(2)*sqrt(pi)/2
    Variance: (2 - pi/2)/tau

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Rayleigh("x", tau=1)
    """
@overload
def Rayleigh(
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Rayleigh(
    name: str,
    /,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Rayleigh(
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Maxwell(
    name: str,
    /,
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Maxwell distribution: the length of three Normal(0, tau).

    Parameters: tau; or sigma with tau = 1/sigma**2.
        tau    (0, oo)
        sigma  (0, oo)
    Values: (0, oo).
    Log density: 2*log(x) + 3*log(tau)/2 + log(2/pi)/2 - tau*x**2/2
    Mean: 2*sqrt(1/tau)*sqrt(2)/sqrt(pi)
    Variance: (3 - 8/pi)/tau

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Maxwell("x", tau=1)
    """
@overload
def Maxwell(
    *,
    tau: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Maxwell(
    name: str,
    /,
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Maxwell(
    *,
    sigma: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Chi(
    name: str,
    /,
    nu: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The chi distribution: the length of ``nu`` standard normals.

    Parameters: nu.
        nu  (0, oo)
    Values: (0, oo).
    Log density: (nu - 1)*log(x) + (1 - nu/2)*log(2) - x**2/2 - loggamma(nu/2)
    Mean: exp(loggamma(nu/2 + 0.5) - loggamma(nu/2))*sqrt(2)
    Variance: nu - 2*exp(2*loggamma(nu/2 + 0.5) - 2*loggamma(nu/2))

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Chi("x", nu=1)
    """
@overload
def Chi(
    nu: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Nakagami(
    name: str,
    /,
    m: _Value,
    omega: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Nakagami distribution: that of ``x`` where ``x**2`` is from Gamma(m, m/omega).

    Parameters: m, omega.
        m      (0, oo)
        omega  (0, oo)
    Values: (0, oo).
    Log density:
    m*log(m) + (2*m - 1)*log(x) + log(2) - loggamma(m) - m*log(omega) - m*x**2/omega
    Mean: exp(loggamma(m + 0.5) - loggamma(m))*sqrt(omega/m)
    Variance: omega - omega*exp(2*loggamma(m + 0.5) - 2*loggamma(m))/m

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Nakagami("x", m=1, omega=1)
    """
@overload
def Nakagami(
    m: _Value,
    omega: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def GeneralizedGamma(
    name: str,
    /,
    shape: _Value,
    *,
    rate: _Value,
    power: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The generalised gamma distribution: ``x**power`` is from Gamma(shape, rate).

    Parameters: shape, rate, power; or shape, scale, power with rate = scale**(-power).
        shape  (0, oo)
        rate   (0, oo)
        power  (0, oo)
        scale  (0, oo)
    Values: (0, oo).
    Log density:
    log(power) + shape*log(rate) + (power*shape - 1)*log(x) - rate*x**power - loggamma(shape)
    Mean: exp(loggamma(shape + 1/power) - log(rate)/power - loggamma(shape))
    Variance:
    exp(loggamma(shape + 2/power) - loggamma(shape) - 2*log(rate)/power)
      - exp(2*loggamma(shape + 1/power) - 2*log(rate)/power - 2*loggamma(shape))

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.GeneralizedGamma("x", shape=1, rate=1, power=1)
    """
@overload
def GeneralizedGamma(
    shape: _Value,
    *,
    rate: _Value,
    power: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def GeneralizedGamma(
    name: str,
    /,
    shape: _Value,
    *,
    scale: _Value,
    power: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def GeneralizedGamma(
    shape: _Value,
    *,
    scale: _Value,
    power: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def FisherSnedecor(
    name: str,
    /,
    nu_1: _Value,
    nu_2: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The F distribution, of ``nu_1`` and ``nu_2`` degrees of freedom.

    Parameters: nu_1, nu_2.
        nu_1  (0, oo)
        nu_2  (0, oo)
    Values: (0, oo).
    Log density:
    loggamma(nu_1/2 + nu_2/2) - log(x) - loggamma(nu_1/2) - loggamma(nu_2/2)
      - nu_2*log(nu_1*x/nu_2 + 1)/2 - nu_1*log(nu_2/(nu_1*x) + 1)/2
    Mean: nu_2/(nu_2 - 2) where 2 < nu_2, else oo
    Variance:
    2*nu_2**2*(nu_1 + nu_2 - 2)/(nu_1*(nu_2 - 2)**2*(nu_2 - 4)) where 4 < nu_2, else oo

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.FisherSnedecor("x", nu_1=1, nu_2=1)
    """
@overload
def FisherSnedecor(
    nu_1: _Value,
    nu_2: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Lomax(
    name: str,
    /,
    shape: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Lomax distribution (Pareto of type II): ``P(x > t) = (1 + t/scale)**-shape``.

    Parameters: shape, scale.
        shape  (0, oo)
        scale  (0, oo)
    Values: (0, oo).
    Log density: log(shape) - log(scale) - (shape + 1)*log(x/scale + 1)
    Mean: scale/(shape - 1) where 1 < shape, else oo
    Variance: scale**2*shape/((shape - 1)**2*(shape - 2)) where 2 < shape, else oo

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Lomax("x", shape=1, scale=1)
    """
@overload
def Lomax(
    shape: _Value,
    scale: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def BurrXII(
    name: str,
    /,
    c: _Value,
    k: _Value,
    scale: _Value = 1,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Burr distribution of type XII: ``P(x > t) = (1 + (t/scale)**c)**-k``.

    Parameters: c, k, scale.
        c      (0, oo)
        k      (0, oo)
        scale  (0, oo); 1 if left out
    Values: (0, oo).
    Log density:
    log(c) + log(k) + (c - 1)*log(x) - c*log(scale)
      - (k + 1)*log(1 + exp(c*(log(x) - log(scale))))
    Mean:
    scale*exp(loggamma(1/c + 1) + loggamma(k + 1 - 1/c) - loggamma(k))/(k - 1/c) where 0 < k
      - 1/c, else oo
    Variance:
    where([0 < k - 2/c],
      scale**2*exp(loggamma(2/c + 1) + loggamma(k + 1 - 2/c) - loggamma(k))/(k - 2/c), 1)
      - where([0 < k - 1/c],
      scale*exp(loggamma(1/c + 1) + loggamma(k + 1 - 1/c) - loggamma(k))/(k - 1/c), 1)**2 where
      2/c < k, else oo

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.BurrXII("x", c=1, k=1, scale=1)
    """
@overload
def BurrXII(
    c: _Value,
    k: _Value,
    scale: _Value = 1,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Gompertz(
    name: str,
    /,
    shape: _Value,
    rate: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Gompertz distribution of a lifetime: the hazard is ``rate*exp(shape*t)``.

    Parameters: shape, rate.
        shape  (0, oo)
        rate   (0, oo)
    Values: (0, oo).
    Log density: shape*x + log(rate) - rate*exp(shape*x + log_gamma_p(1, shape*x))/shape

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Gompertz("x", shape=1, rate=1)
    """
@overload
def Gompertz(
    shape: _Value,
    rate: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Frechet(
    name: str,
    /,
    shape: _Value,
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Frechet distribution: ``P(x <= t) = exp(-rate*t**-shape)``.

    Parameters: shape, rate; or shape, scale with rate = scale**shape.
        shape  (0, oo)
        rate   (0, oo)
        scale  (0, oo)
    Values: (0, oo).
    Log density: log(rate) + log(shape) - rate*x**(-shape) - (shape + 1)*log(x)
    Mean:
    shape*exp(log(rate)/shape + loggamma(2 - 1/shape))/(shape - 1) where 1 < shape, else oo
    Variance:
    shape*exp(2*log(rate)/shape + loggamma(2 - 2/shape))/(shape - 2)
      - shape**2*exp(2*log(rate)/shape + 2*loggamma(2 - 1/shape))/(shape - 1)**2 where 2 <
      shape, else oo

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Frechet("x", shape=1, rate=1)
    """
@overload
def Frechet(
    shape: _Value,
    *,
    rate: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Frechet(
    name: str,
    /,
    shape: _Value,
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Frechet(
    shape: _Value,
    *,
    scale: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Kumaraswamy(
    name: str,
    /,
    a: _Value,
    b: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Kumaraswamy distribution: ``P(x <= t) = 1 - (1 - t**a)**b``.

    Parameters: a, b.
        a  (0, oo)
        b  (0, oo)
    Values: (0, 1).
    Log density: log(a) + log(b) + (a - 1)*log(x) + (b - 1)*log_gamma_p(1, -a*log(x))
    Mean: exp(loggamma(b + 1) + loggamma(1/a + 1) - loggamma(b + 1/a + 1))
    Variance:
    exp(loggamma(b + 1) + loggamma(2/a + 1) - loggamma(b + 2/a + 1))
      - exp(2*loggamma(b + 1) + 2*loggamma(1/a + 1) - 2*loggamma(b + 1/a + 1))

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Kumaraswamy("x", a=1, b=1)
    """
@overload
def Kumaraswamy(
    a: _Value,
    b: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Flat(
    name: str,
    /,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The improper prior that is constant on the real line.

    Parameters: none.
    Values: the real line.
    Log density: 0

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Flat("x")
    """
@overload
def Flat(
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def HalfFlat(
    name: str,
    /,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The improper prior that is constant above 0.

    Parameters: none.
    Values: (0, oo).
    Log density: 0

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.HalfFlat("x")
    """
@overload
def HalfFlat(
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Bernoulli(
    name: str,
    /,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Bernoulli distribution: 1 with probability ``p``, else 0.

    Parameters: p; or logit_p with p = expit(logit_p).
        p        (0, 1)
        logit_p  the real line
    Values: {0..1}.
    Log density: x*log(p) + (1 - x)*log(1 - p)
    Mean: p
    Variance: p*(1 - p)
    Exponential family, with the statistics x.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Bernoulli("x", p=1/2)
    """
@overload
def Bernoulli(
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Bernoulli(
    name: str,
    /,
    *,
    logit_p: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Bernoulli(
    *,
    logit_p: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Binomial(
    name: str,
    /,
    n: _Value,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The binomial distribution of the number of successes in ``n`` trials.

    Parameters: n, p; or n, logit_p with p = expit(logit_p).
        n        {0..oo}
        p        (0, 1)
        logit_p  the real line
    Values: {0..n}.
    Log density:
    x*log(p) + loggamma(n + 1) + (n - x)*log(1 - p) - loggamma(x + 1) - loggamma(n + 1 - x)
    Mean: n*p
    Variance: n*p*(1 - p)
    Exponential family, with the statistics x, given n.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Binomial("x", n=1, p=1/2)
    """
@overload
def Binomial(
    n: _Value,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Binomial(
    name: str,
    /,
    n: _Value,
    *,
    logit_p: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Binomial(
    n: _Value,
    *,
    logit_p: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Poisson(
    name: str,
    /,
    rate: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Poisson distribution of a number of events.

    Parameters: rate.
        rate  (0, oo)
    Values: {0..oo}.
    Log density: x*log(rate) - rate - loggamma(x + 1)
    Mean: rate
    Variance: rate
    Exponential family, with the statistics x.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Poisson("x", rate=1)
    """
@overload
def Poisson(
    rate: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Geometric(
    name: str,
    /,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The geometric distribution of the number of failures before the first success.

    Parameters: p.
        p  (0, 1)
    Values: {0..oo}.
    Log density: log(p) + x*log(1 - p)
    Mean: (1 - p)/p
    Variance: (1 - p)/p**2
    Exponential family, with the statistics x.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Geometric("x", p=1/2)
    """
@overload
def Geometric(
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def NegativeBinomial(
    name: str,
    /,
    n: _Value,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The negative binomial distribution: failures before the ``n``-th success; or by its mean
    ``mu``, with the variance ``mu + mu**2/alpha``.

    Parameters: n, p; or mu, alpha with n = alpha and p = alpha/(mu + alpha).
        n      (0, oo)
        p      (0, 1)
        mu     (0, oo)
        alpha  (0, oo)
    Values: {0..oo}.
    Log density: n*log(p) + x*log(1 - p) + loggamma(n + x) - loggamma(n) - loggamma(x + 1)
    Mean: n*(1 - p)/p
    Variance: n*(1 - p)/p**2
    Exponential family, with the statistics x, given n.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.NegativeBinomial("x", n=1, p=1/2)
    """
@overload
def NegativeBinomial(
    n: _Value,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def NegativeBinomial(
    name: str,
    /,
    mu: _Value,
    *,
    alpha: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def NegativeBinomial(
    mu: _Value,
    *,
    alpha: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def ChineseRestaurantTable(
    name: str,
    /,
    n: _Value,
    alpha: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The number of tables of ``n`` customers in a Chinese restaurant process of concentration
    ``alpha``.

    Parameters: n, alpha.
        n      {0..oo}
        alpha  (0, oo)
    Values: {0..n}.
    Log density: x*log(alpha) + loggamma(alpha) + log_stirling(n, x) - loggamma(n + alpha)
    Exponential family, with the statistics x, given n.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.ChineseRestaurantTable("x", n=1, alpha=1)
    """
@overload
def ChineseRestaurantTable(
    n: _Value,
    alpha: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def BetaBinomial(
    name: str,
    /,
    n: _Value,
    alpha: _Value,
    beta: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The beta-binomial distribution: successes in ``n`` trials of a probability from Beta(alpha,
    beta).

    Parameters: n, alpha, beta.
        n      {0..oo}
        alpha  (0, oo)
        beta   (0, oo)
    Values: {0..n}.
    Log density:
    loggamma(n + 1) + loggamma(x + alpha) + loggamma(beta + alpha) + loggamma(n + beta - x)
      - loggamma(beta) - loggamma(alpha) - loggamma(x + 1) - loggamma(n + 1 - x)
      - loggamma(n + beta + alpha)
    Mean: alpha*n/(beta + alpha)
    Variance: alpha*beta*n*(n + beta + alpha)/((beta + alpha)**2*(beta + alpha + 1))

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.BetaBinomial("x", n=1, alpha=1, beta=1)
    """
@overload
def BetaBinomial(
    n: _Value,
    alpha: _Value,
    beta: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def ZeroInflatedPoisson(
    name: str,
    /,
    psi: _Value,
    rate: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """From Poisson with probability ``psi``, else 0: a structural zero.

    Parameters: psi, rate.
        psi   (0, 1)
        rate  (0, oo)
    Values: {0..oo}.
    Log density:
    log(psi*exp(-rate) + 1 - psi) where x = 0, else log(psi) + x*log(rate) - rate
      - loggamma(x + 1)
    Mean: psi*rate
    Variance: psi*(rate + rate**2*(1 - psi))

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.ZeroInflatedPoisson("x", psi=1/2, rate=1)
    """
@overload
def ZeroInflatedPoisson(
    psi: _Value,
    rate: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def ZeroInflatedBinomial(
    name: str,
    /,
    psi: _Value,
    n: _Value,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """From Binomial with probability ``psi``, else 0: a structural zero.

    Parameters: psi, n, p; or psi, n, logit_p with p = expit(logit_p).
        psi      (0, 1)
        n        {0..oo}
        p        (0, 1)
        logit_p  the real line
    Values: {0..n}.
    Log density:
    log(psi*exp(n*log(1 - p)) + 1 - psi) where x = 0, else log(psi) + x*log(p) + loggamma(n + 1)
      + (n - x)*log(1 - p) - loggamma(x + 1) - loggamma(n + 1 - x)
    Mean: n*p*psi
    Variance: psi*(n*p*(1 - p) + n**2*p**2*(1 - psi))

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.ZeroInflatedBinomial("x", psi=1/2, n=1, p=1/2)
    """
@overload
def ZeroInflatedBinomial(
    psi: _Value,
    n: _Value,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def ZeroInflatedBinomial(
    name: str,
    /,
    psi: _Value,
    n: _Value,
    *,
    logit_p: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def ZeroInflatedBinomial(
    psi: _Value,
    n: _Value,
    *,
    logit_p: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def ZeroInflatedNegativeBinomial(
    name: str,
    /,
    psi: _Value,
    n: _Value,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """From NegativeBinomial with probability ``psi``, else 0: a structural zero.

    Parameters: psi, n, p; or psi, mu, alpha with n = alpha and p = alpha/(mu + alpha).
        psi    (0, 1)
        n      (0, oo)
        p      (0, 1)
        mu     (0, oo)
        alpha  (0, oo)
    Values: {0..oo}.
    Log density:
    log(psi*exp(n*log(p)) + 1 - psi) where x = 0, else log(psi) + n*log(p) + x*log(1 - p)
      + loggamma(n + x) - loggamma(n) - loggamma(x + 1)
    Mean: n*psi*(1 - p)/p
    Variance: psi*(n*(1 - p)/p**2 + n**2*(1 - p)**2*(1 - psi)/p**2)

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros.
    ``lower`` and ``upper`` truncate. Errors are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.ZeroInflatedNegativeBinomial("x", psi=1/2, n=1, p=1/2)
    """
@overload
def ZeroInflatedNegativeBinomial(
    psi: _Value,
    n: _Value,
    p: _Value,
    *,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def ZeroInflatedNegativeBinomial(
    name: str,
    /,
    psi: _Value,
    mu: _Value,
    *,
    alpha: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def ZeroInflatedNegativeBinomial(
    psi: _Value,
    mu: _Value,
    *,
    alpha: _Value,
    lower: _Value | None = None,
    upper: _Value | None = None,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Categorical(
    name: str,
    /,
    p: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The categorical distribution of a label: a position of the dim that the probabilities have.

    Parameters: p.
        p  (0, 1), along k
    Values: {0..count(k) - 1}.
    Log density: log(p[x])

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 3}) as model:
    ...     p = gp.Data("p", (0.2, 0.3, 0.5), dims="k")
    ...     x = gp.Categorical("x", p=p)
    """
@overload
def Categorical(
    p: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def DiscreteUniform(
    name: str,
    /,
    lower: _Value,
    upper: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The uniform distribution of the whole numbers from one bound to the other, both included.

    Parameters: lower, upper.
        lower  the real line
        upper  the real line
    Values: {lower..upper}.
    Log density: -log(upper + 1 - lower)
    Mean: lower/2 + upper/2
    Variance: (upper + 1 - lower)**2/12 - 1/12

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.DiscreteUniform("x", lower=1, upper=6)
    """
@overload
def DiscreteUniform(
    lower: _Value,
    upper: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Hypergeometric(
    name: str,
    /,
    N: _Value,
    D: _Value,
    n: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The hypergeometric distribution: marked items among ``n`` drawn without replacement from
    ``N``, of which ``D`` are marked.

    Parameters: N, D, n.
        N  {0..oo}
        D  {0..oo}
        n  {0..oo}
    Values: {maximum(0, D + n - N)..minimum(n, D)}.
    Log density:
    loggamma(D + 1) + loggamma(n + 1) + loggamma(N + 1 - D) + loggamma(N + 1 - n)
      - loggamma(N + 1) - loggamma(x + 1) - loggamma(D + 1 - x) - loggamma(n + 1 - x)
      - loggamma(N + x + 1 - D - n)
    Mean: D*n/N where 0 < N, else 0
    Variance: D*n*(N - D)*(N - n)/(N**2*(N - 1)) where 1 < N, else 0

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable.
    ``observed`` gives its values: an array, a masked one, or with ``missing`` (a mask, or the
    value that marks gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors
    are `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     x = gp.Hypergeometric("x", N=20, D=5, n=8)
    """
@overload
def Hypergeometric(
    N: _Value,
    D: _Value,
    n: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Dirichlet(
    name: str,
    /,
    a: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Dirichlet distribution of a vector of probabilities.

    Parameters: a.
        a  (0, oo), along k
    Values: the simplex, along k.
    Log density: loggamma(sum(a[k], k)) + sum((a[k] - 1)*log(x[k]) - loggamma(a[k]), k)
    Exponential family, with the statistics log(x[k]).

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable, and
    ``event`` the one along which a value is a vector, if there are others. ``observed`` gives
    its values: an array, a masked one, or with ``missing`` (a mask, or the value that marks
    gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors are
    `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 3}) as model:
    ...     x = gp.Dirichlet("x", a=1, dims="k")
    """
@overload
def Dirichlet(
    a: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Multinomial(
    name: str,
    /,
    n: _Value,
    p: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The multinomial distribution of the counts of ``n`` labels.

    Parameters: n, p.
        n  {0..oo}
        p  (0, 1), along k
    Values: counts of sum n, along k.
    Log density: loggamma(n + 1) + sum(x[k]*log(p[k]), k) - sum(loggamma(x[k] + 1), k)
    Exponential family, with the statistics x[k], given n.

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable, and
    ``event`` the one along which a value is a vector, if there are others. ``observed`` gives
    its values: an array, a masked one, or with ``missing`` (a mask, or the value that marks
    gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors are
    `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 3}) as model:
    ...     p = gp.Data("p", (0.2, 0.3, 0.5), dims="k")
    ...     x = gp.Multinomial("x", n=10, p=p, dims="k")
    """
@overload
def Multinomial(
    n: _Value,
    p: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def MvNormal(
    name: str,
    /,
    mu: _Value,
    *,
    tau: _Value,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The multivariate normal (Gaussian) distribution; ``tau`` is the precision matrix, ``cov``
    the covariance matrix.

    Parameters: mu, tau; or mu, cov with tau = inverse(cov)[k, k'].
        mu   the real line, along k
        tau  positive definite matrices, along k and k'
        cov  positive definite matrices, along k and k'
    Values: real vectors, along k.
    Log density:
    logdet(tau)/2 - sum(log(2*pi)/2, k)
      - sum(tau[k, k']*(x[k'] - mu[k'])*(x[k] - mu[k]), k, k')/2
    Exponential family, with the statistics x[k], x[k']*x[k].

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable, and
    ``event`` the one along which a value is a vector, if there are others. ``observed`` gives
    its values: an array, a masked one, or with ``missing`` (a mask, or the value that marks
    gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors are
    `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 3}) as model:
    ...     tau = gp.Data("tau", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], dims=("k", "k'"))
    ...     x = gp.MvNormal("x", mu=0, tau=tau, dims="k")
    """
@overload
def MvNormal(
    mu: _Value,
    *,
    tau: _Value,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def MvNormal(
    name: str,
    /,
    mu: _Value,
    *,
    cov: _Value,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def MvNormal(
    mu: _Value,
    *,
    cov: _Value,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def MvStudentT(
    name: str,
    /,
    nu: _Value,
    mu: _Value,
    *,
    tau: _Value,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The multivariate Student-t distribution; ``scale`` is the inverse of ``tau``.

    Parameters: nu, mu, tau; or nu, mu, scale with tau = inverse(scale)[k, k'].
        nu     (0, oo)
        mu     the real line, along k
        tau    positive definite matrices, along k and k'
        scale  positive definite matrices, along k and k'
    Values: real vectors, along k.
    Log density:
    logdet(tau)/2 + loggamma(nu/2 + count(k)/2) - loggamma(nu/2) - log(nu*pi)*count(k)/2
      - (nu/2 + count(k)/2)*log(sum(tau[k, k']*(x[k'] - mu[k'])*(x[k] - mu[k]), k, k')/nu + 1)

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable, and
    ``event`` the one along which a value is a vector, if there are others. ``observed`` gives
    its values: an array, a masked one, or with ``missing`` (a mask, or the value that marks
    gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors are
    `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 3}) as model:
    ...     tau = gp.Data("tau", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], dims=("k", "k'"))
    ...     x = gp.MvStudentT("x", nu=1, mu=0, tau=tau, dims="k")
    """
@overload
def MvStudentT(
    nu: _Value,
    mu: _Value,
    *,
    tau: _Value,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def MvStudentT(
    name: str,
    /,
    nu: _Value,
    mu: _Value,
    *,
    scale: _Value,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def MvStudentT(
    nu: _Value,
    mu: _Value,
    *,
    scale: _Value,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Wishart(
    name: str,
    /,
    nu: _Value,
    *,
    V: _Value,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The Wishart distribution of a precision matrix, with the mean ``nu*V``; ``R`` is the inverse
    of ``V``, as in BUGS.

    Parameters: nu, V; or nu, R with V = inverse(R)[k, k'].
        nu  (0, oo)
        V   positive definite matrices, along k and k'
        R   positive definite matrices, along k and k'
    Values: positive definite matrices, along k and k'.
    Log density:
    (nu/2 - count(k)/2 - 0.5)*logdet(x) - nu*logdet(V)/2 - nu*log(2)*count(k)/2
      - sum(x[k, k']*inverse(V)[k, k'], k, k')/2 - sum(k*log(pi)/2 + loggamma(nu/2 - k/2), k)
    Exponential family, with the statistics logdet(x), x[k, k'].

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable, and
    ``event`` the two along which a value is a matrix, if there are others. ``observed`` gives
    its values: an array, a masked one, or with ``missing`` (a mask, or the value that marks
    gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors are
    `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 3}) as model:
    ...     V = gp.Data("V", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], dims=("k", "k'"))
    ...     x = gp.Wishart("x", nu=4, V=V, dims=("k", "k'"))
    """
@overload
def Wishart(
    nu: _Value,
    *,
    V: _Value,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def Wishart(
    name: str,
    /,
    nu: _Value,
    *,
    R: _Value,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor: ...
@overload
def Wishart(
    nu: _Value,
    *,
    R: _Value,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def InverseWishart(
    name: str,
    /,
    nu: _Value,
    S: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The inverse Wishart distribution of a covariance matrix, with the mean ``S/(nu - k - 1)``
    for k rows.

    Parameters: nu, S.
        nu  (0, oo)
        S   positive definite matrices, along k and k'
    Values: positive definite matrices, along k and k'.
    Log density:
    nu*logdet(S)/2 + (-nu/2 - count(k)/2 - 0.5)*logdet(x) - nu*log(2)*count(k)/2
      - sum(S[k, k']*inverse(x)[k, k'], k, k')/2 - sum(k*log(pi)/2 + loggamma(nu/2 - k/2), k)
    Exponential family, with the statistics logdet(x), inverse(x)[k, k'].

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable, and
    ``event`` the two along which a value is a matrix, if there are others. ``observed`` gives
    its values: an array, a masked one, or with ``missing`` (a mask, or the value that marks
    gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors are
    `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 3}) as model:
    ...     S = gp.Data("S", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], dims=("k", "k'"))
    ...     x = gp.InverseWishart("x", nu=5, S=S, dims=("k", "k'"))
    """
@overload
def InverseWishart(
    nu: _Value,
    S: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def HuangWand(
    name: str,
    /,
    nu: _Value,
    scale: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The covariance matrix of Huang and Wand (2013): each standard deviation is half-t with
    ``nu`` degrees of freedom and its own scale; with ``nu`` of 2 correlations are uniform.

    Parameters: nu, scale.
        nu     (0, oo)
        scale  (0, oo), along k
    Values: positive definite matrices, along k and k'.
    Log density:
    (nu + count(k) - 1)*log(nu)*count(k)/2 + sum(loggamma(nu/2 + count(k)/2) - log(scale[k])
      - (nu/2 + count(k)/2)*log(1/scale[k]**2 + nu*inverse(x)[k, k]) - log(pi)/2, k) - (nu/2
      + count(k))*logdet(x) - sum(k*log(pi)/2 + loggamma(nu/2 + count(k)/2 - k/2 - 0.5), k)

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable, and
    ``event`` the two along which a value is a matrix, if there are others. ``observed`` gives
    its values: an array, a masked one, or with ``missing`` (a mask, or the value that marks
    gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors are
    `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 3}) as model:
    ...     x = gp.HuangWand("x", nu=1, scale=1, dims=("k", "k'"))
    """
@overload
def HuangWand(
    nu: _Value,
    scale: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...
@overload
def VonMisesFisher(
    name: str,
    /,
    mu: _Value,
    kappa: _Value,
    *,
    dims: _Names = None,
    event: _Names = None,
    observed: _Observations = None,
    missing: _ArrayLike | None = None,
    of: str | None = None,
) -> Tensor:
    """The von Mises-Fisher distribution of a direction: a vector of length 1.

    Parameters: mu, kappa.
        mu     unit vectors, along k
        kappa  (0, oo)
    Values: unit vectors, along k.
    Log density:
    sum(kappa*mu[k]*x[k], k) + (sum(0.5, k) - 1)*log(kappa) - log(2*pi)*sum(0.5, k)
      - log_bessel_i(sum(0.5, k) - 1, kappa)
    Exponential family, with the statistics x[k].

    Declares a variable and returns its tensor; without a name, returns a distribution, to be
    assigned to a region of a `gp.Array`. ``dims`` names the dimensions of the variable, and
    ``event`` the one along which a value is a vector, if there are others. ``observed`` gives
    its values: an array, a masked one, or with ``missing`` (a mask, or the value that marks
    gaps) a partly observed one; a `scipy.sparse` array stores no zeros. Errors are
    `gp.ModelError`.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 3}) as model:
    ...     mu = gp.Data("mu", [1, 0, 0], dims="k")
    ...     x = gp.VonMisesFisher("x", mu=mu, kappa=1, dims="k")
    """
@overload
def VonMisesFisher(
    mu: _Value,
    kappa: _Value,
    *,
    event: _Names = None,
    of: str | None = None,
) -> Distribution: ...