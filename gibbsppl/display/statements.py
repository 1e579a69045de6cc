r"""The statements of a model, typeset: a line each, in LaTeX or in MathML.

Comes in: a `Graph`. Goes out: lines of a left side, a sign, a right side, and a remark in words.
Parameters are those that the user wrote.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"school": 8}) as model:
...     mu = gp.Normal("mu", 0, sigma=10)
...     theta = gp.Normal("theta", mu, sigma=1, dims="school")
>>> print(latex_of(model.graph))
\begin{aligned}
\mu &\sim \mathrm{Normal} (\mu = 0 , \sigma = 10)
\\
\theta_{\mathrm{school}} &\sim \mathrm{Normal} (\mu = \mu , \sigma = 1)
\end{aligned}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gibbsppl.algebra.expressions import Dim, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.recursions import Recursion
from gibbsppl.display.formulas import Formulas
from gibbsppl.display.markup import LATEX, Markup
from gibbsppl.model.graph import Constant, Deterministic, Factor, Graph, Marginal, Statement
from gibbsppl.model.graph_views import full_notation


@dataclass(frozen=True, slots=True)
class Line:
    """A statement in parts: ``left``, ``sign`` and ``right`` are formulas, ``remark`` is text.

    ``region`` is a formula: the positions, where these are not all.
    """

    left: str
    sign: str
    right: str
    region: str = ""
    remark: str = ""


def lines_of(graph: Graph, markup: Markup) -> list[Line]:
    """A line for each factor, fixed region and computed array, in the order of ``print(graph)``."""
    writer = _Writer(Formulas(markup, full_notation(graph)), graph.sizes)
    return [
        *(writer.factor(f) for f in graph.factors),
        *(writer.constant(c) for c in graph.constants),
        *(line for d in graph.deterministics for line in writer.computed(d)),
    ]


def latex_of(graph: Graph) -> str:
    """The statements in LaTeX, aligned, for an environment of mathematics."""
    written = []
    for line in lines_of(graph, LATEX):
        more = ([line.region] if line.region else []) + (
            [LATEX.words(line.remark)] if line.remark else []
        )
        beside = f" && {', '.join(more)}" if more else ""
        written.append(f"{line.left} &{line.sign} {line.right}{beside}")
    inside = "\n\\\\\n".join(written)
    return f"\\begin{{aligned}}\n{inside}\n\\end{{aligned}}"


@dataclass(frozen=True, slots=True)
class _Writer:
    """The writer of lines in the language of its formulas."""

    formulas: Formulas
    sizes: Mapping[Dim, int]

    def factor(self, factor: Factor) -> Line:
        markup = self.formulas.markup
        if isinstance(factor, Statement):
            return self._statement(factor)
        log = markup.row([markup.word("log"), markup.sign("*"), markup.letter("p")])
        value = self.formulas.formula(factor.log_density)
        if factor.over:
            below = markup.listed([self.formulas.dim(r.dim) for r in factor.over])
            value = markup.row([markup.big("sum", below), markup.enclosed(value, "(", ")")])
        remark = factor.about if isinstance(factor, Marginal) else factor.name
        over = () if isinstance(factor, Marginal) else factor.over
        return Line(log, markup.sign("+="), value, self._region(over), remark)

    def _statement(self, statement: Statement) -> Line:
        markup, formulas = self.formulas.markup, self.formulas
        left = formulas.element(statement.target.array.name, statement.target.indices)
        given = statement.spelled or statement.arguments
        if statement.family.name:
            inside = [
                markup.row([markup.name(name), markup.sign("="), formulas.formula(value)])
                for name, value in given
            ]
            called = markup.enclosed(markup.listed(inside), "(", ")")
            right = markup.row([markup.word(statement.family.name), called])
        else:
            density = formulas.formula(dict(statement.arguments)["log"])
            right = markup.row([markup.word("exp"), markup.enclosed(density, "(", ")")])
        region = self._region(statement.over)
        return Line(left, markup.sign("~"), right, region, "; ".join(_remarks(statement)))

    def constant(self, constant: Constant) -> Line:
        """A line for a fixed region."""
        left = self.formulas.element(constant.target.array.name, constant.target.indices)
        value = self.formulas.formula(constant.value)
        return Line(left, self.formulas.markup.sign("="), value, self._region(constant.over))

    def computed(self, made: Deterministic) -> Iterator[Line]:
        """A line for a computed array, or one for each of its regions."""
        sign = self.formulas.markup.sign(":=")
        if not isinstance(made.value, Recursion):
            left = self.formulas.element(made.name, made.dims)
            yield Line(left, sign, self.formulas.formula(made.value))
            return
        for step in made.value.system.args:
            if step.element.own == made.value.own:
                left, value = map(self.formulas.formula, (step.element, step.value))
                yield Line(left, sign, value, self._region(step.over))

    def _region(self, over: Iterable[Range]) -> str:
        some = (r for r in over if len(r) != self.sizes[r.dim])
        told = [self.formulas.positions(r.dim, r.start, r.stop) for r in some]
        return self.formulas.markup.listed(told) if told else ""


def _remarks(statement: Statement) -> Iterator[str]:
    """The conditions of a statement, in words."""
    if statement.family.event:
        yield f"over {', '.join(d.name for d in statement.event)}"
    lower, upper = statement.lower, statement.upper
    if lower is not None or upper is not None:
        ends = ("" if b is None else str(b) for b in (lower, upper))
        yield f"truncated to ({', '.join(ends)})"
    yield from map(str, statement.censored)
    if statement.known == 1:
        yield "observed"
    elif isinstance(statement.known, Leaf):
        yield f"observed where {statement.known} = 1"
