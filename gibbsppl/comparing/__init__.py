"""What a sampler costs, and which of several is the best: in operations, which no clock tells.

- `costs`: operations and bytes of a sweep, step by step
- `comparison`: variants side by side, by effective draws per operation; `mixing` of draws, with its
  error
- `alternatives`: the choices of a sweep, and the settings that ask for their other candidates
- `variants`: changes of the settings that a sampler may gain by
- `tournament`: the best of many variants and of combinations of these, by pilots
- the `methods` of a sampler that ask for these
"""
