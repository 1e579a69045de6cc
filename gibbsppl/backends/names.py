"""Python identifiers for the user's names, and those that generated code keeps for itself."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection

from gibbsppl.expressions import FUNCTIONS

# What generated code imports by name; all else is called as ``runtime.name``.
NUMPY = frozenset(("arange", "ascontiguousarray", "broadcast_to", "einsum", "zeros"))
MATHEMATICS = frozenset((*FUNCTIONS.values(), "sqrt"))

# The local names of generated code; a variable of the user's may not take them.
RESERVED = frozenset(
    (
        *("s", "c", "rng", "data", "at", "eta", "log_weights", "log_transitions", "log_density"),
        *("value", "range", "max"),
    )
)
# Those of draws that keep forms up to date, in modules that have some.
OF_FORMS = frozenset(
    (
        *("calls", "change", "constant", "curvature", "entries", "form_at", "linear", "now"),
        *("slope", "square", "iter", "next", "zip"),
    )
)


class Names:
    """Python identifiers for the user's names, one for each, none of them taken."""

    def __init__(self, taken: Collection[str]) -> None:
        self.taken = set(taken) | RESERVED | set(keyword.kwlist)
        self.given: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The identifier that stands for a name."""
        if name not in self.given:
            self.given[name] = self.fresh(name)
        return self.given[name]

    def fresh(self, name: str) -> str:
        """A new identifier that looks like a name."""
        ascii_name = unicodedata.normalize("NFKC", name.replace("'", "_prime"))
        plain = re.sub(r"\W+", "_", ascii_name).strip("_") or "x"
        plain = plain if not plain[0].isdigit() else "_" + plain
        plain = f"{plain}_" if re.fullmatch(r"eta(_\d+)?", plain) else plain
        candidate, n = plain, 2
        while candidate in self.taken:
            candidate, n = f"{plain}_{n}", n + 1
        self.taken.add(candidate)
        return candidate
