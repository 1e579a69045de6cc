"""The correctness checks, as functions on any model: each can fail, and the tests prove it.

`ratio` compares every generated conditional with the joint density, exactly; `enumeration` does
small discrete models by their transition matrix; `geweke` tests whole sweeps by simulation.
"""
