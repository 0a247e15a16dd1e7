"""Every option of learning, declared once: its name, what it may be, its default, and one sentence of help.

The declarations feed the defaults of constructors (a test compares), the command line, the settings of the service, the
lab, model files and the reference page. `Options` holds the values of one run: making one checks all of them, and
nothing checks them again.

>>> Options(max_iter=0)
Traceback (most recent call last):
ValueError: max_iter=0 must be a whole number of at least 1, or 'auto', or None for no limit
>>> DECLARED["max_iter"].default, DECLARED["max_iter"].help
('auto', 'Stop after this many epochs; auto is 30 for fewer than 3,000 rows, and 10 for more.')
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from textwrap import indent, wrap
from typing import Annotated, Any, Literal, TypeVar, cast

Readout = Literal["last", "average", "vote"]
Tie = Literal["mistake", "predict"]
Lead = float | Literal["auto"]
MaxIter = int | Literal["auto"] | None
Scale = bool | Literal["auto"]
Class = TypeVar("Class")
ClassWeight = Any  # "balanced", a mapping from classes to numbers, a number per class, or None

READOUTS: tuple[Readout, ...] = ("last", "average", "vote")
TIES: tuple[Tie, ...] = ("mistake", "predict")

# The number of epochs for few rows, how many rows are few, and the number of epochs for more.
EPOCHS_OF_FEW, FEW_ROWS, EPOCHS_OF_MANY = 30, 3000, 10

# Beyond this lead every example is learned in any feasible number of epochs.
MOST_LEAD = 1e6


@dataclass(frozen=True)
class Kind:
    """What an option may be: a test, and how an error says it. `auto` and `none` may be allowed beside it."""

    says: str
    auto: bool = False
    none: str | None = None

    def accepts(self, value: Any) -> bool:
        """Whether a value is of this kind, `auto` and None left aside."""
        return True

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError for a value that the option cannot have."""
        if (value is None and self.none is not None) or (self.auto and isinstance(value, str) and value == "auto"):
            return
        if not self.accepts(value):
            raise ValueError(f"{name}={value!r} {self.must_be}")

    @property
    def range(self) -> str:
        """All that the option may be, in words."""
        others = ["'auto'"] if self.auto else []
        others += [f"None for {self.none}" if self.none else "None"] if self.none is not None else []
        return ", or ".join([self.says, *others])

    @property
    def must_be(self) -> str:
        return f"must be {self.range}"


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    says: str = ""
    words: tuple[str, ...] = ()

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words

    @property
    def range(self) -> str:
        return f"one of {', '.join(self.words)}"

    @property
    def must_be(self) -> str:
        return f"is unknown; choose {self.range}"


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    says: str = "True or False"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


@dataclass(frozen=True)
class Number(Kind):
    """A number within bounds, which may be open."""

    low: float = 0.0
    high: float = math.inf
    is_open: bool = True

    @classmethod
    def between(cls, low: float, high: float) -> "Number":
        return cls(f"a number from {low:g} to {high:g}", low=low, high=high, is_open=False)

    def accepts(self, value: Any) -> bool:
        if not is_number(value):
            return False
        return self.low < value < self.high if self.is_open else self.low <= value <= self.high


@dataclass(frozen=True)
class Whole(Number):
    """A whole number of at least 1, or within other bounds."""

    says: str = "a whole number of at least 1"
    low: float = 1
    is_open: bool = False

    @classmethod
    def between(cls, low: float, high: float) -> "Whole":
        return cls(f"a whole number from {low} to {high}", low=low, high=high)

    def accepts(self, value: Any) -> bool:
        return super().accepts(value) and value < math.inf and int(value) == value


@dataclass(frozen=True)
class Fraction(Number):
    """A fraction of the rows: more than none, less than all. Rows may also be named by a `HeldOut`."""

    says: str = "a fraction of the rows between 0 and 1, such as 0.2"
    high: float = 1.0

    def accepts(self, value: Any) -> bool:
        return hasattr(value, "which") or super().accepts(value)


@dataclass(frozen=True)
class Anything(Kind):
    """Checked where it is used: it depends on the data, or on another library."""

    says: str = ""


def is_number(value: Any) -> bool:
    """Whether a value is one real number, of Python or NumPy; True and False are none here."""
    if getattr(value, "shape", None) == ():
        return getattr(value.dtype, "kind", "") in "iuf"
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to learn. A run has one, checked when it is made."""

    readout: Annotated[Readout, Choice(words=READOUTS), "The weights that predict."] = "average"
    fit_intercept: Annotated[bool, Flag(), "Fit an intercept."] = True
    max_iter: Annotated[
        MaxIter,
        Whole(auto=True, none="no limit"),
        f"Stop after this many epochs; auto is {EPOCHS_OF_FEW} for fewer than {FEW_ROWS:,} rows, "
        f"and {EPOCHS_OF_MANY} for more.",
    ] = "auto"
    tol: Annotated[
        float | None,
        Number("a number of at least 0", none="no such stop", is_open=False),
        "Stop when the mistakes of n_iter_no_change epochs in a row exceed the fewest so far, less tol times the rows.",
    ] = None
    n_iter_no_change: Annotated[
        int, Whole(), "The number of epochs without improvement before tol or early_stopping stops."
    ] = 5
    early_stopping: Annotated[bool, Flag(), "Choose the number of epochs on validation rows."] = False
    validation_fraction: Annotated[float, Fraction(), "The fraction of the rows that early_stopping validates on."] = (
        0.1
    )
    shuffle: Annotated[bool, Flag(), "Visit the rows in a new random order in each epoch."] = True
    random_state: Annotated[
        Any, Anything("a seed, a generator, or None"), "The seed of all random orders and draws."
    ] = None
    tie: Annotated[Tie, Choice(words=TIES), "Whether a score of 0 is a mistake, or predicts the second class."] = (
        "mistake"
    )
    lead: Annotated[
        Lead,
        Number(f"a number from 0 to {MOST_LEAD:g}, in units of R^2", auto=True, high=MOST_LEAD, is_open=False),
        "Learn also from rows that are right by no more than this, in units of R^2; 0 is the standard perceptron, and "
        "auto lets the rows choose.",
    ] = "auto"
    min_margin: Annotated[
        float | None, Number("a positive number", none=""), "Stop as soon as no separator can have this margin."
    ] = None
    time_limit: Annotated[float | None, Number("a positive number", none=""), "Stop after this many seconds."] = None
    class_weight: Annotated[
        ClassWeight, Anything("numbers by class, 'balanced', or None"), "Multiply the rows of each class by a number."
    ] = None
    held_out: Annotated[Any, Fraction(none=""), "Hold out this fraction of the rows for testing."] = None
    record_mistakes: Annotated[bool, Flag(), "Keep the row of every mistake."] = False

    def __post_init__(self) -> None:
        for field in fields(self):
            if (value := getattr(self, field.name)) is not field.default:
                DECLARED[field.name].kind.check(field.name, value)

    @property
    def epochs(self) -> int | None:
        """`max_iter`, of a run that knows its rows."""
        assert self.max_iter != "auto"
        return self.max_iter

    @property
    def wants_convergence(self) -> bool:
        """Whether a run that cannot converge is to stop: the last weights, a margin, or no end but success.

        Where an average over some epochs was asked for, weights that return are only recorded.
        """
        return self.readout == "last" or self.min_margin is not None or self.max_iter is None

    @classmethod
    def of(cls, given: Mapping[str, Any], caller: str = "fit") -> "Options":
        """Options by name; one that there is none of is an error that names those there are."""
        names = [field.name for field in fields(cls)]
        for name in given:
            if name not in names:
                raise TypeError(f"{caller}() has no option {name!r}; the options are {', '.join(names)}")
        return cls(**given)


def epochs_for(max_iter: MaxIter, n_rows: int) -> int | None:
    """The most epochs of so many rows: with "auto" few rows have more of them, which costs nothing."""
    if max_iter != "auto":
        return max_iter
    return EPOCHS_OF_FEW if n_rows < FEW_ROWS else EPOCHS_OF_MANY


@dataclass(frozen=True)
class Declared:
    """An option as it is declared."""

    name: str
    kind: Kind
    help: str
    default: Any


def _declared(*more: Declared) -> dict[str, Declared]:
    own = []
    for field in fields(Options):
        kind, help = cast(Any, field.type).__metadata__
        own.append(Declared(field.name, kind, help, field.default))
    return {declared.name: declared for declared in (*own, *more)}


# All options: those of a run, and those that only estimators, commands and services have.
DECLARED = _declared(
    Declared("eta0", Number("a positive number"), "Multiply the weights by this when they are read out.", 1.0),
    Declared("warm_start", Flag(), "Continue from the weights of the last call of fit.", False),
    Declared("scale", Flag(auto=True), "Standardise columns (zero mean, unit variance) before learning.", "auto"),
    Declared("n_jobs", Anything("a number of threads, or None"), "The number of threads; -1 is all cores.", None),
)


def check_options(**given: Any) -> None:
    """Check options one by one, where there is no run: the read-out of a model, the rate of its weights."""
    for name, value in given.items():
        DECLARED[name].kind.check(name, value)


# What the reference adds to the help of an option: nothing that one could do without on a command line.
DETAILS = {
    "readout": """The mean of the weights after each example ("average"), those after the last one, or the vote of all
weight vectors, weighted by survival (Freund & Schapire 1999). On noisy data the average is far better than the last
weights, and about as good as the vote at a fraction of its cost. It may be changed on a fitted model, except to "vote",
which needs the mistakes kept from the start.""",
    "fit_intercept": "It is one more coordinate of value 1; R and margins include it.",
    "max_iter": "An epoch is a pass over the data. Without a limit, a run ends only if the data are separable.",
    "tol": "That is not convergence, and `run_` says so.",
    "early_stopping": """`fit` learns the others, counts the errors on these after every epoch until they have not
improved for `n_iter_no_change` epochs, and then learns all rows for the best number. (scikit-learn keeps the weights
that were learned without the validation rows.)""",
    "shuffle": "`partial_fit` never does.",
    "eta0": "It cannot change a mistake.",
    "tie": "That it is a mistake, for either label, is the theorem's rule.",
    "lead": """R is the longest example so far; of more than two classes, the right one must be ahead of the best other
one by 2 R^2 times the lead. With tau > 0 there are at most (1 + 2 tau) (R/gamma)^2 updates, mistakes and narrow ones
together, and when none is left, the last weights have a margin of at least gamma tau/(1 + 2 tau). A tie is then a
mistake, whatever `tie` says. With "auto", tables of 8,193 to 16,384 numbers choose by five folds, others by one half of
the rows, where a lead must be better than none by two standard errors. It is 0 for fewer than 50 rows,
`readout="last"`, one epoch in the order given, sequences, and `partial_fit` unless a `fit` came before.""",
    "scale": """Sparse columns are divided, and not centred. The model stores the scales: `predict` takes rows as they
are, and `coef_` and `intercept_` are those of the columns as given; R and margins are those of the scaled rows. With
"auto" the numbers decide, in arrays, frames and files alike: columns are scaled if the numbers of one, zeros apart, are
more than 10 times as large as those of another (root mean squares), or lie within a factor of 2 of each other; `run_`
says why. Numbers beside words and missing values are always scaled, sparse rows never. "auto" does not scale numbers
alone without an intercept, with `readout="last"`, in `partial_fit`, which would have to know all rows, or for batches
of arrays.""",
    "class_weight": """A mistake on a rare class then moves the weights further; "balanced" is n/(classes x rows of the
class). R, margins and bounds are those of the multiplied examples: if c is the ratio of the largest weight to the
smallest, there are at most c^2 times as many updates.""",
    "held_out": """They are drawn at random, and not used for training; the errors on them are counted at the end, and
`run_` states what follows for new rows.""",
    "record_mistakes": "They are in `mistake_rows_`, and what was predicted in `mistake_guesses_`.",
    "n_jobs": """They are used where the order of rows does not matter: measuring, looking ahead and counting errors in
`fit`, and predicting. None is all cores that this process may use, which are fewer in a worker of joblib and under
limits of threadpoolctl or the environment. The results do not depend on it.""",
}


def described(kind: type[Class]) -> type[Class]:
    """Put what is declared of a class's parameters into its docstring, in place of the line `{options}`."""
    lines = []
    for name in vars(kind)["__dataclass_fields__"]:
        if (option := DECLARED.get(name)) is not None:
            text = " ".join(f"{option.help} {DETAILS.get(name, '')}".split())
            lines += [f"{name} : {option.kind.range}"]
            lines += wrap(text, 112, initial_indent="    ", subsequent_indent="    ")
    kind.__doc__ = (kind.__doc__ or "").replace("    {options}\n", indent("\n".join([*lines, ""]), "    "))
    return kind
