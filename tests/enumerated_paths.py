"""All that moves along paths may do from a point, with its probability, and what must hold of it.

Steps of a path are a map of points and momenta that keeps volumes and can be gone back, whatever
the slopes are. So a move leaves a density as it is if it does so on each orbit of that map: among
its points, whose weights are their densities. Orbits are computed here by themselves, on the line
without bounds. What a move draws at random decides between finitely many ends: a comparison of a
uniform number branches, and all branches are followed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import helmert
from scipy.special import expit, log_expit, softmax

from gibbsppl.runtime.loops import hamiltonian, unconstrained
from gibbsppl.runtime.loops import trajectories as paths


@dataclass
class Branching:
    """A source of random numbers: momenta that are given, and decisions along one branch."""

    normals: list
    length: float
    decisions: list = field(default_factory=list)
    at: int = 0
    probability: float = 1.0

    def standard_normal(self):
        return self.normals.pop(0)

    def random(self):
        return Uniform(self)

    def decided(self, share):
        """Whether a uniform number is below a share: as decided, or first that it is."""
        if share >= 1:
            return True
        if share <= 0:
            return False
        if self.at == len(self.decisions):
            self.decisions.append(True)
        found = self.decisions[self.at]
        self.at += 1
        self.probability *= share if found else 1 - share
        return found


@dataclass
class Uniform:
    """A uniform number: compared, a decision; added to something, a length that is given."""

    source: Branching

    def __lt__(self, share):
        return self.source.decided(share)

    def __radd__(self, other):
        return other + self.source.length


@dataclass(frozen=True, eq=False)
class Target:
    """A density of values, and by itself that of the coordinates without bounds that they have.

    ``surface`` is the log density of values with its gradient: what a model tells. ``of_line``,
    ``height`` and ``slopes`` are of coordinates: values, the log density, its gradient.
    """

    table: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    surface: Callable
    of_line: Callable
    height: Callable
    slopes: Callable
    centre: np.ndarray
    spread: np.ndarray


# Numbers: Gamma(3, 1) above 0, Beta(2, 3), 5 less Gamma(2, 1), Normal(1, 1 / 2).


def numbers(u):
    """The values at points of the line."""
    return np.array([np.exp(u[0]), expit(u[1]), 5 - np.exp(-u[2]), u[3]])


def height_of_numbers(u):
    """The log density on the line."""
    own = 3 * u[0] - np.exp(u[0])
    share = 2 * log_expit(u[1]) + 3 * log_expit(-u[1])
    below = -2 * u[2] - np.exp(-u[2])
    return own + share + below - 2 * (u[3] - 1) ** 2


def slopes_of_numbers(u):
    """The gradient of the log density on the line."""
    share = expit(u[1])
    return np.array([
        3 - np.exp(u[0]), 2 * (1 - share) - 3 * share, np.exp(-u[2]) - 2, -4 * (u[3] - 1),
    ])  # fmt: skip


def surface_of_numbers(x):
    """The log density of values, and its gradient: what a model tells."""
    a, p, v, z = x[0], x[1], 5 - x[2], x[3]
    told = 2 * np.log(a) - a + np.log(p) + 2 * np.log1p(-p) + np.log(v) - v - 2 * (z - 1) ** 2
    return told, np.array([2 / a - 1, 1 / p - 2 / (1 - p), 1 - 1 / v, -4 * (z - 1)])


OF_NUMBERS = Target(
    np.array([[0, 0, 0, 4]]),
    np.array([0.0, 0.0, -np.inf, -np.inf]),
    np.array([np.inf, 1.0, 5.0, np.inf]),
    surface_of_numbers, numbers, height_of_numbers, slopes_of_numbers,
    np.array([np.log(3), -0.5, 0.0, 1.0]),
    np.array([0.6, 0.8, 0.7, 0.5]),
)  # fmt: skip


# Tied values: Dirichlet(A), Wishart(NU, the inverse of R): were R the identity, the diagonal of its
# factor would be chi of NU and NU - 1 degrees of freedom (Bartlett). Coordinates are the logs of
# that diagonal, and the entry below it by what is above.
A, NU = np.array([0.8, 2.5, 4.0]), 5.0
R = np.array([[1.0, -0.3], [-0.3, 0.6]])


def factor(u):
    """The Cholesky factor of a matrix."""
    return np.array([[np.exp(u[0]), 0.0], [u[1] * np.exp(u[0]), np.exp(u[2])]])


def shares(u):
    """The shares whose logs have contrasts."""
    return softmax(helmert(3).T @ u)


def tied(u):
    """The values at coordinates."""
    root = factor(u[2:])
    return np.concatenate([shares(u[:2]), (root @ root.T).ravel()])


def height_of_tied(u):
    """The log density of coordinates, up to a constant."""
    root, own = factor(u[2:]), u[[2, 4]]
    wishart = (NU + 1) * own[0] + (NU - 1) * own[1] - np.sum(R * (root @ root.T)) / 2
    return A @ np.log(shares(u[:2])) + wishart


def slopes_of_tied(u):
    """Its gradient."""
    root, of_logs = factor(u[2:]), helmert(3) @ (A - A.sum() * shares(u[:2]))
    of_root = -R @ root
    along = root[:, 0] @ of_root[:, 0], root[1, 1] * of_root[1, 1]
    return np.array([*of_logs, NU + 1 + along[0], root[0, 0] * of_root[1, 0], NU - 1 + along[1]])


def surface_of_tied(x):
    """The log density of values, and its gradient by each of them, as if none were tied."""
    p, matrix = x[:3], x[3:].reshape(2, 2)
    log_det = np.log(np.linalg.det(matrix))
    told = (A - 1) @ np.log(p) + (NU - 3) / 2 * log_det - np.sum(R * matrix) / 2
    of_matrix = (NU - 3) / 2 * np.linalg.inv(matrix) - R / 2
    return told, np.array([*((A - 1) / p), *of_matrix.ravel()])


OF_TIED = Target(
    np.array([[1, 0, 0, 3], [2, 3, 2, 2]]),
    np.full(7, -np.inf),
    np.full(7, np.inf),
    surface_of_tied, tied, height_of_tied, slopes_of_tied,
    np.array([-0.5, -0.4, 0.8, 0.5, 0.6]),
    np.array([0.5, 0.5, 0.3, 0.6, 0.3]),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A kind of move with its settings, and a point of an orbit with its momenta."""

    kind: str
    extent: float
    step: float
    seed: int
    scale: np.ndarray
    length: float = 0.4
    target: Target = OF_NUMBERS

    @property
    def following(self):
        return {"nuts": paths.nuts_next, "hmc": paths.hmc_next}[self.kind]

    @property
    def ways(self):
        """Of what a move may do from one end alone momenta are reversed half of the time."""
        return {"nuts": (1,), "hmc": (1, -1)}[self.kind]

    def orbit(self, reach):
        """Points and momenta, as many before one that is drawn as after it."""
        rng = np.random.default_rng(self.seed)
        size, target = len(self.scale), self.target
        u = target.centre + rng.standard_normal(size) * target.spread
        p = rng.standard_normal(size) / np.sqrt(self.scale)
        after = [(u, p), *self._gone(u, p, reach)]
        before = [(v, -q) for v, q in self._gone(u, -p, reach)]
        return [*reversed(before), *after]

    def _gone(self, u, p, count):
        found = []
        for _ in range(count):
            half = p + self.step / 2 * self.target.slopes(u)
            u = u + self.step * self.scale * half
            p = half + self.step / 2 * self.target.slopes(u)
            found.append((u, p))
        return found

    def ends(self, u, p):
        """Where a move that begins at a point with momenta may end, each with its probability."""
        decisions = []
        while True:
            rng = Branching(list(p * np.sqrt(self.scale)), self.length, list(decisions))
            yield self._moved(rng, self.target.of_line(u)), rng.probability
            decisions = rng.decisions
            while decisions and not decisions[-1]:
                decisions.pop()
            if not decisions:
                return
            decisions[-1] = False

    def _moved(self, rng, now):
        target, size = self.target, len(self.scale)
        work, learnt = paths.trajectory_work(), np.zeros(hamiltonian.LEARNT)
        learnt[hamiltonian.AVERAGE] = np.log(self.step)
        rows = np.zeros((paths.PARTS + 2 * int(max(self.extent, 1)), size))
        moments, slopes, tried = np.zeros((hamiltonian.MOMENTS, size)), *np.zeros((2, size))
        known = (0.8, 0.0, self.extent, learnt, self.scale, moments, slopes, rows, tried)
        maps, ends = unconstrained, (target.lower, target.upper)
        before, x, grown = np.zeros(size), np.zeros(len(now)), np.zeros(1)
        maps.to_coordinates(target.table, now, *ends, before)
        paths.trajectory_start(work)
        while self.following(rng, work, before, *known):
            maps.from_coordinates(target.table, tried, *ends, x)
            height, gradient = target.surface(x)
            maps.slopes_by_coordinates(target.table, tried, x, *ends, gradient, slopes, grown)
            work[hamiltonian.FOUND] = height + grown[0]
        maps.from_coordinates(target.table, tried, *ends, x)
        return x


def transitions(case, reach):
    """The log densities of the points of an orbit, and the probabilities of steps between them.

    Row by row those of moves that begin at a point; what ends at no point of the orbit is left out.
    """
    orbit, target = case.orbit(2 * reach), case.target
    values = np.array([target.of_line(u) for u, _ in orbit])
    joint = np.array([target.height(u) - (case.scale * p * p).sum() / 2 for u, p in orbit])
    found = np.zeros((len(orbit), len(orbit)))
    for j in range(reach, len(orbit) - reach):
        for way in case.ways:
            for end, probability in case.ends(orbit[j][0], way * orbit[j][1]):
                near = int(np.abs(values - end).max(axis=1).argmin())
                if np.abs(values[near] - end).max() <= 1e-9:
                    found[j, near] += probability / len(case.ways)
    return joint, found


def discrepancy(case, reach):
    """By how much the density of the middle of an orbit changes in a move, by its own part.

    All moves that can end there begin within its reach, and end within that of theirs.
    """
    joint, found = transitions(case, reach)
    middle, weights = len(joint) // 2, np.exp(joint - joint.max())
    own = slice(reach, len(joint) - reach)
    lost = abs(found[middle].sum() - 1)
    return max(abs(weights[own] @ found[own, middle] / weights[middle] - 1), lost)
