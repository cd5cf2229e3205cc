"""Finds a pendulum's mass and friction from its measured swing, by hand: Gauss-Newton with finite differences over a pool.

    python3 system_identification.py
"""
import numpy as np

import tenon

scene = tenon.Scene({
    "name": "bench", "gravity": [0, -9.81, 0], "method": {"type": "articulated", "dt": 0.005},
    "bodies": [
        {"name": "rod", "shape": {"type": "box", "size": [1, 0.05, 0.05]}, "mass": 1, "position": [0.5, 0, 0]},
        {"name": "bob", "shape": {"type": "sphere", "radius": 0.05}, "mass": 1, "position": [1, 0, 0], "collides": False}],
    "joints": [
        {"name": "hinge", "type": "hinge", "bodies": ["world", "rod"], "point": [0, 0, 0], "axis": [0, 0, 1],
         "spring": {"stiffness": 30, "damping": 0.5}},
        {"name": "weld", "type": "fixed", "bodies": ["rod", "bob"], "point": [1, 0, 0]}]})
model = scene.compile()


def swings(parameters):
    """Angles over one second for each row (mass of the rod, mass of the bob)."""
    pool = tenon.Pool(model, len(parameters), threads=2)
    pool.masses[:] = parameters
    angles = []
    for _ in range(40):
        pool.step(5)
        angles.append(pool.joint_positions[:, 0].copy())
    return np.array(angles).T


truth = np.array([1.7, 0.6])
measured = swings(truth[None])[0] + np.random.default_rng(0).normal(scale=1e-4, size=40)
guess, step = np.array([1.0, 1.0]), 1e-3
for iteration in range(6):
    now = swings(np.stack([guess, guess + [step, 0], guess + [0, step]]))
    jacobian = ((now[1:] - now[0]) / step).T
    guess = np.maximum(guess + np.linalg.lstsq(jacobian, measured - now[0], rcond=None)[0], 0.05)
    print(f"{iteration}: rod {guess[0]:.4f} kg, bob {guess[1]:.4f} kg, off by {np.abs(measured - now[0]).max():.1e} rad")
print(f"found {guess.round(3)}, true {truth}")
