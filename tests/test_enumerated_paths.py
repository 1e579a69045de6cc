"""Moves along paths, every branch followed: the density of each orbit is left as it is, exactly."""

import inspect
from dataclasses import dataclass, replace

import numpy as np
import pytest
from enumerated_paths import OF_TIED, Case, discrepancy

from gibbsppl.runtime.loops import hamiltonian, unconstrained
from gibbsppl.runtime.loops import trajectories as paths

SCALE = np.array([0.5, 1.5, 0.8, 0.3])
# Depths of 2, of steps with which some paths turn, and some do not; a path of 4 points.
TREES = [Case("nuts", 2, step, seed, SCALE) for step in (0.3, 0.6, 0.9) for seed in range(6)]
LENGTHS = [Case("hmc", 1.5, 0.35, seed, SCALE) for seed in range(6)]
TIED_SCALE = np.array([0.6, 0.9, 0.4, 1.1, 0.5])
TIED = [
    *(Case("nuts", 2, step, 7, TIED_SCALE, target=OF_TIED) for step in (0.2, 0.4)),
    Case("hmc", 1.5, 0.35, 8, TIED_SCALE, target=OF_TIED),
]
REACH = {"nuts": 3, "hmc": 4}

# Sums of at most a thousand products of probabilities, of points some steps apart.
ROUNDING = 1e4 * np.finfo(float).eps


def largest(cases):
    return max(discrepancy(case, REACH[case.kind]) for case in cases)


@pytest.mark.parametrize("cases", [TREES, LENGTHS, TIED], ids=["nuts", "hmc", "tied"])
def test_orbits_keep_their_density(cases):
    assert largest(cases) < ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.35, 0.5])
def test_orbits_keep_their_density_where_paths_double_three_times(step):
    assert discrepancy(replace(TREES[1], extent=3, step=step), 7) < ROUNDING


@dataclass(frozen=True)
class Bug:
    """A text in a function of a module of loops, what takes its place, and the moves it spoils."""

    module: object
    function: str
    right: str
    wrong: str
    cases: list

    def plant(self, monkeypatch):
        source = inspect.getsource(getattr(self.module, self.function))
        assert self.right in source
        found = dict(vars(self.module))
        exec(source.replace(self.right, self.wrong), found)  # noqa: S102
        for module in (hamiltonian, paths, unconstrained):
            if hasattr(module, self.function):
                monkeypatch.setattr(module, self.function, found[self.function])


BUGS = {
    "no Jacobian": Bug(
        unconstrained, "slopes_by_coordinates", "grown[0] = found", "grown[0] = 0.0",
        [*TREES, *LENGTHS, *TIED],
    ),
    "no Jacobian of shares": Bug(
        unconstrained, "_slopes_of_shares", "found += log_of(x[first + i])", "found += 0.0", TIED
    ),
    "a Jacobian of factors alone": Bug(
        unconstrained, "_slopes_of_matrix", "found += 2.0 * (size - j)", "found += size - j", TIED
    ),
    "no half step before": Bug(hamiltonian, "gone", "step / 2", "step", [*TREES, *LENGTHS]),
    "no half step after": Bug(hamiltonian, "arrived", "step / 2", "0.0", [*TREES, *LENGTHS]),
    "kinetic energy without scales": Bug(
        hamiltonian, "arrived", "scale[i] * rows[P, i] * rows[P, i]", "rows[P, i] * rows[P, i]",
        [*TREES, *LENGTHS],
    ),
    "momenta without scales": Bug(
        hamiltonian, "pushed", "z / sqrt(scale[i])", "z", [*TREES, *LENGTHS]
    ),
    "the newer half always": Bug(
        paths, "_joined", "min(work[NEWER] - work[WEIGHT], 0.0)", "0.0", TREES
    ),
    "the weight of the newer half alone": Bug(
        paths, "_joined", "_log_sum(work[WEIGHT], work[NEWER])", "work[NEWER]", TREES
    ),
    "points of the newer half alike": Bug(
        paths, "_grown", "exp(change - work[NEWER])", "1 / (1 + work[LEAF])", TREES
    ),
    "forwards always": Bug(paths, "_doubled", "rng.random() < 0.5", "rng.random() < 1.0", TREES),
    "turns of parts overlooked": Bug(
        paths, "_grown", "if _turns(", "if leaf < 0 and _turns(", TREES
    ),
    "every end accepted": Bug(
        paths, "hmc_next", "rng.random() < work[ACCEPT]", "rng.random() < 1.0", LENGTHS
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_change_the_density(name, monkeypatch):
    bug = BUGS[name]
    bug.plant(monkeypatch)
    for kind in ("nuts", "hmc"):
        if own := [c for c in bug.cases if c.kind == kind]:
            # (one of the orbits shows it)
            assert any(discrepancy(c, REACH[kind]) > 100 * ROUNDING for c in own)
