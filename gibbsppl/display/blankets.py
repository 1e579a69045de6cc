"""The role of each node of a picture for one variable: the parts of its Markov blanket.

Comes in: a `Net` and the nodes of a variable. Goes out: a role for each node in the blanket.

>>> from gibbsppl.display.nodes import Link, Net, Node
>>> nodes = tuple(Node(n, "latent", (n,), n) for n in ("mu", "tau", "y", "z"))
>>> net = Net("", nodes, (Link("mu", "y"), Link("tau", "y"), Link("y", "z")), {})
>>> roles_of(net, {"mu"})
{'mu': 'variable', 'y': 'child', 'tau': 'co-parent'}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal

from gibbsppl.display.nodes import Net

Role = Literal["variable", "parent", "child", "co-parent", "data", "between"]


def roles_of(net: Net, of: AbstractSet[str]) -> dict[str, Role]:
    """The role of each node that the conditional of some nodes depends on, and what is between.

    A computed array is looked through: it is ``between``, and data that are read are ``data``. So
    are the factors of a factor graph that mention the variable.
    """
    if not net.directed:
        return _among_factors(net, of)
    kinds = {n.name: n.kind for n in net.nodes}
    below = _near(net, downwards=True)
    # (a computed array that leads to no factor is for the output alone)
    idle = {n for n, k in kinds.items() if k == "computed" and not _leads_on(n, below, kinds)}
    below = {n: [b for b in near if b not in idle] for n, near in below.items()}
    above = _near(net, downwards=False)
    children = _through(of, below, kinds) - of
    roles: dict[str, Role] = dict.fromkeys(of, "variable")
    found: list[tuple[AbstractSet[str], Role]] = [
        (_through(of, above, kinds) - of, "parent"),
        (children, "child"),
        (_through(children, above, kinds) - of, "co-parent"),
    ]
    for names, role in found:
        for name in (n for n in kinds if n in names):
            own: Role = {"data": "data", "computed": "between"}.get(kinds[name], role)  # type: ignore[assignment]
            roles.setdefault(name, own)
    return roles


def _among_factors(net: Net, of: AbstractSet[str]) -> dict[str, Role]:
    """The roles in a factor graph: of the factors that mention a variable, and their arrays."""
    data = {n.name for n in net.nodes if n.kind == "data"}
    own = {k.source for k in net.links if k.target in of}
    reading = {k.target for k in net.links if k.source in of}
    roles: dict[str, Role] = dict.fromkeys(own | reading, "between")
    roles |= dict.fromkeys(of, "variable")
    found: list[tuple[list[str], Role]] = [
        ([k.source for k in net.links if k.target in own], "parent"),
        ([k.target for k in net.links if k.source in reading], "child"),
        ([k.source for k in net.links if k.target in reading], "co-parent"),
    ]
    for names, role in found:
        for name in names:
            roles.setdefault(name, "data" if name in data else role)
    return roles


def is_lit(source: str, target: str, roles: Mapping[str, Role]) -> bool:
    """Whether an edge belongs to the factors of the variable: its own, and those of children.

    >>> is_lit("mu", "y", {"mu": "variable", "y": "child"}), is_lit("y", "z", {"y": "child"})
    (True, False)
    """
    if source not in roles or target not in roles:
        return False
    return roles[target] in ("variable", "child", "between") or roles[source] == "between"


def _near(net: Net, *, downwards: bool) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {n.name: [] for n in net.nodes}
    for link in net.links:
        a, b = (link.source, link.target) if downwards else (link.target, link.source)
        found[a].append(b)
    return found


def _through(
    names: Iterable[str], near: Mapping[str, list[str]], kinds: Mapping[str, str]
) -> set[str]:
    """The neighbours of nodes, and those of computed arrays beside them."""
    found: set[str] = set()
    search = [n for name in names for n in near[name]]
    while search:
        name = search.pop()
        if name not in found:
            found.add(name)
            search += near[name] if kinds[name] == "computed" else []
    return found


def _leads_on(name: str, below: Mapping[str, list[str]], kinds: Mapping[str, str]) -> bool:
    return any(kinds[n] != "computed" for n in _through([name], below, kinds))
