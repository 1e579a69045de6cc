"""Importance and rejection sampling from the prior: baselines for teaching and small tests.

Draws of the latent variables are ancestral ones, each given its parents; a weight is the
likelihood, with potentials as a part of it. Neither method goes by Markov chains, and neither is
fit for many parameters or much data, where next to no draw of the prior explains the observations.

- `importance`: all draws, with weights (`gibbsppl.predict.weighted`)
- `rejection`: draws accepted with a probability in proportion to the likelihood (J. von Neumann,
  1951, "Various techniques used in connection with random digits")
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gibbsppl.arguments import MODEL, POSITIVE, calls_told, is_finite_number, shown
from gibbsppl.errors import RunError, counted
from gibbsppl.html import Printed
from gibbsppl.language.coordinates import as_array
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array
from gibbsppl.output.draws import Draws
from gibbsppl.predict.deviance import deviance
from gibbsppl.predict.joint_density import log_density_along
from gibbsppl.predict.prior import prior_draws
from gibbsppl.predict.weighted import Weighted
from gibbsppl.run.sampling import Seed, check_memory, seed_sequence

if TYPE_CHECKING:
    from gibbsppl.language import Model

__all__ = ["Rejection", "Weighted", "importance", "rejection"]

# Draws of more memory are refused.
LIMIT = 4 << 30


@calls_told(RunError, model=MODEL, draws=POSITIVE)
def importance(model: Model, *, draws: int = 10_000, seed: Seed = None) -> Weighted:
    """Importance sampling from the prior: draws of the prior, weighted by the likelihood.

    Means are self-normalised, with standard errors; the mean weight estimates the evidence, the
    marginal likelihood of the observations, without bias. Potentials are a part of the likelihood.
    ``draws`` is how many; ``seed`` is a whole number, a ``SeedSequence`` or a ``Generator``.
    Raises `RunError` for a model without observations and potentials, and where no draw of the
    prior has a positive likelihood; `ModelError` for a prior that cannot be simulated, such as a
    flat one. (A. B. Owen, 2013, "Monte Carlo theory, methods and examples", chapter 9.)

    >>> import gibbsppl as gp
    >>> with gp.Model(name="coin") as coin:
    ...     p = gp.Beta("p", 1, 1)
    ...     heads = gp.Binomial("heads", 10, p, observed=7)
    >>> found = gp.baselines.importance(coin, draws=20_000, seed=1)
    >>> bool(abs(found.mean("p") - 8 / 12) < 4 * found.standard_error("p"))
    True
    >>> bool(abs(found.log_evidence + np.log(11)) < 4 * found.log_evidence_error)
    True
    """
    sequence = seed_sequence(seed)
    values, log_weights = _weighed(model, draws, np.random.default_rng(sequence))
    dims, coords = _named(model, values)
    attributes = {"model": model.name, "seed": sequence.entropy}
    return Weighted(values, log_weights, dims, coords, attributes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rejection(Printed):
    """The draws that rejection sampling has accepted, and how.

    ``draws`` are independent draws of the posterior, as one chain. ``log_maximum`` is the bound of
    the log likelihood; ``is_found``: it is the largest of the proposals' own, so that draws are
    only nearly from the posterior. ``exceeded`` proposals had a larger one, by ``excess`` at most:
    all of these are accepted, and yet too few for their likelihood.
    """

    draws: Draws
    proposals: int
    log_maximum: float
    is_found: bool
    exceeded: int = 0
    excess: float = 0.0

    @property
    def accepted(self) -> int:
        """The number of draws that were accepted."""
        return self.draws.draws

    @property
    def acceptance(self) -> float:
        """The share of draws that were accepted."""
        return self.accepted / self.proposals

    @property
    def acceptance_error(self) -> float:
        """The standard error of that share."""
        return math.sqrt(self.acceptance * (1 - self.acceptance) / self.proposals)

    @property
    def log_evidence(self) -> float:
        """The log marginal likelihood: the log of the share accepted, plus the bound."""
        return math.log(self.acceptance) + self.log_maximum

    @property
    def log_evidence_error(self) -> float:
        """The standard error of the log evidence."""
        return self.acceptance_error / self.acceptance

    def __str__(self) -> str:
        how = "the largest of the proposals' own" if self.is_found else "given"
        shares = f"{100 * self.acceptance:.3g} %, error {100 * self.acceptance_error:.2g} %"
        of = f"{self.accepted} of {counted(self.proposals, 'proposal')} accepted ({shares})"
        evidence = f"log evidence {self.log_evidence:.4f}, error {self.log_evidence_error:.2g}"
        bound = f"bound of the log likelihood {self.log_maximum:.4f}, {how}; {evidence}"
        lines = [f"rejection sampling: {of}", bound]
        if self.is_found:
            lines.append(
                "The bound was found, not proved: draws are only nearly from the posterior. Give "
                "log_maximum= to have exact ones."
            )
        if self.exceeded:
            lines.append(
                f"The bound is too small: {counted(self.exceeded, 'proposal')} had a larger log "
                f"likelihood, by up to {self.excess:.4g}, and are too few among the draws. Raise "
                f"log_maximum= to {self.log_maximum + self.excess:.10g} at least."
            )
        return "\n".join(lines)

    __repr__ = __str__


@calls_told(RunError, model=MODEL, proposals=POSITIVE)
def rejection(
    model: Model,
    *,
    proposals: int = 10_000,
    log_maximum: float | None = None,
    seed: Seed = None,
) -> Rejection:
    """Rejection sampling from the prior: draws accepted in proportion to their likelihood.

    ``proposals`` draws of the prior are made, and each is accepted with the probability
    ``exp(log likelihood - log_maximum)``. ``log_maximum`` is a bound of the log likelihood; by
    default the largest of these proposals is taken, and said to be so. Proposals above a bound that
    was given are counted and reported. The accepted draws are independent, one chain of `Draws`.
    Potentials are a part of the likelihood. Errors are those of `importance`; besides, `RunError`
    where nothing is accepted.

    >>> import gibbsppl as gp
    >>> with gp.Model(name="coin") as coin:
    ...     p = gp.Beta("p", 1, 1)
    ...     heads = gp.Binomial("heads", 10, p, observed=7)
    >>> best = np.log(120 * 0.7**7 * 0.3**3)
    >>> found = gp.baselines.rejection(coin, log_maximum=best, seed=1)
    >>> print(str(found).splitlines()[0])
    rejection sampling: 3459 of 10000 proposals accepted (34.6 %, error 0.48 %)
    >>> found.draws["p"].shape
    (1, 3459)
    """
    if log_maximum is not None and not is_finite_number(log_maximum):
        found = shown(log_maximum)
        raise RunError(f"rejection: found log_maximum={found}, expected a number, or None.")
    sequence = seed_sequence(seed)
    rng = np.random.default_rng(sequence)
    values, log_weights = _weighed(model, proposals, rng)
    highest = float(log_weights.max())
    bound = highest if log_maximum is None else float(log_maximum)
    with np.errstate(over="ignore"):
        accepted = -rng.standard_exponential(proposals) <= log_weights - bound
    if not accepted.any():
        raise RunError(
            f"{model.name}: none of {proposals} proposals was accepted; raise proposals=, or lower "
            f"log_maximum= (the largest log likelihood found is {highest:.10g})."
        )
    dims, coords = _named(model, values)
    attributes = {"model": model.name, "seed": sequence.entropy}
    draws = Draws({n: a[accepted][None] for n, a in values.items()}, dims, coords)
    return Rejection(
        replace(draws, attributes=attributes),
        proposals,
        bound,
        is_found=log_maximum is None,
        exceeded=int((log_weights > bound).sum()),
        excess=max(highest - bound, 0.0),
    )


def _weighed(
    model: Model, count: int, rng: np.random.Generator
) -> tuple[dict[str, Array], Floats]:
    """Draws of the prior, the draw first, with the log likelihood of each."""
    graph, data = model.graph, model.data
    sizes = {n: math.prod(graph.sizes[d] for d in graph.variables[n].dims) for n in graph.drawn}
    check_memory({n: 8 * count * size for n, size in sizes.items()}, LIMIT)
    if not sizes:
        raise RunError(f"{graph.name}: found no latent variable, so that there is nothing to draw.")
    if not graph.potentials and all(s.known == 0 for s in graph.statements):
        raise RunError(
            f"{graph.name}: found no observations and no potentials, so that all weights are the "
            "same; gp.simulate draws from the prior."
        )
    values = prior_draws(rng, graph, data, count)
    log_weights = _log_likelihood(graph, data, values)
    if not log_weights.max() > -np.inf:
        raise RunError(
            f"{graph.name}: none of {count} draws of the prior has a positive likelihood; raise "
            "draws=, or give tighter priors."
        )
    return values, log_weights


def _log_likelihood(graph: Graph, data: Values, values: Mapping[str, Array]) -> Floats:
    """The log density of what is observed, and of potentials, at each draw."""
    (count,) = {len(a) for a in values.values()}
    found = np.zeros(count)
    if any(s.known != 0 for s in graph.statements):
        one_chain = Draws({n: a[None] for n, a in values.items()}, _dims(graph, values))
        found += -deviance(graph, data, one_chain)[0] / 2
    if graph.potentials:
        alone = replace(graph, statements=())
        along = {n: np.moveaxis(a, 0, -1) for n, a in values.items()}
        found += log_density_along(alone, data, along)
    wrong = np.isnan(found) | np.isposinf(found)
    if wrong.any():
        told = f"{found[wrong][0]} at draw {int(np.argmax(wrong))} of the prior"
        raise RunError(f"{graph.name}: the log likelihood is {told}; give tighter priors.")
    return found


def _dims(graph: Graph, values: Mapping[str, Array]) -> dict[str, tuple[str, ...]]:
    return {n: tuple(d.name for d in graph.variables[n].dims) for n in values}


def _named(
    model: Model, values: Mapping[str, Array]
) -> tuple[dict[str, tuple[str, ...]], dict[str, Array]]:
    """The names of dims and the labels along them."""
    dims = _dims(model.graph, values)
    used = {d for own in dims.values() for d in own}
    return dims, {d: as_array(c) for d, c in model.positions.items() if d in used}
