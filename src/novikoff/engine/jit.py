"""Kernels: when a loop is interpreted, when it is compiled, and when a cached kernel is valid.

*When.* A kernel is a Python function, which Python can run as it is. Numba makes it a hundred times faster, but takes
a second to load, and more to compile a kernel for the first time. So small work is interpreted, until `PATIENCE`
numbers were processed in all, which takes less time than loading Numba would. Nothing else depends on it: both ways
return the same bits, which is one of the laws (`tests/laws`). Once Numba is loaded, a kernel in its cache is used for
any amount of work: loading it takes some milliseconds. Each of the others is interpreted until it has processed
`OWN_PATIENCE` numbers, so that only loops with much to do are compiled.

*What.* `jit` makes a kernel of a function that is called from outside. What kernels call is a `part` of them, or, where
dense and sparse rows differ, two loops `by_layout`.

*Which.* Numba caches compiled kernels on disk, and invalidates those of a file that has changed; but a kernel also
contains the functions that it calls in other files, which Numba does not check. Here a cached kernel is valid only if
no file of the engine has changed since, so kernels may share code. *Where* the cache is, Numba decides: beside the
source, in the user's cache where the source is read-only or in a zip archive, or in `NUMBA_CACHE_DIR`. If none can be
written, every process compiles its own.
"""

import enum
import functools
import hashlib
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from importlib import resources
from typing import Any, cast

import numpy as np

from novikoff.engine.clock import announce, paused, watchers, wipe_announcement

# How many numbers are processed in plain Python before it pays to load Numba: about a quarter of a second.
PATIENCE = 1_000_000

# And how many by each kernel from then on: takes less time than compiling a small one.
OWN_PATIENCE = 200_000

_patience: float = PATIENCE
_lock = threading.RLock()
_to_register: list[Callable[[], None]] = []


class Size(enum.Enum):
    """How to run a call whose loops round differently when compiled."""

    SMALL = "interpreted"
    LIGHT = "compiled, if Numba is loaded and its cache has the kernel"
    MEDIUM = "compiled, if Numba's cache has the kernel"
    LARGE = "compiled"


def jit(
    function: Callable[..., Any] | None = None,
    *,
    work: Callable[..., float] | None = None,
    size: Callable[..., Size] | None = None,
    allocates: bool = False,
) -> Any:
    """Make a kernel of a function: once compiled, it releases the GIL and is cached on disk.

    `work` returns, from the arguments, how many numbers a call processes; by default as many as its arrays have.
    Where Python and compiled loops round differently, the choice depends on the `size` of the arguments, and on what
    the cache had at the first call: so the same arguments have the same result in one process.
    Numba's reference counts of arrays take as long as a short row at every call, and much compilation. Only kernels
    that create arrays (`allocates`) need them.

    >>> @jit
    ... def add_up(x):
    ...     total = 0.0
    ...     for value in x:
    ...         total += value
    ...     return total
    >>> float(add_up(np.array([1.0, 2.0])))
    3.0
    """
    if function is None:
        return lambda function: jit(function, work=work, size=size, allocates=allocates)
    return functools.update_wrapper(Kernel(function, work or _numbers, size, allocates), function)


class Kernel:
    """A loop that is interpreted while there is little work, and compiled from then on."""

    def __init__(
        self,
        function: Callable[..., Any],
        work: Callable[..., float],
        size: Callable[..., Size] | None,
        allocates: bool,
    ) -> None:
        self.function, self.work, self.size, self.allocates = function, work, size, allocates
        self._kept: dict[Any, bool] = {}  # whether the cache has it, by the types of the arguments
        self._was_there = {Size.SMALL: False, Size.LARGE: True}
        self._own_patience: float = OWN_PATIENCE

    def __call__(self, *arguments: Any) -> Any:
        if self.size is None:
            is_small = not self._is_used(arguments) and self._is_small(self.work(*arguments))
        else:
            is_small = self._was_missing(self.size(*arguments), arguments)
        return self._interpreted(*arguments) if is_small else self.compiled(*arguments)

    def for_parts(self, work: float) -> Callable[..., Any]:
        """Return the function to call for every part of some work."""
        if self.size is None and (_patience == math.inf or not self.is_loaded) and self._is_small(work):
            return lambda *arguments: (self.compiled if self._is_used(arguments) else self._interpreted)(*arguments)
        return self.compiled

    def _is_used(self, arguments: tuple[Any, ...]) -> bool:
        """Whether it is compiled already, here or, once Numba is loaded, in its cache."""
        if _patience == math.inf:
            return False
        return self.is_loaded or (_loaded.cache_info().currsize > 0 and self._is_kept(arguments))

    def _was_missing(self, size: Size, arguments: tuple[Any, ...]) -> bool:
        """Whether no compiled kernel existed when a call of this size was first made."""
        if size not in self._was_there:
            if _patience in (0, math.inf):
                return _patience == math.inf
            self._was_there[size] = self._is_used(arguments) or (size is Size.MEDIUM and self._is_kept(arguments))
        return not self._was_there[size]

    def _is_small(self, work: float) -> bool:
        """Whether there is patience for this much work; if so, it is spent."""
        global _patience
        if work <= _patience < math.inf:
            _patience -= work
            return True
        if work > self._own_patience or _patience in (0, math.inf):
            return _patience == math.inf and work < math.inf
        self._own_patience -= work
        return True

    def _is_kept(self, arguments: tuple[Any, ...]) -> bool:
        """Whether Numba's cache has it for arguments of this kind."""
        kind = tuple(map(self.compiled.typeof_pyval, arguments))
        if kind not in self._kept:
            cache = self.compiled._cache
            key = getattr(cache, "_index_key", lambda *_: None)(kind, self.compiled.targetctx.codegen())
            self._kept[kind] = key is not None and key in cache._cache_file._load_index()
        return self._kept[kind]

    def _interpreted(self, *arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return self.function(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """Numba's dispatcher, which compiles the kernel for every new combination of argument types."""
        with _lock, paused():
            return _loaded()(self.function, self.allocates)

    @property
    def is_loaded(self) -> bool:
        """Whether it was compiled, or loaded from the cache, for arguments of any kind."""
        return "compiled" in self.__dict__ and bool(self.compiled.overloads)

    @property
    def _numba_type_(self) -> Any:
        """The type of a kernel when another one calls it."""
        return self.compiled._numba_type_


def part(
    function: Callable[..., Any] | None = None,
    *,
    loops: Callable[..., Any] | None = None,
    allocates: bool = False,
    **options: Any,
) -> Any:
    """Let kernels call a function. Python runs it unchanged; if there are `loops`, they are compiled instead."""
    if function is None:
        return lambda function: part(function, loops=loops, allocates=allocates, **options)
    _compile_calls(function, lambda *arguments: loops or function, allocates, options)
    return function


def by_layout(
    dense: Callable[..., Any],
    sparse: Callable[..., Any],
    what: str,
    *,
    allocates: bool = False,
    **options: Any,
) -> Any:
    """Make a function of two loops; kernels use one by the layout of their rows: a matrix, or a CSR triple."""

    def either(X: Any, *arguments: Any) -> Any:
        return (sparse if isinstance(X, tuple) else dense)(X, *arguments)

    _compile_calls(either, lambda X, *arguments: dense if hasattr(X, "dtype") else sparse, allocates, options)
    either.__doc__ = what
    return either


def _compile_calls(
    function: Callable[..., Any], loops: Callable[..., Any], allocates: bool, options: dict[str, Any]
) -> None:
    """Once Numba is loaded, let it compile calls of a function: `loops` chooses what, by the types of arguments."""

    def register() -> None:
        from numba.extending import overload

        how = {"_nrt": allocates, "no_cfunc_wrapper": True, "pipeline_class": _part_compiler(), **options}
        overload(function, jit_options=cast(Any, how), strict=False)(loops)

    _to_register.append(register)


@contextmanager
def patience(numbers: float) -> Iterator[None]:
    """Set the patience in a block: with 0, everything is compiled; with infinity, nothing."""
    global _patience
    before, _patience = _patience, numbers
    try:
        yield
    finally:
        _patience = before


def _numbers(*arguments: Any) -> int:
    """Return how many numbers the arrays among the arguments have."""
    return sum(_numbers(*one) if isinstance(one, tuple) else getattr(one, "size", 0) for one in arguments)


@cache
def engine_stamp() -> str:
    """Return a hash of all files of the engine, their names and their contents."""
    stamp = hashlib.sha256()
    files = (file for file in resources.files("novikoff.engine").iterdir() if file.name.endswith(".py"))
    for file in sorted(files, key=lambda file: file.name):
        content = file.read_bytes()
        stamp.update(f"{file.name} {len(content)} ".encode() + content)
    return stamp.hexdigest()


def _register_all() -> None:
    """Register with Numba all parts that were defined since the last time."""
    with _lock:
        while _to_register:
            _to_register.pop()()


@cache
def _part_compiler() -> Any:
    """Return a compiler for parts, which are linked into kernels, and only there made machine code.

    Numba would do so for every part as well, and never use the result. It would also optimise all of them, once more in
    every part that calls them; here only loops that call nothing are, such as the product of a row. It relies on how
    Numba 0.61 to 0.68 link libraries, which is no public interface.
    """
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    class PartLibrary(JITCodeLibrary):
        def finalize(self) -> None:
            for library in dict.fromkeys(self._linking_libraries):
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            if not self._linking_libraries:
                self._optimize_final_module()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            return 0

        @property
        def codegen(self) -> "PartLibrary":
            return self

        def set_env(self, name: str, environment: Any) -> None:
            """Nothing to do: parts have no Python objects."""

    class PartCompiler(Compiler):
        def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
            super().__init__(typing, target, library or PartLibrary(target.codegen(), "part"), *rest)

    return PartCompiler


@cache
def _loaded() -> Callable[[Callable[..., Any], bool], Any]:
    """Load Numba; return what compiles a function with it, and caches it on disk."""
    from numba import njit
    from numba.core import event
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

    class Stamped(CompileResultCacheImpl):
        """The cache of a kernel, under a stamp that changes with any file of the engine."""

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            of_this_file = self._locator.get_source_stamp
            self._locator.get_source_stamp = lambda: (of_this_file(), engine_stamp())

    class Index(IndexDataCacheFile):
        """The index of a kernel's cache. It contains pickled types, which may not exist in another version."""

        def _load_index(self) -> Any:
            try:
                return super()._load_index()
            except Exception:
                return {}

    class EngineCache(FunctionCache):
        _impl_class = Stamped

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            stamp = self._impl.locator.get_source_stamp()
            self._cache_file = Index(self._cache_path, self._impl.filename_base, stamp)

    class Watched(event.Listener):
        """Notifies the watchers of kernels being compiled."""

        def __init__(self) -> None:
            self.depth = 0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            function = event.data["dispatcher"].py_func
            if function.__module__.startswith(__package__):
                for watcher in tuple(watchers) or (announce,):
                    watcher(function.__name__)

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                wipe_announcement()

    event.register("numba:compile", Watched())

    def load(function: Callable[..., Any], allocates: bool) -> Any:
        options: Any = {"nogil": True, "_nrt": allocates, "no_cfunc_wrapper": True}
        dispatcher: Any = njit(**options)(function)
        with suppress(RuntimeError):  # no cache can be written, and the kernel works without
            dispatcher._cache = EngineCache(function)
        compile_it = dispatcher.compile

        def compile_while_the_clock_stands(signature: Any) -> Any:
            with paused():
                _register_all()
                return compile_it(signature)

        dispatcher.compile = compile_while_the_clock_stands
        return dispatcher

    return load
