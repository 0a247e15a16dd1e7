"""Loads and uses what mutants of a header make of a model file, as a program of its own: its memory is limited.

`python -m tests.keep.fuzz NAME MOST MB` prints, of the golden file NAME, how many mutants were refused and how many
worked. It fails at the first that takes more memory than MB beyond what the whole file takes; the last line of what it
wrote to standard error says which.
"""

import contextlib
import copy
import json
import resource
import sys
import warnings
from pathlib import Path

import numpy as np

from novikoff.keep import layout, models
from novikoff.keep.parameters import FunctionError
from novikoff.keep.values import decode
from tests.keep.test_every_field import use
from tests.keep.test_hostile_files import FUNCTIONS, GOLDEN_FOLDER
from tests.mutants import mutants

# What no mutant of a small value asks for by itself.
LARGE = [2**40, 2**62, {"scalar": ["bytes_", 10**9]}, {"array": {"type": "<U60000000", "shape": [1], "values": ["a"]}}]


def large(header, path=()):
    """The header with a large number, or what asks for a large array, in the place of each field in turn."""
    inside = list(header.items()) if isinstance(header, dict) else list(enumerate(header[:2]))
    for key, value in inside:
        for other in LARGE:
            yield f"{(*path, key)}: {other}", key, other
        if isinstance(value, dict | list):
            yield from ((what, key, (inner, other)) for what, inner, other in large(value, (*path, key)))


def replaced(tree, key, other):
    tree = copy.copy(tree)
    tree[key] = replaced(tree[key], *other) if isinstance(other, tuple) else other
    return tree


def headers(header, most):
    text = json.dumps({name: value for name, value in header.items() if name not in ("sha256", "transposed", "format")})
    kept = {name: header[name] for name in ("sha256", "transposed", "format")}
    for what, mutant in mutants(text, words=("vote", "sparse", "recent", "last"), most=most):
        try:
            other = layout.strict_json.parse(mutant)
        except ValueError:
            continue
        if isinstance(other, dict):
            yield what, {**kept, **other}
    for what, key, other in large(header):
        if key not in kept:
            yield what, replaced(header, key, other)


def main(name, most, megabytes):
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    path, functions = GOLDEN_FOLDER / f"{name}.novikoff", FUNCTIONS if name.startswith("structured") else {}
    inputs = decode(json.loads((GOLDEN_FOLDER / f"{name}.json").read_text())["inputs"])
    whole = layout.read(path)
    use(models.load(path, **functions), inputs)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (megabytes << 20),) * 2)
    refused = worked = 0
    for what, header in headers(whole.header, most):
        sys.stderr.write(f"{what:.200}\n")
        models.read = lambda _, header=header: layout.FileParts(header, {n: a.copy() for n, a in whole.arrays.items()})
        try:
            model = models.load(path, **functions)
        except (layout.ModelFileError, FunctionError):
            refused += 1
            continue
        with contextlib.suppress(ValueError, TypeError, LookupError):  # it may refuse these inputs
            use(model, inputs)
        worked += 1
    sys.stdout.write(json.dumps({"refused": refused, "worked": worked}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
