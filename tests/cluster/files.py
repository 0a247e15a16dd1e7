"""Small data sets in several files, of every format."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet


def rows(n, seed=0, *, noise=0.3, words=True, integers=False):
    """A table of numbers, some of them missing, words, and labels that a plane tells apart, up to noise."""
    generator = np.random.default_rng(seed)
    X = generator.integers(-9, 10, (n, 3)).astype(float) if integers else generator.normal(size=(n, 3))
    noisy = X @ [1.0, -2.0, 0.5] + noise * generator.normal(size=n) + 0.1
    table = {f"x{j}": X[:, j].tolist() for j in range(3)}
    if words:
        table["x1"] = [None if gone else x for x, gone in zip(table["x1"], generator.random(n) < 0.2, strict=True)]
        table["colour"] = generator.choice(["red", "green", "blue"], n).tolist()
    table["y"] = np.where(noisy > 0, "yes", "no").tolist()
    return table


def write(path, table):
    """A file of the format that its name says; of a Parquet file, row groups of a few rows."""
    path, n = Path(path), len(next(iter(table.values())))
    lines = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    if path.suffix == ".parquet":
        parquet.write_table(pa.table(table), path, row_group_size=max(1, n // 3))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({k: v for k, v in line.items() if v is not None}) + "\n" for line in lines))
    elif path.suffix == ".csv":
        values = (",".join("" if value is None else str(value) for value in line.values()) for line in lines)
        path.write_text("\n".join([",".join(table), *values]) + "\n")
    else:
        numbers = [[line[name] for name in table if name.startswith("x")] for line in lines]
        labels = ["1" if line["y"] == "yes" else "-1" for line in lines]
        texts = (" ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row) if x) for row in numbers)
        path.write_text("".join(f"{label} {text}\n" for label, text in zip(labels, texts, strict=True)))
    return path


def write_all(folder, kind, n_files=3, n=40, **more):
    """So many files, and the pattern that names them."""
    for number in range(n_files):
        write(Path(folder) / f"part-{number}.{kind}", rows(n + number, number, **more))
    return str(Path(folder) / f"*.{kind}")
