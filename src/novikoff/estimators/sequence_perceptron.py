"""The sequence perceptron in scikit-learn's way: a thin shell around `novikoff.learn.chain.tagger`."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from novikoff.estimators.given import NO_CHANCES, seed_of
from novikoff.estimators.shell import Absent, Shell, all_or_nothing, end_run
from novikoff.learn.chain.space import SequenceRun
from novikoff.learn.chain.tagger import Constraint, ScoredLabels, Tagger, learn_online, learn_tagger
from novikoff.learn.epochs import Watcher, put_off_interrupt
from novikoff.learn.model import NamedWeight
from novikoff.options import Lead, MaxIter, Readout, described


@described
@dataclass(eq=False, repr=False, kw_only=True)
class SequencePerceptron(Shell):
    """The structured perceptron on label sequences (Collins 2002): a first-order chain, decoded by Viterbi.

    It labels the tokens of a sequence together: chunks, names, parts of addresses, parts of speech. The theorem of
    Block and Novikoff holds for it, with label sequences in the place of labels: if some weights of length 1 give every
    right label sequence a lead of gamma over all others, at most (R/gamma)^2 sequences are mistaken, R being the
    longest difference of two feature vectors. The number of label sequences, exponential in their length, does not
    matter.

    Of tied label sequences the first wins, so an epoch without a mistake does not prove that every right sequence is
    strictly ahead. With a `lead` it does, and `run_.margin_at_least` has the margin. There is no vote. `min_margin` is
    looked at after an epoch, and `early_stopping` counts wrong labels. With `warm_start` new features and labels are
    added, and the mistakes of all calls together stay within one bound, which `run_` states.

    Parameters
    ----------
    templates : list of str or None
        Which parts of a token and its neighbours are features: `"w[0]"`, `"w[-1]|w[0]"`, `"suffix2(w[0])"`,
        `"p[-1]|shape(w[0])"`, or as CRF++ writes them, `"U05:%x[-1,0]/%x[0,0]"`. Tokens are then words, mappings from
        column to value, tuples whose places `columns` names, or `Sentences` read from a file. `Sentences`, and
        tokens whose `columns` are named, have default templates (`default_templates`), by all columns but that of the
        labels. Other tokens without templates are words, lists of attributes or mappings, as sklearn-crfsuite takes
        them, or a sequence is an array of numbers, one row a token.
    columns : str or sequence of str
        The names of the tuples' places; those that default templates use, or that CRF++ numbers. A token that is a
        string has one column, the first or only one: the word itself. It is never read letter by letter, and a sentence
        that is one string is refused; split it first.
    min_count : int
        Features that occur less often are omitted.
    constraint : {"IOB1", "IOB2", "IOBES", "BILOU"}, function or None
        Which label may follow which: those of a chunking scheme, or whether `constraint(before, after)` is true. Only
        legal label sequences are predicted.
    cost : float
        What every wrong label adds to a score while training, so that the right sequence must win by a margin. Mistakes
        are then at most (R^2 + 2 cost n)/gamma^2, with n the length of the longest sequence.
    {options}

    Examples
    --------
    >>> from novikoff import SequencePerceptron
    >>> sentences = ["the cat sleeps", "a dog barks", "dogs bark"]
    >>> words = [sentence.split() for sentence in sentences]
    >>> tags = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"]]
    >>> model = SequencePerceptron(templates=["w[0]", "w[-1]", "suffix1(w[0])"], random_state=0).fit(words, tags)
    >>> model.predict([["the", "bird", "sings"]])
    [['DET', 'NOUN', 'VERB']]
    """

    model_: Tagger = field(init=False)
    predict_proba = Absent(NO_CHANCES)
    predict_log_proba = Absent(NO_CHANCES)
    predict_marginals = Absent(NO_CHANCES)
    predict_marginals_single = Absent(NO_CHANCES)

    templates: Sequence[str] | None = None
    columns: str | Sequence[str] = ()
    min_count: int = 1
    constraint: Constraint | None = None
    readout: Readout = "average"
    max_iter: MaxIter = "auto"
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    held_out: float | None = None
    cost: float = 0.0
    lead: Lead = "auto"
    shuffle: bool = True
    random_state: Any = None
    min_margin: float | None = None
    time_limit: float | None = None
    warm_start: bool = False
    record_mistakes: bool = False

    def fit(self, X: Any, y: Sequence[Sequence[Hashable]], *, watch: Watcher | None = None) -> Self:
        """Learn from sequences of tokens `X` with their label sequences `y`.

        `watch` is called with the history between epochs, and may return a reason to stop. After Ctrl-C the model holds
        what was learned so far, and the interrupt is raised again.
        """
        with all_or_nothing(self):
            start = self.model_ if self.warm_start and self.__sklearn_is_fitted__() else None
            self.model_ = learn_tagger(X, y, **self._parameters(), start=start, watch=watch)
        end_run(self, self.run_)
        return self

    def partial_fit(self, X: Any, y: Sequence[Sequence[Hashable]], classes: Sequence[Hashable] | None = None) -> Self:
        """Learn the sequences once, in the order given: online learning.

        New features are added; `min_count` counts those of this call. Labels may be named beforehand by `classes`, and
        are then fixed; otherwise they grow when a new one appears. A call that fails leaves the model as it was, and
        Ctrl-C takes effect after the sequences are learned.

        >>> model = SequencePerceptron(templates=["w[0]"])
        >>> model = model.partial_fit([["a", "dog"]], [["D", "N"]]).partial_fit([["a", "bird"]], [["D", "N"]])
        >>> model.predict([["a", "bird"]]), model.run_.examples, model.n_mistakes_
        ([['D', 'N']], 2, 1)
        """
        with put_off_interrupt(), all_or_nothing(self):
            start = self.model_ if self.__sklearn_is_fitted__() else None
            self.model_ = learn_online(X, y, **self._parameters(), classes=classes, start=start)
        return self

    def predict(self, X: Any) -> list[list[Hashable]]:
        """The best label sequence of every sequence. Features not seen in training are ignored."""
        return self._fitted().label(X)

    def predict_single(self, tokens: Any) -> list[Hashable]:
        """The best label sequence of one sequence."""
        return self._fitted().label([tokens])[0]

    def predict_with_scores(self, X: Any) -> list[ScoredLabels]:
        """The best label sequences with their scores, and by how much each beats the second best."""
        return self._fitted().label_with_scores(X)

    def predict_best(self, X: Any, k: int) -> list[list[tuple[list[Hashable], float]]]:
        """The k best label sequences of every sequence with their scores, best first."""
        return self._fitted().best(X, k)

    def score(self, X: Any, y: Sequence[Sequence[Hashable]]) -> float:
        """The fraction of tokens with the right label; for chunks see `score_chunks`.

        A label not seen in training counts as wrong, as in every score.
        """
        return self._fitted().accuracy(X, y)

    def heaviest(self, n: int | None = 20, label: Hashable | None = None) -> list[NamedWeight]:
        """The weights of features by name, the largest absolute value first; of one label, if it is given."""
        return self._fitted().heaviest(n, label)

    def prune(self, below: float = 0.0) -> Self:
        """Drop weights of size `below` or less, and the features that have no weight left."""
        self.model_ = self._fitted().pruned(below)
        return self

    @property
    def state_features_(self) -> dict[tuple[Any, Hashable | None], float]:
        """The weight of every feature and label, where it is not 0."""
        return {(name, label): weight for label, name, weight in self._fitted().heaviest(None)}

    @property
    def transition_features_(self) -> dict[tuple[Hashable | None, Hashable | None], float]:
        """The weight of every label after a label, where it is not 0; None is the sequence boundary."""
        return {(before, after): weight for after, before, weight in self._fitted().links()}

    @property
    def tagger_(self) -> Tagger:
        """The trained labeller itself, free of scikit-learn."""
        return self._fitted()

    @property
    def classes_(self) -> list[Hashable]:
        """The labels."""
        return list(self._held("labels"))

    @property
    def run_(self) -> SequenceRun:
        """The record: mistaken sequences and wrong tokens by epoch, seconds, R, ||w||, margins ruled out, errors."""
        run: SequenceRun = self._held("run")
        return run

    def _parameters(self) -> dict[str, Any]:
        options = self.get_params(deep=False)
        del options["warm_start"]
        return {**options, "random_state": seed_of(self.random_state)}

    @classmethod
    def _parameters_of(cls, model: Tagger) -> dict[str, Any]:
        return model.made_with()

    def _read_as(self) -> dict[str, Any]:
        return {}

    def _with_leads(self, X: Any) -> tuple[Any, Any]:
        found = self.predict_with_scores(X)
        return [one.labels for one in found], [one.margin for one in found]

    def _fitted(self) -> Tagger:
        check_is_fitted(self)
        return self.model_
