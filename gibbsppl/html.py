"""The blocks of HTML that notebooks show: tables, texts, notes; in light and in dark.

Everything is escaped but what is `Html`, which only this module and markup make. Styles stand at
the elements; colours are those of the text around, made fainter.

>>> table(("variable", "mean"), [("a < b", "1.0")], numbers=[1]).count("a &lt; b")
1
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape

FONT = "font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
CELL = "padding:0.25em 0.8em;vertical-align:top;border:none;background:none"
HEAD = f"{CELL};font-weight:600;border-bottom:1px solid currentColor"
LINE = "border-top:1px solid rgba(128,128,128,0.25)"
TABLE = "border-collapse:collapse;margin:0.4em 0;color:inherit;border:none"
# Beside text of any colour on a light and on a dark background.
MARKED = {"bad": "color:#d9480f;font-weight:600", "good": "color:#2f9e44", "faint": "opacity:0.65"}


class Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def escaped(text: str) -> Html:
    """A text as HTML shows it; HTML stays as it is."""
    return text if isinstance(text, Html) else Html(escape(str(text)))


def block(tag: str, *inside: str, style: str = "", columns: int = 1) -> Html:
    """An element with what is inside of it.

    >>> block("b", "a & b")
    '<b>a &amp; b</b>'
    """
    given = f' style="{escape(style)}"' if style else ""
    given += f' colspan="{columns}"' if columns > 1 else ""
    return Html(f"<{tag}{given}>{''.join(map(escaped, inside))}</{tag}>")


def marked(text: str, how: str) -> Html:
    """A text that stands out: ``"bad"``, ``"good"``, or steps back: ``"faint"``."""
    return block("span", text, style=MARKED[how])


def code(text: str) -> Html:
    """A short text in the model's own notation, with its line breaks."""
    return block("span", text, style=f"{FONT};font-size:0.92em;white-space:pre-wrap")


def text_block(text: str) -> Html:
    """A text with its lines and columns as they are."""
    bare = "background:none;color:inherit;border:none;padding:0;margin:0.4em 0"
    lines = "font-size:0.92em;line-height:1.35;white-space:pre;overflow-x:auto"
    return block("pre", text, style=f"{FONT};{lines};{bare}")


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Collection[int] = ()
) -> Html:
    """A table; columns of ``numbers`` stand at the right.

    The last cell of a row that has fewer than the header goes on to its end.
    """

    def cells(tag: str, style: str, row: Sequence[str]) -> list[Html]:
        found = []
        for n, cell in enumerate(row):
            more = len(header) - n if n == len(row) - 1 and len(row) < len(header) else 1
            side = "right" if n in numbers and more == 1 else "left"
            found.append(block(tag, cell, style=f"{style};text-align:{side}", columns=more))
        return found

    head = block("thead", block("tr", *cells("th", HEAD, header), style="background:none"))
    lines = [
        block("tr", *cells("td", CELL, row), style=f"background:none;{LINE if n else ''}")
        for n, row in enumerate(rows)
    ]
    return block("table", head, block("tbody", *lines), style=TABLE)


def notes(texts: Iterable[str]) -> Html:
    """Sentences below one another."""
    return Html("".join(block("p", text, style="margin:0.3em 0;max-width:48em") for text in texts))


def shown(title: str, *parts: str) -> Html:
    """A whole: a title and its parts; what is wider than the page is scrolled."""
    head = block("div", title, style="font-weight:600;margin:0.2em 0")
    return block("div", head, *parts, style="overflow-x:auto;line-height:1.45")


class Printed:
    r"""The page of a value that a notebook, or what is made of it in LaTeX, shows as it is printed.

    >>> class Answer(Printed):
    ...     def __str__(self): return "a < b"
    >>> "a &lt; b" in Answer()._repr_html_()
    True
    >>> print(Answer()._repr_latex_())
    \begin{verbatim}
    a < b
    \end{verbatim}
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return text_block(str(self))

    def _repr_latex_(self) -> str:
        # (nothing is escaped there, and nothing can be but the end of it)
        inside = str(self).replace("\\end{verbatim}", "\\end {verbatim}")
        return f"\\begin{{verbatim}}\n{inside}\n\\end{{verbatim}}"


class Text(Printed, str):
    """A text of several lines, which a notebook shows as such.

    >>> "a &lt; b" in Text("a < b")._repr_html_()
    True
    """

    __slots__ = ()

    def _repr_pretty_(self, printer: Printer, is_cycle: bool) -> None:
        """Write the lines on a terminal of IPython."""
        del is_cycle
        printer.text(str(self))


class Printer:
    """The printer that IPython gives."""

    def text(self, text: str) -> None:
        """Write a text."""
