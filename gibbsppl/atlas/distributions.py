r"""The reference of all distributions, written from the rows of their table.

Comes in: `gibbsppl.families.FAMILIES`. Goes out: a page of text, ``distributions.md``, and a
picture for each distribution of numbers:

    python -m gibbsppl.atlas.distributions docs

>>> from gibbsppl.families import FAMILIES
>>> print(section(FAMILIES["Exponential"]).splitlines()[0])
### Exponential
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, substitute
from gibbsppl.algebra.functions import Where
from gibbsppl.algebra.notation import Notation
from gibbsppl.algebra.supports import Support
from gibbsppl.atlas.curves import svg_of_curves
from gibbsppl.display.formulas import Formulas
from gibbsppl.display.markup import LATEX, MATHML, Markup
from gibbsppl.families import FAMILIES, Family, Parameter
from gibbsppl.language.distributions import can_be_truncated, spellings

HEAD = """\
# Distributions

Each distribution is a row of one table, from which everything on this page is written: the names of
its parameters, its log density, and what derivations read of it. `x` is a value; dims of a vector
or matrix are called `k`, and {K} is their size. A distribution with *statistics* is recognised
wherever the terms of a complete conditional are a sum of these, and then drawn exactly.

This page is written by `python -m gibbsppl.atlas.distributions docs`; the tests compare it with the
table.
"""
K, SIZE = Dim("k"), Array("K", positive=True)[()]


@dataclass(frozen=True, slots=True)
class Style:
    """How a page has its formulas: the language, what is about one in a line, and in lines."""

    markup: Markup
    inline: tuple[str, str]
    display: tuple[str, str]

    def formula(self, expr: Expr) -> str:
        """An expression within a sentence."""
        return self.within(Formulas(self.markup, Notation()).formula(_tidy(expr)))

    def within(self, formula: str) -> str:
        """A formula within a sentence."""
        return formula.join(self.inline)

    def log_density(self, expr: Expr) -> str:
        """An equation by itself: that the log density is an expression."""
        markup = self.markup
        p = markup.row([markup.letter("p"), markup.enclosed(markup.letter("x"), "(", ")")])
        left = markup.joined([markup.word("log"), p], "*")
        right = Formulas(markup, Notation()).formula(_tidy(expr))
        return markup.row([left, markup.sign("="), right]).join(self.display)


IN_LATEX = Style(LATEX, ("$", "$"), ("$$\n", "\n$$"))
# What browsers show without a program for formulas.
IN_MATHML = Style(MATHML, ("<math>", "</math>"), ('<math display="block">', "</math>"))

# The groups of the page, in order: what is in each.
GROUPS: Mapping[str, Callable[[Family, Support], bool]] = {
    "Numbers on the real line": lambda f, s: not f.event and s.kind == "real" and _is_all(s),
    "Positive numbers, and numbers above a bound": lambda f, s: (
        not f.event and s.kind == "real" and s.upper == sp.oo and not _is_all(s)
    ),
    "Numbers in an interval": lambda f, s: not f.event and s.kind == "real" and s.upper != sp.oo,
    "Whole numbers and labels": lambda f, s: not f.event and s.is_discrete,
    "Vectors": lambda f, _: f.event == 1,
    "Matrices": lambda f, _: f.event == 2,
}


def _is_all(support: Support) -> bool:
    return support.lower == -sp.oo and support.upper == sp.oo


def page(style: Style = IN_LATEX) -> str:
    """The whole page."""
    parts = [HEAD.format(K=style.formula(SIZE))]
    for title, holds in GROUPS.items():
        own = [f for f in FAMILIES.values() if holds(f, _support(f))]
        links = ", ".join(f"[{f.name}](#{f.name.lower()})" for f in own)
        parts += [f"## {title}\n", f"{links}.\n", *(section(f, style) for f in own)]
    return "\n".join(parts)


def pictures() -> Iterator[tuple[str, str]]:
    """The name of a file and its content, of each distribution that has a picture."""
    for family in FAMILIES.values():
        if (svg := svg_of_curves(family)) is not None:
            yield f"{family.name.lower()}.svg", svg


def section(family: Family, style: Style = IN_LATEX) -> str:
    """The facts in the row of a distribution."""
    x, event, parameters = _symbols(family)
    about = family.about.replace("``", "`")
    density = family.log_density(x, event, **parameters)
    lines = [f"### {family.name}", "", about, ""]
    lines += [*(f"- `{call}`" for call in _calls(family)), ""]
    lines += [f"Values: {_values(_support(family), style)}.", ""]
    lines += [style.log_density(density), ""]
    lines += ["| parameter | values |", "| --- | --- |"]
    lines += [f"| `{n}` | {_values_of(p, style)} |" for n, p in family.written.items()]
    lines += ["", *(f"- {fact}" for fact in _facts(family, style)), ""]
    if svg_of_curves(family) is not None:
        told = f"Densities of {family.name} for some values of its parameters"
        lines += [f"![{told}](distributions/{family.name.lower()}.svg)", ""]
    return "\n".join(lines)


def _symbols(family: Family) -> tuple[Leaf, tuple[Dim, ...], dict[str, Expr]]:
    """A value, its event dims, and the canonical parameters, as elements of arrays."""
    labelled = not family.event and any(p.event for p in family.parameters.values())
    event = (K, primed(K))[: family.event or int(labelled)]
    x = Array("x")[event if family.event else ()]
    parameters: dict[str, Expr] = {
        n: _array(n, p)[(K, primed(K))[: p.event]] for n, p in family.parameters.items()
    }
    return x, event, parameters


def _array(name: str, parameter: Parameter) -> Array:
    support = parameter.support
    is_positive = support.kind in ("real", "integer", "simplex") and support.lower == 0
    return Array(name, positive=True) if is_positive else Array(name)


def _support(family: Family) -> Support:
    _, event, parameters = _symbols(family)
    found: Support = family.support(event, **parameters)
    return found


def _tidy(expr: Expr) -> Expr:
    """Sums of what does not depend on the position as products with the number of positions.

    And cases within the same cases without what they are elsewhere: a guard against zeros.
    """
    guards = {
        w: Where(w.args[0], substitute(w.args[1], {inner: inner.args[1]}), w.args[2])
        for w in expr.atoms(Where)
        for inner in w.args[1].atoms(Where)
        if inner.args[0] == w.args[0]
    }
    expr = substitute(expr, guards)
    constant = {
        o: o.body * SIZE for o in expr.atoms(Over)
        if o.bound[0] == K and K not in o.body.free_symbols and len(o.args) == 2
    }  # fmt: skip
    return substitute(expr, constant) if constant else expr


def _calls(family: Family) -> Iterator[str]:
    """The ways to write a distribution, one for each set of names of its parameters."""
    for names in spellings(family):
        inside = ", ".join(f"{n}=..." for n in names)
        yield f"gp.{family.name}(\"x\"{', ' if inside else ''}{inside})"


def _values(support: Support, style: Style) -> str:
    """A support in words and signs."""
    lower, upper = (style.formula(sp.sympify(e)) for e in (support.lower, support.upper))
    match support.kind:
        case "real" if not _is_all(support):
            if support.upper == sp.oo:
                return f"numbers above {lower}"
            return f"numbers between {lower} and {upper}"
        case "integer" if support.upper == sp.oo:
            return f"whole numbers from {lower} on"
        case "integer":
            return f"whole numbers from {lower} to {upper}"
    return str(support) if support.kind != "counts" else f"counts whose sum is {upper}"


def _values_of(parameter: Parameter, style: Style) -> str:
    kind = {0: "", 1: ", a vector of such", 2: ", a matrix"}[parameter.event]
    told = _values(parameter.support, style)
    return told + kind if parameter.support.kind in ("real", "integer") else told


def _facts(family: Family, style: Style) -> Iterator[str]:
    """Moments, tails, statistics, defaults."""
    x, event, parameters = _symbols(family)
    for name, moment in (("mean", family.mean), ("variance", family.variance)):
        if moment is not None:
            yield f"{name}: {style.formula(moment(event, **parameters))}"
    if family.defaults:
        told = ", ".join(f"`{n}={Notation().text(v)}`" for n, v in family.defaults.items())
        yield f"may be left out: {told}"
    if can_be_truncated(family):
        yield "may be truncated (`lower=`, `upper=`) and censored"
    if family.natural is not None:
        known = {n: parameters[n] for n in family.natural.known}
        statistics = family.natural.statistics(x, event, **known)
        told = ", ".join(style.formula(s) for s in statistics)
        given = f", given {' and '.join(f'`{n}`' for n in known)}" if known else ""
        yield f"statistics: {told}{given}" if told else "recognised by its bounds"


def write(folder: Path) -> None:
    """Write the page and the pictures into a folder of documentation."""
    (folder / "distributions").mkdir(exist_ok=True)
    (folder / "distributions.md").write_text(page(), encoding="utf-8")
    for name, svg in pictures():
        (folder / "distributions" / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
