"""The rungs of a ladder: a chain at each power, whose states neighbours swap; what was seen.

A *rung* is a power with its chain; a state that goes from rung to rung is a *replica*. Swaps of
even and of odd neighbours take turns, so that replicas go on in one direction until a swap is
refused (`gibbsppl.tempering.ladder`). Tuning of moves stays with its rung. In a warm-up of rounds,
each twice as long as the one before, the powers are moved after each round.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.run.chains import Chain
from gibbsppl.runtime import moves
from gibbsppl.runtime.types import Floats

# Sweeps of the first round of a warm-up.
FIRST_ROUND = 16


@dataclass(slots=True)
class Seen:
    """Log likelihoods and swaps since the powers stand where they are.

    ``swapped`` is for each pair of neighbours the sum of the probabilities of their swaps, of which
    there were ``tries``. ``replicas`` are those on the rungs, ``ends`` the ends of the ladder that
    each has been at, ``trips`` the number of ways from power 1 to the first one and back. ``told``
    has room for the log likelihoods of all rungs after each sweep.
    """

    swapped: Floats
    tries: Floats
    replicas: list[int]
    ends: list[str]
    told: Floats
    trips: int = 0
    sweeps: int = 0

    @classmethod
    def of(cls, rungs: int) -> Seen:
        """Nothing, of so many rungs."""
        pairs, told = np.zeros(max(0, rungs - 1)), np.empty((FIRST_ROUND, rungs))
        return cls(pairs, pairs.copy(), [*range(rungs)], [""] * rungs, told)

    @property
    def log_likelihoods(self) -> Floats:
        """The log likelihoods of all rungs, a row for each sweep."""
        return self.told[: self.sweeps]

    def tell(self, log_likelihoods: Floats) -> None:
        """Keep the log likelihoods after a sweep."""
        if self.sweeps == len(self.told):
            self.told = np.concatenate([self.told, np.empty_like(self.told)])
        self.told[self.sweeps] = log_likelihoods
        self.sweeps += 1

    @property
    def swap_rates(self) -> Floats:
        """The share of swaps of each pair of neighbours."""
        rates: Floats = self.swapped / np.maximum(self.tries, 1)
        return rates

    def pass_by(self) -> None:
        """Take note of the replicas at both ends."""
        first, last = self.replicas[0], self.replicas[-1]
        if self.ends[last] == "last, first":
            self.trips += 1
        self.ends[last] = "last"
        if self.ends[first] == "last" and first != last:
            self.ends[first] = "last, first"


@dataclass(slots=True)
class Rungs:
    """The rungs of one chain: ``chains`` by rising power, the last at power 1; what was ``seen``.

    ``names`` are the variables of the model, which rungs swap. ``adapting`` ends with the warm-up.
    """

    powers: Floats
    chains: list[Chain]
    power: str
    names: tuple[str, ...]
    seen: Seen
    sweep: int = 0
    round_ends: int = FIRST_ROUND
    adapting: bool = True
    is_frozen: bool = False

    @classmethod
    def of(cls, start: Chain, powers: Floats, power: str, names: tuple[str, ...]) -> Rungs:
        """Rungs that all start at the state of a chain."""
        own = [Chain(copy.deepcopy(start.state), rng) for rng in start.rng.spawn(len(powers))]
        made = cls(powers, own, power, names, Seen.of(len(powers)))
        made.put_powers()
        return made

    @property
    def coldest(self) -> Chain:
        """The chain at power 1."""
        return self.chains[-1]

    def freeze(self) -> None:
        """End the adaptation of all moves, and count what is seen from now on."""
        self.is_frozen, self.seen = True, Seen.of(len(self.powers))
        for chain in self.chains:
            moves.freeze(chain.state)

    def put_powers(self) -> None:
        """Put the power of each rung into its state."""
        for power, chain in zip(self.powers, self.chains, strict=True):
            chain.state[self.power] = np.float64(power)

    def swap(self, rng: np.random.Generator, log_likelihoods: Floats) -> list[int]:
        """Swap neighbours, even and odd ones in turns; the rungs with another state than before."""
        changed = []
        for low in range(self.sweep % 2, len(self.powers) - 1, 2):
            high = low + 1
            gap = self.powers[high] - self.powers[low]
            gain = gap * _difference(log_likelihoods[low], log_likelihoods[high])
            self.seen.swapped[low] += math.exp(min(0.0, gain))
            self.seen.tries[low] += 1
            if math.log1p(-rng.random()) <= gain:
                self._exchange(low, high)
                log_likelihoods[[low, high]] = log_likelihoods[[high, low]]
                changed += [low, high]
        return changed

    def _exchange(self, low: int, high: int) -> None:
        """Exchange the states of two rungs, whose tuning stays.

        What is made of the variables of the model (auxiliary ones, sums) is made anew.
        """
        pair = [self.chains[n] for n in (low, high)]
        models = [{n: c.state[n] for n in self.names} for c in pair]
        for chain, own in zip(pair, reversed(models), strict=True):
            put_state(chain, own, self.power)
        replicas = self.seen.replicas
        replicas[low], replicas[high] = replicas[high], replicas[low]

    def move(self, powers: Floats, rng: np.random.Generator) -> None:
        """Put the rungs at other powers: each begins where the nearest one before was."""
        nearest = [int(np.argmin(np.abs(self.powers - p))) for p in powers]
        more = max(0, len(powers) - len(self.chains))
        streams = [c.rng for c in self.chains] + (rng.spawn(more) if more else [])
        old = [c.state for c in self.chains]
        self.chains = [
            Chain(copy.deepcopy(old[k]), stream, sweep=self.sweep)
            for k, stream in zip(nearest, streams, strict=False)
        ]
        self.powers, self.seen = powers, Seen.of(len(powers))
        self.put_powers()


def put_state(chain: Chain, values: Mapping[str, Any], power: str) -> None:
    """Put values of the model's variables into a chain, whose tuning and power stay."""
    kept = {n: a for n, a in chain.state.items() if n.startswith("~") or n == power}
    chain.state = {**values, **kept}


def _difference(low: float, high: float) -> float:
    """The log likelihood at the lower power less that at the higher one; -inf if there is none."""
    found = low - high
    return -math.inf if math.isnan(found) else float(found)


def in_lines(numbers: Sequence[Floats]) -> str:
    """Numbers of each chain as text, a line for each.

    >>> in_lines([np.array([0.0, 0.25, 1.0])])
    '0 0.25 1'
    """
    return "\n".join(" ".join(f"{x:.6g}" for x in each) for each in numbers)


def in_words(rungs: Sequence[Rungs]) -> str:
    """The ladders of chains, a line for each."""
    lines = []
    for number, r in enumerate(rungs):
        rates = r.seen.swap_rates
        swaps = f"neighbours swap {rates.min():.0%} to {rates.max():.0%}" if len(rates) else ""
        trips = f"{r.seen.trips} round trips" if r.seen.trips else "no round trip (raise draws=)"
        lines.append(
            f"chain {number}: {len(r.powers)} powers from {r.powers[0]:.3g} to 1, {swaps} of the "
            f"time, {trips}"
        )
    return "\n".join(lines)
