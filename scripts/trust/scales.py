"""Affine scenes at other lengths and far from the origin: the same motion, so the same iterations, and as clean.
Lengths grow by a factor and times stay: velocities and gravity grow with it, masses with its cube by their volume."""
import json
import os

from common import Tally, read_json

FACTORS = [1e-3, 1e-2, 0.1, 10, 1e3]
SHIFT = [1000.0, 0.0, 700.0]
STEPS = 40
ITERATIONS_OFF = 0.2

# Keys by the power of the length that their unit has, with density and time kept.
POWER = {"position": 1, "linear_velocity": 1, "gravity": 1, "point": 1, "vertices": 1, "dhat": 1, "eps_v": 1, "tolerance": 1,
         "restitution_speed": 1, "contact_stiffness": 1, "thickness": 1, "min_separation": 1, "kappa": 2, "young": 2,
         "cell_size": 1, "lo": 1, "hi": 1, "mass": 3, "force": 4, "torque": 5}
# Numbers of a shape that are no lengths.
COUNTS = {"segments", "subdivisions", "detail", "rows", "spikes", "teeth", "sides", "pressure_angle", "type", "span", "turns"}


def times(value, factor):
    return [times(v, factor) for v in value] if isinstance(value, list) else value * factor


def scaled_shape(shape, factor):
    return {key: value if key in COUNTS else times(value, factor) for key, value in shape.items()}


def scaled(entry, factor):
    if isinstance(entry, list):
        return [scaled(one, factor) for one in entry]
    if not isinstance(entry, dict):
        return entry
    result = {}
    for key, value in entry.items():
        if key == "shape" and isinstance(value, dict):
            result[key] = scaled_shape(value, factor)
        elif key == "motor":
            result[key] = {**value, **({"max": value["max"] * factor ** 5} if "max" in value else {})}
        elif key == "scale":
            result[key] = times(value, factor)
        elif key in POWER and not isinstance(value, str):
            result[key] = times(value, factor ** POWER[key])
        elif key == "mesh":
            result[key] = value
            result.setdefault("scale", factor)
        else:
            result[key] = scaled(value, factor)
    return result


def shifted(scene, by):
    for body in scene["bodies"] + scene.get("elastic", []):
        body["position"] = [a + b for a, b in zip(body.get("position", [0, 0, 0]), by)]
        for key in body.get("motion", []):
            if "position" in key:
                key["position"] = [a + b for a, b in zip(key["position"], by)]
    for joint in scene.get("joints", []):
        if "world" in joint.get("bodies", []) or "point" in joint:
            joint["point"] = [a + b for a, b in zip(joint.get("point", [0, 0, 0]), by)]
    return scene


def as_file(program, name, settings=()):
    stem = program.file(name)
    if os.path.exists(stem + ".json"):
        os.remove(stem + ".json")
    code, text = program.call("new", stem, "--from", name, "--quiet")
    scene = read_json(stem + ".json")
    if not scene:
        raise RuntimeError(f"{name}: {text}")
    for key in ("#", "expect", "camera"):
        scene.pop(key, None)
    return scene


def measured(program, name, scene, steps):
    scene["seconds"] = steps * scene["method"]["dt"]
    with open(program.file(name + ".scene.json"), "w") as file:
        json.dump(scene, file)
    code, report, text = program.run(program.file(name + ".scene.json"), name, "--record", "path", seconds=900)
    if not report:
        return None, f"exit {code}: {text.strip()[:160]}"
    wrong = []
    if report["status"] != "done":
        wrong.append(report["status"])
    if report["unconverged_steps"]:
        wrong.append(f"{report['unconverged_steps']} of {report['steps']} steps unconverged")
    verified, verdict, words = program.verify(name)
    if verified != 0 and not report["unconverged_steps"]:
        wrong.append("not clean: " + "; ".join(f["text"] for f in verdict.get("findings", [])[:2]) or words[:160])
    program.remove(name)
    return report["iterations_per_step"]["mean"], ", ".join(wrong)


def main(program, steps=STEPS):
    tally = Tally("scaled or shifted scenes")
    names = [name for name, family in program.scenes() if family == "affine" and name != "gear-train"]
    for name in names:
        here, wrong = measured(program, name, as_file(program, name), steps)
        tally.add(name, wrong, f"{here if here is None else round(here, 2)} iterations")
        variants = [(f"x {f:g}", scaled(as_file(program, name), f)) for f in FACTORS]
        variants.append(("1.2 km away", shifted(as_file(program, name), SHIFT)))
        for what, scene in variants:
            there, wrong = measured(program, name, scene, steps)
            if there is not None and here and abs(there / here - 1) > ITERATIONS_OFF:
                wrong = ", ".join(filter(None, [wrong, f"{there:.2f} iterations, {here:.2f} at its own size"]))
            tally.add(f"{name} {what}", wrong, "" if there is None else f"{there:.2f} iterations")
    return tally.end()
