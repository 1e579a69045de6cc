"""Independence Metropolis steps of a block, proposed from the normal approximation at its mode.

The proposal is a multivariate t about the joint mode of a concave log density, with the second
derivatives there (L. Tierney and J. B. Kadane, 1986, Journal of the American Statistical
Association 81; as a proposal: L. Tierney, 1994, Annals of Statistics 22, 2.3.3). It depends on all
else alone: Newton steps begin at a centre that is moved in warm-up only, to the modes that are
found, and where they end is decided by the log density alone. So the ratio of the densities of
target and proposal is exact, whether or not the mode is reached. Tails are heavier than those of
any concave log density.

Where a few variables are proposed *along* with which many others move, these stay as far from their
means given the few as they were, in units of the approximation: were it exact, the few would be
drawn from their distribution without the others. The map has a slope of one.

Where all else is fixed, proposals do not depend on the state: after warm-up those of 32 steps are
made as one batch, by one factor, and their log densities evaluated together. Each step then takes
the next of them. (Random numbers of a block that alone is drawn are in the same order as if each
proposal had been made on its own.)

The first proposal of all elements in a warm-up is taken whatever its density: a start far out may
have a weight that is hardly ever exceeded, and a chain would stay there. So chains begin at a draw
about the mode. Nothing is taken so once warm-up is over.

Where proposals were seldom accepted in warm-up, every other step, at random, is that of a random
walk whose steps have the covariance of the approximation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gibbsppl.runtime.ascents import Climb, Local, Point
from gibbsppl.runtime.joint import Given, Joint
from gibbsppl.runtime.types import Constants, Floats, Generator, Numbers, State, TunedState
from gibbsppl.runtime.walks import VECTOR, Counts

# A Newton step that promises to raise the log density by half of this is the last one: it ends
# nearer to the mode than a tenth of a standard deviation.
CLOSE = 0.01
# So many points at which the log density is computed to second order end a search. (Down from where
# an exponential is nearly infinite a step is one unit: 700 of them.)
MOST_POINTS = 1000
# The degrees of freedom of proposals: these, and so many for each element. (The length of a vector
# of many elements hardly varies; with few degrees of freedom it would. With these more than 93 % of
# proposals are accepted where the target is normal, however many elements there are.)
FREEDOM, FREEDOM_BY_ELEMENT = 20.0, 4.0
# The share of accepted proposals, learnt over about so many steps, below which a random walk takes
# every other step.
LEAST_ACCEPTED, REMEMBERED = 0.2, 50.0
# The proposals of a batch, of at most so many numbers (8 MB); those of blocks with more elements
# are made one by one.
BATCH, MOST_IN_BATCH = 32, 1 << 20
# What is ``placed``: whether the mode is held on to; of the last vector the log density, and that
# of proposing it; how many proposals of the batch are left.
HELD, HEIGHT, WEIGHT, LEFT = range(4)
# Whether the mode is held on to: nothing is known yet; it is searched for in each step; it is held.
UNKNOWN, FOUND_ANEW, HELD_ON = 0.0, 1.0, 2.0
# What is known of each proposal of a batch: its log density, that of proposing it, and what their
# ratio has to be above.
OF_TARGET, OF_PROPOSAL, THRESHOLD = range(3)


@dataclass(slots=True)
class Approximation(Counts):
    """The tuning of a block's steps: the centre of Newton steps, the share of accepted proposals.

    ``share`` is learnt in warm-up. Of batches there are the ``proposals``, in columns, what is
    known of each (``judged``), the ``last`` vector, and what is ``placed``. ``entries`` are those
    of loops (`gibbsppl.runtime.loops.modal`).
    """

    centre: Floats
    adapting: bool = True
    moves: int = 0
    share: float = 1.0
    placed: Floats = field(default_factory=lambda: np.array([FOUND_ANEW, 0.0, 0.0, 0.0]))
    entries: Floats | None = None
    last: Floats | None = None
    proposals: Floats | None = None
    judged: Floats | None = None

    @property
    def begins(self) -> bool:
        """Whether a step is the first one of a warm-up."""
        return self.adapting and self.moves == 1

    def learn(self, probability: float) -> None:
        """Learn the share from the probability of accepting a proposal."""
        if self.adapting:
            self.share += (probability - self.share) / min(self.moves, REMEMBERED)


# A function of a state and of what depends on data alone.
Function = Callable[[State, Constants], Any]


@dataclass(frozen=True, slots=True)
class LogDensity:
    """A log density as a function of some arrays, all others being those of a state.

    ``of_batch``: those of a batch, ``count`` at a time, of arrays with one more axis, the last;
    None where others are drawn, too.
    """

    s: State
    c: Constants
    density: Function
    of_batch: Function | None = None
    count: int = BATCH

    def __call__(self, arrays: Mapping[str, Numbers]) -> float:
        """The log density at values of the arrays."""
        found: float = self.density({**self.s, **arrays}, self.c)
        return found

    def many(self, arrays: Mapping[str, Numbers]) -> Floats:
        """The log densities at all values of a batch."""
        assert self.of_batch is not None
        found = []
        for n in range(0, BATCH, self.count):
            own = {name: np.asarray(a)[..., n : n + self.count] for name, a in arrays.items()}
            found.append(self.of_batch({**self.s, **own}, self.c))
        return np.concatenate(found, dtype=float)


@np.errstate(all="ignore")  # what is not a number, or overflows, is not accepted
def modal_proposal(  # noqa: PLR0913
    rng: Generator,
    s: TunedState,
    name: str,
    log_density: LogDensity,
    joint: Joint,
    local: Local,
    c: Constants,
    *,
    along: bool = False,
) -> Mapping[str, Numbers]:
    """The arrays of a block after a step.

    ``log_density`` is a function of these arrays, ``local`` its gradient and half of its second
    derivatives, as coefficients of a quadratic log density of steps from a state. With ``along``
    the border of ``joint`` is proposed, and what is inside moves along.
    """
    tuning, now = _tuning(s, name, joint), joint.flat(s)
    tuning.moves += tuning.adapting
    tuning.proposed += 1
    climb = Climb(s, c, joint, local, partial(_height, log_density))
    has_batches = log_density.of_batch is not None and not tuning.adapting
    if has_batches and tuning.share >= LEAST_ACCEPTED:
        return joint.placed(s, _next_of_batch(rng, climb, tuning, now, log_density))
    point = _climbed(climb, tuning.centre)
    if point is None:  # (no Newton step can be made from the centre)
        tuning.centre = now if tuning.adapting else tuning.centre
        tuning.learn(0.0)
        return joint.placed(s, now)
    mode = point.x + point.step
    tuning.centre = mode if tuning.adapting else tuning.centre
    size = joint.border if along else joint.size
    walks = tuning.share < LEAST_ACCEPTED and rng.uniform() < 0.5
    freedom = FREEDOM + FREEDOM_BY_ELEMENT * size
    stretch = VECTOR / size if walks else freedom / (2.0 * rng.standard_gamma(freedom / 2.0))
    found = (_along if along else _anew)(rng, climb, local(climb.state(point.x), c), now - mode)
    if found is None:  # (no digits of the second derivatives are left)
        tuning.learn(0.0)
        return joint.placed(s, now)
    here, there = found.here, stretch * found.there
    away = math.sqrt(stretch) * found.noise
    tried = (now if walks else mode + found.stays) + away
    proposal = 0.0 if walks else _log_t(here, freedom, size) - _log_t(there, freedom, size)
    height = climb.height_at(tried)
    ratio = height - climb.height_at(now) + proposal
    # (at a pole it would stay)
    ratio = ratio if ratio < math.inf else -math.inf
    begins = tuning.begins and math.isfinite(height) and not (walks or along)
    taken = (-rng.standard_exponential() < ratio) or begins
    tuning.accepted += taken
    if not walks:
        tuning.learn(1.0 if begins else math.exp(min(ratio, 0.0)))
    return joint.placed(s, tried if taken else now)


@np.errstate(all="ignore")  # what is not a number, or overflows, has no weight
def log_weights(  # noqa: PLR0913
    rng: Generator,
    s: State,
    centre: Floats,
    log_density: LogDensity,
    joint: Joint,
    local: Local,
    c: Constants,
    *,
    batches: int,
) -> Floats:
    """The logs of target over proposal, up to a constant, at proposals of some batches.

    All else is as in a state; Newton steps begin at a centre. Nothing where these cannot be made.
    """
    climb = Climb(s, c, joint, local, partial(_height, log_density))
    point = _climbed(climb, centre)
    if point is None:
        return np.empty(0)
    mode, given = point.x + point.step, local(climb.state(point.x), c)
    found = list[Floats]()
    for _ in range(batches):
        try:
            away, judged = _batch(rng, joint, given)
        except np.linalg.LinAlgError:
            return np.empty(0)
        tried = mode[:, None] + away
        if log_density.of_batch is not None:
            heights = log_density.many(joint.columns(s, tried))
        else:
            heights = np.array([climb.height_at(x) for x in tried.T])
        found.append(heights - judged[OF_PROPOSAL])
    weights = np.concatenate(found)
    weights[np.isnan(weights)] = -np.inf
    return weights


def _height(
    log_density: Callable[[Mapping[str, Any]], float], state: Mapping[str, Any], c: Constants
) -> float:
    """The log density of the arrays in a state."""
    del c
    return log_density(state)


def _tuning(s: TunedState, name: str, joint: Joint) -> Approximation:
    """The tuning of a block, kept in the state under ``"~name"``."""
    key = "~" + name
    if key not in s:
        s[key] = Approximation(joint.flat(s), adapting="~" not in s)
    found: Approximation = s[key]
    return found


def _climbed(climb: Climb, centre: Floats) -> Point | None:
    """The last point of Newton steps from a centre; None where these cannot be made."""
    here = climb.at(centre)
    for _ in range(MOST_POINTS):
        rise = float(here.slope @ here.step)
        if not np.isfinite(rise):
            return None
        if rise <= CLOSE:
            return here
        ahead = climb.ahead(here, rise)
        if ahead is None:
            return here
        here = ahead
    return here


@dataclass(frozen=True, slots=True, eq=False)
class _Proposal:
    """A draw less its mean, and squared lengths, of the current vector and of the draw.

    ``stays`` is the part of the way from the mode that a proposal leaves as it is.
    """

    noise: Floats
    here: float
    there: float
    stays: Floats | float = 0.0


def _anew(rng: Generator, climb: Climb, given: Given, now: Floats) -> _Proposal | None:
    """A draw of all elements; None where the approximation has no factor."""
    try:
        noise = climb.joint.normal(rng, climb.joint.zeros, given)[1]
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(noise).all():
        return None
    here, there = (climb.joint.distance(given, d) for d in (now, noise))
    return _Proposal(noise, here, there)


def _along(rng: Generator, climb: Climb, given: Given, now: Floats) -> _Proposal | None:
    """A draw of the border, with which what is inside moves along."""
    joint = climb.joint
    z = rng.standard_normal(joint.border)
    try:
        beside, precision = joint.border_of(given)
        drawn = np.linalg.solve(np.linalg.cholesky(precision).T, z)
    except np.linalg.LinAlgError:
        return None
    if not (np.isfinite(drawn).all() and np.isfinite(beside).all()):
        return None
    count = joint.size - joint.border
    last, moves = now[joint.order[count:]], np.empty(joint.size)
    moves[joint.order] = np.concatenate([-beside @ drawn, drawn])
    stays = np.zeros(joint.size)
    stays[joint.order[:count]] = now[joint.order[:count]] + beside @ last
    return _Proposal(moves, float(last @ precision @ last), float(z @ z), stays)


def _next_of_batch(
    rng: Generator,
    climb: Climb,
    tuning: Approximation,
    now: Floats,
    log_density: LogDensity,
) -> Floats:
    """The vector after a step whose proposal is the next one of a batch."""
    placed = tuning.placed
    if placed[LEFT] == 0.0 or tuning.last is None or not np.array_equal(now, tuning.last):
        point = _climbed(climb, tuning.centre)
        if point is None:
            return now
        mode, given = point.x + point.step, climb.local(climb.state(point.x), climb.c)
        if placed[LEFT] == 0.0:
            try:
                away, tuning.judged = _batch(rng, climb.joint, given)
            except np.linalg.LinAlgError:
                return now
            tuning.proposals = mode[:, None] + away
            heights = log_density.many(climb.joint.columns(climb.s, tuning.proposals))
            tuning.judged[OF_TARGET] = np.where(np.isnan(heights), -np.inf, heights)
            placed[LEFT] = BATCH
        length, size = climb.joint.distance(given, now - mode), climb.joint.size
        placed[HEIGHT] = climb.height_at(now)
        placed[WEIGHT] = _log_t(length, FREEDOM + FREEDOM_BY_ELEMENT * size, size)
    assert tuning.judged is not None
    assert tuning.proposals is not None
    number = BATCH - int(placed[LEFT])
    height, weight, threshold = tuning.judged[:, number]
    ratio = height - placed[HEIGHT] + placed[WEIGHT] - weight
    # (at a pole it would stay)
    if threshold < ratio < math.inf:
        placed[HEIGHT], placed[WEIGHT] = height, weight
        now = tuning.proposals[:, number].copy()
        tuning.accepted += 1
    placed[LEFT] -= 1
    tuning.last = now
    return now


def _batch(rng: Generator, joint: Joint, given: Given) -> tuple[Floats, Floats]:
    """Proposals less the mode, in columns, and what is known of each, but for its log density."""
    size, judged = joint.size, np.zeros((THRESHOLD + 1, BATCH))
    freedom, z = FREEDOM + FREEDOM_BY_ELEMENT * size, np.empty((size, BATCH))
    for n in range(BATCH):
        stretch = freedom / (2.0 * rng.standard_gamma(freedom / 2.0))
        z[:, n] = math.sqrt(stretch) * rng.standard_normal(size)
        judged[OF_PROPOSAL, n] = _log_t(float(z[:, n] @ z[:, n]), freedom, size)
        judged[THRESHOLD, n] = -rng.standard_exponential()
    return joint.deviations(given, z), judged


def _log_t(length: float, freedom: float, size: int) -> float:
    """The log density of a multivariate t, up to a constant, by the squared length in its units.

    >>> _log_t(0.0, 5.0, 2)
    -0.0
    """
    return -(freedom + size) / 2.0 * math.log1p(length / freedom)
