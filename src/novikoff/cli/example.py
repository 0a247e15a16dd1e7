"""`novikoff example`: write small data sets to try the commands on."""

from pathlib import Path

import click

from novikoff.cli import documents, options
from novikoff.cli.files import check_free
from novikoff.cli.options import Result
from novikoff.data.samples import sample

# The data sets, and what to try with each.
SUGGESTED = {
    "cars.csv": "fit cars.csv --label sport_car",
    "six_points.svm": "fit six_points.svm --readout last --no-fit-intercept --no-shuffle",
    "xor.csv": "certify xor.csv --label bits",
    "circle.csv": "fit circle.csv --label where --ignore z --lift paraboloid",
    "animals.csv": "fit animals.csv --label class --ignore name",
    "chunks.conll": "tag train chunks.conll --templates templates.txt",
    "templates.txt": "tag train chunks.conll --templates templates.txt",
    "bakery.mps": "lp bakery.mps",
    "trade.csv": "certify trade.csv --formula 'value ~ distance + embargo | origin + destination' --family ppml",
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(SUGGESTED)), metavar="[NAME]...")
@options.option("--out", options.PATH, "FOLDER", "The folder to write to.", ".")
@options.force
@options.answering
def example(names: tuple[str, ...], out: str) -> Result:
    """Write small data sets to try the commands on: all of them, or those NAMEd.

    Files that are already there are kept; if they differ, that is an error, unless --force replaces them.
    """
    from novikoff.data.whole_file import WholeFile

    folder = Path(out)
    contents = {folder / name: sample(name).encode() for name in names or SUGGESTED}
    new = {path: content for path, content in contents.items() if not path.is_file() or path.read_bytes() != content}
    for path in new:
        check_free(path)
    for path, content in new.items():
        with WholeFile(path) as file:
            file.write(content)
    files = [{"file": str(path), "try": SUGGESTED[path.name]} for path in contents]
    document = documents.document("example", files=files)
    return Result(document, "", lambda: [(one["file"], f"novikoff {one['try']}") for one in files])
