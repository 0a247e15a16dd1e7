"""Services in processes of their own, to be killed. One process imports everything and forks them, which is quick.

It reads one command a line, as JSON, starts a service, and prints its process id. A service can be made to fail.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Nursery:
    """The process that forks services."""

    def __init__(self, **environment):
        environment = {**os.environ, **environment, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.serve.nursery"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment,
        )  # fmt: skip

    def start(self, where, port, **how):
        """The id of a process that serves a store."""
        return self._ask({"where": str(where), "port": port, **how})

    def ended(self, pid):
        """The exit code of a process, when it has ended; of one that a signal ended, the negative number of it."""
        return os.waitstatus_to_exitcode(self._ask({"wait": pid}))

    def kill(self, pid):
        os.kill(pid, signal.SIGKILL)
        return self.ended(pid)

    def _ask(self, command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def nursery(**environment):
    made = Nursery(**environment)
    try:
        yield made
    finally:
        made.close()


def free_port():
    from novikoff.web import listen

    with listen() as listener:
        return listener.getsockname()[1]


def wait_until(is_so):
    """Wait, however long it takes."""
    while not is_so():
        time.sleep(0.002)


def live(where, port, fail_after=None, largest_file=None, lease=10.0, options=None, pragma=None):
    """The life of a service."""
    import resource

    from novikoff.serve.app import App
    from novikoff.serve.run import open_store, serve
    from novikoff.serve.service import Service, ServiceOptions
    from novikoff.web import address_of, listen

    if largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    listener = listen(port)
    store = open_store(where, address_of(listener), lease)
    if pragma is not None:
        store.connection.execute(f"PRAGMA {pragma}")
    if fail_after is not None:
        _fail(store, fail_after)
    serve(listener, App(Service(store, ServiceOptions(**(options or {})))))


def _fail(store, after):
    from novikoff.serve.store import StoreError

    commits, commit = iter(range(after)), store.commit

    def failing():
        if next(commits, None) is None:
            raise StoreError("disk I/O error")
        commit()

    store.commit = failing


def main():
    with contextlib.suppress(ImportError):
        import novikoff.serve.postgres
    import novikoff.keep.named
    import novikoff.serve.app
    import novikoff.serve.limits
    import novikoff.serve.run
    import novikoff.serve.store  # noqa: F401

    for line in sys.stdin:
        command = json.loads(line)
        if "wait" in command:
            print(os.waitpid(command["wait"], 0)[1], flush=True)  # noqa: T201
            continue
        pid = os.fork()
        if pid == 0:
            with open(os.devnull) as nothing:
                os.dup2(nothing.fileno(), 0)
            os.dup2(2, 1)
            live(**command)
            os._exit(0)
        print(pid, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
