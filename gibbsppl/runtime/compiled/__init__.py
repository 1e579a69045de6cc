"""The kernels of `gibbsppl.runtime.loops`, compiled: the same files, loaded once more.

What is compiled is kept by Numba for the next process.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload_attribute, overload_method
from numba.np.random import generator_methods

from gibbsppl.runtime import loops
from gibbsppl.runtime.loops import WHOLE as WHOLE

__path__ = loops.__path__

# What Python calls: what makes arrays, and what makes none, for which references need no counting.
# (Numba would hand what is said of one on to what it calls, if nothing is said there.)
making = partial(
    njit, cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=True
)
entry = partial(making, _nrt=False)


def kernel(function: Any, **options: Any) -> Any:
    """A kernel: without wrappers for Python, and once for all whole numbers written in calls.

    (The type of a number in a text says which number it is, so that each would be compiled for.)
    """
    made: Any = making(function, no_cpython_wrapper=True, **options)
    template, unliteral = made.get_call_template, cast("Any", types.unliteral)

    def for_any(arguments: Any, named: Any) -> Any:
        named = {n: unliteral(a) for n, a in named.items()}
        return template(tuple(map(unliteral, arguments)), named)

    made.get_call_template = for_any
    return made


# (a call costs more than a short kernel, whose arrays are known where it is called)
inlined = partial(kernel, inline="always")


# The methods of generators that kernels call.
METHODS = (
    *("random", "uniform", "standard_normal", "standard_exponential", "standard_gamma"),
    *("standard_cauchy", "laplace", "beta", "binomial", "poisson", "negative_binomial", "integers"),
)


@overload_attribute(types.NumPyRandomBitGeneratorType, "bit_generator")
def _bit_generator(bits: Any) -> Any:
    """A bit generator's own: it has the methods of a generator, which read this of it."""
    del bits

    def own(bits: Any) -> Any:
        return bits

    return own


for _method in METHODS:
    _written = getattr(generator_methods, f"NumPyRandomGeneratorType_{_method}")
    overload_method(types.NumPyRandomBitGeneratorType, _method)(_written)


@kernel
def stream_of(rng: Any) -> Any:
    """The bit generator of a generator: each call that is passed one of these counts references."""
    return rng.bit_generator


@intrinsic
def _of_bits(context: Any, bits: Any) -> Any:
    """The number that has these bits."""
    del context

    def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(bits), written


@intrinsic
def _bits_of(context: Any, number: Any) -> Any:
    """The bits of a number."""
    del context

    def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(number), written


@intrinsic
def _prefetched(context: Any, array: Any, place: Any) -> Any:
    """Nothing; the element at a place of a vector is asked for, to be read and written soon."""
    del context, place

    def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(found.data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        name = "llvm.prefetch.p0"
        asked = cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
        # (to be written, kept in all caches, data)
        builder.call(asked, [address, whole(1), whole(3), whole(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), written


@kernel
def where(condition: bool, value: float, other: float) -> float:
    """One of two numbers."""
    return value if condition else other


@kernel
def any_of(condition: bool) -> bool:
    """Whether a condition holds."""
    return condition


@kernel
def fetch(array: Any, place: int) -> None:
    """An element of a vector begins to come into the cache of the processor."""
    _prefetched(array, place)  # type: ignore[call-arg]  # Numba has the context


@kernel
def power_of_shifted(shifted: float) -> float:
    """Two to the power of a whole number plus `WHOLE`: its last bits become those of the exponent.

    (Of a whole number of 64 bits, 52 of them shifted, the exponent's are left.)
    """
    bits: int = _bits_of(shifted)  # type: ignore[call-arg]  # Numba has the context
    found: float = _of_bits((bits + 1023) << 52)
    return found
