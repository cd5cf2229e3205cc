"""What the parts of scripts/acceptance-trust share: running the program, reading what it says."""
import json
import os
import subprocess


class Program:
    def __init__(self, path, folder, only=None):
        self.only = only  # of the built-in scenes, where a part goes through them
        self.path = os.path.realpath(path)
        self.folder = os.path.realpath(folder)
        os.makedirs(self.folder, exist_ok=True)

    def file(self, name):
        return os.path.join(self.folder, name)

    def call(self, *words, seconds=600, env=None):
        """Exit code (None when it took too long) and what it printed."""
        try:
            done = subprocess.run([self.path, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                                  errors="replace", timeout=seconds, env={**os.environ, **(env or {})})
            return done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            return None, f"took more than {seconds} s"

    def run(self, scene, output, *words, seconds=600):
        """Exit code, report (empty when there is none) and what was printed."""
        report = self.file(output + ".json")
        if os.path.exists(report):
            os.remove(report)
        code, text = self.call("run", scene, "-o", self.file(output + ".tenon"), "--report", report, "--quiet", *words,
                               seconds=seconds)
        return code, read_json(report), text

    def verify(self, output, *words, seconds=1200):
        """Exit code and verdict."""
        verdict = self.file(output + "-verdict.json")
        if os.path.exists(verdict):
            os.remove(verdict)
        code, text = self.call("verify", self.file(output + ".tenon"), "-o", verdict, "--quiet", *words, seconds=seconds)
        return code, read_json(verdict), text

    def scenes(self):
        """(name, method) of every built-in scene, or of those asked for."""
        code, text = self.call("scenes", "--json")
        return [(entry["name"], entry["family"]) for entry in json.loads(text)
                if not self.only or entry["name"] in self.only]

    def remove(self, output):
        for ending in (".tenon", ".tenon-wal", ".tenon-shm", ".tenon-lock", ".json", "-verdict.json"):
            if os.path.exists(self.file(output + ending)):
                os.remove(self.file(output + ending))


def read_json(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


class Tally:
    """Counts what passed and prints what did not."""

    def __init__(self, what):
        self.what, self.count, self.failed = what, 0, 0

    def add(self, name, wrong, note=""):
        self.count += 1
        self.failed += bool(wrong)
        print(f"{name:34} {'FAILED: ' + wrong if wrong else 'passed'}{'  ' + note if note else ''}", flush=True)

    def end(self):
        print(f"{self.failed} of {self.count} {self.what} failed", flush=True)
        return self.failed
