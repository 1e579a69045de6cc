"""A BUGS program from its text: the dialects of JAGS 4 and OpenBUGS, by recursive descent.

Comes in: text, or a `pathlib.Path`. Goes out: a `Program`, or a `BugsError`. Blocks (``model``,
``data``, ``var``) stand in any order, each once. The text after the last block is OpenBUGS's place
for data and remarks: it is not read, but statements and braces there are errors, as they would be
lost. Declared limits: `DEEPEST_NESTING` nested brackets, `DEEPEST_TREE` nested operations.

>>> program = parse("model { for (i in 1:N) { y[i] ~ dnorm(mu, tau)T(0,) }; mu <- 3 }")
>>> loop, mu = program.model
>>> loop.name, loop.body[0].restriction, mu.value
('i', Restriction(kind='T', lower=Number(value=0.0), upper=None), Number(value=3.0))
"""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path
from typing import Literal, cast

from gibbsppl.bugs.expressions import (
    BINARY,
    check_depth,
    read_call,
    read_expression,
    read_list,
    read_reference,
)
from gibbsppl.bugs.lexer import NAME, SPACE, Token
from gibbsppl.bugs.reader import Tokens
from gibbsppl.bugs.sources import FILE_ADVICE, Source, is_file_name, read_source
from gibbsppl.bugs.spellings import DECLARING, NO_FUNCTIONS, RESTRICTIONS, WORDS
from gibbsppl.bugs.syntax import (
    LINKS,
    Assignment,
    BugsError,
    Declaration,
    Loop,
    Program,
    Restriction,
    Statement,
    Stochastic,
    expressions_of,
)

BLOCKS = ("model", "data")

# The start of one more block, and what may not stand in the text after the last one.
_BLOCK = re.compile(
    rf"{SPACE}*+(?:model\b{SPACE}*+(?:{NAME}{SPACE}*+;?{SPACE}*+)?\{{"
    rf"|data\b{SPACE}*+\{{|var\b{SPACE}++[A-Za-z])"
)
# The start of a model that is the body of a function of R.
_FUNCTION = re.compile(
    rf"{SPACE}*+(?:{NAME}{SPACE}*+(?:<-|=){SPACE}*+)?function{SPACE}*+\({SPACE}*+\){SPACE}*+\{{"
)
_AFTER_A_TARGET = ("~", "<-", "=", "[", "(")
_LOST = re.compile(r"#[^\n]*+|(?P<sign>[{}~]|<-)")


def parse(source: str | Path, origin: str | None = None) -> Program:
    """The program of a text, or of a file; errors call it ``origin``, or by the file's name.

    Raises `BugsError` with line and column where the text is no BUGS program.
    """
    return parsed(read_source(source, origin))


def parsed(source: Source) -> Program:
    """The program of a text that has been read."""
    tokens = Tokens(source)
    blocks: dict[str, tuple[Statement, ...]] = {}
    declarations: tuple[Declaration, ...] | None = None
    more = True
    while more:
        head = tokens.peek()
        if head.text == "var" and declarations is None:
            declarations = _declarations(tokens)
        elif head.text in BLOCKS and head.text not in blocks:
            blocks[head.text] = _block(tokens)
        elif _is_function(source, tokens, blocks):
            blocks["model"] = _function(tokens)
        else:
            raise _no_block(tokens)
        more = _BLOCK.match(source.text, tokens.last.end) is not None
        more = more or _is_function(source, tokens, blocks)
    if "model" not in blocks:
        raise tokens.wrong(tokens.peek(), "model { }")
    _check_nothing_is_lost(source, tokens.last)
    return Program(
        source.text,
        source.origin,
        declarations or (),
        blocks.get("data"),
        blocks["model"],
        tokens.last.end,
    )


def is_program(source: Source) -> bool:
    """Whether a text starts as a program does, with a block or a function of R."""
    return any(start.match(source.text) for start in (_BLOCK, _FUNCTION))


def _no_block(tokens: Tokens) -> BugsError:
    """The error for text in place of a block, or for a repeated block."""
    head = tokens.peek()
    advice = ""
    if head.text in (*BLOCKS, "var"):
        advice = "each block stands once; put all of its statements into one"
    elif is_file_name(tokens.source.text):
        advice = FILE_ADVICE
    elif head.kind == "name":
        advice = "statements stand inside model { }, and remarks start with #"
    return tokens.wrong(head, "model { }, data { } or var", advice)


def _check_nothing_is_lost(source: Source, last: Token) -> None:
    """Refuse text after the program that looks like a part of it."""
    for found in _LOST.finditer(source.text, last.end):
        if sign := found["sign"]:
            raise source.error(
                found.start(),
                f"found '{sign}' after the last block, which is closed in line {last.at.line}, "
                "expected data or remarks without braces and statements, which would be lost: is "
                "there a } too many, or a { too few?",
            )


def _declarations(tokens: Tokens) -> tuple[Declaration, ...]:
    """``var x[N, 2], y;``."""
    tokens.take()
    found: dict[str, Declaration] = {}
    while not found or tokens.accept(","):
        name = tokens.name("a variable", "var x[N], y; declares variables")
        if name.text in found:
            raise tokens.wrong(name, "another variable", "it has been declared before")
        sizes = None
        if tokens.peek().text == "[":
            tokens.open("[")
            sizes = read_list(tokens, read_expression)
            tokens.close("an operator, a comma or ")
        found[name.text] = Declaration(name.text, sizes, name.at)
        check_depth(tokens, sizes or ())
    tokens.accept(";")
    return tuple(found.values())


def _block(tokens: Tokens) -> tuple[Statement, ...]:
    """``model { statements }``; ``model`` may have a name, as in old texts."""
    head = tokens.take()
    if head.text == "model" and tokens.peek().kind == "name":
        tokens.take()
        tokens.accept(";")
    braces = f"the statements of a block stand in braces, {head.text} {{ }}"
    advice = DECLARING.get(tokens.peek().text, braces)
    return _model(tokens, advice) if head.text == "model" else _body(tokens, advice)


def _is_function(source: Source, tokens: Tokens, blocks: Container[str]) -> bool:
    """Whether a model follows as the body of a function of R."""
    return "model" not in blocks and _FUNCTION.match(source.text, tokens.last.end) is not None


def _function(tokens: Tokens) -> tuple[Statement, ...]:
    """``function() { statements }``, as packages of R write models."""
    while tokens.peek().text != "{":
        tokens.take()
    return _model(tokens)


def _model(tokens: Tokens, advice: str = "") -> tuple[Statement, ...]:
    """The statements of a model: at least one."""
    statements = _body(tokens, advice)
    if not statements:
        raise tokens.wrong(tokens.last, "a statement", "a model says how something is distributed")
    return statements


def _body(tokens: Tokens, advice: str) -> tuple[Statement, ...]:
    """Statements in braces, parted by new lines or semicolons."""
    tokens.open("{", advice)
    found = []
    while tokens.peek().text != "}":
        if tokens.accept(";") is None:
            found.append(_statement(tokens))
    tokens.close()
    return tuple(found)


def _statement(tokens: Tokens) -> Statement:
    """The next statement: a loop, or a line with ``~`` or ``<-``."""
    head, following = tokens.peek(), tokens.peek_further()
    if head.text == "for":
        return _loop(tokens)
    if following.text not in _AFTER_A_TARGET:
        _check_start(tokens, head)
    if head.kind != "name" or (head.text in BLOCKS and following.text == "{"):
        tokens.close("a statement or ")
    made = _linked(tokens) if following.text == "(" else _plain(tokens)
    check_depth(tokens, expressions_of(made))
    return made


def _check_start(tokens: Tokens, head: Token) -> None:
    """Raise at a word of another language, or at a token left over after an expression."""
    if advice := {**WORDS, **DECLARING}.get(head.text):
        raise tokens.wrong(head, "a statement", advice)
    last = tokens.last
    ends_a_value = last.kind in ("name", "number") or last.text in (")", "]")
    if ends_a_value and last.at.line == head.at.line and head.kind != "end":
        advice = "no bracket of its kind is open" if head.text in (")", "]") else ""
        raise tokens.wrong(head, "an operator, ; or a new line", advice)


def _plain(tokens: Tokens) -> Statement:
    """``x ~ dnorm(mu, tau)`` or ``x <- value``."""
    target = read_reference(tokens)
    advice = "a line gives a variable its distribution or its value"
    if tokens.accept("<-", "="):
        return Assignment(target, None, read_expression(tokens), target.at)
    if tokens.accept("~") is None:
        raise tokens.wrong(tokens.peek(), "~ or <-", advice)
    if tokens.peek().text in RESTRICTIONS and tokens.peek_further().text == "(":
        raise tokens.wrong(tokens.peek(), "a distribution", RESTRICTIONS[tokens.peek().text])
    distribution = read_call(tokens, "a distribution, such as dnorm(mu, tau)")
    restriction = _restriction(tokens)
    if (after := tokens.peek()).text in (*BINARY, "["):
        told = "a distribution stands alone; what is computed from x has its own line, y <- x + 1"
        raise tokens.wrong(after, "the end of the statement", told)
    return Stochastic(target, distribution, restriction, target.at)


def _linked(tokens: Tokens) -> Assignment:
    """``log(x) <- value``."""
    link = tokens.name("a statement")
    if advice := NO_FUNCTIONS.get(link.text):
        raise tokens.wrong(link, "a statement", advice)
    tokens.open("(")
    target = read_reference(tokens, "a link is of one variable, log(x[i]) <- value")
    tokens.close(advice="a link is of one variable, log(x[i]) <- value")
    if link.text not in LINKS:
        names = f"{', '.join(LINKS[:-1])} or {LINKS[-1]}"
        told = "only these links may stand on the left; write x <- with the inverse of the function"
        raise tokens.wrong(link, f"a variable, or {names}", told)
    if tokens.accept("<-", "=") is None:
        told = "a variable has a distribution: write x ~ dlnorm(m, t) for log(x) ~ dnorm(m, t)"
        raise tokens.wrong(tokens.peek(), "<-", told if tokens.peek().text == "~" else "")
    return Assignment(target, link.text, read_expression(tokens), link.at)


def _restriction(tokens: Tokens) -> Restriction | None:
    """The bounds after a distribution, if there are any."""
    kind = tokens.peek()
    if kind.text not in RESTRICTIONS or tokens.peek_further().text != "(":
        return None
    tokens.take()
    tokens.open("(")
    lower = None if tokens.peek().text == "," else read_expression(tokens)
    tokens.expect(",", f"there are two bounds, each of which may be left empty, {kind.text}(0, )")
    upper = None if tokens.peek().text == ")" else read_expression(tokens)
    tokens.close("an operator or ")
    letter = cast("Literal['T', 'I', 'C']", kind.text)
    return Restriction(letter, lower, upper, kind.at)


def _loop(tokens: Tokens) -> Loop:
    """``for (i in values) { statements }``."""
    head = tokens.take()
    form = "a loop is for (i in 1:N) { }"
    tokens.open("(", form)
    counter = tokens.name("a name", form)
    if tokens.peek().text != "in":
        raise tokens.wrong(tokens.peek(), "in", form)
    tokens.take()
    values = read_expression(tokens)
    check_depth(tokens, (values,))
    tokens.close("an operator or ")
    return Loop(counter.text, values, _body(tokens, form), head.at)
