"""Deferred steps: nothing but records reads their draws before they are drawn anew.

Shares of collapsed topics, missing data imputed last and predictions follow from the rest of a
state. Sweeps that are not recorded leave such steps out, and the old values in the state, which no
draw reads; a sweep that is recorded carries out those that something recorded depends on, the last
one of a run all of them. This is the liveness of variables in compilers (A. W. Appel, 1998, "Modern
Compiler Implementation", chapter 10), along sweep after sweep: after a recorded sweep all is live.

>>> import gibbsppl as gp
>>> with gp.Model(name="new") as new:
...     mu = gp.Normal("mu", 0, sigma=1)
...     tau = gp.Gamma("tau", 1, rate=1)
...     y = gp.Normal("y", mu, tau=tau, observed=1.5)
...     z = gp.Normal("z", mu, tau=tau)
...     above = gp.Deterministic("above", z - mu)
>>> deferred(gp.compile(new).schedule)
{'z': ('above', 'z')}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from gibbsppl.algebra.expressions import Expr, leaves_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.graph import Graph, Maintained
from gibbsppl.pieces.dependence import region_of
from gibbsppl.schedule.staleness import read_by, read_of
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


def deferred(schedule: Schedule) -> dict[str, tuple[str, ...]]:
    """The steps that sweeps without records leave out, each with what it is carried out for.

    That are the names of recorded variables and quantities that depend on its draw. There are none
    in a random scan, where what follows a step is not known, and where sweeps are independent of
    one another, so that no step has to be carried out for the next. Nor are there where nothing is
    a draw: the bound reads all.
    """
    if schedule.units or all(s.instead_of is not None for s in schedule.steps):
        return {}
    reading = _Reading(schedule)
    left_out = reading.left_out()
    if left_out == reading.steps:
        return {}
    made = {j: schedule.steps[j].name for j in sorted(left_out)}
    found: dict[int, set[str]] = {j: set() for j in made}
    for name, read in reading.recorded.items():
        for j in reading.needed({j for j in left_out if reading.own[j] & read}, left_out):
            found[j].add(name)
    return {made[j]: tuple(sorted(names)) for j, names in found.items()}


def passing(schedule: Schedule) -> tuple[str, ...]:
    """The auxiliary variables that each sweep draws whole, before any of its steps reads them."""
    if schedule.units:
        return ()
    reading = _Reading(schedule)
    names, whole = schedule.auxiliary, schedule.whole
    found = [
        j for j in reading.steps - reading.read_after()
        if schedule.steps[j].name in names and _is_whole(schedule.steps[j], whole)
    ]  # fmt: skip
    once = [schedule.steps[j].name for j in sorted(found) if len(reading.drawing(j)) == 1]
    return tuple(n for n in once if n not in {p.of for p in schedule.parts})


def arrays_read(schedule: Schedule) -> list[frozenset[str]]:
    """The arrays that each step of a schedule reads, what others are computed from included."""
    return _Reading(schedule).read


@dataclass(frozen=True)
class _Reading:
    """The arrays that each step of a schedule reads and changes, by the names of whole ones."""

    schedule: Schedule

    @cached_property
    def steps(self) -> frozenset[int]:
        """The positions of all steps."""
        return frozenset(range(len(self.schedule.steps)))

    @cached_property
    def own(self) -> list[frozenset[str]]:
        """The arrays that each step changes."""
        changed = map(self.schedule.changed_by, self.schedule.steps)
        return [frozenset(map(self.whole, names)) for names in changed]

    @cached_property
    def read(self) -> list[frozenset[str]]:
        """The arrays that each step reads."""
        found = []
        for j, step in enumerate(self.schedule.steps):
            names = read_by(self.schedule, j) | read_of(self.schedule.stand_ins(step))
            found.append(self.behind(names))
        return found

    @cached_property
    def moves(self) -> frozenset[int]:
        """The steps whose draw depends on what it replaces."""
        steps = enumerate(self.schedule.steps)
        stand_ins = self.schedule.stand_ins
        return frozenset(j for j, s in steps if s.is_from_current or stand_ins(s))

    @cached_property
    def recorded(self) -> dict[str, frozenset[str]]:
        """The names that may be recorded, each with the arrays that it depends on."""
        found = {n: frozenset({n}) for names in self.own for n in names}
        for d in self.schedule.graph.deterministics:
            read = _names(d.value)
            found[d.name] = self.behind(read).union(*(found.get(n, ()) for n in read))
        return found

    @cached_property
    def sums(self) -> Mapping[str, Maintained]:
        """The arrays that are computed from others, of scans and of what was integrated out."""
        graphs = (self.schedule.graph, *self.schedule.graphs)
        arrays = [a for g in graphs for m in g.marginals for a in m.arrays]
        arrays += [a for s in self.schedule.steps for a in s.maintained]
        return {a.name: a for a in arrays}

    @cached_property
    def stands_for(self) -> dict[str, str]:
        """The arrays that the parts and the other stand-ins of the schedule stand for, by name."""
        interwoven = self.schedule.interwoven.values()
        stand_ins = (*self.schedule.parts, *(s for i in interwoven for s in i.stand_ins))
        return {s.name: s.of for s in stand_ins}

    def whole(self, name: str) -> str:
        """The array that another is a part of, or stands for; else itself."""
        return self.stands_for.get(name, name)

    def behind(self, names: set[str]) -> frozenset[str]:
        """The whole arrays of names, with what sums over the state are made of."""
        found = set[str]()
        left = set(names)
        while left:
            name = left.pop()
            if name in found:
                continue
            found.add(name)
            if name in self.sums:
                left |= {n for e in self.sums[name].expressions for n in _names(e)}
        return frozenset(map(self.whole, found))

    def left_out(self) -> frozenset[int]:
        """The steps whose draws nothing reads, if the sweep that makes them is not recorded."""
        _, made = self.before(self.read_after(), self.always)
        return self.steps - made

    @cached_property
    def always(self) -> frozenset[int]:
        """The steps of auxiliary variables, drawn together, for the start of a run too."""
        names = self.schedule.auxiliary
        return frozenset(j for j in self.steps if self.schedule.steps[j].name in names)

    def read_after(self) -> frozenset[int]:
        """The steps whose draws another sweep reads, recorded or not."""
        end, _ = self.before(self.steps, self.steps)
        while True:
            start, _ = self.before(end, self.always)
            if start <= end:
                return end
            end |= start

    def drawing(self, step: int) -> list[int]:
        """The steps that change what a step does."""
        return [j for j in self.steps if self.own[j] & self.own[step]]

    def before(
        self, end: frozenset[int], always: frozenset[int]
    ) -> tuple[frozenset[int], frozenset[int]]:
        """The steps whose last draws a sweep reads, and those that it carries out.

        What the steps at its ``end`` have drawn is read after it, and some are carried out always.
        """
        live, made = set(end), set[int]()
        for j in sorted(self.steps, reverse=True):
            if j not in live | always:
                continue
            made.add(j)
            live.discard(j)
            live |= {k for k in self.steps - {j} if self.own[k] & self.read[j]}
            live |= {j} & self.moves
        return frozenset(live), frozenset(made)

    def needed(self, steps: set[int], among: frozenset[int]) -> set[int]:
        """Some steps, and others whose draws these read."""
        found: set[int] = set()
        left = set(steps)
        while left:
            j = left.pop()
            found.add(j)
            left |= {k for k in among - found if self.own[k] & self.read[j]}
        return found


def _is_whole(step: Step, graph: Graph) -> bool:
    """Whether a step draws all elements of one array, at once."""
    if len(step.statements) != 1 or step.is_by_element:
        return False
    (statement,) = step.statements
    dims = graph.variables[statement.target.array.name].dims
    whole = all(
        isinstance(p, Range) and (p.start, p.stop) == (0, graph.sizes[d])
        for p, d in zip(region_of(graph, statement), dims, strict=True)
    )
    return bool(statement.known == 0) and statement.mask is None and whole


def _names(expr: Expr) -> set[str]:
    """The arrays that an expression reads."""
    return {x.array.name for x in leaves_of(sp.sympify(expr))}
