"""Python identifiers for the user's names, and identifiers reserved by generated code."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Hashable, Iterable

from gibbsppl.algebra.functions import ROWS
from gibbsppl.errors import CompileError

# What generated code imports by name; all else is called as ``runtime.name``.
NUMPY = frozenset(
    ("arange", "ascontiguousarray", "broadcast_to", "einsum", "empty", "full", "zeros")
)
MATHEMATICS = frozenset((*(row.numpy for row in ROWS), "sqrt"))

# The local names of generated code; a variable of the user's may not take them.
RESERVED = frozenset(
    (
        *("s", "c", "rng", "data", "at", "eta", "log_weights", "log_transitions", "log_density"),
        *("value", "range", "max"),
        *("abs", "bool", "float", "int", "len", "min", "slice", "sum", "tuple"),
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
        self.given: dict[Hashable, str] = {}

    def of(self, name: str) -> str:
        """The identifier that stands for a name."""
        if name not in self.given:
            self.given[name] = self.fresh(name)
        return self.given[name]

    def called(self, what: str, *of: Hashable, like: str) -> str:
        """A unique identifier for each key, such as a function of a step.

        >>> names = Names(())
        >>> [names.called("draw", key, like="draw_tau") for key in ("tau[0]", "tau[1]", "tau[0]")]
        ['draw_tau', 'draw_tau_2', 'draw_tau']
        >>> names.of("draw_tau")
        'draw_tau_3'
        """
        key = (what, *of)  # (no name is a tuple: nothing of the user's is mixed up with it)
        if key not in self.given:
            self.given[key] = self.fresh(like)
        return self.given[key]

    def fresh(self, name: str) -> str:
        """A new identifier that looks like a name."""
        ascii_name = unicodedata.normalize("NFKC", name.replace("'", "_prime"))
        allowed = (ch if f"_{ch}".isidentifier() else " " for ch in ascii_name)
        plain = re.sub(r"\W+", "_", "".join(allowed)).strip("_") or "x"
        plain = plain if not plain[0].isdigit() else "_" + plain
        plain = f"{plain}_" if re.fullmatch(r"eta(_\d+)?", plain) else plain
        candidate, n = plain, 2
        while candidate in self.taken:
            candidate, n = f"{plain}_{n}", n + 1
        self.taken.add(candidate)
        return candidate


def check_names(names: Iterable[str]) -> None:
    """Raise for a name that would end a string or a comment of the source."""
    for name in names:
        if not name.isprintable() or set(name) & {'"', "\\"}:
            raise CompileError(
                f"{name!r}: a name that source cannot hold; expected letters, digits, _ and dots: "
                "rename it."
            )


def escaped(text: str) -> str:
    r"""A text as it stands in a docstring: what is not printable, quotes and backslashes escaped.

    >>> print(escaped('the "rats"'))
    the \"rats\"
    """
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(ch if ch.isprintable() else repr(ch)[1:-1] for ch in plain)
