"""What a run did, what it proves and its expected error, in words: for terminal, report, page and repr.

Each function takes a record, `novikoff.learn.run.Run`. A phrase begins in lower case and has no full stop; `record` has
whole sentences.
"""

import math
from typing import Any

from novikoff.engine.rounding import at_least
from novikoff.say.words import counted, listed, no_margin_above, radius_in_words

READOUT_WORDS: dict[str, str] = {
    "last": "the last weights",
    "average": "the averaged weights",
    "vote": "the vote of all weights",
}
NO_WEIGHTS = "a vote has no weights of its own"

CONVERGED = "NO_MISTAKES"
STOPPED = {
    CONVERGED: "an epoch without a mistake",
    "MAX_ITER": "reached max_iter",
    "NO_PROGRESS": "the mistakes stopped decreasing by tol",
    "MARGIN_RULED_OUT": "no separator has the requested margin",
    "TIME_LIMIT": "reached the time limit",
    "INTERRUPTED": "interrupted",
    "CYCLE": "the weights returned to earlier values, so no separator exists",
    "VALIDATION": "validation error stopped improving",
}


def record(run: Any) -> str:
    """Return the whole record, in sentences."""
    parts = [
        f"Made {made(run)} so far; still learning."
        if run.stopped is None
        else f"{_sentence(ending(run))}\nMade {made(run)}.",
        _sentence(chosen(run)),
        _sentence(scales(run)),
        _what_it_proves(run),
        _sentence(wrong(run)),
        _sentence(validated(run)),
        _what_to_expect(run),
    ]
    return "\n".join(filter(None, parts))


def why(stopped: Any) -> str:
    """State why a run ended."""
    return STOPPED[stopped.name]


def after(stopped: Any, epochs: int, lead: float = 0.0) -> str:
    """State when and why a run ended."""
    n = counted(epochs, "epoch")
    if stopped.name != CONVERGED:
        return f"stopped after {n}: {why(stopped)}"
    return f"converged after {n} ({why(stopped)}{' or narrow example' if lead else ''})"


# The most epochs whose mistakes are listed.
LISTED = 14


def ending(run: Any) -> str:
    """State when and why it stopped."""
    return "still learning" if run.stopped is None else after(run.stopped, run.epochs, run.lead)


def added(run: Any) -> str:
    """State how many examples were added."""
    mistakes = counted(run.mistakes, "mistake")
    return f"{mistakes} and {counted(run.narrow, 'narrow one')}" if run.lead else mistakes


def made(run: Any) -> str:
    """State the mistakes and other updates, in all and by epoch."""
    said = f"{added(run)} on {counted(run.examples, 'example')}"
    if run.mistakes_per_epoch:
        said = f"{said}; by epoch: {listed(run.mistakes_per_epoch, LISTED, total=run.epochs)}"
        earlier = run.mistakes - sum(run.mistakes_per_epoch)
        if earlier and run.epochs == len(run.mistakes_per_epoch):
            said = f"{said}, after {earlier:,} in earlier calls (one bound for all)"
    if run.narrow_per_epoch and run.epochs <= LISTED:
        said = f"{said}; narrow: {listed(run.narrow_per_epoch, LISTED, total=run.epochs)}"
    return said


def chosen(run: Any) -> str | None:
    """State the lead chosen on the training rows; None if there was no choice."""
    if not run.leads_tried:
        return None
    return f"lead {run.lead:.4g}, chosen on the training {run.row}s out of {counted(run.leads_tried, 'lead')}"


def lead(run: Any, was_chosen: bool) -> str | None:
    """State the lead, whether it was chosen, and the margin that it proves in the end."""
    if not run.lead:
        return "none (chosen on the validation rows)" if was_chosen else None
    asked = f"updates unless correct by more than {run.lead:g} R^2"
    asked = f"{asked} (chosen on the validation rows)" if was_chosen else asked
    proved = separated(run)
    return asked if proved is None else f"{asked}; {proved}"


def read_by(run: Any) -> str:
    """Name the weights that predict."""
    return READOUT_WORDS[run.readout]


def wrong(run: Any) -> str | None:
    """State the training errors of the read-out; None before a `fit`."""
    if run.errors is None:
        return None
    said = f"{read_by(run)}: {counted(run.errors, 'error')} on {counted(run.n_rows or 0, f'training {run.row}')}"
    if not hasattr(run, "n_tokens"):
        return said
    return f"{said}, {counted(run.wrong_tokens, 'wrong label')} on {counted(run.n_tokens, 'token')}"


def validated(run: Any) -> str | None:
    """State how many epochs were chosen on the validation rows; None if there were none."""
    if not run.validation_errors:
        return None
    fewest = counted(min(run.validation_errors), run.validation_error)
    return f"{counted(run.epochs, 'epoch')} chosen on the validation {run.row}s, with {fewest}"


def scales(run: Any) -> str | None:
    """State how columns were scaled, and why; None if they were not."""
    return None if run.scaled is None else f"columns standardised: {run.scaled}"


def ruled_out(run: Any) -> str | None:
    """State which margins the mistakes rule out; None before the first."""
    if run.cycle is not None:
        return "no separator exists, for mistakes cancel"
    return None if math.isinf(run.margin_at_most) else no_margin_above(run.margin_at_most) + _times_weights(run)


def made_rule_out(run: Any) -> str | None:
    """Return the number of mistakes, followed by `ruled_out`."""
    said = ruled_out(run)
    return None if said is None else f"{mixed(run) or f'{added(run)} made'}; {said}"


def separated(run: Any) -> str | None:
    """State the margin with which the last weights are known to separate; None if unknown."""
    if not run.margin_at_least:
        return None
    margin = f"a margin of at least {at_least(run.margin_at_least)}"
    return f"the last weights separate the examples with {margin}{_times_weights(run)}"


def returned(run: Any) -> str | None:
    """State which mistakes cancel; None if the weights are not known to have recurred."""
    if run.cycle is None:
        return None
    since, until = run.cycle.since, counted(run.cycle.until, "epoch")
    return f"the weights after {until} are those after {since:,}, so no separator exists: {run.cycle}"


def mixed(run: Any) -> str | None:
    """State how the mistakes of mixed weights count, and the theorem's bound; None if no weights were mixed."""
    if run.mixed_mistakes is None:
        return None
    said = f"the weights of {counted(run.shards, 'shard')} were mixed, and count as {run.mixed_mistakes:.6g}"
    if math.isinf(run.margin_at_most) or run.margin_at_most == 0:
        return f"{said} mistakes"
    formula = f"(1 + 2 * {run.lead:g}) (R/gamma)^2" if run.lead else "(R/gamma)^2"
    return f"{said} mistakes, of the {run.allowed_at_least:.6g} or more that {formula} allows"


def why_not_converged(run: Any, readout: str, min_margin: float | None) -> str:
    """Return the message if convergence was requested, by the last weights or a margin, but not reached; else empty."""
    stopped = None if run.stopped is None else run.stopped.name
    if stopped == "MARGIN_RULED_OUT":
        return (
            f"no separator has the margin min_margin={min_margin}: after {added(run)} "
            f'{ruled_out(run)}. Lower min_margin, or use readout="average", which needs no separator'
        )
    if stopped == "CYCLE":
        return f'{returned(run)}. Use readout="average", which needs no separator'
    if stopped in ("MAX_ITER", "NO_PROGRESS") and (readout == "last" or min_margin is not None):
        whole = run.epochs == len(run.mistakes_per_epoch)
        last = counted(run.updates_per_epoch[-1], "update" if run.lead else "mistake") if whole else "mistakes"
        return (
            f"the last of {counted(run.epochs, 'epoch')} still made {last}; "
            f"{ruled_out(run)}, and there may be none. Raise max_iter (max_iter=None: no limit), or use "
            'readout="average", which needs no separator'
        )
    return ""


def _what_it_proves(run: Any) -> str:
    if not run.has_length:
        return "The kernel is not positive definite, so there is neither a length R nor a margin."
    longest = f"The longest example has length {radius_in_words(run.radius)}"
    if ruled_out(run) is None:
        return f"{longest}."
    both = "the mistakes and the narrow ones" if run.lead else "the mistakes"
    proves = f"{longest}, the sum of {both} has length {run.weights_length:.6g},\nso {ruled_out(run)}."
    return "\n".join(filter(None, [_sentence(mixed(run)), proves, _sentence(separated(run)), _sentence(returned(run))]))


def _what_to_expect(run: Any) -> str:
    known = run.generalisation()
    return f"Expected error: {known.in_words}." if known.is_known else ""


def _times_weights(run: Any) -> str:
    return " on the examples times the weights of their classes" if run.weighted else ""


def _sentence(phrase: str | None) -> str:
    return f"{phrase[0].upper()}{phrase[1:]}." if phrase else ""
