"""The exact transition matrix of a sweep over all states of a small model, and what it says.

A matrix ``P`` that leaves ``pi`` invariant, and whose states all reach one another, converges at
the rate of its second largest eigenvalue in modulus (D. A. Levin, Y. Peres and E. L. Wilmer, 2009,
"Markov Chains and Mixing Times", chapters 4 and 12). With ``f`` centred at its mean, and ``Z`` the
inverse of ``I - P + 1 pi'``, sums of autocovariances are ``2 <f, Z f> - <f, f>`` (J. G. Kemeny and
J. L. Snell, 1960, "Finite Markov Chains", chapter 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gibbsppl.arguments import methods_told, shown
from gibbsppl.checks.table import table, verdict
from gibbsppl.errors import RunError
from gibbsppl.html import Printed
from gibbsppl.model.evaluation import Floats, Values

# Of so many states the whole matrix is printed.
FEW = 8
# How far from the posterior a chain may be to be called mixed, as is usual.
MIXED = 0.25
# So many times a matrix is squared: what has not mixed by then does not, up to rounding.
MOST_SQUARES = 1 - 2 * int(np.log2(np.finfo(float).eps))


@methods_told(RunError)
@dataclass(frozen=True, eq=False, repr=False)
class TransitionMatrix(Printed):
    """The exact transition matrix of a sweep, with all states and their posterior probabilities.

    ``states`` has a dict of arrays for each state, ``posterior`` its probability, and
    ``transition[i, j]`` is the probability that a sweep leads from state ``i`` to state ``j``.
    ``discrepancy`` is the largest entry of ``posterior @ transition - posterior``, ``tolerance``
    what rounding makes of zero. Spectral figures are of the states that are possible.
    """

    states: tuple[Values, ...]
    posterior: Floats
    transition: Floats
    discrepancy: float
    tolerance: float
    model: str = ""

    @property
    def passed(self) -> bool:
        """Whether the sweep leaves the posterior as it is."""
        return bool(self.discrepancy <= self.tolerance)

    @cached_property
    def asymmetry(self) -> float:
        """The largest flow between two states that the one back does not match: 0 if reversible."""
        flow = self.posterior[:, None] * self.transition
        return float(np.abs(flow - flow.T).max())

    @property
    def is_reversible(self) -> bool:
        """Whether the sweep is in detailed balance with the posterior."""
        return bool(self.asymmetry <= self.tolerance)

    @cached_property
    def is_irreducible(self) -> bool:
        """Whether each possible state is reached from each other one, in some number of sweeps."""
        count, _ = connected_components(self._possible > 0, directed=True, connection="strong")
        return int(count) == 1

    @cached_property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """The eigenvalues by modulus, the largest first: 1, as a sweep goes somewhere."""
        if self.is_reversible:  # (then it is a symmetric matrix in other units)
            root = np.sqrt(self._weights)
            flow = root[:, None] * self._possible / root
            found = np.linalg.eigvalsh((flow + flow.T) / 2).astype(complex)
        else:
            found = np.linalg.eigvals(self._possible).astype(complex)
        return np.asarray(found[np.argsort(-np.abs(found), kind="stable")])

    @property
    def second_eigenvalue(self) -> float:
        """The second largest modulus of an eigenvalue; 0 up to rounding is 0."""
        found = np.abs(self.eigenvalues)
        second = float(min(found[1], 1.0)) if len(found) > 1 else 0.0
        return second if second > self.tolerance else 0.0

    @property
    def spectral_gap(self) -> float:
        """One less the second largest modulus of an eigenvalue; 0 up to rounding is 0."""
        gap = 1.0 - self.second_eigenvalue
        return gap if gap > self.tolerance else 0.0

    @property
    def relaxation_time(self) -> float:
        """The number of sweeps in which the slowest function loses a factor of e, about.

        The inverse of the spectral gap; infinite where a chain may stay in a part of the states, or
        goes round.
        """
        return 1.0 / self.spectral_gap if self.spectral_gap else math.inf

    def distance(self, sweeps: int) -> float:
        """The largest total variation distance from the posterior after ``sweeps``, of any start.

        >>> two = TransitionMatrix((), np.array([0.5, 0.5]), np.full((2, 2), 0.5), 0.0, 1e-15)
        >>> two.distance(0), two.distance(1)
        (0.5, 0.0)
        """
        if not isinstance(sweeps, int) or isinstance(sweeps, bool) or sweeps < 0:
            found = shown(sweeps)
            raise RunError(f"distance: found {found}, expected a number of sweeps, from 0 on.")
        return self._distance_of(np.linalg.matrix_power(self._possible, sweeps))

    @cached_property
    def mixing_time(self) -> float:
        """The least number of sweeps after which any start is within 1/4 of the posterior.

        In total variation; infinite where none is, as of a sweep that does not leave the posterior
        as it is.
        """
        if not (self.passed and self.spectral_gap):
            return math.inf
        powers = [np.eye(len(self._possible)), self._possible]
        while self._distance_of(powers[-1]) > MIXED:
            if len(powers) > MOST_SQUARES:
                return math.inf
            square = powers[-1] @ powers[-1]
            powers.append(square / square.sum(axis=1, keepdims=True))
        # (the distance never rises: the last sweep before it is small is found bit by bit)
        before, sweeps = powers[0], 0
        for k in range(len(powers) - 2, 0, -1):
            further = before @ powers[k]
            if self._distance_of(further) > MIXED:
                before, sweeps = further, sweeps + 2 ** (k - 1)
        return sweeps + 1 if self._distance_of(before) > MIXED else sweeps

    def autocorrelation_time(self, function: Callable[[Values], Any]) -> float:
        """The integrated autocorrelation time of a function of the state: that many sweeps a draw.

        ``function`` takes a state, a dict of arrays, and returns a number. A mean over so many
        sweeps has the variance of one over a single independent draw; below 1 a chain is better
        than independent draws. Raises `RunError` where the function is the same number at all
        possible states, and where a chain stays in a part of them.
        """
        values = np.array([_number(function, s) for s, p in self._each() if p > 0])
        if not self.is_irreducible:
            raise RunError(
                "autocorrelation_time: not all states are reached from one another, so that means "
                "depend on where a chain starts; see is_irreducible."
            )
        weights = self._weights
        centred = values - weights @ values
        variance = float(weights @ centred**2)
        if variance <= self.tolerance * float(weights @ values**2):
            raise RunError(
                "autocorrelation_time: the function is the same number at all possible states, "
                "expected one that varies."
            )
        size = len(weights)
        summed = np.linalg.solve(np.eye(size) - self._possible + weights, centred)
        return float(2 * (weights * centred) @ summed / variance - 1)

    def __str__(self) -> str:
        sweeps = "sweeps"
        rows = [
            ("invariant", verdict(self.passed), f"changes by {self.discrepancy:.1e}"),
            ("reversible", _yes(self.is_reversible), f"flows differ by {self.asymmetry:.1e}"),
            ("irreducible", _yes(self.is_irreducible), ""),
            ("second eigenvalue", f"{self.second_eigenvalue:.4g}", ""),
            ("spectral gap", f"{self.spectral_gap:.4g}", ""),
            ("relaxation time", f"{self.relaxation_time:.4g}", sweeps),
            ("mixing time", f"{self.mixing_time:.4g}", sweeps),
        ]
        title = f"{self.model or 'model'}: one sweep over {len(self.states)} states"
        parts = [title, table(("of the matrix", "found", ""), rows)]
        return "\n\n".join([*parts, *self._shown()])

    __repr__ = __str__

    @cached_property
    def _weights(self) -> Floats:
        """The probabilities of the states that are possible."""
        return np.asarray(self.posterior[self.posterior > 0])

    @cached_property
    def _possible(self) -> Floats:
        """The matrix of the states that are possible."""
        is_possible = self.posterior > 0
        return np.asarray(self.transition[np.ix_(is_possible, is_possible)])

    def _distance_of(self, power: Floats) -> float:
        return float(np.abs(power - self._weights).sum(axis=1).max() / 2)

    def _each(self) -> Iterator[tuple[Values, float]]:
        return zip(self.states, self.posterior.tolist(), strict=True)

    def _shown(self) -> list[str]:
        """The whole matrix, if there are few states."""
        if not 0 < len(self.states) <= FEW:
            return []
        names = [_told(s) for s in self.states]
        cells = [
            (name, f"{p:.4f}", *(f"{x:.4f}" for x in row))
            for name, p, row in zip(names, self.posterior, self.transition, strict=True)
        ]
        return [table(("state", "posterior", *(f"to {n}" for n in names)), cells)]


def _told(state: Values) -> str:
    """A state in one short text."""
    return ", ".join(f"{n}={' '.join(f'{x:g}' for x in np.ravel(a))}" for n, a in state.items())


def _yes(found: bool) -> str:
    return "yes" if found else "no"


def _number(function: Callable[[Values], Any], state: Values) -> float:
    """A function of a state, refused unless it is a finite number."""
    value = np.asarray(function({n: np.array(a) for n, a in state.items()}))
    if value.ndim or value.dtype.kind not in "biuf" or not np.isfinite(value):
        found = shown(value if value.ndim else value.item())
        raise RunError(
            f"autocorrelation_time: found {found} of the function at {_told(state)}, "
            "expected a number: of an array, name an element, as in lambda s: s['z'][0]."
        )
    return float(value)
