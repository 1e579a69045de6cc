"""Numbers that kernels of joint draws are given, in dims of the model: blocks and borders.

Comes in: a `Joint` and the dims of its arrays. Goes out: for the arguments of the kernel that are
one number, by their place, the dims along which there are as many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.runtime.factors import Band, BlockDiagonal
from gibbsppl.runtime.joint import Joint

# Products of dims that are added up.
Sums = tuple[tuple[str, ...], ...]

# The places of arguments: the number and the order of blocks, the size of the border.
BLOCKS, ORDERS, BORDER_OF_BLOCKS, BORDER_OF_BAND, BORDER_OF_SPARSE = 2, 3, 4, 3, 7


def numbers_in_dims(joint: Joint, dims: Mapping[str, Sequence[Dim]]) -> dict[int, Sums]:
    """The dims of equal blocks and of their elements; those of a border of whole arrays."""
    border = set(map(int, joint.layout.border))
    beside = [n for n, *_, start, stop in joint.places if border & {start, stop - 1}]
    inside = [n for n in joint.arrays if n not in beside]
    of_border = tuple(_names(dims[n]) for n in beside)
    match joint.storage:
        case Band():
            return {BORDER_OF_BAND: of_border}
        case BlockDiagonal(shapes=((count, order),)) if inside:
            common = [d for d in dims[inside[0]] if all(d in dims[n] for n in inside)]
            along = [d for d in common if _is_common(joint, dims, inside, d, (count, order))]
            within = tuple(_names([d for d in dims[n] if d not in along]) for n in inside)
            return {BLOCKS: (_names(along),), ORDERS: within, BORDER_OF_BLOCKS: of_border}
        case BlockDiagonal():
            return {BORDER_OF_BLOCKS: of_border}
    return {BORDER_OF_SPARSE: of_border}


def _names(dims: Sequence[Dim]) -> tuple[str, ...]:
    return tuple(d.name for d in dims)


def _is_common(
    joint: Joint,
    dims: Mapping[str, Sequence[Dim]],
    inside: Sequence[str],
    dim: Dim,
    shape: tuple[int, int],
) -> bool:
    """Whether all elements of a block, of so many blocks of an order, are at one position."""
    positions = np.full(joint.size, -1)
    for name, sizes, free, start, stop in joint.places:
        if name in inside:
            along = np.indices(sizes)[list(dims[name]).index(dim)].reshape(-1)
            positions[start:stop] = along if free is None else along[free]
    blocks = positions[joint.order[: shape[0] * shape[1]]].reshape(shape)
    return bool((blocks == blocks[:, :1]).all())
