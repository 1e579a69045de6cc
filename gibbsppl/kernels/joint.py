"""Joint draws of several arrays at once: normal, from a quadratic log density."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Mul

from gibbsppl.algebra.expressions import Expr, Leaf, Over
from gibbsppl.algebra.notation import Notation, signed_sum
from gibbsppl.code.accumulation import accumulated
from gibbsppl.code.lines import INDENT
from gibbsppl.code.maintained import writer_of
from gibbsppl.code.module import Module
from gibbsppl.code.places import bounds_of, index_text
from gibbsppl.code.text import Text
from gibbsppl.code.writer import Writer
from gibbsppl.derive.quadratic import Quadratic, owner
from gibbsppl.explain.derivation import Derivation
from gibbsppl.explain.families import jointly_told
from gibbsppl.families import Family
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import region_of
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.parameters import NaturalParameter, Pair
from gibbsppl.schedule.pencils import Pencil
from gibbsppl.schedule.precisions import precision_of
from gibbsppl.schedule.steps import Formula, Kind, Step, of_piece


@dataclass(frozen=True, slots=True)
class JointDraw(Step):
    """A joint draw of all elements of several statements, whose log density is quadratic in them.

    ``linear`` and ``squares`` have a natural parameter for each of the arrays; ``layout`` says how
    the precision matrix is factorised; with a ``pencil`` it is diagonalised once instead.
    ``called`` is the name of the step, if other than the names of its arrays.
    """

    conditional: Quadratic
    linear: tuple[NaturalParameter, ...]
    squares: tuple[NaturalParameter, ...]
    pairs: tuple[Pair, ...]
    layout: str
    pencil: Pencil | None = None
    called: str = ""
    kept: tuple[NaturalParameter, ...] = ()
    kind: Kind = "joint"
    is_joint = True

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements whose elements are drawn together."""
        return self.conditional.statements

    @property
    def name(self) -> str:
        """The names of the arrays, unless the step has a name of its own."""
        return self.called or ", ".join(self.variables)

    @property
    def family(self) -> Family:
        """The normal family of vectors."""
        return owner()

    @property
    def may_be_coloured(self) -> bool:
        """All elements are drawn in one call."""
        return False

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """What the pieces of the log density read."""
        del graph
        yield from (e for p in self.conditional.pieces for e in of_piece(p))

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function of the coefficients of elements, of their squares and products."""
        return joint_coefficients(module, self)

    def functions(self, module: Module) -> list[str]:
        """The functions of a pencil: its fixed matrices, and what a draw needs of the state."""
        if self.pencil is None:
            return []
        return [_fixed(module, self, self.pencil), _scaled(module, self, self.pencil)]

    def lines(self, module: Module) -> list[str]:
        """The line of a sweep that draws the block."""
        drawn, given = joint_name(module, self), module.functions[self.name]
        if self.pencil is not None:
            drawn, given = _pencil(module, self, self.pencil), _scaled_name(module, self)
        return [f's.update(c["{drawn}"].draw(rng, s, {given}(s, c)))']

    def tables(self, module: Module) -> dict[str, str]:
        """The function of what a pencil is drawn from."""
        return {} if self.pencil is None else {"SCALED": _scaled_name(module, self)}

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """Coefficients times elements, squares and products of all arrays, known elements too."""
        del drawn
        own, products = given
        terms = []
        for name, (linear, squares) in own.items():
            x = np.asarray(values[name], dtype=float)
            terms += [np.ravel(linear * x), np.ravel(squares * x**2)]
        for pair, coefficients in zip(self.pairs, products, strict=True):
            ends = (evaluate(e, pair.place, values, sizes) for e in (pair.first, pair.second))
            first, second = ends
            terms.append(np.ravel(coefficients * first * second))
        return np.concatenate(terms)

    # Words

    @property
    def owner(self) -> str:
        """The family."""
        return self.family.name

    def how(self, graph: Graph) -> str:
        """The layout of the precision matrix."""
        del graph
        return f"jointly, {self.layout}"

    def formula(self, notation: Notation) -> Formula:
        """The log density, up to a constant: the pieces, each summed."""
        parts = []
        for piece in self.conditional.pieces:
            value = Mul(piece.coefficient, piece.statistic)
            for r in reversed(piece.over):
                value = Over(value, r.dim, r.start, r.stop)
            parts.append(notation.text(value))
        return "log density = ", [signed_sum(parts)], ""

    def collected(self, derivation: Derivation) -> list[str]:
        """Every piece of the log density."""
        return derivation.pieces(self.conditional.pieces)

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """Why all can be drawn at once, and how."""
        notation = derivation.notation
        told = jointly_told(self, self.conditional.pieces, self._precision(notation), notation)
        return [("The family recognised", told)]

    def _precision(self, notation: Notation) -> str:
        """The layout of the precision matrix, with the fixed matrices diagonalised once."""
        if self.pencil is None:
            return self.layout
        parts = (
            "a fixed one" if s == 1 else f"{notation.text(s)} times one"
            for s in self.pencil.scales
        )
        return f"{self.layout}; matrices of data, diagonalised once: {' and '.join(parts)}"


def joint_draw(
    graph: Graph, block: Quadratic, data: Mapping[str, Any], asked: Blocks | None = None
) -> JointDraw | None:
    """The joint draw of a block, if its precision matrix is within the limits."""
    found = precision_of(graph, block, data, asked or Blocks())
    if found is None:
        return None
    return JointDraw(block, found.linear, found.squares, found.pairs, found.layout, found.pencil)


def joint_coefficients(module: Module, step: JointDraw) -> str:
    """The function that computes the coefficients of elements, of their squares and products."""
    writer = _writer(module, step)
    body: list[str] = []
    own = []
    for name, linear, squares in zip(step.variables, step.linear, step.squares, strict=True):
        found = [
            _local(module, writer, body, name, part)
            for part in ((linear, "linear"), (squares, "squares"))
        ]
        own.append(f'"{name}": ({", ".join(found)})')
    products = _products(module, writer, body, step, [p.parameter for p in step.pairs])
    body += ["return ({", *(f"{INDENT}{line}," for line in own), "}, ["]
    body += [*(f"{INDENT}{line}," for line in products), "])"]
    drawn = ", ".join(step.variables)
    doc = f"{drawn} | rest, jointly: the coefficients of elements, of squares, of products."
    return module.function(module.functions[step.name], doc, writer, body)


def _fixed(module: Module, step: JointDraw, pencil: Pencil) -> str:
    """The function that computes the coefficients of squares and products for each scale."""
    writer = _writer(module, step)
    body: list[str] = []
    returned = []
    for squares, pairs in zip(pencil.squares, pencil.pairs, strict=True):
        named = zip(step.variables, squares, strict=True)
        own = [f'"{n}": {_local(module, writer, body, n, (p, "squares"))}' for n, p in named]
        products = _products(module, writer, body, step, pairs)
        returned.append(f"({{{', '.join(own)}}}, [{', '.join(products)}])")
    body += ["return [", *(f"{INDENT}{line}," for line in returned), "]"]
    drawn = ", ".join(step.variables)
    doc = f"The coefficients of squares and products of {drawn}: those of {pencil.told}."
    return module.function(_fixed_name(module, step), doc, writer, body)


def _scaled(module: Module, step: JointDraw, pencil: Pencil) -> str:
    """The function that computes the coefficients of elements, and the scales."""
    writer = _writer(module, step)
    body: list[str] = []
    named = zip(step.variables, step.linear, strict=True)
    own = [f'"{n}": {_local(module, writer, body, n, (p, "linear"))}' for n, p in named]
    scales = "".join(f"{writer.write(s).code}, " for s in pencil.scales).rstrip()
    body += ["return ({", *(f"{INDENT}{line}," for line in own), f"}}, ({scales}))"]
    drawn = ", ".join(step.variables)
    doc = f"{drawn} | rest, jointly: the coefficients of elements, what scales fixed matrices."
    return module.function(_scaled_name(module, step), doc, writer, body)


def _local(
    module: Module,
    writer: Writer,
    body: list[str],
    name: str,
    part: tuple[NaturalParameter, str],
) -> str:
    """The local name of a coefficient of an array, whose lines are added to the body, or a 0."""
    parameter, stem = part
    if not parameter.contributions:
        return "0.0"
    local = module.names.fresh(f"{module.names.of(name)}_{stem}")
    body += accumulated(writer, local, parameter, full=False)
    return local


def _products(
    module: Module,
    writer: Writer,
    body: list[str],
    step: JointDraw,
    parameters: Sequence[NaturalParameter],
) -> list[str]:
    """The texts of the coefficients of products, whose lines are added to the body."""
    found = []
    for pair, parameter in zip(step.pairs, parameters, strict=True):
        if not parameter.contributions:
            found.append("0.0")
            continue
        local = module.names.fresh(_stem(module, pair))
        body += accumulated(writer, local, parameter, full=False)
        found.append(local + index_text(pair.place, parameter.axes, writer))
    return found


def _scaled_name(module: Module, step: JointDraw) -> str:
    """The name of the function that computes what a pencil is drawn from."""
    return module.function_of(step, "scaled")


def _fixed_name(module: Module, step: JointDraw) -> str:
    return module.function_of(step, "fixed")


def _pencil(module: Module, step: JointDraw, pencil: Pencil) -> str:
    """The name of the fixed matrices, diagonalised."""
    joint = joint_name(module, step)
    code = f'runtime.Pencil(c["{joint}"], {_fixed_name(module, step)}({{}}, c))'
    told = f"diagonalised once: the matrices of {pencil.told}"
    return module.hoisted.add_last(("pencil", step.name), f"{joint}_pencil", code, told)


def joint_name(module: Module, step: JointDraw) -> str:
    """The name of the ``runtime.Joint``: the elements drawn, and the places of coefficients."""
    stem = "_".join(map(module.names.of, step.variables)) + "_joint"

    def make() -> Text:
        writer = _writer(module, step)
        inside = INDENT * 2
        lines = ["runtime.Joint(", f"{inside}{{"]
        lines += [f'{inside}{INDENT}"{n}": {_drawn(module, step, n)},' for n in step.variables]
        lines += [f"{inside}}},", f"{inside}["]
        lines += [f"{inside}{INDENT}({_ends(writer, pair)})," for pair in step.pairs]
        lines += [f"{inside}],", *[f"{inside}in_blocks=True,"] * (step.pencil is not None)]
        return Text("\n".join([*lines, f"{INDENT})"]))

    return module.hoisted.add(("joint", step.name), stem, make, step.layout).code


def _writer(module: Module, step: JointDraw) -> Writer:
    axes = {a: n for p in step.pairs for a, n in zip(p.parameter.axes, p.sizes, strict=True)}
    return writer_of(module, step, axes)


def _drawn(module: Module, step: JointDraw, name: str) -> str:
    """The text of which elements of an array are drawn."""
    own = [s for s in step.statements if s.target.array.name == name]
    return " | ".join(_region(module, own, known) for known in _masks(own))


def _masks(statements: list[Statement]) -> list[str | None]:
    """The masks of known elements of some statements, each once."""
    names = (s.mask for s in statements)
    return list(dict.fromkeys(names))


def _region(module: Module, statements: list[Statement], mask: str | None) -> str:
    shape = module.shape(statements[0])
    places = [
        tuple(map(bounds_of, region_of(module.graph, s)))
        for s in statements
        if s.mask == mask
    ]
    if mask is not None:
        module.hoisted.arrays.add(mask)
    known = "" if mask is None else f", {module.names.of(mask)}"
    return f"runtime.drawn({shape}, {places}{known})"


def _ends(writer: Writer, pair: Pair) -> str:
    """The text of both elements of a pair: arrays and indices."""
    writer.order = {}
    writer.arrange(pair.parameter.axes)
    with writer.over(pair.place):
        return ", ".join(_end(writer, leaf, pair) for leaf in (pair.first, pair.second))


def _end(writer: Writer, leaf: Leaf, pair: Pair) -> str:
    texts = [writer.align(writer.prepared(i), pair.parameter.axes) for i in leaf.indices]
    return f'"{leaf.array.name}", ({"".join(f"{t}, " for t in texts).rstrip()})'


def _stem(module: Module, pair: Pair) -> str:
    names = (module.names.of(leaf.array.name) for leaf in (pair.first, pair.second))
    return "_".join(names)
