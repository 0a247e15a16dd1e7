"""Small data sets to try the library on: files of this package, which `novikoff example` copies.

The first two of the cars are those of the notes; `examples/make_cars.py` makes the others. The six points are the
worked example of the notes, and no line separates the points of xor. Those of the circle are separable with the column
z = x^2 + y^2, and not without it (Theorem 30.2.1 of the notes). In the trade table, of seven countries, nothing is sold
under an embargo, and Fell buys nothing.
"""

from pathlib import Path

FOLDER = Path(__file__).with_name("sample_files")


def sample(name: str) -> str:
    """Return the text of a data set.

    >>> sample("cars.csv").splitlines()[1]
    '4,1997,Quaky,3.6,1540,58500,246,180,red,yes'
    """
    return (FOLDER / name).read_text(encoding="utf-8")
