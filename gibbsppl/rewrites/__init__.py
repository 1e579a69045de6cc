"""Rewrites: identities on graphs that add an auxiliary variable and leave the rest as it is.

`REWRITES` is the table of rules; `driver.rewritten` applies those that a model needs.
"""

from gibbsppl.rewrites.applied import Rewrite
from gibbsppl.rewrites.collapsing import collapsible
from gibbsppl.rewrites.driver import PARTS, REWRITES, UNSEEN, possible, rewritten
from gibbsppl.rewrites.rows import Auxiliary, Facts, Rule
from gibbsppl.rewrites.search import Rewritten, Stage

__all__ = [
    "PARTS",
    "REWRITES",
    "UNSEEN",
    "Auxiliary",
    "Facts",
    "Rewrite",
    "Rewritten",
    "Rule",
    "Stage",
    "collapsible",
    "possible",
    "rewritten",
]
