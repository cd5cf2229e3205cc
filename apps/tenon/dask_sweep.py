#!/usr/bin/env python3
"""Makes runs of a Tenon sweep on a Dask cluster; `tenon sweep --on` starts it.

Reads one line of JSON from standard input and answers with a line per run: "done TASK" once its result file is in
place, or "failed TASK REASON"; "error PROBLEM | CURE" when nothing can be done. A worker needs the program and nothing
else: the plan and its scenes are sent with the tasks, and the result files come back as bytes.
"""
import json
import os
import sys
import threading
import time


def identity(value):
    return value


def run_chunk(bundle, program, plan, threads, memory, tasks):
    """On a worker: [(task, bytes of the result file, None) or (task, None, reason)], and the seconds it took."""
    import pathlib
    import shutil
    import subprocess
    import tempfile
    import time

    start = time.monotonic()
    found = program if shutil.which(program) else shutil.which("tenon")
    if found is None:
        raise RuntimeError(f"a worker has neither {program} nor tenon in its PATH")
    with tempfile.TemporaryDirectory(prefix="tenon-sweep-") as folder:
        root = pathlib.Path(folder)
        for name, content in bundle.items():
            path = root / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        numbers = ",".join(str(task["task"]) for task in tasks)
        command = [found, "sweep", "run", str(root / "files" / plan), "--folder", str(root / "out"), "--task", numbers,
                   "--processes", "1", "--threads", str(threads), "--quiet"]
        if memory > 0:
            command += ["--memory", str(memory)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        words = done.stderr.decode(errors="replace").strip().replace("\n", " ")
        results = []
        for task in tasks:
            path = root / "out" / task["name"]
            if path.is_file():
                results.append((task["task"], path.read_bytes(), None))
            else:
                results.append((task["task"], None, f"on a worker: {words or 'the program left no result'}"))
        return results, time.monotonic() - start


def say(text):
    print(text.replace("\n", " "), flush=True)


def end_with_parent():
    """The sweep holds the other end of standard input: when it is gone, nobody waits for results."""
    sys.stdin.read()
    os._exit(1)


def keep(target, content):
    partial = f"{target}.{os.getpid()}.partial"
    with open(partial, "wb") as file:
        file.write(content)
    os.replace(partial, target)


class Runner:
    """Keeps a few chunks per core under way. Chunks grow until they take two seconds: starting a program costs little
    beside that, and a lost worker costs no more than that or a single run."""

    def __init__(self, client, job, bundle):
        self.client = client
        self.job = job
        self.bundle = bundle
        self.waiting = list(reversed(job["tasks"]))
        self.places = {task["task"]: task["file"] for task in job["tasks"]}
        self.chunk = 1
        self.number = 0
        self.prefix = f"tenon-sweep-{os.getpid()}-{time.time_ns()}"
        self.tasks_of = {}

    def submit(self):
        tasks = [self.waiting.pop() for _ in range(min(self.chunk, len(self.waiting)))]
        future = self.client.submit(run_chunk, self.bundle, self.job["program"], self.job["plan"], self.job["threads"],
                                    self.job["memory"], tasks, key=f"{self.prefix}-{self.number}",
                                    priority=-self.number)
        self.number += 1
        self.tasks_of[future.key] = tasks
        return future

    def finished(self, future):
        tasks = self.tasks_of.pop(future.key)
        if future.status == "cancelled":
            self.waiting.extend(reversed(tasks))
            return
        if future.status != "finished":
            for task in tasks:
                say(f"failed {task['task']} on the cluster: {future.exception()!r}")
            return
        results, seconds = future.result()
        for number, content, reason in results:
            if content is None:
                say(f"failed {number} {reason}")
            else:
                keep(self.places[number], content)
                say(f"done {number}")
        self.chunk = max(1, min(50, int(2.0 * len(tasks) / max(seconds, 1e-3))))

    def run(self, distributed):
        under_way = distributed.as_completed()
        while self.waiting or self.tasks_of:
            cores = max(1, sum(self.client.nthreads().values()))
            while self.waiting and len(self.tasks_of) < 2 * cores:
                under_way.add(self.submit())
            future = next(under_way)
            self.finished(future)
            future.release()


def main():
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        import distributed
    except ImportError:
        say("error Python has no package 'distributed' | install Debian's python3-distributed ('scripts/setup cluster'); "
            "TENON_PYTHON names another Python")
        return 1
    import logging
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(job["scheduler"], timeout=20)
    except (OSError, ValueError, TimeoutError, RuntimeError) as failure:
        say(f"error no scheduler answers: {failure} | start one with dask-scheduler")
        return 1
    try:
        client.wait_for_workers(1, timeout=60)
    except Exception:
        say("error the scheduler has no workers | start some with dask-worker ADDRESS")
        return 1
    content = {}
    for name, path in job["files"].items():
        with open(path, "rb") as file:
            content[name] = file.read()
    # a task, not scattered data: it is made again when the worker that holds it is lost
    bundle = client.submit(identity, content, key=f"tenon-sweep-files-{os.getpid()}-{time.time_ns()}")
    Runner(client, job, bundle).run(distributed)
    sys.stdout.flush()
    os._exit(0)  # the client's own farewell may take seconds


if __name__ == "__main__":
    sys.exit(main())
