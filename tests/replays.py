"""A sweep of a sampler in plain loops beside its sweep in NumPy."""

from gibbsppl.checks import loops_beside


def beside(sampler, state, rng, program=None):
    """One sweep of each, from one state, which that in NumPy changes: ``far`` has what differs."""
    loops = sampler.loops() if program is None else program
    return loops_beside.beside(sampler.program, loops, state, rng, sampler.constants)
