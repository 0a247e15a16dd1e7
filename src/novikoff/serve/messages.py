"""Requests and replies. These types validate requests, and are the schemas in /openapi.json."""

from typing import Annotated

import msgspec

from novikoff.serve.events import Example, Features, Judge, Label, Settings
from novikoff.serve.tally import Alarm, MistakeCurve

# An example of such numbers can be learned, however many a request has.
Short = Annotated[float, msgspec.Meta(ge=-(2.0**440), le=2.0**440)]


class PlainToLearn(Example, gc=False):
    """An example of numbers of no unusual size, which need no further check. Most are like that."""

    x: dict[str, Short]  # type: ignore[assignment]


class ToPredict(msgspec.Struct, forbid_unknown_fields=True):
    """An example. With `remember` it is kept until its label comes, under the id that is answered."""

    x: Features
    remember: bool = False


class ToExplain(msgspec.Struct, forbid_unknown_fields=True):
    """An example, of which to say why it gets its label."""

    x: Features


class ToReveal(msgspec.Struct, forbid_unknown_fields=True):
    """The label of a prediction that was remembered."""

    id: Annotated[str, msgspec.Meta(max_length=64)]
    y: Label


class Most(msgspec.Struct, forbid_unknown_fields=True):
    """How many to show."""

    top: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 20


class OfMargin(msgspec.Struct, forbid_unknown_fields=True):
    """The margin of which to state the bound; by default the largest that is not ruled out."""

    margin: Annotated[float, msgspec.Meta(ge=1e-300, le=1e300)] | None = None


class AfterEvent(msgspec.Struct, forbid_unknown_fields=True):
    """The event after which; by default the last."""

    seq: Annotated[int, msgspec.Meta(ge=0, le=2**53)] | None = None


class Score(msgspec.Struct, frozen=True):
    label: Label
    score: float


class PredictReply(msgspec.Struct):
    """The label, null while none is known; the read-out's score of each class; the last event that was learned."""

    id: str | None
    label: Label | None
    scores: list[Score]
    seq: int


class LearnReply(msgspec.Struct):
    """The number of the last event that this request made, how many examples it had, how many were mistakes."""

    seq: int
    examples: int
    mistakes: int


class Done(msgspec.Struct):
    """The number of the event that this request made."""

    seq: int


class About(msgspec.Struct):
    """A model: how it learns, and how far it is."""

    name: str
    settings: Settings
    seq: int
    classes: list[Label]
    examples: int
    mistakes: int
    features: int


class ModelNames(msgspec.Struct):
    models: list[str]


class Brief(msgspec.Struct):
    """A model in brief: figures as in /metrics, and how many labels are waited for.

    There are none if the model is not in memory.
    """

    name: str
    figures: dict[str, float] | None


class FigureList(msgspec.Struct):
    models: list[Brief]


class Delay(msgspec.Struct):
    """How late labels came: the mistakes learned between serving and revealing, over the mistakes; with a lead, narrow
    examples count as well."""

    mean: float
    longest: int


class Bound(msgspec.Struct):
    """How many mistakes there can be if some weights separate the stream with this margin.

    `on_arrival` holds if mistakes are judged on arrival, (1 + 2 lead) (R/gamma)^2; `as_served` if they are judged as
    served, (1 + 2 lead + 2 tau) (R/gamma)^2. With a lead, mistakes and narrow examples count together.
    `holds_for_this_model` is the one of its judge. With more than two classes both are twice as large. Null is more
    than 2^63. `ruled_out`: no weights have such a margin, since the record shows a smaller one.
    """

    margin: float
    on_arrival: int | None
    as_served: int | None
    holds_for_this_model: int | None
    ruled_out: bool


class DriftReport(msgspec.Struct):
    """The mistakes in the window, against what the record before it leads one to expect, and past alarms."""

    window: int
    examples: int
    mistakes: int
    expected: float
    alarms: list[Alarm]


class Record(msgspec.Struct):
    """What happened, and what it proves.

    `mistakes` are the theorem's, of the last weights; all were learned. With a lead, `narrow` examples were
    right and learned, too; `wrong` are answers that were given
    and turned out wrong, among the `revealed`. `margin_at_most`: no weights separate the stream with a larger margin
    (gamma <= ||w||/k); null before the first mistake. `bound` is for the margin that was asked for, or else for that.
    """

    seq: int
    examples: int
    mistakes: int
    narrow: int
    revealed: int
    wrong: int
    waiting: int
    judge: Judge
    radius: float
    weights_length: float
    margin_at_most: float | None
    delay: Delay
    bound: Bound | None
    curve: MistakeCurve
    drift: DriftReport


class FeatureWeight(msgspec.Struct):
    feature: str
    weight: float


class ClassWeights(msgspec.Struct):
    """The largest weights of a class, as the read-out has them. Of two classes the first has the opposite ones."""

    label: Label | None
    intercept: float
    weights: list[FeatureWeight]


class HeaviestWeights(msgspec.Struct):
    seq: int
    classes: list[ClassWeights]


class Contribution(msgspec.Struct):
    """A feature of the example, and how much it contributes to the answer."""

    feature: str
    value: float
    contribution: float


class PastMistake(msgspec.Struct):
    """A mistake that was learned before the prediction, and how much it contributes to the answer."""

    seq: int
    x: Features
    y: Label
    contribution: float


class Why(msgspec.Struct):
    """Why a prediction was what it was.

    The weights are the sum of the mistakes, so the lead of the answer over its rival is the sum of what each mistake
    contributes. `rest` is what comes from before the log, or from the file that the model began with; `mistakes` is how
    many mistakes there are in all, of which those are shown that weigh most. `id` is null if nothing was remembered.
    """

    id: str | None
    label: Label | None
    rival: Label | None
    seq: int
    lead: float
    features: list[Contribution]
    past: list[PastMistake]
    mistakes: int
    rest: float


class IsLive(msgspec.Struct):
    live: bool


class IsReady(msgspec.Struct):
    ready: bool


class ErrorDetail(msgspec.Struct):
    message: str
    field: str | None


class Error(msgspec.Struct):
    """What went wrong, and in which field of the request. Nothing was changed."""

    error: ErrorDetail


# Characters of a message, which may quote what was sent.
LONGEST = 1000


class RefusedError(Exception):
    """A refused request, which changed nothing. With `closes`, what the client still sends is not read."""

    def __init__(
        self,
        status: int,
        message: str,
        field: str | None = None,
        retry_after: int | None = None,
        closes: bool = False,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        super().__init__(message)
        self.status, self.field, self.retry_after, self.closes = status, field, retry_after, closes
        self.headers = headers
        self.message = message if len(message) <= LONGEST else f"{message[:LONGEST]}..."


class ElsewhereError(RefusedError):
    """Another server holds the model: the one at `url`, or an unknown one while the model changes hands."""

    def __init__(self, name: str, url: str | None = None) -> None:
        super().__init__(503, f"the model {name!r} is on its way to another server; send again", retry_after=1)
        self.url = url
