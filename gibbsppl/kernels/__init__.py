"""The ways to draw, one file each: by default, or where a user asks for it.

A kernel's file has its step: of which conditionals it is made, its generated code, the log density
that it draws from, its words, what the checks compare. `defaults` lists those of which a
conditional gets the first that applies (several arrays get a `joint` draw, which planning asks
for); `composed.OFFERED` those that a user may ask for with ``kernels=``.

- draws from families: `exact`, `block` (vectors of one array), both with `closed`; `joint` (several
  arrays), also as proposals that are `corrected`
- the moments of a conditional, or its mode, instead of a draw: `readings`
- blocks whose log density is concave in all together, each a `concave_block`: `modal` proposals;
  `ascent` to the joint mode
- draws of labels: `labels`, `label_chains`, `scan` (with others integrated out)
- by the log density, with `by_density`: `adaptive_rejection`; a `move`, by `slice` sampling,
  `random_walk`, `elliptical_slice`, `swap` of labels, `proposal` or `own` (the user's);
  `over_relaxed` draws
- by the gradient: a `gradient_move` of several arrays together, by `hamiltonian` paths
- `exactly`: the exact draw by name; `composed`: cycles and mixtures of kernels

What a step is, `Step`, and what a kernel asked for is, `Kernel`, are in `gibbsppl.schedule`; what
moves or draws a value, in `gibbsppl.runtime`.
"""

from collections.abc import Mapping

from gibbsppl.errors import CompileError
from gibbsppl.kernels.adaptive_rejection import AdaptiveRejection
from gibbsppl.kernels.composed import OFFERED, Cycle, Mix, kernel_of
from gibbsppl.kernels.elliptical_slice import EllipticalSlice
from gibbsppl.kernels.exactly import Exact
from gibbsppl.kernels.hamiltonian import HMC, NUTS
from gibbsppl.kernels.over_relaxed import OverRelaxed
from gibbsppl.kernels.own import Own
from gibbsppl.kernels.proposal import Proposal
from gibbsppl.kernels.random_walk import RandomWalk
from gibbsppl.kernels.slice import Slice
from gibbsppl.kernels.swap import Swap
from gibbsppl.schedule.kernel import Kernel

__all__ = [
    "HMC",
    "NUTS",
    "OFFERED",
    "AdaptiveRejection",
    "Cycle",
    "EllipticalSlice",
    "Exact",
    "Mix",
    "OverRelaxed",
    "Own",
    "Proposal",
    "RandomWalk",
    "Slice",
    "Swap",
    "kernels_of",
    "moved_together",
]


def kernels_of(asked: object) -> dict[str, Kernel]:
    """The kernels by variable, each checked."""
    if asked is None:
        return {}
    if not isinstance(asked, Mapping):
        raise CompileError(
            f"kernels: found {asked!r}, expected a dict from names of variables to kernels, such "
            'as {"x": gp.Slice()}.'
        )
    found: dict[str, Kernel] = {}
    for key, kernel in asked.items():
        checked = _kernel(key, kernel)
        for name in _names(key, checked):
            if name in found:
                raise CompileError(
                    f"kernels[{key!r}]: {name} has a kernel already; name each variable once."
                )
            found[name] = checked
    return found


def moved_together(asked: object) -> tuple[tuple[str, ...], ...]:
    """The variables that kernels move together, checked before by `kernels_of`."""
    if not isinstance(asked, Mapping):
        return ()
    several = (k for k, kernel in asked.items() if getattr(kernel, "takes_several", False))
    return tuple(k if isinstance(k, tuple) else (k,) for k in several)


def _names(key: object, kernel: Kernel) -> tuple[str, ...]:
    """The names in a key: one, or several that are moved together."""
    if not isinstance(key, tuple):
        return (key,)  # type: ignore[return-value]  # (what is no name is found by `check_kernels`)
    if not key or not all(isinstance(name, str) for name in key):
        raise CompileError(
            f"kernels: found the key {key!r}, expected the name of a variable, or a tuple of names."
        )
    if not kernel.takes_several:
        raise CompileError(
            f"kernels[{key!r}]: {kernel} moves one variable at a time; name each alone, or ask for "
            "gp.NUTS() or gp.HMC(), which move several together."
        )
    return key


def _kernel(key: object, kernel: object) -> Kernel:
    why = (
        f"every latent variable must be updated. Leave {key} out to draw it as usual; to hold it "
        "fixed, declare it as data."
    )
    return kernel_of(f"kernels[{key!r}]", kernel, or_none=why)
