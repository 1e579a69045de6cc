"""Operations of functions and kernels of loops: a row for each.

One operation is what an addition or a multiplication in a sum takes, each after the one before. The
figures of functions and of draws are times in such units, all at arguments of ordinary size on one
machine, as `tests/benchmarks/operations.py` finds them; those of kernels of vectors and matrices
are counts of what they do, with factors fitted to times of sizes 3, 10 and 40.

An operation took 0.58 ns there. Sweeps of the 38 models of `models/`, compiled, take 0.11 to 1.3 ns
an operation, 29 of them within a factor of two of 0.58: less where a processor takes several
positions at once (mixtures, counts shared out), more where arrays are small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gibbsppl.runtime.modal import BATCH


class Given(Protocol):
    """An argument or a result of a kernel, as far as it is known before a run.

    ``count`` is how many numbers it has, ``axes`` how many along each axis: numbers, or amounts in
    the sizes of dims. ``values`` are those of a table that the sweep has, else None; ``amount`` is
    the one number of it, or of a table of one, as an amount too.
    """

    @property
    def count(self) -> Any:
        """The number of its elements."""

    @property
    def axes(self) -> tuple[Any, ...]:
        """The number of positions along each axis."""

    @property
    def values(self) -> Any:
        """Its values, where these are known."""

    @property
    def amount(self) -> Any:
        """Its one value, where it is known."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The operations of a call, by its arguments and then its results.

    ``evaluations``: how often it asks for its log density, on average; a kernel that ``searches``
    for a mode asks so often besides, and then to second order, unless the mode is known. Then it
    may ask for those of a batch, once for so many calls.
    """

    operations: Callable[..., Any]
    evaluations: float = 0.0
    searches: float = 0.0

    def asked(self, given: Sequence[Given]) -> tuple[float, float, float]:
        """How often a log density is asked for, the same to second order, and those of a batch."""
        if self.searches and _has_batches(given):
            return 0.0, 0.0, 1 / BATCH
        return self.evaluations, 0.0 if self.searches and _is_fixed(given) else self.searches, 0.0


# Arithmetic, comparisons and choices by a condition.
ONE = ("+", "*", "neg", "equals", "below", "at_most", "and", "where", "minimum", "maximum", "abs")
FUNCTIONS: Mapping[str, float] = {
    **dict.fromkeys((*ONE, "smaller", "//", "weighted", "square", "copied", "reciprocal"), 1),
    "/": 2, "sqrt": 4, "xlogy": 11, "xlog1py": 27, "remainder": 4, "inverse_probability": 18,
    "variance": 4, "deviation": 8, "width_learnt": 6, "scale_learnt": 12, "exp_not_above_1": 8,
    "**": 25, "exp": 8, "exp_of": 9, "log": 10, "log1p": 26, "cos": 31, "sin": 19, "arctan": 18,
    "expit": 8, "softplus": 30, "log_add_exp": 36, "log_cloglog": 36, "log_mass": 40,
    "loggamma": 53,
    "digamma": 49, "log_beta": 220, "log_rising": 140, "log_stirling": 2300, "log_gamma_p": 230,
    "log_gamma_p_of_exp": 320, "log_gamma_q": 290, "log_gamma_u": 260, "log_beta_i": 690,
    "log_beta_i_1p": 490, "normal_cdf": 37,
    "normal_log_cdf": 55, "log_one_minus_exp": 32, "log_bessel_i": 120, "log_bessel_k": 2500,
    "log_bessel_k_by_order": 3100, "log_fox_wright": 100_000, "log_fox_wright_by_shape": 86_000,
    "log_chi_ratio": 190, "log_passage_p": 1300, "log_passage_q": 1200, "log_polya_gamma": 16_000,
}  # fmt: skip

# Draws of numbers.
DRAWS: Mapping[str, float] = {
    "normal": 35, "normal_of": 20, "gamma": 110, "gamma_of": 66, "log_gamma_of": 98,
    "inverse_gamma": 120, "inverse_gamma_of": 140, "chi_squared": 74, "exponential": 7,
    "half_normal": 32, "half_normal_of": 28, "log_normal": 58, "log_normal_of": 40, "laplace": 44,
    "weibull": 58, "pareto": 58, "pareto_of": 47, "beta": 180, "beta_of": 150,
    "beta_exponential": 210, "beta_exponential_of": 200, "uniform": 43, "bernoulli": 32,
    "bernoulli_of": 11, "binomial": 170, "poisson": 260, "poisson_of": 180, "geometric": 10,
    "negative_binomial": 270, "discrete_uniform": 150, "generalized_inverse_gaussian": 1600,
    "truncated_generalized_inverse_gaussian": 1300, "inverse_gaussian": 77,
    "modified_half_normal": 1300, "truncated_modified_half_normal": 1800, "beta_prime": 120,
    "truncated_beta_prime": 1200, "von_mises": 410, "truncated_uniform": 20,
    "truncated_normal": 110, "truncated_half_normal": 89, "truncated_log_normal": 500,
    "truncated_exponential": 110, "truncated_power": 220, "truncated_gamma": 160,
    "truncated_inverse_gamma": 270, "truncated_beta": 320, "truncated_poisson": 480,
    "over_relaxed_normal": 120, "tables": 200,
}  # fmt: skip

# A standard normal number, a uniform one; a call of a kernel of vectors.
NORMAL, UNIFORM, CALL = 12, 6, 40
# Newton steps to a mode from a centre that warm-up has learnt; the results of a proposal about it.
NEWTON_STEPS, RESULTS = 2.5, 7
# What of a proposal about a mode each element takes, besides random numbers and factors.
PASSES = 40
# Points of a path by gradients, most often; what each takes, whatever its elements.
POINTS_OF_PATH, POINT = 8, 340
# A Polya-Gamma number of one trial, and of many.
ONE_TRIAL, MANY_TRIALS = 135, 220


def _factorised(n: Any) -> Any:
    """A Cholesky factor, of which several columns are taken from the others at a time."""
    return n * n * n * (1 / 8) + n * n + n * 30


def _solved(n: Any) -> Any:
    """One triangular system."""
    return n * n + n * 10


def _normal_of_vector(eta_1: Given, *_: Given) -> Any:
    n = eta_1.count
    return 80 + _factorised(n) + _solved(n) * 2 + n * NORMAL


def _wishart(_: Given, eta_2: Given, *__: Given) -> Any:
    n = eta_2.axes[0]
    return n * n * n + n * n * 10 + n * 200 + CALL


def _labels(weights: Given, *_: Given) -> Any:
    return CALL + weights.axes[0] * 12


def _border(inside: Any, border: Any) -> Any:
    """The operations of a border of so many elements beside the factor of the inside."""
    return inside * (border * border + border * 5) + _factorised(border)


def _blocks(_: Given, __: Given, counts: Given, orders: Given, border: Given, order: Given,
            *___: Given) -> Any:  # fmt: skip
    k = border.amount
    if len(counts.values) == 1:
        blocks, size = counts.amount, orders.amount
        inside, each = blocks * size, _factorised(size) + (k + 2) * _solved(size)
    else:
        own = list(zip(map(float, counts.values), map(float, orders.values), strict=True))
        blocks, inside = 1, order.count * (sum(c * n for c, n in own) / max(1, len(order.values)))
        factors, solved = (sum(c * f(n) for c, n in own) for f in (_factorised, _solved))
        each = (inside * factors + inside * solved * (k + 2)) * (1 / max(1.0, _elements(own)))
    return CALL + order.count * (NORMAL + 4) + blocks * each + _border(inside, k)


def _elements(blocks: list[tuple[float, float]]) -> float:
    return sum(count * size for count, size in blocks)


def _band(_: Given, __: Given, width: Given, border: Given, order: Given, *___: Given) -> Any:
    w, k, n = width.amount, border.amount, order.count
    inside = n - k
    each = w * w + w * 6 + 8 + k * (w * 2 + 1)
    return CALL + n * (NORMAL + 4) + inside * each + _border(inside, k)


def _sparse(
    _: Given, __: Given, starts: Given, ___: Given, ____: Given, links: Given, ends: Given,
    border: Given, order: Given, *_____: Given,
) -> Any:  # fmt: skip
    k, n = border.amount, order.count
    inside, count = n - k, max(1, len(starts.values) - 1)
    stored = float(starts.values[-1]) / count
    taken = float(np.sum(np.asarray(ends.values) - np.asarray(links.values))) / count
    each = 2 * taken + 3 * len(links.values) / count + 6 * stored + k * (2 * stored)
    return CALL + n * (NORMAL + 4) + inside * each + _border(inside, k)


def _by_rows(_: Given, __: Given, design: Given, *___: Given) -> Any:
    columns, rows = design.axes
    return CALL + columns * (rows * rows * (3 / 8) + rows * 6 + NORMAL) + _factorised(rows)


def _pencil(_: Given, __: Given, ___: Given, rows: Given, diagonals: Given, order: Given,
            *____: Given) -> Any:  # fmt: skip
    each = NORMAL + 12 + 4 * int(rows.values.shape[1]) + 2 * len(diagonals.values)
    return 600 + order.count * each


def _chain(log_weights: Given, *_: Given) -> Any:
    count, size = log_weights.axes
    return CALL + count * (size * size * 0.25 + size * 12 + 100)


def _chain_averages(log_weights: Given, *_: Given) -> Any:
    count, size = log_weights.axes
    return CALL + count * (size * size * 4 + size * 60 + 100)


def _averaged(of: Callable[..., Any]) -> Callable[..., Any]:
    """The same factor, and the entries of the inverse at its places, about twice as much."""
    return lambda *given: of(*given) * 3


def _number(operations: float, evaluations: float = 0.0) -> Kernel:
    """A kernel of numbers."""
    return Kernel(lambda *_: operations, evaluations)


def _is_fixed(given: Sequence[Given]) -> bool:
    """Whether all else than the block that is proposed is data: its last argument but two."""
    return _is_true(given[-3])


def _has_batches(given: Sequence[Given]) -> bool:
    """Whether proposals are made in batches: the last argument but three."""
    return _is_true(given[-4])


def _is_true(given: Given) -> bool:
    """Whether an argument is a number, and not 0."""
    return given.amount is not None and given.amount.at({}) != 0.0


def _modal(of: Callable[..., Any]) -> Kernel:
    """A proposal about a mode: a factor for each Newton step, and one for the proposal.

    The log density is evaluated at what is proposed and at what is there. By the entries of the
    factor vectors are put into its units, and back; of a batch there is one, which is put back.
    """

    def operations(*given: Given) -> Any:
        factor, own = of(*given[3:]), given[:-RESULTS]
        elements, entries = given[0].count, given[3].count
        if _has_batches(own):
            return factor * (1 / BATCH) + CALL + elements * (NORMAL + 8) + entries
        alone = CALL + elements * (NORMAL + PASSES) + entries * 3
        return factor * (1 if _is_fixed(own) else 1 + NEWTON_STEPS) + alone

    return Kernel(operations, 2.0, NEWTON_STEPS)


def _trajectory(now: Given, *_: Given) -> Any:
    """Momenta are drawn once; at each point positions move, and ends are compared."""
    return CALL + now.count * NORMAL + POINTS_OF_PATH * (POINT + now.count * 9)


def _mapped(operations: float, place: int = 1) -> Kernel:
    """A map of coordinates, of which an argument has one for each."""
    return Kernel(lambda *given: CALL + given[place].count * operations)


def _each(operations: float) -> Kernel:
    """A kernel that goes through its first argument, or result, once."""
    return Kernel(lambda first, *_: CALL + first.count * operations)


def _matrix(cubes: float, squares: float) -> Kernel:
    """A kernel of one matrix: times its size thrice, and twice."""

    def operations(matrix: Given, *_: Given) -> Any:
        n = matrix.axes[0]
        return CALL + n * n * n * cubes + n * n * squares + n * 60

    return Kernel(operations)


def _polya_gamma(_: Given, trials: Given, *__: Given) -> Any:
    """A sum of as many draws as trials, if few; what is read from data may be many."""
    few = None if trials.amount is None else trials.amount.at({})
    return MANY_TRIALS if few is None else min(ONE_TRIAL * max(few, 1.0), MANY_TRIALS)


def _search(numbers: Given, *_: Given) -> Any:
    """Halves of a table, one read after the other; of a table that is not there yet some ten."""
    return 8 + 5 * np.log2(1024 if numbers.values is None else len(numbers.values))


def _shares(weights: Given, *_: Given) -> Any:
    return 370 + weights.count * 13


KERNELS: Mapping[str, Kernel] = {
    **{name: _number(operations) for name, operations in DRAWS.items()},
    "polya_gamma": Kernel(_polya_gamma),
    # by log densities: what a move takes beside these
    "concave": _number(300, 5.3),
    "slice": _number(60, 6.5),
    "slice_whole": _number(60, 6.5),
    "walk": _number(60, 2),
    "walk_whole": _number(60, 2),
    "ellipse": _number(200, 3.5),
    "elliptical": Kernel(lambda now, *_: CALL + now.count * 4 * 3.5, 3.5),
    "walk_vector": Kernel(
        lambda now, *_: CALL + now.count * (NORMAL + 20) + now.count * now.count * 4, 2
    ),
    "modal_blocks": _modal(_blocks),
    "modal_band": _modal(_band),
    "modal_sparse": _modal(_sparse),
    "nuts": Kernel(_trajectory, POINTS_OF_PATH),
    "hmc": Kernel(_trajectory, POINTS_OF_PATH),
    "to_coordinates": _mapped(40),
    "from_coordinates": _mapped(40),
    "moved_from_coordinates": _mapped(40, place=2),
    "slopes_by_coordinates": _mapped(60),
    "swap": Kernel(lambda now, *_: CALL + now.count * 4, 2),
    # of vectors and matrices
    "dirichlet": _each(66),
    "multinomial": Kernel(lambda eta_1, *_: 600 + eta_1.count * 22),
    "mvnormal": Kernel(_normal_of_vector),
    "over_relaxed_mvnormal": Kernel(_normal_of_vector),
    "wishart": Kernel(_wishart),
    "inverse_wishart": Kernel(_wishart),
    "von_mises_fisher": Kernel(lambda eta_1, *_: 500 + eta_1.count * 30),
    "logdet": _matrix(1 / 8, 1),
    "inverse": _matrix(1.1, 2),
    "solution": _matrix(1 / 8, 5),
    "certain_room": _matrix(0.5, 5),
    # of labels
    "labels": Kernel(_labels),
    "label_of_weights": _each(1),
    "labels_of_block": Kernel(lambda weights, *_: CALL + weights.count * 5.5),
    "weights_of_logs": Kernel(lambda logs, *_: logs.count * 18),
    "sums_by_lane": Kernel(lambda weights, *_: 8 + weights.count * 0.6),
    "label_in": Kernel(lambda weights, *_: 18 + weights.count * 0.5),
    "shares_in": Kernel(_shares),
    "shares_added": Kernel(_shares),
    "probabilities": _each(20),
    "likeliest": _each(2),
    "tree_of_sums": _each(1),
    "weight_in_tree": _number(30),
    "last_at_most": Kernel(_search),
    "label_in_buckets": _number(100),
    "one_listed": _number(10),
    "chain": Kernel(_chain),
    "chain_by_step": Kernel(_chain),
    "chain_probabilities": Kernel(_chain_averages),
    "likeliest_chain": Kernel(_chain),
    # joint
    "joint_blocks": Kernel(_blocks),
    "joint_band": Kernel(_band),
    "joint_sparse": Kernel(_sparse),
    **{f"joint_{how}_apart": Kernel(lambda *given, of=of: of(*given) * 2)
       for how, of in (("blocks", _blocks), ("band", _band), ("sparse", _sparse))},
    "averaged_blocks": Kernel(_averaged(_blocks)),
    "averaged_band": Kernel(_averaged(_band)),
    "averaged_sparse": Kernel(_averaged(_sparse)),
    "joint_by_rows": Kernel(_by_rows),
    "pencil": Kernel(_pencil),
    "pencil_apart": Kernel(lambda *given: _pencil(*given) * 2),
    # along a line of entries that are tied, of units of a scan
    **{f"{line}_{what}": _each(2) for line in ("shared_out", "exchanged", "turned", "sheared")
       for what in ("ends", "at", "slope")},
    "equal_units": Kernel(lambda *outs: CALL + outs[-1].count * UNIFORM),
    "weighted_units": Kernel(lambda *outs: CALL + outs[-1].count * (UNIFORM + 10)),
    "chosen_part": _number(UNIFORM + 4),
    "is_taken": _number(8),
    "turned_by": _number(UNIFORM + 30),
    "partner": _number(UNIFORM),
    "units_of": _number(2),
    "fetch_row": _number(0),
    "copied": _each(1),
}  # fmt: skip
