"""Asking the memory for what is needed soon: it changes when data arrive, never what is computed."""

from typing import Any

from novikoff.engine.jit import when_compiling


def touch(array: Any, index: Any) -> None:
    """Start loading the cache line of a C-ordered array's entry with this index, row after row, without waiting."""


def touch_early(array: Any, index: Any) -> None:
    """As `touch`, but no nearer than the second cache: for much that is needed later.

    The first cache can wait for a few lines only. Many that are needed later would hold up those that are needed now.
    """


@when_compiling
def _register() -> None:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload

    def loading(nearness: int) -> Any:
        @intrinsic
        def load(typing_context: Any, array: Any, index: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                view = context.make_array(signature.args[0])(context, builder, arguments[0])
                byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
                address = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
                shape = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
                function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
                builder.call(function, [address, word(0), word(nearness), word(1)])  # to read; data, not code
                return context.get_dummy_value()

            return types.void(array, index), codegen

        return load

    first, second = loading(3), loading(2)
    overload(touch)(lambda array, index: lambda array, index: first(array, index))
    overload(touch_early)(lambda array, index: lambda array, index: second(array, index))
