"""The parts of a report that are about the data and the model: columns, run, picture, weights, confusion."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.features.encode import Encoding
from novikoff.learn.kernel.model import KernelModel
from novikoff.learn.linear.model import LinearModel
from novikoff.learn.linear.worked import WorkedRun
from novikoff.learn.model import Classifier
from novikoff.learn.run import Run
from novikoff.prove.separable.question import Problem
from novikoff.say import runs as say
from novikoff.say.runs import NO_WEIGHTS, READOUT_WORDS
from novikoff.say.words import counted, label_in_words, radius_in_words
from novikoff.show.report.charts import Bar, Curve, bar_chart, column_chart, line_chart, scatter
from novikoff.show.report.check import Names
from novikoff.show.report.evidence import Evidence
from novikoff.show.report.markup import (
    Markup,
    cut,
    element,
    facts,
    figure,
    joined,
    left_out,
    name,
    names,
    section,
    table,
)
from novikoff.show.style import typeset

MOST_COLUMNS = 40
MOST_CLASSES = 40
MOST_BARS = 20
MOST_EPOCH_COLUMNS = 60
WIDEST_TABLE = 20


def data_section(
    called: Names, size: tuple[int, int], classes: Sequence[Any], counts: Sequence[int], encoding: Encoding | None
) -> Markup:
    """What was read, and what became of each column."""
    rows, features = size
    sentence = f"{counted(rows, 'row')} became examples of {counted(features, 'feature')}, each of one class."
    by_class = [(name(c), f"{n:,}", f"{n / max(rows, 1):.1%}") for c, n in zip(classes, counts, strict=True)]
    notes = () if encoding is None else encoding.describe()
    columns = [(name(note.column), note.kind, cut(note.detail, 160)) for note in notes[:MOST_COLUMNS]]
    return section(
        "The data",
        sentence,
        facts(
            [
                ("file", names(called.files, 8) if called.files else None),
                ("label", None if called.label is None else name(called.label)),
            ]
        ),
        table(("class", "rows", "share"), by_class[:MOST_CLASSES]),
        left_out(MOST_CLASSES, len(by_class), "classes"),
        element("h3", "What became of each column") if columns else None,
        table(("column", "kind", "detail"), columns, left=3) if columns else None,
        left_out(MOST_COLUMNS, len(notes), "columns"),
    )


def run_section(model: Classifier, steps: WorkedRun | None = None) -> Markup:
    """How many mistakes, in which epochs, why it stopped, what is wrong in the end."""
    run = model.record
    sentence = "On every mistake the example is added to the weights; what is counted here are those mistakes."
    return section(
        "The run",
        sentence,
        facts(
            [
                ("stopped", say.ending(run)),
                ("mistakes", say.made(run)),
                ("returned", say.returned(run)),
                ("errors", say.wrong(run)),
                ("longest example", typeset(radius_in_words(run.radius))),
                ("sum of the mistakes", f"‖w‖ = {run.weights_length:.6g}"),
                ("expected error", run.generalisation().with_hint(" (add --held-out 0.2)")),
            ]
        ),
        _epochs(run),
        None if steps is None else element("h3", "Step by step"),
        None if steps is None else table(steps.HEADER, steps.lines(), left=len(steps.HEADER)),
        _to_come(run),
        _asked(model),
    )


def _epochs(run: Run) -> Markup | None:
    made = run.mistakes_per_epoch
    if not made:
        return None
    says = f"Mistakes of each of {'the first ' if run.epochs > len(made) else ''}{counted(len(made), 'epoch')}"
    if len(made) <= MOST_EPOCH_COLUMNS:
        chart = column_chart(made, x_name="epoch", y_name="mistakes", says=says)
    else:
        curve = Curve("mistakes in the epoch", np.arange(1.0, len(made) + 1), np.array(made, dtype=np.float64), "blue")
        chart = line_chart([curve], x_name="epoch", y_name="mistakes", says=says)
    end = "The last epoch made none: " if made[-1] == 0 else ""
    return figure(chart, f"{end or ''}{'its weights have every training row on its side.' if end else f'{says}.'}")


def _to_come(run: Run) -> Markup | None:
    """All statements about new rows, each with the predictor that it speaks of and what it assumes."""
    found = run.generalisation().statements
    if not found:
        return None
    lines = [(one.name, one.predictor, one.in_words, one.assumes) for one in found]
    title = element("h3", "What the run says about new rows")
    return joined([title, table(("by", "of", "wrong", "assuming that"), lines, left=4)])


def _asked(model: Classifier) -> Markup | None:
    """The options, which together with the file repeat the run."""
    given = [(key, value) for key, value in model.parameters.items() if value is not None]
    if not given:
        return None
    return joined(
        [element("h3", "The options"), table(("option", "value"), [(name(k), name(v)) for k, v in given], left=2)]
    )


def picture_section(evidence: Evidence) -> Markup | None:
    """The two features as a picture."""
    picture = evidence.picture
    if picture is None:
        return None
    shown, total = len(picture.x), evidence.picture_rows
    some = f"{shown:,} of {total:,} rows, evenly spaced" if shown < total else f"All {total:,} rows"
    if picture.regions is not None:
        sentence = f"{some}; the shades are the regions of the classes."
    elif picture.lines:
        sentence = f"{some}, and the line where the decision changes."
    else:
        sentence = f"{some}; {Problem.BINARY.no_separator.replace('plane', 'line')}."
    other = (
        "The model has other features, too: the picture is drawn where these are 0, which for a number means its mean. "
        "Rows lie elsewhere in those, so that some may be right on what looks like the wrong side."
    )
    return section("The picture", sentence, figure(scatter(picture, says=sentence)), _note(evidence.is_section, other))


def _note(applies: bool, words: str) -> Markup | None:
    return element("p", words, class_="note") if applies else None


def weights_section(model: Classifier) -> Markup:
    """The heaviest features by name; or, in the space of a kernel, what is there in their place."""
    title = "The heaviest features"
    if isinstance(model, KernelModel):
        return section("What predicts", f"{model.in_words[0].upper()}{model.in_words[1:]}.")
    if not isinstance(model, LinearModel):
        raise TypeError(f"a report has no words for the weights of a {type(model).__name__}")
    if model.readout == "vote":
        return section(title, f"{NO_WEIGHTS.capitalize()}.")
    found = [weight for weight in model.weights_by_name() if weight.name is not None]
    if not found:
        return section(title, "All weights are 0.")
    heaviest = found[:MOST_BARS]
    which = READOUT_WORDS[model.readout]
    if len(model.classes) == 2:
        first, second = (name(label) for label in model.classes.tolist())
        sentence = [f"The largest of {which}: a positive one (full) speaks for ", second]
        sentence += [", a negative one (hollow) for ", first, "."]
    else:
        sentence = [f"The largest of {which}: each speaks for (full) or against (hollow) the class before it."]
    bars = [
        Bar(
            cut(str(w.name), 300)
            if w.label is None
            else f"{cut(label_in_words(w.label), 14)}: {cut(str(w.name), 280)}",
            w.weight,
        )
        for w in heaviest
    ]
    note = f"{len(heaviest):,} of {len(found):,} weights that are not 0; novikoff inspect shows all of them."
    return section(title, joined(sentence), figure(bar_chart(bars, says=f"The {len(bars)} heaviest weights"), note))


def confusion_section(confusion: NDArray[np.int64], classes: Sequence[Any]) -> Markup:
    """Which class was taken for which."""
    total, wrong = int(confusion.sum()), int(confusion.sum() - np.trace(confusion))
    sentence = f"{wrong:,} of {total:,} rows are given another class than theirs."
    if len(classes) <= WIDEST_TABLE:
        words = "A line is a class of the table, a column what the model takes it for; a framed cell is right."
        return section("Confusion", sentence, heat(confusion, classes), element("p", words, class_="note"))
    off = confusion - np.diag(np.diag(confusion))
    order = np.argsort(-off, axis=None, kind="stable")[:MOST_CLASSES]
    pairs = [divmod(int(place), len(classes)) for place in order if off.flat[place] > 0]
    lines = [(name(classes[i]), name(classes[j]), f"{off[i, j]:,}") for i, j in pairs]
    parts = [table(("class", "taken for", "rows"), lines, left=2)] if lines else []
    worst = np.argsort(-off.sum(axis=1), kind="stable")[:MOST_CLASSES].tolist()
    by_class = [(name(classes[i]), f"{confusion[i].sum():,}", f"{off[i].sum():,}") for i in worst]
    return section(
        "Confusion",
        sentence,
        element("h3", "What is taken for what most often"),
        *(parts or [element("p", "Nothing is.")]),
        left_out(len(lines), int(np.count_nonzero(off)), "pairs of classes, the most frequent,"),
        element("h3", "The classes with most errors"),
        table(("class", "rows", "wrong"), by_class),
        left_out(len(by_class), len(classes), "classes"),
    )


def heat(counts: NDArray[np.int64], classes: Sequence[Any]) -> Markup:
    """A table of counts, shaded by the share of the line, so that rare classes are seen as well."""
    head = element("tr", element("th", "class \\ guess"), *(element("th", name(c, 20)) for c in classes))
    lines = []
    for i, (label, line) in enumerate(zip(classes, counts.tolist(), strict=True)):
        total = max(sum(line), 1)
        cells = [element("td", f"{n:,}", class_=_shade(n / total, i == j)) for j, n in enumerate(line)]
        lines.append(element("tr", element("th", name(label, 30)), *cells))
    body = [element("thead", head), element("tbody", *lines)]
    return element("div", element("table", *body, class_="heat"), class_="wide")


def _shade(share: float, is_right: bool) -> str:
    level = int(np.searchsorted([0.0, 0.05, 0.2, 0.5, 0.8], share, side="left"))
    return f"h{level}" + (" right" if is_right else "")
