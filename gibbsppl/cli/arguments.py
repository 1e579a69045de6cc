"""Arguments of the command line, read from their texts.

Comes in: a text as it was typed. Goes out: names, numbers, kernels; an error that says what was
found and expected.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gibbsppl.errors import CompileError, did_you_mean

# What --kernel takes, and the names in gibbsppl.kernels.
KERNELS = {
    "slice": "Slice",
    "elliptical-slice": "EllipticalSlice",
    "random-walk": "RandomWalk",
    "nuts": "NUTS",
    "hmc": "HMC",
    "adaptive-rejection": "AdaptiveRejection",
    "over-relaxed": "OverRelaxed",
    "swap": "Swap",
    "exact": "Exact",
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


def kernel_of(text: str) -> tuple[tuple[str, ...], str]:
    """The variables that a kernel moves, one or several together, and the name of the kernel.

    >>> kernel_of("mu=slice"), kernel_of("a, b=nuts")
    ((('mu',), 'slice'), (('a', 'b'), 'nuts'))
    """
    before, _, after = text.rpartition("=")
    names, kernel = names_of(before), after.strip()
    if not all(names) or kernel not in KERNELS:
        expected = ", ".join(KERNELS)
        raise argparse.ArgumentTypeError(
            f"found {text!r}, expected a variable, =, and one of {expected}; several variables may "
            f"be moved together: a,b=nuts.{did_you_mean(kernel, KERNELS)}"
        )
    return names, kernel


def kernels_by_variable(
    asked: Sequence[tuple[tuple[str, ...], str]],
) -> dict[str | tuple[str, ...], str]:
    """The names of kernels by variable, or by several that are moved together."""
    every = [name for names, _ in asked for name in names]
    for name in every:
        if every.count(name) > 1:
            raise CompileError(
                f"--kernel: found {name!r} {every.count(name)} times, expected each variable once."
            )
    return {names if len(names) > 1 else names[0]: kernel for names, kernel in asked}


def count_of(text: str) -> int:
    """A whole number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number, 0 or more")
    return int(text)
