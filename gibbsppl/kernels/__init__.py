"""The kernels that a user may ask for, one file each.

Comes in: what is given as ``kernels=``. Goes out: kernels by variable, or an error that names the
variable. A new kernel is one file, and one line in `OFFERED`. What a kernel is, `Kernel`, is in
`gibbsppl.schedule.kernel`; what moves a value, in `gibbsppl.runtime`.
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
