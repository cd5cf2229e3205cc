"""A Dask scheduler and its workers as processes of this machine; used by dask_test.py and scripts/acceptance-sweep."""
import csv
import signal
import socket
import subprocess
import time

PYTHON = "/usr/bin/python3"


def has_dask():
    return subprocess.run([PYTHON, "-c", "import distributed"], capture_output=True).returncode == 0


def table(folder):
    """The rows of a sweep without what the clock says."""
    with open(folder / "results.csv", newline="") as file:
        return [{k: v for k, v in row.items() if k != "wall_seconds"} for row in csv.DictReader(file)]


def finished(folder):
    return len(list((folder / "tasks").glob("*/*.sqlite")))


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{probe.getsockname()[1]}"


class Cluster:
    """`with Cluster(address, workers, cwd) as cluster`: ends its processes at the end."""

    def __init__(self, address, workers, cwd):
        self.cwd = cwd
        self.started = []
        self._start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", address.split(":")[-1], "--no-dashboard")
        self.workers = [self._start("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
                        for _ in range(workers)]
        time.sleep(3)

    def _start(self, module, *arguments):
        self.started.append(subprocess.Popen([PYTHON, "-m", module, *arguments], cwd=self.cwd, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))
        return self.started[-1]

    def hold_worker(self):
        self.workers[-1].send_signal(signal.SIGSTOP)

    def kill_worker(self):
        self.workers.pop().send_signal(signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
            process.wait()


def run_and_lose_a_worker(command, cluster, folder, half):
    """Runs the sweep; one worker stands still from the first result on, so that the sweep cannot end without it, and is
    killed when `half` runs are done or nothing moves any more. Exit code, words, and how many were done then."""
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while running.poll() is None and finished(folder) < 1:
        time.sleep(0.002)
    cluster.hold_worker()
    seen, since = finished(folder), time.monotonic()
    while running.poll() is None and seen < half and time.monotonic() - since < 5:   # a result that the held worker keeps holds up the rest
        time.sleep(0.01)
        if finished(folder) != seen:
            seen, since = finished(folder), time.monotonic()
    killed_at = finished(folder)
    cluster.kill_worker()
    out, err = running.communicate(timeout=3000)
    return running.returncode, out + err, killed_at
