"""Lines of generated source: sums with comments, and indentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

INDENT = "    "


def assigned(name: str, terms: list[tuple[str, str]]) -> list[str]:
    """A sum of terms, each with the factor that it comes from."""
    if len(terms) == 1:
        code, factor = terms[0]
        return [f"{name} = {code}" + (f"  # from {factor}" if factor else "")]
    lines = [f"{name} = ("]
    for n, (code, factor) in enumerate(terms):
        sign, rest = ("-", code[1:]) if code.startswith("-") and is_product(code) else ("+", code)
        lead = code if n == 0 else f"{sign} {rest}"
        lines.append(f"{INDENT}{lead}  # from {factor}")
    return [*lines, ")"]


def returned(terms: list[tuple[str, str]]) -> list[str]:
    """Lines that return a sum of terms."""
    lines = assigned("value", terms or [("0.0", "")])
    return [lines[0].replace("value = ", "return ", 1), *lines[1:]]


def returned_by(function: str, first: str, terms: list[tuple[str, str]]) -> list[str]:
    """Lines that return a function of an argument and terms."""
    lines = [f"{INDENT}{code},  # from {factor}" for code, factor in terms]
    return [f"return {function}(", f"{INDENT}{first},", *lines, ")"]


def is_product(code: str) -> bool:
    """Whether a text has no sum outside of parentheses."""
    depth = 0
    for n, ch in enumerate(code):
        depth += (ch in "([") - (ch in ")]")
        if depth == 0 and ch in "+-" and n and code[n - 1] == " ":
            return False
    return True


def indented(lines: Iterable[str]) -> list[str]:
    """The lines one step further in; empty ones stay empty."""
    return [INDENT + line if line else line for line in lines]


def unpacking(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Assignments, several on a line as far as it goes."""
    lines = []
    for start in range(0, len(pairs), 5):
        names, values = zip(*pairs[start : start + 5], strict=True)
        lines.append(f"{', '.join(names)} = {', '.join(values)}")
    return lines
