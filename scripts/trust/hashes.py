"""One and two threads, repeats, another output path, other frames: the same bits on every built-in scene."""
import os
import sqlite3

from common import Tally, read_json

# Seconds: scenes that refuse less.
SHORTEST = {"protein": 0.1, "closed-loop-leg": 0.1, "free-flight": 0.1, "newtons-cradle": 0.01, "bouncing-ball": 0.01}


def states(file):
    """Hash of the state by step, as recorded."""
    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return dict(database.execute("SELECT frames.step, hashes.state FROM frames JOIN hashes ON hashes.frame = frames.id"))
    finally:
        database.close()


def main(program, steps=8):
    tally = Tally("scenes")
    os.makedirs(program.file("elsewhere/a b"), exist_ok=True)
    for name, family in program.scenes():
        stem = program.file("scene-" + name)
        program.call("new", stem, "--from", name, "--quiet")
        scene = read_json(stem + ".json")
        dt = scene.get("method", {}).get("dt", 0.01)
        common = ["--seconds", max(steps * dt, SHORTEST.get(name, 0)), "--allow-unconverged"]
        variants = [("1 thread", "base", ["--threads", 1, "--record-every", 1]),
                    ("2 threads", "other", ["--threads", 2, "--record-every", 1]),
                    *[(f"repeat {k}", "other", ["--threads", 1 + k % 2, "--record-every", 1]) for k in range(4)],
                    ("another path", "elsewhere/a b/run", ["--record-every", 1]),
                    ("every third", "other", ["--record-every", 3])]
        wrong, base = [], {}
        for what, output, words in variants:
            code, report, text = program.run(name, output, *common, *words, seconds=900)
            if code not in (0, 1) or not os.path.exists(program.file(output + ".tenon")):
                wrong.append(f"{what}: exit {code} {text.strip()[:120]}")
                break
            now = states(program.file(output + ".tenon"))
            if not base:
                base = now
            differ = [step for step, state in now.items() if base.get(step) != state]
            if differ or not now:
                wrong.append(f"{what}: differs from step {min(differ, default=None)} on")
        tally.add(name, "; ".join(wrong), f"{len(base)} states x {len(variants)}")
    return tally.end()
