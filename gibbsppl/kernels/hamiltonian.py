"""Moves along paths of Hamiltonian dynamics, of one array or of several together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

from gibbsppl.arguments import check_between, methods_told, shown
from gibbsppl.derive.gradients import slopes_of
from gibbsppl.errors import CompileError
from gibbsppl.kernels.gradient_move import Path, gradient_move
from gibbsppl.model.density import event_dims
from gibbsppl.model.graph import Statement
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step

# A path that doubles so often has a million points.
DEEPEST = 20


class ByGradient(Kernel):
    """A kernel that moves all elements of some statements together, by their gradient."""

    __slots__ = ()
    target_accept: float
    colours = False
    takes_all = True
    accepts = True
    takes_several = True

    @property
    def path(self) -> Path:
        """How far paths go, and what steps adapt to."""
        raise NotImplementedError

    def step(self, asked: Asked) -> Step:
        """A move of the elements of all statements that are to be moved together."""
        statements = asked.together or (asked.derived.statement,)
        for s in statements:
            self._check_support(asked, s)
        slopes = slopes_of(asked.graph, statements, asked.data)
        if isinstance(slopes, str):
            raise CompileError(
                f"kernels[{asked.key!r}]: {self} follows the gradient of the log density, but "
                f"{slopes}. Leave it out, or ask for gp.Slice() or gp.RandomWalk()."
            )
        return gradient_move(slopes, self, self.path)

    def _check_support(self, asked: Asked, statement: Statement) -> None:
        """Raise an error for values that no path goes through."""
        support = statement.support
        if support.is_discrete or support.kind == "sphere":
            raise CompileError(
                f"kernels[{asked.key!r}]: {self} moves real values, with or without bounds, "
                f"simplexes and positive definite matrices, not values in {support}; leave "
                f"{statement.target.array.name} out of kernels=."
            )
        if support.is_tied:
            made = Contributions(asked.graph)
            made.check_event_is_last(statement, statement.family, event_dims(statement))


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class NUTS(ByGradient):
    """The no-U-turn sampler, of one array or of several together.

    All elements move along a path of Hamiltonian dynamics, which doubles until it turns back
    (``max_depth`` times at most); one of its points is drawn by their densities (M. D. Hoffman and
    A. Gelman, 2014, Journal of Machine Learning Research 15; M. Betancourt, 2017,
    arXiv:1701.02434). The gradient is derived from the model. Between bounds paths go along the
    logarithm of the distance from a bound, or the logit; those of a simplex go along contrasts of
    the logarithms of its shares, those of a positive definite matrix along regressions of each row
    on those before. In warm-up alone the size of steps adapts until points are accepted with the
    mean probability ``target_accept``, and the scales of these coordinates are learnt.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"i": 4}, name="curve") as curve:
    ...     a = gp.Normal("a", 0, sigma=1)
    ...     b = gp.Normal("b", 0, sigma=1)
    ...     x = gp.Data("x", [0.1, 0.5, 1.0, 2.0], dims="i")
    ...     y = gp.Normal("y", gp.exp(a * x) * b, sigma=0.1, dims="i", observed=[1, 2, 3, 8])
    >>> print(gp.compile(curve, kernels={("a", "b"): gp.NUTS()}))
    curve: 1 step, 1 by kernels asked for
      a, b  NUTS  together  log density = -a**2/2 - b**2/2 + sum(-50*(y - b*exp(a*x))**2, i)
    """

    target_accept: float = 0.8
    max_depth: int = 10

    def __post_init__(self) -> None:
        check_between("NUTS(target_accept)", self.target_accept, 0.0, 1.0)
        is_whole = isinstance(self.max_depth, Integral) and not isinstance(self.max_depth, bool)
        if not (is_whole and 1 <= self.max_depth <= DEEPEST):
            found = shown(self.max_depth)
            raise CompileError(
                f"NUTS(max_depth): found {found}, expected a whole number from 1 to {DEEPEST}."
            )

    def __str__(self) -> str:
        return "NUTS"

    @property
    def path(self) -> Path:
        """Paths that double until they turn back."""
        return Path("nuts", float(self.target_accept), int(self.max_depth))


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class HMC(ByGradient):
    """Hamiltonian Monte Carlo, of one array or of several together.

    All elements move along a path of Hamiltonian dynamics of a ``length``, and the end of the path
    is accepted by the ratio of the densities (S. Duane, A. D. Kennedy, B. J. Pendleton and
    D. Roweth, 1987, Physics Letters B 195; R. M. Neal, 2011, Handbook of Markov Chain Monte
    Carlo). In units of the scales that are learnt in warm-up, a quarter of a turn around a normal
    density has the length pi / 2; each path is between half and one and a half times as long, at
    random, so that none comes back. The size of steps adapts in warm-up alone, until
    ``target_accept`` of all paths are accepted. Values between bounds, simplexes and positive
    definite matrices move along the coordinates that `NUTS` has.

    >>> print(HMC(), HMC(length=3.0), sep="; ")
    HMC of length 1.57; HMC of length 3
    """

    length: float = math.pi / 2
    target_accept: float = 0.8

    def __post_init__(self) -> None:
        check_between("HMC(length)", self.length, 0.0, math.inf)
        check_between("HMC(target_accept)", self.target_accept, 0.0, 1.0)

    def __str__(self) -> str:
        return f"HMC of length {self.length:.3g}"

    @property
    def path(self) -> Path:
        """Paths of about a length."""
        return Path("hmc", float(self.target_accept), float(self.length))
