"""Write cars.csv beside this script: the database of cars that `novikoff example cars.csv` writes, too."""

from pathlib import Path

from novikoff.data.samples import cars

Path(__file__).with_name("cars.csv").write_text(cars(), encoding="utf-8", newline="\n")
