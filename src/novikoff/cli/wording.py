"""What several panels show: data, weights, how a run ended, and verdicts, in columns and colours."""

from typing import TYPE_CHECKING, Any

from novikoff.cli.documents import Document
from novikoff.cli.render import BAD, GOOD, columns, in_words, listed, stacked, weights_table
from novikoff.learn.run import Stopped
from novikoff.prove.separable.question import Verdict
from novikoff.say import runs as say
from novikoff.say.certificates import of_all_rows
from novikoff.say.runs import NO_WEIGHTS, READOUT_WORDS
from novikoff.say.words import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from novikoff.learn.run import Run
    from novikoff.prove.separable.certificate import Certificate


def what_was_read(data: Document) -> "RenderableType":
    """Show rows, labels, and what became of each column."""
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


def weights(heaviest: list[Document], run: "Run", classes: list[Any]) -> "RenderableType":
    """Show the largest weights by name, and which class they favour."""
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
    """Show when and why it stopped."""
    from rich.text import Text

    return Text(say.ending(run), style=GOOD if run.stopped is Stopped.NO_MISTAKES else BAD)


def verdict(certificate: "Certificate") -> "Text":
    """Show the verdict in a word and in a sentence."""
    from rich.text import Text

    word = certificate.verdict.value
    style = GOOD if certificate.verdict is Verdict.SEPARABLE else BAD
    rest = certificate.verdict_in_words.removeprefix(word)
    return Text.assemble((word, f"bold {style}"), f"{rest}: {certificate.meaning}")


def certified(certificate: "Certificate | None", why_not: str | None, run: "Run") -> "RenderableType":
    """Show the verdict, and of which rows, if the run has seen fewer; or why there is none."""
    from rich.text import Text

    if certificate is None:
        return f"skipped: {why_not}"
    return Text.assemble(verdict(certificate), of_all_rows(certificate.n_rows, run.held_out_rows))
