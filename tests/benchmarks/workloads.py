"""All workloads, by name: rows of the tables of ``*_rows.py``, in the order of the page.

>>> WORKLOADS["eight schools"].monitors
('mu', 'tau', 'theta')
"""

import bugs_rows
import hand_rows
import large_rows
import model_rows

ROWS = (*bugs_rows.ROWS, *model_rows.ROWS, *large_rows.ROWS, *hand_rows.ROWS)
WORKLOADS = {row.key: row for row in ROWS}
assert len(WORKLOADS) == len(ROWS)
