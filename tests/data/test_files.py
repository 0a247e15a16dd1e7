"""A file that is something else is told by its name, with what to do."""

import io
import zipfile

import numpy as np
import pytest

from novikoff.data import read
from novikoff.keep.models import load_plain
from tests.cli.calling import call


def zipped(name):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, "content")
    return content.getvalue()


def numpy_file():
    content = io.BytesIO()
    np.save(content, np.eye(2))
    return content.getvalue()


FILES = {
    "a.npz": (zipped("X.npy"), "a NumPy archive; save its arrays as CSV"),
    "a.npy": (numpy_file(), "a NumPy array; save it as CSV"),
    "a.xlsx": (zipped("[Content_Types].xml"), "an Excel file; save the sheet as CSV"),
    "a.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file; save the sheet as CSV"),
    "misnamed.csv": (zipped("xl/workbook.xml"), "an Excel file"),
    "a.zip": (zipped("table.csv"), "a ZIP archive; unpack it first"),
    "a.json": (b'[{"x": 1, "y": "a"}]', "a JSON array, and one object per line is expected; make it with: jq"),
    "a.pkl": (b"\x80\x04\x95", "a pickle, which could run code"),
    "a.html": (b"<!DOCTYPE html><html>", "a web page; download the table itself"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_table_is_told_by_its_name(name, tmp_path):
    content, what = FILES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"is (a|an) ") as caught:
        read(tmp_path / name, label="y")
    assert what in str(caught.value)


def test_arguments_in_the_wrong_order_are_told(folder_with_model):
    for line in ("predict cars.csv cars.novikoff", "score cars.csv cars.novikoff", "check cars.csv cars.novikoff"):
        done = call(*line.split(), folder=folder_with_model)
        assert done.code == 1
        assert "it is text, perhaps a table; a model comes first, then the table" in done.err
    done = call("fit", "cars.novikoff", "--label", "sport_car", "--model", "m", folder=folder_with_model)
    assert "is a model file, but a table is expected here" in done.err
    done = call("predict", "cars.novikoff", "cars.novikoff", folder=folder_with_model)
    assert "is a model file, but a table is expected here" in done.err


@pytest.fixture
def folder_with_model(tmp_path):
    call("example", "cars.csv", "--quiet", folder=tmp_path)
    call("fit", "cars.csv", "--label", "sport_car", "--quiet", "--no-certify", folder=tmp_path)
    return tmp_path


def test_a_directory_is_no_model(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a directory; name the model file in it"):
        load_plain(tmp_path)
    assert "name the certificate or the model in it" in call("check", tmp_path, "x.csv", folder=tmp_path).err


def test_a_model_of_another_kind_of_file_says_which(tmp_path):
    (tmp_path / "a.npz").write_bytes(FILES["a.npz"][0])
    with pytest.raises(ValueError, match="is not a model file: it is a NumPy archive"):
        load_plain(tmp_path / "a.npz")
