"""The service against River behind FastAPI, Vowpal Wabbit's daemon, and `learn_many` in memory.

    pip install ".[bench,serve,client]"
    python benchmarks/serve.py [--smoke] [--only single batches memory] [--store postgresql://...]

Examples have 20 features. Every example that ours has acknowledged is on the disk; the peers keep nothing. 64
connections send single examples, 4 send batches of 1,000 lines. The load comes from a process of its own, which sends
prepared bytes; the share of a core that it takes is printed, because a client that is busy would be what is measured.
The memory of the service is looked at over a million requests.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure, show_ratio

FEATURES, EXAMPLES, LINES = 20, 2_000, 1_000
CONNECTIONS = {"single": 64, "batches": 4}

RIVER = """
import socket, sys
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from river import linear_model

class Example(BaseModel):
    x: dict[str, float]
    y: bool

app, model = FastAPI(), linear_model.Perceptron()

@app.post("/learn")
async def learn(example: Example):
    mistake = model.predict_one(example.x) != example.y
    model.learn_one(example.x, example.y)
    return {"mistake": bool(mistake)}

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])
"""

VOWPAL_WABBIT = """
import socket, sys
import pylibvw
from vowpalwabbit import Workspace
with socket.create_server(("127.0.0.1", 0)) as probe:
    port = probe.getsockname()[1]
print(port, flush=True)
options = ["--daemon", "--foreground", "--num_children", "1", "--port", str(port), "--quiet", "--sgd"]
daemon = Workspace(arg_list=[*options, "--loss_function", "hinge"])
pylibvw.vw.run_parser(daemon)
"""

LEARN_MANY = """
import json, sys, time
from novikoff import OnlinePerceptron
examples = [json.loads(line) for line in open(sys.argv[1])]
xs, ys = [e["x"] for e in examples], [e["y"] for e in examples]
model, seconds, learned = OnlinePerceptron(classes=[False, True]), 0.0, 0
while seconds < float(sys.argv[2]):
    start = time.perf_counter()
    model.learn_many(xs, ys)
    seconds, learned = seconds + time.perf_counter() - start, learned + len(xs)
print(json.dumps({"rate": learned / seconds}))
"""


# -- the load ---------------------------------------------------------------------------------------------------------


class Sender(asyncio.Protocol):
    """A connection that always has one request under way. An answer of HTTP has a length; one of a daemon is a line."""

    def __init__(self, requests: list[bytes], start: int, counts: dict[str, int], http: bool) -> None:
        self.requests, self.next, self.counts, self.http = requests, start, counts, http
        self.received = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.send()

    def send(self) -> None:
        self.transport.write(self.requests[self.next % len(self.requests)])
        self.next += 1

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (size := self._answer()) is not None:
            if self.http and not self.received.startswith(b"HTTP/1.1 2"):
                self.counts["failed"] += 1
            self.counts["answered"] += 1
            self.received = self.received[size:]
            self.send()

    def _answer(self) -> int | None:
        """The length of the answer, once it is there."""
        if not self.http:
            end = self.received.find(b"\n") + 1
            return end or None
        head = self.received.find(b"\r\n\r\n") + 4
        if head < 4:
            return None
        place = self.received.lower().index(b"content-length:") + 15
        size = head + int(self.received[place : self.received.index(b"\r\n", place)])
        return size if len(self.received) >= size else None


async def _load(port: int, requests: list[bytes], connections: int, seconds: float, http: bool) -> dict[str, Any]:
    """Requests for so many seconds; or, if the seconds are negative, so many requests."""
    loop, counts = asyncio.get_running_loop(), {"answered": 0, "failed": 0}
    senders = [
        await loop.create_connection(lambda start=number * 31: Sender(requests, start, counts, http), "127.0.0.1", port)
        for number in range(connections)
    ]
    await asyncio.sleep(max(seconds, 0.0) / 5)  # until all are in step
    before, began, used = counts["answered"], time.perf_counter(), time.process_time()
    await asyncio.sleep(max(seconds, 0.0))
    while counts["answered"] < -seconds:
        await asyncio.sleep(0.01)
    took = time.perf_counter() - began
    share = (time.process_time() - used) / took
    result = {"rate": (counts["answered"] - before) / took, "share": share, "failed": counts["failed"]}
    for transport, _ in senders:
        transport.abort()
    return result


def load(arguments: list[str]) -> None:
    """The process of the load: prepared requests from a file, one JSON string a line."""
    port, path, connections, seconds, http = arguments
    requests = [json.loads(line).encode() for line in Path(path).read_text().splitlines()]
    if find_spec("uvloop"):
        import uvloop

        runner: Any = uvloop.run
    else:
        runner = asyncio.run
    print(json.dumps(runner(_load(int(port), requests, int(connections), float(seconds), http == "http"))))


# -- the contestants --------------------------------------------------------------------------------------------------


def examples() -> list[dict[str, Any]]:
    """Points with a plane through them, and labels of which a twentieth is wrong."""
    chance = random.Random(0)
    plane = [chance.gauss(0, 1) for _ in range(FEATURES)]
    found = []
    for _ in range(EXAMPLES):
        x = [round(chance.gauss(0, 1), 4) for _ in range(FEATURES)]
        right = sum(a * b for a, b in zip(x, plane, strict=True)) > 0
        found.append({"x": {f"f{j}": v for j, v in enumerate(x)}, "y": right != (chance.random() < 0.05)})
    return found


def http_request(path: str, body: str, kind: str = "application/json") -> str:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
    return f"{head}Content-Length: {len(body.encode())}\r\n\r\n{body}"


def vowpal_request(example: dict[str, Any]) -> str:
    features = " ".join(f"{name}:{value}" for name, value in example["x"].items())
    return f"{1 if example['y'] else -1} | {features}\n"


@contextlib.contextmanager
def process(*command: str, prints: bool = True) -> Iterator[str]:
    """A server; yields the first line that it prints, if it prints any."""
    server = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline() if prints else ""
    finally:
        os.killpg(server.pid, signal.SIGTERM)  # Vowpal Wabbit has children
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)


@contextlib.contextmanager
def ours(store: str) -> Iterator[int]:
    """The service, which like its peers logs no requests."""
    from novikoff.serve import Client

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    with process("-m", "novikoff.cli", "serve", "--store", store, "--port", str(port), "--quiet", prints=False):
        with Client(f"http://127.0.0.1:{port}", "m") as model:
            model.create(classes=[False, True])
        yield port


@contextlib.contextmanager
def daemon(code: str) -> Iterator[int]:
    """A peer, once it answers."""
    with process("-c", code) as line:
        port = int(line)
        asyncio.run(_wait(port))
        yield port


async def _wait(port: int) -> None:
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
    raise RuntimeError("a server did not begin to listen")


def rate(port: int, requests: Path, connections: int, seconds: float, http: bool = True) -> dict[str, Any]:
    command = [sys.executable, __file__, "--load", str(port), str(requests), str(connections), str(seconds)]
    done = subprocess.run([*command, "http" if http else "lines"], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    if result["failed"]:
        raise RuntimeError(f"{result['failed']} requests failed")
    return result


# -- what is measured -------------------------------------------------------------------------------------------------


def single(folder: Path, store: str, rounds: int, seconds: float) -> None:
    """One example a request."""
    print("\nOne example a request, 64 connections; ours is on the disk before it is acknowledged")
    bodies = [json.dumps(example) for example in examples()]
    paths = {"ours": "/v1/models/m/learn", "river": "/learn"}
    files = {name: folder / f"{name}.requests" for name in (*paths, "vowpal")}
    for name, path in paths.items():
        files[name].write_text("".join(json.dumps(http_request(path, body)) + "\n" for body in bodies))
    files["vowpal"].write_text("".join(json.dumps(vowpal_request(example)) + "\n" for example in examples()))
    with contextlib.ExitStack() as servers:
        ports = {"ours": servers.enter_context(ours(store))}
        for name, code, packages in (
            ("river", RIVER, ("fastapi", "river")),
            ("vowpal", VOWPAL_WABBIT, ("vowpalwabbit",)),
        ):
            if all(map(find_spec, packages)):
                try:
                    ports[name] = servers.enter_context(daemon(code))
                except (RuntimeError, ValueError) as error:
                    print(f"  {name} did not start: {error}")
        rates: dict[str, list[float]] = {name: [] for name in ports}
        shares = []
        for _ in range(rounds):
            for name, port in ports.items():
                # The daemon serves one connection at a time.
                connections = 1 if name == "vowpal" else CONNECTIONS["single"]
                found = rate(port, files[name], connections, seconds, http=name != "vowpal")
                rates[name].append(found["rate"])
                shares.append(found["share"])
    for name, found in rates.items():
        print(f"  {name:<10} {sorted(found)[len(found) // 2]:>10,.0f} examples/s")
    print(f"  the load took {max(shares):.0%} of a core at most")
    names = {
        "river": "River behind FastAPI, which keeps nothing",
        "vowpal": "Vowpal Wabbit's daemon, which keeps nothing",
    }
    for name in [name for name in rates if name != "ours"]:
        figure(
            "service, one example a request, on the disk before the answer",
            rates["ours"],
            rates[name],
            against=names[name],
            unit="examples/s",
            better="more",
        )
    if "river" in rates:
        show_ratio("ours, durable / River behind FastAPI, which keeps nothing", rates["ours"], rates["river"])
    if "vowpal" in rates:
        show_ratio("ours, durable / Vowpal Wabbit's daemon, which keeps nothing", rates["ours"], rates["vowpal"])


def batches(folder: Path, store: str, rounds: int, seconds: float) -> None:
    """A thousand examples a request."""
    print(f"\nBatches of {LINES:,} lines, 4 connections")
    lines = [json.dumps(example) for example in examples()]
    chunks = ["\n".join(lines[start : start + LINES]) + "\n" for start in range(0, len(lines), LINES)]
    path, plain = folder / "batches.requests", folder / "examples.jsonl"
    request = [http_request("/v1/models/m/learn", chunk, "application/x-ndjson") for chunk in chunks]
    path.write_text("".join(json.dumps(each) + "\n" for each in request))
    plain.write_text("\n".join(lines) + "\n")
    rates: dict[str, list[float]] = {"ours": [], "learn_many": []}
    with ours(store) as port:
        for _ in range(rounds):
            rates["ours"].append(LINES * rate(port, path, CONNECTIONS["batches"], seconds)["rate"])
            command = [sys.executable, "-c", LEARN_MANY, str(plain), str(seconds)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rates["learn_many"].append(json.loads(done.stdout)["rate"])
    for name, found in rates.items():
        asked = " (at least 100,000)" if name == "ours" else ""
        print(f"  {name:<10} {sorted(found)[len(found) // 2]:>10,.0f} examples/s{asked}")
    show_ratio("durable, over HTTP / learn_many in memory", rates["ours"], rates["learn_many"])
    figure(
        f"service, {LINES:,} examples a request, on the disk before the answer",
        rates["ours"],
        rates["learn_many"],
        against="learn_many in memory",
        unit="examples/s",
        better="more",
    )


def memory(folder: Path, store: str, rounds: int, seconds: float) -> None:
    """The memory of the service, after each tenth of a million requests; in small, of a thousand."""
    tenth = 100_000 if rounds > 1 else 100
    print(f"\nMemory over {10 * tenth:,} requests")
    path = folder / "ours.requests"
    bodies = [json.dumps(example) for example in examples()]
    path.write_text("".join(json.dumps(http_request("/v1/models/m/learn", body)) + "\n" for body in bodies))
    sizes = []
    with ours(store) as port:
        for _ in range(10):
            rate(port, path, CONNECTIONS["single"], -tenth)
            sizes.append(resident(port))
            print(f"  {len(sizes) * tenth:>9,} requests: {sizes[-1] / 2**20:.1f} MiB", flush=True)
    print(f"  the last is {sizes[-1] / sizes[0]:.3f} times the first (the same is better)")
    figure(
        f"service, memory after {10 * tenth:,} requests",
        sizes[-1] / 2**20,
        sizes[0] / 2**20,
        against=f"itself after {tenth:,}",
        unit="MiB",
    )


def resident(port: int) -> int:
    """The bytes of memory of the service, by its own word."""
    import urllib.request

    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith("process_resident_memory_bytes"):
                return int(float(line.split()[1]))
    raise RuntimeError("the service does not say how much memory it uses")


PARTS = {"single": single, "batches": batches, "memory": memory}


def main() -> None:
    if sys.argv[1:2] == ["--load"]:
        load(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a fraction of a second each")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--store", help="a store to use instead of a temporary folder")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    rounds, seconds = (1, 0.3) if arguments.smoke else (arguments.rounds, 4.0)
    print(f"{os.cpu_count()} cores")
    for part in arguments.only:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](Path(folder), arguments.store or f"{folder}/store", rounds, seconds)


if __name__ == "__main__":
    main()
