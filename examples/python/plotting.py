"""Plots the angle and the energies of a pendulum into an SVG file, with nothing but NumPy.

    python3 plotting.py [swing.svg]
"""
import sys

import numpy as np

import tenon

sim = tenon.Simulation("physical-pendulum")
times, heights, kinetic, gravity = [], [], [], []
for _ in range(int(2.0 / sim.dt)):
    sim.step()
    times.append(sim.time)
    heights.append(sim.positions[0, 1])
    kinetic.append(sim.energies["kinetic"])
    gravity.append(sim.energies["gravity"])


def curve(values, top, color, name):
    """One panel: a polyline with its range."""
    values = np.asarray(values)
    low, high = values.min(), values.max()
    x = 70 + 560 * np.asarray(times) / times[-1]
    y = top + 110 - 100 * (values - low) / max(high - low, 1e-12)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    return (f'<polyline fill="none" stroke="{color}" points="{points}"/><text x="4" y="{top + 60}">{name}</text>'
            f'<text x="636" y="{top + 14}">{high:.3g}</text><text x="636" y="{top + 112}">{low:.3g}</text>')


panels = [(heights, "#1f6f8b", "y (m)"), (kinetic, "#b8552b", "kinetic (J)"), (gravity, "#3d7a3d", "gravity (J)")]
svg = "".join(curve(values, 10 + 130 * i, color, name) for i, (values, color, name) in enumerate(panels))
file = sys.argv[1] if len(sys.argv) > 1 else "swing.svg"
with open(file, "w") as out:
    out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="700" height="420" font-family="sans-serif" font-size="12">{svg}'
              f'<text x="330" y="412">{times[-1]:g} s</text></svg>')
print(f"{file}: {len(times)} steps")
