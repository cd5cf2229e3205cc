"""Makes a run file and reads it back: frames, series, report, a picture.

    python3 reading_runs.py [run.tenon]
"""
import sys

import numpy as np

import tenon

if len(sys.argv) > 1:
    run = tenon.Run(sys.argv[1])
else:
    run = tenon.run("newtons-cradle", "cradle.tenon", seconds=0.5)
print(run)
print(f"frames from {run.times[0]:g} s to {run.times[-1]:g} s, poses {run.q.shape}")

travel = np.ptp(run.positions, axis=0)
for name, way in zip(run.bodies, np.linalg.norm(travel, axis=1)):
    print(f"{name:12} moved by {way:.3f} m")
steps = run.steps
total = steps["kinetic"] + steps["gravity"] + steps["elastic"]
print(f"energy {total[0]:.4f} J at the start, {total[-1]:.4f} J at the end")
print(f"status {run.report['status']}, {run.report['steps']} steps by {run.report['method']}")
with open("last_frame.png", "wb") as out:
    out.write(run.picture())
