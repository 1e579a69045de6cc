r"""How formulas are written in LaTeX and in MathML: one row each.

A row is all that `gibbsppl.display.formulas` knows of a language. Names are split into what stands
on the line and what below: ``mu_a`` is a Greek letter with an index.

>>> print(LATEX.fraction(LATEX.name("mu_a"), LATEX.number("2")))
\frac{\mu_{a}}{2}
>>> print(MATHML.name("mu_a"))
<msub><mi>μ</mi><mi>a</mi></msub>
>>> print(LATEX.name("standard_error"), MATHML.name("standard_error"))
\mathrm{standard\_error} <mi mathvariant="normal">standard_error</mi>
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "ϕ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ",
    "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
SPECIAL = {
    **{ch: "\\" + ch for ch in "#$%&_{}"},
    "\\": r"\backslash{}", "~": r"\sim{}", "^": r"\hat{}", " ": r"\ ",
}  # fmt: skip
# Signs, as they are asked for, in both languages.
LATEX_SIGNS = {
    "*": r"\,", "~": r"\sim", "<=": r"\le", ":=": r"\mathrel{:=}", "oo": r"\infty", "...": r"\dots",
    "+=": r"\mathrel{{+}{=}}", "in": r"\in",
}  # fmt: skip
MATHML_SIGNS = {
    "~": "∼", "<=": "≤", "oo": "∞", "...": "…", "in": "∈", "-": "\u2212",
}  # fmt: skip
# Functions that LaTeX has a command for.
KNOWN = ("log", "exp", "det", "cos", "sin", "arctan")
OPERATORS = {"sum": (r"\sum", "∑"), "prod": (r"\prod", "∏")}
NAME = re.compile(r"(?P<head>[A-Za-z]+?)(?P<digits>\d*)(?:_(?P<rest>.+))?")


@dataclass(frozen=True, slots=True)
class Markup:
    """A language for formulas: functions from texts in it to a text in it.

    ``letter``, ``word``, ``number`` and ``words`` take plain text; ``sign`` an operator, by its key
    here or as it is; ``big`` an operator with what is below it; ``cases`` pairs of a value and when
    it is so.
    """

    letter: Callable[[str], str]
    word: Callable[[str], str]
    number: Callable[[str], str]
    words: Callable[[str], str]
    sign: Callable[[str], str]
    row: Callable[[Sequence[str]], str]
    fraction: Callable[[str, str], str]
    below: Callable[[str, str], str]
    above: Callable[[str, str], str]
    root: Callable[[str], str]
    enclosed: Callable[[str, str, str], str]
    big: Callable[[str, str], str]
    cases: Callable[[Sequence[tuple[str, str]]], str]

    def name(self, name: str, indices: Sequence[str] = ()) -> str:
        """A name, with what follows its first letter, and indices, below the line."""
        head, own = split_name(name)
        base = self.letter(head) if len(head) == 1 or head in GREEK else self.word(head)
        inside = [self.name(own)] if own and not own.isdecimal() else [self.number(own)] * bool(own)
        return self.below(base, self.listed([*inside, *indices])) if own or indices else base

    def listed(self, parts: Sequence[str]) -> str:
        """Parts with commas between."""
        return self.joined(parts, ",")

    def joined(self, parts: Sequence[str], sign: str) -> str:
        """Parts with a sign between."""
        between = self.sign(sign)
        return self.row([p for n, part in enumerate(parts) for p in (between, part)[n == 0 :]])


def split_name(name: str) -> tuple[str, str]:
    """A name as a letter with an index, if it is one; else whole.

    >>> split_name("tau_beta"), split_name("x1"), split_name("rate"), split_name("a_b")
    (('tau', 'beta'), ('x', '1'), ('rate', ''), ('a', 'b'))
    """
    found = NAME.fullmatch(name)
    if found is None:
        return name, ""
    head, digits, rest = found["head"], found["digits"], found["rest"] or ""
    if (len(head) > 1 and head not in GREEK) or (digits and rest):
        return name, ""
    return head, digits or rest


def _in_latex(text: str, *, blanks: bool = False) -> str:
    return "".join(ch if blanks and ch == " " else SPECIAL.get(ch, ch) for ch in text)


# What parentheses grow for.
TALL = re.compile(r"\\frac|\\sum|\\prod|\\begin|<mfrac|<munder|<mtable")


def _enclosed(inside: str, left: str, right: str) -> str:
    if TALL.search(inside) is None:
        return f"{left}{inside}{right}"
    return rf"\left{left} {inside} \right{right}"


def _latex_word(text: str) -> str:
    return f"\\{text}" if text in KNOWN else rf"\mathrm{{{_in_latex(text)}}}"


def _latex_big(sign: str, below: str) -> str:
    symbol = OPERATORS[sign][0] if sign in OPERATORS else f"\\{sign}"
    return f"{symbol}_{{{below}}}"


def _latex_cases(pairs: Sequence[tuple[str, str]]) -> str:
    lines = r" \\ ".join(f"{value} & {when}" for value, when in pairs)
    return rf"\begin{{cases}} {lines} \end{{cases}}"


def _latex_letter(letter: str) -> str:
    return f"\\{letter}" if letter in GREEK else _in_latex(letter)


LATEX = Markup(
    letter=_latex_letter,
    word=_latex_word,
    number=lambda text: text,
    words=lambda text: rf"\text{{{_in_latex(text, blanks=True)}}}",
    sign=lambda sign: LATEX_SIGNS.get(sign, sign),
    row=" ".join,
    fraction=lambda a, b: rf"\frac{{{a}}}{{{b}}}",
    below=lambda a, b: f"{a}_{{{b}}}",
    above=lambda a, b: f"{{{a}}}^{{{b}}}",
    root=lambda a: rf"\sqrt{{{a}}}",
    enclosed=_enclosed,
    big=_latex_big,
    cases=_latex_cases,
)


def _tag(tag: str, *inside: str, **attributes: str) -> str:
    given = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag}{given}>{''.join(inside)}</{tag}>"


def _mathml_cases(pairs: Sequence[tuple[str, str]]) -> str:
    lines = (_tag("mtr", _tag("mtd", v), _tag("mtd", w)) for v, w in pairs)
    return _tag("mrow", _tag("mo", "{"), _tag("mtable", *lines, columnalign="left left"))


def _mathml_sign(sign: str) -> str:
    if sign == "*":
        return '<mspace width="0.2em"/>'
    if sign in ("(", ")"):
        return _tag("mo", sign, stretchy="false")
    return _tag("mo", escape(MATHML_SIGNS.get(sign, sign)))


def _mathml_enclosed(inside: str, left: str, right: str) -> str:
    grows = "true" if TALL.search(inside) else "false"
    sides = (_tag("mo", side, stretchy=grows) for side in (left, right))
    return _tag("mrow", next(sides), inside, next(sides))


def _mathml_word(text: str) -> str:
    # (one letter alone would be written in italics)
    return _tag("mi", escape(text), mathvariant="normal")


def _mathml_big(sign: str, below: str) -> str:
    symbol = _tag("mo", OPERATORS[sign][1]) if sign in OPERATORS else _tag("mo", sign)
    return _tag("munder", symbol, below)


MATHML = Markup(
    letter=lambda letter: _tag("mi", escape(GREEK.get(letter, letter))),
    word=_mathml_word,
    number=lambda text: _tag("mn", escape(text)),
    words=lambda text: _tag("mtext", escape(text.replace(" ", "\u00a0"))),
    sign=_mathml_sign,
    row=lambda parts: parts[0] if len(parts) == 1 else _tag("mrow", *parts),
    fraction=lambda a, b: _tag("mfrac", a, b),
    below=lambda a, b: _tag("msub", a, b),
    above=lambda a, b: _tag("msup", a, b),
    root=lambda a: _tag("msqrt", a),
    enclosed=_mathml_enclosed,
    big=_mathml_big,
    cases=_mathml_cases,
)

LANGUAGES: Mapping[str, Markup] = {"LaTeX": LATEX, "MathML": MATHML}
