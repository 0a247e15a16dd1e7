"""The log: its events, and how they are written.

Every model has a log of its own, whose events are numbered 0, 1, 2, ... without a gap. A row of a store holds one
event, or a batch of examples, each a line of JSON. Every change to a model is in its log and nowhere else; so the log
is the source of truth, and the model is its fold (`novikoff.serve.fold`).
"""

from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from novikoff.learn.online.memory import OnlineReadout
from novikoff.learn.online.perceptron import Served
from novikoff.options import MOST_LEAD, Tie

Label = str | Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | float | bool
Features = dict[str, float | str | bool | None]  # None is a value that is absent; the log has none
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z", description="1 to 64 letters")]
Judge = Literal["arrival", "served"]
Kind = Literal["create", "learn", "reveal", "rollback"]


class LogRow(NamedTuple):
    """A row of the log: `size` events of one kind, of which the first has the number `first`."""

    first: int
    size: int
    at: float
    kind: Kind
    body: bytes

    @property
    def last(self) -> int:
        return self.first + self.size - 1


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model learns, and how long it remembers what it predicted."""

    readout: OnlineReadout = "auto"
    tie: Tie = "mistake"
    fit_intercept: bool = True
    classes: Annotated[list[Label], msgspec.Meta(min_length=2, max_length=1000)] | None = None
    scale: bool = False
    lead: Annotated[float, msgspec.Meta(ge=0, le=MOST_LEAD)] = 0.0
    judge: Judge = "arrival"
    remember_for: Annotated[float, msgspec.Meta(gt=0, le=366 * 86400)] = 7 * 86400.0
    file: bytes | None = None


class Example(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An example with its label. A feature whose value is null counts as absent."""

    x: Features
    y: Label


class Prediction(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What is stored of a prediction until its label is revealed: the example, the label, and the weights behind it.

    `seq`, `examples` and `mistakes` (with a lead, narrow examples among them) are those of the model when it
    answered. `lead` is by how much the score of the label exceeded that of the rival, the next best. `served` is what
    the last weights predicted, if mistakes are judged as served. `point` has the numbers of the example as they were
    scaled, if they were. `readout` are the weights that answered.
    """

    id: str
    x: Features
    label: Label | None
    seq: int
    examples: int
    mistakes: int
    lead: float
    rival: Label | None = None
    served: Served | None = None
    point: dict[str, float] | None = None
    readout: str = "average"


class Revealed(msgspec.Struct, forbid_unknown_fields=True):
    """A prediction whose label was revealed."""

    prediction: Prediction
    y: Label


class Rollback(msgspec.Struct, forbid_unknown_fields=True):
    """The model is again what it was after the event `seq`."""

    seq: Annotated[int, msgspec.Meta(ge=0, le=2**53)]


CONTENT: dict[Kind, Any] = {
    "create": Settings,
    "learn": Example,
    "reveal": Revealed,
    "rollback": Rollback,
}
_DECODERS = {kind: msgspec.json.Decoder(content) for kind, content in CONTENT.items()}
_PREDICTION = msgspec.json.Decoder(Prediction)
ENCODER = msgspec.json.Encoder()


def encode(events: list[Any]) -> bytes:
    """Encode events of one kind, one per line."""
    return ENCODER.encode_lines(events)


def decode(kind: Kind, body: bytes) -> list[Any]:
    """Decode the events of a row of the log."""
    return _DECODERS[kind].decode_lines(body)


def decode_prediction(body: bytes) -> Prediction:
    """Decode a stored prediction."""
    return _PREDICTION.decode(body)
