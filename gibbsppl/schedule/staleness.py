"""Whether a sweep reads what it has made stale.

A step that draws a variable with others integrated out leaves these *stale*: they belong to the old
value. Drawn again given the new one they are fresh; read before that, the sweep no longer leaves
the posterior as it is (D. A. van Dyk and T. Park, 2008, "Partially collapsed Gibbs samplers",
Journal of the American Statistical Association 103).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import sympy as sp

from gibbsppl.concavity import LogConcave
from gibbsppl.errors import CompileError
from gibbsppl.expressions import Expr, Leaf, leaves_of
from gibbsppl.finite import FiniteConditional
from gibbsppl.graph import Graph, Maintained
from gibbsppl.matching import Conditional, NotConjugate
from gibbsppl.pieces import Piece
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.rewrites.recentring import Recentred
from gibbsppl.schedule.steps import ScanDraw, Schedule, Step


def check_fresh(schedule: Schedule) -> None:
    """Refuse a schedule with a step that reads, or a sweep that ends with, a stale variable."""
    stale = _swept(schedule, {})
    lasting = {name: cause for name, cause in stale.items() if name not in schedule.passing}
    if lasting:
        first, cause = min(lasting.items())
        raise CompileError(
            f"{first}: it is stale at the end of a sweep: {cause} was drawn with {first} "
            f"integrated out. Draw {first} after {cause}."
        )
    # (what holds for some draws alone may be: the next sweep draws it anew before it is read)
    _swept(schedule, stale)


def _swept(schedule: Schedule, stale: Mapping[str, str]) -> dict[str, str]:
    """What is stale after a sweep, each with the variable whose draw made it so."""
    every, stale = _every(schedule), dict(stale)
    for step, graph in zip(schedule.steps, schedule.graphs, strict=True):
        stands_for = schedule.recentred(step)
        # (what moves along with a draw is read before it)
        drawn = () if stands_for else step.variables
        every_read = _read(step, graph) | _read_by(stands_for)
        read = (every_read & set(stale)) - set(drawn)
        if read:
            first = min(read)
            raise CompileError(
                f"{step.name}: its draw reads {first}, which is stale: "
                f"{stale[first]} was drawn with {first} integrated out, and {first} has not been "
                f"drawn since. Draw {first} between {stale[first]} and {step.name}."
            )
        stale = {name: cause for name, cause in stale.items() if name not in drawn}
        known = _random(graph) | {r.of for r in stands_for}
        stale |= dict.fromkeys(every - known, schedule.drawn_by(step)[0])
    return stale


def stale_after(schedule: Schedule) -> frozenset[str]:
    """The variables that, at the end of a sweep, are those of before another one was drawn."""
    return frozenset(_swept(schedule, {}))


def _every(schedule: Schedule) -> set[str]:
    """The variables of all graphs, but for those that stand for others."""
    standing = {r.name for i in schedule.interwoven.values() for r in i.recentred}
    return _random(schedule.graph).union(*map(_random, schedule.graphs)) - standing


def _read_by(changes: Iterable[Recentred]) -> set[str]:
    """The arrays from which, and with which, those that stand for others are computed."""
    return {x.array.name for r in changes for e in (r.forward, r.backward) for x in leaves_of(e)}


def carried(schedule: Schedule) -> frozenset[str]:
    """The arrays of scans that each sweep leaves as they should be: all that draws changes them.

    The others are computed anew before each scan, for something that they read is drawn otherwise.
    """
    scans = [s for s in schedule.steps if isinstance(s, ScanDraw) and s.increments]
    arrays = {a.name: a for s in scans for a in s.conditional.kept}
    latent = _random(schedule.graph)
    kept = {}
    for name in arrays:
        keeping = [s for s in scans if name in {a.name for a in s.conditional.kept}]
        updated = {n for s in keeping for n in s.variables}
        kept[name] = _determined_by(name, arrays) & latent <= updated
    return frozenset(n for n, is_kept in kept.items() if is_kept)


def _determined_by(name: str, arrays: Mapping[str, Maintained]) -> set[str]:
    """The variables that an array is computed from, through other arrays too."""
    found: set[str] = set()
    for s in arrays[name].scatters:
        for leaf in leaves_of(sp.Tuple(s.value, *s.indices)):
            read = leaf.array.name
            found |= _determined_by(read, arrays) if read in arrays else {read}
    return found


def _random(graph: Graph) -> set[str]:
    return {s.target.array.name for s in graph.latent}


def _read(step: Step, graph: Graph) -> set[str]:
    """The arrays that a draw reads: those in its conditional."""
    return {x.array.name for e in _expressions(step, graph) for x in leaves_of(sp.sympify(e))}


def _expressions(step: Step, graph: Graph) -> Iterator[Expr]:
    found = step.conditional
    yield from (found.statement.support.lower, found.statement.support.upper)
    match found:
        case Conditional():
            yield from (v for _, v in found.known)
            yield from (limit.value for limit in found.limits)
            yield from (e for pieces in found.pieces for p in pieces for e in _of_piece(p))
            arrays = {a.name: a for m in graph.marginals for a in m.arrays}
            read = {
                x.array.name for ps in found.pieces for p in ps for x in p.coefficient.atoms(Leaf)
            }
            yield from (e for n in read & set(arrays) for e in _of_array(arrays[n]))
        case FiniteConditional() | NotConjugate() | LogConcave():
            yield from (e for p in found.pieces for e in _of_piece(p))
        case Scan():
            yield from (term for term, _ in found.terms)
            yield from (e for a in found.kept for e in _of_array(a))


def _of_array(array: Maintained) -> Iterator[Expr]:
    yield from (e for s in array.scatters for e in (s.value, *s.indices))


def _of_piece(piece: Piece) -> Iterator[Expr]:
    yield from (piece.coefficient, piece.statistic)
    yield from (i for view in piece.views for i in view.indices if i is not None)
