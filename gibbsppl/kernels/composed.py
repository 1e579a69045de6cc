"""Kernels made of other kernels: cycles and mixtures, and what may be a part of them.

>>> print(Mix(RandomWalk(), Cycle(Slice(), Exact()), weights=(0.9, 0.1)))
mixture of random walk (90 %), (cycle of slice, exact draw) (10 %)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gibbsppl.arguments import is_finite_number, methods_told, misfit, name_of, shown
from gibbsppl.errors import CompileError
from gibbsppl.kernels.adaptive_rejection import AdaptiveRejection
from gibbsppl.kernels.elliptical_slice import EllipticalSlice
from gibbsppl.kernels.exactly import Exact
from gibbsppl.kernels.hamiltonian import HMC, NUTS
from gibbsppl.kernels.over_relaxed import OverRelaxed
from gibbsppl.kernels.own import Own
from gibbsppl.kernels.proposal import Proposal
from gibbsppl.kernels.random_walk import RandomWalk
from gibbsppl.kernels.slice import Slice
from gibbsppl.kernels.swap import Swap
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.composed import Composed, Turn
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step


class Composite(Kernel):
    """A kernel made of other kernels, each with a step of its own."""

    __slots__ = ()
    parts: tuple[Kernel, ...]

    @property
    def closed_form(self) -> bool:  # type: ignore[override]
        """Whether a part needs the closed form of the default draw."""
        return any(part.closed_form for part in self.parts)

    @property
    def told(self) -> tuple[str, ...]:
        """Its parts in words."""
        return tuple(f"({p})" if isinstance(p, Composite) else str(p) for p in self.parts)

    def turn(self, parts: tuple[Turn, ...]) -> Composed:
        """How the steps of its parts follow one another."""
        raise NotImplementedError

    def steps(self, asked: Asked, called: str = "") -> tuple[tuple[Step, ...], Turn]:
        """The steps of all parts, each with a name of its own, and how they follow one another."""
        del called
        own = str(asked.derived.statement.name)
        return _steps_of(self, asked, map(_named(own), _leaves(self)))


@methods_told(CompileError)
@dataclass(frozen=True, slots=True, init=False)
class Cycle(Composite):
    """Several kernels of one variable, carried out one after the other in each sweep.

    ``parts`` are kernels: all that `compile` takes, functions of one's own, `Exact` draws, and
    other cycles and mixtures. Each leaves the conditional invariant, so all do together
    (L. Tierney, 1994, Annals of Statistics 22). With ``symmetric=True`` they are carried out
    forwards and then backwards (``a, b, b, a``), which is reversible if each part is. Widths and
    scales adapt for each part alone, and the shares of accepted proposals are recorded by part. A
    part that does not apply to the variable is refused when the model is compiled.

    >>> import gibbsppl as gp
    >>> with gp.Model(name="shift") as shift:
    ...     mu = gp.Normal("mu", 0, sigma=1)
    ...     y = gp.Normal("y", mu, sigma=1, observed=1.5)
    >>> print(gp.compile(shift, kernels={"mu": gp.Cycle(gp.RandomWalk(), gp.Slice())}))
    shift: 2 steps, 2 by kernels asked for
      mu  random walk  log density = -mu**2 + mu*y
      mu  slice        log density = -mu**2 + mu*y
      mu in each sweep: random walk, then slice
    """

    parts: tuple[Kernel, ...]
    symmetric: bool

    def __init__(self, *parts: object, symmetric: bool = False) -> None:
        if not isinstance(symmetric, bool):
            found = shown(symmetric)
            raise CompileError(f"Cycle(symmetric): found {found}, expected True or False.")
        object.__setattr__(self, "parts", _parts("Cycle", parts))
        object.__setattr__(self, "symmetric", symmetric)

    def __str__(self) -> str:
        how = "symmetric cycle" if self.symmetric else "cycle"
        return f"{how} of {', '.join(self.told)}"

    def turn(self, parts: tuple[Turn, ...]) -> Composed:
        """All parts in order, and back if it is symmetric."""
        there = Composed(parts)
        return Composed((*there.parts, *there.backwards.parts)) if self.symmetric else there


@methods_told(CompileError)
@dataclass(frozen=True, slots=True, init=False)
class Mix(Composite):
    """One of several kernels of a variable, chosen at random in each sweep.

    ``parts`` are kernels: all that `compile` takes, functions of one's own, `Exact` draws, and
    cycles and other mixtures. ``weights`` are positive numbers in proportion to which a part is
    chosen (default: all equal), whatever the state is: so the mixture leaves the conditional
    invariant as its parts do, and is reversible if they are (L. Tierney, 1994, Annals of Statistics
    22). A large jump that is seldom accepted beside small steps is the usual one.

    >>> import numpy as np
    >>> import gibbsppl as gp
    >>> with gp.Model(name="two modes") as two_modes:
    ...     x = gp.Normal("x", 0, sigma=10)
    ...     y = gp.Normal("y", x**2, sigma=2, observed=16)
    >>> def jump(rng, value):
    ...     return -value
    >>> moves = gp.Mix(gp.RandomWalk(), gp.Proposal(jump), weights=(0.9, 0.1))
    >>> sampler = gp.compile(two_modes, kernels={"x": moves})
    >>> draws = sampler.sample(2000, warmup=500, chains=2, seed=1, progress=False)
    >>> print(0.4 < (draws["x"] > 0).mean() < 0.6)
    True
    >>> [name for name in draws.sample_stats]
    ['acceptance of x by random walk', 'acceptance of x by your proposal jump']
    """

    parts: tuple[Kernel, ...]
    weights: tuple[float, ...]

    def __init__(self, *parts: object, weights: Sequence[float] | None = None) -> None:
        object.__setattr__(self, "parts", _parts("Mix", parts))
        object.__setattr__(self, "weights", _weights(weights, len(parts)))

    def __str__(self) -> str:
        shares = (f"{100 * w / sum(self.weights):.3g} %" for w in self.weights)
        told = zip(self.told, shares, strict=True)
        return "mixture of " + ", ".join(f"{part} ({share})" for part, share in told)

    def turn(self, parts: tuple[Turn, ...]) -> Composed:
        """One part at random."""
        return Composed(parts, self.weights)


# All kernels by name, in the order in which messages list them.
OFFERED = (
    Slice, EllipticalSlice, RandomWalk, NUTS, HMC, AdaptiveRejection, OverRelaxed, Swap, Proposal,
    Exact,
    Cycle, Mix,
)  # fmt: skip


def kernel_of(called: str, kernel: object, or_none: str = "") -> Kernel:
    """The kernel that a user has given, a function as one; ``called`` is where that is.

    ``or_none``: what to do where None was given.
    """
    offered = ", ".join(f"gp.{k.__name__}()" for k in OFFERED)
    expected = (
        f"expected {offered} or a function kernel(rng, value, log_density) that returns the new "
        "value"
    )
    if isinstance(kernel, Kernel):
        return kernel
    for own in OFFERED:
        if kernel is own:
            raise CompileError(
                f"{called}: found the class {own.__name__}, expected a kernel: write "
                f"gp.{own.__name__}()."
            )
    if not callable(kernel):
        more = f": {or_none}" if kernel is None and or_none else "."
        raise CompileError(f"{called}: found {shown(kernel)}, {expected}{more}")
    if (error := misfit(kernel, 3)) is not None:
        raise CompileError(
            f"{called}: {name_of(kernel)} cannot be called with three arguments ({error}), "
            "expected a function kernel(rng, value, log_density) that returns the new value."
        ) from error
    return Own(kernel)


def _parts(what: str, parts: Sequence[object]) -> tuple[Kernel, ...]:
    """The parts of a cycle or a mixture, checked."""
    if len(parts) < 2:
        raise CompileError(
            f"{what}: found {len(parts)} kernel{'s' * (len(parts) != 1)}, expected at least two, "
            f"such as gp.{what}(gp.RandomWalk(), gp.Slice())."
        )
    return tuple(kernel_of(f"{what}, part {n}", p) for n, p in enumerate(parts, 1))


def _weights(weights: object, count: int) -> tuple[float, ...]:
    """The weights of the parts of a mixture, checked."""
    if weights is None:
        return (1.0,) * count
    if isinstance(weights, str) or not isinstance(weights, Iterable):
        raise CompileError(f"Mix(weights): found {shown(weights)}, expected {count} numbers.")
    found = tuple(weights)
    if len(found) != count:
        raise CompileError(
            f"Mix(weights): found {len(found)} weights of {count} kernels, expected one of each."
        )
    for weight in found:
        if not is_finite_number(weight) or not 0 < weight < math.inf:
            raise CompileError(
                f"Mix(weights): found {shown(weight)}, expected positive numbers; leave a kernel "
                "out that is never to be chosen."
            )
    if math.isinf(sum(map(float, found))):
        raise CompileError(
            f"Mix(weights): found {shown(weights)}, expected numbers with a finite sum."
        )
    return tuple(map(float, found))


def _leaves(kernel: Kernel) -> Iterator[Kernel]:
    """All kernels that are not made of others, in order."""
    if isinstance(kernel, Composite):
        for part in kernel.parts:
            yield from _leaves(part)
    else:
        yield kernel


def _named(own: str) -> Callable[[Kernel], str]:
    """A function that names the step of each part of a statement's kernel, no two alike."""
    seen = Counter[str]()

    def named(kernel: Kernel) -> str:
        seen[str(kernel)] += 1
        count = seen[str(kernel)]
        return f"{own} by {kernel}" + (f" ({count})" if count > 1 else "")

    return named


def _steps_of(
    kernel: Kernel, asked: Asked, names: Iterator[str]
) -> tuple[tuple[Step, ...], Turn]:
    """The steps of a kernel and its parts, with the next names, and how they follow one another."""
    if not isinstance(kernel, Composite):
        return kernel.steps(asked, next(names))
    steps: list[Step] = []
    turns: list[Turn] = []
    for n, part in enumerate(kernel.parts, 1):
        try:
            own, turn = _steps_of(part, asked, names)
        except CompileError as error:
            how = f"part {n} of the {kernel}"
            raise CompileError(f"{error} (It is {how}.)") from error
        steps += own
        turns.append(turn)
    return tuple(steps), kernel.turn(tuple(turns))
