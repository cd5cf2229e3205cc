"""Integration, small vectors and scenes for the truth tables."""
import math

G = 9.81


def rk4(f, y, t_end, samples, n):
    """States at `samples` equal times after the start, from `n` classical Runge-Kutta steps between two of them."""
    out, h = [list(y)], t_end / (samples * n)
    for _ in range(samples):
        for _ in range(n):
            a = f(y)
            b = f([p + h / 2 * q for p, q in zip(y, a)])
            c = f([p + h / 2 * q for p, q in zip(y, b)])
            d = f([p + h * q for p, q in zip(y, c)])
            y = [p + h / 6 * (q + 2 * r + 2 * s + u) for p, q, r, s, u in zip(y, a, b, c, d)]
        out.append(list(y))
    return out


def integrated(f, y, of=lambda y: y[0], steps=2000):
    """A function of the times of a run: `of` the integrated state."""
    def exact(times):
        count = len(times) - 1
        return [of(s) for s in rk4(f, y, times[-1], count, max(1, math.ceil(steps / count)))]
    return exact


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def times(M, v):
    return [sum(m * x for m, x in zip(row, v)) for row in M]


def transposed(M):
    return [list(c) for c in zip(*M)]


def turned(p, angle):
    c, s = math.cos(angle), math.sin(angle)
    return (c * p[0] - s * p[1], s * p[0] + c * p[1])


def box_moments(mass, size):
    x, y, z = (s * s for s in size)
    return [mass / 12 * (y + z), mass / 12 * (x + z), mass / 12 * (x + y)]


def box(name, size, **more):
    return {"name": name, "shape": {"type": "box", "size": list(size)}, **more}


def hinge(name, a, b, point, axis=(0, 0, 1), **more):
    return {"name": name, "type": "hinge", "bodies": [a, b], "point": list(point), "axis": list(axis), **more}


def free_rotation(moments, torque=lambda R: (0, 0, 0)):
    """Right-hand side for (R by rows, w in the body): Euler's equations, `torque` in the world."""
    def f(y):
        R, w = [y[0:3], y[3:6], y[6:9]], y[9:12]
        rate = []
        for row in R:  # R' = R [w]
            rate += cross(row, w)
        n = times(transposed(R), torque(R))
        c = cross(w, [i * x for i, x in zip(moments, w)])
        return rate + [(n[k] - c[k]) / moments[k] for k in range(3)]
    return f


def one_freedom(poses, theta, until_rate=0.0):
    """x'' = f(x, x') of planar bodies whose poses [(mass, moment, x, y, angle)] follow from one coordinate: M t'' + M' t'^2 / 2 = -V'."""
    e = 1e-4

    def mass(t):
        a, b, sum_ = poses(t - e), poses(t + e), 0.0
        for (m, i, *p), (_, _, *q) in zip(a, b):
            v = [(y - x) / (2 * e) for x, y in zip(p, q)]
            sum_ += m * (v[0] * v[0] + v[1] * v[1]) + i * v[2] * v[2]
        return sum_

    def potential(t):
        return sum(m * G * p[1] for m, _, *p in poses(t))

    def f(y):
        slope = (potential(y[0] + e) - potential(y[0] - e)) / (2 * e)
        change = (mass(y[0] + e) - mass(y[0] - e)) / (2 * e)
        return [y[1], (-slope - 0.5 * change * y[1] ** 2) / mass(y[0])]
    return f, [theta, until_rate]
