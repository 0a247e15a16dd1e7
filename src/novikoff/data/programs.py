"""Linear programs in files: MPS, and NumPy's .npz with the arguments of SciPy's linprog."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

NAMES = ("c", "A_ub", "b_ub", "A_eq", "b_eq", "bounds")


@dataclass(frozen=True)
class LinearProgram:
    """A program as `linprog` takes it, the names of its variables, and what the file's objective is made of."""

    arguments: dict[str, Any]
    names: tuple[str, ...]
    sign: float = 1.0
    offset: float = 0.0

    @property
    def n_constraints(self) -> int:
        return sum(len(self.arguments[name]) for name in ("b_ub", "b_eq") if self.arguments.get(name) is not None)

    def objective(self, value: float) -> float:
        """The file's objective, from the value of the smallest cost."""
        return self.sign * value + self.offset

    def restated(self, message: str) -> str:
        """What was proved of the cost, said of the objective."""
        if self.sign > 0:
            return message
        return message.replace("a smaller cost", "a larger objective").replace("the cost falls", "the objective grows")


def read_program(path: str) -> LinearProgram:
    """The program in a file."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path}; check the path")
    return _from_npz(path) if path.endswith(".npz") else _from_mps(path)


def _from_npz(path: str) -> LinearProgram:
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as arrays:
            if "c" not in arrays or set(arrays) - set(NAMES):
                raise ValueError(f"it has {', '.join(arrays)}, but needs c, and may have {', '.join(NAMES[1:])}")
            arguments = dict(arrays)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no linear program: {error}") from error
    return LinearProgram(arguments, tuple(f"x{number}" for number in range(arguments["c"].size)))


def _from_mps(path: str) -> LinearProgram:
    from novikoff.data.mps import read_mps

    model, arguments = read_mps(path)
    return LinearProgram(arguments, tuple(model.columns), model.sense, model.offset)
