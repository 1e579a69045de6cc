"""Predictions, conditional means and deviance of draws.

- `prediction` of an observed variable: `new_data` is the part of the graph that it needs, and
  `along_draws` makes all draws one more dimension of it
- Rao-Blackwell estimates: `conditional_means`, by `step_moments` of one step along draws, and their
  `averages` over a run of which nothing is kept
- `deviance` and DIC
- draws from the `prior`, which need no run
"""
