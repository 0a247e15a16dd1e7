"""What the pages know from the start: the scenes, the limits, and the words for read-outs and letters."""

from typing import Any

from novikoff.lab.glossary import LEAD_WORDS, symbols_as_json
from novikoff.lab.margins import margin_scenes_as_json
from novikoff.lab.scenes import scenes_as_json
from novikoff.lab.shattering import arrangements_as_json
from novikoff.lab.state import MOST_POINTS, MOST_STEPS
from novikoff.say.runs import READOUT_WORDS


def known_as_json() -> dict[str, Any]:
    return {
        "scenes": scenes_as_json(),
        "limits": {"points": MOST_POINTS, "steps": MOST_STEPS},
        "readouts": READOUT_WORDS,
        "lead": LEAD_WORDS,
        "symbols": symbols_as_json(),
        "margins": margin_scenes_as_json(),
        "shattering": arrangements_as_json(),
    }
