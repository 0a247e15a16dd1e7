"""The record of a run as a notebook shows it: a table, and a bar for every epoch, in the notebook's own colours."""

from html import escape
from typing import TYPE_CHECKING

from novikoff.engine.words import counted, radius_in_words

if TYPE_CHECKING:
    from novikoff.learn.history import Run

# More bars than this are too thin to be seen.
MOST_BARS = 100
HEIGHT = 48


def as_html(run: "Run") -> str:
    """All that the record says, one fact a line. Colours are those of the page, light or dark."""
    expected = run.generalisation()
    facts = {
        "stopped": run.ending,
        "mistakes": run.made,
        "scaled": run.scales,
        "longest example": None if run.radius == float("inf") else radius_in_words(run.radius),
        "proved": run.made_rule_out,
        "weights returned": run.returned,
        "errors": run.wrong,
        "expected error": expected.in_words if expected.is_known else None,
    }
    cell = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;background:none;color:inherit"
    rows = "".join(
        f'<tr style="background:none"><th style="{cell}" scope="row">{escape(name)}</th>'
        f'<td style="{cell}">{escape(text)}</td></tr>'
        for name, text in facts.items()
        if text is not None
    )
    return f'<div><table style="border:0;color:inherit"><tbody>{rows}</tbody></table>{_bars(run)}</div>'


def _bars(run: "Run") -> str:
    made = run.mistakes_per_epoch[:MOST_BARS]
    if len(made) < 2 or max(made) == 0:
        return ""
    width = max(4, min(20, 600 // len(made)))
    heights = [HEIGHT * count / max(made) for count in made]
    bars = "".join(
        f'<rect x="{number * width}" y="{HEIGHT - height:.1f}" width="{width - 1}" height="{height:.1f}">'
        f"<title>epoch {number + 1}: {counted(made[number], 'mistake')}</title></rect>"
        for number, height in enumerate(heights)
    )
    return (
        f'<svg role="img" aria-label="mistakes by epoch" width="{len(made) * width}" height="{HEIGHT}" '
        f'style="max-width:100%" fill="currentColor" fill-opacity="0.6">{bars}</svg>'
    )
