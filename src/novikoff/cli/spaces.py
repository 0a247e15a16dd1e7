"""Where a separator is sought: among the features of a table, among these lifted, or in the space of a kernel."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from novikoff.cli.commands import sentence
from novikoff.cli.options import AT_LEAST_ONE, OfKind, grouped, option
from novikoff.options import Number

if TYPE_CHECKING:
    from novikoff.data.examples import Examples
    from novikoff.features.lift import Lift
    from novikoff.prove.separable.certificate import Certificate
    from novikoff.prove.separable.kernels import ExactKernel, Form

LIFTS = ("paraboloid", "squares")

# The kernels, and the numbers that each has.
KERNELS = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "linear": (), "laplacian": ("gamma",)}

# Without a budget every mistake is kept, and every row is compared with all of them.
MOST_ROWS, MOST_NUMBERS = 100_000, 50_000_000

# Examples of more numbers than this are certified by `novikoff certify`, not beside a model; the same for the rows of a
# kernel: of one that is rational, and of one whose values are powers of e.
MOST_CERTIFIED, MOST_KERNEL_ROWS, MOST_POWER_ROWS = 20_000_000, 1500, 200


GAMMA = OfKind(Number("a positive number"), scale="scale", auto="auto")
_OPTIONS = (
    option(
        "--lift",
        LIFTS,
        None,
        "Add the squared length, for circles and balls, or the square of every number, for ellipses.",
    ),
    option("--kernel", tuple(KERNELS), None, "Separate in the space of this kernel."),
    option(
        "--gamma",
        GAMMA,
        "G|scale|auto",
        "The width of a kernel; scale: 1/(features x variance), auto: 1/features.  [default: scale]",
    ),
    option("--degree", AT_LEAST_ONE, "N", "The degree of the kernel poly.  [default: 3]"),
    option("--coef0", float, "C", "The constant of the kernel poly.  [default: 1]"),
)
BUDGET = option("--budget", AT_LEAST_ONE, "N", "Keep at most this many support rows.")


@dataclass(frozen=True)
class SpaceOptions:
    """A lift, or a kernel with the options that were given for it, or neither."""

    lift: "Lift | None" = None
    kernel: "Form | None" = None
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def chosen(
        cls, lift: Any, kernel: Any, gamma: Any, degree: int | None, coef0: float | None, budget: Any = None
    ) -> "SpaceOptions":
        """Return the space, if these options go together."""
        numbers = {"gamma": gamma, "degree": degree, "coef0": coef0, "budget": budget}
        given = {name: value for name, value in numbers.items() if value is not None}
        if kernel is None and given:
            raise ValueError(f"--{next(iter(given))} requires --kernel")
        if kernel is not None and lift is not None:
            raise ValueError("--lift and --kernel cannot be combined; choose one")
        for name in given:
            if kernel is not None and name not in (*KERNELS[kernel], "budget"):
                raise ValueError(f"the kernel {kernel} has no --{name}; omit it")
        return cls(lift, kernel, given)

    @property
    def kernel_space(self) -> Any:
        """The space of the kernel, if there is one."""
        from novikoff.learn.kernel.space import KernelSpace

        return None if self.kernel is None else KernelSpace(self.kernel, **self.numbers)

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given."""
        known = {"lift": self.lift, "kernel": self.kernel, **self.numbers}
        return {name: value for name, value in known.items() if value is not None}

    def has_bias(self, fit_intercept: bool) -> bool:
        """Whether there is an intercept; in the space of a kernel only if requested."""
        if self.kernel is None:
            return fit_intercept
        source = click.get_current_context().get_parameter_source("fit_intercept")
        return fit_intercept and source is not None and source.name == "COMMANDLINE"

    def check_size(self, examples: "Examples") -> None:
        """Refuse what is too large for a kernel."""
        if self.kernel is None:
            return
        rows = f"{examples.n_rows:,} rows"
        if examples.n_entries > MOST_NUMBERS:
            raise ValueError(
                f"{rows} of {examples.n_entries:,} numbers are too many for a kernel, which keeps them in memory; "
                "learn from fewer rows, or without --kernel"
            )
        if examples.n_rows > MOST_ROWS and self.numbers.get("budget") is None:
            raise ValueError(
                f"{rows} are too many for a kernel, which compares each with all mistakes; bound these by "
                "--budget 1000, or learn from fewer rows, or use --lift"
            )

    def exact_kernel(self, examples: "Examples", learned: Any = None) -> "ExactKernel | None":
        """Return the kernel with its numbers settled, for proofs: those of a run, which may have seen fewer rows."""
        if self.kernel is None:
            return None
        from novikoff.data.batches import stacked
        from novikoff.learn.kernel.kernels import as_points, make_kernel
        from novikoff.prove.separable.kernels import ExactKernel

        if learned is not None:
            settled = learned.memory.kernel
        else:
            points = as_points(stacked([block.rows for block in examples.blocks()]), self.kernel)
            numbers = {name: value for name, value in self.numbers.items() if name != "budget"}
            settled = make_kernel(self.kernel, points, **numbers)
        form: Any = self.kernel
        return ExactKernel(form, **{name: getattr(settled, name) for name in KERNELS[form]})

    def certify(self, examples: "Examples", **asked: Any) -> "Certificate":
        """Certify the examples in this space."""
        if self.kernel is not None and len(examples.classes) > 2:
            raise ValueError(f"--kernel is for two classes, and there are {len(examples.classes)}: {examples.classes}")
        self.check_size(examples)
        return _certified(examples, self.exact_kernel(examples), **asked)

    def certify_unasked(self, examples: "Examples", learned: Any, **asked: Any) -> "Certificate | Uncertified":
        """Certify the examples beside a model, if that is quick; or return why not."""
        from novikoff.prove.separable.certificate import Witnesses
        from novikoff.prove.separable.feature_space import InFeatureSpace, conclude_kernel

        try:
            kernel = self.exact_kernel(examples, learned)
            if (why := self._why_not(examples, kernel)) is not None:
                return Uncertified(why)
            if kernel is not None and not kernel.is_rational and examples.n_rows > MOST_POWER_ROWS:
                data = InFeatureSpace.of(examples, None, kernel, False)
                if not any(data.contradicted):
                    return conclude_kernel(data, Witnesses())  # by the theorem; for a margin there are too many
            return _certified(examples, kernel, tolerance=1e-6, **asked)
        except KeyboardInterrupt:
            return Uncertified("interrupted", failed=True)
        except (MemoryError, ValueError) as error:
            return Uncertified(sentence(error), failed=True)

    def _why_not(self, examples: "Examples", kernel: "ExactKernel | None") -> str | None:
        """Return why a certificate would be slow, or is impossible."""
        if kernel is None:
            much = f"{examples.n_entries:,} numbers" if examples.n_entries > MOST_CERTIFIED else None
        elif len(examples.classes) > 2:
            return "kernels are certified for two classes only"
        elif "budget" in self.numbers:
            return "a budget forgets mistakes, and no theorem bounds how many more are made"
        else:
            is_much = kernel.is_rational and examples.n_rows > MOST_KERNEL_ROWS
            much = f"{examples.n_rows:,} rows" if is_much else None
        return much and f"{much} are too many to certify automatically; run novikoff certify"


def _certified(examples: "Examples", kernel: "ExactKernel | None", **asked: Any) -> "Certificate":
    from novikoff.prove.separable.search.kernel import certify_kernel
    from novikoff.prove.separable.search.working_set import certify_examples

    return certify_examples(examples, **asked) if kernel is None else certify_kernel(examples, None, kernel, **asked)


class Uncertified(NamedTuple):
    """Why there is no certificate, and whether that is unexpected."""

    why: str
    failed: bool = False


space_options = grouped("space", SpaceOptions.chosen, *_OPTIONS)
space_options_of_a_learner = grouped("space", SpaceOptions.chosen, *_OPTIONS, BUDGET)
