"""Fits of a model by other readings of its conditionals than draws.

- the `methods` of a sampler that fit its model
- `points`: the moments of a point; `starting`: where a fit starts, after draws
- `sweeping`: sweeps in NumPy or in compiled loops, with the bound after each
- `fitting`: sweeps until the bound, or the log density, rises no more
- `natural`: natural parameters as conditionals return them; `verification`: the checks of readings,
  which have derivatives by `differences`
- `monte_carlo`: fits in which some conditionals are draws
- `distinct`: the positions of a dim that differ; `turning`: sweeps that go over to these
- `minibatches`: the data of some positions of a dim; `stochastic`: fits by these
- `variational`: fits from several starts; `approximation`: the result by means, a factorised q that
  can be asked and drawn from; `factors`: its factors as one would write them; `optimum`: the result
  by modes
"""
