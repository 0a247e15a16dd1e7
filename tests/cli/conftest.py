"""A folder with all example data sets, and with the models that some tests begin with."""

import shutil

import pytest

from tests.cli.calling import call


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """The examples, models of three kinds, and a certificate, made once."""
    folder = tmp_path_factory.mktemp("trained")
    for line in (
        "example --quiet",
        "fit cars.csv --label sport_car --quiet",
        "fit animals.csv --label class --ignore name --quiet",
        "tag train chunks.conll --templates templates.txt --quiet",
        "certify cars.csv --label sport_car --out cars.cert --quiet",
    ):
        done = call(*line.split(), folder=folder)
        assert done == (0, "", ""), done
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    """A copy of them to work in."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    return tmp_path
