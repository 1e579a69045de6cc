"""A model as a program in the language of BUGS, with its data.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"pump": 2}) as pumps:
...     hours = gp.Data("hours", [94.3, 15.7], dims="pump")
...     rate = gp.Gamma("rate", 2, rate=1, dims="pump")
...     gp.Poisson("failures", rate * hours, dims="pump", observed=[5, 1])
failures[pump] over pump
>>> program = write_bugs(pumps)
>>> print(program)
model {
  for (pump in 1:2) {
    rate[pump] ~ dgamma(2, 1)
    failures[pump] ~ dpois(hours[pump] * rate[pump])
  }
}
>>> print(program.data_text, end="")
hours <- c(94.3, 15.7)
failures <- c(5, 1)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of, mentions
from gibbsppl.algebra.functions import Maximum, Where
from gibbsppl.algebra.ranges import Range, fresh
from gibbsppl.algebra.recursions import Recursion, Step, System
from gibbsppl.arguments import MODEL, calls_told
from gibbsppl.bugs.grids import Array, Data
from gibbsppl.bugs.inverses import inverse_of
from gibbsppl.bugs.lexer import NAME
from gibbsppl.bugs.printing import text
from gibbsppl.bugs.reader import RESERVED
from gibbsppl.bugs.spellings import DECLARING, NO_FUNCTIONS
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Expression,
    Loop,
    Program,
    Reference,
    Restriction,
    Stochastic,
)
from gibbsppl.bugs.syntax import Statement as Line
from gibbsppl.bugs.written_expressions import Expressions, Names, number, span
from gibbsppl.bugs.written_sides import sides_of
from gibbsppl.errors import ModelError
from gibbsppl.html import Printed
from gibbsppl.language.model import Model
from gibbsppl.model.evaluation import evaluate
from gibbsppl.model.graph import Constant, Deterministic, Graph, Potential, Statement

# Before a name that is none in the language: a word of it, or one that starts with a digit.
PREFIX = "v."
TAKEN = (*RESERVED, *DECLARING, *NO_FUNCTIONS)


@dataclass(frozen=True, slots=True, eq=False)
class BugsProgram(Printed):
    """A program's text with its data; printed, the text alone."""

    text: str
    data: Data

    def __str__(self) -> str:
        return self.text

    @property
    def data_text(self) -> str:
        """The data as R writes them."""
        return "".join(f"{name} <- {_dumped(values)}\n" for name, values in self.data.items())

    def save(self, stem: str | Path) -> tuple[Path, Path]:
        """Write ``<stem>.bug`` and ``<stem>-data.R``; their paths."""
        program, data = Path(f"{stem}.bug"), Path(f"{stem}-data.R")
        program.write_text(self.text + "\n", encoding="utf-8")
        data.write_text(self.data_text, encoding="utf-8")
        return program, data


@calls_told(ModelError, model=MODEL)
def write_bugs(model: Model) -> BugsProgram:
    """A model in the language of BUGS and JAGS, with its data.

    `read_bugs` makes the same model of it, but for names that the language does not allow. Labels
    and indices count from 1 there; a potential is an observation with ``dloglik``, which OpenBUGS
    has and JAGS has not. Censored observations are missing values, with the side of their bounds
    given by ``dinterval``. Distributions and functions without a spelling in the language are
    errors.

    Raises `ModelError`, naming what cannot be written.
    """
    graph = model.graph
    names = _names(graph)
    writer = _Writer(model, names)
    constants = [*map(writer.constant, graph.constants)]
    lines = [*map(writer.statement, graph.statements), *map(writer.potential, graph.potentials)]
    lines += map(writer.quantity, graph.deterministics)
    computed = [*writer.recursions()]
    body = _merged([line for several in (*constants, *computed, *lines) for line in several])
    program = Program("", "text", (), None, tuple(body))
    return BugsProgram(text(program), {**_data(graph, model, names, writer.read), **writer.seen})


def _names(graph: Graph) -> Names:
    """Names that the language allows, all different, of arrays, quantities and dims."""
    found: Names = {}
    quantities = (d.name for d in graph.deterministics)
    dims = (d for d in graph.sizes if isinstance(d, Dim))
    keys: tuple[str | Dim, ...] = (*graph.variables, *quantities, *dims)
    for key in keys:
        if key in found:
            continue
        name = str(key.name if isinstance(key, Dim) else key)
        found[key] = fresh(_plain(name), set(found.values()))
    whole = ((_array_of(d), d.name) for d in graph.deterministics)
    return {**found, **{array.own: found[name] for array, name in whole if array is not None}}


def _array_of(quantity: Deterministic) -> Recursion | None:
    """The recursion of a quantity that is a recursive array, wholly or in part; else None."""
    value = quantity.value.args[1] if _is_in_part(quantity) else quantity.value
    if not isinstance(value, Recursion):
        return None
    is_same = (value.own.name, value.indices) == (quantity.name, quantity.dims)
    return value if is_same else None


def _is_in_part(quantity: Deterministic) -> bool:
    """Whether only some elements of a quantity are numbers."""
    return isinstance(quantity.value, Where) and quantity.value.args[2] is sp.nan


def _plain(name: str) -> str:
    """A name that the language allows."""
    plain = re.sub(r"[^A-Za-z0-9._]", ".", name).strip(".")
    return plain if re.fullmatch(NAME, plain) and plain not in TAKEN else f"{PREFIX}{plain}"


class _Writer:
    """Writes statements of the model as lines of BUGS, with auxiliary lines where needed."""

    def __init__(self, model: Model, names: Names) -> None:
        self.model, self.graph, self.names = model, model.graph, names
        self.taken = set(names.values())
        self.read: set[str] = set()
        self.systems: dict[System, None] = {}
        self.seen: dict[str, Array] = {}

    def constant(self, constant: Constant) -> list[Line]:
        """The lines of a constant region; none where the data hold it."""
        name, sizes = constant.target.array.name, self.graph.sizes
        seen = self.model.declared.observed.get(name)
        if seen is not None:
            known = {name: np.asarray(seen.known)}
            if evaluate(constant.target, constant.over, known, sizes).all():
                self.read.add(name)
                return []
        return self._assigned(constant.target, constant.over, constant.value, str(constant.target))

    def quantity(self, quantity: Deterministic) -> list[Line]:
        """A quantity that is recorded."""
        if (array := _array_of(quantity)) is not None:
            self.systems.setdefault(array.system)
            return []
        over, value = self._given(quantity)
        expressions = self._expressions(over, quantity.name)
        target = Reference(self.names[quantity.name], tuple(map(expressions.index, quantity.dims)))
        target = target if quantity.dims else Reference(self.names[quantity.name])
        written = expressions.written(value)
        return self._looped(expressions, Assignment(target, None, written))

    def _given(self, quantity: Deterministic) -> tuple[tuple[Range, ...], Expr]:
        """The positions at which a quantity is a number, and its value there."""
        sizes, value = self.graph.sizes, quantity.value
        over = tuple(Range(d, 0, sizes[d]) for d in quantity.dims)
        if not _is_in_part(quantity):
            return over, value
        is_given, value, _ = value.args
        found = evaluate(is_given, over, self.model.data, sizes)
        given = np.broadcast_to(found, tuple(map(len, over))) != 0
        at = [np.unique(a) for a in np.nonzero(given)]
        is_box = math.prod(map(len, at)) == given.sum() > 0
        if not is_box or any(np.ptp(a) >= len(a) for a in at):
            raise ModelError(
                f"{quantity.name}: recorded at some positions that are no box; leave it out of "
                "what is recorded (monitor=) to write the model in the language of BUGS."
            )
        spans = ((int(a[0]), int(a[-1]) + 1) for a in at)
        return tuple(Range(r.dim, *s) for r, s in zip(over, spans, strict=True)), value

    def recursions(self) -> Iterator[list[Line]]:
        """The lines of all systems of recursions read, directly or by other systems."""
        done = 0
        while done < len(self.systems):
            for system in [*self.systems][done:]:
                yield from map(self._step, _in_order(system))
                done += 1

    def _step(self, step: Step) -> list[Line]:
        expressions = self._expressions(step.over, str(step.element))
        target = expressions.written(step.element)
        assert isinstance(target, Reference)
        line = Assignment(target, None, expressions.written(step.value))
        return self._looped(expressions, line)

    def _assigned(self, leaf: Leaf, over: tuple[Range, ...], value: Expr, owner: str) -> list[Line]:
        expressions = self._expressions(over, owner)
        target = Reference(
            self.names[leaf.array.name], tuple(map(expressions.index, leaf.indices)) or None
        )
        return self._looped(expressions, Assignment(target, None, expressions.written(value)))

    def statement(self, statement: Statement) -> list[Line]:
        """A statement: its distribution, truncation and loops."""
        event = statement.event
        found = inverse_of(statement.family.name, dict(statement.arguments), event)
        if found is None:
            raise ModelError(
                f"{statement.name}: {statement.family.name} has no name in the language of BUGS; "
                "use a distribution that it has."
            )
        expressions = self._expressions(statement.over, statement.name)
        matrix = (*event, *map(primed, event))
        own = self.names[statement.target.array.name]
        parameters = tuple(
            expressions.whole(e, tuple(self._range(d) for d in matrix[:axes]), f"{own}.{name}")
            if axes
            else expressions.written(e)
            for e, (name, axes) in zip(found.parameters, found.axes.items(), strict=True)
        )
        lower = statement.lower if found.lower is None else _larger(found.lower, statement.lower)
        low, high = (
            None if b is None else expressions.written(b) for b in (lower, statement.upper)
        )
        restriction = None if low is high is None else Restriction("T", low, high)
        target = self._target(expressions, statement)
        line = Stochastic(target, Call(found.name, parameters), restriction)
        return self._looped(expressions, line, *self._sides(statement, target))

    def _sides(self, statement: Statement, target: Reference) -> Iterable[Line]:
        """The ``dinterval`` lines of censored values, which are set missing in the data."""
        if not statement.censored:
            return
        name = statement.target.array.name
        self._refuse_readers(name)
        own = self.names[name]
        self.seen[own], sides = sides_of(self.model, statement)
        for side in sides:
            bound: Expression
            if isinstance(side.bound, np.ndarray):
                bound = Reference(self._fresh(f"{own}.bound"), target.indices)
                self.seen[bound.name] = side.bound
            else:
                bound = number(side.bound)
            above = Reference(self._fresh(f"{own}.above"), target.indices)
            self.seen[above.name] = side.above
            yield Stochastic(above, Call("dinterval", (target, bound)))

    def _refuse_readers(self, name: str) -> None:
        """A censored value that is read elsewhere is its bound here, and a random value there."""
        graph = self.graph
        own = {s.name for s in graph.statements_of(name)}
        readers = [f.name for f in graph.factors_of(name) if f.name not in own]
        readers += [d.name for d in graph.deterministics if mentions(d.value, (name,))]
        if readers:
            raise ModelError(
                f"{', '.join(readers)}: reads {name}, whose censored values stand at their bounds; "
                "in BUGS they are random values. Read a copy of the data, gp.Data, instead."
            )

    def potential(self, potential: Potential) -> list[Line]:
        """A potential: an observation, of no matter what, with its log density (OpenBUGS's)."""
        expressions = self._expressions(potential.over, potential.name)
        name = self._fresh(f"{_plain(potential.name)}.seen")
        self.seen[name] = np.zeros([r.stop for r in potential.over], dtype=int)
        indices = tuple(expressions.index(r.dim) for r in potential.over)
        density = expressions.written(potential.log_density)
        line = Stochastic(Reference(name, indices or None), Call("dloglik", (density,)))
        return self._looped(expressions, line)

    def _target(self, expressions: Expressions, statement: Statement) -> Reference:
        """The left side, with a range for each dim of one value."""
        target = statement.target
        looped = {r.dim for r in statement.over}

        def index(expr: Expr) -> Expression:
            inner = dims_of(expr) - looped
            if not inner:
                return expressions.index(expr)
            along = self._range(expr)
            return span(along.start, along.stop)

        self.read.add(target.array.name)
        indices = tuple(map(index, target.indices))
        return Reference(self.names[target.array.name], indices or None)

    def _range(self, dim: Expr) -> Range:
        assert isinstance(dim, Dim)
        return Range(dim, 0, self.graph.sizes[dim])

    def _expressions(self, over: tuple[Range, ...], owner: str) -> Expressions:
        own = Expressions(self.graph, self.names, over, self._fresh, owner)
        return replace(own, read=self.read, systems=self.systems)

    def _fresh(self, name: str) -> str:
        found = fresh(name, self.taken)
        self.taken.add(found)
        return found

    def _looped(self, expressions: Expressions, *lines: Line) -> list[Line]:
        for r in reversed(expressions.ranges):
            lines = (expressions.loop(r, lines),)
        return [*expressions.beside, *lines]


def _in_order(system: System) -> list[Step]:
    """The steps of a system, those first that begin first."""
    starts = ((s.extent(system.axes[s.element.own])[0], n) for n, s in enumerate(system.args))
    return [system.args[n] for _, n in sorted(starts)]


def _larger(bound: Expr, other: Expr | None) -> Expr:
    return bound if other is None else Maximum(bound, other)


def _merged(lines: Iterable[Line]) -> list[Line]:
    """The lines, with consecutive loops over the same positions merged."""
    found: list[Line] = []
    for line in lines:
        last = found[-1] if found else None
        alike = isinstance(line, Loop) and isinstance(last, Loop)
        if alike and (last.name, last.values) == (line.name, line.values):  # type: ignore[union-attr]
            body = _merged((*last.body, *line.body))  # type: ignore[union-attr]
            found[-1] = Loop(line.name, line.values, tuple(body))  # type: ignore[union-attr]
        else:
            found.append(line)
    return found


def _data(graph: Graph, model: Model, names: Names, read: set[str]) -> dict[str, Array]:
    """The data that the program reads, by its names: labels and indices from 1 on."""
    observed = model.declared.observed
    found = {}
    for name, values in model.data.items():
        if name not in read:
            continue
        array = np.asarray(values)
        array = array if graph.variables[name].of is None else array + 1
        seen = observed.get(name)
        if seen is not None and not seen.known.all():
            array = np.ma.MaskedArray(array, ~seen.known)
        found[names[name]] = array
    return found


# ---- R's form of data --------------------------------------------------------------------------


def _dumped(values: Array) -> str:
    """An array as R writes it, column by column."""
    array = np.ma.masked_array(values)
    numbers = [_number(x) for x in array.flatten(order="F").tolist()]
    if not array.ndim:
        return numbers[0]
    written = f"c({', '.join(numbers)})"
    if array.ndim == 1:
        return written
    return f"structure({written}, .Dim = c({', '.join(map(str, array.shape))}))"


def _number(x: float | None) -> str:
    if x is None:
        return "NA"
    return repr(x).removesuffix(".0")
