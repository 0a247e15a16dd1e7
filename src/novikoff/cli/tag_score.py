"""`novikoff tag score`: count right labels and right chunks on labelled sentences."""

from typing import Any

import click

from novikoff.cli import options
from novikoff.cli.options import Output
from novikoff.cli.sentences import layout


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@layout
@click.option("--label", metavar="COL", help="The column with the labels.  [default: the last]")
@click.option(
    "--scheme",
    type=click.Choice(["IOB1", "IOB2", "IOBES", "BILOU", "none"]),
    default="IOB2",
    show_default=True,
    help="How labels mark chunks; none if they mark none.",
)
@options.answering
def score(
    model: str,
    file: str,
    columns: str | None,
    separator: str | None,
    comment: str | None,
    label: str | None,
    scheme: str,
    output: Output,
) -> None:
    """Count the labels and the chunks that MODEL gets right on the labelled sentences in FILE.

    Chunks are scored as the shared tasks score them: type, first and last token have to be right.
    """
    from novikoff.cli import documents
    from novikoff.cli.models import load_model
    from novikoff.cli.render import answer
    from novikoff.cli.sentences import columns_of, read_sentences
    from novikoff.learn.chain.tagger import Tagger
    from novikoff.learn.chunk_scores import score_chunks

    tagger = load_model(model, Tagger)
    sentences = read_sentences(file, columns_of(tagger, columns, file, labelled=True), separator, comment)
    gold = sentences.column(label or sentences.columns[-1])
    found = [[str(name) for name in names] for names in tagger.label(sentences)]
    right = sum(a == b for truth, guess in zip(gold, found, strict=True) for a, b in zip(truth, guess, strict=True))
    chunks = None
    if scheme != "none":
        scores = score_chunks(gold, found, scheme)
        counts = {**scores.by_type, "all": scores.overall}
        chunks = [
            {"type": name, "precision": c.precision, "recall": c.recall, "f1": c.f1,
             "gold": c.gold, "found": c.found, "correct": c.correct}
            for name, c in counts.items()
        ]  # fmt: skip
    document = documents.document(
        "tag score", model=model, file=file, sentences=len(gold), tokens=sentences.n_tokens, right_tokens=right,
        accuracy=right / sentences.n_tokens, chunks=chunks,
    )  # fmt: skip
    answer(output, document, lambda: panel(document))


def panel(document: dict[str, Any]) -> Any:
    """The accuracy, and precision, recall and F1 of the chunks."""
    from novikoff.cli.render import columns, facts

    table = None
    if document["chunks"] is not None:
        header = ("type", "precision", "recall", "F1", "gold", "found", "correct")
        rows = [
            (c["type"] or "(none)", *(f"{c[k]:.2%}" for k in ("precision", "recall", "f1")),
             *(f"{c[k]:,}" for k in ("gold", "found", "correct")))
            for c in document["chunks"]
        ]  # fmt: skip
        table = columns(header, rows)
    return facts(
        f"novikoff tag score {document['file']}",
        [
            ("read", f"{document['sentences']:,} sentences, {document['tokens']:,} tokens"),
            ("labels", f"{document['right_tokens']:,} right ({document['accuracy']:.2%})"),
            ("chunks", table),
        ],
    )
