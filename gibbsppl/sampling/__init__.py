"""Runs of a sampler: draws from the posterior, taken up again, and more of them.

`methods` are those of a sampler that draw; `starting` is how a chain of it starts. One of `runs` is
all that draws follow from but how far it has come: it carries itself out, wherever its draws go,
and tells them with their names.
`resuming` begins it in a folder and goes on with it there; `extending` makes a longer one of chains
that have ended; `warmups` are groups of draws of the warm-up.
`monitors` are what a run is to watch, as users say it; `pooling` makes statistics of all chains of
what was found. `observations` are those that draws have beside them.
"""
