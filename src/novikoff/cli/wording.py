"""What panels say of data, runs and certificates."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from novikoff.cli.documents import Document
from novikoff.cli.render import BAD, GOOD, columns, in_words, listed, stacked, weights_table
from novikoff.learn.run import Stopped
from novikoff.prove.separable.question import Verdict
from novikoff.say import runs as say
from novikoff.say.runs import NO_WEIGHTS, READOUT_WORDS
from novikoff.say.words import counted, radius_in_words, whole_at_most

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from novikoff.learn.run import Run
    from novikoff.prove.run.bounds import FreundSchapireBound
    from novikoff.prove.separable.certificate import Certificate


def what_was_read(data: Document) -> "RenderableType":
    """Rows, labels, and what became of each column."""
    from rich.text import Text

    label = "" if data["label"] is None else f" {data['label']}"
    classes = [
        f"{in_words(name)} ({count:,})" for name, count in zip(data["classes"], data["class_counts"], strict=True)
    ]
    first = f"{counted(data['rows'], 'row')} of {counted(data['features'], 'feature')}; label{label}: {listed(classes)}"
    kinds: dict[str, list[str]] = {}
    for column in data["columns"]:
        kinds.setdefault(column["kind"], []).append(_with_detail(column))
    lacking = [column["name"] for column in data["columns"] if column["detail"].endswith("some are missing")]
    if lacking:
        kinds["missing"] = [f"some values of {listed(lacking, 24)}, each a feature of its own"]
    return stacked(Text(first), columns(("", ""), [(kind, listed(names, 24)) for kind, names in kinds.items()], left=2))


def _with_detail(column: Document) -> str:
    if column["kind"] == "categorical":
        return f"{column['name']} ({column['detail'].partition(':')[0]})"
    return f"{column['name']} ({column['detail']})" if column["kind"] == "ignored" else column["name"]


def learned(document: Document, run: "Run", classes: list[Any]) -> "RenderableType":
    """The heaviest attributes, or the kernel and how many examples it is compared with."""
    if document["kernel"] is not None:
        return str(document["kernel"]["in_words"])
    return weights(document["weights"], run, classes)


def weights(heaviest: list[Document], run: "Run", classes: list[Any]) -> "RenderableType":
    """The largest weights by name, and which class they favour."""
    from rich.text import Text

    if not heaviest:
        return Text("all weights are 0" if run.readout != "vote" else NO_WEIGHTS)
    largest = f"{len(heaviest)} largest of {READOUT_WORDS[run.readout]}"
    if len(classes) == 2:
        what = f"{largest}; positive values favour {in_words(classes[1])!r}"
    else:
        what = f"{largest}, each after its class"
    return stacked(Text(what), weights_table(heaviest))


def ending(run: "Run") -> "RenderableType":
    """When and why it stopped."""
    from rich.text import Text

    return Text(say.ending(run), style=GOOD if run.stopped is Stopped.NO_MISTAKES else BAD)


def lead(run: "Run", was_chosen: bool) -> str | None:
    """By how much an example had to be right so as not to be learned, who says so, and what it proves in the end."""
    if not run.lead:
        return "none (chosen on the validation rows)" if was_chosen else None
    asked = f"updates unless correct by more than {run.lead:g} R^2"
    asked = f"{asked} (chosen on the validation rows)" if was_chosen else asked
    separated = say.separated(run)
    return asked if separated is None else f"{asked}; {separated}"


def class_weights(
    weights: list[float] | None, classes: list[Any], certificate: "Certificate | None", run: "Run | None"
) -> str | None:
    """By what the examples of each class were multiplied, and how many updates the theorem then allows."""
    if weights is None:
        return None
    shown = listed([f"{in_words(label)} times {number:.3g}" for label, number in zip(classes, weights, strict=True)])
    bound = None if certificate is None or run is None else certificate.update_bound(run.lead)
    if bound is None:
        return shown
    square = (Fraction(max(weights)) / Fraction(min(weights))) ** 2
    most = whole_at_most(math.floor(bound * square))
    return f"{shown}; the theorem then allows {float(square):.3g} times as many updates, {most}"


def validation(run: "Run") -> str | None:
    """How the number of epochs was chosen."""
    if not run.validation_errors:
        return None
    fewest = counted(min(run.validation_errors), run.validation_error)
    return f"{counted(run.epochs, 'epoch')} chosen, with {fewest} on the validation rows"


def verdict(certificate: "Certificate") -> "Text":
    """The verdict in a word and in a sentence."""
    from rich.text import Text

    word = certificate.verdict.value
    style = GOOD if certificate.verdict is Verdict.SEPARABLE else BAD
    rest = certificate.verdict_in_words.removeprefix(word)
    return Text.assemble((word, f"bold {style}"), f"{rest}: {certificate.meaning}")


def certified(certificate: "Certificate | None", why_not: str | None, run: "Run") -> "RenderableType":
    """The verdict, and of which rows, if the run has seen fewer; or why there is none."""
    from rich.text import Text

    if certificate is None:
        return f"skipped: {why_not}"
    aside = run.held_out_rows
    whose = f" (of all {certificate.n_rows:,} rows, {aside:,} of which were held out)" if aside else ""
    return Text.assemble(verdict(certificate), whose)


def consequence(certificate: "Certificate | None", run: "Run") -> str | None:
    """What follows from the verdict, and on which rows, if the run has seen fewer."""
    known = None if certificate is None else certificate.consequence
    return f"on all rows, {known}" if known is not None and run.held_out_rows else known


def labels_told_apart(data: Document) -> str:
    """The column of the labels, and the classes in order."""
    where = "" if data["label"] is None else f"{data['label']}: "
    return f"{where}{listed([in_words(label) for label in data['classes']], 24)}"


def claimed(certificate: "Certificate | None", problem: str | None, model: str) -> "RenderableType | None":
    """What a certificate in a model file claims, unchecked."""
    from rich.text import Text

    if problem is not None:
        return Text(f"unproved: {problem}", style=BAD)
    if certificate is None:
        return None
    return Text(f"claims {certificate.verdict.value}; verify it with novikoff check {model} FILE")


def expected_error(run: "Run") -> str:
    """What is known of the error on new rows, and what to do if that is nothing."""
    return run.generalisation().with_hint(" (add --held-out 0.2)")


def review(document: Document) -> str | None:
    """What is proved of the predictions that no person looks at."""
    return document["review"]["in_words"] if "review" in document else None


def margin(certificate: "Certificate") -> str | None:
    """What is known of the margin, and R."""
    known = certificate.margin_in_words
    return None if known is None else f"{known}; {radius_in_words(certificate.radius)}"


def allowed(left: "FreundSchapireBound | None") -> str | None:
    """What is left of the theorem where nothing separates."""
    if left is None:
        return None
    return f"Freund and Schapire (1999): {left.promise}{f'; {left.projection}' if left.projection else ''}"


def bound(certificate: "Certificate | None", run: "Run") -> str | None:
    """The mistakes made, against those that the theorem allows, or the margins that they rule out."""
    against = (
        None if certificate is None or run.weighted else certificate.against_bound(run.mistakes, run.narrow, run.lead)
    )
    return against or say.made_rule_out(run)
