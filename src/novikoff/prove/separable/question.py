"""The questions about labelled examples, the verdicts, and their wording."""

import enum

from novikoff.say import certificates as say


class Verdict(enum.Enum):
    """Whether a hyperplane separates the data.

    `NOT_SEPARABLE` means that none does, and leaves open whether they are quasi-separable or overlapping.
    """

    SEPARABLE = "separable"
    QUASI_SEPARABLE = "quasi-separable"
    OVERLAPPING = "overlapping"
    NOT_SEPARABLE = "not separable"
    UNDECIDED = "undecided"


class Problem(enum.StrEnum):
    """Which points are to be separated: those of two classes, of many by argmax, or in the feature space of a kernel.

    It equals its text in files.

    >>> Problem.of(3), Problem.of(3) == "argmax", Problem.of(3).formula
    (<Problem.ARGMAX: 'argmax'>, True, '2 (R/gamma)^2')
    """

    BINARY = "binary"
    ARGMAX = "argmax"
    KERNEL = "kernel"

    @classmethod
    def of(cls, n_classes: int) -> "Problem":
        """The problem of this many classes in the space of their columns."""
        return cls.BINARY if n_classes == 2 else cls.ARGMAX

    @property
    def has_rivals(self) -> bool:
        """Whether points are rows against other classes, by Kesler's construction."""
        return self is Problem.ARGMAX

    @property
    def has_one_plane(self) -> bool:
        """Whether a separator is one hyperplane in the space of the columns."""
        return self is Problem.BINARY

    @property
    def factor(self) -> int:
        """The factor of (R/gamma)^2: Kesler's points are sqrt(2) times as long as the examples."""
        return 2 if self.has_rivals else 1

    def points_per_row(self, n_classes: int) -> int:
        """The number of points per row: one, or one for every other class."""
        return n_classes - 1 if self.has_rivals else 1

    def vectors(self, n_classes: int) -> int:
        """The number of weight vectors, each with its bias, of a separator."""
        return n_classes if self.has_rivals else 1

    # -- in words -----------------------------------------------------------------------------------------------------

    @property
    def about(self) -> str:
        return {Problem.BINARY: "two classes", Problem.ARGMAX: "many classes", Problem.KERNEL: "a kernel"}[self]

    @property
    def formula(self) -> str:
        """The formula of the mistake bound."""
        return "2 (R/gamma)^2" if self.has_rivals else "(R/gamma)^2"

    @property
    def as_points(self) -> str:
        """The points of a combination in terms of rows."""
        return "as Kesler's vectors" if self.has_rivals else "times their labels"

    @property
    def contradiction(self) -> str:
        """Why rows that cancel cannot be separated."""
        if self.has_rivals:
            return "Weights that give each of them its own class the largest score would make that sum positive."
        return "A hyperplane that classifies all of them correctly would make that sum positive."

    def question(self, fit_intercept: bool) -> str:
        bias = "with an intercept" if fit_intercept else "without an intercept"
        if self.has_rivals:
            return f"do weights give every row its own class the largest score, {bias}?"
        return f"does a hyperplane separate the classes, {bias}?"

    @property
    def no_separator(self) -> str:
        """That nothing separates strictly."""
        return say.NO_WEIGHTS if self.has_rivals else say.NO_HYPERPLANE

    def meaning(self, verdict: Verdict, plane: str = "hyperplane") -> str:
        """The meaning of a verdict; `plane` is the name of a hyperplane where it is drawn."""
        planes, weights = say.MEANINGS[verdict.name]
        return weights if self.has_rivals else planes.replace("hyperplane", plane)

    def consequence(self, verdict: Verdict, exists: bool | None = None) -> str | None:
        """What the verdict implies for a perceptron and, without a kernel, for logistic regression.

        `exists` is whether the estimates of the regression exist, if that was requested.
        """
        learner, regression = say.CONSEQUENCES.get(verdict.name, (None, None))
        if exists is not None:
            regression = say.FINITE if exists else say.NOT_FINITE
        return (
            learner if learner is None or regression is None or self is Problem.KERNEL else f"{learner}; {regression}"
        )
