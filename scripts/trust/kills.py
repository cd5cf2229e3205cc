"""SIGKILL at random moments and resume, again and again: the finished file holds what the undisturbed one does."""
import json
import os
import random
import signal
import sqlite3
import subprocess
import time

from common import Tally

FLOOR = '{"name": "floor", "type": "static", "shape": {"type": "box", "size": [4, 1, 4]}, "position": [0, -0.5, 0]}'
SOFT = '"materials": {"soft": {"density": 1000, "young": 1e5, "poisson": 0.4, "rayleigh_stiffness": 0.001}}'


def hybrid(method, bodies, joints, elastic):
    return (f'{{"tenon": 1, "name": "hybrid", "seconds": 1, "gravity": [0, -9.81, 0], "method": {{"type": "{method}", "dt": 0.01}},'
            f'"bodies": [{FLOOR}, {bodies}], "joints": [{joints}], "elastic": [{elastic}], {SOFT}}}')


BOX = '{"name": "box", "shape": {"type": "box", "size": [0.4, 0.4, 0.4]}, "position": [0.1, 1.0, 0]}'
PAD = ('{"name": "pad", "shape": {"type": "box", "size": [0.8, 0.4, 0.8]}, "cell_size": 0.2, "material": "soft",'
       '"position": [0, 0.25, 0]}')
# Two links that swing, a soft foot pinned to the second, which comes down on the floor and on a soft pad beside it.
LINKS = ('{"name": "upper", "shape": {"type": "box", "size": [0.6, 0.1, 0.1]}, "position": [0.3, 0.9, 0]},'
         '{"name": "lower", "shape": {"type": "box", "size": [0.5, 0.1, 0.1]}, "position": [0.9, 0.9, 0]}')
HINGES = ('{"name": "shoulder", "type": "hinge", "bodies": ["world", "upper"], "point": [0, 0.9, 0], "axis": [0, 0, 1]},'
          '{"name": "elbow", "type": "hinge", "bodies": ["upper", "lower"], "point": [0.62, 0.9, 0], "axis": [0, 0, 1]}')
FOOT = ('{"name": "foot", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "cell_size": 0.1, "material": "soft",'
        '"position": [1.26, 0.9, 0], "linear_velocity": [0, -1, 0],'
        '"pins": [{"lo": [-0.11, -0.2, -0.2], "hi": [-0.09, 0.2, 0.2], "body": "lower"}]}')
LOW_PAD = ('{"name": "pad", "shape": {"type": "box", "size": [0.5, 0.2, 0.5]}, "cell_size": 0.25, "material": "soft",'
           '"position": [0.9, 0.11, 0]}')
HYBRIDS = {"hybrid": hybrid("affine", BOX, "", PAD), "affine arm": hybrid("affine", LINKS, HINGES, FOOT + "," + LOW_PAD),
           "articulated arm": hybrid("articulated", LINKS, HINGES, FOOT + "," + LOW_PAD)}

# name | scene, None: the hybrid of this name | words
CASES = [("affine", "wrecking-ball", ["--seconds", 0.8]), ("affine joints", "octopus", ["--seconds", 0.6]),
         ("articulated", "ragdolls", ["--seconds", 0.6]), ("articulated gears", "pulley", ["--seconds", 0.5]),
         ("impulse", "stack", ["--seconds", 2]), ("volume", "soft-toys", ["--seconds", 0.1]),
         ("adaptive", "blob", ["--seconds", 0.2]), ("hybrid", None, ["--seconds", 0.3]),
         ("affine arm", None, ["--seconds", 0.6]), ("articulated arm", None, ["--seconds", 0.6]),
         ("articulated soft", "net-soft", ["--seconds", 0.4])]
# What a clock wrote.
CLOCKS = {"steps": {"wall_ms", "phases"}}
TABLES = ["shapes", "bodies", "elastic", "joints", "ignored", "frames", "hashes", "elastic_frames", "contacts", "joint_forces",
          "joint_drives", "steps", "path", "checkpoints"]
META = ["format", "version", "name", "method", "dt", "seconds", "scene", "record", "status"]


def without_clocks(row, columns):
    """Figures whose name ends in _ms are times too."""
    if row is None or "figures" not in columns:
        return row
    at = columns.index("figures")
    figures = {name: value for name, value in json.loads(row[at]).items() if not name.endswith("_ms")}
    return row[:at] + (figures,) + row[at + 1:]


def difference(first, second):
    """The first table and row in which two run files differ; "" when they hold the same."""
    a, b = sqlite3.connect(f"file:{first}?mode=ro", uri=True), sqlite3.connect(f"file:{second}?mode=ro", uri=True)
    try:
        for table in TABLES:
            columns = [row[1] for row in a.execute(f"PRAGMA table_info({table})")]
            columns = [c for c in columns if c not in CLOCKS.get(table, ())]
            query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid"
            rows_a, rows_b = a.execute(query), b.execute(query)
            number = 0
            while True:
                row_a, row_b = (without_clocks(rows.fetchone(), columns) for rows in (rows_a, rows_b))
                if row_a != row_b:
                    if row_a is None or row_b is None:
                        return f"{table}: {'second' if row_a is None else 'first'} has more rows than {number}"
                    column = next(c for c, x, y in zip(columns, row_a, row_b) if x != y)
                    return f"{table}[{number}].{column}"
                if row_a is None:
                    break
                number += 1
        for key in META:
            value = [list(db.execute("SELECT value FROM meta WHERE key=?", (key,))) for db in (a, b)]
            if value[0] != value[1]:
                return f"meta.{key}"
    finally:
        a.close()
        b.close()
    return ""


def start(program, words):
    return subprocess.Popen([program.path, *map(str, words)], cwd=program.folder, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def killed_run(program, first, resume, output, seconds, kills, rng):
    """Runs with `kills` SIGKILLs on the way; how many there were, and the last exit code."""
    done, words = 0, first
    while done < kills:
        process = start(program, words)
        try:
            process.wait(timeout=rng.uniform(0.05, 1.0) * seconds / 2)
            break  # it ended before
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            done += 1
            if os.path.exists(output):
                words = resume
    code, text = program.call(*(resume if os.path.exists(output) else first))
    return done, code, text


def main(program, count=40):
    tally = Tally("kinds of killed runs")
    rng = random.Random(24)
    for name, scene, more in CASES:
        stem = name.replace(" ", "-")
        if program.only and name not in program.only and stem not in program.only:
            continue
        if scene is None:
            scene = program.file(stem + "-scene.json")
            with open(scene, "w") as file:
                file.write(HYBRIDS[name])
        method = ["--method", name.split()[0]] if name == "articulated soft" else []  # a resumed run has its own
        options = ["--record-every", 1, "--checkpoint-wall", 0.02, "--allow-unconverged", "--quiet", *more]
        began = time.monotonic()
        code, text = program.call("run", scene, "-o", program.file(stem + "-whole.tenon"), *method, *options)
        seconds = time.monotonic() - began
        kills, wrong, runs = 0, "", 0
        if code not in (0, 1):
            wrong = f"exit {code}: {text[:200]}"
        output = program.file(stem + ".tenon")
        while not wrong and kills < count and runs < count:
            for ending in ("", "-wal", "-shm", "-lock"):
                if os.path.exists(output + ending):
                    os.remove(output + ending)
            first = ["run", scene, "-o", output, *method, *options]
            resume = ["run", output, "--resume", *options]
            done, code, text = killed_run(program, first, resume, output, seconds, min(8, count - kills), rng)
            kills, runs = kills + done, runs + 1
            if code not in (0, 1):
                wrong = f"after {kills} kills: exit {code}: {text.strip()[:200]}"
            else:
                wrong = difference(program.file(stem + "-whole.tenon"), output)
                if wrong:
                    wrong = f"after {kills} kills: {wrong} differs"
        tally.add(name, wrong, f"{kills} kills in {runs} runs of {seconds:.1f} s")
        if not wrong:
            program.remove(stem)
            program.remove(stem + "-whole")
    return tally.end()
