"""Rules that end a run: enough effective draws, chains that agree, or enough time.

Comes in: the draws so far. Goes out: whether that is enough, and what has been reached, in words.
Draws are looked at when there are so many that the next look comes after half as many again: where
a run ends then depends on the draws alone, and not on who made them, but for `minutes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gibbsppl.arguments import NAMES, POSITIVE_NUMBER, calls_told
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.output.arrays import Array
from gibbsppl.output.diagnostics import ess_bulk, ess_tail, r_hat

# The draws of each chain at the first look, and how many times more there are at the next.
FIRST, GROWTH = 100, 1.5
# The draws that are looked at in one call: those of a large variable may not be in memory.
NUMBERS_AT_A_TIME = 1 << 21


@dataclass(frozen=True, slots=True)
class Until:
    """A rule that ends a run before it has all its draws; `until` makes one.

    ``ess``: so many effective draws of the bulk and of the tails of each quantity; ``r_hat``: at
    most this R-hat of each. Both have to be reached where both are asked for. ``minutes``: the run
    ends after so many, whatever is reached. ``of``: the variables that are looked at, by default
    all that are kept.
    """

    ess: float | None = None
    r_hat: float | None = None
    minutes: float | None = None
    of: tuple[str, ...] | None = None

    @property
    def asks(self) -> bool:
        """Whether draws are looked at."""
        return self.ess is not None or self.r_hat is not None

    def next_look(self, draws: int) -> int:
        """The number of draws of each chain at the next look.

        >>> Until(ess=400).next_look(0), Until(ess=400).next_look(100)
        (100, 150)
        """
        return max(FIRST, int(np.ceil(GROWTH * draws)))

    def check(self, names: Mapping[str, object]) -> None:
        """Raise for variables that are not recorded."""
        for name in self.of or ():
            if name not in names:
                raise RunError(
                    f"until(of=): found {name!r}, expected names of what is kept: "
                    f"{', '.join(names)}.{did_you_mean(name, names)}"
                )

    def found(self, values: Mapping[str, Array]) -> tuple[bool, str]:
        """Whether draws are enough, and the worst of each measure with the quantity that has it.

        Quantities that are the same in all draws are left out: nothing is estimated of them.

        >>> draws = np.random.default_rng(1).normal(size=(4, 200))
        >>> Until(ess=400, r_hat=1.02).found({"x": draws, "one": np.ones((4, 200))})
        (True, 'ess 741 of x (400 asked), r_hat 1.010 of x (1.02 asked)')
        """
        chosen = {n: values[n] for n in self.of or values}
        worst: dict[str, tuple[float, str]] = {}
        for name, x in chosen.items():
            for what, number, index in self._measured(x):
                quantity = f"{name}[{', '.join(map(str, index))}]" if index else name
                if what not in worst or _worse(what, number, worst[what][0]):
                    worst[what] = number, quantity
        asked = {"ess": self.ess, "r_hat": self.r_hat}
        told = [f"{what} {_shown(what, x)} of {n} ({asked[what]:g} asked)"
                for what, (x, n) in worst.items()]  # fmt: skip
        enough = all(not _worse(what, x, asked[what]) for what, (x, _) in worst.items())
        return enough, ", ".join(told) or "nothing that differs from draw to draw"

    def _measured(self, x: Array) -> Iterator[tuple[str, float, tuple[int, ...]]]:
        """The worst of each measure over the elements of a variable, with its index, by parts."""
        flat = x.reshape(*x.shape[:2], -1)
        at_a_time = max(1, NUMBERS_AT_A_TIME // max(1, x.shape[0] * x.shape[1]))
        for first in range(0, flat.shape[2], at_a_time):
            for what, number, at in self._measured_of(flat[:, :, first : first + at_a_time]):
                yield what, number, tuple(map(int, np.unravel_index(first + at, x.shape[2:])))

    def _measured_of(self, x: Array) -> Iterator[tuple[str, float, int]]:
        """The worst of each measure over some elements, with its position."""
        varies = (x != x[:1, :1]).any(axis=(0, 1))
        if not varies.any():
            return
        if self.ess is not None:
            least = np.where(varies, np.fmin(ess_bulk(x), ess_tail(x)), np.inf)
            yield "ess", float(least.min()), int(np.argmin(least))
        if self.r_hat is not None:
            most = np.where(varies, r_hat(x), -np.inf)
            yield "r_hat", float(most.max()), int(np.argmax(most))


def _worse(what: str, one: float, other: float | None) -> bool:
    """Whether one number of a measure is worse than another; what is not known is worst."""
    assert other is not None
    return np.isnan(one) or (one < other if what == "ess" else one > other)


def _shown(what: str, number: float) -> str:
    return f"{number:.0f}" if what == "ess" else f"{number:.3f}"


@calls_told(
    RunError, ess=POSITIVE_NUMBER.or_none(), r_hat=POSITIVE_NUMBER.or_none(),
    minutes=POSITIVE_NUMBER.or_none(), of=NAMES.or_none(),
)  # fmt: skip
def until(
    *,
    ess: float | None = None,
    r_hat: float | None = None,
    minutes: float | None = None,
    of: str | tuple[str, ...] | list[str] | None = None,
) -> Until:
    """The rule that ends a run, for ``sample(until=...)``: whichever of its parts comes first.

    ``ess``: enough effective draws, of the bulk and of the tails, of every quantity; ``r_hat``: an
    R-hat of every quantity that is small enough (1.01 is usual). Of a rule with both, both have to
    be reached. ``minutes``: the time after which the run ends in any case. ``of`` names the
    variables that are looked at, by default all that are kept. The ``draws`` of the run are the
    most that it makes; ``draws.attributes["until"]`` tells what was reached.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     mu = gp.Normal("mu", 0, sigma=1)
    ...     y = gp.Normal("y", mu, sigma=1, observed=1.5)
    >>> rule = gp.until(ess=400, r_hat=1.02)
    >>> draws = gp.compile(model).sample(10_000, until=rule, seed=1, progress=False)
    >>> draws["mu"].shape
    (4, 100)
    """
    if ess is None and r_hat is None and minutes is None:
        raise RunError("until: found nothing to reach, expected ess=, r_hat= or minutes=.")
    if r_hat is not None and r_hat <= 1:
        raise RunError(f"until: found r_hat={r_hat:g}, expected a number above 1, such as 1.01.")
    names = None if of is None else (of,) if isinstance(of, str) else tuple(of)
    return Until(ess, r_hat, minutes, names)
