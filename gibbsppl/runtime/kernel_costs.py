"""Costs of calls of kernels: a row for each that takes longer than a draw from a family.

The figures are CPU seconds of one machine, that of ``tests/benchmarks/RESULTS.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a call of a kernel in NumPy, and the saving of loops for each number it reads.

    ``many``: for a call that draws many elements together, if that is another algorithm.
    """

    call: float
    number: float = 0.0
    many: float = 0.0


# Kernels that take longer than a draw from a family: those of labels, those that ask for a log
# density (several times), and families drawn by rejection, in NumPy for many elements together.
COSTS: Mapping[str, Cost] = {
    "labels": Cost(15e-6, 12e-9),
    "labels_of_block": Cost(15e-6, 12e-9),
    "label_in_buckets": Cost(15e-6),  # (NumPy weighs all labels, in loops of its own)
    "chain": Cost(300e-6, 80e-9),
    "chain_by_step": Cost(300e-6, 80e-9),
    "probabilities": Cost(30e-6, 12e-9),
    "likeliest": Cost(15e-6, 2e-9),
    "chain_probabilities": Cost(400e-6, 1e-6),
    "likeliest_chain": Cost(300e-6, 0.1e-6),
    **dict.fromkeys(("averaged_blocks", "averaged_band", "averaged_sparse"), Cost(150e-6)),
    "concave": Cost(80e-6, many=1.8e-3),
    "slice": Cost(15e-6, many=0.2e-3),
    "slice_whole": Cost(15e-6, many=0.2e-3),
    # (the rows that a path works in are numbers, too: 7 of each element, and of NUTS about 30 more)
    "nuts": Cost(0.15e-3, 2e-6),
    "hmc": Cost(0.1e-3, 3e-6),
    "polya_gamma": Cost(0.1e-3, 0.3e-6, many=0.2e-3),
    "generalized_inverse_gaussian": Cost(16e-6, 0.6e-6, many=0.42e-3),
    "modified_half_normal": Cost(16e-6, 0.5e-6, many=0.42e-3),
    "truncated_gamma": Cost(11e-6, 0.3e-6, many=0.31e-3),
    "truncated_normal": Cost(3e-6, 75e-9, many=73e-6),
    "wishart": Cost(65e-6),
}


@dataclass(frozen=True, slots=True)
class Time:
    """The seconds of a draw in loops: a part of its own, and by sizes that it depends on."""

    draw: float
    by_size: tuple[float, ...]

    def seconds(self, *sizes: float) -> float:
        """The time of a draw for sizes."""
        return self.draw + sum(s * n for s, n in zip(self.by_size, sizes, strict=True))


# Draws of one label of a scan: all labels are weighed; or by buckets, of so many labels that are
# listed, of a tree of so many levels, and of labels that are weighed when a group comes.
DENSE_SCAN = Time(10e-9, (0.75e-9,))
SPARSE_SCAN = Time(60e-9, (1.5e-9, 3e-9, 2e-9))
