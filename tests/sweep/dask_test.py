#!/usr/bin/python3
"""A sweep through a local Dask scheduler with two workers, one of which is killed half-way: the same table.

    tests/sweep/dask_test.py PROGRAM [RUNS [SECONDS]]

Ends with 77 (skipped) where Debian's python3-distributed is missing."""
import os
import pathlib
import subprocess
import sys
import tempfile

from local_cluster import Cluster, free_address, has_dask, run_and_lose_a_worker, table

program = os.path.abspath(sys.argv[1])
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.1
if not has_dask():
    print("skipped: Python has no 'distributed' (scripts/setup cluster)")
    sys.exit(77)

SCENE = """{"gravity": [0, -10, 0], "seconds": %g, "method": {"type": "affine", "dt": 0.001},
  "bodies": [{"name": "box", "mesh": "meshes/box.obj", "position": [0, 1, 0], "linear_velocity": [1, 2, 0]}]}"""
PLAN = """{"scene": "../scenes/thrown.json",
  "parameters": {"gravity[1]": {"from": -10, "to": -1, "count": %d}},
  "results": {"y": "last(body.box.y)", "clean": "verify.clean"}}"""
BOX = """v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"""


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
    address = free_address()

    def sweep(folder, *flags):
        return [program, "sweep", "run", str(plan), "--folder", str(root / folder), *flags]

    refused = subprocess.run(sweep("refused", "--on", address), capture_output=True, text=True)
    check(refused.returncode == 2 and "no scheduler answers" in refused.stderr, refused)
    for attempt in range(4):   # where every run ended before the worker was held, nothing was tried: once more
        folder = f"cluster-{attempt}"
        with Cluster(address, 2, root / "elsewhere") as cluster:
            code, words, killed_at = run_and_lose_a_worker(sweep(folder, "--on", address), cluster, root / folder, runs // 2)
        check(code == 0, f"exit code {code}: {words}")
        if killed_at < runs:
            break
    check(killed_at < runs, "the worker was killed too late to matter, four times")
    local = subprocess.run(sweep("local", "--quiet"), capture_output=True, text=True)
    check(local.returncode == 0, local)
    check(len(table(root / "local")) == runs, "rows are missing")
    check(table(root / "local") == table(root / folder), "the tables differ")
    print(f"{runs} runs on a cluster, a worker killed after {killed_at}: the same table as here")
