"""The lab as a folder of files: it needs no server, because all answers of the library are precomputed.

The answers are put into scripts, scene by scene, and the modules of a page are bundled into one script, because a
browser loads no modules from the disk. So the folder works from any web server, under any path, and from the disk.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from novikoff.lab import margins, shattering
from novikoff.lab.scenes import SCENES, known_as_json, sample_points
from novikoff.lab.script import as_csv, as_script
from novikoff.lab.state import State, parse_state
from novikoff.lab.trace import moment_as_json, run_as_json
from novikoff.web import SHARED

PAGE = Path(__file__).with_name("page")
PAGES = {"index.html": "lab.js", "margins.html": "margins.js", "shattering.html": "shattering.js"}

SIZES = margins.SIZES

# The noise that is precomputed, in percent.
NOISES = (0, 10, 20, 30)

# Significant digits in a drawing; a screen shows no more.
DIGITS = 6


def export(folder: Path) -> list[Path]:
    """Write the lab into a folder, which is created if needed; return the files, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shared").mkdir(exist_ok=True)
    written = [_copied(SHARED / name, folder / "shared" / name) for name in ("style.css", "icon.svg")]
    written += [_copied(PAGE / name, folder / name) for name in ("frame.css", "lab.css", "pages.css")]
    for page, script in PAGES.items():
        written.append(_written(folder / script, bundle(script)))
        written.append(_written(folder / page, _static((PAGE / page).read_text(encoding="utf-8"), script)))
    for name, answers in precomputed():
        written.append(
            _written(folder / "answers" / f"{name}.js", f"answered({json.dumps(name)}, {_json(answers)});\n")
        )
    return written


def _copied(source: Path, target: Path) -> Path:
    shutil.copyfile(source, target)
    return target


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _static(html: str, script: str) -> str:
    """Return the page with one script in place of its modules, marked so that it hides what needs a server."""
    html = html.replace('<html lang="en">', '<html lang="en" class="static">')
    return html.replace(f'<script type="module" src="{script}">', f'<script defer src="{script}">')


# ---------------------------------------------------------------------------------------------------------------------
# Answers
# ---------------------------------------------------------------------------------------------------------------------


def precomputed() -> Iterator[tuple[str, Any]]:
    """Yield what the page will request, by file name: its initial data, every scene, and the two other pages."""
    scenes = [scene for scene in SCENES if scene["state"]["points"]]
    yield "known", {**known_as_json(), "scenes": scenes}
    for scene in scenes:
        if scene["sample"] is None:
            yield f"scene-{scene['name']}", scene_answers(scene["state"])
            continue
        for percent in NOISES:
            points = sample_points(**{**scene["sample"], "noise": percent / 100})
            yield f"scene-{scene['name']}-{percent}", scene_answers({**scene["state"], "points": points})
    for name in margins.SCENES:
        for n in SIZES if name == "chain" else SIZES[:1]:
            yield f"margins-{name}-{n}", margins.margins_as_json(name, n)
    for name, given in shattering.ARRANGEMENTS.items():
        for family in shattering.FAMILIES:
            document = {"points": given, "family": family}
            yield f"shattering-{name}-{family}", shattering.answer_shattering(document)


def scene_answers(document: Any) -> dict[str, Any]:
    """Return the answers for a state, step by step; equal moments are stored once."""
    state = parse_state(document)
    run = run_as_json(state)
    moments: dict[str, int] = {}
    at = [
        moments.setdefault(_json(_without_step(state, step)), len(moments))
        for step in range(len(run["steps"]["row"]) + 1)
    ]
    return {
        "sample": {"points": [list(point) for point in state.points]},
        "run": run,
        "moments": [json.loads(moment) for moment in moments],
        "at": at,
        "take-away": {"csv": as_csv(state), "script": as_script(state)},
    }


def _without_step(state: State, step: int) -> dict[str, Any]:
    return {name: value for name, value in moment_as_json(state, step).items() if name != "step"}


def _json(document: Any) -> str:
    return json.dumps(_rounded(document), separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _rounded(value: Any) -> Any:
    """Round the places in drawings, which are lists of pairs of numbers; leave all else."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        if len(value) == 2 and all(type(part) is float for part in value):
            return [float(f"{part:.{DIGITS}g}") for part in value]
        return [_rounded(part) for part in value]
    return value


# ---------------------------------------------------------------------------------------------------------------------
# Modules in one script
# ---------------------------------------------------------------------------------------------------------------------

IMPORT = re.compile(r'^import \{ (?P<names>[^}]+) \} from "\./(?P<path>[\w./-]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?P<kind>async function|function|const) (?P<name>\w+)", re.MULTILINE)


def bundle(script: str) -> str:
    """Bundle a module and all that it imports, each in a function of its own, so that no names clash.

    Our modules import by name and export functions and constants; anything else would be left as it is, and fail.
    """
    found: dict[str, str] = {}
    _collect(script, found)
    parts = [f"// {name}\nparts[{json.dumps(name)}] = (() => {{\n{body}}})();\n" for name, body in found.items()]
    return '"use strict";\nconst parts = {};\n' + "\n".join(parts)


def _collect(name: str, found: dict[str, str]) -> None:
    """Collect a module after those that it imports."""
    source = SHARED / name.removeprefix("shared/") if name.startswith("shared/") else PAGE / name
    text = source.read_text(encoding="utf-8")
    for match in IMPORT.finditer(text):
        if match["path"] not in found:
            _collect(match["path"], found)
    exported = ", ".join(match["name"] for match in EXPORT.finditer(text))
    body = IMPORT.sub(lambda match: f"const {{ {match['names']} }} = parts[{json.dumps(match['path'])}];\n", text)
    found[name] = EXPORT.sub(r"\g<kind> \g<name>", body) + f"return {{ {exported} }};\n"
