"""Programs that are made anew for what is observed: for rewrites whose tables are of outcomes."""

from contextlib import suppress

import numpy as np

from gibbsppl.errors import CompileError
from gibbsppl.sampler import compiled


def remade(sampler, data, *others):
    """The data and the program of a sampler for what is observed, each made once.

    Where the settings of the sampler do not fit, ``others`` are tried in turn.
    """
    known, own = {}, sampler.settings
    every = [own, *({**own, **changed} for changed in others)]

    def compiled_for(data):
        for asked in every[:-1]:
            with suppress(CompileError):
                return compiled(sampler.graph, data, sampler.coords, asked)
        return compiled(sampler.graph, data, sampler.coords, every[-1])

    def made(seen):
        key = tuple((n, np.asarray(v).tobytes()) for n, v in sorted(seen.items()))
        if key not in known:
            again = compiled_for({**data, **seen})
            known[key] = again.data, again.program
        return known[key]

    return made
