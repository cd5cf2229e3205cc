"""A problem with a known answer."""


class Case:
    """`exact`: values for a list of times, or one number for the end. `size`: what errors are divided by. `omega`: fastest angular
    frequency of smooth motion, rad/s; None for contact. `rigid`: not with a modulus."""

    def __init__(self, scene, series, exact, size, methods, omega=None, measure=None, rigid=False):
        self.scene, self.series, self.exact, self.size, self.methods, self.omega = scene, series, exact, size, methods, omega
        self.measure, self.rigid = measure, rigid

    def error(self, times, values):
        if self.measure:
            return self.measure(times, values)
        if callable(self.exact):
            return max(abs(v - x) for v, x in zip(values, self.exact(times))) / self.size
        return abs(values[-1] - self.exact) / self.size

    def allowed(self, bdf2):
        """The integrator's error at 10 ms, of the amplitude; None for contact."""
        if self.omega is None:
            return None
        T, w, h = self.scene["seconds"], self.omega, 0.01
        return T * w * (w * h) ** 2 / 3 if bdf2 else T * w * w * h
