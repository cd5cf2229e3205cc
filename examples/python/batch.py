"""256 arms in one pool, each with its own load: how far the hand sags.

    python3 batch.py
"""
import time

import numpy as np

import tenon

scene = tenon.Scene({
    "name": "arm", "gravity": [0, -9.81, 0], "method": {"type": "articulated", "dt": 0.005},
    "bodies": [
        {"name": "arm", "shape": {"type": "box", "size": [0.5, 0.05, 0.05]}, "mass": 1, "position": [0.25, 0, 0]},
        {"name": "load", "shape": {"type": "sphere", "radius": 0.05}, "mass": 1, "position": [0.5, 0, 0], "collides": False}],
    "joints": [
        {"name": "shoulder", "type": "hinge", "bodies": ["world", "arm"], "point": [0, 0, 0], "axis": [0, 0, 1]},
        {"name": "grip", "type": "fixed", "bodies": ["arm", "load"], "point": [0.5, 0, 0]}],
    "actuators": [{"name": "motor", "type": "position", "joint": "shoulder", "kp": 200, "kd": 20}]})
pool = tenon.Pool(scene.compile(), 256, threads=2)
pool.masses[:, 1] = np.linspace(0.1, 5, 256)

start = time.perf_counter()
pool.step(400)
seconds = time.perf_counter() - start

angle = pool.joint_positions[:, 0]
for i in (0, 127, 255):
    m = pool.masses[i, 1]  # the motor's spring holds the weights: kp angle = -g L (m_arm / 2 + m) cos(angle)
    balance = 200 * angle[i] + 9.81 * 0.5 * (0.5 + m) * np.cos(angle[i])
    print(f"load {m:4.2f} kg: {np.degrees(angle[i]):7.3f} degrees, out of balance by {abs(balance):.1e} N m")
print(f"{256 * 400 / seconds:.0f} steps a second")
