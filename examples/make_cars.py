"""Write cars.csv beside this script: the database of cars that `novikoff example cars.csv` writes, too.

One of the notes begins with a database of cars: which are sport cars? It has a sport car with 4 doors, made in 1997
by Quaky, the manufacturer 6, and a tractor made by General Mess, the manufacturer 3. They are the first two records.
"""

import random
from pathlib import Path
from typing import NamedTuple

MANUFACTURERS = {1: "Aurora", 2: "Bolt", 3: "General Mess", 4: "Kestrel", 5: "Ostrich", 6: "Quaky", 7: "Tundra"}
COLOURS = ("black", "blue", "green", "red", "silver", "white")
HEADER = "doors,year,manufacturer,engine_size,weight,price,maximum_speed,cruising_speed,colour,sport_car"


class Vehicle(NamedTuple):
    """A kind of vehicle: what it may have (a mean and a spread, or what to choose from)."""

    sport: bool
    share: int
    doors: tuple[int, ...]
    manufacturers: tuple[int, ...]
    engine: tuple[float, float]
    weight: tuple[float, float]
    price: tuple[float, float]
    speed: tuple[float, float]
    colours: tuple[str, ...]


ANY = tuple(MANUFACTURERS)
KINDS = (
    # a roadster, a sport sedan, a limousine, a family car, a small car, a van, a tractor
    Vehicle(
        True, 24, (2, 2, 2, 3), (2, 4, 6, 6), (2.6, 0.6), (1180, 110), (42_000, 9_000), (226, 14), (*COLOURS, "red")
    ),
    Vehicle(True, 12, (4,), (4, 6), (3.8, 0.5), (1560, 100), (61_000, 9_000), (248, 10), COLOURS),
    Vehicle(False, 8, (4,), (1, 4, 5), (3.5, 0.4), (1980, 90), (66_000, 9_000), (222, 8), ("black", "blue", "silver")),
    Vehicle(False, 24, (4, 4, 5, 5), ANY, (1.8, 0.4), (1380, 120), (24_000, 5_000), (185, 11), COLOURS),
    Vehicle(False, 14, (2, 3, 5), ANY, (1.2, 0.2), (960, 90), (14_000, 3_000), (163, 11), COLOURS),
    Vehicle(False, 11, (4, 5), (5, 7, 3), (2.4, 0.4), (2050, 190), (33_000, 6_000), (168, 11), COLOURS),
    Vehicle(False, 7, (0, 2), (3, 7), (6.5, 1.2), (4900, 800), (70_000, 16_000), (62, 12), ("green", "red", "blue")),
)


def cars(n_cars: int = 400, seed: int = 1962) -> str:
    """The database of cars as CSV, the same for the same seed everywhere."""
    draw = random.Random(seed)
    shares = [kind.share for kind in KINDS]
    lines = [HEADER, "4,1997,Quaky,3.6,1540,58500,246,180,red,yes", "0,1998,General Mess,6.1,4650,64200,48,30,green,no"]
    lines += [_car(draw, draw.choices(KINDS, shares)[0]) for _ in range(n_cars - 2)]
    return "\n".join(lines) + "\n"


def _car(draw: random.Random, kind: Vehicle) -> str:
    year = draw.randint(1985, 2014)
    newer = 1.0 + 0.012 * (year - 2000)  # prices and engines grow over the years

    def about(mean_and_spread: tuple[float, float]) -> float:
        mean, spread = mean_and_spread
        return mean + spread * max(-2.0, min(2.0, draw.gauss(0.0, 1.0)))

    speed = round(about(kind.speed) + 0.4 * (year - 2000))
    values = (
        draw.choice(kind.doors),
        year,
        MANUFACTURERS[draw.choice(kind.manufacturers)],
        round(max(0.8, about(kind.engine) * newer**0.5), 1),
        10 * round(about(kind.weight) / 10),
        100 * round(max(6_000.0, about(kind.price) * newer) / 100),
        speed,
        10 * round(0.72 * speed / 10),
        draw.choice(kind.colours),
        "yes" if kind.sport else "no",
    )
    return ",".join(map(str, values))


Path(__file__).with_name("cars.csv").write_text(cars(), encoding="utf-8", newline="\n")
