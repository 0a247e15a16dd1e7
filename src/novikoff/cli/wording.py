"""What panels say of data, runs and certificates."""

from typing import TYPE_CHECKING, Any

from novikoff.cli.documents import Document
from novikoff.cli.render import BAD, GOOD, columns, in_words, listed, stacked, weights_table
from novikoff.engine.rounding import at_most
from novikoff.learn.record import Stopped, counted
from novikoff.prove.separable.certificate import Bracket
from novikoff.prove.separable.question import Problem

if TYPE_CHECKING:
    from rich.console import RenderableType

    from novikoff.prove.separable.certificate import Certificate

READOUTS = {"last": "the last weights", "average": "the averaged weights", "vote": "the vote of all weights"}


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
    return stacked(Text(first), columns(("", ""), [(kind, listed(names, 24)) for kind, names in kinds.items()], left=2))


def _with_detail(column: Document) -> str:
    if column["kind"] == "categorical":
        return f"{column['name']} ({column['detail'].partition(':')[0]})"
    return f"{column['name']} ({column['detail']})" if column["kind"] == "ignored" else column["name"]


def weights(heaviest: list[Document], run: Document, classes: list[Any]) -> "RenderableType":
    """The heaviest attributes by name, and what their sign speaks for."""
    from rich.text import Text

    if not heaviest:
        return Text("all weights are 0" if run["readout"] != "vote" else "a vote, which has no weights of its own")
    if len(classes) == 2:
        what = f"the heaviest of {READOUTS[run['readout']]}; a positive one speaks for {in_words(classes[1])}"
    else:
        what = f"the heaviest of {READOUTS[run['readout']]}, each of the class before it"
    return stacked(Text(what), weights_table(heaviest))


def why_it_stopped(run: Document) -> "RenderableType":
    from rich.text import Text

    good = run["stopped"] == "NO_MISTAKES"
    why = f"after {counted(run['epochs'], 'epoch')}: {Stopped[run['stopped']].value}"
    return Text(why, style=GOOD if good else BAD)


def mistakes(run: Document) -> str:
    made = f"{counted(run['mistakes'], 'mistake')} on {counted(run['examples'], 'example')}"
    per_epoch = run["mistakes_per_epoch"]
    return f"{made}; by epoch: {listed(per_epoch, 14)}" if per_epoch else made


def errors(run: Document, what: str = "training rows") -> str | None:
    if run["errors"] is None:
        return None
    return f"{run['errors']:,} of {run['rows']:,} {what} are wrong ({READOUTS[run['readout']]})"


def verdict(certificate: Document) -> "RenderableType":
    """The verdict in a word and in a sentence."""
    from rich.text import Text

    word = certificate["verdict"]
    style = GOOD if word == "separable" else BAD
    return Text.assemble((word, f"bold {style}"), f" ({certificate['arithmetic']}): {certificate['meaning']}")


def question(certificate: Document) -> str:
    """What was asked."""
    return Problem(certificate["problem"]).question(certificate["fit_intercept"])


def labels_told_apart(data: Document, certificate: Document) -> str:
    """The column of the labels, and the classes in order."""
    where = "" if data["label"] is None else f"{data['label']}: "
    return f"{where}{listed([in_words(label) for label in data['classes']], 24)}"


def claimed(certificate: Document | None, problem: str | None, model: str) -> "RenderableType | None":
    """What a certificate in a model file claims; nobody has checked it here."""
    from rich.text import Text

    if problem is not None:
        return Text(f"unproved: {problem}", style=BAD)
    if certificate is None:
        return None
    return Text(f"it claims {certificate['verdict']}; novikoff check {model} FILE proves it from the table")


def margin(certificate: Document) -> str | None:
    """The bracket of the margin, and R."""
    bracket = Bracket(*certificate["margin"])
    longest = "R is not finite" if certificate["radius"] is None else f"R <= {at_most(certificate['radius'])}"
    if certificate["verdict"] == "separable":
        return f"gamma {bracket.words}; {longest}"
    if certificate["verdict"] == "undecided" and bracket.upper:
        return f"gamma is {bracket.words}; {longest}"
    return None


def bound(certificate: Document | None, run: Document) -> str | None:
    """The mistakes made, against those that the theorem allows."""
    if certificate is None or certificate["mistake_bound"] is None:
        known = run["margin_at_most"]
        if known is None:
            return None
        return f"{counted(run['mistakes'], 'mistake')} made rule out every margin above {at_most(known)}"
    limit = f"{Problem(certificate['problem']).formula} = {certificate['mistake_bound']:,}"
    return f"{counted(run['mistakes'], 'mistake')} made; the theorem allows {limit}"


def allowed(certificate: Document) -> str | None:
    """How many mistakes the theorem allows."""
    if certificate["mistake_bound"] is None:
        return None
    most = counted(certificate["mistake_bound"], "mistake")
    return f"a perceptron makes at most {Problem(certificate['problem']).formula} = {most}"


def obstruction(certificate: "Certificate") -> str | None:
    """The rows that stand in the way of a separator."""
    if certificate.obstruction is None:
        return None
    rows, weights, _ = certificate.obstruction
    as_points = certificate.problem.as_points
    if max(weights) >= 10**6 or len(rows) > 8:
        whose = f"{counted(len(rows), 'row')} (the first is 0)"
        return f"{whose}, {as_points}, with whole weights, cancel exactly: {listed(rows, 10)}"
    return f"rows (the first is 0) {as_points} cancel exactly: {certificate.obstruction.terms(8)} = 0"


def diverging(certificate: Document) -> str | None:
    """The coefficients that logistic regression sends to infinity."""
    found = certificate["diverging"]
    if not found:
        return None
    if all(sign == "sign undetermined" for sign in found.values()):
        return f"all {len(found):,} estimates of logistic regression are infinite, each in either direction"
    undetermined = [name for name, sign in found.items() if sign == "sign undetermined"]
    signed = [f"{name} ({sign})" for name, sign in found.items() if sign != "sign undetermined"]
    parts = [listed(signed, 8)] if signed else []
    parts += [f"of undetermined sign: {listed(undetermined, 8)}"] if undetermined else []
    return "infinite estimates in logistic regression: " + "; ".join(parts)
