"""Small data sets to try the library on, made here: a seeded database of cars, and what fits on a page.

One of the notes begins with a database of cars: which are sport cars? It has a sport car with 4 doors, made in 1997
by Quaky, the manufacturer 6, and a tractor made by General Mess, the manufacturer 3. They are the first two records.
"""

import random
from collections.abc import Callable
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
    """The database of cars as CSV, the same for the same seed everywhere.

    >>> for line in cars(4).splitlines()[:3]:
    ...     print(line)
    doors,year,manufacturer,engine_size,weight,price,maximum_speed,cruising_speed,colour,sport_car
    4,1997,Quaky,3.6,1540,58500,246,180,red,yes
    0,1998,General Mess,6.1,4650,64200,48,30,green,no
    """
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


def six_points() -> str:
    """The worked example of the notes, in svmlight text: three mistakes lead to the weights (3, 1).

    >>> print(six_points().splitlines()[0])
    -1 1:-1 2:2
    """
    points = ((-1, 2, -1), (1, 0, 1), (1, 1, 1), (-1, 0, -1), (-1, -2, -1), (1, -1, 1))
    return "".join(f"{label} 1:{x} 2:{y}\n" for x, y, label in points)


def xor() -> str:
    """Four points that no line separates."""
    return "x,y,bits\n0,0,same\n1,1,same\n0,1,different\n1,0,different\n"


def circle(n_points: int = 60, seed: int = 1962) -> str:
    """Points inside and outside of a circle, and the third coordinate that lifts them to a paraboloid.

    Separable with the column z = x^2 + y^2, and not without it (Theorem 30.2.1 of the notes).
    """
    draw = random.Random(seed)
    lines = ["x,y,z,where"]
    while len(lines) <= n_points:
        x, y = round(draw.uniform(-2.0, 4.0), 2), round(draw.uniform(-3.0, 3.0), 2)
        square = (x - 1.0) ** 2 + y**2
        if abs(square - 2.25) > 0.5:
            lines.append(f"{x},{y},{round(x * x + y * y, 4)},{'inside' if square < 2.25 else 'outside'}")
    return "\n".join(lines) + "\n"


def animals() -> str:
    """Three classes, told apart by argmax."""
    return """\
name,legs,wings,weight,voice,class
blackbird,2,2,0.1,song,bird
duck,2,2,1.1,quack,bird
eagle,2,2,5.2,scream,bird
ostrich,2,2,110,boom,bird
penguin,2,2,12,honk,bird
ant,6,0,0.000004,,insect
bee,6,4,0.0001,buzz,insect
beetle,6,4,0.0005,,insect
fly,6,2,0.00001,buzz,insect
grasshopper,6,4,0.0003,chirp,insect
cat,4,0,4.3,meow,mammal
dog,4,0,21,bark,mammal
bat,2,2,0.02,squeak,mammal
horse,4,0,510,neigh,mammal
mouse,4,0,0.02,squeak,mammal
"""


def chunks() -> str:
    """Sentences in which every token has a part of speech and a chunk label (IOB2)."""
    text = """\
The/DT/B-NP old/JJ/I-NP cat/NN/I-NP slept/VBD/B-VP on/IN/B-PP the/DT/B-NP warm/JJ/I-NP roof/NN/I-NP ././O
She/PRP/B-NP saw/VBD/B-VP a/DT/B-NP red/JJ/I-NP bird/NN/I-NP in/IN/B-PP the/DT/B-NP garden/NN/I-NP ././O
Birds/NNS/B-NP sing/VBP/B-VP in/IN/B-PP spring/NN/B-NP ././O
A/DT/B-NP small/JJ/I-NP dog/NN/I-NP has/VBZ/B-VP chased/VBN/I-VP the/DT/B-NP cat/NN/I-NP ././O
They/PRP/B-NP will/MD/B-VP drive/VB/I-VP fast/JJ/B-NP cars/NNS/I-NP to/TO/B-PP the/DT/B-NP coast/NN/I-NP ././O
Dogs/NNS/B-NP bark/VBP/B-VP at/IN/B-PP night/NN/B-NP ././O
The/DT/B-NP driver/NN/I-NP of/IN/B-PP the/DT/B-NP tractor/NN/I-NP was/VBD/B-VP asleep/JJ/B-ADJP ././O
He/PRP/B-NP has/VBZ/B-VP painted/VBN/I-VP his/PRP$/B-NP old/JJ/I-NP car/NN/I-NP red/JJ/B-ADJP ././O
"""
    sentences = [[token.split("/") for token in line.split()] for line in text.splitlines()]
    return "".join("".join(f"{' '.join(token)}\n" for token in sentence) + "\n" for sentence in sentences)


def templates() -> str:
    """Templates for the chunks."""
    return """\
# One template a line: the columns are word and pos, the offset of a token stands in brackets.
word[0]
lower(word[-1])
pos[-1]
pos[0]
pos[1]
pos[-1]|pos[0]
pos[0]|pos[1]
suffix2(word[0])
"""


def bakery() -> str:
    """A linear program in MPS: how much of what to bake, for the most profit."""
    return """\
NAME          BAKERY
OBJSENSE
    MAX
ROWS
 N  PROFIT
 L  FLOUR
 L  OVEN
 G  PROMISED
COLUMNS
    BREAD     PROFIT             3.0   FLOUR              1.0
    BREAD     OVEN               1.0   PROMISED           1.0
    CAKE      PROFIT             7.0   FLOUR              1.0
    CAKE      OVEN               3.0
    ROLLS     PROFIT             2.0   FLOUR              0.5
    ROLLS     OVEN               0.5   PROMISED           1.0
RHS
    RHS       FLOUR            100.0   OVEN             180.0
    RHS       PROMISED          40.0
BOUNDS
 UP BND       ROLLS             60.0
ENDATA
"""


def trade(seed: int = 1962) -> str:
    """What seven countries sell to each other, as CSV. Under an embargo nothing is sold, and Fell buys nothing at all.

    >>> print(trade().splitlines()[:3])
    ['origin,destination,distance,border,embargo,value', 'Arden,Brill,3.9,1,0,20.0', 'Arden,Corvo,4.8,0,1,0']
    """
    draw = random.Random(seed)
    places = {"Arden": 0, "Brill": 1, "Corvo": 3, "Dale": 4, "Elm": 7, "Fell": 9, "Gorse": 12}
    lines = ["origin,destination,distance,border,embargo,value"]
    for origin, here in places.items():
        for destination, there in places.items():
            if origin == destination:
                continue
            gap, is_barred = abs(here - there), {origin, destination} in ({"Arden", "Corvo"}, {"Dale", "Gorse"})
            distance = round(1 + gap + draw.uniform(0, 2.5), 1)
            is_sold = not is_barred and destination != "Fell" and draw.random() < 0.8
            value = round(60 * draw.uniform(0.4, 1.6) / distance, 1) if is_sold else 0
            lines.append(f"{origin},{destination},{distance},{int(gap == 1)},{int(is_barred)},{value}")
    return "\n".join(lines) + "\n"


SAMPLES: dict[str, Callable[[], str]] = {
    "cars.csv": cars,
    "six_points.svm": six_points,
    "xor.csv": xor,
    "circle.csv": circle,
    "animals.csv": animals,
    "chunks.conll": chunks,
    "templates.txt": templates,
    "bakery.mps": bakery,
    "trade.csv": trade,
}
