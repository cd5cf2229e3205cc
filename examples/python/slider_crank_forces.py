"""Forces in the joints of a slider-crank over one turn.

    python3 slider_crank_forces.py
"""
import numpy as np

import tenon

scene = tenon.Scene.load("slider-crank")
model = scene.compile()
state = model.state()
print(model, "with the joints", ", ".join(model.joints))

largest = dict.fromkeys(model.joints, 0.0)
for _ in range(int(1.0 / model.dt)):
    tenon.step(model, state)
    for name in model.joints:
        largest[name] = max(largest[name], float(np.linalg.norm(state.joint(name).force)))
for name, force in largest.items():
    print(f"{name:12} carries up to {force:8.2f} N")
print(f"joints are closed to {state.metrics['joint_residual']:.1e} m")
