"""Powers of the likelihood: parallel tempering, and marginal likelihoods.

- `graph`: the graph of a model whose data factors are to a power, a scalar of the state
- `ladder`: where powers stand, and how many there are
- `rungs`: a chain at each power, which swap states; `engine`: the sweeps of all, on either back end
- `sampling`: the tempered sampler beside that of the model, and runs
- `methods`: those of a sampler, `evidence` and starts by `annealing`
- `evidence`: marginal likelihoods and the methods that find them: `stones` (from log likelihoods at
  all powers), `chib` (from the normalised densities of conditionals), the bound of a fit
"""
