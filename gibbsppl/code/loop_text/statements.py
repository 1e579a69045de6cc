"""Statements as lines: loops, stores, additions, draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gibbsppl.code.arrays.expressions import (
    ZERO,
    Element,
    Expr,
    Number,
    Span,
    elements,
    is_call,
    is_whole,
    negative,
)
from gibbsppl.code.arrays.statements import Add, Choice, Density, Draw, Loop, Statement, Store
from gibbsppl.code.arrays.storage import Local
from gibbsppl.code.lines import indented
from gibbsppl.code.loop_text.expressions import Writer


@dataclass(frozen=True, slots=True)
class Protocol:
    """The functions of a kernel that asks for a log density number by number.

    ``work`` makes the array that it works in; ``told`` are functions of that array: what is known
    of the move afterwards. ``of_vectors``: the kernel asks at a vector, the last of its arguments
    when it goes on, with those of the draw before it; what is told belongs to the last targets.
    """

    work: str
    start: str
    next: str
    starts_randomly: bool = False
    told: tuple[str, ...] = ()
    of_vectors: bool = False


PROTOCOLS: Mapping[str, Protocol] = {
    "elliptical": Protocol(
        "elliptical_work", "elliptical_start", "elliptical_next", of_vectors=True
    ),
    "ellipse": Protocol("elliptical_work", "ellipse_start", "ellipse_next"),
    "walk_vector": Protocol(
        "vector_walk_work",
        "vector_walk_start",
        "vector_walk_next",
        told=(
            *("vector_walk_taken", "vector_walk_density"),
            *("vector_walk_scale", "vector_walk_shaped"),
        ),
        of_vectors=True,
    ),
    **{
        name: Protocol(
            "trajectory_work",
            "trajectory_start",
            f"{name}_next",
            told=(
                *("trajectory_accept", "trajectory_points", "trajectory_diverged"),
                "trajectory_moved",
            ),
            of_vectors=True,
        )
        for name in ("nuts", "hmc")
    },
    **{
        f"modal_{layout}": Protocol(
            "modal_work",
            "modal_start",
            f"modal_{layout}_next",
            told=("modal_taken", "modal_share"),
            of_vectors=True,
        )
        for layout in ("blocks", "band", "sparse")
    },
    "swap": Protocol(
        "swap_work",
        "swap_start",
        "swap_next",
        told=("swap_taken", "swap_density", "swap_made"),
        of_vectors=True,
    ),
    "concave": Protocol(
        "concave_work", "concave_start", "concave_next", told=("concave_distance",)
    ),
    "slice": Protocol("slice_work", "slice_start", "slice_next", told=("slice_distance",)),
    "walk": Protocol(
        "walk_work", "walk_start", "walk_next", told=("walk_taken", "walk_probability")
    ),
    "walk_whole": Protocol(
        "walk_work", "walk_whole_start", "walk_next", told=("walk_taken", "walk_probability")
    ),
    "slice_whole": Protocol(
        "slice_work",
        "slice_whole_start",
        "slice_next",
        starts_randomly=True,
        told=("slice_distance",),
    ),
}


@dataclass(slots=True)
class Lines:
    """The lines of the statements of a function, and the kernels that need memory."""

    writer: Writer
    locals: Mapping[str, Local]
    working: dict[str, str] = field(default_factory=dict)  # (maker -> name)

    def of(self, statements: Sequence[Statement]) -> list[str]:
        """The lines of statements."""
        return [line for s in statements for line in self.one(s)]

    def one(self, s: Statement) -> list[str]:
        """The lines of a statement."""
        match s:
            case Loop(over=over, body=body):
                found = self.of(body)
                for span in reversed(over):
                    found = [self.head(span), *indented(found)]
                return found
            case Store(target=target, value=value):
                return [f"{self.writer.element(target)} = {self.value(target.array, value)}"]
            case Add():
                return [self.added(s)]
            case Draw():
                return self.drawn(s)
            case Choice():
                return self.chosen(s)
        raise TypeError(s)

    def chosen(self, s: Choice) -> list[str]:
        """The lines of several bodies, one of which is carried out."""
        number, found = self.writer.text(s.number), list[str]()
        for n, body in enumerate(s.bodies):
            if lines := self.of(body):
                found += [f"{'elif' if found else 'if'} {number} == {n}:", *indented(lines)]
        return found

    def value(self, array: str, value: Expr) -> str:
        """A value, of the type of its array."""
        local = self.locals.get(array)
        is_float = local is None or local.type == "float"
        if isinstance(value, Number) and is_float and is_whole(value.value):
            return repr(float(value.value))
        return self.writer.text(value)

    def head(self, span: Span) -> str:
        """The head of a loop."""
        start = "" if span.start == ZERO else f"{self.writer.text(span.start)}, "
        return f"for {self.writer.dim(span.dim)} in range({start}{self.writer.text(span.stop)}):"

    def added(self, s: Add) -> str:
        """The line that adds to an element."""
        target = self.writer.element(Element(s.array, s.indices))
        if s.by != "sum":
            return f"{target} = {s.by}({target}, {self.writer.text(s.value)})"
        if is_call(s.value, "neg"):
            return f"{target} -= {self.writer.text(negative(s.value))}"
        return f"{target} += {self.writer.text(s.value)}"

    def drawn(self, s: Draw) -> list[str]:
        """The lines of a draw."""
        own = frozenset(span.dim for a in s.arguments for span in a.own) | {
            span.dim for span in s.own
        }
        arguments = [
            self.writer.element(a.value, frozenset(x.dim for x in a.own))
            if a.own and isinstance(a.value, Element)
            else self.writer.text(a.value)
            for a in s.arguments
        ]
        rng = ["rng"] if s.is_random else []
        if s.density is not None:
            return self.by_density(s, s.density, arguments)
        kernel = self.writer.kernel(s.kernel)
        is_whole = bool(s.own)
        if not is_whole and len(s.targets) == 1:
            target = self.writer.element(s.targets[0])
            return [f"{target} = {kernel}({', '.join([*rng, *arguments])})"]
        outs = [self.writer.element(t, own) for t in s.targets]
        return [f"{kernel}({', '.join([*rng, *arguments, *outs])})"]

    def by_density(self, s: Draw, density: Density, arguments: list[str]) -> list[str]:
        """The lines of a draw by a log density: the kernel asks for it, number by number."""
        protocol = PROTOCOLS[s.kernel]
        start, more = map(self.writer.kernel, (protocol.start, protocol.next))
        work = self.writer.names.called("work", protocol.work, like=protocol.work)
        self.working[protocol.work] = work
        self.writer.kernel(protocol.work)
        begun = ["rng", work] if protocol.starts_randomly else [work]
        candidate = self.writer.array(density.argument)
        found = [*self.of(density.body), f"{work}[1] = {self.writer.text(density.value)}"]
        count = len(s.targets) - len(protocol.told)
        told = [
            f"{self.writer.element(t)} = {self.writer.kernel(function)}({work})"
            for t, function in zip(s.targets[count:], protocol.told, strict=True)
        ]
        if protocol.of_vectors:
            called = ", ".join(["rng", work, *arguments, candidate])
            return [f"{start}({work})", f"while {more}({called}):", *indented(found), *told]
        # (a label is read as a position; what kernels work on are real numbers)
        indices = (i for e in elements(density.value) for i in e.indices)
        is_position = any(density.argument in i.arrays for i in indices)
        body = [f"{candidate} = {_whole_if(is_position, f'{work}[0]')}", *found]
        drawn = self.locals.get(s.targets[0].array)
        is_whole = drawn is not None and drawn.type == "int"
        return [
            f"{start}({', '.join([*begun, *arguments])})",
            f"while {more}(rng, {work}):",
            *indented(body),
            f"{self.writer.element(s.targets[0])} = {_whole_if(is_whole, f'{work}[0]')}",
            *told,
        ]


def _whole_if(is_whole: bool, code: str) -> str:
    return f"int({code})" if is_whole else code
