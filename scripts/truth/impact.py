"""Fast bodies against free thin ones. Without friction an impact along n at r1, r2 from the centres of mass hands over
   J = (1 + e) v / (1/m1 + 1/m2 + (r1 x n) I1^-1 (r1 x n) + (r2 x n) I2^-1 (r2 x n))."""
import math

from truth.tools import box, box_moments

DENSITY = 1000.0


def plate(name, size):
    mass = DENSITY * size[0] * size[1] * size[2]
    return {"name": name, "mass": mass, "moments": box_moments(mass, size), "front": size[2] / 2, "body": box("target", size, mass=mass)}


def card(side, thickness):
    """One quad without thickness in its mesh."""
    s = side / 2
    mass = DENSITY * side * side * thickness
    body = {"name": "target", "mass": mass, "vertices": [[-s, -s, 0], [s, -s, 0], [s, s, 0], [-s, s, 0]], "triangles": [[0, 1, 2], [0, 2, 3]], "thickness": thickness}
    moments = [mass * side * side / 12] * 2 + [mass * side * side / 6]
    return {"name": f"card {side:g}", "mass": mass, "moments": moments, "front": 0.0, "body": body, "open": True}


def dome(radius, thickness, rings=6, around=24):
    """Half a spherical shell, open to +z, hit on its flat-topped pole."""
    vertices, triangles = [], []
    for i in range(1, rings + 1):
        a = i / rings * math.pi / 2
        for k in range(around):
            b = 2 * math.pi * k / around
            vertices.append([radius * math.sin(a) * math.cos(b), radius * math.sin(a) * math.sin(b), -radius * math.cos(a)])
    pole = len(vertices)
    vertices.append([0, 0, vertices[0][2]])
    for k in range(around):
        n = (k + 1) % around
        triangles.append([pole, n, k])
        for i in range(rings - 1):
            a, b, c, d = i * around + k, i * around + n, (i + 1) * around + k, (i + 1) * around + n
            triangles += [[a, b, c], [b, d, c]]
    mass = DENSITY * 2 * math.pi * radius ** 2 * thickness
    # across: 5/12 m R^2 about the centre of mass; only hits on the axis are judged
    return {"name": f"dome {radius:g}", "mass": mass, "moments": [mass * radius ** 2 * 5 / 12] * 2 + [mass * radius ** 2 * 2 / 3], "front": -vertices[0][2], "on_axis": True,
            "body": {"name": "target", "mass": mass, "vertices": vertices, "triangles": triangles, "thickness": thickness}, "open": True}


TARGETS = [plate("plate 0.1", [.1, .1, .005]), plate("plate 0.03", [.03, .03, .0005]), plate("plate 1", [1, 1, .01]), plate("rod 0.4", [.01, .4, .01]),
           plate("rod 0.1", [.002, .1, .002]), card(.1, .002), card(.5, .001), dome(.1, .002)]


def ball(offset, speed, distance, front):
    r = .02
    mass = DENSITY * 4 / 3 * math.pi * r ** 3
    return mass, {"name": "shot", "shape": {"type": "sphere", "radius": r}, "mass": mass, "position": [*offset, -front - r - distance], "linear_velocity": [0, 0, speed]}


def bar(offset, speed, distance, front):
    """End on: a square face meets a face."""
    size = [.004, .004, .1]
    mass = 7.8 * DENSITY * size[0] * size[1] * size[2]
    return mass, box("shot", size, mass=mass, position=[*offset, -front - .05 - distance], linear_velocity=[0, 0, speed])


SHOTS = {"ball": ball, "bar": bar}
SPEEDS = (1, 5, 15, 20, 50, 100, 200, 500)
STEPS = (.02, .01, .005, .002, .001)
DISTANCE = .17


def offsets(target, shot):
    """On the axis, and for what is long halfway to its end, where the closed form has the target's spin."""
    if target.get("on_axis") or shot == "bar":
        return [(0.0, 0.0)]
    reach = {"rod 0.4": .1, "rod 0.1": .02, "plate 1": .2, "plate 0.1": .02}.get(target["name"], 0.0)
    if reach == 0:
        return [(0.0, 0.0)]
    return [(0.0, 0.0), (0.0, reach)]


def meets_once(target, shot, offset, speed, dt, restitution):
    """Whether an eccentric impact is over before the target's turning brings it back against the ball: the closed form knows one."""
    y = offset[1]
    if y == 0:
        return True
    if restitution == 0:
        return False  # the two go on touching
    m1, m2, moment = SHOTS[shot](offset, speed, DISTANCE, target["front"])[0], target["mass"], target["moments"][0]
    j = (1 + restitution) * speed / (1 / m1 + 1 / m2 + y * y / moment)
    away, spin, reach = j / m2 - speed + j / m1, j * y / moment, .02 + target["front"]
    after = 6 * dt
    return all(math.sin(spin * t) * y + math.cos(spin * t) * (reach + away * t) - reach > 0 for t in (after * k / 400 for k in range(1, 401)))


def shoot(target, shot, offset, speed, dt, restitution, method):
    """The scene and the momentum that the target takes."""
    m1, body = SHOTS[shot](offset, speed, DISTANCE, target["front"])
    arm = offset[0] ** 2 / target["moments"][1] + offset[1] ** 2 / target["moments"][0]
    momentum = (1 + restitution) * speed / (1 / m1 + 1 / target["mass"] + arm)
    steps = math.ceil(DISTANCE / speed / dt) + 4
    bodies = [{**body, "material": "m"}, {**target["body"], "material": "m"}]
    return {"gravity": [0, 0, 0], "seconds": steps * dt, "method": {"type": method, "dt": dt},
            "materials": {"m": {"friction": 0, "restitution": restitution}}, "bodies": bodies}, momentum
