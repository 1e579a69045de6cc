"""Reasons for which another program is ahead, or gibbsppl ahead by less than is asked for: rows.

A row that is behind has to have one: the page is not written without. Each was found by measuring,
as is said in it; where nobody has measured why, it says so.
"""

from dataclasses import dataclass

NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason of a workload beside a peer, in a sentence without a capital or a stop."""

    key: str
    peer: str
    why: str


ROWS = ()
REASONS = {(row.key, row.peer): row.why for row in ROWS}
assert len(REASONS) == len(ROWS)
