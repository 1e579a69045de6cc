"""The context shared by the parts of one generated module: names, constants, function layout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.lines import INDENT, indented, unpacking
from gibbsppl.code.names import MATHEMATICS, NUMPY, OF_FORMS, Names
from gibbsppl.code.numpy_text.expressions import write
from gibbsppl.code.numpy_text.functions import Part, lines_of, parts_of
from gibbsppl.code.numpy_text.held import Held
from gibbsppl.code.numpy_text.hoisting import Hoisted
from gibbsppl.code.numpy_text.squares import squares_about_centre
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.errors import told_of
from gibbsppl.model.graph import Graph, Statement, Variable
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.deferral import deferred
from gibbsppl.schedule.element_loops import ElementLoop, element_loop, kept_forms
from gibbsppl.schedule.kept_sums import Kept
from gibbsppl.schedule.kinds import Single
from gibbsppl.schedule.staleness import carried
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


@dataclass(frozen=True, slots=True)
class Module:
    """A module that is being written.

    ``functions`` names the function of each step, ``deferred`` the steps that only records need and
    what these are, ``carried`` the arrays of scans kept right from
    sweep to sweep, ``units`` the functions of units of a scan, ``written`` the shared functions
    already written, ``loops`` the element loops of steps that keep shared sums up to date, and
    ``kept`` the values of forms in the state. ``scanned`` are the
    dims of which the functions of scans are given the sizes. ``held`` are the temporary arrays that
    functions make, ``writers`` all that have written, and those of the functions of each step;
    ``steps_held`` what steps hold, ``drawn_in_parts`` the functions of those drawn part by part.
    """

    schedule: Schedule
    whole: Graph
    names: Names
    hoisted: Hoisted
    functions: Mapping[str, str]
    deferred: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    carried: frozenset[str] = frozenset()
    units: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    loops: Mapping[str, ElementLoop] = field(default_factory=dict)
    kept: tuple[Kept, ...] = ()
    scanned: dict[str, tuple[str, ...]] = field(default_factory=dict)
    held: dict[str, Held] = field(default_factory=dict)
    writers: list[Writer] = field(default_factory=list)
    writers_of: dict[str, list[Writer]] = field(default_factory=dict)
    steps_held: dict[str, Any] = field(default_factory=dict)
    drawn_in_parts: dict[str, str] = field(default_factory=dict)

    def is_new(self, name: str) -> bool:
        """Whether a function that several steps share has not been written yet; it will be."""
        is_new = name not in self.written
        self.written.add(name)
        return is_new

    @property
    def graph(self) -> Graph:
        """The model, with the arrays and the dims of all graphs that steps draw in."""
        return self.whole

    def function_of(self, step: Step, what: str) -> str:
        """The name of another function of a step than that of its conditional."""
        return self.names.called(what, step.name, like=f"{self.names.of(step.name)}_{what}")

    def writer(
        self,
        extra: Mapping[Dim, int] | None = None,
        local: str | None = None,
        like: str | None = None,
        *,
        keeps: bool = False,
        more: Mapping[str, Variable] | None = None,
        inline: Mapping[str, str] | None = None,
    ) -> Writer:
        """A writer for one function, with ``extra`` dims, and ``more`` arrays as arguments.

        ``inline``: for texts outside of functions, in which some arrays have texts of their own.
        """
        sizes = {**self.graph.sizes, **(extra or {})}
        graph = self.graph
        if more:
            graph = replace(graph, variables={**graph.variables, **more})
        own = (graph, self.names, self.hoisted, write, squares_about_centre)
        found = Writer(sizes, *own, local=local, like=like, keeps=keeps, inline=inline)
        self.writers.append(found)
        return found

    def function(
        self,
        name: str,
        doc: str,
        writer: Writer,
        body: Sequence[str | Part],
        first: Sequence[str] = (),
    ) -> str:
        """A function of the state and the constants, with the names unpacked that its body uses.

        ``first`` are lines before these names, which may add to the state.
        """
        lines = lines_of(writer, parts_of(body))
        unpacked = self._unpacked(writer, [*writer.lines, *lines])
        self.held[name] = writer.held
        head = [f"def {name}(s, c):", f'{INDENT}"""{doc}"""']
        return "\n".join(head + indented([*first, *unpacked, *writer.lines, *lines]))

    @contextmanager
    def writing(self, step: Step) -> Iterator[None]:
        """A context in which functions of a step are written."""
        before = len(self.writers)
        with told_of(step.name):
            yield
        self.writers_of.setdefault(step.name, []).extend(self.writers[before:])

    def dims(self, statement: Statement) -> tuple[Dim, ...]:
        """The dims of the array that a statement defines, or a part of it."""
        return self.graph.variables[statement.target.array.name].dims

    def shape(self, statement: Statement) -> str:
        """The shape of that array, as text where there is no function."""
        return self.writer(inline={}).shape_text(self.dims(statement))

    def bounds(self, place: Iterable[Place]) -> str:
        """A place as text for ``prepare``: the first position and the end, axis by axis."""
        writer = self.writer().for_prepare(self.graph)
        return writer.bounds_text(place)

    @property
    def size_names(self) -> dict[str, str]:
        """The names of the sizes of dims that the module reads, in the order of the model."""
        names = self.hoisted.sizes
        return {d.name: names[d.name] for d in self.graph.sizes if d.name in names}

    def hold_sizes(self, dims: Iterable[Dim]) -> None:
        """Note that the text holds for the sizes of some dims alone, which it has as numbers."""
        for d in dims:
            self.hoisted.size(d.name)
            self.hoisted.fixed.add(d.name)

    def everything(self, statement: Statement) -> tuple[Range, ...]:
        """All of its positions."""
        return tuple(Range(d, 0, self.graph.sizes[d]) for d in self.dims(statement))

    def is_whole(self, step: Single) -> bool:
        """Whether a step draws its whole array in one call."""
        return self.is_everything(step) and not step.is_by_element

    def is_everything(self, step: Single) -> bool:
        """Whether a step draws its whole array."""
        return bool(step.statement.known == 0) and step.region == self.everything(step.statement)

    def _unpacked(self, writer: Writer, body: Sequence[str]) -> list[str]:
        """Lines that unpack the names used by the body of a function."""
        words = set(re.findall(r"\w+", re.sub(r'"[^"]*"|#.*', "", "\n".join(body))))
        state = [(local, f's["{name}"]') for name, local in sorted(writer.state_names.items())]
        # (of arrays that are read with axes in another order, these may be all that is read)
        idle = {n for n in writer.turned if self.names.of(n) not in words}
        read = sorted(writer.constant_names - idle)
        self.hoisted.arrays.update(read)
        constants = [(self.names.of(n), f'c["{n}"]') for n in read]
        own = (n for n in self.hoisted.all_names if n in writer.constants)
        constants += [(n, f'c["{n}"]') for n in own]
        sizes = [(n, f'c["{n}"]') for n in self.size_names.values() if n in writer.constants]
        return [*unpacking(state), *unpacking(constants), *unpacking(sizes)]


def module_of(schedule: Schedule) -> Module:
    """The module of a schedule, with nothing written yet."""
    own = {"runtime", "math", "prepare", "augment", "sweep", "deterministics", "UNITS", "KERNELS"}
    own |= {"PROBABILITIES", "ARRAYS", "SIZES", "FIXED", "sizes"}
    forms = kept_forms(schedule)
    has_forms = any(getattr(s.conditional, "forms", ()) for s in schedule.steps)
    names = Names(NUMPY | MATHEMATICS | own | (OF_FORMS if has_forms else set()))
    for array in (*schedule.whole.variables, *(k.name for k in forms)):
        names.of(array)  # (what is computed once is kept beside the arrays, under other names)
    hoisted = Hoisted(names)
    statements = [step.name for step in schedule.steps]
    functions = {
        s: names.called("given_rest", s, like=f"{names.of(s)}_given_rest") for s in statements
    }
    # (a unit belongs to the first of its steps, auxiliary variables apart)
    first = {u: steps_of(schedule, u)[0] for u in schedule.units}
    drawn = {u: s.statement if schedule.composed_of(s.name) else s for u, s in first.items()}
    units = {u: names.fresh("draw_" + names.of(s.name)) for u, s in drawn.items()}
    kept = carried(schedule)
    found = {s.name: element_loop(schedule, s) for s in schedule.steps} if forms else {}
    loops = {n: loop for n, loop in found.items() if loop is not None}
    more = {k.name: Variable(k.name, tuple(r.dim for r in k.over), "random") for k in forms}
    whole = replace(schedule.whole, variables={**schedule.whole.variables, **more})
    return Module(
        schedule, whole, names, hoisted, functions, deferred(schedule), kept, units,
        loops=loops, kept=forms,
    )  # fmt: skip


def steps_of(schedule: Schedule, unit: tuple[int, ...]) -> list[Step]:
    """The steps of a unit, without the steps of auxiliary variables."""
    return [schedule.steps[j] for j in unit if schedule.steps[j].name not in schedule.auxiliary]
