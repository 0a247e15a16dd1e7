"""The page about the API says what the API says of itself."""

import ast
import json
from pathlib import Path

from novikoff.serve import api, messages
from novikoff.serve.api import openapi
from novikoff.serve.jobs import KEYS_LAST
from tests.serve.api_page import PAGE, page

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_made_of_the_description():
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.serve.api_page writes it anew"


def test_every_route_is_described_and_says_what_it_does():
    paths = openapi()["paths"]
    assert {(route.method.lower(), route.path) for route in api.ROUTES} == {
        (method, path) for path, methods in paths.items() for method in methods
    }
    assert all(about["summary"] for methods in paths.values() for about in methods.values())
    names = [about["operationId"] for methods in paths.values() for about in methods.values()]
    assert len(set(names)) == len(names)


def test_every_message_is_used():
    source = (ROOT / "src/novikoff/serve/messages.py").read_text()
    defined = {node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    used = "".join(path.read_text() for path in (ROOT / "src/novikoff/serve").glob("*.py"))
    assert all(used.count(name) > 1 for name in defined)
    assert messages.Error.__name__ in openapi()["components"]["schemas"]


def test_the_pages_say_how_long_keys_are_kept():
    kept = f"{KEYS_LAST / 3600:g} hours"
    for name in ("how-to/serve.md", "reference/service.md"):
        assert kept in (ROOT / "docs" / name).read_text()
    assert kept in json.dumps(openapi())
