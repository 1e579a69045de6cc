"""Spellings of other languages with their equivalents in BUGS: tables for error messages.

>>> ADVICE["<<-"]
'expected <-: BUGS gives a value with a single arrow'
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from gibbsppl.bugs.syntax import printable

LONGEST_QUOTED = 40

# Signs, and characters, that are not of the language.
ADVICE: Mapping[str, str] = {
    "<<-": "expected <-: BUGS gives a value with a single arrow",
    "->": "expected <-: the name stands on the left, x <- value",
    "->>": "expected <-: the name stands on the left, x <- value",
    ":=": "expected <- or =",
    "=>": "expected >=",
    "=<": "expected <=",
    "<>": "expected !=",
    "[[": "expected a single [: an element is x[i], and one of a matrix x[i, j]",
    "//": "expected an operator: a comment starts with #",
    "/*": "expected */ further on: one that starts with # ends with its line",
    "::": "expected a name without a package",
    ":::": "expected a name without a package",
    "|>": "expected an operator: write f(x) for x |> f()",
    "%%": "expected another operator: write x - y * trunc(x / y) for the remainder",
    "%/%": "expected another operator: write trunc(x / y)",
    "%in%": "expected another operator: write equals(x, a) + equals(x, b) for x %in% c(a, b)",
    "%o%": "expected another operator: write x[i] * y[j] in loops over i and j",
    "%": "expected another operator: %*%, the product of matrices, is the only one of its kind",
    "&": "expected &&",
    "|": "expected ||",
    "$": "expected an index or a name: BUGS has no lists; write x[i], or one name for each part",
    "@": "expected an index or a name: write x[i], or one name for each part",
    "'": "expected a number or a name: BUGS has no texts; a comment starts with #",
    '"': "expected a number or a name: BUGS has no texts; a comment starts with #",
    "`": "expected a name without quotes, of letters, digits, dots and underscores",
    ".": "expected a number, such as 0.5, or a name, which starts with a letter",
    "_": "expected a name, which starts with a letter",
    "\\": "expected an operator, a name or a number: lines go on without a sign at their end",
    "?": "expected another operator: write ifelse(condition, a, b)",
}

# Characters that look like those of the language, and how these are typed.
_TYPED: Mapping[str, str] = {
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{HYPHEN}": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{MIDDLE DOT}": "*",
    "\N{DIVISION SIGN}": "/",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{NOT EQUAL TO}": "!=",
    "\N{LEFTWARDS ARROW}": "<-",
    "\N{TILDE OPERATOR}": "~",
    "\N{SMALL TILDE}": "~",
    "\N{FULLWIDTH TILDE}": "~",
    "\N{SUPERSCRIPT TWO}": "^2",
    "\N{SUPERSCRIPT THREE}": "^3",
}

# Words that declare, inside a block.
DECLARING: Mapping[str, str] = {
    "const": "constants are given as data, or in a data block: data { N <- 10 }",
    "var": "declarations stand before the blocks: var x[N]; model { }",
}

# Words that other languages start a statement or an expression with.
WORDS: Mapping[str, str] = {
    "if": "BUGS has no branches: ifelse(condition, a, b) chooses between two values, and equals() "
    "and step() are 0 or 1",
    "else": "BUGS has no branches: ifelse(condition, a, b) chooses between two values",
    "while": "BUGS has one loop, over numbers that are known: for (i in 1:N) { }",
    "repeat": "BUGS has one loop, over numbers that are known: for (i in 1:N) { }",
    "break": "BUGS has one loop, over numbers that are known: for (i in 1:N) { }",
    "next": "BUGS has one loop, over numbers that are known: for (i in 1:N) { }",
    "function": "BUGS has no functions of one's own: write the expression where it is needed",
    "return": "BUGS has no functions of one's own: write the expression where it is needed",
}

# What bounds a distribution, and may be the name of a variable too, but not of a function.
_BOUNDS = "bounds stand after a distribution, x ~ dnorm(mu, tau) {}(lower, upper)"
RESTRICTIONS: Mapping[str, str] = {kind: _BOUNDS.format(kind) for kind in ("T", "I", "C")}
NO_FUNCTIONS: Mapping[str, str] = {**WORDS, **RESTRICTIONS}

# Signs after a value, and what may be meant.
MISPLACED: Mapping[str, str] = {
    "=": "two values are compared by ==, and parameters go by position, without names",
    "<-": "a line gives one value; to compare with a negative number write x < -1",
    "~": "a statement has one ~, after the variable that has the distribution",
}


def quoted(text: str) -> str:
    """The text in quotes, shortened if it is long."""
    short = text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 3]}..."
    return f"'{printable(short)}'"


def advice_for_character(character: str) -> str:
    """The text expected in place of a character that is not of the language."""
    if character in ADVICE:
        return ADVICE[character]
    code = f"the character U+{ord(character):04X}"
    if character in _TYPED:
        return f"{code}, expected {_TYPED[character]}"
    name = unicodedata.name(character, "").lower()
    told = f"{code} ({name})" if name else code
    if character.isalpha():
        return f"{told}, expected a name of the letters a to z, digits, dots and underscores"
    return f"{told}, expected a name, a number or an operator: take it out"
