"""Where a separator is looked for: among the features of a table, among these lifted, or in the space of a kernel."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from novikoff.data.examples import Examples
    from novikoff.features.lift import Lift
    from novikoff.prove.separable.kernels import Kernel

Command = Callable[..., Any]

LIFTS = ("paraboloid", "squares")

# The kernels, and the numbers that each has.
KERNELS = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "linear": (), "laplacian": ("gamma",)}

# Without a budget every mistake is kept, and every row is compared with all of them.
MOST_ROWS, MOST_NUMBERS = 100_000, 50_000_000


class Gamma(click.ParamType):  # type: ignore[type-arg]
    """A positive number, or a word for one that follows from the rows."""

    name = "gamma"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float | str:
        if value in ("scale", "auto"):
            return str(value)
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not 0.0 < number < float("inf"):
            self.fail(f"{value!r} is neither a positive number nor 'scale' nor 'auto'", parameter, context)
        return number


def space_options(command: Command) -> Command:
    """--lift, --kernel, and the numbers of a kernel; the command gets them as `space`, and --budget, too."""

    @functools.wraps(command)
    def wrapped(*args: Any, lift: Any, kernel: str | None, **kwargs: Any) -> Any:
        numbers = {name: kwargs.pop(name) for name in ("gamma", "degree", "coef0", "budget") if name in kwargs}
        return command(*args, space=Space.chosen(lift, kernel, **numbers), **kwargs)

    result: Any = wrapped
    for option in (
        click.option("--coef0", type=float, metavar="C", help="The constant of the kernel poly.  [default: 1]"),
        click.option(
            "--degree", type=click.IntRange(min=1), metavar="N", help="The degree of the kernel poly.  [default: 3]"
        ),
        click.option(
            "--gamma", type=Gamma(), metavar="G|scale|auto",
            help="The width of a kernel; scale: 1/(features x variance), auto: 1/features.  [default: scale]",
        ),
        click.option("--kernel", type=click.Choice(list(KERNELS)), help="Separate in the space of this kernel."),
        click.option(
            "--lift", type=click.Choice(LIFTS),
            help="Add the squared length, for circles and balls, or the square of every number, for ellipses.",
        ),
    ):  # fmt: skip
        result = option(result)
    return result


@dataclass(frozen=True)
class Space:
    """A lift, or a kernel with the options that were given for it, or neither."""

    lift: "Lift | None" = None
    kernel: str | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def chosen(cls, lift: Any, kernel: str | None, **numbers: Any) -> "Space":
        """The space, if these options go together; `numbers` are options of a kernel."""
        given = {name: value for name, value in numbers.items() if value is not None}
        if kernel is None and given:
            raise ValueError(f"--{next(iter(given))} belongs to a kernel; choose one by --kernel, or leave it out")
        if kernel is not None and lift is not None:
            raise ValueError("--lift and --kernel are two ways to another space; choose one")
        for name in given:
            if kernel is not None and name not in (*KERNELS[kernel], "budget"):
                raise ValueError(f"the kernel {kernel} has no --{name}; leave it out")
        return cls(lift, kernel, given)

    @property
    def options(self) -> dict[str, Any]:
        """The options of the learner that they are."""
        return {} if self.kernel is None else {"kernel": self.kernel, **self.numbers}

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given."""
        known = {"lift": self.lift, "kernel": self.kernel, **self.numbers}
        return {name: value for name, value in known.items() if value is not None}

    def has_bias(self, fit_intercept: bool) -> bool:
        """Whether planes have a bias; in the space of a kernel only if that was said."""
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
                f"{rows} of {examples.n_entries:,} numbers are too many for a kernel, which has them all in memory; "
                "learn from fewer rows, or without --kernel"
            )
        if examples.n_rows > MOST_ROWS and self.numbers.get("budget") is None:
            raise ValueError(
                f"{rows} are too many for a kernel, which compares each with all mistakes; bound these by "
                "--budget 1000, or learn from fewer rows, or use --lift"
            )

    def exact_kernel(self, examples: "Examples", learned: Any = None) -> "Kernel | None":
        """The kernel with its numbers settled, as proofs have it: those of a run, which may have seen fewer rows."""
        if self.kernel is None:
            return None
        from novikoff.data.blocks import stacked
        from novikoff.learn.kernel.kernels import as_points, make_kernel
        from novikoff.prove.separable.kernels import Kernel

        if learned is not None:
            settled = learned.memory.kernel
        else:
            points = as_points(stacked([block.rows for block in examples.blocks()]), self.kernel)
            numbers = {name: value for name, value in self.numbers.items() if name != "budget"}
            settled = make_kernel(self.kernel, points, **numbers)
        return Kernel.of(self.kernel, **{name: getattr(settled, name) for name in KERNELS[self.kernel]})
