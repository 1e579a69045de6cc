"""Monte Carlo EM: fits in which some conditionals are draws, and all others averages over these.

Natural parameters are linear in what they are the expectation of: where a variable is drawn, those
of all others are averaged over its draws. (G. C. G. Wei and M. A. Tanner, 1990, "A Monte Carlo
implementation of the EM algorithm", Journal of the American Statistical Association 85; with one
draw, G. Celeux and J. Diebolt, 1985, the stochastic EM algorithm.) Once the objective rises no more
they go steps of size ``1 / k`` towards those of new draws, for as many sweeps again, so that the
fit comes to rest (B. Delyon, M. Lavielle and E. Moulines, 1999, "Convergence of a stochastic
approximation version of the EM algorithm", Annals of Statistics 27).

Comes in: the sampler whose conditionals are read, by draws some of them, and chains. Goes out: a
chain where the fit has come to rest, with natural parameters and the objective after each sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.code.program import Constants, Program, State, load
from gibbsppl.code.source import write_numpy
from gibbsppl.errors import RunError
from gibbsppl.fits.fitting import rises_no_more
from gibbsppl.fits.natural import Averaged, combined
from gibbsppl.model.evaluation import Floats
from gibbsppl.run.chains import FAILURES, Chain
from gibbsppl.run.progress import Report
from gibbsppl.schedule.sweeps import Schedule

# Sweeps of a pass, whose mean objective is looked at.
A_PASS = 10


@dataclass(slots=True, eq=False)
class OverDraws:
    """The natural parameters of a conditional, averaged over draws of other variables."""

    of: Any
    draws: Sequence[State] = ()

    def __call__(self, state: State, constants: Constants) -> Any:
        """The mean of what the conditional is given each of the draws."""
        found = [self.of({**state, **drawn}, constants) for drawn in self.draws]
        return combined(lambda *each: sum(each[1:], each[0]) / len(each), *found)


@dataclass(frozen=True, slots=True, eq=False)
class Rested:
    """A chain where a fit has come to rest: natural parameters, and the objective by sweep.

    ``of_last``: so many of the last sweeps are alike; ``converged``, if they came to be.
    """

    chain: Chain
    natural: Mapping[str, Any]
    trace: Floats
    of_last: int
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class MonteCarlo:
    """The programs of what is drawn and of what is read otherwise, with the objective.

    ``names`` are the arrays that are drawn, so many ``draws`` of them for each update.
    """

    drawn: Program
    others: Program
    whole: Program
    constants: tuple[Constants, Constants, Constants]
    names: tuple[str, ...]
    draws: int

    @classmethod
    def of(cls, read: Any, draws: int) -> MonteCarlo:
        """The programs of a sampler."""
        schedule: Schedule = read.schedule
        ours = [j for j, s in enumerate(schedule.steps) if s.instead_of is None]
        others = [j for j in range(len(schedule.steps)) if j not in ours]
        for j in others:
            if schedule.steps[j].is_from_current:
                why = "it is moved from where it is (it has no closed form, or elements in turn)"
                raise _refused(schedule.steps[j].name, why)
        parts = [load(write_numpy(schedule.only(places))) for places in (ours, others)]
        known = read.derivation.known
        constants = (*(p.prepare(known) for p in parts), read.constants)
        names = tuple(n for j in ours for n in schedule.steps[j].variables)
        return cls(parts[0], parts[1], read.program, constants, names, draws)

    def rested(self, chain: Chain, sweeps: int, report: Report | None) -> Rested:
        """The chain after sweeps, at most so many, until the objective rises no more, and again."""
        over = {n: OverDraws(f) for n, f in self.others.given_rest.items()}
        averaged = {n: Averaged(o) for n, o in over.items()}
        others = self.others.giving(averaged)
        trace: list[float] = []
        last, k = sweeps, 0  # (the sweep after which steps become smaller, and that of the last)
        while len(trace) < min(sweeps, 2 * last):
            k = max(1, len(trace) + 1 - last)
            states = [self._drawn(chain) for _ in range(self.draws)]
            for o in over.values():
                o.draws = states
            for a in averaged.values():
                a.begin(1.0 / k)
            try:
                others.sweep(chain.rng, chain.state, self.constants[1])
            except FAILURES as error:
                raise _failed(str(error)) from error
            chain.sweep += 1
            trace.append(self._objective(chain.state, states))
            assert all(a.now is not None for a in averaged.values())
            if last == sweeps and len(trace) % A_PASS == 0:
                if rises_no_more(np.array(trace).reshape(-1, A_PASS)):
                    last = len(trace)
                if report is not None:
                    report(len(trace), f"objective about {np.mean(trace[-A_PASS:]):.6g}")
        natural = {n: a.now for n, a in averaged.items()}
        return Rested(chain, natural, np.array(trace), k, len(trace) == 2 * last)

    def _drawn(self, chain: Chain) -> State:
        """The values of a draw."""
        self.drawn.sweep(chain.rng, chain.state, self.constants[0])
        return {n: np.array(chain.state[n]) for n in self.names}

    def _objective(self, state: State, draws: Sequence[State]) -> float:
        """The mean of the objective over draws."""
        bound = self.whole.bound
        assert bound is not None
        found = float(np.mean([bound({**state, **d}, self.constants[2]) for d in draws]))
        if not np.isfinite(found):
            raise _failed(f"the objective is {found}")
        return found


def _refused(name: str, why: str) -> RunError:
    return RunError(
        f"by: {name} is to be read given averages over draws, and {why}, so that it has no natural "
        f"parameters that could be averaged; read it by draws, too, or nothing by draws."
    )


def _failed(why: str) -> RunError:
    return RunError(
        f"by: {why}, given averages over draws; take more of them (draws=), start elsewhere "
        "(init=), or read all by means and modes."
    )
