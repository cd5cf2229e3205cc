"""Plots the height of every body over time: python3 plot_run.py run.tenon heights.svg"""
import sqlite3, sys
import numpy as np

frames = sqlite3.connect(sys.argv[1]).execute("SELECT time, q FROM frames ORDER BY id").fetchall()
time = np.array([row[0] for row in frames])
position = np.array([np.frombuffer(row[1], "<f8").reshape(-1, 4, 3)[:, 3] for row in frames])  # frame, body, xyz
height = position[:, :, 1]
x = 60 + 700 * (time - time[0]) / max(np.ptp(time), 1e-12)
y = 360 - 320 * (height - height.min()) / max(np.ptp(height), 1e-12)
lines = ["<polyline fill='none' stroke='hsl(%d,60%%,45%%)' points='%s'/>" % (137 * body % 360, " ".join("%.1f,%.1f" % p for p in zip(x, y[:, body]))) for body in range(y.shape[1])]
labels = "<text x='4' y='360'>%.3g m</text><text x='4' y='44'>%.3g m</text><text x='700' y='385'>%.3g s</text>" % (height.min(), height.max(), time[-1])
open(sys.argv[2], "w").write("<svg xmlns='http://www.w3.org/2000/svg' width='780' height='400' font-family='sans-serif' font-size='13'>%s%s</svg>" % ("".join(lines), labels))
