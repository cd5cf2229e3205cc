"""Parts that fall onto a floor: how high each lies in the end, and what it pushes with.

    python3 falling_parts.py
"""
import numpy as np

import tenon

scene = tenon.Scene()
scene.name = "falling-parts"
scene.add_material({"name": "steel", "density": 7850, "friction": 0.4})
scene.add_body({"name": "floor", "type": "static", "shape": {"type": "box", "size": [2, 0.2, 2]}, "position": [0, -0.1, 0]})
scene.add_body({"name": "block", "material": "steel", "shape": {"type": "box", "size": [0.2, 0.1, 0.2]}, "position": [-0.3, 0.2, 0]})
scene.add_body({"name": "ball", "material": "steel", "shape": {"type": "sphere", "radius": 0.06}, "position": [0, 0.2, 0]})
scene.add_body({"name": "ring", "material": "steel", "shape": {"type": "torus", "major": 0.1, "minor": 0.02, "segments": 24}, "position": [0.4, 0.2, 0]})

sim = tenon.Simulation(scene, method="affine", dt=0.01)
sim.step(100)

contacts = sim.contacts
for name in sim.model.bodies[1:]:
    index = sim.model.body(name).index
    on_it = contacts["force"][contacts["bodies"][:, 1] == index].sum(axis=0)
    against = contacts["force"][contacts["bodies"][:, 0] == index].sum(axis=0)
    weight = sim.model.body(name).mass * 9.81
    print(f"{name:6} rests at {sim.body(name).position[1]:.4f} m, carried by {np.linalg.norm(on_it - against):.2f} N of {weight:.2f} N")
print(f"smallest distance {sim.report['min_distance']:.2e} m")
