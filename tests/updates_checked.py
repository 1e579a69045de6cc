"""Non-centred updates put to the test: steps that fail, and the joint distribution of sweeps."""

from dataclasses import replace

import numpy as np
import sympy as sp

import gibbsppl as gp
from gibbsppl.checks.geweke import geweke
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.model.graph import Potential
from gibbsppl.rewrites.recentring import recentred


def failed(sampler, source=None, schedule=None):
    """The steps that the proof finds wrong, of a sampler or of another source for it."""
    schedule = schedule or sampler.schedule
    found = verify(
        sampler.graph,
        load(source or sampler.source),
        schedule.steps,
        sampler.data,
        graphs=schedule.graphs,
        schedule=schedule,
    )
    return {r.step for r in found.rows if not r.passed}


def joint(name, sampler, source=None, *, replicates=1500, level):
    """The joint-distribution test of a sampler, or of another source for it."""
    return geweke(
        np.random.default_rng(list(name.encode())),
        sampler.graph,
        sampler.data,
        load(source) if source else sampler.program,
        replicates=replicates,
        sweeps=3,
        level=level,
    )


def scales(model, **settings):
    """The scales that a model's sampler draws once more."""
    found = gp.compile(model, **settings).schedule.interwoven.values()
    return [i.variable for i in found if i.what == "scale"]


def recentred_with_lost(count):
    """A recentring in which conditional and graph agree, and lack the Jacobian of some elements."""

    def wrong(graph, statement, name, what):
        made = recentred(graph, statement, name, what)
        (_, tau) = statement.arguments
        lost = Potential("lost", count * sp.log(tau[1]) / 2, ())
        return replace(made, graph=replace(made.graph, potentials=(lost,)))

    return wrong
