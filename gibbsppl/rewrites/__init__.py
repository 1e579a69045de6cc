"""Rewrites: identities on graphs that add an auxiliary variable and leave the rest as it is.

`REWRITES` is the table of rules; `driver` decides which of these a model needs, and whether missing
data are imputed last. It goes:

- missing data and predictions out, to be imputed last: `leaves`, with `observed` for the rest
- data augmentation: the tables of rules are `links`, `counts`, `positive`, `values`, `volatility`;
  `rows` says what a `Rule` is and may ask, `terms` and `definite` find its terms, `applied` puts
  the new variable into a graph, `tables` hold positions of data that are not zero
- `quality` says how good a conditional is; `search` keeps the rules that help, and makes the
  `stages` of a sweep and its branches
- `parts`: an array taken apart along an axis, where each part has a closed form given the others
- collapsing: `integrals` (variables integrated out one after the other) with `sums`; `collapsing`
  makes the `Scan` of the labels, `increments` what one element of a label adds; `marginal_draws`,
  where no label sees what is integrated out
- `locations`: scales drawn without their locations, which are drawn right after;
  `means_by_rows` of locations that few rows tie
- interweaving: `interweaving` chooses, `recentring` makes the non-centred graph, `predictors` the
  graph in which what is added to a group's elements is held fixed, `rescaling` that in which arrays
  move in proportion to powers of a scale; `expansion` adds working scales for latent normal values
"""

from gibbsppl.rewrites.applied import Rewrite
from gibbsppl.rewrites.driver import (
    LOCATIONS,
    MARGINAL_MOVES,
    PARTS,
    REWRITES,
    RULES,
    UNSEEN,
    possible,
    rewritten,
)
from gibbsppl.rewrites.marginal_draws import LABELS, collapsible
from gibbsppl.rewrites.rows import Auxiliary, Facts, Rule
from gibbsppl.rewrites.search import Found, Rewritten
from gibbsppl.rewrites.stages import Stage

__all__ = [
    "LABELS",
    "LOCATIONS",
    "MARGINAL_MOVES",
    "PARTS",
    "REWRITES",
    "RULES",
    "UNSEEN",
    "Auxiliary",
    "Facts",
    "Found",
    "Rewrite",
    "Rewritten",
    "Rule",
    "Stage",
    "collapsible",
    "possible",
    "rewritten",
]
