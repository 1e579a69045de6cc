"""How wide a text is, without a font: the advance widths of DejaVu Sans, which few fonts exceed.

>>> width_of("mu", 10) < width_of("mu_beta", 10)
True
"""

from __future__ import annotations

import unicodedata

# In hundredths of the size of the font.
WIDTHS = {
    ch: width
    for width, characters in (
        (27, "'"), (28, "ijl"), (29, "IJ"), (32, " ,."), (34, "/:;\\|"), (35, "f"), (36, "-"),
        (39, "()[]t"), (40, "!"), (41, "r"), (46, '"'), (50, "*_`"), (52, "sz"), (53, "?"),
        (55, "c"), (56, "L"), (58, "Fk"), (59, "vxy"), (60, "P"), (61, "TYao"), (62, "e"),
        (63, "ESbdghnpqu"), (64, "$0123456789{}"), (66, "K"), (68, "AV"), (69, "BRXZ"), (70, "C"),
        (73, "U"), (75, "HN"), (77, "DG"), (78, "&"), (79, "OQ"), (82, "w"),
        (84, "#+<=>^~"), (86, "M"), (95, "%"), (97, "m"), (99, "W"), (100, "@"),
    )
    for ch in characters
}  # fmt: skip
# Letters of other alphabets, and those that fill a square.
OTHER, SQUARE = 80, 105


def width_of(text: str, size: float) -> float:
    """The width of a text in a font of a size, in the unit of the size.

    >>> width_of("Wi", 100)
    127.0
    """
    return size * sum(map(_width, text)) / 100


def _width(ch: str) -> int:
    if ch in WIDTHS:
        return WIDTHS[ch]
    if unicodedata.combining(ch):
        return 0
    return SQUARE if unicodedata.east_asian_width(ch) in ("W", "F") else OTHER
