"""The same pendulum with two methods, beside the closed form.

    python3 comparison.py
"""
import numpy as np

import tenon

rod = {"name": "rod", "shape": {"type": "box", "size": [1, 0.05, 0.05]}, "mass": 2, "position": [0.5, 0, 0]}
hinge = {"name": "hinge", "type": "hinge", "bodies": ["world", "rod"], "point": [0, 0, 0], "axis": [0, 0, 1]}
scene = tenon.Scene({"name": "rod", "gravity": [0, -9.81, 0], "bodies": [rod], "joints": [hinge]})

# a rod that falls from level: 1/2 I w^2 = m g L/2 sin(angle)
inertia = 2 * (1 + 0.05**2) / 12 + 2 * 0.25
print("method       angle (rad)  speed (rad/s)  closed form   energy lost (J)")
for method in ("articulated", "affine"):
    sim = tenon.Simulation(scene, method=method, dt=0.002)
    start = sim.energies["total"]
    sim.step(150)
    angle, speed = sim.joint("hinge").position, sim.joint("hinge").velocity
    exact = -np.sqrt(2 * 2 * 9.81 * 0.5 * np.sin(-angle) / inertia)
    print(f"{method:12} {angle:11.4f} {speed:14.4f} {exact:12.4f} {start - sim.energies['total']:17.2e}")
