"""Presses, vices, wedges, crushers and pistons: scripted bodies that close on hard parts, with and without room for them.
Each run ends clean, or ends with words; none may touch on its recorded path."""
import json
import math
import random

from common import Tally

STEPS = 45


def part(rng, name, at, size):
    kind = rng.randrange(6)
    shape = [{"type": "box", "size": [size, size * rng.uniform(0.6, 1), size * rng.uniform(0.6, 1)]},
             {"type": "icosphere", "radius": size / 2, "subdivisions": 1},
             {"type": "cylinder", "radius": size / 2, "length": size * 0.8, "segments": 12},
             {"type": "cone", "radius": size / 2, "length": size * 0.8, "segments": 10},
             {"type": "torus", "major": size / 3, "minor": size / 8},
             {"type": "capsule", "radius": size / 5, "length": size / 2}][kind]
    turn = [rng.uniform(-180, 180) for _ in range(3)] if rng.random() < 0.5 else [0, 0, 0]
    return {"name": name, "shape": shape, "position": at, "rotation_euler": turn, "density": 10 ** rng.uniform(2, 4),
            "friction": rng.choice([0, 0.3, 0.8])}


def block(name, size, at, to=None, seconds=None, kind="kinematic"):
    body = {"name": name, "type": kind, "shape": {"type": "box", "size": size}, "position": at, "friction": 0.3}
    if to is not None:
        body["motion"] = [{"time": 0, "position": at}, {"time": seconds, "position": to}]
    return body


def floor(size):
    return block("floor", [12 * size, size, 12 * size], [0, -size / 2, 0], kind="static")


def press(rng, size, seconds, room):
    count = rng.randint(1, 4)
    bodies, height = [floor(size)], 0
    for i in range(count):
        bodies.append(part(rng, f"part {i}", [0.05 * size * rng.uniform(-1, 1), height + 0.95 * size, 0], size))
        height += 1.9 * size
    top = height + 0.8 * size
    end = top if room and count == 1 else height * rng.uniform(0.75, 0.95) if room else height * rng.uniform(0.05, 0.3)
    bodies.append(block("plate", [6 * size, size, 6 * size], [0, top + size / 2, 0], [0, end + size / 2, 0], seconds))
    return bodies


def vice(rng, size, seconds, room):
    count = rng.randint(1, 3)
    bodies = [floor(size)]
    for i in range(count):
        bodies.append(part(rng, f"part {i}", [(i - (count - 1) / 2) * 1.9 * size, 0.95 * size, 0], size))
    half = count * 0.95 * size + 0.3 * size
    end = half * (0.95 if room else rng.uniform(0.05, 0.4))
    for side, name in ((-1, "left jaw"), (1, "right jaw")):
        y = 2.1 * size  # clears the floor
        bodies.append(block(name, [size, 4 * size, 4 * size], [side * (half + size / 2), y, 0],
                            [side * (end + size / 2), y, 0], seconds))
    return bodies


def wedge(rng, size, seconds, room):
    sharp = rng.uniform(0.3, 0.8)
    walls = 1.06 * size if not room else 4 * size
    bodies = [floor(size)]
    for side, name in ((-1, "left"), (1, "right")):
        bodies.append({"name": name, "shape": {"type": "box", "size": [size, size, size]}, "density": 2000,
                       "position": [side * 0.53 * size, 0.51 * size, 0], "friction": rng.choice([0, 0.3])})
        bodies.append(block(name + " wall", [size, 3 * size, 4 * size], [side * (walls + size / 2), 1.6 * size, 0],
                            kind="static"))
    w = sharp * size  # half its width at the top
    prism = [[-w, 1.5 * size, -size], [w, 1.5 * size, -size], [0, 0, -size],
             [-w, 1.5 * size, size], [w, 1.5 * size, size], [0, 0, size]]
    start, end = [0, 1.1 * size, 0], [0, 0.15 * size, 0]
    bodies.append({"name": "wedge", "type": "kinematic", "vertices": prism, "position": start, "friction": 0,
                   "triangles": [[0, 1, 2], [3, 5, 4], [0, 3, 4], [0, 4, 1], [0, 2, 5], [0, 5, 3], [1, 4, 5], [1, 5, 2]],
                   "motion": [{"time": 0, "position": start}, {"time": seconds, "position": end}]})
    return bodies


def crusher(rng, size, seconds, room):
    """Two turning drums, of which one comes nearer, over a trough of parts."""
    radius = 1.5 * size
    gap = 0.4 * size if not room else 1.6 * size
    bodies = [floor(size)]
    turn = rng.uniform(60, 160)
    for side, name in ((-1, "left drum"), (1, "right drum")):
        start = [side * (radius + 1.2 * size), radius + 0.1 * size, 0]
        end = [side * (radius + gap), start[1], 0]
        tooth = rng.random() < 0.5
        shape = ({"type": "cylinder", "radius": radius, "length": 4 * size, "segments": rng.choice([8, 16, 24])} if not tooth
                 else {"type": "box", "size": [2 * radius / math.sqrt(2), 2 * radius / math.sqrt(2), 4 * size]})
        axis = [90, 0, 0] if not tooth else [0, 0, 0]
        keys = []
        for k in range(9):
            s = k / 8
            at = [start[j] + s * (end[j] - start[j]) for j in range(3)]
            angle = -side * turn * s
            keys.append({"time": seconds * s, "position": at,
                         "rotation_euler": [axis[0], angle, 0] if not tooth else [0, 0, angle]})
        bodies.append({"name": name, "type": "kinematic", "shape": shape, "position": start, "friction": 0.5,
                       "rotation_euler": axis, "motion": keys})
    for i in range(rng.randint(1, 3)):
        bodies.append(part(rng, f"part {i}", [0.1 * size * rng.uniform(-1, 1), (1 + 1.9 * i) * size, 0], size))
    return bodies


def piston(rng, size, seconds, room):
    """Parts in a box without a way out; its lid comes down."""
    side, layers = 2, rng.randint(1, 2)
    inner = side * 1.9 * size + 0.2 * size
    high = layers * 1.9 * size + 0.2 * size
    tall = high + 1.5 * size
    bodies = [floor(size)]
    for sign, name in ((-1, "left"), (1, "right")):
        bodies.append(block(name, [size, tall, inner + 2.5 * size], [sign * (inner / 2 + size / 2), tall / 2 + 0.05 * size, 0],
                            kind="static"))
    for sign, name in ((-1, "back"), (1, "front")):
        bodies.append(block(name, [inner - 0.02 * size, tall, size],
                            [0, tall / 2 + 0.05 * size, sign * (inner / 2 + size / 2 - 0.04 * size)], kind="static"))
    number = 0
    for layer in range(layers):
        for x in range(side):
            for z in range(side):
                at = [(x - 0.5) * 1.85 * size, (0.95 + 1.9 * layer) * size, (z - 0.5) * 1.85 * size]
                bodies.append(part(rng, f"part {number}", at, size))
                number += 1
    low = 0.85 * high if room else 0.1 * high
    lid = [0.98 * inner, size, 0.9 * inner - 0.1 * size]
    bodies.append(block("lid", lid, [0, high + size / 2, 0], [0, low + size / 2, 0], seconds))
    return bodies


KINDS = [press, vice, wedge, crusher, piston]


def scene(number):
    """(name, scene) of the number-th one: kinds in turn, with and without room in turn."""
    rng = random.Random(7919 * number + 1)
    make, room = KINDS[number % len(KINDS)], number // len(KINDS) % 2 == 0
    size = 10 ** rng.uniform(-3, 1.5)
    dt = min(0.02, 0.15 * math.sqrt(size / 9.81))
    seconds = 2 / 3 * STEPS * dt
    bodies = make(rng, size, seconds, room)
    return (f"{number:02}-{make.__name__}-{'room' if room else 'tight'}",
            {"tenon": 1, "name": make.__name__, "gravity": [0, -9.81, 0], "seconds": STEPS * dt,
             "method": {"type": "affine", "dt": dt}, "bodies": bodies})


def judge(program, name, data, seconds=300):
    """(what is wrong, a word on how it ended)"""
    with open(program.file(name + ".scene.json"), "w") as file:
        json.dump(data, file, indent=1)
    code, report, text = program.run(program.file(name + ".scene.json"), name, "--record", "path", seconds=seconds)
    if code is None:
        return "no end in time", ""
    if code not in (0, 1) or not report:
        return f"exit {code}: {text.strip()[:200]}", ""
    verified, verdict, words = program.verify(name)
    gap = report.get("min_distance")
    note = (f"{report['status']}, {report['steps']} steps, {report['iterations_per_step']['mean']:.0f} iterations, "
            f"gap {gap if gap is None else format(gap, '.1e')}, {report['ms_per_step']['mean']:.0f} ms")
    wrong = []
    if not verdict:
        wrong.append(f"no verdict: {words.strip()[:200]}")
    elif verdict["intersections"]:
        wrong.append(f"{verdict['intersections']} touches")
    if code == 0 and verified != 0:
        wrong.append("exit 0, yet not clean: " + "; ".join(f["text"] for f in verdict.get("findings", [])[:2]))
    if code == 1:
        words = report.get("failure") or ""
        if report["unconverged_steps"]:
            wrong.append(f"{report['unconverged_steps']} unconverged")
        elif not words:
            wrong.append("exit 1 without words")
        note += "; " + words
    return ", ".join(wrong), note


def main(program, count=60):
    tally = Tally("presses")
    for number in range(count):
        name, data = scene(number)
        wrong, note = judge(program, name, data)
        tally.add(name, wrong, note)
        if not wrong:
            program.remove(name)
    return tally.end()
