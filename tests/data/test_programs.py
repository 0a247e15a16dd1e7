"""MPS files: read exactly, or refused with their line."""

import gzip
import math

import numpy as np
import pytest

from novikoff.data.programs import MPSError, read_mps, read_program

SMALL = """\
NAME          SMALL
* a comment
ROWS
 N  COST
 L  LIM1
 G  LIM2
 E  MYEQN
COLUMNS
    X         COST               1.0   LIM1               1.0
    X         LIM2               1.0
    Y         COST               2.0   LIM1               1.0
    Y         MYEQN             -1.0
RHS
    RHS       COST              -3.0   LIM1               4.0
    RHS       LIM2               1.0   MYEQN              7.0
BOUNDS
 UP BND       X                  4.0
ENDATA
"""


def model(tmp_path, text, name="a.mps"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return read_mps(str(path))


def refusal(tmp_path, text):
    with pytest.raises(MPSError) as caught:
        model(tmp_path, text)
    return str(caught.value)


def test_rows_columns_and_limits_are_what_the_file_says(tmp_path):
    said, program = model(tmp_path, SMALL)
    assert (list(said.columns), said.offset, said.sense) == (["X", "Y"], 3.0, 1.0)
    assert program["c"].tolist() == [1, 2]
    assert program["A_ub"].toarray().tolist() == [[1, 1], [-1, 0]]
    assert program["b_ub"].tolist() == [4, -1]
    assert program["A_eq"].toarray().tolist() == [[0, -1]]
    assert program["b_eq"].tolist() == [7]
    assert program["bounds"].tolist() == [[0, 4], [0, math.inf]]


def test_a_compressed_file_is_read(tmp_path):
    _, program = model(tmp_path, SMALL, "a.mps.gz")
    assert program["c"].tolist() == [1, 2]
    assert read_program(str(tmp_path / "a.mps.gz")).names == ("X", "Y")


@pytest.mark.parametrize(
    ("lines", "bounds"),
    [
        (" UP BND X 1e21", [0, 1e21]),
        (" UP BND X 1e30\n LO BND X -1e30", [-1e30, 1e30]),
        (" FR BND X", [-math.inf, math.inf]),
        (" MI BND X\n UP BND X -4", [-math.inf, -4]),
        (" PL BND X", [0, math.inf]),
        (" FX BND X 2.5", [2.5, 2.5]),
        (" UP BND X inf\n LO BND X -Inf", [-math.inf, math.inf]),
        (" UP X 4", [0, 4]),
        (" LO BND X 0.1D+1", [1.0, math.inf]),
    ],
)
def test_a_bound_is_what_it_says(tmp_path, lines, bounds):
    _, program = model(tmp_path, SMALL.replace(" UP BND       X                  4.0", lines))
    assert program["bounds"][0].tolist() == bounds


@pytest.mark.parametrize(
    ("row", "extent", "low", "high"),
    [
        ("LIM1", 2.5, 1.5, 4),
        ("LIM1", -2.5, 1.5, 4),
        ("LIM2", 2.5, 1, 3.5),
        ("MYEQN", 2.5, 7, 9.5),
        ("MYEQN", -2.5, 4.5, 7),
    ],
)
def test_a_range_is_a_second_limit(tmp_path, row, extent, low, high):
    said, _ = model(tmp_path, SMALL.replace("BOUNDS", f"RANGES\n    RNG  {row}  {extent}\nBOUNDS"))
    assert said.row_limits(row) == (low, high)


@pytest.mark.parametrize("header", ["OBJSENSE\n    MAX\n", "OBJSENSE MAXIMIZE\n"])
def test_a_maximum_is_minus_the_smallest_cost(tmp_path, header):
    said, program = model(tmp_path, header + SMALL)
    assert (said.sense, program["c"].tolist()) == (-1.0, [-1, -2])


def test_names_with_blanks_are_read_in_the_fixed_form(tmp_path):
    said, program = model(
        tmp_path, SMALL.replace("    X         ", "    X ONE     ").replace("BND       X  ", "BND       X ONE")
    )
    assert list(said.columns) == ["X ONE", "Y"]
    assert program["bounds"][0].tolist() == [0, 4]


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("ENDATA", "QUADOBJ\n    X X 2.0\nENDATA", 18, "QUADOBJ"),
        ("ENDATA", "QSECTION COST\n    X X 2.0\nENDATA", 18, "QSECTION"),
        ("ENDATA", "QMATRIX\nENDATA", 18, "QMATRIX"),
        ("ENDATA", "SOS\n S1 SOS SOS1\nENDATA", 18, "SOS"),
        ("ENDATA", "INDICATORS\nENDATA", 18, "INDICATORS"),
        ("RHS\n", "    M1 'MARKER' 'INTEND'\nRHS\n", 13, "integer"),
        ("COLUMNS\n", "COLUMNS\n    M1 'MARKER' 'INTORG'\n", 9, "integer"),
        (" UP BND ", " UI BND ", 17, "integer"),
        (" UP BND       X                  4.0", " BV BND X", 17, "integer"),
        (" UP BND ", " SC BND ", 17, "semicontinuous"),
        (" UP BND ", " XX BND ", 17, "unknown"),
        ("X                  4.0", "X  -4.0", 17, "readers disagree"),
        ("X                  4.0", "W  4.0", 17, "a column of this program"),
        ("X                  4.0", "X  4.0\n UP BND X 5.0", 18, "two upper bounds"),
        ("X                  4.0", "X  4.0\n LO OTHER X 1.0", 18, "two sets of bounds"),
        ("LIM1               4.0", "LIM1  nan", 14, "not a number"),
        ("LIM1               4.0", "LIM1  inf", 14, "not a number"),
        ("LIM1               4.0", "LIM1  1e400", 14, "beyond the range"),
        ("LIM1               4.0", "LIM1  1e-400", 14, "beyond the range"),
        ("LIM1               4.0", "LIM1  0x10", 14, "not a number"),
        ("LIM1               4.0", "LIM7  4.0", 14, "no row 'LIM7'"),
        ("    RHS       LIM2 ", "    OTHER     LIM2 ", 15, "two sets of right-hand sides"),
        ("    X         LIM2 ", "    X         LIM1 ", 10, "twice"),
        (" L  LIM1", " L  LIM1\n L  LIM1", 6, "occurs twice"),
        (" N  COST", " E  COST", 18, "no objective"),
        (" L  LIM1", " Q  LIM1", 5, "its kind"),
        ("ENDATA\n", "", 17, "ENDATA"),
        ("ENDATA\n", "ENDATA\nROWS\n", 19, "more after ENDATA"),
        ("BOUNDS\n", "RHS\nBOUNDS\n", 16, "occurs twice"),
        ("NAME          SMALL", "OBJSENSE\n    UP", 2, "neither MIN nor MAX"),
        ("    Y         MYEQN             -1.0", "    Y  MYEQN  -1.0\n    X  MYEQN  1", 13, "started before"),
    ],
)
def test_what_is_no_linear_program_is_refused_with_its_line(tmp_path, old, new, line, why):
    assert old in SMALL
    message = refusal(tmp_path, SMALL.replace(old, new, 1))
    assert why in message
    assert f"a.mps, line {line}:" in message


def test_a_range_that_leaves_the_floats_is_refused(tmp_path):
    text = SMALL.replace("MYEQN              7.0", "MYEQN 1.7e308").replace(
        "BOUNDS", "RANGES\n    R MYEQN 1.7e308\nBOUNDS"
    )
    assert "beyond float64" in refusal(tmp_path, text)


def test_our_reader_and_that_of_highs_agree(tmp_path):
    inner = pytest.importorskip("scipy.optimize._highspy._core")
    path = tmp_path / "small.mps"
    path.write_text(SMALL)
    highs = inner._Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(str(path))
    theirs = highs.getLp()
    said, program = read_mps(str(path))
    assert list(theirs.col_names_) == list(said.columns)
    assert np.array_equal(theirs.col_cost_, program["c"])
    assert np.array_equal(np.column_stack([theirs.col_lower_, theirs.col_upper_]), program["bounds"])
    assert theirs.offset_ == said.offset
