"""Arguments of the command line, read from their texts.

Comes in: a text as it was typed. Goes out: names, numbers, kernels; an error that says what was
found and expected.
"""

from __future__ import annotations

import argparse

# What --kernel takes, and the names in gibbsppl.kernels.
KERNELS = {
    "slice": "Slice",
    "elliptical-slice": "EllipticalSlice",
    "random-walk": "RandomWalk",
    "adaptive-rejection": "AdaptiveRejection",
    "over-relaxed": "OverRelaxed",
    "swap": "Swap",
}


def names_of(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(name.strip() for name in text.split(","))


def rates_of(text: str) -> dict[str, int]:
    """Names with commas between them, and for each of how many draws one is recorded.

    >>> rates_of("theta,z:10")
    {'theta': 1, 'z': 10}
    """
    found = {}
    for one in text.split(","):
        name, colon, every = one.rpartition(":")
        if colon and not (every.strip().isdecimal() and int(every)):
            raise argparse.ArgumentTypeError(
                f"found {one!r}, expected a name, or with a whole number from 1 on as in z:10"
            )
        found[(name if colon else every).strip()] = int(every) if colon else 1
    return found


def kernel_of(text: str) -> tuple[str, str]:
    """A variable and the name of its kernel."""
    name, _, kernel = text.partition("=")
    if not name or kernel not in KERNELS:
        expected = ", ".join(KERNELS)
        raise argparse.ArgumentTypeError(
            f"found {text!r}, expected a variable, =, and one of {expected}"
        )
    return name, kernel


def count_of(text: str) -> int:
    """A whole number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number, 0 or more")
    return int(text)
