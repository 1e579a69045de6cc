"""The plan of a sweep: from a rewritten model to a schedule.

`plan` goes through the graphs of a `Rewritten` and makes the steps of each:

- several statements at once: `joint` (quadratic log densities; not where there are `weak_ties`
  alone), `label_chains`
- every other conditional by its default kernel, or by the one that a user asks for: `choices`;
  `control` has the user's settings; `ellipses` are besides elements that are all tied
- what slices would move one by one, moved together along `paths`
- joint draws that are proposals, since a term corrects them: `corrected`
- non-centred updates: `interweaving`
- elements that depend on one another: `by_colour`
- blocks whose log density is concave in all together: `concave_blocks`, proposed by `modal`, maybe
  in place of an `augmentation` where all that it serves is proposed; why those that are asked for
  are `unproposed`
- `proposing`: all of a block at once, or one by one, by theory (`proposals`: how many are accepted
  in the long run); `along_ellipses`: ellipses, draws one by one, or both (`turning` is the theory
  of ellipses)
- `recentred`: proposals along which a group moves, or a non-centred update
- `step_names` of steps that draw parts of arrays
- `readings` of conditionals by their means or modes instead of draws; `ascents` to joint modes
- `alternatives` to what rules prefer, chosen by their costs and their `mixing` by theory
  (of `normal_blocks`, by sparse matrices of `large_blocks`, and of scales by missing
  `information`, with or without `updates_of_scales`; terms with `kinks` by their slopes)
- `marginal_moves`: of what has no closed form, with a variable that they see integrated out, and
  what is gained so (`marginal_gain`)
- `along_paths`: numbers on a ridge, which hardly move one by one, together, by the same theory
- `rules` where theory is silent: one table, with what was measured
- the `order` of the steps, and units of random and symmetric scans
"""

from gibbsppl.planning.along_ellipses import with_ellipses
from gibbsppl.planning.along_paths import with_ridges
from gibbsppl.planning.alternatives import Planned, with_choices
from gibbsppl.planning.augmentation import (
    addable,
    forgotten_of,
    held_by,
    held_by_term,
    is_closed,
    is_partial,
    is_proposed,
    replaceable,
    with_or_without,
)
from gibbsppl.planning.choices import check_kernels, functions_of
from gibbsppl.planning.control import Control
from gibbsppl.planning.information import Forgotten
from gibbsppl.planning.interweaving import check_asked, interwoven_if
from gibbsppl.planning.marginal_moves import integrable, with_marginal_moves
from gibbsppl.planning.plan import plan, planned
from gibbsppl.planning.proposing import with_proposals
from gibbsppl.planning.recentred import with_recentred

__all__ = [
    "Control",
    "Forgotten",
    "Planned",
    "addable",
    "check_asked",
    "check_kernels",
    "forgotten_of",
    "functions_of",
    "held_by",
    "held_by_term",
    "integrable",
    "interwoven_if",
    "is_closed",
    "is_partial",
    "is_proposed",
    "plan",
    "planned",
    "replaceable",
    "with_choices",
    "with_ellipses",
    "with_marginal_moves",
    "with_or_without",
    "with_proposals",
    "with_recentred",
    "with_ridges",
]
