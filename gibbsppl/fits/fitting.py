"""Sweeps until a bound rises no more.

Comes in: a program, one chain at its start, when to stop. Goes out: the chain where it has come to,
and the bound after each sweep.

A sweep of which nothing is a draw is coordinate ascent: each step puts one factor of q, or one
point, to the best given all others, so that the bound never falls (C. M. Bishop, 2006, "Pattern
Recognition and Machine Learning", chapter 10).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gibbsppl.code.program import Constants, Program
from gibbsppl.errors import RunError
from gibbsppl.model.evaluation import Floats
from gibbsppl.run.chains import Chain, advance, not_finite
from gibbsppl.run.progress import Report


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A chain after its sweeps, the bound after each, and whether the last has changed little."""

    chain: Chain
    trace: Floats
    converged: bool


def fitted(
    program: Program,
    constants: Constants,
    chain: Chain,
    *,
    sweeps: int,
    tolerance: float,
    report: Report | None = None,
) -> Fitted:
    """The chain after sweeps, until the bound rises by less than ``tolerance`` of its size.

    Two sweeps in a row have to: what others read changes once more after the first.
    """
    assert program.bound is not None
    trace: list[float] = []
    still = 0
    with np.errstate(all="ignore"):
        while len(trace) < sweeps and still < 2:
            advance(program, constants, chain)
            trace.append(float(program.bound(chain.state, constants)))
            _check(program, chain, trace)
            rose = abs(trace[-1] - trace[-2]) if len(trace) > 1 else np.inf
            still = still + 1 if rose <= tolerance * (1 + abs(trace[-1])) else 0
            if report is not None:
                report(len(trace), f"bound {trace[-1]:.6g}")
    return Fitted(chain, np.array(trace), still >= 2)


def _check(program: Program, chain: Chain, trace: list[float]) -> None:
    """An error where something is no number."""
    if np.isfinite(trace[-1]):
        return
    name = not_finite(program, chain.state)
    what = f"{name} is" if name else f"the bound is {trace[-1]}, with all that it reads"
    raise RunError(
        f"{what} not finite after {len(trace)} sweeps; start elsewhere (init=), or look at the "
        "priors of what it depends on: what may be zero, or infinite, may have no finite mean."
    )
