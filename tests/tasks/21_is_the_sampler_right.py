"""Is the sampler of my model right? A proof of its conditionals, and a joint-distribution test."""

import numpy as np

import gibbsppl as gp
from gibbsppl.checks import geweke

with gp.Model(coords={"group": 3}) as model:
    of = gp.Index("of", [0, 0, 1, 1, 2, 2], of="group", dims="row")
    spread = gp.HalfNormal("spread", sigma=1)
    effect = gp.Normal("effect", 0, sigma=spread, dims="group")
    gp.Normal("y", effect[of], sigma=0.5, dims="row", observed=np.zeros(6))

# task
sampler = gp.compile(model)
checked = sampler.verify(seed=1)
rng = np.random.default_rng(1)
joint = geweke.geweke(rng, sampler.graph, sampler.data, sampler.program)
# done

assert checked.proved
assert joint.passed
