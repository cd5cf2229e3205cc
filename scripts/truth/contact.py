"""Contact: sliding, rolling, spinning, bouncing, stacks."""
import math

from truth.case import Case
from truth.tools import G, box

ALL = ("articulated", "affine", "impulse")
SLOPE = math.radians(20)


def floor(size=(20, 1, 20)):
    return box("floor", size, type="static", material="m", position=[0, -size[1] / 2, 0])


def scene(seconds, mu, *bodies, restitution=0, **more):
    return {"seconds": seconds, "materials": {"m": {"friction": mu, "restitution": restitution}}, "bodies": [floor(), *bodies], **more}


def tilted():
    return {"gravity": [G * math.sin(SLOPE), -G * math.cos(SLOPE), 0]}


def slide(size, mu, speed):
    def case():
        way = speed ** 2 / (2 * mu * G)
        body = box("b", size, mass=35, material="m", position=[0, size[1] / 2 + 1e-3 * size[1], 0], linear_velocity=[speed, 0, 0])
        return Case(scene(round(1.3 * speed / (mu * G) / .02) * .02, mu, body), "body.b.x", way, way, ALL)
    return case


def incline_slides():
    a = G * (math.sin(SLOPE) - .2 * math.cos(SLOPE))
    body = box("b", [.2, .1, .2], mass=1, material="m", position=[-2, .0501, 0])
    return Case(scene(1, .2, body, **tilted()), "body.b.x", lambda ts: [.5 * a * t * t - 2 for t in ts], .5 * a, ALL)


def incline_sticks():
    body = box("b", [.2, .1, .2], mass=1, material="m", position=[0, .0501, 0])
    return Case(scene(1, .45, body, **tilted()), "body.b.x", 0.0, .5 * G * math.sin(SLOPE), ALL)


def round_body(shape, **more):
    shapes = {"ball": ({"type": "sphere", "radius": .2}, {}), "cylinder": ({"type": "cylinder", "radius": .2, "length": .3}, {"rotation_euler": [90, 0, 0]})}
    geometry, turn = shapes[shape]
    return {"name": "b", "shape": geometry, "mass": 1, "material": "m", "position": [-3, .2002, 0], **turn, **more}


def rolls_down(shape, part):
    def case():
        a = G * math.sin(SLOPE) / (1 + part)
        return Case(scene(1, .5, round_body(shape), **tilted()), "body.b.x", lambda ts: [.5 * a * t * t - 3 for t in ts], .5 * a, ALL)
    return case


def slides_then_rolls(shape, part):
    def case():
        end = 3 / (1 + part)
        return Case(scene(.6, .5, round_body(shape, linear_velocity=[3, 0, 0])), "body.b.vx", end, end, ALL)
    return case


def ring_spins():
    """A thin torus flat on the floor: friction mu m g at its radius, however the weight is spread along it."""
    R, r, mu, w = .5, .02, .3, 4.0
    inertia = R * R + .75 * r * r
    stop = w * inertia / (mu * G * R)

    def exact(ts):
        return [max(0.0, w * (1 - t / stop)) for t in ts]
    body = {"name": "b", "mass": 1, "material": "m", "shape": {"type": "torus", "major": R, "minor": r}, "position": [0, r + 2e-4, 0], "angular_velocity": [0, w, 0]}
    return Case(scene(1, mu, body), "body.b.wy", exact, w, ALL)


def bounce(e):
    def case():
        ball = {"name": "b", "material": "m", "mass": 1, "shape": {"type": "sphere", "radius": .2}, "position": [0, 1.2, 0]}
        t1 = math.sqrt(2 / G)

        def measure(times, values):
            low = min(range(len(values)), key=lambda i: values[i])
            return abs(max(values[low:]) - .2 - e * e)
        return Case(scene(round((t1 * (1 + e) + .03) / .02) * .02 if e else .8, 0, ball, restitution=e), "body.b.y", None, 1, ALL, measure=measure)
    return case


def cradle():
    """The first of five equal balls arrives at 1 m/s: the last leaves with it."""
    r, gap = .05, 1e-4
    balls = [{"name": f"b{k}", "material": "m", "mass": 1, "shape": {"type": "sphere", "radius": r}, "position": [k * (2 * r + gap), 0, 0]} for k in range(5)]
    balls[0].update(position=[-.1, 0, 0], linear_velocity=[1, 0, 0])
    s = scene(.3, 0, *balls, restitution=1, gravity=[0, 0, 0])
    s["bodies"] = balls
    return Case(s, "body.b4.vx", 1.0, 1, ALL)


def cart():
    """A block slides on a cart that slides freely: it stops on it after v^2 / (2 mu g (1 + m / M))."""
    m, M, mu, v = 1.0, 2.0, .3, 1.5
    s = scene(.7, mu, box("cart", [3, .2, .5], mass=M, material="ice", position=[0, .1002, 0]),
              box("b", [.2, .2, .2], mass=m, material="m", position=[-1, .3005, 0], linear_velocity=[v, 0, 0]))
    s["materials"]["ice"] = {"friction": 0}
    s["bodies"][0]["material"] = "ice"
    s["contact"] = {"pairs": [{"materials": ["m", "ice"], "friction": mu}]}
    end = v * m / (m + M)
    return Case(s, "body.cart.vx", end, end, ALL)


def on_balls():
    """A plate pushed along on 25 balls that roll: F / (M + 25 m 7/20)."""
    M, m, r, F, n = 10.0, .5, .05, 8.0, 5
    bodies = [{"name": f"b{i}{k}", "material": "m", "mass": m, "shape": {"type": "sphere", "radius": r},
               "position": [.25 * (i - 2), r + 1e-5, .25 * (k - 2)]} for i in range(n) for k in range(n)]
    bodies.append(box("plate", [2, .1, 2], mass=M, material="m", position=[0, 2 * r + .05 + 3e-5, 0]))
    a = F / (M + 25 * m * .35)
    return Case(scene(.5, .5, *bodies, forces=[{"body": "plate", "force": [F, 0, 0]}]), "body.plate.x", lambda ts: [.5 * a * t * t for t in ts], .125 * a, ALL)


def stack(masses):
    def case():
        boxes = [box(f"b{k}", [.5, .5, .5], mass=m, material="m", position=[0, .25 + .5 * k + 1e-4 * (k + 1), 0]) for k, m in enumerate(masses)]
        weight = sum(masses) * G
        return Case(scene(1, .5, *boxes), "body.floor.contact_fy", -weight, weight, ALL,
                    measure=lambda ts, vs: abs(sum(vs[-20:]) / len(vs[-20:]) + weight) / weight, rigid=True)
    return case


CASES = {"box slides to rest": slide([2, 1, 2], .4, 2), "cube slides to rest": slide([.1, .1, .1], .2, 1), "plate slides to rest": slide([.4, .02, .4], .8, 3),
         "box slides down": incline_slides, "box sticks on a slope": incline_sticks, "ball rolls down": rolls_down("ball", .4), "cylinder rolls down": rolls_down("cylinder", .5),
         "ball slides, then rolls": slides_then_rolls("ball", .4), "cylinder slides, then rolls": slides_then_rolls("cylinder", .5), "ring spins to rest": ring_spins,
         "bounce, e = 0": bounce(0), "bounce, e = 0.5": bounce(.5), "bounce, e = 1": bounce(1), "cradle": cradle, "block on a cart": cart, "plate on 25 balls": on_balls,
         "stack of four": stack([1, 1, 1, 1]), "stack, 1 to 1e6": stack([1, 100, 1e4, 1e6]), "stack, 1e6 to 1": stack([1e6, 1e4, 100, 1])}
