"""Verdicts from frames alone, of runs whose recorded path is proven free: they may leave things open, and may not find
intersections that are none."""
import json

import presses
from common import Tally

EVERY = [1, 2, 4, 8]  # steps between frames


def sources(program, count):
    """Scenes to run, as (name, words for `tenon run`): presses first, then affine scenes of the program, cut short."""
    result = []
    for number in range(count):
        name, data = presses.scene(number)
        with open(program.file(name + ".scene.json"), "w") as file:
            json.dump(data, file)
        result.append((name, [program.file(name + ".scene.json")]))
    for name, family in program.scenes():
        if family == "affine" and name not in ("gear-train", "card-house", "screw"):
            result.append((name, [name, "--seconds", 0.3]))
    return result


def main(program, count=200):
    tally = Tally("frame-only verdicts")
    looked, open_ones, alarms = 0, 0, 0
    number_of_presses = max(1, min(60, count // len(EVERY) - 10))
    for name, words in sources(program, number_of_presses):
        if looked >= count:
            break
        code, report, text = program.run(words[0], name, "--record", "path", *words[1:])
        verified, verdict, _ = program.verify(name)
        if not verdict.get("proven"):
            program.remove(name)
            continue  # nothing to compare with
        wrong, note = [], []
        for every in EVERY:
            program.run(words[0], name, "--record-every", every, *words[1:])
            verified, verdict, text = program.verify(name)
            looked += 1
            if not verdict or verdict["intersections"]:
                wrong.append(f"every {every}: {verdict.get('intersections', text)} false intersections")
            open_ones += bool(verdict.get("unproven"))
            alarms += not verdict.get("clean", False)
            note.append(f"{verdict.get('unproven')}/{verdict.get('unexplained')}")
        program.remove(name)
        tally.add(name, "; ".join(wrong), "unproven/unexplained " + " ".join(note))
    print(f"{looked} frame-only verdicts: {open_ones} leave motion open, {alarms} are not clean")
    return tally.end()
