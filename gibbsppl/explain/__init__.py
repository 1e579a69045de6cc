"""A derivation as text, step by step, and the schedule that ``print(sampler)`` shows.

Nothing is derived here but repairs, which are searched for when they are asked for.

- `schedule_text`: the steps of a sweep; `derivation`: all of one variable, with `families` (how it
  was recognised), `terms` (natural parameters), `interweaving`, `leaves`
- `rewriting`: the rewrites made, and the possible further ones
- `repairs`: the changes of a model that would give a closed form, by other `priors` and by
  `rescaling` of variables
- `names` for all of these; `methods`: what a sampler has of pictures, and `pages`, which notebooks
  show
"""

from gibbsppl.explain.derivation import explained
from gibbsppl.explain.rewriting import rewrites_told
from gibbsppl.explain.schedule_text import schedule_text

__all__ = ["explained", "rewrites_told", "schedule_text"]
