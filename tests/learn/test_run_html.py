"""A notebook shows the record of a run: all of it, and nothing that a page would take for a tag."""

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
def test_the_page_has_the_whole_record(name):
    run = RUNS[name]()
    assert Text(run._repr_html_()).words == [str(run)]
    assert say.made(run)[1:] in str(run)


def test_what_looks_like_a_tag_is_shown_as_it_is():
    run = replace(RUNS["linear"](), mistakes_per_epoch=(3, 1), radius=2.0)
    assert "R <= 2" in Text(run._repr_html_()).words[0]
    assert "<= 2" not in run._repr_html_()
