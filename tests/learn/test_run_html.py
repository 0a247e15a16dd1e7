"""A notebook shows the record of a run: all of it, in its own colours, and nothing that a page would take for a tag."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from novikoff import KernelPerceptron, OnlinePerceptron, Perceptron, SequencePerceptron
from novikoff.say import runs as say

X, Y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
RUNS = {
    "linear": lambda: Perceptron(readout="last", random_state=0).fit(X, Y).run_,
    "kernel": lambda: KernelPerceptron(random_state=0).fit(X, Y).run_,
    "sequence": lambda: SequencePerceptron(random_state=0).fit([[["a"], ["b"]]] * 2, [["x", "y"]] * 2).run_,
    "goes on": lambda: Perceptron().partial_fit(X, Y).run_,
    "nothing yet": lambda: OnlinePerceptron().run,
    "returned": lambda: Perceptron(shuffle=False).fit([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, 0, 0]).run_,
}


class Text(HTMLParser):
    """The words of a page, with every tag closed that was opened."""

    def __init__(self, page):
        super().__init__()
        self.words, self.open = [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("name", RUNS)
def test_the_table_has_every_fact_of_the_record(name):
    run = RUNS[name]()
    words = Text(run._repr_html_()).words
    for fact in (say.ending(run), say.made(run), say.made_rule_out(run), say.returned(run), say.wrong(run)):
        assert fact is None or fact in words
    assert sum("epoch " in word and ": " in word for word in words) in (0, *range(2, 101))


def test_no_colour_is_given_so_that_light_and_dark_pages_keep_theirs():
    page = RUNS["linear"]()._repr_html_()
    assert set(re.findall(r'(?:color|fill|background)[:=]"?([\w#]+)', page)) <= {"inherit", "none", "currentColor"}


def test_what_looks_like_a_tag_is_shown_as_it_is():
    run = replace(RUNS["linear"](), mistakes_per_epoch=(3, 1), radius=2.0)
    assert "R <= 2" in Text(run._repr_html_()).words
    assert "<= 2" not in run._repr_html_()


def test_a_long_run_shows_its_first_epochs():
    run = replace(RUNS["linear"](), mistakes_per_epoch=tuple(range(1000, 0, -1)), epochs=1000)
    assert run._repr_html_().count("<rect") == 100
