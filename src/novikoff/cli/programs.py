"""Linear programs in files: MPS through HiGHS, and NumPy's .npz with the arguments of SciPy's linprog."""

import os
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

NAMES = ("c", "A_ub", "b_ub", "A_eq", "b_eq", "bounds")


@dataclass(frozen=True)
class FiledProgram:
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

    def in_its_words(self, message: str) -> str:
        """What was proved of the cost, said of the objective."""
        if self.sign > 0:
            return message
        return message.replace("a smaller cost", "a larger objective").replace("the cost falls", "the objective grows")


def read_file(path: str) -> FiledProgram:
    """The program in a file."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path}; check the path")
    return _from_npz(path) if path.endswith(".npz") else _from_mps(path)


def _from_npz(path: str) -> FiledProgram:
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as arrays:
            if "c" not in arrays or set(arrays) - set(NAMES):
                raise ValueError(f"it has {', '.join(arrays)}, but needs c, and may have {', '.join(NAMES[1:])}")
            arguments = dict(arrays)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no linear program: {error}") from error
    return FiledProgram(arguments, tuple(f"x{number}" for number in range(arguments["c"].size)))


def _from_mps(path: str) -> FiledProgram:
    highs, ok, minimise = _reader()
    highs.setOptionValue("output_flag", False)
    if highs.readModel(path) != ok:
        raise ValueError(f"{path} cannot be read as MPS; correct it, or pass an .npz with {', '.join(NAMES)}")
    model = highs.getLp()
    if any(int(kind) for kind in model.integrality_):
        raise ValueError(f"{path} has variables that must be whole; a linear program has none: drop their markers")
    cost, lower, upper = (np.asarray(part) for part in (model.col_cost_, model.col_lower_, model.col_upper_))
    rows = _matrix(model)
    at_least, at_most = np.asarray(model.row_lower_), np.asarray(model.row_upper_)
    equal = at_least == at_most
    above, below = ~equal & np.isfinite(at_least), ~equal & np.isfinite(at_most)
    sign = 1.0 if model.sense_ == minimise else -1.0
    arguments = {
        "c": sign * cost,
        "A_ub": np.vstack([rows[below], -rows[above]]),
        "b_ub": np.concatenate([at_most[below], -at_least[above]]),
        "A_eq": rows[equal],
        "b_eq": at_least[equal],
        "bounds": np.column_stack([lower, upper]),
    }
    names = tuple(model.col_names_) or tuple(f"x{number}" for number in range(len(cost)))
    return FiledProgram(arguments, names, sign, float(model.offset_))


def _reader() -> tuple[Any, Any, Any]:
    """HiGHS, its word for success, and its word for minimising: from highspy, or from inside of SciPy."""
    try:
        highspy = import_module("highspy")
        return highspy.Highs(), highspy.HighsStatus.kOk, highspy.ObjSense.kMinimize
    except ImportError:
        pass
    try:
        from scipy.optimize._highspy import _core as inner

        return inner._Highs(), inner.HighsStatus.kOk, inner.ObjSense.kMinimize
    except (ImportError, AttributeError) as missing:
        raise ImportError('MPS files are read by HiGHS; install it with: pip install "novikoff[mps]"') from missing


def _matrix(model: Any) -> Any:
    """The constraint matrix, written out."""
    from scipy.sparse import csc_array, csr_array

    matrix = model.a_matrix_
    columnwise = "Col" in str(matrix.format_)
    form = csc_array if columnwise else csr_array
    parts = (np.asarray(matrix.value_), np.asarray(matrix.index_), np.asarray(matrix.start_))
    return form(parts, shape=(model.num_row_, model.num_col_)).toarray()
