"""The ways to draw, one file each: by default, or where a user asks for it.

A kernel's file has its step: of which conditionals it is made, its generated code, the log density
that it draws from, its words, what the checks compare. `defaults` lists those of which a
conditional gets the first that applies (several arrays get a `joint` draw, which planning asks
for); `OFFERED` those that a user may ask for with ``kernels=``.

- draws from families: `exact`, `block` (vectors of one array), both with `closed`; `joint` (several
  arrays)
- the moments of a conditional, or its mode, instead of a draw: `by_mean`, `by_mode`
- draws of labels: `labels`, `label_chains`, `scan` (with others integrated out)
- by the log density, with `by_density`: `adaptive_rejection`; a `move`, by `slice` sampling,
  `random_walk`, `elliptical_slice`, `proposal` or `own` (the user's); `over_relaxed` draws

What a step is, `Step`, and what a kernel asked for is, `Kernel`, are in `gibbsppl.schedule`; what
moves or draws a value, in `gibbsppl.runtime`.
"""

from collections.abc import Mapping

from gibbsppl.arguments import shown
from gibbsppl.errors import CompileError
from gibbsppl.kernels.adaptive_rejection import AdaptiveRejection
from gibbsppl.kernels.elliptical_slice import EllipticalSlice
from gibbsppl.kernels.over_relaxed import OverRelaxed
from gibbsppl.kernels.own import Own, own_kernel
from gibbsppl.kernels.proposal import Proposal
from gibbsppl.kernels.random_walk import RandomWalk
from gibbsppl.kernels.slice import Slice
from gibbsppl.schedule.kernel import Kernel

__all__ = [
    "OFFERED",
    "AdaptiveRejection",
    "EllipticalSlice",
    "OverRelaxed",
    "Own",
    "Proposal",
    "RandomWalk",
    "Slice",
    "kernels_of",
]

OFFERED = (Slice, EllipticalSlice, RandomWalk, AdaptiveRejection, OverRelaxed, Proposal)


def kernels_of(asked: object) -> dict[str, Kernel]:
    """The kernels by variable, each checked."""
    if asked is None:
        return {}
    if not isinstance(asked, Mapping):
        raise CompileError(
            f"kernels: found {asked!r}, expected a dict from names of variables to kernels, such "
            'as {"x": gp.Slice()}.'
        )
    return {name: _kernel(name, kernel) for name, kernel in asked.items()}


def _kernel(name: str, kernel: object) -> Kernel:
    offered = ", ".join(f"gp.{k.__name__}()" for k in OFFERED)
    expected = (
        f"expected {offered} or a function kernel(rng, value, log_density) that returns the new "
        "value"
    )
    if isinstance(kernel, Kernel):
        return kernel
    if kernel is None:
        raise CompileError(
            f"kernels[{name!r}]: found None, {expected}: every latent variable must be updated. "
            f"Leave {name} out to draw it as usual; to hold it fixed, declare it as data."
        )
    for own in OFFERED:
        if kernel is own:
            raise CompileError(
                f"kernels[{name!r}]: found the class {own.__name__}, expected a kernel: write "
                f"gp.{own.__name__}()."
            )
    if not callable(kernel):
        raise CompileError(f"kernels[{name!r}]: found {shown(kernel)}, {expected}.")
    return own_kernel(name, kernel)
