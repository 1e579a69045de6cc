"""The state of a parser: the tokens still to be read, and the open brackets.

>>> from gibbsppl.bugs.sources import Source
>>> tokens = Tokens(Source("x <- (1)", "text"))
>>> tokens.take().text, tokens.peek().text, tokens.accept("<-").text
('x', '<-', '<-')
>>> tokens.open("("), tokens.take().text, tokens.close(), tokens.peek().kind
(None, '1', None, 'end')
"""

from __future__ import annotations

from collections.abc import Iterator

from gibbsppl.bugs.lexer import Token, tokens_of
from gibbsppl.bugs.sources import Source
from gibbsppl.bugs.spellings import MISPLACED
from gibbsppl.bugs.syntax import NOWHERE, BugsError

# Brackets and loops may be inside one another to this depth. A parser makes at most five calls for
# each, so that Python's own limit (1000 calls) is not met.
DEEPEST_NESTING = 100

CLOSING = {"(": ")", "[": "]", "{": "}"}
RESERVED = ("for", "in")


class Tokens:
    """The tokens of a text that have not been taken yet."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.last = Token("end", "", NOWHERE, 0)
        self._ahead: list[Token] = []
        self._rest: Iterator[Token] = tokens_of(source)
        self._open: list[Token] = []

    def peek(self) -> Token:
        """The next token; it is not taken."""
        if not self._ahead:
            self._ahead.append(next(self._rest, self.last))
        return self._ahead[0]

    def peek_further(self) -> Token:
        """The token after the next one."""
        head = self.peek()
        if len(self._ahead) == 1:
            self._ahead.append(next(self._rest, head))
        return self._ahead[1]

    def take(self) -> Token:
        """The next token."""
        self.last = self.peek()
        del self._ahead[0]
        return self.last

    def accept(self, *texts: str) -> Token | None:
        """Take the next token if its text is among these; else None, and nothing is taken."""
        return self.take() if self.peek().text in texts else None

    def expect(self, text: str, advice: str = "") -> Token:
        """The next token, which has to be this sign."""
        token = self.accept(text)
        if token is None:
            raise self.wrong(self.peek(), text, advice)
        return token

    def name(self, expected: str, advice: str = "") -> Token:
        """The next token, which has to be a name."""
        token = self.peek()
        if token.kind == "name" and token.text in RESERVED:
            raise self.wrong(token, expected, "for and in are words of the language, and no names")
        if token.kind != "name":
            raise self.wrong(token, expected, advice)
        return self.take()

    def open(self, text: str, advice: str = "") -> None:
        """Take an opening bracket."""
        token = self.expect(text, advice)
        if len(self._open) == DEEPEST_NESTING:
            raise self.source.error(
                token.at,
                f"found {token} inside {DEEPEST_NESTING} brackets, expected no more than that: "
                "give inner parts names of their own, part <- ...",
            )
        self._open.append(token)

    def close(self, instead: str = "", advice: str = "") -> None:
        """Take the bracket that closes the last one opened; ``instead`` might have stood there."""
        opening = self._open[-1]
        closing = CLOSING[opening.text]
        if self.accept(closing) is None:
            where = f"line {opening.at.line}, column {opening.at.column}"
            expected = f"{instead}{closing} for the {opening.text} in {where}"
            raise self.wrong(self.peek(), expected, advice)
        self._open.pop()

    def wrong(self, token: Token, expected: str, advice: str = "") -> BugsError:
        """The error for a token in the wrong place."""
        advice = advice or MISPLACED.get(token.text, "")
        told = f": {advice}" if advice else ""
        return self.source.error(token.at, f"found {token}, expected {expected}{told}.")
