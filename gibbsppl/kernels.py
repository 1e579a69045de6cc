"""What a user may ask for: the kernel that a variable is moved by, and how a sweep is scanned.

Comes in: what is given as ``kernels=`` and ``scan=``. Goes out: small values that print, or an
error that names the variable.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from gibbsppl.arguments import methods_told, shown
from gibbsppl.errors import CompileError

SCANS = ("systematic", "random", "symmetric")


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class Slice:
    """Slice sampling (R. M. Neal, 2003, Annals of Statistics 31); its widths adapt in warm-up.

    >>> print(Slice())
    slice
    """

    def __str__(self) -> str:
        return "slice"


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class AdaptiveRejection:
    """An exact draw by adaptive rejection, where the log density is certified to be concave.

    >>> print(AdaptiveRejection())
    adaptive rejection
    """

    def __str__(self) -> str:
        return "adaptive rejection"


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class RandomWalk:
    """Random-walk Metropolis-Hastings: a normal step, accepted by the ratio of the densities.

    Independent elements are moved all at once, each with a scale of its own; elements that are
    densely tied (the coefficients of a regression) as one vector, whose steps have the covariance
    of the draws of warm-up (H. Haario, E. Saksman and J. Tamminen, 2001, Bernoulli 7); others one
    after the other. Between bounds steps are made in the logarithm of the distance from a bound, or
    in the logit; whole numbers make whole steps, reflected at their bounds. Scales adapt in warm-up
    only, until the share ``target_accept`` is accepted (by default 0.44 for single elements, 0.234
    for vectors: A. Gelman, G. O. Roberts and W. R. Gilks, 1996, Bayesian Statistics 5). A ``scale``
    without ``target_accept`` stays as it is; with it, it is where the adaptation starts.

    >>> print(RandomWalk(), RandomWalk(scale=0.5), sep="; ")
    random walk; random walk of scale 0.5
    """

    scale: float | None = None
    target_accept: float | None = None

    def __post_init__(self) -> None:
        _check_number("RandomWalk(scale)", self.scale, 0.0, math.inf)
        _check_number("RandomWalk(target_accept)", self.target_accept, 0.0, 1.0)

    @property
    def is_adaptive(self) -> bool:
        """Whether the scale is learnt in warm-up."""
        return self.scale is None or self.target_accept is not None

    def __str__(self) -> str:
        return "random walk" if self.is_adaptive else f"random walk of scale {self.scale:g}"


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class OverRelaxed:
    """Over-relaxation of a draw by location and scale: to the other side of its mean.

    ``x' = mu + alpha (x - mu) + sqrt(1 - alpha**2) sd z`` (S. L. Adler, 1981, Physical Review D 23;
    R. M. Neal, 1995, "Suppressing random walks in Markov chain Monte Carlo using ordered
    overrelaxation"). ``alpha=0`` is the ordinary draw; near -1, successive values are on opposite
    sides of the mean, so that tied variables move on instead of to and fro.

    >>> print(OverRelaxed(-0.9))
    over-relaxed by -0.9
    """

    alpha: float = -0.98

    def __post_init__(self) -> None:
        _check_number("OverRelaxed(alpha)", self.alpha, -1.0, 1.0)

    def __str__(self) -> str:
        return f"over-relaxed by {self.alpha:g}"


@dataclass(frozen=True, slots=True)
class Own:
    """A function of the user's: ``kernel(rng, value, log_density) -> value``."""

    function: Callable[..., Any]

    def __str__(self) -> str:
        return f"your kernel {name_of(self.function)}"


Kernel = Slice | AdaptiveRejection | RandomWalk | OverRelaxed | Own
OURS = (Slice, AdaptiveRejection, RandomWalk, OverRelaxed)


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class RandomScan:
    """A sweep of units drawn at random, those named with these weights, the others with 1.

    >>> RandomScan({"theta": 3.0})
    RandomScan(weights={'theta': 3.0})
    """

    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise CompileError(
                f"RandomScan(weights): found {self.weights!r}, expected a dict from names of "
                "variables to positive numbers."
            )
        for name, weight in self.weights.items():
            if not _is_number(weight) or not 0 < weight < math.inf:
                raise CompileError(
                    f"RandomScan(weights[{name!r}]): found {weight!r}, expected a positive number: "
                    f"every latent variable must be updated. To hold {name} fixed, declare it as "
                    "data."
                )


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, or that of the class of an object that can be called."""
    return str(getattr(function, "__name__", type(function).__name__))


def kernels_of(asked: Any) -> dict[str, Kernel]:
    """The kernels by variable, each checked."""
    if asked is None:
        return {}
    if not isinstance(asked, Mapping):
        raise CompileError(
            f"kernels: found {asked!r}, expected a dict from names of variables to kernels, such "
            'as {"x": gp.Slice()}.'
        )
    return {name: _kernel(name, kernel) for name, kernel in asked.items()}


def _kernel(name: str, kernel: Any) -> Kernel:
    expected = (
        "expected gp.Slice(), gp.RandomWalk(), gp.AdaptiveRejection(), gp.OverRelaxed() or a "
        "function kernel(rng, value, log_density) that returns the new value"
    )
    if isinstance(kernel, Kernel):
        return kernel
    if kernel is None:
        raise CompileError(
            f"kernels[{name!r}]: found None, {expected}: every latent variable must be updated. "
            f"Leave {name} out to draw it as usual; to hold it fixed, declare it as data."
        )
    if any(kernel is own for own in OURS):
        raise CompileError(
            f"kernels[{name!r}]: found the class {kernel.__name__}, expected a kernel: write "
            f"gp.{kernel.__name__}()."
        )
    if not callable(kernel):
        raise CompileError(f"kernels[{name!r}]: found {shown(kernel)}, {expected}.")
    try:
        inspect.signature(kernel).bind(None, None, None)
    except TypeError as error:
        raise CompileError(
            f"kernels[{name!r}]: {name_of(kernel)} cannot be called with three arguments ({error}),"
            " expected a function kernel(rng, value, log_density) that returns the new value."
        ) from error
    except ValueError:  # (what is written in C may not say)
        pass
    return Own(kernel)


def checked_scan(scan: Any) -> str | RandomScan:
    """How a sweep is scanned."""
    if isinstance(scan, RandomScan) or (isinstance(scan, str) and scan in SCANS):
        return scan
    names = ", ".join(map(repr, SCANS))
    expected = f"{names} or gp.RandomScan(weights={{...}})"
    raise CompileError(f"scan: found {shown(scan)}, expected {expected}.")


def _check_number(what: str, value: Any, above: float, below: float) -> None:
    """Refuse what is not a number between two bounds, which it is not itself."""
    if value is not None and not (_is_number(value) and above < value < below):
        between = f"above {above:g}" if below == math.inf else f"between {above:g} and {below:g}"
        raise CompileError(f"{what}: found {value!r}, expected a number {between}.")


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max
