"""Smooth motion: forces, joints, springs, tops. Each case has its closed form or its own integration."""
import math

from truth.case import Case
from truth.tools import G, box, box_moments, free_rotation, hinge, integrated, one_freedom, turned

ROD = [1, .04, .04]
MOMENT = (1 + .04 ** 2) / 12
AT_END = MOMENT + .25
ALL, JOINTED = ("articulated", "affine", "impulse"), ("articulated", "affine")
STILL = [0, 0, 0]


def rod(**more):
    return box("rod", ROD, mass=1, **more)


def torque():
    return Case({"gravity": STILL, "seconds": .5, "bodies": [rod()], "forces": [{"body": "rod", "torque": [0, 0, 1]}]},
                "body.rod.wz", lambda ts: [t / MOMENT for t in ts], .5 / MOMENT, ALL, omega=6)


def torque_hinged():
    return Case({"gravity": STILL, "seconds": .5, "bodies": [rod(position=[.5, 0, 0])], "joints": [hinge("j", "world", "rod", STILL)],
                 "forces": [{"body": "rod", "torque": [0, 0, 1]}]},
                "joint.j.q0", lambda ts: [.5 * t * t / AT_END for t in ts], .125 / AT_END, JOINTED, omega=2)


def force_hinged():
    """A force of 3 N of fixed direction at the rod's end."""
    return Case({"gravity": STILL, "seconds": .5, "bodies": [rod(position=[.5, 0, 0])], "joints": [hinge("j", "world", "rod", STILL)],
                 "forces": [{"body": "rod", "force": [0, 3, 0], "point": [.5, 0, 0]}]},
                "joint.j.q0", integrated(lambda y: [y[1], 3 * math.cos(y[0]) / AT_END], [0., 0.]), 1.0, JOINTED, omega=3)


def torque_disc():
    r, m = .2, 3.0
    return Case({"gravity": STILL, "seconds": .5, "forces": [{"body": "disc", "torque": [0, .3, 0]}],
                 "bodies": [{"name": "disc", "mass": m, "shape": {"type": "cylinder", "radius": r, "length": .05},
                             "inertia": {"center": STILL, "moments": [m * r * r / 4, m * r * r / 2, m * r * r / 4]}}],
                 "joints": [hinge("j", "world", "disc", STILL, (0, 1, 0))]},
                "joint.j.q0", lambda ts: [.5 * .3 / (m * r * r / 2) * t * t for t in ts], .5 * .3 / (m * r * r / 2) * .25, JOINTED, omega=3)


def projectile():
    return Case({"seconds": .5, "bodies": [rod(linear_velocity=[1, 3, 0])]},
                "body.rod.y", lambda ts: [3 * t - G / 2 * t * t for t in ts], .46, ALL, omega=0)


def pendulum():
    return Case({"seconds": 1, "bodies": [rod(position=[.5, 0, 0])], "joints": [hinge("j", "world", "rod", STILL)]},
                "joint.j.q0", integrated(lambda y: [y[1], -G * .5 / AT_END * math.cos(y[0])], [0., 0.]), math.pi, JOINTED, omega=5.4)


def small_pendulum():
    """0.1 rad about hanging: by the full equation; omega h from 0.08 down."""
    a = .1
    return Case({"seconds": 1, "bodies": [rod(position=[.5 * math.sin(a), -.5 * math.cos(a), 0], rotation_euler=[0, 0, math.degrees(a) - 90])],
                 "joints": [hinge("j", "world", "rod", STILL)]},
                "joint.j.q0", integrated(lambda y: [y[1], -G * .5 / AT_END * math.sin(y[0] + a)], [0., 0.]), 2 * a, JOINTED, omega=3.8)


def double_pendulum():
    m, i = 1.0, MOMENT

    def f(y):
        a, b, va, vb = y
        s, c = math.sin(a - b), math.cos(a - b)
        A, B, D = m * .25 + i + m, .5 * m * c, m * .25 + i
        p = -.5 * m * s * vb * vb - 1.5 * m * G * math.sin(a)
        q = .5 * m * s * va * va - .5 * m * G * math.sin(b)
        det = A * D - B * B
        return [va, vb, (D * p - B * q) / det, (A * q - B * p) / det]
    return Case({"seconds": .7, "bodies": [box("a", ROD, mass=m, position=[.5, 0, 0], collides=False), box("b", ROD, mass=m, position=[1.5, 0, 0], collides=False)],
                 "joints": [hinge("i", "world", "a", STILL), hinge("j", "a", "b", [1, 0, 0])]},
                "body.b.x", integrated(f, [math.pi / 2, math.pi / 2, 0., 0.], lambda y: math.sin(y[0]) + .5 * math.sin(y[1])), 1.5, JOINTED, omega=6)


def tumbling():
    """A free box about its middle axis, a little off: the spin about z in the world."""
    size, w = [.3, .2, .1], [.4, 4., .3]
    moments = box_moments(2, size)
    start = [1, 0, 0, 0, 1, 0, 0, 0, 1, *map(float, w)]
    return Case({"gravity": STILL, "seconds": 1.5, "bodies": [box("b", size, mass=2, angular_velocity=w)]},
                "body.b.wy", integrated(free_rotation(moments), start, lambda y: sum(a * b for a, b in zip(y[3:6], y[9:12])), 4000), 4, ALL, omega=4)


def free_spin():
    return Case({"gravity": STILL, "seconds": 1, "bodies": [rod(angular_velocity=[0, 0, 5])]},
                "body.rod.wz", lambda ts: [5.0 for _ in ts], 5, ALL, omega=5)


def heavy_top():
    """A disc on a stick, tip held by a ball joint, spinning at 30 rad/s, tilted: precession with nutation; the centre's x."""
    m, l, ia, il, tilt, spin = 2.0, .3, .02, .012, .5, 30.0
    at_tip = [ia + m * l * l, il, ia + m * l * l]
    c, s = math.cos(tilt), math.sin(tilt)  # body y is the axis; turned about z by -tilt
    R = [c, s, 0, -s, c, 0, 0, 0, 1]

    def pull(R):
        axis = [l * row[1] for row in R]
        return [axis[2] * m * G, 0.0, -axis[0] * m * G]  # r x (0, -mg, 0)
    return Case({"seconds": 1, "bodies": [{"name": "top", "mass": m, "position": [l * s, l * c, 0], "rotation_euler": [0, 0, -math.degrees(tilt)],
                                           "inertia": {"center": STILL, "moments": [ia, il, ia]}, "angular_velocity": [spin * s, spin * c, 0]}],
                 "joints": [{"name": "tip", "type": "ball", "bodies": ["world", "top"], "point": STILL}]},
                "body.top.x", integrated(free_rotation(at_tip, pull), [*map(float, R), 0, spin, 0], lambda y: l * y[1], 8000), l * s, ("articulated",), omega=30)


def oscillator():
    w = math.sqrt(25 - .25)
    return Case({"gravity": STILL, "seconds": 1, "bodies": [rod(linear_velocity=[1, 0, 0])],
                 "joints": [{"name": "j", "type": "prismatic", "bodies": ["world", "rod"], "point": STILL, "axis": [1, 0, 0],
                             "spring": {"stiffness": 25, "damping": 1}}]},
                "body.rod.x", lambda ts: [math.exp(-t / 2) * math.sin(w * t) / w for t in ts], 1 / w, JOINTED, omega=5)


def meet(p, q, a, b):
    """Where circles of radii a about p and b about q meet, on the left of the way from p to q."""
    dx, dy = q[0] - p[0], q[1] - p[1]
    d = math.hypot(dx, dy)
    u = (a * a - b * b + d * d) / (2 * d)
    h = math.sqrt(a * a - u * u)
    return (p[0] + (u * dx - h * dy) / d, p[1] + (u * dy + h * dx) / d)


def bar_pose(m, p, q, thick=.04):
    length = math.dist(p, q)
    return (m, m * (length ** 2 + thick ** 2) / 12, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2, math.atan2(q[1] - p[1], q[0] - p[0]))


def bar(name, m, p, q, thick=.04):
    _, _, x, y, angle = bar_pose(m, p, q)
    return box(name, [math.dist(p, q), thick, thick], mass=m, position=[x, y, 0], rotation_euler=[0, 0, math.degrees(angle)], collides=False)


def four_bar():
    """Crank 0.3, coupler 0.5, rocker 0.4, ground 0.6, falling from an upright crank."""
    ground, start = (.6, 0.), 1.7

    def corners(t):
        a = turned((.3, 0), t)
        return a, meet(a, ground, .5, .4)

    def poses(t):
        a, b = corners(t)
        return [bar_pose(.5, (0, 0), a), bar_pose(.8, a, b), bar_pose(.6, ground, b)]
    a, b = corners(start)
    f, y = one_freedom(poses, start)
    return Case({"seconds": .4, "bodies": [bar("crank", .5, (0, 0), a), bar("coupler", .8, a, b), bar("rocker", .6, ground, b)],
                 "joints": [hinge("h", "world", "crank", STILL), hinge("i", "crank", "coupler", [*a, 0]), hinge("j", "coupler", "rocker", [*b, 0]),
                            hinge("k", "world", "rocker", [*ground, 0])]},
                "joint.h.q0", integrated(f, y, lambda y: y[0] - start, 400), 1, JOINTED, omega=6)


def slider_crank():
    start = 1.2

    def poses(t):
        a = turned((.2, 0), t)
        x = a[0] + math.sqrt(.25 - a[1] ** 2)
        return [bar_pose(.5, (0, 0), a), bar_pose(.3, a, (x, 0)), (1.0, 0.0, x, 0, 0)]
    a = turned((.2, 0), start)
    x = a[0] + math.sqrt(.25 - a[1] ** 2)
    f, y = one_freedom(poses, start)
    return Case({"seconds": .5, "bodies": [bar("crank", .5, (0, 0), a), bar("con", .3, a, (x, 0)), box("piston", [.1, .1, .1], mass=1, position=[x, 0, 0], collides=False)],
                 "joints": [hinge("h", "world", "crank", STILL), hinge("i", "crank", "con", [*a, 0]), hinge("j", "con", "piston", [x, 0, 0]),
                            {"name": "k", "type": "prismatic", "bodies": ["world", "piston"], "point": [x, 0, 0], "axis": [1, 0, 0]}]},
                "joint.h.q0", integrated(f, y, lambda y: y[0] - start, 400), 1, JOINTED, omega=6)


def governor():
    """An arm on a shaft that turns at 9 rad/s, a spring-damper between them; the height of the arm's centre."""
    m, length, thick, d, W, a, b, k, c, t0 = 1, .4, .04, .2, 9, .3, .35, 60, 1.5, .3
    across, along = m * (length ** 2 + thick ** 2) / 12 + m * d * d, m * thick ** 2 / 6

    def spring(t):
        return math.sqrt(a * a + b * b - 2 * a * b * math.cos(t))
    s0 = spring(t0)

    def f(y):
        s = spring(y[0])
        slope = a * b * math.sin(y[0]) / s
        return [y[1], (W * W * (across - along) * math.sin(y[0]) * math.cos(y[0]) - m * G * d * math.sin(y[0])
                       - (k * (s - s0) + c * slope * y[1]) * slope) / across]
    s, co = math.sin(t0), math.cos(t0)
    return Case({"seconds": 1, "bodies": [box("shaft", [.05, 1, .05], mass=1, angular_velocity=[0, W, 0], collides=False),
                                          box("arm", [.04, .4, .04], mass=1, position=[d * s, -d * co, 0], rotation_euler=[0, 0, math.degrees(t0)],
                                              linear_velocity=[0, 0, -W * d * s], angular_velocity=[0, W, 0], collides=False)],
                 "joints": [hinge("h", "world", "shaft", STILL, (0, 1, 0), motor={"type": "velocity", "target": W}), hinge("i", "shaft", "arm", STILL),
                            {"name": "s", "type": "distance", "bodies": ["shaft", "arm"], "point": [0, -a, 0], "point_b": [b * s, -b * co, 0],
                             "spring": {"stiffness": k, "damping": c}}]},
                "body.arm.y", integrated(f, [t0, 0.], lambda y: -d * math.cos(y[0])), d, JOINTED, omega=9)


def bricard_corners(theta):
    """Corners of the threefold orthogonal Bricard linkage, the sixth link on the ground: cos t + cos p + cos t cos p = 0."""
    c = math.cos(theta)
    phi = math.acos(-c / (1 + c))
    axes = ((0, 0, 1), (1, 0, 0), (0, -1, 0)) * 2
    links = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1))
    corner, corners, R = [0., 0., 0.], [[0., 0., 0.]], [[1., 0, 0], [0, 1., 0], [0, 0, 1.]]
    for k in range(6):
        corner = [p + sum(R[i][j] * links[k][j] for j in range(3)) for i, p in enumerate(corner)]
        corners.append(corner)
        a, b = links[k], links[(k + 1) % 6]
        n = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        sign = sum(p * q for p, q in zip(n, axes[k]))
        angle = sign * ((theta if k % 2 == 0 else phi) - math.pi / 2)
        x, y, z = axes[k]
        co, s = math.cos(angle), math.sin(angle)
        T = [[co + x * x * (1 - co), x * y * (1 - co) - z * s, x * z * (1 - co) + y * s],
             [y * x * (1 - co) + z * s, co + y * y * (1 - co), y * z * (1 - co) - x * s],
             [z * x * (1 - co) - y * s, z * y * (1 - co) + x * s, co + z * z * (1 - co)]]
        R = [[sum(R[i][m] * T[m][j] for m in range(3)) for j in range(3)] for i in range(3)]
    return corners


def bricard():
    """Five rods on six hinges, one freedom although the conditions count to none."""
    thick = .1
    across, along, e = (1 + thick ** 2) / 12, thick ** 2 / 6, 1e-4

    def sub(a, b):
        return [p - q for p, q in zip(a, b)]

    def unit(a):
        n = math.sqrt(sum(x * x for x in a))
        return [x / n for x in a]

    def crossed(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    def frame(c, k):
        x = unit(sub(c[k + 1], c[k]))
        z = unit(crossed(sub(c[k], c[k - 1]), x))
        return [x, crossed(z, x), z]  # columns

    def mass(t):
        a, b, c, total = bricard_corners(t - e), bricard_corners(t + e), bricard_corners(t), 0.0
        for k in range(1, 6):
            A, B, F = frame(a, k), frame(b, k), frame(c, k)
            rate = [[(q - p) / (2 * e) for p, q in zip(A[j], B[j])] for j in range(3)]
            W = [[sum(p * q for p, q in zip(F[i], rate[j])) for j in range(3)] for i in range(3)]
            v = [(b[k][i] + b[k + 1][i] - a[k][i] - a[k + 1][i]) / (4 * e) for i in range(3)]
            total += sum(x * x for x in v) + along * W[2][1] ** 2 + across * (W[0][2] ** 2 + W[1][0] ** 2)
        return total

    def potential(t):
        c = bricard_corners(t)
        return sum(G * .5 * (c[k][1] + c[k + 1][1]) for k in range(1, 6))

    def f(y):
        slope = (potential(y[0] + e) - potential(y[0] - e)) / (2 * e)
        change = (mass(y[0] + e) - mass(y[0] - e)) / (2 * e)
        return [y[1], (-slope - .5 * change * y[1] ** 2) / mass(y[0])]
    c = bricard_corners(math.pi / 2)
    bodies, joints = [], []
    for k in range(1, 6):
        d = sub(c[k + 1], c[k])
        angle = {(0, 1, 0): [0, 0, 90], (0, 0, 1): [0, -90, 0], (-1, 0, 0): [0, 0, 180], (0, -1, 0): [0, 0, -90], (0, 0, -1): [0, 90, 0]}[tuple(map(round, d))]
        bodies.append(box(f"r{k}", [1, thick, thick], mass=1, position=[(p + q) / 2 for p, q in zip(c[k], c[k + 1])], rotation_euler=angle, collides=False))
    for k in range(6):
        link, nxt = sub(c[k + 1], c[k]), sub(c[k + 2], c[k + 1]) if k < 5 else [1, 0, 0]
        joints.append(hinge(f"h{k}", f"r{k}" if k else "world", f"r{k + 1}" if k < 5 else "world", c[k + 1], crossed(link, nxt)))
    return Case({"seconds": .4, "bodies": bodies, "joints": joints}, "joint.h0.q0",
                integrated(f, [math.pi / 2, 0.], lambda y: y[0] - math.pi / 2, 200), 1, JOINTED, omega=4)


CASES = {"torque on a rod": torque, "torque on a hinged rod": torque_hinged, "force on a hinged rod": force_hinged, "torque on a disc": torque_disc,
         "projectile": projectile, "pendulum": pendulum, "small pendulum": small_pendulum, "double pendulum": double_pendulum,
         "free spin": free_spin, "tumbling box": tumbling, "heavy top": heavy_top, "spring and damper": oscillator, "four-bar": four_bar, "slider-crank": slider_crank,
         "governor": governor, "Bricard's linkage": bricard}
