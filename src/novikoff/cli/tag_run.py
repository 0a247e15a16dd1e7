"""`novikoff tag run`: add a column of labels to sentences."""

import io
import sys

import click

from novikoff.cli import options
from novikoff.cli.options import Output
from novikoff.cli.sentences import layout


@click.command()
@click.argument("model", type=click.Path())
@click.argument("file", type=options.FILE)
@layout
@click.option("--out", type=click.Path(), metavar="OUT", help="Where to write.  [default: standard output]")
@options.force
@options.answering
def run(
    model: str,
    file: str,
    columns: str | None,
    separator: str | None,
    comment: str | None,
    out: str | None,
    force: bool,
    output: Output,
) -> None:
    """Write the sentences in FILE with one more column: the labels that MODEL gives them.

    FILE has the columns of the training file, with or without the labels. With --json, standard output has one object a
    sentence: its number and its labels.
    """
    from novikoff.cli import documents
    from novikoff.cli.models import load_model
    from novikoff.cli.outputs import check_free
    from novikoff.cli.render import answer, as_json, facts, on_a_terminal
    from novikoff.cli.sentences import as_separator, columns_of, read_sentences
    from novikoff.data.conll import write_conll
    from novikoff.learn.chain.tagger import Tagger

    target = None if out is None else check_free(out, force)
    tagger = load_model(model, Tagger)
    names = columns_of(tagger, columns, file, labelled=False)
    sentences = read_sentences(file, names, separator, comment)
    labels = tagger.label(sentences)
    if output.json and target is None:
        for number, found in enumerate(labels):
            click.echo(as_json({"sentence": number, "labels": found}))
        return
    text = {"predicted": [[str(label) for label in found] for found in labels]}
    shown = io.BytesIO() if target is None and sys.stdout.isatty() else None
    write_conll(target or shown or sys.stdout.buffer, sentences, text, separator=as_separator(separator))
    if shown is not None:
        click.echo(on_a_terminal(shown.getvalue().decode()), nl=False)
    if target is not None:
        document = documents.document(
            "tag run", model=model, file=file, out=str(target), sentences=len(labels), tokens=sentences.n_tokens
        )
        size = f"{len(labels):,} sentences, {sentences.n_tokens:,} tokens"
        answer(
            output, document, lambda: facts(f"novikoff tag run {file}", [("labelled", size), ("written", str(target))])
        )
