"""Predictions, conditional means and deviance of draws.

- `prediction` of an observed variable: `new_data` is the part of the graph that it needs, a
  `question`, asked of all draws at once; `predictive` makes it a function of the state, which a
  run can monitor; `simulated` are posterior predictive draws
- `series` are carried on after their last position
- Rao-Blackwell estimates: `conditional_means`, by `step_moments` of one step along draws, and their
  `averages` over a run of which nothing is kept
- `deviance` and DIC; `pointwise` log likelihoods, for LOO and WAIC; `joint_density`, at values or
  at draws
- draws `relabelled`, so that exchangeable components are alike in all
- `groups` of draws that belong to others: log likelihoods, posterior and prior predictive
- the `methods` of a sampler that ask for these
- draws from the `prior`, which need no run; `baselines` by them: importance sampling, whose draws
  are `weighted`, and rejection sampling
"""
