"""Eight numbers at a time, which processors add and compare as quickly as one.

Compilers find by themselves where that can be done in a loop over a row, but only for its whole length, with the row
in the memory. Here a kernel says it, and eight sums or maxima stay in a register while row after row is looked at. In
Python they are an array; compiled, they are one vector, of two or four registers where the processor has none so long.
"""

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.jit import when_compiling


def eight(array: Any, index: Any) -> NDArray[np.float64]:
    """The eight numbers of a C-ordered array from this index on, row after row."""
    numbers: NDArray[np.float64] = array.reshape(-1)[index : index + 8].copy()
    return numbers


def put_eight(array: Any, index: Any, numbers: Any) -> None:
    """Put eight numbers into a C-ordered array, from this index on, row after row."""
    array.reshape(-1)[index : index + 8] = numbers


def eight_times(number: float) -> NDArray[np.float64]:
    """A number, eight times."""
    return np.full(8, number)


def larger(a: Any, b: Any) -> NDArray[np.float64]:
    """Place by place the larger of two numbers."""
    return np.where(a > b, a, b)


@when_compiling
def _register() -> None:
    from llvmlite import ir
    from numba import extending, types
    from numba.extending import models, overload, register_model

    intrinsic: Any = extending.intrinsic  # its functions are called without the typing context they are declared with

    class Eight(types.Type):
        """Eight float64."""

    kind, vector, place = Eight("Eight"), ir.VectorType(ir.DoubleType(), 8), ir.IntType(32)

    @register_model(Eight)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager: Any, numba_type: Any) -> None:
            super().__init__(manager, numba_type, vector)

    def address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.bitcast(builder.gep(view.data, [arguments[1]]), vector.as_pointer())

    def repeated(builder: Any, number: Any) -> Any:
        nothing = ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(nothing, number, place(0))
        return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(place, 8), [0] * 8))

    @intrinsic
    def load(typing_context: Any, array: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(address(context, builder, signature, arguments), align=8)

        return kind(array, index), codegen

    @intrinsic
    def store(typing_context: Any, array: Any, index: Any, numbers: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            builder.store(arguments[2], address(context, builder, signature, arguments), align=8)
            return context.get_dummy_value()

        return types.void(array, index, numbers), codegen

    @intrinsic
    def repeat(typing_context: Any, number: Any) -> Any:
        return kind(types.float64), lambda context, builder, signature, a: repeated(builder, a[0])

    @intrinsic
    def select(typing_context: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

        return kind(a, b), codegen

    @intrinsic
    def add(typing_context: Any, number: Any, numbers: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.fadd(repeated(builder, arguments[0]), arguments[1])

        return kind(types.float64, kind), codegen

    overload(eight)(lambda array, index: lambda array, index: load(array, index))
    overload(put_eight)(lambda array, index, numbers: lambda array, index, numbers: store(array, index, numbers))
    overload(eight_times)(lambda number: lambda number: repeat(number))
    overload(larger)(lambda a, b: lambda a, b: select(a, b))
    overload(operator.add)(lambda a, b: (lambda a, b: add(a, b)) if isinstance(b, Eight) else None)
