"""Shards on Ray give the bits of shards in this process, whatever happens to actors, nodes and drivers."""

import glob
import signal
import socket
import subprocess
import sys

import pytest
from pyarrow import csv

from novikoff.cluster import Local, Ray, certify, check, fit
from novikoff.prove.separable.search import working_set
from tests.cluster.conftest import needed_ray
from tests.cluster.files import rows, write, write_all


@pytest.fixture(scope="module")
def pattern(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("shards"), "csv", n=60)


def same(ours, theirs):
    assert ours.coef_.tobytes() == theirs.coef_.tobytes()
    assert ours.intercept_.tobytes() == theirs.intercept_.tobytes()
    assert ours.run_ == theirs.run_


class Twice(Ray):
    """Runs everything twice, and answers as the second time."""

    def call(self, *args, **kwargs):
        super().call(*args, **kwargs)
        return super().call(*args, **kwargs)


def learned(pattern, engine, mixing="uniform", **more):
    return fit(pattern, label="y", engine=engine, mixing=mixing, max_iter=4, **more)


@pytest.mark.parametrize(
    "address", ["", "there", "local", "head:", ":6379", "head:0", "head:70000", "http://head:1", "a b:1"]
)
def test_what_is_no_address_is_refused_without_ray(address):
    with pytest.raises(ValueError, match="use one of here, auto, HOST:PORT, ray://HOST:PORT"):
        Ray(address)


def test_one_node_learns_and_proves_what_this_process_does(nodes, pattern, monkeypatch):
    nodes.have(1)
    same(learned(pattern, Ray()), learned(pattern, Local()))
    monkeypatch.setattr(working_set, "MEMORY", 2000)  # the working set is a part of the rows
    certificate = certify(pattern, label="y", engine=Ray())
    assert certificate.to_json() == certify(pattern, label="y").to_json()
    check(certificate, pattern, engine=Ray())


def test_a_command_finds_the_cluster_at_its_host_and_port(nodes, pattern):
    nodes.have(1)
    words = [sys.executable, "-m", "novikoff.cli", "certify", pattern, "--label", "y", "--json", "--cluster"]
    ours, theirs = (
        subprocess.run([*words, place], capture_output=True, text=True, check=False)
        for place in (nodes.address, "local")
    )
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout), ours.stderr


def test_two_nodes_do_and_every_round_may_run_twice(nodes, pattern):
    nodes.have(2)
    model = learned(pattern, Twice(), "adaptive")
    same(model, learned(pattern, Local(), "adaptive"))


class Killing(Ray):
    """Kills an actor in the middle of a call: the fifth, or another, of some methods."""

    def __init__(self, *methods, at=5):
        super().__init__()
        self.methods, self.at, self.asked = methods, at, 0

    def _ask(self, number, method, handed):
        ref = super()._ask(number, method, handed)
        self.asked += method in self.methods
        if self.asked == self.at:
            needed_ray().kill(self._actors[number % len(self._actors)], no_restart=False)
            self.asked += 1
        return ref


@pytest.mark.parametrize(("mixing", "lead"), [("uniform", 0.0), ("none", "auto")])
def test_an_actor_that_is_killed_in_the_middle_of_a_round_changes_nothing(nodes, pattern, mixing, lead):
    """Or while a lead is tried."""
    nodes.have(2)
    engine = Killing("learn", "block")
    same(learned(pattern, engine, mixing, lead=lead), learned(pattern, Local(), mixing, lead=lead))
    assert engine.restarted == 1


def test_an_actor_that_is_killed_while_it_proves_changes_nothing(nodes, pattern, monkeypatch):
    nodes.have(2)
    monkeypatch.setattr(working_set, "MEMORY", 2000)
    engine = Killing("apply", "take")
    certificate = certify(pattern, label="y", engine=engine)
    assert certificate.to_json() == certify(pattern, label="y").to_json()
    assert engine.restarted == 1


def test_a_node_that_is_gone_without_notice_changes_nothing(nodes, pattern):
    nodes.have(3)
    engine, gone = Ray(), []

    def watch(rounds):
        if not gone:
            gone.append(nodes.remove())

    same(learned(pattern, engine, "adaptive", watch=watch), learned(pattern, Local(), "adaptive"))
    assert engine.restarted >= 1


def test_a_driver_that_is_killed_goes_on_elsewhere_to_the_same_bits(nodes, pattern, tmp_path):
    nodes.have(2)
    kept = tmp_path / "kept"
    code = (
        "import os, signal, ray\n"
        "from novikoff.cluster import Ray, fit\n"
        f"ray.init(address={nodes.address!r}, log_to_driver=False, logging_level='error')\n"
        "def watch(rounds):\n"
        "    if rounds.epochs.begun == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"fit({pattern!r}, label='y', engine=Ray(), max_iter=4, checkpoint={str(kept)!r}, watch=watch)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    same(learned(pattern, Ray(), checkpoint=kept, resume=True), learned(pattern, Local()))


def test_a_data_set_of_ray_is_taken_if_it_keeps_its_order(nodes, pattern, monkeypatch):
    ray = needed_ray()
    nodes.have(2)
    from novikoff.cluster import shards
    from novikoff.data import read

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    tables = [csv.read_csv(file) for file in sorted(glob.glob(pattern))]
    with pytest.raises(ValueError, match="does not keep the order of its rows"):
        fit(ray.data.from_arrow(tables), label="y", engine=Ray())
    context.execution_options.preserve_order = True
    try:
        dataset = ray.data.from_arrow(tables)
        monkeypatch.setattr(shards, "SHARD_ROWS", 70)
        model = learned(dataset, Ray(), "none")
        assert model.run_.n_rows == 183
        from novikoff import Perceptron

        alone = Perceptron(shuffle=False, max_iter=4).fit(read(pattern, label="y"))
        assert model.coef_.tobytes() == alone.coef_.tobytes()

        def add(table):
            return table.append_column("prediction", [model.predict(table)])

        rows = dataset.map_batches(add, batch_format="pyarrow").take_all()
        assert [row["prediction"] for row in rows] == alone.predict(read(pattern, label="y")).tolist()
    finally:
        context.execution_options.preserve_order = False


def test_an_error_of_a_shard_is_the_error_of_this_process(nodes, pattern):
    with pytest.raises(ValueError, match=r"part-0\.csv has no column 'z' for the label"):
        fit(pattern, label="z", engine=Ray())


def test_of_several_shards_that_are_wrong_the_first_is_named(nodes, tmp_path):
    """Also where its actor has answered for other shards before, and another actor has failed meanwhile."""
    nodes.have(2)
    pattern = write_all(tmp_path, "csv", n_files=7)
    for number in (3, 4, 6):
        table = rows(9)
        write(tmp_path / f"part-{number}.csv", {**table, "y": [None, *table["y"][1:]]})
    for engine in (Local(), Ray(workers=2)):
        with pytest.raises(ValueError, match=r"part-3\.csv, line 2: the label 'y' is missing"):
            fit(pattern, label="y", engine=engine)


def test_a_node_with_other_programs_is_named(nodes, pattern, monkeypatch):
    from novikoff.cluster import engine

    ours = {**engine.versions(), "Python": "2.7"}
    monkeypatch.setattr(engine, "versions", lambda: ours)
    with pytest.raises(ValueError, match=r"the node \S+ has Python 3\.\d+, but this machine has 2\.7"):
        fit(pattern, label="y", engine=Ray())


def test_a_cluster_that_is_not_there_or_is_another_is_an_error(monkeypatch):
    ray = needed_ray()
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def refuse(error):
        def init(*args, **kwargs):
            raise error

        monkeypatch.setattr(ray, "init", init)

    refuse(ConnectionError("Could not find any running Ray instance."))
    with pytest.raises(ConnectionError, match=r"there is no cluster of Ray at auto: Could not find"):
        Ray("auto").start(None, [])
    refuse(RuntimeError("Version mismatch: The cluster was started with Ray: 1.0"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ValueError, match=f"the cluster at {address} is another: Version mismatch"):
            Ray(address).start(None, [])
    with pytest.raises(ConnectionError, match=f"there is no cluster of Ray at {address}: .*; start one with"):
        Ray(address).start(None, [])  # nobody listens there any more, and Ray is not asked
