"""Runs of a compiled sampler: chains, recorded draws, progress.

Knows no distribution. What is `ready` for a run (chains at their starts, an engine) makes its
`beginning`; `sampling` carries it out: warm-up, draws, failures, Ctrl-C. `chains` are states with
their streams of random numbers; `segments` are some sweeps of one chain, which `workers` carry out,
here or in a pool (`pools`) of fresh `processes`, which carry out `starting` a chain, too;
`stopping` is what Ctrl-C does. `recording` stores what is kept, whole numbers in the smallest
`integer_types`, `stores` have the draws of all chains; `monitoring` is for what is not kept:
`accumulators` of statistics, with `distributions`. What is `shown` is the `progress`, and views of
chains, to `callbacks`. `engines` carry out sweeps, in NumPy or as compiled loops; `choice` says
which.
"""
