"""Asking the memory for what is needed soon: it changes when data arrive, never what is computed."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def touch(typing_context, array, index):
    """Start loading the cache line of a C-ordered array's entry with this index, row after row, without waiting."""

    def codegen(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
        shape = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        builder.call(function, [address, word(0), word(3), word(1)])  # to read; keep; data, not code
        return context.get_dummy_value()

    return types.void(array, index), codegen
