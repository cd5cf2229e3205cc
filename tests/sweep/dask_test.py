#!/usr/bin/python3
"""A sweep through a local Dask scheduler with two workers, one of which is killed half-way: the same table.

    tests/sweep/dask_test.py PROGRAM [RUNS [SECONDS]]

Ends with 77 (skipped) where Debian's python3-distributed is missing."""
import csv
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

program = os.path.abspath(sys.argv[1])
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.1
python = "/usr/bin/python3"
if subprocess.run([python, "-c", "import distributed"], capture_output=True).returncode != 0:
    print("skipped: Python has no 'distributed' (scripts/setup cluster)")
    sys.exit(77)

SCENE = """{"gravity": [0, -10, 0], "seconds": %g, "method": {"type": "affine", "dt": 0.001},
  "bodies": [{"name": "box", "mesh": "meshes/box.obj", "position": [0, 1, 0], "linear_velocity": [1, 2, 0]}]}"""
PLAN = """{"scene": "../scenes/thrown.json",
  "parameters": {"gravity[1]": {"from": -10, "to": -1, "count": %d}},
  "results": {"y": "last(body.box.y)", "clean": "verify.clean"}}"""
BOX = """v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"""


def table(folder):
    with open(folder / "results.csv", newline="") as file:
        return [{k: v for k, v in row.items() if k != "wall_seconds"} for row in csv.DictReader(file)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def check(condition, words):
    if not condition:
        print("FAILED:", words)
        sys.exit(1)


with tempfile.TemporaryDirectory() as name:
    root = pathlib.Path(name)
    for folder in ("plans", "scenes/meshes", "elsewhere"):
        (root / folder).mkdir(parents=True)
    (root / "scenes/thrown.json").write_text(SCENE % seconds)
    (root / "scenes/meshes/box.obj").write_text(BOX)
    plan = root / "plans/plan.json"
    plan.write_text(PLAN % runs)
    address = f"tcp://127.0.0.1:{free_port()}"
    started = []

    def start(*command):
        started.append(subprocess.Popen(command, cwd=root / "elsewhere", stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL))
        return started[-1]

    def sweep(folder, *flags):
        return [program, "sweep", "run", str(plan), "--folder", str(root / folder), *flags]

    try:
        refused = subprocess.run(sweep("refused", "--on", address), capture_output=True, text=True)
        check(refused.returncode == 2 and "no scheduler answers" in refused.stderr, refused)
        start(python, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", address.split(":")[-1],
              "--no-dashboard")
        workers = [start(python, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny",
                         "--no-dashboard") for _ in range(2)]
        time.sleep(3)
        begin = time.monotonic()
        running = subprocess.Popen(sweep("cluster", "--on", address), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        while running.poll() is None and len(list((root / "cluster/tasks").glob("*/*.sqlite"))) < runs // 2:
            time.sleep(0.01)
        killed_at = len(list((root / "cluster/tasks").glob("*/*.sqlite")))
        workers[0].send_signal(signal.SIGKILL)
        out, err = running.communicate(timeout=500)
        took = time.monotonic() - begin
        check(running.returncode == 0, f"exit code {running.returncode}: {out} {err}")
        check(killed_at < runs, "the worker was killed too late to matter")
        local = subprocess.run(sweep("local", "--quiet"), capture_output=True, text=True)
        check(local.returncode == 0, local)
        check(len(table(root / "local")) == runs, "rows are missing")
        check(table(root / "local") == table(root / "cluster"), "the tables differ")
        print(f"{runs} runs on a cluster in {took:.1f} s, a worker killed after {killed_at}: the same table as here")
    finally:
        for process in started:
            process.kill()
            process.wait()
