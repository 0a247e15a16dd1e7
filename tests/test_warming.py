"""After a warm-up nothing is left to compile."""

import importlib
import pkgutil

from novikoff import engine, warm_up
from novikoff.engine.jit import Kernel


def test_a_warm_up_compiles_every_kernel_and_says_how_long_each_part_took():
    named = []
    seconds = warm_up(named.append)
    assert list(seconds) == named
    assert all(spent >= 0 for spent in seconds.values())
    modules = [
        importlib.import_module(f"novikoff.engine.{found.name}") for found in pkgutil.iter_modules(engine.__path__)
    ]
    kernels = {value for module in modules for value in vars(module).values() if isinstance(value, Kernel)}
    assert {kernel.__name__ for kernel in kernels if not kernel.compiled.signatures} <= {"nearest"}  # a part of parse
