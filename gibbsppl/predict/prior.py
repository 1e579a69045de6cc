"""Draws from the prior: ancestral draws of parameters and observations.

Comes in: a model. Goes out: values of all random arrays, the observed arrays included.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"toss": 3}) as coin:
...     p = gp.Beta("p", 1, 1)
...     heads = gp.Bernoulli("heads", p, dims="toss", observed=[1, 0, 1])
>>> prior = gp.simulate(coin, seed=1, draws=1000)
>>> prior["p"].shape, prior["heads"].shape
((1000,), (1000, 3))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gibbsppl.arguments import COUNT, MODEL, calls_told
from gibbsppl.errors import ModelError
from gibbsppl.model.forward import State, prior_predictive
from gibbsppl.run.sampling import Seed, seed_sequence

if TYPE_CHECKING:
    from gibbsppl.language import Model


@calls_told(ModelError, model=MODEL, draws=COUNT)
def simulate(model: Model, *, seed: Seed, draws: int = 1) -> State:
    """Independent draws of every random array from the model itself: name -> (draws, ...).

    The observed arrays are drawn as well: these are the prior predictive. ``seed`` is a whole
    number, a ``SeedSequence`` or a ``Generator``.
    """
    if draws < 1:
        raise ModelError(f"draws: found {draws}, expected at least 1.")
    rng = np.random.default_rng(seed_sequence(seed))
    return prior_predictive(rng, model.graph, model.data, draws=draws)
