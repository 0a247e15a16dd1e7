"""Shards choose a lead as one machine does, and the same one whatever happens."""

import numpy as np
import pytest

from novikoff import Perceptron, load, save
from novikoff.cluster import Local, fit
from novikoff.data.held_out import HeldOut
from novikoff.learn.fit import Trial
from tests.cluster.files import rows, write, write_all
from tests.cluster.test_checkpoint import Killed, killed_after
from tests.cluster.test_mixing import written

MIXINGS = ["uniform", "adaptive", "none"]


@pytest.fixture(autouse=True)
def folds_for_small_tables(monkeypatch):
    """So that tables of some rows have leads to choose from."""
    monkeypatch.setattr("novikoff.learn.fit.TINY", 0)


def noisy(folder, seed, sizes=(20, 1, 40)):
    """Files of whole numbers, and the same as one matrix with labels."""
    generator = np.random.default_rng(seed)
    X = generator.integers(-9, 10, (sum(sizes), 3)).astype(float)
    y = np.where(X @ [1.0, -2.0, 0.5] + 8.0 * generator.normal(size=len(X)) > 0, 1.0, -1.0)
    cuts = np.cumsum(sizes)[:-1]
    folder.mkdir(exist_ok=True)
    return written(folder, list(zip(np.split(X, cuts), np.split(y, cuts), strict=True))), X, y


@pytest.mark.parametrize("readout", ["average", "last"])
@pytest.mark.parametrize("rounds", [1, 2, 10])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_weights_that_go_from_shard_to_shard_choose_what_one_machine_chooses(tmp_path, rounds, readout):
    found = set()
    for seed in range(4):
        files, X, y = noisy(tmp_path / str(seed), seed)
        more = {"lead": "auto", "random_state": seed, "readout": readout}
        ours = fit(files, mixing="none", max_iter=rounds, zero_based=False, **more)
        one = Perceptron(shuffle=False, max_iter=rounds, **more).fit(X, y)
        found.add(one.lead_)
        assert (ours.coef_ == one.coef_).all()
        for name in ("lead", "mistakes", "narrow", "mistaken_rows", "errors", "errors_elsewhere", "order"):
            assert getattr(ours.run_, name) == getattr(one.run_, name)
    assert (readout == "last" or rounds == 1) == (found == {0.0})


@pytest.mark.parametrize("mixing", ["uniform", "adaptive"])
def test_mixed_shards_take_the_lead_that_is_wrong_on_fewer_rows_that_were_not_learned(tmp_path, mixing):
    """The folds by hand: files without the judging rows, and these rows, by their numbers among all."""
    found = set()
    for seed in range(3):
        files, X, y = noisy(tmp_path / str(seed), seed, (30, 40))
        trial = Trial.within(10, shards=2, small=True)
        options = {"mixing": mixing, "random_state": seed, "zero_based": False, "shuffle": False}
        errors = {lead: [] for lead in trial.leads}
        for number, fold in enumerate(HeldOut.folds(trial.folds, seed)):
            judging = fold.which(0, len(X))
            left = [(X[part][~judging[part]], y[part][~judging[part]]) for part in (slice(0, 30), slice(30, 70))]
            (tmp_path / f"{seed}-{number}").mkdir()
            learned = written(tmp_path / f"{seed}-{number}", left)
            # R is that of all rows, whether they are learned or not.
            stretch = np.sqrt((X**2).sum(axis=1).max() + 1) / np.sqrt((X[~judging] ** 2).sum(axis=1).max() + 1)
            for lead in trial.leads:
                tried = fit(learned, max_iter=trial.epochs, lead=lead * stretch**2, **options)
                errors[lead].append(tried.predict(X[judging]) != y[judging])
        chosen = fit(files, lead="auto", max_iter=10, **options)
        found.add(chosen.lead_)
        assert chosen.lead_ == trial.best({lead: np.concatenate(parts) * 1.0 for lead, parts in errors.items()})
        assert chosen.coef_.tobytes() == fit(files, lead=chosen.lead_, max_iter=10, **options).coef_.tobytes()
    assert len(found) > 1


@pytest.mark.parametrize("mixing", ["uniform", "adaptive"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_run_that_was_killed_goes_on_with_what_it_had_chosen(tmp_path, mixing, seed, monkeypatch):
    pattern, kept = write_all(tmp_path, "csv", integers=True, words=False, noise=9.0), tmp_path / "kept"
    options = {"label": "y", "mixing": mixing, "max_iter": 4, "lead": "auto", "random_state": seed}
    whole = fit(pattern, **options)
    with pytest.raises(Killed):
        fit(pattern, **options, checkpoint=kept, watch=killed_after(2))
    with pytest.raises(ValueError, match="is of a run with lead='auto'"):
        fit(pattern, **{**options, "lead": whole.lead_}, checkpoint=kept, resume=True)

    def chosen_again(*_):
        raise AssertionError

    monkeypatch.setattr("novikoff.learn.fit._lead", chosen_again)
    ours = fit(pattern, **options, checkpoint=kept, resume=True)
    assert ours.coef_.tobytes() == whole.coef_.tobytes()
    assert (ours.run_, ours.lead_) == (whole.run_, whole.lead_)


class Twice(Local):
    """Runs everything twice, and answers as the second time."""

    def call(self, *args, **kwargs):
        super().call(*args, **kwargs)
        return super().call(*args, **kwargs)


@pytest.mark.parametrize("mixing", MIXINGS)
def test_shards_that_are_asked_twice_choose_the_same_and_say_so(tmp_path, mixing):
    pattern = write_all(tmp_path, "csv")
    options = {"label": "y", "mixing": mixing, "lead": "auto", "max_iter": 3}
    once, twice = (fit(pattern, **options, engine=made()) for made in (Local, Twice))
    assert once.coef_.tobytes() == twice.coef_.tobytes()
    assert once.run_ == twice.run_
    assert once.run_.leads_tried == twice.run_.leads_tried
    save(once, tmp_path / "model.novikoff")
    again = load(tmp_path / "model.novikoff")
    assert (again.lead, again.lead_) == ("auto", once.lead_)


def test_too_few_rows_take_no_lead(tmp_path):
    path = write(tmp_path / "one.svm", {"x0": [1.0, -1.0], "y": ["yes", "no"]})
    assert fit(path, lead="auto").lead_ == 0


def test_a_lead_is_a_number_or_auto(tmp_path):
    path = write(tmp_path / "one.svm", rows(20, words=False))
    with pytest.raises(ValueError, match="or 'auto'"):
        fit(path, lead="much")
