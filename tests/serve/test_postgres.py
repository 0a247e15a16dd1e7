"""Several servers on one store in PostgreSQL: whoever is asked, killed or stopped, one at a time writes a model."""

import asyncio
import contextlib
import os
import random
import signal
import socket
import threading
import time

import httpx
import pytest

from novikoff.serve.app import PASSED_ON
from novikoff.serve.client import Client
from novikoff.serve.events import LogRow, Settings
from novikoff.serve.fold import to_file
from novikoff.serve.messages import ElsewhereError, RefusedError
from novikoff.serve.postgres import FORMAT
from novikoff.serve.run import open_store, reached_at
from novikoff.serve.store import Held, StoreError
from novikoff.serve.writer import EXIT_CODE
from tests.serve.database import ask, empty_store
from tests.serve.listening import listening
from tests.serve.load import Loads, examples_in_log
from tests.serve.nursery import free_port, nursery, wait_until
from tests.serve.serving import DOWN, UP, Caller, opened, refused, run, started

KILLS = 10
CLASSES = ["down", "up"]
HERE, THERE = "http://here:1", "http://there:2"
EXPIRE = "UPDATE novikoff.servers SET expires = clock_timestamp() - interval '1 second' WHERE url = '{}'"


@pytest.fixture
def database(quick_disk):
    with empty_store() as where:
        yield where


@pytest.fixture(scope="module")
def processes():
    with nursery() as made:
        yield made


@contextlib.asynccontextmanager
async def two_services(database):
    """Two that share a store, of which the first has a model that has learned two examples."""
    services = [await started(None, store=opened(database, url)) for url in (HERE, THERE)]
    callers = [Caller(service) for service in services]
    await callers[0].create(classes=CLASSES)
    await callers[0].learn(UP, DOWN)
    try:
        yield callers
    finally:
        for service in services:
            await service.stop()
            assert service.writer.on_failure.errors == []


async def elsewhere(answer, url):
    error = await refused(503, answer, "on its way to another server")
    assert isinstance(error, ElsewhereError)
    assert error.url == url


def fence(database):
    return ask(database, "SELECT fence FROM novikoff.models")[0][0]


# ---------------------------------------------------------------------------------------------------------------------
# Who holds a model
# ---------------------------------------------------------------------------------------------------------------------


def test_a_model_is_held_by_one_server_which_the_others_know(database):
    async def test():
        async with two_services(database) as (here, there):
            await elsewhere(there.learn(UP), HERE)
            await elsewhere(there.create(classes=CLASSES), HERE)
            assert (await there.service.list_models()).models == ["m"]
            await here.learn(UP)

    run(test())


def test_a_server_that_ends_in_order_gives_back_what_it_held(database):
    async def test():
        async with two_services(database) as (here, there):
            before = to_file(here.state.learner)
            await here.service.stop()
            assert await there.file() == before
            assert (await there.learn(UP))["seq"] == 3
            assert fence(database) == 2

    run(test())


def test_a_server_that_lost_a_model_changes_nothing_and_learns_who_has_it(database):
    """It believes that it holds the model, as one that stood still for a while would; the fence knows better."""

    async def test():
        async with two_services(database) as (here, there):
            said = await here.predict({"a": 1.0})
            ask(database, EXPIRE.format(HERE))
            assert (await there.learn(UP))["seq"] == 3
            assert fence(database) == 2
            await elsewhere(here.learn(DOWN), None)
            await elsewhere(here.reveal((said["id"], "up")), THERE)
            assert there.service.store.last(1) == 3
            assert (await there.reveal((said["id"], "up")))["seq"] == 4

    run(test())


def a_model(store):
    store.begin([])
    store.create("m")
    store.append(1, LogRow(0, 1, 0.0, "create", b""))
    store.commit()


def test_an_expired_server_in_the_middle_of_a_transaction_is_ended_with_it(database):
    here, there = opened(database, HERE), opened(database, THERE)
    a_model(here)
    assert here.begin([(1, 1), (1, 2), (7, 1)]) == {(1, 2), (7, 1)}
    here.append(1, LogRow(1, 1, 0.0, "learn", b""))
    ask(database, EXPIRE.format(HERE))
    with pytest.raises(ElsewhereError):
        there.hold("m")
    with pytest.raises(StoreError):
        here.commit()
    assert there.hold("m") == Held(1, 0, 2)
    with pytest.raises(StoreError):
        here.renew()
    for store in (here, there):
        store.close()


def test_a_server_in_the_middle_of_creating_a_model_keeps_nobody_waiting(database):
    here, there = opened(database, HERE), opened(database, THERE)
    here.begin([])
    here.create("m")
    there.begin([])
    for _ in range(2):
        with pytest.raises(RefusedError, match="another server is creating"):
            there.create("m")
        ask(database, EXPIRE.format(HERE))
    wait_until(lambda: not ask(database, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"))
    assert there.create("m") is not None
    there.commit()
    for store in (here, there):
        store.close()


def test_a_server_whose_lease_is_over_answers_nothing_before_it_is_renewed(database):
    async def test():
        async with two_services(database) as (here, _):
            here.service.store.until = time.monotonic()
            await elsewhere(here.predict({"a": 1.0}, remember=False), None)
            assert here.service.store.renew()
            assert (await here.predict({"a": 1.0}, remember=False))["label"] == "up"

    run(test())


def test_a_lease_that_is_renewed_too_late_is_lost_and_the_server_begins_anew(database):
    async def test():
        async with two_services(database) as (here, there):
            service, before = here.service, to_file(here.state.learner)
            number = service.store.server
            ask(database, EXPIRE.format(HERE))
            assert not service.store.renew()
            await elsewhere(Caller(service, "new").create(), None)
            service.models.lose(list(service.models.loaded.values()))
            assert service.store.renew()
            assert service.store.server > number
            there.service.store._end_expired()
            assert await here.file() == before
            assert fence(database) == 2

    run(test())


def test_a_restarted_server_has_at_once_what_it_held(database):
    async def test():
        async with two_services(database) as (here, _):
            again = await started(None, store=opened(database, HERE))
            assert (await Caller(again).learn(UP))["seq"] == 3
            await elsewhere(here.learn(UP), None)
            await again.stop()

    run(test())


def test_models_created_at_once_by_two_servers_are_created_once(database):
    async def create(caller, name):
        for _ in range(1000):
            with contextlib.suppress(RefusedError):
                return (await caller.service.create_model(name, Settings(classes=CLASSES)))[1]
            await asyncio.sleep(0.001)
            if name in (await caller.service.list_models()).models:
                break
        return False

    async def test():
        async with two_services(database) as callers:
            for i in range(20):
                names = [f"m{i}-{j}" for j in range(3)]
                asked = [create(callers[0], name) for name in names] + [
                    create(callers[1], name) for name in names[::-1]
                ]
                created = await asyncio.gather(*asked)
                assert [created[j] + created[5 - j] for j in range(3)] == [1, 1, 1]
            assert len((await callers[0].service.list_models()).models) == 61

    run(test())


def test_two_that_find_no_store_make_one_together():
    with empty_store() as database:
        ask(database, "DROP SCHEMA IF EXISTS novikoff CASCADE")
        stores = []
        threads = [
            threading.Thread(target=lambda i=i: stores.append(opened(database, f"http://{i}"))) for i in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({store.server for store in stores}) == 4
        for store in stores:
            store.close()


# ---------------------------------------------------------------------------------------------------------------------
# Over HTTP
# ---------------------------------------------------------------------------------------------------------------------


def test_whichever_server_is_asked_answers_alike(database):
    token = "a token of some length"
    with listening(database, token=token) as (here, _), listening(database, token=token) as (there, _):
        with Client(here, "m", token=token) as first, Client(there, "m", token=token) as second:
            first.create(classes=CLASSES)
            second.create(classes=CLASSES)
            assert [client.learn({"a": 1.0}, "up").seq for client in (first, second)] == [1, 2]
            said = second.predict({"a": 2.0}, remember=True)
            assert first.reveal(said.id, "up").seq == 3
            assert second.why(said.id) == first.why(said.id)
            assert second.record(margin=0.5) == first.record(margin=0.5)
            assert second.file(seq=1) == first.file(seq=1)
            for client in (first, second):
                with pytest.raises(ValueError, match="'sideways' is not among the classes"):
                    client.learn({"a": 1.0}, "sideways")
        with httpx.Client(base_url=there, headers={"Authorization": f"Bearer {token}"}) as client:
            unknown = client.get("/v1/models/m", headers={"Authorization": "Bearer another"})
            assert unknown.status_code == 401
            assert client.get("/v1/models/none").status_code == client.get("/v1/models/a%00b").status_code == 404
            no_further = client.get("/v1/models/m", headers={PASSED_ON: b"1"})
            assert (no_further.status_code, no_further.headers["retry-after"]) == (503, "1")
            assert client.get("/v1/models/m/weights?top=1").status_code == 200
            assert client.head("/v1/models/m").headers["content-length"] != "0"
            assert client.delete("/v1/models/m").status_code == 204
            assert client.get("/v1/models").json() == {"models": []}


def test_a_key_counts_once_whichever_server_it_comes_to(database):
    with listening(database) as (here, _), listening(database) as (there, _), httpx.Client() as client:
        client.put(f"{here}v1/models/m", json={"classes": CLASSES})
        send = {"json": {"x": {"a": 1}, "y": "up"}, "headers": {"Idempotency-Key": "key"}}
        answers = [client.post(f"{url}v1/models/m/learn", **send).json() for url in (there, here, there)]
        assert answers == [{"seq": 1, "examples": 1, "mistakes": 1}] * 3


def test_a_holder_that_cannot_be_reached_is_named_and_one_that_does_not_answer_leaves_it_open(database):
    with socket.create_server(("127.0.0.1", 0)) as silent, listening(database) as (address, _):
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        store = opened(database, url)
        a_model(store)

        def hang_up():
            connection, _ = silent.accept()
            connection.recv(100)
            connection.close()
            silent.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        answers = [httpx.get(f"{address}v1/models/m") for _ in range(2)]
        thread.join()
        store.close()
    assert [answer.status_code for answer in answers] == [502, 503]
    assert all(url in answer.json()["error"]["message"] for answer in answers)


# ---------------------------------------------------------------------------------------------------------------------
# Killed, stopped, cut off
# ---------------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def two_processes(processes, database):
    """The ports of two servers, their processes, and a client of each."""
    ports = [free_port(), free_port()]
    pids = [processes.start(database, port, lease=1.0) for port in ports]
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(f"http://127.0.0.1:{port}", "m", retries=10_000)) for port in ports]
        for client in clients:
            client._wait = lambda *_: time.sleep(0.01)
            client.create(classes=CLASSES)
        yield ports, pids, clients
    for pid in pids:
        assert processes.kill(pid) == -signal.SIGKILL


def test_servers_that_are_killed_at_random_lose_nothing_and_count_nothing_twice(processes, database):
    draw = random.Random(0)
    with two_processes(processes, database) as (ports, pids, clients):
        loads = Loads(*[f"http://127.0.0.1:{port}" for port in ports * 2])
        for kill in range(KILLS):
            loads.wait(draw.randint(1, 40))
            time.sleep(draw.uniform(0, 0.01))
            which = draw.randrange(2)
            assert processes.kill(pids[which]) == -signal.SIGKILL
            if kill % 5 == 4:
                clients[1 - which].learn({"a": 1.0, "name": f"meanwhile {kill}"}, "up")
            pids[which] = processes.start(database, ports[which], lease=1.0)
        loads.end()
        served = [client.file() for client in clients]
    assert served[0] == served[1]
    loads.check(database, served[0])


def stop_holder(database, ports, pids):
    """Which server held the model, and stands still now."""
    ((url,),) = ask(database, "SELECT url FROM novikoff.models JOIN novikoff.servers USING (server)")
    which = [f"http://127.0.0.1:{port}/" for port in ports].index(url)
    os.kill(pids[which], signal.SIGSTOP)
    return which


def test_a_server_that_stood_still_beyond_its_lease_goes_on_without_what_it_held(processes, database):
    with two_processes(processes, database) as (ports, pids, clients):
        assert clients[0].learn({"a": 1.0, "name": "0"}, "up").seq == 1
        still = stop_holder(database, ports, pids)
        assert clients[1 - still].learn({"a": 1.0, "name": "1"}, "up").seq == 2
        os.kill(pids[still], signal.SIGCONT)
        assert clients[still].predict({"a": 1.0}).seq == 2
        assert clients[still].learn({"a": 1.0, "name": "2"}, "up").seq == 3
        assert fence(database) >= 2  # a busy machine may renew a lease of one second too late, and lose it once more


def test_a_server_that_stands_still_under_load_writes_nothing_when_it_goes_on(processes, database):
    """In the middle of a transaction its session was ended, and then it ends; whoever started it starts it again."""
    with two_processes(processes, database) as (ports, pids, clients):
        loads = Loads(*[f"http://127.0.0.1:{port}" for port in ports * 2])
        for i in range(2):
            loads.wait(30)
            still = stop_holder(database, ports, pids)
            before = fence(database)
            clients[1 - still].learn({"a": -1.0, "name": f"taken over {i}"}, "down")
            assert fence(database) > before
            os.kill(pids[still], signal.SIGCONT)
            loads.wait(30)
            assert processes.kill(pids[still]) in (-signal.SIGKILL, EXIT_CODE)
            pids[still] = processes.start(database, ports[still], lease=1.0)
        loads.end()
        served = [client.file() for client in clients]
    assert served[0] == served[1]
    loads.check(database, served[0])


class Wire:
    """A wire to the database that can be cut when a commit passes, or when its answer does."""

    def __init__(self, database):
        self.database = database
        self.cut = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"postgresql://novikoff@127.0.0.1:{self.listener.getsockname()[1]}/postgres"
        self.port = int(database.rpartition(":")[2].partition("/")[0])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.port))
                for way in ((client, server, "commit"), (server, client, "answer")):
                    threading.Thread(target=self._pass, args=way, daemon=True).start()

    def _pass(self, source, target, what):
        with contextlib.suppress(OSError):
            while (data := source.recv(1 << 16)) and not (what == self.cut and b"COMMIT" in data):
                target.sendall(data)
            for end in (source, target):
                end.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("cut", ["commit", "answer"])
def test_a_connection_that_is_lost_in_the_middle_of_a_commit_ends_the_process_and_the_log_tells(
    processes, database, cut
):
    wire, port = Wire(database), free_port()
    pid = processes.start(wire.address, port)
    send = {"json": {"x": {"a": 1.0, "name": "lost"}, "y": "up"}, "headers": {"Idempotency-Key": "key"}}
    with Client(f"http://127.0.0.1:{port}", "m", retries=60) as client:
        client.create(classes=CLASSES)
        client.learn({"a": 1.0, "name": "before"}, "up")
        wire.cut = cut
        with pytest.raises(httpx.TransportError):
            httpx.post(f"http://127.0.0.1:{port}/v1/models/m/learn", **send)
        assert processes.ended(pid) == EXIT_CODE
        wire.listener.close()
        found = examples_in_log(database)[0]
        assert found == {"before": 1} | ({"lost": 1} if cut == "answer" else {})
        pid = processes.start(database, port)
        client.record()
        answer = httpx.post(f"http://127.0.0.1:{port}/v1/models/m/learn", **send)
        assert answer.json()["seq"] == 2
        processes.kill(pid)
    assert examples_in_log(database)[0] == {"before": 1, "lost": 1}


def test_a_server_that_loses_its_database_ends(processes, database):
    port = free_port()
    pid = processes.start(database, port, lease=1.0)
    with Client(f"http://127.0.0.1:{port}", "m", retries=60) as client:
        client.create(classes=CLASSES)
    ask(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'novikoff'")
    assert processes.ended(pid) == EXIT_CODE


# ---------------------------------------------------------------------------------------------------------------------
# What is refused
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "kept"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")])
def test_every_commit_is_synced_whatever_the_database_is_used_to(database, given, kept):
    store = opened(f"{database}?options=-c%20synchronous_commit%3D{given}")
    assert store._setting("synchronous_commit") == kept
    store.close()


def test_a_database_that_does_not_sync_is_refused(database, monkeypatch):
    monkeypatch.setattr("novikoff.serve.postgres.PostgresStore._setting", lambda self, name: "off")
    with pytest.raises(ValueError, match="fsync=off; it must be on"):
        opened(database)


def test_a_schema_that_is_no_store_or_of_a_later_format_is_refused(database):
    opened(database).close()
    ask(database, f"UPDATE novikoff.format SET number = {FORMAT + 1}")
    with pytest.raises(ValueError, match=f"has format {FORMAT + 1}"):
        opened(database)
    ask(database, "DROP SCHEMA novikoff CASCADE", "CREATE SCHEMA novikoff")
    with pytest.raises(ValueError, match="has a schema novikoff that is not a store"):
        opened(database)
    ask(database, "DROP SCHEMA novikoff")


def test_what_is_no_database_is_said_without_its_password():
    with pytest.raises(OSError, match=r"postgresql://me@127\.0\.0\.1:1/models cannot be reached") as error:
        opened("postgresql://me:secret@127.0.0.1:1/models")
    assert "secret" not in str(error.value)
    with pytest.raises(ValueError, match="is not an address of a database"):
        opened("postgresql://me@host/models?nonsense=1")
    with pytest.raises(ValueError, match="neither a folder nor postgresql://"):
        open_store("mysql://host/models", HERE, 10.0)


def test_the_command_needs_an_address_that_others_can_call(tmp_path):
    assert reached_at("http://10.0.0.7:8151", "http://0.0.0.0:8151/", "postgresql://db") == "http://10.0.0.7:8151"
    assert reached_at(None, "http://0.0.0.0:8151/", "folder") == "http://0.0.0.0:8151/"
    with pytest.raises(ValueError, match="nobody can call"):
        reached_at(None, "http://0.0.0.0:8151/", "postgresql://db")
    with pytest.raises(ValueError, match="is not an address of a server"):
        reached_at("10.0.0.7", "http://0.0.0.0:8151/", "postgresql://db")


def test_a_text_that_the_database_cannot_hold_is_not_found(database):
    async def test():
        async with two_services(database) as (here, _):
            await refused(404, here.reveal(("a\0b", "up")), "no prediction")

    run(test())


def test_what_goes_wrong_in_a_statement_is_known_at_the_commit(database):
    store = opened(database)
    store.begin([])
    store._run("INSERT INTO format VALUES (?)", "no number")
    with pytest.raises(StoreError):
        store.commit()
    store.close()
    assert ask(database, "SELECT count(*) FROM novikoff.format") == [(1,)]
