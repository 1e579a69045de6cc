"""Groups of draws that belong to those of a posterior, in ArviZ's layout.

Comes in: a graph with its data, draws of its posterior, which groups are wanted. Goes out: draws by
the name of their group: log likelihoods, posterior predictive draws, draws of the prior.
"""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.draws import Draws
from gibbsppl.predict.pointwise import log_likelihoods
from gibbsppl.predict.prior import prior_groups
from gibbsppl.predict.simulated import simulated

# True is all observed variables, False none; of the prior, so many draws.
Wanted = bool | str | Sequence[str]
PRIOR_DRAWS = 500


def groups_for(
    graph: Graph,
    data: Values,
    draws: Draws,
    log_likelihood: Wanted,
    posterior_predictive: Wanted,
    prior: bool | int,
    seed: int | None,
) -> dict[str, Draws]:
    """The groups that are wanted."""
    found = {}
    if log_likelihood is not False:
        found["log_likelihood"] = log_likelihoods(graph, data, draws, _names(log_likelihood))
    if posterior_predictive is not False:
        names = _names(posterior_predictive)
        found["posterior_predictive"] = simulated(graph, data, draws, names, seed=seed)
    if prior:
        count = PRIOR_DRAWS if prior is True else prior
        found |= prior_groups(graph, data, draws, count, seed)
    return found


def _names(wanted: Wanted) -> str | Sequence[str] | None:
    return None if isinstance(wanted, bool) else wanted
